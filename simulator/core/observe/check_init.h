/* The checker "init": reads of bytes that nothing has written. check_partial.c says which reads are exact. */
#ifndef SIM_CHECK_INIT_H
#define SIM_CHECK_INIT_H

#include "engine/task.h"
#include <stdbool.h>

/* Whether an operator may leave elements of an argument unread, depending on values. */
bool sim_check_reads_part(const char *operator, const char *argument);
bool sim_check_is_copy(const struct sim_op *op);
bool sim_check_ignores_reads(const struct sim_op *op);

extern const struct sim_watcher sim_check_init;
void sim_check_init_open(void); /* a device opens: forgets blocks that ended with a device */
void sim_check_init_reset(void);
void sim_check_init_after_fork(void);

#endif
