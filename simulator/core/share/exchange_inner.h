/* Between exchange.c (publishing, importing), exchange_serve.c (the thread) and exchange_share.c (pages). */
#ifndef SIM_EXCHANGE_INNER_H
#define SIM_EXCHANGE_INNER_H

#include "exchange.h"
#include <pthread.h>
#include <sys/types.h>

#define SLOTS 1024u     /* pages of one process */
#define LINKS 256u      /* processes whose pages this one has joined, itself included */
#define CLIENTS 1024u   /* connections to this process */
#define PARTIES 65536u  /* numbers of processes that ever joined this one's pages */

/* ---- messages; each is one packet ---- */

#define PROTOCOL UINT32_C(0x61636c01) /* another number for each other layout of what follows and of the pages */

enum verb { VERB_IMPORT, VERB_JOIN, VERB_LEAVE };

struct request {
    uint32_t rq_protocol, rq_verb;
    uint32_t rq_kind, rq_number; /* LEAVE: the number of a page */
};

struct reply {
    uint32_t rp_protocol;
    int32_t rp_code;
    int32_t rp_device;
    uint32_t rp_who, rp_slot; /* JOIN */
    uint32_t rp_spare;
    uint64_t rp_offset, rp_size, rp_extra[2];
};

#define FILES 2 /* that come with a reply: IMPORT the memory; JOIN the pages and the bell */

/* ---- what this process publishes; `sim_exchange.xc_lock` guards all of it ---- */

struct entry {
    struct entry *en_next;
    uint32_t en_number;
    struct sim_offer en_offer;
    bool en_to_all;
    int32_t *en_pids;
    size_t en_pid_count;
    uint32_t en_slot; /* its page, or SLOTS */
};

struct client {
    int cl_socket; /* -1: free */
    int32_t cl_pid; /* by the kernel's word */
    uint32_t cl_who; /* 0: has joined no page yet */
    uint16_t cl_joins[SLOTS]; /* of each page, those that it has not left */
};

struct segment {
    _Atomic uint64_t sg_gone[PARTIES / 64];
    struct sim_page_shared sg_pages[SLOTS];
};

/* Number 0 is this process. A link is never freed; it is another process's once that is gone and nobody uses its pages. */
struct sim_link {
    int32_t lk_pid;
    uint32_t lk_who;
    int lk_socket, lk_bell;
    _Atomic bool lk_gone;
    struct segment *lk_segment;
    uint32_t lk_users;
    struct sim_gate **lk_gates; /* NULL: a hole */
    uint32_t lk_gate_count;
};

struct exchange {
    pthread_mutex_t xc_turn; /* starting, stopping, asking others: may sleep */
    struct sim_lock xc_lock;
    bool xc_runs;
    pthread_t xc_thread;
    int xc_poll, xc_listener, xc_end, xc_spare;
    int xc_segment_file;
    uint32_t xc_next_number, xc_next_who;
    struct entry *xc_entries;
    struct client xc_clients[CLIENTS];
    struct sim_link xc_links[LINKS];
    bool xc_taken[SLOTS]; /* pages given out ... */
    bool xc_held[SLOTS];  /* ... and those that this process itself has not left */
};

extern struct exchange sim_exchange;

/* The thread's sources, as numbers: what it is, and which. */
enum source { SOURCE_END, SOURCE_LISTENER, SOURCE_CLIENT, SOURCE_LINK, SOURCE_BELL };

aclError sim_exchange_start(void);              /* xc_turn is held */
void sim_exchange_close(int *file);
void sim_exchange_unwatch(int *file); /* and closes it */
/* A file that other processes have too is watched until it is taken out, closed or not. */
int sim_exchange_watch(int file, uint32_t events, enum source source, uint32_t index);
struct entry *sim_exchange_find(enum sim_exchange_kind kind, uint32_t number); /* xc_lock is held */
aclError sim_exchange_add(const struct sim_offer *offer, bool to_all, uint32_t slot, uint64_t *id);

/* One question to another process, on a connection of its own. xc_turn is not needed. */
aclError sim_exchange_connect(enum sim_exchange_kind kind, uint64_t id, const char *name, int *connection);
/* `files` are the caller's to close, -1 where none came. False: the other side is gone. */
bool sim_exchange_ask(int connection, const struct request *request, struct reply *reply, int files[FILES], int *error);
/* What came of a question: 0, 107000, 207006, 207020, 507022. */
aclError sim_exchange_code(bool answered, int error, const struct reply *reply);
/* `code`: what the publisher or the exchange answered. */
aclError sim_exchange_refuse(enum sim_exchange_kind kind, aclError code, uint64_t id, const char *name);

void sim_exchange_serve_join(struct client *client, const struct entry *entry, struct reply *reply, int files[FILES]);
void sim_exchange_serve_leave(struct client *client, uint32_t slot);
void sim_exchange_part(struct client *client); /* it is gone; xc_lock is held */
void sim_exchange_ring(uint32_t link);         /* counts the gates of a link on; no lock is held */
void *sim_exchange_serve(void *nothing);
void sim_exchange_share_close_all(void); /* of exchange_share.c: links and pages */

#endif
