/* Marks and ranges for tools, libms_tools_ext.so: they become part of the profiling trace. */

#define MSTX_SUCCESS 0
#define MSTX_FAIL 1
#define MSTX_TOOL_INVALID_ID 0x0
#define MSTX_TOOL_MSPROF_ID 0x1000

typedef uint64_t mstxRangeId;
typedef struct mstxDomainRegistration_st mstxDomainRegistration_t;
typedef mstxDomainRegistration_t *mstxDomainHandle_t;

/** Mark this moment and, if a stream is given, this point of the stream. */
ACL_API(8, 1) void mstxMarkA(const char *message, aclrtStream stream);
/** Begin a range that any thread may end; 0 if nothing is being collected. */
ACL_API(8, 1) mstxRangeId mstxRangeStartA(const char *message, aclrtStream stream);
/** End a range. */
ACL_API(8, 1) void mstxRangeEnd(mstxRangeId id);
/** Return the domain of a name; it exists as long as the process. */
ACL_API(8, 1) mstxDomainHandle_t mstxDomainCreateA(const char *name);
/** Release a domain. */
ACL_API(8, 1) void mstxDomainDestroy(mstxDomainHandle_t domain);
/** Mark this moment in a domain. */
ACL_API(8, 1) void mstxDomainMarkA(mstxDomainHandle_t domain, const char *message, aclrtStream stream);
/** Begin a range in a domain; 0 if nothing is being collected. */
ACL_API(8, 1) mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char *message, aclrtStream stream);
/** End a range of a domain. */
ACL_API(8, 1) void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id);
/** Return the id of the tool that collects: the profiler while it collects marks, otherwise none. */
ACL_API(8, 1) void mstxGetToolId(uint64_t *id);
