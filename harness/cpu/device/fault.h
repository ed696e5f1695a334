/* SPDX-License-Identifier: Apache-2.0
 *
 * Device faults: the record of the first one, the way out of a faulting fiber, and the signals
 * that turn bad accesses in kernel code into faults.
 */
#ifndef PKB_CPU_DEVICE_FAULT_H
#define PKB_CPU_DEVICE_FAULT_H

#include "harness/cpu/cudart/pkb_cpu.h"
#include "harness/cpu/device/device.h"

#include <stdbool.h>

struct pkb_grid;
struct pkb_block;

/* Ends the running kernel: records the fault and continues in pkb_block_run. */
_Noreturn void pkb_fault_raise(pkb_thread *thread, pkb_cpu_fault_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void pkb_fault_out_of_stacks(pkb_thread *thread);
/* The same where no fiber runs yet: records only. */
void pkb_fault_out_of_stacks_at_start(pkb_thread *thread);
/* Records a bad access; the caller leaves the fiber. */
void pkb_fault_record_access(const pkb_thread *thread, pkb_cpu_fault_kind kind, uint64_t address,
                             uint32_t bytes, int is_write, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* What must not happen in a signal handler: readable names. Call it once the fiber is left. */
void pkb_fault_finish(void);
/* A kernel that ended well but damaged memory; `format` begins with a verb. */
void pkb_fault_record_overrun(const struct pkb_grid *grid, uint64_t address, const char *format,
                              ...) __attribute__((format(printf, 3, 4)));
/* Says who waits where in a block without a runnable thread. */
void pkb_fault_record_deadlock(struct pkb_block *block);

/* A refused launch or an unsupported call; kept only while there is no device fault. */
void pkb_fault_record_host(pkb_cpu_fault_kind kind, int cuda_error, const char *kernel,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));

/* cudaError_t of a device fault; 0 while there is none. */
int pkb_fault_cuda_error(void);

/* Installs the handlers for SIGSEGV, SIGBUS and SIGFPE, once a process, and an alternate signal
 * stack for the calling thread, once a thread. Earlier handlers are called for what is not ours. */
void pkb_fault_catch_signals(void);

/* "ns::f(int)" for "_ZN2ns1fEi"; the name itself when it cannot be read. */
void pkb_fault_demangle(char *out, size_t out_bytes, const char *name);

#endif
