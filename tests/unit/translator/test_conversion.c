/* SPDX-License-Identifier: Apache-2.0
 *
 * cvt, f16 and bf16: against one definition of rounding, in exact arithmetic, for all formats.
 */
#include "tests/unit/translator/float_bits.h"

typedef __float128 quad;

/* ---- the definition: a binary format of `exponent` and `fraction` bits ---- */
static quad power(int n)
{
    unsigned __int128 bits = (unsigned __int128)(n + 16383) << 112;
    quad p;
    memcpy(&p, &bits, sizeof p);
    return p;
}

/* The exponent of a positive number; far below all formats for zero. */
static int exponent_of(quad x)
{
    unsigned __int128 bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 112 & 0x7fff) - 16383;
}

/* The bits of x rounded to the format; mode 'n', 'z', 'm' or 'p'. */
static uint64_t encode(quad x, int exponent, int fraction, char mode)
{
    uint64_t sign = x < 0 || (x == 0 && signbit((double)x)) ? 1 : 0, top = 1ull << exponent;
    int bias = (int)(top / 2) - 1, scale = 1 - bias;
    if (x != x)
        return (top << fraction) - 1 + (1ull << (fraction - 1)) - (1ull << (fraction - 1));
    quad m = sign ? -x : x;
    uint64_t infinity = (top - 1) << fraction;
    sign <<= exponent + fraction;
    if (exponent_of(m) > scale)
        scale = exponent_of(m);
    if (scale > bias)
        return sign |
               (mode == 'n' || m > power(4000) || (mode == 'm' && sign) || (mode == 'p' && !sign)
                    ? infinity
                    : infinity - 1);
    quad units = m / power(scale - fraction);
    uint64_t whole = (uint64_t)units;
    quad rest = units - (quad)whole;
    int up = mode == 'n'   ? rest > 0.5 || (rest == 0.5 && (whole & 1))
             : mode == 'z' ? 0
             : mode == 'm' ? rest > 0 && sign
                           : rest > 0 && !sign;
    whole += (uint64_t)up;
    return sign | (whole + ((uint64_t)(scale - 1 + bias) << fraction));
}

static uint64_t nan_or(quad x, int exponent, int fraction, char mode, uint64_t canonical)
{
    return x != x ? canonical : encode(x, exponent, fraction, mode);
}

#define F16(x, mode) nan_or(x, 5, 10, mode, 0x7fff)
#define BF16(x, mode) nan_or(x, 8, 7, mode, 0x7fff)
#define TO_F32(x, mode) nan_or(x, 8, 23, mode, 0x7fffffff)

