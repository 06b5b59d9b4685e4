/* The types of single operators of networks: pools, convolutions, batch normalization and recurrent layers. op_table.c
 * has the others. */
#include "op_source.h"

#define POOL(name, inputs, own, divisor, ...)                                                                          \
    {                                                                                                                  \
        name, inputs, NULL, SIM_SHAPE_DERIVED,                                                                         \
            .ty_sources = {X(0),                                                                                       \
                           DERIVED(sim_op_window_axes),                                                                \
                           DERIVED(sim_op_window_sizes),                                                               \
                           DERIVED(sim_op_window_strides),                                                             \
                           DERIVED(sim_op_window_pads),                                                                \
                           DERIVED(sim_op_window_counts_pads),                                                         \
                           divisor,                                                                                    \
                           Y,                                                                                          \
                           __VA_ARGS__},                                                                               \
            .ty_own = (own), .ty_dims = sim_op_window_dims                                                             \
    }
#define CONVOLUTION(name, filter, groups)                                                                              \
    {                                                                                                                  \
        name, 2, NULL, SIM_SHAPE_DERIVED,                                                                              \
            .ty_sources = {X(0),                                                                                       \
                           filter,                                                                                     \
                           MAYBE(2),                                                                                   \
                           DERIVED(sim_op_window_axes),                                                                \
                           DERIVED(sim_op_window_filter_axes),                                                         \
                           DERIVED(sim_op_window_strides),                                                             \
                           DERIVED(sim_op_window_pads),                                                                \
                           DERIVED(sim_op_window_dilations),                                                           \
                           groups,                                                                                     \
                           Y,                                                                                          \
                           FIXED("offset_x", 0),                                                                       \
                           ANY("strides"),                                                                             \
                           ANY("pads"),                                                                                \
                           ANY("dilations"),                                                                           \
                           ANY("data_format")},                                                                        \
            .ty_own = SIM_OWN_CONV2D, .ty_dims = sim_op_window_dims, .ty_most_inputs = 3                               \
    }
/* `place` is that of x. */
#define TRANSPOSED(name, place, ...)                                                                                   \
    {                                                                                                                  \
        name, (place) + 2, NULL, SIM_SHAPE_DERIVED,                                                                    \
            .ty_sources = {X(place),                                                                                   \
                           X((place) + 1),                                                                             \
                           MAYBE((place) + 2),                                                                         \
                           DERIVED(sim_op_window_axes),                                                                \
                           DERIVED(sim_op_window_filter_axes),                                                         \
                           DERIVED(sim_op_window_strides),                                                             \
                           DERIVED(sim_op_window_pads),                                                                \
                           DERIVED(sim_op_window_dilations),                                                           \
                           OPTIONAL("groups", 1),                                                                      \
                           DERIVED(sim_op_window_transposed_dims),                                                     \
                           Y,                                                                                          \
                           FIXED("offset_x", 0),                                                                       \
                           ANY("strides"),                                                                             \
                           ANY("pads"),                                                                                \
                           ANY("dilations"),                                                                           \
                           ANY("data_format"),                                                                         \
                           ANY("output_padding"),                                                                      \
                           __VA_ARGS__},                                                                               \
            .ty_own = SIM_OWN_TRANSPOSED, .ty_dims = sim_op_window_transposed_dims, .ty_most_inputs = (place) + 3      \
    }
