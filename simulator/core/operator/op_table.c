/* The types of single operators, with their documented inputs, attributes and defaults, which differ from the
 * arguments of the aclnn operator of the same name. A type that is missing here and in op_table_*.c but has the name of
 * a schema with only tensors, as most functions of one tensor do, uses that schema (op_type.c); other schemas do not
 * define types. The tables are constant. */
#include "op_source.h"

#include <math.h>

struct sim_row *const *sim_op_own_rows;

#define TWO(name, row) {name, 2, row, SIM_SHAPE_BROADCAST, .ty_sources = {X(0), X(1), Y}}
#define SCALED(name, row) {name, 2, row, SIM_SHAPE_BROADCAST, .ty_sources = {X(0), X(1), NUMBER(1), Y}}
/* With the defaults the operator is that of a schema; otherwise it is computed with the numbers. */
#define CURVE(name, row, own)                                                                                          \
    {name, 1, row, SIM_SHAPE_FIRST,                                                                                    \
     .ty_sources = {X(0), Y, ANY("base"), ANY("scale"), ANY("shift")}, .ty_fits = is_plain_curve},                     \
    {name, 1, NULL, SIM_SHAPE_FIRST,                                                                                   \
     .ty_sources = {X(0), OPTIONAL("base", -1), OPTIONAL("scale", 1), OPTIONAL("shift", 0), Y},                        \
     .ty_own = (own)}
#define NO_REDUCTION(name)                                                                                             \
    {name, 2, "aclnnInplaceCopy", SIM_SHAPE_FIRST,                                                                     \
     .ty_sources = {Y, X(0), ANY("keep_dims"), ANY("noop_with_empty_axes")},                                           \
     .ty_fits = reduces_nothing}
#define REDUCTION(name, row, ...)                                                                                      \
    NO_REDUCTION(name),                                                                                                \
    {name, 2, row, SIM_SHAPE_REDUCED,                                                                                  \
     .ty_sources = {X(0), NUMBERS(1), OPTIONAL("keep_dims", 0), __VA_ARGS__, ANY("noop_with_empty_axes")}},            \
    {name "D", 1, row, SIM_SHAPE_REDUCED, .ty_sources = {X(0), NEEDED("axes"), OPTIONAL("keep_dims", 0), __VA_ARGS__}}
/* Uses the schema for one axis if possible, because files of saved models name it. */
#define PRODUCTS(name, inputs, axes)                                                                                   \
    {name, inputs, "aclnnProdDim", SIM_SHAPE_REDUCED,                                                                  \
     .ty_sources = {X(0), axes, OPTIONAL("keep_dims", 0),                                                              \
      TYPE, Y, ANY("noop_with_empty_axes")}, .ty_fits = reduces_one},                                                  \
    {name, inputs, NULL, SIM_SHAPE_REDUCED,                                                                            \
     .ty_sources = {X(0), axes, OPTIONAL("keep_dims", 0), Y, ANY("noop_with_empty_axes")},                             \
     .ty_own = SIM_OWN_PROD}
#define EXTREME(name, row)                                                                                             \
    {name, 1, row, SIM_SHAPE_REDUCED,                                                                                  \
     .ty_sources = {X(0), NEEDED("dimension"), OPTIONAL("keep_dims", 0), OUTPUT(1), OUTPUT(0)},                        \
     .ty_outputs = 2}
#define VIEWED(name, inputs, dims, ...)                                                                                \
    {name, inputs, "aclnnInplaceCopy", SIM_SHAPE_VIEWED, .ty_sources = {Y, VIEW, __VA_ARGS__}, .ty_dims = (dims)}
#define NORMALIZED(name, row, own, epsilon)                                                                            \
    {                                                                                                                  \
        name, 3, row, SIM_SHAPE_DERIVED,                                                                               \
            .ty_sources = {X(0),                                                                                       \
                           DERIVED(sim_op_derive_normalized),                                                          \
                           X(1),                                                                                       \
                           X(2),                                                                                       \
                           OPTIONAL("epsilon", epsilon),                                                               \
                           OUTPUT(0),                                                                                  \
                           OUTPUT(1),                                                                                  \
                           OUTPUT(2),                                                                                  \
                           ANY("begin_norm_axis"),                                                                     \
                           ANY("begin_params_axis")},                                                                  \
            .ty_own = (own), .ty_dims = sim_op_derive_first_dims, .ty_more_dims = sim_op_derive_line_dims,             \
            .ty_outputs = 3                                                                                            \
    }
