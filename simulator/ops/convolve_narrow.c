/* The narrow tensor of a convolution, from the wide one and the weight.
 *
 * Each row of the weight is one kernel per wide channel. The elements that a row is multiplied by are, for all windows
 * of a line, consecutive: in the wide tensor itself or, if it has padding or the windows move by several elements, in a
 * padded copy of one group of an image. The elements of a line of the copy are ordered by their remainder when divided
 * by the step, so that consecutive windows have consecutive elements. A table has the distance of each element of the
 * kernels from the first one of a window.
 *
 * With few narrow channels, as in a depthwise convolution, these runs are multiplied and added directly. Otherwise the
 * matrix product packs them as its right factor (multiply.c). */
#include "convolve.h"

#include "multiply_loops.h"
#include "base/fail.h"
#include "engine/split.h"
#include <stdlib.h>
#include <string.h>

#define DIRECT_ROWS 16   /* With more rows, or a copy that does not fit into the cache, */
#define DIRECT_DEPTH 256 /* packing takes less time than reading each element once per row */
#define DIRECT_RUN 512   /* elements that are computed at a time */
#define VECTOR 16        /* floats of the widest vector */
#define PIECE (1 << 19)  /* products of a piece that a thread computes, or more */

struct job {
    const struct sim_convolution *jo_convolution;
    int64_t jo_depth, jo_positions, jo_space; /* elements of a row of the weight; of a narrow and of a wide channel */
    int64_t jo_channel, jo_plane, jo_line;    /* distances in what is read */
    int64_t jo_phase;                         /* the distance between elements with consecutive remainders */
    int64_t *jo_offsets;
    size_t jo_floats; /* of a copy: with jo_direct, each thread has its own */
    bool jo_direct;
    float *jo_copy; /* NULL: the wide tensor is read */
    const float *jo_from, *jo_weight;
    float *jo_to;
};

static const struct sim_convolution_axis *axis_of(const struct job *job, int direction)
{
    return &job->jo_convolution->cv_axes[direction];
}

static int64_t least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/* The elements from the first of the first window to the last of the last one. */
static int64_t extent_of(const struct sim_convolution_axis *axis)
{
    return (axis->ca_narrow - 1) * axis->ca_step + (axis->ca_kernel - 1) * axis->ca_apart + 1;
}

/* ---- the padded copy ---- */

static bool needs_copy(const struct job *job)
{
    const struct sim_convolution *convolution = job->jo_convolution;
    bool needs = job->jo_direct || convolution->cv_axes[SIM_SPACE - 1].ca_step != 1;
    for (int k = 0; k < SIM_SPACE; k++)
        needs = needs || convolution->cv_axes[k].ca_before != 0 ||
                extent_of(&convolution->cv_axes[k]) > convolution->cv_axes[k].ca_wide;
    return needs;
}

static void copy_line(const struct job *job, const float *line, float *to)
{
    const struct sim_convolution_axis *axis = axis_of(job, 2);
    const int64_t step = axis->ca_step, length = extent_of(axis);
    const int64_t first = axis->ca_before, end = least(first + axis->ca_wide, length);
    if (step == 1 && first < end)
        memcpy(to + first, line, (size_t)(end - first) * sizeof *to);
    for (int64_t phase = 0; step != 1 && phase < step; phase++) {
        const int64_t start = first <= phase ? 0 : (first - phase + step - 1) / step;
        for (int64_t i = start; phase + i * step < end; i++)
            to[phase * job->jo_phase + i] = line[phase + i * step - first];
    }
}

/* Copies one group of an image. The padding around it stays as it is. */
static void copy_group(const struct job *job, const float *wide)
{
    const struct sim_convolution_axis *deep = axis_of(job, 0), *high = axis_of(job, 1), *flat = axis_of(job, 2);
    const int64_t planes = extent_of(deep) - deep->ca_before, lines = extent_of(high) - high->ca_before;
    for (int64_t channel = 0; channel < job->jo_convolution->cv_wide; channel++)
        for (int64_t z = 0; z < planes && z < deep->ca_wide; z++)
            for (int64_t y = 0; y < lines && y < high->ca_wide; y++)
                copy_line(job, wide + channel * job->jo_space + (z * high->ca_wide + y) * flat->ca_wide,
                          job->jo_copy + channel * job->jo_channel + (z + deep->ca_before) * job->jo_plane +
                              (y + high->ca_before) * job->jo_line);
}

/* ---- as a matrix product ---- */

