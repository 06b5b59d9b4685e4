/* Dumps of tensors that the program passes itself. Those of aclDumpOpTensors become a task that owns the
 * descriptions, with their bytes as its ranges; the plan in force when it runs decides whether and where they are
 * written. Those of acldumpSaveExceptionInfo are written at once. This file has no state and no lock. */
#include "address/memory.h"
#include "model/model_signature.h"
#include "operator/call.h"
#include "dump.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TENSORS_MOST 1024
#define TEXT_BYTES 64

/* The tensors follow the ranges. A tensor without elements has an empty range. */
struct request {
    char re_type[TEXT_BYTES], re_name[TEXT_BYTES];
    uint32_t re_inputs, re_count;
    struct sim_range re_ranges[];
};

static aclsimTensor *tensors_of(const struct request *request)
{
    return (aclsimTensor *)(uintptr_t)(request->re_ranges + request->re_count);
}

static const struct sim_range *ranges_of_request(const void *argument, size_t *count)
{
    const struct request *request = argument;
    *count = request->re_count;
    return request->re_ranges;
}

static aclError run_request(struct sim_run *run, void *argument)
{
    const struct request *request = argument;
    const struct sim_dump_names names = {request->re_type, request->re_name, tensors_of(request), request->re_inputs,
                                         request->re_count};
    sim_dump_named(run, &names);
    return ACL_SUCCESS;
}

static const struct sim_op request_op = {.op_name = "aclDumpOpTensors", .op_run = run_request,
                                         .op_ranges = ranges_of_request, .op_flags = SIM_OP_KERNEL,
                                         .op_kind = SIM_TASK_OTHER};

/* Reads one tensor and claims its bytes. */
static aclnnStatus place(const aclTensor *handle, const char *name, struct sim_range *range, aclsimTensor *seen)
{
    struct sim_tensor *tensor;
    struct sim_operand operand = {0};
    SIM_TRY(sim_tensor_open(handle, name, &tensor));
    aclnnStatus code = sim_call_view(tensor, name, seen, &operand);
    sim_object_close(tensor);
    SIM_TRY(code);
    char *low = (char *)((uintptr_t)operand.od_data + (uintptr_t)operand.od_low);
    *range = (struct sim_range){.rg_address = low, .rg_size = operand.od_bytes};
    if (operand.od_bytes == 0)
        return ACL_SUCCESS;
    if (sim_memory_claim(range, name) != ACL_SUCCESS)
        return ACLNN_ERR_RUNTIME_ERROR;
    seen->data = (char *)sim_memory_reach(low) + (operand.od_first - operand.od_low);
    return ACL_SUCCESS;
}

static aclnnStatus fill(struct request *request, const struct sim_dump_tensors *given)
{
    snprintf(request->re_type, TEXT_BYTES, "%s", given->dt_type);
    snprintf(request->re_name, TEXT_BYTES, "%s", given->dt_name);
    request->re_inputs = (uint32_t)given->dt_inputs;
    request->re_count = (uint32_t)given->dt_count;
    for (uint32_t i = 0; i < request->re_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "tensors[%u]", i);
        SIM_TRY(place(given->dt_tensors[i], name, &request->re_ranges[i], &tensors_of(request)[i]));
    }
    return ACL_SUCCESS;
}

aclnnStatus sim_dump_tensors(const struct sim_dump_tensors *given, aclrtStream stream, void *site)
{
    struct sim_target target;
    SIM_ARGUMENT(given->dt_count != 0 && given->dt_count <= TENSORS_MOST, ACLNN_ERR_PARAM_INVALID,
                 "inputTensorNum and outputTensorNum are %zu together, expected 1 to %d", given->dt_count,
                 TENSORS_MOST);
    if (sim_stream_own(stream, &target) != ACL_SUCCESS)
        return ACLNN_ERR_RUNTIME_ERROR;
    size_t size = sizeof(struct request) + given->dt_count * (sizeof(struct sim_range) + sizeof(aclsimTensor));
    struct request *request = calloc(1, size);
    SIM_ARGUMENT(request != NULL, ACLNN_ERR_INNER, "there is no memory for %zu tensors", given->dt_count);
    aclnnStatus code = fill(request, given);
    if (code == ACL_SUCCESS && sim_engine_submit(target, &request_op, request, size, site, NULL) != ACL_SUCCESS)
        code = ACLNN_ERR_RUNTIME_ERROR;
    free(request);
    return code;
}

/* ---- failures ---- */

