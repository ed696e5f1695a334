/* SPDX-License-Identifier: Apache-2.0
 *
 * Occupancy and function attributes.
 */
#include "harness/cpu/cudart/occupancy.h"

#include "harness/cpu/device/fault.h"

#include <string.h>

enum { ASSUMED_REGISTERS = 64, REGISTER_UNIT = 8, MAX_REGISTERS = 255, WARP = 32 };

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t pkb_occupancy_registers(const pkb_kernel_info *info)
{
    uint32_t registers = ASSUMED_REGISTERS;

    if (info->max_threads > 0) {
        uint32_t blocks = info->min_blocks > 0 ? info->min_blocks : 1;
        uint32_t most = PKB_SM_REGISTERS / (info->max_threads * blocks);
        registers = smaller(registers, most < REGISTER_UNIT ? REGISTER_UNIT : most);
    }
    if (info->max_registers > 0)
        registers = smaller(registers, info->max_registers);
    return smaller(registers / REGISTER_UNIT * REGISTER_UNIT, MAX_REGISTERS);
}

uint32_t pkb_occupancy_blocks(const pkb_kernel_info *info, uint32_t threads, size_t dynamic_bytes)
{
    if (threads == 0 || threads > 1024)
        return 0;
    uint32_t warps = (threads + WARP - 1) / WARP;
    size_t shared = info->static_shared_bytes + dynamic_bytes;
    if (shared > PKB_BLOCK_SHARED_OPTIN_BYTES)
        return 0;
    uint32_t by_threads = PKB_SM_THREADS / (warps * WARP);
    uint32_t by_shared = PKB_SM_SHARED_BYTES / (uint32_t)(shared + PKB_BLOCK_SHARED_RESERVED_BYTES);
    uint32_t by_registers = PKB_SM_REGISTERS / (pkb_occupancy_registers(info) * warps * WARP);
    return smaller(smaller(by_threads, by_shared), smaller(by_registers, PKB_SM_BLOCKS));
}

static cudaError_t occupancy(int *blocks, const void *function, int threads, size_t dynamic_bytes)
{
    const pkb_kernel *kernel = pkb_kernel_find(function);

    if (kernel == NULL || kernel->info == NULL)
        return cudaErrorInvalidDeviceFunction;
    if (blocks == NULL || threads <= 0)
        return cudaErrorInvalidValue;
    *blocks = (int)pkb_occupancy_blocks(kernel->info, (uint32_t)threads, dynamic_bytes);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int threads, size_t dynamic_bytes)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = occupancy(blocks, function, threads, dynamic_bytes);
    return pkb_api_leave(rc);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *function, int threads, size_t dynamic_bytes, unsigned flags)
{
    (void)flags;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_bytes);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function,
                                                      int blocks, int threads)
{
    cudaError_t rc = pkb_api_enter();
    const pkb_kernel *kernel = rc == cudaSuccess ? pkb_kernel_find(function) : NULL;

    if (rc == cudaSuccess && (kernel == NULL || kernel->info == NULL))
        rc = cudaErrorInvalidDeviceFunction;
    if (rc == cudaSuccess && (bytes == NULL || blocks <= 0 || threads <= 0))
        rc = cudaErrorInvalidValue;
    if (rc == cudaSuccess) {
        int64_t each = PKB_SM_SHARED_BYTES / blocks - PKB_BLOCK_SHARED_RESERVED_BYTES -
                       (int64_t)kernel->info->static_shared_bytes;
        *bytes = each < 0 ? 0 : (size_t)each;
    }
    return pkb_api_leave(rc);
}

/* ---- function attributes ---- */

static cudaError_t get_attributes(struct cudaFuncAttributes *out, const void *function)
{
    const pkb_kernel *kernel = pkb_kernel_find(function);

    if (kernel == NULL || kernel->info == NULL)
        return cudaErrorInvalidDeviceFunction;
    memset(out, 0, sizeof *out);
    const pkb_kernel_info *info = kernel->info;
    out->sharedSizeBytes = info->static_shared_bytes;
    out->localSizeBytes = info->stack_bytes;
    out->maxThreadsPerBlock = info->max_threads > 0 ? (int)info->max_threads : 1024;
    out->numRegs = (int)pkb_occupancy_registers(info);
    out->ptxVersion = out->binaryVersion = 90;
    out->maxDynamicSharedSizeBytes = (int)kernel->max_dynamic_shared;
    out->preferredShmemCarveout = -1;
    out->clusterDimMustBeSet = info->cluster[0] != 0;
    out->requiredClusterWidth = (int)info->cluster[0];
    out->requiredClusterHeight = (int)info->cluster[1];
    out->requiredClusterDepth = (int)info->cluster[2];
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *function)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = get_attributes(out, function);
    return pkb_api_leave(rc);
}

static cudaError_t set_attribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
    pkb_kernel *kernel = pkb_kernel_find(function);

    if (kernel == NULL || kernel->info == NULL)
        return cudaErrorInvalidDeviceFunction;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return cudaSuccess;
    int most = PKB_BLOCK_SHARED_OPTIN_BYTES - (int)kernel->info->static_shared_bytes;
    if (value < 0 || value > most) {
        pkb_fault_record_host(
            PKB_CPU_FAULT_LAUNCH, cudaErrorInvalidValue, kernel->name,
            "%d bytes of dynamic shared memory asked for, at most %d are possible", value, most);
        return cudaErrorInvalidValue;
    }
    kernel->max_dynamic_shared = (uint32_t)value;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
    cudaError_t rc = pkb_api_enter();
    if (rc == cudaSuccess)
        rc = set_attribute(function, attribute, value);
    return pkb_api_leave(rc);
}

cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config)
{
    (void)function, (void)config;
    return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char **name, const void *function)
{
    cudaError_t rc = pkb_api_enter();
    const pkb_kernel *kernel = rc == cudaSuccess ? pkb_kernel_find(function) : NULL;

    if (rc == cudaSuccess && kernel == NULL)
        rc = cudaErrorInvalidDeviceFunction;
    if (rc == cudaSuccess)
        *name = kernel->name;
    return pkb_api_leave(rc);
}

cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *bytes)
{
    cudaError_t rc = pkb_api_enter();
    const pkb_kernel *kernel = rc == cudaSuccess ? pkb_kernel_find(function) : NULL;

    if (rc == cudaSuccess && (kernel == NULL || kernel->info == NULL))
        rc = cudaErrorInvalidDeviceFunction;
    if (rc == cudaSuccess && index >= kernel->info->param_count)
        rc = cudaErrorInvalidValue;
    if (rc == cudaSuccess) {
        *offset = kernel->info->params[index].offset;
        if (bytes != NULL)
            *bytes = kernel->info->params[index].bytes;
    }
    return pkb_api_leave(rc);
}
