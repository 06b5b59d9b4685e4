"""Operators on arrays: the implementation of the functions of :mod:`acl.nn`.

The first call of a signature (the shapes, strides and types of the arrays, and the values of the other arguments)
creates a :class:`Call`, which runs the first phase and keeps the executor if it is repeatable.
Later calls of the signature only set the addresses that have changed and run the second phase. If an executor is not
repeatable, each call runs the first phase.

Ownership: calls belong to the opening of their device and end with it; an operator keeps the newest :data:`SIGNATURES`
signatures. A thread removes a call from its list during the use, so that two threads never use one executor; a call
that failed is discarded. Each stream keeps a workspace, which its operators share because they run in order. A capture
has a separate workspace per stream, held by its instance, because replays run beside the stream's own work.
"""

import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn, Optional

import numpy

from acl import nnop
from acl._hooks import kernel_replaced
from acl.errors import AclError, codes, error_of
from acl.objects import resource
from acl.objects.array import DeviceArray
from acl.objects.context_current import current_handle
from acl.objects.kernel import check_place, finish
from acl.objects.memory import Buffer
from acl.objects.memory_block import Block, captured_into, refuse, tell
from acl.objects.op_call import LISTS, Call, dtype_of, failure, is_number, numbers_of, plain_of, shown
from acl.objects.op_signature import Parameter, Shape, shape_of
from acl.objects.op_sized import result_of
from acl.objects.op_table import RULES, SIZED
from acl.objects.op_types import Refused, Spec
from acl.objects.resource import LEAST, MOST, Opening, current_opening, stream_handle

if TYPE_CHECKING:
    from acl.objects.stream import Stream

SIGNATURES = 256  # how many signatures an operator keeps per device

workspaces: "weakref.WeakKeyDictionary[Stream, Block]" = weakref.WeakKeyDictionary()
captured_workspaces: "weakref.WeakValueDictionary[tuple[int, int], Block]" = weakref.WeakValueDictionary()


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
        self.first, self.second = getattr(nnop, f"{name}_get_workspace_size"), getattr(nnop, name)
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
        result = out
        if self.outputs:
            if out is None:
                opening = resource.single or current_opening()
                if self.sized:
                    return self._sized(values, opening, stream)
                result, out = self._made_outputs(values, opening)
            values += (out,) if self.outputs == 1 else self._tuple(out)
            if self.order is not None:
                values = tuple([values[place] for place in self.order])
        arrays: list[DeviceArray] = []
        try:
            key = tuple(_look(values, arrays))
        except (AttributeError, TypeError, ValueError):  # a wrong argument, which the checks refuse
            key = ()
        places, blocks = tuple([array._handle for array in arrays]), tuple([array._block for array in arrays])
        if not self.repeat(key, places, blocks, stream):
            opening = resource.single or current_opening()
            arrays = self._check(values, opening)
            ready = self._ready(tuple(_look(values, [])), opening)
            call = self._begin(values, arrays, opening, stream)
            if call.again or not self.sized:  # otherwise the next first phase would take this result for the output
                ready.append(call)
        return result if self.outputs else self._changed(values)

    def repeat(
        self, key: tuple[Any, ...], places: tuple[int, ...], blocks: tuple[Any, ...], stream: "Optional[Stream]"
    ) -> bool:
        """Run a call that is ready for a signature and the addresses and blocks of its arrays; False if there is none.

        It is also False for arrays that have to be refused.
        """
        opening = resource.single or current_opening()
        busy = False
        try:
            ready = opening.keep[self.key][key]
            call = ready.pop()
            for block in blocks:
                if block.opening is not opening or block.kind == "host":
                    return False
                if block.uses:
                    busy = True
        except (AttributeError, IndexError, KeyError, TypeError):  # also of an array that is closed
            return False
        if places != call.addresses:
            call.move(places)
        if not call.executor:
            call.plan()
        if stream is not None:
            self._queue(call, blocks, stream)
        elif busy or call.size or not call.again:
            self._now(call, blocks, opening)
        else:  # as _now() does, with nothing to wait for and without a workspace
            ret = call.second(0, 0, call.executor, 0)
            if ret != 0:
                raise failure(ret, self.symbol)
            finish(blocks, self.symbol)
        if call.again or not self.sized:
            ready.append(call)
        return True

    def _begin(
        self, values: tuple[Any, ...], arrays: list[DeviceArray], opening: Opening, stream: "Optional[Stream]"
    ) -> Call:
        """Prepare a call for arguments that were checked, and run it."""
        call = self._prepare(values, arrays)
        blocks = tuple([array._live() for array in arrays])
        if stream is None:
            self._now(call, blocks, opening)
        else:
            self._queue(call, blocks, stream)
        return call

    def _sized(self, values: tuple[Any, ...], opening: Opening, stream: "Optional[Stream]") -> Any:
        """Allocate outputs of the largest size, run both phases, wait, and return the results."""
        if stream is not None and captured_into(stream_handle(stream)):
            self._ask_for_out(f"the size of {self._names()} is not known while the stream is being captured")
        _, out = self._made_outputs(values, opening)
        values += (out,) if self.outputs == 1 else out
        arrays = self._check(values, opening)
        call = self._begin(values, arrays, opening, stream)  # no other task changes the shapes of its descriptors
        if stream is not None:
            stream.synchronize()
        pairs = list(zip(arrays, call.tensors))[-self.outputs :]
        found = tuple([result_of(array, tensor) for array, (_, tensor, _) in pairs])
        return found[0] if self.outputs == 1 else found

    def _launch(self, call: Call, workspace: int, stream: int) -> None:
        """Run the second phase."""
        executor = call.executor
        if not call.again:
            call.executor = 0  # the second phase consumes it, also if it fails
        ret = call.second(workspace, call.size, executor, stream)
        if ret != 0:
            raise failure(ret, self.symbol)

    def _queue(self, call: Call, blocks: tuple[Block, ...], stream: "Stream") -> None:
        """Launch a call on a stream, and register the stream with the memory that the call uses."""
        handle = stream_handle(stream)
        address = 0
        if call.size:
            workspace = workspace_of(stream, handle, call.size)
            address = workspace.address
            blocks = (*blocks, workspace)
        try:
            self._launch(call, address, handle)
        except AclError:
            if stream._context != current_handle():
                raise error_of(codes.ACL_ERROR_RT_STREAM_CONTEXT, self.symbol) from None
            raise
        tell(blocks, stream)

    def _now(self, call: Call, blocks: tuple[Block, ...], opening: Opening) -> None:
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
            blocks = (*blocks, workspace)
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
            given = len(out) if isinstance(out, (list, tuple)) else shown(out)
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
                    self._refuse(f"{parameter.name} is {shown(value)}, expected {self._expected(parameter)}")
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
                        numbers_of(value, parameter.name, *LISTS[parameter.ctype][:2])
                    else:
                        plain_of(value, parameter)
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
        if not is_number(value):
            plain = self.name[:-1] if self.name.endswith("s") else self.name
            advice = self._twin(plain, self.name.replace("_scalar", "_tensor"))
            self._refuse(f"{name} is {shown(value)}, expected a number", advice or "array.item() reads one element")
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
            elif is_number(value):
                names = self.name + "s", self.name.replace("tensor_tensor", "tensor_scalar"), self.name + "_scalar"
                advice = self._twin(*names, self.name.replace("_tensor", "_scalar")) or advice
            self._refuse(f"{name} is {shown(value)}, expected an acl.DeviceArray", advice)
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
