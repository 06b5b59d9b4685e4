/* Dump: what models and operators read and write, to files or to a function of the program. */
#ifndef SIM_DUMP_H
#define SIM_DUMP_H

#include "base/json.h"
#include "base/watcher.h"
#include "engine/watch.h"
#include <aclnn/acl_meta.h>
#include <acl/acl_sim.h>

#define SIM_DUMP_STEPS 100

/* The statistics that can be dumped, as bits; dump_stats in a file names them. */
enum sim_dump_statistic {
    SIM_DUMP_MAX = 1,
    SIM_DUMP_MIN = 2,
    SIM_DUMP_AVERAGE = 4,
    SIM_DUMP_NAN = 8,
    SIM_DUMP_NEGATIVE_INF = 16,
    SIM_DUMP_POSITIVE_INF = 32,
    SIM_DUMP_NORM = 64,
    SIM_DUMP_STATISTICS = 127,
};
#define SIM_DUMP_PATH 3072 /* size of the path of a directory, so that files below it fit */

#define SIM_DUMP_FILE 768 /* size of the file name of acldumpSaveExceptionInfo, with directories */
#define SIM_DUMP_EXCEPTIONS "extra-info/data-dump" /* below the configured directory */

/* What is dumped. Its users are counted: being in force is one, and each model that was loaded under it another. */
struct sim_dump_plan {
    _Atomic uint32_t dp_users;
    uint32_t dp_epoch;        /* when dumping has ended since, nothing is written (sim_dump_is_over) */
    const char *dp_path;      /* lives as long as the process; NULL: only through the program's function */
    char dp_time[16];         /* when it came into force; names a directory */
    unsigned dp_directions;   /* aclsimDirection bits */
    bool dp_models, dp_operators, dp_overflow;
    unsigned dp_statistics;   /* 0: the elements themselves */
    acldumpType dp_failures;  /* 0: failed operators are not dumped */
    char **dp_names;          /* of models, ended by NULL; NULL: every model */
    uint32_t dp_step_count;   /* 0: every step */
    uint64_t dp_steps[SIM_DUMP_STEPS][2];
};

/* ---- the state (dump.c) ---- */

/* aclmdlInitDump: returns 100001 before aclInit, 100002 if it was called before, 100044 if aclInit's file has a
 * dump. */
aclError sim_dump_init(void);
/* aclmdlFinalizeDump: returns 100001 before aclInit, and 100045 before aclmdlInitDump. */
aclError sim_dump_finalize(void);
/* aclmdlSetDump: puts the plan of a file in force. Returns 100001, 100045, 100000, 100003, 100006, 100009 or 200006. */
aclError sim_dump_set(const char *path);

/* Applies the "dump" object of aclInit's file, until aclFinalize. Returns 100009 or 200006. */
aclError sim_dump_command(struct sim_json object);
void sim_dump_command_end(void);

typedef int32_t (*sim_dump_function)(const acldumpChunk *chunk, int32_t size);
void sim_dump_give_to(sim_dump_function function); /* NULL: to files */
sim_dump_function sim_dump_receiver(void);

const char *sim_dump_path(acldumpType type); /* NULL: not configured */
/* Writes the directory for dumps of failures on the current device, or in an exception callback on the device that
 * failed. It ends in "/". Returns 500001 if none is configured, 100000 if `size` is too small, or 107002. */
aclError sim_dump_exception_path(char *path, size_t size);

/* aclopStartDumpArgs: writes a file for each operator with its shapes into this directory; NULL ends it. Returns
 * 100003. */
aclError sim_dump_arguments(const char *path);
bool sim_dump_arguments_path(char path[SIM_DUMP_PATH]); /* false if none is configured */

/* The plan in force, with one more user, or NULL if there is none. */
struct sim_dump_plan *sim_dump_share(void);
void sim_dump_drop(struct sim_dump_plan *plan); /* does nothing for NULL */
/* Whether aclmdlFinalizeDump or aclFinalize was called after the plan came into force. */
bool sim_dump_is_over(const struct sim_dump_plan *plan);

