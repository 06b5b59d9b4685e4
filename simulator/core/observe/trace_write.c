/* Writing a trace: one JSON object per line, in the format of Chrome's trace events.
 *
 * The program is one process of the timeline, with a track per host thread; each device is another one, with a track
 * per stream. An arrow (a flow) leads from each submission to the execution of its task, from a record to the wait for
 * it, and from a task to the host call that has waited for it; one whose other end was dropped is left out. All of it
 * is used by one writer at a time (trace.c). */
#include "trace_write.h"
#include "base/config.h"
#include "base/output.h"
#include "base/site.h"
#include "capture/capture.h"
#include "engine/task.h"
#include "operator/row.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Numbers of processes and threads that no process or thread of Linux has (at most 4,194,304). */
#define DEVICE_PROCESS 5000000u
#define STREAM_TRACK 6000000u
#define EXACT (UINT64_C(1) << 53) /* larger numbers are not exact in JavaScript */
#define WALK 64                   /* raises of a gate that are looked at for a wait */

struct entry {
    uint64_t en_key; /* 0: free */
    const struct sim_trace_record *en_record;
    uint32_t en_next; /* of raises: the one before at the same gate; 0: none */
};

/* Open addressing; the number of places is a power of two. */
struct map {
    struct entry *mp_entries;
    size_t mp_mask;
};

struct writer {
    FILE *wr_file;
    struct map wr_runs;   /* by stream and ticket */
    struct map wr_gates;  /* the newest raise of each gate, as an index into wr_raises */
    struct entry *wr_raises;
    uint32_t wr_raise_count;
    struct map wr_known;  /* runs that a host has waited for */
    struct map wr_begun;  /* captures that have begun, by instance */
    uint64_t wr_flows;
};

/* ---- maps ---- */

static bool open_map(struct map *map, size_t entries)
{
    size_t places = 64;
    while (places < entries * 2)
        places *= 2;
    *map = (struct map){calloc(places, sizeof *map->mp_entries), places - 1};
    return map->mp_entries != NULL;
}

/* The entry of a key, or the free one where it belongs. */
static struct entry *find(const struct map *map, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & map->mp_mask;
    while (map->mp_entries[at].en_key != 0 && map->mp_entries[at].en_key != key)
        at = (at + 1) & map->mp_mask;
    return &map->mp_entries[at];
}

static uint64_t key_of(uint64_t stream, uint64_t ticket)
{
    return stream << 48 | ticket; /* as a record of engine.h; tickets begin at 1, so that it is not 0 */
}

static uint64_t key_of_record(const struct sim_trace_record *record)
{
    return key_of(record->tr_values[0], record->tr_values[1]);
}

/* ---- parts of an event ---- */

static void put_text(FILE *file, const char *text)
{
    fputc('"', file);
    sim_output_text(file, text);
    fputc('"', file);
}

static void put_member(FILE *file, const char *name, const char *text)
{
    fprintf(file, ",\"%s\":", name);
    put_text(file, text);
}

static void put_site(FILE *file, const void *site)
{
    char text[SIM_SITE_TEXT];
    if (site != NULL)
        put_member(file, "at", sim_site_print(site, text));
}

static uint32_t device_process(uint64_t device)
{
    return DEVICE_PROCESS + (uint32_t)device;
}

static uint32_t stream_track(const struct sim_trace_record *run)
{
    return STREAM_TRACK + (uint32_t)(run->tr_values[2] * 65536 + run->tr_values[0]);
}

static void put_time(FILE *file, const char *name, uint64_t nanoseconds)
{
    fprintf(file, ",\"%s\":%" PRIu64 ".%03u", name, nanoseconds / 1000, (unsigned)(nanoseconds % 1000));
}

/* The beginning of every event, up to its time. */
static void begin(const struct writer *writer, const char *name, const char *category, char phase, uint32_t process,
                  uint32_t track, uint64_t time)
{
    fputs(",\n{\"name\":", writer->wr_file);
    put_text(writer->wr_file, name);
    fprintf(writer->wr_file, ",\"cat\":\"%s\",\"ph\":\"%c\",\"pid\":%u,\"tid\":%u", category, phase, process, track);
    put_time(writer->wr_file, "ts", time);
}

static uint32_t host(void)
{
    return (uint32_t)getpid();
}

/* ---- calls ---- */

