/* SPDX-License-Identifier: Apache-2.0
 *
 * How a cell's program is started: its command line, environment and sandbox.
 */
#ifndef PKB_HARNESS_JUDGE_LAUNCH_H
#define PKB_HARNESS_JUDGE_LAUNCH_H

#include "base/error.h"
#include "harness/judge/cell.h"
#include "harness/sandbox/child.h"

/* The cell gets `socket_fd` as its socket, and `output_fd` for what is printed. */
pkb_code pkb_cell_launch(pkb_child *child, const pkb_cell_options *options, int socket_fd,
                         int output_fd, pkb_error *err);

#endif
