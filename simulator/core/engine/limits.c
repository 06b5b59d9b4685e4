/* Settings of programs for later work: switches, time-outs, sizes, numbers of cores.
 *
 * The values belong to the process, and most are atomic words; those of a stream are in the stream, and each thread has
 * its stream in use. sizes_lock, a leaf, guards the sizes, because the two SIMT stacks must not both be 0.
 *
 * Waits for events and launches of custom kernels use the time-out that is in force when they are submitted. The other
 * values are only stored and reported: the simulator's kernels have neither the stacks nor the cores of a card, no
 * result depends on a switch, and operators never time out, because they do not take the time of a card. */
#include "limits.h"
#include "base/config.h"
#include "context.h"
#include "device.h"

#include <string.h>

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define STEPS 254 /* the largest time-out, in intervals */

static _Atomic int64_t options[SIM_PROCESS_OPTIONS];
static _Atomic uint32_t wait_seconds;  /* 0: no limit */
static _Atomic uint64_t execute_us;    /* 0: never set */
static struct sim_lock sizes_lock;     /* guards sizes and is_set */
static uint64_t sizes[ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE + 1];
static bool is_set[ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE + 1];
static _Atomic uint32_t device_cores[SIM_DEVICES_MAX][SIM_CORE_TYPES];
static _Thread_local uint64_t stream_in_use; /* a handle: it is found only while the stream lives */

int64_t sim_limits_option(aclSysParamOpt option)
{
    return atomic_load(&options[option]);
}

void sim_limits_set_option(aclSysParamOpt option, int64_t value)
{
    atomic_store(&options[option], value);
}

/* ---- time-outs ---- */

uint64_t sim_limits_wait(void)
{
    uint32_t seconds = atomic_load_explicit(&wait_seconds, memory_order_relaxed);
    return likely(seconds == 0) ? SIM_FOREVER : seconds * UINT64_C(1000000000);
}

void sim_limits_set_wait(uint32_t seconds)
{
    atomic_store(&wait_seconds, seconds);
}

uint64_t sim_limits_interval(void)
{
    return sim_soc_family(sim_config()->cf_soc)->fa_interval_us;
}

uint64_t sim_limits_execute(void)
{
    uint64_t set = atomic_load(&execute_us);
    return set != 0 ? set : sim_soc_family(sim_config()->cf_soc)->fa_timeout_ms * UINT64_C(1000);
}

uint64_t sim_limits_launch(void)
{
    uint64_t set = atomic_load_explicit(&execute_us, memory_order_relaxed);
    return likely(set == 0) ? SIM_FOREVER : set * 1000;
}

uint64_t sim_limits_set_execute(uint64_t microseconds)
{
    uint64_t interval = sim_limits_interval(), steps = STEPS;
    if (microseconds != 0 && microseconds < STEPS * interval)
        steps = (microseconds + interval - 1) / interval;
    atomic_store(&execute_us, steps * interval);
    return steps * interval;
}

/* ---- sizes ---- */

static const struct {
    uint64_t sz_default, sz_step, sz_least, sz_most;
    bool sz_raised; /* values below sz_least are raised to it, not refused */
} size_rules[] = {
    [ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE] = {1152, 128, 0, UINT32_MAX, false},
    [ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE] = {1024, 128, 0, UINT32_MAX, false},
    [ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE] = {32 * KIB, 16 * KIB, 32 * KIB, 192 * KIB, true},
    [ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE] = {32 * KIB, 8, KIB, 64 * MIB, false},
    [ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE] = {2 * MIB, 8, MIB, 64 * MIB, false},
};
#define P950_SIMD_STACK (128 * KIB)
#define SIMT_LANES 32 /* aclrtDeviceGetLimit returns the stack of a whole warp */

bool sim_limits_has(aclrtDeviceLimit limit)
{
    bool is_simd =
        limit == ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE || limit == ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE;
    return sim_config()->cf_soc->so_profile <= (is_simd ? SIM_PA2 : SIM_P950);
}

