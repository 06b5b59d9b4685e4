/* Tasks of the control interface: launching a C function, and holding and releasing a stream.
 *
 * A held stream parks at its gate st_latch: the n-th hold passes after n releases. st_holds counts the holds that were
 * queued or discarded, and the gate's level counts the releases; both only rise, also when the stream's slot is reused.
 * The gate's lock makes a release of the oldest hold one step. */
#include "launch.h"
#include "address/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct launch {
    aclsimTaskFunc la_function;
    void *la_argument;
    size_t la_count;
    struct sim_range la_ranges[];
};

static aclError run_launch(struct sim_run *run, void *argument)
{
    struct launch *launch = argument;
    (void)run;
    return sim_engine_user_code(launch->la_function(launch->la_argument));
}

static const struct sim_range *ranges_of_launch(const void *argument, size_t *count)
{
    const struct launch *launch = argument;
    *count = launch->la_count;
    return launch->la_ranges;
}

#define LAUNCH_OP(flags)                                                                                               \
    {.op_name = "aclsimLaunchTask", .op_run = run_launch, .op_ranges = ranges_of_launch,                               \
     .op_flags = SIM_OP_KERNEL | (flags), .op_kind = SIM_TASK_VECTOR}
static const struct sim_op launch_op = LAUNCH_OP(0), launch_light_op = LAUNCH_OP(SIM_OP_LIGHT),
                           launch_worker_op = LAUNCH_OP(SIM_OP_WORKER);

aclError sim_launch_task(struct sim_target stream, aclsimTaskFunc function, void *argument, const aclsimRange *ranges,
                         size_t count, uint32_t flags, void *site)
{
    const struct sim_op *op = flags == ACLSIM_TASK_LIGHT    ? &launch_light_op
                              : flags == ACLSIM_TASK_WORKER ? &launch_worker_op
                                                            : &launch_op;
    if (count == 0) { /* the common case, of constant size */
        const struct launch plain = {function, argument, 0};
        return sim_engine_submit(stream, op, &plain, sizeof plain, site, NULL);
    }
    _Alignas(struct launch) unsigned char small[SIM_TASK_BYTES];
    size_t size = sizeof(struct launch) + count * sizeof(struct sim_range);
    struct launch *launch = size <= sizeof small ? (void *)small : malloc(size);
    SIM_CHECK(launch != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for %zu ranges", count);
    launch->la_function = function;
    launch->la_argument = argument;
    launch->la_count = count;
    aclError code = ACL_SUCCESS;
    for (size_t i = 0; i < count && code == ACL_SUCCESS; i++) {
        char name[32];
        launch->la_ranges[i] = (struct sim_range){
            .rg_address = ranges[i].address, .rg_size = ranges[i].size, .rg_write = ranges[i].write != 0};
        if (likely(sim_memory_try_claim(&launch->la_ranges[i])))
            continue;
        snprintf(name, sizeof name, "ranges[%zu]", i);
        code = sim_memory_claim(&launch->la_ranges[i], name);
    }
    if (code == ACL_SUCCESS)
        code = sim_engine_submit(stream, op, launch, size, site, NULL);
    if ((void *)launch != (void *)small)
        free(launch);
    return code;
}

struct hold {
    struct sim_gate *ho_latch;
    uint64_t ho_number;
};

static aclError run_hold(struct sim_run *run, void *argument)
{
    const struct hold *hold = argument;
    run->rn_gate = hold->ho_latch;
    run->rn_target = hold->ho_number;
    return sim_gate_passed(hold->ho_latch, hold->ho_number) ? ACL_SUCCESS : SIM_PARK;
}

/* Counts a discarded hold, and all before it, as released. */
static void drop_hold(void *argument)
{
    const struct hold *hold = argument;
    sim_gate_raise(hold->ho_latch, hold->ho_number);
}

static struct sim_edge edge_of_hold(const void *argument)
{
    const struct hold *hold = argument;
    return (struct sim_edge){.eg_kind = SIM_EDGE_AWAITS, .eg_gate = hold->ho_latch};
}

static const struct sim_op hold_op = {.op_name = "aclsimStreamHold", .op_run = run_hold, .op_drop = drop_hold,
                                      .op_edge = edge_of_hold, .op_flags = SIM_OP_LIGHT | SIM_OP_LIVE,
                                      .op_kind = SIM_TASK_OTHER};

aclError sim_launch_hold(struct sim_target stream, void *site, _Atomic sim_record *record)
{
    struct hold hold = {&stream.tg_stream->st_latch, atomic_fetch_add(&stream.tg_stream->st_holds, 1) + 1};
    aclError code = sim_engine_submit(stream, &hold_op, &hold, sizeof hold, site, record);
    if (code != ACL_SUCCESS)
        drop_hold(&hold);
    return code;
}

aclError sim_launch_release(struct sim_stream *stream)
{
    sim_lock(&stream->st_latch.gt_lock);
    uint64_t level = sim_gate_level(&stream->st_latch);
    bool closed = level < atomic_load(&stream->st_holds);
    if (closed)
        atomic_store_explicit(&stream->st_latch.gt_level, level + 1, memory_order_release);
    sim_gate_release(&stream->st_latch, false);
    SIM_CHECK(closed, ACL_ERROR_RT_PARAM_INVALID, "the stream is not held, expected aclsimStreamHold before");
    return ACL_SUCCESS;
}
