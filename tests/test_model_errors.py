"""Errors of models: invalid arguments, invalid files, executions that are not possible, functions that fail."""

import struct

import numpy
import pytest
from helpers.expect import NULL, refused
from helpers.models import Dataset, Model, affine_bytes, describe, initialise, load_bytes
from helpers.programs import run_script

import acl
from acl._lib import ffi, lib
from acl.sim import om
from acl.sim.recording import pairs_of

mdl, rt = acl.mdl, acl.rt
BAD_DATA, BAD_PARAMETER, BAD_PATH, BAD_ID = 145006, 145000, 145002, 145003

pytestmark = pytest.mark.needs_sim


@pytest.fixture(autouse=True)
def process(device):
    initialise()


@pytest.fixture
def model():
    """Load a model that nothing can run."""
    number, ret = load_bytes(affine_bytes())
    assert ret == 0
    model = Model(number)
    yield model
    model.close()


@pytest.fixture
def file(tmp_path):
    """Make a model file."""
    path = tmp_path / "affine.om"
    path.write_bytes(affine_bytes(weights=bytes(4096), work=8192))
    return str(path)


# --- files


def test_paths(tmp_path):
    refused(mdl.load_from_file(str(tmp_path / "none.om"))[1], BAD_PATH, "none.om", "No such file")
    refused(mdl.load_from_file(str(tmp_path))[1], BAD_PATH, "is not a regular file")
    (tmp_path / "empty.om").touch()
    refused(mdl.load_from_file(str(tmp_path / "empty.om"))[1], BAD_DATA, "empty")
    refused(mdl.query_size(str(tmp_path / "none.om"))[2], BAD_PATH, "aclmdlQuerySize")
    desc = mdl.create_desc()
    refused(mdl.get_desc_from_file(desc, str(tmp_path / "none.om")), BAD_PATH, "aclmdlGetDescFromFile")
    mdl.destroy_desc(desc)


@pytest.mark.parametrize("described", [True, False])
def test_ports_are_at_least_as_large_as_their_shapes(described):
    x, y = om.Tensor("x", (4, 2)), om.Tensor("y", (4, 2))
    for inputs, outputs, kind in (([x._replace(size=31)], [y], "input"), ([x], [y._replace(size=1)], "output")):
        _, ret = load_bytes(om.write("small", inputs, outputs, described=described))
        size = inputs[0].size or outputs[0].size
        refused(ret, BAD_PARAMETER, f"{kind} 0 of the model has {size} bytes, expected at least the 32 of its shape")
    number, ret = load_bytes(om.write("large", [x._replace(size=32)], [y._replace(size=64)], described=described))
    assert ret == 0, acl.get_recent_err_msg()
    assert mdl.unload(number) == 0


def test_ports_are_at_least_as_large_as_their_largest_gear():
    gears = om.Gears(om.BATCH, [[1], [8]])
    _, ret = load_bytes(om.write("small", [om.Tensor("x", (-1, 2), size=8)], [om.Tensor("y", (1,))], gears=gears))
    refused(ret, BAD_PARAMETER, "input 0 of the model has 8 bytes, expected at least the 64 of its shape")


@pytest.mark.parametrize("dims", [(2**62, 2**62), (2**61, 8), (2**63 - 1,) * 8, (1, 2**62)])
def test_shapes_that_no_memory_holds(dims):
    _, ret = load_bytes(om.write("huge", [om.Tensor("x", dims, size=8)], [om.Tensor("y", (2,))]))
    refused(ret, BAD_PARAMETER, "input 0 of the model has more bytes than 64 bits can count")


@pytest.mark.parametrize("dims", [(0, 2**62, 2**62), (-1, 2**62, 2**62), (-(2**63), -(2**63)), (2**62, -(2**63), 4)])
def test_strides_of_absurd_shapes(dims):
    x, y = om.Tensor("x", dims, size=8), om.Tensor("y", (2,))
    number, ret = load_bytes(om.write("absurd", [x], [y], weights=pairs_of([]), executor="recorded"))
    assert ret == 0, acl.get_recent_err_msg()
    model = Model(number)
    refused(model.execute(), 507011, "were not recorded")  # what the sanitizers see is that nothing overflows
    model.close()


