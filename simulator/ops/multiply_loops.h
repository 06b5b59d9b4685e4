/* The innermost loops of products over runs: consecutive elements of a factor. Part of multiply.c and multiply_few.c,
 * and used by direct convolutions. */
#ifndef OPS_MULTIPLY_LOOPS_H
#define OPS_MULTIPLY_LOOPS_H

#include "multiply.h"

#define SIM_DOTS 4 /* runs whose products with a row are summed up at a time */
#define SIM_ADDS 16 /* the most runs that are added at a time */

/* The types of runs. Scaled integers of 8 bits stand for (integer + offset) * scale. All except doubles are used as
 * floats. */
enum sim_runs_kind {
    SIM_RUNS_FLOAT,
    SIM_RUNS_DOUBLE,
    SIM_RUNS_HALF,
    SIM_RUNS_BFLOAT,
    SIM_RUNS_BYTE,
    SIM_RUNS_SCALED,
    SIM_RUNS_WHOLE, /* integers of 8 bits times those of the row, which has 16 bits for each; only dots */
};

struct sim_runs {
    const void *ru_places[SIM_ADDS];
    const float *ru_scale, *ru_offset; /* of scaled integers: one per run for dots, one per element for adds */
    size_t ru_ahead;                   /* bytes from each place to that of the run that is read after it */
};

/* Adds to each of SIM_DOTS sums the products of the elements of a run and those of the row. */
typedef void sim_loop_dots(const struct sim_runs *runs, const void *row, size_t count, double *sums);
/* Adds `deep` runs, each times its factor, to a line of sums. */
typedef void sim_loop_adds(const struct sim_runs *runs, const void *factors, size_t deep, void *sums, size_t count);
typedef void sim_loop_convert(float *to, const void *from, size_t count);

struct sim_loops {
    sim_loop_dots *lo_dots;
    sim_loop_adds *lo_adds;
    sim_loop_convert *lo_convert; /* NULL for floats, doubles and scaled integers */
    size_t lo_pieces, lo_lanes;
};

/* The place of element i of `count` in the order that the loops of short elements have for the row of dots, and for the
 * sums and the scales of adds. Elements behind the last whole block keep their order. */
static inline size_t sim_loops_place(size_t pieces, size_t lanes, size_t i, size_t count)
{
    const size_t within = i % (pieces * lanes);
    return i >= count - count % (4 * lanes) ? i : i - within + within % pieces * lanes + within / pieces;
}

/* Makes each float (float + offset) * scale. The offsets may be NULL. With step 0, all floats have the first numbers,
 * with step 1 each has its own. */
void sim_multiply_scale(float *floats, const double *scale, const double *offset, size_t step, size_t count);

/* The loops for a kind, with the widest vectors of the processor. */
const struct sim_loops *sim_multiply_loops(enum sim_runs_kind kind);

#endif
