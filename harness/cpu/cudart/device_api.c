/* SPDX-License-Identifier: Apache-2.0
 *
 * Choosing and asking about the one device.
 */
#include "harness/cpu/cudart/runtime.h"
#include "harness/cpu/cudart/stream.h"
#include "harness/cpu/cudart/unsupported.h"
#include "harness/cpu/device/device_heap.h"

#pragma GCC visibility push(default)
#include <cuda_profiler_api.h>
#pragma GCC visibility pop
#include <stdio.h>

enum { CUDA_VERSION = 13000, STACK_LIMIT_BYTES = 1024, PRINT_FIFO_BYTES = 1 << 20 };

static cudaError_t check_device(int device)
{
    return device == 0 ? cudaSuccess : pkb_api_note(cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return check_device(device);
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    (void)device_flags, (void)flags;
    return check_device(device);
}

cudaError_t cudaSetValidDevices(int *devices, int count)
{
    (void)devices, (void)count;
    return cudaSuccess;
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted)
{
    (void)wanted;
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    (void)flags;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    *flags = cudaDeviceScheduleAuto;
    return cudaSuccess;
}

cudaError_t cudaDeviceReset(void)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = pkb_stream_drain(NULL);
    return pkb_api_leave(rc);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDA_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDA_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can_access, int device, int peer)
{
    *can_access = 0;
    return check_device(device != 0 ? device : peer);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer, (void)flags;
    return pkb_api_note(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    (void)peer;
    return pkb_api_note(cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaDeviceGetPCIBusId(char *out, int bytes, int device)
{
    if (out == NULL || bytes <= 0)
        return pkb_api_note(cudaErrorInvalidValue);
    snprintf(out, (size_t)bytes, "0000:01:00.0");
    return check_device(device);
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    (void)id;
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    *value = 0;
    if (limit == cudaLimitMallocHeapSize)
        *value = pkb_device_heap_limit();
    else if (limit == cudaLimitStackSize)
        *value = STACK_LIMIT_BYTES;
    else if (limit == cudaLimitPrintfFifoSize)
        *value = PRINT_FIFO_BYTES;
    return cudaSuccess;
}

/* Stacks come in the size a kernel needs, and printf has a cap of its own. */
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    if (limit == cudaLimitMallocHeapSize)
        pkb_device_heap_set_limit(value);
    return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    (void)config;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return cudaSuccess;
}

cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}

cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}

/* ---- driver entry points: none exist ---- */

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *result)
{
    (void)symbol, (void)version, (void)flags;
    *function = NULL;
    if (result != NULL)
        *result = cudaDriverEntryPointSymbolNotFound;
    return pkb_api_unsupported(PKB_UNSUPPORTED_CALL "cudaGetDriverEntryPoint");
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *result)
{
    return cudaGetDriverEntryPointByVersion(symbol, function, CUDA_VERSION, flags, result);
}
#pragma GCC diagnostic pop
