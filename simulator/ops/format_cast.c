/* Changes of the format of a tensor. NpuFormatCast: srcTensor, dstTensor. Kernels here read and write views by strides,
 * whatever the format says, so that a change of format copies the elements. The helper returns the shape of whole
 * blocks, as on a card, which a program allocates. */
#include "base/fail.h"
#include "operator/row.h"
#include "operator/tensor.h"
#include "require.h"
#include "walk.h"

#include <inttypes.h>
#include <stdlib.h>

#define CASTS                                                                                                          \
    (SIM_TYPES_SINGLE | SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_UINT8) | SIM_TYPE(ACL_INT32) | SIM_TYPE(ACL_UINT32))
#define BLOCK_ROWS 16
#define BLOCK_BYTES 32
#define LEAST_RANK 2
#define MOST_RANK 6

aclnnStatus sim_helper_aclnnNpuFormatCastCalculateSizeAndFormat(const aclTensor *srcTensor, const int dstFormat,
                                                                int additionalDtype, int64_t **dstShape,
                                                                uint64_t *dstShapeSize, int *actualFormat);

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *from = &call->arguments[0], *to = &call->arguments[1];
    (void)workspace_size;
    SIM_TRY(sim_require_types(from, to, CASTS));
    return sim_require_shape(to, from->tensors->dims, from->tensors->rank, "that of srcTensor");
}

static aclError run(const aclsimCall *call)
{
    sim_walk_copy(call->arguments[1].tensors, call->arguments[0].tensors);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnNpuFormatCast = {plan, run, NULL, true};

/* ---- the shape of the storage ---- */

static int64_t blocks_of(int64_t size, int64_t block)
{
    return size / block + (size % block != 0);
}

/* Writes the shape to `dims`, which has room for two more dimensions than the view; returns its length. A block of
 * FRACTAL_NZ has 16 rows of 32 bytes. */
static uint64_t blocked(const struct sim_tensor *tensor, aclDataType type, int64_t *dims)
{
    const uint64_t rank = tensor->te_rank;
    const int64_t *view = sim_tensor_dims(tensor), wide = BLOCK_BYTES / (int64_t)sim_element_size(type);
    for (uint64_t k = 0; k + 2 < rank; k++)
        dims[k] = view[k];
    dims[rank - 2] = blocks_of(view[rank - 1], wide);
    dims[rank - 1] = blocks_of(view[rank - 2], BLOCK_ROWS);
    dims[rank] = BLOCK_ROWS;
    dims[rank + 1] = wide;
    return rank + 2;
}

static aclnnStatus calculate(const struct sim_tensor *tensor, int format, int type, int64_t **shape, uint64_t *count)
{
    const aclDataType element = type < 0 ? tensor->te_type : (aclDataType)type;
    SIM_ARGUMENT(format == ACL_FORMAT_ND || format == ACL_FORMAT_FRACTAL_NZ, ACLNN_ERR_PARAM_INVALID,
                 "dstFormat is %d, expected %d (ND) or %d (FRACTAL_NZ)", format, ACL_FORMAT_ND, ACL_FORMAT_FRACTAL_NZ);
    SIM_TRY(sim_require_type_named("additionalDtype", element, CASTS));
    SIM_ARGUMENT(tensor->te_rank >= LEAST_RANK && tensor->te_rank <= MOST_RANK, ACLNN_ERR_PARAM_INVALID,
                 "srcTensor has %" PRIu64 " dimensions, expected %d to %d", tensor->te_rank, LEAST_RANK, MOST_RANK);
    int64_t *dims = malloc((tensor->te_rank + 2) * sizeof *dims);
    SIM_ARGUMENT(dims != NULL, ACLNN_ERR_INNER, "cannot allocate host memory for a shape");
    *count = tensor->te_rank;
    if (format == ACL_FORMAT_FRACTAL_NZ)
        *count = blocked(tensor, element, dims);
    else
        memcpy(dims, sim_tensor_dims(tensor), tensor->te_rank * sizeof *dims);
    *shape = dims;
    return ACL_SUCCESS;
}

aclnnStatus sim_helper_aclnnNpuFormatCastCalculateSizeAndFormat(const aclTensor *srcTensor, const int dstFormat,
                                                                int additionalDtype, int64_t **dstShape,
                                                                uint64_t *dstShapeSize, int *actualFormat)
{
    struct sim_tensor *tensor;
    SIM_ARGUMENT(dstShape != NULL, ACLNN_ERR_PARAM_NULLPTR, "dstShape is NULL, expected a valid pointer");
    SIM_ARGUMENT(dstShapeSize != NULL, ACLNN_ERR_PARAM_NULLPTR, "dstShapeSize is NULL, expected a valid pointer");
    SIM_ARGUMENT(actualFormat != NULL, ACLNN_ERR_PARAM_NULLPTR, "actualFormat is NULL, expected a valid pointer");
    SIM_TRY(sim_tensor_open(srcTensor, "srcTensor", &tensor));
    const aclnnStatus code = calculate(tensor, dstFormat, additionalDtype, dstShape, dstShapeSize);
    sim_object_close(tensor);
    if (code == ACL_SUCCESS)
        *actualFormat = dstFormat;
    return code;
}
