/* Loading and storing whole lines of elements. Operators that read the elements of a line several times copy it into
 * memory of their own, so that the elements are converted only once. */
#include "line.h"

#include "base/bytes.h"
#include "base/fail.h"
#include <stdlib.h>
#include <string.h>

struct sim_line sim_line_of(const aclsimTensor *tensor, uint32_t first, uint32_t rank)
{
    struct sim_line line = {.li_type = tensor->type, .li_walk = {.wk_places = 1}};
    size_t size = sim_element_size(tensor->type);
    for (uint32_t k = first; k < first + rank; k++)
        sim_walk_add(&line.li_walk, tensor->dims[k], &tensor->strides[k], &size);
    sim_walk_join(&line.li_walk);
    return line;
}

aclsimTensor sim_line_without(const aclsimTensor *tensor, uint32_t dim)
{
    aclsimTensor rest = *tensor;
    rest.rank = tensor->rank == 0 ? 0 : tensor->rank - 1;
    for (uint32_t k = dim; k < rest.rank; k++) {
        rest.dims[k] = tensor->dims[k + 1];
        rest.strides[k] = tensor->strides[k + 1];
    }
    return rest;
}

static size_t size_of(enum sim_class class)
{
    return class == SIM_CLASS_FLOAT ? sizeof(float) : sizeof(double);
}

size_t sim_line_length(const struct sim_line *line)
{
    const struct sim_walk *walk = &line->li_walk;
    uint64_t length = !walk->wk_empty; /* an empty walk leaves out dimensions: those that it has do not count */
    for (uint32_t k = 0; k < walk->wk_rank && !walk->wk_empty; k++)
        if (!sim_size_multiply(&length, (uint64_t)walk->wk_dims[k]))
            return SIZE_MAX;
    return (size_t)length;
}

aclError sim_line_reserve(const struct sim_line *line, enum sim_class class, size_t count, void **memory,
                          size_t *length)
{
    uint64_t bytes = size_of(class);
    *length = sim_line_length(line);
    bool fits = sim_size_multiply(&bytes, count) && (*length == 0 || sim_size_multiply(&bytes, *length));
    *memory = fits ? malloc(bytes) : NULL;
    SIM_CHECK(*memory != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "cannot allocate host memory for lines of %lld elements or more",
              (long long)sim_walk_length(&line->li_walk));
    return ACL_SUCCESS;
}

struct transfer {
    const struct sim_line *tr_line;
    enum sim_class tr_class;
    char *tr_values; /* the next values */
    bool tr_stores;
};

/* Whether elements in memory are the same as their values. */
static bool is_plain(enum sim_class class, aclDataType type, int64_t stride)
{
    return stride == 1 && ((class == SIM_CLASS_FLOAT && type == ACL_FLOAT) ||
                           (class == SIM_CLASS_DOUBLE && type == ACL_DOUBLE));
}

bool sim_line_is_plain(const struct sim_line *line, enum sim_class class)
{
    const struct sim_walk *walk = &line->li_walk;
    const int64_t size = (int64_t)sim_element_size(line->li_type);
    return walk->wk_rank < 2 && is_plain(class, line->li_type, walk->wk_rank == 0 ? 1 : walk->wk_strides[0][0] / size);
}

static aclError transfer_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct transfer *transfer = context;
    enum sim_class class = transfer->tr_class;
    aclDataType type = transfer->tr_line->li_type;
    int64_t stride = strides[0] / (int64_t)sim_element_size(type);
    union sim_block_values block;
    if (is_plain(class, type, stride)) {
        size_t bytes = (size_t)length * size_of(class);
        memcpy(transfer->tr_stores ? places[0] : transfer->tr_values,
               transfer->tr_stores ? transfer->tr_values : places[0], bytes);
        transfer->tr_values += bytes;
        return ACL_SUCCESS;
    }
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        size_t count = sim_element_block(done, length), bytes = count * size_of(class);
        char *place = places[0] + done * strides[0];
        if (transfer->tr_stores) {
            memcpy(&block, transfer->tr_values, bytes);
            sim_element_store(&block, class, place, type, stride, count);
        } else {
            sim_element_load(&block, class, place, type, stride, count);
            memcpy(transfer->tr_values, &block, bytes);
        }
        transfer->tr_values += bytes;
    }
    return ACL_SUCCESS;
}

void sim_line_load(const struct sim_line *line, enum sim_class class, const void *from, void *values)
{
    struct transfer transfer = {line, class, values, false};
    sim_walk_run(&line->li_walk, (char *[]){(char *)from}, transfer_line, &transfer);
}

void sim_line_store(const struct sim_line *line, enum sim_class class, const void *values, void *to)
{
    struct transfer transfer = {line, class, (char *)values, true};
    sim_walk_run(&line->li_walk, (char *[]){to}, transfer_line, &transfer);
}
