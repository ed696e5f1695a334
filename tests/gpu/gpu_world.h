/* SPDX-License-Identifier: Apache-2.0
 *
 * cell_world.h with GPU memory: this process plays the judges of all ranks. Needs as many GPUs as
 * ranks.
 */
#ifndef PKB_TESTS_GPU_WORLD_H
#define PKB_TESTS_GPU_WORLD_H

#include "harness/cuda/driver_table.h"
#include "harness/cuda/gpu.h"
#include "harness/cuda/vmm.h"
#include "tests/unit/harness/cell_world.h"

typedef struct gpu_region {
    pkb_vmm_memory memory;
    uint64_t address;
} gpu_region;

typedef struct gpu_world {
    cell_world cells;
    pkb_driver *driver;
    pkb_gpus gpus;
    pkb_gpu_choice choice;
    pkb_sandbox_gpus shown;
    int minors[TEST_MAX_RANKS];
    gpu_region slots[TEST_MAX_RANKS], symmetric[TEST_MAX_RANKS], staging[TEST_MAX_RANKS];
    char visible[TEST_MAX_RANKS][PKB_GPU_TEXT_BYTES], libraries[PATH_MAX + 64];
    const char *environments[TEST_MAX_RANKS][8];
} gpu_world;

/* Zero-filled memory of a rank, mapped here; `region` becomes its descriptor. */
static inline pkb_code gpu_make_region(gpu_world *world, gpu_region *out, uint32_t rank,
                                       uint64_t bytes, pkb_region *region, pkb_error *err)
{
    const int device = world->choice.indices[rank];
    int fd = -1;
    pkb_code rc = pkb_driver_use(world->driver, device, err);

    if (rc == PKB_OK)
        rc = pkb_vmm_create(&out->memory, world->driver, device, bytes, err);
    if (rc == PKB_OK)
        rc = pkb_vmm_reserve(&out->address, world->driver, device, out->memory.bytes, err);
    if (rc == PKB_OK)
        rc = pkb_vmm_map(world->driver, &out->memory, out->address, &device, 1, err);
    if (rc == PKB_OK)
        rc = pkb_vmm_export(&fd, world->driver, &out->memory, err);
    if (rc != PKB_OK)
        return rc;
    world->driver->MemsetD8Async(out->address, 0, out->memory.bytes, NULL);
    close(region->fd);
    region->fd = fd;
    return pkb_driver_synchronize(world->driver, err);
}

static inline void gpu_clear_region(gpu_world *world, gpu_region *region, uint32_t rank)
{
    if (region->address != 0) {
        pkb_driver_use(world->driver, world->choice.indices[rank], NULL);
        pkb_vmm_unmap(world->driver, &region->memory, region->address, NULL);
        pkb_vmm_unreserve(world->driver, world->choice.indices[rank], region->address,
                          region->memory.bytes);
    }
    pkb_vmm_release(world->driver, &region->memory);
    region->address = 0;
}

static inline void gpu_set_environment(gpu_world *world, uint32_t rank)
{
    const char **to = world->environments[rank];

    pkb_gpu_visible(world->visible[rank], &world->gpus, &world->choice, rank);
    snprintf(world->libraries, sizeof world->libraries, "LD_LIBRARY_PATH=/pkb/lib:%s",
             pkb_driver_folder(world->driver));
    *to++ = world->visible[rank];
    *to++ = world->libraries;
    *to++ = "HOME=/tmp";
    *to++ = "CUDA_DEVICE_ORDER=PCI_BUS_ID";
    *to++ = "CUDA_MODULE_LOADING=EAGER";
    *to++ = "CUDA_CACHE_DISABLE=1";
    *to = NULL;
    world->cells.environments[rank] = world->environments[rank];
    world->minors[rank] = world->gpus.items[world->choice.indices[rank]].minor;
}

static inline pkb_code gpu_make_regions(gpu_world *world, const pkb_layout *layout, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    for (uint32_t r = 0; r < layout->world && rc == PKB_OK; r++) {
        cell_rank *rank = &world->cells.ranks[r];
        rc = gpu_make_region(world, &world->slots[r], r, layout->slots_bytes, &rank->slots, err);
        if (rc == PKB_OK)
            rc = gpu_make_region(world, &world->symmetric[r], r, layout->symmetric_bytes,
                                 &rank->symmetric, err);
        if (rc == PKB_OK)
            rc = gpu_make_region(world, &world->staging[r], r, layout->slots_bytes, &rank->staging,
                                 err);
    }
    return rc;
}

static inline void gpu_clear_regions(gpu_world *world)
{
    for (uint32_t r = 0; r < world->cells.size; r++) {
        gpu_clear_region(world, &world->slots[r], r);
        gpu_clear_region(world, &world->symmetric[r], r);
        gpu_clear_region(world, &world->staging[r], r);
    }
}

/* Another size for cells that are vacated; cell_world_open gives it to them. */
static inline pkb_code gpu_world_remake(gpu_world *world, pkb_layout *layout, pkb_error *err)
{
    gpu_clear_regions(world);
    pkb_code rc = cell_world_remake(&world->cells, layout, err);
    return rc == PKB_OK ? gpu_make_regions(world, layout, err) : rc;
}

/* `cells` holds paths and level; the driver is the caller's. */
static inline pkb_code gpu_world_make(gpu_world *world, pkb_layout *layout, pkb_error *err)
{
    pkb_code rc = pkb_gpus_find(&world->gpus, world->driver, err);

    if (rc == PKB_OK)
        rc = pkb_gpu_choose(&world->choice, &world->gpus, NULL, layout->world, err);
    if (rc == PKB_OK)
        rc = pkb_gpu_check_peers(world->driver, &world->choice, err);
    if (rc == PKB_OK)
        rc = cell_world_make(&world->cells, layout, err);
    for (uint32_t r = 0; r < layout->world && rc == PKB_OK; r++)
        gpu_set_environment(world, r);
    if (rc == PKB_OK)
        rc = gpu_make_regions(world, layout, err);
    world->shown = (pkb_sandbox_gpus){.minors = world->minors,
                                      .count = layout->world,
                                      .driver_folder = pkb_driver_folder(world->driver)};
    world->cells.gpus = &world->shown;
    world->cells.memory_limit_bytes = (uint64_t)8 << 30;
    return rc;
}

static inline void gpu_world_clear(gpu_world *world)
{
    cell_world_clear(&world->cells);
    gpu_clear_regions(world);
}

/* Where an argument lies in a region that has the layout of slots. */
static inline uint64_t gpu_argument(const gpu_world *world, const gpu_region *region, uint32_t rank,
                                    uint32_t slot, uint32_t index)
{
    const pkb_layout *layout = &world->cells.ranks[rank].layout;
    return region->address + slot * layout->slot_stride + layout->arguments[index].offset;
}

static inline bool gpu_write(gpu_world *world, uint32_t rank, uint64_t to, const void *from,
                             size_t bytes)
{
    return pkb_driver_use(world->driver, world->choice.indices[rank], NULL) == PKB_OK &&
           world->driver->MemcpyHtoDAsync(to, from, bytes, NULL) == CUDA_SUCCESS &&
           pkb_driver_synchronize(world->driver, NULL) == PKB_OK;
}

static inline bool gpu_read(gpu_world *world, uint32_t rank, void *to, uint64_t from, size_t bytes)
{
    return pkb_driver_use(world->driver, world->choice.indices[rank], NULL) == PKB_OK &&
           world->driver->MemcpyDtoHAsync(to, from, bytes, NULL) == CUDA_SUCCESS &&
           pkb_driver_synchronize(world->driver, NULL) == PKB_OK;
}

#endif
