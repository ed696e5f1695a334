/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: a queue each, and one executor that runs in whatever thread calls the API. Work runs at
 * once where it can. A kernel that only spins while the host, or another stream, may have to act
 * first is left and continued at the next call.
 */
#ifndef PKB_CPU_CUDART_STREAM_H
#define PKB_CPU_CUDART_STREAM_H

#include "harness/cpu/cudart/op.h"

typedef struct pkb_stream {
    struct pkb_stream *next;
    pkb_op *head, *tail;
    unsigned flags;
    int priority;
    uint64_t id;
    bool is_legacy, is_busy; /* busy: its head runs in some host thread */
    bool is_destroyed;       /* goes away when its work is done */
    /* Capture; NULL when the stream does not capture. */
    struct pkb_graph *capture;
    struct pkb_graph_node *capture_last; /* what the next captured node follows */
    bool is_capture_origin, is_capture_invalid;
} pkb_stream;

/* NULL if the handle names no live stream. */
pkb_stream *pkb_stream_find(cudaStream_t handle);
pkb_stream *pkb_stream_create(unsigned flags, int priority);
/* All streams that take part in a capture leave it. */
void pkb_stream_end_capture(const struct pkb_graph *graph);

/* Queues or captures the operation, which it owns from then on, and runs what can run. */
cudaError_t pkb_stream_submit(pkb_stream *stream, pkb_op *op);

/* Waits until all work of the stream, or of all streams (NULL), is done. */
cudaError_t pkb_stream_drain(pkb_stream *stream);
/* Waits for one event. */
cudaError_t pkb_stream_drain_event(const pkb_event *event);
/* Drops the work of streams that hold a kernel of the module: its code is about to go. */
void pkb_stream_forget_module(const pkb_device_module_info *module);
/* Gives waiting work a chance without waiting itself. */
void pkb_stream_poke(void);

/* cudaErrorStreamCaptureUnsupported while a capture runs that this call would break. */
cudaError_t pkb_stream_forbid_capture(void);
extern uint32_t pkb_stream_capture_count;

#endif
