// SPDX-License-Identifier: Apache-2.0
// Several processes, each a rank, with every rank's memory mapped in all: all-reduce, all-to-all,
// ring; more ranks than cores. Flags are published with release and read with acquire.
#include "check.cuh"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cuda/atomic>

enum { MAX_RANKS = 8, ARENA_BYTES = 4 << 20, FLAG_BYTES = 4096, CALLS = 4 };

struct World {
    int rank, size;
    char *arena[MAX_RANKS]; // device addresses, the same memory in all processes
};

// Flags of a rank lie at the start of its arena; slots q and MAX_RANKS + q are written by rank q
// only.
__device__ static unsigned *flag(const World &w, int owner, int writer)
{
    return reinterpret_cast<unsigned *>(w.arena[owner]) + writer;
}

template <class T> __device__ static T *data(const World &w, int owner)
{
    return reinterpret_cast<T *>(w.arena[owner] + FLAG_BYTES);
}

// All ranks meet, called by one whole block of each.
__device__ static void meet(const World &w, unsigned turn)
{
    __syncthreads();
    if ((int)threadIdx.x < w.size) {
        __threadfence_system();
        cuda::atomic_ref<unsigned, cuda::thread_scope_system>(*flag(w, threadIdx.x, w.rank))
            .store(turn, cuda::memory_order_release);
        cuda::atomic_ref<unsigned, cuda::thread_scope_system> mine(*flag(w, w.rank, threadIdx.x));
        while (mine.load(cuda::memory_order_acquire) < turn)
            ;
    }
    __syncthreads();
}

__global__ void all_reduce(World w, int n, unsigned turn)
{
    int *mine = data<int>(w, w.rank), *out = mine + n;
    meet(w, turn);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int sum = 0;
        for (int q = 0; q < w.size; q++)
            sum += data<int>(w, q)[i];
        out[i] = sum;
    }
    meet(w, turn + 1);
}

__global__ void all_to_all(World w, int n, unsigned turn)
{
    // Block b sends to rank b; the last block meets the others for its rank.
    int *mine = data<int>(w, w.rank);
    int *theirs = data<int>(w, blockIdx.x) + w.size * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        theirs[w.rank * n + i] = mine[blockIdx.x * n + i];
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_system> theirs_flag(
            *flag(w, blockIdx.x, w.rank));
        theirs_flag.store(turn, cuda::memory_order_release);
        cuda::atomic_ref<unsigned, cuda::thread_scope_system> my_flag(*flag(w, w.rank, blockIdx.x));
        while (my_flag.load(cuda::memory_order_acquire) < turn)
            ;
    }
}

