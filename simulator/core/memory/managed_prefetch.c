/* Prefetches of managed memory, as tasks on streams. Nothing is moved, because host and devices share the memory of
 * one machine: the task only notes each page's location (address/managed.c, which has the lock). The task owns its
 * ranges and locations. */
#include "managed_prefetch.h"

#include "address/managed.h"
#include "address/memory.h"
#include <stdlib.h>

struct prefetch {
    size_t pf_count;
    struct sim_range pf_ranges[]; /* followed by one location per range */
};

static aclrtMemManagedLocation *locations_of(const struct prefetch *prefetch)
{
    return (aclrtMemManagedLocation *)(uintptr_t)&prefetch->pf_ranges[prefetch->pf_count];
}

static const struct sim_range *ranges_of_prefetch(const void *argument, size_t *count)
{
    const struct prefetch *prefetch = argument;
    *count = prefetch->pf_count;
    return prefetch->pf_ranges;
}

static aclError run_prefetch(struct sim_run *run, void *argument)
{
    const struct prefetch *prefetch = argument;
    const aclrtMemManagedLocation *locations = locations_of(prefetch);
    (void)run;
    for (size_t i = 0; i < prefetch->pf_count; i++)
        sim_managed_note_prefetch(prefetch->pf_ranges[i].rg_address, prefetch->pf_ranges[i].rg_size, &locations[i]);
    return ACL_SUCCESS;
}

#define PREFETCH_OP(name)                                                                                              \
    {.op_name = name, .op_run = run_prefetch, .op_ranges = ranges_of_prefetch, .op_kind = SIM_TASK_OTHER}
static const struct sim_op prefetch_op = PREFETCH_OP("aclrtMemManagedPrefetchAsync"),
                           prefetch_batch_op = PREFETCH_OP("aclrtMemManagedPrefetchBatchAsync");

aclError sim_managed_prefetch(const struct sim_managed_goal *goals, size_t count, bool batch, struct sim_target stream,
                              void *site)
{
    size_t each = sizeof(struct sim_range) + sizeof(aclrtMemManagedLocation);
    size_t size = sizeof(struct prefetch) + count * each;
    struct prefetch *prefetch = malloc(size);
    SIM_CHECK(prefetch != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for %zu ranges", count);
    prefetch->pf_count = count;
    aclError code = ACL_SUCCESS;
    for (size_t i = 0; i < count && code == ACL_SUCCESS; i++) {
        struct sim_range range = {.rg_address = goals[i].go_address, .rg_size = goals[i].go_size};
        code = sim_memory_claim(&range, "ptr");
        prefetch->pf_ranges[i] = range;
        locations_of(prefetch)[i] = goals[i].go_location;
    }
    if (code == ACL_SUCCESS)
        code = sim_engine_submit(stream, batch ? &prefetch_batch_op : &prefetch_op, prefetch, size, site, NULL);
    free(prefetch);
    return code;
}
