/* Entry points of managed memory. */
#include "address/managed.h"
#include "address/memory.h"
#include "memory/managed_prefetch.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ATTRIBUTES 1024 /* that one call may ask for; fewer exist */

aclError aclrtMemAllocManaged(void **ptr, uint64_t size, uint32_t flag)
{
    SIM_ENTER();
    SIM_NOT_NULL(ptr);
    SIM_ARGUMENT(flag == ACL_RT_MEM_ATTACH_GLOBAL, ACL_ERROR_INVALID_PARAM,
                 "flag is %u, expected ACL_RT_MEM_ATTACH_GLOBAL (1)", flag);
    SIM_TRY(sim_managed_supported());
    SIM_CHECK(size != 0, ACL_ERROR_RT_PARAM_INVALID, "size is 0, expected at least 1");
    return sim_managed_allocate(ptr, size);
}

static aclError check_range(const void *ptr, uint64_t size)
{
    SIM_NOT_NULL(ptr);
    SIM_ARGUMENT(size != 0, ACL_ERROR_INVALID_PARAM, "size is 0, expected at least 1");
    return ACL_SUCCESS;
}

aclError aclrtMemManagedAdvise(const void *const ptr, uint64_t size, aclrtMemManagedAdviseType advise,
                               aclrtMemManagedLocation location)
{
    SIM_ENTER();
    SIM_TRY(check_range(ptr, size));
    SIM_TRY(sim_managed_supported());
    return sim_managed_advise(ptr, size, advise, &location);
}

static aclError check_data(const void *data, const char *name)
{
    SIM_ARGUMENT(data != NULL, ACL_ERROR_INVALID_PARAM, "%s is NULL, expected a valid pointer", name);
    SIM_ARGUMENT(sim_memory_is_host(data), ACL_ERROR_INVALID_PARAM,
                 "%s is %p, which is not host memory, expected a pointer to host memory", name, data);
    return ACL_SUCCESS;
}

aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void *ptr, size_t size, void *data,
                                size_t dataSize)
{
    SIM_ENTER();
    SIM_TRY(check_range(ptr, size));
    SIM_TRY(check_data(data, "data"));
    SIM_TRY(sim_managed_supported());
    SIM_TRY(sim_managed_check_attribute(attribute, ptr, size, dataSize));
    sim_managed_tell(attribute, ptr, size, data, dataSize);
    return ACL_SUCCESS;
}

aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute *attributes, size_t numAttributes, const void *ptr,
                                 size_t size, void **data, size_t *dataSizes)
{
    SIM_ENTER();
    SIM_NOT_NULL(attributes);
    SIM_ARGUMENT(numAttributes != 0, ACL_ERROR_INVALID_PARAM, "numAttributes is 0, expected at least 1");
    SIM_TRY(check_range(ptr, size));
    SIM_NOT_NULL(data);
    SIM_NOT_NULL(dataSizes);
    SIM_CHECK(numAttributes <= ATTRIBUTES, ACL_ERROR_RT_PARAM_INVALID, "numAttributes is %zu, expected at most %d",
              numAttributes, ATTRIBUTES);
    for (size_t i = 0; i < numAttributes; i++) {
        char name[32];
        snprintf(name, sizeof name, "data[%zu]", i);
        SIM_TRY(check_data(data[i], name));
    }
    SIM_TRY(sim_managed_supported());
    for (size_t i = 0; i < numAttributes; i++)
        SIM_TRY(sim_managed_check_attribute(attributes[i], ptr, size, dataSizes[i]));
    for (size_t i = 0; i < numAttributes; i++)
        sim_managed_tell(attributes[i], ptr, size, data[i], dataSizes[i]);
    return ACL_SUCCESS;
}

/* The stream is checked before the values of the other arguments. */
static aclError check_stream(aclrtStream stream)
{
    SIM_TRY(sim_managed_supported());
    return sim_stream_check(stream);
}

aclError aclrtMemManagedPrefetchAsync(const void *ptr, size_t size, aclrtMemManagedLocation location, uint32_t flags,
                                      aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(check_range(ptr, size));
    SIM_ARGUMENT(flags == 0, ACL_ERROR_INVALID_PARAM, "flags is %#x, expected 0 (reserved)", flags);
    SIM_TRY(check_stream(stream));
    SIM_TRY(sim_managed_resolve(&location, "location"));
    SIM_TRY(sim_managed_check_pages(ptr, size, "ptr"));
    SIM_TRY(sim_stream_own(stream, &target));
    const struct sim_managed_goal goal = {ptr, size, location};
    return sim_managed_prefetch(&goal, 1, false, target, SIM_SITE());
}

