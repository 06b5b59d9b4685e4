/* Types of single operators without a schema for which the user registered a kernel. They exist until aclsimReset,
 * because tasks and packed calls refer to their schemas. The lock, a leaf, guards their list. */
#include "op_type.h"

#include <stdlib.h>

static const struct sim_parameter parameters[] = {
    [SIM_USER_INPUTS] = {"inputs", ACLSIM_TENSOR_LIST, ACLSIM_IN, false},
    [SIM_USER_OUTPUTS] = {"outputs", ACLSIM_TENSOR_LIST, ACLSIM_OUT, false},
    [SIM_USER_ATTRIBUTES] = {"attributes", ACLSIM_TEXT, 0, false},
};

struct user_type {
    struct user_type *ut_next;
    struct sim_row ut_row;
    char ut_name[];
};

static struct sim_lock lock; /* guards the list; a leaf */
static struct user_type *types;

/* The lock is held. */
static struct user_type *find(const char *name)
{
    struct user_type *type = types;
    while (type != NULL && strcmp(type->ut_name, name) != 0)
        type = type->ut_next;
    return type;
}

static struct user_type *make(const char *name)
{
    struct user_type *type = calloc(1, sizeof *type + strlen(name) + 1);
    if (type == NULL)
        return NULL;
    strcpy(type->ut_name, name);
    type->ut_row = (struct sim_row)SIM_ROW(type->ut_name, SIM_TASK_VECTOR, parameters, NULL);
    type->ut_row.ro_op.op_save = NULL; /* the program that loads the file may not have the kernel */
    return type;
}

aclError sim_op_register(const char *name, struct sim_kernel kernel)
{
    sim_lock(&lock);
    struct user_type *type = find(name);
    if (type == NULL && kernel.kn_run != NULL) {
        type = make(name);
        if (type != NULL) {
            type->ut_next = types;
            types = type;
        }
    }
    sim_unlock(&lock);
    SIM_ARGUMENT(type != NULL || kernel.kn_run == NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for type %s", name);
    if (type != NULL)
        sim_row_register(&type->ut_row, kernel);
    return ACL_SUCCESS;
}

struct sim_row *sim_op_user_row(const char *name)
{
    sim_lock(&lock);
    struct user_type *type = find(name);
    sim_unlock(&lock);
    return type != NULL && sim_row_has_kernel(&type->ut_row) ? &type->ut_row : NULL;
}

void sim_op_user_reset(void)
{
    while (types != NULL) {
        struct user_type *type = types;
        types = type->ut_next;
        free(type);
    }
}

void sim_op_user_after_fork(void)
{
    sim_lock_renew(&lock);
    types = NULL;
}
