/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts cores; see cores.h.
 */
#include "evaluator/machine/cores.h"

bool pkb_cores_part(const cpu_set_t *usable, int ranks, cpu_set_t *judging, cpu_set_t *compiling)
{
    int left = CPU_COUNT(usable) - PKB_CORES_A_RANK * ranks;

    *judging = *compiling = *usable;
    if (left < PKB_COMPILER_CORES_LEAST)
        return false;
    left = left < PKB_COMPILER_CORES_MOST ? left : PKB_COMPILER_CORES_MOST;
    CPU_ZERO(compiling);
    for (size_t core = CPU_SETSIZE; core-- > 0 && left > 0;) /* the highest ones */
        if (CPU_ISSET(core, usable)) {
            CPU_SET(core, compiling);
            CPU_CLR(core, judging);
            left--;
        }
    return true;
}
