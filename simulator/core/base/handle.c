/* Tables of slots behind handles (handle.h): opening them, taking and freeing slots, and describing handles in
 * messages.
 *
 * A table owns its slots; freed ones are in its free list. tb_lock guards that list and the growth of the table.
 * Lookups take no lock. */
#include "handle.h"
#include "watcher.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

_Static_assert(SIM_KINDS <= 1 << (SIM_LIFE_SHIFT - SIM_INDEX_BITS), "more bits for kinds");

static struct sim_table *_Atomic tables[SIM_KINDS]; /* by kind; each is written under its table's lock */

int sim_table_open(struct sim_table *table)
{
    sim_lock(&table->tb_lock);
    if (table->tb_base == NULL) {
        void *base = mmap(NULL, table->tb_stride * table->tb_limit, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED) {
            sim_unlock(&table->tb_lock);
            return -1;
        }
        table->tb_base = base;
        atomic_store_explicit(&tables[table->tb_kind], table, memory_order_relaxed);
        atomic_store_explicit(&table->tb_count, 1, memory_order_release); /* publishes tb_base */
    }
    sim_unlock(&table->tb_lock);
    return 0;
}

SIM_RARE static void *tell_created(const struct sim_table *table, uint64_t handle, void *slot)
{
    sim_watcher_create(table, handle);
    return slot;
}

void *sim_table_take(struct sim_table *table, uint64_t *handle)
{
    sim_lock(&table->tb_lock);
    uint32_t index = table->tb_free;
    struct sim_slot *slot;
    if (index != 0) {
        slot = sim_table_at(table, index);
        table->tb_free = slot->sl_next;
    } else {
        index = atomic_load_explicit(&table->tb_count, memory_order_relaxed);
        if (index == 0 || index == table->tb_limit) {
            sim_unlock(&table->tb_lock);
            return NULL;
        }
        slot = sim_table_at(table, index);
        slot->sl_index = index;
        atomic_store_explicit(&table->tb_count, index + 1, memory_order_release);
    }
    uint64_t life = atomic_load_explicit(&table->tb_life, memory_order_relaxed) + 1;
    atomic_store_explicit(&table->tb_life, life, memory_order_relaxed);
    sim_unlock(&table->tb_lock);
    *handle = life << SIM_LIFE_SHIFT | (uint64_t)table->tb_kind << SIM_INDEX_BITS | index;
    return sim_watcher_any() ? tell_created(table, *handle, slot) : slot;
}

static inline void give(struct sim_table *table, struct sim_slot *head)
{
    sim_lock(&table->tb_lock);
    head->sl_next = table->tb_free;
    table->tb_free = head->sl_index;
    sim_unlock(&table->tb_lock);
}

/* Before another thread can use the slot again. */
SIM_RARE static void tell_and_give(struct sim_table *table, struct sim_slot *head)
{
    sim_watcher_destroy(table, head->sl_index);
    give(table, head);
}

void sim_table_give(struct sim_table *table, void *slot)
{
    if (sim_watcher_any())
        tell_and_give(table, slot);
    else
        give(table, slot);
}

void *sim_table_slot_of(const struct sim_table *table, const void *inside)
{
    const unsigned char *at = inside;
    if (at < table->tb_base || at >= table->tb_base + table->tb_stride * table->tb_limit)
        return NULL;
    return sim_table_at(table, (uint32_t)((size_t)(at - table->tb_base) / table->tb_stride));
}

void sim_table_empty(struct sim_table *table)
{
    if (table->tb_base != NULL)
        munmap(table->tb_base, table->tb_stride * table->tb_limit);
    table->tb_base = NULL;
    table->tb_free = 0;
    atomic_store_explicit(&table->tb_count, 0, memory_order_relaxed);
    sim_lock_renew(&table->tb_lock);
}

const char *sim_handle_describe(const void *handle)
{
    static _Thread_local char text[48];
    uint64_t value = (uint64_t)(uintptr_t)handle;
    uint32_t kind = value >> SIM_INDEX_BITS & ((1u << (SIM_LIFE_SHIFT - SIM_INDEX_BITS)) - 1);
    uint32_t index = sim_handle_index(value);
    if (value == 0)
        return "NULL";
    const struct sim_table *table = kind < SIM_KINDS ? atomic_load_explicit(&tables[kind], memory_order_relaxed) : NULL;
    uint64_t life = value >> SIM_LIFE_SHIFT;
    if (table == NULL || index == 0 || index >= table->tb_limit || life == 0 ||
        life > atomic_load_explicit(&table->tb_life, memory_order_relaxed))
        return "not a handle";
    snprintf(text, sizeof text, "a %s %s", sim_table_find(table, handle) != NULL ? "live" : "destroyed",
             sim_table_name(table));
    return text;
}

const char *sim_handle_kind_name(enum sim_kind kind)
{
#define NAME(kind, name) [kind] = name,
    static const char *const names[] = {SIM_EACH_KIND(NAME)};
#undef NAME
    return names[kind];
}

enum sim_kind sim_handle_kind_named(const char *name)
{
    enum sim_kind kind = SIM_KIND_NONE + 1;
    while (kind < SIM_KINDS && strcmp(name, sim_handle_kind_name(kind)) != 0)
        kind++;
    return kind;
}

size_t sim_handle_count(enum sim_kind only)
{
    size_t live = 0;
    for (int kind = 0; kind < SIM_KINDS; kind++) {
        const struct sim_table *table = atomic_load_explicit(&tables[kind], memory_order_relaxed);
        if (table == NULL || (only != SIM_KINDS && kind != (int)only))
            continue;
        uint32_t count = atomic_load_explicit(&table->tb_count, memory_order_acquire);
        for (uint32_t i = 1; i < count; i++) {
            const struct sim_slot *slot = sim_table_at(table, i);
            live += atomic_load_explicit(&slot->sl_handle, memory_order_relaxed) != 0;
        }
    }
    return live;
}
