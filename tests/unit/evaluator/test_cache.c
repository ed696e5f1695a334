/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/compile/cache.c and of the keys that command.c makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "evaluator/compile/cache.h"
#include "evaluator/compile/command.h"

static const char *const names[] = {"a.so", "b.so"};

typedef struct fixture {
    char root[64];
    char *from, *to;
    pkb_cache cache;
} fixture;

static void write_text(const char *directory, const char *name, const char *text)
{
    char *path = pkb_fs_join(directory, name);
    assert_int_equal(pkb_fs_replace(path, text, strlen(text), NULL), PKB_OK);
    free(path);
}

static int set_up(void **state)
{
    fixture *it = calloc(1, sizeof *it);
    strcpy(it->root, "/tmp/pkb-cache-XXXXXX");
    assert_non_null(mkdtemp(it->root));
    char *cache = pkb_fs_join(it->root, "cache");
    setenv("PKBENCH_CACHE", cache, 1);
    free(cache);
    it->from = pkb_fs_join(it->root, "from");
    it->to = pkb_fs_join(it->root, "to");
    assert_int_equal(pkb_fs_make_directory(it->from, 0700, NULL), PKB_OK);
    assert_int_equal(pkb_fs_make_directory(it->to, 0700, NULL), PKB_OK);
    write_text(it->from, "a.so", "first");
    write_text(it->from, "b.so", "second");
    assert_int_equal(pkb_cache_open(&it->cache, NULL), PKB_OK);
    *state = it;
    return 0;
}

static int tear_down(void **state)
{
    fixture *it = *state;
    pkb_cache_clear(&it->cache);
    pkb_fs_remove_tree(it->root, NULL);
    free(it->from);
    free(it->to);
    free(it);
    return 0;
}

static void store(fixture *it, const char *key)
{
    assert_int_equal(pkb_cache_store(&it->cache, key, it->from, names, 2, NULL), PKB_OK);
}

static bool fetch(fixture *it, const char *key)
{
    bool is_found = pkb_cache_fetch(&it->cache, key, it->to, names, 2);
    for (size_t i = 0; i < 2; i++) {
        char *path = pkb_fs_join(it->to, names[i]);
        assert_int_equal(pkb_fs_exists(path), is_found);
        unlink(path);
        free(path);
    }
    return is_found;
}

static void what_was_stored_is_fetched(void **state)
{
    fixture *it = *state;
    char *text = NULL, *path = pkb_fs_join(it->to, "b.so");
    size_t bytes = 0;
    assert_false(fetch(it, "key"));
    store(it, "key");
    assert_true(pkb_cache_fetch(&it->cache, "key", it->to, names, 2));
    assert_int_equal(pkb_fs_read(path, 100, &text, &bytes, NULL), PKB_OK);
    assert_string_equal(text, "second");
    free(text);
    free(path);
}

static void a_cache_that_others_may_write_is_not_used(void **state)
{
    enum { NOBODY = 65534 };
    fixture *it = *state;
    pkb_cache cache = {0};
    assert_int_equal(chmod(it->cache.directory, 0777), 0);
    assert_int_equal(pkb_cache_open(&cache, NULL), PKB_ERR_USAGE);
    assert_null(cache.directory);
    assert_int_equal(chmod(it->cache.directory, 0770), 0);
    assert_int_equal(pkb_cache_open(&cache, NULL), PKB_OK);
    pkb_cache_clear(&cache);
    if (chown(it->cache.directory, NOBODY, (gid_t)-1) == 0) /* as root only */
        assert_int_equal(pkb_cache_open(&cache, NULL), PKB_ERR_USAGE);
}

static void storing_twice_keeps_the_first(void **state)
{
    fixture *it = *state;
    store(it, "key");
    store(it, "key");
    assert_true(fetch(it, "key"));
}

static void an_entry_that_lacks_a_file_is_a_miss(void **state)
{
    fixture *it = *state;
    store(it, "key");
    char *entry = pkb_fs_join(it->cache.directory, "key/b.so");
    assert_int_equal(unlink(entry), 0);
    free(entry);
    assert_false(fetch(it, "key"));
}

static void the_least_recently_used_goes_first(void **state)
{
    fixture *it = *state;
    store(it, "one");
    usleep(20000);
    store(it, "two");
    usleep(20000);
    assert_true(fetch(it, "one"));
    usleep(20000);
    it->cache.limit_bytes = 25; /* two entries of 11 bytes */
    it->cache.prune_interval_s = 0;
    store(it, "three");
    assert_true(fetch(it, "one"));
    assert_false(fetch(it, "two"));
    assert_true(fetch(it, "three"));
}

static bool is_free(fixture *it, const char *key)
{
    int fd = -1;
    const bool is_free = pkb_cache_lock(&it->cache, key, &fd);
    if (fd >= 0)
        close(fd);
    return is_free;
}

