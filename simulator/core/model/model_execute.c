/* This file executes models: an execution is one task.
 *
 * The task's argument holds the id of the model and the ranges of the buffers that it reads and writes. The model is
 * looked up by its id when the task runs, so an execution after the unload fails and touches no memory. The argument is
 * not modified, except for the tensors and capacities, which each execution writes anew.
 *
 * Locks: a dataset's lock is held while its buffers are read, never two datasets' together. The model's lock guards its
 * records. No lock is held while the executor runs. */
#include "address/memory.h"
#include "base/clock.h"
#include "base/output.h"
#include "base/watcher.h"
#include "engine/context.h"
#include "operator/tensordesc.h"
#include "model_call.h"
#include "model_queue.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t size_of_call(uint32_t operands)
{
    return sizeof(struct sim_model_call) +
           operands * (sizeof(struct sim_range) + sizeof(struct sim_operand) + sizeof(aclsimTensor) + sizeof(uint64_t));
}

/* ---- the task ---- */

static bool set_tensor(aclsimTensor *tensor, const struct sim_operand *operand, aclDataType type, const int64_t *dims,
                       uint32_t rank)
{
    if (rank > SIM_MODEL_CALL_RANK_MAX)
        return false;
    tensor->data = sim_memory_reach(operand->op_address);
    tensor->type = type;
    tensor->rank = rank;
    for (uint32_t i = 0; i < rank; i++)
        tensor->dims[i] = dims[i];
    sim_model_shape_strides(dims, rank, tensor->strides);
    return true;
}

/* The gear that the program wrote into the input: 64-bit numbers, or 32-bit ones in a small buffer; -1 if the model has
 * no such gear. */
static int64_t read_gear(const struct sim_signature *signature, const struct sim_model_call *call)
{
    uint64_t values[ACL_MAX_DIM_CNT];
    uint32_t width = signature->sg_gear_width;
    if (call->ca_gear_operand == call->ca_inputs || width > ACL_MAX_DIM_CNT)
        return SIM_EVERY_GEAR;
    const struct sim_operand *operand = &sim_model_call_operands(call)[call->ca_gear_operand];
    const unsigned char *bytes = sim_memory_reach(operand->op_address);
    bool wide = operand->op_bytes >= width * sizeof(uint64_t);
    if (operand->op_bytes < width * sizeof(uint32_t))
        return -1;
    for (uint32_t i = 0; i < width; i++) {
        uint32_t narrow;
        memcpy(&narrow, bytes + i * sizeof narrow, sizeof narrow);
        values[i] = narrow;
        if (wide)
            memcpy(&values[i], bytes + i * sizeof *values, sizeof *values);
    }
    return sim_model_signature_gear(signature, values);
}

/* Fills and counts the tensors of the inputs that carry data. False if one has too many dimensions. */
static bool set_inputs(const struct sim_signature *signature, struct sim_model_call *call, int64_t gear,
                       uint32_t *count)
{
    aclsimTensor *tensors = sim_model_call_tensors(call);
    int64_t dims[ACL_MAX_DIM_CNT];
    *count = 0;
    for (uint32_t i = 0; i < call->ca_inputs; i++) {
        const struct sim_operand *operand = &sim_model_call_operands(call)[i];
        const struct sim_port *port = &signature->sg_inputs[operand->op_port];
        if (sim_model_port_is_control(port))
            continue;
        uint32_t rank = signature->sg_dynamic ? operand->op_rank : port->po_rank;
        if (signature->sg_dynamic)
            memcpy(dims, operand->op_dims, sizeof operand->op_dims);
        else
            sim_model_signature_input(signature, operand->op_port, gear, dims);
        if (!set_tensor(&tensors[(*count)++], operand, port->po_type, dims, rank))
            return false;
    }
    return true;
}

static bool set_outputs(const struct sim_signature *signature, struct sim_model_call *call, int64_t gear)
{
    for (uint32_t i = 0; i < call->ca_outputs; i++) {
        uint32_t at = call->ca_inputs + i, rank;
        const struct sim_operand *operand = &sim_model_call_operands(call)[at];
        const int64_t *dims = sim_model_signature_output(signature, i, gear, &rank);
        if (!set_tensor(&sim_model_call_tensors(call)[at], operand, signature->sg_outputs[i].po_type, dims, rank))
            return false;
        sim_model_call_capacities(call)[i] = operand->op_bytes;
    }
    return true;
}

