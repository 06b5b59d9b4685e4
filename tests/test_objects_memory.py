"""Buffers as objects: kinds, copies, views, and when memory is given back."""

import gc
import inspect
import sys
import threading
import weakref

import numpy
import pytest
from helpers.expect import in_thread
from helpers.objects import LARGE, free_memory, fresh_stream, held, raises

import acl
from acl.objects import resource
from acl.objects.resource import retired

pytestmark = pytest.mark.usefixtures("opened")
stream = fresh_stream


@pytest.mark.parametrize("queued", [False, True])
@pytest.mark.parametrize("source", ["device", "host", "bytes", "numpy"])
def test_copies_and_sets(source, queued, stream):
    given = {"stream": stream} if queued else {}
    with acl.Buffer(8) as target, acl.Buffer(8) as device, acl.Buffer(8, kind="host") as pinned:
        target.fill(9, **given)
        pinned.view()[:] = b"abcdefgh"
        device.copy_from(pinned, **given)
        known = {"device": device, "host": pinned, "bytes": b"abcdefgh", "numpy": numpy.arange(97, 105, dtype="u1")}
        target.copy_from(known[source], size=4, **given)
        assert bytes(target) == b"abcd\t\t\t\t"
        back = bytearray(8)
        target.copy_to(back, **given)
        stream.synchronize()
        assert back == b"abcd\t\t\t\t" and len(target) == 8


def test_a_synchronous_copy_comes_after_what_is_queued(stream):
    """Nothing is read too early, though the copy itself belongs to no stream."""
    gate = threading.Event()
    with acl.Buffer(4) as buffer:
        stream.call(gate.wait)
        buffer.fill(5, stream=stream)
        threading.Timer(0, gate.set).start()
        assert bytes(buffer) == b"\5\5\5\5"


def test_pinned_memory_is_an_array_without_a_copy(stream):
    with acl.Buffer(16, kind="host") as pinned, acl.Buffer(16) as device:
        array = pinned.numpy("f4", (2, 2))
        array[:] = 1.5
        device.copy_from(array, stream=stream)
        pinned.fill(0)
        device.copy_to(array, stream=stream)
        stream.synchronize()
        assert array.tolist() == [[1.5, 1.5], [1.5, 1.5]]
        assert numpy.shares_memory(numpy.asarray(pinned), array)
        assert not numpy.shares_memory(numpy.array(pinned), array)


def test_a_view_of_pinned_memory_outlives_its_buffer():
    buffer = acl.Buffer(4, kind="host")
    buffer.fill(7)
    view = buffer.view()
    buffer.close()
    assert bytes(view) == b"\7\7\7\7"
    array = acl.Buffer(4, kind="host").numpy()  # not lost: the array has it
    array[:] = 3
    assert array.tolist() == [3, 3, 3, 3]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="older Python has no buffer protocol for classes")
def test_pinned_memory_has_the_buffer_protocol():
    with acl.Buffer(4, kind="host") as pinned:
        memoryview(pinned)[:] = b"wxyz"
        assert bytes(pinned.view()) == b"wxyz"
    with acl.Buffer(4) as device, raises(acl.InvalidArgumentError, "cannot reach device memory"):
        memoryview(device)


@pytest.mark.parametrize("policy", ["huge_first", "huge_only", "normal_only"])
def test_memory_says_what_it_is(policy):
    with acl.Buffer(64, policy=policy) as device, acl.Buffer(64, kind="host", policy=policy) as host:
        assert repr(device) == f"<acl.Buffer {device.handle:#x} device 64 bytes {policy}>"
        assert repr(host) == f"<acl.Buffer {host.handle:#x} host 64 bytes>"
    assert repr(device) == repr(host) == "<acl.Buffer closed>"


USES = [
    lambda array, stream: array.to_numpy(),
    lambda array, stream: array.copy_from(array.copy()),
    lambda array, stream: array.__dlpack__(stream=stream),
    lambda array, stream: array.close(),
]


