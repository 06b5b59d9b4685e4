/* Watchers: parts that only look on, such as profiling, dumps and checkers. At the points below they are called, on the
 * thread that passes the point. While no watcher is on, a point costs one read of a word. */
#ifndef SIM_WATCHER_H
#define SIM_WATCHER_H

#include "compiler.h"
#include <acl/acl_base.h>
#include <acl/acl_rt.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_block;
struct sim_footprint;
struct sim_gate;
struct sim_instance;
struct sim_range;
struct sim_row;
struct sim_run;
struct sim_segment;
struct sim_stream;
struct sim_table;
struct sim_task;

struct sim_watched {
    uint64_t wd_start, wd_end; /* sim_clock_now, or as a watcher's wt_time has set them */
    aclError wd_code;
};

/* A buffer that is an input or an output of a model's execution, and the sizes that the model takes. */
struct sim_buffer_use {
    const void *bu_address;
    uint64_t bu_size, bu_least, bu_most;
    const char *bu_name;
    uint32_t bu_index;
    bool bu_is_output;
};

/* Every function may be NULL. `site` is a site (base/site.h). */
struct sim_watcher {
    /* Whether the task, which is about to run, has to wait: SIM_PARK, and then `run` has the gate and the deadline; it
     * is asked again afterwards. Else 0. Outside every lock of the engine. */
    aclError (*wt_delay)(struct sim_run *run, const struct sim_task *task);
    /* Whether the task fails instead of being run: SIM_FAILED, and then its failure has been kept. Else 0. Asked again
     * after each park. */
    aclError (*wt_fail)(struct sim_run *run, const struct sim_task *task);
    /* Before the task's function runs; again after each park. Outside every lock of the engine. */
    void (*wt_start)(const struct sim_run *run, const struct sim_task *task, const void *argument);
    /* After the function has run, before wt_finish: replaces its times. */
    void (*wt_time)(const struct sim_run *run, const struct sim_task *task, const void *argument,
                    struct sim_watched *watched);
    /* After the function has run, with its times and its code; if the task parks, only after its last call. */
    void (*wt_finish)(const struct sim_run *run, const struct sim_task *task, const void *argument,
                      const struct sim_watched *watched);
    /* The task has to wait at the gate in `run`: its stream is about to park there. A step of a replay does so before
     * the task that replays it. Outside every lock of the engine. */
    void (*wt_park)(const struct sim_run *run, const struct sim_task *task, const void *argument);
    /* The calling thread is about to sleep until the gate has reached the level; `ends`: or until its time-out. *woken
     * is not 0 as soon as another thread wakes it. Then it has woken; it may sleep again for the same. */
    void (*wt_sleep)(struct sim_gate *gate, uint64_t target, bool ends, const _Atomic uint32_t *woken);
    void (*wt_wake)(struct sim_gate *gate, uint64_t target);
    /* A thread that is about to sleep asks when it has to wake and ask again; SIM_FOREVER: never. */
    uint64_t (*wt_next_look)(void);
    /* A task is queued. The stream's lock is held, and no thread can run the task yet: take no lock of the engine. */
    void (*wt_submit)(const struct sim_stream *stream, uint64_t ticket, const struct sim_task *task);
    /* Memory was allocated, mapped or registered. A block without a record may be in use
     * already: the host's, a mapping, or a further life of a pool's block. */
    void (*wt_allocate)(const struct sim_block *block, const void *site);
    /* It is about to be freed; `birth` is its allocation id. Locks of its heap or pool may be held. */
    void (*wt_free)(uint32_t birth, const void *site);
    /* The program has asked for its end, which a task of a stream will bring. A lock of its pool is held. */
    void (*wt_free_queued)(uint32_t birth);
    /* A host thread itself accesses the bytes in a call, as a synchronous copy does; before the access. */
    void (*wt_access)(const struct sim_range *ranges, size_t count, const void *site);
    /* A host thread is about to copy the elements of one side to the other, which has the same dimensions. wt_access
     * is called, too. */
    void (*wt_copy)(const struct sim_footprint *from, const struct sim_footprint *to, const void *site);
    /* From now on, the block may be written unseen: by the simulator, for itself, or by another process. */
    void (*wt_expose)(uint32_t birth);
    /* A task is not run because the range was freed. */
    void (*wt_refuse)(const struct sim_run *run, const struct sim_task *task, const struct sim_range *range);
    /* A call is refused: the address is in an address space of blocks, but in no live one. */
    void (*wt_missing)(const void *address, uint64_t size, const void *site);
    /* A free is refused: no block that the call frees starts at the address. */
    void (*wt_invalid_free)(const void *address, const void *site);
    /* The direction that a copy was given may contradict its addresses, which were checked. */
    void (*wt_direction)(const void *dst, const void *src, aclrtMemcpyKind kind, const void *site);
    /* An operator is prepared with a tensor whose memory, without its offset, starts at the address. */
    void (*wt_tensor)(const void *address, const void *site);
    /* Whether this phase of an operator fails instead of being run: its code, with a message; else 0. */
    int32_t (*wt_phase)(const struct sim_row *row, aclrtStream stream);
    /* A phase of an operator has returned `code`; it began at `start`. `values`: its arguments, as 8 bytes each; none
     * in the second phase. */
    void (*wt_operator)(const struct sim_row *row, const void *values, size_t count, uint64_t start, int32_t code);
    /* A capture into an instance, by its handle, begins with the stream; or it ends, and the stream is NULL. The
     * instance is locked. */
    void (*wt_capture)(uint64_t instance, const struct sim_stream *stream);
    /* The buffer's object is locked. */
    void (*wt_buffer)(const struct sim_buffer_use *use, const void *site);
    /* The calling host thread has waited until the record (engine.h) had passed, or has seen that it has. */
    void (*wt_know)(uint64_t record);
    /* A thread begins to call a function that a task of the stream has queued, or has called it (ends); `blocks`: the
     * stream waits for its end. */
    void (*wt_callback)(const struct sim_stream *stream, bool ends, bool blocks);
    /* A replay of the instance has finished one segment and begins another one; either may be NULL. `choice` is the way
     * that a switch at the end of the first has chosen. The run lock is held. */
    void (*wt_segment)(const struct sim_instance *instance, const struct sim_segment *done, uint32_t choice,
                       const struct sim_segment *next);
    /* A handle was made, and its object is freed. The table's lock is not held. */
    void (*wt_create)(const struct sim_table *table, uint64_t handle);
    void (*wt_destroy)(const struct sim_table *table, uint32_t index);
};