static uint64_t size_locked(aclrtDeviceLimit limit)
{
    return is_set[limit] ? sizes[limit] : size_rules[limit].sz_default;
}

uint64_t sim_limits_size(aclrtDeviceLimit limit)
{
    sim_lock(&sizes_lock);
    uint64_t size = size_locked(limit);
    sim_unlock(&sizes_lock);
    return limit == ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE ? size * SIMT_LANES : size;
}

/* True when the other SIMT stack is 0. */
static bool is_last_stack(aclrtDeviceLimit limit)
{
    return limit <= ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE && size_locked((aclrtDeviceLimit)(1 - (int)limit)) == 0;
}

aclError sim_limits_set_size(aclrtDeviceLimit limit, uint64_t value, const char *name)
{
    uint64_t least = size_rules[limit].sz_least, most = size_rules[limit].sz_most, step = size_rules[limit].sz_step;
    if (limit == ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE && sim_config()->cf_soc->so_profile == SIM_P950)
        most = P950_SIMD_STACK;
    if (value < least && size_rules[limit].sz_raised)
        value = least;
    SIM_CHECK(value >= least && value <= most, ACL_ERROR_RT_PARAM_INVALID, "%s is %llu, expected %llu to %llu", name,
              (unsigned long long)value, (unsigned long long)least, (unsigned long long)most);
    sim_lock(&sizes_lock);
    bool refused = value == 0 && is_last_stack(limit);
    if (!refused) {
        sizes[limit] = (value + step - 1) / step * step;
        is_set[limit] = true;
    }
    sim_unlock(&sizes_lock);
    SIM_CHECK(!refused, ACL_ERROR_RT_PARAM_INVALID, "%s is 0, and so is the other SIMT stack, expected one above 0",
              name);
    return ACL_SUCCESS;
}

/* ---- cores ---- */

uint32_t sim_limits_hardware(aclrtDevResLimitType type)
{
    const struct sim_soc *soc = sim_config()->cf_soc;
    return type == ACL_RT_DEV_RES_CUBE_CORE ? soc->so_cube_core : soc->so_vector_core;
}

uint32_t sim_limits_of_device(int32_t device, aclrtDevResLimitType type)
{
    uint32_t set = atomic_load(&device_cores[device][type]);
    return set != 0 ? set : sim_limits_hardware(type);
}

void sim_limits_set_device(int32_t device, aclrtDevResLimitType type, uint32_t cores)
{
    atomic_store(&device_cores[device][type], cores);
}

uint32_t sim_limits_of_stream(const struct sim_stream *stream, aclrtDevResLimitType type)
{
    uint32_t set = atomic_load(&stream->st_cores[type]);
    const struct sim_context *context = atomic_load_explicit(&stream->st_context, memory_order_relaxed);
    return set != 0 ? set : sim_limits_of_device(context->cx_device->dv_id, type);
}

uint32_t sim_limits_of_thread(int32_t device, aclrtDevResLimitType type)
{
    const struct sim_stream *stream = sim_table_find(&sim_streams, (void *)(uintptr_t)stream_in_use);
    return stream != NULL ? sim_limits_of_stream(stream, type) : sim_limits_of_device(device, type);
}

void sim_limits_use(struct sim_target stream)
{
    stream_in_use = stream.tg_handle;
}

void sim_limits_stop_using(struct sim_target stream)
{
    if (stream_in_use == stream.tg_handle)
        stream_in_use = 0;
}

void sim_limits_reset(void)
{
    for (size_t i = 0; i < SIM_PROCESS_OPTIONS; i++)
        atomic_store(&options[i], 0);
    atomic_store(&wait_seconds, 0);
    atomic_store(&execute_us, 0);
    for (int32_t device = 0; device < SIM_DEVICES_MAX; device++)
        for (size_t type = 0; type < SIM_CORE_TYPES; type++)
            atomic_store(&device_cores[device][type], 0);
    sim_lock_renew(&sizes_lock);
    memset(is_set, 0, sizeof is_set);
    stream_in_use = 0;
}
