"""Arguments of models' calls that are missing, one at a time, and ids that nobody has."""

import numpy
import pytest
from helpers.expect import NULL, pointer, refused
from helpers.models import Dataset, Model, affine_bytes, describe, initialise, load_bytes

import acl
from acl._lib import ffi, lib
from acl.sim import om

mdl, rt = acl.mdl, acl.rt
BAD, NOT_FOUND, NOT_SUPPORTED, FAILED = 100000, 100024, 200001, 500001
BAD_PARAMETER, BAD_ID, BAD_QUEUE, UNKNOWN_BUNDLE = 145000, 145003, 145008, 148053
UNKNOWN = 99999

pytestmark = pytest.mark.needs_sim

CONTENT = affine_bytes(weights=bytes(4096), work=8192)
BYTES = (ffi.from_buffer(CONTENT), len(CONTENT))
NUMBER, SIZES = ffi.new("uint32_t *"), (ffi.new("size_t *"), ffi.new("size_t *"))
QUEUES = (ffi.new("uint32_t[]", [7]), 1, ffi.new("uint32_t[]", [8]), 1)
MEMORY = (NULL, 0, NULL, 0)
TEXT = ffi.new("char[]", b"text")


@pytest.fixture(autouse=True)
def process(device):
    initialise()


@pytest.fixture
def model():
    """Load a model that nothing can run."""
    number, ret = load_bytes(CONTENT)
    assert ret == 0
    model = Model(number)
    yield model
    model.close()


@pytest.fixture
def path(tmp_path):
    """Make a model file."""
    made = tmp_path / "affine.om"
    made.write_bytes(CONTENT)
    return str(made).encode()


@pytest.fixture
def handle():
    """Make a load configuration."""
    made = mdl.create_config_handle()
    yield made
    assert mdl.destroy_config_handle(made) == 0


# --- loading

