/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds as they lie in the cache: what was built, or why the source cannot be, and what the
 * compilers said. What failed for reasons of the machine is not stored.
 */
#ifndef PKB_EVALUATOR_STORED_H
#define PKB_EVALUATOR_STORED_H

#include "evaluator/compile/cache.h"
#include "evaluator/compile/compile.h"

/* Puts what is stored under the key into options->directory and `build`; false: nothing is. */
bool pkb_stored_fetch(pkb_build *build, const pkb_cache *cache, const char *key,
                      const pkb_compile_options *options);
/* A cache that cannot be written costs time, no verdict. */
void pkb_stored_put(const pkb_build *build, const pkb_cache *cache, const char *key,
                    const pkb_compile_options *options);

#endif
