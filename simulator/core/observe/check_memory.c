/* The checker of memory: tasks and copies that touch bytes beyond the size that was asked for, tasks whose memory was
 * freed, wrong and early frees, copies whose direction contradicts their addresses, replays with other memory than at
 * the capture, tensors at odd addresses, and buffers that do not have the size of a model's input or output.
 *
 * For each block and stream there is the newest task of that stream that uses the block, so that a free can tell
 * whether such a task is still queued. `lock` guards these uses. It is a leaf: it is taken with the locks of streams
 * and heaps held. The uses of a block end with the block; above USES of them, further ones are not noted. */
#include "address/memory.h"
#include "base/zero.h"
#include "check.h"
#include "engine/context.h"
#include "engine/device.h"
#include "engine/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define USES (1u << 20)
#define BUCKETS 16384u
#define ALIGNMENT 32 /* of the addresses of tensors */

/* ---- notes ---- */

static void note_task(struct sim_finding *finding, const char *label, const struct sim_task *task,
                      const struct sim_stream *stream, uint64_t ticket)
{
    sim_check_note(finding, label, task->ta_site, task->ta_thread, "%s, task %" PRIu64 " of stream %#" PRIx64,
                   task->ta_op->op_name, ticket,
                   atomic_load_explicit(&stream->st_slot.sl_handle, memory_order_relaxed));
}

static const char *call_in_progress(void)
{
    return sim_thread.th_function != NULL ? sim_thread.th_function : "a call";
}

/* ---- bytes beyond the requested size ---- */

/* The bytes from the first to the last one that a footprint touches; false if there is none. */
static bool hull_of(const struct sim_footprint *footprint, uint64_t *low, uint64_t *high)
{
    *low = (uint64_t)(uintptr_t)footprint->fp_address;
    *high = *low + footprint->fp_element;
    for (uint32_t i = 0; i < footprint->fp_rank; i++) {
        if (footprint->fp_dims[i] <= 0)
            return false;
        int64_t reach = (footprint->fp_dims[i] - 1) * footprint->fp_strides[i] * (int64_t)footprint->fp_element;
        *(reach < 0 ? low : high) += (uint64_t)reach;
    }
    return footprint->fp_element != 0;
}

/* Finds the block of a place whose bytes before `high` are beyond what was asked for, but inside the block. */
static bool find_beyond(uint64_t low, uint64_t high, struct sim_place *place)
{
    sim_memory_locate((const void *)(uintptr_t)low, place);
    const struct sim_block *block = &place->pl_block;
    return sim_memory_is_alive(place) && block->bk_record != NULL && high > block->bk_start + block->bk_requested &&
           high <= block->bk_start + block->bk_size;
}

static void begin_beyond(struct sim_finding *finding, const struct sim_block *block, uint64_t high, bool writes,
                         const char *call)
{
    uint64_t end = block->bk_start + block->bk_requested;
    sim_check_begin(finding, SIM_CHECK_MEMORY, "beyond-requested-size",
                    "Allocate as many bytes as are used; the bytes behind them are padding, which other devices lack.",
                    "%s %s %" PRIu64 " bytes behind the %" PRIu64 " bytes that were requested for the block at %#"
                    PRIx64, call, writes ? "writes" : "reads", high - end, block->bk_requested, block->bk_start);
    finding->fi_is_warning = true;
}

struct running {
    const struct sim_run *rg_run;
    const struct sim_task *rg_task;
};

static void check_footprint(const struct sim_footprint *footprint, void *context)
{
    const struct running *running = context;
    struct sim_place place;
    struct sim_finding finding;
    uint64_t low, high;
    if (footprint->fp_birth == 0 || !hull_of(footprint, &low, &high) || !find_beyond(low, high, &place))
        return;
    begin_beyond(&finding, &place.pl_block, high, footprint->fp_write, running->rg_task->ta_op->op_name);
    note_task(&finding, footprint->fp_write ? "write" : "read", running->rg_task, running->rg_run->rn_stream,
              running->rg_run->rn_ticket);
    sim_check_block_note(&finding, place.pl_block.bk_birth);
    sim_check_report(&finding);
}

/* ---- tasks that run ---- */

