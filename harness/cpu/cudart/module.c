/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding and loading translated device code. It lies beside the host .so, unless a path was set.
 */
#include "harness/cpu/cudart/module.h"

#include "harness/cpu/cudart/stream.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pkb_module *modules;
static pkb_kernel *kernels;
static pkb_variable *variables;
static char *configured_path;

void pkb_cpu_set_device_module(const char *path)
{
    pkb_api_lock();
    free(configured_path);
    configured_path = path != NULL ? strdup(path) : NULL;
    pkb_api_unlock();
}

static void choose_path(char *out, size_t bytes, const void *address)
{
    const char *for_program = getenv("PKB_CPU_DEVICE_MODULE");
    Dl_info where;

    *out = '\0';
    if (configured_path != NULL) {
        snprintf(out, bytes, "%s", configured_path);
        return;
    }
    if (dladdr(address, &where) == 0 || where.dli_fname == NULL)
        return;
    size_t length = strlen(where.dli_fname);
    if (length > 3 && strcmp(where.dli_fname + length - 3, ".so") == 0)
        snprintf(out, bytes, "%.*s.device.so", (int)(length - 3), where.dli_fname);
    else if (for_program != NULL)
        snprintf(out, bytes, "%s", for_program);
    else
        snprintf(out, bytes, "%s.device.so", where.dli_fname);
}

/* Device code is not linked with this library and finds it only in the global scope, where an
 * attempt that was opened RTLD_LOCAL has not put it. */
static void make_global(void)
{
    Dl_info self;

    if (dladdr(&modules, &self) != 0 && self.dli_fname != NULL)
        (void)dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

static const pkb_device_module_info *open_library(pkb_module *module)
{
    if (module->path[0] == '\0') {
        snprintf(module->failure, sizeof module->failure, "nothing names the device module");
        return NULL;
    }
    make_global();
    module->library = dlopen(module->path, RTLD_NOW | RTLD_LOCAL);
    if (module->library == NULL) {
        snprintf(module->failure, sizeof module->failure, "%s", dlerror());
        return NULL;
    }
    const pkb_device_module_info *info = dlsym(module->library, "pkb_device_module");
    if (info == NULL || info->version != PKB_DEVICE_MODULE_VERSION) {
        snprintf(module->failure, sizeof module->failure,
                 "%.200s is not device code of this version", module->path);
        return NULL;
    }
    return info;
}

static pkb_module *add(void)
{
    pkb_module *module = calloc(1, sizeof *module);

    if (module != NULL) {
        module->next = modules;
        modules = module;
    }
    return module;
}

pkb_module *pkb_module_add(const pkb_device_module_info *info)
{
    pkb_module *module = add();

    if (module != NULL) {
        module->info = info;
        if (info->init != NULL)
            info->init();
    }
    return module;
}

pkb_module *pkb_module_load(const void *address)
{
    pkb_module *module = add();

    if (module == NULL)
        return NULL;
    choose_path(module->path, sizeof module->path, address);
    module->info = open_library(module);
    if (module->info != NULL && module->info->init != NULL)
        module->info->init();
    return module;
}

static void drop_kernels(const pkb_module *module)
{
    for (pkb_kernel **at = &kernels; *at != NULL;) {
        pkb_kernel *k = *at;
        if (k->module != module) {
            at = &k->next;
            continue;
        }
        *at = k->next;
        free(k->name);
        free(k);
    }
}

static void drop_variables(const pkb_module *module)
{
    for (pkb_variable **at = &variables; *at != NULL;) {
        pkb_variable *v = *at;
        if (v->module != module) {
            at = &v->next;
            continue;
        }
        *at = v->next;
        free(v);
    }
}

void pkb_module_unload(pkb_module *module)
{
    pkb_stream_forget_module(module->info);
    drop_kernels(module);
    drop_variables(module);
    for (pkb_module **at = &modules; *at != NULL; at = &(*at)->next) {
        if (*at != module)
            continue;
        *at = module->next;
        if (module->library != NULL)
            dlclose(module->library);
        free(module);
        return;
    }
}

static const pkb_kernel_info *find_info(const pkb_module *module, const char *name)
{
    if (module->info == NULL)
        return NULL;
    for (uint32_t i = 0; i < module->info->kernel_count; i++)
        if (strcmp(module->info->kernels[i].name, name) == 0)
            return &module->info->kernels[i];
    return NULL;
}

void pkb_module_add_kernel(pkb_module *module, const void *host_function, const char *name)
{
    pkb_kernel *kernel = calloc(1, sizeof *kernel);

    if (kernel == NULL)
        return;
    kernel->module = module;
    kernel->info = find_info(module, name);
    kernel->host_function = host_function;
    kernel->name = strdup(name);
    kernel->max_dynamic_shared = 48 * 1024;
    kernel->next = kernels;
    kernels = kernel;
}

const pkb_variable_info *pkb_module_add_variable(pkb_module *module, const void *host_variable,
                                                 const char *name)
{
    const pkb_variable_info *info = NULL;

    for (uint32_t i = 0; module->info != NULL && i < module->info->variable_count; i++)
        if (strcmp(module->info->variables[i].name, name) == 0)
            info = &module->info->variables[i];
    pkb_variable *variable = info != NULL ? calloc(1, sizeof *variable) : NULL;
    if (variable != NULL) {
        *variable = (pkb_variable){variables, module, info, host_variable};
        variables = variable;
    }
    return info;
}

pkb_kernel *pkb_kernel_find(const void *symbol)
{
    for (pkb_kernel *k = kernels; k != NULL; k = k->next)
        if (k->host_function == symbol || k == symbol)
            return k;
    return NULL;
}

const pkb_variable_info *pkb_variable_find(const void *symbol)
{
    for (pkb_variable *v = variables; v != NULL; v = v->next)
        if (v->host_variable == symbol)
            return v->info;
    return NULL;
}
