/* Design notes
 *
 * Allocating and freeing in stream order: which allocation gets which block of a pool. The pools, their blocks and the
 * lock are in pool.c.
 *
 * Each allocation of a block has an allocation id in the block's heap record, and tasks check it as for any block. A
 * free marks the block as freed when its task runs; work that is submitted earlier may use the block. If the block is
 * allocated again before that, the record gets a new id, and the former allocation (struct sim_pool_life) stays in a
 * list until its free has run. So tasks of both are told apart. A block with former allocations is never returned to
 * the device. If a queued allocation is discarded while a former one is in use, the new one is ended, because the wait
 * that made the reuse safe is gone.
 *
 * F is the record of a block's last free, 0 if a host thread freed it. An allocation may have the block if it is on the
 * stream of F; if its stream waits for an event recorded behind F, directly or through others (bl_behind holds from
 * where on which streams do; a wait counts from its submission); if F has passed; or, if no other memory is left, by
 * waiting for F itself. */
#include "pool_inner.h"

#include "base/watcher.h"
#include "engine/context.h"
#include "engine/device.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- which blocks an allocation may have ---- */

/* Whether `point` is at or behind `from` in the same stream. */
static bool is_behind(sim_record point, sim_record from)
{
    return point >> 48 == from >> 48 && sim_record_ticket(point) >= sim_record_ticket(from);
}

static bool is_known_behind(const struct sim_pool_block *block, sim_record point)
{
    bool behind = is_behind(point, block->bl_freed);
    for (int i = 0; i < SIM_POOL_BEHIND && block->bl_behind[i] != 0; i++)
        behind = behind || is_behind(point, block->bl_behind[i]);
    return behind;
}

static void add_behind(struct sim_pool_block *block, sim_record own)
{
    int i = 0;
    while (i < SIM_POOL_BEHIND && block->bl_behind[i] != 0 && !is_behind(own, block->bl_behind[i]))
        i++;
    if (i < SIM_POOL_BEHIND && block->bl_behind[i] == 0)
        block->bl_behind[i] = own;
}

SIM_RARE void sim_pool_note_wait(sim_record own, sim_record waited)
{
    sim_lock(&sim_pool_lock);
    for (uint32_t i = 1; i < atomic_load_explicit(&sim_pools.tb_count, memory_order_relaxed); i++)
        for (struct sim_pool_block *block = ((struct sim_pool *)sim_table_at(&sim_pools, i))->pl_blocks; block != NULL;
             block = block->bl_next)
            if (block->bl_offered && block->bl_freed != 0 && is_known_behind(block, waited))
                add_behind(block, own);
    sim_unlock(&sim_pool_lock);
}

struct wish {
    uint64_t wi_size, wi_whole;
    sim_record wi_point; /* the record of the stream's next task, which is the allocation or an earlier task */
};

static enum sim_pool_rank rank_for(const struct sim_pool_block *block, sim_record point)
{
    bool over = block->bl_former == NULL;
    if ((over && block->bl_freed == 0) || is_behind(point, block->bl_freed))
        return SIM_POOL_BY_STREAM;
    if (block->bl_pool->pl_may[SIM_POOL_BY_EVENT] && is_known_behind(block, point))
        return SIM_POOL_BY_EVENT;
    if (block->bl_pool->pl_may[SIM_POOL_BY_TIME] && over && sim_record_passed(block->bl_freed))
        return SIM_POOL_BY_TIME;
    return block->bl_pool->pl_may[SIM_POOL_BY_WAITING] ? SIM_POOL_BY_WAITING : SIM_POOL_RANKS;
}

/* The smallest block that fits; among equals the one with the best rank, at most `worst`. Returns NULL if there is
 * none. */
static struct sim_pool_block *choose(const struct sim_pool *pool, const struct wish *wish, enum sim_pool_rank worst)
{
    struct sim_pool_block *best = NULL;
    enum sim_pool_rank best_rank = SIM_POOL_RANKS;
    for (struct sim_pool_block *block = pool->pl_blocks; block != NULL; block = block->bl_next) {
        uint64_t size = block->bl_heap.bk_size;
        if (!block->bl_offered || size < wish->wi_whole || size / 2 > wish->wi_whole)
            continue;
        enum sim_pool_rank rank = rank_for(block, wish->wi_point);
        bool better = best == NULL || size < best->bl_heap.bk_size ||
                      (size == best->bl_heap.bk_size && rank < best_rank);
        if (rank <= worst && better) {
            best = block;
            best_rank = rank;
        }
    }
    return best;
}

/* ---- allocating ---- */

