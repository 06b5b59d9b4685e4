"""QuantMatmul and its versions against NumPy: integers of 8 and 4 bits, transposition, batches, scales and biases."""

import numpy
import pytest
from helpers.expect import refused
from helpers.norms import Case
from helpers.operands import INVALID, NULLPTR, SETTINGS, blank, near, stretched
from helpers.packed import any_integers, cube_scale, scale_of, small
from hypothesis import given
from hypothesis import strategies as st


def integers(case, form, dims, flag):
    """Return a factor and its values; ``flag`` says that it is stored transposed."""
    stored = (*dims[:-2], dims[-1], dims[-2]) if flag else dims
    tensor, values = any_integers(case, tuple(stored), form)
    return tensor, numpy.swapaxes(values, -1, -2) if flag else values


def factors(case, draw, form):
    """Return x1, x2, their values, and whether they are stored transposed."""
    sizes = [1, 2, 5, 300] if form == "i1" else [8, 16, 264]
    rows, depth, columns = (draw(st.sampled_from(sizes[:-1])) for _ in "mkn")
    columns = draw(st.sampled_from([columns, sizes[-1]]))
    batch = draw(st.lists(st.integers(1, 3), max_size=2))
    flags = draw(st.booleans()), draw(st.booleans())
    x1, left = integers(case, form, (*stretched(draw, batch), rows, depth), flags[0])
    x2, right = integers(case, form, (*batch, depth, columns), flags[1])
    return x1, x2, left, right, flags


def any_scale(case, draw, count):
    """Return scales, packed or not, and their values; one per column or one for all."""
    shape = draw(st.sampled_from([(1,), (count,)]))
    if draw(st.booleans()):
        packed = cube_scale(case.generator.uniform(0.001, 0.02, shape)).astype(draw(st.sampled_from(["u8", "i8"])))
        return case.npu.tensor(packed), scale_of(packed)
    return case.take(shape, draw(st.sampled_from(["f4", "b2"])), small)


def check(npu, y, kind, product, expected):
    """Compare a result with exact sums, and with what they are scaled to."""
    if kind == "i4":
        assert numpy.array_equal(npu.get(y), product)
    elif kind == "i1":
        clipped = numpy.clip(numpy.rint(expected), -128, 127)
        assert (numpy.abs(npu.get(y).astype("f8") - clipped) <= 1).all()
    else:
        near(npu.get(y), expected, kind, 1e-9)


