/* The frame of a recorded call, and the life cycle of the recording (record.h).
 *
 * Only the outermost call of a thread is recorded: a library may implement a public function by others. A line is
 * begun before the call, because the call may end objects and change memory, and written after it. */
#include "record.h"
#include "base/output.h"
#include "record_data.h"
#include "record_file.h"
#include "record_names.h"

#include <acl/acl.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXT_BYTES 1024 /* longer texts and lists are cut */
#define LIST_VALUES 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t threads; /* that have called */

static _Thread_local uint32_t thread_number; /* 0: none yet */
static _Thread_local uint32_t thread_calls;
static _Thread_local bool inside; /* a recorded call is in progress */

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- the next function ---- */

/* The function in the libraries after this one, or in one that was opened with a scope of its own. */
void *sim_record_next(const char *name)
{
    static const char *const libraries[] = {"libacl_sim.so", RECORD_LIBRARIES};
    void *symbol = dlsym(RTLD_NEXT, name);
    for (size_t i = 0; symbol == NULL && i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        if (library != NULL) {
            symbol = dlsym(library, name);
            dlclose(library);
        }
    }
    return symbol;
}

static void (*next_of(struct sim_record_function *function))(void)
{
    uintptr_t next = atomic_load_explicit(&function->fn_next, memory_order_acquire);
    if (next == 0) {
        __typeof__(aclsimTraced) *traced = (__typeof__(aclsimTraced) *)(uintptr_t)sim_record_next("aclsimTraced");
        void *found = sim_record_next(function->fn_name), *variant = traced != NULL ? traced(function->fn_name) : NULL;
        next = (uintptr_t)(variant != NULL ? variant : found);
        /* Threads that look it up at the same time find the same function. */
        atomic_store_explicit(&function->fn_next, next, memory_order_release);
    }
    return (void (*)(void))next;
}

static int by_name(const void *name, const void *function)
{
    return strcmp(name, (*(struct sim_record_function *const *)function)->fn_name);
}

void *acl_record_wrap(const char *name, void *next)
{
    const struct sim_record_functions *all = &sim_record_functions;
    struct sim_record_function *const *found =
        bsearch(name, all->fs_functions, all->fs_count, sizeof *all->fs_functions, by_name);
    void *variant = found != NULL ? (void *)(uintptr_t)(*found)->fn_variant : NULL;
    if (variant == NULL)
        return next;
    if (next != variant)
        atomic_store_explicit(&(*found)->fn_next, (uintptr_t)next, memory_order_release);
    return variant;
}

/* ---- parts of a line ---- */

static void put_text(FILE *to, uint64_t address)
{
    char text[TEXT_BYTES + 1];
    size_t size = sim_record_data_read(text, address, TEXT_BYTES);
    text[size] = '\0';
    fputc('"', to);
    sim_output_text(to, text);
    fputc('"', to);
}

static void put_value(FILE *to, uint8_t form, uint8_t kind, uint64_t value)
{
    union {
        uint64_t bits;
        double number;
    } both = {.bits = value};
    switch ((enum sim_record_form)form) {
    case SIM_RECORD_UNSIGNED:
        fprintf(to, "%" PRIu64, value);
        break;
    case SIM_RECORD_SIGNED:
        fprintf(to, "%" PRId64, (int64_t)value);
        break;
    case SIM_RECORD_FLOAT:
        fprintf(to, both.number - both.number == 0 ? "%.17g" : "\"%g\"", both.number);
        break;
    case SIM_RECORD_ID:
        sim_record_names_put_handle(to, kind, value);
        break;
    case SIM_RECORD_NOTHING:
        fputs("null", to);
        break;
    default:
        if (value == 0)
            fputs("null", to);
        else if (form == SIM_RECORD_TEXT)
            put_text(to, value);
        else if (form == SIM_RECORD_HANDLE)
            sim_record_names_put_handle(to, kind, value);
        else
            sim_record_names_put_address(to, value);
    }
}

