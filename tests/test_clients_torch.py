"""PyTorch on the NPU beside the CPU: functions, training, other projects, captured steps, and a pytest fixture."""

import json
import re
from pathlib import Path

import pytest
from helpers.clients import SNIPPETS
from helpers.torch_client import program

pytestmark = [pytest.mark.client, pytest.mark.needs_sim]

ROOT = Path(__file__).resolve().parents[1]
START = "import torch, torch_npu\n"

# aclnnGelu uses tanh, also where PyTorch asks for erf. aclnnInplaceMuls does not multiply integers by a fraction.
AS_ON_A_CARD = {"gelu", "hann_window"}
# torch_npu has nothing for these, and so computes them on the CPU, as it does beside a card.
ON_CPU = {
    "_embedding_bag_backward", "_linalg_det.result", "_linalg_eigh.eigenvalues", "_linalg_slogdet.sign",
    "_linalg_solve_ex.result", "_logcumsumexp", "copysign.out", "digamma.out", "fmax.out", "fmin.out",
    "heaviside.out", "huber_loss", "huber_loss_backward.out", "hypot.out", "lgamma.out", "linalg_inv_ex.inverse",
    "linalg_lu_solve.out", "multi_margin_loss", "multi_margin_loss_backward", "multilabel_margin_loss_backward",
}  # fmt: skip


def test_functions_are_equal(torch):
    *results, last = program(torch, "compare.py")
    names, wrong = {result["name"] for result in results}, {}
    for result in results:
        if result["wrong"] is not None and result["name"] not in AS_ON_A_CARD:
            wrong.setdefault(result["name"], []).append(result["type"] + ": " + result["wrong"])
    print(f"{len(names)} functions, {len(wrong)} not equal:", *sorted(wrong))
    assert len(names) >= 300 and len(wrong) <= 0.03 * len(names), json.dumps(wrong, indent=1)[:9000]
    # What is not equal names the operator that is missing.
    silent = {name: said for name, said in wrong.items() if not all(re.search(r"aclnn|has no kernel", s) for s in said)}
    assert not silent, json.dumps(silent, indent=1)
    assert set(last["on_cpu"]) == ON_CPU


def test_training_follows_the_cpu(torch):
    results = program(torch, "train.py", timeout=600)
    assert len(results) == 20
    for result in results:
        assert result["away"] <= (1e-3 if result["type"] == "torch.float32" else 2e-2), result
        assert result["first"] != result["last"], result


def test_the_program_of_the_page(torch):
    assert torch.run((SNIPPETS / "torch_train.py").read_text()) == "learned\n"


@pytest.mark.parametrize("name", ["transformers", "peft", "accelerate"])
def test_another_project_trains(torch, name):
    (result,) = program(torch, "projects.py", name)
    assert len(result["npu"]) >= 4
    assert result["away"] <= 1e-4, result


STEP = """
import copy, io
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 3)).npu()
chosen = torch.optim.SGD(model.parameters(), 0.1)
x, wanted = torch.randn(4, 8).npu(), torch.tensor([0, 2, 1, 1]).npu()

def step():
    chosen.zero_grad(set_to_none=False)
    loss = torch.nn.functional.cross_entropy(model(x), wanted)
    loss.backward()
    chosen.step()
    return loss

side = torch.npu.Stream()
with torch.npu.stream(side):
    step()
torch.npu.synchronize()
file = io.BytesIO()
torch.save(model.state_dict(), file)
expected = [step().item() for _ in range(5)]
file.seek(0)
model.load_state_dict(torch.load(file))
graph = torch.npu.NPUGraph()
with torch.npu.graph(graph):
    loss = step()
file.seek(0)
model.load_state_dict(torch.load(file))
found = []
for _ in range(5):
    graph.replay()
    torch.npu.synchronize()
    found.append(loss.item())
print(found == expected, found[4] < found[0])
"""


def test_a_captured_training_step(torch):
    assert torch.run(START + STEP) == "True True\n"


GENERATORS = """
def draw():
    return torch.rand(4, device="npu"), torch.randn(4, device="npu"), torch.randperm(9, device="npu")

torch.manual_seed(3)
first = draw()
torch.manual_seed(3)
print(all(map(torch.equal, first, draw())), any(map(torch.equal, first, draw())))
graph = torch.npu.NPUGraph()
with torch.npu.graph(graph):
    y = torch.nn.functional.dropout(torch.ones(64, device="npu"), 0.5)
found = []
for seed in (5, 6, 5):
    torch.manual_seed(seed)
    graph.replay()
    torch.npu.synchronize()
    found.append(y.tolist())
print(found[0] == found[2], found[0] == found[1])
"""


def test_generators_repeat_their_numbers(torch):
    assert torch.run(START + GENERATORS) == "True False\nTrue False\n"


OUT_OF_MEMORY = """
kept = []
try:
    for _ in range(9):
        kept.append(torch.empty(1 << 30, dtype=torch.uint8, device="npu"))
except torch.OutOfMemoryError as error:
    print(len(kept), "NPU out of memory" in str(error))
del kept
torch.npu.empty_cache()
print(torch.npu.memory_allocated(), torch.ones(2, device="npu").tolist(), torch.ones(2).pin_memory().is_pinned())
"""


def test_memory_ends_at_the_limit(torch):
    said = torch.run(START + OUT_OF_MEMORY, ACL_SIM_MEMORY="4Gi")
    assert said == "3 True\n0 [1.0, 1.0] True\n"


SCALED = """
model, scaler = torch.nn.Linear(4, 4).npu(), torch.npu.amp.GradScaler(init_scale=4.0, growth_interval=2)
chosen = torch.optim.SGD(model.parameters(), 0.1)
scales = []
for factor in (1.0, 1.0, float("inf"), 1.0):
    with torch.autocast("npu", torch.float16):
        loss = model(torch.ones(2, 4, device="npu")).float().square().mean() * factor
    scaler.scale(loss).backward()
    scaler.step(chosen)
    scaler.update()
    chosen.zero_grad()
    scales.append(scaler.get_scale())
print(scales)
"""


def test_losses_are_scaled(torch):
    assert torch.run(START + SCALED).splitlines()[-1] == "[4.0, 8.0, 4.0, 4.0]"


COMPILED = """
for backend in ("eager", "aot_eager", "npugraphs"):
    double = torch.compile(lambda x: x.sin() * 2, backend=backend)
    print(backend, [double(torch.full((2,), value, device="npu")).tolist()[0] == 0 for value in (0.0, 1.0)])
"""


def test_compiled_functions(torch):
    said = torch.run(START + COMPILED, timeout=300)
    assert said == "".join(f"{name} [True, False]\n" for name in ("eager", "aot_eager", "npugraphs"))


USED = """
def test_it(npu):
    import torch
    assert (torch.ones(3, device=npu) + 1).tolist() == [2, 2, 2]
"""


def test_the_fixture_gives_the_device(torch):
    (torch.directory / "test_used.py").write_text(USED)
    code = f"import sys, pytest; sys.path.insert(0, {str(ROOT)!r}); "
    code += "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-p', 'ascendcl_pytest', 'test_used.py']))"
    assert "1 passed" in torch.run(code, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
