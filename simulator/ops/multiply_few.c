/* Products whose result has few rows, such as a vector times a matrix.
 *
 * Packing the right factor takes as long as multiplying it by several rows. So its elements are used from where they
 * are or, if they have another type, from small buffers; only the left factor is converted in advance. If
 * the elements of the right factor are closest together along the summed axis, runs of several columns are multiplied
 * by each row and summed up. Otherwise several runs across the columns, each times one element of a row, are added to
 * the sums.
 *
 * Both ways add up at most one block of products as floats in a row. The sums of blocks are doubles, so that the error
 * of a float grows as it does in multiply.c. Integers of 8 bits are multiplied as floats: the products of a block are
 * so small that all their sums are exact. A single row times runs along the summed axis has integer products, which
 * take less time and have the same sums.
 *
 * 4096 x 4096 floats times one vector take the time of reading the matrix once. */
#include "multiply_few.h"

#include "multiply_loops.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "engine/split.h"
#include <stdlib.h>
#include <string.h>

#define WIDTH (16 * SIM_BLOCK) /* columns whose sums are kept at a time: a run across them fills whole pages */
#define PIECE (4 * SIM_BLOCK)  /* the same if several threads compute columns; the sums do not depend on it */
#define DEPTH (16 * SIM_BLOCK) /* of a slice of the summed axis */
#define ALONG (8 * SIM_BLOCK)  /* the longest runs. Each run has two vectors of sums, so that a sum adds up a block */
#define ACROSS (2 * SIM_BLOCK)
#define DEEP 8 /* runs across the columns that are added at a time */

/* What the loops work on. */
struct few {
    const struct sim_multiply *fe_multiply;
    const struct sim_loops *fe_loops;
    enum sim_runs_kind fe_kind;
    size_t fe_rows, fe_element;
    size_t fe_width, fe_depth; /* of a row of sums, and of the left factor */
    int64_t fe_first, fe_deep; /* a slice of the summed axis */
    double *fe_sums;
    char *fe_left, *fe_part, *fe_runs; /* the part is what a block adds to the sums; runs are converted */
    float *fe_scale, *fe_offset;       /* of the columns whose sums are kept */
    bool fe_along, fe_whole;
    char *fe_memory; /* all buffers: so many bytes per thread, and then the left factor, which all of them read */
    size_t fe_bytes, fe_scales;
};

static size_t shorter(int64_t length, int64_t done, int64_t most)
{
    return (size_t)(length - done < most ? length - done : most);
}

static size_t place_of(const struct few *few, size_t i, size_t count)
{
    return sim_loops_place(few->fe_loops->lo_pieces, few->fe_loops->lo_lanes, i, count);
}

static char *row_of(const struct few *few, char *rows, size_t width, size_t row, int64_t place)
{
    return rows + (row * width + (size_t)place) * few->fe_element;
}

/* ---- runs of the right factor ---- */

/* Whether floats hold the scales and the offsets. */
static bool fits_floats(const double *numbers, int64_t count)
{
    for (int64_t i = 0; numbers != NULL && i < count; i++)
        if ((double)(float)numbers[i] != numbers[i] && numbers[i] == numbers[i])
            return false;
    return true;
}

/* The kind of runs that the loops read. Runs of other types are converted first, and so are those that several rows
 * need. */
static enum sim_runs_kind kind_of(const struct sim_multiply *multiply)
{
    const struct sim_factor *right = &multiply->mu_right;
    const size_t size = sim_element_size(right->fa_type);
    if (multiply->mu_class == SIM_CLASS_DOUBLE)
        return SIM_RUNS_DOUBLE;
    if (multiply->mu_rows > 1 || multiply->mu_make != NULL || multiply->mu_rounding != SIM_ROUND_NOT ||
        (sim_multiply_runs_along(right) ? right->fa_along : right->fa_across) != 1 ||
        (uintptr_t)right->fa_place % size != 0)
        return SIM_RUNS_FLOAT;
    if (multiply->mu_scale != NULL)
        return right->fa_type == ACL_INT8 && multiply->mu_group == 0 &&
                       fits_floats(multiply->mu_scale, multiply->mu_columns) &&
                       fits_floats(multiply->mu_offset, multiply->mu_columns)
                   ? SIM_RUNS_SCALED
                   : SIM_RUNS_FLOAT;
    switch (right->fa_type) {
    case ACL_FLOAT16:
        return SIM_RUNS_HALF;
    case ACL_BF16:
        return SIM_RUNS_BFLOAT;
    case ACL_INT8:
        return SIM_RUNS_BYTE;
    default:
        return SIM_RUNS_FLOAT;
    }
}

