/* Entry points of shareable handles, through which processes share physical memory. */
#include "address/memory.h"
#include "address/vmm.h"
#include "base/config.h"
#include "engine/device.h"
#include "memory/vmm_share.h"

static aclError check_flags(uint64_t flags)
{
    SIM_CHECK(flags <= ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION, ACL_ERROR_RT_PARAM_INVALID,
              "flags is %#llx, expected 0, or ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION (1)",
              (unsigned long long)flags);
    return ACL_SUCCESS;
}

static aclError check_type(aclrtMemSharedHandleType type)
{
    SIM_CHECK(type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT || type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC,
              ACL_ERROR_RT_PARAM_INVALID,
              "shareType is %d, expected ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT (1) or _FABRIC (2)", (int)type);
    SIM_SUPPORTED(type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT || sim_config()->cf_soc->so_profile == SIM_PA3,
                  "shareType is ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, and %s shares no memory between servers",
                  sim_config()->cf_soc->so_name);
    return ACL_SUCCESS;
}

/* The shareable handle is written to, or read from, any address in host memory. */
static aclError check_host(const void *shareableHandle)
{
    SIM_NOT_NULL(shareableHandle);
    SIM_CHECK(sim_memory_is_host(shareableHandle), ACL_ERROR_RT_PARAM_INVALID,
              "shareableHandle is %p, an address that the host cannot reach, expected one of host memory",
              shareableHandle);
    return ACL_SUCCESS;
}

static aclError read_shared(const void *shareableHandle, aclrtMemSharedHandleType type, uint64_t *shared)
{
    SIM_TRY(check_type(type));
    if (type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC)
        return sim_vmm_read_fabric(shareableHandle, shared);
    *shared = *(const uint64_t *)shareableHandle;
    return ACL_SUCCESS;
}

static aclError check_pids(const int32_t *pid, size_t pidNum)
{
    SIM_NOT_NULL(pid);
    SIM_ARGUMENT(pidNum != 0, ACL_ERROR_INVALID_PARAM, "pidNum is 0, expected the length of pid");
    return ACL_SUCCESS;
}

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType, uint64_t flags,
                                         uint64_t *shareableHandle)
{
    SIM_ENTER();
    SIM_NOT_NULL(handle);
    SIM_NOT_NULL(shareableHandle);
    SIM_ARGUMENT(handleType == ACL_MEM_HANDLE_TYPE_NONE, ACL_ERROR_INVALID_PARAM,
                 "handleType is %d, expected ACL_MEM_HANDLE_TYPE_NONE (0)", (int)handleType);
    SIM_TRY(check_flags(flags));
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_export(handle, flags != 0, shareableHandle);
}

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags, aclrtMemSharedHandleType shareType,
                                           void *shareableHandle)
{
    SIM_ENTER();
    uint64_t shared;
    SIM_NOT_NULL(handle);
    SIM_TRY(check_host(shareableHandle));
    SIM_TRY(check_flags(flags));
    SIM_TRY(check_type(shareType));
    SIM_TRY(sim_vmm_supported());
    SIM_TRY(sim_vmm_export(handle, flags != 0, &shared));
    if (shareType == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC)
        sim_vmm_write_fabric(shared, shareableHandle);
    else
        *(uint64_t *)shareableHandle = shared;
    return ACL_SUCCESS;
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t *pid, size_t pidNum)
{
    SIM_ENTER();
    SIM_TRY(check_pids(pid, pidNum));
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_allow(shareableHandle, pid, pidNum);
}

aclError aclrtMemSetPidToShareableHandleV2(void *shareableHandle, aclrtMemSharedHandleType shareType, int32_t *pid,
                                           size_t pidNum)
{
    SIM_ENTER();
    uint64_t shared;
    SIM_TRY(check_host(shareableHandle));
    SIM_TRY(check_pids(pid, pidNum));
    SIM_TRY(read_shared(shareableHandle, shareType, &shared));
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_allow(shared, pid, pidNum);
}

aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId, aclrtDrvMemHandle *handle)
{
    SIM_ENTER();
    SIM_NOT_NULL(handle);
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_import(shareableHandle, deviceId, handle);
}

aclError aclrtMemImportFromShareableHandleV2(void *shareableHandle, aclrtMemSharedHandleType shareType, uint64_t flags,
                                             aclrtDrvMemHandle *handle)
{
    SIM_ENTER();
    uint64_t shared;
    struct sim_context *context;
    SIM_TRY(check_host(shareableHandle));
    SIM_NOT_NULL(handle);
    SIM_ARGUMENT(flags == 0, ACL_ERROR_INVALID_PARAM, "flags is %#llx, expected 0 (reserved)",
                 (unsigned long long)flags);
    SIM_TRY(read_shared(shareableHandle, shareType, &shared));
    SIM_TRY(sim_context_current(&context));
    SIM_TRY(sim_vmm_supported());
    return sim_vmm_import(shared, context->cx_device->dv_id, handle);
}
