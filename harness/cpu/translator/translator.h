/* SPDX-License-Identifier: Apache-2.0
 *
 * Translates a PTX file into one C file for the CPU device. The C includes number.h,
 * access.h, async.h and fragment.h of device/ only and exports pkb_device_module (device/device.h).
 */
#ifndef PKB_PTX_TRANSLATOR_H
#define PKB_PTX_TRANSLATOR_H

#include "base/buf.h"
#include "base/error.h"

/* Appends the C to `out`. Malformed PTX is PKB_ERR_FORMAT with its line. An instruction that is
 * not known does not fail: executing it stops the thread with its name and source line. */
pkb_code pkb_ptx_translate(const char *text, size_t length, pkb_buf *out, pkb_error *err);

#endif
