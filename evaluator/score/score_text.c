/* SPDX-License-Identifier: Apache-2.0
 *
 * A score for people; see score_print.h.
 */
#include <math.h>
#include <string.h>

#include "evaluator/console/clean.h"
#include "evaluator/console/terminal.h"
#include "evaluator/score/score_print.h"

enum { LABEL_COLUMNS = 16, CELL_COLUMNS = 22, NAME_COLUMNS = 28 };

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
        fprintf(out, "  %zu attempts are UNSUPPORTED here and count neither way\n",
                all->unsupported);
}

/* ---- the table of numbers ---- */

/* A k that no problem has attempts for, planned ones included, gets no column. */
static bool has_column(const pkb_score_group *all, size_t i)
{
    return i == 0 || all->pass[i].problems > 0 || !isnan(all->pass[i].if_fail);
}

typedef void print_interval(char out[PKB_SCORE_TEXT_BYTES], pkb_interval interval);

static void print_cells(FILE *out, const pkb_score_group *all, const char *label,
                        const pkb_score_value *values, print_interval *print)
{
    fprintf(out, "  %-*s", LABEL_COLUMNS, label);
    for (size_t i = 0; i < PKB_SCORE_KS && has_column(all, i); i++) {
        char text[PKB_SCORE_TEXT_BYTES];
        print(text, values[i].mean);
        fprintf(out, "  %-*s", CELL_COLUMNS, text);
    }
    fputc('\n', out);
}

/* "18.4 … 31.0 %" */
static void print_range(FILE *out, double low, double high)
{
    char text[PKB_SCORE_TEXT_BYTES] = "-";

    if (!isnan(low))
        snprintf(text, sizeof text, "%.1f ... %.1f %%", 100 * low, 100 * high);
    fprintf(out, "  %-*s", CELL_COLUMNS, text);
}

static void print_bounds(FILE *out, const pkb_score_group *all, const pkb_score_value *values)
{
    fprintf(out, "    %-*s", LABEL_COLUMNS - 2, "rest fail/pass");
    for (size_t i = 0; i < PKB_SCORE_KS && has_column(all, i); i++)
        print_range(out, values[i].if_fail, values[i].if_pass);
    fputc('\n', out);
}

static void print_ends(FILE *out, const pkb_score_group *all, const pkb_score_value *values)
{
    fprintf(out, "    %-*s", LABEL_COLUMNS - 2, "by their ends");
    for (size_t i = 0; i < PKB_SCORE_KS && has_column(all, i); i++)
        print_range(out, values[i].by_low, values[i].by_high);
    fputc('\n', out);
}

/* A mean over fewer problems than there are says so. */
static void print_problems(FILE *out, const pkb_score_group *group)
{
    bool is_short = false;

    for (size_t i = 0; i < PKB_SCORE_KS; i++)
        is_short |= group->pass[i].problems > 0 && group->pass[i].problems < group->problems;
    if (!is_short)
        return;
    fprintf(out, "    %-*s", LABEL_COLUMNS - 2, "over problems");
    for (size_t i = 0; i < PKB_SCORE_KS && has_column(group, i); i++) {
        char text[PKB_SCORE_TEXT_BYTES];
        snprintf(text, sizeof text, "%zu of %zu", group->pass[i].problems, group->problems);
        fprintf(out, "  %-*s", CELL_COLUMNS, text);
    }
    fputc('\n', out);
}

