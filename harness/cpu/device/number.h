/* SPDX-License-Identifier: Apache-2.0
 *
 * Inline arithmetic of the translated code: what PTX defines and plain C does not. Functions are
 * named pkb_<operation>_<type>, the translator builds the names. No libm and no headers but
 * <stdint.h>: device.so links with nothing, and gcc reads this for every attempt. The C is
 * compiled with -march=x86-64-v3 -ffp-contract=off -fno-strict-aliasing -fwrapv.
 */
#ifndef PKB_CPU_NUMBER_H
#define PKB_CPU_NUMBER_H

#include "harness/cpu/device/bits.h"
#include "harness/cpu/device/convert.h"
#include "harness/cpu/device/floating.h"
#include "harness/cpu/device/half.h"
#include "harness/cpu/device/integer.h"

#endif
