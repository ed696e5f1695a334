/* SPDX-License-Identifier: Apache-2.0
 *
 * Names the machine; see machine.h.
 */
#include "evaluator/machine/machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void pkb_machine_host(pkb_buf *out)
{
    char host[128] = "";
    gethostname(host, sizeof host - 1);
    pkb_buf_append_string(out, host[0] != '\0' ? host : "unknown");
}

static void append_processor(pkb_buf *out)
{
    static const char key[] = "model name";
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, key, sizeof key - 1) != 0 || value == NULL)
            continue;
        value += 1 + strspn(value + 1, " ");
        pkb_buf_append(out, value, strcspn(value, "\n"));
        fclose(file);
        return;
    }
    if (file != NULL)
        fclose(file);
    pkb_buf_append_string(out, "unknown processor");
}

void pkb_machine_class(pkb_buf *out, const pkb_toolbox *tools, const pkb_eval_gpus *gpus)
{
    if (gpus != NULL && gpus->count > 0) {
        /* The runtime library is the one of nvcc's toolkit. */
        pkb_buf_printf(out, "%s x %zu, %s%sdriver %s for CUDA %s, nvcc %s, torch %s", gpus->name,
                       gpus->count, gpus->link, gpus->link[0] != '\0' ? ", " : "", gpus->driver,
                       gpus->version, tools->tools[PKB_TOOL_NVCC].version,
                       tools->tools[PKB_TOOL_TORCH].version);
        if (tools->nccl[0] != '\0')
            pkb_buf_printf(out, ", NCCL %s", tools->nccl);
        return;
    }
    pkb_buf_append_string(out, "cpu, ");
    append_processor(out);
    pkb_buf_printf(out, " x %ld, nvcc %s, gcc %s, torch %s", sysconf(_SC_NPROCESSORS_ONLN),
                   tools->tools[PKB_TOOL_NVCC].version, tools->tools[PKB_TOOL_GCC].version,
                   tools->tools[PKB_TOOL_TORCH].version);
}
