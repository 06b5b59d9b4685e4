/* Arguments and shapes of the single operators of recurrent layers, DynamicRNN, DynamicRNNV2 and DynamicGRUV2, and of
 * their gradients. This file has no state and no lock. */
#include "op_type.h"

static aclError check_text(const struct sim_op_request *request, const char *name, const char *expected)
{
    const char *found = sim_op_text(request, name, expected);
    SIM_ARGUMENT(strcmp(found, expected) == 0, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute %s of %s is \"%s\", which the simulator does not support, expected %s", name,
                 request->rq_type, found, expected);
    return ACL_SUCCESS;
}

/* How long the sequences of a batch are: the documents do not say what the outputs after the end of one are. Clients
 * pass a scalar for none. */
static aclError check_omitted(const struct sim_op_request *request, uint32_t place)
{
    SIM_ARGUMENT(!sim_op_has_input(request, place) || request->rq_tensors[place].ot_rank == 0,
                 ACL_ERROR_OP_INPUT_NOT_MATCH,
                 "inputs[%u] of %s, seq_length, is given, which the simulator does not support, expected "
                 "ACL_DT_UNDEFINED (-1) as its data type", place, request->rq_type);
    return ACL_SUCCESS;
}

/* The same for an LSTM, which may have a mask instead, with 0 where a sequence is over: clients pass it for packed
 * sequences. */
static aclError check_mask(const struct sim_op_request *request, uint32_t place)
{
    return sim_op_has_input(request, place) && request->rq_tensors[place].ot_rank == 3
               ? ACL_SUCCESS
               : check_omitted(request, place);
}

/* Finds the place of each gate in attribute gate_order, which is one of two orders; the first is its default. Gate j is
 * c in some of them. */
static aclError find_gates(const struct sim_op_request *request, const char *gates, const char *const *orders,
                           int64_t *numbers, uint32_t *count)
{
    const char *order = sim_op_text(request, "gate_order", orders[0]);
    SIM_TRY(check_text(request, "activation", "tanh"));
    SIM_ARGUMENT(strcmp(order, orders[0]) == 0 || strcmp(order, orders[1]) == 0, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute gate_order of %s is \"%s\", expected %s or %s", request->rq_type, order, orders[0],
                 orders[1]);
    *count = (uint32_t)strlen(gates);
    for (uint32_t i = 0; i < *count; i++) {
        const char *found = strchr(order, gates[i]);
        numbers[i] = (found != NULL ? found : strchr(order, 'c')) - order;
    }
    return ACL_SUCCESS;
}

static aclError find_dims(const struct sim_op_request *request, uint32_t weight, uint32_t gates, int64_t *numbers,
                          uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0], *given = &request->rq_tensors[weight];
    SIM_ARGUMENT(x->ot_rank == 3 && given->ot_rank == 2, ACL_ERROR_OP_NOT_FOUND,
                 "inputs[0] of %s has %u dimensions and inputs[%u] has %u, expected 3 and 2", request->rq_type,
                 x->ot_rank, weight, given->ot_rank);
    numbers[0] = x->ot_dims[0];
    numbers[1] = x->ot_dims[1];
    numbers[2] = given->ot_dims[1] / gates;
    *count = 3;
    return ACL_SUCCESS;
}

/* An output of a gradient has the shape of an input, or (BIAS) a number for each column of the weight. */
#define BIAS UINT32_MAX
static void find_like(const struct sim_op_request *request, uint32_t input, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *like = &request->rq_tensors[input == BIAS ? 1 : input];
    const uint32_t first = input == BIAS && like->ot_rank != 0 ? like->ot_rank - 1 : 0;
    *count = like->ot_rank - first;
    memcpy(numbers, like->ot_dims + first, *count * sizeof *numbers);
}

static aclError find_lstm_gates(const struct sim_op_request *request, uint32_t mask, const char *const *orders,
                                int64_t *numbers, uint32_t *count)
{
    SIM_TRY(check_mask(request, mask));
    SIM_TRY(check_text(request, "cell_type", "LSTM"));
    SIM_TRY(check_text(request, "recurrent_activation", "sigmoid"));
    SIM_TRY(check_text(request, "merge_mode", "concat"));
    return find_gates(request, "ijfo", orders, numbers, count);
}

