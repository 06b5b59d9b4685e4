"""PyTorch with its NPU extension, unmodified from the package index, on a toolkit of the simulator."""

import pytest
from helpers.clients import SNIPPETS

pytestmark = [pytest.mark.client, pytest.mark.needs_sim]

START = "import torch, torch_npu\n"


@pytest.fixture(params=["Ascend910B3", "Ascend310P3"])
def soc(request):
    return request.param


def test_import_and_add(torch, soc):
    code = START + "print(torch.npu.get_device_name(0), (torch.ones(3, device='npu') + 1).cpu().tolist())"
    assert torch.run(code, ACL_SIM_SOC=soc) == f"{soc} [2.0, 2.0, 2.0]\n"


STREAMS = """
side, begun, done = torch.npu.Stream(), *(torch.npu.Event(enable_timing=True) for _ in range(2))
x = torch.arange(4, dtype=torch.float32).npu()
side.wait_stream(torch.npu.current_stream())
with torch.npu.stream(side):
    begun.record()
    y = x * 3
    done.record()
torch.npu.current_stream().wait_event(done)
z = y + 1
torch.npu.synchronize()
print(z.cpu().tolist(), done.query(), side.query(), begun.elapsed_time(done) >= 0)
"""


def test_streams_and_events(torch, soc):
    assert torch.run(START + STREAMS, ACL_SIM_SOC=soc) == "[1.0, 4.0, 7.0, 10.0] True True True\n"


def test_a_graph_is_replayed(torch):
    code = (SNIPPETS / "torch_graph.py").read_text()
    assert torch.run(code, ACL_SIM_SOC="Ascend910B3") == "[4.0, 4.0, 4.0, 4.0]\n[12.0, 12.0, 12.0, 12.0]\n"


SEGMENTS = """
blocks = [torch.full((1 << 20,), float(i), device="npu") for i in range(8)]
before = torch.npu.memory_reserved()
del blocks[::2]
big = torch.ones(8 << 20, device="npu")
segments = torch.npu.memory_snapshot()
print([float(block.cpu()[-1]) for block in blocks], float(big.cpu()[0] + big.cpu()[-1]))
print(any(segment.get("is_expandable") for segment in segments))
del blocks, big
torch.npu.empty_cache()
print(before > 0, torch.npu.memory_allocated())
"""


def test_expandable_segments(torch):
    said = torch.run(START + SEGMENTS, ACL_SIM_SOC="Ascend910B3", PYTORCH_NPU_ALLOC_CONF="expandable_segments:True")
    assert said == "[1.0, 3.0, 5.0, 7.0] 2.0\nTrue\nTrue 0\n"


DEVICES = """
a = torch.ones(5, device="npu:0")
b = (a + 1).to("npu:1")
event = torch.npu.Event()
with torch.npu.device(1):
    c = b * 3
    event.record()
torch.npu.current_stream(0).wait_event(event)
d = c.to("npu:0") + a
print(torch.npu.device_count(), str(c.device), str(d.device), d.cpu().tolist())
"""


def test_two_devices(torch):
    said = torch.run(START + DEVICES, ACL_SIM_SOC="Ascend910B3", ACL_SIM_DEVICES="2")
    assert said == "2 npu:1 npu:0 [7.0, 7.0, 7.0, 7.0, 7.0]\n"
