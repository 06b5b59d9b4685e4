/* The configuration: collecting the values of the settings, and publishing them as one immutable snapshot.
 *
 * A value comes from the first source that has it: aclsimConfigure, its environment variable, the file of
 * ACL_SIM_CONFIG, the default. Replaced snapshots are kept (`st_older`), because a reader may still use one, and are
 * used again for the same values, so that their number stays that of the different configurations.
 *
 * `lock` guards the values of aclsimConfigure and the making of snapshots. Readers take the current snapshot with one
 * atomic load. */
#include "config.h"
#include "config_settings.h"
#include "thread.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_BYTES 512 /* of a value, which may be a path */
#define ERROR_BYTES 800
#define DEFAULT_MEMORY (UINT64_C(16) << 30) /* of a chip whose memory is unknown */

struct snapshot {
    struct sim_config st_config; /* first: the public pointer points here */
    struct snapshot *st_older;
    char st_text[SETTINGS][TEXT_BYTES];
    char st_error[ERROR_BYTES]; /* about the first invalid variable; "": none */
};

const struct sim_config *_Atomic sim_config_current;
static struct sim_lock lock;
static struct snapshot *newest;
static bool has_override[SETTINGS];
static char overrides[SETTINGS][TEXT_BYTES];

/* The index of a name, or SETTINGS. */
static int find_setting(const char *name)
{
    int index = 0;
    while (index < SETTINGS && strcmp(sim_config_settings[index].se_name, name) != 0)
        index++;
    return index;
}

/* ---- messages ---- */

/* Appends to a text of `size` bytes; cuts it if it does not fit. */
__attribute__((format(printf, 3, 4)))
static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

static void append_names(char *text, size_t size)
{
    for (int i = 0; i < SETTINGS; i++)
        append(text, size, "%s%s", i == 0 ? "" : ", ", sim_config_settings[i].se_name);
}

static void append_expected(char *text, size_t size, const struct sim_setting *setting)
{
    if (setting->se_expected != NULL) {
        append(text, size, "expected %s", setting->se_expected);
        return;
    }
    append(text, size, "expected ");
    for (size_t i = 0; i < sim_soc_count; i++)
        append(text, size, "%s%s", i == 0 ? "" : ", ", sim_socs[i].so_name);
}

/* ---- making a snapshot ---- */

