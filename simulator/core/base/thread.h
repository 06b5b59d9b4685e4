/* Starting the simulator's own threads, such as workers and callback threads. */
#ifndef SIM_THREAD_H
#define SIM_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* Starts a thread that may use every CPU of the process, even if its creator is pinned to some, and that blocks all
 * signals. Its th_is_own is set, and its name begins with "acl-". Returns 0 or an error number. */
int sim_thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

/* The number of CPUs of the process when the library was loaded; 0 if it is unknown. */
uint32_t sim_thread_cpus(void);

#endif
