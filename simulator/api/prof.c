/* Entry points of profiling: the session and its configuration, marks, steps. */
#include "observe/prof.h"
#include "address/memory.h"
#include "base/config.h"
#include "engine/device.h"
#include <string.h>

#define PATH_LIMIT 4096    /* bytes of a path with its NUL */
#define VALUE_MOST 256     /* bytes of the value of an option */
#define TRACE_MOST 18      /* bytes of the data of aclrtProfTrace */

/* ---- the session ---- */

aclError aclprofInit(const char *profilerResultPath, size_t length)
{
    SIM_ENTER();
    SIM_NOT_NULL(profilerResultPath);
    SIM_ARGUMENT(length > 0 && length < PATH_LIMIT, ACL_ERROR_INVALID_PARAM, "length is %zu, expected 1 to %d", length,
                 PATH_LIMIT - 1);
    SIM_ARGUMENT(strnlen(profilerResultPath, length + 1) == length, ACL_ERROR_INVALID_PARAM,
                 "length is %zu, expected the length of profilerResultPath", length);
    return sim_prof_init(profilerResultPath);
}

aclError aclprofFinalize(void)
{
    SIM_ENTER();
    return sim_prof_finalize();
}

aclError aclprofStart(const aclprofConfig *profilerConfig)
{
    SIM_ENTER();
    return sim_prof_start(profilerConfig);
}

aclError aclprofStop(const aclprofConfig *profilerConfig)
{
    SIM_ENTER();
    return sim_prof_stop(profilerConfig);
}

aclError aclprofSetConfig(aclprofConfigType configType, const char *config, size_t configLength)
{
    SIM_ENTER();
    bool is_old = sim_config()->cf_cann < 900;
    int most = is_old ? ACL_PROF_HOST_SYS_USAGE_FREQ : ACL_PROF_PATH;
    int type = (int)configType;
    SIM_ARGUMENT(type > ACL_PROF_ARGS_MIN && type <= most && (type != ACL_PROF_AIV_METRICS || is_old),
                 ACL_ERROR_INVALID_PARAM, "configType is %d, expected one of aclprofConfigType, at most %d", type,
                 most);
    SIM_ARGUMENT(configLength <= VALUE_MOST, ACL_ERROR_INVALID_PARAM, "configLength is %zu, expected at most %d",
                 configLength, VALUE_MOST);
    SIM_NOT_NULL(config);
    SIM_ARGUMENT(strnlen(config, configLength + 1) == configLength, ACL_ERROR_INVALID_PARAM,
                 "configLength is %zu, expected the length of config", configLength);
    return sim_prof_set(configType, config);
}

/* ---- configurations ---- */

static aclError read_devices(const uint32_t *list, uint32_t count, uint32_t *devices)
{
    uint32_t there = sim_config_devices();
    SIM_ARGUMENT((list == NULL) == (count == 0), ACL_ERROR_INVALID_PARAM,
                 "deviceIdList is %p with deviceNums %u, expected a list of that length", (const void *)list, count);
    SIM_ARGUMENT(count <= there, ACL_ERROR_INVALID_PARAM,
                 "deviceNums is %u, expected at most %u, the number of devices", count, there);
    *devices = 0;
    for (uint32_t i = 0; i < count; i++) {
        SIM_ARGUMENT(list[i] < there, ACL_ERROR_INVALID_PARAM, "deviceIdList[%u] is %u, expected less than %u", i,
                     list[i], there);
        SIM_ARGUMENT(!(*devices >> list[i] & 1), ACL_ERROR_INVALID_PARAM,
                     "deviceIdList[%u] is %u, which is in the list already", i, list[i]);
        *devices |= 1u << list[i];
    }
    return ACL_SUCCESS;
}

static aclError check_config(aclprofAicoreMetrics metrics, const aclprofAicoreEvents *events)
{
    SIM_ARGUMENT(sim_prof_is_metric(metrics), ACL_ERROR_INVALID_PARAM,
                 "aicoreMetrics is %d, expected 0 to %d or ACL_AICORE_NONE (255)", (int)metrics, SIM_PROF_LAST_METRIC);
    SIM_ARGUMENT(events == NULL, ACL_ERROR_INVALID_PARAM, "aicoreEvents is %p, expected NULL: it is reserved",
                 (const void *)events);
    return ACL_SUCCESS;
}

aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums, aclprofAicoreMetrics aicoreMetrics,
                                   const aclprofAicoreEvents *aicoreEvents, uint64_t dataTypeConfig)
{
    SIM_ENTER();
    struct sim_prof_plan plan = {.pp_bits = dataTypeConfig, .pp_metrics = aicoreMetrics};
    if (read_devices(deviceIdList, deviceNums, &plan.pp_devices) != ACL_SUCCESS ||
        check_config(aicoreMetrics, aicoreEvents) != ACL_SUCCESS)
        return NULL;
    return sim_prof_config_create(&plan);
}

aclError aclprofDestroyConfig(const aclprofConfig *profilerConfig)
{
    SIM_ENTER();
    SIM_NOT_NULL(profilerConfig);
    return sim_prof_config_destroy(profilerConfig);
}

/* ---- marks ---- */

void *aclprofCreateStamp(void)
{
    SIM_ENTER();
    return sim_prof_stamp_create();
}

void aclprofDestroyStamp(void *stamp)
{
    SIM_ENTER();
    if (stamp != NULL)
        sim_prof_stamp_destroy(stamp);
}

