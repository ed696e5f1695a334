/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the words of the barriers lie: symmetric memory begins with them. The same numbers as in
 * include/pkbench_device.cuh, which needs CUDA's headers; tests/e2e/attempts/ring.cu compares.
 */
#ifndef PKB_HARNESS_SIGNALS_H
#define PKB_HARNESS_SIGNALS_H

enum {
    PKB_SIGNAL_CHANNELS = 4096,
    PKB_SIGNAL_CHANNEL_WORDS = 128,
    PKB_SIGNAL_BYTES = (PKB_SIGNAL_CHANNELS + 2) * PKB_SIGNAL_CHANNEL_WORDS * 4
};

#endif
