/* SPDX-License-Identifier: Apache-2.0
 *
 * harness/judge/cgroup.c on made-up control groups of both versions.
 */
#include "harness/judge/cgroup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

static char top[] = "/tmp/pkb-cgroup-XXXXXX";

static void put(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", top, folder);
    assert_int_equal(pkb_fs_make_directory(path, 0700, NULL), PKB_OK);
    snprintf(path, sizeof path, "%s/%s/%s", top, folder, name);
    assert_int_equal(pkb_fs_replace(path, text, strlen(text), NULL), PKB_OK);
}

static uint64_t available(const char *membership)
{
    char path[512];
    put("", "membership", membership);
    snprintf(path, sizeof path, "%s/membership", top);
    return pkb_cgroup_available_bytes(top, path);
}

static int make_top(void **state)
{
    (void)state;
    return mkdtemp(top) == NULL;
}

static int remove_top(void **state)
{
    (void)state;
    return pkb_fs_remove_tree(top, NULL) != PKB_OK;
}

static void without_groups_nothing_limits(void **state)
{
    (void)state;
    assert_true(available("") == UINT64_MAX);
    assert_true(available("no line of the kernel\n12:cpu,cpuset:/a\n0::/a\n") == UINT64_MAX);
    assert_true(pkb_cgroup_available_bytes(top, "/nowhere") == UINT64_MAX);
}

/* The group itself has no limit, the one around it has; files in memory do not count. */
static void version_2_counts_the_tightest_group(void **state)
{
    (void)state;
    put("outer", "memory.max", "1000\n");
    put("outer", "memory.current", "700\n");
    put("outer", "memory.stat", "anon 500\nactive_file 50\ninactive_file 100\n");
    put("outer/inner", "memory.max", "max\n");
    put("outer/inner", "memory.current", "300\n");
    assert_int_equal(available("0::/outer/inner\n"), 400);
    put("outer/inner", "memory.max", "500\n");
    assert_int_equal(available("0::/outer/inner\n"), 200);
    put("outer/inner", "memory.current", "600\n");
    assert_int_equal(available("0::/outer/inner\n"), 0);
}

static void version_1_has_a_mount_of_its_own(void **state)
{
    const char told[] = "9:name=systemd:/\n4:cpu,memory:/box\n0::/\n";
    (void)state;
    put("memory", "memory.limit_in_bytes", "9223372036854771712\n");
    put("memory", "memory.usage_in_bytes", "800\n");
    put("memory/box", "memory.limit_in_bytes", "1000\n");
    put("memory/box", "memory.usage_in_bytes", "800\n");
    put("memory/box", "memory.stat", "inactive_file 7\ntotal_inactive_file 50\n");
    assert_int_equal(available(told), 250);
    /* In a container the path is that of the machine outside; its own group is the top. */
    put("memory", "memory.limit_in_bytes", "900\n");
    assert_int_equal(available("4:memory:/docker/12ab\n"), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_groups_nothing_limits),
        cmocka_unit_test(version_2_counts_the_tightest_group),
        cmocka_unit_test(version_1_has_a_mount_of_its_own),
    };
    return cmocka_run_group_tests(tests, make_top, remove_top);
}
