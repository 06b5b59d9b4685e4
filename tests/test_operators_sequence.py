"""Arange, Range, Linspace and LogSpace against NumPy: types, lengths, strides, refusals."""

import math

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, KINDS, NULLPTR, SETTINGS, any_view, blank, check_written, stored
from helpers.pointwise import FLOATS, REAL, SINGLE, compare
from hypothesis import given
from hypothesis import strategies as st

COUNTED = ["i4", "i8", *FLOATS]
SPACED = ["u1", "i1", "i2", "i4", *FLOATS]
WHOLE = st.integers(-50, 50)
EXACT = st.integers(-400, 400).map(lambda number: number / 8)


def out_of(draw, npu, size, kind):
    """Return an output of this many elements, in one dimension or in several."""
    shape = draw(st.sampled_from([[size], [1, size, 1]]))
    return npu.view(*any_view(draw, numpy.random.default_rng(size), shape, kind), kind)


def scalars(draw, npu, numbers):
    """Return numbers as scalars, in any type that holds them exactly."""
    kinds = [["i2", "i4", "i8", "f4", "f8"] if number == int(number) else ["f4", "f8"] for number in numbers]
    return [npu.scalar(number, draw(st.sampled_from(kind))) for number, kind in zip(numbers, kinds)]


@SETTINGS
@given(data=st.data(), with_end=st.booleans())
def test_ranges(npu, data, with_end):
    draw = data.draw
    kind = draw(st.sampled_from(COUNTED))
    start, step = (draw(WHOLE if kind in ("i4", "i8") else EXACT) for _ in range(2))
    step = step or 1
    steps = draw(st.integers(0, 600 if abs(step) < 4 else 20))
    end = start + step * steps - (0 if kind in ("i4", "i8") or with_end else draw(st.sampled_from([0, step / 8])))
    size = steps + 1 if with_end else math.ceil((end - start) / step)
    expected = start + step * numpy.arange(max(size, 0))
    if (end - start) / step < 0 or abs(end) > 2000:
        return
    out = out_of(draw, npu, len(expected), kind)
    assert npu.call("range" if with_end else "arange", *scalars(draw, npu, [start, end, step]), out) == 0
    check_written(npu, out, stored(expected, kind).reshape(out.view.shape))


def test_ranges_of_fractions(npu):
    """The length that a program computes in float is accepted, and the numbers are rounded once."""
    for start, end, step in ((0.0, 1.0, 0.1), (1.0, 2.0, 0.1), (0.0, 0.3, 0.1), (5.0, -5.0, -0.7)):
        numbers = [numpy.float32(number) for number in (start, end, step)]
        single = math.ceil((numbers[1] - numbers[0]) / numbers[2])
        double = math.ceil((float(numbers[1]) - float(numbers[0])) / float(numbers[2]))
        for size in {single, double}:
            for kind in FLOATS:
                out = blank(npu, kind, (size,))
                assert npu.call("arange", *[npu.scalar(number) for number in numbers], out) == 0
                compare(npu.get(out), float(numbers[0]) + numpy.arange(size) * float(numbers[2]), kind, kind)


def test_integers_of_a_range(npu):
    """Integers are not computed in double, and fractions are truncated before."""
    out = blank(npu, "i8", (3,))
    big = 2**62 + 1
    assert npu.call("arange", *[npu.scalar(number, "i8") for number in (big, big + 3072, 1024)], out) == 0
    assert npu.get(out).tolist() == [big, big + 1024, big + 2048]
    assert npu.call("arange", *[npu.scalar(number, "f8") for number in (1.9, 7.9, 2.9)], out) == 0
    assert npu.get(out).tolist() == [1, 3, 5]
    big = 2**53  # the next odd numbers have no double
    assert npu.call("arange", *[npu.scalar(number, "i8") for number in (big, big + 3, 1)], out) == 0
    assert npu.get(out).tolist() == [big, big + 1, big + 2]
    assert npu.call("range", *[npu.scalar(number, "i8") for number in (big + 1, big + 3, 1)], out) == 0
    assert npu.get(out).tolist() == [big + 1, big + 2, big + 3]


def test_a_range_of_truth_values(npu):
    out = blank(npu, "f4", (1,))
    assert npu.call("arange", *[npu.scalar(number, "?") for number in (False, True, True)], out) == 0
    assert npu.get(out).tolist() == [0]


