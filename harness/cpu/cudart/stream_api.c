/* SPDX-License-Identifier: Apache-2.0
 *
 * The stream API, capture included.
 */
#include "harness/cpu/cudart/graph.h"
#include "harness/cpu/cudart/stream.h"

static cudaError_t create(cudaStream_t *out, unsigned flags, int priority)
{
    if (out == NULL || (flags & ~(unsigned)cudaStreamNonBlocking) != 0)
        return cudaErrorInvalidValue;
    pkb_stream *stream = pkb_stream_create(flags, priority);
    if (stream == NULL)
        return cudaErrorMemoryAllocation;
    *out = (cudaStream_t)(void *)stream;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = create(stream, flags, priority);
    return pkb_api_leave(rc);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

/* Locks and finds; the caller leaves with pkb_api_leave in any case. */
static cudaError_t enter_with(cudaStream_t handle, pkb_stream **stream)
{
    cudaError_t rc = pkb_api_enter();

    *stream = rc == cudaSuccess ? pkb_stream_find(handle) : NULL;
    if (rc == cudaSuccess && *stream == NULL)
        rc = cudaErrorInvalidResourceHandle;
    return rc;
}

cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    pkb_stream *stream = NULL;
    cudaError_t rc = enter_with(handle, &stream);

    if (rc == cudaSuccess && (stream->is_legacy || handle == cudaStreamPerThread))
        rc = cudaErrorInvalidResourceHandle;
    if (rc == cudaSuccess) {
        stream->is_destroyed = true;
        pkb_stream_poke();
    }
    return pkb_api_leave(rc);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    pkb_stream *stream = NULL;
    cudaError_t rc = enter_with(handle, &stream);

    if (rc == cudaSuccess && stream->capture != NULL) {
        stream->is_capture_invalid = true;
        rc = cudaErrorStreamCaptureUnsupported;
    }
    /* The legacy stream's end includes what blocking streams were given before. */
    if (rc == cudaSuccess && stream->is_legacy)
        rc = pkb_stream_submit(stream, pkb_op_create(PKB_OP_EMPTY));
    if (rc == cudaSuccess)
        rc = pkb_stream_drain(stream);
    return pkb_api_leave(rc);
}

cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    pkb_stream *stream = NULL;
    cudaError_t rc = enter_with(handle, &stream);

    if (rc == cudaSuccess && stream->capture != NULL) {
        stream->is_capture_invalid = true;
        rc = cudaErrorStreamCaptureUnsupported;
    }
    if (rc == cudaSuccess && stream->head != NULL) {
        pkb_stream_poke();
        rc = stream->head != NULL ? cudaErrorNotReady : cudaSuccess;
    }
    return pkb_api_leave(rc);
}

cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = pkb_stream_forbid_capture();
    if (rc == cudaSuccess)
        rc = pkb_stream_drain(NULL);
    return pkb_api_leave(rc);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void *argument)
{
    pkb_stream *stream = NULL;
    cudaError_t rc = enter_with(handle, &stream);
    pkb_op *op = NULL;

    if (rc == cudaSuccess && function == NULL)
        rc = cudaErrorInvalidValue;
    if (rc == cudaSuccess) {
        op = pkb_op_create(PKB_OP_HOST);
        if (op != NULL) {
            op->as.host.function = function;
            op->as.host.argument = argument;
        }
        rc = pkb_stream_submit(stream, op);
    }
    return pkb_api_leave(rc);
}

