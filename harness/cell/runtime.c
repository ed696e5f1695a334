/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds libcudart and its functions; see runtime.h.
 */
#include "harness/cell/runtime.h"

#include <dlfcn.h>
#include <string.h>

static const char library_name[] = "libcudart.so.13";

void *pkb_runtime_find(const pkb_runtime *runtime, const char *name)
{
    return dlsym(runtime->library, name);
}

pkb_code pkb_runtime_open(pkb_runtime *runtime, pkb_error *err)
{
    const struct {
        const char *name;
        void *into; /* a function pointer of *runtime */
    } functions[] = {
        {"cudaSetDevice", &runtime->set_device},
        {"cudaStreamCreateWithFlags", &runtime->stream_create},
        {"cudaStreamDestroy", &runtime->stream_destroy},
        {"cudaStreamSynchronize", &runtime->stream_synchronize},
        {"cudaDeviceSynchronize", &runtime->device_synchronize},
        {"cudaMemcpyAsync", &runtime->copy_async},
        {"cudaMemsetAsync", &runtime->fill_async},
        {"cudaGetLastError", &runtime->take_error},
        {"cudaGetErrorName", &runtime->error_name},
        {"cudaGetErrorString", &runtime->error_text},
    };

    runtime->library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (runtime->library == NULL)
        return pkb_error_set(err, PKB_ERR_MISSING, 0, "cannot load %s: %s", library_name,
                             dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(runtime->library, functions[i].name);
        if (function == NULL)
            return pkb_error_set(err, PKB_ERR_MISSING, 0, "%s lacks %s", library_name,
                                 functions[i].name);
        memcpy(functions[i].into, &function, sizeof function);
    }
    return PKB_OK;
}
