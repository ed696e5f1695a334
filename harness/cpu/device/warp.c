/* SPDX-License-Identifier: Apache-2.0
 *
 * Warp collectives. A pending operation is keyed by its whole member mask: two operations with
 * overlapping masks may be pending at once. The last lane to arrive computes every lane's result
 * and stores it in that lane's fiber before it wakes them, so nothing can be overwritten early.
 * Lanes that exited, or that the block does not have, count as arrived.
 */
#include "harness/cpu/device/block.h"
#include "harness/cpu/device/fault.h"

enum kind {
    SYNC,
    SHFL,
    VOTE = SHFL + 4,
    MATCH_ANY = VOTE + 4,
    MATCH_ALL,
    REDUX,
    ELECT = REDUX + 8
};

static const char *kind_name(uint32_t kind)
{
    if (kind == SYNC)
        return "bar.warp.sync";
    if (kind < VOTE)
        return "shfl.sync";
    if (kind < MATCH_ANY)
        return "vote.sync";
    if (kind < REDUX)
        return "match.sync";
    return kind < ELECT ? "redux.sync" : "elect.sync";
}

static pkb_fiber *lanes_of(pkb_fiber *fiber)
{
    return fiber - fiber->thread.lane;
}

static pkb_warp *warp_of(pkb_fiber *fiber)
{
    return &fiber->block->warps[fiber->thread.warp];
}

/* ---- results; `lanes` points at lane 0, `arrived` are the lanes with operands ---- */

/* The lane that `lane` reads from; false when that is outside its segment. */
static bool find_source(enum pkb_shfl_mode mode, const pkb_fiber *f, uint32_t lane,
                        uint32_t *source)
{
    uint32_t clamp = f->c & 31, segment = f->c >> 8 & 31, b = f->b & 31;
    uint32_t lowest = lane & segment, highest = lowest | (clamp & ~segment);

    switch (mode) {
    case PKB_SHFL_UP:
        *source = lane - b;
        return (int32_t)*source >= (int32_t)highest;
    case PKB_SHFL_DOWN:
        *source = lane + b;
        return *source <= highest;
    case PKB_SHFL_BFLY:
        *source = lane ^ b;
        return *source <= highest;
    case PKB_SHFL_IDX:
        *source = lowest | (b & ~segment);
        return *source <= highest;
    }
    *source = lane;
    return false;
}

static void finish_shfl(pkb_fiber *lanes, uint32_t arrived, enum pkb_shfl_mode mode)
{
    for (uint32_t left = arrived; left != 0; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), source = lane;
        pkb_fiber *f = &lanes[lane];

        f->predicate = find_source(mode, f, lane, &source);
        /* A lane that takes no part has nothing to give: the reader keeps its own value. */
        bool is_there = f->predicate && (arrived >> (source & 31) & 1) != 0;
        f->result = (uint32_t)lanes[is_there ? source : lane].operand;
    }
}

static uint32_t vote_result(uint32_t arrived, uint32_t yes, enum pkb_vote_mode mode)
{
    switch (mode) {
    case PKB_VOTE_ALL:
        return yes == arrived;
    case PKB_VOTE_ANY:
        return yes != 0;
    case PKB_VOTE_UNI:
        return yes == arrived || yes == 0;
    case PKB_VOTE_BALLOT:
        return yes;
    }
    return 0;
}

static uint32_t redux_step(uint32_t a, uint32_t b, enum pkb_redux_op op)
{
    switch (op) {
    case PKB_REDUX_ADD:
        return a + b;
    case PKB_REDUX_MIN_U32:
        return a < b ? a : b;
    case PKB_REDUX_MAX_U32:
        return a > b ? a : b;
    case PKB_REDUX_MIN_S32:
        return (int32_t)a < (int32_t)b ? a : b;
    case PKB_REDUX_MAX_S32:
        return (int32_t)a > (int32_t)b ? a : b;
    case PKB_REDUX_AND:
        return a & b;
    case PKB_REDUX_OR:
        return a | b;
    case PKB_REDUX_XOR:
        return a ^ b;
    }
    return 0;
}

