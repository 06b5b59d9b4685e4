"""Empty tensors, tensors without dimensions, and tensors that several threads compute, against PyTorch."""

import math

import pytest
import torch
from helpers.torch_peer import SINGLE, TYPES, Source, each, pointwise, same, summed

pytestmark = [pytest.mark.torch, pytest.mark.needs_sim]
F = torch.nn.functional
aten = torch.ops.aten

EMPTY = torch.zeros(2, 0, 3)
# The operator, its arguments before the output, the value.
EMPTIES = [
    ("reduce_sum", (EMPTY, [1], False, torch.float32), EMPTY.sum(1)),
    ("reduce_sum", (EMPTY, [0, 1, 2], True, torch.float32), EMPTY.sum((0, 1, 2), True)),
    ("reduce_nansum", (EMPTY, [1], False, torch.float32), EMPTY.nansum(1)),
    ("mean", (EMPTY, [1], False, torch.float32), EMPTY.mean(1)),
    ("mean", (EMPTY, [0, 1, 2], False, torch.float32), EMPTY.mean()),
    ("prod", (EMPTY, torch.float32), EMPTY.prod()),
    ("prod_dim", (EMPTY, 1, True, torch.float32), EMPTY.prod(1, True)),
    ("all", (EMPTY, [1], False), EMPTY.all(1)),
    ("any", (EMPTY, [1], False), EMPTY.any(1)),
    ("all", (EMPTY, [0, 1, 2], False), EMPTY.all()),
    ("amax", (EMPTY, [0], False), EMPTY.amax(0)),
    ("log_sum_exp", (EMPTY, [1], False), EMPTY.logsumexp(1)),
    ("var_correction", (EMPTY, [1], 1, False), EMPTY.var(1)),
    ("linalg_vector_norm", (EMPTY, 2.0, [1], False, torch.float32), torch.linalg.vector_norm(EMPTY, 2, 1)),
    ("cumsum", (EMPTY, 1, torch.float32), EMPTY.cumsum(1)),
    ("softmax", (EMPTY, 1), EMPTY.softmax(1)),
    ("log_softmax", (EMPTY, 0), EMPTY.log_softmax(0)),
    ("argsort", (EMPTY, 1, False), EMPTY.argsort(1)),
    ("mse_loss", (EMPTY, EMPTY, 1), torch.tensor(math.nan)),
    ("mse_loss", (EMPTY, EMPTY, 2), torch.tensor(0.0)),
    ("l1_loss", (EMPTY, EMPTY, 1), torch.tensor(math.nan)),
    ("smooth_l1_loss", (EMPTY, EMPTY, 2, 1.0), torch.tensor(0.0)),
    ("roll", (EMPTY, [1], [0]), EMPTY),
    ("flip", (EMPTY, [0]), EMPTY),
    ("triu", (EMPTY, 0), EMPTY),
    ("constant_pad_nd", (EMPTY, [0, 0, 1, 1], 5.0), F.pad(EMPTY, [0, 0, 1, 1], value=5.0)),
    ("cat", ([EMPTY, torch.ones(2, 1, 3), EMPTY], 1), torch.ones(2, 1, 3)),
    ("index_select", (torch.ones(3, 2), 0, torch.zeros(0, dtype=torch.int64)), torch.ones(0, 2)),
    ("embedding", (torch.ones(3, 2), torch.zeros(0, dtype=torch.int64)), torch.ones(0, 2)),
    ("embedding_dense_backward", (torch.ones(0, 2), torch.zeros(0, dtype=torch.int64), 3, 2**64 - 1, False),
     torch.zeros(3, 2)),
    ("scatter", (torch.ones(3, 2), 0, torch.zeros(0, 2, dtype=torch.int64), torch.ones(0, 2), 0), torch.ones(3, 2)),
    ("gather", (torch.ones(3, 2), 0, torch.zeros(0, 2, dtype=torch.int64)), torch.ones(0, 2)),
    ("index_add", (torch.ones(3, 2), 0, torch.zeros(0, dtype=torch.int64), torch.ones(0, 2), 1.0), torch.ones(3, 2)),
    ("bincount", (torch.zeros(0, dtype=torch.int64), None, 4), torch.zeros(4, dtype=torch.int64)),
    ("histc", (torch.zeros(0), 4, 0.0, 1.0), torch.zeros(4)),
    ("equal", (EMPTY, EMPTY), torch.tensor(True)),
    ("equal", (EMPTY, torch.zeros(2, 3, 0)), torch.tensor(False)),
    ("dot", (torch.zeros(0), torch.zeros(0)), torch.tensor(0.0)),
]  # fmt: skip


@pytest.mark.parametrize("case", EMPTIES, ids=lambda case: case[0])
def test_empty_tensors(peer, case):
    name, arguments, expected = case
    out = torch.full(expected.shape, 7).to(expected.dtype)
    same(peer.run(name, *arguments, out), expected, name)


