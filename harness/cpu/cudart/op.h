/* SPDX-License-Identifier: Apache-2.0
 *
 * One piece of stream work: what is queued, captured and replayed.
 */
#ifndef PKB_CPU_CUDART_OP_H
#define PKB_CPU_CUDART_OP_H

#include "harness/cpu/cudart/event.h"
#include "harness/cpu/cudart/module.h"
#include "harness/cpu/device/grid.h"

typedef enum pkb_op_kind {
    PKB_OP_EMPTY,
    PKB_OP_KERNEL,
    PKB_OP_COPY,
    PKB_OP_FILL,
    PKB_OP_HOST,
    PKB_OP_RECORD,
    PKB_OP_WAIT,
    PKB_OP_FREE
} pkb_op_kind;

/* A box of bytes; addresses are generic: device addresses or plain host ones. */
typedef struct pkb_copy {
    uint64_t to, from;
    size_t to_pitch, from_pitch, to_slice, from_slice; /* bytes from row to row, plane to plane */
    size_t width, height, depth;                       /* width in bytes */
    uint8_t *snapshot; /* owned copy of a pageable source, NULL if none */
} pkb_copy;

typedef struct pkb_fill {
    uint64_t to;
    size_t pitch, slice, width, height, depth; /* width in elements */
    uint32_t value, element_bytes;
} pkb_fill;

typedef struct pkb_op {
    struct pkb_op *next;
    pkb_op_kind kind;
    uint64_t sequence;  /* position in the order of all submissions */
    bool was_suspended; /* a launch returned to the host while this kernel spun */
    union {
        struct {
            pkb_launch launch;
            uint8_t *params; /* owned */
            pkb_grid *grid;  /* owned; NULL before it starts */
        } kernel;
        pkb_copy copy;
        pkb_fill fill;
        struct {
            void (*function)(void *argument);
            void *argument;
        } host;
        struct {
            pkb_event *event; /* holds a reference */
            uint64_t generation;
        } event;
        uint64_t free_address;
    } as;
} pkb_op;

pkb_op *pkb_op_create(pkb_op_kind kind);
/* A copy that was never run, for replay. */
pkb_op *pkb_op_clone(const pkb_op *op);
void pkb_op_free(pkb_op *op);

typedef enum pkb_op_outcome { PKB_OP_DONE, PKB_OP_IDLE, PKB_OP_FAULTED } pkb_op_outcome;

/* Runs an operation whose turn it is; again after PKB_OP_IDLE. */
pkb_op_outcome pkb_op_run(pkb_op *op);

/* Makes an owned copy of a source in pageable host memory, which the caller may change as soon as
 * the call returns. */
cudaError_t pkb_op_snapshot(pkb_op *op);

#endif
