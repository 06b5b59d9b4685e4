"""Matrix products against NumPy in double: shapes, strides, types, math types of the cube unit, refusals."""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import (
    INVALID,
    KINDS,
    NULLPTR,
    SETTINGS,
    any_view,
    blank,
    casts,
    exact,
    meet,
    near,
    numbers,
    stored,
    stretched,
)
from helpers.pointwise import REAL, SINGLE
from helpers.tables import every
from hypothesis import given
from hypothesis import strategies as st

from acl import nnop

KEEP, ALLOW, HALF, HF32, ADD = range(5)
UNIT = 2.0**-24  # of the float that products are summed in


def product_kinds(draw, kinds=SINGLE):
    """Return the types of two factors that meet, and that of a result."""
    one = draw(st.sampled_from(kinds))
    other = draw(st.sampled_from(kinds))
    return one, other, draw(st.sampled_from([kind for kind in kinds if casts(meet(one, other), kind)]))


def sums(one, other):
    """Return the exact product of wide factors, and how far off a sum of floats may be."""
    one, other = one.astype("f8"), other.astype("f8")
    size = numpy.matmul(numpy.abs(one), numpy.abs(other))
    return numpy.matmul(one, other), (one.shape[-1] + 2) * UNIT * size


def run(npu, draw, name, shapes, kinds, *more):
    """Call an operator with views of any strides; returns the wide factors and the tensor of the result."""
    generator = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    views = [any_view(draw, generator, *each) for each in zip(shapes, kinds)]
    tensors = [npu.view(*view, kind) for view, kind in zip(views, kinds)]
    assert npu.call(name, *tensors, *more) == 0
    return [exact(view, kind) for (_, view), kind in zip(views, kinds)], tensors[-1]


@st.composite
def factors(draw):
    """Return two shapes that can be multiplied."""
    dims = st.integers(0, 5) if draw(st.integers(0, 3)) else st.integers(1, 40)
    batches = draw(st.lists(st.integers(0, 3), max_size=4))
    rows, depth, columns = draw(dims), draw(dims), draw(dims)
    shapes = []
    for tail in ([rows, depth], [depth, columns]):
        if draw(st.integers(0, 5)) == 0:
            shapes.append([depth])
            continue
        shapes.append(stretched(draw, batches) + tail)
    return shapes


@SETTINGS
@given(data=st.data())
def test_matmul(npu, data):
    shapes, kinds = data.draw(factors()), product_kinds(data.draw)
    out = numpy.matmul(*(numpy.zeros(shape) for shape in shapes)).shape
    (one, other, _), out = run(npu, data.draw, "matmul", [*shapes, out], kinds, KEEP)
    expected, error = sums(one, other)
    near(npu.get(out), expected, kinds[2], error)


@pytest.mark.parametrize("kind", SINGLE)
@pytest.mark.parametrize("order", ["CC", "CF", "FC", "FF"])
@pytest.mark.parametrize(
    ("rows", "depth", "columns"),
    [(1, 1, 1), (7, 257, 33), (384, 256, 512), (385, 513, 40), (13, 300, 530), (1, 700, 600), (500, 300, 3)]
    + [(7, 4100, 1030), (2, 4097, 5)],
)
def test_sizes_around_the_tiles(npu, rows, depth, columns, order, kind):
    generator = numpy.random.default_rng(rows)
    pair = [numpy.array(numbers(generator, shape, kind), order=way)
            for shape, way in zip([(rows, depth), (depth, columns)], order)]  # fmt: skip
    tensors = [npu.view(one if way == "C" else one.T, one, kind) for one, way in zip(pair, order)]
    out = npu.tensor(numpy.full((rows, columns), numpy.nan, "f4"))
    assert npu.call("mm", *tensors, out, KEEP) == 0
    expected, error = sums(*(exact(one, kind) for one in pair))
    near(npu.get(out), expected, "f4", error)


@SETTINGS
@given(data=st.data())
def test_mm(npu, data):
    rows, depth, columns = (data.draw(st.integers(0, 70)) for _ in range(3))
    kinds = product_kinds(data.draw)
    (one, other, _), out = run(npu, data.draw, "mm", [(rows, depth), (depth, columns), (rows, columns)], kinds, KEEP)
    expected, error = sums(one, other)
    near(npu.get(out), expected, kinds[2], error)


