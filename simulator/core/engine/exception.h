/* Exceptions: an internal thread reports each failed task once to every registered function, before the synchronising
 * call that returns the error returns (sim_exception_settle). */
#ifndef SIM_EXCEPTION_H
#define SIM_EXCEPTION_H

#include "base/fail.h"

#define SIM_EXCEPTION_FUNCTIONS 128 /* registered at the same time */

struct rtExceptionInfo {
    uint32_t ex_device; /* the id that programs use */
    uint32_t ex_stream;
    uint32_t ex_task;
    uint32_t ex_thread; /* the thread that submitted the task */
    uint32_t ex_code;
    uint64_t ex_function;    /* of a custom kernel; 0: not such a task */
    const void *ex_args;     /* the kernel's arguments in device memory; NULL: they are elsewhere */
    uint32_t ex_args_size;
};

/* Sets the single function of aclrtSetExceptionInfoCallback; NULL: none. Returns 207001 if no thread can be started. */
aclError sim_exception_set(aclrtExceptionInfoCallback function);

/* Register and unregister a function of aclrtExceptionInfoCallbackRegister. Registering it twice, or unregistering an
 * unknown one, changes nothing. Registering returns 207001 when there are too many, or no thread can be started. */
aclError sim_exception_register(aclrtExceptionInfoCallback function);
void sim_exception_unregister(aclrtExceptionInfoCallback function);

/* Delivers reports from now on even if no such function is registered, for the functions of kernel binaries. Returns
 * 207001 if no thread can be started. */
aclError sim_exception_start(void);

/* Queues a report; does nothing before the first registration. */
void sim_exception_post(const struct rtExceptionInfo *report);

/* Waits until all reports posted so far have been delivered; returns at once on the delivering thread. */
void sim_exception_settle(void);

/* The device of the report that is being delivered on this thread; -1: none is. */
int32_t sim_exception_device(void);

/* The report that `info` points to, or NULL if that is not being delivered. */
const struct rtExceptionInfo *sim_exception_find(const aclrtExceptionInfo *info);

void sim_exception_rest(void); /* ends its thread unless it has reports to deliver; the next report starts it again */
void sim_exception_reset(void);
void sim_exception_after_fork(void);

#endif
