/* This file provides signatures: their memory, look-ups, and the checks after reading one from a file.
 *
 * A signature owns pieces of memory in one list; everything in it points into them. One thread writes it, while it is
 * read from a file; afterwards it is shared and constant, so it needs no lock, and only its count of users is
 * atomic. */
#include "model_signature.h"
#include "base/bytes.h"
#include "operator/tensordesc.h"
#include "model_aipp.h"
#include <stdlib.h>
#include <string.h>

struct sim_piece {
    struct sim_piece *pi_next;
    _Alignas(max_align_t) unsigned char pi_bytes[];
};

struct sim_signature *sim_model_signature_create(void)
{
    struct sim_signature *signature = calloc(1, sizeof *signature);
    if (signature == NULL)
        return NULL;
    signature->sg_users = 1;
    signature->sg_name = signature->sg_soc = signature->sg_executor = "";
    return signature;
}

void sim_model_signature_share(struct sim_signature *signature)
{
    atomic_fetch_add_explicit(&signature->sg_users, 1, memory_order_relaxed);
}

void sim_model_signature_drop(struct sim_signature *signature)
{
    /* Acquire and release: all reads of the other users happen before the memory is freed. */
    if (signature == NULL || atomic_fetch_sub_explicit(&signature->sg_users, 1, memory_order_acq_rel) != 1)
        return;
    while (signature->sg_pieces != NULL) {
        struct sim_piece *piece = signature->sg_pieces;
        signature->sg_pieces = piece->pi_next;
        free(piece);
    }
    free(signature);
}

void *sim_model_signature_take(struct sim_signature *signature, size_t count, size_t size)
{
    uint64_t bytes = count;
    if (!sim_size_multiply(&bytes, size) || __builtin_add_overflow(bytes, sizeof(struct sim_piece), &bytes))
        return NULL;
    struct sim_piece *piece = calloc(1, bytes);
    if (piece == NULL)
        return NULL;
    piece->pi_next = signature->sg_pieces;
    signature->sg_pieces = piece;
    return piece->pi_bytes;
}

const char *sim_model_signature_text(struct sim_signature *signature, const void *bytes, size_t size)
{
    char *text = sim_model_signature_take(signature, size + 1, 1);
    if (text != NULL && size != 0)
        memcpy(text, bytes, size);
    return text;
}

/* ---- look-ups ---- */

uint32_t sim_model_port_find(const struct sim_port *ports, uint32_t count, const char *name)
{
    uint32_t index = 0;
    while (index < count && strcmp(ports[index].po_name, name) != 0)
        index++;
    return index;
}

uint64_t sim_model_shape_bytes(aclDataType type, const int64_t *dims, uint32_t rank)
{
    uint64_t bits = sim_type_bits(type);
    bool fits = true, known = true;
    for (uint32_t i = 0; i < rank; i++) {
        known = known && dims[i] >= 0;
        fits = fits && known && sim_size_multiply(&bits, (uint64_t)dims[i]);
    }
    if (!known)
        return 0;
    return fits ? bits / 8 + (bits % 8 != 0) : UINT64_MAX;
}

void sim_model_shape_strides(const int64_t *dims, uint32_t rank, int64_t *strides)
{
    uint64_t stride = 1;
    for (uint32_t i = rank; i-- != 0;) {
        strides[i] = (int64_t)stride;
        if (dims[i] <= 0 || !sim_size_multiply(&stride, (uint64_t)dims[i]))
            stride = 0;
    }
}

bool sim_model_port_is_control(const struct sim_port *port)
{
    return strcmp(port->po_name, SIM_GEAR_INPUT) == 0 || strcmp(port->po_name, SIM_AIPP_INPUT) == 0;
}

void sim_model_signature_input(const struct sim_signature *signature, uint32_t input, int64_t gear, int64_t *dims)
{
    const struct sim_port *port = &signature->sg_inputs[input];
    uint32_t width = signature->sg_gear_width, at = port->po_gear_value;
    const uint64_t *values = gear < 0 ? NULL : signature->sg_gear_values + (uint64_t)gear * width;
    for (uint32_t i = 0; i < port->po_rank; i++) {
        dims[i] = port->po_dims[i];
        if (dims[i] < 0 && values != NULL && at < width)
            dims[i] = (int64_t)values[at++];
    }
}

const int64_t *sim_model_signature_output(const struct sim_signature *signature, uint32_t output, int64_t gear,
                                          uint32_t *rank)
{
    for (uint32_t i = 0; i < signature->sg_gear_output_count && gear >= 0; i++) {
        const struct sim_gear_output *candidate = &signature->sg_gear_outputs[i];
        if (candidate->go_output == output && (candidate->go_gear == gear || candidate->go_gear == SIM_EVERY_GEAR)) {
            *rank = candidate->go_rank;
            return candidate->go_dims;
        }
    }
    *rank = signature->sg_outputs[output].po_rank;
    return signature->sg_outputs[output].po_dims;
}

const struct sim_static_aipp *sim_model_signature_aipp(const struct sim_signature *signature, uint32_t input)
{
    for (uint32_t i = 0; i < signature->sg_aipp_count; i++)
        if (signature->sg_aipp[i].sa_input == input)
            return &signature->sg_aipp[i];
    return NULL;
}

int64_t sim_model_signature_gear(const struct sim_signature *signature, const uint64_t *values)
{
    uint32_t width = signature->sg_gear_width;
    for (uint32_t gear = 0; gear < signature->sg_gear_count; gear++)
        if (memcmp(signature->sg_gear_values + (uint64_t)gear * width, values, width * sizeof *values) == 0)
            return gear;
    return -1;
}

