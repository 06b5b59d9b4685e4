"""acl.util: addresses of host objects, and threads."""

import errno
import threading

import numpy
import pytest

import acl

pytestmark = pytest.mark.filterwarnings("ignore::Warning")


def test_bytes_share_their_storage():
    data = bytes(4)
    address = acl.util.bytes_to_ptr(data)
    acl.util.ptr_to_numpy(address, (4,), 2)[:] = [1, 2, 3, 4]
    assert data == b"\1\2\3\4"
    assert acl.util.ptr_to_bytes(address, 4) == b"\1\2\3\4"


@pytest.mark.parametrize("wrong", [bytearray(4), "text", None, numpy.zeros(4)])
def test_bytes_only(wrong):
    with pytest.raises(ValueError, match="must be bytes"):
        acl.util.bytes_to_ptr(wrong)


@pytest.mark.parametrize("address", [0, 8, 65535, -4096, 1 << 63])
@pytest.mark.filterwarnings("ignore:acl.util.ptr_to_numpy")
def test_addresses_of_no_host_memory_are_refused(address):
    for call, name in (
        (lambda: acl.util.ptr_to_bytes(address, 10), "ptr_to_bytes"),
        (lambda: acl.util.ptr_to_numpy(address, (10,), 1), "ptr_to_numpy"),
    ):
        text = rf"acl\.util\.{name}\(\) argument 1 is {address:#x}, expected the address of 10 bytes of host memory"
        with pytest.raises(ValueError, match=text):
            call()
    assert acl.util.ptr_to_bytes(address, 0) == b""


@pytest.mark.filterwarnings("ignore:acl.util.ptr_to_numpy")
def test_negative_sizes_are_refused():
    address = acl.util.bytes_to_ptr(b"four")
    with pytest.raises(ValueError, match=r"ptr_to_bytes\(\) cannot read -4 bytes, expected 0 or more"):
        acl.util.ptr_to_bytes(address, -4)
    with pytest.raises(ValueError, match=r"ptr_to_numpy\(\) argument 2 is \(-2, -2\), expected no negative dimension"):
        acl.util.ptr_to_numpy(address, (-2, -2), 1)


def test_ptr_to_bytes_copies():
    array = numpy.arange(4, dtype=numpy.uint8)
    copy = acl.util.ptr_to_bytes(acl.util.numpy_to_ptr(array), 4)
    array[:] = 9
    assert copy == b"\0\1\2\3"
    with pytest.raises(TypeError, match="argument 1 must be int"):
        acl.util.ptr_to_bytes(None, 4)


@pytest.mark.parametrize(
    "number, dtype",
    [(0, "?"), (1, "b"), (2, "B"), (5, "i"), (7, "q"), (11, "f"), (12, "d"), (23, "e")],
)
def test_ptr_to_numpy_is_a_view(number, dtype):
    array = numpy.zeros(6, dtype)
    view = acl.util.ptr_to_numpy(acl.util.numpy_to_ptr(array), (2, 3), number)
    assert view.dtype == array.dtype and view.shape == (2, 3) and view.flags.writeable
    view[1, 2] = 1
    assert array[5] == 1


def test_ptr_to_numpy_checks():
    with pytest.raises(TypeError, match="argument 2 must be tuple"):
        acl.util.ptr_to_numpy(0, [1], 11)
    with pytest.raises(ValueError, match="NumPy type number"):
        acl.util.ptr_to_numpy(0, (1,), 999)


def test_numpy_helpers_want_arrays():
    for call in (acl.util.numpy_to_ptr, acl.util.numpy_contiguous_to_ptr):
        with pytest.raises(ValueError, match="numpy.ndarray"):
            call([1, 2])


def test_contiguous_copy():
    array = numpy.arange(6, dtype=numpy.int32).reshape(2, 3)
    address, same = acl.util.numpy_contiguous_to_ptr(array)
    assert same is array and address == array.ctypes.data
    address, copy = acl.util.numpy_contiguous_to_ptr(array.T)
    assert copy.flags.c_contiguous and address == copy.ctypes.data


def test_numpy_helpers_warn():
    array = numpy.zeros(2)
    with pytest.warns(Warning, match="deprecated"):
        acl.util.numpy_to_ptr(array)
    with pytest.warns(Warning, match="not contiguous"):
        acl.util.numpy_to_ptr(numpy.zeros((2, 2)).T)


def test_thread_gets_its_arguments_as_one():
    seen = []

    def work(arguments):
        seen.append((arguments, threading.get_ident()))

    arguments = [1, "two"]
    thread, ret = acl.util.start_thread(work, arguments)
    assert ret == 0
    assert acl.util.stop_thread(thread) == 0
    assert seen == [(arguments, thread)]
    assert seen[0][0] is arguments


def test_thread_without_arguments():
    done = threading.Event()
    thread, ret = acl.util.start_thread(done.set, None)
    assert ret == 0 and acl.util.stop_thread(thread) == 0 and done.is_set()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_thread_that_raises():
    def work():
        raise LookupError("in the thread")

    thread, ret = acl.util.start_thread(work, None)
    assert ret == 0
    with pytest.raises(RuntimeError, match="in the thread"):
        acl.util.stop_thread(thread)


def test_stop_of_unknown_and_own_thread():
    assert acl.util.stop_thread(1) == errno.ESRCH
    assert acl.util.stop_thread(threading.get_ident()) == errno.EDEADLK
    with pytest.raises(TypeError, match="callable"):
        acl.util.start_thread(1, None)
    with pytest.raises(TypeError, match="must be int"):
        acl.util.stop_thread("1")


def test_many_threads():
    seen = []
    threads = [acl.util.start_thread(seen.append, number)[0] for number in range(40)]
    assert [acl.util.stop_thread(thread) for thread in threads] == [0] * 40
    assert sorted(seen) == list(range(40))