@SETTINGS
@given(data=st.data())
def test_batch_matmul(npu, data):
    batch, rows, depth, columns = (data.draw(st.integers(0, 9)) for _ in range(4))
    kinds = product_kinds(data.draw)
    left, right = data.draw(st.sampled_from([(batch, batch), (1, batch), (batch, 1)]))
    shapes = [(left, rows, depth), (right, depth, columns), (batch, rows, columns)]
    (one, other, _), out = run(npu, data.draw, "batch_mat_mul", shapes, kinds, KEEP)
    expected, error = sums(one, other)
    near(npu.get(out), expected, kinds[2], error)


@pytest.mark.parametrize("kind", ["f2", "b2"])
@pytest.mark.parametrize("name", ["matmul_weight_nz", "batch_mat_mul_weight_nz", "addmm_weight_nz"])
def test_weights_in_blocks(npu, name, kind):
    generator = numpy.random.default_rng(3)
    batch = (2,) if name.startswith("batch") else ()
    left, right, added = (numbers(generator, (*batch, *shape), kind) for shape in ((5, 20), (20, 33), (5, 33)))
    one, source, other, out = (npu.tensor(each, kind) for each in (left, right, right * 0, added * 0))
    assert npu.call("npu_format_cast", source, other) == 0
    sum_of = [npu.tensor(added, kind)], [npu.scalar(1), npu.scalar(1)]
    before, after = sum_of if name.startswith("addmm") else ([], [])
    assert npu.call(name, *before, one, other, *after, out, KEEP) == 0
    expected, error = sums(exact(left, kind), exact(right, kind))
    near(npu.get(out), expected + exact(added, kind) if before else expected, kind, error + UNIT)


@pytest.mark.parametrize("shapes", [((3, 4, 1, 8), (8, 5)), ((3, 4, 6, 8), (1, 1, 8, 5)), ((2, 3, 4, 8), (2, 1, 8, 5))])
def test_batches_that_share_a_factor(npu, shapes):
    generator = numpy.random.default_rng(2)
    pair = [numbers(generator, shape, "f4") for shape in shapes]
    expected, error = sums(*pair)
    out = npu.tensor(numpy.zeros(expected.shape, "f4"))
    assert npu.call("matmul", *map(npu.tensor, pair), out, KEEP) == 0
    near(npu.get(out), expected, "f4", error)


@SETTINGS
@given(data=st.data())
def test_mv(npu, data):
    rows, depth, kind = (
        data.draw(st.integers(0, 40)),
        data.draw(st.integers(0, 300)),
        data.draw(st.sampled_from(SINGLE)),
    )
    (one, other, _), out = run(npu, data.draw, "mv", [(rows, depth), (depth,), (rows,)], [kind] * 3, KEEP)
    expected, error = sums(one, other)
    near(npu.get(out), expected, kind, error)


@pytest.mark.strict
@SETTINGS
@given(data=st.data())
def test_dot(npu, data):
    depth, kind = data.draw(st.integers(0, 600)), data.draw(st.sampled_from(["f2", "b2", "f4", "i1", "u1", "i4"]))
    out_shape = data.draw(st.sampled_from([(), (1,)]))
    (one, other, _), out = run(npu, data.draw, "dot", [(depth,), (depth,), out_shape], [kind] * 3)
    found = npu.get(out).reshape(())
    if kind in SINGLE:
        expected, error = sums(one, other)
        near(found, expected, kind, error)
    else:
        assert found == (one.astype("i8") @ other.astype("i8")).astype(kind)


SUMS = {
    # name of the operator: the dimensions of the factors and the result
    "addmm": ("mk", "kn", "mn"),
    "baddbmm": ("bmk", "bkn", "bmn"),
    "addmv": ("mk", "k", "m"),
}


