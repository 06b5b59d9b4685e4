/* Channels between endpoints. */
#ifndef ACL_INCLUDE_HCOMM_HCOMM_CHANNEL_H
#define ACL_INCLUDE_HCOMM_HCOMM_CHANNEL_H

#include "hcomm/hcomm_res_defs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Fill descriptions of channels: no memory, no notifies; all bits of what is not set are 1. */
static inline HcommResult HcommChannelDescInit(HcommChannelDesc *channelDesc, uint32_t descNum)
{
    const CommAbiHeader header = {HCOMM_CHANNEL_VERSION, HCOMM_CHANNEL_MAGIC_WORD, sizeof(HcommChannelDesc), 0};
    if (channelDesc == NULL)
        return HCCL_E_PTR;
    memset(channelDesc, 0xFF, descNum * sizeof(HcommChannelDesc));
    for (uint32_t i = 0; i < descNum; i++) {
        channelDesc[i].header = header;
        channelDesc[i].notifyNum = 0;
        channelDesc[i].exchangeAllMems = false;
        channelDesc[i].memHandles = NULL;
        channelDesc[i].memHandleNum = 0;
        channelDesc[i].socket = NULL;
        channelDesc[i].roceAttr.srcPortList = NULL;
        channelDesc[i].channelName = NULL;
    }
    return HCCL_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
