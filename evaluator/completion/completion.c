/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a line of a file of completions; see completion.h.
 */
#include "evaluator/completion/completion.h"

#include "base/json.h"
#include "base/jsonl.h"

static pkb_code read_problem(pkb_completion *out, const pkb_catalogue *catalogue, pkb_error *err)
{
    pkb_code rc = pkb_catalogue_find_key(catalogue, out->line, &out->reply.problem, err);
    if (rc == PKB_ERR_USAGE && err != NULL)
        err->code = PKB_ERR_FORMAT;
    return rc == PKB_ERR_USAGE ? PKB_ERR_FORMAT : rc;
}

static pkb_code read_sample(pkb_completion *out, pkb_error *err)
{
    static const char key[] = "sample";

    out->has_sample = pkb_json_has(out->line, key) &&
                      !cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(out->line, key));
    if (!out->has_sample)
        return PKB_OK;
    if (pkb_json_get_i64(out->line, key, &out->reply.sample, NULL) == PKB_OK &&
        out->reply.sample >= 0 && out->reply.sample < PKB_COMPLETION_MOST_SAMPLES)
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_FORMAT, 0, "\"sample\" is no whole number from 0 to %d",
                         PKB_COMPLETION_MOST_SAMPLES - 1);
}

/* A text that may be absent or null. */
static pkb_code read_text(const char **out, const cJSON *line, const char *key, pkb_error *err)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(line, key);

    if (value == NULL || cJSON_IsNull(value))
        return PKB_OK;
    if (!cJSON_IsString(value))
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "\"%s\" is no text", key);
    *out = value->valuestring;
    return PKB_OK;
}

/* A model that says nothing is often written as null: an empty reply, not a missing one. */
static pkb_code read_reply(pkb_completion *out, pkb_error *err)
{
    static const char key[] = "completion";

    out->reply.reply = "";
    if (cJSON_GetObjectItemCaseSensitive(out->line, key) == NULL)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the key \"%s\" is missing", key);
    return read_text(&out->reply.reply, out->line, key, err);
}

pkb_code pkb_completion_parse(pkb_completion *out, const pkb_catalogue *catalogue,
                              const pkb_line *line, pkb_error *err)
{
    *out = (pkb_completion){0};
    pkb_code rc = pkb_jsonl_parse(&out->line, line, PKB_COMPLETION_LIMIT_BYTES, err);
    if (rc == PKB_OK)
        rc = pkb_json_check_keys(out->line, "the line", err);
    if (rc == PKB_OK)
        rc = read_problem(out, catalogue, err);
    if (rc == PKB_OK)
        rc = read_sample(out, err);
    if (rc == PKB_OK)
        rc = read_reply(out, err);
    if (rc == PKB_OK)
        rc = read_text(&out->reply.finish_reason, out->line, "finish_reason", err);
    if (rc == PKB_OK)
        rc = read_text(&out->reply.model, out->line, "model", err);
    if (rc == PKB_OK)
        rc = read_text(&out->reply.prompt_sha256, out->line, "prompt_sha256", err);
    return rc;
}

void pkb_completion_clear(pkb_completion *completion)
{
    cJSON_Delete(completion->line);
    *completion = (pkb_completion){0};
}
