"""Functions of several operands, comparisons, bits and type promotion against PyTorch."""

import math

import pytest
import torch
from helpers.torch_peer import FLOATS, INTEGERS, REAL, SINGLE, TYPES, Numeric, documented, each, pointwise, same, wide

from acl import nnop

pytestmark = [pytest.mark.torch, pytest.mark.needs_sim]
F = torch.nn.functional
aten = torch.ops.aten
SIGNED = "i1 i2 i4 i8"


def exact(function, *operands):
    """Return the value, for floats in double precision, and the type of PyTorch's result.

    Here a tensor without dimensions promotes like any other.
    """
    tensors = [each for each in operands if isinstance(each, torch.Tensor)]
    for each_one in tensors[1:]:
        met = torch.promote_types(tensors[0].dtype, each_one.dtype)
        operands = [each.to(met) if isinstance(each, torch.Tensor) else each for each in operands]
    usual = function(*operands)
    if not usual.is_floating_point():
        return usual, usual.dtype
    return function(*(each.double() if isinstance(each, torch.Tensor) else each for each in operands)), usual.dtype


def nonzero(x):
    """Return integers without zeros, by which PyTorch refuses to divide."""
    return x if x.is_floating_point() else torch.where(x == 0, torch.ones_like(x), x)


def by_mode(mode):
    return lambda x, y: torch.div(x, y, rounding_mode=[None, "trunc", "floor"][mode])


# By the operator: the function of two tensors, its types, what stands between the operands and the output.
BINARY = {
    "atan2": (torch.atan2, REAL, ()),
    "bitwise_and_tensor": (torch.bitwise_and, f"? {INTEGERS}", ()),
    "bitwise_or_tensor": (torch.bitwise_or, f"? {INTEGERS}", ()),
    "bitwise_xor_tensor": (torch.bitwise_xor, f"? {INTEGERS}", ()),
    "clamp_max_tensor": (torch.minimum, f"{FLOATS} i4 i8", ()),
    "clamp_min_tensor": (torch.maximum, f"{FLOATS} i4 i8", ()),
    "div": (torch.div, REAL, ()),
    "floor_divide": (torch.floor_divide, f"{INTEGERS} {FLOATS}", ()),
    "fmod_tensor": (torch.fmod, f"{INTEGERS} {FLOATS}", ()),
    "gcd": (torch.gcd, SIGNED, ()),
    "logical_and": (torch.logical_and, REAL, ()),
    "logical_or": (torch.logical_or, REAL, ()),
    "logical_xor": (torch.logical_xor, REAL, ()),
    "log_add_exp": (torch.logaddexp, FLOATS, ()),
    "log_add_exp2": (torch.logaddexp2, FLOATS, ()),
    "maximum": (torch.maximum, REAL, ()),
    "minimum": (torch.minimum, REAL, ()),
    "mul": (torch.mul, REAL, ()),
    "pow_tensor_tensor": (torch.pow, f"{INTEGERS} {FLOATS}", ()),
    "remainder_tensor_tensor": (torch.remainder, f"{INTEGERS} {FLOATS}", ()),
    "x_log_y_tensor": (torch.xlogy, REAL, ()),
    "add": (lambda x, y: torch.add(x, y, alpha=2), f"{INTEGERS} {SINGLE}", (2,)),
    "sub": (lambda x, y: torch.sub(x, y, alpha=3), f"{INTEGERS} {SINGLE}", (3,)),
    "rsub": (lambda x, y: torch.rsub(x, y, alpha=2), f"{INTEGERS} {SINGLE}", (2,)),
    "eq_tensor": (torch.eq, REAL, ()), "ne_tensor": (torch.ne, REAL, ()), "gt_tensor": (torch.gt, REAL, ()),
    "ge_tensor": (torch.ge, REAL, ()), "lt_tensor": (torch.lt, REAL, ()), "le_tensor": (torch.le, REAL, ()),
    "is_close": (lambda x, y: torch.isclose(x, y, 0.1, 0.5, True), REAL, (0.1, 0.5, True)),
    "lerps": (lambda x, y: torch.lerp(x, y, 0.7), SINGLE, (0.7,)),
}  # fmt: skip
DIVISIONS = ("floor_divide", "fmod_tensor", "remainder_tensor_tensor")


