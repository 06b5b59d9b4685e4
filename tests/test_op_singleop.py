"""``atc --singleop``: descriptions of single operators become the folder that aclopSetModelDir reads."""

import json

import numpy
import pytest
from helpers.expect import refused
from helpers.models import initialise
from helpers.single import Single
from helpers.tensors import Device

import acl
from acl import atc
from acl.sim import om

op = acl.op
MATRIX = {"format": "ND", "shape": [3, 3], "type": "int32"}
ADD = {"op": "Add", "input_desc": [MATRIX, MATRIX], "output_desc": [MATRIX]}
IMAGE = {"format": "NCHW", "shape": [1, 3, 16, 16], "type": "float16"}
CONV = {
    "op": "Conv2D",
    "name": "conv2d",
    "input_desc": [IMAGE, {"format": "NCHW", "shape": [3, 3, 3, 3], "type": "float16"}],
    "output_desc": [IMAGE],
    "attr": [
        {"name": "strides", "type": "list_int", "value": [1, 1, 1, 1]},
        {"name": "pads", "type": "list_int", "value": [1, 1, 1, 1]},
    ],
}


@pytest.fixture
def compile_(tmp_path):
    """Compile a description and return the folder."""

    def run(content, *flags):
        described = tmp_path / "ops.json"
        described.write_text(content if isinstance(content, str) else json.dumps(content))
        atc.run([f"--singleop={described}", f"--output={tmp_path / 'models'}", "--soc_version=Ascend910B3", *flags])
        return tmp_path / "models"

    return run


