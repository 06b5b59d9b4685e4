"""Model descriptions, gears and options."""

from acl._lib import ffi, lib
from acl.api import values

SIGNED_OPTIONS = {lib.ACL_MDL_PRIORITY_INT32, lib.ACL_MDL_WITHOUT_GRAPH_INT32}
TEXT_OPTIONS = {lib.ACL_MDL_PATH_PTR, lib.ACL_MDL_WEIGHT_PATH_PTR}
WIDE_EXEC_OPTIONS = set(range(lib.ACL_MDL_WORK_ADDR_PTR, lib.ACL_MDL_MEC_TIMETHR_SIZET + 1))


def dims_of(struct):
    """Return an ``aclmdlIODims`` as a dict, with the first ``dimCount`` dims."""
    count = struct.dimCount
    return {"name": values.text(struct.name), "dimCount": count, "dims": list(struct.dims[0 : min(count, 128)])}


def ask_dims(function, desc, index):
    """Return ``(dims dict, ret)``; the dict is empty on failure."""
    slot = ffi.new("aclmdlIODims *")
    ret = function(values.pointer(desc), index, slot)
    return (dims_of(slot) if ret == 0 else {}), ret


def get_input_dims(desc, index):
    """Return ``(dims dict, ret)`` of an input."""
    return ask_dims(lib.aclmdlGetInputDims, desc, index)


def get_input_dims_v2(desc, index):
    """Return ``(dims dict, ret)`` of an input, without what AIPP adds."""
    return ask_dims(lib.aclmdlGetInputDimsV2, desc, index)


def get_output_dims(desc, index):
    """Return ``(dims dict, ret)`` of an output."""
    return ask_dims(lib.aclmdlGetOutputDims, desc, index)


def get_cur_output_dims(desc, index):
    """Return ``(dims dict, ret)`` of an output for the gear that is set."""
    return ask_dims(lib.aclmdlGetCurOutputDims, desc, index)


def get_input_dims_range(desc, index):
    """Return ``({"rangeCount", "range": pairs}, ret)``."""
    slot = ffi.new("aclmdlIODimsRange *")
    ret = lib.aclmdlGetInputDimsRange(values.pointer(desc), index, slot)
    if ret != 0:
        return {}, ret
    return {"rangeCount": slot.rangeCount, "range": [list(pair) for pair in slot.range[0 : slot.rangeCount]]}, ret


def get_dynamic_batch(desc):
    """Return ``({"batchCount", "batch": sizes}, ret)``."""
    slot = ffi.new("aclmdlBatch *")
    ret = lib.aclmdlGetDynamicBatch(values.pointer(desc), slot)
    if ret != 0:
        return {}, ret
    return {"batchCount": slot.batchCount, "batch": list(slot.batch[0 : slot.batchCount])}, ret


def get_dynamic_hw(desc, index):
    """Return ``({"hwCount", "hw": pairs}, ret)``."""
    slot = ffi.new("aclmdlHW *")
    ret = lib.aclmdlGetDynamicHW(values.pointer(desc), index, slot)
    if ret != 0:
        return {}, ret
    return {"hwCount": slot.hwCount, "hw": [list(pair) for pair in slot.hw[0 : slot.hwCount]]}, ret


def get_input_dynamic_dims(desc, index, gears):
    """Return ``(list of dims dicts, ret)``, one dict per gear; None if a model cannot have so many gears."""
    if gears > values.LONGEST:
        return None, values.INVALID_PARAM
    array = ffi.new("aclmdlIODims[]", max(gears, 1))
    ret = lib.aclmdlGetInputDynamicDims(values.pointer(desc), index, array, gears)
    return ([dims_of(array[place]) for place in range(gears)] if ret == 0 else []), ret


def set_input_dynamic_dims(model_id, dataset, index, dims):
    """Choose a gear by its dims; ``dims["dims"]`` must be a list of int."""
    sizes = dims.get("dims")
    if not isinstance(sizes, list) or not all(isinstance(size, int) for size in sizes):
        raise TypeError("acl.mdl.set_input_dynamic_dims() argument 4 must have 'dims', a list of int")
    slot = ffi.new("aclmdlIODims *")
    values.fill(slot, {"dimCount": dims.get("dimCount"), "dims": sizes})
    return lib.aclmdlSetInputDynamicDims(model_id & 0xFFFFFFFF, values.pointer(dataset), index, slot)


def set_config_opt(handle, attribute, value):
    """Set a load option; its C type follows from the attribute."""
    if isinstance(value, str):
        if attribute not in TEXT_OPTIONS:
            raise TypeError(f"acl.mdl.set_config_opt() argument 3 must be int for attribute {attribute}, not 'str'")
        path = ffi.new("char[]", value.encode())
        slot = ffi.new("char **", path)
    elif not hasattr(value, "__index__"):
        raise TypeError(f"acl.mdl.set_config_opt() argument 3 must be int or str, not '{type(value).__name__}'")
    elif attribute in SIGNED_OPTIONS:
        slot = ffi.new("int32_t *", ffi.cast("int32_t", value.__index__()))
    else:
        slot = ffi.new("uint64_t *", ffi.cast("uint64_t", value.__index__()))
    return lib.aclmdlSetConfigOpt(values.pointer(handle), attribute, slot, ffi.sizeof(ffi.typeof(slot).item))


def set_exec_config_opt(handle, attribute, value):
    """Set an execution option."""
    c_type = "uint64_t" if attribute in WIDE_EXEC_OPTIONS else "uint32_t"
    slot = ffi.new(f"{c_type} *", ffi.cast(c_type, value))
    return lib.aclmdlSetExecConfigOpt(values.pointer(handle), attribute, slot, ffi.sizeof(c_type))


def create_and_get_op_desc(device_id, stream_id, task_id, length):
    """Return ``(name, input descriptions, count, output descriptions, count, ret)``."""
    if length > values.LONGEST:
        return "", 0, 0, 0, 0, values.INVALID_PARAM
    ids = [number & 0xFFFFFFFF for number in (device_id, stream_id, task_id)]
    name = ffi.new("char[]", length + 1)
    inputs, outputs = ffi.new("aclTensorDesc **"), ffi.new("aclTensorDesc **")
    input_count, output_count = ffi.new("size_t *"), ffi.new("size_t *")
    ret = lib.aclmdlCreateAndGetOpDesc(*ids, name, length, inputs, input_count, outputs, output_count)
    found = (values.address(inputs[0]), input_count[0], values.address(outputs[0]), output_count[0])
    return (values.text(name), *found, ret)
