/* SPDX-License-Identifier: Apache-2.0
 *
 * What every API function shares: the lock, opening the device on first use, and the error state.
 * An API function is `rc = pkb_api_enter(); if (rc == cudaSuccess) rc = work; return
 * pkb_api_leave(rc)`; the work never calls an API function again.
 */
#ifndef PKB_CPU_CUDART_RUNTIME_H
#define PKB_CPU_CUDART_RUNTIME_H

#include "harness/cpu/cudart/api.h"
#include "harness/cpu/cudart/pkb_cpu.h"

#include <stdbool.h>

/* Takes the lock. Gives the sticky error of an earlier device fault, if any. */
cudaError_t pkb_api_enter(void);
/* Notes `rc` as this thread's last error unless it only says "not yet"; releases the lock. */
cudaError_t pkb_api_leave(cudaError_t rc);
/* The same for functions that took no lock. */
cudaError_t pkb_api_note(cudaError_t rc);

/* For waits inside a call: others may call meanwhile. */
void pkb_api_unlock(void);
void pkb_api_lock(void);

const pkb_cpu_limits *pkb_limits(void);
uint64_t pkb_now_ns(void); /* monotonic */

#endif
