"""Each call of the objects, the pyACL call of the same work, and its twin in C, in one process and thread."""

import shutil
import struct
import timeit

import numpy
import pytest
from helpers.models import Dataset
from helpers.objects import fresh_stream
from report import LOOPS, Row

import acl
from acl import demo
from acl.sim import om

pytestmark = pytest.mark.usefixtures("opened")
stream = fresh_stream
RECORD = 250  # what a record may cost above its twin
# Why a row may be above its bar, which is a time and so depends on the machine; these are notes under the table.
CALL = "a builtin of an extension that only converts two integers and returns an output takes {output}"
TWIN = "the same from C takes {{beside_{}}}; {}".format
EVENT = Row("event", "acl.Event().close()", most=500, limit=TWIN("create_event", CALL))
OPERATOR = Row("operator", "acl.nn.add(a, b, out=o), done", most=1200, limit=TWIN("add", CALL))
FILL = Row("fill", "buffer.fill(0), 4 KiB", most=300, limit=CALL)
BY = pytest.mark.parametrize("by", ["object", "pyacl"])
SAME = "the same by pyACL"


def test_event(measure):
    calls = timeit.Timer("Event().close()", globals={"Event": acl.Event})
    measure(EVENT, lambda: calls.timeit(LOOPS) * 1e9 / LOOPS)


def test_create_event(opened, compare):
    names = {"create": acl.rt.create_event_ex_with_flag, "destroy": acl.rt.destroy_event}
    compare(Row("create_event", SAME), "e, ret = create(9); destroy(e)", names, 9)


@pytest.fixture
def pair(compare):
    """Give ``pair(by, name, (label, bar, statement), pyacl_statement, names, *arguments)``: one of the two rows."""

    def run(by, name, ours, theirs, names, *arguments):
        label, bar, statement = ours
        if by == "pyacl":
            label, bar, statement = SAME, {}, theirs
        compare(Row(name, label, **bar), statement, names, *arguments)

    return run


@BY
def test_record(by, stream, pair):
    with acl.Event() as event:
        names = {"record": stream.record, "event": event, "call": acl.rt.record_event}
        names.update(e=event.handle, s=stream.handle)
        ours = "stream.record(event)", {"over": RECORD, "limit": CALL}, "record(event)"
        pair(by, "record_event", ours, "call(e, s)", names, event.handle, stream.handle)
        stream.synchronize()


@BY
def test_synchronize(by, stream, pair):
    names = {"synchronize": stream.synchronize, "call": acl.rt.synchronize_stream, "s": stream.handle}
    ours = "stream.synchronize(), idle", {"over": RECORD}, "synchronize()"
    pair(by, "synchronize_stream", ours, "call(s)", names, stream.handle)


@BY
def test_fill(by, stream, pair):
    with acl.Buffer(64) as buffer:
        names = {"fill": buffer.fill, "stream": stream, "call": acl.rt.memset_async}
        names.update(p=buffer.handle, s=stream.handle)
        ours = "buffer.fill(0, stream=stream)", {}, "fill(0, stream=stream)"
        pair(by, "memset_async", ours, "call(p, 64, 0, 64, s)", names, buffer.handle, len(buffer), stream.handle)
        stream.synchronize()


def test_fill_at_once(opened, measure):
    with acl.Buffer(4096) as buffer:
        calls = timeit.Timer("fill(0)", globals={"fill": buffer.fill})
        measure(FILL, lambda: calls.timeit(LOOPS) * 1e9 / LOOPS)


WAKES = "two copies, a Future and a wait for the worker; two threads wake each other in {futex_round}"
ON_DEVICE = {"most": 2000, "limit": TWIN("execute", CALL)}
FUTURE = {"most": 8000, "limit": WAKES}
RUNS = {
    "host": ("model(x, out=y), an identity of 16 bytes on the host", {}, "model(x, out=y)"),
    "device": ("model(x, out=y), an identity of 16 bytes on the device", ON_DEVICE, "model(a, out=b)"),
    "at once": (f"{SAME}, its datasets filled", {}, "execute(m, i, o)"),
    "future": ("model.submit(x).result(), the same identity", FUTURE, "submit(x).result()"),
    "queued": (f"{SAME}, its datasets filled", {}, "execute_async(m, i, o, s); synchronize(s)"),
}


