/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU device in a cell: our own libcudart (harness/cpu/cudart/pkb_cpu.h).
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "harness/cell/device.h"
#include "harness/cpu/cudart/pkb_cpu.h"

enum { WATCH_MS = 50 };

static struct {
    void (*set_device_module)(const char *path);
    int (*reserve)(uint64_t bytes, uint64_t *device_address);
    int (*map)(uint64_t device_address, int fd, uint64_t offset, uint64_t bytes, int writable);
    int (*unmap)(uint64_t device_address, uint64_t bytes);
    const pkb_cpu_fault *(*last_fault)(void);
    void (*set_host_fault_hook)(void (*hook)(uint64_t address));
    void (*set_status)(pkb_cpu_status *shared);
    void (*set_limits)(const pkb_cpu_limits *limits);
    const char *(*unsupported_call)(void);
} cpu;

static pkb_page *told_page; /* for hooks, which take no context */
static pkb_cpu_status status;

static pkb_code reserve(uint64_t bytes, uint64_t *address, pkb_error *err)
{
    int error = cpu.reserve(bytes, address);
    if (error != 0)
        return pkb_error_set(err, PKB_ERR_MEMORY, error, "cannot reserve %llu bytes of addresses",
                             (unsigned long long)bytes);
    return PKB_OK;
}

static pkb_code map(uint64_t address, int fd, uint64_t bytes, pkb_error *err)
{
    int error = cpu.map(address, fd, 0, bytes, 1);
    if (error != 0)
        return pkb_error_set(err, PKB_ERR_MEMORY, error, "cannot map %llu bytes of device memory",
                             (unsigned long long)bytes);
    return PKB_OK;
}

static pkb_code unmap(uint64_t address, uint64_t bytes, pkb_error *err)
{
    int error = cpu.unmap(address, bytes);
    if (error != 0)
        return pkb_error_set(err, PKB_ERR_MEMORY, error, "cannot unmap %llu bytes of device memory",
                             (unsigned long long)bytes);
    return PKB_OK;
}

/* ---- what goes wrong ---- */

/* In a signal handler: no stdio. */
static void append(char *text, size_t bytes, const char *more)
{
    size_t used = strnlen(text, bytes - 1);
    for (; used + 1 < bytes && *more != '\0'; used++)
        text[used] = *more++;
    text[used] = '\0';
}

static void note_host_fault(uint64_t address)
{
    char digits[] = "0x0000000000000000";

    for (size_t i = sizeof digits - 2; i >= 2; i--, address >>= 4)
        digits[i] = "0123456789abcdef"[address & 15];
    told_page->fault_kind[0] = told_page->text[0] = '\0';
    append(told_page->fault_kind, sizeof told_page->fault_kind, "host fault");
    append(told_page->text, sizeof told_page->text, "host code touched the device address ");
    append(told_page->text, sizeof told_page->text, digits);
}

static const char *kind_name(pkb_cpu_fault_kind kind)
{
    switch (kind) {
    case PKB_CPU_FAULT_NONE:
        break;
    case PKB_CPU_FAULT_ADDRESS:
        return "illegal address";
    case PKB_CPU_FAULT_MISALIGNED:
        return "misaligned address";
    case PKB_CPU_FAULT_TRAP:
        return "trap";
    case PKB_CPU_FAULT_ASSERT:
        return "assert";
    case PKB_CPU_FAULT_DEADLOCK:
        return "deadlock";
    case PKB_CPU_FAULT_UNSUPPORTED:
        return "unsupported";
    case PKB_CPU_FAULT_LANE_MASK:
        return "lane mask";
    case PKB_CPU_FAULT_LAUNCH:
        return "launch";
    }
    return "";
}

