/* Handles: numbers that are looked up and never trusted, and the tables of slots behind them.
 *
 * A handle is generation << 28 | kind << 22 | index. The slot stores the whole value, so that one compare
 * distinguishes a live handle from NULL, garbage, a destroyed one and one of another kind. A table is a reserved
 * range whose slots are reused, but never freed or used for another type, so that a pointer to a slot can always be
 * followed; the slot's own lock guards its content. Generations never repeat in a table, not even after a reset or
 * in the child of a fork. */
#ifndef SIM_HANDLE_H
#define SIM_HANDLE_H

#include "lock.h"
#include <stddef.h>

/* Every kind of handle, with its name in messages. */
#define SIM_EACH_KIND(X)                                                                                               \
    X(SIM_KIND_CONTEXT, "context")                                                                                     \
    X(SIM_KIND_STREAM, "stream")                                                                                       \
    X(SIM_KIND_EVENT, "event")                                                                                         \
    X(SIM_KIND_DATA_BUFFER, "data buffer")                                                                             \
    X(SIM_KIND_TENSOR_DESC, "tensor description")                                                                      \
    X(SIM_KIND_TENSOR, "tensor")                                                                                       \
    X(SIM_KIND_SCALAR, "scalar")                                                                                       \
    X(SIM_KIND_ARRAY, "array")                                                                                         \
    X(SIM_KIND_LIST, "list")                                                                                           \
    X(SIM_KIND_EXECUTOR, "executor")                                                                                   \
    X(SIM_KIND_INSTANCE, "model running instance")                                                                     \
    X(SIM_KIND_GROUP, "task group")                                                                                    \
    X(SIM_KIND_TASK, "task")                                                                                           \
    X(SIM_KIND_CONDITION, "condition")                                                                                 \
    X(SIM_KIND_DATASET, "dataset")                                                                                     \
    X(SIM_KIND_MODEL_DESC, "model description")                                                                        \
    X(SIM_KIND_LOAD_CONFIG, "load configuration")                                                                      \
    X(SIM_KIND_RUN_CONFIG, "run configuration")                                                                        \
    X(SIM_KIND_BUNDLE_QUERY, "bundle query")                                                                           \
    X(SIM_KIND_AIPP, "set of AIPP parameters")                                                                         \
    X(SIM_KIND_PROF_CONFIG, "profiling configuration")                                                                 \
    X(SIM_KIND_SUBSCRIPTION, "subscription configuration")                                                             \
    X(SIM_KIND_STAMP, "stamp")                                                                                         \
    X(SIM_KIND_STEP_INFO, "step info")                                                                                 \
    X(SIM_KIND_GRAPH_DUMP, "graph dump option")                                                                        \
    X(SIM_KIND_OP_ATTR, "set of attributes")                                                                           \
    X(SIM_KIND_OP_HANDLE, "operator handle")                                                                           \
    X(SIM_KIND_KERNEL_DESC, "kernel description")                                                                      \
    X(SIM_KIND_NOTIFY, "notify")                                                                                       \
    X(SIM_KIND_COUNTER, "counting notify")                                                                             \
    X(SIM_KIND_LABEL, "label")                                                                                         \
    X(SIM_KIND_LABEL_LIST, "label list")                                                                               \
    X(SIM_KIND_QUEUE_ATTR, "set of queue attributes")                                                                  \
    X(SIM_KIND_QUEUE_ROUTE, "queue route")                                                                             \
    X(SIM_KIND_QUEUE_ROUTES, "list of queue routes")                                                                   \
    X(SIM_KIND_QUEUE_QUESTION, "queue route query")                                                                    \
    X(SIM_KIND_QUEUE_BUFFER, "shared buffer")                                                                          \
    X(SIM_KIND_CHANNEL, "channel")                                                                                     \
    X(SIM_KIND_CHANNEL_ITEM, "data item")                                                                              \
    X(SIM_KIND_CHANNEL_DATASET, "dataset of tensors")                                                                  \
    X(SIM_KIND_DESCRIPTION, "binary description")                                                                      \
    X(SIM_KIND_BINARY, "kernel binary")                                                                                \
    X(SIM_KIND_FUNCTION, "kernel")                                                                                     \
    X(SIM_KIND_ARGUMENTS, "argument list")                                                                             \
    X(SIM_KIND_PHYSICAL, "physical memory")                                                                            \
    X(SIM_KIND_PARAMETER, "parameter")                                                                                 \
    X(SIM_KIND_ALLOCATOR, "description of an allocator")                                                               \
    X(SIM_KIND_MEMORY_POOL, "memory pool")                                                                             \
    X(SIM_KIND_COMMUNICATOR, "communicator")                                                                           \
    X(SIM_KIND_MEETING, "collective operation")                                                                        \
    X(SIM_KIND_TRANSFER, "transfer")                                                                                   \
    X(SIM_KIND_WIRE, "wire")

#define SIM_KIND_ENTRY(kind, name) kind,
enum sim_kind { SIM_KIND_NONE, SIM_EACH_KIND(SIM_KIND_ENTRY) SIM_KINDS };
#undef SIM_KIND_ENTRY

#define SIM_INDEX_BITS 22
#define SIM_LIFE_SHIFT 28 /* the kind is in the bits between */

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
    uint32_t tb_limit;         /* slots reserved; slot 0 is never used */
    enum sim_kind tb_kind;
    _Atomic uint32_t tb_count; /* slots used so far, including slot 0; 0: not open */
    uint32_t tb_free;          /* first free index, 0: none */
    _Atomic uint64_t tb_life;  /* the newest generation; written under tb_lock */
    struct sim_lock tb_lock;
};

/* Reserves the memory of a table and registers the table for messages. Returns 0 or -1. Opening it twice does
 * nothing. */
int sim_table_open(struct sim_table *table);

/* Takes a slot and a new handle, which the caller stores in sl_handle when the slot is ready. NULL when all slots are
 * taken. */
void *sim_table_take(struct sim_table *table, uint64_t *handle);

/* The name of a kind of handle, such as "stream", and the kind with a name; SIM_KINDS for an unknown name. */
const char *sim_handle_kind_name(enum sim_kind kind);
enum sim_kind sim_handle_kind_named(const char *name);
static inline const char *sim_table_name(const struct sim_table *table)
{
    return sim_handle_kind_name(table->tb_kind);
}

/* Frees a slot; its sl_handle must be 0 already. */
void sim_table_give(struct sim_table *table, void *slot);

/* In the child of a fork: empties the table and renews its lock. */
void sim_table_empty(struct sim_table *table);

/* For messages: "NULL", "a destroyed stream", "a live event", "not a handle"; valid until this thread's next call. */
const char *sim_handle_describe(const void *handle);

/* The number of live handles of one kind, or of all kinds (SIM_KINDS). */
size_t sim_handle_count(enum sim_kind only);

/* The slot of the table that contains an address, or NULL. */
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
    if (slot == NULL) /* never in an open table; saves the callers' checks a branch */
        __builtin_unreachable();
    return likely(atomic_load_explicit(&slot->sl_handle, memory_order_acquire) == value) ? slot : NULL;
}

#endif
