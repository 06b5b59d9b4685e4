/* The types of single operators on images, with their channels in the second dimension: gradients of convolutions and
 * pools, convolutions and pools in three directions, the steps of batch normalization, resizing, sampling and padding.
 * op_table_net.c has the convolutions and pools of other layouts. Outputs have shapes that a program gives. */
#include "op_source.h"

#define WINDOWS                                                                                                        \
    ANY("ksize"), ANY("ksizes"), ANY("kernel_size"), ANY("strides"), ANY("stride"), ANY("pads"), ANY("padding"),       \
        ANY("padding_mode"), ANY("dilations"), ANY("dilation"), ANY("data_format"), ANY("output_padding"),             \
        FIXED("global_pooling", 0), FIXED("offset_x", 0)
#define STEPS DERIVED(sim_op_image_strides), DERIVED(sim_op_image_pads)
#define UNKNOWN SIM_SHAPE_DERIVED, .ty_dims = sim_op_train_unknown_dims
/* input, weight, bias */
#define CONVOLUTION(name, inputs, image, filter, bias, transposed)                                                     \
    {name, inputs, "aclnnConvolution", UNKNOWN,                                                                        \
     .ty_sources = {X(image), X(filter), MAYBE(bias), STEPS, DERIVED(sim_op_image_dilations), NUMBER(transposed),      \
                    DERIVED(sim_op_image_extra), OPTIONAL("groups", 1), Y, MATH, WINDOWS},                             \
     .ty_most_inputs = (inputs) + 1}
/* grad, input, weight; then which of the gradients is the output */
#define CONVOLUTION_GRAD(name, grad, input, weight, mask, ...)                                                         \
    {name, 3, "aclnnConvolutionBackward", UNKNOWN,                                                                     \
     .ty_sources = {X(grad), input, weight, ABSENT, STEPS, DERIVED(sim_op_image_dilations), NUMBER(0),                 \
                    DERIVED(sim_op_image_extra), OPTIONAL("groups", 1), MASK(3, mask), MATH, __VA_ARGS__, WINDOWS}}
#define POOL_GRAD(name, row, counts, ...)                                                                              \
    {name, 2, row, UNKNOWN,                                                                                            \
     .ty_sources = {X(1), LIKE(1), DERIVED(sim_op_image_sizes), STEPS, OPTIONAL("ceil_mode", 0), counts, __VA_ARGS__}}
#define RESIZED(name, row, fits, y, ...)                                                                               \
    {name, 1, row, UNKNOWN,                                                                                            \
     .ty_sources = {__VA_ARGS__, y, ANY("scales"), ANY("roi"), ANY("mode"), ANY("nearest_mode"),                       \
                    FIXED("cubic_coeff_a", -0.75f), FIXED("exclude_outside", 0), ANY("extrapolation_value"),           \
                    ANY("coordinate_transformation_mode"), ANY("data_format")},                                        \
     .ty_fits = (fits)}
#define CORNERS DERIVED(sim_op_image_corners)
#define SAMPLED DERIVED(sim_op_image_interpolation), DERIVED(sim_op_image_border), OPTIONAL("align_corners", 0)