#define PRODUCT(name, left, right, ...)                                                                                \
    {name, 2, "aclnnMatmul", SIM_SHAPE_PRODUCT,                                                                        \
     .ty_sources = {TURNED(0, left), TURNED(1, right), Y, MATH, __VA_ARGS__}}
#define PRODUCT_AND_BIAS(name, left, right, ...)                                                                       \
    {name, 3, "aclnnAddmm", SIM_SHAPE_PRODUCT,                                                                         \
     .ty_sources = {X(2), TURNED(0, left), TURNED(1, right), NUMBER(1), NUMBER(1), Y, MATH, __VA_ARGS__}}
#define STRIDED(name, inputs)                                                                                          \
    {                                                                                                                  \
        name, inputs, NULL, SIM_SHAPE_EXACT,                                                                           \
            .ty_sources = {X(0),                                                                                       \
                           DERIVED(sim_op_part_starts),                                                                \
                           DERIVED(sim_op_part_steps),                                                                 \
                           DERIVED(sim_op_part_sizes),                                                                 \
                           Y,                                                                                          \
                           ANY("begin_mask"),                                                                          \
                           ANY("end_mask"),                                                                            \
                           ANY("ellipsis_mask"),                                                                       \
                           ANY("new_axis_mask"),                                                                       \
                           ANY("shrink_axis_mask"),                                                                    \
                           ANY((inputs) == 1 ? "begin" : NULL),                                                        \
                           ANY((inputs) == 1 ? "end" : NULL),                                                          \
                           ANY((inputs) == 1 ? "strides" : NULL)},                                                     \
            .ty_own = SIM_OWN_STRIDED, .ty_dims = sim_op_part_dims                                                     \
    }
#define SPLIT(name, inputs, place, ...)                                                                                \
    {                                                                                                                  \
        name, inputs, NULL, SIM_SHAPE_SPLIT, .ty_sources = {X(place),                                                  \
                                                            DERIVED(sim_op_part_split_sizes),                          \
                                                            DERIVED(sim_op_part_split_axis),                           \
                                                            OUTPUTS,                                                   \
                                                            ANY("num_split"),                                          \
                                                            __VA_ARGS__},                                              \
                                             .ty_own = SIM_OWN_SPLIT, .ty_outputs = SIM_OP_ANY_COUNT                   \
    }
#define PADDED(name, inputs, value, ...)                                                                               \
    {                                                                                                                  \
        name, inputs, NULL, SIM_SHAPE_DERIVED, .ty_sources = {X(0), DERIVED(sim_op_part_pads), value, Y, __VA_ARGS__}, \
                                               .ty_own = SIM_OWN_PAD, .ty_dims = sim_op_part_pad_dims                  \
    }
/* The k of TopK is a constant input, that of TopKD an attribute. */
#define SELECTED(name, k)                                                                                              \
    {name, 2, NULL, SIM_SHAPE_DERIVED,                                                                                 \
     .ty_sources = {X(0), k, OPTIONAL("dim", -1), OPTIONAL("largest", 1), OPTIONAL("sorted", 1), OUTPUT(0), OUTPUT(1), \
                    ANY("indices_dtype")},                                                                             \
     .ty_own = SIM_OWN_TOP_K, .ty_dims = sim_op_derive_selected_dims, .ty_outputs = 2}
#define SOFTMAX(name, row, own, ...)                                                                                   \
    {name, 1, row, SIM_SHAPE_FIRST, .ty_sources = {X(0), OPTIONAL("axes", -1), Y, __VA_ARGS__},                        \
     .ty_fits = has_one_axis},                                                                                         \
    {name, 1, NULL, SIM_SHAPE_FIRST, .ty_sources = {X(0), NEEDED("axes"), Y, __VA_ARGS__}, .ty_own = (own)}
#define JOINED(name)                                                                                                   \
    {name, SIM_OP_ANY_COUNT, "aclnnCat", SIM_SHAPE_JOINED,                                                             \
     .ty_sources = {INPUTS(0, 0), NEEDED("concat_dim"), Y, ANY("N")}}

static double number_of(const struct sim_op_request *request, const char *name, double missing)
{
    const struct sim_attribute *found = sim_op_attributes_find(&request->rq_attributes, name);
    if (found == NULL || found->at_kind == SIM_ATTRIBUTE_NUMBER)
        return found == NULL ? missing : found->at_number;
    return found->at_kind == SIM_ATTRIBUTE_INTEGER ? (double)found->at_integer : NAN;
}

