/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts beats; see pulse.h.
 */
#include "evaluator/lane/pulse.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/clock.h"

/* What passes at most between two looks of a watcher that runs. */
#define MOST_BETWEEN_NS PKB_NS_PER_S

pkb_code pkb_pulse_open(pkb_pulse *out, pkb_error *err)
{
    void *page =
        mmap(NULL, sizeof *out->beats, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot share memory with a world");
    *out = (pkb_pulse){.beats = page};
    pkb_pulse_listen(out);
    return PKB_OK;
}

void pkb_pulse_beat(const pkb_pulse *pulse)
{
    if (pulse->beats != NULL)
        atomic_fetch_add(pulse->beats, 1);
}

uint64_t pkb_pulse_silent_ns(pkb_pulse *pulse)
{
    const uint64_t now_ns = pkb_clock_now_ns(), since_ns = now_ns - pulse->looked_ns;
    const unsigned beats = pulse->beats != NULL ? atomic_load(pulse->beats) : 0;

    pulse->silent_ns += since_ns < MOST_BETWEEN_NS ? since_ns : MOST_BETWEEN_NS;
    if (beats != pulse->seen_beats)
        pulse->silent_ns = 0;
    pulse->seen_beats = beats;
    pulse->looked_ns = now_ns;
    return pulse->silent_ns;
}

void pkb_pulse_listen(pkb_pulse *pulse)
{
    pulse->looked_ns = pkb_clock_now_ns();
    pulse->silent_ns = 0;
}

void pkb_pulse_close(pkb_pulse *pulse)
{
    if (pulse->beats != NULL)
        munmap(pulse->beats, sizeof *pulse->beats);
    *pulse = (pkb_pulse){0};
}