LOADS = [
    (lib.aclmdlLoadFromFile, (NULL, NUMBER), "modelPath is NULL"),
    (lib.aclmdlLoadFromFile, (b"{path}", NULL), "modelId is NULL"),
    (lib.aclmdlLoadFromFileWithMem, (NULL, NUMBER, *MEMORY), "modelPath is NULL"),
    (lib.aclmdlLoadFromFileWithMem, (b"{path}", NULL, *MEMORY), "modelId is NULL"),
    (lib.aclmdlLoadFromMem, (NULL, 4096, NUMBER), "model is NULL"),
    (lib.aclmdlLoadFromMem, (*BYTES, NULL), "modelId is NULL"),
    (lib.aclmdlLoadFromMemWithMem, (NULL, 4096, NUMBER, *MEMORY), "model is NULL"),
    (lib.aclmdlLoadFromMemWithMem, (BYTES[0], 255, NUMBER, *MEMORY), "modelSize is 255"),
    (lib.aclmdlLoadFromMemWithMem, (*BYTES, NULL, *MEMORY), "modelId is NULL"),
    (lib.aclmdlLoadFromFileWithQ, (NULL, NUMBER, *QUEUES), "modelPath is NULL"),
    (lib.aclmdlLoadFromFileWithQ, (b"{path}", NULL, *QUEUES), "modelId is NULL"),
    (lib.aclmdlLoadFromFileWithQ, (b"{path}", NUMBER, NULL, *QUEUES[1:]), "inputQ is NULL"),
    (lib.aclmdlLoadFromFileWithQ, (b"{path}", NUMBER, *QUEUES[:2], NULL, 1), "outputQ is NULL"),
    (lib.aclmdlLoadFromFileWithQ, (b"{path}", NUMBER, *QUEUES[:3], 0), "outputQNum 0"),
    (lib.aclmdlLoadFromMemWithQ, (NULL, 4096, NUMBER, *QUEUES), "model is NULL"),
    (lib.aclmdlLoadFromMemWithQ, (BYTES[0], 0, NUMBER, *QUEUES), "modelSize is 0"),
    (lib.aclmdlLoadFromMemWithQ, (*BYTES, NULL, *QUEUES), "modelId is NULL"),
    (lib.aclmdlLoadFromMemWithQ, (*BYTES, NUMBER, QUEUES[0], 0, *QUEUES[2:]), "inputQNum is 0"),
    (lib.aclmdlQuerySize, (NULL, *SIZES), "fileName is NULL"),
    (lib.aclmdlQuerySize, (b"{path}", NULL, SIZES[1]), "workSize is NULL"),
    (lib.aclmdlQuerySize, (b"{path}", SIZES[0], NULL), "weightSize is NULL"),
    (lib.aclmdlQuerySizeFromMem, (NULL, 4096, *SIZES), "model is NULL"),
    (lib.aclmdlQuerySizeFromMem, (*BYTES, NULL, SIZES[1]), "workSize is NULL"),
    (lib.aclmdlQuerySizeFromMem, (*BYTES, SIZES[0], NULL), "weightSize is NULL"),
    (lib.aclmdlBundleLoadFromFile, (NULL, NUMBER), "modelPath is NULL"),
    (lib.aclmdlBundleLoadFromFile, (b"{path}", NULL), "bundleId is NULL"),
    (lib.aclmdlBundleLoadFromFile, (b"{path}", NUMBER), "one model"),
    (lib.aclmdlBundleLoadFromMem, (NULL, 10, NUMBER), "model is NULL"),
    (lib.aclmdlBundleLoadFromMem, (*BYTES, NULL), "bundleId is NULL"),
    (lib.aclmdlBundleInitFromFile, (NULL, NULL, 0, NUMBER), "modelPath is NULL"),
    (lib.aclmdlBundleInitFromFile, (b"{path}", NULL, 0, NULL), "bundleId is NULL"),
    (lib.aclmdlBundleInitFromFile, (b"{path}", NULL, 0, NUMBER), "one model"),
    (lib.aclmdlBundleInitFromMem, (NULL, 10, NULL, 0, NUMBER), "model is NULL"),
    (lib.aclmdlBundleInitFromMem, (BYTES[0], 0, NULL, 0, NUMBER), "modelSize is 0"),
    (lib.aclmdlBundleInitFromMem, (*BYTES, NULL, 0, NULL), "bundleId is NULL"),
    (lib.aclmdlBundleInitFromMem, (*BYTES, NULL, 0, NUMBER), "one model"),
    (lib.aclmdlBundleGetModelNum, (1, NULL), "modelNum is NULL"),
    (lib.aclmdlBundleGetModelId, (1, 0, NULL), "modelId is NULL"),
    (lib.aclmdlBundleLoadModel, (1, 0, NULL), "modelId is NULL"),
    (lib.aclmdlBundleLoadModelWithMem, (1, 0, *MEMORY, NULL), "modelId is NULL"),
    (lib.aclmdlBundleLoadModelWithConfig, (1, 0, NULL, NUMBER), "handle is NULL"),
    (lib.aclmdlBundleQueryInfoFromFile, (NULL, NULL), "fileName is NULL"),
    (lib.aclmdlBundleQueryInfoFromFile, (b"{path}", NULL), "queryInfo is NULL"),
    (lib.aclmdlBundleQueryInfoFromMem, (*BYTES, NULL), "queryInfo is NULL"),
    (lib.aclmdlBundleGetQueryModelNum, (NULL, SIZES[0]), "queryInfo is NULL"),
    (lib.aclmdlBundleGetVarWeightSize, (NULL, SIZES[0]), "queryInfo is NULL"),
    (lib.aclmdlBundleGetSize, (NULL, 0, *SIZES), "queryInfo is NULL"),
    (lib.aclmdlBundleDestroyQueryInfo, (NULL,), "queryInfo is NULL"),
]


@pytest.mark.parametrize(("function", "arguments", "text"), LOADS)
def test_loads(function, arguments, text, path):
    refused(function(*[path if each == b"{path}" else each for each in arguments]), BAD, text)


