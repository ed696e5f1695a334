/* SPDX-License-Identifier: Apache-2.0
 *
 * Which device a cell is on: its libcudart tells.
 */
#include "harness/cell/device.h"

pkb_code pkb_device_find(const pkb_device **out, const pkb_runtime *runtime, pkb_error *err)
{
    if (pkb_runtime_find(runtime, "pkb_cpu_reserve") != NULL)
        return pkb_cpu_device_find(out, runtime, err);
    return pkb_cuda_device_find(out, err);
}
