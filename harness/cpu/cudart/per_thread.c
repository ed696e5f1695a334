/* SPDX-License-Identifier: Apache-2.0
 *
 * The variants that a program compiled with --default-stream per-thread calls: stream 0 is the
 * calling thread's own.
 */
#include "harness/cpu/cudart/api.h"

#pragma GCC visibility push(default)

#define OWN(stream) ((stream) == NULL ? cudaStreamPerThread : (stream))

#define PER_THREAD(name, parameters, arguments) \
    cudaError_t name##_ptsz parameters;         \
    cudaError_t name##_ptsz parameters          \
    {                                           \
        return name arguments;                  \
    }

PER_THREAD(cudaLaunchKernel,
           (const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
            cudaStream_t stream),
           (function, grid, block, arguments, shared_bytes, OWN(stream)))
PER_THREAD(__cudaLaunchKernel,
           (cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
            cudaStream_t stream),
           (kernel, grid, block, arguments, shared_bytes, OWN(stream)))
PER_THREAD(cudaLaunchCooperativeKernel,
           (const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
            cudaStream_t stream),
           (function, grid, block, arguments, shared_bytes, OWN(stream)))
PER_THREAD(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void *argument),
           (OWN(stream), function, argument))

PER_THREAD(cudaMemcpyAsync,
           (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
            cudaStream_t stream),
           (to, from, bytes, kind, OWN(stream)))
PER_THREAD(cudaMemcpy2DAsync,
           (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
            size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
           (to, to_pitch, from, from_pitch, width, height, kind, OWN(stream)))
PER_THREAD(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t stream),
           (p, OWN(stream)))
PER_THREAD(cudaMemcpyToSymbolAsync,
           (const void *symbol, const void *from, size_t bytes, size_t offset,
            enum cudaMemcpyKind kind, cudaStream_t stream),
           (symbol, from, bytes, offset, kind, OWN(stream)))
PER_THREAD(cudaMemcpyFromSymbolAsync,
           (void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
            cudaStream_t stream),
           (to, symbol, bytes, offset, kind, OWN(stream)))
PER_THREAD(cudaMemsetAsync, (void *to, int value, size_t bytes, cudaStream_t stream),
           (to, value, bytes, OWN(stream)))
PER_THREAD(cudaMemset2DAsync,
           (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
           (to, pitch, value, width, height, OWN(stream)))
PER_THREAD(cudaMemset3DAsync,
           (struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream),
           (to, value, extent, OWN(stream)))
PER_THREAD(cudaMallocAsync, (void **out, size_t bytes, cudaStream_t stream),
           (out, bytes, OWN(stream)))
PER_THREAD(cudaMallocFromPoolAsync,
           (void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
           (out, bytes, pool, OWN(stream)))
PER_THREAD(cudaFreeAsync, (void *pointer, cudaStream_t stream), (pointer, OWN(stream)))
PER_THREAD(cudaMemPrefetchAsync,
           (const void *pointer, size_t bytes, struct cudaMemLocation location, unsigned flags,
            cudaStream_t stream),
           (pointer, bytes, location, flags, OWN(stream)))

PER_THREAD(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, OWN(stream)))
PER_THREAD(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
           (event, OWN(stream), flags))
PER_THREAD(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
           (OWN(stream), event, flags))
PER_THREAD(cudaStreamSynchronize, (cudaStream_t stream), (OWN(stream)))
PER_THREAD(cudaStreamQuery, (cudaStream_t stream), (OWN(stream)))
PER_THREAD(cudaStreamGetFlags, (cudaStream_t stream, unsigned *flags), (OWN(stream), flags))
PER_THREAD(cudaStreamGetPriority, (cudaStream_t stream, int *priority), (OWN(stream), priority))
PER_THREAD(cudaStreamGetId, (cudaStream_t stream, unsigned long long *id), (OWN(stream), id))
PER_THREAD(cudaStreamGetDevice, (cudaStream_t stream, int *device), (OWN(stream), device))
PER_THREAD(cudaStreamAttachMemAsync,
           (cudaStream_t stream, void *memory, size_t bytes, unsigned flags),
           (OWN(stream), memory, bytes, flags))
PER_THREAD(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
           (OWN(stream), mode))
PER_THREAD(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph), (OWN(stream), graph))
PER_THREAD(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *status),
           (OWN(stream), status))
PER_THREAD(cudaStreamGetCaptureInfo,
           (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
            cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
            const cudaGraphEdgeData **edges, size_t *dependency_count),
           (OWN(stream), status, id, graph, dependencies, edges, dependency_count))
PER_THREAD(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), (exec, OWN(stream)))
PER_THREAD(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream), (exec, OWN(stream)))
PER_THREAD(cudaGraphInstantiateWithParams,
           (cudaGraphExec_t * out, cudaGraph_t graph, cudaGraphInstantiateParams *params),
           (out, graph, params))
PER_THREAD(cudaGetDriverEntryPointByVersion,
           (const char *symbol, void **function, unsigned version, unsigned long long flags,
            enum cudaDriverEntryPointQueryResult *result),
           (symbol, function, version, flags, result))

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function,
                                     void **arguments);
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function,
                                     void **arguments)
{
    cudaLaunchConfig_t own = *config;

    own.stream = OWN(config->stream);
    return cudaLaunchKernelExC(&own, function, arguments);
}

/* ---- synchronous calls: they too go to the thread's own stream ---- */

#define PER_THREAD_SYNC(name, parameters, async)                         \
    cudaError_t name##_ptds parameters;                                  \
    cudaError_t name##_ptds parameters                                   \
    {                                                                    \
        cudaError_t rc = async;                                          \
        cudaError_t waited = cudaStreamSynchronize(cudaStreamPerThread); \
        return rc != cudaSuccess ? rc : waited;                          \
    }

PER_THREAD_SYNC(cudaMemcpy, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind),
                cudaMemcpyAsync(to, from, bytes, kind, cudaStreamPerThread))
PER_THREAD_SYNC(cudaMemcpy2D,
                (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                 size_t height, enum cudaMemcpyKind kind),
                cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind,
                                  cudaStreamPerThread))
PER_THREAD_SYNC(cudaMemcpy3D, (const struct cudaMemcpy3DParms *p),
                cudaMemcpy3DAsync(p, cudaStreamPerThread))
PER_THREAD_SYNC(cudaMemcpyToSymbol,
                (const void *symbol, const void *from, size_t bytes, size_t offset,
                 enum cudaMemcpyKind kind),
                cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, cudaStreamPerThread))
PER_THREAD_SYNC(cudaMemcpyFromSymbol,
                (void *to, const void *symbol, size_t bytes, size_t offset,
                 enum cudaMemcpyKind kind),
                cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, cudaStreamPerThread))
PER_THREAD_SYNC(cudaMemset, (void *to, int value, size_t bytes),
                cudaMemsetAsync(to, value, bytes, cudaStreamPerThread))
PER_THREAD_SYNC(cudaMemset2D, (void *to, size_t pitch, int value, size_t width, size_t height),
                cudaMemset2DAsync(to, pitch, value, width, height, cudaStreamPerThread))
PER_THREAD_SYNC(cudaMemset3D, (struct cudaPitchedPtr to, int value, struct cudaExtent extent),
                cudaMemset3DAsync(to, value, extent, cudaStreamPerThread))

#pragma GCC visibility pop