const struct sim_op_type sim_op_image_types[] = {
    CONVOLUTION("Conv3D", 2, 0, 1, 2, 0),
    CONVOLUTION("Conv3DTranspose", 3, 1, 2, 3, 1),
    CONVOLUTION_GRAD("Conv2DBackpropInput", 2, LIKE(2), X(1), 1, Y, ABSENT, ABSENT),
    CONVOLUTION_GRAD("Conv3DBackpropInput", 2, LIKE(2), X(1), 1, Y, ABSENT, ABSENT),
    CONVOLUTION_GRAD("Conv2DBackpropFilter", 2, X(0), LIKE(0), 2, ABSENT, Y, ABSENT),
    CONVOLUTION_GRAD("Conv3DBackpropFilter", 2, X(0), LIKE(0), 2, ABSENT, Y, ABSENT),
    POOL_GRAD("AvgPoolV2Grad", "aclnnAvgPool2dBackward", DERIVED(sim_op_image_counts_pads),
              OPTIONAL("divisor_override", 0), NUMBER(0), Y, ANY("exclusive"), WINDOWS),
    POOL_GRAD("AvgPool3DGrad", "aclnnAvgPool3dBackward", OPTIONAL("count_include_pad", 1),
              OPTIONAL("divisor_override", 0), Y, WINDOWS),
    {"AvgPool3D", 1, "aclnnAvgPool3d", UNKNOWN,
     .ty_sources = {X(0), DERIVED(sim_op_image_sizes), STEPS, OPTIONAL("ceil_mode", 0),
                    OPTIONAL("count_include_pad", 1), OPTIONAL("divisor_override", 0), Y, WINDOWS}},
    {"AdaptiveAvgPool2dGrad", 1, "aclnnAdaptiveAvgPool2dBackward", UNKNOWN,
     .ty_sources = {X(0), LIKE(0), Y, ANY("orig_input_shape")}},
    {"MaxPoolWithArgmaxV1", 1, NULL, UNKNOWN,
     .ty_sources = {X(0), DERIVED(sim_op_image_sizes), STEPS, DERIVED(sim_op_image_dilations),
                    OPTIONAL("ceil_mode", 0), OUTPUT(0), OUTPUT(1), ANY("dtype"), WINDOWS},
     .ty_own = SIM_OWN_MAX_POOL_MASK, .ty_outputs = 2},
    {"MaxPoolGradWithArgmaxV1", 3, NULL, UNKNOWN,
     .ty_sources = {X(1), X(0), X(2), DERIVED(sim_op_image_sizes), STEPS, DERIVED(sim_op_image_dilations),
                    OPTIONAL("ceil_mode", 0), Y, ANY("dtype"), WINDOWS},
     .ty_own = SIM_OWN_MAX_POOL_MASK_GRAD},
    {"MaxPool3D", 1, NULL, UNKNOWN,
     .ty_sources = {X(0), DERIVED(sim_op_image_sizes), STEPS, DERIVED(sim_op_image_dilations),
                    OPTIONAL("ceil_mode", 0), Y, WINDOWS},
     .ty_own = SIM_OWN_MAX_POOL_3D},
    {"MaxPool3DGrad", 3, NULL, SIM_SHAPE_FIRST,
     .ty_sources = {X(2), X(0), DERIVED(sim_op_image_sizes), STEPS, DERIVED(sim_op_image_dilations),
                    OPTIONAL("ceil_mode", 0), Y, WINDOWS},
     .ty_own = SIM_OWN_MAX_POOL_3D_GRAD},
    {"BNTrainingReduce", 1, NULL, UNKNOWN, .ty_sources = {X(0), OUTPUT(0), OUTPUT(1), ANY("epsilon")},
     .ty_own = SIM_OWN_BN_REDUCE, .ty_outputs = 2},
    {"BNTrainingUpdate", 7, NULL, UNKNOWN,
     .ty_sources = {X(0), X(1), X(2), X(3), X(4), X(5), X(6), NEEDED("factor"), NEEDED("epsilon"), OUTPUT(0), OUTPUT(1),
                    OUTPUT(2), OUTPUT(3), OUTPUT(4)},
     .ty_own = SIM_OWN_BN_UPDATE, .ty_outputs = 5},
    {"BNTrainingUpdateGrad", 4, NULL, UNKNOWN,
     .ty_sources = {X(0), X(1), X(2), X(3), OPTIONAL("epsilon", 1e-4), OUTPUT(0), OUTPUT(1)},
     .ty_own = SIM_OWN_BN_UPDATE_GRAD, .ty_outputs = 2},
    {"BNTrainingReduceGrad", 7, NULL, SIM_SHAPE_FIRST,
     .ty_sources = {X(0), X(1), X(2), X(3), X(4), X(5), X(6), OPTIONAL("epsilon", 1e-4), Y},
     .ty_own = SIM_OWN_BN_REDUCE_GRAD},
    {"BNInferGrad", 3, NULL, SIM_SHAPE_FIRST, .ty_sources = {X(0), X(1), X(2), OPTIONAL("epsilon", 1e-4), Y},
     .ty_own = SIM_OWN_BN_INFER_GRAD},
    {"GroupNormSwish", 3, "aclnnGroupNormSwish", UNKNOWN,
     .ty_sources = {X(0), X(1), X(2), NEEDED("num_groups"), ABSENT, OPTIONAL("eps", 1e-5),
                    OPTIONAL("activate_swish", 1), OPTIONAL("swish_scale", 1), OUTPUT(0), OUTPUT(1), OUTPUT(2),
                    ANY("data_format")},
     .ty_outputs = 3},
    {"GroupNormSwishGrad", 6, "aclnnGroupNormSwishGrad", UNKNOWN,
     .ty_sources = {X(0), X(1), X(2), X(3), X(4), X(5), NEEDED("num_groups"), ABSENT, OPTIONAL("swish_scale", 1),
                    NUMBER(1), NUMBER(1), OUTPUT(0), OUTPUT(1), OUTPUT(2), ANY("data_format"),
                    ANY("dgamma_is_require"), ANY("dbeta_is_require")},
     .ty_outputs = 3},
    {"ResizeNearestNeighborV2", 2, "aclnnUpsampleNearest2d", UNKNOWN,
     .ty_sources = {X(0), NUMBERS(1), Y, FIXED("align_corners", 0), FIXED("half_pixel_centers", 0)}},
    {"ResizeNearestNeighborV2Grad", 2, "aclnnUpsampleNearest2dBackward", UNKNOWN,
     .ty_sources = {X(0), DERIVED(sim_op_image_extent), DERIVED(sim_op_image_output_dims), NUMBER(0), NUMBER(0), Y,
                    FIXED("align_corners", 0), FIXED("half_pixel_centers", 0)}},
    {"ResizeBilinearV2", 2, "aclnnUpsampleBilinear2d", UNKNOWN,
     .ty_sources = {X(0), NUMBERS(1), DERIVED(sim_op_image_aligns), NUMBER(0), NUMBER(0), Y, ANY("align_corners"),
                    ANY("half_pixel_centers")}},
    {"ResizeBilinearV2Grad", 2, "aclnnUpsampleBilinear2dBackward", UNKNOWN,
     .ty_sources = {X(0), DERIVED(sim_op_image_extent), DERIVED(sim_op_image_output_dims),
                    DERIVED(sim_op_image_aligns), NUMBER(0), NUMBER(0), Y, ANY("align_corners"),
                    ANY("half_pixel_centers")}},
    RESIZED("ResizeD", "aclnnUpsampleBicubic2d", sim_op_image_is_cubic, Y, X(0), NEEDED("sizes"), CORNERS,
            NUMBER(0), NUMBER(0)),
    RESIZED("ResizeD", "aclnnUpsampleLinear1d", sim_op_image_is_linear, Y, VIEW_AS(0, sim_op_image_lines),
            NEEDED("sizes"), CORNERS, NUMBER(0)),
    RESIZED("ResizeGradD", "aclnnUpsampleBicubic2dBackward", sim_op_image_is_cubic, Y_MOVED(sim_op_image_order),
            MOVED(0, sim_op_image_order), DERIVED(sim_op_image_moved_extent), NEEDED("original_size"), CORNERS,
            NUMBER(0), NUMBER(0)),
    RESIZED("ResizeGradD", "aclnnUpsampleLinear1dBackward", sim_op_image_is_linear, Y,
            VIEW_AS(0, sim_op_image_lines), DERIVED(sim_op_image_length), NEEDED("original_size"), CORNERS, NUMBER(0)),
    {"UpsampleTrilinear3d", 1, "aclnnUpsampleTrilinear3d", UNKNOWN,
     .ty_sources = {X(0), NEEDED("output_size"), OPTIONAL("align_corners", 0), NUMBER(0), NUMBER(0), NUMBER(0), Y,
                    ANY("scales")}},
    {"UpsampleTrilinear3dGrad", 1, "aclnnUpsampleTrilinear3dBackward", UNKNOWN,
     .ty_sources = {X(0), DERIVED(sim_op_image_extent), DERIVED(sim_op_image_output_dims),
                    OPTIONAL("align_corners", 0), NUMBER(0), NUMBER(0), NUMBER(0), Y, ANY("input_size"),
                    ANY("output_size"), ANY("scales")}},
    {"GridSampler2D", 2, "aclnnGridSampler2D", UNKNOWN, .ty_sources = {X(0), X(1), SAMPLED, Y,
                                                                       ANY("interpolation_mode"), ANY("padding_mode")}},
    {"GridSampler2DGrad", 3, "aclnnGridSampler2DBackward", UNKNOWN,
     .ty_sources = {X(0), X(1), X(2), SAMPLED, MASK(2, 3), OUTPUT(0), OUTPUT(1), ANY("interpolation_mode"),
                    ANY("padding_mode")},
     .ty_outputs = 2},
    {"AffineGrid", 2, "aclnnAffineGrid", UNKNOWN,
     .ty_sources = {X(0), NUMBERS(1), OPTIONAL("align_corners", 0), Y_AS(sim_op_image_grid_dims)}},
    {"Im2col", 1, "aclnnIm2col", UNKNOWN,
     .ty_sources = {X(0), DERIVED(sim_op_image_sizes), DERIVED(sim_op_image_dilations), DERIVED(sim_op_image_pads),
                    DERIVED(sim_op_image_strides), Y, WINDOWS}},
    {"Col2im", 2, "aclnnIm2colBackward", UNKNOWN,
     .ty_sources = {VIEW_AS(0, sim_op_image_columns), NUMBERS(1), DERIVED(sim_op_image_sizes),
                    DERIVED(sim_op_image_dilations), DERIVED(sim_op_image_pads), DERIVED(sim_op_image_strides), Y,
                    WINDOWS}},
    {"MirrorPad", 2, NULL, SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), DERIVED(sim_op_part_pads), DERIVED(sim_op_part_pad_mode), Y, ANY("mode")},
     .ty_own = SIM_OWN_PAD_EDGES, .ty_dims = sim_op_part_pad_dims},
    {"PadV3Grad", 2, NULL, UNKNOWN,
     .ty_sources = {X(0), DERIVED(sim_op_part_pads), DERIVED(sim_op_part_pad_mode), Y, ANY("mode"),
                    ANY("paddings_contiguous")},
     .ty_own = SIM_OWN_PAD_EDGES_GRAD},
};

const size_t sim_op_image_count = sizeof sim_op_image_types / sizeof *sim_op_image_types;
