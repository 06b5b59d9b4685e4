/* Saves a recorded instance as a model file's block (model_saver.h). Regions are the bytes that its steps touch,
 * merged where they overlap. The contents of a region are saved if they are read before a step has written them:
 * weights are, intermediate results are not. The caller owns the saver; there is no lock. */
#include "model_saver.h"

#include "address/memory.h"
#include <stdlib.h>
#include <string.h>

/* Areas in ascending order that neither overlap nor touch. */
struct cover {
    struct sim_area *co_areas;
    uint32_t co_count, co_room;
};

/* ---- regions ---- */

static int compare(const void *left, const void *right)
{
    uintptr_t one = ((const struct sim_area *)left)->ar_low, other = ((const struct sim_area *)right)->ar_low;
    return (one > other) - (one < other);
}

static aclError find_regions(struct sim_saver *saver)
{
    struct sim_area *areas = calloc(saver->sv_touch_count + 1, sizeof *areas);
    saver->sv_regions = areas;
    SIM_CHECK(areas != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for the regions of a model");
    for (uint32_t i = 0; i < saver->sv_touch_count; i++)
        areas[i] = (struct sim_area){saver->sv_touches[i].to_low, saver->sv_touches[i].to_high};
    qsort(areas, saver->sv_touch_count, sizeof *areas, compare);
    uint32_t count = 0;
    for (uint32_t i = 0; i < saver->sv_touch_count; i++) {
        struct sim_area *last = count != 0 ? &areas[count - 1] : NULL;
        if (last == NULL || areas[i].ar_low >= last->ar_high)
            areas[count++] = areas[i];
        else if (areas[i].ar_high > last->ar_high)
            last->ar_high = areas[i].ar_high;
    }
    saver->sv_region_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct sim_place place;
        SIM_TRY(sim_memory_span((const void *)areas[i].ar_low, areas[i].ar_high - areas[i].ar_low,
                                "memory of the instance", "what its tasks touch there", &place));
    }
    return ACL_SUCCESS;
}

/* ---- contents ---- */

