"""Saved instances: captured work as model files, which give the same bits in any process, also one without Python."""

import struct
import subprocess

import numpy
import pytest
from helpers import programs
from helpers.capture import EXTERNAL, RELAXED, Words, begin, end, ex_event, fork, run
from helpers.expect import refused
from helpers.models import Model, initialise, load, load_bytes
from helpers.single import Single
from helpers.tensors import Device

import acl
from acl.sim import om

mdl, rt = acl.mdl, acl.rt
pytestmark = pytest.mark.needs_sim

# Loads the model named first, runs it once for each file of inputs that follows, and writes all outputs.
RUNNER = r"""
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int code = (call);                                                                                             \
        if (code != 0) {                                                                                               \
            fprintf(stderr, "%s: %d: %s\n", #call, code, aclGetRecentErrMsg());                                        \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

static aclmdlDataset *dataset_of(void **memory, size_t size)
{
    aclmdlDataset *dataset = aclmdlCreateDataset();
    if (aclrtMalloc(memory, size, ACL_MEM_MALLOC_HUGE_FIRST) != 0 ||
        aclmdlAddDatasetBuffer(dataset, aclCreateDataBuffer(*memory, size)) != 0)
        abort();
    return dataset;
}

static int end(aclmdlDataset *dataset, void *memory)
{
    CHECK(aclDestroyDataBuffer(aclmdlGetDatasetBuffer(dataset, 0)));
    CHECK(aclmdlDestroyDataset(dataset));
    return aclrtFree(memory);
}

int main(int argc, char **argv)
{
    uint32_t model;
    void *input, *output;
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclmdlLoadFromFile(argv[1], &model));
    aclmdlDesc *desc = aclmdlCreateDesc();
    CHECK(aclmdlGetDesc(desc, model));
    size_t in = aclmdlGetInputSizeByIndex(desc, 0), out = aclmdlGetOutputSizeByIndex(desc, 0);
    aclmdlDataset *inputs = dataset_of(&input, in), *outputs = dataset_of(&output, out);
    char *bytes = malloc(in + out);
    for (int i = 2; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL || fread(bytes, 1, in, file) != in)
            return 2;
        fclose(file);
        CHECK(aclrtMemcpy(input, in, bytes, in, ACL_MEMCPY_HOST_TO_DEVICE));
        CHECK(aclmdlExecute(model, inputs, outputs));
        CHECK(aclrtMemcpy(bytes, out, output, out, ACL_MEMCPY_DEVICE_TO_HOST));
        fwrite(bytes, 1, out, stdout);
    }
    CHECK(end(inputs, input));
    CHECK(end(outputs, output));
    CHECK(aclmdlDestroyDesc(desc));
    CHECK(aclmdlUnload(model));
    CHECK(aclrtResetDevice(0));
    return aclFinalize();
}
"""


class Network:
    """A captured network of two streams: what it works on stays alive as long as it."""

    def __init__(self, device):
        numbers = numpy.random.default_rng(7)
        self.device = device
        put = device.tensor
        self.image = put(numpy.zeros((1, 16), "f4"))
        hidden, biased, active, copied = (put(numpy.full((1, n), numpy.nan, "f4")) for n in (32, 32, 32, 16))
        joined, scores = put(numpy.full((1, 48), numpy.nan, "f4")), put(numpy.full((1, 10), numpy.nan, "f4"))
        self.out = put(numpy.zeros((1, 10), "f4"))
        weights, bias = numbers.normal(size=(32, 16)).astype("f4"), put(numbers.normal(size=32).astype("f4"))
        turned = device.view(weights, weights.T, "f4")
        last = put(numbers.normal(size=(48, 10)).astype("f4"))
        other, ret = rt.create_stream()
        assert ret == 0
        forked, joined_event = ex_event(), ex_event()
        begin(device.stream, RELAXED)
        fork(forked, device.stream, other)
        assert rt.memcpy_async(copied.address, 64, self.image.address, 64, 3, other) == 0
        for call in (
            ("matmul", self.image, turned, hidden, 0),
            ("add", hidden, bias, device.scalar(0.5), biased),
            ("relu", biased, active),
        ):
            assert device.call(*call) == 0, acl.get_recent_err_msg()
        fork(joined_event, other, device.stream)
        for call in (
            ("cat", device.list([active, copied]), 1, joined),
            ("matmul", joined, last, scores, 0),
            ("softmax", scores, -1, self.out),
        ):
            assert device.call(*call) == 0, acl.get_recent_err_msg()
        self.instance = end(device.stream)
        assert [rt.destroy_event(forked), rt.destroy_event(joined_event), rt.destroy_stream(other)] == [0, 0, 0]

    def __call__(self, image):
        """Replay it on an image."""
        assert rt.memcpy(self.image.address, 64, image.ctypes.data, 64, 1) == 0
        run(self.instance, self.device.stream)
        return self.device.get(self.out).copy()

    def save(self, path):
        """Save it."""
        acl.sim.save(
            self.instance, path, [("image", self.image.address, (1, 16), "f4")], [(self.out.address, (1, 10), "f4")]
        )


