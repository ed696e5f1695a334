/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory access of the translated code. Every access is a PKB_READ_<space> or PKB_WRITE_<space>,
 * which checks an address and turns it into a host pointer, followed by PKB_GET or PKB_PUT of its
 * elements; another set of these macros makes a checked build. T is the current thread, and
 * PKB_ENTER at the start of a function makes the locals that the macros use: copies, because a
 * store through any pointer would make gcc read the globals again.
 */
#ifndef PKB_CPU_ACCESS_H
#define PKB_CPU_ACCESS_H

#include "harness/cpu/device/device.h"
#include "harness/cpu/device/number.h"

typedef pkb_u128 uint128_t;

#define PKB_ALIGN(bytes) __attribute__((aligned(bytes)))
#define PKB_ENTER                                                                      \
    const uint64_t window_base = pkb_window_base, window_bytes = pkb_window_bytes,     \
                   window_delta = pkb_window_delta, shared_range = pkb_shared_range;   \
    const uint32_t shared_base = T->shared_base, shared_bytes = T->total_shared_bytes; \
    unsigned CF = 0;
#define PKB_PLACE(file_number, line_number) \
    do {                                    \
        T->file = file_number;              \
        T->line = line_number;              \
    } while (0)
#define PKB_BACK_EDGE               \
    do {                            \
        if (--T->yield_budget <= 0) \
            pkb_yield(T);           \
    } while (0)

/* ---- addresses; `bytes` is a constant power of two ---- */
PKB_INLINE void pkb_check_aligned(pkb_thread *T, uint64_t address, uint32_t bytes, int is_write)
{
    if (__builtin_expect((address & (bytes - 1)) != 0, 0))
        pkb_fault_address(T, address, bytes, is_write, 1);
}

PKB_INLINE uint8_t *pkb_locate(pkb_thread *T, uint64_t address, uint32_t bytes, int is_write,
                               uint64_t base, uint64_t size, uint64_t delta)
{
    pkb_check_aligned(T, address, bytes, is_write);
    if (address - base < size)
        address += delta;
    return (uint8_t *)address;
}

/* A block's shared memory, total_shared_bytes from shared_base on, begins with the system's KiB. */
PKB_INLINE uint8_t *pkb_locate_shared(pkb_thread *T, uint32_t address, uint32_t bytes, int is_write,
                                      uint64_t range, uint32_t base, uint32_t size)
{
    uint64_t end = (uint64_t)(address - base) + bytes;
    pkb_check_aligned(T, range + address, bytes, is_write);
    if (__builtin_expect(end > size, 0))
        pkb_fault_address(T, range + address, bytes, is_write, 0);
    return (uint8_t *)(range + address);
}

PKB_INLINE uint8_t *pkb_locate_local(pkb_thread *T, uint64_t address, uint32_t bytes, int is_write)
{
    pkb_check_aligned(T, address, bytes, is_write);
    return (uint8_t *)address;
}

#define PKB_LOCATE(address, bytes, is_write) \
    pkb_locate(T, address, bytes, is_write, window_base, window_bytes, window_delta)
#define PKB_READ_GENERIC(address, bytes) PKB_LOCATE(address, bytes, 0)
#define PKB_WRITE_GENERIC(address, bytes) PKB_LOCATE(address, bytes, 1)
#define PKB_READ_GLOBAL(address, bytes) PKB_LOCATE(address, bytes, 0)
#define PKB_WRITE_GLOBAL(address, bytes) PKB_LOCATE(address, bytes, 1)
#define PKB_READ_CONST(address, bytes) PKB_LOCATE(address, bytes, 0)
#define PKB_WRITE_CONST(address, bytes) PKB_LOCATE(address, bytes, 1)
#define PKB_READ_SHARED(address, bytes) \
    pkb_locate_shared(T, (uint32_t)(address), bytes, 0, shared_range, shared_base, shared_bytes)
#define PKB_WRITE_SHARED(address, bytes) \
    pkb_locate_shared(T, (uint32_t)(address), bytes, 1, shared_range, shared_base, shared_bytes)
#define PKB_READ_LOCAL(address, bytes) pkb_locate_local(T, address, bytes, 0)
#define PKB_WRITE_LOCAL(address, bytes) pkb_locate_local(T, address, bytes, 1)
/* Parameters are aligned by those who laid them out. */
#define PKB_READ_PARAM(address, bytes) ((uint8_t *)(address))
#define PKB_WRITE_PARAM(address, bytes) ((uint8_t *)(address))

#define PKB_IS_SHARED(address) ((address) >> 32 == shared_range >> 32)
/* Stacks are small: what is near this frame is local memory. */
#define PKB_IS_LOCAL(address) \
    ((address) - (uint64_t)__builtin_frame_address(0) + (1u << 18) < (1u << 19))
#define PKB_IS_GLOBAL(address) (!PKB_IS_SHARED(address) && !PKB_IS_LOCAL(address))

/* ---- elements ---- */
#define PKB_AT(bits, pointer, offset) ((uint##bits##_t *)((pointer) + (offset)))
#define PKB_GET(bits, pointer, offset) (*PKB_AT(bits, pointer, offset))
#define PKB_PUT(bits, pointer, offset, value) ((void)(*PKB_AT(bits, pointer, offset) = (value)))
#define PKB_GET_RELAXED(bits, pointer, offset) \
    __atomic_load_n(PKB_AT(bits, pointer, offset), __ATOMIC_RELAXED)
