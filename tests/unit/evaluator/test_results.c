/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/record/results.c: what a kill or a second writer may do to a file of records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "evaluator/record/record.h"
#include "evaluator/record/results.h"

static char folder[] = "/tmp/pkb-results-XXXXXX";
static char path[64];

static cJSON *record(const char *id, const char *judgement, const char *verdict)
{
    cJSON *made = cJSON_CreateObject();
    cJSON_AddStringToObject(made, "id", id);
    cJSON_AddStringToObject(made, "judgement", judgement);
    cJSON_AddStringToObject(made, "verdict", verdict);
    return made;
}

static void append(pkb_results *results, const char *id, const char *judgement, const char *verdict)
{
    cJSON *made = record(id, judgement, verdict);
    assert_int_equal(pkb_results_append(results, made, NULL), PKB_OK);
    cJSON_Delete(made);
}

static void write_file(const char *text)
{
    assert_int_equal(pkb_fs_replace(path, text, strlen(text), NULL), PKB_OK);
}

static void demand_file(const char *wanted)
{
    char *text = NULL;
    size_t bytes = 0;
    assert_int_equal(pkb_fs_read(path, 1 << 20, &text, &bytes, NULL), PKB_OK);
    assert_string_equal(text, wanted);
    free(text);
}

static pkb_code open_path(pkb_results *results, const char *at, pkb_error *err)
{
    const pkb_results_options options = {.path = at};
    return pkb_results_open(results, &options, err);
}

static void open_results(pkb_results *results)
{
    assert_int_equal(open_path(results, path, NULL), PKB_OK);
}

static const pkb_results_entry *find(const pkb_results *results, const char *id,
                                     const char *judgement, bool only_new)
{
    const pkb_results_query query = {.id = id,
                                     .judgement = judgement,
                                     .old_verdicts = only_new ? 0 : PKB_VERDICTS_ALL,
                                     .new_verdicts = PKB_VERDICTS_ALL};
    return pkb_results_index_find(&results->index, &query);
}

#define LINE(id, judgement, verdict) \
    "{\"id\":\"" id "\",\"judgement\":\"" judgement "\",\"verdict\":\"" verdict "\"}\n"

static void what_was_appended_is_found_again(void **state)
{
    pkb_results results;
    cJSON *found = NULL;
    (void)state;
    unlink(path);
    open_results(&results);
    append(&results, "r/1", "aa", "CORRECT");
    append(&results, "r/2", "bb", "CRASH");
    pkb_results_close(&results);
    open_results(&results);
    assert_int_equal(results.index.count, 2);
    const pkb_results_entry *entry = find(&results, "r/2", "bb", false);
    assert_non_null(entry);
    assert_int_equal(pkb_results_read(&results, entry, &found, NULL), PKB_OK);
    assert_string_equal(pkb_json_string_or(found, "verdict", ""), "CRASH");
    assert_null(find(&results, "r/2", "aa", false));
    assert_non_null(find(&results, NULL, "aa", false));
    assert_null(find(&results, "r/1", "aa", true)); /* not of this call */
    append(&results, "r/1", "aa", "TIMEOUT");
    entry = find(&results, "r/1", "aa", false); /* the later one counts */
    assert_true(entry->is_new);
    cJSON_Delete(found);
    pkb_results_close(&results);
}

static void a_pending_record_is_no_verdict(void **state)
{
    pkb_results results;
    (void)state;
    write_file(LINE("r/1", "aa", "INFRA_ERROR"));
    open_results(&results);
    assert_int_equal(results.index.count, 1);
    assert_null(find(&results, "r/1", "aa", false));
    pkb_results_close(&results);
}

static void a_cut_line_is_dropped_and_nothing_else(void **state)
{
    static const char whole[] = LINE("r/1", "aa", "CORRECT"), next[] = LINE("r/2", "bb", "CORRECT");
    (void)state;
    for (size_t bytes = 1; bytes < sizeof next - 2; bytes++) {
        char text[256];
        pkb_results results;
        snprintf(text, sizeof text, "%s%.*s", whole, (int)bytes, next);
        write_file(text);
        open_results(&results);
        assert_int_equal(results.index.count, 1);
        assert_int_equal(results.cut_bytes, bytes);
        append(&results, "r/2", "bb", "CORRECT");
        pkb_results_close(&results);
        snprintf(text, sizeof text, "%s%s", whole, next);
        demand_file(text);
    }
}

