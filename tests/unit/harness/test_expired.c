/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/expired.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "harness/memory/signals.h"

enum { WORLD = 4 };

static void check(uint32_t word, const char *wanted)
{
    char text[PKB_EXPIRED_BYTES];
    pkb_expired_text(text, word, WORLD, 15 * PKB_NS_PER_S);
    assert_string_equal(text, wanted);
}

static uint32_t flag(uint32_t channel, uint32_t word)
{
    return UINT32_C(1) << 31 | (channel * PKB_SIGNAL_CHANNEL_WORDS + word);
}

static void a_barriers_flag_names_the_peer(void **state)
{
    (void)state;
    check(flag(7, 1 + 2), "a wait gave up: rank 2 never came to this barrier within 15 s");
    check(flag(PKB_SIGNAL_CHANNELS, 1), /* of pkb_barrier */
          "a wait gave up: rank 0 never came to this barrier within 15 s");
    check(flag(PKB_SIGNAL_CHANNELS + 1, 1),
          "a wait gave up: not all blocks of this rank came to pkb_barrier within 15 s");
}

static void who_kept_the_gate_shut_is_found(void **state)
{
    const uint32_t gate = flag(PKB_SIGNAL_CHANNELS + 1, 1);
    uint32_t words[2 * PKB_SIGNAL_CHANNEL_WORDS] = {0};
    uint32_t *flags = words + 1, *arrived = words + PKB_SIGNAL_CHANNEL_WORDS;
    (void)state;

    arrived[1] = UINT32_MAX; /* the gate: epochs wrap */
    for (uint32_t q = 0; q < WORLD; q++)
        flags[q] = 0;
    flags[2] = UINT32_MAX;
    assert_int_equal(pkb_expired_behind_gate(gate, words, WORLD), flag(PKB_SIGNAL_CHANNELS, 1 + 2));
    assert_int_equal(pkb_expired_behind_gate(flag(7, 1), words, WORLD), flag(7, 1));
    arrived[0] = 5; /* blocks of its own are missing */
    assert_int_equal(pkb_expired_behind_gate(gate, words, WORLD), gate);
    arrived[0] = 0;
    flags[2] = 0;
    assert_int_equal(pkb_expired_behind_gate(gate, words, WORLD), gate);
}

static void other_flags_are_told_by_their_place(void **state)
{
    (void)state;
    check(flag(PKB_SIGNAL_CHANNELS + 2, 3), "a wait gave up: the flag at byte 12 of its symmetric "
                                            "memory never reached its value within 15 s");
    check(1, "a wait gave up: a flag never reached its value within 15 s");
}

static void nonsense_names_no_rank(void **state)
{
    (void)state;
    check(0, "");
    check(flag(7, 1 + WORLD),
          "a wait gave up: a word of the barriers never reached its value within 15 s");
    check(flag(7, 0), "a wait gave up: a word of the barriers never reached its value within 15 s");
    check(UINT32_MAX, "a wait gave up: the flag at byte 8587836412 of its symmetric memory never "
                      "reached its value within 15 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barriers_flag_names_the_peer),
        cmocka_unit_test(who_kept_the_gate_shut_is_found),
        cmocka_unit_test(other_flags_are_told_by_their_place),
        cmocka_unit_test(nonsense_names_no_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
