/* Entry points of routes between queues. The routes of a list are bound and unbound one by one, in order. Each route
 * keeps its own status, and the call returns the code of the first failure. */
#include "address/memory.h"
#include "queue/queue.h"
#include <stdlib.h>
#include <string.h>

static aclError destroy(enum sim_queue_object kind, const void *handle, const char *argument)
{
    void *found = sim_queue_object_open(kind, handle, argument);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    sim_queue_object_destroy(kind, found);
    return ACL_SUCCESS;
}

/* ---- routes ---- */

acltdtQueueRoute *acltdtCreateQueueRoute(uint32_t srcId, uint32_t dstId)
{
    SIM_ENTER();
    acltdtQueueRoute *handle = sim_queue_object_create(SIM_QUEUE_ROUTE);
    struct sim_queue_route *route = handle == NULL ? NULL : sim_queue_object_open(SIM_QUEUE_ROUTE, handle, "route");
    if (route == NULL)
        return NULL;
    route->qr_route = (struct sim_route){srcId, dstId, ACL_TDT_QUEUE_ROUTE_UNBIND};
    sim_object_close(route);
    return handle;
}

aclError acltdtDestroyQueueRoute(const acltdtQueueRoute *route)
{
    SIM_ENTER();
    return destroy(SIM_QUEUE_ROUTE, route, "route");
}

static aclError read_route(const acltdtQueueRoute *handle, struct sim_route *route)
{
    struct sim_queue_route *found = sim_queue_object_open(SIM_QUEUE_ROUTE, handle, "route");
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    *route = found->qr_route;
    sim_object_close(found);
    return ACL_SUCCESS;
}

aclError acltdtGetQueueRouteParam(const acltdtQueueRoute *route, acltdtQueueRouteParamType type, size_t len,
                                  size_t *paramRetSize, void *param)
{
    SIM_ENTER();
    struct sim_route found;
    SIM_NOT_NULL(route);
    SIM_NOT_NULL(paramRetSize);
    SIM_NOT_NULL(param);
    SIM_ARGUMENT((unsigned)type <= ACL_TDT_QUEUE_ROUTE_STATUS_INT32, ACL_ERROR_INVALID_PARAM,
                 "type is %d, expected 0 (source), 1 (target) or 2 (status)", (int)type);
    SIM_ARGUMENT(len >= sizeof(uint32_t), ACL_ERROR_INVALID_PARAM, "len is %zu, expected 4", len);
    SIM_ARGUMENT(sim_memory_is_host(param), ACL_ERROR_INVALID_PARAM,
                 "param is %p, which is device memory, expected host memory", param);
    SIM_TRY(read_route(route, &found));
    uint32_t values[] = {found.ro_source, found.ro_target, (uint32_t)found.ro_status};
    memcpy(param, &values[type], sizeof values[type]);
    *paramRetSize = sizeof values[type];
    return ACL_SUCCESS;
}

/* ---- lists of routes ---- */

acltdtQueueRouteList *acltdtCreateQueueRouteList(void)
{
    SIM_ENTER();
    return sim_queue_object_create(SIM_QUEUE_ROUTES);
}

aclError acltdtDestroyQueueRouteList(const acltdtQueueRouteList *routeList)
{
    SIM_ENTER();
    return destroy(SIM_QUEUE_ROUTES, routeList, "routeList");
}

