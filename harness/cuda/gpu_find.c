/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the driver for its GPUs; see gpu.h.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "harness/cuda/driver_table.h"
#include "harness/cuda/gpu.h"
#include "harness/cuda/nvml.h"

/* The driver's own file says which /dev/nvidia<N> a PCI address is. */
static bool read_minor(const char *bus_id, int *out)
{
    char path[128], line[256], id[32];
    bool is_found = false;

    snprintf(id, sizeof id, "%s", bus_id);
    for (char *c = id; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    snprintf(path, sizeof path, "/proc/driver/nvidia/gpus/%s/information", id);
    FILE *file = fopen(path, "re");
    while (file != NULL && !is_found && fgets(line, sizeof line, file) != NULL)
        is_found = sscanf(line, "Device Minor: %d", out) == 1;
    if (file != NULL)
        fclose(file);
    return is_found;
}

static int find_minor(const char *bus_id)
{
    pkb_nvml *nvml = NULL;
    int minor = -1;

    if (read_minor(bus_id, &minor))
        return minor;
    if (pkb_nvml_open(&nvml, NULL) == PKB_OK)
        pkb_nvml_minor(nvml, bus_id, &minor);
    pkb_nvml_close(nvml);
    return minor;
}

static void write_uuid(char *out, size_t bytes, const CUuuid *uuid)
{
    size_t used = (size_t)snprintf(out, bytes, "GPU-");
    for (size_t i = 0; i < sizeof uuid->bytes; i++) {
        bool has_dash = i == 4 || i == 6 || i == 8 || i == 10;
        used += (size_t)snprintf(out + used, bytes - used, "%s%02x", has_dash ? "-" : "",
                                 (unsigned char)uuid->bytes[i]);
    }
}

static int ask(pkb_gpu *out, const pkb_driver *driver, int index)
{
    CUdevice device = 0;
    CUuuid uuid;
    size_t bytes = 0;
    int major = 0, minor = 0;
    CUresult result = driver->DeviceGet(&device, index);

    if (result == CUDA_SUCCESS)
        result = driver->DeviceGetName(out->name, sizeof out->name, device);
    if (result == CUDA_SUCCESS)
        result = driver->DeviceGetUuid(&uuid, device);
    if (result == CUDA_SUCCESS)
        result = driver->DeviceTotalMem(&bytes, device);
    if (result == CUDA_SUCCESS)
        result = driver->DeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                            device);
    if (result == CUDA_SUCCESS)
        result = driver->DeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                            device);
    if (result == CUDA_SUCCESS)
        result = driver->DeviceGetPCIBusId(out->bus_id, sizeof out->bus_id, device);
    if (result != CUDA_SUCCESS)
        return (int)result;
    write_uuid(out->uuid, sizeof out->uuid, &uuid);
    out->memory_bytes = bytes;
    out->capability = major * 10 + minor;
    out->minor = find_minor(out->bus_id);
    return CUDA_SUCCESS;
}

pkb_code pkb_gpus_find(pkb_gpus *out, const pkb_driver *driver, pkb_error *err)
{
    *out = (pkb_gpus){0};
    for (int i = 0; i < driver->device_count && i < PKB_MAX_GPUS; i++) {
        int result = ask(&out->items[out->count++], driver, i);
        if (result != CUDA_SUCCESS)
            return pkb_driver_fail(driver, err, result, "GPU %d does not answer", i);
    }
    return PKB_OK;
}

pkb_code pkb_gpu_check_peers(const pkb_driver *driver, const pkb_gpu_choice *choice, pkb_error *err)
{
    for (size_t a = 0; a < choice->count; a++) {
        for (size_t b = 0; b < choice->count; b++) {
            int can = 0;
            if (a == b)
                continue;
            int result =
                (int)driver->DeviceCanAccessPeer(&can, choice->indices[a], choice->indices[b]);
            if (result != CUDA_SUCCESS)
                return pkb_driver_fail(driver, err, result, "GPU %d does not answer",
                                       choice->indices[a]);
            if (can == 0)
                return pkb_error_set(err, PKB_ERR_MISSING, 0,
                                     "GPU %d cannot use the memory of GPU %d: peer access needs "
                                     "NVLink, or PCIe without an IOMMU between them; choose others "
                                     "with --gpus",
                                     choice->indices[a], choice->indices[b]);
        }
    }
    return PKB_OK;
}
