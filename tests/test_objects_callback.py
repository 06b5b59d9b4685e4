"""Objects in callbacks: what dies there, what is closed there, and what nobody has waited for at the end."""

import gc
import threading

import numpy
import pytest
from helpers.objects import filled, fresh_stream, held
from helpers.programs import run_script

import acl

pytestmark = pytest.mark.usefixtures("opened")
stream = fresh_stream
WAITING = r"acl\.{}: it was called inside a callback, which must not wait"


def dropped_in_its_callback(make, queue):
    """Let the last reference to an object go with the callback that it queued; return when that has run."""
    dropped, ran = threading.Event(), threading.Event()
    resource = make()

    def callback(kept=resource):
        dropped.wait(60)  # nothing else holds it then
        ran.set()

    queue(resource, callback)
    del resource, callback
    dropped.set()
    assert ran.wait(60)


@pytest.mark.filterwarnings("ignore:unclosed <acl:ResourceWarning")
def test_a_stream_that_dies_in_its_own_callback_is_closed_by_a_later_synchronise(stream):
    before = acl.sim.live("stream") if acl.backend == "sim" else 0
    for _ in range(50):
        dropped_in_its_callback(acl.Stream, acl.Stream.call)
    while acl.objects.resource.retired:  # the last callback may be on its way out
        stream.synchronize()
    assert acl.backend != "sim" or acl.sim.live("stream") == before


@pytest.mark.filterwarnings("ignore:unclosed <acl:ResourceWarning")
def test_a_graph_that_dies_in_its_own_callback_is_closed_by_a_later_synchronise(stream):
    array = acl.DeviceArray.zeros(4, "u1")

    def queue(graph, callback):
        graph.replay(stream)
        stream.call(callback)

    for value in range(1, 21):
        dropped_in_its_callback(lambda value=value: filled(stream, array, value), queue)
        assert array.to_numpy().tolist() == [value] * 4
    while acl.objects.resource.retired:
        stream.synchronize()


@pytest.mark.filterwarnings("ignore:unclosed <acl:ResourceWarning")
def test_a_stream_that_died_in_a_callback_is_not_waited_for_while_it_has_work(stream):
    other = acl.Stream()
    with acl.Event() as ahead:
        with held(stream) as latch:
            stream.record(ahead)
            dropped_in_its_callback(acl.Stream, lambda mine, callback: (mine.call(callback), mine.wait(ahead)))
            while not acl.objects.resource.retired:  # the callback's thread is about to retire it
                other.synchronize()
            other.synchronize()  # would wait for ever if the sweep waited
            acl.Buffer(16).close()
            latch.release()
        stream.synchronize()
        while acl.objects.resource.retired:
            other.synchronize()
    other.close()


def close_of(kind, stream):
    """Return an object with work that a callback of ``stream`` is part of, and the method that ends it."""
    if kind == "Graph":
        graph = filled(stream, acl.DeviceArray.zeros(4, "u1"))
        graph.replay(stream)
        return graph, graph.close
    if kind == "Context":
        return stream, acl.Context.current().close
    if kind == "Device":
        return stream, acl.Device().close
    return stream, stream.close if kind == "Stream" else stream.discard


@pytest.mark.parametrize("kind", ["Stream", "Stream.discard", "Graph", "Device"])
def test_a_close_that_would_wait_for_the_callback_is_refused_at_once(stream, kind):
    mine = acl.Stream()
    resource, close = close_of(kind, mine)
    mine.call(close)
    name = kind if "." in kind else f"{kind}.close"
    with pytest.raises(acl.AclError, match=WAITING.format(name)) as caught:
        mine.synchronize()
    assert caught.value.code == 507000 and "another thread" in caught.value.advice
    assert not resource.closed
    if kind == "Graph":
        resource.close()
    mine.close()
    assert mine.closed


def test_a_context_is_not_closed_in_a_callback(stream):
    with acl.Context():
        inner = acl.Stream()
        context = acl.Context()
        inner.use_context()
        inner.call(context.close)
        with pytest.raises(acl.AclError, match=WAITING.format("Context.close")):
            inner.synchronize()
        context.close()
        inner.close()


def test_a_stream_without_work_is_closed_in_a_callback_of_another(stream):
    idle = acl.Stream()
    stream.call(idle.close)
    stream.synchronize()
    assert idle.closed


@pytest.mark.finds("use-after-free")
def test_memory_that_dies_in_a_callback_is_released_by_a_later_allocation(stream):
    array = acl.DeviceArray.from_numpy(numpy.arange(1 << 20, dtype="f4"))
    address = array.handle
    stream.call(lambda array: None, array)
    del array
    stream.synchronize()
    gc.collect()
    acl.Buffer(16).close()
    assert acl.rt.memset(address, 16, 0, 16) != 0


@pytest.mark.needs_sim
def test_a_stream_that_dies_in_a_kernel_is_closed_by_a_later_synchronise(stream):
    kept = [acl.Stream()]

    @acl.sim.kernel("aclnnSin")
    def sine(self, out):
        kept.clear()
        out[...] = numpy.sin(self)

    try:
        with pytest.warns(ResourceWarning, match="unclosed <acl.Stream"):
            result = acl.nn.sin(acl.DeviceArray.zeros(4), stream=stream)
            stream.synchronize()
        assert result.to_numpy().tolist() == [0.0] * 4
    finally:
        acl.sim.kernel("aclnnSin")(None)
    stream.synchronize()
    assert not acl.objects.resource.retired


# --- What nobody has waited for


def test_queued_callbacks_are_named_at_exit():
    done = run_script(
        """
import acl
acl.Device(0).use()
stream, event = acl.Stream(), acl.Event(gate=True)
stream.wait(event)
def report_progress(): print("never")
stream.call(report_progress)
acl.rt.launch_host_func(stream.handle, print, "never")
"""
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "2 callbacks were queued and not called: report_progress, print" in done.stderr


@pytest.mark.parametrize("end", ["", "acl.Device(0).reset()"])
def test_what_callbacks_raised_is_reported_at_the_end(end):
    done = run_script(
        f"""
import threading
import acl
acl.Device(0).use()
stream, ran = acl.Stream(), threading.Event()
def fail(): raise KeyError("of the callback")
stream.call(fail)
stream.call(ran.set)
ran.wait()
{end}
"""
    )
    assert done.returncode == 0, done.stderr
    assert "KeyError: 'of the callback'" in done.stderr and "whose error no synchronise reported" in done.stderr


def test_what_a_synchronise_has_reported_is_not_reported_at_exit():
    done = run_script(
        """
import acl
acl.Device(0).use()
with acl.Stream() as stream:
    stream.call(int, "x")
    try:
        stream.synchronize()
    except ValueError:
        print("seen")
"""
    )
    assert (done.returncode, done.stdout) == (0, "seen\n")
    assert "ValueError" not in done.stderr and "callback" not in done.stderr
