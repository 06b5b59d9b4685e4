/* Design notes
 *
 * The profiling session: one per process, with its configurations, options, and trace.
 *
 * The session owns the trace, a JSON file of trace events, one event per line, in a directory of its own below the
 * directory that the program named. aclprofStart opens it; aclprofStop, aclprofFinalize, aclFinalize or aclsimReset
 * completes it. The child of a fork has no session and leaves the parent's file alone. Options for which a simulator
 * has no numbers (counters of cores, caches, buses) are accepted and produce no data.
 *
 * The mutex `turn` guards the session and is held while a line of the trace is written; inside it only the locks of
 * spans (prof_mark.c) and of watchers are taken. Times are measured before it is taken. `collected` holds a copy of
 * the enabled bits, so that a mark that is not collected costs one load; the engine itself reads sim_watchers. */
#include "prof.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/output.h"
#include "engine/context.h"
#include "engine/device.h"
#include "base/watcher.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KNOWN_BITS                                                                                                     \
    (ACL_PROF_ACL_API | ACL_PROF_AICORE_METRICS | ACL_PROF_AICPU | ACL_PROF_L2CACHE | ACL_PROF_HCCL_TRACE |           \
     ACL_PROF_TRAINING_TRACE | ACL_PROF_MSPROFTX | ACL_PROF_RUNTIME_API | ACL_PROF_TASK_MEMORY | ACL_PROF_OP_ATTR |   \
     ACL_PROF_GE_API_L0 | ACL_PROF_GE_API_L1 | ACL_PROF_API_STATS | ACL_PROF_AICORE_SHAPE | SIM_PROF_TASKS)
#define DEFAULT_BITS (ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX | ACL_PROF_TRAINING_TRACE)
#define EVERY_DEVICE UINT32_MAX
#define MEBIBYTE (UINT64_C(1) << 20)

struct config {
    struct sim_object co_object;
    struct sim_prof_plan co_plan;
};

static struct sim_table configs = SIM_OBJECT_TABLE(struct config, SIM_KIND_PROF_CONFIG);

enum mode { OFF, COMMAND, PROGRAM, SUBSCRIBED };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* guards everything below */
static enum mode mode;
static char *directory;        /* of the session, or set by aclprofSetConfig before it; NULL: "./" */
static struct sim_prof_plan running;
static FILE *file;             /* NULL: nothing is collected */
static char trace[ACL_DUMP_MAX_FILE_PATH_LENGTH + 128]; /* its path */
static struct sim_prof_clocks begun;
static uint64_t written, limit = UINT64_MAX;
static uint32_t sessions;      /* sessions so far, to give each its own directory */

static _Atomic uint64_t collected; /* bits; 0 while nothing is */

/* ---- configurations ---- */

aclprofConfig *sim_prof_config_create(const struct sim_prof_plan *plan)
{
    uint64_t handle;
    if (plan->pp_bits & ~KNOWN_BITS) {
        sim_refuse(ACL_ERROR_INVALID_PARAM, "dataTypeConfig is %#" PRIx64 ", expected ACL_PROF_* bits, of %#" PRIx64,
                   plan->pp_bits, (uint64_t)KNOWN_BITS);
        return NULL;
    }
    struct config *config = sim_object_take(&configs, &handle);
    if (config == NULL)
        return NULL;
    config->co_plan = *plan;
    return sim_object_publish(config, handle);
}

static aclError open_config(const aclprofConfig *handle, struct config **config)
{
    *config = sim_object_open(&configs, handle, "profilerConfig", ACL_ERROR_INVALID_PARAM);
    return *config != NULL ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}

static void end_config(void *config)
{
    sim_object_end(&configs, config);
}

aclError sim_prof_config_destroy(const aclprofConfig *handle)
{
    struct config *config;
    SIM_TRY(open_config(handle, &config));
    end_config(config);
    return ACL_SUCCESS;
}

/* ---- the trace ---- */

bool sim_prof_collects(uint64_t bits)
{
    return (atomic_load_explicit(&collected, memory_order_acquire) & bits) != 0;
}

static void count_bytes(int bytes)
{
    written += bytes > 0 ? (uint64_t)bytes : 0;
}

