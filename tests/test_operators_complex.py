"""Complex, Polar and AngleV2 against NumPy: types, broadcasting, strides, special values, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import (
    INVALID,
    KINDS,
    NULLPTR,
    ORDER,
    any_shape,
    any_view,
    blank,
    check_written,
    exact,
    near,
    stretched,
)
from helpers.pointwise import ALL, FEWER, SINGLE
from hypothesis import given
from hypothesis import strategies as st

INF, NAN = numpy.inf, numpy.nan
PAIRS = {"f4": "c8", "f8": "c16"}


@pytest.mark.parametrize("name", ["complex", "polar"])
@FEWER
@given(data=st.data())
def test_pairs(npu, name, data):
    draw = data.draw
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    kind, shape = draw(st.sampled_from(list(PAIRS))) if name == "complex" else "f4", any_shape(draw)
    views = [any_view(draw, generator, stretched(draw, shape), kind) for _ in range(2)]
    a, b = (view.astype("f8") for _, view in views)
    out_shape = list(numpy.broadcast_shapes(a.shape, b.shape))
    out = npu.view(*any_view(draw, generator, out_shape, PAIRS[kind]), PAIRS[kind])
    assert npu.call(name, *(npu.view(*each, kind) for each in views), out) == 0
    if name == "complex":
        check_written(npu, out, (a + 1j * b).astype(PAIRS[kind]))
        return
    found = npu.get(out)
    near(found.real, a * numpy.cos(b), "f4", 1e-12)
    near(found.imag, a * numpy.sin(b), "f4", 1e-12)


def test_infinite_parts_stay_apart(npu):
    out = blank(npu, "c8", (2,))
    parts = npu.tensor(numpy.array([INF, 1], "f4")), npu.tensor(numpy.array([2, NAN], "f4"))
    assert npu.call("complex", *parts, out) == 0
    found = npu.get(out)
    assert found.real.tolist() == [INF, 1] and found.imag[0] == 2 and numpy.isnan(found.imag[1])


ANGLES = [kind for kind in KINDS if kind not in ("f8", "c16")]


@FEWER
@given(data=st.data())
def test_angle(npu, data):
    draw = data.draw
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    kind, shape = draw(st.sampled_from(ANGLES)), any_shape(draw)
    base, view = any_view(draw, generator, shape, kind)
    out_kind = kind if kind in SINGLE else "f4"
    out = npu.view(*any_view(draw, generator, shape, out_kind), out_kind)
    assert npu.call("angle_v2", npu.view(base, view, kind), out) == 0
    is_complex = ORDER[kind] == 3
    expected = numpy.angle(exact(view, kind).astype("c16" if is_complex else "f8"))
    near(npu.get(out), expected, out_kind, 1e-6 if is_complex else 0)


def test_special_angles(npu):
    out = blank(npu, "f4", (5,))
    assert npu.call("angle_v2", npu.tensor(numpy.array([NAN, -INF, INF, -0.0, 0.0], "f4")), out) == 0
    expected = numpy.array([NAN, numpy.pi, 0, 0, 0], "f4")
    assert numpy.array_equal(npu.get(out), expected, equal_nan=True)
    pairs, out = numpy.array([-1, 1j, -1j, 0], "c8"), blank(npu, "f4", (4,))
    assert npu.call("angle_v2", npu.tensor(pairs), out) == 0
    assert numpy.allclose(npu.get(out), [numpy.pi, numpy.pi / 2, -numpy.pi / 2, 0])


# --- refusals


@pytest.mark.strict
def test_types(npu):
    for kind in ALL:
        same = blank(npu, kind)
        for name, pairs in (("complex", PAIRS), ("polar", {"f4": "c8"})):
            for out_kind in ("c8", "c16", "f4"):
                ret = npu.call(name, same, same, blank(npu, out_kind))
                assert ret == (0 if pairs.get(kind) == out_kind else INVALID), (name, kind, out_kind)
        for out_kind in ALL:
            fits = kind in ANGLES and out_kind == (kind if kind in SINGLE else "f4")
            assert npu.call("angle_v2", same, blank(npu, out_kind)) == (0 if fits else INVALID), (kind, out_kind)
    ret = npu.call("complex", blank(npu, "f4"), blank(npu, "f8"), blank(npu, "c16"))
    refused(ret, INVALID, "imag has data type 11, float64, expected float32, that of real")


@pytest.mark.strict
def test_shapes(npu):
    whole, other, out = blank(npu, "f4", (2, 3)), blank(npu, "f4", (2,)), blank(npu, "c8", (2, 3))
    refused(npu.call("complex", whole, other, out), INVALID)
    refused(npu.call("polar", whole, whole, blank(npu, "c8", (3,))), INVALID)
    refused(npu.call("angle_v2", whole, blank(npu, "f4", (3, 2))), INVALID, "dimension 0 of x is 2")
    refused(npu.call("complex", whole, 0, out), NULLPTR, "imag is NULL")
    refused(npu.call("angle_v2", whole, 0), NULLPTR, "out is NULL")
