/* Host objects behind handles, such as descriptions of tensors. Each has a lock, which is held from opening to closing
 * the object, because another thread may destroy it at any time. */
#ifndef SIM_OBJECT_H
#define SIM_OBJECT_H

#include "fail.h"
#include "handle.h"

#define SIM_OBJECTS (1u << 20) /* slots of each table */

/* The head of every object. */
struct sim_object {
    struct sim_slot ob_slot;
    struct sim_lock ob_lock; /* guards the rest; while it is held, the handle stays live */
};

#define SIM_OBJECT_TABLE(type, kind) {.tb_stride = sizeof(type), .tb_limit = SIM_OBJECTS, .tb_kind = (kind)}

/* Takes a free slot, which is locked and not live yet. NULL, with a message (200000), when there is no memory. */
void *sim_object_take(struct sim_table *table, uint64_t *handle);

/* Makes a taken object live and unlocks it; returns the handle. */
void *sim_object_publish(void *object, uint64_t handle);

/* Find and lock a live object; NULL for any other handle. sim_object_open then records a message with `code` that names
 * the argument. */
void *sim_object_peek(struct sim_table *table, const void *handle);
void *sim_object_open(struct sim_table *table, const void *handle, const char *argument, aclError code);

/* Unlocks an opened object. */
static inline void sim_object_close(void *object)
{
    sim_unlock(&((struct sim_object *)object)->ob_lock);
}

/* Makes the handle of an opened object dead, unlocks the object and frees the slot. */
void sim_object_end(struct sim_table *table, void *object);

/* Calls `destroy` for every live object of a table, which is passed locked. */
void sim_object_destroy_all(struct sim_table *table, void (*destroy)(void *object));

#endif
