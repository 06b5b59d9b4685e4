/* NonMaxSuppression, as ONNX defines it: for each class of each image, the boxes with the highest scores that do not
 * overlap a box with a higher score too much. How many these are is known only when the kernel has run
 * (sim_row_resize). The output has room for as many as the program expects; further boxes are left out. */
#include "slices.h"

#include <stdlib.h>
#include <string.h>

enum { BOXES, SCORES, MOST, OVERLAP, THRESHOLD, CENTRED, OUT };
enum { SIDES = 4, INDICES = 3 }; /* numbers per box, and per result: image, class and box */

/* ---- the first phase ---- */

static aclnnStatus check_fraction(const aclsimArgument *given)
{
    SIM_TRY(sim_require_count(given, 1));
    const float value = given->floats[0];
    SIM_ARGUMENT(value >= 0 && value <= 1, ACLNN_ERR_PARAM_INVALID, "%s[0] is %g, expected 0 to 1", given->name,
                 (double)value);
    return ACL_SUCCESS;
}

static aclnnStatus plan_suppress(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *boxes = &given[BOXES], *scores = &given[SCORES], *out = &given[OUT];
    (void)workspace_size;
    SIM_TRY(sim_require_type(boxes, SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_FLOAT16)));
    SIM_TRY(sim_require_same_type(scores, boxes->tensors->type, boxes->name));
    SIM_TRY(sim_require_type(out, SIM_TYPE(ACL_INT32)));
    SIM_TRY(sim_require_rank(scores, 3, 3));
    SIM_TRY(sim_require_rank(out, 2, 2));
    const int64_t *dims = scores->tensors->dims;
    SIM_TRY(sim_require_shape(boxes, (const int64_t[]){dims[0], dims[2], SIDES}, 3, "four numbers per box of scores"));
    SIM_TRY(sim_require_shape(out, (const int64_t[]){out->tensors->dims[0], INDICES}, 2, "three indices per box"));
    SIM_TRY(sim_require_count(&given[MOST], 1));
    SIM_ARGUMENT(given[MOST].integers[0] >= 0, ACLNN_ERR_PARAM_INVALID, "%s[0] is %lld, expected 0 or more",
                 given[MOST].name, (long long)given[MOST].integers[0]);
    SIM_TRY(check_fraction(&given[OVERLAP]));
    SIM_TRY(check_fraction(&given[THRESHOLD]));
    SIM_ARGUMENT(given[CENTRED].integer == 0 || given[CENTRED].integer == 1, ACLNN_ERR_PARAM_INVALID,
                 "%s is %lld, expected 0 or 1", given[CENTRED].name, (long long)given[CENTRED].integer);
    sim_row_will_resize(call);
    return ACL_SUCCESS;
}

/* ---- boxes ---- */

static double lesser(double one, double other)
{
    return one < other ? one : other;
}

static double greater(double one, double other)
{
    return one > other ? one : other;
}

/* The limits of a box in direction 0 or 1. It is given by two opposite corners, or by its centre and its sides. */
static void find_limits(const double *box, int direction, bool centred, double limits[2])
{
    const double first = box[direction], second = box[direction + 2];
    limits[0] = centred ? first - second / 2 : lesser(first, second);
    limits[1] = centred ? first + second / 2 : greater(first, second);
}

/* Whether the common part of two boxes is more than a fraction of both together. */
static bool overlap(const double *box, const double *other, bool centred, double most)
{
    double shared = 1, area = 1, other_area = 1;
    for (int i = 0; i < 2; i++) {
        double limits[2], others[2];
        find_limits(box, i, centred, limits);
        find_limits(other, i, centred, others);
        const double side = lesser(limits[1], others[1]) - greater(limits[0], others[0]);
        shared *= side > 0 ? side : 0;
        area *= limits[1] - limits[0];
        other_area *= others[1] - others[0];
    }
    return shared > 0 && shared / (area + other_area - shared) > most;
}

