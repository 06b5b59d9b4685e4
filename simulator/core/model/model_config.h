/* Options of loads and executions, which programs collect behind a handle before the call. */
#ifndef SIM_MODEL_CONFIG_H
#define SIM_MODEL_CONFIG_H

#include "model.h"

/* The two kinds of handles have different attributes. */
enum sim_options_kind { SIM_LOAD_OPTIONS, SIM_RUN_OPTIONS, SIM_OPTIONS_KINDS };

#define SIM_OPTIONS_MAX (ACL_NPU_PERF_MODE + 1)

/* Values by attribute; pointers are stored as numbers. Paths are copied. */
struct sim_options {
    struct sim_object op_object;
    uint64_t op_values[SIM_OPTIONS_MAX];
    uint64_t op_set; /* one bit per attribute that was set */
    char *op_path, *op_weight_path;
};

/* Finds the live object and locks it; NULL with a message (100000) for any other handle. */
struct sim_options *sim_model_options_open(enum sim_options_kind kind, const void *handle);

/* Creates an object without options; NULL with a message without memory. */
void *sim_model_options_create(enum sim_options_kind kind);
void sim_model_options_destroy(enum sim_options_kind kind, struct sim_options *options);

/* Sets one option. Fails with 100000 for an unknown attribute, a wrong size or an invalid value, and with 200006 for an
 * attribute that the simulator cannot honour. */
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
    int32_t rs_timeout; /* milliseconds to wait for an execution on a stream; -1: without limit */
    const void *rs_work;
    uint64_t rs_work_size;
};
struct sim_run_setting sim_model_options_run(const struct sim_options *options);
/* Checks that the work memory is large enough for the model. Fails with 100000, 107000, 145000 or 145003. */
aclError sim_model_run_check_work(const struct sim_run_setting *setting, uint32_t model);

static inline bool sim_model_options_has(const struct sim_options *options, unsigned attribute)
{
    return options->op_set >> attribute & 1;
}

void sim_model_config_reset(void);
void sim_model_config_after_fork(void);

#endif
