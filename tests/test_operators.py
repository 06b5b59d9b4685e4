"""The table of operators: its facts, the headers made from it, and the two phases of a call by name."""

import re
import threading

import numpy
import pytest
from helpers.expect import refused
from helpers.headers import INCLUDE, LANGUAGES, check_c, facts, includes
from helpers.tables import each, every
from test_abi import ROOT, abi, generate

import acl
from acl import nnop

FACTS = {row["name"]: row for row in facts("operators")}
TABLE = abi.rows(ROOT / "simulator" / "ops" / "rows")
OPERATORS = [row for row in TABLE.values() if not row.helper]
NULLPTR, INVALID, RUNTIME, NO_KERNEL, USED_UP = 161001, 161002, 361001, 561003, 561103
FLOAT, ND = 0, 2
SILENT = {"aclnnAttentionToFFN", "aclnnFFNToAttention", "aclnnSleep"}  # operators without a tensor that they write
PHASE_TWO = "void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream"


# --- facts


def bare(text):
    """Leave out what the same C function may be declared with or without: const of a value."""
    text = re.sub(r"\bconst (?=\w+ \w+(,|$))", "", text)
    return re.sub(r"\s", "", text)


def test_the_rows_are_those_of_the_table():
    assert set(TABLE) == set(FACTS)
    assert len(OPERATORS) == 1154


@each(TABLE.values(), lambda row: row.name[:6])
def test_row(row):
    fact = FACTS[row.name]
    assert bare(", ".join(abi.declare(param.type, param.name) for param in row.params)) == bare(fact["params"])
    assert list(row.headers) == [name for name in (fact["header"], fact["also"]) if name]
    assert row.helper == (fact["kind"] == "helper")
    assert (f"{row.since[0]}.{row.since[1]}", row.verified) == (fact["since"], fact["documented"] == "1")
    if not row.helper and row.name not in SILENT:
        assert any("out" in param.direction for param in row.params), "an operator writes something"


def test_inplace_operators_write_what_they_are_given():
    for row in OPERATORS:
        if "Inplace" in row.name:
            directions = [param.direction for param in row.params if param.direction]
            assert "inout" in directions or directions[0] == "out", row.name


def test_the_headers_agree_with_the_table():
    for language in LANGUAGES:
        lines = []
        for row in FACTS.values():
            if row["kind"] == "helper":
                lines.append(f"aclnnStatus {row['name']}({row['params']});")
                continue
            plan = f"{row['params']}, uint64_t *workspaceSize, aclOpExecutor **executor"
            lines += [f"aclnnStatus {row['name']}GetWorkspaceSize({plan});", f"aclnnStatus {row['name']}({PHASE_TWO});"]
        text = "\n".join(lines)
        names = sorted(name for row in TABLE.values() for name in row.headers)
        check_c(language, includes(names) + (f'extern "C" {{\n{text}\n}}\n' if "++" in language else text + "\n"))


