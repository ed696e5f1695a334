/* SPDX-License-Identifier: Apache-2.0
 *
 * Running one operation.
 */
#include "harness/cpu/cudart/op.h"

#include "harness/cpu/device/fault.h"
#include "harness/cpu/device/heap.h"
#include "harness/cpu/device/print.h"
#include "harness/cpu/device/window.h"

#include <stdlib.h>
#include <string.h>

pkb_op *pkb_op_create(pkb_op_kind kind)
{
    pkb_op *op = calloc(1, sizeof *op);

    if (op != NULL)
        op->kind = kind;
    return op;
}

void pkb_op_free(pkb_op *op)
{
    if (op == NULL)
        return;
    if (op->kind == PKB_OP_KERNEL) {
        pkb_grid_free(op->as.kernel.grid);
        free(op->as.kernel.params);
    } else if (op->kind == PKB_OP_COPY) {
        free(op->as.copy.snapshot);
    } else if (op->kind == PKB_OP_RECORD || op->kind == PKB_OP_WAIT) {
        pkb_event_release(op->as.event.event);
    }
    free(op);
}

static bool clone_params(pkb_op *op)
{
    uint32_t bytes = op->as.kernel.launch.kernel->param_bytes;
    uint8_t *params = malloc(bytes + 1);

    if (params != NULL)
        memcpy(params, op->as.kernel.params, bytes);
    op->as.kernel.params = params;
    op->as.kernel.launch.params = params;
    op->as.kernel.grid = NULL;
    return params != NULL;
}

pkb_op *pkb_op_clone(const pkb_op *op)
{
    pkb_op *copy = malloc(sizeof *copy);

    if (copy == NULL)
        return NULL;
    *copy = *op;
    copy->next = NULL;
    copy->was_suspended = false;
    if (op->kind == PKB_OP_KERNEL && !clone_params(copy)) {
        free(copy);
        return NULL;
    }
    if (op->kind == PKB_OP_COPY)
        copy->as.copy.snapshot = NULL;
    if (op->kind == PKB_OP_RECORD || op->kind == PKB_OP_WAIT)
        pkb_event_hold(copy->as.event.event);
    return copy;
}

/* ---- kernels ---- */

/* An overrun too small to reach the inaccessible page shows in the red zone. */
static pkb_op_outcome check_red_zones(const pkb_grid *grid)
{
    const pkb_allocation *a = pkb_heap_find_overrun();

    if (a == NULL)
        return PKB_OP_DONE;
    pkb_fault_record_overrun(grid, a->address + a->bytes,
                             "wrote past the end of an allocation of %llu bytes",
                             (unsigned long long)a->bytes);
    return PKB_OP_FAULTED;
}

static pkb_op_outcome run_kernel(pkb_op *op)
{
    if (op->as.kernel.grid == NULL)
        op->as.kernel.grid = pkb_grid_create(&op->as.kernel.launch);
    if (op->as.kernel.grid == NULL)
        return PKB_OP_IDLE;

    switch (pkb_grid_run(op->as.kernel.grid)) {
    case PKB_GRID_IDLE:
        return PKB_OP_IDLE;
    case PKB_GRID_FAULTED:
        pkb_print_flush();
        return PKB_OP_FAULTED;
    case PKB_GRID_DONE:
        break;
    }
    pkb_print_flush();
    return check_red_zones(op->as.kernel.grid);
}

/* ---- copies and fills ---- */

static void run_copy(const pkb_copy *c)
{
    const uint8_t *from = c->snapshot != NULL ? c->snapshot : pkb_window_translate(c->from);
    uint8_t *to = pkb_window_translate(c->to);
    size_t from_pitch = c->snapshot != NULL ? c->width : c->from_pitch;
    size_t from_slice = c->snapshot != NULL ? c->width * c->height : c->from_slice;

    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            memmove(to + z * c->to_slice + y * c->to_pitch, from + z * from_slice + y * from_pitch,
                    c->width);
}

cudaError_t pkb_op_snapshot(pkb_op *op)
{
    pkb_copy *c = &op->as.copy;
    uint8_t *copy = malloc(c->width * c->height * c->depth + 1);
    const uint8_t *from = pkb_window_translate(c->from);

    if (copy == NULL)
        return cudaErrorMemoryAllocation;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            memcpy(copy + (z * c->height + y) * c->width,
                   from + z * c->from_slice + y * c->from_pitch, c->width);
    c->snapshot = copy;
    return cudaSuccess;
}

static void fill_row(uint8_t *row, const pkb_fill *f)
{
    if (f->element_bytes == 1) {
        memset(row, (int)f->value, f->width);
        return;
    }
    for (size_t x = 0; x < f->width; x++)
        memcpy(row + x * f->element_bytes, &f->value, f->element_bytes);
}

static void run_fill(const pkb_fill *f)
{
    uint8_t *to = pkb_window_translate(f->to);

    for (size_t z = 0; z < f->depth; z++)
        for (size_t y = 0; y < f->height; y++)
            fill_row(to + z * f->slice + y * f->pitch, f);
}

/* The function may wait for another thread that calls the API. */
static void run_host(pkb_op *op)
{
    pkb_api_unlock();
    op->as.host.function(op->as.host.argument);
    pkb_api_lock();
}

pkb_op_outcome pkb_op_run(pkb_op *op)
{
    switch (op->kind) {
    case PKB_OP_EMPTY:
    case PKB_OP_WAIT:
        return PKB_OP_DONE;
    case PKB_OP_KERNEL:
        return run_kernel(op);
    case PKB_OP_COPY:
        run_copy(&op->as.copy);
        return PKB_OP_DONE;
    case PKB_OP_FILL:
        run_fill(&op->as.fill);
        return PKB_OP_DONE;
    case PKB_OP_HOST:
        run_host(op);
        return PKB_OP_DONE;
    case PKB_OP_RECORD:
        op->as.event.event->completed = op->as.event.generation;
        op->as.event.event->completed_ns = pkb_now_ns();
        return PKB_OP_DONE;
    case PKB_OP_FREE:
        pkb_heap_free(op->as.free_address);
        return PKB_OP_DONE;
    }
    return PKB_OP_DONE;
}
