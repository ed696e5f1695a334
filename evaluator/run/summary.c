/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines and table of a run; see summary.h.
 */
#include "evaluator/run/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "evaluator/console/clean.h"
#include "evaluator/console/terminal.h"
#include "evaluator/record/speedup.h"

enum { SUBJECT_COLUMNS = 36, PROBLEM_COLUMNS = 28, VERDICT_COLUMNS = 16, REASON_BYTES = 100 };

/* Names in cost_s, in the order of the table. */
static const char *const parts[PKB_SUMMARY_PARTS] = {"compile", "start", "prepare", "load",
                                                     "check",   "time",  "end"};

static double cost_s(const cJSON *record, const char *part)
{
    double seconds = 0;
    const cJSON *costs = cJSON_GetObjectItemCaseSensitive(record, "cost_s");
    return costs != NULL && pkb_json_get_double(costs, part, &seconds, NULL) == PKB_OK ? seconds
                                                                                       : 0;
}

static void print_verdict(FILE *out, const char *verdict)
{
    const bool is_correct = strcmp(verdict, "CORRECT") == 0;
    fprintf(out, "%s%-*s%s", pkb_terminal_start(out, is_correct ? PKB_STYLE_GOOD : PKB_STYLE_BAD),
            VERDICT_COLUMNS, verdict, pkb_terminal_end(out));
}

/* Long names move the columns of all lines, not of their own. */
static int subject_columns(const pkb_summary_place *place)
{
    const int number = snprintf(NULL, 0, "[%zu/%zu] ", place->count, place->count);
    const int columns = number + place->name_columns;
    return columns > SUBJECT_COLUMNS ? columns : SUBJECT_COLUMNS;
}

void pkb_summary_subject(char *out, size_t bytes, const pkb_summary_place *place)
{
    const int columns = snprintf(NULL, 0, "%zu", place->count);
    snprintf(out, bytes, "[%*zu/%zu] %s/%lld", columns, place->index, place->count, place->problem,
             place->sample);
}

void pkb_summary_line(FILE *out, const pkb_summary_place *place, const cJSON *record)
{
    const char *reason = pkb_json_string_or(record, "reason", "");
    const char *original = pkb_json_string_or(record, "same_as", "");
    const bool is_copy = original[0] != '\0';
    char subject[160], speedup[32] = "-", seconds[32] = "-";
    pkb_interval interval;
    pkb_buf text = {0};

    pkb_summary_subject(subject, sizeof subject, place);
    if (pkb_speedup_of_record(&interval, record))
        snprintf(speedup, sizeof speedup, "%.2fx", interval.value);
    if (!is_copy)
        snprintf(seconds, sizeof seconds, "%.2f s", cost_s(record, "total"));
    fprintf(out, "%-*s  ", subject_columns(place), subject);
    print_verdict(out, pkb_json_string_or(record, "verdict", "?"));
    if (is_copy)
        pkb_buf_printf(&text, "same source as %s", original);
    else if (reason[0] != '\0' &&
             !pkb_clean_append(&text, reason, strcspn(reason, "\n"), REASON_BYTES))
        pkb_buf_append_string(&text, "…");
    fprintf(out, "  %8s  %8s%s%s\n", speedup, seconds, text.bytes > 0 ? "  " : "",
            pkb_buf_text(&text));
    fflush(out);
    pkb_buf_clear(&text);
}

/* ---- the table ---- */

static pkb_summary_row *row_of(pkb_summary *summary, const char *problem)
{
    for (size_t i = summary->count; i-- > 0;) /* mostly the last one */
        if (strcmp(summary->rows[i].problem, problem) == 0)
            return &summary->rows[i];
    if (summary->count == summary->capacity) {
        const size_t wanted = summary->capacity == 0 ? 32 : 2 * summary->capacity;
        pkb_summary_row *larger = reallocarray(summary->rows, wanted, sizeof *summary->rows);
        if (larger == NULL)
            return NULL;
        summary->rows = larger;
        summary->capacity = wanted;
    }
    pkb_summary_row *row = &summary->rows[summary->count++];
    *row = (pkb_summary_row){.problem = problem};
    return row;
}