static void put_value(FILE *file, enum sim_trace_form form, uint64_t value)
{
    int64_t integer = (int64_t)value;
    union {
        uint64_t bits;
        double number;
    } both = {.bits = value};
    bool finite = both.number - both.number == 0;
    if (form == SIM_TRACE_POINTER)
        fprintf(file, "\"%#" PRIx64 "\"", value);
    else if (form == SIM_TRACE_NUMBER)
        fprintf(file, finite ? "%.9g" : "\"%g\"", both.number);
    else if (form == SIM_TRACE_SIGNED && integer < 0)
        fprintf(file, integer > -(int64_t)EXACT ? "%" PRId64 : "\"%" PRId64 "\"", integer);
    else
        fprintf(file, value < EXACT ? "%" PRIu64 : "\"%" PRIu64 "\"", value);
}

static void put_failure(FILE *file, int32_t code)
{
    if (code != 0)
        put_member(file, "error", sim_fail_name(code));
}

/* Opens the arguments of a call with its result. */
static void begin_call(const struct writer *writer, const struct sim_trace_record *record, const char *name)
{
    FILE *file = writer->wr_file;
    begin(writer, name, "api", 'X', host(), record->tr_thread, record->tr_start);
    put_time(file, "dur", record->tr_end - record->tr_start);
    if (record->tr_code != 0)
        fputs(",\"cname\":\"terrible\"", file);
    fputs(",\"args\":{\"ret\":", file);
}

static void write_call(const struct writer *writer, const struct sim_trace_record *record)
{
    FILE *file = writer->wr_file;
    const struct sim_trace_function *function = record->tr_what;
    const char *text = sim_trace_text(record);
    begin_call(writer, record, function->fn_name);
    if (function->fn_result == SIM_TRACE_NOTHING)
        fputs("null", file);
    else
        put_value(file, function->fn_result == SIM_TRACE_TEXT ? SIM_TRACE_POINTER : function->fn_result,
                  record->tr_values[0]);
    put_failure(file, record->tr_code);
    for (uint32_t i = 0; i < function->fn_count; i++) {
        const struct sim_trace_parameter *parameter = &function->fn_parameters[i];
        uint64_t value = record->tr_values[i + 1];
        if (parameter->pm_form == SIM_TRACE_NOTHING)
            continue;
        fprintf(file, ",\"%s\":", parameter->pm_name);
        if (parameter->pm_form == SIM_TRACE_TEXT && value != 0) {
            put_text(file, text);
            text += strlen(text) + 1;
        } else {
            bool pointer = parameter->pm_form == SIM_TRACE_TEXT || (parameter->pm_output != 0 && !record->tr_flags);
            put_value(file, pointer ? SIM_TRACE_POINTER : parameter->pm_form, value);
        }
    }
    put_site(file, record->tr_site);
    fputs("}}", file);
}

static void write_operator(const struct writer *writer, const struct sim_trace_record *record)
{
    FILE *file = writer->wr_file;
    const struct sim_row *row = record->tr_what;
    char name[128];
    bool first = record->tr_count > 1;
    snprintf(name, sizeof name, "%s%s", row->ro_op.op_name, first ? "GetWorkspaceSize" : "");
    begin_call(writer, record, name);
    fprintf(file, "%d", record->tr_code);
    put_failure(file, record->tr_code);
    for (uint32_t i = 0; i + 1 < record->tr_count && i < row->ro_count; i++) {
        aclsimArgumentKind kind = row->ro_parameters[i].pa_kind;
        fprintf(file, ",\"%s\":", row->ro_parameters[i].pa_name);
        put_value(file, kind == ACLSIM_NUMBER    ? SIM_TRACE_NUMBER
                        : kind == ACLSIM_INTEGER ? SIM_TRACE_SIGNED
                                                 : SIM_TRACE_POINTER,
                  record->tr_values[i + 1]);
    }
    put_site(file, record->tr_site);
    fputs("}}", file);
}

/* ---- flows ---- */

struct end {
    uint32_t ed_process, ed_track;
    uint64_t ed_time;
};

static struct end end_of_run(const struct sim_trace_record *run, uint64_t time)
{
    return (struct end){device_process(run->tr_values[2]), stream_track(run), time};
}

static struct end end_of_host(const struct sim_trace_record *record)
{
    return (struct end){host(), record->tr_thread, record->tr_start};
}

