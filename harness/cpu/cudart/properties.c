/* SPDX-License-Identifier: Apache-2.0
 *
 * The device that is claimed: one H100 SXM. Attempts choose launch shapes by these numbers.
 */
#include "harness/cpu/cudart/occupancy.h"
#include "harness/cpu/device/heap.h"

#include <stdio.h>
#include <string.h>

enum {
    L2_BYTES = 50 * 1024 * 1024,
    CLOCK_KHZ = 1980000,
    MEMORY_CLOCK_KHZ = 2619000,
    BUS_BITS = 5120
};

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    if (device != 0)
        return pkb_api_note(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "pkbench CPU device (as NVIDIA H100 80GB HBM3)");
    p->totalGlobalMem = pkb_heap_limit();
    p->sharedMemPerBlock = PKB_BLOCK_SHARED_BYTES;
    p->sharedMemPerBlockOptin = PKB_BLOCK_SHARED_OPTIN_BYTES;
    p->sharedMemPerMultiprocessor = PKB_SM_SHARED_BYTES;
    p->reservedSharedMemPerBlock = PKB_BLOCK_SHARED_RESERVED_BYTES;
    p->regsPerBlock = p->regsPerMultiprocessor = PKB_SM_REGISTERS;
    p->warpSize = 32;
    p->memPitch = 0x7fffffff;
    p->maxThreadsPerBlock = 1024;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = 65536;
    p->major = 9;
    p->textureAlignment = 512;
    p->texturePitchAlignment = 32;
    p->multiProcessorCount = PKB_SM_COUNT;
    p->canMapHostMemory = p->unifiedAddressing = p->managedMemory = 1;
    p->concurrentManagedAccess = p->computePreemptionSupported = 1;
    p->canUseHostPointerForRegisteredMem = p->hostRegisterSupported = 1;
    p->concurrentKernels = p->cooperativeLaunch = 1;
    p->streamPrioritiesSupported = p->memoryPoolsSupported = 1;
    p->asyncEngineCount = 3;
    p->memoryBusWidth = BUS_BITS;
    p->l2CacheSize = L2_BYTES;
    p->maxThreadsPerMultiProcessor = PKB_SM_THREADS;
    p->maxBlocksPerMultiProcessor = PKB_SM_BLOCKS;
    p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->pciDomainID = 0;
    p->pciBusID = 1;
    return cudaSuccess;
}

/* Those that are neither a number of interest nor 0 in truth are answered with 0 all the same. */
static const struct {
    enum cudaDeviceAttr name;
    int value;
} attributes[] = {
    {cudaDevAttrMaxThreadsPerBlock, 1024},
    {cudaDevAttrMaxBlockDimX, 1024},
    {cudaDevAttrMaxBlockDimY, 1024},
    {cudaDevAttrMaxBlockDimZ, 64},
    {cudaDevAttrMaxGridDimX, 0x7fffffff},
    {cudaDevAttrMaxGridDimY, 65535},
    {cudaDevAttrMaxGridDimZ, 65535},
    {cudaDevAttrMaxSharedMemoryPerBlock, PKB_BLOCK_SHARED_BYTES},
    {cudaDevAttrTotalConstantMemory, 65536},
    {cudaDevAttrWarpSize, 32},
    {cudaDevAttrMaxPitch, 0x7fffffff},
    {cudaDevAttrMaxRegistersPerBlock, PKB_SM_REGISTERS},
    {cudaDevAttrClockRate, CLOCK_KHZ},
    {cudaDevAttrTextureAlignment, 512},
    {cudaDevAttrGpuOverlap, 1},
    {cudaDevAttrMultiProcessorCount, PKB_SM_COUNT},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrPciBusId, 1},
    {cudaDevAttrMemoryClockRate, MEMORY_CLOCK_KHZ},
    {cudaDevAttrGlobalMemoryBusWidth, BUS_BITS},
    {cudaDevAttrL2CacheSize, L2_BYTES},
    {cudaDevAttrMaxThreadsPerMultiProcessor, PKB_SM_THREADS},
    {cudaDevAttrAsyncEngineCount, 3},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrComputeCapabilityMajor, 9},
    {cudaDevAttrComputeCapabilityMinor, 0},
    {cudaDevAttrStreamPrioritiesSupported, 1},
    {cudaDevAttrGlobalL1CacheSupported, 1},
    {cudaDevAttrLocalL1CacheSupported, 1},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, PKB_SM_SHARED_BYTES},
    {cudaDevAttrMaxRegistersPerMultiprocessor, PKB_SM_REGISTERS},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
    {cudaDevAttrConcurrentManagedAccess, 1},
    {cudaDevAttrComputePreemptionSupported, 1},
    {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
    {cudaDevAttrCooperativeLaunch, 1},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, PKB_BLOCK_SHARED_OPTIN_BYTES},
    {cudaDevAttrHostRegisterSupported, 1},
    {cudaDevAttrMaxBlocksPerMultiprocessor, PKB_SM_BLOCKS},
    {cudaDevAttrReservedSharedMemoryPerBlock, PKB_BLOCK_SHARED_RESERVED_BYTES},
    {cudaDevAttrMemoryPoolsSupported, 1},
};

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    if (device != 0)
        return pkb_api_note(cudaErrorInvalidDevice);
    if (value == NULL || attribute <= 0 || attribute >= cudaDevAttrMax)
        return pkb_api_note(cudaErrorInvalidValue);
    *value = 0;
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
        if (attributes[i].name == attribute)
            *value = attributes[i].value;
    return cudaSuccess;
}