static bool explain(pkb_page *page)
{
    const pkb_cpu_fault *fault = cpu.last_fault();
    const char *call = cpu.unsupported_call();

    if (fault == NULL || fault->kind == PKB_CPU_FAULT_NONE) {
        if (call != NULL)
            snprintf(page->text, sizeof page->text,
                     "the CPU device does not support the CUDA call %s", call);
        return call != NULL;
    }
    snprintf(page->fault_kind, sizeof page->fault_kind, "%s", kind_name(fault->kind));
    snprintf(page->text, sizeof page->text, "%s", fault->message);
    memcpy(page->fault.block, fault->block, sizeof page->fault.block);
    memcpy(page->fault.thread, fault->thread, sizeof page->fault.thread);
    page->fault.line = fault->line;
    snprintf(page->fault.kernel, sizeof page->fault.kernel, "%.*s",
             (int)sizeof page->fault.kernel - 1, fault->kernel);
    snprintf(page->fault.file, sizeof page->fault.file, "%.*s", (int)sizeof page->fault.file - 1,
             fault->file);
    atomic_store(&page->fault.counter, fault->kernel[0] != '\0' ? 1 : 0);
    return fault->kind == PKB_CPU_FAULT_UNSUPPORTED;
}

/* ---- who waits ---- */

/* Copies the library's report of a spinning kernel into the page. A torn copy only blurs a
 * reason. */
static void publish_waiting(void)
{
    pkb_place *waiting = &told_page->waiting;
    const volatile pkb_cpu_status *now = &status;

    if (now->sequence % 2 != 0)
        return;
    if (!now->is_spinning) {
        atomic_store(&waiting->counter, 0);
        return;
    }
    for (int i = 0; i < 3; i++) {
        waiting->block[i] = now->block[i];
        waiting->thread[i] = now->thread[i];
    }
    waiting->line = now->line;
    snprintf(waiting->kernel, sizeof waiting->kernel, "%.*s", (int)sizeof waiting->kernel - 1,
             status.kernel);
    snprintf(waiting->file, sizeof waiting->file, "%.*s", (int)sizeof waiting->file - 1,
             status.file);
    atomic_store(&waiting->counter, now->idle_rounds + 1);
}

static void *watch(void *nothing)
{
    for (;;) {
        publish_waiting();
        pkb_clock_sleep_ns(WATCH_MS * PKB_NS_PER_MS);
    }
    return nothing;
}

/* Without the watcher a timeout is only less clearly explained. All signals stay with the main
 * thread. */
static void start_watcher(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &attributes, watch, NULL);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static pkb_code prepare(const char *device_module, const pkb_device_limits *limits, pkb_page *page,
                        pkb_error *err)
{
    (void)err;
    const pkb_cpu_limits cpu_limits = {.memory_bytes = limits->memory_bytes,
                                       .rank_count = limits->rank_count,
                                       .core_count = limits->core_count};
    told_page = page;
    cpu.set_device_module(device_module);
    cpu.set_limits(&cpu_limits);
    cpu.set_status(&status);
    cpu.set_host_fault_hook(note_host_fault);
    start_watcher();
    return PKB_OK;
}

static const pkb_device device = {
    .name = "cpu",
    .reserve = reserve,
    .map = map,
    .unmap = unmap,
    .prepare = prepare,
    .explain = explain,
};

pkb_code pkb_cpu_device_find(const pkb_device **out, const pkb_runtime *runtime, pkb_error *err)
{
    const struct {
        const char *name;
        void *into;
    } functions[] = {
        {"pkb_cpu_set_device_module", &cpu.set_device_module},
        {"pkb_cpu_reserve", &cpu.reserve},
        {"pkb_cpu_map", &cpu.map},
        {"pkb_cpu_unmap", &cpu.unmap},
        {"pkb_cpu_last_fault", &cpu.last_fault},
        {"pkb_cpu_set_host_fault_hook", &cpu.set_host_fault_hook},
        {"pkb_cpu_set_status", &cpu.set_status},
        {"pkb_cpu_set_limits", &cpu.set_limits},
        {"pkb_cpu_unsupported_call", &cpu.unsupported_call},
    };

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = pkb_runtime_find(runtime, functions[i].name);
        if (function == NULL)
            return pkb_error_set(err, PKB_ERR_MISSING, 0,
                                 "libcudart.so.13 is not the CPU device's: it lacks %s",
                                 functions[i].name);
        memcpy(functions[i].into, &function, sizeof function);
    }
    *out = &device;
    return PKB_OK;
}
