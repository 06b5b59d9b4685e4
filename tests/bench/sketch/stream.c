/* Streams: running, parking, waiting, and the calls on them.
 *
 * States: IDLE -submit-> LISTED -hold-> RUNNING -release-> IDLE or LISTED; RUNNING -record not done-> PARKED -resume->
 * LISTED. A stream becomes idle by replacing the word (RUNNING, no pending task) by (not RUNNING), which fails if a
 * task arrived meanwhile. A record is one number, {stream, position}; it is done when `done` of the stream has reached
 * the position, so it needs no object and no reference count.
 *
 * A thread that waits follows parked streams to the one that blocks it, holds that one and runs it as far as needed.
 * The holder publishes `done` by an exchange and then reads the number of waiters; a waiter counts itself and then
 * reads `done` again. Locks are leaves; no task and no futex wake runs under one. */
#include "stream.h"

#define FLUSH_TASKS 16   /* light tasks between two looks for waiters */
#define HELP_TASKS 128   /* above this backlog a submitter runs tasks, so that the queue stays in the cache */
#define SPIN_NS 40000    /* a waiting host spins so long for a stream that is running */
#define HOST_SLEEP_NS 50000000
#define LINKS 64         /* parked streams that a waiting host follows in one go */
#define CHUNKS_AT_ONCE 64
#define STREAM_KIND 5ull

_Thread_local struct sketch_thread sketch_thread;
struct stream *sketch_streams;

static uint32_t stream_count;
static struct stream *free_streams;
static struct sketch_lock table_lock; /* guards the two above */
static struct chunk *free_chunks;
static struct sketch_lock chunk_lock; /* guards free_chunks */
static _Atomic uint64_t generations;

/* --- Chunks */

struct chunk *sketch_chunk_take(struct stream *stream, uint64_t base)
{
    struct chunk *chunk = NULL;
    if (stream != NULL && LOAD_RELAXED(&stream->st_spare) != NULL)
        chunk = atomic_exchange_explicit(&stream->st_spare, NULL, memory_order_acquire);
    if (chunk == NULL) {
        lock(&chunk_lock);
        chunk = free_chunks;
        if (chunk != NULL)
            free_chunks = chunk->ch_next_free;
        unlock(&chunk_lock);
    }
    if (chunk == NULL) {
        chunk = reserve(CHUNKS_AT_ONCE * sizeof *chunk);
        lock(&chunk_lock);
        for (int i = 1; i < CHUNKS_AT_ONCE; i++) {
            chunk[i].ch_next_free = free_chunks;
            free_chunks = &chunk[i];
        }
        unlock(&chunk_lock);
    }
    STORE_RELAXED(&chunk->ch_next, NULL);
    STORE(&chunk->ch_base, base);
    return chunk;
}

void sketch_chunk_give(struct stream *stream, struct chunk *chunk)
{
    if (LOAD_RELAXED(&stream->st_spare) == NULL) {
        chunk = atomic_exchange_explicit(&stream->st_spare, chunk, memory_order_acq_rel);
        if (chunk == NULL)
            return;
    }
    lock(&chunk_lock);
    chunk->ch_next_free = free_chunks;
    free_chunks = chunk;
    unlock(&chunk_lock);
}

/* --- Parking and waking */

static void wake_hosts(struct stream *stream)
{
    futex_wake(&stream->st_futex, 1 << 30);
}

/* Lets sleeping hosts look at the stream again, whatever they wait for: it is to be run, and they may do that. */
static void wake_hosts_to_help(struct stream *stream)
{
    if (atomic_load(&stream->st_waiters) == 0)
        return;
    lock(&stream->st_lock);
    bool hosts = stream->st_hosts > 0;
    if (hosts)
        stream->st_hosts_until = EVER;
    unlock(&stream->st_lock);
    if (hosts)
        wake_hosts(stream);
}