@pytest.mark.parametrize("use", USES, ids=["read", "copy", "lend", "close"])
@pytest.mark.parametrize("end", [acl.rt.destroy_stream, acl.rt.destroy_stream_force])
def test_memory_outlives_a_stream_that_others_destroy(use, end, stream):
    """What is destroyed by pyACL has no work left, and nothing waits for it."""
    before = free_memory()
    handle, ret = acl.rt.create_stream()
    assert ret == 0
    array = acl.DeviceArray(LARGE, "u1")
    array.fill(9, stream=acl.Stream.from_handle(handle))
    assert (acl.rt.synchronize_stream(handle), end(handle)) == (0, 0)
    use(array, stream)
    assert array.closed or set(array.to_numpy()) == {9}
    array.close()
    assert free_memory() == before and not retired


def test_a_stream_that_others_destroyed_takes_nothing(stream):
    array = acl.DeviceArray.zeros(4, "u1", stream=stream)
    handle, ret = acl.rt.create_stream()
    assert ret == 0
    taker = acl.Stream.from_handle(handle)
    assert acl.rt.destroy_stream(handle) == 0
    for take in (lambda: array.__dlpack__(stream=taker), lambda: array.fill(1, stream=taker)):
        with raises(acl.InvalidHandleError, "a destroyed stream", "make a new one"):
            take()
    assert set(array.to_numpy()) == {0}


def test_what_a_callback_raises_is_not_taken_for_a_stream_that_ended(stream):
    def fail():
        raise acl.InvalidHandleError(107017, "test", "of the callback")

    with acl.Buffer(4) as buffer:
        stream.call(fail)
        buffer.fill(1, stream=stream)
        with raises(acl.InvalidHandleError, "of the callback"):
            bytes(buffer)


def test_pinned_memory_takes_shapes_as_numpy_does():
    with acl.Buffer(24, kind="host") as pinned:
        assert [pinned.numpy("f4", shape).shape for shape in (6, (2, 3), [3, 1], ())] == [(6,), (2, 3), (3, 1), ()]


def test_borrowed_memory_is_not_freed():
    address, ret = acl.rt.malloc(64, 0)
    assert ret == 0
    with acl.Buffer.from_handle(address, 64) as buffer:
        buffer.fill(1)
        assert buffer.handle == address and "borrowed" in repr(buffer)
    assert acl.rt.memset(address, 64, 2, 64) == 0
    assert acl.rt.free(address) == 0


def test_managed_memory_is_there_or_refused():
    try:
        buffer = acl.Buffer(64, kind="managed")
    except acl.NotSupportedError as error:
        assert error.function == "aclrtMemAllocManaged"
    else:
        buffer.fill(3)
        assert bytes(buffer) == b"\3" * 64
        buffer.close()


# --- Giving back


def test_idle_memory_is_freed_at_once(stream):
    before = free_memory()
    buffer = acl.Buffer(LARGE)
    buffer.fill(0, stream=stream)
    stream.synchronize()
    assert free_memory() < before
    buffer.close()
    buffer.close()
    assert free_memory() == before and not retired


@pytest.mark.parametrize("end", ["close", "drop", "drop elsewhere"])
@pytest.mark.parametrize("told", ["object", "pyacl"])
def test_memory_in_use_is_freed_when_the_work_is_done(end, told, stream):
    before = free_memory()
    buffer = acl.DeviceArray(LARGE, "u1")
    with held(stream) as latch:
        if told == "object":
            buffer.fill(1, stream=stream)
        else:
            assert acl.rt.memset_async(buffer.handle, LARGE, 1, LARGE, stream.handle) == 0
            buffer.used_on(stream)
        if end == "close":
            buffer.close()
        elif end == "drop":
            del buffer
        else:
            box = [buffer]
            del buffer
            in_thread(box.clear)
        gc.collect()
        assert free_memory() < before
        acl.Buffer(64).close()
        assert free_memory() < before  # it was looked at, and is still in use
        latch.release()
        stream.synchronize()
        assert free_memory() == before and not retired


def test_work_queued_later_does_not_hold_memory_back(stream):
    before = free_memory()
    buffer = acl.Buffer(LARGE)
    with held(stream) as latch:
        buffer.fill(1, stream=stream)
        buffer.close()
        with acl.Event() as event:
            stream.record(event)
            latch.hold()
            latch.release()
            event.synchronize()
        assert not stream.query() and free_memory() == before


