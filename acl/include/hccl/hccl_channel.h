/* Channels between ranks. */
#ifndef ACL_INCLUDE_HCCL_HCCL_CHANNEL_H
#define ACL_INCLUDE_HCCL_HCCL_CHANNEL_H

#include <string.h>

#include "hccl/hccl_res.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Fill descriptions of channels: no memory, no notifies; all bits of what is not set are 1. */
static inline HcclResult HcclChannelDescInit(HcclChannelDesc *channelDesc, uint32_t descNum)
{
    const CommAbiHeader header = {HCCL_CHANNEL_VERSION, HCCL_CHANNEL_MAGIC_WORD, sizeof(HcclChannelDesc), 0};
    if (channelDesc == NULL)
        return HCCL_E_PTR;
    memset(channelDesc, 0xFF, descNum * sizeof(HcclChannelDesc));
    for (uint32_t i = 0; i < descNum; i++) {
        channelDesc[i].header = header;
        channelDesc[i].notifyNum = 0;
        channelDesc[i].memHandles = NULL;
        channelDesc[i].memHandleNum = 0;
    }
    return HCCL_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
