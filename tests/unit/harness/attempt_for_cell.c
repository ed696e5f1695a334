/* SPDX-License-Identifier: Apache-2.0
 *
 * An attempt without kernels, built by test_cell with the C compiler: out = in of the next rank.
 * DO chooses what it does wrong.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef DO
#define DO NOTHING
#endif
#define NOTHING 0
#define FORK 1
#define EXEC 2
#define SOCKET 3
#define TOUCH 4
#define CRASH 5
#define HANG 6
#define RETURN 7
#define KILL 8
#define SCRIBBLE 9
#define FREEZE 10

typedef struct pkb_args {
    float *in, *out;
    double scale;
    const int64_t *offsets;
    int64_t n, drawn;
} pkb_args;
typedef struct pkb_world pkb_world;
typedef struct pkb_peer_table {
    uint64_t stride, timeout_ns;
    char *signals;
    int32_t rank, world_size;
} pkb_peer_table;
typedef struct pkb_group_info {
    int32_t size, rank;
    const int32_t *ranks;
} pkb_group_info;

int pkb_rank(const pkb_world *world);
int pkb_world_size(const pkb_world *world);
pkb_peer_table pkb_peers(const pkb_world *world);
const pkb_group_info *pkb_group(const pkb_world *world, const char *axis);
void *pkb_symmetric_alloc(pkb_world *world, size_t bytes);
int pkb_is_present(const pkb_world *world, const void *pointer, int q);
void *pkb_multicast(const pkb_world *world, const void *pointer);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);

static pkb_peer_table peers;

/* 0 when the world is as promised, else the number of the broken promise. */
int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    const pkb_group_info *group = pkb_group(world, "tp");

    if (args->in != NULL || args->out != NULL || args->n != 1000 || args->drawn != 77)
        return 1;
    if (args->offsets == NULL || args->offsets[1] != 5)
        return 2;
    peers = pkb_peers(world);
    if (peers.rank != pkb_rank(world) || peers.world_size != pkb_world_size(world))
        return 3;
    if (group == NULL || group->size != peers.world_size || group->rank != peers.rank ||
        group->ranks[group->rank] != peers.rank || pkb_group(world, "none") != NULL)
        return 4;
    char *a = pkb_symmetric_alloc(world, 1000), *b = pkb_symmetric_alloc(world, 1);
    if (a == NULL || b - a != 1024 || a - peers.signals != (4096L + 2) * 128 * 4)
        return 5;
    if (pkb_symmetric_alloc(world, (size_t)8 << 30) != NULL || pkb_multicast(world, a) != NULL)
        return 6;
    *state = a;
    return 0;
}

static void misbehave(pkb_world *world, const pkb_args *args)
{
#if DO == FORK
    if (fork() == 0)
        _exit(0);
#elif DO == EXEC
    execl("/bin/true", "true", (char *)NULL);
#elif DO == SOCKET
    socket(AF_UNIX, SOCK_STREAM, 0);
#elif DO == TOUCH
    args->out[3] = 1;
#elif DO == CRASH
    abort();
#elif DO == HANG
    for (;;)
        pause();
#elif DO == KILL
    kill(1, SIGKILL);
#elif DO == SCRIBBLE
    /* Neither host arguments nor the layout can be made writable. */
    void *page = (void *)((uintptr_t)args->offsets & ~(uintptr_t)4095);
    if (mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0)
        _exit(9);
    if (signal(SIGSYS, SIG_IGN) != SIG_ERR)
        _exit(10);
    for (int fd = 3; fd < 256; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            _exit(12);
    }
    if (open("/pkb/attempt.so", O_RDWR) >= 0 || open("/proc/1/mem", O_RDWR) >= 0)
        _exit(11);
#elif DO == FREEZE
    raise(SIGSTOP);
#endif
    (void)world;
    (void)args;
}

int pkb_run(pkb_world *world, const pkb_args *args, void *state, void *stream)
{
    const int next = (peers.rank + 1) % peers.world_size;
    const char *in = (const char *)args->in + (int64_t)(next - peers.rank) * (int64_t)peers.stride;

    if (state == NULL || args->scale != 0.25 || args->drawn != 33 || args->offsets[0] != 4)
        return 20;
    if (!pkb_is_present(world, args->in, next) || pkb_is_present(world, args->out, 99))
        return 21;
    if (pkb_symmetric_alloc(world, 1) != NULL)
        return 22;
    misbehave(world, args);
    if (DO == RETURN)
        return 42;
    return cudaMemcpyAsync(args->out, in, (size_t)args->n * sizeof(float), 3, stream);
}

void pkb_teardown(pkb_world *world, void *state)
{
    (void)world;
    (void)state;
}
