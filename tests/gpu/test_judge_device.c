/* SPDX-License-Identifier: Apache-2.0
 *
 * The judge's two devices against each other: the same bytes, places, sums and verdicts, whether
 * memory is ordinary or a GPU's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stats.h"
#include "harness/cuda/driver_table.h"
#include "harness/judge/device.h"
#include "harness/judge/gpus.h"
#include "harness/judge/number.h"

enum { BYTES = 1 << 16, SPANS = 12, ROUNDS = 200, MAX_ELEMENTS = 20000, IMAGES = 4 };

static pkb_judge_gpus *gpus;
static const pkb_judge_device *gpu, *cpu;
static pkb_region regions[IMAGES]; /* of the GPU */
static unsigned char *images[IMAGES];
static uint64_t random_state = 20;

static uint64_t next(uint64_t bound)
{
    return pkb_random_next(&random_state) % bound;
}

static void *twin(const void *image) /* on the GPU, of an address in an image */
{
    uintptr_t address = (uintptr_t)image;
    for (int i = 0; i < IMAGES; i++) {
        uintptr_t begin = (uintptr_t)images[i];
        if (address >= begin && address < begin + regions[i].bytes)
            return (char *)regions[i].address + (address - begin);
    }
    return NULL;
}

static void send(int image)
{
    assert_int_equal(gpus->driver->MemcpyHtoDAsync((uint64_t)(uintptr_t)regions[image].address,
                                                   images[image], regions[image].bytes, NULL),
                     CUDA_SUCCESS);
    assert_int_equal(gpus->driver->CtxSynchronize(), CUDA_SUCCESS);
}

static void expect_same(int image)
{
    unsigned char *now = malloc(regions[image].bytes);
    gpu->read(now, regions[image].address, regions[image].bytes);
    assert_int_equal(gpu->synchronise(NULL), PKB_OK);
    assert_memory_equal(now, images[image], regions[image].bytes);
    free(now);
}

static void fill_randomly(int image)
{
    for (size_t i = 0; i < regions[image].bytes; i += 8) {
        uint64_t word = pkb_random_next(&random_state);
        memcpy(images[image] + i, &word, 8);
    }
}

/* ---- spans ---- */

static size_t draw_spans(pkb_span *host, pkb_span *device, uint64_t longest)
{
    size_t count = 1 + next(SPANS);
    uint64_t cursor = 0, room = BYTES / SPANS; /* apart: no two write the same byte */
    for (size_t i = 0; i < count; i++, cursor += room) {
        uint64_t begin = cursor + next(room - longest);
        host[i] = (pkb_span){.base = images[0],
                             .begin = begin,
                             .end = begin + next(longest),
                             .key = pkb_random_next(&random_state),
                             .other = images[1]};
        device[i] = host[i];
        device[i].base = regions[0].address;
        device[i].other = regions[1].address;
    }
    return count;
}

static void fills_and_copies_are_byte_by_byte_the_same(void **state)
{
    (void)state;
    pkb_span host[SPANS], device[SPANS];
    fill_randomly(0);
    fill_randomly(1);
    send(0);
    send(1);
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = draw_spans(host, device, round % 2 == 0 ? 20 : 4000);
        bool is_copy = next(2) == 0;
        (is_copy ? cpu->copy : cpu->fill)(host, count);
        (is_copy ? gpu->copy : gpu->fill)(device, count);
        expect_same(0);
    }
}

static void compare_spots(bool (*host_find)(const pkb_span *, size_t, pkb_spot *),
                          bool (*device_find)(const pkb_span *, size_t, pkb_spot *),
                          const pkb_span *host, const pkb_span *device, size_t count)
{
    pkb_spot a = {0}, b = {0};
    bool is_found = host_find(host, count, &a);
    assert_int_equal(device_find(device, count, &b), is_found);
    assert_int_equal(a.span, b.span);
    assert_int_equal(a.at, b.at);
}

static void damage_differences_and_digests_are_the_same(void **state)
{
    (void)state;
    pkb_span host[SPANS], device[SPANS];
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = draw_spans(host, device, round % 2 == 0 ? 20 : 4000);
        cpu->fill(host, count);
        memcpy(images[1], images[0], BYTES);
        for (uint64_t changes = next(3); changes > 0; changes--)
            images[0][next(BYTES)] ^= (unsigned char)(1 + next(255));
        send(0);
        send(1);
        compare_spots(cpu->find_damage, gpu->find_damage, host, device, count);
        compare_spots(cpu->find_difference, gpu->find_difference, host, device, count);
        assert_true(cpu->digest(host, count, 7) == gpu->digest(device, count, 7));
        assert_int_equal(gpu->synchronise(NULL), PKB_OK); /* every word was looked at */
    }
}

