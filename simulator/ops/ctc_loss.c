/* CtcLoss and its gradient: the probability that a sequence of symbols, without blanks and repetitions, is the target.
 * The forward pass keeps logAlpha, the logarithms of the probabilities of beginnings; the gradient multiplies these by
 * those of the ends. All is computed in double. State 2 * k + 1 of a target is its symbol k, and the states between are
 * blanks. */
#include "loss.h"

#include "base/bytes.h"
#include "base/fail.h"
#include "operator/row.h"
#include "require.h"
#include "walk.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOG_PROBS, TARGETS, INPUT_LENGTHS, TARGET_LENGTHS, BLANK, ZERO_INFINITY, LOSS, ALPHA };
enum {
    G_LOSS,
    G_LOG_PROBS,
    G_TARGETS,
    G_INPUT_LENGTHS,
    G_TARGET_LENGTHS,
    G_NEGATIVE_LOG_LIKELIHOOD,
    G_ALPHA,
    G_BLANK,
    G_ZERO_INFINITY,
    G_OUT
};

#define TARGET_TYPES (SIM_TYPES_INDEX | SIM_TYPES_BOOL | SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_FLOAT16))

/* ---- the first phase ---- */

static aclnnStatus check_lengths(const aclsimArgument *lengths, int64_t count, int64_t most)
{
    SIM_TRY(sim_require_count(lengths, (uint64_t)count));
    for (uint64_t i = 0; i < lengths->count; i++)
        SIM_ARGUMENT(lengths->integers[i] >= 1 && lengths->integers[i] <= most, ACLNN_ERR_PARAM_INVALID,
                     "%s[%" PRIu64 "] is %" PRId64 ", expected 1 to %" PRId64, lengths->name, i, lengths->integers[i],
                     most);
    return ACL_SUCCESS;
}

/* Checks the targets: a row for each element of the batch, or all of them in one line. */
static aclnnStatus check_targets(const aclsimArgument *targets, const aclsimArgument *lengths, int64_t batch)
{
    const aclsimTensor *tensor = targets->tensors;
    uint64_t total = 0;
    SIM_TRY(sim_require_rank(targets, 1, 2));
    SIM_TRY(check_lengths(lengths, batch, tensor->dims[tensor->rank - 1]));
    if (tensor->rank == 2)
        return sim_require_shape(targets, (int64_t[]){batch, tensor->dims[1]}, 2, "one row per element of the batch");
    for (uint64_t i = 0; i < lengths->count; i++)
        total += (uint64_t)lengths->integers[i];
    return sim_require_shape(targets, (int64_t[]){(int64_t)total}, 1, "the sum of the lengths of the targets");
}

/* logAlpha may have more states than the longest target. */
static aclnnStatus check_alpha(const aclsimArgument *alpha, const int64_t *dims, const aclsimArgument *lengths)
{
    const int64_t states = alpha->tensors->dims[2];
    int64_t longest = 0;
    SIM_TRY(sim_require_rank(alpha, 3, 3));
    SIM_TRY(sim_require_shape(alpha, (int64_t[]){dims[1], dims[0], states}, 3, "batch, times and states"));
    for (uint64_t i = 0; i < lengths->count; i++)
        longest = lengths->integers[i] > longest ? lengths->integers[i] : longest;
    SIM_ARGUMENT((states - 1) / 2 >= longest, ACLNN_ERR_PARAM_INVALID,
                 "dimension 2 of %s is %" PRId64 ", expected 1 more than twice %" PRId64 ", the length of the longest "
                 "target", alpha->name, states, longest);
    return ACL_SUCCESS;
}

