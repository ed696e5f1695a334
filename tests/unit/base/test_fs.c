/* SPDX-License-Identifier: Apache-2.0
 *
 * base/fs.c: files are read whole or not at all, replaced whole or not at all.
 */
#include "base/fs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[64];

static int make_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/pkb-test-fs.XXXXXX");
    return mkdtemp(directory) == NULL ? -1 : 0;
}

static int remove_directory(void **state)
{
    (void)state;
    return pkb_fs_remove_tree(directory, NULL) == PKB_OK ? 0 : -1;
}

static char *path_of(const char *name)
{
    char *path = pkb_fs_join(directory, name);
    assert_non_null(path);
    return path;
}

static void replaced_file_is_read_back_with_a_nul(void **state)
{
    (void)state;
    char *path = path_of("a.txt"), *text = NULL;
    size_t bytes = 0;
    assert_int_equal(pkb_fs_replace(path, "one\0two", 7, NULL), PKB_OK);
    assert_int_equal(pkb_fs_read(path, 100, &text, &bytes, NULL), PKB_OK);
    assert_int_equal(bytes, 7);
    assert_memory_equal(text, "one\0two", 8);
    free(text);
    free(path);
}

static void appended_records_follow_each_other(void **state)
{
    (void)state;
    char *path = path_of("log.jsonl"), *text = NULL;
    size_t bytes = 0;
    assert_int_equal(pkb_fs_append(path, "{}\n", 3, NULL), PKB_OK);
    assert_int_equal(pkb_fs_append(path, "[]\n", 3, NULL), PKB_OK);
    assert_int_equal(pkb_fs_read(path, 100, &text, &bytes, NULL), PKB_OK);
    assert_string_equal(text, "{}\n[]\n");
    free(text);
    free(path);
}

static void missing_large_and_strange_files_are_usage_errors(void **state)
{
    (void)state;
    char *missing = path_of("missing"), *large = path_of("large"), *fifo = path_of("fifo"),
         *text = NULL;
    size_t bytes = 0;
    pkb_error err = {0};

    assert_int_equal(pkb_fs_read(missing, 100, &text, &bytes, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, missing));
    assert_non_null(strstr(err.message, "No such file"));

    assert_int_equal(pkb_fs_replace(large, "0123456789", 10, NULL), PKB_OK);
    assert_int_equal(pkb_fs_read(large, 9, &text, &bytes, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, "10 bytes; the limit is 9"));

    assert_int_equal(pkb_fs_read(directory, 100, &text, &bytes, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, "is a directory"));

    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(pkb_fs_read(fifo, 100, &text, &bytes, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, "not a regular file"));
    assert_null(text);
    free(missing);
    free(large);
    free(fifo);
}

static void writing_where_no_folder_is_fails_as_disk_and_leaves_nothing(void **state)
{
    (void)state;
    pkb_error err = {0};
    char *path = path_of("no/such/folder");
    assert_int_equal(pkb_fs_replace(path, "x", 1, &err), PKB_ERR_DISK);
    assert_int_equal(pkb_fs_append(path, "x", 1, &err), PKB_ERR_DISK);
    assert_non_null(strstr(err.message, path));
    free(path);
}

static void tree_is_removed_without_following_links(void **state)
{
    (void)state;
    char *kept = path_of("kept"), *tree = path_of("tree/deep/deeper"), *top = path_of("tree");
    char *link_path = path_of("tree/deep/link");
    assert_int_equal(pkb_fs_replace(kept, "x", 1, NULL), PKB_OK);
    assert_int_equal(pkb_fs_make_directory(tree, 0700, NULL), PKB_OK);
    assert_int_equal(symlink(directory, link_path), 0);
    assert_int_equal(pkb_fs_remove_tree(top, NULL), PKB_OK);
    assert_false(pkb_fs_exists(top));
    assert_true(pkb_fs_exists(kept));
    assert_int_equal(pkb_fs_remove_tree(top, NULL), PKB_OK); /* a missing path is no error */
    free(kept);
    free(tree);
    free(top);
    free(link_path);
}

static void program_is_found_in_path_order(void **state)
{
    (void)state;
    char *shell = pkb_fs_find_program("sh");
    assert_non_null(shell);
    assert_int_equal(access(shell, X_OK), 0);
    assert_null(pkb_fs_find_program("no-such-program-anywhere"));
    free(shell);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaced_file_is_read_back_with_a_nul),
        cmocka_unit_test(appended_records_follow_each_other),
        cmocka_unit_test(missing_large_and_strange_files_are_usage_errors),
        cmocka_unit_test(writing_where_no_folder_is_fails_as_disk_and_leaves_nothing),
        cmocka_unit_test(tree_is_removed_without_following_links),
        cmocka_unit_test(program_is_found_in_path_order),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
