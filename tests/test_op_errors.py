"""What calls of single operators refuse, and what they say."""

import numpy
import pytest
from helpers.expect import NULL, in_thread, pointer, refused
from helpers.single import Single

import acl
from acl._lib import ffi, lib

op = acl.op
A = numpy.arange(6, dtype="f4").reshape(2, 3)
SYS, UNREGISTERED = 0, 1


class Call:
    """One call of ``Add``, ready to be spoilt: each attribute is an argument of C."""

    def __init__(self, npu):
        self.single = Single(npu)
        given = [self.single.give(A), self.single.give(A)]
        out = self.single.take((2, 3), "f4")
        self.type, self.attr, self.stream = b"Add", 0, npu.stream
        self.in_count, self.out_count = 2, 1
        self.in_descs, self.inputs = [one[0] for one in given], [one[1] for one in given]
        self.out_descs, self.outputs = [out[0]], [out[1]]
        self.flag, self.path = SYS, NULL
        self.handle = ffi.new("aclopHandle **")

    def pieces(self):
        """Return the arguments in C."""
        lists = (
            ("aclTensorDesc", self.in_descs), ("aclDataBuffer", self.inputs),
            ("aclTensorDesc", self.out_descs), ("aclDataBuffer", self.outputs),
        )  # fmt: skip
        arrays = [
            NULL if items is None else ffi.new(f"{kind} *[]", [ffi.cast(f"{kind} *", item) for item in items])
            for kind, items in lists
        ]
        self.kept = arrays
        return NULL if self.type is None else self.type, pointer(self.attr), pointer(self.stream), arrays

    def execute(self):
        """Run it by aclopExecute."""
        kind, attr, stream, (descs, inputs, out_descs, outputs) = self.pieces()
        return lib.aclopExecute(kind, self.in_count, descs, inputs, self.out_count, out_descs, outputs, attr, stream)

    def execute_v2(self):
        """Run it by aclopExecuteV2."""
        kind, attr, stream, (descs, inputs, out_descs, outputs) = self.pieces()
        return lib.aclopExecuteV2(kind, self.in_count, descs, inputs, self.out_count, out_descs, outputs, attr, stream)

    def compile_and_execute(self):
        """Run it by aclopCompileAndExecute."""
        kind, attr, stream, (descs, inputs, out_descs, outputs) = self.pieces()
        given = kind, self.in_count, descs, inputs, self.out_count, out_descs, outputs, attr
        return lib.aclopCompileAndExecute(*given, 0, self.flag, self.path, stream)

    def compile_and_execute_v2(self):
        """Run it by aclopCompileAndExecuteV2."""
        kind, attr, stream, (descs, inputs, out_descs, outputs) = self.pieces()
        given = kind, self.in_count, descs, inputs, self.out_count, out_descs, outputs, attr
        return lib.aclopCompileAndExecuteV2(*given, 0, self.flag, self.path, stream)

    def compile(self):
        """Compile it."""
        kind, attr, _, (descs, _, out_descs, _) = self.pieces()
        return lib.aclopCompile(kind, self.in_count, descs, self.out_count, out_descs, attr, 0, self.flag, self.path)

    def create_handle(self):
        """Create a handle."""
        kind, attr, _, (descs, _, out_descs, _) = self.pieces()
        return lib.aclopCreateHandle(kind, self.in_count, descs, self.out_count, out_descs, attr, self.handle)

    def infer_shape(self):
        """Infer the shape of its output."""
        kind, attr, _, (descs, inputs, out_descs, _) = self.pieces()
        return lib.aclopInferShape(kind, self.in_count, descs, inputs, self.out_count, out_descs, attr)

    def update_params(self):
        """Ask the function that chooses a kernel."""
        kind, attr, _, (descs, _, out_descs, _) = self.pieces()
        return lib.aclopUpdateParams(kind, self.in_count, descs, self.out_count, out_descs, attr)


@pytest.fixture
def call(npu):
    """Give a call that would succeed."""
    made = Call(npu)
    yield made
    made.single.close()


RUNS = ["execute", "execute_v2", "compile_and_execute", "compile_and_execute_v2"]
PREPARES = ["compile", "create_handle"]
CHECKED = [*RUNS, *PREPARES, "infer_shape", "update_params"]


@pytest.mark.parametrize("how", [*RUNS, *PREPARES, "infer_shape"])
def test_the_call_is_right_before_it_is_spoilt(how, call):
    assert getattr(call, how)() == 0, acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(call.stream) == 0


