/* Single operators by type: descriptions, buffers and attributes of the program become the call of an operator
 * schema. */
#ifndef SIM_OP_H
#define SIM_OP_H

#include "row.h"
#include "tensordesc.h"

/* ---- attributes (op_attr.c) ---- */

enum sim_attribute_kind {
    SIM_ATTRIBUTE_INTEGER, /* also bools and data types */
    SIM_ATTRIBUTE_NUMBER,
    SIM_ATTRIBUTE_TEXT,
    SIM_ATTRIBUTE_BOOLEANS,
    SIM_ATTRIBUTE_INTEGERS,
    SIM_ATTRIBUTE_FLOATS,
    SIM_ATTRIBUTE_JSON, /* lists of texts and of lists, which no schema has */
};

struct sim_attribute {
    char *at_name;
    enum sim_attribute_kind at_kind;
    int64_t at_integer;
    double at_number;
    void *at_values; /* allocated with malloc: a text, or at_count of bool, int64_t or float; else NULL */
    uint64_t at_count;
};

struct sim_attributes {
    struct sim_attribute *as_list;
    size_t as_count;
};

struct sim_op_attr {
    struct sim_object oa_object;
    struct sim_attributes oa_attributes;
};

aclopAttr *sim_op_attr_create(void);
/* Returns the live object, locked, or NULL with a message (100000). */
struct sim_op_attr *sim_op_attr_open(const aclopAttr *handle);
void sim_op_attr_destroy(struct sim_op_attr *attr);

/* Sets an attribute, replacing one of the same name. Values are copied; list elements of `width` bytes are converted
 * to the list's own type. Returns 100000 or 200000. */
aclError sim_op_attr_set(const aclopAttr *handle, const char *name, const struct sim_attribute *value, size_t width);
aclError sim_op_attr_set_texts(const aclopAttr *handle, const char *name, size_t count, const char *const *values);
aclError sim_op_attr_set_lists(const aclopAttr *handle, const char *name, size_t count, const int *lengths,
                               const int64_t *const *values);

/* Copy the attributes of an object, or of a list. Return 100000 for a dead handle, and 200000 if memory runs out. */
aclError sim_op_attr_copy(const aclopAttr *handle, struct sim_attributes *copy);
aclError sim_op_attributes_copy(const struct sim_attributes *from, struct sim_attributes *copy);
void sim_op_attributes_drop(struct sim_attributes *attributes);
const struct sim_attribute *sim_op_attributes_find(const struct sim_attributes *attributes, const char *name);
/* All attributes as one JSON object, which the caller frees; NULL if memory runs out. */
char *sim_op_attributes_json(const struct sim_attributes *attributes);

/* ---- requests (op.c) ---- */

#define SIM_OP_TENSORS 1024 /* inputs, and also outputs, per operator */
#define SIM_OP_RANK 8

/* The arguments of a public function. */
struct sim_op_given {
    const char *gi_type;
    int gi_input_count, gi_output_count;
    const aclTensorDesc *const *gi_input_descs, *const *gi_output_descs;
    const aclDataBuffer *const *gi_inputs, *const *gi_outputs; /* both NULL if the function takes no buffers */
    const aclopAttr *gi_attr;                                  /* NULL: no attributes */
    bool gi_tells; /* the descriptions of outputs may be changed to sizes that a kernel finds */
};

struct sim_op_tensor {
    aclDataType ot_type; /* UNDEFINED: an omitted optional tensor */
    aclFormat ot_format;
    aclMemType ot_placement;
    bool ot_open; /* a dimension or the rank is unknown */
    uint32_t ot_rank;
    int64_t ot_dims[SIM_OP_RANK];
    uint64_t ot_bytes; /* needed by the shape; 0 while it is open */
    void *ot_data;
    size_t ot_size; /* of the buffer */
    size_t ot_constant_size; /* given by the program; 0: no constant */
    _Alignas(8) unsigned char ot_constant[SIM_CONSTANT_BYTES];
};

/* A snapshot of the arguments: nothing of the program's is read later. */
struct sim_op_request {
    char *rq_type;
    struct sim_op_tensor *rq_tensors; /* allocated with malloc: inputs, then outputs */
    uint32_t rq_input_count, rq_output_count;
    struct sim_attributes rq_attributes;
};

static inline struct sim_op_tensor *sim_op_output(const struct sim_op_request *request, uint32_t index)
{
    return &request->rq_tensors[request->rq_input_count + index];
}

