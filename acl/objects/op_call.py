"""Prepared calls of operators: the C objects of their arguments, and the executor.

A :class:`Call` creates a descriptor for each array and a C value for each other argument, and runs the first phase of
the operator. It destroys what it created when it is garbage-collected. Messages are raised as :class:`Refused`, without
the name of the operator, which :mod:`acl.objects.op` adds.
"""

import operator as numbers
from collections.abc import Callable
from sys import is_finalizing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

import acl
from acl import rt
from acl._lib import lib
from acl.data_types import DATA_TYPES
from acl.errors import AclError, codes, error_of
from acl.objects.array import DeviceArray
from acl.objects.op_signature import Parameter
from acl.objects.op_types import Refused, type_of_number
from acl.objects.resource import LEAST, MOST

if TYPE_CHECKING:
    from acl.objects.op import Operator

ND = lib.ACL_FORMAT_ND
# Data types by their name in NumPy or ml_dtypes, and the names by the data type.
CODES = {kind.name: code for code, kind in DATA_TYPES.items() if kind.package}
NAMES = {code: name for name, code in CODES.items()}
BITS = {"int": 32, "int8_t": 8, "int32_t": 32, "uint32_t": 32, "int64_t": 64, "uint64_t": 64}


def code_of(dtype: "numpy.dtype[Any]") -> int:
    """Return the ``aclDataType`` of a NumPy type."""
    code = CODES.get(dtype.name)
    if code is None:
        raise Refused(f"no operator supports {dtype}", "convert it on the host first: array.astype()")
    return code


