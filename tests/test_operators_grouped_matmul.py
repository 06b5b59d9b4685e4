"""GroupedMatmul and its versions against NumPy: groups of rows, of the summed dimension, lists, quantised weights."""

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, failing
from helpers.norms import Case
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank, near
from helpers.packed import any_integers, cube_scale, scale_of, small
from hypothesis import given
from hypothesis import strategies as st

import acl

ENDS, SIZES, PAIRS = 0, 1, 2
TOLERANCE = 1e-5  # relative to the sum of the absolute terms, for sums of floats


def member(npu, tensor):
    """Return a list of one tensor, or 0."""
    return npu.list([tensor]) if tensor else 0


def group_list(sizes, form):
    """Return the sizes of groups as an operator takes them."""
    if form == PAIRS:
        return numpy.array([[group, size] for group, size in enumerate(sizes)], "i8").reshape(-1, 2)
    return numpy.array(sizes if form == SIZES else numpy.cumsum(sizes), "i8")


def call(npu, version, operands, y, groups, form=ENDS, kind=0, rows=0, split=3):
    """Call a version; the operands are the lists up to antiquantOffset."""
    if version < 3:
        array = 0 if groups is None else npu.integers(groups.tolist())
        extra = [kind] if version == 2 else []
        return npu.call("grouped_matmul" + ("_v2" if version == 2 else ""), *operands, array, split, *extra, y)
    tensor = 0 if groups is None else npu.tensor(groups)
    if version == 3:
        return npu.call("grouped_matmul_v3", *operands, tensor, split, kind, y)
    hint = [npu.integers([8])] if version == 5 else []  # tuningConfig, which changes no result
    more = rows, tensor, 0, 0, 0, split, kind, form, 0, *hint, y, 0, 0
    return npu.call(f"grouped_matmul_v{version}", *operands, *more)


def any_sizes(case, draw, count):
    """Return the number of rows and the sizes of groups, which may end before the last row."""
    rows = draw(st.integers(0, 12))
    sizes = case.generator.multinomial(rows, numpy.ones(count + 1) / (count + 1))[:count]
    return rows, sizes.tolist()


@SETTINGS
@given(data=st.data())
def test_groups_of_rows(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    count, depth, columns = (
        draw(st.integers(1, 4)),
        draw(st.sampled_from([1, 7, 33])),
        draw(st.sampled_from([1, 5, 70])),
    )
    rows, sizes = any_sizes(case, draw, count)
    x, left = case.take((rows, depth))
    weight, right = case.take((count, depth, columns))
    bias, biases = case.take_or_none((count, columns), "f4" if case.kind == "b2" else case.kind)
    y, before = case.take((rows, columns))
    version = draw(st.sampled_from([1, 2, 3, 4, 5]))
    form = draw(st.sampled_from([ENDS, SIZES, PAIRS])) if version > 3 else ENDS
    operands = npu.list([x]), npu.list([weight]), member(npu, bias), 0, 0, 0, 0
    assert call(npu, version, operands, npu.list([y]), group_list(sizes, form), form) == 0
    expected, error, start = before.copy(), numpy.zeros(before.shape), 0
    for group, size in enumerate(sizes):
        part = slice(start, start + size)
        added = 0 if biases is None else biases[group]
        expected[part] = left[part] @ right[group] + added
        error[part] = TOLERANCE * (numpy.abs(left[part]) @ numpy.abs(right[group]) + numpy.abs(added))
        start += size
    near(npu.get(y), expected, case.kind, error)


@SETTINGS
@given(data=st.data())
def test_groups_of_the_summed_dimension(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    count, rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 5)), draw(st.sampled_from([1, 5, 70]))
    depth, sizes = any_sizes(case, draw, count)
    (x, left), (weight, right), (y, _) = (
        case.take((rows, depth)), case.take((depth, columns)), case.take((count, rows, columns)),
    )  # fmt: skip
    operands = npu.list([x]), npu.list([weight]), 0, 0, 0, 0, 0
    version = draw(st.sampled_from([2, 3, 4, 5]))
    assert call(npu, version, operands, npu.list([y]), group_list(sizes, ENDS), kind=2) == 0
    starts = numpy.cumsum([0, *sizes])
    parts = [slice(start, start + size) for start, size in zip(starts, sizes)]
    expected = numpy.stack([left[:, part] @ right[part] for part in parts])
    error = TOLERANCE * numpy.stack([numpy.abs(left[:, part]) @ numpy.abs(right[part]) for part in parts])
    near(npu.get(y), expected, case.kind, error)


