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

#include "evaluator/attempt/keep.h"
#include "evaluator/console/clean.h"
#include "evaluator/console/interrupt.h"
#include "evaluator/problem/selection.h"
#include "evaluator/run/run_file.h"
#include "evaluator/run/run_flight.h"

enum { SHOWN_IGNORED = 10 };

void pkb_run_say(pkb_run *run, const char *what, const char *text)
{
    pkb_buf line = {0};

    pkb_buf_append_string(&line, what);
    pkb_clean_append(&line, text, strlen(text), SIZE_MAX);
    pkb_progress_end(&run->setting->progress);
    fprintf(stderr, "%s\n", pkb_buf_text(&line));
    pkb_buf_clear(&line);
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

static pkb_code select_problems(pkb_run *run, pkb_error *err)
{
    const pkb_catalogue *catalogue = &run->setting->catalogue;
    const char *list = run->setting->options.problems;

    if (list == NULL)
        return PKB_OK;
    bool *is_wanted = calloc(catalogue->count + 1, sizeof *is_wanted);
    if (is_wanted == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the list of problems");
    pkb_code rc = pkb_selection_parse(is_wanted, catalogue, list, err);
    if (rc == PKB_OK)
        pkb_samples_select(&run->samples, catalogue, is_wanted);
    free(is_wanted);
    if (rc == PKB_OK && run->samples.count == 0)
        rc = pkb_error_set(err, PKB_ERR_USAGE, 0, "no attempt in %s is for --problems %s",
                           run->folder, list);
    return rc;
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
    for (size_t i = 0; i < samples->ignored_count && i < SHOWN_IGNORED; i++)
        pkb_run_say(run, "ignored, for its name says no problem or sample: ", samples->ignored[i]);
    if (samples->ignored_count > SHOWN_IGNORED)
        fprintf(stderr, "ignored: %zu more\n", samples->ignored_count - SHOWN_IGNORED);
    pkb_buf_clear(&text);
}

static pkb_code open_results(pkb_run *run, pkb_error *err)
{
    char *path = NULL;
    pkb_code rc = pkb_run_file(&path, run->setting, run->folder, err);

    if (rc == PKB_OK)
        rc = pkb_results_open(&run->results, path, err);
    run->is_stored = path != NULL;
    free(path);
    if (rc != PKB_OK)
        return rc;
    if (!run->is_stored && run->setting->options.saves)
        fprintf(stderr, "note: records of the project's own examples are not stored without -o\n");
    if (run->results.cut_bytes > 0)
        fprintf(stderr,
                "note: the last line of %s was cut in the middle and is dropped; its attempt is "
                "judged again\n",
                run->results.path);
    if (run->results.broken_count > 0)
        fprintf(stderr, "note: %zu lines of %s are no records, the first is line %zu; left alone\n",
                run->results.broken_count, run->results.path, run->results.broken_line);
    return PKB_OK;
}

static pkb_code prepare(pkb_run *run, pkb_error *err)
{
    const pkb_eval_options *options = &run->setting->options;

    if (options->problem != NULL)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%s is a directory, whose files say by their names which problem they "
                             "are for; use --problems %s to judge some of them",
                             options->file, options->problem);
    if (options->has_debug)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "--debug looks into one attempt: name a file in %s", options->file);
    pkb_code rc = pkb_setting_find(run->setting, err);
    if (rc == PKB_OK)
        rc = name_run(run, err);
    if (rc == PKB_OK)
        rc = pkb_samples_find(&run->samples, run->folder, &run->setting->catalogue, err);
    if (rc == PKB_OK)
        rc = select_problems(run, err);
    if (rc == PKB_OK)
        rc = pkb_setting_require(run->setting, err);
    if (rc != PKB_OK)
        return rc;
    tell_of_names(run);
    rc = open_results(run, err);
    if (rc == PKB_OK && options->keep != NULL)
        rc = pkb_keep_open(options->keep, err);
    return rc;
}

/* ---- all of them ---- */

static pkb_code open_lanes(pkb_run *run, pkb_error *err)
{
    const pkb_setting *setting = run->setting;
    pkb_room gpu_room, cpu_room;

    pkb_code rc = pkb_room_find(&gpu_room, &cpu_room, setting, err);
    if (rc == PKB_OK)
        rc = pkb_lanes_open(&run->lanes, &gpu_room, &cpu_room, err);
    run->lanes.tell = pkb_run_show;
    run->lanes.before_timing = pkb_foresight_pause;
    run->lanes.foresight = &run->foresight;
    run->lanes.context = run;
    run->world_count =
        pkb_room_worlds(setting->gpus.count > 0 ? &gpu_room : &cpu_room, setting->options.world);
    return rc;
}