def dtype_of(value: Any) -> "numpy.dtype[Any]":
    """Return the NumPy type for an argument that is a NumPy type or an ``aclDataType``."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value not in NAMES:
            raise Refused(f"dtype is {value}, which is not a data type of arrays", "name it as NumPy does: dtype='f4'")
        value = NAMES[value]
    try:
        found: numpy.dtype[Any] = numpy.dtype(value)
    except TypeError:
        raise Refused(f"dtype is {value!r}, expected a type", "name it as NumPy does: dtype='f4'") from None
    return found


# --- Arguments: from Python values to C values


class Handle(NamedTuple):
    """A C object of a call, and the function that destroys it."""

    end: Callable[[int], int]
    value: int


def _made(handles: list[Handle], value: int, end: Callable[[int], int], function: str) -> int:
    """Add a new C object to the handles and return it, or raise an error if its creation failed."""
    if value == 0:
        raise error_of(codes.ACL_ERROR_BAD_ALLOC, function)
    handles.append(Handle(end, value))
    return value


def _tensor(array: DeviceArray, handles: list[Handle]) -> tuple[int, int]:
    """Return a descriptor, and the offset in bytes from the first element to the one with the lowest address."""
    itemsize = array.itemsize
    strides = [stride // itemsize for stride in array.strides]
    low = sum((size - 1) * stride for size, stride in zip(array.shape, strides) if stride < 0 and size)
    storage = list(array.shape)
    if not array.is_contiguous:
        storage = [1 - low + sum((size - 1) * stride for size, stride in zip(array.shape, strides) if stride > 0)]
    first = array.handle + low * itemsize
    tensor = acl.create_tensor(list(array.shape), code_of(array.dtype), strides, -low, ND, storage, first)
    return _made(handles, tensor, acl.destroy_tensor, "aclCreateTensor"), low * itemsize


def _scalar(value: Any, handles: list[Handle]) -> int:
    """Create an ``aclScalar`` with the value and the type of a number."""
    number = numpy.asarray(value, type_of_number(value))
    made = acl.create_scalar(number.ctypes.data, code_of(number.dtype))
    return _made(handles, made, acl.destroy_scalar, "aclCreateScalar")


def numbers_of(value: Any, name: str, kind: Callable[[Any], Any], what: str) -> list[Any]:
    """Return an argument as a list, with each item converted by ``kind``, or raise an error."""
    given = value if isinstance(value, (list, tuple)) else [value]
    if isinstance(value, numpy.ndarray):
        raise Refused(f"{name} is a ndarray, expected {what}", "make a list of it: array.tolist()")
    try:
        return [kind(item) for item in given]
    except (TypeError, ValueError, OverflowError):
        raise Refused(f"{name} is {value!r}, expected {what}") from None


def _integer(value: Any) -> int:
    """Return an integer of 64 bits; raise OverflowError if it has more."""
    whole = numbers.index(value)
    if not LEAST <= whole <= MOST:
        raise OverflowError
    return whole


LISTS: dict[str, tuple[Callable[[Any], Any], str, Any, Any]] = {
    "aclIntArray *": (_integer, "integers of 64 bits", acl.create_int_array, acl.destroy_int_array),
    "aclFloatArray *": (float, "numbers", acl.create_float_array, acl.destroy_float_array),
    "aclBoolArray *": (bool, "truth values", acl.create_bool_array, acl.destroy_bool_array),
}


def is_number(value: Any) -> bool:
    """Return whether a value is a number of Python or NumPy."""
    return isinstance(value, (bool, int, float, complex, numpy.number, numpy.bool_))


def plain_of(value: Any, parameter: Parameter) -> Any:
    """Return the C value of a number, a bool, a str or a data type."""
    name, ctype = parameter.name, parameter.ctype
    if ctype == "char *":
        if not isinstance(value, str):
            raise Refused(f"{name} is {value!r}, expected a str")
        return value.encode()
    if ctype == "aclDataType":
        return code_of(dtype_of(value))
    if not is_number(value) or isinstance(value, (complex, numpy.complexfloating)):
        raise Refused(f"{name} is {shown(value)}, expected a number")
    if ctype in ("double", "float"):
        try:
            return float(value)
        except OverflowError:
            raise Refused(f"{name} is {value}, which does not fit {ctype}") from None
    if ctype == "bool":
        return bool(value)
    try:
        whole = numbers.index(value)
    except TypeError:
        raise Refused(f"{name} is {value!r}, expected an integer") from None
    bits = BITS[ctype]
    low, high = (0, 2**bits - 1) if ctype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not low <= whole <= high:
        raise Refused(f"{name} is {whole}, expected {low} to {high}")
    return whole


def shown(value: Any) -> str:
    """Return a value as a text for messages: an array only by the name of its class."""
    return f"a {type(value).__name__}" if hasattr(value, "shape") else repr(value)


class Call:
    """One signature of an operator, ready to run: descriptors, and the executor if that is repeatable."""

    __slots__ = (
        "first", "second", "symbol", "arguments", "tensors", "addresses", "handles", "executor", "size", "again",
    )  # fmt: skip

    def __init__(self, made_by: "Operator", given: "list[Any]", arrays: list[DeviceArray]) -> None:
        self.first, self.second, self.symbol = made_by.first, made_by.second, made_by.symbol
        self.handles: list[Handle] = []
        self.executor, self.size, self.again = 0, 0, False
        # Per descriptor: the index of its parameter among the tensors (-1 in a list), the handle, the offset in bytes.
        self.tensors: list[tuple[int, int, int]] = []
        self.addresses = tuple([array.handle for array in arrays])
        self.arguments: list[Any] = [0] * len(given)
        place = -1
        for position, (parameter, value) in enumerate(zip(made_by.parameters, given)):
            place += parameter.role != ""
            self.arguments[position] = self._argument(parameter, value, place)
        self.plan()
        lists = any(number < 0 for number, _, _ in self.tensors)
        self.again = not lists and acl.set_acl_op_executor_repeatable(self.executor) == 0

    def _argument(self, parameter: Parameter, value: Any, place: int) -> Any:
        """Return the C value of an argument; C objects that this creates are added to the handles."""
        ctype, name = parameter.ctype, parameter.name
        if value is None:
            if ctype == "aclIntArray *" and not parameter.optional:
                return _made(self.handles, acl.create_int_array([]), acl.destroy_int_array, "aclCreateIntArray")
            return 0
        if ctype == "aclTensor *":
            return self._describe(value, place)
        if ctype == "aclTensorList *":
            return self._list([self._describe(array, -1) for array in value], "tensor")
        if ctype == "aclScalar *":
            return _scalar(value, self.handles)
        if ctype == "aclScalarList *":
            return self._list([_scalar(number, self.handles) for number in value], "scalar")
        if ctype in LISTS:
            kind, what, create, end = LISTS[ctype]
            made = create(numbers_of(value, name, kind, what))
            return _made(self.handles, made, end, f"aclCreate{ctype[3:-2]}")
        return plain_of(value, parameter)

    def _describe(self, array: DeviceArray, place: int) -> int:
        """Create the descriptor of an array, and record where :meth:`move` finds it."""
        tensor, low = _tensor(array, self.handles)
        self.tensors.append((place, tensor, low))
        return tensor

    def _list(self, members: list[int], kind: str) -> int:
        """Create a list; destroying it destroys its members."""
        create, end = getattr(acl, f"create_{kind}_list"), getattr(acl, f"destroy_{kind}_list")
        made = _made(self.handles, create(members), end, f"aclCreate{kind.title()}List")
        self.handles = [handle for handle in self.handles if handle.value not in members]
        return made

    def plan(self) -> None:
        """Run the first phase."""
        size, executor, ret = self.first(*self.arguments)
        if ret != 0:
            raise failure(ret, self.symbol + "GetWorkspaceSize")
        self.size, self.executor = size, executor

    def move(self, places: tuple[int, ...]) -> None:
        """Set the addresses that differ from those of the last call."""
        for place, address in enumerate(places):
            if address != self.addresses[place]:
                number, tensor, low = self.tensors[place]
                if self.again:
                    ret = acl.set_tensor_addr(self.executor, number, tensor, address + low)
                else:
                    ret = acl.set_raw_tensor_addr(tensor, address + low)
                if ret != 0:
                    raise failure(ret, "aclSetTensorAddr")
        self.addresses = places

    def __del__(self, is_finalizing: Any = is_finalizing) -> None:
        if is_finalizing():
            return
        # After a reset of the simulator these handles are invalid: clear the messages of the failed calls.
        refused = self.executor != 0 and acl.destroy_acl_op_executor(self.executor) != 0
        for handle in reversed(self.handles):
            refused = handle.end(handle.value) != 0 or refused
        if refused:
            acl.get_recent_err_msg()


def failure(ret: int, function: str) -> AclError:
    """Return the error for a status code of an operator; if the runtime failed, with the runtime's code."""
    if ret == codes.ACLNN_ERR_RUNTIME_ERROR:
        inner = rt.peek_at_last_error(lib.ACL_RT_THREAD_LEVEL)
        if inner:
            return error_of(inner, function)
        _, none = rt.get_device()
        if none:
            return error_of(none, function)
    return error_of(ret, function)
