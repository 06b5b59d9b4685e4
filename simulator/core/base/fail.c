/* Messages and last errors.
 *
 * A thread that fails owns a ring of its newest messages, allocated at its first failure and freed by a key destructor
 * when the thread ends. With err_msg_mode "1" of aclInit's file all threads write to one ring instead, under its lock.
 * Nothing here takes another lock, so any room may fail while it holds one. */
#include "fail.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING 32          /* messages kept, the newest */
#define LINE_BYTES 1024  /* of one message; longer ones are cut */
#define TAIL_BYTES 96    /* of them, kept free for the code and its name */

struct sim_messages {
    struct sim_lock ms_lock; /* of the shared ring; a thread's own needs none */
    uint32_t ms_count;
    uint32_t ms_newest;
    bool ms_is_notice; /* the newest one is of sim_notice: the next message takes its line */
    char ms_lines[RING][LINE_BYTES];
    char ms_taken[RING * LINE_BYTES]; /* what the last sim_fail_take gave out */
};

_Thread_local struct sim_thread sim_thread = {.th_last_task = UINT32_MAX};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;
static struct sim_messages *_Atomic shared; /* allocated once, kept for the life of the process */
static _Atomic bool by_process;

struct code_name {
    aclError cn_code;
    const char *cn_name;
};

#define CODE(name) {name, #name}

