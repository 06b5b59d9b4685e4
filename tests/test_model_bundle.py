"""Bundles: files of several models."""

import struct

import numpy
import pytest
from helpers.expect import NULL, refused
from helpers.models import Model, affine_bytes, initialise

import acl
from acl._lib import ffi, lib
from acl.sim import om

mdl, rt = acl.mdl, acl.rt
UNKNOWN = 148053
pytestmark = pytest.mark.needs_sim


@pytest.fixture(autouse=True)
def process(device):
    initialise()


def add_bytes(n, **options):
    """Return a model that adds a number to one input, by a recording."""
    x, y = om.Tensor("x", (1,)), om.Tensor("y", (1,))
    pairs = [([numpy.array([k], "f4")], [numpy.array([k + n], "f4")]) for k in range(3)]
    return acl.sim.recorded(f"add{n}", [x], [y], pairs, **options)


@pytest.fixture
def content():
    return om.bundle([add_bytes(10, work=4096), add_bytes(20), add_bytes(30)], variables=1 << 20)


def from_memory(content):
    return mdl.bundle_load_from_mem(acl.util.bytes_to_ptr(content), len(content))


def opened(content, variables=0, size=0):
    """Return ``(bundle, ret)`` of one whose models are not loaded."""
    number = ffi.new("uint32_t *")
    data = ffi.from_buffer(content)
    ret = lib.aclmdlBundleInitFromMem(data, len(content), ffi.cast("void *", variables), size, number)
    return number[0], ret


def run(number, value):
    model = Model(number)
    result = model(numpy.array([value], "f4")).tolist()
    model.inputs.close()
    model.outputs.close()
    mdl.destroy_desc(model.desc)
    return result


@pytest.mark.parametrize("wide", [True, False])
def test_all_models_are_loaded_and_run(tmp_path, wide):
    content = om.bundle([add_bytes(10), add_bytes(20), add_bytes(30)], wide=wide)
    (tmp_path / "all.om").write_bytes(content)
    for bundle, ret in (from_memory(content), mdl.bundle_load_from_file(str(tmp_path / "all.om"))):
        assert ret == 0, acl.get_recent_err_msg()
        assert mdl.bundle_get_model_num(bundle) == (3, 0)
        models = [mdl.bundle_get_model_id(bundle, i) for i in range(3)]
        assert [ret for _, ret in models] == [0, 0, 0] and len(set(models)) == 3
        assert [run(number, 2) for number, _ in models] == [[12], [22], [32]]
        refused(mdl.unload(models[0][0]), 100000, "aclmdlBundleUnload")
        assert mdl.bundle_unload(bundle) == 0
        assert [mdl.unload(number) for number, _ in models] == [145003] * 3


def test_memory_comes_back(content):
    before = rt.get_mem_info(1)[0]
    bundle, ret = from_memory(content)
    assert ret == 0 and before - rt.get_mem_info(1)[0] >= 1 << 20
    assert mdl.bundle_unload(bundle) == 0
    assert rt.get_mem_info(1)[0] == before


def test_models_one_by_one(content):
    variables = rt.malloc(1 << 20, 0)[0]
    refused(opened(content, variables, (1 << 20) - 1)[1], 145000, "varWeightSize is 1048575", "1048576")
    bundle, ret = opened(content, variables, 1 << 20)
    assert ret == 0
    assert mdl.bundle_get_model_num(bundle) == (3, 0)
    refused(mdl.bundle_get_model_id(bundle, 1)[1], 200001, "not loaded")
    number = ffi.new("uint32_t *")
    assert lib.aclmdlBundleLoadModel(bundle, 1, number) == 0
    assert mdl.bundle_get_model_id(bundle, 1) == (number[0], 0)
    assert run(number[0], 1) == [21]
    refused(lib.aclmdlBundleLoadModel(bundle, 1, number), 145009, "loaded already")
    other = ffi.new("uint32_t *")
    work = rt.malloc(4096, 0)[0]
    refused(lib.aclmdlBundleLoadModelWithMem(bundle, 0, ffi.cast("void *", work), 4095, NULL, 0, other), 145000, "4095")
    assert lib.aclmdlBundleLoadModelWithMem(bundle, 0, ffi.cast("void *", work), 4096, NULL, 0, other) == 0
    assert run(other[0], 1) == [11]
    config = lib.aclmdlCreateConfigHandle()
    third = ffi.new("uint32_t *")
    assert lib.aclmdlBundleLoadModelWithConfig(bundle, 2, config, third) == 0
    assert lib.aclmdlDestroyConfigHandle(config) == 0
    assert run(third[0], 0) == [30]
    assert lib.aclmdlBundleUnloadModel(bundle, number[0]) == 0
    refused(lib.aclmdlBundleUnloadModel(bundle, number[0]), 145003, "not a loaded model")
    assert lib.aclmdlBundleLoadModel(bundle, 1, number) == 0
    assert mdl.bundle_unload(bundle) == 0
    assert (rt.free(work), rt.free(variables)) == (0, 0)


