/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals. A bad access, or an arithmetic exception, in kernel code becomes a device fault: the
 * handler edits the interrupted context so that the scheduler continues instead. In host code
 * a touched device pointer is fatal, as with a GPU, after the hook was told; anything else is for
 * whoever handled the signal before.
 */
#include "harness/cpu/device/fault.h"
#include "harness/cpu/device/fiber.h"
#include "harness/cpu/device/grid.h"
#include "harness/cpu/device/window.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { ALTERNATE_STACK_BYTES = 64 * 1024 };

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
static struct sigaction earlier[NSIG];
static void (*host_fault_hook)(uint64_t address);

void pkb_cpu_set_host_fault_hook(void (*hook)(uint64_t address))
{
    host_fault_hook = hook;
}

static void record(const pkb_thread *thread, int number, uint64_t address, int is_write,
                   bool overflows)
{
    char place[160];

    if (number == SIGFPE || number == SIGILL) {
        pkb_fault_record_access(thread, PKB_CPU_FAULT_TRAP, 0, 0, 0,
                                number == SIGFPE ? "arithmetic exception" : "illegal instruction");
    } else if (overflows) {
        pkb_fault_record_access(thread, PKB_CPU_FAULT_ADDRESS, 0, 0, 0,
                                "stack overflow: too deep a recursion or too much local memory");
    } else {
        uint64_t device_address = pkb_window_device_address(address);
        pkb_window_describe(device_address, place, sizeof place);
        pkb_fault_record_access(thread, PKB_CPU_FAULT_ADDRESS, device_address, 0, is_write,
                                "%s at 0x%llx: %s", is_write ? "write" : "read",
                                (unsigned long long)device_address, place);
    }
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    const struct sigaction *before = &earlier[number];

    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(number, info, context);
    } else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
        before->sa_handler(number);
    } else {
        /* Returning repeats the access, which then kills the process. */
        struct sigaction deadly = {.sa_handler = SIG_DFL};
        sigaction(number, &deadly, NULL);
        if (info->si_code <= 0)
            raise(number);
    }
}

static void handle(int number, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;
    greg_t *registers = interrupted->uc_mcontext.gregs;
    pkb_grid *grid = pkb_grid_current();
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;

    if (grid != NULL && grid->running != NULL && info->si_code > 0) {
        pkb_stack_touch touch = number == SIGSEGV ? pkb_stack_note_fault(address) : PKB_STACK_NONE;
        if (touch == PKB_STACK_GROWN)
            return;
        record(&grid->running->thread, number, address, (registers[REG_ERR] & 2) != 0,
               touch == PKB_STACK_OVERFLOW);
        grid->has_faulted = true;
        registers[REG_RIP] = (greg_t)(uintptr_t)pkb_fiber_jump;
        registers[REG_RDI] = (greg_t)(uintptr_t)grid->scheduler_context;
        return;
    }
    if (number == SIGSEGV && pkb_window_holds(address) && host_fault_hook != NULL)
        host_fault_hook(address);
    pass_on(number, info, context);
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        sigaction(caught[i], &action, &earlier[caught[i]]);
}

void pkb_fault_catch_signals(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local bool has_stack __attribute__((tls_model("initial-exec")));
    stack_t present;

    pthread_once(&once, install);
    if (has_stack)
        return;
    has_stack = true;
    if (sigaltstack(NULL, &present) == 0 && !(present.ss_flags & SS_DISABLE))
        return;
    /* Kept until the process ends: the thread may be inside the handler at any time. */
    void *memory = mmap(NULL, ALTERNATE_STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
        sigaltstack(&(stack_t){.ss_sp = memory, .ss_size = ALTERNATE_STACK_BYTES}, NULL);
}
