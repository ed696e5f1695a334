/* SPDX-License-Identifier: Apache-2.0
 *
 * Explains a problem; see explain.h.
 */
#include "evaluator/problem/explain.h"

#include <string.h>

#include "base/json.h"
#include "evaluator/problem/header.h"

enum { COLUMNS = 96 };

static const cJSON *get(const pkb_problem *problem, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(problem->json, key);
}

void pkb_explain_wrap(pkb_buf *out, const char *text, const char *indent, size_t columns)
{
    size_t column = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " \n");
        if (length > 0 && column > 0 && column + 1 + length > columns) {
            pkb_buf_append_byte(out, '\n');
            column = 0;
        }
        if (length > 0) {
            pkb_buf_append_string(out, column == 0 ? indent : " ");
            pkb_buf_append(out, text, length);
            column += length + (column == 0 ? strlen(indent) : 1);
        }
        text += length + (text[length] != '\0');
    }
    if (column > 0)
        pkb_buf_append_byte(out, '\n');
}

/* A text as it is, a number as an integer where it is one. */
static void append_value(pkb_buf *out, const cJSON *value)
{
    if (cJSON_IsString(value)) {
        pkb_buf_append_string(out, value->valuestring);
        return;
    }
    char *text = pkb_json_line(value);
    pkb_buf_append_string(out, text != NULL ? text : "?");
    cJSON_free(text);
}

static void append_list(pkb_buf *out, const cJSON *list, const char *separator)
{
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, list)
    {
        if (item != list->child)
            pkb_buf_append_string(out, separator);
        if (item->string != NULL)
            pkb_buf_printf(out, "%s = ", item->string);
        append_value(out, item);
    }
}

/* "float; integers: exact": the default first, then the families that differ. */
static void append_check(pkb_buf *out, const cJSON *check)
{
    const cJSON *item = NULL;
    if (cJSON_IsString(check))
        pkb_buf_append_string(out, check->valuestring);
    cJSON_ArrayForEach(item, check)
    {
        bool is_default = item->string != NULL && strcmp(item->string, "default") == 0;
        if (item != check->child)
            pkb_buf_append_string(out, "; ");
        if (!is_default)
            pkb_buf_printf(out, "%s: ", item->string);
        append_value(out, item);
    }
}

static void explain_argument(pkb_buf *out, const pkb_problem_argument *argument)
{
    pkb_buf shape = {0};
    const cJSON *check = cJSON_GetObjectItemCaseSensitive(argument->json, "check");
    const char *present = pkb_json_string_or(argument->json, "present", NULL);
    const char *count = pkb_json_string_or(argument->json, "count", "");

    pkb_header_shape(&shape, argument);
    pkb_buf_printf(out, "  %-16s %-7s %-5s %s", argument->name, argument->role,
                   argument->type->dtype, pkb_buf_text(&shape));
    pkb_buf_clear(&shape);
    if (check != NULL) {
        pkb_buf_append_string(out, "  compared: ");
        append_check(out, check);
    }
    if (count[0] != '\0')
        pkb_buf_printf(out, "  rows meant: %s", count);
    if (present != NULL)
        pkb_buf_printf(out, "  only where %s", present);
    pkb_buf_append_byte(out, '\n');
}

void pkb_explain_arguments(pkb_buf *out, const pkb_problem *problem)
{
    for (size_t i = 0; i < problem->argument_count; i++)
        explain_argument(out, &problem->arguments[i]);
}

void pkb_explain_sizes(pkb_buf *out, const pkb_problem *problem)
{
    const cJSON *size = NULL;
    cJSON_ArrayForEach(size, get(problem, "sizes"))
    {
        const char *name = pkb_json_string_or(size, "name", "?");
        const char *size_class = pkb_json_string_or(size, "class", "");
        pkb_buf_printf(out, "  %-16s ", name);
        append_list(out, cJSON_GetObjectItemCaseSensitive(size, "values"), ", ");
        if (strcmp(name, size_class) != 0)
            pkb_buf_printf(out, "  (class %s)", size_class);
        pkb_buf_append_byte(out, '\n');
    }
}