/* Switches a watcher, which must never be freed, on or off. At most SIM_WATCHERS different ones. */
#define SIM_WATCHERS 16
void sim_watcher_set(const struct sim_watcher *watcher, bool on);
bool sim_watcher_is_on(const struct sim_watcher *watcher);
void sim_watcher_after_fork(void);

/* The watchers that are on, as bits, and SIM_LOCKED while the process is locked (runtime.h). Both are in one word, so
 * that a call that depends on both looks once. */
#define SIM_LOCKED (UINT32_C(1) << 31)
extern _Atomic uint32_t sim_watchers __attribute__((visibility("hidden")));

/* False if no watcher is on and the process is not locked; true also if it is locked and no watcher is on. */
static inline bool sim_watcher_any(void)
{
#if defined(__x86_64__) && !defined(__clang_analyzer__) && !defined(SIM_TSAN)
    /* Two instructions; from an atomic load, the compiler makes three. It is an acquire load, too: one aligned word,
     * which neither the processor nor, because of "memory", the compiler reads after what follows. */
    __asm__ goto("cmpl $0, %0\n\tjne %l1" : : "m"(sim_watchers) : "cc", "memory" : some);
    return false;
some:
    return true;
#else
    return unlikely(atomic_load_explicit(&sim_watchers, memory_order_acquire) != 0);
#endif
}

/* Takes the next watcher out of the bits `on`; NULL: there is none. */
const struct sim_watcher *sim_watcher_next(uint32_t *on);

/* Tell every watcher that is on. Each is called only if sim_watcher_any. */
void sim_watcher_allocate(const struct sim_block *block) __attribute__((cold));
void sim_watcher_free(uint32_t birth, const void *site) __attribute__((cold));
void sim_watcher_free_queued(uint32_t birth) __attribute__((cold));
void sim_watcher_refuse(const struct sim_run *run, const struct sim_task *task, const struct sim_range *range)
    __attribute__((cold));
void sim_watcher_missing(const void *address, uint64_t size) __attribute__((cold));
void sim_watcher_invalid_free(const void *address, const void *site) __attribute__((cold));
void sim_watcher_direction(const void *dst, const void *src, aclrtMemcpyKind kind) __attribute__((cold));
void sim_watcher_tensor(const void *address) __attribute__((cold));
void sim_watcher_buffer(const struct sim_buffer_use *use) __attribute__((cold));
void sim_watcher_access(const struct sim_range *ranges, size_t count) __attribute__((cold));
void sim_watcher_copy(const struct sim_footprint *from, const struct sim_footprint *to) __attribute__((cold));
void sim_watcher_expose(uint32_t birth) __attribute__((cold));
void sim_watcher_know(uint64_t record) __attribute__((cold));
void sim_watcher_sleep(struct sim_gate *gate, uint64_t target, bool ends, const _Atomic uint32_t *woken)
    __attribute__((cold));
void sim_watcher_wake(struct sim_gate *gate, uint64_t target) __attribute__((cold));
uint64_t sim_watcher_next_look(void) __attribute__((cold)); /* the earliest one */
/* 0, or the code with which the phase of an operator fails; the stream is NULL in the first phase. */
int32_t sim_watcher_phase(const struct sim_row *row, aclrtStream stream) __attribute__((cold));
void sim_watcher_operator(const struct sim_row *row, const void *values, size_t count, uint64_t start, int32_t code)
    __attribute__((cold));
void sim_watcher_capture(uint64_t instance, const struct sim_stream *stream) __attribute__((cold));
void sim_watcher_callback(const struct sim_stream *stream, bool ends, bool blocks) __attribute__((cold));
void sim_watcher_segment(const struct sim_instance *instance, const struct sim_segment *done, uint32_t choice,
                         const struct sim_segment *next) __attribute__((cold));
void sim_watcher_create(const struct sim_table *table, uint64_t handle) __attribute__((cold));
void sim_watcher_destroy(const struct sim_table *table, uint32_t index) __attribute__((cold));

#endif
