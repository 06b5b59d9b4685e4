/* Packs the arguments of an operator into one block (call.h), and places it: reads the addresses of tensors and
 * claims their memory. The caller owns the pack. Nothing here has a lock; descriptors are opened one at a time. */
#include "call.h"

#include "address/memory.h"
#include "base/bytes.h"
#include "base/watcher.h"
#include <stdlib.h>
#include <string.h>

#define RANK_MAX 8 /* dimensions of an aclsimTensor */
#define CALL_BYTES_MAX (1u << 28)

/* ---- the block ---- */

uint32_t sim_call_reserve(struct sim_pack *pack, uint64_t size)
{
    uint32_t offset = ((pack->pk_call != NULL ? pack->pk_call->ca_size : 0) + 15) & ~15u;
    if (size > CALL_BYTES_MAX - offset)
        return 0;
    uint32_t end = offset + (uint32_t)size;
    if (end > pack->pk_room) {
        uint32_t room = end > 1024 ? end + end / 2 : 1024;
        struct sim_call *call = realloc(pack->pk_call, room);
        if (call == NULL)
            return 0;
        pack->pk_call = call;
        pack->pk_room = room;
    }
    memset(sim_call_at(pack->pk_call, offset), 0, (size_t)size);
    pack->pk_call->ca_size = end;
    return offset;
}

static aclnnStatus refuse_memory(const char *name)
{
    return sim_refuse(ACLNN_ERR_INNER, "there is no memory for %s", name);
}

static uint32_t copy_in(struct sim_pack *pack, const void *bytes, uint64_t size)
{
    uint32_t offset = sim_call_reserve(pack, size + 1); /* gives an empty array an address of its own */
    if (offset != 0 && size != 0)
        memcpy(sim_call_at(pack->pk_call, offset), bytes, (size_t)size);
    return offset;
}

struct sim_operand *sim_call_operand(struct sim_pack *pack)
{
    if (pack->pk_count == pack->pk_operand_room) {
        uint32_t room = pack->pk_operand_room == 0 ? 8 : 2 * pack->pk_operand_room;
        struct sim_operand *operands = realloc(pack->pk_operands, room * sizeof *operands);
        if (operands == NULL)
            return NULL;
        pack->pk_operands = operands;
        pack->pk_operand_room = room;
    }
    struct sim_operand *operand = &pack->pk_operands[pack->pk_count++];
    *operand = (struct sim_operand){0};
    return operand;
}

void sim_call_drop(struct sim_pack *pack)
{
    free(pack->pk_call);
    free(pack->pk_operands);
    *pack = (struct sim_pack){0};
}

/* ---- tensors ---- */

/* Finds the lowest byte that the view covers, relative to the data, and the number of bytes. A shape that needs more
 * than 62 bits is refused, so that no sum with an address wraps, and so is one with strides of 0 that has more elements
 * than 63 bits count. */
aclnnStatus sim_call_measure(const aclsimTensor *tensor, int64_t offset, const char *name, struct sim_operand *operand)
{
    int64_t bits = sim_type_bits(tensor->type), low = offset, high = low, count = 1;
    bool empty = false, wraps = false, many = false;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        SIM_ARGUMENT(tensor->dims[i] >= 0, ACLNN_ERR_PARAM_INVALID, "dimension %u of %s is %lld, expected 0 or more", i,
                     name, (long long)tensor->dims[i]);
        empty = empty || tensor->dims[i] == 0;
        many = many || !sim_length_multiply(&count, tensor->dims[i]);
        int64_t *side = tensor->strides[i] < 0 ? &low : &high;
        int64_t span = tensor->dims[i] - 1;
        wraps = wraps || !sim_length_multiply(&span, tensor->strides[i]) ||
                __builtin_add_overflow(*side, span, side);
    }
    SIM_ARGUMENT(bits != 0, ACLNN_ERR_PARAM_INVALID, "%s has data type %d, which no operator takes", name,
                 (int)tensor->type);
    if (empty)
        return ACL_SUCCESS;
    const int64_t limit = INT64_C(1) << 62;
    int64_t first = low, end = high == INT64_MAX ? high : high + 1, start = offset; /* in bits from here on */
    wraps = wraps || high == INT64_MAX || !sim_length_multiply(&first, bits) || !sim_length_multiply(&end, bits) ||
            !sim_length_multiply(&start, bits);
    SIM_ARGUMENT(!wraps && first > -limit && end < limit, ACLNN_ERR_PARAM_INVALID,
                 "%s covers more bytes than the address space", name);
    SIM_ARGUMENT(!many, ACLNN_ERR_PARAM_INVALID, "%s has more than 2^63 elements, expected fewer", name);
    SIM_ARGUMENT(start % 8 == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s begins at element %lld, which is inside a byte, expected whole bytes", name, (long long)offset);
    operand->od_first = start / 8;
    operand->od_low = first / 8;
    operand->od_bytes = (uint64_t)((end + 7) / 8 - operand->od_low);
    return ACL_SUCCESS;
}

