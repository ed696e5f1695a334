/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that the CPU device lacks. Each stands in the library as one string, PKB_UNSUPPORTED_CALL
 * with its name: a judge that is told of one looks it up there, instead of believing it.
 */
#ifndef PKB_CPU_CUDART_UNSUPPORTED_H
#define PKB_CPU_CUDART_UNSUPPORTED_H

#define PKB_UNSUPPORTED_CALL "the CUDA call "

/* `what` is PKB_UNSUPPORTED_CALL "name". Notes it for pkb_cpu_unsupported_call; returns
 * cudaErrorNotSupported. */
int pkb_api_unsupported(const char *what);

#endif
