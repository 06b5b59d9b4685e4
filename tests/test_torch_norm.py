"""Normalisations, optimisers and lists of tensors against PyTorch."""

import math

import pytest
import torch
from helpers.torch_peer import SINGLE, TYPES, each, pointwise, summed

from acl import nnop

pytestmark = [pytest.mark.torch, pytest.mark.needs_sim]
F = torch.nn.functional
aten = torch.ops.aten
MASK = [True, True, True]
SHORT = {"f2": "f4", "b2": "f4"}


def plain(source, shape, kind):
    return source.take(shape, kind, wild=False)


def near_one(source, shape, kind):
    return source.take(shape, kind, wild=False, low=0.3, high=2.0)


def or_none(source, make, shape, kind):
    return source.one(None, make(source, shape, kind), make(source, shape, kind))


def double(tensor):
    return None if tensor is None else tensor.double()


def wanted_of(weight, bias):
    """Return the mask of the gradients: PyTorch has none for a weight that is not given."""
    return [True, weight is not None, bias is not None]


def test_layer_norm(peer):
    for kind, source in each(SINGLE, "layer_norm"):
        shape = source.shape(least=1, empty=False)
        dims = source.random.randint(1, len(shape))
        inner, outer = shape[-dims:], [*shape[:-dims], *[1] * dims]
        x, eps = plain(source, shape, kind), source.one(1e-5, 1e-2)
        weight, bias = or_none(source, near_one, inner, kind), or_none(source, plain, inner, kind)
        expected, mean, rstd = aten.native_layer_norm(x.double(), inner, double(weight), double(bias), eps)
        out, mean_out, rstd_out = source.like(x), source.blank(outer, "f4"), source.blank(outer, "f4")
        peer.run("layer_norm", x, inner, weight, bias, eps, out, mean_out, rstd_out)
        part = 1e-4 if kind == "f4" and math.prod(inner) < 3 else None  # of two equal numbers only noise remains
        summed(out, expected, None, (kind, shape, dims), part)
        summed(mean_out, mean.reshape(outer), 10.0, (kind, "mean"))
        summed(rstd_out, rstd.reshape(outer), rstd.abs().reshape(outer) * 10, (kind, "rstd"))
        g = plain(source, shape, kind)
        mean, rstd = mean.float(), rstd.float().clamp(max=30)
        wide = [each.double() for each in (x, mean, rstd)]
        wanted = aten.native_layer_norm_backward(
            g.double().contiguous(), wide[0].contiguous(), inner, wide[1].reshape(outer), wide[2].reshape(outer),
            double(weight), double(bias), wanted_of(weight, bias),
        )  # fmt: skip
        grads = [source.like(x), source.blank(inner, kind), source.blank(inner, kind)]
        mask = wanted_of(weight, bias)
        mean, rstd = source.view(mean.reshape(outer)), source.view(rstd.reshape(outer))
        peer.run("layer_norm_backward", g, x, inner, mean, rstd, weight, bias, mask, *grads)
        for place, found in enumerate(grads):
            if not mask[place]:
                continue
            size = 10.0 * float(wide[2].max()) * (1 if place == 0 else x.numel())
            summed(found, wanted[place].reshape(found.shape), size, (kind, shape, dims, place))


