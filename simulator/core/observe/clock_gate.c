/* The clock model: times at which something happened (clock_gate.h). clock_model.c has the design and the lock. */
#include "clock_gate.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define RAISES 1024u  /* of a gate that no task waits for */
#define BUCKETS 1024u /* of gates */

struct gate {
    struct gate *ga_next;
    uint64_t ga_key;
    struct sim_moments ga_raised;
};

static struct gate *gates[BUCKETS];

/* ---- queues of times ---- */

void sim_clock_gate_push(struct sim_moments *moments, uint64_t ticket, uint64_t time)
{
    if (moments->ms_end == moments->ms_room && moments->ms_first > moments->ms_room / 4) {
        moments->ms_end -= moments->ms_first;
        memmove(moments->ms_all, moments->ms_all + moments->ms_first, moments->ms_end * sizeof *moments->ms_all);
        moments->ms_first = 0;
    } else if (moments->ms_end == moments->ms_room) {
        uint32_t room = moments->ms_room == 0 ? 4 : 2 * moments->ms_room;
        struct sim_moment *longer = realloc(moments->ms_all, room * sizeof *longer);
        if (longer == NULL)
            return;
        moments->ms_all = longer;
        moments->ms_room = room;
    }
    moments->ms_all[moments->ms_end++] = (struct sim_moment){ticket, time};
}

uint64_t sim_clock_gate_take(struct sim_moments *moments)
{
    uint64_t time = moments->ms_all[moments->ms_first++].mo_time;
    if (sim_clock_gate_is_empty(moments))
        sim_clock_gate_empty(moments);
    return time;
}

/* ---- gates ---- */

static struct sim_moments *raised_at(uint64_t key)
{
    struct gate **link = &gates[(key ^ key >> 12) % BUCKETS];
    while (*link != NULL && (*link)->ga_key != key)
        link = &(*link)->ga_next;
    if (*link == NULL && (*link = calloc(1, sizeof **link)) != NULL)
        (*link)->ga_key = key;
    return *link != NULL ? &(*link)->ga_raised : NULL;
}

void sim_clock_gate_raise(uint64_t key, enum sim_gate_sort sort, uint64_t time)
{
    struct sim_moments *raised = raised_at(key);
    if (raised == NULL || (sort == SIM_GATE_LEVEL && !sim_clock_gate_is_empty(raised)))
        return;
    if (sort == SIM_GATE_NEWEST || raised->ms_end - raised->ms_first >= RAISES)
        sim_clock_gate_empty(raised);
    sim_clock_gate_push(raised, 0, time);
}

uint64_t sim_clock_gate_pass(uint64_t key, enum sim_gate_sort sort)
{
    struct sim_moments *raised = raised_at(key);
    if (raised == NULL || sim_clock_gate_is_empty(raised))
        return 0;
    return sort == SIM_GATE_COUNTED ? sim_clock_gate_take(raised) : raised->ms_all[raised->ms_first].mo_time;
}

void sim_clock_gate_lower(uint64_t key)
{
    struct sim_moments *raised = raised_at(key);
    if (raised != NULL)
        sim_clock_gate_empty(raised);
}

void sim_clock_gate_reset(void)
{
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct gate *gate; (gate = gates[i]) != NULL;) {
            gates[i] = gate->ga_next;
            free(gate->ga_raised.ms_all);
            free(gate);
        }
}

void sim_clock_gate_abandon(void)
{
    memset(gates, 0, sizeof gates);
}
