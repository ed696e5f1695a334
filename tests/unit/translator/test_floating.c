/* SPDX-License-Identifier: Apache-2.0
 *
 * f32 and f64: NaN rules, directed rounding against fesetround, flushing, the approximate
 * functions against libm.
 */
#include <fenv.h>

#include "tests/unit/translator/float_bits.h"

static int close_float(char to, uint64_t got, uint64_t wanted)
{
    float x = f32(got), y = f32(wanted);
    if (same_value(to, got, wanted) || x == y)
        return 1;
    return fabsf(x - y) <= fabsf(y) * 2.4e-7f + 1e-44f;
}

/* ---- every operation in every rounding ---- */
#define ROUNDED(type, suffix, mode, fe)                                        \
    static uint64_t add_##suffix##_##mode(uint64_t a, uint64_t b, uint64_t c)  \
    {                                                                          \
        volatile type x = suffix(a), y = suffix(b), r;                         \
        (void)c;                                                               \
        fesetround(fe);                                                        \
        r = x + y;                                                             \
        fesetround(FE_TONEAREST);                                              \
        return BITS_##suffix(r);                                               \
    }                                                                          \
    static uint64_t mul_##suffix##_##mode(uint64_t a, uint64_t b, uint64_t c)  \
    {                                                                          \
        volatile type x = suffix(a), y = suffix(b), r;                         \
        (void)c;                                                               \
        fesetround(fe);                                                        \
        r = x * y;                                                             \
        fesetround(FE_TONEAREST);                                              \
        return BITS_##suffix(r);                                               \
    }                                                                          \
    static uint64_t div_##suffix##_##mode(uint64_t a, uint64_t b, uint64_t c)  \
    {                                                                          \
        volatile type x = suffix(a), y = suffix(b), r;                         \
        (void)c;                                                               \
        fesetround(fe);                                                        \
        r = x / y;                                                             \
        fesetround(FE_TONEAREST);                                              \
        return BITS_##suffix(r);                                               \
    }                                                                          \
    static uint64_t sqrt_##suffix##_##mode(uint64_t a, uint64_t b, uint64_t c) \
    {                                                                          \
        volatile type x = suffix(a), r;                                        \
        (void)b, (void)c;                                                      \
        fesetround(fe);                                                        \
        r = SQRT_##suffix(x);                                                  \
        fesetround(FE_TONEAREST);                                              \
        return BITS_##suffix(r);                                               \
    }                                                                          \
    static uint64_t fma_##suffix##_##mode(uint64_t a, uint64_t b, uint64_t c)  \
    {                                                                          \
        volatile type x = suffix(a), y = suffix(b), z = suffix(c), r;          \
        fesetround(fe);                                                        \
        r = FMA_##suffix(x, y, z);                                             \
        fesetround(FE_TONEAREST);                                              \
        return BITS_##suffix(r);                                               \
    }
#define BITS_f32 bits32
#define BITS_f64 bits64
#define SQRT_f32 sqrtf
#define SQRT_f64 sqrt
#define FMA_f32 fmaf
#define FMA_f64 fma
ROUNDED(float, f32, rn, FE_TONEAREST)
ROUNDED(float, f32, rz, FE_TOWARDZERO)
ROUNDED(float, f32, rm, FE_DOWNWARD)
ROUNDED(float, f32, rp, FE_UPWARD)
ROUNDED(double, f64, rn, FE_TONEAREST)
ROUNDED(double, f64, rz, FE_TOWARDZERO)
ROUNDED(double, f64, rm, FE_DOWNWARD)
ROUNDED(double, f64, rp, FE_UPWARD)

