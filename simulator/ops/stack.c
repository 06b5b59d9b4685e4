/* Recurrent networks of several layers, in one or two directions: aclnnLSTM, aclnnGRU and their gradients. A part is a
 * layer in one direction; parts are numbered by layer, then by direction. Its parameters are the weights of the input
 * and of the state and then, if there are any, their biases. A weight has a row for each column of the sums, so it is
 * loaded with its dimensions exchanged, and so are tensors with the batch first. The second direction begins with the
 * last time; what it saves and puts out is in the order of time. */
#include "layer.h"

#include "report.h"

#include <inttypes.h>
#include <string.h>

#define TYPES (SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_FLOAT16))

/* An operator, and where its arguments are. An output and the last states have the places of their gradients in an
 * operator that computes gradients. */
struct stack_kind {
    struct sim_lists_kind sk_kind; /* first, for sim_lists_run */
    const struct sim_cell *sk_cell;
    const int64_t *sk_gates;
    uint8_t sk_params, sk_first, sk_sizes, sk_has_bias, sk_layers, sk_both, sk_batch_first, sk_y, sk_last;
    uint8_t sk_saved[SIM_LSTM_SAVED]; /* lists with a tensor for each part */
    uint8_t sk_train, sk_dx, sk_d_first, sk_d_params; /* 0: the operator does not have it */
};

struct stack {
    const struct stack_kind *st_kind;
    const aclsimArgument *st_given;
    int64_t st_time, st_batch, st_input, st_hidden;
    uint64_t st_layers, st_ways, st_params; /* directions, and parameters of a part */
    bool st_packed, st_batch_first;         /* sequences of different lengths, which are padded */
    const double *st_x, *st_runs;           /* as in struct sim_layer */
    double *st_states[SIM_LAYER_STATES];    /* of all parts */
};

/* ---- checks ---- */

static aclnnStatus check_tensor(const struct stack *stack, const aclsimArgument *tensor, const int64_t *dims,
                                uint32_t rank, const char *whose)
{
    const aclsimArgument *input = &stack->st_given[0];
    SIM_TRY(sim_require_same_type(tensor, input->tensors->type, input->name));
    return sim_require_shape(tensor, dims, rank, whose);
}

static aclnnStatus check_count(const aclsimArgument *list, uint64_t count, const char *whose)
{
    if (list->count != count)
        sim_report_count(list->name, count);
    SIM_ARGUMENT(list->count == count, ACLNN_ERR_PARAM_INVALID, "%s has %" PRIu64 " tensors, expected %" PRIu64 ", %s",
                 list->name, list->count, count, whose);
    return ACL_SUCCESS;
}

static uint64_t count_parts(const struct stack *stack)
{
    return stack->st_layers * stack->st_ways;
}

static int64_t width_of(const struct stack *stack)
{
    return (int64_t)stack->st_ways * stack->st_hidden;
}

static aclnnStatus find_packed(const struct stack *stack, const aclsimArgument *sizes, int64_t *time, int64_t *batch)
{
    const int64_t lines = stack->st_given[0].tensors->dims[0];
    SIM_TRY(sim_require_type(sizes, SIM_TYPE(ACL_INT64)));
    SIM_TRY(sim_require_rank(sizes, 1, 1));
    *time = sizes->tensors->dims[0];
    SIM_ARGUMENT(*time != 0 && lines % *time == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRId64 " numbers, expected a divisor of the first dimension of %s, %" PRId64, sizes->name,
                 *time, stack->st_given[0].name, lines);
    *batch = lines / *time;
    return ACL_SUCCESS;
}

