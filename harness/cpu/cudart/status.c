/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing the progress record. The reader retries while `sequence` is odd or changed.
 */
#include "harness/cpu/cudart/status.h"

#include "harness/cpu/cudart/pkb_cpu.h"
#include "harness/cpu/cudart/runtime.h"
#include "harness/cpu/device/fault.h"

#include <stdio.h>
#include <string.h>

static pkb_cpu_status *shared;
static uint64_t idle_rounds;

void pkb_cpu_set_status(pkb_cpu_status *status)
{
    pkb_api_lock();
    shared = status;
    pkb_api_unlock();
}

static void begin(void)
{
    __atomic_fetch_add(&shared->sequence, 1, __ATOMIC_SEQ_CST);
}

static void end(void)
{
    __atomic_fetch_add(&shared->sequence, 1, __ATOMIC_SEQ_CST);
}

void pkb_status_note_idle(const pkb_grid *grid)
{
    static uint64_t named_grid;

    idle_rounds++;
    if (shared == NULL)
        return;
    const pkb_fiber *fiber = grid != NULL ? pkb_grid_spinner(grid) : NULL;
    begin();
    shared->idle_rounds = idle_rounds;
    shared->is_spinning = fiber != NULL;
    if (fiber != NULL) {
        const pkb_device_module_info *module = grid->launch.module;
        shared->line = fiber->thread.line;
        memcpy(shared->block, fiber->thread.ctaid, sizeof shared->block);
        memcpy(shared->thread, fiber->thread.tid, sizeof shared->thread);
        /* Names are dear to make and change with the grid only. */
        if (named_grid != grid->id || shared->kernel[0] == '\0')
            pkb_fault_demangle(shared->kernel, sizeof shared->kernel, grid->launch.kernel->name);
        named_grid = grid->id;
        if (module != NULL && fiber->thread.file < module->file_count)
            snprintf(shared->file, sizeof shared->file, "%s", module->files[fiber->thread.file]);
    }
    end();
}

void pkb_status_note_progress(void)
{
    if (shared == NULL || !shared->is_spinning)
        return;
    begin();
    shared->is_spinning = 0;
    end();
}
