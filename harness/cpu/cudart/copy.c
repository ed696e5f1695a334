/* SPDX-License-Identifier: Apache-2.0
 *
 * cudaMemcpy and cudaMemset in all their forms.
 */
#include "harness/cpu/cudart/copy.h"

#include "harness/cpu/cudart/host_memory.h"
#include "harness/cpu/cudart/stream.h"
#include "harness/cpu/cudart/unsupported.h"
#include "harness/cpu/device/fault.h"
#include "harness/cpu/device/window.h"

/* Bytes from the first to behind the last of a box; 0 for an empty one. */
static uint64_t extent(size_t pitch, size_t slice, size_t width, size_t height, size_t depth)
{
    if (width == 0 || height == 0 || depth == 0)
        return 0;
    return (depth - 1) * slice + (height - 1) * pitch + width;
}

static bool is_accessible(uint64_t address, uint64_t bytes)
{
    if (bytes == 0)
        return true;
    return pkb_window_holds(address) ? pkb_window_is_accessible(address, bytes) : address != 0;
}

static bool is_host(uint64_t address)
{
    const pkb_host_range *range = pkb_host_find(address);
    return !pkb_window_holds(address) && (range == NULL || range->kind != PKB_HOST_MANAGED);
}

/* Says more than the error code does. */
static cudaError_t refuse(const char *what, uint64_t address, uint64_t bytes)
{
    char place[160];

    pkb_window_describe(address, place, sizeof place);
    pkb_fault_record_host(PKB_CPU_FAULT_ADDRESS, cudaErrorInvalidValue, "",
                          "%s of %llu bytes at 0x%llx: %s", what, (unsigned long long)bytes,
                          (unsigned long long)address, place);
    return cudaErrorInvalidValue;
}

static cudaError_t check_kind(const pkb_copy *c, enum cudaMemcpyKind kind)
{
    bool from_window = pkb_window_holds(c->from), to_window = pkb_window_holds(c->to);

    switch (kind) {
    case cudaMemcpyHostToHost:
        return from_window || to_window ? cudaErrorInvalidValue : cudaSuccess;
    case cudaMemcpyHostToDevice:
        return from_window ? cudaErrorInvalidValue : cudaSuccess;
    case cudaMemcpyDeviceToHost:
        return to_window ? cudaErrorInvalidValue : cudaSuccess;
    case cudaMemcpyDeviceToDevice:
    case cudaMemcpyDefault:
        return cudaSuccess;
    }
    return cudaErrorInvalidMemcpyDirection;
}

cudaError_t pkb_copy_make(const pkb_copy *c, enum cudaMemcpyKind kind, pkb_op **out)
{
    uint64_t from_bytes = extent(c->from_pitch, c->from_slice, c->width, c->height, c->depth);
    uint64_t to_bytes = extent(c->to_pitch, c->to_slice, c->width, c->height, c->depth);
    cudaError_t rc = check_kind(c, kind);

    if (rc != cudaSuccess)
        return rc;
    if ((c->height > 1 || c->depth > 1) && (c->width > c->from_pitch || c->width > c->to_pitch))
        return cudaErrorInvalidPitchValue;
    if (!is_accessible(c->from, from_bytes))
        return refuse("copy from", c->from, from_bytes);
    if (!is_accessible(c->to, to_bytes))
        return refuse("copy to", c->to, to_bytes);
    *out = pkb_op_create(PKB_OP_COPY);
    if (*out == NULL)
        return cudaErrorMemoryAllocation;
    (*out)->as.copy = *c;
    return cudaSuccess;
}

cudaError_t pkb_fill_make(const pkb_fill *f, pkb_op **out)
{
    size_t width = f->width * f->element_bytes;
    uint64_t bytes = extent(f->pitch, f->slice, width, f->height, f->depth);

    if (f->height > 1 && width > f->pitch)
        return cudaErrorInvalidPitchValue;
    if (!is_accessible(f->to, bytes))
        return refuse("fill", f->to, bytes);
    *out = pkb_op_create(PKB_OP_FILL);
    if (*out == NULL)
        return cudaErrorMemoryAllocation;
    (*out)->as.fill = *f;
    return cudaSuccess;
}

pkb_copy pkb_copy_of_bytes(void *to, const void *from, size_t bytes)
{
    return (pkb_copy){.to = (uint64_t)(uintptr_t)to,
                      .from = (uint64_t)(uintptr_t)from,
                      .to_pitch = bytes,
                      .from_pitch = bytes,
                      .width = bytes,
                      .height = 1,
                      .depth = 1};
}

static cudaError_t submit(pkb_op *op, cudaStream_t handle, bool must_wait)
{
    pkb_stream *stream = pkb_stream_find(handle);
    cudaError_t rc = stream == NULL ? cudaErrorInvalidResourceHandle : cudaSuccess;

    if (rc == cudaSuccess && must_wait && stream->capture != NULL) {
        stream->is_capture_invalid = true;
        rc = cudaErrorStreamCaptureUnsupported;
    }
    if (rc != cudaSuccess) {
        pkb_op_free(op);
        return rc;
    }
    bool is_captured = stream->capture != NULL;
    rc = pkb_stream_submit(stream, op);
    if (rc == cudaSuccess && must_wait && !is_captured)
        rc = pkb_stream_drain(stream);
    return rc;
}

