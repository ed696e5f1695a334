// verdict: WRONG_OUTPUT
// reason: rank \d: output conic.*small inputs
//
// Takes the determinant as it is, without its floor. The rest is the example.
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum { THREADS = 256, WARPS = THREADS / 32, MOST_CHUNKS = 256 };

struct scratch {
    int64_t *seen, *own; /* symmetric */
    int64_t *before;
};

struct splat {
    float mean2d[2], depth, conic[3];
    int32_t radii[2];
    bool is_seen;
};

/* M = V R diag(scale): the Gaussian's axes in the camera's frame. */
__device__ void axes_of(const float *quat, const float *scale, const float *view, float M[3][3])
{
    const float length =
        sqrtf(quat[0] * quat[0] + quat[1] * quat[1] + quat[2] * quat[2] + quat[3] * quat[3]);
    const float w = quat[0] / length, x = quat[1] / length, y = quat[2] / length,
                z = quat[3] / length;
    const float R[3][3] = {
        {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
        {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
        {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)},
    };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            M[i][j] = scale[j] * (view[4 * i] * R[0][j] + view[4 * i + 1] * R[1][j] +
                                  view[4 * i + 2] * R[2][j]);
}

/* z clamp(x / z): how far from the axis a projection may be linearised. */
__device__ float limited(float x, float z, float focal, float centre, float extent)
{
    const float side = 0.3f * extent / (2 * focal);
    return z * fminf(fmaxf(x / z, -(centre / focal + side)), (extent - centre) / focal + side);
}

__device__ splat project(const pkb_args &args, int64_t i, const float *view, const float *K)
{
    const float *mean = args.mean + 3 * i, size[2] = {(float)args.W, (float)args.H};
    float at[3], M[3][3], JM[2][3];
    for (int row = 0; row < 3; row++)
        at[row] = view[4 * row] * mean[0] + view[4 * row + 1] * mean[1] +
                  view[4 * row + 2] * mean[2] + view[4 * row + 3];
    axes_of(args.quat + 4 * i, args.scale + 3 * i, view, M);

    splat s;
    const float z = s.depth = at[2];
    for (int row = 0; row < 2; row++) {
        const float focal = K[4 * row], centre = K[3 * row + 2];
        const float t = limited(at[row], z, focal, centre, size[row]);
        s.mean2d[row] = focal * at[row] / z + centre;
        for (int j = 0; j < 3; j++)
            JM[row][j] = focal / z * M[row][j] - focal * t / (z * z) * M[2][j];
    }
    const float eps = (float)args.eps2d;
    const float a = JM[0][0] * JM[0][0] + JM[0][1] * JM[0][1] + JM[0][2] * JM[0][2] + eps;
    const float b = JM[0][0] * JM[1][0] + JM[0][1] * JM[1][1] + JM[0][2] * JM[1][2];
    const float c = JM[1][0] * JM[1][0] + JM[1][1] * JM[1][1] + JM[1][2] * JM[1][2] + eps;
    const float det = a * c - b * b;
    s.conic[0] = c / det;
    s.conic[1] = -b / det;
    s.conic[2] = a / det;

    const float radii[2] = {ceilf(3.33f * sqrtf(a)), ceilf(3.33f * sqrtf(c))};
    s.is_seen = z > (float)args.near && z < (float)args.far;
    for (int row = 0; row < 2; row++) {
        s.radii[row] = (int32_t)radii[row];
        s.is_seen =
            s.is_seen && s.mean2d[row] + radii[row] > 0 && s.mean2d[row] - radii[row] < size[row];
    }
    return s;
}

/* How many threads before this one have `is_set`; `total` in all. For all threads of a block. */
__device__ int rank_in_block(bool is_set, int *total)
{
    __shared__ int of_warp[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned set = __ballot_sync(0xffffffffu, is_set);
    int before = __popc(set & ((1u << lane) - 1));
    if (lane == 0)
        of_warp[warp] = __popc(set);
    __syncthreads();
    *total = 0;
    for (int w = 0; w < WARPS; w++) {
        before += w < warp ? of_warp[w] : 0;
        *total += of_warp[w];
    }
    __syncthreads();
    return before;
}

/* First Gaussian of a chunk; that of the next one is its end. */
__device__ int64_t chunk_begin(int64_t n, int64_t chunk)
{
    return n * chunk / gridDim.x;
}

__device__ const float *camera_of(const pkb_peer_table &peers, const float *all, int64_t g,
                                  int64_t C, int64_t floats)
{
    return pkb_peer(peers, all, (int)(g / C)) + g % C * floats;
}

__global__ void tally(pkb_peer_table peers, pkb_args args, scratch s)
{
    const int64_t begin = chunk_begin(args.n, blockIdx.x);
    const int64_t end = chunk_begin(args.n, blockIdx.x + 1);
    pkb_block_barrier(peers);

    for (int64_t g = 0; g < peers.world_size * args.C; g++) {
        const float *view = camera_of(peers, args.view, g, args.C, 16);
        const float *K = camera_of(peers, args.K, g, args.C, 9);
        int64_t count = 0;
        for (int64_t i = begin; i < end; i += THREADS) {
            int total = 0;
            const int64_t mine = i + threadIdx.x;
            rank_in_block(mine < end && project(args, mine, view, K).is_seen, &total);
            count += total;
        }
        if (threadIdx.x == 0)
            s.before[g * gridDim.x + blockIdx.x] = count;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *s.own = args.n;
}

/* One thread a camera is enough: there are few chunks. */
__global__ void scan(scratch s, int64_t cameras, int64_t chunks)
{
    for (int64_t g = threadIdx.x; g < cameras; g += blockDim.x) {
        int64_t sum = 0;
        for (int64_t chunk = 0; chunk < chunks; chunk++) {
            const int64_t count = s.before[g * chunks + chunk];
            s.before[g * chunks + chunk] = sum;
            sum += count;
        }
        s.seen[g] = sum;
    }
}

/* The row of camera g's owner with which this rank's Gaussians for camera g begin. */
__device__ int64_t first_row(const pkb_peer_table &peers, const int64_t *seen, int64_t g, int64_t C)
{
    const int64_t owned = g / C * C; /* first camera of g's owner */
    int64_t row = 0;
    for (int q = 0; q <= peers.rank; q++)
        for (int64_t c = owned; c < (q < peers.rank ? owned + C : g); c++)
            row += pkb_peer(peers, seen, q)[c];
    return row;
}

__device__ void write_row(const pkb_peer_table &peers, const pkb_args &args, int64_t g, int64_t row,
                          const splat &s, int64_t i, int64_t id)
{
    const int to = (int)(g / args.C);
    pkb_peer(peers, args.camera, to)[row] = g % args.C;
    pkb_peer(peers, args.gaussian, to)[row] = id;
    pkb_peer(peers, args.depth, to)[row] = s.depth;
    pkb_peer(peers, args.out_opacity, to)[row] = args.opacity[i];
    for (int k = 0; k < 2; k++) {
        pkb_peer(peers, args.radii, to)[2 * row + k] = s.radii[k];
        pkb_peer(peers, args.mean2d, to)[2 * row + k] = s.mean2d[k];
    }
    for (int k = 0; k < 3; k++) {
        pkb_peer(peers, args.conic, to)[3 * row + k] = s.conic[k];
        pkb_peer(peers, args.out_colour, to)[3 * row + k] = args.colour[3 * i + k];
    }
}

__global__ void deliver(pkb_peer_table peers, pkb_args args, scratch s)
{
    const int64_t begin = chunk_begin(args.n, blockIdx.x);
    const int64_t end = chunk_begin(args.n, blockIdx.x + 1);
    const int64_t cameras = peers.world_size * args.C;
    pkb_block_barrier(peers);

    int64_t first_id = 0;
    for (int q = 0; q < peers.rank; q++)
        first_id += *pkb_peer(peers, s.own, q);
    for (int64_t g = 0; g < cameras; g++) {
        const float *view = camera_of(peers, args.view, g, args.C, 16);
        const float *K = camera_of(peers, args.K, g, args.C, 9);
        int64_t row = first_row(peers, s.seen, g, args.C) + s.before[g * gridDim.x + blockIdx.x];
        for (int64_t i = begin; i < end; i += THREADS) {
            const int64_t mine = i + threadIdx.x;
            splat one = {};
            if (mine < end)
                one = project(args, mine, view, K);
            int total = 0;
            const int64_t at = row + rank_in_block(one.is_seen, &total);
            if (one.is_seen)
                write_row(peers, args, g, at, one, mine, first_id + mine);
            row += total;
        }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *args.count = 0;
        for (int q = 0; q < peers.world_size; q++)
            for (int64_t c = 0; c < args.C; c++)
                *args.count += pkb_peer(peers, s.seen, q)[peers.rank * args.C + c];
    }

    pkb_block_barrier(peers);
}

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    const size_t cameras = (size_t)(pkb_world_size(world) * args->C);
    scratch *s = new scratch();
    *state = s;
    s->seen = (int64_t *)pkb_symmetric_alloc(world, cameras * sizeof(int64_t));
    s->own = (int64_t *)pkb_symmetric_alloc(world, sizeof(int64_t));
    if (s->seen == NULL || s->own == NULL)
        return 1;
    return cudaMalloc((void **)&s->before, cameras * MOST_CHUNKS * sizeof(int64_t));
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    const pkb_peer_table peers = pkb_peers(world);
    const scratch s = *(const scratch *)state;
    const int64_t cameras = peers.world_size * args->C;
    /* The same grid on every rank, however many Gaussians it has: the barriers pair blocks. */
    const int64_t each = args->all_most / peers.world_size, wanted = (each + THREADS - 1) / THREADS;
    const int chunks = (int)(wanted < 1 ? 1 : wanted < MOST_CHUNKS ? wanted : MOST_CHUNKS);

    tally<<<chunks, THREADS, 0, stream>>>(peers, *args, s);
    scan<<<1, THREADS, 0, stream>>>(s, cameras, chunks);
    deliver<<<chunks, THREADS, 0, stream>>>(peers, *args, s);
    return cudaGetLastError();
}

extern "C" void pkb_teardown(pkb_world *world, void *state)
{
    scratch *s = (scratch *)state;
    cudaFree(s->before);
    delete s;
}
