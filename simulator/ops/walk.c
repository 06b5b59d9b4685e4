/* Walks over tensors. The stride of a dimension of size 1 is unused and may have any value, so sim_walk_add leaves such
 * dimensions out. In an empty walk this is true of all strides: only sim_walk_add multiplies them, and there a product
 * may wrap. All other sums and products of strides fit, because the first phase has checked the extents of the
 * tensors. */
#include "walk.h"

#include "base/bytes.h"
#include "base/fail.h"
#include "engine/split.h"
#include <stdlib.h>
#include <string.h>

void sim_walk_add(struct sim_walk *walk, int64_t dim, const int64_t *strides, const size_t *sizes)
{
    walk->wk_empty = walk->wk_empty || dim == 0;
    if (walk->wk_empty || dim == 1)
        return;
    for (uint32_t i = 0; i < walk->wk_places; i++)
        walk->wk_strides[walk->wk_rank][i] = (int64_t)((uint64_t)strides[i] * sizes[i]);
    for (uint32_t i = walk->wk_places; i < SIM_WALK_PLACES; i++)
        walk->wk_strides[walk->wk_rank][i] = 0;
    walk->wk_dims[walk->wk_rank++] = dim;
}

/* ---- ordering and joining dimensions ---- */

static int64_t width(const struct sim_walk *walk, uint32_t dim)
{
    int64_t stride = walk->wk_strides[dim][0];
    return stride < 0 ? -stride : stride;
}

static void set_dim(struct sim_walk *walk, uint32_t place, int64_t dim, const int64_t *strides)
{
    walk->wk_dims[place] = dim;
    memmove(walk->wk_strides[place], strides, sizeof walk->wk_strides[place]);
}

static void sort(struct sim_walk *walk)
{
    for (uint32_t i = 1; i < walk->wk_rank; i++) {
        int64_t dim = walk->wk_dims[i], strides[SIM_WALK_PLACES], wide = width(walk, i);
        memcpy(strides, walk->wk_strides[i], sizeof strides);
        uint32_t k = i;
        for (; k > 0 && width(walk, k - 1) < wide; k--)
            set_dim(walk, k, walk->wk_dims[k - 1], walk->wk_strides[k - 1]);
        set_dim(walk, k, dim, strides);
    }
}

/* Whether a step along `outer` continues where `inner` ends, in every tensor. */
static bool continues(const struct sim_walk *walk, uint32_t outer, uint32_t inner)
{
    for (uint32_t i = 0; i < walk->wk_places; i++) {
        int64_t span = walk->wk_strides[inner][i];
        if (!sim_length_multiply(&span, walk->wk_dims[inner]) || walk->wk_strides[outer][i] != span)
            return false;
    }
    return true;
}

void sim_walk_join(struct sim_walk *walk)
{
    uint32_t last = 0;
    if (walk->wk_empty || walk->wk_rank == 0)
        return;
    for (uint32_t k = 1; k < walk->wk_rank; k++) {
        int64_t joined = walk->wk_dims[last];
        if (!continues(walk, last, k) || !sim_length_multiply(&joined, walk->wk_dims[k])) {
            joined = walk->wk_dims[k];
            last++;
        }
        set_dim(walk, last, joined, walk->wk_strides[k]);
    }
    walk->wk_rank = last + 1;
}

void sim_walk_settle(struct sim_walk *walk)
{
    if (!walk->wk_empty)
        sort(walk);
    sim_walk_join(walk);
}

/* ---- walking ---- */

static const int64_t still[SIM_WALK_PLACES]; /* the strides of a walk without dimensions */

static const int64_t *line_strides(const struct sim_walk *walk)
{
    return walk->wk_rank == 0 ? still : walk->wk_strides[walk->wk_rank - 1];
}

/* Goes on to the start of the next line; after the last one, to the first one, and returns false. */
static bool next_line(const struct sim_walk *walk, int64_t *at, char **now)
{
    for (uint32_t k = walk->wk_rank; k > 1; k--) {
        bool ends = ++at[k - 2] == walk->wk_dims[k - 2];
        int64_t steps = ends ? 1 - walk->wk_dims[k - 2] : 1;
        for (uint32_t i = 0; i < walk->wk_places; i++)
            now[i] += steps * walk->wk_strides[k - 2][i];
        if (!ends)
            return true;
        at[k - 2] = 0;
    }
    return false;
}

aclError sim_walk_run(const struct sim_walk *walk, char *const *places, sim_walk_func line, void *context)
{
    int64_t at[SIM_WALK_DIMS] = {0}, length = sim_walk_length(walk);
    char *now[SIM_WALK_PLACES] = {NULL};
    if (walk->wk_empty)
        return ACL_SUCCESS;
    memcpy(now, places, walk->wk_places * sizeof *now);
    do {
        SIM_TRY(line(now, line_strides(walk), length, context));
    } while (next_line(walk, at, now));
    return ACL_SUCCESS;
}

