/* Data buffers and tensor descriptions: plain host objects with handles. */
#ifndef SIM_TENSORDESC_H
#define SIM_TENSORDESC_H

#include "base/object.h"
#include "base/type.h"
#include <string.h>

#define SIM_DIMS_MAX 128
#define SIM_VALUES_MAX (1 << 20)
#define SIM_CONSTANT_BYTES 1024 /* per constant that operators read, such as axes and shapes: 128 numbers */

struct sim_data_buffer {
    struct sim_object db_object;
    void *db_data;
    size_t db_size;
};

/* A list of dimensions, or of pairs (twice as many numbers), allocated with malloc. */
struct sim_numbers {
    int64_t *nu_values;
    size_t nu_count;
};

struct sim_tensor_desc {
    struct sim_object td_object;
    aclDataType td_type;
    aclFormat td_format, td_storage_format, td_origin_format;
    aclMemType td_placement;
    struct sim_numbers td_shape, td_storage_shape, td_origin_shape;
    struct sim_numbers td_shape_range, td_value_range; /* pairs */
    char *td_name, *td_dynamic_input;                  /* NULL: never set */
    void *td_constant;                                 /* a copy of the first SIM_CONSTANT_BYTES; NULL: none */
    size_t td_constant_size;                           /* given by the program */
};

/* Return the live object, locked, or NULL with a message. Release it with sim_object_close. */
struct sim_data_buffer *sim_tensordesc_buffer_open(const aclDataBuffer *handle);
struct sim_tensor_desc *sim_tensordesc_open(const aclTensorDesc *handle);
struct sim_tensor_desc *sim_tensordesc_peek(const aclTensorDesc *handle); /* without a message */

/* Returns NULL with a message if memory runs out. */
aclDataBuffer *sim_tensordesc_buffer_create(void *data, size_t size);
aclTensorDesc *sim_tensordesc_create(aclDataType type, const int64_t *dims, size_t count, aclFormat format);

/* Creates a description with the same contents. Returns 100000 or 200000. */
aclError sim_tensordesc_copy(const aclTensorDesc *handle, aclTensorDesc **copy);

/* Destroy a locked object, which unlocks it. */
void sim_tensordesc_buffer_destroy(struct sim_data_buffer *buffer);
void sim_tensordesc_destroy(struct sim_tensor_desc *desc);

/* Replaces the contents of the target by a copy. Returns 200000. */
aclError sim_tensordesc_numbers_set(struct sim_numbers *target, const int64_t *values, size_t count);
aclError sim_tensordesc_set_text(char **target, const char *text);
aclError sim_tensordesc_set_constant(struct sim_tensor_desc *desc, const void *data, size_t size);

/* Elements and bytes of the shape; 0 if a dimension is unknown, or if the number does not fit. */
size_t sim_tensordesc_elements(const struct sim_tensor_desc *desc);
size_t sim_tensordesc_bytes(const struct sim_tensor_desc *desc);
bool sim_tensordesc_has_rank(const struct sim_tensor_desc *desc);

void sim_tensordesc_reset(void); /* aclsimReset: destroys every object */
void sim_tensordesc_after_fork(void);

#endif
