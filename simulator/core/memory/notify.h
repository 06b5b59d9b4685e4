/* Notifies: objects of a device that streams change and wait for. A plain notify is a flag; a counting notify is a
 * number. */
#ifndef SIM_NOTIFY_H
#define SIM_NOTIFY_H

#include "engine/engine.h"

enum sim_notify_class { SIM_NOTIFY_PLAIN, SIM_NOTIFY_COUNTING };

/* Creates a notify on the current device. Returns 107002 without a context, and 207009 if the device has too many. */
aclError sim_notify_create(enum sim_notify_class class, aclrtNotify *handle);
/* Returns 107017 if the handle is not a live notify of this class. */
aclError sim_notify_check(enum sim_notify_class class, aclrtNotify handle);
/* The number of a live notify; returns 107017 otherwise. */
aclError sim_notify_id(enum sim_notify_class class, aclrtNotify handle, uint32_t *id);
/* Queued waits for it fail when they run; parked ones fail at once. */
aclError sim_notify_destroy(enum sim_notify_class class, aclrtNotify handle);

/* Keys of plain notifies, by which other processes open them. Returns 207000 on chips that cannot share notifies. */
aclError sim_notify_share_supported(void);
aclError sim_notify_export(aclrtNotify handle, bool to_all, char *key);
aclError sim_notify_allow(aclrtNotify handle, const int32_t *pids, size_t count); /* 107000 unless it was exported */
aclError sim_notify_import(const char *key, bool enable_peer, aclrtNotify *handle);

/* ---- tasks that change or await a notify ---- */

/* Queue a task that sets the flag, or one that changes the number. */
aclError sim_notify_record(aclrtNotify handle, struct sim_target stream, void *site);
aclError sim_notify_change(aclrtCntNotify handle, const aclrtCntNotifyRecordInfo *change, struct sim_target stream,
                           void *site);
/* Queues a task that sets the number to 0, on behalf of this public function. */
enum sim_notify_resetter { SIM_NOTIFY_RESET_BATCH, SIM_NOTIFY_RESET_COUNTER };
aclError sim_notify_reset(enum sim_notify_resetter by, aclrtNotify handle, struct sim_target stream, void *site);

/* Queue a task that waits until the flag is set and then clears it, for at most `seconds` (0 and UINT32_MAX: no
 * limit), or a task that waits until the number meets a condition. One record lets exactly one wait for a flag pass. */
aclError sim_notify_wait(aclrtNotify handle, uint32_t seconds, struct sim_target stream, void *site);
aclError sim_notify_wait_for(aclrtCntNotify handle, const aclrtCntNotifyWaitInfo *until, struct sim_target stream,
                             void *site);

/* True if other processes can change the notify that a gate belongs to. Takes the lock of the gate. */
bool sim_notify_is_shared(struct sim_gate *gate);

/* Finds the newest queued change of the notify that a gate belongs to (rm_setter). */
bool sim_notify_setter(const struct sim_gate *gate, sim_record *record, bool *guessed);

/* An address in the current device's memory, the same while the device is up. Returns 107002 without a context, and
 * 207001 if memory runs out. */
aclError sim_notify_sync_address(void **address);

void sim_notify_forget_all(void); /* aclsimReset */
void sim_notify_after_fork(void);

#endif
