"""Operators on lists of tensors against NumPy: values, types, scalars in all forms, strides, in place, refusals."""

import math

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, ORDER, any_shape, any_view, blank, exact, numbers, rounded, stored
from helpers.pointwise import ALL, FEWER, SINGLE, compare
from helpers.tensors import CODES
from hypothesis import given, settings
from hypothesis import strategies as st
from test_operators_arithmetic import wide
from test_operators_unary import erfc, mild, sigmoid

import acl

LEAST = settings(FEWER, max_examples=20)
SHORT = ["i2", "i1", "u1"]
BOTH = [*SINGLE, "i4"]
WHOLE = [*BOTH, *SHORT]


def plus(one, other):
    """Return a sum, and the size of the summands, which may cancel."""
    return one + other, numpy.abs(one) + numpy.abs(other)


def between(start, end, weight):
    return start + weight * (end - start)


# By name: the function of the tensors and the scalar, the number of lists, the kinds, and the form of the scalar:
# "tensor", "value", "values" (a list of scalars), "many" (a tensor with one per member), "first" (before the lists).
OPERATORS = {
    "abs": (numpy.abs, 1, SINGLE, None),
    "acos": (numpy.arccos, 1, SINGLE, None),
    "asin": (numpy.arcsin, 1, SINGLE, None),
    "atan": (numpy.arctan, 1, SINGLE, None),
    "cos": (numpy.cos, 1, SINGLE, None),
    "cosh": (numpy.cosh, 1, SINGLE, None),
    "erf": (numpy.vectorize(math.erf, otypes=["f8"]), 1, SINGLE, None),
    "erfc": (erfc, 1, SINGLE, None),
    "exp": (numpy.exp, 1, [*SINGLE, *SHORT], None),
    "expm1": (numpy.expm1, 1, [*SINGLE, *SHORT], None),
    "log": (numpy.log, 1, SINGLE, None),
    "log10": (numpy.log10, 1, SINGLE, None),
    "log1p": (numpy.log1p, 1, SINGLE, None),
    "log2": (numpy.log2, 1, SINGLE, None),
    "neg": (numpy.negative, 1, WHOLE, None),
    "reciprocal": (lambda x: 1 / x, 1, SINGLE, None),
    "sigmoid": (sigmoid, 1, SINGLE, None),
    "sign": (numpy.sign, 1, [*SINGLE, "i1", "i4", "i8"], None),
    "sin": (numpy.sin, 1, SINGLE, None),
    "sinh": (numpy.sinh, 1, SINGLE, None),
    "sqrt": (numpy.sqrt, 1, SINGLE, None),
    "tan": (numpy.tan, 1, SINGLE, None),
    "tanh": (numpy.tanh, 1, SINGLE, None),
    "lerp_list": (between, 3, SINGLE, None),
    "lerp_scalar": (between, 2, SINGLE, "value"),
    "pow_scalar_and_tensor": (lambda x, s: numpy.power(s, x), 1, BOTH, "first"),
}
for base, dyadic in {
    "add": plus,
    "sub": lambda a, s: plus(a, -s),
    "mul": numpy.multiply,
    "div": numpy.divide,
    "maximum": numpy.maximum,
    "minimum": numpy.minimum,
    "pow": numpy.power,
}.items():
    pool = SINGLE if base == "div" else BOTH
    OPERATORS[f"{base}_scalar"] = (dyadic, 1, WHOLE if base == "add" else pool, "tensor")
    OPERATORS[f"{base}_scalar_v2"] = (dyadic, 1, {"add": WHOLE, "pow": SINGLE}.get(base, pool), "value")
    OPERATORS[f"{base}_scalar_list"] = (dyadic, 1, pool, "values")
    OPERATORS[f"{base}_list"] = (dyadic, 2, WHOLE if base == "mul" else pool, None)
