/* SoftmaxCrossEntropyWithLogits: features, labels, loss, backprop. Labels are probabilities of the classes of a row.
 * The loss of a row is -sum(labels * log_softmax(features)); its gradient, without the factor of a mean, is
 * softmax(features) - labels. Rows are computed in double and rounded once. */
#include "slices.h"

#include <math.h>

enum { FEATURES, LABELS, LOSS, GRADIENT };

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    const int64_t *dims = given[FEATURES].tensors->dims;
    (void)workspace_size;
    for (size_t k = LABELS; k <= GRADIENT; k++)
        SIM_TRY(sim_require_types(&given[FEATURES], &given[k], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_rank(&given[FEATURES], 2, 2));
    SIM_TRY(sim_require_shape(&given[LABELS], dims, 2, "that of features"));
    SIM_TRY(sim_require_shape(&given[LOSS], dims, 1, "one loss per row"));
    return sim_require_shape(&given[GRADIENT], dims, 2, "that of features");
}

/* Replaces the features of a row by the gradient, and returns the loss. */
static double run_row(double *features, const double *labels, size_t count)
{
    double most = -INFINITY, sum = 0, loss = 0;
    for (size_t i = 0; i < count; i++)
        most = features[i] > most ? features[i] : most;
    for (size_t i = 0; i < count; i++)
        sum += exp(features[i] - most);
    for (size_t i = 0; i < count; i++) {
        loss -= labels[i] * (features[i] - most - log(sum));
        features[i] = exp(features[i] - most) / sum - labels[i];
    }
    return loss;
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t rows = (size_t)given[FEATURES].tensors->dims[0], count = (size_t)given[FEATURES].tensors->dims[1];
    double *features, *labels, *losses;
    SIM_TRY(sim_lists_load(lists, &given[FEATURES], &features));
    SIM_TRY(sim_lists_load(lists, &given[LABELS], &labels));
    SIM_TRY(sim_lists_take(lists, rows, &losses));
    for (size_t i = 0; i < rows; i++)
        losses[i] = run_row(features + i * count, labels + i * count, count);
    sim_lists_store(&given[LOSS], losses);
    sim_lists_store(&given[GRADIENT], features);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnSoftmaxCrossEntropyWithLogits = {plan, sim_lists_run, (void *)&kind, true};
