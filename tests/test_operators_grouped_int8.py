"""Products of groups of int8 with SwiGlu and quantisation, or added to the rows of tokens, against NumPy."""

import numpy
import pytest
from helpers.expect import refused
from helpers.indices import AICORE_EXCEPTION, failing
from helpers.operands import INVALID, NULLPTR, blank
from helpers.packed import cube_scale, int4

import acl

SIZES = [2, 0, 3, 1]  # rows of the groups; one row is behind them
ROWS, DEPTH, COLUMNS, TOKENS = 7, 16, 32, 5
GATED = ["grouped_matmul_swiglu_quant", "grouped_matmul_swiglu_quant_weight_nz"]
GATED_LATER = ["grouped_matmul_swiglu_quant_v2", "grouped_matmul_swiglu_quant_weight_nz_v2"]
ROUTED = ["grouped_matmul_finalize_routing", "grouped_matmul_finalize_routing_weight_nz"]
ROUTED_LATER = [f"grouped_matmul_finalize_routing_{name}" for name in ("v2", "v3", "weight_nz_v2")]


class Groups:
    """Random operands, and the products of the rows in groups."""

    def __init__(self, npu, form="i1", parts=1, turned=False):
        random = numpy.random.default_rng(29)
        self.npu = npu
        self.x = random.integers(-20, 20, (ROWS, DEPTH)).astype("i1")
        values = random.integers(-8, 8, (len(SIZES), DEPTH, COLUMNS)).astype("i1")
        self.scales = random.uniform(0.01, 0.1, (len(SIZES), parts, COLUMNS)).astype("f4")
        self.rows = random.uniform(0.5, 2, ROWS).astype("f4")
        self.random, self.ends = random, numpy.cumsum(SIZES)
        weights = numpy.repeat(self.scales, DEPTH // parts, 1) * values
        group = numpy.repeat(range(len(SIZES)), SIZES)
        self.products = numpy.einsum("mk,mkn->mn", self.x[: len(group)] * 1.0, weights[group])
        self.products *= self.rows[: len(group), None]
        self.group = group
        stored = values.transpose(0, 2, 1) if turned else values
        self.weight = int4(npu, stored, form == "carrier") if form != "i1" else npu.tensor(stored.copy())
        self.weights = [npu.tensor(each) for each in values]

    def list(self, counts=False):
        """Return the list of groups."""
        return self.npu.tensor(numpy.array(SIZES if counts else self.ends, "i8"))

    def scale(self):
        """Return the scales; those of one part have no dimension for it."""
        return self.npu.tensor(self.scales[:, 0] if self.scales.shape[1] == 1 else self.scales)


def check_gated(npu, values, out, scale):
    """Compare integers and scales of rows; what is behind the groups is not written."""
    found, scales = npu.get(out).astype("f8"), npu.get(scale)
    wanted = numpy.abs(values).max(1) / 127
    numpy.testing.assert_allclose(scales[: len(values)], wanted, rtol=1e-5)
    assert (numpy.abs(found[: len(values)] * wanted[:, None] - values) <= 0.501 * wanted[:, None]).all()
    assert (found[len(values) :] == 9).all() and (scales[len(values) :] == 9).all()


def gated(products):
    """Return SwiGlu of the halves."""
    active, passive = numpy.split(products, 2, 1)
    return active / (1 + numpy.exp(-active)) * passive


def outputs(npu):
    """Return outputs in which a 9 is what was not written."""
    return npu.tensor(numpy.full((ROWS, COLUMNS // 2), 9, "i1")), npu.tensor(numpy.full(ROWS, 9, "f4"))


@pytest.mark.parametrize("form", ["i1", "int4", "carrier"])
@pytest.mark.parametrize("name", GATED)
def test_products_are_gated_and_quantised(npu, name, form):
    groups, (out, scale) = Groups(npu, form), outputs(npu)
    assist = 0 if form == "i1" else blank(npu, "f4", (len(SIZES), COLUMNS))
    rows = npu.tensor(groups.rows)
    given = npu.tensor(groups.x), groups.weight, assist, 0, groups.scale(), rows, groups.list()
    ret = npu.call(name, *given, out, scale, 0)
    assert ret == 0
    check_gated(npu, gated(groups.products), out, scale)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("name", GATED_LATER)
def test_later_versions_take_lists_and_factors(npu, name, single, counts):
    groups, (out, scale) = Groups(npu), outputs(npu)
    factors = groups.random.uniform(0.5, 2, (len(SIZES), COLUMNS // 2)).astype("f4")
    weight = npu.list([groups.weight] if single else groups.weights)
    scales = npu.list([groups.scale()] if single else [npu.tensor(each[0]) for each in groups.scales])
    ret = npu.call(name, npu.tensor(groups.x), weight, scales, 0, 0, npu.tensor(groups.rows), npu.tensor(factors),
                   groups.list(counts), 0, 0, 0, int(counts), 0, out, scale)  # fmt: skip
    assert ret == 0
    check_gated(npu, gated(groups.products) * factors[groups.group], out, scale)


def test_scales_of_parts_of_the_sum(npu):
    groups, (out, scale) = Groups(npu, "int4", parts=4), outputs(npu)
    lists = npu.list([groups.weight]), npu.list([groups.scale()]), npu.list([blank(npu, "f4", (len(SIZES), COLUMNS))])
    ret = npu.call(GATED_LATER[0], npu.tensor(groups.x), *lists, 0, npu.tensor(groups.rows), 0, groups.list(), 1, 0, 0,
                   0, 0, out, scale)  # fmt: skip
    assert ret == 0
    check_gated(npu, gated(groups.products), out, scale)


def routed(npu, groups, name, out, kind=0, **given):
    """Call a version of the operator."""
    later = [given.get("offset", 0), 0, 0] if name in ROUTED_LATER else []
    tuning = [0] if name.endswith(("v3", "nz_v2")) else []
    return npu.call(
        name, npu.tensor(groups.x), groups.weight, given.get("scale", groups.scale()), given.get("bias", 0), *later,
        npu.tensor(groups.rows), groups.list(kind == 1), given.get("shared", 0), given.get("factors", 0),
        given["index"], given.get("dtype", 0), 0.5, given.get("first", 0), False, given.get("turned", False), kind,
        *tuning, out,
    )  # fmt: skip


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("name", [*ROUTED, *ROUTED_LATER])
def test_rows_are_added_to_tokens(npu, name, kind):
    groups, out = Groups(npu), blank(npu, "f4", (TOKENS, COLUMNS))
    index, factors = groups.random.integers(0, TOKENS, ROWS), groups.random.uniform(0, 1, ROWS).astype("f4")
    shared = groups.random.normal(size=(2, COLUMNS)).astype("f4")
    bias = groups.random.normal(size=(len(SIZES), COLUMNS)).astype("f4")
    given = {"index": npu.tensor(index), "factors": npu.tensor(factors), "shared": npu.tensor(shared), "first": 3}
    assert routed(npu, groups, name, out, kind, bias=npu.tensor(bias), **given) == 0
    wanted = numpy.zeros((TOKENS, COLUMNS))
    wanted[3:] = 0.5 * shared
    rows = groups.products + bias[groups.group]
    numpy.add.at(wanted, index[: len(rows)], rows * factors[: len(rows), None])
    numpy.testing.assert_allclose(npu.get(out), wanted, rtol=1e-4, atol=1e-4)


def test_weights_of_4_bits_with_offsets(npu):
    groups, out = Groups(npu, "int4"), blank(npu, "f4", (TOKENS, COLUMNS))
    index, offsets = numpy.arange(ROWS) % TOKENS, groups.random.normal(size=(len(SIZES), 1, COLUMNS)).astype("f4")
    exact = cube_scale(groups.scales)
    groups.scales = (exact & numpy.uint64(0xFFFFFFFF)).astype("u4").view("f4")
    bias = blank(npu, "f4", (len(SIZES), COLUMNS))
    given = {"scale": npu.tensor(exact.astype("i8")), "offset": npu.tensor(offsets), "index": npu.tensor(index)}
    assert routed(npu, groups, "grouped_matmul_finalize_routing_v3", out, bias=bias, **given) == 0
    used = len(groups.group)
    products = groups.products.copy()
    again = Groups(npu, "int4")
    products *= (groups.scales / again.scales)[groups.group, 0]
    products += groups.x[:used].sum(1, keepdims=True) * groups.rows[:used, None] * offsets[groups.group, 0]
    wanted = numpy.zeros((TOKENS, COLUMNS))
    numpy.add.at(wanted, index[:used], products)
    numpy.testing.assert_allclose(npu.get(out), wanted, rtol=1e-4, atol=1e-3)


def test_a_turned_weight(npu):
    groups, out = Groups(npu, turned=True), blank(npu, "f4", (ROWS, COLUMNS))
    given = {"index": npu.tensor(numpy.arange(ROWS)), "turned": True}
    assert routed(npu, groups, ROUTED[0], out, **given) == 0
    numpy.testing.assert_allclose(npu.get(out)[: len(groups.group)], groups.products, rtol=1e-5)
    assert not npu.get(out)[len(groups.group) :].any()


@pytest.mark.strict
def test_refusals(npu):
    groups, (out, scale) = Groups(npu), outputs(npu)

    def gate(name=GATED[0], weight=groups.weight, bias=0, offset=0, out=out, scale=scale):
        return npu.call(name, npu.tensor(groups.x), weight, bias, offset, groups.scale(), npu.tensor(groups.rows),
                        groups.list(), out, scale, 0)  # fmt: skip

    assert gate() == 0
    refused(gate(out=0), NULLPTR, "output is NULL")
    refused(gate(bias=blank(npu, "f4", (4, COLUMNS))), INVALID, "bias is given, expected NULL for this weight")
    refused(gate(offset=blank(npu, "f4", (4, COLUMNS))), INVALID, "offset is given, expected NULL")
    refused(gate(weight=blank(npu, "i1", (4, 8, COLUMNS))), INVALID, "is 8 x 32, expected 16 x 32")
    refused(gate(weight=blank(npu, "i1", (3, DEPTH, COLUMNS))), INVALID, "has 3 groups, expected at least 4")
    refused(gate(out=blank(npu, "i1", (ROWS, COLUMNS))), INVALID, "half of the product")
    index, result = npu.tensor(numpy.arange(ROWS) % TOKENS), blank(npu, "f4", (TOKENS, COLUMNS))

    def route(kind=0, **given):
        return routed(npu, groups, ROUTED[0], result, kind, **{"index": index, **given})

    assert route() == 0
    refused(route(index=0), NULLPTR, "rowIndexOptional is NULL")
    refused(route(kind=2), INVALID, "groupListType is 2, expected 0 or 1")
    refused(route(dtype=1), INVALID, "dtype is 1, expected 0, float32")
    refused(route(shared=blank(npu, "b2", (3, COLUMNS)), first=3), INVALID, "expected rows within the 5 of y")
    refused(route(factors=blank(npu, "f4", (3,))), INVALID, "one number per row of x")


@pytest.mark.strict
@pytest.mark.parametrize(
    ("ends", "tokens", "words"),
    [
        ([2, 1, 3, 4], TOKENS, "[1] is 1, expected a group within the 7 rows of x"),
        ([2, 2, 5, 8], TOKENS, "[3] is 8, expected a group within the 7 rows of x"),
        ([2, 2, 5, 6], ROWS, "[5] is 5, expected 0 to 4"),
    ],
)
def test_groups_and_tokens_out_of_range_fail_the_task(ends, tokens, words):
    with failing() as fresh:
        groups, out = Groups(fresh), blank(fresh, "f4", (TOKENS, COLUMNS))
        groups.ends = numpy.array(ends)
        assert routed(fresh, groups, ROUTED[0], out, index=fresh.tensor(numpy.arange(ROWS) % tokens)) == 0
        refused(acl.rt.synchronize_stream(fresh.stream), AICORE_EXCEPTION, words)
