/* Exceptions: the registered functions, and the delivery of reports to them.
 *
 * Reports are calls of one callback queue (caller.h), whose thread starts at the first registration. Each report is
 * malloc'ed by the failing task's thread and freed after it has been delivered to all functions that are registered
 * then.
 *
 * `lock` guards the registered functions and the start of the queue. It is taken before sim_caller_lock, and is never
 * held while a function runs. */
#include "exception.h"
#include "base/room.h"
#include "caller.h"
#include <stdlib.h>

static struct sim_lock lock;
static aclrtExceptionInfoCallback single;
static aclrtExceptionInfoCallback functions[SIM_EXCEPTION_FUNCTIONS]; /* in order of registration */
static uint32_t function_count;
static struct sim_caller *_Atomic deliverer;     /* NULL until the first registration */
static struct rtExceptionInfo *_Atomic delivered; /* the report that is being delivered */
static _Thread_local int32_t device_delivered = -1; /* its device, on the delivering thread */

/* With the lock held: starts the delivering thread if it does not exist. */
static aclError ready(void)
{
    if (atomic_load_explicit(&deliverer, memory_order_relaxed) != NULL)
        return ACL_SUCCESS;
    sim_lock(&sim_caller_lock);
    struct sim_caller *caller = sim_caller_start();
    sim_unlock(&sim_caller_lock);
    SIM_CHECK(caller != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no thread could be started for exception callbacks");
    atomic_store_explicit(&deliverer, caller, memory_order_release);
    return ACL_SUCCESS;
}

/* With the lock held: the index of the function, or function_count. */
static uint32_t find(aclrtExceptionInfoCallback function)
{
    uint32_t place = 0;
    while (place < function_count && functions[place] != function)
        place++;
    return place;
}

aclError sim_exception_start(void)
{
    sim_lock(&lock);
    aclError code = ready();
    sim_unlock(&lock);
    return code;
}

static aclError add(aclrtExceptionInfoCallback function)
{
    if (find(function) != function_count)
        return ACL_SUCCESS;
    SIM_CHECK(function_count < SIM_EXCEPTION_FUNCTIONS, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "%u callbacks are registered already, which is the maximum", function_count);
    SIM_TRY(ready());
    functions[function_count++] = function;
    return ACL_SUCCESS;
}

aclError sim_exception_set(aclrtExceptionInfoCallback function)
{
    sim_lock(&lock);
    aclError code = function != NULL ? ready() : ACL_SUCCESS;
    if (code == ACL_SUCCESS)
        single = function;
    sim_unlock(&lock);
    return code;
}

aclError sim_exception_register(aclrtExceptionInfoCallback function)
{
    sim_lock(&lock);
    aclError code = add(function);
    sim_unlock(&lock);
    return code;
}

void sim_exception_unregister(aclrtExceptionInfoCallback function)
{
    sim_lock(&lock);
    uint32_t place = find(function);
    if (place != function_count) {
        function_count--;
        for (; place < function_count; place++)
            functions[place] = functions[place + 1];
    }
    sim_unlock(&lock);
}

static void deliver(void *user)
{
    struct rtExceptionInfo *info = user;
    aclrtExceptionInfoCallback now[SIM_EXCEPTION_FUNCTIONS + 1];
    uint32_t count = 0;
    sim_lock(&lock);
    if (single != NULL)
        now[count++] = single;
    for (uint32_t i = 0; i < function_count; i++)
        now[count++] = functions[i];
    sim_unlock(&lock);
    atomic_store_explicit(&delivered, info, memory_order_release);
    device_delivered = (int32_t)info->ex_device;
    for (uint32_t i = 0; i < count; i++)
        now[i](info);
    sim_room_exception(info);
    device_delivered = -1;
    atomic_store_explicit(&delivered, NULL, memory_order_release);
    free(info);
}

void sim_exception_post(const struct rtExceptionInfo *report)
{
    struct sim_caller *caller = atomic_load_explicit(&deliverer, memory_order_acquire);
    struct rtExceptionInfo *info = caller != NULL ? malloc(sizeof *info) : NULL;
    if (info == NULL)
        return;
    *info = *report;
    if (!sim_caller_call(caller, deliver, info))
        free(info);
}

void sim_exception_settle(void)
{
    struct sim_caller *caller = atomic_load_explicit(&deliverer, memory_order_acquire);
    if (caller != NULL)
        sim_caller_settle(caller);
}

int32_t sim_exception_device(void)
{
    return device_delivered;
}

const struct rtExceptionInfo *sim_exception_find(const aclrtExceptionInfo *info)
{
    return info != NULL && info == atomic_load_explicit(&delivered, memory_order_acquire) ? info : NULL;
}

void sim_exception_rest(void)
{
    struct sim_caller *caller = atomic_load_explicit(&deliverer, memory_order_acquire);
    if (caller != NULL)
        sim_caller_rest(caller);
}

void sim_exception_reset(void)
{
    sim_lock(&lock);
    single = NULL;
    function_count = 0;
    struct sim_caller *caller = atomic_exchange_explicit(&deliverer, NULL, memory_order_acq_rel);
    sim_unlock(&lock);
    if (caller == NULL)
        return;
    sim_caller_settle(caller); /* frees the queued reports: no function is registered any more */
    sim_caller_stop(caller);
}

void sim_exception_after_fork(void)
{
    sim_lock_renew(&lock);
    atomic_store_explicit(&deliverer, NULL, memory_order_relaxed);
    atomic_store_explicit(&delivered, NULL, memory_order_relaxed);
    single = NULL;
    function_count = 0;
}
