/* SPDX-License-Identifier: Apache-2.0
 *
 * What the command is doing, on stderr: one line that changes on a terminal, a plain line a step
 * elsewhere (none where each attempt of many has a line of its own).
 */
#ifndef PKB_EVALUATOR_PROGRESS_H
#define PKB_EVALUATOR_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "evaluator/console/bar.h"

/* Takes a step in the place of stderr. */
typedef void pkb_progress_tell(void *context, const char *step, const char *detail);

typedef struct pkb_progress {
    pkb_progress_tell *tell; /* NULL = stderr */
    void *context;
    bool is_live, is_shown, is_of_many;
    pkb_bar bar; /* of many: how far they are */
    uint64_t start_ns, drawn_ns;
    char subject[160], step[96], detail[96];
} pkb_progress;

void pkb_progress_start(pkb_progress *progress);
/* Says what is being done now; the same again changes nothing. `detail` ("check 2/3", may be NULL)
 * is for terminals only. */
void pkb_progress_step(pkb_progress *progress, const char *step, const char *detail);
/* What the next steps are about ("013_gemm_allreduce/2"), one of many; the seconds start anew. */
void pkb_progress_subject(pkb_progress *progress, const char *subject);
/* How far the many are; shown with the next step. */
void pkb_progress_bar(pkb_progress *progress, const pkb_bar *bar);
/* Keeps the seconds moving. */
void pkb_progress_tick(pkb_progress *progress);
/* Takes the line away. */
void pkb_progress_end(pkb_progress *progress);

#endif
