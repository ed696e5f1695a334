/* SPDX-License-Identifier: Apache-2.0
 *
 * NVIDIA's GPUs in a cell. The judge shows this process its own GPU as device 0 and its peers'
 * after it; all regions are mapped for device 0 alone.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "harness/cell/device.h"
#include "harness/cuda/claim.h"
#include "harness/cuda/driver.h"
#include "harness/cuda/vmm.h"

enum { OWN_DEVICE = 0, MOST_RANGES = 64 };

static struct {
    pkb_driver *driver;
    pkb_claim *claim;
    pkb_page *told_page; /* for the signal handler, which takes no context */
    size_t range_count;
    struct {
        uint64_t address, bytes;
    } ranges[MOST_RANGES]; /* reserved for regions, of earlier sizes too */
} cuda;

/* ---- memory ---- */

static pkb_code reserve(uint64_t bytes, uint64_t *address, pkb_error *err)
{
    pkb_code rc = pkb_vmm_reserve(address, cuda.driver, OWN_DEVICE, bytes, err);

    if (rc == PKB_OK && cuda.range_count < MOST_RANGES) {
        cuda.ranges[cuda.range_count].address = *address;
        cuda.ranges[cuda.range_count++].bytes = bytes;
    }
    return rc;
}

static pkb_code map(uint64_t address, int fd, uint64_t bytes, pkb_error *err)
{
    const int own = OWN_DEVICE;
    pkb_vmm_memory memory = {0};
    pkb_code rc = pkb_vmm_import(&memory, cuda.driver, OWN_DEVICE, fd, bytes, err);

    if (rc == PKB_OK)
        rc = pkb_vmm_map(cuda.driver, &memory, address, &own, 1, err);
    pkb_vmm_release(cuda.driver, &memory); /* the mapping keeps it */
    return rc;
}

/* In the same pieces as it was mapped. */
static pkb_code unmap(uint64_t address, uint64_t bytes, pkb_error *err)
{
    uint64_t page = 0;
    pkb_code rc = pkb_vmm_granularity(cuda.driver, OWN_DEVICE, &page, err);

    if (rc != PKB_OK)
        return rc;
    const pkb_vmm_memory memory = {.bytes = (bytes + page - 1) / page * page};
    return pkb_vmm_unmap(cuda.driver, &memory, address, err);
}

/* ---- what goes wrong ---- */

static bool is_device_address(uint64_t address)
{
    for (size_t i = 0; i < cuda.range_count; i++) {
        if (address - cuda.ranges[i].address < cuda.ranges[i].bytes)
            return true;
    }
    return false;
}

/* No stdio here. The same access happens again on return, and then kills. */
static void note_host_fault(int number, siginfo_t *info, void *context)
{
    const uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    char text[] = "host code touched the device address 0x0000000000000000";
    uint64_t rest = address;
    (void)context;

    if (is_device_address(address)) {
        for (size_t i = 0; i < 2 * sizeof rest; i++, rest >>= 4)
            text[sizeof text - 2 - i] = "0123456789abcdef"[rest & 15];
        memcpy(cuda.told_page->fault_kind, "host fault", sizeof "host fault");
        memcpy(cuda.told_page->text, text, sizeof text);
    }
    signal(number, SIG_DFL);
}

static void watch_host_faults(void)
{
    struct sigaction action = {.sa_sigaction = note_host_fault, .sa_flags = SA_SIGINFO};

    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

/* By cudaError_t. All but refused launches end the context: nothing of the process works on. */
static const struct {
    int error;
    const char *kind, *more; /* what the error's own text does not say */
} kinds[] = {
    {700, "illegal address", ""},
    {716, "misaligned address", ""},
    {710, "assert", ""},
    {719, "trap", ": a kernel trapped, as pkb_wait does when a signal never comes"},
    {715, "illegal instruction", ""},
    {718, "illegal address", ""},
    {9, "launch", ""},
    {98, "launch", ""},
    {701, "launch", ""},
    {720, "launch", ""},
};

static bool explain(pkb_page *page)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].error != page->cuda_error)
            continue;
        snprintf(page->fault_kind, sizeof page->fault_kind, "%s", kinds[i].kind);
        if (kinds[i].more[0] != '\0')
            snprintf(page->text, sizeof page->text, "cudaErrorLaunchFailure%s", kinds[i].more);
    }
    return false;
}

/* ---- the device ---- */

static pkb_code prepare(const char *device_module, const pkb_device_limits *limits, pkb_page *page,
                        pkb_error *err)
{
    (void)device_module; /* the host part holds the code of the kernels */
    (void)limits;
    cuda.told_page = page;
    pkb_code rc = pkb_driver_use(cuda.driver, OWN_DEVICE, err);
    if (rc == PKB_OK)
        rc = pkb_claim_open(&cuda.claim, cuda.driver, err);
    if (rc == PKB_OK)
        rc = pkb_claim_warm_up(cuda.claim, err);
    if (rc == PKB_OK)
        watch_host_faults();
    return rc;
}

static int claim(void *stream)
{
    return pkb_claim_launch(cuda.claim, stream);
}

static const pkb_device device = {
    .name = "cuda",
    .keeps_descriptors = true,
    .reserve = reserve,
    .map = map,
    .unmap = unmap,
    .prepare = prepare,
    .claim = claim,
    .explain = explain,
};

pkb_code pkb_cuda_device_find(const pkb_device **out, pkb_error *err)
{
    pkb_code rc = pkb_driver_open(&cuda.driver, err);

    if (rc == PKB_OK)
        *out = &device;
    return rc;
}
