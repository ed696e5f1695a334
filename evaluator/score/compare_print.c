/* SPDX-License-Identifier: Apache-2.0
 *
 * A comparison as JSON and for people; see compare.h.
 */
#include <math.h>

#include "evaluator/console/terminal.h"
#include "evaluator/score/compare.h"
#include "evaluator/score/score_print.h"

enum { COMPARE_SCHEMA = 1 };

/* ---- JSON ---- */

static void add_row(cJSON *to, const char *key, const pkb_compare *compare, size_t column)
{
    const pkb_compare_row *row = &compare->rows[column];

    if (row->problems == 0)
        return;
    cJSON *object = cJSON_AddObjectToObject(to, key);
    cJSON_AddNumberToObject(object, "a", row->a);
    cJSON_AddNumberToObject(object, "b", row->b);
    pkb_score_json_interval(object, pkb_compare_is_ratio(column) ? "ratio" : "difference",
                            row->change);
    pkb_score_json_number(object, "p", row->p_value);
    cJSON_AddNumberToObject(object, "problems", (double)row->problems);
}

static void add_ks(cJSON *to, const char *key, const pkb_compare *compare, size_t first_column)
{
    cJSON *object = cJSON_AddObjectToObject(to, key);
    for (size_t i = 0; i < PKB_SCORE_KS; i++) {
        char name[24];
        snprintf(name, sizeof name, "%zu", pkb_score_ks[i]);
        add_row(object, name, compare, first_column + i);
    }
}

static void add_flips(cJSON *to, const char *key, const pkb_compare *compare, bool is_fast,
                      int which)
{
    cJSON *names = cJSON_AddArrayToObject(to, key);
    for (size_t i = 0; i < compare->pair_count; i++)
        if (pkb_compare_flip(&compare->pairs[i], is_fast) == which)
            cJSON_AddItemToArray(names, cJSON_CreateString(compare->pairs[i].a->name));
}

static void add_run(cJSON *to, const char *key, const pkb_score *score)
{
    cJSON *object = cJSON_AddObjectToObject(to, key);

    cJSON_AddStringToObject(object, "run", score->runset->name);
    cJSON_AddBoolToObject(object, "complete", score->is_complete);
    cJSON_AddNumberToObject(object, "planned", (double)score->all.planned);
    cJSON_AddNumberToObject(object, "judged", (double)score->all.judged);
    cJSON_AddNumberToObject(object, "broken_lines", (double)score->runset->broken_count);
    pkb_score_json_conditions(object, score->runset);
    cJSON *notes = cJSON_AddArrayToObject(object, "notes");
    for (size_t i = 0; i < score->runset->note_count; i++)
        cJSON_AddItemToArray(notes, cJSON_CreateString(score->runset->notes[i]));
}

static void add_side(cJSON *to, const char *key, const pkb_score_problem *problem)
{
    if (problem == NULL)
        return;
    cJSON *side = cJSON_AddObjectToObject(to, key);
    cJSON_AddNumberToObject(side, "judged", (double)problem->judged);
    cJSON_AddNumberToObject(side, "correct", (double)problem->correct);
    if (problem->timed > 0)
        cJSON_AddNumberToObject(side, "speedup",
                                exp(problem->log_speedup / (double)problem->timed));
}

