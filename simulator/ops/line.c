/* What works on whole lines loads one into memory of its own: it reads the elements more than once, and converts them
 * only once this way. */
#include "line.h"

#include "fail.h"
#include "tensordesc.h"
#include "odometer.h"
#include <stdlib.h>
#include <string.h>

/* Whether a dimension goes on where the last one of the line ends, and both together are not too long to count. */
static bool joins(const struct sim_line *line, int64_t dim, int64_t stride)
{
    int64_t both;
    uint32_t last = line->li_rank - 1;
    return line->li_rank > 0 && line->li_strides[last] == dim * stride &&
           !__builtin_mul_overflow(line->li_dims[last], dim, &both);
}

struct sim_line sim_line_of(const aclsimTensor *tensor, uint32_t first, uint32_t rank)
{
    struct sim_line line = {.li_type = tensor->type};
    for (uint32_t k = first; k < first + rank; k++) {
        int64_t dim = tensor->dims[k], stride = tensor->strides[k];
        if (dim == 1)
            continue;
        if (joins(&line, dim, stride)) {
            line.li_dims[line.li_rank - 1] *= dim;
            line.li_strides[line.li_rank - 1] = stride;
        } else {
            line.li_dims[line.li_rank] = dim;
            line.li_strides[line.li_rank++] = stride;
        }
    }
    return line;
}

static size_t size_of(enum sim_class class)
{
    return class == SIM_CLASS_FLOAT ? sizeof(float) : sizeof(double);
}

aclError sim_line_reserve(const struct sim_line *line, enum sim_class class, size_t count, void **memory,
                          size_t *length)
{
    size_t bytes = count * size_of(class);
    bool fits = true;
    *length = 1;
    for (uint32_t k = 0; k < line->li_rank; k++) {
        fits = fits && !__builtin_mul_overflow(bytes, (size_t)line->li_dims[k], &bytes);
        *length = fits ? *length * (size_t)line->li_dims[k] : 0;
    }
    *memory = fits ? malloc(bytes) : NULL;
    SIM_CHECK(*memory != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory for lines of %lld elements and more",
              (long long)(line->li_rank == 0 ? 1 : line->li_dims[0]));
    return ACL_SUCCESS;
}

char *sim_line_place(const aclsimTensor *others, const int64_t *at)
{
    int64_t offset = sim_odometer_offset(at, others->strides, others->rank);
    return (char *)others->data + offset * (int64_t)(sim_type_bits(others->type) / 8);
}

typedef void move_function(enum sim_class class, char *place, aclDataType type, int64_t stride, char *values,
                           size_t count);

static void load_block(enum sim_class class, char *place, aclDataType type, int64_t stride, char *values, size_t count)
{
    union sim_block_values block;
    sim_element_load(&block, class, place, type, stride, count);
    memcpy(values, &block, count * size_of(class));
}

static void store_block(enum sim_class class, char *place, aclDataType type, int64_t stride, char *values,
                        size_t count)
{
    union sim_block_values block;
    memcpy(&block, values, count * size_of(class));
    sim_element_store(&block, class, place, type, stride, count);
}

static void move(const struct sim_line *line, enum sim_class class, char *place, char *values, move_function *one)
{
    uint32_t outer = line->li_rank == 0 ? 0 : line->li_rank - 1;
    int64_t at[SIM_RANK] = {0}, size = (int64_t)(sim_type_bits(line->li_type) / 8);
    int64_t length = line->li_rank == 0 ? 1 : line->li_dims[outer];
    int64_t stride = line->li_rank == 0 ? 0 : line->li_strides[outer];
    do {
        char *start = place + sim_odometer_offset(at, line->li_strides, outer) * size;
        for (int64_t i = 0; i < length; i += SIM_BLOCK) {
            size_t count = (size_t)(length - i < SIM_BLOCK ? length - i : SIM_BLOCK);
            one(class, start + i * stride * size, line->li_type, stride, values, count);
            values += count * size_of(class);
        }
    } while (sim_odometer_next(at, line->li_dims, outer));
}

void sim_line_load(const struct sim_line *line, enum sim_class class, const void *from, void *values)
{
    move(line, class, (char *)from, values, load_block);
}

void sim_line_store(const struct sim_line *line, enum sim_class class, const void *values, void *to)
{
    move(line, class, to, (char *)values, store_block);
}
