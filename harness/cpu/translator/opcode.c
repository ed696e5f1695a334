/* SPDX-License-Identifier: Apache-2.0
 *
 * From opcode to emitter, with what all instructions share: predicate, source line, and what to
 * do with the unknown.
 */
#include "harness/cpu/translator/opcode.h"

#include "harness/cpu/translator/location.h"

enum {
    STOPS = 1, /* can fault or wait: the source line is stored first */
    WAITS = 2  /* a loop that holds it may be waiting for another thread */
};

typedef struct opcode_row {
    const char *name;
    bool (*write)(pkb_ptx_writer *w, const char *variant);
    const char *variant;
    int flags;
} opcode_row;

static const opcode_row rows[] = {
    {"ld", pkb_ptx_write_load, "", STOPS},
    {"st", pkb_ptx_write_store, "", STOPS},
    {"mov", pkb_ptx_write_move, "", 0},
    {"add", pkb_ptx_write_add, "add", 0},
    {"mad", pkb_ptx_write_mad, "", 0},
    {"mul", pkb_ptx_write_mul, "", 0},
    {"fma", pkb_ptx_write_fma, "", 0},
    {"setp", pkb_ptx_write_setp, "", 0},
    {"bra", pkb_ptx_write_branch, "", 0},
    {"cvt", pkb_ptx_write_cvt, "", 0},
    {"cvta", pkb_ptx_write_cvta, "", 0},
    {"sub", pkb_ptx_write_add, "sub", 0},
    {"and", pkb_ptx_write_logic, "&", 0},
    {"or", pkb_ptx_write_logic, "|", 0},
    {"xor", pkb_ptx_write_logic, "^", 0},
    {"not", pkb_ptx_write_not, "not", 0},
    {"cnot", pkb_ptx_write_not, "cnot", 0},
    {"shl", pkb_ptx_write_shift, "shl", 0},
    {"shr", pkb_ptx_write_shift, "shr", 0},
    {"shf", pkb_ptx_write_funnel, "", 0},
    {"selp", pkb_ptx_write_selp, "", 0},
    {"div", pkb_ptx_write_divide, "div", 0},
    {"rem", pkb_ptx_write_divide, "rem", 0},
    {"min", pkb_ptx_write_min_max, "min", 0},
    {"max", pkb_ptx_write_min_max, "max", 0},
    {"neg", pkb_ptx_write_abs_neg, "neg", 0},
    {"abs", pkb_ptx_write_abs_neg, "abs", 0},
    {"call", pkb_ptx_write_call, "", STOPS | WAITS},
    {"ret", pkb_ptx_write_return, "return;", 0},
    {"exit", pkb_ptx_write_return, "pkb_thread_exit(T);", STOPS},
    {"bar", pkb_ptx_write_barrier, "", STOPS},
    {"barrier", pkb_ptx_write_barrier, "", STOPS},
    {"shfl", pkb_ptx_write_shuffle, "", STOPS},
    {"vote", pkb_ptx_write_vote, "", STOPS | WAITS},
    {"atom", pkb_ptx_write_atomic, "atom", STOPS | WAITS},
    {"red", pkb_ptx_write_atomic, "red", STOPS | WAITS},
    {"membar", pkb_ptx_write_statement, "pkb_fence();", 0},
    {"fence", pkb_ptx_write_statement, "pkb_fence();", 0},
    {"match", pkb_ptx_write_match, "", STOPS},
    {"redux", pkb_ptx_write_redux, "", STOPS},
    {"elect", pkb_ptx_write_elect, "", STOPS},
    {"activemask", pkb_ptx_write_activemask, "", STOPS | WAITS},
    {"cp", pkb_ptx_write_copy, "", STOPS},
    {"mbarrier", pkb_ptx_write_mbarrier, "", STOPS},
    {"ldmatrix", pkb_ptx_write_matrix_copy, "load", STOPS},
    {"stmatrix", pkb_ptx_write_matrix_copy, "store", STOPS},
    {"mma", pkb_ptx_write_mma, "", STOPS},
    {"nanosleep", pkb_ptx_write_nanosleep, "", STOPS | WAITS},
    {"prmt", pkb_ptx_write_prmt, "", 0},
    {"bfi", pkb_ptx_write_bit_field, "bfi", 0},
    {"bfe", pkb_ptx_write_bit_field, "bfe", 0},
    {"bfind", pkb_ptx_write_bit_count, "bfind", 0},
    {"popc", pkb_ptx_write_bit_count, "popc", 0},
    {"clz", pkb_ptx_write_bit_count, "clz", 0},
    {"brev", pkb_ptx_write_bit_count, "brev", 0},
    {"bmsk", pkb_ptx_write_mask, "bmsk", 0},
    {"szext", pkb_ptx_write_mask, "szext", 0},
    {"fns", pkb_ptx_write_mask, "fns", 0},
    {"lop3", pkb_ptx_write_lop3, "", 0},
    {"sad", pkb_ptx_write_sad, "", 0},
    {"dp4a", pkb_ptx_write_dot, "dp4a", 0},
    {"dp2a", pkb_ptx_write_dot, "dp2a", 0},
    {"vabsdiff4", pkb_ptx_write_byte_distance, "", 0},
    {"mul24", pkb_ptx_write_mul24, "", 0},
    {"mad24", pkb_ptx_write_mul24, "+$3", 0},
    {"addc", pkb_ptx_write_add_carry, "add", 0},
    {"subc", pkb_ptx_write_add_carry, "sub", 0},
    {"madc", pkb_ptx_write_mad_carry, "", 0},
    {"rcp", pkb_ptx_write_function, "rcp", 0},
    {"sqrt", pkb_ptx_write_function, "sqrt", 0},
    {"rsqrt", pkb_ptx_write_function, "rsqrt", 0},
    {"ex2", pkb_ptx_write_function, "ex2", 0},
    {"lg2", pkb_ptx_write_function, "lg2", 0},
    {"sin", pkb_ptx_write_function, "sin", 0},
    {"cos", pkb_ptx_write_function, "cos", 0},
    {"tanh", pkb_ptx_write_function, "tanh", 0},
    {"copysign", pkb_ptx_write_copysign, "", 0},
    {"testp", pkb_ptx_write_testp, "", 0},
    {"set", pkb_ptx_write_set, "", 0},
    {"slct", pkb_ptx_write_slct, "", 0},
    {"isspacep", pkb_ptx_write_isspacep, "", 0},
    {"ldu", pkb_ptx_write_load, "", STOPS},
    {"brx", pkb_ptx_write_branch_table, "", 0},
    {"trap", pkb_ptx_write_statement, "pkb_trap(T,\"trap\");", STOPS},
    {"brkpt", pkb_ptx_write_statement, "pkb_trap(T,\"brkpt\");", STOPS},
    {"prefetch", pkb_ptx_write_nothing, "", 0},
    {"prefetchu", pkb_ptx_write_nothing, "", 0},
    {"discard", pkb_ptx_write_nothing, "", 0},
    {"applypriority", pkb_ptx_write_nothing, "", 0},
    {"griddepcontrol", pkb_ptx_write_statement, "pkb_fence();", 0},
    {"setmaxnreg", pkb_ptx_write_nothing, "", 0},
    {"pmevent", pkb_ptx_write_nothing, "", 0},
    {"createpolicy", pkb_ptx_write_zero, "", 0},
};

