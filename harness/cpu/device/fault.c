/* SPDX-License-Identifier: Apache-2.0
 *
 * Recording device faults and leaving the faulting fiber.
 */
#include "harness/cpu/device/fault.h"

#include "harness/cpu/device/fiber.h"
#include "harness/cpu/device/grid.h"
#include "harness/cpu/device/window.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cudaError_t values; this folder does not include CUDA's headers. */
enum {
    CUDA_ERROR_MEMORY_ALLOCATION = 2,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_ASSERT = 710,
    CUDA_ERROR_MISALIGNED = 716,
    CUDA_ERROR_LAUNCH_FAILURE = 719,
    CUDA_ERROR_NOT_SUPPORTED = 801
};

static pkb_cpu_fault device_fault, host_fault;

static int cuda_error_of(pkb_cpu_fault_kind kind)
{
    switch (kind) {
    case PKB_CPU_FAULT_ADDRESS:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case PKB_CPU_FAULT_MISALIGNED:
        return CUDA_ERROR_MISALIGNED;
    case PKB_CPU_FAULT_ASSERT:
        return CUDA_ERROR_ASSERT;
    case PKB_CPU_FAULT_DEADLOCK:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    case PKB_CPU_FAULT_UNSUPPORTED:
        return CUDA_ERROR_NOT_SUPPORTED;
    case PKB_CPU_FAULT_NONE:
    case PKB_CPU_FAULT_TRAP:
    case PKB_CPU_FAULT_LANE_MASK:
    case PKB_CPU_FAULT_LAUNCH:
        break;
    }
    return CUDA_ERROR_LAUNCH_FAILURE;
}

void pkb_fault_demangle(char *out, size_t out_bytes, const char *name)
{
    typedef char *demangler(const char *, char *, size_t *, int *);
    /* An attempt is C++ and brings the library along; C programs do without. */
    demangler *demangle = (demangler *)(uintptr_t)dlsym(RTLD_DEFAULT, "__cxa_demangle");
    char *readable = NULL;
    int status = 0;

    if (demangle == NULL) {
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        if (library != NULL)
            demangle = (demangler *)(uintptr_t)dlsym(library, "__cxa_demangle");
    }
    if (demangle != NULL)
        readable = demangle(name, NULL, NULL, &status);
    snprintf(out, out_bytes, "%s", readable != NULL ? readable : name);
    free(readable);
}

static void record_kernel(const pkb_grid *grid, pkb_cpu_fault_kind kind)
{
    memset(&device_fault, 0, sizeof device_fault);
    device_fault.kind = kind;
    device_fault.cuda_error = cuda_error_of(kind);
    snprintf(device_fault.kernel, sizeof device_fault.kernel, "%s", grid->launch.kernel->name);
}

/* Everything but the message. */
static void record_place(const pkb_grid *grid, const pkb_thread *thread, pkb_cpu_fault_kind kind)
{
    const pkb_device_module_info *module = grid->launch.module;

    record_kernel(grid, kind);
    memcpy(device_fault.block, thread->ctaid, sizeof device_fault.block);
    memcpy(device_fault.thread, thread->tid, sizeof device_fault.thread);
    device_fault.line = thread->line;
    if (module != NULL && thread->file < module->file_count)
        snprintf(device_fault.file, sizeof device_fault.file, "%s", module->files[thread->file]);
}

static const pkb_grid *grid_of(const pkb_thread *thread)
{
    /* The thread is the first member of its fiber. */
    return ((const pkb_fiber *)(const void *)thread)->block->grid;
}

static __attribute__((format(printf, 1, 0))) void record_message(const char *format,
                                                                 va_list arguments)
{
    vsnprintf(device_fault.message, sizeof device_fault.message, format, arguments);
}

static _Noreturn void leave(pkb_thread *thread)
{
    pkb_grid *grid = pkb_fiber_of(thread)->block->grid;

    grid->has_faulted = true;
    pkb_fiber_jump(grid->scheduler_context);
}