/* Finds the sizes from the input and the first weights, whose shapes are checked later. */
static aclnnStatus find_sizes(const aclsimCall *call, struct stack *stack)
{
    const struct stack_kind *kind = call->userData;
    const aclsimArgument *given = call->arguments, *sizes = &given[kind->sk_sizes], *params = &given[kind->sk_params];
    const aclsimArgument *layers = &given[kind->sk_layers];
    const int64_t *dims = given[0].tensors->dims;
    char name[SIM_NAME_BYTES];
    *stack = (struct stack){.st_kind = kind, .st_given = given, .st_layers = (uint64_t)layers->integer,
                            .st_ways = given[kind->sk_both].integer != 0 ? 2 : 1,
                            .st_params = given[kind->sk_has_bias].integer != 0 ? 4 : 2,
                            .st_packed = sizes->present != 0,
                            .st_batch_first = sizes->present == 0 && given[kind->sk_batch_first].integer != 0};
    SIM_ARGUMENT(!stack->st_packed || kind->sk_cell == &sim_layer_lstm, ACLNN_ERR_PARAM_INVALID,
                 "%s is given, which the operator does not support, expected NULL", sizes->name);
    SIM_TRY(sim_require_type(&given[0], TYPES));
    SIM_TRY(sim_require_rank(&given[0], stack->st_packed ? 2 : 3, stack->st_packed ? 2 : 3));
    if (layers->integer <= 0)
        sim_report_number(layers->name, 1);
    SIM_ARGUMENT(layers->integer > 0, ACLNN_ERR_PARAM_INVALID, "%s is %" PRId64 ", expected 1 or more", layers->name,
                 layers->integer);
    SIM_ARGUMENT(stack->st_layers <= params->count, ACLNN_ERR_PARAM_INVALID,
                 "%s has %" PRIu64 " tensors, expected some for each of the %" PRIu64 " layers", params->name,
                 params->count, stack->st_layers);
    SIM_TRY(check_count(params, count_parts(stack) * stack->st_params, "the parameters of each layer and direction"));
    stack->st_time = dims[stack->st_batch_first];
    stack->st_batch = dims[!stack->st_batch_first];
    stack->st_input = dims[stack->st_packed ? 1 : 2];
    if (stack->st_packed)
        SIM_TRY(find_packed(stack, sizes, &stack->st_time, &stack->st_batch));
    const aclsimArgument weight = sim_require_member(params, 1, name);
    SIM_TRY(sim_require_rank(&weight, 2, 2));
    stack->st_hidden = weight.tensors->dims[1];
    return ACL_SUCCESS;
}

/* A list has the parameters of all parts, or their gradients. */
static aclnnStatus check_params(const struct stack *stack, const aclsimArgument *params)
{
    const int64_t rows = (int64_t)stack->st_kind->sk_cell->ce_gates * stack->st_hidden;
    SIM_TRY(check_count(params, count_parts(stack) * stack->st_params, "the parameters of each layer and direction"));
    for (uint64_t i = 0; i < params->count; i++) {
        char name[SIM_NAME_BYTES];
        const aclsimArgument member = sim_require_member(params, i, name);
        const uint64_t place = i % stack->st_params;
        const bool is_first = i / stack->st_params < stack->st_ways;
        const int64_t depth = is_first ? stack->st_input : width_of(stack);
        const int64_t dims[] = {rows, place == 0 ? depth : stack->st_hidden};
        SIM_TRY(check_tensor(stack, &member, dims, place < 2 ? 2 : 1, "a row for each gate and state"));
    }
    return ACL_SUCCESS;
}

/* The state of all parts: hx is a list for an LSTM. */
static aclsimArgument first_state(const struct stack *stack, size_t state, char *name)
{
    const aclsimArgument *first = &stack->st_given[stack->st_kind->sk_first];
    return first->kind == ACLSIM_TENSOR ? *first : sim_require_member(first, state, name);
}

static aclnnStatus check_state(const struct stack *stack, const aclsimArgument *tensor)
{
    const int64_t dims[] = {(int64_t)count_parts(stack), stack->st_batch, stack->st_hidden};
    return tensor->present == 0 ? ACL_SUCCESS
                                : check_tensor(stack, tensor, dims, 3, "a state for each layer and direction");
}

