/* Matrix products: out = left @ right, or out = beta * self + alpha * (left @ right).
 *
 * Each operator has a struct rule: the positions of its arguments, their numbers of dimensions, and what its documents
 * allow. Everything else is shared. A left factor with one dimension is a row, a right one is a column; the result does
 * not have that dimension. Dimensions before the last two are batches, which are broadcast. The product is computed in
 * the class of the common type (multiply.c), with the math type of the cube unit (cube.h), and rounded once, to the
 * type of the result. */
#include "base/bytes.h"
#include "base/fail.h"
#include "operator/row.h"
#include "cube.h"
#include "product.h"
#include "require.h"
#include "tables.h"
#include "walk.h"

#include <inttypes.h>

#define NONE (-1)
#define FEW_COLUMNS 16 /* a narrower result is computed transposed, because panels are wide */

struct ranks {
    uint32_t rk_least, rk_most;
};

struct rule {
    uint64_t ru_types;             /* of all tensors */
    struct ranks ru_left, ru_right;
    int8_t ru_out, ru_math;        /* positions of arguments, or NONE; the factors are at ru_first and ru_first + 1 */
    int8_t ru_self, ru_beta, ru_alpha;
    int8_t ru_first;
    enum sim_math ru_last_math;
    bool ru_same;                  /* all tensors have the same type */
    bool ru_strict;                /* math types that do not apply to the factors' type are refused */
};

/* A tensor with the dimensions of the product. A stride, in elements, is 0 if the tensor is broadcast along it. */
struct matrix {
    const aclsimTensor *ma_tensor;
    int64_t ma_batch[SIM_RANK], ma_row, ma_column;
};

struct product {
    const struct rule *pr_rule;
    const aclsimArgument *pr_left, *pr_right, *pr_out, *pr_self, *pr_beta, *pr_alpha; /* the last three may be NULL */
    aclDataType pr_type; /* of the product, and of the sum with self */
    int64_t pr_rows, pr_columns, pr_depth;
    int64_t pr_dims[SIM_RANK]; /* of the result: batches, rows, columns */
    uint32_t pr_rank, pr_batches;
};

static bool is_row(const struct product *product)
{
    return product->pr_left->tensors->rank == 1;
}

static bool is_column(const struct product *product)
{
    return product->pr_right->tensors->rank == 1;
}

static uint32_t batches_of(const aclsimTensor *tensor)
{
    return tensor->rank > 2 ? tensor->rank - 2 : 0;
}

/* Size of the batch dimension `place` of `batches` ones, aligned at the right; 1 if the tensor does not have it. */
static int64_t batch_dim(const aclsimTensor *tensor, uint32_t batches, uint32_t place)
{
    uint32_t missing = batches - batches_of(tensor);
    return place < missing ? 1 : tensor->dims[place - missing];
}

static struct product arguments_of(const aclsimCall *call)
{
    const aclsimArgument *arguments = call->arguments;
    const struct rule *rule = call->userData;
    return (struct product){
        .pr_rule = rule,
        .pr_left = &arguments[rule->ru_first],
        .pr_right = &arguments[rule->ru_first + 1],
        .pr_out = &arguments[rule->ru_out],
        .pr_self = rule->ru_self == NONE ? NULL : &arguments[rule->ru_self],
        .pr_beta = rule->ru_self == NONE ? NULL : &arguments[rule->ru_beta],
        .pr_alpha = rule->ru_self == NONE ? NULL : &arguments[rule->ru_alpha],
    };
}

/* Derives the shape and the type of the product from the factors, whose numbers of dimensions are valid. */
static void complete(struct product *product)
{
    const aclsimTensor *left = product->pr_left->tensors, *right = product->pr_right->tensors;
    uint32_t rank = batches_of(left) > batches_of(right) ? batches_of(left) : batches_of(right);
    product->pr_batches = rank;
    for (uint32_t k = 0; k < rank; k++) {
        int64_t dim = batch_dim(left, rank, k);
        product->pr_dims[k] = dim == 1 ? batch_dim(right, rank, k) : dim;
    }
    product->pr_rows = is_row(product) ? 1 : left->dims[left->rank - 2];
    product->pr_columns = is_column(product) ? 1 : right->dims[right->rank - 1];
    product->pr_depth = left->dims[left->rank - 1];
    if (!is_row(product))
        product->pr_dims[rank++] = product->pr_rows;
    if (!is_column(product))
        product->pr_dims[rank++] = product->pr_columns;
    product->pr_rank = rank;
    product->pr_type = sim_element_promote(left->type, right->type);
    if (product->pr_self != NULL)
        product->pr_type = sim_element_promote(product->pr_type, product->pr_self->tensors->type);
}

