/* Entry points of gears: the batch sizes, image sizes or dimensions that a model was built for, and choosing one. */
#include "model/model.h"
#include <string.h>

#define EVERY_INPUT ((size_t)-1)

#define WITH_SIGNATURE(call)                                                                                           \
    struct sim_model_desc *found = sim_model_desc_open(modelDesc);                                                     \
    if (found == NULL)                                                                                                 \
        return ACL_ERROR_INVALID_PARAM;                                                                                \
    static const struct sim_signature none;                                                                            \
    const struct sim_signature *signature = found->ds_signature != NULL ? found->ds_signature : &none;                 \
    aclError code = call;                                                                                              \
    sim_object_close(found);                                                                                           \
    return code

/* Gears belong to the whole model, so the index of any input is valid. */
static aclError check_index(const struct sim_signature *signature, size_t index)
{
    SIM_ARGUMENT(index == EVERY_INPUT || index < signature->sg_input_count, ACL_ERROR_INVALID_PARAM,
                 "index is %zu, expected (size_t)-1 or less than %u, the number of inputs of the model", index,
                 signature->sg_input_count);
    return ACL_SUCCESS;
}

static aclError count_gears(const struct sim_signature *signature, enum sim_gears kind, size_t most, size_t *count)
{
    *count = signature->sg_gears == kind ? signature->sg_gear_count : 0;
    SIM_ARGUMENT(*count <= most, ACL_ERROR_STORAGE_OVER_LIMIT, "the model has %zu gears, and there is room for %zu",
                 *count, most);
    return ACL_SUCCESS;
}

static aclError get_batch(const struct sim_signature *signature, aclmdlBatch *batch)
{
    size_t count;
    memset(batch, 0, sizeof *batch);
    SIM_TRY(count_gears(signature, SIM_GEARS_BATCH, ACL_MAX_BATCH_NUM, &count));
    batch->batchCount = count;
    for (size_t i = 0; i < count; i++)
        batch->batch[i] = signature->sg_gear_values[i];
    return ACL_SUCCESS;
}

aclError aclmdlGetDynamicBatch(const aclmdlDesc *modelDesc, aclmdlBatch *batch)
{
    SIM_ENTER();
    SIM_NOT_NULL(batch);
    WITH_SIGNATURE(get_batch(signature, batch));
}

static aclError get_hw(const struct sim_signature *signature, size_t index, aclmdlHW *hw)
{
    size_t count;
    SIM_TRY(check_index(signature, index));
    memset(hw, 0, sizeof *hw);
    SIM_TRY(count_gears(signature, SIM_GEARS_HW, ACL_MAX_HW_NUM, &count));
    hw->hwCount = count;
    for (size_t i = 0; i < count; i++)
        for (size_t side = 0; side < 2; side++)
            hw->hw[i][side] = signature->sg_gear_values[2 * i + side];
    return ACL_SUCCESS;
}

aclError aclmdlGetDynamicHW(const aclmdlDesc *modelDesc, size_t index, aclmdlHW *hw)
{
    SIM_ENTER();
    SIM_NOT_NULL(hw);
    WITH_SIGNATURE(get_hw(signature, index, hw));
}

static aclError get_count(const struct sim_signature *signature, size_t index, size_t *count)
{
    SIM_TRY(check_index(signature, index));
    return count_gears(signature, SIM_GEARS_DIMS, SIZE_MAX, count);
}

aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc *modelDesc, size_t index, size_t *gearCount)
{
    SIM_ENTER();
    SIM_NOT_NULL(gearCount);
    WITH_SIGNATURE(get_count(signature, index, gearCount));
}

/* The total number of dimensions of all inputs with data. */
static uint32_t all_dims(const struct sim_signature *signature)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < signature->sg_input_count; i++)
        if (!sim_model_port_is_control(&signature->sg_inputs[i]))
            count += signature->sg_inputs[i].po_rank;
    return count;
}

