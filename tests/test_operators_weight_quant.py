"""WeightQuantBatchMatmul and its versions against NumPy: integers of 8 and 4 bits, groups, scales, quantisation."""

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import failing
from helpers.norms import Case
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank, near
from helpers.packed import any_integers, cube_scale, int4, scale_of, small
from hypothesis import given
from hypothesis import strategies as st

import acl

FORMS = ["i1", "int4", "int4 turned", "carrier", "carrier turned"]


def call(npu, version, operands, group, y):
    """Call V2 or V3; the operands are x, weight, scale, offset, quantScale, quantOffset and bias."""
    extra = [1] if version == 3 else []
    return npu.call(f"weight_quant_batch_matmul_v{version}", *operands, group, *extra, y)


@st.composite
def sizes(draw):
    """Return the form of a weight, m, k, n and the rows per group."""
    form = draw(st.sampled_from(FORMS))
    depth = draw(st.sampled_from([1, 7, 33, 70] if form == "i1" else [8, 40, 72]))
    columns = draw(st.sampled_from([1, 5, 300] if form == "i1" else [8, 16, 304]))
    return form, draw(st.integers(1, 5)), depth, columns, draw(st.sampled_from([0, 32] if depth > 32 else [0]))


def spread(scale, depth, group):
    """Return one number per element of the weight, or per column."""
    return numpy.repeat(scale, group, 0)[:depth] if group else scale


