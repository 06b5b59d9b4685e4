/* Messages and last errors.
 *
 * A thread that fails owns a ring of its newest messages, which is allocated at its first failure and freed by a key
 * destructor when the thread ends. With err_msg_mode "1" of aclInit's file all threads write to one shared ring.
 *
 * The shared ring's ms_lock guards it. No other lock is taken here, so that any room may fail while it holds a lock. */
#include "fail.h"
#include "fail_silent.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING 32          /* number of messages kept: the newest */
#define LINE_BYTES 1024  /* bytes of a message; longer ones are cut */
#define TAIL_BYTES 96    /* of these, reserved for the code and its name */

struct sim_messages {
    struct sim_lock ms_lock; /* used only in the shared ring */
    uint32_t ms_count;
    uint32_t ms_newest;
    bool ms_is_notice; /* the newest message is a notice: the next one replaces it */
    char ms_lines[RING][LINE_BYTES];
    char ms_taken[RING * LINE_BYTES]; /* the text that the last sim_fail_take returned */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;
static struct sim_messages *_Atomic shared; /* allocated once, kept for the life of the process */
static _Atomic bool by_process;
static _Thread_local bool silent;
void (*_Atomic sim_fail_listener)(const char *function, aclError code);

struct code_name {
    aclError cn_code;
    const char *cn_name;
};

#define CODE(name) {name, #name}

/* Sorted by value, for the binary search. */
static const struct code_name code_names[] = {
#include "error_names.h"
};

static int compare_codes(const void *wanted, const void *entry)
{
    aclError code = *(const aclError *)wanted, other = ((const struct code_name *)entry)->cn_code;
    return (code > other) - (code < other);
}

const char *sim_fail_name(aclError code)
{
    const struct code_name *found = bsearch(&code, code_names, sizeof code_names / sizeof *code_names,
                                            sizeof *code_names, compare_codes);
    return found != NULL ? found->cn_name : "unknown code";
}

/* The identifier at the start of a message: EE for the runtime, EH for the layer above it. */
static const char *message_id(aclError code)
{
    switch (code) {
    case ACL_ERROR_RT_FEATURE_NOT_SUPPORT:
    case ACL_ERROR_API_NOT_SUPPORT:
    case ACL_ERROR_FEATURE_UNSUPPORTED:
        return "EE1006";
    case ACL_ERROR_RT_STREAM_CONTEXT:
    case ACL_ERROR_RT_MODEL_CONTEXT:
    case ACL_ERROR_RT_LABEL_CONTEXT:
        return "EE1010";
    case ACL_ERROR_RT_INVALID_HANDLE:
        return "EE1011";
    case ACL_ERROR_RT_MEMORY_ALLOCATION:
    case ACL_ERROR_BAD_ALLOC:
        return "EE1013";
    case ACL_ERROR_RT_CONTEXT_NULL:
        return "EE1016";
    default:
        break;
    }
    switch (code / 1000) {
    case 107:
        return "EE1003";
    case 207:
    case 507:
        return "EE1018";
    default:
        return code >= 500000 ? "EH9999" : "EH0001";
    }
}

/* Codes of the layer above the runtime (1000xx, 145xxx, 2000xx, 5000xx, ...) and those that only describe a state never
 * become the last error. */
static bool is_recorded(aclError code)
{
    switch (code) {
    case ACL_ERROR_RT_FEATURE_NOT_SUPPORT:
    case ACL_ERROR_RT_AICORE_OVER_FLOW:
    case ACL_ERROR_RT_AIVEC_OVER_FLOW:
    case ACL_ERROR_RT_OVER_FLOW:
    case ACL_ERROR_RT_STREAM_NOT_COMPLETE:
    case ACL_ERROR_RT_EVENT_NOT_COMPLETE:
    case ACL_ERROR_RT_END_OF_SEQUENCE:
    case ACL_ERROR_RT_MODEL_ABORT_NORMAL:
    case ACL_ERROR_RT_SOCKET_CLOSE:
        return false;
    default:
        return code < 100000 || code % 100000 / 1000 == 7;
    }
}

static void thread_ended(void *messages)
{
    free(messages);
    sim_thread.th_messages = NULL;
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, thread_ended) == 0;
}

/* The ring that this thread writes to, locked if it is the shared one; NULL when there is no memory for it. */
static struct sim_messages *open_ring(void)
{
    if (atomic_load_explicit(&by_process, memory_order_acquire)) {
        struct sim_messages *ring = atomic_load_explicit(&shared, memory_order_acquire);
        sim_lock(&ring->ms_lock);
        return ring;
    }
    if (sim_thread.th_messages == NULL) {
        pthread_once(&once, make_key);
        struct sim_messages *ring = has_key ? malloc(sizeof *ring) : NULL;
        if (ring == NULL || pthread_setspecific(key, ring) != 0) {
            free(ring);
            return NULL;
        }
        ring->ms_count = 0;
        ring->ms_newest = 0;
        ring->ms_is_notice = false;
        sim_thread.th_messages = ring;
    }
    return sim_thread.th_messages;
}

