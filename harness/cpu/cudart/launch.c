/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernel launches. What a GPU refuses is refused, with the reason for pkb_cpu_last_fault.
 */
#include "harness/cpu/cudart/launch.h"

#include "harness/cpu/cudart/occupancy.h"
#include "harness/cpu/cudart/stream.h"
#include "harness/cpu/device/fault.h"
#include "harness/cpu/device/window.h"

#include <stdlib.h>
#include <string.h>

enum { CALL_DEPTH = 16, GRID_YZ_MAX = 65535, BLOCK_Z_MAX = 64 };

#define REFUSE(kernel, error, ...) \
    (pkb_fault_record_host(PKB_CPU_FAULT_LAUNCH, (error), (kernel)->name, __VA_ARGS__), (error))

static cudaError_t check_shape(const pkb_kernel *kernel, const pkb_launch_request *r)
{
    uint64_t threads = (uint64_t)r->block.x * r->block.y * r->block.z;
    uint32_t most = kernel->info->max_threads;

    /* All are invalid values on a GPU with CUDA 13, where older ones say invalid configuration. */
    if (r->grid.x == 0 || r->grid.y == 0 || r->grid.z == 0 || threads == 0)
        return REFUSE(kernel, cudaErrorInvalidValue, "a grid or block dimension is 0");
    if (r->grid.x > 0x7fffffffu || r->grid.y > GRID_YZ_MAX || r->grid.z > GRID_YZ_MAX)
        return REFUSE(kernel, cudaErrorInvalidValue, "grid of %u x %u x %u blocks", r->grid.x,
                      r->grid.y, r->grid.z);
    if (threads > 1024 || r->block.z > BLOCK_Z_MAX)
        return REFUSE(kernel, cudaErrorInvalidValue, "block of %u x %u x %u threads", r->block.x,
                      r->block.y, r->block.z);
    if (most != 0 && threads > most)
        return REFUSE(kernel, cudaErrorInvalidValue,
                      "block of %llu threads, but launch bounds allow %u",
                      (unsigned long long)threads, most);
    return cudaSuccess;
}

static cudaError_t check_shared(const pkb_kernel *kernel, const pkb_launch_request *r)
{
    uint32_t fixed = kernel->info->static_shared_bytes;

    if (r->shared_bytes > kernel->max_dynamic_shared &&
        r->shared_bytes + fixed > PKB_BLOCK_SHARED_BYTES)
        return REFUSE(
            kernel, cudaErrorInvalidValue,
            "%zu bytes of dynamic shared memory, allowed are %u: see cudaFuncSetAttribute",
            r->shared_bytes, kernel->max_dynamic_shared);
    if (r->shared_bytes + fixed > PKB_BLOCK_SHARED_OPTIN_BYTES)
        return REFUSE(kernel, cudaErrorInvalidValue,
                      "%zu bytes of shared memory, a block has %d at most", r->shared_bytes + fixed,
                      PKB_BLOCK_SHARED_OPTIN_BYTES);
    return cudaSuccess;
}

static uint64_t resident_blocks(const pkb_kernel *kernel, const pkb_launch_request *r)
{
    uint32_t threads = r->block.x * r->block.y * r->block.z;
    uint32_t each = pkb_occupancy_blocks(kernel->info, threads, r->shared_bytes);

    return (uint64_t)(each == 0 ? 1 : each) * PKB_SM_COUNT;
}

static cudaError_t check(const pkb_kernel *kernel, const pkb_launch_request *r)
{
    cudaError_t rc = check_shape(kernel, r);

    if (rc == cudaSuccess)
        rc = check_shared(kernel, r);
    if (rc != cudaSuccess)
        return rc;
    uint64_t blocks = (uint64_t)r->grid.x * r->grid.y * r->grid.z;
    if (r->is_cooperative && blocks > resident_blocks(kernel, r))
        return REFUSE(kernel, cudaErrorCooperativeLaunchTooLarge,
                      "cooperative grid of %llu blocks, %llu can be resident",
                      (unsigned long long)blocks, (unsigned long long)resident_blocks(kernel, r));
    const uint32_t *fixed = kernel->info->cluster;
    uint64_t in_cluster = (uint64_t)r->cluster.x * r->cluster.y * r->cluster.z;
    if (in_cluster > 1 || (uint64_t)fixed[0] * fixed[1] * fixed[2] > 1) {
        pkb_fault_record_host(PKB_CPU_FAULT_UNSUPPORTED, cudaErrorNotSupported, kernel->name,
                              "the CPU device does not support clusters of more than one block");
        return cudaErrorNotSupported;
    }
    return cudaSuccess;
}