static char *strip(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

enum source { NOWHERE, IN_FILE, IN_ENVIRONMENT };

/* Reads the lines `name = value` of ACL_SIM_CONFIG's file; `#` begins a comment. */
static void read_file(const char *path, char values[SETTINGS][TEXT_BYTES], enum source found[SETTINGS], char *error)
{
    struct stat status = {.st_mode = S_IFREG};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is refused without waiting */
    bool is_file = descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    FILE *file = is_file ? fdopen(descriptor, "r") : NULL;
    if (file == NULL) {
        append(error, ERROR_BYTES, "ACL_SIM_CONFIG is \"%s\", which cannot be read: %s", path,
               S_ISREG(status.st_mode) ? strerror(errno) : "it is not a regular file");
        if (descriptor >= 0)
            close(descriptor);
        return;
    }
    char line[512];
    for (int number = 1; error[0] == '\0' && fgets(line, sizeof line, file) != NULL; number++) {
        line[strcspn(line, "#\n")] = '\0';
        char *name = strip(line), *equals = strchr(name, '=');
        if (*name == '\0')
            continue;
        if (equals != NULL) {
            *equals = '\0';
            name = strip(name);
        }
        char *value = equals != NULL ? strip(equals + 1) : NULL;
        int index = value != NULL ? find_setting(name) : SETTINGS;
        if (index == SETTINGS) {
            append(error, ERROR_BYTES, "%s:%d: \"%s\" is not \"name = value\" with a name of ", path, number, name);
            append_names(error, ERROR_BYTES);
        } else {
            snprintf(values[index], TEXT_BYTES, "%s", value);
            found[index] = IN_FILE;
        }
    }
    if (error[0] == '\0' && ferror(file) != 0)
        append(error, ERROR_BYTES, "ACL_SIM_CONFIG is \"%s\", which cannot be read: %s", path, strerror(errno));
    fclose(file);
}

/* ASCEND_RT_VISIBLE_DEVICES: ascending logical ids, separated by commas. Reading stops at the first item that is not an
 * id. A repeated or descending id, or an empty list, leaves no device. */
static void read_visible(struct sim_config *config)
{
    const char *text = getenv("ASCEND_RT_VISIBLE_DEVICES");
    if (text == NULL) {
        for (uint32_t i = 0; i < config->cf_devices; i++)
            config->cf_visible[i] = (int32_t)i;
        config->cf_visible_count = config->cf_devices;
        return;
    }
    uint64_t id;
    while (sim_config_parse_number(text, &id, &text) && id < config->cf_devices) {
        bool ascends = config->cf_visible_count == 0 || (int32_t)id > config->cf_visible[config->cf_visible_count - 1];
        if (!ascends) {
            config->cf_visible_count = 0;
            break;
        }
        if (*text != ',' && *text != '\0') /* "1 ,2" keeps 1: the id before the invalid character counts */
            text = "";
        config->cf_visible[config->cf_visible_count++] = (int32_t)id;
        text += *text == ',';
    }
    config->cf_visible_bad = config->cf_visible_count == 0;
}

static const char *variable_name(const struct sim_setting *setting, char variable[32])
{
    char *end = stpcpy(variable, "ACL_SIM_");
    for (const char *c = setting->se_name; *c != '\0'; c++)
        *end++ = (char)toupper((unsigned char)*c);
    *end = '\0';
    return variable;
}

static void read_environment(char values[SETTINGS][TEXT_BYTES], enum source found[SETTINGS], char *error)
{
    const char *path = getenv("ACL_SIM_CONFIG");
    if (path != NULL && *path != '\0')
        read_file(path, values, found, error);
    for (int i = 0; i < SETTINGS; i++) {
        char variable[32];
        const char *value = getenv(variable_name(&sim_config_settings[i], variable));
        if (value != NULL && *value != '\0') {
            snprintf(values[i], TEXT_BYTES, "%s", value);
            found[i] = IN_ENVIRONMENT;
        }
    }
}

/* As many workers as the process has CPUs: more would only compete for them. Two at least, so that a long task holds up
 * no other stream. */
static uint32_t workers_by_cores(void)
{
    uint32_t cpus = sim_thread_cpus();
    return cpus < 2 ? 2 : cpus < SIM_WORKERS_MAX ? cpus : SIM_WORKERS_MAX;
}

/* Fills in the values that follow from the others and from the profile. */
static void derive(struct snapshot *snapshot)
{
    struct sim_config *config = &snapshot->st_config;
    const struct sim_family *family = sim_soc_family(config->cf_soc);
    if (config->cf_memory == 0)
        config->cf_memory = config->cf_soc->so_memory != 0 ? config->cf_soc->so_memory : DEFAULT_MEMORY;
    if (config->cf_workers == 0)
        config->cf_workers = workers_by_cores();
    config->cf_max_streams = config->cf_documented_limits ? family->fa_streams : 32768;
    config->cf_max_events = config->cf_documented_limits ? family->fa_events : 65536;
    config->cf_max_threads = 1024;
    config->cf_queue = config->cf_queue != 0 ? family->fa_queue : 0;
    config->cf_hbm = family->fa_hbm;
    read_visible(config);
    snprintf(snapshot->st_text[MEMORY], TEXT_BYTES, "%llu", (unsigned long long)config->cf_memory);
    snprintf(snapshot->st_text[WORKERS], TEXT_BYTES, "%u", config->cf_workers);
}

/* The kept snapshot with the same values, or NULL. Both were zeroed when allocated, so that their bytes can be
 * compared. */
static struct snapshot *find_equal(struct snapshot *fresh)
{
    for (struct snapshot *kept = newest; kept != NULL; kept = kept->st_older) {
        fresh->st_config.cf_python = kept->st_config.cf_python;
        if (memcmp(&fresh->st_config, &kept->st_config, sizeof fresh->st_config) == 0 &&
            memcmp(fresh->st_text, kept->st_text, sizeof fresh->st_text) == 0 &&
            memcmp(fresh->st_error, kept->st_error, sizeof fresh->st_error) == 0)
            return kept;
    }
    return NULL;
}

/* With the lock held: publishes the snapshot, or an equal one that was kept. */
static const struct sim_config *publish(struct snapshot *fresh)
{
    struct snapshot *snapshot = find_equal(fresh);
    if (snapshot != NULL) {
        free(fresh);
    } else {
        snapshot = fresh;
        snapshot->st_config.cf_python = snapshot->st_text[PYTHON];
        snapshot->st_older = newest;
        newest = snapshot;
    }
    atomic_store_explicit(&sim_config_current, &snapshot->st_config, memory_order_release);
    return &snapshot->st_config;
}

/* With the lock held: makes the snapshot of the values in force. */
static const struct sim_config *build(void)
{
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (snapshot == NULL) {
        fputs("acl simulator: no memory for its configuration\n", stderr);
        abort();
    }
    char values[SETTINGS][TEXT_BYTES];
    enum source found[SETTINGS] = {NOWHERE};
    read_environment(values, found, snapshot->st_error);
    for (int i = 0; i < SETTINGS; i++) {
        const struct sim_setting *setting = &sim_config_settings[i];
        const char *text = has_override[i] ? overrides[i] : found[i] != NOWHERE ? values[i] : setting->se_default;
        if (!setting->se_parse(text, &snapshot->st_config)) {
            if (snapshot->st_error[0] == '\0') {
                char variable[32];
                append(snapshot->st_error, ERROR_BYTES, "%s is \"%s\", ",
                       found[i] == IN_FILE ? setting->se_name : variable_name(setting, variable), text);
                append_expected(snapshot->st_error, ERROR_BYTES, setting);
            }
            text = setting->se_default;
            setting->se_parse(text, &snapshot->st_config);
        }
        snprintf(snapshot->st_text[i], TEXT_BYTES, "%.*s", TEXT_BYTES - 1, *text != '\0' ? text : setting->se_default);
    }
    derive(snapshot);
    return publish(snapshot);
}

const struct sim_config *sim_config_load(void)
{
    sim_lock(&lock);
    const struct sim_config *config = atomic_load_explicit(&sim_config_current, memory_order_relaxed);
    if (config == NULL)
        config = build();
    sim_unlock(&lock);
    return config;
}

aclError sim_config_check(void)
{
    const struct snapshot *snapshot = (const struct snapshot *)sim_config();
    SIM_ARGUMENT(snapshot->st_error[0] == '\0', ACL_ERROR_INVALID_PARAM, "%s", snapshot->st_error);
    return ACL_SUCCESS;
}

aclError sim_config_check_device(int32_t id)
{
    uint32_t count = sim_config_devices();
    SIM_CHECK(id >= 0 && (uint32_t)id < count, ACL_ERROR_RT_INVALID_DEVICEID,
              "deviceId is %d, expected 0 to %d (%u devices)", id, (int)count - 1, count);
    return ACL_SUCCESS;
}

static aclError refuse_name(const char *name)
{
    char names[256] = "";
    append_names(names, sizeof names);
    return sim_refuse(ACL_ERROR_INVALID_PARAM, "name is \"%s\", expected one of %s", name, names);
}

aclError sim_config_set(const char *name, const char *value)
{
    int index = find_setting(name);
    if (index == SETTINGS)
        return refuse_name(name);
    struct sim_config scratch = *sim_config();
    if (value != NULL && (strlen(value) >= TEXT_BYTES || !sim_config_settings[index].se_parse(value, &scratch))) {
        char expected[ERROR_BYTES] = "";
        append_expected(expected, sizeof expected, &sim_config_settings[index]);
        return sim_refuse(ACL_ERROR_INVALID_PARAM, "%s is \"%.64s\", %s", name, value, expected);
    }
    sim_lock(&lock);
    has_override[index] = value != NULL;
    if (value != NULL)
        strcpy(overrides[index], value);
    build();
    sim_unlock(&lock);
    return ACL_SUCCESS;
}

aclError sim_config_get(const char *name, char *text, size_t size)
{
    int index = find_setting(name);
    if (index == SETTINGS)
        return refuse_name(name);
    const char *value = ((const struct snapshot *)sim_config())->st_text[index];
    SIM_ARGUMENT(strlen(value) < size, ACL_ERROR_INVALID_PARAM,
                 "length is %zu, expected at least %zu for the value of %s", size, strlen(value) + 1, name);
    strcpy(text, value);
    return ACL_SUCCESS;
}

void sim_config_reset(void)
{
    sim_lock(&lock);
    memset(has_override, 0, sizeof has_override);
    build();
    sim_unlock(&lock);
}

void sim_config_after_fork(void)
{
    sim_lock_renew(&lock);
}
