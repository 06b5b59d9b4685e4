/* Boxes of detectors: how far they overlap, and the numbers by which one becomes another. A box is x0, y0, x1, y1. All
 * is computed in double and rounded once. */
#include "operator/op.h"
#include "report.h"
#include "slices.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SIDES = 4 };

/* ---- Iou: bBoxes, gtBoxes, mode, eps, aligned, overlap: the area that two boxes share, divided by that of both (iou),
 * or by that of the true box (iof). eps is added to each length of an area. Aligned boxes are compared one by one,
 * others each with each. The single operator has a row per true box, aclnnIou one per bBox. ---- */

enum { BOXES, OTHERS, MODE, EPS, ALIGNED, OVERLAP };

static aclError run(const aclsimCall *call, struct sim_lists *lists);
static const struct sim_lists_kind kind = {run}, turned_kind = {run};

static aclnnStatus check_boxes(const aclsimArgument *boxes, aclDataType type)
{
    SIM_TRY(sim_require_type(boxes, SIM_TYPE(type)));
    SIM_TRY(sim_require_rank(boxes, 2, 2));
    const int64_t dims[] = {boxes->tensors->dims[0], SIDES};
    return sim_require_shape(boxes, dims, 2, "4 numbers per box");
}

static aclnnStatus plan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *mode = &given[MODE];
    const aclDataType type = given[BOXES].tensors->type;
    (void)workspace_size;
    SIM_TRY(sim_require_type(&given[BOXES], SIM_TYPES_SINGLE));
    SIM_TRY(check_boxes(&given[BOXES], type));
    SIM_TRY(check_boxes(&given[OTHERS], type));
    SIM_TRY(sim_require_type(&given[OVERLAP], SIM_TYPE(type)));
    const bool is_known = strcmp(mode->text, "iou") == 0 || strcmp(mode->text, "iof") == 0;
    if (!is_known)
        sim_report_text(mode->name, "iou");
    SIM_ARGUMENT(is_known, ACLNN_ERR_PARAM_INVALID, "%s is \"%s\", expected iou or iof", mode->name, mode->text);
    SIM_ARGUMENT(given[EPS].number >= 0, ACLNN_ERR_PARAM_INVALID, "%s is %g, expected 0 or more", given[EPS].name,
                 given[EPS].number);
    const int64_t boxes = given[BOXES].tensors->dims[0], others = given[OTHERS].tensors->dims[0];
    const bool aligned = given[ALIGNED].integer != 0;
    if (aligned)
        SIM_TRY(sim_require_shape(&given[OTHERS], given[BOXES].tensors->dims, 2, "that of bBoxes"));
    const bool turned = call->userData != &kind;
    const int64_t wanted[] = {turned ? others : boxes, aligned ? 1 : turned ? boxes : others};
    return sim_require_shape(&given[OVERLAP], wanted, 2, aligned ? "one number per box" : "one number per pair");
}

static double area_of(const double *box, double eps)
{
    return (box[2] - box[0] + eps) * (box[3] - box[1] + eps);
}

static double overlap_of(const double *box, const double *other, double eps, bool over_other)
{
    const double width = fmin(box[2], other[2]) - fmax(box[0], other[0]) + eps;
    const double height = fmin(box[3], other[3]) - fmax(box[1], other[1]) + eps;
    const double shared = fmax(width, 0) * fmax(height, 0), area = area_of(other, eps);
    return shared / (over_other ? area : area_of(box, eps) + area - shared);
}

static aclError run(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t rows = (size_t)given[OVERLAP].tensors->dims[0], columns = (size_t)given[OVERLAP].tensors->dims[1];
    const bool over_other = strcmp(given[MODE].text, "iof") == 0, aligned = given[ALIGNED].integer != 0;
    const bool turned = call->userData != &kind;
    double *boxes, *others, *overlaps;
    if (rows == 0 || columns == 0)
        return ACL_SUCCESS;
    SIM_TRY(sim_lists_load(lists, &given[BOXES], &boxes));
    SIM_TRY(sim_lists_load(lists, &given[OTHERS], &others));
    SIM_TRY(sim_lists_take(lists, rows * columns, &overlaps));
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++) {
            const size_t column = aligned ? i : k, box = turned ? column : i, other = turned ? i : column;
            overlaps[i * columns + k] = overlap_of(boxes + box * SIDES, others + other * SIDES, given[EPS].number,
                                                   over_other);
        }
    sim_lists_store(&given[OVERLAP], overlaps);
    return ACL_SUCCESS;
}

const struct sim_kernel sim_kernel_aclnnIou = {plan, sim_lists_run, (void *)&kind, false};
static const struct sim_kernel turned_kernel = {plan, sim_lists_run, (void *)&turned_kind, false};

static const struct sim_parameter overlap_parameters[] = {
    {"bboxes", ACLSIM_TENSOR, ACLSIM_IN, false}, {"gtboxes", ACLSIM_TENSOR, ACLSIM_IN, false},
    {"mode", ACLSIM_TEXT, 0, false},             {"eps", ACLSIM_NUMBER, 0, false},
    {"aligned", ACLSIM_INTEGER, 0, false},       {"overlap", ACLSIM_TENSOR, ACLSIM_OUT, false}};
struct sim_row sim_op_iou_row = SIM_ROW("Iou", SIM_TASK_VECTOR, overlap_parameters, &turned_kernel);

/* ---- the single operators BoundingBoxEncode: anchor_box, ground_truth_box, means, stds, delta, and BoundingBoxDecode:
 * rois, deltas, means, stds, max_shape, wh_ratio_clip, bboxes. The numbers are the distance of the centres, divided by
 * the size of the first box, and the logarithm of the ratio of the sizes; less their means, and divided by their
 * deviations. A size includes both edges: it is x1 - x0 + 1. Decoded boxes are clipped to the image. ---- */

