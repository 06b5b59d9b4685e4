"""Operators on arrays, used wrongly: each refusal says what is wrong and what to do."""

import numpy
import pytest
from helpers.expect import in_thread
from helpers.objects import raises

import acl

pytestmark = pytest.mark.usefixtures("opened")
nn = acl.nn
BAD, REFUSED = acl.InvalidArgumentError, acl.OperatorError


def floats(*shape):
    return acl.DeviceArray.zeros(shape)


def closed(*shape):
    array = floats(*shape)
    array.close()
    return array


# (name, what is done with an array of 2 x 3, error class, what the text must say)
MISUSE = (
    # what is not an array
    ("number", lambda a: nn.add(a, 2), BAD, ("acl.nn.add: other is 2", "an acl.DeviceArray", "acl.nn.adds")),
    ("number compared", lambda a: nn.eq_tensor(a, 1.5), BAD, ("other is 1.5", "acl.nn.eq_scalar")),
    ("number as exponent", lambda a: nn.pow_tensor_tensor(a, 2), BAD, ("exponent is 2", "acl.nn.pow_tensor_scalar")),
    ("NumPy array", lambda a: nn.add(a, numpy.ones(3)), BAD, ("other is a ndarray", "from_numpy(array)")),
    ("buffer", lambda a: nn.relu(acl.Buffer.from_handle(a.handle, 24)), BAD, ("self is <acl.Buffer", "from_buffer(")),
    ("list", lambda a: nn.relu([1, 2]), BAD, ("self is [1, 2]", "pass an acl.DeviceArray")),
    ("None", lambda a: nn.add(a, None), BAD, ("other is None, expected an acl.DeviceArray",)),
    ("text", lambda a: nn.add("a", a), BAD, ("self is 'a', expected an acl.DeviceArray",)),
    ("out as a number", lambda a: nn.add(a, a, out=1), BAD, ("out is 1, expected an acl.DeviceArray",)),
    ("out on the host", lambda a: nn.add(a, a, out=numpy.ones((2, 3))), BAD, ("out is a ndarray", "from_numpy")),
    ("no list", lambda a: nn.cat(a, 0), BAD, ("tensors is a DeviceArray", "a list of acl.DeviceArray")),
    ("list of others", lambda a: nn.cat([a, 1], 0), BAD, ("tensors[1] is 1, expected an acl.DeviceArray",)),
    ("list with None", lambda a: nn.cat([a, None], 0), BAD, ("tensors[1] is None",)),
    ("host memory", lambda a: nn.relu(acl.DeviceArray.from_buffer(acl.Buffer(8, kind="host"), 2)), BAD,
     ("self is in host memory", "array.copy()")),
    # numbers and options
    ("array as number", lambda a: nn.adds(a, a), BAD, ("other is a DeviceArray", "use acl.nn.add")),
    ("array compared as number", lambda a: nn.eq_scalar(a, a), BAD, ("other is a DeviceArray", "acl.nn.eq_tensor")),
    ("array as factor", lambda a: nn.add(a, a, a), BAD, ("alpha is a DeviceArray", "array.item()")),
    ("text as number", lambda a: nn.adds(a, "1"), BAD, ("other is '1', expected a number",)),
    ("None as number", lambda a: nn.adds(a, None), BAD, ("other is None, expected a number",)),
    ("NumPy array as number", lambda a: nn.adds(a, numpy.ones(2)), BAD, ("other is a ndarray, expected a number",)),
    ("far number", lambda a: nn.add(a, a, 2**63), BAD, (f"alpha is {2**63}, expected {-(2**63)} to {2**63 - 1}",)),
    ("number as stream", lambda a: nn.relu(a, stream=3), TypeError, ("3 is not an acl.Stream", "from_handle()")),
    ("fraction as dimension", lambda a: nn.softmax(a, 0.5), BAD, ("dim is 0.5, expected an integer",)),
    ("complex as integer", lambda a: nn.softmax(a, 1j), BAD, ("dim is 1j, expected a number",)),
    ("text as dimension", lambda a: nn.softmax(a, "x"), BAD, ("dim is 'x', expected a number",)),
    ("None as dimension", lambda a: nn.softmax(a, None), BAD, ("dim is None",)),
    ("large integer", lambda a: nn.softmax(a, 2**63, out=a), BAD, (f"dim is {2**63}, expected {-(2**63)} to",)),
    ("large byte", lambda a: nn.mm(a, a.T, 200), BAD, ("cube_math_type is 200, expected -128 to 127",)),
    ("fractions as dimensions", lambda a: nn.flip(a, [0.5], out=floats(2, 3)), BAD,
     ("dims is [0.5], expected integers",)),
    ("NumPy array as dimensions", lambda a: nn.flip(a, numpy.array(1)), BAD, ("dims is a ndarray", "array.tolist()")),
    ("far probability", lambda a: nn.dropout_gen_mask_v2([8], 10**400, 0, 0, "f4", out=a), BAD, ("prob is 1000",)),
    ("far dimensions", lambda a: nn.flip(a, [2**64], out=floats(2, 3)), BAD, ("expected integers of 64 bits",)),
    ("type", lambda a: nn.cast(a, "float23"), BAD, ("dtype is 'float23', expected a type", "dtype='f4'")),
    ("type by number", lambda a: nn.cast(a, 999), BAD, ("dtype is 999, which is not a data type",)),
    ("no type", lambda a: nn.cast(a), BAD, ("dtype is None", "out=")),
    ("type of no operator", lambda a: nn.relu(acl.DeviceArray(2, "M8[s]")), BAD,
     ("no operator supports datetime64[s]",)),
    # shapes
    ("broadcast", lambda a: nn.add(a, floats(4)), BAD, ("(2, 3) and (4,) cannot be broadcast together", "reshape")),
    ("product", lambda a: nn.matmul(a, a), BAD, ("the last dimension of (2, 3) is 3", "of (2, 3) is 2")),
    ("product of batches", lambda a: nn.matmul(floats(2, 1, 1), floats(3, 1, 1)), BAD, ("(2,) and (3,)",)),
    ("product without dimensions", lambda a: nn.matmul(floats(), a), BAD, ("() and (2, 3) cannot be multiplied",)),
    ("dimension", lambda a: nn.softmax(a, 2), BAD, ("dim is 2, expected -2 to 1",)),
    ("reduced dimension", lambda a: nn.reduce_sum(a, [0, 5]), BAD, ("dim is 5, expected -2 to 1",)),
    ("permutation", lambda a: nn.permute(a, [0, 0]), BAD, ("dims is [0, 0], expected each dimension of (2, 3) once",)),
    ("joined shapes", lambda a: nn.cat([a, floats(2, 2)], 0), BAD, ("(2, 3) and (2, 2) differ", "dimension 0")),
    ("nothing joined", lambda a: nn.cat([], 0), BAD, ("tensors is empty",)),
    ("stacked shapes", lambda a: nn.stack([a, floats(2)], 0), BAD, ("(2, 3) and (2,) differ", "one shape")),
    ("few repeats", lambda a: nn.repeat(a, [2]), BAD, ("repeats has 1 numbers, expected 2 or more",)),
    ("repeats as a number", lambda a: nn.repeat(a, 2), BAD, ("the arguments do not fit together",)),
    ("no dimension", lambda a: nn.moe_token_unpermute(a, a, floats(2), False, None), BAD, ("do not fit together",)),
    ("no pairs", lambda a: nn.moe_token_unpermute(a, a, floats(2, 0), False, None), BAD, ("do not fit together",)),
    ("split of nothing", lambda a: nn.split_tensor(a, 0, 0), BAD, ("split_sections is 0",)),
    ("range without end", lambda a: nn.arange(0, 1, 0), BAD, ("step is 0",)),
    ("odd padding", lambda a: nn.constant_pad_nd(a, [1], 0), BAD, ("1 numbers cannot pad (2, 3)", "two numbers for")),
    ("far cut", lambda a: nn.constant_pad_nd(a, [-2, -2], 0), BAD, ("[-2, -2] removes more elements than (2, 3)",)),
    ("diagonal of a cube", lambda a: nn.diag(floats(1, 1, 1)), BAD, ("(1, 1, 1) has 3 dimensions, expected 1 or 2",)),
    ("windows of a matrix", lambda a: nn.im2col(a, [1, 1], [1, 1], [0, 0], [1, 1]), BAD, ("(2, 3) has no windows",)),
    ("wide windows", lambda a: nn.im2col(floats(1, 2, 2), [3, 1], [1, 1], [0, 0], [1, 1]), BAD,
     ("(1, 2, 2) with the padding is smaller than the window",)),
    ("pool of a matrix", lambda a: nn.max_pool(a, [1, 1], [1], 0, [0], [1], 0), BAD, ("(2, 3) has no windows [1, 1]",)),
    ("wide pool", lambda a: nn.avg_pool3d(floats(1, 2, 2, 2), [3], [1], [0], False, True, 0), BAD,
     ("(1, 2, 2, 2) with the padding is smaller than the window",)),
    ("columns of a line", lambda a: nn.im2col_backward(floats(3), [1, 1], [1, 1], [1, 1], [0, 0], [1, 1]), BAD,
     ("(3,) has no columns of windows [1, 1]",)),
    ("sizes of more dimensions", lambda a: nn.upsample_nearest2d(a, [4, 4]), BAD, ("(2, 3) has no images of 2",)),
    ("convolution of a matrix", lambda a: nn.convolution(a, a, None, [1], [0], [1], False, [0], 1), BAD,
     ("(2, 3) with 1 strides is not the weight of a convolution of (2, 3)",)),
    ("strides of 0", lambda a: nn.convolution(floats(1, 1, 3), floats(1, 1, 1), None, [0], [0], [1], False, [0], 1),
     BAD, ("stride is [0], expected numbers of 1 or more",)),
    ("wide kernel", lambda a: nn.convolution(floats(1, 1, 3), floats(1, 1, 4), None, [1], [0], [1], False, [0], 1),
     BAD, ("(1, 1, 3) with the padding is smaller than the window",)),
    ("convolved matrix", lambda a: nn.conv_tbc(a, a, floats(3), 0), BAD, ("(2, 3) and (2, 3) cannot be convolved",)),
    ("short convolved array", lambda a: nn.conv_tbc(floats(1, 1, 1), floats(2, 1, 1), floats(1), 0), BAD,
     ("(1, 1, 1) with the padding is shorter than the window",)),
    ("product of matrices as vectors", lambda a: nn.ger(a, a), BAD, ("(2, 3) and (2, 3) are not both vectors",)),
    ("product of matrices as batches", lambda a: nn.addbmm(a, floats(3, 2), a), BAD, ("are not both batches",)),
    ("product of vectors as matrices", lambda a: nn.gemm(floats(2), a, a, 1.0, 1.0, 0, 0), BAD,
     ("(2,) and (2, 3) are not both matrices",)),
    ("determinant of a vector", lambda a: nn.logdet(floats(2)), BAD, ("(2,) has 1 dimensions, expected 2 or more",)),
    ("systems that do not meet", lambda a: nn.triangular_solve(floats(2, 1, 1), floats(3, 1, 1), True, False, False),
     BAD, ("(2,) and (3,)", "cannot be broadcast together")),
    ("types without a common type", lambda a: nn.add(a, acl.DeviceArray((2, 3), "u2")), BAD,
     ("have no common type", "cast(")),
    # results
    ("no rule", lambda a: nn.bincount(a, None, 0), BAD, ("shape and type of out do not follow", "out=acl.Device")),
    ("one out for two", lambda a: nn.max_dim(a, 0, out=a), BAD, ("out is a DeviceArray", "a tuple of 2: out, indices")),
    ("three for two", lambda a: nn.max_dim(a, 0, out=(a, a, a)), BAD, ("out is 3, expected a tuple of 2",)),
    ("out left out in a tuple", lambda a: nn.max_dim(a, 0, out=(a, None)), BAD, ("indices is None, expected an acl.",)),
    ("shape of out", lambda a: nn.add(a, a, out=floats(2)), REFUSED, ("aclnnAddGetWorkspaceSize", "161002")),
    ("type of out", lambda a: nn.add(a, a, out=acl.DeviceArray((2, 3), "i4")), REFUSED, ("161002",)),
    # what is closed, and where it is called
    ("closed", lambda a: nn.relu(closed(2)), acl.InvalidHandleError, ("acl.DeviceArray is closed", "make a new one")),
    ("closed later", lambda a: (nn.adds(a, 1), a.close(), nn.adds(a, 1)), acl.InvalidHandleError, ("is closed",)),
    ("closed out", lambda a: nn.relu(a, out=closed(2, 3)), acl.InvalidHandleError, ("acl.DeviceArray is closed",)),
    ("arguments", lambda a: nn.add(a), TypeError, ("missing 1 required positional argument: 'other'",)),
    ("unknown option", lambda a: nn.add(a, a, beta=1), TypeError, ("unexpected keyword argument 'beta'",)),
    ("out of what has none", lambda a: nn.inplace_add(a, a, out=a), TypeError, ("unexpected keyword argument 'out'",)),
    ("operator", lambda a: nn.ad(a, a), AttributeError, ("'ad'", "did you mean add")),
)  # fmt: skip