static bool is_plain_curve(const struct sim_op_request *request)
{
    return number_of(request, "base", -1) == -1 && number_of(request, "scale", 1) == 1 &&
           number_of(request, "shift", 0) == 0;
}

/* The number of axes in an input of a reduction; wrong shapes are reported where the axes are read. */
static int64_t axes_of(const struct sim_op_request *request)
{
    const struct sim_op_tensor *axes = &request->rq_tensors[1];
    return axes->ot_open || axes->ot_rank > 1 ? -1 : axes->ot_rank == 0 ? 1 : axes->ot_dims[0];
}

/* Attribute noop_with_empty_axes is true by default. */
static bool reduces_nothing(const struct sim_op_request *request)
{
    return axes_of(request) == 0 && number_of(request, "noop_with_empty_axes", 1) != 0;
}

static bool reduces_one(const struct sim_op_request *request)
{
    const struct sim_attribute *axes = sim_op_attributes_find(&request->rq_attributes, "axes");
    if (axes != NULL)
        return axes->at_kind == SIM_ATTRIBUTE_INTEGER || axes->at_count == 1;
    return request->rq_input_count > 1 && axes_of(request) == 1;
}

/* The inputs of a CdistGrad of torch_npu have one more dimension than its output. */
static bool is_folded(const struct sim_op_request *request)
{
    return request->rq_output_count == 1 && sim_op_output(request, 0)->ot_rank + 1 == request->rq_tensors[1].ot_rank;
}

/* Attribute axes of a softmax is -1 by default. Files of saved models name the schema for one axis. */
static bool has_one_axis(const struct sim_op_request *request)
{
    const struct sim_attribute *axes = sim_op_attributes_find(&request->rq_attributes, "axes");
    return axes == NULL || axes->at_kind == SIM_ATTRIBUTE_INTEGER || axes->at_count == 1;
}

