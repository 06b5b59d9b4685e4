/* Entry points of profiling subscriptions: their configuration, and readers of the records that come through the pipe.
 * The buffer belongs to the program and may hold any bytes, so a record must have the right magic number. */
#include "address/memory.h"
#include "observe/prof.h"
#include <string.h>

aclprofSubscribeConfig *aclprofCreateSubscribeConfig(int8_t timeInfoSwitch, aclprofAicoreMetrics aicoreMetrics,
                                                     void *fd)
{
    SIM_ENTER();
    bool valid = (timeInfoSwitch == 0 || timeInfoSwitch == 1) && sim_prof_is_metric(aicoreMetrics);
    if (!valid || fd == NULL || !sim_memory_is_host(fd)) {
        sim_refuse(ACL_ERROR_INVALID_PARAM,
                   "timeInfoSwitch is %d, aicoreMetrics %d and fd %p, expected 0 or 1, 0 to %d or 255, and the "
                   "address of a file descriptor", timeInfoSwitch, (int)aicoreMetrics, fd, SIM_PROF_LAST_METRIC);
        return NULL;
    }
    int descriptor;
    memcpy(&descriptor, fd, sizeof descriptor);
    return sim_prof_subscription_create(timeInfoSwitch == 1, descriptor);
}

aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig *profSubscribeConfig)
{
    SIM_ENTER();
    SIM_NOT_NULL(profSubscribeConfig);
    return sim_prof_subscription_destroy(profSubscribeConfig);
}

aclError aclprofModelSubscribe(uint32_t modelId, const aclprofSubscribeConfig *profSubscribeConfig)
{
    SIM_ENTER();
    SIM_NOT_NULL(profSubscribeConfig);
    return sim_prof_subscribe(modelId, profSubscribeConfig);
}

aclError aclprofModelUnSubscribe(uint32_t modelId)
{
    SIM_ENTER();
    return sim_prof_unsubscribe(modelId);
}

/* ---- records ---- */

aclError aclprofGetOpDescSize(size_t *opDescSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(opDescSize);
    *opDescSize = sizeof(struct sim_op_record);
    return ACL_SUCCESS;
}

static aclError check_buffer(const void *opInfo, size_t opInfoLen)
{
    SIM_NOT_NULL(opInfo);
    SIM_ARGUMENT(sim_memory_is_host(opInfo), ACL_ERROR_INVALID_PARAM,
                 "opInfo is %p, which is device memory, expected host memory", opInfo);
    SIM_ARGUMENT(opInfoLen % sizeof(struct sim_op_record) == 0 && opInfoLen != 0, ACL_ERROR_INVALID_PARAM,
                 "opInfoLen is %zu, expected a multiple of %zu, the size of a record", opInfoLen,
                 sizeof(struct sim_op_record));
    return ACL_SUCCESS;
}