#define ROUNDED_CASES(mode)                                             \
    {"add." #mode ".f32 %f0, %f1, %f2;", 'f', add_f32_##mode},          \
        {"mul." #mode ".f32 %f0, %f1, %f2;", 'f', mul_f32_##mode},      \
        {"div." #mode ".f32 %f0, %f1, %f2;", 'f', div_f32_##mode},      \
        {"sqrt." #mode ".f32 %f0, %f1;", 'f', sqrt_f32_##mode},         \
        {"fma." #mode ".f32 %f0, %f1, %f2, %f3;", 'f', fma_f32_##mode}, \
        {"add." #mode ".f64 %d0, %d1, %d2;", 'd', add_f64_##mode},      \
        {"mul." #mode ".f64 %d0, %d1, %d2;", 'd', mul_f64_##mode},      \
        {"div." #mode ".f64 %d0, %d1, %d2;", 'd', div_f64_##mode},      \
        {"sqrt." #mode ".f64 %d0, %d1;", 'd', sqrt_f64_##mode},         \
    {                                                                   \
        "fma." #mode ".f64 %d0, %d1, %d2, %d3;", 'd', fma_f64_##mode    \
    }

static void directed_rounding_equals_fesetround(void **state)
{
    static const opcode_case cases[] = {ROUNDED_CASES(rn), ROUNDED_CASES(rz), ROUNDED_CASES(rm),
                                        ROUNDED_CASES(rp)};
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0], 20000, same_value);
}

/* ---- NaN, signs, flushing ---- */
static float ftz(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

static float smaller(float x, float y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) ? y : x;
    if (x == y)
        return signbit(x) ? x : y;
    return x < y ? x : y;
}

static float larger(float x, float y)
{
    return -smaller(-x, -y);
}

static float saturate(float x)
{
    return isnan(x) || x <= 0 ? 0 : x > 1 ? 1 : x;
}

REF(sub_f32, bits32(f32(a) - f32(b)))
REF(min_f32, bits32(smaller(f32(a), f32(b))))
REF(max_f32, bits32(larger(f32(a), f32(b))))
REF(max_ftz, bits32(larger(ftz(f32(a)), ftz(f32(b)))))
REF(min_nan, bits32(isnan(f32(a)) || isnan(f32(b)) ? NAN : smaller(f32(a), f32(b))))
REF(min_xorsign,
    bits32(isnan(f32(a)) && isnan(f32(b)) ? NAN
                                          : copysignf(smaller(fabsf(f32(a)), fabsf(f32(b))),
                                                      (a ^ b) >> 31 & 1 ? -1.0f : 1.0f)))
REF(max_f64, bits64(isnan(f64(a))      ? f64(b)
                    : isnan(f64(b))    ? f64(a)
                    : f64(a) == f64(b) ? (signbit(f64(a)) ? f64(b) : f64(a))
                    : f64(a) > f64(b)  ? f64(a)
                                       : f64(b)))
REF(abs_f32, a & 0x7fffffff)
REF(neg_f64, a ^ 1ull << 63)
REF(add_ftz, bits32(ftz(ftz(f32(a)) + ftz(f32(b)))))
REF(mul_ftz_sat, bits32(saturate(ftz(ftz(f32(a)) * ftz(f32(b))))))
REF(fma_sat, bits32(saturate(fmaf(f32(a), f32(b), f32(c)))))
REF(rcp, bits32(1 / f32(a)))
REF(rsqrt, bits32((float)(1 / sqrt(f32(a)))))
REF(copysign_, bits32(copysignf(f32(b), f32(a))))
REF(eq, f32(a) == f32(b))
REF(ne, !isnan(f32(a)) && !isnan(f32(b)) && f32(a) != f32(b))
REF(lt, f32(a) < f32(b))
REF(equ, isnan(f32(a)) || isnan(f32(b)) || f32(a) == f32(b))
REF(neu, !(f32(a) == f32(b)))
REF(ltu, !(f32(a) >= f32(b)))
REF(geu64, !(f64(a) < f64(b)))
REF(num, !isnan(f32(a)) && !isnan(f32(b)))
REF(nan_, isnan(f32(a)) || isnan(f32(b)))
REF(gt_ftz, ftz(f32(a)) > ftz(f32(b)))
REF(set_f32, f32(a) < f32(b) ? 0x3f800000 : 0)
REF(test_finite, isfinite(f32(a)))
REF(test_infinite, isinf(f32(a)) != 0)
REF(test_normal, isnormal(f32(a)))
REF(test_subnormal, fpclassify(f32(a)) == FP_SUBNORMAL)
REF(test_normal64, isnormal(f64(a)))
REF(test_nan, isnan(f32(a)))
REF(slct_f, f32(c) >= 0 ? a : b)

static void nan_signs_and_flushing_follow_the_isa(void **state)
{
    static const opcode_case cases[] = {
        {"sub.f32 %f0, %f1, %f2;", 'f', sub_f32},
        {"min.f32 %f0, %f1, %f2;", 'f', min_f32},
        {"max.f32 %f0, %f1, %f2;", 'f', max_f32},
        {"max.ftz.f32 %f0, %f1, %f2;", 'f', max_ftz},
        {"min.NaN.f32 %f0, %f1, %f2;", 'f', min_nan},
        {"min.xorsign.abs.f32 %f0, %f1, %f2;", 'f', min_xorsign},
        {"max.f64 %d0, %d1, %d2;", 'd', max_f64},
        {"abs.f32 %f0, %f1;", 'f', abs_f32},
        {"neg.f64 %d0, %d1;", 'd', neg_f64},
        {"add.ftz.f32 %f0, %f1, %f2;", 'f', add_ftz},
        {"mul.ftz.sat.f32 %f0, %f1, %f2;", 'f', mul_ftz_sat},
        {"fma.rn.sat.f32 %f0, %f1, %f2, %f3;", 'f', fma_sat},
        {"rcp.rn.f32 %f0, %f1;", 'f', rcp},
        {"rsqrt.approx.f32 %f0, %f1;", 'f', rsqrt},
        {"copysign.f32 %f0, %f1, %f2;", 'f', copysign_},
        {"setp.eq.f32 %p0, %f1, %f2;", 'p', eq},
        {"setp.ne.f32 %p0, %f1, %f2;", 'p', ne},
        {"setp.lt.f32 %p0, %f1, %f2;", 'p', lt},
        {"setp.equ.f32 %p0, %f1, %f2;", 'p', equ},
        {"setp.neu.f32 %p0, %f1, %f2;", 'p', neu},
        {"setp.ltu.f32 %p0, %f1, %f2;", 'p', ltu},
        {"setp.geu.f64 %p0, %d1, %d2;", 'p', geu64},
        {"setp.num.f32 %p0, %f1, %f2;", 'p', num},
        {"setp.nan.f32 %p0, %f1, %f2;", 'p', nan_},
        {"setp.gt.ftz.f32 %p0, %f1, %f2;", 'p', gt_ftz},
        {"set.lt.f32.f32 %f0, %f1, %f2;", 'f', set_f32},
        {"testp.finite.f32 %p0, %f1;", 'p', test_finite},
        {"testp.infinite.f32 %p0, %f1;", 'p', test_infinite},
        {"testp.normal.f32 %p0, %f1;", 'p', test_normal},
        {"testp.subnormal.f32 %p0, %f1;", 'p', test_subnormal},
        {"testp.normal.f64 %p0, %d1;", 'p', test_normal64},
        {"testp.notanumber.f32 %p0, %f1;", 'p', test_nan},
        {"slct.b32.f32 %r0, %r1, %r2, %f3;", 'r', slct_f},
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0], 20000, same_value);
}

/* Operands of the functions: all magnitudes up to where sine still means something. */
REF(ex2, bits32(exp2f(f32(a))))
REF(ex2_ftz, bits32(ftz(exp2f(ftz(f32(a))))))
REF(lg2, bits32(log2f(f32(a))))
REF(sine, bits32(fabsf(f32(a)) < 1e6f ? ftz((float)sin((double)ftz(f32(a)))) : NAN))
REF(cosine, bits32(fabsf(f32(a)) < 1e6f ? (float)cos((double)f32(a)) : NAN))
REF(hyperbolic, bits32((float)tanh((double)f32(a))))

static int close_sine(char to, uint64_t got, uint64_t wanted)
{
    return close_float(to, got, wanted) || fabsf(f32(got) - f32(wanted)) < 2e-7f;
}

static void approximate_functions_are_close_to_libm(void **state)
{
    static const opcode_case cases[] = {
        {"ex2.approx.f32 %f0, %f1;", 'f', ex2},
        {"ex2.approx.ftz.f32 %f0, %f1;", 'f', ex2_ftz},
        {"lg2.approx.f32 %f0, %f1;", 'f', lg2},
        {"tanh.approx.f32 %f0, %f1;", 'f', hyperbolic},
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0], 20000, close_float);
}

/* Only up to a million: both sides give NaN beyond. */
static void sine_and_cosine_are_close_to_libm(void **state)
{
    static const opcode_case cases[] = {
        {"abs.f32 %f4, %f1; setp.geu.f32 %p4, %f4, 0f49742400; @%p4 mov.f32 %f1, 0f00000000;"
         "sin.approx.ftz.f32 %f0, %f1; selp.f32 %f0, 0f7FC00000, %f0, %p4;",
         'f', sine},
        {"abs.f32 %f4, %f1; setp.geu.f32 %p4, %f4, 0f49742400; @%p4 mov.f32 %f1, 0f00000000;"
         "cos.approx.f32 %f0, %f1; selp.f32 %f0, 0f7FC00000, %f0, %p4;",
         'f', cosine},
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0], 20000, close_sine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directed_rounding_equals_fesetround),
        cmocka_unit_test(nan_signs_and_flushing_follow_the_isa),
        cmocka_unit_test(approximate_functions_are_close_to_libm),
        cmocka_unit_test(sine_and_cosine_are_close_to_libm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
