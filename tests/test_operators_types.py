"""The data types that the library reports for kernels are those that the first phase of their operators accepts."""

import re

import pytest
from helpers.tables import every

import acl
from acl import nnop, operators
from acl.data_types import DATA_TYPES

pytestmark = pytest.mark.needs_sim
ND, INT64 = 2, 9
TYPES = {code: kind.name for code, kind in DATA_TYPES.items() if code >= 0 and kind.bits}
SHAPES = [(1,), (1, 1), (1, 1, 1, 1)]


class Arguments:
    """Arguments for any operator: all tensors are the same, of one type and shape."""

    def __init__(self):
        self.ends = []
        self.one = (1).to_bytes(8, "little")
        self.fixed = {
            "aclScalar": self.keep(self.scalar(), acl.destroy_scalar),
            "aclScalarList": self.keep(acl.create_scalar_list([self.scalar()]), acl.destroy_scalar_list),
            "aclIntArray": self.keep(acl.create_int_array([1]), acl.destroy_int_array),
            "aclFloatArray": self.keep(acl.create_float_array([1.0]), acl.destroy_float_array),
            "aclBoolArray": self.keep(acl.create_bool_array([1]), acl.destroy_bool_array),
        }
        self.address, ret = acl.rt.malloc(4096, 0)
        assert ret == 0
        self.tensors = {}

    def scalar(self):
        """Return a new scalar, 1."""
        return acl.create_scalar(acl.util.bytes_to_ptr(self.one), INT64)

    def keep(self, handle, end):
        """Note how a handle is destroyed, and return it."""
        assert handle
        self.ends.append((end, handle))
        return handle

    def tensor(self, code, shape):
        """Return a tensor and a list of it."""
        if (code, shape) not in self.tensors:
            strides = [shape[-1] ** place for place in reversed(range(len(shape)))]
            pair = [acl.create_tensor(list(shape), code, strides, 0, ND, list(shape), self.address) for _ in range(2)]
            self.keep(pair[0], acl.destroy_tensor)
            self.tensors[code, shape] = pair[0], self.keep(acl.create_tensor_list(pair[1:]), acl.destroy_tensor_list)
        return self.tensors[code, shape]

    def of(self, schema, code, shape, number):
        """Return the arguments of an operator; all its integers are ``number``."""
        tensor, tensors = self.tensor(code, shape)
        known = {**self.fixed, "aclTensor": tensor, "aclTensorList": tensors}
        names = (re.sub(r"const|[* ]", "", ctype) for ctype, _, _ in schema["parameters"])
        return [
            known.get(name, b"" if name == "char" else 1.0 if name in ("double", "float") else number) for name in names
        ]

    def close(self):
        """Destroy everything."""
        for end, handle in self.ends[::-1]:
            assert end(handle) == 0
        acl.rt.free(self.address)


@pytest.fixture(scope="module")
def arguments():
    assert acl.rt.set_device(0) == 0
    made = Arguments()
    yield made
    made.close()
    acl.rt.reset_device_force(0)


def refusal(arguments, python, schema, code, shape, number):
    """Return the message of the first phase, "" if it accepts the call."""
    acl.get_recent_err_msg()
    first = getattr(nnop, f"{python}_get_workspace_size")
    _, executor, ret = first(*arguments.of(schema, code, shape, number))
    if ret == 0:
        assert acl.destroy_acl_op_executor(executor) == 0
    return "" if ret == 0 else acl.get_recent_err_msg()


KNOWN = {python: schema for python, schema in nnop._operators().items() if operators.load()[schema["name"]].takes}


@every(python=KNOWN)
def test_types_are_those_that_the_first_phase_accepts(arguments, python):
    schema = KNOWN[python]
    takes = operators.load()[schema["name"]].takes
    first = next(name for ctype, name, role in schema["parameters"] if "Tensor" in ctype and "in" in role)
    name = re.sub(r"_(\w)", lambda found: found[1].upper(), first)
    wrong = re.compile(rf"because {name}(\[0\])? has data type ")
    for code, kind in TYPES.items():
        texts = [refusal(arguments, python, schema, code, shape, number) for shape in SHAPES for number in (0, 1)]
        if kind in takes:
            assert not all(wrong.search(text) for text in texts), texts[0]
        else:
            assert all(texts), kind


@pytest.mark.parametrize(
    "name, takes",
    [
        ("Softmax", "bfloat16 float16 float32 float64"),
        ("Matmul", "bfloat16 float16 float32"),
        ("QuantMatmulV4", "int4 int8 int32"),
        ("Unique2", "bfloat16 bool float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64"),
        ("PromptFlashAttention", "bfloat16 float16"),
        ("LinalgQr", "complex128 complex64 float16 float32 float64"),
        ("MoeInitRouting", "bfloat16 float16 float32"),
    ],
)
def test_kernels_that_check_types_themselves_are_asked(name, takes):
    found = operators.load()[f"aclnn{name}"]
    assert sorted(found.takes) == sorted(takes.split())


def test_nearly_all_kernels_have_types():
    kernels = [one for one in operators.load().values() if one.kernel]
    unknown = [one.name for one in kernels if not one.types]
    assert len(unknown) <= 20, unknown
    for name in unknown:
        assert "types    checked case by case: " in operators.ops_command(operators.named(name), detail=True)


def test_asking_leaves_no_message():
    acl.get_recent_err_msg()
    assert acl.sim.kernel_types("aclnnSoftmax")[0]
    assert not acl.get_recent_err_msg()
