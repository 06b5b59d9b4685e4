/* Tasks that a device does by itself, without a kernel: reductions, cache operations, random numbers. */
#ifndef SIM_TASK_SYSTEM_H
#define SIM_TASK_SYSTEM_H

#include "engine/engine.h"

/* The weight of a task by the bytes it touches: light, or heavy enough to wake a worker for. */
static inline uint32_t sim_task_weight(uint64_t bytes)
{
    return (bytes > 4096) + (bytes > UINT64_C(256) << 10); /* the latter take longer than waking a worker */
}

/* ---- task_reduce.c ---- */

struct sim_task_reduction {
    void *re_dst;
    const void *re_src;
    uint64_t re_bytes;
    aclrtReduceKind re_kind;
    aclDataType re_type;
};
bool sim_task_reduce_knows(aclDataType type); /* what the call takes, whatever the chip */
/* 107000, 107008, 207000 by the chip. */
aclError sim_task_reduce_check(const struct sim_task_reduction *reduction);
aclError sim_task_reduce_queue(const struct sim_task_reduction *reduction, struct sim_target stream, void *site);

/* ---- task_cmo.c ---- */

#define SIM_CMO_BYTES 64 /* of a description in device memory */
aclError sim_task_cmo_queue(const void *address, uint64_t size, struct sim_target stream, void *site);
aclError sim_task_cmo_describe(void *description, const void *address, uint64_t size);
aclError sim_task_cmo_queue_described(const void *description, struct sim_target stream, void *site);

/* ---- task_random.c ---- */

/* 107000 for what no task could do. */
aclError sim_task_random_check(const aclrtRandomNumTaskInfo *info);
aclError sim_task_random_queue(const aclrtRandomNumTaskInfo *info, struct sim_target stream, void *site);
/* Queues the replacement of the addresses, the seed and the number of a recorded task by those that stand in device
 * memory when its turn comes. `task` is its number in the stream it was recorded on: 107000, 107005. */
aclError sim_task_random_update(struct sim_target recorded, uint32_t task, const void *address, struct sim_target stream,
                           void *site);

#endif
