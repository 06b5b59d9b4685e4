/* Replacing elements of a tensor by those of another one, or combining them. */
#ifndef OPS_UPDATE_H
#define OPS_UPDATE_H

#include "formula.h"
#include "walk.h"

enum sim_update_mode {
    SIM_UPDATE_REPLACE,
    SIM_UPDATE_ADD,
    SIM_UPDATE_MULTIPLY,
    SIM_UPDATE_GREATEST, /* of real numbers; NaN if either one is */
    SIM_UPDATE_LEAST,
    SIM_UPDATE_MODES
};

/* Both tensors have this type. A sum or product is computed in the class of the type, and rounded after each update. */
struct sim_update {
    aclDataType up_type;
    size_t up_size;           /* of an element */
    sim_formula_func *up_run; /* NULL: elements are replaced */
    union sim_block_values up_factor;
};

/* `factor` is NULL, or multiplies what is added. It can be cast to the type. */
void sim_update_start(struct sim_update *update, aclDataType type, enum sim_update_mode mode,
                      const aclsimScalar *factor);

/* Line functions whose context is a struct sim_update. places: the addresses of the updated elements, which are
 * different ones, and of those that update them. */
aclError sim_update_line(char *const *places, const int64_t *strides, int64_t length, void *context);
/* Updates a single element. */
void sim_update_element(const struct sim_update *update, void *to, const void *from);

/* Casts a value, rounding it once; `element` has room for 16 bytes. */
void sim_update_cast(void *element, aclDataType type, const void *value, aclDataType from);

#endif
