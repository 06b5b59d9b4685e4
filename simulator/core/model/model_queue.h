/* Models that are fed by queues, and run by themselves. */
#ifndef SIM_MODEL_QUEUE_H
#define SIM_MODEL_QUEUE_H

#include "model.h"

/* 100000 for lists that are none, 145008 for an id that no queue of the current device has, 107002. */
aclError sim_model_queue_check(const struct sim_load_queues *queues);

/* From now on the model runs whenever each of its input queues has something. 145000 for other numbers of queues than the
 * model has, and for a model with open shapes; 200000, 207001, 245000. */
aclError sim_model_queue_start(struct sim_model *model, const struct sim_load_queues *queues, struct sim_feeder **started);
/* Waits for the run that is under way. */
void sim_model_queue_stop(struct sim_feeder *feeder);

/* Whether this thread is the feeder: for everybody else such a model cannot be run. */
bool sim_model_queue_is_own(const struct sim_feeder *feeder);

#endif
