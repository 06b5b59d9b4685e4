/* Races: what agents know of each other (check_race.c): vector clocks, gates, and the lessons of streams.
 *
 * What a stream knows is a list of `lessons` in the order of their positions in the stream (their places: four per
 * ticket). A lesson is queued at submission and learned when it is first needed, that is after the record that it waits
 * for has passed; from then on it holds everything that the stream knows there. Only the newest learned lessons are
 * kept; for an older place the oldest one stands in, which knows too much, so that a race may be missed.
 *
 * The lock of check_race.c, which every caller holds, guards everything here. If the host runs out of memory, knowledge
 * would be lost, and right programs would be reported: then sim_check_race_order_blind ends all comparisons. */
#include "check_race.h"
#include "base/zero.h"

#include <stdlib.h>
#include <string.h>

#define STREAMS (1u << 16)
#define LEARNED 16            /* learned lessons of a stream; half of them are then forgotten */
#define BUCKETS 1024u         /* of gates */
#define GATES 65536u
#define VALUE_ADDRESS (UINT64_MAX >> 2) /* in the key of a gate */

struct gate {
    struct gate *ga_next;
    uint64_t ga_key;
    uint32_t ga_birth; /* of a value: the allocation id of its block */
    struct sim_clocks *ga_clocks;
};

bool sim_check_race_order_blind;
uint32_t sim_check_race_order_agents = 1;
static struct sim_race_line *lines[STREAMS];
static struct gate *gates[BUCKETS];
static uint32_t gate_count;

/* ---- vector clocks ---- */

static struct sim_clocks *make(uint32_t count)
{
    struct sim_clocks *clocks = calloc(1, sizeof *clocks + count * sizeof *clocks->ck_at);
    sim_check_race_order_blind |= clocks == NULL;
    if (clocks != NULL) {
        clocks->ck_references = 1;
        clocks->ck_count = count;
    }
    return clocks;
}

struct sim_clocks *sim_check_race_order_refer(struct sim_clocks *clocks)
{
    if (clocks != NULL)
        clocks->ck_references++;
    return clocks;
}

void sim_check_race_order_let_go(struct sim_clocks **clocks)
{
    if (*clocks != NULL && --(*clocks)->ck_references == 0)
        free(*clocks);
    *clocks = NULL;
}

/* Makes *clocks one with at least `count` clocks that nothing else refers to. */
static bool own(struct sim_clocks **clocks, uint32_t count)
{
    struct sim_clocks *former = *clocks;
    if (former != NULL && former->ck_references == 1 && former->ck_count >= count)
        return true;
    if (former != NULL && former->ck_count > count)
        count = former->ck_count;
    struct sim_clocks *fresh = make(count);
    if (fresh == NULL)
        return false;
    if (former != NULL)
        memcpy(fresh->ck_at, former->ck_at, former->ck_count * sizeof *former->ck_at);
    sim_check_race_order_let_go(clocks);
    *clocks = fresh;
    return true;
}

bool sim_check_race_order_learn_clock(struct sim_clocks **clocks, uint32_t agent, uint64_t clock)
{
    if (sim_clocks_at(*clocks, agent) >= clock || !own(clocks, agent + 1))
        return false;
    (*clocks)->ck_at[agent] = clock;
    return true;
}

/* True if it was news. What includes both is shared, not copied. */
bool sim_check_race_order_learn(struct sim_clocks **clocks, struct sim_clocks *other)
{
    bool news = false, covers = *clocks == NULL || (other != NULL && other->ck_count >= (*clocks)->ck_count);
    if (other == NULL || *clocks == other)
        return false;
    for (uint32_t i = 0; i < other->ck_count; i++) {
        uint64_t mine = sim_clocks_at(*clocks, i);
        news |= other->ck_at[i] > mine;
        covers &= other->ck_at[i] >= mine;
    }
    if (!news)
        return false;
    if (covers) {
        sim_check_race_order_let_go(clocks);
        *clocks = sim_check_race_order_refer(other);
        return true;
    }
    if (!own(clocks, other->ck_count))
        return true;
    for (uint32_t i = 0; i < other->ck_count; i++)
        if (other->ck_at[i] > (*clocks)->ck_at[i])
            (*clocks)->ck_at[i] = other->ck_at[i];
    return true;
}

/* ---- gates ---- */

