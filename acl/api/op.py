"""Single operators: attribute lists, shape inference, custom compilation."""

import operator
import warnings
from typing import Any

from acl._lib import ffi, lib
from acl.api import values
from acl.api.closure import closure

compilers: dict[str, Any] = {}


def numbers(call, items, convert):
    """Return a list of numbers from a list, or from an ndarray with a warning."""
    if hasattr(items, "tolist") and hasattr(items, "dtype"):
        warnings.warn(f"{call}() takes a list; the ndarray is converted", Warning, stacklevel=3)
        items = items.tolist()
    if not isinstance(items, list):
        raise TypeError(f"{call}() argument 3 must be list, not '{type(items).__name__}'")
    try:
        return [convert(item) for item in items]
    except TypeError as error:
        raise TypeError(f"{call}() argument 3: {error}") from None


def set_attr_list_bool(attr, name, items):
    """Set a list of truth values, each from 0 to 255."""
    found = numbers("acl.op.set_attr_list_bool", items, operator.index)
    wrong = [item for item in found if not 0 <= item <= 255]
    if wrong:
        raise TypeError(f"acl.op.set_attr_list_bool() argument 3 must hold int from 0 to 255, not {wrong[0]}")
    array = ffi.new("uint8_t[]", found)
    return lib.aclopSetAttrListBool(values.pointer(attr), name.encode(), len(found), array)


def set_attr_list_int(attr, name, items):
    """Set a list of integers."""
    found = numbers("acl.op.set_attr_list_int", items, operator.index)
    array = ffi.new("int64_t[]", [ffi.cast("int64_t", item) for item in found])
    return lib.aclopSetAttrListInt(values.pointer(attr), name.encode(), len(found), array)


def set_attr_list_float(attr, name, items):
    """Set a list of numbers."""
    found = numbers("acl.op.set_attr_list_float", items, float)
    return lib.aclopSetAttrListFloat(values.pointer(attr), name.encode(), len(found), ffi.new("float[]", found))


def set_attr_list_list_int(attr, name, items):
    """Set a list of lists of integers, which may differ in length."""
    call = "acl.op.set_attr_list_list_int"
    if not isinstance(items, list):
        raise TypeError(f"{call}() argument 3 must be list, not '{type(items).__name__}'")
    rows = [ffi.new("int64_t[]", [ffi.cast("int64_t", n) for n in numbers(call, row, operator.index)]) for row in items]
    counts = ffi.new("int[]", [len(row) for row in rows])
    return lib.aclopSetAttrListListInt(
        values.pointer(attr), name.encode(), len(rows), counts, ffi.new("const int64_t *[]", rows)
    )


def handles(c_type, items, call, position):
    """Return a C array of handles from a list of int."""
    try:
        return ffi.new(f"{c_type} *[]", [ffi.cast(f"{c_type} *", operator.index(item)) for item in items])
    except TypeError as error:
        raise TypeError(f"{call}() argument {position}: {error}") from None


def infer_shape(op_type, input_desc, inputs, count, output_desc, attr):
    """Fill the output descriptions."""
    call = "acl.op.infer_shape"
    if len(input_desc) != len(inputs):
        raise ValueError(f"{call}() needs input_desc and inputs of the same length")
    if count > len(output_desc):
        most = len(output_desc)
        raise ValueError(f"{call}() argument 4 must be at most {most}, the length of argument 5, not {count}")
    return lib.aclopInferShape(
        op_type.encode(),
        len(inputs),
        handles("aclTensorDesc", input_desc, call, 2),
        handles("aclDataBuffer", inputs, call, 3),
        count,
        handles("aclTensorDesc", output_desc, call, 5),
        values.pointer(attr),
    )


def register_compile_func(op_type, function):
    """Register ``function(n_in, inputs, n_out, outputs, attr, kernel_desc)`` to compile an operator; never removed."""

    def compile_op(in_count, inputs, out_count, outputs, attr, kernel):
        ret = function(
            in_count,
            [values.address(inputs[place]) for place in range(in_count)],
            out_count,
            [values.address(outputs[place]) for place in range(out_count)],
            values.address(attr),
            values.address(kernel),
        )
        return 0 if ret is None else ret

    hook = closure("aclopCompileFunc", compile_op, function, lib.ACL_ERROR_FAILURE)
    ret = lib.aclopRegisterCompileFunc(op_type.encode(), hook)
    if ret == 0:
        compilers[op_type] = hook
    return ret


def create_kernel(op_type, kernel_id, kernel_name, data, size, engine, deallocator):
    """Register a kernel binary; the deallocator is an address, 0 for none."""
    function = ffi.cast("aclDataDeallocator", deallocator)
    names = [name.encode() for name in (op_type, kernel_id, kernel_name)]
    return lib.aclopCreateKernel(*names, values.pointer(data), size, engine, function)
