/* SPDX-License-Identifier: Apache-2.0
 *
 * The interrupt flag; see interrupt.h.
 */
#include "evaluator/console/interrupt.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t caught_signal;

static void on_signal(int number)
{
    if (caught_signal != 0)
        _exit(128 + number);
    caught_signal = number;
}

void pkb_interrupt_install(void)
{
    /* Without SA_RESTART: a poll that waits must come back and look. */
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

pkb_code pkb_interrupt_check(pkb_error *err)
{
    if (caught_signal == 0)
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_INTERRUPTED, caught_signal, "interrupted by SIG%s",
                         sigabbrev_np(caught_signal));
}
