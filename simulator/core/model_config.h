/* How to load a model and how to run one: options that programs collect behind a handle before the call. */
#ifndef SIM_MODEL_CONFIG_H
#define SIM_MODEL_CONFIG_H

#include "model.h"

#define SIM_LOAD_OPTIONS (ACL_NPU_PERF_MODE + 1)
#define SIM_RUN_OPTIONS (ACL_MDL_NPU_PERF_MODE + 1)

/* Values by attribute: numbers as they are, pointers as numbers. A path is a copy of its own. */
struct sim_options {
    struct sim_object op_object;
    uint64_t op_values[SIM_LOAD_OPTIONS];
    uint64_t op_set; /* a bit an attribute */
    char *op_path, *op_weight_path;
};

/* The live object, locked; NULL for any other handle, with a message (100000). */
struct sim_options *sim_load_options_open(const aclmdlConfigHandle *handle);
struct sim_options *sim_run_options_open(const aclmdlExecConfigHandle *handle);

/* NULL with a message when there is no memory. */
aclmdlConfigHandle *sim_load_options_create(void);
aclmdlExecConfigHandle *sim_run_options_create(void);
void sim_load_options_destroy(struct sim_options *options);
void sim_run_options_destroy(struct sim_options *options);

/* 100000: an unknown attribute, a size other than that of its type, or a value that it cannot have. */
aclError sim_load_options_set(struct sim_options *options, aclmdlConfigAttr attribute, const void *value, size_t size);
aclError sim_run_options_set(struct sim_options *options, aclmdlExecConfigAttr attribute, const void *value,
                             size_t size);

/* What the options say a load needs: 100000 when something is left out. *is_file: from the path, which is copied. */
aclError sim_load_options_read(const struct sim_options *options, struct sim_load *load, char **path, bool *queues);

/* The memory alone that the options give. */
struct sim_load sim_load_options_memory(const struct sim_options *options);

static inline bool sim_options_has(const struct sim_options *options, unsigned attribute)
{
    return options->op_set >> attribute & 1;
}

void sim_model_config_reset(void);
void sim_model_config_after_fork(void);

#endif
