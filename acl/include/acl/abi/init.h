/* Initialisation and finalisation of the library, and queries of versions and of the platform. */

#define ACL_MAJOR_VERSION 1
#define ACL_MINOR_VERSION 17
#define ACL_PATCH_VERSION 0
#define ACL_PKG_VERSION_MAX_SIZE 128
#define ACL_PKG_VERSION_PARTS_MAX_SIZE 64

typedef enum aclCANNPackageName {
    ACL_PKG_NAME_CANN = 0,
    ACL_PKG_NAME_RUNTIME = 1,
    ACL_PKG_NAME_COMPILER = 2,
    ACL_PKG_NAME_HCCL = 3,
    ACL_PKG_NAME_TOOLKIT = 4,
    ACL_PKG_NAME_OPP = 5,
    ACL_PKG_NAME_OPP_KERNEL = 6,
    ACL_PKG_NAME_DRIVER = 7,
} aclCANNPackageName;

typedef enum aclCannAttr {
    ACL_CANN_ATTR_UNDEFINED = -1,
    ACL_CANN_ATTR_INF_NAN = 0,
    ACL_CANN_ATTR_BF16 = 1,
    ACL_CANN_ATTR_JIT_COMPILE = 2,
} aclCannAttr;

typedef enum aclplatformDevInfo {
    ACL_PLATFORM_AICORE_CNT = 0,
    ACL_PLATFORM_AICORE_UB_SIZE = 1,
    ACL_PLATFORM_CUBE_CORE_CNT = 2,
    ACL_PLATFORM_VECTOR_CORE_CNT = 3,
    ACL_PLATFORM_L2_SIZE = 4,
    ACL_PLATFORM_MEMORY_SIZE = 5,
    ACL_PLATFORM_CUBE_FREQ = 6,
    ACL_PLATFORM_VEC_FREQ = 7,
    ACL_PLATFORM_BT_SIZE = 8,
    ACL_PLATFORM_L0_A_SIZE = 9,
    ACL_PLATFORM_L0_B_SIZE = 10,
    ACL_PLATFORM_L0_C_SIZE = 11,
    ACL_PLATFORM_L1_SIZE = 12,
    ACL_PLATFORM_SOC_VERSION = 13,
    ACL_PLATFORM_AIC_VERSION = 14,
    ACL_PLATFORM_NPU_ARCH = 15,
    ACL_PLATFORM_MEMORY_TYPE = 16,
} aclplatformDevInfo;

typedef enum aclplatformCoreType {
    ACL_PLATFORM_CORE_TYPE_AI_CORE = 0,
    ACL_PLATFORM_CORE_TYPE_VECTOR_CORE = 1,
} aclplatformCoreType;

typedef enum aclplatformNpuArch {
    DAV_1001 = 1001,
    DAV_2002 = 2002,
    DAV_2102 = 2102,
    DAV_2201 = 2201,
    DAV_3002 = 3002,
    DAV_3003 = 3003,
    DAV_3004 = 3004,
    DAV_3102 = 3102,
    DAV_3113 = 3113,
    DAV_3505 = 3505,
    DAV_3510 = 3510,
    DAV_5102 = 5102,
    DAV_5162 = 5162,
    DAV_RESV = 65535,
} aclplatformNpuArch;

typedef enum aclplatformLocalMemType {
    L0_A = 0,
    L0_B = 1,
    L0_C = 2,
    L1 = 3,
    L2 = 4,
    UB = 5,
    HBM = 6,
} aclplatformLocalMemType;

typedef struct aclCANNPackageVersion {
    char version[128];
    char majorVersion[64];
    char minorVersion[64];
    char releaseVersion[64];
    char patchVersion[64];
    char reserved[128];
} aclCANNPackageVersion;

/** Initialise the library; the path names a JSON configuration file and may be NULL.
 *  acl.init([configPath:str]) -> ret */
ACL_API(8, 1) aclError aclInit(const char *configPath);

/** Finalise the library, whatever the number of aclInit calls; devices and memory are not released.
 *  acl.finalize() -> ret */
ACL_API(8, 1) aclError aclFinalize(void);

/** Undo one aclInit and return how many are left; undoing the last one finalises the library.
 *  acl.finalize_reference() -> (refCount, ret) */
ACL_API(8, 5) aclError aclFinalizeReference(uint64_t *refCount);

/** Deprecated: use aclsysGetVersionStr. Version of this interface.
 *  acl.get_version() -> (majorVersion, minorVersion, patchVersion, ret) */
ACL_API(8, 1) aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion);

/** Deprecated: use aclsysGetVersionStr. Version of an installed CANN package, split into its parts.
 *  acl.get_cann_version(name) -> (version:dict, ret) @py */
ACL_API(8, 1) aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version);

/** Version of the named CANN package as text, at most ACL_PKG_VERSION_MAX_SIZE bytes.
 *  acl.get_version_str(pkgName:str) -> (versionStr:str, ret) @py */
ACL_API(8, 5) aclError aclsysGetVersionStr(char *pkgName, char *versionStr);

/** Version of the named CANN package as one comparable number. */
ACL_API(8, 5) aclError aclsysGetVersionNum(char *pkgName, int32_t *versionNum);

/** Name of the chip, or NULL if there is no chip.
 *  acl.get_soc_name() -> value */
ACL_API(8, 1) const char *aclrtGetSocName(void);

/** List the features that the installed software has; the list belongs to the library.
 *  acl.get_cann_attribute_list() -> (cannAttrList:[int]#num, num, ret) @py */
ACL_API(8, 1) aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num);

/** Query whether the installed software has one feature.
 *  acl.get_cann_attribute(cannAttr) -> (value, ret) */
ACL_API(8, 1) aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value);

/** Query whether code built for the named chip runs on this one. */
ACL_API(8, 5) aclError aclrtCheckArchCompatibility(const char *socVersion, int32_t *canCompatible);

/** Time in milliseconds that an operator may take before it counts as hung.
 *  rt.get_op_execute_timeout() -> (timeoutMs, ret) */
ACL_API(8, 5) aclError aclrtGetOpExecuteTimeout(uint32_t *const timeoutMs);

/** One property of the current chip's platform description, as text. */
ACL_API(9, 1) aclError aclplatformGetDeviceInfo(aclplatformDevInfo infoType, char *value, uint32_t maxLen);

/** The entry of the current chip's platform description for one instruction of a core type. */
ACL_API(9, 1) aclError aclplatformGetInstructionInfo(aclplatformCoreType type, const char *instruction, char *value,
    uint32_t maxLen);
