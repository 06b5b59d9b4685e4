/* Profiling: one session per process, which writes what it collects as a trace; marks of the program; subscriptions
 * to the operators of models. */
#ifndef SIM_PROF_H
#define SIM_PROF_H

#include "base/json.h"
#include "base/object.h"
#include "engine/engine.h"
#include <stdio.h>

/* What is collected: ACL_PROF_* bits, on some devices. */
struct sim_prof_plan {
    uint64_t pp_bits;
    uint32_t pp_devices; /* one bit per device */
    aclprofAicoreMetrics pp_metrics;
};

#define SIM_PROF_LAST_METRIC ACL_AICORE_MEMORY_ACCESS

static inline bool sim_prof_is_metric(aclprofAicoreMetrics metrics)
{
    return (unsigned)metrics <= SIM_PROF_LAST_METRIC || metrics == ACL_AICORE_NONE;
}

#define SIM_PROF_TASKS (ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0 | ACL_PROF_TASK_TIME_L2 | ACL_PROF_TASK_TIME_L3)

/* ---- the session (prof.c) ---- */

/* Returns 100042, 100002 or 148047 if profiling is active already, and 100003 if the path is invalid. */
aclError sim_prof_init(const char *path);
/* Ends the session. Returns 100043, 100042 or 148047. */
aclError sim_prof_finalize(void);
/* Start and stop collecting; NULL means the default data, or everything that is collected. Return 100010 or 100003;
 * in versions 8.x also 100000, 100042 or 100043. */
aclError sim_prof_start(const aclprofConfig *config);
aclError sim_prof_stop(const aclprofConfig *config);
aclError sim_prof_set(aclprofConfigType type, const char *value);

/* Applies the "profiler" object of aclInit's file, which may begin a session; aclFinalize ends that. Returns 100010
 * or 100003. */
aclError sim_prof_command(struct sim_json object);
void sim_prof_command_end(void);

/* Sets how many models are subscribed to, because subscriptions exclude sessions. Returns 100042 or 148047. */
aclError sim_prof_set_subscriptions(uint32_t count);

aclprofConfig *sim_prof_config_create(const struct sim_prof_plan *plan);
aclError sim_prof_config_destroy(const aclprofConfig *config);

/* Whether the session collects any of these bits. */
bool sim_prof_collects(uint64_t bits);

/* ---- what is written ---- */

/* A line of the trace: of a device (its stream and the task), or of a thread of the program. */
struct sim_prof_event {
    const char *pe_name; /* any text */
    const char *pe_category;
    int64_t pe_device;    /* -1: of a thread of the program */
    uint32_t pe_line;     /* the stream, or the thread */
    uint64_t pe_start, pe_end; /* nanoseconds; if equal, a single point in time */
    const char *pe_arguments;  /* members of a JSON object */
};

/* Writes an event if one of `bits` is collected, on its device. */
void sim_prof_write(uint64_t bits, const struct sim_prof_event *event);
/* The same for an event in a stream. */
void sim_prof_write_run(uint64_t bits, const struct sim_run *run, struct sim_prof_event *event);

/* ---- the times of a session (prof_time.c) ---- */

/* One moment on three clocks, in nanoseconds. The trace has the monotonic one, other tools have the others. */
struct sim_prof_clocks {
    uint64_t cl_real, cl_monotonic, cl_raw;
};

struct sim_prof_clocks sim_prof_time_clocks(void); /* now */
/* Writes host/start_info into the directory of a session, where frameworks that trace the raw clock find the date of
 * its zero. False, with errno, on failure. */
bool sim_prof_time_write_start(const char *directory, const struct sim_prof_clocks *begun);
/* Writes the clocks at the begin of a session and now, as a member of the trace. */
void sim_prof_time_write(FILE *file, const struct sim_prof_clocks *begun);

