/* Entry points of copies within a device whose addresses are stored in device memory. */
#include "address/memory.h"
#include "base/config.h"
#include "memory/memory_copy.h"

static bool is_on_chip(enum sim_profile lacking)
{
    enum sim_profile profile = sim_config()->cf_soc->so_profile;
    return profile != SIM_P310P && profile != lacking;
}

static aclError check_kind(aclrtMemcpyKind kind)
{
    SIM_ARGUMENT((unsigned)kind <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE, ACL_ERROR_INVALID_PARAM,
                 "kind is %d, expected ACL_MEMCPY_INNER_DEVICE_TO_DEVICE (6)", kind);
    return ACL_SUCCESS;
}

static aclError check_inner(aclrtMemcpyKind kind)
{
    SIM_CHECK(kind == ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, ACL_ERROR_RT_PARAM_INVALID,
              "kind is %d, expected ACL_MEMCPY_INNER_DEVICE_TO_DEVICE (6)", kind);
    return ACL_SUCCESS;
}

static aclError check_described(aclrtMemcpyKind kind)
{
    SIM_SUPPORTED(is_on_chip(SIM_P910), "%s does not support copies described in device memory",
                  sim_config()->cf_soc->so_name);
    return check_inner(kind);
}

static aclError check_count(size_t count)
{
    SIM_CHECK(count <= SIM_INDIRECT_MOST, ACL_ERROR_RT_PARAM_INVALID, "count is %zu, expected at most 4 GiB", count);
    return ACL_SUCCESS;
}

aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t *descSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(descSize);
    SIM_TRY(check_kind(kind));
    SIM_TRY(check_described(kind));
    *descSize = SIM_COPY_DESCRIPTION_BYTES;
    return ACL_SUCCESS;
}

aclError aclrtSetMemcpyDesc(void *desc, aclrtMemcpyKind kind, void *srcAddr, void *dstAddr, size_t count, void *config)
{
    SIM_ENTER();
    SIM_NOT_NULL(desc);
    SIM_NOT_NULL(srcAddr);
    SIM_NOT_NULL(dstAddr);
    SIM_ARGUMENT(count != 0, ACL_ERROR_INVALID_PARAM, "count is 0, expected at least 1");
    SIM_ARGUMENT(config == NULL, ACL_ERROR_INVALID_PARAM, "config is %p, expected NULL: it is reserved", config);
    SIM_TRY(check_kind(kind));
    SIM_TRY(check_described(kind));
    SIM_TRY(check_count(count));
    return sim_memory_describe_copy(desc, dstAddr, srcAddr, count);
}

aclError aclrtMemcpyAsyncWithDesc(void *desc, aclrtMemcpyKind kind, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_NOT_NULL(desc);
    SIM_NOT_NULL(stream);
    SIM_TRY(check_kind(kind));
    SIM_TRY(sim_stream_check(stream));
    SIM_TRY(check_described(kind));
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_memory_copy_described(desc, target, SIM_SITE());
}

aclError aclrtMemcpyAsyncWithOffset(void **dst, size_t destMax, size_t dstDataOffset, const void **src, size_t count,
                                    size_t srcDataOffset, aclrtMemcpyKind kind, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    if (count == 0)
        return ACL_SUCCESS;
    SIM_NOT_NULL(dst);
    SIM_NOT_NULL(src);
    SIM_TRY(check_kind(kind));
    SIM_TRY(sim_stream_check(stream));
    SIM_SUPPORTED(is_on_chip(SIM_P310P), "%s cannot copy with offsets", sim_config()->cf_soc->so_name);
    SIM_TRY(check_inner(kind));
    SIM_CHECK(dstDataOffset <= destMax && count <= destMax - dstDataOffset, ACL_ERROR_RT_PARAM_INVALID,
              "count is %zu and dstDataOffset %zu, expected a sum of at most destMax, %zu", count, dstDataOffset,
              destMax);
    SIM_TRY(check_count(count));
    SIM_TRY(sim_stream_own(stream, &target));
    const struct sim_indirect copy = {dst, src, dstDataOffset, srcDataOffset, count};
    return sim_memory_copy_indirect(&copy, target, SIM_SITE());
}
