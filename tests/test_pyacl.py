"""Every pyACL call exists, takes the documented arguments and gives the documented shape."""

import ast
import csv
import importlib.util
import inspect
import pickle
import re
from pathlib import Path

import numpy
import pytest
from helpers.tables import each

import acl
from acl import abi, gil
from acl.api import group

ROWS = list(csv.DictReader((Path(__file__).parent / "abi_facts" / "pyacl.csv").read_text().splitlines()))
SPLIT = re.compile(r", (?=\w+: )")
ABI = abi.load()
SHAPES = {shape.path: shape for function in ABI.functions.values() for shape in function.shapes}
BUILTINS = [row for row in ROWS if row["c_function"]]

# A value of each documented type that no call can take for a live object.
SAMPLES = {
    "int": 0,
    "str": "x",
    "float": 1.0,
    "dict": {"dimCount": 1, "dims": [1]},
    "list[int]": [0],
    "list[float]": [0.5],
    "list[str]": ["a"],
    "list[list[int]]": [[0, 0]],
    "list[dict]": [],
    "callable": lambda *arguments: None,
    "object": 0,
    "int or str": 0,
    "str (optional)": "/no/such/file",
    "callable (optional)": None,
}
RESULTS = {
    "int": int, "str": str, "float": float, "dict": dict, "list": list, "bytes": bytes, "numpy.ndarray": numpy.ndarray,
}  # fmt: skip
# Calls with an effect on the whole process that other tests would see, and the one that raises when it fails.
WIDE = {"acl.init", "acl.finalize", "acl.finalize_reference", "acl.rt.get_group_info_detail"}


def call_of(row):
    found = acl
    for name in row["python"].split(".")[1:]:
        found = getattr(found, name)
    return found


def namespace(row):
    return row["python"].rpartition(".")[0]


def kinds(text):
    inside = text[1:-1] if text.startswith("(") else text
    return [part.split(": ", 1)[1] for part in SPLIT.split(inside)] if inside else []


def required(row):
    return [kind for kind in kinds(row["args"]) if "optional" not in kind]


def test_all_rows_are_here():
    assert len(ROWS) == 413


@each(ROWS, namespace)
def test_signature(row):
    parameters = inspect.signature(call_of(row)).parameters.values()
    assert len(parameters) == len(kinds(row["args"]))
    assert all(parameter.kind is parameter.POSITIONAL_ONLY for parameter in parameters)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", parameter.name) for parameter in parameters)


@each(BUILTINS, namespace)
def test_builtin(row):
    call = call_of(row)
    assert inspect.isbuiltin(call)
    assert f"{call.__module__}.{call.__name__}" == row["python"]
    assert row["c_function"] in call.__doc__
    assert pickle.loads(pickle.dumps(call)) is call


@each(ROWS, namespace)
def test_count_and_keywords(row):
    call = call_of(row)
    least, most = len(required(row)), len(kinds(row["args"]))
    with pytest.raises(TypeError):
        call(keyword=1)
    if most and row["python"] not in WIDE:
        with pytest.raises(TypeError, match=rf"{row['python'].rpartition('.')[2]}\(\)"):
            call(*[0] * (most + 1))
    if least:
        with pytest.raises(TypeError):
            call()


@each(BUILTINS, namespace)
def test_wrong_types(row):
    call, wanted = call_of(row), kinds(row["args"])
    for place, kind in enumerate(wanted):
        arguments = [SAMPLES[kind] for kind in wanted]
        for wrong in (None, "text", 1.5, [1], {}, object()):
            if accepts(kind, wrong):
                continue
            arguments[place] = wrong
            with pytest.raises(TypeError) as caught:
                call(*arguments)
            assert f"{row['python']}() argument {place + 1} " in str(caught.value)


def accepts(kind, value):
    """Tell whether a value is of a documented type (lists and dicts are looked into by other tests)."""
    types = {
        "object": object,
        "int or str": (int, str),
        "float": (int, float),
        "callable (optional)": type(None),
        "str (optional)": str,
    }
    return isinstance(value, types.get(kind) or {"int": int, "str": str, "dict": dict}.get(kind, list))


@pytest.fixture
def put_back(monkeypatch, tmp_path):
    """Undo what reaches further than a call: files where the program runs, profiling, the mode of the process."""
    monkeypatch.chdir(tmp_path)
    mode, ret = acl.rt.get_device_sat_mode()
    assert ret == 0
    yield
    acl.prof.finalize()
    assert acl.rt.set_device_sat_mode(mode) == 0


def check_shape(row, result):
    """Assert that a result has the documented shape."""
    returns = row["returns"]
    if returns == "None":
        assert result is None
        return
    outputs = kinds(returns)
    given = result if returns.startswith("(") else (result,)
    assert type(given) is tuple and len(given) == len(outputs)
    for value, kind in zip(given, outputs):
        assert value is None or isinstance(value, RESULTS[kind.partition("[")[0]])


