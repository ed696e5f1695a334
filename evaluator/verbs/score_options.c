/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of verbs on records; see score_options.h.
 */
#include "evaluator/verbs/score_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator/score/score.h"

enum {
    KEY_JSON = PKB_SCORE_KEY_FIRST,
    KEY_RUN,
    KEY_DEVICE,
    KEY_WORLD,
    KEY_PROBLEMS,
    KEY_SAMPLES,
    KEY_MIX,
    KEY_POOL,
    KEY_SEED
};

enum { MOST_SAMPLES = 1000000, MOST_RANKS = 1024 };

void pkb_score_options_init(pkb_score_options *options)
{
    *options = (pkb_score_options){.seed = PKB_SCORE_SEED};
}

void pkb_score_options_clear(pkb_score_options *options)
{
    free(options->paths);
    options->paths = NULL;
    options->path_count = 0;
}

static unsigned long long parse_number(const char *option, const char *value,
                                       unsigned long long least, unsigned long long most,
                                       struct argp_state *state)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 || number < least ||
        number > most)
        argp_error(state, "--%s needs a whole number from %llu to %llu, not '%s'", option, least,
                   most, value);
    return number;
}

static void add_path(pkb_score_options *options, const char *path, struct argp_state *state)
{
    const char **larger =
        reallocarray(options->paths, options->path_count + 1, sizeof *options->paths);
    if (larger == NULL) {
        argp_failure(state, 3, ENOMEM, "no memory for the arguments");
        return;
    }
    options->paths = larger;
    larger[options->path_count++] = path;
}

error_t pkb_score_options_parse(pkb_score_options *options, int key, char *value,
                                struct argp_state *state)
{
    pkb_runset_options *runset = &options->runset;

    switch (key) {
    case KEY_JSON:
        options->wants_json = true;
        return 0;
    case KEY_RUN:
        runset->run = value;
        return 0;
    case KEY_DEVICE:
        if (strcmp(value, "cuda") != 0 && strcmp(value, "cpu") != 0)
            argp_error(state, "there is no device '%s'; --device takes cuda or cpu", value);
        runset->device = value;
        return 0;
    case KEY_WORLD:
        parse_number("world", value, 1, MOST_RANKS, state);
        runset->world = value;
        return 0;
    case KEY_PROBLEMS:
        runset->problems = value;
        return 0;
    case KEY_SAMPLES:
        runset->samples = (size_t)parse_number("samples", value, 1, MOST_SAMPLES, state);
        return 0;
    case KEY_MIX:
        runset->mixes = true;
        return 0;
    case KEY_POOL:
        runset->pools = true;
        return 0;
    case KEY_SEED:
        options->seed = parse_number("seed", value, 0, 1ull << 53, state);
        return 0;
    case ARGP_KEY_ARG:
        add_path(options, value, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}
