/* SPDX-License-Identifier: Apache-2.0
 *
 * cp.async, its bulk forms of one dimension, and mbarrier; see opcode.h and device/async.h.
 */
#include <stdio.h>
#include <string.h>

#include "harness/cpu/translator/opcode.h"

static void ignore(pkb_ptx_writer *w, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pkb_ptx_has(w, names[i]);
}

static void ignore_order(pkb_ptx_writer *w)
{
    static const char *const names[] = {"relaxed", "acquire", "release", "cta",
                                        "cluster", "gpu",     "sys",     "b64"};
    ignore(w, names, sizeof names / sizeof names[0]);
}

static bool take_shared(pkb_ptx_writer *w)
{
    static const char *const names[] = {"shared", "shared::cta", "shared::cluster"};
    bool is_shared = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        is_shared = pkb_ptx_has(w, names[i]) || is_shared;
    return is_shared;
}

/* `uint8_t *name=PKB_<macro>(address, bytes);` where `bytes` is C. */
static void put_pointer(pkb_ptx_writer *w, const char *name, const char *macro, uint32_t operand,
                        const char *bytes)
{
    pkb_ptx_printf(w, "uint8_t *%s=PKB_%s(", name, macro);
    pkb_ptx_put_address(w, pkb_ptx_get(w, operand));
    pkb_ptx_printf(w, ",%s);", bytes);
}

static void put_barrier(pkb_ptx_writer *w, uint32_t operand, bool is_shared)
{
    put_pointer(w, "m", is_shared ? "WRITE_SHARED" : "WRITE_GENERIC", operand, "8");
}

/* ---- mbarrier ---- */
static bool mbarrier_arrive(pkb_ptx_writer *w, bool is_shared)
{
    bool is_drop = pkb_ptx_token_is(w->in.modifiers[0], ".arrive_drop");
    bool has_bytes = pkb_ptx_has(w, "expect_tx"), has_count = w->in.operand_count == 3;

    pkb_ptx_has(w, "noComplete");
    put_barrier(w, 1, is_shared);
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), PKB_PTX_B64);
    pkb_buf_append_string(&w->body, "pkb_mbarrier_update(m,");
    if (has_bytes)
        pkb_ptx_put(w, is_drop ? "1,1,$2)" : "1,0,$2)");
    else if (has_count)
        pkb_ptx_put(w, is_drop ? "$2,$2,0)" : "$2,0,0)");
    else
        pkb_buf_append_string(&w->body, is_drop ? "1,1,0)" : "1,0,0)");
    pkb_ptx_close_assignment(w);
    return w->in.operand_count == 2 || has_count;
}

static bool mbarrier_wait(pkb_ptx_writer *w, bool is_shared)
{
    bool is_parity = pkb_ptx_has(w, "parity");

    w->wait_count++;
    put_barrier(w, 1, is_shared);
    w->in.types[2] = is_parity ? PKB_PTX_U32 : PKB_PTX_U64;
    pkb_ptx_assign(w, 0, PKB_PTX_PRED,
                   is_parity ? "pkb_mbarrier_test(T,m,$2)"
                             : "pkb_mbarrier_test(T,m,(uint32_t)(($2)>>63))");
    return w->in.operand_count >= 3;
}

bool pkb_ptx_write_mbarrier(pkb_ptx_writer *w, const char *variant)
{
    bool is_shared = take_shared(w);

    (void)variant;
    ignore_order(w);
    pkb_ptx_set_types(w, PKB_PTX_U32);
    if (pkb_ptx_has(w, "arrive") || pkb_ptx_has(w, "arrive_drop"))
        return mbarrier_arrive(w, is_shared);
    if (pkb_ptx_has(w, "test_wait") || pkb_ptx_has(w, "try_wait"))
        return mbarrier_wait(w, is_shared);
    if (pkb_ptx_has(w, "pending_count")) {
        w->in.types[1] = PKB_PTX_U64;
        pkb_ptx_assign(w, 0, PKB_PTX_U32, "($1)&PKB_MBARRIER_COUNT");
        return w->in.operand_count == 2;
    }
    put_barrier(w, 0, is_shared);
    if (pkb_ptx_has(w, "init"))
        pkb_ptx_put(w, "pkb_mbarrier_init(m,$1);");
    else if (pkb_ptx_has(w, "expect_tx"))
        pkb_ptx_put(w, "pkb_mbarrier_update(m,0,0,$1);");
    else if (pkb_ptx_has(w, "complete_tx"))
        pkb_ptx_put(w, "pkb_mbarrier_update(m,0,0,-(int64_t)$1);");
    else
        return pkb_ptx_has(w, "inval") && w->in.operand_count == 1;
    return w->in.operand_count == 2;
}

/* ---- copies ---- */
static void ignore_hints(pkb_ptx_writer *w)
{
    static const char *const names[] = {"ca",       "cg",       "L2::cache_hint", "L2::64B",
                                        "L2::128B", "L2::256B", "global",         "async"};
    ignore(w, names, sizeof names / sizeof names[0]);
}

