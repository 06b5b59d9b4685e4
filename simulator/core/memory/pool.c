/* Design notes
 *
 * Memory pools: device memory that is allocated and freed in stream order. pool_order.c decides which allocation gets
 * which block.
 *
 * A pool owns blocks of its device's heap until they are trimmed. A block is used, being freed (its free is queued), or
 * idle. Blocks are neither split nor merged; a block is reused for a size of at least half its own. Queued frees find
 * their block by its address and identify the allocation by its id.
 *
 * One lock guards all pools and blocks. It is a leaf: the heap is called without it, and `giving` counts the threads
 * that are returning blocks to the heap. */
#include "pool_inner.h"

#include "base/config.h"
#include "base/zero.h"
#include "engine/device.h"
#include "engine/engine.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096u

struct sim_table sim_pools = {
    .tb_stride = sizeof(struct sim_pool), .tb_limit = 1u << 16, .tb_kind = SIM_KIND_MEMORY_POOL};
struct sim_lock sim_pool_lock;
static struct sim_pool_block *buckets[BUCKETS];
static uint32_t giving;       /* threads that are returning blocks to the heap */
static struct sim_gate given; /* counts their completions, each after the thread has left the heap */

aclError sim_pool_supported(void)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    SIM_SUPPORTED(soc->so_profile == SIM_PA2, "%s has no memory pools", soc->so_name);
    return ACL_SUCCESS;
}

/* ---- blocks; the lock is held ---- */

