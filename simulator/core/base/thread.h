/* Threads of the simulator's own: workers, host functions, the delivery of exceptions. */
#ifndef SIM_THREAD_H
#define SIM_THREAD_H

#include <pthread.h>

/* Starts a thread that may use every CPU the process was given, whatever its creator is pinned to, and takes none of the
 * user's signals. 0, or an error number. */
int sim_thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

#endif
