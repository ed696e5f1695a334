/* SPDX-License-Identifier: Apache-2.0
 *
 * The two files of an imported sample; see import_files.h.
 */
#include "evaluator/completion/import_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

enum { FILE_LIMIT_BYTES = 64 << 20 };

void pkb_import_files_clear(pkb_import_files *files)
{
    pkb_buf_clear(&files->folder);
    pkb_buf_clear(&files->source_path);
    pkb_buf_clear(&files->status_path);
    pkb_buf_clear(&files->source);
    pkb_buf_clear(&files->status);
}

pkb_code pkb_import_files_make(pkb_import_files *out, const char *run, const pkb_reply *reply,
                               pkb_error *err)
{
    pkb_buf_printf(&out->folder, "%s/samples/%s", run, reply->problem);
    const char *folder = pkb_buf_text(&out->folder);
    pkb_buf_printf(&out->source_path, "%s/%lld.cu", folder, (long long)reply->sample);
    pkb_buf_printf(&out->status_path, "%s/%lld.json", folder, (long long)reply->sample);
    pkb_code rc = pkb_buf_check(&out->folder, "the name of a sample", err);
    if (rc == PKB_OK)
        rc = pkb_buf_check(&out->source_path, "the name of a sample", err);
    if (rc == PKB_OK)
        rc = pkb_buf_check(&out->status_path, "the name of a sample", err);
    return rc == PKB_OK
               ? pkb_sample_status_make(&out->source, &out->status, &out->found, reply, err)
               : rc;
}

static pkb_code holds(bool *is_same, const char *path, const pkb_buf *wanted, pkb_error *err)
{
    char *text = NULL;
    size_t bytes = 0;

    *is_same = false;
    if (!pkb_fs_exists(path))
        return PKB_OK;
    pkb_code rc = pkb_fs_read(path, FILE_LIMIT_BYTES, &text, &bytes, err);
    if (rc == PKB_OK)
        *is_same = bytes == wanted->bytes && memcmp(text, pkb_buf_text(wanted), wanted->bytes) == 0;
    free(text);
    return rc;
}

pkb_code pkb_import_files_compare(bool *is_same, const pkb_import_files *files, pkb_error *err)
{
    pkb_code rc = holds(is_same, pkb_buf_text(&files->source_path), &files->source, err);
    if (rc == PKB_OK && *is_same)
        rc = holds(is_same, pkb_buf_text(&files->status_path), &files->status, err);
    return rc;
}

pkb_code pkb_import_files_write(const pkb_import_files *files, pkb_error *err)
{
    pkb_error why = {0};

    if (pkb_fs_make_directory(pkb_buf_text(&files->folder), 0755, &why) != PKB_OK)
        return pkb_error_set(err, PKB_ERR_DISK, why.detail, "%s", why.message);
    pkb_code rc = pkb_fs_replace(pkb_buf_text(&files->status_path), pkb_buf_text(&files->status),
                                 files->status.bytes, err);
    if (rc == PKB_OK)
        rc = pkb_fs_replace(pkb_buf_text(&files->source_path), pkb_buf_text(&files->source),
                            files->source.bytes, err);
    return rc;
}