cudaError_t pkb_copy_submit(const pkb_copy *copy, enum cudaMemcpyKind kind, cudaStream_t stream,
                            pkb_wait wait)
{
    pkb_op *op = NULL;
    cudaError_t rc = pkb_api_enter();
    const pkb_stream *s = NULL;

    if (rc == cudaSuccess)
        s = pkb_stream_find(stream);
    if (rc == cudaSuccess && wait == PKB_SYNC)
        rc = pkb_stream_forbid_capture();
    if (rc == cudaSuccess)
        rc = pkb_copy_make(copy, kind, &op);
    /* A copy into pageable host memory returns when it is done, whatever the call. */
    bool must_wait = wait == PKB_SYNC || (s != NULL && s->capture == NULL && is_host(copy->to) &&
                                          pkb_host_is_pageable(copy->to));
    if (rc == cudaSuccess)
        rc = submit(op, stream, must_wait);
    return pkb_api_leave(rc);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    pkb_copy copy = pkb_copy_of_bytes(to, from, bytes);
    return pkb_copy_submit(&copy, kind, NULL, PKB_SYNC);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    pkb_copy copy = pkb_copy_of_bytes(to, from, bytes);
    return pkb_copy_submit(&copy, kind, stream, PKB_ASYNC);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    if (to_device != 0 || from_device != 0)
        return pkb_api_note(cudaErrorInvalidDevice);
    return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    if (to_device != 0 || from_device != 0)
        return pkb_api_note(cudaErrorInvalidDevice);
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}

/* ---- boxes ---- */

static pkb_copy rectangle(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                          size_t width, size_t height)
{
    return (pkb_copy){.to = (uint64_t)(uintptr_t)to,
                      .from = (uint64_t)(uintptr_t)from,
                      .to_pitch = to_pitch,
                      .from_pitch = from_pitch,
                      .width = width,
                      .height = height,
                      .depth = 1};
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    pkb_copy copy = rectangle(to, to_pitch, from, from_pitch, width, height);
    return pkb_copy_submit(&copy, kind, NULL, PKB_SYNC);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    pkb_copy copy = rectangle(to, to_pitch, from, from_pitch, width, height);
    return pkb_copy_submit(&copy, kind, stream, PKB_ASYNC);
}

static uint64_t box_start(const struct cudaPitchedPtr *p, const struct cudaPos *at)
{
    return (uint64_t)(uintptr_t)p->ptr + (at->z * p->ysize + at->y) * p->pitch + at->x;
}

static bool box_of(const struct cudaMemcpy3DParms *p, pkb_copy *out)
{
    if (p->srcArray != NULL || p->dstArray != NULL)
        return false;
    *out = (pkb_copy){.to = box_start(&p->dstPtr, &p->dstPos),
                      .from = box_start(&p->srcPtr, &p->srcPos),
                      .to_pitch = p->dstPtr.pitch,
                      .from_pitch = p->srcPtr.pitch,
                      .to_slice = p->dstPtr.pitch * p->dstPtr.ysize,
                      .from_slice = p->srcPtr.pitch * p->srcPtr.ysize,
                      .width = p->extent.width,
                      .height = p->extent.height,
                      .depth = p->extent.depth};
    return true;
}

cudaError_t pkb_copy_make_3d(const struct cudaMemcpy3DParms *p, pkb_op **out)
{
    pkb_copy copy;
    return box_of(p, &copy) ? pkb_copy_make(&copy, p->kind, out) : cudaErrorNotSupported;
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    pkb_copy copy;

    if (!box_of(p, &copy))
        return pkb_api_unsupported(PKB_UNSUPPORTED_CALL "cudaMemcpy3D");
    return pkb_copy_submit(&copy, p->kind, NULL, PKB_SYNC);
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    pkb_copy copy;

    if (!box_of(p, &copy))
        return pkb_api_unsupported(PKB_UNSUPPORTED_CALL "cudaMemcpy3DAsync");
    return pkb_copy_submit(&copy, p->kind, stream, PKB_ASYNC);
}

/* ---- fills ---- */

static cudaError_t submit_fill(const pkb_fill *fill, cudaStream_t stream, pkb_wait wait)
{
    pkb_op *op = NULL;
    cudaError_t rc = pkb_api_enter();

    if (rc == cudaSuccess && wait == PKB_SYNC)
        rc = pkb_stream_forbid_capture();
    if (rc == cudaSuccess)
        rc = pkb_fill_make(fill, &op);
    if (rc == cudaSuccess)
        rc = submit(op, stream, wait == PKB_SYNC);
    return pkb_api_leave(rc);
}

static pkb_fill byte_box(void *to, size_t pitch, size_t slice, int value, struct cudaExtent extent)
{
    return (pkb_fill){.to = (uint64_t)(uintptr_t)to,
                      .pitch = pitch,
                      .slice = slice,
                      .width = extent.width,
                      .height = extent.height,
                      .depth = extent.depth,
                      .value = (uint8_t)value,
                      .element_bytes = 1};
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    pkb_fill fill = byte_box(to, bytes, bytes, value, (struct cudaExtent){bytes, 1, 1});
    return submit_fill(&fill, NULL, PKB_SYNC);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    pkb_fill fill = byte_box(to, bytes, bytes, value, (struct cudaExtent){bytes, 1, 1});
    return submit_fill(&fill, stream, PKB_ASYNC);
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    pkb_fill fill = byte_box(to, pitch, 0, value, (struct cudaExtent){width, height, 1});
    return submit_fill(&fill, NULL, PKB_SYNC);
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    pkb_fill fill = byte_box(to, pitch, 0, value, (struct cudaExtent){width, height, 1});
    return submit_fill(&fill, stream, PKB_ASYNC);
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent_)
{
    pkb_fill fill = byte_box(to.ptr, to.pitch, to.pitch * to.ysize, value, extent_);
    return submit_fill(&fill, NULL, PKB_SYNC);
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent_,
                              cudaStream_t stream)
{
    pkb_fill fill = byte_box(to.ptr, to.pitch, to.pitch * to.ysize, value, extent_);
    return submit_fill(&fill, stream, PKB_ASYNC);
}
