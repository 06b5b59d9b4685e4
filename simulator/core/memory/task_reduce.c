/* Reductions in place as tasks: dst = op(dst, src), element by element. Half-precision elements are computed in
 * float. Floats follow IEEE unless the stream saturates; sums of integers wrap (the documentation does not say).
 * This file has no state and no lock. */
#include "address/memory.h"
#include "base/config.h"
#include "base/type.h"
#include "engine/context.h"
#include "engine/device.h"
#include "saturation.h"
#include "task_system.h"
#include <inttypes.h>

#define BIT(type) (UINT64_C(1) << (type))
#define EVERYWHERE (BIT(ACL_INT8) | BIT(ACL_INT16) | BIT(ACL_INT32) | BIT(ACL_FLOAT16) | BIT(ACL_FLOAT))
#define SUM_BYTES (UINT64_C(4) << 30)

/* The types that each chip's engines can add. */
static const uint64_t chip_types[] = {
    [SIM_P950] = EVERYWHERE | BIT(ACL_BF16) | BIT(ACL_UINT32),
    [SIM_PA3] = EVERYWHERE | BIT(ACL_BF16),
    [SIM_PA2] = EVERYWHERE | BIT(ACL_BF16),
    [SIM_P310B] = EVERYWHERE,
    [SIM_P310P] = BIT(ACL_FLOAT) | BIT(ACL_FLOAT16) | BIT(ACL_INT16),
    [SIM_P910] = BIT(ACL_FLOAT),
};

static bool is_in(aclDataType type, uint64_t types)
{
    return (unsigned)type < 64 && (types >> (unsigned)type & 1) != 0;
}

bool sim_task_reduce_knows(aclDataType type)
{
    return is_in(type, EVERYWHERE | BIT(ACL_BF16) | BIT(ACL_UINT32) | BIT(ACL_INT4) | BIT(ACL_UINT8) | BIT(ACL_UINT16));
}

static aclError check_alignment(const void *address, uint64_t size, const char *name)
{
    SIM_CHECK((uintptr_t)address % size == 0, ACL_ERROR_RT_ADDR_UNALIGNED,
              "%s is %p, expected a multiple of %" PRIu64 ", the size of an element", name, address, size);
    return ACL_SUCCESS;
}

/* No documented product supports comparison (EQUAL). */
aclError sim_task_reduce_check(const struct sim_task_reduction *reduction)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    aclrtReduceKind kind = reduction->re_kind;
    uint64_t bytes = reduction->re_bytes, size = sim_type_bits(reduction->re_type) / 8;
    SIM_CHECK(bytes != 0, ACL_ERROR_RT_PARAM_INVALID, "count is 0, expected the size of src in bytes");
    SIM_CHECK(kind >= ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM && kind <= ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL,
              ACL_ERROR_RT_PARAM_INVALID, "kind is %d, expected 10 (sum), 11 (maximum), 12 (minimum) or 13 (equal)",
              (int)kind);
    SIM_CHECK(kind != ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM || bytes <= SUM_BYTES, ACL_ERROR_RT_PARAM_INVALID,
              "count is %" PRIu64 ", expected at most %" PRIu64 " bytes of a sum", bytes, SUM_BYTES);
    SIM_SUPPORTED(is_in(reduction->re_type, chip_types[soc->so_profile]), "%s does not reduce type %d", soc->so_name,
                  (int)reduction->re_type);
    bool sums_only = soc->so_profile == SIM_P310P || soc->so_profile == SIM_P910;
    SIM_SUPPORTED(kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM ||
                      (!sums_only && kind != ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL),
                  "%s does not offer kind %d, expected %s", soc->so_name, (int)kind,
                  sums_only ? "10 (sum)" : "10 (sum), 11 (maximum) or 12 (minimum)");
    SIM_TRY(check_alignment(reduction->re_dst, size, "dst"));
    SIM_TRY(check_alignment(reduction->re_src, size, "src"));
    SIM_CHECK(bytes % size == 0, ACL_ERROR_RT_PARAM_INVALID,
              "count is %" PRIu64 ", expected a multiple of %" PRIu64 ", the size of an element", bytes, size);
    return ACL_SUCCESS;
}

struct reduce_task {
    struct sim_range rd_src, rd_dst;
    aclrtReduceKind rd_kind;
    aclDataType rd_type;
};

