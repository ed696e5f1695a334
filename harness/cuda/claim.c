/* SPDX-License-Identifier: Apache-2.0
 *
 * An empty kernel; see claim.h. As PTX, which the driver compiles: no nvcc takes part.
 */
#include "harness/cuda/claim.h"

#include <stdlib.h>

#include "harness/cuda/driver_table.h"

static const char ptx[] = ".version 7.0\n"
                          ".target sm_80\n"
                          ".address_size 64\n"
                          ".extern .func (.param .b32 result) vprintf\n"
                          "(.param .b64 format, .param .b64 values);\n"
                          ".global .align 1 .b8 nothing[1];\n"
                          ".visible .entry pkb_empty() { ret; }\n"
                          ".visible .entry pkb_print_nothing()\n"
                          "{\n"
                          "    .reg .b64 %symbol, %format, %values;\n"
                          "    mov.u64 %symbol, nothing;\n"
                          "    cvta.global.u64 %format, %symbol;\n"
                          "    mov.u64 %values, 0;\n"
                          "    {\n"
                          "        .param .b64 first;\n"
                          "        .param .b64 second;\n"
                          "        .param .b32 count;\n"
                          "        st.param.b64 [first], %format;\n"
                          "        st.param.b64 [second], %values;\n"
                          "        call.uni (count), vprintf, (first, second);\n"
                          "    }\n"
                          "    ret;\n"
                          "}\n";

struct pkb_claim {
    const pkb_driver *driver;
    CUmodule module;
    CUfunction empty, print;
};

pkb_code pkb_claim_open(pkb_claim **out, const pkb_driver *driver, pkb_error *err)
{
    pkb_claim *claim = calloc(1, sizeof *claim);

    if (claim == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a kernel");
    claim->driver = driver;
    CUresult result = driver->ModuleLoadData(&claim->module, ptx);
    if (result == CUDA_SUCCESS)
        result = driver->ModuleGetFunction(&claim->empty, claim->module, "pkb_empty");
    if (result == CUDA_SUCCESS)
        result = driver->ModuleGetFunction(&claim->print, claim->module, "pkb_print_nothing");
    if (result != CUDA_SUCCESS) {
        pkb_code rc = pkb_driver_fail(driver, err, (int)result, "cannot load an empty kernel");
        pkb_claim_close(claim);
        return rc;
    }
    *out = claim;
    return PKB_OK;
}

int pkb_claim_launch(const pkb_claim *claim, void *stream)
{
    return (int)claim->driver->LaunchKernel(claim->empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

void pkb_claim_close(pkb_claim *claim)
{
    if (claim != NULL && claim->module != NULL)
        claim->driver->ModuleUnload(claim->module);
    free(claim);
}

/* ---- warming up ---- */

static CUresult use_memory(const pkb_driver *driver)
{
    enum { BYTES = 1 << 20 };
    CUdeviceptr device = 0;
    void *host = NULL;
    CUresult result = driver->MemAlloc(&device, BYTES);

    if (result == CUDA_SUCCESS)
        result = driver->MemHostAlloc(&host, BYTES, CU_MEMHOSTALLOC_DEVICEMAP);
    if (result == CUDA_SUCCESS)
        result = driver->MemsetD8Async(device, 0, BYTES, NULL);
    if (result == CUDA_SUCCESS)
        result = driver->MemcpyDtoHAsync(host, device, BYTES, NULL);
    if (result == CUDA_SUCCESS)
        result = driver->CtxSynchronize();
    if (host != NULL)
        driver->MemFreeHost(host);
    if (device != 0)
        driver->MemFree(device);
    return result;
}

/* The driver starts a thread for these. */
static void CUDA_CB do_nothing(void *nothing)
{
    (void)nothing;
}

static CUresult use_stream(const pkb_claim *claim)
{
    const pkb_driver *driver = claim->driver;
    CUstream stream = NULL;
    CUevent event = NULL;
    CUresult result = driver->StreamCreate(&stream, CU_STREAM_NON_BLOCKING);

    if (result == CUDA_SUCCESS)
        result = driver->EventCreate(&event, CU_EVENT_DEFAULT);
    if (result == CUDA_SUCCESS)
        result = driver->LaunchKernel(claim->print, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
    if (result == CUDA_SUCCESS)
        result = driver->LaunchHostFunc(stream, do_nothing, NULL);
    if (result == CUDA_SUCCESS)
        result = driver->EventRecord(event, stream);
    if (result == CUDA_SUCCESS)
        result = driver->EventSynchronize(event);
    if (event != NULL)
        driver->EventDestroy(event);
    if (stream != NULL)
        driver->StreamDestroy(stream);
    return result;
}

pkb_code pkb_claim_warm_up(const pkb_claim *claim, pkb_error *err)
{
    CUresult result = use_memory(claim->driver);

    if (result == CUDA_SUCCESS)
        result = use_stream(claim);
    if (result == CUDA_SUCCESS)
        result = claim->driver->CtxSynchronize();
    if (result != CUDA_SUCCESS)
        return pkb_driver_fail(claim->driver, err, (int)result, "the GPU does not do simple work");
    return PKB_OK;
}
