/* SPDX-License-Identifier: Apache-2.0
 *
 * A process with all below it, as /proc shows them: stopped, continued, hurried or killed together.
 * It reaches what left the process group, and what runs behind bubblewrap.
 */
#ifndef PKB_EVALUATOR_TREE_H
#define PKB_EVALUATOR_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* SIGSTOP to all of them, until none runs (true) or the time is up. */
bool pkb_tree_stop(pid_t root, uint64_t timeout_ns);
/* SIGCONT to all of them. */
void pkb_tree_continue(pid_t root);
/* Gives all of them that priority (nice value), as far as the system lets us; also the sessions
 * that begin in the tree, for where each has a share of its own (autogroups), a process' own
 * priority counts within its session only. */
void pkb_tree_renice(pid_t root, int priority);
/* Stops them, so that none is missed, and kills them; the caller reaps the root. */
void pkb_tree_kill(pid_t root);

#endif