static bool has_first(const struct stack *stack)
{
    const aclsimArgument *first = &stack->st_given[stack->st_kind->sk_first];
    return first->present != 0 && first->count != 0;
}

static aclnnStatus check_states(const struct stack *stack)
{
    const struct stack_kind *kind = stack->st_kind;
    const aclsimArgument *first = &stack->st_given[kind->sk_first];
    for (size_t s = 0; s < kind->sk_cell->ce_states; s++) {
        SIM_TRY(check_state(stack, &stack->st_given[kind->sk_last + s]));
        if (kind->sk_d_first != 0)
            SIM_TRY(check_state(stack, &stack->st_given[kind->sk_d_first + s]));
    }
    if (!has_first(stack) && kind->sk_d_first == 0)
        return ACL_SUCCESS;
    if (first->kind != ACLSIM_TENSOR)
        SIM_TRY(check_count(first, kind->sk_cell->ce_states, "the hidden states and the cell states"));
    for (size_t s = 0; s < kind->sk_cell->ce_states; s++) {
        char name[SIM_NAME_BYTES];
        aclsimArgument state = first_state(stack, s, name);
        state.present = 1;
        SIM_TRY(check_state(stack, &state));
    }
    return ACL_SUCCESS;
}

static aclnnStatus check_saved(const struct stack *stack)
{
    const int64_t dims[] = {stack->st_time, stack->st_batch, stack->st_hidden};
    for (size_t i = 0; i < stack->st_kind->sk_cell->ce_saved; i++) {
        const aclsimArgument *list = &stack->st_given[stack->st_kind->sk_saved[i]];
        SIM_TRY(sim_require_present(list, true));
        SIM_TRY(check_count(list, count_parts(stack), "one for each layer and direction"));
        for (uint64_t p = 0; p < list->count; p++) {
            char name[SIM_NAME_BYTES];
            const aclsimArgument member = sim_require_member(list, p, name);
            SIM_TRY(check_tensor(stack, &member, dims, 3, "the time, the batch and the hidden size"));
        }
    }
    return ACL_SUCCESS;
}

/* The tensor has `width` numbers for each time and element of the batch. Packed gradients may have both together, as
 * the input has. */
static aclnnStatus check_lines(const struct stack *stack, const aclsimArgument *tensor, int64_t width)
{
    const int64_t dims[] = {stack->st_time, stack->st_batch, width}, swapped[] = {dims[1], dims[0], width},
                  flat[] = {dims[0] * dims[1], width};
    if (tensor->present == 0)
        return ACL_SUCCESS;
    if (stack->st_packed && tensor->tensors->rank == 2 && stack->st_kind->sk_dx != 0)
        return check_tensor(stack, tensor, flat, 2, "the times of all sequences");
    return check_tensor(stack, tensor, stack->st_batch_first ? swapped : dims, 3, "the time and batch of the input");
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const struct stack_kind *kind = call->userData;
    const aclsimArgument *given = call->arguments;
    struct stack stack;
    (void)workspace_size;
    SIM_TRY(find_sizes(call, &stack));
    SIM_ARGUMENT(kind->sk_cell != &sim_layer_gru || kind->sk_dx != 0 || sim_walk_count(given[0].tensors) != 0,
                 ACLNN_ERR_PARAM_INVALID, "%s has no elements, expected at least one", given[0].name);
    SIM_TRY(check_params(&stack, &given[kind->sk_params]));
    SIM_TRY(check_states(&stack));
    SIM_TRY(check_lines(&stack, &given[kind->sk_y], width_of(&stack)));
    if (kind->sk_train == 0 || given[kind->sk_train].integer != 0)
        SIM_TRY(check_saved(&stack));
    if (kind->sk_dx == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_require_like(&given[kind->sk_dx], &given[0]));
    return check_params(&stack, &given[kind->sk_d_params]);
}

