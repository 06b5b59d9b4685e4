/* Times at which something happened, in queues and by the key of a gate, for the clock model. The lock of clock_model.c
 * is held. Without memory, times are missing. */
#ifndef SIM_CLOCK_GATE_H
#define SIM_CLOCK_GATE_H

#include <stdbool.h>
#include <stdint.h>

/* A queue of times, each with the ticket that it belongs to, if it has one. */
struct sim_moments {
    struct sim_moment {
        uint64_t mo_ticket, mo_time;
    } *ms_all;
    uint32_t ms_first, ms_end, ms_room;
};

static inline bool sim_clock_gate_is_empty(const struct sim_moments *moments)
{
    return moments->ms_first == moments->ms_end;
}

static inline void sim_clock_gate_empty(struct sim_moments *moments)
{
    moments->ms_first = moments->ms_end = 0;
}

void sim_clock_gate_push(struct sim_moments *moments, uint64_t ticket, uint64_t time);
/* Takes the first one out; there is one. */
uint64_t sim_clock_gate_take(struct sim_moments *moments);

/* How raises and waits belong together: LEVEL, a flag that the first raise sets and that stays set; COUNTED, each raise
 * is for one wait; NEWEST, a wait may be for any raise, and the newest one counts. */
enum sim_gate_sort { SIM_GATE_LEVEL, SIM_GATE_COUNTED, SIM_GATE_NEWEST };

void sim_clock_gate_raise(uint64_t key, enum sim_gate_sort sort, uint64_t time);
/* The time of the raise that a wait was for; 0: it is unknown. */
uint64_t sim_clock_gate_pass(uint64_t key, enum sim_gate_sort sort);
void sim_clock_gate_lower(uint64_t key);

void sim_clock_gate_reset(void);
/* In the child of a fork, where the table may be half changed. */
void sim_clock_gate_abandon(void);

#endif
