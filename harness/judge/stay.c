/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells between two sizes; see stay.h.
 */
#include "harness/judge/stay.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "harness/judge/quiet.h"

/* What may be in use beyond the memory of a size that was closed. */
#define FREED_SLACK_BYTES (UINT64_C(64) << 20)
#define FREED_TIMEOUT_NS (200 * PKB_NS_PER_MS)

/* Best effort: a log decides nothing. */
static void note(const pkb_judge *judge, const char *when, const char *size, const char *why)
{
    char path[4096], text[320];

    snprintf(path, sizeof path, "%s/rank%u.txt", judge->options.work, judge->options.rank);
    snprintf(text, sizeof text, "---- %s size %s: its process was ended: %s ----\n", when, size,
             why);
    pkb_fs_append(path, text, strlen(text), NULL);
}

static pkb_code is_anybody(pkb_judge *judge, bool mine, bool *out, pkb_error *err)
{
    uint64_t all[PKB_MAX_RANKS] = {0};
    pkb_code rc = pkb_judge_world_share(&judge->world, mine, all, err);

    *out = false;
    for (uint32_t rank = 0; rc == PKB_OK && rank < judge->options.world; rank++)
        *out |= all[rank] != 0;
    return rc;
}

pkb_code pkb_stay_vacate(pkb_attempt *attempt, bool *may_stay, pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    char why[160] = "";
    bool is_left = false;
    pkb_loud loud = {0};
    /* What PyTorch only keeps for later is no leftover of anybody's. */
    pkb_code rc = judge->gpus != NULL ? pkb_runner_trim(judge->runner, err) : PKB_OK;

    if (rc == PKB_OK)
        rc = pkb_cell_vacate(attempt->cell, why, sizeof why, err);
    if (rc == PKB_OK)
        rc = is_anybody(judge, why[0] != '\0', &is_left, err);
    if (rc == PKB_OK && !is_left) /* all stand still: what is heard now runs without them */
        rc = pkb_quiet_listen(judge, attempt->quiet_ns, &loud, err);
    if (rc == PKB_OK && loud.is_heard)
        snprintf(why, sizeof why, "work of the attempt still runs on the GPU of rank %u",
                 loud.rank);
    if (why[0] != '\0')
        note(judge, "after", judge->size->name, why);
    *may_stay = rc == PKB_OK && !is_left && !loud.is_heard;
    return rc;
}

/* True if everything is back to `most_bytes`. The driver may take a moment. */
static bool is_freed(const pkb_judge_device *device, uint64_t most_bytes)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + FREED_TIMEOUT_NS;

    while (device->used_bytes() > most_bytes) {
        if (pkb_clock_left_ns(deadline_ns) == 0)
            return false;
        pkb_clock_sleep_ns(PKB_NS_PER_MS);
    }
    return true;
}

/* Else an attempt could take room from the sizes that follow, and so choose how many slots its
 * batches get. */
pkb_code pkb_stay_drop_size(pkb_judge *judge, pkb_cell **vacated, pkb_error *err)
{
    const pkb_judge_device *device = judge->device;
    bool is_held = false;

    if (*vacated == NULL || judge->memory == NULL || device->used_bytes == NULL)
        return PKB_OK;
    const char *size = judge->size->name;
    const uint64_t bytes = pkb_memory_needed_bytes(&judge->memory->layout, device->is_sparse);
    const uint64_t used_bytes = device->used_bytes();
    const uint64_t rest_bytes = used_bytes > bytes ? used_bytes - bytes : 0;
    pkb_code rc = pkb_judge_drop_size(judge, err);
    if (rc == PKB_OK)
        rc = pkb_judge_world_barrier(&judge->world, err); /* peers held it, too */
    if (rc != PKB_OK)
        return rc;
    const bool mine = !is_freed(device, rest_bytes + FREED_SLACK_BYTES);
    if (mine)
        note(judge, "after", size, "it still holds memory of that size");
    rc = is_anybody(judge, mine, &is_held, err);
    if (rc == PKB_OK && is_held) {
        pkb_cell_free(*vacated);
        *vacated = NULL;
    }
    return rc;
}

/* Whatever fails may be the attempt's doing, unless one of us is gone. */
pkb_code pkb_stay_take(pkb_attempt *attempt, pkb_cell *vacated, uint64_t timeout_ns, pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    bool has_failed = false;
    pkb_error why = {0};
    const bool mine = pkb_cell_begin(vacated, judge->memory, timeout_ns, &why) != PKB_OK;
    pkb_code rc = pkb_watch_check(&judge->watch, err);

    if (mine)
        note(judge, "before", judge->size->name, why.message);
    if (rc == PKB_OK)
        rc = is_anybody(judge, mine, &has_failed, err);
    if (rc == PKB_OK && !has_failed)
        attempt->cell = vacated;
    else
        pkb_cell_free(vacated);
    return rc;
}
