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
/* PKB_ERR_INTERRUPTED once a signal has come that means now. */
pkb_code pkb_interrupt_check(pkb_error *err);

/* From now on the first Ctrl-C only asks: `notice`, which must live on, is said at once, and what
 * is under way may be finished. The second one, SIGTERM and SIGHUP mean now. */
void pkb_interrupt_ask_first(const char *notice);
/* PKB_ERR_INTERRUPTED once it was asked, too: before something new is begun. */
pkb_code pkb_interrupt_check_asked(pkb_error *err);

#endif
