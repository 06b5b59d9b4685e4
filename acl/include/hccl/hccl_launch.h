/* Launches of one's own collectives. */
#ifndef ACL_INCLUDE_HCCL_HCCL_LAUNCH_H
#define ACL_INCLUDE_HCCL_HCCL_LAUNCH_H

#include <string.h>

#include "hccl/hccl_res.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Fill the description of an operation with the defaults. */
static inline HcclResult HcclOpDescInit(HcclOpDesc *opDesc)
{
    const CommAbiHeader header = {HCCL_OPDESC_VERSION, HCCL_OPDESC_MAGIC_WORD, sizeof(HcclOpDesc), 0};
    if (opDesc == NULL)
        return HCCL_E_PTR;
    memset(opDesc, 0, sizeof(HcclOpDesc));
    opDesc->header = header;
    return HCCL_SUCCESS;
}

/** Fill the configuration of a launch with the defaults. */
static inline HcclResult HcclKernelLaunchCfgInit(HcclKernelLaunchCfg *kernelLaunchCfg)
{
    const CommAbiHeader header = {HCCL_KERNEL_LAUNCH_CFG_VERSION, HCCL_KERNEL_LAUNCH_CFG_MAGIC_WORD,
                                  sizeof(HcclKernelLaunchCfg), 0};
    if (kernelLaunchCfg == NULL)
        return HCCL_E_PTR;
    memset(kernelLaunchCfg, 0, sizeof(HcclKernelLaunchCfg));
    kernelLaunchCfg->header = header;
    return HCCL_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
