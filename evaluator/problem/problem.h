/* SPDX-License-Identifier: Apache-2.0
 *
 * One problem as its file describes it. Expressions stay text: only Python evaluates them.
 */
#ifndef PKB_EVALUATOR_PROBLEM_H
#define PKB_EVALUATOR_PROBLEM_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "evaluator/problem/catalogue.h"

enum { PKB_PROBLEM_ARGUMENTS = 48, PKB_PROBLEM_DIMS = 48, PKB_PROBLEM_BYTES = 1 << 20 };

/* What a dtype is called in C, and the CUDA header that declares it (NULL: none needed). */
typedef struct pkb_c_type {
    const char *dtype, *c_name, *header;
} pkb_c_type;

typedef struct pkb_problem_argument {
    const char *name, *role;
    const pkb_c_type *type;
    const cJSON *json;
} pkb_problem_argument;

/* All strings are borrowed from `json`, which the problem owns. */
typedef struct pkb_problem {
    cJSON *json;
    char *path;
    const char *full_name;           /* "013_gemm_allreduce" */
    char sha256[PKB_HASH_HEX_BYTES]; /* of its two files; "" until pkb_problem_hash */
    const char *title, *category, *statement;
    pkb_problem_argument arguments[PKB_PROBLEM_ARGUMENTS];
    size_t argument_count;
    const char *dims[PKB_PROBLEM_DIMS]; /* those of the sizes, then the derived ones */
    size_t dim_count;
} pkb_problem;

/* `name` is a name of the catalogue. The caller frees with pkb_problem_free. */
pkb_code pkb_problem_load(pkb_problem **out, const pkb_catalogue *catalogue, const char *name,
                          pkb_error *err);
/* Hashes what defines it: its file and its reference. */
pkb_code pkb_problem_hash(pkb_problem *problem, pkb_error *err);
/* From text, for tests. */
pkb_code pkb_problem_parse(pkb_problem **out, const char *text, const char *name, pkb_error *err);
void pkb_problem_free(pkb_problem *problem);

/* Is it a tensor on the device (in, out, inout), not a scalar or a host array? */
bool pkb_problem_is_tensor(const pkb_problem_argument *argument);
/* May the attempt write it (out, inout)? */
bool pkb_problem_is_output(const pkb_problem_argument *argument);

/* Appends "const __nv_bfloat16 *A" or "int64_t root". */
void pkb_problem_declare(pkb_buf *out, const pkb_problem_argument *argument);

#endif
