"""Misuse of models as objects: one row a case, with the error and what its text must say."""

import threading
from types import SimpleNamespace

import numpy
import pytest
from helpers import object_models
from helpers.expect import in_thread
from helpers.object_models import MODELS, floats, load
from helpers.objects import raises

import acl

pytestmark = [pytest.mark.strict, pytest.mark.usefixtures("opened")]
WRONG, GONE = acl.InvalidArgumentError, acl.InvalidHandleError
CONTENT = MODELS["affine"][1]


@pytest.fixture(scope="module")
def world():
    """Give models of each kind, and what is to be misused with them."""
    object_models.register()
    with acl.Device(0), acl.Stream() as stream:
        models = {name: load(name, output_bytes=40 if name == "open" else 0) for name in MODELS}
        closed = load("affine")
        closed.close()
        dead = acl.DeviceArray(2)
        dead.close()
        x = acl.DeviceArray.from_numpy(floats(1, 2))
        yield SimpleNamespace(**models, closed=closed, dead=dead, x=x, stream=stream, host=floats(1, 2))
        for model in models.values():
            model.close()
    object_models.forget()


def in_callback(world):
    run, raised = None, []

    def wait():
        begun.wait()
        try:
            run.result()
        except acl.AclError as error:
            raised.append(error)

    begun = threading.Event()
    world.stream.call(wait)
    run = world.affine.submit([1, 2], stream=world.stream)
    begun.set()
    world.stream.synchronize()
    assert run.result().tolist() == [3, 5]
    raise raised[0]


def captured(world, work):
    assert acl.mdl.ri_capture_begin(world.stream.handle, 0) == 0
    try:
        return work()
    finally:
        instance, _ = acl.mdl.ri_capture_end(world.stream.handle)
        acl.mdl.ri_destroy(instance)


def unloaded():
    with load("affine") as model:
        assert acl.mdl.unload(model.handle) == 0
        model([1, 2])


def in_a_closed_context():
    context = acl.Context(0)
    model = load("affine")
    context.close()
    acl.Device(0).use()
    try:
        model([1, 2])
    finally:
        model.close()


def written(tmp_path, content):
    path = tmp_path / "wrong.om"
    path.write_bytes(content)
    return path


def frozen(array):
    array.flags.writeable = False
    return array


F42 = numpy.zeros((2, 2), "f4")
I42 = numpy.zeros((2, 2), "i4")
BIG = numpy.zeros((3, 3), "f4")

