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

/* Opens a bundle and keeps a copy of the bytes. `variables` is memory for the variable weights; NULL: it is
 * allocated. */
aclError sim_model_bundle_open(struct sim_bytes bytes, void *variables, uint64_t size, uint32_t *id);
/* Unloads all models of the bundle and closes it. This and the functions below fail with 148053 for an unknown id. */
aclError sim_model_bundle_close(uint32_t id);
/* The number of models, loaded or not. */
aclError sim_model_bundle_count(uint32_t id, size_t *count);
/* The id of a loaded model. Fails with 100000 if the index is out of range, or 200001 if the model is not loaded. */
aclError sim_model_bundle_model(uint32_t id, size_t index, uint32_t *model);
/* Loads a model that is not loaded yet. `load` holds all options of the load except the bytes. */
aclError sim_model_bundle_load(uint32_t id, size_t index, struct sim_load load, uint32_t *model);
aclError sim_model_bundle_unload(uint32_t id, uint32_t model);

/* The result of a query of a bundle file that need not be open. */
struct sim_bundle_answer {
    struct sim_object an_object;
    uint32_t an_count; /* models; 0 before the query */
    uint64_t an_variables;
    uint64_t an_sizes[SIM_BUNDLE_PARTS][2]; /* work, constant weights */
};
struct sim_bundle_answer *sim_model_bundle_answer_open(const aclmdlBundleQueryInfo *handle);
aclmdlBundleQueryInfo *sim_model_bundle_answer_create(void);
void sim_model_bundle_answer_destroy(struct sim_bundle_answer *answer);
/* Fills the result from the bytes of a bundle. */
aclError sim_model_bundle_ask(struct sim_bundle_answer *answer, struct sim_bytes bytes);

void sim_model_bundle_reset(void);
void sim_model_bundle_after_fork(void);

#endif