/* ---- after reading ---- */

/* Bytes of the shape in the largest gear; 0 if a dimension is unknown, UINT64_MAX if the number does not fit. */
static uint64_t largest_of(const struct sim_signature *signature, uint32_t index, bool input)
{
    const struct sim_port *port = input ? &signature->sg_inputs[index] : &signature->sg_outputs[index];
    uint64_t most = sim_model_shape_bytes(port->po_type, port->po_dims, port->po_rank);
    int64_t dims[ACL_MAX_DIM_CNT];
    for (int64_t gear = 0; gear < signature->sg_gear_count; gear++) {
        uint32_t rank = port->po_rank;
        const int64_t *found = dims;
        if (input)
            sim_model_signature_input(signature, index, gear, dims);
        else
            found = sim_model_signature_output(signature, index, gear, &rank);
        uint64_t bytes = sim_model_shape_bytes(port->po_type, found, rank);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Whether the input's size differs from its shape: it is a parameter, or images that AIPP converts to the shape. */
static bool has_own_bytes(const struct sim_signature *signature, uint32_t index, bool input)
{
    return input &&
           (sim_model_port_is_control(&signature->sg_inputs[index]) || sim_model_aipp_has_images(signature, index));
}

static aclError check_port(struct sim_signature *signature, uint32_t index, bool input)
{
    struct sim_port *port = input ? &signature->sg_inputs[index] : &signature->sg_outputs[index];
    const char *kind = input ? "input" : "output";
    SIM_ARGUMENT(port->po_rank <= ACL_MAX_DIM_CNT && port->po_rank_v2 <= ACL_MAX_DIM_CNT &&
                     port->po_range_count <= ACL_MAX_DIM_CNT,
                 ACL_ERROR_GE_PARAM_INVALID, "%s %u of the model has %u dimensions, expected at most %d", kind, index,
                 port->po_rank, ACL_MAX_DIM_CNT);
    if (port->po_rank_v2 == 0) {
        port->po_dims_v2 = port->po_dims;
        port->po_rank_v2 = port->po_rank;
    }
    uint64_t needed = largest_of(signature, index, input);
    if (port->po_bytes == 0)
        port->po_bytes = needed;
    SIM_ARGUMENT(needed != UINT64_MAX && port->po_bytes != UINT64_MAX, ACL_ERROR_GE_PARAM_INVALID,
                 "%s %u of the model has more bytes than 64 bits can count", kind, index);
    SIM_ARGUMENT(port->po_bytes >= needed || has_own_bytes(signature, index, input), ACL_ERROR_GE_PARAM_INVALID,
                 "%s %u of the model has %llu bytes, expected at least the %llu of its shape", kind, index,
                 (unsigned long long)port->po_bytes, (unsigned long long)needed);
    return ACL_SUCCESS;
}

/* With gears of kind DIMS, the values fill the open dimensions of all inputs in order. A batch, or a height and width,
 * applies to every input. */
static void place_gears(struct sim_signature *signature)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < signature->sg_input_count && signature->sg_gears == SIM_GEARS_DIMS; i++) {
        struct sim_port *port = &signature->sg_inputs[i];
        port->po_gear_value = place;
        for (uint32_t at = 0; at < port->po_rank && !sim_model_port_is_control(port); at++)
            place += port->po_dims[at] < 0;
    }
}

static aclError check_aipp(const struct sim_signature *signature)
{
    for (uint32_t i = 0; i < signature->sg_aipp_count; i++) {
        const struct sim_static_aipp *aipp = &signature->sg_aipp[i];
        bool fits = aipp->sa_input < signature->sg_input_count && !signature->sg_dynamic &&
                    signature->sg_inputs[aipp->sa_input].po_rank == 4 &&
                    sim_model_signature_aipp(signature, aipp->sa_input) == aipp &&
                    (aipp->sa_type == ACL_FLOAT || aipp->sa_type == ACL_FLOAT16);
        SIM_ARGUMENT(fits, ACL_ERROR_GE_PARAM_INVALID,
                     "the model has AIPP for its input %u, expected AIPP once per input, for an input of ACL_FLOAT or "
                     "ACL_FLOAT16 with 4 dimensions", aipp->sa_input);
    }
    return ACL_SUCCESS;
}

aclError sim_model_signature_finish(struct sim_signature *signature)
{
    SIM_ARGUMENT(signature->sg_gear_count <= SIM_GEARS_MAX, ACL_ERROR_GE_PARAM_INVALID,
                 "the model has %u gears, expected at most %d", signature->sg_gear_count, SIM_GEARS_MAX);
    for (uint32_t i = 0; i < signature->sg_input_count; i++)
        SIM_ARGUMENT(signature->sg_inputs[i].po_name != NULL, ACL_ERROR_GE_PARAM_INVALID,
                     "the model lacks its input %u", i);
    place_gears(signature);
    for (uint32_t i = 0; i < signature->sg_input_count; i++)
        SIM_TRY(check_port(signature, i, true));
    for (uint32_t i = 0; i < signature->sg_output_count; i++)
        SIM_TRY(check_port(signature, i, false));
    SIM_TRY(check_aipp(signature));
    for (uint32_t i = 0; i < signature->sg_gear_output_count; i++)
        SIM_ARGUMENT(signature->sg_gear_outputs[i].go_rank <= ACL_MAX_DIM_CNT, ACL_ERROR_GE_PARAM_INVALID,
                     "an output of a gear has %u dimensions, expected at most %d",
                     signature->sg_gear_outputs[i].go_rank, ACL_MAX_DIM_CNT);
    return ACL_SUCCESS;
}