/* The number of areas that end before the address. */
static uint32_t skip(const struct cover *cover, uintptr_t address)
{
    uint32_t low = 0, high = cover->co_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cover->co_areas[middle].ar_high < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds the area to the cover, merged with all areas that it overlaps or touches. */
static bool add(struct cover *cover, struct sim_area area)
{
    uint32_t first = skip(cover, area.ar_low), last = first;
    for (; last < cover->co_count && cover->co_areas[last].ar_low <= area.ar_high; last++) {
        const struct sim_area *part = &cover->co_areas[last];
        area.ar_low = part->ar_low < area.ar_low ? part->ar_low : area.ar_low;
        area.ar_high = part->ar_high > area.ar_high ? part->ar_high : area.ar_high;
    }
    if (first == last && cover->co_count == cover->co_room) {
        uint32_t room = 2 * cover->co_room + 16;
        struct sim_area *areas = realloc(cover->co_areas, room * sizeof *areas);
        if (areas == NULL)
            return false;
        cover->co_areas = areas;
        cover->co_room = room;
    }
    memmove(cover->co_areas + first + 1, cover->co_areas + last, (cover->co_count - last) * sizeof area);
    cover->co_count = cover->co_count + 1 - (last - first);
    cover->co_areas[first] = area;
    return true;
}

/* Adds to `missing` the parts of the area that `known` does not cover. */
static bool add_gaps(struct cover *missing, const struct cover *known, struct sim_area area)
{
    bool kept = true;
    for (uint32_t i = skip(known, area.ar_low); area.ar_low < area.ar_high && kept; i++) {
        struct sim_area next = i < known->co_count ? known->co_areas[i] : (struct sim_area){area.ar_high, area.ar_high};
        uintptr_t end = next.ar_low < area.ar_high ? next.ar_low : area.ar_high;
        if (end > area.ar_low)
            kept = add(missing, (struct sim_area){area.ar_low, end});
        area.ar_low = next.ar_high > area.ar_low ? next.ar_high : area.ar_low;
    }
    return kept;
}

/* A step reads before it writes, whatever the order of its arguments. */
static bool find_contents(const struct sim_saver *saver, struct cover *known, struct cover *contents)
{
    const struct sim_touch *touches = saver->sv_touches;
    bool kept = true;
    for (uint32_t first = 0, end; first < saver->sv_touch_count; first = end) {
        for (end = first; end < saver->sv_touch_count && touches[end].to_step == touches[first].to_step; end++) {
            struct sim_area area = {touches[end].to_low, touches[end].to_high};
            if (touches[end].to_access & SIM_ACCESS_READ)
                kept = kept && add_gaps(contents, known, area) && add(known, area);
        }
        for (uint32_t i = first; i < end; i++)
            if (touches[i].to_access & SIM_ACCESS_FILL)
                kept = kept && add(known, (struct sim_area){touches[i].to_low, touches[i].to_high});
    }
    return kept;
}

static void write_contents(struct sim_saver *saver, const struct cover *contents)
{
    sim_saver_u64(saver, contents->co_count);
    for (uint32_t i = 0; i < saver->sv_region_count; i++) {
        const struct sim_area *region = &saver->sv_regions[i];
        sim_saver_u64(saver, region->ar_high - region->ar_low);
        sim_saver_u64(saver, region->ar_low % SIM_SAVED_PHASE);
    }
    for (uint32_t i = 0; i < contents->co_count; i++) {
        const void *address = (const void *)contents->co_areas[i].ar_low;
        uint64_t size = contents->co_areas[i].ar_high - contents->co_areas[i].ar_low;
        sim_saver_place(saver, address, size, SIM_ACCESS_READ);
        sim_saver_bytes(saver, sim_memory_reach(address), size);
    }
}

/* ---- a model ---- */

static void place_all(struct sim_saver *saver, const struct sim_range *spans, uint32_t count, enum sim_access access)
{
    for (uint32_t i = 0; i < count; i++)
        sim_saver_place(saver, spans[i].rg_address, spans[i].rg_size, access);
}

static aclError arrange(struct sim_saver *saver, const struct sim_saving *saving, struct cover *known,
                        struct cover *contents)
{
    place_all(saver, saving->sa_inputs, saving->sa_input_count, SIM_ACCESS_FILL);
    SIM_TRY(saving->sa_walk(saver, saving->sa_state));
    saver->sv_step++;
    place_all(saver, saving->sa_outputs, saving->sa_output_count, SIM_ACCESS_READ);
    if (!saver->sv_lost) {
        SIM_TRY(find_regions(saver));
        saver->sv_lost = !find_contents(saver, known, contents);
    }
    SIM_CHECK(!saver->sv_lost, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for the model");
    return ACL_SUCCESS;
}

static aclError write_all(struct sim_saver *saver, const struct sim_saving *saving, const struct cover *contents)
{
    saver->sv_writes = true;
    sim_saver_bytes(saver, SIM_SAVED_MAGIC, strlen(SIM_SAVED_MAGIC));
    sim_saver_u32(saver, saver->sv_region_count);
    sim_saver_u32(saver, saving->sa_input_count);
    sim_saver_u32(saver, saving->sa_output_count);
    sim_saver_u32(saver, saving->sa_step_count);
    write_contents(saver, contents);
    place_all(saver, saving->sa_inputs, saving->sa_input_count, SIM_ACCESS_FILL);
    place_all(saver, saving->sa_outputs, saving->sa_output_count, SIM_ACCESS_READ);
    return saving->sa_walk(saver, saving->sa_state);
}

aclError sim_model_saver_save(const struct sim_saving *saving, void *block, size_t *size)
{
    size_t room = block != NULL ? *size : 0;
    struct sim_saver saver = {.sv_block = block, .sv_room = room};
    struct cover known = {0}, contents = {0};
    aclError code = arrange(&saver, saving, &known, &contents);
    if (code == ACL_SUCCESS)
        code = write_all(&saver, saving, &contents);
    free(known.co_areas);
    free(contents.co_areas);
    free(saver.sv_touches);
    free(saver.sv_regions);
    SIM_TRY(code);
    *size = saver.sv_size;
    SIM_CHECK(block == NULL || saver.sv_size <= room, ACL_ERROR_RT_PARAM_INVALID, "size is %zu, expected %zu", room,
              saver.sv_size);
    return ACL_SUCCESS;
}
