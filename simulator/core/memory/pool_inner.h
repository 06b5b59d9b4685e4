/* Between pool.c (pools and what they keep) and pool_order.c (who gets which block when). */
#ifndef SIM_POOL_INNER_H
#define SIM_POOL_INNER_H

#include "address/memory.h"
#include "pool.h"

#define SIM_POOL_BEHIND 8 /* streams that a block's order is remembered for; more may not have it before it has passed */

enum sim_pool_state { SIM_POOL_USED, SIM_POOL_FREEING, SIM_POOL_IDLE };
enum sim_pool_rank { SIM_POOL_BY_STREAM, SIM_POOL_BY_EVENT, SIM_POOL_BY_TIME, SIM_POOL_BY_WAITING, SIM_POOL_RANKS };

struct sim_pool_life {
    struct sim_pool_life *lf_next; /* an older one */
    sim_record lf_freed;           /* where its free stands */
    uint32_t lf_birth;
};

struct sim_pool {
    struct sim_slot pl_slot;
    int32_t pl_device;
    uint32_t pl_pins;      /* blocks, and threads that ask the heap for one; the slot is kept until this count is 0 */
    bool pl_dead, pl_lost; /* destroyed; its device went down */
    bool pl_may[SIM_POOL_RANKS];    /* which orders it relies on */
    uint64_t pl_limit, pl_threshold;
    uint64_t pl_reserved, pl_reserved_high; /* bytes of pages */
    uint64_t pl_used, pl_used_high;         /* bytes of lives */
    struct sim_pool_block *pl_blocks;
};

struct sim_pool_block {
    struct sim_pool_block *bl_next;   /* in its pool, or among those to be given back */
    struct sim_pool_block *bl_linked; /* in its bucket */
    struct sim_pool *bl_pool;
    struct sim_block bl_heap; /* as it was allocated */
    uint64_t bl_bytes;        /* of its pages */
    uint64_t bl_used;         /* of its newest life */
    uint32_t bl_birth;
    enum sim_pool_state bl_state;
    bool bl_offered;          /* may be given out: not used, and F is known */
    sim_record bl_freed;
    sim_record bl_behind[SIM_POOL_BEHIND]; /* 0: not filled */
    struct sim_pool_life *bl_former;
};

extern struct sim_table sim_pools;
extern struct sim_lock sim_pool_lock; /* guards all of it */

/* The live pool, locked; NULL with a message of 107017. */
struct sim_pool *sim_pool_open(aclrtMemPool handle);

/* ---- with the lock ---- */

struct sim_pool_block *sim_pool_find_block(const void *address);
/* One that is not used, whose bytes the pool counts already. */
void sim_pool_add_block(struct sim_pool *pool, struct sim_pool_block *block);

/* Moves spare blocks of at most `bytes` together to a list of those to be given back; with `over` the last of them may
 * be larger. */
void sim_pool_collect(struct sim_pool *pool, uint64_t bytes, bool over, struct sim_pool_block **collected);

/* A pool that was destroyed keeps nothing that is not used, and its slot only as long as anything is. */
void sim_pool_settle_dead(struct sim_pool *pool, struct sim_pool_block **collected);

/* What the owner of blocks is asked (owner.h). */
bool sim_pool_release(const void *address, const void *site, aclError *code);
bool sim_pool_lives(const struct sim_range *range);

/* Unlocks, and gives what was collected back to the heap, which does not close before this is done. */
void sim_pool_unlock_and_give(struct sim_pool_block *collected);

#endif