@pytest.fixture
def device():
    made = Device()
    initialise()
    yield made
    made.close()


@pytest.fixture
def network(device):
    made = Network(device)
    yield made
    assert mdl.ri_destroy(made.instance) == 0


@pytest.fixture
def words():
    made = Words()
    yield made
    made.close()


def images(count):
    return [numpy.random.default_rng(seed).normal(size=(1, 16)).astype("f4") for seed in range(count)]


def test_saved_instance_gives_the_same_bits(network, tmp_path):
    path = tmp_path / "network.om"
    network.save(path)
    model = Model(load(path))
    assert mdl.get_input_name_by_index(model.desc, 0) == "image"
    assert mdl.get_output_name_by_index(model.desc, 0) == "output0"
    for image in images(8):
        expected = network(image)
        assert abs(expected.sum() - 1) < 1e-5
        assert model(image).tobytes() == expected.tobytes()
    model.close()


def test_saved_instance_gives_the_same_bits_in_another_process(network, tmp_path):
    network.save(tmp_path / "network.om")
    for place, image in enumerate(images(3)):
        (tmp_path / f"image{place}").write_bytes(image.tobytes())
    code = f"""
import sys, numpy
sys.path.insert(0, {str(programs.__file__).rsplit("/", 2)[0]!r})
from helpers.models import Model, initialise, load
import acl
initialise()
acl.rt.set_device(0)
model = Model(load({str(tmp_path / "network.om")!r}))
for place in range(3):
    image = numpy.fromfile({str(tmp_path)!r} + f"/image{{place}}", "f4")
    sys.stdout.buffer.write(model(image).tobytes())
"""
    path = tmp_path / "script.py"
    path.write_text(code)
    command = [programs.sys.executable, str(path)]
    expected = b"".join(network(image).tobytes() for image in images(3))
    done = subprocess.run(command, env=programs.environment(), capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, expected), done.stderr


