/* The types of single operators that are not called like their row. A type that is missing here and has the name of a
 * row, as most functions of one tensor have, means that row (op_type.c). */
#include "op_type.h"

#define X(place) {.so_kind = SIM_FROM_INPUT, .so_place = (place)}
#define TURNED(place, name) {.so_kind = SIM_FROM_INPUT, .so_place = (place), .so_name = (name)}
#define INPUTS {.so_kind = SIM_FROM_INPUTS}
#define Y {.so_kind = SIM_FROM_OUTPUT}
#define NEEDED(name) {.so_kind = SIM_FROM_ATTRIBUTE, .so_name = (name), .so_needed = true}
#define OPTIONAL(name, number) {.so_kind = SIM_FROM_ATTRIBUTE, .so_name = (name), .so_number = (number)}
#define NUMBERS(place) {.so_kind = SIM_FROM_NUMBERS, .so_place = (place)}
#define TYPE {.so_kind = SIM_FROM_TYPE}
#define TYPE_NAMED(name) {.so_kind = SIM_FROM_TYPE, .so_name = (name)}
#define MATH {.so_kind = SIM_FROM_MATH}
#define NUMBER(number) {.so_kind = SIM_FROM_NUMBER, .so_number = (number)}
#define FIXED(name, number) {.so_kind = SIM_SOURCE_FIXED, .so_name = (name), .so_number = (number)}
#define ANY(name) {.so_kind = SIM_SOURCE_ANY, .so_name = (name)}

#define TWO(name, row) {name, 2, row, SIM_SHAPE_BROADCAST, {X(0), X(1), Y}}
#define SCALED(name, row) {name, 2, row, SIM_SHAPE_BROADCAST, {X(0), X(1), NUMBER(1), Y}}
#define CURVE(name, row)                                                                                               \
    {name, 1, row, SIM_SHAPE_FIRST, {X(0), Y, FIXED("base", -1), FIXED("scale", 1), FIXED("shift", 0)}}
#define REDUCTION(name, row, ...)                                                                                      \
    {name, 2, row, SIM_SHAPE_REDUCED, {X(0), NUMBERS(1), OPTIONAL("keep_dims", 0), __VA_ARGS__}},                      \
    {name "D", 1, row, SIM_SHAPE_REDUCED, {X(0), NEEDED("axes"), OPTIONAL("keep_dims", 0), __VA_ARGS__}}
#define PRODUCT(name, left, right)                                                                                     \
    {name, 2, "aclnnMatmul", SIM_SHAPE_PRODUCT, {TURNED(0, left), TURNED(1, right), Y, MATH, FIXED("offset_x", 0)}}
#define PRODUCT_AND_BIAS(name, left, right)                                                                            \
    {name, 3, "aclnnAddmm", SIM_SHAPE_PRODUCT,                                                                         \
     {X(2), TURNED(0, left), TURNED(1, right), NUMBER(1), NUMBER(1), Y, MATH, FIXED("offset_x", 0)}}
#define JOINED(name)                                                                                                   \
    {name, SIM_OP_ANY_COUNT, "aclnnCat", SIM_SHAPE_JOINED, {INPUTS, NEEDED("concat_dim"), Y, ANY("N")}}