void sim_dump_reset(void);
void sim_dump_after_fork(void);

/* Reads the "dump" object of a file (dump_plan.c). Messages name `argument`. */
aclError sim_dump_read(struct sim_json object, const char *argument, struct sim_dump_plan *plan);

/* ---- what is written (dump_write.c) ---- */

/* The plan for a model that is being loaded, or NULL if it is not dumped. */
struct sim_dump_plan *sim_dump_of_model(const char *name);
/* Dumps the inputs (ACLSIM_IN) before an execution, or the outputs (ACLSIM_OUT) after it. */
void sim_dump_model(const struct sim_dump_plan *plan, const struct sim_run *run, const aclsimModelRun *order,
                    uint64_t step, aclsimDirection direction);

/* A watcher that dumps what operators read and write. */
extern const struct sim_watcher sim_dump_data;
/* Dumps the same of an operator that fails, if the plan in force asks for it. A watcher would slow down all tasks of a
 * program that configures it, as PyTorch's backend does. */
sim_failure_func sim_dump_failure;

/* Tensors that the program names: inputs, then outputs. */
struct sim_dump_names {
    const char *dn_type, *dn_name;
    const aclsimTensor *dn_tensors;
    uint32_t dn_inputs, dn_count;
};
void sim_dump_named(const struct sim_run *run, const struct sim_dump_names *names);

/* Writes bytes below a directory, which is created: to a file, or to the program's function. Returns false if that
 * fails. */
bool sim_dump_deliver(const char *directory, const char *name, const void *data, size_t size);

/* Makes a name usable in a file name: without separators, cut to 63 bytes. */
void sim_dump_clean(const char *name, char target[64]);

/* A tensor as the contents of a NumPy file, allocated with malloc; NULL if memory runs out. */
void *sim_dump_array(const aclsimTensor *tensor, size_t *size);

/* A tensor's statistics as lines of comma-separated values (dump_stats.c), allocated with malloc; NULL if memory
 * runs out. */
char *sim_dump_statistics(const aclsimTensor *tensor, unsigned wanted, size_t *size);

/* Calls the function with the address of each element, in order. Elements have `width` bytes. */
void sim_dump_each(const aclsimTensor *tensor, size_t width, void (*function)(const char *element, void *user),
                   void *user);

/* ---- tensors that the program names (dump_tensor.c) ---- */

/* aclDumpOpTensors: returns 161001, 161002 or 361001. */
struct sim_dump_tensors {
    const char *dt_type, *dt_name;
    aclTensor *const *dt_tensors;
    size_t dt_inputs, dt_count;
};
aclnnStatus sim_dump_tensors(const struct sim_dump_tensors *tensors, aclrtStream stream, void *site);

/* acldumpSaveExceptionInfo: returns 100000, 100003, 107002, 207000 or 500001. `file` is relative to the directory of
 * failures, `tag` may be NULL. */
aclError sim_dump_exception(const char *file, const char *tag, const acldumpTensorInfo *tensors, size_t count);

/* ---- graphs of one operator (dump_graph.c) ---- */

struct sim_dump_graph {
    const char *dg_type, *dg_path;
    const aclTensorDesc *const *dg_descs[2]; /* inputs, outputs */
    int dg_counts[2];
    const aclopAttr *dg_attr; /* NULL: no attributes */
};
aclGraphDumpOption *sim_dump_graph_create(void);
aclError sim_dump_graph_destroy(const aclGraphDumpOption *option);
/* Returns 100000 unless the option is live. */
aclError sim_dump_graph_check(const aclGraphDumpOption *option);
/* Writes the graph of one operator to a file. Returns 100000 or 100003. */
aclError sim_dump_graph_write(const struct sim_dump_graph *graph);
void sim_dump_graph_reset(void);
void sim_dump_graph_after_fork(void);

#endif
