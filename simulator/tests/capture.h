/* Helpers for the tests of captures: recording, replaying, tasks that check their order, and checks for leaks. */
#ifndef TESTS_CAPTURE_H
#define TESTS_CAPTURE_H

#include "capture/capture_inner.h"
#include "engine.h"

#define PLACES 64

/* ---- recording ---- */

static inline aclrtEvent ex_event(void)
{
    aclrtEvent event;
    CHECK_CODE(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), 0);
    return event;
}

static inline void begin(aclrtStream stream)
{
    CHECK_CODE(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 0);
}

static inline aclmdlRI end(aclrtStream stream)
{
    aclmdlRI instance = NULL;
    CHECK_CODE(aclmdlRICaptureEnd(stream, &instance), 0);
    CHECK(instance != NULL);
    return instance;
}

/* Makes later work on `to` wait for the work queued on `from`. */
static inline void link_streams(aclrtStream from, aclrtStream to)
{
    aclrtEvent event = ex_event();
    CHECK_CODE(aclrtRecordEvent(event, from), 0);
    CHECK_CODE(aclrtStreamWaitEvent(to, event), 0);
    CHECK_CODE(aclrtDestroyEvent(event), 0);
}

static inline void execute(aclmdlRI instance, aclrtStream stream)
{
    CHECK_CODE(aclmdlRIExecuteAsync(instance, stream), 0);
}

static inline void run(aclmdlRI instance, aclrtStream stream)
{
    execute(instance, stream);
    CHECK_CODE(aclrtSynchronizeStream(stream), 0);
}

static inline void destroy(aclmdlRI instance)
{
    CHECK_CODE(aclmdlRIDestroy(instance), 0);
    CHECK(sim_table_find(&sim_capture_instances, instance) == NULL);
}

/* ---- tasks that check their order; they use plain memory, so that a missing edge is also a data race ---- */

struct line {
    uint32_t begun;          /* how often this task has run */
    const struct line *after[4]; /* tasks that must have run as often as this one */
};

static inline aclError note(void *argument)
{
    struct line *line = argument;
    line->begun++;
    for (int i = 0; i < 4 && line->after[i] != NULL; i++)
        CHECK(line->after[i]->begun == line->begun);
    return 0;
}

static inline void note_host(void *argument)
{
    note(argument);
}

/* A host function that opens the latch `begun`, and returns when `let` is opened. */
static inline void block_host(void *argument)
{
    block(argument);
}

static inline aclError count_one(void *counter)
{
    atomic_fetch_add((_Atomic uint32_t *)counter, 1);
    return 0;
}

static aclrtStream origin, other, third, launching;

static inline void make_streams(void)
{
    origin = make_stream();
    other = make_stream();
    third = make_stream();
    launching = make_stream();
}

static inline void destroy_streams(void)
{
    CHECK_CODE(aclrtDestroyStream(origin), 0);
    CHECK_CODE(aclrtDestroyStream(other), 0);
    CHECK_CODE(aclrtDestroyStream(third), 0);
    CHECK_CODE(aclrtDestroyStream(launching), 0);
}

/* ---- access to the core ---- */

static inline struct sim_stream *branch_stream(aclmdlRI instance, uint32_t branch)
{
    struct sim_instance *found = sim_object_peek(&sim_capture_instances, instance);
    CHECK(found != NULL && branch < found->in_branch_count);
    struct sim_stream *stream = found->in_branches[branch]->br_stream.tg_stream;
    sim_object_close(found);
    return stream;
}

/* Returns when the stream is parked at a gate. It polls, because the stream cannot open a latch then. */
static inline void await_parked(struct sim_stream *stream)
{
    enum sim_stream_state state;
    do {
        sched_yield();
        sim_lock(&stream->st_gate.gt_lock);
        state = stream->st_state;
        sim_unlock(&stream->st_gate.gt_lock);
    } while (state != SIM_PARKED);
}

/* Returns when the first walker of the replay waits for the others. */
static inline void await_idle_walker(aclmdlRI instance)
{
    struct sim_instance *found = sim_table_find(&sim_capture_instances, instance);
    bool idle;
    do {
        sched_yield();
        sim_lock(&found->in_run_lock);
        idle = found->in_idle;
        sim_unlock(&found->in_run_lock);
    } while (!idle);
}

/* ---- leaks ---- */

static inline uint32_t live(const struct sim_table *table)
{
    uint32_t alive = 0, count = atomic_load(&table->tb_count);
    for (uint32_t i = 1; i < count; i++) {
        const struct sim_slot *slot = sim_table_at(table, i);
        alive += atomic_load(&slot->sl_handle) != 0;
    }
    return alive;
}

static inline void check_nothing_left(uint32_t streams)
{
    CHECK(live(&sim_streams) == streams);
    CHECK(live(&sim_capture_instances) == 0);
    CHECK(live(&sim_capture_groups) == 0);
    CHECK(live(&sim_capture_conditions) == 0);
    CHECK(live(&sim_capture_task_handles) == 0);
}

/* Runs the tests under each schedule. They must leave as many streams as before, and no other objects. */
static inline void test_schedules(void (*tests)(bool parallel))
{
    for (int parallel = 1; parallel >= 0; parallel--) {
        open_device(parallel ? "parallel" : "eager");
        uint32_t streams = live(&sim_streams);
        tests(parallel);
        check_nothing_left(streams);
    }
    CHECK_CODE(aclsimReset(), 0);
}

#endif
