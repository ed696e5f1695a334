/* SPDX-License-Identifier: Apache-2.0
 *
 * What an attempt's kernel waited for when its wait gave up (include/pkbench_device.cuh). The
 * attempt can write that word as it likes: it makes a reason clearer, no more.
 */
#ifndef PKB_HARNESS_EXPIRED_H
#define PKB_HARNESS_EXPIRED_H

#include "harness/judge/memory.h"
#include "harness/memory/page.h"
#include "harness/memory/signals.h"

enum { PKB_EXPIRED_BYTES = 200 };

/* "a wait gave up: rank 1 never came to this barrier within 15 s"; "" for the word 0. */
void pkb_expired_text(char out[PKB_EXPIRED_BYTES], uint32_t word, uint32_t world,
                      uint64_t limit_ns);
/* Blocks wait at pkb_barrier's gate for those of their own rank and, through the last of these, for
 * the peers. From a word that names the gate to the word of the peer that did not come, if that is
 * why; any other word stays. `words`: the last two channels (pkbench_device.cuh). */
uint32_t pkb_expired_behind_gate(uint32_t word, const uint32_t words[2 * PKB_SIGNAL_CHANNEL_WORDS],
                                 uint32_t world);
/* The same after a CUDA error, of the word in this rank's symmetric memory; false if there was
 * none, or no wait gave up. */
bool pkb_expired_read(char out[PKB_EXPIRED_BYTES], const pkb_page *page, const pkb_memory *memory,
                      uint64_t limit_ns);

#endif