static void write_flow(struct writer *writer, const char *name, struct end from, struct end to)
{
    uint64_t id = ++writer->wr_flows;
    begin(writer, name, "flow", 's', from.ed_process, from.ed_track, from.ed_time);
    fprintf(writer->wr_file, ",\"id\":%" PRIu64 "}", id);
    begin(writer, name, "flow", 'f', to.ed_process, to.ed_track, to.ed_time > from.ed_time ? to.ed_time : from.ed_time);
    fprintf(writer->wr_file, ",\"id\":%" PRIu64 ",\"bp\":\"e\"}", id);
}

static void write_submission(struct writer *writer, const struct sim_trace_record *record)
{
    const struct sim_op *op = record->tr_what;
    const struct sim_trace_record *run = find(&writer->wr_runs, key_of_record(record))->en_record;
    if (!(record->tr_flags & SIM_TRACE_NESTED)) { /* a flow begins inside a slice */
        begin(writer, "submit", "api", 'X', host(), record->tr_thread, record->tr_start);
        fputs(",\"dur\":0.000,\"args\":{\"task\":", writer->wr_file);
        put_text(writer->wr_file, op->op_name);
        put_site(writer->wr_file, record->tr_site);
        fputs("}}", writer->wr_file);
    }
    if (run != NULL)
        write_flow(writer, "submission", end_of_host(record), end_of_run(run, run->tr_start));
}

static void write_knowledge(struct writer *writer, const struct sim_trace_record *record)
{
    struct entry *known = find(&writer->wr_known, key_of_record(record));
    const struct sim_trace_record *run = find(&writer->wr_runs, key_of_record(record))->en_record;
    if (run == NULL || known->en_key != 0 || !(record->tr_flags & SIM_TRACE_NESTED))
        return;
    known->en_key = key_of_record(record);
    write_flow(writer, "synchronization", end_of_run(run, run->tr_start), end_of_host(record));
}

/* The run that made this one continue: of the record that it waited for, or the newest raise of its gate. */
static const struct sim_trace_record *cause_of(const struct writer *writer, const struct sim_trace_record *run)
{
    if (run->tr_values[5] == SIM_EDGE_AFTER && run->tr_values[6] != 0)
        return find(&writer->wr_runs, run->tr_values[6])->en_record;
    if (run->tr_values[5] != SIM_EDGE_AWAITS)
        return NULL;
    const struct entry *gate = find(&writer->wr_gates, run->tr_values[6]);
    uint32_t at = gate->en_next;
    for (int walked = 0; at != 0 && walked < WALK; walked++, at = writer->wr_raises[at].en_next)
        if (writer->wr_raises[at].en_record->tr_start <= run->tr_end)
            return writer->wr_raises[at].en_record;
    return NULL;
}

/* ---- tasks and the rest ---- */

static void put_task(FILE *file, const struct sim_trace_record *record, uint32_t stream)
{
    fprintf(file, ",\"args\":{\"stream\":%u,\"task\":%" PRIu64, stream, record->tr_values[1]);
    put_site(file, record->tr_site);
}

static void write_run(struct writer *writer, const struct sim_trace_record *record)
{
    FILE *file = writer->wr_file;
    const struct sim_op *op = record->tr_what;
    const char *name = sim_trace_text(record); /* JSON text already */
    bool replays = strncmp(op->op_name, "aclmdlRIExecute", strlen("aclmdlRIExecute")) == 0;
    begin(writer, op->op_name, replays ? "replay" : sim_capture_task_names[op->op_kind], 'X',
          device_process(record->tr_values[2]), stream_track(record), record->tr_start);
    put_time(file, "dur", record->tr_end - record->tr_start);
    if (record->tr_code != 0)
        fputs(",\"cname\":\"terrible\"", file);
    put_task(file, record, (uint32_t)record->tr_values[0]);
    fprintf(file, ",\"bytes\":%" PRIu64 ",\"thread\":%" PRIu64 ",\"code\":%d", record->tr_values[3],
            record->tr_values[4], record->tr_code > 0 || record->tr_code == SIM_DROPPED ? record->tr_code : 0);
    if (record->tr_flags & SIM_TRACE_STEP)
        fputs(",\"replayed\":true", file);
    if (*name != '\0')
        fprintf(file, ",\"name\":\"%s\"", name);
    fputs("}}", file);
    const struct sim_trace_record *cause = cause_of(writer, record);
    if (cause != NULL && cause != record && cause->tr_start <= record->tr_end) {
        uint64_t time = cause->tr_start > record->tr_start ? cause->tr_start : record->tr_start;
        write_flow(writer, "event", end_of_run(cause, cause->tr_start), end_of_run(record, time));
    }
}

