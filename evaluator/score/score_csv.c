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
    if (isfinite(number))
        fprintf(out, ",%.9g", number);
    else
        fputc(',', out);
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

static void print_group(FILE *out, const pkb_score *score, const char *kind,
                        const pkb_score_group *group)
{
    const struct {
        const char *metric;
        size_t count;
    } counts[] = {{"planned", group->planned},         {"judged", group->judged},
                  {"correct", group->correct},         {"pending", group->pending},
                  {"unsupported", group->unsupported}, {"missing", group->missing},
                  {"distinct", group->distinct},       {"speedup_of", group->timed}};
    csv_row row = {.group = kind, .name = group->name};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        row.metric = counts[i].metric;
        print_plain(out, score, &row, (pkb_interval){(double)counts[i].count, NAN, NAN},
                    group->problems);
    }
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
    if (score->has_speed) {
        row.metric = "speedup";
        row.p = 0;
        row.k = 0;
        print_plain(out, score, &row, group->speedup, group->problems);
    }
}

void pkb_score_csv(FILE *out, const pkb_score *score)
{
    print_group(out, score, "all", &score->all);
    for (size_t i = 0; i < score->category_count; i++)
        print_group(out, score, "category", &score->categories[i]);
    for (size_t i = 0; i < score->collective_count; i++)
        print_group(out, score, "collective", &score->collectives[i]);
    for (int i = 0; i < PKB_SIZE_CLASSES; i++) {
        const pkb_score_size *size = &score->sizes[i];
        csv_row row = {.group = "size", .name = pkb_size_class_name((pkb_size_class)i), .k = 1};
        if (size->judged == 0)
            continue;
        row.metric = "pass";
        print_plain(out, score, &row, size->pass, score->problem_count);
        row.metric = "speedup";
        row.k = 0;
        if (score->has_speed)
            print_plain(out, score, &row, size->speedup, score->problem_count);
    }
    for (int i = 0; i < PKB_VERDICT_COUNT; i++) {
        const csv_row row = {
            .group = "verdict", .name = pkb_verdict_name((pkb_verdict)i), .metric = "attempts"};
        print_plain(out, score, &row, (pkb_interval){(double)score->verdicts[i], NAN, NAN},
                    score->problem_count);
    }
    for (size_t i = 0; i < score->problem_count; i++) {
        const pkb_score_problem *problem = &score->problems[i];
        csv_row row = {.group = "problem", .name = problem->name, .metric = "judged"};
        print_plain(out, score, &row, (pkb_interval){(double)problem->judged, NAN, NAN}, 1);
        row.metric = "correct";
        print_plain(out, score, &row, (pkb_interval){(double)problem->correct, NAN, NAN}, 1);
    }
}
