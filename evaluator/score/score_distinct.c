/* SPDX-License-Identifier: Apache-2.0
 *
 * How many different programs there are among the attempts at a problem: sources that are equal but
 * for comments and white space count once. Where a source is not at hand, or is another one by now,
 * its bytes count as the record hashed them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator/attempt/attempt.h"
#include "evaluator/attempt/program.h"
#include "evaluator/score/score.h"

typedef struct program {
    const pkb_outcome *outcome;
    char bytes[PKB_HASH_HEX_BYTES]; /* hash as the record has it */
    char plain[PKB_HASH_HEX_BYTES]; /* without comments and white space */
} program;

/* True: the source was there. */
static bool hash_program(program *out, const char *path, pkb_error *err, pkb_code *rc)
{
    pkb_attempt attempt = {0};
    bool is_there = false;

    snprintf(out->plain, sizeof out->plain, "%s", out->bytes);
    if (path == NULL || pkb_attempt_read(&attempt, path, NULL) != PKB_OK)
        return false;
    if (strcmp(attempt.sha256, out->bytes) == 0) {
        *rc = pkb_program_hash(out->plain, attempt.source, attempt.bytes, err);
        is_there = true;
    }
    pkb_attempt_clear(&attempt);
    return is_there;
}

static int compare_bytes(const void *a, const void *b)
{
    return strcmp(((const program *)a)->bytes, ((const program *)b)->bytes);
}

static int compare_plain(const void *a, const void *b)
{
    return strcmp(((const program *)a)->plain, ((const program *)b)->plain);
}

static size_t count_different(program *programs, size_t count)
{
    size_t different = 0;

    qsort(programs, count, sizeof *programs, compare_plain);
    for (size_t i = 0; i < count; i++)
        different += i == 0 || compare_plain(&programs[i - 1], &programs[i]) != 0;
    return different;
}

/* Each different text is read once. */
static pkb_code count_in(pkb_score *score, size_t index, program *programs, pkb_error *err)
{
    const pkb_runset *runset = score->runset;
    const pkb_runset_problem *from = &runset->problems[index];
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < from->count; i++) {
        programs[i] = (program){.outcome = &runset->outcomes[from->first + i]};
        snprintf(programs[i].bytes, sizeof programs[i].bytes, "%s", programs[i].outcome->sha256);
    }
    qsort(programs, from->count, sizeof *programs, compare_bytes);
    for (size_t i = 0; i < from->count && rc == PKB_OK; i++) {
        program *one = &programs[i];
        if (i > 0 && compare_bytes(&programs[i - 1], one) == 0)
            memcpy(one->plain, programs[i - 1].plain, sizeof one->plain);
        else if (!hash_program(one, pkb_runset_source(runset, one->outcome), err, &rc))
            score->has_sources = false;
    }
    score->problems[index].distinct = count_different(programs, from->count);
    return rc;
}

pkb_code pkb_score_count_programs(pkb_score *score, pkb_error *err)
{
    program *programs = malloc((score->runset->count + 1) * sizeof *programs);
    pkb_code rc = PKB_OK;

    if (programs == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the programs");
    score->has_sources = true;
    for (size_t i = 0; i < score->problem_count && rc == PKB_OK; i++)
        rc = count_in(score, i, programs, err);
    free(programs);
    return rc;
}
