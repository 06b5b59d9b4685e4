/* What the checker of deadlocks says of stuck waits, and the watchdog of all waits. The lock of check_deadlock.c is
 * held. */
#include "check_deadlock.h"
#include "base/config.h"
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MEMBERS 64 /* of a chain of waits that is followed */
#define WHAT 160
#define NUMBER(wait) ((wait)->dw_stream->st_slot.sl_index)

/* Waits, each of which waits for the next one. */
struct chain {
    struct sim_deadlock_wait *ch_waits[MEMBERS];
    const struct sim_deadlock_raiser *ch_by[MEMBERS]; /* the queued task that would end the wait, or NULL */
    size_t ch_count;
    size_t ch_circle; /* where the last one leads back to; ch_count: it does not */
};

static void follow(struct chain *chain, struct sim_deadlock_wait *wait)
{
    chain->ch_count = 0;
    for (;;) {
        chain->ch_circle = 0;
        while (chain->ch_circle < chain->ch_count && chain->ch_waits[chain->ch_circle] != wait)
            chain->ch_circle++;
        if (wait == NULL)
            chain->ch_circle = chain->ch_count;
        if (chain->ch_circle < chain->ch_count || wait == NULL || chain->ch_count == MEMBERS)
            return;
        chain->ch_waits[chain->ch_count] = wait;
        wait = sim_check_deadlock_next(wait, &chain->ch_by[chain->ch_count]);
        chain->ch_count++;
    }
}

/* Leaves only the circle, which then begins with the stream of the lowest number, wherever it was entered. */
static void cut_to_circle(struct chain *chain)
{
    struct chain whole = *chain;
    size_t length = whole.ch_count - whole.ch_circle, first = 0;
    for (size_t i = 1; i < length; i++) {
        const struct sim_deadlock_wait *wait = whole.ch_waits[whole.ch_circle + i],
                                       *least = whole.ch_waits[whole.ch_circle + first];
        if (wait->dw_stream != NULL && (least->dw_stream == NULL || NUMBER(wait) < NUMBER(least)))
            first = i;
    }
    for (size_t i = 0; i < length; i++) {
        chain->ch_waits[i] = whole.ch_waits[whole.ch_circle + (first + i) % length];
        chain->ch_by[i] = whole.ch_by[whole.ch_circle + (first + i) % length];
    }
    chain->ch_count = length;
    chain->ch_circle = 0;
}

/* ---- texts ---- */

static const char *what_for(const struct sim_deadlock_wait *wait, char text[WHAT])
{
    const struct sim_stream *stream = sim_table_slot_of(&sim_streams, wait->dw_gate);
    switch (wait->dw_source) {
    case SIM_DEADLOCK_RECORD:
        snprintf(text, WHAT, "task %" PRIu64 " of stream %" PRIu32, wait->dw_target, stream->st_slot.sl_index);
        return text;
    case SIM_DEADLOCK_EVENT:
        return "a record of its event";
    case SIM_DEADLOCK_NOTIFY:
        snprintf(text, WHAT, "a record of notify %" PRIu64, wait->dw_number);
        return text;
    case SIM_DEADLOCK_VALUE:
        snprintf(text, WHAT, "the value at %#" PRIx64, wait->dw_number);
        return text;
    case SIM_DEADLOCK_EXTERNAL:
        return "an external record of a replay";
    case SIM_DEADLOCK_REPLAY:
        return "another branch or replay of its graph";
    case SIM_DEADLOCK_CALLBACK:
        return "its callback to return";
    case SIM_DEADLOCK_REPORT:
        return "a callback to make";
    case SIM_DEADLOCK_HOLD:
        return "aclsimStreamRelease";
    case SIM_DEADLOCK_ELSEWHERE:
        break;
    }
    return "another thread or process";
}

static void note_wait(struct sim_finding *finding, const struct sim_deadlock_wait *wait)
{
    char what[WHAT];
    if (wait->dw_stream == NULL)
        sim_check_note(finding, "waits", wait->dw_site, wait->dw_thread, "%s waits for %s",
                       wait->dw_function != NULL ? wait->dw_function : "a thread", what_for(wait, what));
    else
        sim_check_note(finding, "waits", wait->dw_site, wait->dw_thread, "%s, task %" PRIu64 " of stream %" PRIu32
                       ", waits for %s", wait->dw_function, wait->dw_ticket, NUMBER(wait), what_for(wait, what));
}

