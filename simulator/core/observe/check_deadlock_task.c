/* Queued tasks that may end waits, by the key of these waits: the gate of a flag event or a notify, the address of a
 * value, or one key for all tasks that may run any code. The lock of check_deadlock.c guards everything here.
 *
 * Tasks that are done stay in the lists until a sweep, which comes when there are twice as many as after the last. */
#include "check_deadlock.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024u
#define SWEPT 1024u /* tasks more than after the last sweep */

static struct sim_deadlock_raiser *raisers[BUCKETS];
static size_t raiser_count, swept_count;

static struct sim_deadlock_raiser **bucket_of(uint64_t key)
{
    return &raisers[(key ^ key >> 14) / 8 % BUCKETS];
}

bool sim_check_deadlock_task_replays(const struct sim_op *op)
{
    return (op->op_kind == SIM_TASK_OTHER || op->op_kind == SIM_TASK_CUBE) &&
           strcmp(op->op_name, "aclmdlRIExecuteAsync") == 0; /* of its helpers, too */
}

uint64_t sim_check_deadlock_task_key(const struct sim_op *op, const void *argument, bool *is_record)
{
    *is_record = true;
    switch (op->op_kind) {
    case SIM_TASK_VALUE_WRITE:
        return sim_check_deadlock_task_value_key(op->op_number(argument));
    case SIM_TASK_NOTIFY_WAIT: /* one that clears the number may let one continue that waits for less */
        *is_record = false;
        return (uintptr_t)op->op_edge(argument).eg_gate;
    case SIM_TASK_CALLBACK:
        *is_record = false;
        return SIM_DEADLOCK_ANY_CODE;
    default:
        break;
    }
    if (sim_check_deadlock_task_replays(op) || (op->op_flags & SIM_OP_KERNEL) != 0) {
        *is_record = sim_check_deadlock_task_replays(op); /* also of external events */
        return SIM_DEADLOCK_ANY_CODE;
    }
    struct sim_edge edge = {.eg_kind = SIM_EDGE_NONE};
    if (op->op_edge != NULL)
        edge = op->op_edge(argument);
    return edge.eg_kind == SIM_EDGE_RAISES ? (uintptr_t)edge.eg_gate : 0;
}

static void sweep_raisers(void)
{
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct sim_deadlock_raiser **link = &raisers[i], *raiser; (raiser = *link) != NULL;) {
            if (!sim_check_deadlock_is_done(raiser->dr_stream, raiser->dr_ticket)) {
                link = &raiser->dr_next;
                continue;
            }
            *link = raiser->dr_next;
            free(raiser);
            raiser_count--;
        }
    swept_count = raiser_count;
}

bool sim_check_deadlock_task_keep(const struct sim_deadlock_raiser *kept)
{
    struct sim_deadlock_raiser *raiser = malloc(sizeof *raiser), **bucket = bucket_of(kept->dr_key);
    if (raiser == NULL)
        return false;
    *raiser = *kept;
    raiser->dr_next = *bucket;
    *bucket = raiser;
    if (++raiser_count >= 2 * swept_count + SWEPT)
        sweep_raisers();
    return true;
}

const struct sim_deadlock_raiser *sim_check_deadlock_task_first(uint64_t key)
{
    return *bucket_of(key);
}

void sim_check_deadlock_task_free_all(void)
{
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct sim_deadlock_raiser *raiser; (raiser = raisers[i]) != NULL; free(raiser))
            raisers[i] = raiser->dr_next;
}

void sim_check_deadlock_task_forget_all(void)
{
    memset(raisers, 0, sizeof raisers);
    raiser_count = swept_count = 0;
}