def test_saved_instance_gives_the_same_bits_in_a_c_program(network, tmp_path):
    network.save(tmp_path / "network.om")
    names = [str(tmp_path / f"image{place}") for place in range(3)]
    for name, image in zip(names, images(3)):
        image.tofile(name)
    program = programs.Compiler(tmp_path)(RUNNER, libraries=("ascendcl", "acl_rt"))
    done = subprocess.run([program, str(tmp_path / "network.om"), *names], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"".join(network(image).tobytes() for image in images(3))


def test_only_what_is_read_before_it_is_written_is_kept(network, tmp_path):
    path = tmp_path / "network.om"
    network(images(1)[0])
    network.save(path)
    weights = 4 * (32 * 16 + 32 + 48 * 10)
    block = block_of(path.read_bytes())
    assert weights < len(block) < weights + 2000
    assert struct.unpack_from("<8sIIII", block)[2:5] == (1, 1, 7)


def block_of(content):
    """The constant block of a model file: its second partition."""
    (count,) = struct.unpack_from("<I", content, 256)
    offset, size = struct.unpack_from("<QQ", content, 264 + 24 + 8)
    first = 264 + 24 * count + offset
    return content[first : first + size]


# --- memory


def saved(instance, words, path, given=0, returned=2):
    """Save an instance that works on words, and load it."""
    acl.sim.save(instance, path, [(words.at(given), (1,), "u4")], [(words.at(returned), (1,), "u4")])
    return Model(load(path))


def word(model, value):
    model.inputs.put(0, numpy.array([value], "u4"))
    assert model.execute() == 0, acl.get_recent_err_msg()
    return int(model.outputs.get(0, (1,), "u4")[0])


def test_what_a_run_leaves_the_next_one_finds(device, words, tmp_path):
    assert words.set(device.stream, 1, 0) == 0
    assert rt.synchronize_stream(device.stream) == 0
    begin(device.stream, RELAXED)
    assert words.count_up(device.stream, 1, 3) == 0
    assert words.copy(device.stream, 2, 1) == 0
    instance = end(device.stream)
    one = saved(instance, words, tmp_path / "one.om")
    run(instance, device.stream)
    other = saved(instance, words, tmp_path / "two.om")
    assert [word(one, 0) for _ in range(3)] == [3, 6, 9]
    assert [word(other, 0) for _ in range(2)] == [6, 9]
    assert words.read()[1] == 3
    for model in (one, other):
        model.close()
    assert mdl.ri_destroy(instance) == 0


def test_inputs_outputs_and_memory_in_between_may_be_one(device, words, tmp_path):
    begin(device.stream, RELAXED)
    assert words.count_up(device.stream, 0, 2) == 0
    instance = end(device.stream)
    model = saved(instance, words, tmp_path / "same.om", 0, 0)
    assert [word(model, n) for n in (5, 7, 5)] == [7, 9, 7]
    model.close()
    assert mdl.ri_destroy(instance) == 0


def test_sets_and_copies_of_rectangles_are_steps(device, tmp_path):
    grid = device.tensor(numpy.zeros((4, 8), "u1"))
    image = device.tensor(numpy.zeros((3, 2), "u1"))
    begin(device.stream, RELAXED)
    assert rt.memset_async(grid.address, 32, 9, 32, device.stream) == 0
    assert rt.memcpy2d_async(grid.address + 9, 8, image.address, 2, 2, 3, 3, device.stream) == 0
    instance = end(device.stream)
    acl.sim.save(instance, tmp_path / "grid.om", [(image.address, (3, 2), "u1")], [(grid.address, (4, 8), "u1")])
    model = Model(load(tmp_path / "grid.om"))
    pixels = numpy.arange(6, dtype="u1").reshape(3, 2)
    model.inputs.put(0, pixels)
    assert model.execute() == 0, acl.get_recent_err_msg()
    expected = numpy.full((4, 8), 9, "u1")
    expected[1:4, 1:3] = pixels
    assert model.outputs.get(0, (4, 8), "u1").tolist() == expected.tolist()
    model.close()
    assert mdl.ri_destroy(instance) == 0


def test_single_operators_without_an_aclnn_operator_are_steps(device, tmp_path):
    values = numpy.arange(16, dtype="f4").reshape(1, 1, 4, 4)
    x, out = device.tensor(numpy.zeros_like(values)), device.tensor(numpy.zeros((1, 1, 2, 2), "f4"))
    single = Single(device)
    given = single.desc(values.shape, "f4", 0), single.buffer(x.address, values.nbytes)
    taken = single.desc((1, 1, 2, 2), "f4", 0), single.buffer(out.address, 16)
    begin(device.stream, RELAXED)
    flags = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "padding": "VALID", "data_format": "NCHW"}
    assert single.call("MaxPool", [given], [taken], **flags) == 0, acl.get_recent_err_msg()
    instance = end(device.stream)
    acl.sim.save(instance, tmp_path / "pool.om", [(x.address, values.shape, "f4")], [(out.address, (4,), "f4")])
    model = Model(load(tmp_path / "pool.om"))
    model.inputs.put(0, values)
    assert model.execute() == 0, acl.get_recent_err_msg()
    assert model.outputs.get(0, (4,), "f4").tolist() == [5, 7, 13, 15]
    model.close()
    single.close()
    assert mdl.ri_destroy(instance) == 0


