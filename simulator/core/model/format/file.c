/* This file reads the container of models, and the signature of a model from it.
 *
 * A container is a header, followed by tables of partitions; the bytes of a table's partitions follow it back to back.
 * Offsets in the tables are ignored, as a device's loader does; sizes beyond the payload are an error. The views point
 * into the caller's bytes. This file has no state and needs no lock. */
#include "format.h"

#include "address/memory.h"
#include <string.h>

#define BAD_DATA ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID

static uint64_t number_at(const unsigned char *header, unsigned offset, uint64_t size)
{
    struct sim_bytes bytes = {header + offset, size};
    uint64_t value;
    sim_bytes_number(&bytes, size, &value);
    return value;
}

/* ---- the header ---- */

static aclError read_header(struct sim_bytes bytes, struct sim_file *file)
{
    SIM_ARGUMENT(bytes.by_size >= SIM_FILE_HEADER, BAD_DATA, "the model has %llu bytes, expected a header of %d",
                 (unsigned long long)bytes.by_size, SIM_FILE_HEADER);
    SIM_ARGUMENT(sim_memory_is_host(bytes.by_data), ACL_ERROR_GE_PARAM_INVALID,
                 "the model lies in device memory, at %p, expected host memory", (const void *)bytes.by_data);
    const unsigned char *header = bytes.by_data;
    SIM_ARGUMENT(number_at(header, SIM_FILE_AT_MAGIC, 4) == SIM_FILE_MAGIC, BAD_DATA,
                 "the model begins with 0x%08llx, expected the magic of an offline model, 0x%08x",
                 (unsigned long long)number_at(header, SIM_FILE_AT_MAGIC, 4), SIM_FILE_MAGIC);
    uint64_t wide = number_at(header, SIM_FILE_AT_LENGTH_64, 8);
    uint64_t length = wide != 0 ? wide : number_at(header, SIM_FILE_AT_LENGTH_32, 4);
    SIM_ARGUMENT(length == bytes.by_size - SIM_FILE_HEADER, BAD_DATA,
                 "the model's header announces %llu bytes after it, but there are %llu", (unsigned long long)length,
                 (unsigned long long)(bytes.by_size - SIM_FILE_HEADER));
    *file = (struct sim_file){.fi_payload = {header + SIM_FILE_HEADER, length}, .fi_models = 1};
    file->fi_kind = header[SIM_FILE_AT_KIND];
    file->fi_wide = wide != 0 || file->fi_kind == SIM_FILE_FLOW;
    if (number_at(header, SIM_FILE_AT_VERSION, 4) >= SIM_FILE_VERSION_WIDE) {
        uint64_t models = number_at(header, SIM_FILE_AT_MODELS, 4);
        file->fi_models = models > 1 ? (uint32_t)models : 1;
        file->fi_dynamic = models > 1 || header[SIM_FILE_AT_DYNAMIC] == 1;
    }
    memcpy(file->fi_name, header + SIM_FILE_AT_NAME, SIM_FILE_NAME_BYTES);
    return ACL_SUCCESS;
}

/* ---- partitions ---- */

/* The vendor's tools write 1, 3, 4 or 5 partitions, and up to three more. */
static bool is_count(uint32_t count)
{
    return count >= 1 && count <= 8;
}

uint64_t sim_file_table_bytes(const struct sim_file *file, uint32_t count)
{
    return (uint64_t)count * (file->fi_wide ? 24 : 12);
}

bool sim_file_take_entry(struct sim_bytes *table, const struct sim_file *file, uint32_t *type, uint64_t *size)
{
    uint32_t narrow, unused;
    uint64_t offset;
    if (file->fi_wide)
        return sim_bytes_u32(table, type) && sim_bytes_u32(table, &unused) && sim_bytes_u64(table, &offset) &&
               sim_bytes_u64(table, size);
    bool found = sim_bytes_u32(table, type) && sim_bytes_u32(table, &unused) && sim_bytes_u32(table, &narrow);
    *size = found ? narrow : 0;
    return found;
}

