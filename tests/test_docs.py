"""The documentation, as far as it needs no Sphinx: pages are reached, what they include exists, nothing is left out."""

import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import acl
from acl import abi, errors
from acl.objects import HOME
from acl.objects.op_table import RULES

DOCS = Path(__file__).resolve().parent.parent / "docs"
EXAMPLES = DOCS.parent / "examples"
ROWS = DOCS.parent / "simulator" / "ops" / "rows"
WRITTEN = [path for path in DOCS.rglob("*.rst") if "made" not in path.parts]
PAGES = {path.relative_to(DOCS).with_suffix("").as_posix(): path for path in WRITTEN}
PROGRAMS = sorted(path.stem for path in EXAMPLES.glob("p[1-5]_*.c"))


@pytest.fixture(scope="module")
def extensions():
    """Import what docs/_ext has that needs no Sphinx."""
    sys.path.insert(0, str(DOCS / "_ext"))
    try:
        import built
        import codes
        import commands
        import error_codes
        import reference

        modules = (built, codes, commands, error_codes, reference)
        yield {module.__name__: module for module in modules}
    finally:
        sys.path.remove(str(DOCS / "_ext"))


def entries(name):
    """The pages that a page's toctrees name, from the top."""
    for block in re.findall(r"^\.\. toctree::\n((?:   .*\n|\n)+)", PAGES[name].read_text(), re.MULTILINE):
        for line in block.split("\n"):
            if line.strip() and not line.strip().startswith(":"):
                yield os.path.normpath(os.path.join(os.path.dirname(name), line.strip()))


def test_every_page_is_reached_from_the_index():
    reached, todo = set(), ["index"]
    while todo:
        name = todo.pop()
        reached.add(name)
        todo += [entry for entry in entries(name) if not entry.startswith("reference/made/")]
    assert reached == set(PAGES)


def test_every_generated_page_is_in_a_toctree(extensions):
    listed = [entry.replace("*", "") for entry in entries("reference/index") if "/made/" in entry]
    kinds = ("calls/", "operators/", "objects/", "codes", "sim", "util")
    assert sorted(listed) == sorted(f"reference/made/{kind}" for kind in kinds)


def test_what_pages_include_is_there():
    found = [
        (path, name)
        for path in PAGES.values()
        for name in re.findall(r"^\s*\.\. (?:literalinclude|include):: (\S+)", path.read_text(), re.MULTILINE)
    ]
    assert len(found) >= 3
    assert [str(path) for path, name in found if "made/" not in name and not (path.parent / name).exists()] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_has_a_guide_with_its_forms(name):
    assert f".. example-program:: {name}\n" in PAGES[f"guides/{name}"].read_text()
    for file in (f"{name}.py", f"{name}_objects.py", f"expected/{name}.txt"):
        assert (EXAMPLES / file).exists(), file


def test_the_check_of_built_pages_finds_what_is_missing(extensions, tmp_path):
    article = '<article><h1 id="a-page">A &amp; B</h1>\n<p>two\n  <b>words</b></p></article><p id="foot">outside</p>'
    (tmp_path / "page.html").write_text(article)
    texts = {"page": ["A & B", "two words", "outside"], "other": ["x"]}
    found = extensions["built"].missing(tmp_path, texts, {"page": ["a-page", "b-page"]})
    assert found == ["page: no text 'outside'", "other: no text 'x'", "page: no anchor 'b-page'"]


def test_the_check_of_built_pages_finds_results_that_are_not_shown(extensions, tmp_path):
    """Sphinx drops a result in brackets from the signature, and succeeds."""
    built = extensions["built"]
    shown = '<dt class="sig" id="acl.rt.a"><span>a</span>()\n<i>&#x2192;</i> <b>(x,</b> <b>ret)</b><a>¶</a></dt>'
    (tmp_path / "page.html").write_text(f'{shown}<dt class="sig" id="acl.rt.b">acl.rt.b()<a>¶</a></dt>')
    found = built.wrong_results(tmp_path, {"page": {"acl.rt.a": "(x, ret)", "acl.rt.b": "(x, ret)"}})
    assert found == ["page: acl.rt.b shows the result '', expected '(x, ret)'"]
    wanted = built.results()["reference/made/calls/event"]
    assert wanted["acl.rt.create_event"] == "(event, ret)" and wanted["acl.rt.destroy_event"] == "ret"


def test_the_check_of_built_pages_covers_every_guide_group_object_and_family(extensions):
    built = extensions["built"]
    assert set(built.programs()) == {f"guides/{name}" for name in PROGRAMS}
    pages = built.anchors()
    groups = {f"reference/made/calls/{group}" for group in abi.load().groups}
    assert groups <= set(pages) and "c.aclrtMalloc" in pages["reference/made/calls/memory"]
    assert "acl.rt.malloc" in pages["reference/made/calls/memory"] and "code-107003" in pages["reference/made/codes"]
    objects = {item for name, items in pages.items() if "/objects/" in name for item in items}
    assert objects == {f"acl.{name}" for name in HOME}
    operators = built.operators()
    assert {path.stem for path in ROWS.glob("*.h")} == {name.rsplit("/", 1)[-1] for name in operators}
    assert "aclnnAdd" in operators["reference/made/operators/binary"]