# Name, what is done with the world and a directory, error, words of its text.
ROWS = [
    ("no file", lambda w, t: acl.Model(t / "none.om"), acl.ModelError, ("145002", "check the path")),
    ("directory", lambda w, t: acl.Model(t), acl.ModelError, ("145002",)),
    ("empty file", lambda w, t: acl.Model(written(t, b"")), acl.ModelError, ("145006", "damaged")),
    ("truncated file", lambda w, t: acl.Model(written(t, CONTENT[:-9])), acl.ModelError, ("145006", "damaged")),
    ("no model", lambda w, t: acl.Model(written(t, bytes(1000))), acl.ModelError, ("145006",)),
    ("truncated bytes", lambda w, t: acl.Model(CONTENT[:-9]), acl.ModelError, ("145006",)),
    ("short bytes", lambda w, t: acl.Model(CONTENT[:99]), WRONG, ("100000", "modelSize is 99")),
    ("no source", lambda w, t: acl.Model(None), WRONG, ("NoneType is not contiguous memory",)),
    ("a number", lambda w, t: acl.Model(7), WRONG, ("int is not contiguous memory",)),
    ("memory of no file", lambda w, t: acl.Model.memory_of(t / "none.om"), acl.ModelError, ("145002",)),
    ("memory of no model", lambda w, t: acl.Model.memory_of(bytes(999)), acl.ModelError, ("145006",)),
    ("small work", lambda w, t: acl.Model(CONTENT, work=acl.DeviceArray(1)), WRONG, ("145000", "memory_of()")),
    ("small weights", lambda w, t: acl.Model(CONTENT, weights=acl.DeviceArray(1)), WRONG, ("145000",)),
    ("work of bytes", lambda w, t: acl.Model(CONTENT, work=bytes(64)), WRONG, ("work is", "expected device memory")),
    ("work of no memory", lambda w, t: acl.Model(CONTENT, work=w.affine), WRONG, ("Model is not contiguous memory",)),
    ("closed work", lambda w, t: acl.Model(CONTENT, work=w.dead), GONE, ("acl.DeviceArray is closed",)),
    ("depth", lambda w, t: load("affine", depth=0), WRONG, ("depth is 0", "1 or more")),
    ("depth of a text", lambda w, t: load("affine", depth="8"), TypeError, ("depth is '8'", "expected an int")),
    ("handle of a text", lambda w, t: acl.Model.from_handle("1"), TypeError, ("handle is '1'",)),
    ("negative handle", lambda w, t: acl.Model.from_handle(-1), WRONG, ("handle is -1", "expected 0 to")),
    ("number as stream", lambda w, t: w.affine(w.x, stream=3), TypeError, ("3 is not an acl.Stream", "from_handle()")),
    ("submit on a number", lambda w, t: w.affine.submit(w.x, stream=3), TypeError, ("3 is not an acl.Stream",)),
    ("time-out of a text", lambda w, t: w.affine.submit(w.x).result("1"), TypeError, ("timeout is '1'", "seconds")),
    ("output sizes", lambda w, t: load("affine", output_bytes=(1, 2)), WRONG, ("expected 1 sizes, one per output",)),
    ("negative size", lambda w, t: load("affine", output_bytes=-1), WRONG, ("output_bytes is -1",)),
    ("size of a text", lambda w, t: load("affine", output_bytes="8"), TypeError, ("output_bytes is '8'",)),
    ("unknown handle", lambda w, t: acl.Model.from_handle(12345), acl.ModelError, ("145003",)),
    ("no context", lambda w, t: in_thread(lambda: load("affine")), acl.ContextError, ("with acl.Device(0)",)),
    ("no input", lambda w, t: w.affine(), WRONG, ("input x is missing", "expected 1 input: x")),
    ("too many", lambda w, t: w.affine(w.host, w.host), WRONG, ("2 inputs were passed", "expected 1 input: x")),
    ("one of two", lambda w, t: w.pair(F42), WRONG, ("input b is missing", "expected 2 inputs: a, b")),
    ("unknown name", lambda w, t: w.affine(w.host, z=w.host), WRONG, ("no input is named 'z'", "x")),
    ("given twice", lambda w, t: w.affine(w.host, x=w.host), WRONG, ("x was passed by position and by name",)),
    ("shape", lambda w, t: w.affine(floats(1, 2, 3)), WRONG, ("input x is of shape (3,), expected (2,)",)),
    ("rank", lambda w, t: w.affine(F42), WRONG, ("of shape (2, 2), expected (2,)",)),
    ("type", lambda w, t: w.affine(numpy.zeros(2)), WRONG, ("input x is float64, expected float32", "astype")),
    ("type by name", lambda w, t: w.pair(F42, b=F42), WRONG, ("input b is float32, expected int32",)),
    ("device type", lambda w, t: w.affine(acl.DeviceArray(2, "i4")), WRONG, ("input x is int32, expected float32",)),
    ("device shape", lambda w, t: w.affine(acl.DeviceArray(3)), WRONG, ("of shape (3,), expected (2,)",)),
    ("strides", lambda w, t: w.affine(acl.DeviceArray(4)[::2]), WRONG, ("not contiguous", "array.copy()")),
    ("closed input", lambda w, t: w.affine(w.dead), GONE, ("acl.DeviceArray is closed",)),
    ("buffer", lambda w, t: w.affine(acl.Buffer.from_handle(64, 8)), WRONG, ("is a Buffer", "from_buffer")),
    ("text", lambda w, t: w.affine("ab"), WRONG, ("input x is", "expected float32")),
    ("ragged", lambda w, t: w.affine([[1], [1, 2]]), WRONG, ("input x is list, which is not an array",)),
    ("real numbers for integers", lambda w, t: w.pair(F42, [[1.5, 0], [0, 0]]), WRONG, ("input b is float64",)),
    ("gear", lambda w, t: w.batched(BIG), WRONG, ("no gear has inputs", "(3, 3)", "gears of batch are 1: (1, 3); 4:")),
    ("size gear", lambda w, t: w.sized(numpy.zeros((1, 3, 3), "f4")), WRONG, ("gears of size are (2, 2):",)),
    ("dims gear", lambda w, t: w.free(F42, F42), WRONG, ("gears of dims are",)),
    ("gear type", lambda w, t: w.batched(numpy.zeros((4, 3))), WRONG, ("float64, expected float32",)),
    ("out of range", lambda w, t: w.open(numpy.zeros((11, 2), "f4")), WRONG, ("dimension 0 is 11, expected 1 to 10",)),
    ("fixed dimension", lambda w, t: w.open(BIG), WRONG, ("dimension 1 is 3, expected 2",)),
    ("no output size", lambda w, t: load_open(), WRONG, ("the size of output y is not known", "output_bytes=")),
    ("open on a stream", lambda w, t: w.open(acl.DeviceArray((1, 2)), stream=w.stream), WRONG,
     ("only after an execution",)),
    ("open with out", lambda w, t: w.open(numpy.zeros((1, 2), "f4"), out=floats(1)), WRONG, ("omit out=",)),
    ("out shape", lambda w, t: w.affine(w.host, out=floats(1)), WRONG, ("out for y is of shape (1,), expected (2,)",)),
    ("out on device", lambda w, t: w.affine(w.x, out=acl.DeviceArray(1)), WRONG, ("out for y is of shape (1,)",)),
    ("out type", lambda w, t: w.affine(w.host, out=numpy.zeros(2)), WRONG, ("out for y is float64, expected float32",)),
    ("out strides", lambda w, t: w.affine(w.host, out=floats(1, 2, 3, 4)[::2]), WRONG, ("not contiguous",)),
    ("out read-only", lambda w, t: w.affine(w.host, out=frozen(floats(1, 2))), WRONG, ("not writable",)),
    ("out a list", lambda w, t: w.affine(w.host, out=[[1, 2]]), WRONG, ("out for y is list",)),
    ("outs", lambda w, t: w.pair(F42, I42, out=(F42,)), WRONG, ("out has 1 arrays", "expected 2, one per output")),
    ("one out of two", lambda w, t: w.pair(F42, I42, out=F42), WRONG, ("out is one array", "a tuple or a dict")),
    ("out name", lambda w, t: w.pair(F42, I42, out={"z": F42}), WRONG, ("no output is named 'z'", "sum, turned")),
    ("out closed", lambda w, t: w.affine(w.x, out=w.dead), GONE, ("acl.DeviceArray is closed",)),
    ("host on a stream", lambda w, t: w.affine(w.host, stream=w.stream), WRONG, ("device arrays", "submit")),
    ("host out on a stream", lambda w, t: w.affine(w.x, out=w.host.copy(), stream=w.stream), WRONG, ("device arrays",)),
    ("closed", lambda w, t: w.closed(w.host), GONE, ("acl.Model is closed", "make a new one")),
    ("closed on a stream", lambda w, t: w.closed(w.x, stream=w.stream), GONE, ("acl.Model is closed",)),
    ("submit after close", lambda w, t: w.closed.submit(w.host), GONE, ("acl.Model is closed",)),
    ("with after close", lambda w, t: w.closed.__enter__(), GONE, ("acl.Model is closed",)),
    ("handle after close", lambda w, t: w.closed.handle, GONE, ("acl.Model is closed",)),
    ("unloaded by others", lambda w, t: unloaded(), acl.ModelError, ("145003",)),
    ("other thread", lambda w, t: in_thread(lambda: w.affine([1, 2])), acl.ContextError, ("with acl.Device(0)",)),
    ("context gone", lambda w, t: in_a_closed_context(), acl.ContextError, ("another context",)),
    ("closed stream", lambda w, t: w.affine(w.x, stream=closed_stream()), GONE, ("acl.Stream is closed",)),
    ("submit on it", lambda w, t: w.affine.submit(w.x, stream=closed_stream()), GONE, ("acl.Stream is closed",)),
    ("future in a capture", lambda w, t: captured(w, lambda: w.affine.submit(w.x, stream=w.stream)), acl.CaptureError,
     ("an execution with a future cannot be captured", "model(x, stream=stream)")),
    ("wait in a callback", lambda w, t: in_callback(w), acl.AclError, ("must not wait", "add_done_callback")),
    ("images without parameters", lambda w, t: w.image(numpy.zeros(12, "u1")), WRONG, ("pass aipp=acl.Aipp",)),
    ("parameters without images", lambda w, t: w.affine(w.host, aipp=acl.Aipp("rgb888", (2, 2))), WRONG, ("aipp was",)),
    ("image type", lambda w, t: w.image(floats(1)), WRONG, ("AIPP takes the bytes", "uint8")),
    ("image size", lambda w, t: w.image(numpy.zeros(99, "u1")), WRONG, ("has 99 bytes", "at most 12")),
    ("image format", lambda w, t: acl.Aipp("rgb", (2, 2)), WRONG, ("format is 'rgb'", "rgb888")),
    ("no images", lambda w, t: acl.Aipp("rgb888", (2, 2), batch=0), WRONG, ("batch is 0",)),
    ("images of a text", lambda w, t: acl.Aipp("rgb888", (2, 2), batch="1"), TypeError, ("batch is '1'",)),
    ("size of a number", lambda w, t: acl.Aipp("rgb888", 3), TypeError, ("size is 3, expected numbers",)),
    ("size of texts", lambda w, t: acl.Aipp("rgb888", ("2", 2)), TypeError, ("size is '2', expected an int",)),
    ("far size", lambda w, t: acl.Aipp("rgb888", (2**40, 2)), WRONG, (f"size is {2**40}", "expected")),
    ("factor of texts", lambda w, t: acl.Aipp("rgb888", (2, 2), factor="abcd"), TypeError, ("factor is 'a'",)),
    ("few factors", lambda w, t: acl.Aipp("rgb888", (2, 2), factor=(1, 2)), WRONG, ("factor has 2 numbers",)),
    ("factor of a number", lambda w, t: acl.Aipp("rgb888", (2, 2), factor=2), TypeError, ("factor is 2",)),
    ("crop", lambda w, t: acl.Aipp("rgb888", (2, 2), crop=(1, 2)), WRONG, ("crop has 2 numbers, expected 4",)),
    ("mean", lambda w, t: acl.Aipp("rgb888", (2, 2), mean=(1, 2, 3, 999)), WRONG, ("100000",)),
    ("image index", lambda w, t: acl.Aipp("rgb888", (2, 2)).image(3, mean=(1, 2, 3, 4)), WRONG, ("batchIndex is 3",)),
    ("output name", lambda w, t: w.pair(F42, I42)["z"], KeyError,
     ("no tensor is named 'z', expected one of sum, turned",)),
]  # fmt: skip


