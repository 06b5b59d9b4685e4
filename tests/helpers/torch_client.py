"""PyTorch with torch_npu in an environment of its own, and the programs of tests/torch_programs run there."""

import json
from pathlib import Path

import pytest

from helpers.clients import Client

PROGRAMS = Path(__file__).resolve().parents[1] / "torch_programs"


@pytest.fixture(scope="session")
def torch(tmp_path_factory):
    """Make the environment once, for all files of tests."""
    packages = "torch==2.13.0", "torch_npu==2.13.0", "transformers", "accelerate", "peft", "pytest"
    return Client(tmp_path_factory.mktemp("torch"), *packages)


def program(torch, name, *arguments, timeout=300):
    """Run one of the programs; return the objects that it prints."""
    code = f"import runpy, sys; sys.path.insert(0, {str(PROGRAMS)!r}); sys.argv = {[name, *arguments]!r}\n"
    code += f"runpy.run_path({str(PROGRAMS / name)!r}, run_name='__main__')"
    said = torch.run(code, timeout=timeout, OMP_NUM_THREADS="1")
    return [json.loads(line) for line in said.splitlines() if line.startswith('{"')]
