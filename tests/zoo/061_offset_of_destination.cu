// verdict: WRONG_OUTPUT
// reason: rank \d: output gaussian\[\d+\] is \d+, expected \d+
//
// Adds the receiver's offset to a Gaussian's id instead of the source's: an error of one of the
// programs that this problem comes from. Everything else is right.
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

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

__device__ splat project(const pkb_args &args, const float *mean, const float *quat,
                         const float *scale, const float *view, const float *K)
{
    const float size[2] = {(float)args.W, (float)args.H};
    float at[3], M[3][3], JM[2][3];
    for (int row = 0; row < 3; row++)
        at[row] = view[4 * row] * mean[0] + view[4 * row + 1] * mean[1] +
                  view[4 * row + 2] * mean[2] + view[4 * row + 3];
    axes_of(quat, scale, view, M);

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
    const float det = fmaxf(a * c - b * b, 1e-10f);
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

__global__ void tell(int64_t *own, int64_t n)
{
    *own = n;
}

__device__ void write_row(const pkb_peer_table &peers, const pkb_args &args, int64_t row,
                          const splat &s, int q, int64_t i)
{
    args.depth[row] = s.depth;
    args.out_opacity[row] = pkb_peer(peers, args.opacity, q)[i];
    for (int k = 0; k < 2; k++) {
        args.radii[2 * row + k] = s.radii[k];
        args.mean2d[2 * row + k] = s.mean2d[k];
    }
    for (int k = 0; k < 3; k++) {
        args.conic[3 * row + k] = s.conic[k];
        args.out_colour[3 * row + k] = pkb_peer(peers, args.colour, q)[3 * i + k];
    }
}

/* One thread fetches everyone's Gaussians and keeps what its cameras see. */
__global__ void fetch(pkb_peer_table peers, pkb_args args, const int64_t *own)
{
    pkb_block_barrier(peers);
    int64_t row = 0, first = 0;
    for (int q = 0; q < peers.rank; q++)
        first += *pkb_peer(peers, own, q);
    for (int q = 0; threadIdx.x == 0 && q < peers.world_size; q++) {
        const int64_t n = *pkb_peer(peers, own, q);
        const float *mean = pkb_peer(peers, args.mean, q), *quat = pkb_peer(peers, args.quat, q),
                    *scale = pkb_peer(peers, args.scale, q);
        for (int64_t c = 0; c < args.C; c++) {
            for (int64_t i = 0; i < n; i++) {
                const splat s = project(args, mean + 3 * i, quat + 4 * i, scale + 3 * i,
                                        args.view + 16 * c, args.K + 9 * c);
                if (!s.is_seen)
                    continue;
                args.camera[row] = c;
                args.gaussian[row] = first + i;
                write_row(peers, args, row++, s, q, i);
            }
        }
        first += 0;
    }
    if (threadIdx.x == 0)
        *args.count = row;
    pkb_block_barrier(peers);
}

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    *state = pkb_symmetric_alloc(world, sizeof(int64_t));
    return *state == NULL;
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    int64_t *own = (int64_t *)state;
    tell<<<1, 1, 0, stream>>>(own, args->n);
    fetch<<<1, 32, 0, stream>>>(pkb_peers(world), *args, own);
    return cudaGetLastError();
}
