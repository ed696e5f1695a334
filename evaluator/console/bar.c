/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the bar; see bar.h.
 */
#include "evaluator/console/bar.h"

#include <stdio.h>
#include <string.h>

enum { LEAST_CELLS = 8, MOST_CELLS = 24, NOW_COLUMNS = 24, PART_BYTES = 96 };

/* ---- the parts ---- */

static void write_counts(char *out, size_t bytes, const pkb_bar *bar)
{
    size_t used = (size_t)snprintf(out, bytes, "%zu correct", bar->correct);

    if (bar->wrong > 0)
        used += (size_t)snprintf(out + used, bytes - used, ", %zu wrong", bar->wrong);
    if (bar->pending > 0)
        snprintf(out + used, bytes - used, ", %zu pending", bar->pending);
}

static void write_rate(char *out, size_t bytes, const pkb_bar *bar)
{
    const double per_s = bar->judged_s > 0 ? (double)bar->judged / bar->judged_s : 0;

    if (bar->judged == 0 || per_s <= 0)
        out[0] = '\0';
    else if (per_s >= 1)
        snprintf(out, bytes, "%.1f/s", per_s);
    else if (per_s * 60 >= 1)
        snprintf(out, bytes, "%.1f/min", per_s * 60);
    else
        snprintf(out, bytes, "%.1f/h", per_s * 3600);
}

static void write_left(char *out, size_t bytes, const pkb_bar *bar)
{
    const size_t left = bar->total > bar->done ? bar->total - bar->done : 0;
    const double seconds =
        bar->judged > 0 ? (double)left * bar->judged_s / (double)bar->judged : -1;

    if (seconds < 0)
        out[0] = '\0';
    else if (seconds < 90)
        snprintf(out, bytes, "%.0f s left", seconds);
    else if (seconds < 90 * 60)
        snprintf(out, bytes, "%.0f min left", seconds / 60);
    else
        snprintf(out, bytes, "%.1f h left", seconds / 3600);
}

static void write_cells(pkb_buf *out, const pkb_bar *bar, int cells)
{
    const size_t full =
        bar->total > 0 ? (size_t)((double)bar->done / (double)bar->total * cells) : 0;

    pkb_buf_append_byte(out, '[');
    for (size_t i = 0; i < (size_t)cells; i++)
        pkb_buf_append_byte(out, i < full ? '#' : '-');
    pkb_buf_append_string(out, "]  ");
}

/* ---- the line ---- */

/* Appends a part if it fits and leaves `rest` columns. */
static void append_part(pkb_buf *out, const char *part, int columns, int rest)
{
    const size_t gap = out->bytes > 0 ? 2 : 0;

    if (part[0] == '\0' || (int)(out->bytes + gap + strlen(part)) + rest > columns)
        return;
    pkb_buf_append(out, "  ", gap);
    pkb_buf_append_string(out, part);
}

void pkb_bar_write(pkb_buf *out, const pkb_bar *bar, const char *now, int columns)
{
    char count[PART_BYTES], counts[PART_BYTES], rate[PART_BYTES], left[PART_BYTES];
    pkb_buf line = {0};

    snprintf(count, sizeof count, "%zu/%zu", bar->done, bar->total);
    write_counts(counts, sizeof counts, bar);
    write_rate(rate, sizeof rate, bar);
    write_left(left, sizeof left, bar);
    append_part(&line, count, columns, 0);
    append_part(&line, left, columns, 0);
    append_part(&line, counts, columns, NOW_COLUMNS);
    append_part(&line, rate, columns, NOW_COLUMNS);
    const int spare = columns - (int)line.bytes - 2 * NOW_COLUMNS;
    if (spare >= LEAST_CELLS)
        write_cells(out, bar, spare < MOST_CELLS ? spare : MOST_CELLS);
    pkb_buf_append(out, pkb_buf_text(&line), line.bytes);
    const int room = columns - (int)out->bytes - 2;
    if (room > 0 && now[0] != '\0')
        pkb_buf_printf(out, "  %.*s", room, now);
    pkb_buf_clear(&line);
}
