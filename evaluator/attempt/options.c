/* SPDX-License-Identifier: Apache-2.0
 *
 * The option table of `pkbench eval`; see options.h.
 */
#include "evaluator/attempt/options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator/attempt/debug.h"
#include "evaluator/console/arguments.h"

enum key {
    KEY_DEVICE = 0x100,
    KEY_GPUS,
    KEY_WORLDS,
    KEY_TIMING,
    KEY_SIZES,
    KEY_GRID,
    KEY_SEED,
    KEY_NO_TIMING,
    KEY_TIMEOUT,
    KEY_COMPILE_TIMEOUT,
    KEY_SANDBOX,
    KEY_JSON,
    KEY_KEEP,
    KEY_NO_CACHE,
    KEY_DEBUG,
    KEY_DEBUG_TOOL,
    KEY_PROBLEMS,
    KEY_SAMPLES,
    KEY_SHARD,
    KEY_REJUDGE,
    KEY_NO_SAVE,
    KEY_DRY_RUN
};

static const struct argp_option table[] = {
    {0, 0, 0, 0, "What is judged:", 1},
    {"problem", 'p', "PROBLEM", 0,
     "number or name of the problem (default: the number that the name of the file, or of a "
     "sample's folder, begins with)",
     0},
    {"problems", KEY_PROBLEMS, "LIST", 0,
     "of a folder: only these, by numbers, ranges, names and categories, such as 1-20,31,tensor",
     0},
    {"samples", KEY_SAMPLES, "LIST", 0, "of a folder: only these of each problem, such as 0-4,7",
     0},
    {"shard", KEY_SHARD, "I/N", 0,
     "of a folder: only part I of N, while other calls, here or elsewhere, judge the others", 0},
    {"ranks", 'n', "P", 0, "number of ranks (default 2)", 0},
    {"device", KEY_DEVICE, "NAME", 0, "cuda or cpu (default: cuda where there is a GPU)", 0},
    {"gpus", KEY_GPUS, "LIST", 0, "which GPUs, by rank, such as 0,1 or 0-3 (default: the first)",
     0},
    {"worlds", KEY_WORLDS, "K", 0,
     "of folders and workers: K worlds side by side (default: as many as --gpus has GPUs for; 1 on "
     "the CPU)",
     0},
    {"sizes", KEY_SIZES, "LIST", 0,
     "names or classes of sizes, with commas, or all (default: all on GPUs, tiny on the CPU)", 0},
    {"grid", KEY_GRID, "SHAPE", 0, "one shape of the grid only, such as cp1xtp2", 0},
    {0, 0, 0, 0, "How:", 2},
    {"seed", KEY_SEED, "N", 0, "draw the same inputs each time (default: others)", 0},
    {"no-timing", KEY_NO_TIMING, 0, 0, "only check whether it is right; a later call times what is",
     0},
    {"timing", KEY_TIMING, "HOW", 0,
     "several worlds time in 'turns', or 'apart', each at its own time (default: apart where each "
     "has GPUs and three cores a rank of its own)",
     0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0,
     "limit of each step of the attempt (default 20; on the CPU more for larger sizes)", 0},
    {"compile-timeout", KEY_COMPILE_TIMEOUT, "SECONDS", 0, "limit of compiling (default 120)", 0},
    {"sandbox", KEY_SANDBOX, "LEVEL", 0,
     "full, restricted or none (default: the strongest that works here)", 0},
    {"no-cache", KEY_NO_CACHE, 0, 0, "compile anew", 0},
    {"debug", KEY_DEBUG, "RANK", 0,
     "run that rank under NVIDIA's compute-sanitizer: on GPUs, untimed and without a sandbox", 0},
    {"debug-tool", KEY_DEBUG_TOOL, "TOOL", 0,
     "memcheck (default), racecheck, synccheck or initcheck", 0},
    {"rejudge", KEY_REJUDGE, "LIST", 0,
     "of a folder: judge again what has such a verdict, id or PROBLEM/SAMPLE, such as "
     "TIMEOUT,13/4, "
     "or all",
     0},
    {"dry-run", KEY_DRY_RUN, 0, 0,
     "of a folder: only say what would be judged, and about how long it would take", 0},
    {0, 0, 0, 0, "What comes out:", 3},
    {"json", KEY_JSON, 0, 0, "print the records on standard output", 0},
    {"output", 'o', "FILE.jsonl", 0,
     "append the records to a file (a folder's default: DIR/results/HOST-DEVICE-Pn.jsonl)", 0},
    {"no-save", KEY_NO_SAVE, 0, 0, "of a folder: store no records", 0},
    {"keep", KEY_KEEP, "DIR", 0,
     "keep all in DIR, which must be new or empty: source, logs, what the attempt printed on each "
     "rank and what was built",
     0},
    {0},
};