# What is spoilt, words of the message, the calls that look at it.
BAD = [
    ("no type", {"type": None}, "opType is NULL", CHECKED),
    ("negative inputs", {"in_count": -1}, "numInputs is -1", CHECKED),
    ("negative outputs", {"out_count": -1}, "numOutputs is -1", CHECKED),
    ("too many", {"in_count": 1025}, "numInputs is 1025, expected 0 to 1024", CHECKED),
    ("no input descriptions", {"in_descs": None}, "inputDesc is NULL", CHECKED),
    ("no output descriptions", {"out_descs": None}, "outputDesc is NULL", CHECKED),
    ("no inputs", {"inputs": None}, "inputs is NULL", [*RUNS, "infer_shape"]),
    ("no outputs", {"outputs": None}, "outputs is NULL", RUNS),
    ("an entry is NULL", {"in_descs": [0, 0]}, "inputDesc[0] is NULL", CHECKED),
    ("a buffer is NULL", {"inputs": [0, 0]}, "inputs[0] is NULL", [*RUNS, "infer_shape"]),
    ("an output is NULL", {"outputs": [0]}, "outputs[0] is NULL", RUNS),
    ("an output description is NULL", {"out_descs": [0]}, "outputDesc[0] is NULL", CHECKED),
]


@pytest.mark.parametrize(("how", "spoil", "words"), [(how, row[1], row[2]) for row in BAD for how in row[3]])
def test_what_no_operator_can_be_given(how, spoil, words, call):
    for name, value in spoil.items():
        setattr(call, name, value)
    refused(getattr(call, how)(), 100000, words)


@pytest.mark.strict
@pytest.mark.parametrize("spoil", [{"in_descs": [3, 3]}, {"attr": 5}])
@pytest.mark.parametrize("how", [*RUNS, *PREPARES, "infer_shape"])
def test_handles_that_are_none(how, spoil, call):
    for name, value in spoil.items():
        setattr(call, name, value)
    refused(getattr(call, how)(), 100000, "expected a live")


# What is spoilt, the code, words of the message.
MISMATCHES = [
    ({"type": b"NoSuchOperator"}, 100024, 'acl.sim.kernel("NoSuchOperator")'),
    ({"type": b"PrecisionCompare"}, 100024, 'acl.sim.kernel("aclnnPrecisionCompare")'),
    ({"type": b"MatMul"}, 100024, "operator MatMul does not accept these tensors"),
    ({"type": b"ReduceSum"}, 100021, "inputs[1] of ReduceSum is not a constant"),
    ({"in_count": 1}, 100021, "numInputs is 1"),
    ({"type": b"Relu"}, 100021, "numInputs is 2, expected 1 for Relu"),
    ({"type": b"Relu", "in_count": 0}, 100021, "Relu needs input 0, self"),
    ({"out_count": 0}, 100022, "numOutputs is 0, expected 1"),
    ({"type": b"Maximum", "out_count": 0}, 100022, "Maximum needs output 0, out"),
    ({"type": b"Axpy"}, 100023, "Axpy needs attribute alpha"),
    ({"type": b"Cat"}, 100024, "does not know the attributes of operator Cat"),
]


@pytest.mark.parametrize(("spoil", "code", "words"), MISMATCHES)
@pytest.mark.parametrize("how", ["execute", "execute_v2", "create_handle"])
def test_no_operator_fits(how, spoil, code, words, call):
    for name, value in spoil.items():
        setattr(call, name, value)
    refused(getattr(call, how)(), code, words)


@pytest.mark.parametrize("spoil", [row[0] for row in MISMATCHES])
@pytest.mark.parametrize("how", ["compile", "compile_and_execute", "compile_and_execute_v2"])
def test_what_does_not_fit_is_not_compiled(how, spoil, call):
    for name, value in spoil.items():
        setattr(call, name, value)
    refused(getattr(call, how)(), 500002, "cannot be compiled")


# Type, attributes, words of the message.
ATTRIBUTES = [
    ("Add", {"unknown": 1}, "Add has no attribute unknown"),
    ("Relu", {"unknown": 1}, "Relu has no attribute unknown"),
    ("SoftmaxV2", {"half_to_float": True}, "SoftmaxV2 is 1, which the simulator does not support, expected 0"),
    ("Cast", {"dst_type": 3}, "attribute dst_type of Cast is 3, expected 0"),
    ("TransposeD", {"perm": "10"}, "attribute perm of TransposeD has another type"),
    ("TransposeD", {}, "TransposeD needs attribute perm, which is missing"),
    ("Muls", {"value": [1, 2]}, "attribute value of Muls has another type, expected one number"),
]


