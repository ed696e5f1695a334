/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills the template; see page.h.
 */
#include "evaluator/report/page.h"

#include <openssl/evp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

enum { FILE_BYTES = 4 << 20, SHA256_BYTES = 32, BASE64_BYTES = 48, MOST_FILES = 24 };

typedef enum part { PART_PAGE, PART_STYLE, PART_LIBRARY, PART_SCRIPT, PARTS } part;

#define PAGE "evaluator/report/page/"
#define STYLE PAGE "style/"
#define CHARTS PAGE "charts/"
#define SECTIONS PAGE "sections/"

/* Several files are put together, in this order: of rules the later one wins, and a script
 * uses at its start what stands before. */
static const char *const files[PARTS][MOST_FILES] = {
    [PART_PAGE] = {PAGE "page.html"},
    [PART_STYLE] = {STYLE "colours.css", STYLE "text.css", STYLE "tables.css", STYLE "controls.css",
                    STYLE "charts.css", STYLE "narrow.css", STYLE "print.css"},
    [PART_LIBRARY] = {"build/share/echarts.min.js"},
    [PART_SCRIPT] = {PAGE "given.js",          PAGE "numbers.js",      PAGE "pieces.js",
                     CHARTS "charts.js",       CHARTS "forest.js",     CHARTS "curves.js",
                     CHARTS "bars.js",         CHARTS "dots.js",       SECTIONS "marks.js",
                     SECTIONS "overview.js",   SECTIONS "summary.js",  SECTIONS "compare.js",
                     SECTIONS "thresholds.js", SECTIONS "groups.js",   SECTIONS "funnel.js",
                     SECTIONS "floor.js",      SECTIONS "attempt.js",  SECTIONS "sorting.js",
                     SECTIONS "problems.js",   SECTIONS "attempts.js", SECTIONS "environment.js",
                     PAGE "report.js"},
};

static pkb_code append_file(pkb_buf *out, const char *root, const char *name, part which,
                            pkb_error *err)
{
    char *path = pkb_fs_join(root, name), *text = NULL;
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
        rc = pkb_fs_read(path, FILE_BYTES, &text, &bytes, err);
    if (rc == PKB_OK)
        rc = pkb_buf_append(out, text, bytes);
    free(text);
    free(path);
    return rc;
}

static pkb_code read_parts(pkb_buf parts[PARTS], const char *root, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    for (int i = 0; i < PARTS; i++)
        for (int k = 0; k < MOST_FILES && files[i][k] != NULL && rc == PKB_OK; k++)
            rc = append_file(&parts[i], root, files[i][k], (part)i, err);
    for (int i = 0; i < PARTS && rc == PKB_OK; i++)
        rc = pkb_buf_check(&parts[i], "the report", err);
    return rc;
}

/* 'sha256-...' of what stands between the tags. */
static void append_source(pkb_buf *out, const pkb_buf *text)
{
    unsigned char digest[SHA256_BYTES], encoded[BASE64_BYTES];

    if (EVP_Digest(pkb_buf_text(text), text->bytes, digest, NULL, EVP_sha256(), NULL) != 1) {
        out->status = PKB_ERR_MEMORY;
        return;
    }
    EVP_EncodeBlock(encoded, digest, SHA256_BYTES);
    pkb_buf_printf(out, "'sha256-%s'", (const char *)encoded);
}

/* The library sets style attributes; nothing that it could name can be fetched. */
static void append_policy(pkb_buf *out, const pkb_buf parts[PARTS])
{
    pkb_buf_append_string(out, "default-src 'none'; base-uri 'none'; form-action 'none'; "
                               "script-src ");
    append_source(out, &parts[PART_LIBRARY]);
    pkb_buf_append_byte(out, ' ');
    append_source(out, &parts[PART_SCRIPT]);
    pkb_buf_append_string(out, "; style-src-elem ");
    append_source(out, &parts[PART_STYLE]);
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

static bool is_named(const char *name, size_t length, const char *slot)
{
    return strlen(slot) == length && memcmp(slot, name, length) == 0;
}

static pkb_code append_slot(pkb_buf *out, const char *name, size_t length,
                            const pkb_buf parts[PARTS], const char *json, pkb_error *err)
{
    static const struct {
        const char *name;
        part which;
    } slots[] = {{"style", PART_STYLE}, {"library", PART_LIBRARY}, {"script", PART_SCRIPT}};

    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
        if (is_named(name, length, slots[i].name)) {
            const pkb_buf *text = &parts[slots[i].which];
            return pkb_buf_append(out, pkb_buf_text(text), text->bytes);
        }
    if (is_named(name, length, "policy"))
        append_policy(out, parts);
    else if (is_named(name, length, "data"))
        append_data(out, json);
    else
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "%s names an unknown part '%.*s'",
                             files[PART_PAGE][0], (int)length, name);
    return PKB_OK;
}

pkb_code pkb_page_make(pkb_buf *out, const char *root, const char *json, pkb_error *err)
{
    pkb_buf parts[PARTS] = {0};
    pkb_code rc = read_parts(parts, root, err);

    for (const char *at = pkb_buf_text(&parts[PART_PAGE]); rc == PKB_OK;) {
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
        pkb_buf_clear(&parts[i]);
    return rc;
}
