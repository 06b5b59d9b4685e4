/* The product of matrices and what follows it. Integers are multiplied in 64 bits, so that sums are exact. A right
 * matrix with scales is converted to float32 in panels of columns, which keeps the memory of a call small. */
#include "quant_product.h"

#include "base/bytes.h"
#include <math.h>
#include <stdlib.h>

struct job {
    const struct sim_quant_product *jo_product;
    enum sim_class jo_class;
    int64_t jo_first; /* first column of the panel */
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
    column += job->jo_first;
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

static aclError multiply(struct job *job, struct sim_factor right, int64_t columns)
{
    const aclsimTensor *left = &job->jo_product->qp_left;
    const struct sim_multiply product = {
        .mu_class = job->jo_class,
        .mu_rows = left->dims[0],
        .mu_columns = columns,
        .mu_depth = left->dims[1],
        .mu_left = {left->data, left->type, stride_of(left, 0), stride_of(left, 1)},
        .mu_right = right,
        .mu_put = put_sums,
        .mu_context = job,
    };
    return sim_multiply_run(&product);
}

/* Converts `count` columns of the right matrix, from `first` on. */
static void convert(const struct sim_quant_product *product, int64_t first, size_t count, float *floats)
{
    const aclsimTensor *right = &product->qp_right;
    union sim_block_values block;
    for (int64_t row = 0; row < right->dims[0]; row++) {
        const int64_t place = row * stride_of(right, 0) + first * stride_of(right, 1);
        const int64_t group = product->qp_group == 0 ? 0 : row / product->qp_group;
        const size_t number = (size_t)(group * right->dims[1] + first);
        sim_element_load(&block, SIM_CLASS_DOUBLE,
                         (const char *)right->data + place * (int64_t)sim_element_size(right->type), right->type,
                         stride_of(right, 1), count);
        for (size_t i = 0; i < count; i++)
            *floats++ = (float)((block.bv_doubles[i] + or_else(product->qp_right_offset, number + i, 0)) *
                                product->qp_right_scale[number + i]);
    }
}

static aclError run_panels(const struct sim_quant_product *product)
{
    const int64_t columns = product->qp_right.dims[1];
    struct job job = {product, SIM_CLASS_FLOAT, 0};
    aclError code = ACL_SUCCESS;
    uint64_t bytes = SIM_BLOCK * sizeof(float);
    float *floats = sim_size_multiply(&bytes, (uint64_t)product->qp_right.dims[0] + 1) ? malloc(bytes) : NULL;
    SIM_CHECK(floats != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate host memory for %lld rows of a matrix",
              (long long)product->qp_right.dims[0]);
    for (; job.jo_first < columns && code == ACL_SUCCESS; job.jo_first += SIM_BLOCK) {
        const size_t count = sim_element_block(job.jo_first, columns);
        convert(product, job.jo_first, count, floats);
        const struct sim_factor panel = {(const char *)floats, ACL_FLOAT, 1, (int64_t)count};
        code = multiply(&job, panel, (int64_t)count);
    }
    free(floats);
    return code;
}

aclError sim_quant_product_run(const struct sim_quant_product *product)
{
    const aclsimTensor *right = &product->qp_right;
    const bool whole = sim_element_class(product->qp_left.type) == SIM_CLASS_INTEGER &&
                       sim_element_class(right->type) == SIM_CLASS_INTEGER;
    struct job job = {product, whole ? SIM_CLASS_INTEGER : SIM_CLASS_FLOAT, 0};
    if (product->qp_left.dims[0] == 0 || right->dims[1] == 0)
        return ACL_SUCCESS;
    if (product->qp_right_scale != NULL)
        return run_panels(product);
    return multiply(&job, (struct sim_factor){right->data, right->type, stride_of(right, 1), stride_of(right, 0)},
                    right->dims[1]);
}
