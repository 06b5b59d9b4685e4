/* Design notes
 *
 * Device memory that processes share by keys.
 *
 * The owner publishes a block with its offset in the file of all device memory (share/exchange.h). The importer maps
 * the same pages under spans of its own device's heap. So both processes see the same bytes, and bounds, ranges of
 * tasks and allocation ids work as for any other block. The record of such a block says that it is imported: aclrtFree
 * refuses it, and copies check it. When another process asks for the block, the owner checks by the allocation id that
 * it is still allocated. If the owner frees it later, the pages stay mapped in the importer until the importer closes
 * the key.
 *
 * The mutex `turn` guards the list of imports. It is a mutex because the owner's answer is awaited with it held. The
 * lock `lock` guards the links of the list; it is a leaf, and enough for look-ups. */
#include "ipc.h"
#include "address/peer.h"
#include "base/config.h"
#include "base/watcher.h"
#include "engine/device.h"
#include "share/exchange.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct import {
    struct import *im_next;
    uint64_t im_id;
    void *im_address;
    uint64_t im_whole;  /* bytes of the owner's block */
    int32_t im_device;  /* the importing device, in this process */
    int32_t im_owner;   /* the device of the owner's block, in the owner's process */
    enum sim_page im_page;
    uint32_t im_opens;
};

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static struct sim_lock lock;
static struct import *imports;

enum { EXTRA_WHOLE, EXTRA_PAGE_BIRTH }; /* indices of of_extra; the high half of the second word is the page type */

aclError sim_ipc_supported(void)
{
    SIM_SUPPORTED(sim_config()->cf_soc->so_profile != SIM_P310B, "%s cannot share memory between processes",
                  sim_config()->cf_soc->so_name);
    return ACL_SUCCESS;
}

static aclError read_key(const char *key, uint64_t *id)
{
    SIM_CHECK(sim_exchange_read_key(SIM_EXCHANGE_MEMORY, key, id), ACL_ERROR_RT_PARAM_INVALID,
              "key is \"%.64s\", expected one made by aclrtIpcMemGetExportKey", key);
    return ACL_SUCCESS;
}

/* ---- the owner ---- */

static bool lives(const struct sim_offer *offer)
{
    struct sim_block block;
    const void *address = (void *)(uintptr_t)(sim_heap_zone_of_device.zn_base + offer->of_offset);
    return sim_heap_zone_find(&sim_heap_zone_of_device, address, &block) &&
           block.bk_birth == (uint32_t)offer->of_extra[EXTRA_PAGE_BIRTH];
}

aclError sim_ipc_export(const void *address, uint64_t size, bool to_all, char *key)
{
    struct sim_place place;
    uint64_t id;
    sim_memory_locate(address, &place);
    const struct sim_block *block = &place.pl_block;
    SIM_CHECK(place.pl_class == SIM_MEMORY_DEVICE && block->bk_start == (uint64_t)(uintptr_t)address &&
                  block->bk_page != SIM_PAGE_IMPORTED && !place.pl_reserved,
              ACL_ERROR_RT_PARAM_INVALID, "devPtr is %p, which is %s%s, expected the start of a block of aclrtMalloc",
              address, sim_memory_describe(&place),
              place.pl_class != SIM_MEMORY_DEVICE ? ""
              : place.pl_reserved                 ? ", mapped (aclrtMemExportToShareableHandle shares that)"
              : block->bk_page == SIM_PAGE_IMPORTED ? " of another process" : ", but not where its block starts");
    SIM_CHECK(size <= block->bk_size, ACL_ERROR_RT_PARAM_INVALID,
              "size is %" PRIu64 ", expected at most the %" PRIu64 " bytes of the block", size, block->bk_size);
    struct sim_offer offer = {.of_kind = SIM_EXCHANGE_MEMORY, .of_device = block->bk_device,
                              .of_file = sim_heap_zone_of_device.zn_file, .of_size = size,
                              .of_offset = block->bk_start - sim_heap_zone_of_device.zn_base, .of_lives = lives};
    offer.of_extra[EXTRA_WHOLE] = block->bk_size;
    offer.of_extra[EXTRA_PAGE_BIRTH] = (uint64_t)block->bk_page << 32 | block->bk_birth;
    SIM_TRY(sim_exchange_publish(&offer, to_all, &id));
    if (sim_watcher_any())
        sim_watcher_expose(block->bk_birth);
    sim_exchange_write_key(SIM_EXCHANGE_MEMORY, id, key);
    return ACL_SUCCESS;
}

