/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills the template; see page.h.
 */
#include "evaluator/report/page.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

enum { PART_BYTES = 4 << 20, SHA256_BYTES = 32, BASE64_BYTES = 48 };

typedef enum part { PART_PAGE, PART_STYLE, PART_LIBRARY, PART_CHARTS, PART_SCRIPT, PARTS } part;

static const char *const files[PARTS] = {
    [PART_PAGE] = "evaluator/report/page.html",    [PART_STYLE] = "evaluator/report/style.css",
    [PART_LIBRARY] = "build/share/echarts.min.js", [PART_CHARTS] = "evaluator/report/charts.js",
    [PART_SCRIPT] = "evaluator/report/report.js",
};

static pkb_code read_part(char **out, const char *root, part which, pkb_error *err)
{
    char *path = pkb_fs_join(root, files[which]);
    size_t bytes = 0;
    pkb_code rc = PKB_OK;

    if (path == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the report");
    if (which == PART_LIBRARY && !pkb_fs_exists(path))
        rc = pkb_error_set(err, PKB_ERR_MISSING, 0,
                           "%s, the plotting library of reports, is missing: run tools/setup.sh "
                           "and make, with a network (score and compare need no library)",
                           path);
    else
        rc = pkb_fs_read(path, PART_BYTES, out, &bytes, err);
    if (rc == PKB_OK && *out != NULL && strlen(*out) != bytes)
        rc = pkb_error_set(err, PKB_ERR_FORMAT, 0, "%s holds a NUL byte", path);
    free(path);
    return rc;
}

/* 'sha256-...' of what stands between the tags. */
static void append_source(pkb_buf *out, const char *text)
{
    unsigned char digest[SHA256_BYTES], encoded[BASE64_BYTES];

    if (EVP_Digest(text, strlen(text), digest, NULL, EVP_sha256(), NULL) != 1) {
        out->status = PKB_ERR_MEMORY;
        return;
    }
    EVP_EncodeBlock(encoded, digest, SHA256_BYTES);
    pkb_buf_printf(out, "'sha256-%s'", (const char *)encoded);
}

/* The library sets style attributes; nothing that it could name can be fetched. */
static void append_policy(pkb_buf *out, char *const parts[PARTS])
{
    pkb_buf_append_string(out, "default-src 'none'; base-uri 'none'; form-action 'none'; "
                               "script-src ");
    for (int i = PART_LIBRARY; i <= PART_SCRIPT; i++) {
        append_source(out, parts[i]);
        pkb_buf_append_byte(out, i < PART_SCRIPT ? ' ' : ';');
    }
    pkb_buf_append_string(out, " style-src-elem ");
    append_source(out, parts[PART_STYLE]);
    pkb_buf_append_string(out, "; style-src-attr 'unsafe-inline'");
}

/* JSON has these characters in strings only, where an escape means the same; no text of a record
 * can end the element that it stands in. */
static void append_data(pkb_buf *out, const char *json)
{
    for (;;) {
        const size_t plain = strcspn(json, "<>&");
        pkb_buf_append(out, json, plain);
        json += plain;
        if (*json == '\0')
            return;
        pkb_buf_printf(out, "\\u%04x", (unsigned char)*json++);
    }
}

static pkb_code append_slot(pkb_buf *out, const char *name, size_t length, char *const parts[PARTS],
                            const char *json, pkb_error *err)
{
    static const struct {
        const char *name;
        part which;
    } slots[] = {{"style", PART_STYLE},
                 {"library", PART_LIBRARY},
                 {"charts", PART_CHARTS},
                 {"script", PART_SCRIPT}};

    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
        if (strlen(slots[i].name) == length && memcmp(slots[i].name, name, length) == 0)
            return pkb_buf_append_string(out, parts[slots[i].which]);
    if (length == strlen("policy") && memcmp(name, "policy", length) == 0)
        append_policy(out, parts);
    else if (length == strlen("data") && memcmp(name, "data", length) == 0)
        append_data(out, json);
    else
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "%s names an unknown part '%.*s'",
                             files[PART_PAGE], (int)length, name);
    return PKB_OK;
}

pkb_code pkb_page_make(pkb_buf *out, const char *root, const char *json, pkb_error *err)
{
    char *parts[PARTS] = {0};
    pkb_code rc = PKB_OK;

    for (int i = 0; i < PARTS && rc == PKB_OK; i++)
        rc = read_part(&parts[i], root, (part)i, err);
    for (const char *at = parts[PART_PAGE]; rc == PKB_OK;) {
        const char *open = strstr(at, "{{"), *close = open != NULL ? strstr(open, "}}") : NULL;
        if (close == NULL) {
            pkb_buf_append_string(out, at);
            break;
        }
        pkb_buf_append(out, at, (size_t)(open - at));
        rc = append_slot(out, open + 2, (size_t)(close - open - 2), parts, json, err);
        at = close + 2;
    }
    if (rc == PKB_OK)
        rc = pkb_buf_check(out, "the report", err);
    for (int i = 0; i < PARTS; i++)
        free(parts[i]);
    return rc;
}