static void note_chain(struct sim_finding *finding, const struct chain *chain)
{
    for (size_t i = 0; i < chain->ch_count; i++) {
        const struct sim_deadlock_raiser *by = chain->ch_by[i];
        note_wait(finding, chain->ch_waits[i]);
        if (by != NULL)
            sim_check_note(finding, "queued behind", by->dr_site, by->dr_thread,
                           "%s, task %" PRIu64 " of stream %" PRIu32, by->dr_function, by->dr_ticket,
                           by->dr_stream->st_slot.sl_index);
    }
}

/* Marks the waits as reported; false if all of them were. */
static bool mark(struct chain *chain)
{
    bool fresh = false;
    for (size_t i = 0; i < chain->ch_count; i++) {
        fresh |= !chain->ch_waits[i]->dw_told;
        chain->ch_waits[i]->dw_told = true;
    }
    return fresh;
}

/* ---- circles ---- */

static uint32_t number_of(const struct sim_deadlock_wait *member)
{
    return member->dw_stream != NULL ? NUMBER(member) : member->dw_thread;
}

static void report_circle(struct chain *chain)
{
    struct sim_finding finding;
    char members[SIM_FINDING_TEXT / 2] = "";
    if (!mark(chain))
        return;
    const struct sim_deadlock_raiser *by = chain->ch_by[0];
    for (size_t i = 0, used = 0; i < chain->ch_count; i++, used = strlen(members))
        snprintf(members + used, sizeof members - used, chain->ch_waits[i]->dw_stream != NULL ? "%sstream %" PRIu32
                                                                                              : "%sthread %" PRIu32,
                 i != 0 ? ", " : "", number_of(chain->ch_waits[i]));
    const char *advice = "Queue each record before the wait that needs it, or give one of the waits a time-out.";
    if (chain->ch_count == 1 && by != NULL)
        sim_check_begin(&finding, SIM_CHECK_DEADLOCK, "circular-wait", advice,
                        "%s waits for %s, which is queued behind the wait", members, by->dr_function);
    else
        sim_check_begin(&finding, SIM_CHECK_DEADLOCK, "circular-wait", advice, "%s wait for each other in a circle",
                        members);
    note_chain(&finding, chain);
    sim_check_report(&finding);
}

/* A thread that has ended, or is ours, runs no more calls of the program. */
static bool is_running(uint32_t thread)
{
    for (const struct sim_deadlock_host *host = sim_check_deadlock_hosts; host != NULL; host = host->dh_next)
        if (host->dh_wait.dw_thread == thread)
            return !sim_check_deadlock_host_is_stuck(host);
    return false;
}

static bool was_queued_by_running(const struct chain *chain)
{
    for (size_t i = 0; i < chain->ch_count; i++)
        if (is_running(chain->ch_waits[i]->dw_thread) ||
            (chain->ch_by[i] != NULL && is_running(chain->ch_by[i]->dr_thread)))
            return true;
    return false;
}

void sim_check_deadlock_report_circles(void)
{
    struct sim_deadlock_wait *wait;
    for (size_t i = 0; (wait = sim_check_deadlock_parked(i)) != NULL; i++) {
        struct chain chain;
        if (!wait->dw_stuck || wait->dw_told)
            continue;
        follow(&chain, wait);
        if (chain.ch_circle == chain.ch_count)
            continue; /* longer than what is followed */
        cut_to_circle(&chain);
        if (!was_queued_by_running(&chain))
            report_circle(&chain);
    }
}

/* ---- hosts ---- */

/* Says who ought to make the callback that the stream waits for. */
static void explain_callback(const struct sim_deadlock_wait *wait, char text[WHAT])
{
    const struct sim_caller *caller = sim_check_deadlock_returner(wait);
    const struct sim_deadlock_host *host = sim_check_deadlock_hosts;
    uint64_t thread = caller != NULL ? caller->cl_thread : 0;
    while (host != NULL && (uint64_t)host->dh_self != thread)
        host = host->dh_next;
    if (host != NULL)
        snprintf(text, WHAT, "the thread that was passed to aclrtSubscribeReport, %" PRIu32 ", waits in %s",
                 host->dh_wait.dw_thread, host->dh_wait.dw_function);
    else
        snprintf(text, WHAT, "the thread that was passed to aclrtSubscribeReport has ended, or never called the "
                 "library");
}

