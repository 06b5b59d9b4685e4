"""Outputs that acl.nn allocates for gradients, losses and other operators with several or optional outputs."""

import ml_dtypes
import numpy
import pytest

import acl
from acl import operators

pytestmark = pytest.mark.usefixtures("opened")
nn = acl.nn
A = numpy.array([[1, -2, 3], [4, 5, -6]], "f4")
ROW = numpy.array([3, 1, 2], "f4")
INTS = numpy.array([[7, -7], [9, 2]], "i4")
ONES = numpy.ones((2, 3), "f4")
HALF = numpy.ones(1, "f2")
BF16 = numpy.dtype(ml_dtypes.bfloat16)


def put(array):
    return acl.DeviceArray.from_numpy(numpy.ascontiguousarray(array))


def to_device(value):
    if isinstance(value, list) and value and isinstance(value[0], numpy.ndarray):
        return [put(each) for each in value]
    return put(value) if isinstance(value, numpy.ndarray) else value


def ints(*values):
    return numpy.array(values, "i4")


# Operators with a kernel whose outputs do not follow from the arguments: their size depends on elements, or programs
# choose their shape or type.
FREE = {
    "bincount", "chunk_cat", "grouped_matmul_finalize_routing", "grouped_matmul_finalize_routing_v2",
    "grouped_matmul_finalize_routing_v3", "grouped_matmul_finalize_routing_weight_nz",
    "grouped_matmul_finalize_routing_weight_nz_v2", "gru", "gru_backward", "lstm", "lstm_backward",
    "normal_float_float", "npu_format_cast", "quant_matmul_v3", "quant_matmul_v4", "quant_matmul_v5",
    "quant_matmul_weight_nz", "repeat_interleave_grad", "thnn_fused_lstm_cell_backward",
}  # fmt: skip
# One row a call: the operator, its arguments (NumPy arrays go to the device), what NumPy makes of it.
RESULTS = (
    ("left_shift", (INTS, INTS * 0 + 1), INTS << 1),
    ("add_v3", (2.0, A, 3.0), 2 + 3 * A),
    ("angle_v2", (A,), numpy.angle(A).astype("f4")),
    ("is_in_scalar_tensor", (2, INTS, False, False), numpy.bool_(2 in INTS)),
    ("is_in_tensor_scalar", (INTS, 2, False, True), INTS != 2),
    ("log_space", (0.0, 2.0, 3, 10.0), numpy.array([1, 10, 100], "f4")),
    ("unfold_grad", (numpy.ones((2, 2), "f4"), (4,), 0, 2, 2), numpy.ones(4, "f4")),
    ("div_mod", (INTS, INTS + 1, 0), (INTS / (INTS + 1)).astype("f4")),
    ("div_mod", (INTS, ints(2, 4), 1), numpy.trunc(INTS / ints(2, 4)).astype("i4")),
    ("div_mods", (INTS, 2, 2), INTS // 2),
    ("div_mods", (INTS, 2, 0), (INTS / 2).astype("f4")),
    ("one_hot", (ints(1, 0), 3, ints(5), ints(-5), -1), ints([-5, 5, -5], [5, -5, -5])),
    ("one_hot", (ints(1, 0), 3, ints(1), ints(0), 0), ints([0, 1], [1, 0], [0, 0])),
    ("index", (A, [ints(1, 0, 1)]), A[[1, 0, 1]]),
    ("index", (A, [ints([1], [0]), ints(2, 1)]), A[[[1], [0]], [2, 1]]),
    ("search_sorteds", (numpy.sort(ROW), 1.5, False, False, None), numpy.int64(1)),
    ("embedding_dense_backward", (A, ints(2, 2), 4, 9, False), numpy.array([ROW * 0, ROW * 0, A.sum(0), ROW * 0])),
    ("grouped_bias_add_grad", (A, ints(1, 2)), A),
    ("grouped_bias_add_grad", (A[None], None), A.sum(0)[None]),
    ("grouped_bias_add_grad_v2", (A, ints(0, 2), 1), numpy.stack([ROW * 0, A.sum(0)])),
    ("resize", (A[None, None], [1, 1, 2.5, 0.7], "nearest"), A[None, None][..., [0, 0, 0, 1, 1], :][..., [0, 1]]),
    ("resize", (numpy.zeros((1, 1, 10, 1), "f4"), [1, 1, 0.7, 1], "bilinear"), numpy.zeros((1, 1, 6, 1), "f4")),
    ("quantize", (A, HALF.astype("f4"), None, "i1", 0), A.astype("i1")),
    ("ascend_anti_quant", (A.astype("i1"), HALF, None, 1, False), A.astype("f2")),
    ("ascend_anti_quant", (ints([0x76543210]), HALF, None, 27, False), numpy.arange(8)[None].astype(BF16)),
    ("dequant_bias", (INTS, numpy.array([1, 2], "f4"), None, None, 1), (INTS * [1, 2]).astype("f2")),
    ("convert_weight_to_int4_pack", (numpy.arange(8, dtype="i4")[None],), ints([0x76543210])),
    ("quant_matmul", (A.astype("i1"), A.T.astype("i1"), None, 0.5), (A @ A.T / 2).astype("f2")),
    (
        "quant_matmul_v2",
        (A.astype("i1"), A.astype("i1"), None, numpy.array([0x3F000000], "u8"), False, True),
        (A @ A.T / 2).astype("f2"),
    ),
    (
        "weight_quant_batch_matmul",
        (A.astype("f2"), A.astype("i1"), *[None] * 6, False, True, 0.5, 0.0),
        (A @ A.T / 2).astype("f2"),
    ),
)


@pytest.mark.needs_sim
def test_every_kernel_allocates_its_outputs():
    """If this fails for a new kernel, add its rule to acl/objects/op_rules*.py."""
    kernels = [one for one in operators.load().values() if one.kernel and one.outputs]
    assert {one.python for one in kernels if not one.allocates} == FREE


@pytest.mark.parametrize("name, given, expected", RESULTS, ids=[row[0] for row in RESULTS])
def test_result(name, given, expected):
    found = getattr(nn, name)(*[to_device(value) for value in given])
    assert (found.shape, found.dtype) == (numpy.shape(expected), numpy.asarray(expected).dtype)
    assert numpy.allclose(found.to_numpy().astype("f8"), numpy.asarray(expected).astype("f8"), rtol=1e-3)


def test_complex_results():
    found = nn.complex(put(A), put(A + 1)).to_numpy()
    assert found.dtype == numpy.complex64 and numpy.array_equal(found, A + 1j * (A + 1))


@pytest.mark.parametrize("indices", [[A > 0], [ints()]])
def test_masks_need_out(indices):
    with pytest.raises(acl.InvalidArgumentError, match="pass out="):
        nn.index(put(A), to_device(indices))


def test_gradients_of_norms():
    """Only the gradients that the mask asks for are allocated and returned."""
    a, ones, row = put(A), put(ONES), put(ROW)
    mean, rstd = (put(each[:, None]) for each in (A.mean(1), 1 / A.std(1)))
    whole, bias = nn.layer_norm_backward(ones, a, [3], mean, rstd, row, None, [True, False, True])
    assert whole.shape == A.shape and bias.to_numpy().tolist() == [2, 2, 2]
    (scales,) = nn.layer_norm_backward(ones, a, 3, mean, rstd, None, None, [False, True, False])
    assert scales.shape == (3,) and scales.dtype == A.dtype
    whole, scales, bias = nn.group_norm_backward(ones, a, mean, rstd, row, 2, 3, 1, 1, [True] * 3)
    assert (whole.shape, scales.shape, bias.to_numpy().tolist()) == (A.shape, (3,), [2, 2, 2])
    means, rstds = nn.batch_norm_stats(a, 1e-5)
    found = nn.batch_norm_backward(ones, a, row, None, None, means, rstds, True, 1e-5, [True] * 3)
    assert [each.shape for each in found] == [(2, 3), (3,), (3,)] and found[2].to_numpy().tolist() == [2, 2, 2]
    sums, _, bias = nn.batch_norm_reduce_backward(ones, a, means, rstds, row, True, False, True)
    assert sums.to_numpy().tolist() == bias.to_numpy().tolist() == [2, 2, 2]
    with pytest.raises(acl.InvalidArgumentError, match="expected 3 truth values"):
        nn.batch_norm_backward(ones, a, row, None, None, means, rstds, True, 1e-5, [True])


def test_gradients_of_convolutions():
    image, weight, upper = A[None], numpy.ones((4, 2, 2), "f4"), numpy.ones((1, 4, 2), "f4")
    operands = put(upper), put(image), put(weight), [4], [1], [0], [1], False, [0], 1
    found = nn.convolution_backward(*operands, [True] * 3, 0)
    assert [each.shape for each in found] == [image.shape, weight.shape, (4,)]
    assert found[0].to_numpy().tolist() == [[[4, 8, 4]] * 2] and found[2].to_numpy().tolist() == [2] * 4
    (bias,) = nn.convolution_backward(*operands, [False, False, True], 0)
    assert bias.to_numpy().tolist() == [2] * 4


def test_losses():
    probs = numpy.log(numpy.full((3, 1, 2), 0.5, "f4"))
    loss, states = nn.ctc_loss(put(probs), put(numpy.array([[1, 1]])), [3], [2], 0, False)
    assert numpy.allclose(loss.to_numpy(), [3 * numpy.log(2)]) and states.shape == (1, 3, 5)
    loss, slopes = nn.softmax_cross_entropy_with_logits(put(A * 0), put(ONES / 3))
    assert numpy.allclose(loss.to_numpy(), numpy.log(3)) and numpy.allclose(slopes.to_numpy(), 0, atol=1e-6)


def test_rotary_gradients():
    x, tables = put(numpy.ones((1, 2, 1, 4), "f4")), [put(numpy.full((1, 1, 1, 4), each, "f4")) for each in (1, 0)]
    found = nn.rotary_position_embedding_grad(x, *tables, x, 0)
    assert found[0].to_numpy().tolist() == x.to_numpy().tolist()
    assert found[1].to_numpy().tolist() == [[[[2] * 4]]] and found[2].shape == (1, 1, 1, 4)
    found = nn.rotary_position_embedding_grad(x, *tables, None, 0)
    assert [each.shape for each in found] == [x.shape, (0,), (0,)]


def test_packed_attention_and_its_gradients():
    """Each version returns the same for equal operands; a rotated part of 0 changes nothing."""
    generator = numpy.random.default_rng(3)
    query, key, value = (put(generator.normal(0, 1, (4, 2, 16)).astype("f2")) for _ in "qkv")
    rope, ends = put(numpy.zeros((4, 2, 16), "f2")), [[1, 4], [1, 4]]
    none, numbers = [None] * 5, [0.25, 1.0, 9, 9, 2, "TND", 0, 0]
    second = nn.flash_attention_var_len_score_v2(query, key, value, *none, *ends, None, None, *numbers, 1)
    third = nn.flash_attention_var_len_score_v3(query, rope, key, rope, value, *none, *ends, None, None, *numbers, 1)
    fourth = nn.flash_attention_var_len_score_v4(query, key, value, *none, *ends, *numbers, "")
    for found in (third, fourth):
        assert [each.shape for each in found] == [(4, 2, 8), (4, 2, 8), (4, 2, 16)]
        for one, other in zip(second, found):
            assert numpy.allclose(one.to_numpy(), other.to_numpy(), atol=1e-2)
    most, sums, out = second
    kept = [None] * 4 + [most, sums, None, out, None]
    v1 = nn.flash_attention_unpadding_score_grad(query, key, value, out, *kept, *ends, *numbers)
    v4 = nn.flash_attention_unpadding_score_grad_v4(query, key, value, out, *kept, *ends, *numbers, "")
    v3 = [
        nn.flash_attention_unpadding_score_grad_v3(
            query, part, key, part, value, out, *kept, *ends, None, None, *numbers, 1
        )
        for part in (None, rope)
    ]
    assert [each.shape for each in v3[0]] == [(4, 2, 16), (0,), (4, 2, 16), (0,), (4, 2, 16)]
    assert {each.shape for each in v3[1]} == {(4, 2, 16)}
    for found in (v4, v3[0][::2], v3[1][::2]):
        for one, other in zip(v1, found):
            assert numpy.allclose(one.to_numpy(), other.to_numpy(), atol=1e-2)


def test_quantised_routing_and_back():
    tokens, experts = put(A), put(ints([1, 0], [0, 2]))
    found = nn.moe_init_routing_quant_v2(tokens, experts, None, None, 0, 1, 4, 0, 1, False, 1)
    kinds = [(each.shape, each.dtype.str[1:]) for each in found]
    assert kinds == [((4, 3), "i1"), ((4,), "i4"), ((4,), "i4"), ((4,), "f4")]
    rows, places = nn.moe_token_permute(tokens, experts, 0, False)
    weights = put(numpy.ones((2, 2), "f4"))
    gradients = nn.moe_token_unpermute_grad(rows, tokens, places, weights, False, None)
    assert [each.shape for each in gradients] == [(4, 3), (2, 2)]
    assert gradients[1].to_numpy().tolist() == [[14, 14], [77, 77]]
