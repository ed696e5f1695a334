/* SPDX-License-Identifier: Apache-2.0
 *
 * Splits PTX text into tokens. Comments vanish; everything else keeps its line for messages.
 */
#ifndef PKB_PTX_TOKEN_H
#define PKB_PTX_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum pkb_ptx_token_kind {
    PKB_PTX_WORD,     /* ld, %r1, $L__BB0_1, _ */
    PKB_PTX_DOT,      /* .global, .L1::no_allocate, .x: with its dot */
    PKB_PTX_INTEGER,  /* value in `bits` */
    PKB_PTX_FLOAT32,  /* 0f3F800000: the pattern in `bits` */
    PKB_PTX_FLOAT64,  /* 0d... or 1.5: the pattern of the double in `bits` */
    PKB_PTX_TEXT,     /* "…": with its quotes */
    PKB_PTX_PUNCTUAL, /* one character */
    PKB_PTX_END
} pkb_ptx_token_kind;

typedef struct pkb_ptx_token {
    const char *text; /* into the PTX text, not terminated */
    uint32_t length;
    uint32_t line;
    uint64_t bits;
    pkb_ptx_token_kind kind;
} pkb_ptx_token;

/* Tokens of `text`, ended by one PKB_PTX_END; the caller frees *out. They point into `text`. */
pkb_code pkb_ptx_tokenize(const char *text, size_t length, pkb_ptx_token **out, size_t *out_count,
                          pkb_error *err);

bool pkb_ptx_token_is(const pkb_ptx_token *token, const char *text);

#endif