static aclError read_parts(struct sim_bytes *rest, struct sim_file *file)
{
    uint32_t count, unused;
    struct sim_bytes table;
    bool whole = sim_bytes_u32(rest, &count) && (!file->fi_wide || sim_bytes_u32(rest, &unused));
    SIM_ARGUMENT(whole, BAD_DATA, "the model ends inside its table of partitions");
    SIM_ARGUMENT(is_count(count), ACL_ERROR_GE_PARAM_INVALID,
                 "the model has %u partitions, expected 1 to 8", count);
    SIM_ARGUMENT(sim_bytes_take(rest, sim_file_table_bytes(file, count), &table), BAD_DATA,
                 "the model ends inside its table of %u partitions", count);
    file->fi_part_count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t size = 0;
        sim_file_take_entry(&table, file, &file->fi_parts[i].pt_type, &size);
        SIM_ARGUMENT(sim_bytes_take(rest, size, &file->fi_parts[i].pt_bytes), BAD_DATA,
                     "partition %u of the model has %llu bytes, and %llu are left", i, (unsigned long long)size,
                     (unsigned long long)rest->by_size);
    }
    return ACL_SUCCESS;
}

/* A file may hold several models, one after another; those after the first are only checked. */
aclError sim_file_view(struct sim_bytes bytes, struct sim_file *file)
{
    SIM_TRY(read_header(bytes, file));
    if (file->fi_kind == SIM_FILE_FLOW || file->fi_kind == SIM_FILE_BUNDLE)
        return ACL_SUCCESS;
    struct sim_bytes rest = file->fi_payload;
    SIM_TRY(read_parts(&rest, file));
    for (uint32_t i = 1; i < file->fi_models; i++) {
        struct sim_file next = *file;
        SIM_TRY(read_parts(&rest, &next));
    }
    return ACL_SUCCESS;
}

bool sim_file_part(const struct sim_file *file, enum sim_part type, struct sim_bytes *part)
{
    for (uint32_t i = 0; i < file->fi_part_count; i++)
        if (file->fi_parts[i].pt_type == type) {
            *part = file->fi_parts[i].pt_bytes;
            return true;
        }
    *part = (struct sim_bytes){0};
    return false;
}

bool sim_file_is_described(const struct sim_file *file)
{
    struct sim_bytes unused;
    return sim_file_part(file, SIM_PART_INOUT, &unused);
}

/* ---- the signature ---- */

static aclError read_signature(const struct sim_file *file, struct sim_signature *signature)
{
    struct sim_bytes part;
    signature->sg_name = sim_model_signature_text(signature, file->fi_name, strlen(file->fi_name));
    SIM_ARGUMENT(signature->sg_name != NULL, ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for a name");
    signature->sg_dynamic = file->fi_dynamic;
    if (sim_file_part(file, SIM_PART_INOUT, &part))
        SIM_TRY(sim_inout_read(part, signature));
    bool has_graph = sim_file_part(file, SIM_PART_MODEL_DEF, &part);
    SIM_ARGUMENT(has_graph, ACL_ERROR_GE_PARAM_INVALID, "the model has no partition with its definition");
    SIM_TRY(sim_graph_read(part, signature));
    if (signature->sg_weight == 0 && sim_file_part(file, SIM_PART_WEIGHTS, &part))
        signature->sg_weight = part.by_size;
    return sim_model_signature_finish(signature);
}

aclError sim_file_signature(const struct sim_file *file, struct sim_signature **signature)
{
    struct sim_signature *fresh = sim_model_signature_create();
    SIM_ARGUMENT(fresh != NULL, ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for a model's description");
    aclError code = read_signature(file, fresh);
    if (code != ACL_SUCCESS)
        sim_model_signature_drop(fresh);
    else
        *signature = fresh;
    return code;
}
