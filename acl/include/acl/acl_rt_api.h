/* Conveniences for C++ programs: overloads and default arguments of the calls in acl_rt.h.
 *
 * - A call that returns an address takes a pointer of any type: aclrtMalloc(&values, size) with float *values.
 * - Streams, flags, policies and configurations at the end of a call may be left out.
 * - Waits take a time-out, and streams and events take their flags, under the short name.
 * - Variables of kernels are named by reference: aclrtMemcpyToSymbol(table, source, size).
 *
 * Every overload forwards to one C function, whose errors it returns. A call that is valid C keeps its meaning: the C
 * function is the better match for it. A program that takes the address of a call must name its type, because the
 * names are overloaded. */
#ifndef ACL_INCLUDE_ACL_RT_API_H
#define ACL_INCLUDE_ACL_RT_API_H

#include "acl_rt.h"
#include "acl_rt_memory_soma.h"

#ifdef __cplusplus

#include <cstddef>
#include <memory>
#include <type_traits>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"

/* Default arguments; a function that returns an address has them in its overload for T ** as well. */
extern "C" {
aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST);
aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST);
aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST);
aclError aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg = nullptr);
aclError aclrtMallocForTaskScheduler(void **devPtr, size_t size, aclrtMemMallocPolicy policy,
    aclrtMallocConfig *cfg = nullptr);
aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size, aclrtMallocConfig *cfg = nullptr);
aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag = ACL_HOST_REG_MAPPED);
aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag = 0);
aclError aclrtMemAllocManaged(void **ptr, uint64_t size, uint32_t flag = ACL_RT_MEM_ATTACH_GLOBAL);
aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment = 0, void *expectPtr = nullptr,
    uint64_t flags = 0);
aclError aclrtReserveMemAddressNoUCMemory(void **virPtr, size_t size, size_t alignment = 0, void *expectPtr = nullptr,
    uint64_t flags = 0);
aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size, const aclrtPhysicalMemProp *prop,
    uint64_t flags = 0);
aclError aclrtMapMem(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags = 0);
aclError aclrtIpcMemImportByKey(void **devPtr, const char *key, uint64_t flags = 0);
aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind,
    aclrtStream stream = nullptr);
aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
    aclrtMemcpyKind kind, aclrtStream stream = nullptr);
aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream = nullptr);
aclError aclrtMemsetD32Async(void *ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream = nullptr);
aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
    aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex = nullptr);
aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
    aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex = nullptr,
    aclrtStream stream = nullptr);
aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes, size_t numBatches,
    aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, aclrtStream stream = nullptr);
aclError aclrtMemManagedPrefetchAsync(const void *ptr, size_t size, aclrtMemManagedLocation location,
    uint32_t flags = 0, aclrtStream stream = nullptr);
aclError aclrtMemManagedPrefetchBatchAsync(const void **ptrs, size_t *sizes, size_t count,
    aclrtMemManagedLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, uint64_t flags = 0,
    aclrtStream stream = nullptr);
aclError aclrtMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset = 0,
    aclrtMemcpyKind kind = ACL_MEMCPY_HOST_TO_DEVICE);
aclError aclrtMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset = 0,
    aclrtMemcpyKind kind = ACL_MEMCPY_HOST_TO_DEVICE, aclrtStream stream = nullptr);
aclError aclrtMemcpyFromSymbol(void *dst, size_t dstMax, const void *symbol, size_t count, size_t offset = 0,
    aclrtMemcpyKind kind = ACL_MEMCPY_DEVICE_TO_HOST);
aclError aclrtMemcpyFromSymbolAsync(void *dst, size_t dstMax, const void *symbol, size_t count, size_t offset = 0,
    aclrtMemcpyKind kind = ACL_MEMCPY_DEVICE_TO_HOST, aclrtStream stream = nullptr);
aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData, size_t argsSize,
    aclrtStream stream = nullptr);
aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData, size_t argsSize,
    aclrtLaunchKernelCfg *cfg = nullptr, aclrtStream stream = nullptr);
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream = nullptr);
aclError aclrtSynchronizeStream(aclrtStream stream = nullptr);
aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args = nullptr);
}

#pragma GCC diagnostic pop

namespace acl_overloads {

/* The C functions write an address to a void *; a cast through void * keeps the qualifiers that T has. */
template <typename T> inline void **untyped(T **place) { return static_cast<void **>(static_cast<void *>(place)); }

/* Lists of addresses that the C functions only read. */
template <typename T> inline void **list(T *const *places)
{
    return static_cast<void **>(static_cast<void *>(const_cast<T **>(places)));
}

inline size_t *list(const size_t *sizes) { return const_cast<size_t *>(sizes); }

/* The result type R of calls that name a variable by reference. A pointer is not such a variable: it is an address, as
 * in C. The calls take T &, not const T &, because NULL would bind to the latter. */
template <typename T, typename R = aclError>
using Variable = typename std::enable_if<!std::is_pointer<T>::value &&
    !std::is_same<typename std::remove_cv<T>::type, std::nullptr_t>::value, R>::type;

template <typename T> inline const void *symbol(T &variable)
{
    return const_cast<const void *>(static_cast<const volatile void *>(std::addressof(variable)));
}

} // namespace acl_overloads

/* Addresses of any type. */

template <typename T>
inline aclError aclrtMalloc(T **devPtr, size_t size, aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST)
{
    return aclrtMalloc(acl_overloads::untyped(devPtr), size, policy);
}

template <typename T>
inline aclError aclrtMallocAlign32(T **devPtr, size_t size, aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST)
{
    return aclrtMallocAlign32(acl_overloads::untyped(devPtr), size, policy);
}

template <typename T>
inline aclError aclrtMallocCached(T **devPtr, size_t size, aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST)
{
    return aclrtMallocCached(acl_overloads::untyped(devPtr), size, policy);
}

template <typename T>
inline aclError aclrtMallocWithCfg(T **devPtr, size_t size, aclrtMemMallocPolicy policy,
    aclrtMallocConfig *cfg = nullptr)
{
    return aclrtMallocWithCfg(acl_overloads::untyped(devPtr), size, policy, cfg);
}

template <typename T>
inline aclError aclrtMallocForTaskScheduler(T **devPtr, size_t size, aclrtMemMallocPolicy policy,
    aclrtMallocConfig *cfg = nullptr)
{
    return aclrtMallocForTaskScheduler(acl_overloads::untyped(devPtr), size, policy, cfg);
}

template <typename T> inline aclError aclrtMallocHost(T **hostPtr, size_t size)
{
    return aclrtMallocHost(acl_overloads::untyped(hostPtr), size);
}

template <typename T>
inline aclError aclrtMallocHostWithCfg(T **ptr, uint64_t size, aclrtMallocConfig *cfg = nullptr)
{
    return aclrtMallocHostWithCfg(acl_overloads::untyped(ptr), size, cfg);
}

template <typename T>
inline aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, T **devPtr)
{
    return aclrtHostRegister(ptr, size, type, acl_overloads::untyped(devPtr));
}

template <typename T> inline aclError aclrtHostGetDevicePointer(void *pHost, T **pDevice, uint32_t flag = 0)
{
    return aclrtHostGetDevicePointer(pHost, acl_overloads::untyped(pDevice), flag);
}

template <typename T>
inline aclError aclrtMemAllocManaged(T **ptr, uint64_t size, uint32_t flag = ACL_RT_MEM_ATTACH_GLOBAL)
{
    return aclrtMemAllocManaged(acl_overloads::untyped(ptr), size, flag);
}

template <typename T>
inline aclError aclrtMemPoolMallocAsync(T **ptr, size_t size, aclrtMemPool memPool, aclrtStream stream)
{
    return aclrtMemPoolMallocAsync(acl_overloads::untyped(ptr), size, memPool, stream);
}