/* A watcher's wt_submit, while tasks are collected. */
void sim_prof_time_submit(const struct sim_stream *stream, uint64_t ticket, const struct sim_task *task);
/* When the task of this ticket was submitted; 0: unknown. Forgets the tasks before it. */
uint64_t sim_prof_time_submitted(const struct sim_stream *stream, uint64_t ticket);
void sim_prof_time_forget(void); /* called when the session has ended */
void sim_prof_time_after_fork(void);

/* ---- marks of the program (prof_mark.c) ---- */

#define SIM_PROF_TEXT 128 /* size of a mark's text with its NUL */

enum sim_span_kind { SIM_SPAN_STACK, SIM_SPAN_RANGE, SIM_SPAN_TENSORS };

void *sim_prof_stamp_create(void); /* NULL if no marks are collected */
void sim_prof_stamp_destroy(void *stamp);
aclError sim_prof_stamp_set(void *stamp, const char *text, size_t length);
aclError sim_prof_stamp_mark(void *stamp);

/* Begin and end a span. Ending applies to the newest span of this thread and kind, or to the range with that number
 * on any thread. Return 100000 if the stamp is wrong, and 500005 if nothing is collected or there is nothing to end. */
aclError sim_prof_stamp_begin(void *stamp, enum sim_span_kind kind, uint32_t *number);
/* A point in time, or a range, without a stamp: for tools that mark with a text (mstx). */
void sim_prof_mark(const char *text);
aclError sim_prof_range_begin(const char *text, uint32_t *number);
aclError sim_prof_span_end(enum sim_span_kind kind, uint32_t number);
aclError sim_prof_span_tensors(const aclprofTensorInfo *info);

/* Queue a mark whose text appears in the trace. */
aclError sim_prof_mark_stream(const char *text, size_t length, aclrtStream stream, void *site);
aclError sim_prof_trace_stream(const void *data, size_t size, aclrtStream stream, void *site);

/* Steps of the training: each start or end is queued as a mark. Tagging returns 100000 if a step starts or ends
 * twice. */
aclprofStepInfo *sim_prof_step_info_create(void);
void sim_prof_step_info_destroy(const aclprofStepInfo *info);
aclError sim_prof_step_info_tag(const aclprofStepInfo *info, aclprofStepTag tag, aclrtStream stream, void *site);

uint64_t sim_prof_text_number(const char *text); /* a number for the text; UINT64_MAX if memory runs out */
void sim_prof_text(uint64_t number, char text[SIM_PROF_TEXT]); /* the text of a number, or its digits */

void sim_prof_forget_spans(void); /* called when the session has ended */
void sim_prof_mark_reset(void);
void sim_prof_mark_after_fork(void);

/* ---- subscriptions (prof_subscribe.c) ---- */

/* One operator, in the format written to a subscription's pipe. */
struct sim_op_record {
    uint32_t or_magic;
    uint32_t or_model;
    uint64_t or_start, or_end; /* nanoseconds */
    char or_thread[16];        /* the thread that ran it, as digits */
    char or_type[72], or_name[264];
};

#define SIM_OP_RECORD_MAGIC 0x504f4d53u

aclprofSubscribeConfig *sim_prof_subscription_create(bool times, int descriptor);
aclError sim_prof_subscription_destroy(const aclprofSubscribeConfig *config);
/* Start and end a subscription to a model. Unsubscribing does not wait until the reader has read all records. */
aclError sim_prof_subscribe(uint32_t model, const aclprofSubscribeConfig *config);
aclError sim_prof_unsubscribe(uint32_t model);

/* Whether a subscription wants records of this model's operators. Costs one load if there is no subscription. */
bool sim_prof_is_subscribed(uint32_t model);
/* Adds a record of one operator to the queue of the model's subscription. */
void sim_prof_tell(uint32_t model, const char *type, const char *name, uint64_t start, uint64_t end);

void sim_prof_subscribe_reset(void);
void sim_prof_subscribe_after_fork(void);

void sim_prof_reset(void); /* aclsimReset */
void sim_prof_after_fork(void);

#endif
