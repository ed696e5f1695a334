/* SPDX-License-Identifier: Apache-2.0
 *
 * A world of cells without judges, for tests: makes the regions of a small problem, starts one cell
 * a rank and gives it requests.
 */
#ifndef PKB_TESTS_CELL_WORLD_H
#define PKB_TESTS_CELL_WORLD_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/memory/cell_open.h"
#include "harness/memory/page.h"
#include "harness/memory/region.h"
#include "harness/sandbox/child.h"
#include "harness/sandbox/message.h"
#include "harness/sandbox/sandbox.h"
#include "tests/unit/hung.h"

enum { TEST_MAX_RANKS = 4 };

typedef struct cell_rank {
    pkb_layout layout;
    pkb_region layout_region, page_region, values_region, staging, host, slots, symmetric;
    pkb_child child; /* bubblewrap's monitor, or the cell itself without a sandbox */
    int socket_fd, pidfd;
    pid_t pid; /* the cell's own */
} cell_rank;

typedef struct cell_world {
    uint32_t size;
    cell_rank ranks[TEST_MAX_RANKS];
    const char *cell, *libraries, *host, *device;
    pkb_sandbox_level level;
    const char *const *environments[TEST_MAX_RANKS]; /* NULL = the CPU device's */
    const pkb_sandbox_gpus *gpus;
    uint64_t memory_limit_bytes; /* 0 = 1 GiB */
    bool stays;                  /* its cells may get another size */
} cell_world;

static inline pkb_page *cell_page(cell_world *world, uint32_t rank)
{
    return world->ranks[rank].page_region.address;
}

/* An argument's bytes as the judge sees them. */
static inline void *cell_argument(cell_world *world, uint32_t rank, uint32_t slot, uint32_t index)
{
    cell_rank *r = &world->ranks[rank];
    return (char *)r->slots.address + slot * r->layout.slot_stride +
           r->layout.arguments[index].offset;
}

static inline void *cell_staged(cell_world *world, uint32_t rank, uint32_t slot, uint32_t index)
{
    cell_rank *r = &world->ranks[rank];
    return (char *)r->staging.address + slot * r->layout.slot_stride +
           r->layout.arguments[index].offset;
}

/* The page is made once. */
static inline pkb_code cell_make_regions(cell_rank *rank, const pkb_layout *layout, uint32_t number,
                                         pkb_error *err)
{
    rank->layout = *layout;
    rank->layout.rank = number;
    const struct {
        pkb_region *region;
        size_t bytes;
    } wanted[] = {{&rank->layout_region, sizeof(pkb_layout)},
                  {&rank->values_region, layout->slot_count * sizeof(pkb_slot_values)},
                  {&rank->staging, layout->slots_bytes},
                  {&rank->host, layout->slots_bytes},
                  {&rank->slots, layout->slots_bytes},
                  {&rank->symmetric, layout->symmetric_bytes}};
    pkb_code rc = pkb_layout_place(&rank->layout, err);

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && rc == PKB_OK; i++)
        rc = pkb_region_create(wanted[i].region, "test", wanted[i].bytes, err);
    if (rc == PKB_OK && rank->page_region.address == NULL)
        rc = pkb_region_create(&rank->page_region, "test", sizeof(pkb_page), err);
    if (rc == PKB_OK)
        memcpy(rank->layout_region.address, &rank->layout, sizeof rank->layout);
    return rc;
}

static inline void cell_clear_regions(cell_rank *rank)
{
    pkb_region *regions[] = {&rank->layout_region, &rank->values_region, &rank->staging,
                             &rank->host,          &rank->slots,         &rank->symmetric};
    for (size_t i = 0; i < sizeof regions / sizeof regions[0]; i++)
        pkb_region_clear(regions[i]);
}

static inline pkb_code cell_argv(char ***out, const cell_world *world, const cell_rank *rank,
                                 pkb_error *err)
{
    static const char *const plain[] = {"LD_LIBRARY_PATH=/pkb/lib", NULL};
    const char *const *own = world->environments[rank - world->ranks];
    const pkb_sandbox_bind binds[] = {{.from = world->cell, .to = "/pkb/pkbench-cell"},
                                      {.from = world->libraries, .to = "/pkb/lib"},
                                      {.from = world->host, .to = "/pkb/attempt.so"},
                                      {.from = world->device, .to = "/pkb/attempt.device.so"}};
    const char *const command[] = {"/pkb/pkbench-cell",      "--host",
                                   "/pkb/attempt.so",        "--device",
                                   "/pkb/attempt.device.so", NULL};
    const pkb_sandbox_spec spec = {.level = world->level,
                                   .binds = binds,
                                   .bind_count = world->device != NULL ? 4 : 3,
                                   .environment = own != NULL ? own : plain,
                                   .gpus = world->gpus};
    return pkb_sandbox_argv(out, &spec, command, err);
}

static inline pkb_code cell_start_program(cell_world *world, cell_rank *rank, pkb_error *err)
{
    int pair[2] = {-1, -1};
    char **argv = NULL;
    pkb_code rc = pkb_socket_pair(pair, 1, err);

    if (rc == PKB_OK)
        rc = cell_argv(&argv, world, rank, err);
    if (rc == PKB_OK) {
        const pkb_child_fd fds[] = {{.from = pair[1], .to = PKB_CELL_SOCKET_FD}};
        const pkb_child_options options = {.argv = (const char *const *)argv,
                                           .stdin_fd = -1,
                                           .stdout_fd = STDERR_FILENO,
                                           .stderr_fd = STDERR_FILENO,
                                           .fds = fds,
                                           .fd_count = 1};
        rc = pkb_child_start(&rank->child, &options, err);
    }
    pkb_argv_free(argv);
    if (pair[1] >= 0)
        close(pair[1]);
    rank->socket_fd = pair[0];
    return rc;
}

