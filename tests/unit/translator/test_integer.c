/* SPDX-License-Identifier: Apache-2.0
 *
 * Integer and bit instructions against plain definitions, bit by bit where that is clearest.
 */
#include "tests/unit/translator/run_ptx.h"

typedef __int128 s128;
typedef unsigned __int128 u128;

/* REF(name, expression in a, b, c) */
#define REF(name, ...)                                       \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c) \
    {                                                        \
        (void)a, (void)b, (void)c;                           \
        return (uint64_t)(__VA_ARGS__);                      \
    }

#define U32(x) ((uint32_t)(x))
#define S32(x) ((int32_t)(x))
#define S64(x) ((int64_t)(x))
#define U16(x) ((uint16_t)(x))
#define S16(x) ((int16_t)(x))

REF(add, a + b)
REF(sub, a - b)
REF(mul, a *b)
REF(mad, a *b + c)
REF(mul_wide_u32, (uint64_t)U32(a) * U32(b))
REF(mul_wide_s32, (int64_t)S32(a) * S32(b))
REF(mul_wide_u16, (uint32_t)U16(a) * U16(b))
REF(mul_wide_s16, U32((int32_t)S16(a) * S16(b)))
REF(mul_hi_u32, (uint64_t)U32(a) * U32(b) >> 32)
REF(mul_hi_s32, (int64_t)S32(a) * S32(b) >> 32)
REF(mul_hi_u16, (uint32_t)U16(a) * U16(b) >> 16)
REF(mul_hi_s16, ((int32_t)S16(a) * S16(b)) >> 16)
REF(mul_hi_u64, (u128)a *b >> 64)
REF(mul_hi_s64, (s128)S64(a) * S64(b) >> 64)
REF(mad_wide_s32, (uint64_t)((int64_t)S32(a) * S32(b)) + c)
REF(mad_hi_u32, ((uint64_t)U32(a) * U32(b) >> 32) + c)
REF(mul24_lo, (a & 0xffffff) * (b & 0xffffff))
REF(mul24_hi_s, ((int64_t)(S32(a << 8) >> 8) * (S32(b << 8) >> 8)) >> 16)
REF(div_u32, U32(b) == 0 ? ~0u : U32(a) / U32(b))
REF(rem_u32, U32(b) == 0 ? U32(a) : U32(a) % U32(b))
REF(div_s32, S32(b) == 0 ? -1 : (int64_t)S32(a) / S32(b))
REF(rem_s32, S32(b) == 0 ? S32(a) : (int64_t)S32(a) % S32(b))
REF(div_u64, b == 0 ? UINT64_MAX : a / b)
REF(rem_u64, b == 0 ? a : a % b)
REF(div_s64, b == 0 ? -1 : (s128)S64(a) / S64(b))
REF(rem_s64, b == 0 ? S64(a) : (s128)S64(a) % S64(b))
REF(div_u16, U16(b) == 0 ? 0xffff : U16(a) / U16(b))
REF(div_s16, S16(b) == 0 ? -1 : S16(a) / S16(b))
REF(rem_s16, S16(b) == 0 ? S16(a) : S16(a) % S16(b))
REF(abs_s32, S32(a) < 0 ? 0 - U32(a) : U32(a))
REF(abs_s64, S64(a) < 0 ? 0 - a : a)
REF(abs_s16, S16(a) < 0 ? -S16(a) : S16(a))
REF(neg, 0 - a)
REF(min_s32, S32(a) < S32(b) ? a : b)
REF(max_u32, U32(a) > U32(b) ? a : b)
REF(max_s64, S64(a) > S64(b) ? a : b)
REF(min_u16, U16(a) < U16(b) ? a : b)
REF(max_s16, S16(a) > S16(b) ? a : b)
REF(max_relu, S32(a) > S32(b) ? (S32(a) > 0 ? a : 0) : (S32(b) > 0 ? b : 0))
REF(sad_s32, U32(c) + U32(S32(a) < S32(b) ? (int64_t)S32(b) - S32(a) : (int64_t)S32(a) - S32(b)))
REF(sad_u16, c + U16(U16(a) < U16(b) ? U16(b) - U16(a) : U16(a) - U16(b)))
static int64_t clamp(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
}
REF(add_sat, clamp((int64_t)S32(a) + S32(b)))
REF(sub_sat, clamp((int64_t)S32(a) - S32(b)))
REF(mad_hi_sat, clamp(((int64_t)S32(a) * S32(b) >> 32) + S32(c)))
REF(and_, a &b)
REF(or_, a | b)
REF(xor_, a ^ b)
REF(not_, ~a)
REF(cnot, U32(a) == 0)
REF(shl32, U32(b) > 31 ? 0 : U32(a) << U32(b))
REF(shl64, U32(b) > 63 ? 0 : a << U32(b))
REF(shl16, U32(b) > 15 ? 0 : U16(a) << U32(b))
REF(shr_u32, U32(b) > 31 ? 0 : U32(a) >> U32(b))
/* cppcheck-suppress shiftTooManyBitsSigned */
REF(shr_s32, S32(a) >> (U32(b) > 31 ? 31 : U32(b)))
/* cppcheck-suppress shiftTooManyBitsSigned */
REF(shr_s64, S64(a) >> (U32(b) > 63 ? 63 : U32(b)))
REF(shr_s16, S16(a) >> (U32(b) > 15 ? 15 : U32(b)))
REF(shr_u16, U32(b) > 15 ? 0 : U16(a) >> U32(b))
REF(shf_l_wrap, (u128)(U32(b) * (1ull << 32) | U32(a)) << (c & 31) >> 32)
REF(shf_r_wrap, (b << 32 | U32(a)) >> (c & 31))
REF(shf_l_clamp, (u128)(b << 32 | U32(a)) << (U32(c) > 32 ? 32 : U32(c)) >> 32)
REF(shf_r_clamp, (b << 32 | U32(a)) >> (U32(c) > 32 ? 32 : U32(c)))
REF(popc32, __builtin_popcount(U32(a)))
REF(popc64, __builtin_popcountll(a))

