/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/attempt/debug.c: what --debug refuses and changes, where its tool is looked
 * for, what is shown of the tool's words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "evaluator/attempt/debug.h"

static pkb_eval_options options_for(int rank, const char *tool)
{
    const pkb_eval_options options = {.world = 2,
                                      .is_timed = true,
                                      .timeout_s = 20,
                                      .has_debug = rank >= 0,
                                      .debug_rank = rank,
                                      .debug_tool = tool};
    return options;
}

static void refuses(pkb_eval_options options, bool is_cuda, const char *words)
{
    pkb_error err = {0};
    assert_int_equal(pkb_debug_check(&options, is_cuda, &err), PKB_ERR_USAGE);
    if (strstr(err.message, words) == NULL)
        fail_msg("%s", err.message);
}

static void what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    refuses(options_for(-1, "memcheck"), true, "--debug RANK");
    refuses(options_for(0, NULL), false, "for GPUs");
    refuses(options_for(2, NULL), true, "no rank 2");
    refuses(options_for(0, "valgrind"), true, "not 'valgrind'");
}

static void debugging_is_slow_and_untimed(void **state)
{
    pkb_eval_options plain = options_for(-1, NULL), debug = options_for(1, NULL);
    pkb_eval_options asked = options_for(1, "racecheck");
    pkb_error err = {0};
    (void)state;

    assert_int_equal(pkb_debug_check(&plain, false, &err), PKB_OK);
    assert_true(plain.is_timed);
    assert_true(plain.timeout_s == 20);
    assert_int_equal(pkb_debug_check(&debug, true, &err), PKB_OK);
    assert_false(debug.is_timed);
    assert_true(debug.timeout_s == 20 * PKB_DEBUG_SLOWER);
    assert_string_equal(debug.debug_tool, "memcheck");
    asked.has_timeout = true;
    assert_int_equal(pkb_debug_check(&asked, true, &err), PKB_OK);
    assert_true(asked.timeout_s == 20);
    assert_string_equal(asked.debug_tool, "racecheck");
}

static void add_program(const char *folder, const char *name)
{
    char *path = pkb_fs_join(folder, name);
    assert_int_equal(pkb_fs_replace(path, "#!/bin/sh\n", 10, NULL), PKB_OK);
    assert_int_equal(chmod(path, 0755), 0);
    free(path);
}

static void finds(const pkb_toolbox *tools, const char *folder, const char *name)
{
    pkb_error err = {0};
    char *found = NULL, *wanted = pkb_fs_join(folder, name);
    if (pkb_debug_find(&found, tools, &err) != PKB_OK)
        fail_msg("%s", err.message);
    assert_string_equal(found, wanted);
    free(found);
    free(wanted);
}

static void the_toolkit_comes_before_the_path(void **state)
{
    char folder[] = "/tmp/pkb-debug-XXXXXX";
    char *found = NULL;
    pkb_error err = {0};
    (void)state;

    assert_non_null(mkdtemp(folder));
    char *path = pkb_fs_join(folder, "path"), *kit = pkb_fs_join(folder, "kit");
    char *bin = pkb_fs_join(kit, "bin");
    assert_int_equal(pkb_fs_make_directory(path, 0700, NULL), PKB_OK);
    assert_int_equal(pkb_fs_make_directory(kit, 0700, NULL), PKB_OK);
    assert_int_equal(pkb_fs_make_directory(bin, 0700, NULL), PKB_OK);
    const pkb_toolbox tools = {.toolkit = kit}, none = {0};
    const char *now = getenv("PATH");
    char *before = strdup(now != NULL ? now : "");
    setenv("PATH", path, 1);
    assert_int_equal(pkb_debug_find(&found, &tools, &err), PKB_ERR_MISSING);
    assert_non_null(strstr(err.message, "install"));
    assert_int_equal(pkb_debug_find(&found, &none, &err), PKB_ERR_MISSING);
    add_program(path, "compute-sanitizer");
    finds(&none, path, "compute-sanitizer");
    add_program(bin, "compute-sanitizer");
    finds(&tools, bin, "compute-sanitizer");
    setenv("PATH", before, 1);
    free(before);
    free(bin);
    free(kit);
    free(path);
    pkb_fs_remove_tree(folder, NULL);
}

/* What is printed of a tool's words; the caller frees. */
static char *printed(char *folder, const char *said, const char *keep)
{
    const pkb_workdir workdir = {.path = folder, .lock_fd = -1};
    char *path = pkb_fs_join(folder, PKB_DEBUG_NAME), *text = NULL;
    size_t bytes = 0;

    if (said != NULL)
        assert_int_equal(pkb_fs_replace(path, said, strlen(said), NULL), PKB_OK);
    FILE *to = open_memstream(&text, &bytes);
    assert_non_null(to);
    pkb_debug_print(to, &workdir, keep);
    fclose(to);
    free(path);
    return text;
}

static void what_the_tool_says_is_shown_without_control_characters(void **state)
{
    char folder[] = "/tmp/pkb-debug-XXXXXX", many[4001];
    (void)state;

    assert_non_null(mkdtemp(folder));
    char *nothing = printed(folder, NULL, NULL);
    assert_string_equal(nothing, "compute-sanitizer said nothing\n");
    char *lines = printed(folder, "========= Invalid \033[31mwrite\n\nlast", NULL);
    assert_null(strchr(lines, '\033'));
    assert_non_null(strstr(lines, "========= Invalid"));
    assert_non_null(strstr(lines, "\nlast\n"));
    for (size_t i = 0; i < sizeof many - 1; i++)
        many[i] = i % 4 == 3 ? '\n' : 'x';
    many[sizeof many - 1] = '\0';
    char *cut = printed(folder, many, NULL), *kept = printed(folder, many, "there");
    assert_non_null(strstr(cut, "--keep DIR"));
    assert_non_null(strstr(kept, "there/debug.txt"));
    assert_in_range(strlen(cut), 1000, 2000);
    free(nothing);
    free(lines);
    free(cut);
    free(kept);
    pkb_fs_remove_tree(folder, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_go_together_is_refused),
        cmocka_unit_test(debugging_is_slow_and_untimed),
        cmocka_unit_test(the_toolkit_comes_before_the_path),
        cmocka_unit_test(what_the_tool_says_is_shown_without_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
