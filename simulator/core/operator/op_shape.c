/* Shapes of outputs, inferred from those of the inputs. They are only candidates: the plan of the schema's kernel
 * checks every shape. This file has no state and no lock. */
#include "base/bytes.h"
#include "op_type.h"

static aclError refuse(const struct sim_op_request *request, const char *reason)
{
    return sim_refuse(ACL_ERROR_OP_UNSUPPORTED_DYNAMIC, "the shape of the output of %s is not known: %s",
                      request->rq_type, reason);
}

/* The shape under construction; its rank is checked when a dimension is added. */
struct shape {
    int64_t sh_dims[SIM_OP_RANK];
    uint32_t sh_rank;
    bool sh_bad;
};

static void add_dim(struct shape *shape, int64_t dim)
{
    if (shape->sh_rank == SIM_OP_RANK || dim < 0)
        shape->sh_bad = true;
    else
        shape->sh_dims[shape->sh_rank++] = dim;
}

static void copy_dims(struct shape *shape, const struct sim_op_tensor *from)
{
    for (uint32_t i = 0; i < from->ot_rank; i++)
        add_dim(shape, from->ot_dims[i]);
}

/* Broadcasts, aligned at the right; the plan refuses dimensions that differ and are not 1. */
static void stretch(struct shape *shape, const struct sim_op_tensor *tensor)
{
    if (tensor->ot_rank > shape->sh_rank) {
        uint32_t more = tensor->ot_rank - shape->sh_rank;
        memmove(shape->sh_dims + more, shape->sh_dims, shape->sh_rank * sizeof *shape->sh_dims);
        for (uint32_t i = 0; i < more; i++)
            shape->sh_dims[i] = 1;
        shape->sh_rank = tensor->ot_rank;
    }
    int64_t *dims = shape->sh_dims + shape->sh_rank - tensor->ot_rank;
    for (uint32_t i = 0; i < tensor->ot_rank; i++)
        if (dims[i] == 1)
            dims[i] = tensor->ot_dims[i];
}

static aclError broadcast(const struct sim_op_request *request, struct shape *shape)
{
    for (uint32_t i = 0; i < request->rq_input_count; i++)
        if (request->rq_tensors[i].ot_type != ACL_DT_UNDEFINED)
            stretch(shape, &request->rq_tensors[i]);
    return ACL_SUCCESS;
}

static aclError multiply(const struct sim_op_request *request, const struct sim_op_type *type, struct shape *shape)
{
    const struct sim_source *factors = type->ty_sources;
    while (factors->so_name == NULL) /* the bias comes before them */
        factors++;
    const struct sim_op_tensor *left = &request->rq_tensors[factors[0].so_place],
                               *right = &request->rq_tensors[factors[1].so_place];
    if (left->ot_rank < 2 || right->ot_rank < 2)
        return refuse(request, "a factor has fewer than 2 dimensions");
    struct sim_op_tensor batches = *left, others = *right;
    batches.ot_rank -= 2;
    others.ot_rank -= 2;
    stretch(shape, &batches);
    stretch(shape, &others);
    add_dim(shape, left->ot_dims[left->ot_rank - (sim_op_is_set(request, factors[0].so_name) ? 1 : 2)]);
    add_dim(shape, right->ot_dims[right->ot_rank - (sim_op_is_set(request, factors[1].so_name) ? 2 : 1)]);
    return ACL_SUCCESS;
}

/* Finds a dimension of the first input; a negative number counts from the end. */
static bool find_dim(const struct sim_op_request *request, int64_t *dim)
{
    int64_t rank = request->rq_tensors[0].ot_rank;
    *dim += *dim < 0 ? rank : 0;
    return *dim >= 0 && *dim < rank;
}

static aclError reduce(const struct sim_op_request *request, const struct sim_op_type *type, struct shape *shape)
{
    int64_t numbers[SIM_DIMS_MAX];
    uint32_t count, reduced = 0;
    const struct sim_op_tensor *from = &request->rq_tensors[0];
    const struct sim_source *kept = &type->ty_sources[type->ty_sources[2].so_name != NULL ? 2 : 3];
    bool keeps = sim_op_is_set(request, kept->so_name);
    SIM_TRY(sim_op_numbers(request, &type->ty_sources[1], numbers, &count));
    for (uint32_t i = 0; i < count; i++) {
        if (!find_dim(request, &numbers[i]))
            return refuse(request, "it reduces a dimension that its input does not have");
        reduced |= 1u << numbers[i];
    }
    for (uint32_t i = 0; i < from->ot_rank; i++) {
        bool gone = count == 0 || (reduced >> i & 1) != 0;
        if (!gone || keeps)
            add_dim(shape, gone ? 1 : from->ot_dims[i]);
    }
    return ACL_SUCCESS;
}

static aclError permute(const struct sim_op_request *request, const struct sim_op_type *type, struct shape *shape)
{
    int64_t numbers[SIM_DIMS_MAX];
    uint32_t count;
    SIM_TRY(sim_op_numbers(request, &type->ty_sources[1], numbers, &count));
    for (uint32_t i = 0; i < count; i++) {
        if (!find_dim(request, &numbers[i]))
            return refuse(request, "it moves a dimension that its input does not have");
        add_dim(shape, request->rq_tensors[0].ot_dims[numbers[i]]);
    }
    return ACL_SUCCESS;
}