@pytest.mark.parametrize("wide", [True, False])
def test_truncated_files(tmp_path, wide):
    content = affine_bytes(weights=bytes(1000), wide=wide)
    path = tmp_path / "cut.om"
    for size in [*range(1, len(content), 64), len(content) - 1]:
        path.write_bytes(content[:size])
        assert mdl.load_from_file(str(path))[1] == BAD_DATA, size
        assert mdl.query_size(str(path))[2] == BAD_DATA, size
        assert load_bytes(content[:size])[1] == (100000 if size < 256 else BAD_DATA), size
    path.write_bytes(content + b"x")
    refused(mdl.load_from_file(str(path))[1], BAD_DATA, "announces", f"{len(content) - 256}", f"{len(content) - 255}")


def damaged(at, form, value, **options):
    content = bytearray(affine_bytes(weights=bytes(100), **options))
    struct.pack_into(form, content, at, value)
    return bytes(content)


def test_wrong_magic():
    refused(load_bytes(damaged(0, "<I", 0x464C457F))[1], BAD_DATA, "0x464c457f", "0x444f4d49")


@pytest.mark.parametrize("wide", [True, False])
def test_huge_counts(wide):
    for count in (0, 9, 4096, 0xFFFFFFFF):
        refused(load_bytes(damaged(256, "<I", count, wide=wide))[1], BAD_PARAMETER, f"{count} partitions")
    size = 256 + 8 + 16 if wide else 256 + 4 + 8
    for value in (0xFFFFFF00, 5000):
        refused(load_bytes(damaged(size, "<I", value, wide=wide))[1], BAD_DATA, "partition 0")


def test_more_partitions_than_bytes():
    content = om.container([(om.MODEL_DEF, b"")] * 3)
    header = bytearray(content)
    struct.pack_into("<I", header, 256, 8)
    refused(load_bytes(bytes(header))[1], BAD_DATA, "8 partitions")


def inout(content):
    """Return a model whose description of inputs and outputs is this."""
    parts = [(om.MODEL_DEF, om._bytes(1, b"net")), (om.WEIGHTS, b""), (om.INOUT, content)]
    return om.container(parts, "net")


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"\0", "a piece"),
        (struct.pack("<II", 0, 100), "a piece"),
        (om._piece(om.INPUTS, struct.pack("<I", 0xFFFFFFFF)), "the list of tensors"),
        (om._piece(om.INPUTS, struct.pack("<I", 1) + bytes(20)), "the list of tensors"),
        (om._piece(om.INPUTS, struct.pack("<IQiiIIII", 1, 4, 2, 0, 0xFFFFFFFF, 0, 0, 0)), "a tensor's name"),
        (om._piece(om.INPUTS, struct.pack("<IQiiIIII", 1, 4, 2, 0, 0, 0xFFFFFFF8, 0, 0)), "a tensor's dimensions"),
        (om._piece(om.INPUTS, struct.pack("<IQiiIIII", 1, 4, 2, 0, 0, 0, 0, 0xFFFFFFF0)), "a tensor's ranges"),
        (om._piece(om.BATCH, struct.pack("<I", 0xFFFFFFFF)), "the list of gears"),
        (om._piece(om.BATCH, struct.pack("<IQ", 2, 1)), "the values of gears"),
        (om._piece(om.DIMS, struct.pack("<III", 2, 1, 2) + bytes(24)), "gear 1 of the model has 2 dimensions"),
        (om._piece(om.HW, struct.pack("<II", 1, 3) + bytes(24)), "3 numbers"),
        (om._piece(om.GEAR_OUTPUTS, struct.pack("<I", 0x40000000)), "the shapes of gears' outputs"),
        (om._piece(om.GEAR_OUTPUTS, struct.pack("<II", 1, 4) + b"0,x,"), "the shape of a gear's output"),
        (om._piece(om.BATCH, struct.pack("<I", 2000) + bytes(16000)), "2000 gears"),
        (om._piece(om.INPUTS, om._ports([om.Tensor("x", [1] * 129)])), "129 dimensions"),
        (om._piece(om.INPUTS, om._ports([om.Tensor("x", [1 << 40, 1 << 40])])), "more bytes"),
    ],
)
def test_bad_descriptions(content, word):
    refused(load_bytes(inout(content))[1], BAD_PARAMETER, word)


