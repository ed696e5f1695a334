/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of `pkbench eval`.
 */
#ifndef PKB_EVALUATOR_OPTIONS_H
#define PKB_EVALUATOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* What an option is for, as a set. */
typedef enum pkb_option_scope {
    PKB_SCOPE_FILE = 1,   /* eval FILE.cu */
    PKB_SCOPE_FOLDER = 2, /* eval DIR */
    PKB_SCOPE_WORKER = 4
} pkb_option_scope;

typedef struct pkb_eval_options {
    uint64_t given;   /* which rows of the table, a bit each */
    const char *file; /* or a folder */
    const char *problem;
    /* of a folder; NULL = all */
    const char *problems, *samples, *shard;
    const char *rejudge; /* NULL = nothing */
    bool saves, is_dry;
    int world;
    const char *device;  /* NULL = choose */
    const char *gpus;    /* NULL = the first ones */
    int worlds;          /* of a folder, side by side; 0 = choose */
    const char *timing;  /* of these: "turns" or "apart"; NULL = choose */
    bool has_neighbours; /* there may be other worlds while this one times */
    const char *sizes, *grid;
    bool has_seed, is_timed, wants_json, uses_cache;
    uint64_t seed;
    double timeout_s, compile_timeout_s;
    bool has_timeout;          /* asked for, so it is meant literally on every device */
    const char *sandbox;       /* NULL = the strongest that works */
    const char *output, *keep; /* NULL = none */
    bool has_debug;            /* rank debug_rank runs under compute-sanitizer */
    int debug_rank;
    const char *debug_tool; /* NULL = choose */
} pkb_eval_options;

/* Ranks that a world may have. */
enum { PKB_MAX_WORLD = 64 };

/* Bad options end the program with status 2 (argp). */
void pkb_eval_options_parse(pkb_eval_options *out, int argc, char **argv);

/* Those of `pkbench worker`, which are defaults for its requests; `file` stays NULL. */
void pkb_worker_options_parse(pkb_eval_options *out, int argc, char **argv);

/* PKB_ERR_USAGE names an option that was given and is not for that. */
pkb_code pkb_eval_options_require(const pkb_eval_options *options, pkb_option_scope scope,
                                  pkb_error *err);

/* Chooses the device and says what cannot be: PKB_ERR_USAGE with the remedy. */
pkb_code pkb_eval_options_check(pkb_eval_options *options, bool has_gpu, pkb_error *err);

#endif
