/* Data buffers and tensor descriptions: objects of the host, each with its own lock. A description owns copies of
 * its lists, texts and constant. */
#include "tensordesc.h"
#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

static struct sim_table buffers = SIM_OBJECT_TABLE(struct sim_data_buffer, SIM_KIND_DATA_BUFFER);
static struct sim_table descs = SIM_OBJECT_TABLE(struct sim_tensor_desc, SIM_KIND_TENSOR_DESC);

/* ---- data buffers ---- */

struct sim_data_buffer *sim_tensordesc_buffer_open(const aclDataBuffer *handle)
{
    return sim_object_open(&buffers, handle, "dataBuffer", ACL_ERROR_INVALID_PARAM);
}

aclDataBuffer *sim_tensordesc_buffer_create(void *data, size_t size)
{
    uint64_t handle;
    struct sim_data_buffer *buffer = sim_object_take(&buffers, &handle);
    if (buffer == NULL)
        return NULL;
    buffer->db_data = data;
    buffer->db_size = size;
    return sim_object_publish(buffer, handle);
}

void sim_tensordesc_buffer_destroy(struct sim_data_buffer *buffer)
{
    sim_object_end(&buffers, buffer);
}

/* ---- tensor descriptions ---- */

struct sim_tensor_desc *sim_tensordesc_open(const aclTensorDesc *handle)
{
    return sim_object_open(&descs, handle, "desc", ACL_ERROR_INVALID_PARAM);
}

struct sim_tensor_desc *sim_tensordesc_peek(const aclTensorDesc *handle)
{
    return sim_object_peek(&descs, handle);
}

aclTensorDesc *sim_tensordesc_create(aclDataType type, const int64_t *dims, size_t count, aclFormat format)
{
    struct sim_numbers shape = {0};
    if (sim_tensordesc_numbers_set(&shape, dims, count) != ACL_SUCCESS)
        return NULL;
    uint64_t handle;
    struct sim_tensor_desc *desc = sim_object_take(&descs, &handle);
    if (desc == NULL) {
        free(shape.nu_values);
        return NULL;
    }
    desc->td_type = type;
    desc->td_format = format;
    desc->td_storage_format = ACL_FORMAT_UNDEFINED;
    desc->td_origin_format = format;
    desc->td_placement = ACL_MEMTYPE_DEVICE;
    desc->td_shape = shape;
    return sim_object_publish(desc, handle);
}

#define LISTS(desc)                                                                                                    \
    {&(desc)->td_shape, &(desc)->td_storage_shape, &(desc)->td_origin_shape, &(desc)->td_shape_range,                  \
     &(desc)->td_value_range}
#define LIST_COUNT 5

/* Copies the remaining fields from another description; the type and the format are already set. */
static aclError fill(struct sim_tensor_desc *desc, const struct sim_tensor_desc *from)
{
    struct sim_numbers *lists[LIST_COUNT] = LISTS(desc);
    const struct sim_numbers *sources[LIST_COUNT] = LISTS(from);
    desc->td_storage_format = from->td_storage_format;
    desc->td_origin_format = from->td_origin_format;
    desc->td_placement = from->td_placement;
    if (from->td_constant != NULL)
        SIM_TRY(sim_tensordesc_set_constant(desc, from->td_constant, from->td_constant_size));
    for (size_t i = 0; i < LIST_COUNT; i++)
        if (sources[i]->nu_values != NULL)
            SIM_TRY(sim_tensordesc_numbers_set(lists[i], sources[i]->nu_values, sources[i]->nu_count));
    if (from->td_dynamic_input != NULL)
        SIM_TRY(sim_tensordesc_set_text(&desc->td_dynamic_input, from->td_dynamic_input));
    return from->td_name == NULL ? ACL_SUCCESS : sim_tensordesc_set_text(&desc->td_name, from->td_name);
}

