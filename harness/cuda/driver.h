/* SPDX-License-Identifier: Apache-2.0
 *
 * NVIDIA's driver API, found in libcuda.so.1 at run time: the same programs start on a machine
 * without a GPU. Devices are numbered in the order of their PCI addresses, as nvidia-smi does,
 * unless CUDA_VISIBLE_DEVICES says otherwise.
 */
#ifndef PKB_HARNESS_CUDA_DRIVER_H
#define PKB_HARNESS_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct pkb_driver pkb_driver;

/* Loads the library and starts it (cuInit); makes no context. PKB_ERR_MISSING, with the remedy,
 * where there is no driver, no GPU, or a driver that is too old. */
pkb_code pkb_driver_open(pkb_driver **out, pkb_error *err);
/* Gives back the contexts that were used; the library stays loaded. NULL is fine. */
void pkb_driver_close(pkb_driver *driver);

/* The folder that libcuda.so.1 was loaded from, "" if that is unknown. */
const char *pkb_driver_folder(const pkb_driver *driver);
/* 13000 for CUDA 13.0: the newest that this driver runs. */
int pkb_driver_version(const pkb_driver *driver);

/* Makes the device's primary context (once) and makes it current on this thread: the same context
 * that the runtime API uses. */
pkb_code pkb_driver_use(pkb_driver *driver, int device, pkb_error *err);
/* Waits for all work of the current context. */
pkb_code pkb_driver_synchronize(const pkb_driver *driver, pkb_error *err);

/* Records a failed call: the words, then the error's name and its meaning. `result` is a CUresult.
 * Returns PKB_ERR_CUDA, or PKB_ERR_MEMORY where the GPU is full. */
pkb_code pkb_driver_fail(const pkb_driver *driver, pkb_error *err, int result, const char *format,
                         ...) __attribute__((format(printf, 4, 5)));

#endif
