/* An operator is a row: its name and its typed parameters, from which the build makes two entry points. What they call
 * is here: the first phase packs the arguments into an executor, the second one submits them as a task. */
#ifndef SIM_ROW_H
#define SIM_ROW_H

#include "engine/engine.h"
#include "tensor.h"
#include <acl/acl_sim.h>

struct sim_parameter {
    const char *pa_name;
    aclsimArgumentKind pa_kind;
    uint8_t pa_direction; /* of tensors: aclsimDirection bits */
    bool pa_optional;     /* may be NULL */
};

struct sim_kernel {
    aclsimPlanFunc kn_plan; /* may be NULL */
    aclsimKernelFunc kn_run;
    void *kn_user;
    bool kn_in_place; /* an output may be one of the inputs: each element is read before it is written */
};

struct sim_row {
    struct sim_op ro_op; /* of its tasks; op_name is the operator's name */
    const struct sim_parameter *ro_parameters;
    size_t ro_count;
    const struct sim_kernel *ro_builtin; /* NULL: none */
    struct sim_kernel ro_registered;     /* guarded by row.c's lock; kn_run NULL: none */
};

#define SIM_ROW_PARAMETERS 48 /* no row has more */
#define SIM_ROW_FITS(parameters)                                                                                       \
    _Static_assert(sizeof(parameters) <= SIM_ROW_PARAMETERS * sizeof *(parameters), "raise SIM_ROW_PARAMETERS")

#define SIM_ROW(name, kind, parameters, builtin)                                                                             \
    {.ro_op = {.op_name = name, .op_run = sim_row_run, .op_ranges = sim_row_ranges, .op_flags = SIM_OP_KERNEL,         \
               .op_kind = (kind), .op_save = sim_row_save},                                                            \
     .ro_parameters = (parameters),                                                                                    \
     .ro_count = sizeof(parameters) / sizeof *(parameters),                                                            \
     .ro_builtin = (builtin)}

/* One argument as an entry point passes it on. */
union sim_value {
    const void *va_pointer;
    int64_t va_integer;
    double va_number;
};

/* The first phase. 161001 a required pointer is NULL; 161002 an argument does not fit; 361001 no current context;
 * 561003 no kernel; else what the kernel's plan answers. */
aclnnStatus sim_row_plan(struct sim_row *row, const union sim_value *values, uint64_t *workspace_size,
                         aclOpExecutor **executor);

/* The second phase. Returns 161001 if the executor or a required workspace is NULL; 161002 if the workspace is too
 * small, a tensor's address is not a multiple of its element size, or outputs overlap; 561103 if the executor is used
 * up, belongs to another operator, or its arguments were destroyed; 361001 if the runtime refuses the launch. */
aclnnStatus sim_executor_launch(struct sim_row *row, void *workspace, uint64_t workspace_size, aclOpExecutor *executor,
                           aclrtStream stream, void *site);

aclError sim_row_run(struct sim_run *run, void *argument); /* NULL: of no stream, so nothing saturates */
/* Gives the call of a task other addresses, one for each of its ranges: 107000 when one does not fit, and then none is
 * changed. */
aclError sim_row_move(void *argument, const uint64_t *addresses);
/* The arguments of a task as a kernel sees them, room for SIM_ROW_PARAMETERS; how many there are. */
size_t sim_row_show(const void *argument, aclsimArgument *arguments);
const struct sim_range *sim_row_ranges(const void *argument, size_t *count);
aclError sim_row_save(const void *argument, struct sim_saver *saver); /* row_save.c */

/* ---- executors ---- */

aclnnStatus sim_executor_repeat(const aclOpExecutor *handle);
aclnnStatus sim_executor_destroy(const aclOpExecutor *handle);

/* Changes the address of the operand at `index` among the tensors and lists of these directions, and there of the
 * member `member` of a list; a plain tensor has no member but 0. 561103, 161002. */
aclnnStatus sim_executor_set_address(const aclOpExecutor *handle, unsigned directions, bool is_list, size_t index,
                                     size_t member, void *address);

void sim_row_reset(void); /* aclsimReset: executors and registered kernels are gone */
void sim_row_after_fork(void);

/* ---- the table, made by the build, ordered by name ---- */

struct sim_row_table {
    struct sim_row *const *rt_rows;
    size_t rt_count;
};

/* Set by simulator.c before any call. */
extern const struct sim_row_table *sim_row_table;

/* The operator's type, as graphs name it: "Add" of aclnnAdd. */
static inline const char *sim_row_type(const struct sim_row *row)
{
    return row->ro_op.op_name + strlen("aclnn");
}

struct sim_row *sim_row_find(const char *name); /* NULL: no such operator */
bool sim_row_has_kernel(struct sim_row *row);
void sim_row_register(struct sim_row *row, struct sim_kernel kernel);

#endif
