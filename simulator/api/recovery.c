/* Entry points of faults and their repair. Simulated hardware has no faults, so there is nothing to report or repair;
 * aborting work is real. */
#include "engine/recovery.h"
#include "base/config.h"

#define ABORT_MS_MAX (36 * 60 * 1000)

static aclError check_supported(void)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    SIM_SUPPORTED(soc->so_profile <= SIM_PA2, "the %s can neither abort work nor repair faults", soc->so_name);
    return ACL_SUCCESS;
}

/* ---- reports and repair ---- */

aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize, size_t *retSize)
{
    SIM_ENTER();
    (void)arraySize; /* there are no faults to report, so any size is enough */
    SIM_NOT_NULL(memUceInfoArray);
    SIM_NOT_NULL(retSize);
    SIM_TRY(check_supported());
    struct sim_device *device;
    SIM_TRY(sim_device_find(deviceId, &device));
    *retSize = 0;
    return ACL_SUCCESS;
}

static aclError check_reserved(const aclrtMemUceInfo *info, size_t index)
{
    for (size_t i = 0; i < UCE_INFO_RESERVED_SIZE; i++)
        SIM_ARGUMENT(info->reserved[i] == 0, ACL_ERROR_INVALID_PARAM,
                     "memUceInfoArray[%zu].reserved[%zu] is %zu, expected 0", index, i, info->reserved[i]);
    return ACL_SUCCESS;
}

aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize)
{
    SIM_ENTER();
    SIM_NOT_NULL(memUceInfoArray);
    SIM_ARGUMENT(arraySize <= MAX_MEM_UCE_INFO_ARRAY_SIZE, ACL_ERROR_INVALID_PARAM,
                 "arraySize is %zu, expected at most %d", arraySize, MAX_MEM_UCE_INFO_ARRAY_SIZE);
    for (size_t i = 0; i < arraySize; i++)
        SIM_TRY(check_reserved(&memUceInfoArray[i], i));
    SIM_TRY(check_supported());
    struct sim_device *device;
    SIM_TRY(sim_device_find(deviceId, &device));
    SIM_CHECK(arraySize == 0, ACL_ERROR_RT_PARAM_INVALID,
              "memUceInfoArray[0].addr is %p, where device %d has no fault that aclrtGetMemUceInfo reported",
              memUceInfoArray[0].addr, deviceId);
    return ACL_SUCCESS;
}

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo *errorInfo)
{
    SIM_ENTER();
    SIM_NOT_NULL(errorInfo);
    SIM_TRY(check_supported());
    struct sim_device *device;
    SIM_TRY(sim_device_find(deviceId, &device));
    *errorInfo = (aclrtErrorInfo){.errorType = ACL_RT_NO_ERROR};
    return ACL_SUCCESS;
}

aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo *errorInfo)
{
    SIM_ENTER();
    SIM_NOT_NULL(errorInfo);
    SIM_TRY(check_supported());
    struct sim_device *device;
    SIM_TRY(sim_device_find(deviceId, &device));
    SIM_CHECK(errorInfo->errorType == ACL_RT_NO_ERROR, ACL_ERROR_RT_PARAM_INVALID,
              "errorInfo->errorType is %d, and device %d has no such error, expected the error that "
              "aclrtGetErrorVerbose reported",
              (int)errorInfo->errorType, deviceId);
    return ACL_SUCCESS;
}

/* The simulator has no collective work, so there is nothing to recover. */
aclError aclRecoverAllHcclTasks(int32_t deviceId)
{
    SIM_ENTER();
    const struct sim_soc *soc = sim_config()->cf_soc;
    SIM_SUPPORTED(soc->so_profile == SIM_P950, "the %s cannot recover collective communication", soc->so_name);
    struct sim_device *device;
    return sim_device_find(deviceId, &device);
}

/* ---- aborting ---- */

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout)
{
    SIM_ENTER();
    SIM_TRY(check_supported());
    struct sim_device *device;
    SIM_TRY(sim_device_find(deviceId, &device));
    SIM_CHECK(timeout <= ABORT_MS_MAX, ACL_ERROR_RT_PARAM_INVALID,
              "timeout is %u, expected 0 (no limit) or at most %d milliseconds", timeout, ABORT_MS_MAX);
    return sim_recovery_abort_device(device, timeout);
}

static aclError check_kind(const struct sim_stream *stream)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    uint32_t flags = atomic_load_explicit(&stream->st_flags, memory_order_relaxed);
    SIM_CHECK(sim_stream_kind(stream) != SIM_STREAM_INSTANCE && sim_stream_taken(stream) != SIM_TAKEN_BOUND,
              ACL_ERROR_RT_INTERNAL_ERROR,
              "stream %u belongs to a model running instance, expected a stream outside of any instance",
              stream->st_slot.sl_index);
    SIM_SUPPORTED(!(flags & ACL_STREAM_DEVICE_USE_ONLY), "stream %u is a device-only stream", stream->st_slot.sl_index);
    SIM_SUPPORTED(!(flags & ACL_STREAM_PERSISTENT) || soc->so_profile != SIM_P950,
                  "stream %u is persistent, and the %s cannot abort its tasks", stream->st_slot.sl_index,
                  soc->so_name);
    return ACL_SUCCESS;
}

aclError aclrtStreamAbort(aclrtStream stream)
{
    SIM_ENTER();
    SIM_TRY(check_supported());
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    const struct sim_context *context = atomic_load_explicit(&target.tg_stream->st_context, memory_order_relaxed);
    if (atomic_load(&context->cx_device->dv_aborting))
        return ACL_SUCCESS; /* its work is being aborted already */
    SIM_TRY(check_kind(target.tg_stream));
    SIM_TRY(sim_stream_to_clean(stream, &target));
    SIM_TRY(sim_stream_refuse_captured(target.tg_stream));
    return sim_recovery_abort_stream(target);
}