def test_single_operators_with_many_outputs_are_steps(device, tmp_path):
    values = numpy.arange(6, dtype="f4")
    x, outs = device.tensor(numpy.zeros_like(values)), [device.tensor(numpy.zeros(3, "f4")) for _ in range(2)]
    single = Single(device)
    given = single.desc((2, 3), "f4"), single.buffer(x.address, values.nbytes)
    taken = [(single.desc((3,), "f4"), single.buffer(out.address, 12)) for out in outs]
    begin(device.stream, RELAXED)
    assert single.call("Unpack", [given], taken, num=2) == 0, acl.get_recent_err_msg()
    instance = end(device.stream)
    ports = [(out.address, (3,), "f4") for out in outs]
    acl.sim.save(instance, tmp_path / "parts.om", [(x.address, (6,), "f4")], ports)
    model = Model(load(tmp_path / "parts.om"))
    model.inputs.put(0, values)
    assert model.execute() == 0, acl.get_recent_err_msg()
    assert [model.outputs.get(place, (3,), "f4").tolist() for place in range(2)] == [[0, 1, 2], [3, 4, 5]]
    model.close()
    single.close()
    assert mdl.ri_destroy(instance) == 0


def test_an_update_is_saved_as_it_is_in_force(device, words, tmp_path):
    begin(device.stream, RELAXED)
    assert words.set(device.stream, 2, 1) == 0
    assert words.count_up(device.stream, 2, 2) == 0
    instance = end(device.stream)
    streams, _ = mdl.ri_get_streams(instance)
    tasks, _ = mdl.ri_get_tasks_by_stream(streams[0])
    assert mdl.ri_task_disable(tasks[1]) == 0
    refused(saving(instance, words), 107000, "still being captured, built or updated")
    assert mdl.ri_update(instance) == 0
    model = saved(instance, words, tmp_path / "updated.om")
    assert word(model, 0) == 0x01010101 + 1
    model.close()
    assert mdl.ri_destroy(instance) == 0


# --- kernels of the program's own


def test_registered_kernels_are_found_by_name(device, tmp_path):
    x, out = device.tensor(numpy.zeros(4, "f4")), device.tensor(numpy.zeros(4, "f4"))

    @acl.sim.kernel("aclnnRelu", plan=lambda self, out: 64)
    def relu(self, out):
        out[...] = self + 100

    size, executor, ret = acl.nnop.relu_get_workspace_size(x.handle, out.handle)
    workspace, _ = rt.malloc(64, 0)
    begin(device.stream, RELAXED)
    assert (size, ret, acl.nnop.relu(workspace, size, executor, device.stream)) == (64, 0, 0)
    instance = end(device.stream)
    acl.sim.save(instance, tmp_path / "relu.om", [(x.address, (4,), "f4")], [(out.address, (4,), "f4")])
    model = Model(load(tmp_path / "relu.om"))
    assert model(numpy.float32([-1, 0, 1, 2])).tolist() == [99, 100, 101, 102]
    model.close()
    acl.sim.kernel("aclnnRelu")(None)
    model = Model(load(tmp_path / "relu.om"))
    assert model(numpy.float32([-1, 0, 1, 2])).tolist() == [0, 0, 1, 2]
    model.close()
    rt.free(workspace)
    assert mdl.ri_destroy(instance) == 0