/* Stores the actual shapes of the outputs in the dataset, for aclmdlGetDatasetTensorDesc. */
static aclError tell_shapes(const struct sim_signature *signature, const struct sim_model_call *call)
{
    struct sim_dataset *dataset = sim_dataset_peek(call->ca_output);
    aclError code = ACL_SUCCESS;
    for (uint32_t i = 0; dataset != NULL && i < call->ca_outputs && code == ACL_SUCCESS; i++) {
        const aclsimTensor *tensor = &sim_model_call_tensors(call)[call->ca_inputs + i];
        aclTensorDesc *desc =
            sim_tensordesc_create(tensor->type, tensor->dims, tensor->rank, signature->sg_outputs[i].po_format);
        code = sim_dataset_adopt(dataset, i, desc);
    }
    if (dataset != NULL)
        sim_object_close(dataset);
    return code;
}

static bool shapes_fit(const aclsimModelRun *order)
{
    for (size_t i = 0; i < order->outputCount; i++) {
        const aclsimTensor *tensor = &order->outputs[i];
        if (tensor->rank > SIM_MODEL_CALL_RANK_MAX ||
            sim_model_shape_bytes(tensor->type, tensor->dims, tensor->rank) > order->capacities[i])
            return false;
    }
    return true;
}

static aclError call_executor(struct sim_run *run, const struct sim_model_executor *executor,
                              const aclsimModelRun *order)
{
    char said[SIM_REASON_BYTES], text[SIM_REASON_BYTES + 256];
    if (executor->me_own != NULL) {
        aclError code = executor->me_own(executor->me_state, run, order, text);
        return likely(code == ACL_SUCCESS) ? ACL_SUCCESS : sim_engine_give_up(run, code, text);
    }
    aclError code = sim_model_call(executor, order, said);
    if (likely(code == ACL_SUCCESS))
        return ACL_SUCCESS;
    snprintf(text, sizeof text, "the function of model \"%.200s\" failed%s", order->name, said);
    return sim_engine_give_up(run, code, text);
}

/* The same, recorded for the model's subscription as one operator unless the executor reports its own steps. */
static aclError call_told(struct sim_run *run, const struct sim_model_executor *executor,
                          const struct sim_signature *signature, const aclsimModelRun *order)
{
    if (likely(!sim_model_observer->ov_is_subscribed(order->modelId)) || executor->me_tells)
        return call_executor(run, executor, order);
    uint64_t start = sim_clock_now();
    aclError code = call_executor(run, executor, order);
    const char *type = *signature->sg_executor != '\0' ? signature->sg_executor : "function";
    sim_model_observer->ov_tell(order->modelId, type, order->name, start, sim_clock_now());
    return code;
}

/* The same, dumping inputs and outputs if the dump configuration selected the model when it was loaded. */
static aclError call_dumped(struct sim_run *run, struct sim_model *model, const aclsimModelRun *order)
{
    const struct sim_dump_plan *plan = model->mo_dump;
    if (likely(plan == NULL))
        return call_told(run, &model->mo_executor, model->mo_signature, order);
    uint64_t step = atomic_fetch_add(&model->mo_runs, 1);
    sim_model_observer->ov_dump(plan, run, order, step, ACLSIM_IN);
    aclError code = call_told(run, &model->mo_executor, model->mo_signature, order);
    if (code == ACL_SUCCESS && shapes_fit(order))
        sim_model_observer->ov_dump(plan, run, order, step, ACLSIM_OUT);
    return code;
}

/* The same, with full-size tensors instead of short buffers, and with preprocessed images. */
SIM_RARE static aclError call_prepared(struct sim_run *run, struct sim_model *model, struct sim_model_call *call,
                                       const aclsimModelRun *order, int64_t gear)
{
    const struct sim_signature *signature = model->mo_signature;
    struct sim_prepared prepared = {0};
    char text[SIM_REASON_BYTES];
    const char *reason = sim_model_call_prepare(signature, call, gear, &prepared, text);
    aclError code = reason == NULL ? call_dumped(run, model, order)
                                   : sim_engine_give_up(run, ACL_ERROR_RT_MODEL_EXECUTE, reason);
    sim_model_call_finish(signature, call, gear, &prepared, code == ACL_SUCCESS);
    return code;
}

