/* Entry points of initialisation, versions and properties of the platform. */
#include "engine/init.h"
#include "engine/limits.h"
#include "engine/query.h"

#include <stdio.h>
#include <string.h>

aclError aclInit(const char *configPath)
{
    SIM_ENTER();
    return sim_init(configPath);
}

aclError aclFinalize(void)
{
    SIM_ENTER();
    return sim_init_finalize();
}

aclError aclFinalizeReference(uint64_t *refCount)
{
    SIM_ENTER();
    return sim_init_release(refCount);
}

aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion)
{
    SIM_ENTER();
    SIM_NOT_NULL(majorVersion);
    SIM_NOT_NULL(minorVersion);
    SIM_NOT_NULL(patchVersion);
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = sim_config()->cf_cann < 900 ? 13 : ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return ACL_SUCCESS;
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version)
{
    SIM_ENTER();
    SIM_NOT_NULL(version);
    const char *package = sim_query_package(name);
    SIM_ARGUMENT(package != NULL, ACL_ERROR_INVALID_PARAM, "name is %d, expected 0 to %d", name, ACL_PKG_NAME_DRIVER);
    struct sim_version found;
    SIM_TRY(sim_query_version(package, &found));
    *version = (aclCANNPackageVersion){.patchVersion = "0"};
    strcpy(version->version, found.ve_text);
    snprintf(version->majorVersion, sizeof version->majorVersion, "%u", found.ve_major);
    snprintf(version->minorVersion, sizeof version->minorVersion, "%u", found.ve_minor);
    snprintf(version->releaseVersion, sizeof version->releaseVersion, "%u", found.ve_patch);
    return ACL_SUCCESS;
}

aclError aclsysGetVersionStr(char *pkgName, char *versionStr)
{
    SIM_ENTER();
    SIM_NOT_NULL(versionStr);
    SIM_NOT_NULL(pkgName);
    struct sim_version found;
    SIM_TRY(sim_query_version(pkgName, &found));
    strcpy(versionStr, found.ve_text);
    return ACL_SUCCESS;
}

aclError aclsysGetVersionNum(char *pkgName, int32_t *versionNum)
{
    SIM_ENTER();
    SIM_NOT_NULL(versionNum);
    SIM_NOT_NULL(pkgName);
    struct sim_version found;
    SIM_TRY(sim_query_version(pkgName, &found));
    *versionNum = (int32_t)(found.ve_major * 10000000 + found.ve_minor * 100000 + found.ve_patch * 1000);
    return ACL_SUCCESS;
}

const char *aclrtGetSocName(void)
{
    SIM_ENTER();
    return sim_config()->cf_soc->so_name;
}

aclError aclplatformGetDeviceInfo(aclplatformDevInfo infoType, char *value, uint32_t maxLen)
{
    SIM_ENTER();
    SIM_NOT_NULL(value);
    return sim_query_platform(infoType, value, maxLen);
}

aclError aclplatformGetInstructionInfo(aclplatformCoreType type, const char *instruction, char *value, uint32_t maxLen)
{
    SIM_ENTER();
    SIM_NOT_NULL(instruction);
    SIM_NOT_NULL(value);
    SIM_ARGUMENT(type == ACL_PLATFORM_CORE_TYPE_AI_CORE || type == ACL_PLATFORM_CORE_TYPE_VECTOR_CORE,
                 ACL_ERROR_INVALID_PARAM, "type is %d, expected 0 or 1", type);
    SIM_ARGUMENT(maxLen != 0, ACL_ERROR_INVALID_PARAM, "maxLen is 0, expected room for the value");
    return sim_refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                      "instruction is \"%.64s\": the simulator has no table of instructions", instruction);
}

aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num)
{
    SIM_ENTER();
    SIM_NOT_NULL(cannAttrList);
    SIM_NOT_NULL(num);
    *cannAttrList = sim_query_cann_attributes(num);
    return ACL_SUCCESS;
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value)
{
    SIM_ENTER();
    SIM_NOT_NULL(value);
    SIM_ARGUMENT(cannAttr >= ACL_CANN_ATTR_INF_NAN && cannAttr <= ACL_CANN_ATTR_JIT_COMPILE, ACL_ERROR_INVALID_PARAM,
                 "cannAttr is %d, expected 0 to %d", (int)cannAttr, ACL_CANN_ATTR_JIT_COMPILE);
    size_t count;
    const aclCannAttr *attributes = sim_query_cann_attributes(&count);
    *value = 0;
    for (size_t i = 0; i < count; i++)
        *value |= attributes[i] == cannAttr;
    return ACL_SUCCESS;
}

aclError aclrtGetOpExecuteTimeout(uint32_t *const timeoutMs)
{
    SIM_ENTER();
    SIM_NOT_NULL(timeoutMs);
    *timeoutMs = (uint32_t)(sim_limits_execute() / 1000);
    return ACL_SUCCESS;
}

aclError aclrtCheckArchCompatibility(const char *socVersion, int32_t *canCompatible)
{
    SIM_ENTER();
    SIM_CHECK(socVersion != NULL, ACL_ERROR_RT_PARAM_INVALID, "socVersion is NULL, expected the name of a SoC");
    SIM_CHECK(canCompatible != NULL, ACL_ERROR_RT_PARAM_INVALID, "canCompatible is NULL, expected a valid pointer");
    const struct sim_soc *soc = sim_soc_find(socVersion);
    *canCompatible = soc != NULL && sim_soc_family(soc)->fa_arch == sim_soc_family(sim_config()->cf_soc)->fa_arch;
    return ACL_SUCCESS;
}
