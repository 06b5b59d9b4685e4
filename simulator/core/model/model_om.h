/* The numbers and structs of model files (.om), for the simulator, which reads them, and for acl/sim/om.py and
 * acl/atc_aipp.py, which write them: plain C as in acl/abi, without a guard. model_file.h includes it, and the build
 * gives it to Python. */

/* ---- the header ---- */

#define SIM_FILE_MAGIC 0x444F4D49
#define SIM_FILE_HEADER 256
#define SIM_FILE_VERSION_NARROW 0x10000000
#define SIM_FILE_VERSION_WIDE 0x20000000 /* from here on the header says how many models follow */

typedef enum sim_file_kind {
    SIM_FILE_GRAPH = 0,
    SIM_FILE_MODEL = 1,
    SIM_FILE_FLOW = 3,
    SIM_FILE_BUNDLE = 5,
} sim_file_kind;

/* Offsets in the header. */
typedef enum sim_file_place {
    SIM_FILE_AT_MAGIC = 0,
    SIM_FILE_AT_VERSION = 8,
    SIM_FILE_AT_LENGTH_32 = 76,
    SIM_FILE_AT_KIND = 82,
    SIM_FILE_AT_NAME = 84,
    SIM_FILE_NAME_BYTES = 32,
    SIM_FILE_AT_MODELS = 156,
    SIM_FILE_AT_LENGTH_64 = 184,
    SIM_FILE_AT_DYNAMIC = 193,
} sim_file_place;

typedef enum sim_part {
    SIM_PART_MODEL_DEF = 0,
    SIM_PART_WEIGHTS = 1,
    SIM_PART_TASKS = 2,
    SIM_PART_KERNELS = 3,
    SIM_PART_CUSTOM_KERNELS = 4,
    SIM_PART_LIBRARIES = 5,
    SIM_PART_INOUT = 8,
    SIM_PART_STATIC_TASKS = 9,
    SIM_PART_DYNAMIC_TASKS = 10,
    SIM_PART_TASK_PARAMETERS = 11,
    SIM_PART_TILING = 12,
    SIM_PART_BUNDLE = 24,
    SIM_PART_BUNDLE_VARIABLES = 25,
} sim_part;

/* Tags of the pieces that describe inputs and outputs. */
typedef enum sim_inout_tag {
    SIM_OM_TAG_INPUTS = 0,
    SIM_OM_TAG_OUTPUTS = 1,
    SIM_OM_TAG_BATCH = 2,
    SIM_OM_TAG_HW = 3,
    SIM_OM_TAG_DIMS = 4,
    SIM_OM_TAG_GEAR_OUTPUTS = 5,
    SIM_OM_TAG_ORDER = 6,
} sim_inout_tag;

/* ---- the definition, a protobuf message: its fields by message ---- */

typedef enum sim_definition_field {
    SIM_OM_MAP_KEY = 1,
    SIM_OM_MAP_VALUE = 2,
    SIM_OM_ATTRIBUTE_LIST = 1,
    SIM_OM_ATTRIBUTE_TEXT = 2,
    SIM_OM_ATTRIBUTE_NUMBER = 3,
    SIM_OM_MODEL_NAME = 1,
    SIM_OM_MODEL_GRAPH = 7,
    SIM_OM_MODEL_ATTRIBUTES = 11,
    SIM_OM_GRAPH_NAME = 1,
    SIM_OM_GRAPH_OPERATOR = 6,
    SIM_OM_OP_NAME = 1,
    SIM_OM_OP_TYPE = 2,
    SIM_OM_OP_INPUT = 5,
    SIM_OM_OP_ATTRIBUTES = 10,
    SIM_OM_OP_SOURCE = 24,
    SIM_OM_OP_SOURCE_INDEX = 25,
    SIM_OM_OP_INPUT_DESC = 33,
    SIM_OM_OP_OUTPUT_DESC = 34,
    SIM_OM_TENSOR_NAME = 1,
    SIM_OM_TENSOR_TYPE = 2,
    SIM_OM_TENSOR_SHAPE = 3,
    SIM_OM_TENSOR_LAYOUT = 4,
    SIM_OM_TENSOR_SIZE = 10,
    SIM_OM_SHAPE_DIM = 1,
} sim_definition_field;

/* Numbers of data types in the definition, under the names of aclDataType. */
typedef enum sim_saved_type {
    SIM_OM_TYPE_FLOAT = 1,
    SIM_OM_TYPE_FLOAT16 = 2,
    SIM_OM_TYPE_INT8 = 3,
    SIM_OM_TYPE_UINT8 = 4,
    SIM_OM_TYPE_INT16 = 5,
    SIM_OM_TYPE_UINT16 = 6,
    SIM_OM_TYPE_INT32 = 7,
    SIM_OM_TYPE_INT64 = 8,
    SIM_OM_TYPE_UINT32 = 9,
    SIM_OM_TYPE_UINT64 = 10,
    SIM_OM_TYPE_BOOL = 11,
    SIM_OM_TYPE_DOUBLE = 12,
    SIM_OM_TYPE_STRING = 13,
    SIM_OM_TYPE_COMPLEX64 = 16,
    SIM_OM_TYPE_COMPLEX128 = 17,
    SIM_OM_TYPE_BF16 = 27,
    SIM_OM_TYPE_INT4 = 28,
} sim_saved_type;

/* ---- the parameters of AIPP ---- */

/* The block that a device reads, as the documents of the model converter lay it out: what all images share, then a part
 * per image. Names are ours; pairs are width and height. A model file has one for each input with static AIPP, and an
 * input for dynamic AIPP holds one. */
struct sim_aipp_image {
    int8_t im_crop, im_scale, im_pad, im_rotate;
    int8_t im_reserved[4];
    int32_t im_crop_start[2], im_crop_size[2];
    int32_t im_scale_from[2], im_scale_to[2];
    int32_t im_pad_sizes[4]; /* top, bottom, left, right */
    int16_t im_mean[4];
    uint16_t im_min[4], im_var_reci[4]; /* in half precision */
    int8_t im_reserved_2[16];
};

struct sim_aipp_block {
    uint8_t bl_format; /* 0: not set */
    int8_t bl_csc, bl_swap_rbuv, bl_swap_ax, bl_count;
    int8_t bl_reserved[3];
    int32_t bl_source[2]; /* 0: not set */
    int16_t bl_matrix[9]; /* a row after the other */
    int16_t bl_reserved_2[3];
    uint8_t bl_output_bias[3], bl_input_bias[3];
    uint8_t bl_mark[8]; /* says that the simulator wrote it, in bytes that mean nothing to a device */
    uint8_t bl_reserved_3[10];
    struct sim_aipp_image bl_images[];
};
