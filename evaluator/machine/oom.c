/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the kernel's counter; see oom.h.
 */
#include "evaluator/machine/oom.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t pkb_oom_kills(void)
{
    char line[128];
    uint64_t kills = 0;
    FILE *file = fopen("/proc/vmstat", "re");

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "oom_kill %" SCNu64, &kills) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return kills;
}
