/* Physical memory that processes share. */
#ifndef SIM_VMM_SHARE_H
#define SIM_VMM_SHARE_H

#include "base/fail.h"

/* A number by which the processes of sim_vmm_allow, or all of this user, import it. 107000, 207000. */
aclError sim_vmm_export(aclrtDrvMemHandle handle, bool to_all, uint64_t *shared);
aclError sim_vmm_allow(uint64_t shared, const int32_t *pids, size_t count);
/* 107000, 107001, 207006; what the exchange answers besides. */
aclError sim_vmm_import(uint64_t shared, int32_t device, aclrtDrvMemHandle *handle);

/* The number as it is handed to other servers. */
void sim_vmm_write_fabric(uint64_t shared, aclrtMemFabricHandle *handle);
aclError sim_vmm_read_fabric(const aclrtMemFabricHandle *handle, uint64_t *shared);

#endif
