/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the CUDA toolkit is: a system's, or the one that PyPI's wheels put into a virtual
 * environment.
 */
#ifndef PKB_EVALUATOR_TOOLKIT_H
#define PKB_EVALUATOR_TOOLKIT_H

#include <stddef.h>

/* Looks at $PKBENCH_NVCC, PATH, /usr/local/cuda/bin, and the wheels beside each of the
 * interpreters (paths of `bin/python`; NULL is skipped). Returns nvcc's own path, with scripts that
 * only start it looked through, and the toolkit's folder; the caller frees both. NULL if there is
 * none. */
char *pkb_toolkit_find(const char *const *pythons, size_t count, char **toolkit);

/* The path of libcudart.so.13, which the caller frees; NULL if there is none. The wheels lack the
 * link libcudart.so, so an attempt is linked with this file by its full name. */
char *pkb_toolkit_runtime(const char *toolkit);

#endif