def test_memory_used_by_two_streams_waits_for_both(stream):
    before = free_memory()
    buffer = acl.Buffer(LARGE)
    with acl.Stream() as other, held(stream) as first, held(other) as second:
        for used in (stream, other):
            buffer.fill(1, stream=used)
        buffer.close()
        first.release()
        stream.synchronize()
        assert free_memory() < before
        second.release()
        other.synchronize()
        assert free_memory() == before


def test_the_end_of_a_stream_is_the_end_of_its_use():
    before = free_memory()
    buffer = acl.Buffer(LARGE)
    with acl.Stream() as stream:
        buffer.fill(1, stream=stream)
    buffer.close()
    assert free_memory() == before


def test_streams_that_have_ended_are_forgotten():
    with acl.Buffer(64) as buffer:
        for _ in range(100):
            with acl.Stream() as stream:
                buffer.fill(1, stream=stream)
        assert len(buffer._live().uses) <= 17


def test_views_share_memory_until_the_last_is_gone():
    before = free_memory()
    buffer = acl.Buffer(LARGE)
    array = acl.DeviceArray.from_buffer(buffer, 1024, "f4")
    part = array[10:20]
    buffer.close()
    array.close()
    part.fill(0)
    assert part.to_numpy().sum() == 0 and free_memory() < before
    part.close()
    assert free_memory() == before


def test_a_closed_device_waits_for_memory_that_is_given_back():
    with acl.Context():
        stream = acl.Stream()
        buffer = acl.Buffer(64)
        buffer.fill(1, stream=stream)
        buffer.close()
        acl.Device().close()
    assert not retired
    acl.Device(0).use()


def test_what_a_capture_took_in_is_held_by_the_instance(stream):
    before = free_memory()
    buffer = acl.Buffer(LARGE)
    assert acl.mdl.ri_capture_begin(stream.handle, 0) == 0
    buffer.fill(4, stream=stream)
    instance, ret = acl.mdl.ri_capture_end(stream.handle)
    assert ret == 0
    address = buffer.handle
    buffer.close()
    assert free_memory() < before
    assert acl.mdl.ri_execute_async(instance, stream.handle) == 0
    stream.synchronize()
    assert bytes(acl.Buffer.from_handle(address, 4)) == b"\4\4\4\4"
    assert acl.mdl.ri_destroy(instance) == 0
    assert free_memory() == before


def test_memory_given_back_during_a_capture_waits_for_its_end(stream):
    buffer = acl.Buffer(64)
    with acl.Stream() as other, held(stream) as latch:
        buffer.fill(1, stream=stream)
        assert acl.mdl.ri_capture_begin(stream.handle, 2) == 0
        buffer.close()
        other.synchronize()
        assert len(retired) == 1
        instance, ret = acl.mdl.ri_capture_end(stream.handle)
        assert ret == 0 and acl.mdl.ri_destroy(instance) == 0
        latch.release()
        stream.synchronize()
        assert not retired


def test_nothing_is_called_where_a_callback_drops_the_last_reference(stream):
    box = [acl.DeviceArray(64), acl.Stream()]
    with pytest.warns(ResourceWarning, match="unclosed <acl.Stream"):
        stream.call(box.clear)
        stream.synchronize()
    assert not retired and not box


def test_a_buffer_that_a_callback_closes_is_freed_by_the_synchronise(stream):
    before, waiting = free_memory(), []
    buffer = acl.Buffer(LARGE)
    stream.call(lambda: (buffer.close(), waiting.append(len(retired))))
    stream.synchronize()
    assert waiting == [1] and buffer.closed and free_memory() == before and not retired


@pytest.mark.needs_sim
def test_memory_that_ran_out_waits_for_what_is_given_back(configure):
    configure(memory=64 << 20)
    with acl.Device(0), acl.Stream() as stream:
        for _ in range(8):
            buffer = acl.Buffer(40 << 20)
            buffer.fill(1, stream=stream)
            buffer.close()
        kept = acl.Buffer(40 << 20)
        with raises(acl.OutOfMemoryError, "41943040 bytes were requested", "close buffers"):
            acl.Buffer(40 << 20)
        kept.close()