@st.composite
def additions(draw, name, in_place):
    """Return shapes, types and scalars of out = beta * self + alpha * left @ right."""
    sizes = {axis: draw(st.integers(0, 20)) for axis in "bmkn"}
    left, right, out = ([sizes[axis] for axis in axes] for axes in SUMS[name])
    if name == "baddbmm" and not in_place and draw(st.booleans()):
        draw(st.sampled_from([left, right]))[0] = 1
    self = out if in_place else stretched(draw, out)
    if name == "addmv":
        choices = REAL
        kinds = [draw(st.sampled_from(choices)) for _ in range(3)]
        total = meet(meet(*kinds[:2]), kinds[2])
    else:
        *kinds, _ = product_kinds(draw)
        kinds.append(draw(st.sampled_from(SINGLE)))
        total, choices = meet(meet(*kinds[:2]), kinds[2]), SINGLE
    fitting = [kind for kind in choices if casts(total, kind)]
    if in_place:
        out_kind = kinds[2] if kinds[2] in fitting else None
    else:
        out_kind = draw(st.sampled_from(fitting))
    scalar = draw(st.sampled_from([kind for kind in ("?", "i1", "i8", "f4", "f8") if casts(kind, total)]))
    beta, alpha = draw(st.sampled_from([0, 1, -3])), draw(st.sampled_from([0, 1, 2]))
    return (
        (left, right, self, out),
        (*kinds, out_kind),
        total,
        scalar,
        (bool(beta), bool(alpha)) if scalar == "?" else (beta, alpha),
    )


@pytest.mark.parametrize(
    ("name", "in_place"),
    [("addmm", False), ("addmm", True), ("baddbmm", False), ("baddbmm", True), ("addmv", False)],
)
def test_sums_of_a_product(npu, name, in_place):
    @SETTINGS
    @given(data=st.data())
    def run_case(data):
        shapes, kinds, total, scalar, (beta, alpha) = data.draw(additions(name, in_place))
        generator = numpy.random.default_rng(data.draw(st.integers(0, 2**32)))
        views = [any_view(data.draw, generator, shape, kind or "f4") for shape, kind in zip(shapes, kinds)]
        left, right, self, out = (npu.view(*view, kind or "f4") for view, kind in zip(views, kinds))
        scalars = [npu.scalar(beta, scalar), npu.scalar(alpha, scalar)]
        if name == "addmv":
            scalars.reverse()
        if in_place:
            ret, out = npu.call(f"inplace_{name}", self, left, right, *scalars, KEEP), self
        else:
            ret = npu.call(name, self, left, right, *scalars, out, KEEP)
        if kinds[3] is None:
            refused(ret, INVALID, "the sum is", "cannot be cast to")
            return
        assert ret == 0
        one, other, added = (exact(view, kind) for (_, view), kind in zip(views[:3], kinds))
        if casts("f2", total):
            expected, error = sums(one, other)
            error = (error + UNIT * numpy.abs(expected)) * abs(alpha) + 2 * UNIT * abs(beta) * numpy.abs(added)
            near(npu.get(out), beta * added.astype("f8") + alpha * expected, kinds[3], error)
            return
        whole = beta * added.astype("i8") + alpha * (one.astype("i8") @ other.astype("i8"))
        whole = whole != 0 if total == "?" else whole.astype(total)
        found = npu.get(out)
        with numpy.errstate(over="ignore"):
            assert numpy.array_equal(found, stored(whole, kinds[3]))

    run_case()


def test_self_does_not_count_when_beta_is_0(npu):
    one = npu.tensor(numpy.ones((2, 2), "f4"))
    self, out = npu.tensor(numpy.full((2, 2), numpy.nan, "f4")), npu.tensor(numpy.zeros((2, 2), "f4"))
    assert npu.call("addmm", self, one, one, npu.scalar(0), npu.scalar(1), out, KEEP) == 0
    assert npu.get(out).tolist() == [[2, 2], [2, 2]]


def test_an_empty_sum_is_zero(npu):
    out = npu.tensor(numpy.ones((3, 2), "f4"))
    assert npu.call("mm", npu.tensor(numpy.zeros((3, 0), "f4")), npu.tensor(numpy.zeros((0, 2), "f4")), out, KEEP) == 0
    assert not npu.get(out).any()


def test_special_values(npu):
    one = npu.tensor(numpy.array([[numpy.inf, 1], [numpy.nan, 1], [1, 1]], "f4"))
    other = npu.tensor(numpy.array([[1, 0, -1], [1, 1, 1]], "f4"))
    out = npu.tensor(numpy.zeros((3, 3), "f4"))
    assert npu.call("mm", one, other, out, KEEP) == 0
    inf, nan = numpy.inf, numpy.nan
    assert numpy.array_equal(npu.get(out), [[inf, nan, -inf], [nan, nan, nan], [2, 1, 0]], equal_nan=True)


