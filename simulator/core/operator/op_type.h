/* What a type of single operators means: its schema, and where the schema's arguments come from. */
#ifndef SIM_OP_TYPE_H
#define SIM_OP_TYPE_H

#include "op.h"

enum sim_source_kind {
    SIM_FROM_NOTHING,   /* ends a list */
    SIM_FROM_INPUT,     /* so_name: the attribute that transposes it, or NULL */
    SIM_FROM_MOVED,     /* an input whose dimensions are in the order of so_derive */
    SIM_FROM_OPTIONAL,  /* an input that may be omitted */
    SIM_FROM_INPUTS,    /* inputs from so_place on, without the last so_number, as a list */
    SIM_FROM_RAISED,    /* all inputs as a list, each with one more dimension of 1 at attribute axis */
    SIM_FROM_VIEW,      /* an input viewed with the dimensions of so_derive, or (NULL) with those of the output */
    SIM_FROM_LIKE,      /* an element of an input, repeated in the shape of the output, where only the shape counts */
    SIM_FROM_STRIDES,        /* an input viewed with the size, strides and offset in the inputs from so_number on */
    SIM_FROM_UPDATED_STRIDES, /* the same view of the output, which lies where input so_place does: a part is changed */
    SIM_FROM_INDICES,   /* inputs from so_place on, each for a dimension whose number in constant so_number is 1 */
    SIM_FROM_OUTPUT,    /* with so_derive: viewed with these dimensions */
    SIM_FROM_OUTPUT_MOVED, /* its elements lie in memory in the order of so_derive */
    SIM_FROM_OUTPUTS,   /* all, as a list */
    SIM_FROM_OUTPUTS_RAISED,
    SIM_FROM_ATTRIBUTE,
    SIM_FROM_NUMBERS,   /* the numbers of a constant input: integers, or one number of any type for a scalar */
    SIM_FROM_TYPE,      /* the data type of the output, which attribute so_name must repeat if given */
    SIM_FROM_MATH,      /* how the chip multiplies float32 */
    SIM_FROM_INVERSE,   /* 1 divided by an attribute */
    SIM_FROM_NUMBER,    /* so_number */
    SIM_FROM_MASK,      /* so_place booleans, the bits of so_number */
    SIM_FROM_DERIVED,   /* the result of so_derive */
    SIM_SOURCE_FIXED,   /* no argument: an attribute, if named, that must be so_number if given */
    SIM_SOURCE_ANY,     /* no argument: an attribute that is ignored */
};

/* Computes integers from a request; `numbers` has room for SIM_DIMS_MAX. Returns 100021 to 100024. */
typedef aclError (*sim_op_derive_func)(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);

/* The same for the dimensions of an output. */
typedef aclError (*sim_op_each_func)(const struct sim_op_request *request, uint32_t output, int64_t *numbers,
                                     uint32_t *count);

struct sim_source {
    enum sim_source_kind so_kind;
    uint32_t so_place;
    sim_op_derive_func so_derive;
    const char *so_name;
    double so_number; /* default of an attribute */
    bool so_needed;
};

/* How the shape of the outputs is inferred. */
enum sim_op_shape {
    SIM_SHAPE_BROADCAST, /* of the inputs that are tensors of the schema */
    SIM_SHAPE_FIRST,     /* the first input's */
    SIM_SHAPE_NUMBERS,   /* the numbers of the third source */
    SIM_SHAPE_PRODUCT,
    SIM_SHAPE_REDUCED,   /* the second source has the axes, the third or else the fourth whether they stay, as 1 */
    SIM_SHAPE_PERMUTED,  /* by the second source */
    SIM_SHAPE_TILED,
    SIM_SHAPE_JOINED,
    SIM_SHAPE_GATHERED,
    SIM_SHAPE_DERIVED,   /* ty_dims */
    SIM_SHAPE_SPLIT,     /* each output is a part of the input (op_part.c) */
    SIM_SHAPE_EXACT,     /* the same; an output that is not open must have this shape */
    SIM_SHAPE_VIEWED,    /* the same, and as many bytes as the input */
};

#define SIM_OP_SOURCES 40
#define SIM_OP_ANY_COUNT UINT32_MAX

