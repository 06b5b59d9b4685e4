/* The state of each thread (thread_state.h). Only its own thread reads and writes it; there is no lock. */
#include "thread_state.h"
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local struct sim_thread sim_thread = {.th_last_task = UINT32_MAX};

uint32_t sim_thread_number(void)
{
    if (sim_thread.th_id == 0)
        sim_thread.th_id = (uint32_t)syscall(SYS_gettid);
    return sim_thread.th_id;
}