@SETTINGS
@given(data=st.data())
def test_lists(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    count, parts = draw(st.integers(1, 3)), []
    for _ in range(count):
        rows, depth, columns = (draw(st.integers(1, 6)) for _ in "mkn")
        parts.append([case.take(shape) for shape in ((rows, depth), (depth, columns), (columns,), (rows, columns))])
    lists = [npu.list([part[place][0] for part in parts]) for place in range(4)]
    operands = *lists[:2], lists[2] if case.kind != "b2" else 0, 0, 0, 0, 0
    assert call(npu, draw(st.sampled_from([1, 2, 3, 4, 5])), operands, lists[3], None, kind=-1, split=0) == 0
    for (_, left), (_, right), (_, bias), (y, _) in parts:
        added = bias if case.kind != "b2" else 0
        error = TOLERANCE * (numpy.abs(left) @ numpy.abs(right) + numpy.abs(added))
        near(npu.get(y), left @ right + added, case.kind, error)


@SETTINGS
@given(data=st.data())
def test_quantised_products(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    count, depth, columns = draw(st.integers(1, 3)), draw(st.sampled_from([8, 64])), draw(st.sampled_from([8, 40]))
    rows, sizes = any_sizes(case, draw, count)
    kind = draw(st.sampled_from(["f2", "b2", "i1", "i4"]))
    x, left = case.take((rows, depth), "i1")
    weight, right = any_integers(case, (count, depth, columns), draw(st.sampled_from(["i1", "int4", "carrier"])))
    packed = cube_scale(case.generator.uniform(0.001, 0.02, (count, columns)))
    per_row, row_scales = case.take_or_none((rows,), "f4", small) if rows else (0, None)
    y, before = case.take((rows, columns), kind)
    operands = npu.list([x]), npu.list([weight]), 0, npu.list([npu.tensor(packed)]), 0, 0, 0
    version, rows_list = draw(st.sampled_from([4, 5])), member(npu, per_row)
    assert call(npu, version, operands, npu.list([y]), group_list(sizes, SIZES), SIZES, rows=rows_list) == 0
    expected, start = before.copy(), 0
    for group, size in enumerate(sizes):
        part = slice(start, start + size)
        expected[part] = left[part] @ right[group]
        if kind != "i4":
            expected[part] *= scale_of(packed)[group] * (1 if row_scales is None else row_scales[part, None])
        start += size
    if kind in ("f2", "b2"):
        near(npu.get(y), expected, kind, 1e-9)
    else:
        clipped = expected if kind == "i4" else numpy.clip(numpy.rint(expected), -128, 127)
        assert (numpy.abs(npu.get(y).astype("f8") - clipped) <= (0 if kind == "i4" else 1)).all()


@SETTINGS
@given(data=st.data())
def test_quantised_weights(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    case.kind = draw(st.sampled_from(["f2", "b2"]))
    count, depth, columns = draw(st.integers(1, 3)), draw(st.sampled_from([8, 64])), draw(st.sampled_from([8, 40]))
    rows, sizes = any_sizes(case, draw, count)
    x, left = case.take((rows, depth))
    weight, right = any_integers(case, (count, depth, columns), draw(st.sampled_from(["i1", "int4", "carrier"])))
    shape = draw(st.sampled_from([(count, columns), (count, 1, columns), (count, 4, columns)]))
    (scale, scales), (offset, offsets) = case.take(shape, values=small), case.take(shape)
    y, before = case.take((rows, columns))
    operands = npu.list([x]), npu.list([weight]), 0, 0, 0, npu.list([scale]), npu.list([offset])
    assert call(npu, draw(st.sampled_from([3, 4, 5])), operands, npu.list([y]), group_list(sizes, ENDS)) == 0
    each = 1 if len(shape) == 2 else shape[1]
    spread = [numpy.repeat(numbers.reshape(count, each, columns), depth // each, 1) for numbers in (scales, offsets)]
    whole = (right + spread[1]) * spread[0]
    expected, error, start = before.copy(), numpy.zeros(before.shape), 0
    for group, size in enumerate(sizes):
        part = slice(start, start + size)
        expected[part], start = left[part] @ whole[group], start + size
        error[part] = TOLERANCE * (numpy.abs(left[part]) @ numpy.abs(whole[group]))
    near(npu.get(y), expected, case.kind, error)


@pytest.mark.parametrize(
    ("number", "activation"),
    [
        (1, lambda x: numpy.maximum(x, 0)),
        (2, lambda x: x / (1 + numpy.exp(-1.5957691216057308 * (x + 0.044715 * x**3)))),
        (4, lambda x: x / (1 + numpy.exp(-1.702 * x))),
        (5, lambda x: x / (1 + numpy.exp(-x))),
    ],
)
def test_activations(npu, number, activation):
    values = numpy.linspace(-4, 4, 9, dtype="f4").reshape(9, 1)
    x, weight, y = npu.tensor(values), npu.tensor(numpy.ones((1, 1, 1), "f4")), blank(npu, "f4", (9, 1))
    lists = [npu.list([tensor]) for tensor in (x, weight, y)]
    groups = npu.tensor(numpy.array([9]))
    ret = npu.call("grouped_matmul_v4", *lists[:2], *[0] * 6, groups, 0, 0, 0, 3, 0, 0, number, lists[2], 0, 0)
    assert ret == 0
    assert numpy.allclose(npu.get(y), activation(values.astype("f8")), rtol=1e-6, atol=1e-7)


@pytest.mark.strict
def test_refusals(npu):
    shapes = {"x": (4, 3), "weight": (2, 3, 5), "y": (4, 5)}
    groups = numpy.array([1, 4])

    def ask(split=3, kind=0, groups=groups, bias=None, kinds=None, **changed):
        made = {name: blank(npu, (kinds or {}).get(name, "f2"), changed.get(name, shapes[name])) for name in shapes}
        x, weight, y = (npu.list([made[name]]) for name in shapes)
        biases = 0 if bias is None else npu.list([blank(npu, "f2", bias)])
        return call(npu, 3, (x, weight, biases, 0, 0, 0, 0), y, groups, kind=kind, split=split)

    assert ask() == 0
    refused(npu.call("grouped_matmul_v3", 0, *[0] * 7, 3, 0, 0), NULLPTR, "x is NULL")
    refused(ask(split=4), INVALID, "the split item of y is 4, expected 0 to 3")
    refused(ask(kind=1), INVALID, "groupType is 1, expected -1, 0 or 2")
    refused(ask(kind=-1), INVALID, "groupList", "is given, expected NULL for group type -1")
    refused(ask(groups=None), INVALID, "groupList", "is NULL, expected the groups of group type 0")
    refused(ask(groups=numpy.array([1, 2, 4])), INVALID, "the length of groupList", "is 3, expected 0 to 2")
    refused(ask(kinds={"x": "f8"}), INVALID, "x has data type 11, float64, expected")
    refused(ask(x=(4, 2)), INVALID, "x has 2 columns and weight of group 0 has 3 rows, expected the same")
    refused(ask(y=(4, 4)), INVALID, "y of group 0 is 4 x 4, expected 4 x 5")
    refused(ask(x=(12,)), INVALID, "have 1, 2 and 2 dimensions, expected 2, 2 and 2")
    refused(ask(bias=(3, 5)), INVALID, "bias", "does not have 2 groups in its first dimension")
    refused(ask(bias=(2, 4)), INVALID, "bias", "has 4 numbers in the last of 1 dimensions per group, expected 5")
    refused(ask(weight=(0, 3, 5), x=(12,), groups=groups[:0]), INVALID, "x, weight and y of group 0 have 1, 2 and 2")
    refused(ask(kind=2, y=(2, 4, 5)), INVALID, "weight has 3 dimensions and 2 groups", "one matrix for group type 2")
    refused(ask(kind=-1, groups=None), INVALID, "weight has 3 dimensions and 2 groups", "for group type -1")
    lists = [npu.list([blank(npu, "f2", shape) for _ in "ab"]) for shape in ((4, 3), (3, 5), (4, 5))]
    refused(call(npu, 3, (*lists[:2], *[0] * 5), lists[2], groups, kind=2, split=0), INVALID, "list of 2 tensors")


@pytest.mark.strict
def test_the_fifth_version_refuses(npu):
    def ask(groups=(1, 4), form=ENDS, kind=0, x=(4, 3), **options):
        lists = [npu.list([blank(npu, "f2", shape)]) for shape in (x, (2, 3, 5), (4, 5))]
        return call(npu, 5, (*lists[:2], 0, 0, 0, 0, 0), lists[2], numpy.array(groups), form, kind, **options)

    assert ask() == 0
    refused(npu.call("grouped_matmul_v5", 0, *[0] * 11, 3, 0, 0, 0, 0, 0, 0, 0), NULLPTR, "x is NULL")
    refused(ask(kind=1), INVALID, "groupType is 1, expected -1, 0 or 2")
    refused(ask(split=4), INVALID, "the split item of out is 4, expected 0 to 3")
    refused(ask(form=3), INVALID, "the list type of groupList", "is 3, expected 0 to 2")
    refused(ask(x=(4, 2)), INVALID, "x has 2 columns and weight of group 0 has 3 rows, expected the same")


@pytest.mark.strict
def test_scales_of_weights_refuse(npu):
    x, y = npu.list([blank(npu, "f2", (4, 8))]), npu.list([blank(npu, "f2", (4, 5))])
    weight, groups = npu.list([blank(npu, "i1", (2, 8, 5))]), numpy.array([1, 4])

    def ask(scale, offset, product=None):
        made = (0 if shape is None else npu.list([blank(npu, "f2", shape)]) for shape in (scale, offset))
        products = 0 if product is None else npu.list([blank(npu, "f4", product)])
        return call(npu, 3, (x, weight, 0, products, 0, *made), y, groups)

    assert ask((2, 4, 5), (2, 4, 5)) == 0
    refused(ask((2, 5), (2, 4, 5)), INVALID, "antiquantOffset", "of group 0 does not have the shape of antiquantScale")
    refused(ask((2, 1, 5), (2, 4, 5)), INVALID, "antiquantOffset", "does not have the shape of antiquantScale")
    refused(ask(None, (2, 5)), INVALID, "antiquantScale", "is NULL, expected both or only the second one")
    refused(ask((2, 5), None, (2, 4, 5)), INVALID, "scale", "of group 0 has 2 dimensions, expected 1 with")
    parts = [npu.list([blank(npu, *operand) for operand in pair]) for pair in (
        (("f2", (2, 8)), ("f2", (2, 8))), (("i1", (8, 5)), ("i1", (8, 5))), (("f2", (1, 5)), ("f2", (0, 5))),
    )]  # fmt: skip
    refused(call(npu, 3, (*parts[:2], 0, 0, 0, parts[2], 0), y, None), INVALID, "of group 1 has 0 rows, expected 1")


def test_a_group_without_rows_has_no_scales(npu):
    values = numpy.arange(1, 7, dtype="i1").reshape(2, 3)
    x = npu.list([blank(npu, "i1", (0, 3)), npu.tensor(values)])
    weight = npu.list([npu.tensor(numpy.ones((3, 2), "i1")) for _ in "ab"])
    scale = npu.list([npu.tensor(numpy.ones(2, "f4")) for _ in "ab"])
    rows = npu.list([blank(npu, "f4", (0,)), npu.tensor(numpy.array([0.5, 2], "f4"))])
    y = blank(npu, "f2", (2, 2))
    assert call(npu, 4, (x, weight, 0, scale, 0, 0, 0), npu.list([y]), None, rows=rows) == 0
    assert npu.get(y).tolist() == [[3, 3], [30, 30]]


@pytest.mark.needs_sim
@pytest.mark.parametrize("groups", [[1, 5], [2, 1], [-1, 4], [1, -(2**63)]])
def test_groups_out_of_range_fail_the_task(groups):
    with failing() as fresh:
        x, weight, y = (fresh.list([blank(fresh, "f2", shape)]) for shape in ((4, 3), (2, 3, 5), (4, 5)))
        assert call(fresh, 3, (x, weight, 0, 0, 0, 0, 0), y, numpy.array(groups)) == 0
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, "groupList", "rows from", "expected 0 to")
