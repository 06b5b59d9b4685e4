"""aclnnAdd, aclnnAdds and their in-place forms against NumPy: types, broadcasting, strides, refusals."""

import itertools

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, KINDS, ORDER, SETTINGS, casts, check, exact, meet, meet_scalar, numbers
from helpers.pointwise import cases, place
from helpers.tensors import CODES, from_bfloat, storage, to_bfloat
from hypothesis import given
from hypothesis import strategies as st


def expect(self, other, alpha, kind, out_kind):
    """Return the sum of wide values: rounded as integers wrap, to the type of the sum and then of the result."""
    if ORDER[kind] < 2:
        total = numpy.asarray(self).astype("i8") + numpy.asarray(alpha).astype("i8") * numpy.asarray(other).astype("i8")
        total = total != 0 if kind == "?" else total.astype(kind)
    else:
        wide = "c16" if ORDER[kind] == 3 else "f8"
        total = numpy.asarray(self).astype(wide) + numpy.asarray(alpha).astype(wide) * numpy.asarray(other).astype(wide)
    if out_kind == "b2":
        return from_bfloat(to_bfloat(numpy.asarray(total, "f8"))).astype("f8")
    with numpy.errstate(over="ignore"):
        return numpy.asarray(total).astype(out_kind)


@st.composite
def sums(draw, in_place=False):
    def outs(*kinds):
        return [one for one in KINDS if casts(meet(*kinds), one)]

    case = draw(cases([KINDS, KINDS], outs, in_place))
    kind = meet(*case.kinds)
    alpha_kind = draw(st.sampled_from([one for one in KINDS if casts(one, kind)]))
    alpha = numbers(numpy.random.default_rng(draw(st.integers(0, 99))), (), alpha_kind)
    return case, kind, alpha_kind, from_bfloat(alpha) if alpha_kind == "b2" else alpha


@SETTINGS
@given(drawn=sums())
def test_add(npu, drawn):
    case, kind, alpha_kind, alpha = drawn
    (self, other), out = place(npu, case)
    assert npu.call("add", self, other, npu.scalar(alpha, alpha_kind), out) == 0
    wide = [exact(view, one) for (_, view), one in zip(case.views, case.kinds)]
    check(npu.get(out), expect(*wide, alpha, kind, case.out_kind), kind, case.out_kind, size_of(wide, alpha))


def size_of(wide, alpha):
    """Return the size of the summands."""
    self, other = (numpy.abs(numpy.asarray(one).astype("c16")) for one in wide)
    return self + abs(complex(alpha)) * other


@SETTINGS
@given(drawn=sums(in_place=True))
def test_inplace_add(npu, drawn):
    case, kind, alpha_kind, alpha = drawn
    (self, other), _ = place(npu, case, in_place=True)
    ret = npu.call("inplace_add", self, other, npu.scalar(alpha, alpha_kind))
    if not casts(kind, case.out_kind):
        refused(ret, INVALID, "the sum is", "cannot be cast to")
        return
    assert ret == 0
    wide = [exact(view, one) for (_, view), one in zip(case.views, case.kinds)]
    check(npu.get(self), expect(*wide, alpha, kind, case.out_kind), kind, case.out_kind, size_of(wide, alpha))


@pytest.mark.parametrize(("tensor", "scalar"), list(itertools.product(KINDS, KINDS)))
def test_adds(npu, tensor, scalar):
    generator = numpy.random.default_rng(5)
    kind = meet_scalar(tensor, scalar)
    base, value = numbers(generator, (3, 5), tensor), numbers(generator, (), scalar)
    value = from_bfloat(value) if scalar == "b2" else value
    self, out = npu.tensor(base, tensor), npu.tensor(numpy.zeros((3, 5), storage(kind)), kind)
    assert npu.call("adds", self, npu.scalar(value, scalar), npu.scalar(1, "?"), out) == 0
    wide = [exact(base, tensor), numpy.asarray(value)]
    check(npu.get(out), expect(*wide, True, kind, kind), kind, kind, size_of(wide, 1))
    ret = npu.call("inplace_adds", self, npu.scalar(value, scalar), npu.scalar(1, "?"))
    if casts(kind, tensor):
        assert ret == 0
        check(npu.get(self), expect(*wide, True, kind, tensor), kind, tensor, size_of(wide, 1))
    else:
        refused(ret, INVALID, "cannot be cast")


