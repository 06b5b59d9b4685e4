/* Recording a trace: events of calls, tasks, memory, captures and findings, in buffers of the threads.
 *
 * Each thread appends to its own buffer, a list of chunks, under the lock of that buffer, which only a thread that
 * writes the trace takes, too. Above the limit of the setting "trace_limit", a thread overwrites its oldest chunk; one
 * that has no chunk yet drops its events. Buffers are never freed, because their threads point to them; a reset empties
 * them. While a trace is written, no chunk is overwritten or freed, so that the writer reads records without a lock.
 *
 * `switch_lock` guards switching on and off, the path, and writing. `list_lock` guards adding a buffer. The locks of
 * buffers are leaves: watchers are called with locks of streams and heaps held. `begun` is used by the thread that runs
 * the tasks of a stream; the engine orders two such threads. */
#include "trace.h"
#include "address/heap.h"
#include "clock_model.h"
#include "base/config.h"
#include "base/output.h"
#include "base/site.h"
#include "check.h"
#include "engine/context.h"
#include "engine/device.h"
#include "engine/engine.h"
#include "trace_write.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (16u << 10)
#define TEXT_BYTES 200 /* of a text argument */
#define NAME_BYTES 96  /* of a task */
#define PATH_BYTES 1024
#define STREAMS 65536u /* indices of streams, which have 16 bits in a record */

struct chunk {
    struct chunk *ch_next;
    uint32_t ch_used, ch_records;
    uint64_t ch_bytes[CHUNK_BYTES / sizeof(uint64_t)];
};

struct thread {
    struct sim_lock th_lock;
    struct thread *th_next;
    struct chunk *th_oldest, *th_newest;
    uint64_t th_dropped;
    size_t th_listed; /* records in the file that is being written; guarded by switch_lock */
    struct sim_trace_thread_name th_name;
};

static struct sim_lock switch_lock, list_lock;
static struct thread *_Atomic threads;
static _Thread_local struct thread *own;
static _Atomic bool on, is_writing, silent; /* silent: the child of a fork, which must leave its parent's file alone */
static _Atomic uint64_t used_bytes, recorded;
static uint64_t written; /* `recorded` when the file was written last */
static char path[PATH_BYTES];
static _Atomic bool memory_changed;
static _Atomic uint64_t memory_told[SIM_DEVICES_MAX];
static struct {
    uint64_t be_ticket, be_start;
} begun[STREAMS]; /* the task that a stream runs now */

/* ---- buffers ---- */

static struct thread *own_buffer(void)
{
    struct thread *fresh = own == NULL ? calloc(1, sizeof *fresh) : NULL;
    if (fresh == NULL)
        return own;
    fresh->th_name.tn_thread = sim_thread_number();
    pthread_getname_np(pthread_self(), fresh->th_name.tn_name, sizeof fresh->th_name.tn_name);
    sim_lock(&list_lock);
    fresh->th_next = atomic_load_explicit(&threads, memory_order_relaxed);
    atomic_store_explicit(&threads, fresh, memory_order_release);
    sim_unlock(&list_lock);
    return own = fresh;
}

/* With the buffer's lock held: an empty chunk as the newest one; false if there is no room. */
static bool add_chunk(struct thread *thread)
{
    struct chunk *fresh = NULL;
    if (atomic_load_explicit(&used_bytes, memory_order_relaxed) + sizeof *fresh <= sim_config()->cf_trace_limit) {
        fresh = malloc(sizeof *fresh);
        if (fresh != NULL)
            atomic_fetch_add_explicit(&used_bytes, sizeof *fresh, memory_order_relaxed);
    }
    if (fresh == NULL && thread->th_oldest != NULL && !atomic_load(&is_writing)) {
        fresh = thread->th_oldest;
        thread->th_oldest = fresh->ch_next;
        thread->th_dropped += fresh->ch_records;
    }
    if (fresh == NULL)
        return false;
    fresh->ch_next = NULL;
    fresh->ch_used = fresh->ch_records = 0;
    *(thread->th_oldest == NULL ? &thread->th_oldest : &thread->th_newest->ch_next) = fresh;
    thread->th_newest = fresh;
    return true;
}

