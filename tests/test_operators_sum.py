"""aclnnAdd where it is more than a formula: which types there are, wrapping, rounding, special values, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, KINDS, blank, casts, exact, meet, rounded
from helpers.tables import every
from helpers.tensors import CODES, storage


@pytest.mark.parametrize("one", KINDS)
@every(other=KINDS)
def test_the_types_of_a_sum(npu, one, other):
    """Every result type that the sum can be cast to is taken, every other one refused."""
    self, that = blank(npu, one, 2), blank(npu, other, 2)
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
        assert numpy.array_equal(exact(npu.get(out), kind), rounded(values * 2, kind), equal_nan=True), kind


def test_doubles_are_rounded_once(npu):
    """Through float32 the first of each would become the tie that goes the other way."""
    for kind, value in (("f2", 1 + 2**-11 + 2**-40), ("b2", 1 + 2**-8 + 2**-40)):
        self = npu.tensor(numpy.array([value, -value, value - 2**-39], "f8"))
        zero, out = npu.tensor(numpy.zeros(3, "f8")), blank(npu, kind, 3)
        assert npu.call("add", self, zero, npu.scalar(1), out) == 0
        step = 2**-10 if kind == "f2" else 2**-7
        assert exact(npu.get(out), kind).tolist() == [1 + step, -1 - step, 1]


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
