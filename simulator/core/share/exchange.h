/* The exchange of memory, events and notifies between processes on one machine: memory is shared by its file, events
 * and notifies by pages that both processes map, communicators by both.
 *
 * One process publishes, and others import by a number that identifies the publisher and the object. The publisher's
 * thread replies, and it alone decides which processes may import: those of the same user, and those in the list, as
 * identified by the kernel. Publications end with their process at the latest, and nothing is left in any file
 * system. */
#ifndef SIM_EXCHANGE_H
#define SIM_EXCHANGE_H

#include "base/fail.h"

struct sim_gate; /* defined by the engine; the exchange only counts it on */

enum sim_exchange_kind {
    SIM_EXCHANGE_MEMORY, /* blocks of aclrtMalloc */
    SIM_EXCHANGE_PHYSICAL,
    SIM_EXCHANGE_EVENT,
    SIM_EXCHANGE_NOTIFY,
    SIM_EXCHANGE_GROUP, /* pages and files of the processes of a communicator */
    SIM_EXCHANGE_KINDS,
};

struct sim_offer {
    enum sim_exchange_kind of_kind;
    int32_t of_device;
    int of_file; /* published: its owner keeps it open until withdrawal; imported: the importer closes it; -1: none */
    uint64_t of_offset, of_size; /* bytes of the file */
    uint64_t of_extra[2];        /* more data, depending on the kind */
    /* Whether the object still exists; called on the exchange's thread under its lock before each import. NULL:
     * always. */
    bool (*of_lives)(const struct sim_offer *offer);
};

/* Publishes an object for all processes of this user, or for those of sim_exchange_allow. `id` is never 0: its high
 * half is the process, its low half a number that is not used twice. Returns 207001 or 507022. */
aclError sim_exchange_publish(const struct sim_offer *offer, bool to_all, uint64_t *id);

/* Allow processes to import what this process published, and withdraw it. Return 107000 if it was not published or
 * is withdrawn. `name` is the argument that held the id. */
aclError sim_exchange_allow(enum sim_exchange_kind kind, uint64_t id, const char *name, const int32_t *pids,
                            size_t count);
aclError sim_exchange_withdraw(enum sim_exchange_kind kind, uint64_t id, const char *name);
void sim_exchange_withdraw_all(enum sim_exchange_kind kind);

/* Imports what another process published. Returns 107000 (events: 107017) if the process is gone, the object was
 * withdrawn, or this process is the publisher; 207006 if this process is not allowed to; 207020 if the publisher
 * does not reply; 507022. */
aclError sim_exchange_import(enum sim_exchange_kind kind, uint64_t id, const char *name, struct sim_offer *offer);

/* Gives a publication another number, and returns its id: for those who do not get the id in another way. */
uint64_t sim_exchange_renumber(enum sim_exchange_kind kind, uint64_t id, uint32_t number);
/* The id that a publication with a number has in a process. */
uint64_t sim_exchange_id(int32_t pid, uint32_t number);

/* Claims a name for this process, among the processes of this user: *claim is a file, which ends the claim when it is
 * closed. If another live process has it, *claim is -1 and *holder that process. Returns 507022. */
aclError sim_exchange_claim(uint64_t name, int *claim, int32_t *holder);

/* Whether this process made the id. */
bool sim_exchange_is_own(uint64_t id);

/* Check arrays of processes; return 107000. */
#define SIM_EXCHANGE_PIDS 32768
aclError sim_exchange_check_pids(const int32_t *pid, size_t num);
aclError sim_exchange_check_servers(const aclrtServerPid *serverPids, size_t num);

/* The id as text, and back; reading returns false if the text is not an id of that kind. */
#define SIM_EXCHANGE_KEY 65
void sim_exchange_write_key(enum sim_exchange_kind kind, uint64_t id, char *key);
bool sim_exchange_read_key(enum sim_exchange_kind kind, const char *key, uint64_t *id);

/* ---- shared pages (exchange_share.c) ---- */

#define SIM_SHARE_RECORDS 1008

/* The state of one event or notify that several processes map. All of it is atomic, and nothing in it is an index or
 * a size that a process would trust. */
struct sim_page_shared {
    _Atomic uint32_t sp_wanted; /* a thread is about to sleep until a change */
    _Atomic uint32_t sp_flag;   /* of a notify */
    _Atomic uint64_t sp_issued; /* of an event: the number of its records, and the newest (event_share.c) */
    _Atomic uint64_t sp_newest;
    uint64_t sp_spare[13];
    _Atomic uint64_t sp_records[SIM_SHARE_RECORDS];
};
_Static_assert(sizeof(struct sim_page_shared) == 8192, "two pages");

struct sim_link; /* the connection to a publisher */

struct sim_share {
    struct sim_link *sr_link;
    struct sim_page_shared *sr_page;
    struct sim_gate *sr_gate; /* the exchange's thread counts it on after each change for which sp_wanted was set */
};

/* Sets the function that counts a gate on; called once, by a constructor. */
void sim_exchange_share_set_count(void (*count)(struct sim_gate *gate));

/* Publishes a page of zeros, or joins another process's page. Returns the codes of publishing and importing, 207001
 * or 507022. */
aclError sim_exchange_share_publish(enum sim_exchange_kind kind, int32_t device, bool to_all, struct sim_gate *gate,
                                    uint64_t *id, struct sim_share *share);
aclError sim_exchange_share_join(enum sim_exchange_kind kind, uint64_t id, const char *name, struct sim_gate *gate,
                                 int32_t *device, struct sim_share *share);
/* Leaves a page. Once its publisher has left it, a page cannot be joined any more; it exists until all have left it. */
void sim_exchange_share_leave(struct sim_share *share);

/* A waiting thread reads its gate's count, calls sim_exchange_share_want, looks at the page, and then waits for the
 * next count. A thread that changes the page calls sim_exchange_share_changed afterwards. So one of the two always
 * sees the other, and no change is missed. */
void sim_exchange_share_want(const struct sim_share *share);
void sim_exchange_share_changed(const struct sim_share *share);

/* The number of this process among those that share a publisher's pages, and whether the process of a number is
 * gone. */
uint32_t sim_exchange_share_self(const struct sim_share *share);
bool sim_exchange_share_is_gone(const struct sim_share *share, uint32_t who);
bool sim_exchange_share_is_published(const struct sim_share *share); /* by this process */

void sim_exchange_reset(void); /* in aclsimReset: ends all publications, joins and the thread */
void sim_exchange_rest(void);  /* in aclFinalize: ends the thread if nothing is published, joined or served */
void sim_exchange_after_fork(void);

#endif