/* Begins a record of this thread, whose buffer stays locked until finish_record; NULL: it is dropped. */
static struct sim_trace_record *start_record(enum sim_trace_kind kind, const void *what, size_t count, size_t text)
{
    struct thread *thread = own_buffer();
    size_t bytes = sizeof(struct sim_trace_record) + (count + (text + 7) / 8) * sizeof(uint64_t);
    if (thread == NULL || bytes > CHUNK_BYTES)
        return NULL;
    sim_lock(&thread->th_lock);
    struct chunk *chunk = thread->th_newest;
    if ((chunk == NULL || chunk->ch_used + bytes > CHUNK_BYTES) && !add_chunk(thread)) {
        thread->th_dropped++;
        sim_unlock(&thread->th_lock);
        return NULL;
    }
    chunk = thread->th_newest;
    struct sim_trace_record *record = (void *)((char *)chunk->ch_bytes + chunk->ch_used);
    *record = (struct sim_trace_record){.tr_bytes = (uint32_t)bytes, .tr_kind = (uint8_t)kind, .tr_what = what,
                                        .tr_count = (uint16_t)count, .tr_thread = thread->th_name.tn_thread};
    return record;
}

static void finish_record(const struct sim_trace_record *record)
{
    own->th_newest->ch_used += record->tr_bytes;
    own->th_newest->ch_records++;
    sim_unlock(&own->th_lock);
    atomic_fetch_add_explicit(&recorded, 1, memory_order_relaxed);
}

/* A record of one moment, with at most three values. */
static void record_moment(enum sim_trace_kind kind, const void *what, const void *site, uint64_t first, uint64_t second,
                          uint64_t third)
{
    uint64_t now = sim_clock_model_now();
    struct sim_trace_record *record = start_record(kind, what, 3, 0);
    if (record == NULL)
        return;
    record->tr_start = record->tr_end = now;
    record->tr_site = site;
    record->tr_flags = sim_thread.th_call_site != NULL ? SIM_TRACE_NESTED : 0;
    record->tr_values[0] = first;
    record->tr_values[1] = second;
    record->tr_values[2] = third;
    finish_record(record);
}

/* ---- memory ---- */

/* Records the bytes in use of each device on which they have changed. A block is reported as freed before its bytes
 * are counted as free, so this is called again at the next event. */
static void record_memory(void)
{
    const struct sim_zone *zone = &sim_heap_zone_of_device;
    if (atomic_load_explicit(&zone->zn_bytes, memory_order_acquire) == 0)
        return;
    for (uint32_t device = 0; device < zone->zn_heap_count && device < SIM_DEVICES_MAX; device++) {
        uint64_t now = sim_heap_usage(zone, device).us_now;
        if (atomic_exchange(&memory_told[device], now) != now)
            record_moment(SIM_TRACE_MEMORY, NULL, NULL, device, now, 0);
    }
}

static void settle_memory(void)
{
    if (atomic_load_explicit(&memory_changed, memory_order_relaxed) && atomic_exchange(&memory_changed, false))
        record_memory();
}

static void watch_allocate(const struct sim_block *block, const void *site)
{
    (void)block;
    (void)site;
    record_memory();
}

static void watch_free(uint32_t birth, const void *site)
{
    (void)birth;
    (void)site;
    atomic_store_explicit(&memory_changed, true, memory_order_relaxed);
}

/* ---- calls ---- */

static bool start(void);

void sim_trace_begin(struct sim_trace_call *call, const void *site)
{
    bool traced = atomic_load_explicit(&on, memory_order_acquire) || (sim_config()->cf_trace && start());
    uint64_t since = sim_thread.th_wait_since; /* the call waits in slices, and began then */
    bool in_slices = since != 0 && !sim_clock_model_is_on();
    call->cl_start = !traced ? SIM_FOREVER : in_slices ? since : sim_clock_model_now();
    call->cl_outer = sim_thread.th_call_site;
    if (call->cl_outer == NULL)
        sim_thread.th_call_site = site;
}