/* ---- loading and storing ---- */

/* The tensor, with its first two dimensions exchanged if `turned`. */
static aclsimTensor view_of(const aclsimTensor *tensor, bool turned)
{
    aclsimTensor view = *tensor;
    for (uint32_t i = 0; turned && i < 2; i++) {
        view.dims[i] = tensor->dims[1 - i];
        view.strides[i] = tensor->strides[1 - i];
    }
    return view;
}

static aclError load(struct sim_lists *lists, const aclsimTensor *tensor, bool turned, double **numbers)
{
    const aclsimTensor view = view_of(tensor, turned);
    return sim_lists_load(lists, &(const aclsimArgument){.tensors = &view}, numbers);
}

static void store(const aclsimTensor *tensor, bool turned, const double *numbers)
{
    const aclsimTensor view = view_of(tensor, turned);
    sim_lists_store(&(const aclsimArgument){.present = 1, .tensors = &view}, numbers);
}

static aclError load_runs(struct stack *stack, struct sim_lists *lists)
{
    const size_t time = (size_t)stack->st_time, batch = (size_t)stack->st_batch;
    double *sizes, *runs;
    if (!stack->st_packed)
        return ACL_SUCCESS;
    SIM_TRY(load(lists, stack->st_given[stack->st_kind->sk_sizes].tensors, false, &sizes));
    SIM_TRY(sim_lists_take(lists, time * batch, &runs));
    for (size_t line = 0; line < time * batch; line++)
        runs[line] = (double)(line % batch) < sizes[line / batch];
    stack->st_runs = runs;
    return ACL_SUCCESS;
}

static size_t count_lines(const struct stack *stack)
{
    return (size_t)(stack->st_time * stack->st_batch);
}

static size_t count_states(const struct stack *stack)
{
    return (size_t)(stack->st_batch * stack->st_hidden);
}

/* Loads what all parts use. */
static aclError open_stack(const aclsimCall *call, struct sim_lists *lists, struct stack *stack)
{
    double *x;
    SIM_TRY(find_sizes(call, stack));
    SIM_TRY(load(lists, stack->st_given[0].tensors, stack->st_batch_first, &x));
    stack->st_x = x;
    SIM_TRY(load_runs(stack, lists));
    for (size_t s = 0; s < stack->st_kind->sk_cell->ce_states; s++) {
        char name[SIM_NAME_BYTES];
        aclsimArgument state = {.present = 0};
        if (has_first(stack))
            state = first_state(stack, s, name);
        state.present = state.tensors != NULL;
        SIM_TRY(sim_lists_load_or(lists, &state, count_parts(stack) * count_states(stack), 0, &stack->st_states[s]));
    }
    return ACL_SUCCESS;
}

/* A part without its parameters. */
static struct sim_layer layer_of(const struct stack *stack, size_t part, const double *x)
{
    const int64_t depth = part < stack->st_ways ? stack->st_input : width_of(stack);
    struct sim_layer layer = {.la_cell = stack->st_kind->sk_cell, .la_gates = stack->st_kind->sk_gates,
                              .la_time = (size_t)stack->st_time, .la_batch = (size_t)stack->st_batch,
                              .la_input = (size_t)depth, .la_hidden = (size_t)stack->st_hidden,
                              .la_reversed = part % stack->st_ways != 0, .la_runs = stack->st_runs, .la_x = x};
    for (size_t s = 0; s < layer.la_cell->ce_states; s++)
        layer.la_states[s] = stack->st_states[s] + part * count_states(stack);
    return layer;
}

static const aclsimTensor *param_of(const struct stack *stack, uint8_t place, size_t part, size_t param)
{
    return &stack->st_given[place].tensors[part * stack->st_params + param];
}

