/* The signature of a model: its inputs and outputs, the gears it was built for, and the memory it needs. It is read
 * once from a file, never changes afterwards, and is shared by the model and its descriptions. */
#ifndef SIM_MODEL_SIGNATURE_H
#define SIM_MODEL_SIGNATURE_H

#include "base/fail.h"

#define SIM_GEAR_INPUT "ascend_mbatch_shape_data" /* the input that carries the gear of an execution */
#define SIM_AIPP_INPUT "ascend_dynamic_aipp_data"

/* One input or output. A dimension is -1 if the gear or the execution decides it. */
struct sim_port {
    const char *po_name;
    uint64_t po_bytes; /* in the largest gear; 0: not known before the execution */
    aclFormat po_format;
    aclDataType po_type;
    uint32_t po_rank, po_rank_v2, po_range_count;
    uint32_t po_gear_value; /* index of the gear's first value for this input */
    const int64_t *po_dims, *po_dims_v2;
    const int64_t (*po_ranges)[2]; /* -1: no upper bound */
};

#define SIM_GEARS_MAX 1024

/* Static AIPP: an input that takes images, the type and format of the converted images, and the parameters: a block for
 * one image (model_aipp.h), which is untrusted and checked when it is used. */
#define SIM_STATIC_AIPP_MAX 16
#define SIM_STATIC_AIPP_BYTES 160
struct sim_static_aipp {
    uint32_t sa_input;
    aclDataType sa_type;
    aclFormat sa_format;
    unsigned char sa_block[SIM_STATIC_AIPP_BYTES];
};

enum sim_gears { SIM_GEARS_NONE, SIM_GEARS_BATCH, SIM_GEARS_HW, SIM_GEARS_DIMS };

/* The shape of an output in one gear, or in every gear (SIM_EVERY_GEAR). */
#define SIM_EVERY_GEAR (-1)
struct sim_gear_output {
    int64_t go_gear;
    uint64_t go_output;
    uint32_t go_rank;
    const int64_t *go_dims;
};

/* An operator of the graph, and the operators it was fused from: "[5]conv1[4]relu". */
struct sim_origin {
    const char *or_name, *or_text;
};

struct sim_signature {
    _Atomic uint32_t sg_users;
    struct sim_piece *sg_pieces; /* all memory of the signature (model_signature.c) */
    const char *sg_name;
    const char *sg_soc;      /* short name of the chips it was built for; "": any */
    const char *sg_executor; /* executor for its weights here: "recorded", "onnx", ...; "": built for a chip */
    struct sim_port *sg_inputs, *sg_outputs;
    uint32_t sg_input_count, sg_output_count;
    enum sim_gears sg_gears;
    uint32_t sg_gear_count, sg_gear_width; /* number of gears, and of values per gear */
    const uint64_t *sg_gear_values;        /* gear by gear */
    struct sim_gear_output *sg_gear_outputs;
    uint32_t sg_gear_output_count;
    struct sim_origin *sg_origins;
    uint32_t sg_origin_count;
    struct sim_static_aipp *sg_aipp;
    uint32_t sg_aipp_count;
    bool sg_dynamic; /* shapes are known only during an execution */
    uint64_t sg_work, sg_weight;
};

/* Creates an empty signature with one user; NULL without memory (245000). */
struct sim_signature *sim_model_signature_create(void);
/* Adds and removes a user; the last one frees the signature. Dropping NULL does nothing. */
void sim_model_signature_share(struct sim_signature *signature);
void sim_model_signature_drop(struct sim_signature *signature);

/* Allocates zeroed memory that is freed with the signature; NULL without memory (245000). */
void *sim_model_signature_take(struct sim_signature *signature, size_t count, size_t size);
/* The same, for a copy of the bytes as text. */
const char *sim_model_signature_text(struct sim_signature *signature, const void *bytes, size_t size);

/* Called after reading: computes missing sizes, assigns gear values to inputs, and checks everything. Fails with
 * 145000. */
aclError sim_model_signature_finish(struct sim_signature *signature);

/* The index of the port with that name; `count` if there is none. */
uint32_t sim_model_port_find(const struct sim_port *ports, uint32_t count, const char *name);

/* Bytes of a shape; 0 if a dimension is unknown, UINT64_MAX if the number does not fit. */
uint64_t sim_model_shape_bytes(aclDataType type, const int64_t *dims, uint32_t rank);

/* The strides of a contiguous shape, in elements; 0 before an unknown or empty dimension. */
void sim_model_shape_strides(const int64_t *dims, uint32_t rank, int64_t *strides);

/* The dimensions of an input in a gear (SIM_EVERY_GEAR: as built, with -1 where the gear decides). `dims` has room for
 * po_rank numbers. */
void sim_model_signature_input(const struct sim_signature *signature, uint32_t input, int64_t gear, int64_t *dims);

/* The dimensions of an output in a gear (SIM_EVERY_GEAR: as built). */
const int64_t *sim_model_signature_output(const struct sim_signature *signature, uint32_t output, int64_t gear,
                                    uint32_t *rank);

/* The static AIPP of an input, or NULL. */
const struct sim_static_aipp *sim_model_signature_aipp(const struct sim_signature *signature, uint32_t input);

/* The gear with these values; -1 if there is none. */
int64_t sim_model_signature_gear(const struct sim_signature *signature, const uint64_t *values);

/* Whether the input carries a gear or preprocessing parameters instead of data. */
bool sim_model_port_is_control(const struct sim_port *port);

#endif
