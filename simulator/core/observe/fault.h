/* Faults: calls and tasks that fail, streams that are slow or hang, and a device that is lost, on purpose. The setting
 * "faults" (ACL_SIM_FAULTS) or aclsimSetFaults names them; docs/faults.rst has the grammar.
 *
 * Calls are made to fail in the functions of calls.c (trace.h), tasks by a watcher. fault_text.c reads the text. */
#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "trace.h"

#define SIM_FAULTS 32
#define SIM_FAULT_TEXT 512 /* bytes of the whole list */
#define SIM_FAULT_NAME 64

enum sim_fault_kind { SIM_FAULT_CALL, SIM_FAULT_TASK, SIM_FAULT_SLOW, SIM_FAULT_HANG, SIM_FAULT_LOST };

struct sim_fault {
    enum sim_fault_kind ft_kind;
    char ft_text[SIM_FAULT_TEXT];
    char ft_function[SIM_FAULT_NAME];        /* of a call: as written; "": any */
    const struct sim_fault_family *ft_family; /* of a task */
    uint64_t ft_first, ft_last;              /* which of the matching calls or tasks, from 1 */
    double ft_chance;                        /* 1: each of these */
    uint64_t ft_seed;
    uint64_t ft_above;       /* only calls whose size is above this; UINT64_MAX: all, also those without a size */
    int64_t ft_stream;       /* only this one; -1: all */
    uint64_t ft_delay;       /* nanoseconds; how slow a task is */
    uint64_t ft_from;        /* nanoseconds after the fault was set */
    uint64_t ft_duration;    /* nanoseconds after ft_from; SIM_FOREVER: no end */
    int32_t ft_code;         /* 0: the default of the function or family */
};

struct sim_fault_family {
    const char *ff_name;
    int32_t ff_code;
    uint32_t ff_kinds; /* of tasks (enum sim_task_kind), as bits */
};

/* ---- fault_text.c ---- */

/* Reads a list of faults. Returns their number, or -1 with the reason in `reason`. */
int sim_fault_parse(const char *text, struct sim_fault *faults, char reason[SIM_REASON_BYTES]);

/* True if the fault is about calls of this function. */
bool sim_fault_names(const struct sim_fault *fault, const struct sim_trace_function *function);

/* The code of a call that fails without a code of its own. */
int32_t sim_fault_code_of(const struct sim_trace_function *function);

/* True if the call can do its work only while the device is there. */
bool sim_fault_needs_device(const struct sim_trace_function *function);

/* ---- fault.c ---- */

extern _Atomic bool sim_fault_on;

/* True if this call must fail: then its result is *result, and its message is recorded. `arguments` are as in
 * sim_trace_end. */
bool sim_fault_strike(const struct sim_trace_function *function, const uint64_t *arguments, int64_t *result)
    __attribute__((cold));
static inline bool sim_fault_of_call(const struct sim_trace_function *function, const uint64_t *arguments,
                                     int64_t *result)
{
    return unlikely(atomic_load_explicit(&sim_fault_on, memory_order_relaxed)) &&
           sim_fault_strike(function, arguments, result);
}

/* aclsimSetFaults: replaces the faults, and lets go the tasks that one of them holds back. NULL: those of the
 * setting. */
aclError sim_fault_set(const char *text);

size_t sim_fault_count(void); /* aclsimFaultCount */

struct sim_fault_count {
    uint64_t fc_counted, fc_struck;
};
/* aclsimGetFault. False: there is no such fault. `text` has SIM_FAULT_TEXT bytes. */
bool sim_fault_at(size_t index, char *text, struct sim_fault_count *count);

/* For the setting: NULL, or why the text is not a list of faults. */
bool sim_fault_is_valid(const char *text);

/* ---- life cycle (entries of simulator.c) ---- */

void sim_fault_load(void); /* the library is loaded; aclsimReset has restored the setting */
int sim_fault_open(void);  /* a device opens */
void sim_fault_device_closing(int32_t device);
void sim_fault_after_fork(void);

#endif
