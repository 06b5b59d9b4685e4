/* EmbeddingBag: weight, indices, offsets, scaleGradByFreq, mode, sparse, perSampleWeights, includeLastOffset,
 * paddingIdx, output, offset2bag, bagSize, maxIndices. A bag is the indices from one offset to the next, without those
 * that equal paddingIdx; its result is the sum, the mean or the greatest of the rows that they name. Rows are computed
 * in double and rounded once. All indices and offsets are checked before a result is stored. */
#include "indices.h"
#include "slices.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    WEIGHT,
    INDICES,
    OFFSETS,
    SCALES,
    MODE,
    SPARSE,
    SAMPLES,
    HAS_LAST,
    PADDING,
    OUT,
    OFFSET_TO_BAG,
    BAG_SIZE,
    MAX_INDICES
};

enum { SUM, MEAN }; /* any other mode takes the greatest */

static aclnnStatus check_types(const aclsimArgument *given)
{
    SIM_TRY(sim_require_types(&given[WEIGHT], &given[OUT], SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(&given[INDICES], SIM_TYPES_INDEX));
    SIM_TRY(sim_require_type(&given[OFFSETS], SIM_TYPES_INDEX));
    const aclDataType wide = sim_element_promote(given[INDICES].tensors->type, given[OFFSETS].tensors->type);
    for (size_t k = OFFSET_TO_BAG; k <= MAX_INDICES; k++)
        SIM_TRY(sim_require_type(&given[k], SIM_TYPE(wide)));
    return given[SAMPLES].present == 0
               ? ACL_SUCCESS
               : sim_require_same_type(&given[SAMPLES], given[WEIGHT].tensors->type, given[WEIGHT].name);
}

static aclnnStatus check_flags(const aclsimArgument *given)
{
    for (size_t k = SCALES; k <= SPARSE; k += SPARSE - SCALES)
        SIM_ARGUMENT(given[k].integer == 0, ACLNN_ERR_PARAM_INVALID, "%s is true, expected false", given[k].name);
    SIM_ARGUMENT(given[SAMPLES].present == 0 || given[MODE].integer == SUM, ACLNN_ERR_PARAM_INVALID,
                 "%s is %" PRId64 ", expected 0 (sum) with %s", given[MODE].name, given[MODE].integer,
                 given[SAMPLES].name);
    SIM_ARGUMENT(given[HAS_LAST].integer == 0 || given[OFFSETS].tensors->dims[0] > 0, ACLNN_ERR_PARAM_INVALID,
                 "%s has shape [0], expected 1 element or more with %s", given[OFFSETS].name, given[HAS_LAST].name);
    return ACL_SUCCESS;
}

/* PyTorch passes an empty tensor for the bags of the indices if it does not need them for the gradient of a sum. */
static bool leaves_bags_out(const aclsimArgument *given)
{
    const aclsimTensor *bags = given[OFFSET_TO_BAG].tensors;
    return given[MODE].integer == SUM && bags->rank == 1 && bags->dims[0] == 0;
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    (void)workspace_size;
    SIM_TRY(check_types(given));
    SIM_TRY(sim_require_rank(&given[WEIGHT], 2, 2));
    SIM_TRY(sim_require_rank(&given[INDICES], 1, 1));
    SIM_TRY(sim_require_rank(&given[OFFSETS], 1, 1));
    SIM_TRY(check_flags(given));
    const int64_t *count = given[INDICES].tensors->dims, width = given[WEIGHT].tensors->dims[1];
    const int64_t bags[] = {given[OFFSETS].tensors->dims[0] - (given[HAS_LAST].integer != 0), width};
    const bool greatest = given[MODE].integer != SUM && given[MODE].integer != MEAN;
    if (given[SAMPLES].present != 0)
        SIM_TRY(sim_require_shape(&given[SAMPLES], count, 1, "that of indices"));
    SIM_TRY(sim_require_shape(&given[OUT], bags, 2, "one row per bag"));
    if (!leaves_bags_out(given))
        SIM_TRY(sim_require_shape(&given[OFFSET_TO_BAG], count, 1, "that of indices"));
    SIM_TRY(sim_require_shape(&given[BAG_SIZE], bags, 1, "one number per bag"));
    return sim_require_shape(&given[MAX_INDICES], bags, greatest ? 2 : 1, "that of this mode");
}

struct job {
    const aclsimArgument *jo_given;
    struct sim_line jo_line;                      /* a row */
    double *jo_indices, *jo_offsets, *jo_samples; /* integers below 2^53, because they are checked */
    double *jo_row, *jo_sum, *jo_from;            /* one number per column */
    size_t jo_count, jo_bags, jo_width;
};

/* Reads each index once, because the memory may change after it was checked. */
static aclError load_indices(const aclsimArgument *given, double *numbers, size_t count)
{
    const struct sim_indices indices = sim_indices_of(given[INDICES].name, given[INDICES].tensors, &given[WEIGHT],
                                                      given[WEIGHT].tensors, 0, false);
    int64_t index;
    for (size_t i = 0; i < count; i++) {
        if (!sim_indices_find(&indices, sim_indices_nth(given[INDICES].tensors, (int64_t)i), &index))
            return sim_indices_fail(&indices);
        numbers[i] = (double)index;
    }
    return ACL_SUCCESS;
}

/* Offsets begin with 0 and do not decrease. */
static aclError check_offsets(const aclsimArgument *given, const double *offsets, size_t bags, size_t count)
{
    double least = 0, most = 0;
    for (size_t i = 0; i < bags; i++, most = (double)count) {
        if (offsets[i] < least || offsets[i] > most) {
            char text[192];
            snprintf(text, sizeof text, "%.60s[%zu] is %.0f, expected %.0f to %.0f", given->name, i, offsets[i], least,
                     most);
            sim_fail_reason(text);
            return ACL_ERROR_RT_AICORE_EXCEPTION;
        }
        least = offsets[i];
    }
    return ACL_SUCCESS;
}

/* Adds a row to the sum, or keeps the greater elements and where they are from. */
static void take_row(struct job *job, size_t place, bool greatest, bool first)
{
    const aclsimTensor rows = sim_line_without(job->jo_given[WEIGHT].tensors, 1);
    if (job->jo_width == 0)
        return;
    sim_line_load(&job->jo_line, SIM_CLASS_DOUBLE, sim_indices_nth(&rows, (int64_t)job->jo_indices[place]),
                  job->jo_row);
    for (size_t k = 0; k < job->jo_width; k++) {
        if (!greatest) {
            job->jo_sum[k] += job->jo_row[k] * job->jo_samples[place];
        } else if (first || job->jo_row[k] > job->jo_sum[k]) {
            job->jo_sum[k] = job->jo_row[k];
            job->jo_from[k] = job->jo_indices[place];
        }
    }
}

/* Computes one bag; returns the number of its indices. */
static size_t run_bag(struct job *job, size_t start, size_t end)
{
    const int64_t mode = job->jo_given[MODE].integer;
    size_t taken = 0;
    memset(job->jo_sum, 0, job->jo_width * sizeof *job->jo_sum);
    memset(job->jo_from, 0, job->jo_width * sizeof *job->jo_from);
    for (size_t i = start; i < end; i++)
        if ((int64_t)job->jo_indices[i] != job->jo_given[PADDING].integer)
            take_row(job, i, mode != SUM && mode != MEAN, taken++ == 0);
    for (size_t k = 0; k < job->jo_width && mode == MEAN && taken > 0; k++)
        job->jo_sum[k] /= (double)taken;
    return taken;
}

static void store_row(const aclsimArgument *to, const struct sim_line *line, size_t row, const double *numbers)
{
    const aclsimTensor rows = sim_line_without(to->tensors, 1);
    if (to->tensors->dims[1] == 0)
        return;
    sim_line_store(line, SIM_CLASS_DOUBLE, numbers, sim_indices_nth(&rows, (int64_t)row));
}

static aclError run_bags(struct job *job, double *bag_of, double *sizes)
{
    const aclsimArgument *given = job->jo_given;
    const bool greatest = given[MAX_INDICES].tensors->rank == 2;
    const struct sim_line out = sim_line_of(given[OUT].tensors, 1, 1);
    const struct sim_line from = sim_line_of(given[MAX_INDICES].tensors, greatest, greatest);
    for (size_t bag = 0; bag < job->jo_bags; bag++) {
        const bool is_last = bag + 1 == job->jo_bags && given[HAS_LAST].integer == 0;
        const size_t start = (size_t)job->jo_offsets[bag];
        const size_t end = is_last ? job->jo_count : (size_t)job->jo_offsets[bag + 1];
        for (size_t i = start; i < end; i++)
            bag_of[i] = (double)bag;
        sizes[bag] = (double)run_bag(job, start, end);
        store_row(&given[OUT], &out, bag, job->jo_sum);
        if (greatest)
            store_row(&given[MAX_INDICES], &from, bag, job->jo_from);
    }
    if (!greatest)
        sim_walk_fill(given[MAX_INDICES].tensors, NULL);
    if (!leaves_bags_out(given))
        sim_lists_store(&given[OFFSET_TO_BAG], bag_of);
    sim_lists_store(&given[BAG_SIZE], sizes);
    return ACL_SUCCESS;
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    struct job job = {.jo_given = given,
                      .jo_line = sim_line_of(given[WEIGHT].tensors, 1, 1),
                      .jo_count = (size_t)given[INDICES].tensors->dims[0],
                      .jo_bags = (size_t)given[OUT].tensors->dims[0],
                      .jo_width = (size_t)given[WEIGHT].tensors->dims[1]};
    double *bag_of, *sizes;
    SIM_TRY(sim_lists_take(lists, job.jo_count, &job.jo_indices));
    SIM_TRY(load_indices(given, job.jo_indices, job.jo_count));
    SIM_TRY(sim_lists_load(lists, &given[OFFSETS], &job.jo_offsets));
    const size_t offsets = (size_t)given[OFFSETS].tensors->dims[0];
    SIM_TRY(check_offsets(&given[OFFSETS], job.jo_offsets, offsets, job.jo_count));
    SIM_TRY(sim_lists_load_or(lists, &given[SAMPLES], job.jo_count, 1, &job.jo_samples));
    SIM_TRY(sim_lists_take(lists, job.jo_width, &job.jo_row));
    SIM_TRY(sim_lists_take(lists, job.jo_width, &job.jo_sum));
    SIM_TRY(sim_lists_take(lists, job.jo_width, &job.jo_from));
    SIM_TRY(sim_lists_take(lists, job.jo_count, &bag_of));
    SIM_TRY(sim_lists_take(lists, job.jo_bags, &sizes));
    return run_bags(&job, bag_of, sizes);
}

static const struct sim_lists_kind kind = {run};
const struct sim_kernel sim_kernel_aclnnEmbeddingBag = {plan, sim_lists_run, (void *)&kind, false};