def test_products_of_nothing(peer):
    for kind in SINGLE.split():
        x, y = torch.zeros(3, 0, dtype=TYPES[kind]), torch.zeros(0, 2, dtype=TYPES[kind])
        out = torch.full((3, 2), 7, dtype=TYPES[kind])
        peer.run("mm", x, y, out, 0)
        same(out, torch.zeros(3, 2), kind)
        out = torch.full((3, 2), 7, dtype=TYPES[kind])
        peer.run("addmm", torch.ones(2, dtype=TYPES[kind]), x, y, 3.0, 1.0, out, 0)
        same(out, torch.full((3, 2), 3.0), kind)
        peer.run("batch_mat_mul", x.expand(0, 3, 0), y.expand(0, 0, 2), torch.zeros(0, 3, 2, dtype=TYPES[kind]), 0)


def test_empty_batches(peer):
    x, weight = torch.zeros(0, 2, 5, 5), torch.ones(3, 2, 3, 3)
    window = [1, 1], [0, 0], [1, 1], False, [0, 0], 1
    peer.run("convolution", x, weight, None, *window, torch.zeros(0, 3, 3, 3), 0)
    peer.run("layer_norm", torch.zeros(0, 3), [3], None, None, 1e-5, torch.zeros(0, 3), None, None)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.0, 3.5])
def test_tensors_without_dimensions(peer, value):
    x = torch.tensor(value)
    for name, arguments, expected in (
        ("reduce_sum", ([], False, torch.float32), x.sum()),
        ("amax", ([], False), x.amax()),
        ("cumsum", (0, torch.float32), x.cumsum(0)),
        ("softmax", (-1,), x.softmax(-1)),
        ("argsort", (0, True), x.argsort(0, True)),
        ("repeat", ([2, 3],), x.repeat(2, 3)),
        ("arg_max", (0, False), x.argmax(0)),
    ):
        same(peer.run(name, x, *arguments, torch.zeros_like(expected)), expected, (name, value))


@pytest.mark.parametrize("kind", SINGLE.split())
def test_extreme_rows(peer, kind):
    """Rows of infinities, of NaN, of the largest and of the smallest numbers."""
    info = torch.finfo(TYPES[kind])
    rows = [math.inf, -math.inf, math.nan, info.max, info.min, info.tiny, info.tiny / 8, 0.0, -0.0]
    x = torch.tensor(rows, dtype=torch.float64).to(TYPES[kind]).repeat_interleave(4).reshape(-1, 4).contiguous()
    mixed = x.clone()
    mixed[:, 1] = 1.0
    for rows in (x, mixed):
        wide = rows.double()
        for name, expected, arguments in (
            ("softmax", wide.softmax(1), (1,)),
            ("log_softmax", wide.log_softmax(1), (1,)),
            ("log_sum_exp", rows.float().logsumexp(1) if kind != "f4" else rows.logsumexp(1), ([1], False)),
            ("amax", rows.amax(1), ([1], False)),
            ("reduce_nansum", rows.float().nansum(1), ([1], False, rows.dtype)),
        ):
            found = peer.run(name, rows, *arguments, torch.zeros(expected.shape, dtype=rows.dtype))
            pointwise(found, expected, (name, kind), error=1e-2 if kind != "f4" else 1e-6)
        out, mean, rstd = torch.zeros_like(rows), torch.zeros(len(rows), 1), torch.zeros(len(rows), 1)
        peer.run("layer_norm", rows, [4], None, None, 1e-5, out, mean, rstd)
        expected = F.layer_norm(rows.float(), [4])
        finite = rows.float().abs().amax(1) < 1e15  # squares of larger numbers overflow in PyTorch
        same(out.isnan()[finite], expected.isnan()[finite], ("layer_norm", kind))
        out = torch.zeros_like(rows)
        peer.run("rms_norm", rows, torch.ones(4, dtype=rows.dtype), 1e-6, out, rstd)
        expected = F.rms_norm(rows.float(), [4], None, 1e-6)
        same(out.isnan()[finite], expected.isnan()[finite], ("rms_norm", kind))



def test_large_pointwise(peer):
    source = Source("large")
    for kind in ("f4", "f2", "b2"):
        x, y = source.take([300, 1001], kind), source.take([300, 1001], kind)
        for name, function in {"exp": torch.exp, "tanh": torch.tanh, "rsqrt": torch.rsqrt}.items():
            pointwise(peer.run(name, x, source.like(x)), function(x.double()), (name, kind))
        pointwise(peer.run("mul", x, y, source.like(x)), x.double() * y.double(), ("mul", kind))
        row = source.take([1001], kind)
        pointwise(peer.run("div", x, row, source.like(x)), x.double() / row.double(), ("div", kind))
    whole, other = source.take([123457], "i8"), source.take([123457], "i4")
    same(peer.run("add", whole, other, 3, source.like(whole)), whole + 3 * other)


