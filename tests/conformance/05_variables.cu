// SPDX-License-Identifier: Apache-2.0
// Constant, global and managed variables, symbol copies, initialisers that hold addresses.
#include "check.cuh"

__constant__ float weights[8] = {1, 2, 4, 8, 16, 32, 64, 128};
__device__ int counter = 5;
__device__ unsigned char bytes[5] = {1, 2, 3, 4, 250};
__device__ double grid_values[3][4];
__managed__ int shared_with_host = 17;
__managed__ int *managed_pointer;
__device__ int *address_of_counter = &counter;
__device__ unsigned char *inside_bytes = bytes + 3;
__constant__ const char *words[] = {"alpha", "beta", "gamma"};

template <class T> __device__ T per_type = T(42);

__global__ void read_constants(float *out)
{
    out[threadIdx.x] = weights[threadIdx.x & 7];
}

static void constant_initialiser_and_copy()
{
    Array<float> out(8);
    float more[2] = {-1, -2};

    read_constants<<<1, 8>>>(out.device);
    out.down();
    EXPECT(out[0] == 1 && out[7] == 128, "initialiser: %g %g", out[0], out[7]);
    EXPECT_OK(cudaMemcpyToSymbol(weights, more, sizeof more, 2 * sizeof(float)));
    read_constants<<<1, 8>>>(out.device);
    out.down();
    EXPECT(out[1] == 2 && out[2] == -1 && out[3] == -2 && out[4] == 16,
           "after the copy: %g %g %g %g", out[1], out[2], out[3], out[4]);
}

__global__ void change_globals()
{
    atomicAdd(&counter, 2);
    bytes[threadIdx.x] += 10;
    if (threadIdx.x < 3)
        grid_values[threadIdx.x][3] = threadIdx.x + .5;
    per_type<float> = 1.5f;
    per_type<long long> += 1;
}

static void global_values_come_back()
{
    int value = 0;
    unsigned char got[5];
    double doubles[3][4];

    change_globals<<<1, 5>>>();
    EXPECT_OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    EXPECT_OK(cudaMemcpyFromSymbol(got, bytes, sizeof got));
    EXPECT_OK(cudaMemcpyFromSymbol(doubles, grid_values, sizeof doubles));
    EXPECT(value == 15, "counter is %d", value);
    EXPECT(got[0] == 11 && got[4] == 4, "bytes are %d .. %d", got[0], got[4]);
    EXPECT(doubles[2][3] == 2.5 && doubles[2][2] == 0, "doubles %g %g", doubles[2][3],
           doubles[2][2]);
}

__global__ void through_address()
{
    *address_of_counter += 100;
    *inside_bytes = 77;
}

static void initialisers_hold_addresses()
{
    int value = 0;
    unsigned char got[5];

    through_address<<<1, 1>>>();
    EXPECT_OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    EXPECT_OK(cudaMemcpyFromSymbol(got, bytes, sizeof got));
    EXPECT(value == 105, "counter is %d", value);
    EXPECT(got[3] == 77, "byte is %d", got[3]);
}

__global__ void spell(char *out)
{
    const char *word = words[threadIdx.x];
    int i = 0;
    for (; word[i]; i++)
        out[threadIdx.x * 8 + i] = word[i];
    out[threadIdx.x * 8 + i] = 0;
}

static void strings_in_constant_memory()
{
    Array<char> out(24);
    spell<<<1, 3>>>(out.device);
    out.down();
    EXPECT(strcmp(&out[0], "alpha") == 0 && strcmp(&out[8], "beta") == 0 &&
               strcmp(&out[16], "gamma") == 0,
           "%s %s %s", &out[0], &out[8], &out[16]);
}

__global__ void change_managed()
{
    shared_with_host *= 2;
    if (managed_pointer)
        managed_pointer[threadIdx.x] = threadIdx.x + 1;
}

static void managed_is_one_variable()
{
    EXPECT(shared_with_host == 17, "starts as %d", shared_with_host);
    shared_with_host = 20;
    EXPECT_OK(cudaMallocManaged(&managed_pointer, 4 * sizeof(int)));
    managed_pointer[3] = -1;
    change_managed<<<1, 1>>>();
    EXPECT_OK(cudaDeviceSynchronize());
    EXPECT(shared_with_host == 40, "becomes %d", shared_with_host);
    EXPECT(managed_pointer[0] == 1 && managed_pointer[3] == -1, "array %d %d", managed_pointer[0],
           managed_pointer[3]);
    EXPECT_OK(cudaFree(managed_pointer));
}

static void symbol_address_and_size()
{
    void *address = nullptr;
    size_t size = 0;
    int value = 31;

    EXPECT_OK(cudaGetSymbolAddress(&address, counter));
    EXPECT_OK(cudaGetSymbolSize(&size, grid_values));
    EXPECT(size == sizeof(double[3][4]), "size %zu", size);
    EXPECT_OK(cudaMemcpy(address, &value, sizeof value, cudaMemcpyHostToDevice));
    change_globals<<<1, 1>>>();
    EXPECT_OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    EXPECT(value == 33, "counter is %d", value);
    EXPECT_CODE(cudaMemcpyToSymbol(counter, &value, 8), cudaErrorInvalidValue);
    EXPECT_CODE(cudaMemcpyToSymbol(&value, &value, 4), cudaErrorInvalidSymbol);
}

MAIN(CASE(constant_initialiser_and_copy), CASE(global_values_come_back),
     CASE(initialisers_hold_addresses), CASE(strings_in_constant_memory),
     CASE(managed_is_one_variable), CASE(symbol_address_and_size))
