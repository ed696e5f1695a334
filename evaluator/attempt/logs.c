/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes logs; see logs.h. Each file appears whole and clean: an attempt has a say in all of them.
 */
#include "evaluator/attempt/logs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "evaluator/attempt/entry.h"
#include "evaluator/attempt/printed.h"
#include "evaluator/console/clean.h"

/* Of each file its beginning and its end. */
enum { HEAD_BYTES = 32 << 10, TAIL_BYTES = 96 << 10, READ_BYTES = 16 << 20 };

static void append(pkb_buf *out, const char *text, size_t bytes)
{
    if (bytes <= HEAD_BYTES + TAIL_BYTES) {
        pkb_clean_append_lines(out, text, bytes);
        return;
    }
    pkb_clean_append_lines(out, text, HEAD_BYTES);
    pkb_buf_printf(out, "\n---- %zu bytes left out ----\n", bytes - HEAD_BYTES - TAIL_BYTES);
    pkb_clean_append_lines(out, text + bytes - TAIL_BYTES, TAIL_BYTES);
}

static pkb_code forget(const char *path, pkb_error *err)
{
    if (unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR)
        return PKB_OK;
    return pkb_error_set_errno(err, PKB_ERR_DISK, "cannot remove %s", path);
}

/* Nothing is said: the file goes. */
static pkb_code put(const char *folder, const char *name, const char *text, size_t bytes,
                    pkb_error *err)
{
    char *path = pkb_fs_join(folder, name);
    pkb_buf cleaned = {0};
    pkb_error why = {0};
    pkb_code rc = PKB_OK;

    if (path == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a path in %s", folder);
    append(&cleaned, text, bytes);
    rc = pkb_buf_check(&cleaned, "a log", err);
    if (rc == PKB_OK && bytes == 0)
        rc = forget(path, err);
    else if (rc == PKB_OK && pkb_fs_make_directory(folder, 0755, &why) != PKB_OK)
        rc = pkb_error_set(err, PKB_ERR_DISK, why.detail, "%s", why.message);
    if (rc == PKB_OK && bytes > 0)
        rc = pkb_fs_write(path, pkb_buf_text(&cleaned), cleaned.bytes, err);
    pkb_buf_clear(&cleaned);
    free(path);
    return rc;
}

/* `from` is a file of the work directory; NULL or one that is not there says nothing. */
static pkb_code put_file(const char *folder, const char *name, const pkb_workdir *workdir,
                         const char *from, pkb_error *err)
{
    char *path = from != NULL ? pkb_workdir_path(workdir, from) : NULL, *text = NULL;
    size_t bytes = 0;

    if (path == NULL || pkb_fs_read(path, READ_BYTES, &text, &bytes, NULL) != PKB_OK)
        bytes = 0;
    pkb_code rc = put(folder, name, text != NULL ? text : "", bytes, err);
    free(text);
    free(path);
    return rc;
}

static pkb_code put_all(const char *folder, const pkb_evaluation *evaluation,
                        const pkb_ranks *ranks, pkb_error *err)
{
    const pkb_buf *log = &evaluation->build.log;
    const bool is_ours = pkb_record_is_pending(evaluation->record);
    pkb_verdict verdict = PKB_VERDICT_CORRECT;
    char name[PKB_PRINTED_NAME_BYTES];

    pkb_code rc = pkb_record_verdict(evaluation->record, &verdict, err);
    const bool is_wanted = verdict != PKB_VERDICT_CORRECT;
    const bool has_ranks = is_wanted && ranks->session != NULL;
    if (rc == PKB_OK)
        rc = put(folder, "compile.txt", pkb_buf_text(log), is_wanted ? log->bytes : 0, err);
    if (rc == PKB_OK)
        rc = put_file(folder, "ranks.txt", &ranks->workdir,
                      has_ranks && is_ours ? "ranks.log" : NULL, err);
    for (int rank = 0; rank < evaluation->setting->options.world && rc == PKB_OK; rank++) {
        pkb_printed_name(name, rank);
        rc = put_file(folder, name, &ranks->workdir, has_ranks ? name : NULL, err);
    }
    return rc;
}

pkb_code pkb_logs_check(const char *folder, pkb_error *err)
{
    char *logs = pkb_fs_join(folder, "logs");
    struct stat status;

    if (logs == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a path in %s", folder);
    pkb_code rc = pkb_entry_require_inside(folder, logs, err);
    if (rc == PKB_OK && stat(logs, &status) == 0 && !S_ISDIR(status.st_mode))
        rc = pkb_error_set(err, PKB_ERR_USAGE, 0,
                           "%s is no directory, and what is said about attempts is kept there; "
                           "move it away, or use --no-save or -o FILE",
                           logs);
    free(logs);
    return rc;
}

pkb_code pkb_logs_write(const pkb_evaluation *evaluation, const pkb_ranks *ranks, pkb_error *err)
{
    const char *run = evaluation->setting->logs_in;
    const char *judgement = pkb_json_string_or(evaluation->record, "judgement", "");
    pkb_buf folder = {0};

    if (run == NULL || judgement[0] == '\0')
        return PKB_OK;
    pkb_buf_printf(&folder, "%s/logs/%s", run, judgement);
    pkb_code rc = pkb_buf_check(&folder, "the folder of a log", err);
    if (rc == PKB_OK)
        rc = pkb_logs_check(run, err);
    if (rc == PKB_OK)
        rc = pkb_entry_require_inside(run, pkb_buf_text(&folder), err);
    if (rc == PKB_OK)
        rc = put_all(pkb_buf_text(&folder), evaluation, ranks, err);
    if (rc == PKB_OK)
        rmdir(pkb_buf_text(&folder)); /* as far as it is empty */
    pkb_buf_clear(&folder);
    return rc;
}