static aclError run_on(struct sim_run *run, struct sim_model *model, struct sim_model_call *call)
{
    const struct sim_signature *signature = model->mo_signature;
    uint32_t count;
    const struct sim_model_executor *executor = &model->mo_executor;
    if (executor->me_run == NULL && executor->me_own == NULL)
        return sim_engine_give_up(run, ACL_ERROR_RT_MODEL_EXECUTE,
                                  "the simulator cannot run the model: register a function for it (acl.sim.model, "
                                  "aclsimRegisterModel)");
    int64_t gear = signature->sg_gears == SIM_GEARS_NONE ? SIM_EVERY_GEAR : read_gear(signature, call);
    if (gear < 0 && signature->sg_gears != SIM_GEARS_NONE)
        return sim_engine_give_up(run, ACL_ERROR_RT_MODEL_EXECUTE,
                                  "the input " SIM_GEAR_INPUT " does not select a gear of the model: set one before");
    if (!set_inputs(signature, call, gear, &count) || !set_outputs(signature, call, gear))
        return sim_engine_give_up(run, ACL_ERROR_RT_MODEL_EXECUTE, "a tensor of the model has more than 8 dimensions");
    aclsimModelRun order = {.name = signature->sg_name,
                            .modelId = model->mo_id,
                            .inputs = sim_model_call_tensors(call),
                            .inputCount = count,
                            .outputs = sim_model_call_tensors(call) + call->ca_inputs,
                            .capacities = sim_model_call_capacities(call),
                            .outputCount = call->ca_outputs,
                            .userData = executor->me_user};
    if (executor->me_for_kind) {
        order.weights = model->mo_content.by_data;
        order.weightSize = model->mo_content.by_size;
    }
    SIM_TRY(likely(sim_model_call_is_plain(signature, call)) ? call_dumped(run, model, &order)
                                                             : call_prepared(run, model, call, &order, gear));
    if (!signature->sg_dynamic)
        return ACL_SUCCESS;
    if (!shapes_fit(&order))
        return sim_engine_give_up(run, ACL_ERROR_RT_MODEL_EXECUTE, "an output is larger than its buffer");
    return tell_shapes(signature, call);
}

static aclError run_call(struct sim_run *run, void *argument)
{
    struct sim_model_call *call = argument;
    struct sim_model *model = sim_model_peek(call->ca_model);
    if (model == NULL)
        return sim_engine_give_up(run, ACL_ERROR_RT_MODEL_EXECUTE, "the model was unloaded before it ran");
    aclError code = run_on(run, model, call);
    sim_model_close(model);
    return code;
}

static const struct sim_range *ranges_of_call(const void *argument, size_t *count)
{
    const struct sim_model_call *call = argument;
    *count = sim_model_call_count(call);
    return call->ca_ranges;
}

/* With gears, dynamic shapes or AIPP, an execution may read less of a buffer than there is. */
static void footprints_of_call(const void *argument, sim_visit_footprint *visit, void *context)
{
    static const int64_t stride = 1;
    const struct sim_model_call *call = argument;
    for (uint32_t i = 0; i < sim_model_call_count(call); i++) {
        const struct sim_range *range = &call->ca_ranges[i];
        const int64_t size = (int64_t)range->rg_size;
        const struct sim_footprint footprint = {.fp_address = range->rg_address, .fp_element = 1, .fp_rank = 1,
                                                .fp_dims = &size, .fp_strides = &stride, .fp_birth = range->rg_birth,
                                                .fp_read = !range->rg_write, .fp_write = range->rg_write,
                                                .fp_is_hull = !call->ca_exact,
                                                .fp_name = range->rg_write ? "an output" : "an input"};
        visit(&footprint, context);
    }
}

static void print_call(const void *argument, FILE *file)
{
    const struct sim_model_call *call = argument;
    struct sim_model *model = sim_model_peek(call->ca_model);
    if (model == NULL) {
        fprintf(file, "unloaded model %u", call->ca_model);
        return;
    }
    sim_output_text(file, model->mo_signature->sg_name);
    sim_model_close(model);
}

#define CALL_OP(name, flags)                                                                                           \
    {.op_name = (name), .op_run = run_call, .op_ranges = ranges_of_call, .op_footprints = footprints_of_call,          \
     .op_flags = SIM_OP_KERNEL | (flags), .op_kind = SIM_TASK_MODEL, .op_print = print_call}
