/* Entry points of memory and events that processes share. Keys of notifies are in notify.c. */
#include "base/config.h"
#include "base/runtime.h"
#include "engine/event.h"
#include "memory/ipc.h"
#include <string.h>

aclError aclrtDeviceGetBareTgid(int32_t *pid)
{
    SIM_ENTER();
    SIM_NOT_NULL(pid);
    *pid = getpid();
    return ACL_SUCCESS;
}

aclError aclrtIpcMemGetExportKey(void *devPtr, size_t size, char *key, size_t len, uint64_t flags)
{
    SIM_ENTER();
    SIM_NOT_NULL(devPtr);
    SIM_NOT_NULL(key);
    SIM_TRY(sim_ipc_supported());
    SIM_CHECK(size != 0, ACL_ERROR_RT_PARAM_INVALID, "size is 0, expected at least 1");
    SIM_CHECK(len >= SIM_EXCHANGE_KEY, ACL_ERROR_RT_PARAM_INVALID, "len is %zu, expected %d, the size of a key in "
              "bytes", len,
              SIM_EXCHANGE_KEY);
    SIM_CHECK(flags <= ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION, ACL_ERROR_RT_PARAM_INVALID,
              "flags is %#llx, expected 0 or ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION (1)",
              (unsigned long long)flags);
    SIM_TRY(sim_runtime_pass());
    return sim_ipc_export(devPtr, size, flags != 0, key);
}

aclError aclrtIpcMemSetImportPid(const char *key, int32_t *pid, size_t num)
{
    SIM_ENTER();
    SIM_NOT_NULL(key);
    SIM_NOT_NULL(pid);
    SIM_TRY(sim_ipc_supported());
    SIM_TRY(sim_ipc_check_own(key));
    SIM_TRY(sim_exchange_check_pids(pid, num));
    return sim_ipc_allow(key, pid, num);
}

static aclError check_servers(void)
{
    SIM_SUPPORTED(sim_config()->cf_soc->so_profile == SIM_PA3, "%s does not work across several servers",
                  sim_config()->cf_soc->so_name);
    return ACL_SUCCESS;
}

/* Every server is this machine, so the processes of all servers in the list are allowed. */
aclError aclrtIpcMemImportPidInterServer(const char *key, aclrtServerPid *serverPids, size_t num)
{
    SIM_ENTER();
    SIM_TRY(check_servers());
    SIM_CHECK(key != NULL, ACL_ERROR_RT_PARAM_INVALID, "key is NULL, expected a key of aclrtIpcMemGetExportKey");
    SIM_TRY(sim_exchange_check_servers(serverPids, num));
    SIM_TRY(sim_ipc_check_own(key));
    for (size_t i = 0; i < num; i++)
        SIM_TRY(sim_ipc_allow(key, serverPids[i].pid, serverPids[i].num));
    return ACL_SUCCESS;
}

/* The link between devices is a hint, which has no effect here: shared memory is mapped, not transferred. */
aclError aclrtIpcMemSetAttr(const char *key, aclrtIpcMemAttrType type, uint64_t attr)
{
    SIM_ENTER();
    SIM_TRY(check_servers());
    SIM_CHECK(key != NULL, ACL_ERROR_RT_PARAM_INVALID, "key is NULL, expected a key of aclrtIpcMemGetExportKey");
    SIM_CHECK(type == ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, ACL_ERROR_RT_PARAM_INVALID,
              "type is %d, expected ACL_RT_IPC_MEM_ATTR_ACCESS_LINK (0)", (int)type);
    SIM_CHECK(attr <= ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH, ACL_ERROR_RT_PARAM_INVALID,
              "attr is %llu, expected ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO (0) or _HCCS (1)", (unsigned long long)attr);
    SIM_CHECK(attr <= ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS, ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED,
              "attr is %llu, a link of another chip, expected ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO (0) or _HCCS (1)",
              (unsigned long long)attr);
    return sim_ipc_check_own(key);
}

aclError aclrtIpcMemImportByKey(void **devPtr, const char *key, uint64_t flags)
{
    SIM_ENTER();
    SIM_NOT_NULL(devPtr);
    SIM_NOT_NULL(key);
    SIM_TRY(sim_ipc_supported());
    SIM_CHECK(flags <= ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS, ACL_ERROR_RT_PARAM_INVALID,
              "flags is %#llx, expected 0 or ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS (1)",
              (unsigned long long)flags);
    return sim_ipc_import(key, flags != 0, devPtr);
}

aclError aclrtIpcMemClose(const char *key)
{
    SIM_ENTER();
    SIM_NOT_NULL(key);
    SIM_TRY(sim_ipc_supported());
    SIM_TRY(sim_runtime_pass());
    return sim_ipc_close(key, SIM_SITE());
}

/* ---- events ---- */

aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle *handle)
{
    SIM_ENTER();
    SIM_NOT_NULL(event);
    SIM_NOT_NULL(handle);
    struct sim_event *found;
    SIM_TRY(sim_event_find(event, &found));
    SIM_CHECK(found->ev_class == SIM_EVENT_IPC, ACL_ERROR_RT_PARAM_INVALID,
              "event was not created with ACL_EVENT_IPC, expected one of aclrtCreateEventExWithFlag with that flag");
    uint64_t id = found->ev_id;
    SIM_CHECK(id != 0, ACL_ERROR_RT_PARAM_INVALID,
              "event was opened by aclrtIpcOpenEventHandle, expected one that this process made");
    *handle = (aclrtIpcEventHandle){{0}};
    memcpy(handle->reserved, &id, sizeof id);
    return ACL_SUCCESS;
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent *event)
{
    SIM_ENTER();
    uint64_t id;
    SIM_NOT_NULL(event);
    SIM_TRY(sim_event_share_supported());
    memcpy(&id, handle.reserved, sizeof id);
    SIM_CHECK(id != 0, ACL_ERROR_RT_INVALID_HANDLE, "handle is all zeros, expected one of aclrtIpcGetEventHandle");
    return sim_event_share_create(id, event);
}
