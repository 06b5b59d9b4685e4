/* The steps of recurrent layers and their gradients. */
#include "layer.h"

#include <math.h>
#include <string.h>

static double sigmoid(double value)
{
    return 1 / (1 + exp(-value));
}

/* The derivative of the logistic function, from its value. */
static double slope(double value)
{
    return value * (1 - value);
}

static void save(const struct sim_layer *layer, const double *found, size_t at)
{
    for (size_t i = 0; i < layer->la_cell->ce_saved; i++)
        layer->la_saved[i][at] = found[i];
}

/* Where the columns of a gate begin. */
static size_t columns_of(const struct sim_layer *layer, size_t gate)
{
    return (size_t)layer->la_gates[gate] * layer->la_hidden;
}

/* ---- LSTM: the gates are i, j, f and o ---- */

static void step_lstm(const struct sim_layer *layer, double *const *sums, size_t state, size_t at)
{
    double *h = layer->la_states[SIM_LSTM_H] + state, *c = layer->la_states[SIM_LSTM_C] + state;
    for (size_t k = 0; k < layer->la_hidden; k++) {
        double gates[SIM_LSTM_GATES];
        for (size_t g = 0; g < SIM_LSTM_GATES; g++)
            gates[g] = sums[0][columns_of(layer, g) + k] + sums[1][columns_of(layer, g) + k];
        const double i = sigmoid(gates[0]), j = tanh(gates[1]), f = sigmoid(gates[2] + layer->la_forget_bias),
                     o = sigmoid(gates[3]);
        c[k] = f * c[k] + i * j;
        const double flat = tanh(c[k]);
        h[k] = o * flat;
        const double found[SIM_LSTM_SAVED] = {h[k], c[k], i, j, f, o, flat};
        save(layer, found, at + k);
    }
}

static void back_lstm(const struct sim_layer *layer, const double *const *before, double *const *gradients,
                      double *const *sums, size_t at)
{
    double *const *saved = layer->la_saved, *dh = gradients[SIM_LSTM_H], *dc = gradients[SIM_LSTM_C];
    for (size_t k = 0; k < layer->la_hidden; k++) {
        const double i = saved[SIM_LSTM_I][at + k], j = saved[SIM_LSTM_J][at + k], f = saved[SIM_LSTM_F][at + k],
                     o = saved[SIM_LSTM_O][at + k], flat = saved[SIM_LSTM_TANH_C][at + k];
        dc[k] += dh[k] * o * (1 - flat * flat);
        const double found[SIM_LSTM_GATES] = {dc[k] * j * slope(i), dc[k] * i * (1 - j * j),
                                              dc[k] * before[SIM_LSTM_C][k] * slope(f), dh[k] * flat * slope(o)};
        for (size_t g = 0; g < SIM_LSTM_GATES; g++)
            sums[0][columns_of(layer, g) + k] = sums[1][columns_of(layer, g) + k] = found[g];
        dc[k] *= f;
        dh[k] = 0;
    }
}

const struct sim_cell sim_layer_lstm = {SIM_LSTM_GATES, 2, SIM_LSTM_SAVED, step_lstm, back_lstm};

/* ---- GRU: the gates are z, r and n; the reset gate applies to the product of the state and its weight, with its
 * bias ---- */

static void step_gru(const struct sim_layer *layer, double *const *sums, size_t state, size_t at)
{
    double *h = layer->la_states[SIM_GRU_H] + state;
    const size_t z = columns_of(layer, 0), r = columns_of(layer, 1), n = columns_of(layer, 2);
    for (size_t k = 0; k < layer->la_hidden; k++) {
        const double update = sigmoid(sums[0][z + k] + sums[1][z + k]), hidden_new = sums[1][n + k];
        const double reset = sigmoid(sums[0][r + k] + sums[1][r + k]);
        const double fresh = tanh(sums[0][n + k] + reset * hidden_new);
        h[k] = (1 - update) * fresh + update * h[k];
        const double found[SIM_GRU_SAVED] = {h[k], update, reset, fresh, hidden_new};
        save(layer, found, at + k);
    }
}