static struct sim_pool_block **bucket_of(uint64_t start)
{
    return &buckets[start / 512 * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}
_Static_assert(BUCKETS == 1u << (64 - 52), "the high bits are the bucket");

struct sim_pool_block *sim_pool_find_block(const void *address)
{
    uint64_t start = (uint64_t)(uintptr_t)address;
    struct sim_pool_block *block = *bucket_of(start);
    while (block != NULL && block->bl_heap.bk_start != start)
        block = block->bl_linked;
    return block;
}

void sim_pool_add_block(struct sim_pool *pool, struct sim_pool_block *block)
{
    struct sim_pool_block **bucket = bucket_of(block->bl_heap.bk_start);
    block->bl_pool = pool;
    block->bl_linked = *bucket;
    *bucket = block;
    block->bl_next = pool->pl_blocks;
    pool->pl_blocks = block;
    pool->pl_pins++;
    atomic_fetch_add(&sim_owner_blocks, 1);
    atomic_fetch_add(&sim_event_listeners, 1); /* counts blocks that are not used */
}

/* Removes an unused block from its pool's list. */
static struct sim_pool_block *remove_block(struct sim_pool_block **link)
{
    struct sim_pool_block *block = *link, **bucket = bucket_of(block->bl_heap.bk_start);
    *link = block->bl_next;
    while (*bucket != block)
        bucket = &(*bucket)->bl_linked;
    *bucket = block->bl_linked;
    block->bl_pool->pl_reserved -= block->bl_bytes;
    block->bl_pool->pl_pins--;
    atomic_fetch_sub(&sim_owner_blocks, 1);
    atomic_fetch_sub(&sim_event_listeners, 1);
    return block;
}

static bool is_spare(const struct sim_pool_block *block)
{
    return block->bl_state == SIM_POOL_IDLE && block->bl_former == NULL;
}

static uint64_t spare_of(const struct sim_pool *pool)
{
    uint64_t bytes = 0;
    for (const struct sim_pool_block *block = pool->pl_blocks; block != NULL; block = block->bl_next)
        bytes += is_spare(block) ? block->bl_bytes : 0;
    return bytes;
}

void sim_pool_collect(struct sim_pool *pool, uint64_t bytes, bool over, struct sim_pool_block **collected)
{
    for (struct sim_pool_block **link = &pool->pl_blocks; *link != NULL && bytes != 0;) {
        if (!is_spare(*link) || (!over && (*link)->bl_bytes > bytes)) {
            link = &(*link)->bl_next;
            continue;
        }
        struct sim_pool_block *block = remove_block(link);
        bytes -= block->bl_bytes < bytes ? block->bl_bytes : bytes;
        block->bl_next = *collected;
        *collected = block;
    }
}

void sim_pool_settle_dead(struct sim_pool *pool, struct sim_pool_block **collected)
{
    if (!pool->pl_dead)
        return;
    sim_pool_collect(pool, UINT64_MAX, true, collected);
    if (pool->pl_pins == 0)
        sim_table_give(&sim_pools, pool);
}

/* ---- without the lock ---- */

static void give_all(struct sim_pool_block *block)
{
    while (block != NULL) {
        struct sim_pool_block *next = block->bl_next;
        const struct sim_block *heap = &block->bl_heap;
        sim_heap_begin(heap->bk_record, heap->bk_size, heap->bk_size, heap->bk_page);
        sim_heap_release(&sim_heap_zone_of_device, (void *)(uintptr_t)heap->bk_start, NULL, sim_thread_number());
        free(block);
        block = next;
    }
}

void sim_pool_unlock_and_give(struct sim_pool_block *collected)
{
    giving += collected != NULL;
    sim_unlock(&sim_pool_lock);
    if (collected == NULL)
        return;
    give_all(collected);
    sim_lock(&sim_pool_lock);
    giving--;
    sim_unlock(&sim_pool_lock);
    sim_gate_count(&given);
}

struct sim_pool *sim_pool_open(aclrtMemPool handle)
{
    sim_lock(&sim_pool_lock);
    struct sim_pool *pool = sim_table_find(&sim_pools, handle);
    if (pool != NULL)
        return pool;
    sim_unlock(&sim_pool_lock);
    sim_fail(ACL_ERROR_RT_INVALID_HANDLE, "memPool is %p, %s, expected a live memory pool", handle,
             sim_handle_describe(handle));
    return NULL;
}

aclError sim_pool_check(aclrtMemPool handle)
{
    if (sim_pool_open(handle) == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    sim_unlock(&sim_pool_lock);
    return ACL_SUCCESS;
}

/* ---- pools ---- */

aclError sim_pool_create(int32_t id, uint64_t limit, aclrtMemPool *handle)
{
    struct sim_device *device;
    uint64_t value = 0;
    SIM_TRY(sim_device_find(id, &device));
    struct sim_pool *pool = sim_table_open(&sim_pools) == 0 ? sim_table_take(&sim_pools, &value) : NULL;
    SIM_CHECK(pool != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "there are %u memory pools, expected fewer",
              sim_pools.tb_limit - 1);
    sim_lock(&sim_pool_lock);
    memset((char *)pool + sizeof pool->pl_slot, 0, sizeof *pool - sizeof pool->pl_slot);
    pool->pl_device = device->dv_id;
    pool->pl_limit = limit;
    for (int rank = SIM_POOL_BY_STREAM; rank < SIM_POOL_RANKS; rank++)
        pool->pl_may[rank] = true;
    atomic_store_explicit(&pool->pl_slot.sl_handle, value, memory_order_release);
    sim_unlock(&sim_pool_lock);
    *handle = (aclrtMemPool)(uintptr_t)value;
    return ACL_SUCCESS;
}

static void end_pool(struct sim_pool *pool, struct sim_pool_block **collected)
{
    atomic_store_explicit(&pool->pl_slot.sl_handle, 0, memory_order_relaxed);
    pool->pl_dead = true;
    sim_pool_settle_dead(pool, collected);
}

aclError sim_pool_destroy(aclrtMemPool handle)
{
    struct sim_pool_block *collected = NULL;
    struct sim_pool *pool = sim_pool_open(handle);
    if (pool == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    end_pool(pool, &collected);
    sim_pool_unlock_and_give(collected);
    return ACL_SUCCESS;
}

static bool is_switch(aclrtMemPoolAttr attribute)
{
    return attribute >= ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
           attribute <= ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

static enum sim_pool_rank rank_of(aclrtMemPoolAttr attribute)
{
    return (enum sim_pool_rank)(attribute - ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES + SIM_POOL_BY_EVENT);
}

static aclError check_attribute(aclrtMemPoolAttr attribute)
{
    SIM_CHECK(attribute >= ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
                  attribute <= ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH,
              ACL_ERROR_RT_PARAM_INVALID, "attr is %d, expected an aclrtMemPoolAttr (1 to %d)", (int)attribute,
              ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH);
    return ACL_SUCCESS;
}

static aclError read_value(aclrtMemPoolAttr attribute, const void *value, uint64_t *number)
{
    if (is_switch(attribute)) {
        uint32_t on;
        memcpy(&on, value, sizeof on);
        SIM_CHECK(on <= 1, ACL_ERROR_RT_PARAM_INVALID, "*value is %u with attr %d, expected 0 (off) or 1 (on)", on,
                  (int)attribute);
        *number = on;
        return ACL_SUCCESS;
    }
    memcpy(number, value, sizeof *number);
    bool high = attribute == ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH || attribute == ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH;
    SIM_CHECK(high || attribute == ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, ACL_ERROR_RT_PARAM_INVALID,
              "attr is %d, which can only be read, expected another one", (int)attribute);
    SIM_CHECK(!high || *number == 0, ACL_ERROR_RT_PARAM_INVALID,
              "*value is %" PRIu64 " with attr %d, expected 0: a high-water mark can only be reset", *number,
              (int)attribute);
    return ACL_SUCCESS;
}

aclError sim_pool_set(aclrtMemPool handle, aclrtMemPoolAttr attribute, const void *value)
{
    uint64_t number = 0;
    SIM_TRY(sim_pool_check(handle));
    SIM_TRY(check_attribute(attribute));
    SIM_TRY(read_value(attribute, value, &number));
    struct sim_pool *pool = sim_pool_open(handle);
    if (pool == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    if (is_switch(attribute))
        pool->pl_may[rank_of(attribute)] = number != 0;
    else if (attribute == ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD)
        pool->pl_threshold = number;
    else if (attribute == ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH)
        pool->pl_reserved_high = pool->pl_reserved;
    else
        pool->pl_used_high = pool->pl_used;
    sim_unlock(&sim_pool_lock);
    return ACL_SUCCESS;
}

static uint64_t number_of(const struct sim_pool *pool, aclrtMemPoolAttr attribute)
{
    switch (attribute) {
    case ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD:
        return pool->pl_threshold;
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT:
        return pool->pl_reserved;
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH:
        return pool->pl_reserved_high;
    case ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT:
        return pool->pl_used;
    default:
        return pool->pl_used_high;
    }
}

aclError sim_pool_get(aclrtMemPool handle, aclrtMemPoolAttr attribute, void *value)
{
    SIM_TRY(sim_pool_check(handle));
    SIM_TRY(check_attribute(attribute));
    struct sim_pool *pool = sim_pool_open(handle);
    if (pool == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    bool on = is_switch(attribute) && pool->pl_may[rank_of(attribute)];
    uint64_t number = number_of(pool, attribute);
    sim_unlock(&sim_pool_lock);
    if (is_switch(attribute))
        *(uint32_t *)value = on;
    else
        memcpy(value, &number, sizeof number);
    return ACL_SUCCESS;
}

aclError sim_pool_trim(aclrtMemPool handle, uint64_t keep)
{
    struct sim_pool_block *collected = NULL;
    struct sim_pool *pool = sim_pool_open(handle);
    if (pool == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    if (pool->pl_reserved > keep)
        sim_pool_collect(pool, pool->pl_reserved - keep, false, &collected);
    sim_pool_unlock_and_give(collected);
    return ACL_SUCCESS;
}

/* Releases to the device what the pools of one device (-1: of all devices) can spare: all idle blocks, or only those
 * above the thresholds. */
static bool collect_all(int32_t device, bool all)
{
    struct sim_pool_block *collected = NULL;
    sim_lock(&sim_pool_lock);
    for (uint32_t i = 1; i < atomic_load_explicit(&sim_pools.tb_count, memory_order_relaxed); i++) {
        struct sim_pool *pool = sim_table_at(&sim_pools, i);
        bool live = atomic_load_explicit(&pool->pl_slot.sl_handle, memory_order_relaxed) != 0;
        if (!live || (device >= 0 && pool->pl_device != device))
            continue;
        uint64_t spare = spare_of(pool), keep = all ? 0 : pool->pl_threshold;
        if (spare > keep)
            sim_pool_collect(pool, spare - keep, true, &collected);
    }
    bool any = collected != NULL;
    sim_pool_unlock_and_give(collected);
    return any;
}

SIM_RARE void sim_pool_give_back(void)
{
    collect_all(-1, false);
}

SIM_RARE static bool reclaim(int32_t device)
{
    return atomic_load(&sim_event_listeners) != 0 && collect_all(device, true);
}

/* ---- closing a device, and forks ---- */

static void drop_block(struct sim_pool_block *block)
{
    for (struct sim_pool_life *life = block->bl_former, *next; life != NULL; life = next) {
        next = life->lf_next;
        free(life);
    }
    free(block);
}

/* The device is closed: its pools are dead. */
static void forget(int32_t device)
{
    sim_lock(&sim_pool_lock);
    for (uint32_t i = 1; i < atomic_load_explicit(&sim_pools.tb_count, memory_order_relaxed); i++) {
        struct sim_pool *pool = sim_table_at(&sim_pools, i);
        bool live = atomic_load_explicit(&pool->pl_slot.sl_handle, memory_order_relaxed) != 0;
        if (pool->pl_device != device || (!live && pool->pl_pins == 0))
            continue;
        pool->pl_lost = true;
        while (pool->pl_blocks != NULL) {
            if (pool->pl_blocks->bl_state == SIM_POOL_USED)
                atomic_fetch_add(&sim_event_listeners, 1);
            drop_block(remove_block(&pool->pl_blocks));
        }
        struct sim_pool_block *none = NULL;
        end_pool(pool, &none);
    }
    while (giving != 0) { /* another thread is in the heap; it needs no other lock to finish */
        uint64_t next = sim_gate_level(&given) + 1;
        sim_unlock(&sim_pool_lock);
        sim_engine_wait_gate(&given, next, SIM_FOREVER);
        sim_lock(&sim_pool_lock);
    }
    sim_unlock(&sim_pool_lock);
}

const struct sim_owner sim_pool_owner = {
    .ow_release = sim_pool_release, .ow_lives = sim_pool_lives, .ow_reclaim = reclaim, .ow_close = forget};

/* The parent may have been changing its lists when it forked: the child leaves them alone. */
void sim_pool_after_fork(void)
{
    sim_table_empty(&sim_pools);
    sim_lock_renew(&sim_pool_lock);
    giving = 0;
    memset(&given, 0, sizeof given); /* threads that slept here do not exist in the child */
    sim_zero(buckets, sizeof buckets);
    atomic_store(&sim_owner_blocks, 0);
    atomic_store(&sim_event_listeners, 0);
}
