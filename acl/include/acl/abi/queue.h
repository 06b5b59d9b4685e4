/* Queues of shared buffers between threads, processes and models, and the buffers. */

#define ACL_TDT_QUEUE_PERMISSION_MANAGE 1
#define ACL_TDT_QUEUE_PERMISSION_DEQUEUE 2
#define ACL_TDT_QUEUE_PERMISSION_ENQUEUE 4
#define ACL_TDT_QUEUE_ROUTE_UNBIND 0
#define ACL_TDT_QUEUE_ROUTE_BIND 1
#define ACL_TDT_QUEUE_ROUTE_BIND_ABNORMAL 2

typedef void *acltdtBuf;
typedef struct tagMemQueueAttr acltdtQueueAttr;
typedef struct acltdtQueueRouteList acltdtQueueRouteList;
typedef struct acltdtQueueRouteQueryInfo acltdtQueueRouteQueryInfo;
typedef struct acltdtQueueRoute acltdtQueueRoute;

typedef enum acltdtQueueAttrType {
    ACL_TDT_QUEUE_NAME_PTR = 0,
    ACL_TDT_QUEUE_DEPTH_UINT32 = 1,
} acltdtQueueAttrType;

typedef enum acltdtQueueRouteParamType {
    ACL_TDT_QUEUE_ROUTE_SRC_UINT32 = 0,
    ACL_TDT_QUEUE_ROUTE_DST_UINT32 = 1,
    ACL_TDT_QUEUE_ROUTE_STATUS_INT32 = 2,
} acltdtQueueRouteParamType;

typedef enum acltdtQueueRouteQueryMode {
    ACL_TDT_QUEUE_ROUTE_QUERY_SRC = 0,
    ACL_TDT_QUEUE_ROUTE_QUERY_DST = 1,
    ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST = 2,
    ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL = 100,
} acltdtQueueRouteQueryMode;

typedef enum acltdtQueueRouteQueryInfoParamType {
    ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM = 0,
    ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32 = 1,
    ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32 = 2,
} acltdtQueueRouteQueryInfoParamType;

typedef enum acltdtAllocBufType {
    ACL_TDT_NORMAL_MEM = 0,
    ACL_TDT_DVPP_MEM = 1,
} acltdtAllocBufType;

/** Create queue attributes with default values. */
ACL_API(8, 1) acltdtQueueAttr *acltdtCreateQueueAttr(void);

/** Destroy queue attributes. */
ACL_API(8, 1) aclError acltdtDestroyQueueAttr(const acltdtQueueAttr *attr);

/** Set one queue attribute. */
ACL_API(8, 1) aclError acltdtSetQueueAttr(acltdtQueueAttr *attr, acltdtQueueAttrType type, size_t len,
    const void *param);

/** Read one queue attribute. */
ACL_API(8, 1) aclError acltdtGetQueueAttr(const acltdtQueueAttr *attr, acltdtQueueAttrType type, size_t len,
    size_t *paramRetSize, void *param);

/** Create a queue. */
ACL_API(8, 1) aclError acltdtCreateQueue(const acltdtQueueAttr *attr, uint32_t *qid);

/** Destroy a queue. */
ACL_API(8, 1) aclError acltdtDestroyQueue(uint32_t qid);

/** Put a shared buffer into a queue, waiting at most timeout milliseconds (-1: for ever). */
ACL_API(8, 1) aclError acltdtEnqueue(uint32_t qid, acltdtBuf buf, int32_t timeout);

/** Take a shared buffer out of a queue, waiting at most timeout milliseconds (-1: for ever). */
ACL_API(8, 1) aclError acltdtDequeue(uint32_t qid, acltdtBuf *buf, int32_t timeout);

/** Copy data into a queue, waiting at most timeout milliseconds. */
ACL_API(8, 1) aclError acltdtEnqueueData(uint32_t qid, const void *data, size_t dataSize, const void *userData,
    size_t userDataSize, int32_t timeout, uint32_t rsv);

/** Copy data out of a queue, waiting at most timeout milliseconds. */
ACL_API(8, 1) aclError acltdtDequeueData(uint32_t qid, void *data, size_t dataSize, size_t *retDataSize, void *userData,
    size_t userDataSize, int32_t timeout);

/** Grant a process rights on a queue. */
ACL_API(8, 1) aclError acltdtGrantQueue(uint32_t qid, int32_t pid, uint32_t permission, int32_t timeout);

/** Accept the rights that were granted on a queue. */
ACL_API(8, 1) aclError acltdtAttachQueue(uint32_t qid, int32_t timeout, uint32_t *permission);

/** Describe a route from one queue to another. */
ACL_API(8, 1) acltdtQueueRoute *acltdtCreateQueueRoute(uint32_t srcId, uint32_t dstId);

/** Destroy the description of a route. */
ACL_API(8, 1) aclError acltdtDestroyQueueRoute(const acltdtQueueRoute *route);

/** Read one parameter of a route. */
ACL_API(8, 1) aclError acltdtGetQueueRouteParam(const acltdtQueueRoute *route, acltdtQueueRouteParamType type,
    size_t len, size_t *paramRetSize, void *param);

/** Create an empty list of routes. */
ACL_API(8, 1) acltdtQueueRouteList *acltdtCreateQueueRouteList(void);

