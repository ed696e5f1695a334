/* SPDX-License-Identifier: Apache-2.0
 *
 * Loaded device modules, and the kernels and variables that the host part registered. Callers
 * hold the runtime's lock.
 */
#ifndef PKB_CPU_CUDART_MODULE_H
#define PKB_CPU_CUDART_MODULE_H

#include "harness/cpu/cudart/runtime.h"
#include "harness/cpu/device/device.h"

typedef struct pkb_module {
    struct pkb_module *next;
    const pkb_device_module_info *info; /* NULL: no device code was found */
    void *library;
    char path[4096];
    char failure[256]; /* why info is NULL */
} pkb_module;

/* What a cudaKernel_t or cudaFunction_t points at. */
typedef struct pkb_kernel {
    struct pkb_kernel *next;
    const pkb_module *module;
    const pkb_kernel_info *info; /* NULL: registered, but not in the device module */
    const void *host_function;
    char *name;
    uint32_t max_dynamic_shared; /* cudaFuncSetAttribute */
} pkb_kernel;

typedef struct pkb_variable {
    struct pkb_variable *next;
    const pkb_module *module;
    const pkb_variable_info *info;
    const void *host_variable;
} pkb_variable;

/* The device code of the host module that holds `address`; always a module, possibly without
 * device code. NULL when memory is short. */
pkb_module *pkb_module_load(const void *address);
/* The same for device code that is part of the program: tests. */
pkb_module *pkb_module_add(const pkb_device_module_info *info);
/* Work in flight that belongs to the module is dropped. */
void pkb_module_unload(pkb_module *module);

void pkb_module_add_kernel(pkb_module *module, const void *host_function, const char *name);
const pkb_variable_info *pkb_module_add_variable(pkb_module *module, const void *host_variable,
                                                 const char *name);

/* By the host function of a kernel or by its handle; NULL if unknown. */
pkb_kernel *pkb_kernel_find(const void *symbol);
const pkb_variable_info *pkb_variable_find(const void *symbol);

#endif