template <typename T>
inline aclError aclrtReserveMemAddress(T **virPtr, size_t size, size_t alignment = 0, void *expectPtr = nullptr,
    uint64_t flags = 0)
{
    return aclrtReserveMemAddress(acl_overloads::untyped(virPtr), size, alignment, expectPtr, flags);
}

template <typename T>
inline aclError aclrtReserveMemAddressNoUCMemory(T **virPtr, size_t size, size_t alignment = 0,
    void *expectPtr = nullptr, uint64_t flags = 0)
{
    return aclrtReserveMemAddressNoUCMemory(acl_overloads::untyped(virPtr), size, alignment, expectPtr, flags);
}

template <typename T> inline aclError aclrtMemGetAddressRange(void *ptr, T **pbase, size_t *psize)
{
    return aclrtMemGetAddressRange(ptr, acl_overloads::untyped(pbase), psize);
}

template <typename T> inline aclError aclrtIpcMemImportByKey(T **devPtr, const char *key, uint64_t flags = 0)
{
    return aclrtIpcMemImportByKey(acl_overloads::untyped(devPtr), key, flags);
}

template <typename T>
inline aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char *name, T **dptr, size_t *size)
{
    return aclrtBinaryGetGlobal(binHandle, name, acl_overloads::untyped(dptr), size);
}

template <typename T>
inline aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle,
    size_t dataSize, T **bufferAddr)
{
    return aclrtKernelArgsGetPlaceHolderBuffer(argsHandle, paramHandle, dataSize, acl_overloads::untyped(bufferAddr));
}

/* Streams and events with their flags, waits with a time-out. */

inline aclError aclrtCreateStream(aclrtStream *stream, uint32_t priority, uint32_t flag = 0)
{
    return aclrtCreateStreamWithConfig(stream, priority, flag);
}

inline aclError aclrtCreateEvent(aclrtEvent *event, uint32_t flag) { return aclrtCreateEventWithFlag(event, flag); }

/* timeout in seconds */
inline aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event, int32_t timeout)
{
    return aclrtStreamWaitEventWithTimeout(stream, event, timeout);
}

/* timeout in milliseconds, here and below */
inline aclError aclrtSynchronizeEvent(aclrtEvent event, int32_t timeout)
{
    return aclrtSynchronizeEventWithTimeout(event, timeout);
}

inline aclError aclrtSynchronizeStream(aclrtStream stream, int32_t timeout)
{
    return aclrtSynchronizeStreamWithTimeout(stream, timeout);
}

inline aclError aclrtSynchronizeDevice(int32_t timeout) { return aclrtSynchronizeDeviceWithTimeout(timeout); }

/* timeout in microseconds */
inline aclError aclrtSetOpExecuteTimeOut(uint64_t timeout, uint64_t *actualTimeout)
{
    return aclrtSetOpExecuteTimeOutV2(timeout, actualTimeout);
}

/* Properties of addresses, with results by reference. */

inline aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes &attributes)
{
    return aclrtPointerGetAttributes(ptr, &attributes);
}

template <typename T>
inline aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void *ptr, size_t size, T &data)
{
    return aclrtMemManagedGetAttr(attribute, ptr, size, &data, sizeof data);
}

/* Lists of addresses of any type. */

template <typename T, typename U>
inline aclError aclrtMemcpyBatch(T *const *dsts, const size_t *destMaxs, U *const *srcs, const size_t *sizes,
    size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex = nullptr)
{
    return aclrtMemcpyBatch(acl_overloads::list(dsts), acl_overloads::list(destMaxs), acl_overloads::list(srcs),
        acl_overloads::list(sizes), numBatches, attrs, attrsIndexes, numAttrs, failIndex);
}

template <typename T, typename U>
inline aclError aclrtMemcpyBatchV2(T *const *dsts, const size_t *destMaxs, U *const *srcs, const size_t *sizes,
    size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs)
{
    return aclrtMemcpyBatchV2(acl_overloads::list(dsts), acl_overloads::list(destMaxs), acl_overloads::list(srcs),
        acl_overloads::list(sizes), numBatches, attrs, attrsIndexes, numAttrs);
}

