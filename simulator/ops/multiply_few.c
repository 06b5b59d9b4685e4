/* Products whose result has few rows, such as a vector times a matrix.
 *
 * Packing the right factor takes as long as multiplying it by several rows. So each of its elements is loaded once,
 * from where it lies, and is multiplied by all rows at once; only a slice of the left factor is converted in advance.
 * If the elements of the right factor are closest together along the summed axis, a run of a column is multiplied by
 * each row and summed up. Otherwise a run across the columns, times one element of each row, is added to the sums.
 *
 * Both ways add up at most one block of products before they add to the result, so that the error of a float grows as
 * it does in multiply.c. The innermost loops are compiled for each vector width, as they are there.
 *
 * 4096 x 4096 floats times one vector take 1.1 to 1.3 times the time of reading the matrix once. */
#include "multiply_few.h"

#include "base/fail.h"
#include <stdlib.h>
#include <string.h>

#define WIDTH (4 * SIM_BLOCK)  /* columns whose sums are kept at a time: runs across them fill whole pages */
#define DEPTH (16 * SIM_BLOCK) /* of a slice of the left factor */

/* What the loops work on: a slice of the left factor, in rows of DEPTH elements, and sums in rows of WIDTH. */
struct few {
    const struct sim_multiply *fe_multiply;
    size_t fe_rows, fe_element;
    char *fe_left, *fe_sums, *fe_part;
    int64_t fe_first, fe_deep; /* the part of the summed axis that the slice has */
};

/* ---- the innermost loops ---- */

/* Adds the product of a run and each row to one sum per row. */
#define DOTS(name, target, element, bytes)                                                                             \
    target static void dots_##name(const struct few *few, int64_t along, const void *from, size_t count, char *to)     \
    {                                                                                                                  \
        typedef element vector __attribute__((vector_size(bytes), aligned(sizeof(element)), may_alias));               \
        const size_t lanes = (bytes) / sizeof(element);                                                                \
        const element *run = from, *row = (const element *)few->fe_left + along;                                       \
        element *sums = (element *)(void *)to;                                                                         \
        for (size_t r = 0; r < few->fe_rows; r++, row += DEPTH, sums += WIDTH) {                                       \
            vector one = {0}, other = {0};                                                                             \
            size_t i = 0;                                                                                              \
            for (; i + 2 * lanes <= count; i += 2 * lanes) {                                                           \
                const vector *x = (const vector *)(run + i), *y = (const vector *)(row + i);                           \
                one += x[0] * y[0], other += x[1] * y[1];                                                              \
            }                                                                                                          \
            element sum = 0;                                                                                           \
            one += other;                                                                                              \
            for (size_t lane = 0; lane < lanes; lane++)                                                                \
                sum += one[lane];                                                                                      \
            for (; i < count; i++)                                                                                     \
                sum += run[i] * row[i];                                                                                \
            *sums += sum;                                                                                              \
        }                                                                                                              \
    }

/* Adds a run, times one element of each row, to as many sums per row. */
#define ADDS(name, target, element, bytes)                                                                             \
    target static void adds_##name(const struct few *few, int64_t along, const void *from, size_t count, char *to)     \
    {                                                                                                                  \
        typedef element vector __attribute__((vector_size(bytes), aligned(sizeof(element)), may_alias));               \
        const size_t lanes = (bytes) / sizeof(element);                                                                \
        const element *run = from, *row = (const element *)few->fe_left + along;                                       \
        element *sums = (element *)(void *)to;                                                                         \
        for (size_t r = 0; r < few->fe_rows; r++, row += DEPTH, sums += WIDTH) {                                       \
            const element factor = *row;                                                                               \
            size_t i = 0;                                                                                              \
            for (; i + lanes <= count; i += lanes)                                                                     \
                *(vector *)(sums + i) += *(const vector *)(run + i) * factor;                                          \
            for (; i < count; i++)                                                                                     \
                sums[i] += run[i] * factor;                                                                            \
        }                                                                                                              \
    }

typedef void loop_function(const struct few *few, int64_t along, const void *from, size_t count, char *to);

struct loops {
    loop_function *lo_dots, *lo_adds;
};

