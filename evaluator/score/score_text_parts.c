/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a score for people: classes of sizes, categories, collectives, problems; see
 * score_print.h.
 */
#include <math.h>
#include <string.h>

#include "evaluator/console/terminal.h"
#include "evaluator/console/text_row.h"
#include "evaluator/score/score_print.h"

enum { INDENT = 2, CELL_COLUMNS = 22, COUNT_COLUMNS = 13, NUMBER_COLUMNS = 8 };

/* The first column is as wide as what stands in it, and this at least. */
enum { NAME_COLUMNS = 16 };

static int widest(int columns, const char *name)
{
    const int length = (int)strlen(name);
    return length > columns ? length : columns;
}

static int widest_group(const pkb_score_group *groups, size_t count)
{
    int columns = NAME_COLUMNS;
    for (size_t i = 0; i < count; i++)
        columns = widest(columns, groups[i].name);
    return columns;
}

/* Heads and rows have their first column, and the numbers, in common. */
static pkb_text_row start_head(FILE *out, int columns, const char *what)
{
    pkb_text_row row = {.out = out, .owed = INDENT};

    fprintf(out, "\n%s", pkb_terminal_start(out, PKB_STYLE_DIM));
    pkb_text_row_left(&row, columns, "%s", what);
    return row;
}

static void end_head(pkb_text_row *row)
{
    fputs(pkb_terminal_end(row->out), row->out);
    pkb_text_row_end(row);
}

static void print_part(FILE *out, const pkb_score *score, int columns, const pkb_score_group *group)
{
    pkb_text_row row = {.out = out, .owed = INDENT};
    char text[PKB_SCORE_TEXT_BYTES];

    pkb_text_row_left(&row, columns, "%s", group->name);
    pkb_text_row_right(&row, NUMBER_COLUMNS, "%zu", group->problems);
    pkb_text_row_right(&row, COUNT_COLUMNS, "%zu/%zu", group->correct, group->judged);
    pkb_score_percent(text, group->pass[0].mean);
    pkb_text_row_left(&row, CELL_COLUMNS, "%s", text);
    if (score->has_speed) {
        pkb_score_percent(text, group->fast[0][0].mean);
        pkb_text_row_left(&row, CELL_COLUMNS, "%s", text);
        pkb_score_times(text, group->speedup);
        pkb_text_row_left(&row, CELL_COLUMNS, "%s (%zu)", text, group->timed);
    }
    pkb_text_row_end(&row);
}

static void print_parts(FILE *out, const pkb_score *score, const char *what,
                        const pkb_score_group *groups, size_t count)
{
    const int columns = widest_group(groups, count);
    pkb_text_row head = start_head(out, columns, what);

    pkb_text_row_right(&head, NUMBER_COLUMNS, "problems");
    pkb_text_row_right(&head, COUNT_COLUMNS, "correct");
    pkb_text_row_left(&head, CELL_COLUMNS, "pass@1");
    if (score->has_speed) {
        pkb_text_row_left(&head, CELL_COLUMNS, "fast_1@1");
        pkb_text_row_left(&head, CELL_COLUMNS, "speed-up (of)");
    }
    end_head(&head);
    for (size_t i = 0; i < count; i++)
        print_part(out, score, columns, &groups[i]);
}

static void print_size(FILE *out, const pkb_score *score, pkb_size_class class)
{
    const pkb_score_size *size = &score->sizes[class];
    pkb_text_row row = {.out = out, .owed = INDENT};
    char text[PKB_SCORE_TEXT_BYTES];

    if (size->judged == 0)
        return;
    pkb_text_row_left(&row, NAME_COLUMNS, "%s", pkb_size_class_name(class));
    pkb_text_row_right(&row, NUMBER_COLUMNS, "%zu", size->problems);
    pkb_text_row_right(&row, COUNT_COLUMNS, "%zu/%zu", size->right, size->judged);
    pkb_score_percent(text, size->pass);
    pkb_text_row_left(&row, CELL_COLUMNS, "%s", text);
    pkb_text_row_right(&row, NUMBER_COLUMNS, "%zu", size->reached);
    pkb_score_times(text, size->speedup);
    if (score->has_speed)
        pkb_text_row_left(&row, CELL_COLUMNS, "%s (%zu)", text, size->timed);
    pkb_text_row_end(&row);
}

static void print_sizes(FILE *out, const pkb_score *score)
{
    pkb_text_row head = start_head(out, NAME_COLUMNS, "class of sizes");

    pkb_text_row_right(&head, NUMBER_COLUMNS, "problems");
    pkb_text_row_right(&head, COUNT_COLUMNS, "correct");
    pkb_text_row_left(&head, CELL_COLUMNS, "pass@1");
    pkb_text_row_right(&head, NUMBER_COLUMNS, "reached");
    if (score->has_speed)
        pkb_text_row_left(&head, CELL_COLUMNS, "speed-up (of)");
    end_head(&head);
    for (int i = 0; i < PKB_SIZE_CLASSES; i++)
        print_size(out, score, (pkb_size_class)i);
}

static void print_by_problem(FILE *out, const pkb_score *score)
{
    int columns = NAME_COLUMNS;

    for (size_t i = 0; i < score->problem_count; i++)
        columns = widest(columns, score->problems[i].name);
    pkb_text_row head = start_head(out, columns, "problem");
    pkb_text_row_right(&head, COUNT_COLUMNS, "correct");
    pkb_text_row_right(&head, NUMBER_COLUMNS, "planned");
    pkb_text_row_right(&head, NUMBER_COLUMNS, "distinct");
    if (score->has_speed)
        pkb_text_row_right(&head, NUMBER_COLUMNS, "speed-up");
    end_head(&head);
    for (size_t i = 0; i < score->problem_count; i++) {
        const pkb_score_problem *problem = &score->problems[i];
        pkb_text_row row = {.out = out, .owed = INDENT};
        pkb_text_row_left(&row, columns, "%s", problem->name);
        pkb_text_row_right(&row, COUNT_COLUMNS, "%zu/%zu", problem->correct, problem->judged);
        pkb_text_row_right(&row, NUMBER_COLUMNS, "%zu", problem->planned);
        pkb_text_row_right(&row, NUMBER_COLUMNS, "%zu", problem->distinct);
        if (score->has_speed && problem->timed > 0)
            pkb_text_row_right(&row, NUMBER_COLUMNS, "%.2fx",
                               exp(problem->log_speedup / (double)problem->timed));
        pkb_text_row_end(&row);
    }
}

void pkb_score_text_parts(FILE *out, const pkb_score *score, bool by_problem)
{
    print_sizes(out, score);
    print_parts(out, score, "category", score->categories, score->category_count);
    if (score->collective_count > 0)
        print_parts(out, score, "collective", score->collectives, score->collective_count);
    if (by_problem)
        print_by_problem(out, score);
}
