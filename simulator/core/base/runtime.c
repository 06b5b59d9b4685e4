/* The table through which rooms below the engine call it (runtime.h).
 *
 * The engine owns the table, which is set once, before any call; no lock is needed. */
#include "runtime.h"

static const struct sim_runtime *runtime; /* set before any call: constructors run at loading */

void sim_runtime_set(const struct sim_runtime *table)
{
    runtime = table;
}

SIM_RARE aclError sim_runtime_find_current(void)
{
    struct sim_context *context;
    return runtime->rt_find_current(&context);
}

aclError sim_runtime_open_device(int32_t id)
{
    return runtime->rt_open_device(id);
}

SIM_RARE aclError sim_runtime_wait_unlocked(void)
{
    return runtime->rt_wait_unlocked();
}