static void a_last_line_without_its_end_is_kept(void **state)
{
    pkb_results results;
    (void)state;
    write_file("{\"id\":\"r/1\",\"judgement\":\"aa\",\"verdict\":\"CORRECT\"}");
    open_results(&results);
    assert_int_equal(results.index.count, 1);
    assert_int_equal(results.cut_bytes, 0);
    append(&results, "r/2", "bb", "CRASH");
    pkb_results_close(&results);
    demand_file(LINE("r/1", "aa", "CORRECT") LINE("r/2", "bb", "CRASH"));
}

static void lines_that_are_no_records_are_left_alone(void **state)
{
    static const char text[] =
        LINE("r/1", "aa", "CORRECT") "{\"id\":\n\nshopping list\n" LINE("r/2", "bb", "SPLENDID")
            LINE("r/3", "cc", "CORRECT") LINE("r/4\",\"id\":\"r/5", "dd", "CORRECT") "eggs";
    pkb_results results;
    (void)state;
    write_file(text);
    open_results(&results);
    assert_int_equal(results.index.count, 2);
    assert_int_equal(results.broken_count, 5);
    assert_int_equal(results.broken_line, 2);
    assert_int_equal(results.cut_bytes, 0);
    pkb_results_close(&results);
    char with_end[sizeof text + 1];
    snprintf(with_end, sizeof with_end, "%s\n", text);
    demand_file(with_end);
}

static void there_is_one_writer(void **state)
{
    pkb_results first, second;
    pkb_error err = {0};
    (void)state;
    unlink(path);
    open_results(&first);
    assert_int_equal(open_path(&second, path, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, "another pkbench"));
    pkb_results_close(&first);
    open_results(&second);
    pkb_results_close(&second);
}

static void a_file_without_records_does_not_stay(void **state)
{
    char link[sizeof path + 2];
    pkb_results results;
    (void)state;
    unlink(path);
    open_results(&results);
    assert_true(pkb_fs_exists(path));
    pkb_results_close(&results);
    assert_false(pkb_fs_exists(path));
    write_file(""); /* somebody else's */
    open_results(&results);
    pkb_results_close(&results);
    demand_file("");
    unlink(path);
    snprintf(link, sizeof link, "%s.l", path);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(open_path(&results, link, NULL), PKB_OK);
    pkb_results_close(&results);
    assert_true(pkb_fs_exists(link));
    unlink(link);
    unlink(path);
}

/* What another one made in its place while it was open is not taken away, nor written to. */
static void another_file_in_its_place_stays(void **state)
{
    pkb_results results;
    (void)state;
    unlink(path);
    open_results(&results);
    write_file("");
    pkb_results_close(&results);
    demand_file("");
    unlink(path);
}

static void demand_change_is_told(pkb_code rc, const pkb_error *err)
{
    assert_int_equal(rc, PKB_ERR_DISK);
    assert_non_null(strstr(err->message, "was changed by somebody else"));
    assert_non_null(strstr(err->message, path));
}

static void a_record_that_changed_meanwhile_is_not_taken(void **state)
{
    static const char *const texts[] = {
        LINE("r/2", "aa", "CORRECT"), /* as long, and somebody else's */
        LINE("r/1", "ab", "CORRECT"),
        "shopping list\n",
        "",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        pkb_results results;
        pkb_error err = {0};
        cJSON *found = NULL;
        unlink(path);
        open_results(&results);
        append(&results, "r/1", "aa", "CORRECT");
        FILE *file = fopen(path, "w"); /* in place: the same file */
        assert_non_null(file);
        fputs(texts[i], file);
        fclose(file);
        const pkb_results_entry *entry = find(&results, NULL, "aa", true);
        demand_change_is_told(pkb_results_read(&results, entry, &found, &err), &err);
        assert_null(found);
        pkb_results_close(&results);
    }
}

static void nothing_is_appended_to_a_file_that_was_replaced(void **state)
{
    pkb_results results;
    pkb_error err = {0};
    cJSON *made = record("r/2", "bb", "CORRECT");
    (void)state;
    unlink(path);
    open_results(&results);
    append(&results, "r/1", "aa", "CORRECT");
    write_file("mine\n");
    demand_change_is_told(pkb_results_append(&results, made, &err), &err);
    unlink(path);
    demand_change_is_told(pkb_results_append(&results, made, &err), &err);
    cJSON_Delete(made);
    pkb_results_close(&results);
}