def test_every_public_object_is_documented(extensions):
    text = "\n".join("\n".join(lines) for lines in extensions["reference"]._objects().values())
    assert set(re.findall(r"^\.\. auto(?:class|function|data):: acl\.(\w+)$", text, re.MULTILINE)) == set(HOME)
    assert [name for name in HOME if not inspect.getdoc(getattr(acl, name))] == []


def test_every_code_of_the_headers_has_its_cause_and_cure(extensions):
    text = "\n".join(extensions["error_codes"].page({107003: ["aclrtThing"]}))
    entries = dict(re.findall(r"^\.\. _code-(\d+):\n\n(.*?)(?=^\.\. _code-|\Z)", text, re.DOTALL | re.MULTILINE))
    declared = {c.name: c.value for c in abi.load().constants.values() if c.name.startswith("ACL_ERROR_") and c.value}
    assert len(declared) > 240
    for name, code in declared.items():
        assert re.match(rf"\.\. describe:: {code} {name}\n\n   :Cause: \S.*\.\n   :Cure: \S.*\.\n", entries[str(code)])
    for family, members in errors.FAMILIES.items():
        for code in members:
            assert f":Objects: :class:`acl.{family.__name__}`" in entries[str(code)], code
    assert ":Functions: :c:func:`aclrtThing`" in entries["107003"] and ":Functions:" not in entries["107002"]


def test_the_texts_of_codes_name_functions_and_codes_that_exist(extensions):
    declared, texts = abi.load(), extensions["error_codes"].texts()
    names = {*declared.functions, *declared.enums}
    for code, lines in texts.items():
        assert set(re.findall(r"\bacl[a-z]*[A-Z]\w+", " ".join(lines))) <= names, code
        assert {int(other) for other in re.findall(r"\b\d{6}\b", " ".join(lines))} <= set(texts), code
    assert len(texts) == len(extensions["error_codes"].CODES.read_text(encoding="utf-8").splitlines()) / 2


def test_the_reference_index_has_a_summary_of_each_page(extensions):
    lists = extensions["reference"].summaries()
    assert (
        "- :doc:`vmm </reference/made/calls/vmm>`: Virtual memory: reserving addresses, allocating physical"
        in " ".join(lists["calls"])
    )
    assert len(lists["calls"]) == len(abi.load().groups) and len(lists["operators"]) == len(list(ROWS.glob("*.h")))
    assert len(lists["objects"]) == len(set(HOME.values()))
    for kind, lines in lists.items():
        assert f".. include:: made/{kind}.inc\n" in PAGES["reference/index"].read_text()
        assert [line for line in lines if not re.search(r">`: .*\w.*\.$", line)] == []


def test_the_families_that_the_errors_page_lists_are_all():
    assert set(re.findall(r"^:class:`acl\.(\w+)`", PAGES["errors"].read_text(), re.MULTILINE)) == {
        family.__name__ for family in errors.FAMILIES
    }


@pytest.mark.needs_sim
def test_every_setting_is_explained(configure, extensions):
    settings = extensions["reference"].settings()
    found = [name for name, takes, _ in settings if " or " in takes or "not available yet" not in takes]
    assert len(found) >= 9
    text = PAGES["settings"].read_text()
    assert [name for name in found if f"``{name}``" not in text] == []


@pytest.mark.parametrize("path", ["README.md", "CONTRIBUTING.md"])
def test_the_files_that_a_text_names_exist(path):
    root = DOCS.parent
    named = re.findall(r"`([\w.-]+(?:/[\w.-]+)*(?:/|\.(?:md|rst|py|c|h)))`", (root / path).read_text())
    named = [name for name in named if "/" not in name or (root / name.split("/")[0]).exists()]
    assert len(named) >= 15
    found = {file.name for file in root.glob("simulator/**/*.[chp]*")}
    assert [name for name in named if not (root / name).exists() and ("/" in name or name not in found)] == []


@pytest.mark.needs_sim
@pytest.mark.parametrize("path", ["README.md", "docs/status.rst"])
def test_the_numbers_of_functions_and_operators_are_true(path):
    text = " ".join((DOCS.parent / path).read_text().split())
    assert f"ll {acl.sim.operators()} operators of the" in text
    assert re.search(rf"\b{acl.sim.operators(implemented=True)} (of them )?have a kernel", text)
    if path == "README.md":
        declared = [name for name, function in abi.load().functions.items() if function.group != abi.CONTROL_GROUP]
        assert f"All {len(declared)} declared functions" in text
    else:
        assert f"{len(RULES)} of which allocate their outputs" in text


