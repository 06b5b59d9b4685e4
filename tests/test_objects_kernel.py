"""Kernels as objects: arguments, streams, captures, how long a binary is loaded, and misuse."""

import ctypes
import gc
import struct
import sys
import threading

import numpy
import pytest
from helpers.expect import in_thread
from helpers.objects import free_memory, fresh_stream, held, raises
from helpers.vectors import register

import acl

pytestmark = [pytest.mark.needs_sim, pytest.mark.usefixtures("clean", "added", "opened")]
stream = fresh_stream
FILE, NAME = "vector_add.o", "vector_add"
COUNT = numpy.uint64(6)
BAD = acl.InvalidArgumentError


@pytest.fixture
def added():
    """Give the binary vector_add its kernel, z = x + y."""
    register()


def row(first=1.0, step=1.0):
    return acl.DeviceArray.from_numpy(first + step * numpy.arange(6, dtype="f4"))


def loaded():
    return acl.sim.live("kernel binary")


@pytest.mark.parametrize("queued", [False, True], ids=["at once", "queued"])
def test_launch(queued, stream):
    x, y, z = row(), row(10, 10), row(0, 0)
    options = {"stream": stream} if queued else {}
    with acl.Kernel(FILE, NAME) as kernel:
        assert kernel(4, x, y, z, COUNT, **options) is None
        assert z.to_numpy().tolist() == [11, 22, 33, 44, 55, 66]
        assert kernel.name == NAME and NAME in repr(kernel)


def test_a_buffer_is_its_address(stream):
    x = row()
    with acl.Buffer(24) as y, acl.Kernel(FILE, NAME) as kernel:
        y.copy_from(x)
        kernel(1, x, y, y, COUNT, stream=stream)
        assert numpy.frombuffer(bytes(y), "f4").tolist() == [2, 4, 6, 8, 10, 12]


def test_parameters_take_plain_numbers():
    x = row()
    kernel = acl.Kernel(FILE, NAME, parameters="PPPQ")
    kernel(2, x, x, x, 6)
    kernel(2, x, x.handle, x, numpy.int32(6))
    assert x.to_numpy().tolist() == [4, 8, 12, 16, 20, 24]


class Pair(ctypes.Structure):
    _fields_ = [("first", ctypes.c_int16), ("second", ctypes.c_double)]


FORM = "bhifdq?Bxxxd"
LAYOUTS = (
    ((numpy.int8(-1), numpy.float64(2.5), numpy.int16(3)), "bdh", (-1, 2.5, 3)),
    ((ctypes.c_uint8(200), ctypes.c_float(0.5), ctypes.c_void_p(77)), "BfP", (200, 0.5, 77)),
    ((numpy.bool_(True), numpy.float16(1.5), numpy.uint32(2**32 - 1)), "?eI", (True, 1.5, 2**32 - 1)),
    ((numpy.int8(1), Pair(2, 3.5)), "bxxxxxxxhxxxxxxd", (1, 2, 3.5)),
    (((ctypes.c_int32 * 3)(1, 2, 3), numpy.int8(4)), "iiib", (1, 2, 3, 4)),
)


@pytest.fixture(params=[False, True], ids=["at once", "queued"])
def launch(request, stream):
    """Give ``launch(kernel, *arguments)``, which returns when the kernel has run."""

    def run(kernel, *arguments):
        if request.param:
            kernel(1, *arguments, stream=stream)
            stream.synchronize()
        else:
            kernel(1, *arguments)

    return run


@pytest.mark.parametrize("given, form, expected", LAYOUTS, ids=[layout[1] for layout in LAYOUTS])
def test_arguments_lie_as_in_a_struct(given, form, expected):
    seen = []
    acl.sim.custom_kernel("look", "look.o")(lambda launch: seen.append(struct.unpack_from(form, launch.args)))
    acl.Kernel("look.o", "look")(1, *given)
    assert seen == [expected]