/* Checks what both operators have. The lengths follow the targets. */
static aclnnStatus check_batch(const aclsimArgument *probs, const aclsimArgument *targets, const aclsimArgument *blank,
                               const aclsimArgument *losses, const aclsimArgument *alpha)
{
    const int64_t *dims = probs->tensors->dims;
    SIM_TRY(sim_require_type(probs, SIM_TYPES_FLOAT));
    SIM_TRY(sim_require_same_type(losses, probs->tensors->type, probs->name));
    SIM_TRY(sim_require_same_type(alpha, probs->tensors->type, probs->name));
    SIM_TRY(sim_require_rank(probs, 3, 3));
    SIM_ARGUMENT(blank->integer >= 0 && blank->integer < dims[2], ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected 0 to %" PRId64, blank->name, blank->integer, dims[2] - 1);
    SIM_TRY(check_lengths(&targets[1], dims[1], dims[0]));
    SIM_TRY(check_targets(targets, &targets[2], dims[1]));
    SIM_TRY(sim_require_shape(losses, &dims[1], 1, "one loss per element of the batch"));
    return check_alpha(alpha, dims, &targets[2]);
}

static aclnnStatus plan_loss(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *arguments = call->arguments;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&arguments[TARGETS], TARGET_TYPES));
    return check_batch(&arguments[LOG_PROBS], &arguments[TARGETS], &arguments[BLANK], &arguments[LOSS],
                       &arguments[ALPHA]);
}

static aclnnStatus plan_gradient(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *arguments = call->arguments, *probs = &arguments[G_LOG_PROBS];
    const int64_t *dims = probs->tensors->dims;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&arguments[G_TARGETS], SIM_TYPES_INDEX));
    SIM_TRY(check_batch(probs, &arguments[G_TARGETS], &arguments[G_BLANK], &arguments[G_NEGATIVE_LOG_LIKELIHOOD],
                        &arguments[G_ALPHA]));
    SIM_TRY(sim_require_same_type(&arguments[G_LOSS], probs->tensors->type, probs->name));
    SIM_TRY(sim_require_same_type(&arguments[G_OUT], probs->tensors->type, probs->name));
    SIM_TRY(sim_require_shape(&arguments[G_LOSS], &dims[1], 1, "one gradient per element of the batch"));
    return sim_require_shape(&arguments[G_OUT], dims, 3, "that of logProbs");
}

/* ---- the second phase ---- */

static char *place_of(const aclsimTensor *tensor, int64_t i, int64_t j, int64_t k)
{
    const int64_t at[] = {i, j, k};
    int64_t offset = 0;
    for (uint32_t d = 0; d < tensor->rank; d++)
        offset += at[d] == 0 ? 0 : at[d] * tensor->strides[d]; /* a dimension of size 1 may have any stride */
    return (char *)tensor->data + offset * (int64_t)sim_element_size(tensor->type);
}

static double value_at(const aclsimTensor *tensor, int64_t i, int64_t j, int64_t k)
{
    return sim_loss_load(place_of(tensor, i, j, k), tensor->type);
}

static void set_value(const aclsimTensor *tensor, int64_t i, int64_t j, int64_t k, double value)
{
    sim_loss_store(place_of(tensor, i, j, k), tensor->type, value);
}

/* One element of the batch. */
struct item {
    const aclsimTensor *it_probs;
    int64_t it_index, it_times, it_states;
    int64_t *it_symbols; /* of the states */
    double *it_table;    /* a row of states per time; the whole table of the longest element */
};

/* The logarithm of the sum of the exponentials of these. */
static double log_sum(double a, double b, double c)
{
    double most = fmax(fmax(a, b), c);
    return most == -INFINITY ? a + b + c : most + log(exp(a - most) + exp(b - most) + exp(c - most));
}

/* Whether a state may follow the one two before it, without the blank between them. */
static bool skips(const struct item *item, int64_t state)
{
    return state > 1 && item->it_symbols[state] != item->it_symbols[state - 2];
}

static double log_prob(const struct item *item, int64_t time, int64_t state)
{
    return value_at(item->it_probs, time, item->it_index, item->it_symbols[state]);
}

