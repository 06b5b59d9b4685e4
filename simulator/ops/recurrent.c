/* The single operators DynamicRNN and DynamicRNNV2, which are an LSTM, and DynamicGRUV2: one layer in one direction,
 * whose input is [time, batch, input]. A weight has some columns for each gate, in an order that is an argument. All
 * tensors are loaded before a result is stored, so that an output may equal an input. */
#include "recurrent.h"

#include "tables.h"

#include <inttypes.h>

/* ---- checks ---- */

aclnnStatus sim_recurrent_check_state(const aclsimArgument *state, int64_t batch, int64_t hidden)
{
    const int64_t dims[] = {1, batch, hidden};
    if (state->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(state, SIM_TYPES_SINGLE));
    const uint32_t first = state->tensors->rank == 2;
    return sim_require_shape(state, dims + first, 3 - first, "one state for each element of the batch");
}

aclnnStatus sim_recurrent_check_bias(const aclsimArgument *bias, int64_t columns)
{
    if (bias->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(bias, SIM_TYPES_SINGLE));
    return sim_require_shape(bias, &columns, 1, "one number per column of the weight");
}

aclnnStatus sim_recurrent_check_gates(const aclsimArgument *gates, uint64_t count)
{
    SIM_TRY(sim_require_count(gates, count));
    for (uint64_t i = 0; i < count; i++)
        SIM_ARGUMENT(gates->integers[i] >= 0 && gates->integers[i] < (int64_t)count, ACLNN_ERR_PARAM_INVALID,
                     "%s has %" PRId64 ", expected 0 to %" PRIu64, gates->name, gates->integers[i], count - 1);
    return ACL_SUCCESS;
}

