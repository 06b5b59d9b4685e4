/* What checkers say about memory: for each block, where it was allocated, what the program called it, and where it was
 * freed.
 *
 * Blocks are found by their allocation id in a hash table. Those that were freed are also in a queue, and only the
 * newest DEAD of them are kept. `lock` guards all of it; it is taken with locks of heaps and pools held, and takes none
 * itself. */
#include "check.h"
#include "address/memory.h"
#include "base/zero.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BUCKETS 65536u
#define DEAD 65536u

struct entry {
    struct sim_check_block en_block;
    bool en_freeing;                      /* its free is queued */
    struct entry *en_next;                /* in the bucket */
    struct entry *en_older, *en_newer;    /* among the live ones, or the dead ones */
};

struct list {
    struct entry *li_oldest, *li_newest;
    size_t li_count;
};

static struct sim_lock lock;
static struct entry *buckets[BUCKETS];
static struct list alive, dead;

static struct entry **bucket_of(uint32_t birth)
{
    return &buckets[birth % BUCKETS];
}

static struct entry *find(uint32_t birth)
{
    struct entry *entry = *bucket_of(birth);
    while (entry != NULL && entry->en_block.cb_block.bk_birth != birth)
        entry = entry->en_next;
    return entry;
}

static void append(struct list *list, struct entry *entry)
{
    entry->en_older = list->li_newest;
    entry->en_newer = NULL;
    *(list->li_newest != NULL ? &list->li_newest->en_newer : &list->li_oldest) = entry;
    list->li_newest = entry;
    list->li_count++;
}

static void take_out(struct list *list, struct entry *entry)
{
    *(entry->en_older != NULL ? &entry->en_older->en_newer : &list->li_oldest) = entry->en_newer;
    *(entry->en_newer != NULL ? &entry->en_newer->en_older : &list->li_newest) = entry->en_older;
    list->li_count--;
}

/* Removes an entry that is in no list. */
static void discard(struct entry *entry)
{
    struct entry **link = bucket_of(entry->en_block.cb_block.bk_birth);
    while (*link != entry)
        link = &(*link)->en_next;
    *link = entry->en_next;
    free(entry);
}

/* Without memory for an entry, the block is unknown. */
static void note_allocated(const struct sim_block *block, const void *site)
{
    struct entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return;
    entry->en_block = (struct sim_check_block){
        .cb_block = *block, .cb_alive = true, .cb_made = site, .cb_made_by = sim_thread_number(),
        .cb_call = sim_thread.th_is_library ? NULL : sim_thread.th_function};
    sim_lock(&lock);
    struct entry *former = find(block->bk_birth); /* ids repeat after 16 million allocations */
    if (former != NULL) {
        take_out(former->en_block.cb_alive ? &alive : &dead, former);
        discard(former);
    }
    struct entry **bucket = bucket_of(block->bk_birth);
    entry->en_next = *bucket;
    *bucket = entry;
    append(&alive, entry);
    sim_unlock(&lock);
}

static void note_freed(uint32_t birth, const void *site)
{
    sim_lock(&lock);
    struct entry *entry = find(birth);
    if (entry != NULL && entry->en_block.cb_alive) {
        entry->en_block.cb_alive = false;
        entry->en_block.cb_freed = site;
        entry->en_block.cb_freed_by = sim_thread_number();
        take_out(&alive, entry);
        append(&dead, entry);
    }
    struct entry *oldest = dead.li_count > DEAD ? dead.li_oldest : NULL;
    if (oldest != NULL) {
        take_out(&dead, oldest);
        discard(oldest);
    }
    sim_unlock(&lock);
}

static void note_freeing(uint32_t birth)
{
    sim_lock(&lock);
    struct entry *entry = find(birth);
    if (entry != NULL)
        entry->en_freeing = true;
    sim_unlock(&lock);
}

const struct sim_watcher sim_check_blocks = {
    .wt_allocate = note_allocated, .wt_free = note_freed, .wt_free_queued = note_freeing};

