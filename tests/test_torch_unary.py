"""Functions of one operand, activations and their gradients against PyTorch."""

import pytest
import torch
from helpers.torch_peer import FLOATS, INTEGERS, REAL, SINGLE, TYPES, documented, each, pointwise, same

from acl import nnop

pytestmark = [pytest.mark.torch, pytest.mark.needs_sim]
F = torch.nn.functional
aten = torch.ops.aten

def by_tanh(x):
    """Return gelu's approximation without the cancellation of 1 + tanh(...)."""
    return x * torch.sigmoid(2 * (2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3))


# By the operator: the function. Integers give float32, where the function has fractional values.
MATH = {
    "abs": torch.abs, "acos": torch.acos, "acosh": torch.acosh, "asin": torch.asin, "asinh": torch.asinh,
    "atan": torch.atan, "atanh": torch.atanh, "ceil": torch.ceil, "cos": torch.cos, "cosh": torch.cosh,
    "erf": torch.erf, "erfc": torch.erfc, "erfinv": torch.erfinv, "exp": torch.exp, "exp2": torch.exp2,
    "expm1": torch.expm1, "floor": torch.floor, "frac": torch.frac, "lgamma": torch.lgamma, "log": torch.log,
    "log10": torch.log10, "log1p": torch.log1p, "log2": torch.log2, "neg": torch.neg, "reciprocal": torch.reciprocal,
    "round": torch.round, "rsqrt": torch.rsqrt, "sigmoid": torch.sigmoid, "sign": torch.sign, "sin": torch.sin,
    "sinc": torch.sinc, "sinh": torch.sinh, "sqrt": torch.sqrt, "tan": torch.tan, "tanh": torch.tanh,
    "trunc": torch.trunc, "is_finite": torch.isfinite, "is_inf": torch.isinf, "is_neg_inf": torch.isneginf,
    "is_pos_inf": torch.isposinf, "signbit": torch.signbit, "logical_not": torch.logical_not,
    "bitwise_not": torch.bitwise_not,
}  # fmt: skip
LOST = {"lgamma": 4e-6}  # the relative error near a root of the function is unbounded


def result(name, x):
    """Return the value computed in double precision, and the type of the result."""
    function = MATH[name]
    if x.is_floating_point():
        expected = function(x.double())
        return expected, expected.dtype if expected.dtype == torch.bool else x.dtype
    expected = function(x)
    if expected.is_floating_point():
        return function(x.double()), torch.float32
    return expected, expected.dtype


@pytest.mark.parametrize("name", MATH)
def test_function(peer, name):
    sure = "? i4" if name == "bitwise_not" else "f4"
    for kind, source in each(REAL if name != "bitwise_not" else f"? {INTEGERS}", name):
        with documented(kind, sure):
            x = source.take(source.shape(), kind)
            expected, out_kind = result(name, x)
            out = source.like(expected, out_kind)
            pointwise(peer.run(name, x, out), expected, (name, kind), error=LOST.get(name))


@pytest.mark.parametrize("name", [name for name in MATH if f"inplace_{name}" in nnop._operators()])
def test_function_in_place(peer, name):
    for kind, source in each(FLOATS, name, "in place"):
        with documented(kind):
            x = source.view(source.values(source.shape(), kind))
            expected, _ = result(name, x)
            pointwise(peer.run(f"inplace_{name}", x), expected, (name, kind), error=LOST.get(name))


def close(found, expected, note):
    """Assert that complex numbers agree relative to their size, where they are finite."""
    finite = expected.to(found.dtype).isfinite() & (expected.abs() > 1e-30)
    error = (found - expected).abs() / expected.abs()
    assert (error[finite] <= (1e-5 if found.dtype == torch.complex64 else 1e-12)).all(), (note, found, expected)


COMPLEX = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "exp2", "expm1", "log", "log10", "log1p",
    "log2", "neg", "reciprocal", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh",
]  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_function(peer, name):
    for kind, source in each("c8 c16", name, "complex"):
        with documented(kind):
            x = source.take(source.shape(), kind)
            close(peer.run(name, x, source.like(x)), MATH[name](x.to(torch.complex128)), (name, kind))


COMPLEX_PAIRS = {
    "add": (torch.add, (1,)), "sub": (torch.sub, (1,)), "mul": (torch.mul, ()), "div": (torch.div, ()),
    "pow_tensor_tensor": (torch.pow, ()),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX_PAIRS)
