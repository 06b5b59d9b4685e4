/* Saving an instance: its steps and the memory they work on become the constant block of a model file, without an
 * address in it. Whoever saves is asked twice for the same steps: first only places count, from which the regions of
 * memory follow, then everything is written. model/format/saved.c reads such a block:
 *   "ACLSAVE1", u32 regions, inputs, outputs, steps, u64 contents,
 *   {u64 bytes, u64 address modulo SIM_SAVED_PHASE} a region, {place, its bytes} a content,
 *   a place each input, a place each output, then the steps, each beginning with its u32 sim_saved_step.
 * A place: u32 region, u32 0, u64 offset, u64 bytes; no bytes: region SIM_SAVED_NOWHERE. */
#ifndef SIM_MODEL_SAVER_H
#define SIM_MODEL_SAVER_H

#include "engine/task.h"

#define SIM_SAVED_MAGIC "ACLSAVE1"
#define SIM_SAVED_NOWHERE UINT32_MAX
#define SIM_SPANS_MAX 64 /* inputs or outputs of a saved model */
#define SIM_SAVED_PHASE 64 /* sums may be cut up by alignment: what is loaded lies as it lay */

enum sim_saved_step {
    SIM_SAVED_COPY = 1, /* place to, place from, u64 pitch to, pitch from, width, height */
    SIM_SAVED_SET = 2,  /* place, u32 pattern */
    SIM_SAVED_CALL = 3, /* core/row_save.c */
};

enum sim_access {
    SIM_ACCESS_READ = 1,
    SIM_ACCESS_WRITE = 2, /* perhaps not every byte */
    SIM_ACCESS_FILL = 4,  /* every byte is written */
};

struct sim_saver {
    bool sv_writes; /* the second time */
    bool sv_lost;   /* there was no memory */
    uint32_t sv_step;
    struct sim_touch *sv_touches; /* in order */
    struct sim_area *sv_regions;  /* ordered by address */
    uint32_t sv_touch_count, sv_touch_room, sv_region_count;
    unsigned char *sv_block; /* the caller's */
    size_t sv_size, sv_room; /* what there is to write, and how much of it has room */
};

void sim_saver_step(struct sim_saver *saver, enum sim_saved_step kind);
void sim_saver_place(struct sim_saver *saver, const void *address, uint64_t size, enum sim_access access);
void sim_saver_u32(struct sim_saver *saver, uint32_t value);
void sim_saver_u64(struct sim_saver *saver, uint64_t value);
void sim_saver_bytes(struct sim_saver *saver, const void *bytes, size_t size);

/* What a model is saved from: the spans of memory that a run is given and gives, and who goes through the steps. */
struct sim_saving {
    const struct sim_range *sa_inputs, *sa_outputs;
    uint32_t sa_input_count, sa_output_count, sa_step_count;
    aclError (*sa_walk)(struct sim_saver *saver, void *state);
    void *sa_state;
};

/* Writes the block, of *size bytes, and the size it has; the size alone when block is NULL. 107000 for memory that is
 * gone and for a block that is too small, 207001, and what the walk answers. */
aclError sim_saver_save(const struct sim_saving *saving, void *block, size_t *size);

#endif