/* `turn` is held. */
static void write_line(const struct sim_prof_event *event)
{
    if (written > limit)
        return;
    bool moment = event->pe_start == event->pe_end;
    uint64_t duration = event->pe_end - event->pe_start;
    count_bytes(fputs(",\n{\"name\":\"", file));
    written += sim_output_text(file, event->pe_name);
    count_bytes(fprintf(file, "\",\"cat\":\"%s\",\"ph\":\"%s\",\"pid\":%" PRId64 ",\"tid\":%u,\"ts\":%" PRIu64 ".%03u",
                  event->pe_category, moment ? "i" : "X", event->pe_device < 0 ? (int64_t)getpid() : event->pe_device,
                  event->pe_line, event->pe_start / 1000, (unsigned)(event->pe_start % 1000)));
    if (moment)
        count_bytes(fputs(",\"s\":\"t\"", file));
    else
        count_bytes(fprintf(file, ",\"dur\":%" PRIu64 ".%03u", duration / 1000, (unsigned)(duration % 1000)));
    count_bytes(fprintf(file, ",\"args\":{%s}}", event->pe_arguments));
}

void sim_prof_write(uint64_t bits, const struct sim_prof_event *event)
{
    if (!sim_prof_collects(bits))
        return;
    pthread_mutex_lock(&turn);
    bool there = event->pe_device < 0 || (running.pp_devices >> event->pe_device & 1);
    if (file != NULL && (running.pp_bits & bits) && there)
        write_line(event);
    pthread_mutex_unlock(&turn);
}

void sim_prof_write_run(uint64_t bits, const struct sim_run *run, struct sim_prof_event *event)
{
    struct sim_context *context = atomic_load_explicit(&run->rn_stream->st_context, memory_order_relaxed);
    event->pe_device = context->cx_device->dv_id;
    event->pe_line = run->rn_stream->st_slot.sl_index;
    sim_prof_write(bits, event);
}

static void time_task(const struct sim_run *run, const struct sim_task *task, const void *argument,
                      const struct sim_watched *watched)
{
    (void)argument;
    uint64_t start = watched->wd_start, end = watched->wd_end;
    uint64_t submitted = sim_prof_time_submitted(run->rn_stream, run->rn_ticket);
    char arguments[96];
    int length = snprintf(arguments, sizeof arguments, "\"task\":%u,\"thread\":%u", (uint32_t)run->rn_ticket,
                          task->ta_thread);
    if (submitted != 0)
        snprintf(arguments + length, sizeof arguments - (size_t)length, ",\"submitted\":%" PRIu64 ".%03u",
                 submitted / 1000, (unsigned)(submitted % 1000));
    sim_prof_write_run(SIM_PROF_TASKS, run,
                       &(struct sim_prof_event){.pe_name = task->ta_op->op_name, .pe_start = start,
                                                .pe_end = end > start ? end : start + 1, .pe_arguments = arguments,
                                                .pe_category = sim_capture_task_names[task->ta_op->op_kind]});
}

static const struct sim_watcher times = {.wt_submit = sim_prof_time_submit, .wt_finish = time_task};

/* Creates the directory and the file of a session. `turn` is held. */
static aclError begin(const struct sim_prof_plan *plan)
{
    char *path = trace;
    const char *base = directory != NULL ? directory : ".";
    begun = sim_prof_time_clocks();
    int length = snprintf(path, sizeof trace, "%s/PROF_%" PRIu64 "_%d_%u", base, begun.cl_real / 1000000000u,
                          (int)getpid(), ++sessions);
    bool made = sim_output_base(base) && sim_output_base(path) && sim_prof_time_write_start(path, &begun);
    if (made) {
        snprintf(path + length, sizeof trace - (size_t)length, "/trace.json");
        file = sim_output_open(path);
    }
    SIM_ARGUMENT(file != NULL, ACL_ERROR_INVALID_FILE, "%s cannot be written: %s", path, strerror(errno));
    running = *plan;
    written = 0;
    count_bytes(fprintf(file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
                        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"program\"}}",
                  (int)getpid()));
    for (uint32_t id = 0; id < sim_config_devices(); id++)
        if (plan->pp_devices >> id & 1)
            count_bytes(fprintf(file, ",\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,"
                                      "\"args\":{\"name\":\"device %u\"}}", id, id));
    atomic_store_explicit(&collected, plan->pp_bits, memory_order_release);
    sim_watcher_set(&times, (plan->pp_bits & SIM_PROF_TASKS) != 0);
    return ACL_SUCCESS;
}