/* With the optional output reserve_space_3, which is not written, and without it. */
#define TRAINED(outputs, fits)                                                                                         \
    {                                                                                                                  \
        "BatchNorm", 3, NULL, SIM_SHAPE_DERIVED,                                                                       \
            .ty_sources = {X(0),                                                                                       \
                           DERIVED(sim_op_window_channel_axis),                                                        \
                           X(1),                                                                                       \
                           X(2),                                                                                       \
                           MAYBE(3),                                                                                   \
                           MAYBE(4),                                                                                   \
                           ABSENT,                                                                                     \
                           OPTIONAL("is_training", 1),                                                                 \
                           OPTIONAL("epsilon", 1e-4),                                                                  \
                           OPTIONAL("exponential_avg_factor", 1),                                                      \
                           OUTPUT(0),                                                                                  \
                           OUTPUT(1),                                                                                  \
                           OUTPUT(2),                                                                                  \
                           OUTPUT(3),                                                                                  \
                           OUTPUT(4),                                                                                  \
                           ANY("data_format")},                                                                        \
            .ty_own = SIM_OWN_BATCH_NORM, .ty_dims = sim_op_derive_first_dims,                                         \
            .ty_more_dims = sim_op_derive_second_dims, .ty_outputs = (outputs), .ty_fits = (fits),                     \
            .ty_most_inputs = 5                                                                                        \
    }
#define PLAIN_POOL ANY("ksize"), ANY("strides"), ANY("padding"), ANY("data_format")
#define SEQUENCE                                                                                                       \
    ANY("direction"), ANY("activation"), ANY("gate_order"), FIXED("cell_clip", -1), FIXED("num_proj", 0),              \
        FIXED("time_major", 1)
#define RECURRENT SEQUENCE, ANY("is_training"), FIXED("cell_depth", 1), FIXED("keep_prob", 1)
#define RECURRENT_GRAD SEQUENCE, ANY("cell_depth"), ANY("keep_prob")
#define CELL ANY("cell_type"), FIXED("use_peephole", 0)
/* Attributes of the second version. */
#define KERAS ANY("recurrent_activation"), FIXED("stateful", 0), ANY("merge_mode")
#define LSTM(name, hidden, first, gates, each, ...)                                                                    \
    {                                                                                                                  \
        name, 3, NULL, SIM_SHAPE_DERIVED,                                                                              \
            .ty_sources = {X(0),                                                                                       \
                           X(1),                                                                                       \
                           hidden,                                                                                     \
                           MAYBE(first),                                                                               \
                           MAYBE((first) + 1),                                                                         \
                           MAYBE((first) + 2),                                                                         \
                           MAYBE((first) + 3),                                                                         \
                           DERIVED(gates),                                                                             \
                           OPTIONAL("forget_bias", 0),                                                                 \
                           DERIVED(sim_op_recurrent_reversed),                                                         \
                           OUTPUT(0),                                                                                  \
                           OUTPUT(1),                                                                                  \
                           OUTPUT(2),                                                                                  \
                           OUTPUT(3),                                                                                  \
                           OUTPUT(4),                                                                                  \
                           OUTPUT(5),                                                                                  \
                           OUTPUT(6),                                                                                  \
                           OUTPUT(7),                                                                                  \
                           CELL,                                                                                       \
                           RECURRENT,                                                                                  \
                           __VA_ARGS__},                                                                               \
            .ty_own = SIM_OWN_LSTM, .ty_dims = sim_op_recurrent_lstm_dims, .ty_each_dims = (each), .ty_outputs = 8,    \
            .ty_most_inputs = (first) + 4                                                                              \
    }
/* `later` is the number of outputs before db. */
#define LSTM_GRAD(name, hidden, hidden_grad, later, each, ...)                                                         \
    {                                                                                                                  \
        name, 15, NULL, SIM_SHAPE_DERIVED,                                                                             \
            .ty_sources = {X(0),                                                                                       \
                           X(1),                                                                                       \
                           hidden,                                                                                     \
                           X(4),                                                                                       \
                           X(5),                                                                                       \
                           MAYBE(16),                                                                                  \
                           X(6),                                                                                       \
                           X(7),                                                                                       \
                           X(8),                                                                                       \
                           X(9),                                                                                       \
                           X(10),                                                                                      \
                           X(11),                                                                                      \
                           X(12),                                                                                      \
                           X(13),                                                                                      \
                           X(14),                                                                                      \
                           MAYBE(15),                                                                                  \
                           DERIVED(sim_op_recurrent_lstm_grad_gates),                                                  \
                           DERIVED(sim_op_recurrent_reversed),                                                         \
                           OUTPUT(0),                                                                                  \
                           hidden_grad,                                                                                \
                           OUTPUT(later),                                                                              \
                           OUTPUT((later) + 1),                                                                        \
                           OUTPUT((later) + 2),                                                                        \
                           OUTPUT((later) + 3),                                                                        \
                           CELL,                                                                                       \
                           ANY("forget_bias"),                                                                         \
                           RECURRENT_GRAD,                                                                             \
                           __VA_ARGS__},                                                                               \
            .ty_own = SIM_OWN_LSTM_GRAD, .ty_dims = sim_op_derive_second_dims, .ty_each_dims = (each),                 \
            .ty_outputs = (later) + 4, .ty_most_inputs = 21                                                            \
    }
