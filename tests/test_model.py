"""Models: loading, describing, running them by Python functions, at once and on streams."""

import threading

import numpy
import pytest
from helpers.expect import latches
from helpers.models import F4, I8, Dataset, Model, affine_bytes, describe, initialise, load, load_bytes

import acl
from acl._lib import ffi, lib
from acl.sim import om

mdl, rt = acl.mdl, acl.rt
GEARED = om.Gears(om.BATCH, [[1], [4], [8]], [(g, 0, (n, 3)) for g, n in enumerate((1, 4, 8))])


pytestmark = pytest.mark.needs_sim


@pytest.fixture(autouse=True)
def process(device):
    initialise()


@pytest.fixture
def affine():
    """Load a model of two floats: 2 x + 1."""

    @acl.sim.model("affine", inputs=[("x", (2,), "f4")], outputs=[("y", (2,), "f4")])
    def function(x):
        return 2 * x + 1

    model = Model(load("somewhere/affine.om"))
    yield model
    model.close()
    acl.sim.model("affine")(None)


# --- files and memory


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("described", [True, False])
def test_a_file_is_described(tmp_path, wide, described):
    content = om.write(
        "net",
        [om.Tensor("image", (1, 3, 4, 4), F4, 0), om.Tensor("more", (7,), I8)],
        [om.Tensor("class", (1, 10), F4)],
        weights=b"w" * 100,
        work=4096,
        wide=wide,
        described=described,
    )
    path = tmp_path / "net.om"
    path.write_bytes(content)
    assert mdl.query_size(str(path)) == (4096, 100, 0)
    assert mdl.query_size_from_mem(acl.util.bytes_to_ptr(content), len(content)) == (4096, 100, 0)
    model = load(path)
    desc = describe(model)
    assert mdl.unload(model) == 0
    assert (mdl.get_num_inputs(desc), mdl.get_num_outputs(desc)) == (2, 1)
    assert [mdl.get_input_size_by_index(desc, i) for i in range(3)] == [192, 56, 0]
    assert mdl.get_output_size_by_index(desc, 0) == 40
    assert [mdl.get_input_name_by_index(desc, i) for i in range(3)] == ["image", "more", ""]
    assert [mdl.get_output_name_by_index(desc, i) for i in range(2)] == ["class", ""]
    assert [mdl.get_input_format(desc, i) for i in range(3)] == [0, 2, -1]
    assert [mdl.get_input_data_type(desc, i) for i in range(3)] == [0, 9, -1]
    assert (mdl.get_output_format(desc, 0), mdl.get_output_data_type(desc, 0)) == (2, 0)
    assert mdl.get_input_dims(desc, 0) == ({"name": "image", "dimCount": 4, "dims": [1, 3, 4, 4]}, 0)
    assert mdl.get_input_dims_v2(desc, 1) == ({"name": "more", "dimCount": 1, "dims": [7]}, 0)
    assert mdl.get_output_dims(desc, 0) == ({"name": "class", "dimCount": 2, "dims": [1, 10]}, 0)
    assert mdl.get_cur_output_dims(desc, 0) == ({"name": "class", "dimCount": 2, "dims": [1, 10]}, 0)
    assert mdl.get_input_dims_range(desc, 0) == ({"rangeCount": 0, "range": []}, 0)
    assert mdl.get_input_index_by_name(desc, "more") == (1, 0)
    assert mdl.get_output_index_by_name(desc, "class") == (0, 0)
    assert mdl.get_dynamic_batch(desc) == ({"batchCount": 0, "batch": []}, 0)
    assert mdl.destroy_desc(desc) == 0


def test_a_file_is_described_without_loading(tmp_path):
    path = tmp_path / "affine.om"
    path.write_bytes(affine_bytes())
    desc = mdl.create_desc()
    assert mdl.get_desc_from_file(desc, str(path)) == 0
    assert mdl.get_input_dims(desc, 0)[0]["dims"] == [2]
    content = affine_bytes()
    assert mdl.get_desc_from_mem(desc, acl.util.bytes_to_ptr(content), len(content)) == 0
    assert mdl.get_output_name_by_index(desc, 0) == "y"
    assert mdl.destroy_desc(desc) == 0


