/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/machine/toolkit.c: where nvcc is looked for. Skipped where a system's own
 * comes first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "evaluator/machine/toolkit.h"

#define WHEEL "lib/python3.11/site-packages/nvidia/cu13"

/* An environment with nvcc's wheel in it, if wanted; `python` gets the path of its interpreter. */
static void make_environment(const char *folder, const char *name, bool has_nvcc, char *python)
{
    char path[PATH_MAX];
    snprintf(python, PATH_MAX, "%s/%s/bin/python", folder, name);
    snprintf(path, sizeof path, "%s/%s/" WHEEL "/bin", folder, name);
    assert_int_equal(pkb_fs_make_directory(path, 0755, NULL), PKB_OK);
    if (!has_nvcc)
        return;
    snprintf(path, sizeof path, "%s/%s/" WHEEL "/bin/nvcc.profile", folder, name);
    assert_int_equal(pkb_fs_replace(path, "", 0, NULL), PKB_OK);
    snprintf(path, sizeof path, "%s/%s/" WHEEL "/bin/nvcc", folder, name);
    assert_int_equal(pkb_fs_replace(path, "", 0, NULL), PKB_OK);
    assert_int_equal(chmod(path, 0755), 0);
}

static void expect(const char *first, const char *second, const char *wanted)
{
    const char *const pythons[] = {first, second};
    char *toolkit = NULL;
    char *nvcc = pkb_toolkit_find(pythons, 2, &toolkit);
    assert_non_null(nvcc);
    assert_non_null(toolkit);
    assert_non_null(strstr(nvcc, wanted));
    assert_non_null(strstr(nvcc, WHEEL "/bin/nvcc"));
    assert_int_equal(strncmp(nvcc, toolkit, strlen(toolkit)), 0);
    free(nvcc);
    free(toolkit);
}

static void wheels_are_found_beside_each_interpreter(void **state)
{
    char folder[] = "/tmp/pkb-toolkit-XXXXXX";
    char bare[PATH_MAX], full[PATH_MAX], other[PATH_MAX];
    char *toolkit = NULL;
    (void)state;

    if (pkb_fs_exists("/usr/local/cuda/bin/nvcc")) {
        print_message("/usr/local/cuda comes before any wheel\n");
        skip();
    }
    assert_non_null(mkdtemp(folder));
    setenv("PATH", folder, 1);
    unsetenv("PKBENCH_NVCC");
    make_environment(folder, "bare", false, bare);
    make_environment(folder, "full", true, full);
    make_environment(folder, "other", true, other);
    expect(bare, full, "/full/");
    expect(NULL, full, "/full/");
    expect(other, full, "/other/");
    assert_null(pkb_toolkit_find((const char *const[]){bare}, 1, &toolkit));
    pkb_fs_remove_tree(folder, NULL);
}

/* nvcc leaves temporary files where it is killed. */
static void a_script_in_front_of_nvcc_is_asked_in_a_work_directory(void **state)
{
    static const char script[] = "#!/bin/sh\n"
                                 "case $TMPDIR in \"$PKBENCH_TMPDIR\"/*) ;; *) exit 1 ;; esac\n"
                                 "touch \"$TMPDIR/tmpxft\" && echo \"#\\$ _HERE_=/real/bin\"\n";
    char folder[] = "/tmp/pkb-toolkit-XXXXXX", path[PATH_MAX];
    char *toolkit = NULL;
    (void)state;

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/nvcc", folder);
    assert_int_equal(pkb_fs_replace(path, script, strlen(script), NULL), PKB_OK);
    assert_int_equal(chmod(path, 0755), 0);
    setenv("PATH", "/usr/bin:/bin", 1);
    setenv("PKBENCH_NVCC", path, 1);
    setenv("PKBENCH_TMPDIR", folder, 1);
    char *nvcc = pkb_toolkit_find(NULL, 0, &toolkit);
    assert_string_equal(nvcc, "/real/bin/nvcc");
    assert_string_equal(toolkit, "/real");
    snprintf(path, sizeof path, "%s/pkbench-%u", folder, (unsigned)getuid());
    assert_int_equal(rmdir(path), 0); /* nothing is left in it */
    free(nvcc);
    free(toolkit);
    pkb_fs_remove_tree(folder, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wheels_are_found_beside_each_interpreter),
        cmocka_unit_test(a_script_in_front_of_nvcc_is_asked_in_a_work_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
