/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts cells ahead of their size; see supply.h.
 */
#include "harness/judge/supply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"

#define DEBUG_PART "debug.part" /* what the tool says of one size */

static bool has_debugger(const pkb_supply *supply)
{
    return supply->debugger != NULL && supply->debug_rank == supply->judge->options.rank;
}

bool pkb_supply_reuses(const pkb_supply *supply)
{
    return supply->debugger == NULL &&
           (supply->judge->gpus != NULL || supply->level == PKB_SANDBOX_NONE);
}

/* <folder of this program>/name. */
static pkb_code beside_me(char *out, size_t bytes, const char *name, pkb_error *err)
{
    char self[3500];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return pkb_error_set(err, PKB_ERR_IO, 0, "cannot find the judge's own program");
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (slash != NULL)
        *slash = '\0';
    snprintf(out, bytes, "%s/%s", self, name);
    return PKB_OK;
}

static pkb_code spawn(pkb_supply *supply, pkb_cell **out, pkb_error *err)
{
    /* These outlive the cell. */
    static char program[4096], library[4096], log_path[4096], debug_path[4096];
    static pkb_cell_debug debug;
    pkb_judge *judge = supply->judge;
    const bool is_debugged = has_debugger(supply);
    pkb_code rc = PKB_OK;

    if ((rc = beside_me(program, sizeof program, "pkbench-cell", err)) != PKB_OK ||
        (rc = beside_me(library, sizeof library, "lib", err)) != PKB_OK)
        return rc;
    snprintf(log_path, sizeof log_path, "%s/rank%u.txt", judge->options.work, judge->options.rank);
    snprintf(debug_path, sizeof debug_path, "%s/" DEBUG_PART, judge->options.work);
    debug = (pkb_cell_debug){supply->debugger, supply->debug_tool, debug_path};
    const pkb_cell_options options = {.program = program,
                                      .library_dir = library,
                                      .cudart = judge->options.cudart,
                                      .gpus = judge->gpus,
                                      .host_path = supply->host,
                                      .device_path = supply->device,
                                      .log_path = log_path,
                                      .debug = is_debugged ? &debug : NULL,
                                      .level = is_debugged ? PKB_SANDBOX_NONE : supply->level,
                                      .stays = pkb_supply_reuses(supply),
                                      .world = &judge->world,
                                      .watch = &judge->watch};
    return pkb_cell_spawn(out, &options, err);
}

pkb_code pkb_supply_begin(pkb_supply *supply, size_t cell_count, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    if (supply->debugger != NULL || supply->vacated != NULL)
        return PKB_OK;
    while (rc == PKB_OK && supply->waiting_count < cell_count &&
           supply->waiting_count < PKB_SUPPLY_MAX) {
        rc = spawn(supply, &supply->waiting[supply->waiting_count], err);
        if (rc == PKB_OK)
            supply->waiting_count++;
    }
    return rc;
}

/* One that died before it held anything is simply replaced when it is wanted. */
pkb_code pkb_supply_await(pkb_supply *supply, pkb_error *err)
{
    for (size_t i = 0; i < supply->waiting_count;) {
        pkb_error why;
        pkb_code rc = pkb_cell_await(supply->waiting[i], &why);
        if (rc == PKB_OK) {
            i++;
            continue;
        }
        if (rc != PKB_ERR_CHILD) {
            *err = why;
            return rc;
        }
        pkb_cell_free(supply->waiting[i]);
        supply->waiting[i] = supply->waiting[--supply->waiting_count];
    }
    return PKB_OK;
}

static pkb_code begin(pkb_supply *supply, pkb_cell *cell, uint64_t timeout_ns, pkb_cell **out,
                      pkb_error *err)
{
    pkb_code rc = pkb_cell_begin(cell, supply->judge->memory, timeout_ns, err);
    if (rc == PKB_OK)
        *out = cell;
    else
        pkb_cell_free(cell);
    return rc;
}

/* While they wait, cells can die of what another one does: it used up the memory of all. */
pkb_code pkb_supply_take(pkb_supply *supply, uint64_t timeout_ns, pkb_cell **out, pkb_error *err)
{
    pkb_cell *cell = NULL;
    pkb_code rc = pkb_supply_await(supply, err);

    while (rc == PKB_OK && supply->waiting_count > 0) {
        rc = begin(supply, supply->waiting[--supply->waiting_count], timeout_ns, out, err);
        if (rc != PKB_ERR_CHILD)
            return rc;
        rc = pkb_watch_check(&supply->judge->watch, err); /* or was it one of ours? */
    }
    if (rc == PKB_OK)
        rc = spawn(supply, &cell, err);
    return rc == PKB_OK ? begin(supply, cell, timeout_ns, out, err) : rc;
}

void pkb_supply_clear(pkb_supply *supply)
{
    while (supply->waiting_count > 0)
        pkb_cell_free(supply->waiting[--supply->waiting_count]);
    pkb_cell_free(supply->vacated);
    supply->vacated = NULL;
}

/* The tool begins its file anew for each cell. Best effort: a log decides nothing. */
void pkb_supply_keep_log(const pkb_supply *supply, const char *size)
{
    enum { LIMIT_BYTES = 64 << 20 };
    const pkb_judge_options *options = &supply->judge->options;
    char part[4096], whole[4096], title[128], *text = NULL;
    size_t bytes = 0;

    if (!has_debugger(supply))
        return;
    snprintf(part, sizeof part, "%s/" DEBUG_PART, options->work);
    snprintf(whole, sizeof whole, "%s/debug.txt", options->work);
    snprintf(title, sizeof title, "---- rank %u, size %s ----\n", options->rank, size);
    pkb_fs_append(whole, title, strlen(title), NULL);
    if (pkb_fs_read(part, LIMIT_BYTES, &text, &bytes, NULL) == PKB_OK)
        pkb_fs_append(whole, text, bytes, NULL);
    free(text);
    unlink(part);
}
