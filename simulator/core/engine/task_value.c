/* Values in device memory: tasks that write one, and tasks that wait for one.
 *
 * A wait whose condition is not met puts its stream into one list, with a copy of the condition, and parks at the
 * stream's own gate st_valued. A thread that may have written device memory (a holder when it flushes, a synchronous
 * copy, a value write) checks that list, takes out the streams whose condition is met and raises their gates; the task
 * then checks again. Freed memory counts as a met condition: the engine's own check then fails the task. The stream of
 * a discarded wait stays in the list until its condition is met or it is destroyed; raising its gate does no harm.
 *
 * list_lock, a leaf, guards the list and the conditions in it; gates are raised after it is released. Writers do not
 * take it while the list is empty. Therefore a wait makes every running thread pass a barrier between joining the list
 * and its last check of the memory: either that check sees the value, or the writer sees the list. */
#include "task_value.h"
#include "address/memory.h"
#include "engine.h"

#define AT_ONCE 16 /* gates raised each time that the lock is taken */

_Atomic uint32_t sim_task_value_waits; /* length of the list */
static struct sim_lock list_lock;
static struct sim_stream *first;

static _Atomic uint64_t *place_of(const struct sim_task_value *value)
{
    return sim_memory_reach(value->vl_range.rg_address);
}

static bool is_met(const struct sim_task_value *value)
{
    uint64_t found = atomic_load_explicit(place_of(value), memory_order_acquire), wanted = value->vl_value;
    switch (value->vl_flag) {
    case ACL_STREAM_WAIT_VALUE_GEQ:
        return (int64_t)(found - wanted) >= 0;
    case ACL_STREAM_WAIT_VALUE_EQ:
        return found == wanted;
    case ACL_STREAM_WAIT_VALUE_AND:
        return (found & wanted) != 0;
    default:
        return ~(found | wanted) != 0;
    }
}

/* ---- the list ---- */

static void unlink_at(struct sim_stream **link)
{
    struct sim_stream *stream = *link;
    *link = stream->st_next_valued;
    stream->st_waits_for_value = false;
    atomic_fetch_sub_explicit(&sim_task_value_waits, 1, memory_order_relaxed);
}

void sim_task_value_forget(struct sim_stream *stream)
{
    /* The caller runs after the stream's waits, and so reads a count that includes the stream if it is in the list. */
    if (likely(atomic_load_explicit(&sim_task_value_waits, memory_order_relaxed) == 0))
        return;
    sim_lock(&list_lock);
    struct sim_stream **link = &first;
    while (stream->st_waits_for_value && *link != stream)
        link = &(*link)->st_next_valued;
    if (stream->st_waits_for_value)
        unlink_at(link);
    sim_unlock(&list_lock);
}

void sim_task_value_look(void)
{
    struct sim_stream *met[AT_ONCE];
    int count;
    do {
        count = 0;
        sim_lock(&list_lock);
        for (struct sim_stream **link = &first, *stream; (stream = *link) != NULL && count < AT_ONCE;) {
            if (sim_memory_lives(&stream->st_value.vl_range) && !is_met(&stream->st_value)) {
                link = &stream->st_next_valued;
                continue;
            }
            unlink_at(link);
            met[count++] = stream;
        }
        sim_unlock(&list_lock);
        for (int i = 0; i < count; i++)
            sim_gate_count(&met[i]->st_valued);
    } while (count == AT_ONCE);
}

void sim_task_value_after_fork(void)
{
    first = NULL;
    atomic_store_explicit(&sim_task_value_waits, 0, memory_order_relaxed);
    sim_lock_renew(&list_lock);
}

/* ---- tasks ---- */

static uint64_t its_address(const void *argument)
{
    return (uint64_t)(uintptr_t)((const struct sim_task_value *)argument)->vl_range.rg_address;
}

static aclError run_write(struct sim_run *run, void *argument)
{
    const struct sim_task_value *value = argument;
    (void)run;
    atomic_store_explicit(place_of(value), value->vl_value, memory_order_release);
    sim_task_value_written(); /* at once: later tasks of this stream may wait for work that the value lets continue */
    return ACL_SUCCESS;
}

static aclError run_wait(struct sim_run *run, void *argument)
{
    const struct sim_task_value *value = argument;
    struct sim_stream *stream = run->rn_stream;
    if (is_met(value))
        return ACL_SUCCESS;
    sim_lock(&list_lock);
    stream->st_value = *value;
    if (!stream->st_waits_for_value) {
        stream->st_waits_for_value = true;
        stream->st_next_valued = first;
        first = stream;
        atomic_fetch_add_explicit(&sim_task_value_waits, 1, memory_order_seq_cst);
    }
    run->rn_gate = &stream->st_valued;
    run->rn_target = sim_gate_level(&stream->st_valued) + 1;
    run->rn_deadline = SIM_FOREVER;
    sim_unlock(&list_lock);
    sim_lock_barrier();
    if (!is_met(value))
        return SIM_PARK;
    sim_task_value_forget(stream);
    return ACL_SUCCESS;
}

#define VALUE_OP(name, run, kind)                                                                                      \
    {.op_name = name, .op_run = run, .op_range_count = 1, .op_flags = SIM_OP_LIGHT, .op_kind = kind,                \
     .op_number = its_address}
static const struct sim_op write_op = VALUE_OP("aclrtValueWrite", run_write, SIM_TASK_VALUE_WRITE);
static const struct sim_op wait_op = VALUE_OP("aclrtValueWait", run_wait, SIM_TASK_VALUE_WAIT);

aclError sim_task_value_make(void *address, uint64_t number, uint32_t flag, uint32_t flags,
                             struct sim_task_value *value)
{
    *value = (struct sim_task_value){
        .vl_range = {.rg_address = address, .rg_size = sizeof number, .rg_write = flags != SIM_VALUE_FLAGS},
        .vl_value = number,
        .vl_flag = flag};
    SIM_CHECK(flag < flags, ACL_ERROR_RT_PARAM_INVALID, "flag is %u, expected %s", flag,
              flags == SIM_VALUE_FLAGS ? "0 (at least), 1 (equal), 2 (a common bit) or 3 (a bit set in neither)"
                                       : "0: it is reserved");
    SIM_CHECK((uintptr_t)address % sizeof number == 0, ACL_ERROR_RT_ADDR_UNALIGNED,
              "devAddr is %p, expected a multiple of 8", address);
    SIM_TRY(sim_memory_claim(&value->vl_range, "devAddr"));
    if (likely(value->vl_range.rg_record != NULL))
        return ACL_SUCCESS;
    /* Only writes by tasks and calls wake a wait; a store of the host to this memory would not. */
    struct sim_block mapped;
    bool host = sim_memory_find_mapped(address, &mapped);
    SIM_CHECK(host && value->vl_range.rg_write, ACL_ERROR_RT_PARAM_INVALID,
              "devAddr is %p, which is %s memory, expected device memory", address,
              host ? "registered host" : "managed");
    return ACL_SUCCESS;
}

aclError sim_task_value_write(const struct sim_task_value *value, struct sim_target stream, void *site)
{
    return sim_engine_submit(stream, &write_op, value, sizeof *value, site, NULL);
}

aclError sim_task_value_wait(const struct sim_task_value *value, struct sim_target stream, void *site)
{
    return sim_engine_submit(stream, &wait_op, value, sizeof *value, site, NULL);
}