#define FAMILY(name, target, bytes)                                                                                    \
    DOTS(floats_##name, target, float, bytes)                                                                          \
    DOTS(doubles_##name, target, double, bytes)                                                                        \
    ADDS(floats_##name, target, float, bytes)                                                                          \
    ADDS(doubles_##name, target, double, bytes)                                                                        \
    static const struct loops loops_##name[] = {{dots_floats_##name, adds_floats_##name},                              \
                                                {dots_doubles_##name, adds_doubles_##name}};

FAMILY(plain, , 16)
#ifdef __x86_64__
FAMILY(avx2, __attribute__((target("avx2,fma"))), 32)
FAMILY(avx512, __attribute__((target("avx512f,avx512dq"))), 64)
#endif

static const struct loops *choose_loops(enum sim_class class)
{
    const struct loops *family = loops_plain;
#ifdef __x86_64__
    size_t bytes = sim_multiply_vector();
    if (bytes > 16)
        family = bytes == 64 ? loops_avx512 : loops_avx2;
#endif
    return &family[class == SIM_CLASS_FLOAT ? 0 : 1];
}

/* ---- runs of the right factor ---- */

/* Returns a run in the class of the product: where it lies if it already is one, else loaded into the block. */
static const void *run_of(const struct few *few, int64_t across, int64_t along, int64_t stride,
                          union sim_block_values *block, size_t count)
{
    const struct sim_multiply *multiply = few->fe_multiply;
    const struct sim_factor *factor = &multiply->mu_right;
    aclDataType plain = multiply->mu_class == SIM_CLASS_FLOAT ? ACL_FLOAT : ACL_DOUBLE;
    const char *place = factor->fa_place +
                        (across * factor->fa_across + along * factor->fa_along) * (int64_t)few->fe_element;
    if (factor->fa_type == plain && (stride == 1 || count == 1) && multiply->mu_rounding == SIM_ROUND_NOT &&
        (uintptr_t)place % few->fe_element == 0)
        return place;
    sim_multiply_load(multiply, factor, across, along, stride, block, count);
    return block;
}

static void run_along(const struct few *few, loop_function *dots, int64_t column, int64_t width)
{
    union sim_block_values block;
    for (int64_t j = 0; j < width; j++)
        for (int64_t k = 0; k < few->fe_deep; k += SIM_BLOCK) {
            size_t count = sim_element_block(k, few->fe_deep);
            const void *run = run_of(few, column + j, few->fe_first + k, few->fe_multiply->mu_right.fa_along, &block,
                                     count);
            dots(few, k, run, count, few->fe_sums + (size_t)j * few->fe_element);
        }
}

/* Adds the sums of a part of the depth to the sums, and clears them. */
static void add_part(const struct few *few)
{
    const size_t count = few->fe_rows * WIDTH;
    if (few->fe_multiply->mu_class == SIM_CLASS_FLOAT)
        for (size_t i = 0; i < count; i++)
            ((float *)(void *)few->fe_sums)[i] += ((float *)(void *)few->fe_part)[i];
    else
        for (size_t i = 0; i < count; i++)
            ((double *)(void *)few->fe_sums)[i] += ((double *)(void *)few->fe_part)[i];
    memset(few->fe_part, 0, count * few->fe_element);
}

static void run_across(const struct few *few, loop_function *adds, int64_t column, int64_t width)
{
    union sim_block_values block;
    for (int64_t k = 0; k < few->fe_deep; k++) {
        for (int64_t j = 0; j < width; j += SIM_BLOCK) {
            size_t count = sim_element_block(j, width);
            const void *run = run_of(few, column + j, few->fe_first + k, few->fe_multiply->mu_right.fa_across, &block,
                                     count);
            adds(few, k, run, count, few->fe_part + (size_t)j * few->fe_element);
        }
        if ((k + 1) % SIM_BLOCK == 0 || k + 1 == few->fe_deep)
            add_part(few);
    }
}

/* ---- the product ---- */

static void load_left(const struct few *few)
{
    const struct sim_multiply *multiply = few->fe_multiply;
    union sim_block_values block;
    for (int64_t i = 0; i < multiply->mu_rows; i++)
        for (int64_t k = 0; k < few->fe_deep; k += SIM_BLOCK) {
            size_t count = sim_element_block(k, few->fe_deep);
            sim_multiply_load(multiply, &multiply->mu_left, i, few->fe_first + k, multiply->mu_left.fa_along, &block,
                              count);
            memcpy(few->fe_left + (size_t)(i * DEPTH + k) * few->fe_element, &block, count * few->fe_element);
        }
}

static void add_columns(struct few *few, const struct loops *loops, int64_t column, int64_t width)
{
    const struct sim_multiply *multiply = few->fe_multiply;
    for (few->fe_first = 0; few->fe_first < multiply->mu_depth; few->fe_first += DEPTH) {
        int64_t left = multiply->mu_depth - few->fe_first;
        few->fe_deep = left < DEPTH ? left : DEPTH;
        load_left(few);
        if (sim_multiply_runs_along(&multiply->mu_right))
            run_along(few, loops->lo_dots, column, width);
        else
            run_across(few, loops->lo_adds, column, width);
    }
}

static void put_sums(const struct few *few, int64_t column, int64_t width)
{
    const struct sim_multiply *multiply = few->fe_multiply;
    union sim_block_values block;
    for (int64_t i = 0; i < multiply->mu_rows; i++)
        for (int64_t j = 0; j < width; j += SIM_BLOCK) {
            size_t count = sim_element_block(j, width);
            memcpy(&block, few->fe_sums + (size_t)(i * WIDTH + j) * few->fe_element, count * few->fe_element);
            multiply->mu_put(multiply->mu_context, i, column + j, &block, count);
        }
}

aclError sim_multiply_few_run(const struct sim_multiply *multiply)
{
    const struct loops *loops = choose_loops(multiply->mu_class);
    struct few few = {.fe_multiply = multiply, .fe_rows = (size_t)multiply->mu_rows,
                      .fe_element = multiply->mu_class == SIM_CLASS_FLOAT ? sizeof(float) : sizeof(double)};
    size_t sums = few.fe_rows * WIDTH * few.fe_element, bytes = 2 * sums + few.fe_rows * DEPTH * few.fe_element;
    char *memory = calloc(bytes, 1);
    SIM_CHECK(memory != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "cannot allocate %zu bytes of host memory for a matrix product", bytes);
    few.fe_sums = memory;
    few.fe_part = memory + sums;
    few.fe_left = memory + 2 * sums;
    for (int64_t j = 0; j < multiply->mu_columns; j += WIDTH) {
        int64_t width = multiply->mu_columns - j < WIDTH ? multiply->mu_columns - j : WIDTH;
        memset(few.fe_sums, 0, sums);
        add_columns(&few, loops, j, width);
        put_sums(&few, j, width);
    }
    free(memory);
    return ACL_SUCCESS;
}