static void new_and_discarded_memory_reads_zero(void **state)
{
    (void)state;
    pkb_region region = PKB_REGION_NONE;
    unsigned char now[5000], zeros[5000] = {0};
    for (int round = 0; round < 3; round++) {
        assert_int_equal(gpu->create(&region, "test", sizeof now, NULL), PKB_OK);
        gpu->read(now, region.address, sizeof now);
        assert_memory_equal(now, zeros, sizeof now);
        const pkb_span span = {.base = region.address, .end = sizeof now, .key = 5};
        gpu->fill(&span, 1);
        gpu->read(now, region.address, sizeof now);
        assert_memory_not_equal(now, zeros, sizeof now);
        assert_int_equal(gpu->discard(&region, NULL), PKB_OK);
        gpu->read(now, region.address, sizeof now);
        assert_memory_equal(now, zeros, sizeof now);
        gpu->fill(&span, 1); /* for the next to find */
        gpu->clear(&region);
    }
}

/* ---- outputs ---- */

static const pkb_dtype floats[] = {PKB_BF16, PKB_F16, PKB_F32, PKB_F64, PKB_C64};
static const pkb_dtype codes[] = {PKB_I8, PKB_U8, PKB_I32, PKB_I64, PKB_BOOL, PKB_E4M3, PKB_E5M2};

static double draw_number(bool has_specials)
{
    double value = (double)(int64_t)pkb_random_next(&random_state) / 9.3e18;
    uint64_t kind = next(400);
    if (!has_specials || kind > 12)
        return value;
    static const double specials[] = {NAN,    INFINITY, -INFINITY, 0.0,    -0.0,  1e300, -1e300,
                                      1e-310, 65519.0,  65520.0,   3.4e38, 1e-45, 6e-8};
    return specials[kind];
}

/* Of a number that a half can hold. */
static uint16_t half_of(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    int exponent = 0;
    if (isnan(value))
        return 0x7e00;
    if (isinf(value))
        return sign | 0x7c00;
    if (fabs(value) < ldexp(1.0, -14))
        return (uint16_t)(sign | (uint16_t)ldexp(fabs(value), 24));
    double fraction = frexp(fabs(value), &exponent); /* 0.5 to 1 */
    return (uint16_t)(sign | (exponent + 14) << 10 | (int)ldexp(2.0 * fraction - 1.0, 10));
}

static void put_part(unsigned char *image, pkb_dtype dtype, size_t part, double value)
{
    double rounded = pkb_number_round(value, dtype);
    float narrow = (float)rounded;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    uint16_t bf16 = (uint16_t)(bits >> 16);
    uint16_t f16 = half_of(rounded);
    if (dtype == PKB_BF16)
        memcpy(image + 2 * part, &bf16, 2);
    else if (dtype == PKB_F16)
        memcpy(image + 2 * part, &f16, 2);
    else if (dtype == PKB_F32)
        memcpy(image + 4 * part, &narrow, 4);
    else
        memcpy(image + 8 * part, &rounded, 8);
}

/* Images: 0 out, 1 reference, 2 oracle, 3 alternative. */
static pkb_comparison draw_floats(pkb_dtype dtype, bool has_specials)
{
    size_t elements = next(3) == 0 ? next(40) : next(MAX_ELEMENTS), rows = 1 + next(100);
    size_t parts = elements / rows * rows * pkb_survey_parts(dtype);
    double scale = next(4) == 0 ? 0.0 : 1e-3 * (double)next(1000);
    pkb_dtype part_dtype = pkb_survey_part_dtype(dtype);
    for (size_t i = 0; i < parts; i++) {
        double oracle = draw_number(has_specials);
        memcpy(images[2] + 8 * i, &oracle, 8);
        put_part(images[1], part_dtype, i, oracle + 1e-3 * draw_number(false));
        put_part(images[0], part_dtype, i, oracle + 1e-3 * scale * draw_number(false));
    }
    for (uint64_t wrong = next(3); wrong > 0 && parts > 0; wrong--)
        put_part(images[0], part_dtype, next(parts), draw_number(has_specials));
    return (pkb_comparison){.dtype = dtype,
                            .check = next(3) == 0 ? PKB_CHECK_EXACT : PKB_CHECK_FLOAT,
                            .out = images[0],
                            .reference = next(5) == 0 ? NULL : images[1],
                            .oracle = images[2],
                            .element_count = elements / rows * rows,
                            .row_count = rows,
                            .tolerance = {.norm = 1e-3, .block = 2e-3, .max = 1e-2}};
}

