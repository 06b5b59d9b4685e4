"""Feed-forward networks, and gradients of the weights of groups, against NumPy."""

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, failing
from helpers.norms import Case
from helpers.operands import INVALID, NULLPTR, PARTS, SETTINGS, blank, close, near, rounded
from hypothesis import given
from hypothesis import strategies as st

import acl

ACTIVATIONS = {
    "relu": lambda x: numpy.maximum(x, 0),
    "silu": lambda x: x / (1 + numpy.exp(-x)),
    "fastgelu": lambda x: x / (1 + numpy.exp(-1.702 * x)),
    "gelu": lambda x: x / (1 + numpy.exp(-2 * numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x**3))),
}


def small(generator, shape, kind):
    """Return random halves between -1 and 1 whose products are exact in float32."""
    values = generator.integers(-8, 9, shape) / 8
    return values.astype("f2") if kind == "f2" else values.astype("f4") if kind == "f4" else to_bits(values)


def to_bits(values):
    """Return the bits of bfloat16 numbers that need no rounding."""
    return (numpy.asarray(values, "f4").view("u4") >> 16).astype("u2")


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("version", ["", "v2"])
@SETTINGS
@given(data=st.data())
def test_ffn(npu, version, activation, data):
    draw, case = data.draw, Case(npu, data.draw)
    case.kind = draw(st.sampled_from(["f2", "b2"]))
    lead, sizes = (
        draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)),
        [draw(st.integers(1, 20)) for _ in range(3)],
    )
    rows, experts, ends = int(numpy.prod(lead)), draw(st.integers(0, 3)), version == "v2" and draw(st.booleans())
    first = [experts] if experts else []
    x, values = case.take([*lead, sizes[0]], values=small)
    weights = [case.take([*first, *sizes[i : i + 2]], values=small) for i in range(2)]
    wide = "f4" if case.kind == "b2" else "f2"
    biases = [case.take_or_none([*first, sizes[i + 1]], wide, small) for i in range(2)]
    y = case.take([*lead, sizes[2]])[0]
    bounds = sorted(draw(st.integers(0, rows)) for _ in range(experts - 1)) + [rows]
    counts = numpy.diff([0, *bounds])
    tokens = npu.integers(bounds if ends else counts) if experts else 0
    flags = (ends,) if version else ()
    operands = x, weights[0][0], weights[1][0], tokens, biases[0][0], biases[1][0], *[0] * 8, activation, 1, *flags, y
    assert npu.call(f"ffn{version}", *operands) == 0
    flat, expected = values.reshape(rows, -1), []
    for place, part in enumerate(numpy.split(flat, bounds[:-1])):
        matrices = [each[1][place] if experts else each[1] for each in weights]
        added = [0 if each[1] is None else each[1][place] if experts else each[1] for each in biases]
        hidden = rounded(ACTIVATIONS[activation](part @ matrices[0] + added[0]), case.kind).astype("f8")
        expected.append(hidden @ matrices[1] + added[1])
    expected = numpy.concatenate(expected).reshape([*lead, sizes[2]])
    # a hidden element may be rounded to a neighbour of what NumPy finds
    near(npu.get(y), expected, case.kind, PARTS[case.kind] * 20)


