/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: positions in the queues of streams, counted by generation.
 */
#ifndef PKB_CPU_CUDART_EVENT_H
#define PKB_CPU_CUDART_EVENT_H

#include "harness/cpu/cudart/runtime.h"

struct pkb_graph;
struct pkb_stream;

typedef struct pkb_event {
    struct pkb_event *next;
    uint32_t references;
    bool has_timing, is_destroyed;
    uint64_t recorded, completed;    /* generations; 0 = never */
    uint64_t completed_ns;           /* when the last completed one was reached */
    struct pkb_graph *capture;       /* recorded last in a capture of this graph */
    struct pkb_graph_node *captured; /* the node it follows there, NULL at the start */
} pkb_event;

/* NULL if the handle names no live event. */
pkb_event *pkb_event_find(cudaEvent_t handle);
/* With one reference, the caller's. NULL when memory is short. */
pkb_event *pkb_event_create(bool has_timing);
/* Queue a mark, and a wait for the last mark, outside captures. */
cudaError_t pkb_event_record(pkb_event *event, struct pkb_stream *stream);
cudaError_t pkb_event_wait(pkb_event *event, struct pkb_stream *stream);
/* The capture ended: events recorded in it stand for nothing any more. */
void pkb_event_end_capture(const struct pkb_graph *graph);
void pkb_event_hold(pkb_event *event);
void pkb_event_release(pkb_event *event);

#endif