@SETTINGS
@given(data=st.data(), steps=st.sampled_from([0, 1, 2, 3, 7, 256, 257, 600]))
def test_linspace(npu, data, steps):
    draw = data.draw
    kind = draw(st.sampled_from(SPACED))
    start, end = draw(EXACT), draw(EXACT)
    if kind not in FLOATS:
        start, end = abs(start), abs(end)
    out = out_of(draw, npu, steps, kind)
    assert npu.call("linspace", *scalars(draw, npu, [start, end]), steps, out) == 0
    if kind not in FLOATS:
        start, end = int(start), int(end)
    step = (end - start) / (steps - 1) if steps > 1 else 0.0
    places = numpy.arange(steps)
    expected = numpy.where(places < steps // 2, start + places * step, end - (steps - 1 - places) * step)
    expected = numpy.full(steps, float(start)) if steps < 2 else expected
    if kind in FLOATS:
        compare(npu.get(out).reshape(-1), expected, kind, kind, max(abs(start), abs(end)))
    else:
        check_written(npu, out, expected.astype(kind).reshape(out.view.shape))


def test_both_ends_of_linspace_are_exact(npu):
    for steps in (2, 3, 10, 1000):
        out = blank(npu, "f8", (steps,))
        assert npu.call("linspace", npu.scalar(0.1, "f8"), npu.scalar(0.7, "f8"), steps, out) == 0
        assert npu.get(out)[[0, -1]].tolist() == [0.1, 0.7]


@SETTINGS
@given(data=st.data(), steps=st.sampled_from([0, 1, 2, 3, 7, 256, 257]), base=st.sampled_from([10.0, 2.0, 0.5, 1.0]))
def test_log_space(npu, data, steps, base):
    draw = data.draw
    kind = draw(st.sampled_from(SINGLE))
    start, end = (draw(st.integers(-16, 16)) / 8 for _ in range(2))
    out = out_of(draw, npu, steps, kind)
    assert npu.call("log_space", *scalars(draw, npu, [start, end]), steps, base, out) == 0
    expected = numpy.power(base, numpy.linspace(start, end, steps))
    compare(npu.get(out).reshape(-1), expected, kind, kind, 100.0)


def test_a_negative_base_of_log_space(npu):
    out = blank(npu, "f4", (4,))
    assert npu.call("log_space", npu.scalar(0, "i8"), npu.scalar(3, "i8"), 4, -2.0, out) == 0
    assert npu.get(out).tolist() == [1, -2, 4, -8]
    assert npu.call("log_space", npu.scalar(0), npu.scalar(1.5), 4, -2.0, out) == 0
    assert numpy.array_equal(npu.get(out), numpy.array([1, numpy.nan, -2, numpy.nan], "f4"), equal_nan=True)


# --- refusals


@pytest.mark.strict
@pytest.mark.parametrize("name", ["arange", "range"])
@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((0, 5, 0), "step is 0, expected another number"),
        ((0, 5, -1), "start is 0, end is 5 and step is -1, expected steps that lead from the one to the other"),
        ((5, 0, 1), "start is 5, end is 0 and step is 1"),
        ((0, math.nan, 1), "expected steps that lead"),
        ((0, math.inf, 1), "expected steps that lead"),
    ],
)
def test_ranges_that_do_not_fit(npu, name, numbers, words):
    refused(npu.call(name, *map(npu.scalar, numbers), blank(npu, "f4", (5,))), INVALID, words)


@pytest.mark.strict
def test_lengths_that_do_not_fit(npu):
    numbers = [npu.scalar(number) for number in (0, 5, 1)]
    for size in (4, 6):
        out = blank(npu, "f4", (size,))
        refused(npu.call("arange", *numbers, out), INVALID, f"out has {size} elements, expected 5")
    for size in (5, 7):
        out = blank(npu, "f4", (size,))
        refused(npu.call("range", *numbers, out), INVALID, f"out has {size} elements, expected 6")
    out = blank(npu, "f4", (5,))
    refused(npu.call("linspace", *numbers[:2], 4, out), INVALID, "out has 5 elements, expected 4, as steps says")
    refused(npu.call("linspace", *numbers[:2], -1, out), INVALID, "steps is -1, expected 0 or more")
    words = "result has 5 elements, expected 4, as steps says"
    refused(npu.call("log_space", *numbers[:2], 4, 10.0, out), INVALID, words)
    refused(npu.call("log_space", *numbers[:2], -1, 10.0, out), INVALID, "steps is -1, expected 0 or more")
    refused(npu.call("log_space", numbers[0], 0, 5, 10.0, out), NULLPTR, "end is NULL")


@pytest.mark.strict
@pytest.mark.parametrize("kind", [*KINDS, "u2"])
def test_the_types_of_sequences(npu, kind):
    numbers = [npu.scalar(number, "f4") for number in (0, 2, 1)]
    calls = [("arange", numbers, COUNTED), ("linspace", [*numbers[:2], 2], SPACED)]
    for name, arguments, taken in [*calls, ("log_space", [*numbers[:2], 2, 10.0], SINGLE)]:
        ret = npu.call(name, *arguments, blank(npu, kind, (2,)))
        if kind in taken:
            assert ret == 0
        else:
            refused(ret, INVALID, "has data type")
    if kind in REAL:
        return
    for place, name in enumerate(("start", "end", "step")):
        arguments = list(numbers)
        arguments[place] = npu.scalar(1, kind)
        refused(npu.call("arange", *arguments, blank(npu, "f4", (2,))), INVALID, f"{name} has data type")
