/* SPDX-License-Identifier: Apache-2.0
 *
 * The state while one function is written as C, and what the instruction emitters share: the
 * parsed instruction, its modifiers and operands, and ways to write C with them.
 *
 * An emitter that meets something it does not know returns false (or an operand sets
 * `is_unsupported`); the caller then takes back what was written and puts a call that stops the
 * thread in its place, so one exotic instruction does not sink a file.
 */
#ifndef PKB_PTX_WRITER_H
#define PKB_PTX_WRITER_H

#include "harness/cpu/translator/module.h"

enum { PKB_PTX_MAX_MODIFIERS = 32, PKB_PTX_MAX_OPERANDS = 32, PKB_PTX_MAX_PARTS = 1024 };

typedef enum pkb_ptx_symbol_kind {
    PKB_PTX_SYMBOL_REGISTER,
    PKB_PTX_SYMBOL_RANGE, /* %r<100> */
    PKB_PTX_SYMBOL_PARAM, /* of the function itself */
    PKB_PTX_SYMBOL_ARRAY, /* .local, or .param of a call */
    PKB_PTX_SYMBOL_LABEL,
    PKB_PTX_SYMBOL_TARGETS /* .branchtargets */
} pkb_ptx_symbol_kind;

typedef struct pkb_ptx_symbol {
    pkb_ptx_symbol_kind kind;
    const pkb_ptx_token *name;
    uint32_t scope;
    pkb_ptx_type type;
    uint32_t index;        /* PARAM: which; RANGE: its size */
    uint32_t bytes, align; /* ARRAY */
    uint8_t *is_used;      /* REGISTER (one) and RANGE, grown on demand */
    uint32_t used_count;
    bool is_defined;    /* LABEL: already passed */
    uint32_t wait_mark; /* LABEL: waits written before it */
    size_t targets;     /* TARGETS: token of the first label */
} pkb_ptx_symbol;

typedef enum pkb_ptx_operand_kind {
    PKB_PTX_OPERAND_REGISTER,
    PKB_PTX_OPERAND_SYMBOL, /* array, parameter or label of the function */
    PKB_PTX_OPERAND_VARIABLE,
    PKB_PTX_OPERAND_FUNCTION,
    PKB_PTX_OPERAND_SPECIAL, /* %tid.x */
    PKB_PTX_OPERAND_INTEGER,
    PKB_PTX_OPERAND_FLOAT32,
    PKB_PTX_OPERAND_FLOAT64,
    PKB_PTX_OPERAND_SINK,
    PKB_PTX_OPERAND_VECTOR,
    PKB_PTX_OPERAND_ADDRESS, /* part 0 is the base, `offset` is added */
    PKB_PTX_OPERAND_LIST,    /* of a call */
    PKB_PTX_OPERAND_UNKNOWN
} pkb_ptx_operand_kind;

typedef struct pkb_ptx_operand {
    pkb_ptx_operand_kind kind;
    const pkb_ptx_token *token;
    const pkb_ptx_token *axis; /* SPECIAL: ".x", or NULL */
    uint32_t symbol, number;   /* of symbols; register number inside a range */
    uint32_t index;            /* of variables or functions */
    bool is_negated;
    uint64_t bits, offset;
    uint32_t part, part_count; /* VECTOR, ADDRESS, LIST: where in parts[] */
    uint32_t pair;             /* q of p|q: in parts[], 0 = none */
} pkb_ptx_operand;

typedef struct pkb_ptx_instruction {
    const pkb_ptx_token *opcode;
    const pkb_ptx_token *modifiers[PKB_PTX_MAX_MODIFIERS];
    uint32_t modifier_count, taken; /* bit i: modifier i was understood */
    bool is_flushing;               /* .ftz: $n of a float type is flushed when read */
    pkb_ptx_operand parts[PKB_PTX_MAX_PARTS];
    uint32_t part_count;
    uint32_t operands[PKB_PTX_MAX_OPERANDS]; /* in parts[] */
    uint32_t operand_count;
    pkb_ptx_type types[PKB_PTX_MAX_OPERANDS]; /* how $n reads operand n */
} pkb_ptx_instruction;

