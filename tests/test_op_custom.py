"""What surrounds single operators: options of their compiler, their models, kernels and who chooses them."""

import pytest
from helpers.expect import NULL, pointer, refused

import acl
from acl._lib import ffi, lib
from acl.sim import om

op = acl.op
OPTIONS = range(17)
AUTO_TUNE = 2


def option(number):
    """Return the text of an option, read as documented."""
    size = lib.aclGetCompileoptSize(number)
    text = ffi.new("char[]", size)
    assert lib.aclGetCompileopt(number, text, size) == 0
    return ffi.string(text)


@pytest.mark.parametrize("number", [number for number in OPTIONS if number != AUTO_TUNE])
def test_an_option_is_kept(number):
    assert lib.aclSetCompileopt(number, b"first value") == 0
    assert option(number) == b"first value"
    assert lib.aclSetCompileopt(number, b"") == 0
    assert option(number) == b"" and lib.aclGetCompileoptSize(number) == 1


def test_options_are_refused():
    text = ffi.new("char[]", 8)
    refused(lib.aclSetCompileopt(AUTO_TUNE, b"RL"), 200006, "ACL_AUTO_TUNE_MODE")
    refused(lib.aclSetCompileopt(0, NULL), 100000, "value is NULL")
    for number in (17, 1000):
        refused(lib.aclSetCompileopt(number, b"1"), 500000, f"opt is {number}, expected 0 to 16")
        refused(lib.aclGetCompileopt(number, text, 8), 200001, f"opt is {number}")
        assert lib.aclGetCompileoptSize(number) == 0
    refused(lib.aclGetCompileopt(AUTO_TUNE, text, 8), 200001, "opt is 2")
    refused(lib.aclGetCompileopt(0, NULL, 8), 100000, "value is NULL")
    assert lib.aclSetCompileopt(0, b"12345678") == 0
    refused(lib.aclGetCompileopt(0, text, 8), 500001, "length is 8, expected at least the 9")
    assert lib.aclSetCompileopt(0, b"") == 0


@pytest.mark.parametrize("flag", [0, 1])
def test_compile_flags(flag):
    assert lib.aclopSetCompileFlag(flag) == 0
    refused(lib.aclopSetCompileFlag(flag + 2), 100000, f"flag is {flag + 2}")


def test_the_number_of_operators():
    assert op.set_max_op_queue_num(1) == 0
    refused(op.set_max_op_queue_num(0), 100000, "aclopSetMaxOpQueueNum", "maxOpNum is 0")


# ---- models of operators ----


@pytest.fixture(scope="module")
def model_bytes():
    """Make the bytes of a model file."""
    return om.write("add", [om.Tensor("x", [4])], [om.Tensor("y", [4])])


def load(content):
    """Load the bytes of a model."""
    return op.load(acl.util.bytes_to_ptr(content), len(content))


def test_a_model_is_loaded(model_bytes):
    assert load(model_bytes) == 0, acl.get_recent_err_msg()


def test_models_are_refused(model_bytes):
    refused(op.load(0, 4), 100000, "aclopLoad", "model is NULL")
    refused(op.load(acl.util.bytes_to_ptr(model_bytes), 0), 100000, "modelSize is 0")
    refused(load(b"no model" * 40), 100013, "are not a model file")
    refused(load(model_bytes[:300]), 100013, "are not a model file")
    refused(load(om.container([(om.WEIGHTS, b"")])), 100012, "cannot be read")


@pytest.mark.needs_sim
class TestModelFolders:
    @pytest.fixture(autouse=True)
    def fresh(self):
        """Forget the folder, which can be set once per process."""
        acl.sim.reset()
        yield
        acl.sim.reset()

    def test_a_folder_is_set_once(self, tmp_path, model_bytes):
        (tmp_path / "one" / "two").mkdir(parents=True)
        (tmp_path / "one" / "two" / "add.om").write_bytes(model_bytes)
        (tmp_path / "one" / "notes.txt").write_bytes(b"no model")
        assert op.set_model_dir(str(tmp_path)) == 0, acl.get_recent_err_msg()
        refused(op.set_model_dir(str(tmp_path)), 100002, "aclopSetModelDir", "has been set before")

    def test_three_levels_are_looked_through(self, tmp_path):
        deep = tmp_path / "one" / "two" / "three"
        deep.mkdir(parents=True)
        (deep / "bad.om").write_bytes(b"no model")
        assert op.set_model_dir(str(tmp_path)) == 0
        acl.sim.reset()
        (tmp_path / "one" / "two" / "bad.om").write_bytes(b"no model")
        refused(op.set_model_dir(str(tmp_path)), 100013, "are not a model file")
        (tmp_path / "one" / "two" / "bad.om").unlink()
        assert op.set_model_dir(str(tmp_path)) == 0

    def test_folders_are_refused(self, tmp_path):
        refused(lib.aclopSetModelDir(NULL), 100000, "modelDir is NULL")
        refused(op.set_model_dir(str(tmp_path / "none")), 100014, "is not a readable directory")
        (tmp_path / "file").write_bytes(b"")
        refused(op.set_model_dir(str(tmp_path / "file")), 100014, "is not a readable directory")

    def test_the_950_has_none_since_9_1(self, tmp_path):
        acl.sim.configure(soc="Ascend910_95")
        refused(op.set_model_dir(str(tmp_path)), 207000, "no longer supports models of single operators")
        acl.sim.configure(cann="9.0")
        assert op.set_model_dir(str(tmp_path)) == 0


# ---- kernels of the user's ----


