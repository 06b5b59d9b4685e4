/* Loaded models, their executors and their executions. Ids are never reused in a process. */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include "base/object.h"
#include "engine/engine.h"
#include "model_file.h"
#include <acl/acl_sim.h>

/* What executes a model: nothing, a registered function, or a built-in executor of the simulator. A built-in executor
 * receives the task that runs it (NULL: none); if it fails, its reason becomes part of the message. */
struct sim_model_executor {
    aclsimModelFunc me_run;
    void *me_user;
    aclError (*me_own)(void *state, struct sim_run *run, const aclsimModelRun *order, char reason[SIM_REASON_BYTES]);
    void *me_state;
    void (*me_close)(void *state);
    bool me_tells; /* it reports each of its steps to subscriptions itself */
    bool me_for_kind; /* me_run is also called to open and to close a model, with its weights */
};

/* Observers of model executions: dumps and profiling subscriptions. */
struct sim_model_observer {
    /* How a model that is loaded now is dumped; NULL: it is not. */
    struct sim_dump_plan *(*ov_dump_open)(const char *name);
    void (*ov_dump_drop)(struct sim_dump_plan *plan); /* NULL is nothing */
    /* The inputs (ACLSIM_IN), before a run, or the outputs (ACLSIM_OUT), after it. */
    void (*ov_dump)(const struct sim_dump_plan *plan, const struct sim_run *run, const aclsimModelRun *order,
                    uint64_t step, aclsimDirection direction);
    /* True when a subscription wants records of this model's operators, which ov_tell then takes. */
    bool (*ov_is_subscribed)(uint32_t model);
    void (*ov_tell)(uint32_t model, const char *type, const char *name, uint64_t start, uint64_t end);
};

/* Set by simulator.c before any call. */
extern const struct sim_model_observer *sim_model_observer;

struct sim_model {
    uint32_t mo_id;
    uint32_t mo_bundle; /* 0: none */
    struct sim_feeder *_Atomic mo_feeder; /* who runs it when queues feed it (model_queue.c), or NULL */
    uint32_t mo_users; /* guarded by model.c's lock, as is what ids lead to */
    struct sim_signature *mo_signature;
    struct sim_model_executor mo_executor;
    struct sim_bytes mo_content; /* a copy of the constant block, for executors that came with the file */
    void *mo_work, *mo_weights;     /* device memory of the system's; NULL: the program's, or none */
    _Atomic uint32_t mo_priority;   /* as the program set it: runs are as fast with any */
    _Atomic int64_t mo_gear;        /* chosen last; SIM_EVERY_GEAR: none */
    struct sim_lock mo_lock;        /* guards the records */
    struct sim_dump_plan *mo_dump;  /* NULL: its runs are not dumped */
    _Atomic uint64_t mo_runs;       /* dumped or left out so far */
    sim_record *mo_records;         /* its newest run on each stream */
    uint32_t mo_record_count, mo_record_room;
};

/* The queues that feed a model, and those that it feeds. */
struct sim_load_queues {
    const uint32_t *lq_inputs, *lq_outputs; /* the program's, read by the load */
    size_t lq_input_count, lq_output_count;
};

/* What is to be loaded. */
struct sim_load {
    struct sim_bytes lo_model;
    const char *lo_path; /* NULL: from memory */
    void *lo_work, *lo_weights; /* the program's memory; NULL: the system's */
    uint64_t lo_work_size, lo_weight_size;
    bool lo_without_graph;
    uint32_t lo_priority;
    uint32_t lo_bundle; /* whose model it is; 0: nobody's */
    const struct sim_load_queues *lo_queues; /* NULL: the program runs it */
};

static inline struct sim_load sim_load_with_memory(void *work, uint64_t work_size, void *weights, uint64_t weight_size)
{
    return (struct sim_load){
        .lo_work = work, .lo_work_size = work_size, .lo_weights = weights, .lo_weight_size = weight_size};
}