def few(source, shape, kind):
    """Return an operand; half of the cases have few values, so that many are equal."""
    if source.one(True, False) and kind in FLOATS.split():
        return source.view(source.values(shape, "i4", scale=1).to(TYPES[kind]), repeats=True)
    return source.take(shape, kind)


def powers(source, x, y):
    """Keep the exponents of integers non-negative, as PyTorch asks."""
    return (x, y) if y.is_floating_point() else (x, y.abs() % 5)


@pytest.mark.parametrize("name", BINARY)
def test_two_tensors(peer, name):
    function, kinds, further = BINARY[name]
    for kind, source in each(kinds, name):
        other_kind = source.one(kind, kind, *kinds.split())
        with documented(kind + other_kind, "" if kind != other_kind else "f4f4"):
            shape = source.shape()
            x, y = few(source, source.stretched(shape), kind), few(source, source.stretched(shape), other_kind)
            if name in DIVISIONS:
                y = nonzero(y)
            if name == "pow_tensor_tensor":
                x, y = powers(source, x, y)
            expected, out_kind = exact(function, x, y)
            out = source.like(expected, out_kind)
            found = peer.run(name, x, y, *further, out)
            error = None
            if name in ("floor_divide",):  # the quotient of rounded numbers may round to the next whole number
                error = 1.0
            if name in ("add", "sub", "rsub", "lerps"):  # what cancels
                size = x.double().abs().nan_to_num(0, 0, 0).max() if x.numel() else 0
                more = y.double().abs().nan_to_num(0, 0, 0).max() if y.numel() else 0
                error = 0 if not found.is_floating_point() else torch.finfo(found.dtype).eps * min(1e3, size + 3 * more)
            if name.startswith("log_add"):
                error = 4 * torch.finfo(found.dtype).eps
            if name.startswith(("fmod", "remainder")) and found.is_floating_point():
                continue  # see test_remainders
            pointwise(found, expected, (name, kind, other_kind), error=error)


@pytest.mark.parametrize("name", ["fmod_tensor", "remainder_tensor_tensor"])
def test_remainders(peer, name):
    function = BINARY[name][0]
    for kind, source in each(SINGLE, name, "floats"):
        shape = source.shape()
        x, y = source.take(shape, kind), source.take(shape, kind)
        found = peer.run(name, x, y, source.like(x))
        usual = function(x, y) if kind == "f4" else function(x.float(), y.float()).to(x.dtype)
        agree = (found == usual) | (found.isnan() & usual.isnan())
        other = function(x.double(), y.double()).to(x.dtype)
        agree |= (found == other) | (found.isnan() & other.isnan())
        assert agree.all(), (kind, x[~agree], y[~agree], found[~agree], usual[~agree])


@pytest.mark.parametrize("name", [name for name in BINARY if f"inplace_{name}" in nnop._operators()])
def test_two_tensors_in_place(peer, name):
    function, kinds, further = BINARY[name]
    for kind, source in each(kinds, name, "in place"):
        with documented(kind, "f4" if "f4" in kinds else "i4"):
            shape = source.shape()
            x, y = source.view(source.values(shape, kind)), few(source, source.stretched(shape), kind)
            if name in DIVISIONS:
                y = nonzero(y)
            if name == "pow_tensor_tensor":
                x, y = powers(source, x, y)
            if name in ("div", "atan2", "x_log_y_tensor") and not x.is_floating_point():
                continue  # PyTorch does not store fractions in integers
            if name.startswith(("fmod", "remainder", "floor_d", "add", "sub", "lerps")) and x.is_floating_point():
                continue  # see above: in place and not, the same functions run
            expected, _ = exact(function, x, y)
            peer.run(f"inplace_{name}", x, y, *further)
            pointwise(x, expected.to(x.dtype), (name, kind))


