"""Custom kernels in captures: replays, what is shown of them, and changes."""

import json

import numpy
import pytest
from helpers import capture
from helpers.expect import NULL, pointer, refused
from helpers.vectors import COUNT, WAYS, in_device_memory, last

import acl
from acl._lib import ffi, lib

rt, mdl = acl.rt, acl.mdl
SCHEM_MODE, BLOCK_OFFSET, TIMEOUT, TIMEOUT_US = 1, 4, 7, 8

pytestmark = pytest.mark.needs_sim


def captured(vectors, launch=None):
    """Capture what ``launch()`` launches, one block if it is not given; return the instance and its tasks."""
    capture.begin(vectors.stream)
    assert (launch() if launch else vectors.launch(1)) == 0, acl.get_recent_err_msg()
    instance = capture.end(vectors.stream)
    streams, ret = mdl.ri_get_streams(instance)
    assert ret == 0
    tasks, ret = mdl.ri_get_tasks_by_stream(streams[0])
    assert ret == 0
    return (instance, *map(pointer, tasks))


def fails(instance, stream, code, *words):
    """Assert that a run fails, and how; it was the instance's last one."""
    assert mdl.ri_execute_async(instance, stream) == 0
    refused(rt.synchronize_stream(stream), code, *words)
    assert mdl.ri_destroy(instance) == 0


@pytest.mark.parametrize("launch", WAYS)
def test_every_way_is_captured_and_replayed(vectors, launch):
    instance, _ = captured(vectors, lambda: launch(vectors))
    for times in (11, 12, 13):
        capture.run(instance, vectors.stream)
        assert vectors.result() == times
    assert mdl.ri_destroy(instance) == 0


def test_a_captured_launch_shows_what_it_was_launched_with(vectors, tmp_path):
    block = in_device_memory(vectors)
    attributes = [{"id": SCHEM_MODE, "value": {"schemMode": 1}}, {"id": TIMEOUT, "value": 9}]

    def launch():
        return vectors.launch(3, attributes) or rt.launch_kernel(vectors.function, 4, block, 32, vectors.stream)

    instance, host, device = captured(vectors, launch)
    params = ffi.new("aclmdlRITaskParams *")
    assert lib.aclmdlRITaskGetParams(host, params) == 0
    kernel = params.kernelTaskParams
    assert (kernel.numBlocks, kernel.isHostArgs, kernel.argsSize, kernel.cfg.numAttrs) == (3, 1, 32, 2)
    assert int(ffi.cast("uintptr_t", kernel.funcHandle)) == vectors.function
    assert bytes(ffi.buffer(kernel.args, 32)) == vectors.packed
    assert [kernel.cfg.attrs[place].id for place in range(2)] == [SCHEM_MODE, TIMEOUT]
    value = ffi.new("aclrtLaunchKernelAttrValue *")
    for attribute, number in ((SCHEM_MODE, 1), (TIMEOUT, 9), (BLOCK_OFFSET, 0)):
        assert lib.aclmdlRIKernelTaskGetAttribute(host, attribute, value) == 0
        assert value.timeout == number
    assert lib.aclmdlRITaskGetParams(device, params) == 0
    kernel = params.kernelTaskParams
    assert (kernel.numBlocks, kernel.isHostArgs, kernel.argsSize, kernel.cfg) == (4, 0, 32, NULL)
    assert int(ffi.cast("uintptr_t", kernel.args)) == block
    path = tmp_path / "modelRI.json"
    assert mdl.ri_debug_json_print(instance, str(path), 1) == 0
    first, second = json.loads(path.read_text())
    assert (first["name"], first["args"]["Numblocks"], first["args"]["Schem Mode"]) == ("vector_add", 3, 1)
    assert first["args"]["Kernel Args"].split() == [f"0x{word:016x}" for word in vectors.words]
    assert (second["args"]["Kernel Args"], second["args"]["Kernel Args Size"]) == (f"0x{block:016x}", 32)
    assert mdl.ri_destroy(instance) == 0


