/* SPDX-License-Identifier: Apache-2.0
 *
 * Judges a folder; see run.h. One attempt at a time and lane: it is compiled, then judged.
 */
#include "evaluator/run/run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "evaluator/attempt/keep.h"
#include "evaluator/attempt/logs.h"
#include "evaluator/console/interrupt.h"
#include "evaluator/console/terminal.h"
#include "evaluator/record/record.h"
#include "evaluator/run/dry_run.h"
#include "evaluator/run/pick.h"
#include "evaluator/run/run_files.h"
#include "evaluator/run/run_flight.h"

enum { SHOWN_LEFT = 10 };

void pkb_run_say(pkb_run *run, const char *what, const char *text)
{
    pkb_progress_end(&run->setting->progress);
    fputs(what, stderr);
    pkb_terminal_put(text);
    fputc('\n', stderr);
}

/* ---- before anything starts ---- */

static pkb_code name_run(pkb_run *run, pkb_error *err)
{
    const char *given = run->setting->options.file;
    char real[PATH_MAX];
    size_t bytes = strlen(given);

    if (realpath(given, real) == NULL || bytes >= sizeof run->folder)
        return pkb_error_set_errno(err, PKB_ERR_USAGE, "cannot find the folder %s", given);
    while (bytes > 1 && given[bytes - 1] == '/')
        bytes--;
    memcpy(run->folder, given, bytes);
    snprintf(run->name, sizeof run->name, "%s", strrchr(real, '/') + 1);
    return PKB_OK;
}

/* A name that none of the attempts has is a slip of the pen. */
static pkb_code require_named(pkb_run *run, const pkb_rejudge_item *item, pkb_error *err)
{
    const pkb_eval_options *options = &run->setting->options;
    bool is_there = false;
    pkb_buf id = {0};

    for (size_t i = 0; i < run->samples.count && !is_there; i++) {
        const pkb_sample *sample = &run->samples.items[i];
        const pkb_record_facts facts = {.options = options,
                                        .file = sample->path,
                                        .run = run->name,
                                        .sample = sample->number,
                                        .problem = sample->problem};
        pkb_buf_clear(&id);
        pkb_record_id(&id, &facts);
        is_there = pkb_rejudge_item_names(item, pkb_buf_text(&id), sample->problem, sample->number);
    }
    pkb_buf_clear(&id);
    if (is_there || options->shard != NULL)
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_USAGE, 0,
                         "--rejudge names %s, and no such attempt is judged "
                         "by this call",
                         item->word);
}

static pkb_code read_rejudge(pkb_run *run, pkb_error *err)
{
    pkb_code rc = pkb_rejudge_parse(&run->rejudge, run->setting->options.rejudge,
                                    &run->setting->catalogue, err);
    for (size_t i = 0; i < run->rejudge.count && rc == PKB_OK; i++)
        rc = require_named(run, &run->rejudge.items[i], err);
    return rc;
}

static int widest_name(const pkb_samples *samples)
{
    int columns = 0;

    for (size_t i = 0; i < samples->count; i++) {
        const pkb_sample *sample = &samples->items[i];
        const int own = snprintf(NULL, 0, "%s/%lld", sample->problem, (long long)sample->number);
        columns = own > columns ? own : columns;
    }
    return columns;
}

static void tell_of_names(pkb_run *run)
{
    const pkb_samples *samples = &run->samples;
    pkb_buf text = {0};

    if (samples->renamed != NULL) {
        pkb_buf_printf(&text, "%s is judged as %s: the number decides, the rest of a name does not",
                       samples->renamed, samples->renamed_problem);
        pkb_run_say(run, "note: ", pkb_buf_text(&text));
    }
    for (size_t i = 0; i < samples->left_count; i++) {
        const pkb_left *left = &samples->left[i];
        run->outside_count += left->problem != NULL;
        if (i >= SHOWN_LEFT)
            continue;
        pkb_buf_clear(&text);
        pkb_buf_printf(&text, "%s %s", left->path, left->why);
        pkb_run_say(run, left->problem != NULL ? "not judged: " : "ignored: ", pkb_buf_text(&text));
    }
    if (samples->left_count > SHOWN_LEFT)
        fprintf(stderr, "and %zu more like these\n", samples->left_count - SHOWN_LEFT);
    pkb_buf_clear(&text);
}