@pytest.mark.strict
@pytest.mark.parametrize("row", [row for row in BUILTINS if row["python"] not in WIDE], ids=lambda row: row["python"])
def test_return_shape(row, put_back):
    """No call has anything to work on here; its answer has the documented shape all the same."""
    check_shape(row, call_of(row)(*[SAMPLES[kind] for kind in kinds(row["args"])]))


@pytest.mark.strict
@pytest.mark.parametrize("name", sorted(WIDE - {"acl.rt.get_group_info_detail"}))
def test_return_shape_of_wide_calls(run_script, name):
    """Each in a process of its own."""
    done = run_script(f"import acl; acl.init(); print({name}())")
    assert done.returncode == 0, done.stderr
    (row,) = (row for row in ROWS if row["python"] == name)
    check_shape(row, ast.literal_eval(done.stdout))


@pytest.mark.filterwarnings("ignore:.*deprecated")
@pytest.mark.parametrize("row", [row for row in ROWS if not row["c_function"]], ids=lambda row: row["python"])
def test_return_shape_of_helpers(row):
    """These stand on no C function, so they need what they work on."""
    array = numpy.zeros((2, 2), "f4")
    thread, ret = acl.util.start_thread(lambda arguments: None, [])
    assert ret == 0
    arguments = {
        "acl.util.numpy_to_ptr": (array,),
        "acl.util.numpy_contiguous_to_ptr": (array.T,),
        "acl.util.ptr_to_numpy": (array.ctypes.data, (2, 2), 11),
        "acl.util.bytes_to_ptr": (b"bytes",),
        "acl.util.ptr_to_bytes": (array.ctypes.data, 4),
        "acl.util.start_thread": (lambda arguments: None, []),
        "acl.util.stop_thread": (thread,),
    }
    result = call_of(row)(*arguments[row["python"]])
    check_shape(row, result)
    for one in (thread, result[0] if row["python"] == "acl.util.start_thread" else thread):
        acl.util.stop_thread(one)


@pytest.mark.strict
def test_group_detail_raises():
    with pytest.raises(RuntimeError, match="get_group_info_detail"):
        acl.rt.get_group_info_detail(0, 0, 0)


def test_return_shape_of_the_group_detail(monkeypatch):
    """No chip has groups for the host, so only a library that is made up can answer."""

    class Library:
        @staticmethod
        def aclrtGetGroupInfoDetail(info, index, attribute, numbers, size, used):
            numbers[0], numbers[1], used[0] = index, attribute, 8
            return 0

    monkeypatch.setattr(group, "lib", Library)
    assert acl.rt.get_group_info_detail(1, 2, 3) == ([2, 3], 0)


@pytest.mark.parametrize("zero", [0, False, numpy.int32(0), numpy.uint64(0)])
def test_integers_of_any_kind(zero):
    assert acl.data_type_size(zero) == 4
    assert acl.get_data_buffer_size(zero) == 0


def test_wide_slots_wrap():
    for value in (-1, 2**64 - 1, 2**70 - 1):
        assert acl.mdl.add_dataset_buffer(value, 0)[0] == 2**64 - 1
    assert acl.mdl.add_dataset_buffer(2**64, 0)[0] == 0


@pytest.mark.parametrize("bits", [0, 15, 29, 30, 31, 45, 59, 60, 61, 63])
def test_wide_slots_keep_every_bit(bits):
    """CPython stores an int in digits of 30 bits."""

    class Number(int):
        pass

    for value in (2**bits - 1, 2**bits, 2**bits + 1, 2**64 - 2**bits):
        for given in (value, Number(value), numpy.uint64(value % 2**64)):
            assert acl.mdl.add_dataset_buffer(given, 0)[0] == value % 2**64


@pytest.mark.parametrize("value", [-(2**31), -1, 0, 1, 2**30 - 1, 2**30, 2**31 - 1])
def test_signed_slots_take_what_fits(value):
    desc = acl.create_tensor_desc(0, [1], value)
    assert acl.get_tensor_desc_format(desc) == value
    acl.destroy_tensor_desc(desc)


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**80])
def test_signed_slots_must_fit(value):
    with pytest.raises(TypeError, match=r"set_device\(\) argument 1 must be an int from -2147483648 to 2147483647"):
        acl.rt.set_device(value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: acl.app_log(-1, "below the lowest level"),
        lambda: acl.get_cann_version(-1)[1],
        lambda: acl.rt.mem_get_allocation_granularity({}, -1)[1],
    ],
)
def test_enumerations_take_negative_numbers(call):
    """C has no such enumerator, but the slot does: it is the library that refuses."""
    assert call() != 0


def test_small_unsigned_slots_must_fit():
    attr = acl.op.create_attr()
    with pytest.raises(TypeError, match="0 to 255"):
        acl.op.set_attr_bool(attr, "name", 256)
    with pytest.raises(TypeError, match="0 to 255"):
        acl.op.set_attr_list_bool(attr, "name", [1, 300])
    acl.op.destroy_attr(attr)