def test_group_norm(peer):
    for kind, source in each(SINGLE, "group_norm"):
        groups, batch = source.random.randint(1, 3), source.random.randint(1, 3)
        channels, more = groups * source.random.randint(1, 3), source.shape(least=0, most=2, size=4, empty=False)
        area = math.prod(more)
        x, eps = plain(source, [batch, channels, *more], kind), source.one(1e-5, 1e-2)
        gamma, beta = or_none(source, near_one, [channels], kind), or_none(source, plain, [channels], kind)
        numbers = batch, channels, area, groups
        expected, mean, rstd = aten.native_group_norm(
            x.double().contiguous(), double(gamma), double(beta), *numbers, eps
        )
        outs = [source.like(x), source.like(mean, kind), source.like(rstd, kind)]
        peer.run("group_norm", x, gamma, beta, *numbers, eps, *outs)
        lone = channels // groups * area == 1
        summed(outs[0], expected, None if not lone else 10, (kind, numbers), 1e-4 if kind == "f4" else None)
        summed(outs[1], mean, 10.0, (kind, "mean"))
        summed(outs[2], rstd, rstd.abs() * 10, (kind, "rstd"))
        g = plain(source, x.shape, kind)
        mean, rstd = mean.to(x.dtype), rstd.clamp(max=30).to(x.dtype)
        wanted = aten.native_group_norm_backward(
            g.double().contiguous(), x.double().contiguous(), mean.double(), rstd.double(),
            torch.ones(channels, dtype=torch.float64) if gamma is None else gamma.double(), *numbers, MASK,
        )  # fmt: skip
        mask = wanted_of(gamma, beta)
        grads = [source.like(x), source.blank([channels], kind), source.blank([channels], kind)]
        peer.run("group_norm_backward", g, x, mean, rstd, gamma, *numbers, mask, *grads)
        for place, (found, want) in enumerate(zip(grads, wanted)):
            if mask[place]:
                size = 10.0 * float(rstd.max()) * (float(rstd.max()) if place == 0 else batch * area)
                summed(found, want.reshape(found.shape), size, (kind, numbers, place))


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(peer, training):
    for kind, source in each(SINGLE, "batch_norm", training):
        shape = source.shape(least=2, most=5, size=4, empty=False)
        shape[0] = max(2, shape[0])
        channels, beside = shape[1], source.one(kind, "f4")
        x = plain(source, shape, kind)
        weight, bias = or_none(source, near_one, [channels], beside), or_none(source, plain, [channels], beside)
        mean = source.view(source.values([channels], beside, wild=False))
        var = source.view(source.values([channels], beside, low=0.3, high=2.0, wild=False))
        if training and source.one(True, False):
            mean = var = None
        momentum, eps = source.one(0.1, 0.5), source.one(1e-5, 1e-2)
        wide_mean, wide_var = (None if each is None else each.double().contiguous() for each in (mean, var))
        wide_weight, wide_bias = double(weight), double(bias)
        expected, save_mean, save_rstd = aten.native_batch_norm(
            x.double(), wide_weight, wide_bias, wide_mean, wide_var, training, momentum, eps
        )
        saved = [source.blank([channels if training else 0], "f4") for _ in "mv"]
        running = None if mean is None else mean.double(), None if var is None else var.double()
        out = source.like(x)
        peer.run("batch_norm", x, weight, bias, mean, var, training, momentum, eps, out, *saved)
        summed(out, expected, None, (kind, shape, training), 1e-4 if kind == "f4" else None)
        if training:
            summed(saved[0], save_mean, 10.0, (kind, "mean"))
            summed(saved[1], save_rstd, save_rstd.abs() * 10, (kind, "invstd"))
        if mean is not None:
            summed(mean, wide_mean, 10.0, (kind, "running mean"))
            summed(var, wide_var, 100.0, (kind, "running var"))
        g, rstd = plain(source, shape, kind), save_rstd.float().clamp(max=30)
        save_mean = save_mean.float()
        wanted = aten.native_batch_norm_backward(
            g.double().contiguous(), x.double().contiguous(), wide_weight, *running, save_mean.double(), rstd.double(),
            training, eps, MASK,
        )  # fmt: skip
        grads = [source.like(x), source.blank([channels], beside), source.blank([channels], beside)]
        if not training:
            mean, var = (source.view(each.to(TYPES[beside])) for each in running)
        peer.run(
            "batch_norm_backward", g, x, weight, mean, var, save_mean, rstd, training, eps, MASK, *grads
        )
        for place, (found, want) in enumerate(zip(grads, wanted)):
            size = 40.0 * float(rstd.max() if training else 2) * (1 if place == 0 else x.numel())
            summed(found, want.reshape(found.shape), size, (kind, shape, training, place))