/* A replay goes on if its memory was freed and allocated again, because a device would not notice it. */
static void check_stale(const struct running *running, const struct sim_range *range)
{
    char text[SIM_FINDING_TEXT];
    struct sim_finding finding;
    if (sim_memory_lives(range) || sim_memory_refuse(range, text, sizeof text) == ACL_SUCCESS)
        return;
    sim_check_begin(&finding, SIM_CHECK_MEMORY, "stale-replay",
                    "Keep the memory of a capture until its last replay, or capture again.",
                    "a replay of %s %s %" PRIu64 " bytes at %p, which were freed after the capture; another allocation "
                    "has them now", running->rg_task->ta_op->op_name, range->rg_write ? "writes" : "reads",
                    range->rg_size, range->rg_address);
    note_task(&finding, "captured", running->rg_task, running->rg_run->rn_stream, running->rg_run->rn_ticket);
    sim_check_block_note(&finding, range->rg_birth);
    struct sim_place place;
    sim_memory_locate(range->rg_address, &place);
    if (sim_memory_is_alive(&place))
        sim_check_block_note(&finding, place.pl_block.bk_birth);
    sim_check_report(&finding);
}

static void see_start(const struct sim_run *run, const struct sim_task *task, const void *argument)
{
    struct running running = {run, task};
    if (run->rn_replays) {
        size_t count;
        const struct sim_range *ranges = sim_task_ranges(task->ta_op, argument, &count);
        for (size_t i = 0; i < count; i++)
            check_stale(&running, &ranges[i]);
    }
    sim_watch_footprints(task->ta_op, argument, check_footprint, &running);
}

static void see_refuse(const struct sim_run *run, const struct sim_task *task, const struct sim_range *range)
{
    struct sim_finding finding;
    sim_check_begin(&finding, SIM_CHECK_MEMORY, "use-after-free",
                    "Free the memory after the work that uses it: synchronise the stream or an event first.",
                    "%s %s %" PRIu64 " bytes at %p, which were freed before it ran", task->ta_op->op_name,
                    range->rg_write ? "writes" : "reads", range->rg_size, range->rg_address);
    note_task(&finding, "submitted", task, run->rn_stream, run->rn_ticket);
    sim_check_block_note(&finding, range->rg_birth);
    sim_check_report(&finding);
}

/* ---- accesses and addresses of calls ---- */

static void see_access(const struct sim_range *ranges, size_t count, const void *site)
{
    struct sim_place place;
    struct sim_finding finding;
    for (size_t i = 0; i < count; i++) {
        uint64_t low = (uint64_t)(uintptr_t)ranges[i].rg_address, high = low + ranges[i].rg_size;
        if (!find_beyond(low, high, &place))
            continue;
        begin_beyond(&finding, &place.pl_block, high, ranges[i].rg_write, call_in_progress());
        sim_check_note(&finding, ranges[i].rg_write ? "write" : "read", site, sim_thread_number(), "%s",
                       call_in_progress());
        sim_check_block_note(&finding, place.pl_block.bk_birth);
        sim_check_report(&finding);
    }
}

static void see_missing(const void *address, uint64_t size, const void *site)
{
    struct sim_check_block block;
    struct sim_finding finding;
    if (!sim_check_block_find_dead(address, &block))
        return;
    sim_check_begin(&finding, SIM_CHECK_MEMORY, "use-after-free", "Free the memory after its last use.",
                    "%s is called with %" PRIu64 " bytes at %p, which were freed", call_in_progress(), size, address);
    sim_check_note(&finding, "used", site, sim_thread_number(), "%s", call_in_progress());
    sim_check_block_note(&finding, block.cb_block.bk_birth);
    sim_check_report(&finding);
}

static void see_invalid_free(const void *address, const void *site)
{
    struct sim_place place;
    struct sim_check_block block;
    struct sim_finding finding;
    char what[128];
    uint32_t birth = 0;
    sim_memory_locate(address, &place);
    bool alive = sim_memory_is_alive(&place);
    uint64_t into = alive ? (uint64_t)(uintptr_t)address - place.pl_block.bk_start : 0;
    if (alive) {
        birth = place.pl_block.bk_birth;
        if (into != 0)
            snprintf(what, sizeof what, "%" PRIu64 " bytes behind the start of a block", into);
        else
            snprintf(what, sizeof what, "%s, which another call frees", sim_memory_describe(&place));
    } else if (sim_check_block_find_dead(address, &block)) {
        birth = block.cb_block.bk_birth;
        bool start = block.cb_block.bk_start == (uint64_t)(uintptr_t)address;
        snprintf(what, sizeof what, "%s was freed before", start ? "a block that" : "inside a block that");
    } else {
        snprintf(what, sizeof what, "%s", sim_memory_describe(&place));
    }
    sim_check_begin(&finding, SIM_CHECK_MEMORY, "invalid-free",
                    "Free each block once, with the address and the kind of call that allocated it.",
                    "%s is called with %p: %s", call_in_progress(), address, what);
    sim_check_note(&finding, "freed", site, sim_thread_number(), "by %s, which fails", call_in_progress());
    sim_check_block_note(&finding, birth);
    sim_check_report(&finding);
}

