"""Comparisons, logic and shifts against NumPy: every type with every other, broadcasting, strides, in place."""

import operator

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, KINDS, NULLPTR, UNSIGNED, blank, exact, meet_scalar, rounded, stored
from helpers.pointwise import ALL, COMPLEX, FEWER, INTEGERS, REAL, cases, compare, few, joint, place
from helpers.tensors import storage
from hypothesis import given
from hypothesis import strategies as st

ORDERS = {"gt": operator.gt, "ge": operator.ge, "lt": operator.lt, "le": operator.le}
COMPARISONS = {"eq": operator.eq, "ne": operator.ne, **ORDERS}
LOGIC = {"logical_and": numpy.logical_and, "logical_or": numpy.logical_or, "logical_xor": numpy.logical_xor}
BITS = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
WHOLE = ["?", *INTEGERS]


def to_any(*kinds):
    return KINDS


def taken(name):
    return REAL if name in ORDERS else KINDS


@pytest.mark.parametrize("name", COMPARISONS)
@FEWER
@given(data=st.data())
def test_tensors(npu, name, data):
    case = data.draw(cases([taken(name)] * 2, to_any, values=few))
    _, (a, b) = joint(case)
    tensors, out = place(npu, case)
    assert npu.call(f"{name}_tensor", *tensors, out) == 0
    compare(npu.get(out), COMPARISONS[name](a, b), "?", case.out_kind)


@pytest.mark.parametrize("name", COMPARISONS)
@FEWER
@given(data=st.data())
def test_tensors_in_place(npu, name, data):
    case = data.draw(cases([taken(name)] * 2, None, in_place=True, values=few))
    _, (a, b) = joint(case)
    tensors, out = place(npu, case, in_place=True)
    assert npu.call(f"inplace_{name}_tensor", *tensors) == 0
    compare(npu.get(out), COMPARISONS[name](a, b), "?", case.out_kind)


