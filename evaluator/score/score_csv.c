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

/* A failure is kept: what is printed behind it is no table any more. */
typedef struct csv_writer {
    FILE *out;
    const pkb_score *score;
    pkb_code status;
    pkb_error *err;
} csv_writer;

/* Texts are quoted and guarded: a name may hold a comma, or what a spreadsheet takes for a formula.
 */
static void print_text(csv_writer *csv, const char *text)
{
    if (csv->status == PKB_OK)
        csv->status = pkb_csv_text(csv->out, text, true, csv->err);
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

static void print_row(csv_writer *csv, const csv_row *row, const pkb_score_value *value)
{
    const pkb_score *score = csv->score;
    FILE *out = csv->out;

    print_text(csv, score->runset->name);
    fprintf(out, ",%s,%s,%s,%s,", score->is_complete ? "yes" : "no",
            score->is_screened ? "yes" : "no", pkb_runset_is_mixed(score->runset) ? "yes" : "no",
            row->group);
    print_text(csv, row->name);
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

static void print_plain(csv_writer *csv, const csv_row *row, pkb_interval interval, size_t problems)
{
    const pkb_score_value value = {interval, problems, NAN, NAN, NAN, NAN};
    print_row(csv, row, &value);
}

/* A number that has no interval. */
static void print_fact(csv_writer *csv, csv_row row, double number, size_t problems)
{
    print_plain(csv, &row, (pkb_interval){number, NAN, NAN}, problems);
}

static void print_counts(csv_writer *csv, csv_row row, const pkb_score_group *group)
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
        print_fact(csv, row, (double)counts[i].count, group->problems);
    }
    row.metric = "coverage";
    print_fact(csv, row, pkb_score_coverage(group), group->problems);
}

static void print_speed(csv_writer *csv, csv_row row, const pkb_score_group *group)
{
    row.metric = "speedup";
    print_plain(csv, &row, group->speedup, group->problems);
    row.metric = "speedup_of";
    print_fact(csv, row, (double)group->timed, group->problems);
    row.metric = "unmeasured";
    print_fact(csv, row, (double)group->unmeasured, group->problems);
    row.metric = "straddling";
    for (size_t p = 0; p < PKB_SCORE_PS; p++) {
        row.p = pkb_score_ps[p];
        print_fact(csv, row, (double)group->straddling[p], group->problems);
    }
}

static void print_group(csv_writer *csv, const char *kind, const pkb_score_group *group)
{
    csv_row row = {.group = kind, .name = group->name};

    print_counts(csv, row, group);
    for (size_t i = 0; i < PKB_SCORE_KS; i++) {
        row.k = pkb_score_ks[i];
        row.p = 0;
        row.metric = "pass";
        print_row(csv, &row, &group->pass[i]);
        if (!csv->score->has_speed)
            continue;
        row.metric = "best";
        print_row(csv, &row, &group->best[i]);
        row.metric = "fast";
        for (size_t p = 0; p < PKB_SCORE_PS; p++) {
            row.p = pkb_score_ps[p];
            print_row(csv, &row, &group->fast[p][i]);
        }
    }
    if (csv->score->has_speed)
        print_speed(csv, (csv_row){.group = kind, .name = group->name}, group);
}

static void print_size(csv_writer *csv, pkb_size_class class)
{
    const pkb_score_size *size = &csv->score->sizes[class];
    csv_row row = {.group = "size", .name = pkb_size_class_name(class)};
    const struct {
        const char *metric;
        size_t count;
    } counts[] = {{"judged", size->judged}, {"reached", size->reached}, {"correct", size->right}};

    if (size->judged == 0)
        return;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        row.metric = counts[i].metric;
        print_fact(csv, row, (double)counts[i].count, size->problems);
    }
    row.metric = "pass";
    row.k = 1;
    print_plain(csv, &row, size->pass, size->problems);
    row.k = 0;
    if (!csv->score->has_speed)
        return;
    row.metric = "speedup";
    print_plain(csv, &row, size->speedup, size->problems);
    row.metric = "speedup_of";
    print_fact(csv, row, (double)size->timed, size->problems);
}

static void print_problem(csv_writer *csv, const pkb_score_problem *problem)
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
        print_fact(csv, row, (double)counts[i].count, 1);
    }
    if (!csv->score->has_speed)
        return;
    row.metric = "faster";
    for (size_t p = 0; p < PKB_SCORE_PS; p++) {
        row.p = pkb_score_ps[p];
        print_fact(csv, row, (double)problem->faster[p].point, 1);
    }
    row.p = 0;
    row.metric = "speedup";
    print_fact(csv, row,
               problem->timed > 0 ? exp(problem->log_speedup / (double)problem->timed) : NAN, 1);
    row.metric = "speedup_of";
    print_fact(csv, row, (double)problem->timed, 1);
}

pkb_code pkb_score_csv(FILE *out, const pkb_score *score, pkb_error *err)
{
    csv_writer csv = {.out = out, .score = score, .err = err};

    print_group(&csv, "all", &score->all);
    for (size_t i = 0; i < score->category_count; i++)
        print_group(&csv, "category", &score->categories[i]);
    for (size_t i = 0; i < score->collective_count; i++)
        print_group(&csv, "collective", &score->collectives[i]);
    for (int i = 0; i < PKB_SIZE_CLASSES; i++)
        print_size(&csv, (pkb_size_class)i);
    for (int i = 0; i < PKB_VERDICT_COUNT; i++)
        print_fact(&csv,
                   (csv_row){.group = "verdict",
                             .name = pkb_verdict_name((pkb_verdict)i),
                             .metric = "attempts"},
                   (double)score->verdicts[i], score->problem_count);
    for (size_t i = 0; i < score->problem_count; i++)
        print_problem(&csv, &score->problems[i]);
    return csv.status;
}
