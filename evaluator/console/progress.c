/* SPDX-License-Identifier: Apache-2.0
 *
 * The progress line; see progress.h.
 */
#include "evaluator/console/progress.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "evaluator/console/terminal.h"

#define REDRAW_NS (100 * PKB_NS_PER_MS)

static void draw(pkb_progress *progress)
{
    enum { CLOCK_COLUMNS = 10 };
    const double seconds = (double)(pkb_clock_now_ns() - progress->start_ns) / 1e9;
    const int columns = pkb_terminal_columns(stderr) - CLOCK_COLUMNS;
    char text[400];

    snprintf(text, sizeof text, "%s%s%s%s%s", progress->subject, progress->is_of_many ? "  " : "",
             progress->step, progress->detail[0] != '\0' ? ": " : "", progress->detail);
    fprintf(stderr, "\r\033[K%s%5.1f s%s  %.*s", pkb_terminal_start(stderr, PKB_STYLE_DIM), seconds,
            pkb_terminal_end(stderr), columns > 1 ? columns : 1, text);
    fflush(stderr);
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
