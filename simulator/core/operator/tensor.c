/* Tensors, scalars, arrays and lists of operators: objects, each with its own lock. A list owns its members and
 * stores their handles. One lock is held at a time: members are opened after their list was closed. */
#include "base/bytes.h"
#include "tensor.h"

#include <stdlib.h>
#include <string.h>

static struct sim_table tensors = SIM_OBJECT_TABLE(struct sim_tensor, SIM_KIND_TENSOR);
static struct sim_table scalars = SIM_OBJECT_TABLE(struct sim_scalar, SIM_KIND_SCALAR);
static struct sim_table arrays = SIM_OBJECT_TABLE(struct sim_array, SIM_KIND_ARRAY);
static struct sim_table lists = SIM_OBJECT_TABLE(struct sim_list, SIM_KIND_LIST);

static aclnnStatus open_object(struct sim_table *table, const void *handle, const char *argument, void *object)
{
    SIM_ARGUMENT(handle != NULL, ACLNN_ERR_PARAM_NULLPTR, "%s is NULL, expected a live %s", argument,
                 sim_table_name(table));
    *(void **)object = sim_object_open(table, handle, argument, ACLNN_ERR_PARAM_INVALID);
    return *(void **)object != NULL ? ACL_SUCCESS : ACLNN_ERR_PARAM_INVALID;
}

/* ---- tensors ---- */

/* Copies the numbers of a pattern into one block. Dimensions may be absurd, so products of them may wrap. */
static int64_t *copy_numbers(const struct sim_pattern *pattern)
{
    uint64_t rank = pattern->pt_rank, total = 2 * rank + pattern->pt_storage_rank;
    int64_t *numbers = malloc((total + 1) * sizeof *numbers);
    if (numbers == NULL) {
        sim_refuse(ACL_ERROR_BAD_ALLOC, "there is no memory for %llu dimensions", (unsigned long long)total);
        return NULL;
    }
    uint64_t stride = 1;
    for (uint64_t i = rank; i-- > 0;) {
        numbers[i] = pattern->pt_dims[i];
        numbers[rank + i] = pattern->pt_strides != NULL ? pattern->pt_strides[i] : (int64_t)stride;
        stride *= (uint64_t)pattern->pt_dims[i];
    }
    if (pattern->pt_storage_rank != 0)
        memcpy(numbers + 2 * rank, pattern->pt_storage, pattern->pt_storage_rank * sizeof *numbers);
    return numbers;
}

static void fill_tensor(struct sim_tensor *tensor, const struct sim_pattern *pattern, int64_t *numbers)
{
    tensor->te_type = pattern->pt_type;
    tensor->te_format = pattern->pt_format;
    tensor->te_rank = pattern->pt_rank;
    tensor->te_storage_rank = pattern->pt_storage_rank;
    tensor->te_numbers = numbers;
    tensor->te_offset = pattern->pt_offset;
    tensor->te_data = pattern->pt_data;
}

aclTensor *sim_tensor_create(const struct sim_pattern *pattern)
{
    uint64_t handle;
    int64_t *numbers = copy_numbers(pattern);
    struct sim_tensor *tensor = numbers != NULL ? sim_object_take(&tensors, &handle) : NULL;
    if (tensor == NULL) {
        free(numbers);
        return NULL;
    }
    fill_tensor(tensor, pattern, numbers);
    return sim_object_publish(tensor, handle);
}

aclnnStatus sim_tensor_open(const aclTensor *handle, const char *argument, struct sim_tensor **tensor)
{
    return open_object(&tensors, handle, argument, tensor);
}

bool sim_tensor_is_live(const aclTensor *handle)
{
    return sim_table_find(&tensors, handle) != NULL;
}

aclnnStatus sim_tensor_set(struct sim_tensor *tensor, const struct sim_pattern *pattern)
{
    int64_t *numbers = copy_numbers(pattern);
    if (numbers == NULL)
        return ACL_ERROR_BAD_ALLOC;
    free(tensor->te_numbers);
    fill_tensor(tensor, pattern, numbers);
    return ACL_SUCCESS;
}

/* Tasks call this while threads of the program read the shape: the tensor's lock makes each see one shape or the
 * other. */
aclnnStatus sim_tensor_resize(const aclTensor *handle, uint64_t rank, const int64_t *dims, const int64_t *strides)
{
    struct sim_tensor *tensor = sim_object_peek(&tensors, handle);
    if (tensor == NULL)
        return ACL_SUCCESS;
    const struct sim_pattern pattern = {dims, strides, sim_tensor_storage(tensor), rank, tensor->te_storage_rank,
                                        tensor->te_type, tensor->te_format, tensor->te_offset, tensor->te_data};
    aclnnStatus code = sim_tensor_set(tensor, &pattern);
    sim_object_close(tensor);
    return code;
}

void sim_tensor_destroy(struct sim_tensor *tensor)
{
    free(tensor->te_numbers);
    tensor->te_numbers = NULL;
    sim_object_end(&tensors, tensor);
}

/* ---- scalars ---- */

aclScalar *sim_tensor_scalar_create(const void *value, aclDataType type)
{
    uint64_t handle;
    uint32_t bits = sim_type_bits(type);
    if (bits < 8) {
        sim_refuse(ACLNN_ERR_PARAM_INVALID, "dataType is %d, expected a type of whole bytes", (int)type);
        return NULL;
    }
    struct sim_scalar *scalar = sim_object_take(&scalars, &handle);
    if (scalar == NULL)
        return NULL;
    scalar->sc_type = type;
    memset(scalar->sc_value, 0, sizeof scalar->sc_value);
    memcpy(scalar->sc_value, value, bits / 8);
    return sim_object_publish(scalar, handle);
}