def test_each_launch_packs_its_own_arguments(launch):
    """The form of the last arguments is used again for arguments of the same types, and for no others."""
    seen = []
    acl.sim.custom_kernel("look", "look.o")(lambda launch: seen.append(bytes(launch.args)))
    kernel = acl.Kernel("look.o", "look")
    for given, form, expected in LAYOUTS * 2:
        for _ in range(2):
            launch(kernel, *given)
            assert struct.unpack_from(form, seen.pop()) == expected
    x, y = row(), row()
    for array, number in ((x, 7), (y, 2**64 - 1)):
        launch(kernel, array, numpy.uint64(number))
        assert struct.unpack("PQ", seen.pop()) == (array.handle, number)


def test_a_launch_after_a_good_one_is_checked_too(launch):
    acl.sim.custom_kernel("look", "look.o")(lambda launch: None)
    kernel, x, closed = acl.Kernel("look.o", "look", parameters="Pi"), row(), row()
    closed.close()
    for bad, kind, words in (
        ((x, 2**31), BAD, ("2147483648", "'i'")),
        ((x, 0.5), BAD, ("0.5", "'i'")),
        ((x,), BAD, ("1 arguments, expected 2",)),
        ((closed, 1), acl.InvalidHandleError, ("acl.DeviceArray is closed",)),
        ((acl.Buffer.from_handle(x.handle, 24, kind="host"), 1), BAD, ("argument 0 is in host memory",)),
    ):
        launch(kernel, x, -5)
        with raises(kind, *words):
            launch(kernel, *bad)


LETTERS = "bBhHiIqQfd?P"
ENDS = (
    (-1, 255, -2, 65535, -3, 2**32 - 1, -4, 2**64 - 1, 1.5, 2.25, True, 99),
    (-128, 0, -(2**15), 0, -(2**31), 0, -(2**63), 0, -0.5, -1e300, False, 0),
    (127, 255, 2**15 - 1, 65535, 2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1, 2.0**127, 1e300, True, 2**64 - 1),
)


def test_each_letter_has_its_size(launch):
    seen = []
    acl.sim.custom_kernel("look", "look.o", parameters=LETTERS)(lambda launch, *given: seen.append(given))
    kernel = acl.Kernel("look.o", "look", parameters=LETTERS)
    for values in ENDS * 2:
        launch(kernel, *values)
        assert seen.pop() == values


@pytest.mark.parametrize("letter", LETTERS.replace("?", ""))
def test_a_number_beyond_its_letter_is_refused_after_one_that_fits(letter, launch):
    seen = []
    acl.sim.custom_kernel("look", "look.o", parameters=letter)(lambda launch, *given: seen.append(given))
    kernel, size = acl.Kernel("look.o", "look", parameters=letter), 8 * struct.calcsize(letter)
    beyond = (2**1024, "1") if letter in "fd" else (2**size, -(2 ** (size - 1)) - 1, 0.5, "1")
    for value in beyond:
        launch(kernel, 1)
        with raises(BAD, "argument 0 is"):
            launch(kernel, value)
    assert seen == [(1,)] * len(beyond)


def test_forms_that_are_too_long_for_c(launch):
    seen = []
    acl.sim.custom_kernel("look", "look.o")(lambda launch: seen.append(bytes(launch.args)))
    kernel = acl.Kernel("look.o", "look")
    for count in (32, 33, 100):
        for _ in range(2):
            launch(kernel, *map(numpy.uint64, range(count)))
            assert struct.unpack(f"{count}Q", seen.pop()) == tuple(range(count))


