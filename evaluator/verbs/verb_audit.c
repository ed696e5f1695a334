/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench audit: proves the suite itself. The work is Python's (harness/runner/audit), a child with
 * a work directory of its own: an interrupt ends it with all that it started, whatever it is at.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "evaluator/console/arguments.h"
#include "evaluator/console/interrupt.h"
#include "evaluator/machine/process.h"
#include "evaluator/machine/tool.h"
#include "evaluator/machine/workdir.h"
#include "evaluator/problem/catalogue.h"
#include "evaluator/verbs/verb.h"

enum { MOST_PROBLEMS = 256, MOST_WORDS = MOST_PROBLEMS + 24 };
enum {
    KEY_SIZES = 0x100,
    KEY_SEEDS,
    KEY_DEVICE,
    KEY_JSON,
    KEY_CALIBRATE,
    KEY_WRITE,
    KEY_TABLE,
    KEY_MOST_RANKS
};

typedef struct audit_options {
    const char *problems[MOST_PROBLEMS];
    size_t problem_count;
    const char *passed[MOST_WORDS]; /* options in the form that Python takes */
    size_t passed_count;
    bool calibrates, writes, tables, bounds_ranks;
} audit_options;

static void pass(audit_options *options, const char *name, const char *value)
{
    if (options->passed_count + 2 > MOST_WORDS - MOST_PROBLEMS - 4)
        return; /* an option given again and again: Python's last one wins anyway */
    options->passed[options->passed_count++] = name;
    if (value != NULL)
        options->passed[options->passed_count++] = value;
}

static const struct argp_option table[] = {
    {0, 0, 0, 0, "What is audited:", 1},
    {"ranks", 'n', "LIST", 0, "numbers of ranks (default 2,4,8; on GPUs as many as there are)", 0},
    {"sizes", KEY_SIZES, "LIST", 0,
     "names or classes of sizes, with commas, or all (default tiny; to calibrate tiny,pkb)", 0},
    {"seeds", KEY_SEEDS, "N", 0, "draw inputs from so many secrets (default 3)", 0},
    {"device", KEY_DEVICE, "NAME", 0, "cpu (gloo) or cuda (NCCL, a GPU for each rank)", 0},
    {0, 0, 0, 0, "Tolerances:", 2},
    {"calibrate", KEY_CALIBRATE, 0, 0,
     "measure honest programs and the cheapest cheats, and choose bounds between them", 0},
    {"most-ranks", KEY_MOST_RANKS, "N", 0,
     "with --calibrate: measure sizes that are not tiny on at most N ranks", 0},
    {"write", KEY_WRITE, 0, 0, "with --calibrate: store the bounds in the problem files", 0},
    {"table", KEY_TABLE, 0, 0, "print the stored bounds and what they were set from", 0},
    {0, 0, 0, 0, "What comes out:", 3},
    {"json", KEY_JSON, 0, 0, "everything that was found, on standard output", 0},
    {0}};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    audit_options *options = state->input;
    switch (key) {
    case 'n':
        pass(options, "--ranks", value);
        return 0;
    case KEY_SIZES:
        pass(options, "--sizes", value);
        return 0;
    case KEY_SEEDS:
        pass(options, "--seeds", value);
        return 0;
    case KEY_DEVICE:
        if (strcmp(value, "cpu") != 0 && strcmp(value, "cuda") != 0)
            argp_error(state, "there is no device '%s'; --device takes cuda or cpu", value);
        pass(options, "--device", value);
        return 0;
    case KEY_JSON:
        pass(options, "--json", NULL);
        return 0;
    case KEY_CALIBRATE:
        options->calibrates = true;
        return 0;
    case KEY_WRITE:
        options->writes = true;
        return 0;
    case KEY_MOST_RANKS:
        pass(options, "--most-ranks", value);
        options->bounds_ranks = true;
        return 0;
    case KEY_TABLE:
        options->tables = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->problem_count == MOST_PROBLEMS)
            argp_error(state, "at most %d problems at a time", MOST_PROBLEMS);
        options->problems[options->problem_count++] = value;
        return 0;
    case ARGP_KEY_END:
        if ((options->writes || options->bounds_ranks) && !options->calibrates)
            argp_error(state, "--%s goes with --calibrate",
                       options->writes ? "write" : "most-ranks");
        if (options->tables && (options->calibrates || options->passed_count > 0))
            argp_error(state, "--table prints what is stored, and goes with problems only");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A problem file by its whole path, for Python works in the project's folder; others by name. */
static pkb_code name_problem(char **out, const pkb_catalogue *catalogue, const char *word,
                             pkb_error *err)
{
    const size_t bytes = strlen(word);
    const char *name = NULL;

    if (bytes > 5 && strcmp(word + bytes - 5, ".json") == 0) {
        *out = realpath(word, NULL);
        if (*out == NULL)
            return pkb_error_set(err, PKB_ERR_USAGE, errno, "cannot read %s: %s", word,
                                 strerror(errno));
        return PKB_OK;
    }
    pkb_code rc = pkb_catalogue_find(catalogue, word, &name, err);
    if (rc == PKB_OK && (*out = strdup(name)) == NULL)
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a name");
    return rc;
}

