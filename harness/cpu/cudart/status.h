/* SPDX-License-Identifier: Apache-2.0
 *
 * Where kernels spin, for another process to read (pkb_cpu_set_status).
 */
#ifndef PKB_CPU_CUDART_STATUS_H
#define PKB_CPU_CUDART_STATUS_H

#include "harness/cpu/device/grid.h"

/* `grid` spins; NULL if none does. */
void pkb_status_note_idle(const pkb_grid *grid);
void pkb_status_note_progress(void);

#endif