def test_launches_leave_nothing_behind(stream):
    """The references that launches take are returned, also by those that are refused."""
    x, y, kernel = row(), row(), acl.Kernel(FILE, NAME)

    def launches(count):
        for _ in range(count):
            kernel(1, x, x, y, COUNT, stream=stream)
            kernel(1, x, x, y, COUNT)
            for wrong in ((0, x, x, y, COUNT), (1, x, x, y, None), (1, x, x, "y", COUNT)):
                with pytest.raises(acl.AclError):
                    kernel(*wrong, stream=stream)
        stream.synchronize()
        gc.collect()

    launches(1)
    watched = x, x._block, y._block, kernel._block, kernel._form, stream, COUNT
    before = [sys.getrefcount(each) for each in watched]
    launches(100)
    assert [sys.getrefcount(each) for each in watched] == before


def test_threads_launch_one_kernel(stream):
    """Each launch has its own arguments, and all register with the memory."""
    rows, kernel, context = [row() for _ in range(4)], acl.Kernel(FILE, NAME), acl.rt.get_context()[0]

    def run(x):
        acl.rt.set_context(context)
        for _ in range(200):
            kernel(1, x, rows[0] if x is not rows[0] else x, x, COUNT, stream=stream)

    told = rows[1]._block.told
    for x in rows[1:]:
        x.fill(0)
    rows[0].fill(0)
    threads = [threading.Thread(target=run, args=(x,)) for x in rows]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows[1]._block.told == told + 200 and list(rows[1]._block.uses) == [stream.handle]
    stream.synchronize()


def test_the_first_launch_registers_once_with_memory_that_it_gets_twice(stream):
    """The first launch of a form packs its arguments in Python, the later ones in C."""
    x, kernel = row(), acl.Kernel(FILE, NAME)
    for launches in (1, 2):
        kernel(1, x, x, x, COUNT, stream=stream)
        assert x._block.told == launches
    stream.synchronize()


def test_a_closed_kernel_is_refused_and_holds_nothing(stream):
    x = row()
    kernel = acl.Kernel(FILE, NAME)
    kernel(1, x, x, x, COUNT, stream=stream)
    stream.synchronize()
    kernel.close()
    with raises(acl.InvalidHandleError, "acl.Kernel is closed"):
        kernel(1, x, x, x, COUNT, stream=stream)


def test_a_captured_launch_runs_at_each_replay(stream):
    x, y = row(), row(10, 10)
    kernel = acl.Kernel(FILE, NAME)
    assert acl.mdl.ri_capture_begin(stream.handle, 0) == 0
    kernel(4, x, y, y, COUNT, stream=stream)
    instance, ret = acl.mdl.ri_capture_end(stream.handle)
    assert ret == 0
    kernel.close()  # the instance holds the binary
    gc.collect()
    for rounds in range(1, 4):
        assert acl.mdl.ri_execute_async(instance, stream.handle) == 0
        stream.synchronize()
        assert y.to_numpy()[0] == 10 + rounds
    assert loaded() == 1
    assert acl.mdl.ri_destroy(instance) == 0
    assert loaded() == 0


def test_a_binary_is_loaded_while_anybody_needs_it(stream):
    x, y = row(), row()
    binary = acl.Binary(FILE)
    one, other = binary.kernel(NAME), acl.Kernel(binary, NAME)
    binary.close()
    binary.close()
    one.close()
    assert binary.closed and loaded() == 1
    with held(stream) as latch:
        other(1, x, y, y, COUNT, stream=stream)
        other.close()
        assert loaded() == 1
        latch.release()
        stream.synchronize()
        assert loaded() == 0
    assert y.to_numpy()[0] == 2


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_dropping_a_kernel_is_closing_it(where):
    box = [acl.Kernel(FILE, NAME)]
    assert loaded() == 1
    box.clear() if where == "here" else in_thread(box.clear)
    assert loaded() == 0


def test_a_binary_of_bytes(tmp_path):
    acl.sim.custom_kernel("look")(lambda launch: None)
    binary = acl.Binary(b"anything")
    assert "8 bytes" in repr(binary) and loaded() == 1
    binary.kernel("look")(1)
    path = tmp_path / "look.o"
    path.write_bytes(b"anything")
    acl.Kernel(path, "look")(3)


