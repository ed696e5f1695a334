/* SPDX-License-Identifier: Apache-2.0
 *
 * The lock, first-use set-up, limits and the error state of the runtime.
 */
#include "harness/cpu/cudart/runtime.h"

#include "harness/cpu/cudart/unsupported.h"
#include "harness/cpu/device/fault.h"
#include "harness/cpu/device/heap.h"
#include "harness/cpu/device/print.h"
#include "harness/cpu/device/window.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local cudaError_t last_error __attribute__((tls_model("initial-exec")));
static _Atomic(const char *) unsupported_name;
static pkb_cpu_limits limits = {.rank_count = 1, .suspend_idle_ns = 2000000};

void pkb_api_lock(void)
{
    pthread_mutex_lock(&lock);
}

void pkb_api_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

cudaError_t pkb_api_enter(void)
{
    pkb_api_lock();
    if (pkb_window_bytes == 0 || pkb_shared_range == 0) {
        if (pkb_window_open(NULL) != PKB_OK)
            return cudaErrorInitializationError;
        pkb_fault_catch_signals();
    }
    return (cudaError_t)pkb_fault_cuda_error();
}

cudaError_t pkb_api_note(cudaError_t rc)
{
    if (rc != cudaSuccess && rc != cudaErrorNotReady)
        last_error = rc;
    return rc;
}

cudaError_t pkb_api_leave(cudaError_t rc)
{
    pkb_api_unlock();
    return pkb_api_note(rc);
}

cudaError_t cudaPeekAtLastError(void)
{
    cudaError_t sticky = (cudaError_t)pkb_fault_cuda_error();
    return sticky != cudaSuccess ? sticky : last_error;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t rc = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return rc;
}

int pkb_api_unsupported(const char *what)
{
    atomic_store(&unsupported_name, what + strlen(PKB_UNSUPPORTED_CALL));
    pkb_fault_record_host(PKB_CPU_FAULT_UNSUPPORTED, cudaErrorNotSupported, "",
                          "the CPU device does not support %s", what);
    return pkb_api_note(cudaErrorNotSupported);
}

const char *pkb_cpu_unsupported_call(void)
{
    return atomic_load(&unsupported_name);
}

void pkb_cpu_set_limits(const pkb_cpu_limits *wanted)
{
    pkb_api_lock();
    if (wanted->memory_bytes != 0)
        pkb_heap_set_limit(wanted->memory_bytes);
    if (wanted->print_bytes != 0)
        pkb_print_set_limit(wanted->print_bytes);
    if (wanted->rank_count != 0)
        limits.rank_count = wanted->rank_count;
    if (wanted->core_count != 0)
        limits.core_count = wanted->core_count;
    if (wanted->suspend_idle_ns != 0)
        limits.suspend_idle_ns = wanted->suspend_idle_ns;
    limits.disable_suspension = wanted->disable_suspension;
    pkb_api_unlock();
}

static uint32_t usable_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

const pkb_cpu_limits *pkb_limits(void)
{
    if (limits.core_count == 0)
        limits.core_count = usable_cores();
    return &limits;
}

uint64_t pkb_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