static void append_dim(pkb_buf *out, const cJSON *dim)
{
    const cJSON *maximum = cJSON_GetObjectItemCaseSensitive(dim, "max");
    pkb_buf_printf(out, "  %s = ", dim->string);
    append_value(out, maximum != NULL ? maximum : dim);
    if (maximum != NULL)
        pkb_buf_append_string(out, " at most; its value is data");
    pkb_buf_append_byte(out, '\n');
}

static void append_grid(pkb_buf *out, const cJSON *axes)
{
    const int count = cJSON_GetArraySize(axes);
    if (count == 0)
        return;
    if (count == 1) {
        pkb_buf_append_string(out, "  ranks form a row of P: axis ");
        append_list(out, axes, "");
        pkb_buf_append_byte(out, '\n');
        return;
    }
    pkb_buf_append_string(out, "  ranks form a grid, the last axis varying fastest: axes ");
    append_list(out, axes, ", ");
    pkb_buf_append_string(out, ", whose sizes ");
    append_list(out, axes, " * ");
    pkb_buf_append_string(out, " = P\n");
}

void pkb_explain_dims(pkb_buf *out, const pkb_problem *problem)
{
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, get(problem, "dims")) append_dim(out, item);
    cJSON_ArrayForEach(item, get(problem, "require"))
    {
        pkb_buf_append_string(out, "  required: ");
        append_value(out, item);
        pkb_buf_append_byte(out, '\n');
    }
    append_grid(out, get(problem, "grid"));
}

static void append_title(pkb_buf *out, const char *title)
{
    pkb_buf_printf(out, "\n%s\n", title);
}

static void explain_head(pkb_buf *out, const pkb_problem *problem)
{
    pkb_buf_printf(out, "%s: %s\n\n", problem->full_name, problem->title);
    pkb_explain_wrap(out, problem->statement, "", COLUMNS);
    pkb_buf_printf(out, "\nCategory     %s\nOrigin       %s\nCollectives  ", problem->category,
                   pkb_json_string_or(problem->json, "origin", "-"));
    append_list(out, get(problem, "collectives"), ", ");
    pkb_buf_append_byte(out, '\n');
}

void pkb_explain_problem(pkb_buf *out, const pkb_problem *problem)
{
    const cJSON *item = NULL;

    explain_head(out, problem);
    append_title(out, "Arguments (shapes are a rank's own; P is the number of ranks)");
    pkb_explain_arguments(out, problem);
    append_title(out, "Sizes");
    pkb_explain_sizes(out, problem);
    pkb_buf dims = {0};
    pkb_explain_dims(&dims, problem);
    if (dims.bytes > 0) {
        append_title(out, "Dims and conditions");
        pkb_buf_append(out, pkb_buf_text(&dims), dims.bytes);
    }
    pkb_buf_clear(&dims);
    append_title(out, "Inputs are drawn from these families");
    pkb_buf_append_string(out, "  ");
    append_list(out, get(problem, "families"), ", ");
    pkb_buf_append_byte(out, '\n');
    append_title(out, "Differs from the published problem");
    cJSON_ArrayForEach(item, get(problem, "deviates"))
    {
        pkb_buf_append_string(out, "- ");
        pkb_buf line = {0};
        pkb_explain_wrap(&line, cJSON_IsString(item) ? item->valuestring : "", "  ", COLUMNS);
        pkb_buf_append_string(out, line.bytes > 2 ? pkb_buf_text(&line) + 2 : "\n");
        pkb_buf_clear(&line);
    }
    append_title(out, "Cost on one rank");
    cJSON_ArrayForEach(item, get(problem, "cost"))
    {
        pkb_buf_printf(out, "  %-12s ", item->string);
        append_value(out, item);
        pkb_buf_append_byte(out, '\n');
    }
}
