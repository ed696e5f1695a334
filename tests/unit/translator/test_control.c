/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole kernels: calls, scopes, loops, memory, initialisers, layout, source lines, and what must
 * stop a thread.
 */
#include "tests/unit/translator/run_ptx.h"

static const char *run_kernel(const loaded *l, const char *name, pkb_thread *thread,
                              const void *params)
{
    return l->run(find_kernel(l, name), thread, params);
}

/* Runs kernel k(uint64_t *p) of `text` on the words and returns why it stopped. */
static const char *run_words(loaded *l, const char *text, uint64_t *words)
{
    static char reason[256];
    pkb_thread thread = one_thread();
    *l = load_ptx(text);
    const char *stopped = run_kernel(l, "k", &thread, &words);
    if (stopped == NULL)
        return NULL;
    snprintf(reason, sizeof reason, "%s", stopped);
    return reason;
}

/* For who asks nothing of the module. */
static const char *run_once(const char *text, uint64_t *words)
{
    loaded l;
    const char *stopped = run_words(&l, text, words);
    dlclose(l.handle);
    return stopped;
}

static void recursion_and_structs_go_through_parameters(void **state)
{
    static const char *const text = PTX_HEAD
        ".func (.param .align 8 .b8 out[16]) f(.param .align 8 .b8 in[16], .param .b32 n)\n"
        "{ .reg .b64 %l<4>; .reg .b32 %r<3>; .reg .pred %p;\n"
        "ld.param.v2.u64 {%l0, %l1}, [in]; ld.param.u32 %r0, [n];\n"
        "setp.eq.u32 %p, %r0, 0; @%p bra DONE;\n"
        "add.u64 %l2, %l0, %l1; sub.u32 %r1, %r0, 1;\n"
        "{ .param .align 8 .b8 a[16]; .param .b32 b; .param .align 8 .b8 r[16];\n"
        "st.param.u64 [a+0], %l1; st.param.u64 [a+8], %l2; st.param.b32 [b], %r1;\n"
        "call.uni (r), f, (a, b); ld.param.v2.b64 {%l0, %l1}, [r]; }\n"
        "DONE: st.param.v2.u64 [out], {%l0, %l1}; ret; }\n"
        ".visible .entry k(.param .u64 p) { .reg .b64 %l<4>; .reg .b32 %r;\n"
        "ld.param.u64 %l3, [p]; mov.u64 %l0, 0; mov.u64 %l1, 1; mov.u32 %r, 50;\n"
        "{ .param .align 8 .b8 a[16]; .param .b32 b; .param .align 8 .b8 r[16];\n"
        "st.param.v2.u64 [a], {%l0, %l1}; st.param.b32 [b], %r;\n"
        "call (r), f, (a, b); ld.param.u64 %l0, [r]; }\n"
        "st.global.u64 [%l3], %l0; exit; }\n";
    uint64_t words[1] = {0};
    (void)state;
    assert_null(run_once(text, words));
    assert_int_equal(words[0], 12586269025u); /* Fibonacci(50) */
}

static void tables_of_functions_and_branches_are_followed(void **state)
{
    static const char *const text = PTX_HEAD
        ".func (.param .b32 r) twice(.param .b32 x);\n"
        ".global .align 8 .u64 table[2] = {twice, next};\n"
        ".func (.param .b32 r) next(.param .b32 x) { .reg .b32 %r; ld.param.u32 %r, [x];\n"
        "add.u32 %r, %r, 1; st.param.b32 [r], %r; ret; }\n"
        ".func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %r; ld.param.u32 %r, [x];\n"
        "add.u32 %r, %r, %r; st.param.b32 [r], %r; ret; }\n"
        ".visible .entry k(.param .u64 p) { .reg .b64 %l<4>; .reg .b32 %r<4>; .reg .pred %q;\n"
        "ld.param.u64 %l0, [p]; mov.u32 %r0, 0; mov.u32 %r3, 5;\n"
        "T: .branchtargets A, B, C;\n"
        "LOOP: brx.idx %r0, T;\n"
        "A: mov.u64 %l1, table; ld.global.u64 %l2, [%l1+8]; bra CALL;\n"
        "B: ld.global.u64 %l2, [table]; bra CALL;\n"
        "CALL: { .param .b32 a; .param .b32 b; st.param.b32 [a], %r3;\n"
        "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
        "call (b), %l2, (a), P; ld.param.b32 %r3, [b]; }\n"
        "add.u32 %r0, %r0, 1; bra LOOP;\n"
        "C: st.global.u32 [%l0], %r3; ret; }\n";
    uint64_t words[1] = {0};
    (void)state;
    assert_null(run_once(text, words));
    assert_int_equal(words[0], 12);
}