def test_bundles_that_nobody_has(handle):
    for call in (
        lambda: lib.aclmdlBundleLoadModel(UNKNOWN, 0, NUMBER),
        lambda: lib.aclmdlBundleLoadModelWithMem(UNKNOWN, 0, *MEMORY, NUMBER),
        lambda: lib.aclmdlBundleLoadModelWithConfig(UNKNOWN, 0, pointer(handle), NUMBER),
    ):
        refused(call(), UNKNOWN_BUNDLE, f"bundleId is {UNKNOWN}")


def test_queues_that_nobody_has(path, handle):
    words = "inputQ names queue 7", "does not exist"
    refused(lib.aclmdlLoadFromFileWithQ(path, NUMBER, *QUEUES), BAD_QUEUE, *words)
    refused(lib.aclmdlLoadFromMemWithQ(*BYTES, NUMBER, *QUEUES), BAD_QUEUE, *words)
    address = int(ffi.cast("intptr_t", QUEUES[0]))
    assert mdl.load_from_mem_with_q(acl.util.bytes_to_ptr(CONTENT), len(CONTENT), address, 1, address, 1) == (
        0,
        BAD_QUEUE,
    )
    for load, (attribute, value) in [(5, (2, path.decode())), (6, (3, acl.util.bytes_to_ptr(CONTENT)))]:
        assert mdl.set_config_opt(handle, 1, load) == 0
        assert mdl.set_config_opt(handle, attribute, value) == 0
    assert mdl.set_config_opt(handle, 4, len(CONTENT)) == 0
    lists = {9: 1, 10: address, 11: 1, 12: address}
    for attribute, name in zip(lists, ("INPUTQ_NUM_SIZET", "INPUTQ_ADDR_PTR", "OUTPUTQ_NUM_SIZET", "OUTPUTQ_ADDR_PTR")):
        refused(mdl.load_with_config(handle)[1], BAD, f"ACL_MDL_{name} was not set")
        assert mdl.set_config_opt(handle, attribute, lists[attribute]) == 0
    for load in (5, 6):
        assert mdl.set_config_opt(handle, 1, load) == 0
        refused(mdl.load_with_config(handle)[1], BAD_QUEUE, *words)
    assert mdl.set_config_opt(handle, 11, 0) == 0
    refused(mdl.load_with_config(handle)[1], BAD, "outputQNum 0")


# --- options


def test_options_of_a_load(handle):
    value = ffi.new("uint64_t *", 1)
    refused(lib.aclmdlSetConfigOpt(NULL, 1, value, 8), BAD, "handle is NULL")
    refused(lib.aclmdlSetConfigOpt(pointer(handle), 1, NULL, 8), BAD, "attrValue is NULL")
    for attribute, size, right in [(0, 8, 4), (1, 4, 8), (2, 7, 8), (3, 16, 8), (4, 4, 8), (13, 4, 8), (28, 8, 4)]:
        words = f"valueSize is {size} for attr {attribute}, expected {right}"
        refused(lib.aclmdlSetConfigOpt(pointer(handle), attribute, value, size), BAD, words)
    for attribute in (30, 65535, 0xFFFFFFFF):
        refused(lib.aclmdlSetConfigOpt(pointer(handle), attribute, value, 8), BAD, f"attr is {attribute}")
    value[0] = 0
    for attribute in (2, 3, 5, 7, 10, 12, 14):
        refused(lib.aclmdlSetConfigOpt(pointer(handle), attribute, value, 8), BAD, "a NULL pointer")
    refused(lib.aclmdlDestroyConfigHandle(NULL), BAD, "handle is NULL")
    refused(lib.aclmdlLoadWithConfig(NULL, NUMBER), BAD, "handle is NULL")
    refused(lib.aclmdlLoadWithConfig(pointer(handle), NULL), BAD, "modelId is NULL")