/* By value, for the binary search. */
static const struct code_name code_names[] = {
    CODE(ACL_SUCCESS), CODE(ACL_ERROR_INVALID_PARAM), CODE(ACL_ERROR_UNINITIALIZE), CODE(ACL_ERROR_REPEAT_INITIALIZE),
    CODE(ACL_ERROR_INVALID_FILE), CODE(ACL_ERROR_WRITE_FILE), CODE(ACL_ERROR_INVALID_FILE_SIZE),
    CODE(ACL_ERROR_PARSE_FILE), CODE(ACL_ERROR_FILE_MISSING_ATTR), CODE(ACL_ERROR_FILE_ATTR_INVALID),
    CODE(ACL_ERROR_INVALID_DUMP_CONFIG), CODE(ACL_ERROR_INVALID_PROFILING_CONFIG), CODE(ACL_ERROR_INVALID_MODEL_ID),
    CODE(ACL_ERROR_DESERIALIZE_MODEL), CODE(ACL_ERROR_PARSE_MODEL), CODE(ACL_ERROR_READ_MODEL_FAILURE),
    CODE(ACL_ERROR_MODEL_SIZE_INVALID), CODE(ACL_ERROR_MODEL_MISSING_ATTR), CODE(ACL_ERROR_MODEL_INPUT_NOT_MATCH),
    CODE(ACL_ERROR_MODEL_OUTPUT_NOT_MATCH), CODE(ACL_ERROR_MODEL_NOT_DYNAMIC), CODE(ACL_ERROR_OP_TYPE_NOT_MATCH),
    CODE(ACL_ERROR_OP_INPUT_NOT_MATCH), CODE(ACL_ERROR_OP_OUTPUT_NOT_MATCH), CODE(ACL_ERROR_OP_ATTR_NOT_MATCH),
    CODE(ACL_ERROR_OP_NOT_FOUND), CODE(ACL_ERROR_OP_LOAD_FAILED), CODE(ACL_ERROR_UNSUPPORTED_DATA_TYPE),
    CODE(ACL_ERROR_FORMAT_NOT_MATCH), CODE(ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED), CODE(ACL_ERROR_KERNEL_NOT_FOUND),
    CODE(ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED), CODE(ACL_ERROR_KERNEL_ALREADY_REGISTERED),
    CODE(ACL_ERROR_INVALID_QUEUE_ID), CODE(ACL_ERROR_REPEAT_SUBSCRIBE), CODE(ACL_ERROR_STREAM_NOT_SUBSCRIBE),
    CODE(ACL_ERROR_THREAD_NOT_SUBSCRIBE), CODE(ACL_ERROR_WAIT_CALLBACK_TIMEOUT), CODE(ACL_ERROR_REPEAT_FINALIZE),
    CODE(ACL_ERROR_NOT_STATIC_AIPP), CODE(ACL_ERROR_COMPILING_STUB_MODE), CODE(ACL_ERROR_GROUP_NOT_SET),
    CODE(ACL_ERROR_GROUP_NOT_CREATE), CODE(ACL_ERROR_PROF_ALREADY_RUN), CODE(ACL_ERROR_PROF_NOT_RUN),
    CODE(ACL_ERROR_DUMP_ALREADY_RUN), CODE(ACL_ERROR_DUMP_NOT_RUN), CODE(ACL_ERROR_RT_PARAM_INVALID),
    CODE(ACL_ERROR_RT_INVALID_DEVICEID), CODE(ACL_ERROR_RT_CONTEXT_NULL), CODE(ACL_ERROR_RT_STREAM_CONTEXT),
    CODE(ACL_ERROR_RT_MODEL_CONTEXT), CODE(ACL_ERROR_RT_STREAM_MODEL), CODE(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID),
    CODE(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL), CODE(ACL_ERROR_RT_ADDR_UNALIGNED), CODE(ACL_ERROR_RT_FILE_OPEN),
    CODE(ACL_ERROR_RT_FILE_WRITE), CODE(ACL_ERROR_RT_STREAM_SUBSCRIBE), CODE(ACL_ERROR_RT_THREAD_SUBSCRIBE),
    CODE(ACL_ERROR_RT_GROUP_NOT_SET), CODE(ACL_ERROR_RT_GROUP_NOT_CREATE), CODE(ACL_ERROR_RT_STREAM_NO_CB_REG),
    CODE(ACL_ERROR_RT_INVALID_MEMORY_TYPE), CODE(ACL_ERROR_RT_INVALID_HANDLE), CODE(ACL_ERROR_RT_INVALID_MALLOC_TYPE),
    CODE(ACL_ERROR_RT_WAIT_TIMEOUT), CODE(ACL_ERROR_RT_TASK_TIMEOUT), CODE(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET),
    CODE(ACL_ERROR_RT_DEVICE_TASK_ABORT), CODE(ACL_ERROR_RT_STREAM_ABORT), CODE(ACL_ERROR_RT_CAPTURE_DEPENDENCY),
    CODE(ACL_ERROR_RT_STREAM_UNJOINED), CODE(ACL_ERROR_RT_MODEL_CAPTURED), CODE(ACL_ERROR_RT_STREAM_CAPTURED),
    CODE(ACL_ERROR_RT_EVENT_CAPTURED), CODE(ACL_ERROR_RT_STREAM_NOT_CAPTURED),
    CODE(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT), CODE(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT),
    CODE(ACL_ERROR_STREAM_CAPTURE_CONFLICT), CODE(ACL_ERROR_STREAM_TASK_GROUP_STATUS),
    CODE(ACL_ERROR_STREAM_TASK_GROUP_INTR), CODE(ACL_ERROR_RT_TASK_ABORT_STOP),
    CODE(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED), CODE(ACL_ERROR_RT_MODEL_RUNNING),
    CODE(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD), CODE(ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY),
    CODE(ACL_ERROR_RT_MODEL_UPDATE_FAILED), CODE(ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC),
    CODE(ACL_ERROR_RT_SYMBOL_NOT_FOUND), CODE(ACL_ERROR_RT_INVALID_SYMBOL),
    CODE(ACL_ERROR_RT_INVALID_DEVICE_FUNCTION), CODE(ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING),
    CODE(ACL_ERROR_GE_PARAM_INVALID), CODE(ACL_ERROR_GE_EXEC_NOT_INIT), CODE(ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID),
    CODE(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID), CODE(ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID),
    CODE(ACL_ERROR_GE_EXEC_MODEL_ADDR_INVALID), CODE(ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID),
    CODE(ACL_ERROR_GE_EXEC_LOAD_MODEL_REPEATED), CODE(ACL_ERROR_GE_DYNAMIC_INPUT_ADDR_INVALID),
    CODE(ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID), CODE(ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID),
    CODE(ACL_ERROR_GE_AIPP_BATCH_EMPTY), CODE(ACL_ERROR_GE_AIPP_NOT_EXIST), CODE(ACL_ERROR_GE_AIPP_MODE_INVALID),
    CODE(ACL_ERROR_GE_OP_TASK_TYPE_INVALID), CODE(ACL_ERROR_GE_OP_KERNEL_TYPE_INVALID),
    CODE(ACL_ERROR_GE_PLGMGR_PATH_INVALID), CODE(ACL_ERROR_GE_FORMAT_INVALID), CODE(ACL_ERROR_GE_SHAPE_INVALID),
    CODE(ACL_ERROR_GE_DATATYPE_INVALID), CODE(ACL_ERROR_PROF_REPEAT_SUBSCRIBE), CODE(ACL_ERROR_PROF_API_CONFLICT),
    CODE(ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG), CODE(ACL_ERROR_INVALID_OPP_PATH),
    CODE(ACL_ERROR_OP_UNSUPPORTED_DYNAMIC), CODE(ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED),
    CODE(ACL_ERROR_UNSUPPORTED_JPEG), CODE(ACL_ERROR_INVALID_BUNDLE_MODEL_ID),
    CODE(ACLNN_ERR_PARAM_NULLPTR), CODE(ACLNN_ERR_PARAM_INVALID), CODE(ACL_ERROR_BAD_ALLOC),
    CODE(ACL_ERROR_API_NOT_SUPPORT), CODE(ACL_ERROR_INVALID_DEVICE), CODE(ACL_ERROR_MEMORY_ADDRESS_UNALIGNED),
    CODE(ACL_ERROR_RESOURCE_NOT_MATCH), CODE(ACL_ERROR_INVALID_RESOURCE_HANDLE), CODE(ACL_ERROR_FEATURE_UNSUPPORTED),
    CODE(ACL_ERROR_PROF_MODULES_UNSUPPORTED), CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT),
    CODE(ACL_ERROR_RT_MEMORY_ALLOCATION), CODE(ACL_ERROR_RT_MEMORY_FREE), CODE(ACL_ERROR_RT_AICORE_OVER_FLOW),
    CODE(ACL_ERROR_RT_NO_DEVICE), CODE(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL), CODE(ACL_ERROR_RT_NO_PERMISSION),
    CODE(ACL_ERROR_RT_NO_EVENT_RESOURCE), CODE(ACL_ERROR_RT_NO_STREAM_RESOURCE),
    CODE(ACL_ERROR_RT_NO_NOTIFY_RESOURCE), CODE(ACL_ERROR_RT_NO_MODEL_RESOURCE), CODE(ACL_ERROR_RT_NO_CDQ_RESOURCE),
    CODE(ACL_ERROR_RT_OVER_LIMIT), CODE(ACL_ERROR_RT_QUEUE_EMPTY), CODE(ACL_ERROR_RT_QUEUE_FULL),
    CODE(ACL_ERROR_RT_REPEATED_INIT), CODE(ACL_ERROR_RT_AIVEC_OVER_FLOW), CODE(ACL_ERROR_RT_OVER_FLOW),
    CODE(ACL_ERROR_RT_DEVICE_OOM), CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP), CODE(ACL_ERROR_RT_TIMEOUT),
    CODE(ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED), CODE(ACL_ERROR_GE_MEMORY_ALLOCATION),
    CODE(ACL_ERROR_GE_MEMORY_OPERATE_FAILED), CODE(ACL_ERROR_GE_DEVICE_MEMORY_OPERATE_FAILED),
    CODE(ACL_ERROR_STORAGE_OVER_LIMIT), CODE(ACL_ERROR_GE_SUBHEALTHY), CODE(ACL_ERROR_GE_USER_RAISE_EXCEPTION),
    CODE(ACL_ERROR_GE_DATA_NOT_ALIGNED), CODE(ACLNN_ERR_RUNTIME_ERROR), CODE(ACL_ERROR_INTERNAL_ERROR),
    CODE(ACL_ERROR_FAILURE),
    CODE(ACL_ERROR_GE_FAILURE), CODE(ACL_ERROR_RT_FAILURE), CODE(ACL_ERROR_DRV_FAILURE),
    CODE(ACL_ERROR_PROFILING_FAILURE), CODE(ACL_ERROR_RT_INTERNAL_ERROR), CODE(ACL_ERROR_RT_TS_ERROR),
    CODE(ACL_ERROR_RT_STREAM_TASK_FULL), CODE(ACL_ERROR_RT_STREAM_TASK_EMPTY), CODE(ACL_ERROR_RT_STREAM_NOT_COMPLETE),
    CODE(ACL_ERROR_RT_END_OF_SEQUENCE), CODE(ACL_ERROR_RT_EVENT_NOT_COMPLETE),
    CODE(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR), CODE(ACL_ERROR_RT_SOC_VERSION),
    CODE(ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT), CODE(ACL_ERROR_RT_LOST_HEARTBEAT), CODE(ACL_ERROR_RT_MODEL_EXECUTE),
    CODE(ACL_ERROR_RT_REPORT_TIMEOUT), CODE(ACL_ERROR_RT_SYS_DMA), CODE(ACL_ERROR_RT_AICORE_TIMEOUT),
    CODE(ACL_ERROR_RT_AICORE_EXCEPTION), CODE(ACL_ERROR_RT_AICORE_TRAP_EXCEPTION), CODE(ACL_ERROR_RT_AICPU_TIMEOUT),
    CODE(ACL_ERROR_RT_AICPU_EXCEPTION), CODE(ACL_ERROR_RT_AICPU_DATADUMP_RSP_ERR),
    CODE(ACL_ERROR_RT_AICPU_MODEL_RSP_ERR), CODE(ACL_ERROR_RT_PROFILING_ERROR), CODE(ACL_ERROR_RT_IPC_ERROR),
    CODE(ACL_ERROR_RT_MODEL_ABORT_NORMAL), CODE(ACL_ERROR_RT_KERNEL_UNREGISTERING),
    CODE(ACL_ERROR_RT_RINGBUFFER_NOT_INIT), CODE(ACL_ERROR_RT_RINGBUFFER_NO_DATA), CODE(ACL_ERROR_RT_KERNEL_LOOKUP),
    CODE(ACL_ERROR_RT_KERNEL_DUPLICATE), CODE(ACL_ERROR_RT_DEBUG_REGISTER_FAIL),
    CODE(ACL_ERROR_RT_DEBUG_UNREGISTER_FAIL), CODE(ACL_ERROR_RT_LABEL_CONTEXT), CODE(ACL_ERROR_RT_PROGRAM_USE_OUT),
    CODE(ACL_ERROR_RT_DEV_SETUP_ERROR), CODE(ACL_ERROR_RT_VECTOR_CORE_TIMEOUT),
    CODE(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION), CODE(ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION),
    CODE(ACL_ERROR_RT_CDQ_BATCH_ABNORMAL), CODE(ACL_ERROR_RT_DIE_MODE_CHANGE_ERROR), CODE(ACL_ERROR_RT_DIE_SET_ERROR),
    CODE(ACL_ERROR_RT_INVALID_DIEID), CODE(ACL_ERROR_RT_DIE_MODE_NOT_SET),
    CODE(ACL_ERROR_RT_AICORE_TRAP_READ_OVERFLOW), CODE(ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW),
    CODE(ACL_ERROR_RT_VECTOR_CORE_TRAP_READ_OVERFLOW), CODE(ACL_ERROR_RT_VECTOR_CORE_TRAP_WRITE_OVERFLOW),
    CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT), CODE(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT),
    CODE(ACL_ERROR_RT_FFTS_PLUS_TIMEOUT), CODE(ACL_ERROR_RT_FFTS_PLUS_EXCEPTION),
    CODE(ACL_ERROR_RT_FFTS_PLUS_TRAP_EXCEPTION), CODE(ACL_ERROR_RT_SEND_MSG), CODE(ACL_ERROR_RT_COPY_DATA),
    CODE(ACL_ERROR_RT_DEVICE_MEM_ERROR), CODE(ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR),
    CODE(ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR), CODE(ACL_ERROR_RT_LINK_ERROR),
    CODE(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR), CODE(ACL_ERROR_RT_DRV_INTERNAL_ERROR),
    CODE(ACL_ERROR_RT_AICPU_INTERNAL_ERROR), CODE(ACL_ERROR_RT_SOCKET_CLOSE),
    CODE(ACL_ERROR_RT_AICPU_INFO_LOAD_RSP_ERR), CODE(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED),
    CODE(ACL_ERROR_RT_COMM_OP_RETRY_FAIL), CODE(ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT),
    CODE(ACL_ERROR_SNAPSHOT_LOCK_FAILED), CODE(ACL_ERROR_SNAPSHOT_UNLOCK_FAILED),
    CODE(ACL_ERROR_SNAPSHOT_BACKUP_FAILED), CODE(ACL_ERROR_SNAPSHOT_RESTORE_FAILED),
    CODE(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED), CODE(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED),
    CODE(ACL_ERROR_SNAPSHOT_CALLBACK_FAILED), CODE(ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED),
    CODE(ACL_ERROR_RT_L3_PORT_ERROR), CODE(ACL_ERROR_RT_CCU_TIMEOUT), CODE(ACL_ERROR_RT_CCU_EXCEPTION),
    CODE(ACL_ERROR_GE_INTERNAL_ERROR), CODE(ACL_ERROR_GE_LOAD_MODEL),
    CODE(ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED), CODE(ACL_ERROR_GE_EXEC_LOAD_WEIGHT_PARTITION_FAILED),
    CODE(ACL_ERROR_GE_EXEC_LOAD_TASK_PARTITION_FAILED), CODE(ACL_ERROR_GE_EXEC_LOAD_KERNEL_PARTITION_FAILED),
    CODE(ACL_ERROR_GE_EXEC_RELEASE_MODEL_DATA), CODE(ACL_ERROR_GE_COMMAND_HANDLE), CODE(ACL_ERROR_GE_GET_TENSOR_INFO),
    CODE(ACL_ERROR_GE_UNLOAD_MODEL), CODE(ACL_ERROR_GE_MODEL_EXECUTE_TIMEOUT), CODE(ACL_ERROR_GE_REDEPLOYING),
    CODE(ACLNN_ERR_INNER), CODE(ACLNN_ERR_INNER_FIND_KERNEL_ERROR), CODE(ACLNN_ERR_INNER_NULLPTR),
};