def test_complex_pairs(peer, name):
    function, further = COMPLEX_PAIRS[name]
    for kind, source in each("c8 c16", name, "complex"):
        with documented(kind):
            shape = source.shape(empty=False)
            x, y = (source.view(source.values(shape, kind, scale=1.0)) for _ in "xy")
            expected = function(x.to(torch.complex128), y.to(torch.complex128))
            close(peer.run(name, x, y, *further, source.like(x)), expected, (name, kind))


# By the operator: the function of the operand and of the further arguments; the arguments to try.
ACTIVATIONS = {
    "celu": (lambda x, a: F.celu(x, a), [(1.0,), (0.3,), (-0.7,)]),
    "elu": (lambda x, a, s, i: aten.elu(x, a, s, i), [(1.0, 1.0, 1.0), (0.3, 2.0, 0.5)]),
    "gelu": (by_tanh, [()]),
    "gelu_v2": (lambda x, way: by_tanh(x) if way else F.gelu(x), [(0,), (1,)]),
    "hardshrink": (F.hardshrink, [(0.5,), (0.0,)]),
    "hardsigmoid": (F.hardsigmoid, [()]),
    "hardswish": (F.hardswish, [()]),
    "hardtanh": (F.hardtanh, [(-1.0, 1.0), (-0.5, 2.5)]),
    "leaky_relu": (F.leaky_relu, [(0.01,), (-0.3,), (0.0,)]),
    "log_sigmoid": (F.logsigmoid, [()]),
    "logit": (lambda x, eps: torch.logit(x, eps if eps >= 0 else None), [(-1.0,), (0.0,), (0.25,)]),
    "mish": (F.mish, [()]),
    "relu": (F.relu, [()]),
    "round_decimals": (lambda x, d: torch.round(x, decimals=d), [(0,), (2,), (-1,)]),
    "selu": (F.selu, [()]),
    "silu": (F.silu, [()]),
    "softplus": (F.softplus, [(1.0, 20.0), (0.5, 3.0), (-1.0, 2.0)]),
    "softshrink": (F.softshrink, [(0.5,), (0.0,)]),
    "threshold": (F.threshold, [(0.5, 2.0), (-1.0, float("nan"))]),
    "clamp": (torch.clamp, [(-1.0, 2.0), (2.0, -1.0), (None, 0.5), (-0.5, None), (float("nan"), 1.0)]),
    "clamp_min": (torch.clamp_min, [(-0.5,), (float("nan"),)]),
    "clamp_max": (torch.clamp_max, [(0.5,), (float("inf"),)]),
    "nan_to_num": (torch.nan_to_num, [(0.0, 1.0, -2.0)]),
    "swish": (lambda x, b: x * torch.sigmoid((1.0 if b is None else b) * x), [(None,), (1.0,), (0.5,), (-2.0,)]),
}  # fmt: skip


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation(peer, name):
    function, choices = ACTIVATIONS[name]
    for kind, source in each(SINGLE, name):
        x = source.take(source.shape(), kind)
        further, rounding = source.one(*choices), 8 * torch.finfo(x.dtype).eps
        expected = function(x.double(), *further)
        lost = {"logit": 1e-6, "gelu": rounding, "gelu_v2": rounding}.get(name)
        if name == "round_decimals":  # double precision has other ties than the type
            expected = function(x.float(), *further)
        out = source.like(expected, x.dtype)
        pointwise(peer.run(name, x, *further, out), expected, (name, kind, further), error=lost)
        if f"inplace_{name}" in nnop._operators():
            x = source.view(x.clone())
            pointwise(peer.run(f"inplace_{name}", x, *further), expected, (name, kind, further), error=lost)


