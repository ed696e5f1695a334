// SPDX-License-Identifier: Apache-2.0
// Streams, events, graphs, host functions, occupancy and properties.
#include "check.cuh"

__global__ void add(int *p, int n, int v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += v;
}

__global__ void wait_for(volatile int *flag, int value, int *out)
{
    while (*flag != value)
        ;
    *out += 1;
}

__global__ void set_flag(volatile int *flag, int value)
{
    __threadfence_system();
    *flag = value;
}

static void order_of_one_stream()
{
    const int n = 1000;
    cudaStream_t stream;
    int *host, *device;

    EXPECT_OK(cudaStreamCreate(&stream));
    EXPECT_OK(cudaMallocHost(&host, n * sizeof(int)));
    EXPECT_OK(cudaMallocAsync(&device, n * sizeof(int), stream));
    EXPECT_OK(cudaMemsetAsync(device, 0, n * sizeof(int), stream));
    for (int i = 0; i < 10; i++)
        add<<<4, 256, 0, stream>>>(device, n, i);
    EXPECT_OK(cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    EXPECT_OK(cudaFreeAsync(device, stream));
    EXPECT_OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++)
        EXPECT(host[i] == 45, "element %d is %d", i, host[i]);
    EXPECT_OK(cudaStreamQuery(stream));
    EXPECT_OK(cudaFreeHost(host));
    EXPECT_OK(cudaStreamDestroy(stream));
}

static void stream_that_never_was()
{
    EXPECT_CODE(cudaStreamSynchronize((cudaStream_t)0x1234560), cudaErrorInvalidResourceHandle);
}

static void kernel_waits_for_a_later_stream()
{
    Array<int> flag(1), out(1);
    cudaStream_t a, b;

    EXPECT_OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    EXPECT_OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    wait_for<<<1, 64, 0, a>>>(flag.device, 3, out.device);
    EXPECT_CODE(cudaStreamQuery(a), cudaErrorNotReady);
    set_flag<<<1, 1, 0, b>>>(flag.device, 3);
    EXPECT_OK(cudaStreamSynchronize(a));
    EXPECT_OK(cudaDeviceSynchronize());
    out.down();
    EXPECT(out[0] >= 1, "out is %d", out[0]);
}

static void kernel_waits_for_the_host()
{
    Array<int> out(1);
    volatile int *flag;
    cudaEvent_t done;

    EXPECT_OK(cudaHostAlloc((void **)&flag, 4, cudaHostAllocMapped));
    EXPECT_OK(cudaEventCreate(&done));
    wait_for<<<1, 1>>>(flag, 9, out.device);
    EXPECT_OK(cudaEventRecord(done));
    EXPECT_CODE(cudaEventQuery(done), cudaErrorNotReady);
    *flag = 9;
    EXPECT_OK(cudaEventSynchronize(done));
    out.down();
    EXPECT(out[0] == 1, "out is %d", out[0]);
}