/* Only the source is locked: no other thread knows the copy yet. */
aclError sim_tensordesc_copy(const aclTensorDesc *handle, aclTensorDesc **copy)
{
    struct sim_tensor_desc *from = sim_tensordesc_open(handle);
    if (from == NULL)
        return ACL_ERROR_INVALID_PARAM;
    uint64_t fresh;
    struct sim_tensor_desc *desc = sim_object_take(&descs, &fresh);
    aclError code = ACL_ERROR_BAD_ALLOC;
    if (desc != NULL) {
        desc->td_type = from->td_type;
        desc->td_format = from->td_format;
        code = fill(desc, from);
    }
    sim_object_close(from);
    if (code == ACL_SUCCESS)
        *copy = sim_object_publish(desc, fresh);
    else if (desc != NULL)
        sim_tensordesc_destroy(desc);
    return code;
}

void sim_tensordesc_destroy(struct sim_tensor_desc *desc)
{
    struct sim_numbers *lists[LIST_COUNT] = LISTS(desc);
    for (size_t i = 0; i < LIST_COUNT; i++) {
        free(lists[i]->nu_values);
        *lists[i] = (struct sim_numbers){0};
    }
    free(desc->td_name);
    free(desc->td_dynamic_input);
    desc->td_name = desc->td_dynamic_input = NULL;
    free(desc->td_constant);
    desc->td_constant = NULL;
    desc->td_constant_size = 0;
    sim_object_end(&descs, desc);
}

aclError sim_tensordesc_numbers_set(struct sim_numbers *target, const int64_t *values, size_t count)
{
    int64_t *copy = malloc((count + 1) * sizeof *copy);
    SIM_ARGUMENT(copy != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for %zu numbers", count);
    if (count != 0)
        memcpy(copy, values, count * sizeof *copy);
    free(target->nu_values);
    *target = (struct sim_numbers){copy, count};
    return ACL_SUCCESS;
}

aclError sim_tensordesc_set_text(char **target, const char *text)
{
    char *copy = strdup(text);
    SIM_ARGUMENT(copy != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for a text of %zu bytes", strlen(text));
    free(*target);
    *target = copy;
    return ACL_SUCCESS;
}

aclError sim_tensordesc_set_constant(struct sim_tensor_desc *desc, const void *data, size_t size)
{
    void *copy = calloc(1, SIM_CONSTANT_BYTES);
    SIM_ARGUMENT(copy != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for a constant");
    memcpy(copy, data, size < SIM_CONSTANT_BYTES ? size : SIM_CONSTANT_BYTES);
    free(desc->td_constant);
    desc->td_constant = copy;
    desc->td_constant_size = size;
    return ACL_SUCCESS;
}

bool sim_tensordesc_has_rank(const struct sim_tensor_desc *desc)
{
    return desc->td_shape.nu_count != 1 || desc->td_shape.nu_values[0] != ACL_UNKNOWN_RANK;
}

size_t sim_tensordesc_elements(const struct sim_tensor_desc *desc)
{
    uint64_t elements = 1;
    for (size_t i = 0; i < desc->td_shape.nu_count; i++) {
        int64_t dim = desc->td_shape.nu_values[i];
        if (dim < 0 || !sim_size_multiply(&elements, (uint64_t)dim))
            return 0;
    }
    return elements;
}

size_t sim_tensordesc_bytes(const struct sim_tensor_desc *desc)
{
    uint64_t bits = sim_tensordesc_elements(desc);
    if (!sim_size_multiply(&bits, sim_type_bits(desc->td_type)))
        return 0;
    return bits / 8 + (bits % 8 != 0);
}

/* ---- the end of everything ---- */

static void destroy_buffer(void *object)
{
    sim_tensordesc_buffer_destroy(object);
}

static void destroy_desc(void *object)
{
    sim_tensordesc_destroy(object);
}

void sim_tensordesc_reset(void)
{
    sim_object_destroy_all(&buffers, destroy_buffer);
    sim_object_destroy_all(&descs, destroy_desc);
}

void sim_tensordesc_after_fork(void)
{
    sim_table_empty(&buffers);
    sim_table_empty(&descs);
}
