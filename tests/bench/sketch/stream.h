/* Streams from the inside, and submission, which the files that submit share as an inline function.
 *
 * A stream's `word` holds its newest ticket and who is responsible for its tasks, so that "claim a ticket" and "does
 * any thread look after it?" are one atomic operation. `done` counts finished tasks; only the thread that holds the
 * stream (RUNNING) writes it. Pending tasks = ticket - done. Neither is ever reset, so a record of a former stream of
 * the slot reads as done. Fields are on separate cache lines by the threads that write them. */
#ifndef SKETCH_STREAM_H
#define SKETCH_STREAM_H

#include "base.h"
#include <stdlib.h>
#include <string.h>

#define CHUNK_TASKS 32
#define ARGUMENT_BYTES 64
#define GRAPH_ARGUMENT_BYTES 48
#define MAX_STREAMS 65536
#define EVER UINT64_MAX /* a position that no stream reaches */

/* A queued task, in 128 bytes; a small one touches one cache line. */
struct slot {
    _Atomic uint64_t sl_stamp; /* its ticket, once the slot is filled */
    const struct sketch_op *sl_op;
    void *sl_long;             /* an argument that is too long for the slot, or NULL */
    char sl_argument[ARGUMENT_BYTES];
    char sl_rest[40];
};
_Static_assert(sizeof(struct slot) == 128, "two cache lines");

struct chunk {
    ALONE struct slot ch_slots[CHUNK_TASKS];
    ALONE _Atomic uint64_t ch_base; /* tasks before the chunk's first */
    struct chunk *_Atomic ch_next;
    struct chunk *ch_next_free;
};

enum {
    RUNNING = 1, /* a thread holds it */
    PARKED = 2,  /* its first task waits for a record */
    LISTED = 4,  /* in the ready list; may stay set while idle, so that steady use never touches the list */
    TICKET = 256 /* the unit of the newest ticket */
};
#define TICKET_OF(word) ((word) >> 8)

struct sketch_graph {
    uint32_t gr_count, gr_room;
    struct graph_task {
        const struct sketch_op *gt_op;
        char gt_argument[GRAPH_ARGUMENT_BYTES];
    } *gr_tasks;
};

struct stream {
    /* Read by all. */
    ALONE _Atomic uint64_t st_handle; /* 0: the slot is free */
    struct sketch_graph *_Atomic st_capture;
    uint32_t st_index;
    _Atomic uint32_t st_kicked; /* a worker is to take it at once */
    _Atomic uint32_t st_habit;  /* a worker had to run it before, so the next push kicks it */

    /* Written by submitters. */
    ALONE _Atomic uint64_t st_word;
    struct chunk *_Atomic st_tail;

    /* Written by the holder. */
    ALONE _Atomic uint64_t st_done;
    struct chunk *st_head;
    struct chunk *_Atomic st_spare;
    struct stream *_Atomic st_parked_on;
    _Atomic uint64_t st_parked_until;

    /* Waiters: sleeping host threads and parked streams. Not reset when the slot is reused, because waiters of its
     * former stream may still be leaving. */
    ALONE _Atomic uint32_t st_waiters;
    _Atomic uint32_t st_futex;
    struct sketch_lock st_lock; /* guards the next four */
    uint32_t st_hosts;
    uint64_t st_hosts_until; /* the lowest position that a sleeping host waits for */
    struct stream *st_parked; /* streams that are parked on this one */
    struct stream *st_next_parked;

    /* Used by the workers. */
    ALONE struct stream *st_next_ready;
    uint64_t st_seen;
    struct stream *st_next_free;
};

/* Who runs a stream. */
enum runner { HELPER, WORKER, SUBMITTER };

extern struct stream *sketch_streams; /* the first is the default stream */

/* stream.c */
struct chunk *sketch_chunk_take(struct stream *stream, uint64_t base);
void sketch_chunk_give(struct stream *stream, struct chunk *chunk);
void sketch_list(struct stream *stream);
bool sketch_hold(struct stream *stream);
void sketch_release_pending(struct stream *stream);
void sketch_run(struct stream *stream, uint64_t until, enum runner runner, int quantum);
void sketch_wait_until(struct stream *stream, uint64_t position);
void sketch_after_submit(struct stream *stream, uint64_t position);
int sketch_not_ready(struct stream *stream);
uint64_t sketch_generation(void);