static bool is_device(const struct sim_place *place, const void *address)
{
    struct sim_block mapped;
    return sim_memory_is_device(place) || sim_memory_find_mapped(address, &mapped);
}

static bool is_host(const struct sim_place *place)
{
    return place->pl_class != SIM_MEMORY_DEVICE;
}

/* Managed and mapped memory is of both sides. If the program runs on the device, all memory is the device's. */
static void see_direction(const void *dst, const void *src, aclrtMemcpyKind kind, const void *site)
{
    static const char *const names[] = {"ACL_MEMCPY_HOST_TO_HOST", "ACL_MEMCPY_HOST_TO_DEVICE",
                                        "ACL_MEMCPY_DEVICE_TO_HOST", "ACL_MEMCPY_DEVICE_TO_DEVICE"};
    struct sim_place from, to;
    struct sim_finding finding;
    if (kind > ACL_MEMCPY_DEVICE_TO_DEVICE || sim_memory_runs_on_device())
        return;
    sim_memory_locate(src, &from);
    sim_memory_locate(dst, &to);
    bool from_device = kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
    bool to_device = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
    if ((from_device ? is_device(&from, src) : is_host(&from)) && (to_device ? is_device(&to, dst) : is_host(&to)))
        return;
    sim_check_begin(&finding, SIM_CHECK_MEMORY, "copy-direction",
                    "Pass the direction of the addresses, or ACL_MEMCPY_DEFAULT: a device may believe the argument.",
                    "%s is called with kind %s, but src is %s and dst is %s", call_in_progress(), names[kind],
                    sim_memory_describe(&from), sim_memory_describe(&to));
    finding.fi_is_warning = true;
    sim_check_note(&finding, "copy", site, sim_thread_number(), "from %p to %p", src, dst);
    sim_check_report(&finding);
}

/* Tensors in host memory, which some operators read while they are prepared, may start anywhere. The objects of acl
 * describe a view by its first element, which the program cannot change. */
static void see_tensor(const void *address, const void *site)
{
    struct sim_place place;
    struct sim_finding finding;
    uint64_t number = (uint64_t)(uintptr_t)address;
    if (number % ALIGNMENT == 0 || sim_thread.th_is_library)
        return;
    sim_memory_locate(address, &place);
    if (!sim_memory_is_device(&place))
        return;
    sim_check_begin(&finding, SIM_CHECK_MEMORY, "unaligned-tensor",
                    "Pass the start of the memory to aclCreateTensor, and the distance of the first element as offset.",
                    "%s gets a tensor whose memory starts at %p, which is not a multiple of %d", call_in_progress(),
                    address, ALIGNMENT);
    finding.fi_is_warning = true;
    sim_check_note(&finding, "used", site, sim_thread_number(), "%s", call_in_progress());
    sim_check_block_note(&finding, sim_memory_is_alive(&place) ? place.pl_block.bk_birth : 0);
    sim_check_report(&finding);
}

static void see_buffer(const struct sim_buffer_use *use, const void *site)
{
    struct sim_place place;
    struct sim_finding finding;
    if (use->bu_size >= use->bu_least && use->bu_size <= use->bu_most)
        return;
    bool small = use->bu_size < use->bu_least, is_output = use->bu_is_output;
    sim_memory_locate(use->bu_address, &place);
    sim_check_begin(&finding, SIM_CHECK_MEMORY, "buffer-size",
                    "Give each buffer the size that aclmdlGetInputSizeByIndex or aclmdlGetOutputSizeByIndex returns.",
                    "%s %u (%s) of the model has %" PRIu64 " bytes, and its buffer has %" PRIu64,
                    is_output ? "output" : "input", use->bu_index, use->bu_name,
                    small ? use->bu_least : use->bu_most, use->bu_size);
    finding.fi_is_warning = true;
    finding.fi_key = 2 * (uint64_t)use->bu_index + is_output; /* one call may have several such buffers */
    sim_check_note(&finding, "executed", site, sim_thread_number(), "%s", call_in_progress());
    sim_check_block_note(&finding, sim_memory_is_alive(&place) ? place.pl_block.bk_birth : 0);
    sim_check_report(&finding);
}

