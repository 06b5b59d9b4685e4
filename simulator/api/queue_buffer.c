/* Entry points of shared buffers, in both families: acltdt*Buf and, since 8.5, aclrt*Buf. They are documented for
 * programs that run on the device itself, on chips that are their own host (Atlas 200I/500 A2 as a root complex), which
 * the simulator takes every P310B for. Elsewhere the process is on the host: acltdt* answers 200006, aclrt* 207000. */
#include "queue.h"

#define TDT_SUPPORTED() SIM_TRY(sim_queue_buffer_supported(ACL_ERROR_FEATURE_UNSUPPORTED))
#define RT_SUPPORTED() SIM_TRY(sim_queue_buffer_supported(ACL_ERROR_RT_FEATURE_NOT_SUPPORT))

/* ---- life ---- */

static aclError allocate(void **buf, size_t size)
{
    SIM_ARGUMENT(size != 0 && size <= SIM_QUEUE_BUFFER_MOST, ACL_ERROR_INVALID_PARAM,
                 "size is %zu, expected 1 to 4294967296 (4 GiB)", size);
    return sim_queue_buffer_allocate(size, buf);
}

aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf *buf)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    TDT_SUPPORTED();
    SIM_ARGUMENT(type == ACL_TDT_NORMAL_MEM || type == ACL_TDT_DVPP_MEM, ACL_ERROR_INVALID_PARAM,
                 "type is %u, expected ACL_TDT_NORMAL_MEM (0) or ACL_TDT_DVPP_MEM (1)", type);
    return allocate(buf, size);
}

aclError aclrtAllocBuf(aclrtMbuf *buf, size_t size)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    RT_SUPPORTED();
    return allocate(buf, size);
}

aclError acltdtFreeBuf(acltdtBuf buf)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    TDT_SUPPORTED();
    return sim_queue_buffer_free(buf);
}

aclError acltdtCopyBufRef(const acltdtBuf buf, acltdtBuf *newBuf)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    SIM_NOT_NULL(newBuf);
    TDT_SUPPORTED();
    return sim_queue_buffer_share(buf, newBuf);
}

aclError aclrtCopyBufRef(const aclrtMbuf buf, aclrtMbuf *newBuf)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    SIM_NOT_NULL(newBuf);
    RT_SUPPORTED();
    return sim_queue_buffer_share(buf, newBuf);
}

/* ---- contents ---- */

aclError acltdtGetBufData(const acltdtBuf buf, void **dataPtr, size_t *size)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    SIM_NOT_NULL(dataPtr);
    SIM_NOT_NULL(size);
    TDT_SUPPORTED();
    return sim_queue_buffer_data(buf, dataPtr, size);
}

aclError aclrtGetBufData(const aclrtMbuf buf, void **dataPtr, size_t *size)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    SIM_NOT_NULL(dataPtr);
    SIM_NOT_NULL(size);
    RT_SUPPORTED();
    return sim_queue_buffer_data(buf, dataPtr, size);
}

aclError acltdtSetBufDataLen(acltdtBuf buf, size_t len)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    TDT_SUPPORTED();
    return sim_queue_buffer_set_length(buf, len);
}

aclError aclrtSetBufDataLen(aclrtMbuf buf, size_t len)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    RT_SUPPORTED();
    return sim_queue_buffer_set_length(buf, len);
}

aclError acltdtGetBufDataLen(acltdtBuf buf, size_t *len)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    SIM_NOT_NULL(len);
    TDT_SUPPORTED();
    return sim_queue_buffer_length(buf, len);
}

aclError aclrtGetBufDataLen(aclrtMbuf buf, size_t *len)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    SIM_NOT_NULL(len);
    RT_SUPPORTED();
    return sim_queue_buffer_length(buf, len);
}

aclError acltdtGetBufUserData(const acltdtBuf buf, void *dataPtr, size_t size, size_t offset)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    SIM_NOT_NULL(dataPtr);
    TDT_SUPPORTED();
    return sim_queue_buffer_private(buf, dataPtr, size, offset, false);
}

aclError aclrtGetBufUserData(const aclrtMbuf buf, void *dataPtr, size_t size, size_t offset)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    SIM_NOT_NULL(dataPtr);
    RT_SUPPORTED();
    return sim_queue_buffer_private(buf, dataPtr, size, offset, false);
}

aclError acltdtSetBufUserData(acltdtBuf buf, const void *dataPtr, size_t size, size_t offset)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    SIM_NOT_NULL(dataPtr);
    TDT_SUPPORTED();
    return sim_queue_buffer_private(buf, (void *)(uintptr_t)dataPtr, size, offset, true);
}

aclError aclrtSetBufUserData(aclrtMbuf buf, const void *dataPtr, size_t size, size_t offset)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    SIM_NOT_NULL(dataPtr);
    RT_SUPPORTED();
    return sim_queue_buffer_private(buf, (void *)(uintptr_t)dataPtr, size, offset, true);
}

/* ---- chains ---- */

aclError acltdtAppendBufChain(acltdtBuf headBuf, acltdtBuf buf)
{
    SIM_ENTER();
    SIM_NOT_NULL(headBuf);
    SIM_NOT_NULL(buf);
    TDT_SUPPORTED();
    return sim_queue_buffer_append(headBuf, buf);
}

aclError aclrtAppendBufChain(aclrtMbuf headBuf, aclrtMbuf buf)
{
    SIM_ENTER();
    SIM_NOT_NULL(headBuf);
    SIM_NOT_NULL(buf);
    RT_SUPPORTED();
    return sim_queue_buffer_append(headBuf, buf);
}

aclError acltdtGetBufChainNum(acltdtBuf headBuf, uint32_t *num)
{
    SIM_ENTER();
    SIM_NOT_NULL(headBuf);
    SIM_NOT_NULL(num);
    TDT_SUPPORTED();
    return sim_queue_buffer_chain(headBuf, num);
}

aclError aclrtGetBufChainNum(aclrtMbuf headBuf, uint32_t *num)
{
    SIM_ENTER();
    SIM_NOT_NULL(headBuf);
    SIM_NOT_NULL(num);
    RT_SUPPORTED();
    return sim_queue_buffer_chain(headBuf, num);
}

aclError acltdtGetBufFromChain(acltdtBuf headBuf, uint32_t index, acltdtBuf *buf)
{
    SIM_ENTER();
    SIM_NOT_NULL(headBuf);
    SIM_NOT_NULL(buf);
    TDT_SUPPORTED();
    return sim_queue_buffer_member(headBuf, index, buf);
}

aclError aclrtGetBufFromChain(aclrtMbuf headBuf, uint32_t index, aclrtMbuf *buf)
{
    SIM_ENTER();
    SIM_NOT_NULL(headBuf);
    SIM_NOT_NULL(buf);
    RT_SUPPORTED();
    return sim_queue_buffer_member(headBuf, index, buf);
}

/* ---- through queues ---- */

aclError acltdtEnqueue(uint32_t qid, acltdtBuf buf, int32_t timeout)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    TDT_SUPPORTED();
    SIM_TRY(sim_queue_check(qid, "qid"));
    return sim_queue_buffer_put(qid, buf, timeout);
}

aclError acltdtDequeue(uint32_t qid, acltdtBuf *buf, int32_t timeout)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    TDT_SUPPORTED();
    SIM_TRY(sim_queue_check(qid, "qid"));
    return sim_queue_buffer_take(qid, buf, timeout);
}
