/* Cumulative sums along one dimension: Cumsum (self, dim, dtype, out) and CumsumV2 (self, dim, exclusive, reverse,
 * out). Sums are kept in double or in integers of 64 bits. */
#include "base/fail.h"
#include "operator/row.h"
#include "reduce.h"
#include "require.h"

struct scan {
    bool sc_exclusive; /* an element is not part of its own sum */
    bool sc_reverse;
    enum sim_class sc_class;
    aclDataType sc_self, sc_out;
    int64_t sc_length;
    int64_t sc_from, sc_to; /* strides, in elements */
};

#define SUMMED (SIM_TYPES_ARITHMETIC & ~SIM_TYPES_BOOL)

/* True for CumsumV2. */
static bool has_flags(const aclsimCall *call)
{
    return call->userData != NULL;
}

static aclnnStatus plan_scan(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *self = &call->arguments[0], *out = &call->arguments[has_flags(call) ? 4 : 3];
    uint32_t dim;
    (void)workspace_size;
    SIM_TRY(sim_require_type(self, has_flags(call) ? SUMMED : SIM_TYPES_ARITHMETIC));
    SIM_TRY(sim_require_type(out, SUMMED));
    if (has_flags(call))
        SIM_TRY(sim_require_same_type(out, self->tensors->type, self->name));
    else
        SIM_TRY(sim_require_same_type(out, (aclDataType)call->arguments[2].integer, "dtype"));
    SIM_TRY(sim_require_cast(self->name, self->tensors->type, "the type of the output", out->tensors->type));
    SIM_TRY(sim_require_dim(&call->arguments[1], self->tensors->rank, &dim));
    return sim_require_shape(out, self->tensors->dims, self->tensors->rank, "that of self");
}

#define SCAN(name, type, field)                                                                                        \
    static void name(const struct scan *scan, union sim_block_values *block, size_t count, type *sum)                 \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++) {                                                                           \
            type before = *sum;                                                                                        \
            *sum += block->field[i];                                                                                   \
            block->field[i] = scan->sc_exclusive ? before : *sum;                                                      \
        }                                                                                                              \
    }

SCAN(scan_bits, uint64_t, bv_bits)
SCAN(scan_doubles, double, bv_doubles)
SCAN(scan_pairs, double _Complex, bv_double_pairs)

/* places: the addresses of a line of the result and of a line of self. */
static aclError scan_lines(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    const struct scan *scan = context;
    const int64_t from_size = (int64_t)sim_element_size(scan->sc_self);
    const int64_t to_size = (int64_t)sim_element_size(scan->sc_out);
    int64_t last = scan->sc_reverse ? scan->sc_length - 1 : 0, way = scan->sc_reverse ? -1 : 1;
    for (int64_t i = 0; i < length; i++) {
        char *to = places[0] + i * strides[0] + last * scan->sc_to * to_size;
        const char *from = places[1] + i * strides[1] + last * scan->sc_from * from_size;
        union sim_block_values block;
        uint64_t bits = 0;
        double sum = 0;
        double _Complex pair = 0;
        for (int64_t done = 0; done < scan->sc_length; done += SIM_BLOCK) {
            size_t count = sim_element_block(done, scan->sc_length);
            sim_element_load(&block, scan->sc_class, from + way * done * scan->sc_from * from_size, scan->sc_self,
                             way * scan->sc_from, count);
            if (scan->sc_class == SIM_CLASS_INTEGER) {
                scan_bits(scan, &block, count, &bits);
                sim_element_wrap(&block, scan->sc_out, count);
            } else if (scan->sc_class == SIM_CLASS_DOUBLE)
                scan_doubles(scan, &block, count, &sum);
            else
                scan_pairs(scan, &block, count, &pair);
            sim_element_store(&block, scan->sc_class, to + way * done * scan->sc_to * to_size, scan->sc_out,
                              way * scan->sc_to, count);
        }
    }
    return ACL_SUCCESS;
}

static aclError run_scan(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *self = given[0].tensors, *out = given[has_flags(call) ? 4 : 3].tensors;
    const aclsimTensor *tensors[] = {out, self};
    char *places[] = {out->data, self->data};
    struct sim_walk walk = {.wk_places = 2};
    struct scan scan = {.sc_class = sim_reduce_class(out->type), .sc_self = self->type, .sc_out = out->type,
                        .sc_length = 1};
    uint32_t dim;
    SIM_TRY(sim_require_dim(&given[1], self->rank, &dim));
    if (has_flags(call)) {
        scan.sc_exclusive = given[2].integer != 0;
        scan.sc_reverse = given[3].integer != 0;
    }
    if (self->rank != 0 && self->dims[dim] != 1) {
        scan.sc_length = self->dims[dim];
        scan.sc_from = self->strides[dim];
        scan.sc_to = out->strides[dim];
    }
    const struct sim_reduced reduced = {1u << dim, true};
    sim_reduce_walk(&walk, tensors, &reduced);
    return sim_walk_run(&walk, places, scan_lines, &scan);
}

static const bool flags = true;
const struct sim_kernel sim_kernel_aclnnCumsum = {plan_scan, run_scan, NULL, false},
                        sim_kernel_aclnnCumsumV2 = {plan_scan, run_scan, (void *)&flags, false};
