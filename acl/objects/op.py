"""Operators on arrays: the implementation of the functions of :mod:`acl.nn`.

The first call of a signature (the shapes, strides and types of the arrays, and the values of the other arguments)
creates a :class:`Call`: it creates the descriptors, runs the first phase, and keeps the executor if it is repeatable.
Later calls of the signature only set the addresses that have changed and run the second phase. If an executor is not
repeatable, each call runs the first phase.

Ownership: calls belong to the opening of their device and end with it; an operator keeps the newest :data:`SIGNATURES`
signatures. A thread removes a call from its list during the use, so that two threads never use one executor; a call
that failed is discarded. Each stream keeps a workspace, which its operators share because they run in order. A capture
has a separate workspace per stream, held by its instance, because replays run beside the stream's own work.
"""

import operator as numbers
import weakref
from collections.abc import Callable, Iterable
from sys import is_finalizing
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Optional

import numpy

import acl
from acl import nnop, rt
from acl._hooks import kernel_replaced
from acl._lib import _acl, lib
from acl.data_types import DATA_TYPES
from acl.errors import AclError, codes, error_of
from acl.objects import resource
from acl.objects.array import DeviceArray
from acl.objects.context_current import current_handle
from acl.objects.kernel import check_place, finish
from acl.objects.memory import Buffer
from acl.objects.memory_block import Block, captured_into, refuse, tell
from acl.objects.op_signature import Parameter, Shape, shape_of
from acl.objects.op_sized import result_of
from acl.objects.op_table import RULES, SIZED
from acl.objects.op_types import Refused, Spec, type_of_number
from acl.objects.resource import LEAST, MOST, Opening, current_opening, stream_handle

if TYPE_CHECKING:
    from acl.objects.stream import Stream

SIGNATURES = 256  # how many signatures an operator keeps per device
ND = lib.ACL_FORMAT_ND
# Data types by their name in NumPy or ml_dtypes, and the names by the data type.
CODES = {kind.name: code for code, kind in DATA_TYPES.items() if kind.package}
NAMES = {code: name for name, code in CODES.items()}
BITS = {"int": 32, "int8_t": 8, "int32_t": 32, "uint32_t": 32, "int64_t": 64, "uint64_t": 64}

workspaces: "weakref.WeakKeyDictionary[Stream, Block]" = weakref.WeakKeyDictionary()
captured_workspaces: "weakref.WeakValueDictionary[tuple[int, int], Block]" = weakref.WeakValueDictionary()


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


def _numbers(value: Any, name: str, kind: Callable[[Any], Any], what: str) -> list[Any]:
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


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex, numpy.number, numpy.bool_))


def _plain(value: Any, parameter: Parameter) -> Any:
    """Return the C value of a number, a bool, a str or a data type."""
    name, ctype = parameter.name, parameter.ctype
    if ctype == "char *":
        if not isinstance(value, str):
            raise Refused(f"{name} is {value!r}, expected a str")
        return value.encode()
    if ctype == "aclDataType":
        return code_of(dtype_of(value))
    if not _is_number(value) or isinstance(value, (complex, numpy.complexfloating)):
        raise Refused(f"{name} is {_shown(value)}, expected a number")
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


