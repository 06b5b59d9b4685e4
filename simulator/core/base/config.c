/* The configuration: parsing the settings, and publishing them as one immutable snapshot.
 *
 * A value comes from the first source that has it: aclsimConfigure, its environment variable, the file of
 * ACL_SIM_CONFIG, the default. Replaced snapshots are kept (`st_older`), because a reader may still use one, and are
 * used again for the same values, so that their number stays that of the different configurations.
 *
 * `lock` guards the values of aclsimConfigure and the making of snapshots. Readers take the current snapshot with one
 * atomic load. */
#include "config.h"
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

struct setting {
    const char *se_name; /* its environment variable is ACL_SIM_<NAME> */
    const char *se_default;
    const char *se_expected; /* NULL: the names of the chips */
    bool (*se_parse)(const char *text, struct sim_config *config);
};

enum {
    DEVICES, SOC, MEMORY, CANN, SCHEDULE, WORKERS, VECTORS, CLOCK, LIMITS, QUEUE, CHECK, ON_FINDING, FINDINGS,
    SUPPRESS, POISON, STRICT, FAULTS, TRACE, TRACE_LIMIT, PYTHON, UNSUPPORTED, SETTINGS,
};

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

/* ---- one parser per setting ---- */

static bool parse_number(const char *text, uint64_t *value, const char **end)
{
    if (!isdigit((unsigned char)*text))
        return false;
    char *after;
    errno = 0;
    *value = strtoull(text, &after, 10);
    *end = after;
    return errno == 0;
}

static bool parse_devices(const char *text, struct sim_config *config)
{
    uint64_t value;
    if (!parse_number(text, &value, &text) || *text != '\0' || value > SIM_DEVICES_MAX)
        return false;
    config->cf_devices = (uint32_t)value;
    return true;
}

static bool parse_soc(const char *text, struct sim_config *config)
{
    const struct sim_soc *soc = sim_soc_find(text);
    if (soc != NULL)
        config->cf_soc = soc;
    return soc != NULL;
}

/* A number of bytes with K, M, G (or Ki, KiB, KB, ...): all powers of 1024. */
static bool parse_bytes(const char *text, uint64_t least, uint64_t most, uint64_t *bytes)
{
    uint64_t value;
    if (!parse_number(text, &value, &text))
        return false;
    const char *units = "KMGT", *unit = *text != '\0' ? strchr(units, toupper((unsigned char)*text)) : NULL;
    unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    if (unit != NULL) {
        text++;
        text += *text == 'i';
    }
    text += *text == 'B';
    if (*text != '\0' || value > UINT64_MAX >> shift)
        return false;
    *bytes = value << shift;
    return *bytes >= least && *bytes <= most;
}

/* "profile", or a number of bytes. */
static bool parse_memory(const char *text, struct sim_config *config)
{
    config->cf_memory = 0;
    return strcmp(text, "profile") == 0 || parse_bytes(text, UINT64_C(2) << 20, UINT64_C(1) << 40, &config->cf_memory);
}

static bool parse_cann(const char *text, struct sim_config *config)
{
    static const char *const versions[] = {"8.1", "8.5", "9.0", "9.1"};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        if (strcmp(text, versions[i]) == 0) {
            config->cf_cann = (uint32_t)(text[0] - '0') * 100 + (uint32_t)(text[2] - '0');
            return true;
        }
    }
    return false;
}

static bool parse_schedule(const char *text, struct sim_config *config)
{
    config->cf_schedule = strcmp(text, "eager") == 0 ? SIM_EAGER : SIM_PARALLEL;
    return config->cf_schedule == SIM_EAGER || strcmp(text, "parallel") == 0;
}

/* "cores", or a number; 0 in the configuration until derive fills it in. */
static bool parse_workers(const char *text, struct sim_config *config)
{
    uint64_t value = 0;
    bool cores = strcmp(text, "cores") == 0;
    if (!cores && (!parse_number(text, &value, &text) || *text != '\0' || value == 0 || value > SIM_WORKERS_MAX))
        return false;
    config->cf_workers = (uint32_t)value;
    return true;
}

static bool parse_vectors(const char *text, struct sim_config *config)
{
    config->cf_vectors = strcmp(text, "16") == 0 ? 16 : strcmp(text, "32") == 0 ? 32 : 64;
    return config->cf_vectors != 64 || strcmp(text, "64") == 0;
}

static bool parse_clock(const char *text, struct sim_config *config)
{
    (void)config;
    return strcmp(text, "wall") == 0;
}

static bool parse_limits(const char *text, struct sim_config *config)
{
    config->cf_documented_limits = strcmp(text, "documented") == 0;
    return config->cf_documented_limits || strcmp(text, "default") == 0;
}

static bool parse_queue(const char *text, struct sim_config *config)
{
    config->cf_queue = strcmp(text, "documented") == 0;
    return config->cf_queue != 0 || strcmp(text, "unbounded") == 0;
}

static const char *const checks[] = {"memory", "race", "init", "sync", "leak"};
#define CHECKS (sizeof checks / sizeof *checks)

/* "none", "all", or names separated by commas. */
static bool parse_check(const char *text, struct sim_config *config)
{
    config->cf_checks = 0;
    if (strcmp(text, "none") == 0 || strcmp(text, "all") == 0) {
        config->cf_checks = *text == 'a' ? (1u << CHECKS) - 1 : 0;
        return true;
    }
    for (;;) {
        size_t length = strcspn(text, ","), i = 0;
        while (i < CHECKS && (strlen(checks[i]) != length || strncmp(text, checks[i], length) != 0))
            i++;
        if (i == CHECKS)
            return false;
        config->cf_checks |= 1u << i;
        text += length;
        if (*text++ == '\0')
            return true;
    }
}

