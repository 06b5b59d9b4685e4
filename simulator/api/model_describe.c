/* Entry points of model descriptions: inputs, outputs, names, attributes and dimensions. */
#include "model/format/format.h"
#include <string.h>

/* Body of a getter on one input or output: returns `expression`, which uses `port`, or `neutral` for an invalid
 * description or index. */
#define GET_PORT(side, type, neutral, expression)                                                                      \
    SIM_ENTER();                                                                                                       \
    type answer = neutral;                                                                                             \
    struct sim_model_desc *found = sim_model_desc_open(modelDesc);                                                     \
    if (found == NULL)                                                                                                 \
        return neutral;                                                                                                \
    const struct sim_port *port = NULL;                                                                                \
    if (find_##side(found, index, &port) == ACL_SUCCESS)                                                               \
        answer = expression;                                                                                           \
    sim_object_close(found);                                                                                           \
    return answer

/* Body of a function on a description: returns `call`, which uses `found`; an invalid handle is refused, also NULL. */
#define WITH_DESC(call)                                                                                                \
    struct sim_model_desc *found = sim_model_desc_open(modelDesc);                                                     \
    if (found == NULL)                                                                                                 \
        return ACL_ERROR_INVALID_PARAM;                                                                                \
    aclError code = call;                                                                                              \
    sim_object_close(found);                                                                                           \
    return code

static aclError find_port(const struct sim_port *ports, uint32_t count, size_t index, const struct sim_port **port)
{
    SIM_ARGUMENT(index < count, ACL_ERROR_INVALID_PARAM, "index is %zu, expected less than %u", index, count);
    *port = &ports[index];
    return ACL_SUCCESS;
}

static aclError find_input(const struct sim_model_desc *desc, size_t index, const struct sim_port **port)
{
    const struct sim_signature *signature = desc->ds_signature;
    return signature == NULL ? find_port(NULL, 0, index, port)
                             : find_port(signature->sg_inputs, signature->sg_input_count, index, port);
}

static aclError find_output(const struct sim_model_desc *desc, size_t index, const struct sim_port **port)
{
    const struct sim_signature *signature = desc->ds_signature;
    return signature == NULL ? find_port(NULL, 0, index, port)
                             : find_port(signature->sg_outputs, signature->sg_output_count, index, port);
}

/* ---- descriptions ---- */

aclmdlDesc *aclmdlCreateDesc(void)
{
    SIM_ENTER();
    return sim_model_desc_create();
}

aclError aclmdlDestroyDesc(aclmdlDesc *modelDesc)
{
    SIM_ENTER();
    struct sim_model_desc *found = sim_model_desc_open(modelDesc);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    sim_model_desc_destroy(found);
    return ACL_SUCCESS;
}

/* The description is empty after a failure. */
aclError aclmdlGetDesc(aclmdlDesc *modelDesc, uint32_t modelId)
{
    SIM_ENTER();
    struct sim_model *model = NULL;
    struct sim_model_desc *found = sim_model_desc_open(modelDesc);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = sim_model_open(modelId, &model);
    if (code == ACL_SUCCESS)
        sim_model_signature_share(model->mo_signature);
    sim_model_desc_fill(found, code == ACL_SUCCESS ? model->mo_signature : NULL, modelId);
    sim_object_close(found);
    if (code == ACL_SUCCESS)
        sim_model_close(model);
    return code;
}

static aclError describe(struct sim_model_desc *desc, struct sim_bytes model)
{
    struct sim_file file;
    struct sim_signature *signature = NULL;
    sim_model_desc_fill(desc, NULL, 0);
    SIM_TRY(sim_file_view(model, &file));
    SIM_ARGUMENT(sim_file_is_described(&file), ACL_ERROR_GE_PARAM_INVALID,
                 "the inputs and outputs of the model are not known before it is loaded, expected a model from a newer "
                 "converter");
    SIM_TRY(sim_file_signature(&file, &signature));
    sim_model_desc_fill(desc, signature, 0);
    return ACL_SUCCESS;
}

aclError aclmdlGetDescFromFile(aclmdlDesc *modelDesc, const char *modelPath)
{
    SIM_ENTER();
    struct sim_bytes model;
    SIM_NOT_NULL(modelDesc);
    SIM_NOT_NULL(modelPath);
    SIM_TRY(sim_model_read(modelPath, &model));
    struct sim_model_desc *found = sim_model_desc_open(modelDesc);
    aclError code = found == NULL ? ACL_ERROR_INVALID_PARAM : describe(found, model);
    if (found != NULL)
        sim_object_close(found);
    sim_model_free_bytes(model);
    return code;
}

aclError aclmdlGetDescFromMem(aclmdlDesc *modelDesc, const void *model, size_t modelSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(model);
    SIM_ARGUMENT(modelSize != 0, ACL_ERROR_INVALID_PARAM, "modelSize is 0, expected the size of a model in bytes");
    struct sim_bytes bytes = {model, modelSize};
    WITH_DESC(describe(found, bytes));
}

/* ---- inputs and outputs ---- */

/* Body of a getter of a count: 0 for an invalid or empty description. */
#define GET_COUNT(field)                                                                                               \
    SIM_ENTER();                                                                                                       \
    struct sim_model_desc *found = sim_model_desc_open(modelDesc);                                                     \
    if (found == NULL)                                                                                                 \
        return 0;                                                                                                      \
    size_t count = found->ds_signature == NULL ? 0 : found->ds_signature->field;                                       \
    sim_object_close(found);                                                                                           \
    return count

size_t aclmdlGetNumInputs(aclmdlDesc *modelDesc)
{
    GET_COUNT(sg_input_count);
}

size_t aclmdlGetNumOutputs(aclmdlDesc *modelDesc)
{
    GET_COUNT(sg_output_count);
}

size_t aclmdlGetInputSizeByIndex(aclmdlDesc *modelDesc, size_t index)
{
    GET_PORT(input, size_t, 0, port->po_bytes);
}

size_t aclmdlGetOutputSizeByIndex(aclmdlDesc *modelDesc, size_t index)
{
    GET_PORT(output, size_t, 0, port->po_bytes);
}

const char *aclmdlGetInputNameByIndex(const aclmdlDesc *modelDesc, size_t index)
{
    GET_PORT(input, const char *, "", port->po_name);
}

const char *aclmdlGetOutputNameByIndex(const aclmdlDesc *modelDesc, size_t index)
{
    GET_PORT(output, const char *, "", port->po_name);
}

aclFormat aclmdlGetInputFormat(const aclmdlDesc *modelDesc, size_t index)
{
    GET_PORT(input, aclFormat, ACL_FORMAT_UNDEFINED, port->po_format);
}

aclFormat aclmdlGetOutputFormat(const aclmdlDesc *modelDesc, size_t index)
{
    GET_PORT(output, aclFormat, ACL_FORMAT_UNDEFINED, port->po_format);
}

aclDataType aclmdlGetInputDataType(const aclmdlDesc *modelDesc, size_t index)
{
    GET_PORT(input, aclDataType, ACL_DT_UNDEFINED, port->po_type);
}

aclDataType aclmdlGetOutputDataType(const aclmdlDesc *modelDesc, size_t index)
{
    GET_PORT(output, aclDataType, ACL_DT_UNDEFINED, port->po_type);
}

static aclError find_index(const struct sim_model_desc *desc, bool input, const char *name, size_t *index)
{
    SIM_NOT_NULL(name);
    SIM_NOT_NULL(index);
    const struct sim_signature *signature = desc->ds_signature;
    uint32_t count = signature == NULL ? 0 : input ? signature->sg_input_count : signature->sg_output_count;
    uint32_t place =
        count == 0 ? 0 : sim_model_port_find(input ? signature->sg_inputs : signature->sg_outputs, count, name);
    SIM_ARGUMENT(place < count, ACL_ERROR_INVALID_PARAM, "name is \"%s\", which is not the name of any of the %u %s",
                 name, count,
                 input ? "inputs" : "outputs");
    *index = place;
    return ACL_SUCCESS;
}

aclError aclmdlGetInputIndexByName(const aclmdlDesc *modelDesc, const char *name, size_t *index)
{
    SIM_ENTER();
    WITH_DESC(find_index(found, true, name, index));
}

aclError aclmdlGetOutputIndexByName(const aclmdlDesc *modelDesc, const char *name, size_t *index)
{
    SIM_ENTER();
    WITH_DESC(find_index(found, false, name, index));
}

const char *aclmdlGetTensorRealName(const aclmdlDesc *modelDesc, const char *name)
{
    SIM_ENTER();
    struct sim_model_desc *found = name == NULL ? NULL : sim_model_desc_open(modelDesc);
    if (found == NULL)
        return NULL;
    const char *real = sim_model_desc_real_name(found, name);
    sim_object_close(found);
    return real;
}

/* The only attribute is the list of operators that a fused operator was made from. */
const char *aclmdlGetOpAttr(aclmdlDesc *modelDesc, const char *opName, const char *attr)
{
    SIM_ENTER();
    struct sim_model_desc *found = opName == NULL || attr == NULL ? NULL : sim_model_desc_open(modelDesc);
    if (found == NULL)
        return NULL;
    const struct sim_signature *signature = found->ds_signature;
    const char *text = NULL;
    bool asked = signature != NULL && strcmp(attr, "_datadump_original_op_names") == 0;
    for (uint32_t i = 0; asked && text == NULL && i < signature->sg_origin_count; i++)
        if (strcmp(signature->sg_origins[i].or_name, opName) == 0)
            text = signature->sg_origins[i].or_text;
    sim_object_close(found);
    return text;
}

/* One task of the simulator executes a whole model, so a task never belongs to a single operator. */
aclError aclmdlCreateAndGetOpDesc(uint32_t deviceId, uint32_t streamId, uint32_t taskId, char *opName,
                                  size_t opNameLen, aclTensorDesc **inputDesc, size_t *numInputs,
                                  aclTensorDesc **outputDesc, size_t *numOutputs)
{
    SIM_ENTER();
    SIM_NOT_NULL(opName);
    SIM_NOT_NULL(inputDesc);
    SIM_NOT_NULL(numInputs);
    SIM_NOT_NULL(outputDesc);
    SIM_NOT_NULL(numOutputs);
    SIM_ARGUMENT(opNameLen != 0, ACL_ERROR_INVALID_PARAM, "opNameLen is 0, expected room for a name");
    return sim_refuse(ACL_ERROR_OP_NOT_FOUND,
                      "task %u of stream %u on device %u does not belong to an operator of a model: the simulator "
                      "executes a model as one task", taskId, streamId, deviceId);
}

/* ---- dimensions ---- */

#define ASK_DIMS(call)                                                                                                 \
    SIM_ENTER();                                                                                                       \
    SIM_NOT_NULL(dims);                                                                                                \
    WITH_DESC(call)

static void show_dims(const struct sim_model_desc *desc, size_t index, bool input, const int64_t *values,
                      uint32_t rank, aclmdlIODims *dims)
{
    memset(dims, 0, sizeof *dims);
    sim_model_desc_name(desc, (uint32_t)index, input, dims->name);
    dims->dimCount = rank;
    memcpy(dims->dims, values, rank * sizeof *values);
}

static aclError input_dims(const struct sim_model_desc *desc, size_t index, bool second, aclmdlIODims *dims)
{
    const struct sim_port *port = NULL;
    SIM_TRY(find_input(desc, index, &port));
    if (second)
        show_dims(desc, index, true, port->po_dims_v2, port->po_rank_v2, dims);
    else
        show_dims(desc, index, true, port->po_dims, port->po_rank, dims);
    return ACL_SUCCESS;
}

aclError aclmdlGetInputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)
{
    ASK_DIMS(input_dims(found, index, false, dims));
}

