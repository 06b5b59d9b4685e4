/* This file reads the definition of a model, a protobuf message (ge.proto.ModelDef), into a signature.
 *
 * It needs few wire types and fields, so it has its own reader, and C programs need no protobuf library. It reads the
 * caller's bytes in place and follows nested messages by field, without recursion. The signature owns the result. This
 * file has no state and needs no lock. */
#include "data_type_table.h"
#include "format.h"
#include <stdio.h>
#include <string.h>

/* ---- the wire format ---- */

struct field {
    uint32_t fd_number;
    uint64_t fd_value;         /* a varint or a fixed-size number */
    struct sim_bytes fd_bytes; /* a field with a length */
};

static bool take_varint(struct sim_bytes *from, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && from->by_size != 0; shift += 7) {
        unsigned char byte = *from->by_data;
        from->by_data++, from->by_size--;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* Takes the next field. False at the end of the input, and also if the next bytes are not a valid field; the caller
 * then stops reading, and from->by_size stays above 0. */
static bool take_field(struct sim_bytes *from, struct field *field)
{
    struct sim_bytes rest = *from;
    uint64_t tag, size;
    *field = (struct field){0};
    if (!take_varint(&rest, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return false;
    field->fd_number = (uint32_t)(tag >> 3);
    uint32_t narrow;
    bool found = false;
    switch (tag & 7) {
    case 0:
        found = take_varint(&rest, &field->fd_value);
        break;
    case 1:
        found = sim_bytes_u64(&rest, &field->fd_value);
        break;
    case 2:
        found = take_varint(&rest, &size) && sim_bytes_take(&rest, size, &field->fd_bytes);
        break;
    case 5:
        found = sim_bytes_u32(&rest, &narrow);
        field->fd_value = narrow;
        break;
    default:
        break;
    }
    if (found)
        *from = rest;
    return found;
}

static bool text_is(struct sim_bytes bytes, const char *text)
{
    return bytes.by_size == strlen(text) && memcmp(bytes.by_data, text, bytes.by_size) == 0;
}

/* Finds a field by number: the last one in the message, as protobuf requires. */
static bool find_field(struct sim_bytes message, uint32_t number, struct field *found)
{
    struct field field;
    bool any = false;
    while (take_field(&message, &field))
        if (field.fd_number == number) {
            *found = field;
            any = true;
        }
    return any;
}

static struct sim_bytes bytes_of(struct sim_bytes message, uint32_t number)
{
    struct field field;
    return find_field(message, number, &field) ? field.fd_bytes : (struct sim_bytes){NULL, 0};
}

static uint64_t number_of(struct sim_bytes message, uint32_t number)
{
    struct field field;
    return find_field(message, number, &field) ? field.fd_value : 0;
}

/* Finds an attribute by name in the map<string, AttrDef> that is field `map` of a message. */
static struct sim_bytes attribute(struct sim_bytes message, uint32_t map, const char *name)
{
    struct field entry;
    while (take_field(&message, &entry))
        if (entry.fd_number == map && text_is(bytes_of(entry.fd_bytes, SIM_OM_MAP_KEY), name))
            return bytes_of(entry.fd_bytes, SIM_OM_MAP_VALUE);
    return (struct sim_bytes){NULL, 0};
}

/* ---- tensors ---- */

/* The data type for a number in the definition. */
static aclDataType type_of(uint64_t number)
{
#define TYPE(constant, name, bits, numpy, package, number) {constant, number},
    static const struct {
        aclDataType constant;
        uint32_t number;
    } types[] = {SIM_DATA_TYPES(TYPE)};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (number != 0 && types[i].number == number)
            return types[i].constant;
    return ACL_DT_UNDEFINED;
}

static aclFormat format_of(struct sim_bytes name)
{
#define FORMAT(name) {#name, ACL_FORMAT_##name}
    static const struct {
        const char *name;
        aclFormat format;
    } formats[] = {FORMAT(NCHW), FORMAT(NHWC), FORMAT(ND), FORMAT(NC1HWC0), FORMAT(FRACTAL_Z),
                   FORMAT(HWCN), FORMAT(NDHWC), FORMAT(FRACTAL_NZ), FORMAT(NCDHW)};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (text_is(name, formats[i].name))
            return formats[i].format;
    return ACL_FORMAT_ND;
}

static aclError no_memory(void)
{
    return sim_refuse(ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for a model's description");
}

/* ShapeDef.dim: varints, packed or one by one. Each takes at least a byte, which limits the memory. */
static aclError read_shape(struct sim_signature *signature, struct sim_bytes shape, struct sim_port *port)
{
    int64_t *dims = sim_model_signature_take(signature, shape.by_size + 1, sizeof *dims);
    if (dims == NULL)
        return no_memory();
    struct field field;
    port->po_dims = port->po_dims_v2 = dims;
    while (take_field(&shape, &field)) {
        if (field.fd_number != SIM_OM_SHAPE_DIM)
            continue;
        uint64_t value;
        if (field.fd_bytes.by_data == NULL)
            dims[port->po_rank++] = (int64_t)field.fd_value;
        while (take_varint(&field.fd_bytes, &value))
            dims[port->po_rank++] = (int64_t)value;
    }
    port->po_rank_v2 = port->po_rank;
    return ACL_SUCCESS;
}

static aclError read_tensor(struct sim_signature *signature, struct sim_bytes tensor, struct sim_bytes name,
                            struct sim_port *port)
{
    port->po_type = type_of(number_of(tensor, SIM_OM_TENSOR_TYPE));
    port->po_format = format_of(bytes_of(tensor, SIM_OM_TENSOR_LAYOUT));
    port->po_bytes = number_of(tensor, SIM_OM_TENSOR_SIZE);
    port->po_name = sim_model_signature_text(signature, name.by_data, name.by_size);
    return port->po_name == NULL ? no_memory() : read_shape(signature, bytes_of(tensor, SIM_OM_TENSOR_SHAPE), port);
}

/* ---- the graph ---- */

static bool is_data(struct sim_bytes operator)
{
    struct sim_bytes type = bytes_of(operator, SIM_OM_OP_TYPE);
    return text_is(type, "Data") || text_is(type, "AippData") || text_is(type, "RefData");
}

static uint32_t count_fields(struct sim_bytes message, uint32_t number)
{
    struct field field;
    uint32_t count = 0;
    while (take_field(&message, &field))
        count += field.fd_number == number;
    return count;
}

static aclError read_input(struct sim_signature *signature, struct sim_bytes operator, uint32_t count)
{
    struct sim_bytes index = attribute(operator, SIM_OM_OP_ATTRIBUTES, "index");
    uint64_t place = number_of(index, SIM_OM_ATTRIBUTE_NUMBER);
    SIM_ARGUMENT(place < count && signature->sg_inputs[place].po_name == NULL, ACL_ERROR_GE_PARAM_INVALID,
                 "an input of the model has index %llu, but there are %u inputs", (unsigned long long)place, count);
    struct sim_bytes tensor = bytes_of(operator, SIM_OM_OP_OUTPUT_DESC);
    if (tensor.by_data == NULL)
        tensor = bytes_of(operator, SIM_OM_OP_INPUT_DESC);
    return read_tensor(signature, tensor, bytes_of(operator, SIM_OM_OP_NAME), &signature->sg_inputs[place]);
}

static aclError read_outputs(struct sim_signature *signature, struct sim_bytes operator)
{
    struct field field;
    uint32_t count = count_fields(operator, SIM_OM_OP_INPUT_DESC), sources = 0, at = 0;
    signature->sg_outputs = sim_model_signature_take(signature, (size_t)count + 1, sizeof *signature->sg_outputs);
    if (signature->sg_outputs == NULL)
        return no_memory();
    signature->sg_output_count = count;
    struct sim_bytes rest = operator;
    while (take_field(&rest, &field))
        if (field.fd_number == SIM_OM_OP_INPUT_DESC)
            SIM_TRY(read_tensor(signature, field.fd_bytes, bytes_of(field.fd_bytes, SIM_OM_TENSOR_NAME),
                                &signature->sg_outputs[at++]));
    for (rest = operator; take_field(&rest, &field);) /* the source operators' names are preferred */
        if (field.fd_number == SIM_OM_OP_SOURCE && sources < count) {
            const char *name = sim_model_signature_text(signature, field.fd_bytes.by_data, field.fd_bytes.by_size);
            if (name == NULL)
                return no_memory();
            signature->sg_outputs[sources++].po_name = name;
        }
    return ACL_SUCCESS;
}

static aclError read_ports(struct sim_signature *signature, struct sim_bytes graph)
{
    struct field field;
    uint32_t count = 0;
    for (struct sim_bytes rest = graph; take_field(&rest, &field);)
        count += field.fd_number == SIM_OM_GRAPH_OPERATOR && is_data(field.fd_bytes);
    signature->sg_inputs = sim_model_signature_take(signature, (size_t)count + 1, sizeof *signature->sg_inputs);
    if (signature->sg_inputs == NULL)
        return no_memory();
    signature->sg_input_count = count;
    while (take_field(&graph, &field)) {
        if (field.fd_number != SIM_OM_GRAPH_OPERATOR)
            continue;
        if (is_data(field.fd_bytes))
            SIM_TRY(read_input(signature, field.fd_bytes, count));
        else if (text_is(bytes_of(field.fd_bytes, SIM_OM_OP_TYPE), "NetOutput") && signature->sg_outputs == NULL)
            SIM_TRY(read_outputs(signature, field.fd_bytes));
    }
    return ACL_SUCCESS;
}

/* ---- origins of fused operators ---- */

enum { LIST_TEXT = 2, NUMBER_DIGITS = 20 };

/* Joins the names of a list, each as "[length]name". */
static const char *join_names(struct sim_signature *signature, struct sim_bytes list)
{
    struct field field;
    size_t size = 1;
    for (struct sim_bytes rest = list; take_field(&rest, &field);)
        size += field.fd_number == LIST_TEXT ? field.fd_bytes.by_size + NUMBER_DIGITS + 2 : 0;
    char *text = sim_model_signature_take(signature, size, 1), *at = text;
    while (text != NULL && take_field(&list, &field)) {
        if (field.fd_number != LIST_TEXT)
            continue;
        at += sprintf(at, "[%llu]", (unsigned long long)field.fd_bytes.by_size);
        if (field.fd_bytes.by_size != 0)
            memcpy(at, field.fd_bytes.by_data, field.fd_bytes.by_size);
        at += field.fd_bytes.by_size;
    }
    return text;
}

static aclError read_origins(struct sim_signature *signature, struct sim_bytes graph)
{
    struct field field;
    uint32_t count = count_fields(graph, SIM_OM_GRAPH_OPERATOR);
    signature->sg_origins = sim_model_signature_take(signature, (size_t)count + 1, sizeof *signature->sg_origins);
    if (signature->sg_origins == NULL)
        return no_memory();
    while (take_field(&graph, &field)) {
        if (field.fd_number != SIM_OM_GRAPH_OPERATOR)
            continue;
        struct sim_bytes name = bytes_of(field.fd_bytes, SIM_OM_OP_NAME);
        struct sim_bytes names = attribute(field.fd_bytes, SIM_OM_OP_ATTRIBUTES, "_datadump_original_op_names");
        struct sim_origin *origin = &signature->sg_origins[signature->sg_origin_count++];
        origin->or_name = sim_model_signature_text(signature, name.by_data, name.by_size);
        origin->or_text = join_names(signature, bytes_of(names, SIM_OM_ATTRIBUTE_LIST));
        if (origin->or_name == NULL || origin->or_text == NULL)
            return no_memory();
    }
    return ACL_SUCCESS;
}

static aclError read_text(struct sim_signature *signature, struct sim_bytes model, const char *name, const char **text)
{
    struct sim_bytes found = bytes_of(attribute(model, SIM_OM_MODEL_ATTRIBUTES, name), SIM_OM_ATTRIBUTE_TEXT);
    if (found.by_size == 0)
        return ACL_SUCCESS;
    *text = sim_model_signature_text(signature, found.by_data, found.by_size);
    return *text == NULL ? no_memory() : ACL_SUCCESS;
}

/* Static AIPP: {u32 input, i32 type, i32 format, block} for each input that has it. */
static aclError read_aipp(struct sim_signature *signature, struct sim_bytes model)
{
    struct sim_bytes rest = bytes_of(attribute(model, SIM_OM_MODEL_ATTRIBUTES, "ascendcl.aipp"), SIM_OM_ATTRIBUTE_TEXT),
                     block;
    uint64_t count = rest.by_size / (3 * sizeof(uint32_t) + SIM_STATIC_AIPP_BYTES);
    if (rest.by_size == 0)
        return ACL_SUCCESS;
    SIM_ARGUMENT(count <= SIM_STATIC_AIPP_MAX, ACL_ERROR_GE_PARAM_INVALID,
                 "the model has AIPP for %llu inputs, expected at most %d", (unsigned long long)count,
                 SIM_STATIC_AIPP_MAX);
    signature->sg_aipp = sim_model_signature_take(signature, (size_t)count + 1, sizeof *signature->sg_aipp);
    if (signature->sg_aipp == NULL)
        return no_memory();
    while (rest.by_size != 0) {
        uint32_t type, format;
        struct sim_static_aipp *aipp = &signature->sg_aipp[signature->sg_aipp_count++];
        bool whole = sim_bytes_u32(&rest, &aipp->sa_input) && sim_bytes_u32(&rest, &type) &&
                     sim_bytes_u32(&rest, &format) && sim_bytes_take(&rest, SIM_STATIC_AIPP_BYTES, &block);
        SIM_ARGUMENT(whole, ACL_ERROR_GE_PARAM_INVALID, "the model's AIPP ends inside the parameters of an input");
        aipp->sa_type = (aclDataType)(int32_t)type;
        aipp->sa_format = (aclFormat)(int32_t)format;
        memcpy(aipp->sa_block, block.by_data, SIM_STATIC_AIPP_BYTES);
    }
    return ACL_SUCCESS;
}

aclError sim_graph_read(struct sim_bytes part, struct sim_signature *signature)
{
    struct sim_bytes rest = part;
    struct field field;
    while (take_field(&rest, &field))
        continue;
    SIM_ARGUMENT(rest.by_size == 0, ACL_ERROR_GE_PARAM_INVALID,
                 "the model's definition is not a protobuf message at its byte %llu",
                 (unsigned long long)(part.by_size - rest.by_size));
    struct sim_bytes name = bytes_of(part, SIM_OM_MODEL_NAME);
    if (name.by_size != 0 && *signature->sg_name == '\0')
        signature->sg_name = sim_model_signature_text(signature, name.by_data, name.by_size);
    if (signature->sg_name == NULL)
        return no_memory();
    SIM_TRY(read_text(signature, part, "soc_version", &signature->sg_soc));
    SIM_TRY(read_text(signature, part, "ascendcl.executor", &signature->sg_executor));
    SIM_TRY(read_aipp(signature, part));
    signature->sg_work = number_of(attribute(part, SIM_OM_MODEL_ATTRIBUTES, "memory_size"), SIM_OM_ATTRIBUTE_NUMBER);
    signature->sg_weight = number_of(attribute(part, SIM_OM_MODEL_ATTRIBUTES, "weight_size"), SIM_OM_ATTRIBUTE_NUMBER);
    struct sim_bytes graph = bytes_of(part, SIM_OM_MODEL_GRAPH);
    SIM_TRY(read_origins(signature, graph));
    bool known = signature->sg_inputs != NULL || signature->sg_outputs != NULL;
    return known ? ACL_SUCCESS : read_ports(signature, graph);
}