static void write_refusal(const struct writer *writer, const struct sim_trace_record *record)
{
    begin(writer, "refused: its memory was freed", "task", 'i', device_process(record->tr_values[2]),
          stream_track(record), record->tr_start);
    fputs(",\"s\":\"t\"", writer->wr_file);
    put_task(writer->wr_file, record, (uint32_t)record->tr_values[0]);
    fputs("}}", writer->wr_file);
}

static void write_memory(const struct writer *writer, const struct sim_trace_record *record)
{
    begin(writer, "device memory", "memory", 'C', device_process(record->tr_values[0]), 0, record->tr_start);
    fprintf(writer->wr_file, ",\"args\":{\"bytes\":%" PRIu64 "}}", record->tr_values[1]);
}

/* A capture is a pair of asynchronous events, written when it ends, and an instant at each end. */
static void write_capture(struct writer *writer, const struct sim_trace_record *record)
{
    FILE *file = writer->wr_file;
    uint64_t instance = record->tr_values[0];
    bool ends = record->tr_values[1] != 0;
    struct entry *entry = find(&writer->wr_begun, instance);
    begin(writer, ends ? "capture ends" : "capture begins", "capture", 'i', host(), record->tr_thread,
          record->tr_start);
    fprintf(file, ",\"s\":\"t\",\"args\":{\"instance\":\"%#" PRIx64 "\"", instance);
    if (!ends)
        fprintf(file, ",\"stream\":%" PRIu64, record->tr_values[2]);
    put_site(file, record->tr_site);
    fputs("}}", file);
    if (ends && entry->en_record != NULL) {
        const struct sim_trace_record *first = entry->en_record;
        begin(writer, "capture", "capture", 'b', host(), first->tr_thread, first->tr_start);
        fprintf(file, ",\"id\":\"%#" PRIx64 "\",\"args\":{\"stream\":%" PRIu64 "}}", instance, first->tr_values[2]);
        begin(writer, "capture", "capture", 'e', host(), record->tr_thread, record->tr_start);
        fprintf(file, ",\"id\":\"%#" PRIx64 "\"}", instance);
    }
    entry->en_key = instance;
    entry->en_record = ends ? NULL : record;
}

static void write_finding(const struct writer *writer, const struct sim_trace_record *record)
{
    begin(writer, record->tr_what, "finding", 'i', host(), record->tr_thread, record->tr_start);
    fprintf(writer->wr_file, ",\"s\":\"p\",\"cname\":\"%s\",\"args\":{\"finding\":%s}}",
            record->tr_values[0] != 0 ? "bad" : "terrible", sim_trace_text(record));
}

/* ---- names of tracks ---- */

static void name_track(FILE *file, const char *what, uint32_t process, uint32_t track, const char *name)
{
    fprintf(file, ",\n{\"name\":\"%s_name\",\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", what, process,
            track);
    put_text(file, name);
    fprintf(file, "}},\n{\"name\":\"%s_sort_index\",\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"args\":{\"sort_index\":%u}}",
            what, process, track, *what == 'p' && track == 0 && process < DEVICE_PROCESS ? 0 : track + process);
}

static void name_streams(FILE *file, const struct sim_trace_page *page)
{
    struct map named;
    char text[64];
    if (!open_map(&named, 1024))
        return;
    size_t count = 0;
    for (size_t i = 0; i < page->pg_count; i++) {
        const struct sim_trace_record *record = page->pg_records[i];
        if (record->tr_kind != SIM_TRACE_RUN && record->tr_kind != SIM_TRACE_REFUSE)
            continue;
        uint32_t track = stream_track(record), device = (uint32_t)record->tr_values[2];
        struct entry *entry = find(&named, track);
        if (entry->en_key == track)
            continue;
        entry->en_key = track;
        snprintf(text, sizeof text, "stream %" PRIu64 " (device %u)", record->tr_values[0], device);
        name_track(file, "thread", device_process(device), track, text);
        if (++count * 2 > named.mp_mask) { /* more streams than the map has room for: the rest have no names */
            break;
        }
    }
    free(named.mp_entries);
}