@SETTINGS
@given(data=st.data())
def test_products(npu, data):
    case, (form, m, k, n, group) = Case(npu, data.draw), data.draw(sizes())
    case.kind = data.draw(st.sampled_from(["f2", "b2"]))
    x, left = case.take((m, k))
    weight, right = any_integers(case, (k, n), form)
    shape = (-(-k // group), n) if group else data.draw(st.sampled_from([(1,), (1, 1), (n,), (1, n)]))
    scale, scales = case.take(shape, values=small)
    offset, offsets = case.take_or_none(shape)
    bias, biases = case.take_or_none(data.draw(st.sampled_from([(n,), (1, n)])), "f2" if case.kind == "f2" else "f4")
    y, _ = case.take((m, n))
    version = data.draw(st.sampled_from([2, 3]))
    assert call(npu, version, [x, weight, scale, offset, 0, 0, bias], group, y) == 0
    whole = (right + (0 if offsets is None else spread(offsets, k, group))) * spread(scales, k, group)
    added = 0 if biases is None else biases
    near(npu.get(y), left @ whole + added, case.kind, 1e-5 * (numpy.abs(left) @ numpy.abs(whole) + numpy.abs(added)))


@SETTINGS
@given(data=st.data())
def test_packed_scales_and_quantised_results(npu, data):
    case, (m, k, n) = Case(npu, data.draw), data.draw(st.tuples(*[st.integers(1, 9)] * 3))
    case.kind = "f2"
    x, left = case.take((m, k))
    weight, right = case.take((k, n), "i1")
    scales, factors = (cube_scale(case.generator.uniform(0.01, 0.1, n)) for _ in "ab")
    offset, offsets = case.take_or_none((n,), "i4")
    added, shifts = case.take_or_none((n,), "f4")
    y, _ = case.take((m, n), "i1")
    operands = [x, weight, npu.tensor(scales), offset, npu.tensor(factors), added, 0]
    assert call(npu, 2, operands, 0, y) == 0
    product = left @ ((right + (0 if offsets is None else offsets)) * scale_of(scales))
    expected = numpy.rint(product * scale_of(factors) + (0 if shifts is None else shifts))
    assert (numpy.abs(npu.get(y).astype("f8") - numpy.clip(expected, -128, 127)) <= 1).all()


@pytest.mark.strict
def test_refusals(npu):
    x, weight, y = blank(npu, "f2", (3, 64)), blank(npu, "i1", (64, 4)), blank(npu, "f2", (3, 4))
    scale, scales = blank(npu, "f2", (4,)), blank(npu, "f2", (2, 4))

    def ret(place=None, value=None, group=0, y=y, scale=scale):
        operands = [x, weight, scale, 0, 0, 0, 0]
        if place is not None:
            operands[place] = value
        return call(npu, 2, operands, group, y)

    assert ret() == 0
    assert ret(group=32, scale=scales) == 0
    for place in (0, 1, 2):
        refused(ret(place, 0), NULLPTR, "is NULL")
    refused(ret(0, blank(npu, "f4", (3, 64))), INVALID, "x has data type 0, float32, expected float16 or bfloat16")
    refused(ret(1, blank(npu, "u1", (64, 4))), INVALID, "weight has data type 4, uint8, expected int8, int32 or int4")
    refused(ret(0, blank(npu, "f2", (64,))), INVALID, "x has 1 dimensions, expected 2")
    refused(ret(1, blank(npu, "i1", (63, 4))), INVALID, "dimension 1 of x is 64 and dimension 0 of weight is 63")
    refused(ret(1, int4(npu, numpy.zeros((32, 4)))), INVALID, "dimension 0 of weight is 32, expected the same")
    refused(ret(0, blank(npu, "f2", (0, 64))), INVALID, "dimension 0 of x is 0, expected 1 or more")
    refused(ret(2, blank(npu, "f2", (3,))), INVALID, "antiquantScale has 3 elements, expected 1 or 4")
    refused(ret(2, blank(npu, "b2", (4,))), INVALID, "antiquantScale has data type 27, bfloat16")
    refused(ret(3, blank(npu, "f2", (1,))), INVALID, "antiquantOffset", "expected [4], that of antiquantScale")
    refused(ret(5, blank(npu, "f4", (4,))), INVALID, "quantOffset", "is NULL, expected both")
    refused(ret(6, blank(npu, "f4", (4,))), INVALID, "bias", "float32, expected float16")
    refused(ret(6, blank(npu, "f2", (5,))), INVALID, "has 5 elements, expected 1 or 4")
    for group in (31, 64, 48, -32):
        refused(ret(group=group, scale=scales), INVALID, f"antiquantGroupSize is {group}, expected 0 or a multiple")
    refused(ret(group=32), INVALID, "antiquantScale has shape [4], expected [2, 4], one row per group")
    refused(ret(y=blank(npu, "f2", (4, 4))), INVALID, "y has shape [4, 4], expected [3, 4], that of the product")
    refused(ret(y=blank(npu, "i1", (3, 4))), INVALID, "y has data type 2, int8, expected float16")


@SETTINGS
@given(data=st.data())
def test_the_first_version(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    case.kind, few = "f2", draw(st.booleans())
    m, k, n = draw(st.sampled_from([1, 3] if few else [65, 70])), draw(st.integers(1, 9)), draw(st.integers(1, 9))
    flags = draw(st.booleans()), draw(st.booleans())
    x1, left = case.take((k, m) if flags[0] else (m, k))
    x2, right = case.take((n, k) if flags[1] else (k, n), "i1")
    left, right = left.T if flags[0] else left, right.T if flags[1] else right
    shape = draw(st.sampled_from([(1,), (n,), (1, n), (n, 1)]))
    bias, biases = case.take_or_none((n,), "f4")
    y, _ = case.take((m, n))
    if few:
        packed = cube_scale(case.generator.uniform(0.01, 0.1, shape))
        offset, offsets = case.take(shape, "i4")
        vectors = offset, npu.tensor(packed), 0, 0
        whole = (right + offsets.reshape(-1)) * scale_of(packed).reshape(-1)
    else:
        (offset, offsets), (scale, scales) = case.take(shape), case.take(shape, values=small)
        vectors = 0, 0, offset, scale
        whole = ((right - 3) * 0.5 + offsets.reshape(-1)) * scales.reshape(-1)
    assert npu.call("weight_quant_batch_matmul", x1, x2, 0, *vectors, bias, *flags, 0.5, 3.0, y) == 0
    added = 0 if biases is None else biases
    error = 1e-5 * (numpy.abs(left) @ numpy.abs(whole) + numpy.abs(added))
    near(npu.get(y), left @ whole + added, "f2", error)


@pytest.mark.strict
def test_the_first_version_refuses(npu):
    x1, x2, y = blank(npu, "f2", (2, 3)), blank(npu, "i1", (3, 4)), blank(npu, "f2", (2, 4))

    def call(x1=x1, x2=x2, bias=0, flag=False, y=y):
        return npu.call("weight_quant_batch_matmul", x1, x2, 0, 0, 0, 0, 0, bias, flag, False, 1.0, 0.0, y)

    assert call() == 0
    refused(call(x1=0), NULLPTR, "x1 is NULL")
    refused(call(x2=y), INVALID, "x2 has data type 1, float16, expected int8")
    refused(call(flag=True), INVALID, "x1 has 2 columns and x2 has 3 rows, expected the same")
    refused(call(bias=blank(npu, "f4", (3,))), INVALID, "bias has 3 elements, expected 1 or 4")
    refused(call(y=blank(npu, "f2", (4, 2))), INVALID, "out has shape [4, 2], expected [2, 4], that of the product")


@pytest.mark.needs_sim
def test_a_weight_that_is_too_large_fails_the_task():
    with failing() as fresh:
        one, rows = numpy.ones(1, "f2"), 2**54 + 2
        x1 = fresh.view(one, numpy.lib.stride_tricks.as_strided(one, (1, rows), (0, 0)), "f2")
        number = one.astype("i1")
        x2 = fresh.view(number, numpy.lib.stride_tricks.as_strided(number, (rows, 1), (0, 0)), "i1")
        y = blank(fresh, "f2", (1, 1))
        assert fresh.call("weight_quant_batch_matmul", x1, x2, *[0] * 6, False, False, 1.0, 0.0, y) == 0
        words = "aclnnWeightQuantBatchMatmul failed because its task failed"
        refused(acl.rt.synchronize_stream(fresh.stream), 207001, words)
