/* Design notes
 *
 * This file provides queues, and the routes that move entries from queue to queue.
 *
 * A queue is a slot that is reused and never freed; it owns its entries. Its gate counts its changes. A thread that
 * finds a queue full or empty remembers the count, releases the lock, waits for the next change, and looks the id up
 * again. So a waiting thread holds no queue, and a queue may be destroyed at any time.
 *
 * Routes need no thread: each call that puts, takes, binds, unbinds or destroys also moves entries along the routes.
 * The first entry of a source goes to all of its targets together, once each has room, so that all targets see the same
 * order. A route whose source or target was destroyed is abnormal: it moves nothing, and is removed when both are
 * destroyed. Routes never form a cycle, so moving ends.
 *
 * Locks: one lock guards all queues and routes. Gate locks are taken inside it. */
#include "queue.h"
#include "base/clock.h"
#include "engine/context.h"
#include "engine/device.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include <stdlib.h>
#include <string.h>

#define INDEX_BITS 12
#define QUEUES (1u << INDEX_BITS) /* slots; slot 0 is never used */
#define LIVES (1u << (32 - INDEX_BITS))

struct queue {
    uint32_t qu_id; /* qu_life << INDEX_BITS | index; 0: free */
    uint32_t qu_life; /* generation of the slot */
    int32_t qu_device;
    const struct sim_cargo *qu_cargo;
    uint32_t qu_depth, qu_count;
    struct sim_parcel *qu_first, *qu_last;
    bool qu_stopped;
    struct sim_gate qu_changed;
};

static struct sim_lock lock; /* guards everything below except the gates */
static struct queue queues[QUEUES];
static uint32_t used;   /* the highest slot ever used */
static uint32_t newest; /* the slot used last: the search starts after it, so that ids are reused late */
static struct sim_route *routes;
static size_t route_count, route_room;

/* ---- under the lock ---- */

static struct queue *find(uint32_t id, const struct sim_cargo *cargo)
{
    struct queue *queue = &queues[id % QUEUES];
    return id != 0 && queue->qu_id == id && queue->qu_cargo == cargo ? queue : NULL;
}

static void append(struct queue *queue, struct sim_parcel *parcel)
{
    parcel->pa_next = NULL;
    *(queue->qu_first == NULL ? &queue->qu_first : &queue->qu_last->pa_next) = parcel;
    queue->qu_last = parcel;
    queue->qu_count++;
    sim_gate_count(&queue->qu_changed);
}

static struct sim_parcel *remove_first(struct queue *queue)
{
    struct sim_parcel *parcel = queue->qu_first;
    queue->qu_first = parcel->pa_next;
    queue->qu_count--;
    sim_gate_count(&queue->qu_changed);
    return parcel;
}

static struct sim_parcel *remove_all(struct queue *queue)
{
    struct sim_parcel *parcels = queue->qu_first;
    queue->qu_first = NULL;
    queue->qu_count = 0;
    sim_gate_count(&queue->qu_changed);
    return parcels;
}

static struct queue *end_of(uint32_t id)
{
    return find(id, &sim_queue_buffers);
}

/* Counts the live targets of a source; 0 if one of them has no room. */
static size_t open_targets(uint32_t source)
{
    size_t count = 0;
    for (size_t i = 0; i < route_count; i++) {
        struct queue *target = routes[i].ro_source == source ? end_of(routes[i].ro_target) : NULL;
        if (target != NULL && target->qu_count == target->qu_depth)
            return 0;
        count += target != NULL;
    }
    return count;
}

static void drop_all(struct sim_parcel *parcels, const struct sim_cargo *cargo)
{
    while (parcels != NULL) {
        struct sim_parcel *parcel = parcels;
        parcels = parcel->pa_next;
        cargo->ca_drop(parcel);
    }
}

/* Moves the first entry to all targets; false if it has to stay. */
static bool hand_on(struct queue *source)
{
    size_t targets = source->qu_count != 0 ? open_targets(source->qu_id) : 0;
    struct sim_parcel *copies = NULL;
    if (targets == 0)
        return false;
    for (size_t i = 1; i < targets; i++) {
        struct sim_parcel *copy = sim_queue_buffers.ca_share(source->qu_first);
        if (copy == NULL) { /* no memory: the next change tries again */
            drop_all(copies, &sim_queue_buffers);
            return false;
        }
        copy->pa_next = copies;
        copies = copy;
    }
    uint32_t id = source->qu_id;
    struct sim_parcel *parcel = remove_first(source);
    parcel->pa_next = copies;
    for (size_t i = 0; i < route_count; i++) {
        struct queue *target = routes[i].ro_source == id ? end_of(routes[i].ro_target) : NULL;
        if (target == NULL)
            continue;
        struct sim_parcel *rest = parcel->pa_next;
        append(target, parcel);
        parcel = rest;
    }
    return true;
}

