/* Options are plain values under their object's lock. The two kinds of handles differ in their tables of attributes. */
#include "model_config.h"
#include "memory.h"
#include <stdlib.h>
#include <string.h>

static struct sim_table loads = SIM_OBJECT_TABLE(struct sim_options, SIM_KIND_LOAD_CONFIG, "load configuration");
static struct sim_table runs = SIM_OBJECT_TABLE(struct sim_options, SIM_KIND_RUN_CONFIG, "run configuration");

/* ---- what attributes are ---- */

enum shape { UNKNOWN, NUMBER_32, NUMBER_64, POINTER, TEXT };

struct attribute {
    enum shape at_shape;
    int64_t at_least, at_most; /* of 32-bit numbers, and of 64-bit ones where at_most is not 0 */
};

static const struct attribute load_attributes[SIM_LOAD_OPTIONS] = {
    [ACL_MDL_PRIORITY_INT32] = {NUMBER_32, 0, 7},
    [ACL_MDL_LOAD_TYPE_SIZET] = {NUMBER_64, ACL_MDL_LOAD_FROM_FILE, ACL_MDL_LOAD_FROM_MEM_WITH_Q},
    [ACL_MDL_PATH_PTR] = {TEXT, 0, 0},
    [ACL_MDL_MEM_ADDR_PTR] = {POINTER, 0, 0},
    [ACL_MDL_MEM_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_WEIGHT_ADDR_PTR] = {POINTER, 0, 0},
    [ACL_MDL_WEIGHT_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_WORKSPACE_ADDR_PTR] = {POINTER, 0, 0},
    [ACL_MDL_WORKSPACE_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_INPUTQ_NUM_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_INPUTQ_ADDR_PTR] = {POINTER, 0, 0},
    [ACL_MDL_OUTPUTQ_NUM_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_OUTPUTQ_ADDR_PTR] = {POINTER, 0, 0},
    [ACL_MDL_WORKSPACE_MEM_OPTIMIZE] = {NUMBER_64, 0, 1},
    [ACL_MDL_WEIGHT_PATH_PTR] = {TEXT, 0, 0},
    [ACL_MDL_MODEL_DESC_PTR] = {POINTER, 0, 0},
    [ACL_MDL_MODEL_DESC_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_KERNEL_PTR] = {POINTER, 0, 0},
    [ACL_MDL_KERNEL_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_KERNEL_ARGS_PTR] = {POINTER, 0, 0},
    [ACL_MDL_KERNEL_ARGS_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_STATIC_TASK_PTR] = {POINTER, 0, 0},
    [ACL_MDL_STATIC_TASK_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_DYNAMIC_TASK_PTR] = {POINTER, 0, 0},
    [ACL_MDL_DYNAMIC_TASK_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_MEM_MALLOC_POLICY_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_FIFO_PTR] = {POINTER, 0, 0},
    [ACL_MDL_FIFO_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_WITHOUT_GRAPH_INT32] = {NUMBER_32, 0, 1},
    [ACL_NPU_PERF_MODE] = {NUMBER_32, INT32_MIN, INT32_MAX},
};

static const struct attribute run_attributes[SIM_RUN_OPTIONS] = {
    [ACL_MDL_STREAM_SYNC_TIMEOUT] = {NUMBER_32, -1, INT32_MAX},
    [ACL_MDL_EVENT_SYNC_TIMEOUT] = {NUMBER_32, -1, INT32_MAX},
    [ACL_MDL_WORK_ADDR_PTR] = {POINTER, 0, 0},
    [ACL_MDL_WORK_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_MPAIMID_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_AICQOS_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_AICOST_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_MEC_TIMETHR_SIZET] = {NUMBER_64, 0, 0},
    [ACL_MDL_EXEC_PRIORITY_INT32] = {NUMBER_32, 0, 7},
    [ACL_MDL_NPU_PERF_MODE] = {NUMBER_32, INT32_MIN, INT32_MAX},
};

/* ---- setting ---- */