static aclError check_indexes(const size_t *indexes, size_t locations, size_t count)
{
    for (size_t i = 0; i < locations; i++) {
        SIM_CHECK(i != 0 || indexes[0] == 0, ACL_ERROR_RT_PARAM_INVALID, "prefetchLocIdxs[0] is %zu, expected 0",
                  indexes[0]);
        SIM_CHECK(i == 0 || indexes[i] > indexes[i - 1], ACL_ERROR_RT_PARAM_INVALID,
                  "prefetchLocIdxs[%zu] is %zu, expected more than the %zu before it", i, indexes[i], indexes[i - 1]);
        SIM_CHECK(indexes[i] < count, ACL_ERROR_RT_PARAM_INVALID, "prefetchLocIdxs[%zu] is %zu, expected less than "
                  "count, %zu", i, indexes[i], count);
    }
    return ACL_SUCCESS;
}

/* A range is moved to the last location whose index is not greater than the range's own index. */
static aclError read_goals(const void **ptrs, const size_t *sizes, const aclrtMemManagedLocation *locations,
                           const size_t *indexes, size_t location_count, struct sim_managed_goal *goals, size_t count)
{
    char name[48];
    for (size_t i = 0, at = 0; i < count; i++) {
        bool next = at + 1 < location_count && indexes[at + 1] == i;
        at += next;
        goals[i] = (struct sim_managed_goal){ptrs[i], sizes[i], locations[at]};
        if (next || i == 0) {
            snprintf(name, sizeof name, "prefetchLocs[%zu]", at);
            SIM_TRY(sim_managed_resolve(&goals[i].go_location, name));
        } else {
            goals[i].go_location = goals[i - 1].go_location;
        }
        snprintf(name, sizeof name, "ptrs[%zu]", i);
        SIM_ARGUMENT(ptrs[i] != NULL, ACL_ERROR_INVALID_PARAM, "%s is NULL, expected a valid pointer", name);
        SIM_ARGUMENT(sizes[i] != 0, ACL_ERROR_INVALID_PARAM, "sizes[%zu] is 0, expected at least 1", i);
        SIM_TRY(sim_managed_check_pages(ptrs[i], sizes[i], name));
    }
    return ACL_SUCCESS;
}

aclError aclrtMemManagedPrefetchBatchAsync(const void **ptrs, size_t *sizes, size_t count,
                                           aclrtMemManagedLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                           size_t numPrefetchLocs, uint64_t flags, aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_NOT_NULL(ptrs);
    SIM_NOT_NULL(sizes);
    SIM_ARGUMENT(count != 0, ACL_ERROR_INVALID_PARAM, "count is 0, expected at least 1");
    SIM_NOT_NULL(prefetchLocs);
    SIM_NOT_NULL(prefetchLocIdxs);
    SIM_ARGUMENT(numPrefetchLocs != 0 && numPrefetchLocs <= count, ACL_ERROR_INVALID_PARAM,
                 "numPrefetchLocs is %zu, expected 1 to count, %zu", numPrefetchLocs, count);
    SIM_ARGUMENT(flags == 0, ACL_ERROR_INVALID_PARAM, "flags is %#" PRIx64 ", expected 0 (reserved)", flags);
    SIM_TRY(check_stream(stream));
    SIM_CHECK(count <= SIM_MANAGED_RANGES, ACL_ERROR_RT_PARAM_INVALID, "count is %zu, expected at most %u", count,
              SIM_MANAGED_RANGES);
    SIM_TRY(check_indexes(prefetchLocIdxs, numPrefetchLocs, count));
    struct sim_managed_goal *goals = malloc(count * sizeof *goals);
    SIM_CHECK(goals != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for %zu ranges", count);
    aclError code = read_goals(ptrs, sizes, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, goals, count);
    if (code == ACL_SUCCESS)
        code = sim_stream_own(stream, &target);
    if (code == ACL_SUCCESS)
        code = sim_managed_prefetch(goals, count, true, target, SIM_SITE());
    free(goals);
    return code;
}
