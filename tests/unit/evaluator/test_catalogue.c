/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/problem/catalogue.c and suggest.c: how a problem is found, and what is offered
 * if not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evaluator/console/suggest.h"
#include "evaluator/problem/catalogue.h"

static char *names[] = {"001_allreduce", "013_gemm_allreduce", "026_moe_token_preprocess"};
static const pkb_catalogue catalogue = {.names = names, .count = 3};

static void a_problem_has_many_names(void **state)
{
    static const char *const words[] = {"13", "013", "gemm_allreduce", "013_gemm_allreduce"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *name = NULL;
        assert_int_equal(pkb_catalogue_find(&catalogue, words[i], &name, NULL), PKB_OK);
        assert_string_equal(name, "013_gemm_allreduce");
    }
}

static void an_unknown_problem_brings_the_nearest(void **state)
{
    static const char *const words[][2] = {{"gemm_alreduce", "013_gemm_allreduce"},
                                           {"013_gem_allreduce", "013_gemm_allreduce"},
                                           {"alredcue", "001_allreduce"},
                                           {"token", "026_moe_token_preprocess"}};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *name = NULL;
        pkb_error err = {0};
        assert_int_equal(pkb_catalogue_find(&catalogue, words[i][0], &name, &err), PKB_ERR_USAGE);
        assert_null(name);
        if (strstr(err.message, words[i][1]) == NULL)
            fail_msg("'%s' does not offer '%s'", err.message, words[i][1]);
    }
}

static void nothing_near_offers_nothing(void **state)
{
    static const char *const words[] = {"xyzzy", "", "99", "0", "1000000000000"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *name = NULL;
        pkb_error err = {0};
        assert_int_equal(pkb_catalogue_find(&catalogue, words[i], &name, &err), PKB_ERR_USAGE);
        assert_null(strstr(err.message, "did you mean"));
    }
}

static void a_file_name_says_the_problem(void **state)
{
    const char *name = NULL;
    pkb_error err = {0};
    (void)state;
    assert_int_equal(pkb_catalogue_find_file(&catalogue, "runs/013_try2.cu", &name, &err), PKB_OK);
    assert_string_equal(name, "013_gemm_allreduce");
    assert_int_equal(pkb_catalogue_find_file(&catalogue, "026.cu", &name, &err), PKB_OK);
    assert_string_equal(name, "026_moe_token_preprocess");
    assert_int_equal(pkb_catalogue_find_file(&catalogue, "a/mine.cu", &name, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, "-p PROBLEM"));
    assert_int_equal(pkb_catalogue_find_file(&catalogue, "99.cu", &name, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, "no problem '99'"));
    assert_int_equal(pkb_catalogue_find_file(&catalogue, "a/13_good.cu", &name, NULL), PKB_OK);
    assert_string_equal(name, "013_gemm_allreduce");
    assert_int_equal(pkb_catalogue_find_file(&catalogue, "1.cu", &name, NULL), PKB_OK);
    assert_string_equal(name, "001_allreduce");
    assert_int_equal(pkb_catalogue_find_file(&catalogue, "1st.cu", &name, NULL), PKB_ERR_USAGE);
    assert_int_equal(pkb_catalogue_find_file(&catalogue, "", &name, NULL), PKB_ERR_USAGE);
}

static void a_sample_is_of_the_problem_of_its_folder(void **state)
{
    static const char *const paths[] = {"run/samples/013_gemm_allreduce/1.cu",
                                        "013_gemm_allreduce/026.cu", "013/mine.cu",
                                        "/runs/013_old_name/try1.cu", "001_a/013_try2.cu"};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const char *name = NULL;
        assert_int_equal(pkb_catalogue_find_file(&catalogue, paths[i], &name, NULL), PKB_OK);
        assert_string_equal(name, "013_gemm_allreduce");
    }
    static const char *const others[] = {"20261130_run/1.cu", "099_none/1.cu", "013x/1.cu",
                                         "013_gemm_allreduce/run/1.cu", "/1.cu"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const char *name = NULL;
        assert_int_equal(pkb_catalogue_find_file(&catalogue, others[i], &name, NULL), PKB_OK);
        assert_string_equal(name, "001_allreduce");
    }
}

static void a_sample_here_is_of_the_problem_of_this_folder(void **state)
{
    char folder[] = "/tmp/pkb_catalogue_XXXXXX";
    const int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const char *name = NULL, *dotted = NULL;
    (void)state;

    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("013_gemm_allreduce", 0700), 0);
    assert_int_equal(chdir("013_gemm_allreduce"), 0);
    const pkb_code here = pkb_catalogue_find_file(&catalogue, "1.cu", &name, NULL),
                   there = pkb_catalogue_find_file(&catalogue, "./1.cu", &dotted, NULL);
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(rmdir("013_gemm_allreduce"), 0);
    assert_int_equal(fchdir(before), 0);
    close(before);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(here, PKB_OK);
    assert_int_equal(there, PKB_OK);
    assert_string_equal(name, "013_gemm_allreduce");
    assert_string_equal(dotted, "013_gemm_allreduce");
}

static void distance_counts_edits(void **state)
{
    (void)state;
    assert_int_equal(pkb_suggest_distance("", ""), 0);
    assert_int_equal(pkb_suggest_distance("eval", "EVAL"), 0);
    assert_int_equal(pkb_suggest_distance("", "abc"), 3);
    assert_int_equal(pkb_suggest_distance("evla", "eval"), 1);
    assert_int_equal(pkb_suggest_distance("kitten", "sitting"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_has_many_names),
        cmocka_unit_test(an_unknown_problem_brings_the_nearest),
        cmocka_unit_test(nothing_near_offers_nothing),
        cmocka_unit_test(a_file_name_says_the_problem),
        cmocka_unit_test(a_sample_is_of_the_problem_of_its_folder),
        cmocka_unit_test(a_sample_here_is_of_the_problem_of_this_folder),
        cmocka_unit_test(distance_counts_edits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
