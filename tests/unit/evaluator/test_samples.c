/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/attempt/samples.c and selection.c: which files of a folder are attempts, and
 * which problems a list names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "evaluator/attempt/entry.h"
#include "evaluator/attempt/samples.h"
#include "evaluator/problem/selection.h"
#include "tests/unit/evaluator/sample_problem.h"

static char *names[] = {"001_allreduce", "013_gemm_allreduce", "026_moe_token_preprocess"};
static const pkb_catalogue catalogue = {.names = names, .count = 3};

typedef struct fixture {
    char folder[64];
    pkb_samples samples;
    pkb_error err;
} fixture;

static void put(const fixture *at, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", at->folder, name);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    assert_int_equal(pkb_fs_make_directory(path, 0755, NULL), PKB_OK);
    *slash = '/';
    assert_int_equal(pkb_fs_replace(path, "x", 1, NULL), PKB_OK);
}

static pkb_code find(fixture *at)
{
    pkb_samples_clear(&at->samples);
    return pkb_samples_find(&at->samples, at->folder, &catalogue, &at->err);
}

static int set_up(void **state)
{
    fixture *at = calloc(1, sizeof *at);
    strcpy(at->folder, "/tmp/pkb-samples-XXXXXX");
    *state = at;
    return mkdtemp(at->folder) == NULL;
}

static int tear_down(void **state)
{
    fixture *at = *state;
    pkb_samples_clear(&at->samples);
    pkb_fs_remove_tree(at->folder, NULL);
    free(at);
    return 0;
}

static void demand(const fixture *at, size_t place, const char *problem, int number,
                   const char *name)
{
    const pkb_sample *sample = &at->samples.items[place];
    assert_true(place < at->samples.count);
    assert_string_equal(sample->problem, problem);
    assert_int_equal(sample->number, number);
    assert_string_equal(sample->path + strlen(at->folder) + 1, name);
}

static void three_layouts_are_found_in_order(void **state)
{
    fixture *at = *state;
    put(at, "samples/013_gemm_allreduce/10.cu");
    put(at, "samples/013_gemm_allreduce/2.cu");
    put(at, "samples/013_gemm_allreduce/2.json");
    put(at, "026_moe_token_preprocess.cu");
    put(at, "001_allreduce/try10.cu");
    put(at, "001_allreduce/try9.cu");
    put(at, "001_allreduce/notes.txt");
    put(at, "run.json");
    put(at, "results/x.jsonl");
    assert_int_equal(find(at), PKB_OK);
    assert_int_equal(at->samples.count, 5);
    demand(at, 0, names[0], 0, "001_allreduce/try9.cu");
    demand(at, 1, names[0], 1, "001_allreduce/try10.cu");
    demand(at, 2, names[1], 2, "samples/013_gemm_allreduce/2.cu");
    demand(at, 3, names[1], 10, "samples/013_gemm_allreduce/10.cu");
    demand(at, 4, names[2], 0, "026_moe_token_preprocess.cu");
    assert_int_equal(at->samples.left_count, 0);
    assert_null(at->samples.renamed);
}

static void the_number_decides_and_the_rest_is_told_once(void **state)
{
    fixture *at = *state;
    put(at, "001.cu");
    put(at, "013_gemm_all_reduce.cu");
    put(at, "026-x.cu");
    assert_int_equal(find(at), PKB_OK);
    assert_int_equal(at->samples.count, 3);
    assert_non_null(strstr(at->samples.renamed, "013_gemm_all_reduce.cu"));
    assert_string_equal(at->samples.renamed_problem, names[1]);
}

static void what_names_no_problem_is_listed(void **state)
{
    static const char *const strange[] = {"0131_x.cu",
                                          "13_x.cu",
                                          "999_x.cu",
                                          "mine.cu",
                                          "013x.cu",
                                          "samples/001_allreduce.cu",
                                          "old/a.cu",
                                          "kept/0/a.cu",
                                          "samples/001_allreduce/best.cu",
                                          "013_gemm_allreduce/a.cu"};
    fixture *at = *state;
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++)
        put(at, strange[i]);
    assert_int_equal(find(at), PKB_OK);
    assert_int_equal(at->samples.count, 1);
    /* All but the attempt and what lies deeper. */
    assert_int_equal(at->samples.left_count, sizeof strange / sizeof strange[0] - 2);
}

static void link_to(const fixture *at, const char *target, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", at->folder, name);
    assert_int_equal(symlink(target, path), 0);
}

