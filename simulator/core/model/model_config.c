/* This file provides the options of loads and executions: objects with plain values, guarded by the object's lock.
 *
 * Each option is honoured or rejected. The time limit for event waits always holds, because executions do not wait for
 * events; work memory is checked and not used. Priorities and performance modes are hints: they are checked and stored.
 * Options that divide the cores of a chip between executions are rejected. */
#include "model_config.h"
#include "address/memory.h"
#include "model_queue.h"
#include <stdlib.h>
#include <string.h>

static struct sim_table tables[SIM_OPTIONS_KINDS] = {
    [SIM_LOAD_OPTIONS] = SIM_OBJECT_TABLE(struct sim_options, SIM_KIND_LOAD_CONFIG),
    [SIM_RUN_OPTIONS] = SIM_OBJECT_TABLE(struct sim_options, SIM_KIND_RUN_CONFIG),
};

/* ---- attributes ---- */

enum shape { UNKNOWN, NUMBER_32, NUMBER_64, POINTER, TEXT, REFUSED };

struct attribute {
    enum shape at_shape;
    int64_t at_least, at_most; /* the range of 32-bit numbers, and of 64-bit ones if at_most is not 0 */
};

static const struct attribute attributes_of[SIM_OPTIONS_KINDS][SIM_OPTIONS_MAX] = {
    [SIM_LOAD_OPTIONS] = {
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
    },
    [SIM_RUN_OPTIONS] = {
        [ACL_MDL_STREAM_SYNC_TIMEOUT] = {NUMBER_32, -1, INT32_MAX},
        [ACL_MDL_EVENT_SYNC_TIMEOUT] = {NUMBER_32, -1, INT32_MAX},
        [ACL_MDL_WORK_ADDR_PTR] = {POINTER, 0, 0},
        [ACL_MDL_WORK_SIZET] = {NUMBER_64, 0, 0},
        [ACL_MDL_MPAIMID_SIZET] = {REFUSED, 0, 0},
        [ACL_MDL_AICQOS_SIZET] = {REFUSED, 0, 0},
        [ACL_MDL_AICOST_SIZET] = {REFUSED, 0, 0},
        [ACL_MDL_MEC_TIMETHR_SIZET] = {REFUSED, 0, 0},
        [ACL_MDL_EXEC_PRIORITY_INT32] = {NUMBER_32, 0, 7},
        [ACL_MDL_NPU_PERF_MODE] = {NUMBER_32, INT32_MIN, INT32_MAX},
    },
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

aclError sim_model_options_set(enum sim_options_kind kind, struct sim_options *options, unsigned number,
                               const void *value, size_t size)
{
    SIM_ARGUMENT(number < SIM_OPTIONS_MAX && attributes_of[kind][number].at_shape != UNKNOWN, ACL_ERROR_INVALID_PARAM,
                 "attr is %u, which a %s does not have", number, sim_table_name(&tables[kind]));
    const struct attribute *attribute = &attributes_of[kind][number];
    size_t wanted = attribute->at_shape == NUMBER_32 ? 4 : 8;
    SIM_ARGUMENT(size == wanted, ACL_ERROR_INVALID_PARAM, "valueSize is %zu for attr %u, expected %zu", size, number,
                 wanted);
    SIM_ARGUMENT(attribute->at_shape != REFUSED, ACL_ERROR_FEATURE_UNSUPPORTED,
                 "attr is %u, which is about parts of a chip that the simulator does not have", number);
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

/* ---- reading the options of a load or an execution ---- */

static const char *const needed_names[] = {
    [ACL_MDL_LOAD_TYPE_SIZET] = "ACL_MDL_LOAD_TYPE_SIZET",   [ACL_MDL_PATH_PTR] = "ACL_MDL_PATH_PTR",
    [ACL_MDL_MEM_ADDR_PTR] = "ACL_MDL_MEM_ADDR_PTR",         [ACL_MDL_MEM_SIZET] = "ACL_MDL_MEM_SIZET",
    [ACL_MDL_INPUTQ_NUM_SIZET] = "ACL_MDL_INPUTQ_NUM_SIZET", [ACL_MDL_INPUTQ_ADDR_PTR] = "ACL_MDL_INPUTQ_ADDR_PTR",
    [ACL_MDL_OUTPUTQ_NUM_SIZET] = "ACL_MDL_OUTPUTQ_NUM_SIZET",
    [ACL_MDL_OUTPUTQ_ADDR_PTR] = "ACL_MDL_OUTPUTQ_ADDR_PTR",
};

static aclError need_all(const struct sim_options *options, unsigned first, unsigned last)
{
    for (unsigned attribute = first; attribute <= last; attribute++)
        SIM_ARGUMENT(sim_model_options_has(options, attribute), ACL_ERROR_INVALID_PARAM,
                     "%s was not set, which this type of load needs", needed_names[attribute]);
    return ACL_SUCCESS;
}

struct sim_load sim_model_options_memory(const struct sim_options *options)
{
    const uint64_t *values = options->op_values;
    return sim_load_with_memory((void *)(uintptr_t)values[ACL_MDL_WORKSPACE_ADDR_PTR], values[ACL_MDL_WORKSPACE_SIZET],
                                (void *)(uintptr_t)values[ACL_MDL_WEIGHT_ADDR_PTR], values[ACL_MDL_WEIGHT_SIZET]);
}

aclError sim_model_options_read(const struct sim_options *options, struct sim_load *load,
                          struct sim_load_queues *queues, char **path)
{
    SIM_TRY(need_all(options, ACL_MDL_LOAD_TYPE_SIZET, ACL_MDL_LOAD_TYPE_SIZET));
    uint64_t type = options->op_values[ACL_MDL_LOAD_TYPE_SIZET];
    bool from_file = type == ACL_MDL_LOAD_FROM_FILE || type == ACL_MDL_LOAD_FROM_FILE_WITH_MEM ||
                     type == ACL_MDL_LOAD_FROM_FILE_WITH_Q;
    bool with_memory = type == ACL_MDL_LOAD_FROM_FILE_WITH_MEM || type == ACL_MDL_LOAD_FROM_MEM_WITH_MEM;
    bool with_queues = type >= ACL_MDL_LOAD_FROM_FILE_WITH_Q;
    *load = with_memory ? sim_model_options_memory(options) : (struct sim_load){0};
    load->lo_without_graph = options->op_values[ACL_MDL_WITHOUT_GRAPH_INT32] == 1;
    load->lo_priority = (uint32_t)options->op_values[ACL_MDL_PRIORITY_INT32];
    SIM_ARGUMENT(!from_file || options->op_weight_path == NULL, ACL_ERROR_INVALID_PARAM,
                 "ACL_MDL_WEIGHT_PATH_PTR was set, which is valid only for a load from memory");
    SIM_TRY(need_all(options, from_file ? ACL_MDL_PATH_PTR : ACL_MDL_MEM_ADDR_PTR,
                     from_file ? ACL_MDL_PATH_PTR : ACL_MDL_MEM_SIZET));
    if (with_queues) {
        const uint64_t *values = options->op_values;
        SIM_TRY(need_all(options, ACL_MDL_INPUTQ_NUM_SIZET, ACL_MDL_OUTPUTQ_ADDR_PTR));
        *queues = (struct sim_load_queues){(const uint32_t *)(uintptr_t)values[ACL_MDL_INPUTQ_ADDR_PTR],
                                           (const uint32_t *)(uintptr_t)values[ACL_MDL_OUTPUTQ_ADDR_PTR],
                                           values[ACL_MDL_INPUTQ_NUM_SIZET], values[ACL_MDL_OUTPUTQ_NUM_SIZET]};
        SIM_TRY(sim_model_queue_check(queues));
        load->lo_queues = queues;
    }
    if (!from_file) {
        load->lo_model = (struct sim_bytes){(const void *)(uintptr_t)options->op_values[ACL_MDL_MEM_ADDR_PTR],
                                            options->op_values[ACL_MDL_MEM_SIZET]};
        return ACL_SUCCESS;
    }
    *path = strdup(options->op_path);
    SIM_ARGUMENT(*path != NULL, ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for a path");
    return ACL_SUCCESS;
}

struct sim_run_setting sim_model_options_run(const struct sim_options *options)
{
    const uint64_t *values = options->op_values;
    bool bounded = sim_model_options_has(options, ACL_MDL_STREAM_SYNC_TIMEOUT);
    return (struct sim_run_setting){.rs_timeout = bounded ? (int32_t)values[ACL_MDL_STREAM_SYNC_TIMEOUT] : -1,
                                    .rs_work = (const void *)(uintptr_t)values[ACL_MDL_WORK_ADDR_PTR],
                                    .rs_work_size = values[ACL_MDL_WORK_SIZET]};
}

aclError sim_model_run_check_work(const struct sim_run_setting *setting, uint32_t id)
{
    struct sim_model *model;
    if (setting->rs_work == NULL)
        return ACL_SUCCESS;
    SIM_ARGUMENT(setting->rs_work_size != 0, ACL_ERROR_INVALID_PARAM,
                 "ACL_MDL_WORK_ADDR_PTR was set, expected ACL_MDL_WORK_SIZET too");
    SIM_TRY(sim_model_open(id, &model));
    uint64_t needed = model->mo_signature->sg_dynamic ? 0 : model->mo_signature->sg_work; /* dynamic shapes ignore it */
    sim_model_close(model);
    SIM_ARGUMENT(setting->rs_work_size >= needed, ACL_ERROR_GE_PARAM_INVALID,
                 "ACL_MDL_WORK_SIZET is %llu, expected at least %llu", (unsigned long long)setting->rs_work_size,
                 (unsigned long long)needed);
    struct sim_range range = {.rg_address = setting->rs_work, .rg_size = setting->rs_work_size};
    return sim_memory_claim(&range, "ACL_MDL_WORK_ADDR_PTR");
}

/* ---- objects ---- */

struct sim_options *sim_model_options_open(enum sim_options_kind kind, const void *handle)
{
    return sim_object_open(&tables[kind], handle, "handle", ACL_ERROR_INVALID_PARAM);
}

void *sim_model_options_create(enum sim_options_kind kind)
{
    uint64_t handle;
    struct sim_options *options = sim_object_take(&tables[kind], &handle);
    return options == NULL ? NULL : sim_object_publish(options, handle);
}

void sim_model_options_destroy(enum sim_options_kind kind, struct sim_options *options)
{
    free(options->op_path);
    free(options->op_weight_path);
    options->op_path = options->op_weight_path = NULL;
    options->op_set = 0;
    memset(options->op_values, 0, sizeof options->op_values);
    sim_object_end(&tables[kind], options);
}

static void destroy_load(void *options)
{
    sim_model_options_destroy(SIM_LOAD_OPTIONS, options);
}

static void destroy_run(void *options)
{
    sim_model_options_destroy(SIM_RUN_OPTIONS, options);
}

void sim_model_config_reset(void)
{
    sim_object_destroy_all(&tables[SIM_LOAD_OPTIONS], destroy_load);
    sim_object_destroy_all(&tables[SIM_RUN_OPTIONS], destroy_run);
}

void sim_model_config_after_fork(void)
{
    for (int kind = 0; kind < SIM_OPTIONS_KINDS; kind++)
        sim_table_empty(&tables[kind]);
}