# By the operator: the function of a tensor and a number, its types, what follows the number.
WITH_NUMBER = {
    "adds": (lambda x, s: torch.add(x, s, alpha=2), f"{INTEGERS} {FLOATS}", (2,)),
    "subs": (lambda x, s: torch.sub(x, s, alpha=2), f"{INTEGERS} {FLOATS}", (2,)),
    "rsubs": (lambda x, s: torch.rsub(x, s, alpha=2), f"{INTEGERS} {FLOATS}", (2,)),
    "muls": (torch.mul, REAL, ()),
    "divs": (torch.div, REAL, ()),
    "bitwise_and_scalar": (torch.bitwise_and, f"? {INTEGERS}", ()),
    "bitwise_or_scalar": (torch.bitwise_or, f"? {INTEGERS}", ()),
    "bitwise_xor_scalar": (torch.bitwise_xor, f"? {INTEGERS}", ()),
    "eq_scalar": (torch.eq, REAL, ()), "ne_scalar": (torch.ne, REAL, ()), "gt_scalar": (torch.gt, REAL, ()),
    "ge_scalar": (torch.ge, REAL, ()), "lt_scalar": (torch.lt, REAL, ()), "le_scalar": (torch.le, REAL, ()),
    "floor_divides": (torch.floor_divide, f"{INTEGERS} {FLOATS}", ()),
    "fmod_scalar": (torch.fmod, f"{INTEGERS} {FLOATS}", ()),
    "remainder_tensor_scalar": (torch.remainder, f"{INTEGERS} {FLOATS}", ()),
    "pow_tensor_scalar": (torch.pow, f"{INTEGERS} {FLOATS}", ()),
    "x_log_y_scalar_other": (torch.xlogy, REAL, ()),
}  # fmt: skip


@pytest.mark.parametrize("name", WITH_NUMBER)
def test_tensor_and_number(peer, name):
    function, kinds, further = WITH_NUMBER[name]
    for kind, source in each(kinds, name):
        whole = source.one(*([True] if "bitwise" in name else [True, False]))
        number = source.one(1, 2, 3, -3) if whole else source.one(0.5, 2.0, -1.5, 3.0, 1e-3)
        if kind in ("u1", "?") or (name == "pow_tensor_scalar" and kind not in FLOATS.split()):
            number = abs(number)
        with documented(kind, "f4" if "f4" in kinds else "i4"):
            x = few(source, source.shape(), kind)
            expected, out_kind = exact(function, x, number)
            out = source.like(expected, out_kind)
            found = peer.run(name, x, number, *further, out)
            if found.is_floating_point() and name in ("adds", "subs", "rsubs"):
                size = x.double().abs().nan_to_num(0, 0, 0).clamp(max=1e3)
                error = torch.finfo(found.dtype).eps * (size + 8)
                pointwise(found, expected, (name, kind, number), error=error)
            elif found.is_floating_point() and name in ("floor_divides", "fmod_scalar", "remainder_tensor_scalar"):
                single = x.float() if kind in ("f2", "b2") else x
                usual = function(single, number).to(found.dtype)
                found, usual = (each.where(x.abs().double() < 1e4, 0) for each in (found, usual))
                scale = torch.finfo(found.dtype).eps * 16 if name != "floor_divides" else 1.0
                pointwise(found, usual, (name, kind, number), error=scale)
            else:
                pointwise(found, expected, (name, kind, number))


def test_number_and_tensor(peer):
    for name, function in {
        "pow_scalar_tensor": lambda s, x: torch.pow(s, x),
        "x_log_y_scalar_self": lambda s, x: torch.xlogy(s, x),
    }.items():
        for kind, source in each(FLOATS, name):
            with documented(kind):
                number, x = source.one(2.0, 0.5, 3.0, 1.0, 0.0), source.take(source.shape(), kind)
                expected = function(number, x.double())
                pointwise(peer.run(name, number, x, source.like(x)), expected, (name, kind, number))


# By the operator: the function of three tensors and a number.
TERNARY = {
    "addcmul": lambda x, y, z, s: torch.addcmul(x, y, z, value=s),
    "addcdiv": lambda x, y, z, s: torch.addcdiv(x, y, z, value=s),
}


@pytest.mark.parametrize("name", TERNARY)
def test_three_tensors(peer, name):
    for kind, source in each(SINGLE, name):
        shape, number = source.shape(), source.one(1.0, -0.5, 2.0)
        x, y, z = (few(source, source.stretched(shape), kind) for _ in range(3))
        expected = TERNARY[name](x.double(), y.double(), z.double(), number)
        found = peer.run(name, x, y, z, number, source.like(expected, kind))
        inner = (expected - x.double()).abs() + x.double().abs()
        error = 4 * torch.finfo(x.dtype).eps * inner
        single = TERNARY[name](x.float(), y.float(), z.float(), number).to(x.dtype)  # products that overflow float32
        found = found.where(single.isfinite() == expected.to(x.dtype).isfinite(), expected.to(x.dtype))
        pointwise(found, expected, (name, kind, number), error=error)


