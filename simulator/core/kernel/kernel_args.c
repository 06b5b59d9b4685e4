/* Design notes
 *
 * Argument lists of kernels: created, filled, completed, and gathered for a launch.
 *
 * A list is an object like others. Its handle is the library's own, or, if the program provides memory for the list's
 * record, the address of that memory. Such addresses are looked up in a table; nothing is ever read from them. A
 * parameter's handle contains the generation of its list, so that it fits no other list. Arguments follow one another
 * like the members of a C struct. The program writes the data of placeholders after all arguments were appended, so
 * their addresses must not change: they are separate blocks, or the rest of the program's memory.
 *
 * A function owns the handles of its lists. Programs never destroy lists: a function keeps its newest SIM_LISTS_KEPT
 * and ends older ones, and unloading the binary ends all of them.
 *
 * A list's lock guards the list. The table of addresses has its own lock, which is a leaf. */
#include "address/memory.h"
#include "kernel_inner.h"
#include <stdlib.h>
#include <string.h>

#define PARAMETERS 1024 /* per list */
#define BUCKETS 256
#define HOLDER_BYTES sizeof(uint64_t)

struct parameter {
    uint32_t pa_place, pa_size;
    bool pa_is_holder;
    unsigned char *pa_data; /* of a placeholder; NULL until it is requested */
    uint32_t pa_data_size;
};

struct list {
    struct sim_object al_object;
    void *al_record;             /* the program's handle, or NULL */
    struct list *al_next_record; /* in the same bucket; guarded by records_lock */
    unsigned char *al_bytes;     /* allocated with malloc, or the program's */
    size_t al_size, al_room;
    size_t al_end;               /* the used part of the program's memory */
    struct parameter *al_parameters;
    uint32_t al_count;
    bool al_has_data, al_is_finished;
};

static struct sim_table lists = SIM_OBJECT_TABLE(struct list, SIM_KIND_ARGUMENTS);
static struct list *records[BUCKETS]; /* by address */
static struct sim_lock records_lock;

/* ---- handles ---- */

static struct list **bucket_of(const void *record)
{
    return &records[((uintptr_t)record >> 4) * 2654435761u % BUCKETS];
}

/* The library's handle of the list whose record is at this address, or 0. */
static uint64_t find_record(const void *record)
{
    uint64_t handle = 0;
    sim_lock(&records_lock);
    for (const struct list *list = *bucket_of(record); list != NULL && handle == 0; list = list->al_next_record)
        if (list->al_record == record)
            handle = atomic_load_explicit(&list->al_object.ob_slot.sl_handle, memory_order_relaxed);
    sim_unlock(&records_lock);
    return handle;
}

static void forget_record(struct list *list)
{
    sim_lock(&records_lock);
    struct list **at = bucket_of(list->al_record);
    while (*at != NULL && *at != list)
        at = &(*at)->al_next_record;
    if (*at != NULL)
        *at = list->al_next_record;
    sim_unlock(&records_lock);
}

static aclError open_list(aclrtArgsHandle handle, struct list **list)
{
    *list = sim_object_peek(&lists, handle);
    if (*list == NULL)
        *list = sim_object_peek(&lists, (void *)(uintptr_t)find_record(handle));
    SIM_CHECK(*list != NULL, ACL_ERROR_RT_INVALID_HANDLE, "argsHandle is %p, %s, expected a live argument list",
              handle, sim_handle_describe(handle));
    return ACL_SUCCESS;
}

static uint64_t handle_of_parameter(const struct list *list, uint32_t index)
{
    uint64_t handle = atomic_load_explicit(&list->al_object.ob_slot.sl_handle, memory_order_relaxed);
    return handle >> SIM_LIFE_SHIFT << SIM_LIFE_SHIFT | (uint64_t)SIM_KIND_PARAMETER << SIM_INDEX_BITS | (index + 1);
}

static aclError find_parameter(const struct list *list, aclrtParamHandle handle, struct parameter **parameter)
{
    uint32_t index = sim_handle_index((uint64_t)(uintptr_t)handle) - 1;
    SIM_CHECK(index < list->al_count && handle_of_parameter(list, index) == (uint64_t)(uintptr_t)handle,
              ACL_ERROR_RT_INVALID_HANDLE, "paramHandle is %p, expected one of the %u parameters of this list", handle,
              list->al_count);
    *parameter = &list->al_parameters[index];
    return ACL_SUCCESS;
}

/* ---- creating and ending ---- */

static void destroy(void *object)
{
    struct list *list = object;
    if (list->al_record != NULL) {
        forget_record(list);
    } else {
        free(list->al_bytes);
        for (uint32_t i = 0; i < list->al_count; i++)
            free(list->al_parameters[i].pa_data);
    }
    free(list->al_parameters);
    list->al_parameters = NULL;
    list->al_bytes = NULL;
    list->al_count = 0;
    sim_object_end(&lists, list);
}