@pytest.mark.parametrize("kind", SINGLE)
@pytest.mark.parametrize("turned", [False, True])
def test_special_values_of_a_matrix_that_a_vector_is_multiplied_by(npu, kind, turned):
    inf, nan = numpy.inf, numpy.nan
    matrix = numpy.ones((300, 300), "f4")
    matrix[7, :6] = inf, -inf, nan, inf, 65504, 2**-24
    matrix[290, 3], matrix[299, 250] = -inf, nan
    matrix = stored(matrix, kind)
    base = numpy.ascontiguousarray(matrix.T) if turned else matrix
    other = npu.view(base, base.T if turned else base, kind)
    out = npu.tensor(numpy.zeros((1, 300), "f4"))
    assert npu.call("mm", npu.view(*[stored(numpy.ones((1, 300), "f4"), kind)] * 2, kind), other, out, KEEP) == 0
    with numpy.errstate(invalid="ignore"):
        expected = exact(matrix, kind).astype("f8").sum(0)
    assert numpy.array_equal(npu.get(out)[0], expected.astype("f4"), equal_nan=True)


def test_float16_sums_are_kept_in_float(npu):
    """4096 times 1 + 1/1024: in float16 the sum would stop to grow."""
    one, other = numpy.full((1, 4096), 1 + 2**-10, "f2"), numpy.ones((4096, 1), "f2")
    out = npu.tensor(numpy.zeros((1, 1), "f2"))
    assert npu.call("mm", npu.tensor(one), npu.tensor(other), out, KEEP) == 0
    assert npu.get(out) == 4100


# --- math types


def hf32(values):
    """Return floats rounded to 11 bits behind the point, ties to even."""
    wide = values.astype("f8")
    fraction, exponent = numpy.frexp(wide)
    return numpy.ldexp(numpy.rint(fraction * 2**12), exponent - 12)


def half(values):
    return values.astype("f2").astype("f8")


def call_math(npu, math, name="mm"):
    generator = numpy.random.default_rng(3)
    pair = [numbers(generator, shape, "f4") for shape in ((30, 20), (20, 20))]
    if name == "batch_mat_mul":
        pair = [one[None] for one in pair]
    out = npu.tensor(numpy.zeros((*pair[0].shape[:-1], 20), "f4"))
    assert npu.call(name, *map(npu.tensor, pair), out, math) == 0
    return pair, npu.get(out)


@pytest.mark.strict
@pytest.mark.parametrize("name", ["mm", "matmul", "batch_mat_mul"])
@pytest.mark.parametrize(("math", "rounded"), [(KEEP, None), (ALLOW, hf32), (HALF, half), (HF32, hf32)])
def test_what_float32_factors_are_rounded_to(npu, name, math, rounded):
    pair, found = call_math(npu, math, name)
    expected, error = sums(*(rounded(one) if rounded else one for one in pair))
    near(found, expected, "f4", error)
    if rounded:
        exactly, error = sums(*pair)
        assert numpy.abs(found - exactly).max() > 4 * error.max(), "nothing was rounded"


@pytest.mark.strict
def test_rounding_keeps_what_is_no_number_and_overflows(npu):
    values = numpy.array([[numpy.nan, numpy.inf, -numpy.inf, 3.4028235e38, 1e6, 2**-130, -0.0]], "f4").T
    one = npu.tensor(values)
    for math, expected in ((HF32, hf32), (HALF, half)):
        out = npu.tensor(numpy.zeros((7, 1), "f4"))
        assert npu.call("mm", one, npu.tensor(numpy.ones((1, 1), "f4")), out, math) == 0
        with numpy.errstate(over="ignore"):
            wanted = expected(values).astype("f4")
        assert numpy.array_equal(npu.get(out), wanted, equal_nan=True)


@pytest.mark.strict
@pytest.mark.parametrize("kind", ["f2", "b2"])
@pytest.mark.parametrize("math", [ALLOW, ADD])
def test_math_types_are_about_float32(npu, kind, math):
    generator = numpy.random.default_rng(3)
    pair = [numbers(generator, (5, 5), kind) for _ in "ab"]
    out = npu.tensor(numpy.zeros((5, 5), "f4"))
    assert npu.call("mm", *(npu.tensor(one, kind) for one in pair), out, math) == 0
    expected, error = sums(*(exact(one, kind) for one in pair))
    near(npu.get(out), expected, "f4", error)


def square(npu, kind="f4", rank=2):
    shape = (1,) * (rank - 2) + (2, 2) if rank > 1 else (2,)
    return blank(npu, kind, shape)


