/* Loops over consecutive floats that the compiler vectorises.
 *
 * The functions of the C library are called for one element at a time. The forms below have no calls and no branches:
 * exponentials are a power of two times a polynomial, and the normal distribution is an exponential times a function
 * that is almost linear. All polynomials are minimax fits of the relative error. Each loop is compiled for vectors of
 * 16 bytes and, on x86-64, of 32 and 64 bytes; a version is chosen at run time. The result for an element does not
 * depend on its position. All versions with fused instructions, also that of AArch64, give the same bits. Without them,
 * x86-64 rounds more often, so that its results may differ in the last places. */
#include "vector.h"

#include "multiply.h"
#include "smooth.h"
#include "base/type.h"
#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <math.h>
#include <stdbool.h>

#define ALWAYS static inline __attribute__((always_inline))

/* ---- versions for each width of vectors ---- */

#ifdef __x86_64__
/* The bytes of the widest vectors; loops over halves need a part of AVX-512 that products do not. */
static size_t widest(void)
{
    const size_t bytes = sim_multiply_vector();
    return bytes == 64 && !__builtin_cpu_supports("avx512bw") ? 32 : bytes;
}
#endif

/* Defines sim_vector_<name>, which chooses one of the versions. */
#ifdef __x86_64__
#define CHOICE(name, result, element)                                                                                  \
    void sim_vector_##name(result *to, const element *from, size_t count)                                              \
    {                                                                                                                  \
        const size_t bytes = widest();                                                                                 \
        if (bytes == 64)                                                                                               \
            name##_avx512(to, from, count);                                                                            \
        else if (bytes == 32)                                                                                          \
            name##_avx2(to, from, count);                                                                              \
        else                                                                                                           \
            name##_here(false, to, from, count);                                                                       \
    }
/* The same, with the versions, from the inline function <name>_here. */
#define VERSIONS(name, result, element)                                                                                \
    __attribute__((target("avx2,fma"))) static void name##_avx2(result *to, const element *from, size_t count)         \
    {                                                                                                                  \
        name##_here(true, to, from, count);                                                                            \
    }                                                                                                                  \
    __attribute__((target("avx512f,avx512dq,avx512bw"))) static void name##_avx512(result *to, const element *from,    \
                                                                                            size_t count)              \
    {                                                                                                                  \
        name##_here(true, to, from, count);                                                                            \
    }                                                                                                                  \
    CHOICE(name, result, element)
#else
#ifdef __FP_FAST_FMAF
#define FUSES true
#else
#define FUSES false
#endif
#define VERSIONS(name, result, element)                                                                                \
    void sim_vector_##name(result *to, const element *from, size_t count)                                              \
    {                                                                                                                  \
        name##_here(FUSES, to, from, count);                                                                           \
    }
#endif

/* a * b + c, rounded once where the processor has such an instruction. If the compiler chose where to use it, the loop
 * over the last elements of a line might give them other results. */
#define FUSE(a, b, c) (fuses ? __builtin_fmaf(a, b, c) : (a) * (b) + (c))

/* A loop that applies an expression of x to all elements. */
#define LOOP(name, result, element, expression)                                                                        \
    ALWAYS void name##_here(bool fuses, result *to, const element *from, size_t count)                                 \
    {                                                                                                                  \
        (void)fuses;                                                                                                   \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const element x = from[i];                                                                                 \
            to[i] = (expression);                                                                                      \
        }                                                                                                              \
    }
#define EACH_OF(name, result, element, expression)                                                                     \
    LOOP(name, result, element, expression)                                                                            \
    VERSIONS(name, result, element)
#define EACH(name, expression) EACH_OF(name, float, float, expression)

/* ---- half precision ---- */

#ifdef __x86_64__
LOOP(half_from_float, uint16_t, float, sim_half_from_float(x))

