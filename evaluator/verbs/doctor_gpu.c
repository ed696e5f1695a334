/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks at GPUs; see doctor_gpu.h.
 */
#include "evaluator/verbs/doctor_gpu.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "evaluator/machine/process.h"
#include "harness/cuda/driver.h"
#include "harness/cuda/gpu.h"
#include "harness/cuda/nvml.h"

typedef struct table {
    pkb_doctor_row *rows;
    size_t count, most;
} table;

/* NULL once the table is full. */
static pkb_doctor_row *add(table *to, const char *name)
{
    if (to->count == to->most)
        return NULL;
    pkb_doctor_row *row = &to->rows[to->count++];
    *row = (pkb_doctor_row){.is_fine = true};
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

static void add_driver(table *to, const pkb_driver *driver, const pkb_nvml *nvml)
{
    const int version = pkb_driver_version(driver);
    pkb_doctor_row *row = add(to, "NVIDIA driver");
    char text[64] = "";

    if (row == NULL)
        return;
    if (nvml != NULL)
        pkb_nvml_driver_version(nvml, text, sizeof text);
    snprintf(row->what, sizeof row->what, "%s%sfor CUDA %d.%d  %.300s", text,
             text[0] != '\0' ? ", " : "", version / 1000, version % 1000 / 10,
             pkb_driver_folder(driver));
}

static void add_gpu(table *to, const pkb_gpu *gpu, size_t index, const pkb_nvml *nvml)
{
    enum { OLDEST_CAPABILITY = 80 };
    char name[32], links[32] = "";
    int link_count = 0;

    snprintf(name, sizeof name, "GPU %zu", index);
    pkb_doctor_row *row = add(to, name);
    if (row == NULL)
        return;
    if (nvml != NULL && pkb_nvml_link_count(nvml, gpu->bus_id, &link_count) && link_count > 0)
        snprintf(links, sizeof links, ", NVLink x %d", link_count);
    row->is_fine = gpu->capability >= OLDEST_CAPABILITY && gpu->minor >= 0;
    snprintf(row->what, sizeof row->what, "%s, %.0f GiB, sm_%d%s, /dev/nvidia%d", gpu->name,
             (double)gpu->memory_bytes / (1 << 30), gpu->capability, links, gpu->minor);
    if (gpu->capability < OLDEST_CAPABILITY)
        snprintf(row->remedy, sizeof row->remedy,
                 "sm_%d or newer is needed: leave it out by --gpus", OLDEST_CAPABILITY);
    else if (gpu->minor < 0)
        snprintf(row->remedy, sizeof row->remedy,
                 "its device file is unknown: mount /proc/driver/nvidia, or install NVML");
}

static const char *link_words(const pkb_gpus *gpus, const pkb_nvml *nvml)
{
    for (size_t a = 0; a < gpus->count; a++) {
        for (size_t b = 0; b < gpus->count; b++) {
            if (a != b && (nvml == NULL || !pkb_nvml_has_nvlink(nvml, gpus->items[a].bus_id,
                                                                gpus->items[b].bus_id)))
                return "not all through NVLink";
        }
    }
    return "all through NVLink";
}

static void add_peers(table *to, const pkb_driver *driver, const pkb_gpus *gpus,
                      const pkb_nvml *nvml)
{
    pkb_gpu_choice all = {.count = gpus->count};
    pkb_error err = {0};

    pkb_doctor_row *row = add(to, "peer access");
    if (row == NULL)
        return;
    for (size_t i = 0; i < gpus->count; i++)
        all.indices[i] = (int)i;
    if (gpus->count < 2) {
        snprintf(row->what, sizeof row->what, "one GPU only: worlds of one rank");
        return;
    }
    row->is_fine = pkb_gpu_check_peers(driver, &all, &err) == PKB_OK;
    snprintf(row->what, sizeof row->what, "%s",
             row->is_fine ? link_words(gpus, nvml) : err.message);
    if (!row->is_fine)
        snprintf(row->remedy, sizeof row->remedy, "choose GPUs that reach each other with --gpus");
}

/* Without importing torch, which takes seconds: its version file, and what pip knows of NCCL. */
static void add_torch(table *to, const pkb_toolbox *tools)
{
    static const char question[] =
        "import importlib.metadata as m, importlib.util as u, os, runpy\n"
        "folder = os.path.dirname(u.find_spec('torch').origin)\n"
        "cuda = runpy.run_path(os.path.join(folder, 'version.py')).get('cuda')\n"
        "nccl = [f'{d.metadata[\"Name\"]} {d.version}' for d in m.distributions()\n"
        "        if (d.metadata['Name'] or '').startswith('nvidia-nccl')]\n"
        "print(f'for CUDA {cuda}, {nccl[0] if nccl else \"its own NCCL\"}' if cuda else 'cpu')\n";
    const char *python = tools->tools[PKB_TOOL_PYTHON].path;
    const char *const argv[] = {python, "-c", question, NULL};
    const pkb_process_options options = {.argv = argv};
    pkb_buf output = {0};
    pkb_child_exit how = {0};

    if (!pkb_tool_is_fine(tools, PKB_TOOL_TORCH))
        return; /* has a row of its own */
    pkb_doctor_row *row = add(to, "torch on GPUs");
    if (row == NULL)
        return;
    bool is_answer = pkb_process_run(&options, 20 * PKB_NS_PER_S, &how, &output, NULL) == PKB_OK &&
                     how.exited && how.status == 0;
    const char *text = pkb_buf_text(&output);
    row->is_fine = is_answer && strncmp(text, "for CUDA", strlen("for CUDA")) == 0;
    snprintf(row->what, sizeof row->what, "%.*s",
             (int)(row->is_fine ? strcspn(text, "\n") : strlen("built for the CPU alone")),
             row->is_fine ? text : "built for the CPU alone");
    if (!row->is_fine)
        snprintf(row->remedy, sizeof row->remedy,
                 "install PyTorch for CUDA 13 (pip install torch) and name its interpreter by "
                 "$PKBENCH_PYTHON");
    pkb_buf_clear(&output);
}

static void add_none(table *to, const pkb_error *err)
{
    pkb_doctor_row *row = add(to, "GPU");

    row->is_fine = !pkb_tool_has_gpu();
    if (row->is_fine) {
        snprintf(row->what, sizeof row->what, "none; attempts run on the CPU device");
        return;
    }
    snprintf(row->what, sizeof row->what, "there is one, but it does not work");
    snprintf(row->remedy, sizeof row->remedy, "%s", err->message);
}

size_t pkb_doctor_gpus(pkb_doctor_row *rows, size_t most, const pkb_toolbox *tools)
{
    static pkb_gpus gpus;
    table all = {.rows = rows, .most = most};
    pkb_driver *driver = NULL;
    pkb_nvml *nvml = NULL;
    pkb_error err = {0};

    if (pkb_driver_open(&driver, &err) != PKB_OK || pkb_gpus_find(&gpus, driver, &err) != PKB_OK) {
        add_none(&all, &err);
        pkb_driver_close(driver);
        return all.count;
    }
    pkb_nvml_open(&nvml, NULL);
    add_driver(&all, driver, nvml);
    for (size_t i = 0; i < gpus.count; i++)
        add_gpu(&all, &gpus.items[i], i, nvml);
    add_peers(&all, driver, &gpus, nvml);
    add_torch(&all, tools);
    pkb_nvml_close(nvml);
    pkb_driver_close(driver);
    return all.count;
}
