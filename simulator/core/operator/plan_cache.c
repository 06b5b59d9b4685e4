/* Design notes
 *
 * Plans of operators under keys of the client.
 *
 * A plan depends on the arguments alone, so a call with an equal key needs no other one. The table has one place for
 * each slot of the keys' hash; a plan replaces the one before it. Entries own copies of packs, and what leaves the
 * table is a copy, too: executors are used up at different times than entries.
 *
 * Not kept are plans of registered kernels, which are code of the program, and of kernels that find the size of an
 * output, which write to a descriptor.
 *
 * `lock` guards the entries; nothing else is locked under it. What a thread describes is its own, and is freed when it
 * ends. */
#include "plan_cache.h"

#include "base/thread_state.h"
#include "base/watcher.h"
#include "engine/context.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 4096u
#define ADDRESSES 64 /* plans with more tensors are not kept */
#define NAME_BYTES 96
#define KEY_BYTES_MAX (1u << 20)

struct entry {
    struct sim_plan_key en_key;
    struct sim_pack en_pack;
};

static struct sim_lock lock;
static struct entry *entries[SLOTS];

/* The call that a thread describes. */
struct request {
    char re_name[NAME_BYTES];
    struct sim_plan_key re_key; /* under which its plan is kept */
    uint32_t re_count;          /* may be more than there is room for */
    void *re_addresses[ADDRESSES];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key_of_requests; /* frees a thread's request when the thread ends */
static bool has_key;
static _Thread_local struct request *own; /* NULL before sim_plan_cache_serves has made it */

static void thread_ended(void *request)
{
    free(request);
    own = NULL;
}

static void make_key(void)
{
    has_key = pthread_key_create(&key_of_requests, thread_ended) == 0;
}

SIM_RARE static void make_request(void)
{
    (void)pthread_once(&once, make_key);
    own = has_key ? calloc(1, sizeof *own) : NULL;
    if (own != NULL && pthread_setspecific(key_of_requests, own) != 0)
        thread_ended(own);
}

/* ---- keys ---- */

static inline uint64_t mix(uint64_t value, uint64_t word, uint64_t factor)
{
    value = (value ^ word) * factor;
    return value ^ value >> 29;
}

struct sim_plan_key sim_plan_cache_key(const void *bytes, size_t size)
{
    struct sim_plan_key key = {{0, 0}};
    if (bytes == NULL || size == 0 || size > KEY_BYTES_MAX)
        return key;
    uint64_t first = size, second = ~(uint64_t)size;
    for (size_t done = 0; done < size; done += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + done, size - done < sizeof word ? size - done : sizeof word);
        first = mix(first, word, UINT64_C(0x9e3779b97f4a7c15));
        second = mix(second, word, UINT64_C(0xd6e8feb86659fd93));
    }
    key.pl_words[0] = mix(first, second, UINT64_C(0xd6e8feb86659fd93));
    key.pl_words[1] = mix(second, first, UINT64_C(0x9e3779b97f4a7c15)) | 1;
    return key;
}

static bool is_none(struct sim_plan_key key)
{
    return (key.pl_words[0] | key.pl_words[1]) == 0;
}

static struct entry **place_of(struct sim_plan_key key)
{
    return &entries[mix(key.pl_words[0], key.pl_words[1], UINT64_C(0x9e3779b97f4a7c15)) % SLOTS];
}

/* ---- what a thread describes ---- */

bool sim_plan_cache_serves(const char *name)
{
    const size_t length = strnlen(name, NAME_BYTES);
    if (own == NULL)
        make_request();
    if (own == NULL || sim_watcher_any() || length == NAME_BYTES)
        return false;
    memcpy(own->re_name, name, length + 1);
    return true;
}

void sim_plan_cache_begin(void)
{
    sim_thread.th_keeps_plan = false;
    if (own != NULL)
        own->re_count = 0;
}

void sim_plan_cache_add_address(void *address)
{
    if (own == NULL)
        return;
    if (own->re_count < ADDRESSES)
        own->re_addresses[own->re_count] = address;
    own->re_count++;
}

void sim_plan_cache_set_key(struct sim_plan_key key)
{
    sim_thread.th_keeps_plan = own != NULL && !is_none(key);
    if (own != NULL)
        own->re_key = key;
}

