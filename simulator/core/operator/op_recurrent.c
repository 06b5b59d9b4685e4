/* Arguments and shapes of the single operators DynamicRNN and DynamicGRUV2. This file has no state and no lock. */
#include "op_type.h"

static aclError check_text(const struct sim_op_request *request, const char *name, const char *expected)
{
    const char *found = sim_op_text(request, name, expected);
    SIM_ARGUMENT(strcmp(found, expected) == 0, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute %s of %s is \"%s\", which the simulator does not support, expected %s", name,
                 request->rq_type, found, expected);
    return ACL_SUCCESS;
}

/* How long the sequences of a batch are: the documents do not say what the outputs after the end of one are. */
static aclError check_omitted(const struct sim_op_request *request, uint32_t place)
{
    SIM_ARGUMENT(!sim_op_has_input(request, place), ACL_ERROR_OP_INPUT_NOT_MATCH,
                 "inputs[%u] of %s, seq_length, is given, which the simulator does not support, expected "
                 "ACL_DT_UNDEFINED (-1) as its data type", place, request->rq_type);
    return ACL_SUCCESS;
}

/* Finds the place of each gate in attribute gate_order, which is one of two orders; the first is its default. */
static aclError find_gates(const struct sim_op_request *request, const char *gates, const char *const *orders,
                           int64_t *numbers, uint32_t *count)
{
    const char *order = sim_op_text(request, "gate_order", orders[0]);
    SIM_TRY(check_text(request, "activation", "tanh"));
    SIM_ARGUMENT(strcmp(order, orders[0]) == 0 || strcmp(order, orders[1]) == 0, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute gate_order of %s is \"%s\", expected %s or %s", request->rq_type, order, orders[0],
                 orders[1]);
    *count = (uint32_t)strlen(gates);
    for (uint32_t i = 0; i < *count; i++)
        numbers[i] = strchr(order, gates[i]) - order;
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

/* ---- DynamicRNN(x, w, b, seq_length, init_h, init_c, wci, wcf, wco, mask) ---- */

aclError sim_op_recurrent_lstm_gates(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    static const char *const orders[] = {"ijfo", "ifjo"};
    SIM_TRY(check_omitted(request, 3));
    SIM_TRY(check_text(request, "cell_type", "LSTM"));
    return find_gates(request, "ijfo", orders, numbers, count);
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

/* ---- DynamicGRUV2(x, weight_input, weight_hidden, bias_input, bias_hidden, seq_length, init_h) ---- */

aclError sim_op_recurrent_gru_gates(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    static const char *const orders[] = {"zrh", "rzh"};
    SIM_TRY(check_omitted(request, 5));
    SIM_TRY(check_text(request, "direction", "UNIDIRECTIONAL"));
    return find_gates(request, "zrh", orders, numbers, count);
}

aclError sim_op_recurrent_gru_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    return find_dims(request, 2, 3, numbers, count);
}
