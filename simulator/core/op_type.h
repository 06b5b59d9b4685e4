/* What a type of single operators means: its row, and where the row's arguments come from. */
#ifndef SIM_OP_TYPE_H
#define SIM_OP_TYPE_H

#include "op.h"

enum sim_source_kind {
    SIM_FROM_NOTHING,   /* ends a list */
    SIM_FROM_INPUT,     /* so_name: the attribute that transposes it, or NULL */
    SIM_FROM_INPUTS,    /* all of them, as a list */
    SIM_FROM_OUTPUT,
    SIM_FROM_ATTRIBUTE,
    SIM_FROM_NUMBERS,   /* the numbers that a constant input holds */
    SIM_FROM_TYPE,      /* the data type of the output, which attribute so_name must repeat where it is given */
    SIM_FROM_MATH,      /* how the chip multiplies float32 */
    SIM_FROM_NUMBER,    /* so_number */
    SIM_SOURCE_FIXED,   /* no argument: an attribute that has to be so_number where it is given */
    SIM_SOURCE_ANY,     /* no argument: an attribute that says nothing new */
};

struct sim_source {
    enum sim_source_kind so_kind;
    uint32_t so_place;
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
};

#define SIM_OP_SOURCES 10
#define SIM_OP_ANY_COUNT UINT32_MAX

struct sim_op_type {
    const char *ty_name;
    uint32_t ty_inputs;   /* that are not left out; or SIM_OP_ANY_COUNT */
    const char *ty_row;   /* NULL: sim_op_gemm_row */
    enum sim_op_shape ty_shape;
    struct sim_source ty_sources[SIM_OP_SOURCES]; /* in the order of the row's parameters; those without one last */
};

/* The type in the table that has this many inputs; *known: there is one with another number. */
const struct sim_op_type *sim_op_type_find(const char *name, uint32_t inputs, bool *known);

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

#endif
