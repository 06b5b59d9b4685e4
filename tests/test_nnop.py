"""The calls of acl.nnop: how arguments reach C, what is refused, and how the builtins look to Python."""

import ctypes
import inspect
import pickle

import numpy
import pytest

from acl import _acl, nnop
from acl.phases import kinds_of, prototype_of

NULLPTR = 161001
KINDS = sorted({kinds_of(ctype for ctype, _, _ in made["parameters"]) for made in nnop._operators().values()})
# By kind: the C type, and a function that makes an argument from a number below 100.
SAMPLES = {
    "b": (ctypes.c_bool, lambda number: number % 3 == 0),
    "c": (ctypes.c_int8, lambda number: number - 128),
    "i": (ctypes.c_int32, lambda number: number - 2**31),
    "u": (ctypes.c_uint32, lambda number: 2**32 - 1 - number),
    "l": (ctypes.c_int64, lambda number: number - 2**63),
    "q": (ctypes.c_uint64, lambda number: 2**64 - 1 - number),
    "f": (ctypes.c_float, lambda number: number + 0.5),
    "d": (ctypes.c_double, lambda number: -number - 1 / 3),
    "t": (ctypes.c_char_p, lambda number: f"text {number}"),
}
CONVOLUTION = ["input", "weight", "bias", "stride", "padding", "dilation", "transposed", "output_padding", "groups",
               "output", "cube_math_type"]  # fmt: skip


def test_every_prototype_passes_every_argument():
    for kinds in KINDS:
        seen = []

        def phase(*arguments, seen=seen):
            *given, size, executor = arguments
            seen += given
            size[0], executor[0] = 2**40 + 1, 2**63 + 2
            return -5

        outputs = [ctypes.POINTER(ctypes.c_uint64)] * 2
        function = ctypes.CFUNCTYPE(ctypes.c_int, *(SAMPLES[kind][0] for kind in kinds), *outputs)(phase)
        address = ctypes.cast(function, ctypes.c_void_p).value
        call = _acl.phase("acl.nnop.sample", "sample()", kinds, prototype_of(kinds), address)
        given = [SAMPLES[kind][1](number) for number, kind in enumerate(kinds)]
        assert call(*given) == (2**40 + 1, 2**63 + 2, -5)
        assert seen == [value.encode() if isinstance(value, str) else value for value in given], kinds


def test_an_unknown_prototype():
    with pytest.raises(SystemError, match=r"acl\.nnop\.sample\(\) has the unknown prototype bbbbb: build the package"):
        _acl.phase("acl.nnop.sample", "sample()", "bbbbb", "bbbbb", 1)


def convolution(**changed):
    """Call it with arguments that leave out everything that can be left out."""
    return nnop.convolution_get_workspace_size(*({**dict.fromkeys(CONVOLUTION, 0), **changed}.values()))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("input", "x", "argument 1 must be int, not 'str'"),
        ("input", 1.0, "argument 1 must be int, not 'float'"),
        ("bias", None, "argument 3 must be int, not 'NoneType'"),
        ("transposed", 2, "argument 7 must be an int from 0 to 1, not 2"),
        ("transposed", 1.0, "argument 7 must be int, not 'float'"),
        ("transposed", "x", "argument 7 must be int, not 'str'"),
        ("groups", 2**63, "argument 9 must be an int from -9223372036854775808 to 9223372036854775807, not 9"),
        ("cube_math_type", 128, "argument 11 must be an int from -128 to 127, not 128"),
        ("cube_math_type", -129, "argument 11 must be an int from -128 to 127, not -129"),
    ],
)
def test_wrong_arguments(name, value, words):
    with pytest.raises(TypeError, match=rf"^acl\.nnop\.convolution_get_workspace_size\(\) {words}"):
        convolution(**{name: value})


def test_wrong_numbers_and_texts():
    with pytest.raises(TypeError, match=r"layer_norm_get_workspace_size\(\) argument 5 must be float, not 'str'"):
        nnop.layer_norm_get_workspace_size(0, 0, 0, 0, "x", 0, 0, 0)
    with pytest.raises(ValueError, match=r"argument 3 must not contain a null character"):
        nnop.gelu_backward_v2_get_workspace_size(0, 0, "a\0b", 0)
    for text in ("tanh", b"tanh", "", None, 0):
        assert nnop.gelu_backward_v2_get_workspace_size(0, 0, text, 0)[2] == NULLPTR


@pytest.mark.parametrize("truth", [True, 1, numpy.bool_(True), numpy.int8(1)])
def test_truth_values(truth):
    assert convolution(transposed=truth, groups=numpy.int64(1), cube_math_type=True)[2] == NULLPTR


def test_an_argument_that_raises_passes_its_error_on():
    class Broken:
        def __index__(self):
            raise LookupError("no number")

        __float__ = __index__

    for name in ("input", "transposed", "groups"):
        with pytest.raises(LookupError, match="no number"):
            convolution(**{name: Broken()})
    with pytest.raises(LookupError, match="no number"):
        nnop.add(0, 0, Broken(), 0)


def test_python_sees_functions_of_the_module():
    for call, name in ((nnop.add, "add"), (nnop.add_get_workspace_size, "add_get_workspace_size")):
        assert (call.__module__, call.__name__, call.__qualname__) == ("acl.nnop", name, name)
        assert inspect.isbuiltin(call) and repr(call) == f"<built-in function {name}>"
        assert pickle.loads(pickle.dumps(call)) is call


def test_every_signature():
    for name, made in nnop._operators().items():
        try:
            call = getattr(nnop, f"{name}_get_workspace_size")
        except AttributeError:  # a version does not have all of them
            continue
        assert list(inspect.signature(call).parameters) == [parameter for _, parameter, _ in made["parameters"]]
