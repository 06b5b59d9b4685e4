/* Design notes
 *
 * Single operators: requests, their execution, compilation checks, inference of shapes, and handles.
 *
 * A request is a snapshot of the arguments of a public function, taken from one locked object after the other, so that
 * the program's objects need not outlive the call. A handle owns a request. To run a request, its schema is found and
 * its arguments are made (op_type.c); the call is packed and planned as in a schema's first phase; then its memory is
 * claimed and it is submitted as in the second. Nothing is compiled, and no kernel of a model file is run: all types
 * that the simulator can run exist from the start.
 *
 * These functions do not ask the program for workspace. If a kernel needs it, it gets a block that a second task frees,
 * or a block of the allocator that the program registered for the stream. The allocator gets that back as soon as the
 * call is queued, because work that uses it next is queued behind the call. Inputs in host memory are read during the
 * public call, which copies them to a device block that is freed in the same way (op_stage.c).
 *
 * If the kernel finds the size of an output, the call waits for it, and the program gets the size in its description.
 *
 * Each handle has its own lock; there is no other. */
#include "op_status.h"
#include "op_type.h"

#include "address/memory.h"
#include "memory/allocator.h"
#include "memory/memory_copy.h"
#include "call.h"
#include <stdlib.h>

struct handle {
    struct sim_object ha_object;
    struct sim_op_request ha_request; /* without buffers of tensors */
};

static struct sim_table handles = SIM_OBJECT_TABLE(struct handle, SIM_KIND_OP_HANDLE);

/* ---- requests ---- */

aclError sim_op_request_create(const char *type, uint32_t inputs, uint32_t outputs, struct sim_op_request *request)
{
    *request = (struct sim_op_request){.rq_type = strdup(type), .rq_input_count = inputs, .rq_output_count = outputs};
    request->rq_tensors = calloc((size_t)inputs + outputs + 1, sizeof *request->rq_tensors);
    if (request->rq_type != NULL && request->rq_tensors != NULL)
        return ACL_SUCCESS;
    sim_op_request_drop(request);
    return sim_refuse(ACL_ERROR_BAD_ALLOC, "there is no memory for %u tensors", inputs + outputs);
}

void sim_op_request_drop(struct sim_op_request *request)
{
    free(request->rq_type);
    free(request->rq_tensors);
    sim_op_attributes_drop(&request->rq_attributes);
    *request = (struct sim_op_request){0};
}

static aclError copy_request(const struct sim_op_request *from, struct sim_op_request *copy)
{
    SIM_TRY(sim_op_request_create(from->rq_type, from->rq_input_count, from->rq_output_count, copy));
    memcpy(copy->rq_tensors, from->rq_tensors,
           ((size_t)from->rq_input_count + from->rq_output_count) * sizeof *copy->rq_tensors);
    aclError code = sim_op_attributes_copy(&from->rq_attributes, &copy->rq_attributes);
    if (code != ACL_SUCCESS)
        sim_op_request_drop(copy);
    return code;
}

/* ---- reading what the program gave ---- */

static aclError check_list(const char *side, int count, const void *const *list, const char *name)
{
    SIM_ARGUMENT(count >= 0 && count <= SIM_OP_TENSORS, ACL_ERROR_INVALID_PARAM, "num%s is %d, expected 0 to %d", side,
                 count, SIM_OP_TENSORS);
    SIM_ARGUMENT(count == 0 || list != NULL, ACL_ERROR_INVALID_PARAM, "%s is NULL with num%s %d, expected an array",
                 name, side, count);
    for (int i = 0; i < count; i++)
        SIM_ARGUMENT(list[i] != NULL, ACL_ERROR_INVALID_PARAM, "%s[%d] is NULL, expected a live handle", name, i);
    return ACL_SUCCESS;
}