struct sim_op_type {
    const char *ty_name;
    uint32_t ty_inputs;   /* inputs that are not omitted, or SIM_OP_ANY_COUNT */
    const char *ty_row;   /* NULL: ty_own */
    enum sim_op_shape ty_shape;
    struct sim_source ty_sources[SIM_OP_SOURCES]; /* in the order of the schema's parameters; others last */
    enum sim_op_own ty_own;                              /* a schema that is not public */
    bool (*ty_fits)(const struct sim_op_request *request); /* NULL: always; if false, the next entry is tried */
    sim_op_derive_func ty_dims;                             /* of the first output */
    sim_op_derive_func ty_more_dims;                        /* of the others; NULL: those of the first */
    sim_op_each_func ty_each_dims;                          /* not NULL: of each output, instead */
    uint32_t ty_outputs;                                 /* 0: one; SIM_OP_ANY_COUNT: one or more */
    uint32_t ty_most_inputs; /* not 0: the first ty_inputs are required, those from this place on must be omitted */
};

/* Parts of the table, in files of their own (op_table_net.c, op_table_train.c, op_table_image.c). */
extern const struct sim_op_type sim_op_net_types[], sim_op_train_types[], sim_op_image_types[];
extern const size_t sim_op_net_count, sim_op_train_count, sim_op_image_count;

/* The table's entry for a request. NULL with *known set if the type takes another number of inputs. */
const struct sim_op_type *sim_op_type_find(const struct sim_op_request *request, bool *known);

/* ---- what the table derives (op_derive.c, op_window.c) ---- */