static void labels_of_scopes_do_not_collide(void **state)
{
    static const char *const text =
        PTX_HEAD ".visible .entry k(.param .u64 p) { .reg .b64 %l; .reg .b32 x; .reg .pred q;\n"
                 "ld.param.u64 %l, [p]; mov.u32 x, 0; setp.eq.u32 q, x, 0;\n"
                 "{ .reg .b32 x; mov.u32 x, 9; @q bra W; mov.u32 x, 1; W: st.u32 [%l], x; }\n"
                 "{ .reg .b32 x; mov.u32 x, 8; @!q bra W; mov.u32 x, 2; W: st.u32 [%l+4], x; }\n"
                 "add.u32 x, x, 3; bra OUT; { trap; } OUT: st.u32 [%l+8], x; ret; }\n";
    uint32_t words[4] = {0};
    (void)state;
    assert_null(run_once(text, (uint64_t *)(void *)words));
    assert_int_equal(words[0], 9);
    assert_int_equal(words[1], 2);
    assert_int_equal(words[2], 3);
}

static void initialisers_hold_values_and_addresses(void **state)
{
    static const char *const text = PTX_HEAD
        ".global .align 1 .b8 s[3] = {97, 98};\n"
        ".const .align 4 .f32 c[2][2] = {{0f3F800000, 2.5}, {-1.0, 0f00000000}};\n"
        ".global .align 8 .u64 a[3] = {generic(s)+1, s, 5};\n"
        ".global .align 8 .b8 m[8] = {0xFF(s), 0xFF00(s), 0xFF0000(s), 0xFF000000(s),\n"
        "0xFF00000000(s), 0xFF0000000000(s), 0xFF000000000000(s), 0xFF00000000000000(s)};\n"
        ".global .attribute(.managed) .align 4 .u32 managed = 7;\n"
        ".global .align 2 .s16 h[] = {-1, 2, 0x7fff};\n"
        ".visible .entry k(.param .u64 p) { .reg .b64 %l<5>; .reg .b32 %r<3>; .reg .f32 %f;\n"
        "ld.param.u64 %l0, [p]; ld.global.u64 %l1, [a]; ld.global.u8 %r0, [%l1];\n"
        "st.u32 [%l0], %r0; ld.const.f32 %f, [c+4]; st.f32 [%l0+4], %f;\n"
        "ld.global.s16 %r1, [h]; st.u32 [%l0+8], %r1; ret; }\n";
    uint32_t words[4] = {0};
    loaded l;
    const pkb_variable_info *v;
    (void)state;
    assert_null(run_words(&l, text, (uint64_t *)(void *)words));
    assert_int_equal(words[0], 98);
    assert_int_equal(words[1], 0x40200000);
    assert_int_equal(words[2], UINT32_MAX);
    assert_int_equal(l.module->variable_count, 6);
    v = l.module->variables;
    assert_int_equal(*(uint64_t *)v[3].address, (uint64_t)v[0].address);
    assert_true(v[4].is_managed && v[4].bytes == 4 && v[1].is_constant && v[5].bytes == 6);
    assert_float_equal(((float *)v[1].address)[2], -1.0f, 0.0f);
    dlclose(l.handle);
}

static void shared_variables_of_kernels_overlap(void **state)
{
    static const char *const text = PTX_HEAD
        ".extern .shared .align 16 .b8 dyn[];\n"
        ".shared .align 4 .b8 both[100];\n"
        ".visible .entry a(.param .u64 p) { .shared .align 8 .b8 x[40000]; .reg .b32 %r<4>;\n"
        "mov.u32 %r1, x; mov.u32 %r2, both; mov.u32 %r3, dyn; ret; }\n"
        ".visible .entry b(.param .u64 p) { .shared .align 8 .b8 x[30000]; .reg .b32 %r<4>;\n"
        "mov.u32 %r1, x; mov.u32 %r2, both; ret; }\n"
        ".visible .entry c(.param .u64 p) { .shared .align 8 .b8 y[8]; .reg .b32 %r<4>;\n"
        "mov.u32 %r1, y; ret; }\n";
    loaded l = load_ptx(text);
    (void)state;
    assert_int_equal(find_kernel(&l, "a")->static_shared_bytes, 40104);
    assert_int_equal(find_kernel(&l, "b")->static_shared_bytes, 30104);
    assert_int_equal(find_kernel(&l, "c")->static_shared_bytes, 8);
    assert_int_equal(find_kernel(&l, "a")->dynamic_shared_align, 16);
    dlclose(l.handle);
}