/* No bytes when the source is to be ignored. */
static void put_unless(pkb_ptx_writer *w, const pkb_ptx_operand *ignored, const char *size)
{
    pkb_buf_append_string(&w->body, "(");
    pkb_ptx_put_operand(w, ignored, PKB_PTX_PRED);
    pkb_ptx_printf(w, ")?0:%s", size);
}

/* cp.async.ca.shared.global [to], [from], bytes[, source bytes or a predicate][, policy] */
static bool copy_small(pkb_ptx_writer *w)
{
    const pkb_ptx_operand *bytes = pkb_ptx_get(w, 2), *fourth = pkb_ptx_get(w, 3);
    uint32_t policies = pkb_ptx_has(w, "L2::cache_hint");
    bool has_fourth = w->in.operand_count == 4 + policies;
    char size[16];

    ignore_hints(w);
    if (!take_shared(w) || bytes->kind != PKB_PTX_OPERAND_INTEGER ||
        (bytes->bits != 4 && bytes->bits != 8 && bytes->bits != 16))
        return false;
    snprintf(size, sizeof size, "%u", (unsigned)bytes->bits);
    put_pointer(w, "t", "WRITE_SHARED", 0, size);
    put_pointer(w, "f", "READ_GLOBAL", 1, size);
    pkb_ptx_printf(w, "pkb_copy_filling(t,f,%s,", size);
    if (!has_fourth)
        pkb_buf_append_string(&w->body, size);
    else if (fourth->kind == PKB_PTX_OPERAND_REGISTER &&
             w->symbols[fourth->symbol].type == PKB_PTX_PRED)
        put_unless(w, fourth, size);
    else
        pkb_ptx_put_operand(w, fourth, PKB_PTX_U32);
    pkb_buf_append_string(&w->body, ");");
    return has_fourth || w->in.operand_count == 3 + policies;
}

/* cp.async.bulk.<to>.<from>: whether each is shared memory, by the order of the modifiers */
static bool take_spaces(pkb_ptx_writer *w, bool is_shared[2])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->in.modifier_count; i++) {
        const pkb_ptx_token *token = w->in.modifiers[i];
        bool is_global = pkb_ptx_token_is(token, ".global");
        if (!is_global && (token->length < 7 || memcmp(token->text, ".shared", 7) != 0))
            continue;
        if (count < 2)
            is_shared[count] = !is_global;
        count++;
        w->in.taken |= 1u << i;
    }
    return count == 2;
}

static bool put_range(pkb_ptx_writer *w, bool is_shared[2])
{
    bool is_known = take_spaces(w, is_shared);
    pkb_ptx_put(w, "uint32_t n=$2;");
    put_pointer(w, "t", is_shared[0] ? "RANGE_WRITE_SHARED" : "RANGE_WRITE_GLOBAL", 0, "n");
    put_pointer(w, "f", is_shared[1] ? "RANGE_READ_SHARED" : "RANGE_READ_GLOBAL", 1, "n");
    return is_known;
}

static bool copy_bulk(pkb_ptx_writer *w)
{
    bool is_shared[2] = {false, false}, has_barrier;

    ignore_hints(w);
    has_barrier = pkb_ptx_has(w, "mbarrier::complete_tx::bytes");
    if (!put_range(w, is_shared))
        return false;
    pkb_buf_append_string(&w->body, "pkb_copy(t,f,n);");
    if (!has_barrier)
        return pkb_ptx_has(w, "bulk_group") && w->in.operand_count >= 3;
    put_barrier(w, 3, true);
    pkb_buf_append_string(&w->body, "pkb_mbarrier_update(m,0,0,-(int64_t)n);");
    return w->in.operand_count >= 4 && is_shared[0];
}

/* cp.async.*: the last word of what has no data says which it is */
bool pkb_ptx_write_copy(pkb_ptx_writer *w, const char *variant)
{
    (void)variant;
    pkb_ptx_set_types(w, PKB_PTX_U32);
    if (pkb_ptx_has(w, "reduce") || !pkb_ptx_has(w, "async") || pkb_ptx_has(w, "tensor"))
        return false;
    bool is_bulk = pkb_ptx_has(w, "bulk");
    if (pkb_ptx_has(w, "commit_group") || pkb_ptx_has(w, "wait_group") ||
        pkb_ptx_has(w, "wait_all") || pkb_ptx_has(w, "prefetch")) {
        pkb_ptx_ignore_modifiers(w);
        return true;
    }
    if (pkb_ptx_has(w, "mbarrier")) {
        /* Without .noinc the arrival was added to the count first, and nothing changes. */
        bool is_counted = pkb_ptx_has(w, "noinc"), is_shared = take_shared(w);
        ignore_order(w);
        put_barrier(w, 0, is_shared);
        if (is_counted)
            pkb_buf_append_string(&w->body, "pkb_mbarrier_update(m,1,0,0);");
        return pkb_ptx_has(w, "arrive");
    }
    return is_bulk ? copy_bulk(w) : copy_small(w);
}