aclnnStatus sim_call_view(const struct sim_tensor *tensor, const char *name, aclsimTensor *seen,
                          struct sim_operand *operand)
{
    SIM_ARGUMENT(tensor->te_rank <= RANK_MAX, ACLNN_ERR_PARAM_INVALID, "%s has %llu dimensions, expected at most %d",
                 name, (unsigned long long)tensor->te_rank, RANK_MAX);
    seen->rank = (uint32_t)tensor->te_rank;
    seen->type = tensor->te_type;
    memcpy(seen->dims, sim_tensor_dims(tensor), (size_t)tensor->te_rank * sizeof *seen->dims);
    memcpy(seen->strides, sim_tensor_strides(tensor), (size_t)tensor->te_rank * sizeof *seen->strides);
    operand->od_data = tensor->te_data;
    return sim_call_measure(seen, tensor->te_offset, name, operand);
}

static aclnnStatus pack_tensor(struct sim_pack *pack, size_t parameter, size_t member, const void *handle,
                               uint32_t offset)
{
    const struct sim_parameter *declared = &pack->pk_call->ca_row->ro_parameters[parameter];
    struct sim_tensor *tensor;
    struct sim_operand *operand = sim_call_operand(pack);
    if (operand == NULL)
        return refuse_memory(declared->pa_name);
    SIM_TRY(sim_tensor_open(handle, declared->pa_name, &tensor));
    operand->od_handle = handle;
    operand->od_tensor = offset;
    operand->od_parameter = (uint16_t)parameter;
    operand->od_member = (uint16_t)member;
    operand->od_direction = declared->pa_direction;
    aclnnStatus code = sim_call_view(tensor, declared->pa_name, sim_call_at(pack->pk_call, offset), operand);
    sim_object_close(tensor);
    if (sim_watcher_any() && operand->od_data != NULL)
        sim_watcher_tensor(operand->od_data);
    return code;
}

static aclnnStatus pack_scalar(struct sim_pack *pack, const char *name, const void *handle, uint32_t offset)
{
    struct sim_scalar *scalar;
    SIM_TRY(sim_tensor_scalar_open(handle, name, &scalar));
    aclsimScalar *seen = sim_call_at(pack->pk_call, offset);
    seen->type = scalar->sc_type;
    memcpy(seen->value, scalar->sc_value, sizeof seen->value);
    sim_object_close(scalar);
    return ACL_SUCCESS;
}

/* ---- one argument each: its offset and the number of its elements; offset 0 if memory runs out ---- */

static aclnnStatus pack_array(struct sim_pack *pack, const char *name, enum sim_array_kind kind, size_t size,
                              const void *handle, uint32_t *offset, uint64_t *count)
{
    struct sim_array *array;
    SIM_TRY(sim_tensor_array_open(handle, kind, name, &array));
    *count = array->ar_count;
    *offset = copy_in(pack, array->ar_values, array->ar_count * size);
    sim_object_close(array);
    return ACL_SUCCESS;
}

/* Members are opened after their list was closed: one lock at a time. */
static aclnnStatus pack_list(struct sim_pack *pack, size_t parameter, enum sim_list_kind kind, const void *handle,
                             uint32_t *offset, uint64_t *count)
{
    const char *name = pack->pk_call->ca_row->ro_parameters[parameter].pa_name;
    size_t stride = kind == SIM_LIST_TENSORS ? sizeof(aclsimTensor) : sizeof(aclsimScalar);
    struct sim_list *list;
    SIM_TRY(sim_tensor_list_open(handle, kind, name, &list));
    *count = list->li_count;
    const void **members = malloc((size_t)(*count + 1) * sizeof *members);
    if (members != NULL)
        memcpy(members, list->li_members, (size_t)*count * sizeof *members);
    sim_object_close(list);
    *offset = members != NULL && *count <= UINT16_MAX ? sim_call_reserve(pack, *count * stride + 1) : 0;
    aclnnStatus code = ACL_SUCCESS;
    for (uint64_t i = 0; i < *count && *offset != 0 && code == ACL_SUCCESS; i++) {
        uint32_t place = *offset + (uint32_t)(i * stride);
        code = kind == SIM_LIST_TENSORS ? pack_tensor(pack, parameter, (size_t)i, members[i], place)
                                        : pack_scalar(pack, name, members[i], place);
    }
    free(members);
    return code;
}

