"""Outputs that acl.nn allocates for operators that fuse several steps: norms, gates, maps of experts, boxes."""

import numpy
import pytest

import acl

pytestmark = pytest.mark.usefixtures("opened")
nn = acl.nn
A = numpy.array([[1, -2, 3, 5], [4, 5, -6, 0]], "f4")
HALF, ROW = A.astype("f2"), numpy.ones(4, "f2")
MAP = numpy.array([[True, False], [False, True], [True, False]])
TOKENS = numpy.array([[1, 2], [3, 4], [5, 6]], "f4")
SORTED = numpy.array([0, 2, 1], "i4")
WHOLE, FLOAT = numpy.dtype("i1"), numpy.dtype("f4")


def put(array):
    return acl.DeviceArray.from_numpy(numpy.ascontiguousarray(array))


def check(found, *expected):
    """Compare arrays and their types."""
    found = found if isinstance(found, (list, tuple)) else [found]
    assert [(each.shape, each.dtype) for each in found] == [(each.shape, each.dtype) for each in expected]
    for each, values in zip(found, expected):
        assert numpy.allclose(each.to_numpy().astype("f8"), numpy.asarray(values, "f8"), rtol=1e-3)


def specs(found):
    return [(each.shape, each.dtype) for each in found]


def test_norms():
    total = 2 * A
    rstd = 1 / numpy.sqrt((total**2).mean(-1, keepdims=True) + 1e-6).astype("f4")
    normal = total * rstd
    found = nn.add_rms_norm_cast(put(HALF), put(HALF), put(ROW), 1e-6)
    check(found, normal, normal.astype("f2"), rstd, total.astype("f2"))
    one, two = put(HALF), put(HALF)
    check(nn.inplace_add_rms_norm(one, two, put(ROW), 1e-6), rstd)
    check([one, two], normal.astype("f2"), total.astype("f2"))
    scale = put(numpy.ones(4, "f4"))
    found = nn.add_rms_norm_quant_v2(put(HALF), put(HALF), put(ROW), scale, None, None, None, None, -1, 1e-6, True)
    assert specs(found)[:3] == [((2, 4), WHOLE), ((2, 4), WHOLE), ((2, 4), HALF.dtype)]
    found = nn.add_rms_norm_dynamic_quant_v2(put(HALF), put(HALF), put(ROW), None, None, None, 1e-6, None)
    assert specs(found)[2:] == [((2, 4), HALF.dtype), ((2,), FLOAT), ((2,), FLOAT)]


def test_gated_halves():
    gated = numpy.minimum(A[:, ::2], 7) / (1 + numpy.exp(-A[:, ::2])) * (A[:, 1::2] + 1)
    check(nn.clipped_swiglu(put(A), None, -1, 1.0, 7.0, 1.0, True), gated)
    found = nn.swi_glu_quant_v2(put(HALF), None, None, None, True, "dynamic", 0, 2)
    assert specs(found) == [((2, 2), WHOLE), ((2,), FLOAT)]
    more = 2, None, -1, 0, 7.0, 1.702, 1.0
    found = nn.dequant_swiglu_quant_v2(put(HALF), *[None] * 6, True, "dynamic", *more)
    assert specs(found) == [((2, 2), WHOLE), ((2,), FLOAT)]


def test_gates_and_routes():
    scores = numpy.exp(A) / numpy.exp(A).sum(-1, keepdims=True)
    chosen = numpy.array([[3, 2], [1, 0]], "i4")
    found = nn.moe_gating_top_k(put(A), None, 2, 1, 1, 0, 0, 0, True, 1.0, 1e-20)
    check(found, numpy.take_along_axis(scores, chosen, -1).astype("f4"), chosen, scores)
    routed = nn.moe_init_routing_v3(put(A), put(chosen), None, None, -1, 0, 4, 0, 1, True, -1, None, 0)
    check(routed[:3], A[[1, 1, 0, 0]], numpy.array([3, 2, 1, 0], "i4"), numpy.array([1, 1, 1, 1]))
    assert specs(routed)[3:] == [((4,), FLOAT)]
    spread = nn.moe_init_routing_v3(put(A), put(chosen), None, None, -1, 1, 4, 1, 2, True, 1, None, 0)
    assert specs(spread) == [((4, 1, 4), WHOLE), ((4,), chosen.dtype), ((4, 2), numpy.dtype("i8")), ((4,), FLOAT)]
    places, weights = put(numpy.array([0, 1], "i4")), put(numpy.ones((2, 1), "f4"))
    none = [None] * 3
    check(nn.moe_finalize_routing_v3(put(A), places, *none, weights, None, *[None] * 4, 2, *none), A)
    check(nn.moe_finalize_routing_v4(put(A), places, *none, None, None, *[None] * 4, 2, *none, 2), A.sum(0)[None])