static const struct sim_op_type types[] = {
    SCALED("Add", "aclnnAdd"),
    SCALED("AddV2", "aclnnAdd"),
    SCALED("Sub", "aclnnSub"),
    TWO("RealDiv", "aclnnDiv"),
    TWO("Pow", "aclnnPowTensorTensor"),
    TWO("Equal", "aclnnEqTensor"),
    TWO("NotEqual", "aclnnNeTensor"),
    TWO("Greater", "aclnnGtTensor"),
    TWO("GreaterEqual", "aclnnGeTensor"),
    TWO("Less", "aclnnLtTensor"),
    TWO("LessEqual", "aclnnLeTensor"),
    {"Axpy", 2, "aclnnAdd", SIM_SHAPE_BROADCAST, .ty_sources = {X(0), X(1), NEEDED("alpha"), Y}},
    {"Adds", 1, "aclnnAdds", SIM_SHAPE_FIRST, .ty_sources = {X(0), NEEDED("value"), NUMBER(1), Y}},
    {"Muls", 1, "aclnnMuls", SIM_SHAPE_FIRST, .ty_sources = {X(0), NEEDED("value"), Y}},
    {"Square", 1, "aclnnMul", SIM_SHAPE_FIRST, .ty_sources = {X(0), X(0), Y}},
    {"Select", 3, "aclnnSWhere", SIM_SHAPE_DERIVED, .ty_sources = {VIEW_AS(0, sim_op_part_choice_dims), X(1), X(2), Y},
     .ty_dims = sim_op_derive_second_dims},
    {"SelectV2", 3, "aclnnSWhere", SIM_SHAPE_BROADCAST, .ty_sources = {X(0), X(1), X(2), Y}},
    {"MaskedFill", 3, "aclnnSWhere", SIM_SHAPE_BROADCAST, .ty_sources = {X(1), X(2), X(0), Y}},
    {"AxpyV2", 3, NULL, SIM_SHAPE_BROADCAST, .ty_sources = {X(0), X(1), X(2), Y}, .ty_own = SIM_OWN_AXPY},
    {"Addcmul", 4, NULL, SIM_SHAPE_BROADCAST, .ty_sources = {X(0), X(1), X(2), X(3), Y}, .ty_own = SIM_OWN_ADDCMUL},
    {"Addcdiv", 4, NULL, SIM_SHAPE_BROADCAST, .ty_sources = {X(0), X(1), X(2), X(3), Y}, .ty_own = SIM_OWN_ADDCDIV},
    {"ClipByValue", 3, NULL, SIM_SHAPE_BROADCAST, .ty_sources = {X(0), X(1), X(2), Y}, .ty_own = SIM_OWN_CLIP},
    {"BiasAdd", 2, "aclnnAdd", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), VIEW_AS(1, sim_op_part_bias_dims), NUMBER(1), Y, ANY("data_format")}},
    {"FloorDiv", 2, "aclnnDivMod", SIM_SHAPE_BROADCAST, .ty_sources = {X(0), X(1), NUMBER(2), Y}},
    TWO("BitwiseAnd", "aclnnBitwiseAndTensor"),
    TWO("BitwiseOr", "aclnnBitwiseOrTensor"),
    TWO("BitwiseXor", "aclnnBitwiseXorTensor"),
    {"Invert", 1, "aclnnBitwiseNot", SIM_SHAPE_FIRST, .ty_sources = {X(0), Y}},
    CURVE("Exp", "aclnnExp", SIM_OWN_EXP),
    CURVE("Log", "aclnnLog", SIM_OWN_LOG),
    {"Power", 1, NULL, SIM_SHAPE_FIRST,
     .ty_sources = {X(0), OPTIONAL("power", 1), OPTIONAL("scale", 1), OPTIONAL("shift", 0), Y},
     .ty_own = SIM_OWN_POWER},
    {"Elu", 1, "aclnnElu", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), OPTIONAL("alpha", 1), OPTIONAL("scale", 1), OPTIONAL("input_scale", 1), Y}},
    {"Softplus", 1, "aclnnSoftplus", SIM_SHAPE_FIRST, .ty_sources = {X(0), NUMBER(1), NUMBER(20), Y}},
    {"SoftplusV2", 1, "aclnnSoftplus", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), OPTIONAL("beta", 1), OPTIONAL("threshold", 20), Y}},
    {"Swish", 1, NULL, SIM_SHAPE_FIRST, .ty_sources = {X(0), OPTIONAL("scale", 1), Y}, .ty_own = SIM_OWN_SWISH},
    {"LeakyRelu", 1, NULL, SIM_SHAPE_FIRST, .ty_sources = {X(0), OPTIONAL("negative_slope", 0), Y},
     .ty_own = SIM_OWN_LEAKY_RELU},
    {"Relu6", 1, NULL, SIM_SHAPE_FIRST, .ty_sources = {X(0), Y}, .ty_own = SIM_OWN_RELU6},
    {"HardSwish", 1, NULL, SIM_SHAPE_FIRST, .ty_sources = {X(0), Y}, .ty_own = SIM_OWN_HARD_SWISH},
    {"GeluV2", 1, "aclnnGeluV2", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), DERIVED(sim_op_derive_approximation), Y, ANY("approximate")}},
    {"Cast", 1, "aclnnCast", SIM_SHAPE_FIRST, .ty_sources = {X(0), TYPE_NAMED("dst_type"), Y, ANY("truncate")}},
    {"Identity", 1, "aclnnInplaceCopy", SIM_SHAPE_FIRST, .ty_sources = {Y, X(0)}},
    {"TensorMove", 1, "aclnnInplaceCopy", SIM_SHAPE_FIRST, .ty_sources = {Y, X(0)}},
    {"BroadcastTo", 2, "aclnnInplaceCopy", SIM_SHAPE_NUMBERS, .ty_sources = {Y, X(0), NUMBERS(1)}},
    {"ZerosLike", 1, "aclnnInplaceZero", SIM_SHAPE_FIRST, .ty_sources = {Y}},
    {"OnesLike", 1, "aclnnInplaceOne", SIM_SHAPE_FIRST, .ty_sources = {Y}},
    {"Fill", 2, "aclnnInplaceFillTensor", SIM_SHAPE_NUMBERS, .ty_sources = {Y, X(1), NUMBERS(0)}},
    VIEWED("Flatten", 1, sim_op_derive_flat_dims, ANY("axis")),
    VIEWED("FlattenV2", 1, sim_op_derive_joined_axes, ANY("axis"), ANY("end_axis")),
    VIEWED("Reshape", 2, sim_op_derive_reshaped_dims, FIXED("axis", 0), FIXED("num_axes", -1)),
    VIEWED("ExpandDims", 2, sim_op_derive_expanded_dims, ANY("axis")),
    VIEWED("Unsqueeze", 1, sim_op_derive_expanded_dims, ANY("axes")),
    VIEWED("Squeeze", 1, sim_op_derive_squeezed_dims, ANY("axis")),
    SOFTMAX("SoftmaxV2", "aclnnSoftmax", SIM_OWN_SOFTMAX, FIXED("half_to_float", 0)),
    SOFTMAX("LogSoftmaxV2", "aclnnLogSoftmax", SIM_OWN_LOG_SOFTMAX, NOTHING),
    REDUCTION("ReduceSum", "aclnnReduceSum", TYPE, Y),
    REDUCTION("ReduceMean", "aclnnMean", TYPE, Y),
    NO_REDUCTION("ReduceProd"),
    PRODUCTS("ReduceProd", 2, NUMBERS(1)),
    PRODUCTS("ReduceProdD", 1, NEEDED("axes")),
    REDUCTION("ReduceMax", "aclnnAmax", Y),
    REDUCTION("ReduceMin", "aclnnAmin", Y),
    REDUCTION("ReduceAny", "aclnnAny", Y),
    REDUCTION("ReduceAll", "aclnnAll", Y),
    REDUCTION("ReduceLogSumExp", "aclnnLogSumExp", Y),
    {"ArgMaxV2", 2, "aclnnArgMax", SIM_SHAPE_REDUCED,
     .ty_sources = {X(0), NUMBERS(1), OPTIONAL("keep_dims", 0), Y, ANY("dtype")}},
    {"ArgMaxD", 1, "aclnnArgMax", SIM_SHAPE_REDUCED,
     .ty_sources = {X(0), NEEDED("dimension"), NUMBER(0), Y, ANY("dtype")}},
    {"ArgMin", 2, "aclnnArgMin", SIM_SHAPE_REDUCED,
     .ty_sources = {X(0), NUMBERS(1), OPTIONAL("keep_dims", 0), Y, ANY("dtype")}},
    {"ArgMinD", 1, "aclnnArgMin", SIM_SHAPE_REDUCED,
     .ty_sources = {X(0), NEEDED("dimension"), NUMBER(0), Y, ANY("dtype")}},
    EXTREME("ArgMaxWithValue", "aclnnMaxDim"),
    EXTREME("ArgMinWithValue", "aclnnMinDim"),
    SELECTED("TopK", NUMBERS(1)),
    SELECTED("TopKV2", NUMBERS(1)),
    SELECTED("TopKD", NEEDED("k")),
    {"Cumsum", 2, "aclnnCumsumV2", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), NUMBERS(1), OPTIONAL("exclusive", 0), OPTIONAL("reverse", 0), Y}},
    {"CumsumD", 1, "aclnnCumsumV2", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), NEEDED("axis"), OPTIONAL("exclusive", 0), OPTIONAL("reverse", 0), Y}},
    {"CdistGrad", 4, NULL, SIM_SHAPE_DERIVED, .ty_sources = {X(0), X(1), X(2), X(3), OPTIONAL("p", 2), Y},
     .ty_own = SIM_OWN_CDIST_GRAD, .ty_dims = sim_op_derive_folded_dims, .ty_fits = is_folded},
    {"CdistGrad", 4, "aclnnCdistBackward", SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), X(1), X(2), X(3), OPTIONAL("p", 2), Y}, .ty_dims = sim_op_derive_second_dims},
    NORMALIZED("LayerNorm", NULL, SIM_OWN_LAYER_NORM, 1e-7),
    NORMALIZED("LayerNormV3", "aclnnLayerNorm", SIM_OWN_NONE, 1e-5),
    {"RmsNorm", 2, "aclnnRmsNorm", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), X(1), OPTIONAL("epsilon", 1e-6), OUTPUT(0), OUTPUT(1)},
     .ty_more_dims = sim_op_derive_rms_dims, .ty_outputs = 2},
    PRODUCT("MatMul", "transpose_x1", "transpose_x2", NOTHING),
    PRODUCT_AND_BIAS("MatMul", "transpose_x1", "transpose_x2", NOTHING),
    PRODUCT("MatMulV2", "transpose_x1", "transpose_x2", FIXED("offset_x", 0)),
    PRODUCT_AND_BIAS("MatMulV2", "transpose_x1", "transpose_x2", FIXED("offset_x", 0)),
    PRODUCT("BatchMatMul", "adj_x1", "adj_x2", FIXED("bias", 0)),
    PRODUCT("BatchMatMulV2", "adj_x1", "adj_x2", FIXED("offset_x", 0)),
    {"BatchMatMulV2", 3, NULL, SIM_SHAPE_PRODUCT,
     .ty_sources = {X(2), TURNED(0, "adj_x1"), TURNED(1, "adj_x2"), NUMBER(1), NUMBER(1), Y, MATH,
                    FIXED("offset_x", 0)},
     .ty_own = SIM_OWN_BIASED_PRODUCT},
    {"GEMM", 5, NULL, SIM_SHAPE_PRODUCT,
     .ty_sources = {TURNED(0, "transpose_a"), TURNED(1, "transpose_b"), X(2), X(3), X(4), Y}, .ty_own = SIM_OWN_GEMM},
    {"Transpose", 2, "aclnnPermute", SIM_SHAPE_PERMUTED, .ty_sources = {X(0), NUMBERS(1), Y}},
    {"TransposeD", 1, "aclnnPermute", SIM_SHAPE_PERMUTED, .ty_sources = {X(0), NEEDED("perm"), Y}},
    {"Tile", 2, "aclnnRepeat", SIM_SHAPE_TILED, .ty_sources = {X(0), NUMBERS(1), Y}},
    {"TileD", 1, "aclnnRepeat", SIM_SHAPE_TILED, .ty_sources = {X(0), NEEDED("multiples"), Y}},
    {"ReverseV2", 2, "aclnnFlip", SIM_SHAPE_FIRST, .ty_sources = {X(0), NUMBERS(1), Y}},
    {"ReverseV2D", 1, "aclnnFlip", SIM_SHAPE_FIRST, .ty_sources = {X(0), NEEDED("axis"), Y}},
    {"Slice", 3, "aclnnSliceV2", SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), DERIVED(sim_op_derive_slice_starts), DERIVED(sim_op_derive_slice_ends),
                    DERIVED(sim_op_derive_axes), DERIVED(sim_op_derive_ones), Y},
     .ty_dims = sim_op_derive_slice_dims},
    {"SliceD", 1, "aclnnSliceV2", SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), DERIVED(sim_op_derive_slice_starts), DERIVED(sim_op_derive_slice_ends),
                    DERIVED(sim_op_derive_axes), DERIVED(sim_op_derive_ones), Y, ANY("offsets"), ANY("size")},
     .ty_dims = sim_op_derive_slice_dims},
    STRIDED("StridedSlice", 4),
    STRIDED("StridedSliceD", 1),
    SPLIT("Split", 2, 1, NOTHING),
    SPLIT("SplitD", 1, 0, ANY("split_dim")),
    SPLIT("SplitV", 3, 0, NOTHING),
    SPLIT("SplitVD", 1, 0, ANY("size_splits"), ANY("split_dim")),
    {"Unpack", 1, NULL, SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), DERIVED(sim_op_part_split_sizes), DERIVED(sim_op_part_split_axis), OUTPUTS_RAISED, ANY("num"),
                    ANY("axis")},
     .ty_own = SIM_OWN_SPLIT, .ty_dims = sim_op_part_unpacked_dims, .ty_outputs = SIM_OP_ANY_COUNT},
    {"Pack", SIM_OP_ANY_COUNT, "aclnnCat", SIM_SHAPE_DERIVED, .ty_sources = {RAISED, OPTIONAL("axis", 0), Y, ANY("N")},
     .ty_dims = sim_op_part_packed_dims},
    PADDED("Pad", 2, ABSENT, NOTHING),
    PADDED("PadD", 1, ABSENT, ANY("paddings")),
    PADDED("PadV2", 3, X(2), NOTHING),
    {"PadV3", 2, NULL, SIM_SHAPE_DERIVED, .ty_most_inputs = 3, /* the value of the other mode has no effect */
     .ty_sources = {X(0), DERIVED(sim_op_part_pads), DERIVED(sim_op_part_pad_mode), Y, ANY("mode"),
                    ANY("paddings_contiguous")},
     .ty_own = SIM_OWN_PAD_EDGES, .ty_dims = sim_op_part_pad_dims, .ty_fits = sim_op_part_pads_edges},
    PADDED("PadV3", 2, ABSENT, ANY("mode"), ANY("paddings_contiguous")),
    PADDED("PadV3", 3, X(2), ANY("mode"), ANY("paddings_contiguous")),
    {"GatherNd", 2, NULL, SIM_SHAPE_DERIVED, .ty_sources = {X(0), X(1), Y, FIXED("negative_index_support", 0)},
     .ty_own = SIM_OWN_GATHER_ND, .ty_dims = sim_op_part_gathered_dims},
    JOINED("ConcatD"),
    JOINED("ConcatV2D"),
    {"Concat", SIM_OP_ANY_COUNT, "aclnnCat", SIM_SHAPE_DERIVED, .ty_sources = {INPUTS(1, 0), NUMBERS(0), Y, ANY("N")},
     .ty_dims = sim_op_derive_joined_dims},
    {"ConcatV2", SIM_OP_ANY_COUNT, "aclnnCat", SIM_SHAPE_DERIVED,
     .ty_sources = {INPUTS(0, 1), DERIVED(sim_op_derive_last_number), Y, ANY("N")},
     .ty_dims = sim_op_derive_joined_dims},
    {"GatherV2", 3, "aclnnGatherV2", SIM_SHAPE_GATHERED,
     .ty_sources = {X(0), NUMBERS(2), X(1), Y, FIXED("batch_dims", 0), ANY("is_preprocessed"),
                    ANY("negative_index_support")}},
    {"GatherV2D", 2, "aclnnGatherV2", SIM_SHAPE_GATHERED, .ty_sources = {X(0), NEEDED("axis"), X(1), Y}},
    {"Gather", 2, "aclnnGatherV2", SIM_SHAPE_GATHERED,
     .ty_sources = {X(0), NUMBER(0), X(1), Y, FIXED("batch_dims", 0), ANY("validate_indices"), ANY("is_preprocessed"),
                    ANY("negative_index_support")}},
    {"GatherElements", 2, "aclnnGather", SIM_SHAPE_DERIVED, .ty_sources = {X(0), OPTIONAL("dim", 0), X(1), Y},
     .ty_dims = sim_op_derive_second_dims},
    {"OneHot", 4, "aclnnOneHot", SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), NUMBERS(1), X(2), X(3), OPTIONAL("axis", -1), Y}, .ty_dims = sim_op_derive_one_hot_dims},
    {"OneHotD", 3, "aclnnOneHot", SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), NEEDED("depth"), X(1), X(2), OPTIONAL("axis", -1), Y}, .ty_dims = sim_op_derive_one_hot_dims},
    {"Range", 3, NULL, SIM_SHAPE_DERIVED, .ty_sources = {X(0), X(1), X(2), Y, FIXED("is_closed", 0)},
     .ty_own = SIM_OWN_RANGE, .ty_dims = sim_op_derive_range_dims},
};