@pytest.mark.parametrize("header", ["aclnnop/aclnn_add.h", "aclnnop/level2/aclnn_add.h", "aclnnop/aclnn_cat.h"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_header_alone(header, language):
    use = "void use(void);\nvoid use(void)\n{\n    (void)&aclnn%s;\n}\n" % ("Cat" if "cat" in header else "Add")
    check_c(language, includes([header]) + use)


def test_the_headers_are_those_that_the_build_makes():
    made = generate.headers()
    assert {path.relative_to(INCLUDE).as_posix() for path in (INCLUDE / "aclnnop").rglob("*.h")} == set(made)
    assert all((INCLUDE / name).read_text() == text for name, text in made.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/** aclnnop/a.h */\nOP a(aclTensor *x);", "have IN, OUT or INOUT"),
        ("/** aclnnop/a.h */\nOP a(IN int64_t x);", "have IN, OUT or INOUT"),
        ("OP a(IN aclTensor *x);", "not below the name of a header"),
        ("/** aclnnop/a.h */\nOP a(OUT aclTensor *x);\nOP a(OUT aclTensor *x);", "is declared twice"),
        ("/** aclnnop/a.h */\nOP a(OUT aclTensor *x)\nint b;", "the text after line"),
        ("/** aclnnop/a.h */\nOP(9.0) a(OUT aclTensor *x);", "the text after line"),
        ("/** aclnnop/a.h */\nOP(9, 0) UNVERIFIED a(OUT aclTensor *x);", "the text after line"),
        ("typedef int x;", "the text after line 1"),
    ],
)
def test_a_bad_row_is_refused(tmp_path, text, message):
    (tmp_path / "family.h").write_text(text)
    with pytest.raises(abi.AbiError, match=message):
        abi.rows(tmp_path)


def test_the_first_version_of_a_row(tmp_path):
    (tmp_path / "family.h").write_text(
        "/** aclnnop/a.h */\nOP old(OUT aclTensor *x);\nUNVERIFIED OP(9, 2) young(OUT aclTensor *x);\n"
        "HELPER(8, 5) plain(int x);\n"
    )
    made = abi.rows(tmp_path)
    assert [(row.since, row.needs, row.verified) for row in made.values()] == [
        ((8, 1), "8.1", True),
        ((9, 2), "later than 9.1", False),
        ((8, 5), "8.5", True),
    ]


def test_a_kernel_needs_a_row(tmp_path, monkeypatch):
    monkeypatch.setattr(generate, "defined_names", lambda objects: {"sim_kernel_aclnnNothing"})
    with pytest.raises(SystemExit, match="sim_kernel_aclnnNothing"):
        generate.table([])


# --- calls by name


@pytest.fixture
def tensor(device):
    """Make a tensor of 4 x 2 floats with memory of its own."""
    address, ret = acl.rt.malloc(64, 0)
    assert ret == 0
    tensor = acl.create_tensor([4, 2], FLOAT, [2, 1], 0, ND, [4, 2], address)
    yield tensor
    acl.destroy_tensor(tensor)
    acl.rt.free(address)


@pytest.fixture
def alpha():
    """Make a scalar 2.0."""
    two = numpy.float32(2).tobytes()
    scalar = acl.create_scalar(acl.util.bytes_to_ptr(two), FLOAT)
    yield scalar
    acl.destroy_scalar(scalar)


def test_names():
    listed = dir(nnop)
    assert "add" in listed and "inplace_add_get_workspace_size" in listed
    assert len([name for name in listed if not name.endswith("_get_workspace_size")]) == 1154
    assert acl.nnop is nnop
    assert nnop.add is nnop.add
    for name in ("nothing", "nothing_get_workspace_size", "__path__"):
        with pytest.raises(AttributeError, match=name):
            getattr(nnop, name)


def test_signatures():
    import inspect

    parameters = inspect.signature(nnop.add_get_workspace_size).parameters
    assert list(parameters) == ["self", "other", "alpha", "out"]
    assert list(inspect.signature(nnop.add).parameters) == ["workspace", "workspaceSize", "executor", "stream"]
    assert nnop.add_get_workspace_size.__doc__ == (
        "Call aclnnAddGetWorkspaceSize. Returns (workspaceSize, executor, ret)."
    )


def test_wrong_arguments():
    with pytest.raises(TypeError, match=r"acl\.nnop\.add_get_workspace_size\(\) takes exactly 4 arguments \(1 given\)"):
        nnop.add_get_workspace_size(0)
    with pytest.raises(TypeError, match=r"acl\.nnop\.add\(\) takes exactly 4 arguments \(0 given\)"):
        nnop.add()
    with pytest.raises(TypeError, match=r"acl\.nnop\.add_get_workspace_size\(\) argument 1 must be int, not 'str'"):
        nnop.add_get_workspace_size("self", 0, 0, 0)
    with pytest.raises(TypeError, match=r"acl\.nnop\.add\(\) argument 2 must be int, not 'float'"):
        nnop.add(0, 1.0, 0, 0)


def zeros(row):
    """Return arguments that leave out everything that can be left out."""
    return ["" if "char" in param.type else 0 for param in row.params]


@every(name=nnop._operators())
def test_every_operator_refuses_null(name, device):
    """Its first required pointer is named; the second phase wants an executor."""
    row = TABLE[nnop._operators()[name]["name"]]
    required = [p.name for p in row.params if "*" in p.type and "char" not in p.type and not p.optional]
    try:
        first = getattr(nnop, f"{name}_get_workspace_size")
    except AttributeError as error:
        assert acl.backend == "npu" and f"{row.name}GetWorkspaceSize needs CANN {row.needs}: " in str(error)
        return
    size, executor, ret = first(*zeros(row))
    refused(ret, NULLPTR, f"{row.name}GetWorkspaceSize failed because {required[0]} is NULL")
    refused(getattr(nnop, name)(0, 0, 0, 0), NULLPTR, f"{row.name} failed because executor is NULL")


@pytest.mark.strict
def test_an_operator_without_a_kernel(tensor):
    _, _, ret = nnop.digamma_get_workspace_size(tensor, tensor)
    refused(ret, NO_KERNEL, 'aclnnDigamma: register one with acl.sim.kernel("aclnnDigamma")', "FIND_KERNEL_ERROR")


@pytest.mark.strict
def test_no_context(tensor):
    answers = []
    fresh = threading.Thread(target=lambda: answers.append(nnop.gelu_get_workspace_size(tensor, tensor)[2]))
    fresh.start()
    fresh.join()
    assert answers == [RUNTIME]


@pytest.mark.strict
@pytest.mark.parametrize(
    ("dims", "strides", "kind", "offset", "words"),
    [
        ((2**62, 4), (0, 0), 0, 0, "self has more than 2^63 elements"),
        ((4,), (1,), 29, 1, "self begins at element 1, which is inside a byte"),  # int4
    ],
)
def test_tensors_that_no_operator_takes(tensor, dims, strides, kind, offset, words):
    wrong = acl.create_tensor([*dims], kind, [*strides], offset, 2, [16], acl.get_raw_tensor_addr(tensor)[0])
    refused(nnop.abs_get_workspace_size(wrong, tensor)[2], INVALID, words)
    assert acl.destroy_tensor(wrong) == 0


@pytest.mark.strict
def test_wrong_handles(tensor, alpha):
    _, _, ret = nnop.add_get_workspace_size(tensor, tensor, tensor, tensor)
    refused(ret, INVALID, "alpha is a live tensor", "expected a live scalar")
    _, _, ret = nnop.add_get_workspace_size(tensor, 1, alpha, tensor)
    refused(ret, INVALID, "other is not a handle (0x1)")
    refused(nnop.add(0, 0, tensor, 0), USED_UP, "executor is a live tensor")