static bool ends(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static const char *place_of(const void *opInfo, uint32_t index)
{
    return (const char *)opInfo + index * sizeof(struct sim_op_record);
}

/* Copies the record, because the buffer may be misaligned. */
static aclError read_record(const void *opInfo, size_t opInfoLen, uint32_t index, struct sim_op_record *record)
{
    SIM_TRY(check_buffer(opInfo, opInfoLen));
    SIM_ARGUMENT(index < opInfoLen / sizeof *record, ACL_ERROR_INVALID_PARAM, "index is %u, expected less than %zu",
                 index, opInfoLen / sizeof *record);
    memcpy(record, place_of(opInfo, index), sizeof *record);
    SIM_ARGUMENT(record->or_magic == SIM_OP_RECORD_MAGIC && ends(record->or_type, sizeof record->or_type) &&
                     ends(record->or_name, sizeof record->or_name) && ends(record->or_thread, sizeof record->or_thread),
                 ACL_ERROR_INVALID_PARAM, "opInfo has no record at index %u, expected the records that were read from "
                 "the pipe",
                 index);
    return ACL_SUCCESS;
}

aclError aclprofGetOpNum(const void *opInfo, size_t opInfoLen, uint32_t *opNumber)
{
    SIM_ENTER();
    SIM_TRY(check_buffer(opInfo, opInfoLen));
    SIM_NOT_NULL(opNumber);
    *opNumber = (uint32_t)(opInfoLen / sizeof(struct sim_op_record));
    return ACL_SUCCESS;
}

/* Bodies of readers of one member of a record: the length of a text with its NUL, which is also the size that GET_TEXT
 * needs; the text; a number, 0 if there is no record. */
#define GET_LENGTH(text, length)                                                                                       \
    SIM_ENTER();                                                                                                       \
    struct sim_op_record record;                                                                                       \
    SIM_NOT_NULL(length);                                                                                              \
    SIM_TRY(read_record(opInfo, opInfoLen, index, &record));                                                           \
    *(length) = strlen(record.text) + 1;                                                                               \
    return ACL_SUCCESS

#define GET_TEXT(text, target, length)                                                                                 \
    SIM_ENTER();                                                                                                       \
    struct sim_op_record record;                                                                                       \
    SIM_NOT_NULL(target);                                                                                              \
    SIM_TRY(read_record(opInfo, opInfoLen, index, &record));                                                           \
    size_t needed = strlen(record.text) + 1;                                                                           \
    SIM_ARGUMENT((length) >= needed, ACL_ERROR_INVALID_PARAM, #length " is %zu, expected at least %zu", length,        \
                 needed);                                                                                              \
    memcpy(target, record.text, needed);                                                                               \
    return ACL_SUCCESS

#define GET_NUMBER(expression)                                                                                         \
    SIM_ENTER();                                                                                                       \
    struct sim_op_record record;                                                                                       \
    return read_record(opInfo, opInfoLen, index, &record) == ACL_SUCCESS ? (expression) : 0

aclError aclprofGetOpTypeLen(const void *opInfo, size_t opInfoLen, uint32_t index, size_t *opTypeLen)
{
    GET_LENGTH(or_type, opTypeLen);
}

aclError aclprofGetOpType(const void *opInfo, size_t opInfoLen, uint32_t index, char *opType, size_t opTypeLen)
{
    GET_TEXT(or_type, opType, opTypeLen);
}

aclError aclprofGetOpNameLen(const void *opInfo, size_t opInfoLen, uint32_t index, size_t *opNameLen)
{
    GET_LENGTH(or_name, opNameLen);
}

aclError aclprofGetOpName(const void *opInfo, size_t opInfoLen, uint32_t index, char *opName, size_t opNameLen)
{
    GET_TEXT(or_name, opName, opNameLen);
}

uint64_t aclprofGetOpStart(const void *opInfo, size_t opInfoLen, uint32_t index)
{
    GET_NUMBER(record.or_start);
}

uint64_t aclprofGetOpEnd(const void *opInfo, size_t opInfoLen, uint32_t index)
{
    GET_NUMBER(record.or_end);
}

uint64_t aclprofGetOpDuration(const void *opInfo, size_t opInfoLen, uint32_t index)
{
    GET_NUMBER(record.or_end - record.or_start);
}

size_t aclprofGetModelId(const void *opInfo, size_t opInfoLen, uint32_t index)
{
    GET_NUMBER(record.or_model);
}

aclprofSubscribeOpFlag aclprofGetOpFlag(const void *opInfo, size_t opInfoLen, uint32_t index)
{
    SIM_ENTER();
    struct sim_op_record record;
    return read_record(opInfo, opInfoLen, index, &record) == ACL_SUCCESS ? ACL_SUBSCRIBE_OP : ACL_SUBSCRIBE_NONE;
}

/* The text is in the buffer, and is valid as long as the buffer is. */
const char *aclprofGetOpAttriValue(const void *opInfo, size_t opInfoLen, uint32_t index, aclprofSubscribeOpAttri attri)
{
    SIM_ENTER();
    struct sim_op_record record;
    if (attri != ACL_SUBSCRIBE_ATTRI_THREADID) {
        sim_refuse(ACL_ERROR_INVALID_PARAM, "attri is %d, expected ACL_SUBSCRIBE_ATTRI_THREADID (0)", (int)attri);
        return NULL;
    }
    return read_record(opInfo, opInfoLen, index, &record) == ACL_SUCCESS
               ? place_of(opInfo, index) + offsetof(struct sim_op_record, or_thread)
               : NULL;
}
