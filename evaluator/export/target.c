/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that exports become; see target.h.
 */
#include "evaluator/export/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "evaluator/console/output.h"

/* What parquet.py exits with; the limit is for one that hangs. */
enum { WRITER_LACKS_DUCKDB = 3, WRITER_LIMIT_S = 600, EXPORT_VERSION = 1 };

static bool is_stdout(const char *path)
{
    return strcmp(path, "-") == 0;
}

static pkb_code open_stage(pkb_target *target, const char *path, pkb_error *err)
{
    struct stat status;

    target->path = path;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%s is there and is no ordinary file: name a file that may be made or "
                             "replaced",
                             path);
    return pkb_fs_stage_open(&target->stage, path, err);
}

/* A stream of its own, so that the stage keeps its descriptor. */
static pkb_code open_stream(pkb_target *target, int fd, pkb_error *err)
{
    target->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (target->out != NULL)
        return PKB_OK;
    pkb_error_set_errno(err, PKB_ERR_IO, "cannot write %s", target->path);
    if (fd >= 0)
        close(fd);
    return PKB_ERR_IO;
}

pkb_code pkb_target_open(pkb_target *out, const char *path, pkb_error *err)
{
    *out = (pkb_target)PKB_TARGET_NONE;
    if (is_stdout(path)) {
        out->path = path;
        out->out = stdout;
        return PKB_OK;
    }
    pkb_code rc = open_stage(out, path, err);
    return rc == PKB_OK ? open_stream(out, fcntl(out->stage.fd, F_DUPFD_CLOEXEC, 3), err) : rc;
}

/* ---- Parquet ---- */

static char *make_schema(pkb_rows rows)
{
    cJSON *schema = cJSON_CreateObject();
    cJSON *columns = cJSON_AddObjectToObject(schema, "columns");
    cJSON *metadata = cJSON_AddObjectToObject(schema, "metadata");
    char version[16];

    for (size_t i = 0; i < pkb_column_count(rows); i++) {
        const pkb_column *column = pkb_column_at(rows, i);
        cJSON_AddStringToObject(columns, column->name, pkb_cell_type_name(column->type));
    }
    snprintf(version, sizeof version, "%d", EXPORT_VERSION);
    cJSON_AddStringToObject(metadata, "pkbench_export", version);
    cJSON_AddStringToObject(metadata, "pkbench_rows", pkb_rows_name(rows));
    char *text = pkb_json_line(schema);
    cJSON_Delete(schema);
    return text;
}

static pkb_code start_writer(pkb_target *target, const char *script, const char *schema,
                             pkb_error *err)
{
    const char *argv[] = {target->python, script, target->stage.temporary, schema, NULL};
    int ends[2] = {-1, -1};

    if (pipe2(ends, O_CLOEXEC) != 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot make a pipe");
    const pkb_process_options options = {.argv = argv, .has_stdin = true, .stdin_fd = ends[0]};
    pkb_code rc = pkb_process_start(&target->writer, &options, err);
    close(ends[0]);
    if (rc == PKB_OK)
        return open_stream(target, ends[1], err);
    close(ends[1]);
    return rc;
}

pkb_code pkb_target_open_parquet(pkb_target *out, const char *path, pkb_rows rows,
                                 const pkb_toolbox *tools, pkb_error *err)
{
    char *script = pkb_toolbox_path(tools, "evaluator/export/parquet.py");
    char *schema = make_schema(rows);
    pkb_code rc = PKB_OK;

    *out = (pkb_target)PKB_TARGET_NONE;
    out->python = tools->tools[PKB_TOOL_PYTHON].path;
    if (script == NULL || schema == NULL)
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the columns");
    else if (is_stdout(path))
        rc = pkb_error_set(err, PKB_ERR_USAGE, 0,
                           "a Parquet file is not written from its beginning to its end: name a "
                           "file, or take --csv -");
    if (rc == PKB_OK)
        rc = open_stage(out, path, err);
    if (rc == PKB_OK)
        rc = start_writer(out, script, schema, err);
    free(script);
    cJSON_free(schema);
    return rc;
}

/* Waits for the writer, whose own words say more than a broken pipe does. */
static pkb_code finish_writer(pkb_target *target, pkb_error *err)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + WRITER_LIMIT_S * PKB_NS_PER_S;
    pkb_child_exit how = {0};
    pkb_buf said = {0};

    pkb_code rc = pkb_process_finish(&target->writer, &deadline_ns, NULL, &how, &said, err);
    const char *text = pkb_buf_text(&said);
    if (rc == PKB_OK && how.exited && how.status == WRITER_LACKS_DUCKDB)
        rc = pkb_error_set(err, PKB_ERR_MISSING, 0,
                           "%s has no duckdb, which writes Parquet: install it (%s -m pip install "
                           "duckdb, 25 MB), or take --csv",
                           target->python, target->python);
    else if (rc == PKB_OK && !(how.exited && how.status == 0))
        rc = pkb_error_set(err, PKB_ERR_CHILD, how.status, "cannot write %s: %.*s", target->path,
                           (int)strcspn(text, "\n"), text[0] != '\0' ? text : "the writer died");
    pkb_buf_clear(&said);
    return rc;
}

/* ---- the end ---- */

pkb_code pkb_target_check(const pkb_target *target, const pkb_runset *runset, pkb_error *err)
{
    if (is_stdout(target->path) || !pkb_runset_has_file(runset, target->path))
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_USAGE, 0,
                         "%s is a file of the run that is to be exported: name another one",
                         target->path);
}

static pkb_code flush(pkb_target *target, pkb_error *err)
{
    FILE *out = target->out;

    target->out = NULL;
    if (out == stdout)
        return pkb_output_flush(err);
    const pkb_code rc = pkb_output_flush_to(out, target->path, err);
    if (fclose(out) != 0 && rc == PKB_OK)
        return pkb_error_set_errno(err, PKB_ERR_DISK, "cannot write %s", target->path);
    return rc;
}

pkb_code pkb_target_finish(pkb_target *target, pkb_code rc, pkb_error *err)
{
    if (rc == PKB_OK || rc == PKB_ERR_DISK) {
        const pkb_code flushed = flush(target, rc == PKB_OK ? err : NULL);
        rc = rc == PKB_OK ? flushed : rc;
    }
    if (target->writer.child.pid != 0 && (rc == PKB_OK || rc == PKB_ERR_DISK)) {
        pkb_error why = {0};
        const pkb_code written = finish_writer(target, &why);
        if (written != PKB_OK) {
            *err = why;
            rc = written;
        }
    }
    if (rc == PKB_OK && !is_stdout(target->path))
        rc = pkb_fs_stage_commit(&target->stage, err);
    return rc;
}

void pkb_target_clear(pkb_target *target)
{
    if (target->out != NULL && target->out != stdout)
        fclose(target->out);
    target->out = NULL;
    pkb_process_clear(&target->writer);
    pkb_fs_stage_clear(&target->stage);
}
