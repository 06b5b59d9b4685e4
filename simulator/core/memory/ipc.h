/* Device memory that processes share by keys. */
#ifndef SIM_IPC_H
#define SIM_IPC_H

#include "address/memory.h"
#include "address/owner.h"

/* 207000 on chips without. */
aclError sim_ipc_supported(void);

/* Lets others open the first `size` bytes of a block. 107000 unless `address` is its start. */
aclError sim_ipc_export(const void *address, uint64_t size, bool to_all, char *key);
aclError sim_ipc_allow(const char *key, const int32_t *pids, size_t count);
aclError sim_ipc_check_own(const char *key); /* 107000 unless this process made it and has not closed it */

/* Memory of another process, as a block of the current device; opened again, the same. */
aclError sim_ipc_import(const char *key, bool enable_peer, void **address);

/* Ends what this process has of the key: the block that it opened, or the key itself when it made it. */
aclError sim_ipc_close(const char *key, const void *site);

/* What an address in an imported block is told about: the page size of its owner. */
enum sim_page sim_ipc_page(const struct sim_block *block);

/* What memory of another device, whose owner is another process, takes part in: 107000. `kind` of synchronous copies is
 * not asked for. */
aclError sim_ipc_check_copy(const struct sim_place places[2], bool is_async, aclrtMemcpyKind kind);

/* Imports into a device's heap, which end before its pages are cleared. */
extern const struct sim_owner sim_ipc_owner;
void sim_ipc_after_fork(void);

#endif
