/* Entry points of copies and sets. A count (width, height, N) of 0 succeeds before any other argument is checked. */
#include "address/memory.h"
#include "base/config.h"
#include "engine/context.h"
#include "memory/memory_copy.h"

#define ROWS_MOST 5242880u
#define WIDTH_MOST 5000000u

static aclError check_kind(aclrtMemcpyKind kind)
{
    SIM_ARGUMENT((unsigned)kind <= ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, ACL_ERROR_INVALID_PARAM,
                 "kind is %d, expected an aclrtMemcpyKind from 0 (ACL_MEMCPY_HOST_TO_HOST) to %d "
                 "(ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE)",
                 kind, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE);
    return ACL_SUCCESS;
}

static aclError check_room(size_t count, size_t most, const char *name)
{
    SIM_CHECK(count <= most, ACL_ERROR_RT_PARAM_INVALID, "count is %zu, expected at most %s, %zu", count, name, most);
    return ACL_SUCCESS;
}

/* Errors are reported in this order: an invalid stream, a count that is too large, a stream of another context. */
static aclError check_room_on(aclrtStream stream, size_t count, size_t most, const char *name)
{
    if (likely(count <= most))
        return ACL_SUCCESS; /* the caller checks the stream next */
    SIM_TRY(sim_stream_check(stream));
    return check_room(count, most, name);
}

SIM_HOT aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind)
{
    SIM_ENTER();
    if (unlikely(count == 0))
        return ACL_SUCCESS;
    SIM_NOT_NULL(dst);
    SIM_NOT_NULL(src);
    SIM_TRY(check_kind(kind));
    SIM_TRY(check_room(count, destMax, "destMax"));
    return sim_memory_copy_kind(dst, src, count, kind);
}

static inline aclError copy_async(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
                                  enum sim_copy_call call, aclrtStream stream, void *site)
{
    struct sim_target target;
    if (unlikely(count == 0))
        return ACL_SUCCESS;
    SIM_NOT_NULL(dst);
    SIM_NOT_NULL(src);
    SIM_TRY(check_kind(kind));
    SIM_TRY(check_room_on(stream, count, destMax, "destMax"));
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_memory_copy_async(dst, src, count, kind, call, target, site);
}

SIM_HOT aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream)
{
    SIM_ENTER();
    return copy_async(dst, destMax, src, count, kind, SIM_COPY_ASYNC, stream, SIM_SITE());
}

/* The condition is that the runtime can tell pinned host memory from pageable memory. The simulator always can. */
aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
                                       aclrtStream stream)
{
    SIM_ENTER();
    return copy_async(dst, destMax, src, count, kind, SIM_COPY_CONDITION, stream, SIM_SITE());
}

static aclError check_rectangle(const void *dst, const void *src, const struct sim_rectangle *shape,
                                aclrtMemcpyKind kind)
{
    SIM_NOT_NULL(dst);
    SIM_NOT_NULL(src);
    SIM_ARGUMENT(shape->rc_width <= shape->rc_dst_pitch && shape->rc_width <= shape->rc_src_pitch,
                 ACL_ERROR_INVALID_PARAM, "width is %zu, expected at most dpitch, %zu, and spitch, %zu",
                 (size_t)shape->rc_width, (size_t)shape->rc_dst_pitch, (size_t)shape->rc_src_pitch);
    SIM_ARGUMENT(kind >= ACL_MEMCPY_HOST_TO_DEVICE && kind <= ACL_MEMCPY_DEFAULT, ACL_ERROR_INVALID_PARAM,
                 "kind is %d, expected ACL_MEMCPY_HOST_TO_DEVICE (1), _DEVICE_TO_HOST (2), _DEVICE_TO_DEVICE (3) or "
                 "ACL_MEMCPY_DEFAULT (4)",
                 kind);
    return ACL_SUCCESS;
}