/* The stride of a tensor along dimension `place` of `rank` ones, aligned at the right; 0 if it is broadcast. */
static int64_t stride_at(const aclsimTensor *tensor, uint32_t rank, uint32_t place)
{
    uint32_t missing = rank - tensor->rank;
    return place < missing || tensor->dims[place - missing] == 1 ? 0 : tensor->strides[place - missing];
}

/* Makes a walk over all elements of the first tensor, in the order of the indices, and finds where it begins. Only the
 * dimensions that it has are written: most walks have one, and the rest is half a kilobyte. */
static void walk_over(struct sim_walk *walk, const aclsimTensor *const *tensors, uint32_t count, char **places)
{
    int64_t strides[SIM_WALK_PLACES] = {0};
    size_t sizes[SIM_WALK_PLACES] = {0};
    uint32_t rank = tensors[0]->rank;
    walk->wk_places = count;
    walk->wk_rank = 0;
    walk->wk_empty = false;
    for (uint32_t i = 0; i < count; i++) {
        sizes[i] = sim_element_size(tensors[i]->type);
        places[i] = tensors[i]->data;
    }
    for (uint32_t k = 0; k < rank; k++) {
        for (uint32_t i = 0; i < count; i++)
            strides[i] = stride_at(tensors[i], rank, k);
        sim_walk_add(walk, tensors[0]->dims[k], strides, sizes);
    }
}

aclError sim_walk_tensors(const aclsimTensor *const *tensors, uint32_t count, sim_walk_func line, void *context)
{
    char *places[SIM_WALK_PLACES] = {NULL};
    struct sim_walk walk;
    walk_over(&walk, tensors, count, places);
    sim_walk_settle(&walk);
    return sim_walk_run(&walk, places, line, context);
}

aclError sim_walk_in_order(const aclsimTensor *const *tensors, uint32_t count, sim_walk_func line, void *context)
{
    char *places[SIM_WALK_PLACES] = {NULL};
    struct sim_walk walk;
    walk_over(&walk, tensors, count, places);
    sim_walk_join(&walk);
    return sim_walk_run(&walk, places, line, context);
}

/* ---- on several threads ---- */

#define GRAIN 32768 /* elements of a piece: some microseconds for the cheapest operators */

/* Whether a step along each dimension leads past all elements that the shorter steps lead to. */
static bool is_apart(const aclsimTensor *tensor)
{
    for (uint32_t k = 0; k < tensor->rank; k++) {
        uint64_t step = (uint64_t)llabs(tensor->strides[k]), reach = 0;
        for (uint32_t i = 0; i < tensor->rank && tensor->dims[k] > 1; i++) {
            uint64_t other = (uint64_t)llabs(tensor->strides[i]);
            if (i != k && tensor->dims[i] > 1 && other <= step)
                reach += other == step ? step : other * (uint64_t)(tensor->dims[i] - 1);
        }
        if (tensor->dims[k] > 1 && step <= reach)
            return false;
    }
    return true;
}

size_t sim_walk_grain(const aclsimTensor *result, size_t elements)
{
    const size_t grain = elements < GRAIN ? GRAIN / (elements == 0 ? 1 : elements) : 1;
    return (uint64_t)sim_walk_count(result) > grain && !is_apart(result) ? SIZE_MAX : grain;
}

struct split {
    const struct sim_walk *sp_walk;
    char *const *sp_places;
    sim_walk_piece_func *sp_piece;
    const void *sp_context;
};

/* Runs from position `first` to `end` of the walk. */
static void run_piece(void *argument, size_t first, size_t end, uint32_t seat)
{
    const struct split *split = argument;
    const struct sim_walk *walk = split->sp_walk;
    const int64_t *strides = line_strides(walk), length = sim_walk_length(walk);
    int64_t at[SIM_WALK_DIMS] = {0}, left = (int64_t)(end - first), skipped = (int64_t)first % length;
    int64_t line = (int64_t)first / length;
    char *now[SIM_WALK_PLACES] = {NULL}, *start[SIM_WALK_PLACES] = {NULL};
    memcpy(now, split->sp_places, walk->wk_places * sizeof *now);
    for (uint32_t k = walk->wk_rank; k > 1; k--) {
        at[k - 2] = line % walk->wk_dims[k - 2];
        line /= walk->wk_dims[k - 2];
        for (uint32_t i = 0; i < walk->wk_places; i++)
            now[i] += at[k - 2] * walk->wk_strides[k - 2][i];
    }
    do {
        const int64_t count = length - skipped < left ? length - skipped : left;
        for (uint32_t i = 0; i < walk->wk_places; i++)
            start[i] = now[i] + skipped * strides[i];
        split->sp_piece(start, strides, count, split->sp_context, seat);
        left -= count;
        skipped = 0;
    } while (left != 0 && next_line(walk, at, now));
}