/* Fills the table with the logarithms of the probabilities of being in a state at a time. */
static void begin_paths(const struct item *item)
{
    for (int64_t time = 0; time < item->it_times; time++) {
        double *row = item->it_table + time * item->it_states;
        const double *before = time == 0 ? NULL : row - item->it_states;
        for (int64_t s = 0; s < item->it_states; s++) {
            double reached = s < 2 ? 0 : -INFINITY;
            if (before != NULL)
                reached = log_sum(before[s], s > 0 ? before[s - 1] : -INFINITY,
                                  skips(item, s) ? before[s - 2] : -INFINITY);
            row[s] = reached + log_prob(item, time, s);
        }
    }
}

/* The same for the way from a state at a time to the end. */
static void end_paths(const struct item *item)
{
    const int64_t last = item->it_states - 1;
    for (int64_t time = item->it_times - 1; time >= 0; time--) {
        double *row = item->it_table + time * item->it_states;
        const double *after = time == item->it_times - 1 ? NULL : row + item->it_states;
        for (int64_t s = 0; s <= last; s++) {
            double reached = s > last - 2 ? 0 : -INFINITY;
            if (after != NULL)
                reached = log_sum(after[s], s < last ? after[s + 1] : -INFINITY,
                                  s < last - 1 && skips(item, s + 2) ? after[s + 2] : -INFINITY);
            row[s] = reached + log_prob(item, time, s);
        }
    }
}

/* Reads the symbols of one element's target; those of all elements may be in one line. */
static aclError read_symbols(struct item *item, const aclsimArgument *targets, const aclsimArgument *lengths,
                             int64_t blank)
{
    const aclsimTensor *tensor = targets->tensors;
    int64_t first = 0, classes = item->it_probs->dims[2];
    char text[200];
    if (tensor->rank == 1)
        for (int64_t i = 0; i < item->it_index; i++)
            first += lengths->integers[i];
    item->it_states = lengths->integers[item->it_index] * 2 + 1;
    for (int64_t s = 0; s < item->it_states; s++) {
        item->it_symbols[s] = blank;
        if (s % 2 == 0)
            continue;
        double symbol = tensor->rank == 1 ? value_at(tensor, first + s / 2, 0, 0)
                                          : value_at(tensor, item->it_index, s / 2, 0);
        if (!(symbol >= 0 && symbol < (double)classes)) {
            snprintf(text, sizeof text, "%.40s has an element %.17g, expected a class from 0 to %" PRId64,
                     targets->name, symbol, classes - 1);
            sim_fail_reason(text);
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        }
        item->it_symbols[s] = (int64_t)symbol;
    }
    return ACL_SUCCESS;
}

static void close_item(const struct item *item)
{
    free(item->it_table);
    free(item->it_symbols);
}

/* Allocates the table and the symbols for the longest element of a batch; the caller frees both. */
static aclError open_item(struct item *item, const aclsimTensor *probs, const aclsimTensor *alpha)
{
    const uint64_t states = (uint64_t)alpha->dims[2];
    uint64_t bytes = sizeof(double), symbols = sizeof(int64_t);
    bool fits = sim_size_multiply(&bytes, (uint64_t)probs->dims[0]) && sim_size_multiply(&bytes, states) &&
                sim_size_multiply(&symbols, states);
    *item = (struct item){.it_probs = probs};
    item->it_table = fits ? malloc(bytes) : NULL;
    item->it_symbols = fits ? malloc(symbols) : NULL;
    fits = item->it_table != NULL && item->it_symbols != NULL;
    if (!fits)
        close_item(item);
    SIM_CHECK(fits, ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate host memory for %lld times and %lld states",
              (long long)probs->dims[0], (long long)states);
    return ACL_SUCCESS;
}

/* Stores the loss of an element, and its part of logAlpha; states that it lacks have the probability 0. */
static void finish_loss(const struct item *item, const aclsimTensor *loss, const aclsimTensor *alpha, bool zeroes)
{
    const double *last = item->it_table + item->it_times * item->it_states - 2;
    double value = -log_sum(last[0], last[1], -INFINITY);
    set_value(loss, item->it_index, 0, 0, zeroes && value == INFINITY ? 0 : value);
    for (int64_t time = 0; time < alpha->dims[1]; time++)
        for (int64_t s = 0; s < alpha->dims[2]; s++) {
            bool exists = time < item->it_times && s < item->it_states;
            set_value(alpha, item->it_index, time, s, exists ? item->it_table[time * item->it_states + s] : -INFINITY);
        }
}