/* Completes the trace; returns false with errno if it could not be written in full. `turn` is held. */
static bool end(void)
{
    if (file == NULL)
        return true;
    sim_watcher_set(&times, false);
    atomic_store_explicit(&collected, 0, memory_order_release);
    fputs("\n],", file);
    sim_prof_time_write(file, &begun);
    fputs("}\n", file);
    bool whole = sim_output_close(file);
    int reason = errno;
    file = NULL;
    sim_prof_forget_spans();
    sim_prof_time_forget();
    errno = reason;
    return whole;
}

/* Ends the session for a call that returns the error; end_unasked prints it instead. */
static aclError end_checked(void)
{
    SIM_ARGUMENT(end(), ACL_ERROR_PROFILING_FAILURE, "the trace %s could not be written completely: %s", trace,
                 strerror(errno));
    return ACL_SUCCESS;
}

static void end_unasked(void)
{
    if (!end())
        fprintf(stderr, "acl simulator: the trace %s could not be written completely: %s\n", trace, strerror(errno));
}

/* Completes the trace of a program that exits without ending the session. */
__attribute__((destructor)) static void complete(void)
{
    if (pthread_mutex_trylock(&turn) != 0)
        return; /* held by a thread that no longer runs */
    end_unasked();
    pthread_mutex_unlock(&turn);
}

/* ---- the session ---- */

static bool is_old(void)
{
    return sim_config()->cf_cann < 900;
}

/* Fails if the session belongs to aclInit's file or to subscriptions. `turn` is held. */
static aclError refuse_others(void)
{
    SIM_ARGUMENT(mode != COMMAND, ACL_ERROR_PROF_ALREADY_RUN,
                 "the file of aclInit has switched profiling on, which ends with aclFinalize");
    SIM_ARGUMENT(mode != SUBSCRIBED, ACL_ERROR_PROF_API_CONFLICT,
                 "a model is subscribed to, expected aclprofModelUnSubscribe before");
    return ACL_SUCCESS;
}

/* Paths with characters that are special to a shell are refused. */
static aclError check_path(const char *path)
{
    const char *odd = strpbrk(path, "|;&$<>`'\"\\*?!{}()");
    for (const char *at = path; odd == NULL && *at != '\0'; at++)
        odd = (unsigned char)*at < 0x20 ? at : NULL;
    SIM_ARGUMENT(odd == NULL, ACL_ERROR_INVALID_FILE,
                 "profilerResultPath has the character %#x at byte %td, expected the path of a directory",
                 (unsigned char)*odd, odd - path);
    return ACL_SUCCESS;
}

static aclError set_directory(const char *path)
{
    char *copy = strdup(path);
    SIM_ARGUMENT(copy != NULL, ACL_ERROR_PROFILING_FAILURE, "there is no memory for a path");
    free(directory);
    directory = copy;
    return ACL_SUCCESS;
}

static aclError init_locked(const char *path)
{
    SIM_ARGUMENT(mode != PROGRAM, ACL_ERROR_REPEAT_INITIALIZE,
                 "it was called before, expected aclprofFinalize in between");
    SIM_TRY(refuse_others());
    SIM_TRY(check_path(path));
    SIM_TRY(set_directory(path));
    mode = PROGRAM;
    return ACL_SUCCESS;
}

aclError sim_prof_init(const char *path)
{
    pthread_mutex_lock(&turn);
    aclError code = init_locked(path);
    pthread_mutex_unlock(&turn);
    return code;
}

/* `turn` is held and the trace has ended. */
static void close_session(void)
{
    mode = OFF;
    limit = UINT64_MAX;
    free(directory);
    directory = NULL;
}

