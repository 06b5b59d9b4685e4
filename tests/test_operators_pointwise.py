"""What the pointwise operators have in common: NULL, shapes, types that have no arithmetic, no elements, in place."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, NULLPTR, blank
from helpers.tensors import CODES, Tensor
from test_abi import ROOT, abi

import acl
from acl import nnop

BINARY = ["add", "sub", "mul", "div", "div_mod"]
LOGIC = ["logical_and", "logical_or"]
COMPARED = ["eq", "ne", "gt", "ge", "lt", "le"]
BITS = ["bitwise_and", "bitwise_or", "bitwise_xor"]
FUNCTIONS = [
    "neg", "exp", "log", "sqrt", "rsqrt", "relu", "sigmoid", "tanh", "logical_not",
    "sin", "cos", "tan", "asin", "acos", "atan", "sinc", "sinh", "cosh", "asinh", "acosh", "atanh", "reciprocal",
    "exp2", "expm1", "log2", "log10", "log1p", "erf", "erfc", "erfinv", "ceil", "floor", "round", "trunc", "frac",
    "nan_to_num", "round_decimals",
]  # fmt: skip
POWERS = ["pow_tensor_tensor", "pow_tensor_scalar"]
FORMS = [f"{name}_{form}" for name in [*COMPARED, *BITS] for form in ("tensor", "scalar")] + POWERS
REMAINDERS = ["fmod_tensor", "fmod_scalar", "remainder_tensor_tensor", "remainder_tensor_scalar"]
TERNARY = ["addcmul", "addcdiv", "lerp", "lerps", "clamp_max", "clamp_min_tensor", "clamp_max_tensor"]
FRACTIONAL = ["floor_divide", "floor_divides", "atan2", "x_log_y_tensor", "x_log_y_scalar_other", "add_relu"]
BOTH = [
    *BINARY, *REMAINDERS, *TERNARY, *FRACTIONAL, *(f"{name}s" for name in BINARY), *LOGIC, *FORMS, *FUNCTIONS,
]  # fmt: skip
NAMES = [
    *BOTH, *(f"inplace_{name}" for name in BOTH), "rsub", "rsubs", "maximum", "minimum", "pow_scalar_tensor",
    "sign", "lgamma", "logit",
    "logical_xor", "bitwise_not", "abs", "gelu", "gelu_v2", "silu", "cast", "s_where", "inplace_copy", "inplace_zero",
    "inplace_one", "inplace_fill_scalar", "inplace_fill_tensor", "remainder_scalar_tensor", "gcd", "log_add_exp",
    "log_add_exp2", "x_log_y_scalar_self", "clamp", "clamp_tensor", "clamp_min",
]  # fmt: skip
OPERATORS = nnop._operators()
ROWS = abi.rows(ROOT / "simulator" / "ops" / "rows")
PARAMETERS = {name: ROWS[OPERATORS[name]["name"]].params for name in NAMES}


def kind_of(name, parameter):
    """Return a kind that the operator takes for the parameter."""
    if parameter.name == "condition":
        return "?"
    return "i4" if "bitwise" in name or name == "gcd" else "f4"


def arguments(npu, name, shape=(2, 3)):
    """Return arguments that the operator takes, all tensors of one shape, by parameter."""
    made = {}
    for parameter in PARAMETERS[name]:
        kind = kind_of(name, parameter)
        if "aclTensor" in parameter.type:
            single = name == "inplace_fill_tensor" and parameter.name == "value"
            made[parameter.name] = blank(npu, kind, () if single else shape)
        else:
            made[parameter.name] = npu.scalar(1, kind) if "aclScalar" in parameter.type else 0
    return made


@pytest.mark.parametrize("name", NAMES)
def test_null(npu, name):
    for parameter in PARAMETERS[name]:
        if "*" in parameter.type and not parameter.optional:
            made = {**arguments(npu, name), parameter.name: 0}
            refused(npu.call(name, *made.values()), NULLPTR, f"{parameter.name} is NULL, expected a valid pointer")


@pytest.mark.parametrize("name", NAMES)
def test_no_elements(npu, name):
    """No workspace is wanted and nothing happens; a tensor without dimensions has one element."""
    for shape in ((2, 0, 3), (0,), (), (1, 1, 1, 1, 1, 1, 1, 2)):
        made = arguments(npu, name, shape)
        plain = [one.handle if isinstance(one, Tensor) else one for one in made.values()]
        size, executor, ret = getattr(nnop, f"{name}_get_workspace_size")(*plain)
        assert (size, ret) == (0, 0), acl.get_recent_err_msg()
        assert getattr(nnop, name)(0, 0, executor, npu.stream) == 0
        assert acl.rt.synchronize_stream(npu.stream) == 0


@pytest.mark.strict
@pytest.mark.parametrize("name", NAMES)
def test_types_without_arithmetic(npu, name, monkeypatch):
    for code in (13, 34, 36):
        monkeypatch.setitem(CODES, "odd", code)
        for parameter in PARAMETERS[name]:
            if "aclTensor" in parameter.type:
                odd = npu.view(*[numpy.zeros((2, 3), "u1")] * 2, "odd")
                made = {**arguments(npu, name), parameter.name: odd}
                assert npu.call(name, *made.values()) == INVALID


def tensors_of(name):
    return [parameter for parameter in PARAMETERS[name] if "aclTensor" in parameter.type]


@pytest.mark.strict
@pytest.mark.parametrize("name", [name for name in NAMES if len(tensors_of(name)) > 1])
def test_shapes_that_do_not_fit(npu, name):
    for parameter in tensors_of(name):
        made = {**arguments(npu, name), parameter.name: blank(npu, kind_of(name, parameter), (3, 2))}
        ret = npu.call(name, *made.values())
        if name == "inplace_fill_tensor" and parameter.name == "selfRef":
            assert ret == 0  # it has any shape
        else:
            refused(ret, INVALID, f" {parameter.name} ")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("s_where", "cast") and name[:3] != "inp"])
def test_the_result_may_be_an_operand(npu, name):
    """As in an in-place form, whatever the strides; what lies between the elements of a view stays."""
    first, out = tensors_of(name)[0], tensors_of(name)[-1]
    kind = kind_of(name, first)
    base = numpy.arange(1, 31, dtype=kind).reshape(5, 6)
    made = {**arguments(npu, name, (3, 2)), first.name: npu.view(base, base[::-2, ::3], kind)}
    assert npu.call(name, *made.values()) == 0
    expected = npu.get(made[out.name])
    made[out.name] = made[first.name]
    assert npu.call(name, *made.values()) == 0
    assert numpy.array_equal(npu.get(made[out.name]), expected, equal_nan=kind == "f4")
    whole = npu.get(made[out.name]._replace(view=base))
    whole[::-2, ::3] = base[::-2, ::3]
    assert numpy.array_equal(whole, base)
