/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix instructions of one warp: ldmatrix, stmatrix and mma.sync with 16 x 8 results. Lanes
 * meet, look at one another's operands and meet again before anybody goes on: what they look at
 * lies on their stacks.
 */
#ifndef PKB_CPU_FRAGMENT_H
#define PKB_CPU_FRAGMENT_H

#include "harness/cpu/device/access.h"

enum pkb_element {
    PKB_ELEMENT_F16,
    PKB_ELEMENT_BF16,
    PKB_ELEMENT_TF32,
    PKB_ELEMENT_S8,
    PKB_ELEMENT_U8
};

typedef struct pkb_meeting {
    const void *of[32]; /* what each lane shows */
} pkb_meeting;

/* The table of lane 0, once all lanes have entered what they show. */
PKB_OUTLINE const pkb_meeting *pkb_meet(pkb_thread *T, pkb_meeting *own, const void *shown)
{
    uint64_t address = (uint64_t)own;
    uint32_t low = pkb_shfl(T, PKB_SHFL_IDX, (uint32_t)address, 0, 31, ~0u, 0);
    uint32_t high = pkb_shfl(T, PKB_SHFL_IDX, (uint32_t)(address >> 32), 0, 31, ~0u, 0);
    pkb_meeting *first = (pkb_meeting *)((uint64_t)high << 32 | low);
    first->of[T->lane] = shown;
    pkb_warp_sync(T, ~0u);
    return first;
}

/* Matrix j of 8 x 8 has its rows at what lanes 8j ... 8j + 7 show. Lane i holds elements 2(i % 4)
 * and the next of row i / 4, or transposed. */
PKB_OUTLINE void pkb_ldmatrix(pkb_thread *T, const uint8_t *row, uint32_t count, int is_transposed,
                              uint32_t *out)
{
    pkb_meeting own;
    const pkb_meeting *all = pkb_meet(T, &own, row);
    uint32_t r = T->lane / 4, c = T->lane % 4 * 2;
    for (uint32_t j = 0; j < count; j++) {
        const uint16_t *const *rows = (const uint16_t *const *)&all->of[8 * j];
        out[j] = is_transposed ? pkb_pack(rows[c][r], rows[c + 1][r])
                               : pkb_pack(rows[r][c], rows[r][c + 1]);
    }
    pkb_warp_sync(T, ~0u);
}

PKB_OUTLINE void pkb_stmatrix(pkb_thread *T, uint8_t *row, uint32_t count, int is_transposed,
                              const uint32_t *in)
{
    pkb_meeting own;
    const pkb_meeting *all = pkb_meet(T, &own, row);
    uint32_t r = T->lane / 4, c = T->lane % 4 * 2;
    for (uint32_t j = 0; j < count; j++) {
        uint16_t *const *rows = (uint16_t *const *)&all->of[8 * j];
        uint16_t *first = is_transposed ? &rows[c][r] : &rows[r][c];
        uint16_t *second = is_transposed ? &rows[c + 1][r] : &rows[r][c + 1];
        *first = (uint16_t)in[j];
        *second = (uint16_t)(in[j] >> 16);
    }
    pkb_warp_sync(T, ~0u);
}

PKB_INLINE float pkb_float_element(enum pkb_element type, uint32_t word, uint32_t index)
{
    uint16_t half = (uint16_t)(word >> 16 * index);
    return type == PKB_ELEMENT_F16    ? pkb_f16_to_f32(half)
           : type == PKB_ELEMENT_BF16 ? pkb_bf16_to_f32(half)
                                      : pkb_f32(word & ~0x1fffu);
}

PKB_INLINE int32_t pkb_integer_element(enum pkb_element type, uint32_t word, uint32_t index)
{
    return pkb_byte_of(word, (int)index, type == PKB_ELEMENT_S8);
}

/* One row of A or column of B, unpacked. A register holds `each` elements next to one another
 * along k, and four lanes hold 4 * `each` of them; then comes the next register. */
#define PKB_UNPACK(name, type, decode)                                                        \
    PKB_INLINE void pkb_unpack_##name(type *out, const pkb_meeting *all, uint32_t first_lane, \
                                      uint32_t word, uint32_t stride, uint32_t k,             \
                                      enum pkb_element element, uint32_t each)                \
    {                                                                                         \
        for (uint32_t i = 0; i < k; i++) {                                                    \
            const uint32_t *words = all->of[first_lane + i % (4 * each) / each];              \
            out[i] = decode(element, words[word + i / (4 * each) * stride], i % each);        \
        }                                                                                     \
    }
PKB_UNPACK(float, float, pkb_float_element)
PKB_UNPACK(integer, int32_t, pkb_integer_element)

/* The lane's four results: rows lane / 4 and 8 more, columns 2(lane % 4) and the next. `words`
 * are the registers of A, then those of B; `sums` is C on entry and D at the end. */
#define PKB_MMA(name, type)                                                                   \
    PKB_OUTLINE void pkb_mma_##name(pkb_thread *T, const uint32_t *words, uint32_t k,         \
                                    enum pkb_element a, enum pkb_element b, uint32_t each,    \
                                    type sums[4])                                             \
    {                                                                                         \
        pkb_meeting own;                                                                      \
        const pkb_meeting *all = pkb_meet(T, &own, words);                                    \
        uint32_t a_words = k / (4 * each) * 2, group = T->lane / 4, column = T->lane % 4 * 2; \
        type row[2][32], col[2][32];                                                          \
        for (uint32_t i = 0; i < 2; i++) {                                                    \
            pkb_unpack_##name(row[i], all, group * 4, i, 2, k, a, each);                      \
            pkb_unpack_##name(col[i], all, (column + i) * 4, a_words, 1, k, b, each);         \
        }                                                                                     \
        for (uint32_t i = 0; i < 4; i++)                                                      \
            for (uint32_t j = 0; j < k; j++)                                                  \
                sums[i] += row[i / 2][j] * col[i % 2][j];                                     \
        pkb_warp_sync(T, ~0u);                                                                \
    }
PKB_MMA(float, float)
PKB_MMA(integer, int32_t)

#endif
