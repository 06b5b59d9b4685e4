/* Entry points of the simulator's own control interface. */
#include <acl/acl_sim.h>

#include "../ops/types.h"
#include "address/memory.h"
#include "base/clock.h"
#include "base/room.h"
#include "capture/capture.h"
#include "engine/callback.h"
#include "engine/context.h"
#include "engine/device.h"
#include "engine/event.h"
#include "engine/init.h"
#include "engine/launch.h"
#include "engine/limits.h"
#include "engine/snapshot.h"
#include "kernel/kernel.h"
#include "memory/allocator.h"
#include "memory/saturation.h"
#include "model/dataset.h"
#include "model/model.h"
#include "observe/check.h"
#include "observe/clock_model.h"
#include "observe/dump.h"
#include "observe/fault.h"
#include "observe/prof.h"
#include "observe/trace.h"
#include "operator/model_saver.h"
#include "operator/op.h"
#include "operator/row.h"
#include "queue/channel.h"
#include "queue/queue.h"
#include <stdlib.h>

extern const char *const sim_missing_names[]; /* generated: declared functions that no file of api/ defines */
extern const size_t sim_missing_count;

aclError aclsimConfigure(const char *name, const char *value)
{
    SIM_ENTER();
    SIM_NOT_NULL(name);
    SIM_CHECK(!sim_device_any_open(), ACL_ERROR_RT_PARAM_INVALID,
              "a device was opened already, expected the call before the first aclrtSetDevice or after aclsimReset");
    SIM_TRY(sim_config_set(name, value));
    return strcmp(name, "faults") == 0 ? sim_fault_set(NULL) : ACL_SUCCESS;
}

aclError aclsimGetConfig(const char *name, char *value, size_t length)
{
    SIM_ENTER();
    SIM_NOT_NULL(name);
    SIM_NOT_NULL(value);
    return sim_config_get(name, value, length);
}

aclError aclsimReset(void)
{
    SIM_ENTER();
    SIM_TRY(sim_engine_may_wait());
    SIM_TRY(sim_engine_refusal(sim_thread.th_caller != NULL ? SIM_WAIT_OWN : SIM_WAIT_PASSED));
    sim_snapshot_reset(); /* releases the threads that a locked process holds back */
    sim_room_begin_reset();
    sim_device_reset_all();
    sim_callback_reset();
    sim_room_reset();
    sim_config_reset();
    sim_fault_load();
    sim_fail_forget();
    return ACL_SUCCESS;
}

SIM_HOT aclError aclsimLaunchTask(aclrtStream stream, aclsimTaskFunc function, void *argument,
                                  const aclsimRange *ranges, size_t rangeCount, uint32_t flags)
{
    SIM_ENTER();
    SIM_NOT_NULL(function);
    SIM_ARGUMENT(ranges != NULL || rangeCount == 0, ACL_ERROR_INVALID_PARAM,
                 "ranges is NULL with rangeCount %zu, expected an array of that length", rangeCount);
    SIM_ARGUMENT(rangeCount <= SIM_LAUNCH_RANGES, ACL_ERROR_INVALID_PARAM, "rangeCount is %zu, expected at most %d",
                 rangeCount, SIM_LAUNCH_RANGES);
    SIM_ARGUMENT(flags == 0 || flags == ACLSIM_TASK_LIGHT || flags == ACLSIM_TASK_WORKER, ACL_ERROR_INVALID_PARAM,
                 "flags is %#x, expected 0, ACLSIM_TASK_LIGHT (1) or ACLSIM_TASK_WORKER (4)", flags);
    struct sim_target target;
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_launch_task(target, function, argument, ranges, rangeCount, flags, SIM_SITE());
}

aclError aclsimRegisterKernel(const char *name, aclsimPlanFunc plan, aclsimKernelFunc run, void *userData)
{
    SIM_ENTER();
    SIM_NOT_NULL(name);
    struct sim_row *row = sim_row_find(name);
    const struct sim_kernel kernel = {run != NULL ? plan : NULL, run, userData, false};
    SIM_ARGUMENT(row != NULL || strncmp(name, "aclnn", 5) != 0, ACL_ERROR_INVALID_PARAM,
                 "name is \"%s\", expected an operator, such as aclnnAdd, or a type of single operators", name);
    if (row == NULL)
        return sim_op_register(name, kernel);
    sim_row_register(row, kernel);
    return ACL_SUCCESS;
}