void sim_walk_split(const struct sim_walk *walk, char *const *places, size_t grain, sim_walk_piece_func *piece,
                    const void *context)
{
    struct split split = {walk, places, piece, context};
    int64_t count = !walk->wk_empty;
    if (walk->wk_rank <= 1 && count != 0 && (uint64_t)sim_walk_length(walk) <= grain) { /* one piece of one line */
        piece(places, line_strides(walk), sim_walk_length(walk), context, 0);
        return;
    }
    for (uint32_t k = 0; k < walk->wk_rank && !walk->wk_empty; k++)
        if (!sim_length_multiply(&count, walk->wk_dims[k]))
            count = INT64_MAX; /* broadcast dimensions, whose end no walk reaches */
    sim_split_run((size_t)count, grain, run_piece, &split);
}

void sim_walk_split_tensors(const aclsimTensor *const *tensors, uint32_t count, size_t grain,
                            sim_walk_piece_func *piece, const void *context)
{
    char *places[SIM_WALK_PLACES] = {NULL};
    struct sim_walk walk;
    walk_over(&walk, tensors, count, places);
    sim_walk_settle(&walk);
    sim_walk_split(&walk, places, grain, piece, context);
}

bool sim_walk_is_empty(const int64_t *dims, uint32_t rank)
{
    for (uint32_t k = 0; k < rank; k++)
        if (dims[k] == 0)
            return true;
    return false;
}

int64_t sim_walk_count(const aclsimTensor *tensor)
{
    int64_t count = sim_walk_is_empty(tensor->dims, tensor->rank) ? 0 : 1;
    for (uint32_t k = 0; k < tensor->rank; k++)
        if (!sim_length_multiply(&count, tensor->dims[k]))
            return -1;
    return count;
}

/* Sets the strides of elements in the order of the indices, `step` apart. */
static void set_strides(aclsimTensor *view, int64_t step)
{
    uint64_t next = (uint64_t)step;
    for (uint32_t k = view->rank; k-- != 0;) {
        view->strides[k] = (int64_t)next;
        next *= (uint64_t)view->dims[k]; /* wraps only where unused */
    }
}

aclsimTensor sim_walk_fold(const aclsimTensor *line, const aclsimTensor *shape)
{
    aclsimTensor view = {.data = line->data, .rank = shape->rank, .type = line->type};
    memcpy(view.dims, shape->dims, sizeof view.dims);
    set_strides(&view, line->strides[0]);
    return view;
}

static bool is_contiguous(const aclsimTensor *tensor)
{
    aclsimTensor view = *tensor;
    set_strides(&view, 1);
    for (uint32_t k = 0; k < tensor->rank; k++)
        if (tensor->dims[k] != 1 && tensor->strides[k] != view.strides[k])
            return false;
    return true;
}

aclsimTensor sim_walk_plain(void *data, aclDataType type, const int64_t *dims, uint32_t rank)
{
    aclsimTensor tensor = {.data = data, .type = type, .rank = rank};
    memcpy(tensor.dims, dims, rank * sizeof *dims);
    set_strides(&tensor, 1);
    return tensor;
}

aclsimTensor sim_walk_part(const aclsimTensor *tensor, const int64_t *dims)
{
    aclsimTensor part = *tensor;
    memcpy(part.dims, dims, part.rank * sizeof *dims);
    if (is_contiguous(tensor))
        set_strides(&part, 1);
    return part;
}

/* ---- copying ---- */

#define COPY(bytes)                                                                                                    \
    case bytes:                                                                                                        \
        for (int64_t i = 0; i < length; i++)                                                                           \
            memcpy(to + i * to_step, from + i * from_step, bytes);                                                     \
        break;

aclError sim_walk_copy_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const size_t size = *(const size_t *)context;
    const int64_t to_step = strides[0], from_step = strides[1];
    char *to = places[0];
    const char *from = places[1];
    if (to_step == (int64_t)size && from_step == (int64_t)size) {
        memmove(to, from, (size_t)length * size); /* a tensor may be copied to itself */
        return ACL_SUCCESS;
    }
    switch (size) {
        COPY(1)
        COPY(2)
        COPY(4)
        COPY(8)
        COPY(16)
    default:
        break;
    }
    return ACL_SUCCESS;
}

void sim_walk_copy_piece(char *const *places, const int64_t *strides, int64_t length, const void *context,
                         uint32_t seat)
{
    size_t size = *(const size_t *)context;
    (void)seat;
    sim_walk_copy_line(places, strides, length, &size);
}

void sim_walk_copy(const aclsimTensor *to, const aclsimTensor *from)
{
    size_t size = sim_element_size(to->type);
    const aclsimTensor *tensors[] = {to, from};
    sim_walk_split_tensors(tensors, 2, sim_walk_grain(to, 1), sim_walk_copy_piece, &size);
}

void sim_walk_fill(const aclsimTensor *to, const void *element)
{
    static const _Alignas(16) char zero[16]; /* in every type */
    const aclsimTensor one = {.data = (void *)(element == NULL ? zero : element), .type = to->type};
    sim_walk_copy(to, &one);
}
