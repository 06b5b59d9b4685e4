/* Design notes
 *
 * Dump: which data of models and operators is written, and for how long. dump_plan.c reads the configuration,
 * dump_write.c writes.
 *
 * One plan is in force at a time. A plan never changes; aclmdlSetDump puts another one in its place, and models that
 * were loaded under the old one keep that, counted by its users. Operators look the plan up when they run, so a plan
 * also applies to operators that were submitted before. If the program takes the data itself, aclmdlInitDump alone
 * suffices: it dumps the outputs of every model. Directories are kept until the process ends (there are few), because
 * acldumpGetPath returns their addresses.
 *
 * `lock` guards the state and is held briefly: nothing is written or called under it. */
#include "dump.h"
#include "base/config_file.h"
#include "base/output.h"
#include "engine/context.h"
#include "engine/device.h"
#include "engine/exception.h"
#include "engine/init.h"
#include "base/watcher.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct sim_lock lock; /* guards everything below */
static bool by_program, by_file; /* aclmdlInitDump was called; aclInit's file has a dump */
static struct sim_dump_plan *plan_in_force;
static sim_dump_function receiver;
static char *arguments_path;
static _Atomic uint32_t epoch; /* how often dumping has ended */

/* ---- plans ---- */

static struct sim_dump_plan *create_plan(void)
{
    time_t now = time(NULL);
    struct tm parts;
    struct sim_dump_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
        sim_refuse(ACL_ERROR_BAD_ALLOC, "there is no memory for a dump configuration");
        return NULL;
    }
    atomic_init(&plan->dp_users, 1);
    plan->dp_epoch = atomic_load(&epoch);
    plan->dp_directions = ACLSIM_OUT;
    strftime(plan->dp_time, sizeof plan->dp_time, "%Y%m%d%H%M%S", localtime_r(&now, &parts));
    return plan;
}

void sim_dump_drop(struct sim_dump_plan *plan)
{
    if (plan == NULL || atomic_fetch_sub(&plan->dp_users, 1) != 1)
        return;
    for (char **name = plan->dp_names; name != NULL && *name != NULL; name++)
        free(*name);
    free(plan->dp_names);
    free(plan);
}

bool sim_dump_is_over(const struct sim_dump_plan *plan)
{
    return plan->dp_epoch != atomic_load_explicit(&epoch, memory_order_acquire);
}

struct sim_dump_plan *sim_dump_share(void)
{
    sim_lock(&lock);
    struct sim_dump_plan *plan = plan_in_force;
    if (plan != NULL)
        atomic_fetch_add(&plan->dp_users, 1);
    sim_unlock(&lock);
    return plan;
}

/* Sets what the engine reports. The lock is held. */
static void watch(void)
{
    const struct sim_dump_plan *plan = plan_in_force;
    sim_watcher_set(&sim_dump_data, (plan != NULL && plan->dp_operators) || arguments_path != NULL);
    atomic_store_explicit(&sim_watch_on_failure, plan != NULL && plan->dp_failures != 0 ? sim_dump_failure : NULL,
                          memory_order_release);
}

/* Puts a plan in force and returns the former one, which the caller drops without the lock. The lock is held. */
static struct sim_dump_plan *enforce(struct sim_dump_plan *plan)
{
    struct sim_dump_plan *before = plan_in_force;
    plan_in_force = plan;
    watch();
    return before;
}

/* ---- calls ---- */

static aclError need_init(void)
{
    SIM_ARGUMENT(sim_init_is_done(), ACL_ERROR_UNINITIALIZE, "aclInit was not called, expected it before");
    return ACL_SUCCESS;
}

aclError sim_dump_init(void)
{
    SIM_TRY(need_init());
    struct sim_dump_plan *plan = create_plan();
    if (plan == NULL)
        return ACL_ERROR_BAD_ALLOC;
    plan->dp_models = true;
    sim_lock(&lock);
    bool again = by_program, taken = by_file;
    if (!again && !taken) {
        by_program = true;
        plan = enforce(plan);
    }
    sim_unlock(&lock);
    sim_dump_drop(plan);
    SIM_ARGUMENT(!taken, ACL_ERROR_DUMP_ALREADY_RUN, "the file of aclInit has configured dumping");
    SIM_ARGUMENT(!again, ACL_ERROR_REPEAT_INITIALIZE, "it was called before, expected aclmdlFinalizeDump in between");
    return ACL_SUCCESS;
}

static bool is_begun(void)
{
    sim_lock(&lock);
    bool begun = by_program;
    sim_unlock(&lock);
    return begun;
}

static aclError need_begin(void)
{
    SIM_ARGUMENT(is_begun(), ACL_ERROR_DUMP_NOT_RUN, "aclmdlInitDump was not called, expected it before");
    return ACL_SUCCESS;
}

/* Reads a plan from an object and puts it in force, for aclInit's file or for the program. */
static aclError configure(struct sim_json object, const char *argument, bool file)
{
    struct sim_dump_plan *plan = create_plan();
    if (plan == NULL)
        return ACL_ERROR_BAD_ALLOC;
    aclError code = sim_dump_read(object, argument, plan);
    bool gone = false;
    if (code == ACL_SUCCESS) {
        sim_lock(&lock);
        gone = !file && !by_program;
        if (file)
            by_file = true;
        if (!gone)
            plan = enforce(plan);
        sim_unlock(&lock);
    }
    sim_dump_drop(plan);
    SIM_TRY(code);
    SIM_ARGUMENT(!gone, ACL_ERROR_DUMP_NOT_RUN, "aclmdlFinalizeDump was called by another thread during the call");
    return ACL_SUCCESS;
}