/* ---- the first phase ---- */

static aclnnStatus check_types(const struct product *product)
{
    const struct rule *rule = product->pr_rule;
    const aclsimArgument *all[] = {product->pr_left, product->pr_right, product->pr_out, product->pr_self};
    for (size_t i = 0; i < sizeof all / sizeof *all && all[i] != NULL; i++) {
        SIM_TRY(rule->ru_same ? sim_require_types(all[0], all[i], rule->ru_types)
                              : sim_require_type(all[i], rule->ru_types));
    }
    return ACL_SUCCESS;
}

static aclnnStatus check_factors(const struct product *product)
{
    const aclsimArgument *left = product->pr_left, *right = product->pr_right;
    SIM_TRY(sim_require_rank(left, product->pr_rule->ru_left.rk_least, product->pr_rule->ru_left.rk_most));
    SIM_TRY(sim_require_rank(right, product->pr_rule->ru_right.rk_least, product->pr_rule->ru_right.rk_most));
    uint32_t last = left->tensors->rank - 1, first = is_column(product) ? 0 : right->tensors->rank - 2;
    int64_t depth = left->tensors->dims[last], other = right->tensors->dims[first];
    SIM_ARGUMENT(depth == other, ACLNN_ERR_PARAM_INVALID,
                 "dimension %u of %s is %" PRId64 " and dimension %u of %s is %" PRId64 ", expected the same", last,
                 left->name, depth, first, right->name, other);
    bool stretches = product->pr_rule->ru_self != product->pr_rule->ru_out; /* not in place */
    uint32_t one = batches_of(left->tensors), two = batches_of(right->tensors), rank = one > two ? one : two;
    for (uint32_t k = 0; k < rank; k++) {
        int64_t dim = batch_dim(left->tensors, rank, k);
        other = batch_dim(right->tensors, rank, k);
        SIM_ARGUMENT(dim == other || (stretches && (dim == 1 || other == 1)), ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is %" PRId64 " and dimension %u of %s is %" PRId64 ", expected the same%s",
                     k + one - rank, left->name, dim, k + two - rank, right->name, other, stretches ? " or 1" : "");
    }
    return ACL_SUCCESS;
}

static aclnnStatus check_sum(const struct product *product)
{
    const aclsimArgument *self = product->pr_self;
    const char *sum = "the type of the sum";
    SIM_TRY(sim_require_cast(product->pr_beta->name, product->pr_beta->scalars->type, sum, product->pr_type));
    SIM_TRY(sim_require_cast(product->pr_alpha->name, product->pr_alpha->scalars->type, sum, product->pr_type));
    uint32_t rank = self->tensors->rank, missing = product->pr_rank - rank;
    SIM_TRY(sim_require_rank(self, 0, product->pr_rank));
    for (uint32_t k = 0; k < rank; k++) {
        int64_t dim = self->tensors->dims[k], wanted = product->pr_dims[k + missing];
        SIM_ARGUMENT(dim == wanted || dim == 1, ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is %" PRId64 " and that of the product is %" PRId64
                     ", expected the same or 1", k, self->name, dim, wanted);
    }
    return ACL_SUCCESS;
}

/* The common type of the factors, to which the math type applies; UNDEFINED if the operator has no math type, or if
 * both factors are vectors. */
static aclDataType cube_type(const struct product *product)
{
    if (product->pr_rule->ru_math == NONE || (is_row(product) && is_column(product)))
        return ACL_DT_UNDEFINED;
    return sim_element_promote(product->pr_left->tensors->type, product->pr_right->tensors->type);
}

static aclnnStatus check_math(const struct product *product, const aclsimCall *call)
{
    const struct rule *rule = product->pr_rule;
    aclDataType type = cube_type(product);
    return type == ACL_DT_UNDEFINED
               ? ACL_SUCCESS
               : sim_cube_check(&call->arguments[rule->ru_math], rule->ru_last_math, type, rule->ru_strict);
}

