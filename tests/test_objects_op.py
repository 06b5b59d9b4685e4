"""Operators on arrays (acl.nn): results, what is inferred, streams, captures, and what is kept."""

import inspect
import json
import os

import numpy
import pytest
from helpers.objects import free_memory, fresh_stream, held, raises

import acl
from acl.objects import op, op_signature, op_table, op_types, resource

pytestmark = pytest.mark.usefixtures("opened")
stream = fresh_stream
nn = acl.nn
with open(os.path.join(os.path.dirname(acl.__file__), "operators.json"), encoding="utf-8") as text:
    TABLE = json.load(text)
A = numpy.array([[1, -2, 3], [4, 5, -6]], "f4")
B = numpy.array([[2, 2, 2]], "f4")
ROW = numpy.array([3, 1, 2], "f4")
INDEX = numpy.array([2, 0], "i8")


def put(array):
    return acl.DeviceArray.from_numpy(array)


def to_device(value):
    if isinstance(value, (list, tuple)):
        return type(value)(to_device(item) for item in value)
    return put(value) if isinstance(value, numpy.ndarray) else value


def softmax(x):
    powers = numpy.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def normal(x):
    return (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + 1e-5)


def ints(values):
    return numpy.array(values, "i4")


# One row a call: the operator, its arguments (NumPy arrays go to the device), what NumPy makes of it.
RESULTS = (
    ("add", (A, B), A + B),
    ("add", (A, B, 2.5), A + 2.5 * B),
    ("add", (ints([1, 2]), ROW[:2]), numpy.array([4, 3], "f4")),
    ("adds", (A, 3), A + 3),
    ("adds", (ints([1, 2]), 0.5), numpy.array([1.5, 2.5], "f4")),
    ("adds", (ints([1, 2]), 2), ints([3, 4])),
    ("sub", (A, B), A - B),
    ("mul", (A, B), A * B),
    ("muls", (A, numpy.float32(0.5)), A * numpy.float32(0.5)),
    ("div", (ints([1, 6]), ints([2, 4])), numpy.array([0.5, 1.5], "f4")),
    ("maximum", (A, B), numpy.maximum(A, B)),
    ("max_n", ([A, B, A + 1],), numpy.maximum(A + 1, B)),
    ("sum", ([A, B, A],), A + B + A),
    ("eq_scalar", (A, 3), A == 3),
    ("gt_tensor", (A, B), A > B),
    ("clamp", (A, -1, 4), A.clip(-1, 4)),
    ("clamp", (A, None, 2.5), numpy.minimum(A, numpy.float32(2.5))),
    ("clamp_tensor", (A, B, None), numpy.maximum(A, B)),
    ("addcmul", (A, B, ROW, 2), A + 2 * B * ROW),
    ("addcdiv", (A, B, ROW), A + B / ROW),
    ("lerp", (A, A + 1, A * 0 + 0.5), A + 0.5),
    ("lerps", (A, B, 0.25), A + 0.25 * (B - A)),
    ("scale", (A, ROW, None, -1, 1, True), A * ROW),
    ("is_close", (A, B, 0.5, 0.0, False), numpy.isclose(A, numpy.broadcast_to(B, A.shape), 0.5, 0)),
    ("floor_divides", (A, 4), A // 4),
    ("remainder_tensor_scalar", (A, 2.5), A % numpy.float32(2.5)),
    ("remainder_scalar_tensor", (7, ROW), 7 % ROW),
    ("gcd", (ints([6, 9]), ints([4, 3])), ints([2, 3])),
    ("x_log_y_scalar_self", (2, ints([1, 3])), numpy.array([0, 2 * numpy.log(3)], "f4")),
    ("logical_and", (A > 0, A > 1), A > 1),
    ("neg", (A,), -A),
    ("relu", (A,), numpy.maximum(A, 0)),
    ("hardtanh", (ints([1, 5]), 2, 4), ints([2, 4])),
    ("threshold_backward", (A, B - 1, 1.5), A * 0),
    ("glu", (A, 0), A[:1] / (1 + numpy.exp(-A[1:]))),
    ("swi_glu_grad", (A[:1] * 0, A, 0), A * 0),
    ("exp", (A,), numpy.exp(A)),
    ("sqrt", (ints([4, 9]),), numpy.array([2, 3], "f4")),
    ("pow_tensor_scalar", (A, 2), A**2),
    ("s_where", (A > 0, A, B), numpy.where(A > 0, A, B)),
    ("cast", (A, "i4"), A.astype("i4")),
    ("cast", (A, numpy.float16), A.astype("f2")),
    ("cast", (A, 11), A.astype("f8")),
    ("reduce_sum", (A,), A.sum()),
    ("reduce_sum", (A, 1), A.sum(1)),
    ("reduce_sum", (ints([[1, 2], [3, 4]]), [0]), numpy.array([4, 6], "i8")),
    ("reduce_sum", (A, [-1], True), A.sum(1, keepdims=True)),
    ("mean", (A, (0,)), A.mean(0)),
    ("amax", (A, [0]), A.max(0)),
    ("arg_max", (A, 1), A.argmax(1)),
    ("any", (A > 2, [1]), numpy.any(A > 2, 1)),
    ("all", (A,), numpy.all(A)),
    ("std", (A, [1], 1), A.std(1, ddof=1)),
    ("var", (A, [0], False), A.var(0)),
    ("norm", (A, 1, [1]), abs(A).sum(1)),
    ("linalg_vector_norm", (A, 2, [0]), numpy.sqrt((A * A).sum(0))),
    ("cdist", (A, B[None], 1.0, 0), abs(A[:, None] - B).sum(-1)[None]),
    ("cdist_backward", (A[:, :1] * 0, A, B, A[:, :1], 2.0), A * 0),
    ("pdist", (A, numpy.inf), abs(A[0] - A[1]).max(keepdims=True)),
    ("linalg_cholesky", (4 * numpy.eye(3, dtype="f4"), True), 2 * numpy.eye(3, dtype="f4")),
    ("renorm", (A, 2, 0, 1), A / numpy.sqrt((A * A).sum(1, keepdims=True))),
    ("log_sum_exp", (A, [1]), numpy.log(numpy.exp(A).sum(1))),
    ("reduce_nansum", (numpy.array([[1, numpy.nan, 2]], "f4"), [1]), numpy.array([3], "f4")),
    ("median", (ROW,), numpy.float32(2)),
    ("nan_median", (ROW,), numpy.float32(2)),
    ("equal", (A, A), numpy.True_),
    ("equal", (A, ROW), numpy.False_),
    ("histc", (A, 3, -6, 5), numpy.array([1, 2, 3], "f4")),
    ("softmax", (A, -1), softmax(A)),
    ("log_softmax", (A, 1), numpy.log(softmax(A))),
    ("matmul", (A, A.T), A @ A.T),
    ("matmul", (A, ROW), A @ ROW),
    ("matmul", (numpy.stack([A, A]), A.T), numpy.stack([A, A]) @ A.T),
    ("mm", (A.T, A), A.T @ A),
    ("dot", (ROW, ROW), ROW @ ROW),
    ("addmm", (numpy.ones((2, 2), "f4"), A, A.T, 2, 3), 2 + 3 * (A @ A.T)),
    ("permute", (A, [1, 0]), A.T),
    ("flip", (A, [1]), A[:, ::-1]),
    ("cat", ([A, A], 0), numpy.concatenate([A, A])),
    ("cat", ((A, A, A), -1), numpy.concatenate([A, A, A], 1)),
    ("repeat", (ROW, (2, 2)), numpy.tile(ROW, (2, 2))),
    ("slice", (ROW, 0, 0, 3, 2), ROW[::2]),
    ("index_select", (A, 1, INDEX), A[:, INDEX]),
    ("gather_v2", (A, 1, INDEX.reshape(1, 2)), A[:, INDEX].reshape(2, 1, 2)),
    ("embedding", (A, numpy.array([1, 0, 1])), A[[1, 0, 1]]),
    ("argsort", (A, 1, True), numpy.argsort(-A, 1)),
    ("take", (A, INDEX), A.reshape(-1)[INDEX]),
    ("gather_nd", (A, numpy.array([[1], [0]]), False), A[::-1]),
    ("search_sorted", (numpy.sort(ROW), ROW, True, False), ints([2, 0, 1])),
    ("scatter_add", (A, 0, INDEX[None] * 0, A[:, :2]), numpy.array([[2, -4, 3], [4, 5, -6]], "f4")),
    ("index_add", (A, 1, INDEX, A[:, :2], 2), numpy.array([[-3, -2, 5], [14, 5, 2]], "f4")),
    ("index_copy", (A, 1, INDEX, A[:, :2]), numpy.array([[-2, -2, 1], [5, 5, 4]], "f4")),
    ("index_fill_tensor", (A, 1, [0, 2], 7), numpy.array([[7, -2, 7], [7, 5, 7]], "f4")),
    ("layer_norm", (A, [3]), normal(A)),
    ("layer_norm", (A, 3, ROW, ROW), normal(A) * ROW + ROW),
    ("batch_norm", (A, ROW, ROW, A.mean(0), A.var(0), False, 0.1, 1e-5), normal(A.T).T * ROW + ROW),
    ("batch_norm_elemt", (A, None, None, ROW, ROW, 1e-5), (A - ROW) * ROW),
    ("stack", ([A, A], 1), numpy.stack([A, A], 1)),
    ("roll", (A, [1], [1]), numpy.roll(A, 1, 1)),
    ("triu", (A, 1), numpy.triu(A, 1)),
    ("diag", (A, -1), numpy.diag(A, -1)),
    ("diag", (ROW, 1), numpy.diag(ROW, 1)),
    ("diag_flat", (A, 0), numpy.diagflat(A)),
    ("trace", (A,), numpy.trace(A)),
    ("eye", (2, 3), numpy.eye(2, 3, dtype="f4")),
    ("arange", (0, 5, 2), numpy.array([0, 2, 4], "i8")),
    ("range", (0, 1, 0.5), numpy.array([0, 0.5, 1], "f4")),
    ("linspace", (0, 1, 3), numpy.array([0, 0.5, 1], "f4")),
    ("constant_pad_nd", (A, [1, -1, 0, 2], 7), numpy.pad(A[:, :2], [(0, 2), (1, 0)], constant_values=7)),
    ("replication_pad1d_backward", (numpy.pad(A, [(0, 0), (2, 1)], "edge"), A, [2, 1]), (A * [3, 1, 2]).astype("f4")),
    ("affine_grid", (numpy.eye(2, 3, dtype="f4")[None], [1, 1, 1, 2], True), numpy.array([[[[-1, 0], [1, 0]]]], "f4")),
    ("reflection_pad1d", (A, [2, 1]), numpy.pad(A, [(0, 0), (2, 1)], "reflect")),
    ("repeat_interleave_int", (A, 2, 12), numpy.repeat(A, 2)),
    ("repeat_interleave_with_dim", (A, numpy.array([1, 2]), 0, 3), numpy.repeat(A, [1, 2], 0)),
    ("channel_shuffle", (A[..., None], 3), A[..., None]),
    ("im2col", (A[None], [1, 2], [1, 1], [0, 0], [1, 1]), numpy.array([[1, -2, 4, 5], [-2, 3, 5, -6]], "f4")),
    ("convolution", (A[None], numpy.array([[[1, 0], [0, 1]]], "f4"), None, [1], [0], [1], False, [0], 1),
     numpy.array([[[6, -8]]], "f4")),
    ("convolution", (A[None], numpy.ones((2, 1, 1), "f4"), None, [2], [0], [1], True, [0], 1),
     numpy.array([[[5, 0, 3, 0, -3]]], "f4")),
    ("conv_depthwise2d", (A[None, None], numpy.ones((1, 1, 2, 2), "f4"), [2, 2], None, [1, 1], [0, 0], [1, 1]),
     numpy.array([[[[8, 0]]]], "f4")),
    ("conv_tbc", (A[:, None], numpy.ones((1, 3, 1), "f4"), numpy.zeros(1, "f4"), 0),
     numpy.array([[[2]], [[3]]], "f4")),
    ("ger", (ROW, ROW[:2]), numpy.multiply.outer(ROW, ROW[:2])),
    ("addr", (B, A[0, :2], ROW), B + numpy.multiply.outer(A[0, :2], ROW)),
    ("addbmm", (B, A[:, :, None], B[None].repeat(2, 0), 1, 1), B + (A[:, :, None] * B).sum(0)),
    ("gemm", (A, A, ROW, 2.0, 1.0, 1, 0), 2 * A.T @ A + ROW),
    ("inverse", (numpy.array([[0, 2], [4, 0]], "f4"),), numpy.array([[0, 0.25], [0.5, 0]], "f4")),
    ("logdet", (numpy.array([[[2, 1], [0, 3]]], "f4"),), numpy.log(numpy.array([6], "f4"))),
    ("mse_loss", (A, B, 0), (A - B) ** 2),
    ("mse_loss", (A, B, 1), ((A - B) ** 2).mean()),
    ("l1_loss_backward", (ROW, A, B, 2), ROW * numpy.sign(A - B)),
    ("kl_div", (A, A * 0 + 1, 3, False), -A.sum() / 2),
    ("nll_loss_backward", (ROW[:1], A, INDEX, ROW, 2, 0, ROW[:1]), numpy.array([[0, 0, -6], [0, 0, 0]], "f4")),
    ("im2col_backward", (A[:, :2], [1, 3], [1, 2], [1, 1], [0, 0], [1, 1]), numpy.array([[[1, 2, 5]]], "f4")),
    ("avg_pool2d", (A[None], [2, 1], [1], [0], False, True, 0, 0), A.mean(0)[None, None]),
    ("max_pool", (A[None], [2, 1], [1], 0, [0], [1], 0), A.max(0)[None, None]),
    ("adaptive_avg_pool2d", (A[None], [1, 3]), A.mean(0)[None, None]),
    ("avg_pool2d_backward", (A[None, :1], A[None], [2, 1], [1], [0], False, True, 0, 0), (A[:1] / 2 + A * 0)[None]),
    ("upsample_nearest2d", (A[None, None], [4, 3]), A.repeat(2, 0)[None, None]),
    ("upsample_nearest1d_backward", (A[None], [3], [1, 2, 3], 0.0), A[None]),
    ("grid_sampler2_d", (A[None, None], A[None, :1, None, :2] * 0, 0, 0, False), numpy.full((1, 1, 1, 1), 1.5, "f4")),
    ("linalg_cross", (A, A[::-1], 1), numpy.array([numpy.cross(A[0], A[1]), numpy.cross(A[1], A[0])])),
)


@pytest.mark.parametrize("queued", [False, True], ids=["at once", "queued"])
@pytest.mark.parametrize("name, given, expected", RESULTS, ids=[row[0] for row in RESULTS])
def test_result(name, given, expected, queued, stream):
    arguments = [to_device(value) for value in given]
    found = getattr(nn, name)(*arguments, **({"stream": stream} if queued else {}))
    assert (found.shape, found.dtype) == (numpy.shape(expected), numpy.asarray(expected).dtype)
    assert numpy.allclose(found.to_numpy(), expected, rtol=1e-4, atol=1e-5)


def test_a_list_of_results():
    a, row = put(A), put(ROW)
    for found, expected in (
        (nn.foreach_abs([a, row]), [numpy.abs(A), ROW]),
        (nn.foreach_add_list_v2([a, row], [a, row], 0.5), [1.5 * A, 1.5 * ROW]),
        (nn.foreach_mul_scalar_list([a, row], [2.0, 3.0]), [2 * A, 3 * ROW]),
        (nn.foreach_norm([a, row], 1), [numpy.abs(A).sum(), ROW.sum()]),
    ):
        assert [each.to_numpy().tolist() for each in found] == [each.tolist() for each in expected]


def test_several_results():
    values, places = nn.max_dim(put(A), 1)
    assert values.to_numpy().tolist() == [3, 5] and places.to_numpy().tolist() == [2, 1]
    values, places = nn.kthvalue(put(A), 2, 1)
    assert values.to_numpy().tolist() == [1, 4] and places.to_numpy().tolist() == [0, 0]
    least, most = nn.aminmax(put(A), [1])
    assert least.to_numpy().tolist() == [-2, -6] and most.to_numpy().tolist() == [3, 5]
    y, rstd = nn.rms_norm(put(A), put(ROW))
    assert rstd.shape == (2, 1)
    assert numpy.allclose(y.to_numpy(), A * ROW * rstd.to_numpy(), rtol=1e-5)


def test_results_of_matrices():
    matrix = numpy.array([[2, 1], [0, -4]], "f4")
    sign, log = nn.slogdet(put(matrix))
    assert sign.to_numpy() == -1 and numpy.allclose(log.to_numpy(), numpy.log(8))
    solution, copy = nn.triangular_solve(put(numpy.array([[4], [8]], "f4")), put(matrix[None]), True, False, False)
    assert solution.to_numpy().tolist() == [[[3], [-2]]] and copy.to_numpy().tolist() == [matrix.tolist()]
    for mode, shape in enumerate([(3, 2), (3, 3), (0,)]):
        q, r = nn.linalg_qr(put(A.T), mode)
        assert (q.shape, r.shape) == (shape, (3, 2) if mode == 1 else (2, 2))
    for full, wanted, shapes in (
        (True, True, [(2,), (2, 2), (3, 3)]), (False, True, [(2,), (2, 2), (3, 2)]), (True, False, [(2,), (0,), (0,)])
    ):  # fmt: skip
        assert [one.shape for one in nn.svd(put(A), full, wanted)] == shapes
    gradients = nn.conv_tbc_backward(put(A[:, None]), put(A[:, None]), put(numpy.ones((1, 3, 3), "f4")), put(ROW), 0)
    assert [gradient.shape for gradient in gradients] == [(2, 1, 3), (1, 3, 3), (3,)]
    q, r = nn.qr(put(A.T), True)
    assert numpy.allclose(q.to_numpy() @ r.to_numpy(), A.T, atol=1e-5)
def test_a_loss_and_the_sum_of_its_weights():
    for reduction, expected in ((0, [-6, 0]), (2, -6)):
        loss, total = nn.nll_loss(put(A), put(INDEX), put(ROW), reduction, 0)
        assert loss.to_numpy().tolist() == expected and total.to_numpy().tolist() == [2]
    losses, logarithms, *_ = nn.cross_entropy_loss(put(A), put(INDEX), None, "none", -100, 0.0, 0.0, False)
    assert numpy.allclose(logarithms.to_numpy(), numpy.log(softmax(A)), rtol=1e-5)
    assert losses.to_numpy().tolist() == [-logarithms.to_numpy()[0, 2], -logarithms.to_numpy()[1, 0]]
    loss, marks = nn.multilabel_margin_loss(put(A), put(numpy.array([[0, 2, -1], [1, -1, 2]])), 0)
    assert marks.to_numpy().tolist() == [[1, 0, 1], [0, 1, 0]]
    assert loss.to_numpy().tolist() == [0, 0]


def test_pools_with_indices_and_masks():
    values, places = nn.max_pool2d_with_indices(put(A[None]), [2, 1], [1], [0], [1], False)
    assert values.to_numpy().tolist() == [[[4, 5, 3]]] and places.to_numpy().tolist() == [[[3, 4, 2]]]
    values, mask = nn.max_pool2d_with_mask(put(A[None]), [2, 1], [1], [0], [1], False)
    assert values.to_numpy().tolist() == [[[4, 5, 3]]] and mask.shape == (1, 2, 64)
    assert mask.to_numpy()[..., 0].tolist() == [[4, 3]]


def test_gradients_of_an_array_and_its_weight():
    slopes, weights = nn.prelu_backward(put(B + A * 0), put(A), put(ROW))
    assert slopes.to_numpy().tolist() == numpy.where(A > 0, B, B * ROW).tolist()
    assert weights.to_numpy().tolist() == numpy.where(A > 0, 0, A * B).sum(0).tolist()


def test_optional_results_are_given_by_out():
    x = put(A)
    out, mean = acl.DeviceArray(A.shape), acl.DeviceArray((2, 1))
    given = out, mean, None
    assert nn.layer_norm(x, [3], out=given) is given
    assert numpy.allclose(mean.to_numpy(), A.mean(1, keepdims=True))
    assert nn.layer_norm(x, [3], out=out) is out


def test_results_of_norms():
    y, rstd, total = nn.add_rms_norm(put(A), put(A), put(ROW), 1e-6)
    assert total.to_numpy().tolist() == (A + A).tolist()
    assert rstd.shape == (2, 1) and numpy.allclose(y.to_numpy(), 2 * A * ROW * rstd.to_numpy(), rtol=1e-5)
    mean, _, y = nn.deep_norm(put(A), put(A), put(ROW), put(ROW), 1.0, 1e-5)
    assert numpy.allclose(mean.to_numpy(), 2 * A.mean(1, keepdims=True))
    assert numpy.allclose(y.to_numpy(), normal(2 * A) * ROW + ROW, rtol=1e-4)
    y, mean, _ = nn.group_norm(put(A), None, None, 2, 3, 1, 1, 1e-5)
    assert mean.shape == (2, 1) and numpy.allclose(y.to_numpy(), normal(A), rtol=1e-4)
    mean, rstd = nn.batch_norm_stats(put(A), 1e-5)
    assert mean.to_numpy().tolist() == A.mean(0).tolist() and rstd.shape == (3,)
    batch = put(A), None, None
    y, mean, rstd = nn.batch_norm(*batch, None, None, True, 0.1)  # its gradient needs the statistics
    assert numpy.allclose(mean.to_numpy(), A.mean(0)) and rstd.shape == (3,)
    same = nn.batch_norm(*batch, mean, put(A.var(0)), False, 0.1)
    assert numpy.allclose(same.to_numpy(), y.to_numpy(), rtol=1e-5)
    below, scales = nn.rms_norm_grad(put(A), put(A), put(ROW[:2]), put(ROW))
    assert (below.shape, scales.shape) == ((2, 3), (3,))


def test_results_of_attention():
    """Equal keys have equal weights, whatever the query is."""
    query, values = numpy.ones((2, 3, 4, 16), "f2"), numpy.arange(2 * 2 * 16).reshape(2, 2, 1, 16).astype("f2")
    mean = numpy.broadcast_to(values.mean(1, keepdims=True), query.shape)
    given = {"input_layout": "BSND", "num_heads": 4, "num_key_value_heads": 1, "scale_value": 1.0}
    tensors = [put(query), *(put(each) for each in (numpy.ones_like(values), values))]
    none = {name: None for name in ("pse_shift", "atten_mask", "actual_seq_lengths")}
    bands = {"pre_tokens": 9, "next_tokens": 9}
    out = nn.prompt_flash_attention(*tensors, **none, **given, **bands)
    assert out.shape == query.shape and out.dtype == query.dtype
    assert numpy.allclose(out.to_numpy(), mean, rtol=1e-3)
    flat = [array.to_numpy().reshape(2, array.shape[1], -1) for array in tensors]
    out = nn.incre_flash_attention(
        put(flat[0][:, :1]), [put(flat[1])], [put(flat[2])], **none, **{**given, "input_layout": "BSH"}
    )
    assert numpy.allclose(out.to_numpy(), mean[:, :1].reshape(2, 1, -1), rtol=1e-3)


def test_out_is_written_and_returned():
    a, b = put(A), put(B)
    out = acl.DeviceArray(A.shape)
    for factor in (1, 2.0, -0.0, 0.0, True, numpy.float16(3)):
        assert nn.add(a, b, factor, out=out) is out
        assert out.to_numpy().tolist() == (A + float(factor) * B).tolist()


def test_a_view_is_written_in_place():
    whole = put(numpy.zeros((4, 3), "f4"))
    nn.add(put(A), put(B), out=whole[::2, ::-1])
    assert whole.to_numpy().tolist() == [*numpy.insert((A + B)[:, ::-1], 1, 0, 0).tolist(), [0, 0, 0]]


def test_operators_that_change_their_arguments_return_these():
    a = put(A)
    assert nn.inplace_add(a, put(B)) is a
    assert nn.inplace_copy(a, put(B)) is a and a.to_numpy().tolist() == [[2, 2, 2]] * 2


def test_type_left_out_is_that_of_out():
    out = acl.DeviceArray(A.shape, "f2")
    assert nn.cast(put(A), out=out).to_numpy().tolist() == A.tolist()


# --- What is kept


def calls_of(name):
    return resource.openings[0].keep.get(f"acl.nn.{name}", {})


def test_a_signature_is_planned_once():
    op.forget()  # what other tests have planned
    a, b, out = put(A), put(B), acl.DeviceArray(A.shape)
    for _ in range(3):
        nn.add(a, b, out=out)
        nn.add(put(A), put(B), out=out)  # at other addresses
        nn.add(put(A + 1), put(B))
        assert out.to_numpy().tolist() == (A + B).tolist()
    assert [len(calls) for calls in calls_of("add").values()] == [1]


def test_every_address_is_followed():
    a, b, c = put(A), put(A + 10), put(numpy.zeros_like(A))
    for one, other, out in ((a, a, c), (a, b, c), (b, a, c), (b, b, c), (a, b, a)):
        expected = one.to_numpy() + other.to_numpy()
        assert nn.add(one, other, out=out).to_numpy().tolist() == expected.tolist()
    for lists in ([a, b], [b, a], [c, c]):
        expected = numpy.concatenate([array.to_numpy() for array in lists])
        assert nn.cat(lists, 0).to_numpy().tolist() == expected.tolist()


@pytest.mark.needs_sim
def test_nothing_is_left_at_the_end(opened):
    with acl.Stream() as stream:
        a = put(A)
        for number in range(op.SIGNATURES + 10):
            nn.adds(a, number)
        nn.cat([a, a], 0, stream=stream)
        nn.softmax(a, 0, stream=stream)
        assert len(calls_of("adds")) == op.SIGNATURES
    acl.Device(0).close()
    counted = {kind: acl.sim.live(kind) for kind in ("tensor", "scalar", "executor")}
    acl.Device(0).use()
    assert counted == {"tensor": 0, "scalar": 0, "executor": 0}


@pytest.mark.needs_sim
def test_a_call_that_is_refused_leaves_nothing():
    a, b = put(A), put(ROW[:2])
    before = acl.sim.live()
    for _ in range(3):
        with pytest.raises(acl.OperatorError):
            nn.add(a, b, out=a)
    assert acl.sim.live() == before


def test_arrays_of_queued_work_are_kept(stream):
    before = free_memory()
    out = acl.DeviceArray(1 << 20)
    with held(stream) as latch:
        nn.add(acl.DeviceArray.zeros(1 << 20), acl.DeviceArray.zeros(1 << 20), out=out, stream=stream)
        assert free_memory() < before - (8 << 20)
        latch.release()
        stream.synchronize()
    assert out.to_numpy().sum() == 0


def test_without_a_stream_it_comes_after_what_is_queued(stream):
    a = acl.DeviceArray.zeros(8, "u1")
    with held(stream) as latch:
        a.fill(5, stream=stream)
        latch.release()
        assert nn.adds(a, 1).to_numpy().tolist() == [6] * 8


def test_a_captured_operator_runs_at_each_replay(stream):
    a, b = put(A), put(B)
    nn.inplace_add(a, b, stream=stream)  # planned before
    stream.synchronize()
    assert acl.mdl.ri_capture_begin(stream.handle, 0) == 0
    nn.inplace_add(a, b, stream=stream)
    total = nn.reduce_sum(a, stream=stream)
    instance, ret = acl.mdl.ri_capture_end(stream.handle)
    assert ret == 0
    for rounds in range(2, 5):
        assert acl.mdl.ri_execute_async(instance, stream.handle) == 0
        stream.synchronize()
        assert total.item() == (A + rounds * B).sum()
    assert acl.mdl.ri_destroy(instance) == 0


def test_a_captured_operator_keeps_its_addresses(stream):
    """Running the same signature elsewhere afterwards does not move what was captured."""
    a, b, out = put(A), put(B), acl.DeviceArray(A.shape)
    assert acl.mdl.ri_capture_begin(stream.handle, 0) == 0
    nn.add(a, b, out=out, stream=stream)
    instance, ret = acl.mdl.ri_capture_end(stream.handle)
    assert ret == 0
    nn.add(put(A * 0), put(B * 0), out=acl.DeviceArray(A.shape))
    assert acl.mdl.ri_execute_async(instance, stream.handle) == 0
    stream.synchronize()
    assert out.to_numpy().tolist() == (A + B).tolist()
    assert acl.mdl.ri_destroy(instance) == 0


@pytest.mark.needs_sim
@pytest.mark.usefixtures("clean")
def test_a_kernel_given_later_is_used():
    a = put(A)
    nn.neg(a)

    @acl.sim.kernel("aclnnNeg")
    def seven(self, out):
        out[...] = 7

    assert nn.neg(a).to_numpy().tolist() == [[7] * 3] * 2


@pytest.mark.needs_sim
@pytest.mark.usefixtures("clean")
def test_workspace_is_kept_by_the_stream():
    @acl.sim.kernel("aclnnNeg", plan=lambda self, out: 1 << 20)
    def negative(self, out):
        out[...] = -self

    with acl.Device(0), acl.Stream() as stream:
        a, out = put(A), acl.DeviceArray(A.shape)
        nn.neg(a, out=out, stream=stream)
        address = op.workspaces[stream].address
        free = free_memory()
        for _ in range(3):
            nn.neg(a, out=out, stream=stream)
        assert op.workspaces[stream].address == address and free_memory() == free
        assert acl.mdl.ri_capture_begin(stream.handle, 0) == 0
        nn.neg(a, out=out, stream=stream)
        assert free_memory() < free  # the capture has its own
        instance, ret = acl.mdl.ri_capture_end(stream.handle)
        assert ret == 0 and acl.mdl.ri_execute_async(instance, stream.handle) == 0
        stream.synchronize()
        assert out.to_numpy().tolist() == (-A).tolist()
        assert acl.mdl.ri_destroy(instance) == 0 and free_memory() == free
        for _ in range(2):  # at once: one that the device keeps
            nn.neg(a, out=out)
            assert free - (2 << 20) <= free_memory() < free


# --- Names and signatures


def test_every_operator_has_its_function():
    assert dir(nn) == sorted(TABLE)
    for name, row in TABLE.items():
        try:
            function = getattr(nn, name)
        except AttributeError as error:
            assert acl.backend == "npu" and f"needs CANN {row['needs']}: " in str(error)
            continue
        parameters = inspect.signature(function).parameters
        inputs = [item[1] for item in row["parameters"] if item[2].rstrip("?") != "out"]
        assert [name for name in parameters if name in inputs] == inputs
        assert list(parameters)[-1] == "stream" and row["name"] in function.__doc__
    assert nn.add is nn.add
    assert str(inspect.signature(nn.add)) == "(self, other, alpha=1, *, out=None, stream=None)"
    assert str(inspect.signature(nn.inplace_copy)) == "(self_ref, src, *, stream=None)"


def test_rules_are_of_operators_of_the_table():
    assert set(op_table.RULES) <= set(TABLE)


def test_the_stub_has_every_operator():
    names = [line.split("(")[0] for line in op_signature.stub_of(TABLE).splitlines() if line.startswith("def ")]
    assert names == [f"def {name}" for name in sorted(TABLE)]


def test_an_unknown_operator():
    with raises(AttributeError, "no operator 'matmull'", "did you mean matmul"):
        nn.matmull  # noqa: B018


TYPES = (
    ("f4", "f8", "f8"), ("f2", "f4", "f4"), ("i1", "u1", "i2"), ("u1", "i4", "i4"), ("i4", "f2", "f2"),
    ("?", "i8", "i8"), ("f8", "c8", "c16"), ("f4", "c8", "c8"), ("u2", "u2", "u2"),
)  # fmt: skip


@pytest.mark.parametrize("one, other, expected", TYPES)
def test_where_types_meet(one, other, expected):
    one, other = numpy.dtype(one), numpy.dtype(other)
    assert op_types.meet(one, other) == op_types.meet(other, one) == numpy.dtype(expected)


@pytest.mark.parametrize("given", [{}, {"alpha": 1}, {"alpha": True}])
def test_the_default_factor_fits_truth_values(given):
    left = acl.DeviceArray.from_numpy(numpy.array([True, False, False]))
    right = acl.DeviceArray.from_numpy(numpy.array([True, True, False]))
    result = nn.add(left, right, **given)
    assert result.dtype == bool and result.to_numpy().tolist() == [True, True, False]
    with pytest.raises(acl.OperatorError, match="alpha is int64, which cannot be cast to bool"):
        nn.add(left, right, alpha=2)
