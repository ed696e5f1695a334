/* SPDX-License-Identifier: Apache-2.0
 *
 * Asynchronous copies and mbarriers of the translated code. A copy completes when it is issued,
 * which PTX allows: groups are then always complete, and a copy's bytes count at once.
 */
#ifndef PKB_CPU_ASYNC_H
#define PKB_CPU_ASYNC_H

#include "harness/cpu/device/access.h"

/* ---- mbarrier: one 64-bit word in shared memory ----
 * bits 0-19 pending arrivals, 20-39 arrivals expected each phase, 40-61 bytes expected and not
 * yet there (signed: they may come before they are announced), 63 the phase's parity. */
#define PKB_MBARRIER_COUNT 0xfffffu

PKB_INLINE void pkb_mbarrier_init(uint8_t *at, uint32_t count)
{
    uint64_t arrivals = count & PKB_MBARRIER_COUNT;
    __atomic_store_n((uint64_t *)at, arrivals << 20 | arrivals, __ATOMIC_SEQ_CST);
}

/* Takes arrivals off, changes the bytes outstanding and ends the phase when nothing is left.
 * Returns the word before, which is also the state that arrive hands out. */
PKB_OUTLINE uint64_t pkb_mbarrier_update(uint8_t *at, uint32_t arrivals, uint32_t drops,
                                         int64_t bytes)
{
    uint64_t old = __atomic_load_n((uint64_t *)at, __ATOMIC_RELAXED), next;
    do {
        uint64_t pending = (old - arrivals) & PKB_MBARRIER_COUNT, phase = old >> 63;
        uint64_t expected = ((old >> 20) - drops) & PKB_MBARRIER_COUNT;
        int64_t outstanding = ((int64_t)(old << 2) >> 42) + bytes;
        if (pending == 0 && outstanding == 0) {
            phase ^= 1;
            pending = expected;
        }
        next = phase << 63 | ((uint64_t)outstanding & 0x3fffff) << 40 | expected << 20 | pending;
    } while (!__atomic_compare_exchange_n((uint64_t *)at, &old, next, 0, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    return old;
}

/* Whether the phase with this parity is over; if not, others get a turn first. */
PKB_INLINE int pkb_mbarrier_test(pkb_thread *T, uint8_t *at, uint32_t parity)
{
    if (__atomic_load_n((uint64_t *)at, __ATOMIC_SEQ_CST) >> 63 != (parity & 1))
        return 1;
    pkb_yield(T);
    return __atomic_load_n((uint64_t *)at, __ATOMIC_SEQ_CST) >> 63 != (parity & 1);
}

/* ---- copies ---- */
PKB_INLINE void pkb_copy(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    __builtin_memcpy(to, from, bytes);
}

/* cp.async: what the source does not fill becomes zero. */
PKB_INLINE void pkb_copy_filling(uint8_t *to, const uint8_t *from, uint32_t bytes,
                                 uint32_t source_bytes)
{
    uint32_t copied = source_bytes < bytes ? source_bytes : bytes;
    __builtin_memset(to, 0, bytes);
    __builtin_memcpy(to, from, copied);
}

/* The range of a bulk copy: both its ends must lie in the block's memory. */
PKB_INLINE uint8_t *pkb_range_shared(pkb_thread *T, uint32_t address, uint32_t bytes, int is_write,
                                     uint64_t range, uint32_t base, uint32_t size)
{
    if (__builtin_expect((uint64_t)(address - base) + bytes > size, 0))
        pkb_fault_address(T, range + address, bytes, is_write, 0);
    return pkb_locate_shared(T, address, 16, is_write, range, base, size);
}

#define PKB_RANGE_READ_SHARED(address, bytes) \
    pkb_range_shared(T, (uint32_t)(address), bytes, 0, shared_range, shared_base, shared_bytes)
#define PKB_RANGE_WRITE_SHARED(address, bytes) \
    pkb_range_shared(T, (uint32_t)(address), bytes, 1, shared_range, shared_base, shared_bytes)
#define PKB_RANGE_READ_GLOBAL(address, bytes) PKB_READ_GLOBAL(address, 16)
#define PKB_RANGE_WRITE_GLOBAL(address, bytes) PKB_WRITE_GLOBAL(address, 16)

#endif