aclnnStatus sim_tensor_scalar_open(const aclScalar *handle, const char *argument, struct sim_scalar **scalar)
{
    return open_object(&scalars, handle, argument, scalar);
}

void sim_tensor_scalar_destroy(struct sim_scalar *scalar)
{
    sim_object_end(&scalars, scalar);
}

/* ---- arrays ---- */

static const struct {
    const char *name;
    size_t size;
} elements[] = {{"integers", sizeof(int64_t)}, {"floats", sizeof(float)}, {"booleans", sizeof(bool)}};

/* Returns a copy of `count` elements; its address is not NULL even when `count` is 0. */
static void *copy_of(const void *values, uint64_t count, size_t size)
{
    uint64_t bytes = count;
    void *copy = sim_size_multiply(&bytes, size) && bytes != UINT64_MAX ? malloc(bytes + 1) : NULL;
    if (copy == NULL)
        sim_refuse(ACL_ERROR_BAD_ALLOC, "there is no memory for %llu elements", (unsigned long long)count);
    else if (count != 0)
        memcpy(copy, values, bytes);
    return copy;
}

void *sim_tensor_array_create(enum sim_array_kind kind, const void *values, uint64_t count)
{
    uint64_t handle;
    void *copy = copy_of(values, count, elements[kind].size);
    struct sim_array *array = copy != NULL ? sim_object_take(&arrays, &handle) : NULL;
    if (array == NULL) {
        free(copy);
        return NULL;
    }
    array->ar_kind = kind;
    array->ar_count = count;
    array->ar_values = copy;
    return sim_object_publish(array, handle);
}

aclnnStatus sim_tensor_array_open(const void *handle, enum sim_array_kind kind, const char *argument,
                           struct sim_array **array)
{
    SIM_TRY(open_object(&arrays, handle, argument, array));
    enum sim_array_kind found = (*array)->ar_kind;
    if (found == kind)
        return ACL_SUCCESS;
    sim_object_close(*array);
    return sim_refuse(ACLNN_ERR_PARAM_INVALID, "%s is an array of %s, expected one of %s", argument,
                      elements[found].name, elements[kind].name);
}

void sim_tensor_array_destroy(struct sim_array *array)
{
    free(array->ar_values);
    array->ar_values = NULL;
    sim_object_end(&arrays, array);
}

/* ---- lists ---- */

static const char *const list_names[] = {"tensors", "scalars"};

void *sim_tensor_list_create(enum sim_list_kind kind, const void *const *members, uint64_t count)
{
    uint64_t handle;
    struct sim_table *table = kind == SIM_LIST_TENSORS ? &tensors : &scalars;
    for (uint64_t i = 0; i < count; i++)
        if (members[i] != NULL && sim_table_find(table, members[i]) == NULL) {
            sim_refuse(ACLNN_ERR_PARAM_INVALID, "value[%llu] is %s (%p), expected a live %s", (unsigned long long)i,
                       sim_handle_describe(members[i]), members[i], sim_table_name(table));
            return NULL;
        }
    void *copy = copy_of(members, count, sizeof *members);
    struct sim_list *list = copy != NULL ? sim_object_take(&lists, &handle) : NULL;
    if (list == NULL) {
        free(copy);
        return NULL;
    }
    list->li_kind = kind;
    list->li_count = count;
    list->li_members = copy;
    return sim_object_publish(list, handle);
}

aclnnStatus sim_tensor_list_open(const void *handle, enum sim_list_kind kind, const char *argument,
                                 struct sim_list **list)
{
    SIM_TRY(open_object(&lists, handle, argument, list));
    enum sim_list_kind found = (*list)->li_kind;
    if (found == kind)
        return ACL_SUCCESS;
    sim_object_close(*list);
    return sim_refuse(ACLNN_ERR_PARAM_INVALID, "%s is a list of %s, expected one of %s", argument, list_names[found],
                      list_names[kind]);
}

static void destroy_tensor(void *tensor)
{
    sim_tensor_destroy(tensor);
}

static void destroy_scalar(void *scalar)
{
    sim_tensor_scalar_destroy(scalar);
}

/* Members that were already destroyed, directly or with another list, are skipped. */
void sim_tensor_list_destroy(struct sim_list *list)
{
    struct sim_table *table = list->li_kind == SIM_LIST_TENSORS ? &tensors : &scalars;
    void (*destroy)(void *) = list->li_kind == SIM_LIST_TENSORS ? destroy_tensor : destroy_scalar;
    const void **members = list->li_members;
    uint64_t count = list->li_count;
    list->li_members = NULL;
    sim_object_end(&lists, list);
    for (uint64_t i = 0; i < count; i++) {
        void *object = sim_object_peek(table, members[i]);
        if (object != NULL)
            destroy(object);
    }
    free(members);
}

/* ---- the end of everything ---- */

static void destroy_array(void *array)
{
    sim_tensor_array_destroy(array);
}

static void destroy_list(void *list)
{
    sim_tensor_list_destroy(list);
}

void sim_tensor_reset(void)
{
    sim_object_destroy_all(&lists, destroy_list);
    sim_object_destroy_all(&arrays, destroy_array);
    sim_object_destroy_all(&scalars, destroy_scalar);
    sim_object_destroy_all(&tensors, destroy_tensor);
}

void sim_tensor_after_fork(void)
{
    struct sim_table *all[] = {&tensors, &scalars, &arrays, &lists};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sim_table_empty(all[i]);
}
