"""Roll, ChannelShuffle and the RepeatInterleave operators against NumPy: types, strides, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, SETTINGS, any_shape, blank, check_written, moved
from helpers.tensors import Device
from hypothesis import given
from hypothesis import strategies as st

import acl

ROLLED = ["?", "u1", "i1", "i2", "i4", "i8", "f2", "b2", "f4", "u4"]
REPEATED = ROLLED[:-1]
FAILED = 507015
SHIFTS = st.one_of(st.integers(-5, 5), st.sampled_from([10**9, -(10**9)]))


@SETTINGS
@given(data=st.data())
def test_roll(npu, data):
    draw, dims, shifts = data.draw, [], []

    def roll(view):
        dims.extend(draw(st.lists(st.integers(-view.ndim, view.ndim - 1), max_size=4)) if view.ndim else [])
        shifts.extend(draw(SHIFTS) for _ in dims or [0])
        return numpy.roll(view, shifts, dims) if dims else numpy.roll(view, shifts[0])

    self, out, expected = moved(draw, npu, roll, kinds=ROLLED)
    assert npu.call("roll", self, npu.integers(shifts), npu.integers(dims), out) == 0
    check_written(npu, out, expected)


def test_the_largest_shifts(npu):
    values = numpy.arange(5, dtype="i4")
    self, out = npu.tensor(values), blank(npu, "i4", (5,))
    for shift in (2**63 - 1, -(2**63)):
        for dims in ([], [0]):
            assert npu.call("roll", self, npu.integers([shift]), npu.integers(dims), out) == 0
            assert npu.get(out).tolist() == numpy.roll(values, shift % 5).tolist()


@SETTINGS
@given(data=st.data(), groups=st.integers(1, 4), each=st.integers(0, 3))
def test_channel_shuffle(npu, data, groups, each):
    shape = [data.draw(st.integers(0, 3)), groups * each, *any_shape(data.draw, 1)[:3]]

    def shuffle(view):
        return view.reshape(shape[0], groups, each, *shape[2:]).swapaxes(1, 2).reshape(shape)

    self, out, expected = moved(data.draw, npu, shuffle, shape=shape)
    assert npu.call("channel_shuffle", self, groups, out) == 0
    check_written(npu, out, expected)


@SETTINGS
@given(data=st.data(), times=st.integers(0, 4), with_dim=st.booleans())
def test_a_number_of_repeats(npu, data, times, with_dim):
    dims = []

    def repeat(view):
        dims.extend([data.draw(st.integers(-view.ndim, view.ndim - 1))] if with_dim else [])
        return numpy.repeat(view, times, *dims)

    self, out, expected = moved(data.draw, npu, repeat, least=int(with_dim), kinds=REPEATED)
    size = expected.shape[dims[0]] if dims else expected.size
    name = "repeat_interleave_int_with_dim" if with_dim else "repeat_interleave_int"
    assert npu.call(name, self, times, *dims, size, out) == 0
    check_written(npu, out, expected)


@SETTINGS
@given(data=st.data(), with_dim=st.booleans(), several=st.booleans(), index=st.sampled_from(["i4", "i8"]))
def test_a_tensor_of_repeats(npu, data, with_dim, several, index):
    draw, dims, repeats = data.draw, [], []

    def repeat(view):
        dims.extend([draw(st.integers(-view.ndim, view.ndim - 1))] if with_dim else [])
        length = view.shape[dims[0]] if dims else view.size
        count = length if several else 1
        repeats.extend(numpy.random.default_rng(draw(st.integers(0, 99))).integers(0, 4, count).tolist())
        return numpy.repeat(view, numpy.array(repeats, index), *dims)

    self, out, expected = moved(draw, npu, repeat, least=int(with_dim), kinds=REPEATED)
    size = expected.shape[dims[0]] if dims else expected.size
    numbers = numpy.array(repeats, index)
    if not several and draw(st.booleans()):
        numbers = numbers.reshape(())
    name = "repeat_interleave_with_dim" if with_dim else "repeat_interleave"
    spaced = numpy.repeat(numbers, 2)[::2] if numbers.ndim else numbers
    given_numbers = npu.view(spaced.base if numbers.ndim else spaced, spaced, index)
    assert npu.call(name, self, given_numbers, *dims, size, out) == 0
    check_written(npu, out, expected)


@pytest.mark.parametrize("kind", ["i4", "i8"])
@pytest.mark.parametrize("repeats", [[1, 0, 3], [2], [], [0, 0]])
def test_repeated_indices(npu, kind, repeats):
    numbers = numpy.array(repeats, kind)
    expected = numpy.repeat(numpy.arange(len(repeats)), numbers)
    out = blank(npu, kind, expected.shape)
    assert npu.call("repeat_interleave_tensor", npu.tensor(numbers), expected.size, out) == 0
    assert npu.get(out).tolist() == expected.tolist()


# --- refusals


@pytest.mark.strict
@pytest.mark.parametrize(
    ("shifts", "dims", "words"),
    [
        ([1, 2], [], "shifts has 2 numbers, expected 1"),
        ([1], [0, 1], "shifts has 1 numbers, expected 2"),
        ([1, 1], [0, 2], "dims[1] is 2, expected -2 to 1 for 2 dimensions"),
    ],
)
def test_rolls_that_do_not_fit(npu, shifts, dims, words):
    self = blank(npu, "f4")
    refused(npu.call("roll", self, npu.integers(shifts), npu.integers(dims), self), INVALID, words)


@pytest.mark.strict
def test_the_types_of_rolls(npu):
    one, none = npu.integers([1]), npu.integers([])
    for kind in ("f8", "c8"):
        odd = blank(npu, kind)
        refused(npu.call("roll", odd, one, none, odd), INVALID, "x has data type")
    refused(npu.call("roll", blank(npu, "f4"), one, none, blank(npu, "i4")), INVALID, "out has data type 3, int32")
    refused(npu.call("roll", blank(npu, "f4"), one, none, blank(npu, "f4", (6,))), INVALID, "out has shape [6]")


@pytest.mark.strict
def test_groups_that_do_not_fit(npu):
    self = blank(npu, "f4", (1, 4, 2))
    for groups in (0, -2, 3):
        words = f"groups is {groups}, expected a divisor of 4, the channels of self"
        refused(npu.call("channel_shuffle", self, groups, self), INVALID, words)
    flat = blank(npu, "f4", (1, 4))
    refused(npu.call("channel_shuffle", flat, 2, flat), INVALID, "self has 2 dimensions, expected 3 to 7")
    refused(npu.call("channel_shuffle", self, 2, flat), INVALID, "out has shape")
    wide = blank(npu, "u2", (1, 4, 2))
    refused(npu.call("channel_shuffle", wide, 2, wide), INVALID, "self has data type 7, uint16")


@pytest.mark.strict
def test_repeats_that_do_not_fit(npu):
    self, whole, out = blank(npu, "f4"), blank(npu, "f8"), blank(npu, "f4", (2, 6))
    name = "repeat_interleave_int_with_dim"
    refused(npu.call(name, self, -1, 1, 6, out), INVALID, "repeats is -1, expected 0 or more")
    refused(npu.call(name, self, 2, 1, -6, out), INVALID, "outputSize is -6, expected 0 or more")
    refused(npu.call(name, self, 2, 1, 5, out), INVALID, "outputSize is 5, expected 2 times 3, the product of repeats")
    refused(npu.call(name, self, 2**62, 1, 6, out), INVALID, "outputSize is 6, expected 4611686018427387904 times 3")
    refused(npu.call(name, self, 2, 2, 6, out), INVALID, "dim is 2, expected -2 to 1")
    refused(npu.call(name, self, 2, 0, 4, out), INVALID, "out has shape [2, 6], expected [4, 3]")
    refused(npu.call(name, whole, 2, 1, 6, out), INVALID, "self has data type 11, float64")
    refused(npu.call("repeat_interleave_int", self, 2, 12, out), INVALID, "out has shape [2, 6], expected [12]")
    scalar = blank(npu, "f4", ())
    refused(npu.call(name, scalar, 2, 0, 2, out), INVALID, "self has 0 dimensions, expected 1 to 8")
    many, square = npu.tensor(numpy.array([1, 2], "i8")), npu.tensor(numpy.ones((1, 1), "i8"))
    name = "repeat_interleave_with_dim"
    refused(npu.call(name, self, many, 1, 6, out), INVALID, "repeats has 2 elements, expected 1 or 3")
    refused(npu.call(name, self, square, 1, 6, out), INVALID, "repeats has 2 dimensions, expected 0 to 1")
    refused(npu.call(name, self, blank(npu, "i2", (1,)), 1, 6, out), INVALID, "repeats has data type 6, int16")
    refused(npu.call("repeat_interleave", self, many, 3, out), INVALID, "repeats has 2 elements, expected 1 or 6")
    refused(npu.call("repeat_interleave_tensor", many, 2, blank(npu, "i8", (3,))), INVALID, "out has shape [3]")
    refused(npu.call("repeat_interleave_tensor", square, 2, many), INVALID, "repeats has 2 dimensions, expected 1")


@pytest.fixture
def fresh():
    """Make a device that may fail."""
    yield Device()
    acl.sim.reset()


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("repeats", "words"),
    [
        ([1, -1, 2], "repeats has -1, expected 0 to 3, the rest of outputSize"),
        ([1, 4, 0], "repeats has 4, expected 0 to 3, the rest of outputSize"),
        ([1, 1, 1], "the sum of repeats is 3, expected 4, outputSize"),
    ],
)
@pytest.mark.parametrize("name", ["repeat_interleave", "repeat_interleave_with_dim", "repeat_interleave_tensor"])
def test_numbers_that_are_wrong_when_the_operator_runs(fresh, name, repeats, words):
    numbers, kind = fresh.tensor(numpy.array(repeats, "i8")), "i8" if name.endswith("tensor") else "f4"
    self, out = fresh.tensor(numpy.zeros(3, kind)), fresh.tensor(numpy.zeros(4, kind))
    given = [numbers] if name.endswith("tensor") else [self, numbers, *[0] * name.endswith("dim")]
    assert fresh.call(name, *given, 4, out) == 0
    refused(acl.rt.synchronize_stream(fresh.stream), FAILED, words)
