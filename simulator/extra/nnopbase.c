/* Executors that a framework asks for by a key (operator/plan_cache.h). */
#include "base/fail.h"
#include "operator/plan_cache.h"
#include <acl/abi/extra/nnopbase.h>

bool CanUsePTACache(const char *api)
{
    SIM_ENTER();
    return api != NULL && sim_plan_cache_serves(api);
}

void InitPTACacheThreadLocal(void)
{
    SIM_ENTER();
    sim_plan_cache_begin();
}

void UnInitPTACacheThreadLocal(void)
{
    SIM_ENTER();
    sim_plan_cache_begin();
}

void AddTensorAddrToCachedList(void *addr)
{
    SIM_ENTER();
    sim_plan_cache_add_address(addr);
}

void SetPTAHashKey(uint64_t hash)
{
    SIM_ENTER();
    sim_plan_cache_set_key(sim_plan_cache_number(hash));
}

void SetPTACacheHashKey(uint8_t *key, size_t len)
{
    SIM_ENTER();
    sim_plan_cache_set_key(sim_plan_cache_key(key, len));
}

aclOpExecutor *PTAGetExecCache(uint64_t hash, uint64_t *workspaceSize)
{
    SIM_ENTER();
    return workspaceSize != NULL ? sim_plan_cache_find(sim_plan_cache_number(hash), workspaceSize) : NULL;
}

aclOpExecutor *PTAFindExecCache(uint8_t *key, size_t len, uint64_t *workspaceSize)
{
    SIM_ENTER();
    return workspaceSize != NULL ? sim_plan_cache_find(sim_plan_cache_key(key, len), workspaceSize) : NULL;
}
