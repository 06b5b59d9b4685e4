/* The container of models (.om). The readers in format/ ignore offsets in the file and check every count, and allocate
 * at most a small multiple of the file's size. */
#ifndef SIM_MODEL_FILE_H
#define SIM_MODEL_FILE_H

#include "base/bytes.h"
#include "model_om.h"
#include "model_signature.h"

#define SIM_FILE_PARTS 11 /* most partitions of one model */

/* A view of a container: the parts of its first model. */
struct sim_file {
    struct sim_bytes fi_payload; /* everything after the header */
    uint8_t fi_kind;             /* sim_file_kind */
    bool fi_wide;                /* tables of 64-bit numbers */
    bool fi_dynamic;
    uint32_t fi_models;
    char fi_name[SIM_FILE_NAME_BYTES + 1];
    uint32_t fi_part_count;
    struct {
        uint32_t pt_type;
        struct sim_bytes pt_bytes;
    } fi_parts[SIM_FILE_PARTS];
};

struct sim_bundle_file;
struct sim_model_executor;

/* Built-in executors, one per kind of file. mk_open rejects damaged content with 145000; the bytes live as long as the
 * executor. */
struct sim_model_kind {
    const char *mk_name;
    aclError (*mk_open)(struct sim_bytes content, struct sim_model_executor *executor);
};

/* The reader of model files. */
struct sim_model_format {
    /* Reads the container. Fails with 145006 if the bytes are not a container or are truncated, and with 145000 if the
     * number of partitions is out of range. */
    aclError (*mf_view)(struct sim_bytes bytes, struct sim_file *file);
    /* Finds the partition of a type; false without one. */
    bool (*mf_part)(const struct sim_file *file, enum sim_part type, struct sim_bytes *part);
    /* Reads the signature from the description of inputs and outputs or, without one, from the graph. Fails with
     * 145000, 145006 or 245000. */
    aclError (*mf_signature)(const struct sim_file *file, struct sim_signature **signature);
    /* Reads a bundle. Fails with 100000 for a single model, 145000 or 145006. */
    aclError (*mf_bundle)(struct sim_bytes bytes, struct sim_bundle_file *bundle);
    const struct sim_model_kind *mf_kinds; /* ends with an element without a name */
};

/* Set by simulator.c before any call. */
extern const struct sim_model_format *sim_model_format;

#endif
