/* Calls the functions of the owners of blocks (owner.h), which simulator.c registers when the library is loaded. The
 * table never changes afterwards, so there is no lock; the owners have their own. */
#include "owner.h"

static const struct sim_owner *const none[] = {NULL}, *const *owners = none; /* set before any call */
_Atomic uint32_t sim_owner_blocks;

void sim_owner_set(const struct sim_owner *const *table)
{
    owners = table;
}

#define EACH(owner, hook)                                                                                              \
    for (const struct sim_owner *const *owner = owners; *owner != NULL; owner++)                                       \
        if ((*owner)->hook != NULL)

SIM_RARE bool sim_owner_find_release(const void *address, const void *site, aclError *code)
{
    EACH (owner, ow_release)
        if ((*owner)->ow_release(address, site, code))
            return true;
    return false;
}

bool sim_owner_lives(const struct sim_range *range)
{
    EACH (owner, ow_lives)
        if ((*owner)->ow_lives(range))
            return true;
    return false;
}

SIM_RARE bool sim_owner_reclaim(int32_t device)
{
    bool any = false;
    EACH (owner, ow_reclaim)
        any |= (*owner)->ow_reclaim(device);
    return any;
}

void sim_owner_close(int32_t device)
{
    EACH (owner, ow_close)
        (*owner)->ow_close(device);
}

void sim_owner_closed(int32_t device)
{
    EACH (owner, ow_closed)
        (*owner)->ow_closed(device);
}