@pytest.mark.parametrize(("op_type", "values", "words"), ATTRIBUTES)
def test_attributes_that_do_not_fit(op_type, values, words, call):
    single, count = call.single, 2 if op_type == "Add" else 1
    given = list(zip(call.in_descs, call.inputs))[:count]
    out = list(zip(call.out_descs, call.outputs))
    refused(single.call(op_type, given, out, **values), 100023, words)


@pytest.mark.parametrize("how", ["compile", "compile_and_execute", "compile_and_execute_v2"])
@pytest.mark.parametrize(
    ("flag", "code", "words"),
    [(2, 200001, "compileFlag is 2"), (9, 200001, "compileFlag is 9"), (UNREGISTERED, 100000, "opPath is NULL")],
)
def test_what_is_to_be_compiled(how, flag, code, words, call):
    call.flag = flag
    refused(getattr(call, how)(), code, words)
    call.flag, call.path = UNREGISTERED, b"/code"
    assert getattr(call, how)() == 0


@pytest.mark.parametrize("how", PREPARES)
def test_descriptions_in_host_memory(how, call):
    acl.set_tensor_place_ment(call.in_descs[1], 1)
    refused(getattr(call, how)(), 200001, "tensor 1 is described as one in host memory")


def test_shapes_that_are_not_known(call):
    single = call.single
    call.in_descs[0] = single.desc([-1, 3], "f4")
    for how in ("execute", "execute_v2", "create_handle"):
        refused(getattr(call, how)(), 148050, "inputs[0] of Add has a dimension that is not known")
    refused(call.infer_shape(), 148050, "an input has a dimension that is not known")
    refused(call.compile(), 500002, "cannot be compiled")


def test_shapes_that_do_not_follow(call):
    call.type, call.out_descs = b"PrecisionCompare", [call.single.desc([-2], "f4")]
    refused(call.infer_shape(), 148050, "no rule to derive it from the inputs")
    refused(call.execute_v2(), 148050, "no rule to derive it from the inputs")
    call.type = b"NoSuchOperator"
    refused(call.infer_shape(), 148050, "NoSuchOperator")


def test_more_dimensions_than_an_operator_takes(call):
    call.in_descs[1] = call.single.desc([1] * 9, "f4")
    refused(call.execute_v2(), 100000, "inputs[1] has 9 dimensions, expected at most 8")


def test_buffers_that_are_too_small(call):
    small = call.single.buffer(acl.get_data_buffer_addr(call.inputs[0]), 23)
    call.inputs[1] = small
    refused(call.execute_v2(), 100000, "inputs[1] has 23 bytes, expected at least the 24 of its description")
    call.inputs[1], call.outputs = call.inputs[0], [small]
    refused(call.execute_v2(), 100000, "outputs[0] has 23 bytes")


def test_memory_that_is_not_the_devices(call):
    call.inputs[0] = call.single.buffer(A.ctypes.data, A.nbytes)
    refused(call.execute_v2(), 107000, "self")


@pytest.mark.strict
def test_constants_that_are_not_the_hosts(call):
    desc, address = call.in_descs[0], acl.get_data_buffer_addr(call.inputs[0])
    refused(acl.set_tensor_const(desc, address, 4), 100000, "aclSetTensorConst", "which is device memory")


def test_constants_that_are_too_short(call):
    single, axes = call.single, numpy.array([0, 1], "i8")
    desc = single.desc([2], "i8")
    assert acl.set_tensor_const(desc, axes.ctypes.data, 8) == 0
    given = [(call.in_descs[0], call.inputs[0]), (desc, single.buffer(0, 16))]
    out = single.take((), "f4")
    refused(single.call("ReduceSum", given, [out]), 100021, "ReduceSum has 16 bytes, of which 8 are available")
    desc = single.desc([1], "f4")
    assert acl.set_tensor_const(desc, axes.ctypes.data, 8) == 0
    given[1] = desc, single.buffer(0, 4)
    refused(single.call("ReduceSum", given, [out]), 100021, "inputs[1] of ReduceSum has data type 0")


@pytest.mark.strict
def test_streams_that_are_none(call):
    call.stream = 5
    refused(call.execute_v2(), 107017)


def test_a_thread_without_a_context(call):
    assert in_thread(call.execute_v2) == 107002


@pytest.mark.strict
def test_the_wrong_number_of_buffers_for_a_handle(call):
    assert call.create_handle() == 0
    handle = int(ffi.cast("uintptr_t", call.handle[0]))
    run = op.execute_with_handle
    refused(run(handle, call.inputs[:1], call.outputs, call.stream), 100021, "numInputs is 1, expected 2")
    refused(run(handle, call.inputs, call.outputs * 2, call.stream), 100022, "numOutputs is 2, expected 1")
    refused(run(handle, [0, 0], call.outputs, call.stream), 100000, "inputs[0] is NULL")
    refused(run(0, call.inputs, call.outputs, call.stream), 100000, "handle is NULL")
    op.destroy_handle(handle)
    refused(run(handle, call.inputs, call.outputs, call.stream), 100000, "handle is a destroyed operator handle")
    assert op.destroy_handle(handle) is None and op.destroy_handle(0) is None


