/* Starting the simulator's own threads (thread.h). The mask of CPUs is written once, before main; there is no lock. */
#include "thread.h"
#include <sched.h>
#include <signal.h>

#define STACK_BYTES (8u << 20)

static cpu_set_t process_cpus; /* when the library was loaded: threads must not inherit a pinned creator's mask */

__attribute__((constructor)) static void remember_cpus(void)
{
    if (sched_getaffinity(0, sizeof process_cpus, &process_cpus) != 0)
        CPU_ZERO(&process_cpus);
}

uint32_t sim_thread_cpus(void)
{
    return (uint32_t)CPU_COUNT(&process_cpus);
}

int sim_thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (sim_thread_cpus() != 0)
        pthread_attr_setaffinity_np(&attributes, sizeof process_cpus, &process_cpus);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the new thread inherits it: it runs no signal handlers */
    int failed = pthread_create(thread, &attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failed;
}
