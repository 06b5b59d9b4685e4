/* What a model looks like from outside: its inputs and outputs, the gears it was built for, the memory it wants. Read
 * once from a file, then never changed, and shared by the model and its descriptions. */
#ifndef SIM_MODEL_SIGNATURE_H
#define SIM_MODEL_SIGNATURE_H

#include "base/fail.h"

#define SIM_GEAR_INPUT "ascend_mbatch_shape_data" /* the input that says which gear a run is for */
#define SIM_AIPP_INPUT "ascend_dynamic_aipp_data"

/* One input or output. A dimension is -1 when the gear or the run decides it. */
struct sim_port {
    const char *po_name;
    uint64_t po_bytes; /* of the largest case; 0: not known before the run */
    aclFormat po_format;
    aclDataType po_type;
    uint32_t po_rank, po_rank_v2, po_range_count;
    uint32_t po_gear_value; /* the first of a gear's values that is for this input */
    const int64_t *po_dims, *po_dims_v2;
    const int64_t (*po_ranges)[2]; /* -1: no upper bound */
};

#define SIM_GEARS_MAX 1024

/* Static AIPP: an input that takes images, the type and format that the model behind it takes, and the parameters, of
 * which nothing is trusted: the block for one image (model_aipp.h). */
#define SIM_STATIC_AIPP_MAX 16
#define SIM_STATIC_AIPP_BYTES 160
struct sim_static_aipp {
    uint32_t sa_input;
    aclDataType sa_type;
    aclFormat sa_format;
    unsigned char sa_block[SIM_STATIC_AIPP_BYTES];
};

enum sim_gears { SIM_GEARS_NONE, SIM_GEARS_BATCH, SIM_GEARS_HW, SIM_GEARS_DIMS };

/* The shape of an output in one gear, or in every one (SIM_EVERY_GEAR). */
#define SIM_EVERY_GEAR (-1)
struct sim_gear_output {
    int64_t go_gear;
    uint64_t go_output;
    uint32_t go_rank;
    const int64_t *go_dims;
};

/* An operator of the graph, and the ones it was fused from: "[5]conv1[4]relu". */
struct sim_origin {
    const char *or_name, *or_text;
};

struct sim_signature {
    _Atomic uint32_t sg_users;
    struct sim_piece *sg_pieces; /* all its memory; model_signature.c */
    const char *sg_name;
    const char *sg_soc;      /* short name of the chips it was built for; "": any */
    const char *sg_executor; /* what its weights are for a simulator: "recorded", "onnx", ...; "": a chip's */
    struct sim_port *sg_inputs, *sg_outputs;
    uint32_t sg_input_count, sg_output_count;
    enum sim_gears sg_gears;
    uint32_t sg_gear_count, sg_gear_width; /* each gear gives so many dimensions */
    const uint64_t *sg_gear_values;        /* a row a gear */
    struct sim_gear_output *sg_gear_outputs;
    uint32_t sg_gear_output_count;
    struct sim_origin *sg_origins;
    uint32_t sg_origin_count;
    struct sim_static_aipp *sg_aipp;
    uint32_t sg_aipp_count;
    bool sg_dynamic; /* shapes are known by the run alone */
    uint64_t sg_work, sg_weight;
};

/* An empty one with one user; NULL without memory (245000). */
struct sim_signature *sim_model_signature_create(void);
void sim_model_signature_share(struct sim_signature *signature);
void sim_model_signature_drop(struct sim_signature *signature); /* NULL is nothing */

/* Zeroed memory that lives as long as the signature; NULL without memory (245000). */
void *sim_model_signature_take(struct sim_signature *signature, size_t count, size_t size);
const char *sim_model_signature_text(struct sim_signature *signature, const void *bytes, size_t size);

/* After reading: names that are missing or too long get aliases, sizes and gears are made consistent; 145000. */
aclError sim_model_signature_finish(struct sim_signature *signature);

/* The index of the port of that name; the count when there is none. */
uint32_t sim_model_port_find(const struct sim_port *ports, uint32_t count, const char *name);

/* Bytes of a shape; 0 while a dimension is unknown, UINT64_MAX when the number does not fit. */
uint64_t sim_model_shape_bytes(aclDataType type, const int64_t *dims, uint32_t rank);

/* The strides of dimensions that lie one behind the other, in elements; 0 before an unknown or empty one. */
void sim_model_shape_strides(const int64_t *dims, uint32_t rank, int64_t *strides);

/* The dimensions of an input in a gear (SIM_EVERY_GEAR: as built, with -1 for what gears decide). `dims` has room for
 * po_rank. */
void sim_model_signature_input(const struct sim_signature *signature, uint32_t input, int64_t gear, int64_t *dims);

/* The dimensions of an output in a gear; its largest ones for SIM_EVERY_GEAR. */
const int64_t *sim_model_signature_output(const struct sim_signature *signature, uint32_t output, int64_t gear,
                                    uint32_t *rank);

/* The static AIPP of an input; NULL: none. */
const struct sim_static_aipp *sim_model_signature_aipp(const struct sim_signature *signature, uint32_t input);

/* The gear with these values; -1: none. */
int64_t sim_model_signature_gear(const struct sim_signature *signature, const uint64_t *values);

/* Whether the input carries a gear or preprocessing parameters instead of data. */
bool sim_model_port_is_control(const struct sim_port *port);

#endif
