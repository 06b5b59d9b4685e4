"""The public cases of a sister runtime: the docstring of a test names what it transposes; others do not apply."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
NAME = re.compile(r"\b(?:Unit_hip\w+|cupy_\w+)")

NO_EDGES = "dependencies of a stream are not set by hand: events alone make edges"
NO_NODES = "an instance takes no tasks but by capture: nothing is added before, between or after"
NO_PARTS = "an instance is not cloned, and a captured body is not edited; single tasks: test_capture_update.py"
NO_THREAD_STREAM = "threads have no streams of their own; the default stream is the context's"
NOT_APPLICABLE = {
    "Unit_hipGraphRemoveDependenciesPositive_CapturedStream": NO_EDGES,
    "Unit_hipGraphRemoveDependencies_Func_StrmCapture": NO_EDGES,
    "Unit_hipStreamAddCaptureDependencies_Positive_Functional": NO_EDGES,
    "Unit_hipStreamSetCaptureDependencies_Positive_Functional": NO_EDGES,
    "Unit_hipStreamUpdateCaptureDependencies_Negative_Parameters": NO_EDGES,
    "Unit_hipStreamUpdateCaptureDependencies_Positive_Parameters": NO_EDGES,
    "Unit_hipStreamBeginCaptureToGraph_ModifyChildpGraph": NO_PARTS,
    "Unit_hipStreamBeginCaptureToGraph_ModifyCloneGraph": NO_PARTS,
    "Unit_hipStreamBeginCapture_with_hipGraphAddHostNode": NO_NODES,
    "Unit_hipStreamEndCapture_first_and_add_a_node_later": NO_NODES,
    "Unit_hipStreamEndCapture_first_and_add_other_graph_node_later": NO_NODES,
    "Unit_hipStreamEndCapture_later_and_addEmptyNode": NO_NODES,
    "Unit_hipStreamEndCapture_later_and_add_a_node_inbetween": NO_NODES,
    "Unit_hipStreamBeginCapture_hipStreamPerThread": NO_THREAD_STREAM,
    "Unit_hipStreamGetCaptureInfo_hipStreamPerThread": NO_THREAD_STREAM,
    "Unit_hipStreamGetCaptureInfo_v2_hipStreamPerThread": NO_THREAD_STREAM,
}


def transposed():
    """Return the names in the docstrings of tests."""
    names = set()
    for path in HERE.glob("test_capture*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                names.update(NAME.findall(ast.get_docstring(node) or ""))
    return names


def test_every_case_has_its_place():
    lines = (HERE / "helpers" / "capture_cases.txt").read_text().splitlines()
    cases = {line for line in lines if not line.startswith("#")}
    assert len(cases) == 127
    assert transposed() | set(NOT_APPLICABLE) == cases
    assert not transposed() & set(NOT_APPLICABLE)
