/* The clock model: how long a task takes (docs/clock.rst).
 *
 * A task takes the launch cost, and then the longest of three times: for its bytes in the memory of the device, for its
 * bytes over the host link, and for its operations. The bytes are those of its footprints. The operations are one per
 * element of its largest tensor, on the vector cores; of matrix products, convolutions and attention they are the
 * multiply-adds, on the cube cores. Their number follows from the shapes of the operands, so that no kernel has to say
 * it. Numbers of cycles are rounded up, then nanoseconds.
 *
 * There is no state and no lock. */
#include "clock_cost.h"
#include "address/memory.h"
#include "base/config.h"
#include "base/runtime.h"
#include "operator/row.h"

#include <math.h>
#include <string.h>

#define VECTOR_BYTES 128   /* bytes of the operands that a vector core computes with in one cycle */
#define CUBE_PRODUCTS 4096 /* multiply-adds of a cube core in one cycle, with elements of two bytes: 16 x 16 x 16 */

static uint64_t divide_up(uint64_t value, uint64_t by)
{
    return value / by + (value % by != 0);
}

/* ---- bytes ---- */

/* Whether the device reaches the address over the host link. Virtual and managed memory counts as its own. */
static bool is_elsewhere(const void *address, int32_t device)
{
    const struct sim_zone *zone = &sim_heap_zone_of_device;
    if (device == SIM_CLOCK_INSIDE)
        return false;
    if (sim_heap_zone_contains(zone, address))
        return (int32_t)(((uint64_t)(uintptr_t)address - zone->zn_base) >> zone->zn_shift) != device;
    struct sim_place place;
    sim_memory_locate(address, &place);
    return !sim_memory_is_device(&place) && !sim_memory_runs_on_device();
}

void sim_clock_cost_add(const struct sim_footprint *footprint, void *context)
{
    struct sim_clock_work *work = context;
    uint64_t elements = 1;
    if (footprint->fp_name != NULL && strcmp(footprint->fp_name, "workspace") == 0)
        return; /* its size is a matter of the simulator's kernels */
    for (uint32_t i = 0; i < footprint->fp_rank; i++)
        if (footprint->fp_strides[i] != 0) /* a broadcast element is read once */
            elements *= (uint64_t)footprint->fp_dims[i];
    uint64_t bytes = elements * footprint->fp_element * (footprint->fp_read + (uint64_t)footprint->fp_write);
    *(is_elsewhere(footprint->fp_address, work->wo_device) ? &work->wo_link : &work->wo_memory) += bytes;
    if (elements > work->wo_elements) {
        work->wo_elements = elements;
        work->wo_width = footprint->fp_element;
    }
}

/* ---- products ---- */

static uint64_t elements_of(const aclsimTensor *tensor, uint32_t dims)
{
    uint64_t elements = 1;
    for (uint32_t i = tensor->rank > dims ? tensor->rank - dims : 0; i < tensor->rank; i++)
        elements *= (uint64_t)tensor->dims[i];
    return elements;
}

static bool is_tensor(const aclsimArgument *argument, unsigned direction)
{
    return argument->kind <= ACLSIM_TENSOR_LIST && argument->present && argument->count != 0 &&
           (argument->direction & direction);
}

/* The next argument from `at` on that is a tensor or a list with this direction; NULL: there is none. */
static const aclsimArgument *next_tensor(const aclsimArgument *at, const aclsimArgument *end, unsigned direction)
{
    while (at < end && !is_tensor(at, direction))
        at++;
    return at < end ? at : NULL;
}

/* With the last two dimensions of the operands, [m, k] times [k, n] is [m, n]: k is known from the numbers of their
 * elements, also of transposed ones, vectors and groups. */
