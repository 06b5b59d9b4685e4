/* Design notes
 *
 * Allocators that the program provides: descriptions of them, and their registration with streams.
 *
 * A description is an object of its own. Registering copies it, so that the program may change or destroy it
 * afterwards. The copies form a short list with the handles of their streams. Handles are never reused: if another
 * thread destroys the stream during the registration, the copy is never found again, and aclsimReset frees it. A count
 * of the copies lets the destruction of a stream skip the list while it is empty.
 *
 * The list's lock is a leaf. It is never held while the program's functions run; these run on the thread that
 * submits the work. */
#include "allocator.h"

#include <stdlib.h>

static struct sim_table descriptions = SIM_OBJECT_TABLE(struct sim_allocator_description, SIM_KIND_ALLOCATOR);

struct registered {
    struct registered *rd_next;
    uint64_t rd_stream;
    struct sim_allocator rd_allocator;
};

static struct sim_lock list_lock;
static struct registered *list; /* sim_stream_listeners counts them */

/* ---- descriptions ---- */

aclrtAllocatorDesc sim_allocator_create(void)
{
    uint64_t handle;
    struct sim_allocator_description *description = sim_object_take(&descriptions, &handle);
    if (description == NULL)
        return NULL;
    description->ad_allocator = (struct sim_allocator){.al_description = (aclrtAllocatorDesc)(uintptr_t)handle};
    return sim_object_publish(description, handle);
}

struct sim_allocator_description *sim_allocator_open(aclrtAllocatorDesc handle)
{
    return sim_object_open(&descriptions, handle, "allocatorDesc", ACL_ERROR_RT_INVALID_HANDLE);
}

static void destroy(void *object)
{
    sim_object_end(&descriptions, object);
}

aclError sim_allocator_destroy(aclrtAllocatorDesc handle)
{
    struct sim_allocator_description *description = sim_allocator_open(handle);
    if (description == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    destroy(description);
    return ACL_SUCCESS;
}

/* ---- registrations ---- */

/* Returns the link to the stream's entry, or the end of the list. The lock is held. */
static struct registered **entry_of(uint64_t stream)
{
    struct registered **link = &list;
    while (*link != NULL && (*link)->rd_stream != stream)
        link = &(*link)->rd_next;
    return link;
}

static aclError read_description(aclrtAllocatorDesc handle, struct sim_allocator *allocator)
{
    struct sim_allocator_description *description = sim_allocator_open(handle);
    if (description == NULL)
        return ACL_ERROR_RT_INVALID_HANDLE;
    *allocator = description->ad_allocator;
    sim_object_close(description);
    const char *missing = allocator->al_object == NULL     ? "SetObj"
                          : allocator->al_allocate == NULL ? "SetAllocFunc"
                          : allocator->al_free == NULL     ? "SetFreeFunc"
                          : allocator->al_address == NULL  ? "SetGetAddrFromBlockFunc"
                                                           : NULL;
    SIM_ARGUMENT(missing == NULL, ACL_ERROR_INVALID_PARAM,
                 "allocatorDesc is %p, which is not complete, expected aclrtAllocator%sToDesc before", handle, missing);
    return ACL_SUCCESS;
}

aclError sim_allocator_register(struct sim_target stream, aclrtAllocatorDesc handle)
{
    struct sim_allocator allocator;
    SIM_TRY(read_description(handle, &allocator));
    struct registered *fresh = malloc(sizeof *fresh);
    SIM_CHECK(fresh != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory for another allocator");
    sim_lock(&list_lock);
    struct registered **link = entry_of(stream.tg_handle), *before = *link;
    *fresh = (struct registered){before != NULL ? before->rd_next : NULL, stream.tg_handle, allocator};
    *link = fresh;
    if (before == NULL)
        atomic_fetch_add(&sim_stream_listeners, 1);
    sim_unlock(&list_lock);
    free(before);
    return ACL_SUCCESS;
}

void sim_allocator_unregister(uint64_t stream)
{
    sim_lock(&list_lock);
    struct registered **link = entry_of(stream), *entry = *link;
    if (entry != NULL) {
        *link = entry->rd_next;
        atomic_fetch_sub(&sim_stream_listeners, 1);
    }
    sim_unlock(&list_lock);
    free(entry);
}

void sim_allocator_forget(struct sim_stream *stream, uint64_t handle)
{
    (void)stream;
    sim_allocator_unregister(handle);
}

bool sim_allocator_find(uint64_t stream, struct sim_allocator *allocator)
{
    if (likely(atomic_load(&sim_stream_listeners) == 0))
        return false;
    sim_lock(&list_lock);
    const struct registered *entry = *entry_of(stream);
    if (entry != NULL)
        *allocator = entry->rd_allocator;
    sim_unlock(&list_lock);
    return entry != NULL;
}

/* ---- blocks ---- */

aclError sim_allocator_take(const struct sim_allocator *allocator, size_t size, struct sim_allocated *taken)
{
    const char *function = sim_thread.th_function;
    *taken = (struct sim_allocated){.ac_block = allocator->al_allocate(allocator->al_object, size)};
    if (taken->ac_block != NULL)
        taken->ac_address = allocator->al_address(taken->ac_block);
    sim_thread.th_function = function;
    SIM_CHECK(taken->ac_block != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION,
              "the allocator registered for the stream returned NULL for %zu bytes of workspace, expected a block",
              size);
    if (taken->ac_address != NULL)
        return ACL_SUCCESS;
    sim_allocator_give(allocator, taken);
    return sim_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                    "the allocator registered for the stream returned NULL as the address of its block %p, expected "
                    "device memory", taken->ac_block);
}

void sim_allocator_give(const struct sim_allocator *allocator, const struct sim_allocated *taken)
{
    const char *function = sim_thread.th_function;
    allocator->al_free(allocator->al_object, taken->ac_block);
    sim_thread.th_function = function;
}

/* ---- the end of everything ---- */

void sim_allocator_reset(void)
{
    sim_object_destroy_all(&descriptions, destroy);
    sim_lock(&list_lock);
    struct registered *left = list;
    list = NULL;
    atomic_store(&sim_stream_listeners, 0);
    sim_unlock(&list_lock);
    while (left != NULL) {
        struct registered *next = left->rd_next;
        free(left);
        left = next;
    }
}

/* The parent may have been changing its list when it forked: the child leaves it alone. */
void sim_allocator_after_fork(void)
{
    sim_table_empty(&descriptions);
    sim_lock_renew(&list_lock);
    list = NULL;
    atomic_store(&sim_stream_listeners, 0);
}