static aclError check_extent(const struct sim_rectangle *shape)
{
    SIM_SUPPORTED(!sim_memory_runs_on_device(),
                  "%s, whose run mode is ACL_DEVICE, has no 2-D copies, expected aclrtMemcpy",
                  sim_config()->cf_soc->so_name);
    SIM_CHECK(shape->rc_height <= ROWS_MOST, ACL_ERROR_RT_PARAM_INVALID, "height is %zu, expected at most %u",
              (size_t)shape->rc_height, ROWS_MOST);
    SIM_CHECK(shape->rc_width <= WIDTH_MOST, ACL_ERROR_RT_PARAM_INVALID, "width is %zu, expected at most %u",
              (size_t)shape->rc_width, WIDTH_MOST);
    return ACL_SUCCESS;
}

aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind)
{
    SIM_ENTER();
    const struct sim_rectangle shape = {dpitch, spitch, width, height};
    if (width == 0 || height == 0)
        return ACL_SUCCESS;
    SIM_TRY(check_rectangle(dst, src, &shape, kind));
    SIM_TRY(check_extent(&shape));
    return sim_memory_copy_2d(dst, src, &shape);
}

aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                            aclrtMemcpyKind kind, aclrtStream stream)
{
    SIM_ENTER();
    const struct sim_rectangle shape = {dpitch, spitch, width, height};
    struct sim_target target;
    if (width == 0 || height == 0)
        return ACL_SUCCESS;
    SIM_TRY(check_rectangle(dst, src, &shape, kind));
    SIM_TRY(sim_stream_check(stream));
    SIM_TRY(check_extent(&shape));
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_memory_copy_2d_async(dst, src, &shape, kind, target, SIM_SITE());
}

static uint32_t four_times(int32_t value)
{
    return (uint32_t)(value & 0xff) * 0x01010101u;
}

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
{
    SIM_ENTER();
    if (unlikely(count == 0))
        return ACL_SUCCESS;
    SIM_NOT_NULL(devPtr);
    SIM_TRY(check_room(count, maxCount, "maxCount"));
    return sim_memory_set(devPtr, four_times(value), count);
}

SIM_HOT aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    if (unlikely(count == 0))
        return ACL_SUCCESS;
    SIM_NOT_NULL(devPtr);
    SIM_TRY(check_room_on(stream, count, maxCount, "maxCount"));
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_memory_set_async(devPtr, four_times(value), count, false, target, SIM_SITE());
}

/* Only memory that the runtime knows, except managed memory, can be set by words of 32 bits. */
static aclError check_words(const void *ptr, size_t memSize, size_t N)
{
    struct sim_place place;
    SIM_NOT_NULL(ptr);
    SIM_ARGUMENT((uintptr_t)ptr % sizeof(uint32_t) == 0, ACL_ERROR_INVALID_PARAM,
                 "ptr is %p, expected a multiple of 4", ptr);
    SIM_ARGUMENT(N <= memSize / sizeof(uint32_t), ACL_ERROR_INVALID_PARAM,
                 "N is %zu, expected at most memSize / 4, %zu", N, memSize / sizeof(uint32_t));
    SIM_SUPPORTED(sim_config()->cf_soc->so_profile <= SIM_PA2, "%s cannot set memory by 32-bit values",
                  sim_config()->cf_soc->so_name);
    sim_memory_locate(ptr, &place);
    if (sim_memory_is_low(&place, ptr))
        return sim_memory_refuse_low(ptr, "ptr");
    SIM_ARGUMENT(place.pl_class != SIM_MEMORY_FOREIGN && place.pl_class != SIM_MEMORY_MANAGED, ACL_ERROR_INVALID_PARAM,
                 "ptr is %p, which is %s, expected device memory or pinned host memory", ptr,
                 sim_memory_describe(&place));
    return ACL_SUCCESS;
}

aclError aclrtMemsetD32(void *ptr, size_t memSize, uint32_t value, size_t N)
{
    SIM_ENTER();
    if (N == 0)
        return ACL_SUCCESS;
    SIM_TRY(check_words(ptr, memSize, N));
    return sim_memory_set(ptr, value, N * sizeof value);
}

aclError aclrtMemsetD32Async(void *ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    if (N == 0)
        return ACL_SUCCESS;
    SIM_TRY(check_words(ptr, memSize, N));
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_memory_set_async(ptr, value, N * sizeof value, true, target, SIM_SITE());
}
