/* Memory and events shared between processes. */

#define ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT 0x0U
#define ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1U
#define ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT 0x0U
#define ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS 0x1U
#define ACL_RT_VMM_EXPORT_FLAG_DEFAULT 0x0U
#define ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION 0x1U
#define ACL_IPC_EVENT_HANDLE_SIZE 64
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO 0
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS 1
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_ONE_PORT_PATH 2
#define ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH 3

typedef enum aclrtIpcMemAttrType {
    ACL_RT_IPC_MEM_ATTR_ACCESS_LINK = 0,
} aclrtIpcMemAttrType;

typedef enum aclrtMemSharedHandleType {
    ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT = 1,
    ACL_MEM_SHARE_HANDLE_TYPE_FABRIC = 2,
} aclrtMemSharedHandleType;

typedef struct aclrtMemFabricHandle {
    uint8_t data[128];
} aclrtMemFabricHandle;

typedef struct aclrtIpcEventHandle {
    char reserved[64];
} aclrtIpcEventHandle;

/** Create a number with which another process can open physical memory.
 *  rt.mem_export_to_shareable_handle(handle, handleType, flags) -> (shareableHandle, ret) */
ACL_API(8, 1) aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType,
    uint64_t flags, uint64_t *shareableHandle);

/** Create a handle of the chosen type with which other processes can open physical memory. */
ACL_API(8, 5) aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
    aclrtMemSharedHandleType shareType, void *shareableHandle);

/** Set the processes that may open exported physical memory.
 *  rt.mem_set_pid_to_shareable_handle(shareableHandle, pid:[int]#pidNum) -> ret */
ACL_API(8, 1) aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t *pid, size_t pidNum);

/** Set the processes that may open physical memory exported as a handle of the given type. */
ACL_API(8, 5) aclError aclrtMemSetPidToShareableHandleV2(void *shareableHandle, aclrtMemSharedHandleType shareType,
    int32_t *pid, size_t pidNum);

/** Open physical memory of another process with its number.
 *  rt.mem_import_from_shareable_handle(shareableHandle, deviceId) -> (handle, ret) */
ACL_API(8, 1) aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId,
    aclrtDrvMemHandle *handle);

/** Open physical memory of another process with a handle of the given type. */
ACL_API(8, 5) aclError aclrtMemImportFromShareableHandleV2(void *shareableHandle, aclrtMemSharedHandleType shareType,
    uint64_t flags, aclrtDrvMemHandle *handle);

/** The process id of this process on the host, outside a container.
 *  rt.device_get_bare_tgid() -> (pid, ret) */
ACL_API(8, 1) aclError aclrtDeviceGetBareTgid(int32_t *pid);

/** Create a key with which another process can open device memory.
 *  rt.ipc_mem_get_export_key(devPtr, size, len, flags) -> (key:str#len, ret) @py */
ACL_API(8, 5) aclError aclrtIpcMemGetExportKey(void *devPtr, size_t size, char *key, size_t len, uint64_t flags);

/** Set the processes that may open exported device memory.
 *  rt.ipc_mem_set_import_pid(key:str, pid:[int]#num) -> ret */
ACL_API(8, 5) aclError aclrtIpcMemSetImportPid(const char *key, int32_t *pid, size_t num);

/** Set the processes on other servers that may open exported device memory. */
ACL_API(8, 5) aclError aclrtIpcMemImportPidInterServer(const char *key, aclrtServerPid *serverPids, size_t num);

/** Set one attribute of exported device memory. */
ACL_API(8, 5) aclError aclrtIpcMemSetAttr(const char *key, aclrtIpcMemAttrType type, uint64_t attr);

/** Open device memory of another process with its key.
 *  rt.ipc_mem_import_by_key(key:str, flags) -> (devPtr, ret) */
ACL_API(8, 5) aclError aclrtIpcMemImportByKey(void **devPtr, const char *key, uint64_t flags);

/** Stop sharing device memory, on the side of the caller.
 *  rt.ipc_mem_close(key:str) -> ret */
ACL_API(8, 5) aclError aclrtIpcMemClose(const char *key);

/** Create a handle with which another process can open an event. */
ACL_API(8, 5) aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle *handle);

/** Open an event of another process with its handle. */
ACL_API(8, 5) aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent *event);
