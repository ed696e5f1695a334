/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocation: device, pinned, managed, stream-ordered.
 */
#include "harness/cpu/cudart/host_memory.h"
#include "harness/cpu/cudart/stream.h"
#include "harness/cpu/device/heap.h"
#include "harness/cpu/device/window.h"

enum { PITCH_ALIGN = 512 };

static cudaError_t allocate(void **out, size_t bytes)
{
    uint64_t address = 0;

    if (out == NULL)
        return cudaErrorInvalidValue;
    *out = NULL;
    if (bytes == 0)
        return cudaSuccess;
    if (!pkb_heap_allocate(bytes, &address))
        return cudaErrorMemoryAllocation;
    *out = (void *)(uintptr_t)address;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = pkb_stream_forbid_capture();
    if (rc == cudaSuccess)
        rc = allocate(out, bytes);
    return pkb_api_leave(rc);
}

cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    *pitch = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
    return cudaMalloc(out, *pitch * height);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
    size_t pitch = 0;
    cudaError_t rc = cudaMallocPitch(&out->ptr, &pitch, extent.width, extent.height * extent.depth);

    out->pitch = pitch;
    out->xsize = extent.width;
    out->ysize = extent.height;
    return rc;
}

/* Work in flight may use the memory, so a free waits for it, as with a GPU. */
static cudaError_t release(void *pointer)
{
    uint64_t address = (uint64_t)(uintptr_t)pointer;

    if (pointer == NULL)
        return cudaSuccess;
    cudaError_t rc = pkb_stream_forbid_capture();
    if (rc == cudaSuccess)
        rc = pkb_stream_drain(NULL);
    if (rc != cudaSuccess)
        return rc;
    if (pkb_heap_free(address) || pkb_host_release(address, PKB_HOST_MANAGED))
        return cudaSuccess;
    return cudaErrorInvalidValue;
}

cudaError_t cudaFree(void *pointer)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = release(pointer);
    return pkb_api_leave(rc);
}

/* ---- stream-ordered ---- */

cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t handle)
{
    cudaError_t rc = pkb_api_enter();
    const pkb_stream *stream = rc == cudaSuccess ? pkb_stream_find(handle) : NULL;

    if (rc == cudaSuccess && stream == NULL)
        rc = cudaErrorInvalidResourceHandle;
    if (rc == cudaSuccess && stream->capture != NULL)
        rc = cudaErrorStreamCaptureUnsupported;
    if (rc == cudaSuccess)
        rc = allocate(out, bytes);
    return pkb_api_leave(rc);
}

cudaError_t cudaMallocFromPoolAsync(void **out, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream)
{
    (void)pool;
    return cudaMallocAsync(out, bytes, stream);
}

static cudaError_t release_async(void *pointer, cudaStream_t handle)
{
    pkb_stream *stream = pkb_stream_find(handle);
    const pkb_allocation *a = pkb_heap_find((uint64_t)(uintptr_t)pointer);

    if (pointer == NULL)
        return cudaSuccess;
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    if (a == NULL || a->address != (uint64_t)(uintptr_t)pointer)
        return cudaErrorInvalidValue;
    pkb_op *op = pkb_op_create(PKB_OP_FREE);
    if (op != NULL)
        op->as.free_address = a->address;
    return pkb_stream_submit(stream, op);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = release_async(pointer, stream);
    return pkb_api_leave(rc);
}

/* One pool, whose handle only has to differ from NULL; its attributes have no effect. */
static char default_pool;

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    if (device != 0)
        return pkb_api_note(cudaErrorInvalidDevice);
    *pool = (cudaMemPool_t)(void *)&default_pool;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    return cudaDeviceGetDefaultMemPool(pool, device);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    (void)pool;
    return device == 0 ? cudaSuccess : pkb_api_note(cudaErrorInvalidDevice);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
    (void)properties;
    return cudaDeviceGetDefaultMemPool(pool, 0);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    (void)pool;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    (void)pool, (void)attribute, (void)value;
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
    (void)pool, (void)bytes;
    return cudaSuccess;
}

/* ---- host memory ---- */

