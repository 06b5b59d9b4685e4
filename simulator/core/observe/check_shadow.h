/* Shadows: for each byte of a block of memory, one bit that says whether anything has written the byte. */
#ifndef SIM_CHECK_SHADOW_H
#define SIM_CHECK_SHADOW_H

#include "engine/task.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_SHADOW_BYTES 32768u /* bytes of the block per page of its shadow */
#define SIM_SHADOW_MOST (UINT64_C(256) << 20) /* bytes of all shadows; beyond that, memory counts as written */

struct sim_shadow_page;

/* Offsets are bytes from the start of the block. */
struct sim_shadow {
    uint64_t sw_start, sw_size;
    uint64_t sw_unwritten;            /* bytes; 0: nothing else is read */
    struct sim_shadow_page *sw_first; /* the only page, if there is one */
    struct sim_shadow_page **sw_pages; /* NULL while nothing or everything is written */
};

void sim_check_shadow_begin(struct sim_shadow *shadow, uint64_t start, uint64_t size); /* nothing is written */
void sim_check_shadow_end(struct sim_shadow *shadow);

/* The range must lie inside the block. */
void sim_check_shadow_write(struct sim_shadow *shadow, uint64_t offset, uint64_t size);
void sim_check_shadow_erase(struct sim_shadow *shadow, uint64_t offset, uint64_t size); /* the opposite */
/* Counts the unwritten bytes of a range, and finds the first of them. */
uint64_t sim_check_shadow_count(const struct sim_shadow *shadow, uint64_t offset, uint64_t size, uint64_t *first);
/* Gives a range the bits of another one, which may overlap it. */
void sim_check_shadow_copy(struct sim_shadow *to, uint64_t to_offset, const struct sim_shadow *from,
                           uint64_t from_offset, uint64_t size);

/* ---- walking over footprints ---- */

#define SIM_WALK_RANK 16

/* Runs of bytes that are adjacent in one footprint, or in two of the same dimensions. Addresses are the user's. */
struct sim_walk {
    uint64_t wk_run; /* bytes of each run; 0: there is no run */
    uint32_t wk_rank;
    int64_t wk_dims[SIM_WALK_RANK], wk_strides[2][SIM_WALK_RANK]; /* in bytes */
    uint64_t wk_low[2], wk_high[2]; /* the hulls: first byte, and behind the last one */
    uint64_t wk_start[2];
};

/* Begins a walk over `one`, in any order, or over both in the order of `one`. False: it has too many dimensions, or the
 * two differ in their dimensions or sizes of elements. */
bool sim_check_walk_begin(struct sim_walk *walk, const struct sim_footprint *one, const struct sim_footprint *other);
/* Calls `visit` with the address of each run on both sides until it returns false. */
void sim_check_walk_runs(const struct sim_walk *walk, bool (*visit)(void *context, uint64_t one, uint64_t other),
                         void *context);

#endif
