/* SPDX-License-Identifier: Apache-2.0
 *
 * Feeds what reads files and lines from outside with mutations of a corpus: fuzz_readers COUNT,
 * from the project's root. A reader must take an input or say what is wrong with it: it neither
 * crashes, which sanitizers watch, nor hangs, and no line of records is lost in silence. FIRST=N
 * starts with input number N; the last input stands in build-asan/fuzz_readers.input.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "evaluator/attempt/sample_status.h"
#include "evaluator/completion/completion.h"
#include "evaluator/record/record.h"
#include "evaluator/record/results.h"
#include "evaluator/score/runset.h"
#include "evaluator/worker/request.h"
#include "tests/fuzz/mutation.h"

/* A reader that takes longer hangs. */
enum { HUNG_S = 60 };

static const char *const words[] = {"{",
                                    "}",
                                    "[",
                                    "]",
                                    ",",
                                    ":",
                                    "\"",
                                    "\\",
                                    "\\u0000",
                                    "\\ud800",
                                    "\n",
                                    "\r\n",
                                    "null",
                                    "true",
                                    "0",
                                    "-1",
                                    "1e999",
                                    "9007199254740993",
                                    "18446744073709551616",
                                    "0.1",
                                    "{}",
                                    "[[[[[[[[",
                                    "\"id\":\"x\",",
                                    "\"sample\":0,",
                                    "\"request\":1,",
                                    "\"batches\":[",
                                    "\"rank_ns\":[",
                                    "\"flags\":{\"debug\":1},",
                                    "\xff",
                                    "\x1b",
                                    "\xef\xbb\xbf"};

typedef struct bench {
    pkb_catalogue catalogue;
    char folder[64];
    pkb_buf records, plan, source, status; /* paths in it */
    size_t accepted[8];
} bench;

/* An input that breaks a promise. */
#define DEMAND(condition, what)                                    \
    do {                                                           \
        if (!(condition)) {                                        \
            fprintf(stderr, "%s: not so: %s\n", what, #condition); \
            abort();                                               \
        }                                                          \
    } while (0)

static void put(const pkb_buf *path, const pkb_buf *text)
{
    DEMAND(pkb_fs_write(pkb_buf_text(path), pkb_buf_text(text), text->bytes, NULL) == PKB_OK,
           "the folder");
}

/* ---- lines ---- */

typedef bool take_line(const bench *b, const pkb_line *line);

static bool take_completion(const bench *b, const pkb_line *line)
{
    pkb_completion completion;
    pkb_error err = {0};
    const pkb_code rc = pkb_completion_parse(&completion, &b->catalogue, line, &err);

    DEMAND(rc == PKB_OK || (rc == PKB_ERR_FORMAT && err.message[0] != '\0'), "a completion");
    if (rc == PKB_OK) {
        pkb_buf source = {0}, status = {0};
        pkb_extract_status found;
        DEMAND(pkb_sample_status_make(&source, &status, &found, &completion.reply, NULL) == PKB_OK,
               "a reply");
        pkb_buf_clear(&source);
        pkb_buf_clear(&status);
    }
    pkb_completion_clear(&completion);
    return rc == PKB_OK;
}

/* What names a request is printed as it stood: as JSON of one kind, and of the same bytes. */
static void check_id(const pkb_request *request, const pkb_line *line)
{
    char *text = pkb_json_line(request->id);
    cJSON *again = NULL;

    DEMAND(text != NULL, "an id");
    DEMAND(pkb_json_parse(&again, text, strlen(text), "an id", NULL) == PKB_OK, "an id");
    DEMAND(cJSON_IsNumber(again) || cJSON_IsString(again), "an id");
    if (cJSON_IsNumber(again))
        DEMAND(memmem(line->text, line->bytes, text, strlen(text)) != NULL, "an id");
    cJSON_Delete(again);
    cJSON_free(text);
}

static bool take_request(const bench *b, const pkb_line *line)
{
    pkb_request request;
    pkb_error err = {0};
    const pkb_code rc = pkb_request_parse(&request, &b->catalogue, line, &err);

    DEMAND(rc == PKB_OK || rc == PKB_ERR_FORMAT || rc == PKB_ERR_USAGE, "a request");
    DEMAND(rc == PKB_OK || err.message[0] != '\0', "a request");
    DEMAND(rc != PKB_OK || request.id != NULL, "a request");
    if (request.id != NULL)
        check_id(&request, line);
    pkb_request_clear(&request);
    return rc == PKB_OK;
}

/* Returns how many lines are taken; each lies in memory of its own size. */
static size_t take_lines(const bench *b, const pkb_buf *text, take_line *take)
{
    const char *at = pkb_buf_text(text), *end = at + text->bytes;
    size_t taken = 0;

    for (size_t number = 1; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const size_t bytes = (size_t)((newline != NULL ? newline : end) - at);
        const pkb_buf part = {.data = (char *)at, .bytes = bytes};
        char *exact = pkb_mutation_exact(&part);
        const pkb_line line = {
            .text = exact, .bytes = bytes, .number = number, .is_whole = newline != NULL};
        taken += take(b, &line);
        free(exact);
        at += bytes + (newline != NULL);
    }
    return taken;
}

static bool run_completions(const bench *b, const pkb_buf *text)
{
    return take_lines(b, text, take_completion) > 0;
}

static bool run_requests(const bench *b, const pkb_buf *text)
{
    return take_lines(b, text, take_request) > 0;
}

/* ---- files ---- */

static size_t count_lines(const pkb_buf *text)
{
    const char *at = pkb_buf_text(text), *end = at + text->bytes;
    size_t count = 0;

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *behind = newline != NULL ? newline : end;
        count += behind > at;
        at = behind + 1;
    }
    return count;
}