static const struct sim_op_type types[] = {
    SCALED("Add", "aclnnAdd"),
    SCALED("Sub", "aclnnSub"),
    TWO("RealDiv", "aclnnDiv"),
    TWO("Pow", "aclnnPowTensorTensor"),
    TWO("Equal", "aclnnEqTensor"),
    TWO("NotEqual", "aclnnNeTensor"),
    TWO("Greater", "aclnnGtTensor"),
    TWO("GreaterEqual", "aclnnGeTensor"),
    TWO("Less", "aclnnLtTensor"),
    TWO("LessEqual", "aclnnLeTensor"),
    {"Axpy", 2, "aclnnAdd", SIM_SHAPE_BROADCAST, {X(0), X(1), NEEDED("alpha"), Y}},
    {"Adds", 1, "aclnnAdds", SIM_SHAPE_FIRST, {X(0), NEEDED("value"), NUMBER(1), Y}},
    {"Muls", 1, "aclnnMuls", SIM_SHAPE_FIRST, {X(0), NEEDED("value"), Y}},
    {"Square", 1, "aclnnMul", SIM_SHAPE_FIRST, {X(0), X(0), Y}},
    {"Select", 3, "aclnnSWhere", SIM_SHAPE_BROADCAST, {X(0), X(1), X(2), Y}},
    {"SelectV2", 3, "aclnnSWhere", SIM_SHAPE_BROADCAST, {X(0), X(1), X(2), Y}},
    CURVE("Exp", "aclnnExp"),
    CURVE("Log", "aclnnLog"),
    {"Cast", 1, "aclnnCast", SIM_SHAPE_FIRST, {X(0), TYPE_NAMED("dst_type"), Y, ANY("truncate")}},
    {"Identity", 1, "aclnnInplaceCopy", SIM_SHAPE_FIRST, {Y, X(0)}},
    {"TensorMove", 1, "aclnnInplaceCopy", SIM_SHAPE_FIRST, {Y, X(0)}},
    {"BroadcastTo", 2, "aclnnInplaceCopy", SIM_SHAPE_NUMBERS, {Y, X(0), NUMBERS(1)}},
    {"ZerosLike", 1, "aclnnInplaceZero", SIM_SHAPE_FIRST, {Y}},
    {"OnesLike", 1, "aclnnInplaceOne", SIM_SHAPE_FIRST, {Y}},
    {"Fill", 2, "aclnnInplaceFillTensor", SIM_SHAPE_NUMBERS, {Y, X(1), NUMBERS(0)}},
    {"SoftmaxV2", 1, "aclnnSoftmax", SIM_SHAPE_FIRST, {X(0), OPTIONAL("axes", -1), Y, FIXED("half_to_float", 0)}},
    {"LogSoftmaxV2", 1, "aclnnLogSoftmax", SIM_SHAPE_FIRST, {X(0), OPTIONAL("axes", -1), Y}},
    REDUCTION("ReduceSum", "aclnnReduceSum", TYPE, Y),
    REDUCTION("ReduceMean", "aclnnMean", TYPE, Y),
    REDUCTION("ReduceProd", "aclnnProdDim", TYPE, Y),
    REDUCTION("ReduceMax", "aclnnAmax", Y),
    REDUCTION("ReduceMin", "aclnnAmin", Y),
    {"ArgMaxV2", 2, "aclnnArgMax", SIM_SHAPE_REDUCED, {X(0), NUMBERS(1), NUMBER(0), Y, ANY("dtype")}},
    {"ArgMaxD", 1, "aclnnArgMax", SIM_SHAPE_REDUCED, {X(0), NEEDED("dimension"), NUMBER(0), Y, ANY("dtype")}},
    PRODUCT("MatMul", "transpose_x1", "transpose_x2"),
    PRODUCT_AND_BIAS("MatMul", "transpose_x1", "transpose_x2"),
    PRODUCT("MatMulV2", "transpose_x1", "transpose_x2"),
    PRODUCT_AND_BIAS("MatMulV2", "transpose_x1", "transpose_x2"),
    PRODUCT("BatchMatMul", "adj_x1", "adj_x2"),
    PRODUCT("BatchMatMulV2", "adj_x1", "adj_x2"),
    {"GEMM", 5, NULL, SIM_SHAPE_PRODUCT, {TURNED(0, "transpose_a"), TURNED(1, "transpose_b"), X(2), X(3), X(4), Y}},
    {"Transpose", 2, "aclnnPermute", SIM_SHAPE_PERMUTED, {X(0), NUMBERS(1), Y}},
    {"TransposeD", 1, "aclnnPermute", SIM_SHAPE_PERMUTED, {X(0), NEEDED("perm"), Y}},
    {"Tile", 2, "aclnnRepeat", SIM_SHAPE_TILED, {X(0), NUMBERS(1), Y}},
    {"TileD", 1, "aclnnRepeat", SIM_SHAPE_TILED, {X(0), NEEDED("multiples"), Y}},
    {"ReverseV2", 2, "aclnnFlip", SIM_SHAPE_FIRST, {X(0), NUMBERS(1), Y}},
    {"ReverseV2D", 1, "aclnnFlip", SIM_SHAPE_FIRST, {X(0), NEEDED("axis"), Y}},
    JOINED("ConcatD"),
    JOINED("ConcatV2D"),
    {"GatherV2", 3, "aclnnGatherV2", SIM_SHAPE_GATHERED, {X(0), NUMBERS(2), X(1), Y, FIXED("batch_dims", 0)}},
    {"GatherV2D", 2, "aclnnGatherV2", SIM_SHAPE_GATHERED, {X(0), NEEDED("axis"), X(1), Y}},
};

const struct sim_op_type *sim_op_type_find(const char *name, uint32_t inputs, bool *known)
{
    *known = false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].ty_name, name) != 0)
            continue;
        *known = true;
        if (types[i].ty_inputs == inputs || types[i].ty_inputs == SIM_OP_ANY_COUNT)
            return &types[i];
    }
    return NULL;
}
