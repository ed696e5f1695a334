/* SPDX-License-Identifier: Apache-2.0
 *
 * A score as rows of numbers; see score_print.h. An empty cell is what is undefined.
 */
#include <math.h>

#include "evaluator/console/csv.h"
#include "evaluator/score/score_print.h"

void pkb_score_csv_head(FILE *out)
{
    fputs("run,complete,screened_on_cpu,mixed,group,name,metric,p,k,value,low,high,problems,"
          "if_fail,if_pass,by_low,by_high\n",
          out);
}

/* Texts are quoted and guarded: a name may hold a comma, or what a spreadsheet takes for a formula.
 */
static void print_text(FILE *out, const char *text)
{
    (void)pkb_csv_text(out, text, true, NULL); /* without memory the cell stays empty */
}

static void print_number(FILE *out, double number)
{
    fputc(',', out);
    if (isfinite(number))
        pkb_csv_number(out, number);
}

typedef struct csv_row {
    const char *group, *name, *metric;
    double p; /* 0 = none */
    size_t k; /* 0 = none */
} csv_row;

static void print_row(FILE *out, const pkb_score *score, const csv_row *row,
                      const pkb_score_value *value)
{
    print_text(out, score->runset->name);
    fprintf(out, ",%s,%s,%s,%s,", score->is_complete ? "yes" : "no",
            score->is_screened ? "yes" : "no", pkb_runset_is_mixed(score->runset) ? "yes" : "no",
            row->group);
    print_text(out, row->name);
    fprintf(out, ",%s", row->metric);
    print_number(out, row->p > 0 ? row->p : NAN);
    print_number(out, row->k > 0 ? (double)row->k : NAN);
    print_number(out, value->mean.value);
    print_number(out, value->mean.low);
    print_number(out, value->mean.high);
    fprintf(out, ",%zu", value->problems);
    print_number(out, value->if_fail);
    print_number(out, value->if_pass);
    print_number(out, value->by_low);
    print_number(out, value->by_high);
    fputc('\n', out);
}

static void print_plain(FILE *out, const pkb_score *score, const csv_row *row,
                        pkb_interval interval, size_t problems)
{
    const pkb_score_value value = {interval, problems, NAN, NAN, NAN, NAN};
    print_row(out, score, row, &value);
}

/* A number that has no interval. */
static void print_fact(FILE *out, const pkb_score *score, csv_row row, double number,
                       size_t problems)
{
    print_plain(out, score, &row, (pkb_interval){number, NAN, NAN}, problems);
}

static void print_counts(FILE *out, const pkb_score *score, csv_row row,
                         const pkb_score_group *group)
{
    const struct {
        const char *metric;
        size_t count;
    } counts[] = {{"problems_judged", group->seen},    {"problems_solved", group->solved},
                  {"planned", group->planned},         {"judged", group->judged},
                  {"correct", group->correct},         {"pending", group->pending},
                  {"unsupported", group->unsupported}, {"missing", group->missing},
                  {"distinct", group->distinct}};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        row.metric = counts[i].metric;
        print_fact(out, score, row, (double)counts[i].count, group->problems);
    }
    row.metric = "coverage";
    print_fact(out, score, row, pkb_score_coverage(group), group->problems);
}

static void print_speed(FILE *out, const pkb_score *score, csv_row row,
                        const pkb_score_group *group)
{
    row.metric = "speedup";
    print_plain(out, score, &row, group->speedup, group->problems);
    row.metric = "speedup_of";
    print_fact(out, score, row, (double)group->timed, group->problems);
    row.metric = "unmeasured";
    print_fact(out, score, row, (double)group->unmeasured, group->problems);
    row.metric = "straddling";
    for (size_t p = 0; p < PKB_SCORE_PS; p++) {
        row.p = pkb_score_ps[p];
        print_fact(out, score, row, (double)group->straddling[p], group->problems);
    }
}

static void print_group(FILE *out, const pkb_score *score, const char *kind,
                        const pkb_score_group *group)
{
    csv_row row = {.group = kind, .name = group->name};

    print_counts(out, score, row, group);
    for (size_t i = 0; i < PKB_SCORE_KS; i++) {
        row.k = pkb_score_ks[i];
        row.p = 0;
        row.metric = "pass";
        print_row(out, score, &row, &group->pass[i]);
        if (!score->has_speed)
            continue;
        row.metric = "best";
        print_row(out, score, &row, &group->best[i]);
        row.metric = "fast";
        for (size_t p = 0; p < PKB_SCORE_PS; p++) {
            row.p = pkb_score_ps[p];
            print_row(out, score, &row, &group->fast[p][i]);
        }
    }
    if (score->has_speed)
        print_speed(out, score, (csv_row){.group = kind, .name = group->name}, group);
}

static void print_size(FILE *out, const pkb_score *score, pkb_size_class class)
{
    const pkb_score_size *size = &score->sizes[class];
    csv_row row = {.group = "size", .name = pkb_size_class_name(class)};
    const struct {
        const char *metric;
        size_t count;
    } counts[] = {{"judged", size->judged}, {"reached", size->reached}, {"correct", size->right}};

    if (size->judged == 0)
        return;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        row.metric = counts[i].metric;
        print_fact(out, score, row, (double)counts[i].count, size->problems);
    }
    row.metric = "pass";
    row.k = 1;
    print_plain(out, score, &row, size->pass, size->problems);
    row.k = 0;
    if (!score->has_speed)
        return;
    row.metric = "speedup";
    print_plain(out, score, &row, size->speedup, size->problems);
    row.metric = "speedup_of";
    print_fact(out, score, row, (double)size->timed, size->problems);
}

static void print_problem(FILE *out, const pkb_score *score, const pkb_score_problem *problem)
{
    csv_row row = {.group = "problem", .name = problem->name};
    const struct {
        const char *metric;
        size_t count;
    } counts[] = {{"planned", problem->planned},         {"judged", problem->judged},
                  {"correct", problem->correct},         {"pending", problem->pending},
                  {"unsupported", problem->unsupported}, {"missing", problem->missing},
                  {"distinct", problem->distinct}};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        row.metric = counts[i].metric;
        print_fact(out, score, row, (double)counts[i].count, 1);
    }
    if (!score->has_speed)
        return;
    row.metric = "faster";
    for (size_t p = 0; p < PKB_SCORE_PS; p++) {
        row.p = pkb_score_ps[p];
        print_fact(out, score, row, (double)problem->faster[p].point, 1);
    }
    row.p = 0;
    row.metric = "speedup";
    print_fact(out, score, row,
               problem->timed > 0 ? exp(problem->log_speedup / (double)problem->timed) : NAN, 1);
    row.metric = "speedup_of";
    print_fact(out, score, row, (double)problem->timed, 1);
}

void pkb_score_csv(FILE *out, const pkb_score *score)
{
    print_group(out, score, "all", &score->all);
    for (size_t i = 0; i < score->category_count; i++)
        print_group(out, score, "category", &score->categories[i]);
    for (size_t i = 0; i < score->collective_count; i++)
        print_group(out, score, "collective", &score->collectives[i]);
    for (int i = 0; i < PKB_SIZE_CLASSES; i++)
        print_size(out, score, (pkb_size_class)i);
    for (int i = 0; i < PKB_VERDICT_COUNT; i++)
        print_fact(out, score,
                   (csv_row){.group = "verdict",
                             .name = pkb_verdict_name((pkb_verdict)i),
                             .metric = "attempts"},
                   (double)score->verdicts[i], score->problem_count);
    for (size_t i = 0; i < score->problem_count; i++)
        print_problem(out, score, &score->problems[i]);
}
