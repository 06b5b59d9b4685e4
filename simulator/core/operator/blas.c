/* BLAS functions, each a request of the single operator GEMM (ops/gemm.c). Matrices are stored row by row; a
 * transposed matrix is viewed with its two dimensions exchanged. The blocked layouts (ACL_TRANS_NZ) are refused.
 * This file has no state and no lock. */
#include "blas.h"

#include <stdlib.h>

enum { A, B, C, ALPHA, BETA, INPUTS };

static const struct {
    aclDataType factors, result;
} combinations[] = {
    {ACL_FLOAT16, ACL_FLOAT16}, {ACL_FLOAT16, ACL_FLOAT}, {ACL_INT8, ACL_INT32}, {ACL_INT8, ACL_FLOAT}};

static aclError check_types(const struct sim_blas *blas)
{
    for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++)
        if (blas->bl_type_a == combinations[i].factors && blas->bl_type_b == combinations[i].factors &&
            blas->bl_type_c == combinations[i].result)
            return ACL_SUCCESS;
    return sim_refuse(ACL_ERROR_UNSUPPORTED_DATA_TYPE,
                      "the data types are %d, %d and %d, expected ACL_FLOAT16 (1) twice with 1 or ACL_FLOAT (0), or "
                      "ACL_INT8 (2) twice with ACL_INT32 (3) or 0", (int)blas->bl_type_a, (int)blas->bl_type_b,
                      (int)blas->bl_type_c);
}

static aclError check_transposition(const char *name, aclTransType transposition, bool may_turn)
{
    SIM_ARGUMENT(transposition != ACL_TRANS_NZ, ACL_ERROR_API_NOT_SUPPORT,
                 "%s is ACL_TRANS_NZ (2), a blocked layout that the simulator does not have, expected 0%s", name,
                 may_turn ? " or 1" : "");
    SIM_ARGUMENT(transposition == ACL_TRANS_N || (may_turn && transposition == ACL_TRANS_T), ACL_ERROR_INVALID_PARAM,
                 "%s is %d, expected ACL_TRANS_N (0)%s", name, (int)transposition,
                 may_turn ? " or ACL_TRANS_T (1)" : "");
    return ACL_SUCCESS;
}

static aclError check(const struct sim_blas *blas)
{
    SIM_TRY(check_transposition("transA", blas->bl_trans_a, true));
    SIM_TRY(check_transposition("transB", blas->bl_trans_b, true));
    SIM_TRY(check_transposition("transC", blas->bl_trans_c, false));
    SIM_ARGUMENT(blas->bl_rows > 0 && blas->bl_columns > 0 && blas->bl_depth > 0, ACL_ERROR_INVALID_PARAM,
                 "the product has %d rows, %d columns and an inner dimension of %d, expected more than 0",
                 blas->bl_rows,
                 blas->bl_columns, blas->bl_depth);
    SIM_ARGUMENT(blas->bl_compute == ACL_COMPUTE_HIGH_PRECISION, ACL_ERROR_INVALID_PARAM,
                 "type is %d, expected ACL_COMPUTE_HIGH_PRECISION (0)", (int)blas->bl_compute);
    return check_types(blas);
}

static void describe(struct sim_op_tensor *tensor, aclDataType type, int rows, int columns, bool turned)
{
    tensor->ot_type = type;
    tensor->ot_format = ACL_FORMAT_ND;
    tensor->ot_rank = 2;
    tensor->ot_dims[turned ? 1 : 0] = rows;
    tensor->ot_dims[turned ? 0 : 1] = columns;
    tensor->ot_bytes = (uint64_t)rows * (uint64_t)columns * sim_type_bits(type) / 8;
}