/* Creates an empty request, to be dropped with sim_op_request_drop. Returns 200000 if memory runs out. */
aclError sim_op_request_create(const char *type, uint32_t inputs, uint32_t outputs, struct sim_op_request *request);
void sim_op_request_drop(struct sim_op_request *request);

/* Checks the call and queues it. Returns 100000, 100021 to 100024, 148050, 200000, or a code of the runtime. */
aclError sim_op_submit(struct sim_op_request *request, aclrtStream stream, void *site);

/* ---- what the public functions do ---- */

/* Executes an operator; returns the codes of sim_op_submit. Open shapes of outputs and sizes that the kernel finds are
 * written into their descriptions; the call waits for the latter. */
aclError sim_op_execute(const struct sim_op_given *given, aclrtStream stream, void *site);
/* Checks whether the operator could be executed. Returns 500002 if not, and 200001 for descriptions in host memory. */
aclError sim_op_compile(const struct sim_op_given *given);
aclError sim_op_compile_and_execute(const struct sim_op_given *given, aclrtStream stream, void *site);
/* Checks what is to be compiled. Returns 200001 for an unknown flag, and 100000 for user code without its path. */
aclError sim_op_check_flag(aclopCompileType flag, const char *path);
/* Writes the shapes of the outputs into their descriptions. Returns 100000, 100024 or 148050. */
aclError sim_op_infer(const struct sim_op_given *given);

/* Creates a handle: a request without buffers. Returns 200001 for descriptions in host memory, and the codes of
 * sim_op_submit's checks. */
aclError sim_op_handle_create(const struct sim_op_given *given, aclopHandle **handle);
/* Creates a handle that owns the request. */
aclError sim_op_handle_keep(struct sim_op_request *request, aclopHandle **handle);
void sim_op_handle_destroy(const aclopHandle *handle);
aclError sim_op_handle_execute(const aclopHandle *handle, int inputs, const aclDataBuffer *const *input_buffers,
                               int outputs, const aclDataBuffer *const *output_buffers, aclrtStream stream, void *site);

/* ---- inputs in host memory (op_stage.c) ---- */

struct sim_pack;

/* Constants without a buffer serve as their own buffers. */
void sim_op_stage_constants(const struct sim_op_request *request);
/* Copies the operands that are in host memory to one new device block, and changes their addresses. *block is NULL
 * without such operands. No queued task can be using the new block. */
aclError sim_op_stage(const struct sim_op_request *request, const struct sim_pack *pack, struct sim_target target,
                      void **block);

/* ---- types (op_type.c) ---- */

/* The schema of a request with its arguments, most of which are handles of objects made for it. */
struct sim_op_binding {
    struct sim_row *bi_row;
    union sim_value bi_values[SIM_ROW_PARAMETERS];
    char *bi_text; /* the attributes as text, for a type that the user registered; or NULL */
};

/* Binds a request. Returns 100021 to 100024 or 200000. The caller unbinds in any case. */
aclError sim_op_bind(const struct sim_op_request *request, struct sim_op_binding *binding);
void sim_op_unbind(struct sim_op_binding *binding);

/* Finds the bytes of an input that the host has: those of a constant, or of a buffer described as host memory, which
 * must be valid (100000). *size is 0 if the host has none of them. */
aclError sim_op_host_bytes(const struct sim_op_request *request, uint32_t place, const void **bytes, size_t *size);

/* Fills in the open shapes of outputs (op_shape.c). Returns 148050 if they cannot be inferred. */
aclError sim_op_shape(struct sim_op_request *request);

/* Registers a kernel for all operators of a type without a schema (aclsimRegisterKernel); kn_run NULL removes it.
 * Its arguments are the list of the inputs, the list of the outputs, and the attributes as a JSON object. Returns
 * 200000. */
aclError sim_op_register(const char *type, struct sim_kernel kernel);