static void back_gru(const struct sim_layer *layer, const double *const *before, double *const *gradients,
                     double *const *sums, size_t at)
{
    double *const *saved = layer->la_saved, *dh = gradients[SIM_GRU_H];
    for (size_t k = 0; k < layer->la_hidden; k++) {
        const double update = saved[SIM_GRU_UPDATE][at + k], reset = saved[SIM_GRU_RESET][at + k],
                     fresh = saved[SIM_GRU_NEW][at + k];
        const double dn = dh[k] * (1 - update) * (1 - fresh * fresh);
        const double found[SIM_GRU_GATES] = {dh[k] * (before[SIM_GRU_H][k] - fresh) * slope(update),
                                             dn * saved[SIM_GRU_HIDDEN_NEW][at + k] * slope(reset), dn};
        for (size_t g = 0; g < SIM_GRU_GATES; g++)
            sums[0][columns_of(layer, g) + k] = sums[1][columns_of(layer, g) + k] = found[g];
        sums[1][columns_of(layer, 2) + k] *= reset;
        dh[k] *= update;
    }
}

const struct sim_cell sim_layer_gru = {SIM_GRU_GATES, 1, SIM_GRU_SAVED, step_gru, back_gru};

/* ---- all steps ---- */

bool sim_layer_runs(const struct sim_layer *layer, size_t line)
{
    return layer->la_runs == NULL || layer->la_runs[line] != 0;
}

/* The line of the first sequence in the step with this number. */
static size_t first_line(const struct sim_layer *layer, size_t step)
{
    return (layer->la_reversed ? layer->la_time - 1 - step : step) * layer->la_batch;
}

static size_t count_columns(const struct sim_layer *layer)
{
    return layer->la_cell->ce_gates * layer->la_hidden;
}

/* The sums of all sequences in a step. */
static aclError take_sums(const struct sim_layer *layer, struct sim_lists *lists, double **sums)
{
    SIM_TRY(sim_lists_take(lists, layer->la_batch * count_columns(layer), &sums[0]));
    return sim_lists_take(lists, layer->la_batch * count_columns(layer), &sums[1]);
}

/* Adds `factor` times the numbers to the sums. */
static void add_scaled(double *sums, double factor, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sums[i] += factor * numbers[i];
}

/* Four sums, so that the processor need not wait for each addition. */
static double multiply(const double *one, const double *other, size_t count)
{
    enum { LANES = 4 };
    double lanes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            lanes[k] += one[i + k] * other[i + k];
    for (; i < count; i++)
        lanes[0] += one[i] * other[i];
    return lanes[0] + lanes[1] + (lanes[2] + lanes[3]);
}

/* Adds the products of the rows of all sequences and a matrix to their sums. The matrix is read once. */
static void add_products(const struct sim_layer *layer, size_t line, const double *rows, size_t depth,
                         const double *matrix, double *sums)
{
    const size_t columns = count_columns(layer);
    for (size_t k = 0; k < depth; k++)
        for (size_t row = 0; row < layer->la_batch; row++)
            if (sim_layer_runs(layer, line + row))
                add_scaled(sums + row * columns, rows[row * depth + k], matrix + k * columns, columns);
}

static void run_step(const struct sim_layer *layer, double *const *sums, size_t step)
{
    const size_t hidden = layer->la_hidden, columns = count_columns(layer), line = first_line(layer, step);
    for (size_t i = 0; i < 2; i++)
        for (size_t row = 0; row < layer->la_batch; row++)
            memcpy(sums[i] + row * columns, layer->la_biases[i], columns * sizeof(double));
    add_products(layer, line, layer->la_x + line * layer->la_input, layer->la_input, layer->la_weights[0], sums[0]);
    add_products(layer, line, layer->la_states[0], hidden, layer->la_weights[1], sums[1]);
    for (size_t row = 0; row < layer->la_batch; row++) {
        double *const own[] = {sums[0] + row * columns, sums[1] + row * columns};
        const size_t state = row * hidden, at = (line + row) * hidden;
        if (sim_layer_runs(layer, line + row)) {
            layer->la_cell->ce_step(layer, own, state, at);
            continue;
        }
        for (size_t s = 0; s < layer->la_cell->ce_states; s++)
            memcpy(layer->la_saved[s] + at, layer->la_states[s] + state, hidden * sizeof(double));
    }
}

