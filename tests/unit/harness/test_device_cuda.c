/* SPDX-License-Identifier: Apache-2.0
 *
 * A GPU whose kernels are lost, and a host without memory: neither may read as "nothing is wrong".
 * The driver is made up: its memory is ordinary, and its kernels do nothing and report success.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "harness/cuda/driver_table.h"
#include "harness/judge/device.h"

enum { COUNT = 64, BYTES = COUNT * sizeof(float) };

static const pkb_judge_device *device;
static pkb_driver driver;
static bool is_memory_out;
static size_t launch_count;

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);

void *__wrap_calloc(size_t count, size_t bytes)
{
    return is_memory_out ? NULL : __real_calloc(count, bytes);
}

void *__wrap_malloc(size_t bytes)
{
    return is_memory_out ? NULL : __real_malloc(bytes);
}

/* ---- the driver ---- */

static CUresult retain(CUcontext *context, CUdevice gpu)
{
    (void)context;
    (void)gpu;
    return CUDA_SUCCESS;
}

static CUresult set_current(CUcontext context)
{
    (void)context;
    return CUDA_SUCCESS;
}

static CUresult load_module(CUmodule *module, const void *text)
{
    (void)module;
    (void)text;
    return CUDA_SUCCESS;
}

static CUresult get_function(CUfunction *function, CUmodule module, const char *name)
{
    (void)function;
    (void)module;
    (void)name;
    return CUDA_SUCCESS;
}

static CUresult create_stream(CUstream *stream, unsigned flags)
{
    (void)stream;
    (void)flags;
    return CUDA_SUCCESS;
}

static CUresult synchronise_stream(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

static CUresult allocate(CUdeviceptr *address, size_t bytes)
{
    *address = (CUdeviceptr)(uintptr_t)__real_calloc(1, bytes);
    return CUDA_SUCCESS;
}

static CUresult release(CUdeviceptr address)
{
    free((void *)(uintptr_t)address);
    return CUDA_SUCCESS;
}

static CUresult unload_module(CUmodule module)
{
    (void)module;
    return CUDA_SUCCESS;
}

static CUresult copy_in(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    (void)stream;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return CUDA_SUCCESS;
}

static CUresult copy_out(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    (void)stream;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return CUDA_SUCCESS;
}

static CUresult set_bytes(CUdeviceptr to, unsigned char byte, size_t bytes, CUstream stream)
{
    (void)stream;
    memset((void *)(uintptr_t)to, byte, bytes);
    return CUDA_SUCCESS;
}

static CUresult lose_kernel(CUfunction function, unsigned x, unsigned y, unsigned z,
                            unsigned threads_x, unsigned threads_y, unsigned threads_z,
                            unsigned shared_bytes, CUstream stream, void **arguments, void **extra)
{
    (void)function, (void)x, (void)y, (void)z, (void)threads_x, (void)threads_y, (void)threads_z;
    (void)shared_bytes, (void)stream, (void)arguments, (void)extra;
    launch_count++;
    return CUDA_SUCCESS;
}

static int set_up(void **state)
{
    (void)state;
    driver = (pkb_driver){.device_count = 1,
                          .DevicePrimaryCtxRetain = retain,
                          .CtxSetCurrent = set_current,
                          .ModuleLoadData = load_module,
                          .ModuleUnload = unload_module,
                          .ModuleGetFunction = get_function,
                          .StreamCreate = create_stream,
                          .StreamSynchronize = synchronise_stream,
                          .MemAlloc = allocate,
                          .MemFree = release,
                          .MemcpyHtoDAsync = copy_in,
                          .MemcpyDtoHAsync = copy_out,
                          .MemsetD8Async = set_bytes,
                          .LaunchKernel = lose_kernel};
    is_memory_out = false;
    launch_count = 0;
    assert_int_equal(pkb_judge_device_cuda(&device, &driver, 0, NULL), PKB_OK);
    assert_int_equal(device->synchronise(NULL), PKB_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pkb_judge_device_cuda_close();
    return 0;
}

/* ---- the tests ---- */

static float out[COUNT];
static double oracle[COUNT];
static const pkb_span span = {.base = out, .end = BYTES, .key = 7, .other = oracle};

/* An output that is right, of a device that cannot say so. */
static pkb_mismatch compare(pkb_check check)
{
    const pkb_comparison comparison = {.device = device,
                                       .dtype = PKB_F32,
                                       .check = check,
                                       .out = out,
                                       .oracle = oracle,
                                       .element_count = COUNT,
                                       .row_count = 1,
                                       .tolerance = {.norm = 1, .block = 1, .max = 1}};
    return pkb_compare(&comparison);
}

static void expect_failure(const char *why)
{
    pkb_error err = {0};
    is_memory_out = false;
    assert_int_equal(device->synchronise(&err), PKB_ERR_CUDA);
    if (strstr(err.message, why) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, why);
}

static void a_lost_comparison_finds_nothing_right(void **state)
{
    (void)state;
    for (pkb_check check = PKB_CHECK_EXACT; check <= PKB_CHECK_FLOAT; check++) {
        const pkb_mismatch found = compare(check);
        assert_true(found.is_wrong && found.is_unfinished);
    }
    assert_true(launch_count > 0);
}

static void lost_searches_are_failures(void **state)
{
    bool (*const finds[])(const pkb_span *, size_t, pkb_spot *) = {device->find_damage,
                                                                   device->find_difference};
    pkb_spot spot;
    for (size_t i = 0; i < sizeof finds / sizeof *finds; i++) {
        finds[i](&span, 1, &spot);
        assert_true(launch_count > 0);
        expect_failure("did not look at everything");
        tear_down(state);
        set_up(state);
    }
}

static void a_lost_digest_is_a_failure(void **state)
{
    (void)state;
    device->digest(&span, 1, 3);
    expect_failure("did not look at everything");
}

static void searches_of_nothing_are_no_failures(void **state)
{
    const pkb_span empty = {.base = out, .begin = 8, .end = 8};
    pkb_spot spot;
    (void)state;
    assert_false(device->find_damage(&empty, 1, &spot));
    assert_false(device->find_difference(&empty, 0, &spot));
    device->digest(&empty, 1, 3);
    assert_int_equal(launch_count, 0);
    assert_int_equal(device->synchronise(NULL), PKB_OK);
}

static void do_without_memory(int which)
{
    pkb_spot spot;
    is_memory_out = true;
    switch (which) {
    case 0:
        device->fill(&span, 1);
        break;
    case 1:
        device->copy(&span, 1);
        break;
    case 2:
        assert_false(device->find_damage(&span, 1, &spot));
        break;
    case 3:
        device->digest(&span, 1, 3);
        break;
    default:
        assert_true(compare(PKB_CHECK_FLOAT).is_unfinished);
    }
}

static void no_memory_is_a_failure_of_all(void **state)
{
    for (int which = 0; which < 5; which++) {
        do_without_memory(which);
        expect_failure("out of memory");
        tear_down(state);
        set_up(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_lost_comparison_finds_nothing_right, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_searches_are_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lost_digest_is_a_failure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(searches_of_nothing_are_no_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_memory_is_a_failure_of_all, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
