/* Saving an instance: its steps and the memory they work on become the constant block of a model file, which contains
 * no addresses. model/format/saved.c reads such a block:
 *   "ACLSAVE1", u32 numbers of regions, inputs, outputs and steps, u64 number of contents,
 *   per region {u64 bytes, u64 address modulo SIM_SAVED_PHASE}, per content {place, its bytes},
 *   per input a place, per output a place, then the steps, each beginning with its u32 sim_saved_step.
 * base/saver.h defines a place. */
#ifndef SIM_MODEL_SAVER_H
#define SIM_MODEL_SAVER_H

#include "base/saver.h"
#include "engine/task.h"

#define SIM_SAVED_MAGIC "ACLSAVE1"
#define SIM_SPANS_MAX 64 /* inputs or outputs of a saved model */
#define SIM_SAVED_PHASE 64 /* loaded memory keeps its alignment, because sums may be split by it */

/* What a model is saved from: the memory of its inputs and outputs, and a function that visits its steps. */
struct sim_saving {
    const struct sim_range *sa_inputs, *sa_outputs;
    uint32_t sa_input_count, sa_output_count, sa_step_count;
    aclError (*sa_walk)(struct sim_saver *saver, void *state);
    void *sa_state;
};

/* Writes the block, of *size bytes, and sets *size to its real size; with block NULL only the latter. Returns 107000
 * if memory is not allocated any more or the block is too small, 207001, or the code of sa_walk. */
aclError sim_model_saver_save(const struct sim_saving *saving, void *block, size_t *size);

#endif
