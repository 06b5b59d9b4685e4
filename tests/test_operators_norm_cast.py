"""AddRmsNormCast and InplaceAddRmsNorm, and the second versions with int8 results, against NumPy in double."""

import numpy
import pytest
from helpers.expect import refused
from helpers.norms import Case, agree, mask, positive, unchanged
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank
from hypothesis import given
from hypothesis import strategies as st
from test_operators_norm_quant import normalized, same_integers, shapes


def deviations(total):
    """Return the reciprocals of the roots of the mean squares of rows, with a dimension of 1."""
    return 1 / numpy.sqrt((total**2).mean(-1, keepdims=True) + 1e-6)


@SETTINGS
@given(data=st.data())
def test_add_rms_norm_cast(npu, data):
    case, shape = Case(npu, data.draw), data.draw(shapes())
    case.kind = data.draw(st.sampled_from(["f2", "b2"]))
    (x1, one), (x2, two), (gamma, factor) = (case.take(each) for each in (shape, shape, shape[-1:]))
    wide, narrow, total = case.take(shape, "f4")[0], case.take(shape)[0], case.take(shape)[0]
    rstd = case.take([*shape[:-1], 1], "f4")[0]
    assert npu.call("add_rms_norm_cast", x1, x2, gamma, 1e-6, wide, narrow, rstd, total) == 0
    if not one.size:
        return
    sums, values = normalized(case, one, two, factor)
    agree(npu, total, sums)
    agree(npu, wide, values)
    agree(npu, narrow, values)
    agree(npu, rstd, deviations(sums))


@SETTINGS
@given(data=st.data())
def test_inplace_add_rms_norm(npu, data):
    case, shape = Case(npu, data.draw), data.draw(shapes())
    (x1, one), (x2, two), (gamma, factor) = (case.take(each) for each in (shape, shape, shape[-1:]))
    rstd = case.take([*shape[:-1], 1], "f4")[0]
    assert npu.call("inplace_add_rms_norm", x1, x2, gamma, 1e-6, rstd) == 0
    if not one.size:
        return
    total, values = normalized(case, one, two, factor)
    agree(npu, x1, values)
    agree(npu, x2, total)
    agree(npu, rstd, deviations(total))


@SETTINGS
@given(data=st.data())
def test_a_bias_before_quantisation(npu, data):
    case, shape, divides = Case(npu, data.draw), data.draw(shapes()), data.draw(st.booleans())
    tail = shape[-1:]
    (x1, one), (x2, two), (gamma, factor) = (case.take(each) for each in (shape, shape, tail))
    scale, scales = case.take(tail, case.beside(), positive)
    zero, zeros = case.take_or_none(tail, data.draw(st.sampled_from(["i4", case.kind])))
    beta, betas = case.take_or_none(tail)
    (y1, _), (y2, _), (x, _), (plain, _) = (case.take(shape, kind) for kind in ("i1", "i1", None, None))
    operands = x1, x2, gamma, scale, 0, zero, 0, beta, -1, 1e-6, divides
    assert npu.call("add_rms_norm_quant_v2", *operands, y1, y2, x, plain) == 0
    if not one.size:
        return
    total, values = normalized(case, one, two, factor)
    agree(npu, x, total)
    agree(npu, plain, values)
    values = values + (0 if betas is None else betas)
    same_integers(npu, y1, (values / scales if divides else values * scales) + (0 if zeros is None else zeros))
    unchanged(npu, y2)


