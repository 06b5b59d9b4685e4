"""What communicators say when they are misused: one row a mistake."""

import types

import numpy
import pytest
from helpers.communicators import group_of
from helpers.expect import in_thread
from helpers.objects import misuse, raises

import acl

pytestmark = pytest.mark.needs_sim
WRONG, DEAD = acl.InvalidArgumentError, acl.InvalidHandleError


@pytest.fixture(scope="module")
def x():
    with group_of(2) as group, acl.Device(0):
        array = acl.DeviceArray.zeros((2, 3))
        with acl.Device(1):
            far = acl.DeviceArray.zeros((2, 3))
            other = acl.Stream()
        closed, pinned = acl.Communicator.all([0])[0], acl.Buffer(24, kind="host")
        closed.close()
        yield types.SimpleNamespace(
            comm=group.comms[0], second=group.comms[1], closed=closed, array=array, far=far, other=other,
            stream=group.streams[0], pinned=pinned, host=acl.DeviceArray.from_buffer(pinned, 6),
            truths=acl.DeviceArray.zeros((2, 3), "?"), complex=acl.DeviceArray.zeros(3, "c8"),
            bytes=acl.DeviceArray.zeros(3, "u1"),
        )  # fmt: skip
        other.close()


ROWS = (
    ("no communicator", lambda x: acl.Communicator(), TypeError, ("missing 3 required",)),
    ("rank as text", lambda x: acl.Communicator("0", 1, b""), TypeError, ("rank is '0'", "an int")),
    ("rank of the size", lambda x: acl.Communicator(2, 2, b""), WRONG, ("rank is 2", "expected 0 to 1")),
    ("no ranks", lambda x: acl.Communicator(0, 0, b""), WRONG, ("size is 0", "expected 1 to")),
    ("text for bytes", lambda x: acl.Communicator(0, 1, "info"), TypeError, ("root_info is a str, expected bytes",)),
    ("few bytes", lambda x: acl.Communicator(0, 1, b"x"), WRONG, ("has 1 bytes, expected 4108", "root_info()")),
    ("other bytes", lambda x: acl.Communicator(0, 1, bytes(4108)), WRONG, ("was not written by HcclGetRootInfo",)),
    ("one device", lambda x: acl.Communicator.all(0), TypeError, ("devices is 0", "expected a list of devices")),
    ("a text of devices", lambda x: acl.Communicator.all("01"), TypeError, ("devices is '01'",)),
    ("no devices", lambda x: acl.Communicator.all([]), WRONG, ("ndev is 0",)),
    ("a device twice", lambda x: acl.Communicator.all([1, 1]), WRONG, ("expected each device once",)),
    ("a device that is not there", lambda x: acl.Communicator.all([0, 99]), WRONG, ("no device 99: 2 devices",)),
    ("a stream as a device", lambda x: acl.Communicator.all([x.stream]), TypeError, ("id is <acl.Stream",)),
    ("the handle of a stream", lambda x: acl.Communicator.from_handle(x.stream.handle), DEAD, ("a live stream",)),
    ("a handle as text", lambda x: acl.Communicator.from_handle("1"), TypeError, ("handle is '1'",)),
    ("NumPy's array", lambda x: x.comm.all_reduce(numpy.ones(3)), WRONG, ("array is a ndarray", "from_numpy(array)")),
    ("no array", lambda x: x.comm.broadcast(None), WRONG, ("array is a NoneType, expected an acl.DeviceArray",)),
    ("a buffer", lambda x: x.comm.all_gather(x.pinned), WRONG, ("array is a Buffer", "pass an acl.DeviceArray")),
    ("pinned memory", lambda x: x.comm.all_reduce(x.host), WRONG, ("in host memory",)),
    ("another device's", lambda x: x.comm.all_reduce(x.far), WRONG, ("array is on device 1, the thread's",)),
    ("a result there", lambda x: x.comm.all_reduce(x.array, out=x.far), WRONG, ("out is on device 1",)),
    ("another rank", lambda x: x.second.all_reduce(x.far), acl.ContextError, ("is on device 1", "with acl.Device(1)")),
    ("another stream", lambda x: x.comm.all_reduce(x.array, stream=x.other), acl.ContextError, ("another context",)),
    ("a stream as text", lambda x: x.comm.all_reduce(x.array, stream="s"), TypeError, ("'s' is not an acl.Stream",)),
    ("strides", lambda x: x.comm.all_reduce(x.array.T), WRONG, ("array is not contiguous", "array.copy()")),
    ("an average", lambda x: x.comm.all_reduce(x.array, op="mean"), WRONG, ("op is 'mean'", "sum, prod, max, min")),
    ("a function", lambda x: x.comm.reduce(x.array, op=numpy.add), WRONG, ("op is <ufunc 'add'>",)),
    ("complex", lambda x: x.comm.all_reduce(x.complex), WRONG, ("array is of complex64", "acl.nn.cast()")),
    ("complex moved", lambda x: x.comm.broadcast(x.complex), WRONG, ("which HCCL does not have",)),
    ("bytes", lambda x: x.comm.all_reduce(x.bytes), acl.NotSupportedError, ("does not reduce dataType 7",)),
    ("another shape", lambda x: x.comm.all_reduce(x.array, out=x.array[0]), WRONG, ("out is (3,) float32",)),
    ("another type", lambda x: x.comm.all_reduce(x.array, out=x.truths), WRONG, ("bool, expected (2, 3) float",)),
    ("one array for all", lambda x: x.comm.all_gather(x.array, out=x.array), WRONG, ("expected (2, 2, 3) float32",)),
    ("blocks for others", lambda x: x.comm.reduce_scatter(x.array.reshape(3, 2)), WRONG, ("expected (2, ...)",)),
    ("no blocks", lambda x: x.comm.all_to_all(x.array.reshape(6)[0]), WRONG, ("the shape (), expected (2, ...)",)),
    ("blocks in place", lambda x: x.comm.all_to_all(x.array, out=x.array), WRONG, ("expected different buffers",)),
    ("nothing to scatter", lambda x: x.comm.scatter(), WRONG, ("array is None on rank 0, the root",)),
    ("nowhere to scatter", lambda x: x.comm.scatter(root=1), WRONG, ("neither array nor out was passed", "pass out=")),
    ("scatter to NumPy", lambda x: x.comm.scatter(root=1, out=numpy.ones(3)), WRONG, ("out is a ndarray",)),
    ("a wrong root", lambda x: x.comm.broadcast(x.array, root=2), WRONG, ("broadcast: root is 2, expected 0 to 1",)),
    ("a root as text", lambda x: x.comm.reduce(x.array, root="0"), TypeError, ("reduce: root is '0'", "an int")),
    ("a negative rank", lambda x: x.comm.send(x.array, -1), WRONG, ("send: dest is -1, expected 0 to 1",)),
    ("a far rank", lambda x: x.comm.receive(x.array, 2**70), WRONG, ("receive: source is", "expected 0 to 1")),
    ("received to nothing", lambda x: x.comm.receive(None, 1), WRONG, ("out is a NoneType",)),
    ("barrier on an event", lambda x: x.comm.barrier(stream=x.array), TypeError, ("is not an acl.Stream",)),
    ("reduced when closed", lambda x: x.closed.all_reduce(x.array), DEAD, ("acl.Communicator is closed",)),
    ("barrier when closed", lambda x: x.closed.barrier(), DEAD, ("acl.Communicator is closed",)),
    ("named when closed", lambda x: x.closed.name, DEAD, ("acl.Communicator is closed",)),
    ("checked when closed", lambda x: x.closed.check(), DEAD, ("acl.Communicator is closed",)),
    ("opened when closed", lambda x: x.closed.__enter__(), DEAD, ("acl.Communicator is closed",)),
)  # fmt: skip


