/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes and reads what is known of a sample's reply; see sample_status.h.
 */
#include "evaluator/attempt/sample_status.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"
#include "evaluator/attempt/attempt.h"

/* ---- writing ---- */

static void add_text(cJSON *to, const char *key, const char *text)
{
    if (text != NULL)
        cJSON_AddStringToObject(to, key, text);
}

static pkb_code add_hash(cJSON *to, const char *key, const char *text, size_t bytes, pkb_error *err)
{
    char hex[PKB_HASH_HEX_BYTES];
    pkb_code rc = pkb_hash_bytes(text, bytes, hex, err);
    if (rc == PKB_OK)
        cJSON_AddStringToObject(to, key, hex);
    return rc;
}

static pkb_code add_extraction(cJSON *to, const pkb_extraction *found, const pkb_buf *source,
                               pkb_error *err)
{
    cJSON *extraction = cJSON_AddObjectToObject(to, "extraction");

    cJSON_AddNumberToObject(extraction, "version", PKB_EXTRACT_VERSION);
    cJSON_AddStringToObject(extraction, "rule", found->rule);
    cJSON_AddNumberToObject(extraction, "blocks", (double)found->block_count);
    if (found->block > 0)
        cJSON_AddNumberToObject(extraction, "block", (double)found->block);
    cJSON_AddNumberToObject(extraction, "bytes", (double)source->bytes);
    return add_hash(extraction, "sha256", pkb_buf_text(source), source->bytes, err);
}

static pkb_code write_status(pkb_buf *out, const pkb_reply *reply, const pkb_extraction *found,
                             const pkb_buf *source, const char *unfinished, pkb_error *err)
{
    cJSON *status = cJSON_CreateObject();

    cJSON_AddStringToObject(status, "problem", reply->problem);
    cJSON_AddNumberToObject(status, "sample", (double)reply->sample);
    cJSON_AddStringToObject(status, "status", pkb_extract_status_name(found->status));
    add_text(status, "reason", found->reason);
    pkb_code rc = add_extraction(status, found, source, err);
    if (rc == PKB_OK)
        rc = add_hash(status, "completion_sha256", reply->reply, strlen(reply->reply), err);
    add_text(status, "finish_reason", reply->finish_reason);
    add_text(status, "model", reply->model);
    add_text(status, "prompt_sha256", reply->prompt_sha256);
    add_text(status, "unfinished", unfinished);
    char *text = rc == PKB_OK ? pkb_json_line(status) : NULL;
    if (text != NULL)
        pkb_buf_printf(out, "%s\n", text);
    else if (rc == PKB_OK)
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the status of a sample");
    cJSON_free(text);
    cJSON_Delete(status);
    return rc == PKB_OK ? pkb_buf_check(out, "the status of a sample", err) : rc;
}

/* No attempt may be so long: eval would leave it without a verdict. */
static void refuse_long(pkb_extraction *found)
{
    *found =
        (pkb_extraction){.status = PKB_EXTRACT_NO_CODE,
                         .rule = "none",
                         .reason = "the code is longer than the 1 MiB that an attempt may have",
                         .block_count = found->block_count};
}

pkb_code pkb_sample_status_make(pkb_buf *source, pkb_buf *status, pkb_extract_status *found,
                                const pkb_reply *reply, pkb_error *err)
{
    _Static_assert(PKB_ATTEMPT_LIMIT_BYTES == 1 << 20, "refuse_long names the limit");
    static const pkb_buf nothing = {0};
    pkb_buf code = {0};
    pkb_extraction extraction = pkb_extract(&code, reply->reply, strlen(reply->reply),
                                            pkb_finish_parse(reply->finish_reason));
    const bool is_long = code.bytes > PKB_ATTEMPT_LIMIT_BYTES;

    pkb_code rc = pkb_buf_check(&code, "the code of a reply", err);
    if (is_long && extraction.status == PKB_EXTRACT_CODE)
        refuse_long(&extraction);
    const bool has_code = extraction.status == PKB_EXTRACT_CODE;
    const bool is_shown = extraction.status == PKB_EXTRACT_TRUNCATED && code.bytes > 0 && !is_long;
    if (rc == PKB_OK)
        rc = write_status(status, reply, &extraction, has_code ? &code : &nothing,
                          is_shown ? pkb_buf_text(&code) : NULL, err);
    if (rc == PKB_OK && has_code) {
        pkb_buf_clear(source);
        *source = code;
        code = (pkb_buf){0};
    }
    *found = extraction.status;
    pkb_buf_clear(&code);
    return rc;
}

/* ---- reading ---- */

/* "…/4.json" of "…/4.cu". */
static void name_file(pkb_buf *out, const char *path)
{
    static const char suffix[] = ".cu";
    const size_t length = strlen(path), tail = sizeof suffix - 1;

    if (length > tail && strcmp(path + length - tail, suffix) == 0) {
        pkb_buf_append(out, path, length - tail);
        pkb_buf_append_string(out, ".json");
    }
}

static pkb_code read_file(cJSON **out, const char *path, pkb_error *err)
{
    struct stat info;
    pkb_error why = {0};

    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%s is a symbolic link, and pkbench import makes none; remove it",
                             path);
    pkb_code rc = pkb_json_read(out, path, &why);
    if (rc == PKB_OK)
        return PKB_OK;
    return pkb_error_set(err, rc == PKB_ERR_FORMAT ? PKB_ERR_USAGE : rc, 0,
                         "%s; import the sample again with --replace, or remove the file",
                         why.message);
}

/* NULL: there is no such file. */
static pkb_code read_status(cJSON **out, const char *path, pkb_error *err)
{
    pkb_buf name = {0};

    name_file(&name, path);
    pkb_code rc = pkb_buf_check(&name, "the name of a sample's status", err);
    if (rc == PKB_OK && name.bytes > 0 && pkb_fs_exists(pkb_buf_text(&name)))
        rc = read_file(out, pkb_buf_text(&name), err);
    pkb_buf_clear(&name);
    return rc;
}

pkb_code pkb_sample_status_read(pkb_sample_status *out, const char *path, pkb_error *err)
{
    cJSON *status = NULL;

    *out = (pkb_sample_status){0};
    pkb_code rc = read_status(&status, path, err);
    if (rc != PKB_OK || status == NULL)
        return rc;
    const char *name = pkb_json_string_or(status, "status", "");
    out->is_truncated = strcmp(name, pkb_extract_status_name(PKB_EXTRACT_TRUNCATED)) == 0;
    if (out->is_truncated || strcmp(name, pkb_extract_status_name(PKB_EXTRACT_NO_CODE)) == 0)
        snprintf(out->reason, sizeof out->reason, "%s", pkb_json_string_or(status, "reason", ""));
    cJSON_Delete(status);
    return PKB_OK;
}

pkb_code pkb_sample_status_model(char **out, const char *path, pkb_error *err)
{
    cJSON *status = NULL;

    pkb_code rc = read_status(&status, path, err);
    const char *model = rc == PKB_OK ? pkb_json_string_or(status, "model", NULL) : NULL;
    *out = model != NULL ? strdup(model) : NULL;
    if (model != NULL && *out == NULL)
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a model's name");
    cJSON_Delete(status);
    return rc;
}
