/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds NVML; see nvml.h. Its header is not in every toolkit, so the few functions are declared
 * here.
 */
#include "harness/cuda/nvml.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, MOST_LINKS = 36, CAPABILITY_NVLINK = 2, STATUS_OK = 0 };

struct pkb_nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    int (*driver_version)(char *out, unsigned bytes);
    int (*device)(const char *bus_id, void **out);
    int (*minor)(void *device, unsigned *out);
    int (*link_state)(void *device, unsigned link, int *is_active);
    int (*peer_status)(void *device, void *other, int capability, int *status);
};

static void *load_library(void)
{
    static const char *const names[] = {
        "libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
        "/usr/local/nvidia/lib/libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"};
    void *library = NULL;

    for (size_t i = 0; i < sizeof names / sizeof names[0] && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* NULL, or what is missing. */
static const char *find_functions(pkb_nvml *nvml)
{
    const struct {
        const char *name;
        void *into; /* a function pointer of *nvml */
    } functions[] = {
        {"nvmlInit_v2", &nvml->init},
        {"nvmlShutdown", &nvml->shutdown},
        {"nvmlSystemGetDriverVersion", &nvml->driver_version},
        {"nvmlDeviceGetHandleByPciBusId_v2", &nvml->device},
        {"nvmlDeviceGetMinorNumber", &nvml->minor},
        {"nvmlDeviceGetNvLinkState", &nvml->link_state},
        {"nvmlDeviceGetP2PStatus", &nvml->peer_status},
    };

    nvml->library = load_library();
    if (nvml->library == NULL)
        return "libnvidia-ml.so.1";
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(nvml->library, functions[i].name);
        if (function == NULL)
            return functions[i].name;
        memcpy(functions[i].into, &function, sizeof function);
    }
    return NULL;
}

pkb_code pkb_nvml_open(pkb_nvml **out, pkb_error *err)
{
    pkb_nvml *nvml = calloc(1, sizeof *nvml);
    int error = SUCCESS;

    if (nvml == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for NVML");
    const char *missing = find_functions(nvml);
    if (missing == NULL)
        error = nvml->init();
    if (missing == NULL && error == SUCCESS) {
        *out = nvml;
        return PKB_OK;
    }
    free(nvml);
    if (missing != NULL)
        return pkb_error_set(err, PKB_ERR_MISSING, 0, "NVML is incomplete here: no %s", missing);
    return pkb_error_set(err, PKB_ERR_CUDA, error, "NVML does not start: error %d", error);
}

void pkb_nvml_close(pkb_nvml *nvml)
{
    if (nvml != NULL)
        nvml->shutdown();
    free(nvml);
}

bool pkb_nvml_driver_version(const pkb_nvml *nvml, char *out, size_t bytes)
{
    return nvml->driver_version(out, (unsigned)bytes) == SUCCESS;
}

bool pkb_nvml_minor(const pkb_nvml *nvml, const char *bus_id, int *out)
{
    void *device = NULL;
    unsigned minor = 0;

    if (nvml->device(bus_id, &device) != SUCCESS || nvml->minor(device, &minor) != SUCCESS)
        return false;
    *out = (int)minor;
    return true;
}

bool pkb_nvml_link_count(const pkb_nvml *nvml, const char *bus_id, int *out)
{
    void *device = NULL;
    int count = 0;

    if (nvml->device(bus_id, &device) != SUCCESS)
        return false;
    for (unsigned link = 0; link < MOST_LINKS; link++) {
        int is_active = 0;
        if (nvml->link_state(device, link, &is_active) == SUCCESS)
            count += is_active != 0;
    }
    *out = count;
    return true;
}

bool pkb_nvml_has_nvlink(const pkb_nvml *nvml, const char *bus_id, const char *other_bus_id)
{
    void *device = NULL, *other = NULL;
    int status = -1;

    return nvml->device(bus_id, &device) == SUCCESS &&
           nvml->device(other_bus_id, &other) == SUCCESS &&
           nvml->peer_status(device, other, CAPABILITY_NVLINK, &status) == SUCCESS &&
           status == STATUS_OK;
}
