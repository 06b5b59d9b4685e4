/* Recurrent layers: an LSTM or a GRU in one direction, and its gradient. Numbers are doubles, so that results of a
 * short type do not make the later ones less precise. */
#ifndef OPS_LAYER_H
#define OPS_LAYER_H

#include "slices.h"

/* What a layer saves for each time: first the states, then what the gradient needs besides. */
enum { SIM_LSTM_H, SIM_LSTM_C, SIM_LSTM_I, SIM_LSTM_J, SIM_LSTM_F, SIM_LSTM_O, SIM_LSTM_TANH_C, SIM_LSTM_SAVED };
enum { SIM_GRU_H, SIM_GRU_UPDATE, SIM_GRU_RESET, SIM_GRU_NEW, SIM_GRU_HIDDEN_NEW, SIM_GRU_SAVED };
enum { SIM_LSTM_GATES = 4, SIM_GRU_GATES = 3, SIM_LAYER_STATES = 2 };

struct sim_layer;

/* One step of one sequence. Both functions have the sums of all columns of the weight of the input and of that of the
 * state; `state` is the place of the sequence in the states, `at` that of the step in what is saved. */
struct sim_cell {
    size_t ce_gates, ce_states, ce_saved;
    /* Computes the next states from the sums, and saves. */
    void (*ce_step)(const struct sim_layer *layer, double *const *sums, size_t state, size_t at);
    /* Computes the gradients of the sums. Those of the states after the step become those of the states before it,
     * without the part that goes through the sums. `before` are these states. */
    void (*ce_back)(const struct sim_layer *layer, const double *const *before, double *const *gradients,
                    double *const *sums, size_t at);
};
extern const struct sim_cell sim_layer_lstm, sim_layer_gru;

struct sim_layer {
    const struct sim_cell *la_cell;
    size_t la_time, la_batch, la_input, la_hidden;
    bool la_reversed;        /* begins with the last time */
    const int64_t *la_gates; /* places among the columns: of i, j, f and o, or of z, r and n */
    double la_forget_bias;
    const double *la_runs; /* [time, batch]: 0 where a sequence is over, and its states stay; NULL: nowhere */
    const double *la_x;    /* [time, batch, input] */
    const double *la_weights[2], *la_biases[2]; /* of the input and of the state: a row for each of its elements */
    double *la_states[SIM_LAYER_STATES];        /* [batch, hidden]: the first ones, which become the last ones */
    double *la_saved[SIM_LSTM_SAVED];           /* [time, batch, hidden] */
};

/* Computes all steps. Returns 207001 if host memory cannot be allocated. */
aclError sim_layer_run(const struct sim_layer *layer, struct sim_lists *lists);
/* Whether the sequence of a line, which is a time and an element of the batch, is not over. */
bool sim_layer_runs(const struct sim_layer *layer, size_t line);
/* Writes what the layer puts out, its state or 0 where a sequence is over, to rows of `width` elements. */
void sim_layer_put(const struct sim_layer *layer, double *y, size_t width);

struct sim_layer_gradient {
    const double *lg_y; /* the gradient of what the layer puts out, in rows of lg_width elements */
    size_t lg_width;
    double *lg_states[SIM_LAYER_STATES]; /* those of the last states, which become those of the first ones */
    double *lg_x, *lg_weights[2], *lg_biases[2]; /* results, which are added */
};

/* Computes the gradients from the values that the forward pass has saved. la_states are the initial states. Returns
 * 207001 if host memory cannot be allocated. */
aclError sim_layer_back(const struct sim_layer *layer, const struct sim_layer_gradient *gradient,
                        struct sim_lists *lists);

#endif