static struct gate *gate_of(uint64_t key, bool makes)
{
    struct gate **link = &gates[(key ^ key >> 12) % BUCKETS];
    while (*link != NULL && (*link)->ga_key != key)
        link = &(*link)->ga_next;
    if (*link == NULL && makes && gate_count < GATES && (*link = calloc(1, sizeof **link)) != NULL) {
        (*link)->ga_key = key;
        gate_count++;
    }
    sim_check_race_order_blind |= *link == NULL && makes;
    return *link;
}

void sim_check_race_order_raise(uint64_t key, struct sim_clocks *known, uint32_t agent, uint64_t clock)
{
    struct gate *gate = gate_of(key, true);
    if (gate == NULL)
        return;
    sim_check_race_order_learn(&gate->ga_clocks, known);
    sim_check_race_order_learn_clock(&gate->ga_clocks, agent, clock);
}

/* The key of a value, whose gate also remembers the block. */
uint64_t sim_check_race_order_key(const struct sim_op *op, const void *argument)
{
    uint64_t key = (op->op_number(argument) & VALUE_ADDRESS) | UINT64_C(1) << 62;
    struct gate *gate = gate_of(key, true);
    size_t count;
    if (gate != NULL)
        gate->ga_birth = sim_task_ranges(op, argument, &count)->rg_birth;
    return key;
}

/* ---- lessons of streams ---- */

struct sim_race_line *sim_check_race_order_line(uint32_t index)
{
    if (lines[index] == NULL && (lines[index] = calloc(1, sizeof *lines[index])) != NULL)
        lines[index]->li_agent = sim_check_race_order_agents++;
    sim_check_race_order_blind |= lines[index] == NULL;
    return lines[index];
}

/* A value is also written by ordinary tasks and calls. */
bool sim_check_race_order_learn_gate(struct sim_clocks **known, uint64_t key)
{
    const struct gate *gate = gate_of(key, false);
    uint64_t clock;
    uint32_t agent;
    if (gate == NULL)
        return false;
    bool news = sim_check_race_order_learn(known, gate->ga_clocks);
    if (gate->ga_birth != 0 && sim_check_race_memory_writer(gate->ga_birth, key & VALUE_ADDRESS, &agent, &clock))
        news |= sim_check_race_order_learn_clock(known, agent, clock);
    return news;
}

void sim_check_race_order_learn_record(struct sim_clocks **known, sim_record record)
{
    if (!sim_record_passed(record))
        return; /* a wait that is not over yet, or has expired */
    struct sim_clocks *there = sim_check_race_order_known_at(record, SIM_RACE_END(sim_record_ticket(record)));
    sim_check_race_order_learn(known, there);
    sim_check_race_order_let_go(&there);
}

static void forget_old(struct sim_race_line *line)
{
    uint32_t count = line->li_learned - LEARNED / 2;
    for (uint32_t i = 0; i < count; i++)
        sim_check_race_order_let_go(&line->li_lessons[i].le_clocks);
    line->li_count -= count;
    line->li_learned -= count;
    line->li_pruned = true;
    memmove(line->li_lessons, line->li_lessons + count, line->li_count * sizeof *line->li_lessons);
}

/* Learns the lessons up to a place that the stream has reached. */
void sim_check_race_order_learn_up_to(struct sim_race_line *line, uint64_t place)
{
    if (line->li_busy)
        return;
    line->li_busy = true;
    while (line->li_learned < line->li_count && line->li_lessons[line->li_learned].le_place <= place) {
        struct sim_race_lesson lesson = line->li_lessons[line->li_learned];
        struct sim_clocks *known =
            line->li_learned != 0 ? sim_check_race_order_refer(line->li_lessons[line->li_learned - 1].le_clocks) : NULL;
        if (lesson.le_source == SIM_RACE_FROM_CLOCKS)
            sim_check_race_order_learn(&known, lesson.le_clocks);
        else if (lesson.le_source == SIM_RACE_FROM_RECORD)
            sim_check_race_order_learn_record(&known, lesson.le_key);
        else
            sim_check_race_order_learn_gate(&known, lesson.le_key);
        sim_check_race_order_let_go(&lesson.le_clocks);
        line->li_lessons[line->li_learned].le_source = SIM_RACE_FROM_CLOCKS;
        line->li_lessons[line->li_learned++].le_clocks = known;
    }
    if (line->li_learned > LEARNED)
        forget_old(line);
    line->li_busy = false;
}

