"""Random numbers whose seed and offset are tensors, as captured graphs need them: those of the plain forms."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, blank

import acl

SEED, OFFSET, MORE = 2**40 + 7, 12, 5


def numbers(npu, kind="i8"):
    """Return the tensors of the seed and of the offset, and what is added to the offset."""
    return [npu.tensor(numpy.array([value], kind)) for value in (SEED, OFFSET)] + [MORE]


@pytest.mark.parametrize(
    "name, kind, arguments",
    [
        ("uniform", "f4", (-1.0, 2.0)),
        ("uniform", "f2", (0.0, 1.0)),
        ("normal", "f4", (1.0, 2.0)),
        ("random", "i8", (-9, 10)),
    ],
)
def test_fills(npu, name, kind, arguments):
    plain, other = blank(npu, kind, (40, 9)), blank(npu, kind, (40, 9))
    assert npu.call(f"inplace_{name}", plain, *arguments, SEED, OFFSET + MORE) == 0
    given = numbers(npu, "u8" if name == "uniform" else "i8")
    assert npu.call(f"inplace_{name}_tensor", other, *arguments, *given) == 0
    assert numpy.array_equal(npu.get(plain), npu.get(other))
    assert len(numpy.unique(npu.get(other))) > 9


def test_masks(npu):
    plain, other, shape = blank(npu, "u1", 48), blank(npu, "u1", 48), npu.integers([30, 12])
    assert npu.call("dropout_gen_mask_v2", shape, 0.25, SEED, OFFSET + MORE, 0, plain) == 0
    assert npu.call("dropout_gen_mask_v2_tensor", shape, 0.25, *numbers(npu), 0, other) == 0
    assert numpy.array_equal(npu.get(plain), npu.get(other))
    kept = numpy.unpackbits(npu.get(other)).sum()
    assert 240 < kept < 300


@pytest.mark.parametrize("replacement", [False, True])
def test_choices(npu, replacement):
    weights, plain, other = (npu.tensor(numpy.arange(20, dtype="f4")), *(blank(npu, "i8", 9) for _ in range(2)))
    assert npu.call("multinomial", weights, 9, replacement, SEED, OFFSET + MORE, plain) == 0
    assert npu.call("multinomial_tensor", weights, 9, replacement, *numbers(npu), other) == 0
    assert numpy.array_equal(npu.get(plain), npu.get(other))


def test_each_replay_reads_the_tensors_again(npu):
    """A program changes the offset between replays, so that each has numbers of its own."""
    out, (seed, offset, more) = blank(npu, "f4", 100), numbers(npu)
    assert acl.mdl.ri_capture_begin(npu.stream, 2) == 0
    assert npu.call("inplace_uniform_tensor", out, 0.0, 1.0, seed, offset, more) == 0
    instance, ret = acl.mdl.ri_capture_end(npu.stream)
    assert ret == 0
    found = []
    for start in (OFFSET, OFFSET + 100, OFFSET):
        value = numpy.array([start])
        assert acl.rt.memcpy(offset.address, 8, value.ctypes.data, 8, 1) == 0
        assert acl.mdl.ri_execute_async(instance, npu.stream) == 0
        found.append(npu.get(out).tolist())
    assert found[0] == found[2] != found[1]
    assert acl.mdl.ri_destroy(instance) == 0


def test_refusals(npu):
    out, (seed, offset, more) = blank(npu, "f4"), numbers(npu)
    wrong, long = blank(npu, "i4", 1), blank(npu, "i8", 2)
    call = npu.call
    refused(call("inplace_normal_tensor", out, 0.0, 1.0, wrong, offset, more), INVALID, "seedTensor has data type 3")
    refused(call("inplace_normal_tensor", out, 0.0, 1.0, seed, long, more), INVALID, "offsetTensor has ", "[2]")
    ret = call("multinomial_tensor", out, 2, True, seed, wrong, more, blank(npu, "i8", (2, 2)))
    refused(ret, INVALID, "offsetTensor has data type 3")
    ret = call("dropout_gen_mask_v2_tensor", npu.integers([4]), 0.5, wrong, offset, 0, 0, blank(npu, "u1", 16))
    refused(ret, INVALID, "seedTensor has data type 3")
