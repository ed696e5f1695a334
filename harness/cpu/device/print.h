/* SPDX-License-Identifier: Apache-2.0
 *
 * Device printf: text is collected while a kernel runs and written to stdout by pkb_print_flush.
 */
#ifndef PKB_CPU_DEVICE_PRINT_H
#define PKB_CPU_DEVICE_PRINT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that device code may print in all; the rest is dropped, which is said once. */
void pkb_print_set_limit(uint64_t bytes);
void pkb_print_flush(void);

/* Formats as the device does: arguments lie packed with natural alignment, floats as double.
 * Returns the number of conversions. */
uint32_t pkb_print_format(const char *format, const uint8_t *arguments);

#endif
