"""Objects called with arguments of any kind: what they refuse, they refuse in their own words."""

import contextlib
import inspect
import random

import numpy
import pytest

import acl
from acl.sim import om

pytestmark = [pytest.mark.needs_sim, pytest.mark.filterwarnings("ignore")]
CLASSES = (
    acl.Device, acl.Context, acl.Stream, acl.Event, acl.Buffer, acl.DeviceArray, acl.MemoryPool, acl.Graph, acl.Model,
    acl.Aipp, acl.Binary, acl.Kernel, acl.Communicator, acl.capture, acl.capture_mode,
)  # fmt: skip
SPECIAL = ("__call__", "__getitem__", "__setitem__", "__sub__", "__eq__", "__dlpack__", "__array__")
ENDS = ("Device.close", "Device.reset")  # all other objects with it
ODD = (
    None, True, 0, 1, -1, 2, 2**40, 2**63, -(2**63), 2**64 + 1, 10**400, 1.5, 1e400, float("nan"), 1j, "", "x", "f4",
    ">f4", "O", "host", "global", b"", b"x", bytearray(16), [], [1], [0, 1], [-1], [None], [2**64], ["x"], (2, 2),
    (1, 2, 3), {}, object(), print, slice(None), ..., numpy.float32(2.5), numpy.int64(1), numpy.array(1),
    numpy.ones((2, 2), "f4"), numpy.ones(3), numpy.array([None]), "any.om", "any.o",
)  # fmt: skip
# What Python says of an argument that nobody looked at.
RAW = (
    "has no attribute", "not supported between", "unsupported operand", "is not iterable", "not callable", "has no len",
    "unhashable", "cannot unpack", "too large to convert", "too big to convert", "does not fit", "must be int, not",
    "not subscriptable",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("any")


@pytest.fixture
def impatient(configure):
    """A message that no rank receives fails after a moment."""
    configure(hccl_time_scale=1e-6)


@pytest.fixture(autouse=True)
def kernels(impatient, opened, folder, monkeypatch):
    monkeypatch.chdir(folder)
    acl.sim.model("any.om", [om.Tensor("x", (2, 2))], [om.Tensor("y", (2, 2))])(lambda x: 2 * x)
    acl.sim.custom_kernel("any", "any.o", parameters="PQ", touches=lambda launch, x, n: [])(lambda launch, x, n: None)


@contextlib.contextmanager
def made():
    """Give one object of each class, by its class."""
    acl.Device(0).use()  # a context that was closed may have been current
    stream, array, binary = acl.Stream(), acl.DeviceArray.zeros((2, 2)), acl.Binary("any.o")
    with acl.capture(stream) as graph:
        array.fill(1, stream=stream)
    rest = [
        acl.Context.current(), acl.Event(), acl.Buffer(16), acl.MemoryPool(), acl.Model("any.om"),
        acl.Aipp("rgb888", (2, 2)), binary.kernel("any", parameters="PQ"), *acl.Communicator.all(), acl.Device(0),
    ]  # fmt: skip
    objects = [graph, stream, array, binary, *rest]
    try:
        yield {one.__class__: one for one in objects}
    finally:
        for one in objects[:-1]:
            with contextlib.suppress(Exception):
                one.close()


def calls(kind):
    """Return what a class and its objects can do: names, and functions that find it."""
    yield kind.__name__, lambda _objects: kind
    for name in dir(kind):
        if f"{kind.__name__}.{name}" in ENDS or (name.startswith("_") and name not in SPECIAL):
            continue
        if callable(getattr(kind, name)):
            yield f"{kind.__name__}.{name}", lambda objects, name=name: getattr(objects.get(kind, kind), name)


def arguments(function, rng, choices):
    """Return arguments by place and by name for a function, of any kind."""

    def pick():
        return rng.choice(choices if rng.random() < 0.4 else ODD)

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of C
        return [pick() for _ in range(rng.randrange(3))], {}
    given, named = [], {}
    for parameter in parameters:
        wanted = parameter.default is parameter.empty or rng.random() < 0.4
        if parameter.kind == parameter.VAR_POSITIONAL:
            given += [pick() for _ in range(rng.randrange(3))]
        elif parameter.kind == parameter.KEYWORD_ONLY and wanted:
            named[parameter.name] = pick()
        elif parameter.kind == parameter.POSITIONAL_OR_KEYWORD and wanted and len(named) == 0:
            given.append(pick())
    return given, named


def complaint(function, given, named):
    """Call it, and return what it raised that says nothing of its arguments, or None."""
    try:
        result = function(*given, **named)
    except acl.AclError:
        return None
    except (TypeError, ValueError, IndexError, KeyError, BufferError, OSError) as error:
        return repr(error) if any(words in str(error) for words in RAW) else None
    except Exception as error:
        return repr(error)
    with contextlib.suppress(Exception):
        result.close()  # of coroutines as well
    return None


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_objects_refuse_in_their_own_words(kind):
    found = []
    for name, function_of in calls(kind):
        rng = random.Random(name)
        for _ in range(8):
            with made() as objects:
                function = function_of(objects)
                for _ in range(12):
                    given, named = arguments(function, rng, list(objects.values()))
                    said = complaint(function, given, named)
                    found += [f"{name}(*{given}, **{named}): {said}"] if said else []
    assert found == []


def test_operators_refuse_in_their_own_words():
    kinds = ("f4", "i4", "?", "f2", "c8", "f8", "u1", "i8")
    arrays = [acl.DeviceArray.zeros((2, 3), kind) for kind in kinds]
    arrays += [acl.DeviceArray.zeros(shape) for shape in ((), 3, (0, 3), (4, 4), (2, 3, 4, 4))]
    arrays.append(arrays[0].T)
    found = []
    for name in dir(acl.nn):
        function, rng = getattr(acl.nn, name), random.Random(name)
        for _ in range(10):
            given, named = arguments(function, rng, arrays)
            said = complaint(function, given, named)
            found += [f"acl.nn.{name}(*{given}, **{named}): {said}"] if said else []
    assert found == []