def test_nowhere_to_put_a_handle(call):
    call.handle = NULL
    refused(call.create_handle(), 100000, "aclopCreateHandle", "handle is NULL")
    descs = pointer(call.in_descs[0]), pointer(call.out_descs[0])
    refused(lib.aclopCreateHandleForCast(*descs, 0, NULL), 100000, "aclopCreateHandleForCast", "handle is NULL")


def test_casts(call):
    (source, buffer), (target, out) = (call.in_descs[0], call.inputs[0]), (call.out_descs[0], call.outputs[0])
    refused(op.cast(source, buffer, 0, out, 0, call.stream), 100000, "aclopCast", "dstDesc is NULL")
    refused(op.cast(0, buffer, target, out, 0, call.stream), 100000, "inputDesc[0] is NULL")
    refused(op.cast(source, 0, target, out, 0, call.stream), 100000, "inputs[0] is NULL")
    refused(op.create_handle_for_cast(source, 0, 0)[1], 100000, "aclopCreateHandleForCast", "dstDesc is NULL")
    wrong = call.single.desc([3, 2], "f2")
    refused(op.cast(source, buffer, wrong, out, 0, call.stream), 100024, "operator Cast does not accept these tensors")


# Function, what follows attribute set and name, words of the message.
SETTERS = [
    ("aclopSetAttrString", (NULL,), "attrValue is NULL"),
    ("aclopSetAttrListBool", (1, NULL), "values is NULL with numValues 1"),
    ("aclopSetAttrListInt", (1, NULL), "values is NULL with numValues 1"),
    ("aclopSetAttrListFloat", (1, NULL), "values is NULL with numValues 1"),
    ("aclopSetAttrListDataType", (1, NULL), "values is NULL with numValues 1"),
    ("aclopSetAttrListString", (1, NULL), "values is NULL with numValues 1"),
    ("aclopSetAttrListString", (1, ffi.new("const char *[]", [NULL])), "values[0] is NULL"),
    ("aclopSetAttrListListInt", (1, NULL, NULL), "with numLists 1"),
    ("aclopSetAttrListListInt", (1, [1], ffi.new("int64_t *[]", [NULL])), "values[0] is NULL with numValues 1"),
    ("aclopSetAttrListListInt", (1, [-1], ffi.new("int64_t *[]", [NULL])), "numValues is -1"),
    ("aclopSetAttrListListInt", (-1, [1], ffi.new("int64_t *[]", [NULL])), "numLists is -1"),
    *(
        (f"aclopSetAttrList{kind}", (count, NULL), f"numValues is {count}")
        for kind in ("Bool", "Int", "Float", "DataType", "String")
        for count in (-1, 65537)
    ),
]  # fmt: skip
TEXT = ffi.new("char[]", b"x")
GOOD = {
    "Bool": (1,), "Int": (1,), "Float": (1.0,), "String": (b"x",), "DataType": (1,),
    "ListBool": (1, [1]), "ListInt": (1, [1]), "ListFloat": (1, [1.0]), "ListDataType": (1, [1]),
    "ListString": (1, ffi.new("const char *[]", [TEXT])), "ListListInt": (0, NULL, NULL),
}  # fmt: skip


@pytest.mark.parametrize(("function", "arguments", "words"), SETTERS)
def test_attributes_that_cannot_be_set(function, arguments, words):
    attr = op.create_attr()
    refused(getattr(lib, function)(pointer(attr), b"name", *arguments), 100000, function, words)
    op.destroy_attr(attr)


@pytest.mark.parametrize("kind", GOOD)
def test_attributes_without_set_or_name(kind):
    attr = op.create_attr()
    function = getattr(lib, f"aclopSetAttr{kind}")
    refused(function(NULL, b"name", *GOOD[kind]), 100000, "attr is NULL")
    refused(function(pointer(attr), NULL, *GOOD[kind]), 100000, "attrName is NULL")
    assert function(pointer(attr), b"name", *GOOD[kind]) == 0
    op.destroy_attr(attr)
    if acl.is_simulator:
        refused(function(pointer(attr), b"name", *GOOD[kind]), 100000, "attr is a destroyed set of attributes")
    assert op.destroy_attr(0) is None