def test_large_reductions(peer):
    source = Source("large reductions")
    for kind in SINGLE.split():
        for shape, dims in (([700000], [0]), ([3, 90001], [1]), ([90001, 3], [0]), ([50, 60, 70], [0, 2])):
            x = source.take(shape, kind, wild=False)
            size = x.double().abs().sum(dims)
            found = source.blank(size.shape, kind)
            peer.run("reduce_sum", x, dims, False, x.dtype, found)
            summed(found, x.double().sum(dims), size, (kind, shape))
            if len(dims) == 1:
                summed(peer.run("cumsum", x, dims[0], x.dtype, source.like(x)), x.double().cumsum(dims[0]),
                       x.double().abs().cumsum(dims[0]), (kind, shape, "cumsum"))  # fmt: skip
                values, places = x.max(dims[0])
                out, indices = source.like(values), source.like(places)
                peer.run("max_dim", x, dims[0], False, out, indices)
                same(out, values, (kind, shape))
                same(indices, places, (kind, shape))
                expected = x.double().softmax(dims[0])
                summed(peer.run("softmax", x, dims[0], source.like(x)), expected, expected + 1e-6, (kind, shape))
            found = source.blank(size.shape, kind)
            peer.run("var_correction", x, dims, 1, False, found)
            summed(found, x.double().var(dims), 16.0, (kind, shape, "var"))


def test_large_moves(peer):
    source = Source("large moves")
    for kind in ("f4", "i8", "u1"):
        x = source.take([311, 503], kind, wild=False)
        values, places = torch.sort(x, dim=0, stable=True, descending=True)
        out, indices = source.like(values), source.like(places)
        peer.run("sort", x, True, 0, True, out, indices)
        same(out, values, kind)
        same(indices, places, kind)
        index = source.take([100000], "i8", low=0, high=310)
        same(peer.run("index_select", x[:, :7], 0, index, source.blank([100000, 7], kind)), x[:, :7][index], kind)
        same(peer.run("permute", x, [1, 0], source.blank([503, 311], kind)), x.T, kind)
        same(peer.run("cat", [x, x, x], 1, source.blank([311, 1509], kind)), torch.cat([x, x, x], 1), kind)
        same(peer.run("roll", x, [100, -9], [0, 1], source.like(x)), x.roll([100, -9], [0, 1]), kind)
    line = source.take([200000], "f4")
    values, places = torch.sort(line, stable=True)
    out, indices = source.like(values), source.like(places)
    peer.run("sort", line, True, 0, False, out, indices)
    same(out, values)
    same(indices, places)
    values, _ = torch.topk(line, 777)
    out, indices = source.like(values), source.blank([777], "i8")
    peer.run("topk", line, 777, 0, True, True, out, indices)
    same(out, values)
    x, index = torch.zeros(1000), source.take([300000], "i8", low=0, high=999)
    src = source.take([300000], "f4", wild=False)
    expected = torch.zeros(1000, dtype=torch.float64).scatter_add(0, index, src.double())
    size = torch.zeros(1000, dtype=torch.float64).scatter_add(0, index, src.double().abs())
    summed(peer.run("scatter_add", x, 0, index, src, source.like(x)), expected, size, part=1e-4)


def test_large_networks(peer):
    for kind, source in each(SINGLE, "large networks", rounds=1):
        x, weight = source.take([3, 16, 40, 37], kind, wild=False), source.take([24, 16, 3, 3], kind, wild=False)
        window = [1, 2], [1, 1], [1, 1], False, [0, 0], 1
        expected = aten.convolution(x.double(), weight.double(), None, *window)
        size = aten.convolution(x.double().abs(), weight.double().abs(), None, *window)
        out = source.like(expected, kind)
        peer.run("convolution", x, weight, None, *window, out, 0)
        summed(out, expected, size, kind)
        one, other = source.take([257, 390], kind, wild=False), source.take([390, 310], kind, wild=False)
        out = source.blank([257, 310], kind)
        peer.run("mm", one, other, out, 0)
        summed(out, one.double() @ other.double(), one.double().abs() @ other.double().abs(), kind)
        rows, gamma = source.take([500, 771], kind, wild=False), source.take([771], kind, wild=False)
        out, mean, rstd = source.like(rows), source.blank([500, 1], "f4"), source.blank([500, 1], "f4")
        peer.run("layer_norm", rows, [771], gamma, None, 1e-5, out, mean, rstd)
        expected = F.layer_norm(rows.double(), [771], gamma.double())
        summed(out, expected, None, kind)
        images = source.take([2, 5, 60, 70], kind, wild=False)
        expected, places = F.max_pool2d(images.float(), 3, 2, 1, return_indices=True)
        out, indices = source.like(expected, kind), source.like(places, "i4")
        peer.run("max_pool2d_with_indices", images, [3, 3], [2, 2], [1, 1], [1, 1], False, out, indices)
        same(out, expected.to(images.dtype), kind)
        same(indices, places, kind)