static void open_results(pkb_results *out, const bench *b)
{
    const pkb_results_options options = {.path = pkb_buf_text(&b->records)};
    DEMAND(pkb_results_open(out, &options, NULL) == PKB_OK, "a file of records");
}

/* Each line is a record, broken or cut; whoever goes on finds the same, and nothing cut. */
static bool run_results(const bench *b, const pkb_buf *text)
{
    pkb_results first, second;

    put(&b->records, text);
    open_results(&first, b);
    const size_t count = first.index.count, broken = first.broken_count;
    DEMAND(count + broken + (first.cut_bytes > 0) == count_lines(text), "a file of records");
    DEMAND((broken == 0) == (first.broken_line == 0), "a file of records");
    for (size_t i = 0; i < count; i++) {
        cJSON *record = NULL;
        DEMAND(pkb_results_read(&first, &first.index.entries[i], &record, NULL) == PKB_OK,
               "a file of records");
        cJSON_Delete(record);
    }
    pkb_results_close(&first);
    open_results(&second, b);
    DEMAND(second.index.count == count && second.broken_count == broken, "going on");
    DEMAND(second.cut_bytes == 0, "going on");
    pkb_results_close(&second);
    return count > 0;
}

/* A folder of them with a plan: scored, or refused with a reason. What is not scored is counted. */
static bool read_runset(const bench *b, size_t line_count)
{
    const char *paths[] = {b->folder};
    const pkb_runset_options options = {.mixes = true};
    pkb_runset runset;
    pkb_error err = {0};
    const pkb_code rc = pkb_runset_read(&runset, paths, 1, &options, &b->catalogue, &err);

    DEMAND(rc == PKB_OK || (rc == PKB_ERR_USAGE && err.message[0] != '\0'), "a run");
    if (rc == PKB_OK) {
        const size_t seen = runset.count + runset.broken_count + runset.debug_count;
        DEMAND(seen <= line_count && runset.count > 0, "a run");
        DEMAND(runset.broken_count == 0 || runset.note_count > 0, "a run");
        for (size_t i = 0; i < runset.problem_count; i++)
            DEMAND(runset.problems[i].planned >= runset.problems[i].count, "a run");
    }
    pkb_runset_clear(&runset);
    return rc == PKB_OK;
}

/* What the lines say one by one. */
static size_t count_outcomes(const pkb_buf *text)
{
    const char *at = pkb_buf_text(text), *end = at + text->bytes;
    size_t count = 0;

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const size_t bytes = (size_t)((newline != NULL ? newline : end) - at);
        const pkb_buf part = {.data = (char *)at, .bytes = bytes};
        char *exact = pkb_mutation_exact(&part);
        pkb_names names = {0};
        pkb_outcome outcome;
        count += bytes > 0 && pkb_outcome_parse(&outcome, &names, exact, bytes, NULL) == PKB_OK;
        pkb_names_clear(&names);
        free(exact);
        at += bytes + 1;
    }
    return count;
}

static bool run_records(const bench *b, const pkb_buf *text)
{
    put(&b->records, text);
    const bool is_read = read_runset(b, count_lines(text));
    DEMAND(!is_read || count_outcomes(text) > 0, "a run");
    return is_read;
}

