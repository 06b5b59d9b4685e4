"""ApplyTopKTopP and AttentionUpdate against NumPy."""

import numpy
import pytest
from helpers.expect import refused
from helpers.norms import Case, agree
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank, exact
from hypothesis import given
from hypothesis import strategies as st


def filtered(values, p, k):
    """Return a row without its improbable elements."""
    order = numpy.argsort(values, kind="stable")
    row = values[order]
    if 1 <= k < row.size:
        row = numpy.where(row < row[-k], -numpy.inf, row)
    powers = numpy.exp(row - row[-1])
    gone = numpy.cumsum(powers / powers.sum()) <= 1 - p
    gone[-1] = False
    found = numpy.empty_like(values)
    found[order] = numpy.where(gone, -numpy.inf, row)
    return found


@SETTINGS
@given(data=st.data())
def test_apply_top_k_top_p(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(0, 12))
    (logits, values), (out, _) = case.take((rows, columns)), case.take((rows, columns))
    p, bounds = case.take((rows,), values=chances)
    counts = case.generator.integers(-1, columns + 3, rows).astype("i4")
    assert npu.call("apply_top_k_top_p", logits, p, npu.tensor(counts), out) == 0
    if rows and columns:
        expected = [filtered(*each) for each in zip(values, bounds, counts)]
        assert numpy.array_equal(exact(npu.get(out), case.kind), numpy.array(expected))


def chances(generator, shape, kind):
    """Return numbers between 0 and 1 that all types have."""
    values = numpy.asarray(generator.integers(0, 129, shape) / 128)
    return (values.astype("f4").view("u4") >> 16).astype("u2") if kind == "b2" else values.astype(kind)


def test_equal_logits_stay_together(npu):
    logits, out = npu.tensor(numpy.array([[1, 3, 2, 2, 0]], "f4")), blank(npu, "f4", (1, 5))
    p, k = npu.tensor(numpy.array([1], "f4")), npu.tensor(numpy.array([2], "i4"))
    assert npu.call("apply_top_k_top_p", logits, p, k, out) == 0
    assert npu.get(out).tolist() == [[-numpy.inf, 3, 2, 2, -numpy.inf]]
    assert npu.call("apply_top_k_top_p", logits, npu.tensor(numpy.array([0], "f4")), k, out) == 0
    assert npu.get(out).tolist() == [[-numpy.inf, 3, *[-numpy.inf] * 3]]


@pytest.mark.strict
def test_refusals(npu):
    logits, p, k, out = (blank(npu, *each) for each in (("f4", (2, 3)), ("f4", (2,)), ("i4", (2,)), ("f4", (2, 3))))

    def call(logits=logits, p=p, k=k, out=out):
        return npu.call("apply_top_k_top_p", logits, p, k, out)

    assert call() == 0
    for name in ("logits", "p", "k", "out"):
        refused(call(**{name: 0}), NULLPTR, "is NULL")
    refused(call(logits=blank(npu, "f8", (2, 3))), INVALID, "logits has data type 11, float64, expected")
    refused(call(p=blank(npu, "f2", (2,))), INVALID, "p has data type 1, float16, expected float32, that of logits")
    refused(call(k=p), INVALID, "k has data type 0, float32, expected int32")
    refused(call(logits=blank(npu, "f4", (6,))), INVALID, "logits has 1 dimensions, expected 2")
    refused(call(p=blank(npu, "f4", (3,))), INVALID, "p has shape [3], expected [2], one number per row")
    refused(call(k=blank(npu, "i4", (3,))), INVALID, "k has shape [3], expected [2], one number per row")
    refused(call(out=blank(npu, "f4", (2, 2))), INVALID, "out has shape [2, 2], expected [2, 3], that of logits")


@SETTINGS
@given(data=st.data())
def test_attention_update(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    rows, columns, parts, both = (
        draw(st.integers(0, 4)),
        draw(st.integers(0, 5)),
        draw(st.integers(1, 4)),
        draw(st.booleans()),
    )
    sums = [case.take((rows,), "f4") for _ in range(parts)]
    locals_ = [case.take((rows, columns)) for _ in range(parts)]
    out, whole = case.take((rows, columns))[0], case.take((rows,), "f4")[0] if both else 0
    lists = npu.list([each[0] for each in sums]), npu.list([each[0] for each in locals_])
    assert npu.call("attention_update", *lists, int(both), out, whole) == 0
    logs, values = numpy.array([each[1] for each in sums]), numpy.array([each[1] for each in locals_])
    total = numpy.logaddexp.reduce(logs, 0)
    agree(npu, out, (numpy.exp(logs - total)[..., None] * values).sum(0), 1e4)
    if both:
        agree(npu, whole, total)


@pytest.mark.strict
def test_attention_update_refuses(npu):
    sums, locals_, out = (
        [blank(npu, "f4", (2,)) for _ in "ab"],
        [blank(npu, "f2", (2, 3)) for _ in "ab"],
        blank(npu, "f2", (2, 3)),
    )

    def call(sums=sums, locals_=locals_, kind=0, out=out, whole=0):
        return npu.call("attention_update", npu.list(sums), npu.list(locals_), kind, out, whole)

    assert call() == 0
    refused(call(out=0), NULLPTR, "out is NULL")
    refused(call(kind=1), NULLPTR, "lseOut is NULL")
    refused(call(kind=2), INVALID, "updateType is 2, expected 0 or 1")
    refused(call(sums=sums[:1]), INVALID, "localOut has 2 tensors, expected 1, as many as lse")
    refused(call(sums=[sums[0], blank(npu, "f2", (2,))]), INVALID, "lse[1] has data type 1, float16, expected float32")
    refused(
        call(locals_=[locals_[0], blank(npu, "f2", (2, 4))]), INVALID, "localOut[1] has shape [2, 4], expected [2, 3]"
    )
    refused(call(out=blank(npu, "f4", (2, 3))), INVALID, "localOut[0] has data type 1, float16, expected float32")