MISUSE = (
    ("no bytes", lambda b: acl.Buffer(0), ("size is 0", "expected 1")),
    ("negative", lambda b: acl.Buffer(-5), ("size is -5",)),
    ("kind", lambda b: acl.Buffer(8, kind="gpu"), ("kind is 'gpu'", "device, host, managed")),
    ("policy", lambda b: acl.Buffer(8, policy="huge"), ("policy is 'huge'", "huge_first, huge_only")),
    ("byte", lambda b: b.fill(256), ("value is 256", "0 to 255")),
    ("too much from", lambda b: b.copy_from(b"123456789"), ("9 bytes do not fit", "the target 8")),
    ("too much to", lambda b: b.copy_to(bytearray(4)), ("8 bytes do not fit", "the target 4")),
    ("size", lambda b: b.copy_from(bytes(8), size=9), ("9 bytes do not fit", "the source has 8")),
    ("negative size", lambda b: b.copy_from(bytes(8), size=-1), ("-1 bytes do not fit",)),
    ("into bytes", lambda b: b.copy_to(bytes(8)), ("bytes is not contiguous writable memory", "bytearray")),
    ("from a list", lambda b: b.copy_from([1, 2]), ("list is not contiguous memory", "NumPy array")),
    ("strided", lambda b: b.copy_from(numpy.zeros(16, "u1")[::2]), ("not contiguous memory", "ascontiguousarray")),
    ("view of the device", lambda b: b.view(), ("cannot reach device memory", "copy_to()")),
    ("array of the device", lambda b: b.numpy(), ("cannot reach device memory",)),
    ("beyond the end", lambda b: acl.DeviceArray.from_buffer(b, 3, "f4"), ("bytes 0 to 12", "has 8")),
    ("before the start", lambda b: acl.DeviceArray.from_buffer(b, 1, "f4", offset=-4), ("bytes -4 to 0", "has 8")),
    ("array beyond the end", lambda b: acl.Buffer(8, kind="host").numpy("f4", (3,)), ("12 bytes", "has 8")),
)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("call, words", [row[1:] for row in MISUSE], ids=[row[0] for row in MISUSE])
def test_misuse(call, words):
    with acl.Buffer(8) as buffer, raises(acl.InvalidArgumentError, *words):
        call(buffer)


CLOSED = (
    ("fill", lambda b: b.fill()), ("copy from", lambda b: b.copy_from(b"x")), ("copy to", lambda b: b.copy_to(b)),
    ("bytes", bytes), ("kind", lambda b: b.kind), ("handle", lambda b: b.handle), ("with", lambda b: b.__enter__()),
    ("array", lambda b: acl.DeviceArray.from_buffer(b, 1)), ("view", lambda b: b.view()),
    ("source", lambda b: acl.DeviceArray(2).copy_from(b)), ("used on", lambda b: b.used_on(acl.Stream.default())),
)  # fmt: skip


@pytest.mark.parametrize("call", [row[1] for row in CLOSED], ids=[row[0] for row in CLOSED])
def test_a_closed_buffer_is_refused(call):
    buffer = acl.Buffer(8)
    buffer.close()
    with raises(acl.InvalidHandleError, "acl.Buffer is closed", "make a new one"):
        call(buffer)


def test_sets_of_host_memory_are_not_queued(stream):
    with acl.Buffer(8, kind="host") as pinned, raises(acl.InvalidArgumentError, "on a stream", "omit stream="):
        pinned.fill(1, stream=stream)


def test_synchronous_copies_are_no_part_of_a_capture(stream):
    with acl.Buffer(8) as buffer:
        assert acl.mdl.ri_capture_begin(stream.handle, 0) == 0
        with raises(acl.CaptureError, "107030", "pass stream="):
            buffer.copy_from(bytes(8))
        acl.mdl.ri_capture_end(stream.handle)