static aclError get_dims(const struct sim_signature *signature, size_t index, aclmdlIODims *dims, size_t room)
{
    size_t count;
    SIM_TRY(check_index(signature, index));
    SIM_TRY(count_gears(signature, SIM_GEARS_DIMS, SIZE_MAX, &count));
    SIM_ARGUMENT(room >= count, ACL_ERROR_INVALID_PARAM, "gearCount is %zu, expected at least %zu", room, count);
    SIM_ARGUMENT(count == 0 || all_dims(signature) <= ACL_MAX_DIM_CNT, ACL_ERROR_FAILURE,
                 "the inputs have %u dimensions together, and there is room for %d", all_dims(signature),
                 ACL_MAX_DIM_CNT);
    for (size_t gear = 0; gear < count; gear++) {
        memset(&dims[gear], 0, sizeof *dims);
        for (uint32_t i = 0; i < signature->sg_input_count; i++) {
            if (sim_model_port_is_control(&signature->sg_inputs[i]))
                continue;
            sim_model_signature_input(signature, i, (int64_t)gear, dims[gear].dims + dims[gear].dimCount);
            dims[gear].dimCount += signature->sg_inputs[i].po_rank;
        }
    }
    return ACL_SUCCESS;
}

aclError aclmdlGetInputDynamicDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims, size_t gearCount)
{
    SIM_ENTER();
    SIM_NOT_NULL(dims);
    WITH_SIGNATURE(get_dims(signature, index, dims, gearCount));
}

/* ---- choosing ---- */

aclError aclmdlSetDynamicBatchSize(uint32_t modelId, aclmdlDataset *dataset, size_t index, uint64_t batchSize)
{
    SIM_ENTER();
    SIM_NOT_NULL(dataset);
    SIM_ARGUMENT(batchSize != 0, ACL_ERROR_INVALID_PARAM, "batchSize is 0, expected one that the model was built for");
    return sim_model_choose_gear(modelId, dataset, index, SIM_GEARS_BATCH, &batchSize, 1);
}

aclError aclmdlSetDynamicHWSize(uint32_t modelId, aclmdlDataset *dataset, size_t index, uint64_t height,
                                uint64_t width)
{
    SIM_ENTER();
    SIM_NOT_NULL(dataset);
    SIM_ARGUMENT(height != 0 && width != 0, ACL_ERROR_INVALID_PARAM,
                 "height is %llu and width %llu, expected a pair that the model was built for",
                 (unsigned long long)height, (unsigned long long)width);
    const uint64_t values[2] = {height, width};
    return sim_model_choose_gear(modelId, dataset, index, SIM_GEARS_HW, values, 2);
}

/* Picks the values of a gear from the dimensions of all inputs; fixed dimensions must have their size in the model. */
static aclError pick_values(const struct sim_signature *signature, const aclmdlIODims *dims, uint64_t *values,
                            uint32_t *count)
{
    size_t at = 0;
    SIM_ARGUMENT(dims->dimCount <= ACL_MAX_DIM_CNT && dims->dimCount == all_dims(signature),
                 ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID,
                 "dims has %zu dimensions, expected %u, the dimensions of all inputs in order", dims->dimCount,
                 all_dims(signature));
    *count = 0;
    for (uint32_t i = 0; i < signature->sg_input_count; i++) {
        const struct sim_port *port = &signature->sg_inputs[i];
        for (uint32_t axis = 0; axis < port->po_rank && !sim_model_port_is_control(port); axis++, at++) {
            if (port->po_dims[axis] < 0)
                values[(*count)++] = (uint64_t)dims->dims[at];
            SIM_ARGUMENT(port->po_dims[axis] < 0 || port->po_dims[axis] == dims->dims[at],
                         ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID, "dimension %zu is %lld, expected %lld, as built", at,
                         (long long)dims->dims[at], (long long)port->po_dims[axis]);
        }
    }
    return ACL_SUCCESS;
}

aclError aclmdlSetInputDynamicDims(uint32_t modelId, aclmdlDataset *dataset, size_t index, const aclmdlIODims *dims)
{
    SIM_ENTER();
    uint64_t values[ACL_MAX_DIM_CNT];
    uint32_t count = 0;
    struct sim_model *model;
    SIM_NOT_NULL(dataset);
    SIM_NOT_NULL(dims);
    SIM_ARGUMENT(dims->dimCount != 0, ACL_ERROR_INVALID_PARAM, "dims has no dimensions");
    SIM_TRY(sim_model_open(modelId, &model));
    aclError code = pick_values(model->mo_signature, dims, values, &count);
    sim_model_close(model);
    SIM_TRY(code);
    return sim_model_choose_gear(modelId, dataset, index, SIM_GEARS_DIMS, values, count);
}
