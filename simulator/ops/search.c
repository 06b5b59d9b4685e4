/* SearchSorted (sortedSequence, self, outInt32, right, sorter, out) and SearchSorteds, whose self is a scalar: the
 * index in a sorted line before which a value belongs. Integers are compared exactly, other values as doubles. A NaN
 * belongs behind the last element. The sorter holds the order of the elements if the sequence is not sorted. */
#include "base/fail.h"
#include "indices.h"
#include "operator/row.h"
#include "require.h"

enum { SEQUENCE, SELF, NARROW, RIGHT, SORTER, OUT };

#define SEARCHED (SIM_TYPES_INTEGER | (SIM_TYPES_FLOAT & ~SIM_TYPE(ACL_BF16)))

static aclnnStatus plan_search(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *sequence = &call->arguments[SEQUENCE], *self = &call->arguments[SELF];
    const aclsimArgument *sorter = &call->arguments[SORTER], *out = &call->arguments[OUT];
    const aclsimTensor *line = sequence->tensors;
    (void)workspace_size;
    SIM_TRY(sim_require_type(sequence, SEARCHED));
    SIM_TRY(sim_require_type(self, SEARCHED));
    SIM_TRY(sim_require_type(out, SIM_TYPE(call->arguments[NARROW].integer != 0 ? ACL_INT32 : ACL_INT64)));
    SIM_TRY(sim_require_rank(sequence, 1, self->kind == ACLSIM_SCALAR ? 1 : SIM_RANK));
    if (sorter->present) {
        SIM_TRY(sim_require_type(sorter, SIM_TYPE(ACL_INT64)));
        SIM_TRY(sim_require_shape(sorter, line->dims, line->rank, "that of the sorted sequence"));
    }
    if (self->kind == ACLSIM_SCALAR)
        return sim_require_one(out);
    if (line->rank != 1)
        SIM_TRY(sim_require_rank(self, line->rank, line->rank));
    for (uint32_t k = 0; k + 1 < line->rank; k++)
        SIM_ARGUMENT(line->dims[k] == self->tensors->dims[k], ACLNN_ERR_PARAM_INVALID,
                     "dimension %u of %s is %lld, expected %lld, the size in %s", k, self->name,
                     (long long)self->tensors->dims[k], (long long)line->dims[k], sequence->name);
    return sim_require_shape(out, self->tensors->dims, self->tensors->rank, "that of self");
}

struct search {
    enum sim_class se_class; /* integers or doubles */
    bool se_right, se_sorts;
    struct sim_indices se_sorter;
    aclDataType se_types[3];        /* of the result, of self and of the sequence */
    int64_t se_length, se_steps[2]; /* along a line of the sequence and of the sorter, in bytes */
};

/* Whether an element is before the place of the value. A NaN is after all elements. */
static bool is_before(const struct search *search, const union sim_block_values *element,
                      const union sim_block_values *value)
{
    if (search->se_class == SIM_CLASS_INTEGER)
        return search->se_right ? element->bv_integers[0] <= value->bv_integers[0]
                                : element->bv_integers[0] < value->bv_integers[0];
    return search->se_right ? !(element->bv_doubles[0] > value->bv_doubles[0])
                            : !(element->bv_doubles[0] >= value->bv_doubles[0]);
}

/* places: the addresses of the result, of self, and of lines of the sequence and of the sorter. */
static aclError search_lines(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct search *search = context;
    union sim_block_values value, element;
    for (int64_t i = 0; i < length; i++) {
        int64_t first = 0, end = search->se_length;
        sim_element_load(&value, search->se_class, places[1] + i * strides[1], search->se_types[1], 0, 1);
        while (first < end) {
            const int64_t middle = first + (end - first) / 2;
            const char *sorter = places[3] + i * strides[3] + middle * search->se_steps[1];
            int64_t index = middle;
            if (search->se_sorts && !sim_indices_find(&search->se_sorter, sorter, &index))
                return ACL_ERROR_RT_AICORE_EXCEPTION;
            sim_element_load(&element, search->se_class,
                             places[2] + i * strides[2] + index * search->se_steps[0], search->se_types[2], 0, 1);
            if (is_before(search, &element, &value))
                first = middle + 1;
            else
                end = middle;
        }
        value.bv_integers[0] = first;
        sim_element_store(&value, SIM_CLASS_INTEGER, places[0] + i * strides[0], search->se_types[0], 0, 1);
    }
    return ACL_SUCCESS;
}

/* The tensor that is walked over along with self: its last dimension is a line, which stays in place. */
static aclsimTensor line_of(const aclsimTensor *tensor)
{
    aclsimTensor line = *tensor;
    line.strides[line.rank - 1] = 0;
    return line;
}

static aclError run_search(const aclsimCall *call)
{
    const aclsimArgument *sequence = &call->arguments[SEQUENCE], *self = &call->arguments[SELF];
    const aclsimTensor *line = sequence->tensors, *out = call->arguments[OUT].tensors;
    const aclsimTensor *sorter = call->arguments[SORTER].present ? call->arguments[SORTER].tensors : line;
    const uint32_t last = line->rank - 1;
    const aclsimTensor lines = line_of(line), sorters = line_of(sorter);
    aclsimTensor value = {.rank = 0};
    if (self->kind == ACLSIM_SCALAR) {
        value.data = (void *)self->scalars->value;
        value.type = self->scalars->type;
    } else
        value = *self->tensors;
    const uint64_t types = SIM_TYPE(line->type) | SIM_TYPE(value.type);
    struct search search = {
        .se_class = (types & SIM_TYPES_FLOAT) == 0 ? SIM_CLASS_INTEGER : SIM_CLASS_DOUBLE,
        .se_right = call->arguments[RIGHT].integer != 0,
        .se_sorts = call->arguments[SORTER].present,
        .se_types = {out->type, value.type, line->type},
        .se_length = line->dims[last],
    };
    if (search.se_length > 1) {
        search.se_steps[0] = line->strides[last] * (int64_t)sim_element_size(line->type);
        search.se_steps[1] = sorter->strides[last] * (int64_t)sim_element_size(sorter->type);
    }
    search.se_sorter = sim_indices_of(call->arguments[SORTER].name, sorter, sequence, line, last, false);
    const aclsimTensor *tensors[] = {out, &value, &lines, &sorters};
    return sim_indices_end(&search.se_sorter, sim_walk_tensors(tensors, 4, search_lines, &search));
}

const struct sim_kernel sim_kernel_aclnnSearchSorted = {plan_search, run_search, NULL, false},
                        sim_kernel_aclnnSearchSorteds = {plan_search, run_search, NULL, false};
