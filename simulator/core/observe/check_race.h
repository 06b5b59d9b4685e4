/* Races: what check_race.c (the order of accesses), check_race_memory.c (which bytes were accessed) and
 * check_race_view.c (which bytes a strided view has) share. */
#ifndef SIM_CHECK_RACE_H
#define SIM_CHECK_RACE_H

#include "check.h"
#include "engine/engine.h"

/* ---- vector clocks ---- */

/* For each agent, up to which of its clocks everything is known to be done. Never changed while it has several
 * references. NULL: nothing is known. */
struct sim_clocks {
    uint32_t ck_references, ck_count;
    uint64_t ck_at[];
};

static inline uint64_t sim_clocks_at(const struct sim_clocks *clocks, uint32_t agent)
{
    return clocks != NULL && agent < clocks->ck_count ? clocks->ck_at[agent] : 0;
}

/* ---- check_race_order.c; the lock of check_race.c is held ---- */

#define SIM_RACE_HOST 0 /* the agent of all host threads */

/* Places in a stream: when a task starts, while it runs, when it has ended, and before the next one is submitted. */
#define SIM_RACE_START(ticket) (4 * (ticket))
#define SIM_RACE_INSIDE(ticket) (4 * (ticket) + 1)
#define SIM_RACE_END(ticket) (4 * (ticket) + 2)
#define SIM_RACE_BEHIND(ticket) (4 * (ticket) + 3)

struct sim_race_lesson {
    uint64_t le_place;
    enum { SIM_RACE_FROM_CLOCKS, SIM_RACE_FROM_RECORD, SIM_RACE_FROM_GATE } le_source;
    struct sim_clocks *le_clocks; /* once learned: everything that is known here */
    uint64_t le_key;              /* the record or the gate */
};

struct sim_race_line { /* of a stream */
    uint32_t li_agent;
    uint32_t li_count, li_room, li_learned;
    bool li_pruned, li_busy;
    struct sim_race_lesson *li_lessons;
};

extern bool sim_check_race_order_blind;      /* nothing may be compared any more */
extern uint32_t sim_check_race_order_agents; /* the number of the next agent */

struct sim_clocks *sim_check_race_order_refer(struct sim_clocks *clocks);
void sim_check_race_order_let_go(struct sim_clocks **clocks);
/* Adds to what is known. True if it was news. */
bool sim_check_race_order_learn_clock(struct sim_clocks **clocks, uint32_t agent, uint64_t clock);
bool sim_check_race_order_learn(struct sim_clocks **clocks, struct sim_clocks *other);
bool sim_check_race_order_learn_gate(struct sim_clocks **known, uint64_t key);
void sim_check_race_order_learn_record(struct sim_clocks **known, sim_record record);

/* An agent raises a gate. */
void sim_check_race_order_raise(uint64_t key, struct sim_clocks *known, uint32_t agent, uint64_t clock);
/* The key of a notify or a value. */
uint64_t sim_check_race_order_key(const struct sim_op *op, const void *argument);

/* NULL, and then blind, without memory. */
struct sim_race_line *sim_check_race_order_line(uint32_t index);
/* Learns the lessons up to a place that the stream has reached. */
void sim_check_race_order_learn_up_to(struct sim_race_line *line, uint64_t place);
/* What a stream knows at a place that it has reached: without itself and without a reference, and with both. */
struct sim_clocks *sim_check_race_order_foreign_at(struct sim_race_line *line, uint64_t place);
struct sim_clocks *sim_check_race_order_known_at(sim_record record, uint64_t place);
/* Queue lessons; the first takes over the reference of its clocks. */
void sim_check_race_order_queue(struct sim_race_line *line, struct sim_race_lesson lesson);
void sim_check_race_order_queue_record(struct sim_race_line *line, uint64_t place, sim_record record);
void sim_check_race_order_queue_gate(struct sim_race_line *line, uint64_t place, uint64_t key);

void sim_check_race_order_reset(void);
void sim_check_race_order_abandon(void);

/* Kinds of tasks whose gate is found by their number, an address. */
static inline bool sim_race_is_value(enum sim_task_kind kind)
{
    return kind == SIM_TASK_VALUE_WRITE || kind == SIM_TASK_VALUE_WAIT;
}

/* ---- accesses ---- */

#define SIM_RACE_ARGUMENT 24

/* One task or call that touched bytes. Shared by all places that remember it. */
struct sim_race_access {
    uint32_t ra_references;
    uint32_t ra_agent;
    uint64_t ra_clock;
    const void *ra_site;
    const char *ra_function;
    uint32_t ra_thread;
    uint32_t ra_stream;  /* its number; UINT32_MAX: a host thread */
    uint32_t ra_branch;  /* of a replay, counted from 1; 0: none */
    uint64_t ra_ticket;
    bool ra_write;
    enum { SIM_RACE_USE, SIM_RACE_ALLOCATION, SIM_RACE_FREE } ra_kind;
    char ra_argument[SIM_RACE_ARGUMENT];
};

static inline bool sim_race_is_ordered(const struct sim_race_access *before, uint32_t agent,
                                       const struct sim_clocks *known)
{
    return before->ra_agent == agent || sim_clocks_at(known, before->ra_agent) >= before->ra_clock;
}

static inline bool sim_race_is_host(const struct sim_race_access *access)
{
    return access->ra_stream == UINT32_MAX;
}

/* ---- check_race_view.c ---- */

#define SIM_RACE_RANK 6

/* Rows of bytes: each is vw_width bytes long. Strides are in bytes, positive, and descend. */
struct sim_race_view {
    uint64_t vw_start, vw_end; /* the first byte, and the one behind the last */
    uint64_t vw_width;
    uint64_t vw_rows;          /* the product of vw_dims */
    uint32_t vw_rank;
    uint64_t vw_dims[SIM_RACE_RANK], vw_strides[SIM_RACE_RANK];
};

/* False if there are no bytes, or if there are too many dimensions. */
bool sim_check_race_view_of(const struct sim_footprint *footprint, struct sim_race_view *view);
/* Calls `visit` for each row. */
void sim_check_race_view_each(const struct sim_race_view *view,
                              void (*visit)(uint64_t start, uint64_t end, void *context), void *context);
bool sim_check_race_view_meets_bytes(const struct sim_race_view *view, uint64_t start, uint64_t end);
/* False also if it cannot be decided within a bounded time. */
bool sim_check_race_view_meets(const struct sim_race_view *one, const struct sim_race_view *other);

/* ---- check_race_memory.c; the lock of check_race.c is held ---- */

/* Compares an access with those before it, reports races, and remembers it. `known`: what its agent knows. */
void sim_check_race_memory_touch(const struct sim_race_access *access, const struct sim_clocks *known, uint32_t birth,
                           const struct sim_race_view *view);
/* The agent and clock of the last write of the byte. False: there is none. */
bool sim_check_race_memory_writer(uint32_t birth, uint64_t address, uint32_t *agent, uint64_t *clock);
/* Forgets a block, or all of them. */
void sim_check_race_memory_forget(uint32_t birth);
void sim_check_race_memory_reset(void);
/* In the child of a fork, where the lists may be half linked: abandons them. */
void sim_check_race_memory_abandon(void);

#endif
