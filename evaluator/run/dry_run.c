/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks every attempt up and judges none; see dry_run.h.
 */
#include "evaluator/run/dry_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator/attempt/evaluation.h"
#include "evaluator/console/interrupt.h"
#include "evaluator/console/output.h"
#include "evaluator/run/known.h"

/* Attempts, by what would become of them. */
typedef enum fate { TO_JUDGE, BLANK, EQUAL, BEFORE, UNREAD, FATES } fate;

static const char *const keys[FATES] = {"to_judge", "blank", "equal", "judged_before", "unread"};
static const char *const heads[FATES] = {"to judge", "blank", "equal", "before", "unread"};

typedef struct row {
    const char *problem;
    size_t counts[FATES];
    double seconds;
    bool is_measured;
} row;

typedef struct dry_run {
    pkb_run *run;
    row *rows;
    size_t count;
    pkb_names judgements; /* of those to be judged: others with the same one are equal to them */
} dry_run;

/* ---- looking ---- */

static pkb_code look_up(dry_run *dry, const pkb_evaluation *evaluation, fate *out, pkb_error *err)
{
    const size_t before = dry->judgements.count;
    pkb_known known;
    pkb_code rc = pkb_known_find(&known, &dry->run->results, &dry->run->rejudge, evaluation, err);

    if (rc != PKB_OK)
        return rc;
    *out = known.kind == PKB_KNOWN_EQUAL ? EQUAL : known.kind == PKB_KNOWN_NOT ? TO_JUDGE : BEFORE;
    if (*out != TO_JUDGE)
        return PKB_OK;
    if (evaluation->attempt.is_blank) {
        *out = BLANK;
        return PKB_OK;
    }
    if (pkb_names_keep(&dry->judgements, known.judgement) == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the attempts");
    if (dry->judgements.count == before)
        *out = EQUAL;
    return PKB_OK;
}

static pkb_code look_at(dry_run *dry, size_t index, const pkb_problem **problem, fate *out,
                        pkb_error *err)
{
    pkb_evaluation evaluation = {0};
    pkb_error why = {0};

    pkb_code rc = pkb_run_evaluation(dry->run, index, &evaluation, err);
    if (rc != PKB_OK)
        return rc;
    *problem = evaluation.problem;
    *out = UNREAD;
    rc = pkb_evaluation_read(&evaluation, &why);
    if (rc == PKB_OK) {
        rc = look_up(dry, &evaluation, out, &why);
    } else if (rc == PKB_ERR_USAGE) {
        pkb_run_say(dry->run, "not judged: ", why.message);
        rc = PKB_OK;
    }
    pkb_evaluation_clear(&evaluation);
    if (rc != PKB_OK)
        *err = why;
    return rc;
}

static pkb_code look_at_all(dry_run *dry, pkb_error *err)
{
    const pkb_samples *samples = &dry->run->samples;

    dry->rows = calloc(samples->count + 1, sizeof *dry->rows);
    if (dry->rows == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the attempts");
    for (size_t i = 0; i < samples->count; i++) {
        const pkb_sample *sample = &samples->items[i];
        const pkb_problem *problem = NULL;
        fate found = UNREAD;
        pkb_code rc = pkb_interrupt_check(err);
        if (rc == PKB_OK)
            rc = look_at(dry, i, &problem, &found, err);
        if (rc != PKB_OK)
            return rc;
        if (dry->count == 0 || strcmp(dry->rows[dry->count - 1].problem, sample->problem) != 0)
            dry->rows[dry->count++] = (row){.problem = sample->problem};
        row *own = &dry->rows[dry->count - 1];
        own->counts[found]++;
        if (found == TO_JUDGE)
            own->seconds += pkb_estimate_seconds(&dry->run->estimate, problem, &own->is_measured);
    }
    return PKB_OK;
}

/* ---- telling ---- */

static row sum_of(const dry_run *dry)
{
    row all = {.problem = "all", .is_measured = true};

    for (size_t i = 0; i < dry->count; i++) {
        const row *one = &dry->rows[i];
        for (int k = 0; k < FATES; k++)
            all.counts[k] += one->counts[k];
        all.seconds += one->seconds;
        all.is_measured &= one->is_measured || one->counts[TO_JUDGE] == 0;
    }
    return all;
}

/* On all worlds side by side. */
static double minutes(const dry_run *dry, const row *one)
{
    return one->seconds / 60 / (double)dry->run->world_count;
}

static double gpu_hours(const dry_run *dry, double seconds)
{
    return seconds * dry->run->setting->options.world / 3600;
}

static bool has_gpus(const dry_run *dry)
{
    return strcmp(dry->run->setting->options.device, "cuda") == 0;
}

static void print_row(const dry_run *dry, int columns, const row *one)
{
    printf("%-*s", columns, one->problem);
    for (int k = 0; k < FATES; k++)
        printf("  %8zu", one->counts[k]);
    printf("  %8.1f%s\n", minutes(dry, one),
           one->counts[TO_JUDGE] > 0 && !one->is_measured ? " (a guess)" : "");
}

static void print_text(const dry_run *dry, const row *all)
{
    int columns = pkb_summary_columns(0, all->problem);

    for (size_t i = 0; i < dry->count; i++)
        columns = pkb_summary_columns(columns, dry->rows[i].problem);
    printf("%-*s", columns, "problem");
    for (int k = 0; k < FATES; k++)
        printf("  %8s", heads[k]);
    printf("  %8s\n", "minutes");
    for (size_t i = 0; i < dry->count; i++)
        print_row(dry, columns, &dry->rows[i]);
    print_row(dry, columns, all);
    printf("nothing was started; about %.1f minutes", minutes(dry, all));
    if (has_gpus(dry))
        printf(" or %.2f GPU hours", gpu_hours(dry, all->seconds));
    fputc('\n', stdout);
}

static void add_row(cJSON *to, const dry_run *dry, const row *one)
{
    for (int k = 0; k < FATES; k++)
        cJSON_AddNumberToObject(to, keys[k], (double)one->counts[k]);
    cJSON_AddNumberToObject(to, "minutes", round(minutes(dry, one) * 100) / 100);
    if (one->counts[TO_JUDGE] > 0)
        cJSON_AddStringToObject(to, "by", one->is_measured ? "records" : "guess");
}

static pkb_code print_json(const dry_run *dry, const row *all, pkb_error *err)
{
    const pkb_eval_options *options = &dry->run->setting->options;
    cJSON *told = cJSON_CreateObject();

    cJSON_AddStringToObject(told, "run", dry->run->name);
    cJSON_AddStringToObject(told, "device", options->device);
    cJSON_AddNumberToObject(told, "world", options->world);
    add_row(told, dry, all);
    if (has_gpus(dry))
        cJSON_AddNumberToObject(told, "gpu_hours", round(gpu_hours(dry, all->seconds) * 1e4) / 1e4);
    cJSON *problems = cJSON_AddArrayToObject(told, "problems");
    for (size_t i = 0; i < dry->count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "problem", dry->rows[i].problem);
        add_row(one, dry, &dry->rows[i]);
        cJSON_AddItemToArray(problems, one);
    }
    pkb_code rc = pkb_output_json(told, err);
    cJSON_Delete(told);
    return rc;
}

pkb_code pkb_dry_run(pkb_run *run, pkb_error *err)
{
    dry_run dry = {.run = run};
    pkb_code rc = look_at_all(&dry, err);

    if (rc == PKB_OK) {
        const row all = sum_of(&dry);
        if (run->setting->options.wants_json) {
            rc = print_json(&dry, &all, err);
        } else {
            print_text(&dry, &all);
            rc = pkb_output_flush(err);
        }
    }
    pkb_names_clear(&dry.judgements);
    free(dry.rows);
    return rc;
}
