/* What processes on one machine let one another have: memory by its file, events and notifies by pages that both see.
 *
 * One process publishes, others import by a number that names the publisher and the thing. The publisher's thread answers,
 * and it alone decides who may: of the same user, and of a process in the list, by the kernel's word. What a process has
 * published ends with it, at the latest; nothing of it is left in any file system. */
#ifndef SIM_EXCHANGE_H
#define SIM_EXCHANGE_H

#include "base/fail.h"

struct sim_gate; /* the engine's; the exchange only counts it on */

enum sim_exchange_kind {
    SIM_EXCHANGE_MEMORY, /* blocks of aclrtMalloc */
    SIM_EXCHANGE_PHYSICAL,
    SIM_EXCHANGE_EVENT,
    SIM_EXCHANGE_NOTIFY,
    SIM_EXCHANGE_KINDS,
};

struct sim_offer {
    enum sim_exchange_kind of_kind;
    int32_t of_device;
    int of_file; /* published: its owner keeps it open until the withdrawal; imported: the caller's to close; -1: none */
    uint64_t of_offset, of_size; /* bytes of the file */
    uint64_t of_extra[2];        /* what the kind wants to know besides */
    /* Asked on the exchange's thread before each import, under the exchange's lock; NULL: yes. */
    bool (*of_lives)(const struct sim_offer *offer);
};

/* Lets all processes of this user import it, or those of sim_exchange_allow. `id` is never 0: the process in the high
 * half, a number that is not used twice in the low half. 207001, 507022. */
aclError sim_exchange_publish(const struct sim_offer *offer, bool to_all, uint64_t *id);

/* Of what this process published, and has not withdrawn: 107000. `name` is the argument that held the id. */
aclError sim_exchange_allow(enum sim_exchange_kind kind, uint64_t id, const char *name, const int32_t *pids, size_t count);
aclError sim_exchange_withdraw(enum sim_exchange_kind kind, uint64_t id, const char *name);
void sim_exchange_withdraw_all(enum sim_exchange_kind kind);

/* What another process published. 107000 (events: 107017): its process is gone, it was withdrawn, or this process is the publisher; 207006:
 * this process is not among those that may; 207020: the publisher does not answer; 507022. */
aclError sim_exchange_import(enum sim_exchange_kind kind, uint64_t id, const char *name, struct sim_offer *offer);

bool sim_exchange_is_own(uint64_t id);

/* Arrays that name processes: 107000. */
#define SIM_EXCHANGE_PIDS 32768
aclError sim_exchange_check_pids(const int32_t *pid, size_t num);
aclError sim_exchange_check_servers(const aclrtServerPid *serverPids, size_t num);

/* The id as text, and back; false when it is none of that kind. */
#define SIM_EXCHANGE_KEY 65
void sim_exchange_write_key(enum sim_exchange_kind kind, uint64_t id, char *key);
bool sim_exchange_read_key(enum sim_exchange_kind kind, const char *key, uint64_t *id);

/* ---- shared pages (exchange_share.c) ---- */

#define SIM_SHARE_RECORDS 1008

/* What several processes see of one event or notify. It is atomic throughout, and nothing in it is an index or a size that
 * a process would trust. */
struct sim_page_shared {
    _Atomic uint32_t sp_wanted; /* somebody is about to sleep for a change */
    _Atomic uint32_t sp_flag;   /* of a notify */
    _Atomic uint64_t sp_issued; /* of an event: how many records it has had, and its newest (event_share.c) */
    _Atomic uint64_t sp_newest;
    uint64_t sp_spare[13];
    _Atomic uint64_t sp_records[SIM_SHARE_RECORDS];
};
_Static_assert(sizeof(struct sim_page_shared) == 8192, "two pages");

struct sim_link; /* a process that published, as this one sees it */

struct sim_share {
    struct sim_link *sr_link;
    struct sim_page_shared *sr_page;
    struct sim_gate *sr_gate; /* counts one on, by the exchange's thread, after each change that somebody asked for */
};

/* How a gate is counted on; called once, by a constructor. */
void sim_exchange_share_set_count(void (*count)(struct sim_gate *gate));

/* Publishes a page, all zeros, or joins another process's. 207001 and 507022 too. */
aclError sim_exchange_share_publish(enum sim_exchange_kind kind, int32_t device, bool to_all, struct sim_gate *gate,
                                    uint64_t *id, struct sim_share *share);
aclError sim_exchange_share_join(enum sim_exchange_kind kind, uint64_t id, const char *name, struct sim_gate *gate,
                                 int32_t *device, struct sim_share *share);
/* Leaves a page. A page that its publisher has left cannot be joined any longer; it exists until all have left it. */
void sim_exchange_share_leave(struct sim_share *share);

/* A waiting thread reads its gate's level, calls sim_exchange_share_want, looks at the page, and then waits for the
 * next level. A thread that changes the page calls sim_exchange_share_changed afterwards. So one of the two always sees
 * the other, and no change is missed. */
void sim_exchange_share_want(const struct sim_share *share);
void sim_exchange_share_changed(const struct sim_share *share);

/* The number of this process among those that share a publisher's pages, and whether the process of a number is gone. */
uint32_t sim_exchange_share_self(const struct sim_share *share);
bool sim_exchange_share_is_gone(const struct sim_share *share, uint32_t who);
bool sim_exchange_share_is_published(const struct sim_share *share); /* by this process */

void sim_exchange_reset(void); /* aclsimReset: nothing is published, joined or served any more */
void sim_exchange_rest(void);  /* aclFinalize: the thread ends when nothing is published, joined or served */
void sim_exchange_after_fork(void);

#endif
