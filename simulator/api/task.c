/* Entry points of single tasks: values, reductions, cache operations, random numbers, and notes attached to tasks. */
#include "address/memory.h"
#include "base/config.h"
#include "capture/capture.h"
#include "engine/context.h"
#include "engine/task_value.h"
#include "memory/task_system.h"

static const char *chip(void)
{
    return sim_config()->cf_soc->so_name;
}

static enum sim_profile profile(void)
{
    return sim_config()->cf_soc->so_profile;
}

/* ---- values ---- */

static aclError check_value(void *devAddr, aclrtStream stream)
{
    SIM_NOT_NULL(devAddr);
    SIM_TRY(sim_stream_check(stream));
    SIM_SUPPORTED(profile() <= SIM_PA2, "%s has no tasks that write or wait for values", chip());
    return ACL_SUCCESS;
}

aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    struct sim_task_value made;
    SIM_TRY(check_value(devAddr, stream));
    SIM_TRY(sim_task_value_make(devAddr, value, flag, 1, &made));
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_task_value_write(&made, target, SIM_SITE());
}

aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    struct sim_task_value made;
    SIM_TRY(check_value(devAddr, stream));
    SIM_TRY(sim_task_value_make(devAddr, value, flag, SIM_VALUE_FLAGS, &made));
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_task_value_wait(&made, target, SIM_SITE());
}

/* ---- reductions ---- */

aclError aclrtReduceAsync(void *dst, const void *src, uint64_t count, aclrtReduceKind kind, aclDataType type,
                          aclrtStream stream, void *reserve)
{
    SIM_ENTER();
    const struct sim_task_reduction reduction = {dst, src, count, kind, type};
    struct sim_target target;
    SIM_NOT_NULL(dst);
    SIM_NOT_NULL(src);
    SIM_ARGUMENT(reserve == NULL, ACL_ERROR_INVALID_PARAM, "reserve is %p, expected NULL: it is reserved", reserve);
    SIM_ARGUMENT(sim_task_reduce_knows(type), ACL_ERROR_INVALID_PARAM,
                 "type is %d, expected float32, float16, bfloat16 or an integer type of 4 to 32 bits", (int)type);
    SIM_TRY(sim_stream_check(stream));
    SIM_TRY(sim_task_reduce_check(&reduction));
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_task_reduce_queue(&reduction, target, SIM_SITE());
}

/* ---- cache operations ---- */

static aclError check_cmo_type(aclrtCmoType cmoType)
{
    SIM_SUPPORTED(profile() <= SIM_PA2, "%s has no cache operations", chip());
    SIM_CHECK((unsigned)cmoType <= ACL_RT_CMO_TYPE_FLUSH, ACL_ERROR_RT_PARAM_INVALID,
              "cmoType is %d, expected an aclrtCmoType from 0 (ACL_RT_CMO_TYPE_PREFETCH) to 3", (int)cmoType);
    SIM_SUPPORTED(cmoType == ACL_RT_CMO_TYPE_PREFETCH, "cmoType is %d, expected ACL_RT_CMO_TYPE_PREFETCH (0) on %s",
                  (int)cmoType, chip());
    return ACL_SUCCESS;
}

static aclError check_bytes(const void *src, size_t size)
{
    SIM_NOT_NULL(src);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected the size of src in bytes");
    return ACL_SUCCESS;
}

aclError aclrtCmoAsync(void *src, size_t size, aclrtCmoType cmoType, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(check_bytes(src, size));
    SIM_TRY(sim_stream_check(stream));
    SIM_TRY(check_cmo_type(cmoType));
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_task_cmo_queue(src, size, target, SIM_SITE());
}

aclError aclrtCmoGetDescSize(size_t *size)
{
    SIM_ENTER();
    struct sim_context *context;
    SIM_NOT_NULL(size);
    SIM_TRY(check_cmo_type(ACL_RT_CMO_TYPE_PREFETCH));
    SIM_TRY(sim_context_current(&context));
    *size = SIM_CMO_BYTES;
    return ACL_SUCCESS;
}