static aclnnStatus pack_pointer(struct sim_pack *pack, size_t i, const void *pointer)
{
    const struct sim_parameter *parameter = &pack->pk_call->ca_row->ro_parameters[i];
    const char *name = parameter->pa_name;
    uint32_t offset = 0;
    uint64_t count = 1;
    switch (parameter->pa_kind) {
    case ACLSIM_TENSOR:
        offset = sim_call_reserve(pack, sizeof(aclsimTensor));
        SIM_TRY(offset == 0 ? ACL_SUCCESS : pack_tensor(pack, i, 0, pointer, offset));
        break;
    case ACLSIM_SCALAR:
        offset = sim_call_reserve(pack, sizeof(aclsimScalar));
        SIM_TRY(offset == 0 ? ACL_SUCCESS : pack_scalar(pack, name, pointer, offset));
        break;
    case ACLSIM_TENSOR_LIST:
        SIM_TRY(pack_list(pack, i, SIM_LIST_TENSORS, pointer, &offset, &count));
        break;
    case ACLSIM_SCALAR_LIST:
        SIM_TRY(pack_list(pack, i, SIM_LIST_SCALARS, pointer, &offset, &count));
        break;
    case ACLSIM_INTEGERS:
        SIM_TRY(pack_array(pack, name, SIM_ARRAY_INTS, sizeof(int64_t), pointer, &offset, &count));
        break;
    case ACLSIM_FLOATS:
        SIM_TRY(pack_array(pack, name, SIM_ARRAY_FLOATS, sizeof(float), pointer, &offset, &count));
        break;
    case ACLSIM_BOOLEANS:
        SIM_TRY(pack_array(pack, name, SIM_ARRAY_BOOLS, sizeof(bool), pointer, &offset, &count));
        break;
    default:
        count = strlen(pointer);
        offset = copy_in(pack, pointer, count);
    }
    if (offset == 0)
        return refuse_memory(name);
    aclsimArgument *argument = &sim_call_arguments(pack->pk_call)[i];
    argument->count = count;
    argument->integer = offset;
    return ACL_SUCCESS;
}

aclnnStatus sim_call_begin(struct sim_pack *pack, struct sim_row *row)
{
    *pack = (struct sim_pack){0};
    uint64_t size = sizeof(struct sim_call) + row->ro_count * sizeof(aclsimArgument);
    if (sim_call_reserve(pack, size) != 0 || pack->pk_call == NULL) /* the first offset is 0 */
        return refuse_memory("the call");
    pack->pk_call->ca_row = row;
    for (size_t i = 0; i < row->ro_count; i++)
        sim_call_arguments(pack->pk_call)[i] = (aclsimArgument){.name = row->ro_parameters[i].pa_name,
                                                                .kind = row->ro_parameters[i].pa_kind,
                                                                .direction = row->ro_parameters[i].pa_direction};
    return ACL_SUCCESS;
}

aclnnStatus sim_call_pack(struct sim_pack *pack, struct sim_row *row, const union sim_value *values)
{
    SIM_TRY(sim_call_begin(pack, row));
    for (size_t i = 0; i < row->ro_count; i++) {
        aclsimArgument *argument = &sim_call_arguments(pack->pk_call)[i];
        bool by_value = argument->kind >= ACLSIM_INTEGER;
        argument->present = by_value || values[i].va_pointer != NULL;
        argument->integer = by_value ? values[i].va_integer : 0;
        if (!by_value && argument->present)
            SIM_TRY(pack_pointer(pack, i, values[i].va_pointer));
    }
    uint32_t ranges = sim_call_reserve(pack, (pack->pk_count + 1) * sizeof(struct sim_range)); /* + workspace */
    if (ranges == 0)
        return refuse_memory("the call");
    pack->pk_call->ca_ranges = ranges;
    return ACL_SUCCESS;
}

/* ---- addresses ---- */

const char *sim_call_name(const struct sim_pack *pack, const struct sim_operand *operand)
{
    return pack->pk_call->ca_row->ro_parameters[operand->od_parameter].pa_name;
}