static void add_problems(cJSON *to, const pkb_compare *compare)
{
    cJSON *problems = cJSON_AddArrayToObject(to, "problems");
    for (size_t i = 0; i < compare->pair_count; i++) {
        const pkb_compare_pair *pair = &compare->pairs[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToArray(problems, object);
        cJSON_AddStringToObject(object, "problem", (pair->a != NULL ? pair->a : pair->b)->name);
        add_side(object, "a", pair->a);
        add_side(object, "b", pair->b);
    }
}

static void add_different(cJSON *to, const pkb_compare *compare)
{
    cJSON *different = cJSON_CreateArray();

    for (int i = 0; i < PKB_CONDITION_COUNT; i++)
        if (compare->is_different[i])
            cJSON_AddItemToArray(different,
                                 cJSON_CreateString(pkb_condition_name((pkb_condition)i)));
    if (compare->has_different_sizes)
        cJSON_AddItemToArray(different, cJSON_CreateString("sizes of a problem"));
    if (compare->has_different_definitions)
        cJSON_AddItemToArray(different, cJSON_CreateString("definitions of a problem"));
    if (different->child != NULL)
        cJSON_AddItemToObject(to, "different", different);
    else
        cJSON_Delete(different);
}

pkb_code pkb_compare_json(cJSON **out, const pkb_compare *compare, pkb_error *err)
{
    cJSON *json = cJSON_CreateObject();

    if (json == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the comparison");
    cJSON_AddNumberToObject(json, "schema", COMPARE_SCHEMA);
    cJSON_AddBoolToObject(json, "complete", compare->is_complete);
    add_run(json, "a", compare->a);
    add_run(json, "b", compare->b);
    add_different(json, compare);
    cJSON_AddNumberToObject(json, "paired", (double)compare->both);
    cJSON_AddNumberToObject(json, "only_a", (double)compare->only_a);
    cJSON_AddNumberToObject(json, "only_b", (double)compare->only_b);
    add_ks(json, "pass", compare, PKB_SCORE_PASS_COLUMN);
    add_ks(json, "best", compare, PKB_SCORE_BEST_COLUMN);
    cJSON *fast = cJSON_AddObjectToObject(json, "fast");
    for (size_t p = 0; p < PKB_SCORE_PS; p++) {
        char key[24];
        snprintf(key, sizeof key, "%g", pkb_score_ps[p]);
        add_ks(fast, key, compare, PKB_SCORE_FAST_COLUMN + p * PKB_SCORE_KS);
    }
    add_row(json, "speedup", compare, PKB_SCORE_SPEEDUP_COLUMN);
    add_flips(json, "solved_only_by_a", compare, false, -1);
    add_flips(json, "solved_only_by_b", compare, false, 1);
    add_flips(json, "faster_only_by_a", compare, true, -1);
    add_flips(json, "faster_only_by_b", compare, true, 1);
    add_problems(json, compare);
    *out = json;
    return PKB_OK;
}

/* ---- people ---- */

static void print_difference(char out[PKB_SCORE_TEXT_BYTES], pkb_interval change)
{
    if (isnan(change.low))
        snprintf(out, PKB_SCORE_TEXT_BYTES, "%+.1f", 100 * change.value);
    else
        snprintf(out, PKB_SCORE_TEXT_BYTES, "%+.1f [%+.1f, %+.1f]", 100 * change.value,
                 100 * change.low, 100 * change.high);
}

static void print_row(FILE *out, const pkb_compare *compare, const char *label, size_t column)
{
    const pkb_compare_row *row = &compare->rows[column];
    const bool is_ratio = pkb_compare_is_ratio(column);
    char a[PKB_SCORE_TEXT_BYTES], b[PKB_SCORE_TEXT_BYTES], change[PKB_SCORE_TEXT_BYTES];
    const pkb_interval alone_a = {row->a, NAN, NAN}, alone_b = {row->b, NAN, NAN};

    if (row->problems == 0)
        return;
    if (is_ratio) {
        pkb_score_times(a, alone_a);
        pkb_score_times(b, alone_b);
        pkb_score_times(change, row->change);
    } else {
        pkb_score_percent(a, alone_a);
        pkb_score_percent(b, alone_b);
        print_difference(change, row->change);
    }
    fprintf(out, "  %-12s  %9s  %9s  %-26s  %7.4f  %8zu\n", label, a, b, change, row->p_value,
            row->problems);
}

static void print_rows(FILE *out, const pkb_compare *compare)
{
    char label[32];

    fprintf(out, "\n%s  %-12s  %9s  %9s  %-26s  %7s  %8s%s\n",
            pkb_terminal_start(out, PKB_STYLE_DIM), "", "A", "B", "points, or B / A [95 %]", "p",
            "problems", pkb_terminal_end(out));
    for (size_t i = 0; i < PKB_SCORE_KS; i++) {
        snprintf(label, sizeof label, "pass@%zu", pkb_score_ks[i]);
        print_row(out, compare, label, PKB_SCORE_PASS_COLUMN + i);
    }
    for (size_t p = 0; p < PKB_SCORE_PS; p++)
        for (size_t i = 0; i < PKB_SCORE_KS; i++) {
            snprintf(label, sizeof label, "fast_%g@%zu", pkb_score_ps[p], pkb_score_ks[i]);
            print_row(out, compare, label, PKB_SCORE_FAST_COLUMN + p * PKB_SCORE_KS + i);
        }
    for (size_t i = 0; i < PKB_SCORE_KS; i++) {
        snprintf(label, sizeof label, "best of %zu", pkb_score_ks[i]);
        print_row(out, compare, label, PKB_SCORE_BEST_COLUMN + i);
    }
    print_row(out, compare, "speed-up", PKB_SCORE_SPEEDUP_COLUMN);
}

static void print_flips(FILE *out, const pkb_compare *compare, bool is_fast, int which)
{
    size_t count = 0;

    for (size_t i = 0; i < compare->pair_count; i++)
        count += pkb_compare_flip(&compare->pairs[i], is_fast) == which;
    if (count == 0)
        return;
    fprintf(out, "  %s only by %s (%zu):", is_fast ? "faster than the reference" : "solved",
            which < 0 ? "A" : "B", count);
    for (size_t i = 0; i < compare->pair_count; i++)
        if (pkb_compare_flip(&compare->pairs[i], is_fast) == which)
            fprintf(out, " %s", compare->pairs[i].a->name);
    fputc('\n', out);
}

static void print_marks(FILE *out, const pkb_compare *compare)
{
    const char *start = pkb_terminal_start(out, PKB_STYLE_BAD), *end = pkb_terminal_end(out);

    for (int i = 0; i < PKB_CONDITION_COUNT; i++)
        if (compare->is_different[i])
            fprintf(out, "  %sMIXED%s: %s differ between the runs\n", start, end,
                    pkb_condition_name((pkb_condition)i));
    if (compare->has_different_sizes)
        fprintf(out, "  %sMIXED%s: sizes of a problem differ between the runs\n", start, end);
    if (compare->has_different_definitions)
        fprintf(out, "  %sMIXED%s: definitions of a problem differ between the runs\n", start, end);
    if (compare->is_complete)
        return;
    const pkb_score *first = compare->a, *second = compare->b;
    fprintf(out,
            "  %sINCOMPLETE%s: paired over %zu problems; %zu only in A, %zu only in B; %zu of %zu "
            "and %zu of %zu attempts judged",
            start, end, compare->both, compare->only_a, compare->only_b, first->all.judged,
            first->all.planned, second->all.judged, second->all.planned);
    if (first->runset->broken_count + second->runset->broken_count > 0)
        fprintf(out, "; %zu and %zu lines that are no record", first->runset->broken_count,
                second->runset->broken_count);
    fputc('\n', out);
}

void pkb_compare_text(FILE *out, const pkb_compare *compare)
{
    const bool has_flips = compare->a->has_speed && compare->b->has_speed;

    fprintf(out, "A: %s\n", compare->a->runset->name);
    pkb_score_text_conditions(out, compare->a->runset);
    fprintf(out, "B: %s\n", compare->b->runset->name);
    pkb_score_text_conditions(out, compare->b->runset);
    if (compare->a->is_screened || compare->b->is_screened)
        fputs("  screened on cpu: right or wrong only\n", out);
    print_marks(out, compare);
    print_rows(out, compare);
    fputc('\n', out);
    for (int which = -1; which <= 1; which += 2) {
        print_flips(out, compare, false, which);
        if (has_flips)
            print_flips(out, compare, true, which);
    }
}