static void visit(void *estimate, const cJSON *record)
{
    pkb_estimate_take(estimate, record);
}

static void tell_cut(const pkb_results *results)
{
    fputs("note: the last line of ", stderr);
    pkb_terminal_put(results->path);
    fputs(" was cut in the middle and is dropped; its attempt is judged again\n", stderr);
}

static void tell_broken(const pkb_results *results)
{
    fputs("note: in ", stderr);
    pkb_terminal_put(results->path);
    fprintf(stderr, " %zu line%s no record, first line %zu; left alone\n", results->broken_count,
            results->broken_count == 1 ? " is" : "s are", results->broken_line);
}

static pkb_code open_results(pkb_run *run, pkb_error *err)
{
    pkb_run_files files;
    pkb_code rc = pkb_run_files_find(&files, run->setting, run->folder, err);

    if (rc != PKB_OK)
        return rc;
    const pkb_results_options options = {.path = files.own,
                                         .others = (const char *const *)files.others,
                                         .other_count = files.other_count,
                                         .visit = run->setting->options.is_dry ? visit : NULL,
                                         .context = &run->estimate};
    rc = pkb_results_open(&run->results, &options, err);
    run->is_stored = files.own != NULL;
    run->has_other_kinds = files.has_other_kinds;
    if (rc == PKB_OK && run->is_stored && run->setting->options.output == NULL) {
        rc = pkb_logs_check(run->folder, err);
        run->setting->logs_in = run->folder;
    }
    pkb_run_files_clear(&files);
    if (rc != PKB_OK || run->setting->options.is_dry)
        return rc;
    if (!run->is_stored && run->setting->options.saves)
        fprintf(stderr, "note: records of the project's own examples are not stored without -o\n");
    if (run->results.cut_bytes > 0)
        tell_cut(&run->results);
    if (run->results.broken_count > 0)
        tell_broken(&run->results);
    return PKB_OK;
}

static pkb_code prepare(pkb_run *run, pkb_error *err)
{
    const pkb_eval_options *options = &run->setting->options;

    pkb_code rc = pkb_eval_options_require(options, PKB_SCOPE_FOLDER, err);
    if (rc == PKB_OK)
        rc = pkb_setting_find(run->setting, err);
    if (rc == PKB_OK)
        rc = name_run(run, err);
    if (rc == PKB_OK)
        rc = pkb_samples_find(&run->samples, run->folder, &run->setting->catalogue, err);
    if (rc == PKB_OK)
        rc = pkb_pick_samples(&run->samples, options, &run->setting->catalogue, err);
    if (rc == PKB_OK)
        rc = read_rejudge(run, err);
    if (rc == PKB_OK)
        rc = pkb_setting_require(run->setting, err);
    if (rc != PKB_OK)
        return rc;
    run->name_columns = widest_name(&run->samples);
    tell_of_names(run);
    rc = open_results(run, err);
    if (rc == PKB_OK && options->keep != NULL && !options->is_dry)
        rc = pkb_keep_open(options->keep, err);
    return rc;
}

/* ---- all of them ---- */

static void note(void *run, const char *text)
{
    pkb_run_say(run, "note: ", text);
}

static pkb_code open_lanes(pkb_run *run, pkb_error *err)
{
    const pkb_setting *setting = run->setting;
    pkb_room gpu_room, cpu_room;

    pkb_code rc = pkb_room_find(&gpu_room, &cpu_room, setting, err);
    if (rc == PKB_OK)
        rc = pkb_lanes_open(&run->lanes, &gpu_room, &cpu_room, err);
    run->lanes.tell = pkb_run_show;
    run->lanes.note = note;
    run->lanes.turns.before = pkb_foresight_pause;
    run->lanes.turns.context = &run->foresight;
    run->lanes.context = run;
    run->world_count =
        pkb_room_worlds(setting->gpus.count > 0 ? &gpu_room : &cpu_room, setting->options.world);
    return rc;
}