static uint64_t products_of_matrices(const aclsimArgument *left, const aclsimArgument *right, const aclsimArgument *out)
{
    uint64_t products = 0;
    for (uint64_t i = 0; i < out->count; i++) {
        const aclsimTensor *b = &right->tensors[i < right->count ? i : right->count - 1];
        uint64_t first = out->count == 1 ? 0 : i < left->count ? i : left->count - 1;
        uint64_t last = out->count == 1 ? left->count - 1 : first;
        uint64_t rows = 0, all_rows = 0, result = elements_of(&out->tensors[i], 2);
        for (uint64_t j = first; j <= last; j++) {
            rows += elements_of(&left->tensors[j], 2);
            all_rows += elements_of(&left->tensors[j], UINT32_MAX);
        }
        if (result == 0 || rows == 0)
            continue;
        uint64_t matrix = elements_of(b, 2);
        uint64_t inner = (uint64_t)(sqrt((double)rows * (double)matrix / (double)result) + 0.5);
        uint64_t by_out = elements_of(&out->tensors[i], UINT32_MAX) * inner;
        uint64_t by_left = inner != 0 ? all_rows * (matrix / inner) : 0; /* more if batches are added up */
        products += by_out > by_left ? by_out : by_left;
    }
    return products;
}

/* Each element of the result, or of the input of a transposed convolution, uses the weights of one channel. */
static uint64_t products_of_convolution(const char *name, const aclsimArgument *arguments, const aclsimArgument *end)
{
    bool backward = strstr(name, "Backward") != NULL, transposed = strstr(name, "Transpose") != NULL;
    for (const aclsimArgument *at = arguments; at < end; at++)
        transposed |= strcmp(at->name, "transposed") == 0 && at->integer != 0;
    const aclsimArgument *input = &arguments[backward], *weight = &arguments[backward + 1];
    const aclsimArgument *output = backward ? arguments : next_tensor(weight + 1, end, ACLSIM_OUT);
    if (!is_tensor(input, ACLSIM_IN) || !is_tensor(weight, ACLSIM_IN) || output == NULL)
        return 0;
    const aclsimTensor *weights = weight->tensors;
    int64_t channels = weights->dims[strstr(name, "Tbc") != NULL ? weights->rank - 1 : 0];
    uint64_t used = channels != 0 ? elements_of(weights, UINT32_MAX) / (uint64_t)channels : 0;
    uint64_t products = elements_of((transposed ? input : output)->tensors, UINT32_MAX) * used;
    return backward ? 2 * products : products; /* one for the gradient of the input, one for that of the weights */
}

/* The length of the sequences of keys, by the layout ("BSH", "BNSD", ...). Packed sequences ("TND") count as one. */
static uint64_t length_of(const aclsimTensor *key, const aclsimArgument *arguments, const aclsimArgument *end)
{
    size_t place = key->rank - 2;
    for (const aclsimArgument *at = arguments; at < end; at++)
        if (at->kind == ACLSIM_TEXT && at->present && strncmp(at->name, "inputLayout", 11) == 0)
            place = strcspn(at->text, "ST");
    return place < key->rank ? (uint64_t)key->dims[place] : 0;
}

/* Every query is multiplied with every key and its weights with every value; three more products make gradients. */
static uint64_t products_of_attention(const char *name, const aclsimArgument *arguments, const aclsimArgument *end)
{
    const aclsimTensor *key = arguments[1].tensors;
    if (!is_tensor(&arguments[0], ACLSIM_IN) || !is_tensor(&arguments[1], ACLSIM_IN) || key->rank < 2)
        return 0;
    uint64_t one = elements_of(arguments[0].tensors, UINT32_MAX) * length_of(key, arguments, end);
    return one * (strstr(name, "Grad") != NULL ? 5 : 2);
}

static bool has_part(const char *name, const char *const *parts)
{
    while (*parts != NULL && strstr(name, *parts) == NULL)
        parts++;
    return *parts != NULL;
}

static bool is_product(const char *name)
{
    static const char *const parts[] = {"atmul", "atMul", "ddmm", "ddbmm", "ddmv", NULL};
    static const char *const names[] = {"GEMM",      "aclnnGemm", "aclnnMm",          "aclnnMv", "aclnnDot",
                                        "aclnnGer",  "aclnnAddr", "aclnnInplaceAddr", NULL};
    const char *const *at = names;
    while (*at != NULL && strcmp(*at, name) != 0)
        at++;
    return *at != NULL || has_part(name, parts);
}

