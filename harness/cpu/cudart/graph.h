/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: operations and what each follows. A node stands behind all that it follows in the list.
 */
#ifndef PKB_CPU_CUDART_GRAPH_H
#define PKB_CPU_CUDART_GRAPH_H

#include "harness/cpu/cudart/op.h"

struct pkb_stream;

typedef struct pkb_graph_node {
    struct pkb_graph_node *next;
    struct pkb_graph *graph;
    pkb_op *op;                      /* owned; NULL for a child graph */
    struct pkb_graph *child;         /* owned */
    struct pkb_graph_node **follows; /* owned list */
    size_t follow_count;
    bool is_disabled;
} pkb_graph_node;

typedef struct pkb_graph {
    struct pkb_graph *next; /* list of live graphs */
    pkb_graph_node *first, *last;
    size_t node_count;
    bool is_exec; /* a cudaGraphExec_t */
} pkb_graph;

pkb_graph *pkb_graph_create(bool is_exec);
void pkb_graph_free(pkb_graph *graph);
pkb_graph *pkb_graph_clone(const pkb_graph *graph, bool is_exec);

/* Takes the operation. NULL when memory is short; the operation is freed then. */
pkb_graph_node *pkb_graph_add(pkb_graph *graph, pkb_op *op, pkb_graph_node *const *follows,
                              size_t follow_count);
bool pkb_graph_node_follow(pkb_graph_node *node, pkb_graph_node *before);

/* Takes the child graph. */
pkb_graph_node *pkb_graph_add_child(pkb_graph *graph, pkb_graph *child,
                                    pkb_graph_node *const *follows, size_t follow_count);
/* NULL if the handle names no live graph of that kind. */
pkb_graph *pkb_graph_find(const void *handle, bool is_exec);
/* Nodes by position, for what refers to the same node of a copy. */
size_t pkb_graph_index(const pkb_graph *graph, const pkb_graph_node *node);
pkb_graph_node *pkb_graph_at(const pkb_graph *graph, size_t index);
/* Moves a node, and what must stay behind it, to the end; false if `before` follows the node. */
bool pkb_graph_move_behind(pkb_graph *graph, pkb_graph_node *node, const pkb_graph_node *before);
/* Submits copies of all operations so that they begin after the stream's earlier work, and its
 * later work begins after them. */
cudaError_t pkb_graph_replay(const pkb_graph *graph, struct pkb_stream *stream);
/* Whether all nodes come before `last`, or are it. */
bool pkb_graph_is_joined(const pkb_graph *graph, const pkb_graph_node *last);

#endif
