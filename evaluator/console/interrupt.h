/* SPDX-License-Identifier: Apache-2.0
 *
 * Ctrl-C and SIGTERM as a flag that waits look at, so that everything started is ended first.
 */
#ifndef PKB_EVALUATOR_INTERRUPT_H
#define PKB_EVALUATOR_INTERRUPT_H

#include "base/error.h"

/* Catches SIGINT, SIGTERM and SIGHUP from now on and ignores SIGPIPE. A second Ctrl-C ends the
 * program at once; the next start then sweeps what is left. */
void pkb_interrupt_install(void);
/* PKB_ERR_INTERRUPTED once a signal has come. */
pkb_code pkb_interrupt_check(pkb_error *err);

#endif
