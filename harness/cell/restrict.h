/* SPDX-License-Identifier: Apache-2.0
 *
 * `pkbench-cell --restrict [-r PATH | -w PATH]... [-C DIRECTORY] -- COMMAND...`: runs a command
 * under Landlock where namespaces are refused. It reads the system and the named paths, writes the
 * paths after -w and a private folder that is its /tmp and vanishes with it. Ends as bubblewrap
 * does: with the command's status, or 128 + n after signal n.
 */
#ifndef PKB_HARNESS_CELL_RESTRICT_H
#define PKB_HARNESS_CELL_RESTRICT_H

int pkb_restrict_main(int argc, char **argv);

#endif
