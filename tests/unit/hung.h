/* SPDX-License-Identifier: Apache-2.0
 *
 * The one limit of tests that says that something hangs, never that it is slow: a busy machine may
 * be a hundred times slower than an idle one.
 */
#ifndef PKB_TESTS_HUNG_H
#define PKB_TESTS_HUNG_H

#include "base/clock.h"

#define PKB_TEST_HUNG_NS (300 * PKB_NS_PER_S)

#endif
