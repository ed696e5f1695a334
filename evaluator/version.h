/* SPDX-License-Identifier: Apache-2.0
 *
 * The version of pkbench, as --version prints it and records state it.
 */
#ifndef PKB_EVALUATOR_VERSION_H
#define PKB_EVALUATOR_VERSION_H

#define PKB_VERSION "0.1.0"

#endif
