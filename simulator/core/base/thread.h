/* Starting the simulator's own threads, such as workers and callback threads. */
#ifndef SIM_THREAD_H
#define SIM_THREAD_H

#include <pthread.h>

/* Starts a thread that may use every CPU of the process, even if its creator is pinned to some, and that blocks all
 * signals. Returns 0 or an error number. */
int sim_thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

#endif