/* worker.c */
void sketch_workers_start(void);
void sketch_push(struct stream *stream);
void sketch_kick(struct stream *stream, bool force);

/* memory.c */
void sketch_memory_open(void);

/* event.c */
void sketch_events_open(void);

/* NULL if the handle does not name a living stream. */
static inline struct stream *find_stream(sketch_stream handle)
{
    if (handle == NULL)
        return sketch_streams;
    uint32_t index = (uintptr_t)handle & 0xffffff;
    if (unlikely(index >= MAX_STREAMS))
        return NULL;
    struct stream *stream = &sketch_streams[index];
    return likely(LOAD(&stream->st_handle) == (uintptr_t)handle) ? stream : NULL;
}

/* A record is {stream: 16 bits, position: 48 bits}. */
#define POSITION_BITS 48

static inline struct stream *record_stream(uint64_t record)
{
    return &sketch_streams[record >> POSITION_BITS];
}

static inline uint64_t record_position(uint64_t record)
{
    return record & ((UINT64_C(1) << POSITION_BITS) - 1);
}

static inline bool record_done(uint64_t record)
{
    return LOAD(&record_stream(record)->st_done) >= record_position(record);
}

/* Adds a task to the stream. `handle` is checked again after the word was loaded, because a stream is destroyed by
 * clearing its handle and then taking a ticket: a submission that races with that fails to replace the word, or sees
 * the cleared handle. NULL leaves this check out. Writes the task's ticket to `ticket` unless that is NULL.
 *
 * Between claiming a ticket and writing the stamp, nothing allocates device memory, helps or waits. */
static inline __attribute__((always_inline)) int submit(struct stream *stream, sketch_stream handle,
                                                        const struct sketch_op *op, const void *argument, size_t size,
                                                        uint64_t *ticket)
{
    struct chunk *next = NULL, *chunk;
    uint64_t word = LOAD(&stream->st_word);
    int calls = 0;
    for (;;) {
        uint64_t before = TICKET_OF(word), base = before & ~(uint64_t)(CHUNK_TASKS - 1);
        chunk = LOAD(&stream->st_tail);
        if (unlikely(chunk == NULL)) { /* the first use of the slot */
            lock(&stream->st_lock);
            if (LOAD(&stream->st_tail) == NULL) {
                stream->st_head = sketch_chunk_take(NULL, base);
                STORE(&stream->st_tail, stream->st_head);
            }
            unlock(&stream->st_lock);
            word = LOAD(&stream->st_word);
            continue;
        }
        if (unlikely(LOAD(&chunk->ch_base) != base)) { /* another submitter is about to link the next chunk */
            wait_a_little(&calls, 100);
            word = LOAD(&stream->st_word);
            continue;
        }
        if (unlikely(handle != NULL && LOAD_RELAXED(&stream->st_handle) != (uintptr_t)handle)) {
            if (next != NULL)
                sketch_chunk_give(stream, next);
            return SKETCH_NO_HANDLE;
        }
        if (unlikely(before % CHUNK_TASKS == CHUNK_TASKS - 1)) {
            if (next == NULL)
                next = sketch_chunk_take(stream, before + 1);
            STORE_RELAXED(&next->ch_base, before + 1);
        }
        if (likely(REPLACE(&stream->st_word, &word, word + TICKET)))
            break;
    }
    uint64_t before = TICKET_OF(word);
    bool last = before % CHUNK_TASKS == CHUNK_TASKS - 1;
    if (unlikely(last)) {
        STORE(&chunk->ch_next, next);
        STORE(&stream->st_tail, next);
    } else if (unlikely(next != NULL)) {
        sketch_chunk_give(stream, next);
    }
    struct slot *slot = &chunk->ch_slots[before % CHUNK_TASKS];
    slot->sl_op = op;
    if (likely(size <= ARGUMENT_BYTES)) {
        if (size != 0)
            memcpy(slot->sl_argument, argument, size);
    } else {
        slot->sl_long = malloc(size);
        memcpy(slot->sl_long, argument, size);
    }
    STORE(&slot->sl_stamp, before + 1);
    if (ticket != NULL)
        *ticket = before + 1;
    if (unlikely((word & (LISTED | RUNNING | PARKED)) == 0))
        sketch_list(stream);
    if (unlikely(last || (op->op_flags & SKETCH_HEAVY)))
        sketch_after_submit(stream, before + 1);
    return SKETCH_OK;
}

#endif
