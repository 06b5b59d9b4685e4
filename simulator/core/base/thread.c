/* Starting the simulator's own threads (thread.h). The mask of CPUs is written once, before main; there is no lock. */
#include "thread.h"
#include "thread_state.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

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

struct start {
    void *(*st_run)(void *);
    void *st_argument;
};

static void *begin(void *argument)
{
    const struct start start = *(struct start *)argument;
    free(argument);
    sim_thread.th_is_own = true;
    return start.st_run(start.st_argument);
}

int sim_thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    char name[16] = ""; /* of this thread; the new one inherits another, from its first moment on */
    sigset_t all, before;
    pthread_attr_t attributes;
    struct start *start = malloc(sizeof *start);
    if (start == NULL)
        return ENOMEM;
    *start = (struct start){run, argument};
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (sim_thread_cpus() != 0)
        pthread_attr_setaffinity_np(&attributes, sizeof process_cpus, &process_cpus);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the new thread inherits it: it runs no signal handlers */
    prctl(PR_GET_NAME, name);
    prctl(PR_SET_NAME, "acl-thread");
    int failed = pthread_create(thread, &attributes, begin, start);
    prctl(PR_SET_NAME, name);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (failed)
        free(start);
    return failed;
}
