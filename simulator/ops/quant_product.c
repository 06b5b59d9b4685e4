/* The product of matrices and what follows it. Sums of integers are exact. */
#include "quant_product.h"

#include <math.h>

struct job {
    const struct sim_quant_product *jo_product;
    enum sim_class jo_class;
};

static double or_else(const double *numbers, size_t place, double missing)
{
    return numbers == NULL ? missing : numbers[place];
}

/* A dimension of size 1 may have any stride. */
static int64_t stride_of(const aclsimTensor *matrix, uint32_t dim)
{
    return matrix->dims[dim] < 2 ? 0 : matrix->strides[dim];
}

static void put_sums(void *context, int64_t row, int64_t column, union sim_block_values *sums, size_t count)
{
    const struct job *job = context;
    const struct sim_quant_product *product = job->jo_product;
    const aclsimTensor *out = &product->qp_out;
    const bool whole = sim_element_class(out->type) == SIM_CLASS_INTEGER;
    const double factor = or_else(product->qp_rows, (size_t)row, 1);
    union sim_block_values values;
    for (size_t i = 0; i < count; i++) {
        const size_t k = (size_t)column + i;
        double value = job->jo_class == SIM_CLASS_INTEGER ? (double)sums->bv_integers[i] : sums->bv_floats[i];
        value = (value + or_else(product->qp_early, k, 0)) * or_else(product->qp_scale, k, 1) * factor;
        value += or_else(product->qp_offset, k, 0) + or_else(product->qp_late, k, 0);
        if (product->qp_activate != NULL)
            value = product->qp_activate(value);
        values.bv_doubles[i] = whole ? rint(value) : value;
    }
    const int64_t place = row * stride_of(out, 0) + column * stride_of(out, 1);
    sim_element_store(&values, SIM_CLASS_DOUBLE, (char *)out->data + place * (int64_t)sim_element_size(out->type),
                      out->type, stride_of(out, 1), count);
}

aclError sim_quant_product_run(const struct sim_quant_product *product)
{
    const aclsimTensor *left = &product->qp_left, *right = &product->qp_right;
    const bool whole = sim_element_class(left->type) == SIM_CLASS_INTEGER &&
                       sim_element_class(right->type) == SIM_CLASS_INTEGER && product->qp_right_scale == NULL;
    struct job job = {product, whole ? SIM_CLASS_INTEGER : SIM_CLASS_FLOAT};
    const struct sim_multiply multiply = {
        .mu_class = job.jo_class,
        .mu_rows = left->dims[0],
        .mu_columns = right->dims[1],
        .mu_depth = left->dims[1],
        .mu_left = {left->data, left->type, stride_of(left, 0), stride_of(left, 1)},
        .mu_right = {right->data, right->type, stride_of(right, 1), stride_of(right, 0)},
        .mu_scale = product->qp_right_scale,
        .mu_offset = product->qp_right_offset,
        .mu_group = product->qp_group,
        .mu_put = put_sums,
        .mu_alone = sim_multiply_is_alone(&product->qp_out),
        .mu_context = &job,
    };
    return sim_multiply_run(&multiply);
}