static void follow_routes(void)
{
    bool moved = route_count != 0;
    while (moved) {
        moved = false;
        for (size_t i = 0; i < route_count; i++) {
            struct queue *source = end_of(routes[i].ro_source);
            while (source != NULL && hand_on(source))
                moved = true;
        }
    }
}

/* Frees the slot and returns the entries that were in it. */
static struct sim_parcel *end(struct queue *queue)
{
    size_t kept = 0;
    queue->qu_id = 0;
    struct sim_parcel *left = remove_all(queue);
    for (size_t i = 0; i < route_count; i++)
        if (end_of(routes[i].ro_source) != NULL || end_of(routes[i].ro_target) != NULL)
            routes[kept++] = routes[i];
    route_count = kept;
    return left;
}

/* ---- queues ---- */

static struct queue *free_slot(void)
{
    for (uint32_t step = 0; step < QUEUES - 1; step++) {
        uint32_t index = 1 + (newest + step) % (QUEUES - 1);
        if (queues[index].qu_id == 0) {
            newest = index;
            return &queues[index];
        }
    }
    return NULL;
}

aclError sim_queue_create(const struct sim_cargo *cargo, int32_t device, uint32_t depth, uint32_t *id)
{
    sim_lock(&lock);
    struct queue *queue = free_slot();
    if (queue != NULL) {
        queue->qu_life = queue->qu_life + 1 < LIVES ? queue->qu_life + 1 : 1;
        *id = queue->qu_id = queue->qu_life << INDEX_BITS | newest;
        queue->qu_device = device;
        queue->qu_cargo = cargo;
        queue->qu_depth = depth;
        queue->qu_stopped = false;
        used = newest > used ? newest : used;
    }
    sim_unlock(&lock);
    SIM_ARGUMENT(queue != NULL, ACL_ERROR_BAD_ALLOC, "there are %u queues and channels already, which is the maximum",
                 QUEUES - 1);
    return ACL_SUCCESS;
}

bool sim_queue_destroy(uint32_t id, const struct sim_cargo *cargo)
{
    struct sim_parcel *left = NULL;
    sim_lock(&lock);
    struct queue *queue = find(id, cargo);
    if (queue != NULL) {
        left = end(queue);
        follow_routes();
    }
    sim_unlock(&lock);
    drop_all(left, cargo);
    return queue != NULL;
}

void sim_queue_stop(uint32_t id, const struct sim_cargo *cargo)
{
    sim_lock(&lock);
    struct queue *queue = find(id, cargo);
    if (queue != NULL) {
        queue->qu_stopped = true;
        sim_gate_count(&queue->qu_changed);
    }
    sim_unlock(&lock);
}

void sim_queue_wake(uint32_t id, const struct sim_cargo *cargo)
{
    sim_lock(&lock);
    struct queue *queue = find(id, cargo);
    if (queue != NULL)
        sim_gate_count(&queue->qu_changed);
    sim_unlock(&lock);
}

void sim_queue_clean(uint32_t id, const struct sim_cargo *cargo)
{
    sim_lock(&lock);
    struct queue *queue = find(id, cargo);
    struct sim_parcel *left = queue != NULL ? remove_all(queue) : NULL;
    sim_unlock(&lock);
    drop_all(left, cargo);
}

uint32_t sim_queue_count(uint32_t id, const struct sim_cargo *cargo)
{
    sim_lock(&lock);
    struct queue *queue = find(id, cargo);
    uint32_t count = queue != NULL ? queue->qu_count : 0;
    sim_unlock(&lock);
    return count;
}

bool sim_queue_device(uint32_t id, const struct sim_cargo *cargo, int32_t *device)
{
    sim_lock(&lock);
    struct queue *queue = find(id, cargo);
    if (queue != NULL)
        *device = queue->qu_device;
    sim_unlock(&lock);
    return queue != NULL;
}

/* ---- putting and taking ---- */

/* Releases the lock and waits for the queue's next change. After SIM_PASSED the caller looks the queue up again. */
static enum sim_passage wait_for_change(struct queue *queue, uint64_t deadline, struct sim_patience patience)
{
    uint64_t level = sim_gate_level(&queue->qu_changed);
    sim_unlock(&lock);
    bool is_feeder = patience.pt_given_up != NULL; /* a thread of a model, not of the program */
    enum sim_wait wait = is_feeder ? sim_engine_wait_gate(&queue->qu_changed, level + 1, deadline)
                                   : sim_engine_help_gate(&queue->qu_changed, level + 1, deadline);
    if (wait == SIM_WAIT_PASSED)
        return SIM_PASSED;
    return wait == SIM_WAIT_EXPIRED ? SIM_PASSAGE_EXPIRED : SIM_PASSAGE_KERNEL;
}