# Gradients: the function whose gradient it is, the further arguments to try, and the order of C's arguments:
# g is the gradient of the output, x the operand, y the output, * the further arguments.
GRADIENTS = {
    "elu_backward": (lambda x, a, s, i: aten.elu(x, a, s, i), [(1.0, 1.0, 1.0), (0.3, 2.0, 0.5)], "g*Fx"),
    "gelu_backward": (lambda x: F.gelu(x, approximate="tanh"), [()], "gx"),
    "hardshrink_backward": (F.hardshrink, [(0.5,), (0.0,)], "gx*"),
    "hardsigmoid_backward": (F.hardsigmoid, [()], "gx"),
    "hardswish_backward": (F.hardswish, [()], "gx"), "hardswish_backward_v2": (F.hardswish, [()], "gx"),
    "hardtanh_backward": (F.hardtanh, [(-1.0, 1.0), (-0.5, 2.5)], "gx*"),
    "leaky_relu_backward": (F.leaky_relu, [(0.01,), (-0.3,), (0.0,)], "gx*F"),
    "mish_backward": (F.mish, [()], "gx"),
    "selu_backward": (F.selu, [()], "gy"),
    "sigmoid_backward": (torch.sigmoid, [()], "gy"),
    "silu_backward": (F.silu, [()], "gx"),
    "softplus_backward": (F.softplus, [(1.0, 20.0), (0.5, 3.0)], "gx*"),
    "softshrink_backward": (F.softshrink, [(0.5,), (0.0,)], "gx*"),
    "tanh_backward": (torch.tanh, [()], "gy"),
    "threshold_backward": (lambda x, t: F.threshold(x, t, 0.0), [(0.5,), (0.0,)], "gx*"),
    "swish_backward": (lambda x, b: x * torch.sigmoid(b * x), [(1.0,), (-2.0,)], "gx*"),
    "logit_grad": (lambda x, eps: torch.logit(x, eps), [(1e-3,), (0.25,)], "xg*"),
}  # fmt: skip
# Of the special values, gradients of PyTorch itself are not defined at NaN and infinities: see test_gradients_of_nan.
RANGES = {"logit_grad": (0.0, 1.0)}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient(peer, name):
    function, choices, order = GRADIENTS[name]
    for kind, source in each(SINGLE, name):
        shape, further = source.shape(), source.one(*choices)
        low, high = RANGES.get(name, (-6.0, 6.0))
        x = source.view(source.values(shape, kind, wild=False, low=low, high=high), repeats=True)
        g = source.take(shape, kind, wild=False)
        y = function(x.double(), *further).to(x.dtype)
        if "y" in order:  # the gradient at what the output was rounded to
            formula = {
                "sigmoid_backward": lambda g, y: g * (1 - y) * y,
                "tanh_backward": lambda g, y: g * (1 - y * y),
                "selu_backward": lambda g, y: aten.elu_backward(
                    g, 1.6732632423543772, 1.0507009873554805, 1.0, True, y
                ),
            }[name]
            expected = formula(g.double(), y.double())
        else:
            leaf = x.double().detach().clone().requires_grad_()
            function(leaf, *further).backward(g.double())
            expected = leaf.grad
        parts = {"g": [g], "x": [x], "y": [y], "*": further, "F": [False]}
        out = source.like(expected, x.dtype)
        arguments = [argument for sign in order for argument in parts[sign]]
        error = 4 * torch.finfo(x.dtype).eps * g.abs().max().item() if g.numel() else 0
        pointwise(peer.run(name, *arguments, out), expected, (name, kind, further), error=error)


# By the backward operator: PyTorch's function of the gradient and the operand.
SPECIAL = {
    "hardshrink_backward": lambda g, x: aten.hardshrink_backward(g, x, 0.5),
    "hardsigmoid_backward": aten.hardsigmoid_backward,
    "hardswish_backward": aten.hardswish_backward,
    "hardtanh_backward": lambda g, x: aten.hardtanh_backward(g, x, -1.0, 1.0),
    "leaky_relu_backward": lambda g, x: aten.leaky_relu_backward(g, x, 0.1, False),
    "sigmoid_backward": aten.sigmoid_backward,
    "softplus_backward": lambda g, x: aten.softplus_backward(g, x, 1.0, 20.0),
    "softshrink_backward": lambda g, x: aten.softshrink_backward(g, x, 0.5),
    "tanh_backward": aten.tanh_backward,
    "threshold_backward": lambda g, x: aten.threshold_backward(g, x, 0.5),
    "gelu_backward": lambda g, x: aten.gelu_backward(g, x, approximate="tanh"),
    "silu_backward": aten.silu_backward,
    "mish_backward": aten.mish_backward,
}
FURTHER = {
    "hardshrink_backward": (0.5,), "hardtanh_backward": (-1.0, 1.0), "leaky_relu_backward": (0.1, False),
    "softplus_backward": (1.0, 20.0), "softshrink_backward": (0.5,), "threshold_backward": (0.5,),
}  # fmt: skip


@pytest.mark.parametrize("name", SPECIAL)
def test_gradients_of_nan(peer, name):
    nan, inf = float("nan"), float("inf")
    odd = [nan, inf, -inf, 0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 20.0]
    x = torch.tensor(odd).repeat(len(odd))
    g = torch.tensor(odd).repeat_interleave(len(odd))
    # Some of PyTorch's vectorised functions treat NaN in another way than its functions of one number do.
    expected = torch.cat([SPECIAL[name](*pair) for pair in zip(g.split(1), x.split(1))])
    out = peer.run(name, g, x, *FURTHER.get(name, ()), torch.empty_like(x))
    same(out.isnan(), expected.isnan(), (name, "NaN"))
    same(out.isinf(), expected.isinf(), (name, "inf"))