static float f16(uint64_t bits)
{
    uint32_t magnitude = bits & 0x7fff, exponent = magnitude >> 10;
    float value = exponent == 31 ? (magnitude == 0x7c00 ? INFINITY : NAN)
                  : exponent == 0
                      ? ldexpf((float)magnitude, -24)
                      : ldexpf((float)((magnitude & 0x3ff) | 0x400), (int)exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static float bf16(uint64_t bits)
{
    return f32((bits & 0xffff) << 16);
}

/* ---- between floats and integers ---- */
static quad integral(double x, char mode)
{
    return mode == 'n' ? rint(x) : mode == 'z' ? trunc(x) : mode == 'm' ? floor(x) : ceil(x);
}

static uint64_t to_integer(double x, char mode, quad low, quad high, uint64_t not_a_number)
{
    quad whole = integral(x, mode);
    if (isnan(x))
        return not_a_number;
    if (whole < low)
        return (uint64_t)(int64_t)low;
    if (whole > high)
        return high > INT64_MAX ? UINT64_MAX : (uint64_t)high;
    return whole < 0 ? (uint64_t)(int64_t)whole : (uint64_t)whole;
}

REF(s32_f32, to_integer(f32(a), 'z', INT32_MIN, INT32_MAX, 0))
REF(s32_f32_n, to_integer(f32(a), 'n', INT32_MIN, INT32_MAX, 0))
REF(s32_f32_m, to_integer(f32(a), 'm', INT32_MIN, INT32_MAX, 0))
REF(u32_f32_p, to_integer(f32(a), 'p', 0, UINT32_MAX, 0))
REF(s64_f32, to_integer(f32(a), 'z', INT64_MIN, INT64_MAX, 1ull << 63))
REF(u64_f64, to_integer(f64(a), 'z', 0, UINT64_MAX, 1ull << 63))
REF(s32_f64, to_integer(f64(a), 'n', INT32_MIN, INT32_MAX, 1u << 31))
REF(u16_f32, to_integer(f32(a), 'z', 0, 65535, 0))
REF(s8_f32, to_integer(f32(a), 'z', -128, 127, 0))
REF(s32_f16, to_integer(f16(a), 'n', INT32_MIN, INT32_MAX, 0))
REF(f32_s32, TO_F32((int32_t)a, 'n'))
REF(f32_u64, TO_F32(a, 'n'))
REF(f32_s64_z, TO_F32((int64_t)a, 'z'))
REF(f32_u64_p, TO_F32(a, 'p'))
REF(f32_s32_m, TO_F32((int32_t)a, 'm'))
REF(f64_s64_m, nan_or((int64_t)a, 11, 52, 'm', 0))
REF(f64_u64, nan_or(a, 11, 52, 'n', 0))
REF(f16_s32, F16((int32_t)a, 'n'))
REF(f16_u16_z, F16((uint16_t)a, 'z'))
REF(f16_s64, F16((int64_t)a, 'n'))
REF(bf16_u64, BF16(a, 'n'))
REF(bf16_s32_p, BF16((int32_t)a, 'p'))
REF(f32_f64, TO_F32(f64(a), 'n'))
REF(f32_f64_z, TO_F32(f64(a), 'z'))
REF(f32_f64_m, TO_F32(f64(a), 'm'))
REF(f32_f64_p, TO_F32(f64(a), 'p'))
REF(f64_f32, bits64((double)f32(a)))
REF(f16_f32, F16(f32(a), 'n'))
REF(f16_f32_z, F16(f32(a), 'z'))
REF(f16_f64, F16(f64(a), 'n'))
REF(bf16_f32, BF16(f32(a), 'n'))
REF(bf16_f32_z, BF16(f32(a), 'z'))
REF(bf16_f32_m, BF16(f32(a), 'm'))
REF(bf16_f64, BF16(f64(a), 'n'))
REF(bf16_f16, BF16(f16(a), 'n'))
REF(rni_f32, bits32(rintf(f32(a))))
REF(rpi_f64, bits64(ceil(f64(a))))
REF(sat_f32, bits32(isnan(f32(a)) || f32(a) <= 0 ? 0 : f32(a) > 1 ? 1 : f32(a)))
REF(ftz_f32, fabsf(f32(a)) < 0x1p-126f ? a & 0x80000000 : a)
REF(pair_f16, F16(f32(b), 'n') | F16(f32(a), 'n') << 16)
REF(pair_bf16_relu, (isnan(f32(b)) || f32(b) > 0 ? BF16(f32(b), 'n') : 0) |
                        (isnan(f32(a)) || f32(a) > 0 ? BF16(f32(a), 'n') : 0) << 16)
REF(tf32_rna, isnan(f32(a)) ? 0x7fffffff : isinf(f32(a)) ? a : (a + 0x1000) & 0xffffe000)

static void conversions_round_and_saturate(void **state)
{
    static const opcode_case cases[] = {
        {"cvt.rzi.s32.f32 %r0, %f1;", 'r', s32_f32},
        {"cvt.rni.s32.f32 %r0, %f1;", 'r', s32_f32_n},
        {"cvt.rmi.s32.f32 %r0, %f1;", 'r', s32_f32_m},
        {"cvt.rpi.u32.f32 %r0, %f1;", 'r', u32_f32_p},
        {"cvt.rzi.s64.f32 %l0, %f1;", 'l', s64_f32},
        {"cvt.rzi.u64.f64 %l0, %d1;", 'l', u64_f64},
        {"cvt.rni.s32.f64 %r0, %d1;", 'r', s32_f64},
        {"cvt.rzi.u16.f32 %h0, %f1;", 'h', u16_f32},
        {"cvt.rzi.s8.f32 %r0, %f1;", 'r', s8_f32},
        {"cvt.rni.s32.f16 %r0, %h1;", 'r', s32_f16},
        {"cvt.rn.f32.s32 %f0, %r1;", 'f', f32_s32},
        {"cvt.rn.f32.u64 %f0, %l1;", 'f', f32_u64},
        {"cvt.rz.f32.s64 %f0, %l1;", 'f', f32_s64_z},
        {"cvt.rp.f32.u64 %f0, %l1;", 'f', f32_u64_p},
        {"cvt.rm.f32.s32 %f0, %r1;", 'f', f32_s32_m},
        {"cvt.rm.f64.s64 %d0, %l1;", 'd', f64_s64_m},
        {"cvt.rn.f64.u64 %d0, %l1;", 'd', f64_u64},
        {"cvt.rn.f16.s32 %h0, %r1;", 'h', f16_s32},
        {"cvt.rz.f16.u16 %h0, %h1;", 'h', f16_u16_z},
        {"cvt.rn.f16.s64 %h0, %l1;", 'h', f16_s64},
        {"cvt.rn.bf16.u64 %h0, %l1;", 'h', bf16_u64},
        {"cvt.rp.bf16.s32 %h0, %r1;", 'h', bf16_s32_p},
        {"cvt.rn.f32.f64 %f0, %d1;", 'f', f32_f64},
        {"cvt.rz.f32.f64 %f0, %d1;", 'f', f32_f64_z},
        {"cvt.rm.f32.f64 %f0, %d1;", 'f', f32_f64_m},
        {"cvt.rp.f32.f64 %f0, %d1;", 'f', f32_f64_p},
        {"cvt.f64.f32 %d0, %f1;", 'd', f64_f32},
        {"cvt.rn.f16.f32 %h0, %f1;", 'h', f16_f32},
        {"cvt.rz.f16.f32 %h0, %f1;", 'h', f16_f32_z},
        {"cvt.rn.f16.f64 %h0, %d1;", 'h', f16_f64},
        {"cvt.rn.bf16.f32 %h0, %f1;", 'h', bf16_f32},
        {"cvt.rz.bf16.f32 %h0, %f1;", 'h', bf16_f32_z},
        {"cvt.rm.bf16.f32 %h0, %f1;", 'h', bf16_f32_m},
        {"cvt.rn.bf16.f64 %h0, %d1;", 'h', bf16_f64},
        {"cvt.rn.bf16.f16 %h0, %h1;", 'h', bf16_f16},
        {"cvt.rni.f32.f32 %f0, %f1;", 'f', rni_f32},
        {"cvt.rpi.f64.f64 %d0, %d1;", 'd', rpi_f64},
        {"cvt.sat.f32.f32 %f0, %f1;", 'f', sat_f32},
        {"cvt.ftz.f32.f32 %f0, %f1;", 'f', ftz_f32},
        {"cvt.rn.f16x2.f32 %r0, %f1, %f2;", 'r', pair_f16},
        {"cvt.rn.relu.bf16x2.f32 %r0, %f1, %f2;", 'r', pair_bf16_relu},
        {"cvt.rna.tf32.f32 %r0, %f1;", 'r', tf32_rna},
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0], 12000, same_value);
}

/* ---- arithmetic of halves ---- */
static float smaller(float x, float y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) ? y : x;
    if (x == y)
        return signbit(x) ? x : y;
    return x < y ? x : y;
}

