/* Updates of elements: each function combines old elements (a) with new ones (b), and c is the factor. */
#include "update.h"

#include <string.h>

SIM_EACH_ARITHMETIC(add, a + b)
SIM_EACH_ARITHMETIC(multiply, a * b)
SIM_EACH_ARITHMETIC(add_product, a + b * c)
SIM_EACH_INTEGER(greatest, a > b ? a : b)
SIM_EACH_FLOAT(greatest, a > b || a != a ? a : b)
SIM_EACH_INTEGER(least, a < b ? a : b)
SIM_EACH_FLOAT(least, a < b || a != a ? a : b)

enum { ADD_PRODUCT = SIM_UPDATE_MODES };

static sim_formula_func *const functions[][SIM_CLASSES] = {
    [SIM_UPDATE_ADD] = {SIM_RUN_REAL(add), SIM_RUN_PAIR(add)},
    [SIM_UPDATE_MULTIPLY] = {SIM_RUN_REAL(multiply), SIM_RUN_PAIR(multiply)},
    [SIM_UPDATE_GREATEST] = {SIM_RUN_REAL(greatest)},
    [SIM_UPDATE_LEAST] = {SIM_RUN_REAL(least)},
    [ADD_PRODUCT] = {SIM_RUN_REAL(add_product), SIM_RUN_PAIR(add_product)},
};

void sim_update_cast(void *element, aclDataType type, const void *value, aclDataType from)
{
    union sim_block_values block;
    enum sim_class carrier = sim_element_carrier(from, type);
    sim_element_load(&block, carrier, value, from, 0, 1);
    sim_element_store(&block, carrier, element, type, 0, 1);
}

void sim_update_start(struct sim_update *update, aclDataType type, enum sim_update_mode mode,
                      const aclsimScalar *factor)
{
    _Alignas(16) char element[16];
    const enum sim_class class = sim_element_class(type);
    update->up_type = type;
    update->up_size = sim_element_size(type);
    update->up_run = mode == SIM_UPDATE_REPLACE ? NULL : functions[factor == NULL ? (int)mode : ADD_PRODUCT][class];
    if (factor == NULL)
        return;
    sim_update_cast(element, type, factor->value, factor->type);
    sim_element_load(&update->up_factor, class, element, type, 0, SIM_BLOCK);
}

/* Strides are in elements. */
static void combine(const struct sim_update *update, void *to, int64_t to_stride, const void *from,
                    int64_t from_stride, size_t count)
{
    const enum sim_class class = sim_element_class(update->up_type);
    union sim_block_values old, new, result;
    const void *operands[SIM_FORMULA_OPERANDS] = {&old, &new, &update->up_factor, &old};
    sim_element_load(&old, class, to, update->up_type, to_stride, count);
    sim_element_load(&new, class, from, update->up_type, from_stride, count);
    update->up_run(&result, operands, count);
    sim_element_store(&result, class, to, update->up_type, to_stride, count);
}

void sim_update_element(const struct sim_update *update, void *to, const void *from)
{
    if (update->up_run == NULL)
        memcpy(to, from, update->up_size);
    else
        combine(update, to, 0, from, 0, 1);
}

aclError sim_update_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct sim_update *update = context;
    const int64_t size = (int64_t)update->up_size;
    if (update->up_run == NULL)
        return sim_walk_copy_line(places, strides, length, &update->up_size);
    for (int64_t done = 0; done < length; done += SIM_BLOCK)
        combine(update, places[0] + done * strides[0], strides[0] / size, places[1] + done * strides[1],
                strides[1] / size, sim_element_block(done, length));
    return ACL_SUCCESS;
}