static void shared_memory_is_bounded(void **state)
{
    static const char *const text =
        PTX_HEAD ".shared .align 4 .b8 x[8];\n"
                 ".visible .entry k(.param .u32 p) { .reg .b32 %r<4>; .reg .b64 %l<3>;\n"
                 "ld.param.u32 %r0, [p]; mov.u32 %r1, x; add.u32 %r1, %r1, %r0;\n"
                 "st.shared.u32 [%r1], %r0; cvt.u64.u32 %l0, %r1; cvta.shared.u64 %l0, %l0;\n"
                 "ld.u32 %r2, [%l0]; ret; }\n";
    static _Alignas(4096) uint8_t range[8192];
    pkb_thread thread = one_thread();
    (void)state;
    loaded l = load_ptx(text);
    *l.shared_range = (uint64_t)range;
    thread.total_shared_bytes = 1024 + 8;
    assert_null(run_kernel(&l, "k", &thread, &(uint32_t){4}));
    assert_int_equal(range[1024 + 4], 4);
    assert_string_equal(run_kernel(&l, "k", &thread, &(uint32_t){8}),
                        "address: write 4 bytes line 0");
    assert_string_equal(run_kernel(&l, "k", &thread, &(uint32_t){2}),
                        "address: write 4 bytes misaligned line 0");
    dlclose(l.handle);
}

static void device_pointers_are_moved_and_checked(void **state)
{
    static const char *const text =
        PTX_HEAD ".visible .entry k(.param .u64 p) { .reg .b64 %l; .reg .b32 %r<5>;\n"
                 "ld.param.u64 %l, [p]; ld.global.v4.u32 {%r0, %r1, _, %r3}, [%l];\n"
                 "atom.global.add.u32 %r4, [%l+4], %r0; red.global.max.s32 [%l+8], -5;\n"
                 "st.volatile.global.u32 [%l+12], %r4; ret; }\n";
    static _Alignas(16) uint32_t memory[8] = {1, 2, 0x80000000, 4};
    loaded l = load_ptx(text);
    pkb_thread thread = one_thread();
    (void)state;
    l.map(0x7000000000, 4096, (uint64_t)memory - 0x7000000000);
    assert_null(run_kernel(&l, "k", &thread, &(uint64_t){0x7000000000}));
    assert_int_equal(memory[1], 3);
    assert_int_equal(memory[2], (uint32_t)-5);
    assert_int_equal(memory[3], 2);
    assert_string_equal(run_kernel(&l, "k", &thread, &(uint64_t){0x7000000008}),
                        "address: read 16 bytes misaligned line 0");
    dlclose(l.handle);
}