static void print_numbers(FILE *out, const pkb_score *score)
{
    const pkb_score_group *all = &score->all;
    const bool has_bounds = all->judged < all->planned;
    char text[PKB_SCORE_TEXT_BYTES];

    fprintf(out, "\n%s  %-*s", pkb_terminal_start(out, PKB_STYLE_DIM), LABEL_COLUMNS, "");
    for (size_t i = 0; i < PKB_SCORE_KS && has_column(all, i); i++) {
        snprintf(text, sizeof text, "k = %zu", pkb_score_ks[i]);
        fprintf(out, "  %-*s", CELL_COLUMNS, text);
    }
    fprintf(out, "%s\n", pkb_terminal_end(out));
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

/* ---- parts ---- */

static void print_parts_head(FILE *out, const pkb_score *score, const char *what)
{
    fprintf(out, "\n%s  %-*s  %8s  %13s  %-*s", pkb_terminal_start(out, PKB_STYLE_DIM),
            NAME_COLUMNS, what, "problems", "correct", CELL_COLUMNS, "pass@1");
    if (score->has_speed)
        fprintf(out, "  %-*s  %-*s", CELL_COLUMNS, "fast_1@1", CELL_COLUMNS, "speed-up");
    fprintf(out, "%s\n", pkb_terminal_end(out));
}

static void print_part(FILE *out, const pkb_score *score, const pkb_score_group *group)
{
    char correct[PKB_SCORE_TEXT_BYTES], text[PKB_SCORE_TEXT_BYTES];

    snprintf(correct, sizeof correct, "%zu/%zu", group->correct, group->judged);
    pkb_score_percent(text, group->pass[0].mean);
    fprintf(out, "  %-*s  %8zu  %13s  %-*s", NAME_COLUMNS, group->name, group->problems, correct,
            CELL_COLUMNS, text);
    if (score->has_speed) {
        pkb_score_percent(text, group->fast[0][0].mean);
        fprintf(out, "  %-*s", CELL_COLUMNS, text);
        pkb_score_times(text, group->speedup);
        fprintf(out, "  %s (%zu)", text, group->timed);
    }
    fputc('\n', out);
}

static void print_sizes(FILE *out, const pkb_score *score)
{
    char correct[PKB_SCORE_TEXT_BYTES], text[PKB_SCORE_TEXT_BYTES];

    fprintf(out, "\n%s  %-*s  %8s  %13s  %-*s%s%s\n", pkb_terminal_start(out, PKB_STYLE_DIM),
            NAME_COLUMNS, "class of sizes", "reached", "correct", CELL_COLUMNS, "pass@1",
            score->has_speed ? "  speed-up" : "", pkb_terminal_end(out));
    for (int i = 0; i < PKB_SIZE_CLASSES; i++) {
        const pkb_score_size *size = &score->sizes[i];
        if (size->judged == 0)
            continue;
        snprintf(correct, sizeof correct, "%zu/%zu", size->right, size->judged);
        pkb_score_percent(text, size->pass);
        fprintf(out, "  %-*s  %8zu  %13s  %-*s", NAME_COLUMNS,
                pkb_size_class_name((pkb_size_class)i), size->reached, correct, CELL_COLUMNS, text);
        pkb_score_times(text, size->speedup);
        if (score->has_speed)
            fprintf(out, "  %s (%zu)", text, size->timed);
        fputc('\n', out);
    }
}

static void print_by_problem(FILE *out, const pkb_score *score)
{
    fprintf(out, "\n%s  %-*s  %13s  %8s  %8s  %s%s\n", pkb_terminal_start(out, PKB_STYLE_DIM),
            NAME_COLUMNS, "problem", "correct", "planned", "distinct",
            score->has_speed ? "speed-up" : "", pkb_terminal_end(out));
    for (size_t i = 0; i < score->problem_count; i++) {
        const pkb_score_problem *problem = &score->problems[i];
        char correct[PKB_SCORE_TEXT_BYTES];
        snprintf(correct, sizeof correct, "%zu/%zu", problem->correct, problem->judged);
        fprintf(out, "  %-*s  %13s  %8zu  %8zu", NAME_COLUMNS, problem->name, correct,
                problem->planned, problem->distinct);
        if (score->has_speed && problem->timed > 0)
            fprintf(out, "  %.2fx", exp(problem->log_speedup / (double)problem->timed));
        fputc('\n', out);
    }
}

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
    print_sizes(out, score);
    print_parts_head(out, score, "category");
    for (size_t i = 0; i < score->category_count; i++)
        print_part(out, score, &score->categories[i]);
    if (score->collective_count > 0)
        print_parts_head(out, score, "collective");
    for (size_t i = 0; i < score->collective_count; i++)
        print_part(out, score, &score->collectives[i]);
    if (by_problem)
        print_by_problem(out, score);
}