static const opcode_row *find_row(const pkb_ptx_token *opcode)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].name[0] == opcode->text[0] && pkb_ptx_token_is(opcode, rows[i].name))
            return &rows[i];
    return NULL;
}

static void take_back(pkb_buf *body, size_t bytes)
{
    if (body->status != PKB_OK || body->data == NULL)
        return;
    body->bytes = bytes;
    body->data[bytes] = '\0';
}

static void put_predicate(pkb_ptx_writer *w, const pkb_ptx_operand *predicate)
{
    if (predicate == NULL)
        return;
    pkb_buf_append_string(&w->body, "if(");
    pkb_ptx_put_operand(w, predicate, PKB_PTX_PRED);
    pkb_buf_append_string(&w->body, ")");
}

static void put_unsupported(pkb_ptx_writer *w)
{
    const pkb_ptx_instruction *in = &w->in;

    pkb_buf_append_string(&w->body, "PKB_UNSUPPORTED(T,\"");
    pkb_buf_append(&w->body, in->opcode->text, in->opcode->length);
    for (uint32_t i = 0; i < in->modifier_count; i++)
        pkb_buf_append(&w->body, in->modifiers[i]->text, in->modifiers[i]->length);
    pkb_buf_append_string(&w->body, " at ");
    pkb_ptx_location_describe(w, &w->body);
    pkb_buf_append_string(&w->body, "\");");
}

void pkb_ptx_instruction_write_unsupported(pkb_ptx_writer *w, const pkb_ptx_operand *predicate)
{
    pkb_ptx_location_mark(w);
    put_predicate(w, predicate);
    pkb_buf_append_string(&w->body, "{");
    put_unsupported(w);
    pkb_buf_append_string(&w->body, "}\n");
}

void pkb_ptx_instruction_write(pkb_ptx_writer *w, const pkb_ptx_operand *predicate)
{
    const opcode_row *row = find_row(w->in.opcode);

    if (row == NULL || (row->flags & STOPS) != 0)
        pkb_ptx_location_mark(w);
    size_t start = w->body.bytes;
    put_predicate(w, predicate);
    pkb_buf_append_string(&w->body, "{");
    w->is_unsupported = false;
    if (row != NULL)
        w->wait_count += (row->flags & WAITS) != 0;
    if (row == NULL || !row->write(w, row->variant) || w->is_unsupported || !pkb_ptx_all_taken(w)) {
        take_back(&w->body, start);
        pkb_ptx_instruction_write_unsupported(w, predicate);
        return;
    }
    pkb_buf_append_string(&w->body, "}\n");
}