def test_a_captured_launch_is_changed(vectors):
    instance, task = captured(vectors)
    params = ffi.new("aclmdlRITaskParams *")
    assert lib.aclmdlRITaskGetParams(task, params) == 0
    kernel = params.kernelTaskParams
    words = ffi.cast("uint64_t *", kernel.args)
    words[0] = vectors.blocks[1]  # y += y
    kernel.numBlocks = 2
    assert lib.aclmdlRITaskSetParams(task, params) == 0, acl.get_recent_err_msg()
    assert mdl.ri_update(instance) == 0
    capture.run(instance, vectors.stream)
    assert vectors.result() == 20
    for field, wrong in (("argsSize", 24), ("numBlocks", 0), ("isHostArgs", 0), ("funcHandle", pointer(3))):
        assert lib.aclmdlRITaskGetParams(task, params) == 0
        setattr(params.kernelTaskParams, field, wrong)
        refused(lib.aclmdlRITaskSetParams(task, params), 107000, field)
    assert mdl.ri_destroy(instance) == 0


def change(task, **fields):
    params = ffi.new("aclmdlRITaskParams *")
    assert lib.aclmdlRITaskGetParams(task, params) == 0
    for name, value in fields.items():
        setattr(params.kernelTaskParams, name, value)
    return lib.aclmdlRITaskSetParams(task, params)


@pytest.mark.finds("use-after-free")
def test_a_changed_launch_is_checked_anew(vectors):
    """What the new arguments touch is asked for, is refused where it is wrong, and is found to be freed."""
    instance, task = captured(vectors)
    wrong = ffi.new("uint64_t[4]", (vectors.blocks[0], 0x1000, vectors.blocks[1], COUNT))
    refused(change(task, args=wrong), 107000, "range 1 of kernel vector_add is 0x1000")
    capture.run(instance, vectors.stream)
    assert vectors.result() == 11
    other, _ = rt.malloc(4 * COUNT, 0)
    vectors.put(other, 3 * numpy.arange(COUNT, dtype="f4"))
    words = ffi.new("uint64_t[4]", (other, vectors.blocks[1], vectors.blocks[1], COUNT))
    assert change(task, args=words) == mdl.ri_update(instance) == 0
    assert rt.free(vectors.blocks[0]) == 0  # of which nothing is left in the task
    capture.run(instance, vectors.stream)
    assert vectors.result() == 14
    assert rt.free(other) == 0
    fails(instance, vectors.stream, 507053, "vector_add", "freed before it ran")


@pytest.mark.finds("use-after-free")
def test_a_change_may_touch_more_than_before(vectors):
    """The implementation that was chosen at the launch is asked, with no lock held: it may ask about the instance."""
    found = []

    def touches(launch, x, y, z, count):
        found.append(mdl.ri_get_streams(instance)[1] if instance else None)
        return [(x + 4 * place, 4, False) for place in range(count)]

    instance = None
    acl.sim.custom_kernel("vector_add", "vector_add.o", parameters="PPPQ", touches=touches)(lambda *given: None)
    vectors.count = 1
    instance, task = captured(vectors)
    words = ffi.new("uint64_t[4]", vectors.words)
    words[3] = COUNT
    assert change(task, args=words) == 0, acl.get_recent_err_msg()
    words[3] = 65
    refused(change(task, args=words), 107000, "declares 65 memory ranges")
    assert found == [None, 0, 0]
    assert mdl.ri_update(instance) == 0
    capture.run(instance, vectors.stream)
    assert rt.free(vectors.blocks[0]) == 0
    fails(instance, vectors.stream, 507053, "vector_add")


def test_a_change_after_unloading_asks_nobody(vectors):
    instance, task = captured(vectors)
    assert rt.binary_unload(vectors.binary) == 0
    words = ffi.new("uint64_t[4]", (0x1000, 0x1000, 0x1000, COUNT))
    assert change(task, args=words) == mdl.ri_update(instance) == 0
    fails(instance, vectors.stream, 507024, "unloaded before it ran")


