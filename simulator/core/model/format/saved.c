/* This file executes saved instances, which operator/model_saver.c wrote, without the program that captured them.
 *
 * A model owns its regions: one mapping, whose pages use no memory before they are touched. When a model is opened,
 * every location in the file is checked against its region, and every operator call is packed and planned like the
 * first phase of an operator, with the kernel that is registered then.
 *
 * Locks: sv_lock is held during an execution, so that one at a time uses the regions. */
#include "address/memory.h"
#include "base/clock.h"
#include "memory/memory_copy.h"
#include "operator/call.h"
#include "operator/model_saver.h"
#include "operator/op.h"
#include "format.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define REGIONS_MAX (UINT64_C(1) << 37) /* most bytes of all regions together: the memory of the largest chip */

struct block {
    unsigned char *bl_data;
    uint64_t bl_size;
};

struct step {
    enum sim_saved_step st_kind;
    struct block st_to, st_from;
    struct sim_rectangle st_shape;
    uint32_t st_pattern;
    struct sim_call *st_call;
};

struct saved {
    pthread_mutex_t sv_lock; /* a mutex, so that threads sleep while they wait for a long execution */
    struct block *sv_regions, *sv_inputs, *sv_outputs;
    struct step *sv_steps;
    uint32_t sv_region_count, sv_input_count, sv_output_count, sv_step_count;
    void *sv_memory, *sv_workspace;
    size_t sv_mapped;
    uint64_t sv_workspace_size;
};

static aclError refuse(const char *what)
{
    return sim_refuse(ACL_ERROR_GE_PARAM_INVALID, "the saved instance in the model file is damaged: %s", what);
}

/* ---- regions ---- */

static aclError map(uint64_t size, void **memory)
{
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    SIM_ARGUMENT(mapped != MAP_FAILED, ACL_ERROR_GE_MEMORY_ALLOCATION,
                 "there is no memory for the %llu bytes that the model works on", (unsigned long long)size);
    *memory = mapped;
    return ACL_SUCCESS;
}

/* One mapping holds all regions. Each keeps its alignment modulo SIM_SAVED_PHASE, because sums may depend on it. */
static aclError map_regions(struct saved *saved, struct sim_bytes sizes)
{
    uint64_t total = 0, at = 0, phase;
    for (struct sim_bytes left = sizes; left.by_size != 0;) {
        uint64_t size = 0;
        sim_bytes_u64(&left, &size);
        sim_bytes_u64(&left, &phase);
        if (size > REGIONS_MAX || phase >= SIM_SAVED_PHASE || (total += size + 2 * SIM_SAVED_PHASE) > REGIONS_MAX)
            return refuse("a region has an impossible size");
    }
    saved->sv_mapped = total + 1;
    SIM_TRY(map(saved->sv_mapped, &saved->sv_memory));
    for (uint32_t i = 0; i < saved->sv_region_count; i++) {
        struct block *region = &saved->sv_regions[i];
        sim_bytes_u64(&sizes, &region->bl_size);
        sim_bytes_u64(&sizes, &phase);
        region->bl_data = (unsigned char *)saved->sv_memory + at + phase;
        at += (region->bl_size + 2 * SIM_SAVED_PHASE - 1) / SIM_SAVED_PHASE * SIM_SAVED_PHASE;
    }
    return ACL_SUCCESS;
}

/* Reads a location: region, offset and size. A location without bytes gets no address. */
static bool take_place(const struct saved *saved, struct sim_bytes *from, struct block *place)
{
    uint32_t region, unused;
    uint64_t offset;
    *place = (struct block){NULL, 0};
    if (!sim_bytes_u32(from, &region) || !sim_bytes_u32(from, &unused) || !sim_bytes_u64(from, &offset) ||
        !sim_bytes_u64(from, &place->bl_size))
        return false;
    if (region == SIM_SAVED_NOWHERE)
        return place->bl_size == 0;
    if (region >= saved->sv_region_count || offset > saved->sv_regions[region].bl_size ||
        place->bl_size > saved->sv_regions[region].bl_size - offset)
        return false;
    place->bl_data = saved->sv_regions[region].bl_data + offset;
    return true;
}