aclError aclsimRegisterModel(const char *name, const void *model, size_t size, aclsimModelFunc run, void *userData)
{
    SIM_ENTER();
    SIM_NOT_NULL(name);
    SIM_ARGUMENT((model == NULL) == (size == 0), ACL_ERROR_INVALID_PARAM,
                 "model is %p with size %zu, expected the bytes of a model file, or NULL and 0", model, size);
    return sim_model_register(name, (struct sim_bytes){model, size}, run, userData);
}

aclError aclsimRegisterExecutor(const char *kind, aclsimModelFunc run, void *userData)
{
    SIM_ENTER();
    SIM_NOT_NULL(kind);
    return sim_model_register_kind(kind, run, userData);
}

aclError aclsimRegisterCustomKernel(const char *binary, const char *kernel, const aclsimCustomKernel *implementation)
{
    SIM_ENTER();
    SIM_NOT_NULL(kernel);
    SIM_ARGUMENT(*kernel != '\0', ACL_ERROR_INVALID_PARAM, "kernel is \"\", expected the name of a kernel");
    SIM_ARGUMENT(binary == NULL || *binary != '\0', ACL_ERROR_INVALID_PARAM,
                 "binary is \"\", expected the path or the name of a file, or NULL for any");
    return sim_kernel_registry_register(binary, kernel, implementation);
}

aclError aclsimLaunchKernel(const char *kernel, const aclsimCustomKernel *implementation, uint32_t numBlocks,
                            const void *args, size_t argsSize, aclrtStream stream)
{
    SIM_ENTER();
    SIM_NOT_NULL(kernel);
    SIM_NOT_NULL(implementation);
    SIM_ARGUMENT((args == NULL) == (argsSize == 0), ACL_ERROR_INVALID_PARAM,
                 "args is %p with argsSize %zu, expected the bytes of the arguments, or NULL and 0", args, argsSize);
    struct sim_kernel_order order = {.ko_grid = {numBlocks, 1, 1}, .ko_threads = {1, 1, 1},
                                     .ko_host = {.ha_bytes = args, .ha_size = argsSize}};
    return sim_kernel_launch_plain(kernel, implementation, &order, stream, SIM_SITE());
}

aclError aclsimRegisterSymbol(const void *symbol, aclrtFuncHandle function)
{
    SIM_ENTER();
    SIM_NOT_NULL(symbol);
    return sim_kernel_symbol_register(symbol, function);
}

aclError aclsimRegisterVariable(const void *symbol, aclrtBinHandle binary, const char *name)
{
    SIM_ENTER();
    SIM_NOT_NULL(symbol);
    SIM_ARGUMENT(name != NULL || binary == NULL, ACL_ERROR_INVALID_PARAM,
                 "name is NULL, expected the name of a variable in the binary");
    return sim_kernel_variable_register(symbol, binary, name);
}

static aclError check_spans(const aclsimRange *spans, size_t count, const char *name)
{
    SIM_ARGUMENT(count != 0 && count <= SIM_SPANS_MAX && spans != NULL, ACL_ERROR_INVALID_PARAM,
                 "%s is %p with %zu elements, expected an array of 1 to %d", name, (const void *)spans, count,
                 SIM_SPANS_MAX);
    for (size_t i = 0; i < count; i++)
        SIM_ARGUMENT(spans[i].address != NULL && spans[i].size != 0, ACL_ERROR_INVALID_PARAM,
                     "%s[%zu] is %p with size %zu, expected memory that the instance uses", name, i,
                     spans[i].address, spans[i].size);
    return ACL_SUCCESS;
}

aclError aclsimSaveInstance(aclmdlRI modelRI, const aclsimRange *inputs, size_t inputCount, const aclsimRange *outputs,
                            size_t outputCount, void *block, size_t *size)
{
    SIM_ENTER();
    struct sim_range spans[2 * SIM_SPANS_MAX];
    SIM_NOT_NULL(size);
    SIM_TRY(check_spans(inputs, inputCount, "inputs"));
    SIM_TRY(check_spans(outputs, outputCount, "outputs"));
    for (size_t i = 0; i < inputCount + outputCount; i++) {
        const aclsimRange *span = i < inputCount ? &inputs[i] : &outputs[i - inputCount];
        spans[i] = (struct sim_range){.rg_address = span->address, .rg_size = span->size};
    }
    return sim_capture_save(modelRI,
                            &(struct sim_saving){.sa_inputs = spans, .sa_input_count = (uint32_t)inputCount,
                                                 .sa_outputs = spans + inputCount,
                                                 .sa_output_count = (uint32_t)outputCount},
                            block, size);
}

