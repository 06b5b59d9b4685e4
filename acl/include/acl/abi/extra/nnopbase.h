/* What frameworks ask of libnnopbase.so before they call an operator: the executor of an equal call, by a key. */

ACL_API(8, 1) bool CanUsePTACache(const char *api);
ACL_API(8, 1) void InitPTACacheThreadLocal(void);
ACL_API(8, 1) void UnInitPTACacheThreadLocal(void);
ACL_API(8, 1) void AddTensorAddrToCachedList(void *addr);
ACL_API(8, 1) void SetPTAHashKey(uint64_t hash);
ACL_API(8, 1) void SetPTACacheHashKey(uint8_t *key, size_t len);
ACL_API(8, 1) aclOpExecutor *PTAGetExecCache(uint64_t hash, uint64_t *workspaceSize);
ACL_API(8, 1) aclOpExecutor *PTAFindExecCache(uint8_t *key, size_t len, uint64_t *workspaceSize);