/* The line of a terminal must not stay in front of it. */
static void ask_before_stopping(const pkb_run *run)
{
    static const char notice[] =
        "\r\033[Kinterrupted: finishing the attempt under way; once more stops now\n";
    enum { CONTROL_BYTES = 4 };
    pkb_interrupt_ask_first(run->setting->progress.is_live ? notice : notice + CONTROL_BYTES);
}

/* Takes samples until all are taken, too much failed or it was asked to stop; tells how many were.
 */
static pkb_code take_samples(pkb_run *run, size_t *taken, pkb_error *err)
{
    const pkb_samples *samples = &run->samples;
    pkb_code rc = PKB_OK;

    ask_before_stopping(run);
    run->start_ns = pkb_clock_now_ns();
    pkb_run_ahead_start(run);
    for (*taken = 0; *taken < samples->count; ++*taken) {
        rc = pkb_run_wait(run, run->world_count - 1, err);
        if (rc != PKB_OK || run->failures_in_a_row >= PKB_RUN_MOST_FAILURES ||
            pkb_interrupt_check_asked(NULL) != PKB_OK)
            break;
        pkb_run_show_bar(run);
        pkb_run_ahead_move(run, *taken + 1);
        if (run->refused == samples->items[*taken].problem)
            run->refused_count++;
        else
            rc = pkb_run_sample(run, *taken, err);
        if (rc != PKB_OK)
            break;
    }
    if (rc == PKB_OK)
        rc = pkb_run_wait(run, 0, err);
    if (rc == PKB_OK && (*taken < samples->count || run->held_count > 0))
        rc = pkb_interrupt_check_asked(err);
    pkb_foresight_end(&run->foresight);
    return rc;
}

static pkb_code take_all(pkb_run *run, pkb_error *err)
{
    size_t taken = 0;
    pkb_code rc = take_samples(run, &taken, err);

    const size_t left = run->samples.count - taken + run->held_count;
    if (rc == PKB_OK && left > 0) {
        fprintf(stderr,
                "%d attempts in a row failed for reasons of this machine (see pkbench doctor); "
                "the rest is left\n",
                run->failures_in_a_row);
        run->pending_count += left;
    }
    if (rc == PKB_OK && run->refused_count > 0 && run->refused_count == run->samples.count) {
        *err = run->refusal;
        rc = PKB_ERR_USAGE;
    }
    return rc;
}

pkb_code pkb_run_folder(pkb_setting *setting, int argc, char **argv, int *status, pkb_error *err)
{
    pkb_run run = {.setting = setting,
                   .results = PKB_RESULTS_NONE,
                   .shelf = {.catalogue = &setting->catalogue},
                   .estimate = {.options = &setting->options}};
    const bool is_dry = setting->options.is_dry;

    pkb_code rc = prepare(&run, err);
    if (rc == PKB_OK)
        rc = open_lanes(&run, err);
    if (rc == PKB_OK && is_dry) {
        rc = pkb_dry_run(&run, err);
    } else if (rc == PKB_OK) {
        rc = take_all(&run, err);
        pkb_progress_end(&setting->progress);
        pkb_run_end_lanes(&run);
        if (rc == PKB_OK || rc == PKB_ERR_INTERRUPTED)
            pkb_run_tell_end(&run, rc == PKB_ERR_INTERRUPTED, argc, argv);
    }
    if (rc == PKB_OK && pkb_run_left_count(&run) > 0 && !is_dry)
        *status = PKB_EXIT_INCOMPLETE;
    pkb_run_end_lanes(&run);
    pkb_shelf_clear(&run.shelf);
    pkb_summary_clear(&run.summary);
    pkb_results_close(&run.results);
    pkb_rejudge_clear(&run.rejudge);
    pkb_estimate_clear(&run.estimate);
    pkb_samples_clear(&run.samples);
    return rc;
}
