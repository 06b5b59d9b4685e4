/* Host objects behind handles (object.h): taking, publishing, opening and ending them.
 *
 * A table owns its objects' slots. An object's ob_lock guards its content and the end of its handle; no
 * function here holds the table's own lock together with it. */
#include "object.h"

void *sim_object_take(struct sim_table *table, uint64_t *handle)
{
    struct sim_object *object = sim_table_open(table) == 0 ? sim_table_take(table, handle) : NULL;
    if (object == NULL) {
        sim_refuse(ACL_ERROR_BAD_ALLOC, "there is no memory for another %s (%u may exist)", sim_table_name(table),
                   SIM_OBJECTS - 1);
        return NULL;
    }
    sim_lock(&object->ob_lock);
    return object;
}

void *sim_object_publish(void *object, uint64_t handle)
{
    struct sim_object *head = object;
    atomic_store_explicit(&head->ob_slot.sl_handle, handle, memory_order_release);
    sim_unlock(&head->ob_lock);
    return (void *)(uintptr_t)handle;
}

void *sim_object_peek(struct sim_table *table, const void *handle)
{
    struct sim_object *object = sim_table_find(table, handle);
    if (object == NULL)
        return NULL;
    sim_lock(&object->ob_lock);
    if (atomic_load_explicit(&object->ob_slot.sl_handle, memory_order_relaxed) == (uint64_t)(uintptr_t)handle)
        return object;
    sim_unlock(&object->ob_lock);
    return NULL;
}

void *sim_object_open(struct sim_table *table, const void *handle, const char *argument, aclError code)
{
    void *object = sim_object_peek(table, handle);
    if (object == NULL)
        sim_refuse(code, "%s is %s (%p), expected a live %s", argument, sim_handle_describe(handle), handle,
                   sim_table_name(table));
    return object;
}

void sim_object_end(struct sim_table *table, void *object)
{
    struct sim_object *head = object;
    atomic_store_explicit(&head->ob_slot.sl_handle, 0, memory_order_relaxed);
    sim_unlock(&head->ob_lock);
    sim_table_give(table, head);
}

void sim_object_destroy_all(struct sim_table *table, void (*destroy)(void *object))
{
    for (uint32_t i = 1; i < atomic_load_explicit(&table->tb_count, memory_order_acquire); i++) {
        struct sim_object *object = sim_table_at(table, i);
        sim_lock(&object->ob_lock);
        if (atomic_load_explicit(&object->ob_slot.sl_handle, memory_order_relaxed) != 0)
            destroy(object);
        else
            sim_unlock(&object->ob_lock);
    }
}
