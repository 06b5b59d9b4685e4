/* Each matrix is copied into contiguous rows of doubles, or of complex doubles, so that kernels round results once and
 * need no strides. */
#include "matrices.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "require.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

struct sim_matrices sim_matrices_of(const aclsimCall *call, void (*run)(struct sim_matrices *job))
{
    const bool pairs = sim_element_is(call->arguments[0].tensors->type, SIM_TYPES_COMPLEX);
    return (struct sim_matrices){.ma_given = call->arguments,
                                 .ma_class = pairs ? SIM_CLASS_COMPLEX_DOUBLE : SIM_CLASS_DOUBLE,
                                 .ma_run = run};
}

/* ---- copies ---- */

/* The address of an element. */
static char *place_of(const aclsimTensor *matrix, int64_t row, int64_t column)
{
    return (char *)matrix->data +
           (row * matrix->strides[0] + column * matrix->strides[1]) * (int64_t)sim_element_size(matrix->type);
}

void sim_matrices_load(const struct sim_matrices *job, const aclsimTensor *matrix, double *values)
{
    const int64_t rows = matrix->dims[0], columns = matrix->dims[1], width = sim_matrices_width(job);
    union sim_block_values block;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t done = 0; done < columns; done += SIM_BLOCK) {
            size_t count = sim_element_block(done, columns);
            sim_element_load(&block, job->ma_class, place_of(matrix, row, done), matrix->type, matrix->strides[1],
                             count);
            memcpy(values + (row * columns + done) * width, &block, count * (size_t)width * sizeof(double));
        }
}

void sim_matrices_store(const struct sim_matrices *job, const aclsimTensor *matrix, const double *values)
{
    const int64_t rows = matrix->dims[0], columns = matrix->dims[1], width = sim_matrices_width(job);
    for (int64_t row = 0; row < rows; row++)
        sim_element_store(values + row * columns * width, job->ma_class, place_of(matrix, row, 0), matrix->type,
                          matrix->strides[1], (size_t)columns);
}

aclsimTensor sim_matrices_transposed(const aclsimTensor *matrix)
{
    aclsimTensor view = *matrix;
    for (int k = 0; k < 2; k++) {
        view.dims[k] = matrix->dims[1 - k];
        view.strides[k] = matrix->strides[1 - k];
    }
    return view;
}

aclsimTensor sim_matrices_row(const aclsimTensor *vector)
{
    aclsimTensor view = *vector;
    view.rank = 2;
    view.dims[0] = 1;
    view.dims[1] = vector->dims[0];
    view.strides[0] = 0;
    view.strides[1] = vector->strides[0];
    return view;
}

void sim_matrices_identity(const struct sim_matrices *job, double *values, int64_t rows, int64_t columns)
{
    memset(values, 0, (size_t)(rows * columns * sim_matrices_width(job)) * sizeof(double));
    for (int64_t i = 0; i < rows && i < columns; i++)
        values[(i * columns + i) * sim_matrices_width(job)] = 1;
}

void sim_matrices_swap(void *one, void *other, size_t bytes)
{
    for (char *a = one, *b = other, *end = a + bytes; a < end; a++, b++) {
        const char kept = *a;
        *a = *b;
        *b = kept;
    }
}

/* ---- the walk over the batches ---- */

static aclError run_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct sim_matrices *job = context;
    for (int64_t i = 0; i < length; i++) {
        for (int k = 0; k < SIM_MATRICES_VIEWS; k++)
            if (job->ma_views[k].data != NULL)
                job->ma_views[k].data = places[k] + i * strides[k];
        job->ma_run(job);
    }
    return ACL_SUCCESS;
}

/* The last dimensions of a tensor, without the batches. */
static aclsimTensor inner_of(const aclsimTensor *tensor, uint32_t rank)
{
    aclsimTensor view = *tensor;
    view.rank = rank;
    for (uint32_t k = 0; k < rank; k++) {
        view.dims[k] = tensor->dims[tensor->rank - rank + k];
        view.strides[k] = tensor->strides[tensor->rank - rank + k];
    }
    return view;
}

