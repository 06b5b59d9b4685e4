/* AttentionUpdate: lse, localOut, updateType, out, lseOut. Joins the results of attention over parts of the keys: each
 * part has, per row, the logarithm of the sum of its exponentials, and its result. The results are added with the
 * shares that their parts have in the whole sum. All is computed in double and rounded once. */
#include "slices.h"

#include <inttypes.h>
#include <math.h>

enum { LSE, PARTS, TYPE, OUT, LSE_OUT };
#define MOST_PARTS 16

static aclnnStatus check_list(const aclsimArgument *list, uint64_t types, const int64_t *dims, uint32_t rank)
{
    for (uint64_t i = 0; i < list->count; i++) {
        char name[SIM_NAME_BYTES];
        const aclsimArgument member = sim_require_member(list, i, name);
        SIM_TRY(sim_require_type(&member, types));
        SIM_TRY(sim_require_shape(&member, dims, rank, "that of the others"));
    }
    return ACL_SUCCESS;
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *parts = &given[PARTS], *out = &given[OUT];
    const aclsimTensor *result = out->tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_type(out, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(out, 2, 2));
    SIM_ARGUMENT(given[LSE].count >= 1 && given[LSE].count <= MOST_PARTS, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRIu64 " tensors, expected 1 to %d", given[LSE].name, given[LSE].count, MOST_PARTS);
    SIM_ARGUMENT(parts->count == given[LSE].count, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRIu64 " tensors, expected %" PRIu64 ", as many as %s", parts->name, parts->count,
                 given[LSE].count, given[LSE].name);
    SIM_TRY(check_list(&given[LSE], SIM_TYPE(ACL_FLOAT), result->dims, 1));
    SIM_TRY(check_list(parts, SIM_TYPE(result->type), result->dims, 2));
    SIM_ARGUMENT(given[TYPE].integer == 0 || given[TYPE].integer == 1, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected 0 or 1", given[TYPE].name, given[TYPE].integer);
    SIM_TRY(sim_require_present(&given[LSE_OUT], given[TYPE].integer == 1));
    if (given[LSE_OUT].present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(&given[LSE_OUT], SIM_TYPE(ACL_FLOAT)));
    return sim_require_shape(&given[LSE_OUT], result->dims, 1, "one number per row");
}

/* Loads a member of a list. The list of the call is freed by the caller. */
static aclError load_member(const aclsimArgument *list, uint64_t place, struct sim_lists *lists, double **numbers)
{
    aclsimArgument member = *list;
    member.kind = ACLSIM_TENSOR;
    member.tensors = &list->tensors[place];
    return sim_lists_load(lists, &member, numbers);
}

/* Adds the result of one part. */
static aclError add_part(const aclsimCall *call, uint64_t place, const double *whole, double *results)
{
    const aclsimTensor *out = call->arguments[OUT].tensors;
    const size_t rows = (size_t)out->dims[0], columns = (size_t)out->dims[1];
    struct sim_lists lists = {.ls_count = 0};
    double *lse, *part;
    aclError code = load_member(&call->arguments[LSE], place, &lists, &lse);
    if (code == ACL_SUCCESS)
        code = load_member(&call->arguments[PARTS], place, &lists, &part);
    for (size_t i = 0; i < rows && code == ACL_SUCCESS; i++) {
        const double share = exp(lse[i] - whole[i]);
        for (size_t k = 0; k < columns; k++)
            results[i * columns + k] += share * part[i * columns + k];
    }
    sim_lists_free(&lists);
    return code;
}

/* Computes the logarithm of the whole sum of each row. */
static aclError join_sums(const aclsimArgument *list, size_t rows, struct sim_lists *lists, double *whole)
{
    double *lse[MOST_PARTS];
    for (uint64_t i = 0; i < list->count; i++)
        SIM_TRY(load_member(list, i, lists, &lse[i]));
    for (size_t row = 0; row < rows; row++) {
        double most = -INFINITY, sum = 0;
        for (uint64_t i = 0; i < list->count; i++)
            most = fmax(most, lse[i][row]);
        for (uint64_t i = 0; i < list->count; i++)
            sum += exp(lse[i][row] - most);
        whole[row] = most + log(sum);
    }
    return ACL_SUCCESS;
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t rows = (size_t)given[OUT].tensors->dims[0], columns = (size_t)given[OUT].tensors->dims[1];
    double *whole, *results;
    if (rows == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_take(lists, rows, &whole));
    SIM_TRY(sim_lists_take(lists, rows * columns, &results));
    SIM_TRY(join_sums(&given[LSE], rows, lists, whole));
    for (uint64_t i = 0; i < given[PARTS].count; i++)
        SIM_TRY(add_part(call, i, whole, results));
    sim_lists_store(&given[OUT], results);
    sim_lists_store(&given[LSE_OUT], whole);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnAttentionUpdate = {plan, sim_lists_run, (void *)&kind, false};
