/* SPDX-License-Identifier: Apache-2.0
 *
 * What an ordinary attempt may ask of the CUDA runtime, all at once, and what none should do:
 * test_cuda_cell chooses by the scalar `mode`. pkb_run returns 0, or 1000 x step + CUDA error.
 */
#include <cooperative_groups.h>
#include <pkbench.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <thread>

struct pkb_args {
    const float *in;
    float *out;
    int64_t mode;
    const int64_t *offsets;
    int64_t n, drawn;
};

enum { TOUR, FORK, SOCKET, HOST_FAULT, MISALIGNED, ASSERT, TRAP, BAD_LAUNCH, HANG };

#define STEP(number, call)                                         \
    do {                                                           \
        cudaError_t step_error = (call);                           \
        if (step_error != cudaSuccess)                             \
            return 1000 * (number) + static_cast<int>(step_error); \
    } while (0)

__global__ void add_one(int *value)
{
    atomicAdd(value, 1);
}

__global__ void speak(int rank)
{
    if (threadIdx.x == 0)
        printf("rank %d speaks\n", rank);
}

__global__ void meet(int *value)
{
    atomicAdd(value, 1);
    cooperative_groups::this_grid().sync();
    if (*static_cast<volatile int *>(value) != static_cast<int>(gridDim.x * blockDim.x))
        __trap();
}

__global__ void use_shared(int *value, int words)
{
    extern __shared__ int shared[];
    for (int i = threadIdx.x; i < words; i += blockDim.x)
        shared[i] = i;
    __syncthreads();
    if (threadIdx.x == 0)
        *value = shared[words - 1];
}

__global__ void use_stack(int *value, int which)
{
    int large[4096];
    for (int i = 0; i < 4096; i++)
        large[(i * 7 + which) % 4096] = i;
    *value = large[which];
}

__global__ void use_heap(int *value)
{
    int *made = static_cast<int *>(malloc(256));
    *value = made != nullptr;
    free(made);
}

__global__ void misbehave(pkb_args args)
{
    if (args.mode == MISALIGNED)
        *reinterpret_cast<volatile float *>(reinterpret_cast<char *>(args.out) + 1) = 1;
    if (args.mode == ASSERT)
        assert(args.n < 0);
    if (args.mode == TRAP)
        __trap();
    while (args.mode == HANG)
        ;
}

static int copy_memory()
{
    enum { BYTES = 16 << 20 };
    int *device = nullptr, *pinned = nullptr;
    void *plain = aligned_alloc(4096, BYTES);

    STEP(2, cudaMalloc(&device, BYTES));
    STEP(3, cudaMallocHost(&pinned, BYTES));
    STEP(4, cudaMemset(device, 1, BYTES));
    STEP(4, cudaMemcpy(pinned, device, BYTES, cudaMemcpyDeviceToHost));
    if (pinned[BYTES / 4 - 1] != 0x01010101)
        return 4000;
    STEP(5, cudaHostRegister(plain, BYTES, cudaHostRegisterDefault));
    STEP(5, cudaMemcpy(plain, device, BYTES, cudaMemcpyDeviceToHost));
    STEP(5, cudaHostUnregister(plain));
    STEP(3, cudaFreeHost(pinned));
    STEP(2, cudaFree(device));
    free(plain);
    return 0;
}

static int use_streams(int *value)
{
    cudaStream_t side;
    cudaEvent_t start, stop;
    float ms = 0;
    int *pooled = nullptr;

    STEP(6, cudaStreamCreateWithPriority(&side, cudaStreamNonBlocking, -1));
    STEP(6, cudaEventCreate(&start));
    STEP(6, cudaEventCreate(&stop));
    STEP(6, cudaEventRecord(start, side));
    add_one<<<1, 1, 0, side>>>(value);
    STEP(6, cudaEventRecord(stop, side));
    STEP(6, cudaEventSynchronize(stop));
    STEP(6, cudaEventElapsedTime(&ms, start, stop));
    STEP(7, cudaMallocAsync(&pooled, 1 << 20, side));
    STEP(7, cudaFreeAsync(pooled, side));
    STEP(7, cudaStreamSynchronize(side));
    STEP(6, cudaEventDestroy(start));
    STEP(6, cudaEventDestroy(stop));
    STEP(6, cudaStreamDestroy(side));
    return 0;
}

static int use_graph(int *value)
{
    cudaStream_t side;
    cudaGraph_t graph;
    cudaGraphExec_t ready;

    STEP(8, cudaStreamCreate(&side));
    STEP(8, cudaStreamBeginCapture(side, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 10; i++)
        add_one<<<1, 1, 0, side>>>(value);
    STEP(8, cudaStreamEndCapture(side, &graph));
    STEP(8, cudaGraphInstantiate(&ready, graph, 0));
    STEP(8, cudaGraphLaunch(ready, side));
    STEP(8, cudaStreamSynchronize(side));
    STEP(8, cudaGraphExecDestroy(ready));
    STEP(8, cudaGraphDestroy(graph));
    STEP(8, cudaStreamDestroy(side));
    return 0;
}

static int launch_all_kinds(int rank, int *value)
{
    const int shared_bytes = 100 << 10;
    void *arguments[] = {&value};

    STEP(9, cudaMemset(value, 0, sizeof *value));
    STEP(9, cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(meet), 64, 128, arguments, 0,
                                        nullptr));
    STEP(9, cudaDeviceSynchronize());
    STEP(10, cudaFuncSetAttribute(use_shared, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  shared_bytes));
    use_shared<<<1, 256, shared_bytes>>>(value, shared_bytes / 4);
    STEP(10, cudaDeviceSynchronize());
    use_stack<<<64, 256>>>(value, 17);
    STEP(11, cudaDeviceSynchronize());
    use_heap<<<1, 32>>>(value);
    STEP(12, cudaDeviceSynchronize());
    speak<<<1, 32>>>(rank);
    STEP(13, cudaDeviceSynchronize());
    return 0;
}

static void CUDART_CB on_host(void *flag)
{
    *static_cast<int *>(flag) = 1;
}

static int use_threads(int *value)
{
    cudaError_t error = cudaSuccess;
    int flag = 0;
    std::thread worker([&] {
        add_one<<<1, 1>>>(value);
        error = cudaDeviceSynchronize();
    });

    worker.join();
    STEP(14, error);
    STEP(15, cudaLaunchHostFunc(nullptr, on_host, &flag));
    STEP(15, cudaDeviceSynchronize());
    return flag == 1 ? 0 : 15000;
}

static int tour(pkb_world *world)
{
    int count = 0, *value = nullptr;

    STEP(1, cudaGetDeviceCount(&count));
    if (count != pkb_world_size(world))
        return 1000 + count;
    STEP(1, cudaMalloc(&value, sizeof *value));
    int failed = copy_memory();
    if (failed == 0)
        failed = use_streams(value);
    if (failed == 0)
        failed = use_graph(value);
    if (failed == 0)
        failed = launch_all_kinds(pkb_rank(world), value);
    if (failed == 0)
        failed = use_threads(value);
    STEP(16, cudaFree(value));
    return failed;
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *, cudaStream_t stream)
{
    switch (args->mode) {
    case TOUR:
        return tour(world);
    case FORK:
        return fork() == 0;
    case SOCKET:
        return socket(AF_UNIX, SOCK_STREAM, 0) < 0;
    case HOST_FAULT:
        return args->in[1] > 0;
    case BAD_LAUNCH:
        misbehave<<<1, 4096, 0, stream>>>(*args);
        return cudaGetLastError();
    default:
        misbehave<<<1, 1, 0, stream>>>(*args);
        return 0;
    }
}