def names(folder):
    """Return the names of the files of a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_a_file_has_the_documented_name(compile_):
    assert names(compile_([ADD, CONV])) == ["0_Add_3_2_3_3_3_2_3_3_3_2_3_3.om", "conv2d.om"]


def test_one_operator_needs_no_list(compile_):
    assert names(compile_(CONV)) == ["conv2d.om"]


@pytest.mark.needs_sim
def test_the_folder_is_the_one_that_programs_set(compile_, configure):
    folder = compile_([ADD])
    assert op.set_model_dir(str(folder)) == 0, acl.get_recent_err_msg()
    content = (folder / "0_Add_3_2_3_3_3_2_3_3_3_2_3_3.om").read_bytes()
    assert op.load(acl.util.bytes_to_ptr(content), len(content)) == 0
    device = Device()
    single, ones = Single(device), numpy.ones((3, 3), "i4")
    assert (single.run("Add", [single.give(ones), single.give(ones)], (3, 3), "i4") == 2).all()
    single.close()
    device.close()


@pytest.mark.needs_sim
def test_a_file_says_what_goes_in_and_comes_out(compile_, device):
    loose = {"format": "ND", "shape": [-1, 8], "shape_range": [[1, 64], [8, 8]], "type": "float"}
    absent = {"format": "ND", "shape": [], "type": "UNDEFINED"}
    folder = compile_([{"op": "Relu", "name": "relu", "input_desc": [loose, absent], "output_desc": [loose]}])
    initialise()
    model, ret = acl.mdl.load_from_file(str(folder / "relu.om"))
    assert ret == 0, acl.get_recent_err_msg()
    desc = acl.mdl.create_desc()
    assert acl.mdl.get_desc(desc, model) == 0
    assert acl.mdl.get_num_inputs(desc) == 1 and acl.mdl.get_num_outputs(desc) == 1
    assert acl.mdl.get_input_dims(desc, 0)[0]["dims"] == [-1, 8]
    assert acl.mdl.get_input_data_type(desc, 0) == 0
    acl.mdl.destroy_desc(desc)
    assert acl.mdl.unload(model) == 0


@pytest.mark.strict
def test_a_file_for_another_chip_is_refused(compile_, configure):
    folder = compile_([{**ADD, "name": "add"}], "--soc_version=Ascend310P3")
    words = ("the model was built for Ascend310P3", "run with ACL_SIM_SOC=Ascend310P3")
    content = (folder / "add.om").read_bytes()
    refused(op.load(acl.util.bytes_to_ptr(content), len(content)), 145000, *words)
    refused(op.set_model_dir(str(folder)), 145000, *words)


def test_types_without_a_kernel_are_named(compile_, capsys):
    compile_([{**ADD, "op": "Ad"}, CONV, {**ADD, "op": "Permute"}])
    said = capsys.readouterr().err
    if not acl.is_simulator:
        assert "the operator types are not checked" in said
        return
    assert "atc: the simulator has no kernel for operator Ad by its type and attributes: programs must register" in said
    assert 'acl.sim.kernel("Permute")' in said and "Conv2D" not in said


def test_types_are_not_checked_by_another_library(compile_, capsys, monkeypatch):
    monkeypatch.setattr(acl, "is_simulator", False)
    compile_([{**ADD, "op": "Ad"}])
    assert capsys.readouterr().err == (
        "atc: the operator types are not checked, as the library in use is not the simulator\n"
    )


def without(entry, key):
    """Return an operator without one of its members."""
    return {name: value for name, value in entry.items() if name != key}


def changed(**values):
    """Return an operator whose first input has other values."""
    return {**ADD, "input_desc": [{**MATRIX, **values}, MATRIX]}


REFUSED = [
    ("no json", "as JSON: Expecting value"),
    ("[" * 100000, "as JSON: "),
    ([], "describes no operators, expected a list of operators"),
    ("7", "describes no operators"),
    ([3], 'is 3, expected an object with "op"'),
    ([without(ADD, "op")], '"op": None, expected a string'),
    ([{**ADD, "name": 3}], '"name": 3, expected a string'),
    ([{**ADD, "name": "../add"}], 'has the name "../add", expected letters'),
    ([CONV, CONV], "has the name conv2d, which an earlier operator has"),
    ([without(ADD, "input_desc")], '"input_desc": None, expected a list'),
    ([{**ADD, "output_desc": [3]}], "output_desc[0] = 3, expected an object"),
    ([changed(type="int5")], "\"type\": 'int5', expected one of float, float32"),
    ([changed(format="CHW")], "\"format\": 'CHW', expected one of NCHW, NHWC"),
    ([changed(shape=None)], '"shape": None, expected at most 8 sizes'),
    ([changed(shape=[1] * 9)], "expected at most 8 sizes"),
    ([changed(shape=[-3])], '"shape": [-3], expected at most 8 sizes'),
    ([changed(shape=[2**63])], "expected at most 8 sizes"),
    ([changed(shape_range=[[1, 2, 3]])], '"shape_range": [[1, 2, 3]], expected pairs of sizes'),
    ([{**ADD, "attr": 3}], '"attr": 3, expected a list'),
    ([{**ADD, "attr": [{"value": 3}]}], "the attribute {'value': 3}, which has no name"),
    ([{**ADD, "attr": [{"name": "a", "type": "number", "value": 3}]}], "a of type 'number', expected bool, int"),
    ([{**ADD, "attr": [{"name": "a", "type": "int", "value": True}]}], "a = True, expected int"),
    ([{**ADD, "attr": [{"name": "a", "type": "list_int", "value": [1, "2"]}]}], "a = [1, '2'], expected list_int"),
]


@pytest.mark.parametrize(("content", "words"), REFUSED, ids=[row[1] for row in REFUSED])
def test_descriptions_that_are_none(content, words, compile_, tmp_path):
    with pytest.raises(atc.Refused) as caught:
        compile_(content)
    assert words in str(caught.value)
    assert not (tmp_path / "models").exists()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--model=x.onnx"], "--model is for models, and --singleop compiles single operators"),
        (["--framework=5"], "--framework is for models"),
        (["--dynamic_batch_size=1,2"], "--dynamic_batch_size is for models"),
        (["--output="], "--output=FOLDER is needed"),
    ],
)
def test_flags_of_models_are_refused(flags, words, compile_):
    with pytest.raises(atc.Refused, match=words):
        compile_([ADD], *flags)


def test_files_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(atc.Refused, match="cannot read .*none.json: No such file"):
        atc.run([f"--singleop={tmp_path / 'none.json'}", f"--output={tmp_path}"])
    (tmp_path / "ops.json").write_text(json.dumps([CONV]))
    (tmp_path / "file").write_text("")
    with pytest.raises(atc.Refused, match="cannot make the folder"):
        atc.run([f"--singleop={tmp_path / 'ops.json'}", f"--output={tmp_path / 'file' / 'models'}"])
    (tmp_path / "conv2d.om").mkdir()
    with pytest.raises(atc.Refused, match="cannot write .*conv2d.om: Is a directory"):
        atc.run([f"--singleop={tmp_path / 'ops.json'}", f"--output={tmp_path}"])


def test_the_tensors_have_the_names_that_are_given(compile_):
    named = {**MATRIX, "name": "left"}
    folder = compile_([{**ADD, "name": "add", "input_desc": [named, MATRIX]}])
    content = (folder / "add.om").read_bytes()
    assert b"left" in content and b"input1" in content and b"output0" in content
    assert content.startswith(om.write("x", [], [])[:4])