static void begin_endless(struct sim_finding *finding, const struct sim_deadlock_wait *last)
{
    char what[WHAT];
    if (last->dw_source == SIM_DEADLOCK_CALLBACK) {
        explain_callback(last, what);
        sim_check_begin(finding, SIM_CHECK_DEADLOCK, "unserved-callback",
                        "Call aclrtProcessReport again and again on the thread that was passed to "
                        "aclrtSubscribeReport, while another one waits for the stream.",
                        "no thread calls aclrtProcessReport for the callback that stream %" PRIu32 " waits for; %s",
                        NUMBER(last), what);
        return;
    }
    const char *advice = "Queue what ends the wait before a thread waits for the stream, or give the wait a time-out.";
    if (last->dw_stream != NULL)
        sim_check_begin(finding, SIM_CHECK_DEADLOCK, "endless-wait", advice,
                        "stream %" PRIu32 " waits for %s, which nothing can bring: no such task is queued, and each "
                        "host thread waits", NUMBER(last), what_for(last, what));
    else
        sim_check_begin(finding, SIM_CHECK_DEADLOCK, "endless-wait", advice,
                        "%s waits for %s, which nothing can bring: no such task is queued, and each host thread waits",
                        last->dw_function, what_for(last, what));
}

void sim_check_deadlock_report_hosts(void)
{
    for (struct sim_deadlock_host *host = sim_check_deadlock_hosts; host != NULL; host = host->dh_next) {
        struct sim_finding finding;
        struct chain chain;
        follow(&chain, &host->dh_wait);
        if (chain.ch_circle != chain.ch_count) {
            cut_to_circle(&chain);
            report_circle(&chain);
        } else if (chain.ch_count != MEMBERS && !chain.ch_waits[chain.ch_count - 1]->dw_told && mark(&chain)) {
            begin_endless(&finding, chain.ch_waits[chain.ch_count - 1]);
            note_chain(&finding, &chain);
            sim_check_report(&finding);
        }
    }
}

/* ---- the watchdog ---- */

void sim_check_deadlock_report_idle(uint64_t nanoseconds)
{
    struct sim_finding finding;
    const struct sim_deadlock_wait *wait;
    uint32_t streams = 0, hosts = 0, count = atomic_load_explicit(&sim_streams.tb_count, memory_order_acquire);
    for (size_t i = 0; (wait = sim_check_deadlock_parked(i)) != NULL; i++)
        streams += !wait->dw_ends;
    for (const struct sim_deadlock_host *host = sim_check_deadlock_hosts; host != NULL; host = host->dh_next)
        hosts += host->dh_waits && !host->dh_wait.dw_ends;
    if (streams + hosts == 0)
        return;
    sim_check_begin(&finding, SIM_CHECK_DEADLOCK, "no-progress",
                    "Look for what the waits need; give the setting watchdog a longer time if the work takes so long.",
                    "no task has finished and no call has returned for %.10g s; waiting: %u stream%s and %u host "
                    "thread%s", (double)nanoseconds / 1e9, streams, streams == 1 ? "" : "s", hosts,
                    hosts == 1 ? "" : "s");
    finding.fi_is_warning = true;
    for (size_t i = 0; (wait = sim_check_deadlock_parked(i)) != NULL; i++)
        if (!wait->dw_ends)
            note_wait(&finding, wait);
    for (struct sim_deadlock_host *host = sim_check_deadlock_hosts; host != NULL; host = host->dh_next)
        if (host->dh_waits && !host->dh_wait.dw_ends) {
            host->dh_wait.dw_shown = true;
            note_wait(&finding, &host->dh_wait);
        }
    for (uint32_t i = 1; i < count; i++) {
        struct sim_stream *stream = sim_stream_at(i);
        uint64_t next = sim_gate_level(&stream->st_gate) + 1;
        bool waits = false;
        for (size_t k = 0; !waits && (wait = sim_check_deadlock_parked(k)) != NULL; k++)
            waits = wait->dw_stream == stream;
        if (!waits && !sim_check_deadlock_is_done(stream, sim_stream_tail(stream)))
            sim_check_note(&finding, "runs", NULL, 0, "task %" PRIu64 " of stream %" PRIu32, next,
                           stream->st_slot.sl_index);
    }
    sim_check_report(&finding);
}
