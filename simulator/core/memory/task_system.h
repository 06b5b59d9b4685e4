/* Tasks that a device runs without a kernel: reductions, cache operations, random numbers. */
#ifndef SIM_TASK_SYSTEM_H
#define SIM_TASK_SYSTEM_H

#include "engine/engine.h"

/* The weight of a task by the bytes that it touches: light, or heavy enough to wake a worker. */
static inline uint32_t sim_task_weight(uint64_t bytes)
{
    return (bytes > 4096) + (bytes > UINT64_C(256) << 10); /* above 256 KiB a task takes longer than waking a worker */
}

/* ---- task_reduce.c ---- */

struct sim_task_reduction {
    void *re_dst;
    const void *re_src;
    uint64_t re_bytes;
    aclrtReduceKind re_kind;
    aclDataType re_type;
};
bool sim_task_reduce_knows(aclDataType type); /* whether the call accepts the type, on any chip */
/* Returns 107000 or 107008 for wrong arguments, and 207000 if the chip lacks the reduction. */
aclError sim_task_reduce_check(const struct sim_task_reduction *reduction);
aclError sim_task_reduce_queue(const struct sim_task_reduction *reduction, struct sim_target stream, void *site);

/* ---- task_cmo.c ---- */

#define SIM_CMO_BYTES 64 /* of one description in device memory */
aclError sim_task_cmo_queue(const void *address, uint64_t size, struct sim_target stream, void *site);
aclError sim_task_cmo_describe(void *description, const void *address, uint64_t size);
aclError sim_task_cmo_queue_described(const void *description, struct sim_target stream, void *site);

/* ---- task_random.c ---- */

/* Returns 107000 for arguments that no task can use. */
aclError sim_task_random_check(const aclrtRandomNumTaskInfo *info);
aclError sim_task_random_queue(const aclrtRandomNumTaskInfo *info, struct sim_target stream, void *site);
/* Queues a task that replaces the addresses, the seed and the number of a recorded task by values that it reads from
 * device memory when it runs. `task` is the recorded task's number in the stream it was recorded on. Returns 107000
 * or 107005. */
aclError sim_task_random_update(struct sim_target recorded, uint32_t task, const void *address,
                                struct sim_target stream, void *site);

#endif
