/* Implementations of kernels, and host symbols of functions: two lists under one lock, which is a leaf. A launch
 * gets a copy of an implementation. After removing one, the program must wait until earlier launches have ended
 * before it frees what they use. */
#include "kernel_inner.h"
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *en_next;
    char *en_binary; /* NULL: any binary */
    char *en_kernel;
    struct sim_custom en_custom;
};

struct symbol {
    struct symbol *sy_next;
    const void *sy_address;
    uint64_t sy_function;
};

static struct sim_lock lock;
static struct entry *entries;
static struct symbol *symbols;
static _Atomic uint32_t version = 1;

uint32_t sim_kernel_registry_version(void)
{
    return atomic_load_explicit(&version, memory_order_acquire);
}

static void raise_version(void)
{
    if (atomic_fetch_add_explicit(&version, 1, memory_order_release) == UINT32_MAX)
        atomic_fetch_add_explicit(&version, 1, memory_order_release);
}

/* ---- reading ---- */

aclError sim_kernel_registry_read(const aclsimCustomKernel *given, struct sim_custom *custom)
{
    SIM_ARGUMENT(given->run != NULL, ACL_ERROR_INVALID_PARAM, "implementation->run is NULL, expected a function");
    SIM_ARGUMENT(given->parameters != NULL || given->parameterCount == 0, ACL_ERROR_INVALID_PARAM,
                 "implementation->parameters is NULL with parameterCount %zu, expected that many sizes",
                 given->parameterCount);
    SIM_ARGUMENT(given->parameterCount <= SIM_PARAMETERS_MAX, ACL_ERROR_INVALID_PARAM,
                 "implementation->parameterCount is %zu, expected at most %d", given->parameterCount,
                 SIM_PARAMETERS_MAX);
    *custom = (struct sim_custom){.cu_run = given->run, .cu_touch = given->touch, .cu_user = given->userData,
                                  .cu_has_parameters = given->parameters != NULL,
                                  .cu_count = (uint32_t)given->parameterCount};
    for (uint32_t i = 0; i < custom->cu_count; i++) {
        size_t size = given->parameters[i];
        SIM_ARGUMENT(size != 0 && size <= SIM_PARAMETER_BYTES, ACL_ERROR_INVALID_PARAM,
                     "implementation->parameters[%u] is %zu, expected 1 to %d bytes", i, size, SIM_PARAMETER_BYTES);
        custom->cu_sizes[i] = (uint16_t)size;
    }
    return ACL_SUCCESS;
}

/* ---- implementations ---- */

static void free_entry(struct entry *entry)
{
    free(entry->en_binary);
    free(entry->en_kernel);
    free(entry);
}

static struct entry *make_entry(const char *binary, const char *kernel, const struct sim_custom *custom)
{
    struct entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return NULL;
    entry->en_binary = binary != NULL ? strdup(binary) : NULL;
    entry->en_kernel = strdup(kernel);
    entry->en_custom = *custom;
    if ((entry->en_binary != NULL) == (binary != NULL) && entry->en_kernel != NULL)
        return entry;
    free_entry(entry);
    return NULL;
}

static bool is_same(const struct entry *entry, const char *binary, const char *kernel)
{
    bool same = binary == NULL ? entry->en_binary == NULL
                               : entry->en_binary != NULL && strcmp(entry->en_binary, binary) == 0;
    return same && strcmp(entry->en_kernel, kernel) == 0;
}

