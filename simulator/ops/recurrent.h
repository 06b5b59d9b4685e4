/* Checks of arguments that the single operators of recurrent layers share with their gradients. */
#ifndef OPS_RECURRENT_H
#define OPS_RECURRENT_H

#include "layer.h"

/* The input is [time, batch, input], and there is a weight for the input and the state together, or one for each if
 * hidden_weight is present. Finds the hidden size. */
aclnnStatus sim_recurrent_check_lstm(const aclsimArgument *x, const aclsimArgument *weight,
                                     const aclsimArgument *hidden_weight, int64_t *hidden);
/* The same for three gates and two weights. */
aclnnStatus sim_recurrent_check_gru(const aclsimArgument *x, const aclsimArgument *weight,
                                    const aclsimArgument *hidden_weight, int64_t *hidden);
/* A state of each element of the batch, unless it is absent. */
aclnnStatus sim_recurrent_check_state(const aclsimArgument *state, int64_t batch, int64_t hidden);
aclnnStatus sim_recurrent_check_bias(const aclsimArgument *bias, int64_t columns);
aclnnStatus sim_recurrent_check_gates(const aclsimArgument *gates, uint64_t count);
/* `count` tensors with numbers for each time and element of the batch, unless they are absent. */
aclnnStatus sim_recurrent_check_times(const aclsimArgument *tensors, size_t count, const aclsimTensor *x,
                                      int64_t hidden);
/* The mask is absent, a scalar, which clients pass for none, or has 0 for the times at which a sequence is over. */
aclnnStatus sim_recurrent_check_mask(const aclsimArgument *mask, const aclsimTensor *x, int64_t hidden);

/* Sets the sizes of a layer, and loads its input and its weights. */
aclError sim_recurrent_load(const aclsimArgument *x, const aclsimArgument *weight, const aclsimArgument *hidden_weight,
                            int64_t hidden, struct sim_lists *lists, struct sim_layer *layer);
/* Loads la_runs. */
aclError sim_recurrent_load_mask(const aclsimArgument *mask, struct sim_lists *lists, struct sim_layer *layer);

#endif