@SETTINGS
@given(data=st.data())
def test_grouped_matmul_add(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    case.kind = draw(st.sampled_from(["f2", "b2"]))
    rows, depth, width = draw(st.integers(1, 9)), draw(st.integers(1, 6)), draw(st.integers(1, 6))
    groups, second = draw(st.integers(1, 4)), draw(st.booleans())
    counts = second and draw(st.booleans())
    (x, left), (weight, right) = case.take((rows, depth), values=small), case.take((rows, width), values=small)
    flat = not second and draw(st.booleans())
    y, before = case.take((groups * depth, width) if flat else (groups, depth, width), "f4", small)
    ends = sorted(draw(st.integers(0, rows)) for _ in range(groups))
    sizes = npu.tensor(numpy.array(numpy.diff([0, *ends]) if counts else ends, "i8"))
    last = (int(counts),) if second else ()
    name = "grouped_matmul_add_v2" if second else "grouped_matmul_add"
    assert npu.call(name, x, weight, sizes, y, True, False, 2, *last) == 0
    parts = [left[a:b].T @ right[a:b] for a, b in zip([0, *ends], ends)]
    close(npu.get(y), before + numpy.array(parts).reshape(before.shape), 2.0**-12)


@pytest.mark.strict
def test_ffn_refuses(npu):
    x, one, two, y = (blank(npu, "f2", shape) for shape in ((4, 3), (3, 5), (5, 2), (4, 2)))

    def call(x=x, one=one, two=two, tokens=0, bias=0, scale=0, activation="relu", precise=0, y=y):
        operands = x, one, two, tokens, bias, 0, scale, *[0] * 7, activation, precise, y
        return npu.call("ffn", *operands)

    assert call() == 0
    for name in ("x", "one", "two", "activation", "y"):
        refused(call(**{name: 0}), NULLPTR, "is NULL")
    refused(call(x=blank(npu, "f4", (4, 3))), INVALID, "x has data type 0, float32, expected float16 or bfloat16")
    refused(call(x=blank(npu, "f2", (3,))), INVALID, "x has 1 dimensions, expected 2 to 8")
    refused(call(x=blank(npu, "f2", (0, 3))), INVALID, "x has no elements, expected 1 or more")
    refused(call(scale=blank(npu, "f4", (1,))), INVALID, "scale is a tensor, expected NULL: quantised networks are not")
    refused(call(activation="geglu"), INVALID, 'activation is "geglu", expected fastgelu, gelu, relu or silu')
    refused(call(precise=2), INVALID, "innerPrecise is 2, expected 0 or 1")
    refused(call(one=blank(npu, "f2", (4, 5))), INVALID, "weight1 has shape [4, 5], expected [3, 5], that of the layer")
    refused(call(two=blank(npu, "b2", (5, 2))), INVALID, "weight2 has data type 27, bfloat16, expected float16")
    refused(call(bias=blank(npu, "f2", (4,))), INVALID, "bias1 has shape [4], expected [5]")
    refused(call(bias=blank(npu, "f4", (5,))), INVALID, "bias1 has data type 0, float32, expected float16")
    refused(call(y=blank(npu, "f2", (4, 3))), INVALID, "y has shape [4, 3], expected [4, 2]")
    refused(call(tokens=npu.integers([4, 1])), INVALID, "expertTokens[1] is 1, expected a group within the 4 rows of x")
    refused(call(tokens=npu.integers([1, 1])), INVALID, "expertTokens ends at row 2, expected 4, the rows of x")
    refused(call(tokens=npu.integers([-1, 5])), INVALID, "expertTokens[0] is -1")


@pytest.mark.strict
def test_grouped_matmul_add_refuses(npu):
    x, weight, sizes, y = (
        blank(npu, *each) for each in (("f2", (4, 3)), ("f2", (4, 2)), ("i8", (2,)), ("f4", (2, 3, 2)))
    )

    def call(x=x, weight=weight, sizes=sizes, y=y, turned=True, other=False, kind=2, listed=0):
        return npu.call("grouped_matmul_add_v2", x, weight, sizes, y, turned, other, kind, listed)

    assert call() == 0
    for name in ("x", "weight", "sizes", "y"):
        refused(call(**{name: 0}), NULLPTR, "is NULL")
    refused(call(weight=blank(npu, "b2", (4, 2))), INVALID, "bfloat16, expected float16")
    refused(call(y=blank(npu, "f2", (2, 3, 2))), INVALID, "yRef has data type 1, float16, expected float32")
    refused(call(weight=blank(npu, "f2", (3, 2))), INVALID, "weight has shape [3, 2], expected [4, 2], the rows of x")
    refused(call(y=blank(npu, "f4", (3, 3, 2))), INVALID, "yRef has shape [3, 3, 2], expected [2, 3, 2]")
    refused(call(y=blank(npu, "f4", (5, 2))), INVALID, "yRef has shape [5, 2], expected [6, 2], one matrix per group")
    refused(call(turned=False), INVALID, "transposeX is false, expected true")
    refused(call(other=True), INVALID, "transposeWeight is true, expected false")
    refused(call(kind=0), INVALID, "groupType is 0, expected 2")
    refused(call(listed=2), INVALID, "groupListType is 2, expected 0 or 1")


@pytest.mark.needs_sim
def test_a_group_out_of_range_fails_the_task():
    with failing() as fresh:
        x, weight, y = (blank(fresh, *each) for each in (("f2", (4, 3)), ("f2", (4, 2)), ("f4", (2, 3, 2))))
        sizes = fresh.tensor(numpy.array([3, 5]))
        assert fresh.call("grouped_matmul_add", x, weight, sizes, y, True, False, 2) == 0
        words = "groupList[1] is 5, expected a group within the 4 rows of x"
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
