/* Cache operations as tasks. There is no cache to fill here: a task only checks that its memory is allocated when it
 * runs. A description in device memory is two words, address and size, which the task reads when it runs. This file
 * has no state and no lock. */
#include "address/memory.h"
#include "memory_copy.h"
#include "task_system.h"
#include <string.h>

struct description {
    uint64_t ds_address, ds_size;
    uint64_t ds_reserved[6];
};
_Static_assert(sizeof(struct description) == SIM_CMO_BYTES, "a description fills its memory");

static aclError run_described(struct sim_run *run, void *argument)
{
    const struct sim_range *range = argument;
    struct description found;
    struct sim_range named = {.rg_address = NULL};
    memcpy(&found, sim_memory_reach(range->rg_address), sizeof found);
    named.rg_address = (const void *)(uintptr_t)found.ds_address;
    named.rg_size = found.ds_size;
    if (sim_memory_try_claim(&named))
        return ACL_SUCCESS;
    run->rn_reason = "its description names memory that is not device memory, or extends beyond its block";
    return ACL_ERROR_RT_DEVICE_MEM_ERROR;
}

static aclError queue(const struct sim_op *op, const void *address, uint64_t size, const char *name,
                      struct sim_target stream, void *site)
{
    struct sim_range range = {.rg_address = address, .rg_size = size};
    SIM_TRY(sim_memory_claim(&range, name));
    return sim_engine_submit(stream, op, &range, sizeof range, site, NULL);
}

aclError sim_task_cmo_queue(const void *address, uint64_t size, struct sim_target stream, void *site)
{
    static const struct sim_op op = {.op_name = "aclrtCmoAsync", .op_run = sim_engine_nothing, .op_range_count = 1,
                                     .op_flags = SIM_OP_LIGHT, .op_kind = SIM_TASK_OTHER};
    return queue(&op, address, size, "src", stream, site);
}

aclError sim_task_cmo_queue_described(const void *description, struct sim_target stream, void *site)
{
    static const struct sim_op op = {.op_name = "aclrtCmoAsyncWithDesc", .op_run = run_described,
                                     .op_range_count = 1, .op_flags = SIM_OP_LIGHT, .op_kind = SIM_TASK_OTHER};
    return queue(&op, description, SIM_CMO_BYTES, "cmoDesc", stream, site);
}

aclError sim_task_cmo_describe(void *description, const void *address, uint64_t size)
{
    struct description made = {.ds_address = (uint64_t)(uintptr_t)address, .ds_size = size};
    struct sim_range place = {.rg_address = description, .rg_size = sizeof made, .rg_write = true};
    struct sim_range named = {.rg_address = address, .rg_size = size};
    SIM_TRY(sim_memory_claim(&place, "cmoDesc"));
    SIM_TRY(sim_memory_claim(&named, "src"));
    return sim_memory_copy(description, &made, sizeof made);
}