static int compare_codes(const void *wanted, const void *entry)
{
    aclError code = *(const aclError *)wanted, other = ((const struct code_name *)entry)->cn_code;
    return (code > other) - (code < other);
}

const char *sim_fail_name(aclError code)
{
    const struct code_name *found = bsearch(&code, code_names, sizeof code_names / sizeof *code_names,
                                            sizeof *code_names, compare_codes);
    return found != NULL ? found->cn_name : "unknown code";
}

/* The identifier that opens a message: EE of the runtime, EH of the layer above it. */
static const char *message_id(aclError code)
{
    switch (code) {
    case ACL_ERROR_RT_FEATURE_NOT_SUPPORT:
    case ACL_ERROR_API_NOT_SUPPORT:
    case ACL_ERROR_FEATURE_UNSUPPORTED:
        return "EE1006";
    case ACL_ERROR_RT_STREAM_CONTEXT:
    case ACL_ERROR_RT_MODEL_CONTEXT:
    case ACL_ERROR_RT_LABEL_CONTEXT:
        return "EE1010";
    case ACL_ERROR_RT_INVALID_HANDLE:
        return "EE1011";
    case ACL_ERROR_RT_MEMORY_ALLOCATION:
    case ACL_ERROR_BAD_ALLOC:
        return "EE1013";
    case ACL_ERROR_RT_CONTEXT_NULL:
        return "EE1016";
    default:
        break;
    }
    switch (code / 1000) {
    case 107:
        return "EE1003";
    case 207:
    case 507:
        return "EE1018";
    default:
        return code >= 500000 ? "EH9999" : "EH0001";
    }
}