def test_steps_saturate_where_the_stream_of_a_run_does(device, tmp_path):
    x, out = device.tensor(numpy.ones(2, "f4")), device.tensor(numpy.zeros(2, "f4"))
    begin(device.stream, RELAXED)
    assert device.call("div", device.tensor(numpy.float32([1, -1])), x, out) == 0
    instance = end(device.stream)
    acl.sim.save(instance, tmp_path / "div.om", [(x.address, (2,), "f4")], [(out.address, (2,), "f4")])
    model = Model(load(tmp_path / "div.om"))
    model.inputs.put(0, numpy.zeros(2, "f4"))
    assert rt.set_device_sat_mode(0) == 0
    saturating, ret = rt.create_stream()
    assert ret == rt.set_device_sat_mode(1) == 0
    most = float(numpy.finfo("f4").max)
    for stream, most_there in ((device.stream, numpy.inf), (saturating, most)):
        assert model.execute(stream) == rt.synchronize_stream(stream) == 0
        assert model.outputs.get(0, 2).tolist() == [most_there, -most_there]
    model.close()
    assert rt.destroy_stream(saturating) == mdl.ri_destroy(instance) == 0


def test_an_operator_without_kernel_refuses_the_load(device, tmp_path):
    x, out = device.tensor(numpy.zeros(4, "f4")), device.tensor(numpy.zeros(4, "f4"))
    name = "aclnnDigamma"
    size, _, ret = acl.nnop.digamma_get_workspace_size(x.handle, out.handle)
    assert ret == 561003, f"{name} has a built-in kernel by now: take an operator that has none"
    acl.sim.kernel(name)(lambda self, out: None)
    begin(device.stream, RELAXED)
    assert device.call("digamma", x, out) == 0
    instance = end(device.stream)
    acl.sim.save(instance, tmp_path / "digamma.om", [(x.address, (4,), "f4")], [(out.address, (4,), "f4")])
    acl.sim.kernel(name)(None)
    refused(mdl.load_from_file(str(tmp_path / "digamma.om"))[1], 145000, f"no kernel for {name}")
    assert mdl.ri_destroy(instance) == 0


# --- errors


def saving(instance, words, given=None, returned=None):
    """The code of saving an instance over words."""
    ffi, lib = acl._lib.ffi, acl._lib.lib
    spans = [
        ffi.new("aclsimRange *", {"address": ffi.cast("void *", address), "size": size})
        for address, size in (given or (words.at(0), 4), returned or (words.at(2), 4))
    ]
    return lib.aclsimSaveInstance(ffi.cast("void *", instance), spans[0], 1, spans[1], 1, ffi.NULL, ffi.new("size_t *"))


def test_wrong_arguments_are_refused(device, words):
    ffi, lib = acl._lib.ffi, acl._lib.lib
    begin(device.stream, RELAXED)
    assert words.copy(device.stream, 2, 0) == 0
    instance = end(device.stream)
    handle, span = ffi.cast("void *", instance), ffi.new("aclsimRange *")
    span.address, span.size = ffi.cast("void *", words.at(0)), 4
    block, size = ffi.NULL, ffi.new("size_t *")
    for arguments in (
        (handle, ffi.NULL, 1, span, 1, block, size),
        (handle, span, 0, span, 1, block, size),
        (handle, span, 1, span, 65, block, size),
        (handle, span, 1, ffi.NULL, 1, block, size),
        (handle, span, 1, span, 1, block, ffi.NULL),
    ):
        refused(lib.aclsimSaveInstance(*arguments), 100000)
    refused(lib.aclsimSaveInstance(ffi.NULL, span, 1, span, 1, block, size), 107017)
    refused(saving(instance, words, given=(words.at(0), 0)), 100000, "inputs[0]")
    refused(saving(instance, words, returned=(words.address, 1 << 40)), 107000, "an output")
    with pytest.raises(RuntimeError, match="an input"):
        acl.sim.save(instance, "unused", [(words.at(0), (1 << 30,), "f8")], [(words.at(2), (1,), "u4")])
    assert lib.aclsimSaveInstance(handle, span, 1, span, 1, ffi.NULL, size) == 0
    needed, block = size[0], ffi.new("char[]", size[0])
    size[0] = needed - 1
    refused(lib.aclsimSaveInstance(handle, span, 1, span, 1, block, size), 107000, f"expected {needed}")
    assert (lib.aclsimSaveInstance(handle, span, 1, span, 1, block, size), size[0]) == (0, needed)
    assert ffi.buffer(block)[:8] == b"ACLSAVE1"
    assert mdl.ri_destroy(instance) == 0


