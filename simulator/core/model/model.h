/* Loaded models, their executors and their executions. Ids are never reused in a process. */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include "base/object.h"
#include "engine/engine.h"
#include "model_file.h"
#include <acl/acl_sim.h>

/* What executes a model: a registered function (me_run), a built-in executor of the simulator (me_own), or nothing. A
 * built-in executor receives the task that runs it; if it fails, its reason becomes part of the message. */
struct sim_model_executor {
    aclsimModelFunc me_run;
    void *me_user;
    aclError (*me_own)(void *state, struct sim_run *run, const aclsimModelRun *order, char reason[SIM_REASON_BYTES]);
    void *me_state;
    void (*me_close)(void *state);
    bool me_tells; /* it reports each of its steps to subscriptions itself */
    bool me_for_kind; /* registered for a kind of file: me_run also opens and closes models, and gets their weights */
};

/* Observers of model executions: dumps and profiling subscriptions. */
struct sim_model_observer {
    /* Called by a load: returns how executions of the model will be dumped, NULL if they will not. */
    struct sim_dump_plan *(*ov_dump_open)(const char *name);
    void (*ov_dump_drop)(struct sim_dump_plan *plan); /* NULL is allowed */
    /* Dumps the inputs (ACLSIM_IN) before an execution, or the outputs (ACLSIM_OUT) after it. */
    void (*ov_dump)(const struct sim_dump_plan *plan, const struct sim_run *run, const aclsimModelRun *order,
                    uint64_t step, aclsimDirection direction);
    /* Whether a subscription wants records of this model's operators. */
    bool (*ov_is_subscribed)(uint32_t model);
    /* Records one operator for the subscription. */
    void (*ov_tell)(uint32_t model, const char *type, const char *name, uint64_t start, uint64_t end);
    /* Called before each step of a saved model, while a watcher is on: an operator's task, or (op NULL) a copy or set,
     * with the bytes that it reads and writes. */
    void (*ov_step)(const struct sim_op *op, const void *argument, uint64_t bytes);
};

/* Set by simulator.c before any call. */
extern const struct sim_model_observer *sim_model_observer;

struct sim_model {
    uint32_t mo_id;
    uint32_t mo_bundle; /* id of the bundle that it belongs to, or 0 */
    struct sim_feeder *_Atomic mo_feeder; /* the thread that executes a model between queues (model_queue.c), or NULL */
    const void *mo_site; /* of the load (base/site.h), if a watcher was on */
    uint32_t mo_users; /* guarded by the lock of model.c */
    struct sim_signature *mo_signature;
    struct sim_model_executor mo_executor;
    struct sim_bytes mo_content; /* a copy of the constant block, for executors that use it */
    void *mo_work, *mo_weights;     /* device memory that the load allocated, or NULL */
    _Atomic uint32_t mo_priority;   /* stored only: it does not affect executions */
    _Atomic int64_t mo_gear;        /* the gear chosen last; SIM_EVERY_GEAR: none was chosen */
    struct sim_lock mo_lock;        /* guards the records */
    struct sim_dump_plan *mo_dump;  /* NULL: executions are not dumped */
    _Atomic uint64_t mo_runs;       /* executions so far, if mo_dump is set */
    sim_record *mo_records;         /* its newest execution on each stream */
    uint32_t mo_record_count, mo_record_room;
};

/* The input and output queues of a model. */
struct sim_load_queues {
    const uint32_t *lq_inputs, *lq_outputs; /* the program's arrays, read during the load */
    size_t lq_input_count, lq_output_count;
};

/* The arguments of a load. */
struct sim_load {
    struct sim_bytes lo_model;
    const char *lo_path; /* NULL: from memory */
    void *lo_work, *lo_weights; /* the program's memory; NULL: the load allocates it */
    uint64_t lo_work_size, lo_weight_size;
    bool lo_without_graph;
    uint32_t lo_priority;
    uint32_t lo_bundle; /* id of the bundle that the model belongs to, or 0 */
    const struct sim_load_queues *lo_queues; /* NULL: the program executes the model itself */
};

static inline struct sim_load sim_load_with_memory(void *work, uint64_t work_size, void *weights, uint64_t weight_size)
{
    return (struct sim_load){
        .lo_work = work, .lo_work_size = work_size, .lo_weights = weights, .lo_weight_size = weight_size};
}

/* Loads a model. Fails with 145001 before aclInit, 145000, 145006, 245000, or a code of the runtime. */
aclError sim_model_load(const struct sim_load *load, uint32_t *id);
/* Reads a file, or returns the bytes registered for the path; the caller frees them. Fails with 145002, 145006,
 * 245000. */
