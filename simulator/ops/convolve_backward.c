/* The gradients of convolutions: ConvolutionBackward and ConvTbcBackward. Those of the input and of the weight are
 * computed like the convolution itself (convolve.h); that of the bias is a sum over the batch and all positions. */
#include "base/fail.h"
#include "operator/row.h"
#include "convolve.h"
#include "require.h"
#include "walk.h"

enum { INPUT, WEIGHT, BIAS, GRADIENTS };

/* The convolution, whose output is the gradient that is given, and the gradients to compute; NULL: not wanted. */
struct gradients {
    struct sim_convolution_call gr_call;
    const aclsimArgument *gr_to[GRADIENTS];
    const aclsimTensor *gr_like[2]; /* the input and the weight, as they were passed */
};

/* ---- the first phase ---- */

static aclnnStatus plan_gradients(const struct gradients *gradients, int64_t *channels)
{
    static const char *const whose[] = {"that of the input", "that of the weight"};
    SIM_TRY(sim_convolution_check(&gradients->gr_call, channels));
    for (int i = 0; i < GRADIENTS; i++) {
        const aclsimArgument *to = gradients->gr_to[i];
        if (to == NULL)
            continue;
        SIM_TRY(sim_require_type(to, SIM_TYPES_SINGLE));
        SIM_TRY(i == BIAS ? sim_require_shape(to, channels, 1, "one number per output channel")
                          : sim_require_shape(to, gradients->gr_like[i]->dims, gradients->gr_like[i]->rank, whose[i]));
    }
    return ACL_SUCCESS;
}

/* ---- the second phase ---- */

static aclError add_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const aclDataType type = ((const aclsimTensor *)context)->type;
    double sum = 0;
    union sim_block_values block;
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        size_t count = sim_element_block(done, length);
        sim_element_load(&block, SIM_CLASS_FLOAT, places[1] + done * strides[1], type,
                         strides[1] / (int64_t)sim_element_size(type), count);
        for (size_t i = 0; i < count; i++)
            sum += (double)block.bv_floats[i];
    }
    *(double *)(void *)places[0] += sum;
    return ACL_SUCCESS;
}

/* Sums a gradient over all dimensions except that of the channels. */
static aclError run_bias(const aclsimTensor *from, const aclsimTensor *to)
{
    union sim_block_values block;
    double sum = 0;
    aclsimTensor part = *from;
    const size_t sizes[] = {sizeof sum, sim_element_size(from->type)};
    struct sim_walk walk = {.wk_places = 2};
    for (uint32_t k = 0; k < from->rank; k++)
        if (k != 1)
            sim_walk_add(&walk, from->dims[k], (const int64_t[]){0, from->strides[k]}, sizes);
    sim_walk_join(&walk);
    for (int64_t channel = 0; channel < to->dims[0]; channel++) {
        sum = 0;
        part.data = (char *)from->data;
        if (!walk.wk_empty)
            sim_walk_advance(&part, channel * from->strides[1]);
        SIM_TRY(sim_walk_run(&walk, (char *[]){(char *)(void *)&sum, part.data}, add_line, &part));
        block.bv_floats[0] = (float)sum;
        sim_element_store(&block, SIM_CLASS_FLOAT,
                          (char *)to->data + channel * to->strides[0] * (int64_t)sim_element_size(to->type), to->type,
                          0, 1);
    }
    return ACL_SUCCESS;
}

/* Computes the gradient of one part, of which `to` has the usual layout, from the other two. */
static aclError run_part(const struct sim_convolution_call *call, enum sim_convolution_part part,
                         const aclsimTensor *to)
{
    struct sim_convolution convolution = sim_convolution_of(call);
    const bool transposed = call->cc_transposed;
    const aclsimTensor *const tensors[] = {
        [SIM_PART_WIDE] = (transposed ? call->cc_output : call->cc_input)->tensors,
        [SIM_PART_NARROW] = (transposed ? call->cc_input : call->cc_output)->tensors,
        [SIM_PART_WEIGHT] = call->cc_weight->tensors,
    };
    aclError code = ACL_SUCCESS;
    for (enum sim_convolution_part k = SIM_PART_WIDE; code == ACL_SUCCESS && k < SIM_PARTS; k++)
        code = k == part ? sim_convolution_clear(&convolution, k, to)
                         : sim_convolution_load(&convolution, k, tensors[k]);
    if (code == ACL_SUCCESS)
        code = sim_convolution_run(&convolution, part);
    if (code == ACL_SUCCESS)
        sim_convolution_store(&convolution, part, to);
    sim_convolution_free(&convolution);
    return code;
}

