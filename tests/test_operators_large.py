"""Tensors of more than 2^31 elements, and views that reach as far: sizes, offsets and indices that need 64 bits.

A test uses at most 8 GiB: elements have one byte, or a stride of 0. Results are compared with NumPy at the start, in
the middle and at the end of a tensor, where an offset that wraps at 2^31 or 2^32 is noticed. Only ``.ci/full`` runs
these tests.
"""

import numpy
import pytest
from helpers.expect import refused
from helpers.operands import INVALID, numbers
from helpers.tensors import CODES, ND, Device, Tensor, storage

import acl

pytestmark = pytest.mark.large

EDGE = 2**31
MANY = EDGE + 5
WINDOW = 13
# Positions that are compared. They are symmetric, and the last window contains the edge.
STARTS = [0, (MANY - WINDOW) // 2, MANY - WINDOW]
TO_DEVICE, TO_HOST = 1, 2


@pytest.fixture
def npu():
    """Open device 0 for one test, so that its memory is free before the next one."""
    device = Device()
    yield device
    device.close()


@pytest.fixture
def generator():
    return numpy.random.default_rng(31)


def reserve(npu, shape, strides, elements, kind):
    """Return a tensor over new memory with room for a number of elements; pages that are not used take no memory."""
    address, ret = acl.rt.malloc(elements * storage(kind).itemsize, 0)
    assert ret == 0, acl.get_recent_err_msg()
    npu.ends.append((acl.rt.free, address))
    handle = acl.create_tensor(list(shape), CODES[kind], list(strides), 0, ND, [elements], address)
    assert handle != 0
    npu.ends.append((acl.destroy_tensor, handle))
    return Tensor(handle, address, None, None, kind)


def write(tensor, start, values):
    values = numpy.ascontiguousarray(values)
    place = tensor.address + start * values.itemsize
    assert acl.rt.memcpy(place, values.nbytes, values.ctypes.data, values.nbytes, TO_DEVICE) == 0


def read(npu, tensor, start, count=WINDOW):
    ret = acl.rt.synchronize_stream(npu.stream)
    assert ret == 0, acl.get_recent_err_msg()
    values = numpy.empty(count, storage(tensor.kind))
    place = tensor.address + start * values.itemsize
    assert acl.rt.memcpy(values.ctypes.data, values.nbytes, place, values.nbytes, TO_HOST) == 0
    return values


def windows(npu, tensor):
    """Return the elements at all compared positions."""
    return numpy.concatenate([read(npu, tensor, start) for start in STARTS])


def line(npu, kind, values=None, shape=(MANY,)):
    """Return a contiguous tensor that holds random numbers at the compared positions."""
    elements = int(numpy.prod(shape))
    strides = [int(numpy.prod(shape[k + 1 :])) for k in range(len(shape))]
    tensor = reserve(npu, shape, strides, elements, kind)
    for part, start in enumerate(STARTS if values is not None else []):
        write(tensor, start, values[part * WINDOW : (part + 1) * WINDOW])
    return tensor


def filled(generator, kind):
    return numbers(generator, len(STARTS) * WINDOW, kind)


def spread(npu, value, kind, shape=(MANY,)):
    """Return a tensor of one number with strides of 0."""
    base = numpy.full(1, value, storage(kind))
    return npu.view(base, numpy.broadcast_to(base, shape), kind)


def one(npu, kind):
    return npu.tensor(numpy.zeros(1, storage(kind)), kind)


# ---- views whose rows are more than 2^31 elements apart ----

APART = EDGE + 3


def far(npu, values, kind):
    """Return a tensor whose first dimension has a stride of more than 2^31 elements."""
    inner = [int(numpy.prod(values.shape[k + 1 :])) for k in range(1, values.ndim)]
    elements = (len(values) - 1) * APART + int(numpy.prod(values.shape[1:]))
    tensor = reserve(npu, values.shape, [APART, *inner], elements, kind)
    for row, numbers_of_row in enumerate(values):
        write(tensor, row * APART, numbers_of_row)
    return tensor


PICKED = numpy.array([2, 0, 2], "i8")
ACROSS = numpy.array([[2, 0, 1, 2], [1, 1, 0, 2]], "i8")


def softmax(values):
    power = numpy.exp(values.astype("f8") - values.max(0))
    return (power / power.sum(0)).astype("f2")


def put(values):
    changed = values.copy()
    changed[PICKED[:2]] = 7
    return changed


# The types of the inputs, which have the shape (3, 4); the type of the output, or None if the operator works in place;
# a function that makes the arguments from the device, the inputs and the output, and one that makes the result.
FAR = {
    "inplace_copy": ("?", "i1", lambda d, a, out: [out, a], lambda a: a),
    "cast": ("f2", "i1", lambda d, a, out: [a, CODES["i1"], out], lambda a: a.astype("i1")),
    "relu": ("f2", "f2", lambda d, a, out: [a, out], lambda a: numpy.maximum(a, 0)),
    "add": ("i1 i1", "i1", lambda d, a, b, out: [a, b, d.scalar(1, "i1"), out], numpy.add),
    "mul": ("f2 f2", "f2", lambda d, a, b, out: [a, b, out], numpy.multiply),
    "gt_tensor": ("i1 i1", "?", lambda d, a, b, out: [a, b, out], numpy.greater),
    "logical_and": ("? ?", "?", lambda d, a, b, out: [a, b, out], numpy.logical_and),
    "s_where": ("? i1 i1", "i1", lambda d, a, b, c, out: [a, b, c, out], numpy.where),
    "permute": ("i1", "i1", lambda d, a, out: [a, d.integers([1, 0]), out], numpy.transpose),
    "flip": ("i1", "i1", lambda d, a, out: [a, d.integers([0]), out], numpy.flipud),
    "roll": ("i1", "i1", lambda d, a, out: [a, d.integers([1]), d.integers([0]), out], lambda a: numpy.roll(a, 1, 0)),
    "cat": ("i1 i1", "i1", lambda d, a, b, out: [d.list([a, b]), 0, out], lambda *each: numpy.concatenate(each)),
    "stack": ("i1 i1", "i1", lambda d, a, b, out: [d.list([a, b]), 0, out], lambda *each: numpy.stack(each)),
    "repeat": ("i1", "i1", lambda d, a, out: [a, d.integers([2, 1]), out], lambda a: numpy.tile(a, (2, 1))),
    "slice": ("i1", "i1", lambda d, a, out: [a, 0, 1, 3, 1, out], lambda a: a[1:]),
    "tril": ("i1", "i1", lambda d, a, out: [a, 0, out], numpy.tril),
    "constant_pad_nd": (
        "i1", "i1", lambda d, a, out: [a, d.integers([0, 0, 1, 0]), d.scalar(3, "i1"), out],
        lambda a: numpy.pad(a, ((1, 0), (0, 0)), constant_values=3),
    ),
    "reduce_sum": ("i1", "i8", lambda d, a, out: [a, d.integers([0]), False, CODES["i8"], out], lambda a: a.sum(0)),
    "amax": ("f2", "f2", lambda d, a, out: [a, d.integers([1]), True, out], lambda a: a.max(1, keepdims=True)),
    "any": ("?", "?", lambda d, a, out: [a, d.integers([1]), True, out], lambda a: a.any(1, keepdims=True)),
    "arg_max": ("i1", "i8", lambda d, a, out: [a, 0, False, out], lambda a: a.argmax(0)),
    "cumsum": ("i1", "i1", lambda d, a, out: [a, 0, CODES["i1"], out], lambda a: a.cumsum(0, "i1")),
    "argsort": ("f2", "i8", lambda d, a, out: [a, 0, False, out], lambda a: a.argsort(0)),
    "softmax": ("f2", "f2", lambda d, a, out: [a, 0, out], softmax),
    "mm": ("f2", "f2", lambda d, a, out: [a, d.tensor(numpy.eye(4, dtype="f2")), out, 0], lambda a: a),
    "matmul": ("f2", "f2", lambda d, a, out: [d.tensor(numpy.eye(3, dtype="f2")), a, out, 0], lambda a: a),
    "index_select": ("i1", "i1", lambda d, a, out: [a, 0, d.tensor(PICKED), out], lambda a: a[PICKED]),
    "gather_v2": ("i1", "i1", lambda d, a, out: [a, 0, d.tensor(PICKED), out], lambda a: a[PICKED]),
    "embedding": ("i1", "i1", lambda d, a, out: [a, d.tensor(PICKED), out], lambda a: a[PICKED]),
    "index": ("i1", "i1", lambda d, a, out: [a, d.list([d.tensor(PICKED)]), out], lambda a: a[PICKED]),
    "gather": (
        "i1", "i1", lambda d, a, out: [a, 0, d.tensor(ACROSS), out], lambda a: numpy.take_along_axis(a, ACROSS, 0)
    ),
    "take": ("i1", "i1", lambda d, a, out: [a, d.tensor(ACROSS * 4), out], lambda a: a.ravel()[ACROSS * 4]),
    "inplace_index_fill_tensor": (
        "f2", None, lambda d, a: [a, 0, d.integers(PICKED[:2].tolist()), d.scalar(7, "f4")], put,
    ),
    "index_put_impl": (
        "i1", None,
        lambda d, a: [a, d.list([d.tensor(PICKED[:2])]), d.tensor(numpy.full((2, 4), 7, "i1")), False, True], put,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAR)
def test_rows_far_apart(npu, generator, name):
    kinds, out_kind, arguments, expect = FAR[name]
    values = [numbers(generator, (3, 4), kind) for kind in kinds.split()]
    tensors = [far(npu, array, kind) for array, kind in zip(values, kinds.split())]
    expected = expect(*values)
    if out_kind is None:
        out = tensors[0]
    else:
        blank = numpy.zeros(expected.shape, out_kind)
        out = npu.tensor(blank) if out_kind == "i8" else far(npu, blank, out_kind)
        tensors.append(out)
    assert npu.call(name, *arguments(npu, *tensors)) == 0, acl.get_recent_err_msg()
    if out_kind == "i8":
        assert numpy.array_equal(npu.get(out), expected)
        return
    found = numpy.stack([read(npu, out, row * APART, expected[0].size) for row in range(len(expected))])
    assert numpy.allclose(found, expected.reshape(found.shape), rtol=2**-10 if name == "softmax" else 0, atol=0)


# ---- one operand of one byte per element: copies, casts, elementwise operators ----

COPIED = {
    "inplace_copy": ("i1", "i1", lambda d, a, out: [out, a], lambda a: a),
    "cast": ("i1", "?", lambda d, a, out: [a, CODES["?"], out], lambda a: a != 0),
    "flip": ("i1", "i1", lambda d, a, out: [a, d.integers([0]), out], numpy.flip),
    "repeat": ("u1", "u1", lambda d, a, out: [a, d.integers([1]), out], lambda a: a),
    "logical_not": ("u1", "?", lambda d, a, out: [a, out], lambda a: a == 0),
    "gt_scalar": ("i1", "?", lambda d, a, out: [a, d.scalar(3, "i1"), out], lambda a: a > 3),
    "clamp": (
        "i1", "i1", lambda d, a, out: [a, d.scalar(-5, "i1"), d.scalar(5, "i1"), out], lambda a: numpy.clip(a, -5, 5),
    ),
    "add": (
        "i1", "i1", lambda d, a, out: [a, spread(d, 100, "i1"), d.scalar(1, "i1"), out],
        lambda a: a + numpy.int8(100),
    ),
    "bitwise_xor_tensor": (
        "u1", "u1", lambda d, a, out: [a, spread(d, 0x55, "u1"), out], lambda a: a ^ numpy.uint8(0x55),
    ),
    "s_where": (
        "?", "i1", lambda d, a, out: [a, spread(d, 7, "i1"), spread(d, -7, "i1"), out],
        lambda a: numpy.where(a, numpy.int8(7), numpy.int8(-7)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COPIED)
def test_elements_past_the_edge(npu, generator, name):
    kind, out_kind, arguments, expect = COPIED[name]
    values = filled(generator, kind)
    self, out = line(npu, kind, values), line(npu, out_kind)
    assert npu.call(name, *arguments(npu, self, out)) == 0, acl.get_recent_err_msg()
    assert numpy.array_equal(windows(npu, out), expect(values))


@pytest.mark.parametrize("name", ["inplace_fill_scalar", "inplace_masked_fill_scalar", "inplace_one"])
def test_fill(npu, generator, name):
    values = filled(generator, "i1")
    self, value = line(npu, "i1", values), npu.scalar(9, "i1")
    if name == "inplace_masked_fill_scalar":
        mask = filled(generator, "?")
        ret, expected = npu.call(name, self, line(npu, "?", mask), value), numpy.where(mask, 9, values)
    elif name == "inplace_one":
        ret, expected = npu.call(name, self), numpy.ones_like(values)
    else:
        ret, expected = npu.call(name, self, value), numpy.full_like(values, 9)
    assert ret == 0
    assert numpy.array_equal(windows(npu, self), expected)


# ---- moves ----


def test_permute(npu, generator):
    half = MANY // 2 + 1
    self, out = line(npu, "i1", shape=(2, half)), line(npu, "i1", shape=(half, 2))
    values = generator.integers(1, 100, (2, WINDOW)).astype("i1")
    for row, start in enumerate((half - WINDOW, 2 * half - WINDOW)):
        write(self, start, values[row])
    assert npu.call("permute", self, npu.integers([1, 0]), out) == 0
    assert numpy.array_equal(read(npu, out, 2 * (half - WINDOW), 2 * WINDOW), values.T.ravel())


def test_roll(npu, generator):
    values = filled(generator, "i1")
    self, out, shift = line(npu, "i1", values), line(npu, "i1"), MANY - WINDOW
    assert npu.call("roll", self, npu.integers([shift]), npu.integers([0]), out) == 0
    assert numpy.array_equal(read(npu, out, shift), values[:WINDOW])
    assert numpy.array_equal(read(npu, out, shift - WINDOW), values[-WINDOW:])


def test_cat_and_slice(npu, generator):
    values = generator.integers(1, 100, WINDOW).astype("i1")
    whole, part = line(npu, "i1", shape=(MANY + WINDOW,)), npu.tensor(values)
    assert npu.call("cat", npu.list([spread(npu, 3, "i1"), part, part]), 0, whole) == INVALID  # one part too many
    assert npu.call("cat", npu.list([spread(npu, 3, "i1"), part]), 0, whole) == 0
    assert numpy.array_equal(read(npu, whole, MANY - 2, 2 + WINDOW), [3, 3, *values])
    for start, end in ((MANY, MANY + WINDOW), (-WINDOW, EDGE * EDGE)):
        out = npu.tensor(numpy.zeros(5, "i1"))
        assert npu.call("slice", whole, 0, start, end, 3, out) == 0
        assert numpy.array_equal(npu.get(out), values[::3])


def test_pad(npu, generator):
    values = generator.integers(1, 100, WINDOW).astype("i1")
    out = line(npu, "i1")
    pads = npu.integers([MANY - WINDOW - 2, 2])
    assert npu.call("constant_pad_nd", npu.tensor(values), pads, npu.scalar(-1, "i1"), out) == 0
    assert numpy.array_equal(read(npu, out, MANY - WINDOW - 4, WINDOW + 4), [-1, -1, *values, -1, -1])


def test_repeat_interleave(npu):
    times = MANY // 2 + 1
    out = line(npu, "i1", shape=(2 * times,))
    self = npu.tensor(numpy.array([3, -4], "i1"))
    assert npu.call("repeat_interleave_int", self, times, 2 * times, out) == 0
    assert read(npu, out, times - 1, 2).tolist() == [3, -4]
    assert read(npu, out, 2 * times - 2, 2).tolist() == [-4, -4]


@pytest.mark.parametrize("name", ["triu", "eye"])
def test_matrix(npu, name):
    side = 46341  # its square is more than 2^31
    out = line(npu, "u1", shape=(side, side))
    if name == "eye":
        assert npu.call("eye", side, side, out) == 0
    else:
        assert npu.call("triu", spread(npu, 1, "u1", (side, side)), 0, out) == 0
        assert read(npu, out, side * side - side - 3, 4).tolist() == [0, 1, 1, 0]
    assert side * side > EDGE
    assert read(npu, out, side * side - 3, 3).tolist() == [0, 0, 1]


# ---- reductions ----


@pytest.mark.parametrize(("kind", "value", "count"), [("i1", -3, MANY), ("u1", 255, 2 * MANY), ("?", True, MANY)])
def test_sum(npu, kind, value, count):
    self, out = spread(npu, value, kind, (count,)), one(npu, "i8")
    assert npu.call("reduce_sum", self, npu.integers([0]), True, CODES["i8"], out) == 0
    assert npu.get(out)[0] == int(value) * count


def test_sum_of_rows(npu, generator):
    values = filled(generator, "i1")
    out = npu.tensor(numpy.zeros(2, "i8"))
    half = MANY // 2 + 1
    self = line(npu, "i1", shape=(2, half))
    assert acl.rt.memset(self.address, 2 * half, 0, 2 * half) == 0
    write(self, 2 * half - WINDOW, values[:WINDOW])
    write(self, half - WINDOW, values[WINDOW : 2 * WINDOW])
    assert npu.call("reduce_sum", self, npu.integers([1]), False, CODES["i8"], out) == 0
    assert npu.get(out).tolist() == [values[WINDOW : 2 * WINDOW].sum(), values[:WINDOW].sum()]


def test_mean_counts_past_the_edge(npu):
    out = one(npu, "f4")
    assert npu.call("mean", spread(npu, 0.5, "f4"), npu.integers([0]), True, CODES["f4"], out) == 0
    assert npu.get(out)[0] == 0.5


def test_an_element_past_the_edge(npu):
    """Find the only element that differs, at index 2^31 + 2, in memory of zeros."""
    self = line(npu, "i1")
    assert acl.rt.memset(self.address, MANY, 0, MANY) == 0
    write(self, EDGE + 2, numpy.array([5], "i1"))
    index, value = one(npu, "i8"), one(npu, "i1")
    assert npu.call("arg_max", self, 0, True, index) == 0
    assert npu.get(index)[0] == EDGE + 2
    assert npu.call("amax", self, npu.integers([0]), True, value) == 0
    assert npu.get(value)[0] == 5


def test_any_and_all(npu):
    self = line(npu, "?")
    assert acl.rt.memset(self.address, MANY, 1, MANY) == 0
    write(self, EDGE + 2, numpy.array([False]))
    out = npu.tensor(numpy.ones(1, "?"))
    assert npu.call("all", self, npu.integers([0]), True, out) == 0
    assert not npu.get(out)[0]
    assert npu.call("logical_not", self, self) == 0
    assert npu.call("any", self, npu.integers([0]), True, out) == 0
    assert npu.get(out)[0]


def test_equal(npu):
    self = line(npu, "i1")
    assert acl.rt.memset(self.address, MANY, 3, MANY) == 0
    out = one(npu, "?")
    for difference in (0, 1):
        write(self, EDGE + 2, numpy.array([3 + difference], "i1"))
        assert npu.call("equal", self, spread(npu, 3, "i1"), out) == 0
        assert npu.get(out)[0] == (difference == 0)


@pytest.mark.parametrize("reverse", [False, True])
def test_cumsum(npu, reverse):
    self, out = spread(npu, 1, "i1"), line(npu, "i1")
    assert npu.call("cumsum_v2", self, 0, False, reverse, out) == 0
    steps = numpy.concatenate([numpy.arange(start, start + WINDOW) for start in STARTS])
    assert numpy.array_equal(windows(npu, out), (MANY - steps if reverse else steps + 1).astype("i1"))


def test_bincount(npu):
    out = npu.tensor(numpy.zeros(4, "i8"))
    assert npu.call("bincount", spread(npu, 3, "u1"), 0, 4, out) == 0
    assert npu.get(out).tolist() == [0, 0, 0, MANY]


# ---- indices past 2^31 ----

CHOSEN = [EDGE + 2, 0, EDGE - 1, MANY - 1, EDGE]


@pytest.fixture
def table(npu, generator):
    """Return a line in memory of which only some pages are used, its numbers at the chosen indices, and these."""
    self, values = line(npu, "i1"), generator.permutation(100)[: len(CHOSEN)].astype("i1")
    for place, value in zip(CHOSEN, values):
        write(self, place, value.reshape(1))
    return self, values, npu.tensor(numpy.array(CHOSEN, "i8"))


@pytest.mark.parametrize("name", ["index_select", "gather", "gather_v2", "index", "take"])
def test_pick(npu, table, name):
    self, values, index = table
    out = npu.tensor(numpy.zeros_like(values))
    dim = [] if name in ("index", "take") else [0]
    assert npu.call(name, self, *dim, npu.list([index]) if name == "index" else index, out) == 0
    assert numpy.array_equal(npu.get(out), values)


@pytest.mark.parametrize("name", ["inplace_scatter", "inplace_put", "index_put_impl", "inplace_index_copy"])
def test_place(npu, table, name):
    self, values, index = table
    source = npu.tensor(values + 1)
    if name == "inplace_scatter":
        ret = npu.call(name, self, 0, index, source, 0)
    elif name == "inplace_put":
        ret = npu.call(name, self, index, source, False)
    elif name == "index_put_impl":
        ret = npu.call(name, self, npu.list([index]), source, False, True)
    else:
        ret = npu.call(name, self, 0, index, source)
    assert ret == 0
    assert [read(npu, self, place, 1)[0] for place in CHOSEN] == (values + 1).tolist()


def test_an_index_out_of_range(npu):
    out = one(npu, "i1")
    refused_index = npu.tensor(numpy.array([MANY], "i8"))
    assert npu.call("index_select", spread(npu, 1, "i1"), 0, refused_index, out) == 0
    words = f"index[0] is {MANY}, expected 0 to {MANY - 1}"
    refused(acl.rt.synchronize_stream(npu.stream), 507015, words)


def test_embedding_of_a_wide_table(npu):
    weight = npu.tensor(numpy.arange(4, dtype="f4"))
    handle = acl.create_tensor([MANY, 4], CODES["f4"], [0, 1], 0, ND, [4], weight.address)
    npu.ends.append((acl.destroy_tensor, handle))
    out = npu.tensor(numpy.zeros((len(CHOSEN), 4), "f4"))
    rows = Tensor(handle, weight.address, None, None, "f4")
    assert npu.call("embedding", rows, npu.tensor(numpy.array(CHOSEN, "i8")), out) == 0
    assert numpy.array_equal(npu.get(out), numpy.tile(numpy.arange(4, dtype="f4"), (len(CHOSEN), 1)))


def test_search(npu):
    self, out = npu.tensor(numpy.array([2, 3, 4], "i1")), npu.tensor(numpy.zeros(3, "i8"))
    assert npu.call("search_sorted", spread(npu, 3, "i1"), self, False, True, 0, out) == 0
    assert npu.get(out).tolist() == [0, MANY, MANY]


def test_product(npu):
    """Multiply along a long dimension of equal numbers; each sum is exact in float32."""
    depth = 2**24
    self, other = spread(npu, 0.5, "f2", (2, depth)), spread(npu, 2, "f2", (depth, 3))
    out = npu.tensor(numpy.zeros((2, 3), "f4"))
    assert npu.call("mm", self, other, out, 0) == 0
    assert (npu.get(out) == depth).all()
