/* Teams of ranks. */
#ifndef ACL_INCLUDE_HCCL_HCCL_TEAM_H
#define ACL_INCLUDE_HCCL_HCCL_TEAM_H

#include <string.h>

#include "hccl/hccl_res.h"
#include "hcomm/hcomm_team_defs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Fill the description of a team with the defaults. */
static inline HcclResult HcclTeamCreateDescInit(HcclTeamCreateDesc *desc)
{
    const CommAbiHeader header = {HCCL_TEAM_CREATE_DESC_VERSION, HCCL_TEAM_CREATE_DESC_MAGIC_WORD,
                                  sizeof(HcclTeamCreateDesc), 0};
    if (desc == NULL)
        return HCCL_E_PTR;
    memset(desc, 0, sizeof(HcclTeamCreateDesc));
    desc->header = header;
    desc->protocol = COMM_PROTOCOL_RESERVED;
    return HCCL_SUCCESS;
}

/** Fill the description of a team's channels with the defaults. */
static inline HcclResult HcclTeamCreateChannelsDescInit(HcclTeamCreateChannelsDesc *desc)
{
    const CommAbiHeader header = {HCCL_TEAM_CREATE_CHANNELS_DESC_VERSION, HCCL_TEAM_CREATE_CHANNELS_DESC_MAGIC_WORD,
                                  sizeof(HcclTeamCreateChannelsDesc), 0};
    if (desc == NULL)
        return HCCL_E_PTR;
    memset(desc, 0, sizeof(HcclTeamCreateChannelsDesc));
    desc->header = header;
    desc->engine = COMM_ENGINE_RESERVED;
    desc->protocol = COMM_PROTOCOL_RESERVED;
    return HCCL_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
