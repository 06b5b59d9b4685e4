"""Arrays as objects: views, copies, interchange with NumPy and DLPack."""

import gc

import numpy
import pytest
from helpers.objects import free_memory, fresh_stream, held, raises
from helpers.tables import every

import acl
from acl.objects import dlpack

pytestmark = pytest.mark.usefixtures("opened")
stream = fresh_stream
HOST = numpy.arange(24, dtype="f4").reshape(2, 3, 4)
VIEWS = {
    "whole": lambda x: x,
    "row": lambda x: x[1],
    "element": lambda x: x[1, 2, 3, ...],
    "slice": lambda x: x[:, 1:],
    "step": lambda x: x[:, ::2],
    "backwards": lambda x: x[::-1, :, ::-1],
    "column": lambda x: x[..., -1],
    "new axis": lambda x: x[None, :, 1:2],
    "turned": lambda x: x.T,
    "permuted": lambda x: x.transpose(1, 0, 2),
    "turned part": lambda x: x[:, 1:].T[::2],
    "empty": lambda x: x[1:1],
    "reshaped": lambda x: x.reshape(4, 6),
    "open shape": lambda x: x.reshape(2, -1),
    "flat": lambda x: x.reshape(-1)[3:9],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_are_those_of_numpy(view):
    array, host = acl.DeviceArray.from_numpy(HOST), HOST.copy()
    part, expected = view(array), view(host)
    assert (part.shape, part.strides, part.size, part.nbytes) == (
        expected.shape, expected.strides if expected.size else part.strides, expected.size, expected.nbytes,
    )  # fmt: skip
    assert part.is_contiguous == expected.flags.c_contiguous
    assert numpy.array_equal(part.to_numpy(), expected)
    assert numpy.array_equal(part.copy().to_numpy(), expected)
    back = numpy.zeros(expected.shape, "f4")
    part.copy_to(back)
    assert numpy.array_equal(back, expected)


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@every(dtype=["f4", "f8", "i2", "u8", "c8", "c16", "?", "u1", "f2", "M8[s]", "i4,f8"], queued=[False, True])
def test_fill_sets_elements_of_any_type_and_leaves_the_others(view, dtype, queued, stream):
    host = numpy.zeros(HOST.shape, dtype)
    array = acl.DeviceArray.from_numpy(host)
    value = numpy.array((3, 2.5) if dtype == "i4,f8" else 3, dtype)
    view(host)[...] = value
    view(array).fill(value, stream=stream if queued else None)
    assert numpy.array_equal(array.to_numpy(), host)


def test_fill_of_zeros_is_a_set_of_memory_and_of_others_an_operator(stream):
    array = acl.DeviceArray(4)
    with acl.capture(stream) as graph:
        array.fill(stream=stream)
        array.fill(2.5, stream=stream)
    assert [node.kind for node in graph.nodes] == ["copy", "kernel"]
    graph.run(stream)
    assert array.to_numpy().tolist() == [2.5] * 4
    graph.close()


def test_fill_sets_elements_of_pinned_memory():
    with acl.Buffer(16, kind="host") as buffer:
        array = acl.DeviceArray.from_buffer(buffer, 4, "f4")
        array.fill(2.5)
        assert buffer.numpy("f4").tolist() == [2.5] * 4


def test_comparisons_are_elementwise():
    array, other = acl.DeviceArray.from_numpy([1, 2, 3]), acl.DeviceArray.from_numpy([1, 5, 3])
    for result, expected in (
        (array == other, [True, False, True]), (array != other, [False, True, False]), (array == array, [True] * 3),
        (array == 2, [False, True, False]), (array != numpy.int64(2), [True, False, True]),
        (2 == array, [False, True, False]),
    ):  # fmt: skip
        assert result.dtype == bool and result.to_numpy().tolist() == expected
    with pytest.raises(TypeError, match="has no truth"):
        bool(array == other)


@pytest.mark.parametrize("other", [None, "text", [1, 2, 3], HOST])
def test_comparisons_with_what_is_not_on_the_device_raise(other):
    array = acl.DeviceArray(3)
    for compare in (lambda: array == other, lambda: array != other):
        with pytest.raises(TypeError, match=r"neither an acl.DeviceArray nor a number; copy it first"):
            compare()


def test_arrays_are_not_hashable_as_those_of_numpy():
    with pytest.raises(TypeError, match="unhashable"):
        hash(acl.DeviceArray(3))


def test_print_shows_values(capsys, stream):
    array = acl.DeviceArray.from_numpy(HOST)
    print(array)
    assert capsys.readouterr().out == f"{HOST}\n"
    with acl.capture(stream) as graph:
        array.fill(0, stream=stream)
        assert str(array) == str(HOST)  # the capture goes on
    graph.run(stream)
    assert str(array) == str(HOST * 0)
    said = []
    stream.call(lambda: said.append(str(array)))  # which must not wait for the stream
    stream.synchronize()
    assert said == [repr(array)]
    graph.close()
    array.close()
    assert str(array) == repr(array) == "<acl.DeviceArray closed>"


@pytest.mark.parametrize("queued", [False, True])
@pytest.mark.parametrize("source", ["device", "turned", "host", "number"])
def test_assigning_to_views_writes_what_numpy_writes(source, queued, stream):
    for name, view in VIEWS.items():
        array, host = acl.DeviceArray.from_numpy(HOST), HOST.copy()
        expected = view(host)
        values = numpy.arange(100, 100 + expected.size, dtype="f4").reshape(expected.shape)
        if source == "number":
            view(array)[...] = 7
            expected[...] = 7
        else:
            given = values if source == "host" else acl.DeviceArray.from_numpy(values)
            if source == "turned":
                given = acl.DeviceArray.from_numpy(values.T.copy()).T
            view(array).copy_from(given, stream=stream if queued else None)
            expected[...] = values
        assert numpy.array_equal(array.to_numpy(), host), name


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_every_type_makes_the_round_trip(dtype):
    host = numpy.arange(6).reshape(2, 3).astype(dtype)
    array = acl.DeviceArray.from_numpy(host)
    assert array.dtype == host.dtype and array.itemsize == host.itemsize
    assert array.to_numpy().tobytes() == host.tobytes()
    assert acl.DeviceArray.zeros((2, 3), dtype).to_numpy().any() == False  # noqa: E712


def test_values_are_converted_to_the_arrays_type():
    array = acl.DeviceArray((2,), "f4")
    array.copy_from([1, 2])
    array[1] = 2.5
    assert array.to_numpy().tolist() == [1, 2.5] and array[1].item() == 2.5
    assert [part.item() for part in array] == [1, 2.5] and len(array) == 2


def test_an_array_is_read_after_the_work_it_was_told_of(stream):
    array = acl.DeviceArray.zeros(4, "u1")
    with held(stream) as latch:
        array.fill(3, stream=stream)
        latch.release()
        assert array.to_numpy().tolist() == [3, 3, 3, 3]


def test_an_array_in_pinned_memory(stream):
    with acl.Buffer(16, kind="host") as pinned:
        array = acl.DeviceArray.from_buffer(pinned, 4, "f4")
        array.copy_from([1, 2, 3, 4])
        assert pinned.numpy("f4").tolist() == [1, 2, 3, 4] == numpy.from_dlpack(array).tolist()


def test_numbers_get_the_byte_order_of_the_machine():
    host = numpy.arange(6, dtype=">f4").reshape(2, 3)
    array = acl.DeviceArray.from_numpy(host)
    assert array.dtype == "f4" and array.dtype.isnative and numpy.array_equal(array.to_numpy(), host)
    array.copy_from(host + 1)
    assert numpy.array_equal(acl.nn.adds(array, 1, 1).to_numpy(), host + 2)


def test_shapes_are_given_as_numpy_takes_them():
    array = acl.DeviceArray.from_numpy(HOST)
    for shape in [(6, -1), ((-1, 3),), ([2, -1],), (-1,), (HOST.size,), ((numpy.int64(HOST.size), 1),)]:
        assert array.reshape(*shape).shape == HOST.reshape(*shape).shape
    one = acl.DeviceArray(numpy.int32(1))
    assert one.reshape().shape == one.reshape(()).shape == () and type(one.shape[0]) is int


def test_borrowed_memory_and_its_keeper():
    base = acl.DeviceArray.from_numpy(HOST)
    array = acl.DeviceArray.from_handle(base.handle, HOST.shape, keep=base)
    del base
    assert numpy.array_equal(array.to_numpy(), HOST)


def test_the_repr_says_what_it_is_and_reads_nothing():
    array = acl.DeviceArray((2, 3))
    assert repr(array) == f"<acl.DeviceArray {array.handle:#x} (2, 3) float32 on device 0>"
    assert "strides (4, 12)" in repr(array.T)
    array.close()
    assert repr(array) == "<acl.DeviceArray closed>"


def test_notebooks_show_what_it_is_and_read_nothing(monkeypatch):
    array = acl.DeviceArray.from_numpy(HOST)
    text = array.T._repr_html_()
    for word in ("<table>", "(4, 3, 2)", "float32", "device 0", f"{array.handle:#x}", "strides"):
        assert word in text, text
    assert "contents" not in text and "strides" not in array._repr_html_()
    monkeypatch.setattr(acl.DeviceArray, "reads_silently", True)
    assert "contents" in array._repr_html_() and "23." in array._repr_html_()
    array.close()
    assert "closed" in array._repr_html_()


# --- Interchange


def test_numpy_reads_no_device_silently():
    array = acl.DeviceArray.from_numpy(HOST)
    for convert in (numpy.asarray, numpy.array, lambda x: numpy.add(x, 1)):
        with raises(TypeError, "is on the device", "to_numpy()", "reads_silently"):
            convert(array)


def test_numpy_reads_when_it_may(monkeypatch):
    monkeypatch.setattr(acl.DeviceArray, "reads_silently", True)
    array = acl.DeviceArray.from_numpy(HOST)
    assert numpy.array_equal(numpy.asarray(array), HOST)
    assert numpy.asarray(array, "f8").dtype == "f8"


def test_dlpack_to_the_host():
    array = acl.DeviceArray.from_numpy(HOST)
    capsule = array.__dlpack__(dl_device=(1, 0))
    assert "dltensor" in repr(capsule)
    with raises(BufferError, "the host cannot use device memory without a copy"):
        array.__dlpack__(dl_device=(1, 0), copy=False)
    with raises(BufferError, "not on (2, 0)"):
        array.__dlpack__(dl_device=(2, 0))


@pytest.mark.parametrize("name, value", [("shape", (6,)), ("dtype", "i4"), ("strides", (4,))])
def test_what_an_array_is_like_can_not_be_set(name, value):
    array = acl.DeviceArray.from_numpy(HOST)
    with pytest.raises(AttributeError):
        setattr(array, name, value)
    assert (array.shape, array.dtype, array.strides) == (HOST.shape, HOST.dtype, HOST.strides)


@pytest.mark.skipif(numpy.lib.NumpyVersion(numpy.__version__) < "2.1.0", reason="from_dlpack has no device before 2.1")
def test_numpy_takes_arrays_by_dlpack():
    array = acl.DeviceArray.from_numpy(HOST)
    assert numpy.array_equal(numpy.from_dlpack(array.T, device="cpu"), HOST.T)


@pytest.mark.parametrize("view", [VIEWS[name] for name in ("whole", "turned", "backwards", "element", "step")])
def test_dlpack_round_trip_shares_the_memory(view):
    before, array = free_memory(), acl.DeviceArray.from_numpy(HOST)
    part = acl.DeviceArray.from_dlpack(view(array))
    assert part.handle == view(array).handle and part.strides == view(HOST).strides
    array.close()
    del array
    gc.collect()
    assert numpy.array_equal(part.to_numpy(), view(HOST))
    part.close()
    assert not dlpack.lent and free_memory() == before


def test_a_capsule_that_nobody_takes_gives_back():
    array = acl.DeviceArray.from_numpy(HOST)
    capsule = array.__dlpack__()
    assert len(dlpack.lent) == 1
    del capsule
    assert not dlpack.lent


@pytest.mark.parametrize("form", ["object", "handle"])
def test_the_consumers_stream_waits_for_the_producers(form, stream):
    array = acl.DeviceArray.zeros(4, "u1")
    with acl.Stream() as consumer, held(stream) as latch:
        array.fill(8, stream=stream)
        capsule = array.__dlpack__(stream=consumer if form == "object" else consumer.handle)
        assert not consumer.query()
        latch.release()
        consumer.synchronize()
        del capsule


def test_dlpack_from_the_host_is_a_copy():
    array = acl.DeviceArray.from_dlpack(HOST)
    assert array.__dlpack_device__() == (12, 0) and numpy.array_equal(array.to_numpy(), HOST)


class Foreign:
    """Something on a device that is not ours."""

    def __dlpack__(self, **options):
        raise AssertionError("not asked for")

    def __dlpack_device__(self):
        return 2, 0


MISUSE = (
    ("list index", lambda a: a[[0, 1]], ("an index of type list is not supported", "slices")),
    ("array index", lambda a: a[numpy.array([True, False])], ("an index of type ndarray is not supported",)),
    ("float index", lambda a: a[1.5], ("an index of type float is not supported",)),
    ("shape", lambda a: acl.DeviceArray((2, -1)), ("shape is (2, -1)", "no negative")),
    ("type", lambda a: acl.DeviceArray(2, "O"), ("dtype is object, expected a type of numbers",)),
    ("reshape", lambda a: a.reshape(5, 5), ("24 elements", "(5, 5)")),
    ("reshape open", lambda a: a.reshape(-1, 7), ("24 elements",)),
    ("reshape turned", lambda a: a.T.reshape(24), ("not contiguous", "array.copy()")),
    ("fill of many", lambda a: a.fill([1, 2]), ("value has the shape (2,)", "expected one number")),
    ("fill that does not fit", lambda a: acl.DeviceArray(2, "u1").fill(300), ("value is 300", "does not fit uint8")),
    ("other shape", lambda a: a.copy_from(numpy.zeros(3, "f4")), ("(3,) float32", "one shape and type")),
    ("other shape on the device", lambda a: a.copy_from(acl.DeviceArray(3)), ("(3,) float32",)),
    ("other type on the device", lambda a: a.copy_from(acl.DeviceArray((2, 3, 4), "i4")), ("int32",)),
    ("lossy type", lambda a: a.copy_from(numpy.zeros((2, 3, 4), "c8")), ("cannot cast complex64 to float32",)),
    ("other type of the target", lambda a: a.copy_to(numpy.zeros((2, 3, 4), "f8")), ("float64", "float32")),
    ("buffer too small", lambda a: a.copy_to(bytearray(8)), ("96 bytes do not fit",)),
    ("buffer of turned", lambda a: acl.Buffer.copy_from(a, a.T), ("not contiguous", "array.copy()")),
    ("no dlpack", lambda a: acl.DeviceArray.from_dlpack([1]), ("list has no __dlpack__", "from_numpy()")),
    ("foreign dlpack", lambda a: acl.DeviceArray.from_dlpack(Foreign()), ("(2, 0)", "make its device current")),
)


@pytest.mark.parametrize("call, words", [row[1:] for row in MISUSE], ids=[row[0] for row in MISUSE])
def test_misuse(call, words):
    with raises(acl.InvalidArgumentError, *words):
        call(acl.DeviceArray.from_numpy(HOST))


ORDINARY = (
    ("index", lambda a: a[2], IndexError), ("length", lambda a: len(a[0, 0, 0]), TypeError),
    ("item", lambda a: a.item(), ValueError), ("axes", lambda a: a.transpose(0, 0, 1), ValueError),
    ("value", lambda a: a.__setitem__(0, "text"), ValueError), ("fill", lambda a: a.fill("text"), ValueError),
)  # fmt: skip


@pytest.mark.parametrize("call, kind", [row[1:] for row in ORDINARY], ids=[row[0] for row in ORDINARY])
def test_what_python_itself_would_say(call, kind):
    with raises(kind):
        call(acl.DeviceArray.from_numpy(HOST))


CLOSED = (
    ("read", lambda a: a.to_numpy()), ("view", lambda a: a[0]), ("turn", lambda a: a.T), ("copy", lambda a: a.copy()),
    ("reshape", lambda a: a.reshape(-1)), ("fill", lambda a: a.fill()), ("from", lambda a: a.copy_from(HOST)),
    ("to", lambda a: a.copy_to(HOST.copy())), ("handle", lambda a: a.handle), ("give", lambda a: a.__dlpack__()),
    ("used on", lambda a: a.used_on(acl.Stream.default())), ("assign", lambda a: a.__setitem__(0, 1)),
)  # fmt: skip


@pytest.mark.parametrize("call", [row[1] for row in CLOSED], ids=[row[0] for row in CLOSED])
def test_a_closed_array_is_refused(call):
    array = acl.DeviceArray.from_numpy(HOST)
    array.close()
    with raises(acl.InvalidHandleError, "acl.DeviceArray is closed", "make a new one"):
        call(array)


def test_views_of_a_closed_array_go_on():
    array = acl.DeviceArray.from_numpy(HOST)
    part = array[1]
    array.close()
    assert numpy.array_equal(part.to_numpy(), HOST[1])
