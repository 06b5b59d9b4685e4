/* Convolution, ConvDepthwise2d and ConvTbc. */
#include "base/fail.h"
#include "operator/row.h"
#include "convolve.h"
#include "require.h"

/* ---- what the three operators share ---- */

/* The bias may be absent; otherwise it has one number per output channel. */
static aclnnStatus plan_forward(const struct sim_convolution_call *given, const aclsimArgument *bias)
{
    int64_t channels = 0;
    SIM_TRY(sim_convolution_check(given, &channels));
    if (!bias->present)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(bias, SIM_TYPES_SINGLE));
    return sim_require_shape(bias, &channels, 1, "one number per output channel");
}

/* Adds the bias to all values of an output that has the shape (batch, channels, length...). */
static void add_bias(float *values, const aclsimTensor *output, const aclsimTensor *bias)
{
    int64_t space = 1;
    union sim_block_values block;
    for (uint32_t k = 2; k < output->rank; k++)
        space *= output->dims[k];
    for (int64_t line = 0; line < output->dims[0] * output->dims[1]; line++, values += space) {
        const char *from = (const char *)bias->data +
                           line % output->dims[1] * bias->strides[0] * (int64_t)sim_element_size(bias->type);
        sim_element_load(&block, SIM_CLASS_FLOAT, from, bias->type, 0, 1);
        for (int64_t i = 0; i < space; i++)
            values[i] += block.bv_floats[0];
    }
}

static aclError compute(struct sim_convolution *convolution, const struct sim_convolution_call *given,
                        const aclsimArgument *bias)
{
    enum sim_convolution_part from = given->cc_transposed ? SIM_PART_NARROW : SIM_PART_WIDE;
    enum sim_convolution_part to = given->cc_transposed ? SIM_PART_WIDE : SIM_PART_NARROW;
    const aclsimTensor *output = given->cc_output->tensors;
    SIM_TRY(sim_convolution_load(convolution, from, given->cc_input->tensors));
    SIM_TRY(sim_convolution_load(convolution, SIM_PART_WEIGHT, given->cc_weight->tensors));
    SIM_TRY(sim_convolution_clear(convolution, to, output));
    SIM_TRY(sim_convolution_run(convolution, to));
    if (bias->present)
        add_bias(convolution->cv_values[to], output, bias->tensors);
    sim_convolution_store(convolution, to, output);
    return ACL_SUCCESS;
}

static aclError run_forward(const struct sim_convolution_call *given, const aclsimArgument *bias)
{
    const aclsimTensor *output = given->cc_output->tensors;
    if (output->dims[0] == 0 || output->dims[1] == 0)
        return ACL_SUCCESS;
    struct sim_convolution convolution = sim_convolution_of(given);
    aclError code = compute(&convolution, given, bias);
    sim_convolution_free(&convolution);
    return code;
}

/* ---- Convolution: input, weight, bias, stride, padding, dilation, transposed, outputPadding, groups, output,
 * cubeMathType ---- */

static struct sim_convolution_call convolution_of(const aclsimArgument *given)
{
    return (struct sim_convolution_call){
        .cc_input = &given[0],
        .cc_weight = &given[1],
        .cc_output = &given[9],
        .cc_step = &given[3],
        .cc_padding = &given[4],
        .cc_apart = &given[5],
        .cc_extra = &given[7],
        .cc_math = &given[10],
        .cc_groups = given[8].integer,
        .cc_transposed = given[6].integer != 0,
    };
}

static aclnnStatus plan_convolution(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct sim_convolution_call given = convolution_of(call->arguments);
    (void)workspace_size;
    return plan_forward(&given, &call->arguments[2]);
}

static aclError run_convolution(const aclsimCall *call)
{
    const struct sim_convolution_call given = convolution_of(call->arguments);
    return run_forward(&given, &call->arguments[2]);
}

/* ---- ConvDepthwise2d: self, weight, kernelSize, bias, stride, padding, dilation, out, cubeMathType ---- */

/* Each channel is a group of its own. */
static struct sim_convolution_call depthwise_of(const aclsimArgument *given)
{
    return (struct sim_convolution_call){
        .cc_input = &given[0],
        .cc_weight = &given[1],
        .cc_output = &given[7],
        .cc_step = &given[4],
        .cc_padding = &given[5],
        .cc_apart = &given[6],
        .cc_math = &given[8],
        .cc_groups = given[0].tensors->dims[1],
    };
}

static aclnnStatus plan_depthwise(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *size = &given[2];
    (void)workspace_size;
    SIM_TRY(sim_require_rank(&given[0], 4, 4));
    SIM_TRY(sim_require_rank(&given[1], 4, 4));
    SIM_TRY(sim_require_steps(size, 2, 1));
    for (uint32_t k = 0; k < 2; k++)
        SIM_ARGUMENT(size->integers[k] == given[1].tensors->dims[k + 2], ACLNN_ERR_PARAM_INVALID,
                     "%s[%u] is %lld, expected %lld, dimension %u of %s", size->name, k, (long long)size->integers[k],
                     (long long)given[1].tensors->dims[k + 2], k + 2, given[1].name);
    const struct sim_convolution_call parsed = depthwise_of(given);
    return plan_forward(&parsed, &given[3]);
}

static aclError run_depthwise(const aclsimCall *call)
{
    const struct sim_convolution_call given = depthwise_of(call->arguments);
    return run_forward(&given, &call->arguments[3]);
}

/* ---- ConvTbc: self, weight, bias, pad, output, cubeMathType ---- */

static aclnnStatus plan_tbc(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    struct sim_convolution_tbc tbc;
    (void)workspace_size;
    SIM_TRY(sim_require_rank(&given[0], 3, 3));
    SIM_TRY(sim_require_rank(&given[1], 3, 3));
    SIM_TRY(sim_require_rank(&given[4], 3, 3));
    const struct sim_convolution_call parsed =
        sim_convolution_tbc(&tbc, &given[0], &given[1], &given[4], &given[3], &given[5]);
    return plan_forward(&parsed, &given[2]);
}

static aclError run_tbc(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    struct sim_convolution_tbc tbc;
    const struct sim_convolution_call parsed =
        sim_convolution_tbc(&tbc, &given[0], &given[1], &given[4], &given[3], &given[5]);
    return run_forward(&parsed, &given[2]);
}

const struct sim_kernel sim_kernel_aclnnConvolution = {plan_convolution, run_convolution, NULL, false},
                        sim_kernel_aclnnConvDepthwise2d = {plan_depthwise, run_depthwise, NULL, false},
                        sim_kernel_aclnnConvTbc = {plan_tbc, run_tbc, NULL, false};
