/* Physical memory that processes share. The exchange (share/exchange.h) decides which processes may import it, and
 * passes the file that holds its pages; for device memory that is the exporter's device zone.
 *
 * The exporter owns the pages. They must not be allocated again while another process uses them, even after the
 * exporter has freed the memory. So the importer opens the file anew, locks the bytes with a file lock, and then asks
 * again whether the memory still exists; the exporter first withdraws the memory and then looks whether the bytes are
 * locked. At least one of the two sees the other. The system ends the file lock when the importer exits. Pages that are
 * still locked wait in a list, which is checked whenever memory is allocated. When the device is reset, its heap is
 * closed and opened again without them.
 *
 * sim_vmm_lock (address/vmm.c) guards the memory, including the number in ph_shared. */
#include "vmm_share.h"
#include "address/memory.h"
#include "address/peer.h"
#include "address/vmm_inner.h"
#include "base/config.h"
#include "base/watcher.h"
#include "engine/device.h"
#include "share/exchange.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME "shareableHandle"
#define PUBLISHING UINT64_MAX /* value of ph_shared while another thread exports the memory */

/* The first bytes of a handle for other servers; the number follows, and the rest is 0. */
static const char fabric_mark[8] = "aclsimFH";

static int lock_bytes(int file, short type, uint64_t offset, uint64_t size)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)offset, .l_len = (off_t)size};
    return fcntl(file, F_OFD_SETLK, &lock);
}

static bool is_wanted(const struct sim_physical *memory)
{
    if (lock_bytes(memory->ph_file, F_WRLCK, memory->ph_pages.ex_offset, memory->ph_pages.ex_size) != 0)
        return true;
    (void)lock_bytes(memory->ph_file, F_UNLCK, memory->ph_pages.ex_offset, memory->ph_pages.ex_size);
    return false;
}

static void withdraw(const struct sim_physical *memory)
{
    (void)sim_exchange_withdraw(SIM_EXCHANGE_PHYSICAL, memory->ph_shared, NAME);
}

static const struct sim_sharer sharer = {.sh_is_wanted = is_wanted, .sh_withdraw = withdraw};

/* ---- exporting ---- */

static aclError may_export(const struct sim_physical *memory)
{
    SIM_SUPPORTED(memory->ph_kind.mk_device >= 0, "handle is memory of the host, expected memory of a device");
    SIM_CHECK(memory->ph_imported == 0, ACL_ERROR_RT_PARAM_INVALID,
              "handle was imported, expected memory that this process made");
    SIM_CHECK(memory->ph_shared == 0, ACL_ERROR_RT_PARAM_INVALID,
              "handle was exported already, expected the first export");
    return ACL_SUCCESS;
}

/* The device number that other processes know. */
static int32_t outer_number(int32_t device)
{
    return sim_config()->cf_visible[device];
}

aclError sim_vmm_export(aclrtDrvMemHandle handle, bool to_all, uint64_t *shared)
{
    SIM_TRY(sim_runtime_pass());
    sim_lock(&sim_vmm_lock);
    struct sim_physical *memory = sim_vmm_physical_find(handle);
    aclError code = memory != NULL ? may_export(memory) : sim_vmm_physical_refuse(handle);
    struct sim_offer offer = {.of_kind = SIM_EXCHANGE_PHYSICAL};
    if (code == ACL_SUCCESS) {
        memory->ph_sharer = &sharer;
        memory->ph_shared = PUBLISHING;
        memory->ph_maps++; /* keeps the memory meanwhile */
        if (sim_watcher_any() && memory->ph_birth != 0)
            sim_watcher_expose(memory->ph_birth);
        offer.of_device = outer_number(memory->ph_kind.mk_device);
        offer.of_file = memory->ph_file;
        offer.of_offset = memory->ph_pages.ex_offset;
        offer.of_size = memory->ph_pages.ex_size;
        offer.of_extra[0] = memory->ph_kind.mk_page;
        offer.of_extra[1] = memory->ph_kind.mk_attr;
    }
    sim_unlock(&sim_vmm_lock);
    if (code != ACL_SUCCESS)
        return code;
    uint64_t id = 0;
    code = sim_exchange_publish(&offer, to_all, &id);
    sim_lock(&sim_vmm_lock);
    memory->ph_shared = id;
    sim_vmm_physical_drop_map(memory);
    sim_unlock(&sim_vmm_lock);
    *shared = id;
    return code;
}