aclError acltdtAddQueueRoute(acltdtQueueRouteList *routeList, const acltdtQueueRoute *route)
{
    SIM_ENTER();
    struct sim_route added;
    SIM_NOT_NULL(routeList);
    SIM_TRY(read_route(route, &added));
    struct sim_queue_routes *list = sim_queue_object_open(SIM_QUEUE_ROUTES, routeList, "routeList");
    if (list == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = sim_queue_routes_add(list, &added);
    sim_object_close(list);
    return code;
}

/* Copies the route at an index; fails if the index is past the end. */
static aclError route_at(const acltdtQueueRouteList *handle, const char *argument, size_t index,
                         struct sim_route *route)
{
    struct sim_queue_routes *list = sim_queue_object_open(SIM_QUEUE_ROUTES, handle, argument);
    if (list == NULL)
        return ACL_ERROR_INVALID_PARAM;
    size_t count = list->rl_count;
    if (index < count)
        *route = list->rl_routes[index];
    sim_object_close(list);
    SIM_ARGUMENT(index < count, ACL_ERROR_INVALID_PARAM, "index is %zu, expected less than %zu, the number of routes "
                 "in the list",
                 index, count);
    return ACL_SUCCESS;
}

aclError acltdtGetQueueRoute(const acltdtQueueRouteList *routeList, size_t index, acltdtQueueRoute *route)
{
    SIM_ENTER();
    struct sim_route found;
    SIM_NOT_NULL(route);
    SIM_TRY(route_at(routeList, "routeList", index, &found));
    struct sim_queue_route *target = sim_queue_object_open(SIM_QUEUE_ROUTE, route, "route");
    if (target == NULL)
        return ACL_ERROR_INVALID_PARAM;
    target->qr_route = found;
    sim_object_close(target);
    return ACL_SUCCESS;
}

static size_t count_of(const acltdtQueueRouteList *handle, const char *argument)
{
    struct sim_queue_routes *list = sim_queue_object_open(SIM_QUEUE_ROUTES, handle, argument);
    if (list == NULL)
        return 0;
    size_t count = list->rl_count;
    sim_object_close(list);
    return count;
}

size_t acltdtGetQueueRouteNum(const acltdtQueueRouteList *routeList)
{
    SIM_ENTER();
    return count_of(routeList, "routeList");
}

/* ---- binding and unbinding ---- */

static aclError keep_status(acltdtQueueRouteList *handle, size_t index, const struct sim_route *route)
{
    struct sim_queue_routes *list = sim_queue_object_open(SIM_QUEUE_ROUTES, handle, "qRouteList");
    if (list == NULL)
        return ACL_ERROR_INVALID_PARAM;
    if (index < list->rl_count) /* false if another thread changed the list, against the documents */
        list->rl_routes[index].ro_status = route->ro_status;
    sim_object_close(list);
    return ACL_SUCCESS;
}

static aclError for_each(acltdtQueueRouteList *handle, aclError (*change)(struct sim_route *route))
{
    struct sim_queue_routes *list = sim_queue_object_open(SIM_QUEUE_ROUTES, handle, "qRouteList");
    aclError first = ACL_SUCCESS;
    if (list == NULL)
        return ACL_ERROR_INVALID_PARAM;
    size_t count = list->rl_count;
    sim_object_close(list);
    for (size_t i = 0; i < count; i++) {
        struct sim_route route;
        SIM_TRY(route_at(handle, "qRouteList", i, &route));
        aclError code = change(&route);
        SIM_TRY(keep_status(handle, i, &route));
        first = first == ACL_SUCCESS ? code : first;
    }
    return first;
}

aclError acltdtBindQueueRoutes(acltdtQueueRouteList *qRouteList)
{
    SIM_ENTER();
    return for_each(qRouteList, sim_queue_bind);
}

aclError acltdtUnbindQueueRoutes(acltdtQueueRouteList *qRouteList)
{
    SIM_ENTER();
    return for_each(qRouteList, sim_queue_unbind);
}

/* ---- queries ---- */

acltdtQueueRouteQueryInfo *acltdtCreateQueueRouteQueryInfo(void)
{
    SIM_ENTER();
    return sim_queue_object_create(SIM_QUEUE_QUESTION);
}

aclError acltdtDestroyQueueRouteQueryInfo(const acltdtQueueRouteQueryInfo *info)
{
    SIM_ENTER();
    return destroy(SIM_QUEUE_QUESTION, info, "info");
}

static bool is_mode(uint32_t mode)
{
    return mode <= ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST || mode == ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL;
}

aclError acltdtSetQueueRouteQueryInfo(acltdtQueueRouteQueryInfo *param, acltdtQueueRouteQueryInfoParamType type,
                                      size_t len, const void *value)
{
    SIM_ENTER();
    uint32_t number;
    SIM_NOT_NULL(param);
    SIM_NOT_NULL(value);
    SIM_ARGUMENT((unsigned)type <= ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32, ACL_ERROR_INVALID_PARAM,
                 "type is %d, expected 0 (mode), 1 (source) or 2 (target)", (int)type);
    SIM_ARGUMENT(len == sizeof number, ACL_ERROR_INVALID_PARAM, "len is %zu, expected 4", len);
    SIM_ARGUMENT(sim_memory_is_host(value), ACL_ERROR_INVALID_PARAM,
                 "value is %p, which is device memory, expected host memory", value);
    memcpy(&number, value, sizeof number);
    SIM_ARGUMENT(type != ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM || is_mode(number), ACL_ERROR_INVALID_PARAM,
                 "the mode is %u, expected 0 (source), 1 (target), 2 (both) or 100 (abnormal)", number);
    struct sim_queue_question *found = sim_queue_object_open(SIM_QUEUE_QUESTION, param, "param");
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    struct sim_route_question *question = &found->qq_question;
    if (type == ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM)
        question->rq_mode = (acltdtQueueRouteQueryMode)number;
    else
        *(type == ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32 ? &question->rq_source : &question->rq_target) = number;
    found->qq_set |= 1u << type;
    sim_object_close(found);
    return ACL_SUCCESS;
}

static aclError read_question(const acltdtQueueRouteQueryInfo *handle, struct sim_route_question *question)
{
    static const uint32_t needed[] = {[ACL_TDT_QUEUE_ROUTE_QUERY_SRC] = 1u << ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32,
                                      [ACL_TDT_QUEUE_ROUTE_QUERY_DST] = 1u << ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32,
                                      [ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST] =
                                          1u << ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32 |
                                          1u << ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32};
    struct sim_queue_question *found = sim_queue_object_open(SIM_QUEUE_QUESTION, handle, "queryInfo");
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    *question = found->qq_question;
    uint32_t set = found->qq_set;
    sim_object_close(found);
    SIM_ARGUMENT(set & 1u << ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, ACL_ERROR_INVALID_PARAM,
                 "queryInfo has no mode, expected ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM to be set");
    uint32_t ids = question->rq_mode == ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL ? 0 : needed[question->rq_mode];
    SIM_ARGUMENT((set & ids) == ids, ACL_ERROR_INVALID_PARAM,
                 "queryInfo has mode %d, expected the queue ids that it compares to be set", (int)question->rq_mode);
    return ACL_SUCCESS;
}

/* The result replaces the contents of the list. */
aclError acltdtQueryQueueRoutes(const acltdtQueueRouteQueryInfo *queryInfo, acltdtQueueRouteList *qRouteList)
{
    SIM_ENTER();
    struct sim_route_question question;
    struct sim_route *routes;
    size_t count;
    SIM_NOT_NULL(qRouteList);
    SIM_TRY(read_question(queryInfo, &question));
    SIM_TRY(sim_queue_find_routes(&question, &routes, &count));
    struct sim_queue_routes *list = sim_queue_object_open(SIM_QUEUE_ROUTES, qRouteList, "qRouteList");
    if (list == NULL) {
        free(routes);
        return ACL_ERROR_INVALID_PARAM;
    }
    free(list->rl_routes);
    list->rl_routes = routes;
    list->rl_count = count;
    sim_object_close(list);
    return ACL_SUCCESS;
}