def test_operators_know_what_they_were_fused_from():
    names = om._bytes(1, b"".join(om._bytes(2, name) for name in (b"conv1", b"relu", b"")))
    attribute = om._bytes(10, om._bytes(1, b"_datadump_original_op_names") + om._bytes(2, names))
    graph = om._bytes(6, om._bytes(1, b"fused") + attribute) + om._bytes(6, om._bytes(1, b"plain"))
    content = om.container([(om.MODEL_DEF, om._bytes(7, graph)), (om.WEIGHTS, b""), (om.INOUT, b"")])
    model, ret = load_bytes(content)
    assert ret == 0
    desc = describe(model)
    key = "_datadump_original_op_names"
    assert mdl.get_op_attr(desc, "fused", key) == "[5]conv1[4]relu[0]"
    assert mdl.get_op_attr(desc, "plain", key) == ""
    assert not mdl.get_op_attr(desc, "other", key) and not mdl.get_op_attr(desc, "fused", "other")
    assert (mdl.destroy_desc(desc), mdl.unload(model)) == (0, 0)


def test_parts_of_a_file(tmp_path):
    content = om.container([(om.MODEL_DEF, om._bytes(1, b"net")), (om.WEIGHTS, b"w" * 9), (3, b"k" * 8), (9, b"s" * 7),
                            (10, b"d" * 6), (11, b"a" * 5), (om.INOUT, b"")])  # fmt: skip
    (tmp_path / "net.om").write_bytes(content)
    sizes = ffi.new("aclmdlExeOMDesc *")
    assert lib.aclmdlQueryExeOMDesc(str(tmp_path / "net.om").encode(), sizes) == 0
    found = (sizes.weightSize, sizes.modelDescSize, sizes.kernelSize, sizes.staticTaskSize, sizes.dynamicTaskSize)
    assert found == (9, 5, 8, 7, 6) and (sizes.kernelArgsSize, sizes.workSize, sizes.fifoTaskSize) == (5, 0, 0)


def test_a_model_has_a_priority():
    model, ret = load_bytes(affine_bytes())
    value = ffi.new("aclmdlAttrValue_t *")
    assert lib.aclmdlGetAttribute(model, 0, value) == 0 and value.mdlPriority == 0
    value.mdlPriority = 7
    assert lib.aclmdlSetAttribute(model, 0, value) == 0
    value.mdlPriority = 1
    assert lib.aclmdlGetAttribute(model, 0, value) == 0 and value.mdlPriority == 7
    assert mdl.unload(model) == 0


def test_long_names_have_aliases():
    long = "a" * 200
    content = om.write("net", [om.Tensor(long, (1,)), om.Tensor("short", (1,))], [om.Tensor(long, (1,))])
    model, ret = load_bytes(content)
    assert ret == 0
    desc = describe(model)
    alias = f"acl_modelId_{model}_input_0"
    assert mdl.get_input_name_by_index(desc, 0) == long
    assert mdl.get_input_dims(desc, 0)[0]["name"] == alias
    assert mdl.get_output_dims(desc, 0)[0]["name"] == f"acl_modelId_{model}_output_0"
    assert mdl.get_tensor_real_name(desc, alias) == long
    assert mdl.get_tensor_real_name(desc, "short") == "short"
    assert not mdl.get_tensor_real_name(desc, "other")
    assert (mdl.destroy_desc(desc), mdl.unload(model)) == (0, 0)