for base, summed, count, pool in (
    ("add", lambda a, b, s: plus(a, s * b), 2, WHOLE),
    ("sub", lambda a, b, s: plus(a, -s * b), 2, WHOLE),
    ("addcmul", lambda a, b, c, s: plus(a, s * b * c), 3, BOTH),
    ("addcdiv", lambda a, b, c, s: plus(a, s * b / c), 3, SINGLE),
):
    if count == 2:
        forms = {"list": "tensor", "list_v2": "value"}
    else:
        forms = {"scalar": "tensor", "scalar_v2": "value", "list": "many", "scalar_list": "many"}
    OPERATORS.update({f"{base}_{suffix}": (summed, count, pool, form) for suffix, form in forms.items()})


def small(generator, shape, kind):
    """Return random values; the integers are valid exponents, and their powers fit any type."""
    return stored(generator.integers(0, 4, shape) if ORDER[kind] < 2 else generator.normal(0, 2, shape), kind)


def scalar_kinds(form, kind):
    """Return the types of scalars that tensors of this kind take."""
    if form == "many":
        return [kind]
    if ORDER[kind] < 2:
        return ["i4"] if form == "tensor" else ["i4", "i8"]
    return ["f4", *(["f2"] if kind == "f2" else []), *([] if form == "tensor" else ["f8"])]


def scalar_list(npu, values, kind):
    """Return a list of scalars."""
    handle = acl.create_scalar_list([npu.scalar(value, kind) for value in values])
    assert handle != 0
    npu.ends.append((acl.destroy_scalar_list, handle))
    return handle


def scalar_of(npu, generator, form, kind, count):
    """Return a random scalar as it is passed for tensors of this kind, and its value for each of ``count`` members."""
    one = generator.choice(scalar_kinds(form, kind))
    values = small(generator, (count if form in ("values", "many") else 1,), one)
    if form == "many":
        argument = npu.tensor(values, one)
    elif form == "tensor":
        argument = npu.tensor(values.reshape((1,) * int(generator.integers(0, 2))), one)
    else:
        argument = scalar_list(npu, values, one) if form == "values" else npu.scalar(values[0], one)
    exactly = exact(values, one)
    return argument, numpy.broadcast_to(wide(exactly if ORDER[one] < 2 else rounded(exactly, "f4"), one), (count,))


def ordered(form, lists, scalars):
    return [*scalars, *lists] if form == "first" else [*lists, *scalars]


@pytest.mark.parametrize("name", OPERATORS)
@LEAST
@given(data=st.data())
def test_operator(npu, name, data):
    function, count, kinds, form = OPERATORS[name]
    generator = numpy.random.default_rng(data.draw(st.integers(0, 2**32)))
    kind = data.draw(st.sampled_from(kinds))
    values = mild if (count, form) == (1, None) else small
    shapes = [any_shape(data.draw) for _ in range(data.draw(st.integers(1, 3)))]
    lists = [[any_view(data.draw, generator, shape, kind, values) for shape in shapes] for _ in range(count + 1)]
    tensors = [[npu.view(*view, kind) for view in views] for views in lists]
    *operands, out = [npu.list(each) for each in tensors]
    scalars, factors = [], None
    if form is not None:
        scalar, factors = scalar_of(npu, generator, form, kind, len(shapes))
        scalars = [scalar]
    assert npu.call(f"foreach_{name}", *ordered(form, operands, scalars), out) == 0
    for place, result in enumerate(tensors[-1]):
        given_values = [wide(exact(views[place][1], kind), kind) for views in lists[:-1]]
        with numpy.errstate(all="ignore"):
            expected = function(*given_values, *([] if factors is None else [factors[place]]))
        expected, size = expected if isinstance(expected, tuple) else (expected, None)
        if ORDER[kind] < 2 and expected.dtype.kind == "f":  # a fraction is truncated
            expected = numpy.clip(numpy.trunc(expected), numpy.iinfo(kind).min, numpy.iinfo(kind).max)
        compare(npu.get(result), expected, kind, kind, size)