aclError sim_vmm_allow(uint64_t shared, const int32_t *pids, size_t count)
{
    SIM_TRY(sim_runtime_pass());
    SIM_TRY(sim_exchange_check_pids(pids, count));
    return sim_exchange_allow(SIM_EXCHANGE_PHYSICAL, shared, NAME, pids, count);
}

/* ---- importing ---- */

static aclError check_offer(const struct sim_offer *offer, const struct sim_memory_kind *kind)
{
    uint64_t unit = offer->of_extra[0] <= SIM_PAGE_GIANT ? sim_vmm_granularity(kind) : 0;
    SIM_CHECK(unit != 0 && offer->of_size != 0 && offer->of_size % unit == 0 && offer->of_offset % unit == 0,
              ACL_ERROR_RT_IPC_ERROR,
              NAME " names %" PRIu64 " bytes at %" PRIu64 " of a file, which are not whole pages", offer->of_size,
              offer->of_offset);
    return ACL_SUCCESS;
}

static aclError check_devices(int32_t device, int32_t outer)
{
    int32_t owner = 0, count = (int32_t)sim_config_devices();
    while (owner < count && outer_number(owner) != outer)
        owner++;
    SIM_CHECK(sim_peer_reaches(device, owner < count ? owner : -1), ACL_ERROR_RT_PARAM_INVALID,
              "deviceId is %d and " NAME " is memory of device %d, expected that device, or one that has access to it "
              "(aclrtDeviceEnablePeerAccess)", device, owner < count ? owner : outer);
    return ACL_SUCCESS;
}

/* Opens the file anew, so that the file lock belongs to this process, and locks the bytes; returns -1 on failure. */
static int open_locked(const struct sim_offer *offer)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", offer->of_file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && lock_bytes(file, F_RDLCK, offer->of_offset, offer->of_size) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

static aclError import_file(uint64_t shared, struct sim_offer *offer, int *file)
{
    struct sim_offer again;
    SIM_TRY(sim_exchange_import(SIM_EXCHANGE_PHYSICAL, shared, NAME, offer));
    *file = open_locked(offer);
    close(offer->of_file);
    SIM_CHECK(*file >= 0, ACL_ERROR_RT_IPC_ERROR, NAME " (%#" PRIx64 ") names memory that the system cannot open "
              "(ulimit -n, /proc)", shared);
    aclError code = sim_exchange_import(SIM_EXCHANGE_PHYSICAL, shared, NAME, &again);
    if (code == ACL_SUCCESS)
        close(again.of_file);
    else
        close(*file);
    return code;
}

aclError sim_vmm_import(uint64_t shared, int32_t device, aclrtDrvMemHandle *handle)
{
    struct sim_device *found;
    struct sim_offer offer;
    int file;
    SIM_TRY(sim_runtime_pass());
    SIM_TRY(sim_device_find(device, &found));
    SIM_TRY(import_file(shared, &offer, &file));
    struct sim_memory_kind kind = {device, (enum sim_page)offer.of_extra[0], (aclrtMemAttr)offer.of_extra[1]};
    aclError code = check_offer(&offer, &kind);
    if (code == ACL_SUCCESS)
        code = check_devices(device, offer.of_device);
    if (code == ACL_SUCCESS)
        code = sim_vmm_physical_adopt(&kind, (struct sim_extent){NULL, offer.of_offset, offer.of_size}, shared, file,
                                      handle);
    if (code != ACL_SUCCESS)
        close(file);
    return code;
}

/* ---- handles for other servers ---- */

void sim_vmm_write_fabric(uint64_t shared, aclrtMemFabricHandle *handle)
{
    memset(handle, 0, sizeof *handle);
    memcpy(handle->data, fabric_mark, sizeof fabric_mark);
    memcpy(handle->data + sizeof fabric_mark, &shared, sizeof shared);
}

aclError sim_vmm_read_fabric(const aclrtMemFabricHandle *handle, uint64_t *shared)
{
    aclrtMemFabricHandle again;
    memcpy(shared, handle->data + sizeof fabric_mark, sizeof *shared);
    sim_vmm_write_fabric(*shared, &again);
    SIM_CHECK(memcmp(handle, &again, sizeof again) == 0, ACL_ERROR_RT_PARAM_INVALID,
              NAME " is not one that aclrtMemExportToShareableHandleV2 made with ACL_MEM_SHARE_HANDLE_TYPE_FABRIC");
    return ACL_SUCCESS;
}