/* The thread that waits for an execution also runs it, so waited_op does not wake a worker. */
static const struct sim_op queued_op = CALL_OP("aclmdlExecuteAsync", SIM_OP_HEAVY),
                           waited_op = CALL_OP("aclmdlExecute", 0);

/* ---- operands of an execution ---- */

/* Reads a buffer of the dataset, limited to the bytes that the model needs in its largest gear. With `allocate`, a
 * missing output gets memory. */
static aclError place(const struct sim_model *model, const struct sim_dataset *dataset, uint32_t index, bool output,
                      bool allocate, int64_t gear, struct sim_operand *operand)
{
    const struct sim_signature *signature = model->mo_signature;
    const struct sim_port *port = output ? &signature->sg_outputs[index] : &signature->sg_inputs[index];
    struct sim_data_buffer *buffer = sim_tensordesc_buffer_open(dataset->da_slots[index].sl_buffer);
    if (buffer == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = ACL_SUCCESS;
    uint64_t most = port->po_bytes, needed = gear < 0 ? most : sim_model_call_needed(signature, index, output, gear);
    if (buffer->db_data == NULL && output && allocate && needed != 0) {
        code = sim_memory_take(&buffer->db_data, needed);
        buffer->db_size = code == ACL_SUCCESS ? needed : buffer->db_size;
    }
    if (code == ACL_SUCCESS && !signature->sg_dynamic && buffer->db_size + SIM_MODEL_CALL_SLACK < needed)
        code = sim_refuse(ACL_ERROR_GE_PARAM_INVALID, "%s %u (%s) has %zu bytes, expected %llu",
                          output ? "output" : "input", index, port->po_name, buffer->db_size,
                          (unsigned long long)needed);
    if (code == ACL_SUCCESS && buffer->db_data == NULL)
        code = sim_refuse(ACL_ERROR_GE_PARAM_INVALID, "%s %u (%s) has no memory, expected that of a device",
                          output ? "output" : "input", index, port->po_name);
    if (code == ACL_SUCCESS && !signature->sg_dynamic && most != 0 && sim_watcher_any())
        sim_watcher_buffer(&(struct sim_buffer_use){.bu_address = buffer->db_data, .bu_size = buffer->db_size,
                                                    .bu_least = needed, .bu_most = most, .bu_name = port->po_name,
                                                    .bu_index = index, .bu_is_output = output});
    bool whole = signature->sg_dynamic || most == 0 || buffer->db_size < most;
    *operand = (struct sim_operand){
        .op_address = buffer->db_data, .op_port = index, .op_bytes = whole ? buffer->db_size : most};
    sim_object_close(buffer);
    return code;
}

static bool in_range(const struct sim_port *port, const int64_t *dims, size_t rank)
{
    if (rank != port->po_rank)
        return false;
    for (size_t i = 0; i < rank; i++) {
        bool known = port->po_dims[i] >= 0, bound = !known && i < port->po_range_count;
        if (dims[i] < 0 || (known && dims[i] != port->po_dims[i]) ||
            (bound && (dims[i] < port->po_ranges[i][0] ||
                       (port->po_ranges[i][1] >= 0 && dims[i] > port->po_ranges[i][1]))))
            return false;
    }
    return true;
}

/* The actual shape of an input with a dynamic shape: the dataset's description or, without one, the model's shape. */
static aclError find_shape(const struct sim_port *port, const struct sim_dataset_slot *slot,
                           struct sim_operand *operand)
{
    const int64_t *dims = port->po_dims;
    size_t rank = port->po_rank;
    struct sim_tensor_desc *desc = slot->sl_desc == NULL ? NULL : sim_tensordesc_open(slot->sl_desc);
    if (desc != NULL) {
        dims = desc->td_shape.nu_values;
        rank = desc->td_shape.nu_count;
    }
    bool fits = rank <= SIM_MODEL_CALL_RANK_MAX && in_range(port, dims, rank);
    bool large = fits && sim_model_shape_bytes(port->po_type, dims, (uint32_t)rank) > operand->op_bytes;
    operand->op_rank = fits ? (uint32_t)rank : 0;
    for (uint32_t i = 0; i < operand->op_rank; i++)
        operand->op_dims[i] = dims[i];
    if (desc != NULL)
        sim_object_close(desc);
    SIM_ARGUMENT(fits, ACL_ERROR_INVALID_PARAM,
                 "input %s has no shape that the model takes, expected aclmdlSetDatasetTensorDesc with one",
                 port->po_name);
    SIM_ARGUMENT(!large, ACL_ERROR_INVALID_PARAM, "input %s has %llu bytes, fewer than its shape", port->po_name,
                 (unsigned long long)operand->op_bytes);
    return ACL_SUCCESS;
}

static aclError claim(struct sim_model_call *call, uint32_t at, bool output)
{
    char name[32];
    const struct sim_operand *operand = &sim_model_call_operands(call)[at];
    call->ca_ranges[at] =
        (struct sim_range){.rg_address = operand->op_address, .rg_size = operand->op_bytes, .rg_write = output};
    if (likely(sim_memory_try_claim(&call->ca_ranges[at])))
        return ACL_SUCCESS;
    snprintf(name, sizeof name, "%s %u", output ? "output" : "input", operand->op_port);
    return sim_memory_claim(&call->ca_ranges[at], name);
}

static aclError fill_side(struct sim_model_call *call, const struct sim_model *model, const struct sim_dataset *dataset,
                          bool output, bool allocate, int64_t gear)
{
    uint32_t first = output ? call->ca_inputs : 0, count = output ? call->ca_outputs : call->ca_inputs;
    SIM_ARGUMENT(dataset->da_count == count,
                 model->mo_signature->sg_dynamic ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_GE_PARAM_INVALID,
                 "%s has %zu buffers, expected %u", output ? "output" : "input", dataset->da_count, count);
    for (uint32_t i = 0; i < count; i++) {
        struct sim_operand *operand = &sim_model_call_operands(call)[first + i];
        SIM_TRY(place(model, dataset, i, output, allocate, gear, operand));
        if (!output && model->mo_signature->sg_dynamic)
            SIM_TRY(find_shape(&model->mo_signature->sg_inputs[i], &dataset->da_slots[i], operand));
        SIM_TRY(claim(call, first + i, output));
    }
    return ACL_SUCCESS;
}

/* The gear set for the dataset of the inputs, otherwise the gear set last for the model. */
static int64_t gear_of(struct sim_model *model, const struct sim_dataset *inputs)
{
    if (inputs->da_gear_model == model->mo_id)
        return inputs->da_gear;
    return atomic_load_explicit(&model->mo_gear, memory_order_relaxed); /* publishes no other data */
}

/* The datasets are opened one after the other, never together, because both may be the same dataset. */
static aclError fill_call(struct sim_model_call *call, struct sim_model *model, const aclmdlDataset *inputs,
                          const aclmdlDataset *outputs, bool allocate)
{
    int64_t gear = SIM_EVERY_GEAR;
    for (int side = 0; side < 2; side++) {
        struct sim_dataset *dataset = sim_dataset_open(side == 0 ? inputs : outputs, side == 0 ? "input" : "output");
        if (dataset == NULL)
            return ACL_ERROR_INVALID_PARAM;
        gear = side == 0 ? gear_of(model, dataset) : gear;
        aclError code = fill_side(call, model, dataset, side == 1, allocate, gear);
        sim_object_close(dataset);
        SIM_TRY(code);
    }
    return ACL_SUCCESS;
}

/* ---- queueing ---- */

/* Stores the newest execution on its stream, so that unloading waits for it; finished ones are removed. */
static void remember(struct sim_model *model, sim_record record)
{
    if (record == 0)
        return; /* recorded by a capture, or not submitted */
    sim_lock(&model->mo_lock);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < model->mo_record_count; i++)
        if (!sim_record_passed(model->mo_records[i]) && record >> 48 != model->mo_records[i] >> 48)
            model->mo_records[kept++] = model->mo_records[i];
    if (kept == model->mo_record_room) {
        uint32_t room = kept == 0 ? 4 : 2 * kept;
        sim_record *records = realloc(model->mo_records, room * sizeof *records);
        if (records != NULL) {
            model->mo_records = records;
            model->mo_record_room = room;
        }
    }
    if (kept < model->mo_record_room)
        model->mo_records[kept++] = record;
    model->mo_record_count = kept;
    sim_unlock(&model->mo_lock);
}

