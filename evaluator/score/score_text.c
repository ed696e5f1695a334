/* SPDX-License-Identifier: Apache-2.0
 *
 * A score for people; see score_print.h.
 */
#include <math.h>
#include <string.h>

#include "evaluator/console/clean.h"
#include "evaluator/console/terminal.h"
#include "evaluator/console/text_row.h"
#include "evaluator/score/score_print.h"

enum { INDENT = 2, LABEL_COLUMNS = 16, CELL_COLUMNS = 22 };

void pkb_score_percent(char out[PKB_SCORE_TEXT_BYTES], pkb_interval interval)
{
    if (isnan(interval.value))
        snprintf(out, PKB_SCORE_TEXT_BYTES, "-");
    else if (isnan(interval.low))
        snprintf(out, PKB_SCORE_TEXT_BYTES, "%.1f %%", 100 * interval.value);
    else
        snprintf(out, PKB_SCORE_TEXT_BYTES, "%.1f %% [%.1f, %.1f]", 100 * interval.value,
                 100 * interval.low, 100 * interval.high);
}

void pkb_score_times(char out[PKB_SCORE_TEXT_BYTES], pkb_interval interval)
{
    if (isnan(interval.value))
        snprintf(out, PKB_SCORE_TEXT_BYTES, "-");
    else if (isnan(interval.low))
        snprintf(out, PKB_SCORE_TEXT_BYTES, "%.2fx", interval.value);
    else
        snprintf(out, PKB_SCORE_TEXT_BYTES, "%.2fx [%.2f, %.2f]", interval.value, interval.low,
                 interval.high);
}

/* ---- head ---- */

static void print_condition(FILE *out, const pkb_runset *runset, pkb_condition condition)
{
    const char *value = pkb_runset_condition(runset, condition);
    pkb_buf text = {0};

    if (value == NULL)
        return;
    pkb_clean_append(&text, value, strlen(value), 100);
    fprintf(out, "  %s %s%s%s%s", pkb_condition_key(condition),
            runset->is_mixed[condition] ? pkb_terminal_start(out, PKB_STYLE_BAD) : "",
            pkb_buf_text(&text), runset->is_mixed[condition] ? " and others" : "",
            runset->is_mixed[condition] ? pkb_terminal_end(out) : "");
    pkb_buf_clear(&text);
}

void pkb_score_text_conditions(FILE *out, const pkb_runset *runset)
{
    bool is_mixed = runset->has_mixed_sizes || runset->has_mixed_definitions;

    for (int i = PKB_CONDITION_DEVICE; i < PKB_CONDITION_COUNT; i++)
        print_condition(out, runset, (pkb_condition)i);
    fputc('\n', out);
    for (int i = PKB_CONDITION_DEVICE; i < PKB_CONDITION_COUNT; i++)
        is_mixed |= runset->is_mixed[i];
    if (is_mixed)
        fprintf(out, "  %sMIXED%s: attempts under different conditions, counted together\n",
                pkb_terminal_start(out, PKB_STYLE_BAD), pkb_terminal_end(out));
}

static void print_head(FILE *out, const pkb_score *score)
{
    const pkb_score_group *all = &score->all;

    fprintf(out, "%s%s%s: %zu problem%s, %zu of %zu attempts judged (coverage %.1f %%)\n",
            pkb_terminal_start(out, PKB_STYLE_BOLD), score->runset->name, pkb_terminal_end(out),
            all->problems, all->problems == 1 ? "" : "s", all->judged, all->planned,
            100 * pkb_score_coverage(all));
    pkb_score_text_conditions(out, score->runset);
    if (score->is_screened)
        fputs("  screened on cpu: right or wrong only, speed is measured on GPUs\n", out);
    else if (!score->has_speed)
        fputs("  not timed: right or wrong only\n", out);
    if (!score->is_complete)
        fprintf(out,
                "  %sINCOMPLETE%s: attempts without a record %zu, pending %zu, lines that are "
                "no record %zu; %zu of %zu problems have judged attempts\n",
                pkb_terminal_start(out, PKB_STYLE_BAD), pkb_terminal_end(out), all->missing,
                all->pending, score->runset->broken_count, all->seen, all->problems);
    if (!score->is_complete && !score->runset->has_plan)
        fputs("  (nobody said how many attempts are meant: as many as at the problem with most; "
              "--samples says it)\n",
              out);
    if (all->unsupported > 0)
        fprintf(out, "  UNSUPPORTED here, counted neither way: %zu attempt%s\n", all->unsupported,
                all->unsupported == 1 ? "" : "s");
}

/* ---- the table of numbers ---- */

/* A k that no problem has attempts for, planned ones included, gets no column. */
static bool has_column(const pkb_score_group *all, size_t i)
{
    return i == 0 || all->pass[i].problems > 0 || !isnan(all->pass[i].if_fail);
}

typedef void print_interval(char out[PKB_SCORE_TEXT_BYTES], pkb_interval interval);

static pkb_text_row start_row(FILE *out, const char *label)
{
    pkb_text_row row = {.out = out, .owed = INDENT};
    pkb_text_row_left(&row, LABEL_COLUMNS, "%s", label);
    return row;
}

