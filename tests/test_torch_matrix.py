"""Products of matrices, linear algebra and convolutions against PyTorch."""

import math

import pytest
import torch
from helpers.torch_peer import SINGLE, documented, each, pointwise, summed

pytestmark = [pytest.mark.torch, pytest.mark.needs_sim]
F = torch.nn.functional
aten = torch.ops.aten


def plain(source, shape, kind):
    return source.take(shape, kind, wild=False)


def sizes(source, count, most=9):
    return [source.one(0, 1) if source.one(*[True] + [False] * 11) else source.random.randint(1, most)
            for _ in range(count)]  # fmt: skip


def products(peer, source, kind, name, function, operands, numbers=()):
    """Compare a product; its error is relative to the sum of the absolute terms."""
    expected = function(*(each.double() for each in operands), *numbers)
    size = function(*(each.double().abs() for each in operands), *(abs(number) for number in numbers))
    math_type = () if name in ("dot", "ger", "addr") else (0,)
    found = source.like(expected, kind)
    peer.run(name, *operands, *numbers, found, *math_type)
    summed(found, expected, size, (name, kind, [tuple(each.shape) for each in operands], numbers))


def test_products(peer):
    for kind, source in each(SINGLE, "products"):
        m, k, n, b = sizes(source, 4)
        products(peer, source, kind, "mm", torch.mm, [plain(source, s, kind) for s in ([m, k], [k, n])])
        products(peer, source, kind, "mv", torch.mv, [plain(source, s, kind) for s in ([m, k], [k])])
        products(peer, source, kind, "dot", torch.dot, [plain(source, [k], kind) for _ in "ab"])
        products(peer, source, kind, "ger", torch.ger, [plain(source, s, kind) for s in ([m], [n])])
        batch = [plain(source, s, kind) for s in ([b, m, k], [b, k, n])]
        products(peer, source, kind, "batch_mat_mul", torch.bmm, batch)


def test_broadcast_products(peer):
    for kind, source in each(SINGLE, "matmul", rounds=30):
        m, k, n = sizes(source, 3, 6)
        lead = source.shape(most=2, size=3, empty=False)
        one = source.one([k], [m, k], [*source.stretched(lead), m, k])
        other = source.one([k], [k, n], [*source.stretched(lead), k, n])
        products(peer, source, kind, "matmul", torch.matmul, [plain(source, s, kind) for s in (one, other)])


def test_a_larger_product(peer):
    for kind, source in each(SINGLE, "large", rounds=1):
        for m, k, n in ((1, 300, 257), (70, 130, 65), (5, 1025, 3), (129, 17, 200)):
            products(peer, source, kind, "mm", torch.mm, [plain(source, s, kind) for s in ([m, k], [k, n])])


ADDED = {
    "addmm": ("mn", "mk", "kn"), "addmv": ("m", "mk", "k"), "addr": ("mn", "m", "n"), "baddbmm": ("bmn", "bmk", "bkn"),
    "addbmm": ("mn", "bmk", "bkn"),
}  # fmt: skip


@pytest.mark.parametrize("name", ADDED)
def test_sums_with_products(peer, name):
    for kind, source in each(SINGLE, name):
        with documented(kind):
            size = dict(zip("mknb", sizes(source, 4, 7)))
            shapes = [[size[letter] for letter in letters] for letters in ADDED[name]]
            shapes[0] = source.stretched(shapes[0])
            operands = [plain(source, shape, kind) for shape in shapes]
            alpha, beta = source.one(1.0, 0.5, -2.0), source.one(1.0, 0.0, 3.0)

            def function(x, y, z, one, two):
                named = {"alpha": one, "beta": two} if name == "addmv" else {"beta": one, "alpha": two}
                return getattr(torch, name)(x, y, z, **named)

            numbers = (alpha, beta) if name == "addmv" else (beta, alpha)
            products(peer, source, kind, name, function, operands, numbers)
            if name in ("addmm", "baddbmm", "addbmm"):
                letters = ADDED[name][0]
                target = source.view(source.values([size[letter] for letter in letters], kind, wild=False))
                wide = [each.double() for each in (target, *operands[1:])]
                expected = function(*wide, beta, alpha)
                size_of = function(*(each.abs() for each in wide), abs(beta), abs(alpha))
                peer.run(f"inplace_{name}", target, *operands[1:], beta, alpha, 0)
                summed(target, expected, size_of, (name, kind, "in place", alpha, beta))


def test_a_sum_of_nan_times_zero(peer):
    """beta 0 ignores NaN in self."""
    x, one, other = torch.full((2, 2), math.nan), torch.ones(2, 3), torch.ones(3, 2)
    out = torch.zeros(2, 2)
    peer.run("addmm", x, one, other, 0.0, 1.0, out, 0)
    summed(out, torch.full((2, 2), 3.0))


