/* aclnnThnnFusedLstmCell and its gradient: one step of an LSTM, from the products of the input and of the state with
 * their weights. The gates are i, f, j and o, each with as many columns as the state. */
#include "layer.h"

#include <math.h>
#include <string.h>

#define TYPES (SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_FLOAT16))

static const int64_t gates[] = {0, 2, 1, 3}; /* the places of i, j, f and o */
static const size_t gate_lists[] = {SIM_LSTM_I, SIM_LSTM_J, SIM_LSTM_F, SIM_LSTM_O};

/* The state is [batch, hidden]; the tensors at `wide` have four times its columns. */
static aclnnStatus check_shapes(const aclsimArgument *given, const aclsimArgument *state, const uint8_t *wide,
                                size_t count, const uint8_t *others, size_t other_count)
{
    SIM_TRY(sim_require_type(state, TYPES));
    SIM_TRY(sim_require_rank(state, 2, 2));
    const int64_t dims[] = {state->tensors->dims[0], SIM_LSTM_GATES * state->tensors->dims[1]};
    for (size_t i = 0; i < count; i++) {
        SIM_TRY(sim_require_same_type(&given[wide[i]], state->tensors->type, state->name));
        SIM_TRY(sim_require_shape(&given[wide[i]], dims, 2, "four gates for each state"));
    }
    for (size_t i = 0; i < other_count; i++)
        if (given[others[i]].present != 0)
            SIM_TRY(sim_require_like(&given[others[i]], state));
    return ACL_SUCCESS;
}

static aclnnStatus check_bias(const aclsimArgument *bias, const aclsimArgument *state)
{
    const int64_t columns = SIM_LSTM_GATES * state->tensors->dims[1];
    if (bias->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_same_type(bias, state->tensors->type, state->name));
    return sim_require_shape(bias, &columns, 1, "a number for each gate and state");
}

/* A layer whose only time is this step. */
static aclError take_layer(const aclsimArgument *cx, struct sim_lists *lists, struct sim_layer *layer)
{
    *layer = (struct sim_layer){.la_cell = &sim_layer_lstm, .la_gates = gates, .la_time = 1,
                                .la_batch = (size_t)cx->tensors->dims[0], .la_hidden = (size_t)cx->tensors->dims[1]};
    for (size_t i = 0; i < SIM_LSTM_SAVED; i++)
        SIM_TRY(sim_lists_take(lists, layer->la_batch * layer->la_hidden, &layer->la_saved[i]));
    return sim_lists_load(lists, cx, &layer->la_states[SIM_LSTM_C]);
}

/* ---- aclnnThnnFusedLstmCell ---- */

enum { INPUT_GATES, HIDDEN_GATES, CX, INPUT_BIAS, HIDDEN_BIAS, HY, CY, STORAGE };

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    static const uint8_t wide[] = {INPUT_GATES, HIDDEN_GATES, STORAGE}, others[] = {HY, CY};
    const aclsimArgument *given = call->arguments;
    (void)workspace_size;
    SIM_TRY(check_shapes(given, &given[CX], wide, 3, others, 2));
    SIM_TRY(check_bias(&given[INPUT_BIAS], &given[CX]));
    SIM_TRY(check_bias(&given[HIDDEN_BIAS], &given[CX]));
    SIM_ARGUMENT(given[INPUT_BIAS].present == given[HIDDEN_BIAS].present, ACLNN_ERR_PARAM_INVALID,
                 "%s is %s, expected both biases or none", given[HIDDEN_BIAS].name,
                 given[HIDDEN_BIAS].present != 0 ? "given without the other one" : "NULL");
    return ACL_SUCCESS;
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    struct sim_layer layer;
    double *sums[2], *biases[2], *storage;
    SIM_TRY(take_layer(&given[CX], lists, &layer));
    const size_t hidden = layer.la_hidden, columns = SIM_LSTM_GATES * hidden;
    SIM_TRY(sim_lists_take(lists, layer.la_batch * hidden, &layer.la_states[SIM_LSTM_H]));
    SIM_TRY(sim_lists_take(lists, layer.la_batch * columns, &storage));
    for (size_t i = 0; i < 2; i++) {
        SIM_TRY(sim_lists_load(lists, &given[INPUT_GATES + i], &sums[i]));
        SIM_TRY(sim_lists_load_or(lists, &given[INPUT_BIAS + i], columns, 0, &biases[i]));
        for (size_t k = 0; k < layer.la_batch * columns; k++)
            sums[i][k] += biases[i][k % columns];
    }
    for (size_t row = 0; row < layer.la_batch; row++) {
        double *const own[] = {sums[0] + row * columns, sums[1] + row * columns};
        sim_layer_lstm.ce_step(&layer, own, row * hidden, row * hidden);
        for (size_t g = 0; g < SIM_LSTM_GATES; g++)
            memcpy(storage + row * columns + (size_t)gates[g] * hidden,
                   layer.la_saved[gate_lists[g]] + row * hidden, hidden * sizeof(double));
    }
    sim_lists_store(&given[HY], layer.la_states[SIM_LSTM_H]);
    sim_lists_store(&given[CY], layer.la_states[SIM_LSTM_C]);
    sim_lists_store(&given[STORAGE], storage);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind kind = {run};

