"""Outputs that acl.nn allocates for quantisation, bags of embeddings and mixtures of experts."""

import numpy
import pytest

import acl

pytestmark = pytest.mark.usefixtures("opened")
nn = acl.nn
A = numpy.array([[1, -2, 3, 5], [4, 5, -6, 0]], "f2")
WHOLE = numpy.arange(-6, 6, dtype="i1").reshape(4, 3)
EXPERTS = numpy.array([[1, 0], [0, 2]], "i4")


def put(array):
    return acl.DeviceArray.from_numpy(numpy.ascontiguousarray(array))


def check(found, *expected):
    """Compare arrays and their types."""
    found = found if isinstance(found, (list, tuple)) else [found]
    assert [(each.shape, each.dtype) for each in found] == [(each.shape, each.dtype) for each in expected]
    for each, values in zip(found, expected):
        assert numpy.allclose(each.to_numpy(), values, rtol=1e-3)


def test_products_with_quantised_weights():
    half = numpy.full(3, 0.5, "f2")
    product = (A.astype("f4") @ WHOLE * 0.5).astype("f2")
    check(nn.weight_quant_batch_matmul_v2(put(A), put(WHOLE), put(half), None, None, None, None, 0), product)
    packed = numpy.array([0x76543210, 0x76543210, 0x76543210, 0x76543210], "i4").reshape(4, 1)
    scale = numpy.ones(8, "f2")
    expected = (A.astype("f4") @ numpy.tile(numpy.arange(8), (4, 1))).astype("f2")
    check(nn.weight_quant_batch_matmul_v2(put(A), put(packed), put(scale), None, None, None, None, 0), expected)


def test_quantised_arrays():
    whole = numpy.array([[2, -4, 6, 10], [8, 10, -12, 0]], "i1")
    check(nn.ascend_quant(put(A), put(numpy.array([2], "f2")), None, False, "round", 2), whole)
    scales = (numpy.abs(A.astype("f4")).max(1) / 127).astype("f4")
    check(nn.dynamic_quant(put(A), None), numpy.rint(A / scales[:, None]).astype("i1"), scales)
    gated = nn.swi_glu_quant(put(A), None, None, None, True, "dynamic")
    assert [(each.shape, each.dtype) for each in gated] == [((2, 2), numpy.dtype("i1")), ((2,), numpy.dtype("f4"))]


def test_bags():
    table, index, offsets = A.astype("f4"), numpy.array([1, 0, 1]), numpy.array([0, 2])
    found = nn.embedding_bag(put(table), put(index), put(offsets), False, 0, False, None, False, -1)
    sums = numpy.array([table[0] + table[1], table[1]])
    check(found, sums, numpy.array([0, 0, 1]), numpy.array([2, 1]), numpy.array([0, 0]))


def test_experts():
    weights = numpy.array([[3, 1, 2]], "f4")
    chosen = nn.moe_gating_top_k_softmax(put(weights), None, 2)
    powers = numpy.exp(weights) / numpy.exp(weights).sum()
    check(chosen, powers[:, [0, 2]], numpy.array([[0, 2]], "i4"), numpy.array([[0, 1]], "i4"))
    rows = numpy.array([[0, 2], [1, 3]], "i4")
    found = nn.moe_init_routing(put(A), put(rows), put(EXPERTS), 2)
    ids = [numpy.array(values, "i4") for values in ([2, 1, 0, 3], [0, 0, 1, 2])]
    check(found, A[[0, 1, 0, 1]], *ids)
    found = nn.moe_token_permute(put(A), put(EXPERTS), 0, False)
    check(found, A[[0, 1, 0, 1]], numpy.array([2, 0, 1, 3], "i4"))
    check(nn.moe_compute_expert_tokens(put(numpy.array([0, 0, 2], "i4")), 3), numpy.array([2, 2, 3], "i4"))


def test_experts_and_back():
    order = numpy.argsort(EXPERTS.ravel(), kind="stable")
    places, ends = numpy.argsort(order).astype("i4"), numpy.bincount(EXPERTS.ravel(), minlength=4).cumsum()
    routing = put(A), put(EXPERTS), 0, 1, 4
    spread, where, counts = nn.moe_init_routing_v2(*routing, 0, 1, False)
    check((spread, where, counts), A[order // 2], places, ends.astype("i4"))
    assert [each.shape for each in nn.moe_init_routing_v2(*routing, 0, 0, False)] == [spread.shape, where.shape]
    assert [each.shape for each in nn.moe_init_routing_v2(*routing, 1, 0, True)] == [(4, 1, 4), (4,), (4,)]
    assert [each.shape for each in nn.moe_init_routing_v2(*routing, 1, 0, False)] == [(4, 1, 4), (4,)]
    ones = numpy.ones((2, 2), A.dtype)
    check(nn.moe_finalize_routing_v2(spread, where, None, None, None, put(ones), None, 2), 2 * A)
    weights = numpy.arange(4 * 4 * 3).reshape(4, 4, 3).astype(A.dtype)
    (found,) = nn.grouped_matmul_v3([spread], [put(weights)], *[None] * 5, put(ends), 3, 0)
    check(found, numpy.stack([A[pair // 2] @ weights[EXPERTS.ravel()[pair]] for pair in order]))
    found = nn.grouped_matmul([put(A), put(A)], [put(each) for each in weights[:2]], *[None] * 6, 0)
    check(found, *(A @ each for each in weights[:2]))
    whole = put(A.astype("i1")), put(weights.astype("i1"))
    packed = put(numpy.zeros((4, 4, 3), "i4"))
    for arguments in (
        ([whole[0]], [whole[1]], 3, 0),
        ([spread], [packed], 3, 0),
        ([spread], [put(weights)] * 2, 0, 0),
        ([spread], [spread], 3, 2),
    ):
        with pytest.raises(acl.InvalidArgumentError, match="pass out="):
            nn.grouped_matmul_v3(*arguments[:2], *[None] * 6, *arguments[2:])