def test_what_each_load_needs(handle, path):
    refused(mdl.load_with_config(handle)[1], BAD, "ACL_MDL_LOAD_TYPE_SIZET was not set")
    for load, name in [(1, "PATH_PTR"), (2, "PATH_PTR"), (3, "MEM_ADDR_PTR"), (4, "MEM_ADDR_PTR"), (5, "PATH_PTR"),
                       (6, "MEM_ADDR_PTR")]:  # fmt: skip
        assert mdl.set_config_opt(handle, 1, load) == 0
        refused(mdl.load_with_config(handle)[1], BAD, f"ACL_MDL_{name} was not set")
    assert mdl.set_config_opt(handle, 3, acl.util.bytes_to_ptr(CONTENT)) == 0
    refused(mdl.load_with_config(handle)[1], BAD, "ACL_MDL_MEM_SIZET was not set")


def test_weights_of_a_file(handle):
    weights = rt.malloc(256, 0)[0]
    right = (pointer(handle), b"weights.bin", pointer(weights), 256)
    refused(lib.aclmdlSetExternalWeightAddress(*right), 200001, "separate weight files are not supported")
    for place, wrong, text in [(0, NULL, "handle is NULL"), (1, NULL, "weightFileName is NULL"),
                               (2, NULL, "devPtr is NULL"), (3, 0, "size is 0")]:  # fmt: skip
        refused(lib.aclmdlSetExternalWeightAddress(*right[:place], wrong, *right[place + 1 :]), BAD, text)
    dead = mdl.create_config_handle()
    assert mdl.destroy_config_handle(dead) == 0
    refused(lib.aclmdlSetExternalWeightAddress(pointer(dead), *right[1:]), BAD, "a destroyed load configuration")
    for attribute, value in [(1, 3), (3, acl.util.bytes_to_ptr(CONTENT)), (4, len(CONTENT))]:
        assert mdl.set_config_opt(handle, attribute, value) == 0
    model, ret = mdl.load_with_config(handle)
    assert (ret, mdl.unload(model), rt.free(weights)) == (0, 0, 0)


def test_graphs_in_memory(handle):
    graph = ffi.new("aclmdlModel *")
    refused(lib.aclmdlLoadFromModel(NULL, pointer(handle), NUMBER), BAD, "model is NULL")
    refused(lib.aclmdlLoadFromModel(graph, NULL, NUMBER), BAD, "handle is NULL")
    refused(lib.aclmdlLoadFromModel(graph, pointer(handle), NULL), BAD, "modelId is NULL")
    refused(lib.aclmdlLoadFromModel(graph, pointer(handle), NUMBER), NOT_SUPPORTED, "compiled in this process")


# --- descriptions

DIMS, RANGE, BATCH, HW = (
    ffi.new(f"{kind} *") for kind in ("aclmdlIODims", "aclmdlIODimsRange", "aclmdlBatch", "aclmdlHW")
)
ALL = (1 << 64) - 1
QUESTIONS = [
    (lib.aclmdlGetInputIndexByName, (b"x", SIZES[0]), ("name", "index")),
    (lib.aclmdlGetOutputIndexByName, (b"y", SIZES[0]), ("name", "index")),
    (lib.aclmdlGetInputDims, (0, DIMS), ("", "dims")),
    (lib.aclmdlGetInputDimsV2, (0, DIMS), ("", "dims")),
    (lib.aclmdlGetOutputDims, (0, DIMS), ("", "dims")),
    (lib.aclmdlGetCurOutputDims, (0, DIMS), ("", "dims")),
    (lib.aclmdlGetInputDimsRange, (0, RANGE), ("", "dimsRange")),
    (lib.aclmdlGetDynamicBatch, (BATCH,), ("batch",)),
    (lib.aclmdlGetDynamicHW, (ALL, HW), ("", "hw")),
    (lib.aclmdlGetInputDynamicGearCount, (ALL, SIZES[0]), ("", "gearCount")),
    (lib.aclmdlGetInputDynamicDims, (ALL, DIMS, 1), ("", "dims", "")),
    (lib.aclmdlGetDescFromMem, BYTES, ("model", "")),
    (lib.aclmdlGetDescFromFile, (b"none.om",), ("modelPath",)),
]