/* Takes samples until all are taken or too much failed; returns how many were. */
static pkb_code take_samples(pkb_run *run, size_t *taken, pkb_error *err)
{
    const pkb_samples *samples = &run->samples;
    pkb_code rc = PKB_OK;

    pkb_run_ahead_start(run);
    for (*taken = 0; *taken < samples->count; ++*taken) {
        rc = pkb_run_wait(run, run->world_count - 1, err);
        if (rc != PKB_OK || run->failures_in_a_row >= PKB_RUN_MOST_FAILURES)
            break;
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
    pkb_foresight_end(&run->foresight);
    return rc;
}

static pkb_code take_all(pkb_run *run, pkb_error *err)
{
    size_t taken = 0;
    pkb_code rc = open_lanes(run, err);

    if (rc == PKB_OK)
        rc = take_samples(run, &taken, err);
    const size_t left = run->samples.count - taken + run->held_count;
    if (rc == PKB_OK && left > 0) {
        fprintf(stderr,
                "%d attempts in a row failed for reasons of this machine (see pkbench doctor); "
                "the rest is left\n",
                run->failures_in_a_row);
        run->pending_count += left;
    }
    if (rc == PKB_OK && run->refused_count == run->samples.count) {
        *err = run->refusal;
        rc = PKB_ERR_USAGE;
    }
    return rc;
}

/* A word as a shell takes it. */
static void print_word(const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=:+@%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        fprintf(stderr, " %s", word);
        return;
    }
    pkb_buf text = {0};
    for (const char *c = word; *c != '\0'; c++)
        if (*c == '\'')
            pkb_buf_append_string(&text, "'\\''");
        else
            pkb_buf_append_byte(&text, *c);
    fprintf(stderr, " '%s'", pkb_buf_text(&text));
    pkb_buf_clear(&text);
}

static void tell_how_to_go_on(const pkb_run *run, int argc, char **argv)
{
    if (!run->is_stored) {
        fprintf(stderr, "nothing was stored: the next call begins anew\n");
        return;
    }
    fputs("to go on: ", stderr);
    print_word(program_invocation_name);
    for (int i = 0; i < argc; i++)
        print_word(argv[i]);
    fputc('\n', stderr);
}

static void tell_end(const pkb_run *run)
{
    const size_t left = run->pending_count + run->unread_count;

    if (run->summary.count > 0)
        pkb_summary_print(stderr, &run->summary);
    fprintf(stderr, "%zu attempts: %zu judged", run->samples.count, run->judged_count);
    if (run->copied_count > 0)
        fprintf(stderr, ", %zu equal to others", run->copied_count);
    if (run->found_count > 0)
        fprintf(stderr, ", %zu judged before", run->found_count);
    if (run->refused_count > 0)
        fprintf(stderr, ", %zu not for these options", run->refused_count);
    if (left > 0)
        fprintf(stderr, ", %zu without a verdict", left);
    fprintf(stderr, "%s%s\n", run->is_stored ? "; records in " : "",
            run->is_stored ? run->results.path : "");
}

pkb_code pkb_run_folder(pkb_setting *setting, int argc, char **argv, int *status, pkb_error *err)
{
    pkb_run run = {.setting = setting,
                   .results = PKB_RESULTS_NONE,
                   .shelf = {.catalogue = &setting->catalogue}};

    pkb_code rc = prepare(&run, err);
    if (rc == PKB_OK) {
        rc = take_all(&run, err);
        pkb_progress_end(&setting->progress);
        pkb_run_end_lanes(&run);
        if (rc == PKB_OK || rc == PKB_ERR_INTERRUPTED)
            tell_end(&run);
        if (rc == PKB_ERR_INTERRUPTED || run.pending_count > 0)
            tell_how_to_go_on(&run, argc, argv);
    }
    if (rc == PKB_OK && run.pending_count + run.unread_count > 0)
        *status = PKB_EXIT_INCOMPLETE;
    pkb_shelf_clear(&run.shelf);
    pkb_summary_clear(&run.summary);
    pkb_results_close(&run.results);
    pkb_samples_clear(&run.samples);
    return rc;
}
