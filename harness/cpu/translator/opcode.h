/* SPDX-License-Identifier: Apache-2.0
 *
 * The emitters: each writes the instruction in w->in as C statements, or returns false when a
 * modifier, type or operand is not known. `variant` is the table's third column, so that one
 * emitter serves a family.
 */
#ifndef PKB_PTX_OPCODE_H
#define PKB_PTX_OPCODE_H

#include "harness/cpu/translator/writer.h"

/* arithmetic.c: integers; add, sub, … of floats go on to floating.c */
bool pkb_ptx_write_add(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_add_carry(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_mul(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_mad(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_mad_carry(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_mul24(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_divide(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_min_max(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_abs_neg(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_sad(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_dot(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_byte_distance(pkb_ptx_writer *w, const char *variant);

/* logic.c: bits */
bool pkb_ptx_write_logic(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_not(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_lop3(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_shift(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_funnel(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_bit_count(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_bit_field(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_prmt(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_mask(pkb_ptx_writer *w, const char *variant);

/* floating.c: f32, f64 and halves */
bool pkb_ptx_write_float(pkb_ptx_writer *w, pkb_ptx_type type, const char *operation);
bool pkb_ptx_write_fma(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_function(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_copysign(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_testp(pkb_ptx_writer *w, const char *variant);

/* compare.c, conversion.c */
bool pkb_ptx_write_setp(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_set(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_selp(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_slct(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_cvt(pkb_ptx_writer *w, const char *variant);

/* memory_access.c, atomic.c */
bool pkb_ptx_write_load(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_store(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_move(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_cvta(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_isspacep(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_atomic(pkb_ptx_writer *w, const char *variant);

/* async_copy.c */
bool pkb_ptx_write_copy(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_mbarrier(pkb_ptx_writer *w, const char *variant);

/* matrix.c */
bool pkb_ptx_write_matrix_copy(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_mma(pkb_ptx_writer *w, const char *variant);

/* control.c */
bool pkb_ptx_write_branch(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_branch_table(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_call(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_return(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_statement(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_nothing(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_zero(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_nanosleep(pkb_ptx_writer *w, const char *variant);

/* collective.c */
bool pkb_ptx_write_barrier(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_shuffle(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_vote(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_match(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_redux(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_elect(pkb_ptx_writer *w, const char *variant);
bool pkb_ptx_write_activemask(pkb_ptx_writer *w, const char *variant);

#endif