/* NaN when the exact sum does not fit: the comparison is then skipped. */
static quad exact_fma(float x, float y, float z)
{
    quad product = (quad)x * y;
    return product + z;
}

REF(add_f16, F16((quad)f16(a) + f16(b), 'n'))
REF(sub_bf16, BF16((quad)bf16(a) - bf16(b), 'n'))
REF(mul_f16, F16((quad)f16(a) * f16(b), 'n'))
REF(mul_bf16, BF16((quad)bf16(a) * bf16(b), 'n'))
REF(fma_f16, F16(exact_fma(f16(a), f16(b), f16(c)), 'n'))
REF(add_f16x2, add_f16(a, b, 0) | add_f16(a >> 16, b >> 16, 0) << 16)
REF(fma_f16x2, fma_f16(a, b, c) | fma_f16(a >> 16, b >> 16, c >> 16) << 16)
REF(fma_relu, fma_f16(a, b, c) == 0x7fff  ? 0x7fff
              : fma_f16(a, b, c) & 0x8000 ? 0
                                          : fma_f16(a, b, c))
REF(min_f16, F16(smaller(f16(a), f16(b)), 'n'))
REF(max_nan_bf16,
    isnan(bf16(a)) || isnan(bf16(b)) ? 0x7fff : BF16(-smaller(-bf16(a), -bf16(b)), 'n'))