/* ---- frees under queued work ---- */

/* The newest task of a stream that uses a block. */
struct use {
    struct use *us_next; /* in the bucket */
    uint32_t us_birth, us_thread;
    sim_record us_record;
    const char *us_call;
    const void *us_site;
    bool us_write;
};

static struct sim_lock lock;
static struct use *buckets[BUCKETS];
static size_t use_count;

static void note_use(const struct sim_range *range, const struct sim_task *task, sim_record record)
{
    struct use *use = buckets[range->rg_birth % BUCKETS];
    while (use != NULL &&
           (use->us_birth != range->rg_birth || sim_record_stream(use->us_record) != sim_record_stream(record)))
        use = use->us_next;
    if (use == NULL) {
        use = use_count < USES ? malloc(sizeof *use) : NULL;
        if (use == NULL)
            return;
        use_count++;
        use->us_next = buckets[range->rg_birth % BUCKETS];
        buckets[range->rg_birth % BUCKETS] = use;
    }
    *use = (struct use){use->us_next,           range->rg_birth, task->ta_thread, record,
                        task->ta_op->op_name, task->ta_site,   range->rg_write};
}

static void see_submit(const struct sim_stream *stream, uint64_t ticket, const struct sim_task *task)
{
    size_t count;
    const void *argument = task->ta_is_long ? task->ta_ext : task->ta_argument;
    const struct sim_range *ranges = sim_task_ranges(task->ta_op, argument, &count);
    if (count == 0)
        return;
    sim_lock(&lock);
    for (size_t i = 0; i < count; i++)
        if (ranges[i].rg_birth != 0)
            note_use(&ranges[i], task, sim_record_of(stream, ticket));
    sim_unlock(&lock);
}

static void report_early_free(const struct use *use, uint32_t birth)
{
    struct sim_finding finding;
    const struct sim_stream *stream = sim_record_stream(use->us_record);
    sim_check_begin(&finding, SIM_CHECK_MEMORY, "freed-in-use",
                    "Synchronise the stream before the free, or use aclrtFreeWithDevSync.",
                    "%s frees memory that %s, which is queued, %s", call_in_progress(), use->us_call,
                    use->us_write ? "writes" : "reads");
    sim_check_note(&finding, "submitted", use->us_site, use->us_thread, "%s, task %" PRIu64 " of stream %#" PRIx64,
                   use->us_call, sim_record_ticket(use->us_record),
                   atomic_load_explicit(&stream->st_slot.sl_handle, memory_order_relaxed));
    sim_check_block_note(&finding, birth);
    sim_check_report(&finding);
}

/* The library frees its own blocks when their last task runs, and then passes no site of its own. */
static void see_free(uint32_t birth, const void *site)
{
    struct use *ended = NULL;
    bool by_program = sim_site_address(site) != NULL;
    sim_lock(&lock);
    for (struct use **link = &buckets[birth % BUCKETS], *use; (use = *link) != NULL;) {
        if (use->us_birth != birth) {
            link = &use->us_next;
            continue;
        }
        *link = use->us_next;
        use->us_next = ended;
        ended = use;
        use_count--;
    }
    sim_unlock(&lock);
    for (struct use *use; (use = ended) != NULL;) {
        ended = use->us_next;
        if (by_program && !sim_record_passed(use->us_record))
            report_early_free(use, birth);
        free(use);
    }
}

/* ---- life cycle ---- */

const struct sim_watcher sim_check_memory = {
    .wt_start = see_start,         .wt_refuse = see_refuse,       .wt_access = see_access, .wt_missing = see_missing,
    .wt_invalid_free = see_invalid_free, .wt_direction = see_direction, .wt_tensor = see_tensor,
    .wt_buffer = see_buffer,       .wt_submit = see_submit,       .wt_free = see_free,
};

void sim_check_memory_reset(void)
{
    sim_lock(&lock);
    for (size_t i = 0; i < BUCKETS && use_count != 0; i++)
        for (struct use *use; (use = buckets[i]) != NULL;) {
            buckets[i] = use->us_next;
            free(use);
        }
    use_count = 0;
    sim_unlock(&lock);
}

void sim_check_memory_after_fork(void)
{
    sim_lock_renew(&lock);
    sim_zero(buckets, sizeof buckets); /* the parent's may be half linked */
    use_count = 0;
}