/* Codes of the layer above the runtime (1000xx, 145xxx, 2000xx, 5000xx, ...) and those that only describe a state never
 * become the last error. */
static bool is_recorded(aclError code)
{
    switch (code) {
    case ACL_ERROR_RT_FEATURE_NOT_SUPPORT:
    case ACL_ERROR_RT_AICORE_OVER_FLOW:
    case ACL_ERROR_RT_AIVEC_OVER_FLOW:
    case ACL_ERROR_RT_OVER_FLOW:
    case ACL_ERROR_RT_STREAM_NOT_COMPLETE:
    case ACL_ERROR_RT_EVENT_NOT_COMPLETE:
    case ACL_ERROR_RT_END_OF_SEQUENCE:
    case ACL_ERROR_RT_MODEL_ABORT_NORMAL:
    case ACL_ERROR_RT_SOCKET_CLOSE:
        return false;
    default:
        return code < 100000 || code % 100000 / 1000 == 7;
    }
}

static void thread_ended(void *messages)
{
    free(messages);
    sim_thread.th_messages = NULL;
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, thread_ended) == 0;
}

/* The ring that this thread writes to, locked when it is the shared one; NULL when there is no memory for it. */
static struct sim_messages *open_ring(void)
{
    if (atomic_load_explicit(&by_process, memory_order_acquire)) {
        struct sim_messages *ring = atomic_load_explicit(&shared, memory_order_acquire);
        sim_lock(&ring->ms_lock);
        return ring;
    }
    if (sim_thread.th_messages == NULL) {
        pthread_once(&once, make_key);
        struct sim_messages *ring = has_key ? malloc(sizeof *ring) : NULL;
        if (ring == NULL || pthread_setspecific(key, ring) != 0) {
            free(ring);
            return NULL;
        }
        ring->ms_count = 0;
        ring->ms_newest = 0;
        ring->ms_is_notice = false;
        sim_thread.th_messages = ring;
    }
    return sim_thread.th_messages;
}

