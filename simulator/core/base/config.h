/* The configuration, and the profiles of the chips. It is read from the environment at the first use, and can be
 * changed by aclsimConfigure until the first device opens. */
#ifndef SIM_CONFIG_H
#define SIM_CONFIG_H

#include "fail.h"

#define SIM_DEVICES_MAX 16
#define SIM_WORKERS_MAX 64
#define SIM_DEVICE_IDS 64 /* queries of a device's state accept ids below this, even of missing devices */

/* From SIM_LAZY on, tasks are held back (engine/schedule.h). */
enum sim_schedule { SIM_PARALLEL, SIM_EAGER, SIM_LAZY, SIM_RANDOM, SIM_REPLAY };

/* Families of chips with the same behaviour. */
enum sim_profile { SIM_P950, SIM_PA3, SIM_PA2, SIM_P310B, SIM_P310P, SIM_P910 };

struct sim_soc {
    const char *so_name, *so_short, *so_aic;
    enum sim_profile so_profile;
    uint32_t so_ai_core, so_cube_core, so_vector_core, so_ai_cpu;
    uint64_t so_memory; /* bytes; 0: unknown */
    uint64_t so_l2;
    uint32_t so_mhz;    /* of cube and vector cores */
    uint32_t so_ub;     /* bytes of unified buffer per core */
    uint32_t so_ddr;    /* bytes that an AI core reads from the device's memory, or writes, in one cycle */
};

/* All chips that have a profile, sorted by name (soc.c). */
extern const struct sim_soc sim_socs[];
extern const size_t sim_soc_count;

/* Finds a chip by its name, or returns NULL. */
const struct sim_soc *sim_soc_find(const char *name);

/* What all chips of a family have in common. */
struct sim_family {
    const char *fa_name;
    uint32_t fa_streams, fa_events; /* documented limits */
    uint32_t fa_queue;              /* pending tasks of a stream above which a submitter waits */
    uint32_t fa_timeout_ms;         /* default time-out of an operator on the AI core */
    uint32_t fa_interval_us;        /* such time-outs are multiples of it */
    uint32_t fa_arch;               /* an aclplatformNpuArch */
    bool fa_hbm;                    /* high-bandwidth memory, not DDR */
};
const struct sim_family *sim_soc_family(const struct sim_soc *soc);

/* What the checkers look for (the setting "check"). */
enum sim_check {
    SIM_CHECK_MEMORY = 1,
    SIM_CHECK_RACE = 2,
    SIM_CHECK_INIT = 4,
    SIM_CHECK_SYNC = 8,
    SIM_CHECK_LEAK = 16,
    SIM_CHECK_DEADLOCK = 32,
    SIM_CHECK_STRICT = 1 << 16, /* ignored codes: the setting "strict" */
};

/* What happens after a finding has been reported. */
enum sim_on_finding { SIM_FINDING_CONTINUES, SIM_FINDING_RAISES, SIM_FINDING_ABORTS };

struct sim_config {
    const struct sim_soc *cf_soc;
    uint64_t cf_memory;           /* bytes per device */
    uint32_t cf_devices;          /* before ASCEND_RT_VISIBLE_DEVICES */
    uint32_t cf_visible_count;    /* devices that the program sees */
    int32_t cf_visible[SIM_DEVICES_MAX]; /* their logical ids, ascending */
    bool cf_visible_bad;          /* the variable is set, but is not a usable list: no device is visible */
    uint32_t cf_cann;             /* major * 100 + minor: 901 is 9.1 */
    enum sim_schedule cf_schedule;
    uint64_t cf_seed;             /* of SIM_RANDOM */
    uint32_t cf_workers;          /* threads that run streams in the parallel schedule */
    bool cf_documented_limits;    /* the small documented limits instead of the generous ones */
    uint32_t cf_max_streams, cf_max_events, cf_max_threads; /* from profile and limits */
    uint32_t cf_queue;            /* pending tasks of a stream above which a submitter waits; 0: no limit */
    const char *cf_python;        /* the program that runs ONNX models for programs without Python */
    bool cf_hbm;                  /* high-bandwidth memory, not DDR */
    bool cf_warns;                /* calls of functions without behaviour are also reported on stderr */
    uint32_t cf_checks;           /* enum sim_check, as bits */
    uint64_t cf_watchdog;         /* nanoseconds without progress after which waits are reported; 0: never */
    enum sim_on_finding cf_on_finding;
    bool cf_poison;               /* new memory is filled with a pattern */
    bool cf_trace;                /* calls and tasks are traced */
    bool cf_clock_model;          /* times of tasks are computed (observe/clock_model.h), not measured */
    bool cf_faults;               /* there are faults (observe/fault.h) */
    uint64_t cf_trace_limit;      /* bytes of the buffers of a trace */
    double cf_hccl_time_scale;    /* time-outs of collective communication are multiplied by it */
    uint32_t cf_vectors;          /* bytes of the widest vectors that operators use: 16, 32 or 64 */
};

extern const struct sim_config *_Atomic sim_config_current;
const struct sim_config *sim_config_load(void);

/* The configuration in force. The pointer stays valid even if a later configuration replaces it. For an invalid
 * environment variable the default is used, and sim_config_check reports it. */
static inline const struct sim_config *sim_config(void)
{
    const struct sim_config *config = atomic_load_explicit(&sim_config_current, memory_order_acquire);
    return likely(config != NULL) ? config : sim_config_load();
}

/* The number of devices that the program sees; their ids are 0 to this number - 1. */
static inline uint32_t sim_config_devices(void)
{
    return sim_config()->cf_visible_count;
}
/* Returns 107001 unless `id` is the id of a visible device. */
aclError sim_config_check_device(int32_t id);

/* Returns 100000, with a message, if an environment variable is invalid. Called when a device opens. */
aclError sim_config_check(void);

/* aclsimConfigure: sets a value by its lower-case name ("soc", "memory", ...); NULL restores the environment's. The
 * caller checks that no device is open. Returns 100000 for an invalid name or value. */
aclError sim_config_set(const char *name, const char *value);

/* aclsimGetConfig: the text of a value in force. Returns 100000 for an unknown name or a buffer that is too short. */
aclError sim_config_get(const char *name, char *text, size_t size);

/* aclsimReset: drops the values of aclsimConfigure and reads the environment again. */
void sim_config_reset(void);
void sim_config_after_fork(void);

#endif