REF(neg_f16x2, (a ^ 0x80008000) & 0xffffffff)
REF(abs_bf16, a & 0x7fff)
REF(lt_f16, f16(a) < f16(b))
REF(neu_bf16, !(bf16(a) == bf16(b)))
REF(ge_high, f16(a >> 16) >= f16(b >> 16))
REF(set_f16x2, (f16(a) < f16(b) ? 0x3c00 : 0) | (f16(a >> 16) < f16(b >> 16) ? 0x3c000000 : 0))
REF(add_sat_f16, isnan(f16(a) + f16(b)) || f16(a) + f16(b) <= 0 ? 0
                 : f16(a) + f16(b) >= 1                         ? 0x3c00
                                                                : add_f16(a, b, 0))

/* The product lies halfway between two bf16, and the addend is below a double's last bit. */
REF(fma_up, 0x3fc5)
REF(fma_down, 0x3fc1)

static void halves_are_rounded_once(void **state)
{
    static const opcode_case cases[] = {
        {"add.f16 %h0, %h1, %h2;", 'h', add_f16},
        {"sub.bf16 %h0, %h1, %h2;", 'h', sub_bf16},
        {"mul.f16 %h0, %h1, %h2;", 'h', mul_f16},
        {"mul.rn.bf16 %h0, %h1, %h2;", 'h', mul_bf16},
        {"fma.rn.f16 %h0, %h1, %h2, %h3;", 'h', fma_f16},
        {"fma.rn.relu.f16 %h0, %h1, %h2, %h3;", 'h', fma_relu},
        {"add.f16x2 %r0, %r1, %r2;", 'r', add_f16x2},
        {"fma.rn.f16x2 %r0, %r1, %r2, %r3;", 'r', fma_f16x2},
        {"min.f16 %h0, %h1, %h2;", 'h', min_f16},
        {"max.NaN.bf16 %h0, %h1, %h2;", 'h', max_nan_bf16},
        {"neg.f16x2 %r0, %r1;", 'r', neg_f16x2},
        {"abs.bf16 %h0, %h1;", 'h', abs_bf16},
        {"setp.lt.f16 %p0, %h1, %h2;", 'p', lt_f16},
        {"setp.neu.bf16 %p0, %h1, %h2;", 'p', neu_bf16},
        {"setp.ge.f16x2 %p4|%p0, %r1, %r2;", 'p', ge_high},
        {"set.lt.f16x2.f16x2 %r0, %r1, %r2;", 'r', set_f16x2},
        {"mov.b16 %h1, 0x3f83; mov.b16 %h2, 0x3fc0; mov.b16 %h3, 0x2180;"
         "fma.rn.bf16 %h0, %h1, %h2, %h3;",
         'h', fma_up},
        {"mov.b16 %h1, 0x3f81; mov.b16 %h2, 0x3fc0; mov.b16 %h3, 0xa180;"
         "fma.rn.bf16 %h0, %h1, %h2, %h3;",
         'h', fma_down},
        {"add.sat.f16 %h0, %h1, %h2;", 'h', add_sat_f16},
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0], 20000, same_value);
}

