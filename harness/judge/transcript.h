/* SPDX-License-Identifier: Apache-2.0
 *
 * What an attempt prints: read from a pipe without ever blocking, kept as its beginning and end.
 * Nothing it says has any meaning to us.
 */
#ifndef PKB_HARNESS_TRANSCRIPT_H
#define PKB_HARNESS_TRANSCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { PKB_TRANSCRIPT_HEAD = 32768, PKB_TRANSCRIPT_TAIL = 32768 };

typedef struct pkb_transcript {
    int read_fd, write_fd; /* -1 = closed; the child gets write_fd */
    uint64_t bytes;        /* ever read */
    char head[PKB_TRANSCRIPT_HEAD];
    char tail[PKB_TRANSCRIPT_TAIL]; /* ring of what follows the head */
} pkb_transcript;

pkb_code pkb_transcript_open(pkb_transcript *transcript, pkb_error *err);
void pkb_transcript_close_writer(pkb_transcript *transcript);
void pkb_transcript_drain(pkb_transcript *transcript);
/* Appends what was kept to a file, best effort: a log decides nothing. */
void pkb_transcript_save(const pkb_transcript *transcript, const char *path, const char *title);
void pkb_transcript_close(pkb_transcript *transcript);

#endif