/* ---- what a stream is ---- */

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned *flags)
{
    pkb_stream *stream = NULL;
    cudaError_t rc = enter_with(handle, &stream);
    if (rc == cudaSuccess)
        *flags = stream->flags;
    return pkb_api_leave(rc);
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int *priority)
{
    pkb_stream *stream = NULL;
    cudaError_t rc = enter_with(handle, &stream);
    if (rc == cudaSuccess)
        *priority = stream->priority;
    return pkb_api_leave(rc);
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long *id)
{
    pkb_stream *stream = NULL;
    cudaError_t rc = enter_with(handle, &stream);
    if (rc == cudaSuccess)
        *id = stream->id;
    return pkb_api_leave(rc);
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int *device)
{
    pkb_stream *stream = NULL;
    cudaError_t rc = enter_with(handle, &stream);
    if (rc == cudaSuccess)
        *device = 0;
    return pkb_api_leave(rc);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least != NULL)
        *least = 0;
    if (greatest != NULL)
        *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *memory, size_t bytes,
                                     unsigned flags)
{
    (void)stream, (void)memory, (void)bytes, (void)flags;
    return cudaSuccess;
}

/* ---- capture ---- */

static cudaError_t begin_capture(pkb_stream *stream)
{
    if (stream->is_legacy)
        return cudaErrorStreamCaptureUnsupported;
    if (stream->capture != NULL)
        return cudaErrorIllegalState;
    stream->capture = pkb_graph_create(false);
    if (stream->capture == NULL)
        return cudaErrorMemoryAllocation;
    stream->capture_last = NULL;
    stream->is_capture_origin = true;
    pkb_stream_capture_count++;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, enum cudaStreamCaptureMode mode)
{
    pkb_stream *stream = NULL;
    cudaError_t rc = enter_with(handle, &stream);
    (void)mode;
    if (rc == cudaSuccess)
        rc = begin_capture(stream);
    return pkb_api_leave(rc);
}

static cudaError_t end_capture(pkb_stream *stream, cudaGraph_t *out)
{
    pkb_graph *graph = stream->capture;
    bool is_invalid = stream->is_capture_invalid;

    if (graph == NULL)
        return cudaErrorIllegalState;
    if (!stream->is_capture_origin)
        return cudaErrorStreamCaptureUnmatched;
    bool is_joined = pkb_graph_is_joined(graph, stream->capture_last);
    pkb_stream_end_capture(graph);
    pkb_event_end_capture(graph);
    pkb_stream_capture_count--;
    *out = NULL;
    if (is_invalid || !is_joined) {
        pkb_graph_free(graph);
        return is_invalid ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnjoined;
    }
    *out = (cudaGraph_t)(void *)graph;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph)
{
    pkb_stream *stream = NULL;
    cudaError_t rc = enter_with(handle, &stream);
    if (rc == cudaSuccess)
        rc = end_capture(stream, graph);
    return pkb_api_leave(rc);
}

static enum cudaStreamCaptureStatus capture_status(const pkb_stream *stream)
{
    if (stream->capture == NULL)
        return cudaStreamCaptureStatusNone;
    return stream->is_capture_invalid ? cudaStreamCaptureStatusInvalidated
                                      : cudaStreamCaptureStatusActive;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, enum cudaStreamCaptureStatus *status)
{
    pkb_stream *stream = NULL;
    cudaError_t rc = enter_with(handle, &stream);
    if (rc == cudaSuccess)
        *status = capture_status(stream);
    return pkb_api_leave(rc);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **dependencies,
                                     const cudaGraphEdgeData **edges, size_t *dependency_count)
{
    pkb_stream *stream = NULL;
    cudaError_t rc = enter_with(handle, &stream);

    if (rc == cudaSuccess) {
        *status = capture_status(stream);
        if (id != NULL)
            *id = (unsigned long long)(uintptr_t)stream->capture;
        if (graph != NULL)
            *graph = (cudaGraph_t)(void *)stream->capture;
        if (dependencies != NULL)
            *dependencies = (const cudaGraphNode_t *)(const void *)&stream->capture_last;
        if (edges != NULL)
            *edges = NULL;
        if (dependency_count != NULL)
            *dependency_count = stream->capture_last != NULL;
    }
    return pkb_api_leave(rc);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    static _Thread_local enum cudaStreamCaptureMode current
        __attribute__((tls_model("initial-exec"))) = cudaStreamCaptureModeGlobal;
    enum cudaStreamCaptureMode before = current;

    current = *mode;
    *mode = before;
    return cudaSuccess;
}
