/* The single operators DynamicRNN, which is an LSTM, and DynamicGRUV2: one layer in one direction, whose input is
 * [time, batch, input]. A weight has some columns for each gate, in an order that is an argument. States and sums are
 * doubles, so that results of a short type do not make the later ones less precise. All tensors are loaded before a
 * result is stored, so that an output may equal an input. */
#include "slices.h"
#include "tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct sizes {
    size_t si_time, si_batch, si_input, si_hidden;
};

static struct sizes sizes_of(const aclsimTensor *x, const aclsimTensor *y)
{
    return (struct sizes){(size_t)x->dims[0], (size_t)x->dims[1], (size_t)x->dims[2], (size_t)y->dims[2]};
}

static double sigmoid(double value)
{
    return 1 / (1 + exp(-value));
}

/* Adds the product of a row and a matrix to the sums. */
static void add_product(const double *row, size_t depth, const double *matrix, size_t columns, double *sums)
{
    for (size_t k = 0; k < depth; k++)
        for (size_t i = 0; i < columns; i++)
            sums[i] += row[k] * matrix[k * columns + i];
}

/* ---- checks ---- */

/* The initial state of a batch may be absent. */
static aclnnStatus check_state(const aclsimArgument *state, int64_t batch, int64_t hidden)
{
    const int64_t dims[] = {1, batch, hidden};
    if (state->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(state, SIM_TYPES_SINGLE));
    const uint32_t first = state->tensors->rank == 2;
    return sim_require_shape(state, dims + first, 3 - first, "one state for each element of the batch");
}

static aclnnStatus check_bias(const aclsimArgument *bias, int64_t columns)
{
    if (bias->present == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_type(bias, SIM_TYPES_SINGLE));
    return sim_require_shape(bias, &columns, 1, "one number per column of the weight");
}

static aclnnStatus check_gates(const aclsimArgument *gates, uint64_t count)
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

/* All outputs have one state for each time and element of the batch. */
static aclnnStatus check_outputs(const aclsimArgument *outputs, size_t count, const aclsimTensor *x, int64_t hidden)
{
    const int64_t dims[] = {x->dims[0], x->dims[1], hidden};
    for (size_t i = 0; i < count; i++) {
        SIM_TRY(sim_require_type(&outputs[i], SIM_TYPES_SINGLE));
        SIM_TRY(sim_require_shape(&outputs[i], dims, 3, "the time and batch of x, and the hidden size"));
    }
    return ACL_SUCCESS;
}

/* ---- DynamicRNN: the weight has a row for each element of the input, then one for each of the state. Reversed, it
 * begins with the last time. ---- */

enum { X, W, B, INIT_H, INIT_C, GATES, FORGET_BIAS, REVERSED, Y, OUTPUT_H, OUTPUT_C, GATE_I, GATE_J, GATE_F, GATE_O,
       TANH_C, LSTM_ARGUMENTS };
enum { LSTM_GATES = 4, LSTM_RESULTS = LSTM_ARGUMENTS - OUTPUT_H };

static aclnnStatus plan_lstm(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *x = given[X].tensors, *w = given[W].tensors;
    (void)workspace_size;
    SIM_TRY(check_input(&given[X], &given[W]));
    const int64_t hidden = w->dims[1] / LSTM_GATES;
    SIM_ARGUMENT(w->dims[1] % LSTM_GATES == 0 && w->dims[0] - hidden == x->dims[2], ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " rows and %" PRId64 " columns, expected 4 times the hidden size as columns, and as "
                 "many rows as the hidden size and the last dimension of %s, %" PRId64 ", together", given[W].name,
                 w->dims[0], w->dims[1], given[X].name, x->dims[2]);
    SIM_TRY(check_bias(&given[B], w->dims[1]));
    SIM_TRY(check_state(&given[INIT_H], x->dims[1], hidden));
    SIM_TRY(check_state(&given[INIT_C], x->dims[1], hidden));
    SIM_TRY(check_gates(&given[GATES], LSTM_GATES));
    return check_outputs(&given[Y], LSTM_ARGUMENTS - Y, x, hidden);
}

