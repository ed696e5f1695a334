/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual memory management; see vmm.h.
 */
#include "harness/cuda/vmm.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "harness/cuda/driver_table.h"

/* Never CU_MEM_ALLOCATION_COMP_GENERIC: a compressible page could tell times of another kind. */
static CUmemAllocationProp properties_of(int device)
{
    CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
    };
    return properties;
}

pkb_code pkb_vmm_granularity(const pkb_driver *driver, int device, uint64_t *out, pkb_error *err)
{
    const CUmemAllocationProp properties = properties_of(device);
    size_t bytes = 0;
    int result = (int)driver->MemGetAllocationGranularity(&bytes, &properties,
                                                          CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);

    if (result != CUDA_SUCCESS)
        return pkb_driver_fail(driver, err, result, "cannot ask GPU %d for its page size", device);
    *out = bytes;
    return PKB_OK;
}

/* *bytes up to a multiple of *page, the device's granularity and a power of two. */
static pkb_code round_up(uint64_t *bytes, const pkb_driver *driver, int device, uint64_t *page,
                         pkb_error *err)
{
    pkb_code rc = pkb_vmm_granularity(driver, device, page, err);
    uint64_t end;

    if (rc != PKB_OK)
        return rc;
    if (*bytes == 0 || __builtin_add_overflow(*bytes, *page - 1, &end))
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "GPU memory of %llu bytes is impossible",
                             (unsigned long long)*bytes);
    *bytes = end & ~(*page - 1);
    return PKB_OK;
}

/* ---- memory ---- */

pkb_code pkb_vmm_create(pkb_vmm_memory *out, const pkb_driver *driver, int device, uint64_t bytes,
                        pkb_error *err)
{
    const CUmemAllocationProp properties = properties_of(device);
    CUmemGenericAllocationHandle handle = 0;
    uint64_t page = 0;
    pkb_code rc = round_up(&bytes, driver, device, &page, err);

    if (rc != PKB_OK)
        return rc;
    int result = (int)driver->MemCreate(&handle, bytes, &properties, 0);
    if (result != CUDA_SUCCESS)
        return pkb_driver_fail(driver, err, result, "cannot make %llu MiB of memory on GPU %d",
                               (unsigned long long)bytes >> 20, device);
    *out = (pkb_vmm_memory){.handle = handle, .bytes = bytes, .device = device};
    return PKB_OK;
}

pkb_code pkb_vmm_export(int *fd, const pkb_driver *driver, const pkb_vmm_memory *memory,
                        pkb_error *err)
{
    int made = -1;
    int result = (int)driver->MemExportToShareableHandle(
        &made, memory->handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);

    if (result != CUDA_SUCCESS)
        return pkb_driver_fail(driver, err, result, "cannot share memory of GPU %d",
                               memory->device);
    if (fcntl(made, F_SETFD, FD_CLOEXEC) < 0) {
        pkb_code rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot keep a descriptor to ourselves");
        close(made);
        return rc;
    }
    *fd = made;
    return PKB_OK;
}

pkb_code pkb_vmm_import(pkb_vmm_memory *out, const pkb_driver *driver, int device, int fd,
                        uint64_t bytes, pkb_error *err)
{
    CUmemGenericAllocationHandle handle = 0;
    uint64_t page = 0;
    pkb_code rc = round_up(&bytes, driver, device, &page, err);

    if (rc != PKB_OK)
        return rc;
    int result = (int)driver->MemImportFromShareableHandle(
        &handle, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    if (result != CUDA_SUCCESS)
        return pkb_driver_fail(driver, err, result, "cannot take over %llu MiB of GPU memory",
                               (unsigned long long)bytes >> 20);
    *out = (pkb_vmm_memory){.handle = handle, .bytes = bytes, .device = -1};
    return PKB_OK;
}

void pkb_vmm_release(const pkb_driver *driver, pkb_vmm_memory *memory)
{
    if (memory->handle != 0)
        driver->MemRelease(memory->handle);
    *memory = (pkb_vmm_memory){0};
}

/* ---- addresses ---- */

pkb_code pkb_vmm_reserve(uint64_t *address, const pkb_driver *driver, int device, uint64_t bytes,
                         pkb_error *err)
{
    CUdeviceptr made = 0;
    uint64_t page = 0;
    pkb_code rc = round_up(&bytes, driver, device, &page, err);

    if (rc != PKB_OK)
        return rc;
    int result = (int)driver->MemAddressReserve(&made, bytes, page, 0, 0);
    if (result != CUDA_SUCCESS)
        return pkb_driver_fail(driver, err, result, "cannot reserve %llu MiB of addresses",
                               (unsigned long long)bytes >> 20);
    *address = made;
    return PKB_OK;
}

void pkb_vmm_unreserve(const pkb_driver *driver, int device, uint64_t address, uint64_t bytes)
{
    uint64_t page = 0;

    if (address != 0 && round_up(&bytes, driver, device, &page, NULL) == PKB_OK)
        driver->MemAddressFree(address, bytes);
}

pkb_code pkb_vmm_map(const pkb_driver *driver, const pkb_vmm_memory *memory, uint64_t address,
                     const int *devices, size_t device_count, pkb_error *err)
{
    CUmemAccessDesc access[PKB_DRIVER_MAX_DEVICES];

    if (device_count == 0 || device_count > PKB_DRIVER_MAX_DEVICES)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "a mapping for %zu GPUs", device_count);
    for (size_t i = 0; i < device_count; i++)
        access[i] =
            (CUmemAccessDesc){.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = devices[i]},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    int result = (int)driver->MemMap(address, memory->bytes, 0, memory->handle, 0);
    if (result != CUDA_SUCCESS)
        return pkb_driver_fail(driver, err, result, "cannot map %llu MiB of GPU memory",
                               (unsigned long long)memory->bytes >> 20);
    result = (int)driver->MemSetAccess(address, memory->bytes, access, device_count);
    if (result == CUDA_SUCCESS)
        return PKB_OK;
    driver->MemUnmap(address, memory->bytes);
    return pkb_driver_fail(driver, err, result,
                           "GPU %d may not use memory of another: peer access is missing",
                           devices[0]);
}

pkb_code pkb_vmm_unmap(const pkb_driver *driver, const pkb_vmm_memory *memory, uint64_t address,
                       pkb_error *err)
{
    int result = (int)driver->MemUnmap(address, memory->bytes);

    if (result != CUDA_SUCCESS)
        return pkb_driver_fail(driver, err, result, "cannot unmap GPU memory");
    return PKB_OK;
}