static aclnnStatus plan_product(const aclsimCall *call, uint64_t *workspace_size)
{
    struct product product = arguments_of(call);
    (void)workspace_size;
    SIM_TRY(check_types(&product));
    SIM_TRY(check_factors(&product));
    complete(&product);
    /* Where the documents ask for a scalar, programs also pass a tensor of one element. */
    SIM_TRY(product.pr_rank == 0 ? sim_require_one(product.pr_out)
                                 : sim_require_shape(product.pr_out, product.pr_dims, product.pr_rank,
                                                     "that of the product"));
    if (product.pr_self != NULL)
        SIM_TRY(check_sum(&product));
    SIM_TRY(sim_require_cast(product.pr_self != NULL ? "the sum" : "the product", product.pr_type,
                             "the type of the output", product.pr_out->tensors->type));
    return check_math(&product, call);
}

/* ---- the second phase ---- */

/* A tensor whose dimensions are those of the product or, aligned at the right, the last of them. */
static struct matrix matrix_of(const aclsimTensor *tensor, const struct product *product)
{
    struct matrix matrix = {.ma_tensor = tensor};
    uint32_t missing = product->pr_rank - tensor->rank, next = product->pr_batches;
    int64_t strides[SIM_RANK] = {0};
    for (uint32_t k = 0; product->pr_rank > 0 && k < tensor->rank; k++)
        strides[k + missing] = tensor->dims[k] == 1 ? 0 : tensor->strides[k];
    for (uint32_t k = 0; k < product->pr_batches; k++)
        matrix.ma_batch[k] = strides[k];
    if (!is_row(product))
        matrix.ma_row = strides[next++];
    if (!is_column(product))
        matrix.ma_column = strides[next];
    return matrix;
}

static struct matrix factor_of(const aclsimTensor *tensor, uint32_t batches, bool is_left)
{
    struct matrix matrix = {.ma_tensor = tensor};
    uint32_t missing = batches - batches_of(tensor);
    if (sim_walk_is_empty(tensor->dims, tensor->rank))
        return matrix; /* its strides are unused and may have any value */
    for (uint32_t k = missing; k < batches; k++)
        matrix.ma_batch[k] = tensor->dims[k - missing] == 1 ? 0 : tensor->strides[k - missing];
    if (tensor->rank > 1) {
        matrix.ma_row = tensor->strides[tensor->rank - 2];
        matrix.ma_column = tensor->strides[tensor->rank - 1];
    } else if (is_left) {
        matrix.ma_column = tensor->strides[0];
    } else {
        matrix.ma_row = tensor->strides[0];
    }
    return matrix;
}

/* What is needed to compute one batch of the result. */
struct output {
    const struct product *ou_product;
    struct sim_multiply ou_multiply;
    enum sim_class ou_class;
    struct matrix ou_left, ou_right, ou_out, ou_self;
    char *ou_to;
    const char *ou_from; /* address of self */
    bool ou_adds;        /* self is added */
    union sim_block_values ou_alpha, ou_beta;
};

#define SCALE(name, element, values)                                                                                   \
    static void scale_##name(union sim_block_values *sums, const union sim_block_values *self,                         \
                             const struct output *output, size_t count)                                                \
    {                                                                                                                  \
        const element alpha = (element)output->ou_alpha.values[0], beta = (element)output->ou_beta.values[0];          \
        for (size_t i = 0; i < count; i++)                                                                             \
            sums->values[i] = alpha * (element)sums->values[i] + beta * (element)self->values[i];                      \
    }

SCALE(integers, uint64_t, bv_integers)
SCALE(floats, float, bv_floats)
SCALE(doubles, double, bv_doubles)

static void add_self(const struct output *output, int64_t row, int64_t column, union sim_block_values *sums,
                     size_t count)
{
    union sim_block_values self = {{0}};
    if (output->ou_adds) {
        const struct matrix *matrix = &output->ou_self;
        int64_t offset = row * matrix->ma_row + column * matrix->ma_column;
        aclDataType type = matrix->ma_tensor->type;
        sim_element_load(&self, output->ou_class, output->ou_from + offset * (int64_t)sim_element_size(type), type,
                         matrix->ma_column, count);
    }
    if (output->ou_class == SIM_CLASS_INTEGER)
        scale_integers(sums, &self, output, count);
    else if (output->ou_class == SIM_CLASS_FLOAT)
        scale_floats(sums, &self, output, count);
    else
        scale_doubles(sums, &self, output, count);
}

