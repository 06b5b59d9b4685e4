/* Datasets: lists of data buffers for the inputs or outputs of an execution, with descriptions of their actual
 * shapes. */
#ifndef SIM_DATASET_H
#define SIM_DATASET_H

#include "base/object.h"

struct sim_dataset_slot {
    aclDataBuffer *sl_buffer; /* the program's handle, looked up at each use */
    aclTensorDesc *sl_desc;   /* owned by the dataset, or NULL */
};

struct sim_dataset {
    struct sim_object da_object;
    struct sim_dataset_slot *da_slots;
    size_t da_count, da_room;
    uint32_t da_gear_model; /* the model that da_gear was set for; 0: no gear was set */
    int64_t da_gear;
};

/* Finds the live dataset and locks it; NULL with a message (100000) for any other handle. Unlock with
 * sim_object_close. */
struct sim_dataset *sim_dataset_open(const aclmdlDataset *handle, const char *argument);
struct sim_dataset *sim_dataset_peek(const aclmdlDataset *handle); /* the same, without a message */

/* Creates an empty dataset; NULL with a message without memory. */
aclmdlDataset *sim_dataset_create(void);
/* Destroys an opened dataset and its descriptions, and unlocks it. */
void sim_dataset_destroy(struct sim_dataset *dataset);

/* Appends a buffer, which stays the program's. Fails with 200000. */
aclError sim_dataset_add(struct sim_dataset *dataset, aclDataBuffer *buffer);

/* Stores a copy of the description at the index; NULL removes the stored one. Fails with 100000 or 200000. */
aclError sim_dataset_describe(struct sim_dataset *dataset, size_t index, const aclTensorDesc *desc);

/* The same, but the dataset takes over the description itself. */
aclError sim_dataset_adopt(struct sim_dataset *dataset, size_t index, aclTensorDesc *desc);

/* Stores the gear that a program chose for executions of a model with this dataset. Fails with 100000. */
aclError sim_dataset_choose_gear(aclmdlDataset *handle, uint32_t model, int64_t gear);

/* Finds the memory of the buffer at the index. Fails with 100000, also if the buffer has no memory. */
aclError sim_dataset_memory(aclmdlDataset *handle, size_t index, void **address, size_t *size);

void sim_dataset_reset(void);
void sim_dataset_after_fork(void);

#endif
