/* This file prints an instance: as lines of the log, and as a JSON trace for trace viewers.
 *
 * The trace has one object per task, stream by stream. Its times are not measured: they only show the order of the
 * tasks. In a verbose trace "ExtendInfo" names the bytes that a task touches: R<address>+<size> for reading, W for
 * writing, unless the program attached its own text to the task (aclrtCacheLastTaskExtendInfo).
 *
 * The instance's lock is held while it is printed. */
#include "base/config.h"
#include "base/log.h"
#include "base/output.h"
#include "engine/device.h"
#include "kernel/kernel.h"
#include "capture_inner.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const sim_capture_task_names[] = {
    [SIM_TASK_CUBE] = "KERNEL_AICORE",
    [SIM_TASK_VECTOR] = "KERNEL_AIVEC",
    [SIM_TASK_HOST_KERNEL] = "KERNEL_AICPU",
    [SIM_TASK_COPY] = "MEMCPY_ASYNC",
    [SIM_TASK_SET] = "MEMCPY_ASYNC_SET", /* the vendor's documentation has no name for sets */
    [SIM_TASK_CALLBACK] = "HOSTFUNC_CALLBACK",
    [SIM_TASK_RECORD] = "EVENT_RECORD",
    [SIM_TASK_WAIT] = "EVENT_WAIT",
    [SIM_TASK_FLAG_RECORD] = "EVENT_RECORD",
    [SIM_TASK_FLAG_WAIT] = "EVENT_WAIT",
    [SIM_TASK_RESET] = "EVENT_RESET",
    [SIM_TASK_EXTERNAL_RECORD] = "CAPTURE_RECORD_EXTERNAL",
    [SIM_TASK_EXTERNAL_WAIT] = "CAPTURE_WAIT_EXTERNAL",
    [SIM_TASK_CONDITION] = "CONDITION_OP",
    [SIM_TASK_ACTIVE] = "STREAM_ACTIVE",
    [SIM_TASK_NOTIFY_RECORD] = "NOTIFY_RECORD",
    [SIM_TASK_NOTIFY_WAIT] = "NOTIFY_WAIT",
    [SIM_TASK_VALUE_WRITE] = "MEM_WRITE_VALUE",
    [SIM_TASK_VALUE_WAIT] = "MEM_WAIT_VALUE",
    [SIM_TASK_RANDOM] = "RANDOM_NUM", /* not in the vendor's documentation either */
    [SIM_TASK_LABEL] = "LABEL_SET",
    [SIM_TASK_SWITCH] = "STREAM_SWITCH",
    [SIM_TASK_MODEL] = "MODEL_EXECUTE",
    [SIM_TASK_OTHER] = "NOP",
};

/* In a captured instance, a wait for a flag event waits for work outside of it. */
static const char *type_of(const struct sim_captured *captured)
{
    bool outside = captured->ct_kind == SIM_TASK_FLAG_WAIT && !captured->ct_in_built;
    return outside ? "EXTERNAL_EVENT_WAIT" : sim_capture_task_names[captured->ct_kind];
}

static bool is_kernel(const struct sim_captured *captured)
{
    return captured->ct_kind <= SIM_TASK_HOST_KERNEL;
}

static bool has_event(const struct sim_captured *captured)
{
    return captured->ct_kind >= SIM_TASK_RECORD && captured->ct_kind <= SIM_TASK_EXTERNAL_WAIT;
}

/* ---- the log ---- */

static void __attribute__((format(printf, 1, 2))) write_line(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    sim_log_write(ACL_INFO, sim_thread.th_function, __FILE__, __LINE__, format, arguments);
    va_end(arguments);
}

static void log_tasks(const struct sim_branch *branch, int device, uint32_t model)
{
    for (uint32_t i = 0; i < branch->br_count; i++) {
        const struct sim_captured *captured = &branch->br_tasks[i];
        char event[32] = "";
        if (has_event(captured))
            snprintf(event, sizeof event, ", event_id=%u", captured->ct_shadow);
        write_line("device_id=%d, model_id=%u, stream_id=%u, task_id=%u, task_type=%s%s%s", device, model,
                   branch->br_stream.tg_stream->st_slot.sl_index, i, type_of(captured), event,
                   is_kernel(captured) ? ", mix_type=NO_MIX" : "");
    }
}

