/* Entry points of capture and model running instances: inspecting them, changing their tasks, and adding conditions. */
#include "capture/capture.h"

#define NOT_NULL_LATE(pointer)                                                                                         \
    SIM_CHECK((pointer) != NULL, ACL_ERROR_RT_PARAM_INVALID, "%s is NULL, expected a valid pointer", #pointer)

aclError aclmdlRISetName(aclmdlRI modelRI, const char *name)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelRI);
    SIM_NOT_NULL(name);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_set_name(modelRI, name);
}

aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char *name)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelRI);
    SIM_NOT_NULL(name);
    SIM_TRY(sim_capture_check_chip());
    SIM_CHECK(maxLen != 0, ACL_ERROR_RT_PARAM_INVALID, "maxLen is 0, expected the size of name in bytes");
    return sim_capture_get_name(modelRI, maxLen, name);
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t *modelRIId)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelRI);
    SIM_NOT_NULL(modelRIId);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_get_id(modelRI, modelRIId);
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelRI);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_print(modelRI);
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path, uint32_t flags)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelRI);
    SIM_NOT_NULL(path);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_print_json(modelRI, path, (flags & ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE) != 0);
}

aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream *streams, uint32_t *numStreams)
{
    SIM_ENTER();
    NOT_NULL_LATE(modelRI);
    NOT_NULL_LATE(numStreams);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_get_streams(modelRI, streams, numStreams);
}

aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask *tasks, uint32_t *numTasks)
{
    SIM_ENTER();
    NOT_NULL_LATE(stream);
    NOT_NULL_LATE(numTasks);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_get_tasks(stream, tasks, numTasks);
}

aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType *type)
{
    SIM_ENTER();
    NOT_NULL_LATE(task);
    NOT_NULL_LATE(type);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_task_type(task, type);
}

aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t *id)
{
    SIM_ENTER();
    NOT_NULL_LATE(task);
    NOT_NULL_LATE(id);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_task_number(task, id);
}

aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams *params)
{
    SIM_ENTER();
    NOT_NULL_LATE(task);
    NOT_NULL_LATE(params);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_task_get(task, params);
}

aclError aclmdlRIKernelTaskGetAttribute(aclmdlRITask task, aclrtLaunchKernelAttrId attrId,
                                        aclrtLaunchKernelAttrValue *attrValue)
{
    SIM_ENTER();
    NOT_NULL_LATE(task);
    NOT_NULL_LATE(attrValue);
    SIM_CHECK(attrId >= ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE && attrId <= ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING,
              ACL_ERROR_RT_PARAM_INVALID, "attrId is %d, expected an aclrtLaunchKernelAttrId", (int)attrId);
    return sim_capture_task_attribute(task, attrId, attrValue);
}

aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams *params)
{
    SIM_ENTER();
    NOT_NULL_LATE(task);
    NOT_NULL_LATE(params);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_task_set(task, params);
}

aclError aclmdlRITaskDisable(aclmdlRITask task)
{
    SIM_ENTER();
    NOT_NULL_LATE(task);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_task_disable(task);
}

aclError aclmdlRIUpdate(aclmdlRI modelRI)
{
    SIM_ENTER();
    NOT_NULL_LATE(modelRI);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_update(modelRI);
}

/* ---- conditions ---- */

aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue, aclmdlRICondHandleFlag flag,
                                  aclmdlRICondHandle *handle)
{
    SIM_ENTER();
    SIM_NOT_NULL(modelRI);
    SIM_NOT_NULL(handle);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_condition_create(modelRI, defaultLaunchValue, (uint32_t)flag, handle);
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t **ptr)
{
    SIM_ENTER();
    SIM_NOT_NULL(handle);
    SIM_NOT_NULL(ptr);
    SIM_TRY(sim_capture_check_chip());
    return sim_capture_condition_address(handle, ptr);
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags)
{
    SIM_ENTER();
    SIM_NOT_NULL(stream);
    SIM_TRY(sim_capture_check_chip());
    SIM_CHECK((unsigned)params.type <= ACL_MODEL_RI_COND_TYPE_SWITCH, ACL_ERROR_RT_PARAM_INVALID,
              "params.type is %u, expected 0 (IF), 1 (WHILE) or 2 (SWITCH)", (unsigned)params.type);
    SIM_CHECK(flags == 0, ACL_ERROR_RT_PARAM_INVALID, "flags is %u, expected 0: it is reserved", flags);
    SIM_CHECK(params.handle != NULL, ACL_ERROR_RT_PARAM_INVALID, "params.handle is NULL, expected a condition");
    SIM_CHECK(params.modelRIArray != NULL, ACL_ERROR_RT_PARAM_INVALID,
              "params.modelRIArray is NULL, expected room for the bodies");
    struct sim_target target;
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_capture_condition_add(&params, target, SIM_SITE());
}
