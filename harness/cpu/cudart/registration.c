/* SPDX-License-Identifier: Apache-2.0
 *
 * What the constructors of a host part call while it is loaded.
 */
#include "harness/cpu/cudart/module.h"

#include "harness/cpu/device/window.h"

void **__cudaRegisterFatBinary(void *fat_binary)
{
    pkb_api_lock();
    /* Initialisers of device code may take addresses in the shared range. */
    (void)pkb_window_open(NULL);
    pkb_module *module = pkb_module_load(fat_binary);
    pkb_api_unlock();
    return (void **)module;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
    if (handle == NULL)
        return;
    pkb_api_lock();
    pkb_module_unload((pkb_module *)handle);
    pkb_api_unlock();
}

char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

void __cudaRegisterFunction(void **handle, const char *host_function, char *device_function,
                            const char *device_name, int thread_limit, uint3 *tid, uint3 *bid,
                            dim3 *block_dim, dim3 *grid_dim, int *warp_size)
{
    (void)device_function, (void)thread_limit, (void)tid, (void)bid;
    (void)block_dim, (void)grid_dim, (void)warp_size;
    if (handle == NULL)
        return;
    pkb_api_lock();
    pkb_module_add_kernel((pkb_module *)handle, host_function, device_name);
    pkb_api_unlock();
}

void __cudaRegisterVar(void **handle, char *host_variable, char *device_address,
                       const char *device_name, int is_extern, size_t bytes, int is_constant,
                       int is_global)
{
    (void)device_address, (void)is_extern, (void)bytes, (void)is_constant, (void)is_global;
    if (handle == NULL)
        return;
    pkb_api_lock();
    (void)pkb_module_add_variable((pkb_module *)handle, host_variable, device_name);
    pkb_api_unlock();
}

/* Host code reaches a managed variable through a pointer that the runtime fills in. */
void __cudaRegisterManagedVar(void **handle, void **host_pointer, char *device_address,
                              const char *device_name, int is_extern, size_t bytes, int is_constant,
                              int is_global)
{
    (void)device_address, (void)is_extern, (void)bytes, (void)is_constant, (void)is_global;
    if (handle == NULL)
        return;
    pkb_api_lock();
    const pkb_variable_info *info =
        pkb_module_add_variable((pkb_module *)handle, host_pointer, device_name);
    if (info != NULL)
        *host_pointer = info->address;
    pkb_api_unlock();
}

void __cudaRegisterHostVar(void **handle, const char *device_name, char *host_variable,
                           size_t bytes)
{
    (void)handle, (void)device_name, (void)host_variable, (void)bytes;
}