/* Every processor with AVX2 has this instruction too; its bits are those of sim_half_from_float. */
#define HALVES(version, features, lanes, halves, store, convert, load)                                                 \
    __attribute__((target(features))) static void half_from_float_##version(uint16_t *to, const float *from,           \
                                                                            size_t count)                              \
    {                                                                                                                  \
        size_t i = 0;                                                                                                  \
        for (; i + (lanes) <= count; i += (lanes))                                                                     \
            store((halves *)(to + i), convert(load(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));         \
        half_from_float_here(true, to + i, from + i, count - i);                                                       \
    }
HALVES(avx2, "avx2,f16c", 8, __m128i, _mm_storeu_si128, _mm256_cvtps_ph, _mm256_loadu_ps)
HALVES(avx512, "avx512f", 16, __m256i, _mm256_storeu_si256, _mm512_cvtps_ph, _mm512_loadu_ps)
CHOICE(half_from_float, uint16_t, float)
#else
EACH_OF(half_from_float, uint16_t, float, sim_half_from_float(x))
#endif
EACH_OF(half_to_float, float, uint16_t, sim_half_to_float(x))
EACH_OF(bfloat_from_float, uint16_t, float, sim_bfloat_from_float(x))
EACH_OF(bfloat_to_float, float, uint16_t, sim_bfloat_to_float(x))

/* ---- exponentials ---- */

/* The sum of a number and this one is the number, rounded to an integer that is in its low bits. */
#define ROUNDER 0x1.8p23f

/* exp(rest) - 1, where `rest` is at most log(2) / 2. */
ALWAYS float growth(bool fuses, float rest)
{
    const float square = rest * rest, high = FUSE(0x1.123a0ap-7f, rest, 0x1.5558f2p-5f);
    const float part = FUSE(FUSE(0x1.6a23fp-10f, square, high), square, FUSE(0x1.555492p-3f, rest, 0x1.fffffcp-2f));
    return FUSE(part, square, rest);
}

/* x * 2^n, where n is an integer. The power is a product of two, so that a denormal result is rounded only once and the
 * greatest results do not overflow. */
ALWAYS float raised(float x, float n)
{
    const uint32_t shifted = sim_float_bits(n + ROUNDER) - sim_float_bits(ROUNDER) + 256, half = shifted >> 1;
    return x * sim_float_of_bits((half - 1) << 23) * sim_float_of_bits((shifted - half - 1) << 23);
}

/* The exponent of the power of 2 next to exp(x), and the distance of x from the logarithm of that power. */
ALWAYS float exponent(bool fuses, float x)
{
    return FUSE(x, (float)M_LOG2E, ROUNDER) - ROUNDER;
}

ALWAYS float distance(bool fuses, float x, float n)
{
    const float log_2 = 0x1.62e4p-1f, log_2_low = 0x1.7f7d1cp-20f; /* n * log_2 is exact */
    return FUSE(-n, log_2_low, FUSE(-n, log_2, x));
}

/* exp(x). Beyond the bounds it is 0 or infinite; a NaN stays. */
ALWAYS float exponential(bool fuses, float x)
{
    x = x < -110 ? -110 : x;
    x = x > 100 ? 100 : x;
    const float n = exponent(fuses, x);
    return raised(1 + growth(fuses, distance(fuses, x, n)), n);
}

EACH(exp, exponential(fuses, x))

/* exp(-x - low) as (1 + grown) * power * 2^-64, x not negative: the product of a factor and these is rounded only once
 * if it is denormal. Beyond the bound of x it is 0. */
struct decay {
    float grown, power;
};

ALWAYS struct decay decay_of(bool fuses, float x, float low)
{
    x = x > 120 ? 120 : x;
    const float shifted = FUSE(x, -(float)M_LOG2E, ROUNDER), rest = distance(fuses, -x, shifted - ROUNDER) - low;
    const float power = sim_float_of_bits((sim_float_bits(shifted) << 23) + ((127u + 64) << 23));
    return (struct decay){growth(fuses, rest), power};
}

ALWAYS float decayed(struct decay decay)
{
    return (1 + decay.grown) * decay.power * 0x1p-64f;
}

/* ---- activations ---- */

/* 1 / (1 + exp(-x)), without the overflow of exp(-x). */
ALWAYS float share(bool fuses, float x)
{
    const float e = decayed(decay_of(fuses, fabsf(x), 0));
    return (x < 0 ? e : 1) / (1 + e);
}

EACH(sigmoid, share(fuses, x))

/* factor / (1 + exp(-y)) for factors with the sign of y. If y is below its bound, the result is 0. `low` is added to
 * the size of y. */
ALWAYS float weighed(bool fuses, float factor, float y, float low)
{
    const struct decay decay = decay_of(fuses, fabsf(y), low);
    const float part = (factor < -120 ? -120 : factor) / (1 + decayed(decay));
    const float below = factor == -INFINITY ? NAN : part * ((1 + decay.grown) * decay.power) * 0x1p-64f;
    return y < 0 ? below : part;
}

EACH(silu, weighed(fuses, x, x, 0))

/* With e = exp(-2 * |x|) - 1, which does not cancel for small x: -e / (2 + e). Beyond 20 the result is 1. */
ALWAYS float tangent(bool fuses, float x)
{
    const float size = fabsf(x), y = size > 20 ? -40 : -2 * size, n = exponent(fuses, y), power = raised(1, n);
    const float e = FUSE(power, growth(fuses, distance(fuses, y, n)), power - 1);
    return copysignf(e / (2 + e), x);
}

EACH(tanh, tangent(fuses, x))

/* The rounding of a large y to float would be an error of many units of the result, so that the rest is kept. */
ALWAYS float weighed_by_double(bool fuses, float factor, double y)
{
    y = y < -120 ? -120 : y;
    y = y > 120 ? 120 : y;
    const float near = (float)y, rest = (float)(y - near);
    return weighed(fuses, factor, near, near < 0 ? -rest : rest);
}

EACH(gelu_by_tanh,
     weighed_by_double(fuses, x, SIM_GELU_FACTOR * x * (1 + SIM_GELU_CUBE * ((double)x * (double)x))))

/* What the rounding of a * b to `product` has lost. */
ALWAYS float lost(bool fuses, float a, float b, float product)
{
    return fuses ? __builtin_fmaf(a, b, -product) : (float)((double)a * b - product);
}

/* x times the normal distribution function, which for negative x is exp(-x^2 / 2) * r(-x). t * r(t) is u times a
 * polynomial of u = t / (t + 2.5), whose range for t from 0 to 15 is mapped to 1 to -1. Where t is large, an error of u
 * hardly changes the product. So that errors do not add up to 4 units, what the first product of the polynomial and the
 * square of t lose is added later. */
ALWAYS float normal(bool fuses, float x)
{
    const float size = fabsf(x), t = size > 15 ? 15 : size, u = t / (t + 2.5f);
    const float d = FUSE(-u, 0x1.2aaaaap+1f, 1), d2 = d * d, high = FUSE(-0x1.0a11b6p-15f, d, -0x1.4995ffp-12f);
    const float upper = FUSE(FUSE(0x1.4a5ffcp-15f, d2, high), d2, FUSE(0x1.617914p-11f, d, 0x1.9fcc4p-10f));
    const float lower = FUSE(upper, d2, FUSE(-0x1.015014p-7f, d, -0x1.763ffcp-7f));
    const float part = FUSE(FUSE(lower, d, 0x1.7b6cbap-4f), d, 0x1.9d18aep-2f);
    const float middle = 0x1.8ae44p-1f * u, factor = FUSE(u * d, part, middle);
    const float rest = FUSE(u, -0x1.71453ep-26f, lost(fuses, u, 0x1.8ae44p-1f, middle));
    const float half = 0.5f * t, square = half * t;
    const struct decay decay = decay_of(fuses, square, lost(fuses, half, t, square));
    const float below = (factor + FUSE(factor, decay.grown, rest)) * decay.power;
    return FUSE(below, -0x1p-64f, (x >= 0 ? 1.0f : 0.0f) * x); /* NaN for a negative infinity */
}

EACH(gelu, normal(fuses, x))

/* ---- lines ---- */

#define LANES 32 /* independent results of a loop, which are combined at its end */

/* The greatest or the least element; no NaN is one. */
#define EXTREME(name, beats, none)                                                                                     \
    ALWAYS float name##_number(const float *from, size_t count)                                                        \
    {                                                                                                                  \
        float lanes[LANES], found = (none);                                                                            \
        size_t i = 0;                                                                                                  \
        for (size_t k = 0; k < LANES; k++)                                                                             \
            lanes[k] = (none);                                                                                         \
        for (; i + LANES <= count; i += LANES)                                                                         \
            for (size_t k = 0; k < LANES; k++)                                                                         \
                lanes[k] = from[i + k] beats lanes[k] ? from[i + k] : lanes[k];                                        \
        for (; i < count; i++)                                                                                         \
            found = from[i] beats found ? from[i] : found;                                                             \
        for (size_t k = 0; k < LANES; k++)                                                                             \
            found = lanes[k] beats found ? lanes[k] : found;                                                           \
        return found;                                                                                                  \
    }                                                                                                                  \
    ALWAYS void name##_here(bool fuses, double *to, const float *from, size_t count)                                   \
    {                                                                                                                  \
        uint32_t nans = 0;                                                                                             \
        const double found = (double)name##_number(from, count);                                                       \
        (void)fuses;                                                                                                   \
        for (size_t i = 0; i < count; i++)                                                                             \
            nans |= from[i] != from[i];                                                                                \
        *to = nans != 0 ? NAN : found beats *to ? found : *to;                                                         \
    }                                                                                                                  \
    VERSIONS(name, double, float)
EXTREME(greatest, >, -INFINITY)
EXTREME(least, <, INFINITY)

ALWAYS void add_here(bool fuses, double *to, const float *from, size_t count)
{
    double lanes[LANES] = {0};
    size_t i = 0;
    (void)fuses;
    for (; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            lanes[k] += from[i + k];
    for (; i < count; i++)
        lanes[i % LANES] += from[i];
    for (size_t half = LANES / 2; half != 0; half /= 2)
        for (size_t k = 0; k < half; k++)
            lanes[k] += lanes[k + half];
    *to += lanes[0];
}
VERSIONS(add, double, float)

/* The sum of exp(x - most) in double; to[i] is the exponential. */
ALWAYS void softmax_here(bool fuses, float *to, const float *from, size_t count)
{
    const float most = greatest_number(from, count);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        to[i] = decayed(decay_of(fuses, most - from[i], 0));
    add_here(fuses, &sum, to, count);
    const float divisor = (float)sum;
    for (size_t i = 0; i < count; i++)
        to[i] /= divisor;
}
VERSIONS(softmax, float, float)

/* `to` may be `from`, so that exponentials are only kept for a block. */
ALWAYS void log_softmax_here(bool fuses, float *to, const float *from, size_t count)
{
    const float most = greatest_number(from, count);
    double sum = 0;
    for (size_t done = 0; done < count; done += 256) {
        const size_t end = count - done < 256 ? count - done : 256;
        float block[256];
        for (size_t i = 0; i < end; i++)
            block[i] = decayed(decay_of(fuses, most - from[done + i], 0));
        add_here(fuses, &sum, block, end);
    }
    const float logarithm = (float)log(sum);
    for (size_t i = 0; i < count; i++)
        to[i] = from[i] - most - logarithm;
}
VERSIONS(log_softmax, float, float)