static void close_ring(struct sim_messages *ring)
{
    if (ring != sim_thread.th_messages)
        sim_unlock(&ring->ms_lock);
}

static void record(aclError code, const char *function, bool is_notice, const char *format, va_list arguments)
{
    struct sim_messages *ring = open_ring();
    if (ring == NULL)
        return;
    if (!ring->ms_is_notice || ring->ms_count == 0) {
        ring->ms_newest = (ring->ms_newest + 1) % RING;
        ring->ms_count += ring->ms_count < RING;
    }
    ring->ms_is_notice = is_notice;
    char *line = ring->ms_lines[ring->ms_newest];
    const size_t room = LINE_BYTES - TAIL_BYTES;
    size_t used = (size_t)(function == NULL ? sprintf(line, "%s: ", message_id(code))
                                            : sprintf(line, "%s: %.64s failed because ", message_id(code), function));
    int length = vsnprintf(line + used, room - used, format, arguments);
    used += length < 0 ? 0 : (size_t)length < room - used ? (size_t)length : room - used - 1;
    snprintf(line + used, LINE_BYTES - used, " (%d %s)", code, sim_fail_name(code));
    close_ring(ring);
}

static const char *current_function(void)
{
    return sim_thread.th_function != NULL ? sim_thread.th_function : "the call";
}

