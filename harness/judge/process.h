/* SPDX-License-Identifier: Apache-2.0
 *
 * The cell's own process, behind the sandbox's monitor: a pidfd on it, stopped and continued, and
 * what /proc says about it.
 */
#ifndef PKB_HARNESS_PROCESS_H
#define PKB_HARNESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct pkb_process {
    pid_t pid; /* 0 = none */
    int pidfd; /* -1 = none */
} pkb_process;

#define PKB_PROCESS_NONE \
    {                    \
        .pidfd = -1      \
    }

/* Takes a process by the pid that the kernel gave with its message; makes it the first victim when
 * memory runs out. */
pkb_code pkb_process_take(pkb_process *process, pid_t pid, pkb_error *err);
void pkb_process_release(pkb_process *process);

bool pkb_process_has_ended(const pkb_process *process);
typedef enum pkb_stop {
    PKB_STOP_DONE,  /* each of its threads stands still */
    PKB_STOP_ENDED, /* it ended instead */
    PKB_STOP_LATE,  /* not in time, because it did not even get to run: the machine is too busy */
    PKB_STOP_DEFIED /* not in time, and its code went on running */
} pkb_stop;

/* How long a process has to come to a stand. */
#define PKB_STOP_TIMEOUT_NS (UINT64_C(20) * 1000 * 1000 * 1000)

/* SIGSTOP, until it stands still. */
pkb_stop pkb_process_stop(const pkb_process *process, uint64_t timeout_ns);
void pkb_process_continue(const pkb_process *process);
void pkb_process_kill(const pkb_process *process);
/* Until it has ended; false after timeout_ns. */
bool pkb_process_wait(const pkb_process *process, uint64_t timeout_ns);
typedef struct pkb_process_usage {
    uint64_t private_bytes; /* in memory now, page tables included */
    uint64_t shared_bytes;  /* in memory now; not of files, whoever made it */
    uint32_t threads;
} pkb_process_usage;

/* False once it has ended. */
bool pkb_process_look(const pkb_process *process, pkb_process_usage *out);

/* Writes the ids of its threads, at most `most`, and returns how many there are. */
size_t pkb_process_list_threads(const pkb_process *process, pid_t *out, size_t most);

/* What this machine, or the container that we are in, could still give to processes; 0 if it does
 * not say. */
uint64_t pkb_process_available_bytes(void);

#endif