def test_an_instance_that_runs_or_is_not_complete_is_refused(device, words):
    begin(device.stream, RELAXED)
    assert words.copy(device.stream, 2, 0) == 0
    _, instance, ret = mdl.ri_capture_get_info(device.stream)
    assert ret == 0
    refused(saving(instance, words), 107000, "still being captured")
    instance = end(device.stream)
    acl.sim.hold(device.stream)
    assert mdl.ri_execute_async(instance, device.stream) == 0
    refused(saving(instance, words), 107000, "runs")
    acl.sim.release(device.stream)
    assert rt.synchronize_stream(device.stream) == 0
    assert saving(instance, words) == 0
    assert mdl.ri_destroy(instance) == 0
    refused(saving(instance, words), 107017)


def test_tasks_that_no_file_holds_are_refused(device, words):
    event, ret = rt.create_event_with_flag(EXTERNAL)
    assert ret == 0
    begin(device.stream, RELAXED)
    assert words.copy(device.stream, 2, 0) == 0
    assert rt.stream_wait_event(device.stream, event) == 0
    instance = end(device.stream)
    refused(saving(instance, words), 207000, "cannot be saved in a model file")
    assert mdl.ri_destroy(instance) == 0
    assert rt.destroy_event(event) == 0


def test_memory_that_is_gone_is_refused(device, words):
    begin(device.stream, RELAXED)
    other = Words()
    assert words.copy(device.stream, 2, 0) == 0
    assert rt.memcpy_async(words.at(3), 4, other.at(0), 4, 3, device.stream) == 0
    instance = end(device.stream)
    assert saving(instance, words) == 0
    other.close()
    refused(saving(instance, words), 107000, "freed before")
    assert mdl.ri_destroy(instance) == 0


# --- files


def test_a_damaged_file_never_loads_or_runs_as_it_is_read(network, tmp_path):
    """Cut anywhere the block is refused; with another number anywhere it is refused, or loads within its bounds."""
    path = tmp_path / "network.om"
    network.save(path)
    block = block_of(path.read_bytes())
    ports = [om.Tensor("x", (1, 16))], [om.Tensor("y", (1, 10))]

    def attempt(damaged):
        return load_bytes(om.write("damaged", *ports, weights=bytes(damaged), executor="saved"))

    model, ret = attempt(block)
    assert (ret, mdl.unload(model)) == (0, 0)
    for size in [*range(0, 128, 4), *range(128, len(block), 331), len(block) - 1]:
        refused(attempt(block[:size])[1], 145000, "saved instance")
    refused(attempt(block + b"\0")[1], 145000, "after its end")
    loaded = 0
    places = [*range(8, 240, 4), *range(len(block) - 900, len(block) - 3, 4)]
    for place in places:
        for value in (0, 0x7FFFFFFF, 0xFFFFFFFF):
            damaged = bytearray(block)
            struct.pack_into("<I", damaged, place, value)
            model, ret = attempt(damaged)
            assert ret in (0, 145000, 245000), (place, value, ret)
            if ret == 0:
                loaded += 1
                assert mdl.unload(model) == 0
    assert 0 < loaded < len(places)


def test_a_copy_of_endless_rows_is_refused(device, words, tmp_path):
    begin(device.stream, RELAXED)
    assert words.copy(device.stream, 2, 0) == 0
    instance = end(device.stream)
    saved(instance, words, tmp_path / "copy.om").close()
    block = block_of((tmp_path / "copy.om").read_bytes())
    ports = [om.Tensor("x", (1,), 8)], [om.Tensor("y", (1,), 8)]
    assert struct.unpack_from("<4Q", block, len(block) - 32) == (4, 4, 4, 1)
    for shape in ((0, 0, 4, 1 << 62), (4, 4, 0, 1 << 62), (3, 4, 4, 1), (4, 4, 4, 2), (4, 4, 4, 0)):
        damaged = block[:-32] + struct.pack("<4Q", *shape)
        content = om.write("copy", *ports, weights=damaged, executor="saved")
        refused(load_bytes(content)[1], 145000, "a copy")
    assert mdl.ri_destroy(instance) == 0