static void log_instance(const struct sim_instance *instance)
{
    int device = instance->in_context->cx_device->dv_id;
    uint32_t model = instance->in_object.ob_slot.sl_index;
    if (!sim_log_is_on(ACL_INFO))
        return;
    write_line("model running instance begins: device_id=%d, model_id=%u", device, model);
    for (uint32_t i = 0; i < instance->in_branch_count; i++)
        log_tasks(instance->in_branches[i], device, model);
    for (const struct sim_group *group = instance->in_groups; group != NULL; group = group->gr_next)
        if (group->gr_count != 0)
            write_line("task group: stream_id=%u, first_task_id=%u, last_task_id=%u",
                       group->gr_branch->br_stream.tg_stream->st_slot.sl_index, group->gr_first,
                       group->gr_first + group->gr_count - 1);
    write_line("model running instance ends: device_id=%d, model_id=%u", device, model);
}

aclError sim_capture_print(aclmdlRI handle)
{
    struct sim_instance *instance;
    SIM_TRY(sim_capture_instance_open(handle, &instance));
    log_instance(instance);
    sim_object_close(instance);
    return ACL_SUCCESS;
}

/* ---- the trace ---- */

struct writer {
    FILE *wr_file;
    const struct sim_instance *wr_instance;
    bool wr_verbose;
    bool wr_any; /* an object was written, so that the next one needs a comma */
};

static void write_times(struct writer *writer, const struct sim_captured *captured, double *at)
{
    const char *type = type_of(captured);
    double duration = 9.5, step = 10;
    bool classic = sim_config()->cf_soc->so_profile != SIM_P950;
    if (classic && strcmp(type, "NOP") == 0)
        duration = 0.5, step = 1;
    else if (classic && strstr(type, "RECORD") != NULL)
        duration = 4.5, step = 5;
    else if (classic && strstr(type, "WAIT") != NULL)
        duration = 14.5, step = 15;
    fprintf(writer->wr_file, ",\"ts\":%.15g,\"dur\":%.15g", *at, duration);
    *at += step;
}

/* Writes a kernel launch with the program's arguments; arguments in device memory appear as their address. */
static void write_launch(struct writer *writer, const struct sim_kernel_view *view)
{
    FILE *file = writer->wr_file;
    const uint64_t address = (uint64_t)(uintptr_t)view->kv_args;
    const void *words = view->kv_is_host ? view->kv_args : &address;
    size_t size = view->kv_is_host ? view->kv_args_size : sizeof address;
    const aclrtLaunchKernelAttrValue *mode =
        sim_kernel_attribute(view->kv_attributes, view->kv_attribute_count, ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE);
    fprintf(file, ",\"Numblocks\":%u", view->kv_blocks);
    if (mode != NULL)
        fprintf(file, ",\"Schem Mode\":%u", mode->schemMode);
    if (!writer->wr_verbose)
        return;
    fputs(",\"Kernel Args\":\"", file);
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)words + at, size - at < sizeof word ? size - at : sizeof word);
        fprintf(file, "%s0x%016" PRIx64, at != 0 ? " " : "", word);
    }
    fprintf(file, "\",\"Kernel Args Size\":%zu", view->kv_args_size);
}

static void write_kernel(struct writer *writer, const struct sim_captured *captured)
{
    size_t count;
    struct sim_kernel_view view;
    if (sim_kernel_view(captured->ct_task.ta_op, sim_captured_argument(captured), &view)) {
        write_launch(writer, &view);
        return;
    }
    const struct sim_range *ranges = sim_captured_ranges(captured, &count);
    fputs(",\"Numblocks\":1", writer->wr_file);
    if (!writer->wr_verbose)
        return;
    fputs(",\"Kernel Args\":\"", writer->wr_file);
    for (size_t i = 0; i < count; i++)
        fprintf(writer->wr_file, "%s0x%016" PRIx64, i != 0 ? " " : "", (uint64_t)(uintptr_t)ranges[i].rg_address);
    fprintf(writer->wr_file, "\",\"Kernel Args Size\":%zu", count * sizeof(uint64_t));
}