@SETTINGS
@given(data=st.data())
def test_versions(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    version = draw(st.sampled_from(["v3", "v4", "weight_nz"]))
    x1, x2, left, right, flags = factors(case, draw, draw(st.sampled_from(["i1", "int4", "carrier"])))
    product = left @ right
    rows, columns = product.shape[-2:]
    scale, scales = any_scale(case, draw, columns)
    kind = draw(st.sampled_from(["f2", "b2", "i1", "i4"]))
    offset, offsets = case.take_or_none((columns,), "f4") if kind == "i1" else (0, None)
    per_row, row_scales = case.take_or_none((rows,), "f4", small) if version != "v3" else (0, None)
    shape = (product.shape[0], 1, columns) if product.ndim == 3 and draw(st.booleans()) else (columns,)
    bias, biases = case.take_or_none(shape, "i4" if kind == "i4" else draw(st.sampled_from(["i4", "f4", "b2"])))
    y, _ = case.take(product.shape, kind)
    if version == "v3":
        ret = npu.call("quant_matmul_v3", x1, x2, scale, offset, bias, *flags, y)
    elif version == "v4":
        ret = npu.call("quant_matmul_v4", x1, x2, scale, offset, per_row, bias, *flags, y)
    else:
        ret = npu.call("quant_matmul_weight_nz", x1, x2, per_row, scale, 0, 0, offset, 0, bias, *flags, 0, y)
    assert ret == 0
    early = bias and bias.kind == "i4"
    added = 0 if biases is None else biases
    product = product + (added if early else 0)
    expected = product * scales * (1 if row_scales is None else row_scales[:, None])
    check(npu, y, kind, product, expected + (0 if offsets is None else offsets) + (0 if early else added))


@SETTINGS
@given(data=st.data())
def test_first_versions(npu, data):
    draw, case = data.draw, Case(npu, data.draw)
    x1, x2, left, right, flags = factors(case, draw, "i1")
    second = draw(st.booleans())
    if not second:
        left = numpy.swapaxes(left, -1, -2) if flags[0] else left
        right = numpy.swapaxes(right, -1, -2) if flags[1] else right
        if left.shape[-1] != right.shape[-2]:
            return
    product = left @ right
    bias, biases = case.take_or_none(product.shape[-1:], "i4")
    y, _ = case.take(product.shape, "f2")
    packed = cube_scale(numpy.full(product.shape[-1], 0.013))
    if second:
        ret = npu.call("quant_matmul_v2", x1, x2, bias, npu.tensor(packed), *flags, y)
    else:
        ret = npu.call("quant_matmul", x1, x2, bias, scale_of(packed)[0], y)
    assert ret == 0
    near(npu.get(y), (product + (0 if biases is None else biases)) * scale_of(packed), "f2", 1e-9)


@pytest.mark.parametrize("depth", [1, 255, 256, 2048, 2049, 9001])
def test_row_times_long_columns(npu, depth):
    draw = numpy.random.default_rng(depth)
    left, right = (draw.integers(-128, 128, (rows, depth)).astype("i1") for rows in (1, 7))
    left[:, : depth // 2] = right[:, : depth // 2] = -128
    scale, y = npu.tensor(numpy.full(7, 2.0**-14, "f4")), blank(npu, "f2", (1, 7))
    assert npu.call("quant_matmul_v4", npu.tensor(left), npu.tensor(right), scale, 0, 0, 0, False, True, y) == 0
    product = left.astype("i8") @ right.T.astype("i8")
    assert npu.get(y).tolist() == (product * 2.0**-14).astype("f2").tolist()


@pytest.mark.strict
def test_refusals(npu):
    x1, x2, scale = blank(npu, "i1", (2, 3)), blank(npu, "i1", (3, 4)), blank(npu, "f4", (4,))
    wide, byte = blank(npu, "f4", (3,)), blank(npu, "i1", (2, 4))

    def call(y=byte, place=None, value=None, flag=False):
        fits = [x1, x2, scale, 0, 0, 0, flag, False, y]
        return npu.call("quant_matmul_v4", *[value if k == place else x for k, x in enumerate(fits)])

    assert call() == 0
    for place in (0, 1, 2, 8):
        refused(call(place=place, value=0), NULLPTR, "is NULL")
    refused(call(place=0, value=blank(npu, "f2", (2, 3))), INVALID, "x1 has data type 1, float16, expected int8")
    refused(call(place=0, value=blank(npu, "i1", (3,))), INVALID, "x1 has 1 dimensions, expected 2 to 6")
    refused(call(flag=True), INVALID, "x1 has 2 columns and x2 has 3 rows, expected the same")
    refused(call(place=0, value=blank(npu, "i1", (0, 3)), y=blank(npu, "i1", (0, 4))), INVALID, "out is empty")
    refused(call(place=2, value=wide), INVALID, "scale has 3 elements, expected 1 or 4, in the last dimension")
    refused(call(place=2, value=blank(npu, "f8", (4,))), INVALID, "scale has data type 11, float64, expected")
    refused(call(place=3, value=wide), INVALID, "offset has 3 elements, expected 1 or 4")
    half = blank(npu, "f2", (2, 4))
    refused(call(y=half, place=3, value=scale), INVALID, "offset is a tensor, expected NULL unless out is int8")
    refused(call(place=4, value=wide), INVALID, "pertokenScale", "expected [2], one number per row")
    refused(call(place=5, value=wide), INVALID, "bias has shape [3], expected [4], one number per column")
    refused(call(y=blank(npu, "i1", (4, 4))), INVALID, "out has shape [4, 4], expected [2, 4], that of the product")
    one, other = blank(npu, "i1", (2, 2, 3)), blank(npu, "i1", (3, 3, 4))
    ret = npu.call("quant_matmul_v3", one, other, scale, 0, 0, False, False, byte)
    refused(ret, INVALID, "the batches of x1 and x2 have 2 and 3 elements, expected the same or 1")
    ret = npu.call("quant_matmul_weight_nz", x1, x2, 0, scale, scale, 0, 0, 0, 0, False, False, 0, byte)
    refused(ret, INVALID, "yScale is a tensor, expected NULL")
    ret = npu.call("quant_matmul_weight_nz", x1, x2, 0, scale, 0, 0, 0, 0, 0, False, False, 32, byte)
    refused(ret, INVALID, "groupSize is 32, expected 0")


@pytest.mark.strict
@pytest.mark.parametrize("carrier", [False, True])
def test_the_last_dimensions_as_stored_have_a_limit(npu, carrier):
    kind, columns = ("i4", 8192) if carrier else ("i1", 65536)

    def call(one, other, *flags, sizes):
        factors = (blank(npu, kind, shape) for shape in (one, other))
        return npu.call("quant_matmul_v3", *factors, scale, 0, 0, *flags, blank(npu, "i4", sizes))

    scale, each = blank(npu, "f4", (1,)), 8 if carrier else 1
    text = "the last dimension of x{} has 65536 numbers, expected 65535 at most"
    refused(call((1, columns), (65536, 1), False, False, sizes=(1, each)), INVALID, text.format(1))
    refused(call((2, columns), (2, 1), True, False, sizes=(65536, each)), INVALID, text.format(1))
    refused(call((1, 1), (each, columns), False, False, sizes=(1, 65536)), INVALID, text.format(2))
    assert call((1, 1), (65536, 1), False, True, sizes=(1, 65536)) == 0
    assert call((65536, 1), (each, 1), False, False, sizes=(65536, each)) == 0