static aclError tile(const struct sim_op_request *request, const struct sim_op_type *type, struct shape *shape)
{
    int64_t numbers[SIM_DIMS_MAX];
    uint32_t count;
    const struct sim_op_tensor *from = &request->rq_tensors[0];
    SIM_TRY(sim_op_numbers(request, &type->ty_sources[1], numbers, &count));
    if (count < from->ot_rank)
        return refuse(request, "there are fewer multiples than dimensions");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t missing = count - from->ot_rank;
        if (!sim_length_multiply(&numbers[i], i < missing ? 1 : from->ot_dims[i - missing]))
            return refuse(request, "a multiple is too large");
        add_dim(shape, numbers[i]);
    }
    return ACL_SUCCESS;
}

static aclError join(const struct sim_op_request *request, const struct sim_op_type *type, struct shape *shape)
{
    int64_t numbers[SIM_DIMS_MAX];
    uint32_t count;
    SIM_TRY(sim_op_numbers(request, &type->ty_sources[1], numbers, &count));
    if (count != 1 || request->rq_input_count == 0 || !find_dim(request, numbers))
        return refuse(request, "it joins along a dimension that its first input does not have");
    copy_dims(shape, &request->rq_tensors[0]);
    for (uint32_t i = 1; i < request->rq_input_count; i++) {
        const struct sim_op_tensor *next = &request->rq_tensors[i];
        if (next->ot_rank != shape->sh_rank ||
            __builtin_add_overflow(shape->sh_dims[*numbers], next->ot_dims[*numbers], &shape->sh_dims[*numbers]))
            return refuse(request, "its inputs do not have as many dimensions as the first one");
    }
    return ACL_SUCCESS;
}

static aclError gather(const struct sim_op_request *request, const struct sim_op_type *type, struct shape *shape)
{
    int64_t numbers[SIM_DIMS_MAX];
    uint32_t count;
    const struct sim_op_tensor *from = &request->rq_tensors[0];
    SIM_TRY(sim_op_numbers(request, &type->ty_sources[1], numbers, &count));
    if (count != 1 || !find_dim(request, numbers))
        return refuse(request, "it picks along a dimension that its input does not have");
    for (uint32_t i = 0; i < from->ot_rank; i++)
        if (i == *numbers)
            copy_dims(shape, &request->rq_tensors[1]);
        else
            add_dim(shape, from->ot_dims[i]);
    return ACL_SUCCESS;
}

static aclError take_numbers(const struct sim_op_request *request, const struct sim_op_type *type, struct shape *shape)
{
    int64_t numbers[SIM_DIMS_MAX];
    uint32_t count;
    SIM_TRY(sim_op_numbers(request, &type->ty_sources[2], numbers, &count));
    for (uint32_t i = 0; i < count; i++)
        add_dim(shape, numbers[i]);
    return ACL_SUCCESS;
}

/* Any failure to derive the dimensions is reported as an unknown shape; the message before it gives the reason. */
static aclError derive(const struct sim_op_request *request, sim_op_derive_func dims, struct shape *shape)
{
    int64_t numbers[SIM_DIMS_MAX];
    uint32_t count;
    if (dims(request, numbers, &count) != ACL_SUCCESS)
        return refuse(request, "the message before this one says why");
    for (uint32_t i = 0; i < count; i++)
        add_dim(shape, numbers[i]);
    return ACL_SUCCESS;
}

static aclError make_shape(const struct sim_op_request *request, const struct sim_op_type *type, struct shape *shape)
{
    switch (type->ty_shape) {
    case SIM_SHAPE_BROADCAST:
        return broadcast(request, shape);
    case SIM_SHAPE_FIRST:
        copy_dims(shape, &request->rq_tensors[0]);
        return ACL_SUCCESS;
    case SIM_SHAPE_NUMBERS:
        return take_numbers(request, type, shape);
    case SIM_SHAPE_PRODUCT:
        return multiply(request, type, shape);
    case SIM_SHAPE_REDUCED:
        return reduce(request, type, shape);
    case SIM_SHAPE_PERMUTED:
        return permute(request, type, shape);
    case SIM_SHAPE_TILED:
        return tile(request, type, shape);
    case SIM_SHAPE_JOINED:
        return join(request, type, shape);
    case SIM_SHAPE_GATHERED:
        return gather(request, type, shape);
    case SIM_SHAPE_SPLIT: /* set_parts */
    case SIM_SHAPE_DERIVED:
    case SIM_SHAPE_EXACT:
    case SIM_SHAPE_VIEWED:
        return derive(request, type->ty_dims, shape);
    }
    return refuse(request, "the simulator has no rule for it");
}

