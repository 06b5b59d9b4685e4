/* UnfoldGrad: gradOut, inputSizes, dim, size, step, gradIn. Unfold gives views of `size` elements, `step` apart, along
 * one dimension, and puts the elements of a view into a new last dimension; its gradient adds up the elements of all
 * views that an element of the input is in. Sums are computed in double and rounded once.
 *
 * The sizes are checked as the documents say, with the code of the card's tiling. A dim counted from the end is
 * accepted, because PyTorch passes the one that its user gave. */
#include "base/fail.h"
#include "line.h"
#include "operator/row.h"
#include "require.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GRADIENT, SIZES, DIM, SIZE, STEP, OUT };

static aclnnStatus require_limit(const aclsimArgument *number, int64_t most)
{
    SIM_ARGUMENT(number->integer > 0 && number->integer <= most, ACLNN_ERR_INNER_TILING_ERROR,
                 "%s is %" PRId64 ", expected 1 to %" PRId64, number->name, number->integer, most);
    return ACL_SUCCESS;
}

static aclnnStatus plan_unfold(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *gradient = &given[GRADIENT], *out = &given[OUT];
    const uint32_t rank = out->tensors->rank;
    const bool wide = gradient->tensors->type == ACL_FLOAT;
    int64_t dims[SIM_RANK + 1];
    uint32_t dim;
    (void)workspace_size;
    SIM_TRY(sim_require_types(gradient, out, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(out, 1, SIM_RANK));
    SIM_TRY(sim_require_count(&given[SIZES], rank));
    SIM_TRY(sim_require_shape(out, given[SIZES].integers, rank, "that of inputSizes"));
    SIM_TRY(sim_require_dim(&given[DIM], rank, &dim));
    SIM_ARGUMENT(dim + 2 >= rank, ACLNN_ERR_INNER_TILING_ERROR,
                 "dim is %" PRId64 ", expected one of the last two dimensions of inputSizes", given[DIM].integer);
    const int64_t length = out->tensors->dims[dim], most = dim + 1 == rank ? (wide ? 49088 : 32720) : wide ? 88 : 72;
    SIM_TRY(require_limit(&given[SIZE], length < most ? length : most));
    SIM_TRY(require_limit(&given[STEP], most));
    memcpy(dims, out->tensors->dims, rank * sizeof *dims);
    dims[dim] = (length - given[SIZE].integer) / given[STEP].integer + 1;
    dims[rank] = given[SIZE].integer;
    return sim_require_shape_or(ACLNN_ERR_INNER_TILING_ERROR, gradient, dims, rank + 1, "that of the unfolded input");
}

struct job {
    struct sim_line jo_line; /* along dim, of the result */
    double *jo_sums;         /* of a line */
    size_t jo_length;
    aclDataType jo_type;
    int64_t jo_views, jo_size, jo_step;
    int64_t jo_apart, jo_stride; /* of the gradient: between views, in bytes; between elements of a view, in elements */
};

/* places: the starts of lines of the result, and of the views of these lines. */
static aclError add_views(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct job *job = context;
    union sim_block_values block;
    for (int64_t i = 0; i < length; i++) {
        const char *from = places[1] + i * strides[1];
        memset(job->jo_sums, 0, job->jo_length * sizeof *job->jo_sums);
        for (int64_t view = 0; view < job->jo_views; view++)
            for (int64_t done = 0; done < job->jo_size; done += SIM_BLOCK) {
                const size_t count = sim_element_block(done, job->jo_size);
                const int64_t skipped = done * job->jo_stride * (int64_t)sim_element_size(job->jo_type);
                double *sums = job->jo_sums + view * job->jo_step + done;
                sim_element_load(&block, SIM_CLASS_DOUBLE, from + view * job->jo_apart + skipped, job->jo_type,
                                 job->jo_stride, count);
                for (size_t k = 0; k < count; k++)
                    sums[k] += block.bv_doubles[k];
            }
        sim_line_store(&job->jo_line, SIM_CLASS_DOUBLE, job->jo_sums, places[0] + i * strides[0]);
    }
    return ACL_SUCCESS;
}

static aclError run_unfold(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *gradient = given[GRADIENT].tensors, *out = given[OUT].tensors;
    uint32_t dim;
    void *memory;
    SIM_TRY(sim_require_dim(&given[DIM], out->rank, &dim));
    struct job job = {.jo_line = sim_line_of(out, dim, 1), .jo_type = gradient->type,
                      .jo_views = gradient->dims[dim], .jo_size = given[SIZE].integer, .jo_step = given[STEP].integer,
                      .jo_apart = gradient->strides[dim] * (int64_t)sim_element_size(gradient->type),
                      .jo_stride = gradient->strides[out->rank]};
    SIM_TRY(sim_line_reserve(&job.jo_line, SIM_CLASS_DOUBLE, 1, &memory, &job.jo_length));
    job.jo_sums = memory;
    const aclsimTensor starts = sim_line_without(gradient, out->rank), from = sim_line_without(&starts, dim);
    const aclsimTensor to = sim_line_without(out, dim);
    const aclError ret = sim_walk_tensors((const aclsimTensor *[]){&to, &from}, 2, add_views, &job);
    free(memory);
    return ret;
}

const struct sim_kernel sim_kernel_aclnnUnfoldGrad = {plan_unfold, run_unfold, NULL, false};