@pytest.mark.strict
@pytest.mark.parametrize("math", [-1, 5, 100])
@pytest.mark.parametrize(
    ("name", "rank", "last"), [("mm", 2, "4 (USE_FP32_ADD)"), ("batch_mat_mul", 3, "3 (USE_HF32)")]
)
def test_no_such_math_type(npu, name, rank, last, math):
    tensor = square(npu, rank=rank)
    refused(npu.call(name, tensor, tensor, tensor, math), INVALID, f"cubeMathType is {math}, expected 0", f"to {last}")


@pytest.mark.strict
def test_math_types_that_do_not_fit_the_type(npu):
    for kind, math in (("b2", HALF), ("b2", HF32), ("f2", HF32)):
        for name in ("mm", "matmul"):
            tensor = square(npu, kind)
            ret = npu.call(name, tensor, tensor, tensor, math)
            refused(ret, INVALID, f"cubeMathType is {math}", "is not supported for")
        tensor = square(npu, kind, 3)
        assert npu.call("batch_mat_mul", tensor, tensor, tensor, math) == 0
    vector, out = square(npu, rank=1), npu.tensor(numpy.zeros((), "f4"))
    assert npu.call("matmul", vector, vector, out, 100) == 0, "of two vectors it does not matter"


HALF_ONLY = """
import sys
sys.path.insert(0, {tests!r})
import numpy
from helpers.expect import refused
from helpers.tensors import Device
npu = Device()
value = numpy.array([[1 + 2.0**-11]], "f4")
one, out = npu.tensor(value), npu.tensor(numpy.zeros((1, 1), "f4"))
small = npu.tensor(numpy.ones((1, 1), "f2"))
refused(npu.call("mm", one, one, out, 0), 161002, "cubeMathType is 0 (KEEP_DTYPE), which this chip does not support")
refused(npu.call("mm", one, one, out, 3), 161002, "cubeMathType is 3 (USE_HF32), which this chip does not support")
assert npu.call("mm", small, small, out, 0) == 0
assert npu.call("mm", one, one, out, 1) == 0
assert npu.get(out) == 1
npu.close()
"""


@pytest.mark.needs_sim
@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend910A"])
def test_chips_that_multiply_float16_only(run_script, soc):
    from pathlib import Path

    done = run_script(HALF_ONLY.format(tests=str(Path(__file__).parent)), {"ACL_SIM_SOC": soc})
    assert done.returncode == 0, done.stderr


# --- refusals


