/* Entry points of peer access. If the chip has peer access, every simulated device reaches every other one. */
#include "address/peer.h"
#include "address/memory.h"
#include "engine/device.h"
#include "engine/query.h"

static aclError check_pair(int32_t device, int32_t peer)
{
    SIM_ARGUMENT(device != peer, ACL_ERROR_INVALID_PARAM, "peerDeviceId is %d, which is the device itself, expected "
                 "another one", peer);
    return sim_peer_supported();
}

aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId)
{
    SIM_ENTER();
    SIM_TRY(check_pair(deviceId, peerDeviceId));
    SIM_CHECK(canAccessPeer != NULL, ACL_ERROR_RT_PARAM_INVALID, "canAccessPeer is NULL, expected a valid pointer");
    struct sim_device *device, *peer;
    SIM_TRY(sim_device_find(deviceId, &device));
    SIM_TRY(sim_device_find(peerDeviceId, &peer));
    *canAccessPeer = 1;
    return ACL_SUCCESS;
}

static aclError change(int32_t peerDeviceId, bool enabled)
{
    struct sim_context *context;
    struct sim_device *peer;
    SIM_TRY(sim_context_current(&context));
    int32_t device = context->cx_device->dv_id;
    SIM_TRY(check_pair(device, peerDeviceId));
    SIM_TRY(sim_device_find(peerDeviceId, &peer));
    sim_peer_set(device, peerDeviceId, enabled);
    return ACL_SUCCESS;
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags)
{
    SIM_ENTER();
    SIM_ARGUMENT(flags == 0, ACL_ERROR_FEATURE_UNSUPPORTED, "flags is %u, expected 0: it is reserved", flags);
    return change(peerDeviceId, true);
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId)
{
    SIM_ENTER();
    return change(peerDeviceId, false);
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status)
{
    SIM_ENTER();
    SIM_NOT_NULL(status);
    SIM_CHECK(deviceId >= 0 && deviceId < SIM_DEVICE_IDS, ACL_ERROR_RT_PARAM_INVALID,
              "deviceId is %d, expected 0 to %d", deviceId, SIM_DEVICE_IDS - 1);
    SIM_CHECK(peerDeviceId >= 0 && peerDeviceId < SIM_DEVICE_IDS, ACL_ERROR_RT_PARAM_INVALID,
              "peerDeviceId is %d, expected 0 to %d", peerDeviceId, SIM_DEVICE_IDS - 1);
    *status = sim_peer_is_enabled(deviceId, peerDeviceId);
    return ACL_SUCCESS;
}

aclError aclrtDeviceGetP2PAtomicCapabilities(uint32_t *capabilities, const aclrtAtomicOperation *operations,
                                             const uint32_t count, int32_t srcDeviceId, int32_t dstDeviceId)
{
    SIM_ENTER();
    struct sim_device *src, *dst;
    SIM_TRY(sim_peer_supported());
    SIM_TRY(sim_device_find(srcDeviceId, &src));
    SIM_TRY(sim_device_find(dstDeviceId, &dst));
    return sim_query_atomics(capabilities, operations, count);
}

/* A peer needs no mapping for memory that it may access, so there is nothing to prepare. */
aclError aclrtMemP2PMap(void *devPtr, size_t size, int32_t dstDevId, uint64_t flags)
{
    SIM_ENTER();
    SIM_NOT_NULL(devPtr);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected at least 1");
    SIM_ARGUMENT(flags == 0, ACL_ERROR_INVALID_PARAM, "flags is %#llx, expected 0: it is reserved",
                 (unsigned long long)flags);
    SIM_TRY(sim_peer_supported());
    struct sim_device *peer;
    struct sim_place place;
    SIM_TRY(sim_device_find(dstDevId, &peer));
    SIM_TRY(sim_memory_span(devPtr, size, "devPtr", "size", &place));
    SIM_CHECK(place.pl_class == SIM_MEMORY_DEVICE, ACL_ERROR_RT_PARAM_INVALID,
              "devPtr is %p, %s, expected device memory", devPtr, sim_memory_describe(&place));
    SIM_CHECK(dstDevId != place.pl_block.bk_device && sim_peer_reaches(dstDevId, place.pl_block.bk_device),
              ACL_ERROR_RT_PARAM_INVALID,
              "dstDevId is %d and devPtr lies on device %d, expected another device that has access to it "
              "(aclrtDeviceEnablePeerAccess)", dstDevId, place.pl_block.bk_device);
    return ACL_SUCCESS;
}
