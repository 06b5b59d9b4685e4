"""Forms of operators: in place, with numbers, gated and fused; compared with PyTorch."""

import math

import pytest
import torch
from helpers.torch_peer import FLOATS, INTEGERS, SINGLE, Numeric, documented, each, pointwise, same, summed

pytestmark = [pytest.mark.torch, pytest.mark.needs_sim]
F = torch.nn.functional
aten = torch.ops.aten


def plain(source, shape, kind):
    return source.take(shape, kind, wild=False)


def target(source, shape, kind):
    """Return a tensor that an operator may change in place."""
    return source.view(source.values(shape, kind, wild=False))


def exactly(function, x, *others):
    """Return the value in double precision for floats."""
    wide = [each.double() if isinstance(each, torch.Tensor) and each.is_floating_point() else each for each in others]
    return function(x.double() if x.is_floating_point() else x, *wide)


# By the operator: the function of a tensor and a number; the number; what follows it; the types.
NUMBERS = {
    "adds": (lambda x, s: torch.add(x, s, alpha=2), 3, (2,), f"{INTEGERS} {SINGLE}"),
    "subs": (lambda x, s: torch.sub(x, s, alpha=2), 3, (2,), f"{INTEGERS} {SINGLE}"),
    "muls": (torch.mul, 3, (), f"{INTEGERS} {FLOATS}"),
    "divs": (torch.div, 4, (), FLOATS),
    "bitwise_and_scalar": (torch.bitwise_and, 6, (), INTEGERS),
    "bitwise_or_scalar": (torch.bitwise_or, 6, (), INTEGERS),
    "bitwise_xor_scalar": (torch.bitwise_xor, 6, (), INTEGERS),
    "eq_scalar": (torch.eq, 2, (), f"{INTEGERS} {FLOATS}"), "ne_scalar": (torch.ne, 2, (), f"{INTEGERS} {FLOATS}"),
    "gt_scalar": (torch.gt, 2, (), f"{INTEGERS} {FLOATS}"), "ge_scalar": (torch.ge, 2, (), f"{INTEGERS} {FLOATS}"),
    "lt_scalar": (torch.lt, 2, (), f"{INTEGERS} {FLOATS}"), "le_scalar": (torch.le, 2, (), f"{INTEGERS} {FLOATS}"),
    "fmod_scalar": (torch.fmod, 2, (), f"{INTEGERS} {FLOATS}"),
    "remainder_tensor_scalar": (torch.remainder, 2, (), f"{INTEGERS} {FLOATS}"),
    "floor_divides": (torch.floor_divide, 2, (), f"{INTEGERS} {FLOATS}"),
    "pow_tensor_scalar": (torch.pow, 3, (), f"{INTEGERS} {FLOATS}"),
    "x_log_y_scalar_other": (torch.xlogy, 3, (), SINGLE),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_in_place(peer, name):
    function, number, further, kinds = NUMBERS[name]
    for kind, source in each(kinds, name, "in place"):
        with documented(kind, "f4" if "f4" in kinds else "i4"):
            x = target(source, source.shape(), kind)
            expected = exactly(function, x, number)
            peer.run(f"inplace_{name}", x, number, *further)
            error = 32 * torch.finfo(x.dtype).eps if x.is_floating_point() else None
            pointwise(x, expected.to(x.dtype), (name, kind), error=error)


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_divisions_by_numbers(peer, mode):
    way = [None, "trunc", "floor"][mode]
    for kind, source in each(f"{FLOATS} i4 i8", "div_mods", mode):
        with documented(kind):
            x, number = target(source, source.shape(), kind), source.one(2, 4, -2)
            expected = torch.div(x.double() if x.is_floating_point() else x, number, rounding_mode=way)
            out_kind = x.dtype if x.is_floating_point() else expected.dtype
            found = peer.run("div_mods", x, number, mode, source.like(expected, out_kind))
            pointwise(found, expected, (kind, mode))
            if out_kind == x.dtype:
                other = target(source, source.stretched(list(x.shape)), kind)
                other = source.view(torch.where(other == 0, torch.ones_like(other), other))
                wide = [each.double() if each.is_floating_point() else each for each in (x, other)]
                copy = source.view(x.clone())
                peer.run("inplace_div_mods", copy, number, mode)
                same(copy, found, (kind, mode))
                copy = source.view(x.clone())
                peer.run("inplace_div_mod", copy, other, mode)
                single = wide if kind not in ("f2", "b2") else [each.float() for each in wide]
                wanted = torch.div(*single, rounding_mode=way)
                pointwise(copy, wanted, (kind, mode), error=1.0 if mode and x.is_floating_point() else None)


def test_sums_in_place(peer):
    for kind, source in each(SINGLE, "ternary in place"):
        with documented(kind):
            shape = source.shape(empty=False)
            x, y = target(source, shape, kind), plain(source, source.stretched(shape), kind)
            z = source.take(source.stretched(shape), kind, wild=False, low=0.5, high=2.0)
            error = 256 * torch.finfo(x.dtype).eps
            for name, arguments, function in (
                ("addcmul", (y, z, 0.5), lambda x, y, z, s: torch.addcmul(x, y, z, value=s)),
                ("addcdiv", (y, z, 0.5), lambda x, y, z, s: torch.addcdiv(x, y, z, value=s)),
                ("lerps", (y, 0.25), torch.lerp),
                ("lerp", (y, z), torch.lerp),
                ("add_relu", (y, Numeric(2.0, "f4")), lambda x, y, s: torch.relu(x + s.value * y)),
            ):
                copy = source.view(x.clone())
                expected = exactly(function, x, *arguments)
                with documented(kind):
                    peer.run(f"inplace_{name}", copy, *arguments)
                    pointwise(copy, expected, (name, kind), error=error)
            with documented(kind):
                expected = torch.relu(x.double() + 2 * y.double())
                found = peer.run("add_relu", x, y, Numeric(2.0, "f4"), source.like(x))
                pointwise(found, expected, ("add_relu", kind), error=error)


def test_remainders_of_a_number(peer):
    for kind, source in each(f"i4 i8 {FLOATS}", "remainder_scalar_tensor"):
        with documented(kind):
            x = target(source, source.shape(), kind)
            x = source.view(torch.where(x == 0, torch.ones_like(x), x))
            single = x.float() if kind in ("f2", "b2") else x
            expected = torch.remainder(7, single).to(x.dtype)
            error = 64 * torch.finfo(x.dtype).eps if x.is_floating_point() else None
            pointwise(peer.run("remainder_scalar_tensor", 7, x, source.like(x)), expected, kind, error=error)


def test_addr_in_place(peer):
    for kind, source in each("f4 f2", "addr in place"):
        x = target(source, [source.random.randint(1, 5), source.random.randint(1, 5)], kind)
        one, other = plain(source, x.shape[:1], kind), plain(source, x.shape[1:], kind)
        expected = torch.addr(x.double(), one.double(), other.double(), beta=0.5, alpha=2.0)
        peer.run("inplace_addr", x, one, other, 0.5, 2.0)
        summed(x, expected, 100.0, kind)


def test_extremes(peer):
    for kind, source in each(f"{INTEGERS} {FLOATS}", "aminmax"):
        with documented(kind):
            x = source.take(source.shape(least=1, empty=False), kind)
            dim, keep = source.random.randrange(-x.dim(), x.dim()), source.one(True, False)
            low, high = torch.aminmax(x, dim=dim, keepdim=keep)
            for name, dims in (("aminmax", [dim]), ("aminmax_dim", dim)):
                with documented(kind):
                    lows, highs = source.like(low), source.like(high)
                    peer.run(name, x, dims, keep, lows, highs)
                    same(lows, low, (name, kind))
                    same(highs, high, (name, kind))
            dims = source.random.sample(range(x.dim()), source.random.randint(1, x.dim()))
            expected = x.amax(dims, keep)
            with documented(kind):
                same(peer.run("max_v2", x, dims, keep, False, source.like(expected)), expected, ("max_v2", kind))


def test_changes_in_place(peer):
    for kind, source in each(f"? {INTEGERS} {SINGLE} f8 c8", "changes"):
        x, diagonal = source.view(source.values(source.shape(least=2), kind)), source.random.randint(-3, 3)
        for name, expected, arguments in (
            ("tril", torch.tril(x), (0,)),
            ("triu", torch.triu(x, diagonal), (diagonal,)),
            ("one", torch.ones_like(x), ()),
            ("zero", torch.zeros_like(x), ()),
            ("fill_scalar", torch.full_like(x, 1), (True if kind == "?" else 1,)),
        ):
            with documented(kind):
                copy = source.view(x.clone())
                peer.run(f"inplace_{name}", copy, *arguments)
                same(copy, expected, (name, kind))
        with documented(kind):
            value, copy = source.values([1], kind, wild=False), source.view(x.clone())
            peer.run("inplace_fill_tensor", copy, value)
            same(copy, value.expand(x.shape), ("fill_tensor", kind))
        with documented(kind):
            other = source.take(source.stretched(list(x.shape)), source.one(kind, "f4"), wild=False, low=0, high=9)
            copy = source.view(x.clone())
            peer.run("inplace_copy", copy, other)
            same(copy, other.to(x.dtype).expand(x.shape), ("copy", kind))


def test_cumulative_and_renorm_in_place(peer):
    for kind, source in each("f4 f2", "cumprod in place"):
        x = target(source, source.shape(least=2, empty=False), kind)
        dim, copy = source.random.randrange(x.dim()), source.view(x.clone())
        peer.run("inplace_cumprod", copy, dim)
        summed(copy, x.double().cumprod(dim), x.double().abs().cumprod(dim) * 4, kind)
        copy = source.view(x.clone())
        peer.run("inplace_renorm", copy, 2.0, dim, 1.5)
        summed(copy, torch.renorm(x.double(), 2.0, dim, 1.5), 1.5, kind)


def test_selections(peer):
    for kind, source in each(f"i4 i8 {SINGLE}", "selections"):
        x = plain(source, source.shape(least=1, most=3, empty=False), kind)
        dim = source.random.randrange(-x.dim(), x.dim())
        with documented(kind):
            count = source.random.randint(1, x.shape[dim])
            index = torch.randperm(x.shape[dim], generator=source.generator)[:count]
            shape = list(x.shape)
            shape[dim] = count
            src, expected = plain(source, shape, kind), None
            expected = x.index_copy(dim, index, src)
            same(peer.run("index_copy", x, dim, index, src, source.like(x)), expected, ("index_copy", kind))
        with documented(kind):
            copy = source.view(x.clone())
            peer.run("inplace_index_fill_tensor", copy, dim, index.tolist(), 2)
            same(copy, x.index_fill(dim, index, 2), ("index_fill", kind))
        with documented(kind):
            places = source.take(shape, "i8", low=0, high=x.shape[dim] - 1)
            copy = source.view(x.clone())
            peer.run("inplace_scatter_value", copy, dim, places, 2, 0)
            same(copy, x.scatter(dim, places, 2), ("scatter_value", kind))
        with documented(kind):
            depth = source.random.randint(1, x.dim())
            nd = torch.stack([source.take([4], "i8", low=0, high=size - 1) for size in x.shape[:depth]], 1)
            expected = x[tuple(nd.T)]
            found = peer.run("gather_nd", x, source.view(nd), False, source.like(expected))
            same(found, expected, ("gather_nd", kind))
        with documented(kind):
            one = nd[:1]
            update, copy = plain(source, [1, *x.shape[depth:]], kind), source.view(x.clone())
            expected = x.clone().index_put(tuple(one.T), update)
            peer.run("scatter_nd_update", copy, source.view(one), update)
            same(copy, expected, ("scatter_nd_update", kind))
            same(peer.run("scatter_nd", x, source.view(one), update, source.like(x)), expected, ("scatter_nd", kind))
        with documented(kind):
            edges = torch.sort(target(source, [7], kind)).values
            expected = torch.searchsorted(edges, 2, right=True)
            found = peer.run("search_sorteds", edges, 2, False, True, None, source.like(expected))
            same(found, expected, ("search_sorteds", kind))
        with documented(kind):
            times = source.take([x.numel()], "i8", low=0, high=3)
            expected = torch.repeat_interleave(x, times)
            found = peer.run("repeat_interleave", x, times, len(expected), source.like(expected))
            same(found, expected, ("repeat_interleave", kind))
            expected = torch.repeat_interleave(times)
            found = peer.run("repeat_interleave_tensor", times, len(expected), source.like(expected))
            same(found, expected, ("repeat_interleave_tensor", kind))
        with documented(kind):
            starts, ends = [0] * x.dim(), [size - 1 for size in x.shape]
            expected = x[tuple(slice(0, size - 1, 2) for size in x.shape)]
            found = peer.run(
                "slice_v2", x, starts, ends, list(range(x.dim())), [2] * x.dim(), source.like(expected)
            )
            same(found, expected, ("slice_v2", kind))


def test_made_tensors(peer):
    for kind, source in each("f4 f2 i4 i8", "eye"):
        n, m = source.random.randint(1, 6), source.random.randint(1, 6)
        same(peer.run("eye", n, m, source.blank([n, m], kind)), torch.eye(n, m), kind)
        start, step = source.one(0, -2), source.one(1, 2)
        end = start + step * source.random.randint(0, 9)
        expected = torch.arange(start, end + 1, step)
        same(peer.run("range", start, end, step, source.blank(expected.shape, kind)), expected, kind)


# --- Gated activations: halves a, b of the operand


def split(x, dim):
    return x.chunk(2, dim)


def gated(source, kind):
    shape = source.shape(least=1, most=4, empty=False)
    dim = source.random.randrange(-len(shape), len(shape))
    shape[dim] = 2 * source.random.randint(1, 4)
    return plain(source, shape, kind), dim


def test_swi_glu(peer):
    for kind, source in each(SINGLE, "swi_glu"):
        x, dim = gated(source, kind)
        leaf = x.double().requires_grad_()
        a, b = split(leaf, dim)
        expected = F.silu(a) * b
        found = peer.run("swi_glu", x, dim, source.like(expected, kind))
        summed(found, expected.detach(), None, kind)
        g = plain(source, expected.shape, kind)
        expected.backward(g.double())
        summed(peer.run("swi_glu_grad", g, x, dim, source.like(x)), leaf.grad, None, kind)


@pytest.mark.parametrize("name", ["ge_glu", "ge_glu_v3"])
def test_ge_glu(peer, name):
    for kind, source in each(SINGLE, name):
        x, dim = gated(source, kind)
        way, left = source.one(0, 1), name != "ge_glu" and source.one(True, False)
        leaf = x.double().requires_grad_()
        a, b = split(leaf, dim)
        smooth = F.gelu(a if left else b, approximate=["none", "tanh"][way])
        expected = smooth * (b if left else a)
        flags = (way, left) if name == "ge_glu_v3" else (way,)
        out, gelu = source.like(expected, kind), source.like(expected, kind)
        peer.run(name, x, dim, *flags, out, gelu)
        summed(out, expected.detach(), x.double().abs().max().square(), (kind, flags))
        summed(gelu, smooth.detach(), x.double().abs().max(), (kind, flags))
        g = plain(source, expected.shape, kind)
        expected.backward(g.double())
        found = peer.run(f"{name}_backward", g, x, gelu, dim, *flags, source.like(x))
        size = x.double().abs().max().square() * g.double().abs().max()
        summed(found, leaf.grad, size, (kind, flags), {"b2": 8e-3, "f2": 2e-3}.get(kind))


def test_gated_products(peer):
    for kind, source in each(SINGLE, "gated"):
        x = plain(source, [*source.shape(least=1, most=2, empty=False), 8], kind)
        a, b = split(x.double(), -1)
        with documented(kind):
            for way in ("none", "tanh"):
                expected = F.gelu(a, approximate=way) * b
                summed(peer.run("gelu_mul", x, way, source.like(expected, kind)), expected, None, (kind, way))
        with documented(kind):
            limit = torch.tensor([0.5], dtype=x.dtype)
            expected = F.threshold(a, 0.5, 0.0) * b
            summed(peer.run("fatrelu_mul", x, limit, source.like(expected, kind)), expected, None, kind)


def test_prelu_backward(peer):
    for kind, source in each(SINGLE, "prelu_backward"):
        x = plain(source, source.shape(least=2, empty=False), kind)
        weight = plain(source, [source.one(1, x.shape[1])], kind)
        g = plain(source, x.shape, kind)
        leaf, scale = x.double().requires_grad_(), weight.double().requires_grad_()
        F.prelu(leaf, scale).backward(g.double())
        grads = [source.like(x), source.like(weight)]
        peer.run("prelu_backward", g, x, weight, *grads)
        summed(grads[0], leaf.grad, None, kind)
        summed(grads[1], scale.grad, (x.double() * g.double()).abs().sum(), kind)


def test_gradients_of_targets(peer):
    name = "binary_cross_entropy_with_logits_target_backward"
    for kind, source in each(SINGLE, name):
        shape, reduction = source.shape(least=2, empty=False), source.random.randrange(3)
        x = plain(source, shape, kind)
        y = source.take(shape, kind, wild=False, low=0.0, high=1.0)
        weights = [source.one(None, source.take(shape, kind, wild=False, low=0.0, high=2.0)) for _ in "wp"]
        wide = [None if weight is None else weight.double() for weight in weights]
        leaf, way = y.double().requires_grad_(), ("none", "mean", "sum")[reduction]
        named = {"weight": wide[0], "pos_weight": wide[1], "reduction": way}
        expected = F.binary_cross_entropy_with_logits(x.double(), leaf, **named)
        g = plain(source, expected.shape, kind)
        expected.backward(g.double())
        found = peer.run(name, g, x, y, *weights, reduction, source.like(x))
        summed(found, leaf.grad, None, (kind, reduction))


def test_unpool_of_volumes(peer):
    for kind, source in each("f4 f2", "unpool3d"):
        image = plain(source, [2, 2, 4, 4, 6], kind)
        x, places = F.max_pool3d(image.float().contiguous(), 2, 2, return_indices=True)
        x, size = source.view(x.to(image.dtype)), list(image.shape[-3:])
        expected = F.max_unpool3d(x.float(), places, 2, 2, output_size=size)
        found = peer.run("max_unpool3d", x, places, size, [2, 2, 2], [0, 0, 0], source.like(image))
        same(found, expected.to(image.dtype), kind)
        g = plain(source, image.shape, kind)
        wanted = g.flatten(-3).gather(-1, places.flatten(-3)).reshape(x.shape)
        found = peer.run("max_unpool3d_backward", g, x, places, size, [2, 2, 2], [0, 0, 0], source.like(x))
        same(found, wanted, kind)


# --- Fused norms


def test_fused_norms(peer):
    for kind, source in each(SINGLE, "fused norms"):
        shape = [source.random.randint(1, 3), source.random.randint(1, 3), source.random.randint(2, 6)]
        x, other = plain(source, shape, kind), plain(source, shape, kind)
        gamma, beta = (source.take(shape[-1:], kind, wild=False, low=0.3, high=2.0) for _ in "gb")
        out, mean, rstd = source.like(x), source.blank([*shape[:2], 1], "f4"), source.blank([*shape[:2], 1], "f4")
        wide = [each.double() for each in (x, other, gamma, beta)]
        peer.run("layer_norm_with_impl_mode", x, shape[-1:], gamma, beta, 1e-3, out, mean, rstd, 0)
        summed(out, F.layer_norm(wide[0], shape[-1:], *wide[2:], 1e-3), None, (kind, "impl mode"))
        peer.run("gemma_rms_norm", x, gamma, 1e-3, out, rstd)
        summed(out, F.rms_norm(wide[0], shape[-1:], wide[2] + 1, 1e-3), None, (kind, "gemma"))
        total = (wide[0] * 0.5 + wide[1]).requires_grad_()
        expected = F.layer_norm(total, shape[-1:], *wide[2:], 1e-3)
        peer.run("deep_norm", x, other, beta, gamma, 0.5, 1e-3, mean, rstd, out)
        part = {"f2": 4e-3, "b2": 3e-2}.get(kind)
        expected = F.layer_norm(total, shape[-1:], wide[2], wide[3], 1e-3)
        summed(out, expected.detach(), None, (kind, "deep_norm"), part)


def test_foreach_with_device_numbers(peer):
    for kind, source in each(SINGLE, "foreach numbers", rounds=6):
        xs = [plain(source, source.shape(), kind) for _ in range(3)]
        ys = [plain(source, x.shape, kind) for x in xs]
        zs = [source.take(x.shape, kind, wild=False, low=0.5, high=2.0) for x in xs]
        short = torch.float32 if kind == "b2" else xs[0].dtype
        number, numbers = torch.tensor([0.5], dtype=short), torch.tensor([0.5, 2.0, -1.0], dtype=short)
        outs, error = [source.like(x) for x in xs], 256 * torch.finfo(xs[0].dtype).eps
        wide = [[each.double() for each in list_] for list_ in (xs, ys, zs)]
        for name, arguments, expected in (
            ("add_list", (xs, ys, number), torch._foreach_add(*wide[:2], alpha=0.5)),
            ("sub_list", (xs, ys, number), torch._foreach_sub(*wide[:2], alpha=0.5)),
            ("addcmul_scalar", (xs, ys, zs, number), torch._foreach_addcmul(*wide, 0.5)),
            ("addcdiv_scalar", (xs, ys, zs, number), torch._foreach_addcdiv(*wide, 0.5)),
            ("addcmul_scalar_list", (xs, ys, zs, numbers), torch._foreach_addcmul(*wide, [0.5, 2.0, -1.0])),
            ("addcdiv_scalar_list", (xs, ys, zs, numbers), torch._foreach_addcdiv(*wide, [0.5, 2.0, -1.0])),
        ):
            with documented(kind):
                peer.run(f"foreach_{name}", *arguments, outs)
                for found, want in zip(outs, expected):
                    pointwise(found, want, (name, kind), error=error)


def test_qr(peer):
    for _, source in each("f4", "qr"):
        x = plain(source, [2, source.random.randint(1, 5), source.random.randint(1, 5)], "f4")
        some = source.one(True, False)
        q, r = torch.linalg.qr(x.double(), "reduced" if some else "complete")
        qs, rs = source.like(q, "f4"), source.like(r, "f4")
        peer.run("qr", x, some, qs, rs)
        summed(rs.abs(), r.abs(), None, some, 1e-4)
        summed(qs.double() @ rs.double(), x.double(), None, some, 1e-4)


def test_resize(peer):
    """The nearest element by floor(o / scale); linear between the centres of elements."""
    for kind, source in each("f4 f2", "resize"):
        x = plain(source, [2, 2, source.random.randint(2, 6), source.random.randint(2, 6)], kind)
        scales = [source.one(0.5, 1.5, 2.0, 3.0) for _ in "hw"]
        size = [math.floor(length * scale) for length, scale in zip(x.shape[2:], scales)]
        if any(then == now for then, now in zip(size, x.shape[2:])):
            continue
        for mode, function in (("nearest", aten.upsample_nearest2d), ("bilinear", aten.upsample_bilinear2d)):
            flags = [False] if mode == "bilinear" else []
            expected = function(x.double(), size, *flags, *scales)
            found = peer.run("resize", x, [1.0, 1.0, *scales], mode, source.like(expected, kind))
            summed(found, expected, None, (kind, mode, scales), 1e-4 if kind == "f4" else None)