static uint64_t whole_pages(uint64_t size, enum sim_page page)
{
    uint64_t bytes = page == SIM_PAGE_NORMAL ? UINT64_C(1) << 12 : UINT64_C(1) << 21;
    return (size + bytes - 1) / bytes * bytes;
}

/* True if the pool may have this many bytes more. */
static bool is_within_limit(const struct sim_pool *pool, uint64_t bytes)
{
    return pool->pl_limit == 0 || (bytes <= pool->pl_limit && pool->pl_reserved <= pool->pl_limit - bytes);
}

/* Adds an idle block from the heap. Returns NULL if the limit, the device or the host has no room; *again is true if it
 * was the limit, and there is room now. The lock is released meanwhile. */
static struct sim_pool_block *grow(struct sim_pool *pool, const struct wish *wish, bool *again)
{
    struct sim_policy policy = sim_memory_huge_first(wish->wi_whole);
    uint64_t bytes = whole_pages(wish->wi_whole, policy.po_page);
    struct sim_pool_block *collected = NULL, *block = NULL;
    void *address = NULL;
    if (bytes <= pool->pl_limit && pool->pl_reserved > pool->pl_limit - bytes)
        sim_pool_collect(pool, pool->pl_reserved - (pool->pl_limit - bytes), true, &collected);
    bool fits = is_within_limit(pool, bytes);
    pool->pl_reserved += fits ? bytes : 0;
    pool->pl_pins++;
    sim_pool_unlock_and_give(collected);
    if (fits && (block = calloc(1, sizeof *block)) != NULL)
        address = sim_memory_try_allocate(pool->pl_device, wish->wi_size, wish->wi_whole, &policy);
    bool found = address != NULL && sim_heap_zone_find(&sim_heap_zone_of_device, address, &block->bl_heap);
    sim_lock(&sim_pool_lock);
    pool->pl_reserved -= fits ? bytes : 0;
    pool->pl_pins--;
    *again = !fits && is_within_limit(pool, bytes);
    if (!found || pool->pl_lost) { /* the closing device frees the block */
        free(block);
        return NULL;
    }
    block->bl_bytes = whole_pages(wish->wi_whole, policy.po_page);
    block->bl_state = SIM_POOL_IDLE;
    pool->pl_reserved += block->bl_bytes;
    sim_pool_add_block(pool, block);
    return block;
}

