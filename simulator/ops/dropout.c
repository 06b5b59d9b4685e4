/* Dropout with masks of bits: element i is kept if bit i % 8 of byte i / 8 is set. DropoutGenMask (shape, prob, seed,
 * offset, out), DropoutGenMaskV2 (with probDataType before out) and DropoutGenMaskV2Tensor (with tensors as seed and
 * offset) draw a mask, DropoutDoMask (self, mask, prob, out) and DropoutBackward (gradOutput, mask, scale, out) apply
 * one, and Dropout (input, p, train, seed, offset, out, maskOut) does both. The size of a mask is rounded up to 128
 * bits; the bits behind the last element are 0. Only the mask of MaskedScale (self, mask, scale, out) has a number per
 * element. */
#include "random.h"

#include "base/bytes.h"
#include <stdlib.h>

#define MASK_BITS 128

static int64_t mask_bytes(int64_t elements)
{
    return (elements / MASK_BITS + (elements % MASK_BITS != 0)) * (MASK_BITS / 8);
}

/* ---- drawing masks ---- */

/* A mask that is drawn has one dimension of exactly the size. */
static aclnnStatus require_new_mask(const aclsimArgument *mask, int64_t elements)
{
    const int64_t bytes = mask_bytes(elements);
    SIM_TRY(sim_require_type(mask, SIM_TYPE(ACL_UINT8)));
    return sim_require_shape(mask, &bytes, 1, "16 bytes for each 128 elements");
}

static void draw_mask(const aclsimTensor *mask, int64_t elements, double prob, struct sim_random random)
{
    uint8_t *bytes = mask->data;
    for (int64_t i = 0; i < mask->dims[0]; i++) {
        unsigned kept = 0;
        for (int64_t bit = 0; bit < 8 && 8 * i + bit < elements; bit++) {
            uint32_t words[4];
            sim_random_draw(&random, (uint64_t)(8 * i + bit), words);
            kept |= (unsigned)(sim_philox_fraction(words) >= prob) << bit;
        }
        bytes[i * mask->strides[0]] = (uint8_t)kept;
    }
}

/* The number of elements of a shape. */
static aclnnStatus count_elements(const aclsimArgument *shape, int64_t *elements)
{
    *elements = 1;
    for (uint64_t i = 0; i < shape->count; i++) {
        SIM_ARGUMENT(shape->integers[i] >= 0, ACLNN_ERR_PARAM_INVALID, "%s[%llu] is %lld, expected 0 or more",
                     shape->name, (unsigned long long)i, (long long)shape->integers[i]);
        SIM_ARGUMENT(sim_length_multiply(elements, shape->integers[i]), ACLNN_ERR_PARAM_INVALID,
                     "%s has more than 2**63 - 1 elements, expected fewer", shape->name);
    }
    return ACL_SUCCESS;
}

/* Only the second version has more than five arguments. Its type has no influence on the mask. */
static aclnnStatus plan_gen_mask(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    int64_t elements = 0;
    (void)workspace_size;
    SIM_TRY(sim_random_require_probability(&given[1]));
    SIM_TRY(sim_random_require(&given[2]));
    if (call->argumentCount > 5) {
        const aclsimArgument *type = &given[call->argumentCount - 2];
        SIM_TRY(sim_require_type_named(type->name, (aclDataType)type->integer, SIM_TYPES_SINGLE));
    }
    SIM_TRY(count_elements(&given[0], &elements));
    return require_new_mask(&given[call->argumentCount - 1], elements);
}

static aclError run_gen_mask(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    int64_t elements = 0;
    SIM_TRY(count_elements(&given[0], &elements));
    draw_mask(given[call->argumentCount - 1].tensors, elements, given[1].number, sim_random_of(&given[2]));
    return ACL_SUCCESS;
}

/* ---- applying masks ---- */

struct masking {
    const uint8_t *ma_bits; /* NULL: all elements are kept */
    int64_t ma_next;        /* index of the next element */
    double ma_factor;       /* 0: no element is kept */
    aclDataType ma_to, ma_from;
};

static bool is_kept(const struct masking *masking, int64_t index)
{
    return masking->ma_factor != 0 && (masking->ma_bits == NULL || (masking->ma_bits[index / 8] >> index % 8 & 1) != 0);
}

/* places: the addresses of a line of the result and of the input. An element that is not kept becomes 0 even if it is
 * NaN. */
static aclError mask_line(char *const *places, const int64_t *strides, int64_t length, void *context)
{
    struct masking *masking = context;
    union sim_block_values block;
    for (int64_t done = 0; done < length; done += SIM_BLOCK) {
        const size_t count = sim_element_block(done, length);
        sim_element_load(&block, SIM_CLASS_DOUBLE, places[1] + done * strides[1], masking->ma_from,
                         strides[1] / (int64_t)sim_element_size(masking->ma_from), count);
        for (size_t i = 0; i < count; i++) {
            const bool kept = is_kept(masking, masking->ma_next++);
            block.bv_doubles[i] = kept ? block.bv_doubles[i] * masking->ma_factor : 0;
        }
        sim_element_store(&block, SIM_CLASS_DOUBLE, places[0] + done * strides[0], masking->ma_to,
                          strides[0] / (int64_t)sim_element_size(masking->ma_to), count);
    }
    return ACL_SUCCESS;
}

