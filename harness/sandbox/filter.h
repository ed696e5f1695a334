/* SPDX-License-Identifier: Apache-2.0
 *
 * The system call filter that a cell puts on itself before it loads an attempt (libseccomp):
 * deny by default, threads but no processes, no exec, no sockets, no signals to others. A forbidden
 * call that tells intent (fork, exec, socket, ptrace, ...) raises SIGSYS, whose handler notes its
 * name in the page and ends the process; the handler cannot be replaced.
 */
#ifndef PKB_HARNESS_FILTER_H
#define PKB_HARNESS_FILTER_H

#include "base/error.h"

/* `note` is called in signal context with the call's name, then the process dies by SIGSYS. */
pkb_code pkb_filter_install(void (*note)(const char *system_call), pkb_error *err);

#endif