static uint64_t count_leading(uint64_t x, int bits)
{
    int count = 0;
    while (count < bits && (x >> (bits - 1 - count) & 1) == 0)
        count++;
    return (uint64_t)count;
}
REF(clz32, count_leading(U32(a), 32))
REF(clz64, count_leading(a, 64))
REF(bfind_u32, 31 - count_leading(U32(a), 32))
REF(bfind_s32, 31 - count_leading(S32(a) < 0 ? ~U32(a) : U32(a), 32))
REF(bfind_u64, 63 - count_leading(a, 64))
REF(bfind_s64, 63 - count_leading(S64(a) < 0 ? ~a : a, 64))
REF(bfind_shift, U32(a) == 0 ? ~0u : count_leading(U32(a), 32))

static uint64_t reverse(uint64_t x, int bits)
{
    uint64_t result = 0;
    for (int i = 0; i < bits; i++)
        result |= (x >> i & 1) << (bits - 1 - i);
    return result;
}
REF(brev32, reverse(U32(a), 32))
REF(brev64, reverse(a, 64))

/* The ISA's own definition, bit by bit */
static uint64_t extract(uint64_t a, uint64_t b, uint64_t c, uint32_t msb, int is_signed)
{
    uint32_t pos = b & 0xff, len = c & 0xff;
    uint32_t last = pos + len - 1 < msb ? pos + len - 1 : msb;
    uint64_t sign = !is_signed || len == 0 ? 0 : a >> last & 1, d = 0;
    for (uint32_t i = 0; i <= msb; i++)
        d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign) << i;
    return d;
}
REF(bfe_u32, extract(U32(a), b, c, 31, 0))
REF(bfe_s32, extract(U32(a), b, c, 31, 1))
REF(bfe_u64, extract(a, b, c, 63, 0))
REF(bfe_s64, extract(a, b, c, 63, 1))

static uint64_t insert(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, uint32_t msb)
{
    for (uint32_t i = 0; i < len && pos + i <= msb; i++)
        b = (b & ~(1ull << (pos + i))) | (a >> i & 1) << (pos + i);
    return b;
}
REF(bfi_b32, insert(a, b, c & 0xff, c >> 8 & 0xff, 31))
REF(bfi_b64, insert(a, b, c & 0xff, c >> 8 & 0xff, 63))

