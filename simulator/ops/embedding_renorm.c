/* EmbeddingRenorm: selfRef, indices, maxNorm, normType. Each row of selfRef that an index names, and whose norm is
 * greater than maxNorm, is scaled to that norm, once. Norms are computed in double precision. An index out of range
 * ends the task, and rows scaled before stay scaled. */
#include "base/fail.h"
#include "indices.h"
#include "line.h"
#include "operator/row.h"
#include "require.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { SELF, INDICES, MOST, ORDER };

static aclnnStatus plan_renorm(const aclsimCall *call, uint64_t *workspace_size)
{
    (void)workspace_size;
    SIM_TRY(sim_require_type(&call->arguments[SELF], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(&call->arguments[INDICES], SIM_TYPES_INDEX));
    return sim_require_rank(&call->arguments[SELF], 2, 2);
}

struct job {
    struct sim_indices jo_indices;
    struct sim_line jo_line; /* a row */
    double jo_most, jo_order;
    double *jo_row;
    size_t jo_length;
    bool *jo_done; /* one per row: whether an index has named it */
};

static double norm_of(const struct job *job)
{
    double sum = 0;
    for (size_t i = 0; i < job->jo_length; i++) {
        const double size = fabs(job->jo_row[i]);
        if (job->jo_order == 0)
            sum += size != 0;
        else if (job->jo_order != INFINITY)
            sum += job->jo_order == 2 ? size * size : pow(size, job->jo_order);
        else if (size > sum || size != size)
            sum = size;
    }
    if (job->jo_order == 0 || job->jo_order == INFINITY)
        return sum;
    return job->jo_order == 2 ? sqrt(sum) : pow(sum, 1 / job->jo_order);
}

/* places: the addresses of the indices. */
static aclError scale_rows(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct job *job = context;
    int64_t index;
    for (int64_t i = 0; i < length; i++) {
        if (!sim_indices_find(&job->jo_indices, places[0] + i * strides[0], &index))
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        if (job->jo_done[index])
            continue;
        job->jo_done[index] = true;
        char *row = (char *)job->jo_indices.in_self->tensors->data + index * job->jo_indices.in_step;
        sim_line_load(&job->jo_line, SIM_CLASS_DOUBLE, row, job->jo_row);
        const double norm = norm_of(job);
        if (!(norm > job->jo_most))
            continue;
        for (size_t k = 0; k < job->jo_length; k++)
            job->jo_row[k] *= job->jo_most / (norm + 1e-7);
        sim_line_store(&job->jo_line, SIM_CLASS_DOUBLE, job->jo_row, row);
    }
    return ACL_SUCCESS;
}

static aclError run_renorm(const aclsimCall *call)
{
    const aclsimArgument *self = &call->arguments[SELF], *given = &call->arguments[INDICES];
    const aclsimTensor *index = given->tensors;
    struct job job = {.jo_indices = sim_indices_of(given->name, index, self, self->tensors, 0, false),
                      .jo_line = sim_line_of(self->tensors, 1, 1),
                      .jo_most = call->arguments[MOST].number,
                      .jo_order = call->arguments[ORDER].number};
    void *row;
    SIM_TRY(sim_line_reserve(&job.jo_line, SIM_CLASS_DOUBLE, 1, &row, &job.jo_length));
    job.jo_row = row;
    job.jo_done = calloc((size_t)self->tensors->dims[0] + 1, sizeof *job.jo_done);
    aclError code = job.jo_done == NULL
                        ? sim_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate host memory for %" PRId64 " rows",
                                   self->tensors->dims[0])
                        : sim_indices_end(&job.jo_indices, sim_walk_in_order(&index, 1, scale_rows, &job));
    free(job.jo_done);
    free(row);
    return code;
}

const struct sim_kernel sim_kernel_aclnnEmbeddingRenorm = {plan_renorm, run_renorm, NULL, false};