@pytest.mark.parametrize("definition", [b"\xff" * 11, b"\x0a\x7f", b"\x0b", b"\x09\0", b"\0"])
def test_bad_definitions(definition):
    refused(load_bytes(om.container([(om.MODEL_DEF, definition)]))[1], BAD_PARAMETER, "protobuf")


def test_a_model_without_definition():
    refused(load_bytes(om.container([(om.WEIGHTS, b"w")]))[1], BAD_PARAMETER, "definition")


def test_a_model_that_says_nothing_without_loading():
    content = affine_bytes(described=False)
    desc = mdl.create_desc()
    refused(mdl.get_desc_from_mem(desc, acl.util.bytes_to_ptr(content), len(content)), BAD_PARAMETER, "newer converter")
    assert mdl.get_num_inputs(desc) == 0
    mdl.destroy_desc(desc)


def test_a_model_for_other_chips():
    ret = load_bytes(affine_bytes(soc="Ascend310P3"))[1]
    refused(ret, BAD_PARAMETER, "Ascend910B", "run with ACL_SIM_SOC=Ascend310P3")
    ret = load_bytes(affine_bytes(soc="Ascend310P"))[1]
    refused(ret, BAD_PARAMETER, "run with ACL_SIM_SOC=Ascend310P1")
    ret = load_bytes(affine_bytes(soc="Ascend1"))[1]
    refused(ret, BAD_PARAMETER, "built for Ascend1, and the device is a Ascend910B3 (")
    model, ret = load_bytes(affine_bytes(soc="Ascend910B1"))
    assert ret == 0 and mdl.unload(model) == 0


# --- loading


def test_null_and_sizes():
    content = affine_bytes()
    address = acl.util.bytes_to_ptr(content)
    refused(mdl.load_from_mem(0, len(content))[1], 100000, "aclmdlLoadFromMem", "model is NULL")
    for size in (0, 255):
        refused(mdl.load_from_mem(address, size)[1], 100000, f"modelSize is {size}", "256")
        refused(mdl.query_size_from_mem(address, size)[2], 100000, "aclmdlQuerySizeFromMem", f"modelSize is {size}")
    desc = mdl.create_desc()
    refused(mdl.get_desc_from_mem(desc, address, 0), 100000, "modelSize is 0")
    refused(mdl.get_desc_from_mem(desc, 0, 300), 100000, "model is NULL")
    mdl.destroy_desc(desc)


@pytest.mark.strict
def test_a_model_in_device_memory():
    address = rt.malloc(4096, 0)[0]
    refused(mdl.load_from_mem(address, 4096)[1], BAD_PARAMETER, "device memory")
    handle = mdl.create_config_handle()
    assert mdl.set_config_opt(handle, 3, address) == 0
    refused(mdl.set_config_opt(handle, 2, address), 100000, "device memory")
    assert mdl.destroy_config_handle(handle) == 0
    assert rt.free(address) == 0


def test_memory_that_is_too_small(file):
    work, weight = rt.malloc(8192, 0)[0], rt.malloc(4096, 0)[0]
    model, ret = mdl.load_from_file_with_mem(file, work, 8192, weight, 4096)
    assert ret == 0 and mdl.unload(model) == 0
    refused(mdl.load_from_file_with_mem(file, work, 8191, weight, 4096)[1], BAD_PARAMETER, "workSize is 8191", "8192")
    refused(mdl.load_from_file_with_mem(file, work, 8192, weight, 4095)[1], BAD_PARAMETER, "weightSize is 4095", "4096")
    assert (rt.free(work), rt.free(weight)) == (0, 0)


def test_a_load_that_fails_takes_no_memory(file):
    before = rt.get_mem_info(1)[0]
    for _ in range(5):
        weight = rt.malloc(64, 0)[0]
        assert mdl.load_from_file_with_mem(file, 0, 0, weight, 64)[1] == BAD_PARAMETER
        assert rt.free(weight) == 0
    assert rt.get_mem_info(1)[0] == before


