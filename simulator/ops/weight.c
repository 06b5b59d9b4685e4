/* Weights of matrix products in FRACTAL_NZ, the layout that the cube unit prefers: blocks of 16 rows of 32 bytes. Sizes
 * are computed from whole blocks, as on a card, but the weight is not converted: products here accept any layout. */
#include "base/bytes.h"
#include "base/fail.h"
#include "operator/row.h"
#include "operator/tensor.h"
#include "require.h"

#include <aclnnop/aclnn_trans_matmul_weight.h>
#include <inttypes.h>

#define BLOCK_ROWS 16
#define BLOCK_BYTES 32
#define WEIGHTS (SIM_TYPES_HALF | SIM_TYPE(ACL_INT8))
#define LEAST_RANK 2
#define MOST_RANK 6

aclnnStatus sim_helper_aclnnCalculateMatmulWeightSize(const aclIntArray *tensorShape, uint64_t *weightTensorSize);
aclnnStatus sim_helper_aclnnCalculateMatmulWeightSizeV2(const aclIntArray *tensorShape, aclDataType dataType,
                                                        uint64_t *weightTensorSize);

/* Counts the elements of whole blocks. */
static aclnnStatus count_elements(const int64_t *dims, uint64_t rank, size_t element, uint64_t *count)
{
    uint64_t total = 1;
    SIM_ARGUMENT(rank >= LEAST_RANK && rank <= MOST_RANK, ACLNN_ERR_PARAM_INVALID,
                 "tensorShape has %" PRIu64 " elements, expected %d to %d", rank, LEAST_RANK, MOST_RANK);
    for (uint64_t k = 0; k < rank; k++) {
        uint64_t step = k + 1 == rank ? BLOCK_BYTES / element : k + 2 == rank ? BLOCK_ROWS : 1;
        SIM_ARGUMENT(dims[k] >= 0, ACLNN_ERR_PARAM_INVALID,
                     "tensorShape[%" PRIu64 "] is %" PRId64 ", expected 0 or more", k, dims[k]);
        uint64_t whole = ((uint64_t)dims[k] + step - 1) / step * step;
        SIM_ARGUMENT(sim_size_multiply(&total, whole) && total <= INT64_MAX, ACLNN_ERR_PARAM_INVALID,
                     "tensorShape[%" PRIu64 "] is %" PRId64 ", expected a shape whose number of elements fits into "
                     "63 bits", k, dims[k]);
    }
    *count = total;
    return ACL_SUCCESS;
}

aclnnStatus sim_helper_aclnnCalculateMatmulWeightSizeV2(const aclIntArray *tensorShape, aclDataType dataType,
                                                        uint64_t *weightTensorSize)
{
    struct sim_array *array;
    SIM_ARGUMENT(tensorShape != NULL, ACLNN_ERR_PARAM_NULLPTR, "tensorShape is NULL, expected a valid pointer");
    SIM_ARGUMENT(weightTensorSize != NULL, ACLNN_ERR_PARAM_NULLPTR,
                 "weightTensorSize is NULL, expected a valid pointer");
    SIM_TRY(sim_require_type_named("dataType", dataType, WEIGHTS));
    SIM_TRY(sim_tensor_array_open(tensorShape, SIM_ARRAY_INTS, "tensorShape", &array));
    aclnnStatus code = count_elements(array->ar_values, array->ar_count, sim_element_size(dataType), weightTensorSize);
    sim_object_close(array);
    return code;
}

aclnnStatus sim_helper_aclnnCalculateMatmulWeightSize(const aclIntArray *tensorShape, uint64_t *weightTensorSize)
{
    return sim_helper_aclnnCalculateMatmulWeightSizeV2(tensorShape, ACL_FLOAT16, weightTensorSize);
}

static aclnnStatus plan_weight(const aclsimCall *call, uint64_t *workspace_size)
{
    (void)workspace_size;
    SIM_TRY(sim_require_type(&call->arguments[0], WEIGHTS));
    return sim_require_rank(&call->arguments[0], LEAST_RANK, MOST_RANK);
}

static aclError keep_weight(const aclsimCall *call)
{
    (void)call;
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnTransMatmulWeight = {plan_weight, keep_weight, NULL, false};
