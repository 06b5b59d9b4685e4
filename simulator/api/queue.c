/* Entry points of queues and their attributes. Ids are those of the current device: like the vendor's functions, these
 * need aclrtSetDevice first. Choices where the documents are silent:
 *
 * - Queues between processes are documented for no product: granting and attaching return 200006.
 * - A queue that does not exist gives 100032, because of the name of that code.
 * - An entry that does not fit into the caller's memory stays in the queue, and its size is returned. */
#include "address/memory.h"
#include "engine/context.h"
#include "engine/device.h"
#include "queue/queue.h"
#include <string.h>

#define DEPTH_DEFAULT 8
#define DEPTH_LEAST 2

/* ---- attributes ---- */

acltdtQueueAttr *acltdtCreateQueueAttr(void)
{
    SIM_ENTER();
    return sim_queue_object_create(SIM_QUEUE_ATTR);
}

aclError acltdtDestroyQueueAttr(const acltdtQueueAttr *attr)
{
    SIM_ENTER();
    void *found = sim_queue_object_open(SIM_QUEUE_ATTR, attr, "attr");
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    sim_queue_object_destroy(SIM_QUEUE_ATTR, found);
    return ACL_SUCCESS;
}

static size_t size_of(acltdtQueueAttrType type)
{
    return type == ACL_TDT_QUEUE_NAME_PTR ? sizeof(char *) : sizeof(uint32_t);
}

static aclError check_type(acltdtQueueAttrType type)
{
    SIM_ARGUMENT(type == ACL_TDT_QUEUE_NAME_PTR || type == ACL_TDT_QUEUE_DEPTH_UINT32, ACL_ERROR_INVALID_PARAM,
                 "type is %d, expected ACL_TDT_QUEUE_NAME_PTR (0) or ACL_TDT_QUEUE_DEPTH_UINT32 (1)", (int)type);
    return ACL_SUCCESS;
}

/* The type of the attribute decides what param points to: here the address of a text, for the depth a number. */
static aclError read_name(const void *param, const char **name)
{
    memcpy(name, param, sizeof *name);
    SIM_ARGUMENT(*name != NULL && sim_memory_is_host(*name), ACL_ERROR_INVALID_PARAM,
                 "param points to the address %p, expected the address of a string in host memory",
                 (const void *)*name);
    SIM_ARGUMENT(strnlen(*name, SIM_QUEUE_NAME) < SIM_QUEUE_NAME, ACL_ERROR_INVALID_PARAM,
                 "the name has more than %d characters", SIM_QUEUE_NAME - 1);
    return ACL_SUCCESS;
}

aclError acltdtSetQueueAttr(acltdtQueueAttr *attr, acltdtQueueAttrType type, size_t len, const void *param)
{
    SIM_ENTER();
    const char *name = "";
    SIM_NOT_NULL(attr);
    SIM_NOT_NULL(param);
    SIM_TRY(check_type(type));
    SIM_ARGUMENT(len == size_of(type), ACL_ERROR_INVALID_PARAM, "len is %zu, expected %zu", len, size_of(type));
    SIM_ARGUMENT(sim_memory_is_host(param), ACL_ERROR_INVALID_PARAM,
                 "param is %p, which is device memory, expected host memory", param);
    if (type == ACL_TDT_QUEUE_NAME_PTR)
        SIM_TRY(read_name(param, &name));
    struct sim_queue_attr *found = sim_queue_object_open(SIM_QUEUE_ATTR, attr, "attr");
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    if (type == ACL_TDT_QUEUE_NAME_PTR) {
        strcpy(found->at_name, name);
    } else {
        memcpy(&found->at_depth, param, sizeof found->at_depth);
        found->at_depth_set = true;
    }
    sim_object_close(found);
    return ACL_SUCCESS;
}

static uint32_t depth_of(const struct sim_queue_attr *attr)
{
    return attr->at_depth_set ? attr->at_depth : DEPTH_DEFAULT;
}