@pytest.mark.parametrize(("name", "scalar"), [(name, scalar) for name in COMPARISONS for scalar in taken(name)])
def test_scalars(npu, name, scalar):
    generator = numpy.random.default_rng(17)
    for tensor in taken(name):
        base = few(generator, (3, 7), tensor)
        self, number, out = npu.tensor(base, tensor), npu.scalar(1, scalar), blank(npu, "?", (3, 7))
        kind = meet_scalar(tensor, scalar)
        expected = COMPARISONS[name](rounded(exact(base, tensor), kind), rounded(1, kind))
        assert npu.call(f"{name}_scalar", self, number, out) == 0
        assert numpy.array_equal(npu.get(out), expected)
        assert npu.call(f"inplace_{name}_scalar", self, number) == 0
        compare(npu.get(self), expected, "?", tensor)


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("kind", UNSIGNED)
def test_unsigned(npu, name, kind):
    """The upper half of the numbers is not negative."""
    top = 2 ** (8 * storage(kind).itemsize)
    a, b = (numpy.array(values, kind) for values in ([0, top - 1, 1, top // 2, 5], [top - 1, 0, top // 2, 1, 5]))
    for out_kind in ("?", "f4"):
        out = blank(npu, out_kind, (5,))
        assert npu.call(f"{name}_tensor", npu.tensor(a), npu.tensor(b), out) == 0
        assert npu.get(out).tolist() == COMPARISONS[name](a, b).tolist()


@pytest.mark.strict
def test_unsigned_meets_nothing_else(npu):
    for kind in UNSIGNED:
        for other in KINDS:
            ret = npu.call("eq_tensor", blank(npu, kind), blank(npu, other), blank(npu, "?"))
            refused(ret, INVALID, f"self is uint{8 * storage(kind).itemsize}", "expected types with a common type")


@pytest.mark.parametrize("kind", UNSIGNED)
def test_unsigned_with_scalar(npu, kind):
    """The tensor's type decides unless the scalar is complex; a float scalar and a bool tensor meet none."""
    top = 2 ** (8 * storage(kind).itemsize) - 1
    values = numpy.array([0, 1, top, 5], kind)
    for scalar in [*INTEGERS, "?", kind]:
        for name, function in COMPARISONS.items():
            out = blank(npu, "?", (4,))
            assert npu.call(f"{name}_scalar", npu.tensor(values), npu.scalar(1, scalar), out) == 0
            assert npu.get(out).tolist() == function(values, numpy.array(1, kind)).tolist()
        self = npu.tensor(values)
        assert npu.call("inplace_gt_scalar", self, npu.scalar(1, scalar)) == 0
        assert npu.get(self).tolist() == [0, 0, 1, 1]
    for tensor in ("f4", "b2", "f8", "i1", "c8"):
        out = blank(npu, "?", (2,))
        self = npu.tensor(stored(numpy.array([0, 1]), tensor), tensor)
        assert npu.call("eq_scalar", self, npu.scalar(1, kind), out) == 0
        assert npu.get(out).tolist() == [False, True]
    for scalar in COMPLEX:
        out = blank(npu, "?", (4,))
        assert npu.call("eq_scalar", npu.tensor(values), npu.scalar(5, scalar), out) == 0
        assert npu.get(out).tolist() == [False, False, False, True]
    for tensor, scalar in ((kind, "f4"), (kind, "f8"), ("?", kind)):
        ret = npu.call("eq_scalar", blank(npu, tensor), npu.scalar(1, scalar), blank(npu, "?"))
        refused(ret, INVALID, "expected types with a common type")


def test_a_double_scalar_makes_complex_numbers_double(npu):
    self, out = npu.tensor(numpy.array([0.1, 0.5], "c8")), blank(npu, "?", (2,))
    for scalar, expected in (("f8", [False, False]), ("f4", [True, False])):
        assert npu.call("eq_scalar", self, npu.scalar(0.1, scalar), out) == 0
        assert npu.get(out).tolist() == expected


def test_numbers_that_are_none(npu):
    values = numpy.array([numpy.nan, 1, numpy.inf], "f4")
    other = numpy.array([numpy.nan, numpy.nan, numpy.inf], "f4")
    for name, function in COMPARISONS.items():
        out = blank(npu, "?", (3,))
        assert npu.call(f"{name}_tensor", npu.tensor(values), npu.tensor(other), out) == 0
        assert npu.get(out).tolist() == function(values, other).tolist()


def test_operands_are_compared_in_the_type_that_they_meet_in(npu):
    """The scalar and the integers are rounded to half precision first, and cut to eight bits."""
    halves, out = npu.tensor(numpy.array([0.1, 2048], "f2")), blank(npu, "?", (2,))
    assert npu.call("eq_scalar", halves, npu.scalar(0.1), out) == 0
    assert npu.get(out).tolist() == [True, False]
    assert npu.call("eq_tensor", halves, npu.tensor(numpy.array([1, 2049])), out) == 0
    assert npu.get(out).tolist() == [False, True]
    assert npu.call("eq_scalar", npu.tensor(numpy.array([44, 0], "i1")), npu.scalar(300, "i4"), out) == 0
    assert npu.get(out).tolist() == [True, False]


def test_operands_are_rounded_once(npu):
    """Through float32 the integer and the double would become ties, and go to the even neighbour below."""
    brain, out = npu.tensor(numpy.array([0x4B81, 0x3F81], "u2"), "b2"), blank(npu, "?", (2,))
    whole = npu.tensor(numpy.array([2**24 + 2**16 + 1, 1]))
    assert npu.call("eq_tensor", brain, whole, out) == 0
    assert npu.get(out).tolist() == [True, False]
    assert npu.call("eq_scalar", brain, npu.scalar(1 + 2**-8 + 2**-40, "f8"), out) == 0
    assert npu.get(out).tolist() == [False, True]


# --- logic


@pytest.mark.parametrize("name", LOGIC)
@FEWER
@given(data=st.data())
def test_logic(npu, name, data):
    case = data.draw(cases([KINDS, KINDS], to_any, values=few))
    a, b = (exact(view, kind) for (_, view), kind in zip(case.views, case.kinds))
    tensors, out = place(npu, case)
    assert npu.call(name, *tensors, out) == 0
    compare(npu.get(out), LOGIC[name](a, b), "?", case.out_kind)


@pytest.mark.parametrize("name", ["logical_and", "logical_or"])
@FEWER
@given(data=st.data())
def test_logic_in_place(npu, name, data):
    case = data.draw(cases([KINDS, KINDS], None, in_place=True, values=few))
    a, b = (exact(view, kind) for (_, view), kind in zip(case.views, case.kinds))
    tensors, out = place(npu, case, in_place=True)
    assert npu.call(f"inplace_{name}", *tensors) == 0
    compare(npu.get(out), LOGIC[name](a, b), "?", case.out_kind)


@FEWER
@given(case=cases([KINDS], to_any, values=few))
def test_not(npu, case):
    value = exact(case.views[0][1], case.kinds[0])
    (self,), out = place(npu, case)
    assert npu.call("logical_not", self, out) == 0
    compare(npu.get(out), value == 0, "?", case.out_kind)
    assert npu.call("inplace_logical_not", self) == 0
    compare(npu.get(self), value == 0, "?", case.kinds[0])


def test_half_of_a_complex_number_makes_it_true(npu):
    self, out = npu.tensor(numpy.array([0, 1j, 1, numpy.nan], "c8")), blank(npu, "?", (4,))
    assert npu.call("logical_not", self, out) == 0
    assert npu.get(out).tolist() == [True, False, False, False]


# --- bits


def whole_casting(*kinds):
    return [kind for kind in REAL if kind != "?" or set(kinds) == {"?"}]


@pytest.mark.parametrize("name", BITS)
@FEWER
@given(data=st.data())
def test_bits(npu, name, data):
    case = data.draw(cases([WHOLE, WHOLE], whole_casting))
    kind, (a, b) = joint(case)
    tensors, out = place(npu, case)
    assert npu.call(f"bitwise_{name}_tensor", *tensors, out) == 0
    expected = BITS[name](a, b)
    compare(npu.get(out), expected, kind, case.out_kind)
    if kind == case.kinds[0] and expected.shape == case.views[0][1].shape:
        assert npu.call(f"inplace_bitwise_{name}_tensor", *tensors) == 0
        compare(npu.get(tensors[0]), expected, kind, kind)


@pytest.mark.parametrize("name", BITS)
@pytest.mark.parametrize("tensor", WHOLE)
def test_bits_with_scalar(npu, name, tensor):
    for scalar in WHOLE:
        kind = meet_scalar(tensor, scalar)
        base = few(numpy.random.default_rng(19), (2, 5), tensor)
        self, number, out = npu.tensor(base, tensor), npu.scalar(1, scalar), blank(npu, kind, (2, 5))
        assert npu.call(f"bitwise_{name}_scalar", self, number, out) == 0
        expected = BITS[name](rounded(base, kind), rounded(1, kind))
        assert numpy.array_equal(npu.get(out), expected)
        if kind == tensor:
            assert npu.call(f"inplace_bitwise_{name}_scalar", self, number) == 0
            assert numpy.array_equal(npu.get(self), expected)


@FEWER
@given(case=cases([WHOLE], whole_casting))
def test_flipped_bits(npu, case):
    value = case.views[0][1]
    (self,), out = place(npu, case)
    assert npu.call("bitwise_not", self, out) == 0
    compare(npu.get(out), ~value, case.kinds[0], case.out_kind)


def to_whole(values, kind):
    """Return unsigned numbers as a type keeps them, rounded once."""
    return stored(values, kind) if kind == "b2" else values.astype(kind)


@pytest.mark.parametrize("name", BITS)
@pytest.mark.parametrize("kind", UNSIGNED)
def test_bits_of_unsigned(npu, name, kind):
    """All bits count, and the upper half of the numbers is not negative in any type that they are cast to."""
    top = 2 ** (8 * storage(kind).itemsize) - 1
    a, b = (numpy.array(values, kind) for values in ([top, 1, top // 2 + 1, 0], [top // 3, 2, top, top]))
    self, other, expected = npu.tensor(a), npu.tensor(b), BITS[name](a, b)
    for out_kind in [*INTEGERS, *UNSIGNED, "f4", "f2", "f8", "b2", "c8", "c16"]:
        out = blank(npu, out_kind, (4,))
        assert npu.call(f"bitwise_{name}_tensor", self, other, out) == 0
        with numpy.errstate(over="ignore"):
            assert numpy.array_equal(npu.get(out), to_whole(expected, out_kind)), out_kind
    for scalar in [kind, "i8", "u1"]:
        out = blank(npu, kind, (4,))
        assert npu.call(f"bitwise_{name}_scalar", self, npu.scalar(5, scalar), out) == 0
        assert npu.get(out).tolist() == BITS[name](a, numpy.array(5, kind)).tolist()
    assert npu.call(f"inplace_bitwise_{name}_tensor", self, other) == 0
    assert npu.get(self).tolist() == expected.tolist()
    assert npu.call(f"inplace_bitwise_{name}_scalar", self, npu.scalar(3, "i4")) == 0
    assert npu.get(self).tolist() == BITS[name](expected, numpy.array(3, kind)).tolist()


def test_bits_of_uint16(npu):
    self, other = npu.tensor(numpy.array([0xFFFF, 1], "u2")), npu.tensor(numpy.array([0x8001, 2], "u2"))
    out = blank(npu, "u2", (2,))
    assert npu.call("bitwise_xor_tensor", self, other, out) == 0
    assert npu.get(out).tolist() == [0x7FFE, 3]
    assert npu.call("bitwise_not", self, out) == 0
    assert npu.get(out).tolist() == [0, 0xFFFE]


def shifted(values, bits, kind, to_left):
    """Return integers shifted as Python does; a number of bits that the type does not have shifts all out."""
    width = 8 * storage(kind).itemsize
    pairs = [(int(a), int(b)) for a, b in zip(values.flat, bits.flat)]
    if to_left:
        results = [a << b if 0 <= b < width else 0 for a, b in pairs]
    else:
        results = [a >> (b if 0 <= b < width else width) for a, b in pairs]
    return numpy.array([number % 2**width for number in results], f"u{width // 8}").view(kind).reshape(values.shape)


@pytest.mark.parametrize("name", ["left_shift", "right_shift"])
@pytest.mark.parametrize("kind", [*INTEGERS, *UNSIGNED])
def test_shifts(npu, name, kind):
    width, limits = 8 * storage(kind).itemsize, numpy.iinfo(kind)
    a = numpy.array([[limits.max], [limits.max // 3], [1], [limits.min], [limits.min // 3]], kind)
    b = [0, 1, width - 2, width - 1, width, 100] + ([-1, limits.min] if limits.min else [limits.max])
    base = numpy.array([b, b], kind)
    b = base[:1, ::-1]
    wide_a, wide_b = numpy.broadcast_arrays(a, b)
    expected = shifted(wide_a, wide_b, kind, name == "left_shift")
    out = blank(npu, kind, expected.shape)
    assert npu.call(name, npu.tensor(a), npu.view(base, b, kind), out) == 0
    assert npu.get(out).tolist() == expected.tolist()
    self = npu.tensor(wide_a.copy())
    assert npu.call(name, self, npu.tensor(b.copy()), self) == 0  # PyTorch shifts in place so
    assert npu.get(self).tolist() == expected.tolist()
    empty = blank(npu, kind, (0, 3))
    assert npu.call(name, empty, blank(npu, kind, (3,)), empty) == 0


@pytest.mark.parametrize("kind", [*INTEGERS, *UNSIGNED])
def test_shifts_by_a_number(npu, kind):
    limits, width = numpy.iinfo(kind), 8 * storage(kind).itemsize
    a = numpy.array([limits.max, 5, limits.min], kind)
    for bits in (0, 3, width - 1, width, -1):
        out = blank(npu, kind, (3,))
        assert npu.call("left_shifts", npu.tensor(a), npu.scalar(bits, "i8"), out) == 0
        assert npu.get(out).tolist() == shifted(a, numpy.full(3, bits), kind, True).tolist()


@pytest.mark.parametrize("name", ["left_shift", "right_shift"])
def test_shifts_of_several_types(npu, name):
    """Both operands are cast to their common type, and the result to that of the output."""
    self, bits = npu.tensor(numpy.array([-100, 3], "i1")), npu.tensor(numpy.array([9, 12], "i4"))
    expected = numpy.array([-100, 3]) << [9, 12] if name == "left_shift" else numpy.array([-100, 3]) >> [9, 12]
    for kind in ("i2", "i4", "i8"):
        out = blank(npu, kind, (2,))
        assert npu.call(name, self, bits, out) == 0
        assert npu.get(out).tolist() == expected.astype(kind).tolist()


@pytest.mark.strict
def test_shifts_refuse(npu):
    for kind in ALL:
        same = blank(npu, kind)
        for name, bits in (("left_shift", same), ("right_shift", same), ("left_shifts", npu.scalar(1, kind))):
            taken = kind in [*INTEGERS, *UNSIGNED]
            assert npu.call(name, same, bits, same) == (0 if taken else INVALID), (name, kind)
    whole = blank(npu, "i4", (2, 3))
    words = "self is uint16 and shiftBits is int32, expected types with a common type"
    refused(npu.call("left_shift", blank(npu, "u2", (2, 3)), whole, whole), INVALID, words)
    refused(npu.call("left_shift", whole, blank(npu, "i4", (2,)), whole), INVALID)
    refused(npu.call("right_shift", whole, blank(npu, "i4", (4, 1, 1)), whole), INVALID)
    refused(npu.call("left_shifts", whole, 0, whole), NULLPTR, "shiftBits is NULL")


@pytest.mark.strict
def test_refused(npu):
    for kind in ALL:
        same = blank(npu, kind)
        for name in ORDERS:
            ret = npu.call(f"{name}_tensor", same, same, blank(npu, "?"))
            assert ret == (INVALID if kind in COMPLEX else 0), (name, kind)
        for name in BITS:
            ret = npu.call(f"bitwise_{name}_tensor", same, same, same)
            assert ret == (0 if kind in [*WHOLE, *UNSIGNED] else INVALID), (name, kind)
        for name in LOGIC:
            assert npu.call(name, same, same, blank(npu, "?")) == (INVALID if kind in UNSIGNED else 0), (name, kind)
    whole, truth = blank(npu, "i4"), blank(npu, "?")
    refused(npu.call("bitwise_and_tensor", whole, truth, truth), INVALID, "the result is int32", "cast to bool")
