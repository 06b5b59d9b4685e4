/* Access of one device to the memory of another: one word per device, with one bit for each peer that it may access.
 * The words are atomic and there is no lock: a copy that runs during a change may see either state. Access ends with
 * the last reset of either device. */
#include "peer.h"
#include "base/config.h"

static _Atomic uint32_t peers[SIM_DEVICES_MAX];
_Static_assert(SIM_DEVICES_MAX <= 32, "a bit for each peer");

aclError sim_peer_supported(void)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    SIM_SUPPORTED(soc->so_profile != SIM_P310B, "devices of the %s cannot access one another's memory", soc->so_name);
    return ACL_SUCCESS;
}

bool sim_peer_is_enabled(int32_t device, int32_t peer)
{
    if (device < 0 || device >= SIM_DEVICES_MAX || peer < 0 || peer >= SIM_DEVICES_MAX)
        return false;
    return (atomic_load_explicit(&peers[device], memory_order_acquire) >> peer & 1) != 0;
}

void sim_peer_set(int32_t device, int32_t peer, bool enabled)
{
    if (enabled)
        atomic_fetch_or(&peers[device], UINT32_C(1) << peer);
    else
        atomic_fetch_and(&peers[device], ~(UINT32_C(1) << peer));
}

bool sim_peer_reaches(int32_t device, int32_t owner)
{
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    return device == owner || profile == SIM_PA3 || profile == SIM_P310B || sim_peer_is_enabled(device, owner);
}

void sim_peer_forget(int32_t device)
{
    atomic_store(&peers[device], 0);
    for (int32_t other = 0; other < SIM_DEVICES_MAX; other++)
        sim_peer_set(other, device, false);
}
