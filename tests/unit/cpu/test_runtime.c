/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime API on kernels written by hand, and what the library tells the cell program.
 */
#include "harness/cpu/cudart/api.h"
#include "harness/cpu/cudart/module.h"
#include "harness/cpu/cudart/pkb_cpu.h"
#include "harness/cpu/device/window.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a device module: `int *out, int value` for all kernels ---- */

static int *out_of(const uint8_t *params)
{
    uint64_t address = 0;

    memcpy(&address, params, sizeof address);
    return pkb_window_translate(address);
}

static int value_of(const uint8_t *params)
{
    int value = 0;

    memcpy(&value, params + 8, sizeof value);
    return value;
}

static void store_entry(pkb_thread *t, const uint8_t *params)
{
    out_of(params)[t->ctaid[0] * t->ntid[0] + t->tid[0]] = value_of(params);
}

static void wait_entry(pkb_thread *t, const uint8_t *params)
{
    volatile int *flag = out_of(params);

    t->file = 1;
    t->line = 77;
    while (*flag != value_of(params))
        pkb_yield(t);
}

static const pkb_param_info params[] = {{0, 8}, {8, 4}};
static const char *const files[] = {"", "attempt.cu"};
static const pkb_kernel_info kernels[] = {
    {.name = "_Z5storePii",
     .entry = store_entry,
     .params = params,
     .param_count = 2,
     .param_bytes = 12},
    {.name = "_Z4waitPii",
     .entry = wait_entry,
     .params = params,
     .param_count = 2,
     .param_bytes = 12},
};
static const pkb_device_module_info info = {.version = PKB_DEVICE_MODULE_VERSION,
                                            .kernels = kernels,
                                            .kernel_count = 2,
                                            .files = files,
                                            .file_count = 2};
static const char store_symbol, wait_symbol, missing_symbol;

static cudaError_t launch(const char *symbol, int blocks, int threads, int *out, int value,
                          cudaStream_t stream)
{
    void *arguments[] = {&out, &value};
    return cudaLaunchKernel(symbol, (dim3){(unsigned)blocks, 1, 1}, (dim3){(unsigned)threads, 1, 1},
                            arguments, 0, stream);
}

static int set_up(void **state)
{
    pkb_module *module = pkb_module_add(&info);

    (void)state;
    pkb_module_add_kernel(module, &store_symbol, "_Z5storePii");
    pkb_module_add_kernel(module, &wait_symbol, "_Z4waitPii");
    pkb_module_add_kernel(module, &missing_symbol, "_Z7missingv");
    return 0;
}

/* ---- tests ---- */

static void launch_and_copy_back(void **state)
{
    int *device = NULL, host[64];

    (void)state;
    assert_int_equal(cudaMalloc((void **)&device, sizeof host), cudaSuccess);
    assert_int_equal(launch(&store_symbol, 2, 32, device, 9, NULL), cudaSuccess);
    assert_int_equal(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int i = 0; i < 64; i++)
        assert_int_equal(host[i], 9);
    assert_int_equal(cudaFree(device), cudaSuccess);
}

