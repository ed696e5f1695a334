/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the driver and words its errors; see driver.h.
 */
#include "harness/cuda/driver.h"

#include <dlfcn.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cuda/driver_table.h"

/* Code for CUDA 13 needs a driver of CUDA 13. */
enum { OLDEST_VERSION = 13000, MAJOR = 1000, MINOR = 10 };

/* ---- the library ---- */

/* Containers keep the driver outside the loader's own folders. */
static void *load_library(void)
{
    static const char *const names[] = {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1",
                                        "/usr/local/nvidia/lib/libcuda.so.1",
                                        "/usr/lib/wsl/lib/libcuda.so.1"};
    void *library = NULL;

    for (size_t i = 0; i < sizeof names / sizeof names[0] && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* NULL, or the name of a function that the library lacks. */
static const char *find_functions(pkb_driver *driver)
{
#define STRING(text) #text
#define ROW(field, function) {STRING(function), &driver->field},
    const struct {
        const char *name;
        void *into; /* a function pointer of *driver */
    } functions[] = {PKB_DRIVER_FUNCTIONS(ROW)};
#undef ROW
#undef STRING

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(driver->library, functions[i].name);
        if (function == NULL)
            return functions[i].name;
        memcpy(functions[i].into, &function, sizeof function);
    }
    return NULL;
}

static void find_folder(pkb_driver *driver)
{
    Dl_info facts;
    void *address = dlsym(driver->library, "cuInit");
    char path[PATH_MAX];

    if (address == NULL || dladdr(address, &facts) == 0 || facts.dli_fname == NULL ||
        facts.dli_fname[0] != '/')
        return;
    snprintf(path, sizeof path, "%s", facts.dli_fname);
    snprintf(driver->folder, sizeof driver->folder, "%s", dirname(path));
}

static pkb_code start(pkb_driver *driver, pkb_error *err)
{
    int result = (int)driver->Init(0);

    if (result == CUDA_ERROR_NO_DEVICE)
        return pkb_error_set(err, PKB_ERR_MISSING, result,
                             "the NVIDIA driver finds no GPU here: nvidia-smi and "
                             "CUDA_VISIBLE_DEVICES may tell why");
    if (result != CUDA_SUCCESS)
        return pkb_driver_fail(driver, err, result, "the NVIDIA driver does not start");
    if (driver->DriverGetVersion(&driver->version) != CUDA_SUCCESS ||
        driver->version < OLDEST_VERSION)
        return pkb_error_set(err, PKB_ERR_MISSING, 0,
                             "the NVIDIA driver runs CUDA %d.%d at most, and 13.0 is needed: "
                             "install driver 580 or newer",
                             driver->version / MAJOR, driver->version % MAJOR / MINOR);
    result = (int)driver->DeviceGetCount(&driver->device_count);
    if (result != CUDA_SUCCESS)
        return pkb_driver_fail(driver, err, result, "cannot count the GPUs");
    if (driver->device_count > PKB_DRIVER_MAX_DEVICES)
        driver->device_count = PKB_DRIVER_MAX_DEVICES;
    return PKB_OK;
}

static pkb_code open_library(pkb_driver *driver, pkb_error *err)
{
    driver->library = load_library();
    if (driver->library == NULL)
        return pkb_error_set(err, PKB_ERR_MISSING, 0,
                             "no libcuda.so.1 here (%.200s): install NVIDIA's driver 580 or newer, "
                             "or use --device cpu",
                             dlerror());
    const char *missing = find_functions(driver);
    if (missing != NULL)
        return pkb_error_set(err, PKB_ERR_MISSING, 0,
                             "the NVIDIA driver is too old, it lacks %s: install driver 580 or "
                             "newer",
                             missing);
    return start(driver, err);
}

pkb_code pkb_driver_open(pkb_driver **out, pkb_error *err)
{
    pkb_driver *driver = calloc(1, sizeof *driver);

    if (driver == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the driver's functions");
    /* Otherwise the fastest GPU comes first, whatever its place. Runners and cells count so too. */
    setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
    pkb_code rc = open_library(driver, err);
    if (rc != PKB_OK) {
        free(driver);
        return rc;
    }
    find_folder(driver);
    *out = driver;
    return PKB_OK;
}

void pkb_driver_close(pkb_driver *driver)
{
    if (driver == NULL)
        return;
    for (int i = 0; i < driver->device_count; i++) {
        if (driver->contexts[i] != NULL)
            driver->DevicePrimaryCtxRelease(i);
    }
    free(driver);
}

const char *pkb_driver_folder(const pkb_driver *driver)
{
    return driver->folder;
}

int pkb_driver_version(const pkb_driver *driver)
{
    return driver->version;
}

/* ---- contexts ---- */

pkb_code pkb_driver_use(pkb_driver *driver, int device, pkb_error *err)
{
    int result = CUDA_SUCCESS;

    if (device < 0 || device >= driver->device_count)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "there is no GPU %d: this process sees %d",
                             device, driver->device_count);
    if (driver->contexts[device] == NULL)
        result = (int)driver->DevicePrimaryCtxRetain(&driver->contexts[device], device);
    if (result == CUDA_SUCCESS)
        result = (int)driver->CtxSetCurrent(driver->contexts[device]);
    if (result != CUDA_SUCCESS)
        return pkb_driver_fail(driver, err, result, "cannot open GPU %d", device);
    return PKB_OK;
}

pkb_code pkb_driver_synchronize(const pkb_driver *driver, pkb_error *err)
{
    int result = (int)driver->CtxSynchronize();

    if (result != CUDA_SUCCESS)
        return pkb_driver_fail(driver, err, result, "work on the GPU failed");
    return PKB_OK;
}

/* ---- errors ---- */

pkb_code pkb_driver_fail(const pkb_driver *driver, pkb_error *err, int result, const char *format,
                         ...)
{
    const char *name = NULL, *text = NULL;
    char words[256];
    va_list list;

    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    driver->GetErrorName((CUresult)result, &name);
    driver->GetErrorString((CUresult)result, &text);
    return pkb_error_set(err, result == CUDA_ERROR_OUT_OF_MEMORY ? PKB_ERR_MEMORY : PKB_ERR_CUDA,
                         result, "%s: %s, %s", words, name != NULL ? name : "unknown error",
                         text != NULL ? text : "no explanation");
}
