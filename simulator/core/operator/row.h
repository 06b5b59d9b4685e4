/* An operator schema ("row"): its name and typed parameters, from which the build makes two entry points. They call
 * functions declared here: the first phase packs the arguments into an executor, the second submits them as a task. */
#ifndef SIM_ROW_H
#define SIM_ROW_H

#include "engine/engine.h"
#include "tensor.h"
#include <acl/acl_sim.h>

struct sim_parameter {
    const char *pa_name;
    aclsimArgumentKind pa_kind;
    uint8_t pa_direction; /* for tensors: aclsimDirection bits */
    bool pa_optional;     /* may be NULL */
};

struct sim_kernel {
    aclsimPlanFunc kn_plan; /* may be NULL */
    aclsimKernelFunc kn_run;
    void *kn_user;
    bool kn_in_place; /* an output may equal an input: each element is read before it is written */
};

struct sim_row {
    struct sim_op ro_op; /* of its tasks; op_name is the operator's name */
    const struct sim_parameter *ro_parameters;
    size_t ro_count;
    const struct sim_kernel *ro_builtin; /* NULL: no built-in kernel */
    struct sim_kernel ro_registered;     /* guarded by row.c's lock; kn_run NULL: not registered */
};

#define SIM_ROW_PARAMETERS 48 /* no schema has more */
#define SIM_ROW_FITS(parameters)                                                                                       \
    _Static_assert(sizeof(parameters) <= SIM_ROW_PARAMETERS * sizeof *(parameters), "raise SIM_ROW_PARAMETERS")

#define SIM_ROW(name, kind, parameters, builtin)                                                                       \
    {.ro_op = {.op_name = name, .op_run = sim_row_run, .op_ranges = sim_row_ranges,                                   \
               .op_footprints = sim_row_footprints, .op_flags = SIM_OP_KERNEL, .op_kind = (kind),                      \
               .op_save = sim_row_save},                                                                               \
     .ro_parameters = (parameters),                                                                                    \
     .ro_count = sizeof(parameters) / sizeof *(parameters),                                                            \
     .ro_builtin = (builtin)}

/* One argument, as an entry point passes it. */
union sim_value {
    const void *va_pointer;
    int64_t va_integer;
    double va_number;
};

/* The first phase. Returns 161001 if a required pointer is NULL, 161002 if an argument does not fit, 361001 without
 * a context, 561003 without a kernel, or the code of the kernel's plan. */
aclnnStatus sim_row_plan(struct sim_row *row, const union sim_value *values, uint64_t *workspace_size,
                         aclOpExecutor **executor);

/* The second phase. Returns 161001 if the executor or a required workspace is NULL; 161002 if the workspace is too
 * small, a tensor's address is not a multiple of its element size, or outputs overlap; 561103 if the executor is used
 * up, belongs to another operator, or its arguments were destroyed; 361001 if the runtime refuses the launch. */
aclnnStatus sim_executor_launch(struct sim_row *row, void *workspace, uint64_t workspace_size, aclOpExecutor *executor,
                           aclrtStream stream, void *site);

/* For a kernel that knows the size of an output only when it has run. Its plan calls the first function. When it has
 * written the output, its run gives the aclTensor the dimensions and strides of the result, which begins where the
 * output does. This is part of the task: a thread that has synchronised the stream sees the new shape. An aclTensor
 * that was destroyed is left out. Both functions take the call that the kernel got, not a copy. Returns 200000. */
void sim_row_will_resize(const aclsimCall *call);
aclError sim_row_resize(const aclsimCall *call, size_t argument, const aclsimTensor *result);

aclError sim_row_run(struct sim_run *run, void *argument); /* run NULL: without a stream, so nothing saturates */
/* Gives the call of a task other addresses, one per range. Returns 107000 if one does not fit, and changes none
 * then. */
aclError sim_row_move(void *argument, const uint64_t *addresses);
/* Shows the arguments of a task as a kernel sees them, with room for SIM_ROW_PARAMETERS; returns their number. */
size_t sim_row_show(const void *argument, aclsimArgument *arguments);
const struct sim_range *sim_row_ranges(const void *argument, size_t *count);
void sim_row_footprints(const void *argument, sim_visit_footprint *visit, void *context);
aclError sim_row_save(const void *argument, struct sim_saver *saver); /* row_save.c */

/* ---- executors ---- */

/* Make an executor repeatable, and destroy it. */
aclnnStatus sim_executor_repeat(const aclOpExecutor *handle);
aclnnStatus sim_executor_destroy(const aclOpExecutor *handle);

/* Changes the address of the operand at `index` among the tensors and lists of these directions; for a list, of
 * member `member`, which is 0 for a plain tensor. Returns 561103 or 161002. */
aclnnStatus sim_executor_set_address(const aclOpExecutor *handle, unsigned directions, bool is_list, size_t index,
                                     size_t member, void *address);

void sim_row_reset(void); /* aclsimReset: ends executors and removes registered kernels */
void sim_row_after_fork(void);

/* ---- the table, generated by the build, sorted by name ---- */

struct sim_row_table {
    struct sim_row *const *rt_rows;
    size_t rt_count;
};

/* Set by simulator.c before any call. */
extern const struct sim_row_table *sim_row_table;

/* The operator's type as graphs name it: "Add" for aclnnAdd. */
static inline const char *sim_row_type(const struct sim_row *row)
{
    return row->ro_op.op_name + strlen("aclnn");
}

struct sim_row *sim_row_find(const char *name); /* NULL: no such operator */
bool sim_row_has_kernel(struct sim_row *row);
void sim_row_register(struct sim_row *row, struct sim_kernel kernel);

#endif
