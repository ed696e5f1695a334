/* SPDX-License-Identifier: Apache-2.0
 *
 * Reserving the address ranges of the CPU device, and foreign memory in them.
 */
#include "harness/cpu/device/window.h"

#include "harness/cpu/cudart/pkb_cpu.h"
#include "harness/cpu/device/heap.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>

#define GIB (1ull << 30)

enum { LARGEST_WINDOW_GIB = 2048, SMALLEST_WINDOW_GIB = 16, PLACES_TRIED = 32 };

static const uint64_t foreign_align = 2ull << 20, page_bytes = 4096;

uint64_t pkb_window_base, pkb_window_bytes, pkb_window_delta;
uint64_t pkb_shared_range;

static pthread_mutex_t foreign_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t foreign_next;

/* A 4 GiB aligned range at a random place: attempts must not rely on addresses being equal in
 * all ranks, nor on small ones. 0 when the system refuses. */
static uint64_t reserve(uint64_t bytes)
{
    for (int i = 0; i < PLACES_TRIED; i++) {
        uint32_t random = 0;
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return 0;
        /* 17 TiB to 81 TiB: above the program, its heap and sanitizers, below libraries. */
        uint64_t place = (4352ull + random % 16384) * 4 * GIB;
        void *got = mmap((void *)(uintptr_t)place, bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == (void *)(uintptr_t)place)
            return place;
        if (got != MAP_FAILED) /* a kernel that takes the address for a hint */
            munmap(got, bytes);
        else if (errno == ENOMEM)
            return 0;
    }
    return 0;
}

static bool open_window(void)
{
    for (uint64_t gib = LARGEST_WINDOW_GIB; gib >= SMALLEST_WINDOW_GIB; gib /= 2) {
        uint64_t window = reserve(gib * GIB);
        uint64_t backing = window == 0 ? 0 : reserve(gib * GIB);
        if (backing != 0) {
            pkb_window_base = window;
            pkb_window_bytes = gib * GIB;
            pkb_window_delta = backing - window;
            foreign_next = window + pkb_window_bytes / 2;
            return true;
        }
        if (window != 0)
            munmap((void *)(uintptr_t)window, gib * GIB);
    }
    return false;
}