static pkb_comparison draw_codes(pkb_dtype dtype)
{
    size_t elements = next(MAX_ELEMENTS), bytes = elements * pkb_dtype_bytes(dtype);
    fill_randomly(0);
    memcpy(images[2], images[0], bytes);
    memcpy(images[3], images[0], bytes);
    for (uint64_t wrong = next(4); wrong > 0 && bytes > 0; wrong--)
        images[next(2) == 0 ? 0 : 2][next(bytes)] ^= 1;
    return (pkb_comparison){.dtype = dtype,
                            .check = next(2) == 0 ? PKB_CHECK_EXACT : PKB_CHECK_QUANTIZED,
                            .out = images[0],
                            .oracle = images[2],
                            .alternative = images[3],
                            .element_count = elements,
                            .row_count = 1};
}

static void expect_close(double a, double b)
{
    assert_true(a == b || fabs(a - b) <= 1e-9 * fabs(a) || (isnan(a) && isnan(b)));
}

/* True if it was wrong. */
static bool compare_on_both(const pkb_comparison *host)
{
    pkb_comparison device = *host;
    char host_text[64] = "", device_text[64] = "";
    device.device = gpu;
    device.out = twin(host->out);
    device.reference = twin(host->reference);
    device.oracle = twin(host->oracle);
    device.alternative = twin(host->alternative);
    for (int i = 0; i < IMAGES; i++)
        send(i);
    pkb_mismatch a = pkb_compare(host), b = pkb_compare(&device);
    assert_int_equal(gpu->synchronise(NULL), PKB_OK);
    assert_false(a.is_unfinished || b.is_unfinished);
    assert_int_equal(a.is_wrong, b.is_wrong);
    assert_string_equal(a.metric, b.metric);
    assert_int_equal(a.index, b.index);
    assert_int_equal(a.wrong_count, b.wrong_count);
    expect_close(a.error, b.error);
    expect_close(a.limit, b.limit);
    if (host->element_count > 0) {
        pkb_compare_expected_text(host, a.index, host_text, sizeof host_text);
        pkb_compare_expected_text(&device, b.index, device_text, sizeof device_text);
    }
    assert_string_equal(host_text, device_text);
    return a.is_wrong;
}

static void every_float_dtype_gets_the_same_verdict(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof floats / sizeof floats[0]; d++) {
        int wrong = 0, rounds = 120;
        for (int round = 0; round < rounds; round++) {
            pkb_comparison c = draw_floats(floats[d], round % 2 == 0);
            wrong += compare_on_both(&c);
        }
        assert_in_range(wrong, 10, rounds - 10); /* both kinds were seen */
    }
}

static void every_code_gets_the_same_verdict(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof codes / sizeof codes[0]; d++) {
        int wrong = 0, rounds = 40;
        for (int round = 0; round < rounds; round++) {
            pkb_comparison c = draw_codes(codes[d]);
            wrong += compare_on_both(&c);
        }
        assert_in_range(wrong, 3, rounds - 3);
    }
}

/* All 65536 values of a half: each is its own rounded oracle, and only that. */
static void every_half_is_read_exactly(void **state)
{
    (void)state;
    enum { CODES = 1 << 16, PART = 1 << 14 };
    static const pkb_dtype halves[] = {PKB_BF16, PKB_F16};
    for (size_t d = 0; d < 2; d++)
        for (uint32_t first = 0; first < CODES; first += PART) {
            for (uint32_t i = 0; i < PART; i++) {
                uint16_t code = (uint16_t)(first + i);
                double value =
                    halves[d] == PKB_BF16 ? pkb_number_from_bf16(code) : pkb_number_from_f16(code);
                memcpy(images[0] + 2 * i, &code, 2);
                memcpy(images[2] + 8 * i, &value, 8);
            }
            pkb_comparison c = {.dtype = halves[d],
                                .check = PKB_CHECK_EXACT,
                                .out = images[0],
                                .oracle = images[2],
                                .element_count = PART,
                                .row_count = 1};
            assert_false(compare_on_both(&c));
            images[0][2 * next(PART)] ^= 1;
            compare_on_both(&c);
        }
}

