"""Softmax, LogSoftmax, LayerNorm and RmsNorm against NumPy in double: shapes, strides, types, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, KINDS, NULLPTR, SETTINGS, any_view, blank, exact, near
from helpers.pointwise import SINGLE
from helpers.tensors import ND, storage
from hypothesis import given
from hypothesis import strategies as st

import acl
from acl import nnop

UNIT = {"f8": 2.0**-53}  # of what is computed in; float otherwise


def unit(kind):
    return UNIT.get(kind, 2.0**-24)


def softmax(values, dim, log):
    """Return the exact result."""
    lowered = values - values.max(axis=dim, keepdims=True)
    powers = numpy.exp(lowered)
    total = powers.sum(axis=dim, keepdims=True)
    return lowered - numpy.log(total) if log else powers / total


def soft(npu, name, draw, shape, kinds, dim):
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    views = [any_view(draw, generator, shape, kind) for kind in kinds]
    self, out = (npu.view(*view, kind) for view, kind in zip(views, kinds))
    assert npu.call(name, self, dim, out) == 0
    return exact(views[0][1], kinds[0]), npu.get(out)


@st.composite
def shapes(draw, least=0):
    if draw(st.integers(0, 3)):
        return draw(st.lists(st.integers(0, 5), min_size=least, max_size=5))
    return draw(st.permutations([draw(st.integers(1, 700)), draw(st.integers(1, 3))]))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(npu, name):
    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        shape = data.draw(shapes())
        rank = max(len(shape), 1)
        dim, kinds = (
            data.draw(st.integers(-rank, rank - 1)),
            [data.draw(st.sampled_from([*SINGLE, "f8"])) for _ in "ab"],
        )
        self, found = soft(npu, name, data.draw, shape, kinds, dim)
        if not self.size:
            return
        if not shape:
            assert exact(found, kinds[1]) == (0 if name == "log_softmax" else 1)
            return
        expected = softmax(self.astype("g"), dim, name == "log_softmax")
        # a power is as far off as its exponent, and that as its size says; the sum is one of doubles
        exponents = numpy.abs(self - self.max(axis=dim, keepdims=True)) + 4
        error = 2 * unit(kinds[0]) * exponents + self.shape[dim] * unit("f8")
        error = error if name == "log_softmax" else error * expected.astype("f8")
        near(found, expected, kinds[1], error)

    run_case()


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_softmax_of_what_is_large(npu, kind):
    """The powers themselves would overflow."""
    values = numpy.array([[30000, 30000, -30000], [-30000, -30000, -30000]], kind)
    self, out = npu.tensor(values), npu.tensor(numpy.zeros((2, 3), kind))
    assert npu.call("softmax", self, 1, out) == 0
    near(npu.get(out), [[0.5, 0.5, 0], [1 / 3] * 3], kind, 2.0**-23)
    assert npu.call("log_softmax", self, 1, out) == 0
    near(npu.get(out), softmax(values.astype("f8"), 1, True), kind, 2.0**-23)


def test_softmax_of_what_is_no_number(npu):
    inf, nan = numpy.inf, numpy.nan
    values = numpy.array([[0, -inf, 0], [-inf, -inf, -inf], [0, inf, 0], [0, nan, 0], [nan, 0, 1]], "f4")
    out = npu.tensor(numpy.zeros((5, 3), "f4"))
    assert npu.call("softmax", npu.tensor(values), 1, out) == 0
    found = npu.get(out)
    assert found[0].tolist() == [0.5, 0, 0.5]
    assert numpy.isnan(found[[1, 3, 4]]).all() and numpy.isnan(found[2, 1])


def test_softmax_in_place(npu):
    values = numpy.random.default_rng(1).normal(0, 3, (4, 300)).astype("f4")
    self = npu.tensor(values)
    assert npu.call("softmax", self, 0, self) == 0
    expected = softmax(values.astype("f8"), 0, False)
    near(npu.get(self), expected, "f4", 2.0**-19 * expected)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_types(npu, name):
    for kind in KINDS:
        for out in KINDS:
            pair = [blank(npu, one, 2) for one in (kind, out)]
            fits = {kind, out} <= {*SINGLE, "f8"}
            assert npu.call(name, pair[0], 0, pair[1]) == (0 if fits else INVALID)


@pytest.mark.strict
def test_softmax_refusals(npu):
    one, other, odd = (npu.tensor(numpy.zeros(*more)) for more in (((2, 3), "f4"), ((3, 2), "f4"), ((2, 3), "i4")))
    empty, scalar = npu.tensor(numpy.zeros((2, 0), "f4")), npu.tensor(numpy.zeros((), "f4"))
    for name in ("softmax", "log_softmax"):
        for dim in (-3, 2, 2**40):
            refused(npu.call(name, one, dim, one), INVALID, f"dim is {dim}, expected -2 to 1")
            refused(npu.call(name, empty, dim, empty), INVALID, f"dim is {dim}, expected -2 to 1")
        refused(npu.call(name, scalar, 1, scalar), INVALID, "dim is 1, expected -1 to 0 for 0 dimensions")
        refused(npu.call(name, one, 0, other), INVALID, "out has shape [3, 2], expected [2, 3], that of self")
        words = "has data type 3, int32, expected float32, float16, float64 or bfloat16"
        refused(npu.call(name, odd, 0, one), INVALID, f"self {words}")
        refused(npu.call(name, one, 0, odd), INVALID, f"out {words}")
        plan = getattr(nnop, f"{name}_get_workspace_size")
        refused(plan(0, 0, one.handle)[2], NULLPTR, "self is NULL")
        refused(plan(one.handle, 0, 0)[2], NULLPTR, "out is NULL")


# --- LayerNorm and RmsNorm


def normalized(values, rank, epsilon, centred):
    """Return exact results, before weight and bias: the numbers, the mean and the reciprocal of the deviation."""
    axes = tuple(range(values.ndim - rank, values.ndim))
    mean = values.mean(axis=axes, keepdims=True) if centred else numpy.zeros(())
    rstd = 1 / numpy.sqrt(((values - mean) ** 2).mean(axis=axes, keepdims=True) + epsilon)
    return (values - mean) * rstd, mean, rstd


def int_array(values):
    handle = acl.create_int_array(list(values))
    assert handle != 0
    return handle


@st.composite
def norms(draw):
    """Return a shape, how many of its dimensions are normalized, and the types of the input and its scales."""
    shape = draw(shapes(least=1))
    kind = draw(st.sampled_from(SINGLE))
    return shape, draw(st.integers(1, len(shape))), kind, draw(st.sampled_from([kind, "f4"]))


@SETTINGS
@given(data=st.data())
def test_layer_norm(npu, data):
    shape, rank, kind, scale_kind = data.draw(norms())
    generator = numpy.random.default_rng(data.draw(st.integers(0, 2**32)))
    ones = [*shape[: len(shape) - rank], *[1] * rank]
    tail = shape[len(shape) - rank :]
    bias_kind = data.draw(st.sampled_from([kind, "f4"]))
    kinds = [kind, scale_kind, bias_kind, kind, *(data.draw(st.sampled_from([kind, "f4"])) for _ in "ab")]
    views = [any_view(data.draw, generator, *each) for each in zip([shape, tail, tail, shape, ones, ones], kinds)]
    given_too = [
        True,
        data.draw(st.booleans()),
        data.draw(st.booleans()),
        True,
        *(data.draw(st.booleans()) for _ in "ab"),
    ]
    tensors = [npu.view(*view, one) if here else 0 for view, one, here in zip(views, kinds, given_too)]
    input, weight, bias, out, mean, rstd = tensors
    epsilon, array = data.draw(st.sampled_from([1e-5, 1.0])), int_array(tail)
    if data.draw(st.booleans()):
        ret = npu.call("layer_norm", input, array, weight, bias, epsilon, out, mean, rstd)
    else:
        mode = data.draw(st.sampled_from([0, 1]))
        ret = npu.call("layer_norm_with_impl_mode", input, array, weight, bias, epsilon, out, mean, rstd, mode)
    assert ret == 0
    acl.destroy_int_array(array)
    values, *scales = (exact(view, one).astype("f8") for (_, view), one in zip(views[:3], kinds))
    if not values.size:
        return
    expected, exact_mean, exact_rstd = normalized(values, rank, epsilon, True)
    factor = scales[0] if weight else 1.0
    whole = expected * factor + (scales[1] if bias else 0)
    near(npu.get(out), whole, kind, 4 * unit("f4") * (numpy.abs(expected * factor) + numpy.abs(whole)))
    for tensor, wanted in ((mean, exact_mean), (rstd, exact_rstd)):
        if tensor:
            near(npu.get(tensor), wanted, tensor.kind, unit("f4") * numpy.abs(wanted) + 2.0**-40)


@pytest.mark.strict
@SETTINGS
@given(data=st.data())
def test_rms_norm(npu, data):
    shape, rank, kind, scale_kind = data.draw(norms())
    generator = numpy.random.default_rng(data.draw(st.integers(0, 2**32)))
    rows = shape[: len(shape) - rank]
    tail = shape[len(shape) - rank :]
    kinds = [kind, scale_kind, kind, "f4"]
    rstd_shape = data.draw(st.sampled_from([rows, [*rows, *[1] * rank], shape]))
    views = [any_view(data.draw, generator, *each) for each in zip([shape, tail, shape, rstd_shape], kinds)]
    x, gamma, y, rstd = (npu.view(*view, one) for view, one in zip(views, kinds))
    epsilon = data.draw(st.sampled_from([1e-6, 1.0]))
    assert npu.call("rms_norm", x, gamma, epsilon, y, rstd) == 0
    values, weight = (exact(view, one).astype("f8") for (_, view), one in zip(views[:2], kinds))
    if not values.size:
        return
    expected, _, wanted = normalized(values, rank, epsilon, False)
    near(npu.get(y), expected * weight, kind, 4 * unit("f4") * numpy.abs(expected * weight))
    found = npu.get(rstd)
    if rstd_shape == shape:
        found = found[(*[slice(None)] * len(rows), *[slice(0, 1)] * rank)]
    near(found.reshape(wanted.shape), wanted, "f4", unit("f4") * wanted)


def test_a_large_mean_is_taken_away_first(npu):
    values = (1e4 + numpy.random.default_rng(4).normal(0, 1e-2, (3, 1000))).astype("f4")
    out, array = npu.tensor(numpy.zeros((3, 1000), "f4")), int_array([1000])
    assert npu.call("layer_norm", npu.tensor(values), array, 0, 0, 0.0, out, 0, 0) == 0
    near(npu.get(out), normalized(values.astype("f8"), 1, 0, True)[0], "f4", 2.0**-22)
    acl.destroy_int_array(array)


def test_a_constant_line_has_no_deviation(npu):
    values, array = numpy.full((2, 5), 3, "f4"), int_array([5])
    out, rstd = npu.tensor(values), npu.tensor(numpy.zeros((2, 1), "f4"))
    assert npu.call("layer_norm", npu.tensor(values), array, 0, 0, 1e-4, out, 0, rstd) == 0
    assert not npu.get(out).any()
    near(npu.get(rstd), [[100], [100]], "f4", 0)
    acl.destroy_int_array(array)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_the_types_of_a_norm(npu, name):
    """The scale has the input's type or float32, the result the input's."""
    array = int_array([2])
    for kind in KINDS:
        for scale in KINDS:
            for out in KINDS:
                x, gamma, y = (npu.tensor(numpy.ones((2,), storage(one)), one) for one in (kind, scale, out))
                fits = kind in SINGLE and out == kind and scale in (kind, "f4")
                if name == "layer_norm":
                    ret = npu.call(name, x, array, gamma, gamma, 1.0, y, 0, 0)
                else:
                    ret = npu.call(name, x, gamma, 1.0, y, npu.tensor(numpy.zeros((1,), "f4")))
                assert ret == (0 if fits else INVALID), (kind, scale, out)
    acl.destroy_int_array(array)


@pytest.fixture
def layer_norm(npu):
    """Make ``call(**changed)``: a LayerNorm of (2, 3, 4) over (3, 4) with other arguments; a tuple is a shape."""
    kinds = {
        "input": (2, 3, 4),
        "weight": (3, 4),
        "bias": (3, 4),
        "out": (2, 3, 4),
        "mean": (2, 1, 1),
        "rstd": (2, 1, 1),
    }
    arrays = []

    def call(shape=(3, 4), mode=None, **changed):
        arguments = {}
        for name, default in kinds.items():
            value = changed.get(name, default)
            value = (value, "f4") if isinstance(value, tuple) and (not value or isinstance(value[0], int)) else value
            arguments[name] = value and blank(npu, value[1], value[0])
        arrays.append(int_array(shape) if shape is not None else 0)
        input, weight, bias, *outs = arguments.values()
        more = [] if mode is None else [mode]
        return npu.call(
            "layer_norm" + ("_with_impl_mode" if more else ""), input, arrays[-1], weight, bias, 1e-5, *outs, *more
        )

    yield call
    for array in filter(None, arrays):
        acl.destroy_int_array(array)


@pytest.mark.strict
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"input": ()}, "input has 0 dimensions, expected 1 to 8"),
        ({"shape": ()}, "normalizedShape has 0 elements, expected 1 to 3, the number of dimensions of input"),
        ({"shape": (1, 2, 3, 4)}, "normalizedShape has 4 elements"),
        ({"shape": (3, 5)}, "element 1 of normalizedShape is 5 and dimension 2 of input is 4, expected the same"),
        ({"weight": (4,)}, "weightOptional has shape [4], expected [3, 4], normalizedShape"),
        ({"bias": (3, 1)}, "biasOptional has shape [3, 1], expected [3, 4], normalizedShape"),
        ({"out": (2, 4, 3)}, "out has shape [2, 4, 3], expected [2, 3, 4], that of input"),
        ({"mean": (2,)}, "meanOutOptional has shape [2], expected [2, 1, 1], one number per normalized slice"),
        (
            {"rstd": (2, 3, 1)},
            "rstdOutOptional has shape [2, 3, 1], expected [2, 1, 1], one number per normalized slice",
        ),
        ({"input": ((2, 3, 4), "f8")}, "input has data type 11, float64, expected float32, float16 or bfloat16"),
        ({"weight": ((3, 4), "f2")}, "weightOptional has data type 1, float16, expected float32"),
        ({"weight": 0, "bias": ((3, 4), "b2")}, "biasOptional has data type 27, bfloat16, expected float32"),
        ({"out": ((2, 3, 4), "f2")}, "out has data type 1, float16, expected float32"),
        ({"mean": ((2, 1, 1), "f2")}, "meanOutOptional has data type 1, float16, expected float32"),
        ({"mode": 3}, "implMode is 3, expected 0 to 2"),
        ({"mode": -1}, "implMode is -1, expected 0 to 2"),
        ({"mode": 2}, "implMode is 2, which computes in float16, and input is float32, expected float16"),
    ],
)
def test_layer_norm_refusals(layer_norm, changed, words):
    refused(layer_norm(**changed), INVALID, words)
    assert layer_norm() == 0


def test_layer_norm_null(layer_norm):
    refused(layer_norm(input=0), NULLPTR, "input is NULL")
    refused(layer_norm(shape=None), NULLPTR, "normalizedShape is NULL")
    refused(layer_norm(out=0), NULLPTR, "out is NULL")
    assert layer_norm(weight=0, bias=0, mean=0, rstd=0) == 0


@pytest.mark.strict
@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ([(), (), (), ()], "x has 0 dimensions, expected 1 to 8"),
        ([(2, 3), (), (2, 3), (2,)], "gamma has 0 dimensions, expected 1 to 2"),
        ([(3,), (2, 3), (3,), (1,)], "gamma has 2 dimensions, expected 1"),
        ([(2, 3), (2,), (2, 3), (2,)], "gamma has shape [2], expected [3], the last dimensions of x"),
        ([(2, 3), (3,), (3, 2), (2,)], "yOut has shape [3, 2], expected [2, 3], that of x"),
        ([(2, 3), (3,), (2, 3), (3,)], "rstdOut has shape [3], expected [2], one number per normalized slice"),
        ([(2, 3), (3,), (2, 3), (3, 1)], "rstdOut has shape [3, 1], expected [2, 1], one number per normalized slice"),
    ],
)
def test_rms_norm_refusals(npu, shapes, words):
    x, gamma, y, rstd = (npu.tensor(numpy.zeros(shape, "f4")) for shape in shapes)
    refused(npu.call("rms_norm", x, gamma, 1e-6, y, rstd), INVALID, words)


def test_rms_norm_null(npu):
    names = ["x", "gamma", "yOut", "rstdOut"]
    tensors = [npu.tensor(numpy.zeros(shape, "f4")) for shape in ((2, 3), (3,), (2, 3), (2,))]
    for place, missing in enumerate(names):
        given = [0 if one == place else tensor for one, tensor in enumerate(tensors)]
        refused(npu.call("rms_norm", *given[:2], 1e-6, *given[2:]), NULLPTR, f"{missing} is NULL")
    half = npu.tensor(numpy.zeros(2, "f2"))
    refused(npu.call("rms_norm", *tensors[:2], 1e-6, tensors[2], half), INVALID, "rstdOut has data type 1, float16")


def test_norms_of_nothing(npu):
    """An empty input succeeds and writes nothing."""
    empty, array = npu.tensor(numpy.zeros((2, 0), "f4")), int_array([0])
    number, other = (npu.tensor(numpy.full((2, 1), 7, "f4")) for _ in "ab")
    assert npu.call("layer_norm", empty, array, 0, 0, 1e-5, empty, number, other) == 0
    gamma = npu.tensor(numpy.zeros((0,), "f4"))
    assert npu.call("rms_norm", empty, gamma, 1e-5, empty, number) == 0
    assert npu.get(number).tolist() == npu.get(other).tolist() == [[7], [7]]
    acl.destroy_int_array(array)


@pytest.mark.needs_sim
def test_a_line_that_no_memory_holds(npu):
    """One element that is stretched to 2**50: the task fails, the stream goes on."""
    address = npu.put(numpy.zeros(4, "f4"))
    tensor = acl.create_tensor([2**50], 0, [0], 0, ND, [1], address)
    assert npu.call("softmax", tensor, 0, tensor) == 0
    refused(acl.rt.synchronize_stream(npu.stream), 207001, "aclnnSoftmax failed because its task failed")
    acl.destroy_tensor(tensor)
    fine = npu.tensor(numpy.zeros(2, "f4"))
    assert npu.call("softmax", fine, 0, fine) == 0
    assert npu.get(fine).tolist() == [0.5, 0.5]
