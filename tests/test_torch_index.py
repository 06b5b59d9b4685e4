"""Indexing, copies, pads and other moves of elements against PyTorch."""

import pytest
import torch
from helpers.torch_peer import FLOATS, INTEGERS, REAL, SINGLE, documented, each, pointwise, same, summed

pytestmark = [pytest.mark.torch, pytest.mark.needs_sim]
F = torch.nn.functional
aten = torch.ops.aten
ANY = f"{REAL} c8"


def a_dim(source, rank):
    return source.random.randrange(-rank, rank) if rank else source.one(0, -1)


def indices(source, shape, length):
    """Return indices into a dimension."""
    return source.take(shape, source.one("i4", "i8"), low=0, high=length - 1)


# --- Moves: the function of the operand and of the arguments, which are drawn for a shape


def pads(source, shape, dims, most=None):
    """Return padding sizes for the last dimensions, which reflection keeps below the size."""
    found = []
    for dim in reversed(shape[len(shape) - dims :]):
        found += [source.random.randint(0, dim - 1 if most is None else most) for _ in range(2)]
    return found


def permutation(source, shape):
    return [axis - source.one(0, len(shape)) for axis in source.random.sample(range(len(shape)), len(shape))]


def some(source, shape):
    """Return some dimensions, at least one."""
    return [axis - source.one(0, len(shape)) for axis in permutation(source, shape)][: source.random.randint(1, 4)]


