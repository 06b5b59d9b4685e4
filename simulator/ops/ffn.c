/* Feed-forward networks of two layers: FFN and FFNV2: y = activation(x @ weight1 + bias1) @ weight2 + bias2. x has any
 * number of dimensions before its last one. With expertTokens, each expert has matrices of its own, and the next rows,
 * as many as its number says; with tokensIndexFlag, the numbers are the ends of the groups. What the first layer puts
 * out is rounded to the type of x, as the second layer multiplies it. */
#include "operator/row.h"
#include "quant_product.h"
#include "report.h"
#include "smooth.h"

#include <inttypes.h>
#include <stdlib.h>

enum { X, WEIGHTS, TOKENS = 3, BIASES, SCALE = 6, LAST_SCALE = 13, ACTIVATION, PRECISION, INDEX_FLAG, LAYERS = 2 };
#define SECOND_ARGUMENTS 18
#define MOST_EXPERTS 256

static const struct activation {
    const char *ac_name;
    double (*ac_value)(double value);
} activations[] = {
    {"fastgelu", sim_fast_gelu}, {"gelu", sim_gelu_by_tanh}, {"relu", sim_relu}, {"silu", sim_silu}};

static aclnnStatus find_activation(const aclsimArgument *given, double (**activate)(double value))
{
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (strcmp(given->text, activations[i].ac_name) == 0) {
            *activate = activations[i].ac_value;
            return ACL_SUCCESS;
        }
    sim_report_text(given->name, activations[0].ac_name);
    return sim_refuse(ACLNN_ERR_PARAM_INVALID, "%s is \"%.40s\", expected fastgelu, gelu, relu or silu", given->name,
                      given->text);
}

struct network {
    const aclsimArgument *ne_given, *ne_y;
    bool ne_grouped, ne_ends; /* expertTokens is given; its numbers are ends */
    int64_t ne_rows, ne_sizes[LAYERS + 1], ne_experts; /* ne_sizes: columns of x, of the hidden layer, and of y */
};

static struct network network_of(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *x = given[X].tensors;
    const bool has_flag = call->argumentCount == SECOND_ARGUMENTS;
    struct network network = {.ne_given = given,
                              .ne_y = &given[call->argumentCount - 1],
                              .ne_grouped = given[TOKENS].present != 0 && given[TOKENS].count != 0,
                              .ne_ends = has_flag && given[INDEX_FLAG].integer != 0,
                              .ne_rows = (int64_t)sim_slices_extent(x, 0, x->rank - 1)};
    network.ne_experts = network.ne_grouped ? (int64_t)given[TOKENS].count : 1;
    network.ne_sizes[0] = x->dims[x->rank - 1];
    for (size_t i = 0; i < LAYERS; i++) {
        const aclsimTensor *weight = given[WEIGHTS + i].tensors;
        network.ne_sizes[i + 1] = weight->rank == 0 ? 0 : weight->dims[weight->rank - 1];
    }
    return network;
}

/* The rows of an expert; they end where the next ones begin. */
static int64_t end_of(const struct network *network, int64_t expert, int64_t start)
{
    const aclsimArgument *tokens = &network->ne_given[TOKENS];
    if (!network->ne_grouped)
        return network->ne_rows;
    return network->ne_ends ? tokens->integers[expert] : start + tokens->integers[expert];
}

static aclnnStatus check_tokens(const struct network *network)
{
    const aclsimArgument *tokens = &network->ne_given[TOKENS];
    int64_t start = 0;
    SIM_ARGUMENT(network->ne_experts <= MOST_EXPERTS, ACLNN_ERR_PARAM_INVALID, "%s has %" PRId64
                 " numbers, expected at most %d", tokens->name, network->ne_experts, MOST_EXPERTS);
    for (int64_t i = 0; network->ne_grouped && i < network->ne_experts; i++) {
        const bool fits = tokens->integers[i] >= 0 && tokens->integers[i] <= network->ne_rows;
        const int64_t end = fits ? end_of(network, i, start) : -1;
        SIM_ARGUMENT(end >= start && end <= network->ne_rows, ACLNN_ERR_PARAM_INVALID,
                     "%s[%" PRId64 "] is %" PRId64 ", expected a group within the %" PRId64 " rows of x", tokens->name,
                     i, tokens->integers[i], network->ne_rows);
        start = end;
    }
    SIM_ARGUMENT(!network->ne_grouped || start == network->ne_rows, ACLNN_ERR_PARAM_INVALID,
                 "%s ends at row %" PRId64 ", expected %" PRId64 ", the rows of x", tokens->name, start,
                 network->ne_rows);
    return ACL_SUCCESS;
}

