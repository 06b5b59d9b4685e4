/* This file provides the objects with which programs describe queues and routes. Each is a set of plain values, guarded
 * by its object's lock; no two of these locks are held together. */
#include "queue.h"
#include <stdlib.h>
#include <string.h>

static struct sim_table tables[SIM_QUEUE_OBJECTS] = {
    [SIM_QUEUE_ATTR] = SIM_OBJECT_TABLE(struct sim_queue_attr, SIM_KIND_QUEUE_ATTR),
    [SIM_QUEUE_ROUTE] = SIM_OBJECT_TABLE(struct sim_queue_route, SIM_KIND_QUEUE_ROUTE),
    [SIM_QUEUE_ROUTES] = SIM_OBJECT_TABLE(struct sim_queue_routes, SIM_KIND_QUEUE_ROUTES),
    [SIM_QUEUE_QUESTION] = SIM_OBJECT_TABLE(struct sim_queue_question, SIM_KIND_QUEUE_QUESTION),
};

/* A reused slot still holds the values of its former object. */
static void clear(struct sim_object *object, size_t size)
{
    memset(object + 1, 0, size - sizeof *object);
}

void *sim_queue_object_create(enum sim_queue_object kind)
{
    uint64_t handle;
    struct sim_object *object = sim_object_take(&tables[kind], &handle);
    if (object == NULL)
        return NULL;
    clear(object, tables[kind].tb_stride);
    return sim_object_publish(object, handle);
}

void *sim_queue_object_open(enum sim_queue_object kind, const void *handle, const char *argument)
{
    return sim_object_open(&tables[kind], handle, argument, ACL_ERROR_INVALID_PARAM);
}

void sim_queue_object_destroy(enum sim_queue_object kind, void *object)
{
    if (kind == SIM_QUEUE_ROUTES)
        free(((struct sim_queue_routes *)object)->rl_routes);
    sim_object_end(&tables[kind], object);
}

aclError sim_queue_routes_add(struct sim_queue_routes *list, const struct sim_route *route)
{
    struct sim_route *more = realloc(list->rl_routes, (list->rl_count + 1) * sizeof *more);
    SIM_ARGUMENT(more != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for another route");
    list->rl_routes = more;
    more[list->rl_count++] = *route;
    return ACL_SUCCESS;
}

static void destroy_routes(void *object)
{
    sim_queue_object_destroy(SIM_QUEUE_ROUTES, object);
}

static void destroy_attr(void *object)
{
    sim_queue_object_destroy(SIM_QUEUE_ATTR, object);
}

static void destroy_route(void *object)
{
    sim_queue_object_destroy(SIM_QUEUE_ROUTE, object);
}

static void destroy_question(void *object)
{
    sim_queue_object_destroy(SIM_QUEUE_QUESTION, object);
}

void sim_queue_object_reset(void)
{
    static void (*const destroy[SIM_QUEUE_OBJECTS])(void *) = {destroy_attr, destroy_route, destroy_routes,
                                                               destroy_question};
    for (int kind = 0; kind < SIM_QUEUE_OBJECTS; kind++)
        sim_object_destroy_all(&tables[kind], destroy[kind]);
}

void sim_queue_object_after_fork(void)
{
    for (int kind = 0; kind < SIM_QUEUE_OBJECTS; kind++)
        sim_table_empty(&tables[kind]);
}
