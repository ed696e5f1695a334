/* SPDX-License-Identifier: Apache-2.0
 *
 * Asynchronous copies, mbarriers and vector atomics.
 */
#include "tests/unit/translator/run_ptx.h"

static _Alignas(4096) uint8_t range[4096];

static const char *run_shared(const char *text, void *data)
{
    static char reason[256];
    loaded l = load_ptx(text);
    pkb_thread thread = one_thread();
    const pkb_kernel_info *kernel = find_kernel(&l, "k");
    *l.shared_range = (uint64_t)range;
    thread.total_shared_bytes = 1024 + kernel->static_shared_bytes;
    const char *stopped = l.run(kernel, &thread, &data);
    snprintf(reason, sizeof reason, "%s", stopped == NULL ? "" : stopped);
    dlclose(l.handle);
    return stopped == NULL ? NULL : reason;
}

#define HEAD                                                                          \
    PTX_HEAD ".shared .align 16 .b8 s[64];\n.shared .align 8 .b64 m;\n"               \
             ".visible .entry k(.param .u64 p) { .reg .b64 %l<9>; .reg .b32 %r<9>;\n" \
             ".reg .pred %q<4>; .reg .f32 %f<9>; ld.param.u64 %l0, [p];\n"            \
             "mov.u32 %r0, s; mov.u32 %r1, m;\n"

static void small_copies_fill_with_zeros(void **state)
{
    uint32_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    (void)state;
    memset(range, 0xee, sizeof range);
    assert_null(run_shared(HEAD "cp.async.cg.shared.global [%r0], [%l0], 16;\n"
                                "mov.u32 %r2, 4;\n"
                                "cp.async.ca.shared.global.L2::128B [%r0+16], [%l0], 8, %r2;\n"
                                "setp.eq.u32 %q0, %r2, 4;\n"
                                "cp.async.ca.shared.global [%r0+24], [%l0], 4, %q0;\n"
                                "cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;\n"
                                "ret; }",
                           words));
    const uint32_t *s = (const uint32_t *)(const void *)(range + 1024);
    assert_int_equal(s[3], 4);
    assert_int_equal(s[4], 1);
    assert_int_equal(s[5], 0);
    assert_int_equal(s[6], 0);
    assert_int_equal(s[7], 0xeeeeeeee);
}

static void bulk_copies_complete_their_barrier(void **state)
{
    _Alignas(16) uint32_t words[24] = {1, 2, 3, 4, 5, 6, 7, 8};
    (void)state;
    assert_null(run_shared(
        HEAD "mbarrier.init.shared::cta.b64 [%r1], 1;\n"
             "mbarrier.arrive.expect_tx.shared::cta.b64 %l1, [%r1], 32;\n"
             "mbarrier.test_wait.parity.shared::cta.b64 %q0, [%r1], 0;\n"
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%l0], 32,"
             "[%r1];\n"
             "mbarrier.try_wait.parity.shared::cta.b64 %q1, [%r1], 0, 1000;\n"
             "mbarrier.test_wait.shared::cta.b64 %q2, [%r1], %l1;\n"
             "selp.u32 %r2, 1, 0, %q0; selp.u32 %r3, 1, 0, %q1; selp.u32 %r4, 1, 0, %q2;\n"
             "st.v2.u32 [%l0+32], {%r2, %r3}; st.u32 [%l0+40], %r4;\n"
             "cp.async.bulk.global.shared::cta.bulk_group [%l0+48], [%r0], 32;\n"
             "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; ret; }",
        words));
    assert_int_equal(words[8], 0);
    assert_int_equal(words[9], 1);
    assert_int_equal(words[10], 1);
    assert_memory_equal(words, words + 12, 32);
}

static void bulk_copies_stay_in_shared_memory(void **state)
{
    _Alignas(16) uint32_t words[64] = {0};
    (void)state;
    assert_string_equal(run_shared(HEAD
                                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                                   "bytes [%r0+32], [%l0], 64, [%r1]; ret; }",
                                   words),
                        "address: write 64 bytes line 0");
}

/* Two arrivals a phase; bytes may come before they are announced. */
static void phases_end_when_arrivals_and_bytes_are_complete(void **state)
{
    uint32_t words[8] = {0};
    (void)state;
    assert_null(run_shared(
        HEAD "mbarrier.init.shared.b64 [%r1], 2;\n"
             "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 16;\n"
             "mbarrier.arrive.shared.b64 %l1, [%r1], 2;\n"
             "mbarrier.test_wait.parity.shared.b64 %q0, [%r1], 0;\n"
             "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 16;\n"
             "mbarrier.test_wait.parity.shared.b64 %q1, [%r1], 0;\n"
             "mbarrier.arrive_drop.shared.b64 _, [%r1]; mbarrier.arrive.shared.b64 _, [%r1];\n"
             "mbarrier.arrive.shared.b64 %l2, [%r1];\n"
             "mbarrier.test_wait.parity.shared.b64 %q2, [%r1], 0;\n"
             "mbarrier.pending_count.b64 %r5, %l2;\n"
             "selp.u32 %r2, 1, 0, %q0; selp.u32 %r3, 1, 0, %q1; selp.u32 %r4, 1, 0, %q2;\n"
             "st.v4.u32 [%l0], {%r2, %r3, %r4, %r5}; mbarrier.inval.shared.b64 [%r1]; ret; }",
        words));
    assert_int_equal(words[0], 0);
    assert_int_equal(words[1], 1);
    assert_int_equal(words[2], 1); /* the second phase ended, and the third of one arrival too */
    assert_int_equal(words[3], 1);
}

static void vector_atomics_work_element_by_element(void **state)
{
    _Alignas(16) float words[8] = {1, 2, 3, 4};
    (void)state;
    assert_null(run_shared(HEAD "mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0f40000000;\n"
                                "atom.global.v2.f32.add {%f1, %f0}, [%l0], {%f0, %f1};\n"
                                "red.global.add.v2.f32 [%l0+8], {%f0, %f1};\n"
                                "st.v2.f32 [%l0+16], {%f1, %f0}; ret; }",
                           words));
    assert_true(words[0] == 2 && words[1] == 4 && words[2] == 5 && words[3] == 5);
    assert_true(words[4] == 1 && words[5] == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_copies_fill_with_zeros),
        cmocka_unit_test(bulk_copies_complete_their_barrier),
        cmocka_unit_test(bulk_copies_stay_in_shared_memory),
        cmocka_unit_test(phases_end_when_arrivals_and_bytes_are_complete),
        cmocka_unit_test(vector_atomics_work_element_by_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