static inline float reduce_floats(aclrtReduceKind kind, float one, float other)
{
    if (kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM)
        return one + other;
    bool first = kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX ? one > other : one < other;
    return first || one != one ? one : other;
}

#define INTEGERS(type, bits)                                                                                           \
    do {                                                                                                               \
        type *to = dst;                                                                                                \
        const type *from = src;                                                                                        \
        for (uint64_t i = 0; i < bytes / sizeof *to; i++) {                                                            \
            bool first = task->rd_kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX ? to[i] > from[i] : to[i] < from[i];        \
            to[i] = task->rd_kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM ? (type)((bits)to[i] + (bits)from[i])            \
                    : first                                           ? to[i]                                          \
                                                                      : from[i];                                       \
        }                                                                                                              \
    } while (0)

#define FLOATS(type, load, store)                                                                                      \
    do {                                                                                                               \
        type *to = dst;                                                                                                \
        const type *from = src;                                                                                        \
        for (uint64_t i = 0; i < bytes / sizeof *to; i++)                                                              \
            to[i] = store(reduce_floats(task->rd_kind, load(to[i]), load(from[i])));                                   \
    } while (0)

static aclError run_reduce(struct sim_run *run, void *argument)
{
    const struct reduce_task *task = argument;
    void *dst = sim_memory_reach(task->rd_dst.rg_address);
    const void *src = sim_memory_reach(task->rd_src.rg_address);
    uint64_t bytes = task->rd_dst.rg_size;
    switch (task->rd_type) {
    case ACL_INT8:
        INTEGERS(int8_t, uint8_t);
        break;
    case ACL_INT16:
        INTEGERS(int16_t, uint16_t);
        break;
    case ACL_INT32:
        INTEGERS(int32_t, uint32_t);
        break;
    case ACL_UINT32:
        INTEGERS(uint32_t, uint32_t);
        break;
    case ACL_FLOAT16:
        FLOATS(uint16_t, sim_half_to_float, sim_half_from_float);
        break;
    case ACL_BF16:
        FLOATS(uint16_t, sim_bfloat_to_float, sim_bfloat_from_float);
        break;
    default:
        FLOATS(float, , );
        break;
    }
    sim_saturation_apply_to(run->rn_stream, task->rd_type, dst, bytes * 8 / sim_type_bits(task->rd_type));
    return ACL_SUCCESS;
}

#define REDUCE_OP(flags)                                                                                               \
    {.op_name = "aclrtReduceAsync", .op_run = run_reduce, .op_range_count = 2, .op_flags = (flags),                \
     .op_kind = SIM_TASK_COPY}
static const struct sim_op reduce_ops[] = {REDUCE_OP(SIM_OP_LIGHT), REDUCE_OP(0), REDUCE_OP(SIM_OP_HEAVY)};

/* Peer access does not help here: both sides must be on the stream's own device. */
static aclError check_device(const void *address, const char *name, struct sim_target stream)
{
    struct sim_place place;
    const struct sim_context *context = atomic_load_explicit(&stream.tg_stream->st_context, memory_order_relaxed);
    sim_memory_locate(address, &place);
    SIM_CHECK(place.pl_class != SIM_MEMORY_DEVICE || place.pl_block.bk_device == context->cx_device->dv_id,
              ACL_ERROR_RT_PARAM_INVALID,
              "%s is %p, which lies on device %d, expected memory of device %d, as the stream", name, address,
              place.pl_block.bk_device, context->cx_device->dv_id);
    return ACL_SUCCESS;
}

aclError sim_task_reduce_queue(const struct sim_task_reduction *reduction, struct sim_target stream, void *site)
{
    struct reduce_task task = {
        .rd_src = {.rg_address = reduction->re_src, .rg_size = reduction->re_bytes},
        .rd_dst = {.rg_address = reduction->re_dst, .rg_size = reduction->re_bytes, .rg_write = true},
        .rd_kind = reduction->re_kind,
        .rd_type = reduction->re_type};
    SIM_TRY(check_device(reduction->re_dst, "dst", stream));
    SIM_TRY(check_device(reduction->re_src, "src", stream));
    SIM_TRY(sim_memory_claim(&task.rd_dst, "dst"));
    SIM_TRY(sim_memory_claim(&task.rd_src, "src"));
    return sim_engine_submit(stream, &reduce_ops[sim_task_weight(reduction->re_bytes)], &task, sizeof task, site, NULL);
}