def test_statistics_of_batches(peer):
    for kind, source in each(SINGLE, "stats"):
        shape = source.shape(least=2, most=4, size=4, empty=False)
        x, eps = plain(source, shape, kind), 1e-3
        axes = [axis for axis in range(len(shape)) if axis != 1]
        mean, rstd = source.blank([shape[1]], "f4"), source.blank([shape[1]], "f4")
        peer.run("batch_norm_stats", x, eps, mean, rstd)
        wanted = x.double().mean(axes), (x.double().var(axes, correction=0) + eps).rsqrt()
        summed(mean, wanted[0], 10.0, kind)
        summed(rstd, wanted[1], wanted[1] * 10, kind)
        weight, bias = near_one(source, [shape[1]], kind), plain(source, [shape[1]], kind)
        means, rstds = plain(source, [shape[1]], "f4"), near_one(source, [shape[1]], "f4")
        along = [-1 if axis == 1 else 1 for axis in range(len(shape))]
        m, r, w, b = (each.double().reshape(along) for each in (means, rstds, weight, bias))
        expected = (x.double() - m) * r * w + b
        found = peer.run("batch_norm_elemt", x, weight, bias, means, rstds, eps, source.like(x))
        summed(found, expected, ((x.double() - m) * r * w).abs() + b.abs() + 8, kind)


def test_batch_norm_of_several_devices(peer):
    """The statistics of parts give those of all, and the gradient in two steps is that in one."""
    for kind, source in each(SINGLE, "sync"):
        channels, eps = source.random.randint(1, 3), 1e-3
        x = plain(source, [4, channels, 3], kind)
        parts, counts = [x[:1], x[1:]], torch.tensor([3.0, 9.0])
        means = torch.stack([part.double().mean([0, 2]) for part in parts]).float()
        rstds = torch.stack([(part.double().var([0, 2], correction=0) + eps).rsqrt() for part in parts]).float()
        mean, rstd = source.blank([channels], "f4"), source.blank([channels], "f4")
        running = [torch.zeros(channels), torch.ones(channels)]
        peer.run(
            "batch_norm_gather_stats_with_counts", x, source.view(means), source.view(rstds), *running, 0.5, eps,
            counts, mean, rstd,
        )  # fmt: skip
        whole = x.double().transpose(0, 1).flatten(1)
        summed(mean, whole.mean(1), 10.0, kind, 1e-4)
        summed(rstd, (whole.var(1, correction=0) + eps).rsqrt(), rstd.double() * 10, kind, 1e-4)
        summed(running[0], whole.mean(1) * 0.5, 10.0, kind, 1e-4)
        summed(running[1], whole.var(1) * 0.5 + 0.5, 10.0, kind, 1e-4)
        g, weight = plain(source, x.shape, kind), near_one(source, [channels], kind)
        sums = [source.blank([channels], "f4") for _ in "ab"]
        grads = [source.blank([channels], kind) for _ in "wb"]
        peer.run("batch_norm_reduce_backward", g, x, mean, rstd, weight, True, True, True, *sums, *grads)
        total = torch.tensor([3, 9], dtype=torch.int32)
        found = source.like(x)
        peer.run("batch_norm_elemt_backward", g, x, mean, rstd, weight, *sums, total, found)
        wanted = aten.native_batch_norm_backward(
            g.double().contiguous(), x.double().contiguous(), weight.double(), None, None, mean.double(),
            rstd.double(), True, eps, MASK,
        )  # fmt: skip
        size = float(rstd.max()) * 40.0
        summed(found, wanted[0], size, (kind, "input"))
        summed(grads[0], wanted[1], size * 12, (kind, "weight"))
        summed(grads[1], wanted[2], size * 12, (kind, "bias"))


