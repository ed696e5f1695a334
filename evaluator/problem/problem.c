/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a problem file; see problem.h.
 */
#include "evaluator/problem/problem.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"

static const pkb_c_type types[] = {
    {"bf16", "__nv_bfloat16", "cuda_bf16.h"},
    {"f16", "__half", "cuda_fp16.h"},
    {"f32", "float", NULL},
    {"f64", "double", NULL},
    {"i8", "int8_t", NULL},
    {"u8", "uint8_t", NULL},
    {"i32", "int32_t", NULL},
    {"i64", "int64_t", NULL},
    {"bool", "uint8_t", NULL},
    {"e4m3", "__nv_fp8_e4m3", "cuda_fp8.h"},
    {"e5m2", "__nv_fp8_e5m2", "cuda_fp8.h"},
    {"c64", "float2", "cuda_runtime.h"},
};
static const char *const roles[] = {"in", "out", "inout", "scalar", "host"};

static bool is_among(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

static const pkb_c_type *find_type(const char *dtype)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(dtype, types[i].dtype) == 0)
            return &types[i];
    return NULL;
}

static bool is_scalar(const pkb_problem_argument *argument)
{
    return strcmp(argument->role, "scalar") == 0;
}

static pkb_code read_argument(pkb_problem *problem, const cJSON *json, pkb_error *err)
{
    const char *dtype = NULL;

    if (problem->argument_count == PKB_PROBLEM_ARGUMENTS)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "%s has more than %d arguments",
                             problem->full_name, PKB_PROBLEM_ARGUMENTS);
    pkb_problem_argument *argument = &problem->arguments[problem->argument_count];
    pkb_code rc = pkb_json_get_string(json, "name", &argument->name, err);
    if (rc == PKB_OK)
        rc = pkb_json_get_string(json, "role", &argument->role, err);
    if (rc == PKB_OK)
        rc = pkb_json_get_string(json, "dtype", &dtype, err);
    if (rc != PKB_OK)
        return rc;
    argument->type = find_type(dtype);
    argument->json = json;
    if (argument->type == NULL)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "%s: argument %s has the unknown dtype '%s'",
                             problem->full_name, argument->name, dtype);
    if (!is_among(argument->role, roles, sizeof roles / sizeof roles[0]))
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "%s: argument %s has the unknown role '%s'",
                             problem->full_name, argument->name, argument->role);
    problem->argument_count++;
    return PKB_OK;
}

static pkb_code add_dim(pkb_problem *problem, const char *name, pkb_error *err)
{
    if (is_among(name, problem->dims, problem->dim_count))
        return PKB_OK;
    if (problem->dim_count == PKB_PROBLEM_DIMS)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "%s has more than %d dims", problem->full_name,
                             PKB_PROBLEM_DIMS);
    problem->dims[problem->dim_count++] = name;
    return PKB_OK;
}

/* The names that an object holds, in its order. */
static pkb_code add_dims(pkb_problem *problem, const cJSON *from, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, from)
    {
        if (rc == PKB_OK && item->string != NULL)
            rc = add_dim(problem, item->string, err);
    }
    return rc;
}

static pkb_code read_dims(pkb_problem *problem, pkb_error *err)
{
    const cJSON *sizes = NULL, *values = NULL;
    pkb_code rc = pkb_json_get_array(problem->json, "sizes", &sizes, err);
    if (rc == PKB_OK)
        rc = pkb_json_get_object(cJSON_GetArrayItem(sizes, 0), "values", &values, err);
    if (rc == PKB_OK)
        rc = add_dims(problem, values, err);
    if (rc == PKB_OK)
        rc = add_dims(problem, cJSON_GetObjectItemCaseSensitive(problem->json, "dims"), err);
    return rc;
}

static pkb_code read_fields(pkb_problem *problem, pkb_error *err)
{
    const cJSON *list = NULL, *item = NULL;

    problem->title = pkb_json_string_or(problem->json, "title", problem->full_name);
    problem->category = pkb_json_string_or(problem->json, "category", "");
    problem->statement = pkb_json_string_or(problem->json, "statement", "");
    pkb_code rc = pkb_json_get_array(problem->json, "arguments", &list, err);
    cJSON_ArrayForEach(item, list)
    {
        if (rc != PKB_OK)
            break;
        rc = read_argument(problem, item, err);
    }
    return rc == PKB_OK ? read_dims(problem, err) : rc;
}

