/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver's functions that this project calls, for the files of this folder only: it needs
 * CUDA's own header. `driver->MemCreate` is cuMemCreate, in the version that
 * cuda.h means by that name.
 */
#ifndef PKB_HARNESS_CUDA_DRIVER_TABLE_H
#define PKB_HARNESS_CUDA_DRIVER_TABLE_H

#include <cuda.h>
#include <limits.h>

#include "harness/cuda/driver.h"

enum { PKB_DRIVER_MAX_DEVICES = 64 };

/* cuda.h renames some of them to newer versions: the second column is expanded, the first is not.
 */
#define PKB_DRIVER_FUNCTIONS(X)                                                     \
    X(Init, cuInit)                                                                 \
    X(DriverGetVersion, cuDriverGetVersion)                                         \
    X(GetErrorName, cuGetErrorName)                                                 \
    X(GetErrorString, cuGetErrorString)                                             \
    X(DeviceGetCount, cuDeviceGetCount)                                             \
    X(DeviceGet, cuDeviceGet)                                                       \
    X(DeviceGetName, cuDeviceGetName)                                               \
    X(DeviceGetUuid, cuDeviceGetUuid)                                               \
    X(DeviceTotalMem, cuDeviceTotalMem)                                             \
    X(DeviceGetAttribute, cuDeviceGetAttribute)                                     \
    X(DeviceGetPCIBusId, cuDeviceGetPCIBusId)                                       \
    X(DeviceCanAccessPeer, cuDeviceCanAccessPeer)                                   \
    X(DeviceGetP2PAttribute, cuDeviceGetP2PAttribute)                               \
    X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)                             \
    X(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease)                           \
    X(CtxSetCurrent, cuCtxSetCurrent)                                               \
    X(CtxSynchronize, cuCtxSynchronize)                                             \
    X(ModuleLoadData, cuModuleLoadData)                                             \
    X(ModuleUnload, cuModuleUnload)                                                 \
    X(ModuleGetFunction, cuModuleGetFunction)                                       \
    X(ModuleGetGlobal, cuModuleGetGlobal)                                           \
    X(LaunchKernel, cuLaunchKernel)                                                 \
    X(LaunchHostFunc, cuLaunchHostFunc)                                             \
    X(StreamCreate, cuStreamCreate)                                                 \
    X(StreamDestroy, cuStreamDestroy)                                               \
    X(StreamSynchronize, cuStreamSynchronize)                                       \
    X(StreamQuery, cuStreamQuery)                                                   \
    X(EventCreate, cuEventCreate)                                                   \
    X(EventDestroy, cuEventDestroy)                                                 \
    X(EventRecord, cuEventRecord)                                                   \
    X(EventQuery, cuEventQuery)                                                     \
    X(EventSynchronize, cuEventSynchronize)                                         \
    X(EventElapsedTime, cuEventElapsedTime)                                         \
    X(MemGetInfo, cuMemGetInfo)                                                     \
    X(MemAlloc, cuMemAlloc)                                                         \
    X(MemFree, cuMemFree)                                                           \
    X(MemHostAlloc, cuMemHostAlloc)                                                 \
    X(MemFreeHost, cuMemFreeHost)                                                   \
    X(MemHostRegister, cuMemHostRegister)                                           \
    X(MemHostUnregister, cuMemHostUnregister)                                       \
    X(MemcpyAsync, cuMemcpyAsync)                                                   \
    X(MemcpyHtoDAsync, cuMemcpyHtoDAsync)                                           \
    X(MemcpyDtoHAsync, cuMemcpyDtoHAsync)                                           \
    X(MemcpyDtoDAsync, cuMemcpyDtoDAsync)                                           \
    X(MemsetD8Async, cuMemsetD8Async)                                               \
    X(MemsetD32Async, cuMemsetD32Async)                                             \
    X(MemGetAllocationGranularity, cuMemGetAllocationGranularity)                   \
    X(MemCreate, cuMemCreate)                                                       \
    X(MemRelease, cuMemRelease)                                                     \
    X(MemExportToShareableHandle, cuMemExportToShareableHandle)                     \
    X(MemImportFromShareableHandle, cuMemImportFromShareableHandle)                 \
    X(MemGetAllocationPropertiesFromHandle, cuMemGetAllocationPropertiesFromHandle) \
    X(MemAddressReserve, cuMemAddressReserve)                                       \
    X(MemAddressFree, cuMemAddressFree)                                             \
    X(MemMap, cuMemMap)                                                             \
    X(MemUnmap, cuMemUnmap)                                                         \
    X(MemSetAccess, cuMemSetAccess)

struct pkb_driver {
    void *library;
    char folder[PATH_MAX];
    int version, device_count;
    CUcontext contexts[PKB_DRIVER_MAX_DEVICES]; /* NULL = not used */
#define PKB_DRIVER_FIELD(field, function) __typeof__ (&(function))(field);
    PKB_DRIVER_FUNCTIONS(PKB_DRIVER_FIELD)
#undef PKB_DRIVER_FIELD
};

#endif