static uint64_t higher(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

SIM_RARE static void tell_allocated(const struct sim_pool_block *block, const struct wish *wish)
{
    struct sim_block life = block->bl_heap;
    life.bk_birth = block->bl_birth;
    life.bk_size = wish->wi_whole;
    life.bk_requested = wish->wi_size;
    life.bk_record = NULL; /* queued work of a former allocation may still use the bytes: they are not fresh */
    sim_watcher_allocate(&life);
}

/* Starts an allocation in an unused block. A former allocation that has not ended is stored in `spare`. */
static void take(struct sim_pool_block *block, const struct wish *wish, struct sim_pool_life **spare)
{
    struct sim_pool *pool = block->bl_pool;
    const struct sim_block *heap = &block->bl_heap;
    if (block->bl_state == SIM_POOL_FREEING) {
        **spare = (struct sim_pool_life){block->bl_former, block->bl_freed, block->bl_birth};
        block->bl_former = *spare;
        *spare = NULL;
        pool->pl_used -= block->bl_used;
    }
    block->bl_state = SIM_POOL_USED;
    block->bl_offered = false;
    block->bl_used = wish->wi_whole;
    block->bl_birth = sim_heap_begin(heap->bk_record, wish->wi_size, wish->wi_whole, heap->bk_page);
    if (sim_watcher_any())
        tell_allocated(block, wish);
    memset(block->bl_behind, 0, sizeof block->bl_behind);
    atomic_fetch_sub(&sim_event_listeners, 1);
    pool->pl_used += wish->wi_whole;
    pool->pl_used_high = higher(pool->pl_used_high, pool->pl_used);
    pool->pl_reserved_high = higher(pool->pl_reserved_high, pool->pl_reserved);
}

/* The record of the newest former allocation's free, or 0. */
static sim_record behind_former(const struct sim_pool_block *block)
{
    return block->bl_former != NULL ? block->bl_former->lf_freed : 0;
}

/* Ends the newest allocation of a block that is not idle. `freed` is the record from which on others may have the
 * block. */
static void end_life(struct sim_pool_block *block, sim_record freed)
{
    if (block->bl_freed != freed)
        memset(block->bl_behind, 0, sizeof block->bl_behind);
    if (block->bl_state == SIM_POOL_USED)
        atomic_fetch_add(&sim_event_listeners, 1);
    block->bl_state = SIM_POOL_IDLE;
    block->bl_offered = true;
    block->bl_freed = freed;
    block->bl_pool->pl_used -= block->bl_used;
    sim_heap_end(block->bl_heap.bk_record);
}

struct malloc_task {
    const void *ma_address;
    uint64_t ma_size;
    uint32_t ma_birth;
    bool ma_again; /* the block still had former allocations */
};

/* The newest allocation that is older than `birth` and has not ended, or NULL. */
static const struct sim_pool_life *older_life(const struct sim_pool_block *block, uint32_t birth)
{
    const struct sim_pool_life *life = block->bl_former;
    if (block->bl_birth == birth)
        return life;
    while (life != NULL && life->lf_birth != birth)
        life = life->lf_next;
    return life != NULL ? life->lf_next : NULL;
}

/* Normally all older allocations have ended by now. This waits if the allocation was made by rank
 * SIM_POOL_BY_WAITING, or if the wait that it relied on was discarded. */
static aclError run_malloc(struct sim_run *run, void *argument)
{
    const struct malloc_task *task = argument;
    sim_record behind = 0;
    if (!task->ma_again)
        return ACL_SUCCESS;
    sim_lock(&sim_pool_lock);
    const struct sim_pool_block *block = sim_pool_find_block(task->ma_address);
    const struct sim_pool_life *life = block != NULL ? older_life(block, task->ma_birth) : NULL;
    for (; life != NULL && behind == 0; life = life->lf_next)
        behind = sim_record_passed(life->lf_freed) ? 0 : life->lf_freed;
    sim_unlock(&sim_pool_lock);
    if (behind == 0)
        return ACL_SUCCESS;
    run->rn_gate = &sim_record_stream(behind)->st_gate;
    run->rn_target = sim_record_ticket(behind);
    return SIM_PARK;
}

/* Ends the allocation `birth` if an older one is still in use, so that tasks of both never touch the same bytes. The
 * lock is held. */
static void refuse_life(struct sim_pool_block *block, uint32_t birth)
{
    if (older_life(block, birth) == NULL)
        return;
    struct sim_pool_life **link = &block->bl_former, *life;
    if (block->bl_birth == birth) {
        if (block->bl_state == SIM_POOL_USED)
            end_life(block, behind_former(block));
        else
            sim_heap_end(block->bl_heap.bk_record); /* its queued free does the rest */
        return;
    }
    while ((life = *link)->lf_birth != birth)
        link = &life->lf_next;
    *link = life->lf_next;
    free(life);
}

static void drop_malloc(void *argument)
{
    const struct malloc_task *task = argument;
    struct sim_pool_block *collected = NULL;
    if (!task->ma_again)
        return;
    sim_lock(&sim_pool_lock);
    struct sim_pool_block *block = sim_pool_find_block(task->ma_address);
    if (block != NULL) {
        refuse_life(block, task->ma_birth);
        sim_pool_settle_dead(block->bl_pool, &collected);
    }
    sim_pool_unlock_and_give(collected);
}

static uint64_t its_address(const void *argument)
{
    return (uint64_t)(uintptr_t)*(const void *const *)argument;
}

static struct sim_edge edge_of_malloc(const void *argument)
{
    const struct malloc_task *task = argument;
    return (struct sim_edge){.eg_kind = SIM_EDGE_ALLOCATES,
                             .eg_range = {.rg_address = task->ma_address, .rg_size = task->ma_size,
                                          .rg_birth = task->ma_birth, .rg_write = true}};
}

static const struct sim_op malloc_op = {.op_name = "aclrtMemPoolMallocAsync", .op_run = run_malloc,
                                        .op_edge = edge_of_malloc, .op_drop = drop_malloc,
                                        .op_flags = SIM_OP_LIGHT | SIM_OP_LIVE,
                                        .op_kind = SIM_TASK_OTHER, .op_number = its_address};

static aclError refuse_size(const struct wish *wish, uint64_t limit, uint64_t reserved)
{
    SIM_CHECK(limit == 0, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "size is %" PRIu64 ", but neither the pool, which has %" PRIu64 " of the %" PRIu64
              " bytes of its maxSize, nor its device has enough free memory", wish->wi_size, reserved, limit);
    return sim_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                    "size is %" PRIu64 ", but neither the pool, which has %" PRIu64
                    " bytes, nor its device has enough free memory", wish->wi_size, reserved);
}

/* Allocates a block for the wish, and describes it in *task. While grow has released the lock, another thread may have
 * given back the block for which this one would have waited: then there is room for another block. */