def test_memory_of_the_program(tmp_path):
    """Both parts given, one of them, none: what the system takes comes back when the model goes."""
    content = affine_bytes(weights=bytes(range(256)) * 16, work=1 << 20)
    path = tmp_path / "affine.om"
    path.write_bytes(content)
    work, weight, ret = mdl.query_size(str(path))
    assert (work, weight, ret) == (1 << 20, 4096, 0)
    work_memory, weight_memory = rt.malloc(work, 0)[0], rt.malloc(weight, 0)[0]
    before = rt.get_mem_info(1)[0]
    for given in [(work_memory, weight_memory), (work_memory, 0), (0, weight_memory), (0, 0)]:
        model, ret = mdl.load_from_file_with_mem(str(path), given[0], work, given[1], weight)
        assert ret == 0, acl.get_recent_err_msg()
        taken = before - rt.get_mem_info(1)[0]
        assert (taken >= 1 << 20) == (given[0] == 0)
        assert mdl.unload(model) == 0
        assert rt.get_mem_info(1)[0] == before
    host = numpy.empty(4096, "u1")
    assert rt.memcpy(host.ctypes.data, 4096, weight_memory, 4096, 2) == 0
    assert bytes(host) == bytes(range(256)) * 16
    model, ret = mdl.load_from_mem_with_mem(acl.util.bytes_to_ptr(content), len(content), work_memory, work, 0, 0)
    assert ret == 0 and mdl.unload(model) == 0
    assert (rt.free(work_memory), rt.free(weight_memory)) == (0, 0)


def test_ids_are_not_used_again():
    seen = set()
    for _ in range(20):
        model, ret = load_bytes(affine_bytes())
        assert ret == 0 and model not in seen
        seen.add(model)
        assert mdl.unload(model) == 0


# --- running


def test_a_function_runs_a_model(affine):
    assert affine(numpy.array([1.5, -2], "f4")).tolist() == [4, -3]
    for i in range(50):
        assert affine(numpy.array([i, i + 1], "f4")).tolist() == [2 * i + 1, 2 * i + 3]


def test_a_function_runs_a_file(tmp_path, affine):
    """By the name inside the file, whatever the file is called."""
    path = tmp_path / "other_name.om"
    path.write_bytes(affine_bytes())
    model = Model(load(path))
    assert model(numpy.array([3, 4], "f4")).tolist() == [7, 9]
    model.close()


def test_runs_in_the_order_of_their_stream(affine, stream):
    with latches(stream) as held:
        held.hold()
        affine.inputs.put(0, numpy.array([1, 2], "f4"))
        affine.outputs.put(0, numpy.zeros(2, "f4"))
        assert affine.execute(stream) == 0
        assert rt.memcpy_async(affine.inputs.addresses[0], 8, affine.outputs.addresses[0], 8, 3, stream) == 0
        assert affine.execute(stream) == 0
        assert affine.outputs.get(0, (2,)).tolist() == [0, 0]
        held.release()
        assert rt.synchronize_stream(stream) == 0
    assert affine.outputs.get(0, (2,)).tolist() == [7, 11]


def test_runs_in_a_capture(affine, stream):
    assert mdl.ri_capture_begin(stream, 0) == 0
    assert affine.execute(stream) == 0
    assert rt.memcpy_async(affine.inputs.addresses[0], 8, affine.outputs.addresses[0], 8, 3, stream) == 0
    instance, ret = mdl.ri_capture_end(stream)
    assert ret == 0
    affine.inputs.put(0, numpy.array([0, 1], "f4"))
    for expected in ([1, 3], [3, 7], [7, 15]):
        assert mdl.ri_execute_async(instance, stream) == 0
        assert rt.synchronize_stream(stream) == 0
        assert affine.outputs.get(0, (2,)).tolist() == expected
    assert mdl.ri_destroy(instance) == 0


def test_outputs_without_memory_get_some(affine):
    outputs = mdl.create_dataset()
    buffer = acl.create_data_buffer(0, 0)
    mdl.add_dataset_buffer(outputs, buffer)
    affine.inputs.put(0, numpy.array([1, 2], "f4"))
    assert mdl.execute(affine.id, affine.inputs.handle, outputs) == 0
    address = acl.get_data_buffer_addr(buffer)
    assert address and acl.get_data_buffer_size_v2(buffer) == 8
    host = numpy.empty(2, "f4")
    assert rt.memcpy(host.ctypes.data, 8, address, 8, 2) == 0
    assert host.tolist() == [3, 5]
    assert rt.free(address) == 0
    assert (acl.destroy_data_buffer(buffer), mdl.destroy_dataset(outputs)) == (0, 0)