bool sim_check_block_find(uint32_t birth, struct sim_check_block *found)
{
    sim_lock(&lock);
    const struct entry *entry = find(birth);
    if (entry != NULL)
        *found = entry->en_block;
    sim_unlock(&lock);
    return entry != NULL;
}

/* With the lock held: the newest block of a list that contains the address. */
static const struct entry *find_at(const struct list *list, const void *address)
{
    const struct entry *entry = list->li_newest;
    while (entry != NULL && (uint64_t)(uintptr_t)address - entry->en_block.cb_block.bk_start >=
                                entry->en_block.cb_block.bk_size)
        entry = entry->en_older;
    return entry;
}

/* A newer block that is alive may be a mapping which nobody may access. */
bool sim_check_block_find_dead(const void *address, struct sim_check_block *found)
{
    sim_lock(&lock);
    const struct entry *entry = find_at(&dead, address), *newer = entry != NULL ? find_at(&alive, address) : NULL;
    if (newer != NULL && newer->en_block.cb_block.bk_birth > entry->en_block.cb_block.bk_birth)
        entry = NULL;
    if (entry != NULL)
        *found = entry->en_block;
    sim_unlock(&lock);
    return entry != NULL;
}

aclError sim_check_block_name(const void *address, const char *name)
{
    struct sim_place place;
    sim_memory_locate(address, &place);
    SIM_CHECK(sim_memory_is_alive(&place), ACL_ERROR_RT_PARAM_INVALID, "address is %p, which is %s, expected memory of "
              "the simulator", address, sim_memory_describe(&place));
    sim_lock(&lock);
    struct entry *entry = find(place.pl_block.bk_birth);
    if (entry != NULL)
        snprintf(entry->en_block.cb_name, sizeof entry->en_block.cb_name, "%s", name);
    sim_unlock(&lock);
    return ACL_SUCCESS;
}

struct sim_check_block *sim_check_block_list(size_t *count)
{
    *count = 0;
    sim_lock(&lock);
    struct sim_check_block *list = alive.li_count != 0 ? malloc(alive.li_count * sizeof *list) : NULL;
    for (const struct entry *entry = alive.li_oldest; list != NULL && entry != NULL; entry = entry->en_newer)
        if (!entry->en_freeing)
            list[(*count)++] = entry->en_block;
    sim_unlock(&lock);
    return list;
}

void sim_check_block_told(uint32_t birth)
{
    sim_lock(&lock);
    struct entry *entry = find(birth);
    if (entry != NULL)
        entry->en_block.cb_told = true;
    sim_unlock(&lock);
}

void sim_check_block_note(struct sim_finding *finding, uint32_t birth)
{
    struct sim_check_block block;
    if (birth == 0 || !sim_check_block_find(birth, &block))
        return;
    const char *quote = block.cb_name[0] != '\0' ? "\"" : "";
    sim_check_note(finding, "allocated", block.cb_made, block.cb_made_by, "%s%s%s%s%" PRIu64 " bytes at %#" PRIx64,
                   quote, block.cb_name, quote, *quote != '\0' ? ", " : "", block.cb_block.bk_requested,
                   block.cb_block.bk_start);
    if (!block.cb_alive)
        sim_check_note(finding, "freed", block.cb_freed, block.cb_freed_by, "by a call of the program");
}

static void empty(struct list *list)
{
    while (list->li_oldest != NULL) {
        struct entry *entry = list->li_oldest;
        take_out(list, entry);
        discard(entry);
    }
}

void sim_check_block_reset(void)
{
    sim_lock(&lock);
    empty(&alive);
    empty(&dead);
    sim_unlock(&lock);
}

void sim_check_block_after_fork(void)
{
    sim_lock_renew(&lock);
    sim_zero(buckets, sizeof buckets); /* the parent's entries may be half linked */
    alive = dead = (struct list){NULL, NULL, 0};
}
