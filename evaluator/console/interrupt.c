/* SPDX-License-Identifier: Apache-2.0
 *
 * The interrupt flag; see interrupt.h.
 */
#include "evaluator/console/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t caught_signal, is_asked;
static const char *first_notice; /* NULL: the first Ctrl-C stops as well; set before it is read */

static void on_signal(int number)
{
    if (caught_signal != 0)
        _exit(128 + number);
    if (number == SIGINT && first_notice != NULL && !is_asked) {
        const int saved = errno;
        is_asked = 1;
        if (write(STDERR_FILENO, first_notice, strlen(first_notice)) < 0)
            is_asked = 1; /* who cannot be told is heard all the same */
        errno = saved;
        return;
    }
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

void pkb_interrupt_ask_first(const char *notice)
{
    first_notice = notice;
    /* What is under way goes on, so its calls must; poll comes back all the same. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

pkb_code pkb_interrupt_check_asked(pkb_error *err)
{
    if (is_asked && caught_signal == 0)
        return pkb_error_set(err, PKB_ERR_INTERRUPTED, SIGINT, "interrupted by SIGINT");
    return pkb_interrupt_check(err);
}

pkb_code pkb_interrupt_check(pkb_error *err)
{
    if (caught_signal == 0)
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_INTERRUPTED, caught_signal, "interrupted by SIG%s",
                         sigabbrev_np(caught_signal));
}