static bool run_plan(const bench *b, const pkb_buf *text)
{
    put(&b->plan, text);
    return read_runset(b, SIZE_MAX);
}

static bool run_status(const bench *b, const pkb_buf *text)
{
    pkb_sample_status status;
    pkb_error err = {0};
    char *model = NULL;

    put(&b->status, text);
    const pkb_code rc = pkb_sample_status_read(&status, pkb_buf_text(&b->source), &err);
    DEMAND(rc == PKB_OK || (rc == PKB_ERR_USAGE && err.message[0] != '\0'), "a status");
    DEMAND(pkb_sample_status_model(&model, pkb_buf_text(&b->source), NULL) == rc, "a status");
    free(model);
    return rc == PKB_OK;
}

/* ---- all of them ---- */

static const struct {
    const char *name, *file;
    bool (*run)(const bench *b, const pkb_buf *text);
} readers[] = {
    {"completions", "completions.jsonl", run_completions},
    {"requests", "requests.jsonl", run_requests},
    {"results", "records.jsonl", run_results},
    {"records", "records.jsonl", run_records},
    {"plans", "run.json", run_plan},
    {"statuses", "status.json", run_status},
};

enum { READERS = sizeof readers / sizeof readers[0] };

static void run_one(bench *b, const pkb_mutation_corpus *all, uint64_t number)
{
    const size_t reader = number % READERS;
    pkb_buf text = {0};

    pkb_mutation_seed(number);
    pkb_mutation_make(&text, all, reader);
    pkb_fs_write("build-asan/fuzz_readers.input", pkb_buf_text(&text), text.bytes, NULL);
    alarm(HUNG_S);
    /* The others' files are sound: only one thing is wrong at a time. */
    put(&b->records, &all->files[2]);
    put(&b->plan, &all->files[4]);
    b->accepted[reader] += readers[reader].run(b, &text);
    alarm(0);
    pkb_buf_clear(&text);
}

static void open_bench(bench *b)
{
    pkb_buf results = {0};

    DEMAND(pkb_catalogue_open(&b->catalogue, ".", NULL) == PKB_OK, "the project's root");
    snprintf(b->folder, sizeof b->folder, "/tmp/pkb-fuzz-XXXXXX");
    DEMAND(mkdtemp(b->folder) != NULL, "the folder");
    pkb_buf_printf(&results, "%s/results", b->folder);
    DEMAND(pkb_fs_make_directory(pkb_buf_text(&results), 0755, NULL) == PKB_OK, "the folder");
    pkb_buf_printf(&b->records, "%s/a.jsonl", pkb_buf_text(&results));
    pkb_buf_printf(&b->plan, "%s/run.json", b->folder);
    pkb_buf_printf(&b->source, "%s/0.cu", b->folder);
    pkb_buf_printf(&b->status, "%s/0.json", b->folder);
    pkb_buf_clear(&results);
}

static void close_bench(bench *b)
{
    pkb_fs_remove_tree(b->folder, NULL);
    pkb_catalogue_clear(&b->catalogue);
    pkb_buf_clear(&b->records);
    pkb_buf_clear(&b->plan);
    pkb_buf_clear(&b->source);
    pkb_buf_clear(&b->status);
}

int main(int argc, char **argv)
{
    static pkb_mutation_corpus all = {.words = words, .word_count = sizeof words / sizeof words[0]};
    const char *first_text = getenv("FIRST");
    const uint64_t first = first_text != NULL ? strtoull(first_text, NULL, 10) : 0;
    const uint64_t count = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    bench b = {0};

    if (count == 0) {
        fprintf(stderr, "usage: fuzz_readers COUNT\n");
        return 2;
    }
    for (size_t i = 0; i < READERS; i++) {
        char path[100];
        snprintf(path, sizeof path, "tests/fuzz/corpus/readers/%s", readers[i].file);
        DEMAND(pkb_mutation_load(&all, path), path);
    }
    open_bench(&b);
    for (uint64_t i = 0; i < count; i++)
        run_one(&b, &all, first + i);
    close_bench(&b);
    for (size_t i = 0; i < READERS; i++)
        printf("%s: %zu of %llu taken\n", readers[i].name, b.accepted[i],
               (unsigned long long)(count / READERS));
    printf("%llu inputs, no crash, nothing lost\n", (unsigned long long)count);
    pkb_mutation_clear(&all);
    return 0;
}