static bool take_places(const struct saved *saved, struct sim_bytes *from, struct block *places, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!take_place(saved, from, &places[i]))
            return false;
    return true;
}

static bool take_contents(const struct saved *saved, struct sim_bytes *from, uint64_t count)
{
    struct block place;
    struct sim_bytes bytes;
    for (uint64_t i = 0; i < count; i++) {
        if (!take_place(saved, from, &place) || !sim_bytes_take(from, place.bl_size, &bytes))
            return false;
        if (bytes.by_size != 0)
            memcpy(place.bl_data, bytes.by_data, bytes.by_size);
    }
    return true;
}

/* ---- calls ---- */

/* A call that is being read. */
struct reading {
    const struct saved *re_saved;
    struct sim_bytes *re_from;
    struct sim_pack re_pack;
};

static aclError read_tensor(struct reading *reading, const aclsimArgument *argument, uint32_t offset)
{
    uint32_t type;
    struct block place;
    struct sim_bytes dims, strides;
    aclsimTensor tensor = {0};
    if (!sim_bytes_u32(reading->re_from, &type) || !sim_bytes_u32(reading->re_from, &tensor.rank) || tensor.rank > 8 ||
        !sim_bytes_take(reading->re_from, tensor.rank * sizeof *tensor.dims, &dims) ||
        !sim_bytes_take(reading->re_from, tensor.rank * sizeof *tensor.strides, &strides) ||
        !take_place(reading->re_saved, reading->re_from, &place))
        return refuse("a tensor");
    tensor.type = (aclDataType)type;
    memcpy(tensor.dims, dims.by_data, dims.by_size);
    memcpy(tensor.strides, strides.by_data, strides.by_size);
    struct sim_operand *operand = sim_call_operand(&reading->re_pack);
    SIM_ARGUMENT(operand != NULL, ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for a call");
    operand->od_tensor = offset;
    operand->od_data = place.bl_data;
    operand->od_direction = (uint8_t)argument->direction;
    SIM_TRY(sim_call_measure(&tensor, 0, argument->name, operand));
    if (operand->od_bytes != place.bl_size)
        return refuse("the size of a tensor is not the size of its location");
    struct sim_operand first = *operand;
    first.od_first = -operand->od_low; /* the location begins at the tensor's lowest byte */
    SIM_TRY(sim_call_check_place(&first, tensor.type, argument->name));
    memcpy(sim_call_at(reading->re_pack.pk_call, offset), &tensor, sizeof tensor);
    return ACL_SUCCESS;
}

static aclError read_scalar(struct reading *reading, uint32_t offset)
{
    uint32_t type, unused;
    struct sim_bytes bytes;
    aclsimScalar *scalar = sim_call_at(reading->re_pack.pk_call, offset);
    if (!sim_bytes_u32(reading->re_from, &type) || !sim_bytes_u32(reading->re_from, &unused) ||
        sim_type_bits((aclDataType)type) < 8 || !sim_bytes_take(reading->re_from, sizeof scalar->value, &bytes))
        return refuse("a scalar");
    scalar->type = (aclDataType)type;
    memcpy(scalar->value, bytes.by_data, bytes.by_size);
    return ACL_SUCCESS;
}

static bool read_elements(struct reading *reading, aclsimArgumentKind kind, uint64_t size, uint32_t offset)
{
    struct sim_bytes bytes;
    unsigned char *to = sim_call_at(reading->re_pack.pk_call, offset);
    if (!sim_bytes_take(reading->re_from, size, &bytes))
        return false;
    for (uint64_t i = 0; i < size && kind == ACLSIM_BOOLEANS; i++)
        to[i] = bytes.by_data[i] != 0; /* a bool may only be 0 or 1 */
    if (size != 0 && kind != ACLSIM_BOOLEANS)
        memcpy(to, bytes.by_data, size);
    return true;
}

/* Reads the members of an argument, which are stored back to back in the call. */
static aclError read_members(struct reading *reading, size_t index, uint64_t count)
{
    static const size_t sizes[] = {sizeof(aclsimTensor), sizeof(aclsimTensor), sizeof(aclsimScalar),
                                   sizeof(aclsimScalar), sizeof(int64_t),      sizeof(float),
                                   sizeof(bool),         sizeof(char)};
    aclsimArgument argument = sim_call_arguments(reading->re_pack.pk_call)[index];
    size_t size = sizes[argument.kind];
    uint32_t offset = sim_call_reserve(&reading->re_pack, count * size + 1);
    SIM_ARGUMENT(offset != 0, ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for a call");
    if (argument.kind > ACLSIM_SCALAR_LIST && !read_elements(reading, argument.kind, count * size, offset))
        return refuse("an array");
    for (uint64_t i = 0; i < count && argument.kind <= ACLSIM_SCALAR_LIST; i++) {
        uint32_t at = offset + (uint32_t)(i * size);
        SIM_TRY(argument.kind <= ACLSIM_TENSOR_LIST ? read_tensor(reading, &argument, at)
                                                    : read_scalar(reading, at));
    }
    argument.present = 1;
    argument.count = count;
    argument.integer = offset;
    sim_call_arguments(reading->re_pack.pk_call)[index] = argument;
    return ACL_SUCCESS;
}

static aclError read_argument(struct reading *reading, size_t index)
{
    uint32_t kind, present;
    uint64_t count, number;
    const struct sim_call *call = reading->re_pack.pk_call;
    const struct sim_parameter *parameter = &call->ca_row->ro_parameters[index];
    uint64_t least = parameter->pa_kind <= ACLSIM_SCALAR_LIST ? 24 : 1; /* least bytes per member in the file */
    if (!sim_bytes_u32(reading->re_from, &kind) || !sim_bytes_u32(reading->re_from, &present) ||
        !sim_bytes_u64(reading->re_from, &count) || kind != parameter->pa_kind ||
        count > reading->re_from->by_size / least ||
        (kind < ACLSIM_INTEGER && present == 0 && !parameter->pa_optional) ||
        ((kind == ACLSIM_TENSOR || kind == ACLSIM_SCALAR) && present != 0 && count != 1))
        return refuse("an argument has a type that its operator does not accept");
    if (kind < ACLSIM_INTEGER)
        return present == 0 ? ACL_SUCCESS : read_members(reading, index, count);
    if (!sim_bytes_u64(reading->re_from, &number))
        return refuse("a number");
    sim_call_arguments(call)[index].present = 1;
    sim_call_arguments(call)[index].integer = (int64_t)number;
    return ACL_SUCCESS;
}

/* The operator schema of a call; NULL if its name is unknown. */
static struct sim_row *take_row(struct sim_bytes *from)
{
    char name[128] = "";
    uint32_t length, count;
    struct sim_bytes text;
    if (!sim_bytes_u32(from, &length) || length >= sizeof name || !sim_bytes_take(from, length, &text))
        return NULL;
    memcpy(name, text.by_data, length);
    struct sim_row *row = sim_row_find(name);
    if (row == NULL)
        row = sim_op_row_find(name);
    return row != NULL && sim_bytes_u32(from, &count) && count == row->ro_count ? row : NULL;
}

/* Sets tensors and ranges like the second phase of an operator, with addresses in the regions. */
static aclnnStatus place_tensors(const struct sim_pack *pack)
{
    struct sim_call *call = pack->pk_call;
    struct sim_range *ranges = sim_call_at(call, call->ca_ranges);
    for (uint32_t i = 0; i < pack->pk_count; i++) {
        const struct sim_operand *operand = &pack->pk_operands[i];
        aclsimTensor *tensor = sim_call_at(call, operand->od_tensor);
        tensor->data = operand->od_bytes != 0 ? (char *)operand->od_data - operand->od_low : NULL;
        if (operand->od_bytes != 0)
            ranges[call->ca_range_count++] = (struct sim_range){.rg_address = operand->od_data,
                                                                .rg_size = operand->od_bytes,
                                                                .rg_write = (operand->od_direction & ACLSIM_OUT) != 0};
    }
    call->ca_overlaps = sim_row_overlaps(call);
    return sim_row_overlap_check_outputs(call);
}

static aclError read_call(struct reading *reading, struct saved *saved)
{
    uint64_t workspace;
    struct sim_row *row = take_row(reading->re_from);
    if (row == NULL)
        return refuse("it calls an operator that the simulator does not know");
    SIM_TRY(sim_call_begin(&reading->re_pack, row));
    for (size_t i = 0; i < row->ro_count; i++)
        SIM_TRY(read_argument(reading, i));
    uint32_t ranges = sim_call_reserve(&reading->re_pack, reading->re_pack.pk_count * sizeof(struct sim_range) + 1);
    SIM_ARGUMENT(ranges != 0, ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for a call");
    reading->re_pack.pk_call->ca_ranges = ranges;
    SIM_TRY(sim_row_plan_call(reading->re_pack.pk_call, &workspace));
    SIM_TRY(place_tensors(&reading->re_pack));
    saved->sv_workspace_size = workspace > saved->sv_workspace_size ? workspace : saved->sv_workspace_size;
    return ACL_SUCCESS;
}

/* The operator's message about its arguments is kept, but the load fails with the code for a damaged file. */
static aclError take_call(struct saved *saved, struct sim_bytes *from, struct step *step)
{
    struct reading reading = {.re_saved = saved, .re_from = from};
    aclError code = read_call(&reading, saved);
    if (code != ACL_SUCCESS) {
        sim_call_drop(&reading.re_pack);
        return code == ACL_ERROR_GE_MEMORY_ALLOCATION ? code : ACL_ERROR_GE_PARAM_INVALID;
    }
    step->st_call = reading.re_pack.pk_call;
    free(reading.re_pack.pk_operands);
    return ACL_SUCCESS;
}

/* ---- steps ---- */

static bool fits(const struct sim_rectangle *shape, uint64_t pitch, uint64_t size)
{
    uint64_t bytes = shape->rc_height - 1;
    return shape->rc_height != 0 && shape->rc_width != 0 && pitch >= shape->rc_width && /* so height <= bytes */
           sim_size_multiply(&bytes, pitch) &&
           !__builtin_add_overflow(bytes, shape->rc_width, &bytes) && bytes <= size;
}

static aclError take_step(struct saved *saved, struct sim_bytes *from, struct step *step)
{
    uint32_t kind;
    struct sim_rectangle *shape = &step->st_shape;
    if (!sim_bytes_u32(from, &kind))
        return refuse("a step is missing");
    step->st_kind = kind;
    switch (kind) {
    case SIM_SAVED_CALL:
        return take_call(saved, from, step);
    case SIM_SAVED_SET:
        return take_place(saved, from, &step->st_to) && step->st_to.bl_size != 0 &&
                       sim_bytes_u32(from, &step->st_pattern)
                   ? ACL_SUCCESS
                   : refuse("a set");
    case SIM_SAVED_COPY:
        return take_place(saved, from, &step->st_to) && take_place(saved, from, &step->st_from) &&
                       sim_bytes_u64(from, &shape->rc_dst_pitch) && sim_bytes_u64(from, &shape->rc_src_pitch) &&
                       sim_bytes_u64(from, &shape->rc_width) && sim_bytes_u64(from, &shape->rc_height) &&
                       fits(shape, shape->rc_dst_pitch, step->st_to.bl_size) &&
                       fits(shape, shape->rc_src_pitch, step->st_from.bl_size)
                   ? ACL_SUCCESS
                   : refuse("a copy");
    default:
        return refuse("a step is of an unknown kind");
    }
}

static aclError run_step(struct sim_run *run, const struct step *step)
{
    switch (step->st_kind) {
    case SIM_SAVED_COPY:
        sim_memory_copy_rows(step->st_to.bl_data, step->st_from.bl_data, &step->st_shape);
        return ACL_SUCCESS;
    case SIM_SAVED_SET:
        sim_memory_fill(step->st_to.bl_data, step->st_pattern, step->st_to.bl_size);
        return ACL_SUCCESS;
    default:
        return sim_row_run(run, step->st_call);
    }
}

/* ---- executions ---- */

SIM_RARE static void show_step(const struct step *step)
{
    bool is_call = step->st_kind == SIM_SAVED_CALL;
    uint64_t copied = 2 * step->st_shape.rc_width * step->st_shape.rc_height;
    sim_model_observer->ov_step(is_call ? &step->st_call->ca_row->ro_op : NULL, step->st_call,
                                step->st_kind == SIM_SAVED_COPY ? copied : step->st_to.bl_size);
}

static void tell_step(uint32_t model, const struct step *step, uint32_t number, uint64_t start)
{
    static const char *const types[] = {[SIM_SAVED_COPY] = "Memcpy", [SIM_SAVED_SET] = "Memset"};
    uint64_t end = sim_clock_now();
    const char *type = step->st_call == NULL ? types[step->st_kind] : sim_row_type(step->st_call->ca_row);
    char name[ACL_PROF_MAX_OP_NAME_LEN];
    snprintf(name, sizeof name, "%s_%u", type, number);
    sim_model_observer->ov_tell(model, type, name, start, end);
}

static aclError run_locked(const struct saved *saved, struct sim_run *run, const aclsimModelRun *order,
                           char reason[SIM_REASON_BYTES])
{
    strcpy(reason, "its inputs and outputs are not those that the instance was saved with");
    if (order->inputCount != saved->sv_input_count || order->outputCount != saved->sv_output_count)
        return ACL_ERROR_RT_MODEL_EXECUTE;
    for (uint32_t i = 0; i < saved->sv_output_count; i++)
        if (order->capacities[i] < saved->sv_outputs[i].bl_size)
            return ACL_ERROR_RT_MODEL_EXECUTE;
    for (uint32_t i = 0; i < saved->sv_input_count; i++) {
        const aclsimTensor *tensor = &order->inputs[i];
        if (sim_model_shape_bytes(tensor->type, tensor->dims, tensor->rank) != saved->sv_inputs[i].bl_size)
            return ACL_ERROR_RT_MODEL_EXECUTE;
        memcpy(saved->sv_inputs[i].bl_data, tensor->data, saved->sv_inputs[i].bl_size);
    }
    bool told = sim_model_observer->ov_is_subscribed(order->modelId);
    for (uint32_t i = 0; i < saved->sv_step_count; i++) {
        uint64_t start = told ? sim_clock_now() : 0;
        char said[SIM_REASON_BYTES];
        struct sim_asked asked = sim_fail_ask(said);
        if (sim_watcher_any())
            show_step(&saved->sv_steps[i]);
        aclError code = run_step(run, &saved->sv_steps[i]);
        sim_fail_asked(&asked);
        if (unlikely(told))
            tell_step(order->modelId, &saved->sv_steps[i], i, start);
        if (code != ACL_SUCCESS) {
            snprintf(reason, SIM_REASON_BYTES, "its step %u, %s, failed%.400s", i,
                     saved->sv_steps[i].st_call->ca_row->ro_op.op_name, said);
            return code;
        }
    }
    for (uint32_t i = 0; i < saved->sv_output_count; i++)
        memcpy(order->outputs[i].data, saved->sv_outputs[i].bl_data, saved->sv_outputs[i].bl_size);
    return ACL_SUCCESS;
}

static aclError run_saved(void *state, struct sim_run *run, const aclsimModelRun *order, char reason[SIM_REASON_BYTES])
{
    struct saved *saved = state;
    pthread_mutex_lock(&saved->sv_lock);
    aclError code = run_locked(saved, run, order, reason);
    pthread_mutex_unlock(&saved->sv_lock);
    return code;
}

/* ---- opening ---- */

static void close_saved(void *state)
{
    struct saved *saved = state;
    for (uint32_t i = 0; i < saved->sv_step_count && saved->sv_steps != NULL; i++)
        free(saved->sv_steps[i].st_call);
    if (saved->sv_memory != NULL)
        munmap(saved->sv_memory, saved->sv_mapped);
    if (saved->sv_workspace != NULL)
        munmap(saved->sv_workspace, saved->sv_workspace_size);
    pthread_mutex_destroy(&saved->sv_lock);
    free(saved->sv_regions);
    free(saved->sv_inputs);
    free(saved->sv_outputs);
    free(saved->sv_steps);
    free(saved);
}

static aclError take_counts(struct saved *saved, struct sim_bytes *from, uint64_t *contents)
{
    struct sim_bytes magic;
    if (!sim_bytes_take(from, strlen(SIM_SAVED_MAGIC), &magic) ||
        memcmp(magic.by_data, SIM_SAVED_MAGIC, magic.by_size) != 0 || !sim_bytes_u32(from, &saved->sv_region_count) ||
        !sim_bytes_u32(from, &saved->sv_input_count) || !sim_bytes_u32(from, &saved->sv_output_count) ||
        !sim_bytes_u32(from, &saved->sv_step_count) || !sim_bytes_u64(from, contents))
        return refuse("it does not begin with the expected header");
    uint64_t most = from->by_size / 4; /* each counted element takes at least four bytes */
    if (saved->sv_region_count > most || saved->sv_input_count > most || saved->sv_output_count > most ||
        saved->sv_step_count > most)
        return refuse("a number is larger than the file");
    saved->sv_regions = calloc(saved->sv_region_count + 1, sizeof *saved->sv_regions);
    saved->sv_inputs = calloc(saved->sv_input_count + 1, sizeof *saved->sv_inputs);
    saved->sv_outputs = calloc(saved->sv_output_count + 1, sizeof *saved->sv_outputs);
    saved->sv_steps = calloc(saved->sv_step_count + 1, sizeof *saved->sv_steps);
    SIM_ARGUMENT(saved->sv_regions != NULL && saved->sv_inputs != NULL && saved->sv_outputs != NULL &&
                     saved->sv_steps != NULL,
                 ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for a saved instance");
    return ACL_SUCCESS;
}

static aclError take_all(struct saved *saved, struct sim_bytes from)
{
    uint64_t contents;
    struct sim_bytes sizes;
    SIM_TRY(take_counts(saved, &from, &contents));
    if (!sim_bytes_take(&from, (uint64_t)saved->sv_region_count * 16, &sizes))
        return refuse("its table of regions is incomplete");
    SIM_TRY(map_regions(saved, sizes));
    if (!take_contents(saved, &from, contents) ||
        !take_places(saved, &from, saved->sv_inputs, saved->sv_input_count) ||
        !take_places(saved, &from, saved->sv_outputs, saved->sv_output_count))
        return refuse("it ends early, or a location lies outside of its region");
    for (uint32_t i = 0; i < saved->sv_step_count; i++)
        SIM_TRY(take_step(saved, &from, &saved->sv_steps[i]));
    if (from.by_size != 0)
        return refuse("there are bytes after its end");
    if (saved->sv_workspace_size != 0)
        SIM_TRY(map(saved->sv_workspace_size, &saved->sv_workspace));
    for (uint32_t i = 0; i < saved->sv_step_count; i++)
        if (saved->sv_steps[i].st_call != NULL)
            saved->sv_steps[i].st_call->ca_workspace = saved->sv_workspace;
    return ACL_SUCCESS;
}

aclError sim_saved_open(struct sim_bytes weights, struct sim_model_executor *executor)
{
    struct saved *saved = calloc(1, sizeof *saved);
    SIM_ARGUMENT(saved != NULL, ACL_ERROR_GE_MEMORY_ALLOCATION, "there is no memory for a saved instance");
    pthread_mutex_init(&saved->sv_lock, NULL);
    aclError code = take_all(saved, weights);
    if (code != ACL_SUCCESS) {
        close_saved(saved);
        return code;
    }
    *executor = (struct sim_model_executor){.me_own = run_saved, .me_state = saved, .me_close = close_saved,
                                              .me_tells = true};
    return ACL_SUCCESS;
}
