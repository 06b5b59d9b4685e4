"""What buffers, arrays, pools and DLPack say when they are misused: one row a mistake."""

import numpy
import pytest
from helpers.objects import misuse, raises, things

import acl

pytestmark = pytest.mark.usefixtures("opened")
ARGUMENT, HANDLE = acl.InvalidArgumentError, acl.InvalidHandleError


@pytest.fixture
def x(opened):
    with things() as made:
        yield made


class Elsewhere:
    """A foreign array on a kind of device that is not ours."""

    def __dlpack__(self, **options):
        raise AssertionError("not asked for")

    def __dlpack_device__(self):
        return 2, 0


MISUSE = (
    ("buffer of a text", lambda x: acl.Buffer("8"), TypeError, ("size is '8'", "expected an int")),
    ("buffer of a fraction", lambda x: acl.Buffer(1.5), TypeError, ("size is 1.5", "expected an int")),
    ("buffer of nothing", lambda x: acl.Buffer(0), ARGUMENT, ("size is 0", "expected 1")),
    ("buffer longer than addresses", lambda x: acl.Buffer(2**64 + 4), ARGUMENT, (f"size is {2**64 + 4}", "expected 1")),
    ("buffer of half of all addresses", lambda x: acl.Buffer(2**63), acl.OutOfMemoryError, (f"{2**63} bytes",)),
    ("buffer of too much", lambda x: acl.Buffer(1 << 60), acl.OutOfMemoryError, (f"{1 << 60} bytes", "close buffers")),
    ("kind", lambda x: acl.Buffer(8, kind="gpu"), ARGUMENT, ("kind is 'gpu'", "device, host, managed")),
    ("memory at 0", lambda x: acl.Buffer.from_handle(0, 8), ARGUMENT,
     ("address is 0x0, expected the address of 8 bytes", "of a block")),
    ("memory of negative size", lambda x: acl.Buffer.from_handle(4096, -1), ARGUMENT, ("size is -1", "0 or more")),
    ("memory at a text", lambda x: acl.Buffer.from_handle("p", 8), TypeError, ("address is 'p'", "an int")),
    ("array over nothing", lambda x: acl.DeviceArray.from_handle(0, 3), ARGUMENT,
     ("expected the address of 12 bytes",)),
    ("memory at a negative place", lambda x: acl.Buffer.from_handle(-8, 8), ARGUMENT, ("address is -8",)),
    ("memory of another kind", lambda x: acl.Buffer.from_handle(4096, 8, kind="gpu"), ARGUMENT, ("kind is 'gpu'",)),
    ("array over a number", lambda x: acl.DeviceArray.from_buffer(3, 2), TypeError, ("3 is not an acl.Buffer",)),
    ("offset as text", lambda x: acl.DeviceArray.from_buffer(x.buffer, 1, offset="0"), TypeError, ("offset is '0'",)),
    ("byte as text", lambda x: x.buffer.fill("0"), TypeError, ("value is '0'", "expected an int")),
    ("byte too large", lambda x: x.buffer.fill(256), ARGUMENT, ("value is 256", "0 to 255")),
    ("copy from a number", lambda x: x.buffer.copy_from(3), ARGUMENT, ("int is not contiguous memory", "DeviceArray")),
    ("copy from None", lambda x: x.buffer.copy_from(None), ARGUMENT, ("NoneType is not contiguous memory",)),
    ("copy to None", lambda x: x.buffer.copy_to(None), ARGUMENT, ("NoneType is not contiguous writable memory",)),
    ("copy to a read-only array", lambda x: x.buffer.copy_to(b"12345678"), ARGUMENT, ("writable memory", "bytearray")),
    ("copy too much", lambda x: x.buffer.copy_from(bytes(9)), ARGUMENT, ("9 bytes do not fit", "target 8")),
    ("copy of negative size", lambda x: x.buffer.copy_from(bytes(8), size=-1), ARGUMENT, ("-1 bytes do not fit",)),
    ("copy of a fraction", lambda x: x.buffer.copy_from(bytes(8), size=1.5), TypeError, ("size is 1.5",)),
    ("copy of a text", lambda x: x.buffer.copy_to(bytearray(8), size="8"), TypeError, ("Buffer.copy_to: size is '8'",)),
    ("copy from a stream", lambda x: x.buffer.copy_from(x.stream), ARGUMENT, ("Stream is not contiguous memory",)),
    ("kind as a list", lambda x: acl.Buffer(8, kind=["host"]), ARGUMENT, ("kind is ['host']", "device, host, managed")),
    ("fill on an event", lambda x: x.buffer.fill(1, stream=x.event), TypeError, ("is not an acl.Stream",)),
    ("used on memory", lambda x: x.buffer.used_on(x.array), TypeError, ("is not an acl.Stream",)),
    ("lent to a text", lambda x: x.array.__dlpack__(dl_device="cpu"), TypeError, ("dl_device is 'cpu'", "(1, 0)")),
    ("view of the device", lambda x: x.buffer.view(), ARGUMENT, ("cannot reach device memory", "copy_to()")),
    ("numpy of the device", lambda x: numpy.asarray(x.buffer), ARGUMENT, ("cannot reach device memory",)),
    ("numpy too large", lambda x: x.pinned.numpy("f4", (3,)), ARGUMENT, ("12 bytes", "has 8")),
    ("numpy of an unknown type", lambda x: x.pinned.numpy("quad"), TypeError, ("quad",)),
    ("numpy of no size", lambda x: x.pinned.numpy("V0"), ARGUMENT, ("no size in memory",)),
    ("numpy of objects", lambda x: x.pinned.numpy("O"), ARGUMENT, ("object has no size in memory",)),
    ("numpy of fractions", lambda x: x.pinned.numpy("f4", (2, 0.5)), TypeError, ("a dimension is 0.5",)),
    ("numpy of negative shape", lambda x: x.pinned.numpy("f4", (2, -1)), ARGUMENT, ("no negative",)),
    ("queued fill of the host", lambda x: x.pinned.fill(0, stream=x.stream), ARGUMENT, ("on a stream", "stream=")),
    ("shape of a text", lambda x: acl.DeviceArray("3"), TypeError, ("takes a shape: shape is '3'", "a tuple of ints")),
    ("shape of fractions", lambda x: acl.DeviceArray((2, 1.5)), TypeError, ("a dimension is 1.5",)),
    ("shape of None", lambda x: acl.DeviceArray(None), TypeError, ("shape is None", "from_numpy(values)")),
    ("shape of a list", lambda x: acl.DeviceArray([1, 2, 3]), TypeError, ("takes a shape: shape is [1, 2, 3]",)),
    ("negative shape", lambda x: acl.DeviceArray((2, -1)), ARGUMENT, ("(2, -1)", "no negative")),
    ("negative shape in a buffer", lambda x: acl.DeviceArray.from_buffer(x.buffer, -1), ARGUMENT, ("no negative",)),
    ("shape too large", lambda x: acl.DeviceArray(1 << 58), acl.OutOfMemoryError, (f"{1 << 60} bytes",)),
    ("shape beyond addresses", lambda x: acl.DeviceArray(2**62 + 1), acl.OutOfMemoryError, (f"{2**64 + 4} bytes",)),
    ("objects", lambda x: acl.DeviceArray(2, "O"), ARGUMENT, ("dtype is object, expected a type of numbers",)),
    ("other byte order", lambda x: acl.DeviceArray(2, ">f4"), ARGUMENT, (">f4 is not in native", "use float32")),
    ("buffer of it", lambda x: acl.DeviceArray.from_buffer(x.buffer, 1, ">i4"), ARGUMENT, ("not in native", "int32")),
    ("memory of objects", lambda x: acl.DeviceArray.from_handle(x.buffer.handle, 1, "O"), ARGUMENT,
     ("dtype is object",)),
    ("unknown type", lambda x: acl.DeviceArray(2, "quad"), TypeError, ("quad",)),
    ("beyond a buffer", lambda x: acl.DeviceArray.from_buffer(x.buffer, 3), ARGUMENT, ("bytes 0 to 12",)),
    ("before a buffer", lambda x: acl.DeviceArray.from_buffer(x.buffer, 1, offset=-4), ARGUMENT, ("bytes -4 to 0",)),
    ("index by a list", lambda x: x.array[[0, 1]], ARGUMENT, ("an index of type list is not supported", "slices")),
    ("index by a mask", lambda x: x.array[numpy.array([True, False])], ARGUMENT,
     ("an index of type ndarray is not supported",)),
    ("index by a truth value", lambda x: x.array[True], ARGUMENT, ("an index of type bool is not supported",)),
    ("shape of another size", lambda x: x.array.reshape((3, 1)), ARGUMENT, ("6 elements", "(3, 1)")),
    ("two open dimensions", lambda x: x.array.reshape(-1, -1), ARGUMENT, ("(-1, -1)",)),
    ("reshape to fractions", lambda x: x.array.reshape(2.0, 1), TypeError, ("a dimension is 2.0",)),
    ("index by an array", lambda x: x.array[x.array], ARGUMENT, ("an index of type DeviceArray is not supported",)),
    ("index by a text", lambda x: x.array["a"], ARGUMENT, ("an index of type str is not supported",)),
    ("index beyond", lambda x: x.array[2], IndexError, ("out of bounds",)),
    ("far index", lambda x: x.array[2**64], IndexError, (f"index {2**64} is out of bounds for (2, 3)",)),
    ("assign a far number", lambda x: x.array.__setitem__(0, 10**400), ARGUMENT, ("does not fit float64",)),
    ("too many indices", lambda x: x.array[0, 0, 0], IndexError, ("too many indices",)),
    ("assign another shape", lambda x: x.array.__setitem__(0, [1, 2]), ValueError, ("broadcast",)),
    ("assign text", lambda x: x.array.__setitem__(0, "text"), ValueError, ("text",)),
    ("copy of another shape", lambda x: x.array.copy_from(numpy.zeros(3, "f4")), ARGUMENT, ("(3,)", "(2, 3)")),
    ("copy of another type", lambda x: x.array.copy_from(acl.DeviceArray((2, 3), "i4")), ARGUMENT, ("int32",)),
    ("lossy copy", lambda x: x.array.copy_from(numpy.ones((2, 3), "c8")), ARGUMENT,
     ("cannot cast complex64 to float64", "astype()")),
    ("copy to another type", lambda x: x.array.copy_to(numpy.zeros((2, 3), "i4")), ARGUMENT, ("int32", "one shape")),
    ("copy to another shape", lambda x: x.array.copy_to(numpy.zeros((3, 2))), ARGUMENT, ("(3, 2)", "(2, 3)")),
    ("reshape", lambda x: x.array.reshape(4, 2), ARGUMENT, ("6 elements", "(4, 2)")),
    ("reshape of a turned one", lambda x: x.array.T.reshape(6), ARGUMENT, ("not contiguous", "array.copy()")),
    ("axes", lambda x: x.array.transpose(0, 0), ValueError, ("axis",)),
    ("item of many", lambda x: x.array.item(), ValueError, ("size 1",)),
    ("read silently", lambda x: numpy.asarray(x.array), TypeError, ("on the device", "to_numpy()")),
    ("read silently by a function", lambda x: numpy.sum(x.array), TypeError, ("on the device", "reads_silently")),
    ("read silently by a sum", lambda x: numpy.ones((2, 3)) + x.array, TypeError, ("on the device", "to_numpy()")),
    ("truth", lambda x: bool(x.array), TypeError, ("no truth", "array.item()")),
    ("number", lambda x: float(x.array[0, 0]), TypeError, ("DeviceArray",)),
    ("memoryview", lambda x: memoryview(x.array), TypeError, ("DeviceArray",)),
    ("length of one without dimensions", lambda x: len(x.array[0, 0]), TypeError, ("without dimensions",)),
    ("dlpack of a list", lambda x: acl.DeviceArray.from_dlpack([1]), ARGUMENT, ("no __dlpack__", "from_numpy()")),
    ("dlpack of a capsule", lambda x: acl.DeviceArray.from_dlpack(x.array.__dlpack__()), ARGUMENT, ("PyCapsule",)),
    ("dlpack of another device", lambda x: acl.DeviceArray.from_dlpack(Elsewhere()), ARGUMENT, ("(2, 0)",)),
    ("dlpack to another device", lambda x: x.array.__dlpack__(dl_device=(2, 0)), BufferError, ("not on (2, 0)",)),
    ("dlpack to the host without a copy", lambda x: x.array.__dlpack__(dl_device=(1, 0), copy=False), BufferError,
     ("the host cannot use device memory without a copy",)),
    ("dlpack on a closed stream", lambda x: x.array.__dlpack__(stream=x.closed.stream), HANDLE, ("acl.Stream is clo",)),
    ("dlpack on a text", lambda x: x.array.__dlpack__(stream="s"), TypeError, ("handle is 's'",)),
    ("closed array by dlpack", lambda x: x.closed.array.__dlpack__(), HANDLE, ("acl.DeviceArray is closed",)),
    ("closed array's place", lambda x: x.closed.array.__dlpack_device__(), HANDLE, ("acl.DeviceArray is closed",)),
    ("closed array read", lambda x: x.closed.array.to_numpy(), HANDLE, ("acl.DeviceArray is closed", "make a new one")),
    ("closed array viewed", lambda x: x.closed.array[0], HANDLE, ("acl.DeviceArray is closed",)),
    ("closed array copied", lambda x: x.array.copy_from(x.closed.array[:]), HANDLE, ("acl.DeviceArray is closed",)),
    ("closed buffer filled", lambda x: x.closed.buffer.fill(), HANDLE, ("acl.Buffer is closed", "make a new one")),
    ("closed buffer read", lambda x: bytes(x.closed.buffer), HANDLE, ("acl.Buffer is closed",)),
    ("closed buffer copied", lambda x: x.buffer.copy_from(x.closed.buffer), HANDLE, ("acl.Buffer is closed",)),
    ("closed buffer as array", lambda x: acl.DeviceArray.from_buffer(x.closed.buffer, 1), HANDLE, ("is closed",)),
)  # fmt: skip


@misuse(MISUSE)
def test_misuse(act, kind, words, x):
    with raises(kind, *words):
        act(x)
