/* SPDX-License-Identifier: Apache-2.0
 *
 * Records read once more; see runset_record.h.
 */
#include "evaluator/score/runset_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "evaluator/record/record_line.h"

static pkb_code complain(const pkb_runset_reader *reader, const pkb_outcome *outcome,
                         pkb_error *err)
{
    return pkb_error_set(
        err, PKB_ERR_USAGE, 0,
        "%s:%zu changed while it was read: wait until nobody writes the file, then "
        "try again",
        reader->runset->files[outcome->file].path, outcome->line);
}

/* Those of batches, which scores pass over; all others were looked at. */
static pkb_code check_keys(const pkb_runset_reader *reader, const pkb_outcome *outcome,
                           const cJSON *record, pkb_error *err)
{
    pkb_error why = {0};
    const pkb_code rc = pkb_json_check_keys(record, "it", &why);

    if (rc != PKB_ERR_FORMAT)
        return rc == PKB_OK ? PKB_OK : pkb_error_set(err, rc, 0, "%s", why.message);
    return pkb_error_set(err, PKB_ERR_USAGE, 0, "%s:%zu is no record: %s",
                         reader->runset->files[outcome->file].path, outcome->line, why.message);
}

/* The very file: a name may have become another one's. */
static pkb_code open_file(pkb_runset_reader *reader, const pkb_outcome *outcome, pkb_error *err)
{
    const pkb_runset_file *file = &reader->runset->files[outcome->file];
    struct stat status;

    if (reader->fd >= 0 && reader->file == outcome->file)
        return PKB_OK;
    if (reader->fd >= 0)
        close(reader->fd);
    reader->file = outcome->file;
    reader->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (reader->fd < 0)
        return pkb_error_set_errno(err, PKB_ERR_USAGE, "cannot read %s again", file->path);
    if (fstat(reader->fd, &status) != 0 || status.st_dev != file->device ||
        status.st_ino != file->inode)
        return complain(reader, outcome, err);
    return PKB_OK;
}

static pkb_code make_room(pkb_runset_reader *reader, size_t bytes, pkb_error *err)
{
    if (bytes + 1 <= reader->capacity_bytes)
        return PKB_OK;
    char *larger = realloc(reader->line, bytes + 1);
    if (larger == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a record");
    reader->line = larger;
    reader->capacity_bytes = bytes + 1;
    return PKB_OK;
}

pkb_code pkb_runset_reader_line(pkb_runset_reader *reader, const pkb_outcome *outcome,
                                pkb_error *err)
{
    pkb_code rc = open_file(reader, outcome, err);
    size_t filled = 0;

    if (rc == PKB_OK)
        rc = make_room(reader, outcome->bytes, err);
    while (rc == PKB_OK && filled < outcome->bytes) {
        const ssize_t count = pread(reader->fd, reader->line + filled, outcome->bytes - filled,
                                    (off_t)(outcome->offset + filled));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return pkb_error_set_errno(err, PKB_ERR_IO, "cannot read %s",
                                       reader->runset->files[outcome->file].path);
        if (count == 0)
            return complain(reader, outcome, err);
        filled += (size_t)count;
    }
    if (rc == PKB_OK) {
        reader->bytes = filled;
        reader->line[filled] = '\0';
    }
    return rc;
}

pkb_code pkb_runset_reader_record(pkb_runset_reader *reader, const pkb_outcome *outcome,
                                  bool has_batches, cJSON **out, pkb_error *err)
{
    pkb_code rc = pkb_runset_reader_line(reader, outcome, err);
    cJSON *record = NULL;

    if (rc != PKB_OK)
        return rc;
    if (!has_batches)
        reader->bytes = pkb_record_line_strip(reader->line, reader->bytes, NULL);
    if (pkb_json_parse_any(&record, reader->line, reader->bytes, "the line", NULL) != PKB_OK ||
        strcmp(pkb_json_string_or(record, "judgement", ""), outcome->judgement) != 0 ||
        strcmp(pkb_json_string_or(record, "problem", ""), outcome->problem) != 0)
        rc = complain(reader, outcome, err);
    else
        rc = check_keys(reader, outcome, record, err);
    if (rc == PKB_OK)
        *out = record;
    else
        cJSON_Delete(record);
    return rc;
}

void pkb_runset_reader_close(pkb_runset_reader *reader)
{
    if (reader->fd >= 0)
        close(reader->fd);
    free(reader->line);
    *reader = PKB_RUNSET_READER(NULL);
}