static void an_entry_has_one_builder_whose_death_frees_it(void **state)
{
    fixture *it = *state;
    int ready[2], fd = -1;
    char byte = 0;

    assert_int_equal(pipe(ready), 0);
    const pid_t builder = fork();
    if (builder == 0) {
        byte = pkb_cache_lock(&it->cache, "0123456789abcdef01", &fd) ? 'y' : 'n';
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_false(is_free(it, "0123456789abcdef01"));
    assert_true(is_free(it, "1123456789abcdef01"));
    assert_true(is_free(it, "0123456789abcfef01"));
    kill(builder, SIGKILL);
    assert_int_equal(waitpid(builder, NULL, 0), builder);
    assert_true(is_free(it, "0123456789abcdef01"));
    close(ready[0]);
    close(ready[1]);
}

static void entries_are_looked_at_now_and_then(void **state)
{
    fixture *it = *state;
    struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    it->cache.limit_bytes = 1;
    store(it, "one");
    usleep(20000);
    store(it, "two"); /* the first look was just now */
    assert_true(fetch(it, "one"));
    usleep(20000);
    char *mark = pkb_fs_join(it->cache.directory, ".pruned");
    assert_int_equal(utimensat(AT_FDCWD, mark, long_ago, 0), 0);
    free(mark);
    store(it, "three");
    assert_false(fetch(it, "one"));
    assert_false(fetch(it, "two"));
    assert_true(fetch(it, "three"));
}

static void many_processes_may_store_and_fetch_at_once(void **state)
{
    enum { PROCESSES = 8, ROUNDS = 50 };
    fixture *it = *state;
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() == 0) {
            char own[16], key[16];
            snprintf(own, sizeof own, "to%d", i);
            char *to = pkb_fs_join(it->root, own);
            bool is_fine = pkb_fs_make_directory(to, 0700, NULL) == PKB_OK;
            it->cache.limit_bytes = 40;
            it->cache.prune_interval_s = 0;
            for (int round = 0; round < ROUNDS && is_fine; round++) {
                snprintf(key, sizeof key, "key%d", round % 5);
                is_fine = pkb_cache_store(&it->cache, key, it->from, names, 2, NULL) == PKB_OK;
                if (pkb_cache_fetch(&it->cache, key, to, names, 2)) {
                    char *path = pkb_fs_join(to, "a.so"), *other = pkb_fs_join(to, "b.so");
                    is_fine &= unlink(path) == 0 && unlink(other) == 0;
                    free(path);
                    free(other);
                }
            }
            free(to);
            _exit(is_fine ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
}

static void make_key(char key[PKB_HASH_HEX_BYTES], const pkb_toolbox *tools, const char *source,
                     const char *header, const char *file_name)
{
    pkb_error err = {0};
    const pkb_compile_options options = {.tools = tools,
                                         .directory = "/nowhere",
                                         .file_name = file_name,
                                         .source = source,
                                         .source_bytes = strlen(source),
                                         .header = header,
                                         .timeout_ns = 1};
    if (pkb_command_key(key, &options, &err) != PKB_OK)
        fail_msg("%s", err.message);
}

static void the_key_follows_everything_that_matters(void **state)
{
    char keys[6][PKB_HASH_HEX_BYTES];
    char self[] = "/proc/self/exe", root[] = ".", gcc[] = "/usr/bin/gcc", nvcc[] = "/usr/bin/nvcc";
    char cudart[] = "/usr/lib/libcudart.so.13";
    pkb_toolbox tools = {.root = root};
    (void)state;
    tools.tools[PKB_TOOL_NVCC].path = nvcc;
    tools.tools[PKB_TOOL_GCC].path = gcc;
    tools.tools[PKB_TOOL_CUDART].path = cudart;
    tools.tools[PKB_TOOL_TRANSLATOR].path = self;

    make_key(keys[0], &tools, "source", "header", "a.cu");
    make_key(keys[1], &tools, "sourc", "eheader", "a.cu");
    make_key(keys[2], &tools, "source", "header", "b.cu");
    strcpy(tools.tools[PKB_TOOL_NVCC].version, "13.0.88");
    make_key(keys[3], &tools, "source", "header", "a.cu");
    strcpy(tools.tools[PKB_TOOL_GCC].version, "12.2.0");
    make_key(keys[4], &tools, "source", "header", "a.cu");
    make_key(keys[5], &tools, "source", "header", "a.cu");
    assert_string_equal(keys[4], keys[5]);
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(keys[i], keys[j]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_stored_is_fetched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cache_that_others_may_write_is_not_used, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(storing_twice_keeps_the_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_entry_that_lacks_a_file_is_a_miss, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_least_recently_used_goes_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_entry_has_one_builder_whose_death_frees_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(entries_are_looked_at_now_and_then, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_processes_may_store_and_fetch_at_once, set_up,
                                        tear_down),
        cmocka_unit_test(the_key_follows_everything_that_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
