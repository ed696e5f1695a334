/* SPDX-License-Identifier: Apache-2.0
 *
 * Which cores of a node judge and which compile, so that compiling disturbs no timing.
 */
#ifndef PKB_EVALUATOR_CORES_H
#define PKB_EVALUATOR_CORES_H

#include <sched.h>
#include <stdbool.h>

/* Judge, cell and runner of a rank each want a core of their own. */
enum { PKB_CORES_A_RANK = 3, PKB_COMPILER_CORES_LEAST = 2, PKB_COMPILER_CORES_MOST = 8 };

/* Parts `usable` for so many ranks in all worlds. False where there are too few cores: then both
 * are `usable`, and who compiles has to pause while something is timed. */
bool pkb_cores_part(const cpu_set_t *usable, int ranks, cpu_set_t *judging, cpu_set_t *compiling);

#endif
