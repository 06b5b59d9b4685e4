/* The gradients of recurrent layers: the single operators DynamicRNNGrad and DynamicRNNV2Grad, of an LSTM, and
 * DynamicGRUV2Grad. They read what the layer put out, and the gradients of its output and of its last states. */
#include "recurrent.h"

#include "tables.h"

#include <math.h>
#include <string.h>

/* Allocates the results for a layer whose states and gradients of states are given. */
static aclError back(struct sim_layer *layer, const aclsimArgument *first, const aclsimArgument *y,
                     const aclsimArgument *last, struct sim_lists *lists, struct sim_layer_gradient *gradient)
{
    const size_t columns = layer->la_cell->ce_gates * layer->la_hidden, inputs = layer->la_input * columns;
    double *dy;
    for (size_t s = 0; s < layer->la_cell->ce_states; s++) {
        SIM_TRY(sim_lists_load(lists, &first[s], &layer->la_states[s]));
        SIM_TRY(sim_lists_load(lists, &last[s], &gradient->lg_states[s]));
    }
    SIM_TRY(sim_lists_load(lists, y, &dy));
    SIM_TRY(sim_lists_take(lists, layer->la_time * layer->la_batch * layer->la_input, &gradient->lg_x));
    /* One list for both, as the weight of DynamicRNN has both. */
    SIM_TRY(sim_lists_take(lists, inputs + layer->la_hidden * columns, &gradient->lg_weights[0]));
    gradient->lg_weights[1] = gradient->lg_weights[0] + inputs;
    SIM_TRY(sim_lists_take(lists, columns, &gradient->lg_biases[0]));
    SIM_TRY(sim_lists_take(lists, columns, &gradient->lg_biases[1]));
    gradient->lg_y = dy;
    gradient->lg_width = layer->la_hidden;
    return sim_layer_back(layer, gradient, lists);
}

/* The gradient of a state has the state's shape. */
static aclnnStatus check_states(const aclsimArgument *states, size_t count, int64_t batch, int64_t hidden)
{
    for (size_t i = 0; i < count; i++)
        SIM_TRY(sim_recurrent_check_state(&states[i], batch, hidden));
    return ACL_SUCCESS;
}

/* ---- DynamicRNNGrad and, with two weights, DynamicRNNV2Grad ---- */

enum { X, W, W_HIDDEN, INIT_H, INIT_C, MASK, H, C, DY, DH, DC, GATE_I, GATE_J, GATE_F, GATE_O, TANH_C, GATES, REVERSED,
       DW, DW_HIDDEN, DB, DX, DH_PREV, DC_PREV, LSTM_ARGUMENTS };

/* Arguments in which all tensors with a time have three dimensions. */
struct raised_call {
    aclsimArgument rc_given[LSTM_ARGUMENTS];
    aclsimTensor rc_tensors[LSTM_ARGUMENTS];
};

/* Clients of DynamicRNNV2Grad leave out the only time of a single step. */
static const aclsimArgument *raise_times(const aclsimCall *call, struct raised_call *raised)
{
    static const uint8_t times[] = {X, H, C, DX};
    memcpy(raised->rc_given, call->arguments, sizeof raised->rc_given);
    for (size_t i = 0; call->arguments[W_HIDDEN].present != 0 && i < sizeof times; i++) {
        aclsimTensor *tensor = &raised->rc_tensors[times[i]];
        *tensor = *call->arguments[times[i]].tensors;
        if (tensor->rank != 2)
            continue;
        memmove(tensor->dims + 1, tensor->dims, 2 * sizeof *tensor->dims);
        memmove(tensor->strides + 1, tensor->strides, 2 * sizeof *tensor->strides);
        tensor->dims[0] = 1;
        tensor->rank = 3;
        raised->rc_given[times[i]].tensors = tensor;
    }
    return raised->rc_given;
}

static aclnnStatus plan_lstm(const aclsimCall *call, uint64_t *workspace_size)
{
    struct raised_call raised;
    const aclsimArgument *given = raise_times(call, &raised);
    const aclsimTensor *x = given[X].tensors;
    int64_t hidden;
    (void)workspace_size;
    SIM_TRY(sim_recurrent_check_lstm(given, &hidden));
    SIM_TRY(check_states(&given[INIT_H], 2, x->dims[1], hidden));
    SIM_TRY(sim_recurrent_check_mask(&given[MASK], x, hidden));
    SIM_TRY(sim_recurrent_check_times(&given[H], 3, x, hidden));
    SIM_TRY(check_states(&given[DH], 2, x->dims[1], hidden));
    SIM_TRY(sim_recurrent_check_times(&given[GATE_I], 5, x, hidden));
    SIM_TRY(sim_recurrent_check_gates(&given[GATES], SIM_LSTM_GATES));
    SIM_TRY(sim_require_like(&given[DW], &given[W]));
    if (given[W_HIDDEN].present != 0)
        SIM_TRY(sim_require_like(&given[DW_HIDDEN], &given[W_HIDDEN]));
    SIM_TRY(sim_recurrent_check_bias(&given[DB], given[W].tensors->dims[1]));
    SIM_TRY(sim_require_like(&given[DX], &given[X]));
    return check_states(&given[DH_PREV], 2, x->dims[1], hidden);
}

