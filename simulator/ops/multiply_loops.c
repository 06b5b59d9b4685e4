/* Loops over runs, compiled for vectors of 16 bytes and, on x86-64, of 32 and 64 bytes; a version is chosen at run
 * time.
 *
 * A run is read from memory once and is seldom in the cache. Each loop reads several runs at once, converts their
 * elements in registers, and prefetches the runs that are read next. Short elements are not unpacked in their order,
 * which takes several instructions per vector: a vector of 32-bit words is shifted and masked instead. With two
 * elements per word, two vectors have the elements 0, 2, 4 … and 1, 3, 5 …; with four, the first has 0, 4, 8 … The
 * other operand of the loop has this order, too. All supported processors have the lower half of a word first. */
#include "multiply_loops.h"

#include "base/type.h"

/* ---- elements of runs ----
 *
 * X_TAKE is vector q of the block of four vectors at `place`, and X_ONE a single element. */

#define TYPES(element, source, bytes)                                                                                  \
    typedef element vector __attribute__((vector_size(bytes), aligned(sizeof(element)), may_alias));                   \
    typedef int32_t words __attribute__((vector_size(bytes), aligned(1), may_alias, unused));                          \
    typedef uint32_t bits __attribute__((vector_size(bytes), aligned(1), may_alias, unused));                          \
    const size_t lanes = (bytes) / sizeof(element), ahead = runs->ru_ahead

#define FLOAT_TAKE(k, place, q) (*(const vector *)(run##k + (place) + (q) * lanes))
#define FLOAT_ONE(k, place) run##k[place]
#define DOUBLE_TAKE FLOAT_TAKE
#define DOUBLE_ONE FLOAT_ONE

