/* Copies within a device whose addresses are stored in device memory. The task reads them when it runs. Its ranges
 * are the bytes that hold the addresses; the bytes that it copies are checked once the addresses are known. This
 * file has no state and no lock. */
#include "address/memory.h"
#include "memory_copy.h"
#include "task_system.h"
#include <inttypes.h>
#include <string.h>

struct description {
    uint64_t ds_dst, ds_src, ds_size;
    uint64_t ds_reserved[5];
};
_Static_assert(sizeof(struct description) == SIM_COPY_DESCRIPTION_BYTES, "a description fills its memory");

/* The ranges are the first member. */
struct indirect_task {
    struct sim_range in_dst, in_src;
    uint64_t in_dst_offset, in_src_offset, in_size;
};
_Static_assert(sizeof(struct indirect_task) <= SIM_TASK_BYTES, "every copy stays in its task");

/* ---- tasks ---- */

static aclError fail(struct sim_run *run, const char *reason)
{
    run->rn_reason = reason;
    return ACL_ERROR_RT_DEVICE_MEM_ERROR;
}

/* Host memory that is mapped for devices belongs to every device. */
static bool share_device(uint64_t dst, uint64_t src, int32_t devices[2])
{
    struct sim_place places[2];
    sim_memory_locate((const void *)(uintptr_t)dst, &places[0]);
    sim_memory_locate((const void *)(uintptr_t)src, &places[1]);
    bool both = sim_memory_is_device(&places[0]) && sim_memory_is_device(&places[1]);
    for (int i = 0; i < 2; i++)
        devices[i] = both ? places[i].pl_block.bk_device : 0;
    return devices[0] == devices[1];
}

static aclError copy_found(struct sim_run *run, uint64_t dst, uint64_t src, uint64_t size)
{
    struct sim_range to = {.rg_address = (const void *)(uintptr_t)dst, .rg_size = size, .rg_write = true};
    struct sim_range from = {.rg_address = (const void *)(uintptr_t)src, .rg_size = size};
    int32_t devices[2];
    if (!sim_memory_try_claim(&to))
        return fail(run, "the destination is not device memory, or is smaller than the size to copy");
    if (!sim_memory_try_claim(&from))
        return fail(run, "the source is not device memory, or is smaller than the size to copy");
    if (!share_device(dst, src, devices))
        return fail(run, "its description asks for a copy from one device to another");
    memmove(sim_memory_reach(to.rg_address), sim_memory_reach(from.rg_address), size);
    return ACL_SUCCESS;
}

static aclError run_described(struct sim_run *run, void *argument)
{
    const struct sim_range *range = argument;
    struct description found;
    memcpy(&found, sim_memory_reach(range->rg_address), sizeof found);
    return copy_found(run, found.ds_dst, found.ds_src, found.ds_size);
}

static aclError run_indirect(struct sim_run *run, void *argument)
{
    const struct indirect_task *task = argument;
    uint64_t dst, src;
    memcpy(&dst, sim_memory_reach(task->in_dst.rg_address), sizeof dst);
    memcpy(&src, sim_memory_reach(task->in_src.rg_address), sizeof src);
    return copy_found(run, dst + task->in_dst_offset, src + task->in_src_offset, task->in_size);
}

/* ---- calls ---- */

aclError sim_memory_describe_copy(void *description, void *dst, const void *src, uint64_t size)
{
    struct description made = {.ds_dst = (uint64_t)(uintptr_t)dst, .ds_src = (uint64_t)(uintptr_t)src, .ds_size = size};
    struct sim_range place = {.rg_address = description, .rg_size = sizeof made, .rg_write = true};
    struct sim_range to = {.rg_address = dst, .rg_size = size, .rg_write = true};
    struct sim_range from = {.rg_address = src, .rg_size = size};
    int32_t devices[2];
    SIM_TRY(sim_memory_claim(&place, "desc"));
    SIM_TRY(sim_memory_claim(&from, "srcAddr"));
    SIM_TRY(sim_memory_claim(&to, "dstAddr"));
    SIM_CHECK(share_device(made.ds_dst, made.ds_src, devices), ACL_ERROR_RT_PARAM_INVALID,
              "srcAddr lies on device %d and dstAddr on device %d, expected one device", devices[1], devices[0]);
    return sim_memory_copy(description, &made, sizeof made);
}

aclError sim_memory_copy_described(const void *description, struct sim_target stream, void *site)
{
    static const struct sim_op op = {.op_name = "aclrtMemcpyAsyncWithDesc", .op_run = run_described,
                                     .op_range_count = 1, .op_kind = SIM_TASK_COPY};
    struct sim_range range = {.rg_address = description, .rg_size = SIM_COPY_DESCRIPTION_BYTES};
    SIM_TRY(sim_memory_claim(&range, "desc"));
    return sim_engine_submit(stream, &op, &range, sizeof range, site, NULL);
}

aclError sim_memory_copy_indirect(const struct sim_indirect *copy, struct sim_target stream, void *site)
{
#define WEIGHT(flags)                                                                                                  \
    {.op_name = "aclrtMemcpyAsyncWithOffset", .op_run = run_indirect, .op_range_count = 2,                             \
     .op_kind = SIM_TASK_COPY, .op_flags = (flags)}
    static const struct sim_op ops[] = {WEIGHT(SIM_OP_LIGHT), WEIGHT(0), WEIGHT(SIM_OP_HEAVY)};
    struct indirect_task task = {.in_dst = {.rg_address = copy->id_dst, .rg_size = sizeof(uint64_t)},
                                 .in_src = {.rg_address = copy->id_src, .rg_size = sizeof(uint64_t)},
                                 .in_dst_offset = copy->id_dst_offset,
                                 .in_src_offset = copy->id_src_offset,
                                 .in_size = copy->id_size};
    SIM_TRY(sim_memory_claim(&task.in_dst, "dst"));
    SIM_TRY(sim_memory_claim(&task.in_src, "src"));
    return sim_engine_submit(stream, &ops[sim_task_weight(copy->id_size)], &task, sizeof task, site, NULL);
}