def test_rms_norm(peer):
    for kind, source in each(SINGLE, "rms_norm"):
        shape = source.shape(least=1, empty=False)
        dims, eps = source.random.randint(1, len(shape)), source.one(1e-6, 1e-2)
        inner, outer = shape[-dims:], [*shape[:-dims], *[1] * dims]
        x, gamma = plain(source, shape, kind), near_one(source, inner, kind)
        axes = list(range(len(shape) - dims, len(shape)))
        leaf, scale = x.double().requires_grad_(), gamma.double().requires_grad_()
        expected = F.rms_norm(leaf, inner, scale, eps)
        rstd = (x.double().square().mean(axes, True) + eps).rsqrt()
        out, rstd_out = source.like(x), source.blank(outer, "f4")
        peer.run("rms_norm", x, gamma, eps, out, rstd_out)
        summed(out, expected.detach(), None, (kind, shape, dims))
        summed(rstd_out, rstd, rstd, (kind, "rstd"))
        g = plain(source, shape, kind)
        expected.backward(g.double())
        grads = [source.like(x), source.blank(inner, "f4")]
        peer.run("rms_norm_grad", g, x, source.view(rstd.float()), gamma, *grads)
        summed(grads[0], leaf.grad, float(rstd.max()) * 40.0, (kind, "dx"))
        summed(grads[1], scale.grad, 10.0 * x.numel(), (kind, "dgamma"))
        other = plain(source, shape, kind)
        outs = [source.like(x), source.blank(outer, "f4"), source.like(x)]
        peer.run("add_rms_norm", x, other, gamma, eps, *outs)
        pointwise(outs[2], x.double() + other.double(), kind, steps=1)
        wanted = F.rms_norm((x + other).double(), inner, gamma.double(), eps)  # of the rounded sum
        summed(outs[0], wanted, None, (kind, "add"))


def test_instance_norm(peer):
    for kind, source in each("f4 f2", "instance_norm"):
        shape = [source.random.randint(1, 3), source.random.randint(1, 3), 4, source.random.randint(2, 4)]
        x, gamma, beta = plain(source, shape, kind), near_one(source, shape[1:2], kind), plain(source, shape[1:2], kind)
        expected = F.instance_norm(x.double(), None, None, gamma.double(), beta.double(), True, 0.1, 1e-3)
        mean, var = x.double().mean([2, 3], True), x.double().var([2, 3], correction=0, keepdim=True)
        outs = [source.like(x), source.like(mean, kind), source.like(var, kind)]
        peer.run("instance_norm", x, gamma, beta, "NCHW", 1e-3, *outs)
        for found, want in zip(outs, (expected, mean, var)):
            summed(found, want, None, kind)


def test_group_norm_with_silu(peer):
    for kind, source in each(SINGLE, "group_norm_silu"):
        groups = source.random.randint(1, 3)
        x = plain(source, [2, groups * 2, source.random.randint(1, 5), 3], kind)
        gamma, beta = near_one(source, x.shape[1:2], kind), plain(source, x.shape[1:2], kind)
        expected = F.silu(F.group_norm(x.double(), groups, gamma.double(), beta.double(), 1e-3))
        stats = [source.blank([2, groups], kind) for _ in "mr"]
        out = source.like(x)
        peer.run("group_norm_silu", x, gamma, beta, groups, 1e-3, out, *stats)
        summed(out, expected, None, kind)
        peer.run("group_norm_silu_v2", x, gamma, beta, groups, 1e-3, True, out, *stats)
        summed(out, expected, None, kind)