/* ---- the second phase ---- */

struct suppression {
    const double *su_boxes, *su_scores; /* of the image, and of the class */
    double *su_order, *su_kept;         /* numbers of boxes: those to be looked at, and those that were selected */
    size_t su_count;                    /* of boxes */
    int64_t su_most;                    /* that are selected per class */
    double su_overlap, su_threshold;
    bool su_centred;
    aclsimTensor su_out; /* its dimension 0 is the room */
    int64_t su_written;
};

/* The box with the higher score comes first, and the earlier one of two with the same score. */
static int compare(const void *one, const void *other, void *context)
{
    const double *scores = context, a = *(const double *)one, b = *(const double *)other;
    if (scores[(size_t)a] != scores[(size_t)b])
        return scores[(size_t)a] > scores[(size_t)b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool is_suppressed(const struct suppression *made, size_t box, int64_t kept)
{
    for (int64_t k = 0; k < kept; k++)
        if (overlap(&made->su_boxes[box * SIDES], &made->su_boxes[(size_t)made->su_kept[k] * SIDES], made->su_centred,
                    made->su_overlap))
            return true;
    return false;
}

static void write_result(struct suppression *made, size_t image, size_t class, size_t box)
{
    const aclsimTensor *out = &made->su_out;
    const int32_t result[INDICES] = {(int32_t)image, (int32_t)class, (int32_t)box};
    char *place = (char *)out->data + made->su_written * out->strides[0] * (int64_t)sizeof *result;
    for (int64_t k = 0; k < INDICES; k++)
        memcpy(place + k * out->strides[1] * (int64_t)sizeof *result, &result[k], sizeof *result);
    made->su_written++;
}

static void select_boxes(struct suppression *made, size_t image, size_t class)
{
    size_t count = 0;
    int64_t kept = 0;
    for (size_t i = 0; i < made->su_count; i++)
        if (made->su_scores[i] > made->su_threshold)
            made->su_order[count++] = (double)i;
    qsort_r(made->su_order, count, sizeof *made->su_order, compare, (void *)made->su_scores);
    for (size_t i = 0; i < count && kept < made->su_most && made->su_written < made->su_out.dims[0]; i++) {
        const size_t box = (size_t)made->su_order[i];
        if (is_suppressed(made, box, kept))
            continue;
        made->su_kept[kept++] = (double)box;
        write_result(made, image, class, box);
    }
}

static aclError suppress(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *scores = given[SCORES].tensors;
    const size_t images = (size_t)scores->dims[0], classes = (size_t)scores->dims[1], count = (size_t)scores->dims[2];
    double *all_boxes, *all_scores;
    struct suppression made = {.su_count = count,
                               .su_most = given[MOST].integers[0],
                               .su_overlap = (double)given[OVERLAP].floats[0],
                               .su_threshold = (double)given[THRESHOLD].floats[0],
                               .su_centred = given[CENTRED].integer != 0,
                               .su_out = *given[OUT].tensors};
    SIM_TRY(sim_lists_load(lists, &given[BOXES], &all_boxes));
    SIM_TRY(sim_lists_load(lists, &given[SCORES], &all_scores));
    SIM_TRY(sim_lists_take(lists, count, &made.su_order));
    SIM_TRY(sim_lists_take(lists, count, &made.su_kept));
    for (size_t image = 0; image < images && count != 0; image++)
        for (size_t class = 0; class < classes; class++) {
            made.su_boxes = all_boxes + image * count * SIDES;
            made.su_scores = all_scores + (image * classes + class) * count;
            select_boxes(&made, image, class);
        }
    const aclsimTensor part = sim_walk_part(&made.su_out, (const int64_t[]){made.su_written, INDICES});
    return sim_row_resize(call, OUT, &part);
}

static const struct sim_lists_kind suppression = {suppress};
const struct sim_kernel sim_kernel_aclnnNonMaxSuppression = {plan_suppress, sim_lists_run, (void *)&suppression, false};