/* Copies the contents of an opened description. */
static aclError copy_desc(const struct sim_tensor_desc *desc, struct sim_op_tensor *tensor, const char *side, int index)
{
    const struct sim_numbers *shape = &desc->td_shape;
    tensor->ot_type = desc->td_type;
    /* A storage format in blocks says how a card arranges the elements. Here they stay in the order of the dimensions,
     * as aclnnNpuFormatCast leaves them. */
    bool is_plain = desc->td_storage_format != ACL_FORMAT_UNDEFINED && !sim_op_is_blocked(desc->td_storage_format);
    tensor->ot_format = is_plain ? desc->td_storage_format : desc->td_format;
    tensor->ot_placement = desc->td_placement;
    tensor->ot_open = !sim_tensordesc_has_rank(desc);
    if (tensor->ot_open)
        return ACL_SUCCESS;
    SIM_ARGUMENT(shape->nu_count <= SIM_OP_RANK, ACL_ERROR_INVALID_PARAM,
                 "%s[%d] has %zu dimensions, expected at most %d", side, index, shape->nu_count, SIM_OP_RANK);
    tensor->ot_rank = (uint32_t)shape->nu_count;
    for (uint32_t i = 0; i < tensor->ot_rank; i++) {
        tensor->ot_dims[i] = shape->nu_values[i];
        tensor->ot_open = tensor->ot_open || shape->nu_values[i] < 0;
    }
    tensor->ot_bytes = sim_tensordesc_bytes(desc);
    tensor->ot_constant_size = desc->td_constant_size;
    if (desc->td_constant != NULL)
        memcpy(tensor->ot_constant, desc->td_constant, sizeof tensor->ot_constant);
    return ACL_SUCCESS;
}