/* 145001 without aclInit, 145000, 145006, 245000, and what the runtime says. */
aclError sim_model_load(const struct sim_load *load, uint32_t *id);
/* The bytes of a file, to be freed; those that were registered for the path come first. 145002, 145006, 245000. */
aclError sim_model_read(const char *path, struct sim_bytes *bytes);
/* 145000 when the model was built for another chip. */
aclError sim_model_check_soc(const struct sim_signature *signature);
void sim_model_free_bytes(struct sim_bytes bytes);
/* Waits for its runs. 145003; 100000 for one of another bundle than that which unloads it (0: the program does). */
aclError sim_model_unload(uint32_t id, uint32_t bundle);

/* A loaded model that stays while it is used; 145003. */
aclError sim_model_open(uint32_t id, struct sim_model **model);
struct sim_model *sim_model_peek(uint32_t id); /* NULL without a message */
void sim_model_close(struct sim_model *model);
size_t sim_model_count(void); /* that are loaded */

/* model_registry.c: functions of the user, by name or path. */
aclError sim_model_register(const char *name, struct sim_bytes model, aclsimModelFunc run, void *user);
/* The same for all files of a kind. */
aclError sim_model_register_kind(const char *kind, aclsimModelFunc run, void *user);
/* True when there is one; `path` may be NULL. */
bool sim_model_find_function(const char *path, const char *name, struct sim_model_executor *found);
bool sim_model_find_kind(const char *kind, struct sim_model_executor *found);
/* Calls the user's function: its code, and what it gave as its reason, to follow a sentence ("": none). */
aclError sim_model_call(const struct sim_model_executor *executor, const aclsimModelRun *order,
                        char reason[SIM_REASON_BYTES]);
/* A copy of the registered bytes; false if no bytes are registered for the path. */
bool sim_model_find_bytes(const char *path, struct sim_bytes *copy);
void sim_model_registry_reset(void);
void sim_model_registry_after_fork(void);

/* model_operator.c: files of single operators. 100012, 100013; 145000 for another chip's; 100014 when there is no such
 * file. */
aclError sim_model_operator_check(const void *model, size_t size);
aclError sim_model_operator_check_file(const char *path);

/* model_execute.c */
aclError sim_model_execute(uint32_t id, const aclmdlDataset *inputs, aclmdlDataset *outputs, void *site);
aclError sim_model_execute_async(uint32_t id, const aclmdlDataset *inputs, aclmdlDataset *outputs, aclrtStream stream,
                                 void *site);

/* Queued on the stream and waited for: 507046 after `timeout` milliseconds, when it goes on. */
aclError sim_model_execute_on(uint32_t id, const aclmdlDataset *inputs, aclmdlDataset *outputs, aclrtStream stream,
                              int32_t timeout, void *site);

/* model_desc.c: a snapshot of a signature, valid after the model is gone. */
struct sim_model_desc {
    struct sim_object ds_object;
    struct sim_signature *ds_signature; /* NULL: empty */
    uint32_t ds_id;                     /* 0: of a file */
};
struct sim_model_desc *sim_model_desc_open(const aclmdlDesc *handle); /* locked; NULL with a message (100000) */
aclmdlDesc *sim_model_desc_create(void);
void sim_model_desc_destroy(struct sim_model_desc *desc);
/* Empties the description, then fills it: with a user of the signature, which it takes over (NULL: none). */
void sim_model_desc_fill(struct sim_model_desc *desc, struct sim_signature *signature, uint32_t id);
/* The name of a port as dimensions show it (an alias for one that is too long), and the name behind one so shown. */
void sim_model_desc_name(const struct sim_model_desc *desc, uint32_t index, bool input, char name[ACL_MAX_TENSOR_NAME_LEN]);
const char *sim_model_desc_real_name(const struct sim_model_desc *desc, const char *name);
void sim_model_desc_reset(void);
void sim_model_desc_after_fork(void);

/* model_gear.c: writes the gear into its input and remembers it. 100000, 145003, 145012, 145013. */
aclError sim_model_choose_gear(uint32_t id, aclmdlDataset *dataset, size_t index, enum sim_gears kind,
                               const uint64_t *values, uint32_t count);

/* Gives device memory back, unless its device was reset before; NULL is none. */
void sim_model_release(void *memory);

void sim_model_stop_feeders(void); /* aclsimReset: before the devices go */
void sim_model_reset(void);
void sim_model_after_fork(void);

#endif
