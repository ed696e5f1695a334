/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals and hang-ups; see watch.h.
 */
#include "harness/judge/watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

static void note_signal(int number)
{
    caught = number;
}

pkb_code pkb_watch_install(pkb_error *err)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction action = {.sa_handler = note_signal}; /* no SA_RESTART: waits end */

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], &action, NULL) != 0)
            return pkb_error_set_errno(err, PKB_ERR_IO, "cannot handle signal %d", numbers[i]);
    signal(SIGPIPE, SIG_IGN);
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot ask for a signal at mpirun's death");
    if (getppid() == 1)
        caught = SIGTERM; /* it died before we asked */
    return PKB_OK;
}

static size_t list_fds(const pkb_watch *watch, struct pollfd *fds)
{
    size_t count = 0;
    if (watch->control_fd >= 0)
        fds[count++] = (struct pollfd){.fd = watch->control_fd, .events = POLLRDHUP};
    if (watch->runner_fd >= 0)
        fds[count++] = (struct pollfd){.fd = watch->runner_fd, .events = POLLRDHUP};
    for (size_t i = 0; i < watch->peer_count; i++)
        fds[count++] = (struct pollfd){.fd = watch->peer_fds[i], .events = POLLRDHUP};
    return count;
}

pkb_code pkb_watch_check(const pkb_watch *watch, pkb_error *err)
{
    struct pollfd fds[PKB_MAX_RANKS + 2];
    const short gone = POLLHUP | POLLRDHUP | POLLERR | POLLNVAL;
    size_t count = list_fds(watch, fds);

    if (caught != 0)
        return pkb_error_set(err, PKB_ERR_INTERRUPTED, (int)caught, "ended by signal %d (%s)",
                             (int)caught, strsignal((int)caught));
    if (poll(fds, count, 0) <= 0)
        return PKB_OK;
    for (size_t i = 0; i < count; i++) {
        if ((fds[i].revents & gone) == 0)
            continue;
        if (fds[i].fd == watch->control_fd)
            return pkb_error_set(err, PKB_ERR_INTERRUPTED, 0, "the evaluator is gone");
        if (fds[i].fd == watch->runner_fd)
            return pkb_error_set(err, PKB_ERR_CHILD, 0, "the runner ended");
        return pkb_error_set(err, PKB_ERR_CHILD, 0, "another judge of this world ended");
    }
    return PKB_OK;
}