/* Schemas of single operators that are not public, because no aclnn operator does the same (ops/tables.h). */
enum sim_op_own {
    SIM_OWN_NONE,
    SIM_OWN_GEMM,
    SIM_OWN_EXP,
    SIM_OWN_LOG,
    SIM_OWN_POWER,
    SIM_OWN_LEAKY_RELU,
    SIM_OWN_SWISH,
    SIM_OWN_RELU6,
    SIM_OWN_HARD_SWISH,
    SIM_OWN_ADDCMUL,
    SIM_OWN_ADDCDIV,
    SIM_OWN_AXPY,
    SIM_OWN_CLIP,
    SIM_OWN_STRIDED,
    SIM_OWN_SPLIT,
    SIM_OWN_PAD,
    SIM_OWN_PAD_EDGES,
    SIM_OWN_TOP_K,
    SIM_OWN_SORT,
    SIM_OWN_SOFTMAX,
    SIM_OWN_LOG_SOFTMAX,
    SIM_OWN_BIASED_PRODUCT,
    SIM_OWN_GATHER_ND,
    SIM_OWN_PROD,
    SIM_OWN_LAYER_NORM,
    SIM_OWN_RANGE,
    SIM_OWN_MAX_POOL,
    SIM_OWN_AVG_POOL,
    SIM_OWN_CONV2D,
    SIM_OWN_TRANSPOSED,
    SIM_OWN_LSTM,
    SIM_OWN_GRU,
    SIM_OWN_LSTM_GRAD,
    SIM_OWN_GRU_GRAD,
    SIM_OWN_BATCH_NORM,
    SIM_OWN_CDIST_GRAD,
    SIM_OWN_NORM_POWERS,
    SIM_OWN_INDEX_PUT,
    SIM_OWN_LAYER_NORM_GRAD,
    SIM_OWN_IOU,
    SIM_OWN_BOX_ENCODE,
    SIM_OWN_BOX_DECODE,
    SIM_OWN_PAD_EDGES_GRAD,
    SIM_OWN_MAX_POOL_MASK,
    SIM_OWN_MAX_POOL_MASK_GRAD,
    SIM_OWN_MAX_POOL_3D,
    SIM_OWN_BN_REDUCE,
    SIM_OWN_BN_UPDATE,
    SIM_OWN_BN_UPDATE_GRAD,
    SIM_OWN_BN_REDUCE_GRAD,
    SIM_OWN_BN_INFER_GRAD,
    SIM_OWN_RENORM,
    SIM_OWN_MASKED_SCATTER,
    SIM_OWN_SCATTER_ND_ADD,
    SIM_OWN_NONZERO,
    SIM_OWN_CDIST,
    SIM_OWN_MAX_POOL_3D_GRAD,
    SIM_OWN_BINCOUNT,
    SIM_OWN_MULTILABEL_LOSS,
    SIM_OWN_COUNT,
};
/* Indexed by sim_op_own; set by simulator.c before any call. */
extern struct sim_row *const *sim_op_own_rows;

/* How many windows of `extent` fit into a length with its padding; 0 if none. */
int64_t sim_op_window_count(int64_t length, int64_t extent, int64_t stride, int64_t padding);
/* Finds a schema that is not public by its operator's name, for saved models; NULL if there is none. */
struct sim_row *sim_op_row_find(const char *name);

/* ---- compilation, models and custom kernels (op_custom.c) ---- */

#define SIM_COMPILE_OPTIONS (ACL_OP_DEBUG_OPTION + 1)

/* Stores an option of the compiler. Returns 200000 if memory runs out. */
aclError sim_op_set_option(unsigned option, const char *value);
/* The size of the text with its NUL; it is copied if it fits. */
size_t sim_op_get_option(unsigned option, char *value, size_t length);

/* Calls `load` with the path of each model file in the folder. Returns 100002, 100014, or the code of `load`. */
typedef aclError sim_op_loader(const char *path);
aclError sim_op_load_folder(const char *path, sim_op_loader *load);

/* Register and remove the function that chooses a kernel for a type. Return 100030 if the type has one already, and
 * 100028 if it has none. */
aclError sim_op_add_selector(const char *type, aclopCompileFunc function);
aclError sim_op_remove_selector(const char *type);
/* Stores a kernel binary by type and id. Returns 100031 if the type has a kernel with this id already. */
aclError sim_op_add_kernel(const char *type, const char *id, void *binary, size_t size,
                           aclDataDeallocator deallocator);
/* Calls the function of the type, which must choose an existing kernel. Returns 100000, 100028, 100029, or the
 * function's code. */
aclError sim_op_select(const struct sim_op_given *given);
/* Called by that function; NULL chooses no kernel. Returns 100000 or 200000. */
aclError sim_op_choose_kernel(const aclopKernelDesc *desc, const char *id);
/* Returns 100000 if the type, a list or an entry is NULL, or a count is not 0 to SIM_OP_TENSORS. */
aclError sim_op_check_given(const struct sim_op_given *given);

void sim_op_reset(void);
void sim_op_after_fork(void);
void sim_op_user_reset(void); /* called by the two above */
void sim_op_user_after_fork(void);
void sim_op_attr_reset(void);
void sim_op_attr_after_fork(void);
void sim_op_custom_reset(void);
void sim_op_custom_after_fork(void);

#endif
