/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads what a cell wrote into its page. Hostile bytes: each field is copied once, bounded, and
 * only printable ASCII survives.
 */
#ifndef PKB_HARNESS_HINT_H
#define PKB_HARNESS_HINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/judge/finding.h"
#include "harness/memory/page.h"
#include "harness/sandbox/child.h"

/* Which request the judge made, for words such as "pkb_run, call 2 of 4, chain". */
typedef struct pkb_hint_step {
    pkb_command command;
    uint32_t call_count;
    const char *step;    /* NULL = none */
    const char *expired; /* what is known of a wait that gave up; NULL = nothing */
} pkb_hint_step;

typedef struct pkb_hint_words {
    char action[96]; /* "pkb_run, call 2 of 4" */
    char step[96];   /* " (trial 2 of 3)", "" = none */
    char phase[160]; /* both, for a record */
} pkb_hint_words;

void pkb_hint_copy(char *out, size_t bytes, const char *text, size_t text_bytes);
void pkb_hint_phase(pkb_hint_words *out, const pkb_page *page, const pkb_hint_step *step);
/* "rank 0 waits in kernel k, block (0,0,0), thread (1,0,0), at a.cu:12", or "". */
void pkb_hint_waiting(char *out, size_t bytes, const pkb_page *page, uint32_t rank);

/* The verdict on an answer that is not OK. */
void pkb_hint_judge_answer(pkb_finding *finding, const pkb_page *page, const pkb_hint_step *step);
/* The verdict on a cell that ended. */
void pkb_hint_judge_end(pkb_finding *finding, const pkb_page *page, const pkb_hint_step *step,
                        const pkb_child_exit *how);

#endif