aclError sim_ipc_allow(const char *key, const int32_t *pids, size_t count)
{
    uint64_t id;
    SIM_TRY(read_key(key, &id));
    return sim_exchange_allow(SIM_EXCHANGE_MEMORY, id, "key", pids, count);
}

aclError sim_ipc_check_own(const char *key)
{
    return sim_ipc_allow(key, NULL, 0);
}

/* ---- importers ---- */

/* Finds an import by its id, or (id 0) by its address. `turn` or `lock` is held. */
static struct import *find_import(uint64_t id, uint64_t address)
{
    struct import *import = imports;
    while (import != NULL && (id != 0 ? import->im_id != id : (uint64_t)(uintptr_t)import->im_address != address))
        import = import->im_next;
    return import;
}

static void link_import(struct import *import)
{
    sim_lock(&lock);
    import->im_next = imports;
    imports = import;
    sim_unlock(&lock);
}

/* Ends the import. `turn` is held. */
static void end_import(struct import *import, const void *site)
{
    sim_lock(&lock);
    struct import **link = &imports;
    while (*link != import)
        link = &(*link)->im_next;
    *link = import->im_next;
    sim_unlock(&lock);
    sim_heap_part(&sim_heap_zone_of_device, import->im_address, import->im_whole, site, sim_thread_number());
    free(import);
}

static aclError lay_under(const struct sim_offer *offer, uint64_t id, int32_t device)
{
    struct import *import = malloc(sizeof *import);
    SIM_CHECK(import != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory for one more import");
    uint64_t whole = offer->of_extra[EXTRA_WHOLE], page = offer->of_extra[EXTRA_PAGE_BIRTH] >> 32;
    void *address = sim_heap_import(&sim_heap_zone_of_device, (uint32_t)device, offer->of_file, offer->of_offset, whole,
                                    offer->of_size);
    if (address == NULL) {
        free(import);
        return sim_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "%" PRIu64 " bytes of another process could not be mapped: %s",
                        whole, strerror(errno));
    }
    *import = (struct import){.im_id = id, .im_address = address, .im_whole = whole, .im_device = device,
                              .im_owner = offer->of_device, .im_opens = 0,
                              .im_page = page < SIM_PAGE_IMPORTED ? (enum sim_page)page : SIM_PAGE_NORMAL};
    link_import(import);
    return ACL_SUCCESS;
}

static aclError import_locked(uint64_t id, bool enable_peer, int32_t device, void **address)
{
    if (find_import(id, 0) == NULL) {
        struct sim_offer offer;
        SIM_TRY(sim_exchange_import(SIM_EXCHANGE_MEMORY, id, "key", &offer));
        aclError code = lay_under(&offer, id, device);
        close(offer.of_file);
        SIM_TRY(code);
    }
    struct import *import = find_import(id, 0);
    import->im_opens++;
    if (enable_peer && import->im_owner != import->im_device && import->im_owner >= 0 &&
        (uint32_t)import->im_owner < sim_config_devices())
        sim_peer_set(import->im_device, import->im_owner, true);
    *address = import->im_address;
    return ACL_SUCCESS;
}

aclError sim_ipc_import(const char *key, bool enable_peer, void **address)
{
    uint64_t id;
    struct sim_context *context;
    SIM_TRY(read_key(key, &id));
    SIM_TRY(sim_context_current(&context));
    pthread_mutex_lock(&turn);
    aclError code = import_locked(id, enable_peer, context->cx_device->dv_id, address);
    pthread_mutex_unlock(&turn);
    return code;
}

