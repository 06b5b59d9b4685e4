/* Equal: whether two tensors have the same shape and equal elements. These are cast to their common type. */
#include "base/fail.h"
#include "operator/row.h"
#include "reduce.h"
#include "require.h"

#define COMPARED (SIM_TYPES_REAL | SIM_TYPES_UNSIGNED)

static aclnnStatus plan_equal(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *other = &call->arguments[1], *out = &call->arguments[2];
    aclDataType types[] = {self->tensors->type, other->tensors->type};
    (void)workspace_size;
    SIM_TRY(sim_require_type(self, COMPARED));
    SIM_TRY(sim_require_type(other, COMPARED));
    SIM_TRY(sim_require_type(out, SIM_TYPES_BOOL));
    SIM_ARGUMENT(sim_element_promote(types[0], types[1]) != ACL_DT_UNDEFINED, ACLNN_ERR_PARAM_INVALID,
                 "%s is %s and %s is %s, expected types with a common type", self->name, sim_element_name(types[0]),
                 other->name, sim_element_name(types[1]));
    return sim_require_one(out);
}

/* ---- the second phase ---- */

struct job {
    aclDataType jo_types[2], jo_met;
    enum sim_class jo_class;
    bool jo_equal;
};

static void load(const struct job *job, union sim_block_values *block, const char *from, aclDataType type,
                 int64_t stride, size_t count)
{
    enum sim_class carrier = sim_element_carrier(type, job->jo_met);
    union sim_block_values cast;
    sim_element_load(block, carrier, from, type, stride, count);
    sim_element_store(block, carrier, &cast, job->jo_met, 1, count);
    sim_element_load(block, job->jo_class, &cast, job->jo_met, 1, count);
}

static bool are_equal(const struct job *job, const union sim_block_values *one, const union sim_block_values *other,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (job->jo_class == SIM_CLASS_INTEGER ? one->bv_integers[i] != other->bv_integers[i]
                                               : one->bv_doubles[i] != other->bv_doubles[i])
            return false;
    return true;
}

static aclError compare_lines(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct job *job = context;
    for (int64_t done = 0; done < length && job->jo_equal; done += SIM_BLOCK) {
        size_t count = sim_element_block(done, length);
        union sim_block_values blocks[2];
        for (int i = 0; i < 2; i++)
            load(job, &blocks[i], places[i] + done * strides[i], job->jo_types[i],
                 strides[i] / (int64_t)sim_element_size(job->jo_types[i]), count);
        job->jo_equal = are_equal(job, &blocks[0], &blocks[1], count);
    }
    return ACL_SUCCESS;
}

static aclError run_equal(const aclsimCall *call)
{
    const aclsimTensor *self = call->arguments[0].tensors, *other = call->arguments[1].tensors;
    const aclsimTensor *out = call->arguments[2].tensors, *tensors[] = {self, other};
    aclDataType met = sim_element_promote(self->type, other->type);
    struct job job = {
        .jo_types = {self->type, other->type},
        .jo_met = met,
        .jo_class = sim_reduce_class(met),
        .jo_equal = sim_require_is_shape(self, other->dims, other->rank),
    };
    if (job.jo_equal)
        sim_walk_tensors(tensors, 2, compare_lines, &job);
    sim_walk_fill(out, &job.jo_equal);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnEqual = {plan_equal, run_equal, NULL, false};