@pytest.fixture
def chooser():
    """Give ``chooser(function)``, which registers who chooses the kernels of type ``Custom``."""

    def register(function):
        assert op.register_compile_func("Custom", function) == 0

    yield register
    op.unregister_compile_func("Custom")


def update(single=()):
    """Let the kernel of ``Custom`` be chosen."""
    return op.update_params("Custom", list(single), list(single), 0)


BINARY = b"\x7fELF"


def test_a_kernel_is_chosen(chooser):
    desc, attr = acl.create_tensor_desc(0, [2, 3], 2), op.create_attr()
    seen = []

    def choose(inputs, input_descs, outputs, output_descs, attribute, kernel):
        seen.append((inputs, input_descs, outputs, output_descs, attribute))
        assert op.set_kernel_args(kernel, "chosen", 8, acl.util.bytes_to_ptr(BINARY), 4) == 0
        sizes = b"\x10" + bytes(7)
        assert op.set_kernel_workspace_sizes(kernel, 1, acl.util.bytes_to_ptr(sizes)) == 0
        seen.append(kernel)
        return 0

    chooser(choose)
    assert op.create_kernel("Custom", "chosen", "entry", acl.util.bytes_to_ptr(BINARY), 4, 1, 0) == 0
    assert op.update_params("Custom", [desc, desc], [desc], attr) == 0, acl.get_recent_err_msg()
    assert seen[0] == (2, [desc, desc], 1, [desc], attr)
    if acl.is_simulator:
        refused(op.set_kernel_args(seen[1], "chosen", 8, 0, 0), 100000, "kernelDesc is a destroyed kernel description")
        refused(op.set_kernel_workspace_sizes(seen[1], 0, 0), 100000, "kernelDesc is a destroyed kernel description")
    again = op.create_kernel("Custom", "chosen", "entry", acl.util.bytes_to_ptr(BINARY), 4, 1, 0)
    refused(again, 100031, "aclopCreateKernel", "kernelId is chosen")
    op.destroy_attr(attr)
    acl.destroy_tensor_desc(desc)


def test_what_choosing_kernels_refuses(chooser):
    refused(update(), 100028, "aclopUpdateParams", "opType is Custom, which has no function")
    refused(op.unregister_compile_func("Custom"), 100028, "opType is Custom")
    refused(lib.aclopUnregisterCompileFunc(NULL), 100000, "opType is NULL")
    chooser(lambda *arguments: 0)
    refused(op.register_compile_func("Custom", lambda *arguments: 0), 100030, "opType is Custom")
    refused(update(), 100029, "the function of Custom chose kernel none")
    op.unregister_compile_func("Custom")
    chooser(lambda *arguments: op.set_kernel_args(arguments[-1], "unknown", 1, 0, 0))
    refused(update(), 100029, "the function of Custom chose kernel unknown")
    op.unregister_compile_func("Custom")
    chooser(lambda *arguments: 77)
    refused(update(), 77, "the function of Custom returned 77")


# Arguments of aclopCreateKernel, words of the message.
HOOK = ffi.callback("aclopCompileFunc", lambda *arguments: 0)
KERNELS = [
    ((NULL, b"id", b"name", BINARY, 4, 0, NULL), "opType is NULL"),
    ((b"Custom", NULL, b"name", BINARY, 4, 0, NULL), "kernelId is NULL"),
    ((b"Custom", b"id", NULL, BINARY, 4, 0, NULL), "kernelName is NULL"),
    ((b"Custom", b"id", b"name", NULL, 4, 0, NULL), "binData is NULL"),
    ((b"Custom", b"id", b"name", BINARY, 0, 0, NULL), "binSize is 0"),
    ((b"Custom", b"id", b"name", BINARY, 4, 3, NULL), "enginetype is 3"),
    ((b"Custom", b"id", b"name", BINARY, 4, 99, NULL), "enginetype is 99"),
]


@pytest.mark.parametrize(("arguments", "words"), KERNELS)
def test_kernels_that_cannot_be_created(arguments, words):
    refused(lib.aclopCreateKernel(*arguments), 100000, "aclopCreateKernel", words)


def test_functions_that_cannot_be_registered(chooser):
    refused(lib.aclopRegisterCompileFunc(NULL, HOOK), 100000, "opType is NULL")
    refused(lib.aclopRegisterCompileFunc(b"Custom", ffi.cast("aclopCompileFunc", 0)), 100000, "func is NULL")


def test_kernel_descriptions_that_are_none():
    refused(lib.aclopSetKernelArgs(NULL, b"id", 1, NULL, 0), 100000, "kernelDesc is NULL")
    refused(lib.aclopSetKernelWorkspaceSizes(NULL, 0, NULL), 100000, "kernelDesc is NULL")
    refused(lib.aclopSetKernelArgs(pointer(5), NULL, 1, NULL, 0), 100000, "kernelId is NULL")
    refused(lib.aclopSetKernelArgs(pointer(5), b"id", 1, NULL, 4), 100000, "args is NULL with argSize 4")
    refused(lib.aclopSetKernelWorkspaceSizes(pointer(5), -1, NULL), 100000, "numWorkspaces is -1")
    refused(lib.aclopSetKernelWorkspaceSizes(pointer(5), 1, NULL), 100000, "workspaceSizes is NULL")


@pytest.mark.needs_sim
def test_binaries_are_given_back():
    seen = []
    deallocator = ffi.callback("aclDataDeallocator", lambda data, size: seen.append(ffi.buffer(data, size)[:]))
    data = ffi.new("char[]", BINARY)
    assert lib.aclopCreateKernel(b"Custom", b"other", b"name", data, 4, 0, deallocator) == 0
    assert seen == []
    acl.sim.reset()
    assert seen == [BINARY]