template <typename T, typename U>
inline aclError aclrtMemcpyBatchAsync(T *const *dsts, const size_t *destMaxs, U *const *srcs, const size_t *sizes,
    size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs, size_t *failIndex = nullptr,
    aclrtStream stream = nullptr)
{
    return aclrtMemcpyBatchAsync(acl_overloads::list(dsts), acl_overloads::list(destMaxs), acl_overloads::list(srcs),
        acl_overloads::list(sizes), numBatches, attrs, attrsIndexes, numAttrs, failIndex, stream);
}

template <typename T, typename U>
inline aclError aclrtMemcpyBatchAsyncV2(T *const *dsts, const size_t *destMaxs, U *const *srcs, const size_t *sizes,
    size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes, size_t numAttrs,
    aclrtStream stream = nullptr)
{
    return aclrtMemcpyBatchAsyncV2(acl_overloads::list(dsts), acl_overloads::list(destMaxs), acl_overloads::list(srcs),
        acl_overloads::list(sizes), numBatches, attrs, attrsIndexes, numAttrs, stream);
}

template <typename T>
inline aclError aclrtMemManagedPrefetchBatchAsync(T *const *ptrs, const size_t *sizes, size_t count,
    aclrtMemManagedLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, uint64_t flags = 0,
    aclrtStream stream = nullptr)
{
    return aclrtMemManagedPrefetchBatchAsync(const_cast<const void **>(acl_overloads::list(ptrs)),
        acl_overloads::list(sizes), count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, stream);
}

/* Variables of kernels by reference. */

template <typename T> inline aclError aclrtGetSymbolAddress(const void *symbol, T **devPtr)
{
    return aclrtGetSymbolAddress(symbol, acl_overloads::untyped(devPtr));
}

template <typename T, typename U>
inline acl_overloads::Variable<T> aclrtGetSymbolAddress(T &symbol, U **devPtr)
{
    return aclrtGetSymbolAddress(acl_overloads::symbol(symbol), acl_overloads::untyped(devPtr));
}

template <typename T> inline acl_overloads::Variable<T> aclrtGetSymbolSize(T &symbol, size_t *size)
{
    return aclrtGetSymbolSize(acl_overloads::symbol(symbol), size);
}

template <typename T>
inline acl_overloads::Variable<T> aclrtMemcpyToSymbol(T &symbol, const void *src, size_t count, size_t offset = 0,
    aclrtMemcpyKind kind = ACL_MEMCPY_HOST_TO_DEVICE)
{
    return aclrtMemcpyToSymbol(acl_overloads::symbol(symbol), src, count, offset, kind);
}

template <typename T>
inline acl_overloads::Variable<T> aclrtMemcpyToSymbolAsync(T &symbol, const void *src, size_t count, size_t offset = 0,
    aclrtMemcpyKind kind = ACL_MEMCPY_HOST_TO_DEVICE, aclrtStream stream = nullptr)
{
    return aclrtMemcpyToSymbolAsync(acl_overloads::symbol(symbol), src, count, offset, kind, stream);
}

template <typename T>
inline acl_overloads::Variable<T> aclrtMemcpyFromSymbol(void *dst, size_t dstMax, T &symbol, size_t count,
    size_t offset = 0, aclrtMemcpyKind kind = ACL_MEMCPY_DEVICE_TO_HOST)
{
    return aclrtMemcpyFromSymbol(dst, dstMax, acl_overloads::symbol(symbol), count, offset, kind);
}

template <typename T>
inline acl_overloads::Variable<T> aclrtMemcpyFromSymbolAsync(void *dst, size_t dstMax, T &symbol, size_t count,
    size_t offset = 0, aclrtMemcpyKind kind = ACL_MEMCPY_DEVICE_TO_HOST, aclrtStream stream = nullptr)
{
    return aclrtMemcpyFromSymbolAsync(dst, dstMax, acl_overloads::symbol(symbol), count, offset, kind, stream);
}

#endif

#endif
