/* How the ranks of a communicator are connected. */
#ifndef ACL_INCLUDE_HCCL_HCCL_RANK_GRAPH_H
#define ACL_INCLUDE_HCCL_HCCL_RANK_GRAPH_H

#include <string.h>

#include "hccl/hccl_res.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Mark the ends and attributes of links as not set: their bits are 1. */
static inline HcclResult CommLinkInit(CommLink *commLink, uint32_t linkNum)
{
    const CommAbiHeader header = {COMM_LINK_VERSION, COMM_LINK_MAGIC_WORD, sizeof(CommLink), 0};
    if (commLink == NULL)
        return HCCL_E_PTR;
    memset(commLink, 0xFF, linkNum * sizeof(CommLink));
    for (uint32_t i = 0; i < linkNum; i++)
        commLink[i].header = header;
    return HCCL_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
