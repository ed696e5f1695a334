/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph API: building graphs by hand, instantiating and launching them.
 */
#include "harness/cpu/cudart/copy.h"
#include "harness/cpu/cudart/graph.h"
#include "harness/cpu/cudart/launch.h"
#include "harness/cpu/cudart/stream.h"

static pkb_graph *graph_of(cudaGraph_t handle)
{
    return pkb_graph_find(handle, false);
}

static pkb_graph *exec_of(cudaGraphExec_t handle)
{
    return pkb_graph_find(handle, true);
}

static pkb_graph_node *node_of(cudaGraphNode_t handle)
{
    return (pkb_graph_node *)(void *)handle;
}

/* ---- life ---- */

cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned flags)
{
    cudaError_t rc = pkb_api_enter();

    (void)flags;
    if (rc == cudaSuccess) {
        *out = (cudaGraph_t)(void *)pkb_graph_create(false);
        rc = *out == NULL ? cudaErrorMemoryAllocation : cudaSuccess;
    }
    return pkb_api_leave(rc);
}

static cudaError_t destroy(pkb_graph *graph)
{
    cudaError_t rc = graph == NULL ? cudaErrorInvalidValue : cudaSuccess;
    pkb_graph_free(graph);
    return rc;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = destroy(graph_of(graph));
    return pkb_api_leave(rc);
}

/* Launches hold their own copies of the operations, so nothing has to be waited for. */
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = destroy(exec_of(exec));
    return pkb_api_leave(rc);
}

static cudaError_t copy(void **out, const pkb_graph *graph, bool is_exec)
{
    if (graph == NULL)
        return cudaErrorInvalidValue;
    *out = pkb_graph_clone(graph, is_exec);
    return *out == NULL ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t graph)
{
    cudaError_t rc = pkb_api_enter();
    void *made = NULL;
    if (rc == cudaSuccess)
        rc = copy(&made, graph_of(graph), false);
    *out = made;
    return pkb_api_leave(rc);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    cudaError_t rc = pkb_api_enter();
    void *made = NULL;

    (void)flags;
    if (rc == cudaSuccess)
        rc = copy(&made, graph_of(graph), true);
    *out = made;
    return pkb_api_leave(rc);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph,
                                          unsigned long long flags)
{
    return cudaGraphInstantiate(out, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *out, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *params)
{
    params->result_out = cudaGraphInstantiateSuccess;
    params->errNode_out = NULL;
    return cudaGraphInstantiate(out, graph, params->flags);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    cudaError_t rc = pkb_api_enter();
    (void)stream;
    if (rc == cudaSuccess && exec_of(exec) == NULL)
        rc = cudaErrorInvalidValue;
    return pkb_api_leave(rc);
}

/* Launched into a capture, a graph becomes a node. */
static cudaError_t launch(const pkb_graph *exec, pkb_stream *stream)
{
    pkb_graph_node *follows[] = {stream->capture_last};

    if (stream->capture == NULL)
        return pkb_graph_replay(exec, stream);
    pkb_graph_node *node = pkb_graph_add_child(stream->capture, pkb_graph_clone(exec, false),
                                               follows, stream->capture_last != NULL);
    if (node == NULL)
        return cudaErrorMemoryAllocation;
    stream->capture_last = node;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle)
{
    cudaError_t rc = pkb_api_enter();
    const pkb_graph *exec = exec_of(handle);
    pkb_stream *stream = rc == cudaSuccess ? pkb_stream_find(stream_handle) : NULL;

    if (rc == cudaSuccess && (exec == NULL || stream == NULL))
        rc = exec == NULL ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    if (rc == cudaSuccess)
        rc = launch(exec, stream);
    return pkb_api_leave(rc);
}

/* ---- nodes ---- */

static cudaError_t add(cudaGraphNode_t *out, cudaGraph_t handle, const cudaGraphNode_t *follows,
                       size_t follow_count, pkb_op *op)
{
    pkb_graph *graph = graph_of(handle);

    if (graph == NULL) {
        pkb_op_free(op);
        return cudaErrorInvalidValue;
    }
    pkb_graph_node *node =
        pkb_graph_add(graph, op, (pkb_graph_node *const *)(const void *)follows, follow_count);
    if (node == NULL)
        return cudaErrorMemoryAllocation;
    *out = (cudaGraphNode_t)(void *)node;
    return cudaSuccess;
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                  const cudaGraphNode_t *follows, size_t follow_count)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = add(out, graph, follows, follow_count, pkb_op_create(PKB_OP_EMPTY));
    return pkb_api_leave(rc);
}