MOVES = {
    "flip": (lambda x, d: torch.flip(x, d), lambda s, shape: (s.random.sample(range(len(shape)), 1),)),
    "permute": (lambda x, d: torch.permute(x, d), lambda s, shape: (permutation(s, shape),)),
    "roll": (
        lambda x, n, d: torch.roll(x, n, d),
        lambda s, shape: ([s.random.randint(-7, 7)], s.random.sample(range(len(shape)), 1)),
    ),
    "repeat": (
        lambda x, n: x.repeat(n),
        lambda s, shape: ([s.random.randint(0, 3) for _ in range(len(shape) + s.one(0, 1))][:4],)
    ),
    "diag_flat": (lambda x, d: torch.diagflat(x, d), lambda s, shape: (s.random.randint(-3, 3),)),
    "slice": (
        lambda x, d, b, e, n: aten.slice(x, d, b, e, n),
        lambda s, shape: (a_dim(s, len(shape)), s.random.randint(-6, 6), s.random.randint(-6, 9), s.one(1, 2, 3)),
    ),
    "constant_pad_nd": (
        lambda x, p, v: F.pad(x, p, value=v),
        lambda s, shape: ([s.random.randint(0, 2) for _ in range(2 * s.random.randint(1, len(shape)))], 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
def test_moves(peer, name):
    function, draw = MOVES[name]
    for kind, source in each(ANY, name):
        with documented(kind):
            x = source.take(source.shape(least=1, size=4), kind)
            if name == "diag_flat" and x.numel() > 100:
                continue
            further = draw(source, list(x.shape))
            expected = function(x, *further)
            same(peer.run(name, x, *further, source.like(expected)), expected, (name, kind, further))


def test_pads_of_negative_sizes(peer):
    for kind, source in each("f4 i8", "crop"):
        x = source.take(source.shape(least=2, size=6, empty=False), kind)
        sizes = [source.random.randint(-min(2, (dim - 1) // 2), 2) for dim in reversed(x.shape) for _ in range(2)]
        expected = F.pad(x, sizes, value=7)
        same(peer.run("constant_pad_nd", x, sizes, 7, source.like(expected)), expected, (kind, sizes))


MODES = {"reflection": "reflect", "replication": "replicate", "circular": "circular"}
# Without CircularPad1d, which the operators do not have.
PADS = [(name, dims) for name in MODES for dims in (1, 2, 3) if (name, dims) != ("circular", 1)]


def padded(source, kind, name, dims):
    """Return an operand and padding sizes; circular pads have a batch in PyTorch."""
    lead = [2, 3] if name == "circular" else source.one([2], [2, 3])
    x = source.take([*lead, *(source.random.randint(1, 5) for _ in range(dims))], kind)
    return x, pads(source, list(x.shape), dims, None if name != "replication" else 3)


@pytest.mark.parametrize(("name", "dims"), PADS)
def test_pads(peer, name, dims):
    for kind, source in each(f"i4 {SINGLE}", name, dims):
        with documented(kind):
            x, sizes = padded(source, kind, name, dims)
            wide = x.double() if x.is_floating_point() else x
            expected = F.pad(wide, sizes, MODES[name])
            found = peer.run(f"{name}_pad{dims}d", x, sizes, source.like(expected, x.dtype))
            same(found, expected.to(x.dtype), (name, kind, tuple(x.shape), sizes))


@pytest.mark.parametrize(("name", "dims"), PADS)
def test_gradients_of_pads(peer, name, dims):
    for kind, source in each(SINGLE, name, dims, "gradient"):
        with documented(kind):
            x, sizes = padded(source, kind, name, dims)
            leaf = x.double().nan_to_num(0, 0, 0).requires_grad_()
            expected = F.pad(leaf, sizes, MODES[name])
            g = source.take(expected.shape, kind, wild=False)
            expected.backward(g.double())
            found = peer.run(f"{name}_pad{dims}d_backward", g, x, sizes, source.like(x))
            summed(found, leaf.grad, 8 * 4.0 * len(sizes), (name, kind, sizes))


def test_cat_and_stack(peer):
    for kind, source in each(ANY, "cat"):
        with documented(kind):
            shape, count = source.shape(least=1, empty=False), source.random.randint(1, 4)
            dim, parts = a_dim(source, len(shape)), []
            for _ in range(count):
                shape[dim] = source.random.randint(0, 3)
                parts.append(source.take(shape, kind))
            expected = torch.cat(parts, dim)
            same(peer.run("cat", parts, dim, source.like(expected)), expected, kind)
            like = [source.take(parts[0].shape, kind) for _ in range(count)]
            dim = source.random.randrange(-len(shape) - 1, len(shape) + 1)
            expected = torch.stack(like, dim)
            same(peer.run("stack", like, dim, source.like(expected)), expected, kind)


def test_split(peer):
    for kind, source in each(ANY, "split"):
        with documented(kind):
            x = source.take(source.shape(least=1, empty=False), kind)
            dim = a_dim(source, x.dim())
            size = source.random.randint(1, 4)
            wanted = torch.split(x, size, dim)
            outs = [source.like(part) for part in wanted]
            peer.run("split_tensor", x, size, dim, outs)
            for found, part in zip(outs, wanted):
                same(found, part, (kind, "split"))
            for part in outs:
                part.zero_()
            peer.run("split_with_size", x, [part.shape[dim] for part in wanted], dim, outs)
            for found, part in zip(outs, wanted):
                same(found, part, (kind, "split"))


def test_repeat_interleave(peer):
    for kind, source in each(ANY, "repeat_interleave"):
        with documented(kind):
            x, count = source.take(source.shape(least=1, empty=False), kind), source.random.randint(0, 3)
            dim = a_dim(source, x.dim())
            expected = torch.repeat_interleave(x, count, dim)
            out = source.like(expected)
            same(peer.run("repeat_interleave_int_with_dim", x, count, dim, expected.shape[dim], out), expected, kind)
            expected = torch.repeat_interleave(x, count)
            same(peer.run("repeat_interleave_int", x, count, len(expected), source.like(expected)), expected, kind)
            times = source.take([x.shape[dim]], "i8", low=0, high=3)
            expected = torch.repeat_interleave(x, times, dim)
            out = source.like(expected)
            same(peer.run("repeat_interleave_with_dim", x, times, dim, expected.shape[dim], out), expected, kind)


def test_ranges(peer):
    for kind, source in each("i4 i8 f4 f2 f8", "arange"):
        start, step = source.one(0, 1, -3), source.one(1, 2, -1, 3)
        end = start + step * source.random.randint(0, 20)
        if kind in FLOATS:
            start, end, step = start + 0.5, end + 0.3 * step, step * 0.7
        if (end - start) * step < 0:
            continue
        expected = torch.arange(start, end, step, dtype=torch.float64 if kind in FLOATS else None)
        found = peer.run("arange", start, end, step, source.blank(expected.shape, kind))
        pointwise(found, expected, (kind, start, end))
    for kind, source in each("f4 f2 b2 i4", "linspace"):
        with documented(kind):
            start, end = source.one(0.0, -2.5, 3.0), source.one(1.0, 8.0, -7.5)
            steps = source.random.randint(0, 20)
            if kind == "i4":
                start, end = int(start), int(end)
            expected = torch.linspace(start, end, steps, dtype=torch.float64)
            if kind == "i4":
                expected = torch.linspace(start, end, steps, dtype=torch.int32)
            found = peer.run("linspace", start, end, steps, source.blank([steps], kind))
            error = 2 * torch.finfo(found.dtype).eps if kind != "i4" else 0
            pointwise(found, expected, (kind, start, end, steps), error=error)


# --- Gather and scatter


def test_gather(peer):
    for kind, source in each(ANY, "gather"):
        with documented(kind):
            x = source.take(source.shape(empty=False), kind)
            dim = a_dim(source, x.dim())
            shape = [source.random.randint(0, dim_size) for dim_size in x.shape]
            index = indices(source, shape, x.shape[dim] if x.dim() else 1)
            expected = torch.gather(x, dim, index.long())
            same(peer.run("gather", x, dim, index, source.like(expected)), expected, (kind, dim))
            flat = indices(source, source.shape(most=2), x.numel())
            expected = torch.take(x, flat.long())
            same(peer.run("take", x, flat, source.like(expected)), expected, kind)
            line = indices(source, [source.random.randint(0, 5)], x.shape[dim] if x.dim() else 1)
            if x.dim():
                expected = torch.index_select(x, dim, line)
                same(peer.run("index_select", x, dim, line, source.like(expected)), expected, kind)
                same(peer.run("gather_v2", x, dim, line, source.like(expected)), expected, kind)


REDUCTIONS = ("", "add", "multiply")


def scattered(x, dim, index, src, reduce, wide=True):
    if not reduce:
        return x.scatter(dim, index, src)
    name = {"add": "sum", "multiply": "prod"}[reduce]
    if isinstance(src, torch.Tensor):
        return x.scatter_reduce(dim, index, src, name)
    return x.scatter(dim, index, src, reduce=reduce)


@pytest.mark.parametrize("reduce", [0, 1, 2])
def test_scatter(peer, reduce):
    for kind, source in each(f"i4 i8 {SINGLE}", "scatter", reduce):
        with documented(kind):
            x = source.take(source.shape(empty=False), kind, wild=False)
            dim = a_dim(source, x.dim())
            shape = [source.random.randint(1, size) for size in x.shape]
            index = source.take(shape, "i8", low=0, high=(x.shape[dim] if x.dim() else 1) - 1)
            if reduce == 0:  # of several values for one element, any may be the last
                index = torch.argsort(source.values(x.shape, "f4", wild=False), dim if x.dim() else -1)
                index = index[tuple(slice(0, size) for size in shape)] if x.dim() else index
                index = source.view(index)
            src = source.take([size + source.one(0, 1) for size in index.shape], kind, wild=False)
            name = REDUCTIONS[reduce]
            wide, term = (each.double() if each.is_floating_point() else each for each in (x, src))
            expected = scattered(wide, dim, index, term, name)
            found = peer.run("scatter", x, dim, index, src, reduce, source.like(x))
            size = None if not x.is_floating_point() else scattered(wide.abs(), dim, index, term.abs(), name)
            part = {"f2": 4e-3, "b2": 3e-2}.get(kind)  # each sum is rounded to the type
            summed(found, expected, size, ("scatter", kind, dim, reduce), part)
            target = source.view(x.clone())
            peer.run("inplace_scatter", target, dim, index, src, reduce)
            same(target, found, ("in place", kind, dim, reduce))
            expected = scattered(wide, dim, index, 2, name)
            found = peer.run("scatter_value", x, dim, index, 2, reduce, source.like(x))
            summed(found, expected, None if size is None else size.abs() * 4 + 64, ("value", kind, dim), part)
            if reduce == 1:
                found = peer.run("scatter_add", x, dim, index, src, source.like(x))
                summed(found, wide.scatter_add(dim, index, term), size, ("scatter_add", kind, dim), part)


def test_index_add_copy_fill(peer):
    for kind, source in each(f"? {INTEGERS} {SINGLE}", "index_add"):
        with documented(kind):
            x = source.take(source.shape(least=1, most=3, empty=False), kind, wild=False)
            dim = a_dim(source, x.dim())
            count = source.random.randint(1, 4)
            shape = list(x.shape)
            shape[dim] = count
            index, src = indices(source, [count], x.shape[dim]), source.take(shape, kind, wild=False)
            if kind != "?":
                wide, term = (each.double() if each.is_floating_point() else each for each in (x, src))
                expected = wide.index_add(dim, index, term, alpha=2)
                found = peer.run("index_add", x, dim, index, src, 2, source.like(x))
                summed(found, expected, 60.0, (kind, dim), {"f2": 4e-3, "b2": 3e-2}.get(kind))
            once = source.view(torch.randperm(x.shape[dim], generator=source.generator)[:count].int())
            src = src.narrow(dim, 0, len(once))
            expected = x.index_copy(dim, once.long(), src)
            target = source.view(x.clone())
            peer.run("inplace_index_copy", target, dim, once, src)
            same(target, expected, (kind, dim))
            expected = x.index_fill(dim, index.long(), 1)
            found = peer.run("index_fill_tensor", x, dim, index.tolist(), True if kind == "?" else 1, source.like(x))
            same(found, expected, (kind, dim))


def an_index(source, shape):
    """Return indices for the first dimensions: of broadcast shapes, in any of the dimensions."""
    count = source.random.randint(1, len(shape))
    common = source.shape(least=1, most=2, size=3, empty=False)
    found = []
    for place in range(count):
        if source.one(True, False, False) and place < count - 1:
            found.append(None)
            continue
        found.append(indices(source, source.stretched(common) or [1], shape[place]).long())
    return found


def test_index(peer):
    for kind, source in each(ANY, "index", rounds=24):
        with documented(kind):
            x = source.take(source.shape(least=1, most=4, empty=False), kind, wild=False)
            places = an_index(source, list(x.shape))
            given = [torch.empty(0, dtype=x.dtype) if place is None else place for place in places]
            expected = aten.index(x, places)
            same(peer.run("index", x, given, source.like(expected)), expected, (kind, places))
            values = source.take(source.stretched(list(expected.shape)), kind, wild=False)
            if kind in ("f4", "i4", "i8"):  # sums of narrower types are rounded after each addition
                target = source.view(x.clone())
                wide, term = (each.double() if each.is_floating_point() else each for each in (x, values))
                wanted = aten.index_put(wide, places, term, True)
                assert peer.call("index_put_impl", target, given, values, True, False) == 0
                summed(target, wanted, 200.0, (kind, places))
            target = source.view(x.clone())
            single = values.flatten()[:1].reshape([]) if values.numel() else values
            assert peer.call("index_put_impl", target, given, single, False, False) == 0
            same(target, aten.index_put(x, places, single), (kind, places))


def test_index_by_masks(peer):
    for kind, source in each("f4 i8 ?", "masks", rounds=24):
        x = source.take(source.shape(least=2, most=3, empty=False), kind, wild=False)
        count = source.random.randint(1, x.dim())
        mask = source.take(list(x.shape[:count]), "?")
        target = source.view(x.clone())
        value = source.take([], kind, wild=False)
        assert peer.call("index_put_impl", target, [mask], value, False, False) == 0
        same(target, aten.index_put(x, [mask], value), (kind, count))
        expected = x[mask]
        same(peer.run("index", x, [mask], source.like(expected)), expected, (kind, count))


def test_index_that_selects_nothing(peer):
    x, none = torch.ones(3, 4), torch.empty(0, dtype=torch.int64)
    assert peer.run("index", x, [none], torch.empty(0, 4)).shape == (0, 4)
    assert peer.run("index", x, [torch.empty(0), none], torch.empty(3, 0)).shape == (3, 0)
    same(peer.run("index", x, [torch.empty(0), torch.tensor([1])], torch.zeros(3, 1)), torch.ones(3, 1))
    assert peer.call("index_put_impl", x, [none], torch.empty(0, 4), False, False) == 0
    same(x, torch.ones(3, 4))


def test_masked_fill_and_scatter(peer):
    for kind, source in each(f"? {INTEGERS} {SINGLE}", "masked"):
        with documented(kind):
            x = source.view(source.values(source.shape(), kind))
            mask = source.take(source.stretched(list(x.shape)), "?")
            expected, target = x.masked_fill(mask, 1), source.view(x.clone())
            peer.run("inplace_masked_fill_scalar", target, mask, True if kind == "?" else 1)
            same(target, expected, kind)
            value, target = source.take([], kind), source.view(x.clone())
            expected = x.masked_fill(mask, value)
            peer.run("inplace_masked_fill_tensor", target, mask, value)
            same(target, expected, kind)
            src, target = source.take([max(1, x.numel())], kind), source.view(x.clone())
            expected = x.masked_scatter(mask, src)
            peer.run("inplace_masked_scatter", target, mask, src)
            same(target, expected, kind)


def test_put(peer):
    for kind, source in each(f"{INTEGERS} {SINGLE}", "put"):
        with documented(kind):
            x = source.view(source.values(source.shape(least=1, empty=False), kind, wild=False))
            index = torch.randperm(x.numel(), generator=source.generator)[: source.random.randint(1, x.numel())]
            values = source.take(index.shape, kind, wild=False)
            for accumulate in (True, False):
                target = source.view(x.clone())
                expected = x.clone().contiguous().put_(index, values, accumulate)
                peer.run("inplace_put", target, source.view(index), values, accumulate)
                same(target, expected, (kind, accumulate))


def test_embedding(peer):
    for kind, source in each(SINGLE, "embedding"):
        count, width = source.random.randint(1, 9), source.random.randint(1, 5)
        weight = source.take([count, width], kind)
        index = indices(source, source.shape(most=3), count)
        expected = F.embedding(index.long(), weight)
        same(peer.run("embedding", weight, index, source.like(expected)), expected, kind)
        padding, by_count = source.one(-1, 0, count - 1), source.one(True, False)
        g = source.take(expected.shape, kind, wild=False)
        wanted = aten.embedding_dense_backward(g.double(), index.long(), count, padding, by_count)
        found = peer.run(
            "embedding_dense_backward", g, index, count, padding % 2**64, by_count, source.blank([count, width], kind)
        )
        size = aten.embedding_dense_backward(g.double().abs(), index.long(), count, padding, by_count)
        summed(found, wanted, size, (kind, padding, by_count))


def test_embedding_renorm(peer):
    for kind, source in each("f4 f2", "embedding_renorm"):
        weight = source.view(source.values([6, 4], kind, wild=False))
        index = indices(source, [3], 6).long()
        most, p = source.one(0.5, 5.0), source.one(1.0, 2.0)
        expected = aten.embedding_renorm_(weight.double().clone(), index, most, p)
        peer.run("embedding_renorm", weight, index, most, p)
        summed(weight, expected, None, (kind, most, p))


def test_one_hot(peer):
    for _, source in each("i8", "one_hot"):
        classes = source.random.randint(1, 6)
        x = indices(source, source.shape(least=1, most=3), classes).long()
        on, off = torch.ones(1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64)
        expected = F.one_hot(x, classes)
        same(peer.run("one_hot", x, classes, on, off, -1, source.like(expected)), expected)


def test_columns(peer):
    for kind, source in each(SINGLE, "im2col"):
        x = source.take([source.one(1, 2), 2, source.random.randint(4, 7), source.random.randint(4, 7)], kind)
        kernel, dilation, padding, stride = ([source.random.randint(low, 2) for _ in "hw"] for low in (1, 1, 0, 1))
        expected = F.unfold(x.float(), kernel, dilation, padding, stride)
        found = peer.run("im2col", x, kernel, dilation, padding, stride, source.like(expected, kind))
        same(found, expected.to(x.dtype), kind)
        g = source.take(expected.shape, kind, wild=False)
        size = list(x.shape[-2:])
        expected = F.fold(g.double(), size, kernel, dilation, padding, stride)
        found = peer.run("im2col_backward", g, size, kernel, dilation, padding, stride, source.like(x))
        summed(found, expected, F.fold(g.double().abs(), size, kernel, dilation, padding, stride), kind)


def test_shuffle_and_diagonals(peer):
    for kind, source in each(REAL, "fill"):
        with documented(kind):
            groups = source.random.randint(1, 3)
            x = source.take([2, 2 * groups, 3, 2], kind)
            same(peer.run("channel_shuffle", x, groups, source.like(x)), torch.channel_shuffle(x, groups), kind)
    for kind, source in each("f4 f2 i4", "diag"):
        x = source.take(source.shape(least=1, most=2, size=5, empty=False), kind)
        if x.dim() == 1:
            x = x[:20]
        diagonal = source.random.randint(-4, 4)
        try:
            expected = torch.diag(x, diagonal)
        except RuntimeError:  # PyTorch refuses a diagonal outside of the matrix
            continue
        same(peer.run("diag", x, diagonal, source.like(expected)), expected, (kind, diagonal, tuple(x.shape)))


def test_fill_diagonal(peer):
    for kind, source in each("f4 f2 i4 i8", "fill_diagonal"):
        x = source.view(source.values([source.random.randint(1, 9), source.random.randint(1, 4)], kind))
        wrap = source.one(True, False)
        expected = torch.empty(x.shape, dtype=x.dtype).copy_(x).fill_diagonal_(2, wrap)
        same(peer.run("inplace_fill_diagonal", x, 2, wrap), expected, (kind, wrap, tuple(x.shape)))