NAMES = {
    "matmul": "self mat2 out", "mm": "self mat2 out", "batch_mat_mul": "self mat2 out", "mv": "self vec out",
    "dot": "self tensor out", "addmm": "self mat1 mat2 beta alpha out",
    "inplace_addmm": "selfRef mat1 mat2 beta alpha", "baddbmm": "self batch1 batch2 beta alpha out",
    "inplace_baddbmm": "selfRef batch1 batch2 beta alpha", "addmv": "self mat vec alpha beta out",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_null(npu, name):
    names = NAMES[name].split()
    for place, missing in enumerate(names):
        given = [npu.scalar(1) if one in ("beta", "alpha") else square(npu).handle for one in names]
        given[place] = 0
        more = [] if name == "dot" else [KEEP]
        refused(getattr(nnop, f"{name}_get_workspace_size")(*given, *more)[2], NULLPTR, f"{missing} is NULL")


@pytest.mark.parametrize("one", KINDS)
@every(other=KINDS)
def test_the_types_of_a_product(npu, one, other):
    left, right = square(npu, one), square(npu, other)
    fits = {one, other} <= set(SINGLE)
    for out in KINDS:
        ret = npu.call("matmul", left, right, square(npu, out), KEEP)
        assert ret == (0 if fits and out in SINGLE else INVALID), out


@pytest.mark.strict
def test_messages_about_types(npu):
    call = npu.call
    wrong, fine = square(npu, "i4"), square(npu)
    words = "has data type 3, int32, expected float32, float16 or bfloat16"
    refused(call("mm", wrong, fine, fine, KEEP), INVALID, f"self {words}")
    refused(call("mm", fine, wrong, fine, KEEP), INVALID, f"mat2 {words}")
    refused(call("mm", fine, fine, wrong, KEEP), INVALID, f"out {words}")
    one = npu.scalar(1)
    refused(call("addmm", wrong, fine, fine, one, one, fine, KEEP), INVALID, f"self {words}")
    vectors = [square(npu, kind, 1) for kind in ("f4", "f2")]
    refused(call("dot", *vectors, npu.tensor(numpy.zeros((), "f4"))), INVALID, "tensor has data type 1, float16, ")
    wide = npu.scalar(1j, "c8")
    refused(call("addmm", fine, fine, fine, wide, one, fine, KEEP), INVALID, "beta is complex64, which cannot be cast")
    refused(call("addmm", fine, fine, fine, one, wide, fine, KEEP), INVALID, "alpha is complex64, which cannot be cast")


SHAPES = [
    ("mm", [(2, 3), (4, 5), (2, 5)], "dimension 1 of self is 3 and dimension 0 of mat2 is 4, expected the same"),
    ("matmul", [(3,), (1, 4, 5), (1, 5)], "dimension 0 of self is 3 and dimension 1 of mat2 is 4"),
    ("matmul", [(2, 3), (4,), (2,)], "dimension 1 of self is 3 and dimension 0 of mat2 is 4"),
    ("mm", [(2, 3), (3, 5), (5, 2)], "out has shape [5, 2], expected [2, 5], that of the product"),
    ("mm", [(1, 2, 3), (3, 5), (2, 5)], "self has 3 dimensions, expected 2"),
    ("mm", [(2, 3), (3,), (2,)], "mat2 has 1 dimensions, expected 2"),
    ("matmul", [(), (3,), ()], "self has 0 dimensions, expected 1 to 6"),
    ("matmul", [(1,) * 7, (1,), (1,)], "self has 7 dimensions, expected 1 to 6"),
    ("matmul", [(2,), (2,), (2,)], "out has shape [2], expected [] or [1]"),
    ("matmul", [(2, 2, 3), (4, 3, 3, 5), (4, 2, 2, 5)],
     "dimension 0 of self is 2 and dimension 1 of mat2 is 3, expected the same or 1"),
    ("batch_mat_mul", [(2, 3), (2, 3, 5), (2, 2, 5)], "self has 2 dimensions, expected 3"),
    ("batch_mat_mul", [(2, 2, 3), (3, 3, 5), (2, 2, 5)], "dimension 0 of self is 2 and dimension 0 of mat2 is 3"),
    ("mv", [(2, 3), (3, 1), (2, 1)], "vec has 2 dimensions, expected 1"),
    ("dot", [(2, 3), (3,), ()], "self has 2 dimensions, expected 1"),
]  # fmt: skip


@pytest.mark.strict
@pytest.mark.parametrize(("name", "shapes", "words"), SHAPES)
def test_shapes_that_do_not_fit(npu, name, shapes, words):
    tensors = [npu.tensor(numpy.zeros(shape, "f4")) for shape in shapes]
    refused(npu.call(name, *tensors, *([] if name == "dot" else [KEEP])), INVALID, words)


@pytest.mark.strict
@pytest.mark.parametrize(
    ("self", "words"),
    [
        ((3, 5), "dimension 0 of self is 3 and that of the product is 2, expected the same or 1"),
        ((1, 2, 5), "self has 3 dimensions, expected 0 to 2"),
    ],
)
def test_a_self_that_does_not_fit(npu, self, words):
    tensors = [npu.tensor(numpy.zeros(shape, "f4")) for shape in (self, (2, 3), (3, 5), (2, 5))]
    one = npu.scalar(1)
    refused(npu.call("addmm", *tensors[:3], one, one, tensors[3], KEEP), INVALID, words)
    wide = tensors[0] if len(self) > 2 else npu.tensor(numpy.zeros((1, 5), "f4"))
    refused(npu.call("inplace_addmm", wide, *tensors[1:3], one, one, KEEP), INVALID, "selfRef has shape [1, ", "[2, 5]")


@pytest.mark.strict
def test_in_place_no_batch_is_stretched(npu):
    self, left, right = (npu.tensor(numpy.zeros(shape, "f4")) for shape in ((2, 2, 2), (1, 2, 2), (2, 2, 2)))
    one = npu.scalar(1)
    words = "dimension 0 of batch1 is 1 and dimension 0 of batch2 is 2, expected the same"
    refused(npu.call("inplace_baddbmm", self, left, right, one, one, KEEP), INVALID, words)
    assert npu.call("baddbmm", self, left, right, one, one, self, KEEP) == 0
