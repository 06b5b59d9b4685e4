/* One kernel on several threads: a range is cut into pieces, and idle workers run pieces beside the calling thread. */
#ifndef SIM_SPLIT_H
#define SIM_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs the piece from `first` to `end`, without `end`. Pieces run at the same time and in any order. None reads what
 * another one writes, calls a function that may record a message, or fails. Each thread of a call has a seat, for
 * memory of its own. */
typedef void sim_split_func(void *argument, size_t first, size_t end, uint32_t seat);

/* Calls `function` for all pieces of 0 to `count`, `grain` elements each, and returns when all are done. The cuts
 * depend on nothing else, so that results do not depend on the number of threads. Pieces of 5 to 50 us and more are
 * long enough; there should be several per thread. No worker is woken if the pieces after the first would take less
 * time than that. */
void sim_split_run(size_t count, size_t grain, sim_split_func *function, void *argument);

/* The number of seats of such a call; 1 if there is only one piece. */
uint32_t sim_split_seats(size_t count, size_t grain);

/* ---- for worker.c ---- */

/* Whether a call offers pieces to another worker. May be outdated at once. */
bool sim_split_is_offered(void);
/* Runs pieces until none are left, or until a stream needs this worker. False if there was none to run. */
bool sim_split_help(uint32_t seat);
/* In the child of a fork: nothing is offered. */
void sim_split_after_fork(void);

#endif
