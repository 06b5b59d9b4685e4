/* Design notes
 *
 * The saturation mode of floating-point results, and the overflow status.
 *
 * The saturation mode belongs to the process until a stream adopts it; the stream then keeps its mode. Kernels and
 * reductions compute as usual; on a stream that saturates, infinities and NaNs in their outputs are replaced
 * afterwards. The overflow status is one flag per process or one per context, as on the chip; the memory at a context's
 * overflow address mirrors it. On chips that can switch the status per stream, it is off at first. Switching is a task,
 * so that it affects later tasks only: sa_asked is the setting that the program requested, sa_reached the one that the
 * stream's holder has reached.
 *
 * cx_overflow is guarded by cx_lock and allocated outside it; its allocation id shows whether a program has freed
 * it. */
#include "saturation.h"
#include "address/memory.h"
#include "base/config.h"
#include "engine/context.h"
#include "engine/stream.h"

#include <string.h>

#define UNSET (-1)

static _Atomic int process_mode = UNSET;
static _Atomic bool process_overflow;

/* ---- modes ---- */

static bool is_of_process(void)
{
    return sim_config()->cf_soc->so_profile <= SIM_PA2;
}

aclrtFloatOverflowMode sim_saturation_mode(void)
{
    int mode = atomic_load(&process_mode);
    if (mode != UNSET)
        return (aclrtFloatOverflowMode)mode;
    return is_of_process() ? ACL_RT_OVERFLOW_MODE_INFNAN : ACL_RT_OVERFLOW_MODE_SATURATION;
}

aclError sim_saturation_set_mode(aclrtFloatOverflowMode mode)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    bool saturates = mode == ACL_RT_OVERFLOW_MODE_SATURATION;
    SIM_SUPPORTED(saturates ? soc->so_profile != SIM_P950 : is_of_process(), "mode is %d, but the %s supports only %d",
                  (int)mode, soc->so_name, !mode);
    atomic_store(&process_mode, (int)mode);
    atomic_store(&sim_stream_saturation, saturates);
    return ACL_SUCCESS;
}

/* The first device that opens fixes the chip, which decides the mode if the program has not. */
int sim_saturation_open(void)
{
    atomic_store(&sim_stream_saturation, sim_saturation_mode() == ACL_RT_OVERFLOW_MODE_SATURATION);
    return 0;
}

/* ---- the status ---- */

/* Writes the status to the context's overflow address, if the program has asked for one and has not freed it. */
static void write_address(struct sim_context *context, uint32_t value)
{
    sim_lock(&context->cx_lock);
    struct sim_range range = context->cx_overflow;
    sim_unlock(&context->cx_lock);
    if (range.rg_birth != 0 && sim_memory_lives(&range))
        atomic_store((_Atomic uint32_t *)sim_memory_reach(range.rg_address), value);
}

void sim_saturation_set_status(struct sim_stream *stream, bool overflow)
{
    struct sim_context *context = atomic_load_explicit(&stream->st_context, memory_order_relaxed);
    atomic_store(is_of_process() ? &process_overflow : &context->cx_overflowed, overflow);
    write_address(context, overflow);
}

bool sim_saturation_status(const struct sim_stream *stream)
{
    struct sim_context *context = atomic_load_explicit(&stream->st_context, memory_order_relaxed);
    return atomic_load(is_of_process() ? &process_overflow : &context->cx_overflowed);
}

static aclError run_read(struct sim_run *run, void *argument)
{
    const struct sim_range *range = argument;
    uint32_t words[SIM_OVERFLOW_BYTES / 4] = {sim_saturation_status(run->rn_stream)};
    memcpy(sim_memory_engine(range->rg_address), words, sizeof words);
    return ACL_SUCCESS;
}

static aclError run_clear(struct sim_run *run, void *argument)
{
    (void)argument;
    sim_saturation_set_status(run->rn_stream, false);
    return ACL_SUCCESS;
}

static aclError run_switch(struct sim_run *run, void *argument)
{
    atomic_store(&run->rn_stream->st_saturation.sa_reached, *(bool *)argument);
    return ACL_SUCCESS;
}

