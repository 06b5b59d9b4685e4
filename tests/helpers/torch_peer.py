"""Calls of operators on PyTorch tensors, random tensors in any memory layout, and comparisons of the results."""

import contextlib
import ctypes
import random

import torch

import acl
from acl import nnop

ND, INVALID = 2, 161002
CODES = {
    torch.bool: 12, torch.uint8: 4, torch.int8: 2, torch.int16: 6, torch.int32: 3, torch.int64: 9, torch.float16: 1,
    torch.bfloat16: 27, torch.float32: 0, torch.float64: 11, torch.complex64: 16, torch.complex128: 17,
}  # fmt: skip
TYPES = {
    "?": torch.bool, "u1": torch.uint8, "i1": torch.int8, "i2": torch.int16, "i4": torch.int32, "i8": torch.int64,
    "f2": torch.float16, "b2": torch.bfloat16, "f4": torch.float32, "f8": torch.float64, "c8": torch.complex64,
    "c16": torch.complex128,
}  # fmt: skip
SINGLE, INTEGERS = "f4 f2 b2", "u1 i1 i2 i4 i8"
FLOATS, REAL = f"{SINGLE} f8", f"? {INTEGERS} {SINGLE} f8"
ROUNDS = 12  # how many random cases a test tries per type
STEPS = 4  # how many numbers of the type a pointwise result may be away
# The tolerated error of a sum or product, relative to the sum of the absolute terms.
PARTS = {torch.float16: 1e-3, torch.bfloat16: 4e-3, torch.float32: 1e-5, torch.float64: 1e-12, torch.complex64: 1e-5}


class OtherTypeError(Exception):
    """Raised when an operator refuses the data type of an argument."""


class Numeric:
    """A scalar with a type of its own; a plain number is passed as Python's type: bool, int64, double or complex."""

    def __init__(self, value, kind):
        self.value, self.kind = value, kind

    @classmethod
    def of(cls, value):
        kinds = {bool: "?", int: "i8", float: "f8", complex: "c16"}
        return value if isinstance(value, cls) else cls(value, kinds[type(value)])


def content(tensor):
    """Return the bytes of the whole storage of a tensor."""
    storage = tensor.untyped_storage()
    return ctypes.string_at(storage.data_ptr(), storage.nbytes()) if storage.nbytes() else b""


class Peer:
    """Operators of the simulator on tensors in the memory of PyTorch; see :meth:`call`."""

    def __init__(self, stream):
        self.stream, self.ends = stream, []

    def call(self, name, *arguments):
        """Run both phases of an operator, with arguments as in C, and return the first code that is not 0.

        Outputs are changed in place. Asserts that inputs, and what lies around the outputs, keep their bytes.
        """
        parameters = nnop._operators()[name]["parameters"]
        assert len(arguments) == len(parameters), (name, parameters)
        tensors, self.ends = [], []
        try:
            handles = [self._handle(*pair, tensors) for pair in zip(arguments, parameters)]
            size, executor, ret = getattr(nnop, f"{name}_get_workspace_size")(*handles)
            if ret == 0:
                block = self._block(size) if size else 0
                ret = getattr(nnop, name)(block, size, executor, self.stream)
                ret = acl.rt.synchronize_stream(self.stream) or ret
            if ret == 0:
                for tensor, address, changes in tensors:
                    self._fetch(tensor, address, changes)
        finally:
            for end, handle in reversed(self.ends):
                end(handle)
        return ret

    def run(self, name, *arguments):
        """Run an operator, which must succeed, and return the last tensor among its arguments, or None."""
        ret = self.call(name, *arguments)
        if ret:
            message = acl.get_recent_err_msg()
            if ret == INVALID and "has data type" in message:
                raise OtherTypeError(message)
            raise AssertionError(f"{name}: {ret}, {message}")
        return next((each for each in reversed(arguments) if isinstance(each, torch.Tensor)), None)

    def _keep(self, handle, end):
        assert handle != 0
        self.ends.append((end, handle))
        return handle

    def _block(self, size):
        address, ret = acl.rt.malloc(max(size, 1), 0)
        assert ret == 0
        return self._keep(address, acl.rt.free)

    def _tensor(self, tensor, changes, tensors):
        data = content(tensor)
        address = self._block(len(data))
        if data:
            assert acl.rt.memcpy(address, len(data), acl.util.bytes_to_ptr(data), len(data), 1) == 0
        tensors.append((tensor, address, changes))
        storage = [len(data) // tensor.element_size()]
        layout = list(tensor.stride()), tensor.storage_offset(), ND, storage, address
        return acl.create_tensor(list(tensor.shape), CODES[tensor.dtype], *layout)

    @staticmethod
    def _scalar(value):
        number = Numeric.of(value)
        bits = content(torch.tensor(number.value, dtype=TYPES[number.kind]))
        return acl.create_scalar(acl.util.bytes_to_ptr(bits), CODES[TYPES[number.kind]])

    def _handle(self, value, parameter, tensors):
        """Return what the C function takes for an argument."""
        kind, _, role = parameter
        kind = kind.removeprefix("const ")
        changes = role.startswith(("out", "inout"))
        if value is None:
            return 0
        if kind == "aclTensor *":
            return self._keep(self._tensor(value, changes, tensors), acl.destroy_tensor)
        if kind == "aclTensorList *":  # a list owns its members
            handles = [self._tensor(each, changes, tensors) for each in value]
            return self._keep(acl.create_tensor_list(handles), acl.destroy_tensor_list)
        if kind == "aclScalar *":
            return self._keep(self._scalar(value), acl.destroy_scalar)
        if kind == "aclScalarList *":
            handles = [self._scalar(each) for each in value]
            return self._keep(acl.create_scalar_list(handles), acl.destroy_scalar_list)
        if kind == "aclDataType":
            return CODES[value]
        makers = {
            "aclIntArray *": (acl.create_int_array, acl.destroy_int_array),
            "aclBoolArray *": (acl.create_bool_array, acl.destroy_bool_array),
            "aclFloatArray *": (acl.create_float_array, acl.destroy_float_array),
        }
        if kind in makers:
            make, end = makers[kind]
            return self._keep(make([int(each) if isinstance(each, bool) else each for each in value]), end)
        return value

    @staticmethod
    def _fetch(tensor, address, changes):
        """Copy the memory back to a tensor that the operator changes, and assert that it changed nothing else."""
        storage, before = tensor.untyped_storage(), content(tensor)
        if not before:
            return
        whole = torch.frombuffer(bytearray(before), dtype=tensor.dtype)
        pointer, size = whole.untyped_storage().data_ptr(), storage.nbytes()
        assert acl.rt.memcpy(pointer, size, address, size, 2) == 0
        if not changes:
            assert content(whole) == before, "an input has changed"
            return
        fresh = whole.clone()
        part = whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
        part.copy_(tensor)
        assert content(whole) == before, "memory around an output has changed"
        tensor.copy_(fresh.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()))