static const void *run_of(const struct few *few, int64_t column, int64_t along, bool runs_along, size_t buffer,
                          size_t count)
{
    return few->fe_kind == SIM_RUNS_FLOAT || few->fe_kind == SIM_RUNS_DOUBLE
               ? sim_multiply_load(few->fe_multiply, SIM_RIGHT, column, along, runs_along,
                                   few->fe_runs + buffer * few->fe_element, count)
               : sim_multiply_place(&few->fe_multiply->mu_right, column, along);
}

/* The bytes to the run that is read next, which is so many elements away; 0 if runs are converted to the same place. */
static size_t ahead_of(const struct few *few, int64_t elements)
{
    const aclDataType type = few->fe_multiply->mu_right.fa_type;
    const bool converts = few->fe_multiply->mu_make != NULL || type != ACL_FLOAT;
    return few->fe_kind == SIM_RUNS_FLOAT && converts ? 0 : (size_t)elements * sim_element_size(type);
}

static void load_scales(const struct few *few, int64_t column, int64_t width)
{
    const double *scale = few->fe_multiply->mu_scale, *offset = few->fe_multiply->mu_offset;
    for (int64_t j = 0; j < width && few->fe_kind == SIM_RUNS_SCALED; j++) {
        const size_t place = few->fe_along ? (size_t)j : place_of(few, (size_t)j, (size_t)width);
        few->fe_scale[place] = (float)scale[column + j];
        few->fe_offset[place] = offset == NULL ? 0 : (float)offset[column + j];
    }
}

/* ---- along the summed axis ---- */

static void run_along(const struct few *few, int64_t column, int64_t width)
{
    struct sim_runs runs = {.ru_ahead = ahead_of(few, SIM_DOTS * few->fe_multiply->mu_right.fa_across)};
    double sums[SIM_DOTS];
    for (int64_t j = 0; j < width; j += SIM_DOTS)
        for (int64_t k = 0; k < few->fe_deep; k += ALONG) {
            const size_t count = shorter(few->fe_deep, k, ALONG), columns = shorter(width, j, SIM_DOTS);
            runs.ru_scale = few->fe_scale + j;
            runs.ru_offset = few->fe_offset + j;
            for (size_t c = 0; c < SIM_DOTS; c++)
                runs.ru_places[c] = c < columns ? run_of(few, column + j + (int64_t)c, few->fe_first + k, true,
                                                         c * ALONG, count)
                                                : runs.ru_places[0];
            for (size_t r = 0; r < few->fe_rows; r++) {
                double *to = few->fe_sums + r * few->fe_width + (size_t)j;
                memcpy(sums, to, columns * sizeof *sums);
                few->fe_loops->lo_dots(&runs, row_of(few, few->fe_left, few->fe_depth, r, few->fe_first + k), count,
                                       sums);
                memcpy(to, sums, columns * sizeof *sums);
            }
        }
}

/* ---- across the columns ---- */

/* Adds the part to the sums, and clears it. */
static void add_part(const struct few *few)
{
    const size_t count = few->fe_rows * few->fe_width;
    if (few->fe_kind != SIM_RUNS_DOUBLE)
        for (size_t i = 0; i < count; i++)
            few->fe_sums[i] += (double)((float *)(void *)few->fe_part)[i];
    else
        for (size_t i = 0; i < count; i++)
            few->fe_sums[i] += ((double *)(void *)few->fe_part)[i];
    memset(few->fe_part, 0, count * few->fe_element);
}