static void close_ring(struct sim_messages *ring)
{
    if (ring != sim_thread.th_messages)
        sim_unlock(&ring->ms_lock);
}

static const char *current_function(void)
{
    return sim_thread.th_function != NULL ? sim_thread.th_function : "the call";
}

static void record(aclError code, const char *function, bool is_notice, const char *format, va_list arguments)
{
    void (*listener)(const char *, aclError) = atomic_load_explicit(&sim_fail_listener, memory_order_acquire);
    if (unlikely(listener != NULL) && !is_notice)
        listener(current_function(), code);
    struct sim_messages *ring = open_ring();
    if (ring == NULL)
        return;
    if (!ring->ms_is_notice || ring->ms_count == 0) {
        ring->ms_newest = (ring->ms_newest + 1) % RING;
        ring->ms_count += ring->ms_count < RING;
    }
    ring->ms_is_notice = is_notice;
    char *line = ring->ms_lines[ring->ms_newest];
    const size_t room = LINE_BYTES - TAIL_BYTES;
    size_t used = (size_t)(function == NULL ? sprintf(line, "%s: ", message_id(code))
                                            : sprintf(line, "%s: %.64s failed because ", message_id(code), function));
    int length = vsnprintf(line + used, room - used, format, arguments);
    used += length < 0 ? 0 : (size_t)length < room - used ? (size_t)length : room - used - 1;
    snprintf(line + used, LINE_BYTES - used, " (%d %s)", code, sim_fail_name(code));
    close_ring(ring);
}

aclError sim_fail(aclError code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(code, current_function(), false, format, arguments);
    va_end(arguments);
    if (is_recorded(code))
        sim_thread.th_last_error = code;
    return code;
}

void sim_fail_silence(bool is_silent)
{
    silent = is_silent;
}

aclError sim_refuse(aclError code, const char *format, ...)
{
    va_list arguments;
    if (silent)
        return code;
    va_start(arguments, format);
    record(code, current_function(), false, format, arguments);
    va_end(arguments);
    return code;
}

aclError sim_notice(aclError code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(code, current_function(), true, format, arguments);
    va_end(arguments);
    return code;
}

static void record_late(aclError code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(code, NULL, false, format, arguments);
    va_end(arguments);
}

aclError sim_fail_late(aclError code, const char *message)
{
    record_late(code, "%s", message);
    if (is_recorded(code))
        sim_thread.th_last_error = code;
    return code;
}

void sim_fail_reason(const char *text)
{
    char *reason = sim_thread.th_reason;
    if (reason == NULL)
        return;
    snprintf(reason, SIM_REASON_BYTES, ": %s", text);
    for (; *reason != '\0'; reason++)
        if ((unsigned char)*reason < ' ')
            *reason = ' ';
}

const char *sim_fail_take(void)
{
    if (sim_thread.th_messages == NULL && !atomic_load_explicit(&by_process, memory_order_relaxed))
        return NULL;
    struct sim_messages *ring = open_ring();
    if (ring == NULL)
        return NULL;
    const char *taken = ring->ms_count != 0 ? ring->ms_taken : NULL;
    char *end = ring->ms_taken;
    for (uint32_t i = 0; i < ring->ms_count; i++) {
        if (i != 0)
            *end++ = '\n';
        end = stpcpy(end, ring->ms_lines[(ring->ms_newest + RING - i) % RING]);
    }
    ring->ms_count = 0;
    close_ring(ring);
    return taken;
}

void sim_fail_share(bool share)
{
    if (share && atomic_load_explicit(&shared, memory_order_acquire) == NULL) {
        struct sim_messages *ring = calloc(1, sizeof *ring), *none = NULL;
        if (ring == NULL)
            return;
        if (!atomic_compare_exchange_strong_explicit(&shared, &none, ring, memory_order_acq_rel,
                                                     memory_order_acquire))
            free(ring);
    }
    atomic_store_explicit(&by_process, share, memory_order_release);
}

bool sim_fail_is_shared(void)
{
    return atomic_load_explicit(&by_process, memory_order_relaxed);
}

void sim_fail_forget(void)
{
    struct sim_messages *ring = atomic_load_explicit(&shared, memory_order_acquire);
    if (ring != NULL) {
        sim_lock(&ring->ms_lock);
        ring->ms_count = 0;
        sim_unlock(&ring->ms_lock);
    }
    atomic_store_explicit(&by_process, false, memory_order_release);
    if (sim_thread.th_messages != NULL)
        sim_thread.th_messages->ms_count = 0;
    sim_thread.th_last_error = ACL_SUCCESS;
}

void sim_fail_after_fork(void)
{
    struct sim_messages *ring = atomic_load_explicit(&shared, memory_order_relaxed);
    if (ring != NULL)
        sim_lock_renew(&ring->ms_lock);
    sim_thread.th_id = 0;
    sim_fail_forget();
}