def test_a_process_that_was_not_initialised(tmp_path):
    path = tmp_path / "affine.om"
    path.write_bytes(affine_bytes())
    done = run_script(f"""if True:
        import acl
        assert acl.rt.set_device(0) == 0
        assert acl.mdl.load_from_file({str(path)!r})[1] == 145001
        assert "aclInit" in acl.get_recent_err_msg()
        assert acl.init() == 0
        assert acl.mdl.load_from_file({str(path)!r})[1] == 0
    """)
    assert done.returncode == 0, done.stderr


def test_options(file):
    handle = mdl.create_config_handle()
    refused(mdl.load_with_config(handle)[1], 100000, "ACL_MDL_LOAD_TYPE_SIZET")
    for wrong in (0, 7):
        refused(mdl.set_config_opt(handle, 1, wrong), 100000, f"is {wrong}", "1 to 6")
    assert mdl.set_config_opt(handle, 1, 1) == 0
    refused(mdl.load_with_config(handle)[1], 100000, "ACL_MDL_PATH_PTR")
    assert mdl.set_config_opt(handle, 2, file) == 0
    model, ret = mdl.load_with_config(handle)
    assert ret == 0 and mdl.unload(model) == 0
    assert mdl.set_config_opt(handle, 14, "weights") == 0
    refused(mdl.load_with_config(handle)[1], 100000, "ACL_MDL_WEIGHT_PATH_PTR")
    assert mdl.set_config_opt(handle, 1, 3) == 0
    refused(mdl.load_with_config(handle)[1], 100000, "ACL_MDL_MEM_ADDR_PTR")
    content = affine_bytes()
    assert mdl.set_config_opt(handle, 3, acl.util.bytes_to_ptr(content)) == 0
    assert mdl.set_config_opt(handle, 4, len(content)) == 0
    model, ret = mdl.load_with_config(handle)
    assert ret == 0 and mdl.unload(model) == 0
    for attribute, wrong in [(13, 2), (0, 8), (0, -1), (3, 0), (99, 1)]:
        assert mdl.set_config_opt(handle, attribute, wrong) == 100000, attribute
    assert mdl.destroy_config_handle(handle) == 0
    refused(mdl.destroy_config_handle(handle), 100000, "a destroyed load configuration")
    refused(mdl.load_with_config(0)[1], 100000, "handle is NULL")


def test_a_model_with_open_shapes_needs_its_graph():
    content = om.write("open", [om.Tensor("x", (-1,))], [om.Tensor("y", (-1,))], dynamic=True)
    handle = mdl.create_config_handle()
    for attribute, value in [(1, 3), (3, acl.util.bytes_to_ptr(content)), (4, len(content)), (28, 1)]:
        assert mdl.set_config_opt(handle, attribute, value) == 0
    refused(mdl.load_with_config(handle)[1], 100000, "ACL_MDL_WITHOUT_GRAPH_INT32")
    assert mdl.destroy_config_handle(handle) == 0


def test_attributes_and_parts(model, tmp_path):
    value = ffi.new("aclmdlAttrValue_t *")
    refused(lib.aclmdlGetAttribute(model.id, 1, value), 100000, "attr is 1")
    refused(lib.aclmdlGetAttribute(model.id, 0, NULL), 100000, "attrValue is NULL")
    refused(lib.aclmdlGetAttribute(99999, 0, value), BAD_ID)
    value.mdlPriority = 8
    refused(lib.aclmdlSetAttribute(model.id, 0, value), 100000, "mdlPriority is 8")
    value.mdlPriority = 7
    refused(lib.aclmdlSetAttribute(99999, 0, value), BAD_ID)
    sizes = ffi.new("aclmdlExeOMDesc *")
    refused(lib.aclmdlQueryExeOMDesc(NULL, sizes), 100000, "fileName is NULL")
    refused(lib.aclmdlQueryExeOMDesc(b"none.om", NULL), 100000, "mdlPartitionSize is NULL")
    refused(lib.aclmdlQueryExeOMDesc(str(tmp_path / "none.om").encode(), sizes), BAD_PATH)


# --- descriptions


