/* Loops over consecutive floats that the compiler vectorises.
 *
 * The functions of the C library are called for one element at a time. The forms below have no calls and no branches:
 * exponentials are a power of two times a polynomial, and the normal distribution is an exponential times a function
 * that is almost linear. All polynomials are minimax fits of the relative error. Each loop is compiled for vectors of
 * 16 bytes and, on x86-64, of 32 and 64 bytes; a version is chosen at run time. The result for an element does not
 * depend on its position. */
#include "vector.h"

#include "multiply.h"
#include "smooth.h"
#include "base/type.h"
#include <math.h>
#include <stdbool.h>

#define ALWAYS static inline __attribute__((always_inline))

/* ---- versions for each width of vectors ---- */

/* Defines sim_vector_<name> from the inline function <name>_here. */
#ifdef __x86_64__
#define VERSIONS(name, element)                                                                                        \
    __attribute__((target("avx2,fma"))) static void name##_avx2(element *to, const float *from, size_t count)          \
    {                                                                                                                  \
        name##_here(true, to, from, count);                                                                            \
    }                                                                                                                  \
    __attribute__((target("avx512f,avx512dq"))) static void name##_avx512(element *to, const float *from,              \
                                                                          size_t count)                                \
    {                                                                                                                  \
        name##_here(true, to, from, count);                                                                            \
    }                                                                                                                  \
    void sim_vector_##name(element *to, const float *from, size_t count)                                               \
    {                                                                                                                  \
        const size_t bytes = sim_multiply_vector();                                                                    \
        if (bytes == 64)                                                                                               \
            name##_avx512(to, from, count);                                                                            \
        else if (bytes == 32)                                                                                          \
            name##_avx2(to, from, count);                                                                              \
        else                                                                                                           \
            name##_here(false, to, from, count);                                                                       \
    }
#else
#ifdef __FP_FAST_FMAF
#define FUSES true
#else
#define FUSES false
#endif
#define VERSIONS(name, element)                                                                                        \
    void sim_vector_##name(element *to, const float *from, size_t count)                                               \
    {                                                                                                                  \
        name##_here(FUSES, to, from, count);                                                                           \
    }
#endif

/* a * b + c, rounded once where the processor has such an instruction. If the compiler chose where to use it, the loop
 * over the last elements of a line might give them other results. */
#define FUSE(a, b, c) (fuses ? __builtin_fmaf(a, b, c) : (a) * (b) + (c))

/* A loop that applies an expression of x to all elements. */
#define EACH(name, expression)                                                                                         \
    ALWAYS void name##_here(bool fuses, float *to, const float *from, size_t count)                                    \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const float x = from[i];                                                                                   \
            to[i] = (expression);                                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    VERSIONS(name, float)

/* ---- exponentials ---- */

/* The sum of a number and this one is the number, rounded to an integer that is in its low bits. */
#define ROUNDER 0x1.8p23f
#define DOUBLE_ROUNDER 0x1.8p52