static aclError check_message(const char *msg, size_t length)
{
    SIM_NOT_NULL(msg);
    SIM_ARGUMENT(length < SIM_PROF_TEXT, ACL_ERROR_INVALID_PARAM, "msgLen is %zu, expected at most %d", length,
                 SIM_PROF_TEXT - 1);
    return ACL_SUCCESS;
}

aclError aclprofSetStampTraceMessage(void *stamp, const char *msg, uint32_t msgLen)
{
    SIM_ENTER();
    SIM_NOT_NULL(stamp);
    SIM_TRY(check_message(msg, msgLen));
    return sim_prof_stamp_set(stamp, msg, msgLen);
}

aclError aclprofMark(void *stamp)
{
    SIM_ENTER();
    SIM_NOT_NULL(stamp);
    return sim_prof_stamp_mark(stamp);
}

aclError aclprofPush(void *stamp)
{
    SIM_ENTER();
    SIM_NOT_NULL(stamp);
    return sim_prof_stamp_begin(stamp, SIM_SPAN_STACK, NULL);
}

aclError aclprofPop(void)
{
    SIM_ENTER();
    return sim_prof_span_end(SIM_SPAN_STACK, 0);
}

aclError aclprofRangeStart(void *stamp, uint32_t *rangeId)
{
    SIM_ENTER();
    SIM_NOT_NULL(stamp);
    SIM_NOT_NULL(rangeId);
    return sim_prof_stamp_begin(stamp, SIM_SPAN_RANGE, rangeId);
}

aclError aclprofRangeStop(uint32_t rangeId)
{
    SIM_ENTER();
    return sim_prof_span_end(SIM_SPAN_RANGE, rangeId);
}

aclError aclprofRangePushEx(aclprofEventAttributes *attr)
{
    SIM_ENTER();
    SIM_NOT_NULL(attr);
    SIM_ARGUMENT(attr->version == ACL_PROF_EVENT_ATTR_VERSION, ACL_ERROR_INVALID_PARAM,
                 "version of attr is %u, expected %d", attr->version, ACL_PROF_EVENT_ATTR_VERSION);
    SIM_ARGUMENT(attr->size == sizeof *attr, ACL_ERROR_INVALID_PARAM, "size of attr is %u, expected %zu", attr->size,
                 sizeof *attr);
    SIM_ARGUMENT(attr->messageType == ACL_PROF_MESSAGE_TYPE_TENSOR_INFO, ACL_ERROR_INVALID_PARAM,
                 "messageType of attr is %u, expected ACL_PROF_MESSAGE_TYPE_TENSOR_INFO (0)", attr->messageType);
    const aclprofTensorInfo *info = attr->message.tensorInfo;
    SIM_ARGUMENT(info != NULL, ACL_ERROR_INVALID_PARAM, "tensorInfo of attr is NULL, expected a valid pointer");
    SIM_ARGUMENT(info->tensorNum == 0 || info->tensors != NULL, ACL_ERROR_INVALID_PARAM,
                 "tensors of attr is NULL with tensorNum %u, expected an array of that length", info->tensorNum);
    return sim_prof_span_tensors(info);
}

aclError aclprofRangePop(void)
{
    SIM_ENTER();
    return sim_prof_span_end(SIM_SPAN_TENSORS, 0);
}

uint64_t aclprofStr2Id(const char *message)
{
    SIM_ENTER();
    if (message == NULL) {
        sim_refuse(ACL_ERROR_INVALID_PARAM, "message is NULL, expected a string");
        return UINT64_MAX;
    }
    return sim_prof_text_number(message);
}

/* ---- in streams ---- */

aclError aclprofMarkEx(const char *msg, size_t msgLen, aclrtStream stream)
{
    SIM_ENTER();
    SIM_TRY(check_message(msg, msgLen));
    SIM_ARGUMENT(stream != NULL, ACL_ERROR_INVALID_PARAM, "stream is NULL, expected a stream of aclrtCreateStream");
    return sim_prof_mark_stream(msg, msgLen, stream, SIM_SITE());
}

aclError aclrtProfTrace(void *userdata, int32_t length, aclrtStream stream)
{
    SIM_ENTER();
    SIM_NOT_NULL(userdata);
    SIM_CHECK(length > 0 && length <= TRACE_MOST, ACL_ERROR_RT_PARAM_INVALID, "length is %d, expected 1 to %d", length,
              TRACE_MOST);
    SIM_CHECK(sim_memory_is_host(userdata), ACL_ERROR_RT_PARAM_INVALID,
              "userdata is %p, which is device memory, expected host memory", userdata);
    return sim_prof_trace_stream(userdata, (size_t)length, stream, SIM_SITE());
}

/* ---- steps ---- */

aclprofStepInfo *aclprofCreateStepInfo(void)
{
    SIM_ENTER();
    return sim_prof_step_info_create();
}

void aclprofDestroyStepInfo(aclprofStepInfo *stepinfo)
{
    SIM_ENTER();
    if (stepinfo != NULL)
        sim_prof_step_info_destroy(stepinfo);
}

aclError aclprofGetStepTimestamp(aclprofStepInfo *stepInfo, aclprofStepTag tag, aclrtStream stream)
{
    SIM_ENTER();
    SIM_NOT_NULL(stepInfo);
    SIM_ARGUMENT((unsigned)tag <= ACL_STEP_END, ACL_ERROR_INVALID_PARAM,
                 "tag is %d, expected ACL_STEP_START (0) or ACL_STEP_END (1)", (int)tag);
    return sim_prof_step_info_tag(stepInfo, tag, stream, SIM_SITE());
}
