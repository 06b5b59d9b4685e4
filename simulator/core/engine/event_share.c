/* Events that several processes share.
 *
 * Each record gets a number when it is issued, and an entry in the ring of the shared page, which says whether the
 * record has completed. The page also holds the number of the newest record and the process that issued it. A wait
 * binds to the newest record, as for other events. While more records are pending than the ring has entries, the
 * records that share an entry complete together: possibly late, but never early. A wait for a record of this process
 * waits at the recording stream, so that host threads can help it. A wait for another process's record parks at the
 * gate ev_remote. If that process exits before its record has completed, the wait fails with 507901.
 *
 * An event owns its mapping of the page (ev_share) until its slot is freed, and each task owns a reference of the
 * event. There is no lock: all processes change the page by atomic operations. */
#include "base/clock.h"
#include "base/config.h"
#include "share/exchange.h"
#include "context.h"
#include "device.h"
#include "event.h"
#include <string.h>

#define WHO_BITS 16
/* An entry of the ring: number << 24 | pending records of the entry << 1 | 1 if the record with this number is done. */
#define PLACE_SHIFT 24
#define PLACE_OPEN UINT64_C(2)
#define PLACE_OPENS (UINT64_C(0xfffffe))

enum outcome { OPEN, DONE, GONE };

static uint64_t number_of(uint64_t newest)
{
    return newest >> WHO_BITS;
}

static uint32_t who_of(uint64_t newest)
{
    return (uint32_t)newest & ((1u << WHO_BITS) - 1);
}

static _Atomic uint64_t *place_of(const struct sim_share *share, uint64_t number)
{
    return &share->sr_page->sp_records[number % SIM_SHARE_RECORDS];
}

/* Returns the number of a record that is about to be queued, and enters it in the ring. */
static uint64_t issue(const struct sim_share *share)
{
    uint64_t number = atomic_fetch_add(&share->sr_page->sp_issued, 1) + 1, next;
    _Atomic uint64_t *place = place_of(share, number);
    uint64_t word = atomic_load(place);
    do
        next = word >> PLACE_SHIFT < number ? number << PLACE_SHIFT | ((word & PLACE_OPENS) + PLACE_OPEN)
                                            : word + PLACE_OPEN;
    while (!atomic_compare_exchange_weak(place, &word, next));
    uint64_t newest = atomic_load(&share->sr_page->sp_newest);
    while (number_of(newest) < number &&
           !atomic_compare_exchange_weak(&share->sr_page->sp_newest, &newest,
                                         number << WHO_BITS | sim_exchange_share_self(share))) {
    }
    return number;
}

static void complete(const struct sim_share *share, uint64_t number)
{
    _Atomic uint64_t *place = place_of(share, number);
    uint64_t word = atomic_load(place), next;
    do
        next = (word - PLACE_OPEN) | (word >> PLACE_SHIFT == number);
    while (!atomic_compare_exchange_weak(place, &word, next));
    sim_exchange_share_changed(share);
}

static enum outcome look(const struct sim_share *share, uint64_t newest)
{
    uint64_t number = number_of(newest), word = atomic_load(place_of(share, number));
    bool is_own = word >> PLACE_SHIFT == number;
    if (number == 0 || (is_own ? (word & 1) != 0 : (word & PLACE_OPENS) == 0))
        return DONE;
    return sim_exchange_share_is_gone(share, who_of(newest)) ? GONE : OPEN;
}

/* Looks at the record after it has asked for wake-ups: each later change raises ev_remote above `level`. */
static enum outcome look_before_sleep(struct sim_event *event, uint64_t newest, uint64_t *level)
{
    *level = sim_gate_level(&event->ev_remote);
    sim_exchange_share_want(&event->ev_share);
    return look(&event->ev_share, newest);
}

/* The newest record if this process made it, else 0. */
static sim_record own_record(struct sim_event *event, uint64_t newest)
{
    bool own = who_of(newest) == sim_exchange_share_self(&event->ev_share) &&
               atomic_load_explicit(&event->ev_number, memory_order_acquire) == number_of(newest);
    return own ? atomic_load_explicit(&event->ev_record, memory_order_acquire) : 0;
}

