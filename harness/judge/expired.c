/* SPDX-License-Identifier: Apache-2.0
 *
 * From the word of a wait that gave up to a sentence; see expired.h.
 */
#include "harness/judge/expired.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    WORD_BYTES = sizeof(uint32_t),
    LAST_CHANNEL = PKB_SIGNAL_CHANNELS + 1, /* [arrived][gate][error] of pkb_barrier */
    GATE = LAST_CHANNEL * PKB_SIGNAL_CHANNEL_WORDS + 1,
    ERROR = GATE + 1
};

#define IS_INDEX (UINT32_C(1) << 31)

void pkb_expired_text(char out[PKB_EXPIRED_BYTES], uint32_t word, uint32_t world, uint64_t limit_ns)
{
    const uint32_t index = word & ~IS_INDEX;
    const uint32_t channel = index / PKB_SIGNAL_CHANNEL_WORDS;
    const uint32_t flag = index % PKB_SIGNAL_CHANNEL_WORDS; /* 0 is the channel's epoch */
    const uint64_t at = (uint64_t)index * WORD_BYTES;
    char what[128];

    out[0] = '\0';
    if (word == 0)
        return;
    if (word == index)
        snprintf(what, sizeof what, "a flag never reached its value");
    else if (index == GATE)
        snprintf(what, sizeof what, "not all blocks of this rank came to pkb_barrier");
    else if (channel < LAST_CHANNEL && flag > 0 && flag <= world)
        snprintf(what, sizeof what, "rank %" PRIu32 " never came to this barrier", flag - 1);
    else if (at >= PKB_SIGNAL_BYTES)
        snprintf(what, sizeof what,
                 "the flag at byte %" PRIu64 " of its symmetric memory never reached its value",
                 at - PKB_SIGNAL_BYTES);
    else
        snprintf(what, sizeof what, "a word of the barriers never reached its value");
    snprintf(out, PKB_EXPIRED_BYTES, "a wait gave up: %s within %.3g s", what,
             (double)limit_ns / 1e9);
}

uint32_t pkb_expired_behind_gate(uint32_t word, const uint32_t words[2 * PKB_SIGNAL_CHANNEL_WORDS],
                                 uint32_t world)
{
    const uint32_t *flags = words + 1, *last = words + PKB_SIGNAL_CHANNEL_WORDS;
    const uint32_t arrived = last[0], epoch = last[1] + 1;

    if (word != (IS_INDEX | GATE) || arrived != 0) /* the last block to arrive sets it to 0 */
        return word;
    for (uint32_t q = 0; q < world; q++)
        if ((int32_t)(flags[q] - epoch) < 0)
            return IS_INDEX | (PKB_SIGNAL_CHANNELS * PKB_SIGNAL_CHANNEL_WORDS + 1 + q);
    return word;
}

bool pkb_expired_read(char out[PKB_EXPIRED_BYTES], const pkb_page *page, const pkb_memory *memory,
                      uint64_t limit_ns)
{
    const uint32_t *words = memory->symmetric.address;
    uint32_t word = 0, channels[2 * PKB_SIGNAL_CHANNEL_WORDS];

    if (*(const volatile uint32_t *)&page->answer != PKB_ANSWER_CUDA_ERROR)
        return false;
    memory->device->read(&word, words + ERROR, sizeof word);
    memory->device->read(channels, words + PKB_SIGNAL_CHANNELS * PKB_SIGNAL_CHANNEL_WORDS,
                         sizeof channels);
    word = pkb_expired_behind_gate(word, channels, memory->layout.world);
    pkb_expired_text(out, word, memory->layout.world, limit_ns);
    return word != 0;
}