#define STATUS_OP(name, run, ranges)                                                                                   \
    {.op_name = (name), .op_run = (run), .op_range_count = (ranges), .op_flags = SIM_OP_LIGHT,                         \
     .op_kind = SIM_TASK_OTHER}

static aclError find_stream(aclrtStream stream, struct sim_target *target)
{
    SIM_TRY(sim_stream_own(stream, target));
    return sim_stream_refuse_captured(target->tg_stream);
}

aclError sim_saturation_read(enum sim_status_call call, void *output, uint64_t size, aclrtStream stream, void *site)
{
    static const struct sim_op ops[SIM_STATUS_CALLS] = {
        STATUS_OP("aclrtGetOverflowStatus", run_read, 1),
        STATUS_OP("aclrtGetFloatOverflowStatus", run_read, 1),
        STATUS_OP("aclrtNpuGetFloatOverFlowStatus", run_read, 1),
    };
    SIM_CHECK(output != NULL, ACL_ERROR_RT_PARAM_INVALID, "outputAddr is NULL, expected device memory");
    SIM_CHECK(size == SIM_OVERFLOW_BYTES, ACL_ERROR_RT_PARAM_INVALID, "outputSize is %llu, expected %d",
              (unsigned long long)size, SIM_OVERFLOW_BYTES);
    struct sim_target target;
    SIM_TRY(find_stream(stream, &target));
    struct sim_range range = {.rg_address = output, .rg_size = SIM_OVERFLOW_BYTES, .rg_write = true};
    SIM_TRY(sim_memory_claim(&range, "outputAddr"));
    return sim_engine_submit(target, &ops[call], &range, sizeof range, site, NULL);
}

aclError sim_saturation_clear(enum sim_status_call call, aclrtStream stream, void *site)
{
    static const struct sim_op ops[SIM_STATUS_CALLS] = {
        STATUS_OP("aclrtResetOverflowStatus", run_clear, 0),
        STATUS_OP("aclrtResetFloatOverflowStatus", run_clear, 0),
        STATUS_OP("aclrtNpuClearFloatOverFlowStatus", run_clear, 0),
    };
    struct sim_target target;
    SIM_TRY(find_stream(stream, &target));
    return sim_engine_submit(target, &ops[call], &call, sizeof call, site, NULL);
}

aclError sim_saturation_switch(enum sim_switch_call call, struct sim_target stream, bool on, void *site)
{
    static const struct sim_op ops[SIM_SWITCH_CALLS] = {
        STATUS_OP("aclrtSetStreamOverflowSwitch", run_switch, 0),
        STATUS_OP("aclrtSetStreamAttribute", run_switch, 0),
    };
    SIM_TRY(sim_engine_submit(stream, &ops[call], &on, sizeof on, site, NULL));
    atomic_store(&stream.tg_stream->st_saturation.sa_asked, on);
    return ACL_SUCCESS;
}

/* ---- a context's address ---- */

aclError sim_saturation_address(struct sim_context *context, void **address)
{
    struct sim_range fresh = {.rg_size = SIM_OVERFLOW_BYTES, .rg_write = true};
    void *block = NULL;
    for (;;) {
        sim_lock(&context->cx_lock);
        bool lives = context->cx_overflow.rg_birth != 0 && sim_memory_lives(&context->cx_overflow);
        if (!lives && block != NULL)
            context->cx_overflow = fresh;
        *address = (void *)(uintptr_t)context->cx_overflow.rg_address;
        sim_unlock(&context->cx_lock);
        if (lives && block != NULL) /* another thread has allocated it first */
            return sim_memory_release(block, NULL);
        if (lives || block != NULL)
            return ACL_SUCCESS;
        SIM_TRY(sim_memory_take(&block, SIM_OVERFLOW_BYTES));
        memset(sim_memory_engine(block), 0, SIM_OVERFLOW_BYTES);
        fresh.rg_address = block;
        SIM_TRY(sim_memory_claim(&fresh, "overflowAddr"));
    }
}

