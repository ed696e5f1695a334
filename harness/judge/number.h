/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of every dtype as doubles, and doubles rounded to a dtype; pure functions.
 */
#ifndef PKB_HARNESS_NUMBER_H
#define PKB_HARNESS_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "harness/memory/layout.h"

double pkb_number_from_bf16(uint16_t bits);
double pkb_number_from_f16(uint16_t bits);
double pkb_number_from_e4m3(uint8_t bits); /* no infinities; 0x7f and 0xff are NaN */
double pkb_number_from_e5m2(uint8_t bits);

/* `count` elements of `dtype` as doubles (i64 beyond 2^53 is rounded: compare those as integers).
 * c64 gives 2 * count doubles. */
void pkb_number_load(double *out, const void *data, pkb_dtype dtype, size_t count);

/* The nearest value of a float dtype (ties to even, overflow to infinity), as a double. */
double pkb_number_round(double value, pkb_dtype dtype);

/* The smallest positive value of a float dtype (c64: of f32), the spacing near zero. */
double pkb_number_smallest(pkb_dtype dtype);

/* The largest finite value of a float dtype (c64: of f32). */
double pkb_number_largest(pkb_dtype dtype);

/* One element as text: "1.25", "-3", "nan", "(1, -2)". */
void pkb_number_text(char *out, size_t bytes, const void *element, pkb_dtype dtype);

#endif
