/* The settings: one parser per setting, and the table of their names, defaults and parsers. Nothing here keeps a state;
 * config.c decides which value is in force. */
#include "config_settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool (*sim_config_check_faults)(const char *text);
bool (*sim_config_check_log)(const char *path);

bool sim_config_parse_number(const char *text, uint64_t *value, const char **end)
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
    if (!sim_config_parse_number(text, &value, &text) || *text != '\0' || value > SIM_DEVICES_MAX)
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

bool sim_config_parse_bytes(const char *text, uint64_t least, uint64_t most, uint64_t *bytes)
{
    uint64_t value;
    if (!sim_config_parse_number(text, &value, &text))
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
    return strcmp(text, "profile") == 0 ||
           sim_config_parse_bytes(text, UINT64_C(2) << 20, UINT64_C(1) << 40, &config->cf_memory);
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
    static const char *const names[] = {"parallel", "eager", "lazy", "random:", "replay:"};
    for (int i = 0; i <= SIM_LAZY; i++)
        if (strcmp(text, names[i]) == 0) {
            config->cf_schedule = (enum sim_schedule)i;
            return true;
        }
    size_t length = strlen("random:");
    bool random = strncmp(text, names[SIM_RANDOM], length) == 0;
    config->cf_schedule = random ? SIM_RANDOM : SIM_REPLAY;
    if (random)
        return sim_config_parse_number(text + length, &config->cf_seed, &text) && *text == '\0';
    return strncmp(text, names[SIM_REPLAY], length) == 0 && sim_config_check_log(text + length);
}

/* "cores", or a number; 0 in the configuration until derive fills it in. */
static bool parse_workers(const char *text, struct sim_config *config)
{
    uint64_t value = 0;
    bool cores = strcmp(text, "cores") == 0, ends = cores || sim_config_parse_number(text, &value, &text);
    if (!cores && (!ends || *text != '\0' || value == 0 || value > SIM_WORKERS_MAX))
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
    config->cf_clock_model = strcmp(text, "model") == 0;
    return config->cf_clock_model || strcmp(text, "wall") == 0;
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

static const char *const checks[] = {"memory", "race", "init", "sync", "leak", "deadlock"};
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

/* "none", or a number with a unit. */
static bool parse_watchdog(const char *text, struct sim_config *config)
{
    const uint64_t second = UINT64_C(1000000000), day = 86400 * second;
    uint64_t value = 0;
    config->cf_watchdog = 0;
    if (strcmp(text, "none") == 0)
        return true;
    bool ends = sim_config_parse_number(text, &value, &text);
    uint64_t unit = !ends ? 0 : strcmp(text, "s") == 0 ? second : strcmp(text, "ms") == 0 ? second / 1000 : 0;
    if (unit == 0 || value == 0 || value > day / unit)
        return false;
    config->cf_watchdog = value * unit;
    return true;
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

static bool parse_faults(const char *text, struct sim_config *config)
{
    config->cf_faults = strcmp(text, "none") != 0;
    return *text != '\0' && sim_config_check_faults(text);
}

static bool parse_trace(const char *text, struct sim_config *config)
{
    config->cf_trace = strcmp(text, "none") != 0;
    return *text != '\0';
}

static bool parse_trace_limit(const char *text, struct sim_config *config)
{
    return sim_config_parse_bytes(text, UINT64_C(1) << 16, UINT64_C(1) << 40, &config->cf_trace_limit);
}

static bool parse_hccl_time_scale(const char *text, struct sim_config *config)
{
    char *end;
    config->cf_hccl_time_scale = strtod(text, &end);
    return end != text && *end == '\0' && config->cf_hccl_time_scale > 0 && config->cf_hccl_time_scale <= 1;
}

static bool parse_unsupported(const char *text, struct sim_config *config)
{
    config->cf_warns = strcmp(text, "warn") == 0;
    return config->cf_warns || strcmp(text, "error") == 0;
}

#define STRING_OF(macro) #macro
#define NUMBER_OF(macro) STRING_OF(macro)

const struct sim_setting sim_config_settings[SETTINGS] = {
    [DEVICES] = {"devices", "1", "a number from 0 to " NUMBER_OF(SIM_DEVICES_MAX), parse_devices},
    [SOC] = {"soc", "Ascend910B3", NULL, parse_soc},
    [MEMORY] = {"memory", "profile", "\"profile\" or bytes per device, with K, M, G or T after the number, 2M to 1T",
                parse_memory},
    [CANN] = {"cann", "9.1", "\"8.1\", \"8.5\", \"9.0\" or \"9.1\"", parse_cann},
    [SCHEDULE] = {"schedule", "parallel",
                  "\"parallel\", \"eager\", \"lazy\", \"random:<seed>\", or \"replay:<file>\" with the log of a "
                  "schedule",
                  parse_schedule},
    [SCHEDULE_LOG] = {"schedule_log", "none", "\"none\", or a file", parse_path},
    [WORKERS] = {"workers", "cores", "\"cores\" or a number from 1 to " NUMBER_OF(SIM_WORKERS_MAX), parse_workers},
    [VECTORS] = {"vectors", "64", "\"16\", \"32\" or \"64\"", parse_vectors},
    [CLOCK] = {"clock", "wall", "\"wall\" or \"model\"", parse_clock},
    [LIMITS] = {"limits", "default", "\"default\" or \"documented\"", parse_limits},
    [QUEUE] = {"queue", "unbounded", "\"unbounded\" or \"documented\"", parse_queue},
    [CHECK] = {"check", "none",
               "\"none\", \"all\", or some of \"memory\", \"race\", \"init\", \"sync\", \"leak\" and \"deadlock\" with "
               "commas between them",
               parse_check},
    [ON_FINDING] = {"on_finding", "continue", "\"continue\", \"raise\" or \"abort\"", parse_on_finding},
    [FINDINGS] = {"findings", "stderr", "\"stderr\", or a file; one that ends in .json or .sarif has that format",
                  parse_path},
    [SUPPRESS] = {"suppress", "none", "\"none\", or a file of suppressions", parse_path},
    [WATCHDOG] = {"watchdog", "none", "\"none\", or a time such as 30s or 500ms, up to a day", parse_watchdog},
    [POISON] = {"poison", "0", "\"0\" or \"1\"", parse_poison},
    [STRICT] = {"strict", "0", "\"0\" or \"1\"", parse_strict},
    [FAULTS] = {"faults", "none",
                "\"none\", or faults with semicolons between them, such as malloc:3 or task:aicore@stream2#40",
                parse_faults},
    [TRACE] = {"trace", "none", "\"none\", or a file, in whose name %p stands for the number of the process",
               parse_trace},
    [TRACE_LIMIT] = {"trace_limit", "256M", "bytes, with K, M, G or T after the number, 64K to 1T", parse_trace_limit},
    [HCCL_TIME_SCALE] = {"hccl_time_scale", "1", "a number above 0, up to 1", parse_hccl_time_scale},
    [PYTHON] = {"python", "python3", "the name or the path of a Python interpreter", parse_path},
    [UNSUPPORTED] = {"unsupported", "error", "\"error\" or \"warn\"", parse_unsupported},
};