static aclError load_saved(const aclsimArgument *given, struct sim_lists *lists, struct sim_layer *layer)
{
    double **saved = layer->la_saved;
    const size_t count = layer->la_time * layer->la_batch * layer->la_hidden;
    SIM_TRY(sim_lists_load(lists, &given[H], &saved[SIM_LSTM_H]));
    SIM_TRY(sim_lists_load(lists, &given[C], &saved[SIM_LSTM_C]));
    for (size_t i = 0; i < SIM_LSTM_GATES; i++)
        SIM_TRY(sim_lists_load(lists, &given[GATE_I + i], &saved[SIM_LSTM_I + i]));
    SIM_TRY(sim_lists_load_or(lists, &given[TANH_C], count, 0, &saved[SIM_LSTM_TANH_C]));
    for (size_t i = 0; given[TANH_C].present == 0 && i < count; i++)
        saved[SIM_LSTM_TANH_C][i] = tanh(saved[SIM_LSTM_C][i]);
    return ACL_SUCCESS;
}

static aclError run_lstm(const aclsimCall *call, struct sim_lists *lists)
{
    struct raised_call raised;
    const aclsimArgument *given = raise_times(call, &raised);
    struct sim_layer layer = {.la_cell = &sim_layer_lstm, .la_gates = given[GATES].integers,
                              .la_reversed = given[REVERSED].integer != 0};
    struct sim_layer_gradient gradient;
    SIM_TRY(sim_recurrent_load(given, given[H].tensors->dims[2], lists, &layer));
    SIM_TRY(sim_recurrent_load_mask(&given[MASK], lists, &layer));
    SIM_TRY(load_saved(given, lists, &layer));
    SIM_TRY(back(&layer, &given[INIT_H], &given[DY], &given[DH], lists, &gradient));
    sim_lists_store(&given[DW], gradient.lg_weights[0]);
    sim_lists_store(&given[DW_HIDDEN], gradient.lg_weights[1]);
    sim_lists_store(&given[DB], gradient.lg_biases[0]);
    sim_lists_store(&given[DX], gradient.lg_x);
    sim_lists_store(&given[DH_PREV], gradient.lg_states[SIM_LSTM_H]);
    sim_lists_store(&given[DC_PREV], gradient.lg_states[SIM_LSTM_C]);
    return ACL_SUCCESS;
}

SIM_RECURRENT(lstm, "DynamicRNNGrad", sim_op_lstm_grad_row, SIM_RECURRENT_IN(X, "x"), SIM_RECURRENT_IN(W, "w"),
              SIM_RECURRENT_MAYBE(W_HIDDEN, "w_h"), SIM_RECURRENT_IN(INIT_H, "init_h"),
              SIM_RECURRENT_IN(INIT_C, "init_c"), SIM_RECURRENT_MAYBE(MASK, "seq_length"), SIM_RECURRENT_IN(H, "h"),
              SIM_RECURRENT_IN(C, "c"), SIM_RECURRENT_IN(DY, "dy"), SIM_RECURRENT_IN(DH, "dh"),
              SIM_RECURRENT_IN(DC, "dc"), SIM_RECURRENT_IN(GATE_I, "i"), SIM_RECURRENT_IN(GATE_J, "j"),
              SIM_RECURRENT_IN(GATE_F, "f"), SIM_RECURRENT_IN(GATE_O, "o"), SIM_RECURRENT_MAYBE(TANH_C, "tanhct"),
              SIM_RECURRENT_GATES(GATES), [REVERSED] = {"reversed", ACLSIM_INTEGER, 0, false},
              SIM_RECURRENT_OUT(DW, "dw"), [DW_HIDDEN] = {"dw_h", ACLSIM_TENSOR, ACLSIM_OUT, true},
              SIM_RECURRENT_OUT(DB, "db"), SIM_RECURRENT_OUT(DX, "dx"), SIM_RECURRENT_OUT(DH_PREV, "dh_prev"),
              SIM_RECURRENT_OUT(DC_PREV, "dc_prev"))