aclError acltdtGetQueueAttr(const acltdtQueueAttr *attr, acltdtQueueAttrType type, size_t len, size_t *paramRetSize,
                            void *param)
{
    SIM_ENTER();
    SIM_NOT_NULL(attr);
    SIM_NOT_NULL(paramRetSize);
    SIM_NOT_NULL(param);
    SIM_TRY(check_type(type));
    SIM_ARGUMENT(len >= size_of(type), ACL_ERROR_INVALID_PARAM, "len is %zu, expected %zu", len, size_of(type));
    SIM_ARGUMENT(sim_memory_is_host(param), ACL_ERROR_INVALID_PARAM,
                 "param is %p, which is device memory, expected host memory", param);
    struct sim_queue_attr *found = sim_queue_object_open(SIM_QUEUE_ATTR, attr, "attr");
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    const char *name = found->at_name;
    uint32_t depth = depth_of(found);
    memcpy(param, type == ACL_TDT_QUEUE_NAME_PTR ? (const void *)&name : &depth, size_of(type));
    *paramRetSize = size_of(type);
    sim_object_close(found);
    return ACL_SUCCESS;
}

/* ---- queues ---- */

aclError acltdtCreateQueue(const acltdtQueueAttr *attr, uint32_t *qid)
{
    SIM_ENTER();
    struct sim_context *context;
    uint32_t depth = DEPTH_DEFAULT;
    SIM_NOT_NULL(qid);
    if (attr != NULL) {
        struct sim_queue_attr *found = sim_queue_object_open(SIM_QUEUE_ATTR, attr, "attr");
        if (found == NULL)
            return ACL_ERROR_INVALID_PARAM;
        depth = depth_of(found);
        sim_object_close(found);
    }
    SIM_CHECK(depth >= DEPTH_LEAST, ACL_ERROR_RT_PARAM_INVALID, "the depth of attr is %u, expected at least %d", depth,
              DEPTH_LEAST);
    SIM_TRY(sim_context_current(&context));
    return sim_queue_create(&sim_queue_buffers, context->cx_device->dv_id, depth, qid);
}

aclError acltdtDestroyQueue(uint32_t qid)
{
    SIM_ENTER();
    SIM_TRY(sim_queue_check(qid, "qid"));
    return sim_queue_outcome(sim_queue_destroy(qid, &sim_queue_buffers) ? SIM_PASSED : SIM_PASSAGE_GONE, qid, 0, false);
}

/* The queue is not looked up: the code is the same for every id. */
static aclError refuse_processes(uint32_t qid)
{
    return sim_refuse(ACL_ERROR_FEATURE_UNSUPPORTED,
                      "qid is %u, but sharing queues with other processes is not supported", qid);
}

aclError acltdtGrantQueue(uint32_t qid, int32_t pid, uint32_t permission, int32_t timeout)
{
    SIM_ENTER();
    (void)pid;
    (void)permission;
    (void)timeout;
    return refuse_processes(qid);
}

aclError acltdtAttachQueue(uint32_t qid, int32_t timeout, uint32_t *permission)
{
    SIM_ENTER();
    (void)timeout;
    SIM_NOT_NULL(permission);
    return refuse_processes(qid);
}

/* ---- enqueueing and dequeueing ---- */

aclError acltdtEnqueueData(uint32_t qid, const void *data, size_t dataSize, const void *userData, size_t userDataSize,
                           int32_t timeout, uint32_t rsv)
{
    SIM_ENTER();
    SIM_NOT_NULL(data);
    SIM_ARGUMENT(dataSize != 0, ACL_ERROR_INVALID_PARAM, "dataSize is 0, expected the size of data in bytes");
    SIM_ARGUMENT(rsv == 0, ACL_ERROR_INVALID_PARAM, "rsv is %u, expected 0", rsv);
    SIM_TRY(sim_queue_check(qid, "qid"));
    struct sim_queue_bytes bytes = {(void *)(uintptr_t)data, (void *)(uintptr_t)userData, dataSize, userDataSize};
    return sim_queue_buffer_put_bytes(qid, &bytes, timeout);
}

aclError acltdtDequeueData(uint32_t qid, void *data, size_t dataSize, size_t *retDataSize, void *userData,
                           size_t userDataSize, int32_t timeout)
{
    SIM_ENTER();
    SIM_NOT_NULL(data);
    SIM_NOT_NULL(retDataSize);
    SIM_ARGUMENT(dataSize != 0, ACL_ERROR_INVALID_PARAM, "dataSize is 0, expected the size of the buffer at data in "
                 "bytes");
    SIM_TRY(sim_queue_check(qid, "qid"));
    struct sim_queue_bytes bytes = {data, userData, dataSize, userDataSize};
    return sim_queue_buffer_take_bytes(qid, &bytes, retDataSize, timeout);
}
