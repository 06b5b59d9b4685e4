/* Numbers for the schemas of single operators that split tensors, insert them into larger ones or join them:
 * StridedSlice, Split and its variants, Unpack, Pack, Pad, GatherNd, and the biases of BiasAdd and Select. This file
 * has no state and no lock. */
#include "op_type.h"

#include <stdlib.h>

static aclError refuse(const struct sim_op_request *request, const char *reason)
{
    return sim_refuse(ACL_ERROR_OP_NOT_FOUND, "operator %s does not accept these tensors and attributes: %s",
                      request->rq_type,
                      reason);
}

static bool is_type(const struct sim_op_request *request, const char *name)
{
    return strcmp(request->rq_type, name) == 0;
}

static aclError copy_numbers(const int64_t *from, uint32_t length, int64_t *numbers, uint32_t *count)
{
    memcpy(numbers, from, length * sizeof *numbers);
    *count = length;
    return ACL_SUCCESS;
}

/* ---- StridedSlice(x, begin, end, strides; masks = 0), StridedSliceD ---- */

enum mask { BEGIN, END, ELLIPSIS, NEW_AXIS, SHRINK, MASKS };

struct strided {
    int64_t st_begin[SIM_DIMS_MAX], st_end[SIM_DIMS_MAX], st_steps[SIM_DIMS_MAX], st_masks[MASKS];
    uint32_t st_count;                                                            /* length of each of the three */
    int64_t st_starts[SIM_OP_RANK], st_strides[SIM_OP_RANK], st_sizes[SIM_OP_RANK]; /* one for each dimension of x */
    uint32_t st_dims;                                                              /* dimensions done so far */
    int64_t st_shape[2 * SIM_DIMS_MAX];
    uint32_t st_rank;
};

static bool is_masked(const struct strided *strided, enum mask mask, uint32_t place)
{
    return place < 63 && (strided->st_masks[mask] >> place & 1) != 0;
}

static void take_whole(const struct sim_op_tensor *x, struct strided *strided)
{
    uint32_t dim = strided->st_dims++;
    strided->st_starts[dim] = 0;
    strided->st_strides[dim] = 1;
    strided->st_sizes[dim] = strided->st_shape[strided->st_rank++] = x->ot_dims[dim];
}

static int64_t wrap(int64_t place, int64_t length, int64_t least, int64_t most)
{
    place += place < 0 ? length : 0;
    return place < least ? least : place > most ? most : place;
}

static aclError take_one(const struct sim_op_request *request, uint32_t place, struct strided *strided)
{
    uint32_t dim = strided->st_dims++;
    int64_t length = request->rq_tensors[0].ot_dims[dim], begin = strided->st_begin[place];
    SIM_ARGUMENT(begin >= -length && begin < length, ACL_ERROR_OP_NOT_FOUND,
                 "begin of %s is %lld for dimension %u of x, which is removed, expected %lld to %lld", request->rq_type,
                 (long long)begin, dim, (long long)-length, (long long)length - 1);
    strided->st_starts[dim] = begin < 0 ? begin + length : begin;
    strided->st_strides[dim] = strided->st_sizes[dim] = 1;
    return ACL_SUCCESS;
}

static aclError take_some(const struct sim_op_request *request, uint32_t place, struct strided *strided)
{
    uint32_t dim = strided->st_dims++;
    int64_t length = request->rq_tensors[0].ot_dims[dim], step = strided->st_steps[place];
    SIM_ARGUMENT(step != 0 && step != INT64_MIN, ACL_ERROR_OP_NOT_FOUND,
                 "strides of %s has %lld for dimension %u of x, expected a step other than 0", request->rq_type,
                 (long long)step,
                 dim);
    int64_t least = step > 0 ? 0 : -1, most = step > 0 ? length : length - 1;
    int64_t begin = is_masked(strided, BEGIN, place) ? (step > 0 ? least : most)
                                                     : wrap(strided->st_begin[place], length, least, most);
    int64_t end = is_masked(strided, END, place) ? (step > 0 ? most : least)
                                                 : wrap(strided->st_end[place], length, least, most);
    int64_t way = step > 0 ? end - begin : begin - end, pace = step > 0 ? step : -step;
    strided->st_sizes[dim] = way <= 0 ? 0 : (way - 1) / pace + 1;
    strided->st_starts[dim] = strided->st_sizes[dim] == 0 ? 0 : begin;
    strided->st_strides[dim] = step;
    strided->st_shape[strided->st_rank++] = strided->st_sizes[dim];
    return ACL_SUCCESS;
}