def test_lerp(peer):
    for kind, source in each(SINGLE, "lerp"):
        shape = source.shape()
        x, y = (source.take(source.stretched(shape), kind, wild=False) for _ in range(2))
        weight = source.take(source.stretched(shape), kind, low=-1.0, high=2.0, wild=False)
        expected = torch.lerp(x.double(), y.double(), weight.double())
        found = peer.run("lerp", x, y, weight, source.like(expected, kind))
        pointwise(found, expected, kind, error=64 * torch.finfo(x.dtype).eps)


def test_clamp_tensor(peer):
    for kind, source in each(f"{FLOATS} i4 i8", "clamp_tensor"):
        with documented(kind):
            shape = source.shape()
            x, low, high = (few(source, source.stretched(shape), kind) for _ in range(3))
            low, high = source.one((low, high), (None, high), (low, None))
            expected = torch.clamp(x, low, high)
            same(peer.run("clamp_tensor", x, low, high, source.like(expected)), expected, kind)


def test_where(peer):
    for kind, source in each(f"{REAL} c8", "where"):
        with documented(kind):
            shape = source.shape()
            condition = source.take(source.stretched(shape), source.one("?", "u1"))
            x, y = (source.take(source.stretched(shape), kind) for _ in range(2))
            expected = torch.where(condition.bool(), x, y)
            same(peer.run("s_where", condition, x, y, source.like(expected)), expected, kind)


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_divisions_with_a_mode(peer, mode):
    for kind, source in each(f"{FLOATS} i4 i8 u1 i1", "div_mod", mode):
        with documented(kind):
            shape = source.shape()
            x, y = source.take(shape, kind), nonzero(source.take(shape, kind))
            expected, out_kind = exact(by_mode(mode), x, y)
            found = peer.run("div_mod", x, y, mode, source.like(expected, out_kind))
            if mode and found.is_floating_point():  # quotients of single precision
                single = x.float() if kind in ("f2", "b2") else x
                expected = by_mode(mode)(single, y.to(single.dtype)).to(x.dtype)
            pointwise(found, expected, (kind, mode), error=None if mode == 0 else 1.0)


def test_equal(peer):
    for kind, source in each(REAL, "equal"):
        with documented(kind):
            x = source.take(source.shape(), kind)
            y = source.one(x, source.view(x.clone()), source.take(x.shape, kind))
            out = torch.zeros((), dtype=torch.bool)
            assert peer.run("equal", x, y, out).item() == torch.equal(x, y), kind


def test_sums_of_lists(peer):
    for kind, source in each("f4 f2", "sum"):
        shape = source.shape()
        parts = [source.take(shape, kind, wild=False) for _ in range(source.random.randint(1, 4))]
        wides = torch.stack([part.double() for part in parts])
        found = peer.run("sum", parts, source.blank(shape, kind))
        pointwise(found, wides.sum(0), kind, error=4 * torch.finfo(found.dtype).eps * wides.abs().sum(0))
        for name, function in {"max_n": torch.amax, "min_n": torch.amin}.items():
            same(peer.run(name, parts, source.blank(shape, kind)), function(wides, 0), (name, kind))


def test_numbers_of_narrow_types(peer):
    """A number is rounded to the common type before the operation, as PyTorch does."""
    x = torch.tensor([1.0, 2.0, -3.0], dtype=torch.float16)
    for kind in ("f4", "f8", "f2", "i8"):
        number = 3 if kind == "i8" else 0.1
        found = peer.run("muls", x, Numeric(number, kind), torch.empty_like(x))
        pointwise(found, x.double() * number, kind, steps=1)


def test_integers_wrap(peer):
    x = torch.tensor([127, -128, 100, -100], dtype=torch.int8)
    same(peer.run("add", x, x, 1, torch.empty_like(x)), x + x)
    same(peer.run("mul", x, x, torch.empty_like(x)), x * x)
    big = torch.tensor([2**62, -(2**63), 2**63 - 1])
    same(peer.run("add", big, big, 1, torch.empty_like(big)), big + big)
    same(peer.run("mul", big, big, torch.empty_like(big)), big * big)
    assert math.isnan(wide(torch.tensor([float("nan")])).item())