/* ---- lives ---- */

aclError sim_event_share_supported(void)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    SIM_SUPPORTED(soc->so_profile <= SIM_PA2 && strncmp(soc->so_name, "Ascend950DT", 11) != 0,
                  "%s does not support events shared between processes", soc->so_name);
    return ACL_SUCCESS;
}

aclError sim_event_share_create(uint64_t id, aclrtEvent *handle)
{
    aclrtEvent made;
    struct sim_event *event;
    struct sim_context *context;
    int32_t device;
    SIM_TRY(sim_context_current(&context));
    SIM_TRY(sim_event_create(SIM_EVENT_IPC, ACL_EVENT_IPC, &made));
    SIM_TRY(sim_event_find(made, &event));
    atomic_store_explicit(&event->ev_number, 0, memory_order_relaxed);
    aclError code = id == 0 ? sim_exchange_share_publish(SIM_EXCHANGE_EVENT, context->cx_device->dv_id, true,
                                                         &event->ev_remote, &event->ev_id, &event->ev_share)
                            : sim_exchange_share_join(SIM_EXCHANGE_EVENT, id, "handle", &event->ev_remote, &device,
                                                      &event->ev_share);
    if (code != ACL_SUCCESS) {
        sim_event_destroy(event, made);
        return code;
    }
    *handle = made;
    return ACL_SUCCESS;
}

/* ---- tasks ---- */

struct shared_task {
    struct sim_event *sh_event; /* holds one reference */
    uint64_t sh_newest;         /* the number of a record, or the word (sp_newest) that a wait is bound to */
    uint64_t sh_timeout, sh_deadline;
};

static void drop_record(void *argument)
{
    struct shared_task *task = argument;
    complete(&task->sh_event->ev_share, task->sh_newest);
    sim_event_release(task->sh_event);
}

static aclError run_record(struct sim_run *run, void *argument)
{
    (void)run;
    drop_record(argument);
    return ACL_SUCCESS;
}

static void drop_wait(void *argument)
{
    sim_event_release(((struct shared_task *)argument)->sh_event);
}

static aclError run_wait(struct sim_run *run, void *argument)
{
    struct shared_task *task = argument;
    struct sim_event *event = task->sh_event;
    uint64_t level;
    enum outcome outcome = look_before_sleep(event, task->sh_newest, &level);
    if (outcome == OPEN && !run->rn_expired) {
        if (task->sh_deadline == 0)
            task->sh_deadline = task->sh_timeout == SIM_FOREVER ? SIM_FOREVER : sim_clock_now() + task->sh_timeout;
        run->rn_gate = &event->ev_remote;
        run->rn_target = level + 1;
        run->rn_deadline = task->sh_deadline;
        return SIM_PARK;
    }
    drop_wait(argument);
    if (outcome == GONE)
        run->rn_reason = "the process that recorded the event ended before the record was done";
    return outcome == DONE ? ACL_SUCCESS : outcome == GONE ? ACL_ERROR_RT_SOCKET_CLOSE : ACL_ERROR_RT_TASK_TIMEOUT;
}

#define SHARED_OP(name, run, drop, kind)                                                                               \
    {.op_name = name, .op_run = run, .op_drop = drop, .op_flags = SIM_OP_LIGHT, .op_kind = kind}
static const struct sim_op record_op = SHARED_OP("aclrtRecordEvent", run_record, drop_record, SIM_TASK_FLAG_RECORD);
static const struct sim_op wait_op = SHARED_OP("aclrtStreamWaitEvent", run_wait, drop_wait, SIM_TASK_FLAG_WAIT);

static aclError refuse_taken(struct sim_target stream)
{
    SIM_SUPPORTED(sim_stream_taken(stream.tg_stream) == SIM_TAKEN_NOT,
                  "the stream belongs to a model running instance, expected an event that is not shared between "
                  "processes (ACL_EVENT_IPC)");
    return ACL_SUCCESS;
}