def test_every_group_and_call_has_its_place(extensions):
    declared = abi.load()
    names = [shape.path for function in declared.functions.values() for shape in function.shapes]
    signatures = extensions["reference"].Signatures()
    assert [name for name in names if name not in signatures.known] == []
    shape = declared.functions["aclrtCreateEventWithFlag"].shapes[0]
    assert signatures.of(shape) == "acl.rt.create_event_with_flag(flag: int) -> (event, ret)"


# --- The answers of a function, read from C

SOURCE = """
#define CHECK(condition, code, ...) do { if (!(condition)) return sim_fail((code), __VA_ARGS__); } while (0)
typedef int aclError;
aclError sim_fail(aclError code, const char *format, ...);
void log_it(aclError code);
static aclError open_it(int *place) { CHECK(place, 107000, "%s is NULL, %d", "place", 3); return 0; }
static int writes_it(aclError *code) { *code = 107003; return 1; }
static aclError thrown_away(void) { return 507000; }
static int is_new(aclError code) { return code == 107001; }
aclError aclrtThing(int *place)
{
    aclError code = open_it(place);
    thrown_away();
    (void)thrown_away();
    log_it(507001);
    writes_it(&code);
    if (code == 107002 || is_new(code))
        return 100000;
    return place[0] ? 207001 : code;
}
"""


def test_answers_are_what_is_returned_or_said(extensions, tmp_path):
    (tmp_path / "simulator" / "api").mkdir(parents=True)
    (tmp_path / "simulator" / "core").mkdir()
    (tmp_path / "simulator" / "api" / "thing.c").write_text(SOURCE)
    answers = extensions["codes"].Codes(tmp_path, tmp_path / "facts")
    assert answers.of("aclrtThing") == {100000: [], 107000: ["place is NULL, …"], 107003: [], 207001: []}
    assert answers.of("aclrtOther") == {}


def test_operators_and_plain_functions_are_implemented_if_the_simulator_defines_their_symbols(extensions, tmp_path):
    (tmp_path / "simulator" / "core").mkdir(parents=True)
    (tmp_path / "simulator" / "core" / "thing.c").write_text(
        "typedef int aclError;\naclError sim_fail(aclError code, const char *format, ...);\n"
        'aclError sim_missing(const char *function) { return sim_fail(207000, "it is missing"); }\n'
        "int sim_helper_aclnnSize(void) { return 0; }\nconst int sim_kernel_aclnnAdd = 1, sim_kernel_functions = 2;\n"
    )
    reference, answers = extensions["reference"], extensions["codes"].Codes(tmp_path, tmp_path / "facts")
    assert answers.kernels == {"aclnnAdd"}
    rows = (("aclnnAdd", False), ("aclnnSub", False), ("aclnnSize", True), ("aclnnOther", True))
    found = [reference.state(abi.Row(name, "family", (), (), helper), answers) for name, helper in rows]
    assert found == ["has a kernel", "no kernel", "implemented", "returns 207000"]


def test_commands_are_found_with_what_they_print(extensions, tmp_path):
    page = tmp_path / "page.rst"
    page.write_text("Text\n\n.. code-block:: console\n\n   $ echo a\n   a\n   $ pip x\n\n   $ echo b\n\nMore\n")
    assert list(extensions["commands"].blocks(page)) == [("echo a", "a"), ("pip x", ""), ("echo b", "")]
    page.write_text(
        ".. code-block:: python\n\n   a = 1\n\n   print(a)\n   # 1\n\n.. code-block:: sh\n\n   echo a\n   # a\n"
    )
    program, script = ("python - <<'END'\na = 1\n\nprint(a)\nEND", "1"), ("set -euo pipefail\necho a", "a")
    assert list(extensions["commands"].blocks(page)) == [program, script]
    found = [command for path in PAGES.values() for command, _ in extensions["commands"].blocks(path)]
    assert any("pytest" in command for command in found) and any("acl info" in command for command in found)


def test_the_command_for_leaks_turns_a_leak_into_a_failure(extensions, tmp_path):
    """A test that leaks passes without it."""
    (tmp_path / "test_leak.py").write_text(
        "import acl\n\n\ndef test_leak():\n    device = acl.Device(0).use()\n    acl.Stream()\n    device.close()\n"
    )
    command = next(command for command, _ in extensions["commands"].blocks(PAGES["errors"]) if "-W" in command)
    program, *options = shlex.split(command)
    assert program == "python"
    for given, code in ((options[:2], 0), (options, 1)):
        done = subprocess.run(
            [sys.executable, *given, "-q", "-p", "no:cacheprovider", "test_leak.py"], cwd=tmp_path, text=True,
            stdout=subprocess.PIPE, env={**os.environ, "ACL_BACKEND": acl.backend}, timeout=60,
        )  # fmt: skip
        assert done.returncode == code, done.stdout
    assert "unclosed <acl.Stream" in done.stdout
