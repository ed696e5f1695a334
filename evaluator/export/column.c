/* SPDX-License-Identifier: Apache-2.0
 *
 * Three tables of columns; see column.h. Most values stand in the record under a path of keys; the
 * others are those that scores count with, so that both agree.
 */
#include "evaluator/export/column.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "evaluator/problem/catalogue.h"
#include "evaluator/record/speedup.h"

/* ---- values that are no key of the record ---- */

typedef void get_cell(pkb_cell *out, const pkb_row *row);

static void get_id(pkb_cell *out, const pkb_row *row)
{
    *out = (pkb_cell){.is_there = true, .text = row->id};
}

static void get_problem(pkb_cell *out, const pkb_row *row)
{
    *out = (pkb_cell){.is_there = true, .text = row->outcome->problem};
}

static void get_number(pkb_cell *out, const pkb_row *row)
{
    *out = (pkb_cell){.is_there = true, .number = pkb_catalogue_number(row->outcome->problem)};
}

static void get_category(pkb_cell *out, const pkb_row *row)
{
    *out = (pkb_cell){.is_there = true, .text = row->category};
}

static void get_judged(pkb_cell *out, const pkb_row *row)
{
    *out = (pkb_cell){.is_there = true, .truth = pkb_outcome_is_judged(row->outcome)};
}

static void get_correct(pkb_cell *out, const pkb_row *row)
{
    *out = (pkb_cell){.is_there = pkb_outcome_is_judged(row->outcome),
                      .truth = row->outcome->verdict == PKB_VERDICT_CORRECT};
}

static void get_sizes_asked(pkb_cell *out, const pkb_row *row)
{
    *out = (pkb_cell){.is_there = row->outcome->sizes_asked != NULL,
                      .text = row->outcome->sizes_asked};
}

static void get_speedup(pkb_cell *out, const pkb_row *row)
{
    *out = (pkb_cell){row->outcome->has_speedup, .number = row->outcome->speedup.value};
}

static void get_speedup_low(pkb_cell *out, const pkb_row *row)
{
    *out = (pkb_cell){row->outcome->has_speedup, .number = row->outcome->speedup.low};
}

static void get_speedup_high(pkb_cell *out, const pkb_row *row)
{
    *out = (pkb_cell){row->outcome->has_speedup, .number = row->outcome->speedup.high};
}

static bool is_size_correct(const pkb_row *row)
{
    return strcmp(pkb_json_string_or(row->size, "verdict", ""),
                  pkb_verdict_name(PKB_VERDICT_CORRECT)) == 0;
}

static void get_size_correct(pkb_cell *out, const pkb_row *row)
{
    *out = (pkb_cell){.is_there = true, .truth = is_size_correct(row)};
}

static void get_scored(pkb_cell *out, const pkb_row *row)
{
    *out = (pkb_cell){.is_there = true, .truth = pkb_speedup_is_scored(row->size)};
}

static void get_batch_count(pkb_cell *out, const pkb_row *row)
{
    const cJSON *batches = cJSON_GetObjectItemCaseSensitive(row->size, "batches");
    *out = (pkb_cell){.is_there = batches != NULL, .number = cJSON_GetArraySize(batches)};
}

/* Times of the CPU device are no score, and neither are those of a wrong answer. */
static void get_size_speedup(pkb_cell *out, const pkb_row *row, const char *key)
{
    const cJSON *eager = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(row->size, "speedup"), "eager");
    double value = 0;

    if (strcmp(row->outcome->conditions[PKB_CONDITION_DEVICE], "cpu") == 0 ||
        !is_size_correct(row) || eager == NULL ||
        pkb_json_get_double(eager, key, &value, NULL) != PKB_OK || !isfinite(value))
        return;
    *out = (pkb_cell){.is_there = true, .number = value};
}

static void get_size_value(pkb_cell *out, const pkb_row *row)
{
    get_size_speedup(out, row, "value");
}

static void get_size_low(pkb_cell *out, const pkb_row *row)
{
    get_size_speedup(out, row, "low");
}

