"""Models that know the outputs of recorded inputs."""

import struct

import numpy
import pytest
from helpers.expect import refused
from helpers.models import Model, initialise, load_bytes

import acl
from acl.sim import om
from acl.sim.recording import pairs_of

mdl, rt = acl.mdl, acl.rt
pytestmark = pytest.mark.needs_sim
X, Y = om.Tensor("x", (3,)), om.Tensor("y", (2,))


@pytest.fixture(autouse=True)
def process(device):
    initialise()


def floats(*values):
    return numpy.array(values, "f4")


def test_recorded_inputs_have_their_outputs():
    pairs = [([floats(n, n + 1, n + 2)], [floats(-n, 10 * n)]) for n in range(200)]
    model = Model(load_bytes(acl.sim.recorded("pairs", [X], [Y], pairs))[0])
    for n in (0, 199, 7, 7, 100):
        assert model(floats(n, n + 1, n + 2)).tolist() == [-n, 10 * n]
    model.inputs.put(0, floats(1, 2, 4))
    refused(model.execute(), 507011, "were not recorded")
    model.outputs.put(0, floats(5, 5))
    model.inputs.put(0, floats(300, 301, 302))
    refused(model.execute(), 507011)
    assert model.outputs.get(0, (2,)).tolist() == [5, 5]
    model.close()


def test_several_tensors_and_odd_sizes():
    inputs = [om.Tensor("a", (5,), 4), om.Tensor("b", (3,), 2)]
    outputs = [om.Tensor("c", (3,), 4), om.Tensor("d", (1,), 9)]
    a, b = numpy.arange(5, dtype="u1"), numpy.array([-1, 0, 1], "i1")
    pairs = [([a + n, b], [a[:3] + 2 * n, numpy.array([n], "i8")]) for n in range(9)]
    model = Model(load_bytes(acl.sim.recorded("odd", inputs, outputs, pairs))[0])
    for n in range(9):
        model.inputs.put(0, a + n)
        model.inputs.put(1, b)
        assert model.execute() == 0
        assert model.outputs.get(0, (3,), "u1").tolist() == [2 * n, 2 * n + 1, 2 * n + 2]
        assert model.outputs.get(1, (1,), "i8").tolist() == [n]
    model.inputs.put(1, -b)
    refused(model.execute(), 507011, "were not recorded")
    model.close()


def test_gears_are_recorded_by_shape():
    gears = om.Gears(om.BATCH, [[1], [2]], [(0, 0, (1,)), (1, 0, (2,))])
    pairs = [([numpy.ones(n, "f4")], [numpy.full(n, 7 * n, "f4")]) for n in (1, 2)]
    content = acl.sim.recorded("geared", [om.Tensor("x", (-1,))], [om.Tensor("y", (2,))], pairs, gears=gears)
    model = Model(load_bytes(content)[0])
    for n in (2, 1, 2):
        assert mdl.set_dynamic_batch_size(model.id, model.inputs.handle, 1, n) == 0
        assert model(numpy.ones(n, "f4")).tolist() == [7 * n] * n
    model.close()


def test_a_function_goes_before_the_recording():
    content = acl.sim.recorded("pairs", [X], [Y], [([floats(1, 2, 3)], [floats(4, 5)])])
    acl.sim.model("pairs")(lambda x: x[:2] * 2)
    model = Model(load_bytes(content)[0])
    acl.sim.model("pairs")(None)
    assert model(floats(1, 2, 3)).tolist() == [2, 4]
    model.close()
    model = Model(load_bytes(content)[0])
    assert model(floats(1, 2, 3)).tolist() == [4, 5]
    model.close()


def test_damaged_recordings():
    whole = pairs_of([([floats(1, 2, 3)], [floats(4, 5)])])
    for cut in range(0, len(whole), 3):
        content = om.write("pairs", [X], [Y], weights=whole[:cut], executor="recorded")
        refused(load_bytes(content)[1], 145000, "recorded execution")
    for at, value in [(8, 0xFFFFFFFF), (16, 0xFFFFFFFF), (20, 0xFFFFFFFF), (24, 0xFFFFFFFF), (32, 9)]:
        content = bytearray(whole)
        struct.pack_into("<I", content, at, value)
        assert load_bytes(om.write("pairs", [X], [Y], weights=bytes(content), executor="recorded"))[1] == 145000, at


