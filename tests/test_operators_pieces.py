"""Operators on tensors of several pieces, which threads run side by side: pieces begin and end inside lines of views,
and in several dimensions."""

import numpy
import pytest
from helpers.operands import blank
from helpers.tensors import CODES

GENERATOR = numpy.random.default_rng(41)
BASE = GENERATOR.normal(0, 1, (6, 173, 257)).astype("f4")
VIEWS = {
    "contiguous": BASE,
    "transposed": BASE.transpose(2, 0, 1),
    "lines": BASE[:, :, 3:255],
    "steps": BASE[:, 1::2, ::3],
    "reversed dimensions": BASE.transpose(2, 1, 0),
    "broadcast": numpy.broadcast_to(BASE[:, :1], BASE.shape),
}


@pytest.fixture(params=VIEWS, ids=str)
def view(request):
    return VIEWS[request.param]


def test_elements(npu, view):
    other = GENERATOR.normal(0, 1, view.shape).astype("f4")
    x, out = npu.view(BASE, view, "f4"), blank(npu, "f4", view.shape)
    assert npu.call("add", x, npu.tensor(other), npu.scalar(2), out) == 0
    assert numpy.array_equal(npu.get(out), view + 2 * other)
    assert npu.call("mul", x, npu.tensor(other[:1, :, :1]), out) == 0
    assert numpy.array_equal(npu.get(out), view * other[:1, :, :1])
    half = blank(npu, "f2", view.shape)
    assert npu.call("cast", x, CODES["f2"], half) == 0
    assert numpy.array_equal(npu.get(half), view.astype("f2"))


@pytest.mark.parametrize("name", [name for name in VIEWS if name != "broadcast"])
def test_results_that_are_views(npu, name):
    view = VIEWS[name]
    base = numpy.zeros_like(BASE)
    start = (view.ctypes.data - BASE.ctypes.data) // 4
    window = numpy.lib.stride_tricks.as_strided(base.reshape(-1)[start:], view.shape, view.strides)
    out = npu.view(base, window, "f4")
    assert npu.call("inplace_copy", out, npu.tensor(view)) == 0
    assert numpy.array_equal(npu.get(out), view)
    assert npu.call("relu", npu.tensor(view), out) == 0
    assert numpy.array_equal(npu.get(out), numpy.maximum(view, 0))


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_lines(npu, view, dim):
    x, out = npu.view(BASE, view, "f4"), blank(npu, "f4", view.shape)
    wide = view.astype("f8")
    assert npu.call("softmax", x, dim, out) == 0
    expected = numpy.exp(wide - wide.max(dim, keepdims=True))
    assert numpy.allclose(npu.get(out), expected / expected.sum(dim, keepdims=True), rtol=2**-20, atol=0)
    shape = view.shape[:dim] + view.shape[dim + 1 :]
    sums = blank(npu, "f4", shape)
    assert npu.call("reduce_sum", x, npu.integers([dim]), False, 0, sums) == 0
    assert numpy.allclose(npu.get(sums), wide.sum(dim), rtol=2**-22, atol=2**-40)
    assert npu.call("amax", x, npu.integers([dim]), False, sums) == 0
    assert numpy.array_equal(npu.get(sums), view.max(dim))


def test_normalised_lines(npu, view):
    count = view.shape[-1]
    x, out, wide = npu.view(BASE, view, "f4"), blank(npu, "f4", view.shape), view.astype("f8")
    weight, bias = GENERATOR.normal(0, 1, (2, count)).astype("f4")
    means, rstds = (blank(npu, "f4", (*view.shape[:2], 1)) for _ in range(2))
    arguments = npu.tensor(weight), npu.tensor(bias), 1e-5, out, means, rstds
    assert npu.call("layer_norm", x, npu.integers([count]), *arguments) == 0
    mean, rstd = wide.mean(-1, keepdims=True), 1 / numpy.sqrt(wide.var(-1, keepdims=True) + 1e-5)
    assert numpy.allclose(npu.get(out), (wide - mean) * rstd * weight + bias, rtol=2**-20, atol=2**-20)
    assert numpy.allclose(npu.get(means), mean, rtol=2**-22, atol=2**-30)
    assert numpy.allclose(npu.get(rstds), rstd, rtol=2**-22)