@pytest.mark.parametrize(("function", "arguments", "pointers"), QUESTIONS)
def test_questions_about_a_description(model, function, arguments, pointers):
    desc = pointer(model.desc)
    refused(function(NULL, *arguments), BAD, "modelDesc is NULL")
    for place, name in enumerate(pointers):
        if name:
            refused(function(desc, *arguments[:place], NULL, *arguments[place + 1 :]), BAD, f"{name} is NULL")


def test_names_that_nobody_has(model):
    desc = pointer(model.desc)
    key = b"_datadump_original_op_names"
    assert lib.aclmdlGetTensorRealName(desc, NULL) == NULL == lib.aclmdlGetTensorRealName(NULL, b"x")
    assert lib.aclmdlGetOpAttr(desc, NULL, key) == NULL == lib.aclmdlGetOpAttr(desc, b"x", NULL)
    assert lib.aclmdlGetOpAttr(NULL, b"x", key) == NULL
    assert mdl.get_tensor_real_name(model.desc, "other") is None


def test_operators_of_tasks():
    one, count = ffi.new("aclTensorDesc **"), ffi.new("size_t *")
    right = (0, 1, 2, TEXT, 5, one, count, one, count)
    for place, wrong, text in [(3, NULL, "opName is NULL"), (4, 0, "opNameLen is 0"), (5, NULL, "inputDesc is NULL"),
                               (6, NULL, "numInputs is NULL"), (7, NULL, "outputDesc is NULL"),
                               (8, NULL, "numOutputs is NULL")]:  # fmt: skip
        refused(lib.aclmdlCreateAndGetOpDesc(*right[:place], wrong, *right[place + 1 :]), BAD, text)
    refused(lib.aclmdlCreateAndGetOpDesc(*right), NOT_FOUND, "task 2 of stream 1 on device 0")
    assert mdl.create_and_get_op_desc(0, 1, 2, 64) == ("", 0, 0, 0, 0, NOT_FOUND)
    assert mdl.create_and_get_op_desc(0, 1, 2, 4097) == ("", 0, 0, 0, 0, BAD)


def test_more_dimensions_than_room():
    gears = om.Gears(om.DIMS, [[2], [4]])
    inputs = [om.Tensor("a", (-1, *[1] * 64)), om.Tensor("b", [1] * 64)]
    number, ret = load_bytes(om.write("deep", inputs, [om.Tensor("y", (4,))], gears=gears))
    assert ret == 0
    desc = describe(number)
    refused(mdl.get_input_dynamic_dims(desc, -1, 2)[1], FAILED, "129 dimensions", "128")
    refused(mdl.get_input_dynamic_dims(desc, -1, 1)[1], BAD, "gearCount is 1", "at least 2")
    assert (mdl.destroy_desc(desc), mdl.unload(number)) == (0, 0)


# --- runs


def test_runs_with_options(model, stream):
    handle = mdl.create_exec_config_handle()
    sides = pointer(model.inputs.handle), pointer(model.outputs.handle)
    for execute in (lib.aclmdlExecuteV2, lib.aclmdlExecuteAsyncV2):
        refused(execute(model.id, NULL, sides[1], pointer(stream), pointer(handle)), BAD, "input is NULL")
        refused(execute(model.id, sides[0], NULL, pointer(stream), pointer(handle)), BAD, "output is NULL")
        refused(execute(model.id, *sides, pointer(stream), NULL), BAD, "handle is NULL")
        refused(execute(UNKNOWN, *sides, pointer(stream), pointer(handle)), BAD_ID, f"modelId is {UNKNOWN}")
    assert mdl.destroy_exec_config_handle(handle) == 0
    refused(lib.aclmdlDestroyExecConfigHandle(NULL), BAD, "handle is NULL")