def test_memory_of_a_queued_launch_is_kept(stream):
    seen = []
    acl.sim.custom_kernel("look", "look.o", parameters="P")(lambda launch, place: seen.append(
        launch.array(place, 1 << 20, "u1").max()
    ))  # fmt: skip
    before = free_memory()
    with held(stream) as latch:
        acl.Kernel("look.o", "look")(1, acl.DeviceArray.zeros(1 << 20, "u1"), stream=stream)
        assert free_memory() < before
        latch.release()
        stream.synchronize()
    assert seen == [0] and free_memory() == before


def test_a_failure_is_told_at_once_or_at_the_next_synchronise(stream, raised):
    acl.sim.custom_kernel("fails", "fails.o")(lambda launch: 1 / 0)
    kernel = acl.Kernel("fails.o", "fails")
    with raises(acl.TaskError, "507015", "ZeroDivisionError"):
        kernel(1)
    kernel(1, stream=stream)
    with raises(acl.TaskError, "507015", "ZeroDivisionError"):
        stream.synchronize()
    assert [type(error) for error in raised] == [ZeroDivisionError] * 2


# (name, what is done with a kernel and an array, error class, what the text must say)
MISUSE = (
    ("no blocks", lambda k, a: k(0, a), BAD, ("vector_add: blocks is 0, expected 1 to",)),
    ("negative blocks", lambda k, a: k(-1, a), BAD, ("blocks is -1",)),
    ("many blocks", lambda k, a: k(2**32, a), BAD, ("blocks is 4294967296",)),
    ("blocks of a float", lambda k, a: k(1.5, a), BAD, ("blocks is 1.5",)),
    ("forgotten blocks", lambda k, a: k(a, a, a, COUNT), BAD, ("blocks is <acl.DeviceArray",)),
    ("plain integer", lambda k, a: k(1, a, a, a, 6), BAD, ("argument 3 is 6, which has no size", "numpy.int32(x)")),
    ("plain float", lambda k, a: k(1, 0.5), BAD, ("argument 0 is 0.5, which has no size", "ctypes.c_float(x)")),
    ("truth value", lambda k, a: k(1, a, True), BAD, ("argument 1 is True", "parameters='...'")),
    ("None", lambda k, a: k(1, None), BAD, ("argument 0 is None", "pass an array")),
    ("list", lambda k, a: k(1, [a]), BAD, ("argument 0 is a list", "pass an array")),
    ("text", lambda k, a: k(1, "text"), BAD, ("argument 0 is 'text'", "pass an array")),
    ("text of the host", lambda k, a: k(1, ctypes.c_char_p(b"x")), BAD, ("a string in host memory", "Buffer")),
    ("host array", lambda k, a: k(1, numpy.ones(3)), BAD, ("argument 0 is an array in host memory", "from_numpy")),
    ("host memory", lambda k, a: k(1, acl.Buffer(8, kind="host")), BAD, ("argument 0 is in host memory", "copy()")),
    ("too few", lambda k, a: acl.Kernel(FILE, NAME, parameters="PPPQ")(1, a), BAD, ("1 arguments, expected 4",)),
    ("too many", lambda k, a: acl.Kernel(FILE, NAME, parameters="P")(1, a, a), BAD, ("2 arguments, expected 1",)),
    ("memory for a number", lambda k, a: acl.Kernel(FILE, NAME, parameters="Q")(1, a), BAD, ("expected a number",)),
    ("number of another type", lambda k, a: acl.Kernel(FILE, NAME, parameters="I")(1, 0.5), BAD, ("0.5", "'I'")),
    ("number out of range", lambda k, a: acl.Kernel(FILE, NAME, parameters="b")(1, 128), BAD, ("128", "'b'")),
    ("text for an address", lambda k, a: acl.Kernel(FILE, NAME, parameters="P")(1, "x"), BAD, ("or an address",)),
    ("letter", lambda k, a: acl.Kernel(FILE, NAME, parameters="Pz"), BAD, ("parameters has 'z', expected letters",)),
    ("letters of a number", lambda k, a: acl.Kernel(FILE, NAME, parameters=3), TypeError, ("parameters is 3", "'PPQ'")),
    ("number as stream", lambda k, a: k(1, a, stream=3), TypeError, ("3 is not an acl.Stream", "from_handle()")),
    ("no name", lambda k, a: acl.Kernel(FILE, ""), BAD, ("name is ''",)),
    ("name of bytes", lambda k, a: acl.Kernel(FILE, b"vector_add"), BAD, ("name is b'vector_add'",)),
    ("other name", lambda k, a: acl.Kernel(FILE, "vector_sub"), BAD, ("vector_sub", "BinaryGetFunction")),
    ("no bytes", lambda k, a: acl.Binary(b""), BAD, ("source has no bytes",)),
    ("number as source", lambda k, a: acl.Binary(3), BAD, ("source is a int", "path of a binary")),
    ("no file", lambda k, a: acl.Binary("/nowhere.bin"), BAD, ("/nowhere.bin", "aclrtBinaryLoadFromFile")),
    ("copy of one", lambda k, a: acl.Buffer.from_handle(a.handle, 8).copy_from(k), BAD, ("Kernel is not contiguous",)),
    ("run on one", lambda k, a: k(1, a, stream=k), TypeError, ("is not an acl.Stream",)),
    ("closed", lambda k, a: (k.close(), k(1, a)), acl.InvalidHandleError, ("acl.Kernel is closed", "make a new one")),
    ("closed argument", lambda k, a: (a.close(), k(1, a)), acl.InvalidHandleError, ("acl.DeviceArray is closed",)),
)  # fmt: skip


