/* Distances of vectors, which are the rows of matrices: Cdist, CdistBackward, Pdist, PdistForward, and the single
 * operators Cdist and CdistGrad. A distance is the p-norm of the difference; with p = 0 it is the number of different
 * elements. */
#include "base/bytes.h"
#include "base/fail.h"
#include "matrices.h"
#include "operator/op.h"
#include "reduce.h"
#include "slices.h"
#include "tables.h"

#include <math.h>
#include <string.h>

static double order_of(const aclsimArgument *p)
{
    return p->kind == ACLSIM_NUMBER ? p->number : sim_reduction_option(p);
}

static aclnnStatus require_order(const aclsimArgument *p)
{
    SIM_ARGUMENT(order_of(p) >= 0, ACLNN_ERR_PARAM_INVALID, "%s is %g, expected 0 or more", p->name, order_of(p));
    return ACL_SUCCESS;
}

static double distance(const double *one, const double *other, int64_t length, double p)
{
    double sum = 0;
    for (int64_t k = 0; k < length; k++) {
        const double size = fabs(one[k] - other[k]);
        if (p == 0)
            sum += size > 0 ? 1 : size; /* which may be NaN */
        else if (p == INFINITY)
            sum = size > sum || isnan(size) ? size : sum;
        else
            sum += p == 1 ? size : p == 2 ? size * size : pow(size, p);
    }
    return p == 0 || p == 1 || p == INFINITY ? sum : p == 2 ? sqrt(sum) : pow(sum, 1 / p);
}

/* torch_npu passes -1 for infinity. */
static double torch_order(const aclsimArgument *p)
{
    return order_of(p) == -1 ? INFINITY : order_of(p);
}

/* ---- Cdist: x1, x2, p, compute_mode, out ---- */

