/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of CSV; see table.h. One record is in memory at a time.
 */
#include "evaluator/export/table.h"

#include <inttypes.h>

#include "base/buf.h"
#include "evaluator/console/csv.h"
#include "evaluator/console/interrupt.h"
#include "evaluator/console/output.h"
#include "evaluator/score/runset_record.h"

void pkb_table_head(const pkb_table *table)
{
    for (size_t i = 0; i < pkb_column_count(table->rows); i++)
        fprintf(table->out, "%s%s", i > 0 ? "," : "", pkb_column_at(table->rows, i)->name);
    fputc('\n', table->out);
}

static void write_list(FILE *out, const cJSON *list)
{
    const char *separator = "\"[";
    const cJSON *item = NULL;

    cJSON_ArrayForEach(item, list)
    {
        fprintf(out, "%s%.0f", separator, item->valuedouble);
        separator = ",";
    }
    fputs(list->child == NULL ? "\"[]\"" : "]\"", out);
}

static pkb_code write_text(const pkb_table *table, const pkb_cell *cell, pkb_error *err)
{
    if (cell->text != NULL)
        return pkb_csv_text(table->out, cell->text, table->is_guarded, err);
    fputc('"', table->out);
    pkb_csv_number(table->out, cell->number);
    fputc('"', table->out);
    return PKB_OK;
}

static pkb_code write_cell(const pkb_table *table, pkb_cell_type type, const pkb_cell *cell,
                           pkb_error *err)
{
    if (!cell->is_there)
        return PKB_OK;
    switch (type) {
    case PKB_CELL_TEXT:
        return write_text(table, cell, err);
    case PKB_CELL_WHOLE:
        fprintf(table->out, "%.0f", cell->number);
        break;
    case PKB_CELL_REAL:
        pkb_csv_number(table->out, cell->number);
        break;
    case PKB_CELL_TRUTH:
        fputs(cell->truth ? "true" : "false", table->out);
        break;
    case PKB_CELL_WHOLES:
        write_list(table->out, cell->list);
        break;
    }
    return PKB_OK;
}

static pkb_code write_row(pkb_table *table, const pkb_row *row, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < pkb_column_count(table->rows) && rc == PKB_OK; i++) {
        const pkb_cell cell = pkb_column_value(table->rows, i, row);
        if (i > 0)
            fputc(',', table->out);
        rc = write_cell(table, pkb_column_at(table->rows, i)->type, &cell, err);
    }
    fputc('\n', table->out);
    table->row_count++;
    if (rc == PKB_OK && ferror(table->out))
        rc = pkb_output_flush_to(table->out, "the table", err);
    return rc;
}

static pkb_code write_batches(pkb_table *table, pkb_row *row, pkb_error *err)
{
    const cJSON *batch = NULL;
    pkb_code rc = PKB_OK;

    cJSON_ArrayForEach(batch, cJSON_GetObjectItemCaseSensitive(row->size, "batches"))
    {
        row->batch = batch;
        rc = write_row(table, row, err);
        if (rc != PKB_OK)
            break;
    }
    return rc;
}

static pkb_code write_sizes(pkb_table *table, pkb_row *row, pkb_error *err)
{
    const cJSON *size = NULL;
    pkb_code rc = PKB_OK;

    cJSON_ArrayForEach(size, cJSON_GetObjectItemCaseSensitive(row->record, "sizes"))
    {
        row->size = size;
        rc = table->rows == PKB_ROWS_SIZES ? write_row(table, row, err)
                                           : write_batches(table, row, err);
        if (rc != PKB_OK)
            break;
    }
    return rc;
}

/* Two rows that nothing tells apart would count twice in whatever is made of them. */
static pkb_code take_id(pkb_table *table, pkb_row *row, pkb_error *err)
{
    const pkb_outcome *outcome = row->outcome;
    const size_t before = table->ids.count;
    pkb_buf id = {0};

    pkb_buf_printf(&id, "%s/%s/%" PRId64 "/%s/%s", outcome->conditions[PKB_CONDITION_RUN],
                   outcome->problem, outcome->sample, outcome->conditions[PKB_CONDITION_DEVICE],
                   outcome->conditions[PKB_CONDITION_WORLD]);
    pkb_code rc = pkb_buf_check(&id, "an id", err);
    if (rc == PKB_OK)
        row->id = pkb_names_keep(&table->ids, pkb_buf_text(&id));
    if (rc == PKB_OK && row->id == NULL)
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the ids");
    if (rc == PKB_OK && table->ids.count == before)
        rc = pkb_error_set(
            err, PKB_ERR_USAGE, 0,
            "two of the runs hold %s, and nothing would tell their rows apart: export "
            "them into tables of their own",
            pkb_buf_text(&id));
    pkb_buf_clear(&id);
    return rc;
}

static pkb_code add_attempt(pkb_table *table, pkb_runset_reader *reader, pkb_row *row,
                            pkb_error *err)
{
    const bool has_batches = table->rows != PKB_ROWS_ATTEMPTS;
    cJSON *record = NULL;

    pkb_code rc = pkb_interrupt_check(err);
    if (rc == PKB_OK)
        rc = take_id(table, row, err);
    if (rc == PKB_OK)
        rc = pkb_runset_reader_record(reader, row->outcome, has_batches, &record, err);
    row->record = record;
    if (rc == PKB_OK)
        rc = table->rows == PKB_ROWS_ATTEMPTS ? write_row(table, row, err)
                                              : write_sizes(table, row, err);
    cJSON_Delete(record);
    return rc;
}

pkb_code pkb_table_add(pkb_table *table, const pkb_score *score, pkb_error *err)
{
    const pkb_runset *runset = score->runset;
    pkb_runset_reader reader = PKB_RUNSET_READER(runset);
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < runset->problem_count && rc == PKB_OK; i++) {
        const pkb_runset_problem *problem = &runset->problems[i];
        for (size_t k = 0; k < problem->count && rc == PKB_OK; k++) {
            pkb_row row = {.outcome = &runset->outcomes[problem->first + k],
                           .category = score->problems[i].category};
            rc = add_attempt(table, &reader, &row, err);
        }
    }
    pkb_runset_reader_close(&reader);
    return rc;
}

void pkb_table_clear(pkb_table *table)
{
    pkb_names_clear(&table->ids);
}
