/* SPDX-License-Identifier: Apache-2.0
 *
 * Shares a machine; see room.h.
 */
#include "evaluator/lane/room.h"

#include <stdio.h>

#include "evaluator/machine/cores.h"

static bool holds(uint64_t places, size_t place)
{
    return (places >> place & 1) != 0;
}

static pkb_code find_gpus(pkb_room *room, const pkb_setting *setting, pkb_error *err)
{
    const pkb_eval_options *options = &setting->options;
    const char *list = options->gpus != NULL ? options->gpus : setting->gpus.list;
    const size_t wanted = (size_t)options->worlds * (size_t)options->world;
    pkb_gpu_choice choice = {0};

    room->has_gpus = true;
    if (setting->gpus.count == 0)
        return PKB_OK;
    pkb_code rc = pkb_gpu_choice_parse(&choice, list, err);
    if (rc != PKB_OK)
        return rc;
    if (wanted > choice.count)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "--worlds %d of %d ranks want %zu GPUs, and there are %zu: %s",
                             options->worlds, options->world, wanted, choice.count, list);
    room->place_count = wanted > 0 ? wanted : choice.count;
    for (size_t i = 0; i < room->place_count; i++)
        room->gpus[i] = choice.indices[i];
    return PKB_OK;
}

pkb_code pkb_room_find(pkb_room *gpu_room, pkb_room *cpu_room, const pkb_setting *setting,
                       pkb_error *err)
{
    _Static_assert((int)PKB_ROOM_MOST == (int)PKB_MAX_GPUS, "a place for each GPU");
    const bool is_cpu = setting->gpus.count == 0;
    const int worlds = setting->options.worlds;

    *gpu_room = *cpu_room = (pkb_room){0};
    cpu_room->place_count = is_cpu && worlds > 0 ? (size_t)worlds : 1;
    return find_gpus(gpu_room, setting, err);
}

size_t pkb_room_worlds(const pkb_room *room, int ranks)
{
    return room->place_count / pkb_room_wanted(room, ranks);
}

size_t pkb_room_wanted(const pkb_room *room, int ranks)
{
    return room->has_gpus ? (size_t)ranks : 1;
}

size_t pkb_room_free(const pkb_room *room)
{
    size_t count = 0;
    for (size_t i = 0; i < room->place_count; i++)
        count += !holds(room->taken, i);
    return count;
}

uint64_t pkb_room_take(pkb_room *room, int ranks)
{
    size_t left = pkb_room_wanted(room, ranks);
    uint64_t places = 0;

    if (left > pkb_room_free(room))
        return 0;
    for (size_t i = 0; i < room->place_count && left > 0; i++)
        if (!holds(room->taken, i)) {
            places |= UINT64_C(1) << i;
            left--;
        }
    room->taken |= places;
    return places;
}

void pkb_room_leave(pkb_room *room, uint64_t places)
{
    room->taken &= ~places;
}

void pkb_room_gpus(char *out, size_t bytes, const pkb_room *room, uint64_t places)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < room->place_count; i++)
        if (holds(places, i) && used < bytes)
            used += (size_t)snprintf(out + used, bytes - used, "%s%d", used > 0 ? "," : "",
                                     room->gpus[i]);
}

bool pkb_room_cores(cpu_set_t *out, const cpu_set_t *all, const pkb_room *room, uint64_t places,
                    int ranks)
{
    const size_t core_count = (size_t)CPU_COUNT(all), share = core_count / room->place_count;
    size_t nth = 0;

    CPU_ZERO(out);
    for (size_t core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, all))
            continue;
        const size_t place = share > 0 ? nth / share : room->place_count;
        if (place < room->place_count && holds(places, place))
            CPU_SET(core, out);
        nth++;
    }
    return CPU_COUNT(out) >= PKB_CORES_A_RANK * ranks;
}
