"""Kernels in NumPy: what they are given, where they run, and what becomes of their failures."""

import numpy
import pytest
from helpers.expect import refused
from helpers.tensors import ND, Device

import acl
from acl import nnop

FLOAT, BF16 = 0, 27
INVALID, RUNTIME, USED_UP, AICORE_EXCEPTION = 161002, 361001, 561103, 507015

pytestmark = [pytest.mark.needs_sim, pytest.mark.usefixtures("clean")]


@pytest.fixture
def npu():
    """Make the device with its stream."""
    return Device()


def test_a_kernel_runs_on_the_stream(npu):
    @acl.sim.kernel("aclnnAdd")
    def add(self, other, alpha, out):
        out[...] = self + alpha * other

    a, b = numpy.arange(8, dtype="f4").reshape(4, 2), numpy.ones((4, 2), "f4")
    self, other, out = npu.tensor(a), npu.tensor(b), npu.tensor(numpy.zeros((4, 2), "f4"))
    acl.sim.hold(npu.stream)
    assert npu.call("add", self, other, npu.scalar(0.5), out) == 0
    acl.sim.release(npu.stream)
    assert numpy.array_equal(npu.get(out), a + 0.5)


def test_arrays_have_the_strides_of_their_tensors(npu):
    seen = {}

    @acl.sim.kernel("aclnnInplaceCopy")
    def copy(self_ref, src):
        seen.update(writable=(self_ref.flags.writeable, src.flags.writeable), strides=src.strides)
        self_ref[...] = src

    data = numpy.arange(12, dtype="f4")
    address = npu.put(data)
    backwards = acl.create_tensor([3, 4], FLOAT, [-1, -3], 11, ND, [12], address)
    out = npu.tensor(numpy.zeros((3, 4), "f4"))
    assert npu.call("inplace_copy", out, backwards) == 0
    assert numpy.array_equal(npu.get(out), data[::-1].reshape(4, 3).T)
    assert seen == {"writable": (True, False), "strides": (-4, -12)}


def test_every_kind_of_argument(npu):
    seen = []
    keep = npu.tensor(numpy.zeros(4, "f4"))

    @acl.sim.kernel("aclnnReduceSum")
    def reduce_sum(self, dims, keep_dims, dtype, out):
        seen.append((dims, keep_dims, dtype))

    assert npu.call("reduce_sum", keep, acl.create_int_array([-1, 0]), True, 3, keep) == 0

    @acl.sim.kernel("aclnnCat")
    def cat(tensors, dim, out):
        seen.append(([tensor.shape for tensor in tensors], dim))

    members = acl.create_tensor_list([npu.tensor(numpy.zeros(shape, "f4")).handle for shape in ((2, 3), (0, 3))])
    assert npu.call("cat", members, -1, keep) == 0

    @acl.sim.kernel("aclnnClamp")
    def clamp(self, low, high, out):
        seen.append((low, high))

    assert npu.call("clamp", keep, 0, npu.scalar(7, "i4"), keep) == 0

    @acl.sim.kernel("aclnnHardtanhBackward")
    def hardtanh(grad, self, low, high, out):
        seen.append((low, high))

    assert npu.call("hardtanh_backward", keep, keep, npu.scalar(-1.5, "f2"), npu.scalar(True, "?"), keep) == 0

    @acl.sim.kernel("aclnnGeluBackwardV2")
    def gelu_backward(grad, self, approximate, out):
        seen.append(approximate)

    assert npu.call("gelu_backward_v2", keep, keep, "tanh", keep) == 0

    @acl.sim.kernel("aclnnLayerNorm")
    def layer_norm(self, shape, weight, bias, eps, out, mean, rstd):
        seen.append((shape, weight, eps, mean))

    assert npu.call("layer_norm", keep, acl.create_int_array([4]), 0, 0, 1e-5, keep, 0, 0) == 0
    assert acl.rt.synchronize_stream(npu.stream) == 0
    assert seen == [
        ([-1, 0], 1, 3),
        ([(2, 3), (0, 3)], -1),
        (None, 7),
        (-1.5, True),
        "tanh",
        ([4], None, 1e-5, None),
    ]


def test_bfloat16(npu):
    seen = []

    @acl.sim.kernel("aclnnAdds")
    def adds(self, other, alpha, out):
        seen.append((self.dtype, other))

    bits = (numpy.array(1.5, "f4").view("u4") >> 16).astype("u2").tobytes()
    one_and_a_half = acl.create_scalar(acl.util.bytes_to_ptr(bits), BF16)
    tensor = acl.create_tensor([2], BF16, [1], 0, ND, [2], npu.put(numpy.zeros(2, "u2")))
    assert npu.call("adds", tensor, one_and_a_half, one_and_a_half, tensor) == 0
    assert acl.rt.synchronize_stream(npu.stream) == 0
    assert seen == [(numpy.dtype("u2"), 1.5)]


def test_the_plan_asks_for_workspace_and_sees_no_data(npu):
    seen = []

    def plan(self, out):
        seen.append((self.shape, self.dtype.str, self.flags.writeable))
        return 100

    @acl.sim.kernel("aclnnGelu", plan=plan)
    def gelu(self, out):
        out[...] = 1

    tensor = npu.tensor(numpy.zeros((2, 2), "f4"))
    size, executor, ret = nnop.gelu_get_workspace_size(tensor.handle, tensor.handle)
    assert (size, ret, seen) == (100, 0, [((2, 2), "<f4", False)])
    workspace, _ = acl.rt.malloc(100, 0)
    assert nnop.gelu(workspace, size, executor, npu.stream) == 0
    assert npu.get(tensor).tolist() == [[1, 1], [1, 1]]


