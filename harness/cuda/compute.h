/* SPDX-License-Identifier: Apache-2.0
 *
 * Our own kernels on one GPU: a module of them, a stream, and buffers for what they are told and
 * what they answer. All work is done in order. The first failure sticks: later calls do
 * nothing, and pkb_compute_synchronise tells it.
 */
#ifndef PKB_HARNESS_CUDA_COMPUTE_H
#define PKB_HARNESS_CUDA_COMPUTE_H

#include <stddef.h>
#include <stdint.h>

#include "harness/cuda/driver.h"

typedef struct pkb_compute pkb_compute;

enum { PKB_COMPUTE_THREADS = 256, PKB_COMPUTE_MAX_KERNELS = 16 };

typedef enum pkb_compute_buffer { /* each holds one thing: until it is asked for again */
                                  PKB_COMPUTE_TOLD,
                                  PKB_COMPUTE_ANSWER,
                                  PKB_COMPUTE_PLACES, /* of a sampler: kept over many other calls */
                                  PKB_COMPUTE_SAMPLES,
                                  PKB_COMPUTE_BUFFERS
} pkb_compute_buffer;

/* `names`: the kernels of the PTX text, called by their index. The caller closes. */
pkb_code pkb_compute_open(pkb_compute **out, pkb_driver *driver, int device, const char *ptx,
                          const char *const *names, size_t name_count, pkb_error *err);
void pkb_compute_close(pkb_compute *compute); /* NULL is fine */

/* x * y blocks of PKB_COMPUTE_THREADS threads; `arguments` as cuLaunchKernel takes them. */
void pkb_compute_launch(pkb_compute *compute, size_t kernel, uint32_t x, uint32_t y,
                        void **arguments);
/* Copies what a kernel is told to the GPU. */
const void *pkb_compute_tell(pkb_compute *compute, pkb_compute_buffer buffer, const void *data,
                             size_t bytes);
/* Room for an answer, each byte set to `byte`. */
void *pkb_compute_answer(pkb_compute *compute, pkb_compute_buffer buffer, size_t bytes, int byte);

void pkb_compute_set(pkb_compute *compute, void *address, int byte, uint64_t bytes);
/* Into ordinary memory; waits. */
void pkb_compute_read(pkb_compute *compute, void *to, const void *from, size_t bytes);
/* Our own side failed: `why` (a literal) is told as if a call had. */
void pkb_compute_refuse(pkb_compute *compute, const char *why);
pkb_code pkb_compute_synchronise(pkb_compute *compute, pkb_error *err);

/* Of the whole GPU, whoever uses it; 0 where the driver does not tell. */
uint64_t pkb_compute_free_bytes(pkb_compute *compute, uint64_t *total_bytes);

#endif