static void write_names(FILE *file, const struct sim_trace_page *page)
{
    char text[64];
    snprintf(text, sizeof text, "program (process %d)", (int)getpid());
    name_track(file, "process", host(), 0, text);
    for (size_t i = 0; i < page->pg_thread_count; i++) {
        uint32_t thread = page->pg_threads[i].tn_thread;
        snprintf(text, sizeof text, "%s%s (thread %u)", thread == host() ? "main: " : "", page->pg_threads[i].tn_name,
                 thread);
        name_track(file, "thread", host(), thread, text);
    }
    for (uint32_t device = 0; device < sim_config()->cf_devices; device++) {
        snprintf(text, sizeof text, "device %u", device);
        name_track(file, "process", device_process(device), 0, text);
    }
    name_streams(file, page);
}

/* ---- the document ---- */

static bool open_maps(struct writer *writer, const struct sim_trace_page *page)
{
    size_t runs = 0, others = 0;
    for (size_t i = 0; i < page->pg_count; i++) {
        runs += page->pg_records[i]->tr_kind == SIM_TRACE_RUN;
        others += page->pg_records[i]->tr_kind == SIM_TRACE_KNOW || page->pg_records[i]->tr_kind == SIM_TRACE_CAPTURE;
    }
    writer->wr_raises = calloc(runs + 1, sizeof *writer->wr_raises);
    return open_map(&writer->wr_runs, runs) && open_map(&writer->wr_gates, runs) &&
           open_map(&writer->wr_known, others) && open_map(&writer->wr_begun, others) && writer->wr_raises != NULL;
}

static void note_run(struct writer *writer, const struct sim_trace_record *record)
{
    if (record->tr_kind != SIM_TRACE_RUN || (record->tr_flags & SIM_TRACE_STEP))
        return;
    struct entry *entry = find(&writer->wr_runs, key_of_record(record));
    *entry = (struct entry){.en_key = key_of_record(record), .en_record = record};
    if (record->tr_values[5] != SIM_EDGE_RAISES || record->tr_values[6] == 0)
        return;
    struct entry *gate = find(&writer->wr_gates, record->tr_values[6]);
    writer->wr_raises[++writer->wr_raise_count] = (struct entry){.en_record = record, .en_next = gate->en_next};
    gate->en_key = record->tr_values[6];
    gate->en_next = writer->wr_raise_count;
}

static void write_record(struct writer *writer, const struct sim_trace_record *record)
{
    switch ((enum sim_trace_kind)record->tr_kind) {
    case SIM_TRACE_CALL:
        write_call(writer, record);
        break;
    case SIM_TRACE_OPERATOR:
        write_operator(writer, record);
        break;
    case SIM_TRACE_SUBMIT:
        write_submission(writer, record);
        break;
    case SIM_TRACE_RUN:
        write_run(writer, record);
        break;
    case SIM_TRACE_REFUSE:
        write_refusal(writer, record);
        break;
    case SIM_TRACE_KNOW:
        write_knowledge(writer, record);
        break;
    case SIM_TRACE_MEMORY:
        write_memory(writer, record);
        break;
    case SIM_TRACE_CAPTURE:
        write_capture(writer, record);
        break;
    case SIM_TRACE_FINDING:
        write_finding(writer, record);
        break;
    }
}

void sim_trace_print(FILE *file, struct sim_trace_page *page)
{
    struct writer writer = {.wr_file = file};
    bool whole = open_maps(&writer, page);
    fprintf(file, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"acl simulator\",\"clock\":"
                  "\"CLOCK_MONOTONIC\",\"soc\":\"%s\",\"dropped\":%" PRIu64 "},\"traceEvents\":[\n"
                  "{\"name\":\"trace\",\"ph\":\"M\",\"pid\":%u,\"args\":{\"name\":\"acl\"}}",
            sim_config()->cf_soc->so_name, page->pg_dropped, host());
    write_names(file, page);
    if (page->pg_dropped != 0 && page->pg_count != 0) {
        begin(&writer, "older events were dropped", "trace", 'i', host(), page->pg_records[0]->tr_thread,
              page->pg_records[0]->tr_start);
        fprintf(file, ",\"s\":\"g\",\"args\":{\"events\":%" PRIu64 "}}", page->pg_dropped);
    }
    for (size_t i = 0; whole && i < page->pg_count; i++)
        note_run(&writer, page->pg_records[i]);
    for (size_t i = 0; whole && i < page->pg_count; i++)
        write_record(&writer, page->pg_records[i]);
    fputs("\n]}\n", file);
    free(writer.wr_runs.mp_entries);
    free(writer.wr_gates.mp_entries);
    free(writer.wr_known.mp_entries);
    free(writer.wr_begun.mp_entries);
    free(writer.wr_raises);
}