static aclError set_text(char **target, const char *text)
{
    SIM_ARGUMENT(sim_memory_is_host(text), ACL_ERROR_INVALID_PARAM,
                 "the value is %p, which is device memory, expected a path in host memory", (const void *)text);
    char *copy = strdup(text);
    SIM_ARGUMENT(copy != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for a path");
    free(*target);
    *target = copy;
    return ACL_SUCCESS;
}

static aclError set(struct sim_options *options, const struct attribute *attributes, unsigned count, unsigned number,
                    const void *value, size_t size)
{
    SIM_ARGUMENT(number < count && attributes[number].at_shape != UNKNOWN, ACL_ERROR_INVALID_PARAM,
                 "attr is %u, expected less than %u", number, count);
    const struct attribute *attribute = &attributes[number];
    size_t wanted = attribute->at_shape == NUMBER_32 ? 4 : 8;
    SIM_ARGUMENT(size == wanted, ACL_ERROR_INVALID_PARAM, "valueSize is %zu for attr %u, expected %zu", size, number,
                 wanted);
    uint64_t bits = 0;
    int32_t narrow;
    memcpy(&narrow, value, sizeof narrow);
    if (attribute->at_shape == NUMBER_32)
        bits = (uint64_t)(int64_t)narrow;
    else
        memcpy(&bits, value, sizeof bits);
    bool bounded = attribute->at_shape == NUMBER_32 || attribute->at_most != 0;
    SIM_ARGUMENT(!bounded || ((int64_t)bits >= attribute->at_least && (int64_t)bits <= attribute->at_most),
                 ACL_ERROR_INVALID_PARAM, "the value of attr %u is %lld, expected %lld to %lld", number,
                 (long long)bits, (long long)attribute->at_least, (long long)attribute->at_most);
    bool pointer = attribute->at_shape == POINTER || attribute->at_shape == TEXT;
    SIM_ARGUMENT(!pointer || bits != 0, ACL_ERROR_INVALID_PARAM,
                 "the value of attr %u is a NULL pointer, expected a valid one", number);
    if (attribute->at_shape == TEXT)
        SIM_TRY(set_text(number == ACL_MDL_PATH_PTR ? &options->op_path : &options->op_weight_path,
                         (const char *)(uintptr_t)bits));
    options->op_values[number] = bits;
    options->op_set |= UINT64_C(1) << number;
    return ACL_SUCCESS;
}

aclError sim_load_options_set(struct sim_options *options, aclmdlConfigAttr attribute, const void *value, size_t size)
{
    return set(options, load_attributes, SIM_LOAD_OPTIONS, (unsigned)attribute, value, size);
}

aclError sim_run_options_set(struct sim_options *options, aclmdlExecConfigAttr attribute, const void *value,
                             size_t size)
{
    return set(options, run_attributes, SIM_RUN_OPTIONS, (unsigned)attribute, value, size);
}

/* ---- what a load needs ---- */

static aclError need(const struct sim_options *options, unsigned attribute, const char *name)
{
    SIM_ARGUMENT(sim_options_has(options, attribute), ACL_ERROR_INVALID_PARAM,
                 "%s was not set, which this type of load needs", name);
    return ACL_SUCCESS;
}

struct sim_load sim_load_options_memory(const struct sim_options *options)
{
    return (struct sim_load){.lo_work = (void *)(uintptr_t)options->op_values[ACL_MDL_WORKSPACE_ADDR_PTR],
                             .lo_work_size = options->op_values[ACL_MDL_WORKSPACE_SIZET],
                             .lo_weights = (void *)(uintptr_t)options->op_values[ACL_MDL_WEIGHT_ADDR_PTR],
                             .lo_weight_size = options->op_values[ACL_MDL_WEIGHT_SIZET]};
}

aclError sim_load_options_read(const struct sim_options *options, struct sim_load *load, char **path, bool *queues)
{
    SIM_TRY(need(options, ACL_MDL_LOAD_TYPE_SIZET, "ACL_MDL_LOAD_TYPE_SIZET"));
    uint64_t type = options->op_values[ACL_MDL_LOAD_TYPE_SIZET];
    bool from_file = type == ACL_MDL_LOAD_FROM_FILE || type == ACL_MDL_LOAD_FROM_FILE_WITH_MEM ||
                     type == ACL_MDL_LOAD_FROM_FILE_WITH_Q;
    bool with_memory = type == ACL_MDL_LOAD_FROM_FILE_WITH_MEM || type == ACL_MDL_LOAD_FROM_MEM_WITH_MEM;
    *queues = type >= ACL_MDL_LOAD_FROM_FILE_WITH_Q;
    *load = with_memory ? sim_load_options_memory(options) : (struct sim_load){0};
    load->lo_without_graph = options->op_values[ACL_MDL_WITHOUT_GRAPH_INT32] == 1;
    load->lo_priority = (uint32_t)options->op_values[ACL_MDL_PRIORITY_INT32];
    SIM_ARGUMENT(!from_file || options->op_weight_path == NULL, ACL_ERROR_INVALID_PARAM,
                 "ACL_MDL_WEIGHT_PATH_PTR was set, which only a load from memory takes");
    if (from_file) {
        SIM_TRY(need(options, ACL_MDL_PATH_PTR, "ACL_MDL_PATH_PTR"));
        *path = strdup(options->op_path);
        SIM_ARGUMENT(*path != NULL, ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for a path");
    } else {
        SIM_TRY(need(options, ACL_MDL_MEM_ADDR_PTR, "ACL_MDL_MEM_ADDR_PTR"));
        SIM_TRY(need(options, ACL_MDL_MEM_SIZET, "ACL_MDL_MEM_SIZET"));
        load->lo_model = (struct sim_bytes){(const void *)(uintptr_t)options->op_values[ACL_MDL_MEM_ADDR_PTR],
                                            options->op_values[ACL_MDL_MEM_SIZET]};
    }
    for (unsigned at = ACL_MDL_INPUTQ_NUM_SIZET; at <= ACL_MDL_OUTPUTQ_ADDR_PTR && *queues; at++)
        SIM_TRY(need(options, at, "a queue list or its length"));
    return ACL_SUCCESS;
}

/* ---- objects ---- */

struct sim_options *sim_load_options_open(const aclmdlConfigHandle *handle)
{
    return sim_object_open(&loads, handle, "handle", ACL_ERROR_INVALID_PARAM);
}

struct sim_options *sim_run_options_open(const aclmdlExecConfigHandle *handle)
{
    return sim_object_open(&runs, handle, "handle", ACL_ERROR_INVALID_PARAM);
}

static void *create(struct sim_table *table)
{
    uint64_t handle;
    struct sim_options *options = sim_object_take(table, &handle);
    return options == NULL ? NULL : sim_object_publish(options, handle);
}

aclmdlConfigHandle *sim_load_options_create(void)
{
    return create(&loads);
}

aclmdlExecConfigHandle *sim_run_options_create(void)
{
    return create(&runs);
}

static void destroy(struct sim_table *table, struct sim_options *options)
{
    free(options->op_path);
    free(options->op_weight_path);
    options->op_path = options->op_weight_path = NULL;
    options->op_set = 0;
    memset(options->op_values, 0, sizeof options->op_values);
    sim_object_end(table, options);
}

void sim_load_options_destroy(struct sim_options *options)
{
    destroy(&loads, options);
}

void sim_run_options_destroy(struct sim_options *options)
{
    destroy(&runs, options);
}

static void destroy_load(void *options)
{
    destroy(&loads, options);
}

static void destroy_run(void *options)
{
    destroy(&runs, options);
}

void sim_model_config_reset(void)
{
    sim_object_destroy_all(&loads, destroy_load);
    sim_object_destroy_all(&runs, destroy_run);
}

void sim_model_config_after_fork(void)
{
    sim_table_empty(&loads);
    sim_table_empty(&runs);
}
