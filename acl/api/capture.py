"""Capture and model running instances: the calls with lists, dicts, texts and callbacks."""

import os

from acl._hooks import instance_destroyed
from acl._lib import _acl, ffi, lib
from acl.api import values

KERNEL = lib.ACL_MODEL_RI_TASK_KERNEL
VALUE_WRITE, VALUE_WAIT = lib.ACL_MODEL_RI_TASK_VALUE_WRITE, lib.ACL_MODEL_RI_TASK_VALUE_WAIT
EVENTS = {
    lib.ACL_MODEL_RI_TASK_EVENT_RECORD: ("Record", "record"),
    lib.ACL_MODEL_RI_TASK_EVENT_WAIT: ("Wait", "wait"),
    lib.ACL_MODEL_RI_TASK_EVENT_RESET: ("Reset", "reset"),
}

# C functions that an instance calls when it is destroyed, by instance and Python function.
watchers: dict = {}

# The instance that is built by each bound stream, and the instance that each body of a condition belongs to.
bound: dict[int, int] = {}
parents: dict[int, int] = {}


def recorded_by(stream):
    """Return the instance that records the stream's tasks, or 0 if the stream runs them."""
    instance = _acl.capturing_into(stream) or bound.get(stream, 0)
    return parents.get(instance, instance)


def ri_capture_thread_exchange_mode(mode):
    """Return ``(mode before, ret)``."""
    slot = ffi.new("aclmdlRICaptureMode *", mode)
    ret = lib.aclmdlRICaptureThreadExchangeMode(slot)
    return int(slot[0]), ret


def ri_destroy(instance):
    """Destroy the instance, and release its callbacks and captured functions."""
    ret = lib.aclmdlRIDestroy(values.pointer(instance))
    if ret == 0:
        instance_destroyed(instance)
        watchers.pop(instance, None)
        for known in (bound, parents):
            for key in [key for key, owner in known.items() if owner == instance]:
                del known[key]
    return ret


def ri_bind_stream(instance, stream, flag):
    """Bind, and note the instance, which keeps the callbacks that are launched on the stream."""
    ret = lib.aclmdlRIBindStream(values.pointer(instance), values.pointer(stream), flag)
    if ret == 0:
        bound[stream] = instance
    return ret


def ri_unbind_stream(instance, stream):
    """Unbind; callbacks that were recorded stay until the instance is destroyed."""
    ret = lib.aclmdlRIUnbindStream(values.pointer(instance), values.pointer(stream))
    if ret == 0:
        bound.pop(stream, None)
    return ret


def ri_destroy_register_callback(instance, function, data):
    """Call ``function(data)`` when the instance is destroyed."""

    def call(unused):
        function(data)

    def report(kind, error, trace):
        _acl.unraisable(error, function)

    known = watchers.setdefault(instance, {})
    pointer = known.get(function) or ffi.callback("void(void *)", call, onerror=report)
    ret = lib.aclmdlRIDestroyRegisterCallback(values.pointer(instance), pointer, ffi.NULL)
    if ret == 0:
        known[function] = pointer
    return ret


def ri_destroy_unregister_callback(instance, function):
    """Remove such a function; the C call refuses one that is not registered."""
    pointer = watchers.get(instance, {}).get(function) or lib.acl_on_callback
    ret = lib.aclmdlRIDestroyUnregisterCallback(values.pointer(instance), pointer)
    if ret == 0:
        del watchers[instance][function]
    return ret


def ri_get_name(instance, length):
    """Return ``(name, ret)``."""
    if length > values.LONGEST:
        raise ValueError(f"acl.mdl.ri_get_name() argument 2 must be at most {values.LONGEST}, not {length}")
    buffer = ffi.new("char[]", max(length, 1))
    ret = lib.aclmdlRIGetName(values.pointer(instance), length, buffer)
    return (values.text(buffer) if ret == 0 else None), ret


def listed(function, handle):
    """Return ``(handles, ret)`` of a C function, which is called first for the number of handles."""
    count = ffi.new("uint32_t *")
    ret = function(values.pointer(handle), ffi.NULL, count)
    if ret != 0:
        return [], ret
    handles = ffi.new("void *[]", max(count[0], 1))
    ret = function(values.pointer(handle), handles, count)
    return ([values.address(handles[i]) for i in range(count[0])] if ret == 0 else []), ret


