/* Every failure speaks: codes travel as return values, their reasons as messages of the calling thread.
 *
 * SIM_ARGUMENT  a check of the entry layer: leaves a message, but no last error (contract: error.md, "NOT recorded").
 * SIM_CHECK     a check of the runtime: leaves a message and becomes the thread's last error.
 * SIM_SUPPORTED a feature the chip, version or simulator lacks: 207000, a message, no last error.
 * SIM_TRY       passes a code on that has spoken already.
 * The text continues the sentence "<function> failed because ": name the argument, its value, and what was expected. */
#ifndef SIM_FAIL_H
#define SIM_FAIL_H

#include "lock.h"
#include <acl/acl.h>
#include <acl/acl_sim.h>
#include <stddef.h>

#define SIM_ARGUMENT(condition, code, ...)                                                                             \
    do {                                                                                                               \
        if (unlikely(!(condition)))                                                                                    \
            return sim_refuse((code), __VA_ARGS__);                                                                    \
    } while (0)

#define SIM_CHECK(condition, code, ...)                                                                                \
    do {                                                                                                               \
        if (unlikely(!(condition)))                                                                                    \
            return sim_fail((code), __VA_ARGS__);                                                                      \
    } while (0)

#define SIM_SUPPORTED(condition, ...) SIM_ARGUMENT(condition, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __VA_ARGS__)

#define SIM_NOT_NULL(pointer)                                                                                          \
    SIM_ARGUMENT((pointer) != NULL, ACL_ERROR_INVALID_PARAM, "%s is NULL, expected a valid pointer", #pointer)

#define SIM_TRY(call)                                                                                                  \
    do {                                                                                                               \
        aclError code_ = (call);                                                                                       \
        if (unlikely(code_ != ACL_SUCCESS))                                                                            \
            return code_;                                                                                              \
    } while (0)

#define SIM_REASON_BYTES 512

struct sim_context;
struct sim_caller;
struct sim_messages;

/* What a thread is to the simulator. Small, because it lives in static thread-local storage. */
struct sim_thread {
    const char *th_function;         /* the public call in progress, named by messages */
    struct sim_context *th_context;  /* bound context, valid only while its handle equals th_bound */
    uint64_t th_bound;
    struct sim_caller *th_caller;    /* the queue of user callbacks this thread is serving now, or NULL */
    struct sim_messages *th_messages;
    char *th_reason;                 /* SIM_REASON_BYTES for why a user's function fails; NULL: none is asked for */
    aclError th_last_error;
    uint32_t th_last_task;           /* id of the last task submitted to a user's stream; UINT32_MAX: none */
    uint64_t th_recorder;            /* the instance that recorded that task; 0: it was queued */
    uint32_t th_recorded_branch;
    uint32_t th_id;                  /* kernel thread id, 0 until asked for */
    uint64_t th_wait_began;          /* sim_engine_aborts and 1 when a wait in slices began; 0: none goes on */
    uint64_t th_wait_since;          /* when that was, until the call that the slices belong to; 0: none goes on */
    int32_t th_device;               /* of the bound context, valid as long as that */
    uint32_t th_depth;               /* frames of the engine on this stack: 0 means none */
    bool th_in_kernel;               /* a kernel runs: waiting, destroying and synchronous copies are refused */
    bool th_has_last_task;
    uint8_t th_capture_mode;         /* aclmdlRICaptureMode, of aclmdlRICaptureThreadExchangeMode */
};
extern _Thread_local struct sim_thread sim_thread __attribute__((visibility("hidden")));

/* A call that programs make millions of times: everything that it may call is inlined, whatever file it lives in, and
 * half of its time goes. What is rare on its way is SIM_RARE, so that the rest fits the cache. */
#define SIM_HOT __attribute__((flatten))
#define SIM_RARE __attribute__((cold, noinline))

/* First line of every entry point. */
#define SIM_ENTER() (sim_thread.th_function = __func__)

/* Records the message and the last error; returns `code`. */
aclError sim_fail(aclError code, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* Records the message only; returns `code`. */
aclError sim_refuse(aclError code, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* The same for a code that programs may ignore: the next message takes its place, so that it hides no failure. */
aclError sim_notice(aclError code, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* Records a ready message of an asynchronous failure (it names its own function) and the last error; returns `code`. */
aclError sim_fail_late(aclError code, const char *message) __attribute__((cold));

/* Why the user's function that runs on this thread fails, as the rest of a sentence: ": " and the text on one line. */
void sim_fail_reason(const char *text) __attribute__((cold));

/* Around a user's function that may say why it fails: `reason` gets that, as the rest of a sentence, or nothing. */
struct sim_asked {
    const char *as_function;
    char *as_outer;
};
static inline struct sim_asked sim_fail_ask(char reason[SIM_REASON_BYTES])
{
    struct sim_asked asked = {sim_thread.th_function, sim_thread.th_reason};
    reason[0] = '\0';
    sim_thread.th_reason = reason;
    return asked;
}
static inline void sim_fail_asked(const struct sim_asked *asked)
{
    sim_thread.th_reason = asked->as_outer;
    sim_thread.th_function = asked->as_function;
}

/* Takes the accumulated text, newest first, or NULL; the pointer lives until the thread's next call of this. */
const char *sim_fail_take(void);

/* aclInit's err_msg_mode: one error text for the process instead of one per thread. */
void sim_fail_share(bool by_process);
bool sim_fail_is_shared(void);

/* The vendor's name of a code, or "unknown code". */
const char *sim_fail_name(aclError code);

/* Kernel thread id of the caller, cached. */
uint32_t sim_thread_number(void);

/* aclsimReset: forgets this thread's messages and last error, and ends err_msg_mode "1". */
void sim_fail_forget(void);

/* The same in the child of a fork, where the shared ring's lock may be anybody's. */
void sim_fail_after_fork(void);

#endif
