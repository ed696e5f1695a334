/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of a verb.
 */
#ifndef PKB_EVALUATOR_ARGUMENTS_H
#define PKB_EVALUATOR_ARGUMENTS_H

#include <argp.h>

/* argp_parse under the name "pkbench VERB", the verb being argv[0]; --help, --version and bad
 * options end the program here, with status 0 or 2, before anything was started. */
void pkb_arguments_parse(const struct argp *argp, int argc, char **argv, void *input);

#endif