def ri_get_streams(instance):
    """Return ``(the instance's own streams, ret)``."""
    return listed(lib.aclmdlRIGetStreams, instance)


def ri_get_tasks_by_stream(stream):
    """Return ``(tasks in order, ret)``."""
    return listed(lib.aclmdlRIGetTasksByStream, stream)


def ri_task_get_params(task):
    """Return ``(dict, ret)``: type, task group, and the arguments of a kernel, an event, or a value.

    ``args`` are the addresses of an operator's kernel, or the arguments of a custom one, in words of 8 bytes.
    """
    struct = ffi.new("aclmdlRITaskParams *")
    ret = lib.aclmdlRITaskGetParams(values.pointer(task), struct)
    if ret != 0:
        return {}, ret
    params = {"type": int(struct.type), "task_grp": values.address(struct.taskGrp)}
    if struct.type == KERNEL:
        kernel = struct.kernelTaskParams
        words = ffi.cast("uint64_t *", kernel.args)
        params["args"] = [int(words[i]) for i in range(kernel.argsSize // 8)] if kernel.isHostArgs else []
        params["num_blocks"] = int(kernel.numBlocks)
        if kernel.funcHandle:
            params["func_handle"] = values.address(kernel.funcHandle)
    elif struct.type in EVENTS:
        kind, flag = EVENTS[struct.type]
        event = getattr(struct, f"event{kind}TaskParams")
        params["event"] = values.address(event.event)
        params["event_flag"] = int(event.eventFlag)
        params["flag"] = int(getattr(event, f"{flag}Flag"))
    elif struct.type in (VALUE_WRITE, VALUE_WAIT):
        value = struct.valueWaitTaskParams
        params["dev_addr"], params["value"] = values.address(value.devAddr), int(value.value)
        if struct.type == VALUE_WAIT:
            params["flag"] = int(value.flag)
    return params, ret


def ri_kernel_task_get_attribute(task, attribute):
    """Return ``(dict of the attribute's value, ret)``."""
    return values.out_record(
        "aclrtLaunchKernelAttrValue", lib.aclmdlRIKernelTaskGetAttribute, values.pointer(task), attribute
    )


def ri_task_set_params(task, params):
    """Change the arguments of a kernel, or a value: a dict as from ri_task_get_params, with as many ``args``."""
    struct = ffi.new("aclmdlRITaskParams *")
    if params.get("type") in (VALUE_WRITE, VALUE_WAIT):
        struct.type = params["type"]
        struct.valueWaitTaskParams.devAddr = values.pointer(params.get("dev_addr", 0))
        struct.valueWaitTaskParams.value = params.get("value", 0)
        struct.valueWaitTaskParams.flag = params.get("flag", 0)
        return lib.aclmdlRITaskSetParams(values.pointer(task), struct)
    addresses = params.get("args", [])
    words = ffi.new("uint64_t[]", addresses or 1)
    struct.type = params.get("type", KERNEL)
    struct.kernelTaskParams.funcHandle = values.pointer(params.get("func_handle", 0))
    struct.kernelTaskParams.args = words
    struct.kernelTaskParams.isHostArgs = 1
    struct.kernelTaskParams.argsSize = 8 * len(addresses)
    struct.kernelTaskParams.numBlocks = params.get("num_blocks", 1)
    return lib.aclmdlRITaskSetParams(values.pointer(task), struct)


def ri_add_cond_task(params, stream, flags):
    """Return ``(params with the bodies as "model_ri_array", ret)``; ``params`` has "handle", "type" and "size"."""
    size = params.get("size", 0)
    bodies = ffi.new("aclmdlRI[]", min(max(size, 1), values.LONGEST))
    struct = ffi.new("aclmdlRICondTaskParams *")
    struct.handle = values.pointer(params.get("handle", 0))
    struct.type = params.get("type", 0)
    struct.size = size
    struct.modelRIArray = bodies
    ret = lib.aclmdlRIAddCondTask(struct[0], values.pointer(stream), flags)
    made = [values.address(bodies[i]) for i in range(size)] if ret == 0 else []
    if made:
        parents.update(dict.fromkeys(made, recorded_by(stream)))
    return {**params, "model_ri_array": made}, ret


for _known in (watchers, bound, parents):
    os.register_at_fork(after_in_child=_known.clear)