static void resume(struct stream *stream)
{
    uint64_t word = LOAD(&stream->st_word);
    while (!REPLACE(&stream->st_word, &word, (word & ~(uint64_t)PARKED) | LISTED))
        ;
    if ((word & LISTED) == 0)
        sketch_push(stream);
    wake_hosts_to_help(stream);
}

/* Wakes those that wait for a position which `done` has reached. Any thread may call it. */
static void wake_waiters(struct stream *stream)
{
    struct stream *ready = NULL;
    lock(&stream->st_lock);
    uint64_t done = atomic_load(&stream->st_done);
    for (struct stream **link = &stream->st_parked; *link != NULL;) {
        struct stream *parked = *link;
        if (LOAD_RELAXED(&parked->st_parked_until) <= done) {
            *link = parked->st_next_parked;
            parked->st_next_parked = ready;
            ready = parked;
            atomic_fetch_sub(&stream->st_waiters, 1);
        } else {
            link = &parked->st_next_parked;
        }
    }
    bool hosts = stream->st_hosts > 0 && stream->st_hosts_until <= done;
    if (hosts)
        stream->st_hosts_until = EVER;
    unlock(&stream->st_lock);
    while (ready != NULL) {
        struct stream *parked = ready;
        ready = parked->st_next_parked;
        resume(parked);
    }
    if (hosts)
        wake_hosts(stream);
}

static inline void flush(struct stream *stream, uint64_t done)
{
    atomic_exchange(&stream->st_done, done);
    if (unlikely(atomic_load(&stream->st_waiters) != 0))
        wake_waiters(stream);
}

/* Called by the holder, which does not hold the stream afterwards. */
static void park(struct stream *stream, uint64_t record)
{
    struct stream *on = record_stream(record);
    uint64_t position = record_position(record);
    STORE_RELAXED(&stream->st_parked_on, on);
    STORE_RELAXED(&stream->st_parked_until, position);
    uint64_t word = LOAD(&stream->st_word);
    while (!REPLACE(&stream->st_word, &word, (word & ~(uint64_t)RUNNING) | PARKED))
        ;
    lock(&on->st_lock);
    stream->st_next_parked = on->st_parked;
    on->st_parked = stream;
    atomic_fetch_add(&on->st_waiters, 1);
    unlock(&on->st_lock);
    if (atomic_load(&on->st_done) >= position)
        wake_waiters(on);
}

/* --- Running */

void sketch_list(struct stream *stream)
{
    uint64_t word = LOAD(&stream->st_word);
    while ((word & (LISTED | RUNNING | PARKED)) == 0) {
        if (REPLACE(&stream->st_word, &word, word | LISTED)) {
            sketch_push(stream);
            if (unlikely(LOAD_RELAXED(&stream->st_habit)))
                sketch_kick(stream, false);
            return;
        }
    }
}

/* Becomes the holder of a stream that has tasks and no holder. */
bool sketch_hold(struct stream *stream)
{
    uint64_t word = LOAD(&stream->st_word);
    for (;;) {
        if ((word & (RUNNING | PARKED)) != 0 || TICKET_OF(word) == LOAD_RELAXED(&stream->st_done))
            return false;
        if (REPLACE(&stream->st_word, &word, word | RUNNING))
            return true;
    }
}

/* Lets go of a stream that has tasks: it must be in the ready list. */
void sketch_release_pending(struct stream *stream)
{
    uint64_t word = LOAD(&stream->st_word);
    while (!REPLACE(&stream->st_word, &word, (word & ~(uint64_t)RUNNING) | LISTED))
        ;
    if ((word & LISTED) == 0)
        sketch_push(stream);
    wake_hosts_to_help(stream);
}

static void recycle(struct stream *stream)
{
    lock(&table_lock);
    stream->st_next_free = free_streams;
    free_streams = stream;
    unlock(&table_lock);
}

