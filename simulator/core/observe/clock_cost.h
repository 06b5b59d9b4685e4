/* How long tasks take by the clock model (clock_model.h); docs/clock.rst explains the formula and the sources of its
 * figures. There is no state and no lock. */
#ifndef SIM_CLOCK_COST_H
#define SIM_CLOCK_COST_H

#include "engine/task.h"

#define SIM_CLOCK_LAUNCH 5000 /* nanoseconds that starting a task takes, on every chip: an assumption */
#define SIM_CLOCK_LINK 32     /* bytes per nanosecond between host and device: PCIe 4.0 with 16 lanes, an assumption */

#define SIM_CLOCK_INSIDE (-1) /* as a device: all addresses are in its memory, as those of a model's steps */

/* What a task does. */
struct sim_clock_work {
    int32_t wo_device;     /* that does it */
    uint64_t wo_memory;    /* bytes from and to its memory */
    uint64_t wo_link;      /* bytes from and to other memory */
    uint64_t wo_elements;  /* of its largest tensor */
    uint64_t wo_width;     /* bytes of one of these */
};

/* Whether tasks of this kind take time. The others only order tasks, call functions, or replay an instance. */
static inline bool sim_clock_cost_is_work(enum sim_task_kind kind)
{
    const uint32_t work = 1u << SIM_TASK_CUBE | 1u << SIM_TASK_VECTOR | 1u << SIM_TASK_HOST_KERNEL |
                          1u << SIM_TASK_COPY | 1u << SIM_TASK_SET | 1u << SIM_TASK_RANDOM | 1u << SIM_TASK_MODEL;
    return work >> kind & 1;
}

/* Adds the bytes and elements of a footprint; a visitor of sim_watch_footprints whose context is the work. */
void sim_clock_cost_add(const struct sim_footprint *footprint, void *work);
/* The nanoseconds for moving the bytes of the work alone. */
uint64_t sim_clock_cost_of_bytes(const struct sim_clock_work *work);
/* The nanoseconds of a task that takes time, or of a step of a saved model. */
uint64_t sim_clock_cost_of_task(const struct sim_op *op, const void *argument, int32_t device);

#endif