static void events_order_streams()
{
    Array<int> flag(1), data(64), out(1);
    cudaStream_t a, b;
    cudaEvent_t ready;
    int *pinned;

    EXPECT_OK(cudaMallocHost(&pinned, 256));
    EXPECT_OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    EXPECT_OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    EXPECT_OK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    // a is held up; b must not touch the data before a has.
    wait_for<<<1, 1, 0, a>>>(flag.device, 1, out.device);
    add<<<1, 64, 0, a>>>(data.device, 64, 5);
    EXPECT_OK(cudaEventRecord(ready, a));
    EXPECT_OK(cudaStreamWaitEvent(b, ready, 0));
    EXPECT_OK(cudaMemcpyAsync(pinned, data.device, 256, cudaMemcpyDeviceToHost, b));
    EXPECT_CODE(cudaStreamQuery(b), cudaErrorNotReady);
    cudaStream_t c;
    EXPECT_OK(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
    set_flag<<<1, 1, 0, c>>>(flag.device, 1);
    EXPECT_OK(cudaStreamSynchronize(b));
    EXPECT(pinned[0] == 5 && pinned[63] == 5, "data is %d", pinned[0]);
}

static void legacy_stream_waits_for_blocking_streams()
{
    Array<int> flag(1), data(64), out(1);
    cudaStream_t a, side;

    EXPECT_OK(cudaStreamCreate(&a));
    EXPECT_OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    wait_for<<<1, 1, 0, a>>>(flag.device, 1, out.device);
    add<<<1, 64, 0, a>>>(data.device, 64, 2);
    add<<<1, 64>>>(data.device, 64, 1); // behind all of a
    EXPECT_CODE(cudaStreamQuery(0), cudaErrorNotReady);
    set_flag<<<1, 1, 0, side>>>(flag.device, 1);
    EXPECT_OK(cudaStreamSynchronize(0));
    data.down();
    EXPECT(data[0] == 3, "data is %d", data[0]);
}

static void pageable_source_may_change_after_the_call()
{
    Array<int> flag(1), data(16), out(1);
    cudaStream_t a, side;
    int source[16];

    EXPECT_OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    EXPECT_OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    for (int i = 0; i < 16; i++)
        source[i] = i;
    wait_for<<<1, 1, 0, a>>>(flag.device, 1, out.device);
    EXPECT_OK(cudaMemcpyAsync(data.device, source, sizeof source, cudaMemcpyHostToDevice, a));
    memset(source, 0xff, sizeof source);
    set_flag<<<1, 1, 0, side>>>(flag.device, 1);
    EXPECT_OK(cudaStreamSynchronize(a));
    data.down();
    EXPECT(data[15] == 15, "data is %d", data[15]);
}

static void event_times()
{
    Array<int> data(1 << 16);
    cudaEvent_t start, stop, untimed;
    float ms = -1;

    EXPECT_OK(cudaEventCreate(&start));
    EXPECT_OK(cudaEventCreate(&stop));
    EXPECT_OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    EXPECT_OK(cudaEventRecord(start));
    add<<<256, 256>>>(data.device, 1 << 16, 1);
    EXPECT_OK(cudaEventRecord(stop));
    EXPECT_OK(cudaEventSynchronize(stop));
    EXPECT_OK(cudaEventElapsedTime(&ms, start, stop));
    EXPECT(ms > 0 && ms < 10000, "%g ms", ms);
    EXPECT_CODE(cudaEventElapsedTime(&ms, start, untimed), cudaErrorInvalidResourceHandle);
    EXPECT_OK(cudaEventDestroy(start));
    EXPECT_OK(cudaEventDestroy(stop));
}

static void captured_graph_replays()
{
    const int n = 512;
    Array<int> data(n), copy(n);
    cudaStream_t stream, fork_;
    cudaEvent_t forked, joined;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    enum cudaStreamCaptureStatus status;

    EXPECT_OK(cudaStreamCreate(&stream));
    EXPECT_OK(cudaStreamCreate(&fork_));
    EXPECT_OK(cudaEventCreate(&forked));
    EXPECT_OK(cudaEventCreate(&joined));
    EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<2, 256, 0, stream>>>(data.device, n, 1);
    EXPECT_OK(cudaEventRecord(forked, stream));
    EXPECT_OK(cudaStreamWaitEvent(fork_, forked, 0));
    EXPECT_OK(cudaMemcpyAsync(copy.device, data.device, n * 4, cudaMemcpyDeviceToDevice, fork_));
    add<<<2, 256, 0, fork_>>>(copy.device, n, 100);
    EXPECT_OK(cudaEventRecord(joined, fork_));
    EXPECT_OK(cudaStreamWaitEvent(stream, joined, 0));
    add<<<2, 256, 0, stream>>>(data.device, n, 10);
    EXPECT_OK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusActive, "status %d", status);
    EXPECT_OK(cudaStreamEndCapture(stream, &graph));
    data.down();
    EXPECT(data[0] == 0, "capture ran the kernel: %d", data[0]);
    EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_OK(cudaGraphDestroy(graph));
    for (int i = 0; i < 3; i++)
        EXPECT_OK(cudaGraphLaunch(exec, stream));
    EXPECT_OK(cudaStreamSynchronize(stream));
    data.down(), copy.down();
    EXPECT(data[n - 1] == 33, "data is %d", data[n - 1]);
    EXPECT(copy[n - 1] == 123, "copy is %d", copy[n - 1]);
    EXPECT_OK(cudaGraphExecDestroy(exec));
}