/* ---- aclnnThnnFusedLstmCellBackward ---- */

enum { GRAD_HY, GRAD_CY, BACK_CX, BACK_CY, BACK_STORAGE, HAS_BIAS, GRAD_GATES, GRAD_CX, GRAD_BIAS };

static aclnnStatus plan_back(const aclsimCall *call, uint64_t *workspace_size)
{
    static const uint8_t wide[] = {BACK_STORAGE, GRAD_GATES}, others[] = {GRAD_HY, GRAD_CY, BACK_CY, GRAD_CX};
    const aclsimArgument *given = call->arguments;
    (void)workspace_size;
    SIM_TRY(check_shapes(given, &given[BACK_CX], wide, 2, others, 4));
    return check_bias(&given[GRAD_BIAS], &given[BACK_CX]);
}

static aclError run_back(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    struct sim_layer layer;
    double *storage, *cy, *states[SIM_LAYER_STATES], *sums[2], *bias;
    SIM_TRY(take_layer(&given[BACK_CX], lists, &layer));
    const size_t hidden = layer.la_hidden, columns = SIM_LSTM_GATES * hidden, count = layer.la_batch * hidden;
    SIM_TRY(sim_lists_load(lists, &given[BACK_STORAGE], &storage));
    SIM_TRY(sim_lists_load(lists, &given[BACK_CY], &cy));
    SIM_TRY(sim_lists_take(lists, columns, &bias));
    for (size_t i = 0; i < 2; i++) {
        SIM_TRY(sim_lists_load_or(lists, &given[GRAD_HY + i], count, 0, &states[i]));
        SIM_TRY(sim_lists_take(lists, layer.la_batch * columns, &sums[i]));
    }
    for (size_t k = 0; k < count; k++)
        layer.la_saved[SIM_LSTM_TANH_C][k] = tanh(cy[k]);
    for (size_t row = 0; row < layer.la_batch; row++) {
        const size_t at = row * hidden;
        const double *const before[] = {NULL, layer.la_states[SIM_LSTM_C] + at};
        double *const own[] = {sums[0] + row * columns, sums[1] + row * columns};
        double *const own_states[] = {states[0] + at, states[1] + at};
        for (size_t g = 0; g < SIM_LSTM_GATES; g++)
            memcpy(layer.la_saved[gate_lists[g]] + at, storage + row * columns + (size_t)gates[g] * hidden,
                   hidden * sizeof(double));
        sim_layer_lstm.ce_back(&layer, before, own_states, own, at);
        for (size_t k = 0; k < columns; k++)
            bias[k] += own[0][k];
    }
    sim_lists_store(&given[GRAD_GATES], sums[0]);
    sim_lists_store(&given[GRAD_CX], states[1]);
    if (given[HAS_BIAS].integer != 0)
        sim_lists_store(&given[GRAD_BIAS], bias);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind back_kind = {run_back};

const struct sim_kernel sim_kernel_aclnnThnnFusedLstmCell = {plan, sim_lists_run, (void *)&kind, true},
                        sim_kernel_aclnnThnnFusedLstmCellBackward = {plan_back, sim_lists_run, (void *)&back_kind,
                                                                     true};
