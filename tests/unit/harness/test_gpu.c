/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rank gets which GPU. No GPU is needed: the machine is made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "harness/cuda/gpu.h"
#include "harness/sandbox/sandbox.h"

static pkb_gpus machine(size_t count)
{
    pkb_gpus gpus = {.count = count};
    for (size_t i = 0; i < count; i++) {
        snprintf(gpus.items[i].name, sizeof gpus.items[i].name, "NVIDIA H200");
        snprintf(gpus.items[i].uuid, sizeof gpus.items[i].uuid, "GPU-%zu", i);
        gpus.items[i].minor = (int)(10 + i);
        gpus.items[i].capability = 90;
    }
    return gpus;
}

static void lists_and_ranges_are_understood(void **state)
{
    static const struct {
        const char *list, *same;
    } cases[] = {
        {"0", "0"}, {"0,1", "0,1"}, {"3,1", "3,1"}, {"0-3", "0,1,2,3"}, {"5,0-2", "5,0,1,2"}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pkb_gpu_choice choice;
        char text[PKB_GPU_TEXT_BYTES];
        assert_int_equal(pkb_gpu_choice_parse(&choice, cases[i].list, NULL), PKB_OK);
        pkb_gpu_choice_text(text, &choice);
        assert_string_equal(text, cases[i].same);
    }
}

static void malformed_lists_are_refused(void **state)
{
    static const char *const lists[] = {
        "",    ",",     "0,",  ",0", "a",    "0-",  "-1", "1-0",
        "0,0", "0-2,1", "0 1", "64", "0--1", "0x1", "+1", "99999999999999999999"};
    (void)state;

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        pkb_gpu_choice choice;
        pkb_error err = {0};
        if (pkb_gpu_choice_parse(&choice, lists[i], &err) != PKB_ERR_USAGE)
            fail_msg("'%s' was taken", lists[i]);
        assert_non_null(strstr(err.message, "--gpus"));
    }
}

static void the_first_gpus_are_the_default(void **state)
{
    const pkb_gpus gpus = machine(4);
    pkb_gpu_choice choice;
    char text[PKB_GPU_TEXT_BYTES];
    (void)state;

    assert_int_equal(pkb_gpu_choose(&choice, &gpus, NULL, 2, NULL), PKB_OK);
    pkb_gpu_choice_text(text, &choice);
    assert_string_equal(text, "0,1");
    assert_int_equal(pkb_gpu_choose(&choice, &gpus, "3,1-2", 2, NULL), PKB_OK);
    pkb_gpu_choice_text(text, &choice);
    assert_string_equal(text, "3,1");
}

static void too_few_or_unequal_gpus_are_a_usage_error(void **state)
{
    pkb_gpus gpus = machine(4);
    pkb_gpu_choice choice;
    pkb_error err = {0};
    (void)state;

    assert_int_equal(pkb_gpu_choose(&choice, &gpus, NULL, 8, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, "-n 4"));
    assert_int_equal(pkb_gpu_choose(&choice, &gpus, "0", 2, &err), PKB_ERR_USAGE);
    assert_int_equal(pkb_gpu_choose(&choice, &gpus, "2-5", 4, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, "no GPU 4"));
    snprintf(gpus.items[1].name, sizeof gpus.items[1].name, "NVIDIA L4");
    assert_int_equal(pkb_gpu_choose(&choice, &gpus, NULL, 2, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, "NVIDIA L4"));
}

static void a_rank_sees_its_own_gpu_first(void **state)
{
    const pkb_gpus gpus = machine(4);
    pkb_gpu_choice choice;
    char text[PKB_GPU_TEXT_BYTES];
    (void)state;

    assert_int_equal(pkb_gpu_choose(&choice, &gpus, "3,0,2", 3, NULL), PKB_OK);
    pkb_gpu_visible(text, &gpus, &choice, 0);
    assert_string_equal(text, "CUDA_VISIBLE_DEVICES=GPU-3,GPU-0,GPU-2");
    pkb_gpu_visible(text, &gpus, &choice, 2);
    assert_string_equal(text, "CUDA_VISIBLE_DEVICES=GPU-2,GPU-3,GPU-0");
}

static void architectures_are_those_of_nvcc(void **state)
{
    char text[16];
    (void)state;

    pkb_gpu_architecture(text, sizeof text, 80);
    assert_string_equal(text, "80");
    pkb_gpu_architecture(text, sizeof text, 90);
    assert_string_equal(text, "90a");
    pkb_gpu_architecture(text, sizeof text, 120);
    assert_string_equal(text, "120a");
}

/* Whether `word` is followed by `path` in a command line. */
static bool has(char **argv, const char *word, const char *path)
{
    for (size_t i = 0; argv[i] != NULL && argv[i + 1] != NULL; i++) {
        if (strcmp(argv[i], word) == 0 && strcmp(argv[i + 1], path) == 0)
            return true;
    }
    return false;
}

static void a_sandbox_binds_the_folder_of_the_driver(void **state)
{
    static const int minors[] = {0, 3};
    static const char *const command[] = {"/bin/true", NULL};
    pkb_sandbox_gpus gpus = {.minors = minors, .count = 2, .driver_folder = "/opt/driver"};
    const pkb_sandbox_spec spec = {.level = PKB_SANDBOX_FULL, .gpus = &gpus};
    char **argv = NULL;
    (void)state;

    assert_int_equal(pkb_sandbox_argv(&argv, &spec, command, NULL), PKB_OK);
    assert_true(has(argv, "--ro-bind", "/opt/driver"));
    pkb_argv_free(argv);
    gpus.driver_folder = "/usr/lib/x86_64-linux-gnu"; /* there already */
    assert_int_equal(pkb_sandbox_argv(&argv, &spec, command, NULL), PKB_OK);
    assert_false(has(argv, "--ro-bind", "/usr/lib/x86_64-linux-gnu"));
    pkb_argv_free(argv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_ranges_are_understood),
        cmocka_unit_test(malformed_lists_are_refused),
        cmocka_unit_test(the_first_gpus_are_the_default),
        cmocka_unit_test(too_few_or_unequal_gpus_are_a_usage_error),
        cmocka_unit_test(a_rank_sees_its_own_gpu_first),
        cmocka_unit_test(architectures_are_those_of_nvcc),
        cmocka_unit_test(a_sandbox_binds_the_folder_of_the_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