def test_adam(peer):
    """Ten steps, of AdamW with and without the largest second moments."""
    for kind, source in each("f4", "adam"):
        shape, amsgrad, maximize = source.shape(least=1, empty=False), source.one(True, False), source.one(True, False)
        decay = source.one(0.0, 0.1)
        var = source.view(source.values(shape, kind, wild=False))
        leaf = var.double().requires_grad_()
        named = {"lr": 0.01, "betas": (0.9, 0.99), "eps": 1e-6, "weight_decay": decay}
        optimizer = torch.optim.AdamW([leaf], **named, amsgrad=amsgrad, maximize=maximize)
        m, v, most = (torch.zeros_like(var) for _ in "mvx")
        for step in range(1, 11):
            g = plain(source, shape, kind)
            leaf.grad = g.double()
            optimizer.step()
            at = torch.tensor([step - 1], dtype=TYPES[source.one("f4", "i8")])
            peer.run(
                "apply_adam_wv2", var, m, v, most if amsgrad else None, g, at, 0.01, 0.9, 0.99, decay, 1e-6, amsgrad,
                maximize,
            )  # fmt: skip
        summed(var, leaf.detach(), leaf.detach().abs() + 0.1, (kind, amsgrad, maximize, decay), 1e-4)


# --- Foreach

ONE = [
    "abs", "acos", "asin", "atan", "cos", "cosh", "erf", "erfc", "exp", "expm1", "log", "log10", "log1p", "log2",
    "neg", "reciprocal", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh",
]  # fmt: skip
TWO = {
    "add_list_v2": (torch.add, (2,)), "sub_list_v2": (torch.sub, (2,)), "mul_list": (torch.mul, ()),
    "div_list": (torch.div, ()), "maximum_list": (torch.maximum, ()), "minimum_list": (torch.minimum, ()),
    "pow_list": (torch.pow, ()),
}  # fmt: skip
NUMBER = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "pow": torch.pow,
    "maximum": lambda x, s: torch.clamp_min(x, s), "minimum": lambda x, s: torch.clamp_max(x, s),
}  # fmt: skip


def some(source, kind, count=3, wild=True):
    return [source.take(source.shape(), kind, wild=wild) for _ in range(count)]


def like(source, tensors, wild=True):
    return [source.take(tensor.shape, tensor.dtype, wild=wild) for tensor in tensors]


def blanks(source, tensors):
    return [source.like(tensor) for tensor in tensors]


def compare(outs, expected, note, error=None):
    for found, want in zip(outs, expected):
        pointwise(found, want, note, error=error)


@pytest.mark.parametrize("name", ONE)
def test_lists(peer, name):
    for kind, source in each(SINGLE, "foreach", name, rounds=4):
        xs = some(source, kind)
        outs = blanks(source, xs)
        peer.run(f"foreach_{name}", xs, outs)
        compare(outs, [getattr(torch, name)(x.double()) for x in xs], (name, kind))


@pytest.mark.parametrize("name", TWO)
def test_two_lists(peer, name):
    function, further = TWO[name]
    for kind, source in each(f"{SINGLE} i4", "foreach", name, rounds=6):
        if kind == "i4" and name.startswith(("div", "pow")):
            continue
        xs = some(source, kind, wild=not further)
        ys = like(source, xs, wild=not further)
        outs, numbers = blanks(source, xs), [2 if kind == "i4" else 2.0 for _ in further]
        peer.run(f"foreach_{name}", xs, ys, *numbers, outs)
        named = {"alpha": numbers[0]} if further else {}
        wide = [[each.double() if kind != "i4" else each for each in list_] for list_ in (xs, ys)]
        expected = [function(x, y, **named) for x, y in zip(*wide)]
        compare(outs, expected, (name, kind), error=60 * torch.finfo(outs[0].dtype).eps if kind != "i4" else None)