@pytest.mark.parametrize("wanted", [None, (True, False), (False, True), (True, True)])
@SETTINGS
@given(data=st.data())
def test_a_mask_chooses_dynamic_results(npu, wanted, data):
    case, shape = Case(npu, data.draw), data.draw(shapes())
    case.kind, tail = data.draw(st.sampled_from(["f2", "b2"])), shape[-1:]
    (x1, one), (x2, two), (gamma, factor) = (case.take(each) for each in (shape, shape, tail))
    smooths = case.take_or_none(tail, values=positive), case.take_or_none(tail, values=positive)
    beta, betas = case.take_or_none(tail)
    outs = [(case.take(shape, "i1")[0], case.take(shape[:-1], "f4")[0]) for _ in "ab"]
    x, chosen = case.take(shape)[0], 0 if wanted is None else mask(npu, wanted)
    operands = x1, x2, gamma, smooths[0][0], smooths[1][0], beta, 1e-6, chosen
    results = outs[0][0], outs[1][0], x, outs[0][1], outs[1][1]
    assert npu.call("add_rms_norm_dynamic_quant_v2", *operands, *results) == 0
    if not one.size:
        return
    values = normalized(case, one, two, factor)[1] + (0 if betas is None else betas)
    flags = (True, smooths[1][1] is not None) if wanted is None else wanted
    for flag, (y, scales), (_, smooth) in zip(flags, outs, smooths):
        if not flag:
            unchanged(npu, y)
            continue
        scaled = values if smooth is None else values * smooth
        scale = numpy.abs(scaled).max(-1) / 127
        agree(npu, scales, scale, 8.0)
        near = numpy.abs(npu.get(y) - scaled / (scale + (scale == 0))[..., None])
        assert (near <= 0.5 + 2.0**-18).all()


@pytest.mark.strict
def test_refusals(npu):
    x, tail, rstd, wide = (blank(npu, *each) for each in (("f2", (2, 3)), ("f2", (3,)), ("f4", (2, 1)), ("f4", (2, 3))))
    other, y, sums = (blank(npu, "f2", (2, 3)) for _ in range(3))

    def cast(x=x, other=other, gamma=tail, wide=wide, y=y, rstd=rstd, sums=sums):
        return npu.call("add_rms_norm_cast", x, other, gamma, 1e-6, wide, y, rstd, sums)

    assert cast() == 0
    for name in ("x", "other", "gamma", "wide", "y", "rstd", "sums"):
        refused(cast(**{name: 0}), NULLPTR, "is NULL")
    refused(cast(x=wide), INVALID, "x1 has data type 0, float32, expected float16 or bfloat16")
    refused(cast(wide=blank(npu, "f2", (2, 3))), INVALID, "y1Out has data type 1, float16, expected float32")
    refused(cast(y=blank(npu, "f2", (2, 2))), INVALID, "y2Out has shape [2, 2], expected [2, 3], that of the input")
    refused(cast(gamma=blank(npu, "f2", (2,))), INVALID, "gamma has shape [2]")

    def inplace(x=x, other=other, rstd=rstd):
        return npu.call("inplace_add_rms_norm", x, other, tail, 1e-6, rstd)

    assert inplace() == 0
    refused(inplace(other=wide), INVALID, "x2Ref has data type 0, float32, expected float16")
    refused(inplace(rstd=blank(npu, "f4", (3, 1))), INVALID, "rstdOut has shape [3, 1]")
    refused(inplace(rstd=0), NULLPTR, "rstdOut is NULL")

    whole, others, scales = (blank(npu, *each) for each in (("i1", (2, 3)), ("i1", (2, 3)), ("f4", (2,))))

    others_scales = blank(npu, "f4", (2,))

    def dynamic(chosen=0, beta=0, more=others_scales):
        results = whole, others, sums, scales, more
        return npu.call("add_rms_norm_dynamic_quant_v2", x, other, tail, 0, 0, beta, 1e-6, chosen, *results)

    assert dynamic() == 0
    refused(dynamic(beta=scales), INVALID, "betaOptional has data type 0, float32, expected float16")
    both = mask(npu, (True, True))
    refused(dynamic(both, more=blank(npu, "f4", (3,))), INVALID, "scale2Out has shape [3], expected [2]")
    refused(dynamic(mask(npu, (True,) * 3)), INVALID, "outputMask has 3 numbers, expected 2")
