/* The state belongs to the thread; there is no lock. A message keeps the handle of its stream, which is looked up at
 * the end of the group. If something fails there, the rest is done all the same, so that other ranks do not wait for
 * it; the first failure is returned. */
#include "batch.h"

#include "join.h"

#include <stdlib.h>

struct queued {
    struct queued *qu_next;
    HcclComm qu_comm;
    aclrtStream qu_stream;
    void *qu_site;
    struct sim_transfer_message qu_message;
};

struct creation {
    struct creation *cr_next;
    struct sim_comm_seat cr_seat;
    HcclComm *cr_comm;
};

static _Thread_local struct {
    uint32_t depth;
    struct queued *messages, **last_message;
    struct creation *creations, **last_creation;
} batch;

void sim_batch_start(void)
{
    if (batch.depth++ != 0)
        return;
    batch.last_message = &batch.messages;
    batch.last_creation = &batch.creations;
}

bool sim_batch_is_open(void)
{
    return batch.depth != 0;
}

HcclResult sim_batch_message(enum sim_transfer_kind kind, HcclComm comm, const struct sim_transfer_message *message,
                             aclrtStream stream, void *site)
{
    struct sim_target target;
    if (sim_stream_own(stream, &target) != ACL_SUCCESS)
        return HCCL_E_RUNTIME;
    if (batch.depth == 0)
        return sim_transfer_queue(kind, comm, message, 1, target, site);
    struct queued *queued = malloc(sizeof *queued);
    SIM_ARGUMENT(queued != NULL, HCCL_E_MEMORY, "there is no memory for a message");
    *queued = (struct queued){NULL, comm, (aclrtStream)(uintptr_t)target.tg_handle, site, *message};
    *batch.last_message = queued;
    batch.last_message = &queued->qu_next;
    return HCCL_SUCCESS;
}

HcclResult sim_batch_wait(struct sim_comm_seat seat, HcclComm *comm)
{
    if (batch.depth == 0)
        return sim_join_wait(seat, comm);
    struct creation *creation = malloc(sizeof *creation);
    SIM_ARGUMENT(creation != NULL, HCCL_E_MEMORY, "there is no memory for a communicator");
    *creation = (struct creation){NULL, seat, comm};
    *batch.last_creation = creation;
    batch.last_creation = &creation->cr_next;
    return HCCL_SUCCESS;
}

/* ---- the end ---- */

static void keep(HcclResult *result, HcclResult each)
{
    *result = *result == HCCL_SUCCESS ? each : *result;
}

static HcclResult create_all(void)
{
    HcclResult result = HCCL_SUCCESS;
    for (struct creation *creation = batch.creations, *next; creation != NULL; creation = next) {
        next = creation->cr_next;
        keep(&result, sim_join_wait(creation->cr_seat, creation->cr_comm));
        free(creation);
    }
    batch.creations = NULL;
    return result;
}

/* Takes the messages with the communicator and the stream of the first one out of the list, in their order. */
static uint32_t take_alike(struct sim_transfer_message *messages, struct queued *first)
{
    uint32_t count = 0;
    for (struct queued **at = &batch.messages, *queued; (queued = *at) != NULL;) {
        if (queued->qu_comm != first->qu_comm || queued->qu_stream != first->qu_stream) {
            at = &queued->qu_next;
            continue;
        }
        *at = queued->qu_next;
        messages[count++] = queued->qu_message;
        if (queued != first)
            free(queued);
    }
    return count;
}

static HcclResult queue_alike(struct sim_transfer_message *messages)
{
    struct queued *first = batch.messages;
    struct sim_target target;
    const uint32_t count = take_alike(messages, first);
    HcclResult result = HCCL_E_RUNTIME;
    if (sim_stream_find(first->qu_stream, &target) == ACL_SUCCESS)
        result = sim_transfer_queue(SIM_TRANSFER_BATCH, first->qu_comm, messages, count, target, first->qu_site);
    free(first);
    return result;
}

static HcclResult queue_all(void)
{
    HcclResult result = HCCL_SUCCESS;
    uint32_t count = 0;
    for (const struct queued *queued = batch.messages; queued != NULL; queued = queued->qu_next)
        count++;
    struct sim_transfer_message *messages = malloc(count * sizeof *messages + 1);
    while (batch.messages != NULL && messages != NULL)
        keep(&result, queue_alike(messages));
    while (batch.messages != NULL) {
        struct queued *next = batch.messages->qu_next;
        free(batch.messages);
        batch.messages = next;
        keep(&result, HCCL_E_MEMORY);
    }
    free(messages);
    return result;
}

HcclResult sim_batch_end(void)
{
    SIM_ARGUMENT(batch.depth != 0, HCCL_E_PARA, "no group is open, expected HcclGroupStart before");
    if (--batch.depth != 0)
        return HCCL_SUCCESS;
    HcclResult result = create_all();
    keep(&result, queue_all());
    return result;
}