def test_descriptions_of_nothing(model):
    desc = mdl.create_desc()
    refused(mdl.get_desc(desc, 99999), BAD_ID, "modelId is 99999")
    assert mdl.get_desc(desc, model.id) == 0
    assert mdl.get_desc(desc, 99999) == BAD_ID
    assert (mdl.get_num_inputs(desc), mdl.get_num_outputs(desc)) == (0, 0)
    refused(mdl.get_desc(0, model.id), 100000, "modelDesc is NULL")
    assert (mdl.get_num_inputs(0), mdl.get_input_size_by_index(0, 0), mdl.get_output_size_by_index(0, 0)) == (0, 0, 0)
    assert mdl.get_input_name_by_index(0, 0) == ""
    assert (mdl.get_input_format(0, 0), mdl.get_input_data_type(0, 0)) == (-1, -1)
    assert mdl.destroy_desc(desc) == 0
    refused(mdl.destroy_desc(desc), 100000, "a destroyed model description")
    refused(mdl.destroy_desc(0), 100000, "modelDesc is NULL")


def test_indices_and_names(model):
    desc = model.desc
    for function in (mdl.get_input_dims, mdl.get_input_dims_v2, mdl.get_output_dims, mdl.get_cur_output_dims):
        dims, ret = function(desc, 1)
        refused(ret, 100000, "index is 1", "less than 1")
        assert dims == {}
    refused(mdl.get_input_dims_range(desc, 1)[1], 100000, "index is 1")
    refused(mdl.get_input_index_by_name(desc, "z")[1], 100000, '"z"', "1 inputs")
    refused(mdl.get_output_index_by_name(desc, "x")[1], 100000, '"x"', "1 outputs")
    refused(mdl.get_dynamic_hw(desc, 1)[1], 100000, "index is 1", "(size_t)-1 or less than 1")
    refused(mdl.get_input_dynamic_gear_count(desc, 1)[1], 100000, "index is 1")
    refused(mdl.get_input_dynamic_dims(desc, 1, 1)[1], 100000, "index is 1")
    assert mdl.get_input_dynamic_gear_count(desc, -1) == (0, 0)


# --- runs


def test_nothing_runs_a_file(model, stream):
    refused(model.execute(), 507011, "acl.sim.model")
    assert model.execute(stream) == 0
    refused(rt.synchronize_stream(stream), 507011, "acl.sim.model")
    assert rt.synchronize_stream(stream) == 0


def test_a_function_that_fails(monkeypatch, stream):
    seen = []
    monkeypatch.setattr("sys.unraisablehook", lambda info: seen.append(info.exc_value))

    @acl.sim.model("affine")
    def function(x):
        raise ArithmeticError("no")

    broken = Model(load_bytes(affine_bytes())[0])
    said = 'aclmdlExecute failed because the function of model "affine" failed: ArithmeticError: no;'
    refused(broken.execute(), 507011, said)
    assert isinstance(seen.pop(), ArithmeticError)
    acl.sim.model("affine")(lambda x: (x, x))
    other = Model(load_bytes(affine_bytes())[0])
    assert other.execute(stream) == 0
    refused(rt.synchronize_stream(stream), 507011, "failed: ValueError: the model has 1 outputs", "returned 2;")
    assert "2" in str(seen.pop())
    acl.sim.model("affine")(None)
    broken.close()
    other.close()


def test_datasets_of_a_run(model, stream):
    sides = model.inputs.handle, model.outputs.handle
    for execute in (mdl.execute, lambda *arguments: mdl.execute_async(*arguments, stream)):
        refused(execute(model.id, 0, sides[1]), 100000, "input is NULL")
        refused(execute(model.id, sides[0], 0), 100000, "output is NULL")
        refused(execute(99999, *sides), BAD_ID, "modelId is 99999")
        empty = mdl.create_dataset()
        refused(execute(model.id, empty, sides[1]), BAD_PARAMETER, "input has 0 buffers, expected 1")
        refused(execute(model.id, sides[0], empty), BAD_PARAMETER, "output has 0 buffers, expected 1")
        mdl.destroy_dataset(empty)
        refused(execute(model.id, empty, sides[1]), 100000, "a destroyed dataset")