typedef struct pkb_ptx_place {
    uint32_t file, line, column;
} pkb_ptx_place;

typedef struct pkb_ptx_writer {
    pkb_ptx_module *module;
    pkb_ptx_function *function;
    size_t function_index;
    pkb_ptx_cursor cursor;
    pkb_buf body;
    pkb_ptx_symbol *symbols;
    size_t symbol_count, symbol_capacity;
    pkb_ptx_name_map symbol_names;
    uint32_t *scope_parents;
    size_t scope_count, scope_capacity;
    uint32_t scope, depth;
    uint64_t register_count; /* in all ranges so far, to bound memory */
    pkb_ptx_instruction in;
    bool is_unsupported;
    uint32_t wait_count;  /* instructions so far that a spinning loop can contain */
    uint32_t label_count; /* made by the emitters themselves */
    pkb_ptx_place place, shown;
    struct pkb_ptx_inlining *inlinings; /* see location.h */
    size_t inlining_count, inlining_capacity;
} pkb_ptx_writer;

/* ---- operand.c ---- */
/* Reads modifiers and operands up to the ';'. */
void pkb_ptx_instruction_read(pkb_ptx_writer *w, const pkb_ptx_token *opcode);
void pkb_ptx_operand_read(pkb_ptx_writer *w, uint32_t *out_part, uint32_t depth);
/* The symbol a name means here, looking outward through the scopes; NULL if there is none. */
pkb_ptx_symbol *pkb_ptx_find_symbol(const pkb_ptx_writer *w, const pkb_ptx_token *name);

/* ---- writer.c ---- */
/* Whether the modifier `name` ("ftz") is there; it then counts as understood. */
bool pkb_ptx_has(pkb_ptx_writer *w, const char *name);
/* The next type modifier not yet taken. */
pkb_ptx_type pkb_ptx_take_type(pkb_ptx_writer *w);
void pkb_ptx_ignore_modifiers(pkb_ptx_writer *w);
bool pkb_ptx_all_taken(const pkb_ptx_writer *w);

const pkb_ptx_operand *pkb_ptx_get(const pkb_ptx_writer *w, uint32_t index);
/* All operands are read as `type` from now on. */
void pkb_ptx_set_types(pkb_ptx_writer *w, pkb_ptx_type type);

/* Writes C in which $0 … $9 stand for the operands, each in its type of w->in.types. */
void pkb_ptx_put(pkb_ptx_writer *w, const char *template);
/* `destination = (template);` where the template's value is of `type`. */
void pkb_ptx_assign(pkb_ptx_writer *w, uint32_t index, pkb_ptx_type type, const char *template);

void pkb_ptx_put_operand(pkb_ptx_writer *w, const pkb_ptx_operand *operand, pkb_ptx_type type);
/* The two halves of an assignment, for templates that do not suffice. */
void pkb_ptx_open_assignment(pkb_ptx_writer *w, const pkb_ptx_operand *operand, pkb_ptx_type type);
void pkb_ptx_close_assignment(pkb_ptx_writer *w);
/* The same in pieces of printf, between the two halves. */
#define pkb_ptx_printf(w, ...) pkb_buf_printf(&(w)->body, __VA_ARGS__)
/* A C expression of type uint64_t: the base of an ADDRESS plus its offset. */
void pkb_ptx_put_address(pkb_ptx_writer *w, const pkb_ptx_operand *address);

/* ---- special.c ---- */
/* %tid.x and so on as a C expression; false if unknown. */
bool pkb_ptx_put_special(pkb_ptx_writer *w, const pkb_ptx_operand *operand);

/* ---- opcode.c ---- */
/* Writes the instruction in w->in; `predicate` may be NULL. */
void pkb_ptx_instruction_write(pkb_ptx_writer *w, const pkb_ptx_operand *predicate);
/* In its place: a fault that names it and its line, raised only if it is executed. */
void pkb_ptx_instruction_write_unsupported(pkb_ptx_writer *w, const pkb_ptx_operand *predicate);

#endif
