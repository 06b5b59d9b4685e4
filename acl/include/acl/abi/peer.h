/* Access of one device to the memory of another. */

/** Query whether a device can access the memory of another.
 *  rt.device_can_access_peer(deviceId, peerDeviceId) -> (canAccessPeer, ret) */
ACL_API(8, 1) aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId);

/** Let the current device access the memory of a peer.
 *  rt.device_enable_peer_access(peerDeviceId, flags) -> ret */
ACL_API(8, 1) aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags);

/** End the current device's access to the memory of a peer.
 *  rt.device_disable_peer_access(peerDeviceId) -> ret */
ACL_API(8, 1) aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId);

/** Query whether access between two devices is enabled.
 *  rt.device_peer_access_status(deviceId, peerDeviceId) -> (status, ret) */
ACL_API(8, 5) aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status);

/** The atomic operations that a device can do on the memory of another. */
ACL_API(9, 1) aclError aclrtDeviceGetP2PAtomicCapabilities(uint32_t *capabilities,
    const aclrtAtomicOperation *operations, const uint32_t count, int32_t srcDeviceId, int32_t dstDeviceId);

/** Map a range of device memory for a peer beforehand. */
ACL_API(9, 0) aclError aclrtMemP2PMap(void *devPtr, size_t size, int32_t dstDevId, uint64_t flags);