static void get_size_high(pkb_cell *out, const pkb_row *row)
{
    get_size_speedup(out, row, "high");
}

/* ---- the tables ---- */

typedef enum source { OF_RECORD, OF_SIZE, OF_BATCH } source;

typedef struct entry {
    pkb_column column;
    source from;
    const char *path; /* "where/rank"; NULL: `get` */
    get_cell *get;
} entry;

#define KEY(name, type, from, path, what)               \
    {                                                   \
        {name, PKB_CELL_##type, what}, from, path, NULL \
    }
#define GET(name, type, get, what)                          \
    {                                                       \
        {name, PKB_CELL_##type, what}, OF_RECORD, NULL, get \
    }

#define IDENTITY                                                                   \
    GET("id", TEXT, get_id, "run/problem/sample/device/P"),                        \
        KEY("run", TEXT, OF_RECORD, "run", "name of the run"),                     \
        GET("problem", TEXT, get_problem, "name of the problem"),                  \
        GET("number", WHOLE, get_number, "number of the problem"),                 \
        GET("category", TEXT, get_category, "of the problem; unknown without it"), \
        KEY("sample", WHOLE, OF_RECORD, "sample", "k, from 0"),                    \
        KEY("device", TEXT, OF_RECORD, "device", "cuda or cpu"),                   \
        KEY("world", WHOLE, OF_RECORD, "world", "number of ranks")

#define WHERE(from)                                                                      \
    KEY("reason", TEXT, from, "reason", "why it is not CORRECT, in a sentence"),         \
        KEY("where_rank", WHOLE, from, "where/rank", "rank that went wrong"),            \
        KEY("where_output", TEXT, from, "where/output", "output that is wrong"),         \
        KEY("where_index", WHOLES, from, "where/index", "element that is wrong"),        \
        KEY("where_expected", TEXT, from, "where/expected", "value that belongs there"), \
        KEY("where_got", TEXT, from, "where/got", "value that stands there"),            \
        KEY("where_phase", TEXT, from, "where/phase", "what was done then"),             \
        KEY("where_signal", WHOLE, from, "where/signal", "signal that ended the rank"),  \
        KEY("where_cuda_error", WHOLE, from, "where/cuda_error", "CUDA's error code")

#define JUDGE_COSTS(from)                                                                   \
    KEY("prepare_s", REAL, from, "cost_s/prepare", "s: plan, memory, draws, expectations"), \
        KEY("load_s", REAL, from, "cost_s/load", "s: start, load and set-up of the cells"), \
        KEY("check_s", REAL, from, "cost_s/check", "s: calls that are checked"),            \
        KEY("time_s", REAL, from, "cost_s/time", "s: calls that are timed"),                \
        KEY("end_s", REAL, from, "cost_s/end", "s: tear-down and what is looked at after it")

#define SIZE_NAMES                                                  \
    KEY("size", TEXT, OF_SIZE, "size", "name of the size"),         \
        KEY("class", TEXT, OF_SIZE, "class", "tiny, pkb or large"), \
        KEY("grid", TEXT, OF_SIZE, "grid", "of ranks, 2x4; empty where none is")

static const entry attempts[] = {
    IDENTITY,
    KEY("verdict", TEXT, OF_RECORD, "verdict", "docs/design.md, section 8"),
    GET("judged", TRUTH, get_judged, "counts in n: neither INFRA_ERROR nor UNSUPPORTED"),
    GET("correct", TRUTH, get_correct, "right at every size asked; null unless judged"),
    WHERE(OF_RECORD),
    GET("speedup", REAL, get_speedup,
        "over eager PyTorch + NCCL, geometric mean of scored sizes; null on cpu"),
    GET("speedup_low", REAL, get_speedup_low, "lower end of its 95 % interval"),
    GET("speedup_high", REAL, get_speedup_high, "upper end"),
    GET("sizes_asked", TEXT, get_sizes_asked, "names of sizes, with spaces"),
    KEY("source", TEXT, OF_RECORD, "source", "name of the file"),
    KEY("source_sha256", TEXT, OF_RECORD, "source_sha256", "of its bytes"),
    KEY("same_as", TEXT, OF_RECORD, "same_as", "id of the equal source that was judged for it"),
    KEY("judgement", TEXT, OF_RECORD, "judgement", "hash of all that could change the verdict"),
    KEY("definition", TEXT, OF_RECORD, "definition", "hash of the problem's file and reference"),
    KEY("sandbox", TEXT, OF_RECORD, "sandbox", "its level"),
    KEY("sizes_option", TEXT, OF_RECORD, "flags/sizes", "--sizes"),
    KEY("grid_option", TEXT, OF_RECORD, "flags/grid", "--grid"),
    KEY("timing", TRUTH, OF_RECORD, "flags/timing", "false: --no-timing"),
    KEY("timeout_s", REAL, OF_RECORD, "flags/timeout_s", "s, of a call"),
    KEY("feedback", TEXT, OF_RECORD, "flags/feedback", "feedback level of an agent"),
    KEY("policy", TEXT, OF_RECORD, "flags/policy", "policy of an agent"),
    KEY("protocol", WHOLE, OF_RECORD, "versions/protocol", "version of how is judged"),
    KEY("pkbench", TEXT, OF_RECORD, "versions/pkbench", "version"),
    KEY("cuda", TEXT, OF_RECORD, "versions/cuda", "version of nvcc"),
    KEY("torch", TEXT, OF_RECORD, "versions/torch", "version"),
    KEY("nccl", TEXT, OF_RECORD, "versions/nccl", "version"),
    KEY("mpi", TEXT, OF_RECORD, "versions/mpi", "version"),
    KEY("python", TEXT, OF_RECORD, "versions/python", "version"),
    KEY("machine_class", TEXT, OF_RECORD, "machine/class", "what scores do not mix"),
    KEY("host", TEXT, OF_RECORD, "machine/host", "name of the machine"),
    KEY("compile_s", REAL, OF_RECORD, "cost_s/compile", "s: compiler"),
    KEY("start_s", REAL, OF_RECORD, "cost_s/start", "s: until new ranks were ready"),
    JUDGE_COSTS(OF_RECORD),
    KEY("total_s", REAL, OF_RECORD, "cost_s/total", "s: wall time of the record"),
};

static const entry sizes[] = {
    IDENTITY,
    KEY("attempt_verdict", TEXT, OF_RECORD, "verdict", "of the whole attempt"),
    GET("attempt_judged", TRUTH, get_judged, "as judged of attempts"),
    GET("attempt_correct", TRUTH, get_correct, "as correct of attempts"),
    SIZE_NAMES,
    KEY("verdict", TEXT, OF_SIZE, "verdict", "at this size"),
    GET("correct", TRUTH, get_size_correct, "right at this size"),
    WHERE(OF_SIZE),
    GET("scored", TRUTH, get_scored, "class pkb or large: its speed-up is in the attempt's"),
    GET("speedup", REAL, get_size_value, "over eager PyTorch + NCCL; null on cpu or if not right"),
    GET("speedup_low", REAL, get_size_low, "lower end of its 95 % interval"),
    GET("speedup_high", REAL, get_size_high, "upper end"),
    KEY("unstable", TRUTH, OF_SIZE, "speedup/eager/unstable", "true: not known to 1 %"),
    KEY("attempt_us", REAL, OF_SIZE, "time_us/attempt", "us a call"),
    KEY("eager_us", REAL, OF_SIZE, "time_us/eager", "us a call of eager PyTorch + NCCL"),
    KEY("traffic", TEXT, OF_SIZE, "traffic", "verified or not_verified"),
    GET("batches", WHOLE, get_batch_count, "how many were timed, of both sides"),
    JUDGE_COSTS(OF_SIZE),
};

static const entry batches[] = {
    IDENTITY,
    SIZE_NAMES,
    KEY("side", TEXT, OF_BATCH, "side", "attempt or eager"),
    KEY("pair", WHOLE, OF_BATCH, "pair", "attempt and eager of one pair are compared"),
    KEY("n", WHOLE, OF_BATCH, "n", "calls in the batch"),
    KEY("slowest_ns", WHOLE, OF_BATCH, "slowest_ns", "ns: the batch on the slowest rank"),
    KEY("rank_ns", WHOLES, OF_BATCH, "rank_ns", "ns: the batch on each rank"),
};

static const struct {
    const char *name;
    const entry *entries;
    size_t count;
} tables[PKB_ROWS_COUNT] = {
    [PKB_ROWS_ATTEMPTS] = {"attempts", attempts, sizeof attempts / sizeof attempts[0]},
    [PKB_ROWS_SIZES] = {"sizes", sizes, sizeof sizes / sizeof sizes[0]},
    [PKB_ROWS_BATCHES] = {"batches", batches, sizeof batches / sizeof batches[0]},
};

const char *pkb_rows_name(pkb_rows rows)
{
    return tables[rows].name;
}

const char *pkb_cell_type_name(pkb_cell_type type)
{
    static const char *const names[] = {[PKB_CELL_TEXT] = "VARCHAR",
                                        [PKB_CELL_WHOLE] = "BIGINT",
                                        [PKB_CELL_REAL] = "DOUBLE",
                                        [PKB_CELL_TRUTH] = "BOOLEAN",
                                        [PKB_CELL_WHOLES] = "BIGINT[]"};
    return names[type];
}

size_t pkb_column_count(pkb_rows rows)
{
    return tables[rows].count;
}

const pkb_column *pkb_column_at(pkb_rows rows, size_t index)
{
    return &tables[rows].entries[index].column;
}

/* ---- values under a path ---- */

static const cJSON *follow(const cJSON *from, const char *path)
{
    char key[32];

    while (from != NULL && *path != '\0') {
        const size_t length = strcspn(path, "/");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        from = cJSON_GetObjectItemCaseSensitive(from, key);
        path += length + (path[length] == '/');
    }
    return from;
}

static bool is_whole(const cJSON *value)
{
    return cJSON_IsNumber(value) && fabs(value->valuedouble) <= 0x1p53 &&
           floor(value->valuedouble) == value->valuedouble;
}

static bool is_list(const cJSON *value)
{
    enum { MOST_ITEMS = 1024 };
    const cJSON *item = NULL;

    if (!cJSON_IsArray(value) || cJSON_GetArraySize(value) > MOST_ITEMS)
        return false;
    cJSON_ArrayForEach(item, value)
    {
        if (!is_whole(item))
            return false;
    }
    return true;
}

static pkb_cell read_value(pkb_cell_type type, const cJSON *value)
{
    pkb_cell cell = {0};

    if (value == NULL)
        return cell;
    switch (type) {
    case PKB_CELL_TEXT:
        cell.is_there = cJSON_IsString(value) || cJSON_IsNumber(value);
        cell.text = value->valuestring; /* of a number NULL */
        cell.number = value->valuedouble;
        break;
    case PKB_CELL_WHOLE:
        cell.is_there = is_whole(value);
        cell.number = value->valuedouble;
        break;
    case PKB_CELL_REAL:
        cell.is_there = cJSON_IsNumber(value) && isfinite(value->valuedouble);
        cell.number = value->valuedouble;
        break;
    case PKB_CELL_TRUTH:
        cell.is_there = cJSON_IsBool(value);
        cell.truth = cJSON_IsTrue(value);
        break;
    case PKB_CELL_WHOLES:
        cell.is_there = is_list(value);
        cell.list = value;
        break;
    }
    return cell;
}

pkb_cell pkb_column_value(pkb_rows rows, size_t index, const pkb_row *row)
{
    const entry *of = &tables[rows].entries[index];
    const cJSON *const from[] = {
        [OF_RECORD] = row->record, [OF_SIZE] = row->size, [OF_BATCH] = row->batch};
    pkb_cell cell = {0};

    if (of->path != NULL)
        return read_value(of->column.type, follow(from[of->from], of->path));
    of->get(&cell, row);
    return cell;
}