aclError aclsimSetReason(const char *text)
{
    SIM_ENTER();
    SIM_NOT_NULL(text);
    sim_fail_reason(text);
    return ACL_SUCCESS;
}

aclError aclsimRefuse(const char *function, aclError code, const char *text)
{
    SIM_ENTER();
    SIM_NOT_NULL(function);
    SIM_NOT_NULL(text);
    sim_thread.th_function = function;
    sim_refuse(code, "%s", text);
    SIM_ENTER(); /* forgets `function`, which the caller may free after this call */
    return code;
}

size_t aclsimOperatorCount(int32_t implemented)
{
    size_t count = 0;
    for (size_t i = 0; i < sim_row_table->rt_count; i++)
        count += implemented == 0 || sim_row_has_kernel(sim_row_table->rt_rows[i]);
    return count;
}

aclError aclsimOperatorKernel(const char *name, int32_t *implemented, uint64_t *inputs, uint64_t *outputs)
{
    SIM_ENTER();
    SIM_NOT_NULL(name);
    SIM_NOT_NULL(implemented);
    SIM_NOT_NULL(inputs);
    SIM_NOT_NULL(outputs);
    struct sim_row *row = sim_row_find(name);
    SIM_ARGUMENT(row != NULL, ACL_ERROR_INVALID_PARAM, "name is \"%s\", expected an operator, such as aclnnAdd",
                 name);
    *implemented = sim_row_has_kernel(row);
    *inputs = *outputs = 0;
    if (row->ro_builtin != NULL)
        sim_types_of(row, inputs, outputs);
    return ACL_SUCCESS;
}

aclError aclsimStreamHold(aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(sim_stream_own(stream, &target));
    return sim_launch_hold(target, SIM_SITE(), NULL);
}

aclError aclsimStreamRelease(aclrtStream stream)
{
    SIM_ENTER();
    struct sim_target target;
    SIM_TRY(sim_stream_any(stream, &target));
    return sim_launch_release(target.tg_stream);
}

/* True if synchronising the stream would return immediately: its work is done, or the wait would be refused. */
static bool wait_for_stream(struct sim_target target, uint64_t deadline, enum sim_role role)
{
    return sim_engine_wait(target.tg_stream, sim_stream_tail(target.tg_stream), deadline, role) != SIM_WAIT_EXPIRED;
}

static bool wait_for_device(struct sim_context *context, uint64_t deadline, enum sim_role role)
{
    size_t count;
    uint64_t *handles = sim_context_streams(context, &count);
    bool done = true;
    for (size_t i = 0; i < count && done; i++) {
        struct sim_stream *stream = sim_table_find(&sim_streams, (void *)(uintptr_t)handles[i]);
        done = stream == NULL || wait_for_stream((struct sim_target){stream, handles[i]}, deadline, role);
    }
    free(handles);
    return done;
}

/* Finds the stream of a handle or, for NULL, the default stream of the context; tg_stream is NULL if there is none. */
static struct sim_target peek_stream(void *handle)
{
    if (handle != NULL)
        return (struct sim_target){sim_table_find(&sim_streams, handle), (uint64_t)(uintptr_t)handle};
    struct sim_context *context = sim_context_peek();
    return context != NULL ? (struct sim_target){context->cx_default_stream, context->cx_default}
                           : (struct sim_target){NULL, 0};
}

