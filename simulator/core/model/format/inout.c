/* This file reads the partition that describes inputs and outputs: tagged pieces {u32 tag, u32 bytes, bytes}. Every
 * length is checked against the remaining bytes before memory is allocated. The signature owns the result. This file
 * has no state and needs no lock. */
#include "format.h"

#define BAD_DATA ACL_ERROR_GE_PARAM_INVALID

static aclError cut(const char *what)
{
    return sim_refuse(BAD_DATA, "the model's description of inputs and outputs ends inside %s", what);
}

#define NEED(condition, what)                                                                                          \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return cut(what);                                                                                          \
    } while (0)

static aclError no_memory(void)
{
    return sim_refuse(ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for a model's description");
}

/* Reads a list of 8-byte numbers; `bytes` is its size according to the file. */
static aclError take_numbers(struct sim_signature *signature, struct sim_bytes *from, uint64_t bytes, const char *what,
                             const int64_t **numbers)
{
    struct sim_bytes part;
    NEED(sim_bytes_take(from, bytes, &part), what);
    int64_t *copy = sim_model_signature_take(signature, bytes / 8 + 1, sizeof *copy);
    if (copy == NULL)
        return no_memory();
    for (uint64_t i = 0; i < bytes / 8; i++) {
        uint64_t value;
        sim_bytes_u64(&part, &value);
        copy[i] = (int64_t)value;
    }
    *numbers = copy;
    return ACL_SUCCESS;
}

/* ---- inputs and outputs ---- */

#define PORT_BYTES 32 /* the fixed part of each tensor */

static aclError take_port(struct sim_signature *signature, struct sim_bytes *from, struct sim_port *port)
{
    uint64_t bytes;
    uint32_t format, type, name, dims, dims_v2, range;
    NEED(sim_bytes_u64(from, &bytes) && sim_bytes_u32(from, &format) && sim_bytes_u32(from, &type) &&
             sim_bytes_u32(from, &name) && sim_bytes_u32(from, &dims) && sim_bytes_u32(from, &dims_v2) &&
             sim_bytes_u32(from, &range),
         "the head of a tensor");
    struct sim_bytes text;
    NEED(sim_bytes_take(from, name, &text), "a tensor's name");
    port->po_bytes = bytes;
    port->po_format = (aclFormat)(int32_t)format;
    port->po_type = (aclDataType)(int32_t)type;
    port->po_name = sim_model_signature_text(signature, text.by_data, text.by_size);
    if (port->po_name == NULL)
        return no_memory();
    const int64_t *ranges = NULL;
    port->po_rank = dims / 8;
    port->po_rank_v2 = dims_v2 / 8;
    port->po_range_count = range / 16;
    SIM_TRY(take_numbers(signature, from, dims, "a tensor's dimensions", &port->po_dims));
    SIM_TRY(take_numbers(signature, from, dims_v2, "a tensor's dimensions", &port->po_dims_v2));
    SIM_TRY(take_numbers(signature, from, range, "a tensor's ranges", &ranges));
    port->po_ranges = (const int64_t(*)[2])ranges;
    return ACL_SUCCESS;
}

static aclError take_ports(struct sim_signature *signature, struct sim_bytes from, struct sim_port **ports,
                           uint32_t *count)
{
    uint32_t claimed;
    NEED(sim_bytes_u32(&from, &claimed) && claimed <= from.by_size / PORT_BYTES, "the list of tensors");
    SIM_ARGUMENT(*ports == NULL, BAD_DATA, "the model lists its inputs or outputs twice");
    *ports = sim_model_signature_take(signature, (size_t)claimed + 1, sizeof **ports);
    if (*ports == NULL)
        return no_memory();
    *count = claimed;
    for (uint32_t i = 0; i < claimed; i++)
        SIM_TRY(take_port(signature, &from, &(*ports)[i]));
    return ACL_SUCCESS;
}

/* ---- gears ---- */

/* For a batch, the values follow the count. For the other kinds, the gears' lengths come first, which must be equal. */
static aclError take_gears(struct sim_signature *signature, struct sim_bytes from, enum sim_gears kind)
{
    uint32_t count, width = 1;
    NEED(sim_bytes_u32(&from, &count) && count <= from.by_size / 4, "the list of gears");
    if (count == 0)
        return ACL_SUCCESS;
    SIM_ARGUMENT(signature->sg_gears == SIM_GEARS_NONE, BAD_DATA, "the model has gears of two kinds");
    for (uint32_t i = 0; i < count && kind != SIM_GEARS_BATCH; i++) {
        uint32_t length = 0;
        NEED(sim_bytes_u32(&from, &length), "the lengths of gears");
        SIM_ARGUMENT(length != 0 && (i == 0 || length == width), BAD_DATA,
                     "gear %u of the model has %u dimensions, and the one before %u", i, length, width);
        width = length;
    }
    SIM_ARGUMENT(kind != SIM_GEARS_HW || width == 2, BAD_DATA, "a gear of heights and widths has %u numbers", width);
    NEED((uint64_t)count * width <= from.by_size / 8, "the values of gears");
    const int64_t *values;
    SIM_TRY(take_numbers(signature, &from, (uint64_t)count * width * 8, "the values of gears", &values));
    signature->sg_gears = kind;
    signature->sg_gear_count = count;
    signature->sg_gear_width = width;
    signature->sg_gear_values = (const uint64_t *)values;
    return ACL_SUCCESS;
}

/* ---- outputs of gears: texts "gear,output,dim,dim,..." ---- */

static bool take_text_number(struct sim_bytes *text, int64_t *value)
{
    bool negative = text->by_size != 0 && *text->by_data == '-';
    uint64_t digits = 0, number = 0;
    if (negative)
        text->by_data++, text->by_size--;
    for (; text->by_size != 0 && *text->by_data >= '0' && *text->by_data <= '9'; text->by_data++, text->by_size--)
        if (++digits < 19)
            number = number * 10 + (uint64_t)(*text->by_data - '0');
    if (text->by_size != 0 && *text->by_data == ',')
        text->by_data++, text->by_size--;
    else if (text->by_size != 0)
        return false;
    *value = negative ? -(int64_t)number : (int64_t)number;
    return digits != 0 && digits < 19;
}

static aclError take_gear_output(struct sim_signature *signature, struct sim_bytes text, struct sim_gear_output *output)
{
    int64_t number, *dims = sim_model_signature_take(signature, text.by_size / 2 + 1, sizeof *dims);
    if (dims == NULL)
        return no_memory();
    NEED(take_text_number(&text, &output->go_gear) && take_text_number(&text, &number), "the shape of a gear's output");
    output->go_output = (uint64_t)number;
    output->go_dims = dims;
    while (text.by_size != 0)
        NEED(take_text_number(&text, &dims[output->go_rank++]), "the shape of a gear's output");
    return ACL_SUCCESS;
}

static aclError take_gear_outputs(struct sim_signature *signature, struct sim_bytes from)
{
    uint32_t count;
    struct sim_bytes lengths;
    NEED(sim_bytes_u32(&from, &count) && sim_bytes_take(&from, (uint64_t)count * 4, &lengths),
         "the shapes of gears' outputs");
    struct sim_gear_output *outputs = sim_model_signature_take(signature, (size_t)count + 1, sizeof *outputs);
    if (outputs == NULL)
        return no_memory();
    for (uint32_t i = 0; i < count; i++) {
        uint32_t length;
        struct sim_bytes text;
        sim_bytes_u32(&lengths, &length);
        NEED(sim_bytes_take(&from, length, &text), "the shapes of gears' outputs");
        SIM_TRY(take_gear_output(signature, text, &outputs[i]));
    }
    signature->sg_gear_outputs = outputs;
    signature->sg_gear_output_count = count;
    return ACL_SUCCESS;
}

aclError sim_inout_read(struct sim_bytes part, struct sim_signature *signature)
{
    while (part.by_size != 0) {
        uint32_t tag, bytes;
        struct sim_bytes piece;
        NEED(sim_bytes_u32(&part, &tag) && sim_bytes_u32(&part, &bytes) && sim_bytes_take(&part, bytes, &piece),
             "a piece");
        if (tag == SIM_OM_TAG_INPUTS)
            SIM_TRY(take_ports(signature, piece, &signature->sg_inputs, &signature->sg_input_count));
        else if (tag == SIM_OM_TAG_OUTPUTS)
            SIM_TRY(take_ports(signature, piece, &signature->sg_outputs, &signature->sg_output_count));
        else if (tag == SIM_OM_TAG_BATCH || tag == SIM_OM_TAG_HW || tag == SIM_OM_TAG_DIMS)
            SIM_TRY(take_gears(signature, piece, (enum sim_gears)(tag - SIM_OM_TAG_BATCH + SIM_GEARS_BATCH)));
        else if (tag == SIM_OM_TAG_GEAR_OUTPUTS)
            SIM_TRY(take_gear_outputs(signature, piece));
    }
    return ACL_SUCCESS;
}