// A kernel of one branch waits for a kernel of the other, whichever was captured first.
static void branches_of_a_graph_run_at_once()
{
    Array<int> flag(1), out(1);
    cudaStream_t stream, side;
    cudaEvent_t forked, joined;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    EXPECT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    EXPECT_OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    EXPECT_OK(cudaEventCreate(&forked));
    EXPECT_OK(cudaEventCreate(&joined));
    EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    EXPECT_OK(cudaMemsetAsync(flag.device, 0, 4, stream));
    EXPECT_OK(cudaEventRecord(forked, stream));
    EXPECT_OK(cudaStreamWaitEvent(side, forked, 0));
    wait_for<<<1, 1, 0, stream>>>(flag.device, 8, out.device);
    set_flag<<<1, 1, 0, side>>>(flag.device, 8);
    EXPECT_OK(cudaEventRecord(joined, side));
    EXPECT_OK(cudaStreamWaitEvent(stream, joined, 0));
    add<<<1, 1, 0, stream>>>(out.device, 1, 10);
    EXPECT_OK(cudaStreamEndCapture(stream, &graph));
    EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        EXPECT_OK(cudaGraphLaunch(exec, stream));
    EXPECT_OK(cudaStreamSynchronize(stream));
    out.down();
    EXPECT(out[0] == 33, "out is %d", out[0]);
}

static void capture_errors()
{
    Array<int> data(4);
    cudaStream_t stream, other;
    cudaEvent_t event;
    cudaGraph_t graph;

    EXPECT_OK(cudaStreamCreate(&stream));
    EXPECT_OK(cudaStreamCreate(&other));
    EXPECT_OK(cudaEventCreate(&event));
    EXPECT_CODE(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal),
                cudaErrorStreamCaptureUnsupported);
    EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 4, 0, stream>>>(data.device, 4, 1);
    EXPECT_CODE(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    EXPECT_CODE(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    // A fork that is not joined.
    EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_OK(cudaEventRecord(event, stream));
    EXPECT_OK(cudaStreamWaitEvent(other, event, 0));
    add<<<1, 4, 0, other>>>(data.device, 4, 1);
    EXPECT_CODE(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
    cudaGetLastError();
    add<<<1, 4, 0, stream>>>(data.device, 4, 7);
    EXPECT_OK(cudaStreamSynchronize(stream));
    data.down();
    EXPECT(data[0] == 7, "data is %d", data[0]);
}

static void graph_built_by_hand()
{
    const int n = 100;
    int *data, one = 1, two = 20, count = n;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t clear, first, second, back;
    static int host[n];

    EXPECT_OK(cudaMalloc(&data, n * 4));
    void *arguments[] = {&data, &count, &one}, *more[] = {&data, &count, &two};
    cudaMemsetParams fill = {};
    fill.dst = data, fill.elementSize = 4, fill.width = n, fill.height = 1, fill.value = 300;
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)add, kernel.gridDim = dim3(1), kernel.blockDim = dim3(128),
    kernel.kernelParams = arguments;
    EXPECT_OK(cudaGraphCreate(&graph, 0));
    // Added in the wrong order: the dependencies decide.
    EXPECT_OK(cudaGraphAddMemcpyNode1D(&back, graph, nullptr, 0, host, data, n * 4,
                                       cudaMemcpyDeviceToHost));
    EXPECT_OK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel));
    EXPECT_OK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill));
    kernel.kernelParams = more;
    EXPECT_OK(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
    cudaGraphNode_t from[] = {clear, second}, to[] = {first, back};
    EXPECT_OK(cudaGraphAddDependencies(graph, from, to, nullptr, 2));
    EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_OK(cudaGraphLaunch(exec, 0));
    EXPECT_OK(cudaDeviceSynchronize());
    EXPECT(host[n - 1] == 321, "data is %d", host[n - 1]);
    two = 1000;
    EXPECT_OK(cudaGraphExecKernelNodeSetParams(exec, second, &kernel));
    EXPECT_OK(cudaGraphLaunch(exec, 0));
    EXPECT_OK(cudaDeviceSynchronize());
    EXPECT(host[0] == 1301, "data is %d", host[0]);
}

static int host_calls;

static void CUDART_CB count_call(void *argument)
{
    host_calls = host_calls * 10 + *static_cast<int *>(argument);
}

static void host_functions_keep_the_order()
{
    Array<int> data(1);
    cudaStream_t stream;
    int one = 1, two = 2;

    EXPECT_OK(cudaStreamCreate(&stream));
    EXPECT_OK(cudaLaunchHostFunc(stream, count_call, &one));
    add<<<1, 1, 0, stream>>>(data.device, 1, 1);
    EXPECT_OK(cudaLaunchHostFunc(stream, count_call, &two));
    EXPECT_OK(cudaStreamSynchronize(stream));
    EXPECT(host_calls == 12, "calls %d", host_calls);
}

__global__ void big_shared(int *out)
{
    __shared__ int array[10000];
    array[threadIdx.x] = 1;
    *out = array[threadIdx.x];
}

