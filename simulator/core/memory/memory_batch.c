/* Batches of copies between host and device (aclrtMemcpyBatch, aclrtMemcpyBatchAsync). All copies of a batch are
 * checked before the first is made or queued. Each is then an ordinary copy; those with a pageable side are made by
 * the calling thread after the stream's earlier work. This file keeps no state and has no lock. */
#include "address/memory.h"
#include "memory_copy.h"
#include <stdio.h>

/* What the checks found. */
struct findings {
    size_t fi_failed;
    bool fi_pageable; /* one side of a copy is pageable host memory */
};

static const char *type_name(aclrtMemLocationType type)
{
    switch (type) {
    case ACL_MEM_LOCATION_TYPE_HOST:
        return "host memory (0)";
    case ACL_MEM_LOCATION_TYPE_DEVICE:
        return "device memory (1)";
    case ACL_MEM_LOCATION_TYPE_UNREGISTERED:
        return "ordinary host memory (2)";
    default:
        return "a type that batch copies do not support";
    }
}

/* "Host" covers pinned and pageable memory. */
static bool is_of_type(const struct sim_place *place, aclrtMemLocationType type)
{
    if (place->pl_class == SIM_MEMORY_DEAD)
        return false;
    return (int)place->pl_class == (int)type ||
           (place->pl_class == SIM_MEMORY_FOREIGN && type == ACL_MEM_LOCATION_TYPE_HOST);
}

/* Checks one side of a copy: `list` names the array for messages, `location` is what the attribute says. */
static aclError check_side(const void *address, uint64_t size, const char *list, const aclrtMemLocation *location,
                           size_t index, struct findings *findings, struct sim_place *place)
{
    findings->fi_failed = index;
    SIM_CHECK(address != NULL, ACL_ERROR_RT_PARAM_INVALID, "%s[%zu] is NULL, expected an address", list, index);
    sim_memory_locate(address, place);
    char name[40], size_name[40];
    if (sim_memory_is_low(place, address)) {
        snprintf(name, sizeof name, "%s[%zu]", list, index);
        return sim_memory_refuse_low(address, name);
    }
    SIM_CHECK(is_of_type(place, location->type), ACL_ERROR_RT_PARAM_INVALID,
              "%s[%zu] is %p, which is %s, and its attribute says %s, expected the same", list, index, address,
              sim_memory_describe(place), type_name(location->type));
    findings->fi_pageable |= place->pl_class == SIM_MEMORY_FOREIGN;
    findings->fi_failed = SIZE_MAX;
    if (place->pl_class == SIM_MEMORY_FOREIGN || sim_memory_holds(place, address, size))
        return ACL_SUCCESS;
    snprintf(name, sizeof name, "%s[%zu]", list, index);
    snprintf(size_name, sizeof size_name, "sizes[%zu]", index);
    return sim_memory_span(address, size, name, size_name, place);
}

/* `to_device` is the direction of the batch, or -1 before its first copy. */
static aclError check_copy(const struct sim_batch *batch, size_t index, const aclrtMemcpyBatchAttr *attribute,
                           int *to_device, struct findings *findings)
{
    struct sim_place dst, src;
    if (batch->ba_sizes[index] == 0)
        return ACL_SUCCESS;
    SIM_TRY(check_side(batch->ba_dsts[index], batch->ba_sizes[index], "dsts", &attribute->dstLoc, index, findings,
                       &dst));
    SIM_TRY(check_side(batch->ba_srcs[index], batch->ba_sizes[index], "srcs", &attribute->srcLoc, index, findings,
                       &src));
    findings->fi_failed = index;
    int direction = dst.pl_class == SIM_MEMORY_DEVICE;
    SIM_CHECK(direction != (src.pl_class == SIM_MEMORY_DEVICE), ACL_ERROR_RT_PARAM_INVALID,
              "srcs[%zu] is %s and dsts[%zu] is %s, expected host memory on one side and device memory on the other",
              index, sim_memory_describe(&src), index, sim_memory_describe(&dst));
    SIM_CHECK(*to_device == -1 || *to_device == direction, ACL_ERROR_RT_PARAM_INVALID,
              "copy %zu goes %s device, expected all copies of a batch in the direction of its first one", index,
              direction ? "to the" : "from the");
    *to_device = direction;
    findings->fi_failed = SIZE_MAX;
    return ACL_SUCCESS;
}

static aclError check(const struct sim_batch *batch, struct findings *findings)
{
    *findings = (struct findings){SIZE_MAX, false};
    const size_t *starts = batch->ba_starts, count = batch->ba_attribute_count;
    SIM_CHECK(count != 0 && count <= batch->ba_count, ACL_ERROR_RT_PARAM_INVALID,
              "numAttrs is %zu, expected 1 to numBatches, %zu", count, batch->ba_count);
    SIM_CHECK(starts[0] == 0, ACL_ERROR_RT_PARAM_INVALID, "attrsIndexes[0] is %zu, expected 0", starts[0]);
    for (size_t i = 1; i < count; i++)
        SIM_CHECK(starts[i] > starts[i - 1], ACL_ERROR_RT_PARAM_INVALID,
                  "attrsIndexes[%zu] is %zu, expected more than the one before, %zu", i, starts[i], starts[i - 1]);
    SIM_CHECK(starts[count - 1] < batch->ba_count, ACL_ERROR_RT_PARAM_INVALID,
              "attrsIndexes[%zu] is %zu, expected less than numBatches, %zu", count - 1, starts[count - 1],
              batch->ba_count);
    int to_device = -1;
    for (size_t index = 0, attribute = 0; index < batch->ba_count; index++) {
        if (attribute + 1 < count && starts[attribute + 1] == index)
            attribute++;
        SIM_TRY(check_copy(batch, index, &batch->ba_attributes[attribute], &to_device, findings));
    }
    return ACL_SUCCESS;
}

static aclError copy_each(const struct sim_batch *batch)
{
    for (size_t i = 0; i < batch->ba_count; i++)
        if (batch->ba_sizes[i] != 0)
            SIM_TRY(sim_memory_copy(batch->ba_dsts[i], batch->ba_srcs[i], batch->ba_sizes[i]));
    return ACL_SUCCESS;
}

aclError sim_memory_copy_batch(const struct sim_batch *batch, size_t *failed)
{
    struct findings findings;
    aclError code = check(batch, &findings);
    *failed = findings.fi_failed;
    SIM_TRY(code);
    return copy_each(batch);
}

aclError sim_memory_copy_batch_async(const struct sim_batch *batch, size_t *failed, enum sim_copy_call call,
                                     aclrtStream stream, void *site)
{
    struct findings findings;
    struct sim_target target;
    SIM_TRY(sim_stream_check(stream));
    aclError code = check(batch, &findings);
    *failed = findings.fi_failed;
    SIM_TRY(code);
    SIM_TRY(sim_stream_own(stream, &target));
    if (findings.fi_pageable) /* before the first copy is queued, so that nothing is left behind if this fails */
        SIM_TRY(sim_memory_wait_for_work(target));
    for (size_t i = 0; i < batch->ba_count; i++)
        if (batch->ba_sizes[i] != 0)
            SIM_TRY(sim_memory_copy_async(batch->ba_dsts[i], batch->ba_srcs[i], batch->ba_sizes[i], ACL_MEMCPY_DEFAULT,
                                          call, target, site));
    return ACL_SUCCESS;
}
