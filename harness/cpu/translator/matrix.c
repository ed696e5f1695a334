/* SPDX-License-Identifier: Apache-2.0
 *
 * ldmatrix, stmatrix and mma.sync.m16n8; see opcode.h and device/fragment.h.
 */
#include <string.h>

#include "harness/cpu/translator/opcode.h"

static uint32_t take_matrix_count(pkb_ptx_writer *w)
{
    return pkb_ptx_has(w, "x4") ? 4 : pkb_ptx_has(w, "x2") ? 2 : pkb_ptx_has(w, "x1") ? 1 : 0;
}

static const pkb_ptx_operand *part(const pkb_ptx_writer *w, const pkb_ptx_operand *operand,
                                   uint32_t i)
{
    return operand->kind == PKB_PTX_OPERAND_VECTOR ? &w->in.parts[operand->part + i] : operand;
}

static uint32_t part_count(const pkb_ptx_operand *operand)
{
    return operand->kind == PKB_PTX_OPERAND_VECTOR ? operand->part_count : 1;
}

/* `uint32_t name[]={…};` of all registers of the operands from `first` to `last` */
static void put_words(pkb_ptx_writer *w, const char *name, uint32_t first, uint32_t last)
{
    pkb_ptx_printf(w, "uint32_t %s[]={", name);
    for (uint32_t i = first; i <= last; i++) {
        const pkb_ptx_operand *operand = pkb_ptx_get(w, i);
        for (uint32_t j = 0; j < part_count(operand); j++) {
            pkb_ptx_put_operand(w, part(w, operand, j), PKB_PTX_B32);
            pkb_buf_append_string(&w->body, ",");
        }
    }
    pkb_buf_append_string(&w->body, "};");
}

static void assign_words(pkb_ptx_writer *w, const pkb_ptx_operand *to, pkb_ptx_type type,
                         const char *array)
{
    for (uint32_t i = 0; i < part_count(to); i++) {
        pkb_ptx_open_assignment(w, part(w, to, i), type);
        pkb_ptx_printf(w, "%s[%u]", array, i);
        pkb_ptx_close_assignment(w);
    }
}

/* Only the lanes that show a row have an address to check. */
static void put_row(pkb_ptx_writer *w, uint32_t operand, uint32_t count, const char *macro)
{
    pkb_ptx_printf(w, "uint8_t *a=0;if(T->lane<%u)a=%s(", count * 8, macro);
    pkb_ptx_put_address(w, pkb_ptx_get(w, operand));
    pkb_buf_append_string(&w->body, ",16);");
}

/* ldmatrix.sync.aligned.m8n8.x4[.trans].shared.b16 {…}, [row]; stmatrix the other way round */
bool pkb_ptx_write_matrix_copy(pkb_ptx_writer *w, const char *variant)
{
    bool is_load = strcmp(variant, "load") == 0;
    uint32_t count = take_matrix_count(w), registers = is_load ? 0 : 1;
    bool is_transposed = pkb_ptx_has(w, "trans");
    bool is_shared = pkb_ptx_has(w, "shared") || pkb_ptx_has(w, "shared::cta");

    pkb_ptx_has(w, "sync");
    pkb_ptx_has(w, "aligned");
    if (count == 0 || part_count(pkb_ptx_get(w, registers)) != count || !pkb_ptx_has(w, "m8n8") ||
        pkb_ptx_take_type(w) != PKB_PTX_B16)
        return false;
    const char *macro = is_load ? (is_shared ? "PKB_READ_SHARED" : "PKB_READ_GENERIC")
                                : (is_shared ? "PKB_WRITE_SHARED" : "PKB_WRITE_GENERIC");
    put_row(w, 1 - registers, count, macro);
    if (!is_load) {
        put_words(w, "x", 1, 1);
        pkb_ptx_printf(w, "pkb_stmatrix(T,a,%u,%d,x);", count, is_transposed);
        return true;
    }
    pkb_ptx_printf(w, "uint32_t x[4];pkb_ldmatrix(T,a,%u,%d,x);", count, is_transposed);
    assign_words(w, pkb_ptx_get(w, 0), PKB_PTX_B32, "x");
    return true;
}

