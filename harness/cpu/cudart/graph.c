/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs as lists of operations.
 */
#include "harness/cpu/cudart/graph.h"

#include <stdlib.h>
#include <string.h>

static pkb_graph *graphs;

pkb_graph *pkb_graph_create(bool is_exec)
{
    pkb_graph *graph = calloc(1, sizeof *graph);

    if (graph != NULL) {
        graph->is_exec = is_exec;
        graph->next = graphs;
        graphs = graph;
    }
    return graph;
}

static void free_node(pkb_graph_node *node)
{
    pkb_op_free(node->op);
    pkb_graph_free(node->child);
    free(node->follows);
    free(node);
}

void pkb_graph_free(pkb_graph *graph)
{
    if (graph == NULL)
        return;
    for (pkb_graph **at = &graphs; *at != NULL; at = &(*at)->next) {
        if (*at == graph) {
            *at = graph->next;
            break;
        }
    }
    while (graph->first != NULL) {
        pkb_graph_node *next = graph->first->next;
        free_node(graph->first);
        graph->first = next;
    }
    free(graph);
}

pkb_graph *pkb_graph_find(const void *handle, bool is_exec)
{
    for (pkb_graph *g = graphs; g != NULL; g = g->next)
        if (g == handle && g->is_exec == is_exec)
            return g;
    return NULL;
}

bool pkb_graph_node_follow(pkb_graph_node *node, pkb_graph_node *before)
{
    pkb_graph_node **grown = realloc(node->follows, (node->follow_count + 1) * sizeof(void *));

    if (grown == NULL)
        return false;
    node->follows = grown;
    node->follows[node->follow_count++] = before;
    return true;
}

static pkb_graph_node *add_node(pkb_graph *graph, pkb_graph_node *const *follows,
                                size_t follow_count)
{
    pkb_graph_node *node = calloc(1, sizeof *node);

    if (node == NULL)
        return NULL;
    for (size_t i = 0; i < follow_count; i++) {
        if (follows[i] != NULL && !pkb_graph_node_follow(node, follows[i])) {
            free_node(node);
            return NULL;
        }
    }
    node->graph = graph;
    if (graph->last == NULL)
        graph->first = node;
    else
        graph->last->next = node;
    graph->last = node;
    graph->node_count++;
    return node;
}

pkb_graph_node *pkb_graph_add(pkb_graph *graph, pkb_op *op, pkb_graph_node *const *follows,
                              size_t follow_count)
{
    pkb_graph_node *node = op != NULL ? add_node(graph, follows, follow_count) : NULL;

    if (node == NULL)
        pkb_op_free(op);
    else
        node->op = op;
    return node;
}

pkb_graph_node *pkb_graph_add_child(pkb_graph *graph, pkb_graph *child,
                                    pkb_graph_node *const *follows, size_t follow_count)
{
    pkb_graph_node *node = child != NULL ? add_node(graph, follows, follow_count) : NULL;

    if (node == NULL)
        pkb_graph_free(child);
    else
        node->child = child;
    return node;
}

size_t pkb_graph_index(const pkb_graph *graph, const pkb_graph_node *node)
{
    size_t index = 0;
    for (const pkb_graph_node *n = graph->first; n != NULL && n != node; n = n->next)
        index++;
    return index;
}

pkb_graph_node *pkb_graph_at(const pkb_graph *graph, size_t index)
{
    pkb_graph_node *node = graph->first;
    while (node != NULL && index-- > 0)
        node = node->next;
    return node;
}

static bool copy_node(pkb_graph *copy, const pkb_graph *graph, const pkb_graph_node *node)
{
    pkb_graph_node *made = NULL;

    if (node->child != NULL)
        made =
            pkb_graph_add_child(copy, pkb_graph_clone(node->child, node->child->is_exec), NULL, 0);
    else
        made = pkb_graph_add(copy, pkb_op_clone(node->op), NULL, 0);
    if (made == NULL)
        return false;
    made->is_disabled = node->is_disabled;
    for (size_t i = 0; i < node->follow_count; i++) {
        size_t index = pkb_graph_index(graph, node->follows[i]);
        if (!pkb_graph_node_follow(made, pkb_graph_at(copy, index)))
            return false;
    }
    return true;
}

pkb_graph *pkb_graph_clone(const pkb_graph *graph, bool is_exec)
{
    pkb_graph *copy = pkb_graph_create(is_exec);

    for (const pkb_graph_node *n = graph->first; n != NULL && copy != NULL; n = n->next) {
        if (!copy_node(copy, graph, n)) {
            pkb_graph_free(copy);
            return NULL;
        }
    }
    return copy;
}

static void mark_before(const pkb_graph *graph, const pkb_graph_node *node, bool *marks)
{
    size_t index = pkb_graph_index(graph, node);

    if (marks[index])
        return;
    marks[index] = true;
    for (size_t i = 0; i < node->follow_count; i++)
        mark_before(graph, node->follows[i], marks);
}

bool pkb_graph_is_joined(const pkb_graph *graph, const pkb_graph_node *last)
{
    bool *marks = calloc(graph->node_count + 1, sizeof *marks);
    size_t marked = 0;

    if (marks == NULL)
        return false;
    if (last != NULL)
        mark_before(graph, last, marks);
    for (size_t i = 0; i < graph->node_count; i++)
        marked += marks[i];
    free(marks);
    return marked == graph->node_count;
}

static bool follows(const pkb_graph_node *node, const pkb_graph_node *before)
{
    if (node == before)
        return true;
    for (size_t i = 0; i < node->follow_count; i++)
        if (follows(node->follows[i], before))
            return true;
    return false;
}

static void move_to_end(pkb_graph *graph, pkb_graph_node *node)
{
    pkb_graph_node **at = &graph->first;

    if (graph->last == node)
        return;
    while (*at != node)
        at = &(*at)->next;
    *at = node->next;
    node->next = NULL;
    graph->last->next = node;
    graph->last = node;
}

bool pkb_graph_move_behind(pkb_graph *graph, pkb_graph_node *node, const pkb_graph_node *before)
{
    if (follows(before, node))
        return false;
    /* All that depends on the node, itself included, goes to the end in the order it had. */
    size_t count = graph->node_count;
    pkb_graph_node *n = graph->first;
    for (size_t i = 0; i < count; i++) {
        pkb_graph_node *next = n->next;
        if (follows(n, node))
            move_to_end(graph, n);
        n = next;
    }
    return true;
}