aclError sim_kernel_registry_register(const char *binary, const char *kernel, const aclsimCustomKernel *implementation)
{
    struct sim_custom custom;
    struct entry *entry = NULL;
    if (implementation != NULL) {
        SIM_TRY(sim_kernel_registry_read(implementation, &custom));
        entry = make_entry(binary, kernel, &custom);
        SIM_ARGUMENT(entry != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for kernel %s", kernel);
    }
    sim_lock(&lock);
    struct entry **at = &entries, *former;
    while (*at != NULL && !is_same(*at, binary, kernel))
        at = &(*at)->en_next;
    former = *at;
    if (former != NULL)
        *at = former->en_next;
    if (entry != NULL) {
        entry->en_next = entries;
        entries = entry;
    }
    raise_version();
    sim_unlock(&lock);
    if (former != NULL)
        free_entry(former);
    return ACL_SUCCESS;
}

static bool is_of(const struct entry *entry, const char *path)
{
    return entry->en_binary != NULL && sim_bytes_path_is_named(path, entry->en_binary);
}

bool sim_kernel_registry_find(const char *path, const char *kernel, struct sim_custom *custom)
{
    const struct entry *found = NULL;
    sim_lock(&lock);
    for (const struct entry *entry = entries; entry != NULL; entry = entry->en_next) {
        if (strcmp(entry->en_kernel, kernel) != 0)
            continue;
        if (is_of(entry, path)) {
            found = entry;
            break;
        }
        if (entry->en_binary == NULL)
            found = entry;
    }
    if (found != NULL)
        *custom = found->en_custom;
    sim_unlock(&lock);
    return found != NULL;
}

bool sim_kernel_registry_find_ending(const char *path, const char *ending, char *name, size_t size)
{
    size_t length = strlen(ending);
    bool found = false;
    sim_lock(&lock);
    for (const struct entry *entry = entries; entry != NULL && !found; entry = entry->en_next) {
        size_t whole = strlen(entry->en_kernel);
        found = is_of(entry, path) && whole > length && whole < size &&
                strcmp(entry->en_kernel + whole - length, ending) == 0;
        if (found)
            memcpy(name, entry->en_kernel, whole + 1);
    }
    sim_unlock(&lock);
    return found;
}

bool sim_kernel_registry_knows(const char *path)
{
    sim_lock(&lock);
    const struct entry *entry = entries;
    while (entry != NULL && !is_of(entry, path))
        entry = entry->en_next;
    sim_unlock(&lock);
    return entry != NULL;
}

/* ---- symbols ---- */

static struct symbol **find_symbol(const void *address)
{
    struct symbol **at = &symbols;
    while (*at != NULL && (*at)->sy_address != address)
        at = &(*at)->sy_next;
    return at;
}

static void forget_symbol(const void *address)
{
    sim_lock(&lock);
    struct symbol **at = find_symbol(address), *former = *at;
    if (former != NULL)
        *at = former->sy_next;
    sim_unlock(&lock);
    free(former);
}

aclError sim_kernel_symbol_register(const void *address, aclrtFuncHandle function)
{
    if (function == NULL) {
        forget_symbol(address);
        return ACL_SUCCESS;
    }
    SIM_CHECK(sim_table_find(&sim_kernel_functions, function) != NULL, ACL_ERROR_RT_INVALID_HANDLE,
              "function is %p, %s, expected a live kernel", function, sim_handle_describe(function));
    struct symbol *fresh = malloc(sizeof *fresh);
    SIM_ARGUMENT(fresh != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for a symbol");
    *fresh = (struct symbol){.sy_address = address, .sy_function = (uint64_t)(uintptr_t)function};
    sim_lock(&lock);
    struct symbol *known = *find_symbol(address);
    if (known != NULL) {
        known->sy_function = fresh->sy_function;
    } else {
        fresh->sy_next = symbols;
        symbols = fresh;
    }
    sim_unlock(&lock);
    if (known != NULL)
        free(fresh);
    return ACL_SUCCESS;
}

uint64_t sim_kernel_symbol_find(const void *address)
{
    sim_lock(&lock);
    const struct symbol *symbol = *find_symbol(address);
    uint64_t function = symbol != NULL ? symbol->sy_function : 0;
    sim_unlock(&lock);
    return function;
}

/* ---- the end of everything ---- */

void sim_kernel_registry_reset(void)
{
    sim_lock(&lock);
    struct entry *all = entries;
    struct symbol *others = symbols;
    entries = NULL;
    symbols = NULL;
    raise_version();
    sim_unlock(&lock);
    while (all != NULL) {
        struct entry *next = all->en_next;
        free_entry(all);
        all = next;
    }
    while (others != NULL) {
        struct symbol *next = others->sy_next;
        free(others);
        others = next;
    }
}

void sim_kernel_registry_after_fork(void)
{
    sim_lock_renew(&lock); /* implementations stay: they are settings of the program, not state of the device */
}