static aclError read_desc(const aclTensorDesc *handle, struct sim_op_tensor *tensor, const char *side, int index)
{
    struct sim_tensor_desc *desc = sim_tensordesc_open(handle);
    if (desc == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = copy_desc(desc, tensor, side, index);
    sim_object_close(desc);
    return code;
}

static aclError read_buffer(const aclDataBuffer *handle, struct sim_op_tensor *tensor)
{
    struct sim_data_buffer *buffer = sim_tensordesc_buffer_open(handle);
    if (buffer == NULL)
        return ACL_ERROR_INVALID_PARAM;
    tensor->ot_data = buffer->db_data;
    tensor->ot_size = buffer->db_size;
    sim_object_close(buffer);
    return ACL_SUCCESS;
}

static aclError read_side(const char *side, int count, const aclTensorDesc *const *descs,
                          const aclDataBuffer *const *buffers, struct sim_op_tensor *tensors)
{
    for (int i = 0; i < count; i++) {
        SIM_TRY(read_desc(descs[i], &tensors[i], side, i));
        if (buffers != NULL)
            SIM_TRY(read_buffer(buffers[i], &tensors[i]));
    }
    return ACL_SUCCESS;
}

static aclError fill_request(const struct sim_op_given *given, struct sim_op_request *request)
{
    SIM_TRY(read_side("inputs", given->gi_input_count, given->gi_input_descs, given->gi_inputs, request->rq_tensors));
    SIM_TRY(read_side("outputs", given->gi_output_count, given->gi_output_descs, given->gi_outputs,
                      sim_op_output(request, 0)));
    return given->gi_attr == NULL ? ACL_SUCCESS : sim_op_attr_copy(given->gi_attr, &request->rq_attributes);
}

aclError sim_op_check_given(const struct sim_op_given *given)
{
    SIM_ARGUMENT(given->gi_type != NULL, ACL_ERROR_INVALID_PARAM, "opType is NULL, expected the name of an operator");
    SIM_TRY(check_list("Inputs", given->gi_input_count, (const void *const *)given->gi_input_descs, "inputDesc"));
    return check_list("Outputs", given->gi_output_count, (const void *const *)given->gi_output_descs, "outputDesc");
}

/* Which tensors have buffers. */
enum buffers { NO_BUFFERS, INPUT_BUFFERS, ALL_BUFFERS };

static aclError read_request(const struct sim_op_given *given, enum buffers buffers, struct sim_op_request *request)
{
    int in = given->gi_input_count, out = given->gi_output_count;
    SIM_TRY(sim_op_check_given(given));
    if (buffers != NO_BUFFERS)
        SIM_TRY(check_list("Inputs", in, (const void *const *)given->gi_inputs, "inputs"));
    if (buffers == ALL_BUFFERS)
        SIM_TRY(check_list("Outputs", out, (const void *const *)given->gi_outputs, "outputs"));
    SIM_TRY(sim_op_request_create(given->gi_type, (uint32_t)in, (uint32_t)out, request));
    aclError code = fill_request(given, request);
    if (code != ACL_SUCCESS)
        sim_op_request_drop(request);
    return code;
}

/* ---- running ---- */

/* Converts a code of the first phase to one of single operators. The message before this one gives the reason. */
static aclError explain(aclnnStatus code, const struct sim_op_request *request, const struct sim_row *row)
{
    if (code == ACLNN_ERR_INNER)
        return sim_refuse(ACL_ERROR_BAD_ALLOC, "there is no memory to call %s", request->rq_type);
    if (code == ACLNN_ERR_INNER_FIND_KERNEL_ERROR)
        return sim_refuse(ACL_ERROR_OP_NOT_FOUND,
                          "%s is run by the kernel of %s, which the simulator does not have: register one with "
                          "acl.sim.kernel(\"%s\") or aclsimRegisterKernel", request->rq_type, row->ro_op.op_name,
                          row->ro_op.op_name);
    return sim_refuse(ACL_ERROR_OP_NOT_FOUND,
                      "operator %s does not accept these tensors and attributes: the message before this one says what "
                      "%s expected", request->rq_type, row->ro_op.op_name);
}

struct planned {
    struct sim_op_binding pl_binding;
    struct sim_pack pl_pack;
    uint64_t pl_workspace;
};

/* Binds, packs and plans. The caller drops the plan in any case. */
static aclError plan(const struct sim_op_request *request, struct planned *planned)
{
    struct sim_pack *pack = &planned->pl_pack;
    *planned = (struct planned){0};
    SIM_TRY(sim_op_bind(request, &planned->pl_binding));
    const struct sim_op_binding *binding = &planned->pl_binding;
    aclnnStatus status = sim_row_check_call(binding->bi_row, binding->bi_values);
    if (status == ACL_SUCCESS)
        status = sim_call_pack(pack, binding->bi_row, binding->bi_values);
    if (status == ACL_SUCCESS)
        status = sim_row_plan_call(pack->pk_call, &planned->pl_workspace);
    if (status == ACL_SUCCESS)
        status = sim_row_keep_handles(pack);
    return status == ACL_SUCCESS ? ACL_SUCCESS : explain(status, request, binding->bi_row);
}

static void drop_plan(struct planned *planned)
{
    sim_call_drop(&planned->pl_pack);
    sim_op_unbind(&planned->pl_binding);
}

/* Makes the checks of a submission. */
static aclError check(const struct sim_op_request *request)
{
    struct planned planned;
    if (sim_op_status_is(request))
        return sim_op_status_check(request);
    aclError code = plan(request, &planned);
    drop_plan(&planned);
    return code;
}

static aclError check_buffers(const char *side, const struct sim_op_tensor *tensors, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_op_tensor *tensor = &tensors[i];
        SIM_ARGUMENT(tensor->ot_size >= tensor->ot_bytes, ACL_ERROR_INVALID_PARAM,
                     "%s[%u] has %zu bytes, expected at least the %llu of its description", side, i, tensor->ot_size,
                     (unsigned long long)tensor->ot_bytes);
    }
    return ACL_SUCCESS;
}