/* Derive the arguments and shapes of the types that they are named after (sim_op_derive_func). */
aclError sim_op_derive_slice_starts(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_slice_ends(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_slice_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_axes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count); /* 0, 1, ... */
aclError sim_op_derive_ones(const struct sim_op_request *request, int64_t *numbers, uint32_t *count); /* all 1 */
aclError sim_op_derive_flat_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_joined_axes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_reshaped_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_expanded_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_squeezed_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_normalized(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_first_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_rms_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_second_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_folded_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_line_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_one_hot_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_range_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_last_number(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_joined_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_selected_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_approximation(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_confused_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_overlap_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);

/* Windows over the height and width of images. */
aclError sim_op_window_axes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_window_sizes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_window_strides(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_window_dilations(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_window_pads(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_window_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
/* The padding after rows and columns that an average counts as elements; no numbers if it counts none. */
aclError sim_op_window_counts_pads(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
/* The channels of the image, as groups of DepthwiseConv2D; the filter of that; y of Conv2DTranspose. */
aclError sim_op_window_channels(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_window_depthwise_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_window_transposed_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
/* The dimension of the channels, for batch normalization. */
aclError sim_op_window_channel_axis(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
/* y of AdaptiveAvgPool2d. */
aclError sim_op_window_adapted_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
/* The axes of a filter: outputs, inputs, height, width. */
aclError sim_op_window_filter_axes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);

/* Recurrent networks (op_recurrent.c): the places of their gates among the columns of a weight, whether the last time
 * comes first, and the shape of all outputs. */
aclError sim_op_recurrent_reversed(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_recurrent_lstm_gates(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_recurrent_lstm_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_recurrent_lstm_v2_gates(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_recurrent_lstm_v2_dims(const struct sim_op_request *request, uint32_t output, int64_t *numbers,
                                       uint32_t *count);
aclError sim_op_recurrent_gru_gates(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_recurrent_gru_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
/* The same for their gradients. */
aclError sim_op_recurrent_lstm_grad_gates(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_recurrent_lstm_grad_dims(const struct sim_op_request *request, uint32_t output, int64_t *numbers,
                                         uint32_t *count);
aclError sim_op_recurrent_lstm_v2_grad_dims(const struct sim_op_request *request, uint32_t output, int64_t *numbers,
                                            uint32_t *count);
aclError sim_op_recurrent_gru_grad_gates(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_recurrent_gru_grad_dims(const struct sim_op_request *request, uint32_t output, int64_t *numbers,
                                        uint32_t *count);

/* Parts of tensors (op_part.c). */
aclError sim_op_part_starts(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_part_steps(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_part_sizes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_part_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
uint32_t sim_op_part_split_place(const struct sim_op_request *request); /* of the input that is split */
aclError sim_op_part_split_axis(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_part_split_sizes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_part_unpacked_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_part_packed_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_part_pads(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
bool sim_op_part_pads_edges(const struct sim_op_request *request); /* the mode of PadV3 is not constant */
aclError sim_op_part_pad_mode(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_part_pad_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_part_gathered_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_part_bias_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_part_choice_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);

/* Losses, and what picks and places elements (op_train.c). A reduction is 0 for none, 1 mean, 2 sum, 3 the sum divided
 * by the first dimension; a scatter's is 0 for none, 1 add, 2 mul. */
aclError sim_op_train_reduction(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_loss_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_likelihood_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_no_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_third_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_fifth_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_halved_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_embedding_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_columns(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_line_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_unknown_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_square_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_one(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_scatter(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_repeated(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_is_narrow(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_bag(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_reduced(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_train_correction(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);

/* Images with their channels in the second dimension (op_image.c): lists with a number per direction; whether padding
 * counts in an average; the dimensions of the output, and those of x behind the channels. */
aclError sim_op_image_sizes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_image_strides(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_image_dilations(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_image_extra(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_image_pads(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_image_counts_pads(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_image_output_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_image_extent(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
/* Views: x of Col2im and ResizeD, y of AffineGrid. Words as numbers: whether corners are aligned, modes of sampling. */
aclError sim_op_image_columns(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_image_lines(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_image_grid_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_image_aligns(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_image_corners(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_image_interpolation(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_image_border(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_image_length(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
/* ResizeGradD: the dimensions of grads as batch, channels, height and width, and the sizes of the last two. */
aclError sim_op_image_order(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_image_moved_extent(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
bool sim_op_image_is_cubic(const struct sim_op_request *request);
bool sim_op_image_is_linear(const struct sim_op_request *request);

/* The tensor with one more dimension of 1, at attribute axis. */
aclError sim_op_raise(const struct sim_op_request *request, const struct sim_op_tensor *tensor,
                      struct sim_op_tensor *raised);

/* The text of an attribute; `missing` if it is not given or not a text. */
const char *sim_op_text(const struct sim_op_request *request, const char *name, const char *missing);
/* Finds the place of such a text among words. Messages name the first three. */
aclError sim_op_word(const struct sim_op_request *request, const char *name, const char *missing,
                     const char *const *words, size_t length, int64_t *place);
/* The integers of a required attribute. */
aclError sim_op_integers(const struct sim_op_request *request, const char *name, int64_t *numbers, uint32_t *count);

/* The integers of an attribute if it is given, otherwise of an input. */
aclError sim_op_find_integers(const struct sim_op_request *request, const char *name, uint32_t place,
                              int64_t *numbers, uint32_t *count);
/* The integer of an attribute; `missing` if it is not given. */
aclError sim_op_find_integer(const struct sim_op_request *request, const char *name, int64_t missing, int64_t *number);

/* The schema of a type that the user registered with a kernel, or NULL; and its parameters (op_user.c). */
struct sim_row *sim_op_user_row(const char *name);
enum { SIM_USER_INPUTS, SIM_USER_OUTPUTS, SIM_USER_ATTRIBUTES };

/* Whether the type is that of a schema with only tensors, whose built-in kernel checks their shapes. */
bool sim_op_is_pointwise(const char *type);

/* Whether the bytes of a format are not in the order of the dimensions. */
bool sim_op_is_blocked(aclFormat format);
/* Whether an input is given, and not omitted; and the number of such inputs. */
bool sim_op_has_input(const struct sim_op_request *request, uint32_t place);
uint32_t sim_op_present(const struct sim_op_request *request);

/* The numbers of a source that is a constant input or an attribute; `numbers` has room for SIM_DIMS_MAX. Returns
 * 100023. */
aclError sim_op_numbers(const struct sim_op_request *request, const struct sim_source *source, int64_t *numbers,
                        uint32_t *count);

/* The integers of a constant input. */
aclError sim_op_input_numbers(const struct sim_op_request *request, uint32_t place, int64_t *numbers, uint32_t *count);

/* One number of a source, which may have a fraction. */
aclError sim_op_number(const struct sim_op_request *request, const struct sim_source *source, double *number,
                       bool *is_integer);

/* The values of a required attribute that is a list of floats or booleans, or a text. */
aclError sim_op_values(const struct sim_op_request *request, const char *name, enum sim_attribute_kind kind,
                       const struct sim_attribute **found);

/* Whether the attribute is given and true. */
bool sim_op_is_set(const struct sim_op_request *request, const char *name);

/* Checks that the output has the dimensions that follow from the request (op_shape.c). */
aclError sim_op_check_view(const struct sim_op_request *request, const struct sim_op_type *type);

#endif
