/* SPDX-License-Identifier: Apache-2.0
 *
 * The one table of the options of `eval` and `worker`; see options.h. Help, what is taken and what
 * goes with what are drawn from it.
 */
#include "evaluator/attempt/options.h"

#include <argp.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator/attempt/debug.h"
#include "evaluator/console/arguments.h"

/* ---- values ---- */

static double parse_seconds(struct argp_state *state, const char *option, const char *text)
{
    char *end = NULL;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds > 0 && seconds <= 86400))
        argp_error(state, "%s wants seconds from above 0 to 86400, not '%s'", option, text);
    return seconds;
}

/* False: it is no whole number from `least` to `most`. */
static bool parse_number(int *out, const char *text, int least, int most)
{
    char *end = NULL;
    const long number = strtol(text, &end, 10);

    *out = (int)number;
    return end != text && *end == '\0' && number >= least && number <= most;
}

static void take_world(pkb_eval_options *options, const char *text, struct argp_state *state)
{
    if (!parse_number(&options->world, text, 1, PKB_MAX_WORLD))
        argp_error(state, "-n wants a number of ranks from 1 to %d, not '%s'", PKB_MAX_WORLD, text);
}

static void take_worlds(pkb_eval_options *options, const char *text, struct argp_state *state)
{
    if (!parse_number(&options->worlds, text, 1, PKB_MAX_WORLD))
        argp_error(state, "--worlds wants a number from 1 to %d, not '%s'", PKB_MAX_WORLD, text);
}

static void take_timing(pkb_eval_options *options, const char *text, struct argp_state *state)
{
    if (strcmp(text, "turns") != 0 && strcmp(text, "apart") != 0)
        argp_error(state, "--timing is turns or apart, not '%s'", text);
    options->timing = text;
}

static void take_debug(pkb_eval_options *options, const char *text, struct argp_state *state)
{
    if (!parse_number(&options->debug_rank, text, 0, PKB_MAX_WORLD - 1))
        argp_error(state, "--debug wants the number of a rank, from 0, not '%s'", text);
    options->has_debug = true;
}

static void take_seed(pkb_eval_options *options, const char *text, struct argp_state *state)
{
    char *end = NULL;
    errno = 0;
    unsigned long long seed = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || text[0] == '-' || seed > UINT64_C(1) << 53)
        argp_error(state, "--seed wants a whole number from 0 to 2^53, not '%s'", text);
    options->seed = seed;
    options->has_seed = true;
}

static void take_timeout(pkb_eval_options *options, const char *text, struct argp_state *state)
{
    options->timeout_s = parse_seconds(state, "--timeout", text);
    options->has_timeout = true;
}

static void take_compile_timeout(pkb_eval_options *options, const char *text,
                                 struct argp_state *state)
{
    options->compile_timeout_s = parse_seconds(state, "--compile-timeout", text);
}

/* ---- the table ---- */

enum { FILES = PKB_SCOPE_FILE, FOLDERS = PKB_SCOPE_FOLDER, WORKERS = PKB_SCOPE_WORKER };
enum { EVAL = FILES | FOLDERS, MANY = FOLDERS | WORKERS, ALL = FILES | FOLDERS | WORKERS };

/* What it does, by the first of these that is there: calls `take`, or stores its text, true or
 * false in a field. */
typedef struct row {
    const char *name; /* NULL = a title, `doc` */
    int letter;       /* 0 = it has none */
    unsigned scopes;
    const char *value; /* NULL = it takes none */
    void (*take)(pkb_eval_options *options, const char *text, struct argp_state *state);
    enum { TAKEN, TEXT, TRUE, FALSE } kind;
    size_t field;
    const char *doc;
    const char *instead; /* where it does not go; may be NULL */
} row;

#define TITLE(text)                  \
    {                                \
        .scopes = ALL, .doc = (text) \
    }
#define TAKES(function) .take = (function)
#define STORES(how, name) .kind = (how), .field = offsetof(pkb_eval_options, name)