static aclError give_back(struct sim_run *run, void *argument)
{
    (void)run;
    void *block = *(void **)argument;
    if (sim_memory_engine(block) != NULL) /* otherwise the device was reset */
        sim_memory_release(block, NULL);
    return ACL_SUCCESS;
}

static void give_back_unrun(void *argument)
{
    give_back(NULL, argument);
}

static const struct sim_op give_back_op = {.op_name = "aclopExecuteV2", .op_run = give_back,
                                           .op_drop = give_back_unrun, .op_flags = SIM_OP_LIGHT,
                                           .op_kind = SIM_TASK_OTHER};

static aclError submit_call(const struct sim_pack *pack, struct sim_target target, void *workspace, void *site)
{
    const struct sim_call *call = pack->pk_call;
    aclError code = sim_call_place(pack, workspace);
    if (code != ACL_SUCCESS) /* the message with the reason was already recorded */
        return code == ACLNN_ERR_PARAM_INVALID ? ACL_ERROR_INVALID_PARAM : code;
    return sim_engine_submit(target, &call->ca_row->ro_op, call, call->ca_size, site, NULL);
}

static aclError submit_with(const struct sim_allocator *allocator, const struct sim_pack *pack,
                            struct sim_target target, uint64_t workspace, void *site)
{
    struct sim_allocated taken;
    SIM_TRY(sim_allocator_take(allocator, workspace, &taken));
    aclError code = submit_call(pack, target, taken.ac_address, site);
    sim_allocator_give(allocator, &taken);
    return code;
}

/* Submits the call and, if it has workspace, the task that frees it. If that task cannot be queued, the workspace is
 * freed here; a call that is queued already then fails. */
static aclError submit_pack(const struct sim_pack *pack, struct sim_target target, uint64_t workspace, void *site)
{
    void *block;
    if (workspace == 0)
        return submit_call(pack, target, NULL, site);
    SIM_SUPPORTED(sim_stream_taken(target.tg_stream) == SIM_TAKEN_NOT,
                  "%s needs %llu bytes of workspace, which a captured single operator cannot have: capture its two "
                  "phases instead", pack->pk_call->ca_row->ro_op.op_name, (unsigned long long)workspace);
    struct sim_allocator allocator;
    if (sim_allocator_find(target.tg_handle, &allocator))
        return submit_with(&allocator, pack, target, workspace, site);
    SIM_TRY(sim_memory_take(&block, workspace));
    aclError code = submit_call(pack, target, block, site);
    if (code == ACL_SUCCESS)
        code = sim_engine_submit(target, &give_back_op, &block, sizeof block, site, NULL);
    if (code != ACL_SUCCESS)
        give_back(NULL, &block);
    return code;
}

/* Submits the call, and a task that frees the copies. */
static aclError submit_staged(const struct sim_op_request *request, const struct sim_pack *pack,
                              struct sim_target target, uint64_t workspace, void *site)
{
    void *block;
    SIM_TRY(sim_op_stage(request, pack, target, &block));
    aclError code = submit_pack(pack, target, workspace, site);
    if (block == NULL)
        return code;
    if (code == ACL_SUCCESS)
        code = sim_engine_submit(target, &give_back_op, &block, sizeof block, site, NULL);
    if (code != ACL_SUCCESS)
        give_back(NULL, &block);
    return code;
}

/* ---- outputs whose size the kernel finds ---- */

/* Whether a tensor of the call lies in the output. Its dimensions become those of the output. */
static bool take_dims(const void *handle, struct sim_op_tensor *output)
{
    struct sim_tensor *tensor;
    if (sim_tensor_open(handle, "out", &tensor) != ACL_SUCCESS)
        return false;
    bool same = tensor->te_data == output->ot_data && tensor->te_rank <= SIM_OP_RANK;
    if (same) {
        output->ot_rank = (uint32_t)tensor->te_rank;
        memcpy(output->ot_dims, sim_tensor_dims(tensor), output->ot_rank * sizeof *output->ot_dims);
    }
    sim_object_close(tensor);
    return same;
}

