/* SPDX-License-Identifier: Apache-2.0
 *
 * malloc and free of device code: a limited heap of its own that the CUDA API does not see.
 */
#ifndef PKB_CPU_DEVICE_DEVICE_HEAP_H
#define PKB_CPU_DEVICE_DEVICE_HEAP_H

#include <stdint.h>

void pkb_device_heap_set_limit(uint64_t bytes);
uint64_t pkb_device_heap_limit(void);

#endif