static const row table[] = {
    TITLE("What is judged:"),
    {"problem", 'p', FILES, "PROBLEM", STORES(TEXT, problem),
     .doc = "number or name of the problem (default: the number that the name of the file, or of a "
            "sample's folder, begins with)",
     .instead =
         "the names of its files say which problem they are for; --problems picks some of them"},
    {"problems", 0, FOLDERS, "LIST", STORES(TEXT, problems),
     .doc = "of a folder: only these, by numbers, ranges, names and categories, such as "
            "1-20,31,tensor"},
    {"samples", 0, FOLDERS, "LIST", STORES(TEXT, samples),
     .doc = "of a folder: only these of each problem, such as 0-4,7"},
    {"shard", 0, FOLDERS, "I/N", STORES(TEXT, shard),
     .doc =
         "of a folder: only part I of N, while other calls, here or elsewhere, judge the others"},
    {"ranks", 'n', ALL, "P", TAKES(take_world), .doc = "number of ranks (default 2)"},
    {"device", 0, ALL, "NAME", STORES(TEXT, device),
     .doc = "cuda or cpu (default: cuda where there is a GPU)"},
    {"gpus", 0, ALL, "LIST", STORES(TEXT, gpus),
     .doc = "which GPUs, by rank, such as 0,1 or 0-3 (default: the first)"},
    {"worlds", 0, MANY, "K", TAKES(take_worlds),
     .doc = "of folders and workers: K worlds side by side (default: as many as --gpus has GPUs "
            "for; 1 on "
            "the CPU)"},
    {"sizes", 0, ALL, "LIST", STORES(TEXT, sizes),
     .doc =
         "names or classes of sizes, with commas, or all (default: all on GPUs, tiny on the CPU)"},
    {"grid", 0, EVAL, "SHAPE", STORES(TEXT, grid),
     .doc = "one shape of the grid only, such as cp1xtp2"},
    TITLE("How:"),
    {"seed", 0, ALL, "N", TAKES(take_seed),
     .doc = "draw the same inputs each time (default: others)"},
    {"no-timing", 0, ALL, NULL, STORES(FALSE, is_timed),
     .doc = "only check whether it is right (of a folder, a later call times what is)"},
    {"timing", 0, MANY, "HOW", TAKES(take_timing),
     .doc = "several worlds time in 'turns', or 'apart', each at its own time (default: apart "
            "where each has GPUs and three cores a rank of its own)"},
    {"timeout", 0, ALL, "SECONDS", TAKES(take_timeout),
     .doc = "limit of each step of the attempt (default 20; on the CPU more for larger sizes)"},
    {"compile-timeout", 0, ALL, "SECONDS", TAKES(take_compile_timeout),
     .doc = "limit of compiling (default 120)"},
    {"sandbox", 0, ALL, "LEVEL", STORES(TEXT, sandbox),
     .doc = "full, restricted or none (default: the strongest that works here)"},
    {"no-cache", 0, ALL, NULL, STORES(FALSE, uses_cache), .doc = "compile anew"},
    {"debug", 0, FILES, "RANK", TAKES(take_debug),
     .doc =
         "run that rank under NVIDIA's compute-sanitizer: on GPUs, untimed and without a sandbox",
     .instead = "it looks into one attempt: name a file in it"},
    {"debug-tool", 0, FILES, "TOOL", STORES(TEXT, debug_tool),
     .doc = "memcheck (default), racecheck, synccheck or initcheck",
     .instead = "--debug looks into one attempt"},
    {"rejudge", 0, FOLDERS, "LIST", STORES(TEXT, rejudge),
     .doc = "of a folder: judge again what has such a verdict, id or PROBLEM/SAMPLE, such as "
            "TIMEOUT,13/4, or all"},
    {"dry-run", 0, FOLDERS, NULL, STORES(TRUE, is_dry),
     .doc = "of a folder: only say what would be judged, and about how long it would take"},
    TITLE("What comes out:"),
    {"json", 0, EVAL, NULL, STORES(TRUE, wants_json),
     .doc = "print the records on standard output"},
    {"output", 'o', ALL, "FILE.jsonl", STORES(TEXT, output),
     .doc = "append the records to a file (default: none, and of a folder "
            "DIR/results/HOST-DEVICE-Pn.jsonl)"},
    {"no-save", 0, FOLDERS, NULL, STORES(FALSE, saves), .doc = "of a folder: store no records"},
    {"keep", 0, EVAL, "DIR", STORES(TEXT, keep),
     .doc = "keep all in DIR, which must be new or empty: source, logs, what the attempt printed "
            "on each "
            "rank and what was built"},
};
enum { ROWS = sizeof table / sizeof table[0] };
_Static_assert(ROWS <= 64, "a bit each in pkb_eval_options.given");

/* ---- what argp makes of it ---- */

enum { FIRST_KEY = 0x100 };

static int key_of(const row *it)
{
    return it->letter != 0 ? it->letter : FIRST_KEY + (int)(it - table);
}

static const row *find_row(int key)
{
    for (const row *it = table; it < table + ROWS; it++)
        if (it->name != NULL && key_of(it) == key)
            return it;
    return NULL;
}