static double parse_seconds(struct argp_state *state, const char *option, const char *text)
{
    char *end = NULL;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds > 0 && seconds <= 86400))
        argp_error(state, "%s wants seconds from above 0 to 86400, not '%s'", option, text);
    return seconds;
}

static int parse_world(struct argp_state *state, const char *text)
{
    char *end = NULL;
    long world = strtol(text, &end, 10);
    if (end == text || *end != '\0' || world < 1 || world > PKB_MAX_WORLD)
        argp_error(state, "-n wants a number of ranks from 1 to %d, not '%s'", PKB_MAX_WORLD, text);
    return (int)world;
}

static int parse_worlds(struct argp_state *state, const char *text)
{
    char *end = NULL;
    long worlds = strtol(text, &end, 10);
    if (end == text || *end != '\0' || worlds < 1 || worlds > PKB_MAX_WORLD)
        argp_error(state, "--worlds wants a number from 1 to %d, not '%s'", PKB_MAX_WORLD, text);
    return (int)worlds;
}

static const char *parse_timing(struct argp_state *state, const char *text)
{
    if (strcmp(text, "turns") != 0 && strcmp(text, "apart") != 0)
        argp_error(state, "--timing is turns or apart, not '%s'", text);
    return text;
}

static int parse_rank(struct argp_state *state, const char *text)
{
    char *end = NULL;
    long rank = strtol(text, &end, 10);
    if (end == text || *end != '\0' || rank < 0 || rank >= PKB_MAX_WORLD)
        argp_error(state, "--debug wants the number of a rank, from 0, not '%s'", text);
    return (int)rank;
}

static uint64_t parse_seed(struct argp_state *state, const char *text)
{
    char *end = NULL;
    errno = 0;
    unsigned long long seed = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || text[0] == '-' || seed > UINT64_C(1) << 53)
        argp_error(state, "--seed wants a whole number from 0 to 2^53, not '%s'", text);
    return seed;
}

static error_t parse_text(int key, char *value, pkb_eval_options *options)
{
    switch (key) {
    case 'p':
        options->problem = value;
        return 0;
    case KEY_DEVICE:
        options->device = value;
        return 0;
    case KEY_GPUS:
        options->gpus = value;
        return 0;
    case KEY_SIZES:
        options->sizes = value;
        return 0;
    case KEY_GRID:
        options->grid = value;
        return 0;
    case KEY_PROBLEMS:
        options->problems = value;
        return 0;
    case KEY_SAMPLES:
        options->samples = value;
        return 0;
    case KEY_SHARD:
        options->shard = value;
        return 0;
    case KEY_REJUDGE:
        options->rejudge = value;
        return 0;
    case KEY_SANDBOX:
        options->sandbox = value;
        return 0;
    case 'o':
        options->output = value;
        return 0;
    case KEY_KEEP:
        options->keep = value;
        return 0;
    case KEY_DEBUG_TOOL:
        options->debug_tool = value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    pkb_eval_options *options = state->input;
    switch (key) {
    case 'n':
        options->world = parse_world(state, value);
        return 0;
    case KEY_WORLDS:
        options->worlds = parse_worlds(state, value);
        return 0;
    case KEY_TIMING:
        options->timing = parse_timing(state, value);
        return 0;
    case KEY_SEED:
        options->seed = parse_seed(state, value);
        options->has_seed = true;
        return 0;
    case KEY_TIMEOUT:
        options->timeout_s = parse_seconds(state, "--timeout", value);
        options->has_timeout = true;
        return 0;
    case KEY_COMPILE_TIMEOUT:
        options->compile_timeout_s = parse_seconds(state, "--compile-timeout", value);
        return 0;
    case KEY_DEBUG:
        options->debug_rank = parse_rank(state, value);
        options->has_debug = true;
        return 0;
    case KEY_NO_TIMING:
        options->is_timed = false;
        return 0;
    case KEY_NO_CACHE:
        options->uses_cache = false;
        return 0;
    case KEY_JSON:
        options->wants_json = true;
        return 0;
    case KEY_DRY_RUN:
        options->is_dry = true;
        return 0;
    case KEY_NO_SAVE:
        options->saves = false;
        return 0;
    case ARGP_KEY_ARG:
        if (options->file != NULL)
            argp_error(state, "one file or folder at a time, not '%s' as well", value);
        options->file = value;
        return 0;
    case ARGP_KEY_END:
        if (options->file == NULL)
            argp_error(state, "which file or folder? pkbench eval FILE.cu, or pkbench eval DIR");
        if (strcmp(options->file, "-") == 0)
            argp_error(state, "an attempt is a file: store it, or send it to pkbench worker");
        return 0;
    default:
        return parse_text(key, value, options);
    }
}

static pkb_eval_options default_options(void)
{
    return (pkb_eval_options){.world = 2,
                              .is_timed = true,
                              .uses_cache = true,
                              .saves = true,
                              .timeout_s = 20,
                              .compile_timeout_s = 120};
}

void pkb_eval_options_parse(pkb_eval_options *out, int argc, char **argv)
{
    static const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .args_doc = "FILE.cu\nDIR",
        .doc = "Judges an attempt, or a folder of them: is it right, and how fast is it?\v"
               "A folder holds samples/PROBLEM/K.cu, PROBLEM.cu or PROBLEM/*.cu; the first three "
               "digits decide the problem. What was judged before is not judged again, so a "
               "call that was ended goes on when it is repeated.\n\n"
               "The exit status is 0 if the attempt is CORRECT and 1 if it is not, and of a folder "
               "0 if every attempt has a verdict and 6 if some have none yet; 2 tells of bad "
               "usage, 3 that something of this machine failed (see pkbench doctor), 5 that the "
               "record could not be stored, 130 that it was interrupted."};

    *out = default_options();
    pkb_arguments_parse(&argp, argc, argv, out);
}