static void atomics_of_all_types_return_the_old_value(void **state)
{
    static const char *const text = PTX_HEAD
        ".visible .entry k(.param .u64 p) { .reg .b64 %l<3>; .reg .b32 %r<5>; .reg .f32 %f<2>;\n"
        ".reg .f64 %d; .reg .b16 %h;\n"
        "ld.param.u64 %l0, [p];\n"
        "atom.global.inc.u32 %r0, [%l0], 3; atom.global.inc.u32 %r0, [%l0], 3;\n"
        "atom.dec.u32 %r0, [%l0+4], 9;\n"
        "atom.global.cas.b32 %r1, [%l0+8], 7, 70; st.u32 [%l0+12], %r1;\n"
        "atom.add.f32 %f0, [%l0+16], 0f3F800000; red.relaxed.gpu.global.add.f32 [%l0+16], %f0;\n"
        "mov.f64 %d, 0d4000000000000000; red.add.f64 [%l0+24], %d;\n"
        "mov.b32 %r2, 0x3c004000; atom.add.noftz.f16x2 %r3, [%l0+32], %r2;\n"
        "atom.exch.b64 %l1, [%l0+40], 5; st.u64 [%l0+48], %l1;\n"
        "atom.min.u64 %l1, [%l0+56], 4; mov.b16 %h, 0x3f80;\n"
        "atom.add.noftz.bf16 %h, [%l0+36], %h; ret; }\n";
    struct {
        uint32_t inc, dec, cas, old;
        float f, pad;
        double d;
        uint32_t pair;
        uint16_t bf, pad2;
        uint64_t exch, was, min;
    } m = {.inc = 2, .cas = 7, .f = 1.5f, .d = 0.5, .pair = 0x3c003c00, .bf = 0x3f80};
    (void)state;
    m.exch = 6;
    m.min = 9;
    assert_null(run_once(text, (uint64_t *)(void *)&m));
    assert_int_equal(m.inc, 0);
    assert_int_equal(m.dec, 9);
    assert_int_equal(m.cas, 70);
    assert_int_equal(m.old, 7);
    assert_float_equal(m.f, 4.0f, 0.0f);
    assert_true(m.d == 2.5);
    assert_int_equal(m.pair, 0x40004200);
    assert_int_equal(m.bf, 0x4000);
    assert_int_equal(m.exch, 5);
    assert_int_equal(m.was, 6);
    assert_int_equal(m.min, 4);
}

static void only_loops_that_can_wait_yield(void **state)
{
    static const char *const text = PTX_HEAD
        ".visible .entry plain(.param .u64 p) { .reg .b32 %r; .reg .pred %q; mov.u32 %r, 0;\n"
        "L: add.u32 %r, %r, 1; setp.lt.u32 %q, %r, 100000; @%q bra L; ret; }\n"
        ".visible .entry waits(.param .u64 p) { .reg .b32 %r; .reg .pred %q; .reg .b64 %l;\n"
        "ld.param.u64 %l, [p]; L: ld.acquire.gpu.global.u32 %r, [%l]; setp.eq.u32 %q, %r, 0;\n"
        "@%q bra L; ret; }\n";
    loaded l = load_ptx(text);
    pkb_thread thread = one_thread();
    uint64_t zero = 0, *p = &zero;
    (void)state;
    assert_null(run_kernel(&l, "plain", &thread, &p));
    assert_int_equal(l.yields(), 0);
    assert_string_equal(run_kernel(&l, "waits", &thread, &p), "hang: yields");
    dlclose(l.handle);
}

static void faults_name_the_outermost_line_of_the_attempt(void **state)
{
    static const char *const text =
        PTX_HEAD ".visible .entry k(.param .u64 p) { .reg .b64 %l; .reg .b32 %r;\n"
                 ".loc 1 10 0\n"
                 "ld.param.u64 %l, [p]; add.u64 %l, %l, 1;\n"
                 ".loc 1 20 3\n"
                 ".loc 2 608 5, function_name $L__info_string0, inlined_at 1 20 3\n"
                 ".loc 2 597 1, function_name $L__info_string1, inlined_at 2 608 5\n"
                 "{ ld.volatile.global.u32 %r, [%l];}\n"
                 "ret; }\n"
                 ".file 1 \"/home/x/attempt.cu\"\n"
                 ".file 2 \"/usr/include/header.hpp\"\n"
                 ".section .debug_str { $L__info_string0: .b8 95,0 }\n";
    uint64_t words[2] = {0};
    loaded l;
    (void)state;
    assert_string_equal(run_words(&l, text, words), "address: read 4 bytes misaligned line 20");
    assert_string_equal(l.module->files[1], "/home/x/attempt.cu");
    assert_int_equal(l.module->file_count, 3);
    dlclose(l.handle);
}

/* Places are declared before the code that is in them: both calls of the barrier at line 99 come
 * first, and the later declaration is the earlier call's. What follows says only "inlined at 99".
 */