/* An interrupt may also have been Python's alone. */
static pkb_code read_exit(const pkb_child_exit *how, int *status, pkb_error *err)
{
    char text[64];

    if (how->exited) {
        *status = how->status;
        return PKB_OK;
    }
    pkb_child_exit_text(how, text, sizeof text);
    return pkb_error_set(err, how->signal == SIGINT ? PKB_ERR_INTERRUPTED : PKB_ERR_CHILD,
                         how->signal, "the audit %s", text);
}

static pkb_code wait_for(pkb_child *child, pkb_child_exit *how, pkb_error *err)
{
    for (;;) {
        pkb_code rc = pkb_child_wait(child, PKB_TICK_MS * PKB_NS_PER_MS, how, err);
        if (rc != PKB_ERR_TIMEOUT)
            return rc;
        rc = pkb_interrupt_check(err);
        if (rc != PKB_OK)
            return rc;
    }
}

static pkb_code run_python(const char *const *argv, const pkb_toolbox *tools, int *status,
                           pkb_error *err)
{
    const pkb_child_options options = {.argv = argv,
                                       .directory = tools->root,
                                       .stdin_fd = -1,
                                       .stdout_fd = STDOUT_FILENO,
                                       .stderr_fd = STDERR_FILENO};
    pkb_child child = PKB_CHILD_NONE;
    pkb_child_exit how = {0};

    pkb_code rc = pkb_child_start(&child, &options, err);
    if (rc == PKB_OK)
        rc = wait_for(&child, &how, err);
    pkb_child_kill(&child);
    return rc == PKB_OK ? read_exit(&how, status, err) : rc;
}

/* What Python leaves in TMPDIR goes with it. */
static pkb_code run_in_workdir(const char *const *argv, const pkb_toolbox *tools, int *status,
                               pkb_error *err)
{
    pkb_workdir workdir = PKB_WORKDIR_NONE;

    pkb_code rc = pkb_workdir_open(&workdir, err);
    if (rc == PKB_OK && setenv("TMPDIR", workdir.path, 1) != 0)
        rc = pkb_error_set_errno(err, PKB_ERR_MEMORY, "cannot set TMPDIR");
    if (rc == PKB_OK)
        rc = run_python(argv, tools, status, err);
    pkb_workdir_close(&workdir);
    return rc;
}

static pkb_code run(const audit_options *options, const pkb_toolbox *tools,
                    const pkb_catalogue *catalogue, int *status, pkb_error *err)
{
    static const char calibrate[] = "harness.runner.audit.calibrate";
    static const char print_table[] = "harness.runner.audit.table";
    static const char audit[] = "harness.runner.audit";
    const char *argv[MOST_WORDS + 1] = {tools->tools[PKB_TOOL_PYTHON].path, "-m",
                                        options->calibrates ? calibrate
                                        : options->tables   ? print_table
                                                            : audit};
    char *names[MOST_PROBLEMS] = {0};
    size_t count = 3;
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < options->passed_count; i++)
        argv[count++] = options->passed[i];
    if (options->writes)
        argv[count++] = "--write";
    for (size_t i = 0; i < options->problem_count && rc == PKB_OK; i++) {
        rc = name_problem(&names[i], catalogue, options->problems[i], err);
        argv[count++] = names[i];
    }
    if (rc == PKB_OK)
        rc = run_in_workdir(argv, tools, status, err);
    for (size_t i = 0; i < options->problem_count; i++)
        free(names[i]);
    return rc;
}

pkb_code pkb_verb_audit(int argc, char **argv, int *status, pkb_error *err)
{
    static const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .args_doc = "[PROBLEM...]",
        .doc = "Proves the suite itself, for the problems named by number, name or file (default: "
               "all): inputs vary and are shared only where the problem says so, every output "
               "depends on every argument of every rank, the reference agrees with the oracle, "
               "honest programs that round elsewhere are taken, and no program that does not do "
               "the work is.\v"
               "Faults are sentences on standard error; a table counts them at the end, \"-\" for "
               "none. A place is a size, with a shape of the grid, on so many ranks. The exit "
               "status is 0 if there is no fault and 1 if there is one; 2 tells of bad usage, 3 "
               "that something of this machine failed, 130 that it was interrupted."};
    static const pkb_tool_id needed[] = {PKB_TOOL_PYTHON, PKB_TOOL_TORCH};
    audit_options options = {0};
    pkb_toolbox tools = {0};
    pkb_catalogue catalogue = {0};

    pkb_interrupt_install();
    pkb_arguments_parse(&argp, argc, argv, &options);
    pkb_code rc = pkb_toolbox_open(&tools, err);
    if (rc == PKB_OK)
        rc = pkb_toolbox_require(&tools, needed, sizeof needed / sizeof needed[0], err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_open(&catalogue, tools.root, err);
    if (rc == PKB_OK)
        rc = run(&options, &tools, &catalogue, status, err);
    pkb_catalogue_clear(&catalogue);
    pkb_toolbox_clear(&tools);
    return rc;
}