/* The rows that concern one of those; `out` has room for all and an end. */
static void choose_options(struct argp_option out[ROWS + 1], unsigned scopes)
{
    int group = 0;

    for (const row *it = table; it < table + ROWS; it++)
        if (it->name == NULL) {
            group++;
            *out++ = (struct argp_option){.doc = it->doc, .group = group};
        } else if ((it->scopes & scopes) != 0) {
            *out++ = (struct argp_option){
                .name = it->name, .key = key_of(it), .arg = it->value, .doc = it->doc};
        }
    *out = (struct argp_option){0};
}

static void take(pkb_eval_options *options, const row *it, const char *text,
                 struct argp_state *state)
{
    char *field = (char *)options + it->field;

    options->given |= UINT64_C(1) << (it - table);
    if (it->take != NULL)
        it->take(options, text, state);
    else if (it->kind == TEXT)
        memcpy(field, &text, sizeof text);
    else
        *(bool *)field = it->kind == TRUE;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    const row *it = find_row(key);

    if (it == NULL)
        return ARGP_ERR_UNKNOWN;
    take(state->input, it, value, state);
    return 0;
}

static error_t parse_eval(int key, char *value, struct argp_state *state)
{
    pkb_eval_options *options = state->input;

    switch (key) {
    case ARGP_KEY_ARG:
        if (options->file != NULL)
            argp_error(state, "one file or folder at a time, not '%s' as well", value);
        options->file = value;
        return 0;
    case ARGP_KEY_END:
        if (options->file == NULL)
            argp_error(state, "which file or folder? pkbench eval FILE.cu, or pkbench eval DIR");
        else if (strcmp(options->file, "-") == 0)
            argp_error(state, "an attempt is a file: store it, or send it to pkbench worker");
        return 0;
    default:
        return parse_option(key, value, state);
    }
}

static error_t parse_worker(int key, char *value, struct argp_state *state)
{
    if (key == ARGP_KEY_ARG)
        argp_error(state, "requests come on standard input, not as '%s'", value);
    return key == ARGP_KEY_ARG ? 0 : parse_option(key, value, state);
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
    static struct argp_option options[ROWS + 1];
    static const struct argp argp = {
        .options = options,
        .parser = parse_eval,
        .args_doc = "FILE.cu\nDIR",
        .doc = "Judges an attempt, or a folder of them: is it right, and how fast is it?\v"
               "A folder holds samples/PROBLEM/K.cu, PROBLEM.cu or PROBLEM/*.cu; the first three "
               "digits decide the problem. What was judged before is not judged again, so a "
               "call that was ended goes on when it is repeated.\n\n"
               "The exit status is 0 if the attempt is CORRECT and 1 if it is not, and of a folder "
               "0 if every attempt has a verdict and 6 if some have none yet; 2 tells of bad "
               "usage, 3 that something of this machine failed (see pkbench doctor), 5 that the "
               "record could not be stored, 130 that it was interrupted."};

    choose_options(options, EVAL);
    *out = default_options();
    pkb_arguments_parse(&argp, argc, argv, out);
}

void pkb_worker_options_parse(pkb_eval_options *out, int argc, char **argv)
{
    static struct argp_option options[ROWS + 1];
    static const struct argp argp = {
        .options = options,
        .parser = parse_worker,
        .doc =
            "Judges attempts for a program: a request a line of JSON on standard input, a record "
            "a line on standard output (docs/worker.md).\v"
            "The options are defaults for requests that do not say otherwise. The worker ends "
            "with standard input, when all is answered, with status 0; with its reader (5), or "
            "by a signal (130)."};

    choose_options(options, WORKERS);
    *out = default_options();
    pkb_arguments_parse(&argp, argc, argv, out);
}

pkb_code pkb_eval_options_require(const pkb_eval_options *options, pkb_option_scope scope,
                                  pkb_error *err)
{
    for (const row *it = table; it < table + ROWS; it++) {
        if ((options->given >> (it - table) & 1) == 0 || (it->scopes & scope) != 0)
            continue;
        if (scope == PKB_SCOPE_FILE)
            return pkb_error_set(err, PKB_ERR_USAGE, 0, "--%s goes with a folder, and %s is none",
                                 it->name, options->file);
        return pkb_error_set(
            err, PKB_ERR_USAGE, 0, "--%s goes with a file, and %s is a directory%s%s", it->name,
            options->file, it->instead != NULL ? ": " : "", it->instead != NULL ? it->instead : "");
    }
    return PKB_OK;
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
