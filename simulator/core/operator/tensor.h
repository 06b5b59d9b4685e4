/* Arguments of operators: tensors, scalars, arrays and lists. They belong to no device and no context. */
#ifndef SIM_TENSOR_H
#define SIM_TENSOR_H

#include "base/object.h"
#include "tensordesc.h"
#include <aclnn/acl_meta.h>

/* A view of a storage, with strides and an offset. Element (i0, i1, …) is te_offset + i0 * stride 0 + i1 * stride 1
 * + … elements behind te_data. */
struct sim_tensor {
    struct sim_object te_object;
    aclDataType te_type;
    aclFormat te_format;
    uint64_t te_rank, te_storage_rank;
    int64_t *te_numbers; /* allocated with malloc: the view's dimensions and strides, the storage's dimensions */
    int64_t te_offset;
    void *te_data; /* the user's device memory; NULL until it is set */
};

static inline int64_t *sim_tensor_dims(const struct sim_tensor *tensor)
{
    return tensor->te_numbers;
}

static inline int64_t *sim_tensor_strides(const struct sim_tensor *tensor)
{
    return tensor->te_numbers + tensor->te_rank;
}

static inline int64_t *sim_tensor_storage(const struct sim_tensor *tensor)
{
    return tensor->te_numbers + 2 * tensor->te_rank;
}

#define SIM_SCALAR_BYTES 16

struct sim_scalar {
    struct sim_object sc_object;
    aclDataType sc_type;
    _Alignas(8) unsigned char sc_value[SIM_SCALAR_BYTES];
};

enum sim_array_kind { SIM_ARRAY_INTS, SIM_ARRAY_FLOATS, SIM_ARRAY_BOOLS };

struct sim_array {
    struct sim_object ar_object;
    enum sim_array_kind ar_kind;
    uint64_t ar_count;
    void *ar_values; /* copies, allocated with malloc: int64_t, float or bool */
};

enum sim_list_kind { SIM_LIST_TENSORS, SIM_LIST_SCALARS };

/* Owns its members: destroying the list destroys them. */
struct sim_list {
    struct sim_object li_object;
    enum sim_list_kind li_kind;
    uint64_t li_count;
    const void **li_members; /* allocated with malloc: handles, NULL for an absent member */
};

/* The description of a tensor, as aclCreateTensor and aclInitTensor take it. pt_strides NULL: a contiguous view. */
struct sim_pattern {
    const int64_t *pt_dims, *pt_strides, *pt_storage;
    uint64_t pt_rank, pt_storage_rank;
    aclDataType pt_type;
    aclFormat pt_format;
    int64_t pt_offset;
    void *pt_data;
};

/* Create objects; return handles, or NULL with a message. */
aclTensor *sim_tensor_create(const struct sim_pattern *pattern);
aclScalar *sim_tensor_scalar_create(const void *value, aclDataType type);
void *sim_tensor_array_create(enum sim_array_kind kind, const void *values, uint64_t count);
void *sim_tensor_list_create(enum sim_list_kind kind, const void *const *members, uint64_t count);

/* Lock a live object, to be released with sim_object_close. Return 161001 for NULL, and 161002 for any other handle. */
aclnnStatus sim_tensor_open(const aclTensor *handle, const char *argument, struct sim_tensor **tensor);
aclnnStatus sim_tensor_scalar_open(const aclScalar *handle, const char *argument, struct sim_scalar **scalar);
aclnnStatus sim_tensor_array_open(const void *handle, enum sim_array_kind kind, const char *argument,
                           struct sim_array **array);
aclnnStatus sim_tensor_list_open(const void *handle, enum sim_list_kind kind, const char *argument,
                                 struct sim_list **list);

bool sim_tensor_is_live(const aclTensor *handle);

/* Gives an opened tensor new properties. Returns 200000. */
aclnnStatus sim_tensor_set(struct sim_tensor *tensor, const struct sim_pattern *pattern);

/* Gives a tensor other dimensions and strides; type, offset, storage and data stay. Does nothing if the handle is not
 * live. Returns 200000. */
aclnnStatus sim_tensor_resize(const aclTensor *handle, uint64_t rank, const int64_t *dims, const int64_t *strides);

/* Destroy opened objects. */
void sim_tensor_destroy(struct sim_tensor *tensor);
void sim_tensor_scalar_destroy(struct sim_scalar *scalar);
void sim_tensor_array_destroy(struct sim_array *array);
void sim_tensor_list_destroy(struct sim_list *list);

void sim_tensor_reset(void); /* aclsimReset: destroys every object */
void sim_tensor_after_fork(void);

#endif
