/* Device memory that processes share by keys. */
#ifndef SIM_IPC_H
#define SIM_IPC_H

#include "address/memory.h"
#include "address/owner.h"

/* Returns 207000 on chips that cannot share memory between processes. */
aclError sim_ipc_supported(void);

/* Lets other processes open the first `size` bytes of a block. Returns 107000 unless `address` is its start. */
aclError sim_ipc_export(const void *address, uint64_t size, bool to_all, char *key);
aclError sim_ipc_allow(const char *key, const int32_t *pids, size_t count);
aclError sim_ipc_check_own(const char *key); /* 107000 unless this process made the key and has not closed it */

/* Opens another process's memory as a block of the current device. Opening the same key again gives the same
 * address. */
aclError sim_ipc_import(const char *key, bool enable_peer, void **address);

/* Closes the block that this process opened by the key, or withdraws the key if this process made it. */
aclError sim_ipc_close(const char *key, const void *site);

/* The page type of an imported block, as its owner allocated it. */
enum sim_page sim_ipc_page(const struct sim_block *block);

/* Returns 107000 if a copy uses memory of another process in a way that is not supported. `kind` is ignored for
 * synchronous copies. */
aclError sim_ipc_check_copy(const void *dst, const void *src, bool is_async, aclrtMemcpyKind kind);

/* The owner functions for imported blocks; they end before the device's heap clears its pages. */
extern const struct sim_owner sim_ipc_owner;
void sim_ipc_after_fork(void);

#endif