@pytest.mark.parametrize("name", NUMBER)
def test_lists_and_a_number(peer, name):
    for kind, source in each(SINGLE, "foreach", name, "number", rounds=6):
        xs = some(source, kind, wild=False)
        if name == "pow":
            xs = [source.view(x.abs()) for x in xs]
        numbers = [source.one(0.5, 2.0, 3.0) for _ in xs]
        error = 32 * torch.finfo(xs[0].dtype).eps
        for form in ("scalar_v2", "scalar", "scalar_list"):
            if f"foreach_{name}_{form}" not in nnop._operators():
                continue
            used = numbers if form == "scalar_list" else numbers[:1] * 3
            given = {
                "scalar_v2": numbers[0], "scalar_list": numbers,
                "scalar": torch.tensor([numbers[0]], dtype=xs[0].dtype if kind != "b2" else torch.float32),
            }[form]  # fmt: skip
            outs = blanks(source, xs)
            peer.run(f"foreach_{name}_{form}", xs, given, outs)
            compare(outs, [NUMBER[name](x.double(), s) for x, s in zip(xs, used)], (name, kind, form), error)


def test_lists_and_special_powers(peer):
    x = torch.tensor([math.nan, math.inf, -math.inf, 0.0, -0.0, 4.0, -4.0])
    for power in (0.5, -0.5, 2.0, 3.0, -1.0, 0.0, math.inf, math.nan):
        expected, outs = torch._foreach_pow([x], power), [torch.zeros_like(x)]
        peer.run("foreach_pow_scalar_v2", [x], power, outs)
        compare(outs, expected, power)
        peer.run("foreach_pow_scalar_list", [x], [power], outs)
        compare(outs, expected, power)


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
def test_three_lists(peer, name):
    for kind, source in each(SINGLE, "foreach", name, rounds=6):
        xs = some(source, kind, wild=False)
        ys = like(source, xs, wild=False)
        zs = [source.take(x.shape, kind, low=0.5, high=2.0, wild=False) for x in xs]
        outs, error = blanks(source, xs), 64 * torch.finfo(xs[0].dtype).eps
        wide = [[each.double() for each in list_] for list_ in (xs, ys, zs)]
        peer.run(f"foreach_{name}_scalar_v2", xs, ys, zs, 0.5, outs)
        compare(outs, getattr(torch, f"_foreach_{name}")(*wide, 0.5), (name, kind), error)
        short = torch.float32 if kind == "b2" else xs[0].dtype
        numbers = torch.tensor([0.5, 2.0, -1.0], dtype=short)
        peer.run(f"foreach_{name}_list", xs, ys, zs, numbers, outs)
        compare(outs, getattr(torch, f"_foreach_{name}")(*wide, numbers.tolist()), (name, kind), error)


def test_other_lists(peer):
    for kind, source in each(SINGLE, "foreach others", rounds=6):
        xs = some(source, kind, wild=False)
        ys, ws, outs = like(source, xs, wild=False), like(source, xs, wild=False), blanks(source, xs)
        wide = [[each.double() for each in list_] for list_ in (xs, ys, ws)]
        error = 256 * torch.finfo(xs[0].dtype).eps
        peer.run("foreach_lerp_scalar", xs, ys, 0.25, outs)
        compare(outs, torch._foreach_lerp(*wide[:2], 0.25), kind, error)
        peer.run("foreach_lerp_list", xs, ys, ws, outs)
        compare(outs, torch._foreach_lerp(*wide), kind, error)
        peer.run("foreach_copy", xs, outs)
        compare(outs, xs, kind)
        peer.run("foreach_pow_scalar_and_tensor", 2.0, xs, outs)
        compare(outs, [torch.pow(2.0, x) for x in wide[0]], kind, None)
        for order in (1.0, 2.0, math.inf):
            norms = [source.blank([], kind) for _ in xs]
            if any(x.numel() == 0 for x in xs) and order == math.inf:
                continue
            peer.run("foreach_norm", xs, order, norms)
            for found, x in zip(norms, wide[0]):
                summed(found, torch.linalg.vector_norm(x, order), None, (kind, order))
        peer.run("foreach_zero_inplace", outs)
        compare(outs, [torch.zeros_like(x) for x in xs], kind)

