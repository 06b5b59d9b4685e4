"""The operators of torch_npu itself on the NPU, beside formulas of PyTorch on the CPU."""

import json

import pytest
from helpers.torch_client import program

pytestmark = [pytest.mark.client, pytest.mark.needs_sim]


def test_own_operators_are_equal(torch):
    results = program(torch, "own.py")
    assert len({result["name"] for result in results}) >= 20
    wrong = {f"{result['name']} of {result['type']}": result["wrong"] for result in results if result["wrong"]}
    assert not wrong, json.dumps(wrong, indent=1)