__global__ void ring_step(World w, int n, unsigned turn)
{
    int next = (w.rank + 1) % w.size, previous = (w.rank + w.size - 1) % w.size;
    int *mine = data<int>(w, w.rank), *inbox = data<int>(w, next) + n;
    // The inbox holds two messages: the one before last must have been read.
    if (threadIdx.x == 0 && turn > 2)
        while (atomicAdd_system(flag(w, w.rank, MAX_RANKS + next), 0) < turn - 2)
            ;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        inbox[(turn % 2) * n + i] = mine[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence_system();
        atomicExch_system(flag(w, next, w.rank), turn);
        while (atomicAdd_system(flag(w, w.rank, previous), 0) < turn)
            ;
        __threadfence_system();
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        mine[i] = mine[(1 + turn % 2) * n + i] + 1;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        atomicExch_system(flag(w, previous, MAX_RANKS + w.rank), turn);
}

// ---- the host side of a rank ----

typedef int reserve_function(uint64_t, uint64_t *);
typedef int map_function(uint64_t, int, uint64_t, uint64_t, int);

static bool map_world(World *w, const int *fds)
{
    auto reserve = reinterpret_cast<reserve_function *>(dlsym(RTLD_DEFAULT, "pkb_cpu_reserve"));
    auto map = reinterpret_cast<map_function *>(dlsym(RTLD_DEFAULT, "pkb_cpu_map"));

    for (int q = 0; q < w->size; q++) {
        uint64_t address = 0;
        if (reserve(ARENA_BYTES, &address) != 0 || map(address, fds[q], 0, ARENA_BYTES, 1) != 0)
            return false;
        w->arena[q] = reinterpret_cast<char *>(address);
    }
    return true;
}

static int *arena_data(const World &w)
{
    return reinterpret_cast<int *>(w.arena[w.rank] + FLAG_BYTES);
}

static void run_ranks(int size, void (*body)(World))
{
    int fds[MAX_RANKS], failures = 0;
    pid_t children[MAX_RANKS];

    for (int q = 0; q < size; q++) {
        fds[q] = memfd_create("arena", 0);
        EXPECT(ftruncate(fds[q], ARENA_BYTES) == 0, "no memory");
    }
    for (int q = 0; q < size; q++) {
        children[q] = fork();
        if (children[q] != 0)
            continue;
        World w = {q, size, {}};
        if (map_world(&w, fds))
            body(w);
        else
            fail("rank %d cannot map the arenas", q);
        fflush(stdout);
        _exit(case_failed);
    }
    for (int q = 0; q < size; q++) {
        int status = 0;
        waitpid(children[q], &status, 0);
        failures += status != 0;
    }
    EXPECT(failures == 0, "%d ranks failed", failures);
}

static void reduce_body(World w)
{
    const int n = 20000;
    int *values = new int[n];

    for (int call = 0; call < CALLS; call++) {
        for (int i = 0; i < n; i++)
            values[i] = (w.rank + 1) * i + call;
        EXPECT_OK(cudaMemcpy(arena_data(w), values, n * sizeof(int), cudaMemcpyHostToDevice));
        all_reduce<<<1, 256>>>(w, n, 2 * call + 1);
        EXPECT_OK(cudaMemcpy(values, arena_data(w) + n, n * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; i++) {
            int want = w.size * (w.size + 1) / 2 * i + w.size * call;
            EXPECT(values[i] == want, "rank %d element %d is %d, not %d", w.rank, i, values[i],
                   want);
        }
    }
}

static void all_to_all_body(World w)
{
    const int n = 5000;
    int *values = new int[w.size * n];

    for (int i = 0; i < w.size * n; i++)
        values[i] = w.rank * 1000000 + i;
    EXPECT_OK(cudaMemcpy(arena_data(w), values, w.size * n * sizeof(int), cudaMemcpyHostToDevice));
    all_to_all<<<w.size, 128>>>(w, n, 1);
    EXPECT_OK(cudaMemcpy(values, arena_data(w) + w.size * n, w.size * n * sizeof(int),
                         cudaMemcpyDeviceToHost));
    for (int i = 0; i < w.size * n; i++) {
        int want = i / n * 1000000 + w.rank * n + i % n;
        EXPECT(values[i] == want, "rank %d element %d is %d, not %d", w.rank, i, values[i], want);
    }
}

static void ring_body(World w)
{
    const int n = 300;
    int values[n];

    for (int i = 0; i < n; i++)
        values[i] = w.rank * 1000 + i;
    EXPECT_OK(cudaMemcpy(arena_data(w), values, sizeof values, cudaMemcpyHostToDevice));
    for (int step = 1; step <= 2 * w.size; step++)
        ring_step<<<1, 64>>>(w, n, step);
    EXPECT_OK(cudaMemcpy(values, arena_data(w), sizeof values, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(values[i] == w.rank * 1000 + i + 2 * w.size, "rank %d element %d is %d", w.rank, i,
               values[i]);
}

static void all_reduce_of_2()
{
    run_ranks(2, reduce_body);
}
static void all_reduce_of_4()
{
    run_ranks(4, reduce_body);
}
static void all_reduce_of_8()
{
    run_ranks(8, reduce_body);
}
static void all_to_all_of_2()
{
    run_ranks(2, all_to_all_body);
}
static void all_to_all_of_4()
{
    run_ranks(4, all_to_all_body);
}
static void ring_of_2()
{
    run_ranks(2, ring_body);
}
static void ring_of_4()
{
    run_ranks(4, ring_body);
}

MAIN(CASE(all_reduce_of_2), CASE(all_reduce_of_4), CASE(all_reduce_of_8), CASE(all_to_all_of_2),
     CASE(all_to_all_of_4), CASE(ring_of_2), CASE(ring_of_4))