def test_two_inputs_and_outputs(tmp_path):
    @acl.sim.model(
        tmp_path / "pair.om",
        inputs=[("a", (2, 2), "f4"), ("b", (2, 2), "i4")],
        outputs=[("sum", (2, 2), "f4"), ("transposed", (2, 2), "i4")],
    )
    def function(a, b):
        assert not a.flags.writeable
        return a + b, b.T

    assert mdl.query_size(str(tmp_path / "pair.om")) == (64, 64, 0)
    model = Model(load(tmp_path / "pair.om"))
    a, b = numpy.arange(4, dtype="f4").reshape(2, 2), numpy.array([[1, 2], [3, 4]], "i4")
    assert model(a, b).tolist() == [[1, 3], [5, 7]]
    assert model.outputs.get(1, (2, 2), "i4").tolist() == [[1, 3], [2, 4]]
    model.close()


def test_a_run_waits_for_a_time(affine, stream):
    handle = mdl.create_exec_config_handle()
    assert mdl.set_exec_config_opt(handle, 0, 1) == 0
    with latches(stream) as held:
        held.hold()
        sides = affine.inputs.handle, affine.outputs.handle
        affine.inputs.put(0, numpy.array([1, 2], "f4"))
        assert mdl.execute_v2(affine.id, *sides, stream, handle) == 507046
        held.release()
        assert rt.synchronize_stream(stream) == 0
        assert affine.outputs.get(0, (2,)).tolist() == [3, 5]
        affine.inputs.put(0, numpy.array([5, 6], "f4"))
        assert mdl.set_exec_config_opt(handle, 0, 10000) == 0
        assert mdl.execute_v2(affine.id, *sides, stream, handle) == 0
        assert affine.outputs.get(0, (2,)).tolist() == [11, 13]
    assert mdl.destroy_exec_config_handle(handle) == 0


def test_unloading_waits_for_runs(stream):
    started, go, done = threading.Event(), threading.Event(), []

    @acl.sim.model("slow", inputs=[((1,), "f4")], outputs=[((1,), "f4")])
    def function(x):
        started.set()
        go.wait(30)
        done.append(float(x[0]))
        return x

    model = Model(load("slow.om"))
    model.inputs.put(0, numpy.array([7], "f4"))
    assert model.execute(stream) == 0
    context = rt.get_context()[0]

    def unload():
        rt.set_context(context)
        done.append(mdl.unload(model.id))

    thread = threading.Thread(target=unload)
    assert started.wait(30)
    thread.start()
    assert not done
    go.set()
    thread.join()
    assert done == [7.0, 0]
    assert rt.synchronize_stream(stream) == 0
    model.inputs.close()
    model.outputs.close()
    assert mdl.destroy_desc(model.desc) == 0
    acl.sim.model("slow")(None)


# --- gears and open shapes


def test_batch_gears(tmp_path):
    @acl.sim.model("geared", inputs=[("x", (-1, 3), "f4")], outputs=[("y", (8, 3), "f4")], gears=GEARED)
    def function(x):
        return x * len(x)

    model = Model(load("geared.om"))
    desc = model.desc
    assert mdl.get_num_inputs(desc) == 2
    assert mdl.get_input_dims(desc, 0)[0]["dims"] == [-1, 3]
    assert [mdl.get_input_size_by_index(desc, i) for i in range(2)] == [96, 8]
    assert mdl.get_dynamic_batch(desc) == ({"batchCount": 3, "batch": [1, 4, 8]}, 0)
    assert mdl.get_cur_output_dims(desc, 0)[0]["dims"] == [8, 3]
    place, ret = mdl.get_input_index_by_name(desc, "ascend_mbatch_shape_data")
    assert (place, ret) == (1, 0)
    for batch in (1, 4, 8, 1):
        assert mdl.set_dynamic_batch_size(model.id, model.inputs.handle, place, batch) == 0
        assert model(numpy.ones((batch, 3), "f4")).tolist() == [[batch] * 3] * batch
        assert model.inputs.get(1, (1,), "i8").tolist() == [batch]
    model.close()
    acl.sim.model("geared")(None)


