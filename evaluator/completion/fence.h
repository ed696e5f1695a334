/* SPDX-License-Identifier: Apache-2.0
 *
 * The fenced code blocks of a Markdown text, by the rules of CommonMark: a fence stands at the
 * start of a line, and only a line with nothing but at least as many of the same character ends
 * its block. No I/O, no allocation beyond the buffer that a block's text is appended to.
 */
#ifndef PKB_EVALUATOR_FENCE_H
#define PKB_EVALUATOR_FENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

typedef struct pkb_fence_block {
    const char *info; /* what follows the opening fence, in the text */
    size_t info_bytes;
    const char *text; /* the lines between the fences, as they stand there */
    size_t bytes;
    size_t indent;  /* spaces before the opening fence, which its lines lose */
    bool is_crlf;   /* the opening line ends in CR LF: the whole reply was sent so */
    bool is_closed; /* false: the text ends first */
} pkb_fence_block;

typedef struct pkb_fence_scan {
    const char *at, *end;
    size_t list_indent; /* where the content of the present list item begins; 0 = in none */
} pkb_fence_scan;

pkb_fence_scan pkb_fence_begin(const char *text, size_t bytes);
/* The next block; false: there is none. */
bool pkb_fence_next(pkb_fence_scan *scan, pkb_fence_block *out);

/* Appends the block's text: without the fence's own indent and, where `is_crlf`, with LF for
 * CR LF; else byte for byte. */
void pkb_fence_append(pkb_buf *out, const pkb_fence_block *block);

#endif
