/* The types of single operators that train: gradients of activations and losses, the losses themselves, what picks and
 * places elements, and the activations that only frameworks use. op_table.c has the others. */
#include "op_source.h"

#include <string.h>

/* The gradient of a function of one tensor: the places of the gradient and of the tensor among the inputs. */
#define GRADIENT(name, row, grad, from, ...)                                                                           \
    {name, 2, row, SIM_SHAPE_FIRST, .ty_sources = {X(grad), X(from), __VA_ARGS__}}
#define LOSS(name, inputs, row, ...)                                                                                   \
    {                                                                                                                  \
        name, inputs, row, SIM_SHAPE_DERIVED,                                                                          \
            .ty_sources = {X(0), X(1), __VA_ARGS__, ANY("reduction")}, .ty_dims = sim_op_train_loss_dims              \
    }
/* predict, label, dout, and what the loss has beside them */
#define LOSS_GRADIENT(name, inputs, row, ...)                                                                          \
    {name, inputs, row, SIM_SHAPE_FIRST, .ty_sources = {X(2), X(0), X(1), __VA_ARGS__, ANY("reduction")}}
/* A program gives the shape of the output. */
#define UNKNOWN SIM_SHAPE_DERIVED, .ty_dims = sim_op_train_unknown_dims
#define REDUCTION_KIND DERIVED(sim_op_train_reduction)
#define LOG_OF_SUM(base, fits)                                                                                         \
    {"LogAddExp", 2, base, SIM_SHAPE_BROADCAST,                                                                        \
     .ty_sources = {X(0), X(1), Y, ANY("base"), FIXED("scale", 1), FIXED("shift", 0)}, .ty_fits = (fits)}
/* Both say whether the divisor is smaller than the number of elements, and by how much. */
#define SPREAD(name, row, ...)                                                                                         \
    {name, 2, row, SIM_SHAPE_REDUCED,                                                                                  \
     .ty_sources = {X(0), NEEDED("dim"), DERIVED(sim_op_train_correction), OPTIONAL("keepdim", 0), Y, ANY("unbiased"), \
                    ANY("correction"), ANY("if_std")},                                                                 \
     __VA_ARGS__}
#define RUNNING_BY(name, axis, row)                                                                                    \
    {name, 1, row, SIM_SHAPE_FIRST, .ty_sources = {X(0), NEEDED(axis), OUTPUT(0), OUTPUT(1)}, .ty_outputs = 2}

static double number_of(const struct sim_op_request *request, const char *name, double missing)
{
    const struct sim_source source = {.so_kind = SIM_FROM_ATTRIBUTE, .so_name = name, .so_number = missing};
    double number;
    bool is_integer;
    return sim_op_number(request, &source, &number, &is_integer) == ACL_SUCCESS ? number : missing;
}

static bool is_natural(const struct sim_op_request *request)
{
    return number_of(request, "base", -1) == -1;
}

static bool is_binary(const struct sim_op_request *request)
{
    return number_of(request, "base", -1) == 2;
}

/* The infinities are the powers of 2 beside the integers of 32 bits. */
static bool has_no_root(const struct sim_op_request *request)
{
    double order = number_of(request, "p", 2);
    return order == 0 || order == 1 || order > INT32_MAX || order <= INT32_MIN;
}

/* The repeats of RepeatInterleave are one number. */
static bool repeats_alike(const struct sim_op_request *request)
{
    return request->rq_tensors[1].ot_rank == 0;
}

static bool is_transposed(const struct sim_op_request *request)
{
    return sim_op_is_set(request, "transpose");
}

static bool rounds_places(const struct sim_op_request *request)
{
    return number_of(request, "decimals", 0) != 0;
}

static bool is_root(const struct sim_op_request *request)
{
    return sim_op_is_set(request, "if_std");
}