def square(source, batch, size):
    found = source.values([*batch, size, size], "f4", wild=False) + 6 * torch.eye(size)
    return source.view(found)


def test_linear_algebra(peer):
    for _, source in each("f4", "linear algebra", rounds=30):
        batch, size = source.shape(most=2, size=3, empty=False), source.random.randint(1, 5)
        x = square(source, batch, size)
        wide = x.double()
        expected = torch.linalg.inv(wide)
        summed(peer.run("inverse", x, source.like(x)), expected, None, "inverse", 1e-4)
        sign, log = torch.linalg.slogdet(wide)
        signs, logs = source.like(sign, "f4"), source.like(log, "f4")
        peer.run("slogdet", x, signs, logs)
        summed(signs, sign)
        summed(logs, log, 10.0)
        expected = torch.logdet(wide)
        summed(peer.run("logdet", x, source.like(expected, "f4")), expected, 10.0)
        upper, transpose, unit = (source.one(True, False) for _ in "utx")
        b = plain(source, [*batch, size, source.random.randint(1, 4)], "f4")
        expected, _ = torch.triangular_solve(b.double(), wide, upper, transpose, unit)
        out, copy = source.like(expected, "f4"), source.like(x)
        peer.run("triangular_solve", b, x, upper, transpose, unit, out, copy)
        if not unit:
            summed(out, expected, None, ("triangular_solve", upper, transpose, unit), 1e-4)
        rows = source.values([*batch, source.random.randint(1, 5), size], "f4", wild=False)
        for mode in (0, 1, 2):
            q, r = torch.linalg.qr(rows.double(), ["reduced", "complete", "r"][mode])
            q_out, r_out = source.like(q, "f4"), source.like(r, "f4")
            peer.run("linalg_qr", source.view(rows), mode, q_out, r_out)
            summed(r_out.abs(), r.abs(), None, ("R", mode), 1e-4)
            if mode < 2:
                summed(q_out.double() @ r_out.double(), rows.double(), None, ("QR", mode), 1e-4)


def test_factors(peer):
    for _, source in each("f4", "factors", rounds=20):
        batch, size = source.shape(most=2, size=3, empty=False), source.random.randint(1, 5)
        x, upper, full = square(source, batch, size), source.one(True, False), source.one(True, False)
        x = source.view(x @ x.mT + torch.eye(size))
        expected = torch.linalg.cholesky(x.double(), upper=upper)
        summed(peer.run("linalg_cholesky", x, upper, source.like(x)), expected, None, "linalg_cholesky", 1e-4)
        x = plain(source, [*batch, source.random.randint(1, 5), size], "f4")
        u, sigma, vh = torch.linalg.svd(x.double(), full)
        outs = [source.like(one, "f4") for one in (sigma, u, vh.mT)]
        peer.run("svd", x, full, True, *outs)
        summed(outs[0], sigma, None, "svd", 1e-4)
        found, least = [one.double() for one in outs], sigma.shape[-1]
        whole = (found[1][..., :least] * found[0].unsqueeze(-2)) @ found[2][..., :least].mT
        summed(whole, x.double(), None, ("svd", full), 1e-4)


def test_distances(peer):
    for kind, source in each(SINGLE, "distances", rounds=10):
        batch, length = source.shape(most=2, size=3, empty=False), source.random.randint(1, 4)
        one, other = (plain(source, [*batch, source.random.randint(1, 4), length], kind) for _ in "12")
        for p in (0.0, 0.5, 1.0, 2.0, 3.0, math.inf):
            expected = torch.cdist(one.double(), other.double(), p)
            whole = peer.run("cdist", one, other, p, 0, source.like(expected, kind))
            summed(whole, expected, None, ("cdist", kind, p))
            grad = plain(source, whole.shape, kind)
            expected = aten._cdist_backward(*(x.double().contiguous() for x in (grad, one, other)), p, expected)
            found = peer.run("cdist_backward", grad, one, other, whole, p, source.like(one))
            size = grad.double().abs().sum(-1, keepdim=True) * 8
            summed(found, expected, size.expand(found.shape), ("cdist_backward", kind, p), 0.05 if p < 1 else None)
            if kind != "b2" and one.dim() == 2:
                expected = F.pdist(one.double(), p)
                summed(peer.run("pdist", one, p, source.like(expected, kind)), expected, None, ("pdist", kind, p))


def test_cross(peer):
    for kind, source in each(SINGLE, "cross"):
        with documented(kind):
            shape = source.shape(least=1, most=3, empty=False)
            dim = source.random.randrange(-len(shape), len(shape))
            shape[dim] = 3
            x, y = plain(source, shape, kind), plain(source, shape, kind)
            expected = torch.linalg.cross(x.double(), y.double(), dim=dim)
            summed(peer.run("linalg_cross", x, y, dim, source.like(x)), expected, None, kind)


# --- Convolutions