static void demand_left(const fixture *at, const char *name, const char *problem, const char *why)
{
    for (size_t i = 0; i < at->samples.left_count; i++) {
        const pkb_left *left = &at->samples.left[i];
        if (strcmp(left->path + strlen(at->folder) + 1, name) != 0)
            continue;
        assert_ptr_equal(left->problem, problem);
        assert_non_null(strstr(left->why, why));
        return;
    }
    fail_msg("%s is not among those left", name);
}

static void links_out_of_the_folder_are_left(void **state)
{
    const bool is_wanted[] = {true, false, false};
    fixture *at = *state;
    char sibling[80];
    put(at, "samples/001_allreduce/0.cu");
    put(at, "elsewhere.txt");
    snprintf(sibling, sizeof sibling, "%s-beside", at->folder);
    assert_int_equal(pkb_fs_replace(sibling, "x", 1, NULL), PKB_OK);
    link_to(at, "0.cu", "samples/001_allreduce/1.cu");
    link_to(at, "/etc/passwd", "samples/001_allreduce/2.cu");
    link_to(at, "nothing", "samples/001_allreduce/3.cu");
    link_to(at, "4.cu", "samples/001_allreduce/4.cu");
    link_to(at, sibling, "samples/001_allreduce/5.cu");
    link_to(at, "/etc", "samples/013_gemm_allreduce");
    link_to(at, "/etc/passwd", "026.cu");
    link_to(at, "/etc", "old");
    assert_int_equal(find(at), PKB_OK);
    unlink(sibling);
    assert_int_equal(at->samples.count, 2);
    demand(at, 1, names[0], 1, "samples/001_allreduce/1.cu");
    assert_int_equal(at->samples.left_count, 6);
    demand_left(at, "samples/001_allreduce/2.cu", names[0], "out of the folder");
    demand_left(at, "samples/001_allreduce/3.cu", names[0], "nowhere");
    demand_left(at, "samples/001_allreduce/4.cu", names[0], "nowhere");
    demand_left(at, "samples/001_allreduce/5.cu", names[0], "out of the folder");
    demand_left(at, "samples/013_gemm_allreduce", names[1], "out of the folder");
    demand_left(at, "026.cu", names[2], "out of the folder");
    pkb_samples_select(&at->samples, &catalogue, is_wanted);
    assert_int_equal(at->samples.left_count, 4);
}

static void what_is_no_file_is_left(void **state)
{
    fixture *at = *state;
    char path[128];
    put(at, "013.cu");
    put(at, "samples/001_allreduce/0.cu/inner.cu");
    snprintf(path, sizeof path, "%s/001_allreduce", at->folder);
    assert_int_equal(pkb_fs_make_directory(path, 0755, NULL), PKB_OK);
    snprintf(path, sizeof path, "%s/001_allreduce/a.cu", at->folder);
    assert_int_equal(mkfifo(path, 0644), 0);
    snprintf(path, sizeof path, "%s/026.cu", at->folder);
    assert_int_equal(mkfifo(path, 0644), 0);
    assert_int_equal(find(at), PKB_OK);
    assert_int_equal(at->samples.count, 1);
    assert_int_equal(at->samples.left_count, 3);
    demand_left(at, "samples/001_allreduce/0.cu", names[0], "a directory");
    demand_left(at, "001_allreduce/a.cu", names[0], "a pipe");
    demand_left(at, "026.cu", names[2], "a pipe");
}

/* What is written in a folder must stay in it. */
static void a_link_is_no_place_to_write(void **state)
{
    fixture *at = *state;
    char path[128];
    put(at, "inner/x");
    link_to(at, "inner", "samples");
    link_to(at, "/tmp", "results");
    snprintf(path, sizeof path, "%s/samples", at->folder);
    assert_int_equal(pkb_entry_require_inside(at->folder, path, &at->err), PKB_OK);
    snprintf(path, sizeof path, "%s/results", at->folder);
    assert_int_equal(pkb_entry_require_inside(at->folder, path, &at->err), PKB_ERR_USAGE);
    assert_non_null(strstr(at->err.message, path));
    snprintf(path, sizeof path, "%s/not-there", at->folder);
    assert_int_equal(pkb_entry_require_inside(at->folder, path, &at->err), PKB_OK);
}

