/* Entry points of groups of cores. Only programs that run on the device's own processor can choose a group. Simulated
 * programs run on the host, so every function refuses the call, on every chip. */
#include "base/config.h"

static aclError refuse(void)
{
    return sim_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                      "a program on the host of the %s cannot use groups, expected a program that runs on the device's "
                      "processor",
                      sim_config()->cf_soc->so_name);
}

aclError aclrtSetGroup(int32_t groupId)
{
    SIM_ENTER();
    (void)groupId;
    return refuse();
}

aclError aclrtGetGroupCount(uint32_t *count)
{
    SIM_ENTER();
    SIM_NOT_NULL(count);
    return refuse();
}

aclrtGroupInfo *aclrtCreateGroupInfo(void)
{
    SIM_ENTER();
    refuse();
    return NULL;
}

aclError aclrtDestroyGroupInfo(aclrtGroupInfo *groupInfo)
{
    SIM_ENTER();
    SIM_NOT_NULL(groupInfo);
    return refuse();
}

aclError aclrtGetAllGroupInfo(aclrtGroupInfo *groupInfo)
{
    SIM_ENTER();
    SIM_NOT_NULL(groupInfo);
    return refuse();
}

aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo *groupInfo, int32_t groupIndex, aclrtGroupAttr attr,
                                 void *attrValue, size_t valueLen, size_t *paramRetSize)
{
    SIM_ENTER();
    (void)groupIndex, (void)attr, (void)valueLen;
    SIM_NOT_NULL(groupInfo);
    SIM_NOT_NULL(attrValue);
    SIM_NOT_NULL(paramRetSize);
    return refuse();
}
