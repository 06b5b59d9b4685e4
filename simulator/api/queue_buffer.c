/* Entry points of shared buffers, in both families: acltdt*Buf and, since 8.5, aclrt*Buf. They are documented for
 * programs that run on the device itself, on chips that are their own host (Atlas 200I/500 A2 as a root complex). The
 * simulator treats every P310B as one. On other chips the program runs on the host, and each family refuses the call
 * with its own code, `elsewhere`, after it has checked all arguments that can be checked without a buffer. */
#include "address/memory.h"
#include "queue/queue.h"

#define TDT ACL_ERROR_FEATURE_UNSUPPORTED
#define RT ACL_ERROR_RT_FEATURE_NOT_SUPPORT

/* ---- allocation ---- */

static aclError allocate(void **buf, size_t size, aclError elsewhere)
{
    SIM_ARGUMENT(size != 0 && size <= SIM_QUEUE_BUFFER_MOST, ACL_ERROR_INVALID_PARAM,
                 "size is %zu, expected 1 to 4294967296 (4 GiB)", size);
    SIM_TRY(sim_queue_buffer_supported(elsewhere));
    return sim_queue_buffer_allocate(size, buf);
}

aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf *buf)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    SIM_ARGUMENT(type == ACL_TDT_NORMAL_MEM || type == ACL_TDT_DVPP_MEM, ACL_ERROR_INVALID_PARAM,
                 "type is %u, expected ACL_TDT_NORMAL_MEM (0) or ACL_TDT_DVPP_MEM (1)", type);
    return allocate(buf, size, TDT);
}

aclError aclrtAllocBuf(aclrtMbuf *buf, size_t size)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    return allocate(buf, size, RT);
}

aclError acltdtFreeBuf(acltdtBuf buf)
{
    SIM_ENTER();
    SIM_NOT_NULL(buf);
    SIM_TRY(sim_queue_buffer_supported(TDT));
    return sim_queue_buffer_free(buf);
}

static aclError share(void *buf, void **newBuf, aclError elsewhere)
{
    SIM_NOT_NULL(buf);
    SIM_NOT_NULL(newBuf);
    SIM_TRY(sim_queue_buffer_supported(elsewhere));
    return sim_queue_buffer_share(buf, newBuf);
}

aclError acltdtCopyBufRef(const acltdtBuf buf, acltdtBuf *newBuf)
{
    SIM_ENTER();
    return share(buf, newBuf, TDT);
}

aclError aclrtCopyBufRef(const aclrtMbuf buf, aclrtMbuf *newBuf)
{
    SIM_ENTER();
    return share(buf, newBuf, RT);
}

/* ---- contents ---- */

static aclError get_data(void *buf, void **dataPtr, size_t *size, aclError elsewhere)
{
    SIM_NOT_NULL(buf);
    SIM_NOT_NULL(dataPtr);
    SIM_NOT_NULL(size);
    SIM_TRY(sim_queue_buffer_supported(elsewhere));
    return sim_queue_buffer_data(buf, dataPtr, size);
}

aclError acltdtGetBufData(const acltdtBuf buf, void **dataPtr, size_t *size)
{
    SIM_ENTER();
    return get_data(buf, dataPtr, size, TDT);
}

aclError aclrtGetBufData(const aclrtMbuf buf, void **dataPtr, size_t *size)
{
    SIM_ENTER();
    return get_data(buf, dataPtr, size, RT);
}

static aclError set_length(void *buf, size_t len, aclError elsewhere)
{
    SIM_NOT_NULL(buf);
    SIM_TRY(sim_queue_buffer_supported(elsewhere));
    return sim_queue_buffer_set_length(buf, len);
}

aclError acltdtSetBufDataLen(acltdtBuf buf, size_t len)
{
    SIM_ENTER();
    return set_length(buf, len, TDT);
}

aclError aclrtSetBufDataLen(aclrtMbuf buf, size_t len)
{
    SIM_ENTER();
    return set_length(buf, len, RT);
}

static aclError get_length(void *buf, size_t *len, aclError elsewhere)
{
    SIM_NOT_NULL(buf);
    SIM_NOT_NULL(len);
    SIM_TRY(sim_queue_buffer_supported(elsewhere));
    return sim_queue_buffer_length(buf, len);
}

aclError acltdtGetBufDataLen(acltdtBuf buf, size_t *len)
{
    SIM_ENTER();
    return get_length(buf, len, TDT);
}

aclError aclrtGetBufDataLen(aclrtMbuf buf, size_t *len)
{
    SIM_ENTER();
    return get_length(buf, len, RT);
}