static aclError obtain(struct sim_pool *pool, const struct wish *wish, struct sim_pool_life **spare,
                       struct malloc_task *task)
{
    struct sim_pool_block *block;
    bool again;
    do {
        again = false;
        block = choose(pool, wish, SIM_POOL_BY_TIME);
        if (block == NULL)
            block = grow(pool, wish, &again);
        if (block == NULL && !pool->pl_lost)
            block = choose(pool, wish, SIM_POOL_BY_WAITING);
    } while (block == NULL && again && !pool->pl_lost);
    uint64_t limit = pool->pl_limit, reserved = pool->pl_reserved;
    if (block != NULL) {
        take(block, wish, spare);
        *task = (struct malloc_task){(void *)(uintptr_t)block->bl_heap.bk_start, wish->wi_whole, block->bl_birth,
                                     block->bl_former != NULL};
    }
    return block != NULL ? ACL_SUCCESS : refuse_size(wish, limit, reserved);
}

/* Takes an allocation back that could not be queued. */
static void undo(const struct malloc_task *task)
{
    struct sim_pool_block *collected = NULL;
    sim_lock(&sim_pool_lock);
    struct sim_pool_block *block = sim_pool_find_block(task->ma_address);
    if (block != NULL && block->bl_state == SIM_POOL_USED && block->bl_birth == task->ma_birth) {
        end_life(block, block->bl_freed);
        sim_pool_settle_dead(block->bl_pool, &collected);
    }
    sim_pool_unlock_and_give(collected);
}

