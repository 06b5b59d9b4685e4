"""Models compiled in memory by the C++ names of libfmk_onnx_parser.so, as onnxruntime's CANN provider uses them.

The client declares its objects by the public facts alone and inlines their destructors: the layout is what is tested.
"""

import re
import subprocess
import sys
from pathlib import Path

import numpy
import onnx
import pytest
from helpers.programs import environment
from onnx import TensorProto, helper

import acl

pytestmark = pytest.mark.needs_sim

LIBRARY = Path(acl.get_lib()) / "libfmk_onnx_parser.so"

PROGRAM = r"""
#include <acl/acl.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>

namespace ge {
class AscendString {
public:
    AscendString() = default;
    ~AscendString() = default;
    AscendString(const char *text);
    bool operator<(const AscendString &other) const;
private:
    std::shared_ptr<std::string> name_;
};
class Graph {
public:
    explicit Graph(const char *name);
    ~Graph() = default;
private:
    std::shared_ptr<void> impl_;
};
struct ModelBufferData {
    std::shared_ptr<uint8_t> data;
    uint64_t length = 0;
};
using Options = std::map<AscendString, AscendString>;
uint32_t aclgrphParseONNXFromMem(const char *, size_t, const Options &, Graph &);
uint32_t aclgrphBuildInitialize(Options &);
uint32_t aclgrphBuildModel(const Graph &, const Options &, ModelBufferData &);
uint32_t aclgrphSaveModel(const char *, const ModelBufferData &);
void aclgrphBuildFinalize();
} // namespace ge

static uint32_t report(const char *step, uint32_t status)
{
    const char *message = status == 0 ? nullptr : aclGetRecentErrMsg();
    printf("%s %u %s\n", step, status, message == nullptr ? "" : message);
    return status;
}

static int execute(const ge::ModelBufferData &model)
{
    uint32_t id = 0;
    int ret = aclInit(nullptr) | aclrtSetDevice(0) | aclmdlLoadFromMem(model.data.get(), model.length, &id);
    aclmdlDesc *description = aclmdlCreateDesc();
    ret |= aclmdlGetDesc(description, id);
    size_t bytes = aclmdlGetInputSizeByIndex(description, 0);
    float values[] = {1, 2, 3, 4, 5, 6};
    void *blocks[3];
    aclmdlDataset *in = aclmdlCreateDataset(), *out = aclmdlCreateDataset();
    for (int i = 0; i < 3; i++) {
        ret |= aclrtMalloc(&blocks[i], bytes, ACL_MEM_MALLOC_HUGE_FIRST);
        ret |= aclrtMemcpy(blocks[i], bytes, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE);
        ret |= aclmdlAddDatasetBuffer(i < 2 ? in : out, aclCreateDataBuffer(blocks[i], bytes));
    }
    ret |= aclmdlExecute(id, in, out);
    ret |= aclrtMemcpy(values, sizeof values, blocks[2], sizeof values, ACL_MEMCPY_DEVICE_TO_HOST);
    ret |= aclmdlUnload(id) | aclrtResetDevice(0) | aclFinalize();
    printf("result %d", ret);
    for (float value : values)
        printf(" %g", value);
    printf("\n");
    return ret;
}

/* FILE SAVED INITIALIZE [KEY VALUE]...: options of the build. */
int main(int argc, char **argv)
{
    std::ifstream file(argv[1], std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    ge::Options none, process, build;
    process.emplace("ge.socVersion", aclrtGetSocName());
    for (int i = 4; i + 1 < argc; i += 2)
        build.emplace(argv[i], argv[i + 1]);
    ge::Graph graph("graph");
    ge::Graph copy = graph;
    ge::ModelBufferData model;
    if (report("parse", ge::aclgrphParseONNXFromMem(bytes.data(), bytes.size(), none, graph)) != 0)
        return 1;
    if (strcmp(argv[3], "0") != 0 && report("initialize", ge::aclgrphBuildInitialize(process)) != 0)
        return 1;
    if (report("build", ge::aclgrphBuildModel(copy, build, model)) != 0)
        return 1;
    if (report("save", ge::aclgrphSaveModel(argv[2], model)) != 0)
        return 1;
    ge::ModelBufferData kept = model;
    model = ge::ModelBufferData();
    ge::aclgrphBuildFinalize();
    if (report("again", ge::aclgrphBuildModel(graph, build, model)) != 4294967295u)
        return 1;
    return execute(kept);
}
"""


@pytest.fixture
def program(compile_c):
    return compile_c(PROGRAM, "-std=c++11", "-Werror", cxx=True, libraries=("ascendcl", "fmk_onnx_parser"))


@pytest.fixture
def model(tmp_path):
    """Write c = a + b with an open first axis."""
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3]) for name in "abc"]
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["c"])], "graph", ports[:2], ports[2:])
    path = tmp_path / "add.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture
def run(program, model, tmp_path):
    def execute(*options, path=model, saved=tmp_path / "saved", initialize=1, **changes):
        (tmp_path / "tmp").mkdir(exist_ok=True)
        env = environment({"ACL_SIM_PYTHON": sys.executable, "TMPDIR": tmp_path / "tmp", **changes})
        command = [program, path, saved, str(initialize), *options]
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert list((tmp_path / "tmp").glob("acl-*")) == [], "files of the compiler are left"
        return done.returncode, done.stdout

    return execute


SHAPES = ("input_shape", "a:2,3;b:2,3")


def test_a_model_is_built_saved_and_executed(run, tmp_path):
    code, text = run(*SHAPES)
    doubled = " ".join(f"{2 * value}" for value in range(1, 7))
    assert code == 0, text
    assert re.match(
        "parse 0 \ninitialize 0 \nbuild 0 \nsave 0 \nagain 4294967295 .*aclgrphBuildModel failed because "
        f"aclgrphBuildInitialize has not been called.*\nresult 0 {doubled}\n$", text, re.DOTALL
    ), text  # fmt: skip
    assert [path.name for path in tmp_path.glob("saved*")] == ["saved.om"]


def test_the_saved_model_loads(run, tmp_path, opened):
    assert run(*SHAPES)[0] == 0
    loaded = acl.Model(tmp_path / "saved.om")
    with loaded:
        x = numpy.arange(6, dtype="f4").reshape(2, 3)
        numpy.testing.assert_array_equal(numpy.asarray(loaded(x, x + 1)), 2 * x + 1)


def refusal(text, step, status):
    """Return the message of the one step that failed, which is the last line."""
    found = re.search(rf"^{step} {status} (.*)\Z", text, re.MULTILINE | re.DOTALL)
    assert found is not None, text
    return found[1]


FAILED, INVALID = 4294967295, 50331649


def test_what_atc_says_is_the_message(run):
    code, text = run("input_shape", "a:2,3;nobody:2,3")
    said = refusal(text, "build", FAILED)
    assert code == 1 and "aclgrphBuildModel failed because" in said and "ended with status 1" in said
    assert "the model has no input nobody, its inputs are a, b" in said


def test_a_file_that_is_no_model_is_refused(run, tmp_path):
    (tmp_path / "bad.onnx").write_bytes(b"\xff" * 100)
    assert "as an ONNX model" in refusal(run(path=tmp_path / "bad.onnx")[1], "build", FAILED)


def test_no_bytes_are_refused(run, tmp_path):
    (tmp_path / "empty").touch()
    said = refusal(run(path=tmp_path / "empty")[1], "parse", INVALID)
    assert "aclgrphParseONNXFromMem failed because size is 0, expected the size of an ONNX model in bytes" in said


def test_an_unknown_option_is_refused_with_the_known_ones(run):
    said = refusal(run("ge.nothing", "1")[1], "build", INVALID)
    assert "build_options has the option ge.nothing, expected one of ge.INPUT_NODES_SET_FP16, " in said


def test_a_build_without_initialization_is_refused(run):
    assert "aclgrphBuildInitialize has not been called" in refusal(run(initialize=0)[1], "build", FAILED)


def test_a_python_that_cannot_be_started_is_named(run):
    said = refusal(run(*SHAPES, ACL_SIM_PYTHON="/no/such/python")[1], "build", FAILED)
    assert "/no/such/python cannot be started: No such file or directory" in said and "set ACL_SIM_PYTHON" in said


def test_a_process_that_makes_no_model_is_refused(run):
    said = refusal(run(*SHAPES, ACL_SIM_PYTHON="true")[1], "build", FAILED)
    assert "`true -m acl atc` wrote no model" in said
    said = refusal(run(*SHAPES, ACL_SIM_PYTHON="false")[1], "build", FAILED)
    assert "`false -m acl atc` ended with status 1" in said


def test_a_directory_that_cannot_be_written_is_named(run, tmp_path):
    code, text = run(*SHAPES, saved=tmp_path / "absent" / "saved")
    said = refusal(text, "save", FAILED)
    assert code == 1 and "aclgrphSaveModel failed because it cannot write" in said
    assert "absent/saved.om" in said and "No such file or directory" in said


NAMES = {
    "ge::AscendString::AscendString(char const*)",
    "ge::AscendString::operator<(ge::AscendString const&) const",
    "ge::Graph::Graph(char const*)",
    "ge::aclgrphBuildFinalize()",
    "ge::aclgrphBuildInitialize",
    "ge::aclgrphBuildModel",
    "ge::aclgrphParseONNXFromMem",
    "ge::aclgrphSaveModel",
}


def test_the_library_exports_the_names_of_its_clients_and_no_other():
    text = subprocess.run(["nm", "-DC", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
    names = [line.split(maxsplit=2)[2] for line in text.splitlines()]
    assert {name if name in NAMES else name.partition("(")[0] for name in names} == NAMES


def test_programs_get_no_other_library_that_needs_the_one_of_cxx():
    """The simulator itself opens libacl_hccl_net.so, for ranks on several hosts."""
    for path in {*Path(acl.get_lib()).glob("*.so")} - {Path(acl.get_lib(), "libacl_hccl_net.so")}:
        text = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
        assert ("libstdc++" in text) == (path == LIBRARY), path.name