static aclError read_strided(const struct sim_op_request *request, struct strided *strided)
{
    static const char *const masks[MASKS] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                             "shrink_axis_mask"};
    uint32_t ends, steps;
    SIM_TRY(sim_op_find_integers(request, "begin", 1, strided->st_begin, &strided->st_count));
    SIM_TRY(sim_op_find_integers(request, "end", 2, strided->st_end, &ends));
    SIM_TRY(sim_op_find_integers(request, "strides", 3, strided->st_steps, &steps));
    for (int i = 0; i < MASKS; i++)
        SIM_TRY(sim_op_find_integer(request, masks[i], 0, &strided->st_masks[i]));
    if (ends != strided->st_count || steps != strided->st_count)
        return refuse(request, "begin, end and strides have different lengths");
    return ACL_SUCCESS;
}

/* Counts the dimensions of x that the numbers apply to, without an ellipsis; returns false if there are two
 * ellipses. */
static bool count_named(const struct strided *strided, uint32_t *named)
{
    uint32_t ellipses = 0;
    *named = 0;
    for (uint32_t i = 0; i < strided->st_count; i++)
        if (is_masked(strided, ELLIPSIS, i))
            ellipses++;
        else
            *named += !is_masked(strided, NEW_AXIS, i);
    return ellipses <= 1;
}

static aclError find_strided(const struct sim_op_request *request, struct strided *strided)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0];
    uint32_t named;
    *strided = (struct strided){0};
    SIM_TRY(read_strided(request, strided));
    if (!count_named(strided, &named) || named > x->ot_rank)
        return refuse(request, "begin is for more dimensions than x has, or has two ellipses");
    for (uint32_t i = 0; i < strided->st_count; i++) {
        if (is_masked(strided, ELLIPSIS, i))
            for (uint32_t k = named; k < x->ot_rank; k++)
                take_whole(x, strided);
        else if (is_masked(strided, NEW_AXIS, i))
            strided->st_shape[strided->st_rank++] = 1;
        else
            SIM_TRY((is_masked(strided, SHRINK, i) ? take_one : take_some)(request, i, strided));
    }
    while (strided->st_dims < x->ot_rank)
        take_whole(x, strided);
    return strided->st_rank <= SIM_OP_RANK ? ACL_SUCCESS : refuse(request, "the result has more than 8 dimensions");
}

aclError sim_op_part_starts(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    struct strided strided;
    SIM_TRY(find_strided(request, &strided));
    return copy_numbers(strided.st_starts, strided.st_dims, numbers, count);
}

aclError sim_op_part_steps(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    struct strided strided;
    SIM_TRY(find_strided(request, &strided));
    return copy_numbers(strided.st_strides, strided.st_dims, numbers, count);
}

aclError sim_op_part_sizes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    struct strided strided;
    SIM_TRY(find_strided(request, &strided));
    return copy_numbers(strided.st_sizes, strided.st_dims, numbers, count);
}

aclError sim_op_part_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    struct strided strided;
    SIM_TRY(find_strided(request, &strided));
    return copy_numbers(strided.st_shape, strided.st_rank, numbers, count);
}

/* ---- Split(split_dim, x), SplitD(x; split_dim), SplitV(x, size_splits, split_dim),
 * SplitVD(x; size_splits, split_dim), all with num_split; Unpack(x; num, axis = 0) ---- */

uint32_t sim_op_part_split_place(const struct sim_op_request *request)
{
    return is_type(request, "Split") ? 1 : 0;
}

aclError sim_op_part_split_axis(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[sim_op_part_split_place(request)];
    *count = 1;
    if (is_type(request, "Unpack"))
        SIM_TRY(sim_op_find_integer(request, "axis", 0, numbers));
    else
        SIM_TRY(sim_op_find_integers(request, "split_dim", is_type(request, "SplitV") ? 2 : 0, numbers, count));
    int64_t given = *numbers;
    *numbers += given < 0 ? x->ot_rank : 0;
    SIM_ARGUMENT(*count == 1 && *numbers >= 0 && *numbers < x->ot_rank, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "%s splits dimension %lld of x, which has %u, expected one of these", request->rq_type,
                 (long long)given, x->ot_rank);
    return ACL_SUCCESS;
}

static aclError fill_sizes(const struct sim_op_request *request, int64_t length, int64_t *numbers, uint32_t *count)
{
    int64_t rest = length;
    uint32_t open = UINT32_MAX;
    SIM_TRY(sim_op_find_integers(request, "size_splits", 1, numbers, count));
    for (uint32_t i = 0; i < *count; i++) {
        if (numbers[i] == -1 && open == UINT32_MAX)
            open = i;
        else if (numbers[i] < 0 || numbers[i] > rest)
            return refuse(request, "the sum of size_splits is larger than the dimension of x, or it has a negative "
                          "number other than a single -1");
        else
            rest -= numbers[i];
    }
    if (open != UINT32_MAX)
        numbers[open] = rest;
    return ACL_SUCCESS;
}