static size_t text_bytes(const struct sim_trace_function *function, const uint64_t *arguments)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < function->fn_count; i++)
        if (function->fn_parameters[i].pm_form == SIM_TRACE_TEXT && arguments[i] != 0)
            bytes += strnlen((const char *)(uintptr_t)arguments[i], TEXT_BYTES) + 1;
    return bytes;
}

/* The value behind the pointer of an output, with its sign. */
static uint64_t value_behind(uint64_t pointer, uint8_t bytes, enum sim_trace_form form)
{
    union {
        uint64_t whole;
        int8_t one;
        int16_t two;
        int32_t four;
    } value = {.whole = 0};
    memcpy(&value, (const void *)(uintptr_t)pointer, bytes);
    if (form != SIM_TRACE_SIGNED)
        return value.whole;
    return bytes == 1 ? (uint64_t)value.one : bytes == 2 ? (uint64_t)value.two
                                          : bytes == 4 ? (uint64_t)value.four : value.whole;
}

/* Replaces the pointers of outputs by what is behind them, and copies the texts. */
static void keep_arguments(struct sim_trace_record *record, const struct sim_trace_function *function,
                           const uint64_t *arguments, bool succeeded)
{
    char *text = (char *)&record->tr_values[record->tr_count];
    for (uint32_t i = 0; i < function->fn_count; i++) {
        const struct sim_trace_parameter *parameter = &function->fn_parameters[i];
        bool shown = parameter->pm_output != 0 && succeeded && arguments[i] != 0;
        record->tr_values[i + 1] =
            shown ? value_behind(arguments[i], parameter->pm_output, parameter->pm_form) : arguments[i];
        if (parameter->pm_form != SIM_TRACE_TEXT || arguments[i] == 0)
            continue;
        size_t length = strnlen((const char *)(uintptr_t)arguments[i], TEXT_BYTES);
        memcpy(text, (const char *)(uintptr_t)arguments[i], length);
        text[length] = '\0';
        text += length + 1;
    }
}

void sim_trace_end(const struct sim_trace_call *call, const struct sim_trace_function *function, int64_t result,
                   const uint64_t *arguments)
{
    const void *site = sim_thread.th_call_site;
    sim_thread.th_call_site = call->cl_outer;
    if (call->cl_start == SIM_FOREVER || !atomic_load_explicit(&on, memory_order_acquire))
        return;
    uint64_t end = sim_clock_model_now();
    bool succeeded = !function->fn_has_code || result == 0;
    struct sim_trace_record *record =
        start_record(SIM_TRACE_CALL, function, function->fn_count + 1u, text_bytes(function, arguments));
    if (record != NULL) {
        record->tr_start = call->cl_start < end ? call->cl_start : end; /* the call may have set another clock */
        record->tr_end = end;
        record->tr_code = function->fn_has_code ? (int32_t)result : 0;
        record->tr_flags = succeeded;
        record->tr_site = sim_thread.th_line != NULL ? sim_site_with_line(NULL) : site;
        record->tr_values[0] = (uint64_t)result;
        keep_arguments(record, function, arguments, succeeded);
        finish_record(record);
    }
    settle_memory();
}

static void watch_operator(const struct sim_row *row, const void *values, size_t count, uint64_t start_time,
                           int32_t code)
{
    uint64_t end = sim_clock_model_now();
    const void *site = sim_site_of_call();
    struct sim_trace_record *record = start_record(SIM_TRACE_OPERATOR, row, count + 1, 0);
    if (record == NULL)
        return;
    record->tr_start = start_time < end ? start_time : end; /* it was measured, but `end` may be virtual */
    record->tr_end = end;
    record->tr_code = code;
    record->tr_site = site;
    record->tr_values[0] = (uint64_t)(int64_t)code;
    if (count != 0)
        memcpy(record->tr_values + 1, values, count * sizeof *record->tr_values);
    finish_record(record);
}

/* ---- tasks ---- */