def test_a_recording_of_another_model():
    """More outputs, or larger ones, than the signature says."""
    for outputs in ([floats(1, 2), floats(3)], [numpy.zeros(30, "f4")]):
        content = acl.sim.recorded("pairs", [X], [Y], [([floats(1, 2, 3)], outputs)])
        model = Model(load_bytes(content)[0])
        model.inputs.put(0, floats(1, 2, 3))
        refused(model.execute(), 507011, "does not fit")
        model.close()


# --- executors of a kind


def test_an_executor_of_a_kind():
    opened = []

    @acl.sim.executor("scale")
    def open_it(weights):
        factor = numpy.frombuffer(weights, "f4")[0]
        if not factor:
            raise ValueError("a factor of 0")
        opened.append(float(factor))
        return lambda x: x[:2] * factor

    def content(factor):
        return om.write("scale", [X], [Y], weights=floats(factor).tobytes(), executor="scale")

    models = [Model(load_bytes(content(factor))[0]) for factor in (2, 3)]
    assert [model(floats(1, 2, 3)).tolist() for model in models] == [[2, 4], [3, 6]]
    assert opened == [2, 3]
    for model in models:
        model.close()


def test_an_executor_that_refuses(monkeypatch):
    seen = []
    monkeypatch.setattr("sys.unraisablehook", lambda info: seen.append(str(info.exc_value)))

    @acl.sim.executor("strict")
    def open_it(weights):
        raise ValueError(f"not {weights!r}")

    before = rt.get_mem_info(1)[0]
    content = om.write("m", [X], [Y], weights=b"w", executor="strict")
    refused(load_bytes(content)[1], 145000, "its executor (strict) does not take the model: ValueError: not b'w' (")
    assert seen == ["not b'w'"] and rt.get_mem_info(1)[0] == before


def test_an_executor_whose_function_fails(monkeypatch):
    monkeypatch.setattr("sys.unraisablehook", lambda info: None)
    acl.sim.executor("short")(lambda weights: lambda x: x[int(weights)])
    model = Model(load_bytes(om.write("m", [X], [Y], weights=b"9", executor="short"))[0])
    refused(model.execute(), 507011, 'the function of model "m" failed: IndexError: index 9')
    model.close()


def test_a_kind_that_nobody_runs():
    model = Model(load_bytes(om.write("m", [X], [Y], weights=b"w", executor="unheard"))[0])
    refused(model.execute(), 507011, "the simulator cannot run the model")
    model.close()


@pytest.mark.parametrize("dims", [(3,), (1,), (-2,), (2**62,), (2**63 - 1, 2)])
def test_an_output_whose_shape_is_not_that_of_its_bytes_is_refused(dims):
    x, y = floats(1, 2, 3), floats(4, 5)
    content = pairs_of([([x], [y])])
    head = struct.pack("<IIqQ", 1, 0, 2, 8)
    assert content.count(head) == 1
    content = content.replace(head, struct.pack(f"<II{len(dims)}qQ", len(dims), 0, *dims, 8))
    number, ret = load_bytes(om.write("pairs", [X], [Y], weights=content, executor="recorded"))
    assert ret == 0, acl.get_recent_err_msg()
    model = Model(number)
    model.inputs.put(0, x)
    refused(model.execute(), 507011, "a recorded output does not fit")
    model.close()


def test_a_port_that_is_smaller_than_its_shape_is_refused_before_its_bytes_are_compared():
    content = om.write("pairs", [X._replace(dims=(2**40,), size=12)], [Y], weights=pairs_of([]), executor="recorded")
    refused(load_bytes(content)[1], 145000, "input 0 of the model has 12 bytes")