def test_maps_of_experts():
    probs = numpy.array([[0.5, 1], [1, 0.25], [2, 1]], "f4")
    found = nn.moe_token_permute_with_routing_map(put(TOKENS), put(MAP), put(probs), 3, False)
    check(found, TOKENS[[0, 2, 1]], numpy.array([0.5, 2, 0.25], "f4"), SORTED)
    rows, _, order = found
    back = nn.moe_token_unpermute_with_routing_map(rows, order, put(MAP), None, False, None)
    check([back[0]], TOKENS)
    slopes = nn.moe_token_permute_with_routing_map_grad(rows, None, order, put(MAP), 2, 3, False)
    check(slopes, TOKENS)
    slopes = nn.moe_token_unpermute_with_routing_map_grad(put(TOKENS), order, order, None, None, None, False, None)
    check(slopes, TOKENS[[0, 2, 1]])
    with pytest.raises(acl.InvalidArgumentError, match="pass restore_shape_optional or out="):
        nn.moe_token_unpermute_with_routing_map(rows, order, None, None, False, None)


def test_shapes_and_boxes():
    check(nn.confusion_transpose(put(A), [1, 0], [8], True), A.T.reshape(8))
    check(nn.confusion_transpose(put(A), [1, 0], [4, 2], False), A.reshape(4, 2).T)
    boxes = numpy.array([[0, 0, 2, 2], [1, 0, 3, 2], [5, 5, 6, 6]], "f4")
    check(nn.iou(put(boxes[:2]), put(boxes), "iou", 0.0, False), numpy.array([[1, 1 / 3, 0], [1 / 3, 1, 0]], "f4"))
    check(nn.iou(put(boxes), put(boxes), "iof", 0.0, True), numpy.ones((3, 1), "f4"))


def test_filters_and_networks():
    k, p = put(numpy.array([2, 4], "i4")), put(numpy.ones(2, "f4"))
    kept = numpy.array([[False, False, True, True], [True] * 4])
    check(nn.apply_top_k_top_p(put(A), p, k), numpy.where(kept, A, -numpy.inf).astype("f4"))
    weights = put(numpy.eye(4, dtype="f2")), put(numpy.ones((4, 3), "f2"))
    found = nn.ffn(put(HALF), *weights, None, *[None] * 10, "relu", 0)
    check(found, numpy.repeat(numpy.maximum(HALF, 0).sum(-1, keepdims=True), 3, -1))
    sums, parts = [put(numpy.zeros(2, "f4"))] * 2, [put(A), put(3 * A)]
    found = nn.attention_update(sums, parts, 0)
    check(found, 2 * A)
    cosines, sines = put(numpy.ones((1, 1, 1, 64), "f4")), put(numpy.zeros((1, 1, 1, 64), "f4"))
    x = numpy.arange(64, dtype="f4").reshape(1, 1, 1, 64)
    check(nn.interleave_rope(put(x), cosines, sines), numpy.concatenate([x[..., ::2], x[..., 1::2]], -1))


def test_masked_softmax():
    x, mask = numpy.zeros((1, 1, 2, 2), "f4"), numpy.array([[[[False, True], [False, False]]]])
    y = nn.scaled_masked_softmax(put(x), put(mask), 1.0, False)
    check(y, numpy.array([[[[1, 0], [0.5, 0.5]]]], "f4"))
    slopes = put(numpy.array([[[[1, 2], [1, 2]]]], "f4"))
    found = nn.scaled_masked_softmax_backward(slopes, y, put(mask), 1.0, False)
    check(found, numpy.array([[[[0, 0], [-0.25, 0.25]]]], "f4"))
    bias = put(numpy.zeros((1, 2, 2), "f4"))
    check(nn.masked_softmax_with_rel_pos_bias(put(x), None, bias, 1.0, 0), numpy.full_like(x, 0.5))