static bool parse_on_finding(const char *text, struct sim_config *config)
{
    static const char *const names[] = {"continue", "raise", "abort"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            config->cf_on_finding = (enum sim_on_finding)i;
            return true;
        }
    return false;
}

/* Files and programs are opened when they are needed; an error is reported then. */
static bool parse_path(const char *text, struct sim_config *config)
{
    (void)config;
    return *text != '\0';
}

static bool parse_poison(const char *text, struct sim_config *config)
{
    config->cf_poison = strcmp(text, "1") == 0;
    return config->cf_poison || strcmp(text, "0") == 0;
}

/* Libraries for an interpreter read its text. */
static bool parse_strict(const char *text, struct sim_config *config)
{
    (void)config;
    return strcmp(text, "1") == 0 || strcmp(text, "0") == 0;
}

static bool parse_none(const char *text, struct sim_config *config)
{
    (void)config;
    return *text == '\0' || strcmp(text, "none") == 0;
}

static bool parse_trace(const char *text, struct sim_config *config)
{
    config->cf_trace = strcmp(text, "none") != 0;
    return *text != '\0';
}

static bool parse_trace_limit(const char *text, struct sim_config *config)
{
    return parse_bytes(text, UINT64_C(1) << 16, UINT64_C(1) << 40, &config->cf_trace_limit);
}

static bool parse_unsupported(const char *text, struct sim_config *config)
{
    config->cf_warns = strcmp(text, "warn") == 0;
    return config->cf_warns || strcmp(text, "error") == 0;
}

#define STRING_OF(macro) #macro
#define NUMBER_OF(macro) STRING_OF(macro)
#define NOT_YET "\"none\" (watchers are not available yet)"

static const struct setting settings[SETTINGS] = {
    [DEVICES] = {"devices", "1", "a number from 0 to " NUMBER_OF(SIM_DEVICES_MAX), parse_devices},
    [SOC] = {"soc", "Ascend910B3", NULL, parse_soc},
    [MEMORY] = {"memory", "profile", "\"profile\" or bytes per device, with K, M, G or T after the number, 2M to 1T",
                parse_memory},
    [CANN] = {"cann", "9.1", "\"8.1\", \"8.5\", \"9.0\" or \"9.1\"", parse_cann},
    [SCHEDULE] = {"schedule", "parallel",
                  "\"parallel\" or \"eager\" (\"lazy\" and \"random:<seed>\" are not available yet)", parse_schedule},
    [WORKERS] = {"workers", "cores", "\"cores\" or a number from 1 to " NUMBER_OF(SIM_WORKERS_MAX), parse_workers},
    [VECTORS] = {"vectors", "64", "\"16\", \"32\" or \"64\"", parse_vectors},
    [CLOCK] = {"clock", "wall", "\"wall\" (\"model\" is not available yet)", parse_clock},
    [LIMITS] = {"limits", "default", "\"default\" or \"documented\"", parse_limits},
    [QUEUE] = {"queue", "unbounded", "\"unbounded\" or \"documented\"", parse_queue},
    [CHECK] = {"check", "none",
               "\"none\", \"all\", or some of \"memory\", \"race\", \"init\", \"sync\" and \"leak\" with commas "
               "between them (\"deadlock\" is not available yet)",
               parse_check},
    [ON_FINDING] = {"on_finding", "continue", "\"continue\", \"raise\" or \"abort\"", parse_on_finding},
    [FINDINGS] = {"findings", "stderr", "\"stderr\", or a file; one that ends in .json or .sarif has that format",
                  parse_path},
    [SUPPRESS] = {"suppress", "none", "\"none\", or a file of suppressions", parse_path},
    [POISON] = {"poison", "0", "\"0\" or \"1\"", parse_poison},
    [STRICT] = {"strict", "0", "\"0\" or \"1\"", parse_strict},
    [FAULTS] = {"faults", "none", NOT_YET, parse_none},
    [TRACE] = {"trace", "none", "\"none\", or a file, in whose name %p stands for the number of the process",
               parse_trace},
    [TRACE_LIMIT] = {"trace_limit", "256M", "bytes, with K, M, G or T after the number, 64K to 1T", parse_trace_limit},
    [PYTHON] = {"python", "python3", "the name or the path of a Python interpreter", parse_path},
    [UNSUPPORTED] = {"unsupported", "error", "\"error\" or \"warn\"", parse_unsupported},
};

/* The index of a name, or SETTINGS. */
static int find_setting(const char *name)
{
    int index = 0;
    while (index < SETTINGS && strcmp(settings[index].se_name, name) != 0)
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
        append(text, size, "%s%s", i == 0 ? "" : ", ", settings[i].se_name);
}

static void append_expected(char *text, size_t size, const struct setting *setting)
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
    while (parse_number(text, &id, &text) && id < config->cf_devices) {
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

static const char *variable_name(const struct setting *setting, char variable[32])
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
        const char *value = getenv(variable_name(&settings[i], variable));
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
        const struct setting *setting = &settings[i];
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
    if (value != NULL && (strlen(value) >= TEXT_BYTES || !settings[index].se_parse(value, &scratch))) {
        char expected[ERROR_BYTES] = "";
        append_expected(expected, sizeof expected, &settings[index]);
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