/* Lanes whose operand equals `value`. */
static uint32_t equal_lanes(const pkb_fiber *lanes, uint32_t arrived, uint64_t value)
{
    uint32_t equal = 0;
    for (uint32_t left = arrived; left != 0; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (lanes[lane].operand == value)
            equal |= 1u << lane;
    }
    return equal;
}

static void finish_match_any(pkb_fiber *lanes, uint32_t arrived)
{
    for (uint32_t left = arrived; left != 0; left &= left - 1) {
        pkb_fiber *f = &lanes[__builtin_ctz(left)];
        f->result = equal_lanes(lanes, arrived, f->operand);
    }
}

static void give_all(pkb_fiber *lanes, uint32_t arrived, uint32_t result, uint32_t predicate)
{
    for (uint32_t left = arrived; left != 0; left &= left - 1) {
        lanes[__builtin_ctz(left)].result = result;
        lanes[__builtin_ctz(left)].predicate = predicate;
    }
}

static void finish(pkb_fiber *lanes, uint32_t arrived, uint32_t kind)
{
    uint32_t first = (uint32_t)__builtin_ctz(arrived);

    if (kind == SYNC)
        return;
    if (kind < VOTE) {
        finish_shfl(lanes, arrived, (enum pkb_shfl_mode)(kind - SHFL));
    } else if (kind < MATCH_ANY) {
        uint32_t yes = equal_lanes(lanes, arrived, 1);
        give_all(lanes, arrived, vote_result(arrived, yes, (enum pkb_vote_mode)(kind - VOTE)), 0);
    } else if (kind == MATCH_ANY) {
        finish_match_any(lanes, arrived);
    } else if (kind == MATCH_ALL) {
        bool equal = equal_lanes(lanes, arrived, lanes[first].operand) == arrived;
        give_all(lanes, arrived, equal ? arrived : 0, equal);
    } else if (kind < ELECT) {
        uint32_t value = (uint32_t)lanes[first].operand;
        for (uint32_t left = arrived & (arrived - 1); left != 0; left &= left - 1)
            value = redux_step(value, (uint32_t)lanes[__builtin_ctz(left)].operand,
                               (enum pkb_redux_op)(kind - REDUX));
        give_all(lanes, arrived, value, 0);
    } else {
        give_all(lanes, arrived, first, 0);
    }
}

/* ---- meeting ---- */

static bool is_complete(const pkb_warp *warp, const pkb_warp_op *op)
{
    return ((op->mask & warp->existing) & ~(op->arrived | warp->exited)) == 0;
}

/* Computes and removes the operation; wakes everyone but `self`. */
static void complete(pkb_fiber *lanes, pkb_warp *warp, pkb_warp_op *op, const pkb_fiber *self)
{
    pkb_warp_op done = *op;

    *op = warp->ops[--warp->op_count];
    finish(lanes, done.arrived, done.kind);
    for (uint32_t left = done.arrived; left != 0; left &= left - 1) {
        pkb_fiber *f = &lanes[__builtin_ctz(left)];
        if (f != self)
            pkb_fiber_wake(f);
    }
}

static pkb_warp_op *find_op(pkb_warp *warp, uint32_t mask)
{
    for (uint32_t i = 0; i < warp->op_count; i++)
        if (warp->ops[i].mask == mask)
            return &warp->ops[i];
    return NULL;
}

