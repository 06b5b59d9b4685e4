/* How to load a model and how to run one: options that programs collect behind a handle before the call. */
#ifndef SIM_MODEL_CONFIG_H
#define SIM_MODEL_CONFIG_H

#include "model.h"

/* The two kinds of handles differ in the attributes that they have. */
enum sim_options_kind { SIM_LOAD_OPTIONS, SIM_RUN_OPTIONS, SIM_OPTIONS_KINDS };

#define SIM_OPTIONS_MAX (ACL_NPU_PERF_MODE + 1)

/* Values by attribute: numbers as they are, pointers as numbers. A path is a copy of its own. */
struct sim_options {
    struct sim_object op_object;
    uint64_t op_values[SIM_OPTIONS_MAX];
    uint64_t op_set; /* a bit an attribute */
    char *op_path, *op_weight_path;
};

/* The live object, locked; NULL for any other handle, with a message (100000). */
struct sim_options *sim_model_options_open(enum sim_options_kind kind, const void *handle);

/* NULL with a message when there is no memory. */
void *sim_model_options_create(enum sim_options_kind kind);
void sim_model_options_destroy(enum sim_options_kind kind, struct sim_options *options);

/* 100000: an unknown attribute, a size other than that of its type, or a value that it cannot have. 200006: one that no
 * run of the simulator can honour. */
aclError sim_model_options_set(enum sim_options_kind kind, struct sim_options *options, unsigned attribute,
                               const void *value, size_t size);

/* Reads the arguments of a load from the options. Returns 100000 if an option is missing and 145008 if a queue id is
 * unknown. The path is copied; the load points to `queues` if the options name queues. */
aclError sim_model_options_read(const struct sim_options *options, struct sim_load *load,
                                struct sim_load_queues *queues, char **path);

/* Reads only the memory addresses and sizes from the options. */
struct sim_load sim_model_options_memory(const struct sim_options *options);

/* The options of an execution. */
struct sim_run_setting {
    int32_t rs_timeout; /* how long a run on a stream is waited for, in milliseconds; -1: as long as it takes */
    const void *rs_work;
    uint64_t rs_work_size;
};
struct sim_run_setting sim_model_options_run(const struct sim_options *options);
/* Whether a run of the model can have that work memory. 100000, 107000, 145000, 145003. */
aclError sim_model_run_check_work(const struct sim_run_setting *setting, uint32_t model);

static inline bool sim_model_options_has(const struct sim_options *options, unsigned attribute)
{
    return options->op_set >> attribute & 1;
}

void sim_model_config_reset(void);
void sim_model_config_after_fork(void);

#endif
