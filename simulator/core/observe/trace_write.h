/* The records of a trace, and writing them as JSON. */
#ifndef SIM_TRACE_WRITE_H
#define SIM_TRACE_WRITE_H

#include "trace.h"
#include <stdio.h>

enum sim_trace_kind {
    SIM_TRACE_CALL,     /* what: its function; values: result, arguments; then the texts of the arguments */
    SIM_TRACE_OPERATOR, /* what: its schema; values: result, then arguments (none: the second phase) */
    SIM_TRACE_SUBMIT,   /* what: the task's op; values: stream, ticket, site */
    SIM_TRACE_RUN,      /* what: op; values: stream, ticket, site, device, bytes, thread, edge, its record or gate,
                           flags; then the name of the task */
    SIM_TRACE_REFUSE,   /* what: op; values: stream, ticket, site, device */
    SIM_TRACE_KNOW,     /* values: stream, ticket, which the thread knows to be done */
    SIM_TRACE_MEMORY,   /* values: device, bytes in use */
    SIM_TRACE_CAPTURE,  /* values: instance, whether it ends, stream */
    SIM_TRACE_FINDING,  /* then: the finding as JSON */
};

#define SIM_TRACE_STEP 1u    /* of SIM_TRACE_RUN: a step of a replay */
#define SIM_TRACE_NESTED 2u  /* of moments: inside a call that is recorded */

struct sim_trace_record {
    uint32_t tr_bytes; /* of all of it, a multiple of 8 */
    uint8_t tr_kind, tr_flags;
    uint16_t tr_count; /* of values */
    int32_t tr_code;
    uint32_t tr_thread;
    uint64_t tr_start, tr_end;
    const void *tr_what, *tr_site;
    uint64_t tr_values[]; /* a text may follow them */
};

static inline const char *sim_trace_text(const struct sim_trace_record *record)
{
    return (const char *)&record->tr_values[record->tr_count];
}

struct sim_trace_thread_name {
    uint32_t tn_thread;
    char tn_name[16];
};

/* What is written, in the order of their beginnings. */
struct sim_trace_page {
    const struct sim_trace_record **pg_records;
    size_t pg_count;
    const struct sim_trace_thread_name *pg_threads;
    size_t pg_thread_count;
    uint64_t pg_dropped;
};

/* Writes the whole document. */
void sim_trace_print(FILE *file, struct sim_trace_page *page);

#endif