@misuse(ROWS)
def test_mistakes_are_refused_with_words_that_help(x, act, kind, words):
    with raises(kind, *words):
        act(x)


def test_no_refused_call_counts(x):
    """The next operation of this rank meets the next one of the other."""
    with acl.Communicator.group():
        x.comm.barrier()
        with acl.Device(1):
            x.second.barrier()


def test_a_thread_without_a_device_is_told(x):
    for act in (lambda: x.comm.barrier(), acl.Communicator.root_info):
        with raises(acl.ContextError, "make a device current in this thread first"):
            in_thread(act)


def test_a_device_that_is_not_open_is_named():
    acl.sim.reset()
    acl.sim.configure(devices=2)
    with acl.Device(0), raises(acl.ContextError, "device 1 is not open", "acl.Device(1).use()"):
        acl.Communicator.all()
    acl.sim.reset()


def test_a_root_info_makes_one_group():
    acl.sim.reset()
    with acl.Device(0):
        info = acl.Communicator.root_info()
        acl.Communicator(0, 1, info).close()
        with raises(WRONG, "(7 HCCL_E_UNAVAIL)", "call acl.Communicator.root_info() again"):
            acl.Communicator(0, 1, info)
    acl.sim.reset()


def test_a_communicator_of_a_closed_device_is_told():
    acl.sim.reset()
    with acl.Device(0):
        comm = acl.Communicator.all([0])[0]
    with acl.Device(0):
        with raises(DEAD, "device 0 was closed", "close communicators before their device"):
            comm.barrier()
        comm.close()
    acl.sim.reset()
