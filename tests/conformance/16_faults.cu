// SPDX-License-Identifier: Apache-2.0
// What must fail, and with which CUDA error.
#include "check.cuh"

#include <csignal>

// Runs a kernel that must fail with `code`, and again to see that the error is sticky.
#define EXPECT_FAULT(launch, code)                  \
    do {                                            \
        launch;                                     \
        EXPECT_CODE(cudaDeviceSynchronize(), code); \
        EXPECT_CODE(cudaDeviceSynchronize(), code); \
        EXPECT_CODE(cudaGetLastError(), code);      \
    } while (0)

static int *device_memory(size_t bytes)
{
    int *p = nullptr;
    EXPECT_OK(cudaMalloc(&p, bytes));
    return p;
}

__global__ void half_waits(int *out)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 2, 64;" ::: "memory");
    *out = 1;
}

static void deadlock_between_barriers()
{
    EXPECT_FAULT((half_waits<<<1, 64>>>(device_memory(4))), cudaErrorLaunchTimeout);
}

__global__ void missing_lane(int *out)
{
    if (threadIdx.x != 7)
        out[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 0);
    else
        __syncthreads();
}

static void deadlock_of_a_lane()
{
    EXPECT_FAULT((missing_lane<<<1, 32>>>(device_memory(128))), cudaErrorLaunchTimeout);
}

__global__ void outside_mask(int *out)
{
    out[threadIdx.x] = __shfl_sync(0xffff, threadIdx.x, 0);
}

static void lane_outside_its_mask()
{
    EXPECT_FAULT((outside_mask<<<1, 32>>>(device_memory(128))), cudaErrorLaunchFailure);
}

__global__ void write_at(int *out, long long index)
{
    out[index] = 1;
}

static void write_far_outside()
{
    EXPECT_FAULT((write_at<<<1, 1>>>(device_memory(4096), 1 << 28)), cudaErrorIllegalAddress);
}

static void write_just_behind()
{
    EXPECT_FAULT((write_at<<<1, 1>>>(device_memory(4096), 1024)), cudaErrorIllegalAddress);
}

static void write_into_the_red_zone()
{
    EXPECT_FAULT((write_at<<<1, 1>>>(device_memory(100), 25)), cudaErrorIllegalAddress);
}

static void write_to_null()
{
    EXPECT_FAULT((write_at<<<1, 1>>>(nullptr, 0)), cudaErrorIllegalAddress);
}

static void write_after_free()
{
    int *p = device_memory(4096);
    EXPECT_OK(cudaFree(p));
    EXPECT_FAULT((write_at<<<1, 1>>>(p, 0)), cudaErrorIllegalAddress);
}

__global__ void read_misaligned(char *in, int *out)
{
    *out = *reinterpret_cast<int *>(in + 2);
}

static void misaligned_read()
{
    int *p = device_memory(64);
    EXPECT_FAULT((read_misaligned<<<1, 1>>>((char *)p, p)), cudaErrorMisalignedAddress);
}

__global__ void shared_outside(int *out, int index)
{
    __shared__ int array[32];
    array[threadIdx.x] = 1;
    array[index] = 2;
    *out = array[threadIdx.x];
}

static void shared_memory_outside()
{
    EXPECT_FAULT((shared_outside<<<1, 32>>>(device_memory(4), 50)), cudaErrorIllegalAddress);
}

__device__ int deep(volatile int *p, int n)
{
    volatile int local[200];
    local[n % 200] = *p;
    return n == 0 ? local[0] : deep(p, n - 1) + local[n % 200];
}

__global__ void endless(int *out)
{
    *out = deep(out, 1 << 30);
}

static void stack_overflow()
{
    EXPECT_FAULT((endless<<<1, 1>>>(device_memory(4))), cudaErrorIllegalAddress);
}

__global__ void nothing(int *)
{
}
__global__ void __launch_bounds__(128) bounded(int *)
{
}

static void too_many_threads_are_an_invalid_value()
{
    nothing<<<1, 1025>>>(nullptr);
    EXPECT_CODE(cudaGetLastError(), cudaErrorInvalidValue);
    nothing<<<1, dim3(64, 32)>>>(nullptr);
    EXPECT_CODE(cudaGetLastError(), cudaErrorInvalidValue);
}

