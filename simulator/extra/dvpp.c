/* Memory functions of the media library (DVPP). They allocate ordinary device memory; media processing itself is not
 * simulated. */
#include "base/fail.h"
#include <acl/ops/acl_dvpp.h>

aclError acldvppMalloc(void **devPtr, size_t size)
{
    SIM_ENTER();
    SIM_NOT_NULL(devPtr);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected at least 1");
    return aclrtMalloc(devPtr, size, ACL_MEM_MALLOC_HUGE_FIRST);
}

aclError acldvppMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg)
{
    SIM_ENTER();
    SIM_NOT_NULL(devPtr);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected at least 1");
    return aclrtMallocWithCfg(devPtr, size, policy, cfg);
}

aclError acldvppFree(void *devPtr)
{
    SIM_ENTER();
    SIM_NOT_NULL(devPtr);
    return aclrtFree(devPtr);
}