static aclError submit(struct sim_model *model, const aclmdlDataset *inputs, aclmdlDataset *outputs, bool waits,
                       struct sim_target stream, void *site)
{
    const struct sim_signature *signature = model->mo_signature;
    uint32_t operands = signature->sg_input_count + signature->sg_output_count;
    size_t size = size_of_call(operands);
    _Alignas(struct sim_model_call) unsigned char small[1024];
    struct sim_model_call *call = size <= sizeof small ? (void *)small : malloc(size);
    SIM_CHECK(call != NULL, ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for an execution with %u tensors",
              operands);
    memset(call, 0, size);
    *call = (struct sim_model_call){.ca_model = model->mo_id, .ca_inputs = signature->sg_input_count,
                          .ca_outputs = signature->sg_output_count, .ca_output = outputs};
    call->ca_gear_operand = sim_model_port_find(signature->sg_inputs, signature->sg_input_count, SIM_GEAR_INPUT);
    call->ca_aipp_operand = sim_model_aipp_place(signature);
    call->ca_exact = !signature->sg_dynamic && signature->sg_gears == SIM_GEARS_NONE && signature->sg_aipp_count == 0 &&
                     call->ca_aipp_operand == call->ca_inputs;
    _Atomic sim_record record = 0;
    aclError code = fill_call(call, model, inputs, outputs, waits);
    if (code == ACL_SUCCESS)
        code = sim_engine_submit(stream, waits ? &waited_op : &queued_op, call, size, site, &record);
    if ((void *)call != (void *)small)
        free(call);
    remember(model, atomic_load_explicit(&record, memory_order_relaxed));
    return code;
}

