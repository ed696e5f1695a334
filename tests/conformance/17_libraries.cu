// SPDX-License-Identifier: Apache-2.0
// What attempts bring along from the toolkit's own headers: CUB on the device and in blocks.
#include "check.cuh"

#include <cub/cub.cuh>

static const int N = 20000;

struct Large {
    __host__ __device__ bool operator()(unsigned char c) const
    {
        return c > 200;
    }
};

template <class F> static void with_storage(F f)
{
    size_t bytes = 0;
    void *storage = nullptr;

    EXPECT_OK(f(nullptr, bytes));
    EXPECT_OK(cudaMalloc(&storage, bytes + 1));
    EXPECT_OK(f(storage, bytes));
    EXPECT_OK(cudaDeviceSynchronize());
    EXPECT_OK(cudaFree(storage));
}

static void device_reduce_and_scan()
{
    Array<int> in(N), out(N), sum(1);
    int want = 0;

    for (int i = 0; i < N; i++)
        in[i] = (int)(random_word(i) % 100);
    in.up();
    with_storage(
        [&](void *s, size_t &n) { return cub::DeviceReduce::Sum(s, n, in.device, sum.device, N); });
    with_storage([&](void *s, size_t &n) {
        return cub::DeviceScan::InclusiveSum(s, n, in.device, out.device, N);
    });
    sum.down(), out.down();
    for (int i = 0; i < N; i++) {
        want += in[i];
        EXPECT(out[i] == want, "prefix %d is %d, not %d", i, out[i], want);
    }
    EXPECT(sum[0] == want, "sum %d, not %d", sum[0], want);
}

static void device_radix_sort()
{
    Array<unsigned> keys(N), sorted(N), values(N), moved(N);

    for (int i = 0; i < N; i++) {
        keys[i] = (unsigned)random_word(i * 3 + 1);
        values[i] = i;
    }
    keys.up(), values.up();
    with_storage([&](void *s, size_t &n) {
        return cub::DeviceRadixSort::SortPairs(s, n, keys.device, sorted.device, values.device,
                                               moved.device, N);
    });
    sorted.down(), moved.down();
    for (int i = 0; i < N; i++) {
        EXPECT(i == 0 || sorted[i - 1] <= sorted[i], "order at %d", i);
        EXPECT(moved[i] < N && keys[moved[i]] == sorted[i], "pair at %d", i);
    }
}

static void device_histogram_and_select()
{
    Array<unsigned char> in(N), kept(N);
    Array<int> bins(256), count(1);
    int want[256] = {0}, many = 0;

    for (int i = 0; i < N; i++) {
        want[in[i] = (unsigned char)(random_word(i * 7 + 1) & 255)]++;
        many += in[i] > 200;
    }
    in.up();
    with_storage([&](void *s, size_t &n) {
        return cub::DeviceHistogram::HistogramEven(s, n, in.device, bins.device, 257, 0, 256, N);
    });
    with_storage([&](void *s, size_t &n) {
        return cub::DeviceSelect::If(s, n, in.device, kept.device, count.device, N, Large());
    });
    bins.down(), kept.down(), count.down();
    for (int i = 0; i < 256; i++)
        EXPECT(bins[i] == want[i], "bin %d: %d, not %d", i, bins[i], want[i]);
    EXPECT(count[0] == many && kept[0] > 200, "%d selected, not %d", count[0], many);
}

template <int THREADS>
__global__ void block_kernel(const int *in, int *sorted, int *scanned, int *sum)
{
    using Sort = cub::BlockRadixSort<int, THREADS, 4>;
    using Scan = cub::BlockScan<int, THREADS>;
    using Reduce = cub::BlockReduce<int, THREADS>;
    __shared__ union {
        typename Sort::TempStorage sort;
        typename Scan::TempStorage scan;
        typename Reduce::TempStorage reduce;
    } storage;
    int items[4], base = threadIdx.x * 4;

    for (int i = 0; i < 4; i++)
        items[i] = in[base + i];
    int total = Reduce(storage.reduce).Sum(items);
    __syncthreads();
    if (threadIdx.x == 0)
        *sum = total;
    Scan(storage.scan).ExclusiveSum(items, items);
    for (int i = 0; i < 4; i++)
        scanned[base + i] = items[i];
    __syncthreads();
    for (int i = 0; i < 4; i++)
        items[i] = in[base + i];
    Sort(storage.sort).Sort(items);
    for (int i = 0; i < 4; i++)
        sorted[base + i] = items[i];
}

static void block_algorithms()
{
    const int n = 1024;
    Array<int> in(n), sorted(n), scanned(n), sum(1);
    int total = 0;

    for (int i = 0; i < n; i++)
        in[i] = (int)(random_word(i * 5 + 2) % 2000) - 1000;
    in.up();
    block_kernel<256><<<1, 256>>>(in.device, sorted.device, scanned.device, sum.device);
    sorted.down(), scanned.down(), sum.down();
    for (int i = 0; i < n; i++) {
        EXPECT(scanned[i] == total, "prefix %d is %d, not %d", i, scanned[i], total);
        EXPECT(i == 0 || sorted[i - 1] <= sorted[i], "order at %d", i);
        total += in[i];
    }
    EXPECT(sum[0] == total, "sum %d, not %d", sum[0], total);
}

MAIN(CASE(device_reduce_and_scan), CASE(device_radix_sort), CASE(device_histogram_and_select),
     CASE(block_algorithms))