aclError aclrtCmoSetDesc(void *cmoDesc, void *src, size_t size)
{
    SIM_ENTER();
    struct sim_context *context;
    SIM_NOT_NULL(cmoDesc);
    SIM_TRY(check_bytes(src, size));
    SIM_TRY(check_cmo_type(ACL_RT_CMO_TYPE_PREFETCH));
    SIM_TRY(sim_context_current(&context));
    return sim_task_cmo_describe(cmoDesc, src, size);
}

aclError aclrtCmoAsyncWithDesc(void *cmoDesc, aclrtCmoType cmoType, aclrtStream stream, const void *reserve)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_NOT_NULL(cmoDesc);
    SIM_ARGUMENT(reserve == NULL, ACL_ERROR_INVALID_PARAM, "reserve is %p, expected NULL: it is reserved", reserve);
    SIM_TRY(sim_stream_check(stream));
    SIM_TRY(check_cmo_type(cmoType));
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_task_cmo_queue_described(cmoDesc, target, SIM_SITE());
}

/* Barriers exist on Atlas 200I/500 A2, for streams that are bound to a model running instance. The simulated chip has
 * no such instances, so every stream is refused. */
static aclError check_barrier_stream(aclrtStream stream)
{
    struct sim_target target;
    SIM_SUPPORTED(profile() == SIM_P310B, "%s has no barriers of cache operations", chip());
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_fail(ACL_ERROR_RT_STREAM_MODEL,
                    "stream is not bound to a model running instance, and %s does not support such instances", chip());
}

aclError aclrtCmoAsyncWithBarrier(void *src, size_t size, aclrtCmoType cmoType, uint32_t barrierId, aclrtStream stream)
{
    SIM_ENTER();
    SIM_TRY(check_bytes(src, size));
    SIM_TRY(sim_stream_check(stream));
    SIM_CHECK((unsigned)cmoType <= ACL_RT_CMO_TYPE_FLUSH, ACL_ERROR_RT_PARAM_INVALID,
              "cmoType is %d, expected an aclrtCmoType from 0 to 3", (int)cmoType);
    SIM_CHECK((barrierId != 0) == (cmoType == ACL_RT_CMO_TYPE_INVALID), ACL_ERROR_RT_PARAM_INVALID,
              "barrierId is %u with cmoType %d, expected a number above 0 with ACL_RT_CMO_TYPE_INVALID (2) and 0 "
              "otherwise",
              barrierId, (int)cmoType);
    return check_barrier_stream(stream);
}

aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo *taskInfo, aclrtStream stream, uint32_t flag)
{
    SIM_ENTER();
    SIM_NOT_NULL(taskInfo);
    SIM_TRY(sim_stream_check(stream));
    SIM_CHECK(flag == 0, ACL_ERROR_RT_PARAM_INVALID, "flag is %u, expected 0: it is reserved", flag);
    SIM_CHECK(taskInfo->barrierNum != 0 && taskInfo->barrierNum <= ACL_RT_CMO_MAX_BARRIER_NUM,
              ACL_ERROR_RT_PARAM_INVALID, "taskInfo->barrierNum is %zu, expected 1 to %d", taskInfo->barrierNum,
              ACL_RT_CMO_MAX_BARRIER_NUM);
    for (size_t i = 0; i < taskInfo->barrierNum; i++)
        SIM_CHECK(taskInfo->cmoInfo[i].cmoType == ACL_RT_CMO_TYPE_INVALID && taskInfo->cmoInfo[i].barrierId != 0,
                  ACL_ERROR_RT_PARAM_INVALID,
                  "taskInfo->cmoInfo[%zu] has cmoType %d and barrierId %u, expected 2 (ACL_RT_CMO_TYPE_INVALID) and a "
                  "number above 0",
                  i, (int)taskInfo->cmoInfo[i].cmoType, taskInfo->cmoInfo[i].barrierId);
    return check_barrier_stream(stream);
}

/* ---- random numbers ---- */

aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo *taskInfo, const aclrtStream stream, void *reserve)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_NOT_NULL(taskInfo);
    SIM_ARGUMENT(reserve == NULL, ACL_ERROR_INVALID_PARAM, "reserve is %p, expected NULL: it is reserved", reserve);
    SIM_ARGUMENT(taskInfo->randomResultAddr != NULL && taskInfo->randomCounterAddr != NULL, ACL_ERROR_INVALID_PARAM,
                 "taskInfo->randomResultAddr is %p and randomCounterAddr %p, expected device memory",
                 taskInfo->randomResultAddr, taskInfo->randomCounterAddr);
    SIM_TRY(sim_stream_check(stream));
    SIM_SUPPORTED(profile() == SIM_PA3 || profile() == SIM_PA2, "%s has no tasks that generate random numbers", chip());
    SIM_TRY(sim_task_random_check(taskInfo));
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_task_random_queue(taskInfo, target, SIM_SITE());
}