aclError sim_op_part_split_sizes(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    bool unpacks = is_type(request, "Unpack");
    const char *name = unpacks ? "num" : "num_split";
    int64_t axis[SIM_DIMS_MAX], parts[SIM_DIMS_MAX];
    SIM_TRY(sim_op_part_split_axis(request, axis, count));
    SIM_TRY(sim_op_integers(request, name, parts, count));
    SIM_ARGUMENT(*count == 1 && *parts >= 1 && *parts == request->rq_output_count && *parts <= SIM_DIMS_MAX,
                 ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s of %s is %lld, expected numOutputs, %u, and at most %d",
                 name, request->rq_type, (long long)*parts, request->rq_output_count, SIM_DIMS_MAX);
    int64_t length = request->rq_tensors[sim_op_part_split_place(request)].ot_dims[*axis];
    if (strncmp(request->rq_type, "SplitV", strlen("SplitV")) == 0) {
        SIM_TRY(fill_sizes(request, length, numbers, count));
        return *count == *parts ? ACL_SUCCESS : refuse(request, "size_splits does not have one number per output");
    }
    SIM_ARGUMENT(unpacks ? length == *parts : length % *parts == 0, ACL_ERROR_OP_NOT_FOUND,
                 "%s makes %lld tensors of dimension %lld of x, which is %lld, expected %s", request->rq_type,
                 (long long)*parts, (long long)*axis, (long long)length, unpacks ? "as many" : "a divisor of it");
    *count = (uint32_t)*parts;
    for (uint32_t i = 0; i < *count; i++)
        numbers[i] = length / *parts;
    return ACL_SUCCESS;
}

aclError sim_op_part_unpacked_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0];
    int64_t axis[SIM_DIMS_MAX];
    SIM_TRY(sim_op_part_split_axis(request, axis, count));
    *count = 0;
    for (uint32_t i = 0; i < x->ot_rank; i++)
        if (i != *axis)
            numbers[(*count)++] = x->ot_dims[i];
    return ACL_SUCCESS;
}

/* ---- Pack(x...; axis = 0) ---- */

aclError sim_op_part_packed_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    struct sim_op_tensor raised;
    if (request->rq_input_count == 0)
        return refuse(request, "it needs a tensor or more");
    SIM_TRY(sim_op_raise(request, &request->rq_tensors[0], &raised));
    SIM_TRY(copy_numbers(raised.ot_dims, raised.ot_rank, numbers, count));
    int64_t axis;
    SIM_TRY(sim_op_find_integer(request, "axis", 0, &axis));
    numbers[axis < 0 ? axis + raised.ot_rank : axis] = request->rq_input_count;
    return ACL_SUCCESS;
}

aclError sim_op_raise(const struct sim_op_request *request, const struct sim_op_tensor *tensor,
                      struct sim_op_tensor *raised)
{
    int64_t axis, rank = (int64_t)tensor->ot_rank + 1;
    SIM_TRY(sim_op_find_integer(request, "axis", 0, &axis));
    SIM_ARGUMENT(axis >= -rank && axis < rank && rank <= SIM_OP_RANK, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute axis of %s is %lld, expected %lld to %lld, and at most 8 dimensions", request->rq_type,
                 (long long)axis, (long long)-rank, (long long)rank - 1);
    axis += axis < 0 ? rank : 0;
    *raised = *tensor;
    raised->ot_rank = (uint32_t)rank;
    for (int64_t i = rank - 1; i > axis; i--)
        raised->ot_dims[i] = raised->ot_dims[i - 1];
    raised->ot_dims[axis] = 1;
    return ACL_SUCCESS;
}

/* ---- Pad(x, paddings), PadD(x; paddings), PadV2(x, paddings, constant_values),
 * PadV3(x, paddings, constant_values; mode = "constant", paddings_contiguous = true) ---- */

/* Reads the numbers of a list of lists, which attributes store as JSON. */
static aclError read_lists(const struct sim_op_request *request, const char *name, int64_t *numbers, uint32_t *count)
{
    const struct sim_attribute *found = sim_op_attributes_find(&request->rq_attributes, name);
    SIM_ARGUMENT(found != NULL && found->at_kind == SIM_ATTRIBUTE_JSON, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "%s needs attribute %s, a list of lists of integers, which is missing", request->rq_type, name);
    *count = 0;
    for (const char *at = found->at_values; *at != '\0' && *count < SIM_DIMS_MAX;) {
        char *end;
        numbers[*count] = strtoll(at, &end, 10);
        *count += end != at;
        at = end != at ? end : at + 1;
    }
    return ACL_SUCCESS;
}