@pytest.mark.parametrize("call, kind, words", [row[1:] for row in MISUSE], ids=[row[0] for row in MISUSE])
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_misuse(call, kind, words):
    """It is refused, and the operator that was asked for still works."""
    a = acl.DeviceArray.from_numpy(numpy.ones((2, 3), "f4"))
    with raises(kind, *words):
        call(a)
    b = acl.DeviceArray.from_numpy(numpy.ones((2, 3), "f4"))
    assert nn.add(b, b).to_numpy().tolist() == [[2] * 3] * 2


def test_a_closed_stream():
    with acl.Stream() as stream:
        pass
    with raises(acl.InvalidHandleError, "acl.Stream is closed"):
        nn.relu(floats(2), stream=stream)


def test_an_array_whose_device_was_closed(opened):
    a = floats(2)
    nn.adds(a, 1)
    acl.Device(0).close()
    acl.Device(0).use()
    with raises(acl.InvalidHandleError, "its device was closed", "close buffers and arrays before their device"):
        nn.adds(a, 1)


@pytest.mark.strict
def test_a_stream_of_another_context():
    with acl.Stream() as stream, acl.Context():
        with raises(acl.ContextError, "107003", "stream.use_context()"):
            nn.relu(floats(2), stream=stream)
        stream.use_context()


