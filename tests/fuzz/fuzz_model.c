/* A model file: whatever its bytes, reading it ends, stays inside them and takes a small multiple of their size; what
 * was read answers every question within its own bounds. */
#include "fuzz.h"
#include "model/format/format.h"
#include "model/model.h"
#include "model/model_aipp.h"
#include <stdlib.h>
#include <string.h>

extern uint64_t sum; /* not static, so that every byte is read */
uint64_t sum;

static void ask_port(const struct sim_signature *signature, uint32_t index, bool input)
{
    const struct sim_port *port = input ? &signature->sg_inputs[index] : &signature->sg_outputs[index];
    int64_t dims[ACL_MAX_DIM_CNT], strides[ACL_MAX_DIM_CNT];
    ENSURE(port->po_name != NULL && port->po_rank <= ACL_MAX_DIM_CNT && port->po_rank_v2 <= ACL_MAX_DIM_CNT);
    sum += strlen(port->po_name) + sim_model_port_is_control(port);
    for (uint32_t i = 0; i < port->po_rank; i++)
        sum += (uint64_t)port->po_dims[i];
    for (uint32_t i = 0; i < port->po_rank_v2; i++)
        sum += (uint64_t)port->po_dims_v2[i];
    for (uint32_t i = 0; i < port->po_range_count; i++)
        sum += (uint64_t)port->po_ranges[i][0] + (uint64_t)port->po_ranges[i][1];
    for (int64_t gear = SIM_EVERY_GEAR; gear < (int64_t)signature->sg_gear_count && gear < 8; gear++) {
        uint32_t rank = port->po_rank;
        const int64_t *found = dims;
        if (input)
            sim_model_signature_input(signature, index, gear, dims);
        else
            found = sim_model_signature_output(signature, index, gear, &rank);
        uint64_t bytes = sim_model_shape_bytes(port->po_type, found, rank);
        sim_model_shape_strides(found, rank, strides);
        for (uint32_t i = 0; i < rank; i++)
            sum += (uint64_t)strides[i];
        sum += bytes;
        /* Runs read the bytes of the shape; images that AIPP works on have a size of their own. */
        ENSURE(bytes <= port->po_bytes || sim_model_port_is_control(port) || (input && rank == SIM_IMAGE_RANK));
    }
}

/* Static AIPP, of which nothing is trusted, on images of any bytes. */
static void preprocess(const struct sim_signature *signature, const struct sim_static_aipp *aipp)
{
    static unsigned char raw[4096];
    const struct sim_port *port = &signature->sg_inputs[aipp->sa_input];
    aclsimTensor tensor = {.data = raw, .type = aipp->sa_type, .rank = port->po_rank};
    ENSURE(aipp->sa_input < signature->sg_input_count && port->po_rank == SIM_IMAGE_RANK);
    for (uint32_t i = 0; i < port->po_rank; i++)
        tensor.dims[i] = port->po_dims[i];
    struct sim_aipp_source source = {aipp->sa_block, sizeof aipp->sa_block, true};
    void *converted = NULL;
    if (sim_model_shape_bytes(tensor.type, tensor.dims, tensor.rank) <= sizeof raw)
        sim_model_aipp_apply(source, sizeof raw, aipp->sa_format, &tensor, &converted);
    free(converted);
}

static void ask(const struct sim_signature *signature)
{
    for (uint32_t i = 0; i < signature->sg_aipp_count; i++)
        preprocess(signature, &signature->sg_aipp[i]);
    for (uint32_t i = 0; i < signature->sg_input_count; i++)
        ask_port(signature, i, true);
    for (uint32_t i = 0; i < signature->sg_output_count; i++)
        ask_port(signature, i, false);
    for (uint32_t gear = 0; gear < signature->sg_gear_count; gear++)
        ENSURE(sim_model_signature_gear(signature,
                                        signature->sg_gear_values + (uint64_t)gear * signature->sg_gear_width) >= 0);
    ENSURE(signature->sg_gear_count <= SIM_GEARS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_file file;
    struct sim_signature *signature;
    struct sim_bytes weights, bytes = {data, size};
    if (sim_file_view(bytes, &file) != ACL_SUCCESS)
        return 0;
    if (sim_file_signature(&file, &signature) == ACL_SUCCESS) {
        ask(signature);
        sim_model_signature_drop(signature);
    }
    struct sim_model_executor executor = {0};
    if (!sim_file_part(&file, SIM_PART_WEIGHTS, &weights))
        return 0;
    if (sim_recorded_open(weights, &executor) == ACL_SUCCESS || sim_saved_open(weights, &executor) == ACL_SUCCESS)
        executor.me_close(executor.me_state);
    return 0;
}
