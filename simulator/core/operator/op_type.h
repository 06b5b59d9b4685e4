/* What a type of single operators means: its row, and where the row's arguments come from. */
#ifndef SIM_OP_TYPE_H
#define SIM_OP_TYPE_H

#include "op.h"

enum sim_source_kind {
    SIM_FROM_NOTHING,   /* ends a list */
    SIM_FROM_INPUT,     /* so_name: the attribute that transposes it, or NULL */
    SIM_FROM_INPUTS,    /* those from so_place on, without the last so_number ones, as a list */
    SIM_FROM_RAISED,    /* the same, each with a dimension of 1 more at attribute axis */
    SIM_FROM_VIEW,      /* an input with the dimensions of so_derive; NULL: of the output, which has as many elements */
    SIM_FROM_OUTPUT,
    SIM_FROM_OUTPUTS,   /* all, as a list */
    SIM_FROM_OUTPUTS_RAISED,
    SIM_FROM_ATTRIBUTE,
    SIM_FROM_NUMBERS,   /* the numbers that a constant input holds */
    SIM_FROM_TYPE,      /* the data type of the output, which attribute so_name must repeat where it is given */
    SIM_FROM_MATH,      /* how the chip multiplies float32 */
    SIM_FROM_NUMBER,    /* so_number */
    SIM_FROM_DERIVED,   /* what so_derive makes of the request */
    SIM_SOURCE_FIXED,   /* no argument: an attribute, if any, that has to be so_number where it is given */
    SIM_SOURCE_ANY,     /* no argument: an attribute that says nothing new */
};

/* Integers that follow from a request: `numbers` has room for SIM_DIMS_MAX. 100021 to 100024. */
typedef aclError (*sim_op_derive_func)(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);

struct sim_source {
    enum sim_source_kind so_kind;
    uint32_t so_place;
    sim_op_derive_func so_derive;
    const char *so_name;
    double so_number; /* of an attribute: when it is not given */
    bool so_needed;
};

/* How the shape of the outputs follows. */
enum sim_op_shape {
    SIM_SHAPE_BROADCAST, /* of the inputs that are tensors of the row */
    SIM_SHAPE_FIRST,     /* the first input's */
    SIM_SHAPE_NUMBERS,   /* the numbers of the third source */
    SIM_SHAPE_PRODUCT,
    SIM_SHAPE_REDUCED,   /* the second source says where, the third whether dimensions stay, as 1 */
    SIM_SHAPE_PERMUTED,  /* by the second source */
    SIM_SHAPE_TILED,
    SIM_SHAPE_JOINED,
    SIM_SHAPE_GATHERED,
    SIM_SHAPE_DERIVED,   /* ty_dims */
    SIM_SHAPE_SPLIT,     /* each output is a part of the input (op_part.c) */
    SIM_SHAPE_EXACT,     /* the same; and an output that is not open must have this shape, */
    SIM_SHAPE_VIEWED,    /* and the bytes of the input */
};

#define SIM_OP_SOURCES 18
#define SIM_OP_ANY_COUNT UINT32_MAX

struct sim_op_type {
    const char *ty_name;
    uint32_t ty_inputs;   /* that are not left out; or SIM_OP_ANY_COUNT */
    const char *ty_row;   /* NULL: ty_own */
    enum sim_op_shape ty_shape;
    struct sim_source ty_sources[SIM_OP_SOURCES]; /* in the order of the row's parameters; those without one last */
    enum sim_op_own ty_own;                              /* a row that programs do not see */
    bool (*ty_fits)(const struct sim_op_request *request); /* NULL: always; else the next entry is asked */
    sim_op_derive_func ty_dims;                             /* of the first output */
    sim_op_derive_func ty_more_dims;                        /* of the others; NULL: those of the first */
    uint32_t ty_outputs;                                 /* 0: one; or SIM_OP_ANY_COUNT, one or more */
};

/* The entry of the table for a request; NULL with *known: the type takes another number of inputs. */
const struct sim_op_type *sim_op_type_find(const struct sim_op_request *request, bool *known);

/* ---- what the table derives (op_derive.c, op_window.c) ---- */

aclError sim_op_derive_slice_starts(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_slice_ends(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_slice_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_axes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count); /* 0, 1, ... */
aclError sim_op_derive_ones(const struct sim_op_request *request, int64_t *numbers, uint32_t *count); /* one for each */
aclError sim_op_derive_flat_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_reshaped_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_expanded_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_squeezed_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_normalized(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_first_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_rms_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_second_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_line_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_one_hot_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_range_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_last_number(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_joined_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_derive_approximation(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);

/* Of windows over the height and width of images. */
aclError sim_op_window_axes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_window_sizes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_window_strides(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_window_dilations(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_window_pads(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_window_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
/* The padding after rows and columns that an average counts as elements; nothing: it counts none. */
aclError sim_op_window_counts_pads(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
/* The axes of a filter: outputs, inputs, height, width. */
aclError sim_op_window_filter_axes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);

/* Of parts of tensors (op_part.c). */
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
aclError sim_op_part_pad_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_part_gathered_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_part_bias_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
aclError sim_op_part_choice_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count);
/* The tensor with a dimension of 1 more where attribute axis says. */
aclError sim_op_raise(const struct sim_op_request *request, const struct sim_op_tensor *tensor,
                      struct sim_op_tensor *raised);

/* The text of an attribute, `missing` where it is not given or no text. */
const char *sim_op_text(const struct sim_op_request *request, const char *name, const char *missing);
/* The integers of an attribute, which is needed. */
aclError sim_op_integers(const struct sim_op_request *request, const char *name, int64_t *numbers, uint32_t *count);

/* The same of an attribute where it is given, else of an input. */
aclError sim_op_find_integers(const struct sim_op_request *request, const char *name, uint32_t place,
                              int64_t *numbers, uint32_t *count);
/* The integer of an attribute, `missing` where it is not given. */
aclError sim_op_find_integer(const struct sim_op_request *request, const char *name, int64_t missing, int64_t *number);

/* The row of a type that the user gave a kernel, or NULL; and its parameters (op_user.c). */
struct sim_row *sim_op_user_row(const char *name);
enum { SIM_USER_INPUTS, SIM_USER_OUTPUTS, SIM_USER_ATTRIBUTES };

/* Whether the type is that of a row with nothing but tensors, whose built-in kernel checks their shapes. */
bool sim_op_is_pointwise(const char *type);

/* The inputs that are not left out. */
uint32_t sim_op_present(const struct sim_op_request *request);

/* The numbers of a source that is a constant input or an attribute; 100023. `numbers` has room for SIM_DIMS_MAX. */
aclError sim_op_numbers(const struct sim_op_request *request, const struct sim_source *source, int64_t *numbers,
                        uint32_t *count);

/* Whether the attribute is given and true. */
bool sim_op_is_set(const struct sim_op_request *request, const char *name);

/* The dims that the outputs of a request with a type of the table should have (op_shape.c). */
aclError sim_op_check_view(const struct sim_op_request *request, const struct sim_op_type *type);

#endif
