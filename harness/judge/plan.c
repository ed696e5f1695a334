/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads plans. All numbers come resolved from Python; here they are only checked for their form.
 */
#include "harness/judge/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"

enum { PLAN_LIMIT_BYTES = 16 << 20 };

static pkb_code copy_name(char *out, size_t bytes, const char *text, pkb_error *err)
{
    size_t length = strlen(text);
    if (length >= bytes)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the plan's name '%.40s...' is too long",
                             text);
    memcpy(out, text, length + 1);
    return PKB_OK;
}

static pkb_code get_name(const cJSON *object, const char *key, char *out, size_t bytes,
                         pkb_error *err)
{
    const char *text = NULL;
    pkb_code rc = pkb_json_get_string(object, key, &text, err);
    return rc != PKB_OK ? rc : copy_name(out, bytes, text, err);
}

/* The list `key` of at most `limit` entries. */
static pkb_code get_list(const cJSON *object, const char *key, size_t limit, const cJSON **out,
                         pkb_error *err)
{
    pkb_code rc = pkb_json_get_array(object, key, out, err);
    if (rc == PKB_OK && (size_t)cJSON_GetArraySize(*out) > limit)
        rc = pkb_error_set(err, PKB_ERR_FORMAT, 0, "the plan's list '%s' has more than %zu entries",
                           key, limit);
    return rc;
}

/* A list with one entry for each rank. */
static pkb_code get_ranks(const cJSON *object, const char *key, uint32_t world, const cJSON **out,
                          pkb_error *err)
{
    pkb_code rc = get_list(object, key, world, out, err);
    if (rc == PKB_OK && (uint32_t)cJSON_GetArraySize(*out) != world)
        rc = pkb_error_set(err, PKB_ERR_FORMAT, 0, "the plan's '%s' must have one entry a rank",
                           key);
    return rc;
}

static pkb_code read_whole(const cJSON *number, uint64_t *out, pkb_error *err)
{
    if (!cJSON_IsNumber(number) || !(number->valuedouble >= 0.0) ||
        number->valuedouble > 9007199254740992.0)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "a length in the plan is no whole number");
    *out = (uint64_t)number->valuedouble;
    return PKB_OK;
}

static pkb_code read_shape(const cJSON *list, pkb_argument *argument, uint32_t rank, pkb_error *err)
{
    uint32_t axis = 0;
    uint64_t elements = 1;
    const cJSON *length = NULL;

    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > PKB_MAX_SHAPE)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the shape of '%s' is no list of at most %d",
                             argument->name, PKB_MAX_SHAPE);
    cJSON_ArrayForEach(length, list)
    {
        pkb_code rc = read_whole(length, &argument->shape[rank][axis], err);
        if (rc != PKB_OK)
            return rc;
        if (__builtin_mul_overflow(elements, argument->shape[rank][axis], &elements))
            return pkb_error_set(err, PKB_ERR_FORMAT, 0, "'%s' is too large", argument->name);
        axis++;
    }
    if (rank > 0 && axis != argument->shape_count)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "'%s' has another number of axes on rank %u",
                             argument->name, rank);
    argument->shape_count = axis;
    return PKB_OK;
}

static pkb_code read_presence(const cJSON *item, pkb_argument *argument, uint32_t world,
                              pkb_error *err)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(item, "present");
    if (list == NULL) {
        for (uint32_t rank = 0; rank < world; rank++)
            argument->present[rank] = true;
        return PKB_OK;
    }
    pkb_code rc = get_ranks(item, "present", world, &list, err);
    for (uint32_t rank = 0; rc == PKB_OK && rank < world; rank++)
        argument->present[rank] = cJSON_IsTrue(cJSON_GetArrayItem(list, (int)rank));
    return rc;
}

static pkb_code read_argument(const cJSON *item, pkb_argument *argument, uint32_t world,
                              pkb_error *err)
{
    const char *role = NULL, *dtype = NULL;
    const cJSON *shapes = NULL;
    pkb_code rc = PKB_OK;

    if ((rc = get_name(item, "name", argument->name, sizeof argument->name, err)) != PKB_OK ||
        (rc = pkb_json_get_string(item, "role", &role, err)) != PKB_OK ||
        (rc = pkb_role_parse(role, &argument->role, err)) != PKB_OK ||
        (rc = pkb_json_get_string(item, "dtype", &dtype, err)) != PKB_OK ||
        (rc = pkb_dtype_parse(dtype, &argument->dtype, err)) != PKB_OK ||
        (rc = read_presence(item, argument, world, err)) != PKB_OK)
        return rc;
    if (argument->role == PKB_ROLE_SCALAR)
        return PKB_OK;
    rc = get_ranks(item, "shape", world, &shapes, err);
    for (uint32_t rank = 0; rc == PKB_OK && rank < world; rank++)
        rc = read_shape(cJSON_GetArrayItem(shapes, (int)rank), argument, rank, err);
    return rc;
}