static void put(void *context, int64_t row, int64_t column, union sim_block_values *sums, size_t count)
{
    const struct output *output = context;
    const struct matrix *matrix = &output->ou_out;
    aclDataType type = matrix->ma_tensor->type;
    int64_t offset = row * matrix->ma_row + column * matrix->ma_column;
    if (output->ou_product->pr_self != NULL)
        add_self(output, row, column, sums, count);
    if (output->ou_class == SIM_CLASS_INTEGER)
        sim_element_wrap(sums, output->ou_product->pr_type, count);
    sim_element_store(sums, output->ou_class, output->ou_to + offset * (int64_t)sim_element_size(type), type,
                      matrix->ma_column, count);
}

/* Treats the last batch dimensions as more rows, if their strides allow it: the right factor is then packed once. */
static void join_batches(struct product *product, struct output *output)
{
    while (product->pr_batches > 0) {
        uint32_t last = product->pr_batches - 1;
        struct matrix *all[] = {&output->ou_left, &output->ou_out, &output->ou_self};
        int64_t rows = product->pr_rows;
        if (output->ou_right.ma_batch[last] != 0 ||
            !sim_length_multiply(&rows, product->pr_dims[last]))
            return;
        for (size_t i = 0; i < 3; i++)
            if (product->pr_rows > 1 && all[i]->ma_batch[last] != product->pr_rows * all[i]->ma_row)
                return;
        for (size_t i = 0; product->pr_rows == 1 && i < 3; i++)
            all[i]->ma_row = all[i]->ma_batch[last];
        product->pr_rows = rows;
        product->pr_batches = last;
    }
}

static enum sim_rounding rounding_of(const struct product *product, const aclsimCall *call)
{
    aclDataType type = cube_type(product);
    return type == ACL_DT_UNDEFINED ? SIM_ROUND_NOT
                                    : sim_cube_rounding(&call->arguments[product->pr_rule->ru_math], type);
}

static aclError run_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct output *output = context;
    for (int64_t i = 0; i < length; i++) {
        output->ou_to = places[0] + i * strides[0];
        output->ou_multiply.mu_left.fa_place = places[1] + i * strides[1];
        output->ou_multiply.mu_right.fa_place = places[2] + i * strides[2];
        output->ou_from = places[3] + i * strides[3];
        SIM_TRY(sim_multiply_run(&output->ou_multiply));
    }
    return ACL_SUCCESS;
}

static aclError run_batches(const struct product *product, struct output *output)
{
    const struct matrix *all[] = {&output->ou_out, &output->ou_left, &output->ou_right, &output->ou_self};
    struct sim_walk walk = {.wk_places = 4};
    int64_t strides[4];
    size_t sizes[4];
    char *places[4];
    for (size_t i = 0; i < 4; i++) {
        sizes[i] = sim_element_size(all[i]->ma_tensor->type);
        places[i] = all[i]->ma_tensor->data;
    }
    for (uint32_t k = 0; k < product->pr_batches; k++) {
        for (size_t i = 0; i < 4; i++)
            strides[i] = all[i]->ma_batch[k];
        sim_walk_add(&walk, product->pr_dims[k], strides, sizes);
    }
    sim_walk_settle(&walk);
    return sim_walk_run(&walk, places, run_line, output);
}

static bool is_zero(const union sim_block_values *value, enum sim_class class)
{
    return class == SIM_CLASS_INTEGER ? value->bv_integers[0] == 0
           : class == SIM_CLASS_FLOAT ? value->bv_floats[0] == 0
                                      : value->bv_doubles[0] == 0;
}

static void load_sum(const struct product *product, struct output *output)
{
    const aclsimScalar *alpha = product->pr_alpha->scalars, *beta = product->pr_beta->scalars;
    sim_element_load(&output->ou_alpha, output->ou_class, alpha->value, alpha->type, 0, 1);
    sim_element_load(&output->ou_beta, output->ou_class, beta->value, beta->type, 0, 1);
    output->ou_self = matrix_of(product->pr_self->tensors, product);
    output->ou_adds = !is_zero(&output->ou_beta, output->ou_class);
}