void sim_kernel_args_destroy(uint64_t handle)
{
    struct list *list = sim_object_peek(&lists, (void *)(uintptr_t)handle);
    if (list != NULL)
        destroy(list);
}

/* Stores the list in its function. Returns the list that it replaces in *oldest, to be ended without the function's
 * lock. */
static aclError remember(aclrtFuncHandle handle, uint64_t list, uint64_t *oldest)
{
    struct sim_function *function;
    *oldest = 0;
    SIM_TRY(sim_kernel_function_open(handle, "funcHandle", &function));
    if (function->fu_lists == NULL)
        function->fu_lists = calloc(SIM_LISTS_KEPT, sizeof *function->fu_lists);
    aclError code = ACL_ERROR_RT_MEMORY_ALLOCATION;
    if (function->fu_lists != NULL) {
        uint64_t *place = &function->fu_lists[function->fu_list_count++ % SIM_LISTS_KEPT];
        *oldest = *place;
        *place = list;
        code = ACL_SUCCESS;
    }
    sim_object_close(function);
    SIM_CHECK(code == ACL_SUCCESS, code, "no host memory for the argument lists of a kernel");
    return ACL_SUCCESS;
}

static aclError create(aclrtFuncHandle function, void *record, void *memory, size_t room, aclrtArgsHandle *made)
{
    uint64_t handle, oldest;
    struct sim_function *checked;
    SIM_TRY(sim_kernel_function_open(function, "funcHandle", &checked));
    sim_object_close(checked);
    if (record != NULL)
        sim_kernel_args_destroy(find_record(record)); /* the program reuses the memory for another list */
    struct list *list = sim_object_take(&lists, &handle);
    if (list == NULL)
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    list->al_record = record;
    list->al_bytes = memory;
    list->al_room = room;
    list->al_size = list->al_end = 0;
    list->al_parameters = NULL;
    list->al_count = 0;
    list->al_has_data = list->al_is_finished = false;
    if (record != NULL) {
        sim_lock(&records_lock);
        list->al_next_record = *bucket_of(record);
        *bucket_of(record) = list;
        sim_unlock(&records_lock);
    }
    *made = sim_object_publish(list, handle);
    aclError code = remember(function, handle, &oldest);
    sim_kernel_args_destroy(code == ACL_SUCCESS ? oldest : handle);
    return code;
}

size_t sim_kernel_args_record_size(void)
{
    return sizeof(struct list);
}

aclError sim_kernel_args_room(size_t size, size_t *room)
{
    SIM_CHECK(size <= SIM_ARGS_BYTES, ACL_ERROR_RT_PARAM_INVALID, "userArgsSize is %zu, expected at most %u", size,
              SIM_ARGS_BYTES);
    *room = 2 * size + 2 * HOLDER_BYTES; /* alignment at most doubles a struct */
    return ACL_SUCCESS;
}

aclError sim_kernel_args_create(aclrtFuncHandle function, aclrtArgsHandle *handle)
{
    return create(function, NULL, NULL, 0, handle);
}

aclError sim_kernel_args_create_at(aclrtFuncHandle function, aclrtArgsHandle record, void *memory, size_t size)
{
    aclrtArgsHandle handle;
    SIM_CHECK(sim_memory_is_host(record), ACL_ERROR_RT_PARAM_INVALID,
              "argsHandle is %p, which is device memory, expected host memory", record);
    SIM_CHECK(sim_memory_is_host(memory), ACL_ERROR_RT_PARAM_INVALID,
              "userHostMem is %p, which is device memory, expected host memory", memory);
    return create(function, record, memory, size, &handle);
}

/* ---- arguments ---- */