def _shown(value: Any) -> str:
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
        self.addresses = [array.handle for array in arrays]
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
            return nnop._ffi.NULL if ctype == "char *" else 0
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
            made = create(_numbers(value, name, kind, what))
            return _made(self.handles, made, end, f"aclCreate{ctype[3:-2]}")
        return _plain(value, parameter)

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
        size, executor = nnop._ffi.new("uint64_t *"), nnop._ffi.new("uintptr_t *")
        ret = self.first(*self.arguments, size, executor)
        if ret != 0:
            raise _failure(ret, self.symbol + "GetWorkspaceSize")
        self.size, self.executor = size[0], executor[0]

    def move(self, arrays: list[DeviceArray]) -> None:
        """Set the addresses that differ from those of the last call."""
        for place, array in enumerate(arrays):
            address = array._handle
            if address != self.addresses[place]:
                number, tensor, low = self.tensors[place]
                if self.again:
                    ret = acl.set_tensor_addr(self.executor, number, tensor, address + low)
                else:
                    ret = acl.set_raw_tensor_addr(tensor, address + low)
                if ret != 0:
                    raise _failure(ret, "aclSetTensorAddr")
                self.addresses[place] = address

    def __del__(self, is_finalizing: Any = is_finalizing) -> None:
        if is_finalizing():
            return
        # After a reset of the simulator these handles are invalid: clear the messages of the failed calls.
        refused = self.executor != 0 and acl.destroy_acl_op_executor(self.executor) != 0
        for handle in reversed(self.handles):
            refused = handle.end(handle.value) != 0 or refused
        if refused:
            acl.get_recent_err_msg()


def _failure(ret: int, function: str) -> AclError:
    """Return the error for a status code of an operator; if the runtime failed, with the runtime's code."""
    if ret == codes.ACLNN_ERR_RUNTIME_ERROR:
        inner = rt.peek_at_last_error(lib.ACL_RT_THREAD_LEVEL)
        if inner:
            return error_of(inner, function)
        _, none = rt.get_device()
        if none:
            return error_of(none, function)
    return error_of(ret, function)


def _look(values: Iterable[Any], arrays: list[DeviceArray]) -> list[Any]:
    """Return the part of the signature that some arguments determine, and collect the arrays among them."""
    key: list[Any] = []
    for value in values:
        if isinstance(value, DeviceArray):
            arrays.append(value)
            key.append(value._layout)
        elif isinstance(value, (list, tuple)):
            key += (len(value), tuple(_look(value, arrays)))
        else:  # 0.0 and -0.0 are equal, but have different results
            key += (value.__class__, value or repr(value))
    return key