/* `input` and `weight` are the gradients in the usual layout; NULL: not wanted. */
static aclError run_gradients(const struct gradients *gradients, const aclsimTensor *input, const aclsimTensor *weight)
{
    const struct sim_convolution_call *call = &gradients->gr_call;
    if (input != NULL && !sim_walk_is_empty(input->dims, input->rank))
        SIM_TRY(run_part(call, call->cc_transposed ? SIM_PART_NARROW : SIM_PART_WIDE, input));
    if (weight != NULL && !sim_walk_is_empty(weight->dims, weight->rank))
        SIM_TRY(run_part(call, SIM_PART_WEIGHT, weight));
    if (gradients->gr_to[BIAS] != NULL)
        SIM_TRY(run_bias(call->cc_output->tensors, gradients->gr_to[BIAS]->tensors));
    return ACL_SUCCESS;
}

/* ---- ConvolutionBackward: gradOutput, input, weight, biasSizes, stride, padding, dilation, transposed, outputPadding,
 * groups, outputMask, cubeMathType, gradInput, gradWeight, gradBias ---- */

static struct gradients gradients_of(const aclsimArgument *given)
{
    struct gradients gradients = {
        .gr_call = {
            .cc_input = &given[1],
            .cc_weight = &given[2],
            .cc_output = &given[0],
            .cc_step = &given[4],
            .cc_padding = &given[5],
            .cc_apart = &given[6],
            .cc_extra = &given[8],
            .cc_math = &given[11],
            .cc_groups = given[9].integer,
            .cc_transposed = given[7].integer != 0,
        },
        .gr_like = {given[1].tensors, given[2].tensors},
    };
    for (int i = 0; i < GRADIENTS; i++)
        gradients.gr_to[i] = given[10].booleans[i] ? &given[12 + i] : NULL;
    return gradients;
}

static aclnnStatus plan_convolution(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *sizes = &given[3], *extra = &given[8];
    int64_t channels = 0;
    (void)workspace_size;
    SIM_TRY(sim_require_count(&given[10], GRADIENTS));
    for (int i = 0; i < GRADIENTS; i++)
        SIM_ARGUMENT(!given[10].booleans[i] || given[12 + i].present, ACLNN_ERR_PARAM_NULLPTR,
                     "%s is NULL, expected a valid pointer", given[12 + i].name);
    for (uint64_t i = 0; given[7].integer == 0 && i < extra->count; i++)
        SIM_ARGUMENT(extra->integers[i] == 0, ACLNN_ERR_PARAM_INVALID,
                     "%s[%llu] is %lld, expected 0 unless the convolution is transposed", extra->name,
                     (unsigned long long)i, (long long)extra->integers[i]);
    const struct gradients gradients = gradients_of(given);
    SIM_TRY(plan_gradients(&gradients, &channels));
    if (gradients.gr_to[BIAS] == NULL || !sizes->present)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_count(sizes, 1));
    SIM_ARGUMENT(sizes->integers[0] == channels, ACLNN_ERR_PARAM_INVALID,
                 "%s[0] is %lld, expected %lld, the output channels", sizes->name, (long long)sizes->integers[0],
                 (long long)channels);
    return ACL_SUCCESS;
}

static aclError run_convolution(const aclsimCall *call)
{
    const struct gradients gradients = gradients_of(call->arguments);
    const aclsimArgument *input = gradients.gr_to[INPUT], *weight = gradients.gr_to[WEIGHT];
    return run_gradients(&gradients, input == NULL ? NULL : input->tensors, weight == NULL ? NULL : weight->tensors);
}

/* ---- ConvTbcBackward: self, input, weight, bias, pad, cubeMathType, gradInput, gradWeight, gradBias ---- */

static struct gradients tbc_of(const aclsimArgument *given, struct sim_convolution_tbc *tbc)
{
    return (struct gradients){
        .gr_call = sim_convolution_tbc(tbc, &given[1], &given[2], &given[0], &given[4], &given[5]),
        .gr_to = {&given[6], &given[7], &given[8]},
        .gr_like = {given[1].tensors, given[2].tensors},
    };
}

static aclnnStatus plan_tbc(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    struct sim_convolution_tbc tbc;
    int64_t channels = 0;
    (void)workspace_size;
    for (int i = 0; i < 3; i++)
        SIM_TRY(sim_require_rank(&given[i], 3, 3));
    const struct gradients gradients = tbc_of(given, &tbc);
    SIM_TRY(plan_gradients(&gradients, &channels));
    SIM_TRY(sim_require_type(&given[3], SIM_TYPES_SINGLE));
    return sim_require_shape(&given[3], &channels, 1, "one number per output channel");
}

static aclError run_tbc(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    struct sim_convolution_tbc tbc;
    const struct gradients gradients = tbc_of(given, &tbc);
    const aclsimTensor input = sim_convolution_tbc_image(given[6].tensors);
    const aclsimTensor weight = sim_convolution_tbc_weight(given[7].tensors);
    return run_gradients(&gradients, &input, &weight);
}

const struct sim_kernel sim_kernel_aclnnConvolutionBackward = {plan_convolution, run_convolution, NULL, false},
                        sim_kernel_aclnnConvTbcBackward = {plan_tbc, run_tbc, NULL, false};
