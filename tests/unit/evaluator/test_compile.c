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
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "evaluator/compile/command.h"
#include "evaluator/compile/compile.h"
#include "evaluator/compile/ptx_limit.h"
#include "tests/unit/hung.h"

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
                                         .timeout_ns = PKB_TEST_HUNG_NS};
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
    pkb_build build = {0};
    (void)state;

    /* Waited for, it would be a timeout. */
    compile_by("#!/bin/sh\ntruncate -s 65M keep/a.ptx\nexec sleep 1000\n", NULL, &build);
    assert_false(build.is_built);
    assert_int_equal(build.verdict, PKB_VERDICT_UNSUPPORTED);
    assert_non_null(strstr(build.reason, "64 MiB"));
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

/* ---- what is stored; nvcc is a script that counts its calls ---- */

typedef struct stand_in {
    char root[32];
    char *program, *calls, *folder, *real;
    pkb_compile_options options;
} stand_in;

static void begin(stand_in *it, const char *script)
{
    pkb_buf text = {0};

    find_tools();
    strcpy(it->root, "/tmp/pkb-compile-XXXXXX");
    assert_non_null(mkdtemp(it->root));
    char *cache = pkb_fs_join(it->root, "cache");
    setenv("PKBENCH_CACHE", cache, 1);
    free(cache);
    it->program = pkb_fs_join(it->root, "nvcc");
    it->calls = pkb_fs_join(it->root, "calls");
    it->folder = pkb_fs_join(it->root, "build");
    pkb_buf_printf(&text, "#!/bin/sh\necho >>%s\n%s\n", it->calls, script);
    assert_int_equal(pkb_fs_write(it->program, text.data, text.bytes, NULL), PKB_OK);
    assert_int_equal(chmod(it->program, 0755), 0);
    pkb_buf_clear(&text);
    it->real = tools.tools[PKB_TOOL_NVCC].path;
    tools.tools[PKB_TOOL_NVCC].path = it->program;
    it->options = options_for("90a", it->folder);
    it->options.uses_cache = true;
}

static void end(stand_in *it)
{
    tools.tools[PKB_TOOL_NVCC].path = it->real;
    pkb_fs_remove_tree(it->root, NULL);
    free(it->program);
    free(it->calls);
    free(it->folder);
}

static size_t count_calls(const stand_in *it)
{
    char *text = NULL;
    size_t bytes = 0;
    if (pkb_fs_read(it->calls, 100, &text, &bytes, NULL) != PKB_OK)
        return 0;
    free(text);
    return bytes;
}

static void empty_folder(const stand_in *it)
{
    pkb_fs_remove_tree(it->folder, NULL);
    assert_int_equal(pkb_fs_make_directory(it->folder, 0700, NULL), PKB_OK);
}

static pkb_build build_anew(const stand_in *it)
{
    pkb_build build = {0};
    pkb_error err = {0};

    empty_folder(it);
    if (pkb_compile(&build, &it->options, &err) != PKB_OK)
        fail_msg("%s", err.message);
    return build;
}

static void build_ahead(const stand_in *it)
{
    pkb_compile_options options = it->options;
    pkb_error err = {0};

    empty_folder(it);
    options.is_ahead = true;
    if (pkb_compile_ahead(&options, &err) != PKB_OK)
        fail_msg("%s", err.message);
}

/* The same text and log whether it was built now, ahead, or before. */
static void expect_equal(const pkb_build *a, const pkb_build *b)
{
    assert_int_equal(a->is_built, b->is_built);
    assert_int_equal(a->verdict, b->verdict);
    assert_int_equal(a->reason == NULL, b->reason == NULL);
    if (a->reason != NULL)
        assert_string_equal(a->reason, b->reason);
    assert_string_equal(pkb_buf_text(&a->log), pkb_buf_text(&b->log));
}

static void expect_stored(const char *script, bool is_ahead)
{
    stand_in it;

    begin(&it, script);
    it.options.uses_cache = false;
    pkb_build fresh = build_anew(&it);
    it.options.uses_cache = true;
    if (is_ahead)
        build_ahead(&it);
    pkb_build second = build_anew(&it), third = build_anew(&it);
    assert_int_equal(count_calls(&it), 2);
    assert_int_equal(second.was_cached, is_ahead);
    assert_true(third.was_cached);
    expect_equal(&second, &fresh);
    expect_equal(&third, &fresh);
    if (is_ahead) {
        build_ahead(&it); /* it is there */
        assert_int_equal(count_calls(&it), 2);
    }
    pkb_build_clear(&fresh);
    pkb_build_clear(&second);
    pkb_build_clear(&third);
    end(&it);
}

static void what_was_found_once_is_not_compiled_again(void **state)
{
    static const char *const scripts[] = {
        "echo 'a.cu(1): warning: a tab\tand a \"quote\"'\necho built >attempt.so",
        "echo 'a.cu(1): error: expected a \";\"'\necho '1 error detected'\nexit 2",
        "echo cuMulticastBindMem >attempt.so"};
    (void)state;

    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        expect_stored(scripts[i], false);
        expect_stored(scripts[i], true);
    }
}

