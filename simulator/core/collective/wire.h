/* Wires: how the processes of a communicator reach each other. Each process has a wire to all others. It writes records
 * for each of them, which arrive in order, and reaches their device memory. */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include "engine/engine.h"
#include "share/exchange.h"

struct sim_net;
struct sim_board; /* the memory in which a process writes records for the others */

/* By what other processes reach this one. */
struct sim_wire_card {
    uint64_t wc_page, wc_board, wc_memory; /* ids of the exchange */
};

/* Another process. */
struct sim_wire_peer {
    _Atomic bool pe_open; /* it can be reached, as far as is known */
    struct sim_share pe_page;
    struct sim_board *pe_board;
    uint64_t pe_board_size;
    int pe_memory; /* the file of its device memory */
    uint64_t pe_memory_size;
    uint32_t pe_shift; /* log2 of the bytes of a device in the file */
    char **pe_views; /* where their first bytes are mapped, a row of lengths for each device; NULL: not yet */
};

struct sim_wire {
    struct sim_slot wr_slot;
    struct sim_gate wr_gate; /* exists for ever; counts the changes that others have made, and those of the group */
    uint32_t wr_count;       /* of places; 0: not published */
    uint32_t wr_self;        /* the place of this process */
    bool wr_may_spin;        /* each rank has a processor, so looking for a change takes none from the others */
    struct sim_wire_card wr_card;
    struct sim_share wr_page;
    struct sim_board *wr_board;
    int wr_file;
    struct sim_wire_peer *wr_peers; /* by place */
    struct sim_net *wr_net;  /* to processes on several hosts, which then is the way to all; NULL: there is one host */
};

/* Takes a wire, which has nothing but its gate yet. NULL without memory. */
struct sim_wire *sim_wire_take(void);
/* Publishes the page and the memory of this process for `count` places, and its card. Returns the codes of the
 * exchange. */
aclError sim_wire_publish(struct sim_wire *wire, uint32_t count, int32_t device);
/* Opens the wire to the process at a place. Returns the codes of the exchange: 107000 if that process has ended or has
 * closed its wire, 207020 if it does not answer. */
aclError sim_wire_connect(struct sim_wire *wire, uint32_t place, const struct sim_wire_card *card);
/* All processes are reached by a net, which the wire then owns. */
void sim_wire_join_net(struct sim_wire *wire, const bool *is_place, struct sim_net *net);
/* Closes everything; what this process has written stays readable for those who have opened it. */
void sim_wire_close(struct sim_wire *wire);

/* The head of each record. */
struct sim_wire_record {
    uint32_t re_size; /* bytes with the head, a multiple of 8 */
    uint32_t re_kind; /* not 0 */
};
#define SIM_WIRE_RECORD_MOST 16384u

/* Writes a record for a process. If that has not read earlier ones for too long, it is given up, and so is this process
 * by it. sim_wire_changed then wakes those processes that want to know, or, `at_once`, all. */
void sim_wire_send(struct sim_wire *wire, uint32_t place, const struct sim_wire_record *record);
void sim_wire_changed(struct sim_wire *wire, bool at_once);

/* The next record of a process, or NULL; sim_wire_next goes on to the one behind it. */
const struct sim_wire_record *sim_wire_receive(struct sim_wire *wire, uint32_t place);
void sim_wire_next(struct sim_wire *wire, uint32_t place, const struct sim_wire_record *record);
/* Whether a process that has been reached cannot be reached any more. What it has sent can still be received. */
bool sim_wire_is_lost(const struct sim_wire *wire, uint32_t place);
/* Whether there is a record to receive, or a lost process with pe_open. */
bool sim_wire_has_news(const struct sim_wire *wire);
/* The wire's gate is counted on after the next change by the process at a place. Look for news before the wait. */
void sim_wire_want(struct sim_wire *wire, uint32_t place);

/* Where device memory of this process is for others, or 0 if the bytes cannot be reached by them. */
uint64_t sim_wire_offset(const void *address, uint64_t size);
/* The address here of another process's device memory, or NULL. */
void *sim_wire_reach(struct sim_wire *wire, uint32_t place, uint64_t offset, uint64_t size);

bool sim_wire_owns(const struct sim_gate *gate);
void sim_wire_after_fork(void);

#endif
