/* SPDX-License-Identifier: Apache-2.0
 *
 * The few CUDA runtime calls that a cell makes itself, found in libcudart at run time, so that one
 * program serves NVIDIA's library and the CPU device's.
 */
#ifndef PKB_HARNESS_CELL_RUNTIME_H
#define PKB_HARNESS_CELL_RUNTIME_H

#include <stddef.h>

#include "base/error.h"

enum { PKB_CUDA_SUCCESS = 0, PKB_CUDA_DEVICE_TO_DEVICE = 3, PKB_CUDA_NON_BLOCKING = 1 };

typedef struct pkb_runtime {
    void *library;
    int (*set_device)(int device);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*stream_synchronize)(void *stream);
    int (*device_synchronize)(void);
    int (*copy_async)(void *to, const void *from, size_t bytes, int kind, void *stream);
    int (*fill_async)(void *to, int value, size_t bytes, void *stream);
    int (*take_error)(void); /* cudaGetLastError: returns and forgets */
    const char *(*error_name)(int error);
    const char *(*error_text)(int error);
} pkb_runtime;

pkb_code pkb_runtime_open(pkb_runtime *runtime, pkb_error *err);
/* A function that only one kind of libcudart has; NULL if this one lacks it. */
void *pkb_runtime_find(const pkb_runtime *runtime, const char *name);

#endif