static void two_files_for_one_sample_are_both_named(void **state)
{
    static const char *const pairs[][2] = {{"001_a.cu", "001_b.cu"},
                                           {"001_a.cu", "001_a/x.cu"},
                                           {"samples/001_a/0.cu", "samples/001_b/0.cu"},
                                           {"samples/001_a/1.cu", "samples/001_a/01.cu"},
                                           {"samples/001_a/0.cu", "001.cu"}};
    fixture *at = *state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        put(at, pairs[i][0]);
        put(at, pairs[i][1]);
        assert_int_equal(find(at), PKB_ERR_USAGE);
        assert_non_null(strstr(at->err.message, pairs[i][0]));
        assert_non_null(strstr(at->err.message, pairs[i][1]));
        pkb_fs_remove_tree(at->folder, NULL);
    }
}

static void a_folder_without_attempts_says_how_they_are_named(void **state)
{
    fixture *at = *state;
    assert_int_equal(find(at), PKB_ERR_USAGE);
    assert_non_null(strstr(at->err.message, "013_x.cu"));
    put(at, "mine.cu");
    assert_int_equal(find(at), PKB_ERR_USAGE);
    assert_non_null(strstr(at->err.message, "mine.cu"));
    pkb_fs_remove_tree(at->folder, NULL);
    assert_int_equal(find(at), PKB_ERR_USAGE);
    assert_non_null(strstr(at->err.message, at->folder));
}

/* ---- selections ---- */

static void select_in(const char *list, const char *wanted)
{
    bool is_wanted[3] = {true, true, true};
    char got[4] = "";
    assert_int_equal(pkb_selection_parse(is_wanted, &catalogue, list, NULL), PKB_OK);
    for (int i = 0; i < 3; i++)
        got[i] = is_wanted[i] ? 'x' : '.';
    assert_string_equal(got, wanted);
}

static void lists_of_problems_are_read(void **state)
{
    (void)state;
    select_in("1", "x..");
    select_in("1-13", "xx.");
    select_in("all", "xxx");
    select_in("2-99", ".xx");
    select_in("026,001", "x.x");
    select_in("gemm_allreduce, 1", "xx.");
}

static void a_category_is_a_list(void **state)
{
    static const char primitive[] = "\"category\": \"primitive\"";
    fixture *at = *state;
    pkb_catalogue both = {.directory = at->folder, .names = names, .count = 2};
    bool is_wanted[2] = {true, false};
    char path[128], *text = strdup(sample_problem);
    char *category = strstr(text, primitive);
    snprintf(path, sizeof path, "%s/%s.json", at->folder, names[1]);
    assert_int_equal(pkb_fs_replace(path, text, strlen(text), NULL), PKB_OK);
    memset(category + strlen(primitive) - 2, 'x', 1);
    snprintf(path, sizeof path, "%s/%s.json", at->folder, names[0]);
    assert_int_equal(pkb_fs_replace(path, text, strlen(text), NULL), PKB_OK);
    free(text);
    assert_int_equal(pkb_selection_parse(is_wanted, &both, "primitive", &at->err), PKB_OK);
    assert_true(!is_wanted[0] && is_wanted[1]);
    assert_int_equal(pkb_selection_parse(is_wanted, &both, "1,primitve", &at->err), PKB_ERR_USAGE);
    assert_non_null(strstr(at->err.message, "'primitve'"));
    assert_int_equal(pkb_selection_parse(is_wanted, &both, "2-12", &at->err), PKB_ERR_USAGE);
    assert_int_equal(pkb_selection_parse(is_wanted, &both, ",", &at->err), PKB_ERR_USAGE);
}

static void a_selected_run_keeps_its_order(void **state)
{
    const bool is_wanted[] = {true, false, true};
    fixture *at = *state;
    put(at, "026.cu");
    put(at, "013.cu");
    put(at, "001.cu");
    assert_int_equal(find(at), PKB_OK);
    pkb_samples_select(&at->samples, &catalogue, is_wanted);
    assert_int_equal(at->samples.count, 2);
    demand(at, 0, names[0], 0, "001.cu");
    demand(at, 1, names[2], 0, "026.cu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(three_layouts_are_found_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_number_decides_and_the_rest_is_told_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_names_no_problem_is_listed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links_out_of_the_folder_are_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_file_is_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_link_is_no_place_to_write, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_files_for_one_sample_are_both_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_without_attempts_says_how_they_are_named, set_up,
                                        tear_down),
        cmocka_unit_test(lists_of_problems_are_read),
        cmocka_unit_test_setup_teardown(a_category_is_a_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_selected_run_keeps_its_order, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