@pytest.mark.parametrize("call, kind, words", [case[1:] for case in MISUSE], ids=[case[0] for case in MISUSE])
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_misuse(call, kind, words):
    """It is refused, and nothing is left of it."""
    kernel, array = acl.Kernel(FILE, NAME), row()
    with raises(kind, *words):
        call(kernel, array)
    kernel.close()
    gc.collect()
    assert loaded() == 0


def test_a_closed_binary_has_no_kernels():
    binary = acl.Binary(FILE)
    binary.close()
    with raises(acl.InvalidHandleError, "acl.Binary is closed"):
        acl.Kernel(binary, NAME)


def test_a_closed_stream():
    kernel = acl.Kernel(FILE, NAME)
    with acl.Stream() as stream:
        pass
    with raises(acl.InvalidHandleError, "acl.Stream is closed"):
        kernel(1, row(), row(), row(), COUNT, stream=stream)


def test_a_stream_of_another_context():
    kernel, x = acl.Kernel(FILE, NAME), row()
    with acl.Stream() as stream, acl.Context():
        with raises(acl.ContextError, "107003", "stream.use_context()"):
            kernel(1, x, x, x, COUNT, stream=stream)
        stream.use_context()


def test_a_kernel_whose_device_was_closed():
    kernel = acl.Kernel(FILE, NAME)
    acl.Device(0).close()
    acl.Device(0).use()
    with raises(acl.InvalidHandleError, "its device was closed"):
        kernel(1, row(), row(), row(), COUNT)


def test_a_launch_at_once_is_no_part_of_a_capture(stream):
    kernel, x = acl.Kernel(FILE, NAME), row()
    assert acl.mdl.ri_capture_begin(stream.handle, 2) == 0
    kernel(1, x, x, x, COUNT)
    instance, ret = acl.mdl.ri_capture_end(stream.handle)
    assert ret == acl.mdl.ri_execute_async(instance, stream.handle) == 0
    stream.synchronize()
    assert x.to_numpy()[0] == 2
    assert acl.mdl.ri_destroy(instance) == 0