SIM_HOT int32_t aclsimIsReady(aclsimWaitKind kind, void *handle)
{
    struct sim_event *event;
    struct sim_target target;
    sim_thread.th_wait_began = sim_thread.th_wait_since = 0;
    if (sim_context_peek() == NULL || sim_runtime_is_locked())
        return 0; /* the call may open the default device, and wait for a thread that closes it and runs callbacks */
    switch (kind) {
    case ACLSIM_WAIT_STREAM:
        target = peek_stream(handle);
        return target.tg_stream == NULL || sim_stream_is_settled(target.tg_stream);
    case ACLSIM_WAIT_EVENT:
        event = sim_table_find(&sim_events, handle);
        return event == NULL || sim_event_is_done(event);
    case ACLSIM_WAIT_QUEUE:
        target = peek_stream(handle);
        return target.tg_stream == NULL || sim_engine_has_room(target.tg_stream);
    case ACLSIM_WAIT_NOTHING:
        return 1;
    case ACLSIM_WAIT_DEVICE:
    case ACLSIM_WAIT_REPORT:
        break;
    }
    return 0;
}

/* The call that a wait of this kind without a time-out is a slice of, or NULL. */
static const char *sliced_call(aclsimWaitKind kind)
{
    static const char *const calls[] = {
        [ACLSIM_WAIT_STREAM] = "aclrtSynchronizeStream",
        [ACLSIM_WAIT_EVENT] = "aclrtSynchronizeEvent",
        [ACLSIM_WAIT_DEVICE] = "aclrtSynchronizeDevice",
        [ACLSIM_WAIT_REPORT] = "aclrtProcessReport",
    };
    return (size_t)kind < sizeof calls / sizeof *calls ? calls[kind] : NULL;
}

static bool wait_for_kind(aclsimWaitKind kind, void *handle, uint64_t deadline, enum sim_role role)
{
    struct sim_context *context = sim_context_peek();
    struct sim_event *event;
    struct sim_target target;
    switch (kind) {
    case ACLSIM_WAIT_STREAM:
        target = peek_stream(handle);
        return context == NULL || target.tg_stream == NULL || wait_for_stream(target, deadline, role);
    case ACLSIM_WAIT_EVENT:
        event = sim_table_find(&sim_events, handle);
        return event == NULL || sim_event_synchronize(event, deadline, role) != SIM_WAIT_EXPIRED;
    case ACLSIM_WAIT_DEVICE:
        return context == NULL || wait_for_device(context, deadline, role);
    case ACLSIM_WAIT_REPORT:
        return sim_callback_wait_pending(deadline);
    case ACLSIM_WAIT_QUEUE:
    case ACLSIM_WAIT_NOTHING:
        break;
    }
    return true;
}

int32_t aclsimWaitSlice(aclsimWaitKind kind, void *handle, int32_t milliseconds, int32_t timeout)
{
    /* Sets no message and no last error: the call that follows returns immediately and reports what is wrong. */
    if (timeout == 0 || timeout < -1)
        return 1;
    if (sim_thread.th_wait_since == 0) {
        sim_thread.th_wait_began = atomic_load(&sim_engine_aborts) + 1;
        sim_thread.th_wait_since = sim_clock_now();
    }
    uint64_t slice = sim_clock_deadline(milliseconds), end = SIM_FOREVER;
    if (timeout > 0)
        end = sim_thread.th_wait_since + (uint64_t)timeout * 1000000u;
    enum sim_role role = timeout < 0 ? SIM_HELPER : SIM_SUBMITTER;
    sim_thread.th_sliced = timeout < 0 ? sliced_call(kind) : NULL;
    bool ready = wait_for_kind(kind, handle, slice < end ? slice : end, role) || sim_clock_left(end) == 0;
    sim_thread.th_sliced = NULL;
    return ready;
}

void *aclsimTranslate(const void *devPtr)
{
    if (!sim_thread.th_in_kernel)
        sim_memory_expose(devPtr);
    return sim_memory_engine(devPtr);
}

void *aclsimReach(const void *devPtr, size_t size)
{
    struct sim_range range = {.rg_address = devPtr, .rg_size = size};
    if (!sim_thread.th_in_kernel)
        sim_memory_expose(devPtr);
    return sim_memory_try_claim(&range) ? sim_memory_reach(devPtr) : NULL;
}

/* Objects without handles that aclsimLiveCount counts, by name. */
static const struct {
    const char *ow_name;
    size_t (*ow_count)(void);
} owned[] = {{"memory", sim_memory_count}, {"model", sim_model_count}};

