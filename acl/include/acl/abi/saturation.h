/* Float overflow: saturating or not, and the flags that report it. */

typedef enum aclrtFloatOverflowMode {
    ACL_RT_OVERFLOW_MODE_SATURATION = 0,
    ACL_RT_OVERFLOW_MODE_INFNAN = 1,
    ACL_RT_OVERFLOW_MODE_UNDEF = 2,
} aclrtFloatOverflowMode;

/** Choose whether overflowing floats saturate or become infinite or NaN.
 *  rt.set_device_sat_mode(mode) -> ret */
ACL_API(8, 1) aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode);

/** Query whether overflowing floats saturate.
 *  rt.get_device_sat_mode() -> (mode, ret) */
ACL_API(8, 1) aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode);

/** Switch overflow detection for a stream.
 *  rt.set_stream_overflow_switch(stream, flag) -> ret */
ACL_API(8, 1) aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag);

/** Query whether overflow detection is on for a stream.
 *  rt.get_stream_overflow_switch(stream) -> (flag, ret) */
ACL_API(8, 1) aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag);

/** Write the overflow flag to device memory, in stream order.
 *  rt.get_overflow_status(outputAddr, outputSize, stream) -> ret */
ACL_API(8, 1) aclError aclrtGetOverflowStatus(void *outputAddr, size_t outputSize, aclrtStream stream);

/** Clear the overflow flag, in stream order.
 *  rt.reset_overflow_status(stream) -> ret */
ACL_API(8, 1) aclError aclrtResetOverflowStatus(aclrtStream stream);

/** Write the float overflow flags to device memory, in stream order. */
ACL_API(8, 5) aclError aclrtGetFloatOverflowStatus(void *outputAddr, uint64_t outputSize, aclrtStream stream);

/** Clear the float overflow flags, in stream order. */
ACL_API(8, 5) aclError aclrtResetFloatOverflowStatus(aclrtStream stream);

/** Clear the float overflow flags of the device, in stream order. */
ACL_API(8, 5) aclError aclrtNpuClearFloatOverFlowStatus(uint32_t checkMode, aclrtStream stream);

/** The device address of the current context's overflow flags. */
ACL_API(8, 5) aclError aclrtCtxGetFloatOverflowAddr(void **overflowAddr);
