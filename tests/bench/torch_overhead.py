"""Measure how long operators of PyTorch take inside the library, by a profile of the processor's time.

Run it with the Python of an environment that has torch_npu, after ``. set_env.sh`` (docs/pytorch.rst). It needs
``perf``. The time of a program that only starts is subtracted.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
import sys
import time
import torch

count = int(sys.argv[2])
x, y = torch.ones(4, device="npu"), torch.ones(4, device="npu")
graph = torch.npu.NPUGraph()
with torch.npu.graph(graph):
    total = x
    for _ in range(20):
        total = total + y
step = graph.replay if sys.argv[1] == "replay" else lambda: x + y
begun = time.perf_counter()
for done in range(count):
    step()
    if done % 100 == 99:
        torch.npu.synchronize()
torch.npu.synchronize()
print((time.perf_counter() - begun) / max(count, 1) * 1e6)
"""
ROWS = {"add": "x + y of 4 elements", "replay": "replay of 20 additions of 4 elements"}
COUNT = 100_000


def profile(row: str, count: int) -> tuple[float, float]:
    """Return the microseconds of one step, and those of the whole program that were spent inside the library."""
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder) / "perf.data")
        command = ["perf", "record", "-q", "-F", "4999", "-e", "cpu-clock", "-o", data, sys.executable]
        done = subprocess.run([*command, "-c", PROGRAM, row, str(count)], stdout=subprocess.PIPE, text=True, check=True)
        report = ["perf", "report", "-i", data, "--stdio", "--sort", "dso"]
        text = subprocess.run(report, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    total = re.search(r"Event count \(approx\.\): (\d+)", text)
    share = re.search(r"([\d.]+)%\s+libacl_sim\.so", text)
    assert total is not None
    return float(done.stdout), int(total[1]) / 1000 * float(share[1] if share else 0) / 100


for row, what in ROWS.items():
    start = profile(row, 0)[1]
    step, inside = profile(row, COUNT)
    print(f"{what}: {step:.1f} us, of which {(inside - start) / COUNT:.2f} us inside the library", flush=True)
