/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench new: a skeleton attempt.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "evaluator/console/arguments.h"
#include "evaluator/console/output.h"
#include "evaluator/console/terminal.h"
#include "evaluator/problem/choice.h"
#include "evaluator/problem/skeleton.h"
#include "evaluator/verbs/verb.h"

typedef struct new_options {
    const char *problem, *output;
} new_options;

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    new_options *options = state->input;
    if (key == 'o') {
        options->output = value;
        return 0;
    }
    return pkb_choice_parse(&options->problem, "new", key, value, state);
}

/* O_EXCL: what is there stays, also if it appears at this very moment. */
static pkb_code write_new(const char *path, const pkb_buf *text, pkb_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 && errno == EEXIST)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%s exists and is not overwritten; choose another name with -o", path);
    if (fd < 0)
        return pkb_error_set_errno(err, PKB_ERR_USAGE, "cannot write %s", path);
    FILE *file = fdopen(fd, "w");
    bool is_written =
        file != NULL && fwrite(pkb_buf_text(text), 1, text->bytes, file) == text->bytes;
    if (file == NULL)
        close(fd);
    else if (fclose(file) != 0)
        is_written = false;
    if (is_written)
        return PKB_OK;
    pkb_error_set_errno(err, PKB_ERR_DISK, "cannot write %s", path);
    unlink(path);
    return PKB_ERR_DISK;
}

static pkb_code write_skeleton(const new_options *options, const pkb_problem *problem,
                               pkb_error *err)
{
    pkb_buf text = {0}, name = {0};
    if (options->output != NULL)
        pkb_buf_append_string(&name, options->output);
    else
        pkb_buf_printf(&name, "%s.cu", problem->full_name);
    const char *path = pkb_buf_text(&name);

    pkb_skeleton_write(&text, problem);
    pkb_code rc = pkb_buf_check(&text, "the skeleton", err);
    if (rc == PKB_OK && strcmp(path, "-") == 0) {
        fputs(pkb_buf_text(&text), stdout);
        rc = pkb_output_flush(err);
    } else if (rc == PKB_OK) {
        rc = write_new(path, &text, err);
        if (rc == PKB_OK) {
            fputs("wrote ", stderr);
            pkb_terminal_put(path);
            fputs("; judge it with: pkbench eval ", stderr);
            pkb_terminal_put(path);
            fprintf(stderr, " -p %d\n", pkb_catalogue_number(problem->full_name));
        }
    }
    pkb_buf_clear(&text);
    pkb_buf_clear(&name);
    return rc;
}

pkb_code pkb_verb_new(int argc, char **argv, int *status, pkb_error *err)
{
    static const struct argp_option table[] = {
        {"output", 'o', "FILE", 0, "where to (default NNN_name.cu; - = standard output)", 0}, {0}};
    static const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .args_doc = "PROBLEM",
        .doc = "Writes a skeleton attempt for a problem: it compiles, launches one kernel and says "
               "what to fill in. Never overwrites a file."};
    new_options options = {0};
    pkb_choice choice = {0};

    (void)status;
    pkb_arguments_parse(&argp, argc, argv, &options);
    pkb_code rc = pkb_choice_open(&choice, options.problem, err);
    if (rc == PKB_OK)
        rc = write_skeleton(&options, choice.problem, err);
    pkb_choice_clear(&choice);
    return rc;
}