enum { FIRST, SECOND, MEANS, STDS, ENCODED, MAX_SHAPE = ENCODED, CLIP, DECODED };

struct place {
    double pl_centre[2], pl_size[2]; /* along x and y */
};

static struct place place_of(const double *box)
{
    struct place place;
    for (size_t k = 0; k < 2; k++) {
        place.pl_centre[k] = (box[k] + box[k + 2]) / 2;
        place.pl_size[k] = box[k + 2] - box[k] + 1;
    }
    return place;
}

static aclnnStatus check_coder(const aclsimArgument *given, const aclsimArgument *result)
{
    const aclDataType type = given[FIRST].tensors->type;
    SIM_TRY(sim_require_type(&given[FIRST], SIM_TYPE(ACL_FLOAT) | SIM_TYPE(ACL_FLOAT16)));
    SIM_TRY(check_boxes(&given[FIRST], type));
    SIM_TRY(sim_require_like(&given[SECOND], &given[FIRST]));
    SIM_TRY(sim_require_like(result, &given[FIRST]));
    SIM_TRY(sim_require_count(&given[MEANS], SIDES));
    return sim_require_count(&given[STDS], SIDES);
}

static aclnnStatus plan_encode(const aclsimCall *call, uint64_t *workspace_size)
{
    (void)workspace_size;
    return check_coder(call->arguments, &call->arguments[ENCODED]);
}

static aclError encode(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t count = (size_t)given[FIRST].tensors->dims[0];
    double *boxes, *others;
    SIM_TRY(sim_lists_load(lists, &given[FIRST], &boxes));
    SIM_TRY(sim_lists_load(lists, &given[SECOND], &others));
    for (size_t i = 0; i < count; i++) {
        const struct place from = place_of(boxes + i * SIDES), to = place_of(others + i * SIDES);
        for (size_t k = 0; k < SIDES; k++) {
            const double number = k < 2 ? (to.pl_centre[k] - from.pl_centre[k]) / from.pl_size[k]
                                        : log(fabs(to.pl_size[k - 2] / from.pl_size[k - 2]));
            boxes[i * SIDES + k] = (number - (double)given[MEANS].floats[k]) / (double)given[STDS].floats[k];
        }
    }
    sim_lists_store(&given[ENCODED], boxes);
    return ACL_SUCCESS;
}

static aclnnStatus plan_decode(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    (void)workspace_size;
    SIM_TRY(check_coder(given, &given[DECODED]));
    SIM_TRY(sim_require_count(&given[MAX_SHAPE], 2));
    SIM_ARGUMENT(given[CLIP].number > 0, ACLNN_ERR_PARAM_INVALID, "%s is %g, expected a number above 0",
                 given[CLIP].name, given[CLIP].number);
    return ACL_SUCCESS;
}

static double clip(double value, double least, double most)
{
    return value < least ? least : value > most ? most : value;
}

static aclError decode(const aclsimCall *call, struct sim_lists *lists)
{
    const aclsimArgument *given = call->arguments;
    const size_t count = (size_t)given[FIRST].tensors->dims[0];
    const double most = fabs(log(given[CLIP].number));
    double *boxes, *numbers;
    SIM_TRY(sim_lists_load(lists, &given[FIRST], &boxes));
    SIM_TRY(sim_lists_load(lists, &given[SECOND], &numbers));
    for (size_t i = 0; i < count; i++) {
        double *box = boxes + i * SIDES, *number = numbers + i * SIDES;
        const struct place from = place_of(box);
        for (size_t k = 0; k < SIDES; k++)
            number[k] = number[k] * (double)given[STDS].floats[k] + (double)given[MEANS].floats[k];
        for (size_t k = 0; k < 2; k++) {
            const double size = from.pl_size[k] * exp(clip(number[k + 2], -most, most));
            const double centre = from.pl_centre[k] + from.pl_size[k] * number[k];
            const double end = (double)given[MAX_SHAPE].integers[1 - k] - 1; /* max_shape is height, width */
            box[k] = clip(centre - size / 2 + 0.5, 0, end);
            box[k + 2] = clip(centre + size / 2 - 0.5, 0, end);
        }
    }
    sim_lists_store(&given[DECODED], boxes);
    return ACL_SUCCESS;
}

static const struct sim_lists_kind encode_kind = {encode}, decode_kind = {decode};
static const struct sim_kernel encode_kernel = {plan_encode, sim_lists_run, (void *)&encode_kind, false},
                               decode_kernel = {plan_decode, sim_lists_run, (void *)&decode_kind, false};
static const struct sim_parameter encode_parameters[] = {{"anchor_box", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                         {"ground_truth_box", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                         {"means", ACLSIM_FLOATS, 0, false},
                                                         {"stds", ACLSIM_FLOATS, 0, false},
                                                         {"delats", ACLSIM_TENSOR, ACLSIM_OUT, false}},
                                  decode_parameters[] = {{"rois", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                         {"deltas", ACLSIM_TENSOR, ACLSIM_IN, false},
                                                         {"means", ACLSIM_FLOATS, 0, false},
                                                         {"stds", ACLSIM_FLOATS, 0, false},
                                                         {"max_shape", ACLSIM_INTEGERS, 0, false},
                                                         {"wh_ratio_clip", ACLSIM_NUMBER, 0, false},
                                                         {"bboxes", ACLSIM_TENSOR, ACLSIM_OUT, false}};

struct sim_row sim_op_box_encode_row = SIM_ROW("BoundingBoxEncode", SIM_TASK_VECTOR, encode_parameters, &encode_kernel),
               sim_op_box_decode_row = SIM_ROW("BoundingBoxDecode", SIM_TASK_VECTOR, decode_parameters, &decode_kernel);