@pytest.mark.finds("buffer-size")
def test_sizes_of_buffers():
    """64 bytes less are taken, as a device takes them, where the memory is there."""
    acl.sim.model("wide")(lambda x: x + 1)
    model = Model(load_bytes(om.write("wide", [om.Tensor("x", (100,))], [om.Tensor("y", (100,))]))[0])
    for size, code in [(400, 0), (399, 0), (336, 0), (335, BAD_PARAMETER), (0, BAD_PARAMETER), (1000, 0)]:
        buffer = model.inputs.buffers[0]
        assert acl.update_data_buffer(buffer, model.inputs.addresses[0], size) == 0
        assert model.execute() == code, size
    small = rt.malloc(64, 0)[0]
    assert acl.update_data_buffer(model.inputs.buffers[0], small, 400) == 0
    refused(model.execute(), 107000, "input 0")
    host = numpy.zeros(100, "f4")
    assert acl.update_data_buffer(model.inputs.buffers[0], host.ctypes.data, 400) == 0
    refused(model.execute(), 107000, "input 0", "device memory")
    assert acl.update_data_buffer(model.inputs.buffers[0], 0, 400) == 0
    refused(model.execute(), BAD_PARAMETER, "input 0 (x) has no memory")
    assert rt.free(small) == 0
    model.close()
    acl.sim.model("wide")(None)


def test_an_output_without_memory_in_a_queued_run(model, stream):
    assert acl.update_data_buffer(model.outputs.buffers[0], 0, 0) == 0
    refused(model.execute(stream), BAD_PARAMETER, "output 0 (y) has no memory")


@pytest.mark.finds("freed-in-use", "use-after-free")
def test_memory_freed_before_the_run(stream):
    acl.sim.model("affine")(lambda x: x)
    model = Model(load_bytes(affine_bytes())[0])
    acl.sim.hold(stream)
    assert model.execute(stream) == 0
    assert model.inputs.free(0) == 0
    acl.sim.release(stream)
    refused(rt.synchronize_stream(stream), 507053, "freed before it ran")
    model.close()
    acl.sim.model("affine")(None)


def test_unloading(model):
    number = load_bytes(affine_bytes())[0]
    assert mdl.unload(number) == 0
    refused(mdl.unload(number), BAD_ID, f"modelId is {number}")
    refused(mdl.execute(number, model.inputs.handle, model.outputs.handle), BAD_ID)
    for wrong in (0, 0xFFFFFFFF):
        assert mdl.unload(wrong) == BAD_ID


def test_a_captured_run_after_unloading(stream):
    acl.sim.model("affine")(lambda x: x)
    model = Model(load_bytes(affine_bytes())[0])
    assert mdl.ri_capture_begin(stream, 0) == 0
    assert model.execute(stream) == 0
    instance, ret = mdl.ri_capture_end(stream)
    assert ret == 0
    assert mdl.unload(model.id) == 0
    assert mdl.ri_execute_async(instance, stream) == 0
    refused(rt.synchronize_stream(stream), 507011, "unloaded before it ran")
    assert mdl.ri_destroy(instance) == 0
    model.inputs.close()
    model.outputs.close()
    mdl.destroy_desc(model.desc)
    acl.sim.model("affine")(None)


def test_options_of_a_run(model, stream):
    handle = mdl.create_exec_config_handle()
    sides = model.inputs.handle, model.outputs.handle
    for attribute, wrong in [(0, -2), (1, -2), (50, 0)]:
        assert mdl.set_exec_config_opt(handle, attribute, wrong) == 100000, attribute
    refused(mdl.execute_v2(model.id, *sides, stream, 0), 100000, "handle is NULL")
    refused(mdl.execute_v2(99999, *sides, stream, handle), BAD_ID)
    refused(mdl.execute_v2(model.id, *sides, stream, handle), 507011, "acl.sim.model")
    assert mdl.destroy_exec_config_handle(handle) == 0
    refused(mdl.destroy_exec_config_handle(handle), 100000, "a destroyed run configuration")


# --- gears and open shapes


