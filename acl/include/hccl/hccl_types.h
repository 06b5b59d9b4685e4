/* Types of collective communication. */
#ifndef ACL_INCLUDE_HCCL_HCCL_TYPES_H
#define ACL_INCLUDE_HCCL_HCCL_TYPES_H

#include <stddef.h>
#include <string.h>

#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "acl/abi/extra/hccl.h"

/** Fill a configuration with the defaults, and its header with what a library checks: the size, a mark, the version. */
static inline void HcclCommConfigInit(HcclCommConfig *config)
{
    const size_t size = sizeof(HcclCommConfig);
    const uint32_t marks[] = {HCCL_COMM_CONFIG_MAGIC_WORD, HCCL_COMM_CONFIG_VERSION};
    if (config == NULL)
        return;
    memset(config, 0, size);
    memcpy(config->reserved, &size, sizeof size);
    memcpy(config->reserved + sizeof size, marks, sizeof marks);
    config->hcclBufferSize = HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET;
    config->hcclDeterministic = HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET;
    config->hcclOpExpansionMode = HCCL_COMM_DEFAULT_OP_EXPANSION_MODE;
    config->hcclRdmaTrafficClass = HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET;
    config->hcclRdmaServiceLevel = HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET;
    config->hcclExecTimeOut = HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET;
    config->hcclQos = HCCL_COMM_QOS_CONFIG_NOT_SET;
    config->hcclSymWinMaxMemSizePerRank = HCCL_DEFAULT_SYMMETRIC_MEMORY_STRIDE;
    config->hcclChannelSqDepth = HCCL_COMM_SQ_DEPTH_CONFIG_NOT_SET;
}

#ifdef __cplusplus
}
#endif

#endif