static aclError finalize_locked(void)
{
    SIM_ARGUMENT(mode != OFF, ACL_ERROR_PROF_NOT_RUN, "aclprofInit was not called, expected it before");
    SIM_TRY(refuse_others());
    aclError code = end_checked();
    close_session();
    return code;
}

aclError sim_prof_finalize(void)
{
    pthread_mutex_lock(&turn);
    aclError code = finalize_locked();
    pthread_mutex_unlock(&turn);
    return code;
}

/* Adds devices to the running session, which must collect the same data. */
static aclError start_more(const struct sim_prof_plan *plan)
{
    SIM_ARGUMENT(!is_old() || !(running.pp_devices & plan->pp_devices), ACL_ERROR_PROF_ALREADY_RUN,
                 "profiling of a device was started before, expected aclprofStop in between");
    SIM_ARGUMENT(running.pp_bits == plan->pp_bits && running.pp_metrics == plan->pp_metrics,
                 ACL_ERROR_INVALID_PROFILING_CONFIG,
                 "profilerConfig asks for data %#" PRIx64 " and metrics %u, expected %#" PRIx64 " and %u, which are "
                 "being collected", plan->pp_bits, plan->pp_metrics, running.pp_bits, running.pp_metrics);
    running.pp_devices |= plan->pp_devices;
    return ACL_SUCCESS;
}

static aclError start_locked(const struct sim_prof_plan *plan)
{
    SIM_TRY(refuse_others());
    SIM_ARGUMENT(mode != OFF || !is_old(), ACL_ERROR_PROF_NOT_RUN, "aclprofInit was not called, expected it before");
    SIM_TRY(file != NULL ? start_more(plan) : begin(plan));
    mode = PROGRAM;
    return ACL_SUCCESS;
}

/* Reads the plan of a configuration. For NULL that is `otherwise`, or 100000 in versions 8.x. */
static aclError read_plan(const aclprofConfig *handle, const struct sim_prof_plan *otherwise,
                          struct sim_prof_plan *plan)
{
    struct config *config;
    *plan = *otherwise;
    SIM_ARGUMENT(handle != NULL || !is_old(), ACL_ERROR_INVALID_PARAM,
                 "profilerConfig is NULL, expected one of aclprofCreateConfig");
    if (handle == NULL)
        return ACL_SUCCESS;
    SIM_TRY(open_config(handle, &config));
    *plan = config->co_plan;
    sim_object_close(config);
    return ACL_SUCCESS;
}

static const struct sim_prof_plan default_plan = {DEFAULT_BITS, EVERY_DEVICE, ACL_AICORE_NONE};

aclError sim_prof_start(const aclprofConfig *config)
{
    struct sim_prof_plan plan;
    SIM_TRY(read_plan(config, &default_plan, &plan));
    pthread_mutex_lock(&turn);
    aclError code = start_locked(&plan);
    pthread_mutex_unlock(&turn);
    return code;
}

static aclError stop_locked(const struct sim_prof_plan *plan)
{
    SIM_TRY(refuse_others());
    SIM_ARGUMENT(file != NULL || !is_old(), ACL_ERROR_PROF_NOT_RUN, "profiling was not started, expected aclprofStart");
    if (file == NULL)
        return ACL_SUCCESS;
    SIM_ARGUMENT(plan->pp_bits == running.pp_bits || plan->pp_bits == 0, ACL_ERROR_INVALID_PROFILING_CONFIG,
                 "profilerConfig asks for data %#" PRIx64 ", expected that of aclprofStart, %#" PRIx64, plan->pp_bits,
                 running.pp_bits);
    running.pp_devices &= ~plan->pp_devices;
    return running.pp_devices == 0 ? end_checked() : ACL_SUCCESS;
}

aclError sim_prof_stop(const aclprofConfig *config)
{
    static const struct sim_prof_plan all = {0, EVERY_DEVICE, ACL_AICORE_NONE};
    struct sim_prof_plan plan;
    SIM_TRY(read_plan(config, &all, &plan));
    pthread_mutex_lock(&turn);
    aclError code = stop_locked(&plan);
    pthread_mutex_unlock(&turn);
    return code;
}

