/* Bundles: files of several models, which are loaded together or one by one and share variable weights. */
#ifndef SIM_MODEL_BUNDLE_H
#define SIM_MODEL_BUNDLE_H

#include "model.h"

#define SIM_BUNDLE_PARTS 256

struct sim_bundle_file {
    struct sim_bytes bf_models[SIM_BUNDLE_PARTS];
    uint32_t bf_count;
    uint64_t bf_variables; /* bytes of variable weights */
};

/* Opens a bundle, which keeps a copy of the bytes. `variables` is the program's memory for them, or NULL: the system's. */
aclError sim_model_bundle_open(struct sim_bytes bytes, void *variables, uint64_t size, uint32_t *id);
/* Unloads what is loaded of it. 148053 for an unknown id, here and below. */
aclError sim_model_bundle_close(uint32_t id);
aclError sim_model_bundle_count(uint32_t id, size_t *count);
/* The id of a loaded model: 100000 out of range, 200001 not loaded. */
aclError sim_model_bundle_model(uint32_t id, size_t index, uint32_t *model);
/* Loads a model that is not loaded yet. `load` holds all options of the load except the bytes. */
aclError sim_model_bundle_load(uint32_t id, size_t index, struct sim_load load, uint32_t *model);
aclError sim_model_bundle_unload(uint32_t id, uint32_t model);

/* Answers about a bundle that is not open. */
struct sim_bundle_answer {
    struct sim_object an_object;
    uint32_t an_count; /* 0: not asked yet */
    uint64_t an_variables;
    uint64_t an_sizes[SIM_BUNDLE_PARTS][2]; /* work, constant weights */
};
struct sim_bundle_answer *sim_model_bundle_answer_open(const aclmdlBundleQueryInfo *handle);
aclmdlBundleQueryInfo *sim_model_bundle_answer_create(void);
void sim_model_bundle_answer_destroy(struct sim_bundle_answer *answer);
aclError sim_model_bundle_ask(struct sim_bundle_answer *answer, struct sim_bytes bytes);

void sim_model_bundle_reset(void);
void sim_model_bundle_after_fork(void);

#endif
