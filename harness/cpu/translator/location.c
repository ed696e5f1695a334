/* SPDX-License-Identifier: Apache-2.0
 *
 * Source lines; see location.h.
 */
#include "harness/cpu/translator/location.h"

#include <string.h>

enum { MAX_DEPTH = 64, MAX_SEARCH = 4096, MAX_POSITION = 1 << 30 };

static pkb_ptx_place read_place(pkb_ptx_cursor *cursor)
{
    pkb_ptx_place place;
    place.file = (uint32_t)pkb_ptx_expect_integer(cursor, MAX_POSITION);
    place.line = (uint32_t)pkb_ptx_expect_integer(cursor, MAX_POSITION);
    place.column = (uint32_t)pkb_ptx_expect_integer(cursor, MAX_POSITION);
    return place;
}

static bool is_user(const pkb_ptx_writer *w, pkb_ptx_place place)
{
    return place.file < w->module->file_count && w->module->files[place.file].is_user;
}

static bool is_same_place(pkb_ptx_place a, pkb_ptx_place b)
{
    return a.file == b.file && a.line == b.line && a.column == b.column;
}

static bool is_same_function(const pkb_ptx_inlining *a, const pkb_ptx_inlining *b)
{
    return a->name_offset == b->name_offset && a->name->length == b->name->length &&
           memcmp(a->name->text, b->name->text, a->name->length) == 0;
}

static size_t search_end(const pkb_ptx_writer *w)
{
    return w->inlining_count < MAX_SEARCH ? 0 : w->inlining_count - MAX_SEARCH;
}

/* The latest .loc at `inner`; with `like`, only one of its function and outer place. */
static const pkb_ptx_inlining *find_inner(const pkb_ptx_writer *w, pkb_ptx_place inner,
                                          const pkb_ptx_inlining *like)
{
    for (size_t i = w->inlining_count; i > search_end(w); i--) {
        const pkb_ptx_inlining *found = &w->inlinings[i - 1];
        if (is_same_place(found->inner, inner) &&
            (like == NULL ||
             (is_same_function(found, like) && is_same_place(found->outer, like->outer))))
            return found;
    }
    return NULL;
}

static const pkb_ptx_inlining *find_function(const pkb_ptx_writer *w, const pkb_ptx_inlining *like)
{
    for (size_t i = w->inlining_count; i > search_end(w); i--)
        if (is_same_function(&w->inlinings[i - 1], like))
            return &w->inlinings[i - 1];
    return like;
}

/* An inlined_at names an earlier .loc, but not which: a function that is inlined twice has every
 * place twice, and all of them may be declared far ahead of their code. The code that came last
 * from that function tells in which of its calls we are. */
static bool find_outer(const pkb_ptx_writer *w, pkb_ptx_place inner, pkb_ptx_place *out)
{
    const pkb_ptx_inlining *latest = find_inner(w, inner, NULL);
    if (latest == NULL)
        return false;
    const pkb_ptx_inlining *better = find_inner(w, inner, find_function(w, latest));
    *out = better != NULL ? better->outer : latest->outer;
    return true;
}

static void remember(pkb_ptx_writer *w, const pkb_ptx_inlining *inlining)
{
    if (pkb_ptx_make_room(&w->cursor, (void **)&w->inlinings, w->inlining_count,
                          &w->inlining_capacity, sizeof *w->inlinings))
        w->inlinings[w->inlining_count++] = *inlining;
}

/* Behind the comma: `function_name NAME[+offset], inlined_at place`. */
static pkb_ptx_inlining read_inlining(pkb_ptx_cursor *cursor, pkb_ptx_place inner)
{
    pkb_ptx_inlining inlining = {.inner = inner};
    pkb_ptx_expect(cursor, "function_name");
    inlining.name = pkb_ptx_next(cursor);
    if (pkb_ptx_accept(cursor, "+"))
        inlining.name_offset = pkb_ptx_next(cursor)->bits;
    pkb_ptx_expect(cursor, ",");
    pkb_ptx_expect(cursor, "inlined_at");
    inlining.outer = read_place(cursor);
    return inlining;
}

void pkb_ptx_location_read(pkb_ptx_writer *w)
{
    pkb_ptx_cursor *cursor = &w->cursor;
    pkb_ptx_place inner = read_place(cursor), place = inner;

    if (pkb_ptx_accept(cursor, ",")) {
        const pkb_ptx_inlining inlining = read_inlining(cursor, inner);
        remember(w, &inlining);
        place = inlining.outer;
        if (is_user(w, inner))
            place = inner;
    }
    for (int depth = 0; depth < MAX_DEPTH && !is_user(w, place); depth++)
        if (!find_outer(w, place, &place))
            break;
    if (!is_user(w, place))
        place = inner;
    /* Line 0 marks code that belongs to no line; the last one known is a better answer. */
    if (place.line != 0)
        w->place = place;
}

void pkb_ptx_location_mark(pkb_ptx_writer *w)
{
    if (w->place.line == 0 || (w->place.line == w->shown.line && w->place.file == w->shown.file))
        return;
    if (w->place.file == w->shown.file)
        pkb_buf_printf(&w->body, "T->line=%u;", w->place.line);
    else
        pkb_buf_printf(&w->body, "PKB_PLACE(%u,%u);", w->place.file, w->place.line);
    w->shown = w->place;
}

void pkb_ptx_location_forget(pkb_ptx_writer *w)
{
    memset(&w->shown, 0xff, sizeof w->shown);
}

void pkb_ptx_location_describe(const pkb_ptx_writer *w, pkb_buf *out)
{
    const pkb_ptx_module *module = w->module;
    const pkb_ptx_token *name =
        w->place.file < module->file_count ? module->files[w->place.file].name : NULL;
    uint32_t start = 1, end = name == NULL ? 1 : name->length - 1;

    for (uint32_t i = 1; i < end; i++)
        if (name->text[i] == '/')
            start = i + 1;
    for (uint32_t i = start; i < end; i++) {
        char c = name->text[i];
        pkb_buf_append_byte(out, c == '"' || c == '\\' || c == '%' ? '_' : c);
    }
    if (name != NULL && name->text[end] == '"' && end > start)
        pkb_buf_printf(out, ":%u", w->place.line);
}
