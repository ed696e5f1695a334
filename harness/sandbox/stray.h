/* SPDX-License-Identifier: Apache-2.0
 *
 * Sandboxes that outlived their owner. A bubblewrap that is killed between its fork and the moment
 * when its child asks to die with it leaves that child waiting for ever.
 */
#ifndef PKB_HARNESS_STRAY_H
#define PKB_HARNESS_STRAY_H

#include <stddef.h>

/* Kills every process of our user that is bubblewrap and has an argument that is `path` or lies
 * below it; how many. For paths that nothing alive uses any more. */
size_t pkb_stray_end(const char *path);

#endif