def test_gears():
    gears = om.Gears(om.BATCH, [[1], [4]], ())
    content = om.write("geared", [om.Tensor("x", (-1,))], [om.Tensor("y", (4,))], gears=gears)
    acl.sim.model("geared")(lambda x: numpy.zeros(4, "f4"))
    model = Model(load_bytes(content)[0])
    inputs = model.inputs.handle
    refused(mdl.set_dynamic_batch_size(model.id, 0, 1, 4), 100000, "dataset is NULL")
    refused(mdl.set_dynamic_batch_size(model.id, inputs, 1, 0), 100000, "batchSize is 0")
    refused(mdl.set_dynamic_batch_size(model.id, inputs, 2, 4), 100000, "index is 2")
    refused(mdl.set_dynamic_batch_size(model.id, inputs, 0, 4), 100000, "index is 0, expected 1")
    refused(mdl.set_dynamic_batch_size(model.id, inputs, 1, 3), 145013, "2 gears")
    refused(mdl.set_dynamic_batch_size(99999, inputs, 1, 4), BAD_ID)
    refused(mdl.set_dynamic_hw_size(model.id, inputs, 1, 4, 4), 145013)
    refused(mdl.set_dynamic_hw_size(model.id, inputs, 1, 0, 4), 100000, "height is 0")
    refused(mdl.set_input_dynamic_dims(model.id, inputs, 1, {"dimCount": 0, "dims": []}), 100000, "no dimension")
    refused(mdl.set_input_dynamic_dims(model.id, inputs, 1, {"dimCount": 2, "dims": [1, 2]}), 145012, "expected 1")
    refused(mdl.set_input_dynamic_dims(model.id, inputs, 1, {"dimCount": 1, "dims": [4]}), 145013)
    for size, code in [(3, 145012), (4, 0), (7, 0), (8, 0)]:
        assert acl.update_data_buffer(model.inputs.buffers[1], model.inputs.addresses[1], size) == 0
        assert mdl.set_dynamic_batch_size(model.id, inputs, 1, 4) == code, size
    model.inputs.put(1, numpy.array([5], "i8"))
    refused(model.execute(), 507011, "does not select a gear")
    assert acl.update_data_buffer(model.inputs.buffers[1], 0, 8) == 0
    refused(mdl.set_dynamic_batch_size(model.id, inputs, 1, 4), 100000, "no memory")
    model.close()
    acl.sim.model("geared")(None)


def test_more_gears_than_room():
    gears = om.Gears(om.BATCH, [[n + 1] for n in range(129)])
    model, ret = load_bytes(om.write("geared", [om.Tensor("x", (-1,))], [om.Tensor("y", (129,))], gears=gears))
    assert ret == 0
    desc = describe(model)
    refused(mdl.get_dynamic_batch(desc)[1], 300000, "129 gears", "128")
    assert (mdl.destroy_desc(desc), mdl.unload(model)) == (0, 0)


def test_open_shapes(monkeypatch):
    tensor = om.Tensor("x", (-1, 2), ranges=((1, 4), (2, 2)))
    seen = []
    monkeypatch.setattr("sys.unraisablehook", lambda info: seen.append(str(info.exc_value)))
    acl.sim.model("open")(lambda x: numpy.zeros(100, "f4"))
    content = om.write("open", [tensor], [om.Tensor("y", (-1,))], dynamic=True)
    model = load_bytes(content)[0]
    desc = describe(model)
    refused(mdl.get_cur_output_dims(desc, 0)[1], 200001, "aclmdlGetDatasetTensorDesc")
    inputs, outputs = Dataset([16]), Dataset([16])
    refused(mdl.execute(model, inputs.handle, outputs.handle), 100000, "input x", "aclmdlSetDatasetTensorDesc")
    for dims, word in [([0, 2], "no shape"), ([5, 2], "no shape"), ([2, 3], "no shape"), ([2], "no shape"),
                       ([3, 2], "16 bytes")]:  # fmt: skip
        shape = acl.create_tensor_desc(0, dims, 2)
        assert mdl.set_dataset_tensor_desc(inputs.handle, shape, 0)[1] == 0
        acl.destroy_tensor_desc(shape)
        refused(mdl.execute(model, inputs.handle, outputs.handle), 100000, "input x", word)
    shape = acl.create_tensor_desc(0, [2, 2], 2)
    assert mdl.set_dataset_tensor_desc(inputs.handle, shape, 0)[1] == 0
    acl.destroy_tensor_desc(shape)
    assert mdl.execute(model, inputs.handle, outputs.handle) == 507011
    assert "16 bytes" in seen[0]
    inputs.close()
    outputs.close()
    assert (mdl.destroy_desc(desc), mdl.unload(model)) == (0, 0)
    acl.sim.model("open")(None)