aclError sim_prof_set_subscriptions(uint32_t count)
{
    aclError code = ACL_SUCCESS;
    pthread_mutex_lock(&turn);
    if (mode == COMMAND)
        code = refuse_others();
    else if (mode == PROGRAM)
        code = sim_refuse(ACL_ERROR_PROF_API_CONFLICT, "aclprofInit was called, expected aclprofFinalize before");
    else
        mode = count != 0 ? SUBSCRIBED : OFF;
    pthread_mutex_unlock(&turn);
    return code;
}

/* ---- options ---- */

enum shape { UNKNOWN, NUMBER, WORDS, TEXT, STORAGE, PATH };

/* Frequencies are in hertz. Only the size limit and the path have an effect: there is no hardware to sample. */
static const struct {
    enum shape op_shape;
    uint64_t op_most;     /* of numbers, from 1 */
    const char *op_words; /* of lists: the permitted words */
} options[ACL_PROF_ARGS_MAX] = {
    [ACL_PROF_STORAGE_LIMIT] = {STORAGE, 0, NULL},
    [ACL_PROF_AIV_METRICS] = {TEXT, 0, NULL}, /* in versions 8.x only */
    [ACL_PROF_SYS_HARDWARE_MEM_FREQ] = {NUMBER, 100, NULL},
    [ACL_PROF_LLC_MODE] = {WORDS, 0, " read write capacity bandwidth "},
    [ACL_PROF_SYS_IO_FREQ] = {NUMBER, 100, NULL},
    [ACL_PROF_SYS_INTERCONNECTION_FREQ] = {NUMBER, 50, NULL},
    [ACL_PROF_DVPP_FREQ] = {NUMBER, 100, NULL},
    [ACL_PROF_HOST_SYS] = {WORDS, 0, " cpu mem disk network osrt "},
    [ACL_PROF_HOST_SYS_USAGE] = {WORDS, 0, " cpu mem "},
    [ACL_PROF_HOST_SYS_USAGE_FREQ] = {NUMBER, 50, NULL},
    [ACL_PROF_LOW_POWER_FREQ] = {NUMBER, 100, NULL},
    [ACL_PROF_SYS_MEM_SERVICEFLOW] = {TEXT, 0, NULL},
    [ACL_PROF_SYS_CPU_FREQ] = {NUMBER, 50, NULL},
    [ACL_PROF_OPTYPE] = {TEXT, 0, NULL},
    [ACL_PROF_NTS_METRICS] = {TEXT, 0, NULL},
    [ACL_PROF_PATH] = {PATH, 0, NULL},
};

static bool read_number(const char *text, const char *unit, uint64_t least, uint64_t most, uint64_t *number)
{
    char *behind;
    errno = 0;
    *number = strtoull(text, &behind, 10);
    return *text >= '0' && *text <= '9' && errno == 0 && (*behind == '\0' || strcmp(behind, unit) == 0) &&
           *number >= least && *number <= most;
}