@pytest.mark.parametrize("name", ["sqrt", "add_list_v2", "addcmul_scalar_v2"])
def test_in_place(npu, name):
    """The results may be the operands, also in another order."""
    function, count, _, form = OPERATORS[name]
    scalars = [] if form is None else [npu.scalar(2)]
    for turned in (False, True):
        arrays = [numpy.arange(1, 601, dtype="f4") + place for place in range(2 * count)]
        pairs = [[npu.tensor(array) for array in arrays[place : place + 2]] for place in range(0, 2 * count, 2)]
        outs = pairs[0][::-1] if turned else pairs[0]
        assert npu.call(f"foreach_{name}", *map(npu.list, pairs), *scalars, npu.list(outs)) == 0
        for place, out in enumerate(outs):
            expected = function(*(arrays[place::2]), *([2] if scalars else []))
            expected = expected[0] if isinstance(expected, tuple) else expected
            assert numpy.array_equal(npu.get(out), expected.astype("f4"))


def test_special_values(npu):
    nan, inf = numpy.nan, numpy.inf
    x, y = numpy.array([nan, inf, -inf, 0, -1, 1], "f4"), numpy.array([0, nan, 1, 0, 0, -inf], "f4")
    for name, expected in {
        "sqrt": [nan, inf, nan, 0, nan, 1],
        "log": [nan, inf, nan, -inf, nan, 0],
        "acos": [nan, nan, nan, numpy.arccos(0), numpy.pi, 0],
        "reciprocal": [nan, 0, 0, inf, -1, 1],
        "sign": [0, 1, -1, 0, -1, 1],  # as in PyTorch, the sign of NaN is 0
        "maximum_list": [nan, nan, 1, 0, 0, 1],
        "minimum_list": [nan, nan, -inf, 0, -1, -inf],
        "div_list": [nan, nan, -inf, nan, -inf, 0],
        "pow_list": [1, nan, -inf, 1, 1, 1],
    }.items():
        out = blank(npu, "f4", (6,))
        operands = [npu.list([npu.tensor(each)]) for each in (x, y)[: OPERATORS[name][1]]]
        assert npu.call(f"foreach_{name}", *operands, npu.list([out])) == 0
        assert numpy.allclose(npu.get(out), numpy.array(expected, "f4"), rtol=1e-6, atol=0, equal_nan=True), name


def test_integers_wrap_and_fractions_are_truncated(npu):
    for name, kind, values, expected in (
        ("add_list_v2", "u1", ([200, 3], [100, 4]), [44, 7]),
        ("mul_list", "i1", ([100, -128], [2, -1]), [-56, -128]),
        ("neg", "u1", ([5, 0],), [251, 0]),
        ("exp", "i1", ([10, -1],), [127, 0]),
        ("expm1", "u1", ([1, 10],), [1, 255]),
        ("pow_list", "i4", ([2, -1], [-1, -3]), [0, -1]),
    ):
        out = blank(npu, kind, (2,))
        operands = [npu.list([npu.tensor(numpy.array(each, kind))]) for each in values]
        scalars = [npu.scalar(1, "i8")] if name == "add_list_v2" else []
        assert npu.call(f"foreach_{name}", *operands, *scalars, npu.list([out])) == 0
        assert npu.get(out).tolist() == expected, name


# --- Operators without a formula of another operator


def test_a_copy(npu):
    for kind in (kind for kind in ALL if kind not in ("u8", "c8", "c16")):
        generator = numpy.random.default_rng(1)
        arrays = [numbers(generator, shape, kind) for shape in ((3, 4), (), (0, 2))]
        outs = [blank(npu, kind, numpy.shape(array)) for array in arrays]
        assert npu.call("foreach_copy", npu.list([npu.tensor(array, kind) for array in arrays]), npu.list(outs)) == 0
        for out, array in zip(outs, arrays):
            assert numpy.array_equal(npu.get(out), array)
    pair = [npu.tensor(numpy.array(values, "f4")) for values in ([1, 2], [3, 4])]
    assert npu.call("foreach_copy", npu.list(pair), npu.list(pair[::-1])) == 0
    assert [npu.get(each).tolist() for each in pair] == [[3, 4], [1, 2]]