static aclError check_info(const acldumpTensorInfo *info, size_t index)
{
    SIM_ARGUMENT((unsigned)info->type <= ACL_DUMP_TENSOR_WORKSPACE, ACL_ERROR_INVALID_PARAM,
                 "type of tensors[%zu] is %d, expected 0 to 2", index, (int)info->type);
    SIM_ARGUMENT((unsigned)info->placement < ACL_DUMP_PLACEMENT_END, ACL_ERROR_INVALID_PARAM,
                 "placement of tensors[%zu] is %d, expected 0 (device) or 1 (host)", index, (int)info->placement);
    SIM_ARGUMENT((unsigned)info->addrType <= ACL_DUMP_ADDR_RAW, ACL_ERROR_INVALID_PARAM,
                 "addrType of tensors[%zu] is %d, expected 0 to 2", index, (int)info->addrType);
    SIM_SUPPORTED(info->addrType == ACL_DUMP_ADDR_RAW,
                  "addrType of tensors[%zu] is %d, expected ACL_DUMP_ADDR_RAW (2): tensorAddr is the address of the "
                  "data",
                  index, (int)info->addrType);
    SIM_ARGUMENT(info->shapeNum <= ACL_DUMP_MAX_SHAPE_NUM, ACL_ERROR_INVALID_PARAM,
                 "shapeNum of tensors[%zu] is %u, expected at most %d", index, info->shapeNum, ACL_DUMP_MAX_SHAPE_NUM);
    SIM_ARGUMENT(info->tensorAddr != NULL && info->tensorSize != 0, ACL_ERROR_INVALID_PARAM,
                 "tensorAddr of tensors[%zu] is %p with tensorSize %zu, expected memory", index,
                 (void *)info->tensorAddr, info->tensorSize);
    bool on_host = sim_memory_is_host(info->tensorAddr);
    SIM_ARGUMENT(on_host == (info->placement == ACL_DUMP_PLACEMENT_HOST), ACL_ERROR_INVALID_PARAM,
                 "tensorAddr of tensors[%zu] is %p, expected memory of the %s, as placement says", index,
                 (void *)info->tensorAddr, info->placement == ACL_DUMP_PLACEMENT_HOST ? "host" : "device");
    struct sim_range range = {.rg_address = info->tensorAddr, .rg_size = info->tensorSize};
    SIM_ARGUMENT(on_host || sim_memory_try_claim(&range), ACL_ERROR_INVALID_PARAM,
                 "tensorAddr of tensors[%zu] is %p with tensorSize %zu, which is not inside a live block", index,
                 (void *)info->tensorAddr, info->tensorSize);
    return ACL_SUCCESS;
}

/* The tensor, if its size fits its shape and type; otherwise its bytes. */
static aclsimTensor view_of(const acldumpTensorInfo *info)
{
    int64_t dims[8];
    uint32_t rank = info->shapeNum <= 8 ? info->shapeNum : 0;
    for (uint32_t i = 0; i < rank; i++)
        dims[i] = (int64_t)info->shape[i];
    aclsimTensor tensor = {
        .data = sim_memory_reach(info->tensorAddr), .type = (aclDataType)info->dataType, .rank = rank};
    if (rank == 0 || sim_type_bits(tensor.type) == 0 ||
        sim_model_shape_bytes(tensor.type, dims, rank) != info->tensorSize) {
        tensor.type = ACL_UINT8;
        tensor.rank = 1;
        dims[0] = (int64_t)info->tensorSize;
    }
    memcpy(tensor.dims, dims, tensor.rank * sizeof *dims);
    sim_model_shape_strides(dims, tensor.rank, tensor.strides);
    return tensor;
}

/* The time in the names of one call's files, so that a later call does not replace them. */
static void stamp(char text[32])
{
    struct timespec now;
    struct tm parts;
    char seconds[20];
    clock_gettime(CLOCK_REALTIME, &now);
    strftime(seconds, sizeof seconds, "%Y%m%d%H%M%S", localtime_r(&now.tv_sec, &parts));
    snprintf(text, 32, "%s%03d", seconds, (int)(now.tv_nsec / 1000000));
}

/* `stem` begins the names of all files of one call. */
static aclError write_tensors(const char *directory, const char *stem, const acldumpTensorInfo *tensors, size_t count)
{
    static const char *const kinds[] = {"input", "output", "workspace"};
    size_t numbers[3] = {0};
    for (size_t i = 0; i < count; i++) {
        char name[512];
        size_t size;
        aclsimTensor tensor = view_of(&tensors[i]);
        void *content = sim_dump_array(&tensor, &size);
        SIM_ARGUMENT(content != NULL, ACL_ERROR_BAD_ALLOC, "there is no memory for the %zu bytes of tensors[%zu]",
                     tensors[i].tensorSize, i);
        snprintf(name, sizeof name, "%s.%s.%zu.npy", stem, kinds[tensors[i].type], numbers[tensors[i].type]++);
        bool written = sim_dump_deliver(directory, name, content, size);
        free(content);
        SIM_ARGUMENT(written, ACL_ERROR_INVALID_FILE, "fileName gives %s, which cannot be written in %s: %s", name,
                     directory, strerror(errno));
    }
    return ACL_SUCCESS;
}

aclError sim_dump_exception(const char *file, const char *tag, const acldumpTensorInfo *tensors, size_t count)
{
    char directory[SIM_DUMP_PATH + 64 + SIM_DUMP_FILE], stem[400], clean[64], time[32];
    SIM_TRY(sim_dump_exception_path(directory, SIM_DUMP_PATH + 64));
    for (size_t i = 0; i < count; i++)
        SIM_TRY(check_info(&tensors[i], i));
    const char *base = strrchr(file, '/');
    base = base != NULL ? base + 1 : file;
    strncat(directory, file, (size_t)(base - file));
    directory[strlen(directory) - 1] = '\0'; /* removes the "/" at the end */
    sim_dump_clean(tag != NULL ? tag : "", clean);
    stamp(time);
    snprintf(stem, sizeof stem, "%.255s.custom.%s%s%s", base, time, *clean != '\0' ? "." : "", clean);
    return write_tensors(directory, stem, tensors, count);
}
