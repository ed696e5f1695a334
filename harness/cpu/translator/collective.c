/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions in which threads of a block or warp meet; see opcode.h. The runtime does the work,
 * here only the operands are sorted. Modifiers come in any order (vote.sync.ballot and
 * vote.ballot.sync both occur).
 */
#include <string.h>

#include "harness/cpu/translator/opcode.h"

static bool barrier_red(pkb_ptx_writer *w)
{
    bool is_popc = pkb_ptx_has(w, "popc"), is_or = pkb_ptx_has(w, "or");
    bool has_count = w->in.operand_count == 4;
    pkb_ptx_type type = pkb_ptx_take_type(w);

    if (!is_popc && !is_or && !pkb_ptx_has(w, "and"))
        return false;
    w->in.types[has_count ? 3 : 2] = PKB_PTX_PRED;
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), type);
    pkb_ptx_printf(w, "pkb_bar_red(T,PKB_BAR_%s,", is_popc ? "POPC" : is_or ? "OR" : "AND");
    pkb_ptx_put(w, has_count ? "$1,$2,$3)" : "$1,0,$2)");
    pkb_ptx_close_assignment(w);
    return w->in.operand_count == 3 || has_count;
}

/* bar and barrier: sync, arrive, red, warp.sync */
bool pkb_ptx_write_barrier(pkb_ptx_writer *w, const char *variant)
{
    bool has_count = w->in.operand_count == 2;

    (void)variant;
    pkb_ptx_has(w, "aligned");
    pkb_ptx_has(w, "cta");
    pkb_ptx_set_types(w, PKB_PTX_U32);
    if (pkb_ptx_has(w, "warp")) {
        pkb_ptx_put(w, "pkb_warp_sync(T,$0);");
        return pkb_ptx_has(w, "sync");
    }
    if (pkb_ptx_has(w, "red"))
        return barrier_red(w);
    if (pkb_ptx_has(w, "arrive")) {
        pkb_ptx_put(w, "pkb_bar_arrive(T,$0,$1);");
        return has_count;
    }
    pkb_ptx_put(w, has_count ? "pkb_bar_sync(T,$0,$1);" : "pkb_bar_sync(T,$0,0);");
    return pkb_ptx_has(w, "sync");
}

/* What p of d|p gets: an unsigned named q. */
static void put_second(pkb_ptx_writer *w)
{
    const pkb_ptx_operand *destination = pkb_ptx_get(w, 0);
    if (destination->pair == 0)
        return;
    pkb_ptx_open_assignment(w, &w->in.parts[destination->pair], PKB_PTX_PRED);
    pkb_buf_append_string(&w->body, "q!=0");
    pkb_ptx_close_assignment(w);
}

bool pkb_ptx_write_shuffle(pkb_ptx_writer *w, const char *variant)
{
    static const char *const names[] = {"up", "down", "bfly", "idx"};
    static const char *const modes[] = {"UP", "DOWN", "BFLY", "IDX"};
    bool has_mask = pkb_ptx_has(w, "sync");

    (void)variant;
    pkb_ptx_set_types(w, PKB_PTX_B32);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!pkb_ptx_has(w, names[i]))
            continue;
        pkb_buf_append_string(&w->body, "uint32_t q;");
        pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), PKB_PTX_B32);
        pkb_ptx_printf(w, "pkb_shfl(T,PKB_SHFL_%s,", modes[i]);
        pkb_ptx_put(w, has_mask ? "$1,$2,$3,$4,&q)" : "$1,$2,$3,~0u,&q)");
        pkb_ptx_close_assignment(w);
        put_second(w);
        return pkb_ptx_take_type(w) == PKB_PTX_B32;
    }
    return false;
}

bool pkb_ptx_write_vote(pkb_ptx_writer *w, const char *variant)
{
    static const char *const names[] = {"all", "any", "uni", "ballot"};
    static const char *const modes[] = {"ALL", "ANY", "UNI", "BALLOT"};
    bool has_mask = pkb_ptx_has(w, "sync");
    pkb_ptx_type type = pkb_ptx_take_type(w);

    (void)variant;
    pkb_ptx_set_types(w, PKB_PTX_U32);
    w->in.types[1] = PKB_PTX_PRED;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!pkb_ptx_has(w, names[i]))
            continue;
        pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), type);
        pkb_ptx_printf(w, "pkb_vote(T,PKB_VOTE_%s,", modes[i]);
        pkb_ptx_put(w, has_mask ? "$1,$2)" : "$1,~0u)");
        pkb_ptx_close_assignment(w);
        return type != PKB_PTX_NO_TYPE;
    }
    return false;
}

bool pkb_ptx_write_match(pkb_ptx_writer *w, const char *variant)
{
    bool is_all = pkb_ptx_has(w, "all");

    (void)variant;
    if (!pkb_ptx_has(w, "sync") || (!is_all && !pkb_ptx_has(w, "any")))
        return false;
    pkb_ptx_type type = pkb_ptx_take_type(w);
    pkb_ptx_set_types(w, type);
    w->in.types[2] = PKB_PTX_U32;
    pkb_buf_append_string(&w->body, "uint32_t q;");
    pkb_ptx_assign(w, 0, PKB_PTX_U32,
                   is_all ? "pkb_match_all(T,$1,$2,&q)" : "pkb_match_any(T,$1,$2)");
    put_second(w);
    return type == PKB_PTX_B32 || type == PKB_PTX_B64;
}

bool pkb_ptx_write_redux(pkb_ptx_writer *w, const char *variant)
{
    static const struct {
        const char *name, *unsigned_mode, *signed_mode;
    } rows[] = {{"add", "ADD", "ADD"},
                {"min", "MIN_U32", "MIN_S32"},
                {"max", "MAX_U32", "MAX_S32"},
                {"and", "AND", "AND"},
                {"or", "OR", "OR"},
                {"xor", "XOR", "XOR"}};
    pkb_ptx_type type = pkb_ptx_take_type(w);

    (void)variant;
    pkb_ptx_set_types(w, PKB_PTX_U32);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!pkb_ptx_has(w, rows[i].name))
            continue;
        pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), PKB_PTX_U32);
        pkb_ptx_printf(w, "pkb_redux(T,PKB_REDUX_%s,",
                       type == PKB_PTX_S32 ? rows[i].signed_mode : rows[i].unsigned_mode);
        pkb_ptx_put(w, "$1,$2)");
        pkb_ptx_close_assignment(w);
        return pkb_ptx_has(w, "sync") && pkb_ptx_type_bits(type) == 32 &&
               pkb_ptx_type_is_integer(type);
    }
    return false;
}

/* elect.sync d|p, mask */
bool pkb_ptx_write_elect(pkb_ptx_writer *w, const char *variant)
{
    (void)variant;
    pkb_ptx_set_types(w, PKB_PTX_U32);
    pkb_buf_append_string(&w->body, "uint32_t q;");
    pkb_ptx_assign(w, 0, PKB_PTX_U32, "pkb_elect(T,$1,&q)");
    put_second(w);
    return pkb_ptx_has(w, "sync");
}

bool pkb_ptx_write_activemask(pkb_ptx_writer *w, const char *variant)
{
    (void)variant;
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), PKB_PTX_U32);
    pkb_ptx_printf(w, "pkb_activemask(T,%u)", ++w->module->activemask_sites);
    pkb_ptx_close_assignment(w);
    return pkb_ptx_take_type(w) == PKB_PTX_B32;
}
