/* Faults: deciding which calls and tasks fail, which tasks wait, and when a device is lost.
 *
 * Calls ask while they pass their functions in calls.c. Tasks and operators ask as a watcher, which is on only if a
 * fault is about them. A slow or hanging task parks at `held`, with or without a deadline; replacing the faults raises
 * the gate and so lets all of them go. The level of the gate is also the number of the list in force.
 *
 * `lock` guards the list, what it has counted, and its times; it is a leaf, taken by calls and tasks only while there
 * are faults. `turns` has one entry per stream, used by the thread that runs the stream's tasks; the engine orders two
 * such threads. */
#include "fault.h"
#include "base/clock.h"
#include "base/config.h"
#include "engine/context.h"
#include "engine/device.h"
#include "engine/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS 65536u /* indices of streams, which have 16 bits */

struct armed {
    struct sim_fault ar_fault;
    struct sim_fault_count ar_count;
    enum { WAITS, LOST, OVER } ar_loss; /* of a lost device */
    uint64_t ar_lost;                   /* when */
};

/* How far the task that a stream runs now has come. */
struct turn {
    uint64_t tu_ticket, tu_list;
    enum { FRESH, HELD, BEGUN } tu_state;
};

_Atomic bool sim_fault_on;
static struct sim_lock lock;
static struct armed armed[SIM_FAULTS];
static size_t count;
static uint64_t since; /* when the list was set; of the setting: when a device was opened first; 0: not yet */
static bool is_watching;
static struct sim_gate held;
static struct turn turns[STREAMS];

/* ---- striking ---- */

/* A number from 0 to 1 that depends on the seed and the position only (the mixer of SplitMix64). */
static double chance_of(uint64_t seed, uint64_t position)
{
    uint64_t mixed = seed * UINT64_C(0xd1342543de82ef95) + position * UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((mixed ^ mixed >> 31) >> 11) * 0x1p-53;
}

/* Counts a call or a task. True: the fault strikes it. */
static bool strikes(struct armed *each)
{
    const struct sim_fault *fault = &each->ar_fault;
    uint64_t number = ++each->ar_count.fc_counted;
    bool struck = number >= fault->ft_first && number <= fault->ft_last &&
                  (fault->ft_chance >= 1 || chance_of(fault->ft_seed, number) < fault->ft_chance);
    each->ar_count.fc_struck += struck;
    return struck;
}

static bool is_in_time(const struct sim_fault *fault, uint64_t now)
{
    uint64_t passed = since != 0 ? now - since : 0;
    return passed >= fault->ft_from && passed - fault->ft_from < fault->ft_duration;
}

/* A device that is lost comes back after the fault's duration, or when it is reset. `counts`: the calls are counted
 * until it is lost. */
static bool is_lost(struct armed *each, uint64_t now, bool counts)
{
    const struct sim_fault *fault = &each->ar_fault;
    bool due = each->ar_loss == WAITS && (since != 0 ? now - since : 0) >= fault->ft_from;
    bool at_once = fault->ft_first == 1 && fault->ft_chance >= 1;
    if (due && (counts || at_once) && strikes(each)) {
        each->ar_loss = LOST;
        each->ar_lost = now;
    }
    if (each->ar_loss == LOST && now - each->ar_lost >= fault->ft_duration)
        each->ar_loss = OVER;
    return each->ar_loss == LOST;
}

/* ---- calls ---- */

/* The argument with one of the names; false: the function has none. */
static bool find_argument(const struct sim_trace_function *function, const uint64_t *arguments,
                          const char *const *names, uint64_t *value)
{
    for (; *names != NULL; names++)
        for (uint32_t i = 0; i < function->fn_count; i++)
            if (strcmp(function->fn_parameters[i].pm_name, *names) == 0) {
                *value = arguments[i];
                return true;
            }
    return false;
}

static bool is_about(const struct sim_fault *fault, const struct sim_trace_function *function,
                     const uint64_t *arguments)
{
    static const char *const sizes[] = {"size", "count", "length", NULL}, *const streams[] = {"stream", NULL};
    uint64_t value;
    if (!sim_fault_names(fault, function))
        return false;
    if (fault->ft_above != UINT64_MAX &&
        (!find_argument(function, arguments, sizes, &value) || value <= fault->ft_above))
        return false;
    if (fault->ft_stream < 0)
        return true;
    if (!find_argument(function, arguments, streams, &value))
        return false;
    const struct sim_stream *stream = sim_table_find(&sim_streams, (void *)(uintptr_t)value);
    return stream != NULL && stream->st_slot.sl_index == (uint64_t)fault->ft_stream;
}

/* The first fault that strikes the call, with a copy of what the message needs. */
static bool find_strike(const struct sim_trace_function *function, const uint64_t *arguments, struct armed *found)
{
    uint64_t now = sim_clock_now();
    bool struck = false;
    sim_lock(&lock);
    for (size_t i = 0; i < count; i++) {
        struct armed *each = &armed[i];
        const struct sim_fault *fault = &each->ar_fault;
        bool strikes_now = false;
        if (fault->ft_kind == SIM_FAULT_LOST)
            strikes_now = sim_fault_needs_device(function) && is_lost(each, now, !struck);
        else if (fault->ft_kind == SIM_FAULT_CALL)
            strikes_now = is_in_time(fault, now) && is_about(fault, function, arguments) && strikes(each);
        if (strikes_now && !struck)
            *found = *each;
        struck |= strikes_now;
    }
    sim_unlock(&lock);
    return struck;
}

