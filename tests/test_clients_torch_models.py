"""Small models with random weights in PyTorch on the NPU beside the CPU."""

import json

import pytest
from helpers.torch_client import program

pytestmark = [pytest.mark.client, pytest.mark.needs_sim]

ON_CPU = set()  # torch_npu has nothing for these, and so computes them on the CPU, as it does beside a card


def test_models_are_equal(torch):
    results = program(torch, "models.py", timeout=600)
    wrong = [one for one in results if "error" in one or one["away"] > 1e-4 or one["tokens"] != one["expected"]]
    print(f"{len(results)} models, {len(wrong)} not equal:", *(one["name"] for one in wrong))
    assert not wrong, json.dumps(wrong, indent=1)[:9000]
    assert len(results) >= 30 and sum(one["tokens"] is not None for one in results) >= 10
    assert {name for one in results for name in one["on_cpu"]} == ON_CPU
