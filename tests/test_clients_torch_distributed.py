"""PyTorch on several NPUs: torchrun with the backend ``hccl``."""

import json

import pytest
from helpers.torch_client import PROGRAMS

pytestmark = [pytest.mark.client, pytest.mark.needs_sim]


def torchrun(torch, count, part, timeout=300):
    """Run one part of the program in some processes of this machine; return the objects that rank 0 prints."""
    arguments = ["--standalone", "--nproc-per-node", str(count), str(PROGRAMS / "distributed.py"), part]
    code = f"from torch.distributed.run import main\nmain({arguments!r})"
    said = torch.run(code, timeout=timeout, OMP_NUM_THREADS="1", ACL_SIM_DEVICES=str(count))
    return [json.loads(line) for line in said.splitlines() if line.startswith('{"')]


@pytest.mark.parametrize("count", [2, 4])
def test_every_kind_of_call(torch, count):
    assert torchrun(torch, count, "calls") == [{"calls": "right"}]


@pytest.mark.parametrize("part, kinds", [("data", 1), ("sharded", 2), ("tensor", 1)])
def test_training_equals_that_of_one_process(torch, part, kinds):
    results = torchrun(torch, 4, part)
    assert len(results) == kinds
    for result in results:
        assert result["away"] <= 1e-5, result
        assert result["last"] < result["first"], result


def test_sums_take_less_time_than_with_gloo(torch):
    big, small = torchrun(torch, 4, "speed")
    print(big, small)
    assert 2 * big["big"] <= big["gloo"]