aclError sim_op_part_pads(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_source input = {.so_kind = SIM_FROM_NUMBERS, .so_place = 1};
    uint32_t rank = request->rq_tensors[0].ot_rank;
    int64_t given[SIM_DIMS_MAX];
    if (is_type(request, "PadD"))
        SIM_TRY(read_lists(request, "paddings", given, count));
    else
        SIM_TRY(sim_op_numbers(request, &input, given, count));
    if (*count != 2 * rank)
        return refuse(request, "paddings needs two numbers for each dimension of x");
    bool apart = sim_op_attributes_find(&request->rq_attributes, "paddings_contiguous") != NULL &&
                 !sim_op_is_set(request, "paddings_contiguous");
    for (uint32_t i = 0; i < *count; i++)
        numbers[i] = apart ? given[i % 2 * rank + i / 2] : given[i];
    return ACL_SUCCESS;
}

bool sim_op_part_pads_edges(const struct sim_op_request *request)
{
    return strcmp(sim_op_text(request, "mode", "constant"), "constant") != 0;
}

/* The modes other than constant, in the order of enum edge (ops/pad.c), and that of MirrorPad. */
aclError sim_op_part_pad_mode(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    static const char *const modes[] = {"reflect", "edge", "circular", "REFLECT"};
    const char *mode = sim_op_text(request, "mode", "constant");
    *count = 1;
    for (int64_t i = 0; i < 4; i++)
        if (strcmp(mode, modes[i]) == 0) {
            *numbers = i % 3;
            return ACL_SUCCESS;
        }
    return sim_refuse(ACL_ERROR_OP_ATTR_NOT_MATCH,
                      "attribute mode of %s is \"%s\", expected constant, reflect, edge or circular", request->rq_type,
                      mode);
}

aclError sim_op_part_pad_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0];
    int64_t pads[SIM_DIMS_MAX];
    SIM_TRY(sim_op_part_pads(request, pads, count));
    *count = x->ot_rank;
    for (uint32_t i = 0; i < *count; i++)
        if (__builtin_add_overflow(pads[2 * i], pads[2 * i + 1], &numbers[i]) ||
            __builtin_add_overflow(numbers[i], x->ot_dims[i], &numbers[i]))
            return refuse(request, "a padding is too large");
    return ACL_SUCCESS;
}

/* ---- GatherNd(x, indices) ---- */

aclError sim_op_part_gathered_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0], *indices = &request->rq_tensors[1];
    int64_t depth = indices->ot_rank == 0 ? -1 : indices->ot_dims[indices->ot_rank - 1];
    *count = 0;
    if (depth < 0 || depth > x->ot_rank)
        return refuse(request, "the last dimension of indices is greater than the dimensions of x");
    for (uint32_t i = 0; i + 1 < indices->ot_rank; i++)
        numbers[(*count)++] = indices->ot_dims[i];
    for (uint32_t i = (uint32_t)depth; i < x->ot_rank; i++)
        numbers[(*count)++] = x->ot_dims[i];
    return ACL_SUCCESS;
}

/* ---- inputs that are viewed with more dimensions of 1 ---- */

/* BiasAdd(x, bias; data_format = "NHWC"): the bias applies to the channels. */
aclError sim_op_part_bias_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *x = &request->rq_tensors[0], *bias = &request->rq_tensors[1];
    const char *layout = sim_op_text(request, "data_format", "NHWC");
    SIM_ARGUMENT(strcmp(layout, "NHWC") == 0 || strcmp(layout, "NCHW") == 0, ACL_ERROR_OP_ATTR_NOT_MATCH,
                 "attribute data_format of %s is %s, expected NCHW or NHWC", request->rq_type, layout);
    uint32_t channels = strcmp(layout, "NHWC") == 0 ? x->ot_rank - 1 : 1;
    if (x->ot_rank < 2 || bias->ot_rank != 1 || bias->ot_dims[0] != x->ot_dims[channels])
        return refuse(request, "bias must have one dimension, and one element per channel");
    *count = x->ot_rank;
    for (uint32_t i = 0; i < *count; i++)
        numbers[i] = i == channels ? bias->ot_dims[0] : 1;
    return ACL_SUCCESS;
}

/* Select(condition, x1, x2): a condition of one dimension chooses rows of x1 and x2. */
aclError sim_op_part_choice_dims(const struct sim_op_request *request, int64_t *numbers, uint32_t *count)
{
    const struct sim_op_tensor *condition = &request->rq_tensors[0], *x = &request->rq_tensors[1];
    *count = condition->ot_rank == 1 ? x->ot_rank : condition->ot_rank;
    if (condition->ot_rank > x->ot_rank)
        return refuse(request, "condition has more dimensions than x1");
    for (uint32_t i = 0; i < *count; i++)
        numbers[i] = condition->ot_rank != 1 || i == 0 ? condition->ot_dims[i] : 1;
    return ACL_SUCCESS;
}
