/* What the single operators of recurrent layers share with their gradients: checks of arguments, loading, schemas. The
 * first arguments are x, the weight (of the input), and the weight of the state. */
#ifndef OPS_RECURRENT_H
#define OPS_RECURRENT_H

#include "layer.h"

/* The input is [time, batch, input], and there is a weight for the input and the state together, or one for each if
 * that of the state is present. Finds the hidden size. */
aclnnStatus sim_recurrent_check_lstm(const aclsimArgument *given, int64_t *hidden);
/* The same for three gates and two weights. */
aclnnStatus sim_recurrent_check_gru(const aclsimArgument *given, int64_t *hidden);
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
aclError sim_recurrent_load(const aclsimArgument *given, int64_t hidden, struct sim_lists *lists,
                            struct sim_layer *layer);
/* Loads la_runs. */
aclError sim_recurrent_load_mask(const aclsimArgument *mask, struct sim_lists *lists, struct sim_layer *layer);

/* ---- schemas ---- */

#define SIM_RECURRENT_IN(place, name) [place] = {name, ACLSIM_TENSOR, ACLSIM_IN, false}
#define SIM_RECURRENT_MAYBE(place, name) [place] = {name, ACLSIM_TENSOR, ACLSIM_IN, true}
#define SIM_RECURRENT_OUT(place, name) [place] = {name, ACLSIM_TENSOR, ACLSIM_OUT, false}
#define SIM_RECURRENT_GATES(place) [place] = {"gates", ACLSIM_INTEGERS, 0, false}
/* x and the weights of a GRU. */
#define SIM_RECURRENT_GRU                                                                                              \
    SIM_RECURRENT_IN(0, "x"), SIM_RECURRENT_IN(1, "weight_input"), SIM_RECURRENT_IN(2, "weight_hidden")
/* A schema with its parameters, whose kernel has the functions plan_`cell` and run_`cell`. */
#define SIM_RECURRENT(cell, type, row, ...)                                                                            \
    static const struct sim_lists_kind cell##_kind = {run_##cell};                                                     \
    static const struct sim_kernel cell##_kernel = {plan_##cell, sim_lists_run, (void *)&cell##_kind, true};           \
    static const struct sim_parameter cell##_parameters[] = {__VA_ARGS__};                                             \
    struct sim_row row = SIM_ROW(type, SIM_TASK_CUBE, cell##_parameters, &cell##_kernel);

#endif