static inline pkb_code cell_hear_hello(cell_rank *rank, pkb_error *err)
{
    pkb_message *message = NULL;
    pkb_code rc = pkb_message_create(&message, err);

    if (rc == PKB_OK)
        rc = pkb_message_receive(rank->socket_fd, message, PKB_TEST_HUNG_NS, err);
    if (rc == PKB_OK) {
        rank->pid = message->pid;
        rc = pkb_pidfd_open(&rank->pidfd, rank->pid, err);
    }
    pkb_message_free(message);
    return rc;
}

static inline pkb_code cell_open(cell_world *world, cell_rank *rank, pkb_error *err)
{
    int fds[PKB_CELL_FD_ARENAS + 2 * TEST_MAX_RANKS];
    size_t count = PKB_CELL_FD_ARENAS;

    fds[PKB_CELL_FD_LAYOUT] = rank->layout_region.fd;
    fds[PKB_CELL_FD_PAGE] = rank->page_region.fd;
    fds[PKB_CELL_FD_VALUES] = rank->values_region.fd;
    fds[PKB_CELL_FD_STAGING] = rank->staging.fd;
    fds[PKB_CELL_FD_HOST] = rank->host.fd;
    for (uint32_t q = 0; q < world->size; q++) {
        fds[count++] = world->ranks[q].slots.fd;
        fds[count++] = world->ranks[q].symmetric.fd;
    }
    const uint64_t limit_bytes = world->memory_limit_bytes;
    const pkb_cell_open opening = {.version = PKB_CELL_OPEN_VERSION,
                                   .fd_count = (uint32_t)count,
                                   .random = pkb_clock_now_ns(),
                                   .memory_limit_bytes =
                                       limit_bytes != 0 ? limit_bytes : (uint64_t)1 << 30,
                                   .sandbox_level = world->level,
                                   .cores = 2,
                                   .stays = world->stays};
    return pkb_message_send(rank->socket_fd, &opening, sizeof opening, fds, count, err);
}

/* Regions only; `layout` needs its arguments, dims and counts. */
static inline pkb_code cell_world_make(cell_world *world, pkb_layout *layout, pkb_error *err)
{
    pkb_code rc = pkb_layout_place(layout, err);

    world->size = layout->world;
    for (uint32_t r = 0; r < world->size; r++)
        world->ranks[r] = (cell_rank){
            .child = PKB_CHILD_NONE, .page_region = PKB_REGION_NONE, .socket_fd = -1, .pidfd = -1};
    for (uint32_t r = 0; r < world->size && rc == PKB_OK; r++)
        rc = cell_make_regions(&world->ranks[r], layout, r, err);
    return rc;
}

static inline pkb_code cell_world_open(cell_world *world, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    for (uint32_t r = 0; r < world->size && rc == PKB_OK; r++)
        rc = cell_open(world, &world->ranks[r], err);
    return rc;
}

static inline pkb_code cell_world_start(cell_world *world, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    for (uint32_t r = 0; r < world->size && rc == PKB_OK; r++)
        rc = cell_start_program(world, &world->ranks[r], err);
    for (uint32_t r = 0; r < world->size && rc == PKB_OK; r++)
        rc = cell_hear_hello(&world->ranks[r], err);
    return rc == PKB_OK ? cell_world_open(world, err) : rc;
}

/* Other memory, of the same or another layout, for cells that are vacated; cell_world_open gives it
 * to them. */
static inline pkb_code cell_world_remake(cell_world *world, pkb_layout *layout, pkb_error *err)
{
    pkb_code rc = pkb_layout_place(layout, err);

    for (uint32_t r = 0; r < world->size && rc == PKB_OK; r++) {
        cell_clear_regions(&world->ranks[r]);
        rc = cell_make_regions(&world->ranks[r], layout, r, err);
    }
    return rc;
}

static inline void cell_world_clear(cell_world *world)
{
    for (uint32_t r = 0; r < world->size; r++) {
        cell_rank *rank = &world->ranks[r];
        pkb_child_kill(&rank->child);
        cell_clear_regions(rank);
        pkb_region_clear(&rank->page_region);
        if (rank->socket_fd >= 0)
            close(rank->socket_fd);
        if (rank->pidfd >= 0)
            close(rank->pidfd);
    }
}

/* Gives all ranks the same request; true when all said done in time. */
static inline bool cell_world_command(cell_world *world, pkb_command command, uint32_t calls,
                                      uint64_t timeout_ns)
{
    uint32_t values[TEST_MAX_RANKS];
    bool is_done = true;

    for (uint32_t r = 0; r < world->size; r++) {
        pkb_page *page = cell_page(world, r);
        page->command = (uint32_t)command;
        page->call_count = calls;
        for (uint32_t i = 0; i < calls; i++)
            page->slots[i] = i;
        page->timeout_ns = 5 * PKB_NS_PER_S;
        page->overwrite_byte = 0xb7;
        values[r] = pkb_page_start(page);
    }
    for (uint32_t r = 0; r < world->size; r++)
        is_done &= pkb_page_wait_done(cell_page(world, r), values[r], timeout_ns, false);
    return is_done;
}

/* How a cell ended: through bubblewrap a signal arrives as status 128 + n. */
static inline pkb_code cell_wait(cell_rank *rank, pkb_child_exit *how, pkb_error *err)
{
    pkb_code rc = pkb_child_wait(&rank->child, PKB_TEST_HUNG_NS, how, err);
    if (rc == PKB_OK)
        pkb_child_exit_unwrap(how);
    return rc;
}

#endif