static uint32_t device_of(const struct sim_stream *stream)
{
    const struct sim_context *context = atomic_load_explicit(&stream->st_context, memory_order_relaxed);
    return (uint32_t)context->cx_device->dv_id;
}

static void watch_submit(const struct sim_stream *stream, uint64_t ticket, const struct sim_task *task)
{
    record_moment(SIM_TRACE_SUBMIT, task->ta_op, task->ta_site, stream->st_slot.sl_index, ticket, 0);
}

static void watch_start(const struct sim_run *run, const struct sim_task *task, const void *argument)
{
    uint32_t index = run->rn_stream->st_slot.sl_index % STREAMS;
    (void)task;
    (void)argument;
    if (sim_thread.th_walker == NULL && begun[index].be_ticket != run->rn_ticket) {
        begun[index].be_ticket = run->rn_ticket;
        begun[index].be_start = sim_clock_now();
    }
}

/* The name that a task has beside the function that submitted it, as JSON text; "": none. */
static void name_task(const struct sim_op *op, const void *argument, char name[NAME_BYTES])
{
    name[0] = '\0';
    FILE *file = op->op_print != NULL ? fmemopen(name, NAME_BYTES, "w") : NULL;
    if (file == NULL)
        return;
    op->op_print(argument, file);
    fclose(file);
    name[NAME_BYTES - 1] = '\0';
}

static uint64_t bytes_of(const struct sim_op *op, const void *argument)
{
    size_t count;
    uint64_t bytes = 0;
    const struct sim_range *ranges = sim_task_ranges(op, argument, &count);
    for (size_t i = 0; i < count; i++)
        bytes += ranges[i].rg_size;
    return bytes;
}

static void watch_finish(const struct sim_run *run, const struct sim_task *task, const void *argument,
                         const struct sim_watched *watched)
{
    const struct sim_op *op = task->ta_op;
    char name[NAME_BYTES];
    uint32_t index = run->rn_stream->st_slot.sl_index;
    bool step = sim_thread.th_walker != NULL;
    bool known = !step && !sim_clock_model_is_on() && begun[index % STREAMS].be_ticket == run->rn_ticket;
    struct sim_edge edge = {.eg_kind = SIM_EDGE_NONE};
    if (op->op_edge != NULL && !step)
        edge = op->op_edge(argument);
    name_task(op, argument, name);
    settle_memory();
    struct sim_trace_record *record = start_record(SIM_TRACE_RUN, op, 7, strlen(name) + 1);
    if (record == NULL)
        return;
    record->tr_start = known ? begun[index % STREAMS].be_start : watched->wd_start;
    record->tr_end = watched->wd_end;
    record->tr_code = watched->wd_code;
    record->tr_flags = step ? SIM_TRACE_STEP : 0;
    record->tr_site = task->ta_site;
    record->tr_values[0] = index;
    record->tr_values[1] = run->rn_ticket;
    record->tr_values[2] = device_of(run->rn_stream);
    record->tr_values[3] = bytes_of(op, argument);
    record->tr_values[4] = task->ta_thread;
    record->tr_values[5] = edge.eg_kind;
    record->tr_values[6] = edge.eg_kind == SIM_EDGE_AFTER ? edge.eg_record : (uint64_t)(uintptr_t)edge.eg_gate;
    strcpy((char *)&record->tr_values[7], name);
    finish_record(record);
}

static void watch_refuse(const struct sim_run *run, const struct sim_task *task, const struct sim_range *range)
{
    (void)range;
    record_moment(SIM_TRACE_REFUSE, task->ta_op, task->ta_site, run->rn_stream->st_slot.sl_index, run->rn_ticket,
                  device_of(run->rn_stream));
}

static void watch_know(uint64_t record)
{
    if (record != 0)
        record_moment(SIM_TRACE_KNOW, NULL, NULL, sim_record_stream(record)->st_slot.sl_index,
                      sim_record_ticket(record), 0);
}

static void watch_capture(uint64_t instance, const struct sim_stream *stream)
{
    record_moment(SIM_TRACE_CAPTURE, NULL, sim_site_of_call(), instance, stream == NULL,
                  stream != NULL ? stream->st_slot.sl_index : 0);
}