@pytest.mark.parametrize(("one", "other"), list(itertools.product(KINDS, KINDS)))
def test_the_types_of_a_sum(npu, one, other):
    """Every result type that the sum can be cast to is taken, every other one refused."""
    self, that = npu.tensor(numpy.zeros(2, storage(one)), one), npu.tensor(numpy.zeros(2, storage(other)), other)
    for out in KINDS:
        result = npu.tensor(numpy.ones(2, storage(out)), out)
        ret = npu.call("add", self, that, npu.scalar(1, "?"), result)
        assert ret == (0 if casts(meet(one, other), out) else INVALID)
        if ret == 0:
            assert not npu.get(result).any()


def test_integers_wrap_in_the_type_of_the_sum(npu):
    self = npu.tensor(numpy.array([100, -128], "i1"))
    out = npu.tensor(numpy.zeros(2, "i4"))
    assert npu.call("add", self, self, npu.scalar(1, "i4"), out) == 0
    assert npu.get(out).tolist() == [-56, 0]


def test_a_sum_of_bools_is_their_or(npu):
    self, other = npu.tensor(numpy.array([0, 0, 1, 1], "?")), npu.tensor(numpy.array([0, 1, 0, 1], "?"))
    out = npu.tensor(numpy.zeros(4, "i4"))
    assert npu.call("add", self, other, npu.scalar(1, "?"), out) == 0
    assert npu.get(out).tolist() == [0, 1, 1, 1]
    assert npu.call("add", self, other, npu.scalar(0, "?"), out) == 0
    assert npu.get(out).tolist() == [0, 0, 1, 1]


def test_special_values(npu):
    values = numpy.array([numpy.inf, -numpy.inf, numpy.nan, 65504, 1e-8, -0.0], "f4")
    for kind in ("f2", "b2", "f4", "f8"):
        out = npu.tensor(numpy.ones(6, storage(kind)), kind)
        assert npu.call("add", npu.tensor(values), npu.tensor(values), npu.scalar(1), out) == 0
        with numpy.errstate(over="ignore"):
            expected = to_bfloat(values * 2) if kind == "b2" else (values * 2).astype("f8").astype(kind)
        found = npu.get(out)
        if kind == "b2":
            found, expected = from_bfloat(found), from_bfloat(expected)
        assert numpy.array_equal(found, expected, equal_nan=True), kind


def test_doubles_are_rounded_once(npu):
    """Through float32 the first of each would become the tie that goes the other way."""
    for kind, value in (("f2", 1 + 2**-11 + 2**-40), ("b2", 1 + 2**-8 + 2**-40)):
        self = npu.tensor(numpy.array([value, -value, value - 2**-39], "f8"))
        zero, out = npu.tensor(numpy.zeros(3, "f8")), npu.tensor(numpy.zeros(3, storage(kind)), kind)
        assert npu.call("add", self, zero, npu.scalar(1), out) == 0
        found = from_bfloat(npu.get(out)) if kind == "b2" else npu.get(out).astype("f8")
        step = 2**-10 if kind == "f2" else 2**-7
        assert found.tolist() == [1 + step, -1 - step, 1]


@pytest.mark.strict
@pytest.mark.parametrize(
    ("self", "other", "out", "words"),
    [
        ((2, 3), (2, 4), (2, 3), "dimension 1 of other is 4 and dimension 1 of out is 3"),
        ((2, 3), (3,), (3,), "out has 1 dimensions, expected 2"),
        ((1, 3), (1, 3), (2, 3), "dimension 0 of out is 2, expected 1"),
        ((3,), (3,), (1, 3), "out has 2 dimensions, expected 1"),
    ],
)
def test_shapes_that_do_not_fit(npu, self, other, out, words):
    tensors = [npu.tensor(numpy.zeros(shape, "f4")) for shape in (self, other, out)]
    refused(npu.call("add", tensors[0], tensors[1], npu.scalar(1), tensors[2]), INVALID, words)


@pytest.mark.strict
@pytest.mark.parametrize("code", [7, 8, 10, 34])
def test_types_that_have_no_sum(npu, code, monkeypatch):
    monkeypatch.setitem(CODES, "odd", code)
    odd = npu.view(*[numpy.zeros(2, "u8")] * 2, "odd")
    fine = npu.tensor(numpy.zeros(2, "f4"))
    for index, name in enumerate(["self", "other", "out"]):
        tensors = [fine, fine, fine]
        tensors[index] = odd
        ret = npu.call("add", tensors[0], tensors[1], npu.scalar(1), tensors[2])
        refused(ret, INVALID, f"{name} has data type {code}")


@pytest.mark.strict
def test_an_alpha_that_does_not_fit(npu):
    tensor = npu.tensor(numpy.zeros(2, "i4"))
    refused(npu.call("add", tensor, tensor, npu.scalar(1.5), tensor), INVALID, "alpha is float32", "int32")