def window(source, dims, transposed):
    """Return stride, padding, dilation and output padding."""
    stride = [source.random.randint(1, 3) for _ in range(dims)]
    padding = [source.random.randint(0, 2) for _ in range(dims)]
    dilation = [source.random.randint(1, 2) for _ in range(dims)]
    more = [source.random.randint(0, max(s, d) - 1) if transposed else 0 for s, d in zip(stride, dilation)]
    return stride, padding, dilation, more


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("transposed", [False, True])
def test_convolution(peer, dims, transposed):
    for kind, source in each(SINGLE, "conv", dims, transposed):
        groups, stride_etc = source.one(1, 1, 2, 3), window(source, dims, transposed)
        stride, padding, dilation, more = stride_etc
        inner, outer = (groups * source.random.randint(1, 3) for _ in "io")
        kernel = [source.random.randint(1, 3) for _ in range(dims)]
        reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel)]
        if transposed:
            image = [source.random.randint(1, 5) for _ in range(dims)]
            padding = [min(p, (r - 1) // 2) for p, r in zip(padding, reach)]
            weight_shape = [inner, outer // groups, *kernel]
        else:
            image = [r + source.random.randint(0, 4) for r in reach]
            weight_shape = [outer, inner // groups, *kernel]
        x = plain(source, [source.random.randint(1, 2), inner, *image], kind)
        weight = plain(source, weight_shape, kind)
        bias = source.one(None, plain(source, [outer], kind))
        window_of = stride, padding, dilation, transposed, more, groups

        def function(x, weight, bias, window_of=window_of):
            return aten.convolution(x, weight, bias, *window_of)

        wide = [None if each is None else each.double() for each in (x, weight, bias)]
        expected = function(*wide)
        size = function(*(None if each is None else each.abs() for each in wide))
        out = source.like(expected, kind)
        peer.run("convolution", x, weight, bias, *window_of, out, 0)
        note = (kind, tuple(x.shape), tuple(weight.shape), window_of)
        summed(out, expected, size, note)
        g = plain(source, expected.shape, kind)
        wanted = aten.convolution_backward(g.double(), *wide[:2], [outer], *window_of, [True] * 3)
        bounds = aten.convolution_backward(
            g.double().abs(), *(each.abs() for each in wide[:2]), [outer], *window_of, [True] * 3
        )
        grads = [source.like(each, kind) for each in wanted]
        peer.run("convolution_backward", g, x, weight, [outer], *window_of, [True] * 3, 0, *grads)
        for found, want, bound in zip(grads, wanted, bounds):
            summed(found, want, bound, note)


def test_depthwise_convolution(peer):
    for kind, source in each(SINGLE, "depthwise"):
        channels, times = source.random.randint(1, 4), source.random.randint(1, 2)
        stride, padding, dilation, _ = window(source, 2, False)
        kernel = [source.random.randint(1, 3) for _ in "hw"]
        image = [d * (k - 1) + 1 + source.random.randint(0, 4) for d, k in zip(dilation, kernel)]
        x, weight = plain(source, [2, channels, *image], kind), plain(source, [channels * times, 1, *kernel], kind)
        bias = source.one(None, plain(source, [channels * times], kind))
        wide = [None if each is None else each.double() for each in (x, weight, bias)]
        expected = F.conv2d(*wide, stride, padding, dilation, channels)
        size = F.conv2d(*(None if e is None else e.abs() for e in wide), stride, padding, dilation, channels)
        out = source.like(expected, kind)
        peer.run("conv_depthwise2d", x, weight, kernel, bias, stride, padding, dilation, out, 0)
        summed(out, expected, size, kind)


def test_conv_tbc(peer):
    for kind, source in each(SINGLE, "tbc"):
        length, batch, inner, outer, width = (source.random.randint(1, 4) for _ in range(5))
        pad = source.random.randint(0, 2)
        x = plain(source, [length + width, batch, inner], kind)
        weight, bias = plain(source, [width, inner, outer], kind), plain(source, [outer], kind)
        wide = [each.double().contiguous().requires_grad_() for each in (x, weight, bias)]
        expected = torch.conv_tbc(*wide, pad)
        out = source.like(expected, kind)
        peer.run("conv_tbc", x, weight, bias, pad, out, 0)
        summed(out, expected.detach(), 16.0 * inner * width * 4, kind)
        g = plain(source, expected.shape, kind)
        expected.backward(g.double().contiguous())
        grads = [source.like(each) for each in (x, weight, bias)]
        peer.run("conv_tbc_backward", g, x, weight, bias, pad, 0, *grads)
        for found, leaf in zip(grads, wide):
            summed(found, leaf.grad, 16.0 * 4 * max(outer * width, (length + width) * batch), kind)


def test_ranges_of_products(peer):
    x = torch.tensor([[math.inf, 1.0], [math.nan, 2.0]])
    y = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    out = torch.zeros(2, 2)
    peer.run("mm", x, y, out, 0)
    pointwise(out, x @ y)