/* Makes room for `size` more bytes behind the others, aligned. */
static aclError grow_bytes(struct list *list, size_t size, size_t *place)
{
    *place = sim_member_place(list->al_size, size);
    size_t end = *place + size;
    SIM_CHECK(end <= SIM_ARGS_BYTES, ACL_ERROR_RT_PARAM_INVALID,
              "the arguments would have %zu bytes, expected at most %u", end, SIM_ARGS_BYTES);
    if (end <= list->al_room)
        return ACL_SUCCESS;
    SIM_CHECK(list->al_record == NULL, ACL_ERROR_RT_PARAM_INVALID,
              "the arguments would have %zu bytes, expected at most the %zu of userHostMem", end, list->al_room);
    size_t room = end < 128 ? 256 : 2 * end;
    unsigned char *bytes = realloc(list->al_bytes, room);
    SIM_CHECK(bytes != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for %zu bytes of arguments", end);
    list->al_bytes = bytes;
    list->al_room = room;
    return ACL_SUCCESS;
}

static aclError grow_parameters(struct list *list)
{
    SIM_CHECK(list->al_count < PARAMETERS, ACL_ERROR_RT_PARAM_INVALID,
              "the list has %u parameters, expected at most %d", list->al_count, PARAMETERS);
    if ((list->al_count & (list->al_count - 1)) != 0)
        return ACL_SUCCESS;
    size_t room = list->al_count == 0 ? 1 : 2 * (size_t)list->al_count;
    struct parameter *parameters = realloc(list->al_parameters, room * sizeof *parameters);
    SIM_CHECK(parameters != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a parameter");
    list->al_parameters = parameters;
    return ACL_SUCCESS;
}

static aclError append(struct list *list, const void *value, size_t size, aclrtParamHandle *handle)
{
    size_t place;
    SIM_CHECK(!list->al_has_data && !list->al_is_finished, ACL_ERROR_RT_PARAM_INVALID,
              "the list is complete, expected all parameters before %s",
              list->al_has_data ? "aclrtKernelArgsGetPlaceHolderBuffer" : "aclrtKernelArgsFinalize");
    SIM_TRY(grow_parameters(list));
    SIM_TRY(grow_bytes(list, size, &place));
    memset(list->al_bytes + list->al_size, 0, place - list->al_size);
    if (value != NULL)
        memmove(list->al_bytes + place, value, size);
    else
        memset(list->al_bytes + place, 0, size);
    list->al_parameters[list->al_count] =
        (struct parameter){.pa_place = (uint32_t)place, .pa_size = (uint32_t)size, .pa_is_holder = value == NULL};
    list->al_size = list->al_end = place + size;
    *handle = (aclrtParamHandle)(uintptr_t)handle_of_parameter(list, list->al_count++);
    return ACL_SUCCESS;
}

static aclError append_to(aclrtArgsHandle handle, const void *value, size_t size, aclrtParamHandle *parameter)
{
    struct list *list;
    SIM_TRY(open_list(handle, &list));
    aclError code = append(list, value, size, parameter);
    sim_object_close(list);
    return code;
}

static aclError check_value(const void *value, size_t size)
{
    SIM_CHECK(size <= SIM_ARGS_BYTES, ACL_ERROR_RT_PARAM_INVALID, "paramSize is %zu, expected at most %u", size,
              SIM_ARGS_BYTES);
    SIM_CHECK(sim_memory_is_host(value), ACL_ERROR_RT_PARAM_INVALID,
              "param is %p, which is device memory, expected the address of the value in host memory", value);
    return ACL_SUCCESS;
}

aclError sim_kernel_args_append(aclrtArgsHandle handle, const void *value, size_t size, aclrtParamHandle *parameter)
{
    SIM_TRY(check_value(value, size));
    return append_to(handle, value, size, parameter);
}

aclError sim_kernel_args_append_holder(aclrtArgsHandle handle, aclrtParamHandle *parameter)
{
    return append_to(handle, NULL, HOLDER_BYTES, parameter);
}

static aclError update(struct list *list, aclrtParamHandle handle, const void *value, size_t size)
{
    struct parameter *parameter;
    SIM_TRY(find_parameter(list, handle, &parameter));
    SIM_CHECK(!parameter->pa_is_holder, ACL_ERROR_RT_PARAM_INVALID,
              "paramHandle is a placeholder, whose data is changed in the memory of "
              "aclrtKernelArgsGetPlaceHolderBuffer");
    SIM_CHECK(size == parameter->pa_size, ACL_ERROR_RT_PARAM_INVALID, "paramSize is %zu, expected %u, the size that "
              "was appended",
              size, parameter->pa_size);
    memmove(list->al_bytes + parameter->pa_place, value, size);
    return ACL_SUCCESS;
}

aclError sim_kernel_args_update(aclrtArgsHandle handle, aclrtParamHandle parameter, const void *value, size_t size)
{
    struct list *list;
    SIM_TRY(check_value(value, size));
    SIM_TRY(open_list(handle, &list));
    aclError code = update(list, parameter, value, size);
    sim_object_close(list);
    return code;
}

/* ---- the data of placeholders ---- */

static aclError take_data(struct list *list, size_t size, unsigned char **data)
{
    size_t place = (list->al_end + HOLDER_BYTES - 1) / HOLDER_BYTES * HOLDER_BYTES;
    if (list->al_record == NULL) {
        *data = calloc(1, size);
        SIM_CHECK(*data != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for %zu bytes of a placeholder", size);
    } else {
        SIM_CHECK(place <= list->al_room && size <= list->al_room - place, ACL_ERROR_RT_PARAM_INVALID,
                  "dataSize is %zu, but of the %zu bytes of userHostMem, %zu are free", size, list->al_room,
                  place <= list->al_room ? list->al_room - place : 0);
        *data = list->al_bytes + place;
    }
    list->al_end = place + size;
    return ACL_SUCCESS;
}

static aclError holder_data(struct list *list, aclrtParamHandle handle, size_t size, void **data)
{
    struct parameter *parameter;
    SIM_TRY(find_parameter(list, handle, &parameter));
    SIM_CHECK(parameter->pa_is_holder, ACL_ERROR_RT_PARAM_INVALID,
              "paramHandle is not a placeholder, expected one of aclrtKernelArgsAppendPlaceHolder");
    if (parameter->pa_data == NULL) {
        SIM_CHECK(size <= SIM_ARGS_BYTES && list->al_end <= SIM_ARGS_BYTES - size, ACL_ERROR_RT_PARAM_INVALID,
                  "dataSize is %zu after %zu bytes of the same list, expected at most %u in total", size, list->al_end,
                  SIM_ARGS_BYTES);
        SIM_TRY(take_data(list, size, &parameter->pa_data));
        parameter->pa_data_size = (uint32_t)size;
        list->al_has_data = true;
    }
    SIM_CHECK(size <= parameter->pa_data_size, ACL_ERROR_RT_PARAM_INVALID,
              "dataSize is %zu, but the placeholder already has %u bytes", size, parameter->pa_data_size);
    *data = parameter->pa_data;
    return ACL_SUCCESS;
}

aclError sim_kernel_args_holder_data(aclrtArgsHandle handle, aclrtParamHandle parameter, size_t size, void **data)
{
    struct list *list;
    SIM_TRY(open_list(handle, &list));
    aclError code = holder_data(list, parameter, size, data);
    sim_object_close(list);
    return code;
}

/* ---- finishing and launching ---- */

static aclError finish(struct list *list)
{
    for (uint32_t i = 0; i < list->al_count; i++)
        SIM_CHECK(!list->al_parameters[i].pa_is_holder || list->al_parameters[i].pa_data != NULL,
                  ACL_ERROR_RT_PARAM_INVALID,
                  "parameter %u is a placeholder without data, expected aclrtKernelArgsGetPlaceHolderBuffer before", i);
    list->al_is_finished = true;
    return ACL_SUCCESS;
}

aclError sim_kernel_args_finish(aclrtArgsHandle handle)
{
    struct list *list;
    SIM_TRY(open_list(handle, &list));
    aclError code = finish(list);
    sim_object_close(list);
    return code;
}

/* Writes the arguments, then each placeholder's data at a multiple of 8, and returns the end. With a NULL block it
 * only computes the end. */
static size_t lay_out(const struct list *list, unsigned char *block, aclrtPlaceHolderInfo *holders)
{
    size_t end = list->al_size;
    if (block != NULL && end != 0)
        memcpy(block, list->al_bytes, end);
    for (uint32_t i = 0; i < list->al_count; i++) {
        const struct parameter *parameter = &list->al_parameters[i];
        if (!parameter->pa_is_holder)
            continue;
        size_t place = (end + HOLDER_BYTES - 1) / HOLDER_BYTES * HOLDER_BYTES;
        if (block != NULL) {
            memset(block + end, 0, place - end);
            memcpy(block + place, parameter->pa_data, parameter->pa_data_size);
            *holders++ = (aclrtPlaceHolderInfo){parameter->pa_place, (uint32_t)place};
        }
        end = place + parameter->pa_data_size;
    }
    return end;
}

static aclError gather(const struct list *list, struct sim_host_args *gathered)
{
    SIM_CHECK(list->al_is_finished, ACL_ERROR_RT_PARAM_INVALID,
              "the list is not complete, expected aclrtKernelArgsFinalize before");
    size_t count = 0, size = lay_out(list, NULL, NULL);
    for (uint32_t i = 0; i < list->al_count; i++)
        count += list->al_parameters[i].pa_is_holder;
    unsigned char *block = malloc(size + 1);
    aclrtPlaceHolderInfo *holders = malloc((count + 1) * sizeof *holders);
    if (block == NULL || holders == NULL) {
        free(block);
        free(holders);
        return sim_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for %zu bytes of arguments", size);
    }
    lay_out(list, block, holders);
    *gathered = (struct sim_host_args){block, size, holders, count};
    return ACL_SUCCESS;
}

aclError sim_kernel_args_gather(aclrtArgsHandle handle, struct sim_host_args *gathered)
{
    struct list *list;
    SIM_TRY(open_list(handle, &list));
    aclError code = gather(list, gathered);
    sim_object_close(list);
    return code;
}

/* ---- the end of everything ---- */

void sim_kernel_args_reset(void)
{
    sim_object_destroy_all(&lists, destroy);
}

void sim_kernel_args_after_fork(void)
{
    sim_table_empty(&lists);
    sim_lock_renew(&records_lock);
    memset(records, 0, sizeof records);
}
