/* SPDX-License-Identifier: Apache-2.0
 *
 * Estimates; see estimate.h. The rule of thumb is told in docs/runs.md.
 */
#include "evaluator/run/estimate.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static const double compile_s = 4;

/* Of one size, by class. */
static const struct {
    const char *class;
    double cpu_s, gpu_s, timing_s;
} sizes_s[] = {{"tiny", 1, 0.5, 0.5}, {"pkb", 10, 0.5, 2.5}, {"large", 60, 1, 3}};

/* ---- what records say ---- */

static bool is_like(const pkb_eval_options *options, const cJSON *record)
{
    const cJSON *flags = cJSON_GetObjectItemCaseSensitive(record, "flags");
    int64_t world = 0;
    bool is_timed = false;

    return strcmp(pkb_json_string_or(record, "device", ""), options->device) == 0 &&
           pkb_json_get_i64(record, "world", &world, NULL) == PKB_OK && world == options->world &&
           strcmp(pkb_json_string_or(flags, "sizes", ""), options->sizes) == 0 &&
           pkb_json_get_bool(flags, "timing", &is_timed, NULL) == PKB_OK &&
           is_timed == options->is_timed;
}

static pkb_estimate_row *row_of(pkb_estimate *estimate, const char *problem)
{
    const char *name = pkb_names_keep(&estimate->names, problem);

    for (size_t i = 0; i < estimate->count; i++)
        if (estimate->rows[i].problem == name)
            return &estimate->rows[i];
    pkb_estimate_row *larger =
        name == NULL ? NULL : reallocarray(estimate->rows, estimate->count + 1, sizeof *larger);
    if (larger == NULL)
        return NULL;
    estimate->rows = larger;
    larger[estimate->count] = (pkb_estimate_row){.problem = name};
    return &larger[estimate->count++];
}

void pkb_estimate_take(pkb_estimate *estimate, const cJSON *record)
{
    const cJSON *costs = cJSON_GetObjectItemCaseSensitive(record, "cost_s");
    double seconds = 0;

    if (!is_like(estimate->options, record) || costs == NULL ||
        pkb_json_get_double(costs, "total", &seconds, NULL) != PKB_OK || !(seconds >= 0))
        return;
    pkb_estimate_row *row = row_of(estimate, pkb_json_string_or(record, "problem", ""));
    if (row == NULL) {
        estimate->is_cut = true;
        return;
    }
    row->seconds += seconds;
    row->count++;
}

/* ---- the rule of thumb ---- */

static bool is_asked(const char *list, const char *name, const char *class)
{
    const size_t name_bytes = strlen(name), class_bytes = strlen(class);

    if (strcmp(list, "all") == 0)
        return true;
    for (const char *word = list; *word != '\0';) {
        const size_t bytes = strcspn(word, ", ");
        if ((bytes == name_bytes && strncmp(word, name, bytes) == 0) ||
            (bytes == class_bytes && strncmp(word, class, bytes) == 0))
            return true;
        word += bytes + strspn(word + bytes, ", ");
    }
    return false;
}

static double size_seconds(const pkb_eval_options *options, const char *class)
{
    const bool is_cpu = strcmp(options->device, "cpu") == 0;

    for (size_t i = 0; i < sizeof sizes_s / sizeof sizes_s[0]; i++)
        if (strcmp(class, sizes_s[i].class) == 0)
            return is_cpu ? sizes_s[i].cpu_s
                          : sizes_s[i].gpu_s + (options->is_timed ? sizes_s[i].timing_s : 0);
    return 0;
}

static double guess(const pkb_eval_options *options, const pkb_problem *problem)
{
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(problem->json, "sizes"), *size = NULL;
    double seconds = compile_s;

    cJSON_ArrayForEach(size, sizes)
    {
        const char *class = pkb_json_string_or(size, "class", "");
        if (is_asked(options->sizes, pkb_json_string_or(size, "name", ""), class))
            seconds += size_seconds(options, class);
    }
    return seconds;
}

double pkb_estimate_seconds(const pkb_estimate *estimate, const pkb_problem *problem,
                            bool *is_measured)
{
    for (size_t i = 0; i < estimate->count; i++) {
        const pkb_estimate_row *row = &estimate->rows[i];
        if (strcmp(row->problem, problem->full_name) != 0)
            continue;
        *is_measured = true;
        return row->seconds / (double)row->count;
    }
    *is_measured = false;
    return guess(estimate->options, problem);
}

void pkb_estimate_clear(pkb_estimate *estimate)
{
    free(estimate->rows);
    pkb_names_clear(&estimate->names);
    estimate->rows = NULL;
    estimate->count = 0;
}