@pytest.mark.parametrize("kind", [*SINGLE, "i2", "i4"])
def test_zero(npu, kind):
    tensors = [npu.tensor(numpy.ones(shape, "u2" if kind == "b2" else kind), kind) for shape in ((3, 4), (), (700,))]
    assert npu.call("foreach_zero_inplace", npu.list(tensors)) == 0
    assert not any(npu.get(tensor).any() for tensor in tensors)


@pytest.mark.parametrize("order", [1, 2, 0, 3, 0.5, math.inf, -math.inf])
@LEAST
@given(data=st.data())
def test_norm(npu, order, data):
    generator = numpy.random.default_rng(data.draw(st.integers(0, 2**32)))
    kind = data.draw(st.sampled_from(SINGLE))
    shapes = data.draw(st.lists(st.sampled_from([(), (3, 4), (600,), (2, 3, 5)]), min_size=1, max_size=3))
    views = [any_view(data.draw, generator, shape, kind, small) for shape in shapes]
    outs = [blank(npu, kind, data.draw(st.sampled_from([(), (1,)]))) for _ in shapes]
    types = ["f4", "f8", *(["i8"] if order in (0, 1, 2, 3) else [])]
    scalar = npu.scalar(order, data.draw(st.sampled_from(types)))
    x = npu.list([npu.view(*view, kind) for view in views])
    assert npu.call("foreach_norm", x, scalar, npu.list(outs)) == 0
    for out, (_, view) in zip(outs, views):
        with numpy.errstate(over="ignore"):
            expected = numpy.linalg.norm(exact(view, kind).ravel(), order)
        compare(npu.get(out).ravel(), numpy.array([expected]), kind, kind)


def test_special_norms(npu):
    nan, inf = numpy.nan, numpy.inf
    tensors = [npu.tensor(numpy.array(values, "f4")) for values in ([1, nan, 3], [-inf, 2, 0], [])]
    for order, expected in ((2, [nan, inf, 0]), (inf, [nan, inf, 0]), (-inf, [nan, 0, inf]), (0, [3, 2, 0])):
        outs = [blank(npu, "f4", (1,)) for _ in tensors]
        assert npu.call("foreach_norm", npu.list(tensors), npu.scalar(order), npu.list(outs)) == 0
        assert numpy.array_equal([npu.get(out)[0] for out in outs], expected, equal_nan=True), order


ROUNDED = {
    1: [-2, -2, 0, 0, 2, 2, 3],
    2: [-3, -2, -1, 0, 1, 2, 2],
    3: [-2, -1, 0, 1, 2, 3, 3],
    4: [-3, -2, -1, 1, 2, 3, 3],
    5: [-2, -1, 0, 0, 1, 2, 2],
    6: [-3, -1, -1, 1, 1, 3, 3],
}


@pytest.mark.parametrize("mode", ROUNDED)
def test_rounding(npu, mode):
    values = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.75]
    for kind in (*SINGLE, "i2"):
        x, out = npu.tensor(stored(numpy.array(values), kind), kind), blank(npu, kind, (7,))
        expected = numpy.trunc(values) if kind == "i2" else ROUNDED[mode]
        modes = npu.tensor(numpy.array([mode], "i1")), npu.scalar(mode, "i1"), npu.scalar(mode, "i8")
        for name, given_mode in zip(("round_off_number", "round_off_number_v2", "round_off_number_v2"), modes):
            assert npu.call(f"foreach_{name}", npu.list([x]), given_mode, npu.list([out])) == 0
            assert numpy.array_equal(exact(npu.get(out), kind), expected)
    special = numpy.array([numpy.nan, numpy.inf, -numpy.inf], "f4")
    out = blank(npu, "f4", (3,))
    ret = npu.call("foreach_round_off_number_v2", npu.list([npu.tensor(special)]), modes[1], npu.list([out]))
    assert ret == 0 and numpy.array_equal(npu.get(out), special, equal_nan=True)