aclError sim_layer_run(const struct sim_layer *layer, struct sim_lists *lists)
{
    double *sums[2];
    SIM_TRY(take_sums(layer, lists, sums));
    for (size_t step = 0; step < layer->la_time; step++)
        run_step(layer, sums, step);
    return ACL_SUCCESS;
}

void sim_layer_put(const struct sim_layer *layer, double *y, size_t width)
{
    const size_t hidden = layer->la_hidden;
    for (size_t line = 0; line < layer->la_time * layer->la_batch; line++)
        if (sim_layer_runs(layer, line))
            memcpy(y + line * width, layer->la_saved[0] + line * hidden, hidden * sizeof(double));
        else
            memset(y + line * width, 0, hidden * sizeof(double));
}

/* Adds the gradients of the rows of all sequences, of a matrix and of its bias, from those of the sums. */
static void add_gradients(const struct sim_layer *layer, size_t line, const double *rows, size_t depth,
                          const double *matrix, const double *sums, double *row_gradients, double *matrix_gradient,
                          double *bias_gradient)
{
    const size_t columns = count_columns(layer);
    for (size_t k = 0; k < depth; k++)
        for (size_t row = 0; row < layer->la_batch; row++) {
            if (!sim_layer_runs(layer, line + row))
                continue;
            const double *own = sums + row * columns;
            row_gradients[row * depth + k] += multiply(own, matrix + k * columns, columns);
            add_scaled(matrix_gradient + k * columns, rows[row * depth + k], own, columns);
        }
    for (size_t row = 0; row < layer->la_batch; row++)
        if (sim_layer_runs(layer, line + row))
            add_scaled(bias_gradient, 1, sums + row * columns, columns);
}

static void back_step(const struct sim_layer *layer, const struct sim_layer_gradient *gradient, double *const *sums,
                      size_t step)
{
    const size_t hidden = layer->la_hidden, columns = count_columns(layer), line = first_line(layer, step);
    const double *before[SIM_LAYER_STATES] = {NULL};
    for (size_t s = 0; s < layer->la_cell->ce_states; s++)
        before[s] = step == 0 ? layer->la_states[s] : layer->la_saved[s] + first_line(layer, step - 1) * hidden;
    for (size_t row = 0; row < layer->la_batch; row++) {
        const double *own_before[SIM_LAYER_STATES] = {NULL};
        double *const own[] = {sums[0] + row * columns, sums[1] + row * columns}, *states[SIM_LAYER_STATES] = {NULL};
        if (!sim_layer_runs(layer, line + row))
            continue;
        for (size_t s = 0; s < layer->la_cell->ce_states; s++) {
            own_before[s] = before[s] + row * hidden;
            states[s] = gradient->lg_states[s] + row * hidden;
        }
        add_scaled(states[0], 1, gradient->lg_y + (line + row) * gradient->lg_width, hidden);
        layer->la_cell->ce_back(layer, own_before, states, own, (line + row) * hidden);
    }
    add_gradients(layer, line, layer->la_x + line * layer->la_input, layer->la_input, layer->la_weights[0], sums[0],
                  gradient->lg_x + line * layer->la_input, gradient->lg_weights[0], gradient->lg_biases[0]);
    add_gradients(layer, line, before[0], hidden, layer->la_weights[1], sums[1], gradient->lg_states[0],
                  gradient->lg_weights[1], gradient->lg_biases[1]);
}

aclError sim_layer_back(const struct sim_layer *layer, const struct sim_layer_gradient *gradient,
                        struct sim_lists *lists)
{
    double *sums[2];
    SIM_TRY(take_sums(layer, lists, sums));
    for (size_t step = layer->la_time; step-- != 0;)
        back_step(layer, gradient, sums, step);
    return ACL_SUCCESS;
}
