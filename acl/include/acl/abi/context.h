/* Contexts: the owners of streams and events on a device, and the current context of each thread. */

/** Create a context on a device and make it the thread's current one.
 *  rt.create_context(deviceId) -> (context, ret) */
ACL_API(8, 1) aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId);

/** Destroy a context that aclrtCreateContext created.
 *  rt.destroy_context(context) -> ret */
ACL_API(8, 1) aclError aclrtDestroyContext(aclrtContext context);

/** Make a context, and with it its device, current for this thread.
 *  rt.set_context(context) -> ret */
ACL_API(8, 1) aclError aclrtSetCurrentContext(aclrtContext context);

/** The context that is current for this thread.
 *  rt.get_context() -> (context, ret) */
ACL_API(8, 1) aclError aclrtGetCurrentContext(aclrtContext *context);

/** Query whether the primary context of a device is alive.
 *  rt.get_primary_ctx_state(deviceId, flags=NULL) -> (active, 0, ret) */
ACL_API(8, 5) aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags, int32_t *active);