/* Reads one value of a list or an output as 64 bits. */
static uint64_t value_of(const struct sim_record_parameter *parameter, const unsigned char *bytes)
{
    uint64_t value = 0;
    memcpy(&value, bytes, parameter->pm_size);
    if (parameter->pm_form == SIM_RECORD_FLOAT && parameter->pm_size == sizeof(float)) {
        float number;
        memcpy(&number, bytes, sizeof number);
        return sim_record_bits((double)number);
    }
    unsigned unused = 64 - 8u * parameter->pm_size;
    return parameter->pm_form == SIM_RECORD_SIGNED ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

/* Names what an output or a result stands for, if the call has made it. */
static void make(const struct sim_record_call *call, uint8_t form, uint8_t kind, uint64_t value)
{
    const struct sim_record_function *function = call->cl_function;
    bool is_address = form == SIM_RECORD_ADDRESS && function->fn_size >= 0;
    if (function->fn_makes && (value != 0 || form == SIM_RECORD_ID) &&
        (is_address || form == SIM_RECORD_HANDLE || form == SIM_RECORD_ID))
        sim_record_names_make(kind, is_address, value, is_address ? call->cl_given[function->fn_size] : 1);
}

/* The values behind a pointer: of a list in brackets. */
static void put_behind(const struct sim_record_call *call, const struct sim_record_parameter *parameter, uint64_t place)
{
    bool is_list = parameter->pm_count >= 0;
    uint64_t count = is_list ? call->cl_given[parameter->pm_count] : 1;
    unsigned char bytes[sizeof(uint64_t)];
    fputs(is_list ? "[" : "", call->cl_line);
    for (uint64_t i = 0; i < count && i < LIST_VALUES; i++) {
        uint64_t value = 0;
        fputs(i != 0 ? "," : "", call->cl_line);
        if (sim_record_data_read(bytes, place + i * parameter->pm_size, parameter->pm_size) != parameter->pm_size) {
            fputs("\"unreadable\"", call->cl_line);
            break;
        }
        value = value_of(parameter, bytes);
        if (parameter->pm_output)
            make(call, parameter->pm_form, parameter->pm_kind, value);
        put_value(call->cl_line, parameter->pm_form, parameter->pm_kind, value);
    }
    fputs(is_list ? "]" : "", call->cl_line);
}

/* The member "args" before the call, and "out" after it. */
static void put_parameters(const struct sim_record_call *call, bool outputs)
{
    const struct sim_record_function *function = call->cl_function;
    const char *before = "";
    for (uint8_t i = 0; i < function->fn_count; i++) {
        const struct sim_record_parameter *parameter = &function->fn_parameters[i];
        uint64_t value = call->cl_given[i];
        if (parameter->pm_output != outputs || (outputs && value == 0))
            continue;
        fprintf(call->cl_line, "%s\"%s\":", *before == '\0' && outputs ? ",\"out\":{" : before, parameter->pm_name);
        before = ",";
        if (parameter->pm_size == 0 || value == 0)
            put_value(call->cl_line, parameter->pm_form, parameter->pm_kind, value);
        else
            put_behind(call, parameter, value);
    }
    fputs(outputs && *before != '\0' ? "}" : "", call->cl_line);
}

/* ---- a call ---- */

/* With the lock: begins a line. False: there is no memory or no file for it. */
static bool begin_line(struct sim_record_call *call, const struct sim_record_function *function, const uint64_t *given)
{
    if (!sim_record_file_open() || (call->cl_line = open_memstream(&call->cl_text, &call->cl_bytes)) == NULL)
        return false;
    if (thread_number == 0)
        thread_number = ++threads;
    call->cl_function = function;
    call->cl_given = given;
    call->cl_thread = thread_number;
    call->cl_number = ++thread_calls;
    call->cl_ended = NULL;
    fprintf(call->cl_line, "{\"thread\":%u,\"number\":%u,\"call\":\"%s\",\"args\":{", call->cl_thread, call->cl_number,
            function->fn_name);
    put_parameters(call, false);
    fputc('}', call->cl_line);
    sim_record_data_before(call);
    const struct sim_record_parameter *first = function->fn_parameters;
    if (function->fn_ends && function->fn_count > 0 && first->pm_size == 0)
        call->cl_ended = sim_record_names_end(first->pm_kind, first->pm_form == SIM_RECORD_ADDRESS, given[0]);
    return true;
}

void (*sim_record_begin(struct sim_record_call *call, struct sim_record_function *function,
                        const uint64_t *given))(void)
{
    void (*next)(void) = next_of(function);
    call->cl_function = NULL;
    if (inside || next == NULL)
        return next;
    inside = true;
    pthread_mutex_lock(&lock);
    inside = begin_line(call, function, given);
    pthread_mutex_unlock(&lock);
    call->cl_start = now();
    return next;
}

void sim_record_end(struct sim_record_call *call, uint64_t result)
{
    uint64_t end = now();
    const struct sim_record_function *function = call->cl_function;
    if (function == NULL)
        return;
    int reason = errno;
    bool failed = function->fn_has_code && result != 0;
    if (!failed)
        sim_record_data_ask(call);
    pthread_mutex_lock(&lock);
    sim_record_names_settle(call->cl_ended, failed);
    if (function->fn_form != SIM_RECORD_NOTHING) {
        make(call, function->fn_form, function->fn_kind, result);
        fputs(function->fn_has_code ? ",\"code\":" : ",\"result\":", call->cl_line);
        put_value(call->cl_line, function->fn_form, function->fn_kind, result);
    }
    if (!failed) {
        put_parameters(call, true);
        sim_record_data_after(call);
    }
    fprintf(call->cl_line, ",\"microseconds\":%" PRIu64 "}\n", (end - call->cl_start) / 1000);
    if (fclose(call->cl_line) == 0 && sim_record_file_open())
        sim_record_file_write(call->cl_text, call->cl_bytes);
    free(call->cl_text);
    pthread_mutex_unlock(&lock);
    inside = false;
    errno = reason;
}

/* ---- life cycle ---- */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    threads = 0;
    thread_number = thread_calls = 0;
    sim_record_names_clear();
    sim_record_data_clear();
    sim_record_file_after_fork();
}

static __attribute__((constructor)) void start(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}