static struct queue *find_open(uint32_t id, const struct sim_cargo *cargo)
{
    struct queue *queue = find(id, cargo);
    return queue != NULL && !queue->qu_stopped ? queue : NULL;
}

static bool is_given_up(struct sim_patience patience)
{
    return patience.pt_given_up != NULL && atomic_load_explicit(patience.pt_given_up, memory_order_acquire);
}

enum sim_passage sim_queue_put(uint32_t id, const struct sim_cargo *cargo, struct sim_parcel *parcel,
                               struct sim_patience patience)
{
    uint64_t deadline = sim_clock_deadline(patience.pt_milliseconds);
    enum sim_passage passage = SIM_PASSED;
    while (passage == SIM_PASSED) {
        sim_lock(&lock);
        struct queue *queue = find_open(id, cargo);
        bool full = queue != NULL && queue->qu_count == queue->qu_depth;
        if (full && !is_given_up(patience)) {
            passage = wait_for_change(queue, deadline, patience);
            continue;
        }
        if (queue == NULL || full) {
            passage = SIM_PASSAGE_GONE;
        } else {
            append(queue, parcel);
            follow_routes();
        }
        sim_unlock(&lock);
        break;
    }
    return passage;
}

enum sim_passage sim_queue_take(uint32_t id, const struct sim_cargo *cargo, struct sim_parcel **parcel, uint64_t *room,
                                struct sim_patience patience)
{
    uint64_t deadline = sim_clock_deadline(patience.pt_milliseconds);
    enum sim_passage passage = SIM_PASSED;
    while (passage == SIM_PASSED) {
        sim_lock(&lock);
        struct queue *queue = is_given_up(patience) ? NULL : find_open(id, cargo);
        if (queue != NULL && queue->qu_count == 0) {
            passage = wait_for_change(queue, deadline, patience);
            continue;
        }
        if (queue == NULL) {
            passage = SIM_PASSAGE_GONE;
        } else if (queue->qu_first->pa_bytes > *room) {
            passage = SIM_PASSAGE_SHORT;
            *room = queue->qu_first->pa_bytes;
        } else {
            *parcel = remove_first(queue);
            follow_routes();
        }
        sim_unlock(&lock);
        break;
    }
    return passage;
}

/* ---- queues of programs ---- */

aclError sim_queue_check(uint32_t id, const char *argument)
{
    struct sim_context *context;
    int32_t device = 0;
    SIM_TRY(sim_engine_may_wait());
    SIM_TRY(sim_context_current(&context));
    int32_t current = context->cx_device->dv_id;
    SIM_ARGUMENT(sim_queue_device(id, &sim_queue_buffers, &device), ACL_ERROR_INVALID_QUEUE_ID,
                 "%s is %u, expected the id of a live queue, as acltdtCreateQueue returned it", argument, id);
    SIM_ARGUMENT(device == current, ACL_ERROR_INVALID_QUEUE_ID,
                 "%s is %u, a queue of device %d, expected one of the current device, %d", argument, id, device,
                 current);
    return ACL_SUCCESS;
}

aclError sim_queue_outcome(enum sim_passage passage, uint32_t id, int32_t timeout, bool put)
{
    SIM_ARGUMENT(passage != SIM_PASSAGE_GONE, ACL_ERROR_INVALID_QUEUE_ID,
                 "qid is %u, which was destroyed during the call", id);
    SIM_CHECK(passage != SIM_PASSAGE_EXPIRED, put ? ACL_ERROR_RT_QUEUE_FULL : ACL_ERROR_RT_QUEUE_EMPTY,
              "qid is %u, a queue that is %s, and stayed so for the timeout of %d ms", id, put ? "full" : "empty",
              timeout);
    return sim_engine_refusal(passage == SIM_PASSAGE_KERNEL ? SIM_WAIT_KERNEL : SIM_WAIT_PASSED);
}

/* ---- routes, under the lock ---- */

static size_t place_of(const struct sim_route *route)
{
    size_t i = 0;
    while (i < route_count &&
           (routes[i].ro_source != route->ro_source || routes[i].ro_target != route->ro_target))
        i++;
    return i;
}

/* Whether bound routes lead from one live queue to another. */
static bool leads(uint32_t from, uint32_t to)
{
    unsigned char seen[QUEUES] = {0};
    seen[from % QUEUES] = 1;
    for (bool more = true; more && !seen[to % QUEUES];) {
        more = false;
        for (size_t i = 0; i < route_count; i++) {
            if (end_of(routes[i].ro_source) == NULL || end_of(routes[i].ro_target) == NULL ||
                !seen[routes[i].ro_source % QUEUES] || seen[routes[i].ro_target % QUEUES])
                continue;
            seen[routes[i].ro_target % QUEUES] = 1;
            more = true;
        }
    }
    return seen[to % QUEUES] != 0;
}