static void what_the_machine_is_to_blame_for_is_tried_again(void **state)
{
    static const char *const scripts[] = {
        "kill -9 $$",
        "echo \"nvcc error : 'cicc' died due to signal 9 (Kill signal)\"\nexit 9",
        "echo 'a.cu(1): fatal error: /tmp/x: No space left on device'\nexit 1",
        "echo 'a.cu: internal compiler error'\nexit 1",
        "echo 'cicc: cannot open shared object file: Input/output error'\nexit 1",
        "echo 'gcc: error: a.ii: Too many open files'\nexit 1",
        "echo 'what():  std::bad_alloc'\nexit 1"};
    (void)state;

    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        stand_in it;
        begin(&it, scripts[i]);
        build_ahead(&it);
        for (int again = 0; again < 2; again++) {
            const size_t calls = count_calls(&it);
            pkb_build build = build_anew(&it);
            assert_false(build.is_built);
            assert_int_equal(build.verdict, PKB_VERDICT_COMPILE_ERROR);
            assert_true(count_calls(&it) > calls);
            pkb_build_clear(&build);
        }
        end(&it);
    }
}

static void a_timeout_is_not_stored(void **state)
{
    stand_in it;
    (void)state;

    begin(&it, "[ -e ../now ] || exec sleep 1000\necho >attempt.so");
    it.options.timeout_ns = PKB_NS_PER_S / 2;
    pkb_build build = build_anew(&it);
    assert_int_equal(build.verdict, PKB_VERDICT_COMPILE_TIMEOUT);
    pkb_build_clear(&build);
    char *now = pkb_fs_join(it.root, "now");
    assert_int_equal(pkb_fs_write(now, "", 0, NULL), PKB_OK);
    it.options.timeout_ns = PKB_TEST_HUNG_NS;
    build = build_anew(&it);
    assert_true(build.is_built);
    assert_false(build.was_cached);
    pkb_build_clear(&build);
    free(now);
    end(&it);
}

/* A child builds; the parent, which wants the same, takes what the child built. */
static void who_wants_what_is_being_built_waits_for_it(void **state)
{
    stand_in it;
    (void)state;

    begin(&it, "while [ ! -e ../now ]; do sleep 0.01; done\necho built >attempt.so");
    char *now = pkb_fs_join(it.root, "now"), *child_folder = pkb_fs_join(it.root, "child");
    const uint64_t deadline_ns = pkb_clock_now_ns() + PKB_TEST_HUNG_NS;
    const pid_t child = fork();
    if (child == 0) {
        it.options.directory = child_folder;
        _exit(pkb_fs_make_directory(child_folder, 0700, NULL) == PKB_OK &&
                      pkb_compile_ahead(&it.options, NULL) == PKB_OK
                  ? 0
                  : 1);
    }
    while (count_calls(&it) == 0 && pkb_clock_left_ns(deadline_ns) > 0)
        pkb_clock_sleep_ns(PKB_NS_PER_MS);
    build_ahead(&it); /* another is at it: nothing to do */
    it.options.timeout_ns = PKB_NS_PER_S / 10;
    pkb_build impatient = build_anew(&it); /* waits, then builds it, too, and that takes too long */
    assert_int_equal(impatient.verdict, PKB_VERDICT_COMPILE_TIMEOUT);
    pkb_build_clear(&impatient);
    const size_t calls = count_calls(&it);
    const pid_t helper = fork();
    if (helper == 0) {
        pkb_clock_sleep_ns(PKB_NS_PER_S / 5);
        _exit(pkb_fs_write(now, "", 0, NULL) == PKB_OK ? 0 : 1);
    }
    it.options.timeout_ns = PKB_TEST_HUNG_NS;
    pkb_build build = build_anew(&it);
    assert_true(build.is_built && build.was_cached);
    assert_int_equal(count_calls(&it), calls);
    pkb_build_clear(&build);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(waitpid(helper, NULL, 0), helper);
    free(now);
    free(child_folder);
    end(&it);
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

/* Who compiles ahead there would do so for nothing. */
static void nothing_is_built_ahead_where_nothing_can_be_stored(void **state)
{
    stand_in it;
    (void)state;

    begin(&it, "echo built >attempt.so");
    char *in_the_way = pkb_fs_join(getenv("PKBENCH_CACHE"), ".lock");
    assert_int_equal(pkb_fs_make_directory(in_the_way, 0700, NULL), PKB_OK);
    build_ahead(&it);
    assert_int_equal(count_calls(&it), 0);
    pkb_build build = build_anew(&it);
    assert_true(build.is_built);
    pkb_build_clear(&build);
    free(in_the_way);
    end(&it);
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
        cmocka_unit_test(what_was_found_once_is_not_compiled_again),
        cmocka_unit_test(what_the_machine_is_to_blame_for_is_tried_again),
        cmocka_unit_test(a_timeout_is_not_stored),
        cmocka_unit_test(who_wants_what_is_being_built_waits_for_it),
        cmocka_unit_test(nothing_is_built_ahead_where_nothing_can_be_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