aclError aclmdlGetInputDimsV2(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)
{
    ASK_DIMS(input_dims(found, index, true, dims));
}

static aclError input_range(const struct sim_model_desc *desc, size_t index, aclmdlIODimsRange *range)
{
    const struct sim_port *port = NULL;
    SIM_TRY(find_input(desc, index, &port));
    memset(range, 0, sizeof *range);
    range->rangeCount = port->po_range_count;
    if (port->po_range_count != 0)
        memcpy(range->range, port->po_ranges, port->po_range_count * sizeof *port->po_ranges);
    return ACL_SUCCESS;
}

aclError aclmdlGetInputDimsRange(const aclmdlDesc *modelDesc, size_t index, aclmdlIODimsRange *dimsRange)
{
    SIM_ENTER();
    SIM_NOT_NULL(dimsRange);
    WITH_DESC(input_range(found, index, dimsRange));
}

static aclError output_dims(const struct sim_model_desc *desc, size_t index, int64_t gear, aclmdlIODims *dims)
{
    const struct sim_port *port = NULL;
    uint32_t rank;
    SIM_TRY(find_output(desc, index, &port));
    const int64_t *values = sim_model_signature_output(desc->ds_signature, (uint32_t)index, gear, &rank);
    show_dims(desc, index, false, values, rank, dims);
    return ACL_SUCCESS;
}

aclError aclmdlGetOutputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)
{
    ASK_DIMS(output_dims(found, index, SIM_EVERY_GEAR, dims));
}

static aclError current_dims(const struct sim_model_desc *desc, size_t index, aclmdlIODims *dims)
{
    const struct sim_port *port = NULL;
    SIM_TRY(find_output(desc, index, &port));
    SIM_ARGUMENT(!desc->ds_signature->sg_dynamic, ACL_ERROR_API_NOT_SUPPORT,
                 "the output shapes of the model are known only after an execution, expected "
                 "aclmdlGetDatasetTensorDesc after one");
    int64_t gear = SIM_EVERY_GEAR;
    struct sim_model *model = sim_model_peek(desc->ds_id); /* id 0 belongs to no model */
    if (model != NULL) {
        gear = atomic_load_explicit(&model->mo_gear, memory_order_relaxed); /* orders no other data */
        sim_model_close(model);
    }
    return output_dims(desc, index, gear, dims);
}

aclError aclmdlGetCurOutputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)
{
    ASK_DIMS(current_dims(found, index, dims));
}
