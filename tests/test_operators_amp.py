"""Loss scaling for mixed precision: gradients that are unscaled and searched for infinities, and the next scale."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, blank, check_written, exact, stored
from helpers.pointwise import SINGLE


def one(npu, value, kind="f4"):
    return npu.tensor(stored(numpy.array([value], "f8"), kind), kind)


@pytest.mark.parametrize("kind", SINGLE)
@pytest.mark.parametrize("bad", [None, numpy.inf, -numpy.inf, numpy.nan])
def test_unscale(npu, kind, bad):
    arrays = [numpy.arange(-300, 300, dtype="f8"), numpy.array(3.0), numpy.full((2, 2, 2), 7.0)]
    if bad is not None:
        arrays[2][1, 0, 1] = bad
    wide = stored(numpy.repeat(arrays[0], 2), kind)
    tensors = [npu.view(wide, wide[::2], kind), *(npu.tensor(stored(array, kind), kind) for array in arrays[1:])]
    found, inverse = one(npu, 0), one(npu, 0.125)
    assert npu.call("foreach_non_finite_check_and_unscale", npu.list(tensors), found, inverse) == 0
    for tensor in tensors:
        check_written(npu, tensor, stored(exact(tensor.view, kind) * 0.125, kind))
    check_written(npu, found, float(bad is not None))


def test_what_was_found_before_stays(npu):
    found = one(npu, 1)
    assert npu.call("foreach_non_finite_check_and_unscale", npu.list([blank(npu, "f4")]), found, one(npu, 2)) == 0
    check_written(npu, found, 1.0)


@pytest.mark.parametrize("kind", SINGLE)
@pytest.mark.parametrize(
    "scale, steps, found, expected",
    [(8, 3, 0, (8, 4)), (8, 4, 0, (16, 0)), (8, 3, 1, (4, 0)), (8, 4, 2, (4, 0)), (8, 7, 0, (8, 8))],
)
def test_update_scale(npu, kind, scale, steps, found, expected):
    tracker = npu.tensor(numpy.array([steps], "i4"))
    outputs = one(npu, 0, kind), blank(npu, "i4", 1)
    operands = one(npu, scale, kind), tracker, one(npu, found, kind)
    assert npu.call("amp_update_scale", *operands, 2.0, 0.5, 5, *outputs) == 0
    assert tuple(exact(npu.get(out), out.kind)[0] for out in outputs) == expected


def test_a_scale_does_not_become_infinite(npu):
    scale, tracker = one(npu, 2.0**127), blank(npu, "i4", 1)
    assert npu.call("amp_update_scale", scale, tracker, one(npu, 0), 2.0, 0.5, 1, scale, tracker) == 0
    assert (npu.get(scale)[0], npu.get(tracker)[0]) == (2.0**127, 0)


def test_refusals(npu):
    gradients, number = npu.list([blank(npu, "f4")]), one(npu, 1)
    unscale, update = "foreach_non_finite_check_and_unscale", "amp_update_scale"
    refused(npu.call(unscale, npu.list([]), number, number), INVALID, "scaledGrads is empty")
    mixed = npu.list([blank(npu, "f4"), blank(npu, "f2")])
    refused(npu.call(unscale, mixed, number, number), INVALID, "scaledGrads[1] has data type 1")
    refused(npu.call(unscale, npu.list([blank(npu, "i4")]), number, number), INVALID, "scaledGrads[0] has data type 3")
    refused(npu.call(unscale, gradients, one(npu, 0, "f2"), number), INVALID, "foundInf has data type 1")
    refused(npu.call(unscale, gradients, number, blank(npu, "f4", 2)), INVALID, "invScale has")
    count = blank(npu, "i4", 1)
    ret = npu.call(update, number, number, number, 2.0, 0.5, 5, number, count)
    refused(ret, INVALID, "growthTracker has data type 0")
    half = one(npu, 1, "f2")
    refused(npu.call(update, number, count, half, 2.0, 0.5, 5, number, count), INVALID, "foundInf has data type 1")
    for steps in (0, 2**31):
        words = f"growthInterval is {steps}, expected 1 to 2147483647"
        refused(npu.call(update, number, count, number, 2.0, 0.5, steps, number, count), INVALID, words)
