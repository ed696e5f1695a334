/* SPDX-License-Identifier: Apache-2.0
 *
 * NVIDIA's management library, found in libnvidia-ml.so.1 at run time: what the driver API does not
 * tell. GPUs are named by their PCI address, the same in every process.
 */
#ifndef PKB_HARNESS_CUDA_NVML_H
#define PKB_HARNESS_CUDA_NVML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct pkb_nvml pkb_nvml;

pkb_code pkb_nvml_open(pkb_nvml **out, pkb_error *err);
void pkb_nvml_close(pkb_nvml *nvml); /* NULL is fine */

/* False, and nothing written, where the library does not tell. "580.159.04". */
bool pkb_nvml_driver_version(const pkb_nvml *nvml, char *out, size_t bytes);
bool pkb_nvml_minor(const pkb_nvml *nvml, const char *bus_id, int *out);
/* NVLinks that are up, to whomever. */
bool pkb_nvml_link_count(const pkb_nvml *nvml, const char *bus_id, int *out);
/* Whether these two reach each other through NVLink. */
bool pkb_nvml_has_nvlink(const pkb_nvml *nvml, const char *bus_id, const char *other_bus_id);

#endif