/* ---- all bit patterns ---- */
static void convert_all(const char *there, uint64_t (*reference)(uint64_t), uint32_t count)
{
    pkb_buf text;
    pkb_buf_init(&text);
    pkb_buf_append_string(&text, PTX_HEAD);
    opcode_case c = {there, 'l', NULL};
    put_case(&text, &c, 0);
    loaded l = load_ptx(pkb_buf_text(&text));
    pkb_buf_clear(&text);
    pkb_thread thread = one_thread();
    for (uint32_t i = 0; i < count; i++) {
        uint64_t words[4] = {i, 0, 0, 0}, *p = words;
        assert_null(l.run(&l.module->kernels[0], &thread, &p));
        if (words[3] != reference(i))
            fail_msg("%s of %x gives %llx, not %llx", there, i, (unsigned long long)words[3],
                     (unsigned long long)reference(i));
    }
    dlclose(l.handle);
}

static uint64_t f16_both_ways(uint64_t bits)
{
    return isnan(f16(bits)) ? 0x7fff : bits;
}

static uint64_t bf16_both_ways(uint64_t bits)
{
    return isnan(bf16(bits)) ? 0x7fff : bits;
}

static uint64_t f16_as_f64(uint64_t bits)
{
    return isnan(f16(bits)) ? 0x7ff8000000000000 : bits64(f16(bits));
}

static float e4m3(uint64_t bits)
{
    uint32_t exponent = bits >> 3 & 15, fraction = bits & 7;
    float value = exponent == 0 ? ldexpf((float)fraction, -9)
                                : ldexpf((float)(fraction + 8), (int)exponent - 10);
    return (bits & 0x7f) == 0x7f ? NAN : bits & 0x80 ? -value : value;
}

static uint64_t e4m3_as_f16(uint64_t bits)
{
    return F16(e4m3(bits), 'n') | F16(e4m3(bits >> 8), 'n') << 16;
}

static uint64_t e4m3_both_ways(uint64_t bits)
{
    uint64_t low = (bits & 0x7f) == 0x7f ? 0x7f : bits & 0xff;
    uint64_t high = (bits & 0x7f00) == 0x7f00 ? 0x7f00 : bits & 0xff00;
    return low | high;
}

/* The nearest e4m3 to an f16, found by looking at all of them. */
static uint64_t nearest_e4m3(uint64_t bits)
{
    float x = f16(bits), best_distance = INFINITY;
    uint64_t best = 0;
    if (isnan(x))
        return 0x7f;
    for (uint64_t i = 0; i < 0x7f; i++) {
        float distance = fabsf(fabsf(x) - e4m3(i));
        if (distance < best_distance || (distance == best_distance && i % 2 == 0)) {
            best = i;
            best_distance = distance;
        }
    }
    if (isinf(x))
        best = 0x7e;
    return best | (bits & 0x8000) >> 8;
}

static void every_half_and_fp8_converts_exactly(void **state)
{
    (void)state;
    convert_all("cvt.f32.f16 %f0, %h1; cvt.rn.f16.f32 %h0, %f0; cvt.u64.u16 %l0, %h0;",
                f16_both_ways, 65536);
    convert_all("cvt.f32.bf16 %f0, %h1; cvt.rn.bf16.f32 %h0, %f0; cvt.u64.u16 %l0, %h0;",
                bf16_both_ways, 65536);
    convert_all("cvt.f64.f16 %d0, %h1; testp.notanumber.f64 %p0, %d0; mov.b64 %l0, %d0;"
                "@%p0 mov.u64 %l0, 0x7ff8000000000000;",
                f16_as_f64, 65536);
    convert_all("cvt.rn.f16x2.e4m3x2 %r0, %h1; cvt.u64.u32 %l0, %r0;", e4m3_as_f16, 65536);
    convert_all("cvt.rn.f16x2.e4m3x2 %r0, %h1; cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r0;"
                "cvt.u64.u16 %l0, %h0;",
                e4m3_both_ways, 65536);
    convert_all("cvt.f32.f16 %f0, %h1; mov.f32 %f2, 0f00000000;"
                "cvt.rn.satfinite.e4m3x2.f32 %h0, %f2, %f0; cvt.u64.u16 %l0, %h0;",
                nearest_e4m3, 65536);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversions_round_and_saturate),
        cmocka_unit_test(halves_are_rounded_once),
        cmocka_unit_test(every_half_and_fp8_converts_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