static pkb_op *make(const pkb_kernel *kernel, const pkb_launch_request *r)
{
    const pkb_kernel_info *info = kernel->info;
    pkb_op *op = pkb_op_create(PKB_OP_KERNEL);
    uint8_t *params = calloc(1, info->param_bytes + 1);

    if (op == NULL || params == NULL) {
        pkb_op_free(op);
        free(params);
        return NULL;
    }
    for (uint32_t i = 0; i < info->param_count; i++)
        memcpy(params + info->params[i].offset, r->arguments[i], info->params[i].bytes);
    op->as.kernel.params = params;
    op->as.kernel.launch = (pkb_launch){
        .kernel = info,
        .module = kernel->module->info,
        .grid = {r->grid.x, r->grid.y, r->grid.z},
        .block = {r->block.x, r->block.y, r->block.z},
        .dynamic_shared_bytes = (uint32_t)r->shared_bytes,
        .resident_limit = resident_blocks(kernel, r),
        .params = params,
    };
    return op;
}

cudaError_t pkb_launch_make(const pkb_launch_request *request, pkb_op **out)
{
    const pkb_kernel *kernel = pkb_kernel_find(request->function);

    if (kernel == NULL)
        return cudaErrorInvalidDeviceFunction;
    if (kernel->module->info == NULL)
        return REFUSE(kernel, cudaErrorNoKernelImageForDevice, "no device code could be loaded: %s",
                      kernel->module->failure);
    if (kernel->info == NULL)
        return REFUSE(kernel, cudaErrorNoKernelImageForDevice, "the device module %s lacks it",
                      kernel->module->path);
    cudaError_t rc = check(kernel, request);
    if (rc != cudaSuccess)
        return rc;
    *out = make(kernel, request);
    return *out != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* ---- the API ---- */

static cudaError_t launch(const pkb_launch_request *request, cudaStream_t handle)
{
    cudaError_t rc = pkb_api_enter();
    pkb_stream *stream = NULL;
    pkb_op *op = NULL;

    if (rc == cudaSuccess) {
        stream = pkb_stream_find(handle);
        rc = stream == NULL ? cudaErrorInvalidResourceHandle : pkb_launch_make(request, &op);
    }
    if (rc == cudaSuccess)
        rc = pkb_stream_submit(stream, op);
    return pkb_api_leave(rc);
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream)
{
    pkb_launch_request request = {.function = function,
                                  .grid = grid,
                                  .block = block,
                                  .arguments = arguments,
                                  .shared_bytes = shared_bytes};
    return launch(&request, stream);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared_bytes, cudaStream_t stream)
{
    return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                        void **arguments, size_t shared_bytes, cudaStream_t stream)
{
    pkb_launch_request request = {.function = function,
                                  .grid = grid,
                                  .block = block,
                                  .arguments = arguments,
                                  .shared_bytes = shared_bytes,
                                  .is_cooperative = true};
    return launch(&request, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                void **arguments)
{
    pkb_launch_request request = {.function = function,
                                  .grid = config->gridDim,
                                  .block = config->blockDim,
                                  .arguments = arguments,
                                  .shared_bytes = config->dynamicSmemBytes};

    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *a = &config->attrs[i];
        if (a->id == cudaLaunchAttributeCooperative)
            request.is_cooperative = a->val.cooperative != 0;
        else if (a->id == cudaLaunchAttributeClusterDimension)
            request.cluster = (dim3){a->val.clusterDim.x, a->val.clusterDim.y, a->val.clusterDim.z};
    }
    return launch(&request, config->stream);
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host_function)
{
    cudaError_t rc = pkb_api_enter();
    pkb_kernel *found = pkb_kernel_find(host_function);

    if (rc == cudaSuccess && found == NULL)
        rc = cudaErrorInvalidDeviceFunction;
    *kernel = (cudaKernel_t)(void *)found;
    return pkb_api_leave(rc);
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *host_function)
{
    return __cudaGetKernel(kernel, host_function);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol)
{
    return __cudaGetKernel((cudaKernel_t *)(void *)function, symbol);
}

/* `<<<...>>>` pushes; the stub of the kernel pops. */
typedef struct call_configuration {
    dim3 grid, block;
    size_t shared_bytes;
    void *stream;
} call_configuration;

static _Thread_local call_configuration calls[CALL_DEPTH]
    __attribute__((tls_model("initial-exec")));
static _Thread_local unsigned call_count __attribute__((tls_model("initial-exec")));

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                     struct CUstream_st *stream)
{
    if (call_count == CALL_DEPTH)
        return 1;
    calls[call_count++] = (call_configuration){grid, block, shared_bytes, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
    if (call_count == 0)
        return pkb_api_note(cudaErrorMissingConfiguration);
    const call_configuration *call = &calls[--call_count];
    *grid = call->grid;
    *block = call->block;
    *shared_bytes = call->shared_bytes;
    *(void **)stream = call->stream;
    return cudaSuccess;
}