/* Computes the states of one element of the batch from its sums. The results begin at this element. */
static void step_lstm(const aclsimArgument *given, const double *sums, size_t hidden, double *h, double *c,
                      double *const *results, size_t at)
{
    const int64_t *gates = given[GATES].integers;
    const double *i_sums = sums + (size_t)gates[0] * hidden, *j_sums = sums + (size_t)gates[1] * hidden,
                 *f_sums = sums + (size_t)gates[2] * hidden, *o_sums = sums + (size_t)gates[3] * hidden;
    for (size_t k = 0; k < hidden; k++) {
        const double i = sigmoid(i_sums[k]), j = tanh(j_sums[k]), f = sigmoid(f_sums[k] + given[FORGET_BIAS].number),
                     o = sigmoid(o_sums[k]);
        c[k] = f * c[k] + i * j;
        const double flat = tanh(c[k]);
        h[k] = o * flat;
        const double found[LSTM_RESULTS] = {h[k], c[k], i, j, f, o, flat};
        for (size_t r = 0; r < LSTM_RESULTS; r++)
            results[r][at + k] = found[r];
    }
}

static aclError run_lstm(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct sizes sizes = sizes_of(given[X].tensors, given[Y].tensors);
    const size_t hidden = sizes.si_hidden, columns = LSTM_GATES * hidden, states = sizes.si_batch * hidden;
    double *x, *w, *b, *h, *c, *sums, *results[LSTM_RESULTS];
    SIM_TRY(sim_lists_load(lists, &given[X], &x));
    SIM_TRY(sim_lists_load(lists, &given[W], &w));
    SIM_TRY(sim_lists_load_or(lists, &given[B], columns, 0, &b));
    SIM_TRY(sim_lists_load_or(lists, &given[INIT_H], states, 0, &h));
    SIM_TRY(sim_lists_load_or(lists, &given[INIT_C], states, 0, &c));
    SIM_TRY(sim_lists_take(lists, columns, &sums));
    for (size_t r = 0; r < LSTM_RESULTS; r++)
        SIM_TRY(sim_lists_take(lists, sizes.si_time * states, &results[r]));
    for (size_t done = 0; done < sizes.si_time * sizes.si_batch; done++) {
        const size_t row = done % sizes.si_batch, step = done / sizes.si_batch, state = row * hidden;
        const size_t line = (given[REVERSED].integer != 0 ? sizes.si_time - 1 - step : step) * sizes.si_batch + row;
        memcpy(sums, b, columns * sizeof *sums);
        add_product(x + line * sizes.si_input, sizes.si_input, w, columns, sums);
        add_product(h + state, hidden, w + sizes.si_input * columns, columns, sums);
        step_lstm(given, sums, hidden, h + state, c + state, results, line * hidden);
    }
    sim_lists_store(&given[Y], results[0]);
    for (size_t r = 0; r < LSTM_RESULTS; r++)
        sim_lists_store(&given[OUTPUT_H + r], results[r]);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind lstm_kind = {run_lstm};
static const struct sim_kernel lstm_kernel = {plan_lstm, sim_lists_run, (void *)&lstm_kind, true};
static const struct sim_parameter lstm_parameters[] = {
    [X] = {"x", ACLSIM_TENSOR, ACLSIM_IN, false},
    [W] = {"w", ACLSIM_TENSOR, ACLSIM_IN, false},
    [B] = {"b", ACLSIM_TENSOR, ACLSIM_IN, false},
    [INIT_H] = {"init_h", ACLSIM_TENSOR, ACLSIM_IN, true},
    [INIT_C] = {"init_c", ACLSIM_TENSOR, ACLSIM_IN, true},
    [GATES] = {"gates", ACLSIM_INTEGERS, 0, false},
    [FORGET_BIAS] = {"forget_bias", ACLSIM_NUMBER, 0, false},
    [REVERSED] = {"reversed", ACLSIM_INTEGER, 0, false},
    [Y] = {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
    [OUTPUT_H] = {"output_h", ACLSIM_TENSOR, ACLSIM_OUT, false},
    [OUTPUT_C] = {"output_c", ACLSIM_TENSOR, ACLSIM_OUT, false},
    [GATE_I] = {"i", ACLSIM_TENSOR, ACLSIM_OUT, false},
    [GATE_J] = {"j", ACLSIM_TENSOR, ACLSIM_OUT, false},
    [GATE_F] = {"f", ACLSIM_TENSOR, ACLSIM_OUT, false},
    [GATE_O] = {"o", ACLSIM_TENSOR, ACLSIM_OUT, false},
    [TANH_C] = {"tanhc", ACLSIM_TENSOR, ACLSIM_OUT, false},
};

struct sim_row sim_op_lstm_row = SIM_ROW("DynamicRNN", SIM_TASK_CUBE, lstm_parameters, &lstm_kernel);

/* ---- DynamicGRUV2: one weight for the input and one for the state ---- */

enum { GRU_X, WEIGHT_INPUT, WEIGHT_HIDDEN, BIAS_INPUT, BIAS_HIDDEN, GRU_INIT_H, GRU_GATES, GRU_Y, GRU_OUTPUT_H, UPDATE,
       RESET, NEW, HIDDEN_NEW, GRU_ARGUMENTS };
enum { GRU_COUNT = 3, GRU_RESULTS = GRU_ARGUMENTS - GRU_OUTPUT_H };

static aclnnStatus plan_gru(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *weight = &given[WEIGHT_HIDDEN];
    const aclsimTensor *x = given[GRU_X].tensors;
    (void)workspace_size;
    SIM_TRY(check_input(&given[GRU_X], &given[WEIGHT_INPUT]));
    SIM_TRY(sim_require_types(&given[GRU_X], weight, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(weight, 2, 2));
    const int64_t hidden = weight->tensors->dims[0], columns = weight->tensors->dims[1];
    const int64_t dims[] = {x->dims[2], columns};
    SIM_ARGUMENT(columns % GRU_COUNT == 0 && columns / GRU_COUNT == hidden, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " rows and %" PRId64 " columns, expected 3 times as many columns as rows",
                 weight->name, hidden, columns);
    SIM_TRY(sim_require_shape(&given[WEIGHT_INPUT], dims, 2, "a row for each element of the input"));
    SIM_TRY(check_bias(&given[BIAS_INPUT], columns));
    SIM_TRY(check_bias(&given[BIAS_HIDDEN], columns));
    SIM_TRY(check_state(&given[GRU_INIT_H], x->dims[1], hidden));
    SIM_TRY(check_gates(&given[GRU_GATES], GRU_COUNT));
    return check_outputs(&given[GRU_Y], GRU_ARGUMENTS - GRU_Y, x, hidden);
}

/* The reset gate applies to the product of the state and its weight, with its bias. */
static void step_gru(const int64_t *gates, const double *sums, const double *state_sums, size_t hidden, double *h,
                     double *const *results, size_t at)
{
    const size_t z = (size_t)gates[0] * hidden, r = (size_t)gates[1] * hidden, n = (size_t)gates[2] * hidden;
    for (size_t k = 0; k < hidden; k++) {
        const double update = sigmoid(sums[z + k] + state_sums[z + k]), hidden_new = state_sums[n + k],
                     reset = sigmoid(sums[r + k] + state_sums[r + k]), fresh = tanh(sums[n + k] + reset * hidden_new);
        h[k] = (1 - update) * fresh + update * h[k];
        const double found[GRU_RESULTS] = {h[k], update, reset, fresh, hidden_new};
        for (size_t i = 0; i < GRU_RESULTS; i++)
            results[i][at + k] = found[i];
    }
}

static aclError run_gru(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const struct sizes sizes = sizes_of(given[GRU_X].tensors, given[GRU_Y].tensors);
    const size_t hidden = sizes.si_hidden, columns = GRU_COUNT * hidden, states = sizes.si_batch * hidden;
    double *x, *weights[2], *biases[2], *h, *sums[2], *results[GRU_RESULTS];
    SIM_TRY(sim_lists_load(lists, &given[GRU_X], &x));
    SIM_TRY(sim_lists_load_or(lists, &given[GRU_INIT_H], states, 0, &h));
    for (size_t i = 0; i < 2; i++) { /* those of the input, then those of the state */
        SIM_TRY(sim_lists_load(lists, &given[WEIGHT_INPUT + i], &weights[i]));
        SIM_TRY(sim_lists_load_or(lists, &given[BIAS_INPUT + i], columns, 0, &biases[i]));
        SIM_TRY(sim_lists_take(lists, columns, &sums[i]));
    }
    for (size_t i = 0; i < GRU_RESULTS; i++)
        SIM_TRY(sim_lists_take(lists, sizes.si_time * states, &results[i]));
    for (size_t line = 0; line < sizes.si_time * sizes.si_batch; line++) {
        double *state = h + line % sizes.si_batch * hidden;
        for (size_t i = 0; i < 2; i++)
            memcpy(sums[i], biases[i], columns * sizeof *sums[i]);
        add_product(x + line * sizes.si_input, sizes.si_input, weights[0], columns, sums[0]);
        add_product(state, hidden, weights[1], columns, sums[1]);
        step_gru(given[GRU_GATES].integers, sums[0], sums[1], hidden, state, results, line * hidden);
    }
    sim_lists_store(&given[GRU_Y], results[0]);
    for (size_t i = 0; i < GRU_RESULTS; i++)
        sim_lists_store(&given[GRU_OUTPUT_H + i], results[i]);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind gru_kind = {run_gru};
static const struct sim_kernel gru_kernel = {plan_gru, sim_lists_run, (void *)&gru_kind, true};
static const struct sim_parameter gru_parameters[] = {
    [GRU_X] = {"x", ACLSIM_TENSOR, ACLSIM_IN, false},
    [WEIGHT_INPUT] = {"weight_input", ACLSIM_TENSOR, ACLSIM_IN, false},
    [WEIGHT_HIDDEN] = {"weight_hidden", ACLSIM_TENSOR, ACLSIM_IN, false},
    [BIAS_INPUT] = {"bias_input", ACLSIM_TENSOR, ACLSIM_IN, true},
    [BIAS_HIDDEN] = {"bias_hidden", ACLSIM_TENSOR, ACLSIM_IN, true},
    [GRU_INIT_H] = {"init_h", ACLSIM_TENSOR, ACLSIM_IN, true},
    [GRU_GATES] = {"gates", ACLSIM_INTEGERS, 0, false},
    [GRU_Y] = {"y", ACLSIM_TENSOR, ACLSIM_OUT, false},
    [GRU_OUTPUT_H] = {"output_h", ACLSIM_TENSOR, ACLSIM_OUT, false},
    [UPDATE] = {"update", ACLSIM_TENSOR, ACLSIM_OUT, false},
    [RESET] = {"reset", ACLSIM_TENSOR, ACLSIM_OUT, false},
    [NEW] = {"new", ACLSIM_TENSOR, ACLSIM_OUT, false},
    [HIDDEN_NEW] = {"hidden_new", ACLSIM_TENSOR, ACLSIM_OUT, false},
};

struct sim_row sim_op_gru_row = SIM_ROW("DynamicGRUV2", SIM_TASK_CUBE, gru_parameters, &gru_kernel);