static aclError load_params(const struct stack *stack, size_t part, struct sim_lists *lists, struct sim_layer *layer)
{
    const uint8_t place = stack->st_kind->sk_params;
    for (size_t i = 0; i < 2; i++) {
        double *weight, *bias;
        SIM_TRY(load(lists, param_of(stack, place, part, i), true, &weight));
        if (stack->st_params > 2)
            SIM_TRY(load(lists, param_of(stack, place, part, 2 + i), false, &bias));
        else
            SIM_TRY(sim_lists_take(lists, layer->la_cell->ce_gates * layer->la_hidden, &bias));
        layer->la_weights[i] = weight;
        layer->la_biases[i] = bias;
    }
    return ACL_SUCCESS;
}

/* The tensor that a part saves in one of the lists. */
static const aclsimTensor *saved_of(const struct stack *stack, size_t list, size_t part)
{
    return &stack->st_given[stack->st_kind->sk_saved[list]].tensors[part];
}

/* ---- all layers ---- */

static aclError run_part(const struct stack *stack, size_t part, const double *x, double *y, struct sim_lists *lists)
{
    const uint8_t train = stack->st_kind->sk_train;
    struct sim_layer layer = layer_of(stack, part, x);
    SIM_TRY(load_params(stack, part, lists, &layer));
    for (size_t i = 0; i < layer.la_cell->ce_saved; i++)
        SIM_TRY(sim_lists_take(lists, count_lines(stack) * layer.la_hidden, &layer.la_saved[i]));
    SIM_TRY(sim_layer_run(&layer, lists));
    for (size_t i = 0; stack->st_given[train].integer != 0 && i < layer.la_cell->ce_saved; i++)
        store(saved_of(stack, i, part), false, layer.la_saved[i]);
    sim_layer_put(&layer, y + part % stack->st_ways * layer.la_hidden, (size_t)width_of(stack));
    return ACL_SUCCESS;
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    struct stack stack;
    double *y[2];
    SIM_TRY(open_stack(call, lists, &stack));
    const struct stack_kind *kind = stack.st_kind;
    for (size_t i = 0; i < 2; i++)
        SIM_TRY(sim_lists_take(lists, count_lines(&stack) * (size_t)width_of(&stack), &y[i]));
    for (size_t p = 0; p < count_parts(&stack); p++) {
        const size_t layer = p / stack.st_ways;
        struct sim_lists own = {.ls_count = 0};
        aclError code = run_part(&stack, p, layer == 0 ? stack.st_x : y[(layer - 1) % 2], y[layer % 2], &own);
        sim_lists_free(&own);
        SIM_TRY(code);
    }
    store(stack.st_given[kind->sk_y].tensors, stack.st_batch_first, y[(stack.st_layers - 1) % 2]);
    for (size_t s = 0; s < kind->sk_cell->ce_states; s++)
        sim_lists_store(&stack.st_given[kind->sk_last + s], stack.st_states[s]);
    return ACL_SUCCESS;
}

/* ---- gradients ---- */

struct gradients {
    double *gs_states[SIM_LAYER_STATES]; /* of all parts */
    const double *gs_y;                  /* of the output of a layer */
    double *gs_x;                        /* of its input */
};