pkb_code pkb_window_open(pkb_error *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pkb_code rc = PKB_OK;

    pthread_mutex_lock(&lock);
    if (pkb_window_base == 0 && !open_window())
        rc = pkb_error_set_errno(err, PKB_ERR_MEMORY, "cannot reserve the device address window");
    if (rc == PKB_OK && pkb_shared_range == 0) {
        pkb_shared_range = reserve(4 * GIB);
        if (pkb_shared_range == 0)
            rc = pkb_error_set_errno(err, PKB_ERR_MEMORY, "cannot reserve the shared memory range");
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

bool pkb_window_holds(uint64_t device_address)
{
    return device_address - pkb_window_base < pkb_window_bytes;
}

void *pkb_window_translate(uint64_t address)
{
    return (void *)(uintptr_t)(pkb_window_holds(address) ? address + pkb_window_delta : address);
}

uint64_t pkb_window_device_address(uint64_t host_address)
{
    uint64_t moved = host_address - pkb_window_delta;
    return pkb_window_holds(moved) ? moved : host_address;
}

uint64_t pkb_window_heap_bytes(void)
{
    return pkb_window_bytes / 2;
}

void pkb_window_describe(uint64_t address, char *out, size_t bytes)
{
    if (address == 0)
        snprintf(out, bytes, "null pointer, or an address outside the address space");
    else if (address < 65536)
        snprintf(out, bytes, "near the null pointer");
    else if (!pkb_window_holds(address))
        snprintf(out, bytes, "neither device memory nor memory that the host registered");
    else if (address - pkb_window_base >= pkb_window_heap_bytes())
        snprintf(out, bytes, "outside the mapped parts of slots and symmetric memory");
    else
        pkb_heap_describe(address, out, bytes);
}

/* Foreign ranges that are mapped, unsorted; a program has a handful. */
typedef struct mapped_range {
    uint64_t start, end;
} mapped_range;

static mapped_range *mapped;
static size_t mapped_count;

static bool is_mapped(uint64_t start, uint64_t end)
{
    bool found = false;

    pthread_mutex_lock(&foreign_lock);
    for (size_t i = 0; i < mapped_count && !found; i++)
        found = mapped[i].start <= start && end <= mapped[i].end;
    pthread_mutex_unlock(&foreign_lock);
    return found;
}

bool pkb_window_is_accessible(uint64_t address, uint64_t bytes)
{
    if (address - pkb_window_base >= pkb_window_heap_bytes())
        return is_mapped(address, address + bytes);
    const pkb_allocation *a = pkb_heap_find(address);
    return a != NULL && bytes <= a->address + a->bytes - address;
}

bool pkb_window_commit(uint64_t device_address, uint64_t bytes)
{
    void *at = pkb_window_translate(device_address);
    return mmap(at, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == at;
}

void pkb_window_decommit(uint64_t device_address, uint64_t bytes)
{
    (void)mmap(pkb_window_translate(device_address), bytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* ---- foreign memory ---- */

static bool is_foreign(uint64_t device_address, uint64_t bytes)
{
    uint64_t start = pkb_window_base + pkb_window_heap_bytes();
    return device_address >= start && device_address <= foreign_next &&
           bytes <= foreign_next - device_address && device_address % page_bytes == 0;
}

static bool note_mapped(uint64_t start, uint64_t end)
{
    mapped_range *grown = realloc(mapped, (mapped_count + 1) * sizeof *mapped);

    if (grown == NULL)
        return false;
    mapped = grown;
    mapped[mapped_count++] = (mapped_range){start, end};
    return true;
}

/* Cuts a range out of all mapped ones. */
static void note_unmapped(uint64_t start, uint64_t end)
{
    size_t before = mapped_count;

    for (size_t i = 0; i < before; i++) {
        mapped_range old = mapped[i];
        if (old.end <= start || end <= old.start)
            continue;
        mapped[i].end = start > old.start ? start : old.start;
        if (old.end > end)
            note_mapped(end, old.end);
    }
}

static uint64_t round_up(uint64_t value, uint64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

int pkb_cpu_reserve(uint64_t bytes, uint64_t *device_address)
{
    int rc = 0;

    if (bytes == 0)
        return EINVAL;
    if (pkb_window_open(NULL) != PKB_OK)
        return ENOMEM;
    pthread_mutex_lock(&foreign_lock);
    uint64_t left = pkb_window_base + pkb_window_bytes - foreign_next;
    /* A gap of at least a page: running over the end of one region must not reach the next. */
    if (bytes > left || round_up(bytes + page_bytes, foreign_align) > left) {
        rc = ENOMEM;
    } else {
        *device_address = foreign_next;
        foreign_next += round_up(bytes + page_bytes, foreign_align);
    }
    pthread_mutex_unlock(&foreign_lock);
    return rc;
}

int pkb_cpu_map(uint64_t device_address, int fd, uint64_t offset, uint64_t bytes, int writable)
{
    if (bytes == 0 || !is_foreign(device_address, bytes) || offset % page_bytes != 0)
        return EINVAL;
    void *at = pkb_window_translate(device_address);
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    if (mmap(at, bytes, protection, MAP_SHARED | MAP_FIXED, fd, (off_t)offset) != at)
        return errno;
    pthread_mutex_lock(&foreign_lock);
    bool is_noted = note_mapped(device_address, device_address + bytes);
    pthread_mutex_unlock(&foreign_lock);
    return is_noted ? 0 : ENOMEM;
}

int pkb_cpu_unmap(uint64_t device_address, uint64_t bytes)
{
    if (bytes == 0 || !is_foreign(device_address, bytes))
        return EINVAL;
    pkb_window_decommit(device_address, round_up(bytes, page_bytes));
    pthread_mutex_lock(&foreign_lock);
    note_unmapped(device_address, device_address + round_up(bytes, page_bytes));
    pthread_mutex_unlock(&foreign_lock);
    return 0;
}

void *pkb_cpu_host_address(uint64_t device_address)
{
    return pkb_window_holds(device_address) ? pkb_window_translate(device_address) : NULL;
}

/* ---- shared memory ---- */

static uint16_t free_windows[PKB_SHARED_WINDOWS];
static uint32_t free_count, used_count;

/* Windows become accessible at their first use: all of them would count as memory in use where
 * that is limited. */
static bool commit_window(uint32_t index)
{
    uint64_t start = pkb_shared_range + (uint64_t)index * PKB_SHARED_WINDOW_BYTES;
    return mprotect((void *)(uintptr_t)start, PKB_SHARED_WINDOW_BYTES, PROT_READ | PROT_WRITE) == 0;
}

bool pkb_shared_take(uint32_t *index)
{
    if (free_count > 0)
        *index = free_windows[--free_count];
    else if (used_count < PKB_SHARED_WINDOWS && commit_window(used_count))
        *index = used_count++;
    else
        return false;
    return true;
}

void pkb_shared_give(uint32_t index)
{
    free_windows[free_count++] = (uint16_t)index;
}

uint32_t pkb_shared_free_count(void)
{
    return free_count + PKB_SHARED_WINDOWS - used_count;
}
