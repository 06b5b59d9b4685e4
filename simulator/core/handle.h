/* Handles are numbers, looked up and never trusted.
 *
 * Value = generation << 28 | kind << 22 | index. The slot stores the full value, so one compare tells a live handle from
 * NULL, garbage, a destroyed one and one of another kind. Slots are type-stable: a table is a reserved range whose slots
 * are reused but never freed or re-typed, so a pointer to a slot may be followed at any time; what it holds is checked
 * under the slot's own lock. Generations never repeat in a process, not even after a reset or in the child of a fork. */
#ifndef SIM_HANDLE_H
#define SIM_HANDLE_H

#include "lock.h"
#include <stddef.h>

enum sim_kind {
    SIM_KIND_CONTEXT = 1,
    SIM_KIND_STREAM,
    SIM_KIND_EVENT,
    SIM_KIND_DATA_BUFFER,
    SIM_KIND_TENSOR_DESC,
    SIM_KIND_TENSOR,
    SIM_KIND_SCALAR,
    SIM_KIND_ARRAY,
    SIM_KIND_LIST,
    SIM_KIND_EXECUTOR,
    SIM_KIND_INSTANCE,
    SIM_KIND_GROUP,
    SIM_KIND_TASK,
    SIM_KIND_CONDITION,
    SIM_KIND_DATASET,
    SIM_KIND_MODEL,
    SIM_KIND_MODEL_DESC,
    SIM_KIND_LOAD_CONFIG,
    SIM_KIND_RUN_CONFIG,
    SIM_KIND_BUNDLE_QUERY,
    SIM_KIND_AIPP,
    SIM_KIND_PROF_CONFIG,
    SIM_KIND_SUBSCRIPTION,
    SIM_KIND_STAMP,
    SIM_KIND_STEP_INFO,
    SIM_KIND_GRAPH_DUMP,
    SIM_KIND_OP_ATTR,
    SIM_KIND_OP_HANDLE,
    SIM_KIND_KERNEL_DESC,
    SIM_KIND_NOTIFY,
    SIM_KIND_COUNTER,
    SIM_KIND_LABEL,
    SIM_KIND_LABEL_LIST,
    SIM_KIND_QUEUE_ATTR,
    SIM_KIND_QUEUE_ROUTE,
    SIM_KIND_QUEUE_ROUTES,
    SIM_KIND_QUEUE_QUESTION,
    SIM_KIND_QUEUE_BUFFER,
    SIM_KIND_CHANNEL,
    SIM_KIND_CHANNEL_ITEM,
    SIM_KIND_CHANNEL_DATASET,
    SIM_KIND_DESCRIPTION,
    SIM_KIND_BINARY,
    SIM_KIND_FUNCTION,
    SIM_KIND_ARGUMENTS,
    SIM_KIND_PHYSICAL,
    SIM_KIND_PARAMETER, /* numbered inside an argument list; no table */
    SIM_KIND_ALLOCATOR,
    SIM_KIND_MEMORY_POOL,
    SIM_KINDS,
};

#define SIM_INDEX_BITS 22
#define SIM_LIFE_SHIFT 28 /* the kind lies between */

static inline uint32_t sim_handle_index(uint64_t handle)
{
    return handle & ((1u << SIM_INDEX_BITS) - 1);
}

/* The head of every slot. */
struct sim_slot {
    _Atomic uint64_t sl_handle; /* 0: not live */
    uint32_t sl_index;
    uint32_t sl_next;           /* free list, by index; guarded by tb_lock */
};

struct sim_table {
    unsigned char *tb_base;
    size_t tb_stride;
    uint32_t tb_limit;         /* slots reserved; slot 0 is never given out */
    enum sim_kind tb_kind;
    const char *tb_name;       /* "stream", for messages */
    _Atomic uint32_t tb_count; /* slots ever given out, slot 0 included; 0: not open */
    uint32_t tb_free;          /* first free index, 0: none */
    struct sim_lock tb_lock;
};

/* Reserves the range (lazily committed) and registers the table for messages; 0 or -1. Opening an open table is free. */
int sim_table_open(struct sim_table *table);

/* Takes a slot and gives it a fresh handle value, which the caller publishes in sl_handle when the slot is ready.
 * NULL when every slot is taken. */
void *sim_table_take(struct sim_table *table, uint64_t *handle);

/* Gives a slot back; its handle must be 0 already. */
void sim_table_give(struct sim_table *table, void *slot);

/* In the child of a fork: an empty table again, whatever the parent's locks were doing. */
void sim_table_empty(struct sim_table *table);

/* For messages: "NULL", "a destroyed stream", "a live event", "not a handle"; valid until this thread's next call. */
const char *sim_handle_describe(const void *handle);

/* Live handles of the table of this name ("stream"), or of all tables (NULL). */
size_t sim_handle_count(const char *name);

/* The slot of a table that something lies in; NULL when it lies elsewhere. */
void *sim_table_slot_of(const struct sim_table *table, const void *inside);

static inline void *sim_table_at(const struct sim_table *table, uint32_t index)
{
    return table->tb_base + (size_t)index * table->tb_stride;
}

/* The live slot of `handle`, or NULL. */
static inline void *sim_table_find(const struct sim_table *table, const void *handle)
{
    uint64_t value = (uint64_t)(uintptr_t)handle;
    uint32_t index = sim_handle_index(value);
    if (unlikely(index == 0 || index >= atomic_load_explicit(&table->tb_count, memory_order_acquire)))
        return NULL;
    struct sim_slot *slot = sim_table_at(table, index);
    return likely(atomic_load_explicit(&slot->sl_handle, memory_order_acquire) == value) ? slot : NULL;
}

#endif
