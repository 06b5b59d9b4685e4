/* Canonical names of handles and addresses (record_names.h).
 *
 * A search tree has an entry per object that lives: a range of addresses, or the value of a handle as a range of one.
 * Entries of one space never overlap. The lock of record.c guards the tree and the counts. */
#include "record_names.h"
#include "record.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>

#define ADDRESSES 0 /* the space of all memory; a kind of handles has the space after its number */

struct sim_record_name {
    uint32_t nm_space;
    uint32_t nm_number;
    uint64_t nm_start, nm_end;
    uint8_t nm_kind;
};

static void *names;
static uint32_t counts[256]; /* per kind */

/* Ranges that overlap are equal. */
static int compare(const void *one, const void *other)
{
    const struct sim_record_name *left = one, *right = other;
    if (left->nm_space != right->nm_space)
        return left->nm_space < right->nm_space ? -1 : 1;
    return left->nm_end <= right->nm_start ? -1 : left->nm_start >= right->nm_end;
}

static struct sim_record_name key_of(uint8_t kind, bool is_address, uint64_t value, uint64_t size)
{
    return (struct sim_record_name){.nm_space = is_address ? ADDRESSES : kind + 1u,
                                    .nm_kind = kind,
                                    .nm_start = value,
                                    .nm_end = value + (size != 0 ? size : 1)};
}

static struct sim_record_name *find(const struct sim_record_name *key)
{
    struct sim_record_name *const *found = tfind(key, &names, compare);
    return found != NULL ? *found : NULL;
}

void sim_record_names_make(uint8_t kind, bool is_address, uint64_t value, uint64_t size)
{
    struct sim_record_name key = key_of(kind, is_address, value, size), *old;
    while ((old = find(&key)) != NULL) {
        tdelete(old, &names, compare);
        free(old);
    }
    struct sim_record_name *fresh = malloc(sizeof *fresh);
    if (fresh == NULL)
        return; /* it is written as unknown */
    *fresh = key;
    fresh->nm_number = ++counts[kind];
    tsearch(fresh, &names, compare);
}

struct sim_record_name *sim_record_names_end(uint8_t kind, bool is_address, uint64_t value)
{
    struct sim_record_name key = key_of(kind, is_address, value, 1), *found = find(&key);
    if (found != NULL)
        tdelete(found, &names, compare);
    return found;
}

void sim_record_names_settle(struct sim_record_name *ended, bool keep)
{
    bool kept = ended != NULL && keep && find(ended) == NULL && tsearch(ended, &names, compare) != NULL;
    if (!kept)
        free(ended);
}

void sim_record_names_put_handle(FILE *to, uint8_t kind, uint64_t value)
{
    struct sim_record_name key = key_of(kind, false, value, 1), *found = find(&key);
    if (found == NULL) {
        sim_record_names_make(kind, false, value, 1);
        found = find(&key);
    }
    fprintf(to, "\"%s#%u\"", sim_record_kinds[kind], found != NULL ? found->nm_number : 0);
}

void sim_record_names_put_address(FILE *to, uint64_t address)
{
    struct sim_record_name key = key_of(SIM_RECORD_BLOCK, true, address, 1), *found = find(&key);
    if (found == NULL) {
        fputs("\"host\"", to);
        return;
    }
    fprintf(to, "\"%s#%u", sim_record_kinds[found->nm_kind], found->nm_number);
    fprintf(to, address > found->nm_start ? "+%" PRIu64 "\"" : "\"", address - found->nm_start);
}

bool sim_record_names_is_device(uint64_t address)
{
    struct sim_record_name key = key_of(SIM_RECORD_BLOCK, true, address, 1), *found = find(&key);
    return found != NULL && found->nm_kind == SIM_RECORD_BLOCK;
}

void sim_record_names_clear(void)
{
    while (names != NULL) {
        struct sim_record_name *any = *(struct sim_record_name **)names;
        tdelete(any, &names, compare);
        free(any);
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        counts[i] = 0;
}
