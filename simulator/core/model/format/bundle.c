/* This file reads bundles: containers whose partitions of type 24 are complete model files, and whose optional
 * partition of type 25 holds the size of the variable weights that they share. The views point into the caller's bytes.
 * This file has no state and needs no lock. */
#include "format.h"

#define BAD_DATA ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID

aclError sim_bundle_view(struct sim_bytes bytes, struct sim_bundle_file *bundle)
{
    struct sim_file file;
    uint32_t count, unused;
    SIM_TRY(sim_file_view(bytes, &file));
    SIM_ARGUMENT(file.fi_kind == SIM_FILE_BUNDLE, ACL_ERROR_INVALID_PARAM,
                 "the file holds one model, expected a bundle of models (use aclmdlLoadFromFile for one model)");
    struct sim_bytes table = file.fi_payload, rest;
    bool whole = sim_bytes_u32(&table, &count) && (!file.fi_wide || sim_bytes_u32(&table, &unused));
    SIM_ARGUMENT(whole, BAD_DATA, "the bundle ends inside its table of partitions");
    SIM_ARGUMENT(count >= 1 && count <= SIM_BUNDLE_PARTS, ACL_ERROR_GE_PARAM_INVALID,
                 "the bundle has %u partitions, expected 1 to %d", count, SIM_BUNDLE_PARTS);
    rest = table;
    SIM_ARGUMENT(sim_bytes_take(&rest, sim_file_table_bytes(&file, count), &table), BAD_DATA,
                 "the bundle ends inside its table of %u partitions", count);
    *bundle = (struct sim_bundle_file){0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type;
        uint64_t size;
        struct sim_bytes part;
        sim_file_take_entry(&table, &file, &type, &size);
        SIM_ARGUMENT(sim_bytes_take(&rest, size, &part), BAD_DATA,
                     "partition %u of the bundle has %llu bytes, and %llu are left", i, (unsigned long long)size,
                     (unsigned long long)rest.by_size);
        if (type == SIM_PART_BUNDLE)
            bundle->bf_models[bundle->bf_count++] = part;
        else if (type == SIM_PART_BUNDLE_VARIABLES)
            SIM_ARGUMENT(sim_bytes_u64(&part, &bundle->bf_variables), BAD_DATA,
                         "the bundle ends inside the size of its variable weights");
    }
    SIM_ARGUMENT(bundle->bf_count != 0, ACL_ERROR_GE_PARAM_INVALID, "the bundle holds no model");
    return ACL_SUCCESS;
}
