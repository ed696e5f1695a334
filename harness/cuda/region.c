/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions on a GPU; see region.h.
 */
#include "harness/cuda/region.h"

#include <unistd.h>

#include "harness/cuda/vmm.h"

#define PKB_EXPORT __attribute__((visibility("default")))

/* Reserves addresses for `memory` and maps it there for `device`. */
static pkb_code map_somewhere(uint64_t *address, const pkb_driver *driver, int device,
                              const pkb_vmm_memory *memory, pkb_error *err)
{
    uint64_t made = 0;
    pkb_code rc = pkb_vmm_reserve(&made, driver, device, memory->bytes, err);

    if (rc != PKB_OK)
        return rc;
    rc = pkb_vmm_map(driver, memory, made, &device, 1, err);
    if (rc != PKB_OK)
        pkb_vmm_unreserve(driver, device, made, memory->bytes);
    else
        *address = made;
    return rc;
}

pkb_code pkb_gpu_region_create(pkb_region *region, const pkb_driver *driver, int device,
                               uint64_t bytes, pkb_error *err)
{
    pkb_vmm_memory memory = {0};
    uint64_t address = 0;
    int fd = -1;
    pkb_code rc = PKB_OK;

    if ((rc = pkb_vmm_create(&memory, driver, device, bytes, err)) != PKB_OK ||
        (rc = pkb_vmm_export(&fd, driver, &memory, err)) != PKB_OK ||
        (rc = map_somewhere(&address, driver, device, &memory, err)) != PKB_OK)
        goto cleanup;
    *region = (pkb_region){.fd = fd, .address = (void *)(uintptr_t)address, .bytes = bytes};
    fd = -1;
cleanup:
    if (fd >= 0)
        close(fd);
    pkb_vmm_release(driver, &memory); /* the mapping keeps it */
    return rc;
}

void pkb_gpu_region_clear(pkb_region *region, const pkb_driver *driver, int device)
{
    if (region->address != NULL)
        pkb_gpu_region_unmap(driver, device, (uint64_t)(uintptr_t)region->address, region->bytes);
    if (region->fd >= 0)
        close(region->fd);
    *region = (pkb_region)PKB_REGION_NONE;
}

pkb_code pkb_gpu_region_map(uint64_t *address, const pkb_driver *driver, int device, int fd,
                            uint64_t bytes, pkb_error *err)
{
    pkb_vmm_memory memory = {0};
    pkb_code rc = pkb_vmm_import(&memory, driver, device, fd, bytes, err);

    if (rc == PKB_OK)
        rc = map_somewhere(address, driver, device, &memory, err);
    pkb_vmm_release(driver, &memory);
    return rc;
}

void pkb_gpu_region_unmap(const pkb_driver *driver, int device, uint64_t address, uint64_t bytes)
{
    uint64_t page = 0;

    if (pkb_vmm_granularity(driver, device, &page, NULL) != PKB_OK || page == 0)
        return;
    const pkb_vmm_memory memory = {.bytes = (bytes + page - 1) / page * page};
    if (pkb_vmm_unmap(driver, &memory, address, NULL) == PKB_OK)
        pkb_vmm_unreserve(driver, device, address, memory.bytes);
}

/* ---- for Python ---- */

static struct {
    pkb_driver *driver;
    pkb_error error;
} python;

static pkb_code use(int device)
{
    pkb_code rc = PKB_OK;

    if (python.driver == NULL)
        rc = pkb_driver_open(&python.driver, &python.error);
    return rc != PKB_OK ? rc : pkb_driver_use(python.driver, device, &python.error);
}

PKB_EXPORT uint64_t pkb_cuda_map(int device, int fd, uint64_t bytes)
{
    uint64_t address = 0;
    pkb_code rc = use(device);

    if (rc == PKB_OK)
        rc = pkb_gpu_region_map(&address, python.driver, device, fd, bytes, &python.error);
    return rc == PKB_OK ? address : 0;
}

PKB_EXPORT void pkb_cuda_unmap(int device, uint64_t address, uint64_t bytes)
{
    if (use(device) == PKB_OK)
        pkb_gpu_region_unmap(python.driver, device, address, bytes);
}

PKB_EXPORT const char *pkb_cuda_reason(void)
{
    return python.error.message;
}