/* The holder runs the stream: until `done` is `until`, at most `quantum` tasks (negative: no limit). Releases it. */
void sketch_run(struct stream *stream, uint64_t until, enum runner runner, int quantum)
{
    uint64_t done = LOAD_RELAXED(&stream->st_done), word;
    struct chunk *chunk = stream->st_head;
    int unflushed = 0;
    bool destroyed = false, was_in_task = sketch_thread.th_in_task;
    sketch_thread.th_in_task = true;
    while (done < until) {
        word = LOAD(&stream->st_word);
        if (TICKET_OF(word) == done) {
            if (unflushed != 0)
                flush(stream, done);
            unflushed = 0;
            if (!REPLACE_STRONG(&stream->st_word, &word, word & ~(uint64_t)RUNNING))
                continue;
            sketch_thread.th_in_task = was_in_task;
            if (destroyed)
                recycle(stream);
            return;
        }
        struct slot *slot = &chunk->ch_slots[done % CHUNK_TASKS];
        for (int calls = 0; LOAD(&slot->sl_stamp) != done + 1;) /* the ticket is taken, the slot not yet filled */
            wait_a_little(&calls, 200);
        const struct sketch_op *op = slot->sl_op;
        unsigned flags = op->op_flags;
        if (unlikely((flags & SKETCH_LIGHT) == 0)) {
            if (unflushed != 0) /* a thread that waits for the tasks before must not wait for this one */
                flush(stream, done);
            unflushed = 0;
            if ((flags & SKETCH_WAIT) != 0) {
                uint64_t record;
                memcpy(&record, slot->sl_argument, sizeof record);
                if (!record_done(record)) {
                    sketch_thread.th_in_task = was_in_task;
                    park(stream, record);
                    return;
                }
            } else if (runner == SUBMITTER) {
                break;
            }
            if ((flags & SKETCH_DESTROY) != 0)
                destroyed = true;
        }
        if (op->op_run != NULL)
            op->op_run(unlikely(slot->sl_long != NULL) ? slot->sl_long : slot->sl_argument);
        if (unlikely(slot->sl_long != NULL)) {
            free(slot->sl_long);
            slot->sl_long = NULL;
        }
        /* Chunks move between streams: an old stamp could equal a ticket of the next stream. */
        STORE_RELAXED(&slot->sl_stamp, 0);
        done++;
        if (unlikely(done % CHUNK_TASKS == 0)) {
            struct chunk *next = LOAD(&chunk->ch_next);
            stream->st_head = next;
            sketch_chunk_give(stream, chunk);
            chunk = next;
        }
        if ((flags & SKETCH_RECORD) != 0 || ++unflushed >= FLUSH_TASKS) {
            flush(stream, done);
            unflushed = 0;
        } else {
            STORE(&stream->st_done, done);
        }
        if (unlikely(--quantum == 0))
            break;
    }
    sketch_thread.th_in_task = was_in_task;
    if (unflushed != 0)
        flush(stream, done);
    word = LOAD(&stream->st_word);
    if (destroyed) {
        while (!REPLACE(&stream->st_word, &word, word & ~(uint64_t)RUNNING))
            ;
        recycle(stream);
        return;
    }
    while (TICKET_OF(word) == done) {
        if (REPLACE_STRONG(&stream->st_word, &word, word & ~(uint64_t)RUNNING))
            return;
    }
    sketch_release_pending(stream);
}

/* Called after the last task of a chunk and after each heavy task. */
__attribute__((noinline)) void sketch_after_submit(struct stream *stream, uint64_t position)
{
    if (sketch_thread.th_in_task)
        return;
    if (position % CHUNK_TASKS != 0 && (LOAD(&stream->st_word) & RUNNING) == 0)
        sketch_kick(stream, true);
    if (position - LOAD_RELAXED(&stream->st_done) >= HELP_TASKS && sketch_hold(stream))
        sketch_run(stream, position, SUBMITTER, -1);
}

/* --- Waiting */