static const struct sim_watcher watcher = {
    .wt_submit = watch_submit,
    .wt_start = watch_start,
    .wt_finish = watch_finish,
    .wt_refuse = watch_refuse,
    .wt_know = watch_know,
    .wt_allocate = watch_allocate,
    .wt_free = watch_free,
    .wt_operator = watch_operator,
    .wt_capture = watch_capture,
};

/* ---- findings ---- */

void sim_trace_finding(const struct sim_finding *finding, const char *json)
{
    if (!atomic_load_explicit(&on, memory_order_acquire) || json == NULL)
        return;
    uint64_t now = sim_clock_model_now();
    size_t length = strlen(json);
    struct sim_trace_record *record = start_record(SIM_TRACE_FINDING, finding->fi_rule, 1, length + 1);
    if (record != NULL) {
        record->tr_start = record->tr_end = now;
        record->tr_values[0] = finding->fi_is_warning;
        memcpy(&record->tr_values[1], json, length + 1);
        finish_record(record);
    }
    if (sim_config()->cf_on_finding == SIM_FINDING_ABORTS)
        sim_trace_write(); /* the program ends without calling destructors */
}

/* ---- the file ---- */

static int compare(const void *left, const void *right)
{
    const struct sim_trace_record *one = *(const struct sim_trace_record *const *)left;
    const struct sim_trace_record *other = *(const struct sim_trace_record *const *)right;
    if (one->tr_start != other->tr_start)
        return one->tr_start < other->tr_start ? -1 : 1;
    return one->tr_end > other->tr_end ? -1 : one->tr_end < other->tr_end;
}

static size_t count_records(struct thread *thread)
{
    size_t count = 0;
    sim_lock(&thread->th_lock);
    for (const struct chunk *chunk = thread->th_oldest; chunk != NULL; chunk = chunk->ch_next)
        count += chunk->ch_records;
    sim_unlock(&thread->th_lock);
    return count;
}

/* Lists the oldest `count` records of a thread, which has at least so many, and appends meanwhile. */
static void list_records(struct thread *thread, const struct sim_trace_record **at, size_t count)
{
    sim_lock(&thread->th_lock);
    for (const struct chunk *chunk = thread->th_oldest; count != 0; chunk = chunk->ch_next)
        for (uint32_t offset = 0; offset < chunk->ch_used && count != 0; count--) {
            const struct sim_trace_record *record = (const void *)((const char *)chunk->ch_bytes + offset);
            *at++ = record;
            offset += record->tr_bytes;
        }
    sim_unlock(&thread->th_lock);
}

/* Collects what there is now. False: there is no memory. */
static bool collect(struct sim_trace_page *page)
{
    struct thread *first = atomic_load_explicit(&threads, memory_order_acquire);
    size_t room = 0, thread_count = 0;
    for (struct thread *thread = first; thread != NULL; thread = thread->th_next, thread_count++)
        room += thread->th_listed = count_records(thread);
    struct sim_trace_thread_name *names = calloc(thread_count + 1, sizeof *names);
    *page = (struct sim_trace_page){.pg_records = calloc(room + 1, sizeof *page->pg_records), .pg_threads = names};
    if (page->pg_records == NULL || names == NULL) {
        free(names);
        free(page->pg_records);
        return false;
    }
    for (struct thread *thread = first; thread != NULL; thread = thread->th_next) {
        list_records(thread, page->pg_records + page->pg_count, thread->th_listed);
        page->pg_count += thread->th_listed;
        names[page->pg_thread_count++] = thread->th_name;
        sim_lock(&thread->th_lock);
        page->pg_dropped += thread->th_dropped;
        sim_unlock(&thread->th_lock);
    }
    qsort(page->pg_records, page->pg_count, sizeof *page->pg_records, compare);
    return true;
}

