/* The table of the settings, for config.c. */
#ifndef SIM_CONFIG_SETTINGS_H
#define SIM_CONFIG_SETTINGS_H

#include "config.h"

struct sim_setting {
    const char *se_name; /* its environment variable is ACL_SIM_<NAME> */
    const char *se_default;
    const char *se_expected; /* NULL: the names of the chips */
    bool (*se_parse)(const char *text, struct sim_config *config);
};

enum {
    DEVICES, SOC, MEMORY, CANN, SCHEDULE, SCHEDULE_LOG, WORKERS, VECTORS, CLOCK, LIMITS, QUEUE, CHECK, ON_FINDING,
    FINDINGS, SUPPRESS, WATCHDOG, POISON, STRICT, FAULTS, TRACE, TRACE_LIMIT, HCCL_TIME_SCALE, PYTHON, UNSUPPORTED,
    SETTINGS,
};

extern const struct sim_setting sim_config_settings[SETTINGS];

/* Reads decimal digits, and sets `end` behind them. False without a digit, and for a number above 64 bits. */
bool sim_config_parse_number(const char *text, uint64_t *value, const char **end);

/* A number of bytes from `least` to `most`, with K, M, G or T behind it (or Ki, KiB, KB, ...): all powers of 1024. */
bool sim_config_parse_bytes(const char *text, uint64_t least, uint64_t most, uint64_t *bytes);

/* Whether a text is a list of faults, and whether a file is the log of a schedule. Set by simulator.c when the library
 * is loaded. */
extern bool (*sim_config_check_faults)(const char *text);
extern bool (*sim_config_check_log)(const char *path);

#endif