aclError sim_model_read(const char *path, struct sim_bytes *bytes);
/* Fails with 145000 if the model was built for another chip. */
aclError sim_model_check_soc(const struct sim_signature *signature);
void sim_model_free_bytes(struct sim_bytes bytes);
/* Waits for the model's executions and unloads it. Fails with 145003, or with 100000 if `bundle` (0: the program) is
 * not the owner. */
aclError sim_model_unload(uint32_t id, uint32_t bundle);

/* Finds a loaded model and keeps it alive until sim_model_close. Fails with 145003. */
aclError sim_model_open(uint32_t id, struct sim_model **model);
struct sim_model *sim_model_peek(uint32_t id); /* the same; NULL without a message on failure */
void sim_model_close(struct sim_model *model);
/* The number of loaded models. */
size_t sim_model_count(void);
void sim_model_each(void (*visit)(const struct sim_model *model, void *context), void *context);

/* model_registry.c: registers a function of the program that executes the model with this name or path. */
aclError sim_model_register(const char *name, struct sim_bytes model, aclsimModelFunc run, void *user);
/* The same for all files of a kind. */
aclError sim_model_register_kind(const char *kind, aclsimModelFunc run, void *user);
/* Finds the function registered for a model; false without one. `path` may be NULL. */
bool sim_model_find_function(const char *path, const char *name, struct sim_model_executor *found);
bool sim_model_find_kind(const char *kind, struct sim_model_executor *found);
/* Calls the registered function and returns its code. Writes the reason that it reported, as the end of a sentence, or
 * "". */
aclError sim_model_call(const struct sim_model_executor *executor, const aclsimModelRun *order,
                        char reason[SIM_REASON_BYTES]);
/* Copies the registered bytes; false if no bytes are registered for the path. */
bool sim_model_find_bytes(const char *path, struct sim_bytes *copy);
void sim_model_registry_reset(void);
void sim_model_registry_after_fork(void);

/* model_operator.c: checks a file of a single operator. Fails with 100012, 100013, or 145000 if it was built for
 * another chip; 100014 if the file cannot be read. */
aclError sim_model_operator_check(const void *model, size_t size);
aclError sim_model_operator_check_file(const char *path);

/* model_execute.c: executes a model and waits for it, or queues an execution on a stream. */
aclError sim_model_execute(uint32_t id, const aclmdlDataset *inputs, aclmdlDataset *outputs, void *site);
aclError sim_model_execute_async(uint32_t id, const aclmdlDataset *inputs, aclmdlDataset *outputs, aclrtStream stream,
                                 void *site);

/* Queues an execution on the stream and waits for it. After `timeout` milliseconds it fails with 507046, and the
 * execution continues. */
aclError sim_model_execute_on(uint32_t id, const aclmdlDataset *inputs, aclmdlDataset *outputs, aclrtStream stream,
                              int32_t timeout, void *site);

/* model_desc.c: a snapshot of a signature, valid after the model is gone. */
struct sim_model_desc {
    struct sim_object ds_object;
    struct sim_signature *ds_signature; /* NULL: empty */
    uint32_t ds_id;                     /* of the model; 0: read from a file */
};
/* Finds the live description and locks it; NULL with a message (100000) for any other handle. */
struct sim_model_desc *sim_model_desc_open(const aclmdlDesc *handle);
aclmdlDesc *sim_model_desc_create(void);
void sim_model_desc_destroy(struct sim_model_desc *desc);
/* Replaces the content: takes over one user of the signature (NULL: empties the description). */
void sim_model_desc_fill(struct sim_model_desc *desc, struct sim_signature *signature, uint32_t id);
/* The name of a port as programs see it (an alias for a name that is too long), and the real name for such a name. */
void sim_model_desc_name(const struct sim_model_desc *desc, uint32_t index, bool input,
                         char name[ACL_MAX_TENSOR_NAME_LEN]);
const char *sim_model_desc_real_name(const struct sim_model_desc *desc, const char *name);
void sim_model_desc_reset(void);
void sim_model_desc_after_fork(void);

/* model_gear.c: writes the gear into its input and stores it. Fails with 100000, 145003, 145012 or 145013. */
aclError sim_model_choose_gear(uint32_t id, aclmdlDataset *dataset, size_t index, enum sim_gears kind,
                               const uint64_t *values, uint32_t count);

/* Frees device memory, unless its device was reset before; NULL is allowed. */
void sim_model_release(void *memory);

void sim_model_stop_feeders(void); /* aclsimReset: before the devices are reset */
void sim_model_reset(void);
void sim_model_after_fork(void);

#endif
