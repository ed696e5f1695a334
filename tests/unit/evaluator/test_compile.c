/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/compile/compile.c: what is built for which device. Skipped where tools are
 * missing.
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

#include "base/clock.h"
#include "base/fs.h"
#include "evaluator/compile/command.h"
#include "evaluator/compile/compile.h"
#include "evaluator/compile/ptx_limit.h"

static const char source[] = "__global__ void nothing() {}\n"
                             "extern \"C\" int pkb_run(void *, void *, void *, cudaStream_t s)\n"
                             "{ nothing<<<1, 1, 0, s>>>(); return 0; }\n";
static pkb_toolbox tools;
static bool has_tools;

static pkb_compile_options options_for(const char *architecture, const char *directory)
{
    const pkb_compile_options options = {.tools = &tools,
                                         .level = PKB_SANDBOX_NONE,
                                         .directory = directory,
                                         .file_name = "a.cu",
                                         .source = source,
                                         .source_bytes = sizeof source - 1,
                                         .header = "",
                                         .architecture = architecture,
                                         .timeout_ns = 100 * PKB_NS_PER_S};
    return options;
}

static void find_tools(void)
{
    const pkb_tool_id needed[] = {PKB_TOOL_NVCC, PKB_TOOL_CUDART, PKB_TOOL_GCC,
                                  PKB_TOOL_TRANSLATOR};
    pkb_error err = {0};

    if (!has_tools) { /* run from the project's root, as make does */
        setenv("PKBENCH_ROOT", ".", 0);
        setenv("PKBENCH_PROGRAMS", "build", 0);
        has_tools = pkb_toolbox_open(&tools, &err) == PKB_OK &&
                    pkb_toolbox_require(&tools, needed, 4, &err) == PKB_OK;
    }
    if (has_tools)
        return;
    print_message("%s\n", err.message);
    skip();
}

static void gpus_get_machine_code_of_their_own(void **state)
{
    char folder[] = "/tmp/pkb-compile-XXXXXX";
    pkb_build build = {0};
    char *text = NULL;
    size_t bytes = 0;
    pkb_error err = {0};
    (void)state;

    find_tools();
    assert_non_null(mkdtemp(folder));
    const pkb_compile_options options = options_for("90a", folder);
    if (pkb_compile(&build, &options, &err) != PKB_OK)
        fail_msg("%s", err.message);
    if (!build.is_built)
        fail_msg("%s", build.reason);
    assert_null(build.device);
    assert_int_equal(pkb_fs_read(build.host, 64 << 20, &text, &bytes, &err), PKB_OK);
    assert_non_null(memmem(text, bytes, "-arch sm_90a", 12));
    assert_non_null(memmem(text, bytes, "libcudart.so.13", 15));
    free(text);
    pkb_build_clear(&build);
    pkb_fs_remove_tree(folder, NULL);
}

static void check_multicast(const char *architecture, const char *text, const char *word)
{
    char folder[] = "/tmp/pkb-compile-XXXXXX";
    pkb_build build = {0};
    pkb_error err = {0};

    assert_non_null(mkdtemp(folder));
    pkb_compile_options options = options_for(architecture, folder);
    options.source = text;
    options.source_bytes = strlen(text);
    if (pkb_compile(&build, &options, &err) != PKB_OK)
        fail_msg("%s", err.message);
    assert_false(build.is_built);
    assert_int_equal(build.verdict, PKB_VERDICT_FORBIDDEN_CALL);
    assert_non_null(strstr(build.reason, word));
    pkb_build_clear(&build);
    pkb_fs_remove_tree(folder, NULL);
}

static void multicast_is_refused_for_every_device(void **state)
{
    static const char in_kernel[] =
        "__global__ void f(float *x) {\n"
        "  asm volatile(\"multimem.red.release.sys.global.add.f32 [%0], %1;\" :: \"l\"(x),"
        " \"f\"(1.0f) : \"memory\"); }\n";
    static const char in_host[] = "#include <dlfcn.h>\n"
                                  "extern \"C\" int pkb_run(void *, void *, void *, cudaStream_t)\n"
                                  "{ return dlsym(nullptr, \"cuMulticastBindMem\") != nullptr; }\n";
    (void)state;

    find_tools();
    check_multicast("90a", in_kernel, "multimem.red.release.sys.global.add.f32");
    check_multicast("90a", in_host, "cuMulticastBindMem");
    check_multicast(NULL, in_host, "cuMulticastBindMem");
}

static void devices_share_no_cached_build(void **state)
{
    static const char *const architectures[] = {NULL, "80", "90a"};
    char keys[3][PKB_HASH_HEX_BYTES];
    (void)state;

    find_tools();
    for (int i = 0; i < 3; i++) {
        const pkb_compile_options options = options_for(architectures[i], "/tmp");
        assert_int_equal(pkb_command_key(keys[i], &options, NULL), PKB_OK);
    }
    assert_string_not_equal(keys[0], keys[1]);
    assert_string_not_equal(keys[0], keys[2]);
    assert_string_not_equal(keys[1], keys[2]);
}