/* Vector q of words with `each` elements, of which the wanted ones are shifted to the upper bits. */
#define UPPER(k, place, q, each)                                                                                       \
    (*(const bits *)(run##k + (place) + (q) / (each) * (each) * lanes)                                                 \
     << ((each) - 1 - (q) % (each)) * (32 / (each)))

/* As sim_half_to_float. The shift extends the sign, of which the mask keeps one bit. */
#define HALF_BITS(k, place, q) ((words)UPPER(k, place, q, 2) >> 3 & (int32_t)0x8fffe000)
#define HALF_TAKE(k, place, q)                                                                                         \
    ((vector)((words)((vector)HALF_BITS(k, place, q) * 0x1p112f) |                                                     \
              (((HALF_BITS(k, place, q) & 0x0f800000) == 0x0f800000) & 0x7f800000)))
#define HALF_ONE(k, place) sim_half_to_float(run##k[place])
/* For dots, which have more to compute per element: right unless an element is infinite or NaN. For such an element,
 * WATCH sets the upper bit of its half of a word, and the products are summed up once more. */
#define QUICK_TAKE(k, place, q) ((vector)HALF_BITS(k, place, q) * 0x1p112f)
#define QUICK_WATCH(k, place)                                                                                          \
    ((*(const bits *)(run##k + (place)) & 0x7c007c00) + 0x04000400) |                                                  \
        ((*(const bits *)(run##k + (place) + 2 * lanes) & 0x7c007c00) + 0x04000400)
#define NO_WATCH(k, place) (bits){0}
#define BFLOAT_TAKE(k, place, q) ((vector)(UPPER(k, place, q, 2) & 0xffff0000))
#define BFLOAT_ONE(k, place) sim_bfloat_to_float(run##k[place])
#define BYTE_TAKE(k, place, q) __builtin_convertvector((words)UPPER(k, place, q, 4) >> 24, vector)
#define BYTE_ONE(k, place) (float)run##k[place]

/* Dots have one scale per run, adds one per element. */
#define EACH_SCALED_TAKE(k, place, q) ((BYTE_TAKE(k, place, q) + runs->ru_offset[k]) * runs->ru_scale[k])
#define EACH_SCALED_ONE(k, place) ((BYTE_ONE(k, place) + runs->ru_offset[k]) * runs->ru_scale[k])
#define SCALED_TAKE(k, place, q)                                                                                       \
    ((BYTE_TAKE(k, place, q) + *(const vector *)(runs->ru_offset + (place) + (q) * lanes)) *                           \
     *(const vector *)(runs->ru_scale + (place) + (q) * lanes))
#define SCALED_ONE(k, place) ((BYTE_ONE(k, place) + runs->ru_offset[place]) * runs->ru_scale[place])

#define LINE 64 /* bytes that are prefetched at once */
#define PREFETCH(k)                                                                                                    \
    for (size_t at = 0; ahead != 0 && at < 4 * lanes * sizeof *run##k; at += LINE)                                     \
        __builtin_prefetch((const char *)((uintptr_t)(run##k + i) + ahead + at), 0, 2);

/* ---- products along runs ---- */

#define EACH_RUN(DO, ...) DO(0, __VA_ARGS__) DO(1, __VA_ARGS__) DO(2, __VA_ARGS__) DO(3, __VA_ARGS__)
#define START(k, source)                                                                                               \
    const source *const run##k = runs->ru_places[k];                                                                   \
    vector low##k = {0}, high##k = {0};                                                                                \
    double sum##k = 0;
#define STEP(k, TAKE, WATCH)                                                                                           \
    PREFETCH(k)                                                                                                        \
    seen |= WATCH(k, i);                                                                                               \
    low##k += TAKE(k, i, 0) * one, high##k += TAKE(k, i, 1) * two;                                                     \
    low##k += TAKE(k, i, 2) * three, high##k += TAKE(k, i, 3) * four;
#define REST(k, ONE) sum##k += (double)(ONE(k, i) * factor);
#define CLEAR(k, ...) low##k = high##k = (vector){0};
#define FINISH(k, ...)                                                                                                 \
    low##k += high##k;                                                                                                 \
    for (size_t lane = 0; lane < lanes; lane++)                                                                        \
        sum##k += (double)low##k[lane];                                                                                \
    sums[k] += sum##k;

#define DOTS(name, target, element, source, width, TAKE, ONE, WATCH)                                                   \
    target static void dots_##name(const struct sim_runs *runs, const void *from, size_t count, double *sums)          \
    {                                                                                                                  \
        TYPES(element, source, width);                                                                                 \
        const element *const row = from;                                                                               \
        bits seen = {0};                                                                                               \
        uint32_t special = 0;                                                                                          \
        size_t i = 0;                                                                                                  \
        EACH_RUN(START, source)                                                                                        \
        for (; i + 4 * lanes <= count; i += 4 * lanes) {                                                               \
            const vector *const factors = (const vector *)(row + i);                                                   \
            const vector one = factors[0], two = factors[1], three = factors[2], four = factors[3];                    \
            EACH_RUN(STEP, TAKE, WATCH)                                                                                \
        }                                                                                                              \
        for (size_t word = 0; word < sizeof seen / sizeof special; word++)                                             \
            special |= seen[word];                                                                                     \
        if ((special & 0x80008000) != 0) {                                                                             \
            i = 0;                                                                                                     \
            EACH_RUN(CLEAR, )                                                                                          \
        }                                                                                                              \
        for (; i < count; i++) {                                                                                       \
            const element factor = row[sim_loops_place(sizeof *row / sizeof(source), lanes, i, count)];                \
            EACH_RUN(REST, ONE)                                                                                        \
        }                                                                                                              \
        EACH_RUN(FINISH, )                                                                                             \
    }

/* ---- products of integers along runs ----
 *
 * A plain loop, because compilers know the instruction that multiplies integers of 16 bits and adds up pairs of
 * products. The sum of a stretch has fewer than 32 bits. */

#define STRETCH 256 /* elements between two prefetches */
#define PREFETCH_ALL(k, ...)                                                                                           \
    for (size_t at = 0; at < STRETCH; at += LINE)                                                                      \
        __builtin_prefetch((const char *)((uintptr_t)(run##k + i) + runs->ru_ahead + at), 0, 2);
#define MULTIPLY_ADD(k, ...) whole##k += run##k[j] * row[j];
#define START_WHOLE(k, ...)                                                                                            \
    const int8_t *const run##k = runs->ru_places[k];                                                                   \
    double sum##k = 0;
#define ADD_UP(end)                                                                                                    \
    int32_t whole0 = 0, whole1 = 0, whole2 = 0, whole3 = 0;                                                            \
    for (size_t j = i; j < (end); j++) {                                                                               \
        EACH_RUN(MULTIPLY_ADD, )                                                                                       \
    }                                                                                                                  \
    sum0 += whole0, sum1 += whole1, sum2 += whole2, sum3 += whole3;

#define WHOLE_DOTS(name, target)                                                                                       \
    target static void dots_whole_##name(const struct sim_runs *runs, const void *from, size_t count, double *sums)    \
    {                                                                                                                  \
        const int16_t *const row = from;                                                                               \
        size_t i = 0;                                                                                                  \
        EACH_RUN(START_WHOLE, )                                                                                        \
        for (; i + STRETCH <= count; i += STRETCH) {                                                                   \
            EACH_RUN(PREFETCH_ALL, )                                                                                   \
            ADD_UP(i + STRETCH)                                                                                        \
        }                                                                                                              \
        ADD_UP(count)                                                                                                  \
        sums[0] += sum0, sums[1] += sum1, sums[2] += sum2, sums[3] += sum3;                                            \
    }

/* ---- sums of runs ---- */

#define ADDS(name, target, element, source, bytes, TAKE, ONE)                                                          \
    target static void adds_##name(const struct sim_runs *runs, const void *from, size_t deep, void *to, size_t count) \
    {                                                                                                                  \
        TYPES(element, source, bytes);                                                                                 \
        const element *const factors = from;                                                                           \
        element *const sums = to;                                                                                      \
        size_t i = 0;                                                                                                  \
        for (; i + 4 * lanes <= count; i += 4 * lanes) {                                                               \
            vector *const into = (vector *)(sums + i);                                                                 \
            vector one = into[0], two = into[1], three = into[2], four = into[3];                                      \
            for (size_t k = 0; k < deep; k++) {                                                                        \
                const source *const run = runs->ru_places[k];                                                          \
                const element factor = factors[k];                                                                     \
                PREFETCH()                                                                                             \
                one += TAKE(, i, 0) * factor, two += TAKE(, i, 1) * factor;                                            \
                three += TAKE(, i, 2) * factor, four += TAKE(, i, 3) * factor;                                         \
            }                                                                                                          \
            into[0] = one, into[1] = two, into[2] = three, into[3] = four;                                             \
        }                                                                                                              \
        for (; sizeof(source) == sizeof(element) && i + lanes <= count; i += lanes) {                                  \
            vector sum = *(vector *)(sums + i);                                                                        \
            for (size_t k = 0; k < deep; k++) {                                                                        \
                const source *const run = runs->ru_places[k];                                                          \
                sum += TAKE(, i, 0) * factors[k];                                                                      \
            }                                                                                                          \
            *(vector *)(sums + i) = sum;                                                                               \
        }                                                                                                              \
        for (; i < count; i++)                                                                                         \
            for (size_t k = 0; k < deep; k++) {                                                                        \
                const source *const run = runs->ru_places[k];                                                          \
                sums[i] += ONE(, i) * factors[k];                                                                      \
            }                                                                                                          \
    }

/* ---- conversions to float, which the compiler vectorises ---- */

#define CONVERT(name, target, source, ONE)                                                                             \
    target static void convert_##name(float *restrict to, const void *restrict from, size_t count)                     \
    {                                                                                                                  \
        const source *const run = from;                                                                                \
        for (size_t i = 0; i < count; i++)                                                                             \
            to[i] = ONE(, i);                                                                                          \
    }

/* ---- scales ---- */

#define SCALE_EACH(offset)                                                                                             \
    for (size_t i = 0; i < count; i++)                                                                                 \
    floats[i] = (float)((floats[i] + (offset)) * scales[i * step])
#define SCALE(name, target)                                                                                            \
    target static void scale_##name(float *restrict floats, const double *restrict scales,                             \
                                    const double *restrict offsets, size_t step, size_t count)                         \
    {                                                                                                                  \
        if (offsets == NULL)                                                                                           \
            SCALE_EACH(0);                                                                                             \
        else                                                                                                           \
            SCALE_EACH(offsets[i * step]);                                                                             \
    }

/* ---- versions for each width of vectors ---- */

#define LOOPS(name, target, element, source, bytes, KIND)                                                              \
    DOTS(name, target, element, source, bytes, KIND##_TAKE, KIND##_ONE, NO_WATCH)                                      \
    ADDS(name, target, element, source, bytes, KIND##_TAKE, KIND##_ONE)
#define CONVERTED(name, target, source, bytes, KIND)                                                                   \
    LOOPS(name, target, float, source, bytes, KIND)                                                                    \
    CONVERT(name, target, source, KIND##_ONE)

/* `shorts`: the target with instructions for integers of 16 bits. */
#define FAMILY(name, target, shorts, bytes)                                                                            \
    SCALE(name, target)                                                                                                \
    LOOPS(floats_##name, target, float, float, bytes, FLOAT)                                                           \
    LOOPS(doubles_##name, target, double, double, bytes, DOUBLE)                                                       \
    DOTS(halves_##name, target, float, uint16_t, bytes, QUICK_TAKE, HALF_ONE, QUICK_WATCH)                             \
    ADDS(halves_##name, target, float, uint16_t, bytes, HALF_TAKE, HALF_ONE)                                           \
    CONVERT(halves_##name, target, uint16_t, HALF_ONE)                                                                 \
    CONVERTED(bfloats_##name, target, uint16_t, bytes, BFLOAT)                                                         \
    CONVERTED(bytes_##name, target, int8_t, bytes, BYTE)                                                               \
    WHOLE_DOTS(name, shorts)                                                                                           \
    DOTS(scaled_##name, target, float, int8_t, bytes, EACH_SCALED_TAKE, EACH_SCALED_ONE, NO_WATCH)                     \
    ADDS(scaled_##name, target, float, int8_t, bytes, SCALED_TAKE, SCALED_ONE)                                         \
    static const struct sim_loops loops_##name[] = {                                                                   \
        [SIM_RUNS_FLOAT] = {dots_floats_##name, adds_floats_##name, NULL, 1, (bytes) / 4},                             \
        [SIM_RUNS_DOUBLE] = {dots_doubles_##name, adds_doubles_##name, NULL, 1, (bytes) / 8},                          \
        [SIM_RUNS_HALF] = {dots_halves_##name, adds_halves_##name, convert_halves_##name, 2, (bytes) / 4},             \
        [SIM_RUNS_BFLOAT] = {dots_bfloats_##name, adds_bfloats_##name, convert_bfloats_##name, 2, (bytes) / 4},        \
        [SIM_RUNS_BYTE] = {dots_bytes_##name, adds_bytes_##name, convert_bytes_##name, 4, (bytes) / 4},                \
        [SIM_RUNS_SCALED] = {dots_scaled_##name, adds_scaled_##name, NULL, 4, (bytes) / 4},                            \
        [SIM_RUNS_WHOLE] = {dots_whole_##name, NULL, NULL, 1, (bytes) / 4},                                            \
    };

FAMILY(plain, , , 16)
#ifdef __x86_64__
FAMILY(avx2, __attribute__((target("avx2,fma"))), __attribute__((target("avx2"))), 32)
FAMILY(avx512, __attribute__((target("avx512f,avx512dq"))), __attribute__((target("avx512f,avx512dq,avx512bw"))), 64)
#endif

const struct sim_loops *sim_multiply_loops(enum sim_runs_kind kind)
{
#ifdef __x86_64__
    const size_t bytes = sim_multiply_vector();
    const bool shorts = kind != SIM_RUNS_WHOLE || __builtin_cpu_supports("avx512bw");
    if (bytes > 16)
        return bytes == 64 && shorts ? &loops_avx512[kind] : &loops_avx2[kind];
#endif
    return &loops_plain[kind];
}

void sim_multiply_scale(float *floats, const double *scale, const double *offset, size_t step, size_t count)
{
#ifdef __x86_64__
    const size_t bytes = sim_multiply_vector();
    if (bytes == 64)
        scale_avx512(floats, scale, offset, step, count);
    else if (bytes == 32)
        scale_avx2(floats, scale, offset, step, count);
    else
#endif
        scale_plain(floats, scale, offset, step, count);
}
