/* SPDX-License-Identifier: Apache-2.0
 *
 * `pkbench-cell --canary LEVEL FILE SOCKET PORT`: tries inside a sandbox what must fail there.
 * Says on stdout, in one line, what did not fail; exit status 0 when everything held.
 */
#ifndef PKB_HARNESS_CELL_CANARY_H
#define PKB_HARNESS_CELL_CANARY_H

/* FILE exists and is readable outside; somebody listens at the abstract UNIX socket SOCKET and the
 * TCP port PORT of 127.0.0.1. */
int pkb_canary_main(int argc, char **argv);

#endif
