/* SPDX-License-Identifier: Apache-2.0
 *
 * Integer instructions that C leaves undefined or does not have; part of number.h.
 */
#ifndef PKB_CPU_INTEGER_H
#define PKB_CPU_INTEGER_H

#include "harness/cpu/device/bits.h"

/* Division by zero gives all ones, its remainder the dividend; the smallest number over -1 wraps.
 * x86 would raise SIGFPE for both. */
#define PKB_UNSIGNED(bits)                                                                  \
    PKB_INLINE uint##bits##_t pkb_div_u##bits(uint##bits##_t a, uint##bits##_t b)           \
    {                                                                                       \
        return (uint##bits##_t)(b == 0 ? ~UINT64_C(0) : (uint64_t)(uint##bits##_t)(a / b)); \
    }                                                                                       \
    PKB_INLINE uint##bits##_t pkb_rem_u##bits(uint##bits##_t a, uint##bits##_t b)           \
    {                                                                                       \
        return b == 0 ? a : (uint##bits##_t)(a % b);                                        \
    }                                                                                       \
    PKB_INLINE uint##bits##_t pkb_min_u##bits(uint##bits##_t a, uint##bits##_t b)           \
    {                                                                                       \
        return a < b ? a : b;                                                               \
    }                                                                                       \
    PKB_INLINE uint##bits##_t pkb_max_u##bits(uint##bits##_t a, uint##bits##_t b)           \
    {                                                                                       \
        return a > b ? a : b;                                                               \
    }                                                                                       \
    PKB_INLINE uint##bits##_t pkb_shl_b##bits(uint##bits##_t a, uint32_t n)                 \
    {                                                                                       \
        return n >= bits ? 0 : (uint##bits##_t)((uint64_t)a << n);                          \
    }                                                                                       \
    PKB_INLINE uint##bits##_t pkb_shr_b##bits(uint##bits##_t a, uint32_t n)                 \
    {                                                                                       \
        return n >= bits ? 0 : (uint##bits##_t)(a >> n);                                    \
    }

#define PKB_SIGNED(bits)                                                                          \
    PKB_INLINE int##bits##_t pkb_div_s##bits(int##bits##_t a, int##bits##_t b)                    \
    {                                                                                             \
        return b == 0 ? -1 : b == -1 ? (int##bits##_t)(0 - (uint64_t)a) : (int##bits##_t)(a / b); \
    }                                                                                             \
    PKB_INLINE int##bits##_t pkb_rem_s##bits(int##bits##_t a, int##bits##_t b)                    \
    {                                                                                             \
        return b == 0 ? a : b == -1 ? 0 : (int##bits##_t)(a % b);                                 \
    }                                                                                             \
    PKB_INLINE int##bits##_t pkb_min_s##bits(int##bits##_t a, int##bits##_t b)                    \
    {                                                                                             \
        return a < b ? a : b;                                                                     \
    }                                                                                             \
    PKB_INLINE int##bits##_t pkb_max_s##bits(int##bits##_t a, int##bits##_t b)                    \
    {                                                                                             \
        return a > b ? a : b;                                                                     \
    }                                                                                             \
    PKB_INLINE int##bits##_t pkb_shr_s##bits(int##bits##_t a, uint32_t n)                         \
    {                                                                                             \
        return (int##bits##_t)(a >> (n >= bits ? bits - 1 : n));                                  \
    }

PKB_UNSIGNED(16)
PKB_UNSIGNED(32)
PKB_UNSIGNED(64)
PKB_SIGNED(16)
PKB_SIGNED(32)
PKB_SIGNED(64)

PKB_INLINE int32_t pkb_clamp_s32(int64_t a)
{
    return a > INT32_MAX ? INT32_MAX : a < INT32_MIN ? INT32_MIN : (int32_t)a;
}

/* ---- products ---- */
PKB_INLINE uint16_t pkb_mul_hi_u16(uint16_t a, uint16_t b)
{
    return (uint16_t)((uint32_t)a * b >> 16);
}

PKB_INLINE int16_t pkb_mul_hi_s16(int16_t a, int16_t b)
{
    return (int16_t)((int32_t)a * b >> 16);
}

PKB_INLINE uint32_t pkb_mul_hi_u32(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

PKB_INLINE int32_t pkb_mul_hi_s32(int32_t a, int32_t b)
{
    return (int32_t)((int64_t)a * b >> 32);
}

PKB_INLINE uint64_t pkb_mul_hi_u64(uint64_t a, uint64_t b)
{
    return (uint64_t)((pkb_u128)a * b >> 64);
}

PKB_INLINE int64_t pkb_mul_hi_s64(int64_t a, int64_t b)
{
    return (int64_t)((__int128)a * b >> 64);
}

PKB_INLINE uint64_t pkb_mul24_u32(uint32_t a, uint32_t b)
{
    return (uint64_t)(a & 0xffffffu) * (b & 0xffffffu);
}

PKB_INLINE uint64_t pkb_mul24_s32(uint32_t a, uint32_t b)
{
    return (uint64_t)((int64_t)((int32_t)(a << 8) >> 8) * ((int32_t)(b << 8) >> 8));
}

/* ---- carry chains: *out is the carry or borrow; out may be NULL ---- */
#define PKB_CARRY(bits)                                                                 \
    PKB_INLINE uint##bits##_t pkb_add_carry_u##bits(uint##bits##_t a, uint##bits##_t b, \
                                                    unsigned in, unsigned *out)         \
    {                                                                                   \
        uint##bits##_t sum = a + b, all = sum + in;                                     \
        if (out)                                                                        \
            *out = (sum < a) | (all < sum);                                             \
        return all;                                                                     \
    }                                                                                   \
    PKB_INLINE uint##bits##_t pkb_sub_carry_u##bits(uint##bits##_t a, uint##bits##_t b, \
                                                    unsigned in, unsigned *out)         \
    {                                                                                   \
        uint##bits##_t difference = a - b;                                              \
        if (out)                                                                        \
            *out = (a < b) | (difference < in);                                         \
        return difference - in;                                                         \
    }
PKB_CARRY(32)
PKB_CARRY(64)

/* ---- packed pairs of 16 bits ---- */
#define PKB_LANES(name, type, expression)                       \
    PKB_INLINE uint32_t pkb_##name(uint32_t p, uint32_t q)      \
    {                                                           \
        uint32_t result = 0;                                    \
        for (int lane = 0; lane < 32; lane += 16) {             \
            type a = (type)(p >> lane), b = (type)(q >> lane);  \
            result |= (uint32_t)(uint16_t)(expression) << lane; \
        }                                                       \
        return result;                                          \
    }
PKB_LANES(add_u16x2, uint16_t, a + b)
PKB_LANES(sub_u16x2, uint16_t, a - b)
PKB_LANES(min_u16x2, uint16_t, a < b ? a : b)
PKB_LANES(max_u16x2, uint16_t, a > b ? a : b)
PKB_LANES(min_s16x2, int16_t, a < b ? a : b)
PKB_LANES(max_s16x2, int16_t, a > b ? a : b)

PKB_INLINE int32_t pkb_byte_of(uint32_t word, int index, int is_signed)
{
    uint8_t byte = (uint8_t)(word >> 8 * index);
    return is_signed ? (int8_t)byte : byte;
}

PKB_INLINE uint32_t pkb_dp4a(uint32_t a, uint32_t b, uint32_t c, int a_signed, int b_signed)
{
    for (int i = 0; i < 4; i++)
        c += (uint32_t)(pkb_byte_of(a, i, a_signed) * pkb_byte_of(b, i, b_signed));
    return c;
}

/* Two 16-bit numbers of a times two bytes of b, from bit `shift` on */
PKB_INLINE uint32_t pkb_dp2a(uint32_t a, uint32_t b, uint32_t c, int a_signed, int b_signed,
                             int shift)
{
    for (int i = 0; i < 2; i++) {
        uint16_t word = (uint16_t)(a >> 16 * i);
        int32_t value = a_signed ? (int16_t)word : word;
        c += (uint32_t)(value * pkb_byte_of(b >> shift, i, b_signed));
    }
    return c;
}

PKB_INLINE uint32_t pkb_byte_distances(uint32_t a, uint32_t b, int is_signed)
{
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        int32_t difference = pkb_byte_of(a, i, is_signed) - pkb_byte_of(b, i, is_signed);
        result |= (uint32_t)(difference < 0 ? -difference : difference) << 8 * i;
    }
    return result;
}

PKB_INLINE uint32_t pkb_byte_distance_sum(uint32_t a, uint32_t b, uint32_t c, int is_signed)
{
    uint32_t each = pkb_byte_distances(a, b, is_signed);
    return c + (each & 0xff) + (each >> 8 & 0xff) + (each >> 16 & 0xff) + (each >> 24);
}

/* ---- bits ---- */
PKB_INLINE uint32_t pkb_lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t result = 0;
    for (uint32_t i = 0; i < 8; i++)
        if (table >> i & 1)
            result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
}

/* n is at most 32 */
PKB_INLINE uint32_t pkb_shf_left(uint32_t low, uint32_t high, uint32_t n)
{
    uint64_t both = (uint64_t)high << 32 | low;
    return n == 32 ? low : (uint32_t)(both << n >> 32);
}

PKB_INLINE uint32_t pkb_shf_right(uint32_t low, uint32_t high, uint32_t n)
{
    return (uint32_t)(((uint64_t)high << 32 | low) >> n);
}

PKB_INLINE uint32_t pkb_popc_b32(uint32_t a)
{
    return (uint32_t)__builtin_popcount(a);
}

PKB_INLINE uint32_t pkb_popc_b64(uint64_t a)
{
    return (uint32_t)__builtin_popcountll(a);
}

PKB_INLINE uint32_t pkb_clz_b32(uint32_t a)
{
    return a == 0 ? 32 : (uint32_t)__builtin_clz(a);
}

PKB_INLINE uint32_t pkb_clz_b64(uint64_t a)
{
    return a == 0 ? 64 : (uint32_t)__builtin_clzll(a);
}

PKB_INLINE uint32_t pkb_brev_b32(uint32_t a)
{
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(a);
}

PKB_INLINE uint64_t pkb_brev_b64(uint64_t a)
{
    return (uint64_t)pkb_brev_b32((uint32_t)a) << 32 | pkb_brev_b32((uint32_t)(a >> 32));
}

PKB_INLINE uint32_t pkb_bfind_u64(uint64_t a)
{
    return a == 0 ? ~0u : 63 - (uint32_t)__builtin_clzll(a);
}

PKB_INLINE uint32_t pkb_bfind_u32(uint32_t a)
{
    return pkb_bfind_u64(a);
}

PKB_INLINE uint32_t pkb_bfind_s64(int64_t a)
{
    return pkb_bfind_u64((uint64_t)(a < 0 ? ~a : a));
}

PKB_INLINE uint32_t pkb_bfind_s32(int32_t a)
{
    return pkb_bfind_s64(a);
}

PKB_INLINE uint32_t pkb_shift_amount(uint32_t bits, uint32_t position)
{
    return position == ~0u ? position : bits - 1 - position;
}

/* Only eight bits of position and length count. A signed field is filled with its top bit, or
 * the number's where the field reaches past it. */
#define PKB_FIELD(bits)                                                                           \
    PKB_INLINE uint##bits##_t pkb_bfe_u##bits(uint##bits##_t a, uint32_t position,                \
                                              uint32_t length)                                    \
    {                                                                                             \
        position &= 0xff;                                                                         \
        length &= 0xff;                                                                           \
        a = pkb_shr_b##bits(a, position);                                                         \
        return length >= bits ? a : a & (((uint##bits##_t)1 << length) - 1);                      \
    }                                                                                             \
    PKB_INLINE int##bits##_t pkb_bfe_s##bits(int##bits##_t a, uint32_t position, uint32_t length) \
    {                                                                                             \
        position &= 0xff;                                                                         \
        length &= 0xff;                                                                           \
        if (length == 0)                                                                          \
            return 0;                                                                             \
        a = pkb_shr_s##bits(a, position);                                                         \
        if (length >= bits)                                                                       \
            return a;                                                                             \
        return (int##bits##_t)((uint##bits##_t)a << (bits - length)) >> (bits - length);          \
    }                                                                                             \
    PKB_INLINE uint##bits##_t pkb_bfi_b##bits(uint##bits##_t a, uint##bits##_t b,                 \
                                              uint32_t position, uint32_t length)                 \
    {                                                                                             \
        position &= 0xff;                                                                         \
        length &= 0xff;                                                                           \
        uint##bits##_t mask =                                                                     \
            length >= bits ? ~(uint##bits##_t)0 : ((uint##bits##_t)1 << length) - 1;              \
        mask = pkb_shl_b##bits(mask, position);                                                   \
        return (b & ~mask) | (pkb_shl_b##bits(a, position) & mask);                               \
    }
PKB_FIELD(32)
PKB_FIELD(64)

/* `wraps`: positions and widths mod 32, else they clamp at 32 */
PKB_INLINE uint32_t pkb_bmsk_b32(uint32_t position, uint32_t width, int wraps)
{
    if (wraps) {
        position &= 31;
        width &= 31;
    }
    uint32_t mask = width >= 32 ? ~0u : (1u << width) - 1;
    return pkb_shl_b32(mask, position);
}

PKB_INLINE uint32_t pkb_szext_u32(uint32_t a, uint32_t width, int wraps)
{
    width = wraps ? width & 31 : width;
    return width >= 32 ? a : a & ((1u << width) - 1);
}

PKB_INLINE uint32_t pkb_szext_s32(uint32_t a, uint32_t width, int wraps)
{
    width = wraps ? width & 31 : width;
    if (width == 0)
        return 0;
    return width >= 32 ? a : (uint32_t)((int32_t)(a << (32 - width)) >> (32 - width));
}

/* The n-th set bit from `base` on, upward for n > 0, downward for n < 0 */
PKB_OUTLINE uint32_t pkb_fns_b32(uint32_t mask, uint32_t base, int32_t offset)
{
    int step = offset < 0 ? -1 : 1;
    if (offset == 0)
        return base < 32 && (mask >> base & 1) ? base : ~0u;
    for (int64_t i = base; i >= 0 && i < 32; i += step)
        if ((mask >> i & 1) && (offset -= step) == 0)
            return (uint32_t)i;
    return ~0u;
}

PKB_INLINE uint32_t pkb_prmt_byte(uint64_t both, uint32_t selector)
{
    uint32_t byte = (uint32_t)(both >> 8 * (selector & 7)) & 0xff;
    return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}

PKB_INLINE uint32_t pkb_prmt_bytes(uint32_t a, uint32_t b, uint32_t selector)
{
    uint64_t both = (uint64_t)b << 32 | a;
    return pkb_prmt_byte(both, selector) | pkb_prmt_byte(both, selector >> 4) << 8 |
           pkb_prmt_byte(both, selector >> 8) << 16 | pkb_prmt_byte(both, selector >> 12) << 24;
}

/* The modes are selectors that depend on the last operand's low two bits. */
#define PKB_PRMT(mode, s0, s1, s2, s3)                                      \
    PKB_INLINE uint32_t pkb_prmt_##mode(uint32_t a, uint32_t b, uint32_t c) \
    {                                                                       \
        static const uint16_t selectors[4] = {s0, s1, s2, s3};              \
        return pkb_prmt_bytes(a, b, selectors[c & 3]);                      \
    }
PKB_PRMT(f4e, 0x3210, 0x4321, 0x5432, 0x6543)
PKB_PRMT(b4e, 0x5670, 0x6701, 0x7012, 0x0123)
PKB_PRMT(rc8, 0x0000, 0x1111, 0x2222, 0x3333)
PKB_PRMT(ecl, 0x3210, 0x3211, 0x3222, 0x3333)
PKB_PRMT(ecr, 0x0000, 0x1110, 0x2210, 0x3210)
PKB_PRMT(rc16, 0x1010, 0x3232, 0x1010, 0x3232)

#endif