def test_questions(tmp_path, content):
    (tmp_path / "all.om").write_bytes(content)
    info = lib.aclmdlBundleCreateQueryInfo()
    size, other = ffi.new("size_t *"), ffi.new("size_t *")
    refused(lib.aclmdlBundleGetQueryModelNum(info, size), 100000, "empty")
    assert lib.aclmdlBundleQueryInfoFromFile(str(tmp_path / "all.om").encode(), info) == 0
    assert lib.aclmdlBundleGetQueryModelNum(info, size) == 0 and size[0] == 3
    assert lib.aclmdlBundleGetVarWeightSize(info, size) == 0 and size[0] == 1 << 20
    assert lib.aclmdlBundleGetSize(info, 0, size, other) == 0 and size[0] == 4096 and other[0] > 0
    refused(lib.aclmdlBundleGetSize(info, 3, size, other), 100000, "index is 3")
    refused(lib.aclmdlBundleQueryInfoFromMem(NULL, 10, info), 100000, "model is NULL")
    refused(lib.aclmdlBundleQueryInfoFromMem(ffi.from_buffer(content), 0, info), 100000, "modelSize is 0")
    plain = affine_bytes()
    refused(lib.aclmdlBundleQueryInfoFromMem(ffi.from_buffer(plain), len(plain), info), 100000, "one model")
    refused(lib.aclmdlBundleGetVarWeightSize(info, size), 100000, "empty")
    assert lib.aclmdlBundleDestroyQueryInfo(info) == 0
    refused(lib.aclmdlBundleDestroyQueryInfo(info), 100000, "a destroyed bundle query")


def test_what_is_no_bundle(tmp_path, content):
    plain = affine_bytes()
    refused(from_memory(plain)[1], 100000, "one model", "aclmdlLoadFromFile")
    data = acl.util.bytes_to_ptr(content)
    refused(mdl.load_from_mem(data, len(content))[1], 145000, "aclmdlBundleLoadFromFile")
    refused(mdl.bundle_load_from_mem(0, 10)[1], 100000, "model is NULL")
    refused(mdl.bundle_load_from_mem(data, 0)[1], 100000, "modelSize is 0")
    refused(mdl.bundle_load_from_file(str(tmp_path / "none"))[1], 145002, "No such file")
    for size in range(1, len(content), 97):
        assert from_memory(content[:size])[1] == 145006, size
    for count in (0, 257, 0xFFFFFFFF):
        damaged = bytearray(content)
        struct.pack_into("<I", damaged, 256, count)
        refused(from_memory(bytes(damaged))[1], 145000, f"{count} partitions")
    refused(from_memory(om.container([(om.BUNDLE_VARIABLES, bytes(8))], kind=5))[1], 145000, "no model")
    refused(from_memory(om.container([(om.BUNDLE_VARIABLES, bytes(7))], kind=5))[1], 145006, "variable weights")


def test_one_bad_model_loads_none():
    before = rt.get_mem_info(1)[0]
    refused(from_memory(om.bundle([add_bytes(1), b"x" * 300], variables=4096))[1], 145006, "magic")
    assert rt.get_mem_info(1)[0] == before


def test_ids(content):
    calls = [
        mdl.bundle_unload,
        lambda number: mdl.bundle_get_model_num(number)[1],
        lambda number: mdl.bundle_get_model_id(number, 0)[1],
        lambda number: lib.aclmdlBundleUnloadModel(number, 1),
    ]
    for call in calls:
        for wrong in (0, 0xFFFFFFFF):
            refused(call(wrong), UNKNOWN, f"bundleId is {wrong}")
    bundle, ret = from_memory(content)
    assert ret == 0
    refused(mdl.bundle_get_model_id(bundle, 3)[1], 100000, "index is 3")
    assert mdl.bundle_unload(bundle) == 0
    refused(mdl.bundle_unload(bundle), UNKNOWN)
