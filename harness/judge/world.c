/* SPDX-License-Identifier: Apache-2.0
 *
 * The world page. The barrier is a counter of arrivals and an epoch: the last to arrive resets the
 * counter and moves the epoch, on which the others wait (futex, or spinning where there are cores
 * to spare). Two places for what ranks bring, in turn, make one barrier an exchange enough.
 */
#include "harness/judge/world.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

struct pkb_world_page {
    _Atomic uint32_t arrived, epoch, aborted;
    uint64_t numbers[2][PKB_MAX_RANKS];
    pkb_finding findings[2][PKB_MAX_RANKS];
};

static void world_fill(pkb_judge_world *world, uint32_t rank, uint32_t size, const pkb_watch *watch)
{
    cpu_set_t usable;
    CPU_ZERO(&usable);
    world->rank = rank;
    world->size = size;
    world->watch = watch;
    world->cores =
        sched_getaffinity(0, sizeof usable, &usable) == 0 ? (uint32_t)CPU_COUNT(&usable) : 1;
    world->spin = world->cores >= 3 * size;
    world->page = world->region.address;
}

pkb_code pkb_judge_world_create(pkb_judge_world *world, uint32_t size, const pkb_watch *watch,
                                pkb_error *err)
{
    *world = (pkb_judge_world){.region = PKB_REGION_NONE};
    pkb_code rc = pkb_region_create(&world->region, "pkb-world", sizeof(pkb_world_page), err);
    if (rc == PKB_OK)
        world_fill(world, 0, size, watch);
    return rc;
}

pkb_code pkb_judge_world_adopt(pkb_judge_world *world, uint32_t rank, uint32_t size, int fd,
                               const pkb_watch *watch, pkb_error *err)
{
    *world = (pkb_judge_world){.region = PKB_REGION_NONE};
    pkb_code rc = pkb_region_adopt(&world->region, fd, sizeof(pkb_world_page), err);
    if (rc == PKB_OK)
        world_fill(world, rank, size, watch);
    return rc;
}

void pkb_judge_world_clear(pkb_judge_world *world)
{
    pkb_region_clear(&world->region);
    world->page = NULL;
}

static void sleep_on(_Atomic uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
    struct timespec timeout = {.tv_sec = 0, .tv_nsec = (long)timeout_ns};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, NULL, 0);
}

/* One slice of waiting for the epoch to move on. */
static void wait_slice(pkb_judge_world *world, uint32_t epoch)
{
    uint64_t deadline_ns = pkb_clock_now_ns() + PKB_WATCH_SLICE_NS;
    if (!world->spin) {
        sleep_on(&world->page->epoch, epoch, PKB_WATCH_SLICE_NS);
        return;
    }
    while (atomic_load_explicit(&world->page->epoch, memory_order_acquire) == epoch &&
           pkb_clock_left_ns(deadline_ns) > 0)
        __builtin_ia32_pause();
}

pkb_code pkb_judge_world_barrier(pkb_judge_world *world, pkb_error *err)
{
    pkb_world_page *page = world->page;
    uint32_t epoch = atomic_load_explicit(&page->epoch, memory_order_acquire);
    pkb_code rc = PKB_OK;

    if (atomic_fetch_add_explicit(&page->arrived, 1, memory_order_acq_rel) + 1 == world->size) {
        atomic_store_explicit(&page->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&page->epoch, epoch + 1, memory_order_release);
        syscall(SYS_futex, &page->epoch, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        return PKB_OK;
    }
    for (;;) {
        wait_slice(world, epoch);
        if (atomic_load_explicit(&page->epoch, memory_order_acquire) != epoch)
            return PKB_OK;
        if ((rc = pkb_watch_check(world->watch, err)) != PKB_OK)
            return rc;
    }
}

pkb_code pkb_judge_world_share(pkb_judge_world *world, uint64_t mine, uint64_t *all, pkb_error *err)
{
    uint64_t *numbers = world->page->numbers[world->meeting_count++ % 2];
    numbers[world->rank] = mine;
    pkb_code rc = pkb_judge_world_barrier(world, err);
    if (rc == PKB_OK)
        memcpy(all, numbers, world->size * sizeof *all);
    return rc;
}

pkb_code pkb_judge_world_settle(pkb_judge_world *world, const pkb_finding *mine, pkb_finding *worst,
                                pkb_error *err)
{
    pkb_finding *findings = world->page->findings[world->meeting_count++ % 2];
    findings[world->rank] = *mine;
    pkb_code rc = pkb_judge_world_barrier(world, err);
    if (rc == PKB_OK)
        pkb_finding_worst(worst, findings, world->size);
    return rc;
}

void pkb_judge_world_abort(pkb_judge_world *world)
{
    atomic_store_explicit(&world->page->aborted, 1, memory_order_release);
}

bool pkb_judge_world_is_aborted(const pkb_judge_world *world)
{
    return atomic_load_explicit(&world->page->aborted, memory_order_acquire) != 0;
}

pkb_code pkb_judge_world_begin(pkb_judge_world *world, pkb_error *err)
{
    pkb_code rc = pkb_judge_world_barrier(world, err);
    if (rc == PKB_OK && world->rank == 0)
        atomic_store_explicit(&world->page->aborted, 0, memory_order_release);
    return rc != PKB_OK ? rc : pkb_judge_world_barrier(world, err);
}
