/* SPDX-License-Identifier: Apache-2.0
 *
 * The executor of streams, and the order between them.
 */
#include "harness/cpu/cudart/stream.h"

#include "harness/cpu/cudart/graph.h"
#include "harness/cpu/cudart/host_memory.h"
#include "harness/cpu/cudart/status.h"
#include "harness/cpu/device/fault.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* Once nothing has happened for this long the executor sleeps half of the time: enough for others
 * to get the core, and a kernel that does work between its yields is no more than half as fast. */
enum { CROWDED_NS = 1000000, FITTING_NS = 5000000, ALONE_NS = 100000000, SLEEP_NS = 50000 };

static pkb_stream legacy = {.is_legacy = true, .id = 1};
static pkb_stream *streams = &legacy;
static uint64_t last_sequence, last_id = 1;
uint32_t pkb_stream_capture_count;

/* ---- handles ---- */

pkb_stream *pkb_stream_create(unsigned flags, int priority)
{
    pkb_stream *stream = calloc(1, sizeof *stream);

    if (stream == NULL)
        return NULL;
    stream->flags = flags;
    stream->priority = priority;
    stream->id = ++last_id;
    stream->next = legacy.next;
    legacy.next = stream;
    return stream;
}

static pkb_stream *own_stream(void)
{
    static _Thread_local pkb_stream *own __attribute__((tls_model("initial-exec")));

    if (own == NULL)
        own = pkb_stream_create(cudaStreamDefault, 0);
    return own;
}

pkb_stream *pkb_stream_find(cudaStream_t handle)
{
    if (handle == NULL || handle == cudaStreamLegacy)
        return &legacy;
    if (handle == cudaStreamPerThread)
        return own_stream();
    for (pkb_stream *s = streams; s != NULL; s = s->next)
        if ((cudaStream_t)(void *)s == handle && !s->is_destroyed)
            return s;
    return NULL;
}

void pkb_stream_end_capture(const struct pkb_graph *graph)
{
    for (pkb_stream *s = streams; s != NULL; s = s->next) {
        if (s->capture != graph)
            continue;
        s->capture = NULL;
        s->capture_last = NULL;
        s->is_capture_origin = s->is_capture_invalid = false;
    }
}

/* ---- order ---- */

static bool is_blocking(const pkb_stream *stream)
{
    return !stream->is_legacy && !(stream->flags & cudaStreamNonBlocking);
}

/* The legacy stream and the blocking ones wait for one another's earlier work. */
static bool is_behind(const pkb_stream *stream, const pkb_op *op)
{
    if (stream->is_legacy) {
        for (const pkb_stream *s = streams; s != NULL; s = s->next)
            if (is_blocking(s) && s->head != NULL && s->head->sequence < op->sequence)
                return true;
        return false;
    }
    return is_blocking(stream) && legacy.head != NULL && legacy.head->sequence < op->sequence;
}

static bool is_ready(const pkb_stream *stream)
{
    const pkb_op *op = stream->head;

    if (op == NULL || stream->is_busy)
        return false;
    if (op->kind == PKB_OP_WAIT && op->as.event.event->completed < op->as.event.generation)
        return false;
    return !is_behind(stream, op);
}

/* ---- running ---- */

static void pop(pkb_stream *stream)
{
    pkb_op *op = stream->head;

    stream->head = op->next;
    if (stream->head == NULL)
        stream->tail = NULL;
    pkb_op_free(op);
}

static void drop_all_work(void)
{
    for (pkb_stream *s = streams; s != NULL; s = s->next)
        while (s->head != NULL && !s->is_busy)
            pop(s);
}

void pkb_stream_forget_module(const pkb_device_module_info *module)
{
    for (pkb_stream *s = streams; s != NULL; s = s->next) {
        bool is_concerned = false;
        for (const pkb_op *op = s->head; op != NULL; op = op->next)
            is_concerned |= op->kind == PKB_OP_KERNEL && op->as.kernel.launch.module == module;
        while (is_concerned && s->head != NULL && !s->is_busy)
            pop(s);
    }
}

static void remove_destroyed(void)
{
    for (pkb_stream **at = &legacy.next; *at != NULL;) {
        pkb_stream *s = *at;
        if (s->is_destroyed && s->head == NULL && !s->is_busy) {
            *at = s->next;
            free(s);
        } else {
            at = &s->next;
        }
    }
}

/* Runs the stream's work while it goes on; true if anything ended. */
static bool advance(pkb_stream *stream)
{
    bool has_progress = false;

    while (is_ready(stream)) {
        stream->is_busy = true;
        pkb_op_outcome outcome = pkb_op_run(stream->head);
        stream->is_busy = false;
        if (outcome == PKB_OP_IDLE)
            break;
        pop(stream);
        if (outcome == PKB_OP_FAULTED)
            drop_all_work();
        has_progress = true;
    }
    return has_progress;
}

static bool advance_all(void)
{
    bool has_progress = false, has_destroyed = false;

    for (pkb_stream *s = streams; s != NULL; s = s->next) {
        has_progress |= advance(s);
        has_destroyed |= s->is_destroyed;
    }
    if (has_destroyed)
        remove_destroyed();
    return has_progress;
}

static const pkb_grid *spinning_grid(void)
{
    for (const pkb_stream *s = streams; s != NULL; s = s->next)
        if (s->head != NULL && s->head->kind == PKB_OP_KERNEL && s->head->as.kernel.grid != NULL)
            return s->head->as.kernel.grid;
    return NULL;
}

