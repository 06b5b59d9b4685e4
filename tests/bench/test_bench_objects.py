"""Calls of the objects beside the same calls from C, and the pyACL calls beside these, in one process and thread."""

import shutil
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
EVENT = Row("event", "acl.Event().close()", 500)
OPERATOR = Row("operator", "acl.nn.add(a, b, out=o), done", 3000)


def test_event(measure):
    """The target is absolute: what the objects make of it is Python's own."""
    calls = timeit.Timer("Event().close()", globals={"Event": acl.Event})
    measure(EVENT, lambda: calls.timeit(LOOPS) * 1e9 / LOOPS)


def test_create_event(opened, compare):
    names = {"create": acl.rt.create_event_ex_with_flag, "destroy": acl.rt.destroy_event}
    compare(Row("create_event", "the same by pyACL"), "e, ret = create(9); destroy(e)", names, 9)


def test_record(stream, compare):
    with acl.Event() as event:
        names = {"record": stream.record, "e": event}
        compare(Row("record_event", "stream.record(event)", RECORD), "record(e)", names, event.handle, stream.handle)
        stream.synchronize()


def test_synchronize(stream, compare):
    row = Row("synchronize_stream", "stream.synchronize(), idle", RECORD)
    compare(row, "synchronize()", {"synchronize": stream.synchronize}, stream.handle)


def test_fill(stream, compare):
    with acl.Buffer(64) as buffer:
        names = {"fill": buffer.fill, "s": stream}
        row = Row("memset_async", "buffer.fill(0, stream=stream)")
        compare(row, "fill(0, stream=s)", names, buffer.handle, len(buffer), stream.handle)


@pytest.mark.parametrize("where", ["host", "device"])
def test_execute(where, opened, compare):
    """The twin runs the same model on a dataset of its own; the row of acl.mdl.execute stands with the models."""
    zeros = numpy.zeros(4, "f4")
    content = acl.sim.recorded("identity", [om.Tensor("x", (4,))], [om.Tensor("y", (4,))], [([zeros], [zeros])])
    given = zeros if where == "host" else acl.DeviceArray.from_numpy(zeros)
    with acl.Model(content) as model, acl.Model(content) as other:
        sides = Dataset([16]), Dataset([16])
        sides[0].put(0, zeros)
        target = numpy.empty(4, "f4") if where == "host" else acl.DeviceArray(4)
        row = Row("execute", f"model(x, out=y), an identity of 16 bytes on the {where}")
        names = {"model": model, "x": given, "y": target}
        compare(row, "model(x, out=y)", names, other.handle, sides[0].handle, sides[1].handle)
        for side in sides:
            side.close()


def test_submit(opened, compare):
    zeros = numpy.zeros(4, "f4")
    content = acl.sim.recorded("identity", [om.Tensor("x", (4,))], [om.Tensor("y", (4,))], [([zeros], [zeros])])
    with acl.Model(content) as model, acl.Model(content) as other:
        sides = Dataset([16]), Dataset([16])
        sides[0].put(0, zeros)
        row = Row("execute", "model.submit(x).result(), the same")
        names = {"submit": model.submit, "x": zeros}
        compare(row, "submit(x).result()", names, other.handle, sides[0].handle, sides[1].handle)
        for side in sides:
            side.close()


REPLAYS = (
    (Row("replay", "graph.replay(stream)", 200), "replay(s)"),
    (Row("replay", "the same by pyACL"), "execute(g, h)"),
)


@pytest.mark.parametrize("row, statement", REPLAYS, ids=["object", "pyacl"])
def test_replay(row, statement, stream, compare):
    """An empty graph: what is measured is the call."""
    with acl.capture(stream) as graph:
        pass
    with graph:
        names = {"replay": graph.replay, "s": stream, "execute": acl.mdl.ri_execute_async}
        names.update(g=graph.handle, h=stream.handle)
        compare(row, statement, names, graph.handle, stream.handle)
        stream.synchronize()


def test_malloc_free(opened, compare):
    row = Row("malloc_free", "acl.Buffer(4096).close()")
    compare(row, "Buffer(4096).close()", {"Buffer": acl.Buffer}, 4096)


# --- Operators and kernels


def test_operator(stream, measure):
    """The target is absolute, as for an event."""
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
    row = Row("add", "the same by acl.nnop, queued")
    compare(row, "size, executor, ret = plan(*a); run(0, size, executor, s)", names, *arguments, stream.handle)
    stream.synchronize()
    for tensor in tensors:
        acl.destroy_tensor(tensor)
    acl.destroy_scalar(alpha)


@pytest.mark.needs_sim
def test_kernel(stream, compare, tmp_path):
    """Its implementation is in C, so that nothing but the launch is Python's."""
    path = demo.build_kernel(demo.examples(), str(tmp_path), shutil.which("gcc") or "clang")
    kernel, x = acl.Kernel(path, "vector_add"), acl.DeviceArray.zeros(4)
    names = {"kernel": kernel, "x": x, "n": numpy.uint64(4), "s": stream}
    row = Row("launch", "acl.Kernel(...)(1, x, x, x, 4, stream=stream)")
    compare(row, "kernel(1, x, x, x, n, stream=s)", names, kernel.handle, x.handle, stream.handle)
    stream.synchronize()
