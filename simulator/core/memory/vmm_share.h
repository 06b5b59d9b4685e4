/* Physical memory that processes share. */
#ifndef SIM_VMM_SHARE_H
#define SIM_VMM_SHARE_H

#include "base/fail.h"

/* Exports physical memory under a number. The processes listed with sim_vmm_allow, or all of this user, may import
 * it. Returns 107000 or 207000. */
aclError sim_vmm_export(aclrtDrvMemHandle handle, bool to_all, uint64_t *shared);
aclError sim_vmm_allow(uint64_t shared, const int32_t *pids, size_t count);
/* Returns 107000, 107001, 207006, or the code of sim_exchange_import. */
aclError sim_vmm_import(uint64_t shared, int32_t device, aclrtDrvMemHandle *handle);

/* Writes the number in the form that is passed to other servers. */
void sim_vmm_write_fabric(uint64_t shared, aclrtMemFabricHandle *handle);
aclError sim_vmm_read_fabric(const aclrtMemFabricHandle *handle, uint64_t *shared);

#endif