static aclnnStatus check_input(const aclsimArgument *x, const aclsimArgument *weight)
{
    SIM_TRY(sim_require_types(x, weight, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(x, 3, 3));
    return sim_require_rank(weight, 2, 2);
}

/* Two weights, for the input and for the state, each with as many columns per gate as there are rows for the state. */
static aclnnStatus check_weights(const aclsimArgument *given, int64_t gates, int64_t *hidden)
{
    const aclsimArgument *x = given, *weight = &given[1], *hidden_weight = &given[2];
    SIM_TRY(sim_require_types(x, hidden_weight, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(hidden_weight, 2, 2));
    const int64_t rows = hidden_weight->tensors->dims[0], columns = hidden_weight->tensors->dims[1];
    const int64_t dims[] = {x->tensors->dims[2], columns};
    *hidden = rows;
    SIM_ARGUMENT(columns % gates == 0 && columns / gates == rows, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " rows and %" PRId64 " columns, expected %" PRId64 " times as many columns as rows",
                 hidden_weight->name, rows, columns, gates);
    return sim_require_shape(weight, dims, 2, "a row for each element of the input");
}

aclnnStatus sim_recurrent_check_lstm(const aclsimArgument *given, int64_t *hidden)
{
    const aclsimArgument *x = given, *weight = &given[1];
    const aclsimTensor *w = weight->tensors;
    SIM_TRY(check_input(x, weight));
    if (given[2].present != 0)
        return check_weights(given, SIM_LSTM_GATES, hidden);
    *hidden = w->dims[1] / SIM_LSTM_GATES;
    SIM_ARGUMENT(w->dims[1] % SIM_LSTM_GATES == 0 && w->dims[0] - *hidden == x->tensors->dims[2],
                 ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " rows and %" PRId64 " columns, expected 4 times the hidden size as columns, and as "
                 "many rows as the hidden size and the last dimension of %s, %" PRId64 ", together", weight->name,
                 w->dims[0], w->dims[1], x->name, x->tensors->dims[2]);
    return ACL_SUCCESS;
}

aclnnStatus sim_recurrent_check_gru(const aclsimArgument *given, int64_t *hidden)
{
    SIM_TRY(check_input(given, &given[1]));
    return check_weights(given, SIM_GRU_GATES, hidden);
}

aclnnStatus sim_recurrent_check_times(const aclsimArgument *tensors, size_t count, const aclsimTensor *x,
                                      int64_t hidden)
{
    const int64_t dims[] = {x->dims[0], x->dims[1], hidden};
    for (size_t i = 0; i < count; i++) {
        if (tensors[i].present == 0)
            continue;
        SIM_TRY(sim_require_type(&tensors[i], SIM_TYPES_SINGLE));
        SIM_TRY(sim_require_shape(&tensors[i], dims, 3, "the time and batch of x, and the hidden size"));
    }
    return ACL_SUCCESS;
}

static bool is_mask(const aclsimArgument *mask)
{
    return mask->present != 0 && mask->tensors->rank != 0;
}

aclnnStatus sim_recurrent_check_mask(const aclsimArgument *mask, const aclsimTensor *x, int64_t hidden)
{
    return is_mask(mask) ? sim_recurrent_check_times(mask, 1, x, hidden) : ACL_SUCCESS;
}

/* ---- loading ---- */

aclError sim_recurrent_load(const aclsimArgument *given, int64_t hidden, struct sim_lists *lists,
                            struct sim_layer *layer)
{
    const aclsimTensor *tensor = given->tensors;
    double *numbers, *weights[2];
    layer->la_time = (size_t)tensor->dims[0];
    layer->la_batch = (size_t)tensor->dims[1];
    layer->la_input = (size_t)tensor->dims[2];
    layer->la_hidden = (size_t)hidden;
    SIM_TRY(sim_lists_load(lists, given, &numbers));
    SIM_TRY(sim_lists_load(lists, &given[1], &weights[0]));
    weights[1] = weights[0] + layer->la_input * layer->la_cell->ce_gates * layer->la_hidden;
    if (given[2].present != 0)
        SIM_TRY(sim_lists_load(lists, &given[2], &weights[1]));
    layer->la_x = numbers;
    layer->la_weights[0] = weights[0];
    layer->la_weights[1] = weights[1];
    return ACL_SUCCESS;
}

aclError sim_recurrent_load_mask(const aclsimArgument *mask, struct sim_lists *lists, struct sim_layer *layer)
{
    double *runs, *numbers;
    if (!is_mask(mask) || layer->la_hidden == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, mask, &numbers));
    SIM_TRY(sim_lists_take(lists, layer->la_time * layer->la_batch, &runs));
    for (size_t line = 0; line < layer->la_time * layer->la_batch; line++)
        runs[line] = numbers[line * layer->la_hidden];
    layer->la_runs = runs;
    return ACL_SUCCESS;
}

static aclError load_biases(const aclsimArgument *first, const aclsimArgument *second, struct sim_lists *lists,
                            struct sim_layer *layer)
{
    static const aclsimArgument absent = {.present = 0};
    const aclsimArgument *given[] = {first, second != NULL ? second : &absent};
    for (size_t i = 0; i < 2; i++) {
        double *numbers;
        SIM_TRY(sim_lists_load_or(lists, given[i], layer->la_cell->ce_gates * layer->la_hidden, 0, &numbers));
        layer->la_biases[i] = numbers;
    }
    return ACL_SUCCESS;
}

/* Runs the layer, and loads the states before. */
static aclError run(const aclsimArgument *states, struct sim_lists *lists, struct sim_layer *layer)
{
    const size_t count = layer->la_batch * layer->la_hidden;
    for (size_t s = 0; s < layer->la_cell->ce_states; s++)
        SIM_TRY(sim_lists_load_or(lists, &states[s], count, 0, &layer->la_states[s]));
    for (size_t i = 0; i < layer->la_cell->ce_saved; i++)
        SIM_TRY(sim_lists_take(lists, layer->la_time * count, &layer->la_saved[i]));
    return sim_layer_run(layer, lists);
}

/* ---- DynamicRNN: the weight has a row for each element of the input, then one for each of the state. Reversed, it
 * begins with the last time. DynamicRNNV2 has two weights, and puts out only the last states. ---- */

enum { X, W, W_HIDDEN, B, MASK, INIT_H, INIT_C, GATES, FORGET_BIAS, REVERSED, Y, OUTPUT_H, OUTPUT_C, GATE_I, GATE_J,
       GATE_F, GATE_O, TANH_C, LSTM_ARGUMENTS };

static aclnnStatus plan_lstm(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *x = given[X].tensors;
    int64_t hidden;
    (void)workspace_size;
    SIM_TRY(sim_recurrent_check_lstm(given, &hidden));
    SIM_TRY(sim_recurrent_check_bias(&given[B], given[W].tensors->dims[1]));
    SIM_TRY(sim_recurrent_check_mask(&given[MASK], x, hidden));
    SIM_TRY(sim_recurrent_check_state(&given[INIT_H], x->dims[1], hidden));
    SIM_TRY(sim_recurrent_check_state(&given[INIT_C], x->dims[1], hidden));
    SIM_TRY(sim_recurrent_check_gates(&given[GATES], SIM_LSTM_GATES));
    SIM_TRY(sim_recurrent_check_times(&given[Y], 1, x, hidden));
    if (given[W_HIDDEN].present == 0)
        return sim_recurrent_check_times(&given[OUTPUT_H], LSTM_ARGUMENTS - OUTPUT_H, x, hidden);
    SIM_TRY(sim_recurrent_check_state(&given[OUTPUT_H], x->dims[1], hidden));
    SIM_TRY(sim_recurrent_check_state(&given[OUTPUT_C], x->dims[1], hidden));
    return sim_recurrent_check_times(&given[GATE_I], LSTM_ARGUMENTS - GATE_I, x, hidden);
}

static aclError run_lstm(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    struct sim_layer layer = {.la_cell = &sim_layer_lstm, .la_gates = given[GATES].integers,
                              .la_forget_bias = given[FORGET_BIAS].number, .la_reversed = given[REVERSED].integer != 0};
    const size_t hidden = (size_t)given[Y].tensors->dims[2];
    SIM_TRY(sim_recurrent_load(given, (int64_t)hidden, lists, &layer));
    SIM_TRY(load_biases(&given[B], NULL, lists, &layer));
    SIM_TRY(sim_recurrent_load_mask(&given[MASK], lists, &layer));
    SIM_TRY(run(&given[INIT_H], lists, &layer));
    for (size_t i = 0; i < SIM_LSTM_SAVED; i++) {
        const bool is_last = given[W_HIDDEN].present != 0 && i < sim_layer_lstm.ce_states;
        sim_lists_store(&given[OUTPUT_H + i], is_last ? layer.la_states[i] : layer.la_saved[i]);
    }
    sim_layer_put(&layer, layer.la_saved[SIM_LSTM_C], hidden); /* its memory is no longer needed */
    sim_lists_store(&given[Y], layer.la_saved[SIM_LSTM_C]);
    return ACL_SUCCESS;
}

SIM_RECURRENT(lstm, "DynamicRNN", sim_op_lstm_row, SIM_RECURRENT_IN(X, "x"), SIM_RECURRENT_IN(W, "w"),
              SIM_RECURRENT_MAYBE(W_HIDDEN, "weight_hidden"), SIM_RECURRENT_MAYBE(B, "b"),
              SIM_RECURRENT_MAYBE(MASK, "seq_length"), SIM_RECURRENT_MAYBE(INIT_H, "init_h"),
              SIM_RECURRENT_MAYBE(INIT_C, "init_c"), SIM_RECURRENT_GATES(GATES),
              [FORGET_BIAS] = {"forget_bias", ACLSIM_NUMBER, 0, false},
              [REVERSED] = {"reversed", ACLSIM_INTEGER, 0, false}, SIM_RECURRENT_OUT(Y, "y"),
              SIM_RECURRENT_OUT(OUTPUT_H, "output_h"), SIM_RECURRENT_OUT(OUTPUT_C, "output_c"),
              SIM_RECURRENT_OUT(GATE_I, "i"), SIM_RECURRENT_OUT(GATE_J, "j"), SIM_RECURRENT_OUT(GATE_F, "f"),
              SIM_RECURRENT_OUT(GATE_O, "o"), SIM_RECURRENT_OUT(TANH_C, "tanhc"))

/* ---- DynamicGRUV2: one weight for the input and one for the state ---- */

enum { GRU_X, WEIGHT_INPUT, WEIGHT_HIDDEN, BIAS_INPUT, BIAS_HIDDEN, GRU_INIT_H, GRU_GATES, GRU_Y, GRU_OUTPUT_H, UPDATE,
       RESET, NEW, HIDDEN_NEW, GRU_ARGUMENTS };

static aclnnStatus plan_gru(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *x = given[GRU_X].tensors;
    int64_t hidden;
    (void)workspace_size;
    SIM_TRY(sim_recurrent_check_gru(given, &hidden));
    SIM_TRY(sim_recurrent_check_bias(&given[BIAS_INPUT], SIM_GRU_GATES * hidden));
    SIM_TRY(sim_recurrent_check_bias(&given[BIAS_HIDDEN], SIM_GRU_GATES * hidden));
    SIM_TRY(sim_recurrent_check_state(&given[GRU_INIT_H], x->dims[1], hidden));
    SIM_TRY(sim_recurrent_check_gates(&given[GRU_GATES], SIM_GRU_GATES));
    return sim_recurrent_check_times(&given[GRU_Y], GRU_ARGUMENTS - GRU_Y, x, hidden);
}

static aclError run_gru(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    struct sim_layer layer = {.la_cell = &sim_layer_gru, .la_gates = given[GRU_GATES].integers};
    SIM_TRY(sim_recurrent_load(given, given[GRU_Y].tensors->dims[2], lists, &layer));
    SIM_TRY(load_biases(&given[BIAS_INPUT], &given[BIAS_HIDDEN], lists, &layer));
    SIM_TRY(run(&given[GRU_INIT_H], lists, &layer));
    sim_lists_store(&given[GRU_Y], layer.la_saved[SIM_GRU_H]);
    for (size_t i = 0; i < SIM_GRU_SAVED; i++)
        sim_lists_store(&given[GRU_OUTPUT_H + i], layer.la_saved[i]);
    return ACL_SUCCESS;
}

SIM_RECURRENT(gru, "DynamicGRUV2", sim_op_gru_row, SIM_RECURRENT_GRU, SIM_RECURRENT_MAYBE(BIAS_INPUT, "bias_input"),
              SIM_RECURRENT_MAYBE(BIAS_HIDDEN, "bias_hidden"), SIM_RECURRENT_MAYBE(GRU_INIT_H, "init_h"),
              SIM_RECURRENT_GATES(GRU_GATES), SIM_RECURRENT_OUT(GRU_Y, "y"),
              SIM_RECURRENT_OUT(GRU_OUTPUT_H, "output_h"), SIM_RECURRENT_OUT(UPDATE, "update"),
              SIM_RECURRENT_OUT(RESET, "reset"), SIM_RECURRENT_OUT(NEW, "new"),
              SIM_RECURRENT_OUT(HIDDEN_NEW, "hidden_new"))