TWO_DEVICES = f"""
import acl
acl.sim.model("affine")(abs)
with acl.Device(0) as first, acl.Device(1) as second:
    x = acl.DeviceArray(2)
    first.use()
    with acl.Model({CONTENT!r}) as model:
        for device, given in (first, x), (second, x), (second, [1, 2]):
            device.use()
            try:
                model(given)
            except acl.AclError as error:
                print(type(error).__name__, error)
        first.use()
"""


def test_another_device(run_script):
    done = run_script(TWO_DEVICES, {"ACL_SIM_DEVICES": "2", "ACL_SIM_MEMORY": "1Gi"})  # two fit beside a sanitizer
    array, thread, device = done.stdout.splitlines()
    assert array.startswith("InvalidArgumentError acl.Model: input x is on device 1, and the model on device 0"), done
    assert thread.startswith("InvalidArgumentError acl.Model: input x is on device 1"), done
    assert device.startswith("ContextError ") and "device 0" in device and "use_context()" in device, done


def closed_stream():
    stream = acl.Stream()
    stream.close()
    return stream


def load_open():
    with load("open") as model:
        model(numpy.zeros((1, 2), "f4"))


@pytest.mark.parametrize("action, kind, words", [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_misuse(action, kind, words, world, tmp_path):
    with raises(kind, *words):
        action(world, tmp_path)
    assert world.affine(world.host).tolist() == [3, 5]  # it goes on as before
    assert world.affine.submit(world.x).result().to_numpy().tolist() == [3, 5]