static void host_sleep(struct stream *stream, uint64_t position)
{
    uint32_t seen = LOAD(&stream->st_futex);
    lock(&stream->st_lock);
    stream->st_hosts++;
    if (position < stream->st_hosts_until || stream->st_hosts == 1)
        stream->st_hosts_until = position;
    atomic_fetch_add(&stream->st_waiters, 1);
    unlock(&stream->st_lock);
    if (atomic_load(&stream->st_done) < position && (atomic_load(&stream->st_word) & (RUNNING | PARKED)) != 0)
        futex_wait(&stream->st_futex, seen, HOST_SLEEP_NS);
    lock(&stream->st_lock);
    if (--stream->st_hosts == 0)
        stream->st_hosts_until = EVER;
    atomic_fetch_sub(&stream->st_waiters, 1);
    unlock(&stream->st_lock);
}

/* Returns when the stream has reached the position: helps, spins while another thread runs it, and then sleeps. */
void sketch_wait_until(struct stream *stream, uint64_t position)
{
    uint64_t start = 0;
    int spins = 0;
    while (LOAD(&stream->st_done) < position) {
        struct stream *blocking = stream;
        uint64_t until = position;
        for (int link = 0; link < LINKS && (LOAD(&blocking->st_word) & PARKED) != 0; link++) {
            struct stream *on = LOAD(&blocking->st_parked_on);
            uint64_t needed = LOAD_RELAXED(&blocking->st_parked_until);
            if (on == NULL || LOAD(&on->st_done) >= needed)
                break;
            blocking = on;
            until = needed;
        }
        if (sketch_hold(blocking)) {
            if (LOAD_RELAXED(&blocking->st_habit))
                STORE_RELAXED(&blocking->st_habit, 0);
            sketch_run(blocking, until, HELPER, -1);
            start = 0;
            spins = 0;
            continue;
        }
        pause_briefly();
        if (++spins % 32 != 0)
            continue;
        uint64_t time = now();
        if (start == 0)
            start = time;
        else if (spins % 256 == 0)
            sched_yield();
        if (time - start > SPIN_NS) {
            host_sleep(stream, position);
            start = 0;
        }
    }
}

/* A query that finds work kicks the stream; one in 16 gives the CPU away, which the worker may need. */
int sketch_not_ready(struct stream *stream)
{
    static _Thread_local uint32_t queries;
    sketch_kick(stream, false);
    if (++queries % 16 == 0)
        sched_yield();
    return SKETCH_NOT_READY;
}

/* --- The calls */

uint64_t sketch_generation(void)
{
    return atomic_fetch_add_explicit(&generations, 1, memory_order_relaxed) + 1;
}

void sketch_enter(void)
{
    static char context;
    sketch_thread.th_context = &context;
}

void sketch_open(void)
{
    sketch_streams = reserve(MAX_STREAMS * sizeof *sketch_streams);
    sketch_events_open();
    sketch_memory_open();
    sketch_enter();
    sketch_stream stream;
    sketch_stream_create(&stream); /* the default stream */
    sketch_workers_start();
}

int sketch_stream_create(sketch_stream *handle)
{
    if (sketch_thread.th_context == NULL)
        return SKETCH_NO_CONTEXT;
    lock(&table_lock);
    struct stream *stream = free_streams;
    if (stream != NULL) {
        free_streams = stream->st_next_free;
    } else {
        if (stream_count >= MAX_STREAMS) {
            unlock(&table_lock);
            return SKETCH_NO_MEMORY;
        }
        stream = &sketch_streams[stream_count];
        stream->st_index = stream_count++;
    }
    uint64_t value = (sketch_generation() << 28) | (STREAM_KIND << 24) | stream->st_index;
    unlock(&table_lock);
    STORE(&stream->st_handle, value);
    *handle = (sketch_stream)(uintptr_t)value;
    return SKETCH_OK;
}