#define WIDE_POOL                                                                                                      \
    ANY("ksize"), ANY("strides"), ANY("padding_mode"), ANY("pads"), ANY("data_format"), ANY("global_pooling"),         \
        ANY("ceil_mode")

static bool has_six_outputs(const struct sim_op_request *request)
{
    return request->rq_output_count == 6;
}

const struct sim_op_type sim_op_net_types[] = {
    LSTM("DynamicRNN", ABSENT, 2, sim_op_recurrent_lstm_gates, NULL, NOTHING),
    LSTM("DynamicRNNV2", X(2), 3, sim_op_recurrent_lstm_v2_gates, sim_op_recurrent_lstm_v2_dims, KERAS),
    LSTM_GRAD("DynamicRNNGrad", ABSENT, ABSENT, 1, sim_op_recurrent_lstm_grad_dims, NOTHING),
    LSTM_GRAD("DynamicRNNV2Grad", X(2), OUTPUT(1), 2, sim_op_recurrent_lstm_v2_grad_dims, KERAS),
    {"DynamicGRUV2", 3, NULL, SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), X(1), X(2), MAYBE(3), MAYBE(4), MAYBE(6), DERIVED(sim_op_recurrent_gru_gates), OUTPUT(0),
                    OUTPUT(1), OUTPUT(2), OUTPUT(3), OUTPUT(4), OUTPUT(5), FIXED("reset_after", 1), RECURRENT},
     .ty_own = SIM_OWN_GRU, .ty_dims = sim_op_recurrent_gru_dims, .ty_outputs = 6, .ty_most_inputs = 7},
    {"DynamicGRUV2Grad", 12, NULL, SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), X(1), X(2), X(4), X(5), X(6), X(7), X(8), X(9), X(10), X(11),
                    DERIVED(sim_op_recurrent_gru_grad_gates), OUTPUT(0), OUTPUT(1), OUTPUT(2), OUTPUT(3), OUTPUT(4),
                    OUTPUT(5), FIXED("reset_after", 1), ANY("bias_type"), RECURRENT_GRAD},
     .ty_own = SIM_OWN_GRU_GRAD, .ty_dims = sim_op_derive_second_dims, .ty_each_dims = sim_op_recurrent_gru_grad_dims,
     .ty_outputs = 6, .ty_most_inputs = 14},
    POOL("MaxPool", 1, SIM_OWN_MAX_POOL, NUMBER(0), PLAIN_POOL),
    POOL("AvgPool", 1, SIM_OWN_AVG_POOL, NUMBER(0), PLAIN_POOL),
    POOL("MaxPoolExt2", 1, SIM_OWN_MAX_POOL, NUMBER(0), PLAIN_POOL),
    POOL("MaxPoolV2", 3, SIM_OWN_MAX_POOL, NUMBER(0), ANY("padding"), ANY("data_format")),
    POOL("MaxPoolV3", 1, SIM_OWN_MAX_POOL, NUMBER(0), WIDE_POOL),
    POOL("AvgPoolV2", 1, SIM_OWN_AVG_POOL, OPTIONAL("divisor_override", 0), WIDE_POOL, ANY("exclusive")),
    {"AdaptiveAvgPool2d", 1, "aclnnAdaptiveAvgPool2d", SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), NEEDED("output_size"), Y}, .ty_dims = sim_op_window_adapted_dims},
    POOL("GlobalAveragePool", 1, SIM_OWN_AVG_POOL, NUMBER(0), ANY("data_format")),
    CONVOLUTION("Conv2D", X(1), OPTIONAL("groups", 1)),
    CONVOLUTION("DepthwiseConv2D", VIEW_AS(1, sim_op_window_depthwise_dims), DERIVED(sim_op_window_channels)),
    TRANSPOSED("Conv2DTransposeD", 0, ANY("input_size")),
    TRANSPOSED("Conv2DTranspose", 1, NOTHING),
    TRAINED(6, has_six_outputs),
    TRAINED(5, NULL),
    {"BNInfer", 5, NULL, SIM_SHAPE_FIRST,
     .ty_sources = {X(0), DERIVED(sim_op_window_channel_axis), X(1), X(2), X(3), X(4), ABSENT, NUMBER(0),
                    NEEDED("epsilon"), NUMBER(1), Y},
     .ty_own = SIM_OWN_BATCH_NORM},
    {"BNInference", 4, NULL, SIM_SHAPE_FIRST,
     .ty_sources = {X(0), DERIVED(sim_op_window_channel_axis), MAYBE(4), MAYBE(5), X(1), X(2), X(3), NUMBER(0),
                    OPTIONAL("epsilon", 1e-5), NUMBER(1), Y, ABSENT, ABSENT, ABSENT, ABSENT, ANY("mode"),
                    FIXED("use_global_stats", 1)},
     .ty_own = SIM_OWN_BATCH_NORM, .ty_most_inputs = 6},
    {"ScaledMaskedSoftmax", 2, "aclnnScaledMaskedSoftmax", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), X(1), OPTIONAL("scale", 1), OPTIONAL("fixed_triu_mask", 0), Y}},
    {"ScaledMaskedSoftmaxGrad", 3, "aclnnScaledMaskedSoftmaxBackward", SIM_SHAPE_FIRST,
     .ty_sources = {X(0), X(1), X(2), OPTIONAL("scale", 1), OPTIONAL("fixed_triu_mask", 0), Y}},
    {"ConfusionTransposeD", 1, "aclnnConfusionTranspose", SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), NEEDED("perm"), NEEDED("shape"), NEEDED("transpose_first"), Y},
     .ty_dims = sim_op_derive_confused_dims},
    {"Iou", 2, NULL, SIM_SHAPE_DERIVED,
     .ty_sources = {X(0), X(1), NEEDED("mode"), OPTIONAL("eps", 1), OPTIONAL("aligned", 0), Y},
     .ty_own = SIM_OWN_IOU, .ty_dims = sim_op_derive_overlap_dims},
    {"BoundingBoxEncode", 2, NULL, SIM_SHAPE_FIRST, .ty_sources = {X(0), X(1), NEEDED("means"), NEEDED("stds"), Y},
     .ty_own = SIM_OWN_BOX_ENCODE},
    {"BoundingBoxDecode", 2, NULL, SIM_SHAPE_FIRST,
     .ty_sources = {X(0), X(1), NEEDED("means"), NEEDED("stds"), NEEDED("max_shape"), OPTIONAL("wh_ratio_clip", 0.016),
                    Y},
     .ty_own = SIM_OWN_BOX_DECODE},
    {"MishGrad", 2, "aclnnMishBackward", SIM_SHAPE_FIRST, .ty_sources = {X(0), X(1), Y}},
    {"SwishGrad", 3, "aclnnSiluBackward", SIM_SHAPE_FIRST, .ty_sources = {X(0), X(1), Y, FIXED("scale", 1)}},
};

const size_t sim_op_net_count = sizeof sim_op_net_types / sizeof *sim_op_net_types;