/* ---- recorded tasks ---- */

aclError aclrtTaskUpdateAsync(aclrtStream taskStream, uint32_t taskId, aclrtTaskUpdateInfo *info,
                              aclrtStream execStream)
{
    SIM_ENTER();
    struct sim_target recorded, target;
    SIM_NOT_NULL(taskStream);
    SIM_NOT_NULL(info);
    SIM_TRY(sim_stream_find(taskStream, &recorded));
    SIM_TRY(sim_stream_check(execStream));
    SIM_SUPPORTED(profile() != SIM_P310B && profile() != SIM_P910, "%s cannot update tasks", chip());
    SIM_CHECK(info->id == ACL_RT_UPDATE_RANDOM_TASK || info->id == ACL_RT_UPDATE_AIC_AIV_TASK,
              ACL_ERROR_RT_PARAM_INVALID, "info->id is %d, expected 1 (ACL_RT_UPDATE_RANDOM_TASK) or 2 "
              "(ACL_RT_UPDATE_AIC_AIV_TASK)", (int)info->id);
    SIM_SUPPORTED(info->id == ACL_RT_UPDATE_RANDOM_TASK,
                  "info->id is 2 (ACL_RT_UPDATE_AIC_AIV_TASK), expected aclmdlRITaskSetParams or "
                  "aclmdlRICaptureTaskUpdateBegin for kernels");
    SIM_SUPPORTED(profile() == SIM_PA3 || profile() == SIM_PA2, "%s has no tasks that generate random numbers", chip());
    SIM_CHECK(info->val.randomTaskAttr.size >= sizeof(aclrtRandomNumTaskInfo), ACL_ERROR_RT_PARAM_INVALID,
              "info->val.randomTaskAttr.size is %zu, expected the %zu bytes of an aclrtRandomNumTaskInfo",
              info->val.randomTaskAttr.size, sizeof(aclrtRandomNumTaskInfo));
    SIM_TRY(sim_stream_own(taskStream, &recorded));
    SIM_TRY(sim_stream_own(execStream, &target));
    return sim_task_random_update(recorded, taskId, info->val.randomTaskAttr.srcAddr, target, SIM_SITE());
}

#define INFO_BYTES (64u << 10)
#define TEXT_BYTES (4u << 10)

static aclError check_note(const void *bytes, size_t size, size_t most)
{
    struct sim_place place;
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "infoSize is 0, expected 1 to %zu", most);
    SIM_SUPPORTED(profile() != SIM_P310B && profile() != SIM_P910, "%s cannot attach information to tasks", chip());
    SIM_CHECK(size <= most, ACL_ERROR_RT_PARAM_INVALID, "infoSize is %zu, expected 1 to %zu", size, most);
    SIM_TRY(sim_memory_span(bytes, size, "the information", "infoSize", &place));
    SIM_CHECK(place.pl_class != SIM_MEMORY_DEVICE, ACL_ERROR_RT_PARAM_INVALID,
              "the information is at %p, which is %s, expected host memory", bytes, sim_memory_describe(&place));
    return ACL_SUCCESS;
}

aclError aclrtCacheLastTaskOpInfo(const void *const infoPtr, const size_t infoSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(infoPtr);
    SIM_TRY(check_note(infoPtr, infoSize, INFO_BYTES));
    return sim_capture_note(infoPtr, infoSize, false);
}

/* A text that is too long is truncated. */
aclError aclrtCacheLastTaskExtendInfo(const char *const extendInfoPtr, const size_t infoSize)
{
    SIM_ENTER();
    size_t kept = infoSize < TEXT_BYTES ? infoSize : TEXT_BYTES;
    SIM_NOT_NULL(extendInfoPtr);
    SIM_TRY(check_note(extendInfoPtr, kept, TEXT_BYTES));
    return sim_capture_note(extendInfoPtr, kept, true);
}