pkb_code pkb_problem_parse(pkb_problem **out, const char *text, const char *name, pkb_error *err)
{
    pkb_problem *problem = calloc(1, sizeof *problem);
    if (problem == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the problem %s", name);
    problem->full_name = name;

    pkb_error inner = {0};
    pkb_code rc = pkb_json_parse(&problem->json, text, strlen(text), name, &inner);
    if (rc == PKB_OK)
        rc = read_fields(problem, &inner);
    if (rc != PKB_OK) {
        pkb_error_set(err, rc, inner.detail, "problem %s: %s", name, inner.message);
        pkb_problem_free(problem);
        return rc;
    }
    *out = problem;
    return PKB_OK;
}

pkb_code pkb_problem_load(pkb_problem **out, const pkb_catalogue *catalogue, const char *name,
                          pkb_error *err)
{
    pkb_code rc = PKB_OK;
    char *text = NULL;
    size_t bytes = 0;
    pkb_buf path = {0};

    pkb_buf_printf(&path, "%s/%s.json", catalogue->directory, name);
    rc = pkb_buf_check(&path, "the problem's path", err);
    if (rc == PKB_OK)
        rc = pkb_fs_read(pkb_buf_text(&path), PKB_PROBLEM_BYTES, &text, &bytes, err);
    if (rc == PKB_OK)
        rc = pkb_problem_parse(out, text, name, err);
    if (rc == PKB_OK)
        (*out)->path = pkb_buf_take(&path);
    free(text);
    pkb_buf_clear(&path);
    return rc;
}

pkb_code pkb_problem_hash(pkb_problem *problem, pkb_error *err)
{
    pkb_hash *hash = NULL;
    pkb_buf reference = {0};
    const char *slash = strrchr(problem->path, '/');

    pkb_buf_printf(&reference, "%.*s/../references/%s.py", (int)(slash - problem->path),
                   problem->path, problem->full_name);
    pkb_code rc = pkb_buf_check(&reference, "the reference's path", err);
    if (rc == PKB_OK)
        rc = pkb_hash_create(&hash, err);
    if (rc == PKB_OK)
        rc = pkb_hash_add_file(hash, problem->path, err);
    if (rc == PKB_OK)
        rc = pkb_hash_add_file(hash, pkb_buf_text(&reference), err);
    if (rc == PKB_OK)
        rc = pkb_hash_finish(hash, problem->sha256, err);
    else
        pkb_hash_free(hash);
    pkb_buf_clear(&reference);
    return rc;
}

void pkb_problem_free(pkb_problem *problem)
{
    if (problem == NULL)
        return;
    cJSON_Delete(problem->json);
    free(problem->path);
    free(problem);
}

bool pkb_problem_is_tensor(const pkb_problem_argument *argument)
{
    return !is_scalar(argument) && strcmp(argument->role, "host") != 0;
}

bool pkb_problem_is_output(const pkb_problem_argument *argument)
{
    return strcmp(argument->role, "out") == 0 || strcmp(argument->role, "inout") == 0;
}

/* A scalar is 8 bytes like every field: double for the real types, int64_t for the others. */
static const char *scalar_type(const pkb_c_type *type)
{
    static const char *const reals[] = {"bf16", "f16", "f32", "f64", "e4m3", "e5m2"};
    return is_among(type->dtype, reals, sizeof reals / sizeof reals[0]) ? "double" : "int64_t";
}

void pkb_problem_declare(pkb_buf *out, const pkb_problem_argument *argument)
{
    if (is_scalar(argument)) {
        pkb_buf_printf(out, "%s %s", scalar_type(argument->type), argument->name);
        return;
    }
    bool is_host = strcmp(argument->role, "host") == 0;
    pkb_buf_printf(out, "%s%s *%s", pkb_problem_is_output(argument) ? "" : "const ",
                   is_host ? "int64_t" : argument->type->c_name, argument->name);
}
