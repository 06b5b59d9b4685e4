/* Switches, time-outs and core limits of processes, contexts, devices, streams and threads. */

typedef enum aclSysParamOpt {
    ACL_OPT_DETERMINISTIC = 0,
    ACL_OPT_ENABLE_DEBUG_KERNEL = 1,
    ACL_OPT_STRONG_CONSISTENCY = 2,
    ACL_OPT_ENABLE_KERNEL_EARLY_START = 3,
} aclSysParamOpt;

typedef enum aclrtDevResLimitType {
    ACL_RT_DEV_RES_CUBE_CORE = 0,
    ACL_RT_DEV_RES_VECTOR_CORE = 1,
} aclrtDevResLimitType;

typedef enum aclrtDeviceLimit {
    ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE = 0,
    ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE = 1,
    ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE = 2,
    ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE = 3,
    ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE = 4,
} aclrtDeviceLimit;

/** Set a system switch for the process.
 *  rt.set_sys_param_opt(opt, value) -> ret */
ACL_API(8, 1) aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/** Read a system switch of the process.
 *  rt.get_sys_param_opt(opt) -> (value, ret) */
ACL_API(8, 1) aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value);

/** Set a system switch for the current context.
 *  rt.ctx_set_sys_param_opt(opt, value) -> ret */
ACL_API(8, 1) aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);

/** Read a system switch of the current context.
 *  rt.ctx_get_sys_param_opt(opt) -> (value, ret) */
ACL_API(8, 1) aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value);

/** Set how many seconds a stream may wait for an event (0: for ever).
 *  rt.set_op_wait_timeout(timeout) -> ret */
ACL_API(8, 1) aclError aclrtSetOpWaitTimeout(uint32_t timeout);

/** Set how many seconds an operator may take.
 *  rt.set_op_execute_time_out(timeout) -> ret */
ACL_API(8, 1) aclError aclrtSetOpExecuteTimeOut(uint32_t timeout);

/** Set how many milliseconds an operator may take. */
ACL_API(8, 1) aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout);

/** Set how many microseconds an operator may take, and return the effective value.
 *  rt.set_op_execute_timeout_v2(timeout) -> (actualTimeout, ret) */
ACL_API(8, 5) aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout);

/** The step, in microseconds, to which operator time-outs are rounded.
 *  rt.get_op_timeout_interval() -> (interval, ret) */
ACL_API(8, 5) aclError aclrtGetOpTimeOutInterval(uint64_t *interval);

/** Set one limit of the current device.
 *  rt.device_set_limit(limit, value) -> ret */
ACL_API(9, 2) aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value);

/** Read one limit of the current device.
 *  rt.device_get_limit(limit) -> (value, ret) */
ACL_API(9, 2) aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t *value);

/** Limit how many cores of a type work on a device may use.
 *  rt.set_device_res_limit(deviceId, type, value) -> ret */
ACL_API(8, 5) aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value);

/** Number of cores of a type that work on a device may use.
 *  rt.get_device_res_limit(deviceId, type) -> (value, ret) */
ACL_API(8, 5) aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t *value);

/** Remove the core limits of a device.
 *  rt.reset_device_res_limit(deviceId) -> ret */
ACL_API(8, 5) aclError aclrtResetDeviceResLimit(int32_t deviceId);

/** Limit how many cores of a type work on a stream may use.
 *  rt.set_stream_res_limit(stream, type, value) -> ret */
ACL_API(8, 5) aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value);

/** Number of cores of a type that work on a stream may use.
 *  rt.get_stream_res_limit(stream, type) -> (value, ret) */
ACL_API(8, 5) aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t *value);

/** Remove the core limits of a stream.
 *  rt.reset_stream_res_limit(stream) -> ret */
ACL_API(8, 5) aclError aclrtResetStreamResLimit(aclrtStream stream);

/** Apply the core limits of a stream to this thread.
 *  rt.use_stream_res_in_current_thread(stream) -> ret */
ACL_API(8, 5) aclError aclrtUseStreamResInCurrentThread(aclrtStream stream);

/** Stop applying the core limits of a stream to this thread.
 *  rt.unuse_stream_res_in_current_thread(stream) -> ret */
ACL_API(8, 5) aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream);

/** Number of cores of a type that work of this thread may use.
 *  rt.get_res_in_current_thread(type) -> (value, ret) */
ACL_API(8, 5) aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value);