const struct sim_op_type sim_op_train_types[] = {
    GRADIENT("TanhGrad", "aclnnTanhBackward", 1, 0, Y),
    GRADIENT("SigmoidGrad", "aclnnSigmoidBackward", 1, 0, Y),
    GRADIENT("SiluGrad", "aclnnSiluBackward", 0, 1, Y),
    GRADIENT("MishGrad", "aclnnMishBackward", 0, 1, Y),
    GRADIENT("HardSwishGrad", "aclnnHardswishBackward", 0, 1, Y),
    GRADIENT("ReluGrad", "aclnnThresholdBackward", 0, 1, NUMBER(0), Y),
    GRADIENT("ThresholdGradV2D", "aclnnThresholdBackward", 0, 1, NEEDED("threshold"), Y),
    GRADIENT("SoftmaxGrad", "aclnnSoftmaxBackward", 1, 0, OPTIONAL("axes", -1), Y),
    GRADIENT("LogSoftmaxGrad", "aclnnLogSoftmaxBackward", 0, 1, OPTIONAL("axis", -1), Y),
    GRADIENT("HardtanhGrad", "aclnnHardtanhBackward", 1, 0, OPTIONAL("min_val", -1), OPTIONAL("max_val", 1), Y),
    GRADIENT("LeakyReluGrad", "aclnnLeakyReluBackward", 0, 1, OPTIONAL("negative_slope", 0), NUMBER(0), Y),
    GRADIENT("LogSigmoidGrad", "aclnnLogSigmoidBackward", 0, 1, X(1), Y),
    GRADIENT("SoftplusV2Grad", "aclnnSoftplusBackward", 0, 1, OPTIONAL("beta", 1), OPTIONAL("threshold", 20), Y),
    GRADIENT("HardShrinkGrad", "aclnnHardshrinkBackward", 0, 1, OPTIONAL("lambd", 0.5), Y),
    GRADIENT("SoftShrinkGrad", "aclnnSoftshrinkBackward", 0, 1, OPTIONAL("lambd", 0.5), Y),
    {"HardSigmoidGrad", 2, "aclnnHardsigmoidBackward", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), X(1), Y, FIXED("alpha", 0.16666666f), FIXED("beta", 0.5)}},
    {"GeluGrad", 3, "aclnnGeluBackward", SIM_SHAPE_FIRST, .ty_sources = {X(0), X(1), Y}}, /* the third is gelu(x) */
    {"EluGradV2", 2, "aclnnEluBackward", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), OPTIONAL("alpha", 1), OPTIONAL("scale", 1), OPTIONAL("input_scale", 1),
                    OPTIONAL("is_result", 0), X(1), Y}},
    {"GLUGrad", 2, "aclnnGluBackward", SIM_SHAPE_DERIVED, .ty_sources = {X(0), X(1), OPTIONAL("dim", -1), Y},
     .ty_dims = sim_op_derive_second_dims},
    {"PReluGrad", 3, "aclnnPreluBackward", SIM_SHAPE_DERIVED, .ty_sources = {X(0), X(1), X(2), OUTPUT(0), OUTPUT(1)},
     .ty_dims = sim_op_derive_first_dims, .ty_more_dims = sim_op_train_third_dims, .ty_outputs = 2},
    {"GLU", 1, "aclnnGlu", SIM_SHAPE_DERIVED, .ty_sources = {X(0), OPTIONAL("dim", -1), Y},
     .ty_dims = sim_op_train_halved_dims},
    {"LayerNormGrad", 5, NULL, SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), X(1), X(2), X(3), X(4), OUTPUT(0), OUTPUT(1), OUTPUT(2)}, .ty_own = SIM_OWN_LAYER_NORM_GRAD,
     .ty_dims = sim_op_derive_first_dims, .ty_more_dims = sim_op_train_fifth_dims, .ty_outputs = 3},
    {"PRelu", 2, "aclnnPrelu", SIM_SHAPE_FIRST, .ty_sources = {X(0), X(1), Y}},
    {"HardShrink", 1, "aclnnHardshrink", SIM_SHAPE_FIRST, .ty_sources = {X(0), OPTIONAL("lambd", 0.5), Y}},
    {"SoftShrink", 1, "aclnnSoftshrink", SIM_SHAPE_FIRST, .ty_sources = {X(0), OPTIONAL("lambd", 0.5), Y}},
    {"HardSigmoid", 1, "aclnnHardsigmoid", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), Y, FIXED("alpha", 0.16666666f), FIXED("beta", 0.5)}},
    {"CeluV2", 1, "aclnnCelu", SIM_SHAPE_FIRST, .ty_sources = {X(0), OPTIONAL("alpha", 1), Y}},
    {"ThresholdV2D", 1, "aclnnThreshold", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), NEEDED("threshold"), NEEDED("value"), Y}},
    {"NanToNum", 1, "aclnnNanToNum", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), OPTIONAL("nan", 0), NEEDED("posinf"), NEEDED("neginf"), Y}},
    {"ClipByValueV2", 3, "aclnnClampTensor", SIM_SHAPE_FIRST, .ty_sources = {X(0), X(1), X(2), Y}},
    {"FloorMod", 2, "aclnnRemainderTensorTensor", SIM_SHAPE_BROADCAST, .ty_sources = {X(0), X(1), Y}},
    {"Mod", 2, "aclnnFmodTensor", SIM_SHAPE_BROADCAST, .ty_sources = {X(0), X(1), Y}},
    {"Xlogy", 2, "aclnnXLogYTensor", SIM_SHAPE_BROADCAST, .ty_sources = {X(0), X(1), Y}},
    {"TensorEqual", 2, "aclnnEqual", SIM_SHAPE_DERIVED, .ty_sources = {X(0), X(1), Y}, .ty_dims = sim_op_train_no_dims},
    {"IsClose", 2, "aclnnIsClose", SIM_SHAPE_BROADCAST,
     .ty_sources = {X(0), X(1), OPTIONAL("rtol", 1e-5), OPTIONAL("atol", 1e-8), OPTIONAL("equal_nan", 0), Y}},
    LOG_OF_SUM("aclnnLogAddExp", is_natural),
    LOG_OF_SUM("aclnnLogAddExp2", is_binary),
    {"Tril", 1, "aclnnTril", SIM_SHAPE_FIRST, .ty_sources = {X(0), OPTIONAL("diagonal", 0), Y}},
    {"Triu", 1, "aclnnTriu", SIM_SHAPE_FIRST, .ty_sources = {X(0), OPTIONAL("diagonal", 0), Y}},
    {"Roll", 1, "aclnnRoll", SIM_SHAPE_FIRST, .ty_sources = {X(0), NEEDED("shifts"), NEEDED("dims"), Y}},
    RUNNING_BY("Cummax", "dim", "aclnnCummax"),
    RUNNING_BY("Cummin", "axis", "aclnnCummin"),
    {"Cumprod", 2, "aclnnCumprod", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), NUMBERS(1), TYPE, Y, FIXED("exclusive", 0), FIXED("reverse", 0)}},
    {"Sort", 1, NULL, SIM_SHAPE_FIRST,
     .ty_sources = {X(0), OPTIONAL("stable", 0), OPTIONAL("axis", -1), OPTIONAL("descending", 0), OUTPUT(0), OUTPUT(1)},
     .ty_own = SIM_OWN_SORT, .ty_outputs = 2},
    {"AsStrided", 4, "aclnnInplaceCopy", SIM_SHAPE_NUMBERS, .ty_sources = {Y, STRIDES_OF(0, 1), NUMBERS(1)}},
    {"ViewCopy", 8, "aclnnInplaceCopy", SIM_SHAPE_FIRST, .ty_sources = {STRIDES_UPDATED(0, 1), STRIDES_OF(4, 5)}},
    {"ScatterElements", 3, "aclnnScatter", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), OPTIONAL("axis", 0), X(1), X(2), DERIVED(sim_op_train_scatter), Y, ANY("reduction")}},
    {"InplaceIndexAdd", 3, "aclnnIndexAdd", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), NEEDED("axis"), X(1), X(2), NUMBER(1), Y}},
    {"InplaceIndexAdd", 4, "aclnnIndexAdd", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), NEEDED("axis"), X(1), X(2), NUMBERS(3), Y}},
    {"Index", SIM_OP_ANY_COUNT, "aclnnIndex", SIM_SHAPE_DERIVED, .ty_sources = {X(0), INDICES(1, 3), Y},
     .ty_dims = sim_op_train_unknown_dims},
    {"IndexPutV2", SIM_OP_ANY_COUNT, NULL, SIM_SHAPE_FIRST,
     .ty_sources = {Y, INDICES(2, 4), X(1), OPTIONAL("accumulate", 0), X(0)}, .ty_own = SIM_OWN_INDEX_PUT},
    {"IndexFillD", 3, "aclnnAddcmul", SIM_SHAPE_FIRST,
     .ty_sources = {X(2), X(0), X(1), DERIVED(sim_op_train_one), Y, ANY("dim")}},
    {"EmbeddingDenseGrad", 2, "aclnnEmbeddingDenseBackward", SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), X(1), NEEDED("num_weights"), OPTIONAL("padding_idx", -1), OPTIONAL("scale_grad_by_freq", 0),
                    Y},
     .ty_dims = sim_op_train_embedding_dims},
    LOSS("MseLoss", 2, "aclnnMseLoss", REDUCTION_KIND, Y),
    LOSS("LpLoss", 2, "aclnnL1Loss", REDUCTION_KIND, Y, FIXED("p", 1)),
    LOSS("SmoothL1LossV2", 2, "aclnnSmoothL1Loss", REDUCTION_KIND, OPTIONAL("sigma", 1), Y),
    LOSS("SoftMarginLoss", 2, "aclnnSoftMarginLoss", REDUCTION_KIND, Y),
    LOSS("KLDiv", 2, "aclnnKlDiv", REDUCTION_KIND, OPTIONAL("log_target", 0), Y),
    LOSS("SigmoidCrossEntropyWithLogitsV2", 2, "aclnnBinaryCrossEntropyWithLogits", ABSENT, ABSENT, REDUCTION_KIND, Y),
    LOSS("SigmoidCrossEntropyWithLogitsV2", 4, "aclnnBinaryCrossEntropyWithLogits", X(2), X(3), REDUCTION_KIND, Y),
    LOSS("BinaryCrossEntropy", 2, "aclnnBinaryCrossEntropy", ABSENT, REDUCTION_KIND, Y),
    LOSS("BinaryCrossEntropy", 3, "aclnnBinaryCrossEntropy", X(2), REDUCTION_KIND, Y),
    {"NLLLoss", 3, "aclnnNLLLoss", SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), X(1), X(2), REDUCTION_KIND, OPTIONAL("ignore_index", -100), OUTPUT(0), OUTPUT(1),
                    ANY("reduction")},
     .ty_dims = sim_op_train_likelihood_dims, .ty_more_dims = sim_op_train_no_dims, .ty_outputs = 2},
    {"NLLLossGrad", 5, "aclnnNLLLossBackward", SIM_SHAPE_FIRST,
     .ty_sources = {X(1), X(0), X(2), X(3), REDUCTION_KIND, OPTIONAL("ignore_index", -100), X(4), Y,
                    ANY("reduction")}},
    LOSS_GRADIENT("SoftMarginLossGrad", 3, "aclnnSoftMarginLossBackward", REDUCTION_KIND, Y),
    LOSS_GRADIENT("SmoothL1LossGradV2", 3, "aclnnSmoothL1LossBackward", REDUCTION_KIND, OPTIONAL("sigma", 1), Y),
    LOSS_GRADIENT("BinaryCrossEntropyGrad", 3, "aclnnBinaryCrossEntropyBackward", ABSENT, REDUCTION_KIND, Y),
    LOSS_GRADIENT("BinaryCrossEntropyGrad", 4, "aclnnBinaryCrossEntropyBackward", X(3), REDUCTION_KIND, Y),
    LOSS_GRADIENT("SigmoidCrossEntropyWithLogitsGradV2", 3, "aclnnBinaryCrossEntropyWithLogitsBackward", ABSENT, ABSENT,
                  REDUCTION_KIND, Y),
    LOSS_GRADIENT("SigmoidCrossEntropyWithLogitsGradV2", 5, "aclnnBinaryCrossEntropyWithLogitsBackward", X(3), X(4),
                  REDUCTION_KIND, Y),
    {"KlDivLossGrad", 3, "aclnnKlDivBackward", SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), X(1), X(2), REDUCTION_KIND, OPTIONAL("log_target", 0), Y, ANY("reduction")},
     .ty_dims = sim_op_derive_second_dims},
    LOSS_GRADIENT("MseLossGrad", 3, "aclnnMseLossBackward", REDUCTION_KIND, Y),
    {"L1LossGrad", 3, "aclnnL1LossBackward", SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), X(1), X(2), REDUCTION_KIND, Y, ANY("reduction")}, .ty_dims = sim_op_derive_second_dims},
    SPREAD("ReduceStdV2Update", "aclnnStd", .ty_fits = is_root),
    SPREAD("ReduceStdV2Update", "aclnnVarCorrection", .ty_fits = NULL),
    SPREAD("ReduceStdWithMean", "aclnnStd", .ty_fits = NULL),
    {"LpNormReduceV2", 1, NULL, SIM_SHAPE_REDUCED,
     .ty_sources = {X(0), NEEDED("axes"), OPTIONAL("keepdim", 0), OPTIONAL("p", 2), Y, FIXED("epsilon", 0)},
     .ty_own = SIM_OWN_NORM_POWERS},
    {"LpNormUpdateV2", 1, "aclnnInplaceCopy", SIM_SHAPE_FIRST, .ty_sources = {Y, X(0), ANY("p"), FIXED("epsilon", 0)},
     .ty_fits = has_no_root},
    {"LpNormUpdateV2", 1, NULL, SIM_SHAPE_FIRST,
     .ty_sources = {X(0), INVERSE_OF("p", 2), NUMBER(1), NUMBER(0), Y, FIXED("epsilon", 0)}, .ty_own = SIM_OWN_POWER},
    {"NonZero", 1, "aclnnNonzeroV2", SIM_SHAPE_DERIVED, .ty_sources = {X(0), Y, ANY("transpose"), ANY("dtype")},
     .ty_dims = sim_op_train_unknown_dims, .ty_fits = is_transposed},
    {"NonZero", 1, NULL, UNKNOWN, .ty_sources = {X(0), Y, ANY("transpose"), ANY("dtype")}, .ty_own = SIM_OWN_NONZERO},
    {"Round", 1, "aclnnRoundDecimals", SIM_SHAPE_FIRST, .ty_sources = {X(0), OPTIONAL("decimals", 0), Y},
     .ty_fits = rounds_places},
    {"Round", 1, "aclnnRound", SIM_SHAPE_FIRST, .ty_sources = {X(0), Y, ANY("decimals")}},
    {"Cross", 2, "aclnnLinalgCross", SIM_SHAPE_BROADCAST, .ty_sources = {X(0), X(1), NEEDED("dim"), Y}},
    {"ShuffleChannel", 1, "aclnnChannelShuffle", SIM_SHAPE_FIRST, .ty_sources = {X(0), OPTIONAL("group", 1), Y}},
    {"LinSpace", 3, "aclnnLinspace", SIM_SHAPE_DERIVED, .ty_sources = {NUMBERS(0), NUMBERS(1), NUMBERS(2), Y},
     .ty_dims = sim_op_train_line_dims},
    {"RepeatInterleave", 2, "aclnnRepeatInterleaveIntWithDim", UNKNOWN,
     .ty_sources = {X(0), NUMBERS(1), NEEDED("axis"), DERIVED(sim_op_train_repeated), Y}, .ty_fits = repeats_alike},
    {"RepeatInterleave", 2, "aclnnRepeatInterleaveWithDim", UNKNOWN,
     .ty_sources = {X(0), X(1), NEEDED("axis"), DERIVED(sim_op_train_repeated), Y}},
    {"MaskedScatter", 3, NULL, SIM_SHAPE_FIRST, .ty_sources = {Y, X(1), X(2), X(0)}, .ty_own = SIM_OWN_MASKED_SCATTER},
    {"ScatterNdAdd", 3, NULL, SIM_SHAPE_FIRST, .ty_sources = {X(0), X(1), X(2), Y, ANY("use_locking")},
     .ty_own = SIM_OWN_SCATTER_ND_ADD},
    {"Renorm", 1, NULL, UNKNOWN, .ty_sources = {X(0), NEEDED("p"), NEEDED("dim"), NEEDED("maxnorm"), Y},
     .ty_own = SIM_OWN_RENORM},
    {"SearchSorted", 2, "aclnnSearchSorted", UNKNOWN,
     .ty_sources = {X(0), X(1), DERIVED(sim_op_train_is_narrow), OPTIONAL("right", 0), ABSENT, Y, ANY("dtype")}},
    {"UniqueWithCountsAndSorting", 1, "aclnnUnique2", UNKNOWN,
     .ty_sources = {X(0), OPTIONAL("sorted", 1), OPTIONAL("return_inverse", 0), OPTIONAL("return_counts", 0), OUTPUT(0),
                    OUTPUT(1), OUTPUT(2)},
     .ty_outputs = 3},
    {"UniqueConsecutive", 1, "aclnnUniqueConsecutive", UNKNOWN,
     .ty_sources = {X(0), OPTIONAL("return_idx", 0), OPTIONAL("return_counts", 0), OPTIONAL("axis", 1000), OUTPUT(0),
                    OUTPUT(1), OUTPUT(2)},
     .ty_outputs = 3},
    {"Bincount", 3, NULL, UNKNOWN, .ty_sources = {X(0), X(2), NUMBERS(1), Y}, .ty_own = SIM_OWN_BINCOUNT},
    {"Histogram", 1, "aclnnHistc", UNKNOWN,
     .ty_sources = {X(0), OPTIONAL("bins", 100), OPTIONAL("min", 0), OPTIONAL("max", 0), Y}},
    {"EmbeddingBag", 3, "aclnnEmbeddingBag", UNKNOWN,
     .ty_sources = {X(0), X(1), X(2), OPTIONAL("scale_grad_by_freq", 0), DERIVED(sim_op_train_bag),
                    OPTIONAL("sparse", 0), MAYBE(3), OPTIONAL("include_last_offset", 0), OPTIONAL("padding_idx", -1),
                    OUTPUT(0), OUTPUT(1), OUTPUT(2), OUTPUT(3), ANY("mode")},
     .ty_outputs = 4, .ty_most_inputs = 4},
    {"LogSpaceD", 1, "aclnnLogSpace", SIM_SHAPE_FIRST,
     .ty_sources = {NEEDED("start"), NEEDED("end"), NEEDED("steps"), OPTIONAL("base", 10), Y, ANY("dtype")}},
    {"Cdist", 2, NULL, UNKNOWN, .ty_sources = {X(0), X(1), OPTIONAL("p", 2), Y}, .ty_own = SIM_OWN_CDIST},
    {"Pdist", 1, "aclnnPdist", UNKNOWN, .ty_sources = {X(0), OPTIONAL("p", 2), Y}},
    {"Qr", 1, "aclnnQr", UNKNOWN, .ty_sources = {X(0), DERIVED(sim_op_train_reduced), OUTPUT(0), OUTPUT(1),
                                                 ANY("full_matrices")}, .ty_outputs = 2},
    {"Svd", 1, "aclnnSvd", UNKNOWN,
     .ty_sources = {X(0), OPTIONAL("full_matrices", 0), OPTIONAL("compute_uv", 1), OUTPUT(0), OUTPUT(1), OUTPUT(2)},
     .ty_outputs = 3},
    {"MultilabelMarginLoss", 2, NULL, UNKNOWN,
     .ty_sources = {X(0), X(1), REDUCTION_KIND, OUTPUT(0), OUTPUT(1), ANY("reduction")},
     .ty_own = SIM_OWN_MULTILABEL_LOSS, .ty_outputs = 2},
    {"Eye", 0, "aclnnEye", SIM_SHAPE_DERIVED,
     .ty_sources = {NEEDED("num_rows"), DERIVED(sim_op_train_columns), Y, ANY("num_columns"), ANY("dtype"),
                    ANY("batch_shape")},
     .ty_dims = sim_op_train_square_dims},
};

const size_t sim_op_train_count = sizeof sim_op_train_types / sizeof *sim_op_train_types;