static bool add_route(const struct sim_route *route)
{
    if (route_count == route_room) {
        size_t room = route_room == 0 ? 8 : 2 * route_room;
        struct sim_route *more = realloc(routes, room * sizeof *more);
        if (more == NULL)
            return false;
        routes = more;
        route_room = room;
    }
    routes[route_count++] = *route;
    follow_routes();
    return true;
}

aclError sim_queue_bind(struct sim_route *route)
{
    route->ro_status = ACL_TDT_QUEUE_ROUTE_UNBIND;
    SIM_TRY(sim_queue_check(route->ro_source, "srcId"));
    SIM_TRY(sim_queue_check(route->ro_target, "dstId"));
    sim_lock(&lock);
    bool known = place_of(route) < route_count; /* binding it again changes nothing */
    bool circle = !known && leads(route->ro_target, route->ro_source);
    bool added = known || (!circle && add_route(route));
    sim_unlock(&lock);
    SIM_ARGUMENT(!circle, ACL_ERROR_INVALID_PARAM,
                 "the route from queue %u to queue %u closes a cycle, expected routes without cycles", route->ro_source,
                 route->ro_target);
    SIM_ARGUMENT(added, ACL_ERROR_BAD_ALLOC, "there is no memory for another route");
    route->ro_status = ACL_TDT_QUEUE_ROUTE_BIND;
    return ACL_SUCCESS;
}

aclError sim_queue_unbind(struct sim_route *route)
{
    struct sim_context *context;
    SIM_TRY(sim_context_current(&context));
    sim_lock(&lock);
    size_t place = place_of(route);
    bool known = place < route_count;
    if (known) {
        memmove(routes + place, routes + place + 1, (route_count - place - 1) * sizeof *routes);
        route_count--;
        follow_routes(); /* a full target of this route may have blocked the other routes */
    }
    sim_unlock(&lock);
    route->ro_status = ACL_TDT_QUEUE_ROUTE_UNBIND;
    SIM_ARGUMENT(known, ACL_ERROR_INVALID_PARAM,
                 "there is no route from queue %u to queue %u, expected one that acltdtBindQueueRoutes has bound",
                 route->ro_source, route->ro_target);
    return ACL_SUCCESS;
}

static int32_t status_of(const struct sim_route *route)
{
    bool whole = end_of(route->ro_source) != NULL && end_of(route->ro_target) != NULL;
    return whole ? ACL_TDT_QUEUE_ROUTE_BIND : ACL_TDT_QUEUE_ROUTE_BIND_ABNORMAL;
}

static bool matches(const struct sim_route *route, const struct sim_route_question *question)
{
    bool source = route->ro_source == question->rq_source, target = route->ro_target == question->rq_target;
    switch (question->rq_mode) {
    case ACL_TDT_QUEUE_ROUTE_QUERY_SRC:
        return source;
    case ACL_TDT_QUEUE_ROUTE_QUERY_DST:
        return target;
    case ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST:
        return source && target;
    case ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL:
        break;
    }
    return status_of(route) == ACL_TDT_QUEUE_ROUTE_BIND_ABNORMAL;
}

aclError sim_queue_find_routes(const struct sim_route_question *question, struct sim_route **found, size_t *count)
{
    struct sim_context *context;
    SIM_TRY(sim_context_current(&context));
    *count = 0;
    sim_lock(&lock);
    *found = malloc((route_count + 1) * sizeof **found);
    for (size_t i = 0; i < route_count && *found != NULL; i++) {
        if (!matches(&routes[i], question))
            continue;
        (*found)[*count] = routes[i];
        (*found)[(*count)++].ro_status = status_of(&routes[i]);
    }
    sim_unlock(&lock);
    SIM_ARGUMENT(*found != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for a list of routes");
    return ACL_SUCCESS;
}

/* ---- reset and fork ---- */

void sim_queue_reset(void)
{
    sim_lock(&lock);
    for (uint32_t i = 1; i <= used; i++)
        if (queues[i].qu_id != 0)
            drop_all(end(&queues[i]), queues[i].qu_cargo);
    free(routes);
    routes = NULL;
    route_count = route_room = 0;
    sim_unlock(&lock);
    sim_queue_object_reset();
    sim_queue_buffer_reset();
}

void sim_queue_after_fork(void)
{
    sim_lock_renew(&lock);
    for (uint32_t i = 1; i <= used; i++) {
        uint32_t life = queues[i].qu_life;
        memset(&queues[i], 0, sizeof queues[i]); /* waiters and entries belong to the parent */
        queues[i].qu_life = life;
    }
    routes = NULL;
    route_count = route_room = 0;
    sim_queue_object_after_fork();
    sim_queue_buffer_after_fork();
}
