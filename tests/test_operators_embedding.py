"""EmbeddingDenseBackward and EmbeddingRenorm against NumPy: types of indices, norms, padding, scales, refusals, indices
out of range."""

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, any_indices, failing
from helpers.operands import INVALID, NULLPTR, SETTINGS, any_shape, any_view, blank, exact, near
from hypothesis import given
from hypothesis import strategies as st

import acl

INDICES = ["?", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8"]


@SETTINGS
@given(data=st.data())
def test_embedding_dense_backward(npu, data):
    draw, generator = data.draw, numpy.random.default_rng(data.draw(st.integers(0, 2**32)))
    kind, index_kind = draw(st.sampled_from(["f2", "b2", "f4"])), draw(st.sampled_from(INDICES))
    shape, width = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3)), draw(st.sampled_from([0, 1, 3, 300]))
    count, scales = draw(st.integers(2, 7)), draw(st.booleans())
    padding = draw(st.sampled_from([0, 1, count, 2**64 - 1]))
    base, grad = any_view(draw, generator, [*shape, width], kind)
    index_base, index = any_view(draw, generator, shape, index_kind)
    index_base[...] = generator.integers(0, 2 if index_kind == "?" else count, index_base.shape)
    rows = index.reshape(-1).astype("i8")
    expected = numpy.zeros((count, width))
    numpy.add.at(expected, rows, exact(grad, kind).reshape(len(rows), width))
    if scales:
        expected /= numpy.maximum(numpy.bincount(rows, minlength=count), 1)[:, None]
    if padding < count:
        expected[padding] = 0
    out = npu.view(*any_view(draw, generator, (count, width), kind), kind)
    arguments = npu.view(base, grad, kind), npu.view(index_base, index, index_kind), count, padding, scales, out
    assert npu.call("embedding_dense_backward", *arguments) == 0
    near(npu.get(out), expected, kind, 1e-12)


@SETTINGS
@given(data=st.data())
def test_embedding_renorm(npu, data):
    draw, generator = data.draw, numpy.random.default_rng(data.draw(st.integers(0, 2**32)))
    kind, order = draw(st.sampled_from(["f2", "b2", "f4"])), draw(st.sampled_from([0, 1, 2, 2.5, 3, numpy.inf]))
    base, table = any_view(draw, generator, [draw(st.integers(1, 7)), draw(st.sampled_from([1, 3, 300]))], kind)
    index = any_indices(draw, generator, any_shape(draw), len(table))
    expected, most = exact(table, kind).astype("f8"), draw(st.sampled_from([0.3, 5.7, 30.1, 1000.0]))
    for row in set(index[1].reshape(-1).tolist()):
        norm = numpy.linalg.norm(expected[row], order)
        if norm > most:
            expected[row] *= most / (norm + 1e-7)
    self = npu.view(base, table, kind)
    assert npu.call("embedding_renorm", self, npu.view(*index), most, float(order)) == 0
    near(npu.get(self), expected, kind, 1e-9)


@pytest.mark.strict
def test_embedding_renorm_refuses(npu):
    self, index = blank(npu, "f4", (3, 2)), blank(npu, "i8", (2,))
    assert npu.call("embedding_renorm", self, index, 1.0, 2.0) == 0
    refused(npu.call("embedding_renorm", 0, index, 1.0, 2.0), NULLPTR, "is NULL")
    refused(npu.call("embedding_renorm", self, 0, 1.0, 2.0), NULLPTR, "is NULL")
    wrong = blank(npu, "f8", (3, 2))
    refused(npu.call("embedding_renorm", wrong, index, 1.0, 2.0), INVALID, "float64, expected")
    wrong = blank(npu, "f4", (3,))
    refused(npu.call("embedding_renorm", wrong, index, 1.0, 2.0), INVALID, "selfRef has 1 dimensions, expected 2")
    refused(npu.call("embedding_renorm", self, self, 1.0, 2.0), INVALID, "indices has data type 0, float32, expected")


@pytest.mark.strict
def test_embedding_dense_backward_refuses(npu):
    fits = [blank(npu, "f4", (4, 2)), blank(npu, "i8", (4,)), 3, 0, False, blank(npu, "f4", (3, 2))]

    def call(place=None, value=None):
        return npu.call("embedding_dense_backward", *[value if k == place else x for k, x in enumerate(fits)])

    assert call() == 0
    for place in (0, 1, 5):
        refused(call(place, 0), NULLPTR, "is NULL")
    refused(call(0, blank(npu, "f8", (4, 2))), INVALID, "grad has data type 11, float64, expected")
    refused(call(1, blank(npu, "c8", (4,))), INVALID, "indices has data type 16, complex64, expected")
    words = "indices has shape [3], expected [4], that of grad without its last dimension"
    refused(call(1, blank(npu, "i8", (3,))), INVALID, words)
    refused(call(2, 4), INVALID, "out has shape [3, 2], expected [4, 2], that of the weights")
    refused(call(5, blank(npu, "f2", (3, 2))), INVALID, "float16, expected float32, that of grad")


@pytest.mark.needs_sim
@pytest.mark.parametrize("wrong", [3, -1])
def test_an_index_out_of_range_fails_the_task(wrong):
    with failing() as fresh:
        index = fresh.tensor(numpy.array([0, wrong]))
        grad, out = blank(fresh, "f4", (2, 2)), blank(fresh, "f4", (3, 2))
        assert fresh.call("embedding_dense_backward", grad, index, 3, 0, False, out) == 0
        words = f"element 1 of indices is {wrong}, expected 0 to 2 for 3 weights"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
