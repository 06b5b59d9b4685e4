/* The product of two matrices, which all operators with matrix products use.
 *
 * The simulator must also run on machines without any Python package, so it has a matrix product of its own instead of
 * using a BLAS. The result is computed in tiles. For each tile, slices of both factors are packed into panels. A panel
 * holds ROWS rows, or as many columns as two vectors hold; for each step along the summed axis, its elements are
 * contiguous and converted to the class of the computation; if the right factor has scales, they are applied. After
 * packing, strides, transposition and types no longer matter. The innermost loop multiplies two panels and keeps all
 * sums in registers. It is written once, with the compiler's vector types, and compiled for each vector width of
 * x86-64; a version is chosen at run time. Other processors use vectors of 16 bytes.
 *
 * Idle workers compute tiles of large products, too, with buffers of their own. The sum of an element is the same in
 * each tile.
 *
 * Sums stay in registers for DEPTH products and are then added to the tile. Therefore the error of a float grows with
 * DEPTH plus the number of slices, not with their product. Integers wrap in 64 bits; those of 8 bits are multiplied as
 * floats, and the sums of slices are int32.
 *
 * Throughput of whole operators in GFLOP/s, on one core of an EPYC (Zen 5); PyTorch 2.13 on one thread in parentheses.
 * Float32, 256 x 256 x 256: 125 (99); 1024 x 1024 x 1024: 150 (98). Float16 is as fast. */
#include "multiply.h"

#include "multiply_few.h"
#include "multiply_loops.h"
#include "walk.h"
#include "base/config.h"
#include "base/fail.h"
#include "engine/split.h"
#include "operator/tensordesc.h"
#include <stdlib.h>
#include <string.h>

/* Rows of a panel of the left factor: with the two vectors of each, as many sums as the registers hold. */
#define ROWS 6
#define MORE_ROWS 12 /* for vectors of 64 bytes, of which there are 32 registers */
#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)
#define EACH_OF_MORE_ROWS(DO) EACH_ROW(DO) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define ALIGNMENT 64 /* bytes of the widest vector */

/* Sizes of a tile of the result, and of a slice of the summed axis. Both slices and the tile fit into the cache. */
#define TILE_ROWS (32 * MORE_ROWS)
#define TILE_COLUMNS 512
#define DEPTH 256
#define KEPT (4 * DEPTH) /* the greatest depth at which all slices of the left factor are kept */

#define MOST_WHOLE (1 << 16) /* the greatest depth at which an int32 holds sums of products of integers of 8 bits */

/* ---- two panels ---- */