/* ---- DynamicGRUV2Grad ---- */

enum { GRU_X, WEIGHT_INPUT, WEIGHT_HIDDEN, GRU_INIT_H, GRU_H, GRU_DY, GRU_DH, UPDATE, RESET, NEW, HIDDEN_NEW, GRU_GATES,
       DW_INPUT, GRU_DW_HIDDEN, DB_INPUT, DB_HIDDEN, GRU_DX, GRU_DH_PREV };

static aclnnStatus plan_gru(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *x = given[GRU_X].tensors;
    int64_t hidden;
    (void)workspace_size;
    SIM_TRY(sim_recurrent_check_gru(given, &hidden));
    SIM_TRY(check_states(&given[GRU_INIT_H], 1, x->dims[1], hidden));
    SIM_TRY(sim_recurrent_check_times(&given[GRU_H], 2, x, hidden));
    SIM_TRY(check_states(&given[GRU_DH], 1, x->dims[1], hidden));
    SIM_TRY(sim_recurrent_check_times(&given[UPDATE], SIM_GRU_SAVED - SIM_GRU_UPDATE, x, hidden));
    SIM_TRY(sim_recurrent_check_gates(&given[GRU_GATES], SIM_GRU_GATES));
    SIM_TRY(sim_require_like(&given[DW_INPUT], &given[WEIGHT_INPUT]));
    SIM_TRY(sim_require_like(&given[GRU_DW_HIDDEN], &given[WEIGHT_HIDDEN]));
    SIM_TRY(sim_recurrent_check_bias(&given[DB_INPUT], SIM_GRU_GATES * hidden));
    SIM_TRY(sim_recurrent_check_bias(&given[DB_HIDDEN], SIM_GRU_GATES * hidden));
    SIM_TRY(sim_require_like(&given[GRU_DX], &given[GRU_X]));
    return check_states(&given[GRU_DH_PREV], 1, x->dims[1], hidden);
}

static aclError run_gru(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    struct sim_layer layer = {.la_cell = &sim_layer_gru, .la_gates = given[GRU_GATES].integers};
    struct sim_layer_gradient gradient;
    SIM_TRY(sim_recurrent_load(given, given[GRU_H].tensors->dims[2], lists, &layer));
    SIM_TRY(sim_lists_load(lists, &given[GRU_H], &layer.la_saved[SIM_GRU_H]));
    for (size_t i = SIM_GRU_UPDATE; i < SIM_GRU_SAVED; i++)
        SIM_TRY(sim_lists_load(lists, &given[UPDATE + i - SIM_GRU_UPDATE], &layer.la_saved[i]));
    SIM_TRY(back(&layer, &given[GRU_INIT_H], &given[GRU_DY], &given[GRU_DH], lists, &gradient));
    for (size_t i = 0; i < 2; i++) {
        sim_lists_store(&given[DW_INPUT + i], gradient.lg_weights[i]);
        sim_lists_store(&given[DB_INPUT + i], gradient.lg_biases[i]);
    }
    sim_lists_store(&given[GRU_DX], gradient.lg_x);
    sim_lists_store(&given[GRU_DH_PREV], gradient.lg_states[SIM_GRU_H]);
    return ACL_SUCCESS;
}

SIM_RECURRENT(gru, "DynamicGRUV2Grad", sim_op_gru_grad_row, SIM_RECURRENT_GRU, SIM_RECURRENT_IN(GRU_INIT_H, "init_h"),
              SIM_RECURRENT_IN(GRU_H, "h"), SIM_RECURRENT_IN(GRU_DY, "dy"), SIM_RECURRENT_IN(GRU_DH, "dh"),
              SIM_RECURRENT_IN(UPDATE, "update"), SIM_RECURRENT_IN(RESET, "reset"), SIM_RECURRENT_IN(NEW, "new"),
              SIM_RECURRENT_IN(HIDDEN_NEW, "hidden_new"), SIM_RECURRENT_GATES(GRU_GATES),
              SIM_RECURRENT_OUT(DW_INPUT, "dw_input"), SIM_RECURRENT_OUT(GRU_DW_HIDDEN, "dw_hidden"),
              SIM_RECURRENT_OUT(DB_INPUT, "db_input"), SIM_RECURRENT_OUT(DB_HIDDEN, "db_hidden"),
              SIM_RECURRENT_OUT(GRU_DX, "dx"), SIM_RECURRENT_OUT(GRU_DH_PREV, "dh_prev"))
