/* Models that are fed by queues, and run whenever their inputs are there. */
#ifndef SIM_MODEL_QUEUE_H
#define SIM_MODEL_QUEUE_H

#include "model.h"

/* 100000 if a list is NULL or empty, 145008 if an id is not a queue of the current device, 107002. */
aclError sim_model_queue_check(const struct sim_load_queues *queues);

/* From now on the model runs whenever each of its input queues has an element. 145000 for other numbers of queues than
 * the model has, and for a model with open shapes; 200000, 207001, 245000. */
aclError sim_model_queue_start(struct sim_model *model, const struct sim_load_queues *queues, struct sim_feeder **started);
/* Waits for the execution in progress. */
void sim_model_queue_stop(struct sim_feeder *feeder);

/* Whether this thread is the feeder: no other thread may execute such a model. */
bool sim_model_queue_is_own(const struct sim_feeder *feeder);

#endif