static void what_is_inlined_twice_counts_for_the_call_it_is_in(void **state)
{
    static const char *const text =
        PTX_HEAD ".visible .entry k(.param .u64 p) { .reg .b64 %l; .reg .b32 %r; .reg .pred %q;\n"
                 ".loc 1 31 5\n"
                 ".loc 2 99 5, function_name $L__info_string0, inlined_at 1 31 5\n"
                 ".loc 2 85 9, function_name $L__info_string1, inlined_at 2 99 5\n"
                 ".loc 1 11 5\n"
                 "ld.param.u64 %l, [p]; ld.u32 %r, [%l]; setp.ne.u32 %q, %r, 0;\n"
                 "add.u64 %l, %l, 1;\n"
                 ".loc 2 98 5, function_name $L__info_string0, inlined_at 1 11 5\n"
                 "add.u32 %r, %r, 1;\n"
                 ".loc 2 99 5, function_name $L__info_string0, inlined_at 1 11 5\n"
                 ".loc 2 60 13, function_name $L__info_string2, inlined_at 2 85 9\n"
                 "@%q ld.volatile.global.u32 %r, [%l];\n"
                 ".loc 1 20 9\n"
                 "add.u32 %r, %r, 1;\n"
                 ".loc 2 98 5, function_name $L__info_string0, inlined_at 1 31 5\n"
                 "add.u32 %r, %r, 1;\n"
                 ".loc 2 60 13, function_name $L__info_string2, inlined_at 2 85 9\n"
                 "ld.volatile.global.u32 %r, [%l];\n"
                 "ret; }\n"
                 ".file 1 \"/home/x/attempt.cu\"\n"
                 ".file 2 \"/usr/include/header.hpp\"\n"
                 ".section .debug_str { $L__info_string0: .b8 95,0 }\n";
    uint64_t words[2] = {0};
    (void)state;
    assert_string_equal(run_once(text, words), "address: read 4 bytes misaligned line 31");
    words[0] = 1;
    assert_string_equal(run_once(text, words), "address: read 4 bytes misaligned line 11");
}

static void the_unknown_stops_only_who_executes_it(void **state)
{
    static const char *const text =
        PTX_HEAD ".visible .entry k(.param .u64 p) { .reg .b64 %l; .reg .b32 %r; .reg .pred %q;\n"
                 "ld.param.u64 %l, [p]; ld.u32 %r, [%l]; setp.ne.u32 %q, %r, 0;\n"
                 ".loc 1 33 1\n"
                 "@%q frobnicate.sync.b32 %r, {%r, %r}, [%l, {%r, 5}], 0f3F800000;\n"
                 "@%q add.strange.u32 %r, %r, 1;\n"
                 "mov.u32 %r, 5; st.u32 [%l], %r; ret; }\n"
                 ".file 1 \"/home/x/attempt.cu\"\n";
    uint64_t words[2] = {0};
    (void)state;
    assert_null(run_once(text, words));
    assert_int_equal(words[0], 5);
    assert_string_equal(run_once(text, words), "unsupported: frobnicate.sync.b32 at attempt.cu:33");
}

static void the_device_runtime_is_called(void **state)
{
    static const char *const text = PTX_HEAD
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
        ".extern .func free(.param .b64 q);\n"
        ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 u,\n"
        ".param .b64 s) .noreturn;\n"
        ".global .align 1 .b8 s[4] = {37, 100, 10, 0};\n"
        ".visible .entry k(.param .u64 p) { .local .align 8 .b8 depot[8]; .reg .b64 %l<5>;\n"
        ".reg .b32 %r<3>; ld.param.u64 %l0, [p]; mov.u64 %l1, depot; mov.u32 %r0, 42;\n"
        "st.local.u32 [%l1], %r0; cvta.local.u64 %l1, %l1; mov.u64 %l2, s;\n"
        "cvta.global.u64 %l2, %l2;\n"
        "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %l2;\n"
        "st.param.b64 [b], %l1; call.uni (r), vprintf, (a, b); ld.param.b32 %r1, [r]; }\n"
        "st.u32 [%l0], %r1;\n"
        "{ .param .b64 a; .param .b64 r; mov.u64 %l3, 64; st.param.b64 [a], %l3;\n"
        "call.uni (r), malloc, (a); ld.param.b64 %l4, [r]; } st.u64 [%l4], %l3;\n"
        "{ .param .b64 a; st.param.b64 [a], %l4; call.uni free, (a); }\n"
        "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
        "st.param.b64 [a], %l2; call.uni __assertfail, (a, b, c, d, e); } ret; }\n";
    uint64_t words[1] = {0};
    (void)state;
    assert_string_equal(run_once(text, words), "assert: %d\n");
    assert_int_equal(words[0], 3042);
}