static cudaError_t kernel_op(const struct cudaKernelNodeParams *p, pkb_op **op)
{
    if (p->kernelParams == NULL)
        return cudaErrorNotSupported;
    pkb_launch_request request = {.function = p->func,
                                  .grid = p->gridDim,
                                  .block = p->blockDim,
                                  .arguments = p->kernelParams,
                                  .shared_bytes = p->sharedMemBytes};
    return pkb_launch_make(&request, op);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *follows, size_t follow_count,
                                   const struct cudaKernelNodeParams *p)
{
    cudaError_t rc = pkb_api_enter();
    pkb_op *op = NULL;

    if (rc == cudaSuccess)
        rc = kernel_op(p, &op);
    if (rc == cudaSuccess)
        rc = add(out, graph, follows, follow_count, op);
    return pkb_api_leave(rc);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t graph,
                                     const cudaGraphNode_t *follows, size_t follow_count, void *to,
                                     const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t rc = pkb_api_enter();
    pkb_copy bytes_copy = pkb_copy_of_bytes(to, from, bytes);
    pkb_op *op = NULL;

    if (rc == cudaSuccess)
        rc = pkb_copy_make(&bytes_copy, kind, &op);
    if (rc == cudaSuccess)
        rc = add(out, graph, follows, follow_count, op);
    return pkb_api_leave(rc);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *follows, size_t follow_count,
                                   const struct cudaMemcpy3DParms *p)
{
    cudaError_t rc = pkb_api_enter();
    pkb_op *op = NULL;

    if (rc == cudaSuccess)
        rc = pkb_copy_make_3d(p, &op);
    if (rc == cudaSuccess)
        rc = add(out, graph, follows, follow_count, op);
    return pkb_api_leave(rc);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *follows, size_t follow_count,
                                   const struct cudaMemsetParams *p)
{
    cudaError_t rc = pkb_api_enter();
    pkb_op *op = NULL;
    pkb_fill fill = {.to = (uint64_t)(uintptr_t)p->dst,
                     .pitch = p->pitch,
                     .width = p->width,
                     .height = p->height,
                     .depth = 1,
                     .value = p->value,
                     .element_bytes = p->elementSize};

    if (rc == cudaSuccess && p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)
        rc = cudaErrorInvalidValue;
    if (rc == cudaSuccess)
        rc = pkb_fill_make(&fill, &op);
    if (rc == cudaSuccess)
        rc = add(out, graph, follows, follow_count, op);
    return pkb_api_leave(rc);
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                 const cudaGraphNode_t *follows, size_t follow_count,
                                 const struct cudaHostNodeParams *p)
{
    cudaError_t rc = pkb_api_enter();
    pkb_op *op = rc == cudaSuccess ? pkb_op_create(PKB_OP_HOST) : NULL;

    if (op != NULL) {
        op->as.host.function = p->fn;
        op->as.host.argument = p->userData;
    }
    if (rc == cudaSuccess)
        rc = add(out, graph, follows, follow_count, op);
    return pkb_api_leave(rc);
}

static cudaError_t add_child(cudaGraphNode_t *out, pkb_graph *graph, const cudaGraphNode_t *follows,
                             size_t follow_count, const pkb_graph *child)
{
    if (graph == NULL || child == NULL)
        return cudaErrorInvalidValue;
    pkb_graph_node *node =
        pkb_graph_add_child(graph, pkb_graph_clone(child, false),
                            (pkb_graph_node *const *)(const void *)follows, follow_count);
    if (node == NULL)
        return cudaErrorMemoryAllocation;
    *out = (cudaGraphNode_t)(void *)node;
    return cudaSuccess;
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                       const cudaGraphNode_t *follows, size_t follow_count,
                                       cudaGraph_t child)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = add_child(out, graph_of(graph), follows, follow_count, graph_of(child));
    return pkb_api_leave(rc);
}

