/* This file registers functions that execute models, and the bytes of models.
 *
 * There are two lists, for models and for kinds of files, which own their entries. The name of a model's entry may be
 * the path of a load, the last part of the path with or without its extension, or the name inside the file. One lock, a
 * leaf, guards both lists; it is not held during a call. */
#include "model.h"
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *en_next;
    char *en_name;
    struct sim_bytes en_model; /* a copy; by_data is NULL if only a function was registered */
    aclsimModelFunc en_run;
    void *en_user;
};

static struct sim_lock lock;
static struct entry *entries, *kinds;

static void free_entry(struct entry *entry)
{
    free((void *)(uintptr_t)entry->en_model.by_data);
    free(entry->en_name);
    free(entry);
}

static struct entry *make_entry(const char *name, struct sim_bytes model, aclsimModelFunc run, void *user)
{
    struct entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return NULL;
    entry->en_name = strdup(name);
    entry->en_run = run;
    entry->en_user = user;
    if (model.by_data != NULL) {
        unsigned char *copy = malloc(model.by_size);
        if (copy != NULL)
            memcpy(copy, model.by_data, model.by_size);
        entry->en_model = (struct sim_bytes){copy, model.by_size};
    }
    if (entry->en_name != NULL && (entry->en_model.by_data != NULL) == (model.by_data != NULL))
        return entry;
    free_entry(entry);
    return NULL;
}

static aclError enter(struct entry **list, const char *name, struct sim_bytes model, aclsimModelFunc run, void *user)
{
    struct entry *entry = run == NULL ? NULL : make_entry(name, model, run, user);
    SIM_ARGUMENT(run == NULL || entry != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for model %s", name);
    sim_lock(&lock);
    struct entry **at = list, *former;
    while (*at != NULL && strcmp((*at)->en_name, name) != 0)
        at = &(*at)->en_next;
    former = *at;
    if (former != NULL)
        *at = former->en_next;
    if (entry != NULL) {
        entry->en_next = *list;
        *list = entry;
    }
    sim_unlock(&lock);
    if (former != NULL)
        free_entry(former);
    return ACL_SUCCESS;
}

aclError sim_model_register(const char *name, struct sim_bytes model, aclsimModelFunc run, void *user)
{
    struct sim_file file;
    if (model.by_data != NULL)
        SIM_TRY(sim_model_format->mf_view(model, &file));
    return enter(&entries, name, model, run, user);
}

aclError sim_model_register_kind(const char *kind, aclsimModelFunc run, void *user)
{
    return enter(&kinds, kind, (struct sim_bytes){NULL, 0}, run, user);
}

/* The lock is held. */
static struct entry *find_path(const char *path)
{
    struct entry *entry = path == NULL ? NULL : entries;
    while (entry != NULL && !sim_bytes_path_is_named(path, entry->en_name))
        entry = entry->en_next;
    return entry;
}

/* The lock is held. */
static struct entry *find_name(struct entry *list, const char *name)
{
    while (list != NULL && strcmp(list->en_name, name) != 0)
        list = list->en_next;
    return list;
}

bool sim_model_find_function(const char *path, const char *name, struct sim_model_executor *found)
{
    sim_lock(&lock);
    const struct entry *entry = find_path(path);
    if (entry == NULL)
        entry = find_name(entries, name);
    if (entry != NULL)
        *found = (struct sim_model_executor){.me_run = entry->en_run, .me_user = entry->en_user};
    sim_unlock(&lock);
    return entry != NULL;
}

bool sim_model_find_kind(const char *kind, struct sim_model_executor *found)
{
    sim_lock(&lock);
    const struct entry *entry = find_name(kinds, kind);
    if (entry != NULL)
        *found = (struct sim_model_executor){.me_run = entry->en_run, .me_user = entry->en_user, .me_for_kind = true};
    sim_unlock(&lock);
    return entry != NULL;
}

aclError sim_model_call(const struct sim_model_executor *executor, const aclsimModelRun *order,
                        char reason[SIM_REASON_BYTES])
{
    struct sim_asked asked = sim_fail_ask(reason);
    aclError code = executor->me_run(order);
    sim_fail_asked(&asked);
    return code;
}

bool sim_model_find_bytes(const char *path, struct sim_bytes *copy)
{
    unsigned char *bytes = NULL;
    sim_lock(&lock);
    const struct entry *entry = find_path(path);
    if (entry != NULL && entry->en_model.by_data != NULL)
        bytes = malloc(entry->en_model.by_size);
    if (bytes != NULL) {
        memcpy(bytes, entry->en_model.by_data, entry->en_model.by_size);
        *copy = (struct sim_bytes){bytes, entry->en_model.by_size};
    }
    sim_unlock(&lock);
    return bytes != NULL;
}

void sim_model_registry_reset(void)
{
    sim_lock(&lock);
    struct entry *all = entries;
    entries = NULL; /* kinds stay: they belong to the process, not to a model */
    sim_unlock(&lock);
    while (all != NULL) {
        struct entry *next = all->en_next;
        free_entry(all);
        all = next;
    }
}

void sim_model_registry_after_fork(void)
{
    sim_lock_renew(&lock); /* the entries stay: they belong to the program, not to a device */
}