class Source:
    """Random shapes, values and tensors; the same for the same seed."""

    def __init__(self, *seed):
        self.random = random.Random(repr(seed))
        self.generator = torch.Generator().manual_seed(self.random.getrandbits(40))

    def one(self, *choices):
        return self.random.choice(choices)

    def shape(self, least=0, most=4, size=5, empty=True):
        """Return a shape of few dimensions, or one of a single longer dimension."""
        if least <= 1 <= most and self.one(True, False, False):
            return [self.random.randint(1, 300)]
        low = 0 if empty and self.one(*[True] + [False] * 7) else 1
        return [self.random.randint(low, size) for _ in range(self.random.randint(least, most))]

    def stretched(self, shape):
        """Return a shape that is broadcast to this one."""
        kept = [1 if self.one(True, False, False, False) else dim for dim in shape]
        return kept[self.random.randint(0, len(shape)) :] if self.one(True, False) else kept

    def values(self, shape, kind, scale=4.0, wild=True, low=None, high=None):
        """Return random values: for floats with NaN, infinities, denormals and the largest numbers if ``wild``."""
        dtype = TYPES.get(kind, kind)
        shape = list(shape)
        if dtype == torch.bool:
            return torch.randint(0, 2, shape, generator=self.generator).bool()
        if not dtype.is_floating_point and not dtype.is_complex:
            info = torch.iinfo(dtype)
            some = max(info.min, -int(scale * 4)), min(info.max, int(scale * 4))
            some = some[0] if low is None else int(low), some[1] if high is None else int(high)
            return torch.randint(some[0], some[1] + 1, shape, generator=self.generator).to(dtype)
        wide = torch.float64 if not dtype.is_complex else torch.complex128
        found = torch.randn(shape, generator=self.generator, dtype=wide) * scale
        if low is not None:
            found = torch.rand(shape, generator=self.generator, dtype=wide) * (high - low) + low
        found = found.to(dtype)
        if wild and not dtype.is_complex and found.numel():
            info, flat = torch.finfo(dtype), found.reshape(-1)
            odd = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, info.max, info.min]
            odd += [info.tiny, info.tiny / 4, -info.tiny / 8, info.eps]
            for _ in range(self.random.randint(0, min(200, 1 + flat.numel() // 2))):
                flat[self.random.randrange(flat.numel())] = self.one(*odd)
        return found

    def view(self, values, repeats=False):
        """Return a tensor with these values in a random memory layout; ``repeats`` allows dimensions of stride 0."""
        shape, rank = list(values.shape), values.dim()
        axes = self.random.sample(range(rank), rank)
        steps = [self.one(1, 1, 1, 2, 3) for _ in shape]
        strides, total = [0] * rank, 1
        for axis in reversed(axes):
            strides[axis] = total * steps[axis]
            total *= max(1, shape[axis]) * steps[axis]
        offset = self.one(0, 0, 1, 5)
        base = self.values([total + offset + self.one(0, 3)], values.dtype, wild=False)
        found = base.as_strided(shape, strides, offset)
        found.copy_(values)
        if repeats and rank and self.one(True, False, False, False):
            axis = self.random.randrange(rank)
            if shape[axis] > 1:
                found = found.narrow(axis, 0, 1).expand(shape)
        return found

    def take(self, shape, kind, **limits):
        """Return an input: a tensor of random values in a random memory layout."""
        return self.view(self.values(shape, kind, **limits), repeats=True)

    def blank(self, shape, kind):
        """Return a tensor for an output, full of random values."""
        return self.view(self.values(shape, kind, wild=False))

    def like(self, expected, kind=None):
        """Return a tensor for an output of the shape, and unless another is given of the type, of the expected one."""
        return self.blank(expected.shape, kind or expected.dtype)


def ordered(tensor):
    """Return the places of floats in the order of all numbers of their type; zeros have one place."""
    whole = {2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()]
    bits = tensor.contiguous().view(whole).to(torch.int64)
    least = torch.iinfo(whole).min
    return torch.where(bits < 0, least - bits, bits)


def wide(tensor):
    """Return a tensor in double precision; integers stay."""
    if tensor.is_complex():
        return tensor.to(torch.complex128)
    return tensor.double() if tensor.is_floating_point() else tensor


def same(found, expected, note=""):
    """Assert that two tensors are equal, NaN by position."""
    assert found.shape == expected.shape, (found.shape, expected.shape, note)
    expected = expected.to(found.dtype)
    agree = (found == expected) | ((found != found) & (expected != expected))
    assert agree.all(), f"{note}: {describe(found, expected, agree)}"


def describe(found, expected, agree):
    where = (~agree).reshape(-1).nonzero().reshape(-1)[:5]
    pairs = [(found.reshape(-1)[i].item(), expected.reshape(-1)[i].item()) for i in where]
    return f"{len(pairs)} or more of {found.numel()} {found.dtype} differ, (found, expected): {pairs}"


def pointwise(found, expected, note="", steps=STEPS, error=None):
    """Assert that floats are at most ``steps`` numbers of their type away, or within ``error``; others are equal."""
    if not found.is_floating_point():
        same(found, expected, note)
        return
    assert found.shape == expected.shape, (found.shape, expected.shape, note)
    expected = expected.to(found.dtype)
    agree = (ordered(found) - ordered(expected)).abs() <= steps
    agree &= found.isnan() == expected.isnan()
    agree |= found.isnan() & expected.isnan()
    if error is not None:
        agree |= (found.double() - expected.double()).abs() <= error
    assert agree.all(), f"{note}: {describe(found, expected, agree)}"


def summed(found, expected, size=None, note="", part=None):
    """Assert that sums are within the tolerance of their type, relative to ``size``, the sum of the absolute terms."""
    if not found.is_floating_point() and not found.is_complex():
        same(found, expected, note)
        return
    assert found.shape == expected.shape, (found.shape, expected.shape, note)
    whole = wide(expected)
    expected = wide(whole.to(found.dtype))
    if size is None:
        plain = whole.abs()[whole.isfinite()]
        size = plain.max().item() if plain.numel() else 0.0
    part = PARTS[found.dtype] if part is None else part
    least = torch.finfo(found.dtype).tiny
    close = (wide(found) - whole).abs() <= part * size + least
    agree = close | (wide(found) == expected)
    if not found.is_complex():
        agree |= wide(found).isnan() & expected.isnan()
    assert agree.all(), f"{note}: {describe(found, expected, agree)}"


def each(kinds, *name, rounds=ROUNDS):
    """Yield the type and a :class:`Source` for each random case of a test."""
    for kind in kinds.split():
        for turn in range(rounds):
            yield kind, Source(kind, turn, *name)


@contextlib.contextmanager
def documented(kind, sure="f4"):
    """Leave the block if the operator, or PyTorch, does not take this type; both must take the types of ``sure``.

    Which types an operator takes is tested by tests/test_operators_*.py.
    """
    try:
        yield
    except (OtherTypeError, NotImplementedError) as error:
        assert kind not in sure.split(), error
    except RuntimeError as error:
        if "on a bool tensor is not supported" not in str(error):
            raise