/* ---- stand-ins for nvcc ---- */

/* Compiles with a script in the place of nvcc; $0.mark and $REAL_NVCC are for its use. */
static void compile_by(const char *script, const char *architecture, pkb_build *build)
{
    char folder[] = "/tmp/pkb-compile-XXXXXX", tool_folder[] = "/tmp/pkb-compile-XXXXXX";
    pkb_error err = {0};

    find_tools();
    assert_non_null(mkdtemp(folder));
    assert_non_null(mkdtemp(tool_folder));
    char *program = pkb_fs_join(tool_folder, "nvcc"), *real = tools.tools[PKB_TOOL_NVCC].path;
    assert_int_equal(pkb_fs_replace(program, script, strlen(script), &err), PKB_OK);
    assert_int_equal(chmod(program, 0755), 0);
    tools.tools[PKB_TOOL_NVCC].path = program;
    const pkb_compile_options options = options_for(architecture, folder);
    pkb_code rc = pkb_compile(build, &options, &err);
    tools.tools[PKB_TOOL_NVCC].path = real;
    if (rc != PKB_OK)
        fail_msg("%s", err.message);
    free(program);
    pkb_fs_remove_tree(folder, NULL);
    pkb_fs_remove_tree(tool_folder, NULL);
}

static void large_ptx_is_not_waited_for(void **state)
{
    const uint64_t start_ns = pkb_clock_now_ns();
    pkb_build build = {0};
    (void)state;

    compile_by("#!/bin/sh\ntruncate -s 65M keep/a.ptx\nexec sleep 60\n", NULL, &build);
    assert_false(build.is_built);
    assert_int_equal(build.verdict, PKB_VERDICT_UNSUPPORTED);
    assert_non_null(strstr(build.reason, "64 MiB"));
    assert_true(pkb_clock_now_ns() - start_ns < 20 * PKB_NS_PER_S);
    pkb_build_clear(&build);
}

/* What a killed build left must not be taken for the next one's. */
static void what_was_killed_once_is_built_again(void **state)
{
    static const char *const ends[] = {
        "kill -9 $$", "sh -c 'kill -9 $$'",
        "echo gcc: fatal error: Killed signal terminated program cc1plus >&2; exit 1"};
    (void)state;

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char script[512];
        pkb_build build = {0};
        snprintf(script, sizeof script,
                 "#!/bin/sh\n[ ! -e keep/left ] || exit 2\n"
                 "if [ ! -e $0.mark ]; then : >$0.mark; : >keep/left; %s; fi\n"
                 ": >" PKB_HOST_NAME "\n",
                 ends[i]);
        compile_by(script, "90a", &build);
        if (!build.is_built)
            fail_msg("%s: %s", ends[i], build.reason);
        assert_false(build.was_killed);
        pkb_build_clear(&build);
    }
}

static void what_is_killed_again_is_the_attempts_fault(void **state)
{
    pkb_build build = {0};
    (void)state;

    compile_by("#!/bin/sh\necho x >>$0.mark\n[ $(wc -l <$0.mark) -gt 2 ] || kill -9 $$\n", "90a",
               &build);
    assert_false(build.is_built);
    assert_int_equal(build.verdict, PKB_VERDICT_COMPILE_ERROR);
    assert_non_null(strstr(build.reason, "SIGKILL"));
    pkb_build_clear(&build);
}

static void expect_arrays(const char *ptx, bool are_large)
{
    char folder[] = "/tmp/pkb-compile-XXXXXX";
    pkb_buf reason = {0};
    assert_non_null(mkdtemp(folder));
    char *path = pkb_fs_join(folder, "a.ptx");
    assert_int_equal(pkb_fs_replace(path, ptx, strlen(ptx), NULL), PKB_OK);
    assert_int_equal(pkb_ptx_has_large_arrays(path, &reason), are_large);
    assert_int_equal(strstr(pkb_buf_text(&reason), "64 MiB") != NULL, are_large);
    pkb_buf_clear(&reason);
    free(path);
    pkb_fs_remove_tree(folder, NULL);
}

static void large_initialised_arrays_are_not_translated(void **state)
{
    (void)state;
    expect_arrays(".global .align 4 .b8 a[800000000] = {0, 0, 128, 63};\n", true);
    expect_arrays(".const .b8 a[40000000] = {1};\n.global .b8 b[40000000] = {1};\n", true);
    expect_arrays(".global .b8 a[99999999999999999999999] = {1};\n", true);
    expect_arrays(".global .align 4 .b8 a[800000000];\n.global .b8 b[4] = {1};\n", false);
    expect_arrays("] = {", false);
    expect_arrays("", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_get_machine_code_of_their_own),
        cmocka_unit_test(devices_share_no_cached_build),
        cmocka_unit_test(what_was_killed_once_is_built_again),
        cmocka_unit_test(what_is_killed_again_is_the_attempts_fault),
        cmocka_unit_test(multicast_is_refused_for_every_device),
        cmocka_unit_test(large_ptx_is_not_waited_for),
        cmocka_unit_test(large_initialised_arrays_are_not_translated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