def test_arguments_in_device_memory_are_changed(vectors):
    block = in_device_memory(vectors)
    instance, task = captured(vectors, lambda: rt.launch_kernel(vectors.function, 1, block, 32, vectors.stream))
    refused(change(task, args=pointer(0x1000)), 107000, "args is 0x1000")
    vectors.blocks[0] = vectors.blocks[1]
    assert change(task, args=pointer(in_device_memory(vectors))) == mdl.ri_update(instance) == 0
    capture.run(instance, vectors.stream)
    assert vectors.result() == 20
    assert mdl.ri_destroy(instance) == 0


def test_a_time_out_is_changed_with_the_attributes(vectors):
    acl.sim.custom_kernel("vector_add", "vector_add.o")(lambda launch: last(1000))
    instance, task = captured(vectors, lambda: vectors.launch(1, [{"id": TIMEOUT, "value": 60}]))
    capture.run(instance, vectors.stream)
    attribute = ffi.new("aclrtLaunchKernelAttr *", {"id": TIMEOUT_US})
    attribute.value.timeoutUs.timeoutLow = 100
    cfg = ffi.new("aclrtLaunchKernelCfg *", {"attrs": attribute, "numAttrs": 1})
    assert change(task, cfg=cfg) == mdl.ri_update(instance) == 0
    fails(instance, vectors.stream, 507014, "time-out of 100 us")


def test_pyacl_changes_a_captured_launch(vectors):
    instance, task = captured(vectors)
    task = int(ffi.cast("uintptr_t", task))
    params, ret = mdl.ri_task_get_params(task)
    assert (ret, params["args"], params["num_blocks"]) == (0, list(vectors.words), 1)
    assert params["func_handle"] == vectors.function
    params.update(args=[vectors.blocks[1], *params["args"][1:]], num_blocks=3)
    assert mdl.ri_task_set_params(task, params) == mdl.ri_update(instance) == 0
    capture.run(instance, vectors.stream)
    assert vectors.result() == 20
    assert mdl.ri_destroy(instance) == 0


def test_groups_of_launches_are_updated(vectors, other):
    capture.begin(vectors.stream)
    assert mdl.ri_capture_task_grp_begin(vectors.stream) == 0
    assert vectors.launch(1) == 0
    group, ret = mdl.ri_capture_task_grp_end(vectors.stream)
    assert ret == 0
    instance = capture.end(vectors.stream)
    twos, _ = rt.malloc(4 * COUNT, 0)
    vectors.put(twos, 2 * numpy.arange(COUNT, dtype="f4"))
    vectors.blocks[0] = twos
    assert mdl.ri_capture_task_update_begin(other, group) == 0
    batch = [{"id": SCHEM_MODE, "value": {"schemMode": 1}}]
    refused(vectors.launch(3, batch, stream=other), 507000, "scheduling mode 0")
    assert vectors.launch(3, stream=other) == 0
    assert mdl.ri_capture_task_update_end(other) == rt.synchronize_stream(other) == 0
    capture.run(instance, vectors.stream)
    assert vectors.result() == 12
    assert mdl.ri_destroy(instance) == 0


def test_a_replay_after_unloading_fails(vectors):
    instance, _ = captured(vectors)
    assert rt.binary_unload(vectors.binary) == 0
    fails(instance, vectors.stream, 507024, "vector_add")


def test_a_kernel_of_the_cpu_is_in_no_group(vectors):
    content = acl.util.bytes_to_ptr(b"library")
    binary, _ = rt.binary_load_from_data(content, 7, [{"type": 3, "value": {"cpuKernelMode": 2}}])
    function, _ = rt.register_cpu_func(binary, "run", "sort")
    seen = []
    acl.sim.custom_kernel("run")(seen.append)
    assert rt.launch_kernel_with_host_args(function, 1, vectors.stream, [], content, 7, [], 0) == 0
    assert rt.synchronize_stream(vectors.stream) == 0
    assert [launch.kernel for launch in seen] == ["sort"]
    capture.begin(vectors.stream)
    assert mdl.ri_capture_task_grp_begin(vectors.stream) == 0
    ret = rt.launch_kernel_with_host_args(function, 1, vectors.stream, [], content, 7, [], 0)
    refused(ret, 507009, "accepts only kernels")
    assert mdl.ri_capture_task_grp_end(vectors.stream)[1] == 0
    assert mdl.ri_destroy(capture.end(vectors.stream)) == 0