static aclError back_part(const struct stack *stack, size_t part, const double *x, const struct gradients *gradients,
                          struct sim_lists *lists)
{
    struct sim_layer layer = layer_of(stack, part, x);
    const size_t columns = layer.la_cell->ce_gates * layer.la_hidden;
    struct sim_layer_gradient gradient = {.lg_y = gradients->gs_y + part % stack->st_ways * layer.la_hidden,
                                          .lg_width = (size_t)width_of(stack), .lg_x = gradients->gs_x};
    SIM_TRY(load_params(stack, part, lists, &layer));
    for (size_t i = 0; i < layer.la_cell->ce_saved; i++)
        SIM_TRY(load(lists, saved_of(stack, i, part), false, &layer.la_saved[i]));
    for (size_t s = 0; s < layer.la_cell->ce_states; s++)
        gradient.lg_states[s] = gradients->gs_states[s] + part * count_states(stack);
    for (size_t i = 0; i < 2; i++) {
        SIM_TRY(sim_lists_take(lists, (i == 0 ? layer.la_input : layer.la_hidden) * columns, &gradient.lg_weights[i]));
        SIM_TRY(sim_lists_take(lists, columns, &gradient.lg_biases[i]));
    }
    SIM_TRY(sim_layer_back(&layer, &gradient, lists));
    for (size_t i = 0; i < 2; i++) {
        store(param_of(stack, stack->st_kind->sk_d_params, part, i), true, gradient.lg_weights[i]);
        if (stack->st_params > 2)
            store(param_of(stack, stack->st_kind->sk_d_params, part, 2 + i), false, gradient.lg_biases[i]);
    }
    return ACL_SUCCESS;
}

/* Writes what a layer put out. */
static aclError put_layer(const struct stack *stack, size_t number, double *y, struct sim_lists *lists)
{
    for (size_t p = number * stack->st_ways; p < (number + 1) * stack->st_ways; p++) {
        struct sim_layer layer = layer_of(stack, p, NULL);
        SIM_TRY(load(lists, saved_of(stack, 0, p), false, &layer.la_saved[0]));
        sim_layer_put(&layer, y + p % stack->st_ways * layer.la_hidden, (size_t)width_of(stack));
    }
    return ACL_SUCCESS;
}

static aclError back_layer(const struct stack *stack, size_t number, double *x, const struct gradients *gradients,
                           struct sim_lists *lists)
{
    if (number != 0)
        SIM_TRY(put_layer(stack, number - 1, x, lists));
    for (size_t p = number * stack->st_ways; p < (number + 1) * stack->st_ways; p++) {
        struct sim_lists own = {.ls_count = 0};
        aclError code = back_part(stack, p, number == 0 ? stack->st_x : x, gradients, &own);
        sim_lists_free(&own);
        SIM_TRY(code);
    }
    return ACL_SUCCESS;
}

/* The gradient of a layer's input is that of the output of the layer before. */
static aclError run_back(const aclsimCall *call, struct sim_lists *lists)
{
    struct stack stack;
    struct gradients gradients;
    double *x, *dy, *dx[2];
    SIM_TRY(open_stack(call, lists, &stack));
    const struct stack_kind *kind = stack.st_kind;
    const aclsimArgument *given = stack.st_given, *y = &given[kind->sk_y];
    const int64_t widest = stack.st_input > width_of(&stack) ? stack.st_input : width_of(&stack);
    const size_t most = count_lines(&stack) * (size_t)widest;
    for (size_t s = 0; s < kind->sk_cell->ce_states; s++)
        SIM_TRY(sim_lists_load_or(lists, &given[kind->sk_last + s], count_parts(&stack) * count_states(&stack), 0,
                                  &gradients.gs_states[s]));
    SIM_TRY(sim_lists_take(lists, most, &x));
    SIM_TRY(sim_lists_take(lists, most, &dx[0]));
    SIM_TRY(sim_lists_take(lists, most, &dx[1]));
    if (y->present != 0)
        SIM_TRY(load(lists, y->tensors, stack.st_batch_first, &dy));
    else
        SIM_TRY(sim_lists_take(lists, most, &dy));
    gradients.gs_y = dy;
    for (size_t number = stack.st_layers; number-- != 0; gradients.gs_y = gradients.gs_x) {
        struct sim_lists own = {.ls_count = 0};
        gradients.gs_x = dx[number % 2];
        memset(gradients.gs_x, 0, most * sizeof(double));
        aclError code = back_layer(&stack, number, x, &gradients, &own);
        sim_lists_free(&own);
        SIM_TRY(code);
    }
    store(given[kind->sk_dx].tensors, stack.st_batch_first, gradients.gs_x);
    for (size_t s = 0; s < kind->sk_cell->ce_states; s++)
        sim_lists_store(&given[kind->sk_d_first + s], gradients.gs_states[s]);
    return ACL_SUCCESS;
}