/* What a stream knows at a place that it has reached, without itself; the list keeps the reference. */
struct sim_clocks *sim_check_race_order_foreign_at(struct sim_race_line *line, uint64_t place)
{
    sim_check_race_order_learn_up_to(line, place);
    uint32_t i = line->li_learned;
    while (i != 0 && line->li_lessons[i - 1].le_place > place)
        i--;
    if (i != 0)
        return line->li_lessons[i - 1].le_clocks;
    return line->li_pruned && line->li_learned != 0 ? line->li_lessons[0].le_clocks : NULL;
}

/* The same with itself, and with a reference for the caller. */
struct sim_clocks *sim_check_race_order_known_at(sim_record record, uint64_t place)
{
    struct sim_race_line *line = record != 0 ? sim_check_race_order_line((uint32_t)(record >> 48)) : NULL;
    if (line == NULL)
        return NULL;
    struct sim_clocks *known = sim_check_race_order_refer(sim_check_race_order_foreign_at(line, place));
    sim_check_race_order_learn_clock(&known, line->li_agent, sim_record_ticket(record));
    return known;
}

/* Takes over the reference of `clocks`. */
void sim_check_race_order_queue(struct sim_race_line *line, struct sim_race_lesson lesson)
{
    if (line->li_count == line->li_room) {
        uint32_t room = line->li_room == 0 ? 8 : 2 * line->li_room;
        struct sim_race_lesson *lessons = realloc(line->li_lessons, room * sizeof *lessons);
        if (lessons == NULL) {
            sim_check_race_order_blind = true;
            sim_check_race_order_let_go(&lesson.le_clocks);
            return;
        }
        line->li_lessons = lessons;
        line->li_room = room;
    }
    uint32_t place = line->li_count;
    while (place > line->li_learned && line->li_lessons[place - 1].le_place > lesson.le_place)
        place--;
    if (place == line->li_learned && place != 0 && line->li_lessons[place - 1].le_place > lesson.le_place)
        lesson.le_place = line->li_lessons[place - 1].le_place;
    struct sim_race_lesson *at = &line->li_lessons[place], *before = place > line->li_learned ? at - 1 : NULL;
    if (before != NULL && before->le_place == lesson.le_place && before->le_source == lesson.le_source &&
        lesson.le_source != SIM_RACE_FROM_CLOCKS && before->le_key == lesson.le_key)
        return; /* a task that is called again after it was parked */
    memmove(at + 1, at, (line->li_count++ - place) * sizeof *at);
    *at = lesson;
}

void sim_check_race_order_queue_record(struct sim_race_line *line, uint64_t place, sim_record record)
{
    if (record != 0)
        sim_check_race_order_queue(
            line, (struct sim_race_lesson){.le_place = place, .le_source = SIM_RACE_FROM_RECORD, .le_key = record});
}

void sim_check_race_order_queue_gate(struct sim_race_line *line, uint64_t place, uint64_t key)
{
    sim_check_race_order_queue(
        line, (struct sim_race_lesson){.le_place = place, .le_source = SIM_RACE_FROM_GATE, .le_key = key});
}

/* ---- life cycle ---- */

static void forget_lines(void)
{
    bool made = sim_check_race_order_agents != 1; /* else the table is unwritten: reading it would map its pages */
    for (uint32_t i = 0; made && i < STREAMS; i++) {
        struct sim_race_line *line = lines[i];
        if (line == NULL)
            continue;
        for (uint32_t j = 0; j < line->li_count; j++)
            sim_check_race_order_let_go(&line->li_lessons[j].le_clocks);
        free(line->li_lessons);
        free(line);
        lines[i] = NULL;
    }
}

static void forget_gates(void)
{
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct gate *gate; (gate = gates[i]) != NULL;) {
            gates[i] = gate->ga_next;
            sim_check_race_order_let_go(&gate->ga_clocks);
            free(gate);
        }
    gate_count = 0;
}

void sim_check_race_order_reset(void)
{
    forget_lines();
    forget_gates();
    sim_check_race_order_agents = 1;
    sim_check_race_order_blind = false;
}

void sim_check_race_order_abandon(void)
{
    sim_zero(lines, sizeof lines);
    memset(gates, 0, sizeof gates);
    gate_count = 0;
    sim_check_race_order_agents = 1;
    sim_check_race_order_blind = false;
}