#define PKB_GET_ACQUIRE(bits, pointer, offset) \
    __atomic_load_n(PKB_AT(bits, pointer, offset), __ATOMIC_ACQUIRE)
#define PKB_PUT_RELAXED(bits, pointer, offset, value) \
    __atomic_store_n(PKB_AT(bits, pointer, offset), value, __ATOMIC_RELAXED)
#define PKB_PUT_RELEASE(bits, pointer, offset, value) \
    __atomic_store_n(PKB_AT(bits, pointer, offset), value, __ATOMIC_RELEASE)

PKB_INLINE void pkb_fence(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ---- read-modify-write ---- */
#define PKB_ATOMIC(operation, builtin, bits)                                                      \
    PKB_INLINE uint##bits##_t pkb_atomic_##operation##_b##bits(uint8_t *at, uint##bits##_t value) \
    {                                                                                             \
        return builtin((uint##bits##_t *)at, value, __ATOMIC_SEQ_CST);                            \
    }
#define PKB_ATOMIC_BITS(bits)                 \
    PKB_ATOMIC(add, __atomic_fetch_add, bits) \
    PKB_ATOMIC(and, __atomic_fetch_and, bits) \
    PKB_ATOMIC(or, __atomic_fetch_or, bits)   \
    PKB_ATOMIC(xor, __atomic_fetch_xor, bits) \
    PKB_ATOMIC(exch, __atomic_exchange_n, bits)
PKB_ATOMIC_BITS(32)
PKB_ATOMIC_BITS(64)

#define PKB_ATOMIC_CAS(bits)                                                                     \
    PKB_INLINE uint##bits##_t pkb_atomic_cas_b##bits(uint8_t *at, uint##bits##_t expected,       \
                                                     uint##bits##_t value)                       \
    {                                                                                            \
        __atomic_compare_exchange_n((uint##bits##_t *)at, &expected, value, 0, __ATOMIC_SEQ_CST, \
                                    __ATOMIC_SEQ_CST);                                           \
        return expected;                                                                         \
    }
PKB_ATOMIC_CAS(16)
PKB_ATOMIC_CAS(32)
PKB_ATOMIC_CAS(64)

/* What the processor has no instruction for: `old` is the value found, `updated` what replaces
 * it, `raw` says how the value is held. */
#define PKB_ATOMIC_LOOP(name, type, bits, to_value, to_bits, updated)                       \
    PKB_OUTLINE type pkb_atomic_##name(uint8_t *at, type value)                             \
    {                                                                                       \
        uint##bits##_t raw = __atomic_load_n((uint##bits##_t *)at, __ATOMIC_RELAXED), next; \
        type old;                                                                           \
        do {                                                                                \
            old = (type)to_value(raw);                                                      \
            next = (uint##bits##_t)to_bits(updated);                                        \
        } while (!__atomic_compare_exchange_n((uint##bits##_t *)at, &raw, next, 0,          \
                                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));         \
        return old;                                                                         \
    }
#define PKB_ATOMIC_ORDERED(suffix, type, bits)                               \
    PKB_ATOMIC_LOOP(min_##suffix, type, bits, , , value < old ? value : old) \
    PKB_ATOMIC_LOOP(max_##suffix, type, bits, , , value > old ? value : old)
#define PKB_ATOMIC_HALF(suffix, bits)                                                     \
    PKB_ATOMIC_LOOP(add_##suffix, uint##bits##_t, bits, , , pkb_add_##suffix(old, value)) \
    PKB_ATOMIC_LOOP(min_##suffix, uint##bits##_t, bits, , , pkb_min_##suffix(old, value)) \
    PKB_ATOMIC_LOOP(max_##suffix, uint##bits##_t, bits, , , pkb_max_##suffix(old, value))
PKB_ATOMIC_ORDERED(u32, uint32_t, 32)
PKB_ATOMIC_ORDERED(s32, int32_t, 32)
PKB_ATOMIC_ORDERED(u64, uint64_t, 64)
PKB_ATOMIC_ORDERED(s64, int64_t, 64)
PKB_ATOMIC_LOOP(inc_b32, uint32_t, 32, , , (old >= value ? 0 : old + 1))
PKB_ATOMIC_LOOP(dec_b32, uint32_t, 32, , , (old == 0 || old > value ? value : old - 1))
PKB_ATOMIC_LOOP(add_f32, float, 32, pkb_f32, pkb_b32, (old + value))
PKB_ATOMIC_LOOP(add_f64, double, 64, pkb_f64, pkb_b64, (old + value))
PKB_ATOMIC_HALF(f16, 16)
PKB_ATOMIC_HALF(bf16, 16)
PKB_ATOMIC_HALF(f16x2, 32)
PKB_ATOMIC_HALF(bf16x2, 32)

/* ---- others ---- */
PKB_INLINE uint32_t pkb_warp_count(const pkb_thread *T)
{
    return (T->ntid[0] * T->ntid[1] * T->ntid[2] + 31) / 32;
}

/* An initialiser that holds an address, or with a mask some bytes of it. */
PKB_OUTLINE void pkb_put_address(uint8_t *at, uint32_t bytes, uint64_t value, uint64_t mask)
{
    if (mask != 0)
        value = (value & mask) >> __builtin_ctzll(mask);
    __builtin_memcpy(at, &value, bytes < 8 ? bytes : 8);
}

#endif
