/* Arguments and shapes of the types that train (op_table_train.c). This file has no state and no lock. */
#include "base/bytes.h"
#include "op_type.h"

static aclError one_number(int64_t value, int64_t *numbers, uint32_t *count)
{
    *numbers = value;
    *count = 1;
    return ACL_SUCCESS;
}

aclError sim_op_word(const struct sim_op_request *request, const char *name, const char *missing,
                     const char *const *words, size_t length, int64_t *place)
{
    const char *given = sim_op_text(request, name, missing);
    for (size_t i = 0; i < length; i++)
        if (strcmp(given, words[i]) == 0) {
            *place = (int64_t)i;
            return ACL_SUCCESS;
        }
    return sim_refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s of %s is \"%s\", expected %s, %s or %s", name,
                      request->rq_type, given, words[0], words[1], words[2]);
}

/* ---- losses: attribute reduction ---- */

aclError sim_op_train_reduction(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    static const char *const words[] = {"none", "mean", "sum", "batchmean"};
    *count = 1;
    return sim_op_word(request, "reduction", "mean", words, sizeof words / sizeof *words, numbers);
}

/* The first `kept` dimensions of x without a reduction, else none. */
static aclError reduced_dims(const struct sim_op_request *request, uint32_t kept, int64_t *numbers, uint32_t *count)
{
    int64_t reduction = 0;
    SIM_TRY(sim_op_train_reduction(request, &reduction, count));
    *count = reduction == 0 ? kept : 0;
    memcpy(numbers, request->rq_tensors[0].ot_dims, *count * sizeof *numbers);
    return ACL_SUCCESS;
}

aclError sim_op_train_loss_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return reduced_dims(request, request->rq_tensors[0].ot_rank, numbers, count);
}

aclError sim_op_train_likelihood_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return reduced_dims(request, request->rq_tensors[0].ot_rank > 1 ? 1 : 0, numbers, count);
}

/* ---- shapes ---- */

aclError sim_op_train_no_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    (void)request;
    (void)numbers;
    *count = 0;
    return ACL_SUCCESS;
}

static aclError dims_of(const struct sim_op_tensor *tensor, int64_t *numbers, uint32_t *count)
{
    *count = tensor->ot_rank;
    memcpy(numbers, tensor->ot_dims, *count * sizeof *numbers);
    return ACL_SUCCESS;
}

aclError sim_op_train_third_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return dims_of(&request->rq_tensors[2], numbers, count);
}

aclError sim_op_train_fifth_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return dims_of(&request->rq_tensors[4], numbers, count);
}

/* GLU(x; dim = -1) */
aclError sim_op_train_halved_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0];
    int64_t axis;
    SIM_TRY(sim_op_find_integer(request, "dim", -1, &axis));
    axis += axis < 0 ? x->ot_rank : 0;
    SIM_ARGUMENT(axis >= 0 && axis < x->ot_rank, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute dim of %s is not a dimension of x, which has %u", request->rq_type, x->ot_rank);
    SIM_TRY(sim_op_derive_first_dims(request, numbers, count));
    numbers[axis] /= 2;
    return ACL_SUCCESS;
}

/* EmbeddingDenseGrad(grad, indices; num_weights) */
aclError sim_op_train_embedding_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *grad = &request->rq_tensors[0];
    SIM_TRY(sim_op_integers(request, "num_weights", numbers, count));
    if (*count == 1 && grad->ot_rank > 0)
        numbers[(*count)++] = grad->ot_dims[grad->ot_rank - 1];
    return ACL_SUCCESS;
}

/* LinSpace(start, stop, num) */
aclError sim_op_train_line_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return sim_op_input_numbers(request, 2, numbers, count);
}

/* Index(x, indexed_sizes, indexed_strides, indices...) has the shape of the indices, which a program knows. */
aclError sim_op_train_unknown_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    (void)numbers;
    (void)count;
    return sim_refuse(ACL_ERROR_OP_NOT_FOUND, "the simulator has no rule for the output of %s", request->rq_type);
}

/* Eye(; num_rows, num_columns = num_rows, batch_shape = []) */
aclError sim_op_train_columns(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    int64_t columns;
    SIM_TRY(sim_op_integers(request, "num_rows", numbers, count));
    SIM_TRY(sim_op_find_integer(request, "num_columns", 0, &columns));
    return one_number(columns > 0 ? columns : *numbers, numbers, count);
}

aclError sim_op_train_square_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    SIM_TRY(sim_op_train_columns(request, &numbers[1], count));
    SIM_TRY(sim_op_integers(request, "num_rows", numbers, count));
    *count = 2;
    return ACL_SUCCESS;
}

/* ---- other arguments ---- */

aclError sim_op_train_one(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    (void)request;
    return one_number(1, numbers, count);
}

/* ScatterElements(data, indices, updates; axis = 0, reduction = "none") */
aclError sim_op_train_scatter(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    static const char *const words[] = {"none", "add", "mul"};
    *count = 1;
    return sim_op_word(request, "reduction", "none", words, sizeof words / sizeof *words, numbers);
}

/* RepeatInterleave(x, repeats; axis): the size of the result. */
aclError sim_op_train_repeated(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *y = sim_op_output(request, 0);
    int64_t axis;
    SIM_TRY(sim_op_find_integer(request, "axis", 0, &axis));
    axis += axis < 0 ? y->ot_rank : 0;
    SIM_ARGUMENT(axis >= 0 && axis < y->ot_rank, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute axis of %s is not a dimension of y, which has %u", request->rq_type, y->ot_rank);
    return one_number(y->ot_dims[axis], numbers, count);
}

/* SearchSorted(sorted_sequence, values; dtype): indices of 32 bits. */
aclError sim_op_train_is_narrow(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return one_number(sim_op_output(request, 0)->ot_type == ACL_INT32, numbers, count);
}

aclError sim_op_train_bag(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    static const char *const words[] = {"sum", "mean", "max"};
    *count = 1;
    return sim_op_word(request, "mode", "mean", words, sizeof words / sizeof *words, numbers);
}

/* Qr(x; full_matrices = false) */
aclError sim_op_train_reduced(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return one_number(!sim_op_is_set(request, "full_matrices"), numbers, count);
}

/* ReduceStdV2Update(x, mean; dim, if_std = false, unbiased = true, keepdim = false, correction = 1): both say by how
 * much the divisor is smaller than the number of elements. */
aclError sim_op_train_correction(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    int64_t unbiased, correction;
    SIM_TRY(sim_op_find_integer(request, "unbiased", 1, &unbiased));
    SIM_TRY(sim_op_find_integer(request, "correction", 1, &correction));
    return one_number(unbiased != 0 ? correction : 0, numbers, count);
}
