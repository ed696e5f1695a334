/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/attempt/options.c and attempt.c: what the command line of `eval` means. Bad
 * options end the program, so tests/e2e/test_bad_input.py has those.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "evaluator/attempt/attempt.h"
#include "evaluator/attempt/options.h"

static pkb_eval_options parse(int argc, char **argv)
{
    pkb_eval_options options;
    pkb_eval_options_parse(&options, argc, argv);
    return options;
}

static void defaults_are_two_ranks_timed_and_cached(void **state)
{
    char *argv[] = {(char[]){"eval"}, (char[]){"013_x.cu"}, NULL};
    pkb_eval_options options = parse(2, argv);
    (void)state;
    assert_string_equal(options.file, "013_x.cu");
    assert_int_equal(options.world, 2);
    assert_true(options.is_timed && options.uses_cache);
    assert_false(options.wants_json || options.has_seed || options.has_timeout);
    assert_null(options.problem);
    assert_null(options.problems);
    assert_true(options.saves && !options.is_dry && options.rejudge == NULL);
    assert_true(options.samples == NULL && options.shard == NULL);
}

static void every_option_arrives(void **state)
{
    char *argv[] = {(char[]){"eval"},
                    (char[]){"-p"},
                    (char[]){"13"},
                    (char[]){"-n"},
                    (char[]){"4"},
                    (char[]){"--sizes=tiny,pkb"},
                    (char[]){"--no-timing"},
                    (char[]){"--seed=7"},
                    (char[]){"--timeout=2.5"},
                    (char[]){"--json"},
                    (char[]){"x.cu"},
                    (char[]){"--grid=cp1xtp2"},
                    (char[]){"--no-cache"},
                    (char[]){"-o"},
                    (char[]){"r.jsonl"},
                    (char[]){"--keep=k"},
                    (char[]){"--sandbox=none"},
                    (char[]){"--gpus=0,2-3"},
                    (char[]){"--problems=1-20"},
                    (char[]){"--rejudge=TIMEOUT"},
                    (char[]){"--no-save"},
                    (char[]){"--samples=0-4"},
                    (char[]){"--shard=1/2"},
                    (char[]){"--dry-run"},
                    NULL};
    pkb_eval_options options = parse(24, argv);
    (void)state;
    assert_string_equal(options.problem, "13");
    assert_int_equal(options.world, 4);
    assert_string_equal(options.sizes, "tiny,pkb");
    assert_string_equal(options.grid, "cp1xtp2");
    assert_true(options.has_seed && options.seed == 7);
    assert_true(options.has_timeout && options.timeout_s == 2.5);
    assert_true(options.wants_json && !options.is_timed && !options.uses_cache);
    assert_string_equal(options.output, "r.jsonl");
    assert_string_equal(options.keep, "k");
    assert_string_equal(options.sandbox, "none");
    assert_string_equal(options.gpus, "0,2-3");
    assert_string_equal(options.problems, "1-20");
    assert_string_equal(options.rejudge, "TIMEOUT");
    assert_string_equal(options.samples, "0-4");
    assert_string_equal(options.shard, "1/2");
    assert_true(options.is_dry && !options.saves);
}

static void the_device_is_chosen_by_what_is_there(void **state)
{
    pkb_eval_options options = {0};
    pkb_error err = {0};
    (void)state;
    assert_int_equal(pkb_eval_options_check(&options, false, &err), PKB_OK);
    assert_string_equal(options.device, "cpu");
    assert_string_equal(options.sizes, "tiny");
    options.device = "cuda";
    assert_int_equal(pkb_eval_options_check(&options, false, &err), PKB_ERR_USAGE);
    assert_string_equal(err.message, "no GPU found; use --device cpu");
    options.gpus = "0";
    options.device = "cpu";
    assert_int_equal(pkb_eval_options_check(&options, true, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, "--device cuda"));
    options.device = "tpu";
    assert_int_equal(pkb_eval_options_check(&options, false, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, "'tpu'"));
    options = (pkb_eval_options){0};
    assert_int_equal(pkb_eval_options_check(&options, true, &err), PKB_OK);
    assert_string_equal(options.device, "cuda");
    assert_string_equal(options.sizes, "all");
}

static void check_name(const char *folder, const char *name, const char *wanted)
{
    pkb_attempt attempt = {0};
    char *path = pkb_fs_join(folder, name);
    assert_int_equal(pkb_fs_replace(path, " \n", 2, NULL), PKB_OK);
    assert_int_equal(pkb_attempt_read(&attempt, path, NULL), PKB_OK);
    assert_string_equal(attempt.file_name, wanted);
    assert_true(attempt.is_blank);
    pkb_attempt_clear(&attempt);
    free(path);
}

static void a_strange_file_name_does_not_reach_the_compiler(void **state)
{
    char folder[] = "/tmp/pkb-attempt-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(folder));
    check_name(folder, "013_mine-2.cu", "013_mine-2.cu");
    check_name(folder, "-x.cu", "attempt.cu");
    check_name(folder, "a b.cu", "attempt.cu");
    check_name(folder, "kernel.c", "attempt.cu");
    check_name(folder, "\xc3\xa4.cu", "attempt.cu");
    check_name(folder, ".cu", "attempt.cu");
    pkb_fs_remove_tree(folder, NULL);
}

static pkb_code require(char *word, pkb_option_scope scope, pkb_error *err)
{
    char *argv[] = {(char[]){"eval"}, (char[]){"-n2"}, word, (char[]){"x"}, NULL};
    const pkb_eval_options options = parse(4, argv);
    return pkb_eval_options_require(&options, scope, err);
}

static void options_go_with_what_they_are_for(void **state)
{
    static const struct {
        const char *word, *name;
        bool is_for_file, is_for_folder;
    } cases[] = {
        {"-p1", "--problem", true, false},
        {"--problems=1", "--problems", false, true},
        {"--samples=0", "--samples", false, true},
        {"--shard=1/2", "--shard", false, true},
        {"--worlds=2", "--worlds", false, true},
        {"--timing=apart", "--timing", false, true},
        {"--rejudge=all", "--rejudge", false, true},
        {"--dry-run", "--dry-run", false, true},
        {"--no-save", "--no-save", false, true},
        {"--debug=0", "--debug", true, false},
        {"--debug-tool=memcheck", "--debug-tool", true, false},
        {"--keep=k", "--keep", true, true},
        {"--json", "--json", true, true},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *word = strdup(cases[i].word);
        pkb_error err = {0};
        assert_non_null(word);
        assert_int_equal(require(word, PKB_SCOPE_FILE, &err) == PKB_OK, cases[i].is_for_file);
        assert_int_equal(require(word, PKB_SCOPE_FOLDER, &err) == PKB_OK, cases[i].is_for_folder);
        if (!cases[i].is_for_file || !cases[i].is_for_folder)
            assert_memory_equal(err.message, cases[i].name, strlen(cases[i].name));
        free(word);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_two_ranks_timed_and_cached),
        cmocka_unit_test(every_option_arrives),
        cmocka_unit_test(options_go_with_what_they_are_for),
        cmocka_unit_test(the_device_is_chosen_by_what_is_there),
        cmocka_unit_test(a_strange_file_name_does_not_reach_the_compiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