void sim_saturation_close(struct sim_context *context)
{
    sim_lock(&context->cx_lock);
    struct sim_range range = context->cx_overflow;
    context->cx_overflow = (struct sim_range){.rg_birth = 0};
    sim_unlock(&context->cx_lock);
    atomic_store(&context->cx_overflowed, false);
    if (range.rg_birth != 0 && sim_memory_lives(&range))
        sim_memory_release(range.rg_address, NULL);
}

/* ---- outputs of kernels ---- */

/* The size of an element and its exponent bits: an element with all of them set is an infinity or a NaN, and one
 * with one less is the largest number. Returns false for types that do not overflow. */
static bool find_layout(aclDataType type, size_t *size, uint64_t *exponent)
{
    *size = type == ACL_DOUBLE ? 8 : type == ACL_FLOAT ? 4 : 2;
    *exponent = type == ACL_DOUBLE  ? UINT64_C(0x7ff0000000000000)
                : type == ACL_FLOAT ? UINT64_C(0x7f800000)
                : type == ACL_BF16  ? UINT64_C(0x7f80)
                                    : UINT64_C(0x7c00);
    return type == ACL_DOUBLE || type == ACL_FLOAT || type == ACL_BF16 || type == ACL_FLOAT16;
}

/* Saturates one element of any size; the machine is little-endian. */
static bool saturate_element(char *place, size_t size, uint64_t exponent)
{
    uint64_t bits = 0, sign = UINT64_C(1) << (size * 8 - 1);
    memcpy(&bits, place, size);
    if (likely((bits & exponent) != exponent))
        return false;
    bool is_infinite = (bits & ~sign) == exponent;
    bits = is_infinite ? (bits & sign) | (exponent - 1) : 0;
    memcpy(place, &bits, size);
    return true;
}

static bool saturate_tensor(const aclsimTensor *tensor)
{
    size_t size;
    uint64_t exponent;
    int64_t at[sizeof tensor->dims / sizeof *tensor->dims] = {0};
    bool overflow = false;
    if (tensor->data == NULL || !find_layout(tensor->type, &size, &exponent))
        return false;
    for (uint32_t dim = 0; dim < tensor->rank; dim++)
        if (tensor->dims[dim] == 0)
            return false;
    char *place = tensor->data;
    for (uint32_t dim = 0; dim != UINT32_MAX;) {
        overflow |= saturate_element(place, size, exponent);
        for (dim = tensor->rank - 1; dim != UINT32_MAX; dim--) { /* step to the next element, last dimension first */
            int64_t step = tensor->strides[dim] * (int64_t)size;
            place += step;
            if (++at[dim] < tensor->dims[dim])
                break;
            place -= step * at[dim];
            at[dim] = 0;
        }
    }
    return overflow;
}

static bool saturates(const struct sim_stream *stream)
{
    return stream != NULL && atomic_load_explicit(&stream->st_saturation.sa_on, memory_order_relaxed);
}

static void tell(struct sim_stream *stream, bool overflow)
{
    if (overflow && (!is_of_process() || atomic_load(&stream->st_saturation.sa_reached)))
        sim_saturation_set_status(stream, true);
}

void sim_saturation_apply(struct sim_stream *stream, const aclsimArgument *arguments, size_t count)
{
    bool overflow = false;
    if (likely(!saturates(stream)))
        return;
    for (size_t i = 0; i < count; i++) {
        bool written = arguments[i].kind <= ACLSIM_TENSOR_LIST && (arguments[i].direction & ACLSIM_OUT);
        for (uint64_t k = 0; written && arguments[i].present && k < arguments[i].count; k++)
            overflow |= saturate_tensor(&arguments[i].tensors[k]);
    }
    tell(stream, overflow);
}

void sim_saturation_apply_to(struct sim_stream *stream, aclDataType type, void *data, uint64_t count)
{
    const aclsimTensor row = {.data = data, .dims = {(int64_t)count}, .strides = {1}, .rank = 1, .type = type};
    if (saturates(stream))
        tell(stream, saturate_tensor(&row));
}

void sim_saturation_reset(void)
{
    atomic_store(&process_mode, UNSET);
    atomic_store(&process_overflow, false);
}