/* ---- the table ---- */

static void *copy_of(const void *from, size_t size)
{
    void *copy = malloc(size + 1);
    return copy != NULL ? memcpy(copy, from, size) : NULL;
}

/* Returns false, and makes nothing, if memory runs out. */
static bool copy_pack(const struct sim_pack *from, struct sim_pack *to)
{
    const size_t operands = from->pk_count * sizeof *from->pk_operands;
    *to = (struct sim_pack){.pk_call = copy_of(from->pk_call, from->pk_call->ca_size),
                            .pk_count = from->pk_count,
                            .pk_room = from->pk_call->ca_size,
                            .pk_operand_room = from->pk_count};
    to->pk_operands = operands != 0 && to->pk_call != NULL ? copy_of(from->pk_operands, operands) : NULL;
    if (to->pk_call != NULL && (operands == 0 || to->pk_operands != NULL))
        return true;
    sim_call_drop(to);
    return false;
}

static void free_entry(struct entry *entry)
{
    if (entry != NULL)
        sim_call_drop(&entry->en_pack);
    free(entry);
}

/* Copies the plan that is kept under a key. False if there is none for so many tensors, or memory runs out. */
static bool copy_plan(struct sim_plan_key key, uint32_t tensors, struct sim_pack *pack)
{
    const struct entry *entry = *place_of(key);
    return entry != NULL && memcmp(&entry->en_key, &key, sizeof key) == 0 &&
           entry->en_pack.pk_count == tensors && copy_pack(&entry->en_pack, pack);
}

aclOpExecutor *sim_plan_cache_find(struct sim_plan_key key, uint64_t *workspace_size)
{
    struct sim_pack pack;
    if (own == NULL || is_none(key) || sim_watcher_any() || sim_context_peek() == NULL)
        return NULL;
    sim_lock(&lock);
    bool found = copy_plan(key, own->re_count, &pack);
    sim_unlock(&lock);
    if (!found)
        return NULL;
    for (uint32_t i = 0; i < pack.pk_count; i++)
        pack.pk_operands[i].od_data = own->re_addresses[i];
    *workspace_size = pack.pk_call->ca_workspace_size;
    aclOpExecutor *executor = sim_executor_create(&pack, true);
    if (executor == NULL)
        sim_call_drop(&pack);
    return executor;
}

/* Whether the plan is that of the call which the calling thread has described, and may be kept. */
static bool is_described(const struct sim_pack *pack)
{
    const struct sim_call *call = pack->pk_call;
    const struct sim_row *row = call->ca_row;
    if (row->ro_builtin == NULL || call->ca_kernel.kn_run != row->ro_builtin->kn_run || call->ca_resizes)
        return false;
    if (strcmp(row->ro_op.op_name, own->re_name) != 0 || pack->pk_count != own->re_count || own->re_count > ADDRESSES)
        return false;
    for (uint32_t i = 0; i < pack->pk_count; i++)
        if (pack->pk_operands[i].od_data != own->re_addresses[i])
            return false;
    return true;
}

void sim_plan_cache_keep(const struct sim_pack *pack)
{
    sim_thread.th_keeps_plan = false;
    if (!is_described(pack))
        return;
    struct entry *entry = malloc(sizeof *entry);
    if (entry == NULL)
        return;
    entry->en_key = own->re_key;
    if (!copy_pack(pack, &entry->en_pack)) {
        free(entry);
        return;
    }
    struct entry **place = place_of(entry->en_key);
    sim_lock(&lock);
    struct entry *before = *place;
    *place = entry;
    sim_unlock(&lock);
    free_entry(before);
}

static void empty(void)
{
    for (size_t i = 0; i < SLOTS; i++) {
        if (entries[i] == NULL)
            continue; /* unwritten memory stays unwritten */
        free_entry(entries[i]);
        entries[i] = NULL;
    }
}

void sim_plan_cache_empty(void)
{
    sim_lock(&lock);
    empty();
    sim_unlock(&lock);
}

/* The lock may have been held by a thread that the child does not have, in the middle of a change. */
void sim_plan_cache_after_fork(void)
{
    sim_lock_renew(&lock);
}
