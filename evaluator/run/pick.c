/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses attempts; see pick.h.
 */
#include "evaluator/run/pick.h"

#include <stdlib.h>

#include "evaluator/problem/selection.h"
#include "evaluator/run/numbers.h"
#include "evaluator/run/shard.h"

static pkb_code require_some(const pkb_samples *samples, const pkb_eval_options *options,
                             const char *option, const char *list, pkb_error *err)
{
    if (samples->count > 0)
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_USAGE, 0, "no attempt in %s is for %s %s", options->file,
                         option, list);
}

static pkb_code pick_problems(pkb_samples *samples, const pkb_eval_options *options,
                              const pkb_catalogue *catalogue, pkb_error *err)
{
    if (options->problems == NULL)
        return PKB_OK;
    bool *is_wanted = calloc(catalogue->count + 1, sizeof *is_wanted);
    if (is_wanted == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the list of problems");
    pkb_code rc = pkb_selection_parse(is_wanted, catalogue, options->problems, err);
    if (rc == PKB_OK)
        pkb_samples_select(samples, catalogue, is_wanted);
    free(is_wanted);
    return rc == PKB_OK ? require_some(samples, options, "--problems", options->problems, err) : rc;
}

static pkb_code pick_numbers(pkb_samples *samples, const pkb_eval_options *options, pkb_error *err)
{
    pkb_numbers numbers = {0};

    if (options->samples == NULL)
        return PKB_OK;
    pkb_code rc = pkb_numbers_parse(&numbers, options->samples, err);
    if (rc != PKB_OK)
        return rc;
    size_t kept = 0;
    for (size_t i = 0; i < samples->count; i++)
        if (pkb_numbers_hold(&numbers, samples->items[i].number))
            samples->items[kept++] = samples->items[i];
        else
            free(samples->items[i].path);
    samples->count = kept;
    pkb_numbers_clear(&numbers);
    return require_some(samples, options, "--samples", options->samples, err);
}

static pkb_code pick_shard(pkb_samples *samples, const pkb_eval_options *options, pkb_error *err)
{
    pkb_shard shard;
    size_t first = 0, end = 0;
    pkb_code rc = pkb_shard_parse(&shard, options->shard, err);

    if (rc != PKB_OK)
        return rc;
    pkb_shard_range(&shard, samples->count, &first, &end);
    for (size_t i = 0; i < samples->count; i++)
        if (i >= first && i < end)
            samples->items[i - first] = samples->items[i];
        else
            free(samples->items[i].path);
    samples->count = end - first;
    for (size_t i = 0; i < samples->left_count && shard.index > 1; i++)
        free(samples->left[i].path); /* the first shard tells of them */
    samples->left_count = shard.index > 1 ? 0 : samples->left_count;
    return PKB_OK;
}

pkb_code pkb_pick_samples(pkb_samples *samples, const pkb_eval_options *options,
                          const pkb_catalogue *catalogue, pkb_error *err)
{
    pkb_code rc = pick_problems(samples, options, catalogue, err);
    if (rc == PKB_OK)
        rc = pick_numbers(samples, options, err);
    return rc == PKB_OK ? pick_shard(samples, options, err) : rc;
}
