/* This file chooses the gear of a model: it writes the gear's numbers into the input that carries them, at once.
 *
 * The gear is stored in the model, for aclmdlGetCurOutputDims, and in the dataset, because it decides how large the
 * buffers of an execution must be. An execution reads its gear from the input when it runs. mo_gear is atomic; the
 * dataset's lock guards its gear. */
#include "address/memory.h"
#include "memory/memory_copy.h"
#include "dataset.h"
#include "model.h"

static aclError find_gear(const struct sim_signature *signature, size_t index, enum sim_gears kind,
                          const uint64_t *values, uint32_t count, int64_t *gear)
{
    bool right = signature->sg_gears == kind && signature->sg_gear_width == count;
    *gear = right ? sim_model_signature_gear(signature, values) : -1;
    SIM_ARGUMENT(*gear >= 0, ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID,
                 "the model was not built for it, expected one of its %u gears of %u numbers",
                 signature->sg_gears == kind ? signature->sg_gear_count : 0, signature->sg_gear_width);
    uint32_t place = sim_model_port_find(signature->sg_inputs, signature->sg_input_count, SIM_GEAR_INPUT);
    SIM_ARGUMENT(index == place, ACL_ERROR_INVALID_PARAM,
                 "index is %zu, expected %u, that of the input " SIM_GEAR_INPUT, index, place);
    return ACL_SUCCESS;
}

static aclError write_gear(void *address, size_t size, const uint64_t *values, uint32_t count)
{
    uint32_t narrow[ACL_MAX_DIM_CNT];
    if (size >= count * sizeof *values)
        return sim_memory_copy(address, values, count * sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        narrow[i] = (uint32_t)values[i];
    return sim_memory_copy(address, narrow, count * sizeof *narrow);
}

static aclError choose(struct sim_model *model, aclmdlDataset *dataset, size_t index, enum sim_gears kind,
                       const uint64_t *values, uint32_t count)
{
    void *address = NULL;
    size_t size = 0;
    int64_t gear = SIM_EVERY_GEAR;
    SIM_TRY(sim_dataset_memory(dataset, index, &address, &size));
    SIM_ARGUMENT(size >= count * sizeof(uint32_t), ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID,
                 "buffer %zu of the dataset has %zu bytes, expected at least %zu", index, size,
                 count * sizeof(uint32_t));
    SIM_TRY(find_gear(model->mo_signature, index, kind, values, count, &gear));
    SIM_TRY(write_gear(address, size, values, count));
    atomic_store_explicit(&model->mo_gear, gear, memory_order_relaxed); /* publishes no other data */
    return sim_dataset_choose_gear(dataset, model->mo_id, gear);
}

aclError sim_model_choose_gear(uint32_t id, aclmdlDataset *dataset, size_t index, enum sim_gears kind,
                               const uint64_t *values, uint32_t count)
{
    struct sim_model *model;
    SIM_TRY(sim_model_open(id, &model));
    aclError code = choose(model, dataset, index, kind, values, count);
    sim_model_close(model);
    return code;
}