/* The start of the windows of a position. */
static const float *place_of(const struct job *job, int64_t line)
{
    const struct sim_convolution_axis *deep = axis_of(job, 0), *high = axis_of(job, 1);
    return job->jo_from + line / high->ca_narrow * deep->ca_step * job->jo_plane +
           line % high->ca_narrow * high->ca_step * job->jo_line;
}

static void make(void *context, int64_t column, int64_t along, float *to, size_t count)
{
    const struct job *job = context;
    const int64_t length = axis_of(job, 2)->ca_narrow;
    int64_t line = column / length, x = column % length;
    for (size_t done = 0; done < count; line++, x = 0) {
        const size_t left = count - done, part = (size_t)(length - x) < left ? (size_t)(length - x) : left;
        memcpy(to + done, place_of(job, line) + job->jo_offsets[along] + x, part * sizeof *to);
        done += part;
    }
}

static void put(void *context, int64_t row, int64_t column, union sim_block_values *sums, size_t count)
{
    const struct job *job = context;
    memcpy(job->jo_to + row * job->jo_positions + column, sums->bv_floats, count * sizeof *job->jo_to);
}

static aclError multiply(struct job *job)
{
    /* With kernels of one element that cover the whole image, the wide tensor is the factor. */
    const bool makes = job->jo_copy != NULL || job->jo_depth != job->jo_convolution->cv_wide ||
                       job->jo_positions != job->jo_space;
    const struct sim_multiply product = {
        .mu_class = SIM_CLASS_FLOAT,
        .mu_rounding = job->jo_convolution->cv_rounding,
        .mu_rows = job->jo_convolution->cv_narrow,
        .mu_columns = job->jo_positions,
        .mu_depth = job->jo_depth,
        .mu_left = {(const char *)job->jo_weight, ACL_FLOAT, job->jo_depth, 1},
        /* The runs that are made go across the positions, also if there is only one. */
        .mu_right = {(const char *)job->jo_from, ACL_FLOAT, 1, job->jo_positions + (makes ? 1 : 0)},
        .mu_make = makes ? make : NULL,
        .mu_put = put,
        .mu_context = job,
    };
    return sim_multiply_run(&product);
}

/* ---- directly ---- */

/* Computes `length` elements, from x on, of some lines of a narrow channel. The windows of lines are jo_line apart, and
 * the sums between two lines are of no use. So are those behind the last line, which fill up a vector. */
static void compute_lines(const struct job *job, int64_t row, int64_t line, int64_t lines, int64_t x, int64_t length)
{
    const size_t count = ((size_t)((lines - 1) * job->jo_line + length) + VECTOR - 1) / VECTOR * VECTOR;
    const float *weight = job->jo_weight + row * job->jo_depth, *from = place_of(job, line) + x;
    float *to = job->jo_to + row * job->jo_positions + line * axis_of(job, 2)->ca_narrow + x;
    float sums[DIRECT_RUN];
    struct sim_runs runs = {.ru_ahead = 0};
    memset(sums, 0, count * sizeof *sums);
    for (int64_t k = 0; k < job->jo_depth; k += SIM_ADDS) {
        const size_t deep = (size_t)least(job->jo_depth - k, SIM_ADDS);
        for (size_t d = 0; d < deep; d++)
            runs.ru_places[d] = from + job->jo_offsets[k + (int64_t)d];
        sim_multiply_loops(SIM_RUNS_FLOAT)->lo_adds(&runs, weight + k, deep, sums, count);
    }
    for (int64_t i = 0; i < lines; i++)
        memcpy(to + i * axis_of(job, 2)->ca_narrow, sums + i * job->jo_line, (size_t)length * sizeof *to);
}

/* Short lines that are close together are computed as one. */
static void compute(const struct job *job)
{
    const struct sim_convolution_axis *deep = axis_of(job, 0), *high = axis_of(job, 1), *flat = axis_of(job, 2);
    const bool joins = high->ca_step == 1 && flat->ca_step == 1 && job->jo_line < DIRECT_RUN;
    const int64_t most = joins ? DIRECT_RUN / job->jo_line : 1;
    for (int64_t z = 0; z < deep->ca_narrow; z++)
        for (int64_t y = 0; y < high->ca_narrow; y += most)
            for (int64_t row = 0; row < job->jo_convolution->cv_narrow; row++)
                for (int64_t x = 0; x < flat->ca_narrow; x += DIRECT_RUN)
                    compute_lines(job, row, z * high->ca_narrow + y, least(high->ca_narrow - y, most), x,
                                  least(flat->ca_narrow - x, DIRECT_RUN));
}