static void set_shape(struct sim_op_tensor *tensor, const struct shape *shape)
{
    uint64_t bytes = (sim_type_bits(tensor->ot_type) + 7) / 8;
    bool fits = true;
    memcpy(tensor->ot_dims, shape->sh_dims, shape->sh_rank * sizeof *tensor->ot_dims);
    tensor->ot_rank = shape->sh_rank;
    tensor->ot_open = false;
    for (uint32_t i = 0; i < shape->sh_rank; i++)
        fits = sim_size_multiply(&bytes, (uint64_t)shape->sh_dims[i]) && fits;
    tensor->ot_bytes = fits || bytes == 0 ? bytes : UINT64_MAX; /* too large: no buffer fits, so it is refused */
}

static aclError set_parts(struct sim_op_request *request)
{
    const struct sim_op_tensor *x = &request->rq_tensors[sim_op_part_split_place(request)];
    int64_t axis[SIM_DIMS_MAX], sizes[SIM_DIMS_MAX];
    uint32_t count;
    if (sim_op_part_split_axis(request, axis, &count) != ACL_SUCCESS ||
        sim_op_part_split_sizes(request, sizes, &count) != ACL_SUCCESS)
        return refuse(request, "the message before this one says why");
    for (uint32_t i = 0; i < request->rq_output_count; i++) {
        struct shape shape = {0};
        copy_dims(&shape, x);
        shape.sh_dims[*axis] = sizes[i];
        if (sim_op_output(request, i)->ot_open)
            set_shape(sim_op_output(request, i), &shape);
    }
    return ACL_SUCCESS;
}

/* Other outputs than the type has are refused when it is bound. */
static aclError set_each(struct sim_op_request *request, const struct sim_op_type *type)
{
    for (uint32_t i = 0; i < request->rq_output_count && i < type->ty_outputs; i++) {
        int64_t numbers[SIM_DIMS_MAX];
        uint32_t count;
        struct shape shape = {0};
        if (type->ty_each_dims(request, i, numbers, &count) != ACL_SUCCESS)
            return refuse(request, "the message before this one says why");
        for (uint32_t k = 0; k < count; k++)
            add_dim(&shape, numbers[k]);
        if (sim_op_output(request, i)->ot_open)
            set_shape(sim_op_output(request, i), &shape);
    }
    return ACL_SUCCESS;
}

aclError sim_op_shape(struct sim_op_request *request)
{
    /* Types with the name of a schema broadcast their inputs; the plan refuses what does not fit. */
    static const struct sim_op_type pointwise = {.ty_shape = SIM_SHAPE_BROADCAST};
    struct shape shape = {0};
    bool known, any = false;
    for (uint32_t i = 0; i < request->rq_output_count; i++)
        any = any || sim_op_output(request, i)->ot_open;
    if (!any)
        return ACL_SUCCESS;
    for (uint32_t i = 0; i < request->rq_input_count; i++)
        if (request->rq_tensors[i].ot_open)
            return refuse(request, "an input has a dimension that is not known");
    const struct sim_op_type *type = sim_op_type_find(request, &known);
    if (sim_op_user_row(request->rq_type) != NULL || (type == NULL && !sim_op_is_pointwise(request->rq_type)))
        return refuse(request, "the simulator has no rule to derive it from the inputs");
    if (type != NULL && type->ty_shape == SIM_SHAPE_SPLIT)
        return set_parts(request);
    if (type != NULL && type->ty_each_dims != NULL)
        return set_each(request, type);
    SIM_TRY(make_shape(request, type != NULL ? type : &pointwise, &shape));
    struct shape others = shape;
    if (type != NULL && type->ty_more_dims != NULL) {
        others = (struct shape){0};
        SIM_TRY(derive(request, type->ty_more_dims, &others));
    }
    if (shape.sh_bad || others.sh_bad)
        return refuse(request, "it has more than 8 dimensions, or a negative one");
    for (uint32_t i = 0; i < request->rq_output_count; i++)
        if (sim_op_output(request, i)->ot_open)
            set_shape(sim_op_output(request, i), i == 0 ? &shape : &others);
    return ACL_SUCCESS;
}

/* A view has the elements of the input, so an output of another shape is refused. */
aclError sim_op_check_view(const struct sim_op_request *request, const struct sim_op_type *type)
{
    const struct sim_op_tensor *output = sim_op_output(request, 0);
    int64_t numbers[SIM_DIMS_MAX];
    uint32_t count;
    SIM_TRY(type->ty_dims(request, numbers, &count));
    bool same = output->ot_rank == count &&
                (type->ty_shape == SIM_SHAPE_EXACT || output->ot_bytes == request->rq_tensors[0].ot_bytes);
    for (uint32_t i = 0; same && i < count; i++)
        same = numbers[i] == output->ot_dims[i];
    SIM_ARGUMENT(same && output->ot_type == request->rq_tensors[0].ot_type, ACL_ERROR_OP_OUTPUT_NOT_MATCH,
                 "outputs[0] of %s has %u dimensions and %llu bytes, expected the %u dimensions that follow from the "
                 "%llu bytes of inputs[0], and its type", request->rq_type, output->ot_rank,
                 (unsigned long long)output->ot_bytes, count, (unsigned long long)request->rq_tensors[0].ot_bytes);
    return ACL_SUCCESS;
}