static void meet(pkb_fiber *fiber, uint32_t kind, uint32_t mask)
{
    pkb_warp *warp = warp_of(fiber);
    uint32_t own = 1u << fiber->thread.lane;

    if (!(mask & own))
        pkb_fault_raise(&fiber->thread, PKB_CPU_FAULT_LANE_MASK,
                        "lane %u executes %s with member mask 0x%08x, which lacks it",
                        fiber->thread.lane, kind_name(kind), mask);
    if (mask == own)
        return finish(lanes_of(fiber), own, kind);

    pkb_warp_op *op = find_op(warp, mask);
    if (op == NULL) {
        op = &warp->ops[warp->op_count++];
        *op = (pkb_warp_op){.mask = mask, .kind = kind};
    } else if (op->kind != kind) {
        pkb_fault_raise(&fiber->thread, PKB_CPU_FAULT_LANE_MASK,
                        "lane %u executes %s while others of member mask 0x%08x execute %s",
                        fiber->thread.lane, kind_name(kind), mask, kind_name(op->kind));
    }
    op->arrived |= own;
    if (is_complete(warp, op)) {
        complete(lanes_of(fiber), warp, op, fiber);
        return;
    }
    fiber->state = PKB_FIBER_IN_WARP_OP;
    fiber->wait_id = kind;
    fiber->wait_mask = mask;
    pkb_fiber_sleep(fiber);
}

void pkb_warp_note_exit(pkb_fiber *fiber)
{
    pkb_warp *warp = warp_of(fiber);

    warp->exited |= 1u << fiber->thread.lane;
    for (uint32_t i = warp->op_count; i-- > 0;)
        if (is_complete(warp, &warp->ops[i]))
            complete(lanes_of(fiber), warp, &warp->ops[i], fiber);
}

/* ---- the operations ---- */

void pkb_warp_sync(pkb_thread *thread, uint32_t mask)
{
    meet(pkb_fiber_of(thread), SYNC, mask);
}

uint32_t pkb_shfl(pkb_thread *thread, enum pkb_shfl_mode mode, uint32_t value, uint32_t b,
                  uint32_t c, uint32_t mask, uint32_t *in_range)
{
    pkb_fiber *fiber = pkb_fiber_of(thread);

    fiber->operand = value;
    fiber->b = b;
    fiber->c = c;
    meet(fiber, SHFL + mode, mask);
    if (in_range != NULL)
        *in_range = fiber->predicate;
    return fiber->result;
}

static uint32_t meet_with(pkb_thread *thread, uint32_t kind, uint64_t operand, uint32_t mask)
{
    pkb_fiber *fiber = pkb_fiber_of(thread);

    fiber->operand = operand;
    meet(fiber, kind, mask);
    return fiber->result;
}

uint32_t pkb_vote(pkb_thread *thread, enum pkb_vote_mode mode, uint32_t predicate, uint32_t mask)
{
    return meet_with(thread, VOTE + mode, predicate != 0, mask);
}

uint32_t pkb_match_any(pkb_thread *thread, uint64_t value, uint32_t mask)
{
    return meet_with(thread, MATCH_ANY, value, mask);
}

uint32_t pkb_match_all(pkb_thread *thread, uint64_t value, uint32_t mask, uint32_t *all_equal)
{
    uint32_t result = meet_with(thread, MATCH_ALL, value, mask);

    if (all_equal != NULL)
        *all_equal = pkb_fiber_of(thread)->predicate;
    return result;
}

uint32_t pkb_redux(pkb_thread *thread, enum pkb_redux_op op, uint32_t value, uint32_t mask)
{
    return meet_with(thread, REDUX + op, value, mask);
}

uint32_t pkb_elect(pkb_thread *thread, uint32_t mask, uint32_t *is_leader)
{
    uint32_t leader = meet_with(thread, ELECT, 0, mask);

    if (is_leader != NULL)
        *is_leader = leader == thread->lane;
    return leader;
}

uint32_t pkb_activemask(pkb_thread *thread, uint32_t site)
{
    pkb_fiber *fiber = pkb_fiber_of(thread);

    fiber->state = PKB_FIBER_PARKED;
    fiber->wait_id = site;
    fiber->block->parked_count++;
    pkb_fiber_sleep(fiber);
    return fiber->result;
}
