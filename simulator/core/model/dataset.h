/* Datasets: lists of data buffers for the inputs or outputs of a run, with descriptions of their real shapes. */
#ifndef SIM_DATASET_H
#define SIM_DATASET_H

#include "base/object.h"

struct sim_dataset_slot {
    aclDataBuffer *sl_buffer; /* as it was added: looked up when it is used, never owned */
    aclTensorDesc *sl_desc;   /* the dataset's own, or NULL */
};

struct sim_dataset {
    struct sim_object da_object;
    struct sim_dataset_slot *da_slots;
    size_t da_count, da_room;
    uint32_t da_gear_model; /* the model whose gear was set with this dataset last; 0: none */
    int64_t da_gear;
};

/* The live dataset, locked; NULL for any other handle, with a message (100000). Give it back with sim_object_close. */
struct sim_dataset *sim_dataset_open(const aclmdlDataset *handle, const char *argument);
struct sim_dataset *sim_dataset_peek(const aclmdlDataset *handle); /* without a message */

/* NULL with a message when there is no memory. */
aclmdlDataset *sim_dataset_create(void);
/* Destroys an opened dataset, which unlocks it, and its descriptions. */
void sim_dataset_destroy(struct sim_dataset *dataset);

aclError sim_dataset_add(struct sim_dataset *dataset, aclDataBuffer *buffer); /* 200000 */

/* Keeps a copy of the description at the index; NULL takes the kept one away. 100000, 200000. */
aclError sim_dataset_describe(struct sim_dataset *dataset, size_t index, const aclTensorDesc *desc);

/* The same with a description that becomes the dataset's own. */
aclError sim_dataset_adopt(struct sim_dataset *dataset, size_t index, aclTensorDesc *desc);

/* Remembers the gear that a program chose for runs of a model with this dataset. 100000. */
aclError sim_dataset_choose_gear(aclmdlDataset *handle, uint32_t model, int64_t gear);

/* The memory of the buffer at the index; 100000, also when there is none. */
aclError sim_dataset_memory(aclmdlDataset *handle, size_t index, void **address, size_t *size);

void sim_dataset_reset(void);
void sim_dataset_after_fork(void);

#endif