def test_copies_between_pinned_blocks_are_not_queued(stream):
    with acl.Buffer(8, kind="host") as one, acl.Buffer(8, kind="host") as other:
        with raises(acl.NotSupportedError, "207000"):
            one.copy_from(other, stream=stream)
        one.copy_from(other)


def test_a_view_of_pinned_memory_is_held_by_the_copy_that_reads_it(stream):
    with acl.Buffer(LARGE) as target, held(stream) as latch:
        array = acl.Buffer(LARGE, kind="host").numpy()
        array[:] = 6
        target.copy_from(array, stream=stream)
        del array
        gc.collect()
        assert len(retired) == 1
        latch.release()
        assert bytes(target)[:4] == b"\6\6\6\6"
    assert not retired


def test_who_borrows_pinned_memory_does_not_hide_its_owner(stream):
    """A copy from a view is known to the owner's block, whoever else knows the address."""
    owner, target = acl.Buffer(64, kind="host"), acl.Buffer(64)
    borrower = acl.Buffer.from_handle(owner.handle, 64, kind="host")
    view = owner.view()
    borrower.close()
    target.copy_from(view, stream=stream)
    assert list(owner._block.uses) == [stream.handle]
    stream.synchronize()
    del view
    owner.close()
    target.close()


# --- Buffers without a block, whose life is in C


@pytest.mark.strict
def test_a_buffer_without_a_block_leaves_nothing_behind(opened):
    """The memory, the references and the objects that it takes are returned, however it ends."""
    opening, size = resource.current_opening(), 2**20 + 1
    before, references = free_memory(), (sys.getrefcount(opening), sys.getrefcount(size))
    for _ in range(100):
        acl.Buffer(size).close()
        acl.Buffer(size=size).close()
        with acl.Buffer(size) as buffer:
            buffer.fill(1)
        buffer.close()
        buffer = acl.Buffer(size)
        acl.DeviceArray.from_buffer(buffer, 4)
        buffer.close()
    del buffer
    gc.collect()
    assert free_memory() == before
    assert (sys.getrefcount(opening), sys.getrefcount(size)) == references


@pytest.mark.strict
def test_an_unclosed_buffer_is_freed_with_a_warning(opened):
    before = free_memory()
    with pytest.warns(ResourceWarning, match="unclosed <acl.Buffer .* device 4096 bytes huge_first>"):
        acl.Buffer(4096)
    gc.collect()
    assert free_memory() == before


def test_a_buffer_in_a_cycle_is_collected(opened):
    class Linked(acl.Buffer):
        """A subclass has attributes, and its own name in messages."""

    buffer = Linked(64)
    buffer.link, found = buffer, weakref.ref(buffer)
    buffer.close()
    with raises(acl.InvalidHandleError, "acl.Linked is closed"):
        buffer.fill(0)
    del buffer
    gc.collect()
    assert found() is None


@pytest.mark.parametrize(
    "arguments, named, words",
    [
        ((), {}, "Buffer.__init__() missing 1 required positional argument: 'size'"),
        ((1, 2), {}, "Buffer.__init__() takes 2 positional arguments but 3 were given"),
        ((1,), {"kin": 2}, "Buffer.__init__() got an unexpected keyword argument 'kin'"),
        ((1.5,), {}, "acl.Buffer: size is 1.5, expected an int"),
    ],
)
def test_wrong_arguments_of_a_buffer(opened, arguments, named, words):
    with pytest.raises(TypeError) as caught:
        acl.Buffer(*arguments, **named)
    assert words.replace("Buffer.", "" if sys.version_info < (3, 10) else "Buffer.") in str(caught.value)
    assert str(inspect.signature(acl.Buffer)).startswith("(size: int, *, kind: str = 'device', policy: str")


@pytest.mark.strict
def test_threads_close_a_buffer_once(opened):
    before, start = free_memory(), threading.Barrier(4)
    for _ in range(50):
        buffer = acl.Buffer(2**20)

        def close(buffer=buffer):
            start.wait()
            buffer.close()

        threads = [threading.Thread(target=close) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert buffer.closed
    assert free_memory() == before
