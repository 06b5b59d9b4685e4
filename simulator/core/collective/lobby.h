/* Lobbies: how processes of other hosts take part in a root (root.h). The process that made the root listens; a process
 * of another host has a copy of the root's words, joins by a request, and gets each change. The processes of all
 * hosts also find there what they need to connect to each other. */
#ifndef SIM_LOBBY_H
#define SIM_LOBBY_H

#include <hccl/hccl_types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Where a root is; a program passes it on in HcclRootInfo. */
struct sim_root_place {
    uint64_t pl_machine;                /* of the process that made it (sim_host_machine) */
    uint64_t pl_id;                     /* of the exchange there */
    uint64_t pl_secret[2];              /* who does not know it is turned away */
    uint64_t pl_has_port;               /* or it is one of sim_host_ports */
    struct sockaddr_storage pl_address; /* family 0: other hosts cannot reach it */
};

/* What a rank asks for, and the answer. */
struct sim_request {
    uint32_t rq_rank, rq_count;
    uint64_t rq_agreement, rq_device, rq_page, rq_machine;
};
enum sim_verdict { SIM_ADMITTED, SIM_OVER, SIM_OTHER_AGREEMENT, SIM_RANK_TAKEN, SIM_UNREACHABLE };
struct sim_answer {
    uint32_t an_verdict, an_unused;
    uint64_t an_agreed; /* what the ranks before have agreed on */
};

/* What a lobby does to its root; called in its threads. */
struct sim_lobby_calls {
    struct sim_answer (*lc_admit)(void *root, const struct sim_request *request);
    void (*lc_leave)(void *root, uint32_t rank, bool expired); /* a rank gives up, or its process has ended */
    size_t (*lc_words)(void *root, uint64_t *words);           /* copies the words; returns how many there are */
    void (*lc_await)(void *root, uint64_t *level);             /* waits until they may have changed, or for lc_wake */
    void (*lc_wake)(void *root);
};
#define SIM_LOBBY_WORDS 1024u /* the most words of a root */

struct sim_lobby;
/* Listens, and completes the place, unless other hosts know its address and its secret already. */
HcclResult sim_lobby_open(const struct sim_lobby_calls *calls, void *root, struct sim_root_place *place,
                          struct sim_lobby **lobby);
/* Waits until `count` processes have connected, or one of them has failed to. */
void sim_lobby_await_connected(struct sim_lobby *lobby, uint32_t count);
/* Ends all connections and threads. */
void sim_lobby_close(struct sim_lobby *lobby);

#endif
