"""Devices and contexts as objects: opening once, current for each thread, closed at the end."""

import threading

import pytest
from helpers.expect import in_thread
from helpers.objects import raises

import acl

NO_CONTEXT = 107002


def current():
    return acl.rt.get_context()


def test_with_opens_makes_current_and_closes():
    device = acl.Device(0)
    assert not device.is_open
    with device as same:
        assert same is device is acl.Device() is acl.Device.current() is acl.Device(0)
        assert device.is_open and acl.rt.get_device() == (0, 0)
        with acl.Device(0):
            pass
        assert device.is_open
    assert not device.is_open and current()[1] == NO_CONTEXT


def test_a_device_in_use_outlives_the_blocks_inside():
    device = acl.Device(0).use()
    with device:
        pass
    assert device.is_open
    device.close()
    device.close()
    assert not device.is_open


def test_the_last_block_of_all_threads_closes():
    entered, leave = threading.Event(), threading.Event()

    def other():
        with acl.Device(0):
            entered.set()
            leave.wait()

    with acl.Device(0) as device:
        thread = threading.Thread(target=other)
        thread.start()
        entered.wait()
    assert device.is_open
    leave.set()
    thread.join()
    assert not device.is_open


def test_a_thread_has_its_context_again_after_the_block(opened):
    with acl.Context() as context:
        with acl.Device(0):
            assert current()[0] != context.handle
        assert current() == (context.handle, 0)


def test_threads_start_with_no_device(opened):
    def work():
        with raises(acl.ContextError, "with acl.Device(0)"):
            acl.Stream()
        opened.use()
        acl.Stream().close()
        return acl.rt.get_device()

    assert in_thread(work) == (0, 0)


@pytest.mark.finds("leaked-object")
def test_pyacl_may_hold_a_device_that_the_objects_close():
    assert acl.rt.set_device(0) == 0
    with acl.Device(0) as device:
        event = acl.Event()
    assert device.is_open
    event.close()  # it is still there: nothing is said
    assert acl.rt.reset_device(0) == 0
    assert not device.is_open


def test_reset_ends_what_pyacl_holds_too():
    assert acl.rt.set_device(0) == 0
    with acl.Device(0) as device:
        device.reset()
        assert not device.is_open
    assert current()[1] == NO_CONTEXT


@pytest.mark.strict
@pytest.mark.finds("leaked-memory")
@pytest.mark.parametrize("reset", [acl.rt.reset_device, acl.rt.reset_device_force])
def test_memory_of_a_device_that_pyacl_has_closed_is_not_freed_again(device, reset):
    """The address belongs to another block by then."""
    old, view = acl.Buffer(4096), acl.Buffer(64)
    if reset is acl.rt.reset_device:  # asks this after the call, where the library has the function
        assert acl.rt.get_primary_ctx_state(0)[:2] == (1, 0)
    assert reset(0) == 0 and acl.rt.set_device(0) == 0
    blocks = [acl.rt.malloc(size, 0)[0] for size in (4096, 64)]
    assert blocks == [old.handle, view.handle]
    with pytest.raises(acl.AclError, match="its device was closed"):
        old.fill(0)
    old.close()
    del view
    assert [acl.rt.memset(block, size, 1, size) for block, size in zip(blocks, (4096, 64))] == [0, 0]
    assert [acl.rt.free(block) for block in blocks] == [0, 0]


def test_a_device_that_pyacl_holds_twice_stays_open_for_objects(device):
    assert acl.rt.set_device(0) == 0
    with acl.Buffer(64) as buffer:
        assert acl.rt.reset_device(0) == 0
        buffer.fill(0)


def test_a_device_that_pyacl_has_reset_is_opened_again(opened):
    acl.rt.reset_device_force(0)
    with acl.Device(0), acl.Stream() as stream:
        stream.synchronize()


@pytest.mark.finds("leaked-memory", "leaked-object")
def test_objects_that_outlive_their_device_close_silently():
    with acl.Device(0):
        made = [acl.Stream(), acl.Event(), acl.Buffer(64), acl.DeviceArray(4), acl.Context()]
    for thing in made:
        thing.close()
        thing.close()
        assert thing.closed


def test_memory_of_a_closed_device_is_not_another_ones():
    with acl.Device(0):
        array = acl.DeviceArray.zeros(4)
    with acl.Device(0), raises(acl.InvalidHandleError, "its device was closed", "before their device"):
        array.to_numpy()


def test_what_a_device_is(opened):
    assert opened.name == acl.get_soc_name() and opened.name in repr(opened)
    free, total = opened.memory_info()
    assert 0 < free <= total
    assert opened.memory()["HBM"] == opened.memory_info() and len(opened.memory()) == 6
    assert opened.run_mode == ("device", "host")[acl.rt.get_run_mode()[0]]
    assert all(count > 0 for count in opened.cores.values())
    assert 0 in opened.stream_priorities
    assert opened.default_stream.query()
    assert {acl.Device(number).id for number in range(acl.Device.count())} == set(range(acl.Device.count()))