bool pkb_summary_add(pkb_summary *summary, const char *problem, const cJSON *record)
{
    pkb_summary_row *row = row_of(summary, problem);
    pkb_verdict verdict = PKB_VERDICT_INFRA_ERROR;
    pkb_interval speedup;

    if (row == NULL)
        return false;
    pkb_verdict_parse(pkb_json_string_or(record, "verdict", ""), &verdict, NULL);
    row->attempts++;
    row->correct += verdict == PKB_VERDICT_CORRECT;
    if (verdict > row->verdict) /* smaller ones are worse */
        row->verdict = verdict;
    if (pkb_speedup_of_record(&speedup, record) &&
        (!row->has_speedup || speedup.value > row->speedup.value)) {
        row->has_speedup = true;
        row->speedup = speedup;
    }
    row->seconds += cost_s(record, "total");
    for (size_t i = 0; i < PKB_SUMMARY_PARTS; i++)
        row->parts_s[i] += cost_s(record, parts[i]);
    return true;
}

int pkb_summary_columns(int columns, const char *problem)
{
    const int least = columns > PROBLEM_COLUMNS ? columns : PROBLEM_COLUMNS;
    const int length = (int)strlen(problem);
    return length > least ? length : least;
}

static void print_numbers(FILE *out, const pkb_summary_row *row)
{
    fprintf(out, "  %8.2f ", row->seconds);
    for (size_t i = 0; i < PKB_SUMMARY_PARTS; i++)
        fprintf(out, " %8.2f", row->parts_s[i]);
    fputc('\n', out);
}

static void print_row(FILE *out, int columns, const pkb_summary_row *row)
{
    char correct[32], speedup[64] = "-";

    snprintf(correct, sizeof correct, "%zu/%zu", row->correct, row->attempts);
    if (row->has_speedup)
        snprintf(speedup, sizeof speedup, "%.2fx [%.2f, %.2f]", row->speedup.value,
                 row->speedup.low, row->speedup.high);
    fprintf(out, "%-*s  %7s  ", columns, row->problem, correct);
    print_verdict(out, pkb_verdict_name(row->verdict));
    fprintf(out, "  %-20s", speedup);
    print_numbers(out, row);
}

void pkb_summary_print(FILE *out, const pkb_summary *summary)
{
    pkb_summary_row all = {.problem = "all"};
    char correct[32];
    int columns = pkb_summary_columns(0, all.problem);

    for (size_t i = 0; i < summary->count; i++)
        columns = pkb_summary_columns(columns, summary->rows[i].problem);
    fprintf(out, "\n%s%-*s  %7s  %-*s  %-20s  %8s ", pkb_terminal_start(out, PKB_STYLE_DIM),
            columns, "problem", "correct", VERDICT_COLUMNS, "best verdict", "best speed-up",
            "seconds");
    for (size_t i = 0; i < PKB_SUMMARY_PARTS; i++)
        fprintf(out, " %8s", parts[i]);
    fprintf(out, "%s\n", pkb_terminal_end(out));
    for (size_t i = 0; i < summary->count; i++) {
        const pkb_summary_row *row = &summary->rows[i];
        print_row(out, columns, row);
        all.attempts += row->attempts;
        all.correct += row->correct;
        all.seconds += row->seconds;
        for (size_t k = 0; k < PKB_SUMMARY_PARTS; k++)
            all.parts_s[k] += row->parts_s[k];
    }
    snprintf(correct, sizeof correct, "%zu/%zu", all.correct, all.attempts);
    fprintf(out, "%-*s  %7s  %-*s  %-20s", columns, all.problem, correct, VERDICT_COLUMNS, "", "");
    print_numbers(out, &all);
}

void pkb_summary_clear(pkb_summary *summary)
{
    free(summary->rows);
    *summary = (pkb_summary){0};
}