/* A bound is a finite number, 0 or more: never a silent default. */
static pkb_code get_bound(const cJSON *object, const char *key, const char *argument, double *out,
                          pkb_error *err)
{
    pkb_code rc = pkb_json_get_double(object, key, out, err);
    if (rc == PKB_OK && !(*out >= 0.0 && *out < 1e300))
        rc = pkb_error_set(err, PKB_ERR_FORMAT, 0, "tolerance '%s' of '%s' is no bound", key,
                           argument);
    return rc;
}

static pkb_code read_tolerance(const cJSON *item, const pkb_argument *argument, pkb_tolerance *out,
                               pkb_error *err)
{
    const cJSON *object = NULL;
    pkb_code rc = pkb_json_get_object(item, "tolerance", &object, err);
    if (rc == PKB_OK)
        rc = get_bound(object, "norm", argument->name, &out->norm, err);
    if (rc == PKB_OK)
        rc = get_bound(object, "block", argument->name, &out->block, err);
    if (rc == PKB_OK)
        rc = get_bound(object, "max", argument->name, &out->max, err);
    return rc;
}

static pkb_code read_rule(const cJSON *item, const pkb_plan_size *size,
                          const pkb_argument *argument, pkb_output_rule *rule, pkb_error *err)
{
    const cJSON *checks = NULL;
    const char *fallback = NULL;
    bool needs_tolerance = false;
    pkb_code rc = PKB_OK;

    if (!pkb_role_is_output(argument->role))
        return PKB_OK;
    if ((rc = pkb_json_get_object(item, "check", &checks, err)) != PKB_OK ||
        (rc = pkb_json_get_string(checks, "default", &fallback, err)) != PKB_OK)
        return rc;
    for (size_t f = 0; rc == PKB_OK && f < size->family_count; f++) {
        rc = pkb_check_parse(pkb_json_string_or(checks, size->families[f], fallback),
                             &rule->checks[f], err);
        needs_tolerance |= rule->checks[f] == PKB_CHECK_FLOAT;
    }
    if (rc == PKB_OK && needs_tolerance)
        rc = read_tolerance(item, argument, &rule->tolerance, err);
    return rc;
}

/* `count` names another argument, which may come later in the list. */
static pkb_code link_count(const cJSON *item, pkb_layout *layout, pkb_argument *argument,
                           pkb_error *err)
{
    const char *name = pkb_json_string_or(item, "count", "");
    if (name[0] == '\0')
        return PKB_OK;
    for (uint32_t i = 0; i < layout->argument_count; i++)
        if (strcmp(layout->arguments[i].name, name) == 0 && layout->arguments[i].dtype == PKB_I64) {
            argument->count_argument = i + 1;
            return PKB_OK;
        }
    return pkb_error_set(err, PKB_ERR_FORMAT, 0, "'%s' counts with '%s', which is no i64 argument",
                         argument->name, name);
}

static pkb_code read_arguments(const cJSON *item, pkb_plan_size *size, pkb_error *err)
{
    pkb_layout *layout = &size->layout;
    const cJSON *list = NULL, *argument = NULL;
    uint32_t i = 0;
    pkb_code rc = get_list(item, "arguments", PKB_MAX_ARGUMENTS, &list, err);

    if (rc != PKB_OK)
        return rc;
    layout->argument_count = (uint32_t)cJSON_GetArraySize(list);
    cJSON_ArrayForEach(argument, list)
    {
        rc = read_argument(argument, &layout->arguments[i], layout->world, err);
        if (rc == PKB_OK)
            rc = read_rule(argument, size, &layout->arguments[i], &size->rules[i], err);
        if (rc != PKB_OK)
            return rc;
        i++;
    }
    i = 0;
    cJSON_ArrayForEach(argument, list)
    {
        if ((rc = link_count(argument, layout, &layout->arguments[i++], err)) != PKB_OK)
            return rc;
    }
    return PKB_OK;
}

static pkb_code read_dims(const cJSON *item, pkb_layout *layout, pkb_error *err)
{
    const cJSON *list = NULL, *dim = NULL;
    uint32_t i = 0;
    pkb_code rc = get_list(item, "dims", PKB_MAX_DIMS, &list, err);

    if (rc != PKB_OK)
        return rc;
    layout->dim_count = (uint32_t)cJSON_GetArraySize(list);
    cJSON_ArrayForEach(dim, list)
    {
        const cJSON *values = NULL;
        if ((rc = get_name(dim, "name", layout->dim_names[i], PKB_NAME_BYTES, err)) != PKB_OK ||
            (rc = get_ranks(dim, "values", layout->world, &values, err)) != PKB_OK)
            return rc;
        for (uint32_t rank = 0; rank < layout->world; rank++) {
            const cJSON *value = cJSON_GetArrayItem(values, (int)rank);
            layout->dims[rank][i] = (int64_t)value->valuedouble;
        }
        layout->dim_drawn[i++] = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(dim, "drawn"));
    }
    return PKB_OK;
}