static void run_across(const struct few *few, int64_t column, int64_t width)
{
    struct sim_runs runs = {.ru_ahead = ahead_of(few, DEEP * few->fe_multiply->mu_right.fa_along)};
    for (int64_t k = 0; k < few->fe_deep; k += DEEP) {
        const size_t deep = shorter(few->fe_deep, k, DEEP);
        for (int64_t j = 0; j < width; j += ACROSS) {
            const size_t count = shorter(width, j, ACROSS);
            runs.ru_scale = few->fe_scale + j;
            runs.ru_offset = few->fe_offset + j;
            for (size_t d = 0; d < deep; d++)
                runs.ru_places[d] = run_of(few, column + j, few->fe_first + k + (int64_t)d, false, d * ACROSS, count);
            for (size_t r = 0; r < few->fe_rows; r++)
                few->fe_loops->lo_adds(&runs, row_of(few, few->fe_left, few->fe_depth, r, few->fe_first + k), deep,
                                       row_of(few, few->fe_part, few->fe_width, r, j), count);
        }
        if ((k + DEEP) % SIM_BLOCK == 0 || k + DEEP >= few->fe_deep)
            add_part(few);
    }
}

/* ---- the product ---- */

/* Makes a slice of a row integers of 16 bits. Those that the loop reads at a time are where their floats were. */
static void make_shorts(const struct few *few, float *to)
{
    const size_t count = (size_t)few->fe_deep;
    const float *from = memcpy(few->fe_runs, to, count * sizeof *to);
    for (size_t first = 0; first < count; first += ALONG) {
        int16_t *const shorts = (int16_t *)(void *)(to + first);
        const size_t end = first + ALONG < count ? first + ALONG : count;
        for (size_t i = first; i < end; i++)
            shorts[i - first] = (int16_t)from[i];
    }
}

/* Goes on to the next slice of the summed axis; false behind the last one. fe_first is negative at first. */
static bool next_slice(struct few *few)
{
    few->fe_first = few->fe_first < 0 ? 0 : few->fe_first + DEPTH;
    few->fe_deep = (int64_t)shorter((int64_t)few->fe_depth, few->fe_first, DEPTH);
    return few->fe_first < (int64_t)few->fe_depth;
}

/* Puts a slice of a row into the order of the loop. */
static void arrange(const struct few *few, float *to)
{
    const size_t count = (size_t)few->fe_deep;
    const float *from = memcpy(few->fe_runs, to, count * sizeof *to);
    for (size_t i = 0; i < count; i++)
        to[place_of(few, i, count)] = from[i];
}

static void load_left(struct few few)
{
    while (next_slice(&few))
        for (size_t i = 0; i < few.fe_rows; i++) {
            void *to = row_of(&few, few.fe_left, few.fe_depth, i, few.fe_first);
            const void *from = sim_multiply_load(few.fe_multiply, SIM_LEFT, (int64_t)i, few.fe_first, true, to,
                                                 (size_t)few.fe_deep);
            if (from != to)
                memcpy(to, from, (size_t)few.fe_deep * few.fe_element);
            if (few.fe_along && few.fe_loops->lo_pieces > 1)
                arrange(&few, to);
            if (few.fe_kind == SIM_RUNS_WHOLE)
                make_shorts(&few, to);
        }
}

static void add_columns(struct few few, int64_t column, int64_t width)
{
    while (next_slice(&few)) {
        if (few.fe_along)
            run_along(&few, column, width);
        else
            run_across(&few, column, width);
    }
}