aclError sim_ipc_close(const char *key, const void *site)
{
    uint64_t id;
    SIM_TRY(read_key(key, &id));
    if (sim_exchange_is_own(id))
        return sim_exchange_withdraw(SIM_EXCHANGE_MEMORY, id, "key");
    pthread_mutex_lock(&turn);
    struct import *import = find_import(id, 0);
    if (import != NULL && --import->im_opens == 0)
        end_import(import, site);
    pthread_mutex_unlock(&turn);
    SIM_CHECK(import != NULL, ACL_ERROR_RT_PARAM_INVALID,
              "key is \"%.64s\", which this process has not opened, or has closed, expected one that it opened by "
              "aclrtIpcMemImportByKey", key);
    return ACL_SUCCESS;
}

enum sim_page sim_ipc_page(const struct sim_block *block)
{
    sim_lock(&lock);
    const struct import *import = find_import(0, block->bk_start);
    enum sim_page page = import != NULL ? import->im_page : SIM_PAGE_NORMAL;
    sim_unlock(&lock);
    return page;
}

/* ---- copies of imported memory ---- */

static int32_t owner_of(const struct sim_block *block)
{
    sim_lock(&lock);
    const struct import *import = find_import(0, block->bk_start);
    int32_t owner = import != NULL ? import->im_owner : block->bk_device;
    sim_unlock(&lock);
    return owner;
}

static aclError check_side(const struct sim_place *place, const struct sim_place *other, const char *name,
                           bool is_async, aclrtMemcpyKind kind)
{
    int32_t device = place->pl_block.bk_device, owner = owner_of(&place->pl_block);
    if (owner == device)
        return ACL_SUCCESS;
    SIM_CHECK(other->pl_class == SIM_MEMORY_DEVICE, ACL_ERROR_RT_PARAM_INVALID,
              "%s is memory of another process, on device %d, opened on device %d, and the other side is %s, expected "
              "device memory", name, owner, device, sim_memory_describe(other));
    SIM_CHECK(is_async || other->pl_block.bk_device != device, ACL_ERROR_RT_PARAM_INVALID,
              "%s is memory of another process, on device %d, opened on device %d, where the other side is too, "
              "expected aclrtMemcpyAsync", name, owner, device);
    SIM_CHECK(!is_async || kind != ACL_MEMCPY_DEFAULT, ACL_ERROR_RT_PARAM_INVALID,
              "kind is ACL_MEMCPY_DEFAULT and %s is memory of another process, on device %d, expected "
              "ACL_MEMCPY_DEVICE_TO_DEVICE", name, owner);
    SIM_CHECK(sim_peer_reaches(device, owner), ACL_ERROR_RT_PARAM_INVALID,
              "%s is memory of another process, on device %d, expected peer access of device %d to it "
              "(aclrtDeviceEnablePeerAccess, or ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS)", name, owner, device);
    return ACL_SUCCESS;
}

aclError sim_ipc_check_copy(const void *dst, const void *src, bool is_async, aclrtMemcpyKind kind)
{
    struct sim_place places[2];
    sim_memory_locate(dst, &places[0]);
    sim_memory_locate(src, &places[1]);
    if (sim_memory_is_imported(&places[0]))
        SIM_TRY(check_side(&places[0], &places[1], "dst", is_async, kind));
    return sim_memory_is_imported(&places[1]) ? check_side(&places[1], &places[0], "src", is_async, kind) : ACL_SUCCESS;
}

/* ---- the end ---- */

/* Leaves with `turn` held until the heap is closed, so that nothing is imported in between. */
static void end_imports(int32_t device)
{
    pthread_mutex_lock(&turn);
    for (struct import *import = imports, *next; import != NULL; import = next) {
        next = import->im_next;
        if (import->im_device == device)
            end_import(import, NULL);
    }
}

static void give_turn(int32_t device)
{
    (void)device;
    pthread_mutex_unlock(&turn);
}

const struct sim_owner sim_ipc_owner = {.ow_close = end_imports, .ow_closed = give_turn};

void sim_ipc_after_fork(void)
{
    turn = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    sim_lock_renew(&lock);
    imports = NULL; /* the parent may have been changing its list when it forked */
}