def test_values_of_run_options(model, stream):
    handle = mdl.create_exec_config_handle()
    value = ffi.new("int64_t *")
    refused(lib.aclmdlSetExecConfigOpt(NULL, 0, value, 4), BAD, "handle is NULL")
    refused(lib.aclmdlSetExecConfigOpt(pointer(handle), 0, NULL, 4), BAD, "attrValue is NULL")
    for attribute, size, right in [(0, 8, 4), (1, 8, 4), (2, 4, 8), (3, 4, 8), (4, 4, 8), (8, 8, 4), (9, 8, 4)]:
        words = f"valueSize is {size} for attr {attribute}, expected {right}"
        refused(lib.aclmdlSetExecConfigOpt(pointer(handle), attribute, value, size), BAD, words)
    for attribute in (10, 65535):
        refused(lib.aclmdlSetExecConfigOpt(pointer(handle), attribute, value, 8), BAD, f"attr is {attribute}")
    for attribute in (4, 5, 6, 7):
        refused(mdl.set_exec_config_opt(handle, attribute, 1), 200006, f"attr is {attribute}", "does not have")
    for attribute, least, most in [(0, -1, 2**31 - 1), (1, -1, 2**31 - 1), (8, 0, 7)]:
        for right in (least, most):
            assert mdl.set_exec_config_opt(handle, attribute, right) == 0
        refused(mdl.set_exec_config_opt(handle, attribute, least - 1), BAD, f"{least} to {most}")
    refused(mdl.set_exec_config_opt(handle, 8, 8), BAD, "the value of attr 8 is 8")
    assert mdl.set_exec_config_opt(handle, 9, 1) == 0
    refused(mdl.set_exec_config_opt(handle, 2, 0), BAD, "a NULL pointer")
    assert mdl.destroy_exec_config_handle(handle) == 0


@pytest.fixture
def working():
    """Load a model that wants work memory and adds 1."""
    acl.sim.model("affine")(lambda x: x + 1)
    made = Model(load_bytes(CONTENT)[0])
    yield made
    made.close()
    acl.sim.model("affine")(None)


@pytest.mark.finds("use-after-free", count=2)
def test_work_memory_of_a_run(working, stream):
    handle = mdl.create_exec_config_handle()
    work = rt.malloc(8192, 0)[0]
    working.inputs.put(0, numpy.array([1, 2], "f4"))

    def runs():
        sides = (pointer(each.handle) for each in (working.inputs, working.outputs))
        return mdl.execute_v2(working.id, working.inputs.handle, working.outputs.handle, stream, handle), (
            lib.aclmdlExecuteAsyncV2(working.id, *sides, pointer(stream), pointer(handle))
        )

    assert mdl.set_exec_config_opt(handle, 2, work) == 0
    assert runs() == (BAD, BAD)
    assert "ACL_MDL_WORK_SIZET" in acl.get_recent_err_msg()
    assert mdl.set_exec_config_opt(handle, 3, 8191) == 0
    assert runs() == (BAD_PARAMETER, BAD_PARAMETER)
    assert "ACL_MDL_WORK_SIZET is 8191, expected at least 8192" in acl.get_recent_err_msg()
    assert mdl.set_exec_config_opt(handle, 3, 1 << 40) == 0
    assert runs() == (107000, 107000)
    assert mdl.set_exec_config_opt(handle, 3, 8192) == 0
    assert runs() == (0, 0)
    assert rt.synchronize_stream(stream) == 0
    assert working.outputs.get(0, (2,)).tolist() == [2, 3]
    assert rt.free(work) == 0
    assert runs() == (107000, 107000)
    assert mdl.destroy_exec_config_handle(handle) == 0


def test_buffers_of_open_shapes():
    acl.sim.model("open")(lambda x: x)
    number, ret = load_bytes(om.write("open", [om.Tensor("x", (-1,))], [om.Tensor("y", (-1,))], dynamic=True))
    assert ret == 0
    one, two = Dataset([16]), Dataset([16, 16])
    empty = mdl.create_dataset()
    refused(mdl.execute(number, empty, one.handle), BAD, "input has 0 buffers, expected 1")
    shape = acl.create_tensor_desc(0, [4], 2)
    assert mdl.set_dataset_tensor_desc(one.handle, shape, 0)[1] == 0
    acl.destroy_tensor_desc(shape)
    refused(mdl.execute(number, one.handle, two.handle), BAD, "output has 2 buffers, expected 1")
    one.close()
    two.close()
    assert (mdl.destroy_dataset(empty), mdl.unload(number)) == (0, 0)
    acl.sim.model("open")(None)


