"""Casts, copies, constants and choice against NumPy: every type to every other, strides, broadcasting, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, ORDER, UNSIGNED, blank, casts, exact, meet, numbers, rounded, stored
from helpers.pointwise import ALL, COMPLEX, FEWER, cases, place
from helpers.tensors import CODES, storage, to_bfloat
from hypothesis import given
from hypothesis import strategies as st


def to_any(*kinds):
    return ALL


def cast(values, kind):
    """Return exact values as a cast to a kind leaves them: floats towards zero to the nearest integer there is."""
    values = numpy.asarray(values)
    if kind not in COMPLEX and values.dtype.kind == "c":
        values = values != 0 if kind == "?" else values.real
    if values.dtype.kind != "f" or ORDER[kind] != 1:
        return rounded(values, kind)
    limits = numpy.iinfo(kind)
    whole = [limits.min if x <= limits.min else limits.max if x >= limits.max else int(x) for x in no_nan(values).flat]
    return numpy.array(whole, kind).reshape(values.shape)


def no_nan(values):
    return numpy.where(numpy.isnan(values), 0, values).astype("f8")


def same(found, expected):
    assert numpy.array_equal(found, expected, equal_nan=found.dtype.kind in "fc")


def wild(generator, shape, kind):
    """Return random values of every size that a type has."""
    if ORDER[kind] < 2:
        limits = numpy.iinfo(storage(kind)) if ORDER[kind] else numpy.iinfo("u1")
        values = numpy.asarray(generator.integers(limits.min, limits.max, shape, limits.dtype))
        return (values % 2).astype("?") if kind == "?" else values
    sizes = numpy.asarray(generator.normal(0, 1, shape)) * 2.0 ** generator.integers(-10, 70, shape)
    sizes = numpy.where(generator.integers(0, 20, shape) == 0, generator.choice([numpy.nan, numpy.inf, 0.0]), sizes)
    return stored(sizes - 1j * numpy.abs(generator.normal(0, 1, shape)) if kind in COMPLEX else sizes, kind)


# --- casts and copies


@pytest.mark.parametrize("out_kind", ALL)
@FEWER
@given(data=st.data())
def test_cast(npu, out_kind, data):
    case = data.draw(cases([ALL], lambda kind: [out_kind], values=wild))
    (self,), out = place(npu, case)
    assert npu.call("cast", self, CODES[out_kind], out) == 0
    same(exact(npu.get(out), out_kind), cast(exact(case.views[0][1], case.kinds[0]), out_kind))


@pytest.mark.parametrize("kind", ["f2", "b2", "f4", "f8"])
def test_edges_of_integers(npu, kind):
    edges = [
        sign * (2.0**bits + step)
        for bits in (7, 8, 15, 16, 31, 32, 63, 64)
        for sign in (1, -1)
        for step in (-1, 0, 0.5)
    ]
    values = numpy.array([*edges, numpy.nan, numpy.inf, -numpy.inf, -0.5, 0.999])
    with numpy.errstate(over="ignore"):
        base = to_bfloat(values) if kind == "b2" else values.astype("f4").astype(kind)
    for out_kind in ALL:
        out = blank(npu, out_kind, values.shape)
        assert npu.call("cast", npu.tensor(base, kind), CODES[out_kind], out) == 0
        same(exact(npu.get(out), out_kind), cast(exact(base, kind), out_kind))


@FEWER
@given(case=cases([ALL, ALL], None, in_place=True, values=wild))
def test_inplace_copy(npu, case):
    (self, src), out = place(npu, case, in_place=True)
    assert npu.call("inplace_copy", self, src) == 0
    expected = cast(exact(case.views[1][1], case.kinds[1]), case.out_kind)
    same(exact(npu.get(out), case.out_kind), numpy.broadcast_to(expected, case.views[0][1].shape))


def test_large_integers_are_rounded_once(npu):
    """The middle between two neighbours, and one more: through float32 it would be a tie."""
    for kind in ("i4", "u4", "i8", "u8"):
        self = npu.tensor((2**24 + numpy.array([2**16, 2**16 + 1, 3 * 2**16, 3 * 2**16 - 1])).astype(kind))
        out = blank(npu, "b2", (4,))
        assert npu.call("cast", self, CODES["b2"], out) == 0
        assert npu.get(out).tolist() == [0x4B80, 0x4B81, 0x4B82, 0x4B81]


@pytest.mark.parametrize("kind", ["u2", "u4", "u8", "c16"])
def test_a_copy_keeps_every_bit(npu, kind):
    """Also those of a NaN, which no arithmetic would."""
    bits = numpy.array([0x7C01, 0xFE23, 0xFFFF, 0x8000], "u2").repeat(8).view(kind)
    like = {"u2": "f2", "u4": "f4", "u8": "f8"}.get(kind, kind)
    for step in (1, 2, -1):
        base = bits.view(like)
        self, src = npu.tensor(numpy.zeros(base[::step].shape, like), like), npu.view(base, base[::step], like)
        for name, arguments in (("inplace_copy", (self, src)), ("cast", (src, CODES[like], self))):
            assert npu.call(name, *arguments) == 0
            assert npu.get(self).tobytes() == base[::step].tobytes()


@pytest.mark.strict
def test_refused_casts_and_copies(npu):
    floats, whole = blank(npu, "f4"), blank(npu, "i4")
    refused(npu.call("cast", floats, CODES["f4"], whole), INVALID, "dtype is 0, expected 3, the data type of out")
    refused(npu.call("cast", floats, CODES["i4"], blank(npu, "i4", (3, 2))), INVALID, "dimension 0 of self is 2")
    refused(npu.call("cast", blank(npu, "f4", (1, 3)), 3, whole), INVALID, "dimension 0 of out is 2, expected 1")
    refused(
        npu.call("inplace_copy", floats, blank(npu, "f4", (1, 2, 3))), INVALID, "selfRef has 2 dimensions, expected 3"
    )
    refused(npu.call("inplace_copy", floats, blank(npu, "f4", (2,))), INVALID, "dimension 0 of src is 2")


# --- constants


@FEWER
@given(data=st.data())
def test_fill(npu, data):
    case = data.draw(cases([ALL], None, in_place=True))
    kind = data.draw(st.sampled_from(ALL))
    value = numbers(numpy.random.default_rng(data.draw(st.integers(0, 99))), (), kind)
    value = exact(value, kind) if kind == "b2" else value
    (self,), out = place(npu, case, in_place=True)
    assert npu.call("inplace_fill_scalar", self, npu.scalar(value, kind)) == 0
    expected = numpy.broadcast_to(cast(value, case.out_kind), case.views[0][1].shape)
    same(exact(npu.get(out), case.out_kind), expected)


FILLED = [kind for kind in ALL if kind not in ("f8", "c8", "c16")]


@pytest.mark.parametrize("shape", [(), (1,)])
@FEWER
@given(data=st.data())
def test_fill_from_tensor(npu, shape, data):
    case = data.draw(cases([FILLED], None, in_place=True))
    kind = data.draw(st.sampled_from(FILLED))
    value = numbers(numpy.random.default_rng(data.draw(st.integers(0, 99))), shape, kind)
    (self,), out = place(npu, case, in_place=True)
    assert npu.call("inplace_fill_tensor", self, npu.tensor(value, kind)) == 0
    expected = numpy.broadcast_to(cast(exact(value, kind), case.out_kind).reshape(()), case.views[0][1].shape)
    same(exact(npu.get(out), case.out_kind), expected)


@pytest.mark.parametrize(("name", "value"), [("inplace_zero", 0), ("inplace_one", 1)])
@FEWER
@given(case=cases([ALL], None, in_place=True, values=wild))
def test_zero_and_one(npu, name, value, case):
    (self,), out = place(npu, case, in_place=True)
    assert npu.call(name, self) == 0
    assert (exact(npu.get(out), case.out_kind) == value).all()


def test_only_the_view_is_filled(npu):
    base = numpy.full((4, 5), 7, "i4")
    assert npu.call("inplace_one", npu.view(base, base[1:3, ::2], "i4")) == 0
    self = npu.view(base, base[1:3, ::2], "i4")
    assert npu.call("inplace_fill_scalar", self, npu.scalar(2)) == 0
    expected = base.copy()
    expected[1:3, ::2] = 2
    assert numpy.array_equal(npu.get(self._replace(view=base)), expected)


@pytest.mark.strict
def test_refused_constants(npu):
    self = blank(npu, "f4")
    refused(npu.call("inplace_fill_tensor", self, blank(npu, "f4", (2,))), INVALID, "value has shape [2], expected [")
    refused(npu.call("inplace_fill_tensor", self, blank(npu, "f4", (1, 1))), INVALID, "value has shape [1, 1]")
    refused(npu.call("inplace_fill_tensor", self, blank(npu, "f8", ())), INVALID, "value has data type 11, float64")
    for kind in ALL:
        wanted = 0 if kind in FILLED else INVALID
        assert npu.call("inplace_fill_tensor", blank(npu, kind), npu.tensor(numpy.float32(1))) == wanted
        assert npu.call("inplace_fill_scalar", blank(npu, kind), npu.scalar(1)) == 0


# --- choice


def choices(condition, self, other):
    if set([self, other]) & set(UNSIGNED):
        return [kind for kind in ALL if casts(self, kind)] if self == other else ALL
    return [kind for kind in ALL if casts(meet(self, other), kind)]


def is_bool(generator, shape, kind):
    return numbers(generator, shape, "?").astype(kind) if kind in ("?", "u1") else wild(generator, shape, kind)


@FEWER
@given(case=cases([["?", "u1"], ALL, ALL], choices, values=is_bool))
def test_where(npu, case):
    _, one, other = case.kinds
    tensors, out = place(npu, case)
    ret = npu.call("s_where", *tensors, out)
    if one != other and set(case.kinds) & set(UNSIGNED):
        refused(ret, INVALID, "expected types with a common type")
        return
    assert ret == 0
    kind = one if one == other else meet(one, other)
    condition, a, b = (exact(view, each) for (_, view), each in zip(case.views, case.kinds))
    expected = numpy.where(condition != 0, rounded(a, kind), rounded(b, kind))
    same(exact(npu.get(out), case.out_kind), rounded(expected, case.out_kind))


@pytest.mark.strict
def test_refused_choices(npu):
    floats = blank(npu, "f4")
    refused(
        npu.call("s_where", floats, floats, floats, floats),
        INVALID,
        "condition has data type 0, float32, expected uint8 or bool",
    )
    condition = blank(npu, "?")
    ret = npu.call("s_where", condition, floats, floats, blank(npu, "i4"))
    refused(ret, INVALID, "the selected value is float32", "int32")
    wide = blank(npu, "?", (4, 2, 3))
    refused(npu.call("s_where", wide, floats, floats, floats), INVALID, "out has 2 dimensions, expected 3")