static void parameters_are_laid_out_in_order(void **state)
{
    static const char *const text =
        PTX_HEAD ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 1 b,\n"
                 ".param .align 4 .b8 c[6], .param .u16 d, .param .align 64 .b8 e[128])\n"
                 ".maxntid 8, 4, 2\n.minnctapersm 3\n.maxnreg 40\n.reqnctapercluster 2, 1, 1\n"
                 "{ .local .align 8 .b8 depot[200]; ret; }\n";
    static const uint32_t offsets[] = {0, 8, 16, 22, 64}, sizes[] = {1, 8, 6, 2, 128};
    loaded l = load_ptx(text);
    const pkb_kernel_info *kernel = find_kernel(&l, "k");
    (void)state;
    assert_int_equal(kernel->param_count, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(kernel->params[i].offset, offsets[i]);
        assert_int_equal(kernel->params[i].bytes, sizes[i]);
    }
    assert_int_equal(kernel->param_bytes, 192);
    assert_int_equal(kernel->max_threads, 64);
    assert_int_equal(kernel->min_blocks, 3);
    assert_int_equal(kernel->max_registers, 40);
    assert_int_equal(kernel->cluster[0], 2);
    assert_true(kernel->stack_bytes >= 200);
    dlclose(l.handle);
}

static void collectives_pass_their_operands_on(void **state)
{
    static const char *const text = PTX_HEAD
        ".visible .entry k(.param .u64 p) { .reg .b64 %l; .reg .b32 %r<9>; .reg .pred %q<5>;\n"
        "ld.param.u64 %l, [p]; mov.u32 %r0, 1; setp.ne.u32 %q0, %r0, 0;\n"
        "shfl.sync.down.b32 %r1|%q1, 5, 2, 31, 3; @%q1 add.u32 %r1, %r1, 7;\n"
        "st.u32 [%l], %r1; vote.sync.ballot.b32 %r2, %q0, 0xf; st.u32 [%l+4], %r2;\n"
        "vote.ballot.sync.b32 %r2, !%q0, 0xf; st.u32 [%l+8], %r2;\n"
        "redux.sync.max.s32 %r3, 4, 2; st.u32 [%l+12], %r3;\n"
        "barrier.cta.red.popc.aligned.u32 %r4, 3, 2, !%q0; st.u32 [%l+16], %r4;\n"
        "barrier.sync 0; bar.sync 1, 64; bar.arrive 2, 64; bar.warp.sync 0xffffffff;\n"
        "match.all.sync.b64 %r5|%q2, %l, 7; selp.u32 %r6, %r5, 0, %q2; st.u32 [%l+20], %r6;\n"
        "elect.sync %r7|%q3, 0xffffffff; activemask.b32 %r8; st.u32 [%l+24], %r8;\n"
        "membar.gl; fence.acq_rel.gpu; ret; }\n";
    uint32_t words[8] = {0};
    (void)state;
    assert_null(run_once(text, (uint64_t *)(void *)words));
    assert_int_equal(words[0], 5 + 1000 + 20 + 31 + 300000 + 7);
    assert_int_equal(words[1], 0xf);
    assert_int_equal(words[2], 0);
    assert_int_equal(words[3], 4 + PKB_REDUX_MAX_S32 * 1000 + 200);
    assert_int_equal(words[4], PKB_BAR_POPC * 1000 + 320);
    assert_int_equal(words[5], 7);
    assert_int_equal(words[6], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recursion_and_structs_go_through_parameters),
        cmocka_unit_test(tables_of_functions_and_branches_are_followed),
        cmocka_unit_test(labels_of_scopes_do_not_collide),
        cmocka_unit_test(initialisers_hold_values_and_addresses),
        cmocka_unit_test(shared_variables_of_kernels_overlap),
        cmocka_unit_test(shared_memory_is_bounded),
        cmocka_unit_test(device_pointers_are_moved_and_checked),
        cmocka_unit_test(atomics_of_all_types_return_the_old_value),
        cmocka_unit_test(only_loops_that_can_wait_yield),
        cmocka_unit_test(faults_name_the_outermost_line_of_the_attempt),
        cmocka_unit_test(what_is_inlined_twice_counts_for_the_call_it_is_in),
        cmocka_unit_test(the_unknown_stops_only_who_executes_it),
        cmocka_unit_test(the_device_runtime_is_called),
        cmocka_unit_test(parameters_are_laid_out_in_order),
        cmocka_unit_test(collectives_pass_their_operands_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