_Noreturn void pkb_fault_raise(pkb_thread *thread, pkb_cpu_fault_kind kind, const char *format, ...)
{
    va_list arguments;

    record_place(grid_of(thread), thread, kind);
    va_start(arguments, format);
    record_message(format, arguments);
    va_end(arguments);
    leave(thread);
}

void pkb_fault_record_access(const pkb_thread *thread, pkb_cpu_fault_kind kind, uint64_t address,
                             uint32_t bytes, int is_write, const char *format, ...)
{
    va_list arguments;

    record_place(grid_of(thread), thread, kind);
    device_fault.address = address;
    device_fault.access_bytes = bytes;
    device_fault.is_write = is_write;
    va_start(arguments, format);
    record_message(format, arguments);
    va_end(arguments);
}

_Noreturn void pkb_fault_address(pkb_thread *thread, uint64_t address, uint32_t bytes, int is_write,
                                 int is_misaligned)
{
    char place[160];

    if (address >> 32 == pkb_shared_range >> 32)
        snprintf(place, sizeof place, "shared memory byte %lld of %u",
                 (long long)(uint32_t)address - thread->shared_base - PKB_SHARED_RESERVED,
                 thread->total_shared_bytes - PKB_SHARED_RESERVED);
    else
        pkb_window_describe(address, place, sizeof place);
    if (is_misaligned)
        pkb_fault_record_access(thread, PKB_CPU_FAULT_MISALIGNED, address, bytes, is_write,
                                "%s of %u bytes at 0x%llx, which is not a multiple of %u",
                                is_write ? "write" : "read", bytes, (unsigned long long)address,
                                bytes);
    else
        pkb_fault_record_access(thread, PKB_CPU_FAULT_ADDRESS, address, bytes, is_write,
                                "%s of %u bytes at 0x%llx: %s", is_write ? "write" : "read", bytes,
                                (unsigned long long)address, place);
    leave(thread);
}

void pkb_fault_record_overrun(const pkb_grid *grid, uint64_t address, const char *format, ...)
{
    va_list arguments;

    record_kernel(grid, PKB_CPU_FAULT_ADDRESS);
    device_fault.address = address;
    device_fault.is_write = 1;
    va_start(arguments, format);
    record_message(format, arguments);
    va_end(arguments);
    pkb_fault_finish();
}

static const char out_of_stacks[] = "out of memory for the stacks of the live threads";

void pkb_fault_out_of_stacks_at_start(pkb_thread *thread)
{
    pkb_fault_record_access(thread, PKB_CPU_FAULT_TRAP, 0, 0, 0, "%s", out_of_stacks);
    device_fault.cuda_error = CUDA_ERROR_MEMORY_ALLOCATION;
    pkb_fiber_of(thread)->block->grid->has_faulted = true;
}

_Noreturn void pkb_fault_out_of_stacks(pkb_thread *thread)
{
    pkb_fault_out_of_stacks_at_start(thread);
    leave(thread);
}

_Noreturn void pkb_trap(pkb_thread *thread, const char *what)
{
    pkb_fault_raise(thread, PKB_CPU_FAULT_TRAP, "%s was executed", what);
}

_Noreturn void pkb_unsupported(pkb_thread *thread, const char *what)
{
    pkb_fault_raise(thread, PKB_CPU_FAULT_UNSUPPORTED, "the CPU device does not support %s", what);
}

static const char *device_string(uint64_t address)
{
    return address == 0 ? "" : (const char *)pkb_window_translate(address);
}

_Noreturn void pkb_assert_fail(pkb_thread *thread, uint64_t message, uint64_t file, uint32_t line,
                               uint64_t function)
{
    record_place(grid_of(thread), thread, PKB_CPU_FAULT_ASSERT);
    snprintf(device_fault.file, sizeof device_fault.file, "%s", device_string(file));
    device_fault.line = line;
    snprintf(device_fault.message, sizeof device_fault.message, "assertion `%s' failed in %s",
             device_string(message), device_string(function));
    leave(thread);
}

/* ---- deadlock ---- */

static bool is_waiting(const pkb_fiber *fiber)
{
    return fiber->state == PKB_FIBER_AT_BARRIER || fiber->state == PKB_FIBER_IN_WARP_OP;
}