static error_t parse_worker_option(int key, char *value, struct argp_state *state)
{
    switch (key) {
    case ARGP_KEY_ARG:
        argp_error(state, "requests come on standard input, not as '%s'", value);
        return 0;
    case ARGP_KEY_END:
        return 0;
    default:
        return parse_option(key, value, state);
    }
}

/* The rows of the table that concern a worker: no folder, no file, no person who looks. */
static void choose_worker_options(struct argp_option *out)
{
    static const int others[] = {'p',         KEY_PROBLEMS,   KEY_SAMPLES, KEY_SHARD,
                                 KEY_DEBUG,   KEY_DEBUG_TOOL, KEY_JSON,    KEY_KEEP,
                                 KEY_REJUDGE, KEY_DRY_RUN,    KEY_NO_SAVE, KEY_GRID};
    size_t count = 0;

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        bool is_other = false;
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
            is_other |= table[i].key == others[k];
        if (!is_other)
            out[count++] = table[i];
    }
}

void pkb_worker_options_parse(pkb_eval_options *out, int argc, char **argv)
{
    static struct argp_option options[sizeof table / sizeof table[0]];
    static const struct argp argp = {
        .options = options,
        .parser = parse_worker_option,
        .doc =
            "Judges attempts for a program: a request a line of JSON on standard input, a record "
            "a line on standard output (docs/worker.md).\v"
            "The options are defaults for requests that do not say otherwise. The worker ends "
            "with standard input, when all is answered, with status 0; with its reader (5), or "
            "by a signal (130)."};

    choose_worker_options(options);
    *out = default_options();
    pkb_arguments_parse(&argp, argc, argv, out);
}

pkb_code pkb_eval_options_check(pkb_eval_options *options, bool has_gpu, pkb_error *err)
{
    if (options->device == NULL)
        options->device = has_gpu ? "cuda" : "cpu";
    const bool is_cuda = strcmp(options->device, "cuda") == 0;
    if (options->output != NULL && strcmp(options->output, "-") == 0)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "-o takes a file, from which a run can go on; --json prints records, "
                             "and ./- is a file called so");
    if (is_cuda && !has_gpu)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "no GPU found; use --device cpu");
    if (!is_cuda && strcmp(options->device, "cpu") != 0)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "there is no device '%s'; --device takes cuda or cpu",
                             options->device);
    if (!is_cuda && options->gpus != NULL)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "--gpus %s goes with --device cuda: the CPU device has no GPUs",
                             options->gpus);
    if (options->sizes == NULL)
        options->sizes = is_cuda ? "all" : "tiny";
    return pkb_debug_check(options, is_cuda, err);
}