static cudaError_t allocate_host(void **out, size_t bytes, pkb_host_kind kind, unsigned flags)
{
    cudaError_t rc = pkb_api_enter();

    if (rc == cudaSuccess && out == NULL)
        rc = cudaErrorInvalidValue;
    if (rc == cudaSuccess) {
        *out = bytes == 0 ? NULL : pkb_host_allocate(bytes, kind, flags);
        if (*out == NULL && bytes != 0)
            rc = cudaErrorMemoryAllocation;
    }
    return pkb_api_leave(rc);
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
    return allocate_host(out, bytes, PKB_HOST_PINNED, flags);
}

cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    return allocate_host(out, bytes, PKB_HOST_PINNED, cudaHostAllocDefault);
}

cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
    if (bytes == 0)
        return pkb_api_note(cudaErrorInvalidValue);
    return allocate_host(out, bytes, PKB_HOST_MANAGED, flags);
}

cudaError_t cudaFreeHost(void *pointer)
{
    cudaError_t rc = pkb_api_enter();

    if (rc == cudaSuccess && pointer != NULL) {
        rc = pkb_stream_drain(NULL);
        if (rc == cudaSuccess && !pkb_host_release((uint64_t)(uintptr_t)pointer, PKB_HOST_PINNED))
            rc = cudaErrorInvalidValue;
    }
    return pkb_api_leave(rc);
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    cudaError_t rc = pkb_api_enter();
    uint64_t address = (uint64_t)(uintptr_t)pointer;

    if (rc == cudaSuccess && (pointer == NULL || bytes == 0 || pkb_window_holds(address)))
        rc = cudaErrorInvalidValue;
    if (rc == cudaSuccess && pkb_host_find(address) != NULL)
        rc = cudaErrorHostMemoryAlreadyRegistered;
    if (rc == cudaSuccess && !pkb_host_register(pointer, bytes, flags))
        rc = cudaErrorMemoryAllocation;
    return pkb_api_leave(rc);
}

cudaError_t cudaHostUnregister(void *pointer)
{
    cudaError_t rc = pkb_api_enter();

    if (rc == cudaSuccess && !pkb_host_release((uint64_t)(uintptr_t)pointer, PKB_HOST_REGISTERED))
        rc = cudaErrorHostMemoryNotRegistered;
    return pkb_api_leave(rc);
}

cudaError_t cudaHostGetDevicePointer(void **out, void *pointer, unsigned flags)
{
    cudaError_t rc = pkb_api_enter();

    (void)flags;
    if (rc == cudaSuccess && pkb_host_find((uint64_t)(uintptr_t)pointer) == NULL)
        rc = cudaErrorInvalidValue;
    if (rc == cudaSuccess)
        *out = pointer;
    return pkb_api_leave(rc);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *pointer)
{
    cudaError_t rc = pkb_api_enter();
    const pkb_host_range *range = pkb_host_find((uint64_t)(uintptr_t)pointer);

    if (rc == cudaSuccess && range == NULL)
        rc = cudaErrorInvalidValue;
    if (rc == cudaSuccess)
        *flags = range->flags;
    return pkb_api_leave(rc);
}

/* ---- questions ---- */

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    cudaError_t rc = pkb_api_enter();

    if (rc == cudaSuccess) {
        *free_bytes = pkb_heap_limit() - pkb_heap_used();
        *total_bytes = pkb_heap_limit();
    }
    return pkb_api_leave(rc);
}

static void describe(struct cudaPointerAttributes *out, uint64_t address)
{
    const pkb_host_range *range = pkb_host_find(address);
    void *pointer = (void *)(uintptr_t)address;

    *out = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered, .device = -2};
    if (pkb_window_holds(address) && pkb_window_is_accessible(address, 1)) {
        out->type = cudaMemoryTypeDevice;
        out->device = 0;
        out->devicePointer = pointer;
    } else if (range != NULL) {
        out->type = range->kind == PKB_HOST_MANAGED ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
        out->device = 0;
        out->devicePointer = pointer;
        out->hostPointer = pointer;
    }
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *pointer)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        describe(out, (uint64_t)(uintptr_t)pointer);
    return pkb_api_leave(rc);
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream)
{
    (void)pointer, (void)bytes, (void)location, (void)flags, (void)stream;
    return cudaSuccess;
}

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    (void)pointer, (void)bytes, (void)advice, (void)location;
    return cudaSuccess;
}
