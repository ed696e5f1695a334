/* SPDX-License-Identifier: Apache-2.0
 *
 * Source lines; see location.h.
 */
#include "harness/cpu/translator/location.h"

#include <string.h>

enum { MAX_DEPTH = 64, MAX_SEARCH = 512, MAX_POSITION = 1 << 30 };

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

/* An inlined_at names an earlier .loc, mostly the one just before. */
static bool find_outer(const pkb_ptx_writer *w, pkb_ptx_place inner, pkb_ptx_place *out)
{
    for (size_t i = w->inlining_count; i > 0 && w->inlining_count - i < MAX_SEARCH; i--)
        if (memcmp(&w->inlinings[i - 1].inner, &inner, sizeof inner) == 0) {
            *out = w->inlinings[i - 1].outer;
            return true;
        }
    return false;
}

static void remember(pkb_ptx_writer *w, pkb_ptx_place inner, pkb_ptx_place outer)
{
    if (!pkb_ptx_make_room(&w->cursor, (void **)&w->inlinings, w->inlining_count,
                           &w->inlining_capacity, sizeof *w->inlinings))
        return;
    w->inlinings[w->inlining_count++] = (pkb_ptx_inlining){inner, outer};
}

void pkb_ptx_location_read(pkb_ptx_writer *w)
{
    pkb_ptx_cursor *cursor = &w->cursor;
    pkb_ptx_place inner = read_place(cursor), place = inner;

    if (pkb_ptx_accept(cursor, ",")) {
        pkb_ptx_expect(cursor, "function_name");
        pkb_ptx_next(cursor);
        if (pkb_ptx_accept(cursor, "+"))
            pkb_ptx_next(cursor);
        pkb_ptx_expect(cursor, ",");
        pkb_ptx_expect(cursor, "inlined_at");
        place = read_place(cursor);
        remember(w, inner, place);
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