/* Waits for the call, and takes the dimensions that its kernel has set. */
static aclError find_sizes(struct sim_op_request *request, const struct planned *planned, struct sim_target target)
{
    const struct sim_op_binding *binding = &planned->pl_binding;
    SIM_TRY(sim_memory_wait_for_work(target));
    for (uint32_t i = 0; i < request->rq_output_count; i++)
        for (size_t k = 0; k < binding->bi_row->ro_count; k++)
            if (binding->bi_row->ro_parameters[k].pa_direction == ACLSIM_OUT &&
                binding->bi_row->ro_parameters[k].pa_kind == ACLSIM_TENSOR &&
                take_dims(binding->bi_values[k].va_pointer, sim_op_output(request, i)))
                break;
    return ACL_SUCCESS;
}

/* Without `sized`, the caller has no place for dimensions that the kernel finds. */
static aclError submit(struct sim_op_request *request, aclrtStream stream, bool *sized, void *site)
{
    struct sim_target target;
    struct planned planned;
    sim_op_stage_constants(request);
    SIM_TRY(check_buffers("inputs", request->rq_tensors, request->rq_input_count));
    SIM_TRY(check_buffers("outputs", sim_op_output(request, 0), request->rq_output_count));
    SIM_TRY(sim_stream_own(stream, &target));
    if (sim_op_status_is(request)) {
        SIM_TRY(sim_op_status_check(request));
        return sim_op_status_submit(request, target, site);
    }
    aclError code = plan(request, &planned);
    bool resizes = code == ACL_SUCCESS && planned.pl_pack.pk_call->ca_resizes;
    if (resizes && (sized == NULL || sim_stream_taken(target.tg_stream) != SIM_TAKEN_NOT))
        code = sim_refuse(ACL_ERROR_OP_NOT_FOUND, "%s finds the size of its output when it runs, expected "
                          "aclopExecuteV2 or aclopCompileAndExecuteV2 on a stream that is not captured",
                          request->rq_type);
    if (code == ACL_SUCCESS && !sim_call_writes_nothing(&planned.pl_pack))
        code = submit_staged(request, &planned.pl_pack, target, planned.pl_workspace, site);
    if (code == ACL_SUCCESS && resizes) {
        code = find_sizes(request, &planned, target);
        *sized = true;
    }
    drop_plan(&planned);
    return code;
}

aclError sim_op_submit(struct sim_op_request *request, aclrtStream stream, void *site)
{
    return submit(request, stream, NULL, site);
}

/* ---- the public functions ---- */

