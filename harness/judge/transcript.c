/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps head and tail of a stream; see transcript.h.
 */
#include "harness/judge/transcript.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIPE_BYTES = 1 << 20 };

pkb_code pkb_transcript_open(pkb_transcript *transcript, pkb_error *err)
{
    int fds[2];

    memset(transcript, 0, sizeof *transcript);
    transcript->read_fd = transcript->write_fd = -1;
    if (pipe2(fds, O_CLOEXEC) != 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot make a pipe for an attempt's output");
    transcript->read_fd = fds[0];
    transcript->write_fd = fds[1];
    fcntl(fds[0], F_SETPIPE_SZ, PIPE_BYTES); /* the default will do as well */
    if (fcntl(fds[0], F_SETFL, O_NONBLOCK) != 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot read a pipe without blocking");
    return PKB_OK;
}

void pkb_transcript_close_writer(pkb_transcript *transcript)
{
    if (transcript->write_fd >= 0)
        close(transcript->write_fd);
    transcript->write_fd = -1;
}

static void keep(pkb_transcript *transcript, const char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++, transcript->bytes++) {
        if (transcript->bytes < PKB_TRANSCRIPT_HEAD)
            transcript->head[transcript->bytes] = data[i];
        else
            transcript->tail[(transcript->bytes - PKB_TRANSCRIPT_HEAD) % PKB_TRANSCRIPT_TAIL] =
                data[i];
    }
}

void pkb_transcript_drain(pkb_transcript *transcript)
{
    char part[16384];
    /* Bounded: an attempt that prints for ever must not keep us here. */
    for (int i = 0; i < 64 && transcript->read_fd >= 0; i++) {
        ssize_t got = read(transcript->read_fd, part, sizeof part);
        if (got <= 0)
            return;
        keep(transcript, part, (size_t)got);
    }
}

void pkb_transcript_save(const pkb_transcript *transcript, const char *path, const char *title)
{
    FILE *file = fopen(path, "ae");
    if (file == NULL)
        return;
    uint64_t bytes = transcript->bytes;
    uint64_t rest = bytes > PKB_TRANSCRIPT_HEAD ? bytes - PKB_TRANSCRIPT_HEAD : 0;
    fprintf(file, "---- %s ----\n", title);
    fwrite(transcript->head, 1, bytes - rest, file);
    if (rest > PKB_TRANSCRIPT_TAIL) {
        fprintf(file, "\n---- %" PRIu64 " bytes left out ----\n", rest - PKB_TRANSCRIPT_TAIL);
        size_t begin = rest % PKB_TRANSCRIPT_TAIL;
        fwrite(transcript->tail + begin, 1, PKB_TRANSCRIPT_TAIL - begin, file);
        fwrite(transcript->tail, 1, begin, file);
    } else {
        fwrite(transcript->tail, 1, rest, file);
    }
    fprintf(file, "\n");
    fclose(file);
}

void pkb_transcript_close(pkb_transcript *transcript)
{
    pkb_transcript_close_writer(transcript);
    if (transcript->read_fd >= 0)
        close(transcript->read_fd);
    transcript->read_fd = -1;
}
