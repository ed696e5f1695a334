/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes prompts; see prompt.h. The words that are the same for all problems are in prompt_text.c.
 */
#include "evaluator/problem/prompt.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"
#include "evaluator/problem/explain.h"
#include "evaluator/problem/header.h"
#include "evaluator/problem/prompt_text.h"

enum { FILE_LIMIT_BYTES = 1 << 20, COLUMNS = 96 };

static void open_block(pkb_buf *out, const char *language)
{
    pkb_buf_printf(out, "```%s\n", language);
}

static void close_block(pkb_buf *out)
{
    if (out->bytes > 0 && out->data[out->bytes - 1] != '\n')
        pkb_buf_append_byte(out, '\n');
    pkb_buf_append_string(out, "```\n");
}

/* Appends a file of the project as a block. */
static pkb_code append_file(pkb_buf *out, const char *root, const char *relative,
                            const char *language, pkb_error *err)
{
    char *path = pkb_fs_join(root, relative), *text = NULL;
    size_t bytes = 0;
    if (path == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the prompt");

    pkb_code rc = pkb_fs_read(path, FILE_LIMIT_BYTES, &text, &bytes, err);
    if (rc == PKB_OK) {
        open_block(out, language);
        pkb_buf_append(out, text, bytes);
        close_block(out);
    }
    free(text);
    free(path);
    return rc;
}

static pkb_code append_problem(pkb_buf *out, const pkb_choice *choice, pkb_error *err)
{
    const pkb_problem *problem = choice->problem;
    pkb_buf reference = {0};

    pkb_buf_printf(out, "# Task: %s\n\n", problem->title);
    pkb_buf_append_string(out, pkb_prompt_task);
    pkb_buf_append_string(out, "\n## The problem\n");
    pkb_explain_wrap(out, problem->statement, "", COLUMNS);
    pkb_buf_append_string(out,
                          "\nArguments (shapes are one rank's own; P is the number of ranks):\n");
    pkb_explain_arguments(out, problem);
    pkb_buf_append_string(out, "\nSizes that are judged:\n");
    pkb_explain_sizes(out, problem);
    pkb_explain_dims(out, problem);
    pkb_buf_append_string(out, "\n## The reference\n");
    pkb_buf_append_string(out, pkb_prompt_reference);
    pkb_buf_printf(&reference, "references/%s.py", problem->full_name);
    pkb_code rc = append_file(out, choice->root, pkb_buf_text(&reference), "python", err);
    pkb_buf_clear(&reference);
    return rc;
}

static pkb_code append_interface(pkb_buf *out, const pkb_choice *choice, pkb_error *err)
{
    pkb_buf_append_string(out, "\n## The interface\n");
    pkb_buf_append_string(out, pkb_prompt_interface);
    pkb_buf_append_string(out, "\n`problem.h`, generated for this problem:\n");
    open_block(out, "cpp");
    pkb_header_write(out, choice->problem);
    close_block(out);
    pkb_buf_append_string(out, "\n`pkbench.h`:\n");
    pkb_code rc = append_file(out, choice->root, "harness/include/pkbench.h", "cpp", err);
    if (rc != PKB_OK)
        return rc;
    pkb_buf_append_string(out, "\n`pkbench_device.cuh`:\n");
    return append_file(out, choice->root, "harness/include/pkbench_device.cuh", "cpp", err);
}

/* Never the problem's own solution. */
static const char *example_for(const pkb_problem *problem)
{
    static const char *const examples[] = {"001_allreduce", "013_gemm_allreduce"};
    return strcmp(problem->full_name, examples[0]) == 0 ? examples[1] : examples[0];
}

static pkb_code append_example(pkb_buf *out, const pkb_choice *choice, pkb_error *err)
{
    const char *name = example_for(choice->problem);
    pkb_problem *example = NULL;
    pkb_buf path = {0};

    pkb_code rc = pkb_problem_load(&example, &choice->catalogue, name, err);
    if (rc != PKB_OK)
        return rc;
    pkb_buf_printf(out, "\n## A complete example, for another problem: %s\n", example->title);
    pkb_explain_wrap(out, example->statement, "", COLUMNS);
    pkb_buf_append_string(out, "\nIts arguments:\n");
    open_block(out, "cpp");
    pkb_header_struct(out, example);
    close_block(out);
    pkb_buf_append_string(out, "\nA correct, plain answer:\n");
    pkb_buf_printf(&path, "examples/%s.cu", name);
    rc = append_file(out, choice->root, pkb_buf_text(&path), "cuda", err);
    pkb_buf_clear(&path);
    pkb_problem_free(example);
    return rc;
}

pkb_code pkb_prompt_write(pkb_buf *out, const pkb_choice *choice, pkb_error *err)
{
    pkb_code rc = append_problem(out, choice, err);
    if (rc == PKB_OK)
        rc = append_interface(out, choice, err);
    if (rc != PKB_OK)
        return rc;
    pkb_buf_append_string(out, "\n## Rules\n");
    pkb_buf_append_string(out, pkb_prompt_rules);
    pkb_buf_append_string(out, "\n## How it is judged\n");
    pkb_buf_append_string(out, pkb_prompt_judging);
    rc = append_example(out, choice, err);
    if (rc != PKB_OK)
        return rc;
    pkb_buf_append_string(out, "\n## Your answer\n");
    pkb_buf_append_string(out, pkb_prompt_answer);
    return pkb_buf_check(out, "the prompt", err);
}

pkb_code pkb_prompt_json(pkb_buf *out, const char *problem, const pkb_buf *prompt, pkb_error *err)
{
    char sha256[PKB_HASH_HEX_BYTES];
    pkb_code rc = pkb_hash_bytes(pkb_buf_text(prompt), prompt->bytes, sha256, err);
    if (rc != PKB_OK)
        return rc;

    cJSON *line = cJSON_CreateObject(), *message = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "problem", problem);
    cJSON_AddStringToObject(message, "role", "user");
    cJSON_AddStringToObject(message, "content", pkb_buf_text(prompt));
    cJSON_AddItemToArray(cJSON_AddArrayToObject(line, "messages"), message);
    cJSON_AddStringToObject(line, "prompt_sha256", sha256);
    char *text = pkb_json_line(line);
    if (text != NULL)
        pkb_buf_printf(out, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(line);
    return text != NULL ? pkb_buf_check(out, "the prompt", err)
                        : pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the prompt");
}
