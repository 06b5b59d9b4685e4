"""Overlapping outputs, addresses between elements, casts at the ends of types, weights of matrix products."""

import ctypes
import os

import numpy
import pytest
from helpers.capture import begin, end, run
from helpers.expect import refused
from helpers.operands import INVALID, NULLPTR
from helpers.single import Single
from helpers.tensors import CODES, ND, from_bfloat, to_bfloat

import acl

KEEP = 0
INVALID_CALL = 100000


def over(npu, tensor, view, offset=0):
    """Return another tensor over the memory of one: a view of the same base, ``offset`` bytes further."""
    size = view.itemsize
    first = (view.ctypes.data - tensor.base.ctypes.data) // size
    strides = [stride // size for stride in view.strides]
    data = tensor.address + offset
    handle = acl.create_tensor(list(view.shape), CODES[tensor.kind], strides, first, ND, list(tensor.base.shape), data)
    assert handle != 0
    npu.ends.append((acl.destroy_tensor, handle))
    return tensor._replace(handle=handle, view=view)


def whole(npu, shape=(4, 4)):
    return npu.tensor(numpy.arange(numpy.prod(shape), dtype="f4").reshape(shape))


@pytest.mark.needs_sim
@pytest.mark.parametrize("name", ["permute", "flip", "mm", "index_select", "gather", "add"])
def test_an_output_in_the_place_of_an_input(npu, name):
    self = whole(npu)
    values, index = self.view.copy(), numpy.array([3, 2, 0, 1], "i8")
    out = over(npu, self, self.view)
    if name == "permute":
        expected, ret = values.T, npu.call("permute", self, npu.integers([1, 0]), out)
    elif name == "flip":
        expected, ret = values[::-1, ::-1], npu.call("flip", self, npu.integers([0, 1]), out)
    elif name == "mm":
        expected, ret = values @ values, npu.call("mm", self, self, out, KEEP)
    elif name == "index_select":
        expected, ret = values[index], npu.call("index_select", self, 0, npu.tensor(index), out)
    elif name == "gather":
        many = numpy.broadcast_to(index, (4, 4))
        expected, ret = numpy.take_along_axis(values, many, 1), npu.call("gather", self, 1, npu.tensor(many), out)
    else:
        expected, ret = values + values, npu.call("add", self, self, npu.scalar(1), out)
    assert ret == 0
    assert numpy.array_equal(npu.get(out), expected)


@pytest.mark.needs_sim
@pytest.mark.parametrize("shift", [1, 3, -2])
def test_an_output_some_elements_away_from_an_input(npu, shift):
    """Blocks are loaded before they are stored: 1000 elements are several."""
    base = whole(npu, (1003,))
    start = max(0, -shift)
    self = over(npu, base, base.view[start : start + 1000])
    out = over(npu, base, base.view[start + shift : start + shift + 1000])
    expected = self.view * 2
    assert npu.call("add", self, self, npu.scalar(1), out) == 0
    assert numpy.array_equal(npu.get(out), expected)


@pytest.mark.needs_sim
def test_cat_into_the_memory_of_its_members(npu):
    base = whole(npu, (8,))
    members = [over(npu, base, base.view[4:]), over(npu, base, base.view[:4])]
    assert npu.call("cat", npu.list(members), 0, base) == 0
    for member in members:  # the list owns them
        npu.ends.remove((acl.destroy_tensor, member.handle))
    assert npu.get(base).tolist() == [4, 5, 6, 7, 0, 1, 2, 3]


@pytest.mark.needs_sim
def test_columns_beside_each_other_do_not_disturb(npu):
    """Their bytes are interleaved, their elements are not the same: nothing of the input is lost."""
    base = whole(npu)
    self, out = over(npu, base, base.view[:, :2]), over(npu, base, base.view[:, 2:])
    expected = base.view.copy()
    expected[:, 2:] = expected[:, :2][:, ::-1]
    assert npu.call("flip", self, npu.integers([1]), out) == 0
    assert numpy.array_equal(npu.get(base), expected)


# --- addresses


@pytest.mark.needs_sim
@pytest.mark.parametrize(("kind", "size"), [("f2", 2), ("f4", 4), ("i8", 8), ("c8", 8)])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.finds("unaligned-tensor")
def test_addresses_between_elements_are_refused(npu, kind, size, place):
    fine = npu.tensor(numpy.ones(8, kind))
    other = npu.tensor(numpy.ones(8, kind))
    pair = [over(npu, fine, fine.view[:4]), over(npu, other, other.view[:4], size // 2)]
    if place:
        pair.reverse()
    ret = npu.call("neg", *pair)
    refused(ret, INVALID, "out" if not place else "self", f"expected a multiple of {size}, the size of an element")


# --- outputs that overlap each other


def extremes(npu, first, second, columns=False):
    """Call MaxDim with values and indices over one block, from these elements of four bytes on; return its code."""
    base = npu.tensor(numpy.zeros(16, "f4"))
    step = 2 if columns else 1
    views = [base.view[start : start + 4 * step : step] for start in (first, second)]
    out, indices = over(npu, base, views[0]), over(npu, base._replace(kind="i4"), views[1])
    self = npu.tensor(numpy.array([[1, 5], [7, 2], [3, 9], [8, 0]], "f4"))
    return npu.call("max_dim", self, 1, False, out, indices), out, indices


@pytest.mark.needs_sim
@pytest.mark.parametrize(("first", "second", "columns"), [(0, 0, 0), (0, 3, 0), (5, 2, 0), (0, 4, 1), (1, 1, 1)])
def test_two_outputs_over_the_same_bytes_are_refused(npu, first, second, columns):
    """Also when only some elements of strided views are the same."""
    ret, _, _ = extremes(npu, first, second, columns)
    refused(ret, INVALID, "aclnnMaxDim failed because out and indices are both written and overlap")


@pytest.mark.needs_sim
@pytest.mark.parametrize(("first", "second", "columns"), [(0, 4, 0), (4, 0, 0), (0, 1, 1), (3, 0, 1), (0, 8, 1)])
def test_outputs_beside_each_other_are_written(npu, first, second, columns):
    ret, out, indices = extremes(npu, first, second, columns)
    assert ret == 0, acl.get_recent_err_msg()
    assert npu.get(out).tolist() == [5, 7, 9, 8]
    assert npu.get(indices).view("i4").tolist() == [1, 0, 1, 0]


@pytest.mark.needs_sim
def test_an_output_that_repeats_its_elements_is_compared(npu):
    """A view of more elements than bytes ends soon: it overlaps itself."""
    base = npu.tensor(numpy.zeros(64, "f4"))
    repeated = numpy.lib.stride_tricks.as_strided(base.view, (3, 3, 3, 3, 3, 3), (4, 4, 4, 4, 4, 4))
    self = npu.tensor(numpy.ones((3, 3, 3, 3, 3, 3, 2), "f4"))
    out, indices = over(npu, base, repeated), over(npu, base._replace(kind="i4"), repeated)
    refused(npu.call("max_dim", self, 6, False, out, indices), INVALID, "are both written and overlap")


@pytest.mark.needs_sim
@pytest.mark.finds("unaligned-tensor")
def test_outputs_of_single_operators_overlap(npu):
    single = Single(npu)
    given = single.give(numpy.ones((4, 2), "f4"))
    block = npu.put(numpy.zeros(8, "f4"))
    for shift, code in ((12, INVALID_CALL), (16, 0)):
        outs = [
            (single.desc((4,), "i4"), single.buffer(block, 16)),
            (single.desc((4,), "f4"), single.buffer(block + shift, 16)),
        ]
        ret = single.call("ArgMaxWithValue", [given], outs, dimension=1)
        if code == 0:
            assert ret == 0, acl.get_recent_err_msg()
        else:
            refused(ret, code, "aclopExecuteV2", "are both written and overlap")
    assert acl.rt.synchronize_stream(npu.stream) == 0
    single.close()


@pytest.mark.needs_sim
@pytest.mark.finds("unaligned-tensor")
def test_single_operators_refuse_addresses_between_elements(npu):
    single = Single(npu)
    for kind, size in (("f4", 4), ("f2", 2), ("i8", 8)):
        given, block = single.give(numpy.ones(4, kind)), npu.put(numpy.zeros(12, kind))
        for shift in (1, size - 1):
            desc = single.desc((4,), kind)
            for ins, outs in (
                ([given, given], [(desc, single.buffer(block + shift, 4 * size))]),
                ([given, (desc, single.buffer(block + shift, 4 * size))], [single.take((4,), kind)]),
            ):
                ret = single.call("Add", ins, outs)
                refused(ret, INVALID_CALL, "aclopExecuteV2", f"expected a multiple of {size}, the size of an element")
    single.close()


@pytest.mark.needs_sim
def test_changed_arguments_keep_to_the_same_rules(npu):
    """Refused changes leave the task as it was."""
    base, other = npu.tensor(numpy.zeros(8, "f4")), npu.tensor(numpy.zeros(8, "f4"))
    self = npu.tensor(numpy.array([[1, 5], [7, 2], [3, 9], [8, 0]], "f4"))
    out, indices = over(npu, base, base.view[:4]), over(npu, base._replace(kind="i4"), base.view[4:])
    begin(npu.stream)
    assert npu.call("max_dim", self, 1, False, out, indices) == 0
    instance = end(npu.stream)
    (stream,) = acl.mdl.ri_get_streams(instance)[0]
    (task,) = acl.mdl.ri_get_tasks_by_stream(stream)[0]
    params = acl.mdl.ri_task_get_params(task)[0]
    block, fresh = base.address, other.address
    for places, words in (
        ([self.address, block, block + 8], "out and indices are both written and overlap"),
        ([self.address, block + 2, fresh], "args moves a tensor of data type 0 by 2 bytes, expected a multiple of 4"),
        ([self.address, block, fresh + 3], "args moves a tensor of data type 3 by "),
    ):
        refused(acl.mdl.ri_task_set_params(task, {**params, "args": places}), 107000, "aclmdlRITaskSetParams", words)
        assert acl.mdl.ri_task_get_params(task)[0] == params
    run(instance, npu.stream)
    assert npu.get(out).tolist() == [5, 7, 9, 8]
    places = [self.address, fresh, block]
    assert acl.mdl.ri_task_set_params(task, {**params, "args": places}) == 0
    assert acl.mdl.ri_update(instance) == 0
    run(instance, npu.stream)
    assert npu.get(out).view("i4").tolist() == [1, 0, 1, 0]
    assert npu.get(other)[:4].tolist() == [5, 7, 9, 8]
    assert acl.mdl.ri_destroy(instance) == 0


# --- numbers


@pytest.mark.needs_sim
@pytest.mark.parametrize("kind", ["f2", "b2"])
def test_doubles_beyond_every_half_are_infinite(npu, kind):
    values = numpy.array([2.0**511, 2.0**512, 2.0**513, 1.7e308, -(2.0**600), numpy.inf, numpy.nan, 5e-324])
    out = npu.tensor(numpy.zeros(8, "u2" if kind == "b2" else kind), kind)
    assert npu.call("cast", npu.tensor(values), CODES[kind], out) == 0
    found = from_bfloat(npu.get(out)) if kind == "b2" else npu.get(out)
    inf = numpy.inf
    assert numpy.array_equal(found, [inf, inf, inf, inf, -inf, inf, numpy.nan, 0], equal_nan=True)


@pytest.mark.needs_sim
def test_int64_is_rounded_once_to_bfloat16(npu):
    """One more than half way between two bfloat16: a double would lose the one, and go to the even neighbour."""
    values = [2**62 + 2**54 + 1, -(2**62) - 2**54 - 1, 2**62 + 2**54, 2**62 + 3 * 2**54 - 1, 2**63 - 1, -(2**63)]
    expected = [2.0**62 + 2**55, -(2.0**62) - 2**55, 2.0**62, 2.0**62 + 2**55, 2.0**63, -(2.0**63)]
    out = npu.tensor(numpy.zeros(6, "u2"), "b2")
    assert npu.call("cast", npu.tensor(numpy.array(values, "i8")), CODES["b2"], out) == 0
    assert from_bfloat(npu.get(out)).tolist() == expected


@pytest.mark.needs_sim
@pytest.mark.parametrize("name", ["cast", "cat", "s_where", "inplace_copy", "bitwise_or_tensor"])
def test_uint64_is_rounded_once_to_bfloat16(npu, name):
    """As above, and in the upper half of the numbers; float16 ends long before."""
    values = [2**62 + 2**54 + 1, 2**63 + 2**55 + 1, 2**63 + 2**55, 2**63 + 3 * 2**55 - 1, 2**64 - 1, 2**53 + 2**45 + 1]
    expected = [2.0**62 + 2**55, 2.0**63 + 2**56, 2.0**63, 2.0**63 + 2**56, 2.0**64, 2.0**53 + 2**46]
    self = npu.tensor(numpy.array(values, "u8"))
    for kind in ("b2", "f2"):
        out = npu.tensor(numpy.zeros(6, "u2"), kind)
        arguments = {
            "cast": (self, CODES[kind], out),
            "cat": (npu.list([npu.tensor(numpy.array(values, "u8"))]), 0, out),
            "s_where": (npu.tensor(numpy.ones(6, "?")), self, self, out),
            "inplace_copy": (out, self),
            "bitwise_or_tensor": (self, self, out),
        }[name]
        assert npu.call(name, *arguments) == 0
        if name == "cat":  # the list owns its member
            npu.ends = [
                end for end in npu.ends if end[0] is not acl.destroy_tensor or end[1] in (self.handle, out.handle)
            ]
        found = npu.get(out)
        assert from_bfloat(found).tolist() == expected if kind == "b2" else (found == 0x7C00).all()


# --- mixed types of products


@pytest.mark.needs_sim
@pytest.mark.parametrize("name", ["mm", "matmul", "batch_mat_mul", "mv"])
@pytest.mark.parametrize("kinds", [("b2", "f4"), ("f4", "b2"), ("f2", "b2"), ("b2", "f2")])
def test_bfloat16_meets_the_others_in_float32(npu, name, kinds):
    one, other = numpy.array([[1, 2], [3, 4]], "f4"), numpy.array([[1, 0.5], [2, 1]], "f4")
    shapes = ((1, 2, 2), (1, 2, 2)) if name == "batch_mat_mul" else ((2, 2), (2, 2))
    if name == "mv":
        other, shapes = other[0], ((2, 2), (2,))
    pair = [
        npu.tensor(to_bfloat(values).reshape(shape) if kind == "b2" else values.astype(kind).reshape(shape), kind)
        for values, shape, kind in zip((one, other), shapes, kinds)
    ]
    expected = (one @ other).reshape(shapes[0] if name != "mv" else (2,))
    out = npu.tensor(numpy.zeros(expected.shape, "f4"))
    assert npu.call(name, *pair, out, KEEP) == 0
    assert numpy.array_equal(npu.get(out), expected)


@pytest.mark.needs_sim
@pytest.mark.parametrize("kind", ["c8", "c16"])
def test_mv_of_complex_numbers(npu, kind):
    generator = numpy.random.default_rng(1)
    one, vector = (
        (generator.integers(-9, 9, shape) + 1j * generator.integers(-9, 9, shape)).astype(kind)
        for shape in ((300, 40), (40,))
    )
    out = npu.tensor(numpy.zeros(300, kind))
    assert npu.call("mv", npu.tensor(one), npu.tensor(vector), out, KEEP) == 0
    assert numpy.array_equal(npu.get(out), one @ vector)
    real = npu.tensor(numpy.zeros(300, "f4"))
    refused(npu.call("mv", npu.tensor(one), npu.tensor(vector), real, KEEP), INVALID, "cannot be cast to float32")


# --- weights


@pytest.fixture
def weight_size(npu):
    """Call the functions beside the operators: they belong to C programs."""
    simulator = ctypes.CDLL(os.path.join(acl.get_lib(), "libacl_sim.so"))

    def ask(dims, kind=None):
        size = ctypes.c_uint64(7)
        shape = None if dims is None else ctypes.c_void_p(npu.integers(dims))
        if kind is None:
            return simulator.aclnnCalculateMatmulWeightSize(shape, ctypes.byref(size)), size.value
        code = CODES.get(kind, 99)
        return simulator.aclnnCalculateMatmulWeightSizeV2(shape, code, ctypes.byref(size)), size.value

    ask.library = simulator
    return ask


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("dims", "kind", "count"),
    [
        ([16, 16], None, 256),
        ([1, 1], None, 256),
        ([17, 33], "f2", 32 * 48),
        ([17, 33], "b2", 32 * 48),
        ([17, 33], "i1", 32 * 64),
        ([3, 2, 16, 17], "f2", 6 * 16 * 32),
        ([0, 16], "f2", 0),
    ],
)
def test_the_size_of_a_weight_is_that_of_whole_blocks(weight_size, dims, kind, count):
    assert weight_size(dims, kind) == (0, count)


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    ("dims", "kind", "code", "words"),
    [
        (None, "f2", NULLPTR, "tensorShape is NULL"),
        (None, None, NULLPTR, "tensorShape is NULL"),
        ([4], "f2", INVALID, "tensorShape has 1 elements, expected 2 to 6"),
        ([1] * 7, None, INVALID, "tensorShape has 7 elements, expected 2 to 6"),
        ([4, -1], "f2", INVALID, "tensorShape[1] is -1, expected 0 or more"),
        ([2**40, 2**40], "f2", INVALID, "whose number of elements fits into 63 bits"),
        ([4, 4], "f4", INVALID, "dataType has data type 0, float32, expected float16, int8 or bfloat16"),
        ([4, 4], "none", INVALID, "dataType has data type 99"),
    ],
)
def test_shapes_and_types_of_no_weight(weight_size, dims, kind, code, words):
    refused(weight_size(dims, kind)[0], code, f"aclnnCalculateMatmulWeightSize{'V2' if kind else ''} failed", words)


@pytest.mark.needs_sim
def test_no_place_for_the_size_of_a_weight(npu, weight_size):
    shape = ctypes.c_void_p(npu.integers([2, 2]))
    refused(weight_size.library.aclnnCalculateMatmulWeightSize(shape, None), NULLPTR, "weightTensorSize is NULL")


@pytest.mark.needs_sim
@pytest.mark.parametrize("kind", ["f2", "b2"])
def test_a_weight_that_was_rearranged_is_multiplied_like_before(npu, kind):
    values = numpy.arange(6.0).reshape(3, 2)
    stored = to_bfloat(values) if kind == "b2" else values.astype(kind)
    weight, one = npu.tensor(stored, kind), npu.tensor(numpy.ones((2, 3), "f4"))
    assert npu.call("trans_matmul_weight", weight) == 0
    out = npu.tensor(numpy.zeros((2, 2), "f4"))
    assert npu.call("mm", one, weight, out, KEEP) == 0
    assert npu.get(out).tolist() == [[6, 9], [6, 9]]


@pytest.mark.strict
def test_what_no_weight_is(npu):
    call, zeros = npu.call, numpy.zeros
    refused(call("trans_matmul_weight", npu.tensor(zeros((2, 2), "f4"))), INVALID, "mmWeightRef has data type 0")
    refused(call("trans_matmul_weight", npu.tensor(zeros(2, "f2"))), INVALID, "has 1 dimensions, expected 2 to 6")
    refused(call("trans_matmul_weight", 0), NULLPTR, "mmWeightRef is NULL")