/* exp(rest) - 1, where `rest` is at most log(2) / 2. */
ALWAYS float growth(bool fuses, float rest)
{
    float part = FUSE(FUSE(0x1.6a23fp-10f, rest, 0x1.123a0ap-7f), rest, 0x1.5558f2p-5f);
    part = FUSE(FUSE(part, rest, 0x1.555492p-3f), rest, 0x1.fffffcp-2f);
    return FUSE(part, rest * rest, rest);
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

/* factor * exp(-x), x not negative. A large x is a double, because the rounding to a float would be an error of many
 * units of the result. */
ALWAYS float decay(bool fuses, float factor, double x)
{
    x = x > 120 ? 120 : x;
    const double n = (x * -M_LOG2E + DOUBLE_ROUNDER) - DOUBLE_ROUNDER;
    return raised(FUSE(factor, growth(fuses, (float)(-x - n * M_LN2)), factor), (float)n);
}

EACH(exp, exponential(fuses, x))

/* ---- activations ---- */

/* factor / (1 + exp(-y)), without the overflow of exp(-y). If y is beyond its bound, the result is 0. */
ALWAYS float weighed(bool fuses, float factor, double y)
{
    const float e = decay(fuses, 1, fabs(y)), part = (factor < -120 ? -120 : factor) / (1 + e);
    const float low = factor == -INFINITY ? NAN : decay(fuses, part, fabs(y));
    return y < 0 ? low : factor / (1 + e);
}

EACH(sigmoid, weighed(fuses, 1, x))
EACH(silu, weighed(fuses, x, x))

/* With e = exp(-2 * |x|) - 1, which does not cancel for small x: -e / (2 + e). Beyond 20 the result is 1. */
ALWAYS float tangent(bool fuses, float x)
{
    const float size = fabsf(x), y = size > 20 ? -40 : -2 * size, n = exponent(fuses, y), power = raised(1, n);
    const float e = FUSE(power, growth(fuses, distance(fuses, y, n)), power - 1);
    return copysignf(e / (2 + e), x);
}

EACH(tanh, tangent(fuses, x))

EACH(gelu_by_tanh, weighed(fuses, x, SIM_GELU_FACTOR * x * (1 + SIM_GELU_CUBE * ((double)x * (double)x))))

/* x times the normal distribution function, which for negative x is exp(-x^2 / 2) * r(-x). t * r(t) is u times a
 * polynomial of u = t / (t + 2.5), whose range for t from 0 to 15 is mapped to 1 to -1. Where t is large, an error of u
 * hardly changes the product. So that errors do not add up to 4 units, that of the last sum is subtracted. */
ALWAYS float normal(bool fuses, float x)
{
    const float size = fabsf(x), t = size > 15 ? 15 : size, u = t / (t + 2.5f);
    const float d = FUSE(-u, 0x1.2aaaaap+1f, 1);
    float part = FUSE(FUSE(0x1.4a5ffcp-15f, d, -0x1.0a11b6p-15f), d, -0x1.4995ffp-12f);
    part = FUSE(FUSE(part, d, 0x1.617914p-11f), d, 0x1.9fcc4p-10f);
    part = FUSE(FUSE(part, d, -0x1.015014p-7f), d, -0x1.763ffcp-7f);
    part = FUSE(FUSE(part, d, 0x1.7b6cbap-4f), d, 0x1.9d18aep-2f) * d;
    const float sum = part + 0x1.8ae44p-1f, excess = (sum - 0x1.8ae44p-1f) - part + 0x1.71453ep-26f;
    /* -t^2 / 2 in two floats: the square of the upper half of t is exact. */
    const float high = sim_float_of_bits(sim_float_bits(t) & 0xfffff000);
    const float square = -0.5f * (high * high), low = -0.5f * ((t - high) * (t + high));
    const float n = exponent(fuses, square), grown = growth(fuses, distance(fuses, square, n) + low);
    const float factor = u * sum, below = raised(factor + FUSE(factor, grown, -u * excess), n);
    return x < 0 ? (x == -INFINITY ? NAN : -below) : x - below;
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
    VERSIONS(name, double)
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
VERSIONS(add, double)

/* The sum of exp(x - most) in double; to[i] is the exponential. */
ALWAYS void softmax_here(bool fuses, float *to, const float *from, size_t count)
{
    const float most = greatest_number(from, count);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        to[i] = exponential(fuses, from[i] - most);
    add_here(fuses, &sum, to, count);
    const float divisor = (float)sum;
    for (size_t i = 0; i < count; i++)
        to[i] /= divisor;
}
VERSIONS(softmax, float)

/* `to` may be `from`, so that exponentials are only kept for a block. */
ALWAYS void log_softmax_here(bool fuses, float *to, const float *from, size_t count)
{
    const float most = greatest_number(from, count);
    double sum = 0;
    for (size_t done = 0; done < count; done += 256) {
        const size_t end = count - done < 256 ? count - done : 256;
        float block[256];
        for (size_t i = 0; i < end; i++)
            block[i] = exponential(fuses, from[done + i] - most);
        add_here(fuses, &sum, block, end);
    }
    const float logarithm = (float)log(sum);
    for (size_t i = 0; i < count; i++)
        to[i] = from[i] - most - logarithm;
}
VERSIONS(log_softmax, float)
