"""``python -m acl ops``: the operators, what is known about each, and why some have no kernel."""

import json
import re

import pytest

import acl
from acl import __main__ as command
from acl import nnop, operator_formulas, operators
from acl.objects.op_table import RULES


@pytest.fixture
def printed(capsys):
    """Give ``printed(*arguments)``, which runs the command and returns its output."""

    def run(*arguments):
        assert command.main(["ops", *arguments]) == 0
        return capsys.readouterr().out

    return run


def test_the_table_has_a_line_for_each_operator(printed):
    lines = printed().splitlines()
    assert lines[0].split() == ["operator", "kernel", "since", "formula", "[types]"]
    names = sorted(schema["name"] for schema in nnop._operators().values())
    assert [line.split()[0] for line in lines[1:-1]] == names
    assert re.fullmatch(rf"operators: {len(names)}, with a kernel: \d+", lines[-1])
    add = next(line for line in lines if line.startswith("aclnnAdd "))
    assert re.match(r"aclnnAdd +yes +8\.1 +torch\.add\b", add)


@pytest.mark.needs_sim
def test_the_operators_with_a_kernel_are_those_that_the_simulator_counts(printed):
    count = acl.sim.operators(implemented=True)
    assert printed().splitlines()[-1].endswith(f"with a kernel: {count}")
    assert len(json.loads(printed("--missing", "--json"))) == acl.sim.operators() - count


@pytest.mark.parametrize("name", ["aclnnAddcmul", "Addcmul", "addcmul", "aclnnAddcmulGetWorkspaceSize"])
def test_an_operator_has_prototypes_header_and_parameters(printed, name):
    text = printed(name)
    first = "aclnnStatus aclnnAddcmulGetWorkspaceSize(const aclTensor *self, const aclTensor *tensor1, "
    assert text.startswith("aclnnAddcmul\nheader   aclnnop/aclnn_addcmul.h\nsince    CANN 8.1\nkernel   yes\n")
    assert first in text and "aclnnStatus aclnnAddcmul(void *workspace, uint64_t workspaceSize, " in text
    assert "formula  torch.addcmul\n" in text and "acl.nn.addcmul allocates its outputs\n" in text
    for parameter, note in (("aclTensor *tensor2", "in"), ("aclScalar *value", ""), ("aclTensor *out", "out")):
        assert re.search(rf"^  (const )?{re.escape(parameter)} *{note}$", text, re.MULTILINE), parameter


def test_json_has_everything_that_is_known(printed):
    (one,) = json.loads(printed("batch_norm", "--json"))
    optional = [p["declaration"].split("*")[-1] for p in one["parameters"] if p["optional"]]
    assert one["name"] == "aclnnBatchNorm" and one["python"] == "batch_norm" and one["kernel"] and one["why"] == ""
    assert one["allocates"] is ("batch_norm" in RULES) and "weight" in optional and "input" not in optional
    assert [p["direction"] for p in one["parameters"]][:2] == ["in", "in"] and len(one["prototypes"]) == 2
    assert one["since"] == "8.1" and one["verified"] is True


def test_an_unknown_operator_is_refused_with_names_that_resemble_it(capsys):
    assert command.main(["ops", "soft_max"]) == 1
    assert re.search(r"no operator 'soft_max', did you mean .*\bsoftmax\b.*\?", capsys.readouterr().err)


def test_missing_operators_have_one_word_why(printed):
    lines = printed("--missing").splitlines()
    found = dict(line.split() for line in lines[:-1])
    assert lines[-1] == f"without a kernel: {len(found)}"
    assert set(found) == {one.name for one in operators.load().values() if not one.kernel}
    words = {operator_formulas.PLANNED, *(word for word, _ in operator_formulas.WHY)}
    assert set(found.values()) <= words
    assert found.get("aclnnMatmulAllReduce", "communicates") == "communicates"
    named = json.loads(printed("--missing", "--json"))
    assert {one["name"]: one["why"] for one in named} == found


def test_every_operator_whose_definition_is_public_has_a_formula():
    found = operators.load().values()
    assert [one.name for one in found if one.since == "8.1" and not one.formula and one.why != "not-public"] == []


def test_each_formula_belongs_to_one_operator_or_its_kin():
    words = [word for text in operator_formulas.PYTORCH.values() for word in text.split()]
    names = [word.partition("=")[0] for word in words] + list(operator_formulas.FORMULAS)
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "name, formula",
    [
        ("inplace_adds", "torch.add, written to the argument"),
        ("foreach_pow_scalar_and_tensor", "torch.pow of each tensor of a list"),
        ("gelu_backward", "gradient of torch.nn.functional.gelu(approximate='tanh')"),
        ("upsample_bilinear2d_backward_v2", "gradient of torch.nn.functional.interpolate"),
        ("max_v2", "torch.amax"),
        ("arg_max", "torch.argmax"),
        ("ge_glu_v3", "a, b = halves along dim; a * gelu(b), or gelu(a) * b if activate_left"),
        ("none_such", ""),
    ],
)
def test_kin_have_the_formula_of_their_operator(name, formula):
    assert operators.formula_of(name) == formula


SINGLE = ("bfloat16", "float16", "float32")


@pytest.mark.needs_sim
@pytest.mark.parametrize(
    "name, takes, gives",
    [
        ("Relu", (*SINGLE, "int8", "int32", "int64", "uint8"), None),
        ("EluBackward", SINGLE, None),
        ("ForeachPowList", (*SINGLE, "int32"), None),
        ("MaxPool", ("float16", "float32"), None),
        ("IsPosInf", None, ("bool",)),
        ("QuantMatmul", ("int8",), ("bfloat16", "float16", "int8", "int32")),
        ("Eye", (), ("bfloat16", "bool", "float16", "float32", "int8", "int16", "int32", "int64", "uint8")),
        ("InplaceAcos", ("float16", "float32", "float64"), None),
        ("RopeWithSinCosCacheV2", ("int64",), SINGLE),
        ("GroupedMatmulAddV2", ("bfloat16", "float16"), ()),
        ("AdvanceStep", (), ()),
    ],
)
def test_types_are_those_of_the_kernel(name, takes, gives):
    found = acl.sim.kernel_types(f"aclnn{name}")
    assert found == (found[0] if takes is None else takes, takes if gives is None else gives)


@pytest.mark.needs_sim
def test_what_has_no_kernel_has_no_types():
    assert acl.sim.kernel_types("aclnnMatmulAllReduce") is None
    with pytest.raises(ValueError, match='"aclnnNothing", expected an operator'):
        acl.sim.kernel_types("aclnnNothing")


@pytest.mark.needs_sim
def test_types_of_operands_and_results_are_shown_apart_where_they_differ(printed):
    assert "types    " + operators.load()["aclnnAbs"].types + "\n" in printed("abs")
    assert " -> " in operators.load()["aclnnAbs"].types and " -> " not in operators.load()["aclnnRelu"].types


@pytest.mark.parametrize(
    "name, says",
    [("add", "allocates its outputs"), ("bincount", "needs out="), ("inplace_add", "changes its arguments")],
)
def test_the_use_of_outputs_in_acl_nn_is_shown(printed, name, says):
    assert f"\nacl.nn   acl.nn.{name} {says}\n" in printed(name)
