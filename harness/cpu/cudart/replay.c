/* SPDX-License-Identifier: Apache-2.0
 *
 * Launching a graph. Its nodes are dealt to lanes: chains that each run in a stream of their own,
 * the first in the launch stream, with events where a node follows one of another lane. So kernels
 * of parallel branches may wait for one another, as on a GPU.
 */
#include "harness/cpu/cudart/graph.h"
#include "harness/cpu/cudart/stream.h"

#include <stdlib.h>

/* What is known of a node while its graph is replayed; in the order of the list. */
typedef struct placed {
    size_t lane;
    pkb_event *done; /* owned; NULL while no other lane asked */
    bool is_awaited; /* some node of another lane follows it */
    bool is_tail;    /* no node of its own lane follows it */
} placed;

typedef struct replay {
    const pkb_graph *graph;
    placed *nodes;
    pkb_stream **lanes; /* [0] is the launch stream */
    size_t lane_count;
    pkb_event *start;
} replay;

static size_t index_of(const replay *r, const pkb_graph_node *node)
{
    return pkb_graph_index(r->graph, node);
}

/* A node goes on in the lane of the first node it follows that nobody else went on from. */
static void deal(replay *r)
{
    size_t i = 0;

    for (const pkb_graph_node *n = r->graph->first; n != NULL; n = n->next, i++) {
        placed *p = &r->nodes[i];
        *p = (placed){.lane = SIZE_MAX, .is_tail = true};
        for (size_t k = 0; k < n->follow_count && p->lane == SIZE_MAX; k++) {
            placed *before = &r->nodes[index_of(r, n->follows[k])];
            if (before->is_tail) {
                before->is_tail = false;
                p->lane = before->lane;
            }
        }
        if (p->lane == SIZE_MAX)
            p->lane = r->lane_count++;
        for (size_t k = 0; k < n->follow_count; k++) {
            placed *before = &r->nodes[index_of(r, n->follows[k])];
            before->is_awaited |= before->lane != p->lane;
        }
    }
}

static cudaError_t open_lanes(replay *r, pkb_stream *stream)
{
    cudaError_t rc = cudaSuccess;

    r->lanes = calloc(r->lane_count + 1, sizeof(pkb_stream *));
    r->start = pkb_event_create(false);
    if (r->lanes == NULL || r->start == NULL)
        return cudaErrorMemoryAllocation;
    r->lanes[0] = stream;
    if (r->lane_count > 1)
        rc = pkb_event_record(r->start, stream);
    for (size_t i = 1; i < r->lane_count && rc == cudaSuccess; i++) {
        r->lanes[i] = pkb_stream_create(cudaStreamNonBlocking, stream->priority);
        rc =
            r->lanes[i] != NULL ? pkb_event_wait(r->start, r->lanes[i]) : cudaErrorMemoryAllocation;
    }
    return rc;
}

static cudaError_t submit_node(replay *r, const pkb_graph_node *n, placed *p)
{
    pkb_stream *stream = r->lanes[p->lane];
    cudaError_t rc = cudaSuccess;

    for (size_t k = 0; k < n->follow_count && rc == cudaSuccess; k++) {
        const placed *before = &r->nodes[index_of(r, n->follows[k])];
        if (before->lane != p->lane)
            rc = pkb_event_wait(before->done, stream);
    }
    if (rc == cudaSuccess && !n->is_disabled) {
        if (n->child != NULL)
            rc = pkb_graph_replay(n->child, stream);
        else if (n->op->kind != PKB_OP_EMPTY)
            rc = pkb_stream_submit(stream, pkb_op_clone(n->op));
    }
    bool ends_a_side_lane = p->is_tail && p->lane != 0;
    if (rc == cudaSuccess && (p->is_awaited || ends_a_side_lane)) {
        p->done = pkb_event_create(false);
        rc = p->done != NULL ? pkb_event_record(p->done, stream) : cudaErrorMemoryAllocation;
    }
    return rc;
}

static cudaError_t join(const replay *r)
{
    cudaError_t rc = cudaSuccess;

    for (size_t i = 0; i < r->graph->node_count && rc == cudaSuccess; i++)
        if (r->nodes[i].is_tail && r->nodes[i].lane != 0)
            rc = pkb_event_wait(r->nodes[i].done, r->lanes[0]);
    return rc;
}

static void close_replay(replay *r)
{
    for (size_t i = 0; i < r->graph->node_count; i++)
        if (r->nodes[i].done != NULL)
            pkb_event_release(r->nodes[i].done);
    for (size_t i = 1; r->lanes != NULL && i < r->lane_count; i++)
        if (r->lanes[i] != NULL)
            r->lanes[i]->is_destroyed = true;
    if (r->start != NULL)
        pkb_event_release(r->start);
    free(r->lanes);
    free(r->nodes);
}

cudaError_t pkb_graph_replay(const pkb_graph *graph, pkb_stream *stream)
{
    replay r = {.graph = graph, .nodes = calloc(graph->node_count + 1, sizeof *r.nodes)};
    size_t i = 0;

    if (r.nodes == NULL)
        return cudaErrorMemoryAllocation;
    deal(&r);
    cudaError_t rc = open_lanes(&r, stream);
    for (const pkb_graph_node *n = graph->first; n != NULL && rc == cudaSuccess; n = n->next)
        rc = submit_node(&r, n, &r.nodes[i++]);
    if (rc == cudaSuccess)
        rc = join(&r);
    close_replay(&r);
    return rc;
}