/* ---- DynamicRNN(x, w, b, seq_length, init_h, init_c, wci, wcf, wco, mask) ---- */

static const char *const lstm_orders[] = {"ijfo", "ifjo"};

aclError sim_op_recurrent_lstm_gates(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return find_lstm_gates(request, 3, lstm_orders, numbers, count);
}

aclError sim_op_recurrent_reversed(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const char *direction = sim_op_text(request, "direction", "UNIDIRECTIONAL");
    *numbers = strcmp(direction, "REDIRECTIONAL") == 0;
    *count = 1;
    SIM_ARGUMENT(*numbers != 0 || strcmp(direction, "UNIDIRECTIONAL") == 0, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute direction of %s is \"%s\", expected UNIDIRECTIONAL or REDIRECTIONAL", request->rq_type,
                 direction);
    return ACL_SUCCESS;
}

aclError sim_op_recurrent_lstm_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return find_dims(request, 1, 4, numbers, count);
}

/* ---- DynamicRNNV2(x, weight_input, weight_hidden, b, seq_length, init_h, init_c, wci, wcf, wco, mask) ---- */

aclError sim_op_recurrent_lstm_v2_gates(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    static const char *const orders[] = {"ijfo", "ifco"};
    return find_lstm_gates(request, 4, orders, numbers, count);
}

aclError sim_op_recurrent_lstm_v2_dims(const struct sim_op_request *request, uint32_t output, int64_t *numbers,
                                       uint32_t *count)
{
    SIM_TRY(find_dims(request, 1, 4, numbers, count));
    if (output == 1 || output == 2) /* the last states */
        numbers[0] = 1;
    return ACL_SUCCESS;
}

/* ---- DynamicRNNGrad(x, w, b, y, init_h, init_c, h, c, dy, dh, dc, i, j, f, o, tanhct, seq_length, mask, wci, wcf,
 * wco), and DynamicRNNV2Grad with w_x and w_h instead of w and b ---- */

aclError sim_op_recurrent_lstm_grad_gates(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return find_lstm_gates(request, 16, lstm_orders, numbers, count);
}

aclError sim_op_recurrent_lstm_grad_dims(const struct sim_op_request *request, uint32_t output, int64_t *numbers,
                                         uint32_t *count)
{
    static const uint32_t likes[] = {1, BIAS, 0, 4, 5};
    find_like(request, likes[output], numbers, count);
    return ACL_SUCCESS;
}

aclError sim_op_recurrent_lstm_v2_grad_dims(const struct sim_op_request *request, uint32_t output, int64_t *numbers,
                                            uint32_t *count)
{
    static const uint32_t likes[] = {1, 2, BIAS, 0, 4, 5};
    find_like(request, likes[output], numbers, count);
    return ACL_SUCCESS;
}

/* ---- DynamicGRUV2(x, weight_input, weight_hidden, bias_input, bias_hidden, seq_length, init_h) ---- */

static aclError find_gru_gates(const struct sim_op_request *request, uint32_t lengths, int64_t *numbers,
                               uint32_t *count)
{
    static const char *const orders[] = {"zrh", "rzh"};
    SIM_TRY(check_omitted(request, lengths));
    SIM_TRY(check_text(request, "direction", "UNIDIRECTIONAL"));
    return find_gates(request, "zrh", orders, numbers, count);
}

aclError sim_op_recurrent_gru_gates(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return find_gru_gates(request, 5, numbers, count);
}

aclError sim_op_recurrent_gru_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return find_dims(request, 2, 3, numbers, count);
}

/* ---- DynamicGRUV2Grad(x, weight_input, weight_hidden, y, init_h, h, dy, dh, update, reset, new, hidden_new,
 * seq_length, mask) ---- */

aclError sim_op_recurrent_gru_grad_gates(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return find_gru_gates(request, 12, numbers, count);
}

aclError sim_op_recurrent_gru_grad_dims(const struct sim_op_request *request, uint32_t output, int64_t *numbers,
                                        uint32_t *count)
{
    static const uint32_t likes[] = {1, 2, BIAS, BIAS, 0, 4};
    find_like(request, likes[output], numbers, count);
    return ACL_SUCCESS;
}
