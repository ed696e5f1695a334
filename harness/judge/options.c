/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of the judge; see options.h.
 */
#include "harness/judge/options.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "harness/memory/layout.h"

enum {
    KEY_WORK = 'w',
    KEY_PYTHON = 'p',
    KEY_DEVICE = 'd',
    KEY_GPUS = 'g',
    KEY_CUDART = 'c',
    KEY_ROOT = 'r',
    KEY_TIMEOUT = 't'
};

static const struct argp_option table[] = {
    {"work", KEY_WORK, "DIR", 0, "the evaluator's work directory", 0},
    {"python", KEY_PYTHON, "FILE", 0, "interpreter of the runner (default python3)", 0},
    {"device", KEY_DEVICE, "NAME", 0, "cpu (default) or cuda", 0},
    {"gpus", KEY_GPUS, "LIST", 0, "GPUs by rank, such as 0,2-3 (default: the first ones)", 0},
    {"cudart", KEY_CUDART, "FILE", 0, "libcudart.so.13 of the toolkit; with cuda", 0},
    {"root", KEY_ROOT, "DIR", 0, "the project's root", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0, "limit of each step of an attempt (default 20)", 0},
    {0},
};

static error_t parse_seconds(const char *text, uint64_t *out_ns)
{
    char *end = NULL;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds > 0.0 && seconds < 1e6))
        return EINVAL;
    *out_ns = (uint64_t)(seconds * 1e9);
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    pkb_judge_options *options = state->input;
    switch (key) {
    case KEY_WORK:
        options->work = value;
        return 0;
    case KEY_PYTHON:
        options->python = value;
        return 0;
    case KEY_DEVICE:
        options->device = value;
        return 0;
    case KEY_GPUS:
        options->gpus = value;
        return 0;
    case KEY_CUDART:
        options->cudart = value;
        return 0;
    case KEY_ROOT:
        options->root = value;
        return 0;
    case KEY_TIMEOUT:
        if (parse_seconds(value, &options->timeout_ns) != 0)
            argp_error(state, "--timeout wants seconds, not '%s'", value);
        return 0;
    case ARGP_KEY_END:
        if (options->work == NULL || options->root == NULL)
            argp_error(state, "--work and --root are required");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static pkb_code parse_place(const char *name, uint32_t limit, uint32_t *out, pkb_error *err)
{
    char *end = NULL;
    const char *text = getenv(name);
    unsigned long value = text == NULL ? limit + 1UL : strtoul(text, &end, 10);
    if (text == NULL || end == text || *end != '\0' || value > limit)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "%s must be set: start the judge with mpirun",
                             name);
    *out = (uint32_t)value;
    return PKB_OK;
}

static pkb_code check_device(const pkb_judge_options *options, pkb_error *err)
{
    if (strcmp(options->device, "cpu") == 0)
        return PKB_OK;
    if (strcmp(options->device, "cuda") != 0)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "there is no device '%s', only cpu and cuda",
                             options->device);
    if (options->cudart == NULL)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "--device cuda needs --cudart");
    return PKB_OK;
}

pkb_code pkb_judge_options_parse(pkb_judge_options *out, int argc, char **argv, pkb_error *err)
{
    static const struct argp parser = {
        .options = table,
        .parser = parse_option,
        .doc = "The trusted process of one rank; pkbench starts it through mpirun.",
    };
    pkb_judge_options options = {
        .python = "python3", .device = "cpu", .timeout_ns = 20 * PKB_NS_PER_S};
    pkb_code rc = PKB_OK;

    argp_parse(&parser, argc, argv, 0, NULL, &options);
    rc = parse_place("OMPI_COMM_WORLD_SIZE", PKB_MAX_RANKS, &options.world, err);
    if (rc == PKB_OK)
        rc = parse_place("OMPI_COMM_WORLD_RANK", PKB_MAX_RANKS - 1, &options.rank, err);
    if (rc == PKB_OK && options.rank >= options.world)
        rc = pkb_error_set(err, PKB_ERR_USAGE, 0, "rank %u is not below the world's size %u",
                           options.rank, options.world);
    if (rc == PKB_OK)
        rc = check_device(&options, err);
    if (rc == PKB_OK)
        *out = options;
    return rc;
}
