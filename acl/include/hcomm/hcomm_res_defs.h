/* Types of what collectives are made of. A HcommResult is a code of HcclResult. */
#ifndef ACL_INCLUDE_HCOMM_HCOMM_RES_DEFS_H
#define ACL_INCLUDE_HCOMM_HCOMM_RES_DEFS_H

#include <netinet/in.h>
#include <string.h>

#include "hccl/hccl_types.h"

/* C99 has no unnamed unions, and C++ no types declared in them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

#ifdef __cplusplus
extern "C" {
#endif

#include "acl/abi/extra/hcomm.h"

#pragma GCC diagnostic pop

/** Fill configurations of threads with the defaults. */
static inline HcommResult ThreadConfigInit(ThreadConfig *config, uint32_t num)
{
    const CommAbiHeader header = {HCOMM_THREAD_CONFIG_VERSION, HCOMM_THREAD_CONFIG_MAGIC_WORD, sizeof(ThreadConfig), 0};
    if (config == NULL)
        return HCCL_E_PTR;
    memset(config, 0, num * sizeof(ThreadConfig));
    for (uint32_t i = 0; i < num; i++)
        config[i].header = header;
    return HCCL_SUCCESS;
}

/** Mark all fields of endpoints as not set: their bits are 1. */
static inline HcommResult EndpointDescInit(EndpointDesc *endpoint, uint32_t num)
{
    if (endpoint == NULL)
        return HCCL_E_PTR;
    memset(endpoint, 0xFF, num * sizeof(EndpointDesc));
    return HCCL_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