static aclError move_private(void *buf, const void *dataPtr, size_t size, size_t offset, bool write, aclError elsewhere)
{
    SIM_NOT_NULL(buf);
    SIM_NOT_NULL(dataPtr);
    SIM_ARGUMENT(size <= SIM_QUEUE_PRIVATE && offset <= SIM_QUEUE_PRIVATE - size, ACL_ERROR_INVALID_PARAM,
                 "size is %zu and offset %zu, expected a sum of at most %d, the size of the private area", size, offset,
                 SIM_QUEUE_PRIVATE);
    SIM_ARGUMENT(sim_memory_is_host(dataPtr), ACL_ERROR_INVALID_PARAM,
                 "dataPtr is %p, which is device memory, expected host memory", dataPtr);
    SIM_TRY(sim_queue_buffer_supported(elsewhere));
    return sim_queue_buffer_private(buf, (void *)(uintptr_t)dataPtr, size, offset, write);
}

aclError acltdtGetBufUserData(const acltdtBuf buf, void *dataPtr, size_t size, size_t offset)
{
    SIM_ENTER();
    return move_private(buf, dataPtr, size, offset, false, TDT);
}

aclError aclrtGetBufUserData(const aclrtMbuf buf, void *dataPtr, size_t size, size_t offset)
{
    SIM_ENTER();
    return move_private(buf, dataPtr, size, offset, false, RT);
}

aclError acltdtSetBufUserData(acltdtBuf buf, const void *dataPtr, size_t size, size_t offset)
{
    SIM_ENTER();
    return move_private(buf, dataPtr, size, offset, true, TDT);
}

aclError aclrtSetBufUserData(aclrtMbuf buf, const void *dataPtr, size_t size, size_t offset)
{
    SIM_ENTER();
    return move_private(buf, dataPtr, size, offset, true, RT);
}

/* ---- chains ---- */

static aclError append(void *headBuf, void *buf, aclError elsewhere)
{
    SIM_NOT_NULL(headBuf);
    SIM_NOT_NULL(buf);
    SIM_TRY(sim_queue_buffer_supported(elsewhere));
    return sim_queue_buffer_append(headBuf, buf);
}

aclError acltdtAppendBufChain(acltdtBuf headBuf, acltdtBuf buf)
{
    SIM_ENTER();
    return append(headBuf, buf, TDT);
}

aclError aclrtAppendBufChain(aclrtMbuf headBuf, aclrtMbuf buf)
{
    SIM_ENTER();
    return append(headBuf, buf, RT);
}

static aclError count_chain(void *headBuf, uint32_t *num, aclError elsewhere)
{
    SIM_NOT_NULL(headBuf);
    SIM_NOT_NULL(num);
    SIM_TRY(sim_queue_buffer_supported(elsewhere));
    return sim_queue_buffer_chain(headBuf, num);
}

aclError acltdtGetBufChainNum(acltdtBuf headBuf, uint32_t *num)
{
    SIM_ENTER();
    return count_chain(headBuf, num, TDT);
}

aclError aclrtGetBufChainNum(aclrtMbuf headBuf, uint32_t *num)
{
    SIM_ENTER();
    return count_chain(headBuf, num, RT);
}

static aclError get_member(void *headBuf, uint32_t index, void **buf, aclError elsewhere)
{
    SIM_NOT_NULL(headBuf);
    SIM_NOT_NULL(buf);
    SIM_TRY(sim_queue_buffer_supported(elsewhere));
    return sim_queue_buffer_member(headBuf, index, buf);
}

aclError acltdtGetBufFromChain(acltdtBuf headBuf, uint32_t index, acltdtBuf *buf)
{
    SIM_ENTER();
    return get_member(headBuf, index, buf, TDT);
}

aclError aclrtGetBufFromChain(aclrtMbuf headBuf, uint32_t index, aclrtMbuf *buf)
{
    SIM_ENTER();
    return get_member(headBuf, index, buf, RT);
}

/* ---- through queues ---- */

static aclError check_passage(uint32_t qid, const void *buf)
{
    SIM_NOT_NULL(buf);
    SIM_TRY(sim_queue_buffer_supported(TDT));
    return sim_queue_check(qid, "qid");
}

aclError acltdtEnqueue(uint32_t qid, acltdtBuf buf, int32_t timeout)
{
    SIM_ENTER();
    SIM_TRY(check_passage(qid, buf));
    return sim_queue_buffer_put(qid, buf, timeout);
}

aclError acltdtDequeue(uint32_t qid, acltdtBuf *buf, int32_t timeout)
{
    SIM_ENTER();
    SIM_TRY(check_passage(qid, buf));
    return sim_queue_buffer_take(qid, buf, timeout);
}
