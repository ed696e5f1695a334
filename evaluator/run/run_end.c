/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run says at its end; see run_state.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "evaluator/console/terminal.h"
#include "evaluator/run/run_state.h"

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
    fputs(" '", stderr);
    pkb_terminal_put(pkb_buf_text(&text));
    fputc('\'', stderr);
    pkb_buf_clear(&text);
}

static void tell_how_to_go_on(const pkb_run *run, int argc, char **argv)
{
    if (!run->is_stored) {
        fprintf(stderr, "nothing was stored: the next call begins anew\n");
        return;
    }
    fputs("to go on:", stderr);
    print_word(program_invocation_name);
    for (int i = 0; i < argc; i++)
        print_word(argv[i]);
    fputc('\n', stderr);
}

static void tell_what_is_next(const pkb_run *run)
{
    const pkb_eval_options *options = &run->setting->options;

    if (!run->is_stored)
        return;
    fprintf(stderr, "%s:", options->shard != NULL ? "once all shards are judged" : "next");
    print_word(program_invocation_name);
    print_word("score");
    print_word(options->output != NULL ? run->results.path : options->file);
    if (run->has_other_kinds)
        fprintf(stderr, " --device %s --world %d", options->device, options->world);
    fputc('\n', stderr);
}

size_t pkb_run_left_count(const pkb_run *run)
{
    return run->pending_count + run->unread_count + run->outside_count;
}

/* After the shards of a run all verdicts may stand in files of others. */
static void tell_where(const pkb_run *run)
{
    const char *path = run->results.path, *slash = strrchr(path, '/');
    struct stat status;
    const bool is_empty = fstat(run->results.fd, &status) == 0 && status.st_size == 0;
    const bool is_elsewhere = is_empty && slash != NULL;
    pkb_buf place = {0};

    if (run->is_stored && !(is_empty && run->found_count == 0)) {
        pkb_buf_append(&place, path, is_elsewhere ? (size_t)(slash - path) : strlen(path));
        fputs("; records in ", stderr);
        pkb_terminal_put(pkb_buf_text(&place));
        pkb_buf_clear(&place);
    }
    fputc('\n', stderr);
}

static void tell_counts(const pkb_run *run)
{
    const size_t left = pkb_run_left_count(run);
    const size_t count = run->samples.count + run->outside_count;

    if (run->summary.count > 0)
        pkb_summary_print(stderr, &run->summary);
    fprintf(stderr, "%zu attempt%s: %zu judged", count, count == 1 ? "" : "s", run->judged_count);
    if (run->copied_count > 0)
        fprintf(stderr, ", %zu equal to others", run->copied_count);
    if (run->found_count > 0)
        fprintf(stderr, ", %zu judged before", run->found_count);
    if (run->refused_count > 0)
        fprintf(stderr, ", %zu not for these options", run->refused_count);
    if (left > 0)
        fprintf(stderr, ", %zu without a verdict", left);
    tell_where(run);
}

void pkb_run_tell_end(const pkb_run *run, bool was_interrupted, int argc, char **argv)
{
    tell_counts(run);
    if (was_interrupted || pkb_run_left_count(run) > 0)
        tell_how_to_go_on(run, argc, argv);
    else
        tell_what_is_next(run);
}
