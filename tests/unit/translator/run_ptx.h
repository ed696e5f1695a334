/* SPDX-License-Identifier: Apache-2.0
 *
 * Translates PTX, compiles it with gcc, loads it and runs its kernels with one thread. The tests
 * run in the repository's root.
 */
#ifndef PKB_TESTS_RUN_PTX_H
#define PKB_TESTS_RUN_PTX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "harness/cpu/device/device.h"
#include "harness/cpu/translator/translator.h"

#define PTX_HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"

typedef struct loaded {
    void *handle;
    const pkb_device_module_info *module;
    const char *(*run)(const pkb_kernel_info *, pkb_thread *, const void *);
    unsigned (*yields)(void);
    void (*map)(uint64_t base, uint64_t bytes, uint64_t delta);
    uint64_t *shared_range;
} loaded;

static void write_text(const char *path, const pkb_buf *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(pkb_buf_text(text), 1, text->bytes, file), text->bytes);
    assert_int_equal(fclose(file), 0);
}

/* Compiles the C in `code` together with the stub runtime. */
static loaded load_c(const pkb_buf *code)
{
    char folder[] = "/tmp/pkb_ptx_XXXXXX", path[64], command[512];
    loaded l = {0};

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/device.c", folder);
    write_text(path, code);
    snprintf(command, sizeof command,
             "gcc -O1 -std=gnu11 -w -march=x86-64-v3 -ffp-contract=off -fno-strict-aliasing "
             "-fwrapv -fPIC -shared %s tests/unit/translator/stub_runtime.c -I. -o %s/device.so",
             path, folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/device.so", folder);
    l.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (l.handle == NULL)
        fail_msg("%s", dlerror());
    l.module = dlsym(l.handle, "pkb_device_module");
    *(void **)&l.run = dlsym(l.handle, "stub_run");
    *(void **)&l.yields = dlsym(l.handle, "stub_yields");
    *(void **)&l.map = dlsym(l.handle, "stub_map");
    l.shared_range = dlsym(l.handle, "pkb_shared_range");
    assert_true(l.module != NULL && l.run != NULL && l.yields != NULL && l.map != NULL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    if (l.module->init != NULL)
        l.module->init();
    return l;
}

static inline loaded load_ptx(const char *text)
{
    pkb_buf code;
    pkb_error err = {0};
    pkb_buf_init(&code);
    if (pkb_ptx_translate(text, strlen(text), &code, &err) != PKB_OK)
        fail_msg("%s", err.message);
    loaded l = load_c(&code);
    pkb_buf_clear(&code);
    return l;
}

static inline const pkb_kernel_info *find_kernel(const loaded *l, const char *name)
{
    for (uint32_t i = 0; i < l->module->kernel_count; i++)
        if (strcmp(l->module->kernels[i].name, name) == 0)
            return &l->module->kernels[i];
    fail_msg("no kernel %s", name);
    return NULL;
}

static inline pkb_thread one_thread(void)
{
    pkb_thread thread = {0};
    for (int i = 0; i < 3; i++)
        thread.ntid[i] = thread.nctaid[i] = 1;
    thread.yield_budget = 200;
    return thread;
}

/* ---- one instruction a kernel ---- */

/* `ptx` computes register 0 of the class `to` from registers 1, 2, 3, which hold the three input
 * words: %r b32, %l b64, %h b16, %f f32, %d f64, %p pred (bit 0). */
typedef struct opcode_case {
    const char *ptx;
    char to;
    uint64_t (*reference)(uint64_t a, uint64_t b, uint64_t c);
} opcode_case;

static inline void put_case(pkb_buf *out, const opcode_case *c, size_t index)
{
    pkb_buf_printf(out, ".visible .entry k%zu(.param .u64 p)\n{\n", index);
    pkb_buf_append_string(out, ".reg .b32 %r<8>; .reg .b64 %l<8>; .reg .b64 %a; .reg .b16 %h<8>;\n"
                               ".reg .f32 %f<8>; .reg .f64 %d<8>; .reg .pred %p<8>;\n"
                               "ld.param.u64 %a, [p];\n");
    for (int i = 1; i <= 3; i++) {
        pkb_buf_printf(out, "ld.global.u64 %%l%d, [%%a+%d];\ncvt.u32.u64 %%r%d, %%l%d;\n", i,
                       8 * i - 8, i, i);
        pkb_buf_printf(out, "cvt.u16.u64 %%h%d, %%l%d;\nmov.b32 %%f%d, %%r%d;\n", i, i, i, i);
        pkb_buf_printf(out, "mov.b64 %%d%d, %%l%d;\nand.b32 %%r7, %%r%d, 1;\n", i, i, i);
        pkb_buf_printf(out, "setp.ne.u32 %%p%d, %%r7, 0;\n", i);
    }
    pkb_buf_append_string(out, "mov.u64 %l0, 0;\n");
    pkb_buf_append_string(out, c->ptx);
    switch (c->to) {
    case 'r':
        pkb_buf_append_string(out, "\ncvt.u64.u32 %l0, %r0;");
        break;
    case 'h':
        pkb_buf_append_string(out, "\ncvt.u64.u16 %l0, %h0;");
        break;
    case 'f':
        pkb_buf_append_string(out, "\nmov.b32 %r0, %f0; cvt.u64.u32 %l0, %r0;");
        break;
    case 'd':
        pkb_buf_append_string(out, "\nmov.b64 %l0, %d0;");
        break;
    case 'p':
        pkb_buf_append_string(out, "\nselp.u64 %l0, 1, 0, %p0;");
        break;
    default:
        break;
    }
    pkb_buf_append_string(out, "\nst.global.u64 [%a+24], %l0;\nret;\n}\n");
}

static uint64_t random_state = 88172645463325252u;

static inline uint64_t random_word(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static const uint64_t special_words[] = {
    0,
    1,
    2,
    3,
    7,
    8,
    15,
    16,
    17,
    31,
    32,
    33,
    63,
    64,
    65,
    255,
    256,
    0x7f,
    0x80,
    0x7fff,
    0x8000,
    0xffff,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xffffffff,
    0x3f800000,
    0xbf800000,
    0x7f800000,
    0xff800000,
    0x7fc00000,
    0x7fa00000,
    0x00000001,
    0x80000001,
    0x007fffff,
    0x00800000,
    0x7f7fffff,
    0x4f000000,
    0xcf000000,
    0x4f800000,
    0x3f000000,
    0x40200000,
    0x3c00,
    0x7c00,
    0xfc00,
    0x7e00,
    0x0400,
    0x03ff,
    0x7bff,
    0x3f80,
    0x7f80,
    0x7fc0,
    UINT64_MAX,
    1ull << 63,
    (1ull << 63) - 1,
    0x3ff0000000000000,
    0x7ff0000000000000,
    0xfff0000000000000,
    0x7ff8000000000000,
    0x43e0000000000000,
    0x41e0000000000000,
    0x3fe0000000000000,
    0xffffffff00000000,
};

enum { SPECIAL_COUNT = sizeof special_words / sizeof special_words[0] };

static inline uint64_t test_word(size_t round)
{
    uint64_t word = random_word();
    switch (round % 4) {
    case 0:
        return special_words[word % SPECIAL_COUNT];
    case 1:
        return word >> (word >> 58); /* all magnitudes */
    default:
        return word;
    }
}

/* Runs each case on all pairs of special words and on `rounds` random triples. `is_equal` may
 * allow more than the same bits. */
static inline void check_cases(const opcode_case *cases, size_t count, size_t rounds,
                               int (*is_equal)(char to, uint64_t got, uint64_t wanted))
{
    pkb_buf text;
    pkb_buf_init(&text);
    pkb_buf_append_string(&text, PTX_HEAD);
    for (size_t i = 0; i < count; i++)
        put_case(&text, &cases[i], i);
    loaded l = load_ptx(pkb_buf_text(&text));
    pkb_buf_clear(&text);
    assert_int_equal(l.module->kernel_count, count);

    pkb_thread thread = one_thread();
    for (size_t i = 0; i < count; i++) {
        uint64_t pairs = (uint64_t)SPECIAL_COUNT * SPECIAL_COUNT;
        for (size_t round = 0; round < rounds + pairs; round++) {
            uint64_t words[4], *p = words;
            for (size_t j = 0; j < 3; j++)
                words[j] = test_word(round / 3 + j * round);
            if (round < pairs) {
                words[0] = special_words[round / SPECIAL_COUNT];
                words[1] = special_words[round % SPECIAL_COUNT];
            }
            const char *stopped = l.run(&l.module->kernels[i], &thread, &p);
            if (stopped != NULL)
                fail_msg("%s: %s", cases[i].ptx, stopped);
            uint64_t wanted = cases[i].reference(words[0], words[1], words[2]);
            if (!is_equal(cases[i].to, words[3], wanted))
                fail_msg("%s of %llx, %llx, %llx gives %llx, not %llx", cases[i].ptx,
                         (unsigned long long)words[0], (unsigned long long)words[1],
                         (unsigned long long)words[2], (unsigned long long)words[3],
                         (unsigned long long)wanted);
        }
    }
    dlclose(l.handle);
}

static inline int same_bits(char to, uint64_t got, uint64_t wanted)
{
    uint64_t mask = to == 'h' ? 0xffff : to == 'r' || to == 'f' ? 0xffffffff : UINT64_MAX;
    return ((got ^ wanted) & mask) == 0;
}

#endif