/* The number of multiply-adds, and the bytes of an element that they are made with; 0 for other operators. */
static uint64_t count_products(const struct sim_op *op, const void *argument, uint64_t *width)
{
    static const char *const convolutions[] = {"aclnnConvolution", "aclnnConvTbc", "aclnnConvDepthwise", "Conv2D",
                                               NULL};
    static const char *const attentions[] = {"FlashAttention", "InferAttention", "SwinAttention", NULL};
    aclsimArgument arguments[SIM_ROW_PARAMETERS];
    const char *name = op->op_name;
    size_t count = sim_row_show(argument, arguments);
    const aclsimArgument *end = arguments + count, *left = next_tensor(arguments, end, ACLSIM_IN);
    if (count < 3 || left == NULL)
        return 0;
    *width = divide_up(sim_type_bits(left->tensors->type), 8);
    if (has_part(name, convolutions))
        return products_of_convolution(name, arguments, end);
    if (has_part(name, attentions))
        return products_of_attention(name, arguments, end);
    if (!is_product(name))
        return 0;
    const aclsimArgument *right = next_tensor(left + 1, end, ACLSIM_IN), *out = next_tensor(arguments, end, ACLSIM_OUT);
    size_t length = right != NULL ? strlen(right->name) : 0;
    if (length != 0 && (right->name[length - 1] == '1' || strcmp(right->name, "mat") == 0)) { /* self + mat1 @ mat2 */
        left = right;
        right = next_tensor(left + 1, end, ACLSIM_IN);
    }
    return right != NULL && out != NULL ? products_of_matrices(left, right, out) : 0;
}

/* ---- times ---- */

static uint64_t cycles_of_products(const struct sim_soc *soc, uint64_t products, uint64_t width)
{
    static const uint64_t by_width[] = {2 * CUBE_PRODUCTS, 2 * CUBE_PRODUCTS, CUBE_PRODUCTS, 0, CUBE_PRODUCTS / 4};
    uint64_t rate = width < sizeof by_width / sizeof *by_width ? by_width[width] : 0;
    return rate != 0 ? divide_up(products, rate * soc->so_cube_core) : 0;
}

/* Each AI core has a vector unit, on chips that have fewer vector cores of their own. */
static uint64_t cycles_of_elements(const struct sim_soc *soc, uint64_t elements, uint64_t width)
{
    uint64_t units = soc->so_vector_core > soc->so_ai_core ? soc->so_vector_core : soc->so_ai_core;
    uint64_t lanes = width != 0 && width < VECTOR_BYTES ? VECTOR_BYTES / width : 1;
    return divide_up(elements, lanes * units);
}

static uint64_t time_of(const struct sim_clock_work *work, uint64_t cycles)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    uint64_t moving = divide_up(work->wo_memory, (uint64_t)soc->so_ddr * soc->so_ai_core);
    uint64_t inside = divide_up((moving > cycles ? moving : cycles) * 1000, soc->so_mhz);
    uint64_t linking = divide_up(work->wo_link, SIM_CLOCK_LINK);
    return SIM_CLOCK_LAUNCH + (inside > linking ? inside : linking);
}

uint64_t sim_clock_cost_of_bytes(const struct sim_clock_work *work)
{
    return time_of(work, 0);
}

static uint64_t cycles_of_operator(const struct sim_op *op, const void *argument, const struct sim_clock_work *work)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    uint64_t width = 0, products = count_products(op, argument, &width);
    uint64_t cycles = products != 0 ? cycles_of_products(soc, products, width) : 0;
    if (cycles != 0)
        return cycles;
    return products != 0 ? cycles_of_elements(soc, products, width)
                         : cycles_of_elements(soc, work->wo_elements, work->wo_width);
}

uint64_t sim_clock_cost_of_task(const struct sim_op *op, const void *argument, int32_t device)
{
    struct sim_clock_work work = {.wo_device = device};
    sim_watch_footprints(op, argument, sim_clock_cost_add, &work);
    return time_of(&work, op->op_run == sim_row_run ? cycles_of_operator(op, argument, &work) : 0);
}