static void put_sums(const struct few *few, int64_t column, int64_t width)
{
    const struct sim_multiply *multiply = few->fe_multiply;
    union sim_block_values block;
    for (size_t r = 0; r < few->fe_rows; r++)
        for (int64_t j = 0; j < width; j += SIM_BLOCK) {
            const size_t count = sim_element_block(j, width);
            const double *sums = few->fe_sums + r * few->fe_width;
            for (size_t i = 0; i < count; i++) {
                const size_t k = (size_t)j + i;
                const double sum = sums[few->fe_along ? k : place_of(few, k, (size_t)width)];
                if (few->fe_whole)
                    block.bv_integers[i] = (int64_t)sum;
                else if (few->fe_kind == SIM_RUNS_DOUBLE)
                    block.bv_doubles[i] = sum;
                else
                    block.bv_floats[i] = (float)sum;
            }
            multiply->mu_put(multiply->mu_context, (int64_t)r, column + j, &block, count);
        }
}

static void run_columns(void *argument, size_t first, size_t end, uint32_t seat)
{
    struct few few = *(const struct few *)argument;
    const size_t sums = few.fe_rows * few.fe_width;
    few.fe_sums = (double *)(void *)(few.fe_memory + seat * few.fe_bytes);
    few.fe_scale = (float *)(void *)(few.fe_sums + sums);
    few.fe_offset = few.fe_scale + few.fe_scales;
    few.fe_part = (char *)(few.fe_offset + few.fe_scales);
    few.fe_runs = few.fe_part + sums * few.fe_element;
    memset(few.fe_part, 0, sums * few.fe_element);
    for (size_t j = first; j < end; j += few.fe_width) {
        const int64_t width = (int64_t)shorter((int64_t)end, (int64_t)j, (int64_t)few.fe_width);
        memset(few.fe_sums, 0, sums * sizeof(double));
        load_scales(&few, (int64_t)j, width);
        add_columns(few, (int64_t)j, width);
        put_sums(&few, (int64_t)j, width);
    }
}

aclError sim_multiply_few_run(const struct sim_multiply *multiply, bool whole)
{
    enum sim_runs_kind kind = kind_of(multiply);
    if (whole && kind == SIM_RUNS_BYTE && sim_multiply_runs_along(&multiply->mu_right))
        kind = SIM_RUNS_WHOLE;
    const size_t columns = (size_t)multiply->mu_columns, grain = multiply->mu_alone ? SIZE_MAX : PIECE;
    const size_t seats = sim_split_seats(columns, grain);
    struct few few = {
        .fe_multiply = multiply,
        .fe_loops = sim_multiply_loops(kind),
        .fe_kind = kind,
        .fe_rows = (size_t)multiply->mu_rows,
        .fe_element = kind == SIM_RUNS_DOUBLE ? sizeof(double) : sizeof(float),
        .fe_width = shorter(multiply->mu_columns, 0, seats > 1 ? PIECE : WIDTH),
        .fe_depth = (size_t)multiply->mu_depth,
        .fe_first = -1,
        .fe_along = sim_multiply_runs_along(&multiply->mu_right),
        .fe_whole = whole,
    };
    const size_t sums = few.fe_rows * few.fe_width;
    const size_t runs = SIM_DOTS * ALONG > DEEP * ACROSS ? SIM_DOTS * ALONG : DEEP * ACROSS;
    uint64_t left = few.fe_rows * few.fe_element;
    few.fe_scales = kind == SIM_RUNS_SCALED ? few.fe_width : 0;
    few.fe_bytes = (sums + few.fe_scales) * sizeof(double) + (sums + runs) * few.fe_element;
    few.fe_bytes = (few.fe_bytes + SIM_LINE - 1) / SIM_LINE * SIM_LINE;
    const bool fits = sim_size_multiply(&left, few.fe_depth) && left <= SIZE_MAX - seats * few.fe_bytes;
    few.fe_memory = fits ? malloc(left + seats * few.fe_bytes) : NULL;
    SIM_CHECK(few.fe_memory != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "cannot allocate host memory for a matrix product with a depth of %zu", few.fe_depth);
    few.fe_left = few.fe_memory + seats * few.fe_bytes;
    few.fe_runs = few.fe_memory;
    load_left(few);
    if (seats > 1)
        sim_split_run(columns, grain, run_columns, &few);
    else
        run_columns(&few, 0, columns, 0);
    free(few.fe_memory);
    return ACL_SUCCESS;
}