def test_an_index_that_raises_passes_its_error_on():
    class Broken:
        def __index__(self):
            raise LookupError("no number")

    with pytest.raises(LookupError, match="no number"):
        acl.rt.free(Broken())
    with pytest.raises(LookupError, match="no number"):
        acl.rt.set_device(Broken())


def test_texts():
    with pytest.raises(ValueError, match="null character"):
        acl.mdl.load_from_file("a\0b")
    with pytest.raises(UnicodeEncodeError):
        acl.mdl.load_from_file("\udc80")


def test_lists():
    call = acl.op.execute_v2
    with pytest.raises(TypeError, match="argument 2 must be list, not 'tuple'"):
        call("Add", (0,), [0], [], [], 0, 0)
    with pytest.raises(TypeError, match="argument 3 must be int, not 'str'"):
        call("Add", [0], ["x"], [], [], 0, 0)
    with pytest.raises(ValueError, match="input_desc and inputs of the same length"):
        call("Add", [0, 0], [0], [], [], 0, 0)
    with pytest.raises(TypeError, match="lists of 2 int, item 1"):
        acl.set_tensor_shape_range(0, [[1, 2], [3]])
    with pytest.raises(TypeError, match="list"):
        acl.rt.launch_kernel_with_config(0, 1, 0, [1], 0, 0)


def test_a_list_that_shrinks_while_it_is_read():
    items = []

    class Shrinks:
        def __index__(self):
            items.clear()
            return 1

    items += [Shrinks(), 2, 3]
    assert isinstance(acl.rt.notify_batch_reset(items), int)


def test_limits_of_the_binding():
    for call, position in (
        (lambda: acl.rt.notify_get_export_key(0, 1024, 0), 2),
        (lambda: acl.rt.ipc_mem_get_export_key(0, 0, 1024, 0), 3),
        (lambda: acl.rt.get_function_name(0, 1024), 2),
    ):
        with pytest.raises(ValueError, match=f"argument {position} must be below 1024"):
            call()
    assert acl.prof.get_op_type(0, 0, 0, 4097) == ("", 100000)
    assert acl.mdl.get_input_dynamic_dims(0, -1, 4097) == (None, 100000)
    assert acl.get_tensor_desc_dim_range(0, 0, 4097) == (None, 100000)
    assert acl.mdl.create_and_get_op_desc(0, 0, 0, 4097) == ("", 0, 0, 0, 0, 100000)
    for value in (-1, 2**32):
        with pytest.raises(TypeError, match="0 to 4294967295"):
            acl.rt.wait_and_reset_notify(0, 0, value)


def test_handles_are_given_back_first():
    for call, arguments in (
        (acl.mdl.add_dataset_buffer, (5, 6)),
        (acl.mdl.set_dataset_tensor_desc, (5, 6, 0)),
        (acl.op.set_attr_data_type, (5, "name", 0)),
        (acl.op.set_attr_list_data_type, (5, "name", [0])),
        (acl.rt.set_memcpy_desc, (5, 0, 0, 0, 0, 0)),
    ):
        assert call(*arguments)[0] == 5


def test_calls_without_parameters_ignore_positionals():
    assert acl.rt.get_device_count(1, 2, 3) == acl.rt.get_device_count()


def test_namespaces_are_modules():
    import acl.rt as rt
    from acl import util

    assert rt is acl.rt
    assert "bytes_to_ptr" in dir(util)
    assert "malloc" in dir(rt)


def test_stubs_lie_beside_the_module():
    stub = (Path(acl.__file__).parent / "rt.pyi").read_text()
    assert "def malloc(size: int, policy: int, /) -> tuple[int, int]: ..." in stub
    assert "def get_stream_attribute(" in stub
    root = (Path(acl.__file__).parent / "_acl.pyi").read_text()
    assert "def get_soc_name() -> str | None: ..." in root
    assert "class EventOwner(Owner):" in root


def test_stubs_are_current():
    pytest.importorskip("setuptools", reason="the build step needs it")
    spec = importlib.util.spec_from_file_location("build_acl", Path(__file__).parent.parent / "build_acl.py")
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    home = Path(acl.__file__).parent
    for name, text in build.stubs(build.calls_of(ABI)).items():
        assert (home / name).read_text() == text, f"{name} is old: build again"


def test_calls_that_keep_the_gil_are_declared():
    assert gil.PURE | gil.QUICK.keys() | gil.WAITS.keys() <= ABI.functions.keys()
    assert {function.group for function in ABI.functions.values()}.issuperset(gil.DESCRIPTIONS)


def test_shape_texts_reach_the_docstring():
    assert acl.rt.malloc.__doc__.endswith("Calls aclrtMalloc (CANN 8.1). Returns (dev_ptr, ret).")
    assert SHAPES["acl.rt.malloc"].text == "rt.malloc(size, policy) -> (devPtr, ret)"
