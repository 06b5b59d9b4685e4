/* Values in device memory that tasks write, and that streams wait for. */
#ifndef SIM_TASK_VALUE_H
#define SIM_TASK_VALUE_H

#include "task.h"

struct sim_target;

/* The argument of a task that writes a value or waits for one. */
struct sim_task_value {
    struct sim_range vl_range; /* its 64 bits */
    uint64_t vl_value;
    uint32_t vl_flag;          /* of a wait: ACL_STREAM_WAIT_VALUE_* */
};

#define SIM_VALUE_FLAGS 4 /* the number of flags of a wait; a write has only flag 0 */

/* Returns 107000 if the flag is not below `flags` or the address is not in device memory, and 107008 if the address is
 * not a multiple of 8. */
aclError sim_task_value_make(void *address, uint64_t number, uint32_t flag, uint32_t flags,
                             struct sim_task_value *value);

/* Queue a task that writes the value, or one that waits for it. */
aclError sim_task_value_write(const struct sim_task_value *value, struct sim_target stream, void *site);
aclError sim_task_value_wait(const struct sim_task_value *value, struct sim_target stream, void *site);

/* Makes the streams that wait for a value check it again. The thread that has written device memory calls it, without
 * locks. While no stream waits it only reads two words: a thread that begins a wait makes every running thread pass a
 * barrier before it checks the memory. */
extern _Atomic uint32_t sim_task_value_waits;
void sim_task_value_look(void) __attribute__((cold));
static inline void sim_task_value_written(void)
{
    uint32_t waits;
    if (likely(sim_lock_has_membarrier)) {
        atomic_signal_fence(memory_order_seq_cst);
        waits = atomic_load_explicit(&sim_task_value_waits, memory_order_relaxed);
    } else {
        waits = atomic_fetch_add_explicit(&sim_task_value_waits, 0, memory_order_seq_cst);
    }
    if (unlikely(waits != 0))
        sim_task_value_look();
}

/* Takes a stream that is being destroyed out of the list. */
void sim_task_value_forget(struct sim_stream *stream);
void sim_task_value_after_fork(void);

#endif
