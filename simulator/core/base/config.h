/* Configuration and the profiles of the chips. Read from the environment at first use, changed by aclsimConfigure until
 * the first device opens. */
#ifndef SIM_CONFIG_H
#define SIM_CONFIG_H

#include "fail.h"

#define SIM_DEVICES_MAX 16
#define SIM_DEVICE_IDS 64 /* ids below are taken by queries of a device's state, whether the device is there or not */

enum sim_schedule { SIM_PARALLEL, SIM_EAGER };

/* Families of chips, as the behaviour rules name them. */
enum sim_profile { SIM_P950, SIM_PA3, SIM_PA2, SIM_P310B, SIM_P310P, SIM_P910 };

struct sim_soc {
    const char *so_name, *so_short, *so_aic;
    enum sim_profile so_profile;
    uint32_t so_ai_core, so_cube_core, so_vector_core, so_ai_cpu;
    uint64_t so_memory; /* bytes; 0: not stated in the facts */
    uint64_t so_l2;
    uint32_t so_mhz;    /* of the cores; vector cores are not stated apart */
    uint32_t so_ub;     /* bytes of unified buffer a core */
};

/* Every chip that has a profile, by name; soc.c. */
extern const struct sim_soc sim_socs[];
extern const size_t sim_soc_count;

/* NULL when no chip has that name. */
const struct sim_soc *sim_soc_find(const char *name);

/* What the profile says, whatever the chip. */
struct sim_family {
    const char *fa_name;
    uint32_t fa_streams, fa_events; /* the documented limits */
    uint32_t fa_queue;              /* tasks a stream holds before a submitter waits */
    uint32_t fa_timeout_ms;         /* of an operator on the AI core, by default */
    uint32_t fa_interval_us;        /* of which such time-outs are multiples */
    uint32_t fa_arch;               /* an aclplatformNpuArch */
    bool fa_hbm;                    /* high-bandwidth memory, not DDR */
};
const struct sim_family *sim_soc_family(const struct sim_soc *soc);

struct sim_config {
    const struct sim_soc *cf_soc;
    uint64_t cf_memory;           /* bytes a device */
    uint32_t cf_devices;          /* before ASCEND_RT_VISIBLE_DEVICES */
    uint32_t cf_visible_count;    /* devices the user sees */
    int32_t cf_visible[SIM_DEVICES_MAX]; /* logical id of each of them, ascending */
    bool cf_visible_bad;          /* the variable is set and names no usable list: no device at all */
    uint32_t cf_cann;             /* major * 100 + minor: 901 is 9.1 */
    enum sim_schedule cf_schedule;
    bool cf_documented_limits;    /* the small documented limits instead of the generous ones */
    uint32_t cf_max_streams, cf_max_events, cf_max_threads; /* of the chosen profile and limits */
    uint32_t cf_queue;            /* tasks pending in a stream before its submitter waits; 0: unbounded */
    const char *cf_python;        /* runs ONNX models of programs without Python */
    bool cf_hbm;                  /* high-bandwidth memory, not DDR */
    bool cf_warns;                /* a call of a function that is not there is also told on stderr */
};

extern const struct sim_config *_Atomic sim_config_current;
const struct sim_config *sim_config_load(void);

/* The configuration in force; valid for the life of the process, though a later one may have replaced it. A bad
 * environment is reported by sim_config_check, and the default is used for it. */
static inline const struct sim_config *sim_config(void)
{
    const struct sim_config *config = atomic_load_explicit(&sim_config_current, memory_order_acquire);
    return likely(config != NULL) ? config : sim_config_load();
}

/* Devices that the user sees; their ids are the numbers below. */
static inline uint32_t sim_config_devices(void)
{
    return sim_config()->cf_visible_count;
}
aclError sim_config_check_device(int32_t id); /* 107001 */

/* 0, or 100000 with the message of the first wrong environment variable. Called when a device opens. */
aclError sim_config_check(void);

/* aclsimConfigure: one value by its lower-case name ("soc", "memory", ...); NULL value: back to the environment's.
 * Whether that is still allowed is the caller's to know. 100000. */
aclError sim_config_set(const char *name, const char *value);

/* Text of one value in force, as aclsimGetConfig returns it; 100000 for an unknown name or a short buffer. */
aclError sim_config_get(const char *name, char *text, size_t size);

/* Back to the environment, which is read again (aclsimReset). */
void sim_config_reset(void);
void sim_config_after_fork(void);

#endif
