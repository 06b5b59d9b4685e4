/* Shared by pool.c (pools and the blocks they keep) and pool_order.c (which allocation gets which block). */
#ifndef SIM_POOL_INNER_H
#define SIM_POOL_INNER_H

#include "address/memory.h"
#include "pool.h"

#define SIM_POOL_BEHIND 8 /* streams that a block knows to be ordered behind its free */

enum sim_pool_state { SIM_POOL_USED, SIM_POOL_FREEING, SIM_POOL_IDLE };
enum sim_pool_rank { SIM_POOL_BY_STREAM, SIM_POOL_BY_EVENT, SIM_POOL_BY_TIME, SIM_POOL_BY_WAITING, SIM_POOL_RANKS };

struct sim_pool_life {
    struct sim_pool_life *lf_next; /* the next older allocation */
    sim_record lf_freed;           /* record of its queued free */
    uint32_t lf_birth;
};

struct sim_pool {
    struct sim_slot pl_slot;
    int32_t pl_device;
    uint32_t pl_pins;      /* blocks, and threads that ask the heap for one; 0 releases the slot */
    bool pl_dead, pl_lost; /* destroyed; its device went down */
    bool pl_may[SIM_POOL_RANKS];    /* the reuse rules that it may apply */
    uint64_t pl_limit, pl_threshold;
    uint64_t pl_reserved, pl_reserved_high; /* bytes of pages */
    uint64_t pl_used, pl_used_high;         /* bytes of allocations */
    struct sim_pool_block *pl_blocks;
};

struct sim_pool_block {
    struct sim_pool_block *bl_next;   /* in its pool, or in a list of blocks to be returned */
    struct sim_pool_block *bl_linked; /* in its bucket */
    struct sim_pool *bl_pool;
    struct sim_block bl_heap; /* as it was allocated */
    uint64_t bl_bytes;        /* of its pages */
    uint64_t bl_used;         /* of its newest allocation */
    uint32_t bl_birth;
    enum sim_pool_state bl_state;
    bool bl_offered;          /* may be reused: not in use, and F (pool_order.c) is known */
    sim_record bl_freed;
    sim_record bl_behind[SIM_POOL_BEHIND]; /* 0 ends the list */
    struct sim_pool_life *bl_former;
};

extern struct sim_table sim_pools;
extern struct sim_lock sim_pool_lock; /* guards pools, blocks and allocations */

/* Returns the live pool, locked, or NULL with the message of 107017. */
struct sim_pool *sim_pool_open(aclrtMemPool handle);

/* ---- with the lock ---- */

struct sim_pool_block *sim_pool_find_block(const void *address);
/* Adds an unused block whose bytes the pool counts already. */
void sim_pool_add_block(struct sim_pool *pool, struct sim_pool_block *block);

/* Moves spare blocks of at most `bytes` in total to the list `collected`. With `over` the last one may exceed that. */
void sim_pool_collect(struct sim_pool *pool, uint64_t bytes, bool over, struct sim_pool_block **collected);

/* A destroyed pool keeps no unused block; its slot is released with its last block. */
void sim_pool_settle_dead(struct sim_pool *pool, struct sim_pool_block **collected);

/* Functions of sim_pool_owner (address/owner.h). */
bool sim_pool_release(const void *address, const void *site, aclError *code);
bool sim_pool_lives(const struct sim_range *range);

/* Unlocks, and returns the collected blocks to the heap. The heap does not close before this is done. */
void sim_pool_unlock_and_give(struct sim_pool_block *collected);

#endif
