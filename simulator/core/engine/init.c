/* aclInit and aclFinalize: counting initialisations, reading the JSON file, and calling the registered functions.
 *
 * This file owns the list of registered functions and the content of the first file.
 *
 * One recursive lock is held for the whole of aclInit, aclFinalize and each registration, and while callbacks run: a
 * callback may call any of these functions, and other threads wait. It is taken before every other lock. */
#include "init.h"
#include "base/config_file.h"
#include "base/json.h"
#include "base/room.h"
#include "share/exchange.h"
#include "callback.h"
#include "device.h"
#include "engine.h"
#include "limits.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *en_next;
    struct sim_init_callback en_callback;
    void *en_user;
    uint64_t en_called; /* number of the last round that called it */
};

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* guards all variables below */
static _Atomic uint64_t count; /* written under the lock */
static bool initialising; /* an aclInit that a callback calls meanwhile is only counted */
static bool finalized;
static char *text; /* content of the file of the first successful aclInit; later ones must be the same */
static size_t text_size;
static bool has_default; /* the file of this initialisation names a default device */
static struct entry *entries;
static uint64_t rounds;

/* ---- callbacks ---- */

static struct entry **find_entry(const struct sim_init_callback *callback)
{
    struct entry **entry = &entries;
    while (*entry != NULL && ((*entry)->en_callback.ic_type != callback->ic_type ||
                              (*entry)->en_callback.ic_init != callback->ic_init ||
                              (*entry)->en_callback.ic_finalize != callback->ic_finalize))
        entry = &(*entry)->en_next;
    return entry;
}

/* Calls every function of one type and moment, in the order of registration, until one fails. Starts again at the head
 * of the list after each call, because the callback may have changed the list. */
static aclError call_back(aclRegisterCallbackType type, bool is_init, const char *config, size_t size)
{
    uint64_t round = ++rounds;
    struct entry *entry = entries;
    while (entry != NULL) {
        const struct sim_init_callback *callback = &entry->en_callback;
        if (callback->ic_type != type || (callback->ic_init != NULL) != is_init || entry->en_called >= round) {
            entry = entry->en_next;
            continue;
        }
        entry->en_called = round;
        aclError code = is_init ? callback->ic_init(config, size, entry->en_user)
                                : callback->ic_finalize(entry->en_user);
        SIM_ARGUMENT(code == ACL_SUCCESS, code, "a callback registered for type %d returned %d", type, code);
        entry = entries;
    }
    return ACL_SUCCESS;
}

