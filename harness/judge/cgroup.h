/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory that the control groups of this process allow: in a container it is often less than
 * what the machine has.
 */
#ifndef PKB_HARNESS_JUDGE_CGROUP_H
#define PKB_HARNESS_JUDGE_CGROUP_H

#include <stdint.h>

/* What its memory groups, of version 1 or 2, could still give to a process; UINT64_MAX if nothing
 * limits it. `mounts` is where control groups are mounted ("/sys/fs/cgroup"), `membership` the file
 * that says in which the process is ("/proc/self/cgroup"). */
uint64_t pkb_cgroup_available_bytes(const char *mounts, const char *membership);

#endif
