/* Host objects behind looked-up handles: what programs describe data with. Each has a lock, held from opening to
 * closing, because another thread may destroy it at any time. */
#ifndef SIM_OBJECT_H
#define SIM_OBJECT_H

#include "fail.h"
#include "handle.h"

#define SIM_OBJECTS (1u << 20) /* slots of each table */

/* The head of every object. */
struct sim_object {
    struct sim_slot ob_slot;
    struct sim_lock ob_lock; /* guards the rest, and that the handle stays live while it is held */
};

#define SIM_OBJECT_TABLE(type, kind) {.tb_stride = sizeof(type), .tb_limit = SIM_OBJECTS, .tb_kind = (kind)}

/* A free slot, locked and not live yet; NULL with a message (200000) when there is no memory. */
void *sim_object_take(struct sim_table *table, uint64_t *handle);

/* Makes a taken object live and unlocks it; returns the handle. */
void *sim_object_publish(void *object, uint64_t handle);

/* The live object, locked; NULL for any other handle. Open leaves a message of `code` that names the argument. */
void *sim_object_peek(struct sim_table *table, const void *handle);
void *sim_object_open(struct sim_table *table, const void *handle, const char *argument, aclError code);

static inline void sim_object_close(void *object)
{
    sim_unlock(&((struct sim_object *)object)->ob_lock);
}

/* Makes an opened object's handle dead, unlocks it and gives the slot back. */
void sim_object_end(struct sim_table *table, void *object);

/* Destroys every live object of a table; `destroy` takes it opened. */
void sim_object_destroy_all(struct sim_table *table, void (*destroy)(void *object));

#endif