aclError sim_event_share_record(struct sim_event *event, aclrtEvent handle, struct sim_target stream, void *site)
{
    SIM_TRY(refuse_taken(stream));
    SIM_TRY(sim_event_refer(event, handle));
    struct shared_task task = {.sh_event = event, .sh_newest = issue(&event->ev_share)};
    uint64_t number = task.sh_newest;
    aclError code = sim_engine_submit(stream, &record_op, &task, sizeof task, site, &event->ev_record);
    if (code == ACL_SUCCESS)
        atomic_store_explicit(&event->ev_number, number, memory_order_release);
    else
        drop_record(&task);
    return code;
}

aclError sim_event_share_wait(struct sim_event *event, aclrtEvent handle, struct sim_target stream, uint64_t timeout_ns,
                              void *site, bool *own)
{
    SIM_TRY(refuse_taken(stream));
    SIM_TRY(sim_event_refer(event, handle));
    uint64_t newest = atomic_load(&event->ev_share.sr_page->sp_newest);
    *own = own_record(event, newest) != 0;
    if (*own || look(&event->ev_share, newest) == DONE) {
        sim_event_release(event);
        return ACL_SUCCESS;
    }
    struct shared_task task = {.sh_event = event, .sh_newest = newest, .sh_timeout = timeout_ns};
    aclError code = sim_engine_submit(stream, &wait_op, &task, sizeof task, site, NULL);
    if (code != ACL_SUCCESS)
        sim_event_release(event);
    return code;
}

/* ---- hosts ---- */

static aclError refuse_gone(void)
{
    return sim_fail(ACL_ERROR_RT_SOCKET_CLOSE, "the process that recorded the event ended before the record was done");
}

aclError sim_event_share_query(struct sim_event *event, aclrtEvent handle, bool *complete)
{
    SIM_TRY(sim_event_refer(event, handle));
    uint64_t newest = atomic_load(&event->ev_share.sr_page->sp_newest);
    enum outcome outcome = look(&event->ev_share, newest);
    if (outcome == OPEN && own_record(event, newest) != 0)
        sim_event_complete(event); /* wakes a worker for the record */
    if (sim_watcher_any() && outcome == DONE)
        sim_watcher_know(own_record(event, newest));
    sim_event_release(event);
    *complete = outcome == DONE;
    return outcome == GONE ? refuse_gone() : ACL_SUCCESS;
}

static aclError synchronize(struct sim_event *event, int32_t milliseconds)
{
    uint64_t newest = atomic_load(&event->ev_share.sr_page->sp_newest),
             deadline = sim_clock_deadline_of_call(milliseconds);
    sim_record own = own_record(event, newest);
    enum sim_role role = milliseconds < 0 ? SIM_HELPER : SIM_SUBMITTER;
    if (own != 0) {
        uint64_t began = sim_stream_begin_wait();
        SIM_TRY(sim_engine_outcome(sim_engine_wait(sim_record_stream(own), sim_record_ticket(own), deadline, role),
                                   ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, milliseconds));
        if (sim_watcher_any())
            sim_watcher_know(own);
        return sim_stream_check_aborted(sim_record_stream(own), began);
    }
    for (uint64_t level;;) {
        enum outcome outcome = look_before_sleep(event, newest, &level);
        if (outcome != OPEN)
            return outcome == DONE ? ACL_SUCCESS : refuse_gone();
        SIM_TRY(sim_engine_outcome(sim_engine_help_gate(&event->ev_remote, level + 1, deadline),
                                   ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, milliseconds));
    }
}

aclError sim_event_share_synchronize(struct sim_event *event, aclrtEvent handle, int32_t milliseconds)
{
    SIM_TRY(sim_event_refer(event, handle));
    aclError code = synchronize(event, milliseconds);
    sim_event_release(event);
    return code != ACL_SUCCESS ? code : sim_event_check_failed(event);
}
