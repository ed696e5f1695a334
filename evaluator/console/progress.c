/* SPDX-License-Identifier: Apache-2.0
 *
 * The progress line; see progress.h.
 */
#include "evaluator/console/progress.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "evaluator/console/clean.h"
#include "evaluator/console/terminal.h"

#define REDRAW_NS (100 * PKB_NS_PER_MS)

static void write_one(pkb_buf *out, const pkb_progress *progress, double seconds)
{
    pkb_buf_printf(out, "%5.1f s  %s%s%s", seconds, progress->step,
                   progress->detail[0] != '\0' ? ": " : "", progress->detail);
}

static void write_of_many(pkb_buf *out, const pkb_progress *progress, double seconds, int columns)
{
    pkb_buf now = {0};

    pkb_buf_printf(&now, "%s  %s%s%s  %.0f s", progress->subject, progress->step,
                   progress->detail[0] != '\0' ? ": " : "", progress->detail, seconds);
    pkb_bar_write(out, &progress->bar, pkb_buf_text(&now), columns);
    pkb_buf_clear(&now);
}

static void draw(pkb_progress *progress)
{
    const double seconds = (double)(pkb_clock_now_ns() - progress->start_ns) / 1e9;
    const int columns = pkb_terminal_columns(stderr) - 1; /* a full line would wrap */
    pkb_buf line = {0}, cut = {0};

    if (progress->is_of_many)
        write_of_many(&line, progress, seconds, columns);
    else
        write_one(&line, progress, seconds);
    pkb_clean_append(&cut, pkb_buf_text(&line), line.bytes, columns > 1 ? (size_t)columns : 1);
    fprintf(stderr, "\r\033[K%s%s%s", pkb_terminal_start(stderr, PKB_STYLE_DIM), pkb_buf_text(&cut),
            pkb_terminal_end(stderr));
    fflush(stderr);
    pkb_buf_clear(&line);
    pkb_buf_clear(&cut);
    progress->drawn_ns = pkb_clock_now_ns();
    progress->is_shown = true;
}

void pkb_progress_start(pkb_progress *progress)
{
    *progress =
        (pkb_progress){.is_live = pkb_terminal_is_live(stderr), .start_ns = pkb_clock_now_ns()};
}

void pkb_progress_subject(pkb_progress *progress, const char *subject)
{
    snprintf(progress->subject, sizeof progress->subject, "%s", subject);
    progress->is_of_many = true;
    progress->start_ns = pkb_clock_now_ns();
}

void pkb_progress_bar(pkb_progress *progress, const pkb_bar *bar)
{
    progress->bar = *bar;
}

void pkb_progress_step(pkb_progress *progress, const char *step, const char *detail)
{
    const bool is_new = strcmp(progress->step, step) != 0;
    detail = detail != NULL ? detail : "";
    if (!is_new && strcmp(progress->detail, detail) == 0)
        return;
    snprintf(progress->step, sizeof progress->step, "%s", step);
    snprintf(progress->detail, sizeof progress->detail, "%s", detail);
    if (progress->tell != NULL)
        progress->tell(progress->context, progress->step, progress->detail);
    else if (progress->is_live)
        draw(progress);
    else if (is_new && !progress->is_of_many)
        fprintf(stderr, "%s\n", progress->step);
}

void pkb_progress_tick(pkb_progress *progress)
{
    if (progress->is_live && progress->step[0] != '\0' &&
        pkb_clock_now_ns() - progress->drawn_ns >= REDRAW_NS)
        draw(progress);
}

void pkb_progress_end(pkb_progress *progress)
{
    if (progress->is_shown)
        fputs("\r\033[K", stderr);
    fflush(stderr);
    progress->is_shown = false;
    progress->step[0] = '\0';
}
