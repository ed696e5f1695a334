/* SPDX-License-Identifier: Apache-2.0
 *
 * What include/pkbench.h promises; see world.h.
 */
#include "harness/cell/world.h"

#include <string.h>

/* ---- set-up ---- */

/* Ranks are row-major over the axes: those of my group differ in one coordinate only. */
static void fill_groups(pkb_world *world)
{
    const pkb_layout *layout = world->layout;
    uint32_t stride = layout->world;

    for (uint32_t axis = 0; axis < layout->axis_count; axis++) {
        const uint32_t size = layout->axes[axis].size;
        stride /= size;
        const uint32_t coordinate = layout->rank / stride % size;
        for (uint32_t i = 0; i < size; i++)
            world->group_ranks[axis][i] =
                (int32_t)(layout->rank - coordinate * stride + i * stride);
        world->groups[axis] = (pkb_group_info){
            .size = (int32_t)size, .rank = (int32_t)coordinate, .ranks = world->group_ranks[axis]};
    }
}

void pkb_world_init(pkb_world *world, const pkb_layout *layout, uint64_t base,
                    const void *host_arguments, const pkb_slot_values *values)
{
    *world = (pkb_world){
        .layout = layout, .base = base, .host_arguments = host_arguments, .values = values};
    pkb_world_reset_symmetric(world);
    fill_groups(world);
}

void pkb_world_reset_symmetric(pkb_world *world)
{
    world->symmetric_used = PKB_SIGNAL_BYTES;
}

static uint64_t own_arena(const pkb_world *world)
{
    return world->base + world->layout->rank * world->layout->rank_stride;
}

static uint64_t own_symmetric(const pkb_world *world)
{
    return own_arena(world) + pkb_layout_symmetric_offset(world->layout);
}

/* ---- arguments of a call ---- */

uint64_t pkb_world_argument_address(const pkb_world *world, uint32_t slot,
                                    const pkb_argument *argument)
{
    return own_arena(world) + slot * world->layout->slot_stride + argument->offset;
}

static uint64_t host_address(const pkb_world *world, uint32_t slot, const pkb_argument *argument)
{
    return (uint64_t)(uintptr_t)(world->host_arguments + slot * world->layout->slot_stride +
                                 argument->offset);
}

void pkb_world_run_args(const pkb_world *world, uint32_t slot, pkb_call_args *out)
{
    const pkb_layout *layout = world->layout;
    const pkb_slot_values *values = &world->values[slot];
    uint32_t field = 0;

    for (uint32_t i = 0; i < layout->argument_count; i++) {
        const pkb_argument *argument = &layout->arguments[i];
        if (argument->role == PKB_ROLE_SCALAR)
            out->fields[field++] = values->scalars[i];
        else if (argument->role == PKB_ROLE_HOST)
            out->fields[field++] = host_address(world, slot, argument);
        else
            out->fields[field++] = pkb_world_argument_address(world, slot, argument);
    }
    for (uint32_t i = 0; i < layout->dim_count; i++)
        out->fields[field++] =
            (uint64_t)(layout->dim_drawn[i] ? values->dims[i] : layout->dims[layout->rank][i]);
}

void pkb_world_setup_args(const pkb_world *world, pkb_call_args *out)
{
    const pkb_layout *layout = world->layout;
    uint32_t field = 0;

    for (uint32_t i = 0; i < layout->argument_count; i++) {
        const pkb_argument *argument = &layout->arguments[i];
        out->fields[field++] =
            argument->role == PKB_ROLE_HOST ? host_address(world, 0, argument) : 0;
    }
    for (uint32_t i = 0; i < layout->dim_count; i++)
        out->fields[field++] = (uint64_t)layout->dims[layout->rank][i];
}

/* ---- include/pkbench.h ---- */

int pkb_rank(const pkb_world *world)
{
    return (int)world->layout->rank;
}

int pkb_world_size(const pkb_world *world)
{
    return (int)world->layout->world;
}

pkb_peer_table pkb_peers(const pkb_world *world)
{
    return (pkb_peer_table){.stride = world->layout->rank_stride,
                            .timeout_ns = world->timeout_ns,
                            .signals = (char *)(uintptr_t)own_symmetric(world),
                            .rank = (int32_t)world->layout->rank,
                            .world_size = (int32_t)world->layout->world};
}

const pkb_group_info *pkb_group(const pkb_world *world, const char *axis)
{
    for (uint32_t i = 0; axis != NULL && i < world->layout->axis_count; i++) {
        if (strcmp(world->layout->axes[i].name, axis) == 0)
            return &world->groups[i];
    }
    return NULL;
}

void *pkb_symmetric_alloc(pkb_world *world, size_t bytes)
{
    const uint64_t limit = world->layout->symmetric_bytes;
    const uint64_t used = world->symmetric_used;

    if (!world->is_in_setup || bytes > limit - used)
        return NULL;
    const uint64_t end = (used + bytes + PKB_ARGUMENT_ALIGN - 1) / PKB_ARGUMENT_ALIGN *
                         PKB_ARGUMENT_ALIGN; /* `limit` is a multiple too */
    world->symmetric_used = end;
    return (void *)(uintptr_t)(own_symmetric(world) + used);
}

int pkb_is_present(const pkb_world *world, const void *pointer, int q)
{
    const pkb_layout *layout = world->layout;
    const uint64_t place = (uint64_t)(uintptr_t)pointer - own_arena(world);

    if (q < 0 || (uint32_t)q >= layout->world || place >= layout->slots_bytes)
        return 0;
    for (uint32_t i = 0; i < layout->argument_count; i++) {
        const pkb_argument *argument = &layout->arguments[i];
        if (!pkb_role_is_tensor(argument->role))
            continue;
        const uint64_t into = place % layout->slot_stride - argument->offset;
        if (into == 0 || into < argument->extent_bytes)
            return argument->present[q];
    }
    return 0;
}

void *pkb_multicast(const pkb_world *world, const void *pointer)
{
    (void)world;
    (void)pointer;
    return NULL;
}

uint64_t pkb_timeout_ns(const pkb_world *world)
{
    return world->timeout_ns;
}
