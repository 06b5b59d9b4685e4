"""ChunkCat against NumPy: types, strides, short and missing chunks, refusals."""

import math

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, KINDS, NULLPTR, any_view, blank, check_written, exact, stored
from helpers.pointwise import FEWER, SINGLE
from hypothesis import given
from hypothesis import strategies as st


def chunked(values, chunks):
    """Return a row per chunk of a tensor."""
    rows = -(-values.shape[0] // chunks)
    padded = numpy.zeros((rows * chunks, *values.shape[1:]))
    padded[: values.shape[0]] = values
    return padded.reshape(chunks, rows * math.prod(values.shape[1:]))


@FEWER
@given(data=st.data(), chunks=st.integers(1, 5))
def test_chunk_cat(npu, data, chunks):
    draw, kind = data.draw, data.draw(st.sampled_from(SINGLE))
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    shapes = [[draw(st.integers(0, 6)) for _ in range(draw(st.integers(1, 3)))] for _ in range(draw(st.integers(1, 4)))]
    pairs = [any_view(draw, generator, shape, kind) for shape in shapes]
    expected = numpy.concatenate([chunked(exact(view, kind), chunks) for _, view in pairs], 1)
    out_kind = draw(st.sampled_from(SINGLE if kind != "f4" else ["f4"]))
    out = npu.view(*any_view(draw, generator, expected.shape, out_kind), out_kind)
    tensors = npu.list([npu.view(base, view, kind) for base, view in pairs])
    assert npu.call("chunk_cat", tensors, 0, chunks, out) == 0
    check_written(npu, out, stored(expected, out_kind))


@pytest.mark.strict
def test_refused(npu):
    one, out = blank(npu, "f4", (3, 2)), blank(npu, "f4", (2, 4))
    assert npu.call("chunk_cat", npu.list([one]), 0, 2, out) == 0
    for kind in KINDS:
        ret = npu.call("chunk_cat", npu.list([blank(npu, kind, (3, 2))]), 0, 2, blank(npu, kind, (2, 4)))
        assert ret == (0 if kind in SINGLE else INVALID), kind
    refused(npu.call("chunk_cat", npu.list([]), 0, 2, out), INVALID, "tensors is empty")
    refused(npu.call("chunk_cat", npu.list([one]), 1, 2, out), INVALID, "dim is 1, expected 0")
    refused(npu.call("chunk_cat", npu.list([one]), 0, 0, out), INVALID, "numChunks is 0, expected 1 or more")
    mixed = npu.list([one, blank(npu, "f2", (3,))])
    words = "tensors[1] has data type 1, float16, expected float32, that of the first tensor"
    refused(npu.call("chunk_cat", mixed, 0, 2, out), INVALID, words)
    words = "tensors[0] has 0 dimensions, expected 1 to 8"
    refused(npu.call("chunk_cat", npu.list([blank(npu, "f4", ())]), 0, 2, out), INVALID, words)
    words = "out is float16, expected no shorter type than float32, that of tensors"
    refused(npu.call("chunk_cat", npu.list([one]), 0, 2, blank(npu, "f2", (2, 4))), INVALID, words)
    words = "out has shape [2, 4], expected [3, 2], one row per chunk"
    refused(npu.call("chunk_cat", npu.list([one]), 0, 3, out), INVALID, words)
    refused(npu.call("chunk_cat", 0, 0, 2, out), NULLPTR, "tensors is NULL")
    refused(npu.call("chunk_cat", npu.list([one]), 0, 2, 0), NULLPTR, "out is NULL")