static struct matrix transposed(struct matrix matrix)
{
    int64_t row = matrix.ma_row;
    matrix.ma_row = matrix.ma_column;
    matrix.ma_column = row;
    return matrix;
}

/* Computes the transposed result: (left @ right)^T is right^T @ left^T. */
static void transpose(struct product *product, struct output *output)
{
    struct matrix left = output->ou_left;
    int64_t rows = product->pr_rows;
    output->ou_left = transposed(output->ou_right);
    output->ou_right = transposed(left);
    output->ou_out = transposed(output->ou_out);
    output->ou_self = transposed(output->ou_self);
    product->pr_rows = product->pr_columns;
    product->pr_columns = rows;
}

static aclError run_product(const aclsimCall *call)
{
    struct product product = arguments_of(call);
    struct output output = {.ou_product = &product};
    complete(&product);
    if (sim_walk_is_empty(product.pr_dims, product.pr_rank))
        return ACL_SUCCESS;
    output.ou_class = sim_element_class(product.pr_type);
    if (output.ou_class == SIM_CLASS_COMPLEX_FLOAT)
        output.ou_class = SIM_CLASS_COMPLEX_DOUBLE; /* the only complex class of multiply.c */
    output.ou_left = factor_of(product.pr_left->tensors, product.pr_batches, true);
    output.ou_right = factor_of(product.pr_right->tensors, product.pr_batches, false);
    output.ou_out = output.ou_self = matrix_of(product.pr_out->tensors, &product);
    if (product.pr_self != NULL)
        load_sum(&product, &output);
    enum sim_rounding rounding = rounding_of(&product, call);
    join_batches(&product, &output);
    if (product.pr_columns < FEW_COLUMNS && product.pr_columns < product.pr_rows)
        transpose(&product, &output);
    const struct matrix *left = &output.ou_left, *right = &output.ou_right;
    output.ou_multiply = (struct sim_multiply){
        .mu_class = output.ou_class,
        .mu_rounding = rounding,
        .mu_rows = product.pr_rows,
        .mu_columns = product.pr_columns,
        .mu_depth = product.pr_depth,
        .mu_left = {NULL, left->ma_tensor->type, left->ma_row, left->ma_column},
        .mu_right = {NULL, right->ma_tensor->type, right->ma_column, right->ma_row},
        .mu_put = put,
        .mu_alone = sim_multiply_is_alone(product.pr_out->tensors),
        .mu_context = &output,
    };
    return run_batches(&product, &output);
}

/* ---- the operators ---- */