static void write_text(FILE *file, const char *text)
{
    fputs(",\"ExtendInfo\":\"", file);
    sim_output_text(file, text);
    fputc('"', file);
}

static void write_ranges(struct writer *writer, const struct sim_captured *captured)
{
    size_t count;
    const struct sim_range *ranges = sim_captured_ranges(captured, &count);
    if (!writer->wr_verbose || count == 0)
        return;
    fputs(",\"ExtendInfo\":\"", writer->wr_file);
    for (size_t i = 0; i < count; i++)
        fprintf(writer->wr_file, "%s%c0x%" PRIx64 "+%" PRIu64, i != 0 ? " " : "", ranges[i].rg_write ? 'W' : 'R',
                (uint64_t)(uintptr_t)ranges[i].rg_address, ranges[i].rg_size);
    fputc('"', writer->wr_file);
}

static void write_task(struct writer *writer, const struct sim_branch *branch, uint32_t index, double *at)
{
    FILE *file = writer->wr_file;
    const struct sim_captured *captured = &branch->br_tasks[index];
    const struct sim_op *op = captured->ct_task.ta_op;
    uint32_t stream = branch->br_stream.tg_stream->st_slot.sl_index;
    fprintf(file, "%s\n{\"name\":\"", writer->wr_any ? "," : "");
    if (op->op_print != NULL)
        op->op_print(sim_captured_argument(captured), file);
    else
        fputs(is_kernel(captured) ? op->op_name : type_of(captured), file);
    writer->wr_any = true;
    if (has_event(captured))
        fprintf(file, "_%u", captured->ct_shadow);
    if (op->op_number != NULL)
        fprintf(file, "_%" PRIu64, op->op_number(captured->ct_task.ta_argument));
    fprintf(file, "\",\"pid\":\"%d aclGraph\",\"tid\":\"stream%u\"", (int)getpid(), stream);
    write_times(writer, captured, at);
    fprintf(file, ",\"ph\":\"X\",\"args\":{\"Model Id\":%u,\"Stream Id\":%u,\"Task Id\":%u,\"Task Type\":\"%s\"",
            writer->wr_instance->in_object.ob_slot.sl_index, stream, index, type_of(captured));
    if (captured->ct_notes != NULL && captured->ct_notes->no_text != NULL)
        write_text(file, captured->ct_notes->no_text);
    else
        write_ranges(writer, captured);
    if (captured->ct_kind == SIM_TASK_ACTIVE)
        fprintf(file, ",\"Active Stream Id\":%u", captured->ct_shadow);
    if (is_kernel(captured))
        write_kernel(writer, captured);
    fputs("}}", file);
}

static void write_instance(struct writer *writer)
{
    fputc('[', writer->wr_file);
    for (uint32_t i = 0; i < writer->wr_instance->in_branch_count; i++) {
        const struct sim_branch *branch = writer->wr_instance->in_branches[i];
        double at = 0;
        for (uint32_t k = 0; k < branch->br_count; k++)
            write_task(writer, branch, k, &at);
    }
    fputs("\n]", writer->wr_file);
}

aclError sim_capture_print_json(aclmdlRI handle, const char *path, bool verbose)
{
    struct sim_instance *instance;
    SIM_TRY(sim_capture_instance_open_own(handle, &instance));
    struct writer writer = {.wr_file = sim_output_open(path), .wr_instance = instance, .wr_verbose = verbose};
    int reason = errno;
    bool opened = writer.wr_file != NULL, written = false;
    if (opened) {
        write_instance(&writer);
        written = sim_output_close(writer.wr_file);
        reason = errno;
        log_instance(instance);
    }
    sim_object_close(instance);
    SIM_CHECK(opened, ACL_ERROR_RT_PARAM_INVALID, "path \"%s\" cannot be opened: %s", path, strerror(reason));
    SIM_CHECK(written, ACL_ERROR_RT_PARAM_INVALID, "path \"%s\" could not be written completely: %s", path,
              strerror(reason));
    return ACL_SUCCESS;
}