/* ---- the convolution ---- */

static void find_offsets(const struct job *job)
{
    const struct sim_convolution_axis *deep = axis_of(job, 0), *high = axis_of(job, 1), *flat = axis_of(job, 2);
    int64_t *offset = job->jo_offsets;
    for (int64_t channel = 0; channel < job->jo_convolution->cv_wide; channel++)
        for (int64_t z = 0; z < deep->ca_kernel; z++)
            for (int64_t y = 0; y < high->ca_kernel; y++)
                for (int64_t x = 0; x < flat->ca_kernel; x++)
                    *offset++ = channel * job->jo_channel + z * deep->ca_apart * job->jo_plane +
                                y * high->ca_apart * job->jo_line +
                                x * flat->ca_apart % flat->ca_step * job->jo_phase +
                                x * flat->ca_apart / flat->ca_step;
}

static void find_distances(struct job *job)
{
    const struct sim_convolution_axis *deep = axis_of(job, 0), *high = axis_of(job, 1), *flat = axis_of(job, 2);
    bool copies;
    job->jo_positions = deep->ca_narrow * high->ca_narrow * flat->ca_narrow;
    job->jo_space = deep->ca_wide * high->ca_wide * flat->ca_wide;
    job->jo_depth = job->jo_convolution->cv_wide * deep->ca_kernel * high->ca_kernel * flat->ca_kernel;
    job->jo_direct = job->jo_convolution->cv_narrow <= DIRECT_ROWS && job->jo_depth <= DIRECT_DEPTH &&
                     job->jo_convolution->cv_rounding == SIM_ROUND_NOT;
    copies = needs_copy(job);
    job->jo_phase = (extent_of(flat) + flat->ca_step - 1) / flat->ca_step;
    job->jo_line = copies ? job->jo_phase * flat->ca_step : flat->ca_wide;
    job->jo_plane = job->jo_line * (copies ? extent_of(high) : high->ca_wide);
    job->jo_channel = job->jo_plane * (copies ? extent_of(deep) : deep->ca_wide);
}

/* Goes on to one group of an image. */
static void enter(struct job *job, int64_t place)
{
    const struct sim_convolution *convolution = job->jo_convolution;
    const float *wide = convolution->cv_values[SIM_PART_WIDE] + place * convolution->cv_wide * job->jo_space;
    if (job->jo_copy != NULL)
        copy_group(job, wide);
    job->jo_from = job->jo_copy != NULL ? job->jo_copy : wide;
    job->jo_weight = convolution->cv_values[SIM_PART_WEIGHT] +
                     place % convolution->cv_groups * convolution->cv_narrow * job->jo_depth;
    job->jo_to = convolution->cv_values[SIM_PART_NARROW] + place * convolution->cv_narrow * job->jo_positions;
}

static void run_direct(void *argument, size_t first, size_t end, uint32_t seat)
{
    struct job job = *(const struct job *)argument;
    job.jo_copy += seat * job.jo_floats;
    for (size_t place = first; place < end; place++) {
        enter(&job, (int64_t)place);
        compute(&job);
    }
}

aclError sim_convolution_narrow(const struct sim_convolution *convolution)
{
    struct job job = {.jo_convolution = convolution};
    aclError code = ACL_SUCCESS;
    find_distances(&job);
    job.jo_floats = needs_copy(&job) ? (size_t)(job.jo_channel * convolution->cv_wide) + VECTOR : 0;
    const size_t places = (size_t)(convolution->cv_batch * convolution->cv_groups);
    const int64_t products = convolution->cv_narrow * job.jo_positions * job.jo_depth;
    const size_t grain = products < PIECE ? (size_t)(PIECE / products) : 1;
    const size_t seats = job.jo_direct ? sim_split_seats(places, grain) : 1;
    const size_t bytes = (size_t)job.jo_depth * sizeof *job.jo_offsets + seats * job.jo_floats * sizeof(float);
    void *memory = calloc(bytes, 1);
    SIM_CHECK(memory != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "cannot allocate %zu bytes of host memory for a convolution", bytes);
    job.jo_offsets = memory;
    if (job.jo_floats != 0)
        job.jo_copy = (float *)(void *)(job.jo_offsets + job.jo_depth);
    find_offsets(&job);
    if (job.jo_direct)
        sim_split_run(places, grain, run_direct, &job);
    for (size_t place = 0; !job.jo_direct && code == ACL_SUCCESS && place < places; place++) {
        enter(&job, (int64_t)place);
        code = multiply(&job);
    }
    free(memory);
    return code;
}
