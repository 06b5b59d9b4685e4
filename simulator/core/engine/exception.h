/* Exceptions: a failed task is reported to the registered functions by an internal thread, once each, before the
 * synchronising call that returns its error does (sim_exception_settle). */
#ifndef SIM_EXCEPTION_H
#define SIM_EXCEPTION_H

#include "base/fail.h"

#define SIM_EXCEPTION_FUNCTIONS 128 /* registered at the same time */

struct rtExceptionInfo {
    uint32_t ex_device; /* as the user counts */
    uint32_t ex_stream;
    uint32_t ex_task;
    uint32_t ex_thread; /* that submitted the task */
    uint32_t ex_code;
    uint64_t ex_function;    /* of a custom kernel; 0: another task */
    const void *ex_args;     /* its arguments in device memory; NULL: they lie elsewhere */
    uint32_t ex_args_size;
};

/* The one function of aclrtSetExceptionInfoCallback; NULL: none. 207001. */
aclError sim_exception_set(aclrtExceptionInfoCallback function);

/* Those of aclrtExceptionInfoCallbackRegister: a second registration and an unknown one change nothing. 207001. */
aclError sim_exception_register(aclrtExceptionInfoCallback function);
void sim_exception_unregister(aclrtExceptionInfoCallback function);

/* Reports are delivered from now on, though no such function is registered: to those of kernel binaries. 207001. */
aclError sim_exception_start(void);

/* Queues a report; nothing happens when nobody is registered. */
void sim_exception_post(const struct rtExceptionInfo *report);

/* Waits until everything posted so far has been delivered; returns at once on the delivering thread. */
void sim_exception_settle(void);

/* The report that `info` points to, or NULL when it is not the one being delivered. */
/* The device whose failure is reported by the callback that runs on this thread; -1: none runs. */
int32_t sim_exception_device(void);

const struct rtExceptionInfo *sim_exception_find(const aclrtExceptionInfo *info);

void sim_exception_rest(void); /* its thread ends unless it has reports to deliver; the next one starts it again */
void sim_exception_reset(void);
void sim_exception_after_fork(void);

#endif