static aclError set_from(const char *content, size_t size)
{
    struct sim_json root, object;
    SIM_TRY(sim_config_file_parse(content, size, "dumpCfgPath", &root));
    SIM_ARGUMENT(sim_json_member(root, "dump", &object) && object.js_kind == SIM_JSON_OBJECT,
                 ACL_ERROR_INVALID_DUMP_CONFIG, "the file of dumpCfgPath has no object \"dump\"");
    return configure(object, "dumpCfgPath", false);
}

aclError sim_dump_set(const char *path)
{
    char *content;
    size_t size;
    SIM_TRY(need_init());
    SIM_TRY(need_begin());
    SIM_NOT_NULL(path);
    SIM_ARGUMENT(*path != '\0', ACL_ERROR_INVALID_FILE, "dumpCfgPath is empty, expected the path of a file");
    SIM_TRY(sim_config_file_read(path, "dumpCfgPath", &content, &size));
    aclError code = set_from(content, size);
    free(content);
    return code;
}

/* Ends the plan in force; models that still hold it write nothing more. */
static void end(bool *begun)
{
    sim_lock(&lock);
    struct sim_dump_plan *plan = *begun ? enforce(NULL) : NULL;
    atomic_fetch_add(&epoch, *begun);
    *begun = false;
    sim_unlock(&lock);
    sim_dump_drop(plan);
}

aclError sim_dump_finalize(void)
{
    SIM_TRY(need_init());
    SIM_TRY(need_begin());
    end(&by_program);
    return ACL_SUCCESS;
}

aclError sim_dump_command(struct sim_json object)
{
    struct sim_json unused;
    bool configured = false;
    static const char *const names[] = {"dump_list", "dump_op_switch", "dump_debug", "dump_scene", "dump_path"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        configured = configured || sim_json_member(object, names[i], &unused);
    return configured ? configure(object, "configPath", true) : ACL_SUCCESS;
}

void sim_dump_command_end(void)
{
    end(&by_file);
    end(&by_program);
}

/* ---- where data goes ---- */

void sim_dump_give_to(sim_dump_function function)
{
    sim_lock(&lock);
    receiver = function;
    sim_unlock(&lock);
}

sim_dump_function sim_dump_receiver(void)
{
    sim_lock(&lock);
    sim_dump_function function = receiver;
    sim_unlock(&lock);
    return function;
}

const char *sim_dump_path(acldumpType type)
{
    struct sim_dump_plan *plan = sim_dump_share();
    bool wanted = plan != NULL && (type == DATA_DUMP       ? plan->dp_models || plan->dp_operators
                                   : type == OVERFLOW_DUMP ? plan->dp_overflow
                                                           : plan->dp_failures == type);
    const char *path = wanted ? plan->dp_path : NULL;
    sim_dump_drop(plan);
    return path;
}

static aclError device_of_thread(int32_t *device)
{
    struct sim_context *context;
    *device = sim_exception_device();
    if (*device >= 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_context_current(&context));
    *device = context->cx_device->dv_id;
    return ACL_SUCCESS;
}

aclError sim_dump_exception_path(char *path, size_t size)
{
    int32_t device;
    struct sim_dump_plan *plan = sim_dump_share();
    const char *directory = plan != NULL && plan->dp_failures != 0 ? plan->dp_path : NULL;
    sim_dump_drop(plan);
    SIM_ARGUMENT(directory != NULL, ACL_ERROR_FAILURE,
                 "no dump of failures is configured, expected dump_scene in the file of aclmdlSetDump or aclInit");
    SIM_TRY(device_of_thread(&device));
    int length = snprintf(path, size, "%s/" SIM_DUMP_EXCEPTIONS "/%d/", directory, device);
    SIM_ARGUMENT(length < (int)size, ACL_ERROR_INVALID_PARAM, "maxLen is %zu, expected at least %d", size, length + 1);
    return ACL_SUCCESS;
}

/* ---- operators' arguments ---- */

aclError sim_dump_arguments(const char *path)
{
    char *copy = path != NULL ? strdup(path) : NULL;
    if (path != NULL && (copy == NULL || strlen(path) >= SIM_DUMP_PATH || !sim_output_base(path))) {
        free(copy);
        return sim_refuse(ACL_ERROR_INVALID_FILE, "path is \"%.256s\", expected a directory that can be written to: %s",
                          path, strerror(errno));
    }
    sim_lock(&lock);
    char *before = arguments_path;
    arguments_path = copy;
    watch();
    sim_unlock(&lock);
    free(before);
    return ACL_SUCCESS;
}

bool sim_dump_arguments_path(char path[SIM_DUMP_PATH])
{
    sim_lock(&lock);
    bool wanted = arguments_path != NULL;
    if (wanted)
        strcpy(path, arguments_path);
    sim_unlock(&lock);
    return wanted;
}

/* ---- the end ---- */

void sim_dump_reset(void)
{
    sim_dump_command_end();
    sim_dump_arguments(NULL);
    sim_dump_give_to(NULL);
    sim_dump_graph_reset();
}

/* The child loses the parent's plan, because the parent may have been changing the state when it forked. */
void sim_dump_after_fork(void)
{
    sim_lock_renew(&lock);
    by_program = by_file = false;
    plan_in_force = NULL;
    receiver = NULL;
    arguments_path = NULL;
    watch();
    sim_dump_graph_after_fork();
}