/* ---- samples ---- */

static void samples_are_the_elements(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    static pkb_sample places[COUNT];
    static uint64_t seen[COUNT];
    fill_randomly(0);
    send(0);
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t bytes = (uint64_t)1 << next(4);
        places[i] = (pkb_sample){.element = (char *)regions[0].address + next(BYTES / 8) * bytes,
                                 .bytes = bytes};
    }
    gpu->sample_prepare(places, COUNT);
    assert_int_equal(gpu->sample_take(NULL), PKB_OK);
    gpu->sample_read(seen);
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t expected = 0;
        size_t at = (size_t)((const char *)places[i].element - (char *)regions[0].address);
        memcpy(&expected, images[0] + at, places[i].bytes);
        assert_true(seen[i] == expected);
    }
}

/* ---- health and speed ---- */

static void a_healthy_gpu_is_healthy(void **state)
{
    (void)state;
    uint64_t in_use = 0;
    pkb_error err = {0};
    for (int i = 0; i < 2; i++)
        if (gpu->check_health(&in_use, &err) != PKB_OK)
            fail_msg("%s", err.message);
    assert_true(in_use > 0);
}

static void large_memory_is_checked_quickly(void **state)
{
    (void)state;
    const uint64_t bytes = (uint64_t)1 << 30;
    pkb_region region = PKB_REGION_NONE;
    assert_int_equal(gpu->create(&region, "test", bytes, NULL), PKB_OK);
    const pkb_span span = {.base = region.address, .end = bytes, .key = 3};
    pkb_spot spot = {0};
    gpu->fill(&span, 1);
    uint64_t begin_ns = pkb_clock_now_ns();
    assert_false(gpu->find_damage(&span, 1, &spot));
    uint64_t guards_ns = pkb_clock_now_ns() - begin_ns;
    /* bf16 beside a float64 oracle: their bytes are five times the output's. */
    pkb_comparison c = {.device = gpu,
                        .dtype = PKB_BF16,
                        .check = PKB_CHECK_FLOAT,
                        .out = region.address,
                        .reference = region.address,
                        .oracle = region.address,
                        .element_count = bytes / 8,
                        .row_count = 4096};
    begin_ns = pkb_clock_now_ns();
    pkb_compare(&c);
    uint64_t compare_ns = pkb_clock_now_ns() - begin_ns;
    print_message("1 GiB of guards: %.2f ms; %d Mi elements compared: %.2f ms\n",
                  (double)guards_ns / 1e6, 128, (double)compare_ns / 1e6);
    assert_true(guards_ns < 100 * PKB_NS_PER_MS && compare_ns < 1000 * PKB_NS_PER_MS);
    gpu->clear(&region);
}

static int open_both(void **state)
{
    pkb_error err = {0};
    (void)state;
    cpu = pkb_judge_device_cpu();
    if (pkb_judge_gpus_open(&gpus, &gpu, NULL, 0, 1, &err) != PKB_OK) {
        print_message("skipped: %s\n", err.message);
        exit(0);
    }
    for (int i = 0; i < IMAGES; i++) {
        uint64_t bytes = 8 * 2 * MAX_ELEMENTS + BYTES;
        images[i] = calloc(1, bytes);
        assert_int_equal(gpu->create(&regions[i], "test", bytes, NULL), PKB_OK);
    }
    return 0;
}

static int close_both(void **state)
{
    (void)state;
    for (int i = 0; i < IMAGES; i++) {
        gpu->clear(&regions[i]);
        free(images[i]);
    }
    pkb_judge_gpus_close(gpus);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_and_copies_are_byte_by_byte_the_same),
        cmocka_unit_test(damage_differences_and_digests_are_the_same),
        cmocka_unit_test(new_and_discarded_memory_reads_zero),
        cmocka_unit_test(every_float_dtype_gets_the_same_verdict),
        cmocka_unit_test(every_code_gets_the_same_verdict),
        cmocka_unit_test(every_half_is_read_exactly),
        cmocka_unit_test(samples_are_the_elements),
        cmocka_unit_test(a_healthy_gpu_is_healthy),
        cmocka_unit_test(large_memory_is_checked_quickly),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
