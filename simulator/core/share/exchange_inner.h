/* Shared by exchange.c (publishing, importing), exchange_serve.c (the thread) and exchange_share.c (pages). */
#ifndef SIM_EXCHANGE_INNER_H
#define SIM_EXCHANGE_INNER_H

#include "exchange.h"
#include <pthread.h>
#include <sys/types.h>

#define SLOTS 1024u     /* pages of one process */
#define LINKS 256u      /* processes whose pages this one has joined, including itself */
#define CLIENTS 1024u   /* connections to this process */
#define PARTIES 65536u  /* processes that can ever join this one's pages */

/* ---- messages; each is one packet ---- */

#define PROTOCOL UINT32_C(0x61636c01) /* to be changed with the layout of messages or pages */

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

#define FILES 2 /* files in a reply: the memory (IMPORT), or the pages and the bell (JOIN) */

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
    int32_t cl_pid; /* as identified by the kernel */
    uint32_t cl_who; /* its number among the joined processes; 0: has joined no page yet */
    uint16_t cl_joins[SLOTS]; /* for each page, how often it was joined and not left */
};

struct segment {
    _Atomic uint64_t sg_gone[PARTIES / 64];
    struct sim_page_shared sg_pages[SLOTS];
};

/* Number 0 is this process. A link is never freed; it is reused when its process is gone and its pages are unused. */
struct sim_link {
    int32_t lk_pid;
    uint32_t lk_who;
    int lk_socket, lk_bell;
    _Atomic bool lk_gone;
    struct segment *lk_segment;
    uint32_t lk_users;
    struct sim_gate **lk_gates; /* NULL entries are free */
    uint32_t lk_gate_count;
};

struct exchange {
    pthread_mutex_t xc_turn; /* guards starting, stopping and joining; may be held for long */
    struct sim_lock xc_lock;
    bool xc_runs;
    pthread_t xc_thread;
    int xc_poll, xc_listener, xc_end, xc_spare;
    int xc_segment_file;
    uint32_t xc_next_number, xc_next_who;
    struct entry *xc_entries;
    uint32_t xc_client_count; /* xc_clients from this one on were never used: their memory need not be touched */
    struct client xc_clients[CLIENTS];
    struct sim_link xc_links[LINKS];
    bool xc_taken[SLOTS]; /* pages in use */
    bool xc_held[SLOTS];  /* pages that this process has not left */
};

extern struct exchange sim_exchange;

/* What an event of epoll belongs to; its index is in the low half of the data. */
enum source { SOURCE_END, SOURCE_LISTENER, SOURCE_CLIENT, SOURCE_LINK, SOURCE_BELL };

aclError sim_exchange_start(void);              /* xc_turn is held */
void sim_exchange_close(int *file);
void sim_exchange_unwatch(int *file); /* also closes it */
/* A file that other processes have open too stays watched until sim_exchange_unwatch, even if it is closed. */
int sim_exchange_watch(int file, uint32_t events, enum source source, uint32_t index);
struct entry *sim_exchange_find(enum sim_exchange_kind kind, uint32_t number); /* xc_lock is held */
aclError sim_exchange_add(const struct sim_offer *offer, bool to_all, uint32_t slot, uint64_t *id);

/* Opens a connection to another process for one question. xc_turn is not needed. */
aclError sim_exchange_connect(enum sim_exchange_kind kind, uint64_t id, const char *name, int *connection);
/* Asks and receives the reply. The caller closes `files`, which are -1 where none came. Returns false if the other
 * process is gone. */
bool sim_exchange_ask(int connection, const struct request *request, struct reply *reply, int files[FILES], int *error);
/* The code that results from a question: 0, 107000, 207006, 207020 or 507022. */
aclError sim_exchange_code(bool answered, int error, const struct reply *reply);
/* Records the message for a code that the publisher or the exchange returned. */
aclError sim_exchange_refuse(enum sim_exchange_kind kind, aclError code, uint64_t id, const char *name);

void sim_exchange_serve_join(struct client *client, const struct entry *entry, struct reply *reply, int files[FILES]);
void sim_exchange_serve_leave(struct client *client, uint32_t slot);
void sim_exchange_part(struct client *client); /* the client has disconnected; xc_lock is held */
void sim_exchange_ring(uint32_t link);         /* counts the gates of a link on; no lock is held */
void *sim_exchange_serve(void *nothing);
void sim_exchange_share_close_all(void); /* links and pages */

#endif