def test_a_plan_refuses(npu, raised):
    def plan(self, out):
        raise ValueError("no such shape")

    acl.sim.kernel("aclnnGelu", plan=plan)(lambda self, out: None)
    tensor = npu.tensor(numpy.zeros(2, "f4"))
    assert nnop.gelu_get_workspace_size(tensor.handle, tensor.handle)[2] == INVALID
    assert [str(error) for error in raised] == ["no such shape"]


def test_a_kernel_that_raises_fails_its_task(npu, raised):
    @acl.sim.kernel("aclnnGelu")
    def gelu(self, out):
        raise KeyError("lost")

    tensor = npu.tensor(numpy.zeros(2, "f4"))
    assert npu.call("gelu", tensor, tensor) == 0
    refused(acl.rt.synchronize_stream(npu.stream), AICORE_EXCEPTION, "aclnnGelu")
    assert [repr(error) for error in raised] == ["KeyError('lost')"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.finds("leaked-memory")
@pytest.mark.finds("leaked-object", count=2)
def test_what_a_kernel_raised_is_the_cause_of_the_task_error(npu):
    @acl.sim.kernel("aclnnGelu")
    def gelu(self, out):
        raise KeyError(f"for {out.size} elements,\nlost")

    with acl.Device(0):
        for size in (2, 3):
            tensor = npu.tensor(numpy.zeros(size, "f4"))
            assert npu.call("gelu", tensor, tensor) == 0
            with pytest.raises(acl.TaskError, match=rf"failed because KeyError: 'for {size} elements") as caught:
                acl.Stream.from_handle(npu.stream).synchronize()
            assert repr(caught.value.__cause__) == repr(KeyError(f"for {size} elements,\nlost"))
    acl.sim.kernel("aclnnGelu")(None)


def test_a_kernel_is_replaced_and_taken_back(npu):
    tensor = npu.tensor(numpy.zeros(2, "f4"))
    before = acl.sim.operators(implemented=True)
    acl.sim.kernel("aclnnGelu")(lambda self, out: out.fill(1))
    acl.sim.hold(npu.stream)
    assert npu.call("gelu", tensor, tensor) == 0
    acl.sim.kernel("aclnnGelu")(lambda self, out: out.__iadd__(10))
    assert npu.call("gelu", tensor, tensor) == 0
    acl.sim.release(npu.stream)
    assert npu.get(tensor).tolist() == [11, 11]
    acl.sim.kernel("aclnnGelu")(None)
    assert acl.sim.operators(implemented=True) <= before
    assert acl.sim.operators() == 1154


def test_an_unknown_operator():
    with pytest.raises(ValueError, match='name is "aclnnNothing", expected an operator'):
        acl.sim.kernel("aclnnNothing")(lambda: None)


def test_a_type_without_numpy_type_fails(npu, raised):
    acl.sim.kernel("aclnnGelu")(lambda self, out: None)
    tensor = acl.create_tensor([2], 34, [1], 0, ND, [2], npu.put(numpy.zeros(2, "u1")))
    assert npu.call("gelu", tensor, tensor) == 0
    refused(acl.rt.synchronize_stream(npu.stream), AICORE_EXCEPTION)
    assert [str(error) for error in raised] == ["NumPy has no type for data type 34"]


@pytest.mark.finds("freed-in-use", "use-after-free")
def test_memory_is_checked_before_and_when_the_kernel_runs(npu):
    acl.sim.kernel("aclnnGelu")(lambda self, out: None)
    tensor = npu.tensor(numpy.zeros(2, "f4"))
    nowhere = acl.create_tensor([2], FLOAT, [1], 0, ND, [2], 0x1000)
    wide = acl.create_tensor([1 << 20], FLOAT, [1], 0, ND, [2], tensor.address)
    refused(npu.call("gelu", nowhere, tensor), RUNTIME, "self is 0x1000")
    refused(npu.call("gelu", tensor, wide), RUNTIME, "out")
    acl.sim.hold(npu.stream)
    assert npu.call("gelu", tensor, tensor) == 0
    assert acl.rt.free(tensor.address) == 0
    acl.sim.release(npu.stream)
    refused(acl.rt.synchronize_stream(npu.stream), 507053, "aclnnGelu", "freed before it ran")


def test_the_eager_schedule_runs_it_at_once():
    acl.sim.configure(schedule="eager")
    npu = Device()
    seen = []
    acl.sim.kernel("aclnnGelu")(lambda self, out: seen.append(self.shape))
    tensor = npu.tensor(numpy.zeros(3, "f4"))
    assert npu.call("gelu", tensor, tensor) == 0
    assert seen == [(3,)]


def test_a_repeatable_executor(npu):
    acl.sim.kernel("aclnnGelu")(lambda self, out: out.__setitem__(..., self + 1))
    first, second = (npu.tensor(numpy.full(2, value, "f4")) for value in (0, 10))
    size, executor, ret = nnop.gelu_get_workspace_size(first.handle, first.handle)
    assert acl.set_acl_op_executor_repeatable(executor) == 0
    for _ in range(3):
        assert nnop.gelu(0, size, executor, npu.stream) == 0
    assert npu.get(first).tolist() == [3, 3]
    assert acl.set_input_tensor_addr(executor, 0, first.handle, second.address) == 0
    assert acl.set_output_tensor_addr(executor, 0, first.handle, second.address) == 0
    assert nnop.gelu(0, size, executor, npu.stream) == 0
    assert npu.get(second).tolist() == [11, 11]
    assert acl.destroy_acl_op_executor(executor) == 0
    refused(nnop.gelu(0, size, executor, npu.stream), USED_UP, "a destroyed executor")
