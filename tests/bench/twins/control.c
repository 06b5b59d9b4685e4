/* Tasks that do nothing, which only the simulator's control interface can launch. Nanoseconds per task. */
#include "twin.h"
#include <acl/acl_sim.h>

static aclrtStream stream;

static void prepare(void)
{
    OK(aclrtCreateStream(&stream));
}

static aclError nothing(void *argument)
{
    (void)argument;
    return ACL_SUCCESS;
}

static double sample_light_tasks(void)
{
    const int count = 50000;
    uint64_t start = twin_now();
    for (int i = 0; i < count; i++)
        OK(aclsimLaunchTask(stream, nothing, NULL, NULL, 0, ACLSIM_TASK_LIGHT));
    OK(aclrtSynchronizeStream(stream));
    return twin_each(start, count);
}

int main(int argc, char **argv)
{
    static const struct twin_row rows[] = {{"light_tasks", prepare, sample_light_tasks}};
    return TWIN_MAIN(rows);
}