bool sim_fault_strike(const struct sim_trace_function *function, const uint64_t *arguments, int64_t *result)
{
    struct armed found;
    if (!find_strike(function, arguments, &found))
        return false;
    const struct sim_fault *fault = &found.ar_fault;
    bool has_code = function->fn_has_code;
    int32_t code = fault->ft_kind == SIM_FAULT_LOST ? ACL_ERROR_RT_LOST_HEARTBEAT : sim_fault_code_of(function);
    code = fault->ft_code != 0 && has_code ? fault->ft_code : code;
    sim_thread.th_function = function->fn_name;
    sim_thread.th_wait_began = sim_thread.th_wait_since = 0; /* the call that waited in slices ends here */
    bool inner = code == ACLNN_ERR_RUNTIME_ERROR; /* the operator returns this code for an error of the runtime */
    bool runtime = inner || strncmp(function->fn_name, "aclrt", 5) == 0;
    const char *format = "the fault \"%s\" struck (it has counted %" PRIu64 " call%s)";
    uint64_t counted = found.ar_count.fc_counted;
    (runtime ? sim_fail : sim_refuse)(inner ? ACL_ERROR_RT_DRV_INTERNAL_ERROR : code, format, fault->ft_text, counted,
                                      counted == 1 ? "" : "s");
    *result = has_code ? code : 0;
    return true;
}

/* ---- tasks ---- */

static bool is_about_stream(const struct sim_fault *fault, const struct sim_stream *stream)
{
    return fault->ft_stream < 0 || stream->st_slot.sl_index == (uint64_t)fault->ft_stream;
}

/* Chooses how long a task waits before it runs; 0: it need not. */
static uint64_t delay_of(const struct sim_stream *stream)
{
    uint64_t now = sim_clock_now(), delay = 0;
    sim_lock(&lock);
    for (size_t i = 0; i < count; i++) {
        const struct sim_fault *fault = &armed[i].ar_fault;
        bool delays = fault->ft_kind == SIM_FAULT_SLOW || fault->ft_kind == SIM_FAULT_HANG;
        if (!delays || !is_in_time(fault, now) || !is_about_stream(fault, stream) || !strikes(&armed[i]))
            continue;
        if (fault->ft_kind == SIM_FAULT_HANG)
            delay = SIM_FOREVER;
        else if (delay != SIM_FOREVER)
            delay += fault->ft_delay;
    }
    sim_unlock(&lock);
    return delay;
}

static bool is_same(const struct turn *turn, const struct sim_run *run)
{
    return turn->tu_ticket == run->rn_ticket && turn->tu_list == sim_gate_level(&held);
}

/* A replay is slow as a whole, not in each step. */
static aclError watch_delay(struct sim_run *run, const struct sim_task *task)
{
    struct turn *turn = &turns[run->rn_stream->st_slot.sl_index % STREAMS];
    (void)task;
    if (sim_thread.th_walker != NULL)
        return ACL_SUCCESS;
    if (turn->tu_ticket == run->rn_ticket && turn->tu_state == HELD) {
        turn->tu_state = FRESH; /* held back by this function, not by its own */
        run->rn_expired = false;
        run->rn_deadline = SIM_FOREVER;
        return ACL_SUCCESS;
    }
    if (is_same(turn, run))
        return ACL_SUCCESS;
    *turn = (struct turn){.tu_ticket = run->rn_ticket, .tu_list = sim_gate_level(&held)};
    uint64_t delay = delay_of(run->rn_stream);
    if (delay == 0)
        return ACL_SUCCESS;
    turn->tu_state = HELD;
    run->rn_gate = &held;
    run->rn_target = turn->tu_list + 1;
    run->rn_deadline = delay == SIM_FOREVER ? SIM_FOREVER : sim_clock_now() + delay;
    return SIM_PARK;
}

/* The code of a task that must fail, with its reason; 0: it runs. */
static aclError failure_of(const struct sim_run *run, uint32_t kind, char reason[SIM_REASON_BYTES])
{
    uint64_t now = sim_clock_now();
    aclError code = ACL_SUCCESS;
    sim_lock(&lock);
    for (size_t i = 0; i < count; i++) {
        struct armed *each = &armed[i];
        const struct sim_fault *fault = &each->ar_fault;
        aclError its = ACL_SUCCESS;
        if (fault->ft_kind == SIM_FAULT_LOST)
            its = is_lost(each, now, false) ? ACL_ERROR_RT_LOST_HEARTBEAT : ACL_SUCCESS;
        else if (fault->ft_kind == SIM_FAULT_TASK && (fault->ft_family->ff_kinds >> kind & 1) != 0 &&
                 is_in_time(fault, now) && is_about_stream(fault, run->rn_stream) && strikes(each))
            its = fault->ft_family->ff_code;
        if (its == ACL_SUCCESS || code != ACL_SUCCESS)
            continue;
        code = fault->ft_code != 0 ? fault->ft_code : its;
        snprintf(reason, SIM_REASON_BYTES, "the fault \"%.400s\" struck", fault->ft_text);
    }
    sim_unlock(&lock);
    return code;
}

