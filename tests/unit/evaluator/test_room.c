/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/lane/room.c: who takes which GPUs and cores.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "evaluator/lane/room.h"

static pkb_setting gpu_setting(const char *list, int world, int worlds)
{
    pkb_setting setting = {.options = {.gpus = list, .world = world, .worlds = worlds},
                           .gpus = {.count = (size_t)world}};
    return setting;
}

static cpu_set_t first_cores(size_t count)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (size_t i = 0; i < count; i++)
        CPU_SET(2 * i, &cores); /* odd ones are not ours */
    return cores;
}

static void eight_gpus_are_four_worlds_of_two(void **state)
{
    const pkb_setting setting = gpu_setting("0-7", 2, 0);
    pkb_room gpus, cpus;
    char list[64];
    uint64_t taken[4];
    (void)state;

    assert_int_equal(pkb_room_find(&gpus, &cpus, &setting, NULL), PKB_OK);
    assert_int_equal(pkb_room_worlds(&gpus, 2), 4);
    assert_int_equal(pkb_room_worlds(&gpus, 3), 2);
    for (size_t i = 0; i < 4; i++)
        taken[i] = pkb_room_take(&gpus, 2);
    assert_int_equal(pkb_room_take(&gpus, 1), 0);
    pkb_room_gpus(list, sizeof list, &gpus, taken[1]);
    assert_string_equal(list, "2,3");
    pkb_room_leave(&gpus, taken[1]);
    pkb_room_leave(&gpus, taken[3]);
    assert_int_equal(pkb_room_free(&gpus), 4);
    pkb_room_gpus(list, sizeof list, &gpus, pkb_room_take(&gpus, 3));
    assert_string_equal(list, "2,3,6");
}

static void more_worlds_than_gpus_are_refused(void **state)
{
    const pkb_setting setting = gpu_setting("4,5,6", 2, 2);
    pkb_room gpus, cpus;
    pkb_error err = {0};
    (void)state;

    assert_int_equal(pkb_room_find(&gpus, &cpus, &setting, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, "want 4 GPUs, and there are 3"));
}

static void worlds_asked_for_limit_those_on_gpus(void **state)
{
    const pkb_setting setting = gpu_setting("4-7", 2, 1);
    pkb_room gpus, cpus;
    (void)state;

    assert_int_equal(pkb_room_find(&gpus, &cpus, &setting, NULL), PKB_OK);
    assert_int_equal(pkb_room_worlds(&gpus, 2), 1);
}

static void a_world_on_the_cpu_takes_one_place_whatever_its_ranks(void **state)
{
    const pkb_setting setting = {.options = {.world = 4, .worlds = 2}};
    pkb_room gpus, cpus;
    (void)state;

    assert_int_equal(pkb_room_find(&gpus, &cpus, &setting, NULL), PKB_OK);
    assert_int_equal(pkb_room_free(&gpus), 0);
    assert_int_equal(pkb_room_worlds(&cpus, 4), 2);
    assert_int_equal(pkb_room_take(&cpus, 4), 1);
    assert_int_equal(pkb_room_take(&cpus, 2), 2);
    assert_int_equal(pkb_room_take(&cpus, 1), 0);
}

static void cores_go_with_places_where_there_are_three_a_rank(void **state)
{
    const cpu_set_t all = first_cores(13); /* the last one is nobody's */
    pkb_room room = {.place_count = 2};
    cpu_set_t cores;
    (void)state;

    assert_true(pkb_room_cores(&cores, &all, &room, 2, 2));
    assert_int_equal(CPU_COUNT(&cores), 6);
    assert_false(CPU_ISSET(10, &cores));
    assert_true(CPU_ISSET(12, &cores) && CPU_ISSET(22, &cores));
    assert_false(CPU_ISSET(24, &cores));
    assert_false(pkb_room_cores(&cores, &all, &room, 1, 3));
}

static void fewer_cores_than_places_are_shared(void **state)
{
    const cpu_set_t all = first_cores(2);
    pkb_room room = {.place_count = 4};
    cpu_set_t cores;
    (void)state;

    assert_false(pkb_room_cores(&cores, &all, &room, 1, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_gpus_are_four_worlds_of_two),
        cmocka_unit_test(more_worlds_than_gpus_are_refused),
        cmocka_unit_test(worlds_asked_for_limit_those_on_gpus),
        cmocka_unit_test(a_world_on_the_cpu_takes_one_place_whatever_its_ranks),
        cmocka_unit_test(cores_go_with_places_where_there_are_three_a_rank),
        cmocka_unit_test(fewer_cores_than_places_are_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