static void launches_that_are_refused()
{
    nothing<<<0, 32>>>(nullptr);
    EXPECT_CODE(cudaGetLastError(), cudaErrorInvalidValue);
    nothing<<<dim3(1, 65536), 32>>>(nullptr);
    EXPECT_CODE(cudaGetLastError(), cudaErrorInvalidValue);
    nothing<<<1, dim3(1, 1, 65)>>>(nullptr);
    EXPECT_CODE(cudaGetLastError(), cudaErrorInvalidValue);
    nothing<<<1, 32, 49 * 1024>>>(nullptr);
    EXPECT_CODE(cudaGetLastError(), cudaErrorInvalidValue);
    bounded<<<1, 256>>>(nullptr);
    EXPECT_CODE(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_CODE(
        cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024),
        cudaErrorInvalidValue);
    cudaGetLastError();
    // None of these is sticky.
    nothing<<<1, 1024>>>(nullptr);
    EXPECT_OK(cudaDeviceSynchronize());
}

static void cooperative_launch_too_large()
{
    int *p = nullptr;
    void *arguments[] = {&p};
    EXPECT_CODE(
        cudaLaunchCooperativeKernel((void *)nothing, dim3(132 * 32 + 1), dim3(32), arguments, 0, 0),
        cudaErrorCooperativeLaunchTooLarge);
    EXPECT_CODE(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
    EXPECT_OK(cudaLaunchCooperativeKernel((void *)nothing, dim3(132), dim3(32), arguments, 0, 0));
}

// tcgen05 and textures are not there; an instruction of each kind of exotic function must not harm
// kernels that do not execute it.
__global__ void exotic(cudaTextureObject_t texture, float *out, bool use)
{
    if (use)
        *out = tex1Dfetch<float>(texture, 0);
    else
        *out = 3;
}

static void unsupported_but_not_executed()
{
    Array<float> out(1);
    nothing<<<1, 1>>>(nullptr);
    EXPECT_OK(cudaDeviceSynchronize());
}

static void unsupported_and_executed()
{
    float *p = reinterpret_cast<float *>(device_memory(4));
    EXPECT_FAULT((exotic<<<1, 1>>>(0, p, true)), cudaErrorNotSupported);
}

static void copies_are_checked()
{
    int *p = device_memory(400), host[200];

    EXPECT_CODE(cudaMemcpy(p, host, 404, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT_CODE(cudaMemcpy(host, p + 50, 204, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT_CODE(cudaMemcpy(p, host, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT_CODE(cudaMemset(p, 0, 401), cudaErrorInvalidValue);
    EXPECT_CODE(cudaFree(p + 1), cudaErrorInvalidValue);
    EXPECT_CODE(cudaFree(host), cudaErrorInvalidValue);
    EXPECT_CODE(cudaSetDevice(1), cudaErrorInvalidDevice);
    void *q;
    EXPECT_CODE(cudaMalloc(&q, 1ull << 45), cudaErrorMemoryAllocation);
    cudaGetLastError();
    EXPECT_OK(cudaMemcpy(p, host, 400, cudaMemcpyHostToDevice));
    EXPECT_OK(cudaFree(p));
}

static void host_code_cannot_read_device_memory()
{
    int *p = device_memory(4), status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(*(volatile int *)p);
    waitpid(child, &status, 0);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "status %x", status);
}

MAIN(CASE(deadlock_between_barriers), CASE(deadlock_of_a_lane), CASE(lane_outside_its_mask),
     CASE(write_far_outside), CASE(write_just_behind), CASE(write_into_the_red_zone),
     CASE(write_to_null), CASE(write_after_free), CASE(misaligned_read),
     CASE(shared_memory_outside), CASE(stack_overflow), CASE(too_many_threads_are_an_invalid_value),
     CASE(launches_that_are_refused), CASE(cooperative_launch_too_large),
     CASE(unsupported_but_not_executed), CASE(unsupported_and_executed), CASE(copies_are_checked),
     CASE(host_code_cannot_read_device_memory))