/* With switch_lock held: writes the file. Returns false with errno. */
static bool write_file(void)
{
    struct sim_trace_page page;
    written = atomic_load(&recorded);
    atomic_store(&is_writing, true);
    bool done = collect(&page);
    FILE *file = done ? sim_output_open(path) : NULL;
    if (file != NULL)
        sim_trace_print(file, &page);
    int reason = done ? errno : ENOMEM;
    if (file != NULL) {
        bool whole = sim_output_close(file);
        reason = whole ? 0 : errno;
    }
    atomic_store(&is_writing, false);
    if (done) {
        free((void *)(uintptr_t)page.pg_threads);
        free(page.pg_records);
    }
    errno = reason;
    return file != NULL && reason == 0;
}

aclError sim_trace_write(void)
{
    sim_lock(&switch_lock);
    bool traced = atomic_load(&on), done = !traced || write_file();
    int reason = errno;
    sim_unlock(&switch_lock);
    SIM_ARGUMENT(traced, ACL_ERROR_RT_PARAM_INVALID,
                 "nothing is traced, expected the setting trace (ACL_SIM_TRACE) to be the name of a file");
    SIM_ARGUMENT(done, ACL_ERROR_RT_PARAM_INVALID, "the trace %s cannot be written: %s", path, strerror(reason));
    return ACL_SUCCESS;
}

/* With switch_lock held, for callers that cannot return an error. */
static void write_unasked(void)
{
    if (atomic_load(&on) && !write_file())
        fprintf(stderr, "acl simulator: the trace %s could not be written: %s\n", path, strerror(errno));
}

/* ---- switching on and off ---- */

/* Begins to trace if the configuration says so. Returns whether tracing is on. */
static bool start(void)
{
    char pattern[PATH_BYTES];
    if (sim_config_get("trace", pattern, sizeof pattern) != ACL_SUCCESS)
        return false;
    bool wanted = strcmp(pattern, "none") != 0;
    if (atomic_load(&silent) && strstr(pattern, "%p") == NULL)
        wanted = false;
    sim_lock(&switch_lock);
    if (wanted)
        sim_output_path(pattern, path, sizeof path);
    sim_watcher_set(&watcher, wanted);
    atomic_store(&on, wanted);
    sim_check_wants_lines |= wanted;
    sim_unlock(&switch_lock);
    return wanted;
}

int sim_trace_open(void)
{
    if ((sim_config()->cf_trace || atomic_load(&on)) && start())
        sim_trace_hook(); /* also libraries that were loaded since */
    return 0;
}

void sim_trace_finalize(void)
{
    sim_lock(&switch_lock);
    write_unasked();
    sim_unlock(&switch_lock);
}

void sim_trace_reset(void)
{
    sim_lock(&switch_lock);
    write_unasked();
    atomic_store(&on, false);
    sim_watcher_set(&watcher, false);
    for (struct thread *thread = atomic_load(&threads); thread != NULL; thread = thread->th_next) {
        sim_lock(&thread->th_lock);
        for (struct chunk *chunk = thread->th_oldest, *next; chunk != NULL; chunk = next) {
            next = chunk->ch_next;
            free(chunk);
            atomic_fetch_sub_explicit(&used_bytes, sizeof *chunk, memory_order_relaxed);
        }
        thread->th_oldest = thread->th_newest = NULL;
        thread->th_dropped = 0;
        sim_unlock(&thread->th_lock);
    }
    for (uint32_t i = 0; i < SIM_DEVICES_MAX; i++)
        atomic_store(&memory_told[i], 0);
    sim_unlock(&switch_lock);
}

void sim_trace_after_fork(void)
{
    sim_lock_renew(&switch_lock);
    sim_lock_renew(&list_lock);
    atomic_store(&threads, NULL); /* the parent's events are in the parent's file */
    own = NULL;
    sim_thread.th_call_site = NULL;
    atomic_store(&used_bytes, 0);
    atomic_store(&is_writing, false);
    atomic_store(&silent, true);
    atomic_store(&on, false);
}

/* The last events of a program that exits. Destructors without a priority, such as that of leaks, run before. */
__attribute__((destructor(101))) static void complete(void)
{
    if (atomic_load(&recorded) != written)
        sim_trace_finalize();
}