static pkb_code read_axes(const cJSON *item, pkb_layout *layout, pkb_error *err)
{
    const cJSON *list = NULL, *axis = NULL;
    uint64_t length = 0, ranks = 1;
    pkb_code rc = get_list(item, "axes", PKB_MAX_AXES, &list, err);

    if (rc != PKB_OK)
        return rc;
    cJSON_ArrayForEach(axis, list)
    {
        pkb_axis *out = &layout->axes[layout->axis_count++];
        if ((rc = get_name(axis, "name", out->name, sizeof out->name, err)) != PKB_OK ||
            (rc = pkb_json_get_u64(axis, "size", &length, err)) != PKB_OK)
            return rc;
        out->size = (uint32_t)length;
        ranks *= out->size;
    }
    if (layout->axis_count > 0 && ranks != layout->world)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the plan's grid has not one place a rank");
    return PKB_OK;
}

static pkb_code read_families(const cJSON *item, pkb_plan_size *size, pkb_error *err)
{
    const cJSON *list = NULL, *family = NULL;
    pkb_code rc = get_list(item, "families", PKB_MAX_FAMILIES, &list, err);

    if (rc != PKB_OK)
        return rc;
    cJSON_ArrayForEach(family, list)
    {
        if (!cJSON_IsString(family))
            return pkb_error_set(err, PKB_ERR_FORMAT, 0, "a family in the plan is no name");
        rc = copy_name(size->families[size->family_count++], PKB_NAME_BYTES, family->valuestring,
                       err);
        if (rc != PKB_OK)
            return rc;
    }
    if (size->family_count == 0)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the plan names no input family");
    return PKB_OK;
}

static pkb_code read_size(const cJSON *item, pkb_plan_size *size, uint32_t rank, uint32_t world,
                          pkb_error *err)
{
    pkb_code rc = PKB_OK;

    size->layout.rank = rank;
    size->layout.world = world;
    if ((rc = get_name(item, "size", size->name, sizeof size->name, err)) != PKB_OK ||
        (rc = get_name(item, "class", size->class_name, sizeof size->class_name, err)) != PKB_OK ||
        (rc = get_name(item, "grid", size->grid, sizeof size->grid, err)) != PKB_OK ||
        (rc = read_axes(item, &size->layout, err)) != PKB_OK ||
        (rc = read_dims(item, &size->layout, err)) != PKB_OK ||
        (rc = read_families(item, size, err)) != PKB_OK)
        return rc;
    return read_arguments(item, size, err);
}

static pkb_code read_head(const cJSON *root, pkb_plan *plan, uint32_t rank, pkb_error *err)
{
    uint64_t version = 0, world = 0;
    pkb_code rc = PKB_OK;

    if ((rc = pkb_json_get_u64(root, "plan", &version, err)) != PKB_OK ||
        (rc = pkb_json_get_u64(root, "world", &world, err)) != PKB_OK ||
        (rc = get_name(root, "problem", plan->problem, sizeof plan->problem, err)) != PKB_OK ||
        (rc = get_name(root, "file", plan->file, sizeof plan->file, err)) != PKB_OK)
        return rc;
    if (version != 1)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the plan is of another version than 1");
    if (world == 0 || world > PKB_MAX_RANKS || rank >= world)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the plan's world cannot have rank %u", rank);
    plan->world = (uint32_t)world;
    plan->is_deterministic = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "deterministic"));
    return PKB_OK;
}

static pkb_code plan_from_json(pkb_plan **out, const cJSON *root, uint32_t rank, pkb_error *err)
{
    pkb_plan *plan = NULL;
    const cJSON *list = NULL, *item = NULL;
    pkb_code rc = PKB_OK;

    plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "out of memory for a plan");
    if ((rc = read_head(root, plan, rank, err)) != PKB_OK ||
        (rc = get_list(root, "sizes", 64, &list, err)) != PKB_OK)
        goto cleanup;
    plan->sizes = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *plan->sizes);
    if (plan->sizes == NULL) {
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "out of memory for a plan's sizes");
        goto cleanup;
    }
    cJSON_ArrayForEach(item, list)
    {
        rc = read_size(item, &plan->sizes[plan->size_count++], rank, plan->world, err);
        if (rc != PKB_OK)
            goto cleanup;
    }
    *out = plan;
    plan = NULL;
cleanup:
    pkb_plan_free(plan);
    return rc;
}

pkb_code pkb_plan_parse(pkb_plan **out, const char *text, size_t bytes, uint32_t rank,
                        pkb_error *err)
{
    cJSON *root = NULL;
    pkb_code rc = pkb_json_parse(&root, text, bytes, "the plan", err);
    if (rc == PKB_OK)
        rc = plan_from_json(out, root, rank, err);
    cJSON_Delete(root);
    return rc;
}

pkb_code pkb_plan_read(pkb_plan **out, const char *path, uint32_t rank, pkb_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    pkb_code rc = pkb_fs_read(path, PLAN_LIMIT_BYTES, &text, &bytes, err);
    if (rc == PKB_OK)
        rc = pkb_plan_parse(out, text, bytes, rank, err);
    free(text);
    return rc;
}

void pkb_plan_free(pkb_plan *plan)
{
    if (plan == NULL)
        return;
    free(plan->sizes);
    free(plan);
}

bool pkb_plan_size_is(const pkb_plan_size *size, const char *wanted)
{
    return strcmp(size->name, wanted) == 0 || strcmp(size->class_name, wanted) == 0;
}
