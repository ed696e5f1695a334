/* SPDX-License-Identifier: Apache-2.0
 *
 * Source lines: what .loc says, and the stores that let a fault name its line.
 */
#ifndef PKB_PTX_LOCATION_H
#define PKB_PTX_LOCATION_H

#include "harness/cpu/translator/writer.h"

typedef struct pkb_ptx_inlining { /* a place in a function, and where that one was inlined */
    pkb_ptx_place inner, outer;
    const pkb_ptx_token *name;
    uint64_t name_offset;
} pkb_ptx_inlining;

/* Called behind `.loc`: sets w->place. Code inlined from a header counts for the place in the
 * attempt's own source that it was inlined into. */
void pkb_ptx_location_read(pkb_ptx_writer *w);

/* Writes the store of w->place, unless this straight line of code already holds it. */
void pkb_ptx_location_mark(pkb_ptx_writer *w);

/* Other code may have changed what the thread holds. */
void pkb_ptx_location_forget(pkb_ptx_writer *w);

/* Appends "file:line" for messages in the emitted code. */
void pkb_ptx_location_describe(const pkb_ptx_writer *w, pkb_buf *out);

#endif