def test_a_buffer_that_was_destroyed(model):
    assert acl.destroy_data_buffer(model.inputs.buffers[0]) == 0
    refused(model.execute(), BAD, "a destroyed data buffer")
    model.inputs.buffers[0] = acl.create_data_buffer(0, 0)


# --- gears


@pytest.fixture
def geared():
    """Load models of two batches, sizes and sets of dimensions, with inputs that carry two numbers."""
    made = []
    for kind, dims, rows in [(om.BATCH, (-1, 1), [[1], [4]]), (om.HW, (1, 1, -1, -1), [[2, 3], [4, 5]]),
                             (om.DIMS, (-1, 2, -1), [[1, 2], [3, 4]])]:  # fmt: skip
        gears = om.Gears(kind, rows)
        made.append(load_bytes(om.write("geared", [om.Tensor("x", dims)], [om.Tensor("y", (4,))], gears=gears))[0])
    yield made
    assert [mdl.unload(number) for number in made] == [0, 0, 0]


def dims_of(*sizes):
    return {"dimCount": len(sizes), "dims": list(sizes)}


def test_gears_of_other_kinds(geared):
    batch, hw, dims = geared
    data = Dataset([400, 16])
    right = [
        (mdl.set_dynamic_batch_size, batch, (4,)),
        (mdl.set_dynamic_hw_size, hw, (4, 5)),
        (mdl.set_input_dynamic_dims, dims, (dims_of(3, 2, 4),)),
    ]
    for call, number, values in right:
        assert call(number, data.handle, 1, *values) == 0
        refused(call(UNKNOWN, data.handle, 1, *values), BAD_ID, f"modelId is {UNKNOWN}")
        refused(call(number, 0, 1, *values), BAD, "dataset is NULL")
        refused(call(number, data.handle, 2, *values), BAD, "index is 2")
        refused(call(number, data.handle, 0, *values), BAD, "index is 0")
        width = 1 if number == batch else 2
        assert acl.update_data_buffer(data.buffers[1], data.addresses[1], 4 * width - 1) == 0
        refused(call(number, data.handle, 1, *values), 145012, f"{4 * width - 1} bytes")
        assert acl.update_data_buffer(data.buffers[1], data.addresses[1], 4 * width) == 0
        assert call(number, data.handle, 1, *values) == 0
        assert data.get(1, width, "u4").tolist() == [[4], [4, 5], [3, 4]][geared.index(number)]
        assert acl.update_data_buffer(data.buffers[1], data.addresses[1], 16) == 0
    refused(mdl.set_dynamic_batch_size(hw, data.handle, 1, 4), 145013, "not built for it")
    refused(mdl.set_dynamic_hw_size(hw, data.handle, 1, 2, 5), 145013, "not built for it")
    refused(mdl.set_dynamic_hw_size(hw, data.handle, 1, 0, 5), BAD, "height is 0")
    refused(mdl.set_dynamic_hw_size(hw, data.handle, 1, 5, 0), BAD, "width 0")
    refused(mdl.set_input_dynamic_dims(dims, data.handle, 1, dims_of(3, 2, 5)), 145013, "not built for it")
    refused(mdl.set_input_dynamic_dims(dims, data.handle, 1, dims_of(3, 3, 4)), 145013, "dimension 1 is 3, expected 2")
    refused(mdl.set_input_dynamic_dims(dims, data.handle, 1, dims_of(3, 2)), 145012, "2 dimensions, expected 3")
    refused(mdl.set_input_dynamic_dims(dims, data.handle, 1, dims_of()), BAD, "no dimension")
    refused(lib.aclmdlSetInputDynamicDims(dims, pointer(data.handle), 1, NULL), BAD, "dims is NULL")
    data.close()