static aclError run_loss(const aclsimCall *call)
{
    const aclsimArgument *arguments = call->arguments;
    const aclsimTensor *probs = arguments[LOG_PROBS].tensors, *alpha = arguments[ALPHA].tensors;
    aclError code = ACL_SUCCESS;
    struct item item;
    SIM_TRY(open_item(&item, probs, alpha));
    for (int64_t i = 0; i < probs->dims[1]; i++) {
        item.it_index = i;
        item.it_times = arguments[INPUT_LENGTHS].integers[i];
        code = read_symbols(&item, &arguments[TARGETS], &arguments[TARGET_LENGTHS], arguments[BLANK].integer);
        if (code != ACL_SUCCESS)
            break;
        begin_paths(&item);
        finish_loss(&item, arguments[LOSS].tensors, alpha, arguments[ZERO_INFINITY].integer != 0);
    }
    close_item(&item);
    return code;
}

/* The probability of a class at a time, less that under the condition that the target results. */
static void finish_gradient(const struct item *item, const aclsimArgument *arguments)
{
    const aclsimTensor *out = arguments[G_OUT].tensors, *alpha = arguments[G_ALPHA].tensors;
    const double loss = value_at(arguments[G_NEGATIVE_LOG_LIKELIHOOD].tensors, item->it_index, 0, 0);
    const double gradient = value_at(arguments[G_LOSS].tensors, item->it_index, 0, 0);
    /* The forward operator has stored 0 for an infinite loss: logAlpha says that no path reaches the end. */
    const int64_t end = item->it_times - 1, last = item->it_states - 1;
    const bool is_endless = value_at(alpha, item->it_index, end, last) == -INFINITY &&
                            value_at(alpha, item->it_index, end, last - 1) == -INFINITY;
    const bool is_zero = arguments[G_ZERO_INFINITY].integer != 0 && (loss == INFINITY || is_endless);
    for (int64_t time = 0; time < out->dims[0]; time++)
        for (int64_t class = 0; class < out->dims[2]; class++) {
            const double logarithm = value_at(item->it_probs, time, item->it_index, class);
            const double *ends = item->it_table + time * item->it_states;
            double sum = -INFINITY;
            for (int64_t s = 0; s < item->it_states && time < item->it_times; s++)
                if (item->it_symbols[s] == class)
                    sum = log_sum(sum, value_at(alpha, item->it_index, time, s) + ends[s], -INFINITY);
            double value = (exp(logarithm) - exp(sum + loss - logarithm)) * gradient;
            set_value(out, time, item->it_index, class, is_zero || time >= item->it_times ? 0 : value);
        }
}

static aclError run_gradient(const aclsimCall *call)
{
    const aclsimArgument *arguments = call->arguments;
    const aclsimTensor *probs = arguments[G_LOG_PROBS].tensors;
    aclError code = ACL_SUCCESS;
    struct item item;
    SIM_TRY(open_item(&item, probs, arguments[G_ALPHA].tensors));
    for (int64_t i = 0; i < probs->dims[1]; i++) {
        item.it_index = i;
        item.it_times = arguments[G_INPUT_LENGTHS].integers[i];
        code = read_symbols(&item, &arguments[G_TARGETS], &arguments[G_TARGET_LENGTHS], arguments[G_BLANK].integer);
        if (code != ACL_SUCCESS)
            break;
        end_paths(&item);
        finish_gradient(&item, arguments);
    }
    close_item(&item);
    return code;
}

const struct sim_kernel sim_kernel_aclnnCtcLoss = {plan_loss, run_loss, NULL, false};
const struct sim_kernel sim_kernel_aclnnCtcLossBackward = {plan_gradient, run_gradient, NULL, false};
