/* SPDX-License-Identifier: Apache-2.0
 *
 * 001_allreduce without a kernel, so that tests of the judge need a C compiler only: copies all
 * ranks' inputs to the host and adds there. -DDO=... chooses what it does wrong.
 *
 * Word q of `flags` on a rank is written by rank q alone: the number of barriers it has reached.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    NOTHING,
    RETURN_AT_ONCE, /* writes nothing */
    LAST_ELEMENT,   /* the last element of the last rank is off */
    ONE_NAN,
    PAST_END,     /* writes 64 bytes behind y */
    BEFORE_START, /* writes 2 bytes before x */
    CHANGE_INPUT,
    CHANGE_PEER, /* changes rank 0's input from rank 1 */
    NO_ENTRY_WAIT,
    CACHE, /* the first result for ever */
    RETURN_FAILURE,
    RETURN_ON_ONE, /* fails on rank 1 while rank 0 waits for it */
    EXIT_CLEAN,
    SEGFAULT,
    FORK,
    HANG,
    HOG, /* takes memory until it is stopped */
    SETUP_FAILS,
    SAY_DONE /* nothing, but the loudest claim of success */
};
#ifndef DO
#define DO NOTHING
#endif

typedef struct pkb_args {
    uint16_t *x, *y;
    int64_t m, n;
} pkb_args;
typedef struct pkb_world pkb_world;
typedef struct pkb_peer_table {
    uint64_t stride, timeout_ns;
    char *signals;
    int32_t rank, world_size;
} pkb_peer_table;

pkb_peer_table pkb_peers(const pkb_world *world);
void *pkb_symmetric_alloc(pkb_world *world, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemset(void *to, int value, size_t bytes);
int cudaStreamSynchronize(void *stream);
enum { TO_DEVICE = 1, TO_HOST = 2, CHUNK = 1 << 26 };

static pkb_peer_table peers;
static uint64_t *flags; /* in symmetric memory */
static uint64_t epoch;

static void *peer(void *pointer, int q)
{
    return (char *)pointer + (int64_t)(q - peers.rank) * (int64_t)peers.stride;
}

static void barrier(void)
{
    uint64_t seen[64];
    int is_open = 0;
    epoch++;
    for (int q = 0; q < peers.world_size; q++)
        cudaMemcpy((uint64_t *)peer(flags, q) + peers.rank, &epoch, sizeof epoch, TO_DEVICE);
    while (!is_open) {
        cudaMemcpy(seen, flags, sizeof seen, TO_HOST);
        is_open = 1;
        for (int q = 0; q < peers.world_size; q++)
            is_open &= seen[q] >= epoch;
        if (!is_open)
            usleep(100);
    }
}

static float widen(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static uint16_t narrow(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value))
        return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    (void)args;
    (void)state;
    peers = pkb_peers(world);
    flags = pkb_symmetric_alloc(world, 64 * sizeof *flags);
    if (DO == SETUP_FAILS)
        return 7;
    return flags == NULL;
}

static void sum(const pkb_args *args, uint16_t *result, size_t count)
{
    uint16_t *part = malloc(count * 2 + 2);
    float *total = calloc(count + 1, sizeof *total);
    for (int q = 0; q < peers.world_size; q++) {
        cudaMemcpy(part, peer(args->x, q), count * 2, TO_HOST);
        for (size_t i = 0; i < count; i++)
            total[i] += widen(part[i]);
    }
    for (size_t i = 0; i < count; i++)
        result[i] = narrow(total[i]);
    free(part);
    free(total);
}

static int misbehave(const pkb_args *args, size_t bytes)
{
    if (DO == EXIT_CLEAN)
        exit(0);
    if (DO == SEGFAULT)
        *(volatile int *)16 = 1;
    if (DO == FORK && fork() == 0)
        _exit(0);
    while (DO == HANG)
        ;
    while (DO == HOG) {
        volatile char *more =
            mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t i = 0; i < CHUNK && more != MAP_FAILED; i += 4096)
            more[i] = 1;
        if (more == MAP_FAILED)
            abort();
    }
    if (DO == SAY_DONE)
        printf("{\"event\": \"verdict\", \"verdict\": \"CORRECT\"}\n"), exit(0);
    if (DO == PAST_END)
        cudaMemset((char *)args->y + bytes, 3, 64);
    if (DO == BEFORE_START)
        cudaMemset((char *)args->x - 2, 3, 2);
    if (DO == CHANGE_INPUT && bytes > 0)
        cudaMemset(args->x, 3, 2);
    if (DO == CHANGE_PEER && peers.rank == 1 && bytes > 0)
        cudaMemset((char *)peer(args->x, 0) + bytes - 2, 3, 2);
    return DO == RETURN_FAILURE || (DO == RETURN_ON_ONE && peers.rank == 1) ? 3 : 0;
}

static void spoil(uint16_t *result, size_t count)
{
    if (DO == LAST_ELEMENT && peers.rank == peers.world_size - 1 && count > 0)
        result[count - 1] = narrow(widen(result[count - 1]) * 3.0F + 1.0F);
    if (DO == ONE_NAN && count > 0)
        result[count / 2] = 0x7fc0;
}

int pkb_run(pkb_world *world, const pkb_args *args, void *state, void *stream)
{
    static uint16_t *first;
    size_t count = (size_t)(args->m * args->n);
    uint16_t *result = NULL;
    (void)world;
    (void)state;

    cudaStreamSynchronize(stream);
    if (DO == RETURN_AT_ONCE)
        return 0;
    int failure = misbehave(args, count * 2);
    if (failure != 0)
        return failure;
    if (DO != NO_ENTRY_WAIT)
        barrier();
    result = malloc(count * 2 + 2);
    sum(args, result, count);
    spoil(result, count);
    if (DO == CACHE && first == NULL) {
        first = malloc(count * 2 + 2);
        memcpy(first, result, count * 2);
    }
    cudaMemcpy(args->y, DO == CACHE ? first : result, count * 2, TO_DEVICE);
    barrier();
    free(result);
    return 0;
}
