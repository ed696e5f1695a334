/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions (harness/memory/region.h) on a GPU: memory that is made once and travels as a
 * descriptor, mapped for one GPU. A context must be current (pkb_driver_use).
 */
#ifndef PKB_HARNESS_CUDA_REGION_H
#define PKB_HARNESS_CUDA_REGION_H

#include <stdint.h>

#include "harness/cuda/driver.h"
#include "harness/memory/region.h"

/* Makes and maps `bytes` of unknown contents; region->address is the GPU's. */
pkb_code pkb_gpu_region_create(pkb_region *region, const pkb_driver *driver, int device,
                               uint64_t bytes, pkb_error *err);
void pkb_gpu_region_clear(pkb_region *region, const pkb_driver *driver, int device);

/* Maps what another process made. The descriptor stays the caller's. */
pkb_code pkb_gpu_region_map(uint64_t *address, const pkb_driver *driver, int device, int fd,
                            uint64_t bytes, pkb_error *err);
void pkb_gpu_region_unmap(const pkb_driver *driver, int device, uint64_t address, uint64_t bytes);

/* Plain-C entry points for Python's ctypes (libpkbcuda.so), device as this process counts. 0 on
 * failure: the reason is pkb_cuda_reason's. */
uint64_t pkb_cuda_map(int device, int fd, uint64_t bytes);
void pkb_cuda_unmap(int device, uint64_t address, uint64_t bytes);
const char *pkb_cuda_reason(void);

#endif