/* A node stands behind all that it follows. */
static cudaError_t add_dependencies(pkb_graph *graph, const cudaGraphNode_t *from,
                                    const cudaGraphNode_t *to, size_t count)
{
    if (graph == NULL)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        pkb_graph_node *before = node_of(from[i]), *after = node_of(to[i]);
        if (pkb_graph_index(graph, before) > pkb_graph_index(graph, after) &&
            !pkb_graph_move_behind(graph, after, before))
            return cudaErrorInvalidValue;
        if (!pkb_graph_node_follow(after, before))
            return cudaErrorMemoryAllocation;
    }
    return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
                                     size_t count)
{
    cudaError_t rc = pkb_api_enter();
    (void)edges;
    if (rc == cudaSuccess)
        rc = add_dependencies(graph_of(graph), from, to, count);
    return pkb_api_leave(rc);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t *nodes, size_t *count)
{
    cudaError_t rc = pkb_api_enter();
    const pkb_graph *graph = graph_of(handle);

    if (rc == cudaSuccess && graph == NULL)
        rc = cudaErrorInvalidValue;
    if (rc == cudaSuccess) {
        size_t index = 0;
        for (pkb_graph_node *n = graph->first; n != NULL && nodes != NULL && index < *count;
             n = n->next)
            nodes[index++] = (cudaGraphNode_t)(void *)n;
        *count = nodes != NULL ? index : graph->node_count;
    }
    return pkb_api_leave(rc);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, enum cudaGraphNodeType *type)
{
    static const enum cudaGraphNodeType types[] = {
        [PKB_OP_EMPTY] = cudaGraphNodeTypeEmpty,   [PKB_OP_KERNEL] = cudaGraphNodeTypeKernel,
        [PKB_OP_COPY] = cudaGraphNodeTypeMemcpy,   [PKB_OP_FILL] = cudaGraphNodeTypeMemset,
        [PKB_OP_HOST] = cudaGraphNodeTypeHost,     [PKB_OP_RECORD] = cudaGraphNodeTypeEventRecord,
        [PKB_OP_WAIT] = cudaGraphNodeTypeWaitEvent};
    const pkb_graph_node *node = node_of(handle);

    if (node == NULL)
        return pkb_api_note(cudaErrorInvalidValue);
    *type = node->op == NULL ? cudaGraphNodeTypeGraph : types[node->op->kind];
    return cudaSuccess;
}

/* ---- changing an instantiated graph ---- */

static cudaError_t update(pkb_graph *exec, const pkb_graph *graph,
                          cudaGraphExecUpdateResultInfo *info)
{
    if (exec == NULL || graph == NULL)
        return cudaErrorInvalidValue;
    *info = (cudaGraphExecUpdateResultInfo){.result = cudaGraphExecUpdateSuccess};
    const pkb_graph_node *from = graph->first;
    bool is_same = exec->node_count == graph->node_count;
    for (const pkb_graph_node *n = exec->first; n != NULL && is_same;
         n = n->next, from = from->next)
        is_same = n->op != NULL && from->op != NULL && n->op->kind == from->op->kind;
    if (!is_same) {
        info->result = cudaGraphExecUpdateErrorTopologyChanged;
        return cudaErrorGraphExecUpdateFailure;
    }
    from = graph->first;
    for (pkb_graph_node *n = exec->first; n != NULL; n = n->next, from = from->next) {
        pkb_op *op = pkb_op_clone(from->op);
        if (op == NULL)
            return cudaErrorMemoryAllocation;
        pkb_op_free(n->op);
        n->op = op;
    }
    return cudaSuccess;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = update(exec_of(exec), graph_of(graph), info);
    return pkb_api_leave(rc);
}

static cudaError_t set_kernel(pkb_graph *exec, const pkb_graph_node *node,
                              const struct cudaKernelNodeParams *p)
{
    pkb_op *op = NULL;
    pkb_graph_node *target = exec != NULL && node != NULL
                                 ? pkb_graph_at(exec, pkb_graph_index(node->graph, node))
                                 : NULL;

    if (target == NULL || target->op == NULL || target->op->kind != PKB_OP_KERNEL)
        return cudaErrorInvalidValue;
    cudaError_t rc = kernel_op(p, &op);
    if (rc == cudaSuccess) {
        pkb_op_free(target->op);
        target->op = op;
    }
    return rc;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *p)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = set_kernel(exec_of(exec), node_of(node), p);
    return pkb_api_leave(rc);
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *p)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = set_kernel(node_of(node)->graph, node_of(node), p);
    return pkb_api_leave(rc);
}