static void occupancy_and_attributes()
{
    int blocks = 0, size = 0, grid = 0;
    cudaFuncAttributes attributes;

    EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 1024, 0));
    EXPECT(blocks == 1 || blocks == 2, "%d blocks of 1024", blocks);
    EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, big_shared, 64, 0));
    EXPECT(blocks == 5, "%d blocks with 40000 bytes", blocks);
    EXPECT_OK(cudaOccupancyMaxPotentialBlockSize(&grid, &size, add));
    EXPECT(size >= 128 && size <= 1024 && grid >= 132, "grid %d of %d", grid, size);
    EXPECT_OK(cudaFuncGetAttributes(&attributes, big_shared));
    EXPECT(attributes.sharedSizeBytes == 40000 && attributes.maxThreadsPerBlock == 1024 &&
               attributes.binaryVersion == 90,
           "attributes");
}

static void device_properties()
{
    cudaDeviceProp p;
    int value = 0, count = 0;

    EXPECT_OK(cudaGetDeviceCount(&count));
    EXPECT_OK(cudaGetDeviceProperties(&p, 0));
    EXPECT(count == 1 && p.major == 9 && p.minor == 0 && p.multiProcessorCount == 132 &&
               p.warpSize == 32,
           "properties");
    EXPECT(p.sharedMemPerBlockOptin == 232448 && p.maxThreadsPerMultiProcessor == 2048 &&
               p.regsPerBlock == 65536,
           "limits");
    EXPECT_OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    EXPECT(value == 232448, "opt-in %d", value);
    EXPECT(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0, "name");
    EXPECT(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0, "text");
}

static void pointer_attributes()
{
    int *device, *pinned, *managed, plain;
    cudaPointerAttributes a;

    EXPECT_OK(cudaMalloc(&device, 64));
    EXPECT_OK(cudaMallocHost(&pinned, 64));
    EXPECT_OK(cudaMallocManaged(&managed, 64));
    EXPECT_OK(cudaPointerGetAttributes(&a, device + 3));
    EXPECT(a.type == cudaMemoryTypeDevice && a.device == 0, "device: %d", a.type);
    EXPECT_OK(cudaPointerGetAttributes(&a, pinned));
    EXPECT(a.type == cudaMemoryTypeHost && a.devicePointer == pinned, "pinned: %d", a.type);
    EXPECT_OK(cudaPointerGetAttributes(&a, managed));
    EXPECT(a.type == cudaMemoryTypeManaged, "managed: %d", a.type);
    EXPECT_OK(cudaPointerGetAttributes(&a, &plain));
    EXPECT(a.type == cudaMemoryTypeUnregistered, "plain: %d", a.type);
}

static void copies_in_two_dimensions()
{
    char *device, host[6][10], back[6][10];
    size_t pitch = 0;

    EXPECT_OK(cudaMallocPitch(&device, &pitch, 10, 6));
    for (int i = 0; i < 60; i++)
        host[i / 10][i % 10] = (char)i;
    EXPECT_OK(cudaMemset2D(device, pitch, 0x55, 10, 6));
    EXPECT_OK(
        cudaMemcpy2D(device + pitch + 2, pitch, &host[1][2], 10, 5, 3, cudaMemcpyHostToDevice));
    EXPECT_OK(cudaMemcpy2D(back, 10, device, pitch, 10, 6, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 10; x++) {
            bool inside = y >= 1 && y < 4 && x >= 2 && x < 7;
            EXPECT(back[y][x] == (inside ? y * 10 + x : 0x55), "row %d column %d: %d", y, x,
                   back[y][x]);
        }
    EXPECT_CODE(cudaMemcpy2D(back, 10, device, pitch, 20, 2, cudaMemcpyDeviceToHost),
                cudaErrorInvalidPitchValue);
}

MAIN(CASE(order_of_one_stream), CASE(stream_that_never_was), CASE(kernel_waits_for_a_later_stream),
     CASE(kernel_waits_for_the_host), CASE(events_order_streams),
     CASE(legacy_stream_waits_for_blocking_streams),
     CASE(pageable_source_may_change_after_the_call), CASE(event_times),
     CASE(captured_graph_replays), CASE(branches_of_a_graph_run_at_once), CASE(capture_errors),
     CASE(graph_built_by_hand), CASE(host_functions_keep_the_order), CASE(occupancy_and_attributes),
     CASE(device_properties), CASE(pointer_attributes), CASE(copies_in_two_dimensions))