static aclError tell_shape(const struct sim_op_tensor *tensor, const aclTensorDesc *handle)
{
    struct sim_tensor_desc *desc = sim_tensordesc_open(handle);
    if (desc == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = sim_tensordesc_numbers_set(&desc->td_shape, tensor->ot_dims, tensor->ot_rank);
    sim_object_close(desc);
    return code;
}

static aclError tell_shapes(const struct sim_op_given *given, const struct sim_op_request *request)
{
    for (uint32_t i = 0; i < request->rq_output_count; i++)
        SIM_TRY(tell_shape(sim_op_output(request, i), given->gi_output_descs[i]));
    return ACL_SUCCESS;
}

aclError sim_op_execute(const struct sim_op_given *given, aclrtStream stream, void *site)
{
    struct sim_op_request request;
    SIM_TRY(read_request(given, ALL_BUFFERS, &request));
    bool open = false;
    for (uint32_t i = 0; i < request.rq_output_count; i++)
        open = open || sim_op_output(&request, i)->ot_open;
    aclError code = open ? sim_op_shape(&request) : ACL_SUCCESS;
    bool sized = open;
    if (code == ACL_SUCCESS)
        code = submit(&request, stream, given->gi_tells ? &sized : NULL, site);
    if (code == ACL_SUCCESS && sized)
        code = tell_shapes(given, &request);
    sim_op_request_drop(&request);
    return code;
}

/* Inputs in host memory are checked only when the operator is executed. */
static aclError refuse_host(const struct sim_op_request *request)
{
    for (uint32_t i = 0; i < request->rq_input_count + request->rq_output_count; i++)
        SIM_ARGUMENT(request->rq_tensors[i].ot_placement != ACL_MEMTYPE_HOST, ACL_ERROR_API_NOT_SUPPORT,
                     "tensor %u is described as one in host memory, expected device memory or a constant", i);
    return ACL_SUCCESS;
}

static aclError prepare(const struct sim_op_given *given, struct sim_op_request *request)
{
    SIM_TRY(read_request(given, NO_BUFFERS, request));
    aclError code = refuse_host(request);
    if (code == ACL_SUCCESS)
        code = sim_op_shape(request);
    if (code == ACL_SUCCESS)
        code = check(request);
    if (code != ACL_SUCCESS)
        sim_op_request_drop(request);
    return code;
}

aclError sim_op_check_flag(aclopCompileType flag, const char *path)
{
    SIM_ARGUMENT(flag == ACL_COMPILE_SYS || flag == ACL_COMPILE_UNREGISTERED, ACL_ERROR_API_NOT_SUPPORT,
                 "compileFlag is %d, expected ACL_COMPILE_SYS (0) or ACL_COMPILE_UNREGISTERED (1)", (int)flag);
    SIM_ARGUMENT(flag == ACL_COMPILE_SYS || path != NULL, ACL_ERROR_INVALID_PARAM,
                 "opPath is NULL with ACL_COMPILE_UNREGISTERED, expected the path of the operator's code");
    return ACL_SUCCESS;
}

/* An operator that does not exist is reported as one that could not be compiled. */
static aclError as_compiled(aclError code, const char *type)
{
    bool mismatch = (code >= ACL_ERROR_OP_TYPE_NOT_MATCH && code <= ACL_ERROR_OP_NOT_FOUND) ||
                    code == ACL_ERROR_OP_UNSUPPORTED_DYNAMIC;
    SIM_ARGUMENT(!mismatch, ACL_ERROR_GE_FAILURE, "%s cannot be compiled: the message before this one says why", type);
    return code;
}

aclError sim_op_compile(const struct sim_op_given *given)
{
    struct sim_op_request request;
    aclError code = prepare(given, &request);
    if (code == ACL_SUCCESS)
        sim_op_request_drop(&request);
    return as_compiled(code, given->gi_type);
}

aclError sim_op_compile_and_execute(const struct sim_op_given *given, aclrtStream stream, void *site)
{
    return as_compiled(sim_op_execute(given, stream, site), given->gi_type);
}

static aclError infer(const struct sim_op_given *given, struct sim_op_request *request)
{
    for (uint32_t i = 0; i < request->rq_output_count; i++) {
        struct sim_op_tensor *output = sim_op_output(request, i);
        output->ot_open = true;
        if (output->ot_type == ACL_DT_UNDEFINED && request->rq_input_count != 0)
            output->ot_type = request->rq_tensors[0].ot_type;
    }
    /* If the runtime runs on a host, all inputs of this function are in host memory, whatever their descriptions
     * say. */
    for (uint32_t i = 0; i < request->rq_input_count; i++)
        if (request->rq_tensors[i].ot_data != NULL && sim_memory_is_host(request->rq_tensors[i].ot_data))
            request->rq_tensors[i].ot_placement = ACL_MEMTYPE_HOST;
    SIM_TRY(sim_op_shape(request));
    SIM_TRY(check(request));
    return tell_shapes(given, request);
}

aclError sim_op_infer(const struct sim_op_given *given)
{
    struct sim_op_request request;
    SIM_TRY(read_request(given, INPUT_BUFFERS, &request));
    aclError code = infer(given, &request);
    sim_op_request_drop(&request);
    return code;
}

/* ---- handles ---- */

aclError sim_op_handle_keep(struct sim_op_request *request, aclopHandle **handle)
{
    uint64_t value;
    struct handle *kept = sim_object_take(&handles, &value);
    if (kept == NULL) {
        sim_op_request_drop(request);
        return ACL_ERROR_BAD_ALLOC;
    }
    kept->ha_request = *request;
    *handle = sim_object_publish(kept, value);
    return ACL_SUCCESS;
}

aclError sim_op_handle_create(const struct sim_op_given *given, aclopHandle **handle)
{
    struct sim_op_request request;
    SIM_TRY(prepare(given, &request));
    return sim_op_handle_keep(&request, handle);
}

static void destroy_handle(void *object)
{
    struct handle *handle = object;
    sim_op_request_drop(&handle->ha_request);
    sim_object_end(&handles, handle);
}

void sim_op_handle_destroy(const aclopHandle *handle)
{
    struct handle *found = sim_object_open(&handles, handle, "handle", ACL_ERROR_INVALID_PARAM);
    if (found != NULL)
        destroy_handle(found);
}

static aclError copy_handle(const aclopHandle *handle, struct sim_op_request *request)
{
    struct handle *found = sim_object_open(&handles, handle, "handle", ACL_ERROR_INVALID_PARAM);
    if (found == NULL)
        return ACL_ERROR_INVALID_PARAM;
    aclError code = copy_request(&found->ha_request, request);
    sim_object_close(found);
    return code;
}

static aclError set_buffers(struct sim_op_request *request, int inputs, const aclDataBuffer *const *input_buffers,
                            int outputs, const aclDataBuffer *const *output_buffers)
{
    SIM_ARGUMENT((uint32_t)inputs == request->rq_input_count, ACL_ERROR_OP_INPUT_NOT_MATCH,
                 "numInputs is %d, expected %u, as the handle was created", inputs, request->rq_input_count);
    SIM_ARGUMENT((uint32_t)outputs == request->rq_output_count, ACL_ERROR_OP_OUTPUT_NOT_MATCH,
                 "numOutputs is %d, expected %u, as the handle was created", outputs, request->rq_output_count);
    for (int i = 0; i < inputs; i++)
        SIM_TRY(read_buffer(input_buffers[i], &request->rq_tensors[i]));
    for (int i = 0; i < outputs; i++)
        SIM_TRY(read_buffer(output_buffers[i], sim_op_output(request, (uint32_t)i)));
    return ACL_SUCCESS;
}

aclError sim_op_handle_execute(const aclopHandle *handle, int inputs, const aclDataBuffer *const *input_buffers,
                               int outputs, const aclDataBuffer *const *output_buffers, aclrtStream stream, void *site)
{
    struct sim_op_request request;
    SIM_TRY(check_list("Inputs", inputs, (const void *const *)input_buffers, "inputs"));
    SIM_TRY(check_list("Outputs", outputs, (const void *const *)output_buffers, "outputs"));
    SIM_TRY(copy_handle(handle, &request));
    aclError code = set_buffers(&request, inputs, input_buffers, outputs, output_buffers);
    if (code == ACL_SUCCESS)
        code = sim_op_submit(&request, stream, site);
    sim_op_request_drop(&request);
    return code;
}

/* ---- the end of everything ---- */

void sim_op_reset(void)
{
    sim_object_destroy_all(&handles, destroy_handle);
    sim_op_attr_reset();
    sim_op_user_reset();
    sim_op_custom_reset();
}

void sim_op_after_fork(void)
{
    sim_table_empty(&handles);
    sim_op_attr_after_fork();
    sim_op_user_after_fork();
    sim_op_custom_after_fork();
}
