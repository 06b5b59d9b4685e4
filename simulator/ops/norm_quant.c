/* RmsNormQuant: x, gamma, beta, scale, offset, epsilon, y. RmsNorm of the last dimension with a bias, then the integers
 * round(value * scale + offset). gamma and beta have the shape (D) or (1, D). */
#include "slices.h"
#include "walk.h"

#include <math.h>

enum { X, GAMMA, BETA, SCALE, OFFSET, EPSILON, Y };

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *x = given[X].tensors;
    const bool is_line = given[GAMMA].tensors->rank == 2;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[X], SIM_TYPE(ACL_FLOAT16) | SIM_TYPE(ACL_BF16)));
    SIM_TRY(sim_require_rank(&given[X], 1, SIM_RANK));
    for (size_t i = X; i <= OFFSET; i++)
        SIM_ARGUMENT(sim_walk_count(given[i].tensors) != 0, ACLNN_ERR_PARAM_INVALID,
                     "%s has no elements, expected 1 or more", given[i].name);
    const int64_t line[] = {1, x->dims[x->rank - 1]}, one[] = {1};
    for (size_t i = GAMMA; i <= BETA; i++) {
        SIM_TRY(sim_require_same_type(&given[i], x->type, "x"));
        SIM_TRY(sim_require_shape(&given[i], is_line ? line : line + 1, is_line ? 2 : 1,
                                  i == GAMMA ? "the last dimension of x" : "that of gamma"));
    }
    SIM_TRY(sim_require_same_type(&given[SCALE], x->type, "x"));
    SIM_TRY(sim_require_shape(&given[SCALE], one, 1, "one number"));
    SIM_TRY(sim_require_type(&given[OFFSET], SIM_TYPE(ACL_INT8)));
    SIM_TRY(sim_require_shape(&given[OFFSET], one, 1, "that of scale"));
    SIM_TRY(sim_require_type(&given[Y], SIM_TYPE(ACL_INT8)));
    return sim_require_shape(&given[Y], x->dims, x->rank, "that of x");
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct sim_slices slices = sim_slices_of_rows(given[X].tensors, given[X].tensors->rank - 1);
    double *values, *gamma, *beta, *scale, *offset, *means, *rstds;
    SIM_TRY(sim_lists_load(lists, &given[X], &values));
    SIM_TRY(sim_lists_load(lists, &given[GAMMA], &gamma));
    SIM_TRY(sim_lists_load(lists, &given[BETA], &beta));
    SIM_TRY(sim_lists_load(lists, &given[SCALE], &scale));
    SIM_TRY(sim_lists_load(lists, &given[OFFSET], &offset));
    SIM_TRY(sim_lists_take(lists, slices.sl_count, &means)); /* zeros: the mean square is used */
    SIM_TRY(sim_lists_take(lists, slices.sl_count, &rstds));
    sim_slices_variances(&slices, values, means, rstds);
    sim_slices_invert(rstds, slices.sl_count, given[EPSILON].number);
    sim_slices_normalize(&slices, values, means, rstds, gamma, beta);
    for (size_t i = 0; i < slices.sl_count * slices.sl_channels; i++)
        values[i] = rint(values[i] * scale[0] + offset[0]);
    sim_lists_store(&given[Y], values);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnRmsNormQuant = {plan, sim_lists_run, (void *)&kind, false};