# --- Refusals


@pytest.mark.strict
@pytest.mark.parametrize("name", OPERATORS)
def test_types(npu, name):
    """All and only the documented types are taken."""
    _, count, kinds, form = OPERATORS[name]
    generator = numpy.random.default_rng(1)
    for kind in ALL:
        fits = kind in kinds
        tensors = npu.list([blank(npu, kind)])
        scalars = [] if form is None else [scalar_of(npu, generator, form, kind if fits else "f4", 1)[0]]
        ret = npu.call(f"foreach_{name}", *ordered(form, [tensors] * count, scalars), tensors)
        if fits:
            assert ret == 0, kind
        else:
            refused(ret, INVALID, f"[0] has data type {CODES[kind]}, ", "expected ")


@pytest.mark.strict
def test_refused_lists(npu):
    floats, halves, turned = blank(npu, "f4"), blank(npu, "f2"), blank(npu, "f4", (3, 2))
    one, two = npu.list([floats]), npu.list([floats, floats])
    for arguments, words in (
        (("foreach_abs", two, one), "out has length 1, expected 2, that of x"),
        (("foreach_mul_list", one, two, one), "x2 has length 2, expected 1, that of x1"),
        (("foreach_abs", npu.list([floats, halves]), two), "x[1] has data type 1, float16, expected float32"),
        (("foreach_abs", one, npu.list([halves])), "out[0] has data type 1, float16, expected float32"),
        (("foreach_abs", one, npu.list([turned])), "out[0] has shape [3, 2], expected [2, 3]"),
        (("foreach_mul_list", one, npu.list([blank(npu, "f4", (1, 3))]), one), "x2[0] has shape [1, 3], expected"),
        (("foreach_norm", one, npu.scalar(2), one), "out[0] has shape [2, 3], expected [] or [1]"),
        (("foreach_copy", one, npu.list([halves])), "out[0] has data type 1, float16, expected float32"),
        (("foreach_zero_inplace", npu.list([blank(npu, "i8")])), "x[0] has data type 9, int64"),
    ):
        refused(npu.call(*arguments), INVALID, words)


@pytest.mark.strict
def test_refused_scalars(npu):
    floats, whole = npu.list([blank(npu, "f4")]), npu.list([blank(npu, "i4")])
    bits = npu.list([blank(npu, "b2")])
    pair = blank(npu, "f4", (2,))
    for arguments, words in (
        (("foreach_add_scalar", floats, pair, floats), "scalar has shape [2], expected [] or [1]"),
        (("foreach_add_scalar", floats, blank(npu, "i4", (1,)), floats), "scalar has data type 3, int32"),
        (("foreach_add_scalar", bits, blank(npu, "b2", (1,)), bits), "scalar has data type 27, bfloat16"),
        (("foreach_add_scalar_v2", floats, npu.scalar(1, "i8"), floats), "scalar has data type 9, int64, expected"),
        (("foreach_add_scalar_v2", whole, npu.scalar(1), whole), "scalar has data type 0, float32, expected int32"),
        (("foreach_mul_scalar_list", floats, scalar_list(npu, [1, 2], "f4"), floats), "scalars has length 2"),
        (("foreach_mul_scalar_list", floats, scalar_list(npu, [1], "i8"), floats), "scalars[0] has data type 9"),
        (("foreach_addcmul_list", *[floats] * 3, pair, floats), "scalars has shape [2], expected [1], one element per"),
        (("foreach_norm", floats, npu.scalar(2, "f2"), npu.list([blank(npu, "f4", ())])), "scalar has data type 1"),
        (("foreach_round_off_number_v2", floats, npu.scalar(1), floats), "roundMode has data type 0, float32"),
    ):
        refused(npu.call(*arguments), INVALID, words)