def test_size_gears():
    gears = om.Gears(om.HW, [[2, 2], [4, 6]], [(0, 0, (1, 2, 2)), (1, 0, (1, 4, 6))])

    @acl.sim.model("sized", inputs=[("x", (1, -1, -1), "f4")], outputs=[("y", (1, 4, 6), "f4")], gears=gears)
    def function(x):
        return x + x.shape[1] * 10 + x.shape[2]

    model = Model(load("sized.om"))
    assert mdl.get_dynamic_hw(model.desc, -1) == ({"hwCount": 2, "hw": [[2, 2], [4, 6]]}, 0)
    for height, width in ((2, 2), (4, 6)):
        assert mdl.set_dynamic_hw_size(model.id, model.inputs.handle, 1, height, width) == 0
        result = model(numpy.zeros((1, height, width), "f4"))
        assert result.shape == (1, height, width) and (result == 10 * height + width).all()
    model.close()
    acl.sim.model("sized")(None)


def test_dims_gears():
    gears = om.Gears(om.DIMS, [[1, 2, 3], [4, 5, 6]], [(0, 0, (1, 2)), (1, 0, (4, 5))])
    inputs = [("a", (-1, -1), "f4"), ("b", (2, -1), "f4")]

    @acl.sim.model("free", inputs=inputs, outputs=[("y", (4, 5), "f4")], gears=gears)
    def function(a, b):
        return a + b.size

    model = Model(load("free.om"))
    assert mdl.get_input_dynamic_gear_count(model.desc, -1) == (2, 0)
    dims, ret = mdl.get_input_dynamic_dims(model.desc, -1, 2)
    assert ret == 0 and [each["dims"] for each in dims] == [[1, 2, 2, 3], [4, 5, 2, 6]]
    for row, extra in zip(dims, (6, 12)):
        assert mdl.set_input_dynamic_dims(model.id, model.inputs.handle, 2, row) == 0
        shape = row["dims"][:2]
        assert (model(numpy.zeros(shape, "f4")) == extra).all()
    model.close()
    acl.sim.model("free")(None)


def test_open_shapes():
    """The program says what goes in, the run what came out."""
    tensor = om.Tensor("x", (-1, 2), F4, ranges=((1, 10), (2, 2)))

    @acl.sim.model("open", inputs=[tensor], outputs=[("y", (-1,), "f4")], dynamic=True)
    def function(x):
        return x.sum(axis=1)

    model = load("open.om")
    desc = describe(model)
    assert mdl.get_input_size_by_index(desc, 0) == 0
    assert mdl.get_input_dims_range(desc, 0) == ({"rangeCount": 2, "range": [[1, 10], [2, 2]]}, 0)
    inputs, outputs = Dataset([80]), Dataset([40])
    for rows in (3, 10, 1):
        inputs.put(0, numpy.arange(2 * rows, dtype="f4"))
        shape = acl.create_tensor_desc(0, [rows, 2], 2)
        assert mdl.set_dataset_tensor_desc(inputs.handle, shape, 0)[1] == 0
        acl.destroy_tensor_desc(shape)
        assert mdl.execute(model, inputs.handle, outputs.handle) == 0, acl.get_recent_err_msg()
        found = mdl.get_dataset_tensor_desc(outputs.handle, 0)
        assert acl.get_tensor_desc_num_dims(found) == 1
        assert acl.get_tensor_desc_dim_v2(found, 0) == (rows, 0)
        assert outputs.get(0, (rows,)).tolist() == [4 * row + 1 for row in range(rows)]
    inputs.close()
    outputs.close()
    assert (mdl.destroy_desc(desc), mdl.unload(model)) == (0, 0)
    acl.sim.model("open")(None)
