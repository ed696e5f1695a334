/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA runtime API as the toolkit declares it, and the entry points that only nvcc's own host
 * code calls. Everything declared here is exported.
 */
#ifndef PKB_CPU_CUDART_API_H
#define PKB_CPU_CUDART_API_H

#pragma GCC visibility push(default)

#include <cuda_runtime_api.h>

/* Registration, from constructors of the host part. */
void **__cudaRegisterFatBinary(void *fat_binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host_function, char *device_function,
                            const char *device_name, int thread_limit, uint3 *tid, uint3 *bid,
                            dim3 *block_dim, dim3 *grid_dim, int *warp_size);
void __cudaRegisterVar(void **handle, char *host_variable, char *device_address,
                       const char *device_name, int is_extern, size_t bytes, int is_constant,
                       int is_global);
void __cudaRegisterManagedVar(void **handle, void **host_pointer, char *device_address,
                              const char *device_name, int is_extern, size_t bytes, int is_constant,
                              int is_global);
void __cudaRegisterHostVar(void **handle, const char *device_name, char *host_variable,
                           size_t bytes);
char __cudaInitModule(void **handle);

/* Launches, from the stubs of kernels. */
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                     struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host_function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared_bytes, cudaStream_t stream);

#pragma GCC visibility pop

#endif