static uint64_t permute(uint64_t a, uint64_t b, uint64_t selector)
{
    uint64_t both = b << 32 | U32(a), d = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t nibble = selector >> 4 * i & 15, byte = both >> 8 * (nibble & 7) & 0xff;
        d |= (nibble & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * i;
    }
    return d;
}
REF(prmt, permute(a, b, c))
REF(prmt_f4e, permute(a, b, (const uint64_t[]){0x3210, 0x4321, 0x5432, 0x6543}[c & 3]))
REF(prmt_b4e, permute(a, b, (const uint64_t[]){0x5670, 0x6701, 0x7012, 0x0123}[c & 3]))
REF(prmt_ecr, permute(a, b, (const uint64_t[]){0x0000, 0x1110, 0x2210, 0x3210}[c & 3]))

static uint64_t table3(uint64_t a, uint64_t b, uint64_t c, uint32_t table)
{
    uint64_t d = 0;
    for (int i = 0; i < 32; i++)
        d |= (uint64_t)(table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
    return d;
}
REF(lop3_e8, table3(a, b, c, 0xe8))
REF(lop3_1b, table3(a, b, c, 0x1b))
REF(lop3_or, (table3(a, b, c, 0x96) != 0) | (a & 1))

static uint64_t dot(uint64_t a, uint64_t b, uint64_t c, int is_signed)
{
    for (int i = 0; i < 4; i++)
        c += is_signed ? (uint64_t)((int8_t)(a >> 8 * i) * (int8_t)(b >> 8 * i))
                       : (uint64_t)(uint8_t)(a >> 8 * i) * (uint8_t)(b >> 8 * i);
    return c;
}
REF(dp4a_u, dot(a, b, c, 0))
REF(dp4a_s, dot(a, b, c, 1))
REF(dp2a_hi,
    c + (uint64_t)(S16(a) * (int8_t)(b >> 16)) + (uint64_t)(S16(a >> 16) * (int8_t)(b >> 24)))
REF(chain128_high, (u128)(((u128)a << 64 | b) + ((u128)c << 64 | a)) >> 64)
REF(chain96_sub, U32((u128)(((u128)U32(a) << 64 | b) - ((u128)U32(c) << 64 | a)) >> 64))
REF(madc64, (uint64_t)((u128)((uint64_t)U32(a) * U32(b)) + c))
REF(carry_through, ((uint64_t)U32(a) + U32(c)) >> 32)
REF(borrow_through, U32(a) < U32(c))
REF(bmsk_clamp, insert(UINT64_MAX, 0, U32(a) > 32 ? 32 : U32(a), U32(b) > 32 ? 32 : U32(b), 31))
REF(szext_s, (b & 31) == 0 ? 0 : U32(S32(a << (32 - (b & 31))) >> (32 - (b & 31))))
REF(vadd2, U16(a + b) | U16((a >> 16) + (b >> 16)) << 16)
REF(vmax2, U16(S16(a) > S16(b) ? a : b) |
               (uint64_t)U16(S16(a >> 16) > S16(b >> 16) ? a >> 16 : b >> 16) << 16)
static uint64_t distances(uint64_t a, uint64_t b, uint64_t c, int is_sum)
{
    uint64_t packed = 0;
    for (int i = 0; i < 32; i += 8) {
        uint64_t distance = (uint64_t)abs((int)(a >> i & 0xff) - (int)(b >> i & 0xff));
        packed |= distance << i;
        c += distance;
    }
    return is_sum ? c : packed;
}
REF(vabsdiff4, distances(a, b, 0, 0))
REF(vabsdiff4_add, distances(a, b, c, 1))
REF(setp_lt_s32, S32(a) < S32(b))
REF(setp_hi, U32(a) > U32(b))
REF(setp_ge_u64, a >= b)
REF(setp_ne_b16, U16(a) != U16(b))
REF(setp_and, (S32(a) < S32(b)) & (c & 1))
REF(setp_xor_not, (S32(a) == S32(b)) ^ !(c & 1))
REF(setp_pair, (!(U32(a) < U32(b))) | (c & 1))
REF(set_s32, S32(a) <= S32(b) ? ~0u : 0)
REF(selp, c & 1 ? a : b)
REF(slct, S32(c) >= 0 ? a : b)
REF(pack16, U16(a) | (uint64_t)U16(b) << 16)
REF(unpack_high, a >> 32)
REF(sext8, (uint64_t)(int8_t)a)
REF(zext_of_s16, U32(S16(a)))
REF(sat_s8, (int64_t)S32(a) > 127 ? 127 : S32(a) < -128 ? -128 : S32(a))
REF(sat_u8, S32(a) > 255 ? 255 : S32(a) < 0 ? 0 : S32(a))
REF(sat_u32_s64, S64(a) > UINT32_MAX ? UINT32_MAX : S64(a) < 0 ? 0 : a)
REF(sat_s32_u64, a > INT32_MAX ? INT32_MAX : a)

static const opcode_case cases[] = {
    {"add.s32 %r0, %r1, %r2;", 'r', add},
    {"add.u64 %l0, %l1, %l2;", 'l', add},
    {"add.s16 %h0, %h1, %h2;", 'h', add},
    {"sub.u32 %r0, %r1, %r2;", 'r', sub},
    {"sub.s64 %l0, %l1, %l2;", 'l', sub},
    {"mul.lo.s32 %r0, %r1, %r2;", 'r', mul},
    {"mul.lo.u64 %l0, %l1, %l2;", 'l', mul},
    {"mul.lo.s16 %h0, %h1, %h2;", 'h', mul},
    {"mad.lo.s32 %r0, %r1, %r2, %r3;", 'r', mad},
    {"mad.lo.u64 %l0, %l1, %l2, %l3;", 'l', mad},
    {"mad.lo.u16 %h0, %h1, %h2, %h3;", 'h', mad},
    {"mul.wide.u32 %l0, %r1, %r2;", 'l', mul_wide_u32},
    {"mul.wide.s32 %l0, %r1, %r2;", 'l', mul_wide_s32},
    {"mul.wide.u16 %r0, %h1, %h2;", 'r', mul_wide_u16},
    {"mul.wide.s16 %r0, %h1, %h2;", 'r', mul_wide_s16},
    {"mul.hi.u32 %r0, %r1, %r2;", 'r', mul_hi_u32},
    {"mul.hi.s32 %r0, %r1, %r2;", 'r', mul_hi_s32},
    {"mul.hi.u16 %h0, %h1, %h2;", 'h', mul_hi_u16},
    {"mul.hi.s16 %h0, %h1, %h2;", 'h', mul_hi_s16},
    {"mul.hi.u64 %l0, %l1, %l2;", 'l', mul_hi_u64},
    {"mul.hi.s64 %l0, %l1, %l2;", 'l', mul_hi_s64},
    {"mad.wide.s32 %l0, %r1, %r2, %l3;", 'l', mad_wide_s32},
    {"mad.hi.u32 %r0, %r1, %r2, %r3;", 'r', mad_hi_u32},
    {"mul24.lo.u32 %r0, %r1, %r2;", 'r', mul24_lo},
    {"mul24.hi.s32 %r0, %r1, %r2;", 'r', mul24_hi_s},
    {"div.u32 %r0, %r1, %r2;", 'r', div_u32},
    {"rem.u32 %r0, %r1, %r2;", 'r', rem_u32},
    {"div.s32 %r0, %r1, %r2;", 'r', div_s32},
    {"rem.s32 %r0, %r1, %r2;", 'r', rem_s32},
    {"div.u64 %l0, %l1, %l2;", 'l', div_u64},
    {"rem.u64 %l0, %l1, %l2;", 'l', rem_u64},
    {"div.s64 %l0, %l1, %l2;", 'l', div_s64},
    {"rem.s64 %l0, %l1, %l2;", 'l', rem_s64},
    {"div.u16 %h0, %h1, %h2;", 'h', div_u16},
    {"div.s16 %h0, %h1, %h2;", 'h', div_s16},
    {"rem.s16 %h0, %h1, %h2;", 'h', rem_s16},
    {"abs.s32 %r0, %r1;", 'r', abs_s32},
    {"abs.s64 %l0, %l1;", 'l', abs_s64},
    {"abs.s16 %h0, %h1;", 'h', abs_s16},
    {"neg.s32 %r0, %r1;", 'r', neg},
    {"neg.s64 %l0, %l1;", 'l', neg},
    {"min.s32 %r0, %r1, %r2;", 'r', min_s32},
    {"max.u32 %r0, %r1, %r2;", 'r', max_u32},
    {"max.s64 %l0, %l1, %l2;", 'l', max_s64},
    {"min.u16 %h0, %h1, %h2;", 'h', min_u16},
    {"max.s16 %h0, %h1, %h2;", 'h', max_s16},
    {"max.relu.s32 %r0, %r1, %r2;", 'r', max_relu},
    {"max.s16x2 %r0, %r1, %r2;", 'r', vmax2},
    {"add.u16x2 %r0, %r1, %r2;", 'r', vadd2},
    {"sad.s32 %r0, %r1, %r2, %r3;", 'r', sad_s32},
    {"sad.u16 %h0, %h1, %h2, %h3;", 'h', sad_u16},
    {"add.sat.s32 %r0, %r1, %r2;", 'r', add_sat},
    {"sub.sat.s32 %r0, %r1, %r2;", 'r', sub_sat},
    {"mad.hi.sat.s32 %r0, %r1, %r2, %r3;", 'r', mad_hi_sat},
    {"and.b32 %r0, %r1, %r2;", 'r', and_},
    {"or.b64 %l0, %l1, %l2;", 'l', or_},
    {"xor.b16 %h0, %h1, %h2;", 'h', xor_},
    {"not.b32 %r0, %r1;", 'r', not_},
    {"not.b16 %h0, %h1;", 'h', not_},
    {"cnot.b32 %r0, %r1;", 'r', cnot},
    {"shl.b32 %r0, %r1, %r2;", 'r', shl32},
    {"shl.b64 %l0, %l1, %r2;", 'l', shl64},
    {"shl.b16 %h0, %h1, %r2;", 'h', shl16},
    {"shr.u32 %r0, %r1, %r2;", 'r', shr_u32},
    {"shr.s32 %r0, %r1, %r2;", 'r', shr_s32},
    {"shr.s64 %l0, %l1, %r2;", 'l', shr_s64},
    {"shr.s16 %h0, %h1, %r2;", 'h', shr_s16},
    {"shr.b16 %h0, %h1, %r2;", 'h', shr_u16},
    {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", 'r', shf_l_wrap},
    {"shf.r.wrap.b32 %r0, %r1, %r2, %r3;", 'r', shf_r_wrap},
    {"shf.l.clamp.b32 %r0, %r1, %r2, %r3;", 'r', shf_l_clamp},
    {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", 'r', shf_r_clamp},
    {"popc.b32 %r0, %r1;", 'r', popc32},
    {"popc.b64 %r0, %l1;", 'r', popc64},
    {"clz.b32 %r0, %r1;", 'r', clz32},
    {"clz.b64 %r0, %l1;", 'r', clz64},
    {"bfind.u32 %r0, %r1;", 'r', bfind_u32},
    {"bfind.s32 %r0, %r1;", 'r', bfind_s32},
    {"bfind.u64 %r0, %l1;", 'r', bfind_u64},
    {"bfind.s64 %r0, %l1;", 'r', bfind_s64},
    {"bfind.shiftamt.u32 %r0, %r1;", 'r', bfind_shift},
    {"brev.b32 %r0, %r1;", 'r', brev32},
    {"brev.b64 %l0, %l1;", 'l', brev64},
    {"bfe.u32 %r0, %r1, %r2, %r3;", 'r', bfe_u32},
    {"bfe.s32 %r0, %r1, %r2, %r3;", 'r', bfe_s32},
    {"bfe.u64 %l0, %l1, %r2, %r3;", 'l', bfe_u64},
    {"bfe.s64 %l0, %l1, %r2, %r3;", 'l', bfe_s64},
    {"shr.u32 %r4, %r3, 8; bfi.b32 %r0, %r1, %r2, %r3, %r4;", 'r', bfi_b32},
    {"shr.u32 %r4, %r3, 8; bfi.b64 %l0, %l1, %l2, %r3, %r4;", 'l', bfi_b64},
    {"prmt.b32 %r0, %r1, %r2, %r3;", 'r', prmt},
    {"prmt.b32.f4e %r0, %r1, %r2, %r3;", 'r', prmt_f4e},
    {"prmt.b32.b4e %r0, %r1, %r2, %r3;", 'r', prmt_b4e},
    {"prmt.b32.ecr %r0, %r1, %r2, %r3;", 'r', prmt_ecr},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0xe8;", 'r', lop3_e8},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0x1b;", 'r', lop3_1b},
    {"lop3.or.b32 _|%p0, %r1, %r2, %r3, 0x96, %p1;", 'p', lop3_or},
    {"dp4a.u32.u32 %r0, %r1, %r2, %r3;", 'r', dp4a_u},
    {"dp4a.s32.s32 %r0, %r1, %r2, %r3;", 'r', dp4a_s},
    {"dp2a.hi.s32.s32 %r0, %r1, %r2, %r3;", 'r', dp2a_hi},
    {"add.cc.u64 %l4, %l2, %l1; addc.u64 %l0, %l1, %l3;", 'l', chain128_high},
    {"mov.b64 {%r4, %r5}, %l2; mov.b64 {%r6, %r7}, %l1; sub.cc.u32 %r4, %r4, %r6;"
     "subc.cc.u32 %r4, %r5, %r7; subc.u32 %r0, %r1, %r3;",
     'r', chain96_sub},
    {"mov.b64 {%r4, %r5}, %l3; mad.lo.cc.u32 %r4, %r1, %r2, %r4;"
     "madc.hi.u32 %r5, %r1, %r2, %r5; mov.b64 %l0, {%r4, %r5};",
     'l', madc64},
    /* The middle limb is all ones, or zero: the carry that comes in must go out again. */
    {"not.b32 %r4, %r2; add.cc.u32 %r5, %r1, %r3; addc.cc.u32 %r6, %r2, %r4;"
     "addc.u32 %r0, 0, 0;",
     'r', carry_through},
    {"sub.cc.u32 %r5, %r1, %r3; subc.cc.u32 %r6, %r2, %r2; subc.u32 %r4, 0, 0; neg.s32 %r0, %r4;",
     'r', borrow_through},
    {"vabsdiff4.u32.u32.u32 %r0, %r1, %r2, %r3;", 'r', vabsdiff4},
    {"vabsdiff4.u32.u32.u32.add %r0, %r1, %r2, %r3;", 'r', vabsdiff4_add},
    {"bmsk.clamp.b32 %r0, %r1, %r2;", 'r', bmsk_clamp},
    {"szext.wrap.s32 %r0, %r1, %r2;", 'r', szext_s},
    {"setp.lt.s32 %p0, %r1, %r2;", 'p', setp_lt_s32},
    {"setp.hi.u32 %p0, %r1, %r2;", 'p', setp_hi},
    {"setp.ge.u64 %p0, %l1, %l2;", 'p', setp_ge_u64},
    {"setp.ne.b16 %p0, %h1, %h2;", 'p', setp_ne_b16},
    {"setp.lt.and.s32 %p0, %r1, %r2, %p3;", 'p', setp_and},
    {"setp.eq.xor.s32 %p0, %r1, %r2, !%p3;", 'p', setp_xor_not},
    {"setp.lt.or.u32 %p3|%p0, %r1, %r2, %p3;", 'p', setp_pair},
    {"set.le.u32.s32 %r0, %r1, %r2;", 'r', set_s32},
    {"selp.b64 %l0, %l1, %l2, %p3;", 'l', selp},
    {"slct.u32.s32 %r0, %r1, %r2, %r3;", 'r', slct},
    {"mov.b32 %r0, {%h1, %h2};", 'r', pack16},
    {"mov.b64 {_, %r0}, %l1;", 'r', unpack_high},
    {"cvt.s64.s8 %l0, %h1;", 'l', sext8},
    {"cvt.s32.s16 %r0, %h1;", 'r', zext_of_s16},
    {"cvt.sat.s8.s32 %r4, %r1; cvt.u16.u32 %h0, %r4;", 'h', sat_s8},
    {"cvt.sat.u8.s32 %r0, %r1;", 'r', sat_u8},
    {"cvt.sat.u32.s64 %r0, %l1;", 'r', sat_u32_s64},
    {"cvt.sat.s32.u64 %r0, %l1;", 'r', sat_s32_u64},
};

static void integer_instructions_match_their_definitions(void **state)
{
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0], 20000, same_bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_instructions_match_their_definitions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
