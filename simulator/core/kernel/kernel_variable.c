/* Variables of binaries that programs name by a host symbol: one list under a lock, which is a leaf. An entry keeps
 * the binary's handle, so that unloading need not change the list, and the variable's place in the image. */
#include "kernel_inner.h"
#include <stdlib.h>

struct entry {
    struct entry *en_next;
    const void *en_symbol;
    uint64_t en_binary;
    uint64_t en_place, en_size;
};

static struct sim_lock lock;
static struct entry *entries;

/* Returns the link to the symbol's entry, or the end of the list. The lock is held. */
static struct entry **find(const void *symbol)
{
    struct entry **at = &entries;
    while (*at != NULL && (*at)->en_symbol != symbol)
        at = &(*at)->en_next;
    return at;
}

/* Replaces the symbol's entry, or removes it if `fresh` is NULL. */
static void replace(const void *symbol, struct entry *fresh)
{
    sim_lock(&lock);
    struct entry **at = find(symbol), *former = *at;
    if (former != NULL)
        *at = former->en_next;
    if (fresh != NULL) {
        fresh->en_next = entries;
        entries = fresh;
    }
    sim_unlock(&lock);
    free(former);
}

aclError sim_kernel_variable_register(const void *symbol, aclrtBinHandle binary, const char *name)
{
    struct sim_symbol found;
    if (binary == NULL) {
        replace(symbol, NULL);
        return ACL_SUCCESS;
    }
    struct sim_image *image = sim_kernel_image_of(binary);
    SIM_CHECK(image != NULL, ACL_ERROR_RT_INVALID_HANDLE, "binary is %p, %s, expected a live kernel binary", binary,
              sim_handle_describe(binary));
    aclError code = sim_kernel_image_variable(image, name, &found);
    sim_kernel_image_drop(image);
    SIM_TRY(code);
    struct entry *fresh = malloc(sizeof *fresh);
    SIM_CHECK(fresh != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "there is no memory for one more symbol");
    *fresh = (struct entry){NULL, symbol, (uint64_t)(uintptr_t)binary, found.sy_place, found.sy_size};
    replace(symbol, fresh);
    return ACL_SUCCESS;
}

static aclError place(struct sim_image *image, int32_t device, const struct entry *entry, struct sim_variable *variable)
{
    void *base;
    SIM_CHECK(sim_kernel_image_is_on(image, device), ACL_ERROR_RT_INTERNAL_ERROR,
              "symbol is %p, of binary %s, which was loaded on device %d, expected the current device, %d",
              entry->en_symbol, image->im_name, image->im_device, device);
    SIM_TRY(sim_kernel_image_place(image, device, &base));
    *variable = (struct sim_variable){(char *)base + entry->en_place, entry->en_size};
    return ACL_SUCCESS;
}

aclError sim_kernel_variable_find(const void *symbol, struct sim_variable *variable)
{
    int32_t device;
    struct entry found = {.en_symbol = symbol};
    SIM_TRY(sim_kernel_device(&device));
    sim_lock(&lock);
    const struct entry *entry = *find(symbol);
    if (entry != NULL)
        found = *entry;
    sim_unlock(&lock);
    struct sim_image *image = sim_kernel_image_of((aclrtBinHandle)(uintptr_t)found.en_binary);
    SIM_CHECK(image != NULL, ACL_ERROR_RT_INVALID_SYMBOL,
              "symbol is %p, which is not registered for a variable of a loaded binary, expected "
              "aclsimRegisterVariable before", symbol);
    aclError code = place(image, device, &found, variable);
    sim_kernel_image_drop(image);
    return code;
}

/* ---- the end of everything ---- */

void sim_kernel_variable_reset(void)
{
    sim_lock(&lock);
    struct entry *all = entries;
    entries = NULL;
    sim_unlock(&lock);
    while (all != NULL) {
        struct entry *next = all->en_next;
        free(all);
        all = next;
    }
}

void sim_kernel_variable_after_fork(void)
{
    sim_lock_renew(&lock); /* the entries stay; their binaries are dead */
}