def test_notebooks_show_a_device(opened):
    text = opened._repr_html_()
    for word in (opened.name, "GiB free", "ai cores", "acl.Device 0"):
        assert word in text, text


def test_notebooks_show_a_device_that_is_not_open():
    text = acl.Device(0)._repr_html_()
    assert "<th>open</th><td>no</td>" in text and "free" not in text


@pytest.mark.needs_sim
def test_an_unknown_device_is_refused_with_those_that_are_there(configure):
    configure(devices=2)
    with raises(acl.InvalidArgumentError, "acl.Device: no device 2: 2 devices are available (0 to 1)"):
        acl.Device(2)


@pytest.mark.needs_sim
def test_questions_are_about_the_device_not_the_current_one(configure):
    configure(devices=2, memory="1Gi")
    with acl.Device(1) as one, acl.Device(0) as zero:
        block = acl.Buffer(1 << 21)
        assert zero.memory_info().free < one.memory_info().free
        assert one.can_access(zero)
        one.enable_access(zero)
        zero.enable_access(1)
        assert zero.can_access(1)
        assert acl.rt.get_device() == (0, 0)
        block.close()


def test_library_is_initialised_with_the_first_device_and_finalised_with_the_last():
    acl.finalize()  # a test before this one may have left the library initialised
    with acl.Device(0):
        assert acl.init() == 100002
    assert acl.init() == 0
    with acl.Device(0):
        pass
    assert acl.init() == 100002  # whoever initialised it finalises it
    assert acl.finalize() == 0


def test_a_context_has_streams_of_its_own(opened):
    before = current()[0]
    with acl.Context(opened) as context:
        assert context.device is opened and acl.Context.current().handle == context.handle
        stream = acl.Stream()
        context.synchronize()
    assert context.closed and current() == (before, 0)
    stream.close()  # it ended with its context
    assert stream.closed


def test_a_stream_is_closed_whatever_context_is_current(opened):
    context = acl.Context()
    stream = acl.Stream()
    opened.use()
    before = current()
    stream.close()
    assert current() == before
    context.close()
    context.close()


def test_a_stream_is_closed_on_a_thread_without_a_context(opened):
    stream = acl.Stream()

    def work():
        stream.close()
        return current()[1]

    assert in_thread(work) == NO_CONTEXT


@pytest.mark.strict
def test_streams_of_another_context_are_refused(opened):
    with acl.Stream() as stream, acl.Event() as event, acl.Context():
        with raises(acl.ContextError, "use_context()"):
            stream.record(event)
    with acl.Context():
        with acl.Stream() as other:
            opened.use()
            other.use_context().record().close()


def test_a_context_that_others_destroyed_closes_silently(opened):
    before = acl.rt.get_context()[0]
    context = acl.Context()
    assert acl.rt.destroy_context(context.handle) == 0
    context.close()
    context.close()
    assert context.closed and acl.rt.set_context(before) == 0


def test_a_context_borrowed_is_not_destroyed(opened):
    handle, ret = acl.rt.create_context(0)
    assert ret == 0
    borrowed = acl.Context.from_handle(handle)
    assert not borrowed.owned and "borrowed" in repr(borrowed) and borrowed.device is opened
    borrowed.close()
    assert acl.rt.destroy_context(handle) == 0


MISUSE = (
    ("no such device", lambda: acl.Device(4096), acl.InvalidArgumentError, ("device 4096", "acl.Device.count()")),
    ("negative device", lambda: acl.Device(-1), acl.InvalidArgumentError, ("device -1", "acl.Device.count()")),
    ("no current device", lambda: acl.Device(), acl.ContextError, ("with acl.Device(0)",)),
    ("memory of one not open", lambda: acl.Device(0).memory_info(), acl.ContextError, ("open device 0 first",)),
    ("synchronise one not open", lambda: acl.Device(0).synchronize(), acl.ContextError, ("open device 0 first",)),
    ("stream", lambda: acl.Stream(), acl.ContextError, ("with acl.Device(0)",)),
    ("event", lambda: acl.Event(), acl.ContextError, ("with acl.Device(0)",)),
    ("buffer", lambda: acl.Buffer(8), acl.ContextError, ("with acl.Device(0)",)),
    ("pinned buffer", lambda: acl.Buffer(8, kind="host"), acl.ContextError, ("with acl.Device(0)",)),
    ("array", lambda: acl.DeviceArray(8), acl.ContextError, ("with acl.Device(0)",)),
    ("context", lambda: acl.Context(), acl.ContextError, ("with acl.Device(0)",)),
    ("context of no device", lambda: acl.Context(4096), acl.InvalidArgumentError, ("acl.Device.count()",)),
    ("default stream", lambda: acl.Stream.default(), acl.ContextError, ("with acl.Device(0)",)),
)


@pytest.mark.parametrize("call, kind, words", [row[1:] for row in MISUSE], ids=[row[0] for row in MISUSE])
def test_without_a_device(call, kind, words):
    def work():
        with raises(kind, *words):
            call()

    in_thread(work)