static aclError set_turned(struct sim_op_request *request, const struct sim_blas *blas)
{
    const char *const names[] = {"transpose_a", "transpose_b"};
    const aclTransType values[] = {blas->bl_trans_a, blas->bl_trans_b};
    struct sim_attributes *attributes = &request->rq_attributes;
    attributes->as_list = calloc(2, sizeof *attributes->as_list);
    for (size_t i = 0; i < 2 && attributes->as_list != NULL; i++) {
        attributes->as_list[i] = (struct sim_attribute){
            .at_name = strdup(names[i]), .at_kind = SIM_ATTRIBUTE_INTEGER, .at_integer = values[i] == ACL_TRANS_T};
        attributes->as_count = i + 1;
        SIM_ARGUMENT(attributes->as_list[i].at_name != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for a product");
    }
    SIM_ARGUMENT(attributes->as_list != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for a product");
    return ACL_SUCCESS;
}

static aclError make_request(const struct sim_blas *blas, struct sim_op_request *request)
{
    SIM_TRY(check(blas));
    SIM_TRY(sim_op_request_create("GEMM", INPUTS, 1, request));
    struct sim_op_tensor *tensors = request->rq_tensors;
    describe(&tensors[A], blas->bl_type_a, blas->bl_rows, blas->bl_depth, blas->bl_trans_a == ACL_TRANS_T);
    describe(&tensors[B], blas->bl_type_b, blas->bl_depth, blas->bl_columns, blas->bl_trans_b == ACL_TRANS_T);
    describe(&tensors[C], blas->bl_type_c, blas->bl_rows, blas->bl_columns, false);
    describe(&tensors[ALPHA], blas->bl_type_c, 1, 1, false);
    describe(&tensors[BETA], blas->bl_type_c, 1, 1, false);
    *sim_op_output(request, 0) = tensors[C];
    for (size_t i = ALPHA; i <= BETA; i++)
        tensors[i].ot_rank = 1;
    aclError code = set_turned(request, blas);
    if (code != ACL_SUCCESS)
        sim_op_request_drop(request);
    return code;
}

/* The memory has no stated size: its claim checks that it holds what the shape needs. */
static void set_data(struct sim_op_tensor *tensor, const void *data)
{
    tensor->ot_data = (void *)(uintptr_t)data;
    tensor->ot_size = tensor->ot_bytes;
}

static aclError check_distance(const char *name, int distance)
{
    SIM_ARGUMENT(distance == SIM_BLAS_WHOLE, ACL_ERROR_INVALID_PARAM,
                 "the distance between elements or rows of %s is %d, expected -1, the only supported value", name,
                 distance);
    return ACL_SUCCESS;
}

static aclError check_data(const struct sim_blas_data *data)
{
    const void *const pointers[] = {data->bd_alpha, data->bd_a, data->bd_b, data->bd_beta, data->bd_c};
    const char *const names[] = {"alpha", "the first factor", "the second factor", "beta", "the result"};
    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++)
        SIM_ARGUMENT(pointers[i] != NULL, ACL_ERROR_INVALID_PARAM, "%s is NULL, expected device memory", names[i]);
    SIM_TRY(check_distance(names[1], data->bd_distance_a));
    SIM_TRY(check_distance(names[2], data->bd_distance_b));
    return check_distance(names[4], data->bd_distance_c);
}

aclError sim_blas_execute(const struct sim_blas *blas, const struct sim_blas_data *data, aclrtStream stream, void *site)
{
    struct sim_op_request request;
    SIM_TRY(check_data(data));
    SIM_TRY(make_request(blas, &request));
    set_data(&request.rq_tensors[A], data->bd_a);
    set_data(&request.rq_tensors[B], data->bd_b);
    set_data(&request.rq_tensors[C], data->bd_c);
    set_data(&request.rq_tensors[ALPHA], data->bd_alpha);
    set_data(&request.rq_tensors[BETA], data->bd_beta);
    set_data(sim_op_output(&request, 0), data->bd_c);
    aclError code = sim_op_submit(&request, stream, site);
    sim_op_request_drop(&request);
    return code;
}

aclError sim_blas_handle(const struct sim_blas *blas, aclopHandle **handle)
{
    struct sim_op_request request;
    SIM_NOT_NULL(handle);
    *handle = NULL;
    SIM_TRY(make_request(blas, &request));
    return sim_op_handle_keep(&request, handle);
}