static aclError submit_on(uint32_t id, const aclmdlDataset *inputs, aclmdlDataset *outputs, bool waits,
                          struct sim_target stream, void *site)
{
    struct sim_model *model;
    SIM_TRY(sim_model_open(id, &model));
    const struct sim_feeder *feeder = atomic_load_explicit(&model->mo_feeder, memory_order_acquire);
    aclError code = feeder == NULL || sim_model_queue_is_own(feeder)
                        ? submit(model, inputs, outputs, waits, stream, site)
                        : sim_refuse(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID,
                                     "modelId is %u, a model that is fed by queues, expected one that the program "
                                     "executes", id);
    sim_model_close(model);
    return code;
}

aclError sim_model_execute_async(uint32_t id, const aclmdlDataset *inputs, aclmdlDataset *outputs, aclrtStream stream,
                                 void *site)
{
    struct sim_target target;
    SIM_TRY(sim_stream_own(stream, &target));
    return submit_on(id, inputs, outputs, false, target, site);
}

static aclError wait_for(struct sim_target stream, int32_t timeout)
{
    enum sim_role role = timeout < 0 ? SIM_HELPER : SIM_SUBMITTER;
    uint64_t tail = sim_stream_tail(stream.tg_stream);
    enum sim_wait wait = sim_engine_wait(stream.tg_stream, tail, sim_clock_deadline(timeout), role);
    SIM_TRY(sim_engine_outcome(wait, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, timeout));
    if (sim_watcher_any())
        sim_watcher_know(sim_record_of(stream.tg_stream, tail));
    return sim_stream_take_error(stream.tg_stream);
}

aclError sim_model_execute_on(uint32_t id, const aclmdlDataset *inputs, aclmdlDataset *outputs, aclrtStream stream,
                              int32_t timeout, void *site)
{
    struct sim_target target;
    SIM_TRY(sim_engine_may_wait());
    SIM_TRY(sim_stream_own(stream, &target));
    SIM_TRY(sim_stream_refuse_taken(target.tg_stream, sim_stream_taken(target.tg_stream)));
    SIM_TRY(submit_on(id, inputs, outputs, true, target, site));
    return wait_for(target, timeout);
}

/* On a stream of its own, so that it does not wait for other work. */
aclError sim_model_execute(uint32_t id, const aclmdlDataset *inputs, aclmdlDataset *outputs, void *site)
{
    struct sim_context *context;
    aclrtStream stream;
    SIM_TRY(sim_engine_may_wait());
    SIM_TRY(sim_context_current(&context));
    SIM_TRY(sim_stream_create(context, 0, 0, SIM_STREAM_INSTANCE, &stream));
    struct sim_target target = {sim_table_find(&sim_streams, stream), (uint64_t)(uintptr_t)stream};
    aclError code = submit_on(id, inputs, outputs, true, target, site);
    if (code == ACL_SUCCESS)
        code = wait_for(target, -1);
    sim_stream_destroy(target, false);
    return code;
}