def damaged_place(block, old, new):
    """Return a saved instance in which the only place of these bytes in its region lies elsewhere."""
    places = [at for at in range(len(block) - 15) if struct.unpack_from("<QQ", block, at) == old]
    assert len(places) == 1
    return block[: places[0]] + struct.pack("<QQ", *new) + block[places[0] + 16 :]


def test_tensors_between_elements_and_outputs_over_each_other_are_refused(device, tmp_path):
    """What the second phase refuses, a load refuses, too."""
    x, out = device.tensor(numpy.zeros((5, 3), "f4")), device.tensor(numpy.zeros(16, "f4"))
    values, places = (
        acl.create_tensor([5], kind, [1], first, 2, [16], out.address) for kind, first in ((0, 0), (3, 6))
    )
    begin(device.stream, RELAXED)
    assert device.call("max_dim", x, 1, False, values, places) == 0, acl.get_recent_err_msg()
    instance = end(device.stream)
    for tensor in (values, places):
        acl.destroy_tensor(tensor)
    acl.sim.save(instance, tmp_path / "max.om", [(x.address, (5, 3), "f4")], [(out.address, (16,), "f4")])
    block = block_of((tmp_path / "max.om").read_bytes())
    ports = [om.Tensor("x", (5, 3))], [om.Tensor("y", (16,))]

    def attempt(content):
        return load_bytes(om.write("max", *ports, weights=content, executor="saved"))

    model = Model(attempt(block)[0])
    model.inputs.put(0, numpy.arange(15, dtype="f4").reshape(5, 3))
    assert model.execute() == 0, acl.get_recent_err_msg()
    assert model.outputs.get(0, 16).tolist()[:5] == [2, 5, 8, 11, 14]
    model.close()
    between = damaged_place(block, (24, 20), (26, 20))
    refused(attempt(between)[1], 145000, "indices begins at address", "expected a multiple of 4")
    refused(attempt(damaged_place(block, (24, 20), (16, 20)))[1], 145000, "out and indices", "both written and overlap")
    assert mdl.ri_destroy(instance) == 0


def test_an_index_out_of_range_fails_the_step(device, tmp_path):
    table, index = device.tensor(numpy.arange(6, dtype="f4").reshape(3, 2)), device.tensor(numpy.zeros(2, "i4"))
    out = device.tensor(numpy.zeros((2, 2), "f4"))
    begin(device.stream, RELAXED)
    assert device.call("embedding", table, index, out) == 0
    instance = end(device.stream)
    acl.sim.save(instance, tmp_path / "table.om", [(index.address, (2,), "i4")], [(out.address, (4,), "f4")])
    model = Model(load(tmp_path / "table.om"))
    assert model(numpy.array([2, 0], "i4")).tolist() == [4, 5, 0, 1]
    model.inputs.put(0, numpy.array([1, -3], "i4"))
    words = "indices[1] is -3, expected 0 to 2 for dimension 0 of weight"
    refused(model.execute(), 507015, "its step 0, aclnnEmbedding, failed", words)
    acl.sim.reset()


def test_a_signature_that_is_not_the_saved_one_fails_the_run(network, tmp_path):
    path = tmp_path / "network.om"
    network.save(path)
    block = block_of(path.read_bytes())
    for inputs, outputs in (
        ([om.Tensor("x", (1, 15))], [om.Tensor("y", (1, 10))]),
        ([om.Tensor("x", (1, 16))], [om.Tensor("y", (1, 9))]),
        ([om.Tensor("x", (1, 16))] * 2, [om.Tensor("y", (1, 10))]),
        ([om.Tensor("x", (1, 16))], [om.Tensor("y", (1, 10)), om.Tensor("z", (1,))]),
    ):
        content = om.write("other", inputs, outputs, weights=block, executor="saved")
        model = Model(load_bytes(content)[0])
        refused(model.execute(), 507011, "not those that the instance was saved with")
        model.close()