class Operator:
    """One operator: its phases, its signature and its calls."""

    def __init__(self, name: str) -> None:
        row = nnop._operators()[name]
        self.name, self.symbol, self.key = name, row["name"], f"acl.nn.{name}"
        self.first, self.second = nnop.phases(row)
        self.shape: Shape = shape_of(row)
        self.parameters = self.shape.parameters
        self.specs: dict[Any, list[Any]] = {}
        inputs, outputs = self.shape.inputs, self.shape.outputs
        self.outputs, self.sized = len(outputs), name in SIZED
        self.required = [place for place in outputs if not self.parameters[place].optional]
        # For each C parameter its index in the inputs followed by the outputs; None if both orders are the same.
        places = inputs + outputs
        order = [places.index(place) for place in range(len(places))]
        self.order = None if order == sorted(order) else order

    # --- Every call

    def run(self, values: tuple[Any, ...], out: Any, stream: "Optional[Stream]") -> Any:
        """Run both phases, and return the results."""
        opening = resource.single or current_opening()
        arrays: list[DeviceArray] = []
        result = out
        if self.outputs:
            if out is None:
                if self.sized:
                    return self._sized(values, opening, stream)
                result, out = self._made_outputs(values, opening)
            values += (out,) if self.outputs == 1 else self._tuple(out)
            if self.order is not None:
                values = tuple([values[place] for place in self.order])
        try:
            ready = opening.keep[self.key][tuple(_look(values, arrays))]
            call = ready.pop()
            blocks: list[Any] = [array._block for array in arrays]
            for block in blocks:
                if block.opening is not opening:
                    raise KeyError
            moved = [array._handle for array in arrays] != call.addresses
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            arrays = self._check(values, opening)
            blocks, moved = [array._live() for array in arrays], False
            ready = self._ready(tuple(_look(values, [])), opening)
            call = self._prepare(values, arrays)
        if moved:
            self._check(values, opening)
            call.move(arrays)
        if not call.executor:
            call.plan()
        if stream is None:
            self._now(call, blocks, opening)
        else:
            self._queue(call, blocks, stream)
        if call.again or not self.sized:  # otherwise the next first phase would take the last result for the output
            ready.append(call)
        return result if self.outputs else self._changed(values)

    def _sized(self, values: tuple[Any, ...], opening: Opening, stream: "Optional[Stream]") -> Any:
        """Allocate outputs of the largest size, run both phases, wait, and return the results."""
        if stream is not None and captured_into(stream_handle(stream)):
            self._ask_for_out(f"the size of {self._names()} is not known while the stream is being captured")
        _, out = self._made_outputs(values, opening)
        values += (out,) if self.outputs == 1 else out
        arrays = self._check(values, opening)
        call = self._prepare(values, arrays)  # no other task changes the shapes of its descriptors
        blocks: list[Any] = [array._live() for array in arrays]
        if stream is None:
            self._now(call, blocks, opening)
        else:
            self._queue(call, blocks, stream)
            stream.synchronize()
        pairs = list(zip(arrays, call.tensors))[-self.outputs :]
        found = tuple([result_of(array, tensor) for array, (_, tensor, _) in pairs])
        return found[0] if self.outputs == 1 else found

    def _launch(self, call: Call, workspace: int, stream: int) -> None:
        """Run the second phase."""
        executor = call.executor
        if not call.again:
            call.executor = 0  # the second phase consumes it, also if it fails
        ret = _acl.phase_two(call.second, workspace, call.size, executor, stream)
        if ret != 0:
            raise _failure(ret, self.symbol)

    def _queue(self, call: Call, blocks: list[Any], stream: "Stream") -> None:
        """Launch a call on a stream, and register the stream with the memory that the call uses."""
        handle = stream_handle(stream)
        address = 0
        if call.size:
            workspace = workspace_of(stream, handle, call.size)
            address = workspace.address
            blocks.append(workspace)
        try:
            self._launch(call, address, handle)
        except AclError:
            if stream._context != current_handle():
                raise error_of(codes.ACL_ERROR_RT_STREAM_CONTEXT, self.symbol) from None
            raise
        tell(blocks, stream)

    def _now(self, call: Call, blocks: list[Any], opening: Opening) -> None:
        """Wait for the work that is registered with the memory, launch a call, and wait for it."""
        for block in blocks:
            if block.uses:
                block.settle()
        workspace = None
        if call.size:
            spare: list[Block] = opening.keep.setdefault("acl.nn", [])
            workspace = next((spare.pop() for _ in spare[-1:]), None)
            if workspace is None or workspace.size < call.size:
                workspace = Block.allocate(call.size, "device", "huge_first")
            blocks.append(workspace)
        self._launch(call, 0 if workspace is None else workspace.address, 0)
        finish(blocks, self.symbol)
        if workspace is not None:
            spare.append(workspace)

    def _changed(self, values: Any) -> Any:
        """Return the arguments that an operator without outputs has changed."""
        found = tuple([values[place] for place in self.shape.results])
        return found[0] if len(found) == 1 else found or None

    # --- The first time of a signature

    def _refuse(self, reason: str, advice: str = "") -> NoReturn:
        """Raise the error for a wrong argument."""
        raise refuse(f"nn.{self.name}", reason, advice) from None

    def _ask_for_out(self, reason: str) -> NoReturn:
        """Raise the error for outputs that cannot be allocated."""
        many = "a tuple of arrays" if self.outputs > 1 else "an array"
        self._refuse(reason, f"pass {many}: out=acl.DeviceArray(shape, dtype)")

    def _names(self) -> str:
        """Return the names of the outputs."""
        return ", ".join(self.parameters[place].name for place in self.shape.outputs)

    def _tuple(self, out: Any) -> tuple[Any, ...]:
        """Return the given outputs as a tuple; a single array is allowed if all other outputs are optional."""
        count = len(self.shape.outputs)
        if isinstance(out, DeviceArray) and len(self.required) == 1:
            return tuple(out if place == self.required[0] else None for place in self.shape.outputs)
        if not isinstance(out, (list, tuple)) or len(out) != count:
            given = len(out) if isinstance(out, (list, tuple)) else _shown(out)
            self._refuse(f"out is {given}, expected a tuple of {count}: {self._names()}")
        return tuple(out)

    def _made_outputs(self, values: tuple[Any, ...], opening: Opening) -> Any:
        """Allocate the outputs; return the results of the call, and the outputs for C."""
        try:
            key = tuple(_look(values, []))
            specs = self.specs.get(key)
        except (TypeError, ValueError):
            key, specs = (), None
        if specs is None:
            specs = self._infer(values, opening)
            if len(self.specs) >= SIGNATURES:
                self.specs.clear()
            self.specs[key] = specs
        made = [
            DeviceArray(*spec) if isinstance(spec, Spec) else spec and [DeviceArray(*member) for member in spec]
            for spec in specs
        ]
        result = made[0] if len(made) == 1 else tuple(made)
        missing = len(self.shape.outputs) - len(made)
        if len(made) > len(self.required):  # the rule also says which optional outputs there are
            return tuple([array for array in made if array is not None]), (*made, *[None] * missing)
        if missing == 0:
            return result, result
        ready = iter(made)
        return result, tuple(None if self.parameters[p].optional else next(ready) for p in self.shape.outputs)

    def _infer(self, values: tuple[Any, ...], opening: Opening) -> list[Any]:
        """Return the shapes and types of the outputs, or raise an error if the arguments do not determine them."""
        rule = RULES.get(self.name)
        given = [self.parameters[place] for place in self.shape.inputs]
        arrays = self._check(values, opening, given)
        if rule is None:
            self._ask_for_out(f"shape and type of {self._names()} do not follow from the arguments")
        try:
            arguments = {parameter.name: value for parameter, value in zip(given, values)}
            if arguments.get("dtype") is not None:
                arguments["dtype"] = dtype_of(arguments["dtype"])
            return rule(arguments, arrays)
        except Refused as error:
            self._refuse(error.reason, error.advice)
        # from numbers and dimensions, which _check leaves to the rule
        except (LookupError, ArithmeticError, TypeError, ValueError) as error:
            self._refuse(f"the arguments do not fit together ({error})", "help() of the operator describes them")

    def _check(self, values: Iterable[Any], opening: Opening, parameters: Any = None) -> list[DeviceArray]:
        """Return the arrays among the arguments, or raise an error for a wrong argument."""
        arrays: list[DeviceArray] = []
        for parameter, value in zip(parameters or self.parameters, values):
            if value is None:
                if not (parameter.optional or parameter.default == "None"):
                    self._refuse(f"{parameter.name} is None, expected {self._expected(parameter)}")
            elif parameter.ctype == "aclTensor *":
                arrays.append(self._array(value, parameter.name, opening))
            elif parameter.ctype in ("aclTensorList *", "aclScalarList *"):
                if not isinstance(value, (list, tuple)):
                    self._refuse(f"{parameter.name} is {_shown(value)}, expected {self._expected(parameter)}")
                if parameter.ctype == "aclTensorList *":
                    names = (f"{parameter.name}[{place}]" for place in range(len(value)))
                    arrays += [self._array(member, name, opening) for member, name in zip(value, names)]
                else:
                    for place, member in enumerate(value):
                        self._number(member, f"{parameter.name}[{place}]")
            elif parameter.ctype == "aclScalar *":
                self._number(value, parameter.name)
            else:
                try:
                    if parameter.ctype in LISTS:
                        _numbers(value, parameter.name, *LISTS[parameter.ctype][:2])
                    else:
                        _plain(value, parameter)
                except Refused as error:
                    self._refuse(error.reason, error.advice)
        return arrays

    @staticmethod
    def _expected(parameter: Parameter) -> str:
        """Return the text for messages that says what a parameter accepts."""
        kinds = {
            "aclTensor *": "an acl.DeviceArray", "aclTensorList *": "a list of acl.DeviceArray",
            "aclScalar *": "a number", "aclScalarList *": "a list of numbers",
        }  # fmt: skip
        return kinds.get(parameter.ctype, "a value")

    def _twin(self, *names: str) -> str:
        """Return the advice to use the first of these operators that exists, or an empty text."""
        found = next((name for name in names if name != self.name and name in nnop._operators()), None)
        return f"use acl.nn.{found}" if found else ""

    def _number(self, value: Any, name: str) -> None:
        """Raise an error unless an argument is a number that operators accept."""
        if not _is_number(value):
            plain = self.name[:-1] if self.name.endswith("s") else self.name
            advice = self._twin(plain, self.name.replace("_scalar", "_tensor"))
            self._refuse(f"{name} is {_shown(value)}, expected a number", advice or "array.item() reads one element")
        if isinstance(value, int) and not LEAST <= value <= MOST:
            self._refuse(f"{name} is {value}, expected {LEAST} to {MOST}", "pass a float")

    def _array(self, value: Any, name: str, opening: Opening) -> DeviceArray:
        """Return an argument, or raise an error unless it is an array that the thread's device can access."""
        if not isinstance(value, DeviceArray):
            advice = "pass an acl.DeviceArray"
            if isinstance(value, numpy.ndarray):
                advice = "copy it to the device: acl.DeviceArray.from_numpy(array)"
            elif isinstance(value, Buffer):
                advice = "make it an array: acl.DeviceArray.from_buffer(buffer, shape, dtype)"
            elif _is_number(value):
                names = self.name + "s", self.name.replace("tensor_tensor", "tensor_scalar"), self.name + "_scalar"
                advice = self._twin(*names, self.name.replace("_tensor", "_scalar")) or advice
            self._refuse(f"{name} is {_shown(value)}, expected an acl.DeviceArray", advice)
        check_place(value._live(), name, opening, f"nn.{self.name}")
        return value

    def _ready(self, signature: tuple[Any, ...], opening: Opening) -> list[Call]:
        """Return the list of the prepared calls of a signature that no thread is using."""
        calls: dict[tuple[Any, ...], list[Call]] = opening.keep.setdefault(self.key, {})
        ready = calls.get(signature)
        if ready is None:
            if len(calls) >= SIGNATURES:
                calls.pop(next(iter(calls)), None)
            ready = calls.setdefault(signature, [])
        return ready

    def _prepare(self, values: tuple[Any, ...], arrays: list[DeviceArray]) -> Call:
        """Create a call for a signature, with the default values that depend on its arrays."""
        given = list(values)
        truths = bool(arrays) and all(array.dtype == bool for array in arrays)
        for place, parameter in enumerate(self.parameters):
            if parameter.name == "dtype" and given[place] is None:  # the default is the type of the result
                given[place] = given[self.shape.results[0]].dtype
            if truths and parameter.name in ("alpha", "beta") and given[place] == 1:
                given[place] = True  # operators on bool accept no other type, and 1 is the default
        try:
            return Call(self, given, arrays)
        except Refused as error:
            self._refuse(error.reason, error.advice)


def workspace_of(stream: "Stream", handle: int, size: int) -> Block:
    """Return the workspace of a stream, or of the capture that it is in, with at least this size."""
    instance = captured_into(handle)
    if instance:
        found = captured_workspaces.get((instance, handle))
    else:
        found = workspaces.get(stream)
    if found is None or found.size < size:
        found = Block.allocate(size, "device", "huge_first")
        if instance:
            captured_workspaces[instance, handle] = found
        else:
            workspaces[stream] = found
    return found


@kernel_replaced.register
def forget() -> None:
    """Discard all prepared calls: the next call of each signature runs its first phase again."""
    for opening in list(resource.openings.values()):
        for name in [name for name in opening.keep if name.startswith("acl.nn.")]:
            opening.keep.pop(name, None)
