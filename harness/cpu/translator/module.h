/* SPDX-License-Identifier: Apache-2.0
 *
 * What a PTX file declares: files, variables, functions. Function bodies stay token ranges here;
 * function.h translates them.
 */
#ifndef PKB_PTX_MODULE_H
#define PKB_PTX_MODULE_H

#include "base/buf.h"
#include "harness/cpu/translator/cursor.h"
#include "harness/cpu/translator/name_map.h"
#include "harness/cpu/translator/type.h"

enum {
    PKB_PTX_MAX_VARIABLE_BYTES = 1 << 30,
    PKB_PTX_MAX_PARAM_BYTES = 1 << 16,
    PKB_PTX_SHARED_RESERVED_BYTES = 1024,
    PKB_PTX_NO_INDEX = -1
};

typedef enum pkb_ptx_space {
    PKB_PTX_GENERIC,
    PKB_PTX_GLOBAL,
    PKB_PTX_CONST,
    PKB_PTX_SHARED,
    PKB_PTX_LOCAL,
    PKB_PTX_PARAM
} pkb_ptx_space;

typedef struct pkb_ptx_variable {
    const pkb_ptx_token *name;
    pkb_ptx_space space;
    pkb_ptx_type type;
    uint32_t align, element_bytes;
    uint64_t bytes; /* 0: size not given */
    bool is_extern, is_managed;
    size_t initializer; /* first token after '=', 0 = none */
    /* Shared variables only, set by layout.h: */
    uint32_t shared_offset;
    uint32_t user_count; /* kernels that can reach it */
} pkb_ptx_variable;

typedef struct pkb_ptx_param {
    const pkb_ptx_token *name;
    uint32_t bytes, align, offset;
} pkb_ptx_param;

typedef struct pkb_ptx_function {
    const pkb_ptx_token *name;
    bool is_kernel, has_body, is_address_taken, has_indirect_call;
    size_t body, body_end; /* tokens after '{' and of '}' */
    pkb_ptx_param *params; /* a device function's return value comes first, if it has one */
    uint32_t param_count, param_bytes;
    bool has_return;
    uint32_t max_threads, max_registers, min_blocks, cluster[3];
    /* Set by layout.h: */
    uint32_t *uses; /* variables and functions named in the body: index * 2 + is_function */
    uint32_t use_count, use_capacity;
    uint32_t shared_bytes, dynamic_align, stack_bytes;
} pkb_ptx_function;

typedef struct pkb_ptx_file {
    const pkb_ptx_token *name; /* with quotes; NULL = number not used */
    bool is_user;              /* a source of the attempt, not a header of the toolkit or of ours */
} pkb_ptx_file;

typedef struct pkb_ptx_module {
    pkb_ptx_cursor cursor;
    pkb_ptx_token *tokens;
    size_t token_count;
    pkb_ptx_variable *variables;
    size_t variable_count, variable_capacity;
    pkb_ptx_function *functions;
    size_t function_count, function_capacity;
    pkb_ptx_file *files; /* by their number in the PTX */
    size_t file_count;
    pkb_ptx_name_map variable_names; /* scope 0, or 1 + the function that holds the declaration */
    pkb_ptx_name_map function_names;
    uint32_t activemask_sites;
} pkb_ptx_module;

/* Reads all declarations; on failure the module must still be cleared. */
pkb_code pkb_ptx_module_read(pkb_ptx_module *module, const char *text, size_t length,
                             pkb_error *err);
void pkb_ptx_module_clear(pkb_ptx_module *module);

/* Reads `.shared .align 4 .b8 x[12] = {…};` from the space on; `scope` as in variable_names. */
void pkb_ptx_variable_read(pkb_ptx_module *module, pkb_ptx_cursor *cursor, uint32_t scope,
                           bool is_extern);

/* The space that ".shared", ".shared::cta" and so on name; false for other tokens. */
bool pkb_ptx_space_of(const pkb_ptx_token *token, pkb_ptx_space *out);

/* Index of the variable `name` seen from function `function_index`, or PKB_PTX_NO_INDEX. */
long pkb_ptx_module_find_variable(const pkb_ptx_module *module, const pkb_ptx_token *name,
                                  size_t function_index);
long pkb_ptx_module_find_function(const pkb_ptx_module *module, const pkb_ptx_token *name);

/* Writes a PTX name with all that C does not allow replaced; different names stay different. */
void pkb_ptx_put_name(pkb_buf *out, const char *prefix, const pkb_ptx_token *name);

void pkb_ptx_put_function_name(pkb_buf *out, const pkb_ptx_function *function);

/* The C name of a .global or .const variable. */
void pkb_ptx_put_variable_name(pkb_buf *out, const pkb_ptx_module *module, size_t index);

/* Grows an array for one more element; false when memory ran out (the cursor then fails). */
bool pkb_ptx_make_room(pkb_ptx_cursor *cursor, void **array, size_t count, size_t *capacity,
                       size_t element_bytes);

#endif
