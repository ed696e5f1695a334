/* SPDX-License-Identifier: Apache-2.0
 *
 * A module, a stream, buffers; see compute.h.
 */
#include "harness/cuda/compute.h"

#include <stdbool.h>
#include <stdlib.h>

#include "harness/cuda/driver_table.h"

enum { FIRST_BYTES = 8 << 20 };

typedef struct buffer {
    CUdeviceptr address;
    size_t bytes;
} buffer;

struct pkb_compute {
    pkb_driver *driver;
    int device;
    CUmodule module;
    CUstream stream;
    CUfunction kernels[PKB_COMPUTE_MAX_KERNELS];
    buffer buffers[PKB_COMPUTE_BUFFERS];
    CUresult failure; /* the first */
    const char *refusal;
};

static pkb_code open_module(pkb_compute *compute, const char *ptx, const char *const *names,
                            size_t name_count, pkb_error *err)
{
    const pkb_driver *driver = compute->driver;
    CUresult result = driver->ModuleLoadData(&compute->module, ptx);
    for (size_t i = 0; result == CUDA_SUCCESS && i < name_count; i++)
        result = driver->ModuleGetFunction(&compute->kernels[i], compute->module, names[i]);
    if (result == CUDA_SUCCESS)
        result = driver->StreamCreate(&compute->stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        return pkb_driver_fail(driver, err, (int)result, "cannot load kernels on GPU %d",
                               compute->device);
    return PKB_OK;
}

static bool is_healthy(const pkb_compute *compute)
{
    return compute->failure == CUDA_SUCCESS && compute->refusal == NULL;
}

static void note(pkb_compute *compute, CUresult result)
{
    if (is_healthy(compute))
        compute->failure = result;
}

/* At least `bytes`, and nearly always what was made at the start: an attempt may hold all the rest
 * of the GPU's memory when we need it. What it held is lost. */
static void grow(pkb_compute *compute, buffer *b, size_t bytes)
{
    const pkb_driver *driver = compute->driver;
    if (!is_healthy(compute) || b->bytes >= bytes)
        return;
    note(compute, driver->StreamSynchronize(compute->stream));
    if (b->address != 0)
        driver->MemFree(b->address);
    *b = (buffer){.bytes = 0};
    note(compute, driver->MemAlloc(&b->address, 2 * bytes));
    if (is_healthy(compute))
        b->bytes = 2 * bytes;
}

pkb_code pkb_compute_open(pkb_compute **out, pkb_driver *driver, int device, const char *ptx,
                          const char *const *names, size_t name_count, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    pkb_compute *compute = NULL;

    if (name_count > PKB_COMPUTE_MAX_KERNELS)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "%zu kernels are too many", name_count);
    compute = calloc(1, sizeof *compute);
    if (compute == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for kernels");
    compute->driver = driver;
    compute->device = device;
    rc = pkb_driver_use(driver, device, err);
    if (rc == PKB_OK)
        rc = open_module(compute, ptx, names, name_count, err);
    for (size_t i = 0; rc == PKB_OK && i < PKB_COMPUTE_BUFFERS; i++)
        grow(compute, &compute->buffers[i], FIRST_BYTES);
    if (rc == PKB_OK)
        rc = pkb_compute_synchronise(compute, err);
    if (rc != PKB_OK) {
        pkb_compute_close(compute);
        return rc;
    }
    *out = compute;
    return PKB_OK;
}

void pkb_compute_close(pkb_compute *compute)
{
    if (compute == NULL)
        return;
    for (size_t i = 0; i < PKB_COMPUTE_BUFFERS; i++)
        if (compute->buffers[i].address != 0)
            compute->driver->MemFree(compute->buffers[i].address);
    if (compute->stream != NULL)
        compute->driver->StreamDestroy(compute->stream);
    if (compute->module != NULL)
        compute->driver->ModuleUnload(compute->module);
    free(compute);
}

void pkb_compute_launch(pkb_compute *compute, size_t kernel, uint32_t x, uint32_t y,
                        void **arguments)
{
    if (is_healthy(compute))
        note(compute,
             compute->driver->LaunchKernel(compute->kernels[kernel], x, y, 1, PKB_COMPUTE_THREADS,
                                           1, 1, 0, compute->stream, arguments, NULL));
}

const void *pkb_compute_tell(pkb_compute *compute, pkb_compute_buffer which, const void *data,
                             size_t bytes)
{
    buffer *b = &compute->buffers[which];
    grow(compute, b, bytes);
    if (is_healthy(compute))
        note(compute, compute->driver->MemcpyHtoDAsync(b->address, data, bytes, compute->stream));
    return (const void *)(uintptr_t)b->address;
}

void *pkb_compute_answer(pkb_compute *compute, pkb_compute_buffer which, size_t bytes, int byte)
{
    buffer *b = &compute->buffers[which];
    grow(compute, b, bytes);
    void *address = (void *)(uintptr_t)b->address;
    pkb_compute_set(compute, address, byte, bytes);
    return address;
}

void pkb_compute_set(pkb_compute *compute, void *address, int byte, uint64_t bytes)
{
    if (is_healthy(compute) && bytes > 0)
        note(compute, compute->driver->MemsetD8Async((CUdeviceptr)(uintptr_t)address,
                                                     (unsigned char)byte, bytes, compute->stream));
}

void pkb_compute_read(pkb_compute *compute, void *to, const void *from, size_t bytes)
{
    if (!is_healthy(compute) || bytes == 0)
        return;
    note(compute, compute->driver->MemcpyDtoHAsync(to, (CUdeviceptr)(uintptr_t)from, bytes,
                                                   compute->stream));
    note(compute, compute->driver->StreamSynchronize(compute->stream));
}

void pkb_compute_refuse(pkb_compute *compute, const char *why)
{
    if (is_healthy(compute))
        compute->refusal = why;
}

pkb_code pkb_compute_synchronise(pkb_compute *compute, pkb_error *err)
{
    if (is_healthy(compute))
        note(compute, compute->driver->StreamSynchronize(compute->stream));
    if (compute->refusal != NULL)
        return pkb_error_set(err, PKB_ERR_CUDA, 0, "our own kernels on GPU %d: %s", compute->device,
                             compute->refusal);
    if (!is_healthy(compute))
        return pkb_driver_fail(compute->driver, err, (int)compute->failure,
                               "our own kernels failed on GPU %d", compute->device);
    return PKB_OK;
}

uint64_t pkb_compute_free_bytes(pkb_compute *compute, uint64_t *total_bytes)
{
    size_t free_bytes = 0, total = 0;
    if (compute->driver->MemGetInfo(&free_bytes, &total) != CUDA_SUCCESS)
        free_bytes = 0;
    *total_bytes = total;
    return free_bytes;
}
