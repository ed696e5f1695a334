/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies under a name in a run's folder. A folder may come from anybody, so a symbolic link is
 * followed only where it stays in the folder, and nothing is opened to find out.
 */
#ifndef PKB_EVALUATOR_ENTRY_H
#define PKB_EVALUATOR_ENTRY_H

#include "base/error.h"

typedef enum pkb_entry {
    PKB_ENTRY_FILE,
    PKB_ENTRY_FOLDER,
    PKB_ENTRY_OUTSIDE, /* a link out of the folder */
    PKB_ENTRY_NOWHERE, /* a link to nothing, or nothing at all */
    PKB_ENTRY_SPECIAL  /* a pipe, a socket, a device */
} pkb_entry;

/* `root` is the folder as realpath gives it, `path` lies in it. */
pkb_entry pkb_entry_look(const char *root, const char *path);
/* "is a symbolic link that leads out of the folder": the predicate of a sentence. */
const char *pkb_entry_text(pkb_entry entry);
/* PKB_ERR_USAGE names `path`, which is in `folder`, and the remedy, if it is a link that leads out
 * of the folder or nowhere: what is written there would land elsewhere. */
pkb_code pkb_entry_require_inside(const char *folder, const char *path, pkb_error *err);

#endif