/* The fewer cores there are for the ranks, the sooner others need this one. */
static uint64_t patience_ns(void)
{
    const pkb_cpu_limits *limits = pkb_limits();

    if (limits->rank_count <= 1)
        return ALONE_NS;
    return limits->rank_count > limits->core_count ? CROWDED_NS : FITTING_NS;
}

/* Lets other threads call the API, and other processes run. */
static void rest(uint64_t idle_ns)
{
    static uint64_t last_sleep_ns;

    pkb_status_note_idle(spinning_grid());
    bool may_sleep = idle_ns > patience_ns() && pkb_now_ns() - last_sleep_ns > SLEEP_NS;
    pkb_api_unlock();
    if (may_sleep)
        nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
    else
        sched_yield();
    pkb_api_lock();
    if (may_sleep)
        last_sleep_ns = pkb_now_ns();
}

typedef struct goal {
    const pkb_stream *stream; /* empty queue; NULL: all queues ... */
    const pkb_event *event;   /* ... unless an event is waited for */
    uint64_t generation;
    bool may_suspend;
} goal;

static bool is_reached(const goal *g)
{
    if (g->event != NULL)
        return g->event->completed >= g->generation;
    if (g->stream != NULL)
        return g->stream->head == NULL;
    for (const pkb_stream *s = streams; s != NULL; s = s->next)
        if (s->head != NULL)
            return false;
    return true;
}

static bool is_time_to_leave(const goal *g, uint64_t idle_ns)
{
    if (!g->may_suspend || pkb_limits()->disable_suspension)
        return false;
    if (!g->stream->head->was_suspended && idle_ns < pkb_limits()->suspend_idle_ns)
        return false;
    g->stream->head->was_suspended = true;
    return true;
}

static cudaError_t pursue(const goal *g)
{
    uint64_t idle_since = 0;

    while (!is_reached(g)) {
        if (advance_all()) {
            idle_since = 0;
            pkb_status_note_progress();
        } else if (!is_reached(g)) {
            uint64_t now = pkb_now_ns();
            if (idle_since == 0)
                idle_since = now;
            rest(now - idle_since);
            if (!is_reached(g) && is_time_to_leave(g, now - idle_since))
                return cudaSuccess;
        }
        if (pkb_fault_cuda_error() != 0)
            return (cudaError_t)pkb_fault_cuda_error();
    }
    return cudaSuccess;
}

cudaError_t pkb_stream_drain(pkb_stream *stream)
{
    return pursue(&(goal){.stream = stream});
}

cudaError_t pkb_stream_drain_event(const pkb_event *event)
{
    return pursue(&(goal){.event = event, .generation = event->recorded});
}

void pkb_stream_poke(void)
{
    if (advance_all())
        pkb_status_note_progress();
    else if (spinning_grid() != NULL)
        rest(0);
}

/* ---- submitting ---- */

static cudaError_t capture(pkb_stream *stream, pkb_op *op)
{
    pkb_graph_node *follows[] = {stream->capture_last};

    if (op->kind == PKB_OP_FREE || stream->is_capture_invalid) {
        pkb_op_free(op);
        stream->is_capture_invalid = true;
        return cudaErrorStreamCaptureUnsupported;
    }
    pkb_graph_node *node =
        pkb_graph_add(stream->capture, op, follows, stream->capture_last != NULL);
    if (node == NULL)
        return cudaErrorMemoryAllocation;
    stream->capture_last = node;
    return cudaSuccess;
}

/* Work of the legacy stream would have to wait for what is only being recorded. */
static bool breaks_a_capture(void)
{
    bool is_broken = false;

    if (pkb_stream_capture_count == 0)
        return false;
    for (pkb_stream *s = streams; s != NULL; s = s->next) {
        if (s->capture == NULL || !is_blocking(s))
            continue;
        s->is_capture_invalid = true;
        is_broken = true;
    }
    return is_broken;
}

cudaError_t pkb_stream_submit(pkb_stream *stream, pkb_op *op)
{
    if (op == NULL)
        return cudaErrorMemoryAllocation;
    if (stream->capture != NULL)
        return capture(stream, op);
    if (stream->is_legacy && breaks_a_capture()) {
        pkb_op_free(op);
        return cudaErrorStreamCaptureImplicit;
    }

    op->sequence = ++last_sequence;
    if (stream->tail == NULL)
        stream->head = op;
    else
        stream->tail->next = op;
    stream->tail = op;

    /* Whatever faults now is reported by the next call, as with a GPU. */
    (void)pursue(&(goal){.stream = stream, .may_suspend = true});
    if (stream->tail == op && op->kind == PKB_OP_COPY && op->as.copy.snapshot == NULL &&
        pkb_host_is_pageable(op->as.copy.from))
        return pkb_op_snapshot(op);
    return cudaSuccess;
}

cudaError_t pkb_stream_forbid_capture(void)
{
    cudaError_t rc = cudaSuccess;

    if (pkb_stream_capture_count == 0)
        return cudaSuccess;
    for (pkb_stream *s = streams; s != NULL; s = s->next) {
        if (s->capture == NULL)
            continue;
        s->is_capture_invalid = true;
        rc = cudaErrorStreamCaptureUnsupported;
    }
    return rc;
}