typedef struct element_row {
    const char *name, *constant;
    uint32_t each; /* elements a register */
    bool is_integer;
} element_row;

/* The two operand types, in order; 8-bit integers are .s8 and .u8. */
static const element_row *element_of(pkb_ptx_type type)
{
    static const element_row rows[] = {{"f16", "PKB_ELEMENT_F16", 2, false},
                                       {"bf16", "PKB_ELEMENT_BF16", 2, false},
                                       {"tf32", "PKB_ELEMENT_TF32", 1, false},
                                       {"s8", "PKB_ELEMENT_S8", 4, true},
                                       {"u8", "PKB_ELEMENT_U8", 4, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, pkb_ptx_type_name(type)) == 0)
            return &rows[i];
    return NULL;
}

static uint32_t take_depth(pkb_ptx_writer *w)
{
    static const struct {
        const char *name;
        uint32_t k;
    } rows[] = {{"m16n8k4", 4}, {"m16n8k8", 8}, {"m16n8k16", 16}, {"m16n8k32", 32}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (pkb_ptx_has(w, rows[i].name))
            return rows[i].k;
    return 0;
}

/* Reads C into sums[], calls, and writes D; packed f16 sums are two registers. */
static bool put_mma(pkb_ptx_writer *w, const element_row *a, const element_row *b, uint32_t k,
                    pkb_ptx_type sum)
{
    const pkb_ptx_operand *c = pkb_ptx_get(w, 3), *d = pkb_ptx_get(w, 0);
    bool is_packed = sum == PKB_PTX_F16;

    put_words(w, "x", 1, 2);
    pkb_ptx_printf(w, "%s s[4]={", a->is_integer ? "int32_t" : "float");
    for (uint32_t i = 0; i < 4; i++) {
        pkb_ptx_printf(w, is_packed ? "pkb_f16_to_f32((uint16_t)(" : "((");
        pkb_ptx_put_operand(w, part(w, c, is_packed ? i / 2 : i), is_packed ? PKB_PTX_B32 : sum);
        pkb_ptx_printf(w, is_packed && i % 2 == 1 ? ">>16))," : ")),");
    }
    pkb_ptx_printf(w, "};pkb_mma_%s(T,x,%u,%s,%s,%u,s);", a->is_integer ? "integer" : "float", k,
                   a->constant, b->constant, a->each);
    if (!is_packed) {
        assign_words(w, d, sum, "s");
        return part_count(c) == 4 && part_count(d) == 4;
    }
    pkb_buf_append_string(
        &w->body, "uint32_t y[2]={pkb_pack(pkb_f32_to_f16_rn(s[0]),pkb_f32_to_f16_rn(s[1])),"
                  "pkb_pack(pkb_f32_to_f16_rn(s[2]),pkb_f32_to_f16_rn(s[3]))};");
    assign_words(w, d, PKB_PTX_B32, "y");
    return part_count(c) == 2 && part_count(d) == 2;
}

/* mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 d, a, b, c */
bool pkb_ptx_write_mma(pkb_ptx_writer *w, const char *variant)
{
    uint32_t k = take_depth(w);
    pkb_ptx_type result = pkb_ptx_take_type(w);
    const element_row *a = element_of(pkb_ptx_take_type(w));
    const element_row *b = element_of(pkb_ptx_take_type(w));
    pkb_ptx_type sum = pkb_ptx_take_type(w);

    (void)variant;
    pkb_ptx_has(w, "aligned");
    if (k == 0 || a == NULL || b == NULL || a->each != b->each || sum != result ||
        !pkb_ptx_has(w, "sync") || !pkb_ptx_has(w, "row") || !pkb_ptx_has(w, "col") ||
        a->is_integer != (sum == PKB_PTX_S32) || w->in.operand_count != 4 ||
        (!a->is_integer && sum != PKB_PTX_F32 && sum != PKB_PTX_F16))
        return false;
    uint32_t b_words = k / (4 * a->each);
    if (b_words == 0 || part_count(pkb_ptx_get(w, 2)) != b_words ||
        part_count(pkb_ptx_get(w, 1)) != 2 * b_words)
        return false;
    return put_mma(w, a, b, k, sum);
}