/* ---- operators ---- */

static const int64_t lstm_gates[] = {0, 2, 1, 3}; /* the columns are those of i, f, j and o */
static const int64_t gru_gates[] = {1, 0, 2};     /* of r, z and n */

static const struct stack_kind lstm = {
    .sk_kind = {run}, .sk_cell = &sim_layer_lstm, .sk_gates = lstm_gates, .sk_params = 1, .sk_first = 2, .sk_sizes = 3,
    .sk_has_bias = 4, .sk_layers = 5, .sk_train = 7, .sk_both = 8, .sk_batch_first = 9, .sk_y = 10, .sk_last = 11,
    .sk_saved = {[SIM_LSTM_I] = 13, [SIM_LSTM_J] = 14, [SIM_LSTM_F] = 15, [SIM_LSTM_O] = 16, [SIM_LSTM_H] = 17,
                 [SIM_LSTM_C] = 18, [SIM_LSTM_TANH_C] = 19}};
static const struct stack_kind gru = {
    .sk_kind = {run}, .sk_cell = &sim_layer_gru, .sk_gates = gru_gates, .sk_params = 1, .sk_first = 2, .sk_sizes = 3,
    .sk_has_bias = 4, .sk_layers = 5, .sk_train = 7, .sk_both = 8, .sk_batch_first = 9, .sk_y = 10, .sk_last = 11,
    .sk_saved = {[SIM_GRU_RESET] = 12, [SIM_GRU_UPDATE] = 13, [SIM_GRU_NEW] = 14, [SIM_GRU_HIDDEN_NEW] = 15,
                 [SIM_GRU_H] = 16}};
static const struct stack_kind lstm_backward = {
    .sk_kind = {run_back}, .sk_cell = &sim_layer_lstm, .sk_gates = lstm_gates, .sk_first = 1, .sk_params = 2,
    .sk_y = 3, .sk_last = 4, .sk_sizes = 13, .sk_has_bias = 14, .sk_layers = 15, .sk_both = 18, .sk_batch_first = 19,
    .sk_saved = {[SIM_LSTM_I] = 6, [SIM_LSTM_J] = 7, [SIM_LSTM_F] = 8, [SIM_LSTM_O] = 9, [SIM_LSTM_H] = 10,
                 [SIM_LSTM_C] = 11, [SIM_LSTM_TANH_C] = 12},
    .sk_dx = 21, .sk_d_first = 22, .sk_d_params = 24};
static const struct stack_kind gru_backward = {
    .sk_kind = {run_back}, .sk_cell = &sim_layer_gru, .sk_gates = gru_gates, .sk_params = 1, .sk_first = 2, .sk_y = 3,
    .sk_last = 4, .sk_sizes = 10, .sk_has_bias = 11, .sk_layers = 12, .sk_both = 13, .sk_batch_first = 14,
    .sk_saved = {[SIM_GRU_RESET] = 5, [SIM_GRU_UPDATE] = 6, [SIM_GRU_NEW] = 7, [SIM_GRU_HIDDEN_NEW] = 8,
                 [SIM_GRU_H] = 9},
    .sk_dx = 15, .sk_d_first = 16, .sk_d_params = 17};

const struct sim_kernel sim_kernel_aclnnLSTM = {plan, sim_lists_run, (void *)&lstm, false},
                        sim_kernel_aclnnGRU = {plan, sim_lists_run, (void *)&gru, false},
                        sim_kernel_aclnnLstmBackward = {plan, sim_lists_run, (void *)&lstm_backward, false},
                        sim_kernel_aclnnGRUBackward = {plan, sim_lists_run, (void *)&gru_backward, false};