static aclError watch_fail(struct sim_run *run, const struct sim_task *task)
{
    char reason[SIM_REASON_BYTES];
    struct turn *turn = &turns[run->rn_stream->st_slot.sl_index % STREAMS];
    if (sim_thread.th_walker == NULL) {
        if (is_same(turn, run) && turn->tu_state == BEGUN)
            return ACL_SUCCESS; /* it has parked by itself */
        *turn = (struct turn){run->rn_ticket, sim_gate_level(&held), BEGUN};
    }
    aclError code = failure_of(run, task->ta_op->op_kind, reason);
    return code != ACL_SUCCESS ? sim_engine_give_up(run, code, reason) : ACL_SUCCESS;
}

/* The phases of an operator do not pass calls.c; the call in progress has the phase's name. */
static int32_t watch_phase(const struct sim_row *row, aclrtStream stream)
{
    static const struct sim_trace_parameter parameter = {"stream", SIM_TRACE_POINTER, 0};
    const struct sim_trace_function phase = {.fn_name = sim_thread.th_function, .fn_parameters = &parameter,
                                             .fn_count = 1, .fn_has_code = true};
    int64_t code = 0;
    (void)row;
    sim_fault_of_call(&phase, &(const uint64_t){(uint64_t)(uintptr_t)stream}, &code);
    return (int32_t)code;
}

static const struct sim_watcher watcher = {.wt_delay = watch_delay, .wt_fail = watch_fail, .wt_phase = watch_phase};

/* ---- the list ---- */

static bool may_be_operator(const struct sim_fault *fault)
{
    return fault->ft_function[0] == '\0' || strncmp(fault->ft_function, "aclnn", 5) == 0;
}

/* Puts a list in force. `starts`: its times count from now. */
static aclError arm(const char *text, bool starts)
{
    char reason[SIM_REASON_BYTES];
    struct sim_fault *fresh = calloc(SIM_FAULTS, sizeof *fresh);
    SIM_CHECK(fresh != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for the faults");
    int number = sim_fault_parse(text, fresh, reason);
    if (number < 0) {
        free(fresh);
        return sim_refuse(ACL_ERROR_INVALID_PARAM, "faults is not a list of faults: %s", reason);
    }
    sim_lock(&lock);
    memset(armed, 0, sizeof armed);
    is_watching = false;
    count = (size_t)number;
    for (size_t i = 0; i < count; i++) {
        armed[i].ar_fault = fresh[i];
        is_watching |= fresh[i].ft_kind != SIM_FAULT_CALL || may_be_operator(&fresh[i]);
    }
    since = starts ? sim_clock_now() : 0;
    sim_watcher_set(&watcher, is_watching);
    atomic_store_explicit(&sim_fault_on, count != 0, memory_order_relaxed);
    sim_unlock(&lock);
    free(fresh);
    sim_gate_count(&held);
    if (number != 0)
        sim_trace_hook();
    return ACL_SUCCESS;
}

aclError sim_fault_set(const char *text)
{
    char setting[SIM_FAULT_TEXT];
    if (text != NULL)
        return arm(text, true);
    SIM_TRY(sim_config_get("faults", setting, sizeof setting));
    return arm(setting, false);
}

size_t sim_fault_count(void)
{
    sim_lock(&lock);
    size_t result = count;
    sim_unlock(&lock);
    return result;
}

bool sim_fault_at(size_t index, char *text, struct sim_fault_count *result)
{
    sim_lock(&lock);
    bool there = index < count;
    if (there) {
        strcpy(text, armed[index].ar_fault.ft_text);
        *result = armed[index].ar_count;
    }
    sim_unlock(&lock);
    return there;
}

/* ---- life cycle ---- */

void sim_fault_load(void)
{
    if (sim_trace_is_wanted() && sim_config()->cf_faults)
        sim_fault_set(NULL);
    else if (atomic_load(&sim_fault_on))
        arm("none", false);
}

int sim_fault_open(void)
{
    sim_lock(&lock);
    since = since != 0 ? since : sim_clock_now();
    sim_watcher_set(&watcher, is_watching); /* a fork has switched it off */
    bool any = count != 0;
    sim_unlock(&lock);
    if (any)
        sim_trace_hook(); /* also libraries that were loaded since */
    return 0;
}

void sim_fault_device_closing(int32_t device)
{
    (void)device;
    sim_lock(&lock);
    for (size_t i = 0; i < count; i++)
        if (armed[i].ar_loss == LOST)
            armed[i].ar_loss = OVER;
    sim_unlock(&lock);
}

void sim_fault_after_fork(void)
{
    sim_lock_renew(&lock);
    sim_lock_renew(&held.gt_lock);
    held.gt_waiters = NULL;
}
