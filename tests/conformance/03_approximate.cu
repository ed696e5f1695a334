// SPDX-License-Identifier: Apache-2.0
//
// What is not rounded correctly on a GPU either: approximate instructions, within the bounds that
// the PTX ISA gives for each, and functions of the mathematical library, within those of the CUDA
// programming guide (units in the last place, against the correctly rounded result).
#include "check.cuh"

enum { N = 1 << 14 };

// Evenly between two ends, or evenly in the exponent where both are positive and far apart.
static double between(double low, double high, int i)
{
    double at = (i + 0.37) / N;
    return low > 0 && high / low > 1e3 ? low * pow(high / low, at) : low + (high - low) * at;
}

template <class Op, class T> __global__ void apply(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = Op::device(x[i]);
}

// ---- instructions: a bound on the error itself ----

enum bound { RELATIVE, ABSOLUTE };

template <class Op> static void within(double low, double high, bound kind, double limit)
{
    Array<float> x(N), y(N);

    for (int i = 0; i < N; i++)
        x[i] = (float)between(low, high, i);
    x.up();
    apply<Op><<<N / 256, 256>>>(x.device, y.device, N);
    y.down();
    for (int i = 0; i < N; i++) {
        double truth = Op::host((double)x[i]), error = fabs((double)y[i] - truth);
        if (kind == RELATIVE)
            error /= fabs(truth);
        EXPECT(error <= limit, "of %a is %a, not %a: error 2^%.2f", x[i], y[i], truth, log2(error));
    }
}

#define INSTRUCTION(name, text, truth, low, high, kind, limit) \
    struct name##_op {                                         \
        static __device__ float device(float x)                \
        {                                                      \
            float r;                                           \
            asm(text " %0, %1;" : "=f"(r) : "f"(x));           \
            return r;                                          \
        }                                                      \
        static double host(double x)                           \
        {                                                      \
            return truth;                                      \
        }                                                      \
    };                                                         \
    static void name()                                         \
    {                                                          \
        within<name##_op>(low, high, kind, exp2(limit));       \
    }

INSTRUCTION(ex2_approx, "ex2.approx.ftz.f32", exp2(x), -125, 127, RELATIVE, -22)
INSTRUCTION(lg2_approx_near_one, "lg2.approx.ftz.f32", log2(x), 0.5, 2, ABSOLUTE, -22)
INSTRUCTION(lg2_approx, "lg2.approx.ftz.f32", log2(x), 2, 1e38, RELATIVE, -22)
INSTRUCTION(rcp_approx, "rcp.approx.ftz.f32", 1 / x, 1e-37, 1e37, RELATIVE, -23)
INSTRUCTION(rsqrt_approx, "rsqrt.approx.ftz.f32", 1 / sqrt(x), 1e-37, 1e38, RELATIVE, -22.9)
INSTRUCTION(sqrt_approx, "sqrt.approx.ftz.f32", sqrt(x), 1e-37, 1e38, RELATIVE, -23)
INSTRUCTION(sin_approx, "sin.approx.ftz.f32", sin(x), -3.1415, 3.1415, ABSOLUTE, -20.5)
INSTRUCTION(cos_approx, "cos.approx.ftz.f32", cos(x), -3.1415, 3.1415, ABSOLUTE, -20.5)
INSTRUCTION(tanh_approx, "tanh.approx.f32", tanh(x), -9, 9, RELATIVE, -11)

// ---- functions: units in the last place from the correctly rounded result ----

template <class T> struct bits_of_type;
template <> struct bits_of_type<float> {
    typedef int32_t type;
};
template <> struct bits_of_type<double> {
    typedef int64_t type;
};

// Floats in their order, so that neighbours differ by 1.
template <class T> static int64_t rank_of(T value)
{
    typename bits_of_type<T>::type bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >= 0
               ? (int64_t)bits
               : -(int64_t)(bits & ~((typename bits_of_type<T>::type)1 << (8 * sizeof(T) - 1)));
}

template <class Op, class T> static void within_ulps(double low, double high, int64_t limit)
{
    Array<T> x(N), y(N);

    for (int i = 0; i < N; i++)
        x[i] = (T)between(low, high, i);
    x.up();
    apply<Op><<<N / 256, 256>>>(x.device, y.device, N);
    y.down();
    for (int i = 0; i < N; i++) {
        T truth = (T)Op::host((long double)x[i]);
        int64_t distance = rank_of(y[i]) - rank_of(truth);
        EXPECT(distance >= -limit && distance <= limit, "of %a is %a, not %a: %lld ulps",
               (double)x[i], (double)y[i], (double)truth, (long long)distance);
    }
}

#define FUNCTION(name, type, call, truth, low, high, ulps) \
    struct name##_op {                                     \
        static __device__ type device(type x)              \
        {                                                  \
            return call;                                   \
        }                                                  \
        static long double host(long double x)             \
        {                                                  \
            return truth;                                  \
        }                                                  \
    };                                                     \
    static void name()                                     \
    {                                                      \
        within_ulps<name##_op, type>(low, high, ulps);     \
    }

FUNCTION(expf_, float, expf(x), expl(x), -80, 80, 2)
FUNCTION(exp2f_, float, exp2f(x), exp2l(x), -120, 120, 2)
FUNCTION(expm1f_, float, expm1f(x), expm1l(x), -10, 80, 1)
FUNCTION(logf_, float, logf(x), logl(x), 1e-30, 1e30, 1)
FUNCTION(log1pf_, float, log1pf(x), log1pl(x), 1e-10, 1e10, 1)
FUNCTION(sinf_, float, sinf(x), sinl(x), -100, 100, 2)
FUNCTION(cosf_, float, cosf(x), cosl(x), -100, 100, 2)
FUNCTION(tanhf_, float, tanhf(x), tanhl(x), -10, 10, 2)
FUNCTION(erff_, float, erff(x), erfl(x), -4, 4, 2)
FUNCTION(rsqrtf_, float, rsqrtf(x), 1 / sqrtl(x), 1e-30, 1e30, 2)
FUNCTION(powf_, float, powf(x, 1.7f), powl(x, (long double)1.7f), 1e-15, 1e15, 4)
FUNCTION(exp_, double, exp(x), expl(x), -700, 700, 1)
FUNCTION(log_, double, log(x), logl(x), 1e-300, 1e300, 1)
FUNCTION(sin_, double, sin(x), sinl(x), -100, 100, 2)
FUNCTION(tanh_, double, tanh(x), tanhl(x), -10, 10, 2)
FUNCTION(erf_, double, erf(x), erfl(x), -4, 4, 2)

MAIN(CASE(ex2_approx), CASE(lg2_approx_near_one), CASE(lg2_approx), CASE(rcp_approx),
     CASE(rsqrt_approx), CASE(sqrt_approx), CASE(sin_approx), CASE(cos_approx), CASE(tanh_approx),
     CASE(expf_), CASE(exp2f_), CASE(expm1f_), CASE(logf_), CASE(log1pf_), CASE(sinf_), CASE(cosf_),
     CASE(tanhf_), CASE(erff_), CASE(rsqrtf_), CASE(powf_), CASE(exp_), CASE(log_), CASE(sin_),
     CASE(tanh_), CASE(erf_))
