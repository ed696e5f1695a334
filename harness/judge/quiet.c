/* SPDX-License-Identifier: Apache-2.0
 *
 * The judge's probe kernel; see quiet.h.
 */
#include "harness/judge/quiet.h"

#include "base/clock.h"

enum { QUIET_PROBES = 4 };
/* A GPU needs up to 0.2 ms to turn from one process to another. */
#define SWITCH_NS (PKB_NS_PER_MS * 2 / 5)

bool pkb_quiet_is_disturbed(uint64_t took_ns, uint64_t quiet_ns)
{
    return took_ns > quiet_ns + quiet_ns / 4 + SWITCH_NS;
}

/* The quickest of a few: the first one may wake a sleeping clock. */
pkb_code pkb_quiet_measure(pkb_judge *judge, uint64_t *quiet_ns, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    *quiet_ns = 0;
    for (int i = 0; judge->device->probe != NULL && i < QUIET_PROBES && rc == PKB_OK; i++) {
        uint64_t took_ns = 0;
        rc = judge->device->probe(&took_ns, err);
        if (*quiet_ns == 0 || took_ns < *quiet_ns)
            *quiet_ns = took_ns;
    }
    return rc;
}

/* A second look where the first one is slow: a single delay is the host's. */
static pkb_code look(pkb_judge *judge, uint64_t quiet_ns, uint64_t *took_ns, pkb_error *err)
{
    pkb_code rc = judge->device->probe(took_ns, err);
    if (rc == PKB_OK && pkb_quiet_is_disturbed(*took_ns, quiet_ns))
        rc = judge->device->probe(took_ns, err);
    return rc;
}

pkb_code pkb_quiet_listen(pkb_judge *judge, uint64_t quiet_ns, pkb_loud *loud, pkb_error *err)
{
    uint64_t took_ns = 0, all_ns[PKB_MAX_RANKS] = {0};

    *loud = (pkb_loud){0};
    if (judge->device->probe == NULL)
        return PKB_OK;
    pkb_code rc = look(judge, quiet_ns, &took_ns, err);
    if (rc == PKB_OK && !pkb_quiet_is_disturbed(took_ns, quiet_ns))
        took_ns = 0;
    if (rc == PKB_OK)
        rc = pkb_judge_world_share(&judge->world, took_ns, all_ns, err);
    for (uint32_t rank = 0; rc == PKB_OK && rank < judge->options.world; rank++)
        if (all_ns[rank] > loud->probe_ns)
            *loud = (pkb_loud){.is_heard = true, .rank = rank, .probe_ns = all_ns[rank]};
    return rc;
}