def test_gelu_backward_v2(peer):
    for kind, source in each(SINGLE, "gelu_backward_v2"):
        shape = source.shape()
        way = source.one("none", "tanh")
        x, g = source.take(shape, kind, wild=False), source.take(shape, kind, wild=False)
        expected = aten.gelu_backward(g.double(), x.double(), approximate=way)
        error = 4 * torch.finfo(x.dtype).eps * g.abs().max().item() if g.numel() else 0
        pointwise(peer.run("gelu_backward_v2", g, x, way, source.like(x)), expected, (kind, way), error=error)


def test_log_sigmoid_with_its_buffer(peer):
    for kind, source in each(SINGLE, "log_sigmoid_forward"):
        x = source.take(source.shape(), kind)
        out, buffer = source.like(x), source.like(x)
        peer.run("log_sigmoid_forward", x, out, buffer)
        pointwise(out, F.logsigmoid(x.double()), kind)
        g = source.take(x.shape, kind, wild=False)
        expected = g.double() * torch.sigmoid(-x.double())
        found = peer.run("log_sigmoid_backward", g, x, buffer, source.like(x))
        finite = x.isfinite()
        pointwise(found[finite], expected[finite], kind)


def test_r_relu_without_training(peer):
    for kind, source in each(SINGLE, "rrelu"):
        x = source.take(source.shape(), kind)
        noise = source.like(x)
        expected = F.rrelu(x.double(), 0.1, 0.5, training=False)
        pointwise(peer.run("r_relu_with_noise", x, noise, 0.1, 0.5, False, 0, 0, source.like(x)), expected, kind)


def test_r_relu_with_training(peer):
    """The noise is 1 for positive elements and NaN, as in PyTorch, and within the bounds for the others."""
    for kind, source in each(SINGLE, "rrelu training"):
        x = source.take(source.shape(), kind)
        noise, out = source.like(x), source.like(x)
        peer.run("r_relu_with_noise", x, noise, 0.25, 0.5, True, 7, 0, out)
        below = x <= 0
        assert ((noise[below] >= 0.25) & (noise[below] <= 0.5)).all(), kind
        assert (noise[~below] == 1).all(), kind
        pointwise(out, x.double() * noise.double(), kind)
        copy, other = source.view(x.clone()), source.like(x)
        peer.run("inplace_r_relu_with_noise", copy, other, 0.25, 0.5, True, 7, 0)
        same(copy, out, kind)


def test_prelu(peer):
    for kind, source in each(SINGLE, "prelu"):
        shape = source.shape(least=2)
        x = source.take(shape, kind)
        weight = source.take([source.one(1, shape[1])] if shape[1] else [1], kind, wild=False)
        pointwise(peer.run("prelu", x, weight, source.like(x)), F.prelu(x.double(), weight.double()), kind)


def test_glu(peer):
    for kind, source in each(SINGLE, "glu"):
        shape = source.shape(least=1)
        dim = source.random.randrange(-len(shape), len(shape))
        shape[dim] = 2 * source.random.randint(1, 4)
        x = source.take(shape, kind, wild=False)
        expected = F.glu(x.double(), dim)
        pointwise(peer.run("glu", x, dim, source.like(expected, kind)), expected, kind)
        g = source.take(expected.shape, kind, wild=False)
        leaf = x.double().requires_grad_()
        F.glu(leaf, dim).backward(g.double())
        eps = 16 * torch.finfo(x.dtype).eps
        scale = float(x.abs().max() * g.abs().max()) if g.numel() else 0
        pointwise(peer.run("glu_backward", g, x, dim, source.like(x)), leaf.grad, kind, error=eps * scale)


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_cast(peer):
    """What PyTorch leaves undefined is not compared: floats that the integer type cannot hold."""
    for kind, source in each(f"{REAL} c8 c16", "cast"):
        for to in [*REAL.split(), "c8", "c16"]:
            x = source.take(source.shape(), kind, wild=to not in INTEGERS)
            if kind in "f4 f2 b2 f8 c8 c16" and to == "u1":
                x = x.abs().to(x.dtype)
            found = peer.run("cast", x, TYPES[to], source.like(x, TYPES[to]))
            pointwise(found, x.to(TYPES[to]), (kind, to), steps=1)