/* Adds bytes to the task's ranges; returns 107000 if they are not inside one live block. */
static aclError claim(struct sim_call *call, const void *address, uint64_t size, unsigned directions, const char *name)
{
    struct sim_range *range = (struct sim_range *)sim_call_at(call, call->ca_ranges) + call->ca_range_count;
    *range = (struct sim_range){
        .rg_address = address, .rg_size = size, .rg_write = (directions & ACLSIM_OUT) != 0};
    SIM_TRY(sim_memory_claim(range, name));
    call->ca_range_count++;
    return ACL_SUCCESS;
}

aclnnStatus sim_call_check_place(const struct sim_operand *operand, aclDataType type, const char *name)
{
    const uintptr_t size = sim_type_bits(type) / 8, first = (uintptr_t)operand->od_data + (uintptr_t)operand->od_first;
    SIM_ARGUMENT(size < 2 || first % size == 0, ACLNN_ERR_PARAM_INVALID,
                 "%s begins at address %p, expected a multiple of %u, the size of an element of data type %d", name,
                 (void *)first, (unsigned)size, (int)type);
    return ACL_SUCCESS;
}

#define ELEMENT_MOST 16 /* bytes of the largest element: this alignment, the usual one, suits all types */

static aclError place_tensor(const struct sim_pack *pack, const struct sim_operand *operand)
{
    struct sim_call *call = pack->pk_call;
    aclsimTensor *seen = sim_call_at(call, operand->od_tensor);
    seen->data = NULL;
    if (operand->od_bytes == 0)
        return ACL_SUCCESS;
    if (unlikely(((uintptr_t)operand->od_data + (uintptr_t)operand->od_first) % ELEMENT_MOST != 0))
        SIM_TRY(sim_call_check_place(operand, seen->type, sim_call_name(pack, operand)));
    char *low = (char *)((uintptr_t)operand->od_data + (uintptr_t)operand->od_low);
    SIM_TRY(claim(call, low, operand->od_bytes, operand->od_direction, sim_call_name(pack, operand)));
    seen->data = (char *)sim_memory_reach(low) + (operand->od_first - operand->od_low);
    return ACL_SUCCESS;
}

aclError sim_call_place(const struct sim_pack *pack, void *workspace)
{
    struct sim_call *call = pack->pk_call;
    call->ca_range_count = 0;
    uint32_t outputs = 0;
    for (uint32_t i = 0; i < pack->pk_count; i++) {
        SIM_TRY(place_tensor(pack, &pack->pk_operands[i]));
        outputs += (pack->pk_operands[i].od_direction & ACLSIM_OUT) != 0;
    }
    if (unlikely(outputs > 1))
        SIM_TRY(sim_row_overlap_check_outputs(call));
    call->ca_overlaps = sim_row_overlaps(call);
    call->ca_workspace = NULL;
    if (call->ca_workspace_size == 0)
        return ACL_SUCCESS;
    SIM_TRY(claim(call, workspace, call->ca_workspace_size, ACLSIM_OUT, "workspace"));
    call->ca_workspace = sim_memory_reach(workspace);
    return ACL_SUCCESS;
}

/* Ranges are in the order of the parameters, one for each tensor that has elements. */
bool sim_call_next(struct sim_call_cursor *cursor)
{
    const struct sim_call *call = cursor->cu_call;
    for (; cursor->cu_argument < call->ca_row->ro_count; cursor->cu_argument++, cursor->cu_member = 0) {
        const aclsimArgument *argument = &sim_call_arguments(call)[cursor->cu_argument];
        if (argument->kind > ACLSIM_TENSOR_LIST || !argument->present)
            continue;
        aclsimTensor *tensors = sim_call_at(call, (uint32_t)argument->integer);
        while (cursor->cu_member < argument->count) {
            cursor->cu_tensor = &tensors[cursor->cu_member++];
            if (cursor->cu_tensor->data == NULL)
                continue;
            cursor->cu_range = cursor->cu_range == NULL ? sim_call_at(call, call->ca_ranges) : cursor->cu_range + 1;
            return true;
        }
    }
    return false;
}

bool sim_call_writes_nothing(const struct sim_pack *pack)
{
    for (uint32_t i = 0; i < pack->pk_count; i++)
        if ((pack->pk_operands[i].od_direction & ACLSIM_OUT) != 0 && pack->pk_operands[i].od_bytes != 0)
            return false;
    return true;
}