#define CLEAR(row) vector low##row = {0}, high##row = {0};
#define STEP(row) low##row += left[row] * low, high##row += left[row] * high;
#define ADD(row)                                                                                                       \
    into = (totals *)(sums + row * stride);                                                                            \
    into[0] += __builtin_convertvector(low##row, totals), into[1] += __builtin_convertvector(high##row, totals);

/* Adds the product of two panels to the rows of sums. */
#define PANELS(name, target, element, total, bytes, rows, EACH)                                                        \
    target static void name(const void *from, const void *other, size_t depth, void *to, size_t stride)                \
    {                                                                                                                  \
        typedef element vector __attribute__((vector_size(bytes), may_alias));                                         \
        typedef total totals __attribute__((vector_size(bytes), may_alias));                                           \
        const element *left = from;                                                                                    \
        const vector *right = other;                                                                                   \
        total *sums = to;                                                                                              \
        totals *into;                                                                                                  \
        EACH(CLEAR)                                                                                                    \
        for (size_t k = 0; k < depth; k++, left += (rows), right += 2) {                                               \
            const vector low = right[0], high = right[1];                                                              \
            EACH(STEP)                                                                                                 \
        }                                                                                                              \
        EACH(ADD)                                                                                                      \
    }

typedef void panels_function(const void *left, const void *right, size_t depth, void *sums, size_t stride);

/* One function per class, and one for integers of 8 bits: the products of a slice are so small that their sums are
 * exact as floats. Integers are unsigned, because they wrap. */
#define WHOLE 3
#define FAMILY(name, target, bytes, rows, EACH)                                                                        \
    PANELS(integers_##name, target, uint64_t, uint64_t, bytes, rows, EACH)                                             \
    PANELS(floats_##name, target, float, float, bytes, rows, EACH)                                                     \
    PANELS(doubles_##name, target, double, double, bytes, rows, EACH)                                                  \
    PANELS(whole_##name, target, float, int32_t, bytes, rows, EACH)                                                    \
    static panels_function *const panels_##name[] = {integers_##name, floats_##name, doubles_##name, whole_##name};

FAMILY(plain, , 16, ROWS, EACH_ROW)
#ifdef __x86_64__
FAMILY(avx2, __attribute__((target("avx2,fma"))), 32, ROWS, EACH_ROW)
FAMILY(avx512, __attribute__((target("avx512f,avx512dq"))), 64, MORE_ROWS, EACH_OF_MORE_ROWS)
#endif

struct panels {
    panels_function *pa_multiply;
    size_t pa_element;
    int64_t pa_rows;    /* of a panel of the left factor */
    int64_t pa_columns; /* of a panel of the right factor */
};

size_t sim_multiply_vector(void)
{
#ifdef __x86_64__
    const uint32_t widest = sim_config()->cf_vectors;
    if (widest >= 64 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return 64;
    if (widest >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return 32;
#endif
    return 16;
}

static struct panels choose_panels(enum sim_class class, bool whole)
{
    size_t element = class == SIM_CLASS_FLOAT ? sizeof(float) : sizeof(double), bytes = sim_multiply_vector();
    panels_function *const *family = panels_plain;
#ifdef __x86_64__
    if (bytes > 16)
        family = bytes == 64 ? panels_avx512 : panels_avx2;
#endif
    return (struct panels){family[whole ? WHOLE : (int)class], element, bytes == 64 ? MORE_ROWS : ROWS,
                           (int64_t)(2 * bytes / element)};
}

/* ---- packing ---- */

/* Rounds to 11 bits after the binary point, to nearest, ties to even. */
static void round_hf32(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits, kept;
        memcpy(&bits, &values[i], sizeof bits);
        kept = (bits + 0x7ff + (bits >> 12 & 1)) & ~UINT32_C(0xfff);
        bits = values[i] != values[i] ? bits : kept;
        memcpy(&values[i], &bits, sizeof bits);
    }
}

static void round_half(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = sim_half_to_float(sim_half_from_float(values[i]));
}

static bool is_plain(const struct sim_multiply *multiply, aclDataType type)
{
    return multiply->mu_rounding == SIM_ROUND_NOT &&
           ((multiply->mu_class == SIM_CLASS_FLOAT && type == ACL_FLOAT) ||
            (multiply->mu_class == SIM_CLASS_DOUBLE && type == ACL_DOUBLE));
}

/* The loop that converts consecutive elements to floats; NULL: there is none. */
static sim_loop_convert *conversion_of(aclDataType type)
{
    switch (type) {
    case ACL_FLOAT16:
        return sim_multiply_loops(SIM_RUNS_HALF)->lo_convert;
    case ACL_BF16:
        return sim_multiply_loops(SIM_RUNS_BFLOAT)->lo_convert;
    case ACL_INT8:
        return sim_multiply_loops(SIM_RUNS_BYTE)->lo_convert;
    default:
        return NULL;
    }
}

static void convert(const struct sim_multiply *multiply, const char *from, aclDataType type, int64_t stride, char *to,
                    size_t count)
{
    const size_t element = multiply->mu_class == SIM_CLASS_FLOAT ? sizeof(float) : sizeof(double);
    sim_loop_convert *loop = multiply->mu_class == SIM_CLASS_FLOAT && stride == 1 ? conversion_of(type) : NULL;
    union sim_block_values block;
    if (loop != NULL) {
        loop((float *)(void *)to, from, count);
        return;
    }
    for (int64_t done = 0; done < (int64_t)count; done += SIM_BLOCK) {
        const size_t part = sim_element_block(done, (int64_t)count);
        sim_element_load(&block, multiply->mu_class, from + done * stride * (int64_t)sim_element_size(type), type,
                         stride, part);
        memcpy(to + (size_t)done * element, &block, part * element);
    }
}

static int64_t least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

static void scale(const struct sim_multiply *multiply, int64_t column, int64_t along, bool runs_along, float *floats,
                  size_t count)
{
    const int64_t group = multiply->mu_group == 0 ? INT64_MAX : multiply->mu_group;
    for (size_t done = 0; done < count;) {
        const int64_t left = runs_along ? group - along % group : INT64_MAX;
        const size_t part = (size_t)least((int64_t)(count - done), left);
        const int64_t place = along / group * multiply->mu_columns + column;
        const double *offset = multiply->mu_offset;
        sim_multiply_scale(floats + done, multiply->mu_scale + place, offset == NULL ? NULL : offset + place,
                           runs_along ? 0 : 1, part);
        done += part;
        along += (int64_t)part; /* matters only along the summed axis; a run across has a single part */
    }
}

const char *sim_multiply_place(const struct sim_factor *factor, int64_t across, int64_t along)
{
    int64_t offset = across * factor->fa_across + along * factor->fa_along;
    return factor->fa_place + offset * (int64_t)sim_element_size(factor->fa_type);
}

const void *sim_multiply_load(const struct sim_multiply *multiply, enum sim_side side, int64_t across, int64_t along,
                              bool runs_along, void *to, size_t count)
{
    const struct sim_factor *factor = side == SIM_LEFT ? &multiply->mu_left : &multiply->mu_right;
    const int64_t stride = runs_along ? factor->fa_along : factor->fa_across;
    const bool scales = side == SIM_RIGHT && multiply->mu_scale != NULL;
    if (side == SIM_RIGHT && multiply->mu_make != NULL) {
        multiply->mu_make(multiply->mu_context, across, along, to, count);
    } else {
        const char *place = sim_multiply_place(factor, across, along);
        if (is_plain(multiply, factor->fa_type) && (stride == 1 || count == 1) && !scales &&
            (uintptr_t)place % sim_element_size(factor->fa_type) == 0)
            return place;
        convert(multiply, place, factor->fa_type, stride, to, count);
    }
    if (scales)
        scale(multiply, across, along, runs_along, to, count);
    if (multiply->mu_rounding == SIM_ROUND_HF32)
        round_hf32(to, count);
    else if (multiply->mu_rounding == SIM_ROUND_HALF)
        round_half(to, count);
    return to;
}

/* A slice of a factor, and the panels that it is packed into: element (across, along) of the slice is in panel
 * across / width, at along * width + across % width. The last panel is padded with zeros. */
struct slice {
    enum sim_side sl_side;
    int64_t sl_across, sl_along; /* start */
    int64_t sl_wide, sl_deep;    /* size */
    int64_t sl_width;            /* of a panel */
    size_t sl_element;
};

static const char *load_run(const struct sim_multiply *multiply, const struct slice *slice,
                            union sim_block_values *block, int64_t across, int64_t along, bool runs_along, size_t count)
{
    return sim_multiply_load(multiply, slice->sl_side, slice->sl_across + across, slice->sl_along + along, runs_along,
                             block, count);
}

static size_t rest(int64_t length, int64_t done, int64_t most)
{
    return (size_t)(length - done < most ? length - done : most);
}

/* Packs a run along the summed axis; NULL: zeros. */
static void spread(const char *from, char *to, const struct slice *slice, size_t count)
{
    const size_t step = (size_t)slice->sl_width * slice->sl_element;
    if (from == NULL)
        for (size_t i = 0; i < count; i++, to += step)
            memset(to, 0, slice->sl_element);
    else if (slice->sl_element == sizeof(float))
        for (size_t i = 0; i < count; i++, from += sizeof(float), to += step)
            memcpy(to, from, sizeof(float));
    else
        for (size_t i = 0; i < count; i++, from += sizeof(double), to += step)
            memcpy(to, from, sizeof(double));
}

/* Packs in runs along the summed axis, for factors whose elements are closest together along it. */
static void pack_along(const struct sim_multiply *multiply, const struct slice *slice, char *to)
{
    size_t panel = (size_t)(slice->sl_width * slice->sl_deep) * slice->sl_element;
    union sim_block_values block;
    for (int64_t i = 0; i % slice->sl_width != 0 || i < slice->sl_wide; i++) {
        char *start = to + (size_t)(i / slice->sl_width) * panel + (size_t)(i % slice->sl_width) * slice->sl_element;
        for (int64_t k = 0; k < slice->sl_deep; k += SIM_BLOCK) {
            const size_t count = rest(slice->sl_deep, k, SIM_BLOCK);
            const char *run = i < slice->sl_wide ? load_run(multiply, slice, &block, i, k, true, count) : NULL;
            spread(run, start + (size_t)(k * slice->sl_width) * slice->sl_element, slice, count);
        }
    }
}

#define PIECE 8 /* the bytes of a line are a multiple of this */

/* Copies lines of `bytes` bytes from one place after the other to places `step` bytes apart. The last line may be
 * shorter, and is filled up with zeros. */
static void place_lines(const char *from, size_t length, char *to, size_t bytes, size_t step)
{
    for (; length >= bytes; length -= bytes, from += bytes, to += step)
        for (size_t i = 0; i < bytes; i += PIECE)
            memcpy(to + i, from + i, PIECE);
    if (length != 0) {
        memcpy(to, from, length);
        memset(to + length, 0, bytes - length);
    }
}

/* Packs in runs across the summed axis, of as many whole panels as a block holds. */
static void pack_across(const struct sim_multiply *multiply, const struct slice *slice, char *to)
{
    const size_t line = (size_t)slice->sl_width * slice->sl_element, panel = line * (size_t)slice->sl_deep;
    const int64_t run = SIM_BLOCK / slice->sl_width * slice->sl_width;
    union sim_block_values block;
    for (int64_t i = 0; i < slice->sl_wide; i += run, to += panel * (size_t)(run / slice->sl_width))
        for (int64_t k = 0; k < slice->sl_deep; k++) {
            const size_t count = rest(slice->sl_wide, i, run);
            place_lines(load_run(multiply, slice, &block, i, k, false, count), count * slice->sl_element,
                        to + (size_t)k * line, line, panel);
        }
}

static uint64_t size_of_stride(int64_t stride)
{
    return stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
}

bool sim_multiply_runs_along(const struct sim_factor *factor)
{
    return size_of_stride(factor->fa_along) <= size_of_stride(factor->fa_across);
}

static void pack(const struct sim_multiply *multiply, const struct slice *slice, char *to)
{
    const bool makes = slice->sl_side == SIM_RIGHT && multiply->mu_make != NULL;
    if (sim_multiply_runs_along(slice->sl_side == SIM_LEFT ? &multiply->mu_left : &multiply->mu_right) ||
        (slice->sl_wide == 1 && !makes))
        pack_along(multiply, slice, to);
    else
        pack_across(multiply, slice, to);
}

/* ---- tiles ---- */

static int64_t round_up(int64_t value, int64_t step)
{
    return (value + step - 1) / step * step;
}

/* What all tiles of a product share. */
struct work {
    const struct sim_multiply *wo_multiply;
    struct panels wo_panels;
    int64_t wo_stride; /* of the sums */
    int64_t wo_across; /* tiles in a row of tiles */
    bool wo_keeps;     /* all slices of the left factor are packed once per row of tiles */
    bool wo_whole;     /* the sums are int32 */
    char *wo_memory;
    size_t wo_bytes, wo_right, wo_left; /* the memory of a thread, and where its buffers are behind those of the sums */
    int64_t *wo_packed;                 /* per thread: the first row of the slices that it keeps; -1: none */
};

static void multiply_slices(const struct work *work, const struct slice *left, const char *packed,
                            const struct slice *right, const char *other, char *sums)
{
    size_t element = work->wo_panels.pa_element, depth = (size_t)left->sl_deep;
    for (int64_t j = 0; j < right->sl_wide; j += right->sl_width)
        for (int64_t i = 0; i < left->sl_wide; i += left->sl_width)
            work->wo_panels.pa_multiply(packed + (size_t)i * depth * element,
                                        other + (size_t)j * depth * element, depth,
                                        sums + (size_t)(i * work->wo_stride + j) * element,
                                        (size_t)work->wo_stride);
}

static void put_tile(const struct work *work, const struct slice *left, const struct slice *right, const char *tile)
{
    const struct sim_multiply *multiply = work->wo_multiply;
    size_t element = work->wo_panels.pa_element;
    union sim_block_values block;
    for (int64_t i = 0; i < left->sl_wide; i++)
        for (int64_t j = 0; j < right->sl_wide; j += SIM_BLOCK) {
            size_t count = rest(right->sl_wide, j, SIM_BLOCK);
            const char *sums = tile + (size_t)(i * work->wo_stride + j) * element;
            if (work->wo_whole)
                for (size_t k = 0; k < count; k++)
                    block.bv_integers[k] = ((const int32_t *)(const void *)sums)[k];
            else
                memcpy(&block, sums, count * element);
            multiply->mu_put(multiply->mu_context, left->sl_across + i, right->sl_across + j, &block, count);
        }
}

static void make_tile(const struct work *work, int64_t row, int64_t column, uint32_t seat)
{
    const struct sim_multiply *multiply = work->wo_multiply;
    const size_t element = work->wo_panels.pa_element;
    char *sums = work->wo_memory + seat * work->wo_bytes, *other = sums + work->wo_right;
    struct slice left = {SIM_LEFT, row, 0, least(multiply->mu_rows - row, TILE_ROWS), 0,
                         work->wo_panels.pa_rows, element};
    struct slice right = {SIM_RIGHT, column, 0, least(multiply->mu_columns - column, TILE_COLUMNS), 0,
                          work->wo_panels.pa_columns, element};
    const size_t step = (size_t)round_up(left.sl_wide, left.sl_width) * element;
    memset(sums, 0, step * (size_t)work->wo_stride);
    for (int64_t k = 0; k < multiply->mu_depth; k += DEPTH) {
        char *packed = sums + work->wo_left + (work->wo_keeps ? step * (size_t)k : 0);
        left.sl_along = right.sl_along = k;
        left.sl_deep = right.sl_deep = least(multiply->mu_depth - k, DEPTH);
        if (!work->wo_keeps || work->wo_packed[seat] != row)
            pack(multiply, &left, packed);
        pack(multiply, &right, other);
        multiply_slices(work, &left, packed, &right, other, sums);
    }
    work->wo_packed[seat] = row;
    put_tile(work, &left, &right, sums);
}

static void make_tiles(void *argument, size_t first, size_t end, uint32_t seat)
{
    const struct work *work = argument;
    for (int64_t tile = (int64_t)first; tile < (int64_t)end; tile++)
        make_tile(work, tile / work->wo_across * TILE_ROWS, tile % work->wo_across * TILE_COLUMNS, seat);
}

/* The size of a buffer in bytes, rounded up so that the next buffer is aligned. */
static size_t buffer(int64_t rows, int64_t columns, size_t element)
{
    return (size_t)round_up(rows * columns * (int64_t)element, ALIGNMENT);
}

/* ---- complex numbers, multiplied without packing, because complex matrices are rare ---- */

static void multiply_pairs(const struct sim_multiply *multiply, int64_t row, int64_t column, size_t count)
{
    const struct sim_factor *left = &multiply->mu_left, *right = &multiply->mu_right;
    union sim_block_values sums, one, others;
    memset(&sums, 0, sizeof sums);
    for (int64_t k = 0; k < multiply->mu_depth; k++) {
        sim_element_load(&one, multiply->mu_class, sim_multiply_place(left, row, k), left->fa_type, 0, 1);
        sim_element_load(&others, multiply->mu_class, sim_multiply_place(right, column, k), right->fa_type,
                         right->fa_across, count);
        for (size_t i = 0; i < count; i++)
            sums.bv_double_pairs[i] += one.bv_double_pairs[0] * others.bv_double_pairs[i];
    }
    multiply->mu_put(multiply->mu_context, row, column, &sums, count);
}

static aclError run_pairs(const struct sim_multiply *multiply)
{
    for (int64_t i = 0; i < multiply->mu_rows; i++)
        for (int64_t j = 0; j < multiply->mu_columns; j += SIM_BLOCK)
            multiply_pairs(multiply, i, j, rest(multiply->mu_columns, j, SIM_BLOCK));
    return ACL_SUCCESS;
}

static aclError run_tiles(const struct sim_multiply *multiply, bool whole)
{
    const struct panels panels = choose_panels(multiply->mu_class, whole);
    const int64_t rows = round_up(least(multiply->mu_rows, TILE_ROWS), panels.pa_rows);
    const int64_t deep = least(multiply->mu_depth, DEPTH);
    const int64_t columns = round_up(least(multiply->mu_columns, TILE_COLUMNS), panels.pa_columns);
    struct work work = {
        .wo_multiply = multiply,
        .wo_panels = panels,
        .wo_stride = columns,
        .wo_across = (multiply->mu_columns + TILE_COLUMNS - 1) / TILE_COLUMNS,
        .wo_keeps = multiply->mu_depth <= KEPT,
        .wo_whole = whole,
        .wo_right = buffer(rows, columns, panels.pa_element),
    };
    const size_t tiles = (size_t)((multiply->mu_rows + TILE_ROWS - 1) / TILE_ROWS * work.wo_across);
    const size_t grain = multiply->mu_alone ? SIZE_MAX : 1, seats = sim_split_seats(tiles, grain);
    work.wo_left = work.wo_right + buffer(columns, deep, panels.pa_element);
    work.wo_bytes = work.wo_left + buffer(rows, work.wo_keeps ? multiply->mu_depth : deep, panels.pa_element);
    const size_t bytes = seats * work.wo_bytes + buffer(1, (int64_t)seats, sizeof *work.wo_packed);
    work.wo_memory = aligned_alloc(ALIGNMENT, bytes);
    SIM_CHECK(work.wo_memory != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "cannot allocate %zu bytes of host memory for a matrix product", bytes);
    work.wo_packed = (int64_t *)(void *)(work.wo_memory + seats * work.wo_bytes);
    memset(work.wo_packed, -1, seats * sizeof *work.wo_packed);
    sim_split_run(tiles, grain, make_tiles, &work);
    free(work.wo_memory);
    return ACL_SUCCESS;
}

bool sim_multiply_is_alone(const aclsimTensor *result)
{
    return sim_walk_grain(result, SIZE_MAX) != 1;
}

/* Whether the factors are integers that are multiplied as floats. */
static bool is_whole(const struct sim_multiply *multiply)
{
    return multiply->mu_class == SIM_CLASS_INTEGER && multiply->mu_left.fa_type == ACL_INT8 &&
           multiply->mu_right.fa_type == ACL_INT8 && multiply->mu_depth <= MOST_WHOLE;
}

aclError sim_multiply_run(const struct sim_multiply *multiply)
{
    struct sim_multiply product = *multiply;
    const bool whole = is_whole(multiply);
    if (multiply->mu_class == SIM_CLASS_COMPLEX_DOUBLE)
        return run_pairs(multiply);
    if (multiply->mu_rows == 0 || multiply->mu_columns == 0)
        return ACL_SUCCESS;
    if (whole)
        product.mu_class = SIM_CLASS_FLOAT;
    return multiply->mu_rows <= SIM_FEW_ROWS && product.mu_class != SIM_CLASS_INTEGER
               ? sim_multiply_few_run(&product, whole)
               : run_tiles(&product, whole);
}