aclError sim_fail(aclError code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(code, current_function(), false, format, arguments);
    va_end(arguments);
    if (is_recorded(code))
        sim_thread.th_last_error = code;
    return code;
}

aclError sim_refuse(aclError code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(code, current_function(), false, format, arguments);
    va_end(arguments);
    return code;
}

aclError sim_notice(aclError code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(code, current_function(), true, format, arguments);
    va_end(arguments);
    return code;
}

static void record_late(aclError code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(code, NULL, false, format, arguments);
    va_end(arguments);
}

aclError sim_fail_late(aclError code, const char *message)
{
    record_late(code, "%s", message);
    if (is_recorded(code))
        sim_thread.th_last_error = code;
    return code;
}

void sim_fail_reason(const char *text)
{
    char *reason = sim_thread.th_reason;
    if (reason == NULL)
        return;
    snprintf(reason, SIM_REASON_BYTES, ": %s", text);
    for (; *reason != '\0'; reason++)
        if ((unsigned char)*reason < ' ')
            *reason = ' ';
}

const char *sim_fail_take(void)
{
    if (sim_thread.th_messages == NULL && !atomic_load_explicit(&by_process, memory_order_relaxed))
        return NULL;
    struct sim_messages *ring = open_ring();
    if (ring == NULL)
        return NULL;
    const char *taken = ring->ms_count != 0 ? ring->ms_taken : NULL;
    char *end = ring->ms_taken;
    for (uint32_t i = 0; i < ring->ms_count; i++) {
        if (i != 0)
            *end++ = '\n';
        end = stpcpy(end, ring->ms_lines[(ring->ms_newest + RING - i) % RING]);
    }
    ring->ms_count = 0;
    close_ring(ring);
    return taken;
}

void sim_fail_share(bool share)
{
    if (share && atomic_load_explicit(&shared, memory_order_acquire) == NULL) {
        struct sim_messages *ring = calloc(1, sizeof *ring), *none = NULL;
        if (ring == NULL)
            return;
        if (!atomic_compare_exchange_strong_explicit(&shared, &none, ring, memory_order_acq_rel,
                                                     memory_order_acquire))
            free(ring);
    }
    atomic_store_explicit(&by_process, share, memory_order_release);
}

bool sim_fail_is_shared(void)
{
    return atomic_load_explicit(&by_process, memory_order_relaxed);
}

uint32_t sim_thread_number(void)
{
    if (sim_thread.th_id == 0)
        sim_thread.th_id = (uint32_t)syscall(SYS_gettid);
    return sim_thread.th_id;
}

void sim_fail_forget(void)
{
    struct sim_messages *ring = atomic_load_explicit(&shared, memory_order_acquire);
    if (ring != NULL) {
        sim_lock(&ring->ms_lock);
        ring->ms_count = 0;
        sim_unlock(&ring->ms_lock);
    }
    atomic_store_explicit(&by_process, false, memory_order_release);
    if (sim_thread.th_messages != NULL)
        sim_thread.th_messages->ms_count = 0;
    sim_thread.th_last_error = ACL_SUCCESS;
}

void sim_fail_after_fork(void)
{
    struct sim_messages *ring = atomic_load_explicit(&shared, memory_order_relaxed);
    if (ring != NULL)
        sim_lock_renew(&ring->ms_lock);
    sim_thread.th_id = 0;
    sim_fail_forget();
}