/* Whether every word of a comma-separated list is permitted. */
static bool has_words(const char *text, const char *words)
{
    char wanted[32];
    for (;;) {
        size_t length = strcspn(text, ",");
        if (length == 0 || length > sizeof wanted - 3)
            return false;
        snprintf(wanted, sizeof wanted, " %.*s ", (int)length, text);
        if (strstr(words, wanted) == NULL)
            return false;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}

#define STORAGE_LEAST 200 /* mebibytes */

static aclError set_locked(aclprofConfigType type, const char *value)
{
    uint64_t number = 0;
    /* The documentation gives one of the hardware types a code of its own without naming it; this is the type with
     * HARDWARE in its name. */
    aclError code =
        type == ACL_PROF_SYS_HARDWARE_MEM_FREQ ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_INVALID_PROFILING_CONFIG;
    SIM_ARGUMENT(mode != OFF || !is_old(), ACL_ERROR_PROF_NOT_RUN, "aclprofInit was not called, expected it before");
    switch (options[type].op_shape) {
    case NUMBER:
        SIM_ARGUMENT(read_number(value, "", 1, options[type].op_most, &number), code,
                     "config is \"%s\" for type %d, expected a number from 1 to %" PRIu64, value, (int)type,
                     options[type].op_most);
        return ACL_SUCCESS;
    case WORDS:
        SIM_ARGUMENT(has_words(value, options[type].op_words), code,
                     "config is \"%s\" for type %d, expected words of\"%s\"with commas between them", value, (int)type,
                     options[type].op_words);
        return ACL_SUCCESS;
    case STORAGE:
        SIM_ARGUMENT(read_number(value, "MB", STORAGE_LEAST, UINT32_MAX, &number), code,
                     "config is \"%s\" for type %d, expected megabytes from %d to %u", value, (int)type, STORAGE_LEAST,
                     UINT32_MAX);
        limit = number * MEBIBYTE;
        return ACL_SUCCESS;
    case PATH:
        SIM_ARGUMENT(*value != '\0' && check_path(value) == ACL_SUCCESS, code,
                     "config is \"%s\" for type %d, expected the path of a directory", value, (int)type);
        return set_directory(value);
    default:
        SIM_ARGUMENT(*value != '\0', code, "config is empty for type %d, expected a text", (int)type);
        return ACL_SUCCESS;
    }
}

aclError sim_prof_set(aclprofConfigType type, const char *value)
{
    pthread_mutex_lock(&turn);
    aclError code = set_locked(type, value);
    pthread_mutex_unlock(&turn);
    return code;
}

/* ---- aclInit's file ---- */

static aclError begin_command(const char *output, const struct sim_prof_plan *plan)
{
    if (mode == COMMAND)
        return ACL_SUCCESS; /* left by an aclInit that failed later */
    SIM_TRY(refuse_others());
    SIM_TRY(check_path(output));
    SIM_TRY(set_directory(output));
    SIM_TRY(begin(plan));
    mode = COMMAND;
    return ACL_SUCCESS;
}

aclError sim_prof_command(struct sim_json object)
{
    char on[8] = "off", output[ACL_DUMP_MAX_FILE_PATH_LENGTH] = "./", tasks[8] = "on", marks[8] = "off";
    SIM_ARGUMENT(sim_json_text(object, "switch", on, sizeof on) &&
                     sim_json_text(object, "output", output, sizeof output) &&
                     sim_json_text(object, "task_time", tasks, sizeof tasks) &&
                     sim_json_text(object, "msproftx", marks, sizeof marks) &&
                     (strcmp(on, "on") == 0 || strcmp(on, "off") == 0),
                 ACL_ERROR_INVALID_PROFILING_CONFIG,
                 "profiler in the file of configPath has a wrong member, expected switch, task_time and msproftx to be "
                 "\"on\" or \"off\", and output to be a path");
    if (strcmp(on, "on") != 0)
        return ACL_SUCCESS;
    struct sim_prof_plan plan = default_plan;
    plan.pp_bits &= ~(strcmp(tasks, "off") == 0 ? ACL_PROF_TASK_TIME : 0) &
                    ~(strcmp(marks, "on") == 0 ? 0 : ACL_PROF_MSPROFTX);
    pthread_mutex_lock(&turn);
    aclError code = begin_command(*output != '\0' ? output : "./", &plan);
    pthread_mutex_unlock(&turn);
    return code;
}

void sim_prof_command_end(void)
{
    pthread_mutex_lock(&turn);
    if (mode == COMMAND) {
        end_unasked();
        close_session();
    }
    pthread_mutex_unlock(&turn);
}

void sim_prof_reset(void)
{
    sim_prof_subscribe_reset();
    pthread_mutex_lock(&turn);
    end_unasked();
    close_session();
    pthread_mutex_unlock(&turn);
    sim_prof_mark_reset();
    sim_object_destroy_all(&configs, end_config);
}

void sim_prof_after_fork(void)
{
    turn = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    mode = OFF;
    file = NULL; /* its buffer may hold data that the parent will write */
    directory = NULL;
    limit = UINT64_MAX;
    atomic_store(&collected, 0);
    sim_table_empty(&configs);
    sim_prof_time_after_fork();
    sim_prof_mark_after_fork();
    sim_prof_subscribe_after_fork();
}