/* Returns SIZE_MAX, which is never a real count, with a message that lists the kinds. */
static size_t refuse_kind(const char *kind)
{
    char known[1536];
    size_t size = (size_t)snprintf(known, sizeof known, "%s, %s", owned[0].ow_name, owned[1].ow_name);
    for (enum sim_kind each = SIM_KIND_NONE + 1; each < SIM_KINDS && size < sizeof known; each++)
        size += (size_t)snprintf(known + size, sizeof known - size, ", %s", sim_handle_kind_name(each));
    sim_refuse(ACL_ERROR_INVALID_PARAM, "kind is \"%s\", expected NULL or one of %s", kind, known);
    return SIZE_MAX;
}

size_t aclsimLiveCount(const char *kind)
{
    SIM_ENTER();
    size_t count = 0;
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) {
        if (kind != NULL && strcmp(kind, owned[i].ow_name) == 0)
            return owned[i].ow_count();
        count += owned[i].ow_count();
    }
    if (kind == NULL)
        return count + sim_handle_count(SIM_KINDS);
    enum sim_kind only = sim_handle_kind_named(kind);
    return only == SIM_KINDS ? refuse_kind(kind) : sim_handle_count(only);
}

size_t aclsimMissingCount(void)
{
    return sim_missing_count;
}

const char *aclsimMissingName(size_t index)
{
    return index < sim_missing_count ? sim_missing_names[index] : NULL;
}

/* ---- the trace ---- */

void *aclsimTraced(const char *name)
{
    return name != NULL && sim_trace_is_wanted() ? sim_trace_variant(name) : NULL;
}

uint64_t aclsimClock(void)
{
    return sim_clock_model_now();
}

aclError aclsimWriteTrace(void)
{
    SIM_ENTER();
    return sim_trace_write();
}

/* ---- faults ---- */

aclError aclsimSetFaults(const char *faults)
{
    SIM_ENTER();
    return sim_fault_set(faults);
}

size_t aclsimFaultCount(void)
{
    SIM_ENTER();
    return sim_fault_count();
}

aclError aclsimGetFault(size_t index, char *text, size_t length, uint64_t *counted, uint64_t *struck)
{
    SIM_ENTER();
    char found[SIM_FAULT_TEXT];
    struct sim_fault_count count;
    SIM_NOT_NULL(text);
    SIM_NOT_NULL(counted);
    SIM_NOT_NULL(struck);
    SIM_ARGUMENT(sim_fault_at(index, found, &count), ACL_ERROR_INVALID_PARAM,
                 "index is %zu, expected the position of a fault in the list in force", index);
    SIM_ARGUMENT(strlen(found) < length, ACL_ERROR_INVALID_PARAM, "length is %zu, expected at least %zu", length,
                 strlen(found) + 1);
    strcpy(text, found);
    *counted = count.fc_counted;
    *struck = count.fc_struck;
    return ACL_SUCCESS;
}

/* ---- checkers ---- */

const int32_t *aclsimWantsLines(void)
{
    return &sim_check_wants_lines;
}

aclError aclsimSetLine(const char *text)
{
    SIM_ENTER();
    sim_thread.th_line = text;
    return ACL_SUCCESS;
}

aclError aclsimSetLibrary(int32_t isLibrary)
{
    SIM_ENTER();
    SIM_ARGUMENT(isLibrary == 0 || isLibrary == 1, ACL_ERROR_INVALID_PARAM, "isLibrary is %d, expected 0 or 1",
                 isLibrary);
    sim_thread.th_is_library = isLibrary != 0;
    return ACL_SUCCESS;
}

aclError aclsimNameMemory(const void *address, const char *name)
{
    SIM_ENTER();
    SIM_NOT_NULL(address);
    SIM_NOT_NULL(name);
    return sim_check_block_name(address, name);
}

size_t aclsimFindingCount(void)
{
    SIM_ENTER();
    return sim_check_count();
}

const char *aclsimFinding(size_t index)
{
    SIM_ENTER();
    return sim_check_at(index);
}

aclError aclsimReportIgnored(const char *function, int32_t code, const char *line)
{
    SIM_ENTER();
    SIM_NOT_NULL(function);
    SIM_NOT_NULL(line);
    sim_check_ignored(function, code, line);
    return ACL_SUCCESS;
}

aclError aclsimForgetFindings(void)
{
    SIM_ENTER();
    sim_check_forget();
    return ACL_SUCCESS;
}
