/* SPDX-License-Identifier: Apache-2.0
 *
 * What ends a judge from outside: a signal, the death of the evaluator, of another judge or of the
 * runner. Every wait of a judge is cut into slices and asks here in between.
 */
#ifndef PKB_HARNESS_WATCH_H
#define PKB_HARNESS_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "harness/memory/layout.h"

#define PKB_WATCH_SLICE_NS (UINT64_C(20) * 1000 * 1000)

typedef struct pkb_watch {
    int control_fd;              /* the evaluator; -1 = not yet */
    int runner_fd;               /* the runner's socket; borrowed; -1 = none */
    int peer_fds[PKB_MAX_RANKS]; /* judges that this one is connected to; borrowed */
    size_t peer_count;
} pkb_watch;

/* SIGTERM, SIGINT and SIGHUP only set a flag; SIGPIPE is ignored; the death of the parent (mpirun)
 * raises SIGTERM. */
pkb_code pkb_watch_install(pkb_error *err);

/* PKB_ERR_INTERRUPTED after a signal or the evaluator's end, PKB_ERR_CHILD when a judge or the
 * runner is gone. */
pkb_code pkb_watch_check(const pkb_watch *watch, pkb_error *err);

#endif