/* A hole in a file costs its maker nothing, and must not cost memory here. */
static void a_line_too_long_for_a_record_is_passed_over(void **state)
{
    enum { HOLE_BYTES = 1 << 30, MEMORY_BYTES = 256 << 20 };
#ifdef __SANITIZE_ADDRESS__
    const struct rlimit little = {RLIM_INFINITY, RLIM_INFINITY}; /* its own memory is beyond it */
    (void)MEMORY_BYTES;
#else
    const struct rlimit little = {MEMORY_BYTES, RLIM_INFINITY};
#endif
    const struct rlimit enough = {RLIM_INFINITY, RLIM_INFINITY};
    pkb_results results;
    cJSON *found = NULL;
    (void)state;
    unlink(path);
    open_results(&results);
    append(&results, "r/1", "aa", "CORRECT");
    assert_int_equal(truncate(path, HOLE_BYTES), 0);
    append(&results, "r/2", "bb", "CRASH");
    append(&results, "r/3", "cc", "TIMEOUT");
    pkb_results_close(&results);
    assert_int_equal(setrlimit(RLIMIT_DATA, &little), 0);
    open_results(&results);
    assert_int_equal(setrlimit(RLIMIT_DATA, &enough), 0);
    assert_int_equal(results.index.count, 2);
    assert_int_equal(results.broken_count, 1);
    assert_int_equal(results.broken_line, 2);
    const pkb_results_entry *entry = find(&results, "r/3", "cc", false);
    assert_int_equal(pkb_results_read(&results, entry, &found, NULL), PKB_OK);
    cJSON_Delete(found);
    pkb_results_close(&results);
    unlink(path);
}

static void what_is_no_file_is_refused(void **state)
{
    pkb_results results;
    pkb_error err = {0};
    (void)state;
    assert_int_equal(open_path(&results, "/dev/null", &err), PKB_ERR_USAGE);
    assert_int_equal(open_path(&results, folder, &err), PKB_ERR_DISK);
    assert_int_equal(open_path(&results, "/nowhere/r.jsonl", &err), PKB_ERR_DISK);
    assert_non_null(strstr(err.message, "/nowhere/r.jsonl"));
}

static void records_in_memory_are_found_as_well(void **state)
{
    pkb_results results;
    cJSON *found = NULL;
    (void)state;
    assert_int_equal(open_path(&results, NULL, NULL), PKB_OK);
    append(&results, "r/1", "aa", "CORRECT");
    append(&results, "r/2", "bb", "CRASH");
    const pkb_results_entry *entry = find(&results, NULL, "bb", true);
    assert_int_equal(pkb_results_read(&results, entry, &found, NULL), PKB_OK);
    assert_string_equal(pkb_json_string_or(found, "id", ""), "r/2");
    cJSON_Delete(found);
    pkb_results_close(&results);
}

#define REVISED(id, judgement, verdict, revision)                               \
    "{\"id\":\"" id "\",\"judgement\":\"" judgement "\",\"verdict\":\"" verdict \
    "\",\"revision\":" revision "}\n"

static void open_beside(pkb_results *results, const char *other_text)
{
    static char other[80];
    const char *const others[] = {other};
    const pkb_results_options options = {.path = path, .others = others, .other_count = 1};
    snprintf(other, sizeof other, "%s/other.jsonl", folder);
    assert_int_equal(pkb_fs_replace(other, other_text, strlen(other_text), NULL), PKB_OK);
    assert_int_equal(pkb_results_open(results, &options, NULL), PKB_OK);
}

static void records_of_other_writers_are_found_and_left_alone(void **state)
{
    static const char text[] =
        LINE("r/1", "aa", "CORRECT") "eggs\n" LINE("r/2", "bb", "CRASH") "{\"id\":\"r/3\",\"judg";
    char other[80], *left = NULL;
    pkb_results results;
    cJSON *found = NULL;
    size_t bytes = 0;
    (void)state;
    unlink(path);
    open_beside(&results, text);
    assert_int_equal(results.index.count, 2);
    assert_int_equal(results.cut_bytes + results.broken_count, 0);
    append(&results, "r/3", "cc", "CORRECT");
    const pkb_results_entry *entry = find(&results, "r/2", "bb", false);
    assert_false(entry->is_new);
    assert_int_equal(pkb_results_read(&results, entry, &found, NULL), PKB_OK);
    assert_string_equal(pkb_json_string_or(found, "verdict", ""), "CRASH");
    cJSON_Delete(found);
    pkb_results_close(&results);
    demand_file(LINE("r/3", "cc", "CORRECT"));
    snprintf(other, sizeof other, "%s/other.jsonl", folder);
    assert_int_equal(pkb_fs_read(other, 1 << 20, &left, &bytes, NULL), PKB_OK);
    assert_string_equal(left, text);
    free(left);
}