#define RULE(kernel, ...)                                                                                              \
    static const struct rule rule_of_##kernel = {__VA_ARGS__};                                                         \
    const struct sim_kernel kernel = {plan_product, run_product, (void *)&rule_of_##kernel, false}
#define PRODUCT(name, ...) RULE(sim_kernel_##name, __VA_ARGS__)

#define INTEGERS (SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_UINT8) | SIM_TYPE(ACL_INT32))
#define PLAIN .ru_first = 0, .ru_out = 2, .ru_self = NONE, .ru_beta = NONE, .ru_alpha = NONE
#define SUM .ru_self = 0, .ru_first = 1, .ru_beta = 3, .ru_alpha = 4

PRODUCT(aclnnMatmul, PLAIN, .ru_types = SIM_TYPES_SINGLE, .ru_left = {1, 6}, .ru_right = {1, 6}, .ru_math = 3,
        .ru_last_math = SIM_USE_FP32_ADD, .ru_strict = true);
PRODUCT(aclnnMm, PLAIN, .ru_types = SIM_TYPES_SINGLE, .ru_left = {2, 2}, .ru_right = {2, 2}, .ru_math = 3,
        .ru_last_math = SIM_USE_FP32_ADD, .ru_strict = true);
PRODUCT(aclnnBatchMatMul, PLAIN, .ru_types = SIM_TYPES_SINGLE, .ru_left = {3, 3}, .ru_right = {3, 3}, .ru_math = 3,
        .ru_last_math = SIM_USE_HF32);
PRODUCT(aclnnMv, PLAIN, .ru_types = SIM_TYPES_SINGLE | SIM_TYPES_COMPLEX, .ru_left = {2, 2}, .ru_right = {1, 1},
        .ru_math = 3, .ru_last_math = SIM_USE_HF32);
PRODUCT(aclnnDot, PLAIN, .ru_types = SIM_TYPES_SINGLE | INTEGERS, .ru_left = {1, 1}, .ru_right = {1, 1},
        .ru_math = NONE, .ru_same = true);
PRODUCT(aclnnAddmm, SUM, .ru_out = 5, .ru_types = SIM_TYPES_SINGLE, .ru_left = {2, 2}, .ru_right = {2, 2},
        .ru_math = 6, .ru_last_math = SIM_USE_FP32_ADD, .ru_strict = true);
PRODUCT(aclnnInplaceAddmm, SUM, .ru_out = 0, .ru_types = SIM_TYPES_SINGLE, .ru_left = {2, 2}, .ru_right = {2, 2},
        .ru_math = 5, .ru_last_math = SIM_USE_FP32_ADD, .ru_strict = true);
PRODUCT(aclnnBaddbmm, SUM, .ru_out = 5, .ru_types = SIM_TYPES_SINGLE, .ru_left = {3, 3}, .ru_right = {3, 3},
        .ru_math = 6, .ru_last_math = SIM_USE_FP32_ADD);
PRODUCT(aclnnInplaceBaddbmm, SUM, .ru_out = 0, .ru_types = SIM_TYPES_SINGLE, .ru_left = {3, 3}, .ru_right = {3, 3},
        .ru_math = 5, .ru_last_math = SIM_USE_FP32_ADD);
PRODUCT(aclnnAddmv, .ru_self = 0, .ru_first = 1, .ru_alpha = 3, .ru_beta = 4, .ru_out = 5,
        .ru_types = SIM_TYPES_REAL,
        .ru_left = {2, 2}, .ru_right = {1, 1}, .ru_math = 6, .ru_last_math = SIM_USE_HF32);

/* A weight in blocks keeps its elements in the order of its dimensions (format_cast.c). */
#define BLOCKED(name, as)                                                                                              \
    const struct sim_kernel sim_kernel_##name = {plan_product, run_product, (void *)&rule_of_sim_kernel_##as, false}
BLOCKED(aclnnMatmulWeightNz, aclnnMm);
BLOCKED(aclnnBatchMatMulWeightNz, aclnnBatchMatMul);
BLOCKED(aclnnAddmmWeightNz, aclnnAddmm);

RULE(sim_product_outer, PLAIN, .ru_types = SIM_TYPES_REAL | SIM_TYPES_COMPLEX, .ru_left = {2, 2}, .ru_right = {2, 2},
     .ru_math = NONE);
RULE(sim_product_outer_sum, SUM, .ru_out = 5, .ru_types = SIM_TYPES_REAL, .ru_left = {2, 2}, .ru_right = {2, 2},
     .ru_math = NONE);
RULE(sim_product_batch_sum, SUM, .ru_out = 5, .ru_types = SIM_TYPES_SINGLE, .ru_left = {2, 2}, .ru_right = {2, 2},
     .ru_math = 6, .ru_last_math = SIM_USE_HF32);

/* The single operator BatchMatMulV2 with a bias: bias, x1, x2, beta, alpha, y, math type. */
static const struct rule biased_rule = {SUM, .ru_out = 5, .ru_types = SIM_TYPES_SINGLE, .ru_left = {2, 6},
                                        .ru_right = {2, 6}, .ru_math = 6, .ru_last_math = SIM_USE_FP32_ADD};
static const struct sim_kernel biased_kernel = {plan_product, run_product, (void *)&biased_rule, false};
static const struct sim_parameter biased_parameters[] = {
    {"bias", ACLSIM_TENSOR, ACLSIM_IN, false}, {"x1", ACLSIM_TENSOR, ACLSIM_IN, false},
    {"x2", ACLSIM_TENSOR, ACLSIM_IN, false},   {"beta", ACLSIM_SCALAR, 0, false},
    {"alpha", ACLSIM_SCALAR, 0, false},        {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
    {"math", ACLSIM_INTEGER, 0, false},
};

struct sim_row sim_op_biased_product_row = SIM_ROW("BatchMatMulV2", SIM_TASK_CUBE, biased_parameters, &biased_kernel);
