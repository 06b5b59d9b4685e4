"""PyTorch on each family of chips: what the chip tells, computes, trains, keeps of overflows, and its formats."""

import json
from pathlib import Path

import pytest
from helpers.clients import Client

pytestmark = [pytest.mark.client, pytest.mark.needs_sim]

PROGRAM = Path(__file__).parent / "torch_programs" / "chips.py"
PLAIN = [0, 4320, True, True]  # a format in blocks was not allowed, so that the tensor stays in NCHW
BLOCKED = {
    "NC1HWC0": [3, 23040, True, True],
    "FRACTAL_Z": [4, 184320, True, True],
    "FRACTAL_NZ": [29, 12288, True, True],
}
FORMATS = {"default": 0, **BLOCKED, "product": [29, True]}
# Memory in MiB, cube cores and vector cores.
PROPERTIES = {
    "Ascend910A": [16384, 32, 0],
    "Ascend910B3": [65536, 20, 40],
    "Ascend910_9392": [65536, 24, 48],
    "Ascend310P3": [22888, 8, 7],
    "Ascend310B1": [32768, 1, 1],
}
LATER = ("Ascend910B3", "Ascend910_9392")  # have infinities, and formats in blocks only when the program asks for them
NO_FLAG = "error: Unsupported api when soc_version >= Ascend910B1, please use npu_check_overflow"


@pytest.fixture(scope="module")
def torch(tmp_path_factory):
    return Client(tmp_path_factory.mktemp("chips"), "torch==2.13.0", "torch_npu==2.13.0")


def run(torch, soc, **variables):
    said = torch.run(PROGRAM.read_text(), ACL_SIM_SOC=soc, OMP_NUM_THREADS="1", **variables)
    return json.loads(said.splitlines()[-1])


@pytest.mark.parametrize("soc", PROPERTIES)
def test_a_program_sees_its_chip(torch, soc):
    found = run(torch, soc)
    assert found["name"] == soc and found["properties"] == [soc, *PROPERTIES[soc]]
    assert found["added"] == [2, 2, 2]
    limits = {"float32": 1e-3, "float16": 2**-10, "bfloat16": 2**-7}  # older chips multiply float32 as float16
    for kind, away in found["products"].items():
        if (soc, kind) == ("Ascend310P3", "bfloat16"):
            assert "aclnnMatmulGetWorkspaceSize failed because cubeMathType is 2 (USE_FP16)" in away
        else:
            assert away <= limits[kind], kind
    assert found["training"].keys() == {"SGD", "AdamW"}
    assert max(found["training"].values()) <= 1e-3
    assert found["images"] <= 1e-3
    assert found["deterministic"]
    assert found["formats"] == FORMATS
    plain = {"default": 0, **dict.fromkeys(BLOCKED, PLAIN), "product": [2, True]}
    assert found["plain"] == (plain if soc in LATER else FORMATS)
    keeps, doubled, flags = found["overflow"].values()
    if soc in LATER:
        assert keeps and doubled == ["inf", "inf"]
        assert flags[2] is True and all(flags[i].startswith(NO_FLAG) for i in (0, 1, 3))
    else:
        assert not keeps and (doubled, flags) == (["65504.0", "65504.0"], [False, True, True, False])


def test_infinities_can_be_switched_off(torch):
    found = run(torch, "Ascend910B3", INF_NAN_MODE_FORCE_DISABLE="1")["overflow"]
    assert found == {"keeps": False, "doubled": ["65504.0", "65504.0"], "flags": [False, True, True, False]}
