/* Entry points of copies to and from variables of kernels, which a program names by a host symbol. A count of 0
 * succeeds before any other argument is checked. */
#include "address/memory.h"
#include "engine/context.h"
#include "kernel/kernel.h"
#include "memory/memory_copy.h"

static aclError check_kind(aclrtMemcpyKind kind, aclrtMemcpyKind expected, const char *name)
{
    SIM_ARGUMENT(kind == expected || kind == ACL_MEMCPY_DEFAULT, ACL_ERROR_INVALID_PARAM,
                 "kind is %d, expected %s (%d) or ACL_MEMCPY_DEFAULT (4)", kind, name, expected);
    return ACL_SUCCESS;
}

static aclError check_to(const void *symbol, const void *src, aclrtMemcpyKind kind)
{
    SIM_NOT_NULL(symbol);
    SIM_NOT_NULL(src);
    return check_kind(kind, ACL_MEMCPY_HOST_TO_DEVICE, "ACL_MEMCPY_HOST_TO_DEVICE");
}

static aclError check_from(const void *dst, size_t dstMax, const void *symbol, size_t count, aclrtMemcpyKind kind)
{
    SIM_NOT_NULL(dst);
    SIM_NOT_NULL(symbol);
    SIM_ARGUMENT(count <= dstMax, ACL_ERROR_INVALID_PARAM, "count is %zu, expected at most dstMax, %zu", count, dstMax);
    return check_kind(kind, ACL_MEMCPY_DEVICE_TO_HOST, "ACL_MEMCPY_DEVICE_TO_HOST");
}

/* Finds the address of `count` bytes of the variable, from `offset` on. */
static aclError find_bytes(const void *symbol, size_t count, size_t offset, void **address)
{
    struct sim_variable variable;
    SIM_TRY(sim_kernel_variable_find(symbol, &variable));
    SIM_ARGUMENT(offset <= variable.va_size && count <= variable.va_size - offset, ACL_ERROR_INVALID_PARAM,
                 "offset is %zu and count %zu, expected a sum of at most %zu, the size of the variable", offset, count,
                 variable.va_size);
    *address = variable.va_address + offset;
    return ACL_SUCCESS;
}

static aclError find_on_stream(const void *symbol, size_t count, size_t offset, aclrtStream stream, void **address,
                               struct sim_target *target)
{
    SIM_TRY(sim_stream_check(stream));
    SIM_TRY(find_bytes(symbol, count, offset, address));
    return sim_stream_own(stream, target);
}

aclError aclrtGetSymbolAddress(const void *symbol, void **devPtr)
{
    SIM_ENTER();
    struct sim_variable variable;
    SIM_NOT_NULL(symbol);
    SIM_NOT_NULL(devPtr);
    SIM_TRY(sim_kernel_variable_find(symbol, &variable));
    *devPtr = variable.va_address;
    return ACL_SUCCESS;
}

aclError aclrtGetSymbolSize(const void *symbol, size_t *size)
{
    SIM_ENTER();
    struct sim_variable variable;
    SIM_NOT_NULL(symbol);
    SIM_NOT_NULL(size);
    SIM_TRY(sim_kernel_variable_find(symbol, &variable));
    *size = variable.va_size;
    return ACL_SUCCESS;
}

aclError aclrtMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind)
{
    SIM_ENTER();
    void *address;
    if (count == 0)
        return ACL_SUCCESS;
    SIM_TRY(check_to(symbol, src, kind));
    SIM_TRY(find_bytes(symbol, count, offset, &address));
    return sim_memory_copy(address, src, count);
}

aclError aclrtMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
                                  aclrtMemcpyKind kind, aclrtStream stream)
{
    SIM_ENTER();
    void *address;
    struct sim_target target;
    if (count == 0)
        return ACL_SUCCESS;
    SIM_TRY(check_to(symbol, src, kind));
    SIM_TRY(find_on_stream(symbol, count, offset, stream, &address, &target));
    return sim_memory_copy_async(address, src, count, ACL_MEMCPY_HOST_TO_DEVICE, SIM_COPY_TO_SYMBOL, target,
                                 SIM_SITE());
}

aclError aclrtMemcpyFromSymbol(void *dst, size_t dstMax, const void *symbol, size_t count, size_t offset,
                               aclrtMemcpyKind kind)
{
    SIM_ENTER();
    void *address;
    if (count == 0)
        return ACL_SUCCESS;
    SIM_TRY(check_from(dst, dstMax, symbol, count, kind));
    SIM_TRY(find_bytes(symbol, count, offset, &address));
    return sim_memory_copy(dst, address, count);
}

aclError aclrtMemcpyFromSymbolAsync(void *dst, size_t dstMax, const void *symbol, size_t count, size_t offset,
                                    aclrtMemcpyKind kind, aclrtStream stream)
{
    SIM_ENTER();
    void *address;
    struct sim_target target;
    if (count == 0)
        return ACL_SUCCESS;
    SIM_TRY(check_from(dst, dstMax, symbol, count, kind));
    SIM_TRY(find_on_stream(symbol, count, offset, stream, &address, &target));
    return sim_memory_copy_async(dst, address, count, ACL_MEMCPY_DEVICE_TO_HOST, SIM_COPY_FROM_SYMBOL, target,
                                 SIM_SITE());
}
