/* The trace: what the program called, when each task ran, and how much memory was in use, as a timeline in the format
 * of Chrome's trace events, which Perfetto reads. It is on while the setting "trace" names a file.
 *
 * trace.c records events into buffers of the threads, trace_write.c writes the file, and trace_hook.c makes the calls
 * of C programs pass the functions of calls.c, which the build generates: one per public function, which measures the
 * call, and records its arguments and its result. */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "base/fail.h"
#include "base/watcher.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- calls (calls.c, generated) ---- */

/* How an argument is shown. An output is the value that a successful call has stored behind the pointer. */
enum sim_trace_form {
    SIM_TRACE_POINTER,
    SIM_TRACE_UNSIGNED,
    SIM_TRACE_SIGNED,
    SIM_TRACE_NUMBER, /* the bits of a double */
    SIM_TRACE_TEXT,   /* a char pointer */
    SIM_TRACE_NOTHING,
};

struct sim_trace_parameter {
    const char *pm_name;
    enum sim_trace_form pm_form;
    uint8_t pm_output; /* bytes of the value behind the pointer; 0: not an output */
};

struct sim_trace_function {
    const char *fn_name;
    void (*fn_traced)(void); /* the variant that records the call */
    void (*fn_plain)(void);
    const struct sim_trace_parameter *fn_parameters;
    uint32_t fn_count;
    enum sim_trace_form fn_result;
    bool fn_has_code; /* the result is 0 or the code of an error */
};

struct sim_trace_functions {
    const struct sim_trace_function *const *fs_functions; /* sorted by name */
    size_t fs_count;
};
extern const struct sim_trace_functions *sim_trace_functions; /* set by simulator.c when the library is loaded */

struct sim_trace_call {
    uint64_t cl_start; /* SIM_FOREVER: nothing is traced */
    const void *cl_outer;
};

/* Before and after a call that a traced variant makes. `site`: the return address of that variant. */
void sim_trace_begin(struct sim_trace_call *call, const void *site);
void sim_trace_end(const struct sim_trace_call *call, const struct sim_trace_function *function, int64_t result,
                   const uint64_t *arguments);

static inline uint64_t sim_trace_bits(double number)
{
    union {
        double number;
        uint64_t bits;
    } both = {.number = number};
    return both.bits;
}

/* ---- trace_hook.c ---- */

/* True if calls of this process are to pass the traced variants, for a trace or for faults, as far as that is known
 * before its configuration is read. */
bool sim_trace_is_wanted(void);
/* The traced variant of a public function; NULL: there is none. */
void *sim_trace_variant(const char *name);
/* Lets the calls of all libraries that are loaded now pass the traced variants. Doing it again does nothing. */
void sim_trace_hook(void);

/* ---- trace.c ---- */

struct sim_finding;
void sim_trace_finding(const struct sim_finding *finding, const char *json);

/* Writes the events so far into the file of the setting. Returns 107000 if nothing is traced or the file cannot be
 * written. */
aclError sim_trace_write(void);

/* ---- life cycle (entries of simulator.c) ---- */

int sim_trace_open(void);      /* a device opens */
void sim_trace_finalize(void); /* aclFinalize */
void sim_trace_reset(void);
void sim_trace_after_fork(void);

#endif