static void demand_standing(const char *own, const char *other, const char *judgement, int revision)
{
    pkb_results results;
    write_file(own);
    open_beside(&results, other);
    const pkb_results_entry *entry = pkb_results_index_standing(&results.index, "r/1");
    if (judgement == NULL)
        assert_null(entry);
    else
        assert_string_equal(entry->judgement, judgement);
    assert_int_equal(pkb_results_index_revision(&results.index, "r/1"), revision);
    pkb_results_close(&results);
}

static void the_record_that_replaces_more_counts(void **state)
{
    static const char a[] = LINE("r/1", "aa", "CORRECT"), b[] = LINE("r/1", "bb", "CRASH"),
                      a1[] = REVISED("r/1", "aa", "CRASH", "1"),
                      failed[] = LINE("r/1", "aa", "INFRA_ERROR"),
                      failed_b[] = LINE("r/1", "bb", "INFRA_ERROR"),
                      failed1[] = REVISED("r/1", "aa", "INFRA_ERROR", "1");
    (void)state;
    demand_standing("", "", NULL, 0);
    demand_standing(a, "", "aa", 1);
    demand_standing(LINE("r/1", "aa", "CORRECT") LINE("r/1", "bb", "CRASH"), "", "bb", 1);
    demand_standing(b, a1, "aa", 2); /* whichever file it stands in */
    demand_standing(a1, b, "aa", 2);
    demand_standing(a, REVISED("r/1", "bb", "CRASH", "9e15"), "bb", PKB_REVISION_MOST);
    demand_standing(a, REVISED("r/1", "bb", "CRASH", "1e300"), "aa", 1); /* no whole number */
    demand_standing(failed, "", NULL, 0);
    demand_standing(failed, a, "aa", 1); /* a failure of ours takes no verdict away */
    demand_standing(a, failed, "aa", 1);
    demand_standing(LINE("r/1", "aa", "CORRECT") LINE("r/1", "aa", "INFRA_ERROR"), "", "aa", 1);
    demand_standing(failed1, a, "aa", 1);
    demand_standing(a, failed_b, "aa", 1);
    demand_standing(LINE("r/1", "aa", "CORRECT") LINE("r/1", "bb", "INFRA_ERROR"), "", NULL, 1);
    demand_standing(LINE("r/2", "aa", "CORRECT"), LINE("r/3", "aa", "CORRECT"), NULL, 0);
}

static void thousands_of_records_are_found(void **state)
{
    enum { COUNT = 5000 };
    pkb_results_index index = {0};
    char id[32];
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        pkb_results_entry entry = {.verdict = PKB_VERDICT_CORRECT, .offset = i};
        snprintf(id, sizeof id, "r/%d", i);
        snprintf(entry.judgement, sizeof entry.judgement, "j%d", i / 2);
        assert_int_equal(pkb_results_index_add(&index, &entry, id, NULL), PKB_OK);
    }
    for (int i = 0; i < COUNT; i++) {
        char judgement[32];
        const pkb_results_query query = {
            .id = id, .judgement = judgement, .old_verdicts = PKB_VERDICTS_ALL};
        snprintf(id, sizeof id, "r/%d", i);
        snprintf(judgement, sizeof judgement, "j%d", i / 2);
        assert_int_equal(pkb_results_index_find(&index, &query)->offset, i);
        assert_int_equal(pkb_results_index_standing(&index, id)->offset, i);
        snprintf(judgement, sizeof judgement, "j%d", i / 2 + 1);
        assert_null(pkb_results_index_find(&index, &query));
    }
    pkb_results_index_clear(&index);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s", mkdtemp(folder));
    strcat(path, "/r.jsonl");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return pkb_fs_remove_tree(folder, NULL) != PKB_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_appended_is_found_again),
        cmocka_unit_test(a_pending_record_is_no_verdict),
        cmocka_unit_test(a_cut_line_is_dropped_and_nothing_else),
        cmocka_unit_test(a_last_line_without_its_end_is_kept),
        cmocka_unit_test(lines_that_are_no_records_are_left_alone),
        cmocka_unit_test(there_is_one_writer),
        cmocka_unit_test(a_file_without_records_does_not_stay),
        cmocka_unit_test(another_file_in_its_place_stays),
        cmocka_unit_test(a_record_that_changed_meanwhile_is_not_taken),
        cmocka_unit_test(nothing_is_appended_to_a_file_that_was_replaced),
        cmocka_unit_test(a_line_too_long_for_a_record_is_passed_over),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(records_in_memory_are_found_as_well),
        cmocka_unit_test(records_of_other_writers_are_found_and_left_alone),
        cmocka_unit_test(the_record_that_replaces_more_counts),
        cmocka_unit_test(thousands_of_records_are_found),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