aclError sim_matrices_run(struct sim_matrices *job, const aclsimTensor *const *tensors, const uint32_t *ranks,
                          uint32_t count, int64_t rows, int64_t columns)
{
    const uint32_t batches = tensors[0]->rank < ranks[0] ? 0 : tensors[0]->rank - ranks[0];
    struct sim_walk walk = {.wk_places = count};
    uint64_t bytes = (uint64_t)sim_matrices_width(job) * sizeof(double);
    int64_t strides[SIM_MATRICES_VIEWS] = {0};
    size_t sizes[SIM_MATRICES_VIEWS] = {0};
    char *places[SIM_MATRICES_VIEWS] = {NULL};
    for (uint32_t i = 0; i < count; i++) {
        sizes[i] = sim_element_size(tensors[i]->type);
        places[i] = tensors[i]->data;
        job->ma_views[i] = inner_of(tensors[i], ranks[i]);
    }
    for (uint32_t k = 0; k < batches; k++) {
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t missing = batches + ranks[i] - tensors[i]->rank;
            strides[i] = k < missing || tensors[i]->dims[k - missing] == 1 ? 0 : tensors[i]->strides[k - missing];
        }
        sim_walk_add(&walk, tensors[0]->dims[k], strides, sizes);
    }
    if (walk.wk_empty)
        return ACL_SUCCESS;
    bool fits = sim_size_multiply(&bytes, (uint64_t)rows) && sim_size_multiply(&bytes, (uint64_t)columns);
    job->ma_values = fits ? malloc(bytes == 0 ? 1 : bytes) : NULL;
    SIM_CHECK(job->ma_values != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "cannot allocate host memory for matrices of %lld by %lld elements", (long long)rows, (long long)columns);
    aclError code = sim_walk_run(&walk, places, run_line, job);
    free(job->ma_values);
    return code;
}

/* ---- checks ---- */

aclnnStatus sim_matrices_require_square(const aclsimArgument *argument)
{
    const aclsimTensor *tensor = argument->tensors;
    SIM_TRY(sim_require_rank(argument, 2, SIM_RANK));
    int64_t rows = tensor->dims[tensor->rank - 2], columns = tensor->dims[tensor->rank - 1];
    SIM_ARGUMENT(rows == columns, ACLNN_ERR_PARAM_INVALID, "%s has matrices of %lld by %lld, expected square ones",
                 argument->name, (long long)rows, (long long)columns);
    return ACL_SUCCESS;
}

aclnnStatus sim_matrices_require_elements(const aclsimArgument *argument)
{
    SIM_ARGUMENT(!sim_walk_is_empty(argument->tensors->dims, argument->tensors->rank), ACLNN_ERR_PARAM_INVALID,
                 "%s has no elements, expected 1 or more", argument->name);
    return ACL_SUCCESS;
}

/* The size of batch dimension `place` of `batches` ones, aligned at the right; 1 if the tensor does not have it. */
static int64_t batch_dim(const aclsimTensor *tensor, uint32_t batches, uint32_t place)
{
    const uint32_t missing = batches + 2 - tensor->rank;
    return place < missing ? 1 : tensor->dims[place - missing];
}

aclnnStatus sim_matrices_require_batches(const aclsimArgument *one, const aclsimArgument *other, int64_t *dims)
{
    const uint32_t rank = one->tensors->rank > other->tensors->rank ? one->tensors->rank : other->tensors->rank;
    for (uint32_t k = 0; k < rank - 2; k++) {
        int64_t dim = batch_dim(one->tensors, rank - 2, k), second = batch_dim(other->tensors, rank - 2, k);
        SIM_ARGUMENT(dim == second || dim == 1 || second == 1, ACLNN_ERR_PARAM_INVALID,
                     "a batch dimension of %s is %lld and that of %s is %lld, expected the same or 1", one->name,
                     (long long)dim, other->name, (long long)second);
        dims[k] = dim == 1 ? second : dim;
    }
    return ACL_SUCCESS;
}
