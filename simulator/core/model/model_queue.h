/* Models between queues, which are executed whenever each input queue has an element. */
#ifndef SIM_MODEL_QUEUE_H
#define SIM_MODEL_QUEUE_H

#include "model.h"

/* Fails with 100000 if a list is NULL or empty, 145008 if an id is not a queue of the current device, or 107002. */
aclError sim_model_queue_check(const struct sim_load_queues *queues);

/* Starts the feeder, the thread that executes the model. Fails with 145000 if the model has dynamic shapes or other
 * numbers of inputs or outputs, and with 200000, 207001 or 245000 without memory. */
aclError sim_model_queue_start(struct sim_model *model, const struct sim_load_queues *queues,
                               struct sim_feeder **started);
/* Stops and frees the feeder after the execution in progress. */
void sim_model_queue_stop(struct sim_feeder *feeder);

/* Whether this thread is the feeder: no other thread may execute such a model. */
bool sim_model_queue_is_own(const struct sim_feeder *feeder);

#endif
