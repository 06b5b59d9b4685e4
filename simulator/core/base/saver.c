/* Writing the steps of a saved model (saver.h).
 *
 * The caller owns the saver and its block, and frees sv_touches. One thread uses a saver, so there is no lock. */
#include "saver.h"

#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

void sim_saver_bytes(struct sim_saver *saver, const void *bytes, size_t size)
{
    if (!saver->sv_writes)
        return;
    if (saver->sv_size <= saver->sv_room && size <= saver->sv_room - saver->sv_size && size != 0)
        memcpy(saver->sv_block + saver->sv_size, bytes, size);
    saver->sv_size += size;
}

void sim_saver_u32(struct sim_saver *saver, uint32_t value)
{
    sim_saver_bytes(saver, &value, sizeof value);
}

void sim_saver_u64(struct sim_saver *saver, uint64_t value)
{
    sim_saver_bytes(saver, &value, sizeof value);
}

void sim_saver_step(struct sim_saver *saver, enum sim_saved_step kind)
{
    saver->sv_step++;
    sim_saver_u32(saver, kind);
}

/* ---- places ---- */

static void touch(struct sim_saver *saver, const void *address, uint64_t size, enum sim_access access)
{
    if (saver->sv_touch_count == saver->sv_touch_room) {
        uint32_t room = 2 * saver->sv_touch_room + 64;
        struct sim_touch *touches = realloc(saver->sv_touches, room * sizeof *touches);
        saver->sv_lost = saver->sv_lost || touches == NULL;
        if (touches == NULL)
            return;
        saver->sv_touches = touches;
        saver->sv_touch_room = room;
    }
    uintptr_t low = (uintptr_t)address;
    saver->sv_touches[saver->sv_touch_count++] = (struct sim_touch){low, low + size, saver->sv_step, access};
}

static uint32_t region_of(const struct sim_saver *saver, uintptr_t address)
{
    uint32_t low = 0, high = saver->sv_region_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (saver->sv_regions[middle].ar_low <= address)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void sim_saver_place(struct sim_saver *saver, const void *address, uint64_t size, enum sim_access access)
{
    if (!saver->sv_writes) {
        if (size != 0)
            touch(saver, address, size, access);
        return;
    }
    uint32_t region = size != 0 ? region_of(saver, (uintptr_t)address) : SIM_SAVED_NOWHERE;
    sim_saver_u32(saver, region);
    sim_saver_u32(saver, 0);
    sim_saver_u64(saver, size != 0 ? (uintptr_t)address - saver->sv_regions[region].ar_low : 0);
    sim_saver_u64(saver, size);
}
