/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that only advise a GPU and have no effect here, and questions with a fixed answer.
 */
#include "harness/cpu/cudart/stream.h"

#include <stdlib.h>
#include <string.h>

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue *value)
{
    (void)stream, (void)attribute, (void)value;
    return cudaSuccess;
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue *value)
{
    (void)stream, (void)attribute;
    memset(value, 0, sizeof *value);
    return cudaSuccess;
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    (void)to, (void)from;
    return cudaSuccess;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    (void)config;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

cudaError_t cudaFuncSetSharedMemConfig(const void *function, enum cudaSharedMemConfig config)
{
    (void)function, (void)config;
    return cudaSuccess;
}
#pragma GCC diagnostic pop

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    (void)pool;
    if (attribute <= cudaMemPoolReuseAllowInternalDependencies)
        *(int *)value = 1;
    else
        *(uint64_t *)value = 0;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list,
                                 size_t count)
{
    (void)pool, (void)list, (void)count;
    return cudaSuccess;
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
                                     enum cudaMemAllocationType type)
{
    (void)location, (void)type;
    return cudaDeviceGetDefaultMemPool(pool, 0);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                      int to)
{
    (void)attribute, (void)from, (void)to;
    *value = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(enum cudaFlushGPUDirectRDMAWritesTarget target,
                                               enum cudaFlushGPUDirectRDMAWritesScope scope)
{
    (void)target, (void)scope;
    return cudaSuccess;
}

/* ---- the older form of a host function ---- */

typedef struct callback {
    cudaStreamCallback_t function;
    cudaStream_t stream;
    void *argument;
} callback;

static void call(void *argument)
{
    callback c = *(callback *)argument;

    free(argument);
    c.function(c.stream, cudaSuccess, c.argument);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function,
                                  void *argument, unsigned flags)
{
    callback *c = malloc(sizeof *c);

    if (c == NULL || function == NULL || flags != 0) {
        free(c);
        return pkb_api_note(c == NULL ? cudaErrorMemoryAllocation : cudaErrorInvalidValue);
    }
    *c = (callback){function, stream, argument};
    return cudaLaunchHostFunc(stream, call, c);
}