/* The matrix and the bias of a layer, with a dimension for the experts if there are any. */
static aclnnStatus check_layer(const struct network *network, size_t layer)
{
    const aclsimArgument *weight = &network->ne_given[WEIGHTS + layer], *bias = &network->ne_given[BIASES + layer];
    const aclsimArgument *x = &network->ne_given[X];
    const int64_t dims[] = {network->ne_experts, network->ne_sizes[layer], network->ne_sizes[layer + 1]};
    const int64_t biases[] = {network->ne_experts, network->ne_sizes[layer + 1]};
    const uint32_t skipped = network->ne_grouped ? 0 : 1;
    SIM_TRY(sim_require_same_type(weight, x->tensors->type, x->name));
    SIM_TRY(sim_require_shape(weight, dims + skipped, 3 - skipped, "that of the layer"));
    if (bias->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(bias, SIM_TYPE(x->tensors->type == ACL_BF16 ? ACL_FLOAT : ACL_FLOAT16)));
    return sim_require_shape(bias, biases + skipped, 2 - skipped, "one number per column of the layer");
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    double (*activate)(double value);
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[X], SIM_TYPES_HALF));
    SIM_TRY(sim_require_rank(&given[X], 2, SIM_RANK));
    for (size_t i = SCALE; i <= LAST_SCALE; i++) {
        if (given[i].present != 0)
            sim_report_absent(given[i].name);
        SIM_ARGUMENT(given[i].present == 0, ACLNN_ERR_PARAM_INVALID,
                     "%s is a tensor, expected NULL: quantised networks are not supported", given[i].name);
    }
    SIM_TRY(find_activation(&given[ACTIVATION], &activate));
    SIM_ARGUMENT(given[PRECISION].integer == 0 || given[PRECISION].integer == 1, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected 0 or 1", given[PRECISION].name, given[PRECISION].integer);
    for (size_t i = 0; i < 3; i++)
        SIM_ARGUMENT(!sim_walk_is_empty(given[i].tensors->dims, given[i].tensors->rank), ACLNN_ERR_PARAM_INVALID,
                     "%s has no elements, expected 1 or more", given[i].name);
    const struct network network = network_of(call);
    SIM_TRY(check_tokens(&network));
    for (size_t i = 0; i < LAYERS; i++)
        SIM_TRY(check_layer(&network, i));
    aclsimTensor wanted = *given[X].tensors;
    wanted.dims[wanted.rank - 1] = network.ne_sizes[LAYERS];
    SIM_TRY(sim_require_type(network.ne_y, SIM_TYPE(wanted.type)));
    return sim_require_shape(network.ne_y, wanted.dims, wanted.rank, "that of x with the columns of weight2");
}

/* A tensor without its first dimension, at one index of it; the tensor itself without experts. */
static aclsimTensor part_of(const struct network *network, const aclsimTensor *tensor, int64_t expert)
{
    if (!network->ne_grouped)
        return *tensor;
    aclsimTensor part = sim_line_without(tensor, 0);
    if (expert != 0) /* a dimension of size 1 may have any stride */
        sim_walk_advance(&part, expert * tensor->strides[0]);
    return part;
}

/* Computes one layer for the rows of an expert. `from` and `to` are their first rows. */
static aclError run_layer(const struct network *network, size_t layer, int64_t expert, int64_t rows, void *from,
                          void *to)
{
    const aclsimArgument *bias = &network->ne_given[BIASES + layer];
    const aclDataType type = network->ne_given[X].tensors->type;
    const int64_t left[] = {rows, network->ne_sizes[layer]}, out[] = {rows, network->ne_sizes[layer + 1]};
    struct sim_lists lists = {.ls_count = 0};
    struct sim_quant_product product = {
        .qp_left = sim_walk_plain(from, type, left, 2),
        .qp_right = part_of(network, network->ne_given[WEIGHTS + layer].tensors, expert),
        .qp_out = sim_walk_plain(to, type, out, 2),
    };
    double *numbers = NULL;
    aclError code = ACL_SUCCESS;
    if (layer == 0)
        SIM_TRY(find_activation(&network->ne_given[ACTIVATION], &product.qp_activate));
    if (bias->present != 0) {
        const aclsimTensor part = part_of(network, bias->tensors, expert);
        aclsimArgument one = *bias;
        one.tensors = &part;
        code = sim_lists_load(&lists, &one, &numbers);
    }
    product.qp_late = numbers;
    if (code == ACL_SUCCESS)
        code = sim_quant_product_run(&product);
    sim_lists_free(&lists);
    return code;
}

/* Computes all layers between contiguous rows. */
static aclError run_rows(const struct network *network, char *x, char *hidden, char *y)
{
    const size_t size = sim_element_size(network->ne_given[X].tensors->type);
    char *const places[] = {x, hidden, y};
    int64_t start = 0;
    for (int64_t expert = 0; expert < network->ne_experts; expert++) {
        const int64_t end = end_of(network, expert, start);
        for (size_t i = 0; i < LAYERS && end > start; i++) {
            char *from = places[i] + (size_t)(start * network->ne_sizes[i]) * size;
            char *to = places[i + 1] + (size_t)(start * network->ne_sizes[i + 1]) * size;
            SIM_TRY(run_layer(network, i, expert, end - start, from, to));
        }
        start = end;
    }
    return ACL_SUCCESS;
}

static aclError run(const aclsimCall *call)
{
    const struct network network = network_of(call);
    const aclsimTensor *x = network.ne_given[X].tensors, *y = network.ne_y->tensors;
    const size_t size = sim_element_size(x->type), rows = (size_t)network.ne_rows;
    const size_t columns = (size_t)(network.ne_sizes[0] + network.ne_sizes[1] + network.ne_sizes[2]);
    char *memory = malloc(rows * columns * size);
    SIM_CHECK(memory != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate host memory for %zu rows", rows);
    char *hidden = memory + rows * (size_t)network.ne_sizes[0] * size;
    char *results = hidden + rows * (size_t)network.ne_sizes[1] * size;
    const aclsimTensor from = sim_walk_plain(memory, x->type, x->dims, x->rank);
    const aclsimTensor to = sim_walk_plain(results, y->type, y->dims, y->rank);
    sim_walk_copy(&from, x);
    const aclError code = run_rows(&network, memory, hidden, results);
    if (code == ACL_SUCCESS)
        sim_walk_copy(y, &to);
    free(memory);
    return code;
}

const struct sim_kernel sim_kernel_aclnnFFN = {plan, run, NULL, false};
const struct sim_kernel sim_kernel_aclnnFFNV2 = {plan, run, NULL, false};