static bool is_like(const pkb_fiber *a, const pkb_fiber *b)
{
    return a->state == b->state && a->wait_id == b->wait_id &&
           (a->state != PKB_FIBER_IN_WARP_OP ||
            (a->wait_mask == b->wait_mask && a->thread.warp == b->thread.warp));
}

static uint32_t count_like(const pkb_block *block, const pkb_fiber *sample)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < block->started_count; i++)
        count += is_like(&block->fibers[i], sample);
    return count;
}

static int describe_wait(char *out, size_t bytes, const pkb_block *block, const pkb_fiber *f)
{
    uint32_t count = count_like(block, f);

    if (f->state == PKB_FIBER_AT_BARRIER) {
        const pkb_barrier *barrier = &block->barriers[f->wait_id];
        uint32_t needed = barrier->expected != 0 ? barrier->expected : block->live_count;
        return snprintf(out, bytes, "; %u of %u at barrier %u, first thread (%u,%u,%u) line %u",
                        barrier->arrived, needed, f->wait_id, f->thread.tid[0], f->thread.tid[1],
                        f->thread.tid[2], f->thread.line);
    }
    return snprintf(out, bytes, "; %u lanes of warp %u in a collective of mask 0x%08x, line %u",
                    count, f->thread.warp, f->wait_mask, f->thread.line);
}

void pkb_fault_record_deadlock(pkb_block *block)
{
    const pkb_fiber *kinds[4];
    uint32_t kind_count = 0;

    for (uint32_t i = 0; i < block->started_count && kind_count < 4; i++) {
        const pkb_fiber *f = &block->fibers[i];
        bool is_new = is_waiting(f);
        for (uint32_t k = 0; k < kind_count && is_new; k++)
            is_new = !is_like(kinds[k], f);
        if (is_new)
            kinds[kind_count++] = f;
    }
    record_place(block->grid, kind_count > 0 ? &kinds[0]->thread : &block->prototype,
                 PKB_CPU_FAULT_DEADLOCK);

    char *text = device_fault.message;
    size_t bytes = sizeof device_fault.message;
    int used = snprintf(text, bytes, "deadlock: %u of %u threads live and all wait",
                        block->live_count, block->thread_count);
    for (uint32_t k = 0; k < kind_count && used >= 0 && (size_t)used < bytes; k++)
        used += describe_wait(text + used, bytes - (size_t)used, block, kinds[k]);
    block->grid->has_faulted = true;
}

/* ---- reading ---- */

void pkb_fault_record_host(pkb_cpu_fault_kind kind, int cuda_error, const char *kernel,
                           const char *format, ...)
{
    va_list arguments;

    memset(&host_fault, 0, sizeof host_fault);
    host_fault.kind = kind;
    host_fault.cuda_error = cuda_error;
    pkb_fault_demangle(host_fault.kernel, sizeof host_fault.kernel, kernel);
    va_start(arguments, format);
    vsnprintf(host_fault.message, sizeof host_fault.message, format, arguments);
    va_end(arguments);
}

int pkb_fault_cuda_error(void)
{
    return device_fault.cuda_error;
}

static void print_fault(const pkb_cpu_fault *f)
{
    fprintf(stderr, "CPU device: %s\n    in %s, block (%u,%u,%u), thread (%u,%u,%u), %s:%u\n",
            f->message, f->kernel, f->block[0], f->block[1], f->block[2], f->thread[0],
            f->thread[1], f->thread[2], f->file, f->line);
}

void pkb_fault_finish(void)
{
    char mangled[sizeof device_fault.kernel];

    memcpy(mangled, device_fault.kernel, sizeof mangled);
    pkb_fault_demangle(device_fault.kernel, sizeof device_fault.kernel, mangled);
    if (getenv("PKB_CPU_VERBOSE") != NULL)
        print_fault(&device_fault);
}

const pkb_cpu_fault *pkb_cpu_last_fault(void)
{
    if (device_fault.kind != PKB_CPU_FAULT_NONE)
        return &device_fault;
    return host_fault.kind != PKB_CPU_FAULT_NONE ? &host_fault : NULL;
}
