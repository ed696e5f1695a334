/* SPDX-License-Identifier: Apache-2.0
 *
 * The event API.
 */
#include "harness/cpu/cudart/event.h"

#include "harness/cpu/cudart/graph.h"
#include "harness/cpu/cudart/stream.h"

#include <stdlib.h>

static pkb_event *events;

pkb_event *pkb_event_find(cudaEvent_t handle)
{
    for (pkb_event *e = events; e != NULL; e = e->next)
        if ((cudaEvent_t)(void *)e == handle && !e->is_destroyed)
            return e;
    return NULL;
}

void pkb_event_end_capture(const struct pkb_graph *graph)
{
    for (pkb_event *e = events; e != NULL; e = e->next) {
        if (e->capture != graph)
            continue;
        e->capture = NULL;
        e->captured = NULL;
    }
}

void pkb_event_hold(pkb_event *event)
{
    event->references++;
}

void pkb_event_release(pkb_event *event)
{
    if (--event->references > 0)
        return;
    for (pkb_event **at = &events; *at != NULL; at = &(*at)->next) {
        if (*at == event) {
            *at = event->next;
            break;
        }
    }
    free(event);
}

pkb_event *pkb_event_create(bool has_timing)
{
    pkb_event *event = calloc(1, sizeof *event);

    if (event == NULL)
        return NULL;
    event->references = 1;
    event->has_timing = has_timing;
    event->next = events;
    events = event;
    return event;
}

static cudaError_t create(cudaEvent_t *out, unsigned flags)
{
    if (out == NULL)
        return cudaErrorInvalidValue;
    *out = (cudaEvent_t)(void *)pkb_event_create(!(flags & cudaEventDisableTiming));
    return *out != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = create(event, flags);
    return pkb_api_leave(rc);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t handle)
{
    cudaError_t rc = pkb_api_enter();
    pkb_event *event = pkb_event_find(handle);

    if (rc == cudaSuccess && event == NULL)
        rc = cudaErrorInvalidResourceHandle;
    if (rc == cudaSuccess) {
        event->is_destroyed = true;
        pkb_event_release(event);
    }
    return pkb_api_leave(rc);
}

static cudaError_t submit(pkb_op_kind kind, pkb_event *event, pkb_stream *stream)
{
    pkb_op *op = pkb_op_create(kind);

    if (op == NULL)
        return cudaErrorMemoryAllocation;
    op->as.event.event = event;
    op->as.event.generation = event->recorded;
    pkb_event_hold(event);
    return pkb_stream_submit(stream, op);
}

cudaError_t pkb_event_record(pkb_event *event, pkb_stream *stream)
{
    event->recorded++;
    return submit(PKB_OP_RECORD, event, stream);
}

cudaError_t pkb_event_wait(pkb_event *event, pkb_stream *stream)
{
    if (event->completed >= event->recorded)
        return cudaSuccess;
    return submit(PKB_OP_WAIT, event, stream);
}

static cudaError_t record(cudaEvent_t handle, cudaStream_t stream_handle)
{
    pkb_event *event = pkb_event_find(handle);
    pkb_stream *stream = pkb_stream_find(stream_handle);

    if (event == NULL || stream == NULL)
        return cudaErrorInvalidResourceHandle;
    event->capture = stream->capture;
    event->captured = stream->capture_last;
    return stream->capture != NULL ? cudaSuccess : pkb_event_record(event, stream);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = record(event, stream);
    return pkb_api_leave(rc);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    (void)flags;
    return cudaEventRecord(event, stream);
}

/* A stream that waits for a captured event joins that capture. */
static cudaError_t wait_captured(pkb_stream *stream, pkb_event *event)
{
    if (stream->capture == NULL) {
        if (stream->is_legacy)
            return cudaErrorStreamCaptureImplicit;
        stream->capture = event->capture;
        stream->capture_last = event->captured;
        return cudaSuccess;
    }
    if (stream->capture != event->capture)
        return cudaErrorStreamCaptureMerge;
    pkb_op *op = pkb_op_create(PKB_OP_EMPTY);
    if (op == NULL)
        return cudaErrorMemoryAllocation;
    pkb_graph_node *follows[] = {stream->capture_last, event->captured};
    pkb_graph_node *node = pkb_graph_add(stream->capture, op, follows, 2);
    if (node == NULL)
        return cudaErrorMemoryAllocation;
    stream->capture_last = node;
    return cudaSuccess;
}

static cudaError_t wait(cudaStream_t stream_handle, cudaEvent_t handle)
{
    pkb_event *event = pkb_event_find(handle);
    pkb_stream *stream = pkb_stream_find(stream_handle);

    if (event == NULL || stream == NULL)
        return cudaErrorInvalidResourceHandle;
    if (event->capture != NULL)
        return wait_captured(stream, event);
    if (stream->capture != NULL)
        return cudaErrorStreamCaptureIsolation;
    return pkb_event_wait(event, stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    cudaError_t rc = pkb_api_enter();
    (void)flags;
    if (rc == cudaSuccess)
        rc = wait(stream, event);
    return pkb_api_leave(rc);
}

/* What is captured has not happened: nobody can ask for it. */
static cudaError_t enter_to_ask(cudaEvent_t handle, const pkb_event **out)
{
    const cudaError_t rc = pkb_api_enter();

    if (rc != cudaSuccess)
        return rc;
    *out = pkb_event_find(handle);
    if (*out == NULL)
        return cudaErrorInvalidResourceHandle;
    return (*out)->capture != NULL ? cudaErrorCapturedEvent : cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t handle)
{
    const pkb_event *event = NULL;
    cudaError_t rc = enter_to_ask(handle, &event);

    if (rc == cudaSuccess && event->completed < event->recorded) {
        pkb_stream_poke();
        rc = event->completed < event->recorded ? cudaErrorNotReady : cudaSuccess;
    }
    return pkb_api_leave(rc);
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle)
{
    const pkb_event *event = NULL;
    cudaError_t rc = enter_to_ask(handle, &event);

    if (rc == cudaSuccess)
        rc = pkb_stream_drain_event(event);
    return pkb_api_leave(rc);
}

static cudaError_t elapsed(float *ms, const pkb_event *start, const pkb_event *end)
{
    if (start == NULL || end == NULL || !start->has_timing || !end->has_timing ||
        start->recorded == 0 || end->recorded == 0)
        return cudaErrorInvalidResourceHandle;
    if (ms == NULL)
        return cudaErrorInvalidValue;
    if (start->completed < start->recorded || end->completed < end->recorded)
        return cudaErrorNotReady;
    *ms = (float)((double)(int64_t)(end->completed_ns - start->completed_ns) / 1e6);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = elapsed(ms, pkb_event_find(start), pkb_event_find(end));
    return pkb_api_leave(rc);
}