int sketch_stream_destroy(sketch_stream handle)
{
    static const struct sketch_op op = {NULL, SKETCH_DESTROY};
    struct stream *stream = handle != NULL ? find_stream(handle) : NULL;
    if (stream == NULL)
        return SKETCH_NO_HANDLE;
    if (sketch_thread.th_in_task)
        return SKETCH_IN_TASK;
    uint64_t value = (uintptr_t)handle, ticket;
    if (!atomic_compare_exchange_strong(&stream->st_handle, &value, 0))
        return SKETCH_NO_HANDLE;
    submit(stream, NULL, &op, NULL, 0, &ticket);
    if (sketch_hold(stream))
        sketch_run(stream, ticket, HELPER, -1);
    return SKETCH_OK;
}

int sketch_stream_sync(sketch_stream handle)
{
    struct stream *stream = find_stream(handle);
    if (unlikely(stream == NULL))
        return SKETCH_NO_HANDLE;
    uint64_t ticket = TICKET_OF(LOAD(&stream->st_word));
    if (likely(LOAD(&stream->st_done) >= ticket))
        return SKETCH_OK;
    if (sketch_thread.th_in_task)
        return SKETCH_IN_TASK;
    sketch_wait_until(stream, ticket);
    return SKETCH_OK;
}

int sketch_stream_query(sketch_stream handle)
{
    struct stream *stream = find_stream(handle);
    if (unlikely(stream == NULL))
        return SKETCH_NO_HANDLE;
    uint64_t ticket = TICKET_OF(LOAD(&stream->st_word));
    if (likely(LOAD(&stream->st_done) >= ticket))
        return SKETCH_OK;
    return sketch_not_ready(stream);
}

int sketch_launch(sketch_stream handle, const struct sketch_op *op, const void *argument, size_t size)
{
    struct stream *stream = find_stream(handle);
    if (unlikely(stream == NULL))
        return SKETCH_NO_HANDLE;
    if (unlikely(sketch_thread.th_context == NULL))
        return SKETCH_NO_CONTEXT;
    struct sketch_graph *graph = LOAD_RELAXED(&stream->st_capture);
    if (likely(graph == NULL))
        return submit(stream, handle, op, argument, size, NULL);
    if (graph->gr_count == graph->gr_room) {
        graph->gr_room = graph->gr_room != 0 ? graph->gr_room * 2 : 64;
        graph->gr_tasks = realloc(graph->gr_tasks, graph->gr_room * sizeof *graph->gr_tasks);
    }
    struct graph_task *task = &graph->gr_tasks[graph->gr_count++];
    task->gt_op = op;
    memcpy(task->gt_argument, argument, size > GRAPH_ARGUMENT_BYTES ? GRAPH_ARGUMENT_BYTES : size);
    return SKETCH_OK;
}

/* --- Captures of one stream */

static void run_graph(void *argument)
{
    struct sketch_graph *graph;
    memcpy(&graph, argument, sizeof graph);
    struct graph_task *tasks = graph->gr_tasks;
    for (uint32_t i = 0, count = graph->gr_count; i < count; i++)
        tasks[i].gt_op->op_run(tasks[i].gt_argument);
}

int sketch_capture_begin(sketch_stream handle)
{
    struct stream *stream = find_stream(handle);
    if (stream == NULL)
        return SKETCH_NO_HANDLE;
    STORE_RELAXED(&stream->st_capture, calloc(1, sizeof(struct sketch_graph)));
    return SKETCH_OK;
}

int sketch_capture_end(sketch_stream handle, sketch_graph *graph)
{
    struct stream *stream = find_stream(handle);
    if (stream == NULL || LOAD_RELAXED(&stream->st_capture) == NULL)
        return SKETCH_NO_HANDLE;
    *graph = LOAD_RELAXED(&stream->st_capture);
    STORE_RELAXED(&stream->st_capture, NULL);
    return SKETCH_OK;
}

int sketch_replay(sketch_graph graph, sketch_stream stream)
{
    static const struct sketch_op op = {run_graph, 0};
    return sketch_launch(stream, &op, &graph, sizeof graph);
}

int sketch_graph_destroy(sketch_graph graph)
{
    free(graph->gr_tasks);
    free(graph);
    return SKETCH_OK;
}
