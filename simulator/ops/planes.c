/* Loading and storing images. */
#include "planes.h"

#include "base/fail.h"
#include "line.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TENSORS 5 /* no operator has more */

aclnnStatus sim_planes_check_filled(const aclsimArgument *argument, uint32_t exempt)
{
    for (uint32_t k = exempt; k < argument->tensors->rank; k++)
        SIM_ARGUMENT(argument->tensors->dims[k] != 0, ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is 0, expected 1 or more", k, argument->name);
    return ACL_SUCCESS;
}

aclError sim_planes_fail_index(const char *name, double index, int64_t size)
{
    char text[160];
    snprintf(text, sizeof text, "%.40s has the element %.0f, expected 0 to %" PRId64, name, index, size - 1);
    sim_fail_reason(text);
    return ACL_ERROR_RT_AICORE_EXCEPTION;
}

static aclError load(const aclsimArgument *argument, uint32_t directions, struct sim_planes *planes)
{
    const aclsimTensor *tensor = argument->tensors;
    const struct sim_line line = sim_line_of(tensor, 0, tensor->rank);
    uint32_t first = tensor->rank < directions ? 0 : tensor->rank - directions;
    void *memory;
    size_t length;
    SIM_TRY(sim_line_reserve(&line, SIM_CLASS_DOUBLE, 1, &memory, &length));
    *planes = (struct sim_planes){.pl_values = memory, .pl_tensor = tensor, .pl_count = 1, .pl_size = 1};
    for (uint32_t i = 0; i < SIM_DIRECTIONS; i++) {
        uint32_t missing = SIM_DIRECTIONS - (tensor->rank - first);
        planes->pl_dims[i] = i < missing ? 1 : tensor->dims[first + i - missing];
        planes->pl_size *= planes->pl_dims[i];
    }
    for (uint32_t k = 0; k < first; k++)
        planes->pl_count *= tensor->dims[k];
    if (argument->direction == ACLSIM_OUT)
        memset(memory, 0, length * sizeof(double));
    else
        sim_line_load(&line, SIM_CLASS_DOUBLE, tensor->data, memory);
    return ACL_SUCCESS;
}

static void store(const struct sim_planes *planes)
{
    const struct sim_line line = sim_line_of(planes->pl_tensor, 0, planes->pl_tensor->rank);
    sim_line_store(&line, SIM_CLASS_DOUBLE, planes->pl_values, planes->pl_tensor->data);
}

aclError sim_planes_run(const aclsimCall *call, uint32_t directions, sim_planes_func *compute)
{
    struct sim_planes planes[TENSORS] = {{0}};
    bool written[TENSORS] = {false};
    uint32_t count = 0;
    aclError ret = ACL_SUCCESS;
    for (size_t i = 0; i < call->argumentCount && ret == ACL_SUCCESS; i++) {
        const aclsimArgument *argument = &call->arguments[i];
        if (argument->kind != ACLSIM_TENSOR || !argument->present)
            continue;
        written[count] = argument->direction == ACLSIM_OUT;
        ret = load(argument, directions, &planes[count++]);
    }
    if (ret == ACL_SUCCESS)
        ret = compute(call, planes);
    for (uint32_t i = 0; i < count; i++) {
        if (ret == ACL_SUCCESS && written[i] && !planes[i].pl_unwanted)
            store(&planes[i]);
        free(planes[i].pl_values);
    }
    return ret;
}