static aclnnStatus plan_cdist(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *x1 = &call->arguments[0], *x2 = &call->arguments[1], *out = &call->arguments[4];
    const aclsimTensor *one = x1->tensors, *other = x2->tensors;
    int64_t dims[SIM_RANK];
    (void)workspace_size;
    SIM_TRY(sim_require_types(x1, x2, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_types(x1, out, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(x1, 2, SIM_RANK));
    SIM_TRY(sim_require_rank(x2, 2, SIM_RANK));
    const int64_t length = one->dims[one->rank - 1], second = other->dims[other->rank - 1];
    SIM_ARGUMENT(length == second, ACLNN_ERR_PARAM_INVALID, "%s has vectors of %lld elements, expected %lld, as %s has",
                 x2->name, (long long)second, (long long)length, x1->name);
    SIM_TRY(sim_matrices_require_batches(x1, x2, dims));
    SIM_TRY(require_order(&call->arguments[2]));
    const uint32_t rank = one->rank > other->rank ? one->rank : other->rank;
    dims[rank - 2] = one->dims[one->rank - 2];
    dims[rank - 1] = other->dims[other->rank - 2];
    return sim_require_shape(out, dims, rank, "one distance per pair of vectors");
}

/* The views are the distances, x1 and x2. */
static void measure_pairs(struct sim_matrices *job)
{
    const aclsimTensor *views = job->ma_views;
    const int64_t rows = views[0].dims[0], columns = views[0].dims[1], length = views[1].dims[1];
    const double p = order_of(&job->ma_given[2]);
    double *ones = job->ma_values, *others = ones + rows * length, *found = others + columns * length;
    sim_matrices_load(job, &views[1], ones);
    sim_matrices_load(job, &views[2], others);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            found[i * columns + j] = distance(ones + i * length, others + j * length, length, p);
    sim_matrices_store(job, &views[0], found);
}

static aclError run_cdist(const aclsimCall *call)
{
    static const uint32_t ranks[] = {2, 2, 2};
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *out = given[4].tensors, *one = given[0].tensors;
    const aclsimTensor *const tensors[] = {out, one, given[1].tensors};
    const int64_t rows = out->dims[out->rank - 2], columns = out->dims[out->rank - 1];
    struct sim_matrices job = sim_matrices_of(call, measure_pairs);
    return sim_matrices_run(&job, tensors, ranks, 3, rows + columns, one->dims[one->rank - 1] + columns);
}

/* ---- CdistBackward: grad, x1, x2, cdist, p, out ---- */

static aclnnStatus plan_gradient(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *grad = &given[0], *x1 = &given[1], *x2 = &given[2];
    const aclsimTensor *other = x2->tensors;
    const uint32_t rank = grad->tensors->rank;
    int64_t dims[SIM_RANK];
    (void)workspace_size;
    for (int i = 1; i < 6; i++)
        if (given[i].kind == ACLSIM_TENSOR)
            SIM_TRY(sim_require_types(grad, &given[i], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(grad, 2, SIM_RANK - 1));
    SIM_TRY(sim_require_rank(x1, rank, rank));
    SIM_TRY(sim_require_rank(x2, rank, rank));
    memcpy(dims, grad->tensors->dims, sizeof dims);
    SIM_TRY(sim_require_shape(&given[3], dims, rank, "that of grad"));
    const int64_t columns = dims[rank - 1], length = x1->tensors->dims[rank - 1];
    dims[rank - 1] = length;
    SIM_TRY(sim_require_shape(x1, dims, rank, "that of grad except in the last dimension"));
    SIM_TRY(sim_require_shape(&given[5], dims, rank, "that of x1"));
    for (uint32_t k = 0; k < rank - 2; k++) /* the batches of x2 are broadcast to those of grad */
        dims[k] = other->dims[k] == 1 ? 1 : dims[k];
    dims[rank - 2] = columns;
    return sim_require_shape(x2, dims, rank, "a vector per column of grad");
}

/* The derivative of a distance by an element, in which the vectors differ by `difference`. */
static double slope(double difference, double whole, double p)
{
    const double part = fabs(difference) / whole;
    if (whole == 0 || difference == 0 || p == 0 || (p == INFINITY && part != 1))
        return 0;
    return copysign(p == INFINITY ? 1 : pow(part, p - 1), difference);
}

/* Two vectors, the distance from one to the other, and its gradient. */
struct pair {
    const double *pa_one, *pa_other, *pa_distance, *pa_grad;
    int64_t pa_step; /* 1: the distance and the gradient are repeated for each element; otherwise 0 */
};

/* Adds the gradient of the first vector. */
static void trace_pair(const struct pair *pair, int64_t length, double p, double *to)
{
    /* The rounded distance may equal none of the differences, the largest one of which has the gradient. */
    const double largest = p == INFINITY ? distance(pair->pa_one, pair->pa_other, length, p) : 0;
    for (int64_t k = 0; k < length; k++) {
        const double whole = p == INFINITY ? largest : pair->pa_distance[k * pair->pa_step];
        to[k] += pair->pa_grad[k * pair->pa_step] * slope(pair->pa_one[k] - pair->pa_other[k], whole, p);
    }
}

/* The views are the gradient of x1, that of the distances, x1, x2 and the distances. */
static void trace_pairs(struct sim_matrices *job)
{
    const aclsimTensor *views = job->ma_views;
    const int64_t rows = views[1].dims[0], columns = views[1].dims[1], length = views[0].dims[1];
    double *found = job->ma_values, *ones = found + rows * length, *others = ones + rows * length;
    double *grads = others + columns * length, *distances = grads + rows * columns;
    sim_matrices_load(job, &views[1], grads);
    sim_matrices_load(job, &views[2], ones);
    sim_matrices_load(job, &views[3], others);
    sim_matrices_load(job, &views[4], distances);
    memset(found, 0, (size_t)(rows * length) * sizeof *found);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const struct pair pair = {ones + i * length, others + j * length, distances + i * columns + j,
                                      grads + i * columns + j, 0};
            trace_pair(&pair, length, torch_order(&job->ma_given[4]), found + i * length);
        }
    sim_matrices_store(job, &views[0], found);
}

static aclError run_gradient(const aclsimCall *call)
{
    static const uint32_t ranks[] = {2, 2, 2, 2, 2};
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *out = given[5].tensors, *grad = given[0].tensors;
    const aclsimTensor *const tensors[] = {out, grad, given[1].tensors, given[2].tensors, given[3].tensors};
    const int64_t rows = grad->dims[grad->rank - 2], columns = grad->dims[grad->rank - 1];
    struct sim_matrices job = sim_matrices_of(call, trace_pairs);
    return sim_matrices_run(&job, tensors, ranks, 5, 2 * rows + columns, out->dims[out->rank - 1] + columns);
}

/* ---- the single operator Cdist: x1, x2, p, y, as torch_npu calls it: one distance per pair of lines of tensors that
 * are expanded to the same shape ---- */

static aclnnStatus plan_lines(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *x1 = &call->arguments[0];
    (void)workspace_size;
    SIM_TRY(sim_require_type(x1, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(x1, 1, SIM_RANK));
    SIM_TRY(sim_require_like(&call->arguments[1], x1));
    SIM_ARGUMENT(torch_order(&call->arguments[2]) >= 0, ACLNN_ERR_PARAM_INVALID, "p is %g, expected 0 or more",
                 call->arguments[2].number);
    SIM_TRY(sim_require_type(&call->arguments[3], SIM_TYPES_SINGLE));
    return sim_require_shape(&call->arguments[3], x1->tensors->dims, x1->tensors->rank - 1, "one distance per line");
}

static aclError run_lines(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimTensor *x1 = call->arguments[0].tensors;
    const size_t rows = sim_slices_extent(x1, 0, x1->rank - 1), length = (size_t)x1->dims[x1->rank - 1];
    double *ones, *others, *found;
    SIM_TRY(sim_lists_load(lists, &call->arguments[0], &ones));
    SIM_TRY(sim_lists_load(lists, &call->arguments[1], &others));
    SIM_TRY(sim_lists_take(lists, rows, &found));
    for (size_t i = 0; i < rows; i++)
        found[i] = distance(ones + i * length, others + i * length, (int64_t)length,
                            torch_order(&call->arguments[2]));
    sim_lists_store(&call->arguments[3], found);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind lines_kind = {run_lines};
static const struct sim_kernel lines_kernel = {plan_lines, sim_lists_run, (void *)&lines_kind, false};
static const struct sim_parameter lines_parameters[] = {{"x1", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                        {"x2", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                        {"p", ACLSIM_NUMBER, 0, false},
                                                        {"y", ACLSIM_TENSOR, ACLSIM_OUT, false}};

struct sim_row sim_op_cdist_row = SIM_ROW("Cdist", SIM_TASK_VECTOR, lines_parameters, &lines_kernel);

/* ---- the single operator CdistGrad: grad, x1, x2, cdist, p, y, as torch_npu calls it: the inputs are expanded to the
 * same shape, which has the rows of x2 before the last dimension ---- */

static aclnnStatus plan_expanded(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *grad = &given[0];
    const uint32_t rank = grad->tensors->rank;
    int64_t dims[SIM_RANK];
    (void)workspace_size;
    SIM_TRY(sim_require_type(grad, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(grad, 2, SIM_RANK));
    for (int i = 1; i < 4; i++)
        SIM_TRY(sim_require_like(&given[i], grad));
    SIM_TRY(sim_require_types(grad, &given[5], SIM_TYPES_SINGLE));
    memcpy(dims, grad->tensors->dims, sizeof dims);
    dims[rank - 2] = dims[rank - 1];
    return sim_require_shape(&given[5], dims, rank - 1, "that of grad without the dimension before the last one");
}

/* The views are the gradient of a vector, then for all others that of the distances, the vector, the others and the
 * distances. */
static void trace_expanded(struct sim_matrices *job)
{
    const aclsimTensor out = sim_matrices_row(&job->ma_views[0]);
    const int64_t columns = job->ma_views[1].dims[0], length = out.dims[1], count = columns * length;
    double *found = job->ma_values, *values = found + length;
    for (int i = 0; i < 4; i++)
        sim_matrices_load(job, &job->ma_views[i + 1], values + i * count);
    memset(found, 0, (size_t)length * sizeof *found);
    for (const double *at = values; at < values + count; at += length) {
        const struct pair pair = {at + count, at + 2 * count, at + 3 * count, at, 1};
        trace_pair(&pair, length, torch_order(&job->ma_given[4]), found);
    }
    sim_matrices_store(job, &out, found);
}

static aclError run_expanded(const aclsimCall *call)
{
    static const uint32_t ranks[] = {1, 2, 2, 2, 2};
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *out = given[5].tensors, *grad = given[0].tensors;
    const aclsimTensor *const tensors[] = {out, grad, given[1].tensors, given[2].tensors, given[3].tensors};
    struct sim_matrices job = sim_matrices_of(call, trace_expanded);
    return sim_matrices_run(&job, tensors, ranks, 5, 4 * grad->dims[grad->rank - 2] + 1, out->dims[out->rank - 1]);
}

static const struct sim_kernel expanded_kernel = {plan_expanded, run_expanded, NULL, false};
static const struct sim_parameter expanded_parameters[] = {
    {"grad", ACLSIM_TENSOR, ACLSIM_IN, false},  {"x1", ACLSIM_TENSOR, ACLSIM_IN, false},
    {"x2", ACLSIM_TENSOR, ACLSIM_IN, false},    {"cdist", ACLSIM_TENSOR, ACLSIM_IN, false},
    {"p", ACLSIM_NUMBER, 0, false},             {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
};

struct sim_row sim_op_cdist_grad_row = SIM_ROW("CdistGrad", SIM_TASK_VECTOR, expanded_parameters, &expanded_kernel);

/* ---- Pdist: self, p, out; PdistForward: self, pScalar, out ---- */

static aclnnStatus plan_pdist(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *p = &call->arguments[1], *out = &call->arguments[2];
    (void)workspace_size;
    SIM_TRY(sim_require_types(self, out, SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_FLOAT16)));
    SIM_TRY(sim_require_rank(self, 2, 2));
    if (p->kind == ACLSIM_SCALAR)
        SIM_TRY(sim_require_type(p, SIM_TYPES_REAL));
    SIM_TRY(require_order(p));
    const uint64_t rows = (uint64_t)self->tensors->dims[0];
    uint64_t ordered = rows;
    SIM_ARGUMENT(sim_size_multiply(&ordered, rows), ACLNN_ERR_PARAM_INVALID,
                 "%s has %llu rows, expected so few that the number of their pairs fits 64 bits", self->name,
                 (unsigned long long)rows);
    const int64_t pairs = (int64_t)((ordered - rows) / 2);
    return sim_require_shape(out, &pairs, 1, "one distance per pair of rows");
}

/* The views are the distances and self. */
static void measure_rows(struct sim_matrices *job)
{
    const aclsimTensor out = sim_matrices_row(&job->ma_views[0]), *self = &job->ma_views[1];
    const int64_t rows = self->dims[0], length = self->dims[1];
    const double p = order_of(&job->ma_given[1]);
    double *values = job->ma_values, *found = values + rows * length, *to = found;
    sim_matrices_load(job, self, values);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = i + 1; j < rows; j++)
            *to++ = distance(values + i * length, values + j * length, length, p);
    sim_matrices_store(job, &out, found);
}

static aclError run_pdist(const aclsimCall *call)
{
    static const uint32_t ranks[] = {1, 2};
    const aclsimTensor *self = call->arguments[0].tensors, *const tensors[] = {call->arguments[2].tensors, self};
    struct sim_matrices job = sim_matrices_of(call, measure_rows);
    return sim_matrices_run(&job, tensors, ranks, 2, self->dims[0], self->dims[1] + self->dims[0]);
}

const struct sim_kernel sim_kernel_aclnnCdist = {plan_cdist, run_cdist, NULL, false},
                        sim_kernel_aclnnCdistBackward = {plan_gradient, run_gradient, NULL, false},
                        sim_kernel_aclnnPdist = {plan_pdist, run_pdist, NULL, false},
                        sim_kernel_aclnnPdistForward = {plan_pdist, run_pdist, NULL, false};
