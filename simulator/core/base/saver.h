/* Writing the steps of a saved model (operator/model_saver.h). Each task writes its own step (op_save), in two passes:
 * the first only collects the places (ranges of memory), from which the regions are computed; the second writes the
 * bytes. The format of a place is u32 region, u32 0, u64 offset, u64 bytes; an empty place has the region
 * SIM_SAVED_NOWHERE. */
#ifndef SIM_SAVER_H
#define SIM_SAVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_SAVED_NOWHERE UINT32_MAX

enum sim_saved_step {
    SIM_SAVED_COPY = 1, /* place to, place from, u64 pitch to, pitch from, width, height */
    SIM_SAVED_SET = 2,  /* place, u32 pattern */
    SIM_SAVED_CALL = 3, /* operator/row_save.c */
};

enum sim_access {
    SIM_ACCESS_READ = 1,
    SIM_ACCESS_WRITE = 2, /* possibly not every byte */
    SIM_ACCESS_FILL = 4,  /* every byte is written */
};

struct sim_touch {
    uintptr_t to_low, to_high;
    uint32_t to_step;
    enum sim_access to_access;
};

struct sim_area {
    uintptr_t ar_low, ar_high;
};

struct sim_saver {
    bool sv_writes; /* in the second pass */
    bool sv_lost;   /* out of memory */
    uint32_t sv_step;
    struct sim_touch *sv_touches; /* in order */
    struct sim_area *sv_regions;  /* ordered by address */
    uint32_t sv_touch_count, sv_touch_room, sv_region_count;
    unsigned char *sv_block; /* the output; the caller owns it */
    size_t sv_size, sv_room; /* bytes written so far, which may exceed the size of the block, and that size */
};

/* Begins a step. */
void sim_saver_step(struct sim_saver *saver, enum sim_saved_step kind);
/* Collects a place, or writes it in the second pass. */
void sim_saver_place(struct sim_saver *saver, const void *address, uint64_t size, enum sim_access access);
/* Write numbers and bytes; do nothing in the first pass. */
void sim_saver_u32(struct sim_saver *saver, uint32_t value);
void sim_saver_u64(struct sim_saver *saver, uint64_t value);
void sim_saver_bytes(struct sim_saver *saver, const void *bytes, size_t size);

#endif