static void kernels_that_are_missing_are_named(void **state)
{
    (void)state;
    assert_int_equal(launch(&missing_symbol, 1, 1, NULL, 0, NULL), cudaErrorNoKernelImageForDevice);
    assert_string_equal(pkb_cpu_last_fault()->kernel, "missing()");
    assert_int_equal(launch("unknown", 1, 1, NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

static void refused_launch_says_why(void **state)
{
    (void)state;
    assert_int_equal(launch(&store_symbol, 1, 2000, NULL, 0, NULL), cudaErrorInvalidValue);
    const pkb_cpu_fault *fault = pkb_cpu_last_fault();
    assert_int_equal(fault->kind, PKB_CPU_FAULT_LAUNCH);
    assert_int_equal(fault->cuda_error, cudaErrorInvalidValue);
    assert_non_null(strstr(fault->message, "2000"));
}

static void spinning_kernel_returns_to_the_host_and_is_reported(void **state)
{
    pkb_cpu_status status = {0};
    int *flag = NULL;

    (void)state;
    pkb_cpu_set_status(&status);
    assert_int_equal(cudaMallocHost((void **)&flag, sizeof *flag), cudaSuccess);
    assert_int_equal(launch(&wait_symbol, 3, 64, flag, 4, NULL), cudaSuccess);
    assert_int_equal(cudaStreamQuery(NULL), cudaErrorNotReady);
    assert_int_equal(status.sequence % 2, 0);
    assert_int_equal(status.is_spinning, 1);
    assert_string_equal(status.kernel, "wait(int*, int)");
    assert_string_equal(status.file, "attempt.cu");
    assert_int_equal(status.line, 77);
    assert_true(status.idle_rounds > 0);
    *flag = 4;
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(status.is_spinning, 0);
    pkb_cpu_set_status(NULL);
    assert_int_equal(cudaFreeHost(flag), cudaSuccess);
}

static void *raise_flag(void *flag)
{
    usleep(20000);
    __atomic_store_n((int *)flag, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void a_waiting_call_lets_other_threads_in(void **state)
{
    int *flag = NULL, *device = NULL;
    pthread_t thread;

    (void)state;
    assert_int_equal(cudaMallocHost((void **)&flag, sizeof *flag), cudaSuccess);
    assert_int_equal(launch(&wait_symbol, 1, 1, flag, 1, NULL), cudaSuccess);
    assert_int_equal(pthread_create(&thread, NULL, raise_flag, flag), 0);
    assert_int_equal(cudaMalloc((void **)&device, 4), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    pthread_join(thread, NULL);
    assert_int_equal(cudaFree(device), cudaSuccess);
    assert_int_equal(cudaFreeHost(flag), cudaSuccess);
}

static void *launch_many(void *argument)
{
    int *device = NULL, host[32];
    cudaStream_t stream = NULL;
    intptr_t failures = 0;

    (void)argument;
    failures += cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess;
    for (int round = 0; round < 200; round++) {
        failures += cudaMalloc((void **)&device, sizeof host) != cudaSuccess;
        failures += launch(&store_symbol, 1, 32, device, round, stream) != cudaSuccess;
        failures += cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream) !=
                    cudaSuccess;
        failures += cudaStreamSynchronize(stream) != cudaSuccess;
        failures += host[31] != round;
        failures += cudaFree(device) != cudaSuccess;
    }
    failures += cudaStreamDestroy(stream) != cudaSuccess;
    return (void *)failures;
}

static void host_threads_share_the_device(void **state)
{
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, NULL), 0);
    for (int i = 0; i < 4; i++) {
        void *failures = NULL;
        pthread_join(threads[i], &failures);
        assert_null(failures);
    }
}

static void memory_limit_is_that_of_the_cell(void **state)
{
    pkb_cpu_limits limits = {.memory_bytes = 1 << 20};
    size_t available = 0, total = 0;
    void *device = NULL;

    (void)state;
    pkb_cpu_set_limits(&limits);
    assert_int_equal(cudaMemGetInfo(&available, &total), cudaSuccess);
    assert_int_equal(total, 1 << 20);
    assert_int_equal(cudaMalloc(&device, (1 << 20) + 1), cudaErrorMemoryAllocation);
    assert_int_equal(cudaMalloc(&device, 1 << 20), cudaSuccess);
    assert_int_equal(cudaFree(device), cudaSuccess);
    limits.memory_bytes = 80ull << 30;
    pkb_cpu_set_limits(&limits);
    (void)cudaGetLastError();
}

static void kernels_write_foreign_memory(void **state)
{
    int fd = memfd_create("region", MFD_CLOEXEC);
    uint64_t address = 0;

    (void)state;
    assert_int_equal(ftruncate(fd, 4096), 0);
    assert_int_equal(pkb_cpu_reserve(4096, &address), 0);
    assert_int_equal(pkb_cpu_map(address, fd, 0, 4096, 1), 0);
    assert_int_equal(launch(&store_symbol, 1, 64, (int *)(uintptr_t)address, 31, NULL),
                     cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    int *seen = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    assert_int_equal(seen[63], 31);
    assert_int_equal(cudaMemset((void *)(uintptr_t)address, 0, 4097), cudaErrorInvalidValue);
    (void)cudaGetLastError();
    close(fd);
}

static void unsupported_calls_are_named(void **state)
{
    cudaArray_t array = NULL;

    (void)state;
    assert_int_equal(cudaMallocArray(&array, NULL, 1, 1, 0), cudaErrorNotSupported);
    assert_string_equal(pkb_cpu_unsupported_call(), "cudaMallocArray");
}

static int hook_pipe[2];

static void note_host_fault(uint64_t address)
{
    (void)!write(hook_pipe[1], &address, sizeof address);
}

static void host_fault_hook_is_told_before_death(void **state)
{
    int *device = NULL, status = 0;
    uint64_t told = 0;

    (void)state;
    assert_int_equal(pipe(hook_pipe), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        pkb_cpu_set_host_fault_hook(note_host_fault);
        if (cudaMalloc((void **)&device, 64) != cudaSuccess)
            _exit(1);
        (void)!write(hook_pipe[1], &device, sizeof device);
        _exit(((volatile int *)device)[3]);
    }
    assert_int_equal(read(hook_pipe[0], &device, sizeof device), sizeof device);
    assert_int_equal(read(hook_pipe[0], &told, sizeof told), sizeof told);
    assert_int_equal(told, (uint64_t)(uintptr_t)(device + 3));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First: cmocka sets its own handlers for each test, ours are set once a process. */
        cmocka_unit_test(host_fault_hook_is_told_before_death),
        cmocka_unit_test(launch_and_copy_back),
        cmocka_unit_test(kernels_that_are_missing_are_named),
        cmocka_unit_test(refused_launch_says_why),
        cmocka_unit_test(spinning_kernel_returns_to_the_host_and_is_reported),
        cmocka_unit_test(a_waiting_call_lets_other_threads_in),
        cmocka_unit_test(host_threads_share_the_device),
        cmocka_unit_test(memory_limit_is_that_of_the_cell),
        cmocka_unit_test(kernels_write_foreign_memory),
        cmocka_unit_test(unsupported_calls_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