aclError sim_pool_malloc(void **address, size_t size, aclrtMemPool handle, struct sim_target stream, void *site)
{
    struct malloc_task task = {NULL, 0, 0, false};
    struct sim_context *context = atomic_load_explicit(&stream.tg_stream->st_context, memory_order_relaxed);
    const struct wish wish = {size, sim_memory_whole(size),
                              sim_record_of(stream.tg_stream, sim_stream_tail(stream.tg_stream) + 1)};
    struct sim_pool_life *spare = malloc(sizeof *spare);
    SIM_CHECK(spare != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no host memory for one more block");
    struct sim_pool *pool = sim_pool_open(handle);
    if (pool == NULL) {
        free(spare);
        return ACL_ERROR_RT_INVALID_HANDLE;
    }
    int32_t device = pool->pl_device;
    aclError code = ACL_ERROR_RT_PARAM_INVALID;
    if (device == context->cx_device->dv_id)
        code = obtain(pool, &wish, &spare, &task);
    struct sim_pool_block *collected = NULL;
    sim_pool_settle_dead(pool, &collected); /* the pool may have been destroyed while the heap was called */
    sim_pool_unlock_and_give(collected);
    free(spare);
    SIM_CHECK(device == context->cx_device->dv_id, ACL_ERROR_RT_PARAM_INVALID,
              "memPool is %p, of device %d, expected one of the stream's device, %d", handle, device,
              context->cx_device->dv_id);
    SIM_TRY(code);
    code = sim_engine_submit(stream, &malloc_op, &task, sizeof task, site, NULL);
    if (code == ACL_SUCCESS)
        *address = (void *)(uintptr_t)task.ma_address;
    else
        undo(&task);
    return code;
}

/* ---- freeing ---- */

struct free_task {
    const void *fr_address;
    uint64_t fr_size;
    const void *fr_site;
    uint32_t fr_birth, fr_thread;
};

/* Ends an allocation, the newest one or a former one. `freed` is the record of the free, or 0 if it was discarded. */
static void end_by_task(const struct free_task *task, sim_record freed)
{
    struct sim_pool_block *collected = NULL;
    sim_heap_bury(task->fr_birth, task->fr_site, task->fr_thread);
    sim_lock(&sim_pool_lock);
    struct sim_pool_block *block = sim_pool_find_block(task->fr_address);
    if (block != NULL && block->bl_birth == task->fr_birth && block->bl_state == SIM_POOL_FREEING) {
        end_life(block, freed != 0 ? freed : behind_former(block));
        sim_pool_settle_dead(block->bl_pool, &collected);
    } else if (block != NULL) {
        struct sim_pool_life **link = &block->bl_former, *life;
        while (*link != NULL && (*link)->lf_birth != task->fr_birth)
            link = &(*link)->lf_next;
        if ((life = *link) != NULL) {
            *link = life->lf_next;
            free(life);
            sim_pool_settle_dead(block->bl_pool, &collected);
        }
    }
    sim_pool_unlock_and_give(collected);
}

static aclError run_free(struct sim_run *run, void *argument)
{
    end_by_task(argument, sim_record_of(run->rn_stream, run->rn_ticket));
    return ACL_SUCCESS;
}

/* A free is discarded only after all earlier tasks of its stream have run or were discarded. */
static void drop_free(void *argument)
{
    end_by_task(argument, 0);
}

static struct sim_edge edge_of_free(const void *argument)
{
    const struct free_task *task = argument;
    return (struct sim_edge){.eg_kind = SIM_EDGE_FREES,
                             .eg_range = {.rg_address = task->fr_address, .rg_size = task->fr_size,
                                          .rg_birth = task->fr_birth, .rg_write = true}};
}

static const struct sim_op free_op = {.op_name = "aclrtMemPoolFreeAsync", .op_run = run_free, .op_drop = drop_free,
                                      .op_edge = edge_of_free,
                                      .op_flags = SIM_OP_LIGHT | SIM_OP_LIVE, .op_kind = SIM_TASK_OTHER,
                                      .op_number = its_address};

/* Marks a used block as being freed. */
static aclError begin_free(const void *address, struct free_task *task)
{
    sim_lock(&sim_pool_lock);
    struct sim_pool_block *block = sim_pool_find_block(address);
    bool known = block != NULL, used = known && block->bl_state == SIM_POOL_USED;
    if (used) {
        block->bl_state = SIM_POOL_FREEING;
        atomic_fetch_add(&sim_event_listeners, 1);
        task->fr_birth = block->bl_birth;
        if (sim_watcher_any())
            sim_watcher_free_queued(block->bl_birth);
        task->fr_size = block->bl_used;
    }
    sim_unlock(&sim_pool_lock);
    SIM_CHECK(known, ACL_ERROR_RT_PARAM_INVALID,
              "ptr is %p, expected the address of a block made by aclrtMemPoolMallocAsync", address);
    SIM_CHECK(used, ACL_ERROR_RT_PARAM_INVALID, "ptr is %p, whose block was freed already, expected one that was not",
              address);
    return ACL_SUCCESS;
}

/* `freed` is the record of the queued free, or 0 if it could not be queued. */
static void end_begin_free(const struct free_task *task, sim_record freed)
{
    sim_lock(&sim_pool_lock);
    struct sim_pool_block *block = sim_pool_find_block(task->fr_address);
    if (block != NULL && block->bl_birth == task->fr_birth && block->bl_state == SIM_POOL_FREEING) {
        block->bl_freed = freed;
        block->bl_offered = freed != 0;
        block->bl_state = freed != 0 ? SIM_POOL_FREEING : SIM_POOL_USED;
        if (freed == 0)
            atomic_fetch_sub(&sim_event_listeners, 1);
    }
    sim_unlock(&sim_pool_lock);
}

aclError sim_pool_free(void *address, struct sim_target stream, void *site)
{
    struct free_task task = {.fr_address = address, .fr_site = site, .fr_thread = sim_thread_number()};
    _Atomic sim_record record = 0;
    SIM_TRY(begin_free(address, &task));
    aclError code = sim_engine_submit(stream, &free_op, &task, sizeof task, site, &record);
    end_begin_free(&task, atomic_load(&record));
    return code;
}

SIM_RARE bool sim_pool_release(const void *address, const void *site, aclError *code)
{
    struct sim_pool_block *collected = NULL;
    sim_lock(&sim_pool_lock);
    struct sim_pool_block *block = sim_pool_find_block(address);
    bool known = block != NULL, used = known && block->bl_state == SIM_POOL_USED;
    if (used) {
        sim_heap_bury(block->bl_birth, site, sim_thread_number());
        end_life(block, behind_former(block));
        sim_pool_settle_dead(block->bl_pool, &collected);
    }
    sim_pool_unlock_and_give(collected);
    if (known)
        *code = used ? ACL_SUCCESS
                     : sim_fail(ACL_ERROR_RT_PARAM_INVALID,
                                "devPtr is %p, whose block was freed already, expected the start of a live block",
                                address);
    return known;
}

bool sim_pool_lives(const struct sim_range *range)
{
    struct sim_block heap;
    bool lives = false;
    if (atomic_load_explicit(&sim_owner_blocks, memory_order_acquire) == 0)
        return false;
    sim_lock(&sim_pool_lock);
    const struct sim_pool_life *life = NULL;
    if (sim_heap_zone_cover(&sim_heap_zone_of_device, range->rg_address, &heap.bk_start)) {
        const struct sim_pool_block *block = sim_pool_find_block((void *)(uintptr_t)heap.bk_start);
        life = block != NULL ? block->bl_former : NULL;
    }
    for (; life != NULL && !lives; life = life->lf_next)
        lives = life->lf_birth == range->rg_birth;
    sim_unlock(&sim_pool_lock);
    return lives;
}