static bool takes_inputs(const struct sim_op_type *type, const struct sim_op_request *request)
{
    if (type->ty_most_inputs == 0)
        return type->ty_inputs == SIM_OP_ANY_COUNT || type->ty_inputs == sim_op_present(request);
    for (uint32_t i = 0; i < type->ty_inputs; i++)
        if (!sim_op_has_input(request, i))
            return false;
    for (uint32_t i = type->ty_most_inputs; i < request->rq_input_count; i++)
        if (sim_op_has_input(request, i))
            return false;
    return true;
}

const struct sim_op_type *sim_op_type_find(const struct sim_op_request *request, bool *known)
{
    const struct {
        const struct sim_op_type *pa_types;
        size_t pa_count;
    } parts[] = {{types, sizeof types / sizeof *types},
                 {sim_op_net_types, sim_op_net_count},
                 {sim_op_train_types, sim_op_train_count},
                 {sim_op_image_types, sim_op_image_count}};
    *known = false;
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
        for (size_t i = 0; i < parts[part].pa_count; i++) {
            const struct sim_op_type *type = &parts[part].pa_types[i];
            if (strcmp(type->ty_name, request->rq_type) != 0)
                continue;
            *known = true;
            if (takes_inputs(type, request) && (type->ty_fits == NULL || type->ty_fits(request)))
                return type;
        }
    return NULL;
}

struct sim_row *sim_op_row_find(const char *name)
{
    for (size_t i = SIM_OWN_NONE + 1; i < SIM_OWN_COUNT; i++) {
        struct sim_row *row = sim_op_own_rows[i];
        if (row->ro_op.op_save != NULL && strcmp(row->ro_op.op_name, name) == 0)
            return row;
    }
    return NULL;
}
