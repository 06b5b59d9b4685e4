/* Failures: a function returns a code, and records its reason as a message of the calling thread.
 *
 * SIM_ARGUMENT  a check of the entry layer: records a message, but no last error.
 * SIM_CHECK     a check of the runtime: records a message and sets the thread's last error.
 * SIM_SUPPORTED a feature that chip, version or simulator lacks: 207000, a message, no last error.
 * SIM_TRY       returns a code whose message has been recorded already.
 * The text continues the sentence "<function> failed because ": name the argument, its value, and what was expected. */
#ifndef SIM_FAIL_H
#define SIM_FAIL_H

#include "compiler.h"
#include "thread_state.h"

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

/* Records the message and the last error; returns `code`. */
aclError sim_fail(aclError code, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* Records the message only; returns `code`. */
aclError sim_refuse(aclError code, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* The same for a code that programs may ignore: the next message replaces it, so that it does not displace a
 * failure. */
aclError sim_notice(aclError code, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* Records the complete message of an asynchronous failure, and the last error; returns `code`. */
aclError sim_fail_late(aclError code, const char *message) __attribute__((cold));

/* Stores why the user's function on this thread fails, as the rest of a sentence: ": " and the text on one line. */
void sim_fail_reason(const char *text) __attribute__((cold));

/* Called before and after a user's function that may report why it fails: `reason` receives that text, or "". */
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

/* Called for each failure while it is set, on the thread whose call has failed; locks of any room may be held. */
extern void (*_Atomic sim_fail_listener)(const char *function, aclError code);

/* Takes all messages as one text, newest first, or NULL; valid until the thread's next call of this function. */
const char *sim_fail_take(void);

/* aclInit's err_msg_mode: the process has one error text instead of one per thread. */
void sim_fail_share(bool by_process);
bool sim_fail_is_shared(void);

/* The vendor's name of a code, or "unknown code". */
const char *sim_fail_name(aclError code);

/* aclsimReset: forgets this thread's messages and last error, and ends err_msg_mode "1". */
void sim_fail_forget(void);

/* The same in the child of a fork; also renews the lock of the shared messages. */
void sim_fail_after_fork(void);

#endif