@pytest.mark.parametrize("how", RUNS)
def test_execute(how, stream, compare):
    """The twin and pyACL run the same model on datasets of its own; the objects copy from and to the host as well."""
    zeros = numpy.zeros(4, "f4")
    content = acl.sim.recorded("identity", [om.Tensor("x", (4,))], [om.Tensor("y", (4,))], [([zeros], [zeros])])
    with acl.Model(content) as model, acl.Model(content) as other:
        sides = Dataset([16]), Dataset([16])
        sides[0].put(0, zeros)
        arguments = other.handle, sides[0].handle, sides[1].handle
        names = {"model": model, "submit": model.submit, "x": zeros, "y": numpy.empty(4, "f4")}
        names.update(a=acl.DeviceArray.from_numpy(zeros), b=acl.DeviceArray(4), s=stream.handle)
        names.update(
            execute=acl.mdl.execute, execute_async=acl.mdl.execute_async, synchronize=acl.rt.synchronize_stream
        )
        names.update(zip("mio", arguments))
        label, bar, statement = RUNS[how]
        compare(Row("execute", label, **bar), statement, names, *arguments)
        for side in sides:
            side.close()


@BY
def test_replay(by, stream, pair):
    """An empty graph: what is measured is the call."""
    with acl.capture(stream) as graph:
        pass
    with graph:
        names = {"replay": graph.replay, "stream": stream, "call": acl.mdl.ri_execute_async}
        names.update(g=graph.handle, s=stream.handle)
        ours = "graph.replay(stream)", {"over": 200, "limit": CALL}, "replay(stream)"
        pair(by, "replay", ours, "call(g, s)", names, graph.handle, stream.handle)
        stream.synchronize()


@BY
def test_malloc_free(by, opened, pair):
    names = {"Buffer": acl.Buffer, "malloc": acl.rt.malloc, "free": acl.rt.free}
    ours = "acl.Buffer(4096).close()", {"most": 300, "limit": TWIN("malloc_free", CALL)}, "Buffer(4096).close()"
    pair(by, "malloc_free", ours, "p, ret = malloc(4096, 0); free(p)", names, 4096)


# --- Operators and kernels


def test_operator(stream, measure):
    a, b, out = (acl.DeviceArray.zeros((4, 4)) for _ in range(3))
    names = {"add": acl.nn.add, "a": a, "b": b, "o": out}
    calls = timeit.Timer("add(a, b, out=o)", globals=names)
    measure(OPERATOR, lambda: calls.timeit(LOOPS) * 1e9 / LOOPS)


def test_operator_of_two_phases(stream, compare):
    address = acl.DeviceArray.zeros((4, 4))
    tensors = [acl.create_tensor([4, 4], 0, [4, 1], 0, 2, [4, 4], address.handle) for _ in range(3)]
    one = numpy.ones(1, "f4")
    alpha = acl.create_scalar(one.ctypes.data, 0)
    arguments = (*tensors[:2], alpha, tensors[2])
    names = {"plan": acl.nnop.add_get_workspace_size, "run": acl.nnop.add, "a": arguments, "s": stream.handle}
    row = Row("add", f"{SAME} (acl.nnop), queued", 800)
    compare(row, "size, executor, ret = plan(*a); run(0, size, executor, s)", names, *arguments, stream.handle)
    stream.synchronize()
    for tensor in tensors:
        acl.destroy_tensor(tensor)
    acl.destroy_scalar(alpha)


@pytest.mark.needs_sim
@BY
def test_kernel(by, stream, pair, tmp_path):
    """Its implementation is in C, so that nothing but the launch is Python's."""
    path = demo.build_kernel(demo.examples(), str(tmp_path), shutil.which("gcc") or "clang")
    kernel, x = acl.Kernel(path, "vector_add"), acl.DeviceArray.zeros(4)
    packed = struct.pack("4Q", x.handle, x.handle, x.handle, 4)
    names = {"kernel": kernel, "x": x, "n": numpy.uint64(4), "stream": stream}
    names.update(call=acl.rt.launch_kernel_with_host_args, k=kernel.handle, s=stream.handle)
    names.update(p=acl.util.bytes_to_ptr(packed), size=len(packed))
    bar = {"most": 1500, "limit": TWIN("launch", CALL)}
    ours = "acl.Kernel(...)(1, x, x, x, 4, stream=stream)", bar, "kernel(1, x, x, x, n, stream=stream)"
    theirs = "call(k, 1, s, [], p, size, [], 0)"
    pair(by, "launch", ours, theirs, names, kernel.handle, x.handle, stream.handle)
    stream.synchronize()