/** Destroy a list of routes. */
ACL_API(8, 1) aclError acltdtDestroyQueueRouteList(const acltdtQueueRouteList *routeList);

/** Append a route to a list. */
ACL_API(8, 1) aclError acltdtAddQueueRoute(acltdtQueueRouteList *routeList, const acltdtQueueRoute *route);

/** Copy the route at an index of a list. */
ACL_API(8, 1) aclError acltdtGetQueueRoute(const acltdtQueueRouteList *routeList, size_t index,
    acltdtQueueRoute *route);

/** Number of routes in a list. */
ACL_API(8, 1) size_t acltdtGetQueueRouteNum(const acltdtQueueRouteList *routeList);

/** Bind the routes of a list. */
ACL_API(8, 1) aclError acltdtBindQueueRoutes(acltdtQueueRouteList *qRouteList);

/** Unbind the routes of a list. */
ACL_API(8, 1) aclError acltdtUnbindQueueRoutes(acltdtQueueRouteList *qRouteList);

/** Find the bound routes that match a query. */
ACL_API(8, 1) aclError acltdtQueryQueueRoutes(const acltdtQueueRouteQueryInfo *queryInfo,
    acltdtQueueRouteList *qRouteList);

/** Create an empty query of routes. */
ACL_API(8, 1) acltdtQueueRouteQueryInfo *acltdtCreateQueueRouteQueryInfo(void);

/** Destroy a query of routes. */
ACL_API(8, 1) aclError acltdtDestroyQueueRouteQueryInfo(const acltdtQueueRouteQueryInfo *info);

/** Set one parameter of a query of routes. */
ACL_API(8, 1) aclError acltdtSetQueueRouteQueryInfo(acltdtQueueRouteQueryInfo *param,
    acltdtQueueRouteQueryInfoParamType type, size_t len, const void *value);

/** Allocate a shared buffer. */
ACL_API(8, 1) aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf *buf);

/** Free a shared buffer. */
ACL_API(8, 1) aclError acltdtFreeBuf(acltdtBuf buf);

/** Address and size of a shared buffer. */
ACL_API(8, 1) aclError acltdtGetBufData(const acltdtBuf buf, void **dataPtr, size_t *size);

/** Set how many bytes of a shared buffer are valid. */
ACL_API(8, 1) aclError acltdtSetBufDataLen(acltdtBuf buf, size_t len);

/** How many bytes of a shared buffer are valid. */
ACL_API(8, 1) aclError acltdtGetBufDataLen(acltdtBuf buf, size_t *len);

/** Read from the private area of a shared buffer. */
ACL_API(8, 1) aclError acltdtGetBufUserData(const acltdtBuf buf, void *dataPtr, size_t size, size_t offset);

/** Write to the private area of a shared buffer. */
ACL_API(8, 1) aclError acltdtSetBufUserData(acltdtBuf buf, const void *dataPtr, size_t size, size_t offset);

/** Make another reference to the same shared buffer. */
ACL_API(8, 1) aclError acltdtCopyBufRef(const acltdtBuf buf, acltdtBuf *newBuf);

/** Append a shared buffer to a chain. */
ACL_API(8, 1) aclError acltdtAppendBufChain(acltdtBuf headBuf, acltdtBuf buf);

/** Number of shared buffers in a chain. */
ACL_API(8, 1) aclError acltdtGetBufChainNum(acltdtBuf headBuf, uint32_t *num);

/** The shared buffer at an index of a chain. */
ACL_API(8, 1) aclError acltdtGetBufFromChain(acltdtBuf headBuf, uint32_t index, acltdtBuf *buf);

/** Allocate a shared buffer. */
ACL_API(8, 5) aclError aclrtAllocBuf(aclrtMbuf *buf, size_t size);

/** Address and size of a shared buffer. */
ACL_API(8, 5) aclError aclrtGetBufData(const aclrtMbuf buf, void **dataPtr, size_t *size);

/** Set how many bytes of a shared buffer are valid. */
ACL_API(8, 5) aclError aclrtSetBufDataLen(aclrtMbuf buf, size_t len);

/** How many bytes of a shared buffer are valid. */
ACL_API(8, 5) aclError aclrtGetBufDataLen(aclrtMbuf buf, size_t *len);

/** Read from the private area of a shared buffer. */
ACL_API(8, 5) aclError aclrtGetBufUserData(const aclrtMbuf buf, void *dataPtr, size_t size, size_t offset);

/** Write to the private area of a shared buffer. */
ACL_API(8, 5) aclError aclrtSetBufUserData(aclrtMbuf buf, const void *dataPtr, size_t size, size_t offset);

/** Make another reference to the same shared buffer. */
ACL_API(8, 5) aclError aclrtCopyBufRef(const aclrtMbuf buf, aclrtMbuf *newBuf);

/** Append a shared buffer to a chain. */
ACL_API(8, 5) aclError aclrtAppendBufChain(aclrtMbuf headBuf, aclrtMbuf buf);

/** Number of shared buffers in a chain. */
ACL_API(8, 5) aclError aclrtGetBufChainNum(aclrtMbuf headBuf, uint32_t *num);

/** The shared buffer at an index of a chain. */
ACL_API(8, 5) aclError aclrtGetBufFromChain(aclrtMbuf headBuf, uint32_t index, aclrtMbuf *buf);