static void print_cells(FILE *out, const pkb_score_group *all, const char *label,
                        const pkb_score_value *values, print_interval *print)
{
    pkb_text_row row = start_row(out, label);

    for (size_t i = 0; i < PKB_SCORE_KS && has_column(all, i); i++) {
        char text[PKB_SCORE_TEXT_BYTES];
        print(text, values[i].mean);
        pkb_text_row_left(&row, CELL_COLUMNS, "%s", text);
    }
    pkb_text_row_end(&row);
}

/* "18.4 ... 31.0 %" */
static void add_range(pkb_text_row *row, double low, double high)
{
    if (isnan(low))
        pkb_text_row_left(row, CELL_COLUMNS, "-");
    else
        pkb_text_row_left(row, CELL_COLUMNS, "%.1f ... %.1f %%", 100 * low, 100 * high);
}

static void print_bounds(FILE *out, const pkb_score_group *all, const pkb_score_value *values)
{
    pkb_text_row row = start_row(out, "  rest fail/pass");

    for (size_t i = 0; i < PKB_SCORE_KS && has_column(all, i); i++)
        add_range(&row, values[i].if_fail, values[i].if_pass);
    pkb_text_row_end(&row);
}

static void print_ends(FILE *out, const pkb_score_group *all, const pkb_score_value *values)
{
    pkb_text_row row = start_row(out, "  by their ends");

    for (size_t i = 0; i < PKB_SCORE_KS && has_column(all, i); i++)
        add_range(&row, values[i].by_low, values[i].by_high);
    pkb_text_row_end(&row);
}

/* A mean over fewer problems than there are says so. */
static void print_problems(FILE *out, const pkb_score_group *group)
{
    bool is_short = false;

    for (size_t i = 0; i < PKB_SCORE_KS; i++)
        is_short |= group->pass[i].problems > 0 && group->pass[i].problems < group->problems;
    if (!is_short)
        return;
    pkb_text_row row = start_row(out, "  over problems");
    for (size_t i = 0; i < PKB_SCORE_KS && has_column(group, i); i++)
        pkb_text_row_left(&row, CELL_COLUMNS, "%zu of %zu", group->pass[i].problems,
                          group->problems);
    pkb_text_row_end(&row);
}

static void print_ks(FILE *out, const pkb_score_group *all)
{
    fprintf(out, "\n%s", pkb_terminal_start(out, PKB_STYLE_DIM));
    pkb_text_row row = start_row(out, "");
    for (size_t i = 0; i < PKB_SCORE_KS && has_column(all, i); i++)
        pkb_text_row_left(&row, CELL_COLUMNS, "k = %zu", pkb_score_ks[i]);
    fputs(pkb_terminal_end(out), out);
    pkb_text_row_end(&row);
}

static void print_numbers(FILE *out, const pkb_score *score)
{
    const pkb_score_group *all = &score->all;
    const bool has_bounds = all->judged < all->planned;
    char text[PKB_SCORE_TEXT_BYTES];

    print_ks(out, all);
    print_cells(out, all, "pass@k", all->pass, pkb_score_percent);
    print_problems(out, all);
    if (has_bounds)
        print_bounds(out, all, all->pass);
    for (size_t p = 0; p < PKB_SCORE_PS && score->has_speed; p++) {
        snprintf(text, sizeof text, "fast_%g@k", pkb_score_ps[p]);
        print_cells(out, all, text, all->fast[p], pkb_score_percent);
        if (has_bounds)
            print_bounds(out, all, all->fast[p]);
        if (all->straddling[p] + all->unmeasured > 0)
            print_ends(out, all, all->fast[p]);
    }
    if (!score->has_speed)
        return;
    print_cells(out, all, "best of k", all->best, pkb_score_times);
    pkb_score_times(text, all->speedup);
    fprintf(out, "\n  speed-up of correct attempts: %s, geometric mean of %zu (of %zu judged)\n",
            text, all->timed, all->judged);
    if (all->unmeasured > 0)
        fprintf(out, "  %zu correct attempts have no speed-up; they count as not faster\n",
                all->unmeasured);
}

/* ---- verdicts and programs ---- */

static void print_verdicts(FILE *out, const pkb_score *score)
{
    const char *separator = "\n  verdicts: ";

    for (int i = PKB_VERDICT_COUNT; i-- > 0;)
        if (score->verdicts[i] > 0) {
            fprintf(out, "%s%s %zu", separator, pkb_verdict_name((pkb_verdict)i),
                    score->verdicts[i]);
            separator = ", ";
        }
    fputc('\n', out);
}

static void print_distinct(FILE *out, const pkb_score *score)
{
    const pkb_score_group *all = &score->all;
    const size_t recorded = all->judged + all->pending + all->unsupported;

    fprintf(out, "  distinct programs: %zu of %zu%s%s\n", all->distinct, recorded,
            score->has_sources ? "" : " (some sources are not at hand: compared byte by byte)",
            all->distinct < recorded ? "; equal ones are no independent attempts" : "");
}

void pkb_score_text(FILE *out, const pkb_score *score, bool by_problem)
{
    print_head(out, score);
    print_numbers(out, score);
    print_verdicts(out, score);
    print_distinct(out, score);
    pkb_score_text_parts(out, score, by_problem);
}