aclError sim_init_register(struct sim_init_callback callback, void *user)
{
    struct entry *entry = malloc(sizeof *entry);
    SIM_ARGUMENT(entry != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for the registration");
    *entry = (struct entry){.en_callback = callback, .en_user = user};
    pthread_mutex_lock(&lock);
    bool is_taken = false;
    struct entry **last = &entries;
    for (; *last != NULL; last = &(*last)->en_next)
        is_taken |= (*last)->en_callback.ic_type == callback.ic_type &&
                    ((*last)->en_callback.ic_init != NULL) == (callback.ic_init != NULL);
    aclError code = ACL_SUCCESS;
    if (is_taken && callback.ic_type != ACL_REG_TYPE_OTHER) {
        free(entry);
        code = sim_refuse(ACL_ERROR_INTERNAL_ERROR, "type is %d, for which a callback is registered already; "
                          "only ACL_REG_TYPE_OTHER (65535) takes several", callback.ic_type);
    } else {
        *last = entry;
        if (callback.ic_init != NULL && count != 0 && !initialising)
            callback.ic_init(text, text_size, user);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

aclError sim_init_unregister(struct sim_init_callback callback)
{
    pthread_mutex_lock(&lock);
    struct entry **link = find_entry(&callback), *entry = *link;
    if (entry != NULL)
        *link = entry->en_next;
    pthread_mutex_unlock(&lock);
    free(entry);
    SIM_ARGUMENT(entry != NULL, ACL_ERROR_INTERNAL_ERROR, "cbFunc is not registered for type %d", callback.ic_type);
    return ACL_SUCCESS;
}

/* ---- the file ---- */

/* Reads a string of digits without leading zeros, whose number is below `limit`. */
static bool read_natural(struct sim_json value, uint64_t limit, uint64_t *number)
{
    const char *at = value.js_start;
    if (value.js_kind != SIM_JSON_STRING || at == value.js_end || (*at == '0' && value.js_end - at > 1))
        return false;
    for (*number = 0; at < value.js_end; at++) {
        if (*at < '0' || *at > '9' || (*number = *number * 10 + (uint64_t)(*at - '0')) >= limit)
            return false;
    }
    return true;
}

/* Reads a switch, the string "0" or "1". *is_on stays unchanged if the file lacks it. */
static aclError read_switch(struct sim_json object, const char *name, bool *is_on)
{
    struct sim_json value;
    uint64_t number;
    if (!sim_json_member(object, name, &value))
        return ACL_SUCCESS;
    SIM_ARGUMENT(read_natural(value, 2, &number), ACL_ERROR_INVALID_PARAM,
                 "%s in the file of configPath is %.*s, expected the string \"0\" or \"1\"", name, SIM_SHOWN(value));
    *is_on = number != 0;
    return ACL_SUCCESS;
}

static aclError read_default_device(struct sim_json root)
{
    struct sim_json object, value;
    uint64_t id = 0;
    if (!sim_json_member(root, "defaultDevice", &object))
        return ACL_SUCCESS;
    SIM_ARGUMENT(object.js_kind == SIM_JSON_OBJECT, ACL_ERROR_FAILURE,
                 "defaultDevice in the file of configPath is %.*s, expected an object", SIM_SHOWN(object));
    if (!sim_json_member(object, "default_device", &value))
        return ACL_SUCCESS;
    SIM_ARGUMENT(read_natural(value, INT32_MAX, &id), ACL_ERROR_FAILURE,
                 "defaultDevice.default_device in the file of configPath is %.*s, expected a device id as a string, "
                 "such as \"0\"", SIM_SHOWN(value));
    sim_device_set_default((int32_t)id);
    has_default = true;
    return ACL_SUCCESS;
}

struct size_name {
    const char *sn_name;
    aclrtDeviceLimit sn_limit;
};

/* An invalid stack size only leaves a message, as with the vendor. */
static aclError apply_stack(struct sim_json stacks, const struct size_name *size)
{
    struct sim_json value;
    if (!sim_json_member(stacks, size->sn_name, &value))
        return ACL_SUCCESS;
    SIM_ARGUMENT(value.js_kind == SIM_JSON_NUMBER, ACL_ERROR_FAILURE,
                 "StackSize.%s in the file of configPath is \"%.*s\", expected a number", size->sn_name,
                 SIM_SHOWN(value));
    if (sim_limits_has(size->sn_limit))
        (void)sim_limits_set_size(size->sn_limit, strtoull(value.js_start, NULL, 10), size->sn_name);
    return ACL_SUCCESS;
}

static aclError apply_buffer(struct sim_json root, const struct size_name *size)
{
    struct sim_json value;
    if (!sim_json_member(root, size->sn_name, &value))
        return ACL_SUCCESS;
    bool is_positive = value.js_kind == SIM_JSON_NUMBER;
    for (const char *at = value.js_start; is_positive && at < value.js_end; at++)
        is_positive = *at >= '0' && *at <= '9';
    SIM_ARGUMENT(is_positive && *value.js_start != '0', ACL_ERROR_FAILURE,
                 "%s in the file of configPath is \"%.*s\", expected a positive whole number", size->sn_name,
                 SIM_SHOWN(value));
    return sim_limits_has(size->sn_limit)
               ? sim_limits_set_size(size->sn_limit, strtoull(value.js_start, NULL, 10), size->sn_name)
               : ACL_SUCCESS;
}

/* Sets the sizes of stacks and print buffers. Chips without them ignore the values. */
static aclError apply_sizes(struct sim_json root)
{
    static const struct size_name stacks[] = {
        {"aicore_stack_size", ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE},
        {"simt_stack_size", ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE},
        {"simt_divergence_stack_size", ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE},
    };
    static const struct size_name buffers[] = {
        {"simd_printf_fifo_size_per_core", ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE},
        {"simt_printf_fifo_size", ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE},
    };
    struct sim_json object;
    if (sim_json_member(root, "StackSize", &object)) {
        SIM_ARGUMENT(object.js_kind == SIM_JSON_OBJECT, ACL_ERROR_FAILURE,
                     "StackSize in the file of configPath is %.*s, expected an object", SIM_SHOWN(object));
        for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++)
            SIM_TRY(apply_stack(object, &stacks[i]));
    }
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        SIM_TRY(apply_buffer(root, &buffers[i]));
    return ACL_SUCCESS;
}

/* Checks only that the member is an object; another room reads it. */
static aclError check_object(struct sim_json root, const char *name, aclError code)
{
    struct sim_json value;
    SIM_ARGUMENT(!sim_json_member(root, name, &value) || value.js_kind == SIM_JSON_OBJECT, code,
                 "%s in the file of configPath is \"%.*s\", expected an object", name, SIM_SHOWN(value));
    return ACL_SUCCESS;
}

static aclError apply_file(struct sim_json root, const char *content, size_t size)
{
    struct sim_json value;
    uint64_t number;
    bool ignored;
    SIM_TRY(check_object(root, "dump", ACL_ERROR_INVALID_DUMP_CONFIG));
    if (sim_json_member(root, "dump", &value))
        SIM_TRY(sim_room_configure("dump", value));
    SIM_ARGUMENT(!sim_json_member(root, "max_opqueue_num", &value) ||
                     (read_natural(value, UINT32_MAX, &number) && number != 0),
                 ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG,
                 "max_opqueue_num in the file of configPath is %.*s, expected a positive number as a string",
                 SIM_SHOWN(value));
    SIM_TRY(call_back(ACL_REG_TYPE_ACL_OP_EXECUTOR, true, content, size));
    SIM_TRY(read_default_device(root));
    SIM_TRY(apply_sizes(root));
    return sim_json_member(root, "acl_graph", &value) ? read_switch(value, "event_mode", &ignored) : ACL_SUCCESS;
}

/* The first initialisation, or the first after a finalisation. If a step fails, the effects of earlier steps stay. */
static aclError initialise(const char *path, const char *content, size_t size)
{
    struct sim_json root;
    bool is_shared = false;
    SIM_ARGUMENT(text == NULL || (size == text_size && memcmp(content, text, size) == 0), ACL_ERROR_INVALID_PARAM,
                 "configPath is \"%s\", whose content differs from that of the first aclInit of this process", path);
    SIM_TRY(sim_config_file_parse(content, size, "configPath", &root));
    SIM_TRY(read_switch(root, "err_msg_mode", &is_shared));
    sim_fail_share(is_shared);
    SIM_TRY(call_back(ACL_REG_TYPE_ACL_MODEL, true, content, size));
    if (*path != '\0')
        SIM_TRY(apply_file(root, content, size));
    SIM_TRY(check_object(root, "profiler", ACL_ERROR_INVALID_PROFILING_CONFIG));
    struct sim_json profiler;
    if (sim_json_member(root, "profiler", &profiler))
        SIM_TRY(sim_room_configure("profiler", profiler));
    SIM_TRY(call_back(ACL_REG_TYPE_ACL_DVPP, true, content, size));
    return call_back(ACL_REG_TYPE_OTHER, true, content, size);
}

static aclError init_locked(const char *path)
{
    if (count != 0 || initialising) {
        count++;
        return sim_notice(ACL_ERROR_REPEAT_INITIALIZE, "it was called before; this call is counted (now %llu) and "
                          "configPath is ignored, so the code may be ignored too", (unsigned long long)count);
    }
    char *content = NULL;
    size_t size = 0;
    SIM_TRY(sim_config_file_read(path, "configPath", &content, &size));
    initialising = true;
    aclError code = initialise(path, content, size);
    initialising = false;
    count = code == ACL_SUCCESS ? count + 1 : 0;
    if (code == ACL_SUCCESS)
        finalized = false;
    if (code == ACL_SUCCESS && text == NULL) {
        text = content;
        text_size = size;
    } else {
        free(content);
    }
    return code;
}

bool sim_init_is_done(void)
{
    return count != 0;
}

aclError sim_init(const char *path)
{
    pthread_mutex_lock(&lock);
    aclError code = init_locked(path != NULL ? path : "");
    pthread_mutex_unlock(&lock);
    return code;
}

static aclError finalize_locked(void)
{
    SIM_ARGUMENT(!finalized, ACL_ERROR_REPEAT_FINALIZE, "it was called before, and aclInit was not called since");
    SIM_TRY(call_back(ACL_REG_TYPE_ACL_OP_COMPILER, false, NULL, 0));
    SIM_TRY(call_back(ACL_REG_TYPE_ACL_MODEL, false, NULL, 0));
    SIM_TRY(call_back(ACL_REG_TYPE_ACL_DVPP, false, NULL, 0));
    if (has_default)
        sim_device_set_default(-1);
    has_default = false;
    SIM_TRY(call_back(ACL_REG_TYPE_OTHER, false, NULL, 0));
    sim_room_finalize();
    count = 0;
    finalized = true;
    return ACL_SUCCESS;
}

/* The program may unload the library now, so idle threads end. This does not wait for busy threads, because a task or a
 * callback may wait for the calling thread. The lock is not held, because a function on such a thread may need it. */
static void rest(void)
{
    sim_callback_rest();
    sim_exchange_rest();
    sim_worker_rest();
}

aclError sim_init_finalize(void)
{
    pthread_mutex_lock(&lock);
    aclError code = finalize_locked();
    pthread_mutex_unlock(&lock);
    if (code == ACL_SUCCESS)
        rest();
    return code;
}

aclError sim_init_release(uint64_t *left)
{
    pthread_mutex_lock(&lock);
    aclError code = ACL_SUCCESS;
    if (count > 1)
        count--;
    else if (count == 1)
        code = finalize_locked();
    else
        code = sim_refuse(ACL_ERROR_REPEAT_FINALIZE, "there is no initialisation left to release");
    bool ends = code == ACL_SUCCESS && count == 0;
    if (left != NULL)
        *left = count;
    pthread_mutex_unlock(&lock);
    if (ends)
        rest();
    return code;
}

void sim_init_reset(void)
{
    pthread_mutex_lock(&lock);
    while (entries != NULL) {
        struct entry *entry = entries;
        entries = entry->en_next;
        free(entry);
    }
    free(text);
    text = NULL;
    text_size = 0;
    count = 0;
    finalized = false;
    initialising = false;
    has_default = false;
    pthread_mutex_unlock(&lock);
}

void sim_init_after_fork(void)
{
    lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    sim_init_reset();
}