@pytest.mark.strict
def test_a_thread_without_a_context():
    a = floats(2)

    def call():
        with raises(acl.ContextError, "107002", "with acl.Device(0)"):
            nn.relu(a, out=a)

    in_thread(call)


@pytest.mark.strict
def test_a_call_at_once_is_no_part_of_a_capture():
    a = floats(2)
    with acl.Stream() as stream:
        assert acl.mdl.ri_capture_begin(stream.handle, 2) == 0
        nn.inplace_adds(a, 1)
        instance, ret = acl.mdl.ri_capture_end(stream.handle)
        assert ret == acl.mdl.ri_execute_async(instance, stream.handle) == 0
        stream.synchronize()
        assert a.to_numpy().tolist() == [1, 1]
        assert acl.mdl.ri_destroy(instance) == 0


@pytest.mark.needs_sim
def test_an_array_of_another_device(configure):
    configure(devices=2)
    with acl.Device(1):
        there = floats(2)
        with acl.Device(0):
            with raises(BAD, "self is on device 1, the thread's device is 0", "with acl.Device(1):"):
                nn.relu(there)
        assert nn.relu(there).to_numpy().tolist() == [0, 0]
        there.close()


@pytest.mark.strict
def test_an_operator_without_a_kernel():
    with raises(REFUSED, "561003", "acl.sim.kernel"):
        nn.digamma(floats(2))