/* mask NULL: all elements are kept. */
static aclError apply(const aclsimTensor *from, const aclsimTensor *mask, double factor, const aclsimTensor *to)
{
    const aclsimTensor *tensors[] = {to, from};
    struct masking masking = {.ma_factor = factor, .ma_to = to->type, .ma_from = from->type};
    uint8_t *bits = NULL;
    if (mask != NULL) { /* copied to consecutive bytes */
        const size_t bytes = (size_t)sim_walk_count(mask);
        bits = malloc(bytes + 1);
        SIM_CHECK(bits != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot allocate host memory for a mask of %zu bytes",
                  bytes);
        const aclsimTensor line = {.data = bits, .rank = 1, .strides = {1}, .type = ACL_UINT8};
        const aclsimTensor copy = sim_walk_fold(&line, mask);
        sim_walk_copy(&copy, mask);
        masking.ma_bits = bits;
    }
    aclError code = sim_walk_in_order(tensors, 2, mask_line, &masking);
    free(bits);
    return code;
}

static aclnnStatus plan_apply(const aclsimArgument *from, const aclsimArgument *to)
{
    SIM_TRY(sim_require_type(from, SIM_TYPES_SINGLE));
    SIM_TRY(sim_require_type(to, SIM_TYPES_SINGLE));
    return sim_require_shape(to, from->tensors->dims, from->tensors->rank, "that of the input");
}

/* An existing mask may have any shape, and more bytes than are needed. */
static aclnnStatus plan_with_mask(const aclsimArgument *from, const aclsimArgument *mask, const aclsimArgument *to)
{
    SIM_TRY(plan_apply(from, to));
    SIM_TRY(sim_require_type(mask, SIM_TYPE(ACL_UINT8)));
    const int64_t bytes = mask_bytes(sim_walk_count(from->tensors)), found = sim_walk_count(mask->tensors);
    SIM_ARGUMENT(found >= bytes, ACLNN_ERR_PARAM_INVALID,
                 "%s has %lld elements, expected %lld or more, 16 for each 128 elements of %s", mask->name,
                 (long long)found, (long long)bytes, from->name);
    return ACL_SUCCESS;
}

static aclnnStatus plan_do_mask(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    (void)workspace_size;
    SIM_TRY(plan_with_mask(&given[0], &given[1], &given[3]));
    return sim_random_require_probability(&given[2]);
}

/* What remains is scaled so that the mean stays the same. */
static double factor_of(double prob)
{
    return prob == 1 ? 0 : 1 / (1 - prob);
}

/* With a probability of 0 the mask is not read. */
static aclError run_do_mask(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const double prob = given[2].number;
    return apply(given[0].tensors, prob == 0 ? NULL : given[1].tensors, factor_of(prob), given[3].tensors);
}

static aclnnStatus plan_backward(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments, *scale = &given[2];
    (void)workspace_size;
    SIM_TRY(plan_with_mask(&given[0], &given[1], &given[3]));
    SIM_ARGUMENT(scale->number == 0 || scale->number >= 1, ACLNN_ERR_PARAM_INVALID,
                 "%s is %g, expected 0, or 1 or more", scale->name, scale->number);
    return ACL_SUCCESS;
}

static aclError run_backward(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    return apply(given[0].tensors, given[1].tensors, given[2].number, given[3].tensors);
}

/* ---- masks of numbers ---- */

#define MASKS (SIM_TYPE(ACL_UINT8) | SIM_TYPE(ACL_INT8) | SIM_TYPE(ACL_FLOAT16) | SIM_TYPE(ACL_FLOAT))

static aclnnStatus check_masked(const struct sim_curve_call *call)
{
    SIM_TRY(sim_require_types(call->cc_in[0], call->cc_out, SIM_TYPES_SINGLE));
    return sim_require_type(call->cc_in[1], MASKS);
}

SIM_CURVE(masked, a * b * n[0])
static const struct sim_curve masked = {.cu_in = SIM_TYPES_SINGLE | MASKS, .cu_out = SIM_TYPES_SINGLE,
                                        .cu_check = check_masked, .cu_run = masked_doubles};
SIM_CURVE_KERNEL(MaskedScale, &masked);

/* ---- both ---- */

static aclnnStatus plan_dropout(const aclsimCall *call, uint64_t *workspace_size)
{
    const aclsimArgument *given = call->arguments;
    (void)workspace_size;
    SIM_TRY(plan_apply(&given[0], &given[5]));
    SIM_TRY(sim_random_require_probability(&given[1]));
    return require_new_mask(&given[6], sim_walk_count(given[0].tensors));
}

/* If all elements are kept, or none, the mask is not written. */
static aclError run_dropout(const aclsimCall *call)
{
    const aclsimArgument *given = call->arguments;
    const aclsimTensor *input = given[0].tensors, *out = given[5].tensors, *mask = given[6].tensors;
    const double prob = given[1].number;
    if (given[2].integer == 0 || prob == 0)
        return apply(input, NULL, 1, out);
    if (prob == 1)
        return apply(input, NULL, 0, out);
    draw_mask(mask, sim_walk_count(input), prob, sim_random_of(&given[3]));
    return apply(input, mask, factor_of(prob), out);
}

const struct sim_kernel sim_kernel_aclnnDropoutGenMask = {plan_gen_mask, run_gen_mask, NULL, false},
                        sim_kernel_aclnnDropoutGenMaskV2 = {plan_gen_mask, run_gen_mask, NULL, false},
                        sim_kernel_aclnnDropoutGenMaskV2Tensor = {plan_gen_mask, run_gen_mask, NULL, false},
                        sim_kernel_aclnnDropoutDoMask = {plan_do_mask, run_do_mask, NULL, true},
                        sim_kernel_aclnnDropoutBackward = {plan_backward, run_backward, NULL, true},
                        sim_kernel_aclnnDropout = {plan_dropout, run_dropout, NULL, true};
